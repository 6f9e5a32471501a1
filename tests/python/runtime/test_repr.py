"""What repr() shows where MXNet 1.9.1 shows a class and an address."""
import re

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import data as gdata

ADDRESS = re.compile("object at 0x")


def net():
    block = gluon.nn.Dense(3, in_units=2)
    block.initialize()
    return block


DATASET = gdata.ArrayDataset(nd.ones((4, 2)), nd.ones((4,)))
SYMBOL = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")


@pytest.mark.parametrize("make, text", [
    (lambda: mx.optimizer.create("sgd", learning_rate=0.1, momentum=0.9), "SGD(momentum=0.9, learning_rate=0.1)"),
    (lambda: mx.optimizer.create("adam"), "Adam(learning_rate=0.001)"),
    (lambda: mx.optimizer.get_updater(mx.optimizer.SGD()), "Updater(optimizer=SGD(learning_rate=0.01))"),
    (lambda: mx.optimizer.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(10, 0.9)),
     "SGD(lr_scheduler=FactorScheduler(step=10, factor=0.9, base_lr=0.01))"),
    (lambda: gluon.Trainer(net().collect_params(), "nag", {"wd": 1e-4}),
     "Trainer(NAG(wd=0.0001, learning_rate=0.01), 2 parameters, kvstore='device')"),
    (lambda: mx.lr_scheduler.CosineScheduler(10, warmup_steps=2),
     "CosineScheduler(max_update=10, base_lr=0.01, final_lr=0, warmup_steps=2)"),
    (lambda: mx.init.Xavier(magnitude=2), "Xavier(rnd_type='uniform', factor_type='avg', magnitude=2)"),
    (lambda: mx.init.Mixed([".*bias", ".*"], [mx.init.Zero(), mx.init.Constant(2)]),
     "Mixed([('.*bias', Zero()), ('.*', Constant(value=2))])"),
    (lambda: mx.init.Load({"a": nd.ones((2, 3))}), "Load(param={'a': <NDArray 2x3 @cpu(0)>})"),
    (lambda: mx.metric.create("top_k_accuracy", top_k=3), "TopKAccuracy(top_k=3, name='top_k_accuracy_3')"),
    (lambda: mx.metric.create(["acc", "mse"]), "CompositeEvalMetric(metrics=[Accuracy(), MSE()])"),
    (lambda: DATASET, "ArrayDataset(4 samples)"),
    (lambda: DATASET.transform_first(np.sqrt.__class__),
     "_LazyTransformDataset(data=ArrayDataset(4 samples), fn=_TransformFirstClosure(fn=ufunc))"),
    (lambda: DATASET.take(2), "_SampledDataset(dataset=ArrayDataset(4 samples), sampler=SequentialSampler(length=2))"),
    (lambda: gdata.DataLoader(DATASET, 2, shuffle=True),
     "DataLoader(dataset=ArrayDataset(4 samples), batch_sampler=BatchSampler(sampler=RandomSampler(length=4), batch_size=2))"),
    (lambda: mx.kv.create("local"), "<KVStore 'local', worker 0 of 1>"),
    (lambda: SYMBOL.simple_bind(mx.cpu(), data=(1, 2)), "<Executor of <Symbol fc> on cpu(0)>"),
    (lambda: mx.mod.Module(SYMBOL, label_names=None),
     "Module(symbol=<Symbol fc>, label_names=[], context=[cpu(0)])"),
    (lambda: mx.cpu(1), "cpu(1)")])
def test_arguments(make, text):
    shown = repr(make())
    assert " ".join(shown.split()) == text and "\n" not in shown


def test_all_that_are_registered():
    """No class of these shows an address, and none fails."""
    registry = mx.optimizer.Optimizer.opt_registry
    for name in [n for n, c in registry.items() if c.__module__.startswith("mxnet.optimizer")]:
        assert not ADDRESS.search(repr(mx.optimizer.create(name))), name
    for make in (mx.init.One, mx.init.Uniform, mx.init.Orthogonal, mx.init.MSRAPrelu, mx.init.Bilinear, mx.init.LSTMBias):
        assert not ADDRESS.search(repr(make())) and mx.init.create(make().dumps()) == make()
    for name in ("acc", "f1", "mcc", "mae", "mse", "rmse", "ce", "nll_loss", "pearsonr", "pcc", "loss"):
        assert not ADDRESS.search(repr(mx.metric.create(name)))
        assert str(mx.metric.create(name)).startswith("EvalMetric: {")        # as in 1.9.1


def test_classes_of_users():
    class Rate(mx.lr_scheduler.LRScheduler):
        def __init__(self, steps, *rest, weights=(1, 2), **kwargs):
            super().__init__(**kwargs)
            self._steps, self.weights = steps, weights

    class NoLength(gdata.Dataset):
        pass

    class Bare(mx.init.Initializer):
        def __init__(self):
            pass

    assert repr(Rate(nd.ones((2,)), weights=np.ones(3))) == \
        "Rate(steps=<NDArray 2 @cpu(0)>, weights=<ndarray 3>, base_lr=0.01)"
    assert repr(NoLength()) == "NoLength()" and repr(Bare()) == "Bare()"
    assert len(repr(gdata.SequentialSampler(list(range(10000))))) < 200


def test_texts_of_1_9_1_stay():
    block = gluon.nn.HybridSequential(prefix="n_")
    block.add(gluon.nn.Dense(3, in_units=2), gluon.nn.Dropout(0.5))
    assert repr(block) == str(block) == "HybridSequential(\n  (0): Dense(2 -> 3, linear)\n  (1): Dropout(p = 0.5, axes=())\n)"
    assert repr(gluon.loss.L2Loss()) == "L2Loss(batch_axis=0, w=1.0)"
    assert repr(mx.io.DataDesc("a", (1, 2))) == "DataDesc[a,(1, 2),<class 'numpy.float32'>,NCHW]"
