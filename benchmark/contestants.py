"""The contestants of score.py and train.py: how each framework loads a network of networks.py and
computes it. As a program, one contestant's process."""
import argparse
import json
import os
import sys

import numpy as np

from alternate import answers, repeat, serve, status_mib, turn

# name -> whose interpreter runs it: this library's, --oracle or --peers
SCORE = {"ours": "ours", "1.9.1": "oracle", "1.9.1 MKLDNN": "oracle", "torch": "peers", "torch compile": "peers", "torch jit": "peers",
         "onnxruntime": "peers", "openvino": "peers"}
TRAIN = {"ours": "ours", "1.9.1": "oracle", "torch": "peers", "torch compile": "peers"}
DEFAULT_OFF = ("torch jit",)   # only where asked for by name
HALF = ("ours", "1.9.1", "torch", "torch compile", "openvino")   # those that compute in bfloat16 on a CPU
MODULE = {"torch": "torch", "torch compile": "torch", "torch jit": "torch",
          "onnxruntime": "onnxruntime", "openvino": "openvino", "ours": "mxnet",
          "1.9.1": "mxnet", "1.9.1 MKLDNN": "mxnet", "torch graph": "torch",
          "torch compile graph": "torch", "torch max-autotune": "torch"}   # the last three on a GPU
DTYPES = {"score": ("float32", "bfloat16"), "train": ("float32",)}


def takes(name, dtype):
    """Does the contestant compute in this type?"""
    return dtype == "float32" or name in HALF


class Loaded:
    """A network that computes: run(calls), output() once as a NumPy array, flops of one example
    where the framework counts them."""

    def __init__(self, run, output, flops=None):
        self.run, self.output, self.flops = run, output, flops
        self.device_mib = lambda: None   # on a GPU, what the process took of its memory so far


# Scoring: (kind, folder, x, threads, dtype) -> Loaded. Results are float32 in every case.

def score_mxnet(kind, folder, x, threads, dtype):
    import mxnet as mx
    from networks import load, symbol_block
    text, arrays = load(folder)
    if dtype != "float32":
        text, arrays = converted(mx, text, arrays, dtype)
    net = symbol_block(mx, text, arrays, gradients=False)
    x = mx.nd.array(x)
    if kind == "1.9.1 MKLDNN":
        net.optimize_for(x, backend="MKLDNN", static_alloc=True, static_shape=True)
    else:
        net.hybridize(static_alloc=True, static_shape=True)
    return Loaded(repeat(lambda: net(x).wait_to_read()), lambda: net(x).astype("float32").asnumpy())


def converted(mx, text, arrays, dtype):
    """The network in mixed precision, as symbol text and arrays."""
    from importlib import import_module
    amp = import_module("mxnet.contrib.amp")   # where 1.9.1 and this library both have it
    symbol = mx.sym.load_json(text)
    arrays = {n: mx.nd.array(a) for n, a in arrays.items()}
    auxiliary = set(symbol.list_auxiliary_states())
    symbol, arg, aux = amp.convert_model(symbol, {n: a for n, a in arrays.items()
                                                  if n not in auxiliary},
                                         {n: a for n, a in arrays.items() if n in auxiliary},
                                         target_dtype=dtype, cast_optional_params=False)
    return symbol.tojson(remove_amp_cast=False), {n: a.asnumpy() for n, a in {**arg, **aux}.items()}


def torch_module(folder, channels_last=False):
    import torch
    import symbol_torch
    from networks import load
    module = symbol_torch.module(*load(folder))
    return module.to(memory_format=torch.channels_last) if channels_last else module


def score_torch(kind, folder, x, threads, dtype):
    import torch
    torch.set_num_threads(threads)
    images = x.ndim == 4
    x = torch.from_numpy(x)
    net = torch_module(folder, images).eval()
    if dtype != "float32":
        net, x = net.to(getattr(torch, dtype)), x.to(getattr(torch, dtype)) if x.is_floating_point() else x
    if images:
        x = x.to(memory_format=torch.channels_last)
    flops = None
    if kind == "torch":
        from torch.utils.flop_counter import FlopCounterMode
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            net(x[:1])
        flops = counter.get_total_flops()
    elif kind == "torch compile":
        import torch._inductor.config
        torch._inductor.config.freezing = True   # constants folded, weights packed
        net = torch.compile(net)
    elif kind == "torch jit":
        net = torch.jit.freeze(torch.jit.trace(net, x))

    def compute():
        with torch.inference_mode():
            return net(x)
    return Loaded(repeat(compute), lambda: compute().float().numpy(), flops)


def score_onnxruntime(kind, folder, x, threads, dtype):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_free_dimension_override_by_name("batch", x.shape[0])
    session = onnxruntime.InferenceSession(os.path.join(folder, "net.onnx"), options, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: x}

    def compute():
        return session.run(None, feed)[0]
    return Loaded(repeat(compute), compute)


def score_openvino(kind, folder, x, threads, dtype):
    import openvino
    core = openvino.Core()
    model = core.read_model(os.path.join(folder, "net.onnx"))
    model.reshape(list(x.shape))
    hint = "LATENCY" if x.shape[0] == 1 else "THROUGHPUT"   # throughput: several requests in flight
    compiled = core.compile_model(model, "CPU",
                                  {"PERFORMANCE_HINT": hint,
                                   "INFERENCE_PRECISION_HINT": "f32" if dtype == "float32"
                                   else "bf16", "INFERENCE_NUM_THREADS": threads})
    if hint == "LATENCY":
        return Loaded(repeat(lambda: compiled([x])), lambda: compiled([x])[0])
    queue = openvino.AsyncInferQueue(compiled)

    def run(calls):
        for _ in range(calls):
            queue.start_async([x], share_inputs=True)
        queue.wait_all()
    loaded = Loaded(run, lambda: compiled([x])[0])
    loaded.at_once = len(queue)
    return loaded


# Training: (kind, folder, x, threads, dtype) -> (Loaded whose output is the loss of each step, so
# far)

LEARNING = {"rate": 1e-3, "momentum": 0.9, "decay": 1e-4}


def train_mxnet(kind, folder, x, threads, dtype):
    import mxnet as mx
    from networks import load, symbol_block
    net = symbol_block(mx, *load(folder))
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd",
                               {"learning_rate": LEARNING["rate"], "momentum": LEARNING["momentum"],
                                "wd": LEARNING["decay"]})
    x, y = mx.nd.array(x), mx.nd.array(labels(x))

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(x.shape[0])
        value = loss.asnumpy()
        mx.nd.waitall()
        return value.mean(keepdims=True)
    return Loaded(repeat(step), step)


def train_torch(kind, folder, x, threads, dtype):
    import torch
    torch.set_num_threads(threads)
    images = x.ndim == 4
    net = torch_module(folder, images).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=LEARNING["rate"], momentum=LEARNING["momentum"], weight_decay=LEARNING["decay"])
    x, y = torch.from_numpy(x), torch.from_numpy(labels(x))
    if images:
        x = x.to(memory_format=torch.channels_last)
    if kind == "torch compile":
        net = torch.compile(net)

    def step():
        optimizer.zero_grad()
        loss = cross_entropy(torch, net(x), y)
        loss.backward()
        optimizer.step()
        return np.array([loss.item()], "float32")
    return Loaded(repeat(step), step)


def labels(x):
    """A class for each image; for words, one for each of them."""
    return np.random.default_rng(0).integers(0, *((1000, x.shape[0]) if x.ndim == 4 else (768, x.shape)))


def cross_entropy(torch, output, y):
    return torch.nn.functional.cross_entropy(output.flatten(0, -2), y.flatten())


LOADERS = {"score": {"mxnet": score_mxnet, "torch": score_torch, "onnxruntime": score_onnxruntime, "openvino": score_openvino},
           "train": {"mxnet": train_mxnet, "torch": train_torch}}


def export_onnx(folder):
    """net.onnx with a free first dimension "batch"."""
    import torch
    from networks import ALL, examples
    with open(os.path.join(folder, "meta.json")) as f:
        network = ALL[json.load(f)["name"]]
    x = torch.from_numpy(examples(network, 2))
    path = os.path.join(folder, "net.onnx")
    program = torch.onnx.export(torch_module(folder).eval(), (x,), dynamo=True,
                                dynamic_shapes=({0: torch.export.Dim("batch")},), verbose=False)
    program.save(path + ".part")   # below 2 GB: one file
    os.rename(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contestant", choices=MODULE)
    parser.add_argument("--mode", choices=LOADERS, default="score")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--ctx", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--each-call", action="store_true", help="on a GPU: wait for the result of every call")
    parser.add_argument("--turn", help="file whose lock is held while the network is loaded and computed first")
    parser.add_argument("--export", action="store_true", help="only write net.onnx")
    args = parser.parse_args()
    if args.export:
        export_onnx(args.folder)
        return
    send = answers()
    module = __import__(MODULE[args.contestant])
    imported = status_mib("VmRSS")
    from networks import NETWORKS, examples
    with open(os.path.join(args.folder, "meta.json")) as f:
        name = json.load(f)["name"]
    x = examples(NETWORKS[name], args.batch)
    with turn(args.turn):
        if args.ctx == "gpu":
            import contestants_gpu
            load = contestants_gpu.LOADERS[args.mode][MODULE[args.contestant]]
            loaded = load(args.contestant, args.folder, x, args.dtype, args.each_call)
        else:
            loaded = LOADERS[args.mode][MODULE[args.contestant]](args.contestant, args.folder, x, args.threads, args.dtype)
        first = loaded.output()
        device_mib = loaded.device_mib()
    serve(send, {"run": loaded.run}, {
        "shape": list(first.shape), "sample": first.reshape(-1)[:256].astype(float).tolist(),
        "flops": loaded.flops, "imported_mib": imported,
        "at_once": getattr(loaded, "at_once", 1), "device_mib": device_mib,
        "version": getattr(module, "__version__", "?").split("+")[0]})


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
