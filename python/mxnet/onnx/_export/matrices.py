"""Products of matrices."""
import string

import numpy as np

from .table import converts

__all__ = []


def _turned(c, i, flag):
    """Input i, its last two axes exchanged if `flag`."""
    if not flag:
        return c[i]
    n = c.ndim(i)
    return c.op("Transpose", c[i], perm=[*range(n - 2), n - 1, n - 2])


@converts("batch_dot")
def _(c):
    return c.op("MatMul", _turned(c, 0, c.params["transpose_a"]),
                _turned(c, 1, c.params["transpose_b"]))


def _product(c):
    """The product of inputs 0 and 1 as (..., rows, columns), and the order of axes that puts the
    rows back where `axis` has them, or None where they are there."""
    n, params = c.ndim(), c.params
    axis = c.axis(params["axis"])
    names, back = [], None
    for i, flag in ((0, params["transpose_a"]), (1, params["transpose_b"])):
        order = _rows_last(n, axis)
        if flag:
            order[-2:] = order[:-3:-1]
        names.append(c.transpose(c[i], order))
    if axis != n - 2:
        back = list(np.argsort(_rows_last(n, axis)))
    return c.op("MatMul", *names), back


def _rows_last(n, axis):
    """Axes in the order that has `axis` in front of the last one."""
    return [*(a for a in range(n - 1) if a != axis), axis, n - 1]


def _placed(c, name, back):
    return name if back is None else c.transpose(name, [int(a) for a in back])


@converts("_linalg_gemm2")
def _(c):
    x, back = _product(c)
    alpha = c.params["alpha"]
    return _placed(c, x if alpha == 1 else c.op("Mul", x, c.const(alpha)), back)


@converts("_linalg_gemm")
def _(c):
    x, back = _product(c)
    made = _placed(c, c.op("Mul", x, c.const(c.params["alpha"])), back)
    if not c.params["beta"]:
        return made
    return c.op("Add", made, c.op("Mul", c[2], c.const(c.params["beta"])))


@converts("_linalg_syrk")
def _(c):
    transpose, alpha = c.params["transpose"], c.params["alpha"]
    x = c.op("MatMul", _turned(c, 0, transpose), _turned(c, 0, not transpose))
    return x if alpha == 1 else c.op("Mul", x, c.const(alpha))


@converts("_linalg_det", "_npi_det")
def _(c):
    made = c.op("Det", c[0])
    return c.op("Reshape", made, c.ints(1)) if c.ndim() == len(c.out_dims()) + 1 == 2 else made


def _multiplied(c, a, b, n, m):
    """The product of arrays of `n` and `m` dimensions. A vector on the right is a column: ONNX
    Runtime 1.32 is wrong about vectors behind a transposed matrix."""
    if m > 1 or n == 1:
        return c.op("MatMul", a, b)
    return c.squeeze(c.op("MatMul", a, c.unsqueeze(b, 1)), n - 1)


@converts("dot")
def _(c):
    """The last axis of the one with the first axis of the other; `transpose_a` puts the first axis
    of the one last, `transpose_b` the last of the other first."""
    a, b = c[0], c[1]
    n, m = c.ndim(0), c.ndim(1)
    if c.params["transpose_a"] and n > 1:
        a = c.transpose(a, [*range(1, n), 0])
    if c.params["transpose_b"] and m > 1:
        b = c.transpose(b, [m - 1, *range(m - 1)])
    if n <= 2 and m <= 2:
        x = _multiplied(c, a, b, n, m)
        return c.op("Reshape", x, c.ints(1)) if n == m == 1 else x
    width = c.dims(0)[0 if c.params["transpose_a"] else -1][0]
    if n > 2:
        a = c.op("Reshape", a, c.ints(-1, width))
    if m > 2:
        b = c.op("Reshape", b, c.ints(width, -1))
    return c.reshape_out(c.op("MatMul", a, b))


@converts("_np_dot", "_npi_dot")
def _(c):
    a, b = (c.input_as(i, c.out_dtype()) for i in (0, 1))
    if c.ndim(0) == 0 or c.ndim(1) == 0:
        return c.op("Mul", a, b)
    if c.ndim(1) <= 2:
        return _multiplied(c, a, b, c.ndim(0), c.ndim(1))
    m, width = c.ndim(1), c.shape(1)[-2]
    b = c.op("Reshape", c.transpose(b, [m - 2, *range(m - 2), m - 1]), c.ints(width, -1))
    a = a if c.ndim(0) <= 2 else c.op("Reshape", a, c.ints(-1, width))
    return c.reshape_out(c.op("MatMul", a, b))


@converts("_npi_matmul")
def _(c):
    a, b = (c.input_as(i, c.out_dtype()) for i in (0, 1))
    return _multiplied(c, a, b, c.ndim(0), c.ndim(1))


def _contracted(c, first, second):
    """Sums over axes `first` of input 0 and `second` of input 1."""
    first, second = [c.axis(a, 0) for a in first], [c.axis(a, 1) for a in second]
    left = [a for a in range(c.ndim(0)) if a not in first]
    right = [a for a in range(c.ndim(1)) if a not in second]
    width = int(np.prod([c.shape(0)[a] for a in first]))
    if width == 0:      # a sum of nothing
        return c.expand(c.const(0, c.out_dtype()), c.out_dims())
    a = c.op("Reshape", c.transpose(c[0], left + first), c.ints(-1, width))
    b = c.op("Reshape", c.transpose(c[1], second + right), c.ints(width, -1))
    return c.reshape_out(c.op("MatMul", a, b))


@converts("_npi_tensordot")
def _(c):
    return _contracted(c, c.params["a_axes_summed"], c.params["b_axes_summed"])


@converts("_npi_tensordot_int_axes")
def _(c):
    n = c.params["axes"]
    return _contracted(c, range(c.ndim(0) - n, c.ndim(0)), range(n))


@converts("_npi_einsum")
def _(c):
    parts, equation = [c.input_as(i, c.out_dtype()) for i in range(len(c))], c.params["subscripts"].replace(" ", "")
    terms = equation.split("->")[0].split(",")
    hidden = [c.ndim(i) - len(t.replace("...", "")) if "..." in t else 0 for i, t in enumerate(terms)]
    for i, t in enumerate(terms):       # all ellipses of ONNX stand for as many dimensions
        missing = max(hidden) - hidden[i]
        if "..." in t and missing:
            parts[i] = c.unsqueeze(parts[i], *range(t.index("..."), t.index("...") + missing))
    return c.op("Einsum", *parts, equation=_in_small_letters(equation))


def _in_small_letters(equation):
    """The same with an output that is told, and without capitals: readers take none."""
    if equation.islower() and "->" in equation:
        return equation
    letters = sorted({one for one in equation if one.isalpha()})
    if "->" not in equation:
        once = "".join(one for one in letters if equation.count(one) == 1)
        equation += "->" + ("..." if "..." in equation else "") + once
    free = iter(one for one in string.ascii_lowercase if one not in letters)
    names = {one: next(free) for one in letters if one.isupper()}
    return "".join(names.get(one, one) for one in equation)


@converts("_npi_kron")
def _(c):
    n = max(c.ndim(0), c.ndim(1))
    parts = []
    for i in (0, 1):
        x = c.input_as(i, c.out_dtype())
        missing = n - c.ndim(i)
        if missing:
            x = c.unsqueeze(x, *range(missing))
        parts.append(c.unsqueeze(x, *range(1 - i, 2 * n, 2)))
    return c.reshape_out(c.op("Mul", *parts))


@converts("_npi_convolve")
def _(c):
    """Conv multiplies a filter as it stands; its zeros may not be fewer than none."""
    if not c.is_float():
        raise c.unsupported("integers", "floats")
    size, taps = c.shape(0)[0], c.shape(1)[0]
    more = taps - 1 if c.params["full"] else 0
    before, after = c.params["before"] + more, c.params["after"] + more

    def backwards(x):
        return c.op("Slice", x, c.ints(-1), c.ints(-2**62), c.ints(0), c.ints(-1))
    x = c[0]
    if min(before, after) < 0:
        x = c.op("Slice", x, c.ints(max(-before, 0)), c.ints(size - max(-after, 0)), c.ints(0))
    kernel = backwards(c[1]) if c.params["turned"] else c[1]
    y = c.op("Conv", *(c.unsqueeze(v, 0, 1) for v in (x, kernel)), pads=[max(before, 0), max(after, 0)])
    y = c.op("Reshape", y, c.ints(-1))
    return backwards(y) if c.params["reversed"] else y


# ---- attention

def _parts(c, i, heads, count):
    """Input i of (steps, batch, heads * count * width) as `count` arrays of (batch * heads, steps,
    width), and the width."""
    width = c.shape(i)[2] // (heads * count)
    x = c.op("Reshape", c[i], c.ints(0, 0, heads, count, width))
    parts = []
    for place in range(count):
        part = c.op("Gather", x, c.const(place, np.int64), axis=3)
        part = c.op("Reshape", part, c.ints(0, -1, width))
        parts.append(c.op("Transpose", part, perm=[1, 0, 2]))
    return parts, width


def _scores(c, queries, keys, width):
    queries = c.op("Mul", queries, c.const(width ** -0.5))
    return c.op("MatMul", queries, c.op("Transpose", keys, perm=[0, 2, 1]))


def _applied(c, attention, values, heads, width):
    """Attention times values, as (steps, batch, heads * width)."""
    x = c.op("Transpose", c.op("MatMul", attention, values), perm=[1, 0, 2])
    return c.op("Reshape", x, c.ints(0, -1, heads * width))


@converts("_contrib_interleaved_matmul_selfatt_qk")
def _(c):
    (queries, keys, _), width = _parts(c, 0, c.params["heads"], 3)
    return _scores(c, queries, keys, width)


@converts("_contrib_interleaved_matmul_selfatt_valatt")
def _(c):
    (_, _, values), width = _parts(c, 0, c.params["heads"], 3)
    return _applied(c, c[1], values, c.params["heads"], width)


@converts("_contrib_interleaved_matmul_encdec_qk")
def _(c):
    (queries,), width = _parts(c, 0, c.params["heads"], 1)
    (keys, _), _ = _parts(c, 1, c.params["heads"], 2)
    return _scores(c, queries, keys, width)


@converts("_contrib_interleaved_matmul_encdec_valatt")
def _(c):
    (_, values), width = _parts(c, 0, c.params["heads"], 2)
    return _applied(c, c[1], values, c.params["heads"], width)
