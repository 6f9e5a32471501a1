"""Contestants that take turns: each is a process of its own that answers one round after the other, so that the machine's drift falls on all of them."""
import json
import os
import statistics
import subprocess
import sys
import time


def serve(workloads):
    """The contestant's side. workloads: name -> function of nothing that computes once and waits for the result."""
    print("ready", flush=True)
    for line in sys.stdin:
        name, calls = line.rsplit(" ", 1)
        begin = time.perf_counter(), time.process_time()
        for _ in range(int(calls)):
            workloads[name]()
        print(json.dumps([(time.perf_counter() - begin[0]) / int(calls), (time.process_time() - begin[1]) / int(calls)]), flush=True)


class Contestant:
    def __init__(self, name, python, script, arguments, env):
        self.name = name
        self.process = subprocess.Popen([python, os.path.abspath(script), "--contestant", *arguments], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if self.process.stdout.readline().strip() != "ready":
            self.process.kill()
            raise SystemExit(f"{name}: {python} did not start; run {script} --contestant {' '.join(arguments)} to see why")

    def time(self, workload, calls):
        """(wall, processor) seconds per call"""
        self.process.stdin.write(f"{workload} {calls}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def add_clock(parser):
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall",
                        help="cpu: one thread each, processor time; for a machine that others are busy on")


def environments(clock):
    """(for this library, for other interpreters)"""
    ours = dict(os.environ, **({"OMP_NUM_THREADS": "1"} if clock == "cpu" else {}))
    return ours, {k: v for k, v in ours.items() if k not in ("PYTHONPATH", "MXNET_LIBRARY_PATH")}


def alternate(contestants, workloads, rounds, clock="wall", at_end=None):
    """workloads: name -> calls per round. Seconds per call by workload and contestant, one number for each round but the first, which warms up.
    at_end is called before the contestants are let go."""
    times = {w: {c.name: [] for c in contestants} for w in workloads}
    for r in range(rounds + 1):
        for w, calls in workloads.items():
            for c in contestants:
                seconds = c.time(w, calls)
                if r:
                    times[w][c.name].append(seconds[clock == "cpu"])
    if at_end:
        at_end()
    for c in contestants:
        c.end()
    return times


def table(times, images, first):
    """Markdown: median images per second and, against `first`, the median over rounds of the ratio of the two times."""
    names = list(next(iter(times.values())))
    lines = ["| | " + " | ".join(names) + " | " + " | ".join(f"{first} ÷ {n}" for n in names if n != first) + " |", "|---" * (2 * len(names)) + "|"]
    for w, by_name in times.items():
        rates = [f"{images[w] / statistics.median(by_name[n]):.2f}" for n in names]
        ratios = [f"{statistics.median(o / t for o, t in zip(by_name[n], by_name[first])):.2f}" for n in names if n != first]
        lines.append(f"| {w} | " + " | ".join(rates + ratios) + " |")
    return "\n".join(lines)
