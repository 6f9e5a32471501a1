"""Memory of programs that predict: the peak until the third answer, and what stays, of this library
(a predictor on its own files, and the ONNX file) beside onnxruntime and OpenVINO, in float32 and in
8 bits (one QDQ file; own: quantize_net's of the same weights).

    ./dev bench memory --inference [NAME...] [--peers PYTHON] [--batch N...] [--form float32 int8]
                                   [--threads N] [--json FILE]

--peers: a Python with onnxruntime, OpenVINO, onnx and torch, which makes the ONNX files. A figure
is of a process of its own, in MiB above what it had when its libraries were imported.

The second table says what stays of ours, from its own files and from ONNX: pages of the file of
weights, packed weights, the plan's arena, workspace that kernels gave back and the pool keeps, code
(of libraries, since the import, and made at run time), and what else there is: inputs and outputs,
parameters that no kernel packs, the graph. Figures of memory do not need a quiet machine.
"""
import argparse
import ctypes
import json
import os
import re
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from alternate import answers, environments, status_mib  # noqa: E402
from networks import ALL, add_onnx, examples, load, prepare  # noqa: E402

import eight_bits  # noqa: E402
import report  # noqa: E402

CONTESTANTS = ("ours", "ours_onnx", "onnxruntime", "openvino")
FORMS = {"float32": ("symbol.json", "net.params", "net.onnx"), "int8": (eight_bits.OWN, eight_bits.OWN_PARAMS, eight_bits.QDQ)}
PARTS = ("file", "packed", "arena", "workspace", "code", "other")


def params_of(folder):
    """net.params of the folder, written if it is not there yet."""
    import mxnet as mx
    path = os.path.join(folder, "net.params")
    if not os.path.exists(path):
        text, arrays = load(folder)
        aux = set(mx.sym.load_json(text).list_auxiliary_states())
        mx.nd.save(path, {("aux:" if n in aux else "arg:") + n: mx.nd.array(arrays[n], dtype=arrays[n].dtype) for n in arrays})
    return path


def ours(folder, form, x):
    """(a call, the plan's stats)"""
    from mxnet.base import _LIB, check_call
    symbol, params, _ = FORMS[form]
    with open(os.path.join(folder, symbol)) as f:
        text = f.read()
    keys, ends, dims = (ctypes.c_char_p * 1)(b"data"), (ctypes.c_uint32 * 2)(0, x.ndim), (ctypes.c_uint32 * x.ndim)(*x.shape)
    handle = ctypes.c_void_p()
    check_call(_LIB.MXPredCreateFromFile(text.encode(), os.path.join(folder, params).encode(), 1, 0, 1, keys, ends, dims, 1,
                                         ctypes.byref(handle)))
    given = np.ascontiguousarray(x, "float32")
    shape, ndim = ctypes.POINTER(ctypes.c_uint32)(), ctypes.c_uint32()
    check_call(_LIB.MXPredGetOutputShape(handle, 0, ctypes.byref(shape), ctypes.byref(ndim)))
    y = np.empty([shape[i] for i in range(ndim.value)], "float32")
    floats = ctypes.POINTER(ctypes.c_float)

    def call():
        check_call(_LIB.MXPredSetInput(handle, b"data", given.ctypes.data_as(floats), given.size))
        check_call(_LIB.MXPredForward(handle))
        check_call(_LIB.MXPredGetOutput(handle, 0, y.ctypes.data_as(floats), y.size))

    def stats():
        plan = ctypes.c_char_p()
        check_call(_LIB.MXPredExplain(handle, 0, ctypes.byref(plan)))
        return [json.loads(plan.value)["stats"]]
    return call, stats


def others(name, folder, x, options):
    """(a call, the plans' stats or None); options: of the command line, for onnx_contestants.py"""
    import onnx_contestants
    path, feed = os.path.join(folder, FORMS[options.form[0]][2]), {options.input: x}
    if name != "ours_onnx":
        return getattr(onnx_contestants, name)(path, feed, options).call, None
    import mxnet as mx
    model = mx.onnx.load(path)
    arrays = {k: mx.nd.array(v, dtype=v.dtype) for k, v in feed.items()}

    def call():
        for y in model.run(arrays).values():
            y.wait_to_read()
    return call, lambda: [e.plan["stats"] for e in model.explain(runs=0).plans]


def mapped():
    """MiB of this process that are resident: of files of weights, and of code."""
    found, kind = {"file": 0, "code": 0}, None
    with open("/proc/self/smaps") as f:
        for line in f:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                words = line.split(None, 5)
                path = words[5].strip() if len(words) > 5 else ""
                kind = ("file" if path.endswith((".params", ".onnx", ".data")) else
                        "code" if ".so" in path or "x" in words[1] else None)
            elif kind and line.startswith("Rss:"):
                found[kind] += int(line.split()[1]) / 1024
    return found


def parts_of(stats, steady, before):
    """What stays by what it is for; `before`: what `mapped` said after the import."""
    import mxnet as mx
    now, mib = mapped(), 1 << 20
    found = {"file": now["file"], "packed": max((plan["packed_bytes"] for plan in stats), default=0) / mib,
             "arena": sum(plan["arena_bytes"] for plan in stats) / mib, "workspace": mx.storage.stats(mx.cpu()).cached_bytes / mib,
             "code": now["code"] - before["code"]}
    found["other"] = steady - sum(found.values())
    return found


def contestant(args):
    send = answers()
    __import__({"ours": "mxnet", "ours_onnx": "mxnet.onnx"}.get(args.contestant, args.contestant))
    with open(os.path.join(args.folder, "meta.json")) as f:
        x = examples(ALL[json.load(f)["name"]], args.batch[0])
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")   # the peak begins here
    imported, before = status_mib("VmRSS"), mapped()
    call, stats = ours(args.folder, args.form[0], x) if args.contestant == "ours" else others(args.contestant, args.folder, x, args)
    for _ in range(3):
        call()
    peak, steady = status_mib("VmHWM") - imported, status_mib("VmRSS") - imported
    send({"peak": peak, "steady": steady, "imported": imported, "parts": parts_of(stats(), steady, before) if stats else None})


def measured(name, folder, batch, form, input_name, args):
    mine, plain = environments("wall", args.threads)
    python, env = (sys.executable, mine) if name.startswith("ours") else (args.peers, plain)
    command = [python, __file__, "--contestant", name, "--folder", folder, "--batch", str(batch), "--threads", str(args.threads),
               "--input", input_name, "--form", form]
    run = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode:
        print(f"{name} {form} of {folder}: {run.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return json.loads(run.stdout) if run.returncode == 0 else None


def best_of(found, key):
    """The smaller of ours beside the smaller of the others."""
    values = [found[c][key] if found.get(c) else None for c in CONTESTANTS]
    mine, rivals = ([v for v in part if v is not None] for part in (values[:2], values[2:]))
    return min(mine) / min(rivals) if mine and rivals else None


def row(title, form, batch, found):
    cells = [title, form, str(batch)]
    for key in ("peak", "steady"):
        cells += [f"{found[c][key]:.0f}" if found.get(c) else "-" for c in CONTESTANTS]
        quotient = best_of(found, key)
        cells.append("-" if quotient is None else f"{quotient:.2f}")
    return f"| {' | '.join(cells)} |"


def parts_row(title, form, batch, found):
    cells = [title, form, str(batch)]
    for c in CONTESTANTS[:2]:
        parts = (found.get(c) or {}).get("parts")
        cells.append(" / ".join(f"{parts[p]:.0f}" for p in PARTS) if parts else "-")
    return f"| {' | '.join(cells)} |"


def files(name, args):
    """The network's folder with all files that can be made."""
    folder = prepare(name, args.cache)
    params_of(folder)
    both = environments("wall")
    if args.peers:
        add_onnx(folder, args.peers, both[1])
    if "int8" in args.form:
        eight_bits.make_both(folder, sys.executable, args.peers, both)
    return folder


def measured_row(name, folder, form, batch, args):
    import mxnet as mx
    symbol, _, onnx = (os.path.join(folder, file) for file in FORMS[form])
    # asked here: what a contestant reads twice would count as its memory
    input_name = mx.onnx.load(onnx).inputs[0].name if os.path.exists(onnx) else ""
    there = [c for c in CONTESTANTS if os.path.exists(symbol if c == "ours" else onnx) and (args.peers or c.startswith("ours"))]
    return {c: measured(c, folder, batch, form, input_name, args) for c in there}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(ALL), help=", ".join(ALL))
    parser.add_argument("--peers", help="a Python with onnxruntime, openvino and torch; without it ours alone")
    parser.add_argument("--cache", default=os.path.join(os.path.dirname(HERE), "build", "networks"))
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)
    for option in ("folder", "input"):
        parser.add_argument("--" + option, help=argparse.SUPPRESS)
    parser.set_defaults(half=False, level="avx512")
    args = parser.parse_args()
    if args.contestant:
        return contestant(args)
    unknown = [n for n in args.names if n not in ALL]
    if unknown:
        parser.error(f"{', '.join(unknown)}; accepted: {', '.join(ALL)}")
    from tqdm import tqdm
    names = ("own", "ONNX", "ONNX Runtime", "OpenVINO")
    heads = ["network", "form", "batch", *(f"peak: {n}" for n in names), "ratio", *(f"stays: {n}" for n in names), "ratio"]
    print("MiB above the imports; ratio: the smaller of ours / the smaller of the others")
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|", flush=True)
    rows, parts = [], []
    folders = {name: files(name, args) for name in tqdm(args.names, unit="network", desc="files", disable=None)}
    wanted = [(n, form, batch) for n in args.names for form in args.form for batch in args.batch]
    for name, form, batch in tqdm(wanted, unit="row", disable=None):
        found = measured_row(name, folders[name], form, batch, args)
        tqdm.write(row(ALL[name].title, form, batch, found), file=sys.stdout)
        sys.stdout.flush()
        parts.append(parts_row(ALL[name].title, form, batch, found))
        rows.append({"network": name, "form": form, "batch": batch, "mib": found})
        if args.json:
            report.save(args.json, {"mode": "inference_memory", "rows": rows})
    print("\nWhat stays of ours: " + " / ".join(PARTS))
    print("| network | form | batch | own | ONNX |\n|---|---|---|---|---|\n" + "\n".join(parts))


if __name__ == "__main__":
    main()
