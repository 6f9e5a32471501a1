"""Texts in the domain of onnxruntime: tokens and hashes, as skl2onnx writes them."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import MICROSOFT, model, node, ours, theirs

TEXTS = np.array([["hello world"], [""], ["aab aab1 été x"], ["a\nb"], ["ababX  Xab"]], object)


def tokens(**attributes):
    return node("Tokenizer", ["x"], ["y"],
                **{"mark": 0, "mincharnum": 1, "pad_value": "#", **attributes}, **MICROSOFT)


@pytest.mark.parametrize("attributes", [
    {"tokenexp": "[a-z]+"}, {"tokenexp": r"\b\w\w+\b", "mark": 1}, {"tokenexp": "a|ab|aab"},
    {"tokenexp": "a*?"}, {"tokenexp": "."}, {"tokenexp": "[^ ]+", "mincharnum": 2},
    {"tokenexp": "^a+|b$"}, {"separators": [""]}, {"separators": [" ", "X"], "pad_value": ""},
    {"separators": ["b*"]}, {"separators": ["X+", "^ab"], "mincharnum": 2, "mark": 1}])
def test_tokens(attributes):
    for texts in (TEXTS, TEXTS[:, 0], TEXTS[1:2]):
        data = model([tokens(**attributes)], {"x": texts}, {})
        want, got = theirs(data, {"x": texts})[0], ours(data, {"x": texts})[0]
        if want.size:   # onnxruntime leaves a dimension out where there are no tokens
            assert got.shape == want.shape
        assert got.tolist() == want.tolist() or got.size == want.size == 0


def test_tokens_of_nothing():
    none = TEXTS[:0]
    assert ours(model([tokens(tokenexp="a")], {"x": none}, {}), {"x": none})[0].shape == (0, 1, 0)


def test_tokens_that_are_refused():
    for attributes, text in (({}, "neither separators nor tokenexp"),
                             ({"tokenexp": "a", "mincharnum": 0}, "mincharnum is 0"),
                             ({"tokenexp": "(a"}, r"a \) is missing")):
        with pytest.raises(mx.MXNetError, match=text):
            ours(model([tokens(**attributes)], {"x": TEXTS}, {}), {"x": TEXTS})


def test_a_long_text_is_searched_once():
    """Each token is found in one pass, whatever begins like one."""
    text = np.array(["ab" * 20000 + "c"], object)
    got = ours(model([tokens(tokenexp="(ab)*c")], {"x": text}, {}), {"x": text})[0]
    assert got.shape == (1, 1) and len(got[0, 0]) == 40001


@pytest.mark.parametrize("x", [np.array(["", "a", "ab", "abc", "abcd", "abcdefgh", "é"], object),
                               np.array([1, -2]), np.array([1.5, 2], np.float32),
                               np.array([[0.25], [3]]), np.array([7], np.int32)])
@pytest.mark.parametrize("attributes", [{}, {"positive": 0, "seed": 77}])
def test_hashes(x, attributes):
    data = model([node("MurmurHash3", ["x"], ["y"], **attributes, **MICROSOFT)], {"x": x}, {})
    want, got = theirs(data, {"x": x})[0], ours(data, {"x": x})[0]
    assert want.dtype == got.dtype and want.tolist() == got.tolist()


@pytest.mark.parametrize("count", [0, 3, 400])
def test_strings_go_in_and_out(count):
    """Many go in as one piece of memory: also those of bytes, and with zeros inside."""
    data = model([node("Identity", ["x"], ["y"])], {"x": TEXTS}, {})
    texts = np.array((["a", "", "été", "日本 b"] * 100)[:count], object).reshape(-1, 1)
    np.testing.assert_array_equal(ours(data, {"x": texts})[0], texts)
    if count:
        mixed = texts.copy()
        mixed[-1, 0] = "end".encode()
        assert ours(data, {"x": mixed})[0][-1, 0] == "end"
        mixed[-1, 0] = "a\0b"   # strings of C end there
        assert ours(data, {"x": mixed})[0][-2:, 0].tolist() == [texts[-2, 0], "a"]
        mixed[-1, 0] = 7
        with pytest.raises(TypeError, match="numbers or strings"):
            ours(data, {"x": mixed})
