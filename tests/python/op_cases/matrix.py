"""Shapes, permutations, joining, splitting, slicing, matrix products."""
import numpy as np

from op_cases import FLOATS, NUMBERS_AND_BOOL, ints, rotated

ALL = dict(dtypes=NUMBERS_AND_BOOL)
S = (2, 3, 4)
CASES = []


def moves(op, ref, *inputs, bad=(), grad=True, grad2=True, empty=False, **attrs):
    """An operator that moves elements of any dtype and has derivatives of any order. `bad`: attrs
    that are refused."""
    CASES.append(dict(op=op, inputs=list(inputs), ref=ref, attrs=attrs, grad=grad, grad2=grad2,
                      empty=empty, bad=[dict(attrs=b) for b in bad], **ALL))


def to(*shape):
    return lambda x, **attrs: x.reshape(shape)


# ---- shapes
for _codes, _shape in [((4, 6), (4, 6)), ((-1,), (24,)), ((0, -1), (2, 12)), ((0, 0, -1), S),
                       ((-2,), S), ((0, -2), S), ((-3, 0), (6, 4)), ((0, -3), (2, 12)),
                       ((0, -4, 1, -1, 0), (2, 1, 3, 4)), ((-4, 1, 2, -2), (1, 2, 3, 4)), ((2, 1, 12, 1), (2, 1, 12, 1))]:
    moves("reshape", to(*_shape), S, shape=_codes)
moves("Reshape", to(6, 4), S, shape=(-1, 0), reverse=True)
moves("reshape", to(4, 6), S, shape=(4, 6), bad=[dict(shape=(5, 5)), dict(shape=(-1, -1)),
                                                 dict(shape=(-5,)), dict(shape=(7, -1)),
                                                 dict(shape=(0, 0, 0, 0)), {}])
moves("Reshape", to(2, 12), S, target_shape=(2, 0), bad=[dict(target_shape=(0, 0)), dict(target_shape=(5, 0))])
moves("Reshape", to(2, 12), S, target_shape=(0, 0), keep_highest=True)
moves("_np_reshape", to(4, 6), S, newshape=(4, -1),
      bad=[dict(newshape=(5, -1)), dict(newshape=(-1, -1)), dict(newshape=(-2, 12)),
           dict(newshape=(24,), order="F")])
moves("_np_reshape", to(3, 0), (0, 3), newshape=(3, -1), grad=False, grad2=False)
for _codes, _shape in [((-1,), (24,)), ((-2, -2, -2), S), ((-4,), S), ((2, -5, -1), (2, 12, 1)),
                       ((-6, 1, 2, -4), (1, 2, 3, 4)), ((-6, -1, 1, -4), (2, 1, 3, 4)),
                       ((-5, -4), (6, 4)),
                       ((-1, 4), (6, 4))]:
    moves(["_npx_reshape", "_npi_reshape"], to(*_shape), S, newshape=_codes,
          bad=[dict(newshape=(-2,)), dict(newshape=(6, -3)), dict(newshape=(-5, -5)),
               dict(newshape=(-6,)), dict(newshape=(0, -1)), dict(newshape=(-7,))])
moves("_npx_reshape", to(2,), (1, 2, 1), newshape=(-3, -2, -3))
moves("_npx_reshape", to(2, 12), S, newshape=(-4, -5), reverse=True)
moves(["Flatten", "flatten", "_npx_batch_flatten"], to(2, 12), S)
moves("flatten", to(3, 1), (3,))
for _axis in range(-4, 4):
    moves(["expand_dims", "_npi_expand_dims"], lambda x, axis: np.expand_dims(x, axis), S,
          axis=_axis, bad=[dict(axis=4), dict(axis=-5), {}])
for _axis in [None, 0, -1, (0, 2), (2, 0)]:
    moves(["squeeze", "_np_squeeze", "_npi_squeeze"], lambda x, axis: np.squeeze(x, axis),
          (1, 3, 1), axis=_axis, bad=[dict(axis=1), dict(axis=3), dict(axis=(0, 0)),
                                      dict(axis=(0, -3))])
moves("squeeze", to(1), (1, 1))
moves("_npi_squeeze", to(), (1, 1))
for _axes in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]:
    moves(["transpose", "_np_transpose", "_npi_transpose"], lambda x, axes: x.transpose(axes), S,
          axes=_axes, bad=[dict(axes=(1, 0)), dict(axes=(0, 1, 1)), dict(axes=(0, 1, 3))])
moves("transpose", lambda x: x.T, S)
moves("transpose", lambda x: x.T, (5,))
moves("transpose", lambda x, axes: x.transpose(axes), (3, 2, 4, 5, 2), axes=(3, 1, 4, 0, 2), grad2=False)
for _shape, _axes in [((200, 333), (1, 0)), ((37, 70, 65), (2, 0, 1)), ((37, 70, 65), (1, 0, 2)),
                      ((1000, 3), (1, 0)), ((3, 1000), (1, 0)), ((5, 1, 7, 1), (3, 2, 0, 1)),
                      ((301, 257, 9), (2, 1, 0))]:
    moves("transpose", lambda x, axes: x.transpose(axes), _shape, axes=_axes, grad=False, grad2=False)
moves(["SwapAxis", "swapaxes", "_npi_swapaxes"], lambda x, dim1, dim2: x.swapaxes(dim1, dim2), S,
      dim1=0, dim2=-1, bad=[dict(dim1=0, dim2=3)])


def reshape_like(lhs, rhs, lhs_begin=None, lhs_end=None, rhs_begin=None, rhs_end=None):
    shape = list(lhs.shape)
    shape[slice(lhs_begin, lhs_end)] = rhs.shape[slice(rhs_begin, rhs_end)]
    return lhs.reshape(shape)


for _attrs in [dict(), dict(lhs_begin=0, lhs_end=2, rhs_begin=0, rhs_end=1), dict(lhs_begin=-1, lhs_end=None, rhs_begin=1)]:
    CASES.append(dict(op=["reshape_like", "_npx_reshape_like"], inputs=[S, (6, 4)],
                      ref=reshape_like, attrs=_attrs, input_dtypes={1: "float32"}, grad=[0],
                      grad2=True, empty=False,
                      bad=[dict(inputs=[S, (5, 5)]), dict(attrs=dict(lhs_begin=9)), dict(attrs=dict(lhs_begin=2, lhs_end=1))], **ALL))
CASES.append(dict(op=["shape_array", "_npx_shape_array"], inputs=[S], ref=lambda x: np.array(x.shape), out_dtype="int64", **ALL))
CASES.append(dict(op="size_array", inputs=[S], ref=lambda x: np.array([x.size]), out_dtype="int64", **ALL))

# ---- joining and splitting
CASES += [dict(op=["Concat", "concat", "_npi_concatenate", "_sparse_concat"], inputs=i,
               ref=lambda *x, dim=1: np.concatenate(x, dim), attrs=a, grad=True, grad2=True,
               empty=False,
               bad=[dict(inputs=[(2, 3), (2, 3, 4)]), dict(attrs=dict(dim=7)), dict(inputs=[(3, 2, 2), (3, 5, 5)])], **ALL)
          for i, a in [([(2, 3, 4), (2, 3, 4)], dict(dim=0)),
                       ([(2, 1, 4), (2, 5, 4), (2, 2, 4)], dict()),
                       ([(2, 3, 1), (2, 3, 4)], dict(dim=-1)), ([(2, 3)], dict(dim=0))]]
CASES += [dict(op="concat", inputs=[(300, 70), (300, 1), (300, 300)], ref=lambda *x: np.concatenate(x, 1), empty=False, **ALL),
          dict(op="concat", inputs=[(0, 3), (2, 3)], ref=lambda *x, dim: np.concatenate(x, dim), attrs=dict(dim=0), empty=False, **ALL),
          dict(op=["_rnn_param_concat", "_npi_rnn_param_concat"], inputs=[(3,), (5,)],
               ref=lambda *x, dim: np.concatenate(x, dim), attrs=dict(dim=0), grad=True,
               empty=False, **ALL)]
for _axis in (-4, -1, 0, 1, 2, 3):
    CASES.append(dict(op=["stack", "_npi_stack"], inputs=[S, S, S], ref=lambda *x,
                      axis: np.stack(x, axis), attrs=dict(axis=_axis), grad=True, grad2=True,
                      bad=[dict(attrs=dict(axis=4)), dict(inputs=[(2, 3), (3, 2)])], **ALL))
for _op, _f, _shapes in [("_npi_vstack", np.vstack,
                          [[(3,), (3,)], [(2, 3), (3,), (4, 3)], [(2, 2, 2), (1, 2, 2)]]),
                         ("_npi_hstack", np.hstack, [[(3,), (5,)], [(2, 3), (2, 1)]]),
                         ("_npi_dstack", np.dstack,
                          [[(3,), (3,)], [(2, 3), (2, 3)], [(2, 3, 1), (2, 3, 4)]]),
                         ("_npi_column_stack", np.column_stack, [[(3,), (3,)], [(3, 2), (3,)]])]:
    for _s in _shapes:
        CASES.append(dict(op=_op, inputs=_s, ref=lambda *x, f=_f: f(x), grad=True, grad2=True,
                          empty=False, bad=[dict(inputs=[(3, 2), (4, 5)])], **ALL))


def parts(pieces, axis, squeeze_axis):
    pieces = [np.squeeze(p, axis) for p in pieces] if squeeze_axis else pieces
    return pieces


def split(x, num_outputs, axis=1, squeeze_axis=False):
    return parts(np.split(x, num_outputs, axis), axis, squeeze_axis)


for _attrs in [dict(num_outputs=3), dict(num_outputs=3, squeeze_axis=True),
               dict(num_outputs=2, axis=-1), dict(num_outputs=1),
               dict(num_outputs=2, axis=0, squeeze_axis=True)]:
    moves(["SliceChannel", "split", "_npx_slice_channel"], split, S, **_attrs,
          bad=[dict(num_outputs=2), dict(num_outputs=2, axis=2, squeeze_axis=True), dict(num_outputs=0), dict(num_outputs=1, axis=5)])


def split_v2(x, indices=(), axis=1, squeeze_axis=False, sections=0):
    return parts(np.array_split(x, sections or list(indices)[1:], axis), axis, squeeze_axis)


for _attrs in [dict(indices=(0, 2)), dict(indices=(), sections=2, axis=2),
               dict(indices=(), sections=3, axis=2), dict(indices=(0, 2, 2), axis=2),
               dict(indices=(0, 1), axis=0, squeeze_axis=True),
               dict(indices=(), sections=5, axis=2), dict(indices=(0,))]:
    moves(["_split_v2", "_npi_split", "_npi_array_split"], split_v2, S, **_attrs,
          bad=[dict(indices=(1, 2)), dict(indices=(0, 5)), dict(indices=(0, 2, 1)),
               dict(indices=(0, -1)), dict(indices=(0, 1), axis=4)])

for _shapes, _attrs in [([(2, 1), (2, 3)], dict(indices=(0, 1))), ([(2, 2), (1, 2)], dict(indices=(), sections=2, axis=0)),
                        ([(2, 3), (2, 3)], dict(indices=(0, 1), squeeze_axis=True)), ([(2, 3)], dict(indices=(0,), axis=-1))]:
    CASES.append(dict(op="_split_v2_backward", inputs=_shapes, attrs=_attrs, grad=True, grad2=True, empty=False, **ALL,
                      ref=lambda *parts, axis=1, squeeze_axis=False, **_: (np.stack if squeeze_axis else np.concatenate)(parts, axis),
                      bad=[dict(inputs=[(1,), (2,), (3,)]), dict(attrs=dict(indices=(1, 2))), dict(attrs=dict(_attrs, axis=3))]))

# ---- slices


def slices(begin, end, step=()):
    return tuple(slice(b, e, s) for b, e, s in zip(begin, end, step or [None] * len(begin)))


_bad_slice = [dict(begin=(0, 0, 0, 0), end=(1, 1, 1, 1)), dict(begin=(0,), end=(1, 1)),
              dict(begin=(0,), end=(4,), step=(0,)), dict(begin=(0,), end=(1,), step=(1, 1))]
for _attrs in [dict(begin=(0, 1), end=(2, 3)),
               dict(begin=(None, 0, 3), end=(None, -1, 0), step=(1, 2, -1)),
               dict(begin=(1, None, None), end=(2, None, None)), dict(begin=(-1,), end=(None,)),
               dict(begin=(0, 5), end=(100, 9)),
               dict(begin=(None, None, None), end=(None, None, None), step=(-1, -1, -1)),
               dict(begin=(-9, None, 9), end=(9, 1, -9), step=(None, None, -2)),
               dict(begin=(0,), end=(2,), step=(9223372036854775807,)), dict(begin=(), end=())]:
    moves(["slice", "crop", "_npi_slice", "_npx_slice", "_sparse_slice"], lambda x, **a: x[slices(**a)], S, **_attrs, bad=_bad_slice)

    def assigned(x, value, **a):
        x = x.copy()
        x[slices(**a)] = value
        return x
    _part = np.zeros(S)[slices(**_attrs)].shape
    CASES.append(dict(op=["_slice_assign", "_crop_assign", "_npi_slice_assign"], inputs=[S, _part],
                      ref=assigned, attrs=_attrs, grad=True, grad2=True, empty=False,
                      bad=[dict(inputs=[S, (7, 7, 7)])] + [dict(attrs=b) for b in _bad_slice], **ALL))
    CASES.append(dict(op=["_slice_assign_scalar", "_crop_assign_scalar",
                          "_npi_slice_assign_scalar"], inputs=[S], ref=lambda x, scalar,
                      **a: assigned(x, scalar, **a),
                      attrs=dict(_attrs, scalar=7), grad=True, grad2=True, bad=[dict(attrs=b) for b in _bad_slice], empty=False, **ALL))
for _attrs in [dict(axis=1, begin=0, end=2), dict(axis=-1, begin=-2, end=None),
               dict(axis=1, begin=0, end=-1), dict(axis=0, begin=1, end=2)]:
    moves("slice_axis", lambda x, axis, begin, end: np.take(x, range(x.shape[axis])[begin:end], axis), S, **_attrs,
          bad=[dict(axis=1, begin=2, end=2), dict(axis=1, begin=0, end=9),
               dict(axis=3, begin=0, end=1), dict(axis=1, begin=-5, end=2),
               dict(axis=1, begin=2, end=1)])
for _axes, _like, _index in [((), (1, 2, 3), (1, 2, 3)), ((0,), (1, 9), (1, 3, 4)),
                             ((-1,), (5, 5, 3), (2, 3, 3)), ((1, 2), (9, 2, 3), (2, 2, 3))]:
    CASES.append(dict(op=["slice_like", "_npx_slice_like"], inputs=[S, _like], ref=lambda x, like,
                      axes, index=_index: x[tuple(map(slice, index))], attrs=dict(axes=_axes),
                      input_dtypes={1: "float32"}, grad=[0], grad2=True, empty=False,
                      bad=[dict(inputs=[S, (9, 9, 9)]),
                           dict(inputs=[S, (1,)], attrs=dict(axes=(2,)))], **ALL))

# ---- arrangements
for _axis in [(0,), (0, 2), (1,), (2,), (-1, 0)]:
    moves(["reverse", "flip", "_npi_flip"], lambda x, axis: np.flip(x, axis), S, axis=_axis, bad=[dict(axis=3)])
for _reps in [(2,), (2, 1), (2, 1, 2, 1), (), (3, 1, 2), (0, 2)]:
    moves(["tile", "_npi_tile"], lambda x, reps: np.tile(x, reps), S, reps=_reps, bad=[dict(reps=(-1,))])
for _attrs in [dict(repeats=2), dict(repeats=2, axis=1), dict(repeats=3, axis=-1), dict(repeats=2, axis=0), dict(repeats=0, axis=1)]:
    moves(["repeat", "_np_repeat", "_npi_repeat"], lambda x, repeats,
          axis=None: np.repeat(x, repeats, axis), S, **_attrs,
          bad=[dict(repeats=-1), dict(repeats=2, axis=3)])
moves("depth_to_space", lambda x, block_size: x.reshape(2, 2, 2, 3, 1,
                                                        2).transpose(0, 3, 4, 1, 5,
                                                                     2).reshape(2, 3, 2, 4),
      (2, 12, 1, 2), block_size=2,
      bad=[dict(block_size=0), dict(block_size=5)])
moves("space_to_depth", lambda x, block_size: x.reshape(2, 3, 1, 2, 2,
                                                        2).transpose(0, 3, 5, 1, 2,
                                                                     4).reshape(2, 12, 1, 2),
      (2, 3, 2, 4), block_size=2, bad=[dict(block_size=0), dict(block_size=3)])
for _k in (0, 1, -2):
    moves(["diag"], lambda x, k: np.diag(x, k), (4,), k=_k)
    moves(["diag"], lambda x, k: np.diagonal(x, k), (4, 5), k=_k, bad=[dict(axis1=0, axis2=0), dict(axis1=5)])
    moves(["diag"], lambda x, k, axis1, axis2: np.diagonal(x, k, axis1, axis2), (4, 3, 5), k=_k, axis1=-1, axis2=0)
    moves(["_np_diag", "_npi_diag"], lambda x, k: np.diag(x, k), (4,), k=_k)
    moves(["_np_diag", "_npi_diag"], lambda x, k: np.diag(x, k), (4, 5), k=_k)
    moves(["_np_diagflat", "_npi_diagflat"], lambda x, k: np.diagflat(x, k), (2, 2), k=_k)
    moves(["_np_diagonal", "_npi_diagonal"], lambda x, offset, axis1,
          axis2: np.diagonal(x, offset, axis1, axis2), (4, 3, 5), offset=_k, axis1=2, axis2=0)

_bad_pad = [dict(mode="edge", pad_width=(0, 0, 1, 0, 0, 0, 0, 0)),
            dict(mode="edge", pad_width=(0, 0, 0, 0, 1, 2)),
            dict(mode="reflect", pad_width=(0, 0, 0, 0, 3, 0, 0, 0)),
            dict(mode="edge", pad_width=(0, 0, 0, 0, -1, 0, 0, 0)), dict(mode="none", pad_width=(0,) * 8)]


def pad(x, mode, pad_width, constant_value=0):
    width = list(zip(pad_width[::2], pad_width[1::2]))
    return np.pad(x, width, mode, constant_values=constant_value) if mode == "constant" else np.pad(x, width, mode)


for _mode in ["constant", "edge", "reflect"]:
    _more = dict(constant_value=7) if _mode == "constant" else {}
    moves(["Pad", "pad", "_npx_pad"], pad, (2, 2, 3, 4), mode=_mode, pad_width=(0, 0, 0, 0, 1, 2, 3, 1), **_more, bad=_bad_pad)
    moves("Pad", pad, (1, 2, 2, 3, 3), mode=_mode, pad_width=(0, 0, 0, 0, 1, 1, 2, 1, 1, 2), **_more, grad2=False)

# ---- products


def contract(a, b, transpose_a=False, transpose_b=False):
    out = np.tensordot(a, b, ([0 if transpose_a and a.ndim > 1 else a.ndim - 1], [b.ndim - 1 if transpose_b and b.ndim > 1 else 0]))
    return out.reshape(1) if out.ndim == 0 else out


_products = dict(dtypes=FLOATS, grad=True, grad2=True, empty=False,
                 tol={"float32": 1e-5, "float64": 1e-11, "float16": 4e-3, "bfloat16": 2e-2})
for _a, _b, _attrs in [((3,), (3,), {}), ((2, 3), (3, 4), {}), ((2, 3), (3,), {}),
                       ((3,), (3, 4), {}), ((2, 3, 4), (4, 5), {}), ((2, 3, 4), (4, 2, 3), {}),
                       ((2, 3, 4), (2, 5), dict(transpose_a=True)),
                       ((2, 3), (4, 3), dict(transpose_b=True)),
                       ((2, 3, 4), (5, 2, 4), dict(transpose_b=True)),
                       ((3, 2), (4, 3), dict(transpose_a=True, transpose_b=True)),
                       ((3,), (4, 3), dict(transpose_b=True)),
                       ((3, 4), (3,), dict(transpose_a=True)), ((2, 0), (0, 3), {})]:
    CASES.append(dict(_products, op=["dot", "_sparse_dot"], inputs=[_a, _b], ref=contract,
                      attrs=_attrs, bad=[dict(inputs=[(2, 3), (4, 5)], attrs={}),
                                         dict(inputs=[(3,), (3,)], attrs=dict(transpose_a=True))]))
CASES.append(dict(_products, op="_dot_square_sum", inputs=[(3, 4), (4, 5)], ref=lambda a, b: a @ np.sum(b * b, 1, keepdims=True),
                  empty=[(0, 4), (4, 5)], bad=[dict(inputs=[(3, 4), (5, 4)]), dict(inputs=[(3, 4), (4,)])]))
CASES.append(dict(_products, op="dot", inputs=[(130, 70), (70, 90)], ref=contract, grad=False,
                  grad2=False, tol={"float32": 1e-4, "float64": 1e-10, "float16": 1e-2,
                                    "bfloat16": 1e-1}))


def batched(a, b, transpose_a=False, transpose_b=False):
    return np.matmul(a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)


for _a, _b, _attrs in [((2, 3, 4), (2, 4, 2), {}), ((2, 3, 4), (2, 3, 2), dict(transpose_a=True)),
                       ((2, 3, 4), (2, 2, 4), dict(transpose_b=True)),
                       ((2, 4, 3), (2, 2, 4), dict(transpose_a=True, transpose_b=True)),
                       ((2, 1, 2, 3), (2, 1, 3, 2), {}), ((2, 3, 0), (2, 0, 3), {})]:
    CASES.append(dict(_products, op=["batch_dot", "_npx_batch_dot"], inputs=[_a, _b], ref=batched, attrs=_attrs,
                      bad=[dict(inputs=[(2, 3), (3, 4)], attrs={}),
                           dict(inputs=[(2, 3, 4), (3, 4, 5)], attrs={}),
                           dict(inputs=[(2, 3, 4), (2, 3, 4)], attrs={})]))
CASES.append(dict(_products, op="batch_dot", inputs=[(9, 40, 50), (9, 50, 30)], ref=batched, grad=False, grad2=False,
                  tol={"float32": 1e-4, "float64": 1e-10, "float16": 1e-2, "bfloat16": 1e-1}))


def khatri_rao(*args):
    out = args[0]
    for b in args[1:]:
        out = np.stack([np.kron(out[:, c], b[:, c]) for c in range(out.shape[1])], 1)
    return out


CASES.append(dict(op="khatri_rao", inputs=[ints((2, 3)), ints((4, 3)), ints((2, 3))],
                  ref=khatri_rao, dtypes=NUMBERS_AND_BOOL[:-1], refuses=False, empty=False,
                  bad=[dict(inputs=[(2, 3), (2, 4)]), dict(inputs=[(2,), (2,)])]))

CASES = rotated(CASES)
