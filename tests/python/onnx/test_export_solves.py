"""Factors, inverses and systems of equations in exported models."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_symbol

import mxnet as mx

S = mx.sym
x, y = S.var("x"), S.var("y")


def positive_definite(*shape):
    matrices = around_zero(*shape)
    return (matrices @ matrices.swapaxes(-1, -2) + np.eye(shape[-1])).astype("float32")


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 3, 5, 5)])
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(shape, lower, tmp_path):
    matrices = {"x": positive_definite(*shape)}
    check_symbol(S.linalg.potrf(x, lower=lower), matrices, {}, tmp_path)
    check_symbol(S.linalg.potri(S.linalg.potrf(x, lower=lower), lower=lower), matrices, {}, tmp_path, 1e-3)
    check_symbol(S.linalg.potri(x, lower=lower), {"x": around_zero(*shape) + 3 * np.eye(shape[-1], dtype="float32")}, {}, tmp_path)
    check_symbol(S.np.linalg.cholesky(x.as_np_ndarray()), matrices, {}, tmp_path)


@pytest.mark.parametrize("rightside", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("lower", [True, False])
def test_triangular_systems(lower, transpose, rightside, tmp_path):
    triangle = around_zero(2, 4, 4) + 3 * np.eye(4, dtype="float32")
    other = around_zero(*((2, 3, 4) if rightside else (2, 4, 3)))
    made = S.linalg.trsm(x, y, lower=lower, transpose=transpose, rightside=rightside, alpha=1.5)
    check_symbol(made, {"x": triangle, "y": other}, {}, tmp_path)


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (3, 2, 4, 4)])
def test_inverses_and_determinants(shape, tmp_path):
    matrices = {"x": around_zero(*shape)}
    check_symbol(S.linalg.inverse(x), matrices, {}, tmp_path, 1e-3)
    check_symbol(S.np.linalg.inv(x.as_np_ndarray()), matrices, {}, tmp_path, 1e-3)
    check_symbol(S.Group(list(S.linalg.slogdet(x))), matrices, {}, tmp_path)
    check_symbol(S.Group(list(S.np.linalg.slogdet(x.as_np_ndarray()))), matrices, {}, tmp_path)


def test_pivots_of_zero(tmp_path):
    turned = np.array([[0, 2, 0], [0, 0, 3], [4, 0, 0]], np.float32)
    check_symbol(S.linalg.inverse(x), {"x": turned}, {}, tmp_path)
    check_symbol(S.Group(list(S.linalg.slogdet(x))), {"x": turned[[1, 0, 2]]}, {}, tmp_path)
    check_symbol(S.Group(list(S.linalg.slogdet(x))), {"x": turned * [[1], [0], [1]]}, {}, tmp_path)


def test_a_free_batch(tmp_path):
    check_symbol(S.linalg.inverse(x), {"x": around_zero(3, 4, 4)}, {}, tmp_path, 1e-3, dynamic=True,
                 dynamic_input_shapes=[("batch", 4, 4)])


@pytest.mark.parametrize("left, right", [((4, 4), (4, 2)), ((4, 4), (4,)), ((2, 3, 3), (2, 3, 2)), ((2, 3, 3), (2, 3, 1))])
def test_systems(left, right, tmp_path):
    a, b = x.as_np_ndarray(), y.as_np_ndarray()
    check_symbol(S.np.linalg.solve(a, b), {"x": around_zero(*left), "y": around_zero(*right)}, {}, tmp_path, 1e-3)


def test_systems_of_tensors(tmp_path):
    a, b = x.as_np_ndarray(), y.as_np_ndarray()
    check_symbol(S.np.linalg.tensorinv(a, ind=1), {"x": around_zero(6, 2, 3)}, {}, tmp_path, 1e-3)
    check_symbol(S.np.linalg.tensorsolve(a, b), {"x": around_zero(2, 3, 6), "y": around_zero(2, 3)}, {}, tmp_path, 1e-3)
    check_symbol(S.np.linalg.tensorsolve(a, b, axes=(1,)), {"x": around_zero(2, 6, 3), "y": around_zero(2, 3)}, {}, tmp_path, 1e-3)


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (2, 4, 3), (1, 1)])
def test_orthogonal_factors(shape, tmp_path):
    check_symbol(S.Group(list(S.np.linalg.qr(x.as_np_ndarray()))), {"x": around_zero(*shape)}, {}, tmp_path, 1e-3)
    if shape[-2] <= shape[-1]:
        check_symbol(S.Group(list(S.linalg.gelqf(x))), {"x": around_zero(*shape)}, {}, tmp_path, 1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtypes(dtype, tmp_path):
    given = S.var("x", dtype=dtype)
    check_symbol(S.linalg.inverse(given), {"x": around_zero(4, 4).astype(dtype)}, {}, tmp_path)
    check_symbol(S.linalg.potrf(given), {"x": positive_definite(4, 4).astype(dtype)}, {}, tmp_path)
