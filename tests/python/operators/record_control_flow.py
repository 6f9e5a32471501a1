"""Writes data/control_flow.json under MXNet 1.9.1: what the programs of control_flow_programs.py
compute there on arrays, the names in its graphs, and the graphs as files.

    oracle/bin/python record_control_flow.py data/control_flow.json
"""
import json
import sys

import control_flow_programs as programs
import mxnet as mx


def rounded(value):
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def computed():
    found = {}
    for name, function, arrays, rows, dtype in programs.PROGRAMS:
        for how in ({}, {"static_alloc": False}):   # what 1.9.1 cannot run eagerly it may run hybridized
            try:
                found[name] = rounded(programs.run(mx, function, arrays, rows, dtype, **how))
                break
            except (mx.base.MXNetError, IndexError) as e:
                print(name, type(e).__name__, str(e)[:80], file=sys.stderr)
    return found


def named():
    found = {}
    for name, make in programs.graphs(mx.sym).items():   # what they share has names of its own
        with mx.name.NameManager():
            graph = mx.sym.Group(programs.leaves(make()))
        found[name] = {"arguments": graph.list_arguments(), "outputs": graph.list_outputs(), "json": json.loads(graph.tojson())}
    return found


if __name__ == "__main__":
    with open(sys.argv[1], "w") as out:
        json.dump({"programs": computed(), "graphs": named()}, out, separators=(",", ":"))
