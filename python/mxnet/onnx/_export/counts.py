"""Counts, ranks and tables: histograms, percentiles, interpolation, sets; whole numbers."""
import numpy as np

from .conversion import is_float
from .reductions import axes_of
from .rounds import repeat
from .shapes import is_static
from .table import converts
from .terms import Term, term

__all__ = []


def _flat(c, i, dtype):
    return Term(c, c.op("Reshape", c.input_as(i, dtype), c.ints(-1)), dtype)


def _comparable(dtype):
    """A dtype that ONNX compares, with the same numbers."""
    return dtype if is_float(dtype) else np.int64


# ---- tables

def _rank(c, table, x, right):
    """How many elements of a sorted vector are below each number, or not above if `right`."""
    below = x.unsqueeze(-1).op("GreaterOrEqual" if right else "Greater", table, dtype=np.bool_)
    return below.to(np.int64).reduce("Sum", [-1], False)


@converts("_searchsorted")
def _(c):
    dtype = _comparable(c.dtype(0))
    found = _rank(c, term(c, 0, dtype), term(c, 1, dtype), c.params["right"])
    return found.to(c.out_dtype()).name


@converts("_npi_interp")
def _(c):
    """Straight lines between points."""
    params = c.params
    if params["period"] is not None:
        raise c.unsupported("period", "x and xp that do not repeat")
    if not is_static(c.dims()[0]):
        raise c.unsupported("a free number of points", "a fixed one")
    wide, count = np.float64, c.shape()[0]
    xp, fp = term(c, 0, wide), term(c, 1, wide)
    x = Term(c, c.const(params["x_scalar"], wide), wide) if params["x_is_scalar"] else term(c, 2, wide)

    def at(values, place):
        place = place if isinstance(place, Term) else Term(c, c.const(place, np.int64), np.int64)
        return values.op("Gather", place, axis=0)

    first = (_rank(c, xp, x, True) - 1).op("Clip", 0, max(0, count - 2))
    second = first + min(1, count - 1)
    x0, y0 = at(xp, first), at(fp, first)
    run = at(xp, second) - x0
    made = y0 + (x - x0) * (at(fp, second) - y0) / run.same(0).where(1, run)
    left, right = (params[name] for name in ("left", "right"))
    made = (x < at(xp, 0)).where(at(fp, 0) if left is None else left, made)
    return (x > at(xp, -1)).where(at(fp, -1) if right is None else right, made).name


# ---- how often

@converts("_npi_bincount")
def _(c):
    """Counts of 0, 1, ... up to the largest number, and at least `minlength` of them."""
    if c.opset < 16:
        raise c.unsupported(f"opset {c.opset}", "16 and newer")
    numbers = _flat(c, 0, np.int64)
    dtype = c.dtype(1) if c.params["has_weights"] else np.int64
    ones = term(c, 1) if c.params["has_weights"] else numbers * 0 + 1
    least = c.ints(c.params["minlength"] - 1)
    most = c.op("Concat", numbers.name, least, axis=0)
    length = Term(c, c.reduce("Max", most, [0], True), np.int64) + 1
    zeros = c.op("Expand", c.const(0, dtype), length.name)
    made = c.op("ScatterElements", zeros, numbers.name, ones.name, axis=0, reduction="add")
    return c.cast_from(made, dtype, c.out_dtype())


@converts("_histogram")
def _(c):
    """Counts between edges: how many numbers are from an edge on, less those from the next."""
    dtype = _comparable(c.dtype()) if is_float(c.dtype()) else np.float32
    numbers = _flat(c, 0, dtype)
    bins = c.params["bin_cnt"]
    if bins is None:
        edges, made = term(c, 1, dtype), c[1]
        count = c.shape(1)[0] - 1
    else:
        low, high = c.params["range"]
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        count = bins
        table = np.linspace(low, high, bins + 1)
        made = c.const(table, c.out_dtype(1))
        edges = Term(c, c.const(table, dtype), dtype)
    above = edges.unsqueeze(1).op("LessOrEqual", numbers, dtype=np.bool_).to(np.int64)
    above = above.reduce("Sum", [1], False)
    last = Term(c, c.op("Slice", edges.name, c.ints(count), c.ints(count + 1)), dtype)
    beyond = (numbers > last).to(np.int64).reduce("Sum", [0])
    starts = Term(c, c.slice(above.name, 0, 0, count), np.int64)
    stops = c.op("Concat", c.slice(above.name, 0, 1, count), beyond.name, axis=0)
    counts = starts - Term(c, stops, np.int64)
    return [counts.to(c.out_dtype()).name, c.cast_from(made, c.dtype(1), c.out_dtype(1)) if bins is None else made]


@converts("_npi_unique")
def _(c):
    params = c.params
    axis = None if params["axis"] is None else c.axis(params["axis"])
    x = c[0] if c.ndim() or axis is not None else c.op("Reshape", c[0], c.ints(1))
    values, first, inverse, counts = c.op("Unique", x, outputs=4, axis=axis, sorted=1)
    made = [values]
    made += [first] if params["return_index"] else []
    made += [inverse] if params["return_inverse"] else []
    made += [counts] if params["return_counts"] else []
    return [made[0], *(c.cast_from(name, np.int64, c.out_dtype(i)) for i, name in enumerate(made[1:], 1))]


# ---- ranks

@converts("_npi_percentile")
def _(c):
    """Numbers by rank, and what lies between two of them."""
    axes = sorted(axes_of(c))
    dtype = c.out_dtype()
    kept = [a for a in range(c.ndim()) if a not in axes]
    sizes = [c.dims()[a] for a in axes]
    if not all(map(is_static, sizes)):
        raise c.unsupported("a free size along the axes", "a fixed one")
    count = int(np.prod([d[0] for d in sizes], dtype=int))
    x = c.transpose(c.input_as(0, dtype), kept + axes)
    x = c.reshape(x, [*(c.dims()[a] for a in kept), (count,)])
    rows = c.op("TopK", x, c.ints(count), outputs=2, axis=-1, largest=0)[0]
    rows = Term(c, rows, dtype)
    wide = np.float64
    if c.params["q_scalar"] is None:
        q, several = term(c, 1, wide), c.ndim(1)
    else:
        q, several = Term(c, c.const(c.params["q_scalar"], wide), wide), 0
    made = _between(c, rows, q * ((count - 1) / 100), c.params["interpolation"], count)
    front = len(kept)       # the axes of q come first
    made = c.transpose(made.name, [*range(front, front + several), *range(front)])
    if c.params["keepdims"]:
        made = c.unsqueeze(made, *(several + a for a in axes))
    return made


def _between(c, rows, at, kind, count):
    low = at.floor()
    part = at - low

    def number(place):
        place = place.op("Clip", 0, count - 1).to(np.int64)
        return rows.op("Gather", place, axis=-1)

    if kind == "nearest":
        return number(at.op("Round"))
    below = number(low)
    if kind == "lower":
        return below
    above = number(at.op("Ceil"))
    if kind == "higher":
        return above
    if kind == "midpoint":
        return (below + above) * 0.5
    return below + (above - below) * part.to(rows.dtype)


# ---- whole numbers

def _pair(c):
    """Both operands as int64."""
    return term(c, 0, np.int64), _second(c)


def _second(c):
    if "scalar" in c.params:
        return Term(c, c.const(int(c.params["scalar"]), np.int64), np.int64)
    return term(c, 1, np.int64)


def _divisor(c, a, b):
    """Euclid's greatest common divisor: rounds until nothing is left."""
    dims = c.out_dims()
    a, b = (Term(c, c.expand(one.abs().name, dims), np.int64) for one in (a, b))

    def step(body, number, terms):
        one, other = terms
        done = other.same(0)
        rest = one.op("Mod", done.where(1, other))
        one, other = done.where(one, other), done.where(0, rest)
        left = other.reduce("Max", range(len(dims)), False) if dims else other
        return [one, other], left > 0

    return repeat(c, [(a, dims), (b, dims)], step)[0]


@converts("_npi_gcd", "_npi_gcd_scalar")
def _(c):
    return _divisor(c, *_pair(c)).to(c.out_dtype()).name


@converts("_npi_lcm", "_npi_lcm_scalar")
def _(c):
    a, b = _pair(c)
    divisor = _divisor(c, a, b)
    none = divisor.same(0)
    return ((a / none.where(1, divisor)) * b).abs().to(c.out_dtype()).name


def _powers(c, by):
    """2 to the power of each number, from 0 to 62."""
    table = Term(c, c.const(2 ** np.arange(63, dtype=np.int64), np.int64), np.int64)
    return table.op("Gather", by.op("Clip", 0, 62), axis=0)


def _left(c, x, by):
    width = _width(c)
    outside = (by < 0) | (by >= width)
    return outside.where(0, x * _powers(c, by))


def _right(c, x, by):
    """Rounds down, so that what is left of a negative number is -1."""
    outside = (by < 0) | (by >= min(_width(c), 63))
    power = _powers(c, by)
    rest = x.op("Mod", power)
    return outside.where((x < 0).where(-1, x * 0), (x - rest) / power)


def _width(c):
    return np.dtype(c.out_dtype()).itemsize * 8


for _name, _shift in (("left", _left), ("right", _right)):
    converts(f"_npi_bitwise_{_name}_shift", f"_npi_bitwise_{_name}_shift_scalar")(
        lambda c, shift=_shift: shift(c, *_pair(c)).to(c.out_dtype()).name)
    converts(f"_npi_rbitwise_{_name}_shift_scalar")(
        lambda c, shift=_shift: shift(c, *_pair(c)[::-1]).to(c.out_dtype()).name)


# ---- sketches and trees

@converts("_contrib_count_sketch")
def _(c):
    """Each column, with its sign, is added to the column that its hash names."""
    width = c.params["out_dim"]
    x = term(c, 0)
    hashes = _flat(c, 1, np.int64).unsqueeze(1)
    hits = hashes.same(np.arange(width)).to(x.dtype)
    signs = Term(c, c.op("Reshape", c[2], c.ints(-1, 1)), x.dtype)
    return x.op("MatMul", hits * signs).name


_COMPARISONS = ("LessOrEqual", "Less", "GreaterOrEqual", "Greater", "Equal")


@converts("_contrib_tree_ensemble")
def _(c):
    """Scores of decision trees: a round for each step from the roots down."""
    params, dtype = c.params, c.dtype()
    if not 0 <= params["comparison"] <= 4:
        raise c.unsupported(f"comparison {params['comparison']}", "one of <=, <, >=, > and == in all nodes")
    trees = c.dims(3)[0]
    heads, yes, no = (c.squeeze(c.slice(c.input_as(1, np.int64), 1, i, i + 1), 1) for i in range(3))
    values, dims = c[2], [c.dims()[0], trees]
    start = Term(c, c.expand(c.input_as(3, np.int64), dims), np.int64)

    def step(body, number, terms):
        at, = terms

        def of(table, kind):
            return Term(body, body.op("Gather", table, at.name, axis=0), kind)

        head = of(heads, np.int64)
        feature = (head / 16).op("Clip", 0, c.shape()[1] - 1)
        x = Term(body, body.op("GatherElements", c[0], feature.name, axis=1), dtype)
        taken = x.op(_COMPARISONS[params["comparison"]], of(values, dtype), dtype=np.bool_)
        missing = x.op("IsNaN", dtype=np.bool_) & (head / 8).op("Mod", 2).same(1)
        return [(taken | missing).where(of(yes, np.int64), of(no, np.int64))], None

    ends = repeat(c, [(start, dims)], step, c.const(params["depth"], np.int64))[0]
    leaves = Term(c, c.op("Gather", heads, ends.name, axis=0), np.int64) / 16
    weights = c.op("Gather", c[4], leaves.name, axis=0)
    kind = {"sum": "Sum", "min": "Min", "max": "Max"}[params["aggregate"]]
    return c.reduce(kind, weights, [1], False)
