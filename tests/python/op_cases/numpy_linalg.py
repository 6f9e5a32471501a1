"""Products and linear algebra of NumPy programs. test_numpy_linalg.py has gradients of
factorizations and what is not one fixed array."""
import numpy as np

from op_cases import FLOATS, NUMBERS, ints, rand
from op_cases.linalg import positive, regular, turn

REALS = ["float32", "float64"]
CASES = []
COVERED_ELSEWHERE = {name: "test_numpy_linalg.py" for name in (
    "_npi_lstsq", "_npi_backward_polyval")}


def add(op, ref, inputs, **more):
    more.setdefault("empty", False)
    CASES.append(dict(op=op, ref=ref, inputs=inputs, refuses=False, **more))


# ---- products of two arrays
def products(op, ref, shapes, bad=(), grad2=(), **attrs):
    names = op if isinstance(op, list) else [op]
    for i, (a, b) in enumerate(shapes):
        add(names[i % len(names)], ref, [a, b], attrs=attrs, grad=True, grad2=i in grad2, tol={"float16": 6e-3, "bfloat16": 5e-2,
            "float32": 1e-5, "float64": 1e-12}, bad=[dict(inputs=list(s)) for s in bad])
        add(names[i % len(names)], ref, [ints(a), ints(b)], attrs=attrs, dtypes=["int32", "int64", "uint8", "int8", "bool"])


products(["_np_dot", "_npi_dot"], np.dot,
         [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((2, 2, 3), (5, 3, 4)),
          ((), (2, 3)), ((2,), ()), ((), ()), ((0, 3), (3, 2)), ((2, 0), (0, 3))], bad=[((2, 3), (2, 3)), ((3,), (4,))], grad2=(3, 5, 7))
products("_npi_matmul", np.matmul,
         [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)),
          ((2, 2, 1, 3), (2, 2, 3, 2)),
          ((1, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)), ((3,), (5, 3, 4)), ((5, 4, 3), (3,)), ((0, 2, 3), (1, 3, 4)), ((4, 2, 0), (0,
              3))],
         bad=[((2, 3), (2, 3)), ((), (3,)), ((2, 2, 3), (3, 3, 3))], grad2=(3, 7, 9))
products("_matmul_transposed", lambda a, b: np.matmul(a, np.swapaxes(b, -1, -2)),
         [((2, 3), (4, 3)), ((2, 2, 3), (4, 3)), ((2, 3), (5, 4, 3)), ((5, 2, 3), (5, 4, 3)), ((1, 2, 3), (5, 4, 3)),
          ((6, 1, 2, 3), (5, 4, 3)), ((2, 5, 1, 3), (2, 5, 4, 3)), ((0, 2, 3), (1, 4, 3)), ((4, 2, 0), (3, 0))],
         bad=[((2, 3), (3, 2)), ((3,), (3, 3)), ((2, 2, 3), (3, 3, 3))], grad2=(3, 5))
products("_npi_kron", np.kron, [((2, 3), (3, 2)), ((2,), (3,)), ((2, 3), (2,)), ((2,), (2, 3)), ((2, 1, 2), (3, 2)), ((), (2,)), ((), ()),
                                ((0,), (2,))], grad2=(0, 3))
for _axes, _shapes in [(1, [((2, 3), (3, 4)), ((3,), (3,)), ((2, 0), (0, 2))]), (2, [((2, 3, 4), (3, 4, 5))]), (0, [((2, 3), (4,)), ((),
    ())])]:
    products("_npi_tensordot_int_axes", lambda a, b, axes: np.tensordot(a, b, axes), _shapes, grad2=(0,), axes=_axes)
add("_npi_tensordot_int_axes", lambda a, b, axes: np.tensordot(a, b, axes), [(2, 3), (3, 2)], attrs=dict(axes=1),
    bad=[dict(attrs=dict(axes=a)) for a in (3, -1, 2)], tol=8)
for _a, _b, _shapes in [((1, 2), (1, 0), ((2, 3, 4), (4, 3, 5))), ((0,), (-1,), ((2, 3, 4), (5, 2))), ((), (), ((3,), (4,)))]:
    products("_npi_tensordot", lambda a, b, a_axes_summed, b_axes_summed: np.tensordot(a, b, (a_axes_summed, b_axes_summed)), [_shapes],
             grad2=(0,), a_axes_summed=_a, b_axes_summed=_b)
add("_npi_tensordot", lambda a, b, a_axes_summed, b_axes_summed: np.tensordot(a, b, (a_axes_summed, b_axes_summed)), [(2, 3), (3, 2)],
    attrs=dict(a_axes_summed=(1,), b_axes_summed=(0,)), tol=8,
    bad=[dict(attrs=dict(a_axes_summed=a, b_axes_summed=b)) for a, b in [((1,), (1,)), ((2,), (0,)), ((1, 0), (0,)), ((1, 1), (0, 0))]])

# ---- einsum
EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ii", (3, 3)), ("ii->i", (3, 3)), ("ij->ji", (2, 3)), ("ij->", (2, 3)),
    ("ij->j", (2, 3)), ("i,i", (3,), (3,)), ("i,j->ij", (2,), (3,)), ("...j,j", (2, 3, 4), (4,)), ("...ij,...jk->...ik", (2, 3, 4), (5, 1,
        4, 2)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bij,bkj->bki", (2, 3, 4), (2, 5, 4)), ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 5), (5, 2)), ("i,->i", (3,), ()), (",", (), ()),
    ("iij->j", (3, 3, 2)), ("iij,jk->ik", (3, 3, 2), (2, 4)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij,ij->ij", (2, 3), (1, 3)),
    ("i...->...", (3, 2, 4)), ("...->...", (2, 3)), ("ijij->ij", (2, 3, 2, 3)), ("ij,kj->", (2, 3), (4, 3)), ("nchw,ck->nkhw", (2, 3, 4,
        5), (3, 6)),
    (" b i j , b j k -> b i k ", (2, 3, 4), (2, 4, 5)), ("ij,jk", (0, 3), (3, 4)), ("ij,jk", (2, 0), (0, 4)), ("Ab,bC", (2, 3), (3, 4)),
    ("a,a,a->a", (3,), (3,), (3,)), ("a,b,c", (2,), (3,), (4,)), ("ea,fb,abcd,gc,hd->efgh", (2, 2), (2, 3), (2, 3, 2, 3), (2, 2), (2, 3))]
BAD_EINSUMS = [("ij,jk", (2, 3), (4, 4)), ("ij", (2,)), ("i->ij", (2,)), ("i->ii", (2,)), ("i,i", (2,)), ("i$", (2,)), ("i..", (2,)),
               ("i->->", (2,)),
               ("...i->i", (2, 3)), ("......i", (2,))]


def einsum(*arrays, subscripts, num_args, optimize=0):
    return np.einsum(subscripts, *arrays)


for _i, (_text, *_shapes) in enumerate(EINSUMS):
    _attrs = dict(subscripts=_text, num_args=len(_shapes))
    add("_npi_einsum", einsum, list(_shapes), attrs=_attrs, grad=True, grad2=len(_shapes) < 4 and _i % 3 == 0,
        tol={"float16": 2e-2, "bfloat16": 2e-1, "float32": 1e-5, "float64": 1e-12}, dtypes=FLOATS if len(_shapes) < 4 else REALS)
    add("_npi_einsum", einsum, [ints(s) for s in _shapes], attrs=dict(_attrs, optimize=1), dtypes=["int32", "uint8", "bool"])
for _text, *_shapes in BAD_EINSUMS:
    add("_npi_einsum", einsum, [(2,)], attrs=dict(subscripts="i", num_args=1),
        bad=[dict(inputs=list(_shapes), attrs=dict(subscripts=_text, num_args=len(_shapes)))])


# ---- vectors that slide along each other
def slide(a, v, before=0, after=0, full=False, turned=True, reversed=False):  # pylint: disable=redefined-builtin
    more = v.size - 1 if full else 0
    sides = before + more, after + more
    whole = np.concatenate([np.zeros(max(sides[0], 0), a.dtype), a, np.zeros(max(sides[1], 0), a.dtype)])
    whole = whole[max(-sides[0], 0):whole.size - max(-sides[1], 0)]
    filter_ = v[::-1] if turned else v
    out = np.array([(whole[i:i + v.size] * filter_).sum() for i in range(whole.size - v.size + 1)], a.dtype)
    return out[::-1] if reversed else out


for _a, _v, _attrs in [((7,), (3,), {}), ((7,), (3,), dict(turned=False)), ((7,), (3,), dict(full=True)), ((3,), (7,), dict(full=True)),
                       ((7,), (4,), dict(before=2, after=1)), ((7,), (3,), dict(before=-1, after=2, turned=False, reversed=True)),
                       ((7,), (3,), dict(before=-1, after=-1, full=True, reversed=True)), ((5,), (5,), dict(turned=False, reversed=True)),
                       ((7,), (3,), dict(before=1, full=True, turned=False)), ((200,), (9,), {}), ((1,), (1,), {}),
                       ((2,), (3,), {}), ((3,), (0,), {}),
                       ((0,), (1,), dict(before=2)), ((5,), (2,), dict(full=True, turned=False, reversed=True))]:
    add("_npi_convolve", slide, [_a, _v], attrs=_attrs, grad=True, grad2=_a == (7,), dtypes=FLOATS,
        tol={"float16": 2e-2, "bfloat16": 2e-1, "float32": 1e-5, "float64": 1e-12},
        bad=[dict(inputs=[(2, 3), (3,)]), dict(attrs=dict(before=-999)), dict(inputs=[(3,), ()])])
    add("_npi_convolve", slide, [ints(_a), ints(_v)], attrs=_attrs, dtypes=["int32", "int64", "uint8", "int8"])

# ---- cross, trace, norm
for _a, _b, _attrs in [((2, 3), (2, 3), {}), ((3,), (3,), {}), ((2,), (2,), {}), ((4, 2), (4, 3), {}), ((4, 3), (4, 2), {}),
                       ((3, 4), (4, 3), dict(axisa=0)), ((5, 1, 3), (4, 3), {}), ((5, 4, 3), (5, 4, 3), dict(axisc=0)), ((0, 3), (0, 3),
                           {}),
                       ((5, 4, 2), (5, 4, 2), {}), ((2, 5, 3), (2, 3, 5), dict(axisb=1, axisc=1))]:
    def _cross(a, b, **attrs):
        full = [np.concatenate([np.moveaxis(v, attrs.get(k, -1), -1), np.zeros(np.moveaxis(v, attrs.get(k, -1), -1).shape[:-1] + (1,),
                                                                               v.dtype)],
                               -1)[..., :3] for v, k in ((a, "axisa"), (b, "axisb"))]
        out = np.cross(*full)
        flat = a.shape[attrs.get("axisa", -1)] == b.shape[attrs.get("axisb", -1)] == 2
        return out[..., 2] if flat else np.moveaxis(out, -1, attrs.get("axisc", -1))
    add("_npi_cross", _cross, [_a, _b], attrs=_attrs, dtypes=FLOATS + ["int32", "int64"], grad=True, grad2=_a == (5, 1, 3), tol=8,
        bad=[dict(inputs=[(4,), (4,)]), dict(inputs=[(2, 3), (4, 3)]), dict(attrs=dict(axisa=5))])
for _shape, _attrs in [((3, 3), {}), ((2, 4), dict(offset=1)), ((2, 4), dict(offset=-1)), ((2, 4), dict(offset=9)), ((2, 4),
    dict(offset=-2**31)),
                       ((2, 3, 4), dict(axis1=2, axis2=0)), ((2, 3, 4), dict(axis1=-1, axis2=1, offset=1)), ((1, 1), {}), ((0, 3), {}),
                       ((2, 0, 0), dict(axis1=1, axis2=2))]:
    for _name in ("_np_trace", "_npi_trace"):
        add(_name, lambda a, **attrs: np.trace(a, **dict(attrs, offset=int(np.clip(attrs.get("offset", 0), -99, 99)))), [_shape],
            attrs=_attrs,
            dtypes=NUMBERS, grad=True, grad2=True, tol=8,
            bad=[dict(inputs=[(3,)]), dict(attrs=dict(axis1=1, axis2=1)), dict(attrs=dict(axis1=7))])
for _shape in [(3,), (2, 3), (), (0,), (2, 3, 4)]:
    add("_npi_norm", lambda a: np.sqrt(np.sum(np.square(a))), [_shape], grad=True, grad2=True, tol=8)
add("_npi_norm", lambda a: np.sqrt(np.sum(np.square(a))), [np.zeros((2, 3))])
add("_npi_norm", lambda a: np.sqrt(np.sum(np.square(a))), [ints((2, 3))], dtypes=["int32", "int64"])


# ---- factorizations, whose results are not one fixed array
def orthonormal(v):
    np.testing.assert_allclose(turn(v) @ v, np.broadcast_to(np.eye(v.shape[-1]), v.shape[:-2] + (v.shape[-1],) * 2), atol=1e-4)


def check_svd(outs, inputs, attrs):
    u, s, v = outs
    np.testing.assert_allclose((u * s[..., None, :]) @ v, inputs[0], atol=1e-4)
    np.testing.assert_allclose(s, np.linalg.svd(inputs[0], compute_uv=False), atol=1e-4)
    orthonormal(u)
    orthonormal(turn(v))
    assert (np.take_along_axis(v, np.abs(v).argmax(-1)[..., None], -1) > 0).all()


def check_eig(outs, inputs, attrs):
    w, v = outs
    np.testing.assert_allclose(inputs[0] @ v, v * w[..., None, :], atol=1e-3)
    np.testing.assert_allclose(np.sum(np.square(v), -2), 1, atol=1e-4)


def symmetric(a, UPLO):
    part = np.tril(a) if UPLO == "L" else turn(np.triu(a))
    return part + turn(part) * (1 - np.eye(a.shape[-1]))


def check_eigh(outs, inputs, attrs):
    check_eig(outs, [symmetric(inputs[0], attrs["UPLO"])], attrs)
    np.testing.assert_allclose(outs[0], np.linalg.eigvalsh(symmetric(inputs[0], attrs["UPLO"])), atol=1e-3)


NOT_MATRICES = [dict(inputs=[(3,)]), dict(inputs=[()])]
NOT_SQUARE = NOT_MATRICES + [dict(inputs=[(2, 3)])]
MATRICES = [(2, 3), (3, 2), (3, 3), (2, 1, 4), (70, 90), (90, 70), (70, 200), (200, 70), (2, 0, 3), (0, 3, 3)]
for _shape in MATRICES:
    CASES.append(dict(op="_npi_svd", inputs=[_shape], check=check_svd, dtypes=REALS, refuses=False, bad=NOT_MATRICES, empty=False))
    add("_npi_svdvals", lambda a: np.linalg.svd(a, compute_uv=False), [_shape], dtypes=REALS, tol=2000, grad=max(_shape) < 5,
        bad=NOT_MATRICES)
    add("_npi_qr", lambda a: [np.concatenate(x).reshape(a.shape[:-2] + x[0].shape) if a.size else x for x in
                              (list(zip(*[np.linalg.qr(m) for m in a.reshape(-1, *a.shape[-2:])])) if a.size else
                               (np.zeros(a.shape[:-1] + (min(a.shape[-2:]),)), np.zeros(a.shape[:-2] + (min(a.shape[-2:]), a.shape[-1]))))],
        [_shape], dtypes=REALS, tol=2000, bad=NOT_MATRICES)
    if 0 not in _shape:
        add("_npi_pinv_scalar_rcond", lambda a, rcond: np.linalg.pinv(a, rcond), [_shape], attrs=dict(rcond=0.02), dtypes=REALS, tol=1e4,
            grad=max(_shape) < 5, grad2=_shape == (2, 3), bad=NOT_MATRICES)
        add("_npi_pinv", np.linalg.pinv, [_shape, np.full(_shape[:-2], 0.02)], dtypes=REALS, tol=1e4,
            grad=[0] if max(_shape) < 5 else False,
            bad=[dict(inputs=[(2, 3), (4,)])])
        add("_npi_matrix_rank", np.linalg.matrix_rank, [_shape, np.full(_shape[:-2], 0.02)], dtypes=REALS, out_dtype="int64",
            bad=[dict(inputs=[(2, 3), (4,)])])
        add("_npi_matrix_rank_none_tol", lambda a, finfoEps32, finfoEps64: np.linalg.matrix_rank(a), [_shape], dtypes=REALS,
            out_dtype="int64",
            attrs=dict(finfoEps32=1.19e-7, finfoEps64=2.2e-16))
add("_npi_pinv_scalar_rcond", lambda a, hermitian: np.linalg.pinv(symmetric(a, "L")), [positive(3, 3)], attrs=dict(hermitian=True),
    dtypes=REALS,
    tol=1e4, bad=[dict(inputs=[(2, 3)])])
add("_npi_matrix_rank_none_tol", lambda a, hermitian, **eps: np.array(2), [np.array([[1.0, 9], [0, 1]])], dtypes=REALS, out_dtype="int64",
    attrs=dict(hermitian=True, finfoEps32=1.19e-7, finfoEps64=2.2e-16))
for _values in ([0.0, 0, 1], [0.0, 0], 3.0, []):
    add("_npi_matrix_rank_none_tol", lambda a: np.array(int((a != 0).any())), [np.array(_values)], dtypes=REALS, out_dtype="int64")
for _shape in [(1, 1), (3, 3), (2, 4, 4), (70, 70)]:
    for _uplo in "LU":
        CASES.append(dict(op="_npi_eigh", inputs=[_shape], check=check_eigh, dtypes=REALS, refuses=False, attrs=dict(UPLO=_uplo),
                          empty=False,
                          bad=NOT_SQUARE + [dict(attrs=dict(UPLO="X"))]))
        add("_npi_eigvalsh", lambda a, UPLO: np.linalg.eigvalsh(symmetric(a, UPLO)), [_shape], dtypes=REALS, attrs=dict(UPLO=_uplo),
            tol=2000,
            bad=NOT_SQUARE)
    CASES.append(dict(op="_npi_eig", inputs=[positive(*_shape)], check=check_eig, dtypes=REALS, refuses=False, empty=False,
                      bad=NOT_SQUARE + [dict(inputs=[np.array([[0.0, -1], [1, 0]])])]))
_GENERAL = np.array([[2.0, 1, 0.5], [0.25, 3, 1], [-0.5, 0.125, -1]])
add("_npi_eigvals", np.linalg.eigvals, [_GENERAL], dtypes=REALS, tol=100, grad=True, bad=NOT_SQUARE)
CASES.append(dict(op="_npi_eig", inputs=[_GENERAL], check=check_eig, dtypes=REALS, refuses=False, empty=False, grad=True, grad2=True))

# ---- equations
_SINGULAR = dict(inputs=[np.zeros((2, 2)), (2,)])
for _a, _b in [(regular(3, 3), (3,)), (regular(3, 3), (3, 2)), (regular(2, 3, 3), (2, 3)), (regular(2, 3, 3), (2, 3, 4)), (np.zeros((0,
    0)), (0, 2))]:
    add("_npi_solve", lambda a, b: np.linalg.solve(a, b[..., None])[..., 0] if b.ndim < a.ndim else np.linalg.solve(a, b), [_a, _b],
        dtypes=REALS, tol=100, grad=True, grad2=True, bad=[_SINGULAR, dict(inputs=[(2, 3), (2,)]), dict(inputs=[(2, 2), (3,)]),
                                                           dict(inputs=[(2, 2), ()])])
for _n in (40, 65, 100):
    add("_npi_solve", np.linalg.solve, [regular(_n, _n) * 3, (_n, 7)], dtypes=REALS, tol=2000)
for _ind, _shape in [(2, (2, 3, 6)), (1, (6, 3, 2)), (1, (3, 3))]:
    add("_npi_tensorinv", np.linalg.tensorinv, [regular(*(int(np.prod(_shape)) // max(_shape),) * 2 if _shape != (3, 3) else (3,
        3)).reshape(_shape)],
        attrs=dict(ind=_ind), dtypes=REALS, tol=200, grad=True, grad2=True, bad=[dict(attrs=dict(ind=0)), dict(attrs=dict(ind=9)),
                                                                                 dict(inputs=[(2, 3)])])
for _a, _b, _axes in [(regular(6, 6).reshape(2, 3, 6), (2, 3), ()), (regular(6, 6).reshape(6, 2, 3), (2, 3), (0,)), (regular(3, 3), (3,),
    ()),
                      (regular(6, 6).reshape(2, 6, 3), (6,), (-1, 0))]:
    add("_npi_tensorsolve", lambda a, b, a_axes: np.linalg.tensorsolve(a, b, [k % a.ndim for k in a_axes] or None), [_a, _b],
        attrs=dict(a_axes=_axes), dtypes=REALS, tol=2000, grad=True, grad2=True,
        bad=[dict(inputs=[(2, 3), (2,)]), dict(attrs=dict(a_axes=(5,))), dict(attrs=dict(a_axes=(0, 0)))])

# ---- polynomials and interpolation
for _n in (0, 1, 2, 5):
    for _shape in [(), (3,), (2, 3), (200,), (0,)]:
        add("_npi_polyval", np.polyval, [rand((_n,), -1, 1), rand(_shape, -1, 1)], dtypes=FLOATS, grad=True, grad2=_n in (2,
            5) and _shape == (2, 3),
            tol={"float16": 1e-2, "bfloat16": 1e-1, "float32": 1e-5, "float64": 1e-12}, bad=[dict(inputs=[(2, 2), (3,)])])
        add("_npi_polyval", np.polyval, [ints((_n,)), ints(_shape)], dtypes=["int32", "int64", "int8", "uint8"])
_XP, _FP, _X = np.array([-1, 0, 0.5, 2]), np.array([3.0, 1, 4, 1]), np.array([[-3, -1, -0.25], [0.25, 2, 9]])
for _attrs in [{}, dict(left=-5.0, right=7.0), dict(period=1.5), dict(period=-1.5)]:
    add("_npi_interp", lambda xp, fp, x, **attrs: np.interp(x, xp, fp, **attrs), [_XP, _FP, _X], attrs=_attrs, dtypes=FLOATS + ["int32"],
        out_dtype="float64", tol=100, bad=[dict(inputs=[(0,), (0,), (2,)]), dict(inputs=[(2,), (3,), (2,)]), dict(attrs=dict(period=0))])
add("_npi_interp", lambda xp, fp, x_scalar, x_is_scalar: np.interp(x_scalar, xp, fp), [_XP, _FP], attrs=dict(x_scalar=0.75,
    x_is_scalar=True),
    out_dtype="float64")
