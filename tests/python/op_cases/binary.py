"""Binary operators of the pointwise table: elementwise, broadcasting, with a number."""
import numpy as np

from op_cases import FLOATS, INTEGERS, NUMBERS, NUMBERS_AND_BOOL, float_type, ints, rand

S = (3, 4)
A, B = (2, 1, 3), (4, 1)   # broadcast to (2, 4, 3)


def div(a, b, **kw):
    if np.asarray(a).dtype.kind == "i" and np.asarray(b).dtype.kind == "i":
        return np.where(b == 0, 0, np.trunc(a / np.where(b == 0, 1, b))).astype("int64")
    return a / b


def mod(a, b):
    return np.where(b == 0, 0 * a, np.mod(a, np.where(b == 0, 1, b)))


def fmod(a, b):
    return np.where(b == 0, 0 * a, np.fmod(a, np.where(b == 0, 1, b)))


def power(a, b):
    return np.power(np.asarray(a, "float64"), b)


def logic(f):
    return lambda a, b: f(a != 0, b != 0)


def elementwise(names, ref, low=-2, high=2, low_b=None, high_b=None, **more):
    b = rand(S, low if low_b is None else low_b, high if high_b is None else high_b)
    return dict(dict(op=names, inputs=[rand(S, low, high), b], ref=ref, dtypes=NUMBERS, bad=[dict(inputs=[(3, 4), (3, 5)])]), **more)


def broadcast(names, ref, low=-2, high=2, low_b=None, high_b=None, **more):
    lo, hi = (low if low_b is None else low_b), (high if high_b is None else high_b)
    return dict(dict(op=names, inputs=[rand(A, low, high), rand(B, lo, hi)], ref=ref, dtypes=NUMBERS, empty=[(0, 1, 3), (4, 1)],
                     bad=[dict(inputs=[(3, 4), (3, 5)])]), **more)


SMOOTH = dict(grad=True, grad2=True)
PAIRS = [  # elementwise names, broadcast names, reference, ranges, more
    (["elemwise_add", "_add", "_plus", "_Plus", "_grad_add"], ["broadcast_add", "broadcast_plus"], np.add, (-2, 2), SMOOTH),
    (["elemwise_sub", "_sub", "_minus", "_Minus"], ["broadcast_sub", "broadcast_minus"],
     np.subtract, (0, 2, 0, 2), dict(SMOOTH, dtypes=NUMBERS)),
    (["elemwise_mul", "_mul", "_Mul"], ["broadcast_mul"], np.multiply, (-2, 2), SMOOTH),
    (["elemwise_div", "_div", "_Div", "_scatter_elemwise_div"], ["broadcast_div"], div, (1, 9, 1, 4), SMOOTH),
    (["_mod", "_Mod"], ["broadcast_mod"], mod, (5.1, 5.9, 2.1, 2.4), dict(grad=True)),
    (["_power", "_Power"], ["broadcast_power"], power, (1, 3, 0, 2), SMOOTH),
    (["_maximum", "_Maximum"], ["broadcast_maximum"], np.maximum, (-2, 2), dict(grad=True)),
    (["_minimum", "_Minimum"], ["broadcast_minimum"], np.minimum, (-2, 2), dict(grad=True)),
    (["_hypot", "_Hypot"], ["broadcast_hypot"], np.hypot, (0.5, 3), SMOOTH),
]
CASES = []
for _elementwise, _broadcast, _ref, _range, _more in PAIRS:
    CASES.append(elementwise(_elementwise, _ref, *_range, **_more))
    CASES.append(broadcast(_broadcast, _ref, *_range, **_more))
for _name, _alias, _ref in [("equal", "Equal", np.equal), ("not_equal", "Not_Equal", np.not_equal), ("greater", "Greater", np.greater),
                            ("greater_equal", "Greater_Equal", np.greater_equal),
                            ("lesser", "Lesser", np.less),
                            ("lesser_equal", "Lesser_Equal", np.less_equal),
                            ("logical_and", "Logical_And", logic(np.logical_and)), ("logical_or", "Logical_Or", logic(np.logical_or)),
                            ("logical_xor", "Logical_Xor", logic(np.logical_xor))]:
    _whole = dict(dtypes=NUMBERS_AND_BOOL)
    CASES.append(elementwise([f"_{_name}", f"_{_alias}"], _ref, **_whole, inputs=[ints(S, -1, 1), ints(S, -1, 1)]))
    CASES.append(broadcast(f"broadcast_{_name}", _ref, **_whole, inputs=[ints(A, -1, 1), ints(B, -1, 1)]))
    _np = {"lesser": "less", "lesser_equal": "less_equal"}.get(_name, _name)
    CASES.append(broadcast(f"_npi_{_np}", _ref, **_whole, inputs=[ints(A, -1, 1), ints(B, -1, 1)], out_dtype="bool"))

# signs and zeros of integer and floating division
_a, _b = np.array([-7.0, 7.0, -7.0, 5.0, 5.0, -5.0, 0.0]), np.array([3.0, -3.0, -3.0, 2.0, 0.0, 0.0, 2.0])
_pairs = dict(inputs=[_a, _b], dtypes=["float32", "float64", "int8", "int32", "int64"], refuses=False, bad=[])
CASES += [elementwise("_mod", mod, **_pairs),
          elementwise("_npi_fmod", fmod, **_pairs)]
CASES.append(elementwise("elemwise_div", div, **dict(_pairs, inputs=[_a[:5], np.array([3.0, -3.0, -3.0, 2.0, 0.0])])))
_n = np.nan
CASES += [
    elementwise(["_maximum", "_minimum"], lambda a, b: np.full(3, _n),
                inputs=[np.array([_n, 1.0, _n]), np.array([1.0, _n, _n])], dtypes=FLOATS,
                refuses=False, bad=[], empty=False),
    elementwise("_power", power, inputs=[np.array([-2.0, -2.0, 0.0, 0.0, 1.0, _n, 2.0, -2.0,
                                                   np.inf]),
                                         np.array([3.0, 0.5, 0.0, 2.0, _n, 0.0, 200.0, 2.0, -1.0])],
                dtypes=["float32", "float64"], refuses=False, bad=[]),
    elementwise("elemwise_add", lambda a, b: (a + b).astype("int8"),
                inputs=[np.array([100, -100]), np.array([100, -100])], dtypes=["int8"],
                refuses=False, bad=[]),
]

# layouts that take different paths: rows, columns, scalars, long rows, many dimensions, one operand
# repeated inside
for _shapes in [((5, 40), (40,)), ((5, 40), (5, 1)), ((1,), (5, 40)), ((2, 3, 1, 5), (1, 3, 4, 1)),
                ((700,), (1,)), ((3, 1, 500), (3, 7, 500)),
                ((2, 1, 2, 1, 2, 1, 2), (1, 2, 1, 2, 1, 2, 1)), ((1, 1), (1,)), ((4096,), (4096,)), ((300, 3), (3,))]:
    CASES.append(broadcast("broadcast_sub", np.subtract,
                           inputs=[rand(_shapes[0]), rand(_shapes[1])],
                           dtypes=["float32", "float64", "float16", "int8", "int64"],
                           empty=False, bad=[], refuses=False))

# NumPy forms
CASES += [
    broadcast("_npi_add", np.add, dtypes=NUMBERS_AND_BOOL, **SMOOTH),
    broadcast("_npi_subtract", np.subtract, 0, 2, dtypes=NUMBERS, refuses=False, **SMOOTH),
    broadcast("_npi_maximum", np.maximum, dtypes=NUMBERS_AND_BOOL, grad=True),
    broadcast("_npi_minimum", np.minimum, dtypes=NUMBERS_AND_BOOL, grad=True),
    broadcast("_npi_multiply", np.multiply, dtypes=NUMBERS_AND_BOOL, **SMOOTH),
    broadcast("_npi_true_divide", np.divide, 1, 9, 1, 4, dtypes=NUMBERS_AND_BOOL,
              out_dtype=lambda d: d if d in FLOATS else "float32", **SMOOTH),
    broadcast("_npi_mod", mod, 5.1, 5.9, 2.1, 2.4, dtypes=FLOATS, grad=True, refuses=False),
    broadcast("_npi_mod", mod, 1, 9, 1, 4, dtypes=NUMBERS, refuses=False),
    broadcast("_npi_fmod", fmod, 5.1, 5.9, 2.1, 2.4, dtypes=FLOATS, grad=True, refuses=False),
    broadcast("_npi_floor_divide", np.floor_divide, 1, 9, 1, 4, dtypes=NUMBERS, refuses=False),
    broadcast("_npi_power", power, 1, 3, 0, 2, dtypes=NUMBERS_AND_BOOL, **SMOOTH),
    broadcast("_npi_fmax", np.fmax, dtypes=NUMBERS_AND_BOOL, grad=True),
    broadcast("_npi_fmin", np.fmin, dtypes=NUMBERS_AND_BOOL, grad=True),
    broadcast("_npi_logaddexp", np.logaddexp, dtypes=NUMBERS_AND_BOOL, out_dtype=float_type, **SMOOTH),
    broadcast("_npi_copysign", np.copysign, 0.5, 2, grad=[0], refuses=False),
    broadcast("_npi_copysign", np.copysign, dtypes=FLOATS, refuses=False),
    broadcast("_npi_ldexp", lambda a, b: a * 2.0**b, 1, 3, 0, 2, dtypes=NUMBERS_AND_BOOL, out_dtype=float_type, **SMOOTH),
    broadcast("_npi_arctan2", np.arctan2, 0.5, 3, dtypes=NUMBERS_AND_BOOL, out_dtype=float_type, **SMOOTH),
    broadcast("_npi_hypot", np.hypot, 0.5, 3, dtypes=NUMBERS_AND_BOOL, out_dtype=float_type, **SMOOTH),
    broadcast("_npi_bitwise_and", lambda a, b: a & b, 0, 15, dtypes=INTEGERS + ["bool"]),
    broadcast("_npi_bitwise_or", lambda a, b: a | b, 0, 15, dtypes=INTEGERS + ["bool"]),
    broadcast("_npi_bitwise_xor", lambda a, b: a ^ b, 0, 15, dtypes=INTEGERS + ["bool"]),
    broadcast("_npi_bitwise_left_shift", lambda a, b: a << b, 0, 5, 0, 3, dtypes=INTEGERS, refuses=False),
    broadcast("_npi_bitwise_right_shift", lambda a, b: a >> b, 0, 50, 0, 3, dtypes=INTEGERS, refuses=False),
    broadcast("_npi_gcd", np.gcd, 1, 30, dtypes=INTEGERS, refuses=False),
    broadcast("_npi_lcm", np.lcm, 1, 10, dtypes=INTEGERS, refuses=False),
    # mixed dtypes
    broadcast("_npi_add", np.add, input_dtypes={1: "int32"}, dtypes=["float32", "float16", "float64"], refuses=False, bad=[]),
    broadcast("_npi_multiply", np.multiply, input_dtypes={0: "int32"}, dtypes=["float32", "int64"],
              out_dtype=lambda d: d, refuses=False, bad=[]),
    broadcast("_npi_power", power, 1, 3, 0, 2, input_dtypes={0: "bool"},
              dtypes=["float32", "int32"], out_dtype=lambda d: d, refuses=False, bad=[]),
]


def scalar(names, ref, low=-2, high=2, value=2, is_int=True, **more):
    attrs = dict(scalar=value, is_int=is_int)
    return dict(dict(op=names, inputs=[rand(S, low, high)], ref=lambda x, scalar,
                     is_int: ref(x, scalar), attrs=attrs, dtypes=NUMBERS_AND_BOOL,
                     out_dtype=lambda d: scalar_type(d, is_int, names if isinstance(names, str) else names[0]),
                     bad=[dict(attrs=dict(scalar="two"))]), **more)


FLOAT_SCALARS = ("hypot", "logaddexp", "arctan2", "ldexp")


def scalar_type(dtype, is_int, name=""):
    if name.startswith("_npi_") and any(f in name for f in FLOAT_SCALARS):
        return float_type(scalar_type(dtype, is_int))
    return dtype if dtype in FLOATS else "float64" if not is_int else "int64" if dtype == "bool" else dtype


for _names, _ref, _range, _more in [
        (["_plus_scalar", "_PlusScalar", "_npi_add_scalar", "_scatter_plus_scalar"], np.add, (-2, 2), SMOOTH),
        (["_minus_scalar", "_MinusScalar", "_npi_subtract_scalar", "_scatter_minus_scalar"], np.subtract, (2, 5), SMOOTH),
        (["_rminus_scalar", "_RMinusScalar", "_npi_rsubtract_scalar"], lambda x, s: s - x, (0, 2), SMOOTH),
        (["_mul_scalar", "_MulScalar", "_npi_multiply_scalar"], np.multiply, (-2, 2), SMOOTH),
        (["_div_scalar", "_DivScalar"], div, (-2, 2), SMOOTH),
        (["_rdiv_scalar", "_RDivScalar"], lambda x, s: div(np.asarray(s, x.dtype), x) if isinstance(s, int) else s / x, (1, 3), SMOOTH),
        (["_mod_scalar", "_ModScalar", "_npi_mod_scalar"], mod, (5.1, 5.9), dict(grad=True)),
        (["_rmod_scalar", "_RModScalar", "_npi_rmod_scalar"], lambda x, s: mod(np.asarray(s, "float64"), x), (1.1, 1.9), dict(grad=True)),
        (["_npi_fmod_scalar"], fmod, (5.1, 5.9), dict(grad=True)),
        (["_npi_rfmod_scalar"], lambda x, s: fmod(np.asarray(s, "float64"), x), (1.1, 1.9), dict(grad=True)),
        (["_npi_floor_divide_scalar"], np.floor_divide, (5, 9), {}),
        (["_npi_rfloor_divide_scalar"], lambda x, s: np.floor_divide(s, np.where(x == 0, 1e9, x)), (1, 4), {}),
        (["_power_scalar", "_PowerScalar", "_npi_power_scalar"], power, (1, 3), SMOOTH),
        (["_rpower_scalar", "_RPowerScalar", "_npi_rpower_scalar"], lambda x, s: power(s, x), (0, 3), SMOOTH),
        (["_maximum_scalar", "_MaximumScalar", "_npi_maximum_scalar", "_npi_fmax_scalar"], np.maximum, (0, 4), dict(grad=True)),
        (["_minimum_scalar", "_MinimumScalar", "_npi_minimum_scalar", "_npi_fmin_scalar"], np.minimum, (0, 4), dict(grad=True)),
        (["_hypot_scalar", "_HypotScalar"], np.hypot, (1, 3), SMOOTH),
        (["_npi_hypot_scalar"], np.hypot, (1, 3), SMOOTH),
        (["_npi_logaddexp_scalar"], np.logaddexp, (-2, 2), SMOOTH),
        (["_npi_copysign_scalar"], np.copysign, (0.5, 3), dict(grad=True)),
        (["_npi_rcopysign_scalar"], lambda x, s: np.copysign(s, x), (0.5, 3), {}),
        (["_npi_arctan2_scalar"], np.arctan2, (1, 3), SMOOTH),
        (["_npi_rarctan2_scalar"], lambda x, s: np.arctan2(s, x), (1, 3), SMOOTH),
        (["_npi_ldexp_scalar"], lambda x, s: x * 2.0**s, (1, 3), SMOOTH),
        (["_npi_rldexp_scalar"], lambda x, s: s * 2.0**x, (0, 3), SMOOTH),
        (["_equal_scalar", "_EqualScalar"], np.equal, (0, 3), dict(inputs=[ints(S, 0, 3)])),
        (["_not_equal_scalar", "_NotEqualScalar"], np.not_equal, (0, 3), dict(inputs=[ints(S, 0, 3)])),
        (["_greater_scalar", "_GreaterScalar"], np.greater, (0, 3), dict(inputs=[ints(S, 0, 3)])),
        (["_greater_equal_scalar", "_GreaterEqualScalar"], np.greater_equal, (0, 3), dict(inputs=[ints(S, 0, 3)])),
        (["_lesser_scalar", "_LesserScalar"], np.less, (0, 3), dict(inputs=[ints(S, 0, 3)])),
        (["_lesser_equal_scalar", "_LesserEqualScalar"], np.less_equal, (0, 3), dict(inputs=[ints(S, 0, 3)])),
        (["_logical_and_scalar", "_LogicalAndScalar"], logic(np.logical_and), (0, 3), dict(inputs=[ints(S, 0, 3)])),
        (["_logical_or_scalar", "_LogicalOrScalar"], logic(np.logical_or), (0, 3), dict(inputs=[ints(S, 0, 3)])),
        (["_logical_xor_scalar", "_LogicalXorScalar"], logic(np.logical_xor), (0, 3), dict(inputs=[ints(S, 0, 3)])),
]:
    CASES.append(scalar(_names, _ref, *_range, **_more))
    _fraction = dict(_more, grad2=False, grad=False)
    if "copysign" not in _names[0]:
        CASES.append(scalar(_names, _ref, *_range, value=2.5, is_int=False, **_fraction))
for _np, _ref in [("equal", np.equal), ("not_equal", np.not_equal), ("greater", np.greater),
                  ("greater_equal", np.greater_equal), ("less", np.less),
                  ("less_equal", np.less_equal), ("logical_and", logic(np.logical_and)),
                  ("logical_or", logic(np.logical_or)), ("logical_xor", logic(np.logical_xor))]:
    for _value, _is_int in [(2, True), (2.5, False)]:
        CASES.append(scalar(f"_npi_{_np}_scalar", _ref, value=_value, is_int=_is_int, inputs=[ints(S, 0, 3)], out_dtype="bool"))
for _value, _is_int in [(2, True), (2.5, False)]:
    _float = dict(out_dtype=lambda d: d if d in FLOATS else "float32", value=_value, is_int=_is_int)
    CASES.append(scalar("_npi_true_divide_scalar", np.divide, grad=True, **_float))
    CASES.append(scalar("_npi_rtrue_divide_scalar", lambda x, s: s / x, 1, 3, grad=True, **_float))
for _np, _ref in [("bitwise_and", lambda x, s: x & s), ("bitwise_or", lambda x, s: x | s),
                  ("bitwise_xor", lambda x, s: x ^ s), ("gcd", np.gcd), ("lcm", np.lcm),
                  ("bitwise_left_shift", lambda x, s: x << s),
                  ("rbitwise_left_shift", lambda x, s: s << x),
                  ("bitwise_right_shift", lambda x, s: x >> s),
                  ("rbitwise_right_shift", lambda x, s: s >> x)]:
    CASES.append(scalar(f"_npi_{_np}_scalar", _ref, 1, 5, dtypes=INTEGERS, out_dtype=lambda d: d, refuses=False,
                        bad=[dict(attrs=dict(scalar=2.5, is_int=False))]))

CASES += [
    dict(op=["add_n", "ElementWiseSum", "_npx_add_n"], inputs=[rand(S), rand(S), rand(S)],
         ref=lambda *x: sum(x), dtypes=NUMBERS, grad=True, grad2=True,
         bad=[dict(inputs=[(2, 3), (3, 2)])]),
    dict(op="add_n", inputs=[rand((5000,))], ref=lambda x: x, dtypes=["float32", "float16"], refuses=False),
    dict(op="amp_multicast", inputs=[ints(S), ints(S)], ref=lambda a, b, **kw: [a, b],
         attrs=dict(num_outputs=2), input_dtypes={1: "float16"},
         dtypes=["float32", "bfloat16", "float16"], out_dtype=lambda d: "float32" if d == "float32" else d, refuses=False),
    dict(op="amp_multicast", inputs=[ints(S), ints(S)], ref=lambda a, b, **kw: [a, b],
         attrs=dict(num_outputs=2, cast_narrow=True), input_dtypes={1: "float16"},
         dtypes=["float32"], out_dtype="float16", refuses=False),
    dict(op="_identity_with_attr_like_rhs", inputs=[rand(S), rand(S)], ref=lambda a, b: a, dtypes=NUMBERS_AND_BOOL, grad=[0]),
    dict(op="_sum_like", inputs=[rand((2, 3, 4)), rand((3, 1))], ref=lambda a,
         b: a.sum(axis=(0, 2)).reshape(3, 1), dtypes=NUMBERS, grad=[0], grad2=True,
         bad=[dict(inputs=[(2, 3), (4, 3)])], refuses=False),
    dict(op="_sum_like", inputs=[rand(S), rand(S)], ref=lambda a, b: a, dtypes=NUMBERS, grad=[0], refuses=False),
]
