"""What ran when, for how long, at which rate, and who holds how much memory.

>>> mx.profiler.set_config(filename='profile.json', aggregate_stats=True)
>>> mx.profiler.set_state('run')
>>> train()
>>> mx.nd.waitall()
>>> mx.profiler.set_state('stop')
>>> mx.profiler.dump()             # for https://ui.perfetto.dev or chrome://tracing
>>> print(mx.profiler.dumps())

`MXNET_PROFILER_AUTOSTART=1` profiles a program from its start without any change to it.
"""
import contextlib
import ctypes
import functools
import threading
import warnings

from .attribute import AttrScope
from .base import _LIB, KVStoreHandle, NotCopied, ProfileHandle, c_str, c_str_array, check_call, py_str, error_class

__all__ = ["set_config", "set_state", "state", "dump", "dumps", "pause", "resume", "scope", "set_kvstore_handle", "profiler_set_config",
           "profiler_set_state", "dump_profile", "Domain", "Task", "Frame", "Event", "Counter", "Marker"]

_STATES = {"stop": 0, "run": 1}
_PROCESSES = {"worker": 0, "server": 1}
_FORMATS = {"table": 0, "json": 1}
_SORTS = {"total": 0, "avg": 1, "min": 2, "max": 3, "count": 4}

profiler_kvstore_handle = KVStoreHandle()


def _choice(what, value, choices):
    if value not in choices:
        raise error_class(ValueError, AssertionError, KeyError)(f"[profiler] {what}={value!r}; accepted: {', '.join(choices)}")
    return choices[value]


def set_kvstore_handle(handle):
    """Which key-value store reaches the server processes that ``profile_process='server'``
    names.

    >>> mx.profiler.set_kvstore_handle(mx.kv.create('local').handle)
    """
    global profiler_kvstore_handle
    profiler_kvstore_handle = handle


def set_config(**kwargs):
    """Says what to record and where to put it. Options that are not given have their defaults. May
    be called while the profiler runs.

    Parameters
    ----------
    filename : str, default 'profile.json'
        The trace file.
    profile_symbolic : bool, default True
        Nodes of compiled graphs (executors, hybridized blocks).
    profile_imperative : bool, default True
        Eager operators, copies and other work of the engine.
    profile_memory : bool, default True
        Allocations and frees.
    profile_api : bool, default True
        Calls into the library.
    profile_all : bool, default False
        All of the four.
    continuous_dump : bool, default True
        Write the file every `dump_period` seconds while the profiler runs, and when the process
        ends.
    dump_period : float, default 1
        Seconds; longer where writing would take more than a twentieth of the time.
    aggregate_stats : bool, default False
        Keep the totals that `dumps` shows.
    gpu_memory_profile_filename_prefix : str, default ''
        When given, `dump` also lists every allocation, of CPU memory too, in
        `<prefix>-<device>.csv`.
    profile_process : {'worker', 'server'}, default 'worker'

    Raises
    ------
    ValueError
        for an unknown option or a value that it does not take.

    Examples
    --------
    >>> mx.profiler.set_config(filename='profile.json', aggregate_stats=True)
    """
    names = list(kwargs)
    check_call(_LIB.MXSetProcessProfilerConfig(len(names), c_str_array(names), c_str_array([str(kwargs[n]) for n in names]),
                                               profiler_kvstore_handle))


def profiler_set_config(mode="symbolic", filename="profile.json"):
    """Deprecated: `set_config`. `mode` is 'symbolic', 'imperative', 'api', 'memory' or 'all'.

    >>> mx.profiler.profiler_set_config(mode='all', filename='profile.json')
    """
    warnings.warn("profiler.profiler_set_config() is deprecated. Please use profiler.set_config() instead", UserWarning, stacklevel=2)
    modes = ("symbolic", "imperative", "api", "memory", "all")
    _choice("mode", mode, dict.fromkeys(modes))
    set_config(filename=filename, **{f"profile_{m}": m == mode for m in modes})


def set_state(state="stop", profile_process="worker"):
    """``'run'`` starts recording, ``'stop'`` stops it.

    >>> mx.profiler.set_config(filename='profile.json')
    >>> mx.profiler.set_state('run')
    >>> mx.nd.ones(2).wait_to_read()
    >>> mx.profiler.set_state('stop')
    """
    check_call(_LIB.MXSetProcessProfilerState(_choice("state", state, _STATES), _choice("profile_process", profile_process, _PROCESSES),
                                              profiler_kvstore_handle))


def state():
    """'run' (paused or not) or 'stop'.

    >>> mx.profiler.state()
    'stop'
    """
    out = ctypes.c_int()
    check_call(_LIB.MXGetProfilerState(ctypes.byref(out)))
    return "run" if out.value else "stop"


def profiler_set_state(state="stop"):
    """Deprecated: `set_state`.

    >>> mx.profiler.profiler_set_state('stop')
    """
    warnings.warn("profiler.profiler_set_state() is deprecated. Please use profiler.set_state() instead", UserWarning, stacklevel=2)
    set_state(state)


def dump(finished=True, profile_process="worker"):
    """Writes the trace of everything since the profile began. Wait for what is to be in it
    (``mx.nd.waitall()``) first.

    Parameters
    ----------
    finished : bool
        End this profile: recording stops, and the next ``set_state('run')`` begins a new one.
        False: the file is complete, and the profile goes on.

    Raises
    ------
    MXNetError
        when the profiler has not run since the last finished dump.
    OSError
        when the file cannot be written.

    Examples
    --------
    >>> import os
    >>> mx.profiler.set_config(filename='profile.json')
    >>> mx.profiler.set_state('run')
    >>> mx.nd.ones(2).wait_to_read()
    >>> mx.profiler.set_state('stop')
    >>> mx.profiler.dump()
    >>> os.path.exists('profile.json')
    True
    """
    check_call(_LIB.MXDumpProcessProfile(int(finished), _choice("profile_process", profile_process, _PROCESSES), profiler_kvstore_handle))


def dump_profile():
    """Deprecated: `dump`.

    >>> mx.profiler.set_config(filename='profile.json')
    >>> mx.profiler.set_state('run')
    >>> mx.profiler.set_state('stop')
    >>> mx.profiler.dump_profile()
    """
    warnings.warn("profiler.dump_profile() is deprecated. Please use profiler.dump() instead", UserWarning, stacklevel=2)
    dump(True)


def dumps(reset=False, format="table", sort_by="total", ascending=False):
    """Totals by name, as text, which notebooks show as tables. Without
    ``set_config(aggregate_stats=True)`` the text is empty, and a warning says so unless `reset`.

    Parameters
    ----------
    reset : bool
        Begin anew after this.
    format : {'table', 'json'}
    sort_by : {'total', 'avg', 'min', 'max', 'count'}
        Order within each table.
    ascending : bool

    Examples
    --------
    >>> mx.profiler.set_config(filename='profile.json', aggregate_stats=True)
    >>> mx.profiler.set_state('run')
    >>> mx.nd.exp(mx.nd.ones(2)).wait_to_read()
    >>> mx.profiler.set_state('stop')
    >>> 'exp' in mx.profiler.dumps(reset=True)
    True
    """
    out = ctypes.c_char_p()
    check_call(_LIB.MXAggregateProfileStatsPrintEx(ctypes.byref(out), int(reset), _choice("format", format, _FORMATS),
                                                   _choice("sort_by", sort_by, _SORTS), int(ascending)))
    text = py_str(out.value)
    if not text and not reset:      # many reset what they never asked for
        warnings.warn("[profiler] there are no totals, because profiler.set_config(aggregate_stats=True) was not called; "
                      "call it before set_state('run')", UserWarning, stacklevel=2)
    if format != "table":
        return text
    from ._display.html import TableText
    return TableText(text)


def pause(profile_process="worker"):
    """Record nothing until `resume`.

    >>> mx.profiler.set_config(filename='profile.json')
    >>> mx.profiler.set_state('run')
    >>> mx.profiler.pause()
    >>> mx.nd.ones(2).wait_to_read()
    >>> mx.profiler.resume()
    >>> mx.profiler.set_state('stop')
    """
    check_call(_LIB.MXProcessProfilePause(1, _choice("profile_process", profile_process, _PROCESSES), profiler_kvstore_handle))


def resume(profile_process="worker"):
    """Record again after `pause`.

    >>> mx.profiler.set_config(filename='profile.json')
    >>> mx.profiler.set_state('run')
    >>> mx.profiler.pause()
    >>> mx.profiler.resume()
    >>> mx.profiler.set_state('stop')
    """
    check_call(_LIB.MXProcessProfilePause(0, _choice("profile_process", profile_process, _PROCESSES), profiler_kvstore_handle))


class _Memory(threading.local):
    """`name`: under which this thread's memory is shown."""
    name = ""


_memory = _Memory()
_set_memory_scope = _LIB.MXSetProfilerScope


def _show_memory_as(name):
    _memory.name = name
    check_call(_set_memory_scope(c_str(name)))


def memory_of_itself(method):
    """Decorator of a method of what has a `name` (a Parameter, say): what the method allocates is
    shown as that alone, behind the scope's name."""
    @functools.wraps(method)
    def guarded(self, *args):
        outer, outer_bytes = _memory.name, c_str(_memory.name)
        try:
            _show_memory_as(outer + self.name if outer.endswith(":") else self.name)
            return method(self, *args)
        finally:                             # no function of Python, where Ctrl-C could come
            _memory.name = outer
            _set_memory_scope(outer_bytes)
    return guarded


@contextlib.contextmanager
def scope(name="<unk>:", append_mode=True):
    """Memory that this thread allocates in the ``with`` block is shown under `name`; symbols made
    in it carry the name as an attribute.

    Parameters
    ----------
    name : str
        A colon is added at its end when there is none.
    append_mode : bool
        Put the names of the enclosing scopes in front.

    >>> net = mx.gluon.nn.Dense(3, in_units=2)
    >>> with mx.profiler.scope('encoder:'):
    ...     net.initialize()
    """
    name = name if name.endswith(":") else name + ":"
    outer, outer_bytes = _memory.name, c_str(_memory.name)
    if append_mode and outer and name != "<unk>:":
        name = outer + name
    with AttrScope(__profiler_scope__=name):
        try:
            _show_memory_as(name)
            yield
        finally:
            _memory.name = outer
            _set_memory_scope(outer_bytes)


class _Handled(NotCopied):
    """Owns a handle of the profiler."""

    def __init__(self, name):
        self.name = name
        self.handle = ProfileHandle()

    def __del__(self):
        handle = getattr(self, "handle", None)
        if handle is not None and handle.value:
            check_call(_LIB.MXProfileDestroyHandle(handle))

    def __str__(self):
        return self.name


class Domain(_Handled):
    """Groups tasks, frames, counters and markers under a name, which becomes their category.

    >>> domain = mx.profiler.Domain('reading')
    >>> counter = domain.new_counter('files', 0)
    """

    def __init__(self, name):
        super().__init__(name)
        check_call(_LIB.MXProfileCreateDomain(c_str(name), ctypes.byref(self.handle)))

    def new_task(self, name):
        """A `Task` of this domain.

        >>> domain = mx.profiler.Domain('reading')
        >>> task = domain.new_task('one batch')
        >>> task.start()
        >>> task.stop()
        >>> domain.new_frame('frame').name, domain.new_marker('epoch').name
        ('frame', 'epoch')
        """
        return Task(self, name)

    def new_frame(self, name):
        """A `Frame` of this domain."""
        return Frame(self, name)

    def new_counter(self, name, value=None):
        """A `Counter` of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name):
        """A `Marker` of this domain."""
        return Marker(self, name)


def _handle_of(domain):
    if not isinstance(domain, Domain):
        raise TypeError(f"[profiler] domain={domain!r}; accepted: a profiler.Domain")
    return domain.handle


class _Duration(_Handled):
    def start(self):
        """The duration begins.

        >>> event = mx.profiler.Event('loading')
        >>> event.start()
        >>> event.stop()
        """
        check_call(_LIB.MXProfileDurationStart(self.handle))

    def stop(self):
        """The duration ends, on any thread. Without a start nothing happens."""
        check_call(_LIB.MXProfileDurationStop(self.handle))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.stop()


class Task(_Duration):
    """A piece of work of a domain; tasks may overlap. Also a context manager.

    >>> import json
    >>> mx.profiler.set_config(filename='task.json', profile_all=True)
    >>> mx.profiler.set_state('run')
    >>> with mx.profiler.Task(mx.profiler.Domain('reading'), 'one batch'):
    ...     x = mx.nd.ones(2) + 1
    >>> mx.profiler.set_state('stop')
    >>> mx.profiler.dump()
    >>> with open('task.json') as file:
    ...     events = json.load(file)['traceEvents']
    >>> [(event['name'], event['ph']) for event in events if event.get('cat') == 'reading']
    [('one batch', 'b'), ('one batch', 'e')]
    """

    def __init__(self, domain, name):
        super().__init__(name)
        check_call(_LIB.MXProfileCreateTask(_handle_of(domain), c_str(name), ctypes.byref(self.handle)))


class Frame(_Duration):
    """One turn of a loop, a picture of a video. Also a context manager.

    >>> frame = mx.profiler.Frame(mx.profiler.Domain('video'), 'frame')
    >>> frame.start()
    >>> frame.stop()
    """

    def __init__(self, domain, name):
        super().__init__(name)
        check_call(_LIB.MXProfileCreateFrame(_handle_of(domain), c_str(name), ctypes.byref(self.handle)))


class Event(_Duration):
    """A duration without a domain, shown on the thread that stops it. Also a context manager.

    >>> with mx.profiler.Event('one batch'):
    ...     x = mx.nd.ones(2) + 1
    """

    def __init__(self, name):
        super().__init__(name)
        check_call(_LIB.MXProfileCreateEvent(c_str(name), ctypes.byref(self.handle)))


class Counter(_Handled):
    """A number that changes over time; 64 bits, not negative.

    Parameters
    ----------
    value : int, optional
        What it is at first.

    Examples
    --------
    >>> import json
    >>> mx.profiler.set_config(filename='counter.json', profile_all=True)
    >>> mx.profiler.set_state('run')
    >>> counter = mx.profiler.Counter(mx.profiler.Domain('reading'), 'files', 0)
    >>> counter += 3
    >>> counter.decrement(1)
    >>> mx.profiler.set_state('stop')
    >>> mx.profiler.dump()
    >>> with open('counter.json') as file:
    ...     events = json.load(file)['traceEvents']
    >>> [event['args'] for event in events if event.get('cat') == 'reading']
    [{'files': 0}, {'files': 3}, {'files': 2}]
    """

    def __init__(self, domain, name, value=None):
        super().__init__(name)
        check_call(_LIB.MXProfileCreateCounter(_handle_of(domain), c_str(name), ctypes.byref(self.handle)))
        if value is not None:
            self.set_value(value)

    def set_value(self, value):
        """The counter becomes `value`."""
        if int(value) < 0:
            raise ValueError(f"[profiler] counter {self.name!r} got {value!r}; accepted: numbers from 0 to 2**64 - 1")
        check_call(_LIB.MXProfileSetCounter(self.handle, ctypes.c_uint64(int(value))))

    def increment(self, delta=1):
        """The counter grows by `delta`.

        >>> counter = mx.profiler.Domain('reading').new_counter('files')
        >>> counter.set_value(10)
        >>> counter.increment(2)
        """
        check_call(_LIB.MXProfileAdjustCounter(self.handle, ctypes.c_int64(int(delta))))

    def decrement(self, delta=1):
        """The counter shrinks by `delta`."""
        check_call(_LIB.MXProfileAdjustCounter(self.handle, ctypes.c_int64(-int(delta))))

    def __iadd__(self, delta):
        self.increment(delta)
        return self

    def __isub__(self, delta):
        self.decrement(delta)
        return self


class Marker:
    """A moment with a name.

    >>> mx.profiler.Marker(mx.profiler.Domain('training'), 'epoch').mark('process')
    """

    def __init__(self, domain, name):
        _handle_of(domain)
        self.domain = domain
        self.name = name

    def mark(self, scope="process"):
        """Now. `scope` says how far the mark reaches: 'global', 'process', 'thread', 'task' or
        'marker'."""
        check_call(_LIB.MXProfileSetMarker(self.domain.handle, c_str(self.name), c_str(scope)))
