#!/usr/bin/env python3
"""A training step of ResNet-50 v1 (forward, softmax cross-entropy, backward, SGD with momentum): this library, the 1.9.1 wheel and PyTorch in turn, in one run.

    ./dev bench train_step [--oracle PYTHON] [--peers PYTHON] [--only NAME,...] [--batch N,...] [--rounds N]

--oracle: an interpreter with mxnet==1.9.1; --peers: one with torch. Printed: images per second (medians), how many times faster this library is,
and each contestant's peak resident memory.
"""
import argparse
import sys

from alternate import Contestant, add_clock, alternate, environments, serve, table


def contestant(kind, batches):
    import numpy as np
    rng = np.random.default_rng(0)
    data = {b: (rng.normal(size=(b, 3, 224, 224)).astype("float32"), rng.integers(0, 1000, b)) for b in batches}
    runs = {}
    if kind.startswith("torch"):
        import torch
        from resnet_torch import resnet50_v1
        net = resnet50_v1().train()
        if kind == "torch channels-last":
            net = net.to(memory_format=torch.channels_last)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
        loss_of = torch.nn.CrossEntropyLoss()
        for b, (x, y) in data.items():
            x, y = torch.from_numpy(x), torch.from_numpy(y)
            if kind == "torch channels-last":
                x = x.to(memory_format=torch.channels_last)

            def step(x=x, y=y):
                optimizer.zero_grad()
                loss = loss_of(net(x), y)
                loss.backward()
                optimizer.step()
                loss.item()
            runs[f"batch {b}"] = step
    else:
        import mxnet as mx
        net = mx.gluon.model_zoo.vision.resnet50_v1()
        net.initialize(mx.init.Xavier())
        net.hybridize(static_alloc=True, static_shape=True)
        loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        loss_of.hybridize()
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9, "wd": 1e-4})
        for b, (x, y) in data.items():
            x, y = mx.nd.array(x), mx.nd.array(y)

            def step(x=x, y=y, b=b):
                with mx.autograd.record():
                    loss = loss_of(net(x), y)
                loss.backward()
                trainer.step(b)
                loss.wait_to_read()
                mx.nd.waitall()
            runs[f"batch {b}"] = step
    serve(runs)


def peak_mib(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--peers", help="interpreter with torch")
    parser.add_argument("--only", help="names of contestants, separated by commas")
    parser.add_argument("--batch", default="16")
    parser.add_argument("--rounds", type=int, default=7)
    add_clock(parser)
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    args = parser.parse_args()
    batches = [int(b) for b in args.batch.split(",")]
    if args.contestant:
        contestant(args.contestant, batches)
        return
    ours, plain = environments(args.clock)
    wanted = {"ours": (sys.executable, ours)}
    if args.oracle:
        wanted["1.9.1"] = (args.oracle, plain)
    if args.peers:
        wanted["torch"] = wanted["torch channels-last"] = (args.peers, plain)
    if args.only:
        wanted = {n: w for n, w in wanted.items() if n in args.only.split(",")}
    contestants = [Contestant(name, python, __file__, [name, "--batch", args.batch], env) for name, (python, env) in wanted.items()]
    peaks = {}
    times = alternate(contestants, {f"batch {b}": 1 for b in batches}, args.rounds, args.clock,
                      at_end=lambda: peaks.update({c.name: peak_mib(c.process.pid) for c in contestants}))
    print(table(times, {f"batch {b}": b for b in batches}, contestants[0].name))
    print("\nPeak resident memory, MiB: " + ", ".join(f"{n} {m}" for n, m in peaks.items()))


if __name__ == "__main__":
    main()
