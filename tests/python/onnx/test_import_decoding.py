"""com.microsoft's operators around decoders: repeated tokens, paths through costs, int16."""
import numpy as np
import pytest

from import_checks import MICROSOFT, check, model, node, ours, theirs

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("length", [1, 6, 12])
def test_tokens_that_would_repeat_themselves(length, size):
    ids = RANDOM.randint(0, 3, (4, length))
    feeds = {"ids": ids, "s": RANDOM.randn(4, 9).astype("float32")}
    data = model([node("NGramRepeatBlock", ["ids", "s"], ["y"], ngram_size=size, **MICROSOFT)], feeds, {})
    (want,), (got,) = theirs(data, feeds), ours(data, feeds)
    np.testing.assert_array_equal(got, want)
    if length == 12 and size < 4:
        assert np.isinf(got).any()


@pytest.mark.parametrize("token, size, message", [
    (9, 2, "an id is 9; accepted: 0 to 8"), (-1, 1, "an id is -1"), (1, 0, "ngram_size is 0")])
def test_tokens_that_are_none(token, size, message):
    feeds = {"ids": np.full((1, 4), token), "s": np.zeros((1, 9), "float32")}
    data = model([node("NGramRepeatBlock", ["ids", "s"], ["y"], ngram_size=size, **MICROSOFT)], feeds, {})
    with pytest.raises(ValueError, match=message):
        ours(data, feeds)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (7, 9), (1, 9, 4), (30, 41), (0, 3)])
@pytest.mark.parametrize("levels", [3, 1000])
def test_the_cheapest_path(shape, levels):
    """Also where many paths cost the same."""
    costs = RANDOM.randint(-levels // 2, levels, shape).astype("float32")
    check(node("DynamicTimeWarping", ["x"], ["y"], **MICROSOFT), {"x": costs})


def test_paths_of_several_matrices_are_refused():
    feeds = {"x": np.zeros((2, 3, 4), "float32")}
    data = model([node("DynamicTimeWarping", ["x"], ["y"], **MICROSOFT)], feeds, {})
    with pytest.raises(ValueError, match=r"costs have shape \(2, 3, 4\); accepted"):
        ours(data, feeds)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((5, 2, 70), (70, 3)), ((1, 4), (4, 1))])
def test_products_of_int16(shapes):
    """Sums wrap at 32 bits."""
    x, w = (RANDOM.randint(-32768, 32768, s).astype("int16") for s in shapes)
    x[..., 0] = w[0] = 32767
    check(node("MatMulInteger16", ["x", "w"], ["y"], **MICROSOFT), {"x": x, "w": w}, rtol=0, atol=0)
