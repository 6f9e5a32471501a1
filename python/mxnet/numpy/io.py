"""``mx.np.io``: arrays out of text files."""
import numpy as onp

from ._creation import array

__all__ = ["genfromtxt"]


def genfromtxt(*args, **kwargs):
    """The numbers in a text file, read by NumPy's function of that name with the same arguments, as
    an
    array of mx.np: float32 unless `dtype` says otherwise. `ctx` or `device` says where.

    Examples
    --------
    >>> import io
    >>> mx.np.genfromtxt(io.StringIO("1,2\\n3,4"), delimiter=",")
    array([[1., 2.],
           [3., 4.]])
    """
    device, ctx = kwargs.pop("device", None), kwargs.pop("ctx", None)
    dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None)
    return array(onp.genfromtxt(*args, **kwargs), dtype=dtype, ctx=ctx, device=device)
