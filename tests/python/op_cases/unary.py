"""Unary operators of the pointwise table."""
import math

import numpy as np

from op_cases import FLOATS, INTEGERS, NUMBERS, NUMBERS_AND_BOOL, float_type, ints, rand

S = (3, 4)
vector = np.vectorize
_special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])


def each(f):
    """A scalar function over arrays of any size, also empty ones."""
    return lambda x, **kw: np.array([f(v) for v in np.asarray(x, "float64").ravel()], "float64").reshape(np.shape(x))


def safe(f, bad=math.nan):
    def g(v):
        try:
            return f(v)
        except (ValueError, OverflowError):
            return bad
    return g


def halves_down(x):
    """The reference's rint: halves go to the smaller integer."""
    return np.where(x - np.floor(x) <= 0.5, np.floor(x), np.floor(x) + 1)


def away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _erfinv(v):
    if abs(v) >= 1:
        return math.copysign(math.inf, v) if abs(v) == 1 else math.nan
    y = 0.0
    for _ in range(60):
        y -= (math.erf(y) - v) / (2 / math.sqrt(math.pi) * math.exp(-y * y))
    return y


def _digamma(v):
    r = 0.0
    while v < 20:
        r -= 1 / v
        v += 1
    z = 1 / (v * v)
    return r + math.log(v) - 0.5 / v - z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240)))


def _polygamma(n, v, terms=200000):
    """(-1)^(n+1) n! sum 1/(v+k)^(n+1), with the Euler-Maclaurin rest."""
    k = np.arange(2000)
    s = np.sum(1.0 / (v + k) ** (n + 1))
    e = v + 2000
    s += e ** -n / n + 0.5 * e ** -(n + 1) + (n + 1) / 12 * e ** -(n + 2)
    return (-1) ** (n + 1) * math.factorial(n) * s


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def case(names, ref, low, high, grad2=True, **more):
    return dict(dict(op=names, inputs=[rand(S, low, high)], ref=ref, dtypes=NUMBERS, grad=True, grad2=grad2), **more)


def flat(names, ref, **more):
    """Piecewise constant: gradient zero."""
    return dict(dict(op=names, inputs=[rand(S, -3, 3)], ref=ref, dtypes=NUMBERS), **more)


CASES = [
    case(["abs", "_npi_absolute", "_npi_abs", "_sparse_abs"], np.abs, 0.2, 3, grad2=False),
    case(["negative", "_npi_negative"], np.negative, -3, 3, grad2=False),
    case(["square", "_npi_square"], np.square, -3, 3),
    case(["reciprocal", "_npi_reciprocal"], lambda x: 1 / x, 0.5, 3),
    case(["sqrt", "_npi_sqrt"], np.sqrt, 0.5, 3),
    case("rsqrt", lambda x: 1 / np.sqrt(x), 0.5, 3),
    case(["cbrt", "_npi_cbrt"], np.cbrt, 0.5, 3),
    case("rcbrt", lambda x: 1 / np.cbrt(x), 0.5, 3),
    case(["exp", "_npi_exp", "_sparse_exp"], np.exp, -3, 2),
    case(["expm1", "_npi_expm1"], np.expm1, -3, 2),
    case(["log", "_npi_log"], np.log, 0.5, 5),
    case(["log2", "_npi_log2"], np.log2, 0.5, 5),
    case(["log10", "_npi_log10"], np.log10, 0.5, 5),
    case(["log1p", "_npi_log1p"], np.log1p, -0.5, 5),
    case(["sigmoid", "_npx_sigmoid"], sigmoid, -4, 4),
    case("log_sigmoid", lambda x: -softplus(-x), -4, 4),
    case("_softrelu", softplus, -4, 4),
    case("mish", lambda x: x * np.tanh(softplus(x)), -4, 4),
    case(["tanh", "_npi_tanh"], np.tanh, -3, 3),
    case(["sinh", "_npi_sinh"], np.sinh, -3, 3),
    case(["cosh", "_npi_cosh"], np.cosh, -3, 3),
    case(["sin", "_npi_sin"], np.sin, -6, 6),
    case(["cos", "_npi_cos"], np.cos, -6, 6),
    case(["tan", "_npi_tan"], np.tan, -1.2, 1.2),
    case(["arcsin", "_npi_arcsin"], np.arcsin, -0.8, 0.8),
    case(["arccos", "_npi_arccos"], np.arccos, -0.8, 0.8),
    case(["arctan", "_npi_arctan"], np.arctan, -4, 4),
    case(["arcsinh", "_npi_arcsinh"], np.arcsinh, -4, 4),
    case(["arccosh", "_npi_arccosh"], np.arccosh, 1.5, 5),
    case(["arctanh", "_npi_arctanh"], np.arctanh, -0.8, 0.8),
    case(["degrees", "_npi_degrees"], np.degrees, -2, 2, grad2=False, tol=2),
    case(["radians", "_npi_radians"], np.radians, -100, 100, grad2=False, tol=2),
    case(["erf", "_npx_erf"], each(math.erf), -3, 3),
    case(["erfinv", "_npx_erfinv"], each(_erfinv), -0.8, 0.8, tol=4),
    case(["gamma", "_npx_gamma"], each(safe(math.gamma)), 0.6, 4, tol=4, grad_tol=2e-5),
    case(["gammaln", "_npx_gammaln"], each(safe(math.lgamma)), 0.6, 4, tol=10),
    case(["digamma", "_npx_digamma"], each(_digamma), 0.6, 4, tol=100),
    case("_trigamma", each(lambda v: _polygamma(1, v)), 0.6, 4, tol=1000, grad2=False),
    case("_tetragamma", each(lambda v: _polygamma(2, v)), 0.6, 4, tol=1000, grad=False, grad2=False),
    case(["relu", "_npx_relu"], lambda x: np.maximum(x, 0), 0.2, 3, grad2=False),
    case(["softsign", "_npx_softsign"], lambda x: x / (1 + np.abs(x)), 0.2, 3),
    case("hard_sigmoid", lambda x, alpha=float(np.float32(0.2)),
         beta=0.5: np.clip(alpha * x + beta, 0, 1), -2, 2, grad2=False, dtypes=FLOATS, tol=4),
    case("hard_sigmoid", lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1), -2, 2, grad2=False, dtypes=FLOATS,
         attrs=dict(alpha=0.5, beta=0.25)),
    case("_silu", lambda x, beta: x / (1 + np.exp(-beta * x)), -3, 3, grad2=False, dtypes=FLOATS, attrs=dict(beta=1.5), tol=4),
    case("_hard_swish", lambda x, alpha, beta: x * np.clip(alpha * x + beta, 0, 1), -4, 4, grad2=False, dtypes=FLOATS,
         attrs=dict(alpha=0.25, beta=0.5), tol=4),
    case(["smooth_l1", "_npx_smooth_l1"], lambda x,
         scalar: np.where(np.abs(x) < 1 / scalar**2, 0.5 * scalar**2 * x * x,
                          np.abs(x) - 0.5 / scalar**2),
         -2, 2, attrs=dict(scalar=1.5), grad2=False),
    case("smooth_l1", lambda x, scalar, is_int: np.where(np.abs(x) < 1, 0.5 * x * x, np.abs(x) - 0.5),
         -2, 2, attrs=dict(scalar=1.0, is_int=False), grad2=False),
    case("_contrib_quadratic", lambda x, a, b, c: a * x * x + b * x + c, -2, 2, attrs=dict(a=1.5, b=-2.0, c=3.0)),
    case("_contrib_div_sqrt_dim", lambda x: x / np.sqrt(x.shape[-1]), -2, 2, grad2=False, dtypes=FLOATS, refuses=False,
         bad=[dict(inputs=[()])]),
    flat("_contrib_div_sqrt_dim", lambda x: x // int(np.sqrt(x.shape[-1])), inputs=[ints((2, 11), 0, 90)], dtypes=INTEGERS, refuses=False),
    case(["clip", "_npi_clip", "_sparse_clip"], lambda x, a_min, a_max: np.clip(x, a_min, a_max),
         -3, 3, attrs=dict(a_min=-1.0, a_max=1.5), grad2=False,
         bad=[dict(attrs=dict(a_min="low", a_max=1)), dict(attrs=dict(a_min=0))]),
    flat(["sign", "_npi_sign"], np.sign, grad=True),
    flat(["floor", "_npi_floor"], np.floor, grad=True),
    flat(["ceil", "_npi_ceil"], np.ceil),
    flat(["trunc", "_npi_trunc", "fix", "_npi_fix"], np.trunc),
    flat(["rint", "_npi_rint"], halves_down),
    flat(["rint", "_npi_rint"], halves_down, inputs=[np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49])], dtypes=FLOATS, refuses=False),
    flat("round", away),
    flat("round", away, inputs=[np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49])], dtypes=FLOATS, refuses=False),
    flat("_contrib_round_ste", away, dtypes=NUMBERS),
    flat("_contrib_sign_ste", np.sign, dtypes=NUMBERS),
    flat("_npi_around", lambda x, decimals: np.round(x, decimals), attrs=dict(decimals=1), tol=4),
    flat("_npi_around", lambda x, decimals: np.round(x, decimals), attrs=dict(decimals=-1),
         inputs=[np.array([155.0, 25.0, -14.0])], dtypes=["float32", "int32"], refuses=False),
    flat("logical_not", np.logical_not, dtypes=NUMBERS_AND_BOOL, inputs=[ints(S, 0, 1)]),
    flat("_npi_logical_not", np.logical_not, dtypes=NUMBERS_AND_BOOL, inputs=[ints(S, 0, 1)], out_dtype="bool"),
    flat("_npi_isnan", np.isnan, dtypes=NUMBERS_AND_BOOL, out_dtype="bool"),
    flat("_npi_isnan", np.isnan, dtypes=FLOATS, inputs=[_special], out_dtype="bool", refuses=False),
    flat("_npi_isinf", np.isinf, dtypes=FLOATS, inputs=[_special], out_dtype="bool", refuses=False),
    flat("_npi_isfinite", np.isfinite, dtypes=FLOATS, inputs=[_special], out_dtype="bool", refuses=False),
    flat("_npi_isposinf", np.isposinf, dtypes=FLOATS, inputs=[_special], out_dtype="bool", refuses=False),
    flat("_npi_isneginf", np.isneginf, dtypes=FLOATS, inputs=[_special], out_dtype="bool", refuses=False),
    flat("_npi_bitwise_not", lambda x: ~x, dtypes=INTEGERS, inputs=[ints(S, -9, 9)], refuses=False),
    flat("_npi_bitwise_not", lambda x: x == 0, dtypes=["bool"], inputs=[ints(S, 0, 1)], refuses=False),
    flat("_npi_nan_to_num", lambda x, **kw: np.nan_to_num(x, posinf=np.finfo("float32").max,
                                                          neginf=np.finfo("float32").min),
         dtypes=["float32"],
         inputs=[_special], refuses=False),
    flat("_npi_nan_to_num", lambda x, nan, posinf, neginf: np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf), dtypes=FLOATS,
         attrs=dict(nan=2.0, posinf=3.0, neginf=-4.0), inputs=[_special], refuses=False),
    # what the vector code must not forget: the ends of the range, NaN, and arguments that need
    # exact reduction
    flat("exp", np.exp, inputs=[np.array([-104.0, -100.0, -87.5, 88.5, 89.0, np.inf, -np.inf,
                                          np.nan, 0.0])], dtypes=["float32", "float64"],
         refuses=False),
    flat("log", np.log, inputs=[np.array([0.0, 1e-40, 1.0, 3e38, np.inf, -1.0, np.nan])], dtypes=["float32", "float64"], refuses=False),
    flat("sin", np.sin, inputs=[np.array([0.0, 1e5, -1e8, 3.5e9, 1e20, np.inf, np.nan])], dtypes=["float32", "float64"], refuses=False),
    flat("tanh", np.tanh, inputs=[np.array([0.0, -0.0, 1e-8, 20.0, -20.0, np.inf, -np.inf,
                                            np.nan])], dtypes=["float32", "float64"],
         refuses=False),
    flat("log1p", np.log1p, inputs=[np.array([1e-10, -1.0, 0.0, np.inf, np.nan])], dtypes=["float32", "float64"], refuses=False),
    flat("cbrt", np.cbrt, inputs=[np.array([-8.0, 0.0, 1e-40, np.inf, -np.inf, np.nan])], dtypes=["float32", "float64"], refuses=False),
    flat("erf", each(math.erf), inputs=[np.array([-9.0, 0.0, 1e-8, 4.3, np.inf, -np.inf])], dtypes=["float32", "float64"], refuses=False),
    flat(["relu", "abs"], lambda x: x, inputs=[np.array([np.nan, 2.0, np.inf])], dtypes=FLOATS, refuses=False),
    # copies, casts, fills
    case(["_copy", "identity", "_np_copy", "_npi_copy"], lambda x: x, -3, 3, dtypes=NUMBERS_AND_BOOL, grad2=False),
    flat(["BlockGrad", "stop_gradient", "_npx_stop_gradient"], lambda x: x, dtypes=NUMBERS_AND_BOOL),
    flat(["make_loss", "_sparse_make_loss"], lambda x: x, dtypes=NUMBERS_AND_BOOL),
    flat("MakeLoss", lambda x, **kw: x, dtypes=FLOATS,
         attrs=dict(grad_scale=2.0, normalization="batch"),
         bad=[dict(attrs=dict(normalization="size"))]),
    flat(["zeros_like", "_sparse_zeros_like"], np.zeros_like, dtypes=NUMBERS_AND_BOOL),
    flat("ones_like", np.ones_like, dtypes=NUMBERS_AND_BOOL),
    flat("_npi_full_like", lambda x, fill_value: np.full_like(x, fill_value), attrs=dict(fill_value=3.0), dtypes=NUMBERS_AND_BOOL),
    flat("_npi_full_like", lambda x, fill_value, dtype: np.full(x.shape, fill_value),
         attrs=dict(fill_value=3.0, dtype="int32"), out_dtype="int32", refuses=False),
    flat("shape_array", lambda x: np.array(x.shape), dtypes=NUMBERS_AND_BOOL, out_dtype="int64"),
    flat("size_array", lambda x: np.array([x.size]), dtypes=NUMBERS_AND_BOOL, out_dtype="int64"),
    case("_contrib_gradientmultiplier", lambda x, scalar: x, -3, 3, attrs=dict(scalar=2.0), grad=False, grad2=False,
         dtypes=NUMBERS_AND_BOOL),
    case("_contrib_backward_gradientmultiplier", lambda x, scalar: x * scalar, -3, 3, attrs=dict(scalar=2.0), dtypes=FLOATS, refuses=False,
         grad2=False),
    flat("_contrib_backward_gradientmultiplier", lambda x, scalar: x * int(scalar), inputs=[ints(S, -3, 3)], attrs=dict(scalar=-2.7),
         dtypes=INTEGERS, refuses=False),
]
for _to in NUMBERS_AND_BOOL:
    CASES.append(flat(["Cast", "cast", "_npi_cast", "_npx_cast"], lambda x, dtype: x,
                      attrs=dict(dtype=_to), dtypes=NUMBERS_AND_BOOL, out_dtype=_to, tol=1,
                      inputs=[ints(S, 0, 3)], grad=[0] if _to == "float64" else False, refuses=False))
CASES.append(flat("Cast", lambda x, dtype: np.trunc(x), attrs=dict(dtype="int32"), dtypes=FLOATS, out_dtype="int32", refuses=False,
                  bad=[dict(attrs=dict(dtype="float31")), dict(attrs=dict())]))
_low = ("float16", "bfloat16", "float32")
CASES.append(flat(["amp_cast", "_npi_amp_cast"], lambda x, dtype: x, attrs=dict(dtype="float16"), dtypes=NUMBERS, inputs=[ints(S, 0, 3)],
                  out_dtype=lambda d: "float16" if d in _low else d, refuses=False))


# NumPy's forms take bool, too, and make floats of integers where the function is one of floats.
FLOAT_FORMS = set("""sqrt cbrt exp expm1 log log2 log10 log1p tanh sinh cosh sin cos tan arcsin arccos arctan arcsinh arccosh arctanh
degrees radians rint fix""".split())


def numpy_form(legacy, name):
    """The case of a legacy operator as one of its NumPy form."""
    short = name[5:]
    out = float_type if short in FLOAT_FORMS else lambda d: "float16" if d == "bool" and short in ("floor", "ceil", "trunc") else d
    whole = legacy.get("dtypes") == NUMBERS and short != "negative"    # of which NumPy has no form for bool
    return dict(legacy, op=name, out_dtype=out, dtypes=NUMBERS_AND_BOOL if whole else legacy["dtypes"],
                bad=[], **({"tol": max(legacy.get("tol", 1), 2)} if short in FLOAT_FORMS else {}))


_forms = []
for _case in CASES:
    _names = [_case["op"]] if isinstance(_case["op"], str) else _case["op"]
    _numpy = [n for n in _names if n.startswith("_npi_") and "out_dtype" not in _case]
    _forms += [numpy_form(_case, n) for n in _numpy if n not in ("_npi_copy", "_npi_bitwise_not", "_npi_full_like")]
    if len(_numpy) < len(_names):
        _case["op"] = [n for n in _names if n not in _numpy or n == "_npi_copy"]
        _forms.append(_case)
    elif _names[0] in ("_npi_bitwise_not", "_npi_full_like"):
        _forms.append(_case)
CASES = _forms
CASES += [flat("_npi_clip", lambda x, a_max: np.minimum(x, a_max), attrs=dict(a_max=1), dtypes=NUMBERS_AND_BOOL, refuses=False),
          flat("_npi_clip", lambda x, a_min: np.maximum(x, a_min), attrs=dict(a_min=1), dtypes=NUMBERS, refuses=False)]
