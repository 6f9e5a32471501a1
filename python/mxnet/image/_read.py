"""Decoding, resizing and borders: one operator each."""
import numpy as np

from ..base import MXNetError
from ..ndarray import NDArray, _internal, array
from ..util import to_current_class

__all__ = ["imread", "imdecode", "imresize", "copyMakeBorder"]


def imread(filename, *args, **kwargs):
    """Reads an image file.

    Parameters
    ----------
    filename : str
    flag : int, default 1
        0 gives one channel of gray, 1 three channels of colour.
    to_rgb : bool, default True
        Red first, else blue first.
    out : NDArray, optional

    Returns
    -------
    NDArray (height, width, channels) of uint8, on the CPU.

    Examples
    --------
    >>> picture = mx.nd.full((4, 6, 3), 200, dtype='uint8')
    >>> header = mx.recordio.IRHeader(0, 0, 0, 0)
    >>> record = mx.recordio.pack_img(header, picture.asnumpy(), img_fmt='.png')
    >>> with open('gray.png', 'wb') as out:
    ...     _ = out.write(mx.recordio.unpack(record)[1])
    >>> mx.image.imread('gray.png').shape
    (4, 6, 3)
    """
    return to_current_class(_internal._cvimread(filename, *args, **kwargs))


def imdecode(buf, *args, **kwargs):
    """Decodes the bytes of an image file: `bytes`, `bytearray`, a NumPy array or an NDArray of
    uint8. Other arguments are those of `imread`.

    >>> picture = mx.nd.full((4, 6, 3), 200, dtype='uint8')
    >>> header = mx.recordio.IRHeader(0, 0, 0, 0)
    >>> record = mx.recordio.pack_img(header, picture.asnumpy(), img_fmt='.png')
    >>> _, file = mx.recordio.unpack(record)
    >>> mx.image.imdecode(file).shape
    (4, 6, 3)
    """
    if not isinstance(buf, NDArray):
        try:
            data = np.frombuffer(buf, dtype=np.uint8)
        except TypeError:
            raise ValueError(f"[imdecode] buf is of {type(buf)}; accepted are bytes, NumPy arrays and NDArrays") from None
        if data.size == 0:
            raise MXNetError("[imdecode] the buffer is empty; the bytes of an image file are needed")
        buf = array(data, dtype=np.uint8)
    return to_current_class(_internal._cvimdecode(buf.as_nd_ndarray(), *args, **kwargs))


def imresize(src, w, h, *args, **kwargs):
    """Resizes an image to width `w` and height `h`.

    Parameters
    ----------
    interp : int, default 1
        0: nearest, 1: bilinear, 2: bicubic, 3: area, 4: Lanczos.
    out : NDArray, optional

    Examples
    --------
    >>> mx.image.imresize(mx.nd.zeros((40, 60, 3), dtype='uint8'), w=30, h=20).shape
    (20, 30, 3)
    """
    return _internal._cvimresize(src, w, h, *args, **kwargs)


def copyMakeBorder(src, top, bot, left, right, *args, **kwargs):
    """The image with so many pixels around it.

    Parameters
    ----------
    type : int, default 0
        0: `value` (or `values`, one per channel), 1: the edge's pixels, 2: mirrored with the edge,
        3: the image again, 4: mirrored without the edge.
    value : float, default 0
    values : tuple of float, optional
    out : NDArray, optional

    Examples
    --------
    >>> mx.image.copyMakeBorder(mx.nd.ones((2, 2, 3), dtype='uint8'), 1, 1, 2, 2).shape
    (4, 6, 3)
    """
    return _internal._cvcopyMakeBorder(src, top, bot, left, right, *args, **kwargs)
