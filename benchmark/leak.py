#!/usr/bin/env python3
"""Resident memory over many training steps: a hybridized and an eager net, batches of changing
size, losses read and dropped.

    ./dev bench leak [--steps N] [--ctx cpu|gpu]

Printed: resident MiB after a tenth of the steps (caches and pools are then full) and at the end;
with --ctx gpu also the device's memory in use. The exit code is 1 when one of them grew by more
than 2 MiB + 2 %.
"""
import argparse

from alternate import add_ctx, need_gpu


def resident_mib():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024


def device_mib(ctx):
    """What is in use of a GPU's memory, pools included."""
    import mxnet as mx
    free, total = mx.context.gpu_memory_info(ctx.device_id)
    return (total - free) / 2**20


def train(steps, hybridize, report=None, ctx=None, measure=resident_mib):
    """MiB by `measure` at ten places, the last one after the last step."""
    import mxnet as mx
    nn = mx.gluon.nn
    ctx = ctx or mx.cpu()
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(),
            nn.Dense(32, activation="relu"), nn.Dropout(0.2), nn.Dense(10))
    net.initialize(mx.init.Xavier(), ctx=ctx)
    if hybridize:
        net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    sizes = (16, 16, 16, 7)
    seen = []
    for step in range(steps):
        size = sizes[step % len(sizes)]
        x, y = mx.nd.random.uniform(shape=(size, 1, 12, 12), ctx=ctx), mx.nd.random.randint(0, 10, shape=(size,), ctx=ctx).astype("float32")
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(size)
        loss.mean().asscalar()
        if (step + 1) % max(1, steps // 10) == 0:
            mx.nd.waitall()
            seen.append(measure())
            if report:
                report(step + 1, seen[-1])
    return seen


def grew(seen):
    """Resident memory from the first place to the last rose by more than noise."""
    return seen[-1] - seen[0] > 2 + 0.02 * seen[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10000)
    add_ctx(parser)
    args = parser.parse_args()
    ctx, kinds = None, {"": resident_mib}
    if args.ctx == "gpu":
        import mxnet as mx
        need_gpu("leak")
        ctx = mx.gpu(0)
        kinds[" on the device"] = lambda: device_mib(ctx)
    failed = False
    for hybridize in (True, False):
        name, places = "hybridized" if hybridize else "eager", []

        def measure():
            places.append([f() for f in kinds.values()])
            return places[-1][0]
        train(args.steps, hybridize, lambda step, mib: print(f"{name:10} step {step:6}: {mib:8.1f} MiB", flush=True), ctx, measure)
        for kind, seen in zip(kinds, zip(*places)):
            print(f"{name:10} first {seen[0]:.1f} MiB{kind}, last {seen[-1]:.1f} MiB{': grew' if grew(seen) else ''}")
            failed = failed or grew(seen)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
