#!/usr/bin/env python3
"""Inference and training of six networks on a GPU, beside what MXNet's own guide to performance
gives for a V100.

    ./dev bench v100 [--dtype float32,float16] [--parts scoring,training] [--models NAME,...]
    [--batch N,...] [--seconds N] [--json FILE] [--write-docs] [--from FILE,...]

The cells are those that the guide has figures for. A process for each network and type computes
them one after another with CUDA graphs. While one has the device, the next one makes its weights on
the host. Each cell is printed and in the file of --json as soon as it is measured, so that a run
may be cut short. --from measures nothing: it makes the tables of such files. In training, AlexNet's
batch is 16 times that of its row.
"""
import argparse
import contextlib
import fcntl
import gc
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

import numpy as np

import contestants_gpu
import networks
import report
from alternate import answers, die_with_parent, environments
from contestants import labels

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Images per second on a V100 with MXNet 1.2.0.rc1 and cuDNN 7.0.5. Source: "Scoring results" and
# "Training results" of shared/seeds/004_5de305c2f1d5897c.txt.
GUIDE = {
    ("scoring", "float32"): """
        batch  alexnet   vgg16   inception_bn  inception_v3  resnet50  resnet152
        1      659.51    205.16  157.37        87.71         162.15    61.38
        2      1248.21   265.40  297.34        159.24        293.74    116.30
        4      2122.41   333.97  520.91        279.84        479.14    195.17
        8      3894.30   420.26  898.09        455.03        699.39    294.19
        16     5815.58   654.16  1430.97       672.54        947.45    398.79
        32     7906.09   708.43  1847.26       814.59        1076.81   451.82
        64     9486.26   701.59  2134.89       899.01        1168.37   480.44
        128    10177.84  703.30  2318.32       904.33        1233.15   511.79
        256    10990.46  473.62  2425.28       960.20        1155.07   449.35""",
    ("scoring", "float16"): """
        batch  vgg16    inception_bn  inception_v3  resnet50  resnet152
        1      276.29   155.53        150.99        270.89    96.79
        2      476.91   296.45        282.02        493.99    176.88
        4      711.92   525.05        492.45        851.15    321.52
        8      1047.11  900.26        807.94        1282.36   517.66
        16     1299.88  1441.41       1192.21       1722.97   724.57
        32     1486.63  1854.30       1512.08       2085.51   887.34
        64     1219.65  2138.61       1687.35       2341.67   1002.90
        128    1169.81  2317.39       1818.26       2355.04   1046.98
        256    764.16   2425.16       1653.74       1991.88   976.73""",
    ("training", "float32"): """
        batch  alexnet  inception_v3  resnet50
        1      1629.52  21.83         34.54
        2      2359.73  40.11         65.01
        4      2687.89  72.79         113.49
        8      2919.02  118.43        174.81
        16     2994.32  173.15        251.22
        32     2585.61  214.48        298.51
        64     1984.21  247.43        343.19
        128    OOM      253.68        363.69""",
}
PARTS, DTYPES = ("scoring", "training"), ("float32", "float16")
ALEXNET = 16        # in training, images of AlexNet for each of the row's batch
WARM_UP = 4         # calls: the first is an ordinary one, the second is captured
SLICES, MOST, NEAR = 3, 9, 1.1   # of a cell; most of them; ratio within which the last three lie
EXAMPLES = 64       # different images; larger batches repeat them


def guide():
    """(part, dtype, model, batch of the row) -> images/s of the V100, or "OOM"."""
    figures = {}
    for (part, dtype), text in GUIDE.items():
        (_, *models), *rows = (line.split() for line in text.strip().splitlines())
        for batch, *rates in rows:
            for model, rate in zip(models, rates):
                figures[part, dtype, model, int(batch)] = rate if rate == "OOM" else float(rate)
    return figures


# The process of one network and type

def timed(run, seconds):
    """Seconds of a call: the median of the last three slices, which together take `seconds`."""
    for _ in range(WARM_UP):
        run(1)   # waits for each: what fails is then told once
    slices = []
    while len(slices) <= SLICES or (max(slices[-SLICES:]) > NEAR * min(slices[-SLICES:]) and len(slices) <= MOST):
        # the first is short and tells how many calls the second takes
        calls = max(1, round(seconds / SLICES / slices[-1])) if slices else 2
        begin = time.perf_counter()
        run(calls)
        slices.append((time.perf_counter() - begin) / calls)
    return statistics.median(slices[-SLICES:])


def batch_of(mx, ctx, images, size):
    """An array of `size` images on the device, which repeats those of the host."""
    x = mx.nd.array(images[:size], ctx=ctx)
    return x if len(x) == size else mx.nd.tile(x, reps=(-(-size // len(x)), 1, 1, 1))[:size]


def cell(mx, ctx, net, x, training, dtype, seconds):
    """Figures of one batch: images per second, and whether all results are finite."""
    if training:
        call = contestants_gpu.training_step(mx, net, x, mx.nd.array(labels(x), ctx=ctx))
    else:
        call = contestants_gpu.inference(net, x, dtype)
    each = timed(contestants_gpu.paced(call, mx.nd.waitall, False), seconds)
    return {"rate": x.shape[0] / each, "finite": bool(np.isfinite(call().asnumpy()).all())}


def measure(name, dtype, cells, seconds, cache, lock, send):
    """Computes `cells`, pairs of part and row, and sends each one's figures. The file `lock` is
    held from before the device is used until the process ends."""
    mx, ctx = contestants_gpu.need_mxnet()
    text, arrays = contestants_gpu.described(mx, networks.prepare(name, cache), dtype)
    arrays = dict(arrays)   # read now, not while the device waits
    sizes = {(part, row): row * (ALEXNET if (part, name) == ("training", "alexnet") else 1) for part, row in cells}
    images = networks.examples(networks.ALL[name], min(EXAMPLES, max(sizes.values())))
    fcntl.flock(os.open(lock, os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)   # never closed
    send({"version": mx.__version__})
    net = of = None
    for part, row in cells:
        begin = time.perf_counter()
        try:
            if of != part:
                net = None
                net, of = contestants_gpu.network(mx, ctx, text, arrays, part == "training"), part
            net.hybridize(static_alloc=True, static_shape=True)   # frees the last batch's memory
            x = batch_of(mx, ctx, images, sizes[part, row])
            figures = cell(mx, ctx, net, x, part == "training", dtype, seconds)
        except MemoryError:
            figures = {"rate": "OOM"}
        except mx.MXNetError as error:
            figures = {"rate": "failed", "error": str(error)}
        if isinstance(figures["rate"], str):
            net = of = None   # what failed may be in its arrays: the next batch gets new ones
            with contextlib.suppress(mx.MXNetError):
                mx.nd.waitall()   # the rest of what failed
        x = None
        gc.collect()   # a trainer and its parameters know each other
        ctx.empty_cache()
        send({"part": part, "batch": row, **figures, "took": time.perf_counter() - begin})


# The program

class Run:
    def __init__(self, args, figures):
        self.args, self.guide, self.figures = args, guide(), figures
        os.makedirs(args.cache, exist_ok=True)

    def wanted(self):
        """(dtype, model) -> its cells, in the order of the options."""
        args = self.args
        rows = {(d, m): [(p, b) for p in args.parts for b in args.batch if (p, d, m, b) in self.guide]
                for d in args.dtype for m in args.models}
        return {key: cells for key, cells in rows.items() if cells}

    def start(self, job):
        """(type and network, file of what it says in passing, process) of a pair of `wanted`."""
        if not job:
            return None
        (dtype, model), cells = job
        env = dict(environments("wall")[0], **contestants_gpu.environment(dtype))
        env.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // 4)))   # beside the one that is timed
        order = json.dumps({"name": model, "dtype": dtype, "cells": cells, "seconds": self.args.seconds,
                            "cache": self.args.cache, "lock": os.path.join(self.args.cache, "device.lock")})
        log = tempfile.TemporaryFile("w+")
        return (dtype, model), log, subprocess.Popen([sys.executable, os.path.abspath(__file__), "--job", order], env=env, text=True,
                                                     stdout=subprocess.PIPE, stderr=log, preexec_fn=die_with_parent)

    def keep(self, **cell):
        """Prints a cell and adds it to the figures and to their file."""
        cell["v100"] = self.guide[cell["part"], cell["dtype"], cell["model"], cell["batch"]]
        self.figures["cells"].append(cell)
        print("{part} {dtype} {model} {batch}:".format(**cell), shown(cell), f"{cell['took']:.1f} s", cell.get("error", ""), flush=True)
        if self.args.json:
            report.save(self.args.json, self.figures)

    def measure(self):
        jobs = iter(self.wanted().items())
        following = self.start(next(jobs))
        while following:
            (dtype, model), log, process = following
            following = None
            for line in process.stdout:
                said = json.loads(line)
                if "version" in said:   # it has the device: the next one may load
                    self.figures["version"] = said["version"]
                    following = self.start(next(jobs, None))
                else:
                    self.keep(dtype=dtype, model=model, **said)
            if process.wait():
                log.seek(0)
                self.figures["notes"].append(f"{model}, {dtype}: its process ended with status {process.returncode}")
                print(self.figures["notes"][-1] + "\n" + log.read()[-3000:], file=sys.stderr, flush=True)
            following = following or self.start(next(jobs, None))


def shown(figures):
    """A cell's text: ours (the V100's, how many times that)."""
    rate, v100 = figures["rate"], figures["v100"]
    if isinstance(rate, str):
        return f"{rate} ({v100})"
    ratio = "" if v100 == "OOM" else f", {rate / v100:.2f}"
    return f"{rate:.1f} ({v100}{ratio})" + ("" if figures["finite"] else " not finite")


def markdown(figures):
    about = [f"GPU: {figures['gpu']}; {figures['host_cores']} host cores. This library: {figures.get('version')}, with CUDA graphs.",
             f"Each cell is the median of three slices of calls, together about {figures['seconds']:g} s; the device is waited for "
             "behind each slice. float16 is mx.amp. Training is forward, backward and SGD with momentum.",
             "In parentheses: images/s of a V100 with MXNet 1.2.0.rc1 and cuDNN 7.0.5, from MXNet's guide to performance, and how "
             "many times as fast this library is here. The two GPUs differ: the ratio is no comparison of the libraries alone.",
             *figures["notes"]]
    out = [line for text in about for line in textwrap.wrap(f"- {text}", 98, subsequent_indent="  ", break_on_hyphens=False)]
    cells = {(c["part"], c["dtype"], c["model"], c["batch"]): c for c in figures["cells"]}   # of several runs the last
    for part, dtype in GUIDE:
        here = {key[2:]: c for key, c in cells.items() if key[:2] == (part, dtype)}
        models = [m for m in dict.fromkeys(m for _, _, m, _ in guide()) if any(m == model for model, _ in here)]
        if not models:
            continue
        scale = {"alexnet": f" (batch × {ALEXNET})"} if part == "training" else {}
        titles = [networks.ALL[m].title + scale.get(m, "") for m in models]
        out += ["", f"{'Inference' if part == 'scoring' else 'Training'}, {dtype}, images/s:", "",
                "| batch | " + " | ".join(titles) + " |", "|---" * (1 + len(models)) + "|"]
        out += [f"| {b} | " + " | ".join(shown(here[m, b]) if (m, b) in here else "" for m in models) + " |"
                for b in sorted({b for _, b in here})]
    return "\n".join(out) + "\n"


def merged(files):
    """The figures of several runs as if of one."""
    runs = [json.loads(pathlib.Path(path).read_text()) for path in files]
    gpus = dict.fromkeys(run["gpu"] for run in runs)
    return dict(runs[-1], gpu=" and ".join(gpus), **{key: [x for run in runs for x in run[key]] for key in ("cells", "notes")})


def parse():
    models, rows = (list(dict.fromkeys(key[i] for key in guide())) for i in (2, 3))

    def several(known, kind=str):
        def chosen(text):
            words = [kind(w) for w in text.split(",") if w]
            if not set(words) <= set(known):
                raise argparse.ArgumentTypeError(f"{text}: choose from {', '.join(map(str, known))}")
            return words
        return chosen
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", type=several(DTYPES), default=DTYPES)
    parser.add_argument("--parts", type=several(PARTS), default=PARTS)
    parser.add_argument("--models", type=several(models), default=models, help=f"of {','.join(models)}")
    parser.add_argument("--batch", type=several(rows, int), default=rows, help="rows of the guide's tables")
    parser.add_argument("--seconds", type=float, default=0.3, help="that a cell is timed for, after it was captured")
    parser.add_argument("--json", help="file for the figures, written again after each cell")
    parser.add_argument("--write-docs", action="store_true", help="the tables into docs/gpu/figures.md")
    parser.add_argument("--from", dest="files", type=lambda text: text.split(","), help="no run: the tables of these files of --json")
    parser.add_argument("--cache", default=os.path.join(ROOT, "build", "networks"), help="folder for the networks' weights (up to 2 GB)")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    args = parse()
    if args.job:
        return measure(**args.job, send=answers())
    if args.files:
        figures = merged(args.files)
    else:
        contestants_gpu.need_mxnet()
        figures = {"mode": "v100", "gpu": report.gpu(), "host_cores": os.cpu_count(), "seconds": args.seconds, "cells": [], "notes": []}
        run = Run(args, figures)
        if not run.wanted():
            raise SystemExit("v100: the guide has no figures for these options together; accepted: what its tables have")
        run.measure()
    text = markdown(figures)
    print("\n" + text, end="")
    if args.write_docs:
        report.write_gpu(ROOT, "v100", text)
    if figures["notes"] and not args.files:
        raise SystemExit(1)   # a process ended


if __name__ == "__main__":
    main()
