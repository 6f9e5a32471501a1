#!/usr/bin/env python3
"""Time of training on generated click data, from a LibSVM file to the updated weights, on the CPU,
against 1.9.1, in turn.

    ./dev bench sparse_train [--oracle PYTHON] [--only NAME,...] [--features N] [--rounds N]
    [--below RATIO] [--clock cpu] [--json FILE]

`linear`: logistic regression by Module with a row_sparse weight. `fm`: a factorization machine.
`wide`: a linear part on the features and an embedding with two dense layers, by Gluon. A step is a
batch of 200 rows. Printed: median microseconds, how many times faster this library is (above
1: faster), and the peak of resident memory beyond the imports in MiB, beside all weights with the
numbers of their rows.
"""
import argparse
import functools
import os
import sys
import tempfile

import report
from alternate import add_clock, answers, environments, printed, race, serve, status_mib

ROWS, EACH, BATCH, FACTORS = 20_000, 30, 200, 8    # 1.9.1 takes arrays of up to 2^31 elements
MODELS = ("linear", "fm", "wide")


def write_clicks(path, features):
    import numpy as np
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(ROWS):
            # some features are in many rows, most in few
            chosen = np.unique((features * rng.random(EACH) ** 3).astype("int64"))
            values = rng.random(len(chosen))
            file.write(f"{int(rng.random() < .3)} " + " ".join(f"{i}:{v:.4f}" for i, v in zip(chosen, values)) + "\n")


def batches(mx, path, features):
    """Batches without end."""
    source = mx.io.LibSVMIter(data_libsvm=path, data_shape=(features,), batch_size=BATCH)
    while True:
        source.reset()
        yield from source


def linear_symbol(mx, features):
    x, label = mx.sym.Variable("data", stype="csr"), mx.sym.Variable("softmax_label")
    weight = mx.sym.Variable("weight", shape=(features, 1), stype="row_sparse", init=mx.init.Constant(.01))
    bias = mx.sym.Variable("bias", shape=(1,), init=mx.init.Zero())
    out = mx.sym.broadcast_add(mx.sym.sparse.dot(x, weight), bias)
    return mx.sym.LogisticRegressionOutput(mx.sym.reshape(out, (-1,)), label)


def fm_symbol(mx, features):
    x, label = mx.sym.Variable("data", stype="csr"), mx.sym.Variable("softmax_label")
    weight = mx.sym.Variable("weight", shape=(features, 1), stype="row_sparse", init=mx.init.Constant(.01))
    factors = mx.sym.Variable("factors", shape=(features, FACTORS), stype="row_sparse", init=mx.init.Constant(.01))
    both = mx.sym.sum(mx.sym.square(mx.sym.sparse.dot(x, factors)), axis=1, keepdims=True)
    own = mx.sym.sparse.dot(mx.sym.sparse.square(x), mx.sym._internal._square_sum(factors, axis=1, keepdims=True))
    out = mx.sym.sparse.dot(x, weight) + 0.5 * (both - own)
    return mx.sym.LogisticRegressionOutput(mx.sym.reshape(out, (-1,)), label)


def module_step(mx, symbol, path, features):
    data = batches(mx, path, features)
    module = mx.mod.Module(symbol, data_names=["data"], label_names=["softmax_label"])
    module.bind([mx.io.DataDesc("data", (BATCH, features))], [mx.io.DataDesc("softmax_label", (BATCH,))])
    module.init_params()
    module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params={"learning_rate": .01})

    def step():
        module.forward_backward(next(data))
        module.update()
    return step, lambda: module.get_params()[0].values()


def wide_step(mx, path, features):
    from mxnet import gluon

    class WideAndDeep(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.wide = self.params.get("wide", shape=(features, 1), grad_stype="row_sparse", init=mx.init.Constant(.01))
                self.table = gluon.nn.Embedding(100_000, 16, sparse_grad=True)
                self.hidden, self.out = gluon.nn.Dense(64, activation="relu"), gluon.nn.Dense(1)

        def hybrid_forward(self, F, x, ids, wide):
            return F.sparse.dot(x, wide) + self.out(self.hidden(self.table(ids).reshape((0, -1))))

    import numpy as np
    data, rng = batches(mx, path, features), np.random.RandomState(0)
    ids = [mx.nd.array(rng.randint(0, 100_000, (BATCH, 8))) for _ in range(10)]
    net = WideAndDeep()
    net.initialize()
    net.hybridize()
    trainer, loss, count = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": .01}), gluon.loss.SigmoidBCELoss(), [0]

    def step():
        batch = next(data)
        count[0] += 1
        with mx.autograd.record():
            value = loss(net(batch.data[0], ids[count[0] % 10]), batch.label[0])
        value.backward()
        trainer.step(BATCH)
    return step, lambda: [p.data() for p in net.collect_params().values()]


def mib_of(arrays):
    parts = [part for a in arrays for part in ((a.data, a.indices) if a.stype == "row_sparse" else (a,))]
    return sum(part.size * part.dtype(0).itemsize for part in parts) / 2**20


def contestant(name, path, features):
    """Serves one model."""
    import mxnet as mx
    import numpy.random
    from mxnet import gluon
    # this library imports a module when something of it is first used
    assert all((mx.io.LibSVMIter, mx.mod.Module, gluon.nn.Dense, gluon.Trainer, gluon.loss.SigmoidBCELoss, numpy.random.RandomState))
    imported = status_mib("VmRSS")
    symbol = {"linear": linear_symbol, "fm": fm_symbol}.get(name)
    step, weights = module_step(mx, symbol(mx, features), path, features) if symbol else wide_step(mx, path, features)

    def run(calls):
        for _ in range(calls):
            step()
        mx.nd.waitall()
    serve(answers(), {name: run}, info=[name],
          numbers={"resident": lambda: status_mib("VmHWM") - imported, "weights": lambda: mib_of(weights())})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--only", help="names of models")
    parser.add_argument("--features", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--below", type=float, default=float("inf"))
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    parser.add_argument("--contestant", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        return contestant(args.contestant[0], args.contestant[1], int(args.contestant[2]))
    ours, plain = environments(args.clock)
    runs = {"ours": (sys.executable, ours), **({"1.9.1": (args.oracle, plain)} if args.oracle else {})}
    only = args.only.split(",") if args.only else MODELS
    times, memory = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "clicks.libsvm")
        write_clicks(path, args.features)
        for name in MODELS:
            if name in only:
                arguments = functools.partial(lambda model, _: [model, path, str(args.features)], name)
                held = memory[name] = {}
                ended = functools.partial(lambda held, c: held.update({c.name: [c.ask("resident"), c.ask("weights")]}), held)
                times.update(race(runs, __file__, arguments, [name], args.rounds, args.clock, ended=ended))
    figures = printed("train", times, list(runs)[1:], args.below)
    for name, held in memory.items():
        each = (f"{n} {peak:.0f} MiB, weights {weights:.0f}, {peak / weights:.2f} x" for n, (peak, weights) in held.items())
        print(f"{name}: " + "; ".join(each))
    if args.json:
        report.save(args.json, {"mode": "sparse_train", "train": figures, "peak_and_weights_mib": memory})


if __name__ == "__main__":
    main()
