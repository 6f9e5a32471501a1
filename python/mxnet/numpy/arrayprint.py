"""``mx.np.arrayprint``: how arrays are printed."""
import numpy as onp

__all__ = ["set_printoptions"]


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
