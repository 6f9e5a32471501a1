"""Options of sessions and calls.

What decides how onnxruntime plans a model is accepted, and decides nothing here: this library plans
in one way.
"""
import enum

__all__ = ["ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "RunOptions", "SessionOptions"]


class ExecutionMode(enum.IntEnum):
    """Accepted; independent parts of a model run as the library plans them."""
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Accepted; the order of nodes is the plan's."""
    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class GraphOptimizationLevel(enum.IntEnum):
    """Accepted; a plan is always made with all passes."""
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class _Entries:
    """Settings by key, which are texts."""

    def __init__(self):
        self._entries = {}

    def _add(self, key, value):
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"[onnx.runtime] the entry {key!r}: {value!r}; accepted: two texts")
        self._entries[key] = value

    def _get(self, key):
        if key not in self._entries:
            raise RuntimeError(f"[onnx.runtime] no entry {key!r}; there are: {', '.join(self._entries) or 'none'}")
        return self._entries[key]


class SessionOptions(_Entries):
    """What a session is made with.

    Attributes
    ----------
    intra_op_num_threads : int
        Threads of an operator; 0 leaves the library's number (``OMP_NUM_THREADS``). The library has
        one number, so the session that was made last decides it for all of them.
    enable_profiling : bool
        Whether the library's profiler runs until `InferenceSession.end_profiling`.
    profile_file_prefix : str
        Where the profile goes; date and time come behind it.

    Others have the names and defaults that they have in onnxruntime, and change nothing.
    """

    def __init__(self):
        super().__init__()
        self.intra_op_num_threads = self.inter_op_num_threads = 0
        self.enable_profiling, self.profile_file_prefix = False, "onnxruntime_profile_"
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode, self.execution_order = ExecutionMode.ORT_SEQUENTIAL, ExecutionOrder.DEFAULT
        self.enable_cpu_mem_arena = self.enable_mem_pattern = self.enable_mem_reuse = True
        self.use_per_session_threads, self.use_deterministic_compute = True, False
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""
        self.optimized_model_filepath = ""
        self._sizes = {}

    def add_free_dimension_override_by_name(self, name, size):
        """Fixes a free size of the inputs, by its name in the file."""
        self._sizes[name] = int(size)

    def add_session_config_entry(self, key, value):
        """Keeps a setting, which changes nothing."""
        self._add(key, value)

    def get_session_config_entry(self, key):
        """The setting that was kept; RuntimeError without one."""
        return self._get(key)


class RunOptions(_Entries):
    """What a call is made with; it has the names and defaults of onnxruntime, and changes nothing.
    """

    def __init__(self):
        super().__init__()
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""
        self.only_execute_path_to_fetches = self.terminate = False

    def add_run_config_entry(self, key, value):
        """Keeps a setting, which changes nothing."""
        self._add(key, value)

    def get_run_config_entry(self, key):
        """The setting that was kept; RuntimeError without one."""
        return self._get(key)
