"""Training steps that recompute instead of keeping: bytes of the arena and speed, each plan against
the one that keeps everything, in turn, in one process.

    ./dev bench memory [--repeats N] [--clock wall|cpu] [--ctx cpu|gpu] [--layers N] [--batch N]
    [NAME...] ./dev bench memory --walk [--oracle PYTHON] [--other LIBRARY] [--stops N] [--steps N]
    [--scale X] [--rest SECONDS] [--turns N]
    ./dev bench memory --inference [--help] ...

The second one: peak and resident memory of a program that walks through many shapes of layers, in
turn with mxnet 1.9.1 or another build (memory_walk.py). The third one: of programs that predict,
with its parts (inference_memory.py).
"""
import argparse
import statistics
import sys
import time

import numpy as np

import memory_walk
import mxnet as mx
from alternate import add_clock, add_ctx, need_gpu

S = mx.sym


def chain(layers, width=256, batch=64):
    """Equal layers in a row: arXiv 1604.06174's example."""
    net = S.Variable("data")
    for i in range(layers):
        net = S.relu(S.FullyConnected(net, num_hidden=width, no_bias=True, name=f"f{i}"))
    return net, {"data": (batch, width)}


def resnet50(batch):
    net = mx.gluon.model_zoo.vision.resnet50_v1()(S.Variable("data"))
    return net, {"data": (batch, 3, 224, 224)}


def executor(net, shapes, ctx, **environment):
    for name, value in environment.items():
        mx.util.set_env(name, value)
    grads = {n: "null" if n in shapes else "write" for n in net.list_arguments()}
    try:
        e = net.simple_bind(ctx, grad_req=grads, **shapes)
    finally:
        for name in environment:
            mx.util.set_env(name, "")
    rng = np.random.default_rng(0)
    for name, array in list(e.arg_dict.items()) + list(e.aux_dict.items()):
        norm = name.endswith(("gamma", "beta", "mean", "var"))
        scale = (2 / max(1, np.prod(array.shape[1:]))) ** 0.5
        array[:] = rng.uniform(0.5, 1.5, array.shape) if norm else rng.standard_normal(array.shape) * scale
    head = mx.nd.ones(e.outputs[0].shape, ctx=ctx)

    def step():
        e.forward(is_train=True)
        e.backward([head])
        mx.nd.waitall()
    return e, step


def compare(title, contestants, repeats, clock):
    """contestants: name -> (executor, step); the first one keeps everything."""
    names = list(contestants)
    times = {n: [] for n in names}
    for i in range(repeats + 1):
        for n in names:
            begin = clock()
            contestants[n][1]()
            if i:
                times[n].append(clock() - begin)
    first = names[0]
    arenas = {n: contestants[n][0].plan_stats()["arena_bytes"] / 2**20 for n in names}
    print(f"\n{title}\n\n| | arena, MiB | of all kept | ms a step | speed |\n|---|---|---|---|---|")
    for n in names:
        speed = statistics.median(a / b for a, b in zip(times[first], times[n]))
        print(f"| {n} | {arenas[n]:.1f} | {arenas[n] / arenas[first]:.2f} | "
              f"{1e3 * statistics.median(times[n]):.1f} | {speed:.2f} |", flush=True)


def main():
    if "--inference" in sys.argv:
        sys.argv.remove("--inference")
        import inference_memory
        return inference_memory.main()
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     parents=[memory_walk.parser()])
    parser.add_argument("names", nargs="*", help="chain, resnet50; all when none is given")
    parser.add_argument("--repeats", type=int, default=5)
    add_clock(parser)
    add_ctx(parser)
    parser.add_argument("--layers", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=16, help="of ResNet-50")
    args = parser.parse_args()
    if args.walk:
        return memory_walk.walk(args)
    if args.ctx == "gpu":
        if args.clock == "cpu":
            parser.error("--ctx gpu goes with --clock wall")
        need_gpu("memory")
    ctx = mx.gpu(0) if args.ctx == "gpu" else mx.cpu()
    clock = time.perf_counter if args.clock == "wall" else time.process_time
    if not args.names or "chain" in args.names:
        net, shapes = chain(args.layers)
        result = shapes["data"][0] * shapes["data"][1] * 4 / 2**20
        runs = {"all kept": executor(net, shapes, ctx)}
        root = args.layers ** 0.5
        for results in (2 * root, 4 * root, 8 * root):   # one result per segment, and those of one segment
            budget = int(results * result * 2**20)
            plan = mx.memory.plan(net, budget, grad_names=[n for n in net.list_arguments() if n != "data"], **shapes)
            runs[f"budget {results:.0f} results = {results / root:.0f} sqrt(N)"] = executor(plan.apply(), shapes, ctx)
        least = mx.memory.plan(net, None, grad_names=[n for n in net.list_arguments() if n != "data"], **shapes)
        runs["least"] = executor(least.apply(), shapes, ctx)
        compare(f"{args.layers} dense layers with relu, results of {result:.3f} MiB", runs, args.repeats, clock)
    if not args.names or "resnet50" in args.names:
        net, shapes = resnet50(args.batch)
        fusions = "fuse_batch_norm_relu,fuse_batch_norm_add_relu"
        runs = {"all kept": executor(net, shapes, ctx, MXNET_PLAN_PASSES_OFF=fusions),
                "default": executor(net, shapes, ctx),
                "MXNET_BACKWARD_DO_MIRROR=1": executor(net, shapes, ctx, MXNET_BACKWARD_DO_MIRROR="1"),
                "MXNET_MEMORY_OPT=1": executor(net, shapes, ctx, MXNET_MEMORY_OPT="1")}
        compare(f"ResNet-50, batch {args.batch}", runs, args.repeats, clock)


if __name__ == "__main__":
    main()
