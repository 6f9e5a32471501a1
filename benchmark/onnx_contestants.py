"""A contestant of onnx_race.py: one runtime with one model in a process of its own."""
import argparse
import os
import statistics
import sys
import time

import numpy as np

import report
from alternate import answers, repeat, serve, settle, status_mib, warm_memory

MODULE = {"ours": "mxnet.onnx", "onnxruntime": "onnxruntime", "openvino": "openvino"}
LEVELS = ("avx512", "avx2")
LATER, SETTLE = 8, 3   # shapes behind the first other one, and how many do not count


NOT_HELD = "not held"   # a cell of a contestant that cannot be measured at the row's level
ABOUT_NOT_HELD = (f"{NOT_HELD}: onnxruntime has no switch for the level, and its kernels take AVX-512 and VNNI. Such a cell is not "
                  "measured and counts in no ratio, median or least.")
ABOUT_SATURATION = ("Quantized models are not judged on this processor: without VNNI, onnxruntime adds products of bytes in 16 bits, "
                    "and sums saturate.")


def has_instructions(*flags):
    """Does this processor have one of these?"""
    return not set(flags).isdisjoint(report.processor()[1])


def levels_here():
    """Those of LEVELS that this processor has."""
    return LEVELS if has_instructions("avx512f") else LEVELS[1:]


def saturates_here():
    """Are onnxruntime's sums of products of bytes no measure? See ABOUT_SATURATION."""
    return not has_instructions("avx512_vnni", "avx_vnni")


def environment(name, level, env):
    """What holds a contestant to a level. onnxruntime has no such switch: its kernels take what
    the processor has."""
    return dict(env, ONEDNN_MAX_CPU_ISA="AVX2") if level == "avx2" and name != "onnxruntime" else env


def is_held(name, level):
    """Can the contestant be measured at the level? onnxruntime where the processor has no other."""
    return name != "onnxruntime" or level == levels_here()[0]


class Runtime:
    """call() -> the outputs in the runtime's own arrays, computed; outputs() -> NumPy arrays;
    takes(feed): further calls take these inputs."""

    def __init__(self, call, outputs, takes=None):
        self.call, self.outputs, self.takes = call, outputs, takes


def ours(path, feed, args):
    import mxnet as mx
    if path.endswith("-symbol.json"):
        return own(path, feed)
    arrays = {}

    def takes(values):
        arrays.clear()
        arrays.update({k: mx.nd.array(v, dtype=v.dtype) for k, v in values.items()})
    model = mx.onnx.load(path, precision="bfloat16" if args.half else None)   # as OpenVINO does by itself
    takes(named(feed, [i.name for i in model.inputs]))

    def call():
        results = model.run(arrays)
        for y in results.values():
            y.wait_to_read()
        return results
    return Runtime(call, lambda: [y.asnumpy() for y in call().values()], takes)


def own(path, feed):
    """This library's own files, of one input."""
    import mxnet as mx
    with open(path) as f:
        net = mx.gluon.SymbolBlock(mx.sym.load_json(f.read()), [mx.sym.var("data")])
    net.load_parameters(path[:-len("-symbol.json")] + ".params", cast_dtype=True, dtype_source="saved")
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.array(next(iter(feed.values())))

    def call():
        y = net(x)
        y.wait_to_read()
        return y
    return Runtime(call, lambda: [call().asnumpy()])


def named(feed, names):
    """The arrays by the names of a file that calls its only input otherwise."""
    return dict(zip(names, feed.values())) if len(feed) == len(names) == 1 else feed


def onnxruntime(path, feed, args):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = args.threads, 1
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = named(feed, [i.name for i in session.get_inputs()])
    holder = [feed]

    def call():
        return session.run(None, holder[0])

    def takes(values):
        holder[0] = values
    return Runtime(call, call, takes)


def openvino(path, feed, args):
    """Compiled for the shapes, where it can be: that is its fastest form."""
    import openvino as ov
    core = ov.Core()
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": args.threads, "NUM_STREAMS": 1}
    if not args.half:
        settings["INFERENCE_PRECISION_HINT"] = "f32"
    model = core.read_model(path)
    feed = named(feed, [i.get_any_name() for i in model.inputs])
    try:
        model.reshape({k: list(v.shape) for k, v in feed.items()})
        request = core.compile_model(model, "CPU", settings).create_infer_request()
        request.infer(feed, share_inputs=True, share_outputs=True)
    except RuntimeError:   # some graphs do not take fixed shapes
        request = core.compile_model(core.read_model(path), "CPU", settings).create_infer_request()
    check_level(request.get_compiled_model(), args.level)

    def call():
        return request.infer(feed, share_inputs=True, share_outputs=True)
    return Runtime(call, lambda: [np.array(y) for y in call().values()])


PRODUCTS = ("Convolution", "Deconvolution", "FullyConnected", "MatMul", "RNNCell", "RNNSeq")


def check_level(compiled, level):
    """OpenVINO tells which kernels it took. Products by AVX-512 in a row of AVX2 end the
    contestant. Its own reductions, normalizations and steps to 8 bits (Reduce, MVN, FakeQuantize)
    take AVX-512 whatever the variable says."""
    if level != "avx2":
        return
    infos = [node.get_rt_info() for node in compiled.get_runtime_model().get_ops()]
    kernels = {info["primitiveType"].value for info in infos if info["layerType"].value in PRODUCTS}
    above = sorted(k for k in kernels if "avx512" in k or "amx" in k)
    if above:
        raise RuntimeError(f"kernels above AVX2 in spite of ONEDNN_MAX_CPU_ISA: {', '.join(above)}")


class Clock:
    """Seconds from here on: of the day, and of this process's threads."""

    def __init__(self):
        self.begin = time.perf_counter(), time.process_time()

    def seconds(self):
        return {"wall": time.perf_counter() - self.begin[0], "cpu": time.process_time() - self.begin[1]}


def of_file(path, prefix):
    """Arrays of a file by name."""
    with np.load(path) as f:
        return {k[len(prefix):]: f[k] for k in f.files if k.startswith(prefix)}


def in_shape(arrays, shapes):
    """The arrays, cut or repeated."""
    return {name: np.resize(a, shapes[name]).astype(a.dtype) for name, a in arrays.items()}


def other_of(path, one_path, feed):
    """Inputs of other shapes, by name. Sizes that are the same there and in the inputs of batch 1
    stay as they are in `feed`: so a decoder of batch 8 goes on with a longer cache."""
    if not path or not os.path.exists(path):
        return {}
    other, one = of_file(path, "in_"), of_file(one_path, "in_")
    return in_shape(other, {name: [own if b == a else b for own, a, b in zip(feed[name].shape, one[name].shape, array.shape)]
                            for name, array in other.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contestant", choices=MODULE, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--other", help="inputs of other shapes")
    parser.add_argument("--one", help="inputs of batch 1, where there are others")
    parser.add_argument("--outputs", help="file for what it computed")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--level", choices=LEVELS, default="avx512")
    parser.add_argument("--half", action="store_true", help="16-bit products are as good")
    parser.add_argument("--warm", action="store_true", help="the first answer counts: have memory at hand")
    args = parser.parse_args()
    send = answers()
    module = __import__(MODULE[args.contestant])
    feed = of_file(args.inputs, "in_")
    other = other_of(args.other, args.one, feed)
    if args.warm:
        warm_memory(512 + 2 * (os.path.getsize(args.model) >> 20))   # more than any of them takes for batch 8
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")   # the peak begins here
    imported, first = status_mib("VmRSS"), Clock()
    runtime = {"ours": ours, "onnxruntime": onnxruntime, "openvino": openvino}[args.contestant](args.model, feed, args)
    runtime.call()
    first = first.seconds()
    outputs = runtime.outputs()
    if args.outputs:
        np.savez(args.outputs, **{f"out_{i}": y for i, y in enumerate(outputs)})

    def change():
        """Seconds of the first call with other shapes, when this process runs as it did before its
        turn ended."""
        if not other or runtime.takes is None:
            return None
        settle(runtime.call)
        return {"first": answer(other), "later": later()}

    def answer(values):
        runtime.takes(values)
        start = Clock()
        runtime.call()
        return start.seconds()

    def later():
        """Seconds of a call where each size that differs is one larger in each call, as a decoder's
        cache is; the median. Nothing where the model refuses such sizes."""
        times = []
        for step in range(1, LATER + 1):
            shapes = {name: [b + step if a != b else b for a, b in zip(feed[name].shape, array.shape)] for name, array in other.items()}
            try:
                times.append(answer(in_shape(other, shapes)))
            except Exception:   # whatever a runtime raises
                return None
        return {clock: statistics.median(t[clock] for t in times[SETTLE:]) for clock in times[0]}
    serve(send, {"run": repeat(runtime.call)}, {"first": first, "imported": imported, "version": getattr(module, "__version__", "?")},
          {"change": change})


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
