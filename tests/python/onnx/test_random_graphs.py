"""Random graphs give what onnxruntime gives, in calls of several shapes in turn."""
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from random_graphs.compare import judge  # noqa: E402  (needs both)
from random_graphs.generate import generate  # noqa: E402
from random_graphs.shrink import show, shrink  # noqa: E402

pytestmark = pytest.mark.cpu


def check(numbers):
    for number in numbers:
        case = generate(number)
        with np.errstate(all="ignore"):
            found = judge(case) if case else []
            assert not found, f"graph {number}: {found[0]}\n{show(shrink(case, found))}"


@pytest.mark.parametrize("first", range(0, 300, 25))
def test_graphs(first):
    check(range(first, first + 25))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(300, 3300, 100))
def test_more_graphs(first):
    check(range(first, first + 100))
