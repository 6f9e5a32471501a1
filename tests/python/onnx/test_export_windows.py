"""Windows, triangles, transforms and indices as ONNX operators."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_symbol, operators, positive

import mxnet as mx

S = mx.sym
x, y = S.var("x"), S.var("y")
WINDOWS = [((3, 2), {}, (9, 8)), ((2, 2), {"stride": (2, 3), "pad": (1, 1)}, (9, 8)),
           ((3, 3), {"dilate": (2, 1), "pad": (2, 0), "stride": (1, 2)}, (9, 8)), ((3,), {"stride": (2,)}, (10,))]


@pytest.mark.parametrize("kernel, more, size", WINDOWS)
def test_im2col(kernel, more, size, tmp_path):
    check_symbol(S.im2col(x, kernel=kernel, **more), {"x": around_zero(2, 3, *size)}, {}, tmp_path)


@pytest.mark.parametrize("opset", [13, 17, 18, 20])
@pytest.mark.parametrize("kernel, more, size", WINDOWS)
def test_col2im(kernel, more, size, opset, tmp_path):
    columns = mx.nd.im2col(mx.nd.ones((2, 3, *size)), kernel=kernel, **more).shape
    made = S.col2im(x, output_size=size, kernel=kernel, **more)
    path = check_symbol(made, {"x": around_zero(*columns)}, {}, tmp_path, opset_version=opset)
    assert ("Col2Im" in operators(path)) == (opset >= 18 and len(kernel) == 2)     # ONNX Runtime is wrong about others


def test_col2im_of_a_free_batch(tmp_path):
    made = S.col2im(S.relu(S.im2col(x, kernel=(2, 2), stride=(2, 2))), output_size=(4, 6), kernel=(2, 2), stride=(2, 2))
    check_symbol(made, {"x": around_zero(3, 2, 4, 6)}, {}, tmp_path, dynamic=True, opset_version=18,
                 dynamic_input_shapes=[("batch", 2, 4, 6)])


@pytest.mark.parametrize("opset", [13, 17, 20])
def test_fourier_transforms(opset, tmp_path):
    check_symbol(S.contrib.fft(x), {"x": around_zero(3, 8)}, {}, tmp_path, opset_version=opset)
    check_symbol(S.contrib.fft(x), {"x": around_zero(2, 3, 2, 6)}, {}, tmp_path, opset_version=opset)
    check_symbol(S.contrib.ifft(S.contrib.fft(x) * 2), {"x": around_zero(3, 8)}, {}, tmp_path, opset_version=opset)
    check_symbol(S.contrib.fft(x), {"x": around_zero(3, 7)}, {}, tmp_path, opset_version=opset)


@pytest.mark.parametrize("offset", [0, 1, -2])
def test_diagonals_and_triangles(offset, tmp_path):
    matrices = {"x": around_zero(2, 4, 4)}
    check_symbol(S.linalg.extractdiag(x, offset=offset), matrices, {}, tmp_path)
    check_symbol(S.linalg.makediag(x, offset=offset), {"x": around_zero(2, 3)}, {}, tmp_path)
    for lower in (True, False):
        triangle = S.linalg.extracttrian(x, offset=offset, lower=lower)
        check_symbol(triangle, matrices, {}, tmp_path)
        check_symbol(S.linalg.maketrian(triangle, offset=offset, lower=lower), matrices, {}, tmp_path)


def test_products_of_triangles(tmp_path):
    square, other = around_zero(2, 3, 3), around_zero(2, 3, 3, seed=4)
    for more in ({}, {"transpose": True}, {"lower": False}, {"rightside": True, "alpha": 2.0}, {"rightside": True, "transpose": True}):
        check_symbol(S.linalg.trmm(x, y, **more), {"x": square, "y": other}, {}, tmp_path)
    check_symbol(S.linalg.sumlogdiag(x), {"x": positive(2, 3, 3)}, {}, tmp_path)
    check_symbol(S.khatri_rao(x, y), {"x": around_zero(2, 3), "y": around_zero(4, 3)}, {}, tmp_path)


def test_indices_of_several_dimensions(tmp_path):
    places = np.array([[1, 0, 2], [3, 1, 0]], np.float32)
    check_symbol(S.ravel_multi_index(x, shape=(3, 4)), {"x": places}, {}, tmp_path)
    for shape in ((3, 4), (2, 3, 2), (12,), (-1, 4)):
        check_symbol(S.unravel_index(x, shape=shape), {"x": np.array([7, 0, 11], np.float32)}, {}, tmp_path)


def test_comparisons_of_whole_arrays(tmp_path):
    one = around_zero(2, 3)
    for other in (one, one + 1e-7, one + 1, np.full_like(one, np.nan)):
        check_symbol(S.contrib.allclose(x, y), {"x": one, "y": other.astype(np.float32)}, {}, tmp_path)
        check_symbol(S.all_finite(x), {"x": other.astype(np.float32)}, {}, tmp_path)
    check_symbol(S.all_finite(x), {"x": np.array([1, np.inf], np.float32)}, {}, tmp_path)
    check_symbol(S.contrib.allclose(x, y, equal_nan=False), {"x": one, "y": one}, {}, tmp_path)


def test_estimators_that_pass_gradients_on(tmp_path):
    numbers = {"x": np.array([-2.5, -1.5, -0.4, 0, 0.5, 1.5], np.float32)}
    check_symbol(S.contrib.round_ste(x), numbers, {}, tmp_path)
    check_symbol(S.contrib.sign_ste(x), numbers, {}, tmp_path)




def test_onehot_encode(tmp_path):
    check_symbol(S._internal._onehot_encode(x, y), {"x": np.array([1, 0, 3], np.float32), "y": np.zeros((3, 4), np.float32)}, {}, tmp_path)


def test_numpy_functions(tmp_path):
    a, b = S.var("x").as_np_ndarray(), S.var("y").as_np_ndarray()
    check_symbol(S.np.ediff1d(a), {"x": around_zero(2, 3)}, {}, tmp_path)
    check_symbol(S.np.ediff1d(a, to_begin=1.0, to_end=2.0), {"x": around_zero(5)}, {}, tmp_path)
    check_symbol(S.np.polyval(a, b), {"x": around_zero(3), "y": around_zero(2, 2)}, {}, tmp_path)
    check_symbol(S.np.polyval(a, b), {"x": around_zero(1), "y": around_zero(2, 2)}, {}, tmp_path)
    check_symbol(S.np.linalg.det(a), {"x": around_zero(2, 3, 3)}, {}, tmp_path)


def test_models_that_were_onnx_before(tmp_path):
    """What `to_block` makes of x * sigmoid(x) and of HardSwish."""
    import onnx_checks
    from onnx import TensorProto, helper
    nodes = [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["x", "s"], ["t"]),
             helper.make_node("HardSwish", ["t"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    block = mx.onnx.load(model.SerializeToString()).to_block()
    onnx_checks.check_block(block, [around_zero(2, 3)], tmp_path)
