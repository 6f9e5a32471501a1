#!/usr/bin/env python3
"""Resident memory over many training steps: a hybridized and an eager net, batches of changing size, losses read and dropped.

    ./dev bench leak [--steps N]

Printed: resident MiB after a tenth of the steps (caches and pools are then full) and at the end; the exit code is 1 when it grew by more than
2 MiB + 2 %.
"""
import argparse


def resident_mib():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024


def train(steps, hybridize, report=None):
    """Resident MiB at ten places, the last one after the last step."""
    import mxnet as mx
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(), nn.Dense(32, activation="relu"), nn.Dropout(0.2), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    sizes = (16, 16, 16, 7)
    seen = []
    for step in range(steps):
        size = sizes[step % len(sizes)]
        x, y = mx.nd.random.uniform(shape=(size, 1, 12, 12)), mx.nd.random.randint(0, 10, shape=(size,)).astype("float32")
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(size)
        loss.mean().asscalar()
        if (step + 1) % max(1, steps // 10) == 0:
            mx.nd.waitall()
            seen.append(resident_mib())
            if report:
                report(step + 1, seen[-1])
    return seen


def grew(seen):
    """Resident memory from the first place to the last rose by more than noise."""
    return seen[-1] - seen[0] > 2 + 0.02 * seen[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10000)
    args = parser.parse_args()
    failed = False
    for hybridize in (True, False):
        name = "hybridized" if hybridize else "eager"
        seen = train(args.steps, hybridize, lambda step, mib: print(f"{name:10} step {step:6}: {mib:8.1f} MiB", flush=True))
        print(f"{name:10} first {seen[0]:.1f} MiB, last {seen[-1]:.1f} MiB{': grew' if grew(seen) else ''}")
        failed = failed or grew(seen)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
