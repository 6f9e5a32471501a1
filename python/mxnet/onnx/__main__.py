"""ONNX models on the command line.

    python -m mxnet.onnx run model.onnx [--shape NAME=1,3,224,224] [--size NAME=12]
                                        [--input NAME=FILE.npy] [--out FILE.npz]
    python -m mxnet.onnx bench model.onnx [--shape ...] [--seconds 5]
    python -m mxnet.onnx explain model.onnx [--shape ...]
    python -m mxnet.onnx convert model.onnx PREFIX [--shape ...]
    python -m mxnet.onnx check model.onnx
"""
import argparse
import sys
import time

import numpy as np

from ..base import MXNetError
from ._model import load
from ._sizes import names_in, size_of


def _pairs(texts, what):
    pairs = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise ValueError(f"[onnx] --{what} {text}; accepted: NAME=...")
        pairs[name] = value
    return pairs


def _size(text, what, accepted):
    try:
        size = int(text)
    except ValueError:
        size = -1
    if size < 0:
        raise ValueError(f"[onnx] --{what}; accepted: {accepted}, from 0 on")
    return size


def _known(names, accepted, what):
    for name in names:
        if name not in accepted:
            raise ValueError(f"[onnx] the model has no {what} {name}; accepted: {', '.join(accepted) or 'none'}")


def _free_names(model):
    """Of dimensions of inputs."""
    return sorted({name for i in model.inputs for d in i.shape or () if isinstance(d, str) for name in names_in(d)})


def _shapes(model, args, needed=True):
    shapes = {name: tuple(_size(d, f"shape {name}={value}", "sizes with commas between") for d in value.replace("x", ",").split(",") if d)
              for name, value in _pairs(args.shape, "shape").items()}
    _known(shapes, [i.name for i in model.inputs], "input")
    sizes = {d: n for i in model.inputs for d, n in zip(i.shape or (), shapes.get(i.name, ())) if isinstance(d, str)}
    given = {name: _size(value, f"size {name}={value}", "a number") for name, value in _pairs(args.size, "size").items()}
    _known(given, _free_names(model), "free size")
    sizes.update(given)
    for info in model.inputs:
        dims = info.shape or ()
        if needed or all(isinstance(d, int) or (d and all(name in sizes for name in names_in(d))) for d in dims):
            shapes.setdefault(info.name, tuple(size_of(d, sizes) for d in dims))
    return shapes


def _free_sizes(model, args):
    """What to say behind an error that made-up sizes may have caused."""
    given = {**_pairs(args.shape, "shape"), **_pairs(getattr(args, "input", None), "input")}
    told = _pairs(args.size, "size")
    free = [i for i in model.inputs if i.name not in given and not all(isinstance(d, int) for d in i.shape or ())]
    names = sorted({n for i in free for d in i.shape if isinstance(d, str) for n in names_in(d) if n not in told})
    unnamed = [i for i in free if None in i.shape]
    text = "".join(f"\nA size without a name is 1 in the shape of {i}; --shape {i.name}=... gives all" for i in unnamed)
    return text + (f"\nSizes that the model leaves free are 1, or as in other inputs: {', '.join(names)}; "
                   f"--size {names[0]}=... gives one, --shape {free[0].name}=... those of an input" if names else "")


def _random(model, shapes, seed=0):
    """Inputs to try a model with: normal floats, small integers, and masks that keep all."""
    draw, values = np.random.RandomState(seed), {}
    for info in model.inputs:
        if info.kind != "tensor" or info.dtype in (None, "string"):
            raise ValueError(f"[onnx] input {info} cannot be made up; accepted: --input {info.name}=FILE.npy")
        shape, dtype = shapes[info.name], "float32" if info.dtype == "bfloat16" else info.dtype
        if np.dtype(dtype).kind == "f":
            values[info.name] = draw.standard_normal(shape).astype(dtype)
        elif "mask" in info.name.lower():
            values[info.name] = np.ones(shape, dtype)
        else:
            values[info.name] = draw.randint(0, 2, shape).astype(dtype)
    return values


def _read(name, path):
    """An array of a .npy file."""
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"[onnx] --input {name}={path} cannot be read ({error}); accepted: a file of numpy.save with numbers, "
                         "or with strings of a fixed width") from None
    if not isinstance(array, np.ndarray):
        raise ValueError(f"[onnx] --input {name}={path} has several arrays ({', '.join(array.files)}); accepted: a .npy file, of one")
    return array


def _inputs(model, args):
    paths = _pairs(args.input, "input")
    _known(paths, [i.name for i in model.inputs + model.with_defaults], "input")
    given = {name: _read(name, path) for name, path in paths.items()}
    shapes = _shapes(model, args)
    made = {k: v for k, v in _random(model, shapes).items() if k not in given} if len(given) < len(model.inputs) else {}
    return {**made, **given}


def _numpy(value):
    if isinstance(value, list):
        return [_numpy(v) for v in value]
    return value if isinstance(value, np.ndarray) or value is None else value.asnumpy()


def _tried(model, args):
    """The results of a run."""
    try:
        return model.run(_inputs(model, args))
    except MXNetError as error:
        raise ValueError(f"{error}{_free_sizes(model, args)}") from None


def run(args):
    model = load(args.model, precision=args.precision)
    results = {k: _numpy(v) for k, v in _tried(model, args).items()}
    for name, value in results.items():
        print(f"{name}: {value.dtype} {value.shape}" if isinstance(value, np.ndarray) else f"{name}: {value}")
        if isinstance(value, np.ndarray) and not args.out:
            print(value)
    if args.out:
        np.savez(args.out, **{k: v for k, v in results.items() if isinstance(v, np.ndarray)})


def _timed(call, seconds):
    """Milliseconds of the median call, and of the first."""
    begin = time.perf_counter()
    call()
    first = time.perf_counter() - begin
    times = []
    while not times or (sum(times) < seconds and len(times) < 10000):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * float(np.median(times)), 1e3 * first


def _contestants(path, inputs, precision):
    """Name to a function that makes a runner, for what is installed."""
    def ours():
        from .. import nd
        model = load(path, precision=precision)
        arrays = {k: nd.array(v, dtype=v.dtype) for k, v in inputs.items()}
        return lambda: [getattr(v, "wait_to_read", int)() for v in model.run(arrays).values()]

    def onnxruntime():
        import onnxruntime as ort
        session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, inputs)

    def openvino():
        import openvino
        hint = {"bfloat16": "bf16", "float16": "f16"}.get(precision, "f32")
        compiled = openvino.Core().compile_model(path, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": hint})
        return lambda: compiled(inputs)
    return {"mxnet": ours, "onnxruntime": onnxruntime, "openvino": openvino}


def bench(args):
    model = load(args.model)
    inputs = _inputs(model, args)
    print("| | load ms | first ms | median ms |\n|---|---|---|---|")
    medians = {}
    for name, make in _contestants(args.model, inputs, args.precision).items():
        begin = time.perf_counter()
        try:
            call = make()
            load_ms = 1e3 * (time.perf_counter() - begin)
            medians[name], first = _timed(call, args.seconds)
        except ImportError:
            continue   # not installed
        except Exception as error:   # another runtime may refuse the model in its own ways
            if name == "mxnet":
                raise
            print(f"| {name} | {' '.join(str(error).split())[:80]} | | |")
            continue
        print(f"| {name} | {load_ms:.1f} | {first:.1f} | {medians[name]:.3f} |")
    if len(medians) > 1:
        best = min((v, k) for k, v in medians.items() if k != "mxnet")
        print(f"{best[1]} ÷ mxnet: {best[0] / medians['mxnet']:.2f}")


def explain(args):
    model = load(args.model, precision=args.precision)
    _tried(model, args)
    print(model)
    print(model.explain(args.save, args.runs))


def convert(args):
    from ..ndarray import save
    from ._import import split
    model = load(args.model)
    shapes = _shapes(model, args, needed=False)
    for info in model.inputs:
        if info.name not in shapes and any(not isinstance(d, int) for d in (info.shape or ())[1:]):
            raise ValueError(f"[onnx] no shape for the input {info}; accepted: --shape {info.name}=SIZE,SIZE,...")
    symbol, params = model.convert(shapes)
    arguments, states = split(symbol, params)
    symbol.save(f"{args.prefix}-symbol.json")   # whole, or not at all, as the other
    save(f"{args.prefix}-0000.params", {**{f"arg:{k}": v for k, v in arguments.items()}, **{f"aux:{k}": v for k, v in states.items()}})
    print(f"{args.prefix}-symbol.json, {args.prefix}-0000.params")


def check(args):
    model = load(args.model)
    print(model)
    for name, count in sorted(model.about["operators"].items(), key=lambda kv: (-kv[1], kv[0])):
        print(f"  {count:5} {name}")
    print("all operators are known")


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m mxnet.onnx", description="ONNX models: run, time, explain, convert, check.")
    commands = parser.add_subparsers(dest="command", required=True)
    for function, text in ((run, "computes the outputs"), (bench, "times it beside onnxruntime and OpenVINO, where they are installed"),
                           (explain, "the plans that a run made"), (convert, "writes -symbol.json and -0000.params"),
                           (check, "reads it, and lists its operators")):
        command = commands.add_parser(function.__name__, help=text)
        command.add_argument("model")
        if function is convert:
            command.add_argument("prefix")
        if function is not check:
            command.add_argument("--shape", action="append", metavar="NAME=1,3,224,224", help="of an input")
            command.add_argument("--size", action="append", metavar="NAME=12", help="of dimensions that the model names so")
        if function not in (check, convert):
            command.add_argument("--input", action="append", metavar="NAME=FILE.npy", help="instead of random numbers")
            command.add_argument("--precision", choices=("float32", "bfloat16", "float16"),
                                 help="of products, where the device has them; float32: as the file says, with all digits of the data")
        if function is run:
            command.add_argument("--out", help="an .npz file for the results")
        if function is explain:
            command.add_argument("--runs", type=int, default=5, help="how often the nodes are run and timed; 0: not at all")
            command.add_argument("--save", metavar="FILE", help="also written there: .html, .svg, .txt or .json")
        if function is bench:
            command.add_argument("--seconds", type=float, default=3.0, help="for each runtime")
        command.set_defaults(function=function)
    args = parser.parse_args(argv)
    try:
        args.function(args)
    except (MXNetError, ValueError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
