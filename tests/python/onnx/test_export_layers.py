"""Layers, normalisations, pooling, recurrent layers and attention as ONNX operators."""
import numpy as np
import pytest
from onnx_checks import around_zero, check_symbol, operators, positive

import mxnet as mx

S = mx.sym
x, y = S.var("x"), S.var("y")
WEIGHT, BIAS = S.var("w"), S.var("b")
NORM = {"g": positive(3), "b": around_zero(3), "m": around_zero(3, seed=3), "s": positive(3, seed=9)}


@pytest.mark.parametrize("kernel, more", [
    ((3,), {}), ((3, 2), {}), ((2, 2, 2), {}), ((3, 3), {"num_group": 2}), ((3, 3), {"no_bias": True}),
    ((3, 3), {"stride": (2, 1), "pad": (1, 2), "dilate": (1, 2)})])
def test_convolution(kernel, more, tmp_path):
    params = {"w": around_zero(6, 4 // more.get("num_group", 1), *kernel), "b": around_zero(6)}
    if more.get("no_bias"):
        del params["b"]
    check_symbol(S.Convolution(x, *map(S.var, params), kernel=kernel, num_filter=6, **more),
                 {"x": around_zero(2, 4, *(9, 8, 7)[:len(kernel)])}, params, tmp_path)


def test_convolution_with_channels_last(tmp_path):
    check_symbol(S.Convolution(x, WEIGHT, BIAS, kernel=(3, 3), num_filter=6, layout="NHWC", stride=(2, 2)),
                 {"x": around_zero(2, 9, 8, 4)}, {"w": around_zero(6, 3, 3, 4), "b": around_zero(6)}, tmp_path)


@pytest.mark.parametrize("kernel, more", [
    ((3, 3), {}), ((4, 4), {"stride": (2, 2), "pad": (1, 1)}), ((3,), {}), ((3, 3), {"dilate": (2, 1)}),
    ((3, 3), {"stride": (2, 2), "pad": (1, 1), "adj": (1, 0)}), ((3, 3), {"num_group": 2}),
    ((3, 3), {"stride": (2, 2), "target_shape": (18, 17)})])
def test_deconvolution(kernel, more, tmp_path):
    weight = around_zero(4, 6 // more.get("num_group", 1), *kernel)
    check_symbol(S.Deconvolution(x, WEIGHT, kernel=kernel, num_filter=6, **more),
                 {"x": around_zero(2, 4, *(9, 8)[:len(kernel)])}, {"w": weight}, tmp_path)


@pytest.mark.parametrize("flatten, features", [(True, 20), (False, 5)])
def test_fully_connected(flatten, features, tmp_path):
    check_symbol(S.FullyConnected(x, WEIGHT, BIAS, num_hidden=3, flatten=flatten), {"x": around_zero(2, 4, 5)},
                 {"w": around_zero(3, features), "b": around_zero(3)}, tmp_path)


@pytest.mark.parametrize("kind", ["max", "avg", "avg without padding", "sum", "lp"])
@pytest.mark.parametrize("convention", ["valid", "full", "same"])
@pytest.mark.parametrize("kernel, stride, pad", [
    ((3, 2), (2, 2), (0, 0)), ((3, 3), (2, 2), (1, 1)), ((2, 2), (3, 3), (0, 0)), ((3, 3), (1, 1), (0, 0))])
def test_pooling(kind, convention, kernel, stride, pad, tmp_path):
    if convention == "same" and any(pad):
        pytest.skip("the operator takes no padding then")
    more = {"p_value": 2} if kind == "lp" else {"count_include_pad": kind == "avg"} if "avg" in kind else {}
    for size in ((7, 8), (10, 11)):
        check_symbol(S.Pooling(x, pool_type=kind[:3], pooling_convention=convention, kernel=kernel,
                               stride=stride, pad=pad, **more), {"x": positive(2, 3, *size)}, {}, tmp_path)


def test_padding_as_large_as_the_kernel(tmp_path):
    for kind in ("avg", "sum"):
        check_symbol(S.Pooling(x, pool_type=kind, pooling_convention="full", kernel=(2, 2), stride=(3, 3), pad=(1, 0)),
                     {"x": positive(2, 3, 10, 11)}, {}, tmp_path)


@pytest.mark.parametrize("kind", ["max", "avg", "sum", "lp"])
def test_pooling_of_all(kind, tmp_path):
    more = {"p_value": 3} if kind == "lp" else {}
    check_symbol(S.Pooling(x, pool_type=kind, global_pool=True, kernel=(1, 1), **more),
                 {"x": positive(2, 3, 9, 8)}, {}, tmp_path)


def test_pooling_of_other_ranks(tmp_path):
    check_symbol(S.Pooling(x, kernel=(3,), stride=(2,), pooling_convention="full"), {"x": positive(2, 3, 8)}, {}, tmp_path)
    check_symbol(S.Pooling(x, kernel=(2, 2, 2), pool_type="avg", pooling_convention="full"),
                 {"x": positive(2, 3, 5, 5, 5)}, {}, tmp_path)
    check_symbol(S.Pooling(x, kernel=(2, 2), layout="NHWC"), {"x": positive(2, 6, 5, 3)}, {}, tmp_path)


@pytest.mark.parametrize("shape, more", [
    ((2, 3, 4, 4), {}), ((2, 3), {"fix_gamma": True}), ((2, 4, 3), {"axis": -1}), ((2, 3, 4), {"output_mean_var": True})])
def test_batch_norm(shape, more, tmp_path):
    check_symbol(S.BatchNorm(x, *map(S.var, NORM), **{"fix_gamma": False, **more}), {"x": around_zero(*shape)}, NORM, tmp_path)


@pytest.mark.parametrize("opset", [13, 17])
@pytest.mark.parametrize("axis, shape", [(-1, (2, 4, 3)), (1, (2, 3, 4)), (-1, (2, 3))])
def test_layer_norm(opset, axis, shape, tmp_path):
    path = check_symbol(S.LayerNorm(x, S.var("g"), BIAS, axis=axis), {"x": around_zero(*shape)},
                        {n: NORM[n] for n in "gb"}, tmp_path, opset_version=opset)
    assert (operators(path) == ["LayerNormalization"]) == (opset == 17 and axis == -1)


def test_other_normalisations(tmp_path):
    three, images = {n: NORM[n] for n in "gb"}, {"x": around_zero(2, 3, 4, 4)}
    check_symbol(S.InstanceNorm(x, S.var("g"), BIAS), images, three, tmp_path)
    check_symbol(S.LayerNorm(x, S.var("g"), BIAS, output_mean_var=True), {"x": around_zero(2, 4, 3)}, three, tmp_path)
    check_symbol(S.GroupNorm(x, S.var("g"), BIAS, num_groups=3), {"x": around_zero(2, 6, 4, 4)},
                 {"g": positive(6), "b": around_zero(6)}, tmp_path)
    check_symbol(S.contrib.BatchNormWithReLU(x, *map(S.var, NORM), fix_gamma=False), images, NORM, tmp_path)
    check_symbol(S.Group([S.L2Normalization(x, mode="spatial"), S.LRN(x, nsize=3, alpha=0.1)]), images, {}, tmp_path)


# ---- sizes of images

@pytest.mark.parametrize("more", [
    {"height": 7, "width": 9}, {"height": 7, "width": 9, "align_corners": False},
    {"scale_height": 2.0, "scale_width": 1.5, "mode": "odd_scale"}, {"height": 2, "width": 3, "align_corners": False}])
def test_bilinear_resize(more, tmp_path):
    check_symbol(S.contrib.BilinearResize2D(x, **more), {"x": around_zero(2, 3, 4, 5)}, {}, tmp_path)


def test_sizes_of_images(tmp_path):
    images = {"x": around_zero(2, 3, 7, 8)}
    check_symbol(S.Group([S.contrib.AdaptiveAvgPooling2D(x, output_size=o) for o in (1, 2, (3, 2), (4, 5))]),
                 images, {}, tmp_path)
    check_symbol(S.UpSampling(x, scale=2, sample_type="nearest"), images, {}, tmp_path)
    check_symbol(S.UpSampling(x, y, scale=2, sample_type="nearest", num_args=2),
                 {"x": around_zero(2, 3, 4, 4), "y": around_zero(2, 2, 2, 2)}, {}, tmp_path)
    check_symbol(S.UpSampling(x, y, scale=2, sample_type="bilinear", num_filter=3, num_args=2), images,
                 {"y": around_zero(3, 1, 4, 4)}, tmp_path)
    check_symbol(S.Crop(x, y, num_args=2), {**images, "y": around_zero(2, 3, 4, 5)}, {}, tmp_path)
    check_symbol(S.Crop(x, h_w=(3, 4), center_crop=True, num_args=1), images, {}, tmp_path)


def test_sampling(tmp_path):
    images = {"x": around_zero(2, 3, 7, 8)}
    check_symbol(S.BilinearSampler(x, y), {**images, "y": around_zero(2, 2, 4, 4) * 0.6}, {}, tmp_path)
    check_symbol(S.SpatialTransformer(x, y, target_shape=(4, 5), transform_type="affine", sampler_type="bilinear"),
                 {**images, "y": around_zero(2, 6) * 0.4}, {}, tmp_path)
    check_symbol(S.GridGenerator(x, transform_type="warp"), {"x": around_zero(2, 2, 4, 5)}, {}, tmp_path)


# ---- recurrent layers and attention

@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_relu", "rnn_tanh"])
@pytest.mark.parametrize("layers, both", [(1, False), (2, True)])
@pytest.mark.parametrize("lengths", [False, True])
def test_rnn(mode, layers, both, lengths, tmp_path):
    gates, size, width = {"lstm": 4, "gru": 3}.get(mode, 1), 5, 4
    directions = 1 + both
    count = sum(directions * gates * size * ((width if layer == 0 else size * directions) + size + 2)
                for layer in range(layers))
    arrays = {"x": around_zero(6, 3, width), "h": around_zero(layers * directions, 3, size)}
    inputs = {"state": S.var("h")}
    if mode == "lstm":
        arrays["c"], inputs["state_cell"] = around_zero(layers * directions, 3, size, seed=4), S.var("c")
    if lengths:
        arrays["l"], inputs["sequence_length"] = np.array([2, 6, 4], "float32"), S.var("l")
    check_symbol(S.RNN(x, WEIGHT, **inputs, mode=mode, num_layers=layers, bidirectional=both, state_size=size,
                       state_outputs=True, use_sequence_length=lengths), arrays, {"w": around_zero(count) * 0.3}, tmp_path)


@pytest.mark.parametrize("mode, more", [
    ("lstm", {}), ("gru", {}), ("rnn_tanh", {}), ("lstm", {"projection_size": 3}),
    ("lstm", {"lstm_state_clip_min": -0.1, "lstm_state_clip_max": 0.2})])
def test_rnn_whose_weights_are_no_constants(mode, more, tmp_path):
    """They are an input, or computed of inputs."""
    gates, size, width, layers = {"lstm": 4, "gru": 3}.get(mode, 1), 5, 4, 2
    out = more.get("projection_size", size)
    count = sum(2 * (gates * size * ((width if layer == 0 else out * 2) + out + 2) + (out * size if out != size else 0))
                for layer in range(layers))
    arrays = {"x": around_zero(6, 3, width), "w": around_zero(count) * 0.3, "h": around_zero(layers * 2, 3, out)}
    inputs = {"state": S.var("h")}
    if mode == "lstm":
        arrays["c"], inputs["state_cell"] = around_zero(layers * 2, 3, size, seed=4), S.var("c")
    for weight in (WEIGHT, S.tanh(WEIGHT) * 2):
        path = check_symbol(S.RNN(x, weight, **inputs, mode=mode, num_layers=layers, bidirectional=True, state_size=size,
                                  state_outputs=True, **more), arrays, {}, tmp_path)
        assert {"Scan" if more else {"rnn_tanh": "RNN"}.get(mode, mode.upper())} <= set(operators(path))


@pytest.mark.parametrize("symbol, arrays", [
    (lambda: S.contrib.interleaved_matmul_selfatt_qk(x, heads=2), {"x": (5, 3, 24)}),
    (lambda: S.contrib.interleaved_matmul_selfatt_valatt(x, y, heads=2), {"x": (5, 3, 24), "y": (6, 5, 5)}),
    (lambda: S.contrib.interleaved_matmul_encdec_qk(x, y, heads=2), {"x": (5, 3, 8), "y": (4, 3, 16)}),
    (lambda: S.contrib.interleaved_matmul_encdec_valatt(x, y, heads=2), {"x": (4, 3, 16), "y": (6, 5, 4)})])
def test_attention(symbol, arrays, tmp_path):
    check_symbol(symbol(), {n: around_zero(*s) for n, s in arrays.items()}, {}, tmp_path)


# ---- boxes

def boxes():
    rs = np.random.RandomState(0)
    parts = [rs.randint(-1, 3, (2, 8, 1)), rs.uniform(0, 1, (2, 8, 1)), rs.uniform(0, 1, (2, 8, 2)), rs.uniform(1, 2, (2, 8, 2))]
    return np.concatenate(parts, -1).astype("float32")


@pytest.mark.parametrize("more", [
    {}, {"id_index": 0}, {"id_index": 0, "force_suppress": True}, {"id_index": 0, "topk": 3},
    {"id_index": 0, "valid_thresh": 0.3}, {"id_index": 0, "background_id": 0}, {"out_format": "center"},
    {"in_format": "center", "out_format": "corner", "id_index": 0}])
def test_box_nms(more, tmp_path):
    symbol = S.contrib.box_nms(x, coord_start=2, score_index=1, **more)
    check_symbol(symbol, {"x": boxes()}, {}, tmp_path)
    check_symbol(symbol, {"x": boxes()}, {}, tmp_path, dynamic=True, dynamic_input_shapes=[("n", "boxes", 6)])


@pytest.mark.parametrize("form", ["corner", "center"])
def test_box_nms_of_boxes_that_end_before_they_begin(form, tmp_path):
    """They are empty: nothing suppresses them."""
    boxes = np.concatenate([positive(1, 20, 1), around_zero(1, 20, 4)], axis=2)
    check_symbol(S.contrib.box_nms(x, coord_start=1, score_index=0, id_index=-1, overlap_thresh=0.2, in_format=form),
                 {"x": boxes}, {}, tmp_path)


@pytest.mark.parametrize("more", [{}, {"threshold": 0.4}, {"force_suppress": True, "nms_threshold": 0.3}, {"clip": False}])
def test_detection(more, tmp_path):
    anchors = boxes()[:1, :6, 2:] / 2
    classes = np.random.RandomState(3).dirichlet([1, 1, 1], (2, 6)).transpose(0, 2, 1).astype("float32")
    check_symbol(S.contrib.MultiBoxDetection(x, y, S.var("z"), **more),
                 {"x": classes, "y": around_zero(2, 24) * 0.3, "z": anchors}, {}, tmp_path)


def test_boxes(tmp_path):
    check_symbol(S.contrib.MultiBoxPrior(x, sizes=(0.3, 0.5), ratios=(1, 2)), {"x": around_zero(2, 3, 4, 5)}, {}, tmp_path)
    check_symbol(S.contrib.box_iou(x, y), {"x": boxes()[0, :, 2:], "y": boxes()[1, :5, 2:]}, {}, tmp_path)
    for more in ({"format": "corner", "std2": 0.2}, {"clip": 0.5}):
        check_symbol(S.contrib.box_decode(x, y, **more), {"x": around_zero(2, 8, 4), "y": boxes()[:1, :, 2:]}, {}, tmp_path)


def test_regions(tmp_path):
    arrays = {"x": around_zero(2, 3, 8, 8), "y": np.array([[0, 0, 0, 5, 5], [1, 1, 2, 6, 7]], "float32")}
    check_symbol(S.ROIPooling(x, y, pooled_size=(2, 2), spatial_scale=1), arrays, {}, tmp_path)
    for aligned in (False, True):
        for ratio in (-1, 2):
            check_symbol(S.contrib.ROIAlign(x, y, pooled_size=(2, 3), spatial_scale=0.5, aligned=aligned,
                                            sample_ratio=ratio), arrays, {}, tmp_path)


def test_pictures(tmp_path):
    picture = np.random.RandomState(0).randint(0, 255, (4, 5, 3)).astype("uint8")
    check_symbol(S.image.normalize(S.image.to_tensor(x), mean=(0.1, 0.2, 0.3), std=(1, 2, 3)), {"x": picture}, {}, tmp_path)
