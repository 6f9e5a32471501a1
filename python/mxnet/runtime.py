"""What the loaded library was built with."""
import collections
import ctypes

from .base import _LIB, check_call

__all__ = ["Feature", "Features", "feature_list"]


class Feature(ctypes.Structure):
    """One build option: `name` and whether it is `enabled`. The layout is that of ``struct
    LibFeature`` in the C ABI.

    >>> feature = mx.runtime.feature_list()[0]
    >>> isinstance(feature.name, str), feature.enabled in (True, False)
    (True, True)
    """
    _fields_ = [("_name", ctypes.c_char_p), ("_enabled", ctypes.c_bool)]

    @property
    def name(self):
        """Name of the option, e.g. ``'CUDA'``."""
        return self._name.decode()

    @property
    def enabled(self):
        """Whether the library has it."""
        return self._enabled

    def __repr__(self):
        return f"{'✔' if self.enabled else '✖'} {self.name}"


def feature_list():
    """All build options of the library, as a list of :class:`Feature`.

    >>> isinstance(mx.runtime.feature_list()[0].name, str)
    True
    """
    array, size = ctypes.POINTER(Feature)(), ctypes.c_size_t()
    check_call(_LIB.MXLibInfoFeatures(ctypes.byref(array), ctypes.byref(size)))
    return [array[i] for i in range(size.value)]


class Features(collections.OrderedDict):
    """Build options by name. There is one such dictionary per process.

    >>> features = mx.runtime.Features()
    >>> features.is_enabled('CPU_SSE2') in (True, False)
    True
    """
    instance = None

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            collections.OrderedDict.__init__(cls.instance, [(f.name, f) for f in feature_list()])
        return cls.instance

    def __init__(self):
        """The dictionary was filled when it was created: nothing is added here."""

    def __repr__(self):
        return str(list(self.values()))

    def is_enabled(self, feature_name):
        """Whether an option is on; its case does not matter.

        Raises
        ------
        RuntimeError
            if no option has this name.
        """
        key = feature_name.upper()
        if key not in self:
            raise RuntimeError(f"[Features] Feature '{key}' is unknown, known features are: {list(self.keys())}")
        return self[key].enabled
