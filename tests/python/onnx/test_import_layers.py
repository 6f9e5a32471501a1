"""Layers of neural networks in ONNX files: padding, rounding, directions, old opsets."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import check, model, node, ours, theirs

RANDOM = np.random.RandomState(0)


def floats(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


@pytest.mark.parametrize("more", [{}, {"ceil_mode": 1}])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "counting"])
def test_pools(op, pads, more):
    if op == "counting":
        op, more = "AveragePool", {**more, "count_include_pad": 1}
    made = node(op, ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=pads, **more)
    check(made, {"x": floats(1, 2, 8, 7)}, opset=19)


@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 0, 1, 0]])
@pytest.mark.parametrize("more", [{}, {"count_include_pad": 1}])
def test_windows_larger_than_the_image(pads, more):
    """Rounded up they have one place, whose mean is that of what is there."""
    made = node("AveragePool", ["x"], ["y"], kernel_shape=[40, 12], strides=[40, 12], pads=pads, ceil_mode=1, **more)
    check(made, {"x": floats(1, 2, 8, 7)}, opset=19)


@pytest.mark.parametrize("padding", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_pools_that_choose_their_padding(op, padding):
    made = node(op, ["x"], ["y"], kernel_shape=[3, 2], strides=[2, 2], auto_pad=padding)
    check(made, {"x": floats(1, 2, 8, 7)}, opset=19)


def test_pools_of_powers():
    check(node("GlobalLpPool", ["x"], ["y"], p=3), {"x": floats(2, 3, 4, 4)})
    made = node("LpPool", ["x"], ["y"], p=3, kernel_shape=[2, 2], pads=[1, 0, 0, 1])
    check(made, {"x": floats(2, 3, 4, 4)})


@pytest.mark.parametrize("attributes", [
    {"pads": [1, 0, 0, 1]},
    {"strides": [2, 2], "output_padding": [1, 1], "pads": [1, 1, 1, 1]},
    {"strides": [2, 2], "output_shape": [10, 11]},
    {"strides": [3, 2], "dilations": [2, 1]},
    {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
    {"strides": [3, 2], "auto_pad": "SAME_LOWER"},
    {"group": 2}], ids=str)
def test_transposed_convolutions(attributes):
    made = node("ConvTranspose", ["x", "w", "b"], ["y"], kernel_shape=[3, 3], **attributes)
    weights = {"w": floats(4, 3, 3, 3), "b": floats(3 * attributes.get("group", 1))}
    check(made, {"x": floats(1, 4, 4, 5)}, weights)


@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 2, 1]], ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_deformable_convolutions_fade_out_at_the_edges(masked, pads):
    """Samples between the last pixel and the next that there is not are a part of the last."""
    places = [6 + pads[0] + pads[2] - 1, (5 + pads[1] + pads[3] - 3) // 2 + 1]
    feeds = {"x": floats(2, 4, 6, 5), "offset": floats(2, 2 * 2 * 4, *places)}
    names = ["x", "w", "offset", "b"]
    if masked:
        feeds["mask"] = floats(2, 2 * 4, *places)
        names.append("mask")
    made = node("DeformConv", names, ["y"], group=2, offset_group=2, pads=pads, strides=[1, 2],
                dilations=[1, 2])
    check(made, feeds, {"w": floats(6, 2, 2, 2), "b": floats(6)}, opset=19)


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("pads", [[1, 1, 1, 1], [0, 1, 1, 0]])
def test_positions_of_bytes_are_never_those_of_the_padding(pads, kind):
    """The least byte is not greater than what the padding holds."""
    x = RANDOM.randint(0, 2, (2, 3, 5, 4)) * np.iinfo(kind).max
    feeds = {"x": np.where(x, x, np.iinfo(kind).min).astype(kind)}
    check(node("MaxPool", ["x"], ["y", "y1"], kernel_shape=[2, 2], pads=pads), feeds)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_dilated_windows_larger_than_the_image_have_one_place(size):
    made = node("AveragePool", ["x"], ["y"], kernel_shape=[3], dilations=[2], strides=[2], ceil_mode=1)
    if size < 4:   # a stride away: it has none
        with pytest.raises(ValueError, match="does not fit"):
            check(made, {"x": floats(1, 2, size)}, opset=19)
    else:
        check(made, {"x": floats(1, 2, size)}, opset=19)


def test_convolution_with_uneven_padding():
    made = node("Conv", ["x", "w"], ["y"], pads=[1, 0, 1, 0, 1, 1])
    check(made, {"x": floats(1, 4, 5, 5, 5)}, {"w": floats(2, 4, 3, 3, 3)})


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rows_before_opset_13(op, axis):
    check(node(op, ["x"], ["y"], axis=axis), {"x": floats(2, 5, 8)}, opset=11)


@pytest.mark.parametrize("op, opset, mode, scales", [
    ("Resize", 10, "nearest", [1, 1, 1.5, 0.5]), ("Resize", 10, "linear", [1, 1, 1.5, 2]),
    ("Upsample", 9, "linear", [1, 1, 2, 2]), ("Upsample", 9, "nearest", [1, 1, 3, 3])])
def test_resizing_of_old_opsets(op, opset, mode, scales):
    made = node(op, ["x", "s"], ["y"], mode=mode)
    check(made, {"x": floats(1, 2, 4, 6)}, {"s": np.array(scales, np.float32)}, opset=opset)


@pytest.mark.parametrize("scales", [[3.0], [7.0], [60.0], [0.4], [3.0, 7.0], [5.0, 0.6], [0.4, 0.3]], ids=str)
@pytest.mark.parametrize("where", ["half_pixel", "pytorch_half_pixel", "asymmetric"])
@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_resized_integers_are_cut_where_float32_has_them(kind, where, scales):
    """A sum of a third and two thirds is an integer or a bit below it, as its weights round."""
    levels = RANDOM.randint(0, 127, (1, 4, 53, 31)[:2 + len(scales)]).astype(kind)
    made = node("Resize", ["x", "", "s"], ["y"], mode="linear", coordinate_transformation_mode=where)
    data = model([made], {"x": levels}, {"s": np.array([1, 1, *scales], "float32")})
    (want,), (got,) = theirs(data, {"x": levels}), ours(data, {"x": levels})
    assert got.dtype == want.dtype
    assert (np.abs(got.astype(int) - want) <= 1).all()
    assert (got != want).mean() < 0.01


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@pytest.mark.parametrize("kind", ["plain", "written out", "clipped"])
@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", list(GATES))
def test_recurrent_layers(op, direction, lengths, kind):
    ways, gates = 2 if direction == "bidirectional" else 1, GATES[op]
    inputs = ["x", "w", "r", "b", "l" if lengths else "", "h"]
    weights = {"w": floats(ways, gates * 6, 8) * 0.3, "r": floats(ways, gates * 6, 6) * 0.3,
               "b": floats(ways, 2 * gates * 6), "h": floats(ways, 5, 6)}
    attributes = {"clip": 0.5} if kind == "clipped" else {}
    if lengths:
        weights["l"] = np.array([2, 1, 2, 1, 2], np.int32)
    if op == "GRU":
        attributes["linear_before_reset"] = int(kind != "written out")
    if op == "LSTM":
        inputs.append("c")
        weights["c"] = floats(ways, 5, 6)
        if kind == "written out":
            inputs.append("p")
            weights["p"] = floats(ways, 18)
    outputs = ["y", "y_h"] + (["y_c"] if op == "LSTM" else [])
    made = node(op, inputs, outputs, hidden_size=6, direction=direction, **attributes)
    check(made, {"x": floats(2, 5, 8)}, weights, rtol=1e-3)


def test_suppression_of_boxes():
    corners = np.sort(RANDOM.rand(1, 30, 2, 2), axis=2).reshape(1, 30, 4).astype(np.float32)
    made = node("NonMaxSuppression", ["b", "s", "m", "i", "t"], ["y"])
    check(made, {"b": corners, "s": RANDOM.rand(1, 2, 30).astype(np.float32)},
          {"m": np.array([5]), "i": np.array([0.3], np.float32), "t": np.array([0.2], np.float32)})


@pytest.mark.parametrize("apart, threshold", [(0, 0.3), (7, 0.5), (7, 0.0)])
def test_suppression_of_many_boxes(apart, threshold):
    """Also of those that lie far apart, are as wide as the image, have no area or are infinite."""
    start = RANDOM.rand(1, 400, 2) + apart * (np.arange(400) % 9)[None, :, None]
    boxes = np.concatenate([start, start + RANDOM.rand(1, 400, 2) ** 3], 2).astype(np.float32)
    boxes[0, 7, 3], boxes[0, 9, 2:] = 80, boxes[0, 9, :2]
    boxes[0, 11, 3] = np.inf
    made = node("NonMaxSuppression", ["b", "s", "m", "i"], ["y"])
    check(made, {"b": boxes, "s": RANDOM.rand(1, 1, 400).astype(np.float32)},
          {"m": np.array([400]), "i": np.array([threshold], np.float32)})


@pytest.mark.parametrize("size, dilation, pads, stride", [(5, 6, 6, 1), (5, 4, 4, 1), (6, 5, 5, 2), (4, 3, 2, 1), (3, 9, 9, 1)])
def test_windows_wider_than_the_image(size, dilation, pads, stride):
    """Taps that meet only padding are left out."""
    made = node("Conv", ["x", "w", "b"], ["y"], dilations=[dilation, 1], pads=[pads, 1, pads, 1], strides=[stride, 1])
    check(made, {"x": floats(2, 3, size, 7)}, {"w": floats(4, 3, 3, 3), "b": floats(4)})


def test_rows_written_by_repeated_indices():
    """Whole rows, as detectors put regions together."""
    nodes = [node("Expand", ["i", "s"], ["e"]), node("ScatterElements", ["x", "e", "u"], ["y"], axis=0)]
    index = np.array([4, 0, -2]).reshape(3, 1, 1)
    for height, repeated in ((2, False), (4, True)):   # indices are not written out where rows are whole
        values, weights = {"x": floats(6, height, 5), "i": index, "u": floats(3, 2, 5)}, {"s": np.array([3, 2, 5])}
        check(nodes, values, weights)
        symbol = mx.onnx.load(model(nodes, values, weights)).convert()[0]
        assert ("broadcast_to" in symbol.tojson()) == repeated


@pytest.mark.parametrize("mode, opset, ratio", [("avg", 10, 2), ("avg", 16, 0), ("max", 10, 2),
                                                ("max", 16, 2)])
def test_regions(mode, opset, ratio):
    rois = np.array([[0, 0, 5, 5], [1, 2, 7, 6.5]], np.float32)
    made = node("RoiAlign", ["x", "r", "b"], ["y"], mode=mode, output_height=2, output_width=3,
                sampling_ratio=ratio, spatial_scale=0.8)
    check(made, {"x": floats(2, 3, 8, 8), "r": rois}, {"b": np.array([0, 1])}, opset=opset)


def grid(axes, order):
    """Nodes that write the coordinates of a grid out, as exporters do for what a slice is assigned;
    `axes` of them along the dimensions that `order` has."""
    shape = np.broadcast_shapes(*(np.shape(a) for a in axes))
    weights = {"shape": np.array(shape), "last": np.array([-1])}
    nodes, columns = [], []
    for i in order:
        weights[f"a{i}"] = np.asarray(axes[i])
        nodes += [node("Expand", [f"a{i}", "shape"], [f"e{i}"]), node("Unsqueeze", [f"e{i}", "last"], [f"u{i}"])]
        columns.append(f"u{i}")
    return nodes + [node("Concat", columns, ["at"], axis=-1)], weights, shape


@pytest.mark.parametrize("rows, columns, order, assigned", [
    (np.arange(1, 600, 2), np.arange(4, 516), (0, 1, 2), True),
    (np.arange(-300, 0), np.arange(512), (0, 1, 2), True),
    (np.arange(299, -1, -1), np.arange(512), (0, 1, 2), False),    # backwards
    (np.r_[np.arange(299), 400], np.arange(512), (0, 1, 2), False),   # with a gap
    (np.arange(512), np.arange(300), (0, 2, 1), False),   # turned
])
def test_grids_of_indices_are_slices(rows, columns, order, assigned):
    nodes, weights, shape = grid([np.array([[[1]]]), rows[:, None], columns], order)
    nodes.append(node("ScatterND", ["x", "at", "w"], ["y"]))
    x, w = floats(2, 600, 600), floats(*shape)
    check(nodes, {"x": x, "w": w}, weights)
    symbol, _ = mx.onnx.load(model(nodes, {"x": x, "w": w}, weights)).convert()[:2]
    made = symbol.get_internals().list_outputs()
    assert ('"_slice_assign"' in symbol.tojson()) == assigned, made


@pytest.mark.parametrize("outputs", [["y"], ["y", "y1", "y2", "y3", "y4"], ["y", "mean", "var", "s", "t"]])
@pytest.mark.parametrize("opset", [9, 13])
def test_old_batch_normalization_trains_where_it_has_more_outputs(opset, outputs):
    made = node("BatchNormalization", ["x", "scale", "bias", "m", "v"], outputs, epsilon=0.01, momentum=0.7)
    weights = {k: np.abs(floats(4)) + 0.5 for k in ("scale", "bias", "m", "v")}
    check(made, {"x": floats(3, 4, 5, 6)}, weights, opset=opset)


@pytest.mark.parametrize("group", [0, -1, 3, (1 << 63) - 1])
def test_groups_that_do_not_fit(group):
    x, w = np.ones((1, 4, 5, 5), np.float32), np.ones((4, 2, 3, 3), np.float32)
    data = model([node("Conv", ["x", "w"], ["y"], group=group)], {"x": x}, {"w": w})
    with pytest.raises(mx.MXNetError, match=f"there are {group} groups"):
        ours(data, {"x": x})


@pytest.mark.parametrize("kernel, size", [([2, 2], (9, 70)), ([3], (50,)), ([2, 3, 2], (3, 4, 5)),
                                          ([2, 4], (130, 90))])
@pytest.mark.parametrize("channels", [1, 20])
def test_transposed_convolutions_whose_windows_lie_apart(kernel, size, channels):
    """Stride and kernel are one: alone, between convolutions, and in front of a product."""
    rng = np.random.RandomState(0)
    draw = lambda *shape: 0.3 * rng.randn(*shape).astype("float32")
    places = [1] * len(kernel)
    weights = {"v": draw(24, 3, *places), "w": draw(24, channels, *kernel), "b": draw(channels),
               "u": draw(16, channels, *places)}
    nodes = [node("Conv", ["x", "v"], ["c"]),
             node("ConvTranspose", ["c", "w", "b"], ["y0"], strides=kernel, kernel_shape=kernel),
             node("Conv", ["y0", "u"], ["y1"]), node("Relu", ["y0"], ["y2"])]
    check(nodes, {"x": draw(2, 3, *size)}, weights)
    alone = node("ConvTranspose", ["x", "w", "b"], ["y"], strides=kernel)
    check(alone, {"x": draw(2, 24, *size)}, weights)


@pytest.mark.parametrize("scales", [[0.5, 0.5], [1.5, 1.5], [0.7, 1.3], [0.3, 0.2]], ids=str)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_corners_stay_whatever_the_scale(mode, scales):
    """The last element of the result is the last one of the data, as PyTorch exports it."""
    made = node("Resize", ["x", "", "s"], ["y"], mode=mode, coordinate_transformation_mode="align_corners")
    x, weights = floats(1, 2, 5, 7), {"s": np.array([1, 1, *scales], np.float32)}
    check(made, {"x": x}, weights)
    got, = ours(model([made], {"x": x}, weights), {"x": x})
    if got.shape[2] > 1:
        np.testing.assert_allclose(got[:, :, -1, -1], x[:, :, -1, -1], rtol=1e-5)


@pytest.mark.parametrize("scales", [[0.7, 0.5], [2.5, 0.3]], ids=str)
def test_regions_resized_by_a_scale(scales):
    made = node("Resize", ["x", "r", "s"], ["y"], mode="linear", coordinate_transformation_mode="tf_crop_and_resize")
    roi = np.array([0, 0, 0.2, 0.1, 1, 1, 0.9, 0.7], np.float32)
    check(made, {"x": floats(1, 2, 5, 6)}, {"r": roi, "s": np.array([1, 1, *scales], np.float32)})


@pytest.mark.parametrize("scale", [0.6, 0.7, 1.4, 1.7])
@pytest.mark.parametrize("where", ["asymmetric", "half_pixel", "pytorch_half_pixel"])
@pytest.mark.parametrize("rule", ["floor", "round_prefer_floor"])
def test_nearest_elements_of_positions_in_float32(rule, where, scale):
    """3 / 0.6 is 5 there, and less where the scale alone is rounded."""
    made = node("Resize", ["x", "", "s"], ["y"], mode="nearest", nearest_mode=rule, coordinate_transformation_mode=where)
    check(made, {"x": floats(1, 1, 40, 40)}, {"s": np.array([1, 1, scale, 1], np.float32)})


@pytest.mark.parametrize("size", [[3, 4], [9, 5], [4, 14], [13, 17]], ids=str)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_antialiased_bytes_are_rounded(mode, size):
    """To the nearest integer after each axis; onnxruntime's weights have 22 bits."""
    x = np.random.RandomState(1).randint(0, 256, (1, 3, 7, 8)).astype("uint8")
    made = node("Resize", ["x", "", "", "s"], ["y"], mode=mode, antialias=1)
    data = model([made], {"x": x}, {"s": np.array([1, 3, *size], np.int64)}, 18)
    (want,), (got,) = theirs(data, {"x": x}), ours(data, {"x": x})
    assert got.dtype == want.dtype and got.shape == want.shape
    assert (np.abs(got.astype(int) - want) <= 1).all() and (got != want).mean() < 0.05


@pytest.mark.parametrize("size", [[1, 1], [6, 1], [1, 2]], ids=str)
@pytest.mark.parametrize("where", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"])
def test_resized_to_one_row(where, size):
    """It is taken from the middle by half_pixel, else from the beginning."""
    made = node("Resize", ["x", "", "", "s"], ["y"], mode="linear", coordinate_transformation_mode=where)
    check(made, {"x": floats(1, 2, 4, 6)}, {"s": np.array([1, 2, *size], np.int64)})


@pytest.mark.parametrize("shape", [(2, 3, 8), (5, 4), (7,), (2, 3, 4, 5)])
@pytest.mark.parametrize("slope", [0.25, -0.5, 1.5])
def test_one_slope_for_all(shape, slope):
    """PyTorch's PReLU: a multiplication, a comparison and a choice took three passes."""
    feeds, weights = {"x": floats(*shape)}, {"s": np.full((1,) * max(1, len(shape) - 1), slope, np.float32)}
    feeds["x"].flat[:2] = np.inf, -np.inf
    made = node("PRelu", ["x", "s"], ["y"])
    check(made, feeds, weights)
    loaded = mx.onnx.load(model([made], feeds, weights))
    loaded(**feeds)
    text = str(loaded.explain(runs=0))
    assert "LeakyReLU" in text
    assert "_npi_where" not in text
    block = loaded.to_block(shapes={"x": shape})
    x = mx.nd.array(np.abs(feeds["x"]).clip(1, 2) * -1)
    with mx.autograd.record():
        block(x).sum().backward()
    gradients = [p.grad() for p in block.collect_params().values() if p.grad_req != "null"]
    assert [g.size for g in gradients] == [1]   # it is learned
    np.testing.assert_allclose(gradients[0].asnumpy().item(), x.sum().asscalar(), rtol=1e-5)
