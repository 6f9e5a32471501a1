"""ONNX models beside onnxruntime and OpenVINO: `./dev bench onnx --peers PYTHON`.

Makes the models (onnx_models.py) in a folder of the build, and times each with threads equal. Each
contestant is a process of its own that rests while another computes; they take turns of short
bursts. The last column of each group is the best other's number divided by ours, so more is better.
Models of your own: NAME.onnx with inputs in NAME.1.npz (arrays in_INPUT) in the folder of --cache.

The level AVX2 holds ours and OpenVINO to it. onnxruntime has no switch for that, and computes with
what the processor has. So its cells of that level say "not held" and count nowhere where that is
more; its results are compared all the same.

A library that was linked a moment ago is copied first (copy_library)."""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from tqdm import tqdm

import onnx_contestants
import onnx_models
from alternate import Contestant, Failed, add_clock, alternate, environments, ratio

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(HERE, "onnx_contestants.py")
OTHERS = ("onnxruntime", "openvino")


def parse():
    numbers = lambda text: [int(n) for n in text.split(",")]
    words = lambda text: [w for w in text.split(",") if w]
    parser = argparse.ArgumentParser(prog="./dev bench onnx", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="interpreter with onnxruntime and openvino; to make the "
                        "models also torch, torchvision, onnx, scikit-learn and skl2onnx")
    parser.add_argument("--only", help="models: names, parts of names, or with * and ?, with commas between")
    parser.add_argument("--contestants", type=words, default=list(onnx_contestants.MODULE), help="of ours,onnxruntime,openvino")
    parser.add_argument("--threads", type=numbers, help="default 2,1")
    parser.add_argument("--batch", type=numbers, help="default 1,8, of those that a file takes")
    parser.add_argument("--level", type=words, help="default avx512,avx2, of those that the processor has")
    parser.add_argument("--quick", action="store_true", help="2 threads, batch 1, the highest level and fewer rounds where not given")
    parser.add_argument("--rounds", type=int, help="default 7, quick 3")
    parser.add_argument("--slice", type=float, default=0.1, help="seconds of a burst, at least one call")
    parser.add_argument("--starts", type=int,
                        help="processes of each contestant for the first answer, of which the median counts; default 5, quick 3")
    parser.add_argument("--starts-only", action="store_true", help="time only the load to the first answer")
    parser.add_argument("--cache", default=os.path.join(os.path.dirname(HERE), "build", "onnx_models"), help="folder of the models (2 GB)")
    parser.add_argument("--list", action="store_true", help="print the models")
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    args = parser.parse_args()
    quick = args.quick
    for name, value in (("threads", [2] if quick else [2, 1]), ("batch", [1] if quick else [1, 8]), ("rounds", 3 if quick else 7),
                        ("level", list(onnx_contestants.levels_here()[:1 if quick else None])), ("starts", 3 if quick else 5)):
        if getattr(args, name) is None:
            setattr(args, name, value)
    for option, given, accepted in (("level", args.level, onnx_contestants.LEVELS),
                                    ("contestants", args.contestants, onnx_contestants.MODULE)):
        for word in given:
            if word not in accepted:
                parser.error(f"--{option} {word}; accepted: {', '.join(accepted)}")
    if args.clock == "cpu":
        args.threads = [1]
    if not args.peers:
        args.contestants = [c for c in args.contestants if c == "ours"]
    if not args.contestants:
        parser.error("no contestant: onnxruntime and openvino need --peers PYTHON")
    return args


def own_models(folder):
    """Models in the folder that the maker does not know."""
    files = os.listdir(folder) if os.path.isdir(folder) else []
    names = [f[:-5] for f in files if f.endswith(".onnx")]
    return sorted(n for n in names if n not in onnx_models.MADE and os.path.exists(onnx_models.inputs_path(folder, n, 1)))


def add_own(folder):
    for name in own_models(folder):
        batches = [b for b in onnx_models.BATCHES if os.path.exists(onnx_models.inputs_path(folder, name, b))]
        onnx_models.MADE[name] = onnx_models.Made("own", None, None, batches)


def made(names, args):
    """Those of the names that are there, after the others were made."""
    missing = [n for n in names if onnx_models.MADE[n].make and not onnx_models.complete(args.cache, n)]
    if missing and args.peers:
        maker = subprocess.Popen([args.peers, os.path.join(HERE, "onnx_models.py"), "--folder", args.cache, "--only", ",".join(missing)],
                                 env=environments("wall")[1], stdout=subprocess.PIPE, text=True)
        with tqdm(total=len(missing), unit="model", desc="making", disable=None) as progress:
            for line in maker.stdout:
                progress.update(line.startswith("made "))
        maker.wait()
        missing = [n for n in missing if not onnx_models.complete(args.cache, n)]
    for n in missing:
        tqdm.write(f"{n}: not made" + ("" if args.peers else "; --peers PYTHON makes it"), file=sys.stderr)
    return [n for n in names if n not in missing]


def error_of(found, reference):
    """The largest difference, relative to the largest value, over all outputs."""
    if len(found) != len(reference):
        return float("inf")
    worst = 0.0
    for f, r in zip(found, reference):
        if f.shape != r.shape:
            return float("inf")
        if r.dtype.kind not in "fiub" or not r.size:
            continue
        f, r = f.astype("float64"), r.astype("float64")
        if not np.array_equal(np.isfinite(f), np.isfinite(r)):
            return float("inf")
        worst = max(worst, float(np.abs(f - r).max() / max(np.abs(r).max(), 1e-30)))
    return worst


def tolerance(about):
    """Of the largest value. Sums that lie on a tie are rounded apart, and the layers behind such a
    step amplify it: onnxruntime itself differs by 0.11 (ResNet-50, QDQ) from its run without
    optimizations. tests/python/onnx/test_import_integers.py holds layers to one step. bfloat16 has
    eight bits, too. Infinite: nobody here knows the result."""
    if about.quantized:
        return math.inf if onnx_contestants.saturates_here() else 0.12
    return 0.02 if about.half else 1e-4


def hold_in_memory(folder, name):
    """Reads the files of a model, so that the system keeps them in its memory."""
    for file in os.listdir(folder):
        if file.startswith(name + "."):
            with open(os.path.join(folder, file), "rb") as f:
                while f.read(1 << 24):
                    pass


def copy_library(path):
    """Puts a copy of the library in its place. A linker writes here and there in a file, which the
    system then keeps in its memory in small pieces: first calls wait for more of them than those of
    a copy do, or of an installed library. Processes that have the old one open keep it."""
    if not path or not os.access(os.path.dirname(path), os.W_OK):
        return
    copy = path + ".copy"
    shutil.copy2(path, copy)   # with its time: nothing is built again
    os.replace(copy, path)


class Row:
    """One race: a model with a batch, at a level, with so many threads."""

    def __init__(self, name, batch, threads, level, args, folder):
        self.name, self.batch, self.threads, self.level, self.args, self.folder = name, batch, threads, level, args, folder
        self.about, self.failed, self.first = onnx_models.MADE[name], {}, {}
        self.timed = [c for c in args.contestants if onnx_contestants.is_held(c, level)]
        self.change, self.later = {}, {}

    def begun(self, contestant, awake):
        mine, plain = environments("wall", self.threads, awake)
        python, env = (sys.executable, mine) if contestant == "ours" else (self.args.peers, plain)
        path = lambda batch: onnx_models.inputs_path(self.args.cache, self.name, batch)
        arguments = ["--model", os.path.join(self.args.cache, self.name + ".onnx"), "--inputs", path(self.batch),
                     "--other", path(onnx_models.OTHER), "--one", path(1), "--threads", str(self.threads), "--level", self.level,
                     "--outputs", self.outputs_path(contestant)] + ["--half"] * self.about.half + ["--warm"] * (not awake)
        return Contestant(contestant, python, WORKER, [contestant, *arguments],
                          onnx_contestants.environment(contestant, self.level, env))

    def outputs_path(self, contestant):
        return os.path.join(self.folder, contestant + ".npz")

    def started(self, name, awake):
        """None where the contestant fails."""
        c = self.begun(name, awake)
        try:
            c.ready()
        except Failed as error:
            self.failed[name] = str(error).strip().splitlines()[-1]
            c.end()
            return None
        return c

    def start(self):
        """Contestants that can be timed. First answers are those of other processes, whose threads
        sleep and wake as they do by themselves: on cores that others want, awake ones wait for each
        other. They take turns, and all find the files in memory: whoever came first would read them
        from the disk for the others."""
        names = self.timed
        hold_in_memory(self.args.cache, self.name)
        firsts = {name: [] for name in names}
        for name in names * self.args.starts:
            c = self.started(name, awake=False) if name not in self.failed else None
            if c:
                firsts[name].append(c.info["first"][self.args.clock])
                if not self.args.starts_only:
                    self.measure_change(c)
                c.end()
        self.first = {name: statistics.median(f) for name, f in firsts.items() if f}
        if self.args.starts_only:
            return []
        running = [self.started(name, awake=True) for name in names if name not in self.failed]
        return [c for c in running if c]

    def measure_change(self, contestant):
        seconds = contestant.ask("change")
        for kind, least_of in (("first", self.change), ("later", self.later)):
            if seconds is not None and seconds[kind] is not None:
                found = seconds[kind][self.args.clock]
                least_of[contestant.name] = min(found, least_of.get(contestant.name, found))

    def errors(self, running):
        outputs = lambda path: list(onnx_contestants.of_file(path, "out_").values())
        judges = [c for name in self.args.contestants if name not in self.timed and (c := self.started(name, awake=False))]
        for c in judges:   # what it computes counts, though not its time
            c.end()
        found = {c.name: outputs(self.outputs_path(c.name)) for c in (*running, *judges)}
        reference = found.get("onnxruntime") or outputs(onnx_models.inputs_path(self.args.cache, self.name, self.batch))
        return {n: error_of(f, reference) for n, f in found.items() if n != "onnxruntime" and reference}

    def figures(self):
        running = self.start()
        try:
            calls = {c.name: max(1, min(5000, int(self.args.slice / c.time("run", 1, 1)[self.args.clock == "cpu"]))) for c in running}
            times = alternate(running, {"run": calls}, self.args.rounds, self.args.clock)["run"] if running else {}
            memory = {c.name: [c.peak_mib() - c.info["imported"], c.peak_mib()] for c in running}
            for c in running:
                self.measure_change(c)
            errors = self.errors(running) if running else {}
        finally:
            for c in running:
                c.end()
        milli = lambda seconds: {n: 1e3 * s for n, s in seconds.items()}
        figures = {"model": self.name, "kind": self.about.kind, "batch": self.batch, "threads": self.threads, "level": self.level,
                   "median_ms": milli({n: statistics.median(t) for n, t in times.items()}),
                   "best_ms": milli({n: min(t) for n, t in times.items()}),
                   "first_ms": milli(self.first), "change_ms": milli(self.change), "later_ms": milli(self.later),
                   "peak_mib": {n: m[0] for n, m in memory.items()},
                   "whole_mib": {n: m[1] for n, m in memory.items()}, "errors": errors, "tolerance": tolerance(self.about),
                   "failed": self.failed, "not_held": [c for c in self.args.contestants if c not in self.timed],
                   "versions": {c.name: c.info["version"] for c in running}}
        others = [n for n in times if n != "ours"]
        if "ours" in times and others:
            best = min(others, key=lambda n: statistics.median(times[n]))
            figures["ratio"], figures["best"] = ratio(times, best, "ours"), best
        return figures


def least(values):
    return min((v for n, v in values.items() if n != "ours"), default=None)


def quotient(figures, key):
    """The best other's number divided by ours."""
    mine, other = figures[key].get("ours"), least(figures[key])
    return other / mine if mine and other else None


def cells(figures, key, digits):
    """The three contestants' numbers of a kind."""
    text = lambda n: (f"{figures[key][n]:.{digits}f}" if n in figures[key] else
                      onnx_contestants.NOT_HELD if n in figures["not_held"] else "-")
    return " / ".join(text(n) for n in onnx_contestants.MODULE)


def line(f):
    """A row of the table."""
    number = lambda x: "-" if x is None else f"{x:.2f}"
    digits = 3 if max(f["median_ms"].values(), default=9) < 5 else 1
    error = f["errors"].get("ours")
    wrong = "-" if error is None else f"{error:.0e}" + ("" if error <= f["tolerance"] else " WRONG")
    if "ours" in f["failed"]:
        wrong = "ours: " + f["failed"]["ours"][:60]
    times = lambda key: (onnx_contestants.NOT_HELD if "onnxruntime" in f["not_held"] else
                         number(f[key]["ours"] / f[key]["onnxruntime"] if {"ours", "onnxruntime"} <= set(f[key]) else None))
    return (f"| {f['model']}@{f['batch']} | {f['threads']} | {f['level']} | {cells(f, 'median_ms', digits)} | {number(f.get('ratio'))} | "
            f"{cells(f, 'first_ms', 0)} | {number(quotient(f, 'first_ms'))} | "
            f"{cells(f, 'peak_mib', 0)} | {number(quotient(f, 'peak_mib'))} | "
            f"{times('change_ms')} | {times('later_ms')} | {wrong} |")


HEAD = ("| model@batch | threads | level | median ms | ratio | load to first answer, ms | ratio | peak MiB beyond imports | ratio | "
        "first answer of a new shape, times onnxruntime's | of each later one | error |\n" + "|---" * 12 + "|")


def summary(rows):
    """Sentences on all rows."""
    text = [f"{len({f['model'] for f in rows})} models, {len(rows)} rows; each cell: ours / onnxruntime / OpenVINO."]
    failed = [f"{f['model']} ({n})" for f in rows for n in f["failed"]]
    wrong = [f"{f['model']}@{f['batch']}" for f in rows if f["errors"].get("ours", 0) > f["tolerance"]]
    text += [f"Did not run: {', '.join(sorted(set(failed))) or 'none'}.", f"Disagree: {', '.join(sorted(set(wrong))) or 'none'}."]

    def distribution(what, found, below):
        if found:
            text.append(f"{what}: median {statistics.median(found):.2f}, "
                        f"{sum(x < below for x in found)} of {len(found)} below {below:.2f}.")
    distribution("Speed", [f["ratio"] for f in rows if "ratio" in f], 0.95)
    for key, what in (("first_ms", "First answer"), ("peak_mib", "Peak memory")):
        distribution(what, [q for f in rows if (q := quotient(f, key))], 1.0)
    for key, what in (("change_ms", "First answer of a new shape"), ("later_ms", "Of each later one, a size larger")):
        distribution(what, [f[key]["onnxruntime"] / f[key]["ours"] for f in rows if {"ours", "onnxruntime"} <= set(f[key])], 1 / 3)
    if any(f["not_held"] for f in rows):
        text.append(onnx_contestants.ABOUT_NOT_HELD)
    if any(f["tolerance"] == math.inf for f in rows):
        text.append(onnx_contestants.ABOUT_SATURATION)
    return "\n".join(text)


def main():
    args = parse()
    add_own(args.cache)
    names = onnx_models.names_like(args.only)
    if args.list:
        for n in names:
            print(f"{n:32}{onnx_models.MADE[n].kind}")
        return
    names = made(names, args)
    wanted = [(n, b, t, level) for n in names for b in args.batch if b in onnx_models.MADE[n].batches
              for t in args.threads for level in args.level]
    if "ours" in args.contestants:
        copy_library(os.environ.get("MXNET_LIBRARY_PATH"))
    rows = []
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder, tqdm(wanted, unit="row", disable=None) as progress:
        for row in progress:
            progress.set_postfix_str(f"{row[0]}@{row[1]}")
            rows.append(Row(*row, args, folder).figures())
            progress.write(line(rows[-1]), file=sys.stdout)
            sys.stdout.flush()
            if args.json:
                with open(args.json + ".part", "w") as f:
                    json.dump(rows, f, indent=1)
                os.replace(args.json + ".part", args.json)   # whole, also when somebody stops the run
    print("\n" + summary(rows))


if __name__ == "__main__":
    main()
