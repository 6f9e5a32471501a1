"""NVTX ranges: named stretches of time of a thread, which Nsight Systems and other tools show."""
import ctypes

from ..base import _LIB, c_str, check_call

__all__ = ["range", "range_pop", "range_push"]

_COLOR = 0xCB4B16


def range_push(name, color=_COLOR):
    """Begin a range on this thread; ranges lie in each other.

    Parameters
    ----------
    name : str
        What the tool shows.
    color : int
        0xRRGGBB.

    Raises
    ------
    MXNetError
        in a build without GPU support.
    """
    check_call(_LIB.MXNVTXRangePush(c_str(name), ctypes.c_uint(color)))


def range_pop():
    """End the range that was begun last on this thread."""
    check_call(_LIB.MXNVTXRangePop())


class range:   # pylint: disable=redefined-builtin
    """A ``with`` block that is a range.

    Parameters
    ----------
    name : str
        What the tool shows.
    color : int
        0xRRGGBB.

    Examples
    --------
    >>> with mx.cuda.nvtx.range("validation"):
    ...     validate(net)
    """

    def __init__(self, name, color=_COLOR):
        self.name = name
        self.color = color

    def __enter__(self):
        range_push(self.name, self.color)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        range_pop()
