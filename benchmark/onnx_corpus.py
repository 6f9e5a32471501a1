"""Exporters' files through this library and onnxruntime: `./dev bench onnx_corpus --peers PYTHON`.

Makes the files of corpus/onnx_corpus_files.py one at a time in a temporary folder: torchvision,
timm, transformers, scikit-learn, xgboost and lightgbm, as far as PYTHON has them, by both of
torch's exporters, and quantized, float16 and optimised forms. Each is run in a process of its own,
within limits, with inputs of two shapes, and compared with onnxruntime: to 1e-4 of the largest
value, of float16 to 0.02, and quantized ones to one step in each layer (onnx_steps.py). Prints a
table of families, and what went wrong by cause. All of them take a night."""
import argparse
import collections
import fnmatch
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np
from tqdm import tqdm

import onnx_models
from alternate import die_with_parent, environments
from onnx_race import error_of

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "corpus", "onnx_corpus_files.py")
SHAPES = (1, onnx_models.OTHER)
FEW = 1e-4    # the share of quantized numbers that may be a step off: ties, and sums in another order
SHOWN = 6     # names behind a cause


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench onnx_corpus", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", help="interpreter with onnxruntime and the packages whose files are made")
    parser.add_argument("--only", help="files or families: names, parts of names, or with * and ?, with commas between")
    parser.add_argument("--seconds", type=float, default=240, help="for making a file, and for running it (default %(default)s)")
    parser.add_argument("--memory", type=float, default=8, help="GiB that running one may take (default %(default)s)")
    parser.add_argument("--largest", type=float, default=120, help="millions of parameters of a net; larger ones are left out "
                        "(default %(default)s)")
    parser.add_argument("--list", action="store_true", help="print the files")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)   # folder and name: the process that runs a file
    args = parser.parse_args()
    if not args.run and not args.peers:
        parser.error("--peers PYTHON makes the files, and has onnxruntime")
    return args


# A file in this library: the process of its own.

def reason(error):
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def arrays(path, prefix):
    with np.load(path) as f:
        return {k[len(prefix):]: f[k] for k in f.files if k.startswith(prefix)}


def plain(value):
    """Of an output that may be a sequence or a missing optional."""
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


def run(folder, name):
    """Writes NAME.ours.SHAPE.npz, and NAME.steps.SHAPE.npz of quantized files; says what failed."""
    import mxnet as mx
    stage, path = "load", os.path.join(folder, name + ".onnx")
    try:
        model = mx.onnx.load(path)
        steps = mx.onnx.load(path + ".steps") if os.path.exists(path + ".steps") else None
        stage = "run"
        for shape in SHAPES:
            inputs = onnx_models.inputs_path(folder, name, shape)
            if not os.path.exists(inputs):
                continue
            feed = arrays(inputs, "in_")
            made = model.run(feed)
            np.savez(os.path.join(folder, f"{name}.ours.{shape}.npz"), **{f"out_{i}": plain(y) for i, y in enumerate(made.values())})
            if steps:
                np.savez(os.path.join(folder, f"{name}.steps.{shape}.npz"), **{k: plain(y) for k, y in steps.run(feed).items()})
        return {}
    except Exception as error:   # whatever a file brings out
        return {"stage": stage, "failed": reason(error)}


# The rest: who makes, runs and judges them.

def limited(gib):
    def begin():
        die_with_parent()
        if gib:
            room = int(gib * 2 ** 30)
            resource.setrlimit(resource.RLIMIT_DATA, (room, room))
    return begin


def ask(command, seconds, env, gib=None):
    """The last line that a program prints, which is JSON; or why there is none."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", timeout=seconds, preexec_fn=limited(gib))
    except subprocess.TimeoutExpired:
        return {"failed": f"takes more than {seconds:g} s"}
    lines = done.stdout.strip().splitlines()
    if lines and lines[-1].startswith("{"):
        return json.loads(lines[-1])
    last = (done.stderr.strip().splitlines() or ["no word"])[-1][:200]
    return {"failed": f"ended with status {done.returncode}: {last}"}


def rows_alike(found, wanted, tolerance):
    """Detections as sets: rows whose scores are equal may stand in any order."""
    if len(found) != len(wanted) or any(f.shape != w.shape for f, w in zip(found, wanted)):
        return False
    rows = {w.shape[0] if w.ndim else -1 for w in wanted}
    if len(rows) != 1 or -1 in rows:
        return False
    flat = lambda list_: np.concatenate([a.reshape(a.shape[0], -1).astype("f8") / max(np.abs(w).max(), 1e-30) if w.size else
                                         a.reshape(a.shape[0], -1).astype("f8") for a, w in zip(list_, wanted)], 1)
    left, want = list(flat(found)), flat(wanted)
    for row in want:
        at = next((i for i, other in enumerate(left) if np.abs(other - row).max() <= tolerance), None)
        if at is None:
            return False
        left.pop(at)
    return True


def strings_alike(found, wanted):
    return all(np.array_equal(f.astype("U"), w) for f, w in zip(found, wanted) if w.dtype.kind == "U")


class File:
    """One of the corpus, and what became of it."""

    def __init__(self, name, about, args):
        self.name, self.about, self.args = name, about, args
        self.row = {"file": name, "family": about["family"], "made": False, "loads": False, "agrees": False, "cause": None}

    def work(self):
        with tempfile.TemporaryDirectory() as folder:
            self.row["cause"] = self.made(folder) or self.ran(folder) or self.compared(folder)
        self.row["agrees"] = self.row["cause"] is None
        return self.row

    def peers(self, folder, *more):
        command = [self.args.peers, FILES, "--folder", folder, "--largest", str(self.args.largest), *more]
        return ask(command, self.args.seconds, environments("wall")[1])

    def made(self, folder):
        answer = self.peers(folder, "--make", self.name)
        if "failed" in answer:
            return "not made: " + answer["failed"]
        self.row["made"] = True
        if "refused" in answer:
            self.row["refused"] = answer["refused"]   # by onnxruntime; its maker computes the results
        return None

    def ran(self, folder):
        answer = ask([sys.executable, os.path.abspath(__file__), "--run", folder, self.name], self.args.seconds, environments("wall")[0],
                     self.args.memory)
        self.row["loads"] = "failed" not in answer or answer.get("stage") == "run"
        return f"{answer.get('stage', 'run')}: {answer['failed']}" if "failed" in answer else None

    def compared(self, folder):
        tolerance = 0.02 if self.about["half"] else 1e-4
        for shape in SHAPES:
            wanted = onnx_models.inputs_path(folder, self.name, shape)
            if not os.path.exists(wanted):
                continue
            found = list(arrays(os.path.join(folder, f"{self.name}.ours.{shape}.npz"), "out_").values())
            wanted = list(arrays(wanted, "out_").values())
            error = self.row["error"] = max(self.row.get("error", 0.0), error_of(found, wanted))
            if not strings_alike(found, wanted):
                return "differs: strings"
            if self.about["quantized"] and np.isfinite(error):
                cause = self.judged(folder, shape)
                if cause:
                    return cause
            elif error > tolerance and not ("detection" in self.row["family"] and rows_alike(found, wanted, tolerance)):
                return f"differs: by {error:.0e} of the largest value"
        return None

    def judged(self, folder, shape):
        verdict = self.peers(folder, "--judge", self.name, "--shape", str(shape))
        if "failed" in verdict:
            return "not judged: " + verdict["failed"]
        self.row.setdefault("steps", []).append(verdict)
        if verdict["more"]:
            return f"differs: {verdict['more']} numbers by more than a step, first in {verdict['first']}"
        if verdict["one"] > 10 + FEW * verdict["numbers"]:
            return f"differs: {verdict['one']} of {verdict['numbers']} numbers by a step"
        return None if verdict["rest"] <= 1e-4 else f"differs: by {verdict['rest']:.0e} behind equal steps"


def kind_of(cause):
    """A cause without what differs from file to file."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|/[\w./]+|\d[\d.e+-]*", "_", cause)[:110]


def table(rows):
    """Families, and causes with the files they befell."""
    families = collections.defaultdict(list)
    for r in rows:
        families[r["family"]].append(r)
    count = lambda list_, key: sum(bool(r[key]) for r in list_)
    lines = ["| family | files | made | loads | agrees |", "|---|---|---|---|---|"]
    for name, some in [*sorted(families.items()), ("all", rows)]:
        lines.append(f"| {name} | {len(some)} | {count(some, 'made')} | {count(some, 'loads')} | {count(some, 'agrees')} |")
    causes = collections.defaultdict(list)
    for r in rows:
        if r["cause"]:
            causes[kind_of(r["cause"])].append(r)
    for some in sorted(causes.values(), key=len, reverse=True):
        names = ", ".join(r["file"] for r in some[:SHOWN]) + (f" and {len(some) - SHOWN} more" if len(some) > SHOWN else "")
        lines.append(f"{len(some):5}  {some[0]['cause'][:200]}: {names}")
    refused = [r["file"] for r in rows if "refused" in r]
    if refused:
        lines.append(f"onnxruntime refuses, so that the maker's results count: {', '.join(refused)}")
    return "\n".join(lines)


def chosen(files, pattern):
    if not pattern:
        return files
    fits = lambda text: any(fnmatch.fnmatch(text, w) or w in text for w in pattern.split(","))
    found = {n: about for n, about in files.items() if fits(n) or fits(about["family"])}
    if not found:
        raise SystemExit(f"--only {pattern}: no such file; --list prints them")
    return found


def main():
    args = parse()
    if args.run:
        print("\n" + json.dumps(run(*args.run)), flush=True)
        os._exit(0)   # what failed may have left threads at work
    corpus = ask([args.peers, FILES], 600, environments("wall")[1])
    if "failed" in corpus:
        raise SystemExit(f"{args.peers}: {corpus['failed']}")
    if corpus["missing"]:
        print(f"{args.peers} has no {', '.join(corpus['missing'])}: their files are left out")
    files = chosen(corpus["files"], args.only)
    if args.list:
        for name, about in files.items():
            print(f"{name:44}{about['family']}")
        return
    rows = []
    with tqdm(files.items(), unit="file", disable=None) as progress:
        for name, about in progress:
            progress.set_postfix_str(name)
            rows.append(File(name, about, args).work())
            if rows[-1]["cause"]:
                progress.write(f"{name}: {rows[-1]['cause']}", file=sys.stdout)
                sys.stdout.flush()
            if args.json:
                with open(args.json + ".part", "w") as f:
                    json.dump(rows, f, indent=1)
                os.replace(args.json + ".part", args.json)
    print("\n" + table(rows))


if __name__ == "__main__":
    main()
