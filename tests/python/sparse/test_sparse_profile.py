"""What runs on dense copies is counted in the profile."""
import json

import mxnet as mx
import numpy as np
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


def test_constants_into_rows_make_no_dense_copy(tmp_path):
    x = mx.nd.sparse.zeros("row_sparse", (5, 3))
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / "profile.json"))
    mx.profiler.set_state('run')
    x[:] = 2
    x.wait_to_read()
    mx.profiler.set_state('stop')
    table = json.loads(mx.profiler.dumps(reset=True, format="json"))
    assert not [c for c in table["Time"] if "storage_fallback" in c]
    np.testing.assert_array_equal(x.indices.asnumpy(), range(5))
    np.testing.assert_array_equal(x.asnumpy(), np.full((5, 3), 2, "float32"))
    x[:] = 0     # zeros are stored as well
    np.testing.assert_array_equal(x.indices.asnumpy(), range(5))
    np.testing.assert_array_equal(x.data.asnumpy(), np.zeros((5, 3), "float32"))
