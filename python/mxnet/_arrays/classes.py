"""Whether arrays are of mx.np or of mx.nd, and arrays of the one class as the other: below all
modules of arrays, so that `import mxnet` needs neither mx.np nor mxnet.util."""
import sys

__all__ = ["is_np_ndarray", "numpy_among", "overwrite", "to_class_of"]


def is_np_ndarray(value):
    """Whether `value` is an array of mx.np. (Its class is not loaded unless a program uses it.)"""
    module = sys.modules.get("mxnet.numpy._array")
    # without the class: another thread is loading the module
    return module is not None and isinstance(value, getattr(module, "ndarray", ()))


def numpy_among(arrays):
    """Whether one of `arrays` is an array of mx.np."""
    return any(map(is_np_ndarray, arrays))


def overwrite(array, value):
    """Write `value` into all of `array`, which may have no dimensions. (A slice takes a shorter way
    than the ellipsis.)"""
    array[slice(None) if array.ndim else Ellipsis] = value


def to_class_of(array, like):
    """A dense array as one of the class of `like`, sharing memory and gradients."""
    if type(array) is type(like) or getattr(array, "stype", "default") != "default":
        return array
    return array.as_np_ndarray() if is_np_ndarray(like) else array.as_nd_ndarray()
