#!/usr/bin/env python3
"""Time of hybridized blocks whose input has another size in each call, on the CPU, beside 1.9.1, in
turn.

    ./dev bench new_shapes [--oracle PYTHON] [--only NAME,...] [--rounds N] [--below RATIO]
    [--clock cpu] [--json FILE]

Sizes come at random: of batches (mlp), lengths (encoder) and heights of images (lenet, resnet18).
`NAME sizes=N`: of so many. `NAME train`: with the gradient and the step, of 64 sizes. Printed:
median microseconds of a call, and how many times faster this library is (above 1: faster).
"""
import argparse
import random
import sys

import report
from alternate import add_clock, answers, environments, printed, race, serve

NETS, SIZES, TRAINED = ("mlp", "encoder", "lenet", "resnet18"), (1, 8, 64), 64


def encoder_layer(nn):
    class Layer(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.parts = nn.Dense(192, flatten=False), nn.Dense(64, flatten=False), nn.Dense(64, flatten=False)
                self.inner = nn.Dense(256, flatten=False, activation="relu")
                self.norms = nn.LayerNorm(), nn.LayerNorm()
                for part in (*self.parts, *self.norms):
                    self.register_child(part)

        def hybrid_forward(self, F, x):
            query, key, value = F.split(self.parts[0](x), 3, axis=-1)
            seen = F.batch_dot(F.softmax(F.batch_dot(query, key, transpose_b=True) / 8), value)
            x = self.norms[0](x + self.parts[1](seen))
            return self.norms[1](x + self.parts[2](self.inner(x)))
    return Layer()


def made(name):
    """A block, and the shape of its input for a number from 0 on."""
    from mxnet import gluon
    from mxnet.gluon import nn
    net = nn.HybridSequential()
    if name == "resnet18":
        return gluon.model_zoo.vision.resnet18_v1(), lambda i: (1, 3, 64 + i, 64)
    if name == "mlp":
        net.add(nn.Dense(64, activation="relu"), nn.Dense(64, activation="relu"), nn.Dense(10))
        return net, lambda i: (1 + i, 20)
    if name == "encoder":
        net.add(*[encoder_layer(nn) for _ in range(4)])
        return net, lambda i: (1, 5 + i, 64)
    net.add(nn.Conv2D(16, 3, padding=1, activation="relu"), nn.MaxPool2D(), nn.Conv2D(32, 3, padding=1), nn.BatchNorm(),
            nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Dense(10))
    return net, lambda i: (1, 3, 32 + i, 33)


def workload(mx, name, sizes, train):
    net, shape = made(name)
    net.initialize()
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-4})
    inputs = [mx.nd.random.uniform(shape=shape(i * 64 // sizes)) for i in range(sizes)]
    order = random.Random(0)

    def run(calls):
        for _ in range(calls):
            x = order.choice(inputs)
            if train:
                with mx.autograd.record():
                    y = net(x).sum()
                y.backward()
                trainer.step(1)
                mx.nd.waitall()
            else:
                net(x).wait_to_read()
    return run


def contestant(name):
    """Serves one net."""
    import mxnet as mx
    workloads = {f"{name} sizes={n}": workload(mx, name, n, False) for n in SIZES}
    workloads[f"{name} train"] = workload(mx, name, TRAINED, True)
    serve(answers(), workloads, info=list(workloads))


def main():
    parser = argparse.ArgumentParser(prog="./dev bench new_shapes", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--only", help="names of nets")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--below", type=float, default=float("inf"))
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        return contestant(args.contestant)
    ours, plain = environments(args.clock, awake=True)
    runs = {"ours": (sys.executable, ours), **({"1.9.1": (args.oracle, plain)} if args.oracle else {})}
    figures = {}
    for name in args.only.split(",") if args.only else NETS:
        names = [f"{name} sizes={n}" for n in SIZES] + [f"{name} train"]
        times = race(runs, __file__, lambda _: [name], names, args.rounds, args.clock)
        figures.update(printed(name, times, [n for n in runs if n != "ours"], args.below))
    if args.json:
        report.save(args.json, figures)


if __name__ == "__main__":
    main()
