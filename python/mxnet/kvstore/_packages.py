"""Stores that a package from outside carries: one process for each device, started by the package's
own launcher."""
import importlib

from ..base import CheckedTypeError, CheckedValueError
from ..ndarray.ndarray import NDArray
from ._interface import KVStoreBase


def load(package, command):
    """The module ``package.mxnet``. Raises ModuleNotFoundError with the `command` that installs
    it."""
    try:
        return importlib.import_module(package + ".mxnet")
    except ImportError as error:
        raise ModuleNotFoundError(f"[kvstore] the store {package!r} needs the module {package}.mxnet, which cannot be imported "
                                  f"({error}); install it: `{command}`", name=package) from error


def name_of(key):
    """What the packages call a key; they take one at a time."""
    if not isinstance(key, (int, str)):
        raise CheckedTypeError(f"[kvstore] key is {type(key).__name__}; accepted: an int or a str, one key for each call")
    return str(key)


def as_list(what, arrays):
    """The arrays of one key, of which there is at least one."""
    arrays = list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]
    for array in arrays:
        if not isinstance(array, NDArray):
            raise CheckedTypeError(f"[kvstore] {what} is {type(array).__name__}; accepted: an NDArray or a list of them, of one key")
    if not arrays:
        raise CheckedValueError(f"[kvstore] {what} is an empty list; accepted: an NDArray or a list of them, of one key")
    return arrays


def hand_out(value, targets):
    """Writes `value` into the arrays `targets`, wherever they are."""
    for target in targets:
        target[:] = value.as_in_context(target.context)


class PackageStore(KVStoreBase):
    """What the stores of Horovod and BytePS have alike: the optimizer runs on the workers."""

    def __init__(self, module):
        self._module = module
        module.init()

    @staticmethod
    def is_capable(capability):
        """Whether the store has a capability: it has none, the workers run the optimizer."""
        return False

    @property
    def type(self):
        """Name of the kind of store."""
        return type(self).__name__.lower()

    @property
    def rank(self):
        """Number of this worker, from 0."""
        return self._module.rank()

    @property
    def local_rank(self):
        """Number of this worker among those of its machine, from 0."""
        return self._module.local_rank()

    @property
    def num_workers(self):
        """Number of workers."""
        return self._module.size()
