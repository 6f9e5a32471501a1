"""Networks in 8 bits: this library, onnxruntime and OpenVINO on one QDQ file, this library's own
form of the same weights (quantize_net), and its float32 file, in one alternating run.

    ./dev bench int8 [NAME...] --peers PYTHON [--batch N...] [--level avx512 avx2]
                     [--threads N] [--rounds N] [--clock cpu] [--json FILE]

PYTHON needs onnxruntime, openvino, onnx and torch, which make the files in `--cache`. Figures:
milliseconds a call, median over rounds; how many times faster the better of ours is than the better
of the others, and than our float32; the largest difference of each result from our float32 one,
relative to its largest value. onnxruntime has no switch for the level AVX2, and its 8-bit kernels
take VNNI: its cells of that level say "not held" and count nowhere."""
import argparse
import os
import statistics
import sys
import tempfile

import numpy as np
from tqdm import tqdm

import eight_bits
import onnx_contestants
import report
from alternate import Contestant, Failed, add_clock, alternate, environments, ratio
from networks import ALL, add_onnx, examples, prepare

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(HERE, "onnx_contestants.py")
NAMES = ("resnet50", "inception_v3", "mobilenet_v2", "vgg16", "bert_base")
# column -> (contestant of onnx_contestants.py, file of the folder)
COLUMNS = {"ours": ("ours", eight_bits.QDQ), "ours, own form": ("ours", eight_bits.OWN), "ours, float32": ("ours", "net.onnx"),
           "onnxruntime": ("onnxruntime", eight_bits.QDQ), "openvino": ("openvino", eight_bits.QDQ)}
OURS, OTHERS = ("ours", "ours, own form"), ("onnxruntime", "openvino")


def files(name, args):
    """The network's folder with all files that can be made."""
    folder = prepare(name, args.cache)
    both = environments("wall")
    if args.peers:
        add_onnx(folder, args.peers, both[1])
    eight_bits.make_both(folder, sys.executable, args.peers, both)
    return folder


def begun(column, folder, inputs, outputs, level, args):
    contestant, file = COLUMNS[column]
    mine, plain = environments(args.clock, args.threads, awake=True)
    python, env = (sys.executable, mine) if contestant == "ours" else (args.peers, plain)
    arguments = ["--model", os.path.join(folder, file), "--inputs", inputs, "--threads", str(args.threads), "--level", level,
                 "--outputs", outputs]
    return Contestant(column, python, WORKER, [contestant, *arguments], onnx_contestants.environment(contestant, level, env))


def difference(found, expected):
    return float(np.abs(found.astype("float64") - expected).max() / max(np.abs(expected).max(), 1e-30))


def measure(name, batch, level, folder, args):
    """column -> seconds a call in each round, and column -> difference from our float32."""
    running, results = [], {}
    with tempfile.TemporaryDirectory() as scratch:
        inputs = os.path.join(scratch, "in.npz")
        # Every form has one input, which is not called alike in all: a contestant takes the file's.
        np.savez(inputs, in_data=examples(ALL[name], batch))
        try:
            for column, (contestant, file) in COLUMNS.items():
                if not os.path.exists(os.path.join(folder, file)) or (contestant != "ours" and not args.peers):
                    continue
                if not onnx_contestants.is_held(contestant, level):
                    continue
                outputs = os.path.join(scratch, f"{len(running)}.npz")
                c = begun(column, folder, inputs, outputs, level, args)
                try:
                    c.ready()
                except Failed as error:
                    tqdm.write(f"{name}: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
                    c.end()
                    continue
                running.append(c)
                results[column] = onnx_contestants.of_file(outputs, "out_")["0"]
            calls = {c.name: max(1, round(args.slice / c.time("run", 1, 1)[0])) for c in running}
            times = alternate(running, {"run": calls}, args.rounds, args.clock)["run"]
        finally:
            for c in running:
                c.end()
    reference = results.get("ours, float32")
    return times, {} if reference is None else {n: difference(y, reference) for n, y in results.items() if n != "ours, float32"}


def row(name, batch, level, times, errors):
    """The figures of a row."""
    ms = {n: 1e3 * statistics.median(t) for n, t in times.items()}
    figures = {"network": name, "batch": batch, "level": level, "ms": ms, "errors": errors, "ratio": None, "over float32": None}
    mine, others = ([n for n in group if n in ms] for group in (OURS, OTHERS))
    if mine:
        best = min(mine, key=ms.get)
        if others:
            figures["ratio"] = ratio(times, min(others, key=ms.get), best)
        if "ours, float32" in ms:
            figures["over float32"] = ratio(times, "ours, float32", best)
    return figures


def printed(figures):
    def text(value, digits):
        return "-" if value is None else f"{value:.{digits}f}"
    def of_contestant(values, name, digits):
        held = onnx_contestants.is_held(COLUMNS[name][0], figures["level"])
        return text(values.get(name), digits) if held else onnx_contestants.NOT_HELD
    f = figures
    cells = [ALL[f["network"]].title, str(f["batch"]), f["level"], *(of_contestant(f["ms"], n, 2) for n in COLUMNS), text(f["ratio"], 2),
             text(f["over float32"], 2), " / ".join(of_contestant(f["errors"], n, 3) for n in (*OURS, *OTHERS))]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(prog="./dev bench int8", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(NAMES), help=", ".join(ALL))
    parser.add_argument("--peers", help="a Python with onnxruntime, openvino, onnx and torch; without it ours alone")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--level", nargs="+", choices=onnx_contestants.LEVELS, default=list(onnx_contestants.levels_here()))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--slice", type=float, default=0.3, help="seconds of a burst, at least one call")
    parser.add_argument("--cache", default=os.path.join(os.path.dirname(HERE), "build", "networks"))
    parser.add_argument("--make", action="store_true", help="only make the files")
    parser.add_argument("--json", help="file for the figures")
    add_clock(parser)
    args = parser.parse_args()
    unknown = [n for n in args.names if n not in ALL]
    if unknown:
        parser.error(f"{', '.join(unknown)}; accepted: {', '.join(ALL)}")
    if args.clock == "cpu":
        args.threads = 1
    folders = {name: files(name, args) for name in tqdm(args.names, unit="network", desc="files", disable=None)}
    if args.make:
        return
    heads = ["network", "batch", "level", *(f"{n}, ms" for n in COLUMNS), "ours ÷ best other", "8 bits ÷ float32",
             "difference: ours / own / ONNX Runtime / OpenVINO"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|", flush=True)
    wanted = [(n, b, level) for n in args.names for b in args.batch for level in args.level]
    rows = []
    for name, batch, level in tqdm(wanted, unit="row", disable=None):
        rows.append(row(name, batch, level, *measure(name, batch, level, folders[name], args)))
        tqdm.write(printed(rows[-1]), file=sys.stdout)
        sys.stdout.flush()
        if args.json:
            report.save(args.json, {"mode": "int8", "rows": rows})
    if args.peers and "avx2" in args.level:
        print("\n" + onnx_contestants.ABOUT_NOT_HELD)


if __name__ == "__main__":
    main()
