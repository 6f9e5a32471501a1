"""Linear algebra. Gradients of operators that read one triangle of a symmetric matrix are tested in
test_linalg.py."""
import numpy as np

from op_cases import rand

REALS = ["float32", "float64"]
CASES = []


def positive(*shape):
    """Positive definite matrices."""
    a = np.random.default_rng(5).uniform(-1, 1, shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


def regular(*shape):
    """Matrices far from singular ones."""
    return np.random.default_rng(6).uniform(-1, 1, shape) + 2.5 * np.eye(*shape[-2:])


def add(names, ref, *inputs, tol=20, bad=(), **more):
    """A case for one of the names in turn."""
    names = names if isinstance(names, list) else ["_" + names, names] if names.startswith("linalg") else [names]
    at = sum(case["op"] in names for case in CASES) % len(names)
    CASES.append(dict(op=names[at], ref=ref, inputs=list(inputs), dtypes=REALS, tol=tol,
                      empty=more.pop("empty", False),
                      bad=[b if "inputs" in b or "attrs" in b else dict(attrs=b) for b in bad], **more))


def turn(a):
    return np.swapaxes(a, -1, -2)


# ---- products
def gemm2(a, b, transpose_a=False, transpose_b=False, alpha=1, axis=-2):
    a, b = np.moveaxis(a, axis, -2), np.moveaxis(b, axis, -2)
    return np.moveaxis(alpha * (turn(a) if transpose_a else a) @ (turn(b) if transpose_b else b), -2, axis)


def gemm(a, b, c, beta=1, **attrs):
    return gemm2(a, b, **attrs) + (beta * c if beta else 0)


for _ta, _tb in [(False, False), (True, False), (False, True), (True, True)]:
    _a, _b = (3, 2) if not _ta else (2, 3), (2, 4) if not _tb else (4, 2)
    for _lead in [(), (2,), (2, 1)]:
        _attrs = dict(transpose_a=_ta, transpose_b=_tb, alpha=0.5)
        add("linalg_gemm2", gemm2, _lead + _a, _lead + _b, attrs=_attrs, grad=True, grad2=not _lead,
            bad=[dict(axis=-1), dict(axis=7), dict(inputs=[(3, 5), (3, 4, 2)]), dict(inputs=[(3, 5), (4, 4)]),
                 dict(inputs=[(3,), (3,)]), dict(inputs=[(2, 3, 3), (1, 3, 3)])])
        add("linalg_gemm", gemm, _lead + _a, _lead + _b, _lead + (3, 4), attrs=dict(_attrs, beta=-2.0), grad=True,
            grad2=not _lead, bad=[dict(axis=-1), dict(inputs=[(3, 2), (2, 4), (3, 3)])])
add("linalg_gemm2", gemm2, (3, 2), (2, 4), grad=True, empty=[(0, 2), (2, 4)])
add("linalg_gemm2", gemm2, (5, 70, 64), (5, 64, 33))
add("linalg_gemm", gemm, (3, 2), (2, 4), (3, 4), grad=True, empty=[(3, 0), (0, 4), (3, 4)])
add("linalg_gemm", gemm, (3, 2), (2, 4), np.full((3, 4), np.nan), attrs=dict(beta=0.0))
for _axis, _a, _b, _c in [(0, (3, 2, 2), (2, 2, 4), (3, 2, 4)), (1, (2, 3, 2, 2), (2, 2, 2, 4), (2, 3, 2, 4)),
                          (-3, (2, 3, 2, 2), (2, 2, 2, 4), (2, 3, 2, 4)), (-4, (3, 2, 2, 2), (2, 2, 2, 4), (3, 2, 2, 4))]:
    add("linalg_gemm2", gemm2, _a, _b, attrs=dict(axis=_axis), grad=True, grad2=True)
    add("linalg_gemm", gemm, _a, _b, _c, attrs=dict(axis=_axis, alpha=2.0, beta=0.5), grad=True, grad2=True)


def syrk(a, transpose=False, alpha=1):
    return alpha * (turn(a) @ a if transpose else a @ turn(a))


add("linalg_syrk", syrk, (3, 2), grad=True, grad2=True, empty=[(2, 3, 0)], bad=[dict(inputs=[(3,)])])
add("linalg_syrk", syrk, (2, 3, 4), attrs=dict(transpose=True, alpha=-0.5), grad=True, grad2=True, empty=[(2, 0, 3)])
add("linalg_syrk", syrk, (2, 90, 70))


# ---- triangles
def trmm(a, b, transpose=False, rightside=False, lower=True, alpha=1):
    a = np.tril(a) if lower else np.triu(a)
    a = turn(a) if transpose else a
    return alpha * (b @ a if rightside else a @ b)


def trsm(a, b, transpose=False, rightside=False, lower=True, alpha=1):
    a = np.tril(a) if lower else np.triu(a)
    a = turn(a) if transpose else a
    return alpha * (turn(np.linalg.solve(turn(a), turn(b))) if rightside else np.linalg.solve(a, b))


for _t in (False, True):
    for _r in (False, True):
        for _l in (False, True):
            _attrs = dict(transpose=_t, rightside=_r, lower=_l, alpha=1.5)
            _b = (2, 4, 3) if _r else (2, 3, 4)
            for _name, _f in [("linalg_trmm", trmm), ("linalg_trsm", trsm)]:
                add(_name, _f, regular(2, 3, 3), _b, attrs=_attrs, grad=True, grad2=True,
                    bad=[dict(inputs=[(2, 3, 2), _b]), dict(inputs=[(3, 3), _b]), dict(inputs=[(2, 5, 5), _b]),
                         dict(inputs=[(3,), (3,)])])
                add(_name, _f, regular(37, 37) * 3, (5, 37) if _r else (37, 5), attrs=_attrs, tol=100)
                add(_name, _f, regular(130, 130) * 9, (9, 130) if _r else (130, 9), attrs=_attrs, tol=200)
add("linalg_trmm", trmm, (3, 3), (3, 2), empty=[(0, 3, 3), (0, 3, 2)])
add("linalg_trsm", trsm, regular(3, 3), (3, 2), attrs=dict(alpha=0.0), grad=True)
add("linalg_trsm", trsm, regular(3, 3), (3, 2), empty=[(0, 3, 3), (0, 3, 2)])


def places(n, offset, lower):
    m = n - abs(offset)
    low = offset < 0 or (offset == 0 and lower)
    rows, columns = np.tril_indices(m)
    rows, columns = (rows, columns) if low else (columns, rows)
    return rows + max(-offset, 0), columns + max(offset, 0)


def extracttrian(a, offset=0, lower=True):
    return a[(..., *places(a.shape[-1], offset, lower))]


def maketrian(a, offset=0, lower=True):
    n = int(round((np.sqrt(8 * a.shape[-1] + 1) - 1) / 2)) + abs(offset)
    out = np.zeros(a.shape[:-1] + (n, n))
    out[(..., *places(n, offset, lower))] = a
    return out


def extractdiag(a, offset=0):
    return np.diagonal(a, offset, -2, -1)


def makediag(a, offset=0):
    return np.apply_along_axis(np.diag, -1, a, offset) if a.size else np.zeros(a.shape + (a.shape[-1],))


for _k in (0, 1, -1, 2, -2):
    add("linalg_extractdiag", extractdiag, (2, 4, 4), attrs=dict(offset=_k), grad=True, grad2=True, tol=1,
        bad=[dict(offset=5), dict(offset=-5), dict(inputs=[(2, 3)]), dict(inputs=[(3,)]), dict(offset=2**31 - 1)])
    add("linalg_makediag", makediag, (2, 3), attrs=dict(offset=_k), grad=True, grad2=True, tol=1, bad=[dict(offset=2**31 - 1)])
    for _l in (True, False):
        add("linalg_extracttrian", extracttrian, (2, 4, 4), attrs=dict(offset=_k, lower=_l), grad=True, grad2=True, tol=1,
            bad=[dict(offset=5), dict(inputs=[(2, 3)])])
        add("linalg_maketrian", maketrian, (2, 6), attrs=dict(offset=_k, lower=_l), grad=True, grad2=True, tol=1,
            bad=[dict(inputs=[(2, 5)]), dict(offset=2**31 - 1)])
add("linalg_extractdiag", extractdiag, (3, 3), empty=[(0, 3, 3)], tol=1)
add("linalg_makediag", makediag, (3,), empty=[(2, 0)], tol=1)
add("linalg_extracttrian", extracttrian, (3, 3), empty=[(2, 0, 0)], tol=1)
add("linalg_maketrian", maketrian, (3,), empty=[(0, 3)], tol=1)


# ---- factorizations
def cholesky(a, lower=True):
    a = np.tril(a) if lower else turn(np.triu(a))
    whole = a + turn(a) * (1 - np.eye(a.shape[-1]))
    return np.linalg.cholesky(whole) if lower else turn(np.linalg.cholesky(whole))


NOT_SQUARE = [dict(inputs=[(2, 3)]), dict(inputs=[(2, 2, 3)]), dict(inputs=[(3,)])]
NOT_POSITIVE = [dict(inputs=[np.array([[1, 2], [2, 1.0]])]), dict(inputs=[np.zeros((2, 2))]),
                dict(inputs=[np.array([np.eye(100), -np.eye(100)])])]
for _a in (positive(3, 3), positive(2, 2, 4, 4), positive(5, 33, 33), positive(61, 61), positive(2, 100, 100), np.array([[4.0]]),
           np.array([[4, 99.0], [1, 3]])):
    add("linalg_potrf", cholesky, _a, bad=NOT_SQUARE + NOT_POSITIVE, tol=100)
    add("_npi_cholesky", cholesky, _a, bad=NOT_SQUARE + NOT_POSITIVE, tol=100)
    for _name in ("linalg_potrf", "_npi_cholesky"):
        add(_name, cholesky, turn(_a), attrs=dict(lower=False), bad=NOT_POSITIVE, tol=100)
add("linalg_potrf", cholesky, positive(2, 2), empty=[(2, 0, 0)])


def potri(a, lower=True):
    factor = np.tril(a if lower else turn(a))
    return np.linalg.inv(factor @ turn(factor))


ZERO_DIAGONAL = [dict(inputs=[np.array([[1, 0], [1, 0.0]])]), dict(inputs=[np.zeros((90, 90))])]
add("linalg_potri", potri, regular(3, 3), grad=True, grad2=True, bad=NOT_SQUARE + ZERO_DIAGONAL, tol=100)
add("linalg_potri", potri, regular(2, 2, 2), grad=True, grad2=True, empty=[(0, 2, 2)], tol=100)
add("linalg_potri", potri, regular(3, 40, 40) * 3, tol=1000)
add("linalg_potri", potri, regular(2, 90, 90) * 5, tol=1000)
add("linalg_potri", potri, regular(2, 3, 3), attrs=dict(lower=False), grad=True, grad2=True, bad=ZERO_DIAGONAL, tol=100)
add("linalg_potri", potri, regular(2, 90, 90) * 5, attrs=dict(lower=False), tol=1000)


def sumlogdiag(a):
    sums = np.log(np.diagonal(a, 0, -2, -1)).sum(-1)
    return sums if a.ndim > 2 else sums.reshape(1)


add("linalg_sumlogdiag", sumlogdiag, rand((3, 3), 0.5, 3), grad=True, grad2=True, bad=NOT_SQUARE, empty=[(0, 0)])
add("linalg_sumlogdiag", sumlogdiag, rand((2, 1, 3, 3), 0.5, 3), grad=True, grad2=True, empty=[(0, 3, 3)])
add("linalg_sumlogdiag", sumlogdiag, np.array([[[0.0, 1], [1, 1]], [[-1, 1], [1, 1]]]))


def gelqf(a):
    batch = a.reshape((-1,) + a.shape[-2:])
    parts = [np.linalg.qr(m.T) for m in batch]
    rows = a.shape[:-1]
    return [np.array([q.T for q, _ in parts]).reshape(a.shape), np.array([r.T for _, r in parts]).reshape(rows + rows[-1:])]


add("linalg_gelqf", gelqf, (2, 3), grad=True, grad2=True, grad_tol=1e-4, bad=[dict(inputs=[(3, 2)]), dict(inputs=[(3,)])], tol=100)
for _s in [(2, 1, 3), (3, 2, 2), (1, 1), (1, 4)]:
    add("linalg_gelqf", gelqf, _s, grad=True, grad2=True, grad_tol=1e-4, tol=100)
add("linalg_gelqf", gelqf, np.array([[1.0, 1], [1, 1]]))
add("linalg_gelqf", gelqf, np.array([[0.0, 0], [0, 0]]))
add("linalg_gelqf", gelqf, np.random.default_rng(1).normal(size=(2, 40, 60)), tol=1000)
add("linalg_gelqf", gelqf, np.random.default_rng(1).normal(size=(2, 80, 200)), tol=1000)


def syevd(a):
    w, v = np.linalg.eigh(a)
    u = turn(v)
    top = np.take_along_axis(u, np.abs(u).argmax(-1)[..., None], -1)
    return [u * np.sign(top), w]


for _a in (positive(2, 2), positive(2, 3, 4, 4) - 2 * np.eye(4), np.array([[-3.0]]), np.array([[4.0, 99], [1, 3]]),
           positive(30, 30) + np.diag(np.arange(30)), positive(51, 51) + np.diag(np.arange(51)),
           positive(2, 90, 90) + 3 * np.diag(np.arange(90))):
    add("_linalg_syevd", syevd, _a, bad=NOT_SQUARE, tol=2000)
for _n in (3, 50):
    _a = np.ones((_n, _n))
    _a[1, 0] = np.nan
    add("_linalg_syevd", lambda a: [np.full(a.shape, np.nan), np.full(a.shape[0], np.nan)], _a)
add("_linalg_syevd", lambda a: [a, np.ones(a.shape[-1])], np.eye(3), empty=[(0, 0)])


# ---- inverses and determinants
SINGULAR = [dict(inputs=[np.array([[1.0, 2], [2, 4]])]), dict(inputs=[np.zeros((3, 2, 2))]), dict(inputs=[np.ones((100, 100))])]
INVERSES = ["_linalg_inverse", "linalg_inverse", "_npi_inv"]
add(INVERSES, np.linalg.inv, regular(3, 3), grad=True, grad2=True, bad=NOT_SQUARE + SINGULAR, empty=[(2, 0, 0)])
add(INVERSES, np.linalg.inv, regular(2, 2, 2, 2)[..., ::-1, :], grad=True, empty=[(0, 2, 2)])
add(INVERSES, np.linalg.inv, np.array([[0.0, 1], [2, 0]]), grad=True)
for _n in (1, 4, 7, 9, 31, 45, 64, 65, 100):
    add(INVERSES, np.linalg.inv, np.random.default_rng(_n).permutation(regular(2, _n, _n) * 3, axis=1), tol=1000)


def number(f):
    def of(a):
        out = f(a)
        out = list(out) if isinstance(out, tuple) else [out]
        return [o if a.ndim > 2 else np.reshape(o, (1,)) for o in map(np.asarray, out)]
    return of


def listed(f):
    def of(a):
        out = f(a)
        return [np.asarray(o) for o in (out if isinstance(out, tuple) else (out,))]
    return of


for _a in (regular(3, 3), -regular(2, 2, 4, 4), np.array([[-2.0]]), np.array([[0.0, 1], [2, 0]])):
    for _name, _f in [("linalg_det", number(np.linalg.det)), ("linalg_slogdet", number(np.linalg.slogdet)),
                      ("_npi_det", listed(np.linalg.det)), ("_npi_slogdet", listed(np.linalg.slogdet))]:
        add(_name, _f, _a, grad=True, grad2=True, bad=NOT_SQUARE, empty=[(0, 3, 3)], tol=200)
for _n in (7, 16, 40, 65, 100):
    add("linalg_det", number(np.linalg.det), regular(2, _n, _n)[..., ::-1, :] * 0.5, tol=1e4)
    add("linalg_slogdet", number(np.linalg.slogdet), regular(2, _n, _n)[..., ::-1, :] * 3, tol=1e4)


def zero(outs, inputs, attrs):
    np.testing.assert_allclose(outs[0], 0, atol=1e-5)


# the gradient of a determinant is the cofactors, also of singular matrices
for _a in ([[1.0, 2], [2, 4]], np.zeros((2, 2)), np.zeros((1, 1)), [[1.0, 2, 3], [4, 5, 6], [5, 7, 9]],
           [[[1.0, 2, 3], [2, 4, 6], [3, 6, 9]], [[0.0, 0, 0], [0, 5, 6], [0, 6, 9]]]):
    CASES.append(dict(op="_linalg_det", inputs=[np.array(_a)], check=zero, dtypes=REALS, grad=True))
add("linalg_slogdet", number(np.linalg.slogdet), np.array([[1.0, 2], [2, 4]]))
