#!/usr/bin/env python3
"""Profiles ResNet-50 inference and draws where the time goes.

    python examples/profiler/resnet50.py [--svg FILE] [--trace FILE] [--batch N] [--runs N]

Needs matplotlib for the drawing. The trace opens in https://ui.perfetto.dev.
"""
import argparse
import collections
import json
import os
import tempfile

import mxnet as mx


def profile(batch, runs, trace):
    """Runs the network and returns the operator events of its trace."""
    net = mx.gluon.model_zoo.vision.resnet50_v1()
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    data = mx.nd.random.uniform(shape=(batch, 3, 224, 224))
    for _ in range(2):   # compiles the plan, packs the weights
        net(data).wait_to_read()
    mx.profiler.set_config(filename=trace, profile_imperative=False, profile_api=False, profile_memory=False, aggregate_stats=True,
                           continuous_dump=False)
    mx.profiler.set_state("run")
    for _ in range(runs):
        net(data).wait_to_read()
    mx.profiler.set_state("stop")
    print(mx.profiler.dumps())
    mx.profiler.dump()
    with open(trace, encoding="utf-8") as f:
        return [e for e in json.load(f)["traceEvents"] if e.get("cat") == "operator"]


def draw(events, runs, batch, path):
    """Left: milliseconds per operator. Right: the nodes that take longest, with what they achieve.
    Each node in the fastest of its runs."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    fastest, operators = {}, collections.Counter()
    for e in events:
        node = e["args"]["node"]
        if node not in fastest or e["dur"] < fastest[node]["dur"]:
            fastest[node] = e
    for e in fastest.values():
        operators[e["name"]] += e["dur"] / 1e3
    nodes = collections.Counter({node: e["dur"] / 1e3 for node, e in fastest.items()})
    work = {node: e["args"] for node, e in fastest.items()}
    total = sum(operators.values())
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 4.5), width_ratios=(1, 1.4), layout="constrained")
    top = operators.most_common(8)[::-1]
    left.barh([n for n, _ in top], [ms for _, ms in top], color="#4878a8")
    for i, (_, ms) in enumerate(top):
        left.text(ms, i, f" {ms:.2f} ms ({100 * ms / total:.0f} %)", va="center", fontsize=8)
    left.set(title=f"Operators: {total:.1f} ms, batch {batch}, fastest of {runs} runs", xlabel="ms", xlim=(0, 1.3 * top[-1][1]))
    top = nodes.most_common(15)[::-1]
    right.barh([n for n, _ in top], [ms for _, ms in top], color="#6aa84f")
    for i, (node, ms) in enumerate(top):
        right.text(ms, i, f" {work[node]['outputs'][0].removeprefix('float32')}  "
                   f"{work[node]['flops'] / ms / 1e6:.0f} GFLOP/s", va="center", fontsize=7)
    right.set(title="Nodes that take longest, their output and rate", xlabel="ms", xlim=(0, 1.5 * top[-1][1]))
    right.tick_params(axis="y", labelsize=7)
    pyplot.rcParams["svg.hashsalt"] = "mxnet"
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--svg", help="where to draw the profile")
    parser.add_argument("--trace", help="where to keep the trace")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--runs", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        events = profile(args.batch, args.runs, args.trace or os.path.join(folder, "trace.json"))
    if args.svg:
        draw(events, args.runs, args.batch, args.svg)


if __name__ == "__main__":
    main()
