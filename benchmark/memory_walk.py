"""A program that walks through many shapes of layers, eager and hybridized, forward and backward,
and frees each before the next: how much memory it takes and keeps. As a program, one contestant's
process; `./dev bench memory --walk` runs it."""
import argparse
import gc
import os
import random
import resource
import statistics
import sys
import time

from alternate import Contestant, answers, environments, serve, status_mib

HERE = os.path.abspath(__file__)


def shapes(count, scale):
    """(kind, batch, in, out, size, kernel) of each stop; `scale` multiplies widths and sizes'
    areas."""
    rng = random.Random(1)
    stops = []
    for _ in range(count):
        batch = rng.choice((1, 2, 4, 7, 8, 13, 16, 24, 32))
        kind = rng.choice(("dense", "conv", "net"))
        if kind == "dense":
            stops.append((kind, batch, rng.randint(100, int(3000 * scale)), rng.randint(100, int(3000 * scale)), 0, 0))
        else:
            stops.append((kind, batch, rng.randint(3, 160), rng.randint(8, 160),
                          int(rng.randint(10, 70) * scale ** 0.5), rng.choice((1, 3, 3, 5))))
    return stops


# The contestant's side.

def layers(mx, stop):
    kind, batch, n_in, n_out, size, kernel = stop
    nn = mx.gluon.nn
    if kind == "dense":
        return nn.Dense(n_out, activation="relu", in_units=n_in), (batch, n_in)
    if kind == "conv":
        return nn.Conv2D(n_out, kernel, padding=kernel // 2, in_channels=n_in), (batch, n_in, size, size)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(n_out, kernel, padding=kernel // 2), nn.BatchNorm(), nn.Activation("relu"),
            nn.Conv2D(n_out, 3, padding=1), nn.MaxPool2D(), nn.Flatten(), nn.Dense(50))
    return net, (batch, n_in, size, size)


def visit(mx, stop, hybridize, steps):
    net, shape = layers(mx, stop)
    net.initialize()
    if hybridize:
        net.hybridize()
    x = mx.nd.random.uniform(shape=shape)
    for _ in range(steps):
        with mx.autograd.record():
            loss = net(x).sum()
        loss.backward()
    net(x).wait_to_read()
    mx.nd.waitall()


class Steady:
    """Training of one small network, eager or hybridized: every step is like the one before."""

    def __init__(self, mx, hybridize):
        self.mx = mx
        nn = mx.gluon.nn
        self.net = nn.HybridSequential()
        for width in (32, 64, 64):
            self.net.add(nn.Conv2D(width, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
        self.net.add(nn.Flatten(), nn.Dense(10))
        self.net.initialize()
        if hybridize:
            self.net.hybridize()
        self.trainer = mx.gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.01})
        self.loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        self.x, self.y = mx.nd.random.uniform(shape=(32, 3, 48, 48)), mx.nd.zeros((32,))

    def __call__(self, calls):
        for _ in range(calls):
            with self.mx.autograd.record():
                loss = self.loss(self.net(self.x), self.y)
            loss.backward()
            self.trainer.step(32)
            loss.wait_to_read()
        self.mx.nd.waitall()


class Workloads(dict):
    """Made when they are asked for: "walk 3", "steady eager", "steady hybridized", "free" (all that
    steady training held), "rest 12" (seconds)."""

    def __init__(self, mx, stops, steps):
        super().__init__()
        self.mx, self.stops, self.steps = mx, stops, steps

    def __missing__(self, name):
        kind, _, rest = name.partition(" ")
        if kind == "walk":
            return lambda calls: [visit(self.mx, self.stops[int(rest)], hybridize, self.steps)
                                  for hybridize in (False, True)] if calls else None
        if kind == "steady":
            self[name] = Steady(self.mx, rest == "hybridized")
            return self[name]
        return lambda calls: (time.sleep(float(rest)) if kind == "rest" and calls else None,
                              self.clear() if name == "free" else None, gc.collect(),
                              self.mx.nd.waitall())


def contestant(args):
    send = answers()
    import mxnet as mx
    mx.nd.zeros((1,)).wait_to_read()
    serve(send, Workloads(mx, shapes(args.stops, args.scale), args.steps), {"start": status_mib("VmRSS")},
          {"resident": lambda: status_mib("VmRSS"), "faults": lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt})


# The parent's side.

def parser():
    p = argparse.ArgumentParser(add_help=False)
    p.add_argument("--walk", action="store_true", help="through many shapes: peak and resident "
                   "memory, page faults and time against --oracle")
    p.add_argument("--oracle", metavar="PYTHON", help="an interpreter with mxnet 1.9.1; with --walk")
    p.add_argument("--other", metavar="LIBRARY", help="another build of libmxnet.so; with --walk")
    p.add_argument("--stops", type=int, default=40, help="of the walk")
    p.add_argument("--steps", type=int, default=2, help="of training at each stop")
    p.add_argument("--rest", type=int, default=12, metavar="SECONDS", help="before resident memory is read again")
    p.add_argument("--turns", type=int, default=8, help="of steady training after the walk, five "
                   "steps each; the first three are not counted")
    p.add_argument("--scale", type=float, default=1.0, help="of the layers: 1 needs some hundred MiB at once")
    return p


def table(title, found):
    """found: contestant -> row -> number."""
    names = list(found)
    print(f"\n{title}\n\n| |" + "|".join(f" {n} " for n in names) + "|" + "".join(f" ours / {n} |" for n in names[1:]))
    print("|---|" + "---|" * (2 * len(names) - 1))
    for row in found["ours"]:
        values = [found[n][row] for n in names]
        print(f"| {row} |" + "|".join(f" {v:.1f} " for v in values) + "|"
              + "".join(f" {values[0] / v:.2f} |" if v else " - |" for v in values[1:]), flush=True)


def walk(args):
    """Every contestant's peak and resident MiB, faults and processor seconds of the walk, then of
    steady training, as tables; the former as a dict of dicts too."""
    ours, others = environments("wall", 2)
    arguments = ["--stops", str(args.stops), "--steps", str(args.steps), "--scale", str(args.scale)]
    runs = [Contestant("ours", sys.executable, HERE, arguments, ours)]
    if args.other:
        runs.append(Contestant("other build", sys.executable, HERE, arguments, dict(ours, MXNET_LIBRARY_PATH=os.path.abspath(args.other))))
    if args.oracle:
        runs.append(Contestant("1.9.1", args.oracle, HERE, arguments, others))
    found = {c.name: {"at start": c.ready()["start"], "walk, processor s": 0.0} for c in runs}
    try:
        for i in range(args.stops):
            for c in runs:
                found[c.name]["walk, processor s"] += c.time(f"walk {i}", 1)[1]
        for c in runs:
            r = found[c.name]
            c.time("free", 1)
            resident = c.ask("resident")     # before the peak, which a page more would not be in
            r.update({"peak": c.peak_mib(), "resident": resident, "walk, faults": c.ask("faults")})
            c.time(f"rest {args.rest}", 1)
            r[f"resident {args.rest} s later"] = c.ask("resident")
        table(f"{args.stops} stops, {args.steps} steps each, scale {args.scale}; MiB", found)
        steady = {c.name: {} for c in runs}
        for kind in ("eager", "hybridized"):
            times = {c.name: [] for c in runs}
            for _ in range(args.turns):
                for c in runs:
                    faults = c.ask("faults")
                    times[c.name].append(c.time(f"steady {kind}", 5)[1])
                    steady[c.name][f"faults a step, {kind}"] = (c.ask("faults") - faults) / 5
            for name, seconds in times.items():
                steady[name][f"ms a step, {kind}"] = 1e3 * statistics.median(seconds[3:] or seconds)
        table("steady training", steady)
    finally:
        for c in runs:
            c.end()
    return found


if __name__ == "__main__":
    p = parser()
    p.add_argument("--contestant", action="store_true")
    contestant(p.parse_args())
