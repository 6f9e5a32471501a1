"""The profiler: what is recorded under which option, the trace file against its format, totals,
memory by name, the program's own events."""
import collections
import contextlib
import json
import multiprocessing
import os
import threading
import time

import pytest

import mxnet as mx
from mxnet import profiler
from mxnet.base import MXNetError

pytestmark = pytest.mark.on_gpu


@pytest.fixture
def path(tmp_path):
    yield str(tmp_path / "trace.json")
    profiler.set_state("stop")
    profiler.resume()
    with contextlib.suppress(MXNetError):
        profiler.dump(True)
    profiler.dumps(reset=True)
    profiler.set_config(filename=str(tmp_path / "unused.json"), continuous_dump=False)


def config(path, *modes, **options):
    """Exactly these kinds of events."""
    options.setdefault("continuous_dump", False)
    profiler.set_config(filename=path, **{f"profile_{m}": m in modes for m in ("symbolic", "imperative", "memory", "api")}, **options)


def check_format(path):
    """The events of a trace file, each checked against the trace-event format."""
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    assert isinstance(trace["traceEvents"], list) and trace["displayTimeUnit"] in ("ms", "ns")
    spans, stacks = collections.Counter(), collections.defaultdict(list)
    for e in trace["traceEvents"]:
        assert isinstance(e["name"], str) and e["name"], e
        assert e["ph"] in "XBEbeCiM", e
        assert isinstance(e["pid"], int) and isinstance(e["tid"], int), e
        assert isinstance(e["ts"], (int, float)) and e["ts"] >= 0, e
        if e["ph"] == "M":
            assert e["name"] in ("process_name", "thread_name") and isinstance(e["args"]["name"], str), e
            continue
        assert isinstance(e["cat"], str), e
        if e["ph"] == "X":
            assert isinstance(e["dur"], (int, float)) and e["dur"] >= 0, e
        elif e["ph"] == "B":
            stacks[e["tid"]].append((e["name"], e["ts"]))
        elif e["ph"] == "E":
            name, begin = stacks[e["tid"]].pop()
            assert name == e["name"] and begin <= e["ts"], e
        elif e["ph"] in "be":
            key = (e["cat"], e["id"], e["name"])
            spans[key] += 1 if e["ph"] == "b" else -1
            assert spans[key] in (0, 1), e
        elif e["ph"] == "C":
            assert e["args"] and all(isinstance(v, (int, float)) and v >= 0 for v in e["args"].values()), e
        elif e["ph"] == "i":
            assert e["s"] in "gpt", e
    assert not any(spans.values()) and not any(stacks.values())
    named = {e["tid"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    events = [e for e in trace["traceEvents"] if e["ph"] != "M"]
    assert {e["tid"] for e in events if e["ph"] == "X"} <= named
    return events


def recorded(path, work, *modes, **options):
    config(path, *modes, **options)
    with contextlib.suppress(MXNetError):
        mx.nd.waitall()     # for what earlier tests left
    profiler.set_state("run")
    work()
    mx.nd.waitall()
    profiler.set_state("stop")
    profiler.dump()
    return check_format(path)


def names(events, category="operator"):
    return collections.Counter(e["name"] for e in events if e["cat"] == category)


def device(between="/"):
    return f"{mx.cpu().device_type}{between}0"


def eager():
    a = mx.nd.ones((20, 30))
    b = mx.nd.dot(a, a, transpose_b=True)
    (b + 1).wait_to_read()


def symbolic(train=True):
    x = mx.sym.Variable("x")
    y = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=16, name="fc"), act_type="tanh", name="act")
    executor = y.simple_bind(mx.cpu(), x=(8, 32), grad_req="write" if train else "null")
    executor.forward(is_train=train)
    if train:
        executor.backward(mx.nd.ones((8, 16)))
    mx.nd.waitall()


# ---- what is recorded

def test_eager_operators(path):
    for _ in range(2):   # the second time through the remembered fast path
        events = recorded(path, lambda: [eager() for _ in range(5)], "imperative")
        # threads that earlier tests left may run operators, too
        count = names([e for e in events if e["cat"] == "operator" and "float32[20," in str(e.get("args"))])
        assert count == {"dot": 5, "_plus_scalar": 5, "_ones": 5}
        dot = next(e for e in events if e["name"] == "dot")
        assert dot["args"]["inputs"] == ["float32[20,30]", "float32[20,30]"] and dot["args"]["outputs"] == ["float32[20,20]"]
        assert dot["args"]["bytes"] == 4 * (600 + 600 + 400)
        assert dot["args"]["flops"] >= 2 * 20 * 20 * 30
        assert dot["args"]["GFLOP/s"] == pytest.approx(dot["args"]["flops"] / dot["dur"] / 1e3, rel=0.01)
        assert dot["args"]["GB/s"] == pytest.approx(dot["args"]["bytes"] / dot["dur"] / 1e3, rel=0.01)


def test_eager_backward(path):
    a = mx.nd.ones((50, 50))
    a.attach_grad()

    def work():
        with mx.autograd.record():
            b = mx.nd.tanh(mx.nd.dot(a, a))
        b.backward()

    count = names(recorded(path, work, "imperative"))
    assert count["dot"] == 1 and count["tanh"] == 1
    for name in ("dot", "tanh"):
        assert any(name in other and "backward" in other for other in count), count


def test_large_operators_and_copies(path):
    """What goes through the engine's queue is named as well, once."""
    big = mx.nd.ones((1500, 1500))
    big.wait_to_read()

    def work():
        mx.nd.exp(big)
        big.copyto(mx.nd.zeros((1500, 1500)))

    count = names(recorded(path, work, "imperative"))
    assert count["exp"] == 1
    assert count["_copy"] + count["copyto"] == 1, count   # on the host a copy is an operator


def test_nodes_of_plans(path):
    events = recorded(path, symbolic, "symbolic")
    nodes = {e["args"]["node"]: e for e in events if e["cat"] == "operator"}
    assert {"fc", "act"} <= set(nodes)
    assert nodes["fc"]["name"] == "FullyConnected" and nodes["fc"]["args"]["inputs"][0] == "float32[8,32]"
    assert any("backward" in e["name"] for e in nodes.values())
    bulks = [e for e in events if e["cat"] == "bulk"]
    assert {"forward", "backward"} <= {e["name"] for e in bulks}
    for node in nodes.values():   # each lies in a bulk of its thread
        assert any(b["tid"] == node["tid"] and b["ts"] <= node["ts"]
                   and node["ts"] + node["dur"] <= b["ts"] + b["dur"] + 0.01 for b in bulks), node


def test_operators_beside_the_machines_peaks(path):
    big, small = mx.nd.ones((256, 256)), mx.nd.ones((3,))
    events = recorded(path, lambda: (mx.nd.dot(big, big), mx.nd.dot(big.astype("float64"), big.astype("float64")), small + 1), "imperative")
    operators = [e for e in events if e["cat"] == "operator" and "bytes" in e.get("args", ())]
    assert {"dot", "_plus_scalar"} <= {e["name"] for e in operators}
    peaks = collections.defaultdict(list)
    for e in operators:
        args, ns = e["args"], 1e3 * e["dur"]
        if mx.cpu().device_type == "gpu":
            assert "predicted_ns" not in args and "share_of_peak" not in args, e
            continue
        least = args["predicted_ns"]
        assert 0 < least == pytest.approx(ns * max(args["share_of_peak"], args["share_of_bandwidth"]), rel=0.01), e
        if e["name"] == "dot":
            peaks[args["inputs"][0]].append(args["GFLOP/s"] / args["share_of_peak"])
    if peaks:   # of twice as many float32 as float64
        assert peaks["float32[256,256]"][0] == pytest.approx(2 * peaks["float64[256,256]"][0], rel=0.01)


def test_hybridized_block(path):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, activation="relu"), mx.gluon.nn.Dense(4))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.ones((2, 5))
    net(x).wait_to_read()
    count = names(recorded(path, lambda: net(x).wait_to_read(), "symbolic"))
    assert count["FullyConnected"] == count["_fused_dense"] == 1, count


@pytest.mark.parametrize("mode", ["symbolic", "imperative", "memory", "api", None])
def test_each_mode_alone(path, mode):
    events = recorded(path, lambda: (eager(), symbolic(), mx.sym.Variable("v").list_arguments()), *([mode] if mode else []))
    eager_ops = [e for e in events if e["cat"] == "operator" and "node" not in e.get("args", ())]
    nodes = [e for e in events if e["cat"] == "operator" and "node" in e.get("args", ())]
    memory = [e for e in events if e["cat"] == "Device Storage"]
    api = [e for e in events if e["cat"] == "MXNET_C_API"]
    for kind, found in (("imperative", eager_ops), ("symbolic", nodes), ("memory", memory), ("api", api)):
        assert bool(found) == (kind == mode), (kind, found[:2])


def test_api_calls(path):
    calls = names(recorded(path, lambda: mx.sym.Variable("x").tojson(), "api"), "MXNET_C_API")
    assert calls["MXSymbolCreateVariable"] == 1 and calls["MXSymbolSaveToJSON"] == 1
    assert not any("Profil" in name for name in calls)


def test_profile_all(path):
    config(path, profile_all=True)
    profiler.set_state("run")
    eager()
    profiler.dump()
    categories = {e["cat"] for e in check_format(path)}
    assert {"operator", "Device Storage", "MXNET_C_API"} <= categories


def test_pause_and_resume(path):
    config(path, "imperative")
    profiler.set_state("run")
    mx.nd.ones((3,)).exp().wait_to_read()
    profiler.pause()
    assert profiler.state() == "run"
    mx.nd.ones((3,)).sin().wait_to_read()
    profiler.resume()
    mx.nd.ones((3,)).cos().wait_to_read()
    profiler.dump()
    assert profiler.state() == "stop"
    count = names(check_format(path))
    assert count["exp"] == 1 and count["cos"] == 1 and "sin" not in count


# ---- the file

def test_dump_repeats_until_finished(path):
    config(path, "imperative")
    profiler.set_state("run")
    mx.nd.ones((3,)).exp().wait_to_read()
    profiler.dump(finished=False)
    assert names(check_format(path))["exp"] == 1
    mx.nd.ones((3,)).exp().wait_to_read()
    profiler.dump(finished=True)
    assert names(check_format(path))["exp"] == 2
    with pytest.raises(MXNetError, match="set_state"):
        profiler.dump()
    profiler.set_state("run")
    mx.nd.ones((3,)).sin().wait_to_read()
    profiler.dump()
    assert "exp" not in names(check_format(path))


def test_continuous_dump(path):
    config(path, "imperative", continuous_dump=True, dump_period=0.02)
    profiler.set_state("run")
    seen = []
    for _ in range(2000):
        mx.nd.ones((3,)).exp().wait_to_read()
        if os.path.exists(path):
            count = names(check_format(path))["exp"]   # valid whenever it is looked at
            if not seen or count != seen[-1]:
                seen.append(count)
            if len(seen) >= 3:
                break
        time.sleep(0.005)
    assert len(seen) >= 3 and seen == sorted(seen)
    assert [f for f in os.listdir(os.path.dirname(path)) if not f.endswith(".json")] == []


def test_file_that_cannot_be_written(path):
    config(path + "/no/such/folder/x.json", "imperative")
    profiler.set_state("run")
    with pytest.raises(OSError, match="profiler.*cannot write"):
        profiler.dump()
    profiler.set_config(filename=path, continuous_dump=False)
    profiler.dump()   # nothing was lost
    check_format(path)


# ---- totals

def test_aggregate_table(path):
    config(path, "imperative", "memory", aggregate_stats=True)
    profiler.set_state("run")
    for _ in range(3):
        eager()
    (mx.nd.ones((2,)) * 2).wait_to_read()
    mx.nd.waitall()
    profiler.set_state("stop")
    lines = profiler.dumps().splitlines()
    assert lines[1] == "Profile Statistics:"
    at = lines.index("operator")
    assert lines[at + 1] == "================="
    assert lines[at + 2].split()[:3] == ["Name", "Total", "Count"] and "Avg Time (ms)" in lines[at + 2]
    rows = {line.split()[0]: line.split()[1:] for line in lines[at + 4:lines.index("", at)]}
    assert all(len(row) == 5 for row in rows.values())   # scripts split lines into six fields
    rates = lines.index("operator rates")
    assert lines[rates + 2].split() == ["Name", "Total", "Count", "GFLOP/s", "GB/s"]
    count, total, low, high, mean = (float(v) for v in rows["dot"])
    assert count == 3 and low <= mean <= high and total == pytest.approx(3 * mean, abs=1e-3)
    assert rows["_mul_scalar"][0] == "1"
    assert "Device Storage" in lines and any(line.startswith(f"Memory: {device()}") for line in lines)
    assert profiler.dumps(reset=True) and "dot" not in profiler.dumps()


def test_aggregate_json_and_order(path):
    config(path, "imperative", aggregate_stats=True)
    profiler.set_state("run")
    for _ in range(3):
        mx.nd.ones((2,)).exp().wait_to_read()
    mx.nd.dot(mx.nd.ones((300, 300)), mx.nd.ones((300, 300))).wait_to_read()
    mx.nd.waitall()
    keys = {"total": "Total", "avg": "Avg", "min": "Min", "max": "Max", "count": "Count"}
    for sort_by, key in keys.items():
        for ascending in (False, True):
            table = json.loads(profiler.dumps(format="json", sort_by=sort_by, ascending=ascending))
            values = [row[key] for row in table["Time"]["operator"].values()]
            assert len(values) >= 3 and values == sorted(values, reverse=not ascending)
    assert table["Unit"] == {"Time": "ms", "Memory": "kB"}
    assert table["Time"]["operator"]["exp"]["Count"] == 3
    assert table["Time"]["operator"]["dot"]["GFLOP/s"] > 0
    for wrong in ({"sort_by": "name"}, {"format": "xml"}):
        with pytest.raises(AssertionError):   # as in 1.9.1, and a ValueError
            profiler.dumps(**wrong)


def test_no_totals_unless_asked(path):
    """The text is that of 1.9.1; the warning, at the caller's line, is an addition."""
    recorded(path, eager, "imperative")
    for format in ("table", "json"):
        with pytest.warns(UserWarning, match=r"set_config\(aggregate_stats=True\)") as said:
            assert profiler.dumps(format=format) == ""
        assert said[0].filename == __file__


# ---- memory

def by_name(table):
    return table["Memory"]["Memory by name: " + device()]


def test_memory_by_operator_and_parameter(path):
    config(path, "memory", aggregate_stats=True)
    profiler.set_state("run")
    net = mx.gluon.nn.Dense(256, in_units=512, prefix="probe_")
    net.initialize()
    with profiler.scope("stage"):
        kept = mx.nd.exp(mx.nd.ones((64, 512)))
    out = net(kept)
    symbolic()
    mx.nd.waitall()
    rows = by_name(json.loads(profiler.dumps(format="json")))
    weight = 256 * 512 * 4 / 1000
    assert rows["probe_weight"]["Live"] == pytest.approx(2 * weight, rel=0.05)   # value and gradient
    assert rows["stage:exp"]["Live"] >= 64 * 512 * 4 / 1000
    assert rows["FullyConnected"]["Live"] >= 64 * 256 * 4 / 1000
    assert rows["fc_weight"]["Count"] >= 2
    before = rows["stage:exp"]["Live"]
    del kept, out
    mx.nd.waitall()
    rows = by_name(json.loads(profiler.dumps(format="json")))
    assert rows["stage:exp"]["Live"] < before and rows["stage:exp"]["Peak"] >= before
    profiler.dump()
    events = check_format(path)
    series = [e["args"]["bytes"] for e in events if e["name"] == f"Memory of stage:exp: {device()}"]
    assert max(series) >= 64 * 512 * 4 and series[-1] < max(series)
    used = [e["args"]["used"] for e in events if e["name"] == f"Memory: {device()}"]
    assert max(used) > used[0]


def test_memory_list(path, tmp_path):
    prefix = str(tmp_path / "memory")
    config(path, "memory", gpu_memory_profile_filename_prefix=prefix)
    profiler.set_state("run")
    with profiler.scope("a"), profiler.scope("b:"):
        first = mx.nd.exp(mx.nd.ones((1000, 10)))
    with profiler.scope("a"), profiler.scope("b", append_mode=False):
        second = mx.nd.exp(first)
    del first
    mx.nd.waitall()
    profiler.dump()
    with open(f"{prefix}-{device('_')}.csv", encoding="utf-8") as f:
        lines = [line.strip().split(",") for line in f]
    assert lines[0][:4] == ['"Attribute Name"', '"Requested Size"', '"Device"', '"Actual Size"']
    rows = {row[0].strip('"'): row for row in lines[1:]}
    assert rows["a:b:exp"][1] == "40000" and int(rows["a:b:exp"][3]) >= 40000
    assert rows["a:b:exp"][5] and float(rows["a:b:exp"][5]) >= float(rows["a:b:exp"][4])   # freed
    assert rows["b:exp"][5] == ""                                                          # not freed
    del second


def test_scope_marks_symbols():
    with profiler.scope("enc"):
        x = mx.sym.Variable("x")
    assert x.attr("__profiler_scope__") == "enc:"
    assert mx.sym.Variable("y").attr("__profiler_scope__") is None


# ---- the program's own events

def test_objects(path):
    domain = profiler.Domain("mine")
    task, frame, event = domain.new_task("load"), domain.new_frame("turn"), profiler.Event("step")
    assert [str(o) for o in (domain, task, frame, event)] == ["mine", "load", "turn", "step"]

    def work():
        task.start()
        with frame, event:
            time.sleep(0.002)
        counter = domain.new_counter("samples", 5)
        counter += 3
        counter -= 1
        counter.increment(2)
        counter.decrement()
        for scope in ("global", "process", "thread", "task", "marker"):
            domain.new_marker("here").mark(scope)
        thread = threading.Thread(target=task.stop)   # on another thread
        thread.start()
        thread.join()
        event.stop()   # not started: nothing

    events = recorded(path, work)
    assert [(e["ph"], e["cat"]) for e in events if e["name"] == "load"] == [("b", "mine"), ("e", "mine")]
    assert [(e["ph"], e["cat"]) for e in events if e["name"] == "turn"] == [("b", "mine,frame"), ("e", "mine,frame")]
    assert [(e["ph"], e["cat"]) for e in events if e["name"] == "step"] == [("X", "event")]
    assert next(e for e in events if e["name"] == "step")["dur"] >= 2000
    assert [e["args"]["samples"] for e in events if e["name"] == "samples"] == [5, 8, 7, 9, 8]
    assert [e["args"]["scope"] for e in events if e["name"] == "here"] == ["global", "process", "thread", "task", "marker"]


def test_nothing_recorded_while_stopped(path):
    event = profiler.Event("never")
    event.start()
    event.stop()
    profiler.Domain("d").new_marker("never").mark()
    eager()
    events = recorded(path, lambda: None, "imperative")
    assert [e for e in events if e["name"] == "never" or e["cat"] == "operator"] == []


# ---- errors

@pytest.mark.parametrize("options,message", [
    ({"profile_everything": True}, "profile_everything.*accepted: profile_all, .*filename"),
    ({"profile_all": 2}, "profile_all='2'.*True or False"),
    ({"dump_period": "soon"}, "dump_period='soon'.*seconds"),
    ({"dump_period": 0}, "dump_period"),
    ({"filename": ""}, "filename"),
    ({"profile_process": "client"}, "client.*worker, server"),
    ({"profile_process": "server"}, "worker"),
])
def test_wrong_options(path, options, message):
    config(path, "imperative")
    with pytest.raises(ValueError, match=message):
        profiler.set_config(**options)
    recorded(path, eager, "imperative")   # what was set before still stands


def test_wrong_arguments(path):
    config(path)
    for call in (lambda: profiler.set_state("go"), lambda: profiler.dumps(format="xml"), lambda: profiler.dumps(sort_by="name"),
                 lambda: profiler.pause("client"), lambda: profiler.Domain("d").new_marker("m").mark("everywhere"),
                 lambda: profiler.set_state("run", "server"), lambda: profiler.Domain("d").new_counter("c", -1)):
        with pytest.raises(ValueError, match="accepted"):
            call()
    for make in (profiler.Task, profiler.Frame, profiler.Counter, profiler.Marker):
        with pytest.raises(TypeError, match="domain='d'; accepted: a profiler.Domain"):
            make("d", "name")


def test_deprecated_names(path):
    with pytest.warns(UserWarning):
        profiler.profiler_set_config("imperative", path)
    with pytest.warns(UserWarning):
        profiler.profiler_set_state("run")
    eager()
    mx.nd.waitall()
    with pytest.warns(UserWarning):
        profiler.dump_profile()
    assert names(check_format(path))["dot"] == 1


# ---- threads and processes

def test_several_threads(path):
    x = mx.sym.Variable("x")
    y = mx.sym.FullyConnected(x, num_hidden=16, name="fc")

    def loop():
        executor = y.simple_bind(mx.cpu(), x=(8, 32), grad_req="null")
        for _ in range(50):
            executor.forward()
            executor.outputs[0].wait_to_read()

    def work():
        threads = [threading.Thread(target=loop) for _ in range(4)]
        for t in threads:
            t.start()
        while any(t.is_alive() for t in threads):
            profiler.dump(finished=False)
            check_format(path)
        for t in threads:
            t.join()

    events = recorded(path, work, "symbolic", "memory", "api")
    assert names(events)["FullyConnected"] == 200


def _child(path, pipe):
    mx.nd.ones((3,)).sin().wait_to_read()
    state = profiler.state()
    config(path, "imperative")
    profiler.set_state("run")
    mx.nd.ones((3,)).cos().wait_to_read()
    profiler.dump()
    pipe.send((state, dict(names(check_format(path)))))


@pytest.mark.cpu
def test_fork(path):
    config(path, "imperative")
    profiler.set_state("run")
    mx.nd.ones((3,)).exp().wait_to_read()
    mx.nd.waitall()
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_child, args=(path + ".child", there))
    child.start()
    assert here.poll(60)
    state, found = here.recv()
    child.join(60)
    assert child.exitcode == 0
    assert state == "stop" and found["cos"] == 1 and "sin" not in found and "exp" not in found
    mx.nd.ones((3,)).tanh().wait_to_read()
    profiler.dump()
    count = names(check_format(path))
    assert count["exp"] == 1 and count["tanh"] == 1 and "sin" not in count and "cos" not in count
