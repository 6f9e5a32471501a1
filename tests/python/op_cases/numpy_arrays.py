"""NumPy's ways to make and rearrange arrays: windows, rolls, triangles, differences, insertion."""
import numpy as np

from op_cases import NUMBERS, NUMBERS_AND_BOOL

ALL = dict(dtypes=NUMBERS_AND_BOOL)
CASES = []


def add(op, ref, inputs, grad=True, attrs=None, **more):
    CASES.append(dict(op=op, ref=ref, inputs=inputs, attrs=attrs or {}, grad=grad, **{**ALL, "empty": False, **more}))


# ---- made of nothing
MADE = ["float32", "float64", "float16", "bfloat16", "uint8", "int8", "int32", "int64"]


def made(op, ref, bad=(), **attrs):
    for dtype in ("float32", "float64", "int32"):
        CASES.append(dict(op=op, inputs=[], attrs={**attrs, "dtype": dtype}, ref=ref, dtypes=["float32"],
                          refuses=False, out_dtype=dtype, empty=False, bad=[dict(attrs=b) for b in bad]))


for _name, _window in [("hanning", np.hanning), ("hamming", np.hamming), ("blackman", np.blackman)]:
    for _m in (0, 1, 2, 7):
        made(f"_npi_{_name}", lambda M, dtype, window=_window: window(M), bad=[{}], M=_m)
for _attrs in [dict(num=5), dict(num=1), dict(num=0), dict(num=4, endpoint=False), dict(num=3, base=2.0)]:
    made("_npi_logspace", lambda start, stop, num, dtype, endpoint=True, base=10.0:
         np.logspace(start, stop, num, endpoint, base), start=0, stop=2, bad=[dict(start=0, stop=1, num=-1)], **_attrs)
for _dims in [(2, 3), (4,), (2, 0, 3), ()]:
    made("_npi_indices", lambda dimensions, dtype: np.indices(dimensions), dimensions=_dims, bad=[dict(dimensions=(-1, 2))])
for _attrs in [dict(N=3), dict(N=2, M=4), dict(N=4, M=2, k=1), dict(N=3, k=-1), dict(N=0), dict(N=3, M=0), dict(N=2, k=-9)]:
    made("_npi_tri", lambda N, dtype, M=None, k=0: np.tri(N, M, k), bad=[dict(N=-1), dict(N=2, M=-1)], **_attrs)
for _n, _k, _m in [(3, 0, 3), (3, 1, 2), (2, -1, 5), (4, 9, 3), (3, -9, 3), (0, 0, 4), (5, -2, 2), (3, 2**63 - 1, 2), (3, -2**63, 2)]:
    CASES.append(dict(op="_npi_tril_indices", inputs=[], attrs=dict(n=_n, k=_k, m=_m), dtypes=["float32"], refuses=False, out_dtype="int64",
                      ref=lambda n, k, m: list(np.tril_indices(n, int(np.clip(k, -99, 99)), m)), empty=False,
                      bad=[dict(attrs=dict(n=-1, m=2)), dict(attrs=dict(n=2**40, m=2**40))]))
for _shape in [(3, 3), (2, 2, 2), (0, 0)]:
    add("_npi_diag_indices_from", lambda a: np.array(np.diag_indices_from(a)), [_shape], grad=False, out_dtype="int64", refuses=False,
        bad=[dict(inputs=[(2, 3)]), dict(inputs=[(3,)])])

# ---- moved
for _s, _d in [((0,), (2,)), ((0, 1), (-1, 0)), ((), ()), ((2, 0, 1), (0, 1, 2))]:
    add(["_np_moveaxis", "_npi_moveaxis"], np.moveaxis, [(2, 3, 4)], attrs=dict(source=_s, destination=_d), grad2=True,
        bad=[dict(attrs=dict(source=(0, 0), destination=(1, 2))), dict(attrs=dict(source=(0,), destination=())),
             dict(attrs=dict(source=(5,), destination=(0,)))])
for _axis, _start in [(2, 0), (0, 3), (-1, 1), (1, -1), (0, 0)]:
    add("_npi_rollaxis", np.rollaxis, [(2, 3, 4)], attrs=dict(axis=_axis, start=_start), grad2=True,
        bad=[dict(attrs=dict(axis=3)), dict(attrs=dict(axis=0, start=4))])
for _attrs in [dict(shift=(2,)), dict(shift=(-1,), axis=(1,)), dict(shift=(1, 2), axis=(0, 2)), dict(shift=(1,), axis=(0, 1, 2)),
               dict(shift=(1, 1), axis=(0, 0)), dict(shift=(10**15,), axis=(1,)), dict(shift=(0,), axis=(1,)), dict(shift=(2,), axis=())]:
    add(["_np_roll", "_npi_roll"], lambda a, shift, axis=None: np.roll(a, shift if axis is not None else shift[0], axis), [(2, 3, 4)],
        attrs=_attrs, bad=[dict(attrs={}), dict(attrs=dict(shift=(1, 2))), dict(attrs=dict(shift=(1,), axis=(3,))),
                           dict(attrs=dict(shift=(1, 2), axis=(0, 1, 2)))])
for _k in range(-1, 5):
    for _axes in [(0, 1), (2, 0)]:
        add("_npi_rot90", np.rot90, [(2, 3, 4)], attrs=dict(k=_k, axes=_axes),
            bad=[dict(attrs={}), dict(attrs=dict(axes=(0, 0))), dict(attrs=dict(axes=(0, 5)))])
for _n, _ref in [(1, np.atleast_1d), (2, np.atleast_2d), (3, np.atleast_3d)]:
    for _shape in [(), (3,), (2, 3), (2, 1, 3, 2)]:
        add([f"_np_atleast_{_n}d", f"_npi_atleast_{_n}d"], lambda a, b, ref=_ref, num_args=2: [ref(a), ref(b)], [_shape, (2,)], grad=False,
            attrs=dict(num_args=2))
for _attrs in [dict(indices=(0, 1)), dict(indices=(), sections=2)]:
    for _shape in [(4,), (2, 4), (2, 4, 3)]:
        add("_npi_hsplit", lambda a, indices, sections=0: np.hsplit(a, sections or list(indices[1:])), [_shape], attrs=_attrs, grad2=True,
            bad=[dict(attrs=dict(indices=(), sections=3))])
add("_npi_dsplit", lambda a, indices, axis, sections: np.dsplit(a, sections), [(2, 3, 4)], attrs=dict(indices=(), axis=2, sections=2))

# ---- pad
WIDTHS = [((1, 2), (0, 3)), ((0, 0), (0, 0)), ((5, 0), (2, 7))]
BAD_PAD = [dict(attrs=dict(pad_width=((1, 1),))), dict(attrs=dict(pad_width=((-1, 1), (0, 0)))),
           dict(attrs=dict(pad_width=((1, 1), (0, 0)), mode="x")), dict(attrs=dict(pad_width="((1,2,3),(1,2))")),
           dict(attrs=dict(pad_width=((2**62, 2**62), (2**62, 0)))), dict(attrs=dict(pad_width=((1, 1), (0, 0)), reflect_type="odd"))]
for _mode in ("constant", "edge", "reflect", "symmetric", "maximum", "minimum"):
    for _width in WIDTHS:
        add("_npi_pad", lambda a, pad_width, mode: np.pad(a, pad_width, mode), [(2, 3)], attrs=dict(pad_width=_width, mode=_mode),
            grad=_mode not in ("maximum", "minimum"), grad2=_mode not in ("maximum", "minimum"), bad=BAD_PAD)
    add("_npi_pad", lambda a, pad_width, mode: np.pad(a, pad_width, mode), [(1, 2, 3)],
        attrs=dict(pad_width=((1, 1), (0, 0), (2, 1)), mode=_mode),
        grad=_mode not in ("maximum", "minimum"))
for _value in (2, -1):
    add("_npi_pad", lambda a, pad_width, constant_values: np.pad(a, pad_width, constant_values=constant_values), [(2, 0)],
        attrs=dict(pad_width=((1, 0), (2, 0)), constant_values=_value), grad=False, dtypes=["float32", "int32"], refuses=False)

# ---- triangles
for _op, _ref in [("_npi_tril", np.tril), ("_npi_triu", np.triu)]:
    for _k in (0, 1, -2, 9, -9, 2**31 - 1, -2**31):
        for _shape in [(3, 4), (4, 2), (2, 3, 3), (3,)]:
            add(_op, lambda a, k, ref=_ref: ref(a, int(np.clip(k, -99, 99))), [_shape], attrs=dict(k=_k), bad=[dict(inputs=[()])])


def fill_diagonal(a, val, wrap=False):
    out = a.copy()
    np.fill_diagonal(out, np.array(val), wrap)
    return out


for _attrs in [dict(val=(1,)), dict(val=(1, 0)), dict(val=(1,), wrap=True), dict(val=(3, 1, 2), wrap=True)]:
    for _shape in [(3, 3), (5, 2), (2, 5), (3, 3, 3), (7, 2), (2, 2, 2, 2)]:
        add("_npi_fill_diagonal", fill_diagonal, [_shape], attrs=_attrs, dtypes=NUMBERS, refuses=False,
            bad=[dict(inputs=[(3,)]), dict(inputs=[(2, 3, 3)]), dict(attrs=dict(val=()))])

# ---- differences
for _n in (0, 1, 2, 3, 5):
    for _axis in (-1, 0, 1):
        add("_npi_diff", np.diff, [(4, 3, 5)], attrs=dict(n=_n, axis=_axis), dtypes=NUMBERS, grad2=True,
            bad=[dict(attrs=dict(n=-1)), dict(attrs=dict(axis=3)), dict(inputs=[()])], tol=8)
add("_npi_ediff1d", np.ediff1d, [(2, 3)], dtypes=NUMBERS)
add("_npi_ediff1d", lambda a, to_begin_scalar, to_end_scalar: np.ediff1d(a, to_end_scalar, to_begin_scalar), [(4,)],
    attrs=dict(to_begin_scalar=1, to_end_scalar=2), dtypes=NUMBERS)
add("_npi_ediff1d", lambda a, b, c, to_begin_arr_given, to_end_arr_given: np.ediff1d(a, c, b), [(4,), (2,), (1, 3)],
    attrs=dict(to_begin_arr_given=True, to_end_arr_given=True), dtypes=NUMBERS, grad2=True)
add("_npi_ediff1d", lambda a, c, to_begin_scalar, to_end_arr_given: np.ediff1d(a, c, to_begin_scalar), [(1,), (2,)],
    attrs=dict(to_begin_scalar=1, to_end_arr_given=True), dtypes=NUMBERS)

# ---- where with numbers
_CONDITION = np.array([[1, 0, 1], [0, 0, 2]])
for _scalar in (0, 1):
    add("_npi_where_lscalar", lambda c, x, scalar: np.where(c, scalar, x), [_CONDITION, (2, 3)], attrs=dict(scalar=_scalar), refuses=False,
        input_dtypes={0: "int32"}, grad=[1], out_dtype=lambda d: d)
    add("_npi_where_rscalar", lambda c, y, scalar: np.where(c, y, scalar), [_CONDITION, (4, 1, 3)], attrs=dict(scalar=_scalar),
        refuses=False,
        input_dtypes={0: "bool"}, grad=[1], out_dtype=lambda d: d, bad=[dict(inputs=[(2, 3), (2, 2)])])
add("_npi_where_scalar2", lambda c, x, y: np.where(c, x, y), [_CONDITION], attrs=dict(x=2, y=5), grad=False, out_dtype="float32",
    refuses=False)

# ---- chosen positions
for _attrs in [dict(int_ind=1, axis=0), dict(int_ind=-1, axis=1), dict(start=0, stop=2, axis=1), dict(step=-2, axis=1), dict(int_ind=3),
               dict(start=5, stop=1, axis=0), dict(start=-100, stop=100, step=2)]:
    def _delete(a, axis=None, int_ind=None, start=None, stop=None, step=None):
        return np.delete(a, int_ind if int_ind is not None else slice(start, stop, step), axis)
    add("_npi_delete", _delete, [(3, 4)], attrs=_attrs, refuses=False,
        bad=[dict(attrs=dict(int_ind=12)), dict(attrs=dict(int_ind=0, axis=2)), dict(attrs=dict(step=0)),
                  dict(attrs=dict(int_ind=-4, axis=0))])
for _obj in ([0, 2], [-1, 1, 1], [], [[0], [1]]):
    add("_npi_delete", lambda a, obj, axis: np.delete(a, obj.astype("int64"), axis), [(3, 4), np.array(_obj, "int64")], attrs=dict(axis=1),
        grad=[0], input_dtypes={1: "int64"}, refuses=False, bad=[dict(inputs=[(3, 4), np.array([4])]),
            dict(inputs=[(3, 4), np.array([2**62])])])
add("_npi_delete", lambda a, obj, axis: np.delete(a, obj.astype(bool), axis), [(3, 4), np.array([1, 0, 0, 1])], attrs=dict(axis=1),
    grad=[0],
    input_dtypes={1: "bool"}, refuses=False)
for _attrs in [dict(repeats=(2,)), dict(repeats=(0, 2, 1), axis=0), dict(repeats=(3,), axis=-1), dict(repeats=(0,), axis=1)]:
    add("_npi_repeats", np.repeat, [(3, 4)], attrs=_attrs, refuses=False,
        bad=[dict(attrs=dict(repeats=(1, 2), axis=0)), dict(attrs=dict(repeats=(-1,))), dict(attrs=dict(repeats=None)),
             dict(attrs=dict(repeats=(2**62,)))])


def insert(a, *rest, axis=None, val=None, int_ind=None, start=None, stop=None, step=None, obj=None):
    if val is None:
        val = rest[0]
    if int_ind is None and obj is None:
        obj = slice(start, stop, step)
    return np.insert(a, int_ind if int_ind is not None else obj, val, axis)


for _attrs in [dict(int_ind=1, axis=0), dict(int_ind=-1, axis=1), dict(int_ind=12), dict(int_ind=0), dict(int_ind=4, axis=1)]:
    add("_npi_insert_scalar", insert, [(3, 4)], attrs=dict(val=1, **_attrs), refuses=False, dtypes=NUMBERS,
        bad=[dict(attrs=dict(val=1, int_ind=13)), dict(attrs=dict(val=1, int_ind=0, axis=2))])
for _shape, _attrs in [((3,), dict(int_ind=1, axis=1)), ((2, 3), dict(int_ind=1, axis=1)), ((2, 4), dict(int_ind=2, axis=0)),
                        ((), dict(int_ind=3)),
                       ((5,), dict(int_ind=3))]:
    add("_npi_insert_scalar", insert, [(3, 4), _shape], attrs=_attrs, refuses=False, bad=[dict(inputs=[(3, 4), (7, 7, 7)])])
for _shape, _attrs in [((2,), dict(start=0, stop=3, step=2, axis=1)), ((), dict(step=2)), ((3, 2), dict(stop=2, axis=1)),
                        ((3, 2), dict(start=1, stop=2, axis=1))]:
    add("_npi_insert_slice", insert, [(3, 4), _shape], attrs=_attrs, refuses=False, bad=[dict(attrs=dict(step=0))])
for _shape, _obj, _axis in [((2,), [0, 2], 1), ((), [3, 0, 0], None), ((3, 2), [4, 1], 1), ((3,), [2], None), ((3, 2), [1], 1),
                             ((0,), [], None)]:
    add("_npi_insert_tensor", lambda a, v, o, axis=None: np.insert(a, o.astype("int64"), v, axis),
        [(3, 4), _shape, np.array(_obj, "int64")],
        attrs=dict(axis=_axis), grad=[0, 1], grad2=True, input_dtypes={2: "int64"}, refuses=False,
        bad=[dict(inputs=[(3, 4), (1,), np.array([13])]), dict(inputs=[(3, 4), (1,), np.array([-2**62])])])

# ---- chosen by one array
for _index in ([1, 0, -1], [[0, 0], [1, 1]], []):
    add("_npi_advanced_indexing", lambda a, i: a[i.astype("int64")], [(2, 3), np.array(_index, "int64")], grad=[0],
        input_dtypes={1: "int64"},
        refuses=False, bad=[dict(inputs=[(2, 3), np.array([2])]), dict(inputs=[(2, 3), np.array([-3])]), dict(inputs=[(), np.array([0])])])
for _mask in ([True, False], [[True, False, True], [False, False, True]], [False, False]):
    add("_npi_advanced_indexing", lambda a, i: a[i.astype(bool)], [(2, 3), np.array(_mask)], grad=[0], input_dtypes={1: "bool"},
        refuses=False)


def assign(data, mask, value, start_axis):
    out = data.copy()
    out[(slice(None),) * start_axis + (mask.astype(bool),)] = value
    return out


for _mask, _start, _shape in [([1, 0], 0, (3,)), ([0, 1, 1], 1, (2, 2)), ([[1, 0, 1], [0, 0, 1]], 0, (3,)), ([0, 0, 0], 1, (1,)),
                               ([1, 1, 0], 1, ()),
                              ([1, 0], 0, (1, 3)), ([0, 1, 1], 1, (2, 1))]:
    _mask = np.array(_mask)
    add("_npi_boolean_mask_assign_scalar", assign, [(2, 3), _mask], attrs=dict(value=1, start_axis=_start), grad=[0],
        input_dtypes={1: "bool"},
        refuses=False, bad=[dict(inputs=[(2, 3), (4,)]), dict(attrs=dict(value=1, start_axis=-1)),
                            dict(attrs=dict(value=1, start_axis=2**31 - 1))])
    add("_npi_boolean_mask_assign_tensor", assign, [(2, 3), _mask, _shape], attrs=dict(start_axis=_start), grad=False,
        input_dtypes={1: "bool"},
        refuses=False, bad=[dict(inputs=[(2, 3), _mask, (7,)]), dict(inputs=[(2, 3), (4,), (1,)])])

# ---- unique
UNIQUE = np.array([[2, 1, 2], [0, 1, 0], [2, 1, 2]])
for _attrs in [dict(), dict(return_index=True, return_inverse=True, return_counts=True), dict(axis=0, return_counts=True),
               dict(axis=1, return_inverse=True), dict(axis=-1, return_index=True)]:
    def _unique(a, **kwargs):
        out = np.unique(a, **kwargs)
        return [np.reshape(x, -1) if i else x for i, x in enumerate(out)] if isinstance(out, tuple) else out
    add("_npi_unique", _unique, [UNIQUE], attrs=_attrs, grad=False, refuses=False, bad=[dict(attrs=dict(axis=2))],
        out_dtype=lambda d: [d, "int64", "int64", "int64"])
COVERED_ELSEWHERE = {"_npi_share_memory": "test_numpy_manipulation.py"}
