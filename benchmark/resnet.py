#!/usr/bin/env python3
"""Inference of ResNet-50 v1: this library, the 1.9.1 wheel, PyTorch and OpenVINO in turn, in one run.

    ./dev bench resnet [--oracle PYTHON] [--peers PYTHON] [--only NAME,...] [--batch N,...] [--rounds N]

--oracle: an interpreter with mxnet==1.9.1; it runs twice, plain (`hybridize(static_alloc=True, static_shape=True)`) and with its MKLDNN subgraphs.
--peers: one with torch and, if it has it, openvino. Printed: images per second (medians) and how many times faster this library is.
"""
import argparse
import subprocess
import sys

from alternate import Contestant, add_clock, alternate, environments, serve, table


def contestant(kind, batches):
    import numpy as np
    images = {b: np.random.default_rng(b).normal(size=(b, 3, 224, 224)).astype("float32") for b in batches}
    runs = {}
    if kind.startswith("torch") or kind == "openvino":
        import torch
        from resnet_torch import resnet50_v1
        net = resnet50_v1().eval()
        if kind == "openvino":
            import openvino
            model = openvino.convert_model(net, example_input=torch.zeros(1, 3, 224, 224))
            core = openvino.Core()
            for b in batches:
                model.reshape([b, 3, 224, 224])
                compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
                runs[f"batch {b}"] = lambda c=compiled, x=images[b]: c([x])
        else:
            if kind != "torch":
                net = net.to(memory_format=torch.channels_last)
            if kind == "torch jit":
                net = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(net, torch.zeros(1, 3, 224, 224).to(memory_format=torch.channels_last))))
            for b in batches:
                x = torch.from_numpy(images[b])
                if kind != "torch":
                    x = x.to(memory_format=torch.channels_last)

                def run(x=x):
                    with torch.inference_mode():
                        net(x)
                runs[f"batch {b}"] = run
    else:
        import mxnet as mx
        net = mx.gluon.model_zoo.vision.resnet50_v1()
        net.initialize(mx.init.Xavier())
        net(mx.nd.zeros((1, 3, 224, 224))).wait_to_read()
        if kind == "1.9.1 MKLDNN":
            net.optimize_for(mx.nd.zeros((1, 3, 224, 224)), backend="MKLDNN", static_alloc=True, static_shape=True)
        else:
            net.hybridize(static_alloc=True, static_shape=True)
        for b in batches:
            x = mx.nd.array(images[b])
            runs[f"batch {b}"] = lambda x=x: net(x).wait_to_read()
    serve(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="interpreter with mxnet==1.9.1")
    parser.add_argument("--peers", help="interpreter with torch (and openvino)")
    parser.add_argument("--only", help="names of contestants, separated by commas")
    parser.add_argument("--batch", default="1,32")
    parser.add_argument("--rounds", type=int, default=9)
    add_clock(parser)
    parser.add_argument("--contestant", help=argparse.SUPPRESS)
    args = parser.parse_args()
    batches = [int(b) for b in args.batch.split(",")]
    if args.contestant:
        contestant(args.contestant, batches)
        return
    ours, plain = environments(args.clock)
    wanted = {"ours": (sys.executable, ours)}
    if args.oracle:
        wanted["1.9.1"] = wanted["1.9.1 MKLDNN"] = (args.oracle, plain)
    if args.peers:
        wanted["torch"] = wanted["torch jit"] = (args.peers, plain)
        if subprocess.run([args.peers, "-c", "import openvino"], env=plain, stderr=subprocess.DEVNULL).returncode == 0:
            wanted["openvino"] = (args.peers, plain)
    if args.only:
        wanted = {n: w for n, w in wanted.items() if n in args.only.split(",")}
    contestants = [Contestant(name, python, __file__, [name, "--batch", args.batch], env) for name, (python, env) in wanted.items()]
    times = alternate(contestants, {f"batch {b}": max(1, 8 // b) for b in batches}, args.rounds, args.clock)
    print(table(times, {f"batch {b}": b for b in batches}, contestants[0].name))


if __name__ == "__main__":
    main()
