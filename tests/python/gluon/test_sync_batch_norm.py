"""_contrib_SyncBatchNorm and its layer: several contexts of one process agree with one
BatchNorm."""
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon.contrib.nn import SyncBatchNorm

RNG = np.random.RandomState(0)
X = RNG.uniform(-1, 1, (7, 3, 2, 4)) * np.array([1, 3, 0.1]).reshape(1, 3, 1, 1) + 5
HEAD = RNG.uniform(-1, 1, X.shape)


def run(parts, key, dtype="float64", **attrs):
    """Forward and backward of parts of the batch, each on a context of its own."""
    results, arrays = [], []
    for i, (x, head) in enumerate(parts):
        ctx = mx.cpu(i)
        own = [mx.nd.array(v, ctx=ctx, dtype=dtype) for v in (x, [1, 2, 3.0], [0.1, 0.2, 0.3], np.zeros(3), np.ones(3))]
        for a in own[:3]:
            a.attach_grad()
        arrays.append((own, mx.nd.array(head, ctx=ctx, dtype=dtype)))
    with mx.autograd.record():
        outs = [mx.nd.contrib.SyncBatchNorm(*own, key=key, ndev=len(parts), **attrs) for own, _ in arrays]
    mx.autograd.backward(outs, [head for _, head in arrays])
    for (own, _), out in zip(arrays, outs):
        results.append([a.asnumpy() for a in (out, own[0].grad, own[1].grad, own[2].grad, own[3], own[4])])
    return results


def whole(dtype="float64", **attrs):
    own = [mx.nd.array(v, dtype=dtype) for v in (X, [1, 2, 3.0], [0.1, 0.2, 0.3], np.zeros(3), np.ones(3))]
    for a in own[:3]:
        a.attach_grad()
    with mx.autograd.record():
        out = mx.nd.BatchNorm(*own, **attrs)
    out.backward(mx.nd.array(HEAD, dtype=dtype))
    return [a.asnumpy() for a in (out, own[0].grad, own[1].grad, own[2].grad, own[3], own[4])]


def agree(parts, want, tol):
    for i in (0, 1):
        np.testing.assert_allclose(np.concatenate([p[i] for p in parts]), want[i], rtol=tol, atol=tol * 10)
    for i in (2, 3):   # each device has its part of the gradients of gamma and beta
        np.testing.assert_allclose(sum(p[i] for p in parts), want[i], rtol=tol, atol=tol * 100)
    for i in (4, 5):
        for p in parts:
            np.testing.assert_allclose(p[i], want[i], rtol=tol)


@pytest.mark.parametrize("cuts", [(4,), (1, 2), (2, 2, 5)])
@pytest.mark.parametrize("fix_gamma", [True, False])
def test_contexts_agree_with_one_batch(cuts, fix_gamma):
    parts = list(zip(np.split(X, cuts), np.split(HEAD, cuts)))   # one of the last is empty
    agree(run(parts, f"agree{cuts}{fix_gamma}", fix_gamma=fix_gamma), whole(fix_gamma=fix_gamma), 1e-9)


def test_one_device_is_batch_norm():
    agree(run([(X, HEAD)], "one", "float32", fix_gamma=False), whole("float32", fix_gamma=False), 2e-5)


def test_global_statistics_and_prediction_do_not_wait():
    x = mx.nd.array(X, dtype="float32")
    own = [mx.nd.array(v) for v in ([1, 2, 3.0], [0.1, 0.2, 0.3], np.zeros(3), np.ones(3))]
    want = mx.nd.BatchNorm(x, *own, fix_gamma=False).asnumpy()
    np.testing.assert_allclose(mx.nd.contrib.SyncBatchNorm(x, *own, key="p", ndev=2, fix_gamma=False).asnumpy(), want, rtol=1e-5)
    with mx.autograd.record():
        y = mx.nd.contrib.SyncBatchNorm(x, *own, key="p", ndev=2, fix_gamma=False, use_global_stats=True)
    np.testing.assert_allclose(y.asnumpy(), want, rtol=1e-5)


def test_threads_meet_many_times():
    failures = []

    def train(i):
        try:
            x = mx.nd.array(X[i::2][:3], ctx=mx.cpu(i))
            own = [mx.nd.array(v, ctx=mx.cpu(i)) for v in ([1, 2, 3.0], [0.1, 0.2, 0.3], np.zeros(3), np.ones(3))]
            x.attach_grad()
            for _ in range(20):
                with mx.autograd.record():
                    y = mx.nd.contrib.SyncBatchNorm(x, *own, key="threads", ndev=2)
                y.backward()
                x.grad.wait_to_read()
        except Exception as error:   # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=train, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not failures and not any(t.is_alive() for t in threads)


@pytest.mark.parametrize("hybrid", [False, True])
def test_layer(hybrid):
    contexts = [mx.cpu(0), mx.cpu(1)]
    net = mx.gluon.nn.HybridSequential()
    net.add(SyncBatchNorm(in_channels=3, num_devices=2), mx.gluon.nn.Conv2D(2, 1, in_channels=3))
    one = mx.gluon.nn.HybridSequential()
    one.add(mx.gluon.nn.BatchNorm(in_channels=3), mx.gluon.nn.Conv2D(2, 1, in_channels=3))
    net.initialize(mx.init.Xavier(), ctx=contexts)
    one.initialize()
    for a, b in zip(net.collect_params().values(), one.collect_params().values()):
        b.set_data(a.data(contexts[0]))
    if hybrid:
        net.hybridize()
    x = mx.nd.array(X)
    for _ in range(2):
        parts = mx.gluon.utils.split_and_load(x[:6], contexts)
        with mx.autograd.record():
            losses = [(net(p) ** 2).sum() for p in parts]
            loss = (one(x[:6]) ** 2).sum()
        mx.autograd.backward(losses)
        loss.backward()
        for trainer_net in (net, one):
            trainer = mx.gluon.Trainer(trainer_net.collect_params(), "sgd", {"learning_rate": 0.01}, kvstore="local")
            trainer.step(6)
        np.testing.assert_allclose(sum(part.asscalar() for part in losses), loss.asscalar(), rtol=1e-4)
    for a, b in zip(net.collect_params().values(), one.collect_params().values()):
        for ctx in contexts:
            np.testing.assert_allclose(a.data(ctx).asnumpy(), b.data().asnumpy(), rtol=2e-4, atol=2e-5)
    assert "key='" in repr(net[0]) and "ndev=2" in repr(net[0])


def test_layer_without_num_devices_warns():
    with pytest.warns(UserWarning, match="num_devices"):
        layer = SyncBatchNorm(in_channels=3)
    layer.initialize()
    assert layer(mx.nd.ones((2, 3, 2))).shape == (2, 3, 2)


def test_wrong_arguments():
    own = [mx.nd.ones((3,)) for _ in range(4)]
    for attrs in ({"ndev": 1}, {"key": "k", "ndev": 0}):
        with pytest.raises(mx.base.MXNetError, match="_contrib_SyncBatchNorm"):
            mx.nd.contrib.SyncBatchNorm(mx.nd.ones((2, 3)), *own, **attrs)
    with pytest.raises(mx.base.MXNetError, match="_contrib_SyncBatchNorm"):
        mx.nd.contrib.SyncBatchNorm(mx.nd.ones((3,)), *own, key="k")
