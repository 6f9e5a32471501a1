"""Training and inference on cores that other processes use, and under a quota of processor time,
beside the original and PyTorch; this library and PyTorch also with one thread. Whole networks also
beside ONNX Runtime and OpenVINO.

./dev bench shared [--oracle python of 1.9.1] [--torch python of PyTorch] [--base other libmxnet.so]
                   [--peers python of PyTorch, onnx, ONNX Runtime and OpenVINO]
                   [--neighbours 0 2 4] [--share 1] [--quotas 1 1.5] [--rounds 5]
                   [--slice 0.5] [--only program ...] [--json file]

A neighbour is a process that computes all the time, or, with --share, that part of each 200 ms; all
of them at once. A quota is that of a control group (cgroup v2
or v1 `cpu`), which a user who may write there makes; elsewhere one line says that those rows are
left out. Nobody else is given a setting: each contestant chooses its own threads. Contestants take
turns, so each meets the same neighbours alone, and all compute the same (shared_programs.py), which
is checked. Figures: milliseconds a call, median over rounds; then how many times faster this
library is than each other, the median over rounds of the quotients."""
import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import report
from alternate import Contestant, Failed, alternate, answers, die_with_parent, environments, ratio, repeat, serve
from shared_programs import NETWORKS, PROGRAMS, program_of

# Computes for the share in its first argument of each 200 ms, by the clock that all of them have.
BUSY = """
import sys, time
share, x = float(sys.argv[1]), 0
while True:
    if share < 1 and time.time() % 0.2 > 0.2 * share: time.sleep(0.2 - time.time() % 0.2)
    for _ in range(1000): x += 1
"""
OTHERS = ("1.9.1", "torch", "onnxruntime", "openvino")   # whom this library is compared with
NAMES = (*PROGRAMS, *NETWORKS)


def contestant(kind, only):
    """Serves the programs that a framework has: mxnet, this library's or 1.9.1's, torch,
    onnxruntime or openvino."""
    send = answers()
    module = __import__(kind)
    made = {name: program(module) for name in only if (program := program_of(kind, name)[0])}
    for run, _ in made.values():
        repeat(run)(2)
    serve(send, {name: repeat(run) for name, (run, _) in made.items()},
          {"version": module.__version__, "numbers": {name: numbers() for name, (_, numbers) in made.items()}})


def entries(args):
    """contestant's name -> (interpreter, module, environment)"""
    ours, plain = environments("wall")
    found = {"ours": (sys.executable, "mxnet", ours), "ours, 1 thread": (sys.executable, "mxnet", dict(ours, OMP_NUM_THREADS="1"))}
    if args.base:
        found["base"] = sys.executable, "mxnet", dict(ours, MXNET_LIBRARY_PATH=args.base)
    if args.oracle:
        found["1.9.1"] = args.oracle, "mxnet", plain
    if args.torch:
        found["torch"] = args.torch, "torch", plain
        found["torch, 1 thread"] = args.torch, "torch", dict(plain, OMP_NUM_THREADS="1")
    if args.peers and any(name in NETWORKS for name in args.only):
        found.update({name: (args.peers, name, plain) for name in ("onnxruntime", "openvino")})
    return found


def check(contestants):
    """Every contestant's numbers are the first one's."""
    first = contestants[0]
    for c in contestants[1:]:
        for name, expected in first.info["numbers"].items():
            got = c.info["numbers"].get(name, expected)   # not everybody has all programs
            if len(got) != len(expected) or not np.allclose(got, expected, rtol=2e-3, atol=1e-6):
                raise Failed(f"{name}: {c.name} computes {got}, {first.name} {expected}")


# Control groups

PERIOD = 0.1   # seconds


class Quota:
    """A control group that gives its processes so many processors' time; `folder` is None where
    none can be made."""

    def __init__(self, processors):
        self.folder = None
        second = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        folder = f"/sys/fs/cgroup/{'' if second else 'cpu/'}mxnet-bench-{os.getpid()}"
        time_of = [int(1e6 * PERIOD * processors), int(1e6 * PERIOD)]
        files = {"cpu.max": "{} {}"} if second else {"cpu.cfs_period_us": "{1}", "cpu.cfs_quota_us": "{0}"}
        try:
            os.mkdir(folder)
            self.folder = folder
            for name, text in files.items():
                with open(f"{folder}/{name}", "w") as f:
                    f.write(text.format(*time_of))
        except OSError:
            self.end()

    def enter(self):
        """Puts this process into the group; False where that cannot be done."""
        if not self.folder:
            return False
        try:
            with open(f"{self.folder}/cgroup.procs", "w") as f:
                f.write(str(os.getpid()))
        except OSError:
            self.end()
        return bool(self.folder)

    def end(self):
        folder, self.folder = self.folder, None
        for _ in range(50):   # processes that were killed leave it a moment later
            try:
                return folder and os.rmdir(folder)
            except OSError:
                time.sleep(0.1)


def leave(groups):
    """Puts this process back where it was."""
    for line in groups.splitlines():
        number, controllers, path = line.split(":", 2)
        root = "/sys/fs/cgroup" if number == "0" and not controllers else "/sys/fs/cgroup/cpu" if "cpu" in controllers.split(",") else None
        if root and os.path.exists(f"{root}{path}/cgroup.procs"):
            with open(f"{root}{path}/cgroup.procs", "w") as f:
                f.write(str(os.getpid()))


def make_networks(args):
    """The files of the networks that are asked for, before anybody looks for them."""
    for name in args.only:
        if name in NETWORKS:
            import shared_networks
            shared_networks.made(NETWORKS[name], args.peers or args.torch)


def measure(args, neighbours, quota):
    """program -> contestant -> seconds a call in each round; None where no control group can be
    made"""
    group = Quota(quota) if quota else None
    here = open("/proc/self/cgroup").read()
    if group and not group.enter():   # what is started from here on is in the group
        return None
    make_networks(args)
    contestants, busy = [], []
    try:
        for name, (python, module, env) in entries(args).items():
            contestants.append(Contestant(name, python, __file__, [module, *args.only], env))
            contestants[-1].ready()
        check(contestants)
        busy = [subprocess.Popen([sys.executable, "-c", BUSY, str(args.share)], preexec_fn=die_with_parent) for _ in range(neighbours)]
        calls = {}
        for w in args.only:
            few = program_of("mxnet", w)[1]
            calls[w] = {c.name: max(1, round(args.slice / c.time(w, few)[0])) for c in contestants if w in c.info["numbers"]}
        # Under a quota nobody pays for what the one before used: the next slice begins with a new
        # period.
        return alternate(contestants, calls, args.rounds, step=lambda: time.sleep(2 * PERIOD if group else 0))
    finally:
        for process in busy:
            process.kill()
            process.wait()
        for c in contestants:
            c.end()
        if group:
            leave(here)
            group.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neighbours", type=int, nargs="*", default=[0, 2, 4])
    parser.add_argument("--share", type=float, default=1, help="of its time that a neighbour computes (default 1)")
    parser.add_argument("--quotas", type=float, nargs="*", default=[1, 1.5], help="in processors")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slice", type=float, default=0.5,
                        help="seconds that a contestant computes before the next one's turn, at "
                        "least one call")
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--torch", help="interpreter with torch")
    parser.add_argument("--base", help="another libmxnet.so to compare with")
    parser.add_argument("--peers", help="interpreter with torch, onnx, onnxruntime and openvino, for the networks")
    parser.add_argument("--only", nargs="*", choices=NAMES, help="these programs")
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--contestant", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.contestant:
        contestant(args.contestant[0], args.contestant[1:])
        return
    args.only = args.only or list(NAMES)
    names = list(entries(args))
    others = [n for n in names if n in OTHERS]
    columns = ["load", "program", *(f"{n}, ms" for n in names), *(f"{n} ÷ ours" for n in others)]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|", flush=True)
    figures, left_out = [], []
    for neighbours, quota in [(n, None) for n in args.neighbours] + [(0, q) for q in args.quotas]:
        try:
            rows = measure(args, neighbours, quota)
        except Failed as e:
            raise SystemExit(f"shared: {e}")
        if rows is None:
            left_out.append(quota)
        part = f" for {args.share:g} of the time" if args.share < 1 else ""
        load = f"quota of {quota:g}" if quota else f"{neighbours} neighbours{part}"
        for w, times in (rows or {}).items():
            medians = {n: 1e3 * statistics.median(t) for n, t in times.items()}
            ratios = {n: ratio(times, n, "ours") for n in others if n in times}
            figures.append({"load": load, "program": w, "ms": medians, "over ours": ratios})
            cells = [f"{medians[n]:.1f}" if n in medians else "-" for n in names]
            cells += [f"{ratios[n]:.2f}" if n in ratios else "-" for n in others]
            print(f"| {load} | {w} | {' | '.join(cells)} |", flush=True)
    for quota in left_out:
        print(f"\nquota of {quota:g}: left out, no control group of processor time can be made here")
    if args.json:
        report.save(args.json, {"mode": "shared", "rows": figures, "left_out": left_out})


if __name__ == "__main__":
    main()
