"""Row_sparse values in distributed stores: states as text, and jobs of real processes."""
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.kvstore import _states

from test_kvstore_dist import jobs, run_job


def _sparse(rows, shape, dtype="float32"):
    values = np.arange(1, 1 + len(rows) * shape[1]).reshape((len(rows), shape[1]))
    return nd.sparse.row_sparse_array((values.astype(dtype), rows), shape=shape, dtype=dtype)


def _sent(state):
    return _states.decode(json.loads(json.dumps(_states.encode(state))))


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_states_of_rows_are_sent_cut_and_joined(dtype):
    state = _sparse([1, 4, 5], (8, 2), dtype)
    sent = _sent((state, None))[0]
    assert sent.stype == "row_sparse" and sent.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(sent.indices.asnumpy(), [1, 4, 5])
    np.testing.assert_array_equal(sent.asnumpy(), state.asnumpy())
    weights = [nd.zeros((rows, 2)) for rows in (3, 1, 4)]
    parts = [_states.part_of(sent, begin, weight) for begin, weight in zip((0, 6, 8), weights)]
    assert [part.indices.asnumpy().tolist() for part in parts] == [[1], [], [0, 1]]
    assert [part.shape for part in parts] == [(3, 2), (1, 2), (4, 2)]
    np.testing.assert_array_equal(_states.join(parts, (8, 2)).asnumpy(), state.asnumpy())
    with pytest.raises(mx.MXNetError, match=r"a loaded state has shape \(8,2\)|a loaded state has shape \(8, 2\)"):
        _states.part_of(sent, 12, weights[2])


def test_states_without_rows_are_sent():
    none = _sent(nd.sparse.zeros("row_sparse", (5, 3), dtype="float32"))
    assert none.stype == "row_sparse" and none.shape == (5, 3) and none.indices.size == 0
    whole = _states.join([none, _sparse([0], (2, 3))], (7, 3))
    assert whole.indices.asnumpy().tolist() == [5]


def test_dense_states_of_sparse_weights_are_cut():
    state = nd.arange(12).reshape((6, 2))
    part = _states.part_of(state, 4, _sparse([0], (3, 2)))
    np.testing.assert_array_equal(part.asnumpy(), [[4, 5], [6, 7], [8, 9]])


# The optimizer runs on the servers, in parts, or on the workers; and once more in this process, on
# what all workers push.
LAZY = """
shape, steps = (60, 8), 4
def gradient(worker, step):
    random = np.random.RandomState(100 * worker + step)
    rows = np.sort(random.choice(60, 9, replace=False))
    values = np.round(random.uniform(-8, 8, (9, 8))).astype('float32')      # sums of any order have the same bits
    return nd.sparse.row_sparse_array((values, rows), shape=shape)
start = np.random.RandomState(7).uniform(-1, 1, shape).astype('float32')
first = nd.array(start if kv.rank == 0 else start * 0)
keys = {'table': first.tostype('row_sparse'), 'dense': first}
options = dict(learning_rate=0.25, momentum=0.5, wd=0.125, lazy_update=True)
kv.set_optimizer(mx.optimizer.SGD(**options))
expected = {}
for key, value in keys.items():
    kv.init(key, value)
    weight = nd.array(start).tostype(value.stype)
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(**options))
    for step in range(steps):
        total = sum(gradient(w, step).asnumpy() for w in range(kv.num_workers))
        rows = np.unique(np.concatenate([gradient(w, step).indices.asnumpy() for w in range(kv.num_workers)]))
        updater(key, nd.sparse.row_sparse_array((total[rows], rows), shape=shape), weight)
    expected[key] = weight.asnumpy()
for step in range(steps):
    for key in keys:
        kv.push(key, gradient(kv.rank, step), priority=-step)
    if step == 1 and kv._num_servers:
        kv.barrier()
        if kv.rank == 0:
            kv.save_optimizer_states('states', dump_optimizer=True)
            kv.load_optimizer_states('states')
        kv.barrier()
for key in keys:
    rows = nd.sparse.zeros('row_sparse', shape)
    kv.row_sparse_pull(key, out=rows, row_ids=nd.array([59, 3, 3, 0]))
    assert rows.indices.asnumpy().tolist() == [0, 3, 59]
    np.testing.assert_array_equal(rows.data.asnumpy(), expected[key][[0, 3, 59]])
    for out in (nd.zeros(shape), nd.sparse.zeros('row_sparse', shape)):
        kv.pull(key, out=out, ignore_sparse=False)
        np.testing.assert_array_equal(out.asnumpy(), expected[key])
assert np.abs(expected['table'] - start).max() > 1
say(kv.type, 'IndexError' if 'whole numbers from 0 to 59' in error_of(
    lambda: (kv.row_sparse_pull('table', out=rows, row_ids=nd.array([60])), rows.wait_to_read())) else '')
if kv._num_servers:
    kv.set_gradient_compression({'type': '2bit', 'threshold': 0.5})
    say('accepted: dense values' in error_of(lambda: kv.push('table', gradient(0, 0))))
kv.barrier()
"""


@jobs
@pytest.mark.parametrize("workers, servers, store", [(2, 2, "dist_sync"), (2, 1, "dist_p3"), (2, 0, "dist_sync")])
def test_lazy_updates_of_rows(tmp_path, workers, servers, store):
    lines, _ = run_job(tmp_path, workers, servers, LAZY, STORE=store, MXNET_KVSTORE_BIGARRAY_BOUND="200",
                       MXNET_KVSTORE_SLICE_THRESHOLD="128")
    assert lines == {w: [f"{store} IndexError"] + ["True"] * bool(servers) for w in range(workers)}


@jobs
def test_rows_are_read_before_the_first_step(tmp_path):
    """The optimizer was sent with the gradients' scale 1, and step(8) was an error."""
    lines, _ = run_job(tmp_path, 2, 1, """
class Net(gluon.Block):
    def __init__(self):
        super().__init__()
        self.weight = self.params.get('weight', shape=(6, 2), stype='row_sparse', grad_stype='row_sparse')
    def forward(self, ids):
        return nd.Embedding(ids, self.weight.row_sparse_data(ids), input_dim=6, output_dim=2, sparse_grad=True)
net = Net()
net.initialize(mx.init.One())
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1.0}, kvstore=kv, update_on_kvstore=True)
ids = nd.array([1, 3])
for _ in range(2):
    with autograd.record():
        loss = net(ids).sum()
    loss.backward()
    trainer.step(8)
say(net.weight.row_sparse_data(nd.arange(6)).asnumpy()[:, 0].tolist(), 'batch size' in error_of(lambda: trainer.step(4)))
""")
    assert lines == {w: ["[1.0, 0.5, 1.0, 0.5, 1.0, 1.0] True"] for w in range(2)}


# With two servers the tables are split by rows; "long" is one row that is split, of a dense value.
NO_ROWS = """
shape = (40, 8)
first = nd.ones(shape, dtype='float64')
kv.init('table', first.tostype('row_sparse'))
kv.init('dense', first)
kv.init('long', nd.ones((1, 300), dtype='float64'))
kv.init('empty', nd.sparse.zeros('row_sparse', shape, dtype='float64'))
kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5, wd=0.25, lazy_update=True))
# Of a row that lies on several servers the gradient is sent as a dense one: the decay acts.
sums = {'table': 8, 'dense': 8, 'empty': 0, 'long': None}
for key in sums:
    shape = (1, 300) if key == 'long' else (40, 8)
    for _ in range(2):
        kv.push(key, nd.sparse.zeros('row_sparse', shape, dtype='float64'))
    for ids in (nd.zeros((0,)), nd.zeros((0,), dtype='int64'), nd.zeros((0, 2), dtype='int32')):
        for dtype in ('float64', 'float32'):
            out = nd.ones(shape, dtype=dtype).tostype('row_sparse')
            kv.row_sparse_pull(key, out=out, row_ids=ids)
            assert out.data.shape == (0, shape[1]) and out.indices.shape == (0,) and not out.asnumpy().any(), key
    out = nd.sparse.zeros('row_sparse', shape)
    kv.row_sparse_pull(key, out=out, row_ids=nd.array([0]))
    assert out.dtype == np.float32 and sums[key] in (None, float(out.asnumpy().sum())), (key, out)
say('key csr got a csr array; accepted: default and row_sparse' in error_of(lambda: kv.init('csr', nd.ones((2, 2)).tostype('csr'))),
    'csr array' in error_of(lambda: kv.pull('dense', out=nd.ones((40, 8)).tostype('csr'), ignore_sparse=False)))
kv.barrier()
"""


@jobs
@pytest.mark.parametrize("servers, store", [(2, "dist_sync"), (2, "dist_async"), (1, "dist_p3"), (0, "dist_sync")])
def test_pushes_and_pulls_of_no_rows(tmp_path, servers, store):
    lines, _ = run_job(tmp_path, 2, servers, NO_ROWS, STORE=store, MXNET_KVSTORE_BIGARRAY_BOUND="200", MXNET_KVSTORE_SLICE_THRESHOLD="128")
    assert lines == {w: ["True True"] for w in range(2)}
