"""Triangles and diagonals of square matrices, and what is made of columns."""
import numpy as np

from .shapes import is_static
from .table import converts

__all__ = []


def _square(c, i=0):
    """Rows of the matrices of input i."""
    if not is_static(c.dims(i)[-1]):
        raise c.unsupported("matrices of a free size", "matrices of a fixed size")
    return c.shape(i)[-1]


def _elements(c, size, places):
    """The elements of matrices at `places`, rows * size + columns."""
    flat = c.reshape(c[0], [*c.dims()[:-2], (size * size,)])
    return c.op("Gather", flat, c.const(places, np.int64), axis=-1)


def _spread(c, rows, columns, size):
    """Matrices with the elements of the last axis at these places, and 0 elsewhere."""
    places = np.full((size, size), len(rows))
    places[rows, columns] = np.arange(len(rows))
    pads = [0] * (2 * c.ndim() - 1) + [1]
    padded = c.op("Pad", c[0], c.ints(*pads), c.const(0))
    return c.reshape_out(c.op("Gather", padded, c.const(places.reshape(-1), np.int64), axis=-1))


def _diagonal(size, offset):
    rows = np.arange(size)
    rows = rows[(rows + offset >= 0) & (rows + offset < size)]
    return rows, rows + offset


def _triangle(c, size):
    """Places of a triangle: of a lower one row by row, of an upper one column by column. An offset
    says which it is."""
    offset = c.params["offset"]
    if offset < 0 or offset == 0 and c.params["lower"]:
        return np.tril_indices(size, offset)
    columns, rows = np.tril_indices(size, -offset)
    return rows, columns


@converts("_linalg_extractdiag")
def _(c):
    size = _square(c)
    rows, columns = _diagonal(size, c.params["offset"])
    return _elements(c, size, rows * size + columns)


@converts("_linalg_makediag")
def _(c):
    size = _square(c) + abs(c.params["offset"])
    return _spread(c, *_diagonal(size, c.params["offset"]), size)


@converts("_linalg_extracttrian")
def _(c):
    size = _square(c)
    rows, columns = _triangle(c, size)
    return _elements(c, size, rows * size + columns)


@converts("_linalg_maketrian")
def _(c):
    size = c.out_shape()[-1]
    _square(c)
    return _spread(c, *_triangle(c, size), size)


@converts("_linalg_sumlogdiag")
def _(c):
    size = _square(c)
    diagonal = _elements(c, size, np.arange(size) * (size + 1))
    return c.reshape_out(c.reduce("Sum", c.op("Log", diagonal), [c.ndim() - 2], False))


@converts("_linalg_trmm")
def _(c):
    """The triangle of the first operand times the second one."""
    size, params = _square(c), c.params
    kept = np.tril(np.ones((size, size))) if params["lower"] else np.triu(np.ones((size, size)))
    a = c.op("Where", c.const(kept != 0, np.bool_), c[0], c.const(0))
    if params["transpose"]:
        n = c.ndim()
        a = c.op("Transpose", a, perm=[*range(n - 2), n - 1, n - 2])
    x = c.op("MatMul", c[1], a) if params["rightside"] else c.op("MatMul", a, c[1])
    return x if params["alpha"] == 1 else c.op("Mul", x, c.const(params["alpha"]))


@converts("khatri_rao")
def _(c):
    """Products of all rows of the operands, column by column."""
    made = c[0]
    for i in range(1, len(c)):
        both = c.op("Mul", c.unsqueeze(made, 1), c.unsqueeze(c[i], 0))
        made = c.op("Reshape", both, c.ints(-1, _columns(c)))
    return made


def _columns(c):
    if not is_static(c.dims()[1]):
        raise c.unsupported("a free number of columns", "a fixed one")
    return c.shape()[1]
