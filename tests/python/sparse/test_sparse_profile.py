"""What runs on dense copies is counted in the profile."""
import json

import mxnet as mx
import pytest

pytestmark = pytest.mark.on_gpu


def test_fallbacks_are_markers(tmp_path):
    x = mx.nd.array([[0, 1], [2, 0]]).tostype("csr")
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / "profile.json"))
    mx.profiler.set_state('run')
    for _ in range(3):
        mx.nd.softmax(x).wait_to_read()
    mx.profiler.set_state('stop')
    table = json.loads(mx.profiler.dumps(reset=True, format="json"))
    found = [rows["softmax"]["Count"] for category, rows in table["Time"].items() if "storage_fallback" in category]
    assert found == [3]
