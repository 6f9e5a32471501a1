"""Factors, inverses and systems of equations: ONNX has none of them, so they are loops over the
columns of a matrix. Matrices are the last two axes, whatever is in front of them."""
import numpy as np

from .rounds import repeat
from .shapes import is_static
from .table import converts
from .terms import Term, term

__all__ = []


def _size(c, i=0):
    """The size of square matrices."""
    dim = c.dims(i)[-1]
    if not is_static(dim):
        raise c.unsupported("matrices of a free size", "matrices of a fixed size")
    return dim[0]


def _turned(x, ndim):
    """Matrices transposed."""
    return x.op("Transpose", perm=[*range(ndim - 2), ndim - 1, ndim - 2])


def _product(a, b):
    return a.op("MatMul", b)


def _at(body, places, number):
    """Where a place is the one of this round, as a row of truth values."""
    return Term(body, places, np.int64).same(number)


def _column(x, number):
    """Column `number`, with the axis kept."""
    return x.op("Gather", number.unsqueeze(0), axis=-1)


def _row(x, number):
    return x.op("Gather", number.unsqueeze(0), axis=-2)


def _zeros_like(x):
    return x * 0


def _places(c, size):
    return c.const(np.arange(size), np.int64)


def _known(*sizes):
    return [(size,) for size in sizes]


# ---- triangles

def _cholesky(c, x, dims):
    """The lower triangle whose product with its transpose is `x`: column by column, each taken off
    what is left."""
    places = _places(c, dims[-1][0])

    def step(body, number, terms):
        rest, made = terms
        column = _column(rest, number)
        below = Term(body, places, np.int64).op("GreaterOrEqual", number, dtype=np.bool_).unsqueeze(1)
        column = below.where(column / _row(column, number).sqrt(), 0)
        rest = rest - _product(column, _turned(column, len(dims)))
        return [rest, _at(body, places, number).where(column, made)], None

    return repeat(c, [(x, dims), (_zeros_like(x), dims)], step, c.const(dims[-1][0], np.int64))[1]


def _triangle_solved(c, a, b, b_dims, upper):
    """x with a x = b, where `a` is triangular: row by row, each taken off the others."""
    size = b_dims[-2][0]
    places = _places(c, size)
    own = Term(c, c.const(np.eye(size, dtype=bool), np.bool_), np.bool_)
    a = _masked(c, a, size, upper)
    diagonal = own.where(a, 0).reduce("Sum", [-1])

    def step(body, number, terms):
        left, made = terms
        at = (size - 1) - number if upper else number
        x = _row(left, at) / _row(Term(body, diagonal.name, a.dtype), at)
        left = left - _product(_column(Term(body, a.name, a.dtype), at), x)
        return [left, _at(body, places, at).unsqueeze(1).where(x, made)], None

    states = [(b, b_dims), (_zeros_like(b), b_dims)]
    return repeat(c, states, step, c.const(size, np.int64))[1]


def _masked(c, x, size, upper):
    kept = np.triu(np.ones((size, size))) if upper else np.tril(np.ones((size, size)))
    return Term(c, c.const(kept != 0, np.bool_), np.bool_).where(x, 0)


@converts("_linalg_potrf", "_npi_cholesky")
def _(c):
    _size(c)
    x = term(c, 0) if c.params["lower"] else _turned(term(c, 0), c.ndim())
    made = _cholesky(c, x, c.dims())
    return (made if c.params["lower"] else _turned(made, c.ndim())).name


@converts("_linalg_potri")
def _(c):
    """The inverse of the matrix that has this triangle for a factor."""
    x = term(c, 0)
    upper = not c.params["lower"]
    inverse = _triangle_solved(c, x, _identity_like(c, x), c.dims(), upper)
    other = _turned(inverse, c.ndim())
    return (_product(inverse, other) if upper else _product(other, inverse)).name


def _identity_like(c, x):
    """Identity matrices in the shape of input 0."""
    return _zeros_like(x) + np.eye(_size(c))


@converts("_linalg_trsm")
def _(c):
    """Systems with a triangle, or its transpose, on either side."""
    _size(c)
    params, n = c.params, c.ndim()
    a, b, dims = term(c, 0), term(c, 1), list(c.dims(1))
    if params["rightside"]:
        b, dims = _turned(b, n), [*dims[:-2], dims[-1], dims[-2]]
    if params["rightside"] != params["transpose"]:
        a = _turned(a, n)
    upper = params["lower"] == (params["rightside"] != params["transpose"])
    made = _triangle_solved(c, a, b, dims, upper)
    made = _turned(made, n) if params["rightside"] else made
    return (made if params["alpha"] == 1 else made * params["alpha"]).name


# ---- elimination

def _eliminated(c, a, b, dims):
    """What elimination with the largest pivots makes of matrices `a` and right sides `b`: x with
    a x = b, the sign of the determinant, and the logarithm of its magnitude. `dims` are those of
    the matrices side by side."""
    size, places = dims[-2][0], _places(c, dims[-2][0])
    one = [*dims[:-2], (1,), (1,)]
    both = a if b is None else a.op("Concat", b, axis=-1)
    start = _column(_row(a * 0, _zero(c)), _zero(c))

    def step(body, number, terms):
        x, sign, size_log = terms
        here, column = _at(body, places, number).unsqueeze(1), _column(x, number)
        above = Term(body, places, np.int64).op("Less", number, dtype=np.bool_).unsqueeze(1)
        at = above.where(-1, column.abs()).op("ArgMax", axis=-2, keepdims=1, dtype=np.int64)
        there = Term(body, places, np.int64).unsqueeze(1).same(at)
        top = there.where(x, 0).reduce("Sum", [-2])
        x = here.where(top, there.where(_row(x, number), x))
        pivot = _column(top, number)
        size_log, swapped = size_log + pivot.abs().log(), at.same(number)
        sign = sign * swapped.where(pivot.op("Sign"), -pivot.op("Sign"))
        top = top / pivot.same(0).where(1, pivot) if b is None else top / pivot
        factors = here.where(0, _column(x, number))
        return [here.where(top, x - _product(factors, top)), sign, size_log], None

    states = [(both, dims), (start + 1, one), (start, one)]
    made, sign, size_log = repeat(c, states, step, c.const(size, np.int64))
    return made, sign.squeeze(-2, -1), size_log.squeeze(-2, -1)


def _zero(c):
    return Term(c, c.const(0, np.int64), np.int64)


def _solved(c, a, b, b_dims):
    """x with a x = b."""
    size, columns = b_dims[-2][0], b_dims[-1]
    if not is_static(columns):
        raise c.unsupported("a free number of right sides", "a fixed one")
    dims = [*b_dims[:-1], (size + columns[0],)]
    return _eliminated(c, a, b, dims)[0].columns(size, size + columns[0])


@converts("_linalg_inverse")
def _(c):
    x = term(c, 0)
    return _solved(c, x, _identity_like(c, x), c.dims()).name


@converts("_npi_solve")
def _(c):
    """The right side may be vectors, and either may have more dimensions in front."""
    _size(c)
    a, b, dims = term(c, 0, c.out_dtype()), term(c, 1, c.out_dtype()), list(c.dims(1))
    vectors = c.ndim(1) == 1 or c.ndim(1) == c.ndim(0) - 1
    if vectors:
        b, dims = b.unsqueeze(c.ndim(1)), [*dims, (1,)]
    front = list(c.out_dims())[:-1 if vectors else -2]
    if front != dims[:-2]:
        b, dims = Term(c, c.expand(b.name, [*front, *dims[-2:]]), b.dtype), [*front, *dims[-2:]]
    if front != list(c.dims(0))[:-2]:
        a = Term(c, c.expand(a.name, [*front, *c.dims(0)[-2:]]), a.dtype)
    made = _solved(c, a, b, dims)
    return (made.squeeze(len(dims) - 1) if vectors else made).name


@converts("_npi_tensorinv")
def _(c):
    dims = _fixed(c, 0)
    rows = int(np.prod(dims[:c.params["ind"]], dtype=int))
    x = term(c, 0).op("Reshape", Term(c, c.ints(rows, rows), np.int64))
    identity = Term(c, c.const(np.eye(rows)), c.dtype())
    return c.reshape(_solved(c, x, identity, _known(rows, rows)).name, c.out_dims())


@converts("_npi_tensorsolve")
def _(c):
    dims = _fixed(c, 0)
    rows = int(np.prod(_fixed(c, 1), dtype=int))
    axes = [axis % len(dims) for axis in c.params["a_axes"] or ()]
    x = c.transpose(c.input_as(0, c.out_dtype()), [a for a in range(len(dims)) if a not in axes] + axes)
    x = Term(c, c.op("Reshape", x, c.ints(rows, rows)), c.out_dtype())
    b = Term(c, c.op("Reshape", c.input_as(1, c.out_dtype()), c.ints(rows, 1)), c.out_dtype())
    return c.reshape(_solved(c, x, b, _known(rows, 1)).name, c.out_dims())


def _fixed(c, i):
    if not all(map(is_static, c.dims(i))):
        raise c.unsupported("a free size", "fixed sizes")
    return list(c.shape(i))


@converts("_linalg_slogdet", "_npi_slogdet")
def _(c):
    """The sign of the determinant and the logarithm of its magnitude."""
    _size(c)
    _, sign, size_log = _eliminated(c, term(c, 0), None, list(c.dims()))
    return [c.reshape(sign.name, c.out_dims(0)), c.reshape(size_log.name, c.out_dims(1))]


# ---- reflections

def _reflected(c, x, dims):
    """(r, q) with x = q r, by Householder's reflections, with the signs that LAPACK gives: q is
    square."""
    rows, columns = dims[-2][0], dims[-1][0]
    places = _places(c, rows)
    square = [*dims[:-2], (rows,), (rows,)]
    start = _product(_zeros_like(x), _turned(x, len(dims))) + np.eye(rows)

    def step(body, number, terms):
        r, q = terms
        below = Term(body, places, np.int64).op("Greater", number, dtype=np.bool_).unsqueeze(1)
        here, column = _at(body, places, number).unsqueeze(1), _column(r, number)
        first, rest = _row(column, number), below.where(column, 0)
        others = (rest * rest).reduce("Sum", [-2])
        norm = (first * first + others).sqrt()
        head = (first >= 0).where(first + norm, first - norm)
        v = here.where(head, rest)
        length = (v * v).reduce("Sum", [-2])
        scale = (others > 0).where(2 / (others > 0).where(length, 1), 0)
        across = _turned(v, len(dims))
        return [r - _product(v * scale, _product(across, r)),
                q - _product(_product(q, v * scale), across)], None

    return repeat(c, [(x, dims), (start, square)], step,
                  c.const(min(rows, columns), np.int64))


def _upper(c, r, rows, columns):
    kept = np.triu(np.ones((rows, columns)))
    return Term(c, c.const(kept != 0, np.bool_), np.bool_).where(r, 0)


@converts("_npi_qr")
def _(c):
    dims = list(c.dims())
    rows, columns = _both(c)
    r, q = _reflected(c, term(c, 0), dims)
    r = _upper(c, r, rows, columns)
    if rows > columns:
        q = q.columns(0, columns)
        r = Term(c, c.slice(r.name, -2, 0, columns), r.dtype)
    return [q.name, r.name]


def _both(c):
    if not all(map(is_static, c.dims()[-2:])):
        raise c.unsupported("matrices of a free size", "matrices of a fixed size")
    return c.shape()[-2:]


@converts("_linalg_gelqf")
def _(c):
    """Rows: the transposes of what columns have."""
    columns, rows = _both(c)
    dims = [*c.dims()[:-2], c.dims()[-1], c.dims()[-2]]
    r, q = _reflected(c, _turned(term(c, 0), c.ndim()), dims)
    r = Term(c, c.slice(_upper(c, r, rows, columns).name, -2, 0, columns), r.dtype)
    return [_turned(q.columns(0, columns), c.ndim()).name, _turned(r, c.ndim()).name]
