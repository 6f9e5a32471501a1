"""Boxes and regions of images as ONNX operators: suppression, proposals, pooling of regions."""
import itertools

import numpy as np
import pytest
from onnx_checks import around_zero, check_symbol, operators

import mxnet as mx

S = mx.sym
x, y, z = S.var("x"), S.var("y"), S.var("z")


def boxes(count=24, center=False, seed=0):
    """(batch, boxes, 6): classes from -1 on, scores of which many are equal and some negative, and
    boxes of which some end before they begin."""
    rs = np.random.RandomState(seed)
    first, size = rs.uniform(0, 1, (2, count, 2)), rs.uniform(-.05, .5, (2, count, 2))
    parts = [rs.randint(-1, 3, (2, count, 1)), np.round(rs.uniform(-.3, 1, (2, count, 1)) * 8) / 8, first,
             size if center else first + size]
    return np.concatenate(parts, -1).astype("float32")


# ---- suppression

@pytest.mark.parametrize("formats", list(itertools.product(["corner", "center"], repeat=2)))
@pytest.mark.parametrize("topk", [-1, 5, 100])
@pytest.mark.parametrize("by_class", [{}, {"id_index": 0}, {"id_index": 0, "force_suppress": True},
                                      {"id_index": 0, "background_id": 1}])
def test_suppression_of_all_forms(formats, topk, by_class, tmp_path):
    symbol = S.contrib.box_nms(x, in_format=formats[0], out_format=formats[1], topk=topk, overlap_thresh=0.3,
                               valid_thresh=-0.2 if topk < 0 else 0.1, **by_class)
    path = check_symbol(symbol, {"x": boxes(center=formats[0] == "center")}, {}, tmp_path)
    assert "NonMaxSuppression" in operators(path)


@pytest.mark.parametrize("threshold", [-0.5, 0, 1, 2])
def test_suppression_at_any_threshold(threshold, tmp_path):
    check_symbol(S.contrib.box_nms(x, overlap_thresh=threshold, id_index=0), {"x": boxes()}, {}, tmp_path)


@pytest.mark.parametrize("topk", [-1, 5])
def test_suppression_of_any_number_of_boxes(topk, tmp_path):
    check_symbol(S.contrib.box_nms(x, id_index=0, topk=topk), {"x": boxes()}, {}, tmp_path, dynamic=True,
                 dynamic_input_shapes=[("batch", "boxes", 6)], opset_version=13)


def test_suppression_of_many_classes_is_exact(tmp_path):
    """Boxes far from 0 have few bits for where they are."""
    arrays = boxes(300)
    arrays[..., 0] = np.random.RandomState(1).randint(0, 80, arrays.shape[:2])
    arrays[..., 2:] = arrays[..., 2:] * 600 + 1e5
    check_symbol(S.contrib.box_nms(x, id_index=0, overlap_thresh=0.45), {"x": arrays}, {}, tmp_path)


def test_suppression_of_other_shapes_and_dtypes(tmp_path):
    arrays = boxes()
    check_symbol(S.contrib.box_nms(x, topk=0), {"x": arrays}, {}, tmp_path)
    check_symbol(S.contrib.box_nms(x, id_index=0), {"x": arrays.reshape(2, 3, 8, 6)}, {}, tmp_path)
    check_symbol(S.contrib.box_nms(x, id_index=0), {"x": arrays[0]}, {}, tmp_path)
    check_symbol(S.contrib.box_nms(x, id_index=0), {"x": arrays.astype("float16")}, {}, tmp_path)
    check_symbol(S.contrib.box_nms(x, id_index=0), {"x": arrays.astype("float64")}, {}, tmp_path)
    arrays[:, :, 1] = -1
    check_symbol(S.contrib.box_nms(x, id_index=0), {"x": arrays}, {}, tmp_path)
    moved = S.contrib.box_nms(x, coord_start=0, score_index=5, id_index=4, out_format="center", overlap_thresh=0.3)
    check_symbol(moved, {"x": np.roll(boxes(), 4, -1)[..., [0, 1, 2, 3, 4, 5]]}, {}, tmp_path)


# ---- detectors

def predictions(count=30, classes=4):
    rs = np.random.RandomState(2)
    anchors = boxes(count)[:1, :, 2:]
    anchors[..., 2:] = np.maximum(anchors[..., 2:], anchors[..., :2] + 0.01)
    return {"x": rs.dirichlet([1] * classes, (2, count)).transpose(0, 2, 1).astype("float32"),
            "y": around_zero(2, 4 * count) * 0.5, "z": anchors}


@pytest.mark.parametrize("topk", [-1, 4, 400])
@pytest.mark.parametrize("threshold", [0, 0.3, 1])
@pytest.mark.parametrize("more", [{}, {"force_suppress": True, "threshold": 0.6}, {"clip": False, "threshold": 0.99},
                                  {"background_id": 1, "variances": (0.2, 0.3, 0.1, 0.4)}])
def test_detector(topk, threshold, more, tmp_path):
    symbol = S.contrib.MultiBoxDetection(x, y, z, nms_topk=topk, nms_threshold=threshold, **more)
    check_symbol(symbol, predictions(), {}, tmp_path)


def test_detector_of_any_batch(tmp_path):
    check_symbol(S.contrib.MultiBoxDetection(x, y, z, nms_topk=5), predictions(), {}, tmp_path, dynamic=True,
                 dynamic_input_shapes=[("n", 4, 30), ("n", 120), (1, 30, 4)], opset_version=13)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("more", [{}, {"iou_loss": True, "rpn_min_size": 0}, {"rpn_pre_nms_top_n": 20, "threshold": 0.3},
                                  {"rpn_pre_nms_top_n": -1, "rpn_post_nms_top_n": 500}])
@pytest.mark.parametrize("opset", [13, 21])
def test_proposals(many, more, opset, tmp_path):
    batch, size = 1 + many, (5, 7)
    rs = np.random.RandomState(0)
    arrays = {"x": rs.uniform(0, 1, (batch, 12, *size)), "y": rs.randn(batch, 24, *size) * 0.3,
              "z": np.array([[70, 100, 1], [60, 112, 1.5]][:batch])}
    operator = S.contrib.MultiProposal if many else S.contrib.Proposal
    options = {"scales": (2, 4), "ratios": (0.5, 1, 2), "rpn_post_nms_top_n": 40, **more}
    symbol = S.Group(list(operator(x, y, z, output_score=True, **options)))
    free = {"dynamic": True, "dynamic_input_shapes": [("n", 12, "h", "w"), ("n", 24, "h", "w"), ("n", 3)]} if many else {}
    check_symbol(symbol, {n: a.astype("float32") for n, a in arrays.items()}, {}, tmp_path, opset_version=opset, **free)


# ---- regions

def regions(count=12, columns=5, seed=0):
    """Regions, of which some lie in no image of two, or partly outside."""
    rs = np.random.RandomState(seed)
    image, first, size = rs.randint(-1, 3, (count, 1)), rs.uniform(-3, 10, (count, 2)), rs.uniform(-1, 8, (count, 2))
    parts = [image, first, first + size] if columns == 5 else [image, first, size, rs.uniform(-180, 180, (count, 1))]
    return np.concatenate(parts, 1).astype("float32")


def images(channels):
    return around_zero(2, channels, 8, 9)


@pytest.mark.parametrize("opset", [13, 16])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize("ratio", [-1, 2])
def test_roi_align(opset, aligned, sensitive, ratio, tmp_path):
    symbol = S.contrib.ROIAlign(x, y, pooled_size=(2, 3), spatial_scale=0.8, aligned=aligned, sample_ratio=ratio,
                                position_sensitive=sensitive)
    path = check_symbol(symbol, {"x": images(12), "y": regions()}, {}, tmp_path, opset_version=opset)
    assert ("RoiAlign" in operators(path)) == (not sensitive and (opset == 16 or not aligned))


def test_roi_pooling(tmp_path):
    check_symbol(S.ROIPooling(x, y, pooled_size=(2, 3), spatial_scale=0.8), {"x": images(3), "y": regions()}, {}, tmp_path)


@pytest.mark.parametrize("groups, bins", [(0, 3), (2, 3), (3, 3), (3, 4)])
def test_psroi_pooling(groups, bins, tmp_path):
    symbol = S.contrib.PSROIPooling(x, y, spatial_scale=0.8, output_dim=2, pooled_size=bins, group_size=groups)
    check_symbol(symbol, {"x": images(2 * (groups or bins)**2), "y": regions()}, {}, tmp_path, dynamic=True,
                 dynamic_input_shapes=[("n", 2 * (groups or bins)**2, "h", "w"), ("regions", 5)], opset_version=13)


@pytest.mark.parametrize("groups, parts, samples, classes", [(1, 0, 2, 1), (2, 2, 1, 2), (3, 0, 4, None)])
def test_deformable_psroi_pooling(groups, parts, samples, classes, tmp_path):
    options = {"spatial_scale": 0.7, "output_dim": 4, "pooled_size": 3, "group_size": groups, "part_size": parts,
               "sample_per_part": samples, "trans_std": 0.1}
    arrays = {"x": images(4 * groups**2), "y": regions()}
    if classes is None:
        symbol = S.contrib.DeformablePSROIPooling(x, y, no_trans=True, **options)
    else:
        symbol = S.contrib.DeformablePSROIPooling(x, y, z, **options)
        arrays["z"] = around_zero(12, 2 * classes, parts or 3, parts or 3)
    check_symbol(symbol, arrays, {}, tmp_path)


@pytest.mark.parametrize("ratio", [-1, 2])
def test_rotated_roi_align(ratio, tmp_path):
    symbol = S.contrib.RROIAlign(x, y, pooled_size=(2, 3), spatial_scale=0.7, sampling_ratio=ratio)
    check_symbol(symbol, {"x": images(3), "y": regions(columns=6)}, {}, tmp_path)


# ---- samples, and patches

@pytest.mark.parametrize("kernel, most, stride1, stride2, pad, multiply", [
    (1, 4, 1, 2, 4, True), (3, 2, 2, 1, 0, True), (3, 4, 1, 1, 4, False), (1, 1, 2, 1, 0, False)])
def test_correlation(kernel, most, stride1, stride2, pad, multiply, tmp_path):
    symbol = S.Correlation(x, y, kernel_size=kernel, max_displacement=most, stride1=stride1, stride2=stride2, pad_size=pad,
                           is_multiply=multiply)
    path = check_symbol(symbol, {"x": around_zero(2, 3, 14, 13), "y": around_zero(2, 3, 14, 13, seed=5)}, {}, tmp_path)
    assert "Scan" in operators(path)


@pytest.mark.parametrize("opset", [13, 16])
def test_samples_of_old_opsets(opset, tmp_path):
    arrays = {"x": images(3), "y": around_zero(2, 2, 5, 6)}
    path = check_symbol(S.BilinearSampler(x, y), arrays, {}, tmp_path, opset_version=opset)
    assert ("GridSample" in operators(path)) == (opset == 16)
    check_symbol(S.BilinearSampler(x, y), arrays, {}, tmp_path, opset_version=opset, dynamic=True,
                 dynamic_input_shapes=[("n", 3, "h", "w"), ("n", 2, "rows", "columns")])
    check_symbol(S.SpatialTransformer(x, y, target_shape=(4, 5), transform_type="affine", sampler_type="bilinear"),
                 {"x": images(3), "y": around_zero(2, 6)}, {}, tmp_path, opset_version=opset)


@pytest.mark.parametrize("rows, columns", [(1, 5), (4, 1), (1, 1)])
def test_one_line_of_a_grid_is_in_the_middle(rows, columns, tmp_path):
    check_symbol(S.GridGenerator(x, transform_type="affine", target_shape=(rows, columns)), {"x": around_zero(2, 6)}, {}, tmp_path)
    check_symbol(S.GridGenerator(x, transform_type="warp"), {"x": around_zero(2, 2, rows, columns)}, {}, tmp_path)
