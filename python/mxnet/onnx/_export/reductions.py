"""Sums, extremes and other functions of many numbers."""
import numpy as np

from .conversion import is_float
from .shapes import is_static
from .table import converts

__all__ = ["axes_of"]


def axes_of(c):
    """Axes that are reduced: all where none are given, the others with `exclude`."""
    axes = c.params.get("axis", c.params.get("axes"))
    everything = range(c.ndim())
    if axes == () and c.op_name.startswith("_np"):
        return []
    if axes is None or axes == ():
        return list(everything) if not c.params.get("exclude") or axes is None else []
    axes = [axes] if isinstance(axes, int) else axes
    axes = sorted({c.axis(a) for a in axes})
    return [a for a in everything if a not in axes] if c.params.get("exclude") else axes


def _reduced(c, kind, x, axes=None):
    """A reduction in the shape of the result: that of all numbers has one dimension in mx.nd, and
    none in mx.np."""
    axes = axes_of(c) if axes is None else axes
    keep = c.params.get("keepdims", False)
    if not c.ndim():
        return c.op("Identity", x)
    x = c.reduce(kind, x, axes, keep)
    if not keep and len(axes) == c.ndim() and len(c.out_dims()) == 1:
        x = c.op("Reshape", x, c.ints(1))
    return x


def _computed(c):
    return c.input_as(0, c.out_dtype())


for _names, _kind in (("sum _np_sum _npi_sum", "Sum"), ("mean _npi_mean", "Mean"),
                      ("prod _np_prod _npi_prod", "Prod")):
    converts(*_names.split())(lambda c, kind=_kind: _initial(c, kind))


def _initial(c, kind):
    x = _reduced(c, kind, _computed(c))
    initial = c.params.get("initial")
    if initial is None:
        return x
    joined = {"Sum": "Add", "Mean": "Add", "Prod": "Mul", "Max": "Max", "Min": "Min"}[kind]
    return c.op(joined, x, c.const(initial, c.out_dtype()))


@converts("max", "_np_max", "_npi_max")
def _(c):
    return _extreme(c, "Max")


@converts("min", "_np_min", "_npi_min")
def _(c):
    return _extreme(c, "Min")


def _extreme(c, kind):
    if c.params.get("initial") is not None:
        return _initial(c, kind)
    if is_float(c.dtype()) or np.dtype(c.dtype()).itemsize >= 4:
        return _reduced(c, kind, c[0])
    return c.cast(_reduced(c, kind, c.input_as(0, np.int32)), c.dtype())


def _without_nan(c, number):
    return c.op("Where", c.op("IsNaN", c[0]), c.const(number), c[0])


converts("nansum")(lambda c: _reduced(c, "Sum", _without_nan(c, 0)))
converts("nanprod")(lambda c: _reduced(c, "Prod", _without_nan(c, 1)))


@converts("_square_sum")
def _(c):
    return _reduced(c, "SumSquare", c[0])


@converts("norm")
def _(c):
    if c.params["ord"] not in (1, 2):
        raise c.unsupported(f"ord {c.params['ord']}", "1 and 2")
    return _reduced(c, f"L{c.params['ord']}", _computed(c))


@converts("_npi_norm")
def _(c):
    return c.reduce("L2", c.op("Reshape", _computed(c), c.ints(-1)), [0], False)


@converts("_np_all", "_npi_all")
def _(c):
    return _truth(c, "Min")


@converts("_np_any", "_npi_any")
def _(c):
    return _truth(c, "Max")


def _truth(c, kind):
    numbers = c.cast_from(c.input_as(0, np.bool_), np.bool_, np.int32)
    return c.cast(_reduced(c, kind, numbers), c.out_dtype())


# ---- moments

def _count(c, axes):
    """How many numbers are reduced to one, in the result's dtype."""
    dims = [c.dims()[a] for a in axes]
    if all(map(is_static, dims)):
        return c.const(float(np.prod([d[0] for d in dims])), c.out_dtype())
    return c.cast(c.op("ReduceProd", c.sizes(dims), keepdims=0), c.out_dtype())


def _variance(c, x, axes):
    """(mean, sum of squared differences from it), with the axes kept."""
    mean = c.reduce("Mean", x, axes)
    centred = c.op("Sub", x, mean)
    return mean, c.reduce("Sum", c.op("Mul", centred, centred), axes)


def _kept(c, x, axes, i=0):
    """Without the reduced axes where the result has none."""
    if c.params.get("keepdims"):
        return x
    x = c.squeeze(x, *axes)
    if len(axes) == c.ndim() and len(c.out_dims(i)) == 1:
        x = c.op("Reshape", x, c.ints(1))
    return x


@converts("moments")
def _(c):
    axes = axes_of(c)
    mean, squares = _variance(c, c[0], axes)
    variance = c.op("Div", squares, _count(c, axes))
    return [_kept(c, mean, axes), _kept(c, variance, axes, 1)]


def _spread(c):
    axes = axes_of(c)
    squares = _variance(c, _computed(c), axes)[1]
    degrees = c.op("Sub", _count(c, axes), c.const(c.params["ddof"], c.out_dtype()))
    return c.op("Div", squares, degrees), axes


@converts("_npi_var")
def _(c):
    return _kept(c, *_spread(c))


@converts("_npi_std")
def _(c):
    variance, axes = _spread(c)
    return _kept(c, c.op("Sqrt", variance), axes)


@converts("_npi_average")
def _(c):
    axes = axes_of(c)
    if not c.params["weighted"]:
        total = _count(c, axes)
        mean = c.reduce("Mean", _computed(c), axes)
    else:
        weights = c.input_as(1, c.out_dtype())
        if c.ndim(1) == 1 < c.ndim():
            shape = [1] * c.ndim()
            shape[axes[0]] = -1
            weights = c.op("Reshape", weights, c.ints(*shape))
        elif c.ndim(1) < c.ndim():
            weights = c.op("Unsqueeze", weights, c.ints(*range(c.ndim() - c.ndim(1))))
        total = c.reduce("Sum", weights, axes)
        weighted = c.reduce("Sum", c.op("Mul", _computed(c), weights), axes)
        mean = c.op("Div", weighted, total)
    mean = _kept(c, mean, axes)
    if len(c.outputs) == 1:
        return mean
    total = _kept(c, total, axes, 1) if c.params["weighted"] else c.op("Reshape", total, c.ints(*[1] * len(c.out_dims(1))))
    return [mean, c.expand(total, c.out_dims(1))]


# ---- positions

def _position(c, kind):
    axis, x = c.params["axis"], c[0]
    keep = c.params["keepdims"]
    if not is_float(c.dtype()) and np.dtype(c.dtype()).itemsize < 4:
        x = c.input_as(0, np.int32)
    if axis is None:
        x = c.op(kind, c.op("Reshape", x, c.ints(-1)), axis=0, keepdims=0)
        return c.cast(c.reshape(x, c.out_dims()), c.out_dtype())
    x = c.op(kind, x, axis=c.axis(axis), keepdims=int(keep))
    if not keep and c.ndim() == 1 and len(c.out_dims()) == 1:
        x = c.op("Reshape", x, c.ints(1))
    return c.cast(x, c.out_dtype())


converts("argmax", "_npi_argmax")(lambda c: _position(c, "ArgMax"))
converts("argmin", "_npi_argmin")(lambda c: _position(c, "ArgMin"))


@converts("argmax_channel")
def _(c):
    return c.cast(c.op("ArgMax", c[0], axis=1, keepdims=0), c.out_dtype())


@converts("_np_cumsum")
def _(c):
    kind = c.out_dtype()
    narrow = kind == np.float16       # CumSum takes wider ones
    axis, x = c.params["axis"], c.input_as(0, np.float32 if narrow else kind)
    if axis is None:
        x, axis = c.op("Reshape", x, c.ints(-1)), 0
    sums = c.op("CumSum", x, c.const(axis, np.int64))
    return c.cast(sums, kind) if narrow else sums


@converts("_npi_diff")
def _(c):
    x, axis = c[0], c.axis(c.params["axis"])
    for _ in range(c.params["n"]):
        x = c.op("Sub", c.slice(x, axis, 1, np.iinfo(np.int64).max), c.slice(x, axis, 0, -1))
    return x


@converts("softmax_cross_entropy")
def _(c):
    logs = c.op("LogSoftmax", c[0], axis=-1)
    index = c.unsqueeze(c.input_as(1, np.int64), 1)
    picked = c.op("GatherElements", logs, index, axis=1)
    return c.op("Reshape", c.op("Neg", c.reduce("Sum", picked, [0, 1])), c.ints(1))
