"""What score.py and train.py share: options, one race per network and batch among the contestants
that are installed, and the checks that all compute the same."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from tqdm import tqdm

import contestants
import contestants_gpu
import networks
import report
from alternate import Contestant, Failed, add_clock, add_ctx, alternate, environments, need_gpu, ratio

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
WORKER = os.path.join(HERE, "contestants.py")


GPU_MODELS, GPU_BATCH = ["resnet50"], {"score": [1, 32, 128], "train": [32, 128]}


def entries_of(mode, ctx):
    """(the module that knows the contestants, their names and interpreters)"""
    entries = contestants_gpu if ctx == "gpu" else contestants
    return entries, entries.SCORE if mode == "score" else entries.TRAIN


def parse(doc, mode, models, batch, rounds):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: [w for w in text.split(",") if w]
    add_ctx(parser)
    parser.add_argument("--models", type=words, help=f"of {','.join(models)}; on a GPU {','.join(GPU_MODELS)} when not given")
    parser.add_argument("--batch", type=lambda text: [int(b) for b in text.split(",")])
    parser.add_argument("--only", type=words, help="rows, each model@batch, of those that --models and --batch give")
    parser.add_argument("--contestants", type=words, help="; ".join(
        f"on the {ctx} of {','.join(known)} ({', '.join(repr(n) for n in entries.DEFAULT_OFF)} "
        f"only if named here)" for ctx in ("cpu", "gpu")
        for entries, known in [entries_of(mode, ctx)]))
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--peers", help="interpreter with any of torch, onnxruntime, openvino (the "
                        "latter two need torch and onnxscript to write the model)")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--slice", type=float, default=1.0,
                        help="seconds that a contestant computes before the next one's turn, at "
                        "least one call")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--cache", default=os.path.join(ROOT, "build", "networks"), help="folder for the networks' weights (up to 3 GB)")
    parser.add_argument("--write-docs", action="store_true",
                        help=f"the results into docs/perf/{mode}.md and .svg and the table into "
                        f"docs/perf.md; with --ctx gpu into docs/gpu/figures.md alone")
    parser.add_argument("--dtype", default="float32",
                        help=f"on the CPU {' or '.join(contestants.DTYPES[mode])}, on a GPU "
                        f"{', '.join(contestants_gpu.DTYPES[mode])}: "
                        "16-bit types by mx.amp and by each framework's own means; those that have none are left out")
    parser.add_argument("--each-call", action="store_true",
                        help="on a GPU: wait for every call's result, not only behind a slice's "
                        "last one")
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    args = parser.parse_args()
    gpu = args.ctx == "gpu"
    entries, known = entries_of(mode, args.ctx)
    args.models = args.models or (GPU_MODELS if gpu else models)
    args.batch = args.batch or (GPU_BATCH[mode] if gpu else batch)
    if args.dtype not in entries.DTYPES[mode]:
        parser.error(f"--dtype {args.dtype}: choose from {', '.join(entries.DTYPES[mode])}")
    if args.dtype != "float32" and args.write_docs and not gpu:
        parser.error("--write-docs keeps float32's tables; redirect the output of other types")
    for given, allowed in ((args.models, models), (args.contestants or [], known)):
        for word in given:
            if word not in allowed:
                parser.error(f"{word}: choose from {', '.join(allowed)}")
    if gpu and (args.clock == "cpu" or args.oracle):
        parser.error("--ctx gpu goes with --clock wall and --peers alone")
    if gpu:
        need_gpu(mode)
    elif args.each_call:
        parser.error("--each-call goes with --ctx gpu; on the CPU every call is waited for")
    if args.clock == "cpu":
        args.threads = 1
    return args


def _installed(python, module, env):
    return subprocess.run([python, "-c",
                           f"import importlib.util as u; raise SystemExit(u.find_spec({module!r}) "
                           f"is None)"], env=env).returncode == 0


class Race:
    def __init__(self, mode, args):
        self.mode, self.args = mode, args
        ours, plain = environments(args.clock, args.threads)
        ours.pop("OMP_WAIT_POLICY", None)
        if args.ctx == "cpu":
            plain = dict(plain, TORCHINDUCTOR_COMPILE_THREADS="1")
        self.gpu = args.ctx == "gpu"
        if self.gpu:
            ours = dict(ours, **contestants_gpu.environment(args.dtype))
        pythons = {"ours": sys.executable, "oracle": args.oracle, "peers": args.peers}
        self.entries = {}   # name -> (interpreter, environment)
        entries, known = entries_of(mode, args.ctx)
        for name, who in known.items():
            env = ours if who == "ours" else plain
            asked = name in args.contestants if args.contestants else name not in entries.DEFAULT_OFF
            asked = asked and entries.takes(name, args.dtype)
            if asked and pythons[who] and _installed(pythons[who], contestants.MODULE[name], env):
                self.entries[name] = pythons[who], env
        if not self.entries:
            raise SystemExit("no contestant: none of those asked for is installed (--oracle, --peers)")
        self.versions, self.notes, self.rows = {}, [], []

    def rows_wanted(self):
        rows = [(m, b) for m in self.args.models for b in self.args.batch]
        return [(m, b) for m, b in rows if not self.args.only or f"{m}@{b}" in self.args.only]

    def _folder(self, name):
        folder = networks.prepare(name, self.args.cache)
        wants_onnx = [n for n in self.entries if n in ("onnxruntime", "openvino")]
        if wants_onnx:
            networks.add_onnx(folder, *self.entries[wants_onnx[0]])
        return folder

    def _check(self, folder, batch, running):
        """All outputs equal the first one's, and the operations torch counts are those of the
        symbol."""
        with open(os.path.join(folder, "meta.json")) as f:
            meta = json.load(f)
        with open(os.path.join(folder, "symbol.json")) as f:
            random = self.mode == "train" and '"Dropout"' in f.read()   # every contestant draws its own masks
        score = contestants_gpu.TOLERANCE[self.args.dtype] if self.gpu else 1e-3 if self.args.dtype == "float32" else 0.3
        tolerance = 0.4 if random else 0.1 if self.mode == "train" else score
        first = running[0]
        reference = np.array(first.info["sample"])
        if not np.isfinite(reference).all() or (self.mode == "score" and not 1e-3 < np.abs(reference).max() < 1e4):
            raise SystemExit(f"{meta['name']}: {first.name} computes values up to "
                             f"{np.abs(reference).max()}: the random weights are no good for "
                             f"timing")
        for c in running[1:]:
            if c.info["shape"] != first.info["shape"]:
                raise SystemExit(f"{meta['name']}: {c.name} returns {c.info['shape']}, {first.name} {first.info['shape']}")
            error = np.abs(np.array(c.info["sample"]) - reference).max() / np.abs(reference).max()
            if error > tolerance:
                raise SystemExit(f"{meta['name']}: {c.name} computes something else than {first.name}, relative error {error:.2g}")
            if c.info["flops"] and c.info["flops"] != meta["flops"]:
                raise SystemExit(f"{meta['name']}: {c.name} counts {c.info['flops']} "
                                 f"floating-point operations, the symbol has {meta['flops']}")
        return meta

    def _handover(self):
        """Nanoseconds that a line of cache takes between two threads and back; None with one
        thread."""
        measured = report.measured_limits(ROOT, self.args.threads, "--handover") if self.args.threads > 1 and not self.gpu else None
        return measured and measured["handover_ns"]

    def _started(self, name, batch, folder, progress):
        """Contestants that can be timed. On a GPU they import beside each other, and have the
        device one after another."""
        with tempfile.NamedTemporaryFile() as lock:
            extra = ["--each-call"] * self.args.each_call + (["--turn", lock.name] if self.gpu else [])

            def begun(n, python, env):
                return Contestant(n, python, WORKER,
                                  [n, "--mode", self.mode, "--folder", folder, "--batch", str(batch),
                                   "--threads", str(self.args.threads), "--dtype", self.args.dtype,
                                   "--ctx", self.args.ctx, *extra], env)
            early = {n: begun(n, *entry) for n, entry in self.entries.items()} if self.gpu else {}
            started = []
            for n, entry in self.entries.items():
                progress.set_postfix_str(f"{name}@{batch}: starting {n}")
                c = early.get(n) or begun(n, *entry)
                try:
                    self.versions[n] = c.ready()["version"]
                    started.append(c)
                except Failed as e:
                    self.notes.append(f"{name}@{batch}: {str(e).splitlines()[0]}: {str(e).strip().splitlines()[-1]}")
                    tqdm.write(str(e), file=sys.stderr)
                progress.update()
        return started

    def row(self, name, batch, progress):
        """One race. Contestants that cannot start are left out, with a note."""
        folder = self._folder(name)
        started = self._started(name, batch, folder, progress)
        try:
            if not started:
                raise SystemExit(f"{name}@{batch}: nobody started")
            meta = self._check(folder, batch, started)
            calls = {}
            for c in started:
                seconds = c.time("run", c.info["at_once"])[0]
                calls[c.name] = c.info["at_once"] * max(1, round(self.args.slice / seconds / c.info["at_once"]))
            progress.set_postfix_str(f"{name}@{batch}: racing")
            settle = 1 if max(calls.values()) > 4 else 0   # the others' data is in the caches
            near = self._handover()
            times = alternate(started, {"run": calls}, self.args.rounds, self.args.clock, settle, progress.update)["run"]
            memory = {c.name: (c.peak_mib(), c.info["imported_mib"]) for c in started}
        finally:
            for c in started:
                c.end()
        handover = [ns for ns in (near, self._handover()) if ns]
        first = started[0].name
        medians = {n: statistics.median(t) for n, t in times.items()}
        peers = [n for n in times if n != first]
        best = min(peers, key=medians.get) if peers else None
        return {"model": name, "title": networks.NETWORKS[name].title, "batch": batch,
                "rates": {n: batch / t for n, t in medians.items()}, "best": best,
                "ratios": {n: ratio(times, n, first) for n in peers}, "memory": memory,
                "device": {c.name: c.info["device_mib"] for c in started} if self.gpu else None,
                "handover": handover,
                "gflops": (1 if self.mode == "score" else 3) * meta["flops"] * batch / medians[first] / 1e9}

    def run(self):
        begin = time.time()
        wanted = self.rows_wanted()
        with tqdm(total=len(wanted) * len(self.entries) * (self.args.rounds + 2), unit="slice", disable=None) as progress:
            for name, batch in wanted:
                self.rows.append(self.row(name, batch, progress))
                tqdm.write(report.line(self.rows[-1]), file=sys.stderr)
        seconds = time.time() - begin
        if self.gpu:
            description = report.gpu_machine(self.versions, self.args)
        else:
            description = report.machine(ROOT, self.versions, self.args) + report.handovers(self.rows)
        names = list(self.entries)
        text = report.markdown(self.mode, self.rows, names, description, self.notes, seconds)
        print(text)
        if self.args.json:
            report.save(self.args.json, {"mode": self.mode, "ctx": self.args.ctx,
                                         "dtype": self.args.dtype, "rows": self.rows,
                                         "left_out": self.notes, "description": description})
        if self.args.write_docs and self.gpu:
            report.write_gpu(ROOT, f"{self.mode} {self.args.dtype}", text.split("\n", 2)[2])
        elif self.args.write_docs:
            report.write(ROOT, self.mode, text, report.tables(self.mode, self.rows, names), report.svg(self.mode, self.rows, names))
