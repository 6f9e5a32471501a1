"""Trains with Horovod, or without it on the whole batches, and writes the weights.

    horovod_program.py plain|horovod KIND FILE      KIND: words of `module gluon hybrid adam fp16 group`
    horovod_program.py calls
"""
import sys

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon

BATCH = 16


def calls(hvd):
    """Every collective function, with results that both ranks know."""
    rank, here = hvd.rank(), {}

    def same(name, array, expected):
        here[name] = array
        assert np.array_equal(array.asnumpy(), np.asarray(expected)), (rank, name, array, expected)
    for dtype in ("float32", "float64", "float16", "int32", "int64"):
        x = mx.nd.array(np.arange(12).reshape(4, 3), dtype=dtype) + rank
        both = 2 * np.arange(12).reshape(4, 3) + 1
        same("sum", hvd.allreduce(x, average=False, name="sum " + dtype), both)
        same("broadcast", hvd.broadcast(x, 1, name="broadcast " + dtype), np.arange(12).reshape(4, 3) + 1)
        rows = hvd.allgather(x[:1 + rank], name="rows " + dtype)
        same("rows", rows, [[0, 1, 2], [1, 2, 3], [4, 5, 6]])
        assert rows.dtype == x.dtype and rows.shape == (3, 3)
    one = mx.nd.ones(3) * (rank + 1)
    same("mean", hvd.allreduce(one), [1.5] * 3)
    same("max", hvd.allreduce(one, op=hvd.Max), [2] * 3)
    hvd.allreduce_(one, average=False)
    same("in place", one, [3] * 3)
    group = hvd.grouped_allreduce([mx.nd.full(2, rank), mx.nd.full((1, 2), rank + 5)], average=False)
    same("first of a group", group[0], [1, 1])
    same("second of a group", group[1], [[11, 11]])
    same("parts", hvd.alltoall(mx.nd.arange(4) + 10 * rank), [[0, 1, 10, 11], [2, 3, 12, 13]][rank])
    got = hvd.alltoall(mx.nd.arange(3) + 10 * rank, splits=[1, 2])
    same("uneven parts", got[0] if isinstance(got, (tuple, list)) else got, [[0, 10], [1, 2, 11, 12]][rank])
    same("scattered", hvd.reducescatter(mx.nd.arange(3) + rank, op=hvd.Sum), [[1, 3], [5]][rank])
    assert hvd.broadcast_object({"rank": rank}, root_rank=1) == {"rank": 1}
    assert [len(text) for text in hvd.allgather_object("x" * (rank + 1))] == [1, 2]
    pending = mx.nd.ones((200, 200))
    for _ in range(20):
        pending = mx.nd.dot(pending, pending) / 200
    same("pending", hvd.allreduce(pending, average=False), np.full((200, 200), 2))
    try:
        hvd.allreduce(mx.nd.ones(2 + rank), name="unlike").asnumpy()
    except mx.MXNetError as error:
        assert "shape" in str(error).lower()
    else:
        raise AssertionError("shapes that differ were added")


def batches(rank, size):
    random = np.random.RandomState(0)
    x, y = random.randn(64, 10).astype(np.float32), random.randint(0, 3, 64)
    part = BATCH // size
    mine = np.concatenate([np.arange(first + rank * part, first + (rank + 1) * part) for first in range(0, 64, BATCH)])
    return x[mine], y[mine], part


def train_gluon(hvd, kind):
    x, y, part = batches(*(hvd.rank(), hvd.size()) if hvd else (0, 1))
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.Dense(3))     # their shapes are found out by the first batch
    net.initialize(mx.init.Xavier())
    if "hybrid" in kind:
        net.hybridize()
    name, options = ("adam", {"learning_rate": .01}) if "adam" in kind else ("sgd", {"learning_rate": .1})
    if hvd:
        hvd.broadcast_parameters(net.collect_params(), root_rank=0)
        more = {"compression": hvd.Compression.fp16} if "fp16" in kind else {}
        trainer = hvd.DistributedTrainer(net.collect_params(), name, options, num_groups=2 * ("group" in kind), **more)
    else:
        trainer = gluon.Trainer(net.collect_params(), name, options, kvstore=None)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for step in range(20):
        at = slice(step % 4 * part, (step % 4 + 1) * part)
        with autograd.record():
            value = loss(net(mx.nd.array(x[at])), mx.nd.array(y[at]))
        value.backward()
        trainer.step(part)
    return [p.data() for p in net.collect_params().values()]


def train_module(hvd, _):
    x, y, part = batches(*(hvd.rank(), hvd.size()) if hvd else (0, 1))
    hidden = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="f"), act_type="relu")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name="g"), name="softmax")
    data = mx.io.NDArrayIter(x, y.astype(np.float32), part)
    module = mx.mod.Module(net)
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Xavier())
    optimizer = mx.optimizer.create("sgd", learning_rate=.1, momentum=.9, rescale_grad=1 / part)
    if hvd:
        optimizer = hvd.DistributedOptimizer(optimizer)
        args, states = module.get_params()
        hvd.broadcast_parameters(args, root_rank=0)
        module.set_params(args, states)
    module.fit(data, kvstore=None, optimizer=optimizer, num_epoch=5)
    return [value for _, value in sorted(module.get_params()[0].items())]


def main():
    way, *rest = sys.argv[1:]
    hvd = None
    if way != "plain":
        import horovod.mxnet as hvd
        hvd.init()
    if way == "calls":
        calls(hvd)
    else:
        kind, path = rest
        mx.random.seed(1 if hvd is None or hvd.rank() == 0 else 2)
        weights = (train_module if "module" in kind else train_gluon)(hvd, kind.split())
        if hvd:
            for number, w in enumerate(weights):
                assert np.array_equal(hvd.broadcast(w, 1, name=f"last {number}").asnumpy(), w.asnumpy()), "the ranks differ"
        if hvd is None or hvd.rank() == 0:
            np.savez(path, *[w.asnumpy() for w in weights])
    if hvd:
        hvd.shutdown()


if __name__ == "__main__":
    main()
