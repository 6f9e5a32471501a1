"""row_sparse values of several GPUs in stores of one process."""
import mxnet as mx
import numpy as np
import pytest

pytestmark = [pytest.mark.several_gpus,
              pytest.mark.skipif(mx.num_gpus() < 2, reason="fewer than two GPUs")]

SHAPE = (6, 3)


def rows(values, ctx):
    """row_sparse, with these values in whole rows."""
    dense = np.zeros(SHAPE, "float32")
    for row, value in values.items():
        dense[row] = value
    return mx.nd.array(dense, ctx=ctx).tostype("row_sparse")


@pytest.mark.parametrize("stype", ["row_sparse", "default"])
@pytest.mark.parametrize("store", ["local", "device"])
def test_pushed_rows_update_the_value(store, stype):
    kv = mx.kv.create(store)
    kv.init("w", mx.nd.ones(SHAPE, ctx=mx.gpu(0)).tostype(stype))
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=.5))
    kv.push("w", [rows({2: 1}, mx.gpu(0)), rows({2: 1, 4: 2}, mx.gpu(1))])
    kv.push("w", rows({5: 2}, mx.gpu(1)))
    want = np.ones(SHAPE, "float32")
    want[[2, 4, 5]] = 0
    if stype == "default":
        out = mx.nd.zeros(SHAPE, ctx=mx.gpu(1))
        kv.pull("w", out=out)
        np.testing.assert_allclose(out.asnumpy(), want)
    outs = [mx.nd.sparse.zeros("row_sparse", SHAPE, ctx=mx.gpu(i)) for i in range(2)]
    kv.row_sparse_pull("w", out=outs, row_ids=[mx.nd.array([4, 3, 4], ctx=mx.gpu(0)),
                                               mx.nd.array([5, 2, 0], ctx=mx.gpu(1))])
    assert [o.indices.asnumpy().tolist() for o in outs] == [[3, 4], [0, 2, 5]]
    for out in outs:
        chosen = out.indices.asnumpy().astype(int)
        np.testing.assert_allclose(out.data.asnumpy(), want[chosen])


@pytest.mark.parametrize("store", ["local", "device"])
def test_sums_without_an_optimizer(store):
    kv = mx.kv.create(store)
    kv.init(0, mx.nd.zeros(SHAPE, ctx=mx.gpu(1)).tostype("row_sparse"))
    kv.push(0, [rows({0: 1, 3: 2}, mx.gpu(i)) for i in range(2)])
    out = mx.nd.sparse.zeros("row_sparse", SHAPE, ctx=mx.gpu(0))
    kv.row_sparse_pull(0, out=out, row_ids=mx.nd.arange(6, ctx=mx.gpu(0)))
    np.testing.assert_allclose(out.asnumpy()[:, 0], [2, 0, 0, 4, 0, 0])


def test_rows_that_are_not_there():
    kv = mx.kv.create("device")
    kv.init(0, mx.nd.zeros(SHAPE, ctx=mx.gpu(0)).tostype("row_sparse"))
    out = mx.nd.sparse.zeros("row_sparse", SHAPE, ctx=mx.gpu(0))
    with pytest.raises(IndexError, match="9"):
        kv.row_sparse_pull(0, out=out, row_ids=mx.nd.array([1, 9], ctx=mx.gpu(0)))
        out.wait_to_read()
