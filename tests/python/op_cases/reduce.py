"""Reductions, broadcasting to a shape, argmax, cumsum, moments, L2Normalization."""
import numpy as np

from op_cases import FLOATS, NUMBERS, NUMBERS_AND_BOOL, ints, quotient_type, rand

S = (2, 3, 4)
_nan = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])
AXES = [dict(), dict(axis=1), dict(axis=(0, 2)), dict(axis=-1, keepdims=True),
        dict(axis=1, exclude=True), dict(axis=(), keepdims=True), dict(keepdims=True)]
BAD_AXES = [dict(attrs=dict(axis=3)), dict(attrs=dict(axis=(1, 1))), dict(attrs=dict(axis="x"))]


def legacy(f):
    """NumPy's reduction with 1.x's meaning of axis, exclude and (1,) for a result without
    dimensions."""
    def ref(x, axis=None, keepdims=False, exclude=False, **more):
        if axis == ():
            axis = None
        if axis is not None:
            axis = tuple(a % x.ndim for a in ((axis,) if isinstance(axis, int) else axis))
            if exclude:
                axis = tuple(d for d in range(x.ndim) if d not in axis)
        result = np.asarray(f(x, axis=axis, keepdims=keepdims, **more))
        return result.reshape(1) if result.ndim == 0 else result
    return ref


def reduction(names, f, spec=None, dtypes=NUMBERS_AND_BOOL, **more):
    return [dict(dict(op=names, inputs=[spec or rand(S, -3, 3)], ref=legacy(f), attrs=attrs, dtypes=dtypes, bad=BAD_AXES,
                      empty=[(2, 0, 4)] if attrs.get("axis") == 1 else False), **more) for attrs in AXES]


def l2(x, axis, keepdims):
    return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims))


def l1(x, axis, keepdims):
    return np.sum(np.abs(x), axis=axis, keepdims=keepdims)


def mean(x, axis, keepdims):
    return np.mean(x.astype("float64"), axis=axis, keepdims=keepdims)


CASES = []
CASES += reduction(["sum", "sum_axis", "_sparse_sum"], np.sum, grad=True, grad2=True, tol=4)
CASES += reduction(["mean"], mean, grad=True, grad2=True, tol=4)
CASES += reduction(["_square_sum"], lambda x, axis, keepdims: np.sum(x * x, axis, keepdims=keepdims),
                   dtypes=NUMBERS, grad=True, grad2=True, tol=4)
CASES += reduction(["prod"], np.prod, rand(S, 0.7, 1.4), grad=True, grad2=True, tol=8)
CASES += reduction(["nansum"], np.nansum, grad=True, tol=4)
CASES += reduction(["nanprod"], np.nanprod, rand(S, 0.7, 1.4), grad=True, tol=8)
_first = dict(empty=False, grad=True)
CASES += reduction(["max", "max_axis"], np.max, **_first)
CASES += reduction(["min", "min_axis"], np.min, **_first)
CASES += ([dict(op=["max", "min"], inputs=[(2, 0, 4)], ref=legacy(np.sum), attrs=dict(axis=2),
                empty=False, refuses=False, bad=[dict(attrs=dict(axis=1))])])
CASES += [dict(op="sum", inputs=[_nan], ref=legacy(np.sum), attrs=dict(axis=1), refuses=False),
          dict(op="nansum", inputs=[_nan], ref=legacy(np.nansum), attrs=dict(axis=1), refuses=False),
          dict(op="nanprod", inputs=[_nan], ref=legacy(np.nanprod), attrs=dict(axis=1), refuses=False),
          dict(op="max", inputs=[_nan], ref=legacy(np.max), attrs=dict(axis=1), refuses=False),
          dict(op="min", inputs=[_nan], ref=legacy(np.min), attrs=dict(axis=0), refuses=False, empty=False)]
# products with one and with several zeros have gradients
CASES.append(dict(op=["prod", "nanprod"], inputs=[np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 4.0],
                                                            [1.0, 2.0, 3.0]])], ref=legacy(np.prod),
                  attrs=dict(axis=1), grad=True,
                  refuses=False))
# shapes that take different paths: long rows, long columns, few results, many small ones,
# alternating axes, parallel parts
for _shape, _axis in [((200000,), None), ((3, 70000), 1), ((70000, 3), 0), ((300, 700), 0),
                      ((300, 700), 1), ((5, 6, 7, 8), (0, 2)), ((5, 6, 7, 8), (1, 3)),
                      ((4, 9, 30, 30), (0, 2, 3)), ((3000, 3), 1), ((2, 3, 2, 3, 2, 3), (1, 3, 5)), ((1, 1, 7), (0, 1)), ((1, 1), None)]:
    for _op, _f in [("sum", np.sum), ("max", np.max), ("norm", l2)]:
        CASES.append(dict(op=_op, inputs=[rand(_shape, -1, 1)], ref=legacy(_f),
                          attrs=dict(axis=_axis),
                          dtypes=["float32", "float64", "float16", "int32"] if _op != "norm"
                          else ["float32", "float64"], refuses=False, empty=False,
                          tol={"float32": 2e-5, "float16": 4e-3, "float64": 1e-11}))

for _attrs in [dict(), dict(axis=1), dict(axis=(0, 2), keepdims=True)]:
    CASES.append(dict(op=["norm", "_npx_norm"], inputs=[rand(S, -3, 3)], ref=legacy(l2),
                      attrs=_attrs, dtypes=NUMBERS_AND_BOOL, grad=True, grad2=True, tol=4,
                      empty=False,
                      bad=BAD_AXES + [dict(attrs=dict(ord=3))]))
    CASES.append(dict(op="norm", inputs=[rand(S, 0.5, 3)],
                      ref=legacy(lambda x, ord, **kw: l1(x, **kw)), attrs=dict(_attrs, ord=1),
                      dtypes=NUMBERS_AND_BOOL, grad=True, tol=4,
                      empty=False))
CASES.append(dict(op="norm", inputs=[rand(S)], ref=legacy(lambda x, out_dtype, **kw: l2(x, **kw)),
                  attrs=dict(out_dtype="float64"), dtypes=["float32", "float16", "int32"],
                  out_dtype="float64", refuses=False, empty=False))

# ---- NumPy forms
NP_AXES = [dict(), dict(axis=1), dict(axis=(0, -1)), dict(axis=1, keepdims=True), dict(axis=())]


def promoted(dtype):
    return "int64" if dtype == "bool" else dtype


def numpy_reduction(names, f, spec=None, **more):
    return [dict(dict(op=names, inputs=[spec or rand(S, -3, 3)], ref=f, attrs=attrs, dtypes=NUMBERS_AND_BOOL, bad=BAD_AXES,
                      empty=[(2, 0, 4)] if attrs.get("axis") == 1 else False), **more) for attrs in NP_AXES]


def np_mean(x, **kw):
    return np.mean(np.asarray(x, "float64"), **kw)


CASES += numpy_reduction(["_np_sum", "_npi_sum"], np.sum, out_dtype=promoted, grad=True, grad2=True, tol=4)
CASES += numpy_reduction(["_np_prod", "_np_product", "_npi_prod"], np.prod, rand(S, 0.7, 1.4),
                         out_dtype=promoted, grad=True, grad2=True, tol=8)
CASES += numpy_reduction(["_npi_mean"], np_mean, out_dtype=quotient_type, grad=True, grad2=True, tol=4)
CASES += numpy_reduction(["_np_max", "_np_amax", "_npi_max", "_npi_amax"], np.max, empty=False, grad=True)
CASES += numpy_reduction(["_np_min", "_np_amin", "_npi_min", "_npi_amin"], np.min, empty=False, grad=True)
CASES += numpy_reduction(["_np_any", "_np_sometrue", "_npi_any"], np.any, ints(S, 0, 1), out_dtype="bool")
CASES += numpy_reduction(["_np_all", "_npi_all"], np.all, ints(S, 0, 1), out_dtype="bool")
CASES += [
    dict(op="_np_sum", inputs=[rand(S)], ref=lambda x, dtype, **kw: np.sum(x, **kw),
         attrs=dict(axis=0, dtype="float64"), dtypes=NUMBERS, out_dtype="float64", grad=True,
         refuses=False, bad=[dict(attrs=dict(dtype="float31"))]),
    dict(op="_np_sum", inputs=[rand(S)], ref=np.sum, attrs=dict(axis=0, initial=2.5), dtypes=FLOATS, grad=True, refuses=False),
    dict(op="_np_prod", inputs=[rand(S, 0.7, 1.4)], ref=np.prod, attrs=dict(axis=0, initial=2.5),
         dtypes=FLOATS, grad=True, refuses=False, tol=4),
    dict(op="_np_max", inputs=[rand(S)], ref=np.max, attrs=dict(axis=1, initial=0.5), dtypes=FLOATS, refuses=False, empty=[(2, 0, 4)]),
    dict(op="_np_max", inputs=[(2, 0, 4)], ref=lambda x, axis: np.zeros((2, 0)), attrs=dict(axis=2),
         dtypes=FLOATS, refuses=False, empty=False,
         bad=[dict(attrs=dict(axis=1))]),
]
for _attrs in [dict(), dict(axis=1), dict(axis=(0, 2), ddof=1), dict(axis=0, keepdims=True, ddof=1), dict(axis=1, dtype="float64")]:
    for _op, _f in [("_npi_var", np.var), ("_npi_std", np.std)]:
        CASES.append(dict(op=_op, inputs=[rand(S, -3, 3)], ref=lambda x, dtype=None, f=_f,
                          **kw: f(np.asarray(x, "float64"), **kw), attrs=_attrs, dtypes=NUMBERS_AND_BOOL,
                          out_dtype="float64" if "dtype" in _attrs else quotient_type,
                          grad="dtype" not in _attrs, grad2="dtype" not in _attrs, tol=8,
                          empty=False,
                          grad_tol=3e-5, refuses="dtype" not in _attrs))



def moments(x, axes, keepdims=False):
    mean, whole = np.mean(x, axis=axes, keepdims=True), x.dtype.kind in "iu"
    if whole:       # cut off, and the variance is that around the cut mean
        mean = np.trunc(mean)
    var = np.mean((x.astype("float64") - mean) ** 2, axis=axes, keepdims=True)
    results = [mean, np.trunc(var) if whole else var]
    return results if keepdims else [legacy(np.sum)(r, axis=axes) for r in results]


for _attrs in [dict(axes=(0, 1)), dict(axes=-1, keepdims=True), dict(axes=(0, 1, 2))]:
    CASES.append(dict(op="moments", inputs=[rand(S, -3, 3)], attrs=_attrs, grad=True, grad2=True,
                      dtypes=FLOATS + ["uint8", "int8", "int32", "int64"],
                      tol=8, empty=False, bad=[dict(attrs=dict(axes=5))], ref=moments))
for _mode, _axes in [("instance", (1, 2)), ("channel", (1,)), ("spatial", (2,))]:
    CASES.append(dict(op="L2Normalization", inputs=[rand(S, -3, 3)], attrs=dict(mode=_mode, eps=1e-3), grad=True, grad2=True, tol=4,
                      ref=lambda x, mode, eps,
                      axes=_axes: x / np.sqrt(np.sum(x * x, axis=axes, keepdims=True)
                                              + np.float32(eps).astype("float64")),
                      bad=[dict(attrs=dict(mode="row"))] + ([dict(inputs=[(2, 3)])] if _mode != "instance" else [])))


# ---- along one axis
def arg(f):
    def ref(x, axis=None, keepdims=False):
        x = np.where(np.isnan(x), np.inf if f is np.argmax else -np.inf, x)
        result = np.asarray(f(x, axis=axis))
        if keepdims:
            result = result.reshape((1,) * x.ndim) if axis is None else np.expand_dims(result, axis)
        return result
    return ref


def at_least_1d(f):
    def ref(x, **kw):
        result = f(x, **kw)
        return result.reshape(1) if result.ndim == 0 else result
    return ref


for _attrs in [dict(), dict(axis=0), dict(axis=1), dict(axis=-1, keepdims=True), dict(keepdims=True)]:
    for _f, _name in [(np.argmax, "argmax"), (np.argmin, "argmin")]:
        _empty = [(3, 0, 4)] if _attrs.get("axis") == 0 else False
        CASES.append(dict(op=_name, inputs=[rand(S, -9, 9)], attrs=_attrs, ref=at_least_1d(arg(_f)),
                          dtypes=NUMBERS, empty=_empty, bad=[dict(attrs=dict(axis=3))]))
        CASES.append(dict(op=f"_npi_{_name}", inputs=[rand(S, -9, 9)], attrs=_attrs, ref=arg(_f),
                          dtypes=NUMBERS_AND_BOOL, out_dtype="int64", empty=_empty,
                          bad=[dict(attrs=dict(axis=3))]))
for _shape, _axis in [((3, 5000), 1), ((5000, 3), 0), ((3, 40, 300), 1), ((70000,), 0)]:
    CASES.append(dict(op="_npi_argmax", inputs=[ints(_shape, -99, 99)], attrs=dict(axis=_axis),
                      ref=arg(np.argmax), dtypes=["float32", "int32", "float16"], out_dtype="int64",
                      refuses=False, empty=False))
CASES += [
    dict(op=["argmax", "argmin"], inputs=[np.array([[1.0, np.nan, np.nan], [2.0, 2.0, 1.0]])],
         attrs=dict(axis=1), refuses=False, empty=False,
         check=lambda out, values, attrs: np.testing.assert_array_equal(out[0][0], 1)),
    dict(op="argmax_channel", inputs=[rand(S, -9, 9)], ref=lambda x: np.argmax(x, axis=1),
         dtypes=NUMBERS, empty=[(2, 3, 0)], bad=[dict(inputs=[(3,)])]),
]
for _attrs in [dict(), dict(axis=0), dict(axis=1), dict(axis=-1)]:
    CASES.append(dict(op=["_np_cumsum", "cumsum", "_npi_cumsum"], inputs=[rand(S, -3, 3)],
                      attrs=_attrs, ref=lambda x, axis=None: np.cumsum(x, axis=axis),
                      dtypes=NUMBERS_AND_BOOL,
                      out_dtype=promoted, grad=True, grad2=True, tol=4, bad=[dict(attrs=dict(axis=3))]))
CASES += [
    dict(op="cumsum", inputs=[rand((3, 700, 300), 0, 1)], attrs=dict(axis=1), ref=lambda x,
         axis: np.cumsum(x, axis=axis), dtypes=["float32"], refuses=False, empty=False, tol=8),
    dict(op="cumsum", inputs=[rand((3, 700), 0, 1)], attrs=dict(axis=1), ref=lambda x,
         axis: np.cumsum(x, axis=axis), dtypes=["float32"], refuses=False, empty=False, tol=8),
    dict(op="cumsum", inputs=[rand(S)], attrs=dict(axis=1, dtype="float64"), ref=lambda x, axis,
         dtype: np.cumsum(x, axis=axis), dtypes=["float32", "int32"], out_dtype="float64",
         refuses=False),
]
for _shape, _axis in [((4,), 0), ((2, 3, 4), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((9, 5), 1), ((3, 520), 0)]:
    for _name, _ref in [("prod", np.multiply), ("max", np.maximum), ("min", np.minimum)]:
        CASES.append(dict(op="_npi_cum" + _name, inputs=[rand(_shape, -2, 2)], attrs=dict(axis=_axis),
                          ref=lambda x, axis, _ref=_ref: _ref.accumulate(x, axis), dtypes=NUMBERS_AND_BOOL,
                          tol=8, bad=[dict(attrs=dict(axis=3))]))

# ---- repeating dimensions
_any = dict(dtypes=NUMBERS_AND_BOOL, refuses=False, grad=[0], grad2=True)
CASES += [
    dict(_any, op="broadcast_to", inputs=[rand((1, 3, 1))], attrs=dict(shape=(2, 0, 4)),
         ref=lambda x, shape: np.broadcast_to(x, (2, x.shape[1], 4)), empty=[(1, 0, 1)],
         bad=[dict(attrs=dict(shape=(2, 4, 4))), dict(attrs=dict(shape=(2, 3)))]),
    dict(_any, op="_npi_broadcast_to", inputs=[rand((3, 1))], attrs=dict(shape=(2, 3, 4)),
         ref=lambda x, shape: np.broadcast_to(x, shape), empty=False,
         bad=[dict(attrs=dict(shape=(2, 4, 4))), dict(attrs=dict(shape=(3,)))]),
    dict(_any, op=["broadcast_axis", "broadcast_axes"], inputs=[rand((1, 3, 1))],
         attrs=dict(axis=(0, 2), size=(2, 5)), ref=lambda x,
         **kw: np.broadcast_to(x, (2, x.shape[1], 5)),
         empty=[(1, 0, 1)], bad=[dict(attrs=dict(axis=1, size=2)),
                                 dict(attrs=dict(axis=(0, 2), size=2)),
                                 dict(attrs=dict(axis=5, size=2))]),
    dict(_any, op=["broadcast_like", "_npx_broadcast_like"], inputs=[rand((1, 3)), rand((4, 3))],
         ref=lambda a, b: np.broadcast_to(a, b.shape), empty=[(1, 3), (0, 3)],
         bad=[dict(inputs=[(2, 3), (4, 3)]), dict(inputs=[(3,), (4, 3)])]),
    dict(_any, op="broadcast_like", inputs=[rand((1, 3)), rand((7, 4))],
         attrs=dict(lhs_axes=(0,), rhs_axes=(-1,)), ref=lambda a, b,
         **kw: np.broadcast_to(a, (4, 3)), empty=False,
         bad=[dict(attrs=dict(lhs_axes=(0,)))]),
    # one of both alone is not looked at
    dict(_any, op="broadcast_like", inputs=[rand((1, 3)), rand((4, 3))], attrs=dict(lhs_axes=(0,)),
         ref=lambda a, b, **kw: np.broadcast_to(a, b.shape), empty=False, bad=[]),
]


# ---- NumPy's statistics
def np_average(a, weights=None, axis=None, **kw):
    del kw
    weights = np.ones(a.shape) if weights is None else np.broadcast_to(weights, a.shape)
    return [(a * weights).sum(axis=axis) / weights.sum(axis=axis), weights.sum(axis=axis).astype("float64")]


def np_percentile(a, q=None, q_scalar=None, axis=None, interpolation="linear", **kw):
    return np.percentile(np.asarray(a, "float64"), q_scalar if q is None else q, axis=axis, method=interpolation, **kw)


for _attrs in [dict(), dict(axis=1), dict(axis=(0, -1))]:
    CASES.append(dict(op="_npi_average", inputs=[rand(S, 1, 3), rand(S, 1, 3)], attrs=dict(_attrs, returned=True), ref=np_average,
                      dtypes=NUMBERS_AND_BOOL, out_dtype=quotient_type, grad=True, grad2=not _attrs, tol=4, empty=False,
                      bad=[dict(inputs=[(2, 3, 4), (5,)]), dict(attrs=dict(axis=7))]))
    CASES.append(dict(op="_npi_average", inputs=[rand(S, 1, 3)], attrs=dict(_attrs, returned=True, weighted=False), ref=np_average,
                      dtypes=NUMBERS_AND_BOOL, out_dtype=quotient_type, grad=True, tol=4, empty=False))
CASES.append(dict(op="_npi_average", inputs=[rand(S, 1, 3), rand((3, 1), 1, 3)], attrs=dict(axis=0, returned=True), ref=np_average,
                  grad=True, tol=4, empty=False, dtypes=NUMBERS_AND_BOOL, out_dtype=quotient_type))
for _attrs in [dict(), dict(axis=1), dict(axis=(0, -1)), dict(axis=2, keepdims=True, interpolation="lower"),
               dict(interpolation="higher"), dict(axis=0, interpolation="midpoint"), dict(axis=1, interpolation="nearest")]:
    CASES.append(dict(op="_npi_percentile", inputs=[rand(S, -9, 9)], attrs=dict(_attrs, q_scalar=37.5), ref=np_percentile,
                      dtypes=NUMBERS_AND_BOOL, out_dtype=quotient_type, tol=4, empty=False,
                      bad=[dict(attrs=dict(q_scalar=101.0)), dict(attrs=dict(q_scalar=5, interpolation="other")),
                           dict(inputs=[(2, 0, 4)], attrs=dict(q_scalar=5))]))
    CASES.append(dict(op="_npi_percentile", inputs=[rand(S, -9, 9), np.array([[0.0, 30.0], [75.0, 100.0]])], input_dtypes={1: "float64"},
                      attrs=_attrs, ref=np_percentile, dtypes=NUMBERS_AND_BOOL, out_dtype=quotient_type, tol=4, empty=False,
                      refuses=False))
