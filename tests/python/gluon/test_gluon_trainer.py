"""Trainer: updates against plain NumPy, stores, contexts, states."""
import warnings

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

pytestmark = [pytest.mark.on_gpu, pytest.mark.gpu_quick]

RNG = np.random.RandomState(2)
X = RNG.randn(8, 3).astype('float32')
Y = RNG.randn(8, 2).astype('float32')


def linear(ctx=None):
    net = nn.Dense(2, in_units=3, prefix='linear_')
    net.initialize(mx.init.Zero(), ctx=ctx)
    return net


def steps(net, trainer, ctxs, count, batch_size=8):
    for _ in range(count):
        with autograd.record():
            losses = [((net(x) - y) ** 2).sum() for x, y in zip(gluon.utils.split_and_load(X, ctxs), gluon.utils.split_and_load(Y, ctxs))]
        autograd.backward(losses)
        trainer.step(batch_size)


def by_hand(count, lr=0.1, momentum=0.0, wd=0.0):
    w, b = np.zeros((2, 3)), np.zeros(2)
    mw, mb = np.zeros_like(w), np.zeros_like(b)
    for _ in range(count):
        d = 2 * (X @ w.T + b - Y) / 8
        mw = momentum * mw - lr * (d.T @ X + wd * w)
        mb = momentum * mb - lr * (d.sum(0) + wd * b)
        w, b = w + mw, b + mb
    return w, b


@pytest.mark.parametrize('copies', [1, 2])
def test_a_store_from_outside_needs_broadcast_and_pushpull(copies):
    calls = []

    @mx.kv.KVStoreBase.register
    class Outside(mx.kv.KVStoreBase):
        type, rank, num_workers = 'outside', 0, 1

        def broadcast(self, key, value, out, priority=0):
            calls.append(('broadcast', key))
            for o in out:
                value.copyto(o)

        def pushpull(self, key, value, out=None, priority=0):
            calls.append(('pushpull', key))
            total = sum(v.as_in_context(mx.cpu()) for v in value)
            for o in value if out is None else out:
                total.copyto(o)

        @staticmethod
        def is_capable(capability):
            return False

    try:
        contexts = [mx.cpu(i) for i in range(copies)]
        net = linear(contexts)
        # one that adds up over processes is asked by each, which may have one context
        trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1.0}, kvstore=mx.kv.create('outside'))
        with autograd.record():
            losses = [net(mx.nd.ones((1, net.weight.shape[1]), ctx=c)).sum() for c in contexts]
        autograd.backward(losses)
        before = net.weight.list_data()[0].asnumpy()
        trainer.step(copies)
    finally:
        del mx.kv.KVStoreBase.kv_registry['outside']
    keys = sorted({key for _, key in calls})
    assert calls == [('broadcast', k) for k in keys] + [('pushpull', k) for k in keys]
    for copy in net.weight.list_data():
        np.testing.assert_allclose(copy.asnumpy(), before - 1, rtol=1e-6)


@pytest.mark.parametrize('ctxs', [[mx.cpu(0)], [mx.cpu(0), mx.cpu(1)]], ids=['one', 'two'])
@pytest.mark.parametrize('kvstore, on_store',
                         [('device', None), ('local', None), ('local', False), ('local', True),
                          ('store', True), (None, None)])
def test_sgd_momentum_against_numpy(ctxs, kvstore, on_store):
    if kvstore is None and len(ctxs) > 1:
        pytest.skip('without a store copies are not summed')
    net = linear(ctxs)
    store = mx.kv.create('local') if kvstore == 'store' else kvstore
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9}, kvstore=store, update_on_kvstore=on_store)
    steps(net, trainer, ctxs, 4)
    w, b = by_hand(4, momentum=0.9)
    for c in ctxs:
        np.testing.assert_allclose(net.weight.data(c).asnumpy(), w, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(net.bias.data(c).asnumpy(), b, rtol=1e-4, atol=1e-5)


def test_compiled_training_is_the_same():
    net = linear()
    net.hybridize(static_alloc=True, static_shape=True)
    steps(net, gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}), [mx.cpu()], 5)
    np.testing.assert_allclose(net.weight.data().asnumpy(), by_hand(5)[0], rtol=1e-4, atol=1e-5)


def test_multipliers_and_null():
    net = linear()
    net.weight.lr_mult = 0.0
    net.bias.grad_req = 'null'
    steps(net, gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}), [mx.cpu()], 2)
    assert not net.weight.data().asnumpy().any() and not net.bias.data().asnumpy().any()


def test_gradients_accumulate_with_add():
    net = linear()
    net.collect_params().setattr('grad_req', 'add')
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    for _ in range(2):
        with autograd.record():
            loss = ((net(nd.array(X)) - nd.array(Y)) ** 2).sum()
        loss.backward()
    trainer.step(16)    # twice the same gradient over twice the batch
    np.testing.assert_allclose(net.weight.data().asnumpy(), by_hand(1)[0], rtol=1e-4, atol=1e-5)


def test_learning_rate_and_scheduler():
    net = linear()
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    assert trainer.learning_rate == 0.1 and isinstance(trainer.optimizer, mx.optimizer.Optimizer)
    trainer.set_learning_rate(0.0)
    steps(net, trainer, [mx.cpu()], 1)
    assert trainer.learning_rate == 0.0 and not net.weight.data().asnumpy().any()
    scheduled = gluon.Trainer(linear().collect_params(), 'sgd', {'lr_scheduler': mx.lr_scheduler.FactorScheduler(1, base_lr=0.5)})
    with pytest.raises(UserWarning):
        scheduled.set_learning_rate(0.2)


def test_allreduce_then_update():
    ctxs = [mx.cpu(0), mx.cpu(1)]
    net = linear(ctxs)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}, update_on_kvstore=False)
    with autograd.record():
        losses = [((net(x) - y) ** 2).sum() for x, y in zip(gluon.utils.split_and_load(X, ctxs), gluon.utils.split_and_load(Y, ctxs))]
    autograd.backward(losses)
    trainer.allreduce_grads()
    total = 2 * (0 - Y).T @ X
    for g in net.weight.list_grad():
        np.testing.assert_allclose(g.asnumpy(), total, rtol=1e-4, atol=1e-4)
    trainer.update(8)
    np.testing.assert_allclose(net.weight.data(ctxs[1]).asnumpy(), by_hand(1)[0], rtol=1e-4, atol=1e-5)
    on_store = gluon.Trainer(linear(ctxs).collect_params(), 'sgd', update_on_kvstore=True)
    for call in (on_store.allreduce_grads, lambda: on_store.update(1)):
        with pytest.raises(AssertionError, match='update_on_kvstore=False'):
            call()


def test_environment_decides_where_updates_run():
    ctxs = [mx.cpu(0), mx.cpu(1)]
    trainer = gluon.Trainer(linear(ctxs).collect_params(), 'sgd', kvstore='local')
    trainer._prepare()
    assert trainer._update_on_kvstore is True
    try:
        mx.util.set_env('MXNET_UPDATE_ON_KVSTORE', 0)
        other = gluon.Trainer(linear(ctxs).collect_params(), 'sgd', kvstore='local')
        other._prepare()
        assert other._update_on_kvstore is False
    finally:
        mx.util.set_env('MXNET_UPDATE_ON_KVSTORE', 1)


def test_stale_gradients():
    net = nn.HybridSequential()
    net.add(nn.Dense(1, in_units=1), nn.Dense(1, in_units=1))
    net.initialize(mx.init.One())
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1.0})

    def only_first():
        with autograd.record():
            y = net[0](nd.ones((1, 1)))
        y.backward()
    only_first()
    with pytest.raises(UserWarning, match='did not touch'):   # an exception, as in 1.9.1
        trainer.step(1)
    assert net[0].weight.data().asscalar() == 1, 'nothing was updated'
    before = net[1].weight.data().asscalar()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        trainer.step(1, ignore_stale_grad=True)
    assert net[1].weight.data().asscalar() == before and net[0].weight.data().asscalar() == 0


@pytest.mark.parametrize('on_store', [False, True])
def test_states_resume_training(tmp_path, on_store):
    name = str(tmp_path / 'states')
    ctxs = [mx.cpu(0), mx.cpu(1)]
    options = dict(kvstore='local', update_on_kvstore=on_store)
    net = linear(ctxs)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9}, **options)
    steps(net, trainer, ctxs, 2)
    trainer.save_states(name)
    again = linear(ctxs)
    for key, p in net.collect_params().items():
        again.collect_params()[key].set_data(p.data(ctxs[0]))
    resumed = gluon.Trainer(again.collect_params(), 'sgd', {'learning_rate': 0.5, 'momentum': 0.9}, **options)
    resumed.load_states(name)
    assert resumed.learning_rate == 0.1
    steps(again, resumed, ctxs, 2)
    np.testing.assert_allclose(again.weight.data(ctxs[1]).asnumpy(), by_hand(4, momentum=0.9)[0], rtol=1e-4, atol=1e-5)


def test_set_data_between_steps():
    ctxs = [mx.cpu(0), mx.cpu(1)]
    net = linear(ctxs)
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}, kvstore='local', update_on_kvstore=True)
    steps(net, trainer, ctxs, 3)
    net.weight.set_data(nd.zeros((2, 3)))
    net.bias.set_data(nd.zeros((2,)))
    steps(net, trainer, ctxs, 1)
    np.testing.assert_allclose(net.weight.data(ctxs[0]).asnumpy(), by_hand(1)[0], rtol=1e-4, atol=1e-5)


def test_parameters_with_open_shapes_join_later():
    net = nn.Dense(1)
    net.initialize(mx.init.One())
    trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1.0})
    with autograd.record():
        y = net(nd.array([[1, 2]]))
    y.backward()
    trainer.step(1)
    assert net.weight.data().asnumpy().tolist() == [[0, -1]]


def test_wrong_arguments():
    net = linear()
    for wrong in (3, [3], 'x'):
        with pytest.raises(ValueError):
            gluon.Trainer(wrong, 'sgd')
    with pytest.raises(ValueError):
        gluon.Trainer(net.collect_params(), 'no such optimizer')
    with pytest.raises(AssertionError, match='optimizer_params'):
        gluon.Trainer(net.collect_params(), mx.optimizer.SGD(), {'learning_rate': 1})
    with pytest.raises(RuntimeError):
        gluon.Trainer(nn.Dense(1).collect_params(), 'sgd')
    mixed = nn.HybridSequential()
    mixed.add(linear([mx.cpu(0)]), linear([mx.cpu(1)]))
    with pytest.raises(AssertionError, match='same contexts'):
        gluon.Trainer({p.name + str(i): p for i, b in enumerate(mixed) for p in b.collect_params().values()}, 'sgd')


@pytest.mark.parametrize('optimizer, rate', [('sgd', 0.5), ('adam', 0.05)])
def test_optimizers_learn(optimizer, rate):
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation='tanh'), nn.Dense(2))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {'learning_rate': rate})
    loss, history = gluon.loss.L2Loss(), []
    for _ in range(60):
        with autograd.record():
            value = loss(net(nd.array(X)), nd.array(Y))
        value.backward()
        trainer.step(8)
        history.append(value.mean().asscalar())
    assert history[-1] < 0.5 * history[0]


def test_what_is_no_store_is_named():
    net = mx.gluon.nn.Dense(1, in_units=2)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=3)
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 2))).sum()
    loss.backward()
    with pytest.raises(TypeError, match="kvstore must be KVStore, str or None, int was given"):
        trainer.step(1)


def test_rows_need_a_store():
    weight = gluon.Parameter("w", shape=(6, 2), stype="row_sparse", grad_stype="row_sparse")
    weight.initialize()
    gluon.Trainer([weight], "sgd", kvstore=None)
    with pytest.raises(TypeError, match=r"kvstore=None given with row_sparse Parameters.*a store or the name of one is accepted"):
        weight.row_sparse_data(mx.nd.array([1]))


@pytest.mark.parametrize("kvstore", ["local", "device"])
def test_states_of_row_sparse_parameters_are_loaded(tmp_path, kvstore):
    def start():
        weight = gluon.Parameter("w", shape=(6, 2), init=mx.init.One(), stype="row_sparse", grad_stype="row_sparse")
        weight.initialize()
        return weight, gluon.Trainer([weight], "adam", {"learning_rate": 0.1}, kvstore=kvstore)

    def go_on(weight, trainer):
        for rows in ([1, 4], [4, 5]):
            with autograd.record():
                loss = (weight.row_sparse_data(nd.array(rows)) ** 2).sum()
            loss.backward()
            trainer.step(1)
        return weight.row_sparse_data(nd.arange(6))
    weight, trainer = start()
    reached = go_on(weight, trainer)
    trainer.save_states(str(tmp_path / "states"))
    other, loaded = start()
    other.set_data(reached)
    loaded.load_states(str(tmp_path / "states"))
    np.testing.assert_array_equal(go_on(weight, trainer).asnumpy(), go_on(other, loaded).asnumpy())


@pytest.mark.parametrize("kvstore", ["local", "device"])
def test_rows_stay_when_another_parameter_is_overwritten(kvstore):
    """The store begins anew then. Here the row_sparse Parameter has the rows pulled last alone."""
    table = gluon.Parameter("table", shape=(6, 1), init=mx.init.Constant(0.5), stype="row_sparse", grad_stype="row_sparse")
    bias = gluon.Parameter("bias", shape=(1,), init=mx.init.Zero())
    for p in (table, bias):
        p.initialize()
    trainer = gluon.Trainer([table, bias], "sgd", {"learning_rate": 0.1, "momentum": 0.5}, kvstore=kvstore)
    wanted, moved = np.full((6, 1), 0.5, "float32"), np.zeros((6, 1), "float32")
    for rows in ([1, 2], [3, 4], [1, 4]):
        x = nd.sparse.csr_matrix(([1, 1], rows, [0, 2]), shape=(1, 6))
        with autograd.record():
            loss = nd.dot(x, table.row_sparse_data(x.indices)) + bias.data()
        loss.backward()
        trainer.step(1)
        moved[rows] = 0.5 * moved[rows] - 0.1
        wanted[rows] += moved[rows]
        bias.set_data(nd.ones(1))
    np.testing.assert_allclose(table.row_sparse_data(nd.arange(6)).asnumpy(), wanted, rtol=1e-6)
