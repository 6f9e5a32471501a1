"""Images of one place or channel, which lie the same in both orders of channels, and images that
are repeated over results of more dimensions: a plan keeps images channels last behind
convolutions."""
import numpy as np
import pytest

from import_checks import check, node

RANDOM = np.random.RandomState(0)


def floats(*shape):
    return RANDOM.randn(*shape).astype("f")


@pytest.mark.parametrize("mode", ["constant", "edge"])
@pytest.mark.parametrize("channels, places", [(16, (1, 1)), (1, (3, 4)), (16, (3, 4)), (3, (1, 5))])
def test_padding_behind_a_convolution(mode, channels, places):
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Pad", ["c", "pads"], ["y"], mode=mode)]
    for pads in ([0, 1, 0, 0, 0, 0, 0, 1], [1, 0, 2, 0, 0, 0, 1, 3], [0, 2, 0, 1, 2, 1, 0, 0]):
        check(nodes, {"x": floats(2, 3, *places)}, {"w": floats(channels, 3, 1, 1), "pads": np.array(pads)})


def test_padding_of_one_channel_in_front_of_a_convolution():
    nodes = [node("Conv", ["x", "v"], ["c"]), node("Conv", ["c", "w"], ["y"], pads=[1, 0, 1, 0], strides=[2, 2])]
    check(nodes, {"x": floats(2, 5, 5, 7)}, {"v": floats(1, 5, 2, 1), "w": floats(8, 1, 3, 1)})


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_images_of_one_place_put_together(axis):
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Concat", ["c", "c"], ["both"], axis=axis), node("Relu", ["both"], ["y"])]
    check(nodes, {"x": floats(2, 3, 1, 1)}, {"w": floats(16, 3, 1, 1)})
    nodes[1] = node("Concat", ["x", "c", "other"], ["both"], axis=axis)
    others = [2, 16, 1, 1]
    others[axis] = 4
    check(nodes, {"x": floats(2, 16, 1, 1)}, {"w": floats(16, 16, 1, 1), "other": floats(*others)})


@pytest.mark.parametrize("shape", [(1, 1, 16, 4, 8), (1, 1, 1, 4, 8), (1, 1, 16, 1, 1), (2, 1, 16, 1, 8), (1, 3, 1, 1, 1)])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("fused", [False, True])
def test_results_of_more_dimensions(shape, batch, fused):
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Add", ["c", "z"], ["y"])]
    if fused:
        nodes[1:] = [node("Add", ["c", "z"], ["a"]), node("Mul", ["a", "half"], ["m"]), node("Relu", ["m"], ["y"])]
    feeds = {"x": floats(batch, 3, 4, 8), "z": floats(*shape)}
    check(nodes, feeds, {"w": floats(16, 3, 1, 1), "half": np.float32(0.5).reshape(())})


@pytest.mark.parametrize("shape", [(3, 16, 2), (16, 2), (2,), (3, 1, 1), (1, 16, 2)])
@pytest.mark.parametrize("known", [False, True])
def test_addends_of_fewer_dimensions(shape, known):
    nodes = [node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), node("Add", ["c", "z"], ["a"]), node("Relu", ["a"], ["r"]),
             node("Mul", ["r", "half"], ["y"])]
    weights = {"w": floats(3, 4, 3, 3), "half": np.float32(0.5).reshape(())}
    feeds = {"x": floats(1, 4, 16, 2)}
    (weights if known else feeds)["z"] = floats(*shape)
    check(nodes, feeds, weights)


def test_an_addend_of_fewer_dimensions_that_ends_there():
    """The result may take its memory."""
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Exp", ["z"], ["e"]), node("Transpose", ["e"], ["t"], perm=[0, 2, 1]),
             node("Add", ["c", "t"], ["a"]), node("Mul", ["a", "half"], ["m"]), node("Tanh", ["m"], ["y"])]
    check(nodes, {"x": floats(1, 4, 6, 5), "z": floats(16, 5, 6)}, {"w": floats(16, 4, 1, 1), "half": np.float32(0.5).reshape(())})
