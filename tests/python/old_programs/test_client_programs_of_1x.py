"""What programs of users did with 1.9.1, found by running them beside it."""
import numpy as np
import pytest

import mxnet as mx


@pytest.mark.parametrize("other, axis", [(((1, 3), "float32"), 0), (((1, 2), "int32"), 0), (((2, 3), "float32"), 1), (((2,), "float32"), 0)])
def test_concatenate_asserts_that_arrays_fit(other, axis):
    shape, dtype = other
    with pytest.raises(AssertionError, match=r"\[concatenate\] array 1 has shape"):
        mx.nd.concatenate([mx.nd.ones((1, 2)), mx.nd.ones(shape, dtype=dtype)], axis=axis)


def test_concatenate_from_the_last_axis():
    joined = mx.nd.concatenate([mx.nd.ones((2, 1)), mx.nd.zeros((2, 2))], axis=-1)
    np.testing.assert_array_equal(joined.asnumpy(), [[1, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("make", [list, np.array, mx.nd.array])
def test_rows_in_any_order(make):
    x = mx.nd.sparse.row_sparse_array((make([[1, 2], [3, 4]]), make([3, 1])), shape=(5, 2), dtype="float32")
    dense = np.zeros((5, 2), "float32")
    dense[3], dense[1] = [1, 2], [3, 4]
    np.testing.assert_array_equal(x.asnumpy(), dense)
    np.testing.assert_array_equal((x * 2).asnumpy(), dense * 2)
    weight = mx.nd.ones((5, 2))
    mx.nd.sgd_update(weight, x, out=weight, lr=0.1)
    np.testing.assert_allclose(weight.asnumpy(), 1 - 0.1 * dense, rtol=1e-6)


def test_a_closed_reader_opens_again_for_a_key(tmp_path):
    names = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    with mx.recordio.MXIndexedRecordIO(*names, "w") as writer:
        for key in range(3):
            writer.write_idx(key, b"record %d" % key)
    reader = mx.recordio.MXIndexedRecordIO(*names, "r")
    reader.close()
    assert reader.read_idx(1) == b"record 1" and reader.is_open
    reader.close()
    with pytest.raises(RuntimeError, match="closed"):
        reader.read()
    reader.seek(2)
    assert reader.read() == b"record 2"
    reader.close()
