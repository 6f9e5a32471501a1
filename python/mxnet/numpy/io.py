"""``mx.np.io``: arrays out of text files."""
import numpy as onp

from ._creation import array

__all__ = ["genfromtxt"]


def genfromtxt(*args, **kwargs):
    """The numbers in a text file, read by NumPy's function of that name with the same arguments, as
    an array of mx.np. `ctx` or `device` says where.

    Examples
    --------
    >>> import io
    >>> mx.np.genfromtxt(io.StringIO("1,2\\n3,4"), delimiter=",").tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    device, ctx = kwargs.pop("device", None), kwargs.pop("ctx", None)
    values = onp.genfromtxt(*args, **kwargs)
    return array(values, dtype=values.dtype, ctx=ctx, device=device)
