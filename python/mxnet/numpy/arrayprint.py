"""``mx.np.arrayprint``: how arrays are printed."""
import numpy as onp

from .._binding import NDArrayBase

__all__ = ["set_printoptions", "get_printoptions", "printoptions", "array_repr", "array_str", "array2string"]


def set_printoptions(precision=None, threshold=None, **kwarg):
    """How arrays of mx.np and of NumPy are printed; the arguments are those of NumPy's function.

    Examples
    --------
    >>> mx.np.set_printoptions(precision=3)
    >>> mx.np.array([1 / 3])
    array([0.333])
    >>> mx.np.set_printoptions(precision=8)
    """
    onp.set_printoptions(precision=precision, threshold=threshold, **kwarg)


def get_printoptions():
    """How arrays are printed: a dict of what :func:`set_printoptions` takes.

    Examples
    --------
    >>> mx.np.get_printoptions()["precision"]
    8
    """
    return onp.get_printoptions()


def printoptions(*args, **kwargs):
    """How arrays are printed within a ``with`` statement; arguments as :func:`set_printoptions`.

    Examples
    --------
    >>> with mx.np.printoptions(precision=2):
    ...     print(mx.np.array([1 / 3]))
    [0.33]
    """
    return onp.printoptions(*args, **kwargs)


def _printed_so(width, precision, suppress):
    given = {"linewidth": width, "precision": precision, "suppress": suppress}
    return onp.printoptions(**{k: v for k, v in given.items() if v is not None})


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The text of an array that ``repr`` gives. Other arguments are those of NumPy's function.

    Examples
    --------
    >>> mx.np.array_repr(mx.np.array([1.0, 2.0]))
    'array([1., 2.])'
    """
    with _printed_so(max_line_width, precision, suppress_small):
        return repr(arr)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The text of an array that ``str`` gives. Other arguments are those of NumPy's function.

    Examples
    --------
    >>> mx.np.array_str(mx.np.array([1.0, 2.0]))
    '[1. 2.]'
    """
    with _printed_so(max_line_width, precision, suppress_small):
        return str(a)


def array2string(a, *args, **kwargs):
    """The elements as text; other arguments are those of NumPy's function.

    Examples
    --------
    >>> mx.np.array2string(mx.np.array([1.0, 2.5]), separator=", ")
    '[1. , 2.5]'
    """
    return onp.array2string(a.asnumpy() if isinstance(a, NDArrayBase) else a, *args, **kwargs)
