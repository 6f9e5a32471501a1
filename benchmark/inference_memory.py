"""Memory of programs that predict: the peak until the third answer, and what stays, of this library
(a predictor on its own files, and the ONNX file) beside onnxruntime and OpenVINO.

    ./dev bench inference_memory [NAME...] [--peers PYTHON] [--batch N...] [--threads N]

--peers: a Python with onnxruntime, OpenVINO and torch, which makes the ONNX files. A figure is of
a process of its own, in MiB above what it had when its libraries were imported.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from alternate import answers, environments, status_mib  # noqa: E402
from networks import NETWORKS, examples, load, prepare  # noqa: E402

CONTESTANTS = ("ours", "ours_onnx", "onnxruntime", "openvino")


def params_of(folder):
    """net.params of the folder, written if it is not there yet."""
    import mxnet as mx
    path = os.path.join(folder, "net.params")
    if not os.path.exists(path):
        text, arrays = load(folder)
        aux = set(mx.sym.load_json(text).list_auxiliary_states())
        mx.nd.save(path, {("aux:" if n in aux else "arg:") + n: mx.nd.array(arrays[n], dtype=arrays[n].dtype) for n in arrays})
    return path


def ours(folder, x):
    from mxnet.base import _LIB, check_call
    with open(os.path.join(folder, "symbol.json")) as f:
        text = f.read()
    keys, ends, dims = (ctypes.c_char_p * 1)(b"data"), (ctypes.c_uint32 * 2)(0, x.ndim), (ctypes.c_uint32 * x.ndim)(*x.shape)
    handle = ctypes.c_void_p()
    check_call(_LIB.MXPredCreateFromFile(text.encode(), os.path.join(folder, "net.params").encode(), 1, 0, 1, keys, ends, dims, 1,
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
    return call


def others(name, folder, x, options):
    """options: of the command line, for onnx_contestants.py."""
    import onnx_contestants
    contestant = getattr(onnx_contestants, "ours" if name == "ours_onnx" else name)
    return contestant(os.path.join(folder, "net.onnx"), {options.input: x}, options).call


def contestant(args):
    send = answers()
    __import__({"ours": "mxnet", "ours_onnx": "mxnet.onnx"}.get(args.contestant, args.contestant))
    with open(os.path.join(args.folder, "meta.json")) as f:
        x = examples(NETWORKS[json.load(f)["name"]], args.batch[0])
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")   # the peak begins here
    imported = status_mib("VmRSS")
    call = ours(args.folder, x) if args.contestant == "ours" else others(args.contestant, args.folder, x, args)
    for _ in range(3):
        call()
    send({"peak": status_mib("VmHWM") - imported, "steady": status_mib("VmRSS") - imported, "imported": imported})


def measured(name, folder, batch, input_name, args):
    mine, plain = environments("wall", args.threads)
    python, env = (sys.executable, mine) if name.startswith("ours") else (args.peers, plain)
    command = [python, __file__, "--contestant", name, "--folder", folder, "--batch", str(batch), "--threads", str(args.threads),
               "--input", input_name]
    run = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else None


def row(title, batch, found):
    cells, best = [], {}
    for key in ("peak", "steady"):
        values = [found[c][key] if found.get(c) else float("nan") for c in CONTESTANTS]
        cells += [f"{v:9.0f}" for v in values]
        rivals = [v for v in values[2:] if v == v]
        best[key] = f"{min(values[:2]) / min(rivals):6.2f}" if rivals and values[0] == values[0] else "     -"
    return f"{title:14}{batch:6} " + "".join(cells) + f"  {best['peak']} {best['steady']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(NETWORKS), help=", ".join(NETWORKS))
    parser.add_argument("--peers", help="a Python with onnxruntime, openvino and torch; without it ours alone")
    parser.add_argument("--cache", default=os.path.join(os.path.dirname(HERE), "build", "networks"))
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--contestant", choices=CONTESTANTS, help=argparse.SUPPRESS)
    for option in ("folder", "input"):
        parser.add_argument("--" + option, help=argparse.SUPPRESS)
    parser.set_defaults(half=False, level="avx512")
    args = parser.parse_args()
    if args.contestant:
        return contestant(args)
    unknown = [n for n in args.names if n not in NETWORKS]
    if unknown:
        parser.error(f"{', '.join(unknown)}; accepted: {', '.join(NETWORKS)}")
    from tqdm import tqdm

    import mxnet as mx
    head = "".join(f"{c:>9}" for c in ("own", "onnx", "ort", "openvino"))
    print("MiB above the imports; ratio: the smaller of ours / the smaller of the others")
    print(f"{'':20} {'peak until the third answer':36}{'what stays':36}")
    print(f"{'':14}{'batch':>6} {head}{head}    peak   stays", flush=True)
    for name in tqdm(args.names, unit="network", disable=None):
        folder = prepare(name, args.cache)
        params_of(folder)
        if args.peers and not os.path.exists(os.path.join(folder, "net.onnx")):
            subprocess.run([args.peers, os.path.join(HERE, "contestants.py"), "--export", "--folder", folder],
                           env=environments("wall")[1], check=True, stdout=subprocess.DEVNULL)
        path = os.path.join(folder, "net.onnx")
        there = [c for c in CONTESTANTS if c == "ours" or os.path.exists(path)]
        # asked here: what a contestant reads twice would count as its memory
        input_name = mx.onnx.load(path).inputs[0].name if os.path.exists(path) else ""
        for batch in args.batch:
            found = {c: measured(c, folder, batch, input_name, args) for c in there if args.peers or c.startswith("ours")}
            tqdm.write(row(NETWORKS[name].title, batch, found))


if __name__ == "__main__":
    main()
