"""Strings that are moved, in ONNX files: what ONNX Runtime gives."""
import numpy as np
import pytest
from import_checks import model, node, ours, theirs

WORDS = np.array([["b", "", "ü"], ["b", "aa", "b"], ["B", "aa", "c"]], object)
INDICES = np.array([[1, 0, -1]], np.int64)


def check(made, feeds, weights=(), opset=18):
    data = model([made], {k: v for k, v in feeds.items()}, dict(weights), opset)
    for one, other in zip(theirs(data, feeds), ours(data, feeds)):
        assert other.shape == one.shape
        assert other.tolist() == one.tolist()


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("ordered", [0, 1])
def test_unique(ordered, axis):
    more = {} if axis is None else {"axis": axis}
    check(node("Unique", ["x"], ["y", "y1", "y2", "y3"], sorted=ordered, **more), {"x": WORDS})


def test_unique_of_nothing():
    check(node("Unique", ["x"], ["y", "y1", "y2", "y3"]), {"x": np.array([], object)})


@pytest.mark.parametrize("axis", [0, 1])
def test_scattered_elements(axis):
    feeds = {"x": WORDS, "i": INDICES if axis == 0 else INDICES.T, "u": np.array([["p", "q", "r"]], object)}
    feeds["u"] = feeds["u"].reshape(feeds["i"].shape)
    check(node("ScatterElements", ["x", "i", "u"], ["y"], axis=axis), feeds)


def test_scattered_rows():
    feeds = {"x": WORDS, "u": np.array([["p", "q", "r"]], object)}
    check(node("ScatterND", ["x", "i", "u"], ["y"]), feeds, {"i": np.array([[2]], np.int64)})


@pytest.mark.parametrize("axis", [-1, 0])
def test_one_hot(axis):
    feeds = {"i": np.array([0, 2, 5], np.int64), "v": np.array(["no", "yes"], object)}
    check(node("OneHot", ["i", "d", "v"], ["y"], axis=axis), feeds, {"d": np.array(3, np.int64)})


@pytest.mark.parametrize("time", [0, 1])
def test_reversed_sequences(time):
    made = node("ReverseSequence", ["x", "n"], ["y"], time_axis=time, batch_axis=1 - time)
    check(made, {"x": WORDS}, {"n": np.array([1, 3, 2], np.int64)})


def test_reductions_of_strings_are_refused():
    data = model([node("ScatterND", ["x", "i", "u"], ["y"], reduction="add")],
                 {"x": WORDS, "u": WORDS[:1]}, {"i": np.array([[2]], np.int64)}, 18)
    with pytest.raises(ValueError, match="reduction=add of strings; accepted: none"):
        ours(data, {"x": WORDS, "u": WORDS[:1]})
