"""Operators on boxes against what mxnet 1.9.1 computed (record_oracle_boxes.py), through all ways
to call them, and with arguments that make no sense."""
import json
import pathlib

import numpy as np
import pytest

import mxnet as mx

HERE = pathlib.Path(__file__).parents[1]
NAN, INF = float("nan"), float("inf")


def load(path=HERE / "data" / "boxes_oracle.npz"):
    data = np.load(path)
    for k, case in enumerate(json.loads(data["cases"].tobytes())):
        yield case, [data[f"{k}_in{i}"] for i in range(case["in"])], [data[f"{k}_out{i}"] for i in range(case["out"])]


RECORDED = list(load())


def call(case, inputs):
    out = getattr(mx.nd.contrib, case["op"][len("_contrib_"):])(*map(mx.nd.array, inputs), **case["attrs"])
    return [o.asnumpy() for o in (out if isinstance(out, list) else [out])]


@pytest.mark.parametrize("op", sorted({case["op"] for case, _, _ in RECORDED}))
def test_as_recorded(op):
    for case, inputs, expected in RECORDED:
        if case["op"] == op:
            for got, want in zip(call(case, inputs), expected):
                assert got.shape == want.shape
                with np.errstate(invalid="ignore"):
                    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5 * max(1, np.max(np.abs(want[np.isfinite(want)]), initial=0)),
                                               err_msg=str(case))


def test_namespaces():
    data = mx.nd.array(np.random.RandomState(0).rand(3, 10, 6))
    expected = mx.nd.contrib.box_nms(data, topk=4).asnumpy()
    assert mx.contrib.nd.box_nms is mx.nd.contrib.box_nms and mx.contrib.sym.box_nms is mx.sym.contrib.box_nms
    symbol = mx.sym.contrib.box_non_maximum_suppression(mx.sym.var("data"), topk=4, name="nms")
    assert symbol.list_outputs() == ["nms_output0"]
    symbol = mx.sym.load_json(symbol.tojson())
    assert symbol.infer_shape(data=(3, 10, 6))[1] == [(3, 10, 6)]
    np.testing.assert_array_equal(symbol.eval(ctx=mx.cpu(), data=data)[0].asnumpy(), expected)
    assert mx.sym.contrib.MultiBoxTarget(name="t").list_outputs() == ["t_loc_target", "t_loc_mask", "t_cls_target"]
    assert mx.sym.contrib.Proposal(name="p").list_outputs() == ["p_output"]
    assert mx.sym.contrib.Proposal(name="p", output_score=True).list_outputs() == ["p_output", "p_score"]
    assert mx.sym.contrib.bipartite_matching(name="b", threshold=1).list_outputs() == ["b_output0", "b_output1"]


class Detector(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, features, scores, places):
        anchors = F.contrib.MultiBoxPrior(features, sizes=(0.4, 0.2), ratios=(1, 2))
        found = F.contrib.MultiBoxDetection(F.softmax(scores, axis=1), places, anchors)
        return F.contrib.box_nms(found, id_index=0, topk=5), F.contrib.box_iou(anchors, anchors)


def test_gluon():
    rng, net = np.random.RandomState(1), Detector()
    arrays = [mx.nd.array(rng.randn(*shape)) for shape in ((2, 8, 3, 3), (2, 4, 27), (2, 108))]
    eager = [o.asnumpy() for o in net(*arrays)]
    net.hybridize()
    for got, want in zip(net(*arrays), eager):
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)


@pytest.mark.parametrize("hybrid", [False, True])
def test_gradient_goes_to_the_kept(hybrid):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.contrib.box_nms(x, topk=2, out_format="center")

    net, data = Net(), mx.nd.array([[0, 0.5, 0, 0, 1, 1], [0, 0.6, 0, 0, 1, 0.9], [0, 0.7, 5, 5, 6, 6], [0, 0.3, 9, 5, 10, 6]])
    if hybrid:
        net.hybridize()
    data.attach_grad("add")
    for _ in range(2):
        with mx.autograd.record():
            out = net(data)
        out.backward(mx.nd.array(np.arange(24).reshape(4, 6)))
    expected = np.zeros((4, 6))
    expected[2], expected[1] = 2 * np.arange(6), 2 * np.arange(6, 12)
    np.testing.assert_array_equal(data.grad.asnumpy(), expected)
    data.attach_grad()
    with mx.autograd.record():
        out = mx.nd.contrib.box_nms(data, topk=0)
    out.backward(mx.nd.array(np.arange(24).reshape(4, 6)))
    np.testing.assert_array_equal(data.grad.asnumpy(), np.arange(24).reshape(4, 6))


def test_no_gradient_elsewhere():
    lhs, rhs = mx.nd.array([[0, 0, 2, 2.0]]), mx.nd.array([[1, 1, 3, 3.0]])
    lhs.attach_grad()
    with mx.autograd.record():
        out = mx.nd.contrib.box_iou(lhs, rhs) + lhs.sum()
    out.backward()
    np.testing.assert_array_equal(lhs.grad.asnumpy(), np.ones((1, 4)))


def test_many_boxes_and_in_place():
    """More boxes than are compared at once, and few of them stay."""
    rng = np.random.RandomState(3)
    corner = np.repeat(rng.rand(40, 2) * 100, 50, 0) * 4
    data = np.concatenate([rng.rand(2000, 2), corner, corner + 3 + rng.rand(2000, 2)], 1)[rng.permutation(2000)]
    array = mx.nd.array(data)
    out = mx.nd.contrib.box_nms(array, overlap_thresh=0.3).asnumpy()
    assert (out[:40, 1] > 0).all() and (out[40:] == -1).all() and (np.diff(out[:40, 1]) <= 0).all()
    mx.nd.contrib.box_nms(array, overlap_thresh=0.3, out=array)
    np.testing.assert_array_equal(array.asnumpy(), out)


@pytest.mark.parametrize("value", [NAN, INF, -INF, 3e38, 1e-45, -1e30])
def test_numbers_without_sense(value):
    """Any result, but no crash."""
    rng = np.random.RandomState(0)
    for case, inputs, expected in RECORDED:
        spoilt = [np.where(rng.rand(*i.shape) < 0.3, np.float32(value), i) for i in inputs]
        for got, want in zip(call(case, spoilt), expected):
            assert got.shape == want.shape


def test_positions_out_of_range():
    box = mx.nd.array([[[0.1, 0.1, 0.3, 0.4]] * 6])
    match = mx.nd.array([[0, -1, 1, 1e30, NAN, 0]])
    code, mask = mx.nd.contrib.box_encode(mx.nd.ones((1, 6)), match, box, box[:, :1], mx.nd.zeros(4), mx.nd.ones(4))
    np.testing.assert_array_equal(mask.asnumpy()[0, :, 0], [1, 0, 0, 0, 0, 1])
    np.testing.assert_allclose(code.asnumpy(), 0, atol=1e-6)


def test_formats_of_negative_numbers():
    """1.9.1 leaves boxes whose first number is negative as they are."""
    data = np.array([[0.9, -0.5, 0, 1, 1]])
    center = mx.nd.contrib.box_nms(mx.nd.array(data), coord_start=1, score_index=0, out_format="center")
    np.testing.assert_allclose(center.asnumpy(), [[0.9, 0.25, 0.5, 1.5, 1]])
    corner = mx.nd.contrib.box_nms(center, coord_start=1, score_index=0, in_format="center")
    np.testing.assert_allclose(corner.asnumpy(), data)


@pytest.mark.parametrize("format", ["corner", "center"])
def test_nan_in_a_box(format):
    good, bad = mx.nd.array([[1, 1, 3, 4.0], [1, 1, 3, 4]]), mx.nd.array([[NAN, 1, 3, 4], [1, 1, 3, NAN]])
    for lhs, rhs in ((good, bad), (bad, good), (bad, bad)):
        assert np.isnan(mx.nd.contrib.box_iou(lhs, rhs, format=format).asnumpy()).all()
    data = mx.nd.concat(mx.nd.array([[0.9], [0.8], [0.7], [0.6]]), mx.nd.concat(bad, good, dim=0), dim=1)
    kept = mx.nd.contrib.box_nms(data, coord_start=1, score_index=0, in_format=format, out_format=format)
    np.testing.assert_allclose(kept.asnumpy()[:, 0], [0.9, 0.8, 0.7, -1])


def test_empty():
    assert mx.nd.contrib.box_nms(mx.nd.zeros((2, 0, 6))).shape == (2, 0, 6)
    rows, columns = mx.nd.contrib.bipartite_matching(mx.nd.zeros((2, 0, 3)), threshold=0.5)
    assert rows.shape == (2, 0) and (columns.asnumpy() == -1).all() and columns.shape == (2, 3)
    target = mx.nd.contrib.MultiBoxTarget(mx.nd.zeros((1, 4, 4)), mx.nd.zeros((2, 0, 5)), mx.nd.zeros((2, 3, 4)))
    assert (target[2].asnumpy() == -1).all()
    rois = mx.nd.contrib.MultiProposal(mx.nd.zeros((2, 2, 0, 4)), mx.nd.zeros((2, 4, 0, 4)), mx.nd.zeros((2, 3)), scales=(1,), ratios=(1,),
                                       rpn_post_nms_top_n=3)
    np.testing.assert_array_equal(rois.asnumpy(), [[image, 0, 0, 0, 0] for image in (0, 0, 0, 1, 1, 1)])
    assert mx.nd.contrib.MultiBoxDetection(mx.nd.ones((2, 1, 3)), mx.nd.ones((2, 12)), mx.nd.ones((1, 3, 4))).asnumpy().max() == -1


def test_more_boxes_than_anchors():
    anchor, label = np.array([[[0, 0, 1, 1], [2, 2, 3, 3]]]), np.full((1, 500, 5), 7.0)
    label[0, :, 1:] = [0, 0, 1, 1]
    _, mask, cls = mx.nd.contrib.MultiBoxTarget(mx.nd.array(anchor), mx.nd.array(label), mx.nd.ones((1, 9, 2)))
    np.testing.assert_array_equal(cls.asnumpy(), [[8, 0]])
    np.testing.assert_array_equal(mask.asnumpy(), [[1, 1, 1, 1, 0, 0, 0, 0]])
