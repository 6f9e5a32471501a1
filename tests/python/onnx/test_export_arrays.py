"""Shapes, parts, positions and sequences as ONNX operators."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_symbol, operators

import mxnet as mx

S = mx.sym
x, y, z = S.var("x"), S.var("y"), S.var("z")

OF_ONE = {
    "reshape": lambda: S.Reshape(x, shape=(0, -1)), "reshape -3": lambda: S.Reshape(x, shape=(-3, -2)),
    "reshape reverse": lambda: S.Reshape(x, shape=(-1, 2, 2), reverse=True),
    "flatten": lambda: S.Flatten(x), "expand_dims": lambda: S.expand_dims(x, axis=-1),
    "squeeze": lambda: S.squeeze(S.expand_dims(x, axis=1)),
    "squeeze axis": lambda: S.squeeze(S.expand_dims(x, axis=0), axis=0),
    "transpose": lambda: S.transpose(x), "transpose axes": lambda: S.transpose(x, axes=(1, 0, 2)),
    "swapaxes": lambda: S.SwapAxis(x, dim1=0, dim2=2),
    "slice": lambda: S.slice(x, begin=(None, 1), end=(None, 3)),
    "slice back": lambda: S.slice(x, begin=(1, None, 3), end=(None, None, 0), step=(1, 1, -2)),
    "slice negative": lambda: S.slice(x, begin=(None, -1), end=(None, None), step=(-1, 1)),
    "slice_axis": lambda: S.slice_axis(x, axis=-1, begin=1, end=None),
    "slice_axis negative": lambda: S.slice_axis(x, axis=1, begin=-2, end=-1),
    "split": lambda: S.split(x, num_outputs=2, axis=2),
    "split squeezed": lambda: S.split(x, num_outputs=3, axis=1, squeeze_axis=True),
    "split one": lambda: S.split(x, num_outputs=2, axis=2)[1],
    "split_v2": lambda: S.split_v2(x, (1, 3), axis=2),
    "split_v2 squeezed": lambda: S.split_v2(x, 3, axis=1, squeeze_axis=True),
    "tile": lambda: S.tile(x, reps=(2, 1)), "tile more": lambda: S.tile(x, reps=(2, 1, 1, 3)),
    "repeat": lambda: S.repeat(x, repeats=2, axis=1), "repeat all": lambda: S.repeat(x, repeats=2),
    "reverse": lambda: S.reverse(x, axis=(0, 2)), "diag": lambda: S.diag(x, k=-1, axis1=1, axis2=2),
    "cast": lambda: S.Cast(x, dtype="int32"), "cast bool": lambda: S.Cast(x, dtype="bool"),
    "cast half": lambda: S.Cast(x, dtype="float16"),
    "arange_like": lambda: S.contrib.arange_like(x, start=1, step=2, axis=1),
    "arange_like all": lambda: S.contrib.arange_like(x, repeat=2),
    "index_array": lambda: S.contrib.index_array(x),
    "sort": lambda: S.sort(x, axis=1), "sort down": lambda: S.sort(x, is_ascend=False),
    "sort all": lambda: S.sort(x, axis=None), "argsort": lambda: S.argsort(x, axis=0),
    "argsort all": lambda: S.argsort(x, axis=None, dtype="int32"),
    "slice_assign": lambda: S._internal._slice_assign_scalar(x, scalar=5.0, begin=(0, 1), end=(2, 3)),
    "constants": lambda: S.broadcast_add(x, S.reshape(S.arange(4), shape=(1, 1, 4))) + S.full((2, 3, 4), 2),
}


@pytest.mark.parametrize("name", OF_ONE)
def test_of_one_array(name, tmp_path):
    check_symbol(OF_ONE[name](), {"x": around_zero(2, 3, 4)}, {}, tmp_path)


@pytest.mark.parametrize("function, first, second", [
    (lambda: S.reshape_like(x, y), (2, 3, 4), (6, 4)), (lambda: S.slice_like(x, y), (2, 3, 4), (1, 2, 3)),
    (lambda: S.slice_like(x, y, axes=(-1,)), (2, 3, 4), (1, 2, 3)),
    (lambda: S.Concat(x, y, dim=1), (2, 3, 4), (2, 2, 4)), (lambda: S.stack(x, y, axis=-1), (2, 3), (2, 3)),
    (lambda: S.broadcast_like(x, y), (1, 3, 1), (2, 3, 4)),
    (lambda: S.broadcast_like(x, y, lhs_axes=(0,), rhs_axes=(2,)), (1, 3, 1), (2, 3, 4))])
def test_of_two_arrays(function, first, second, tmp_path):
    check_symbol(function(), {"x": around_zero(*first), "y": around_zero(*second)}, {}, tmp_path)


def test_broadcasts(tmp_path):
    symbol = S.Group([S.broadcast_to(x, shape=(2, 3, 4)), S.broadcast_axis(x, axis=(0, 2), size=(2, 4))])
    check_symbol(symbol, {"x": around_zero(1, 3, 1)}, {}, tmp_path)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad(mode, tmp_path):
    check_symbol(S.Pad(x, mode=mode, pad_width=(0, 0, 0, 0, 1, 2, 2, 1), constant_value=3),
                 {"x": around_zero(2, 4, 4, 6)}, {}, tmp_path)


def test_blocks_of_images(tmp_path):
    symbol = S.Group([S.depth_to_space(x, block_size=2), S.space_to_depth(x, block_size=2)])
    check_symbol(symbol, {"x": around_zero(2, 4, 4, 6)}, {}, tmp_path)


@pytest.mark.parametrize("shape", [(2, 3), (2,)])
def test_where(shape, tmp_path):
    condition = (around_zero(*shape) > 0).astype("float32")
    check_symbol(S.where(x, y, z), {"x": condition, "y": around_zero(2, 3),
                                    "z": around_zero(2, 3, seed=4)}, {}, tmp_path)


@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_take(mode, tmp_path):
    check_symbol(S.take(x, y, axis=1, mode=mode), {
        "x": around_zero(2, 3, 4), "y": np.array([[0, 2], [1, 5]], "float32")}, {}, tmp_path)


def test_take_of_known_positions_is_one_node(tmp_path):
    path = check_symbol(S.take(x, y, axis=1), {"x": around_zero(2, 3, 4)},
                        {"y": np.array([0, 2], "int64")}, tmp_path)
    assert operators(path) == ["Gather"]


@pytest.mark.parametrize("operator", [S.Embedding, S.contrib.SparseEmbedding])
def test_embedding(tmp_path, operator):
    check_symbol(operator(x, y, input_dim=5, output_dim=3),
                 {"x": np.array([[0, 4], [2, 1]], "float32")}, {"y": around_zero(5, 3)}, tmp_path)


@pytest.mark.parametrize("index, more", [([0, 3, 7], {"axis": 1}), ([[0, 2, 1, 9]], {"axis": 0, "keepdims": True}),
                                         ([0, 3, 7], {"axis": 1, "mode": "wrap"})])
def test_pick(index, more, tmp_path):
    check_symbol(S.pick(x, y, **more), {"x": around_zero(3, 4), "y": np.array(index, "float32")}, {}, tmp_path)


def test_points(tmp_path):
    check_symbol(S.batch_take(x, y), {"x": around_zero(3, 4), "y": np.array([0, 3, 1], "int32")}, {}, tmp_path)
    places = np.array([[0, 1, 1], [2, 0, 1]], "float32")
    check_symbol(S.gather_nd(x, y), {"x": around_zero(2, 3, 4), "y": places}, {}, tmp_path)
    check_symbol(S.scatter_nd(x, y, shape=(3, 4)), {"x": around_zero(3), "y": places}, {}, tmp_path)
    check_symbol(S.contrib.index_copy(x, y, z), {
        "x": around_zero(4, 2), "y": np.array([3, 1], "int32"), "z": around_zero(2, 2)}, {}, tmp_path)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_one_hot_is_empty_out_of_range(dtype, tmp_path):
    check_symbol(S.one_hot(x, depth=4, on_value=2, off_value=-1, dtype=dtype),
                 {"x": np.array([[0, 3], [9, -1]], dtype)}, {}, tmp_path)


@pytest.mark.parametrize("kind", ["value", "indices", "mask", "both"])
@pytest.mark.parametrize("more", [{"k": 2, "axis": 1}, {"k": 1, "is_ascend": True}, {"k": 2, "axis": None}])
def test_topk(kind, more, tmp_path):
    check_symbol(S.topk(x, ret_typ=kind, **more), {"x": around_zero(2, 3, 4)}, {}, tmp_path)


@pytest.mark.parametrize("name, axis", [("SequenceMask", 0), ("SequenceMask", 1), ("SequenceLast", 0),
                                        ("SequenceLast", 1), ("SequenceReverse", 0)])
def test_sequences(name, axis, tmp_path):
    shape = (4, 3, 2) if axis == 0 else (3, 4, 2)
    more = {"axis": axis} if axis else {}
    check_symbol(getattr(S, name)(x, y, use_sequence_length=True, **more),
                 {"x": around_zero(*shape), "y": np.array([1, 4, 2], "float32")}, {}, tmp_path)
    check_symbol(getattr(S, name)(x, **more), {"x": around_zero(*shape)}, {}, tmp_path)


def test_random_numbers_have_their_shape_and_moments(tmp_path):
    from onnx_checks import run
    symbol = S.broadcast_add(S.random.uniform(2, 4, shape=(2000, 1)), x)
    path = mx.onnx.export_model(symbol, {}, [(1, 1)], onnx_file_path=str(tmp_path / "r.onnx"))
    drawn = run(path, [np.zeros((1, 1), "float32")])[0]
    assert drawn.shape == (2000, 1) and 2 <= drawn.min() < 2.1 and 3.9 < drawn.max() <= 4


# ---- forms that a sweep of all operators of 1.9.1's exporter found

@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_sums_of_many_and_lengths(dtype, tmp_path):
    a, b = (np.arange(6).reshape(2, 3) + k for k in (1, 7))
    inputs = {"x": a.astype(dtype), "y": b.astype(dtype)}
    check_symbol(mx.sym.Group([mx.sym.add_n(x, y, x), mx.sym.add_n(x)]), inputs, {}, tmp_path)
    check_symbol(mx.sym.broadcast_hypot(x, y), inputs, {}, tmp_path)


def test_running_sums_of_float16(tmp_path):
    values = {"x": np.arange(6, dtype="float16").reshape(2, 3) / 4}
    check_symbol(mx.sym.cumsum(x, axis=1), values, {}, tmp_path)


@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("axis", [0, 1])
def test_products_whose_rows_are_another_axis(axis, turned, tmp_path):
    """`axis` is the one of rows; columns stay last."""
    batch = (3,) * axis
    shapes = [batch + ((4, 2, 6) if turned[0] else (6, 2, 4)), batch + ((5, 2, 4) if turned[1] else (4, 2, 5))]
    inputs = {n: around_zero(*s) for n, s in zip("xy", shapes)}
    flags = {"transpose_a": turned[0], "transpose_b": turned[1], "axis": axis, "alpha": 1.5}
    check_symbol(mx.sym.linalg.gemm2(x, y, **flags), inputs, {}, tmp_path)
    inputs["z"] = around_zero(*batch, 6, 2, 5, seed=4)
    check_symbol(mx.sym.linalg.gemm(x, y, mx.sym.var("z"), beta=0.5, **flags), inputs, {}, tmp_path)


def test_logarithms_of_chances_that_were_drawn(tmp_path):
    sure = np.array([[0, 0, 1], [1, 0, 0]], "float32")
    for shape in (1, (), (2, 3)):
        check_symbol(mx.sym.Group(list(mx.sym.sample_multinomial(x, shape=shape, get_prob=True))), {"x": sure}, {}, tmp_path)
