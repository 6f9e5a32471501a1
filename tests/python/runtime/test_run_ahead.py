"""What a program holds that pushes work and does not wait."""
import pytest

import mxnet as mx

pytestmark = pytest.mark.cpu


def test_results_of_idle_arrays_wait_for_their_turn():
    """A program that is far ahead of the engine would have them in memory until what reads them has
    run."""
    big, idle, total = mx.nd.ones((2000, 2000)), mx.nd.ones((256, 256)), mx.nd.zeros((256, 256))
    out = mx.nd.zeros((2000, 2000))
    mx.nd.waitall()
    for _ in range(3):
        mx.nd.dot(big, big, out=out)
    total += out[0, 0] * 0     # from here on the engine is busy
    mx.storage.reset_peak(mx.cpu())
    before = mx.storage.stats(mx.cpu()).used_bytes
    for _ in range(400):
        total += idle * 2
    mx.nd.waitall()
    assert (total == 800).min().asscalar() == 1
    assert mx.storage.stats(mx.cpu()).peak_used_bytes - before < 50 << 20    # of 400 results of 256 KiB
