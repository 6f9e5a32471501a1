"""Training and inference on cores that other processes use, and under a quota of processor time,
beside the original and one thread.

./dev bench shared [--oracle python of 1.9.1] [--base other libmxnet.so]
                   [--neighbours 0 2 4] [--quotas 1 1.5] [--rounds 5] [--only program ...]

A neighbour is a process that computes all the time. A quota is that of a control group (cgroup v2
or v1 `cpu`), which a user who may write there makes; elsewhere those rows are left out. Contestants
take turns, so each meets the same neighbours alone. Figures: milliseconds a call, median over
rounds."""
import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

from alternate import Contestant, Failed, answers, repeat, serve

BUSY = "x = 0\nwhile True: x += 1"
CONTESTANTS = {"ours": {}, "ours, 1 thread": {"OMP_NUM_THREADS": "1"}, "base": {}, "1.9.1": {}}


# Workloads: each a function of nothing, the same program for this library and the original.

def small_cnn(mx, filters=8, images=32, side=28):
    """A training step of two convolutions and two dense layers."""
    net = mx.gluon.nn.HybridSequential()
    for n in (filters, 2 * filters):
        net.add(mx.gluon.nn.Conv2D(n, 3, padding=1, activation="relu"), mx.gluon.nn.MaxPool2D())
    net.add(mx.gluon.nn.Dense(64, activation="relu"), mx.gluon.nn.Dense(10))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-3})
    rng = np.random.RandomState(0)
    x, y = mx.nd.array(rng.rand(images, 1, side, side)), mx.nd.array(rng.randint(0, 10, images))

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(images)
        loss.asnumpy()
    return step


def lenet_fit(mx):
    """An epoch of Module.fit over 640 images."""
    import logging
    logging.disable(logging.INFO)
    x = mx.sym.Variable("data")
    for n in (20, 50):
        x = mx.sym.Activation(mx.sym.Convolution(x, kernel=(5, 5), num_filter=n), act_type="tanh")
        x = mx.sym.Pooling(x, pool_type="max", kernel=(2, 2), stride=(2, 2))
    x = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=500), act_type="tanh")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=10), name="softmax")
    rng = np.random.RandomState(0)
    data = mx.io.NDArrayIter(rng.rand(640, 1, 28, 28).astype("float32"), rng.randint(0, 10, 640).astype("float32"), 64)
    module = mx.mod.Module(net, context=mx.cpu())
    return lambda: module.fit(data, num_epoch=1, optimizer_params={"learning_rate": 0.01})


def wide_cnn(mx):
    """The small net's step with 64 and 128 filters over 32 images of 56 x 56: loops of milliseconds."""
    return small_cnn(mx, 64, 32, 56)


def dense_inference(mx):
    """16 dense layers of 512 over 8 rows."""
    net = mx.gluon.nn.HybridSequential()
    for _ in range(16):
        net.add(mx.gluon.nn.Dense(512, activation="relu"))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.ones((8, 512))
    return lambda: net(x).asnumpy()


def eager(mx):
    """Twenty eager operators on 250,000 numbers, and a wait."""
    x, y = mx.nd.ones((500, 500)), mx.nd.ones((500, 500))

    def run():
        z = x
        for _ in range(10):
            z = (z + y) * 0.5
        z.wait_to_read()
    return run


# name -> (the program, calls in a round)
WORKLOADS = {"small CNN, step": (small_cnn, 20), "LeNet, epoch": (lenet_fit, 1), "wide CNN, step": (wide_cnn, 1), "16 dense layers": (dense_inference, 40),
             "20 eager operators": (eager, 40)}


def contestant():
    send = answers()
    import mxnet as mx
    mx.random.seed(0)
    programs = {name: repeat(make(mx)) for name, (make, _) in WORKLOADS.items() if not ONLY or name in ONLY}
    for run in programs.values():
        run(2)
    serve(send, programs, {"version": mx.__version__})


# Control groups

class Quota:
    """A control group that gives its processes so many processors' time; `folder` is None where none can be made."""

    def __init__(self, processors):
        self.folder = None
        second = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        folder = f"/sys/fs/cgroup/{'' if second else 'cpu/'}mxnet-bench-{os.getpid()}"
        try:
            os.mkdir(folder)
            self.folder = folder
            with open(f"{folder}/{'cpu.max' if second else 'cpu.cfs_quota_us'}", "w") as f:
                f.write(str(int(processors * 100000)))
        except OSError:
            self.end()

    def enter(self):
        with open(f"{self.folder}/cgroup.procs", "w") as f:
            f.write(str(os.getpid()))

    def end(self):
        for _ in range(50):   # processes that were killed leave it a moment later
            try:
                return self.folder and os.rmdir(self.folder)
            except OSError:
                time.sleep(0.1)


def measure(args, neighbours, quota):
    """workload -> contestant -> milliseconds a call"""
    group = Quota(quota) if quota else None
    if group and not group.folder:
        print(f"quota of {quota}: no control group can be made here; left out")
        return {}
    here = open("/proc/self/cgroup").read()
    if group:
        group.enter()   # what is started from here on is in the group
    contestants, busy = [], []
    try:
        for name, env in CONTESTANTS.items():
            if (name == "1.9.1" and not args.oracle) or (name == "base" and not args.base):
                continue
            env = dict(os.environ, **env, **({"MXNET_LIBRARY_PATH": args.base} if name == "base" else {}))
            if name == "1.9.1":
                env = {k: v for k, v in env.items() if k not in ("PYTHONPATH", "MXNET_LIBRARY_PATH")}
            contestants.append(Contestant(name, args.oracle if name == "1.9.1" else sys.executable, __file__, args.only or [], env))
            contestants[-1].ready()
        busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(neighbours)]
        times = {w: {c.name: [] for c in contestants} for w in WORKLOADS if not args.only or w in args.only}
        for r in range(args.rounds + 1):
            for w in times:
                for c in contestants:
                    wall = c.time(w, WORKLOADS[w][1])[0]
                    if r:
                        times[w][c.name].append(1e3 * wall)
        return {w: {c: statistics.median(t) for c, t in row.items()} for w, row in times.items()}
    finally:
        for process in busy:
            process.kill()
            process.wait()
        for c in contestants:
            c.end()
        if group:
            leave(here)
            group.end()


def leave(groups):
    """Puts this process back where it was."""
    for line in groups.splitlines():
        number, controllers, path = line.split(":", 2)
        root = "/sys/fs/cgroup" if number == "0" and not controllers else "/sys/fs/cgroup/cpu" if "cpu" in controllers.split(",") else None
        if root and os.path.exists(f"{root}{path}/cgroup.procs"):
            with open(f"{root}{path}/cgroup.procs", "w") as f:
                f.write(str(os.getpid()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neighbours", type=int, nargs="*", default=[0, 2, 4])
    parser.add_argument("--quotas", type=float, nargs="*", default=[1, 1.5])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--oracle", help="python of MXNet 1.9.1")
    parser.add_argument("--base", help="another libmxnet.so to compare with")
    parser.add_argument("--only", nargs="*", choices=WORKLOADS, help="these workloads")
    args = parser.parse_args()
    print("| load | program | " + " | ".join(f"{c}, ms" for c in CONTESTANTS if (c != "1.9.1" or args.oracle) and (c != "base" or args.base)) + " |")
    for neighbours, quota in [(n, None) for n in args.neighbours] + [(0, q) for q in args.quotas]:
        try:
            rows = measure(args, neighbours, quota)
        except Failed as e:
            raise SystemExit(f"shared: {e}")
        for w, row in rows.items():
            load = f"quota of {quota}" if quota else f"{neighbours} neighbours"
            print(f"| {load} | {w} | " + " | ".join(f"{t:.1f}" for t in row.values()) + " |", flush=True)


if __name__ == "__main__":
    if "--contestant" in sys.argv:
        ONLY = sys.argv[sys.argv.index("--contestant") + 1:]
        contestant()
    else:
        main()
