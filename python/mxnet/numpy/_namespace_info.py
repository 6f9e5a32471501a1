"""``mx.np.__array_namespace_info__()``: what the array API standard lets programs ask."""
import numpy as onp

from ..context import Context, cpu, current_context, num_gpus
from ._dispatch import default_float, default_int, device_of

__all__ = ["__array_namespace_info__"]

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": (),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"]


class __array_namespace_info__:   # pylint: disable=invalid-name
    """Answers of mx.np to programs that are written for the array API standard.

    >>> info = mx.np.__array_namespace_info__()
    >>> info.capabilities()["boolean indexing"]
    True
    >>> sorted(info.dtypes(kind="real floating"))
    ['float32', 'float64']
    """

    __module__ = "mxnet.numpy"

    def capabilities(self):
        """What may be left out of the standard, and is not."""
        return {"boolean indexing": True, "data-dependent shapes": True}

    def default_device(self):
        """The device of arrays that are made without one."""
        return current_context()

    def default_dtypes(self, *, device=None):
        """The dtypes that functions choose, of each kind of number that there is."""
        del device
        return {"real floating": onp.dtype(default_float()), "integral": onp.dtype(default_int()), "indexing": onp.dtype("int64")}

    def dtypes(self, *, device=None, kind=None):
        """Dtypes by their names, of one kind or of a tuple of kinds: all devices have the same.
        Raises ValueError for a kind that the standard does not have."""
        if device is not None:
            device_of(device=device)
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise ValueError(f"[dtypes] kind={unknown[0]!r}; accepted: {', '.join(_KINDS)}, or a tuple of them")
        return {name: onp.dtype(name) for k in kinds for name in _KINDS[k]}

    def devices(self):
        """The CPU and every GPU."""
        return [cpu(0)] + [Context("gpu", i) for i in range(num_gpus())]
