"""onnx's own node tests, all but those that LEFT_OUT names with a reason. The list is checked."""
import re

import pytest

pytest.importorskip("onnx")
import node_tests  # noqa: E402  (needs onnx)

# What has no meaning here, by name of test.
LEFT_OUT = {
    r"bernoulli|training_dropout": "random numbers of onnx's own generator",
    r"image_decoder_decode_jpeg2k": "no JPEG 2000 decoder",
    r"resize_downsample_scales_(linear|cubic)_align_corners": "a fractional size; Resize's text, onnxruntime and PyTorch count elements",
}
CASES = node_tests.cases()
PLAIN = [name for name in CASES if "_expanded" not in name]


def _reason(name):
    return next((reason for pattern, reason in LEFT_OUT.items() if re.search(pattern, name)), None)


@pytest.mark.parametrize("name", [n for n in PLAIN if not _reason(n)])
def test_as_onnx_says(name):
    node_tests.run(CASES[name])


@pytest.mark.parametrize("pattern", LEFT_OUT)
def test_what_is_left_out_is_there_and_fails(pattern):
    """An entry without a test, or whose tests all pass, has to go."""
    names = [n for n in PLAIN if re.search(pattern, n)]
    assert names
    failed = 0
    for name in names[:20]:
        try:
            node_tests.run(CASES[name])
        except Exception:   # an error or another result: either is why it is left out
            failed += 1
    assert failed


def test_nearly_everything_is_tested():
    left = [n for n in PLAIN if _reason(n)]
    assert len(PLAIN) > 1300 and len(left) <= 12


@pytest.mark.nightly
@pytest.mark.parametrize("name", [n for n in CASES if "_expanded" in n and not _reason(n)])
def test_functions_written_out(name):
    node_tests.run(CASES[name])
