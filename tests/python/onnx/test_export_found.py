"""Failures of the exporter that searches among all operators, layers and opsets have found."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_block, check_symbol, onnx, operators

import mxnet as mx

S = mx.sym
x, y = S.var("x"), S.var("y")


def numpy_variables(*names):
    return [S.var(name).as_np_ndarray() for name in names]


# ---- opsets that have no operator for it

@pytest.mark.parametrize("opset", [13, 14])
@pytest.mark.parametrize("shape", [(4, 5), (2, 5, 3), (4,)])
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_triangles(opset, shape, k, tmp_path):
    a, = numpy_variables("x")
    for function in (S.np.tril, S.np.triu):
        path = check_symbol(function(a, k), {"x": around_zero(*shape)}, {}, tmp_path, opset_version=opset)
        assert ("Trilu" in operators(path)) == (opset >= 14 and len(shape) > 1)


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "bool"])
def test_bits(opset, dtype, tmp_path):
    a, b = numpy_variables("x", "y")
    if dtype == "bool":
        arrays = {"x": np.array([0, 0, 1, 1], dtype), "y": np.array([0, 1, 0, 1], dtype)}
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        rs = np.random.RandomState(0)
        arrays = {n: np.concatenate([ends, rs.randint(low, high, 20, dtype)]).astype(dtype)
                  for n, ends in (("x", [low, high, 0, 1]), ("y", [high, high, low, 3]))}
    functions = [S.np.bitwise_and, S.np.bitwise_or, S.np.bitwise_xor]
    for function in functions:
        check_symbol(function(a, b), arrays, {}, tmp_path, opset_version=opset)
    check_symbol(S.np.bitwise_not(a), {"x": arrays["x"]}, {}, tmp_path, opset_version=opset)


# ---- operators that had no converter

@pytest.mark.parametrize("blank", ["first", "last"])
@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("opset", [13, 21])
def test_ctc_loss(blank, steps, counts, opset, tmp_path):
    labels = np.array([[1, 2, 3], [1, 1, 0], [2, 0, 0], [3, 3, 3]], "float32") - (blank == "last")
    arrays, options = {"x": around_zero(8, 4, 5), "y": np.abs(labels) if counts else labels}, {}
    if steps:
        arrays["steps"], options["data_lengths"] = np.array([8, 5, 3, 4], "float32"), S.var("steps")
    if counts:
        arrays["counts"], options["label_lengths"] = np.array([3, 2, 0, 3], "float32"), S.var("counts")
    symbol = S.CTCLoss(x, y, blank_label=blank, use_data_lengths=steps, use_label_lengths=counts, **options)
    check_symbol(symbol, arrays, {}, tmp_path, opset_version=opset)


# ---- blocks whose attributes or Parameters have names that others have

class Named(mx.gluon.HybridBlock):
    """A block with an attribute of some name."""

    def __init__(self, name, kind, **kwargs):
        super().__init__(**kwargs)
        self._kind, self._name = kind, name
        with self.name_scope():
            self.dense = mx.gluon.nn.Dense(3, prefix="d_")
            if kind == "Parameter":
                setattr(self, name, self.params.get(name, shape=(3,), init="ones"))
            else:
                setattr(self, name, mx.gluon.nn.Dense(3, flatten=False, prefix="e_") if kind == "child" else lambda *_: 1 / 0)

    def hybrid_forward(self, F, a, **params):
        made = self.dense(a)
        if self._kind == "child":
            return getattr(self, self._name)(made)
        return F.broadcast_add(made, params[self._name]) if params else made


@pytest.mark.parametrize("name", ["data", "symbol", "get_params", "shape", "name_", "data0", "inputs"])
@pytest.mark.parametrize("kind", ["Parameter", "child", "method"])
@pytest.mark.parametrize("prefix", [None, ""])
def test_names_of_attributes(name, kind, prefix, tmp_path):
    block = Named(name, kind, prefix=prefix)
    block.initialize()
    check_block(block, [around_zero(2, 4)], tmp_path)


def test_a_block_is_no_module(tmp_path):
    block = Named("symbol", "method")
    block.get_params = None
    block.initialize()
    check_block(block, [around_zero(2, 4)], tmp_path)


# ---- dtypes

@pytest.mark.parametrize("opset", [13, 16])
def test_loops_of_bfloat16(opset, tmp_path):
    made, _ = S.contrib.foreach(lambda a, b: (S.sin(a) + b, S.sin(b) + a), x, y)
    arrays = {"x": mx.nd.ones((2, 3)).astype("bfloat16"), "y": mx.nd.ones((3,)).astype("bfloat16")}
    path = str(tmp_path / "model.onnx")
    if opset == 13:
        with pytest.raises(mx.MXNetError, match="Scan of bfloat16 in opset 13 cannot be exported; accepted: opset_version 16"):
            mx.onnx.export_model(made, {}, arrays, onnx_file_path=path, opset_version=opset)
        return
    mx.onnx.export_model(made, {}, arrays, onnx_file_path=path, opset_version=opset)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    inner, = (a.g for node in model.graph.node for a in node.attribute if a.name == "body")
    names = [node.name for node in (*model.graph.node, *inner.node)]
    assert len(set(names)) == len(names) and "Cast" in {node.op_type for node in inner.node}


BINARY = ["add", "multiply", "maximum", "minimum", "power", "mod", "fmod", "floor_divide", "copysign"]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "bool", "float32"])
def test_functions_of_small_numbers_and_of_zeros(name, dtype, tmp_path):
    """ONNX has few of them in 8 bits or for truth values, and runtimes refuse to divide by 0."""
    if dtype == "bool" and BINARY.index(name) > 3:
        return
    a, b = numpy_variables("x", "y")
    arrays = {"x": np.array([5, 3, 0, 7, 1, 2], dtype), "y": np.array([0, 2, 0, 3, 1, 1], dtype)}
    if dtype in ("int8", "int32", "float32"):
        arrays["x"][3] = -7
    if name == "floor_divide":
        arrays["x"][2] = 1      # 0 / 0
    check_symbol(getattr(S.np, name)(a, b), arrays, {}, tmp_path)
    check_symbol(getattr(S.np, name)(a, 2), {"x": arrays["x"]}, {}, tmp_path)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool"])
def test_sums_and_products_of_small_numbers(dtype, tmp_path):
    a, b = numpy_variables("x", "y")
    rs = np.random.RandomState(0)
    arrays = {n: rs.randint(0, 2 if dtype == "bool" else 3, (3, 3)).astype(dtype) for n in "xy"}
    for symbol in (S.np.dot(a, b), S.np.matmul(a, b), S.np.tensordot(a, b, axes=1), S.np.kron(a, b)):
        check_symbol(symbol, arrays, {}, tmp_path)
    if dtype != "bool":
        check_symbol(S.np.trace(a), {"x": arrays["x"]}, {}, tmp_path)


@pytest.mark.parametrize("opset", [16, 21])
def test_half_precision_that_readers_do_not_add(opset, tmp_path):
    a, b, v = numpy_variables("x", "y", "v")
    places = np.array([[0, 1, 0], [2, 0, 2]], "int64")
    check_symbol(S.npx.index_add(a, b, v), {"x": around_zero(2, 3).astype("float16"), "y": places,
                                            "v": around_zero(3).astype("float16")}, {}, tmp_path, 1e-2, opset_version=opset)


# ---- positions and lengths beyond the ends

def test_lengths_beyond_the_ends(tmp_path):
    arrays = {"x": around_zero(4, 3, 2), "y": np.array([0, 9, 2], "float32")}
    for name in ("SequenceLast", "SequenceReverse", "SequenceMask"):
        check_symbol(getattr(S, name)(x, y, use_sequence_length=True), arrays, {}, tmp_path)


@pytest.mark.parametrize("mode", ["reflect", "symmetric", "edge"])
def test_padding_larger_than_the_array(mode, tmp_path):
    a, = numpy_variables("x")
    for widths in (((1, 2), (0, 5)), ((3, 0), (0, 0))):
        check_symbol(S.np.pad(a, widths, mode=mode), {"x": around_zero(2, 3)}, {}, tmp_path)


def test_batch_take_of_several_dimensions(tmp_path):
    check_symbol(S.batch_take(x, y), {"x": around_zero(2, 3, 4), "y": np.array([[0, 3, 9], [2, -1, 0]], "int32")}, {}, tmp_path)


# ---- special shapes and options

def test_vectors_behind_transposed_matrices(tmp_path):
    """ONNX Runtime makes one node of Transpose and MatMul, which is wrong for vectors."""
    a, b = numpy_variables("x", "y")
    arrays = {"x": around_zero(3, 4), "y": around_zero(3)}
    check_symbol(S.dot(x, y, transpose_a=True), arrays, {}, tmp_path)
    check_symbol(S.dot(S.transpose(x), y), arrays, {}, tmp_path)
    for function in (S.np.dot, S.np.matmul):
        check_symbol(function(a.transpose(), b), arrays, {}, tmp_path)


def test_determinants_products_and_parts(tmp_path):
    a, b = numpy_variables("x", "y")
    check_symbol(S.linalg.det(x), {"x": around_zero(3, 3)}, {}, tmp_path)
    c = around_zero(3, 5)
    c[0, 0] = np.nan        # is not read
    check_symbol(S.linalg.gemm(x, y, S.var("z"), beta=0.0), {"x": around_zero(3, 4), "y": around_zero(4, 5), "z": c}, {}, tmp_path)
    check_symbol(S.np.einsum("...ij,...jk->...ik", a, b), {"x": around_zero(2, 3, 4), "y": around_zero(5, 2, 4, 3)}, {}, tmp_path)
    for equation in ("Ab,bC", "ij,jk", "Ba,aA->AB", "...i,...i"):
        check_symbol(S.np.einsum(equation, a, b), {"x": around_zero(3, 3), "y": around_zero(3, 3, seed=4)}, {}, tmp_path)
    check_symbol(S.Group(list(S.np.hsplit(a, [1, 3]))), {"x": around_zero(5)}, {}, tmp_path)
    check_symbol(S.np.roll(a, 2, axis=()), {"x": around_zero(2, 3)}, {}, tmp_path)
    counts = S.Group(list(S._internal._histogram(x, bin_cnt=3, range=(1, 1))))
    check_symbol(counts, {"x": np.array([0.4, 0.6, 1, 1, 1.4, 1.6], "float32")}, {}, tmp_path)


@pytest.mark.parametrize("opset", [13, 14])
def test_arrays_without_elements(opset, tmp_path):
    a, b = numpy_variables("x", "y")
    with mx.util.np_shape(True):
        for symbol, arrays in ((a.reshape(3, -1), {"x": (0, 3)}), (S.np.repeat(a, 0, axis=1), {"x": (2, 3)}),
                               (S.np.tensordot(a, b, axes=1), {"x": (2, 0), "y": (0, 3)}), (S.dot(x, y), {"x": (2, 0), "y": (0, 3)})):
            check_symbol(symbol, {n: np.ones(s, "float32") for n, s in arrays.items()}, {}, tmp_path, opset_version=opset)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "all", "any"])
def test_reductions_of_no_axes(name, tmp_path):
    a, = numpy_variables("x")
    check_symbol(getattr(S.np, name)(a, axis=()), {"x": around_zero(2, 3)}, {}, tmp_path)


@pytest.mark.parametrize("kind", ["max", "avg", "sum"])
@pytest.mark.parametrize("convention", ["valid", "full"])
def test_old_pooling_has_zeros_around_images(kind, convention, tmp_path):
    symbol = S.Pooling_v1(x, kernel=(3, 2), stride=(2, 2), pad=(1, 1), pool_type=kind, pooling_convention=convention)
    check_symbol(symbol, {"x": around_zero(2, 2, 7, 6) - 3}, {}, tmp_path)


def test_images_and_windows(tmp_path):
    resized = S.contrib.BilinearResize2D(x, height=1, width=9, align_corners=False)
    check_symbol(resized, {"x": around_zero(2, 3, 4, 5)}, {}, tmp_path)
    columns = S.im2col(x, kernel=(1, 2, 2), dilate=(1, 1, 2), pad=(0, 1, 0))
    symbol = S.col2im(columns, output_size=(3, 2, 4), kernel=(1, 2, 2), dilate=(1, 1, 2), pad=(0, 1, 0))
    check_symbol(symbol, {"x": around_zero(2, 2, 3, 2, 4)}, {}, tmp_path)
    a, = numpy_variables("x")
    check_symbol(S.Group(list(S._internal._npi_average(a, returned=True, weighted=False))), {"x": around_zero(2, 3)}, {}, tmp_path)


def test_matrices_without_rows_in_loops(tmp_path):
    """Their loops have no round; to read such a file crashed."""
    a, = numpy_variables("x")
    with mx.util.np_shape(True):
        for shape in ((2, 0, 3), (2, 3, 0)):
            check_symbol(S.Group(list(S.np.linalg.qr(a))), {"x": np.ones(shape, "float32")}, {}, tmp_path, opset_version=13)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("name", "exp expm1 sqrt log sin tanh cbrt rcbrt reciprocal radians degrees smooth_l1".split())
def test_functions_of_whole_numbers(dtype, name, tmp_path):
    """They are those of fractions, which are cut off."""
    check_symbol(getattr(S, name)(x), {"x": np.array([1, 2, 3, 4], dtype)}, {}, tmp_path)
    check_symbol(S.contrib.quadratic(x, a=1.5, b=-2, c=3), {"x": np.array([0, 1, 2, 3], dtype)}, {}, tmp_path)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_bounds_and_digits(dtype, tmp_path):
    a, = numpy_variables("x")
    numbers = {"x": np.array([155, 25, -14, 3], dtype)}
    for symbol in (S.np.clip(a, None, 1), S.np.clip(a, 1, None), S.np.clip(a, -3, 9), S.np.around(a, -1)):
        check_symbol(symbol, numbers, {}, tmp_path)
