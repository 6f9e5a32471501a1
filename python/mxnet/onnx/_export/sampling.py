"""Values of images at points between their pixels, for opsets and operators that ONNX has no
operator for."""
import numpy as np

from .shapes import is_static
from .terms import Term

__all__ = ["bilinear", "counted", "size_of"]


def size_of(c, dim, dtype=np.float32):
    """A size as a term of one number."""
    return Term(c, c.cast_from(c.size(dim), np.int64, dtype), dtype)


def counted(c, count, dtype=np.float32):
    """The numbers 0, 1, ... below a size, or below the number that a name has."""
    if not isinstance(count, str) and is_static(count):
        return Term(c, c.const(np.arange(count[0]), dtype), dtype)
    end = c.op("Squeeze", count if isinstance(count, str) else c.size(count), c.ints(0))
    made = c.op("Range", c.const(0, np.int64), end, c.const(1, np.int64))
    return Term(c, c.cast_from(made, np.int64, dtype), dtype)


def bilinear(x, sizes, ys, xs):
    """Images at points, of which those beyond the edges count as 0.

    Parameters
    ----------
    x : Term
        Images (batch, channels, height * width).
    sizes : (Term, Term)
        Height and width, in the dtype of the points.
    ys, xs : Term
        Points (batch, points), in pixels.

    Returns
    -------
    Term
        (batch, points, channels)
    """
    rows = x.op("Transpose", perm=[0, 2, 1])
    top, left = ys.floor(), xs.floor()
    down, right = ys - top, xs - left
    total = None
    for y, of_y in ((top, 1 - down), (top + 1, down)):
        for column, of_x in ((left, 1 - right), (left + 1, right)):
            inside = (y >= 0) & (y < sizes[0]) & (column >= 0) & (column < sizes[1])
            at = inside.where(y * sizes[1] + column, 0).to(np.int64)
            weight = inside.where(of_y * of_x, 0).to(x.dtype)
            part = rows.op("GatherND", at.unsqueeze(2), batch_dims=1) * weight.unsqueeze(2)
            total = part if total is None else total + part
    return total
