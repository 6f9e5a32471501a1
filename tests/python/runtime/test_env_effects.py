"""What variables do that take more than one comparison to tell: the same program in fresh processes
under several settings.

test_env_acts.py has the others, and says which variables there are.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from env_effects import PRELUDE, acts, process, run, run_own, told

TRAINING = "tell(**plan(bound(chain())))"
INFERENCE = "tell(**plan(bound(chain(), 'null')))"
POINTWISE = """
x = mx.sym.Variable("x")
for i in range(10):
    x = mx.sym.tanh(x)
tell(**plan(bound(x, "null", x=(64, 64))))
"""


@acts("MXNET_EXEC_ENABLE_INPLACE")
def test_inplace():
    assert run(POINTWISE, MXNET_USE_FUSION="0")["inplace"] > 0
    off = run(POINTWISE, MXNET_EXEC_ENABLE_INPLACE="0", MXNET_USE_FUSION="0")
    assert off["inplace"] == 0
    assert off["arena"] > run(POINTWISE, MXNET_USE_FUSION="0")["arena"]


@pytest.mark.parametrize("name", ["NNVM_EXEC_MATCH_RANGE", "MXNET_EXEC_MATCH_RANGE"])
@acts("NNVM_EXEC_MATCH_RANGE", "MXNET_EXEC_MATCH_RANGE", argument="name")
def test_match_range(name):
    shared, alone = run(INFERENCE), run(INFERENCE, **{name: "0"})
    assert shared["arena"] < shared["unshared"]
    assert alone["arena"] == alone["unshared"]


@acts("MXNET_EXEC_NUM_TEMP")
def test_colours():
    """Branches get colours of their own, up to the number given, and share no memory then; a graph
    without branches has one colour."""
    branches = """
x = mx.sym.Variable("x")
def branch(name):
    y = x
    for i in range(6):
        y = mx.sym.dot(y, mx.sym.Variable("w"), name=f"{name}{i}")
    return y
tell(**plan(bound(branch("a") + branch("b") + branch("c") + branch("d"), "null")))
"""
    arenas = [run(branches, MXNET_EXEC_NUM_TEMP=n)["arena"] for n in ("1", "2", "3", "4")]
    assert arenas[0] == run(branches)["arena"]
    assert arenas == sorted(set(arenas)), arenas
    assert run(INFERENCE)["arena"] == run(INFERENCE, MXNET_EXEC_NUM_TEMP="4")["arena"]


@acts("MXNET_EXEC_BULK_EXEC_INFERENCE")
def test_bulk_inference():
    assert run(INFERENCE)["bulks"] == 1
    assert run(INFERENCE, MXNET_EXEC_BULK_EXEC_INFERENCE="0")["bulks"] == run(INFERENCE)["nodes"]


@acts("MXNET_EXEC_BULK_EXEC_TRAIN", "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN",
      "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD")
def test_bulk_train():
    nodes = run(TRAINING)["nodes"]
    bulks = lambda **variables: run(TRAINING, **variables)["bulks"]
    default = bulks()
    assert default <= nodes / 15 + 4
    assert bulks(MXNET_EXEC_BULK_EXEC_TRAIN="0") == nodes
    assert bulks(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN="5") > 2 * default
    forward = bulks(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD="5")
    backward = bulks(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD="5")
    assert forward > default and backward > default
    assert bulks(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD="5", MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD="5") == forward + backward - default


def test_engine_pushes_follow_bulks():
    program = """
e = bound(chain(), "null")
mx.nd.waitall()
before = engine()
for i in range(10):
    e.forward()
e.outputs[0].wait_to_read()
after = engine()
tell(pushes=after["pushed"] + after["inlined"] - before["pushed"] - before["inlined"])
"""
    assert run(program)["pushes"] < 60
    assert run(program, MXNET_EXEC_BULK_EXEC_INFERENCE="0")["pushes"] >= 800


@pytest.mark.parametrize("name", ["MXNET_BACKWARD_DO_MIRROR", "MXNET_MEMORY_OPT"])
@acts("MXNET_BACKWARD_DO_MIRROR", "MXNET_MEMORY_OPT", argument="name")
def test_mirror(name):
    program = """
x = mx.sym.Variable("x")
for i in range(12):
    x = mx.sym.dot(mx.sym.sigmoid(mx.sym.tanh(mx.sym.exp(x * 0.1))), mx.sym.Variable("w"), name=f"dot{i}")
tell(**plan(bound(x)))
"""
    kept, again = run(program), run(program, **{name: "1"})
    assert again["arena"] < 0.75 * kept["arena"]
    assert again["nodes"] > kept["nodes"]


@acts("MXNET_ELIMINATE_COMMON_EXPR")
def test_common_expressions():
    program = """
x = mx.sym.Variable("x")
tell(**plan(bound(mx.sym.exp(x) + mx.sym.exp(x) * mx.sym.exp(x), "null", x=(3, 3))))
"""
    assert run(program, MXNET_USE_FUSION="0")["removed"] == 2
    assert run(program, MXNET_USE_FUSION="0", MXNET_ELIMINATE_COMMON_EXPR="0")["removed"] == 0


LARGE_SUM = "a = mx.nd.ones((600, 500)); mx.nd.exp(a).asnumpy(); tell(new=team())"


PASSES = '''
import numpy as np
x = mx.sym.Variable("x")
y = mx.sym.relu(mx.sym.BatchNorm(mx.sym.Convolution(x, kernel=(3, 3), num_filter=4, name="c"), name="b"))
executor = y.simple_bind(mx.cpu(), grad_req="null", x=(1, 3, 8, 8))
executor.forward()
executor.outputs[0].wait_to_read()
tell(**plan(executor))
'''


@acts("MXNET_USE_FUSION")
def test_use_fusion():
    program = """
x = mx.sym.Variable("x")
e = bound(mx.sym.tanh(mx.sym.exp(x * 2) + 1), "null", x=(3, 3))
tell(names=[line.split()[1] for line in e.debug_str().splitlines() if line[0].isdigit()])
"""
    assert run(program)["names"] == ["_fused_pointwise"]
    assert run(program, MXNET_USE_FUSION="0")["names"] == ["_mul_scalar", "exp", "_plus_scalar", "tanh"]


@acts("MXNET_PLAN_PASSES_OFF")
def test_passes_off():
    assert run(PASSES, MXNET_PLAN_PASSES_OFF="fuse_convolution")["removed"] < run(PASSES)["removed"]
    with pytest.raises(AssertionError, match="names the pass 'fuse'; accepted: settle_shapes, "):
        run(PASSES, MXNET_PLAN_PASSES_OFF="layout,fuse")


@acts("MXNET_PLAN_LOG_PASSES")
def test_log_passes():
    def log(**variables):
        return told(PASSES, variables, process(PRELUDE + PASSES, **variables).stderr)
    assert "[plan]" not in log()
    assert "pass fold_scale_shift: 1 changes" in log(MXNET_PLAN_LOG_PASSES="fold_scale_shift")
    assert "pass fuse_convolution: 1 changes" in log(MXNET_PLAN_LOG_PASSES="all")
    for name in ("MXNET_PLAN_LOG_PASSES", "MXNET_PLAN_PASSES_OFF"):     # at the import, not at the first plan
        with pytest.raises(AssertionError, match=rf"MXNetError: \[plan\] {name} names the pass '1'; accepted: "):
            process("import mxnet", **{name: "layout, 1"})


RNN = """
layer = mx.gluon.rnn.{layer}
layer.initialize(mx.init.Uniform(0.3))
layer.hybridize(static_alloc=True, static_shape=True)
x = mx.nd.random.uniform(shape=(6, 16, 40))
first = layer(x).asnumpy()
again = layer(x).asnumpy()
for p in layer.collect_params().values():
    p.set_data(p.data() * 0.5)
after = layer(x).asnumpy()
layer.hybridize(False)
expected = layer(x).asnumpy()
tell(kept=bool((first == again).all()), change=float(abs(after - first).max()), error=float(abs(after - expected).max()))
"""


@pytest.mark.parametrize("layer", ["LSTM(32, 2, bidirectional=True)", "GRU(32)", "RNN(32)"])
@pytest.mark.parametrize("onednn", ["0", "1"])
@acts("MXNET_RNN_USE_WEIGHT_CACHE")
def test_rnn_weight_cache(layer, onednn):
    fresh = run(RNN.format(layer=layer), MXNET_USE_ONEDNN_RNN=onednn)
    assert fresh["kept"] and fresh["change"] > 1e-3 and fresh["error"] < 1e-5
    trusted = run(RNN.format(layer=layer), MXNET_USE_ONEDNN_RNN=onednn, MXNET_RNN_USE_WEIGHT_CACHE="1")
    assert trusted["kept"] and trusted["error"] > 1e-3


@pytest.mark.parametrize("name", ["MXNET_USE_ONEDNN_RNN", "MXNET_USE_MKLDNN_RNN"])
@acts("MXNET_USE_ONEDNN_RNN", "MXNET_USE_MKLDNN_RNN", argument="name")
def test_onednn_rnn(name):
    def primitives(**variables):
        done = process(PRELUDE + RNN.format(layer="LSTM(32)"), ONEDNN_VERBOSE="1", **variables)
        return told(RNN, variables, (done.stdout + done.stderr).count("cpu,rnn,"))
    assert primitives() > 0
    assert primitives(**{name: "0"}) == 0


@acts("MXNET_CPU_PARALLEL_SIZE")
def test_cpu_parallel_size():
    assert run_own(LARGE_SUM, OMP_NUM_THREADS="3", MXNET_CPU_PARALLEL_SIZE="1000")["new"] >= 2
    assert run_own(LARGE_SUM, OMP_NUM_THREADS="3", MXNET_CPU_PARALLEL_SIZE="1000000")["new"] < 2


# fewer elements than MXNET_CPU_PARALLEL_SIZE, but each of them takes long: a hundred times what a
# team costs
COSTLY = """
inputs = {name: mx.nd.ones((150000,), dtype=%r) for name in "ab"}
mx.sym.Group([mx.sym.gamma(mx.sym.var(name)) for name in "ab"]).bind(mx.cpu(), inputs).forward()   # enough for a worker
mx.nd.waitall()
tell(new=team())
"""


@pytest.mark.parametrize("name", ["MXNET_USE_OPERATOR_TUNING", "MXNET_ENABLE_OPERATOR_TUNING"])
@acts("MXNET_USE_OPERATOR_TUNING", "MXNET_ENABLE_OPERATOR_TUNING", argument="name")
def test_operator_tuning(name):
    new = lambda dtype, **variables: run_own(COSTLY % dtype, OMP_NUM_THREADS="3",
                                             MXNET_USE_NUM_CORES_OPERATOR_TUNING="3",
                                             **variables)["new"]
    without = new("float32", **{name: "0"})     # the fixed rule
    assert new("float32") == new("float32", **{name: "1"}) == without + 2
    assert new("float32", **{name: "float64, int8"}) == without
    assert new("float64", **{name: "float64, int8"}) == without + 2


@acts("MXNET_USE_NUM_CORES_OPERATOR_TUNING")
def test_operator_tuning_cores():
    new = lambda **variables: run_own(COSTLY % "float32", OMP_NUM_THREADS="5", MXNET_USE_OPERATOR_TUNING="1", **variables)["new"]
    one = new(MXNET_USE_NUM_CORES_OPERATOR_TUNING="1")
    assert new(MXNET_USE_NUM_CORES_OPERATOR_TUNING="2") == one + 1
    assert new(MXNET_USE_NUM_CORES_OPERATOR_TUNING="4") == one + 3


@acts("MXNET_ENFORCE_DETERMINISM")
def test_determinism():
    program = """
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.util import set_env

class Net(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.words = nn.Embedding(50, 48)
            self.norm = nn.LayerNorm()
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(32, 3, padding=1, strides=2), nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(128, 1), nn.BatchNorm(),
                          nn.MaxPool2D(4), nn.Conv2DTranspose(16, 2, strides=2), nn.Flatten(), nn.Dense(30))
            self.head = nn.Dense(30, flatten=False)

    def hybrid_forward(self, F, image, words):
        return F.broadcast_add(self.body(image).expand_dims(1), self.head(self.norm(self.words(words))))

def train(hybridize):
    mx.random.seed(3)
    net = Net()
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-2})
    for step in range(2):
        with autograd.record():
            loss = loss_of(net(image, words), label)
        loss.backward()
        trainer.step(12)
    return [p.data().asnumpy().tobytes() for p in net.collect_params().values()]

def products():
    results = []
    for a, b in operands:
        for left in (False, True):
            for right in (False, True):
                c = mx.nd.dot(a.T if left else a, b.T if right else b, transpose_a=left, transpose_b=right).asnumpy()
                assert np.abs(c - a.asnumpy().astype("float64") @ b.asnumpy()).max() < 1e-2
                results.append(c.tobytes())
    return results

np.random.seed(3)
image = mx.nd.array(np.random.normal(size=(12, 3, 32, 32)).astype("float32"))
words = mx.nd.array(np.random.randint(0, 50, (12, 100)))
label = mx.nd.array(np.random.randint(0, 30, (12, 100)))
loss_of = gluon.loss.SoftmaxCrossEntropyLoss(axis=-1)
operands = [tuple(mx.nd.array(np.random.normal(size=s).astype(t), dtype=t) for s in ((m, k), (k, n)))
            for t in ("float32", "float64") for m, n, k in ((37, 500, 300), (400, 20, 500), (8, 8, 50000), (1, 1000, 1000))]
same = {}
for strict in ("0", "1"):
    set_env("MXNET_ENFORCE_DETERMINISM", strict)
    for name, run in (("eager", lambda: train(False)), ("hybrid", lambda: train(True)), ("products", products)):
        bits = []
        for threads in ("1", "2"):
            set_env("OMP_NUM_THREADS", threads)
            bits.append(run())
        same[name + strict] = bits[0] == bits[1]
tell(**same)
"""
    same = run_own(program)
    for strict in "01":
        told("train", {"MXNET_ENFORCE_DETERMINISM": strict}, same["eager" + strict])
    assert same["eager1"] and same["hybrid1"] and same["products1"]
    assert not same["eager0"] and not same["hybrid0"] and not same["products0"]


@acts("MXNET_CPU_TEMP_COPY")
def test_temp_copy():
    program = """
# without oneDNN float16 products widen their operands in scratch memory
size = 1200
a = [mx.nd.ones((size, size), dtype="float16") for i in range(8)]
out = [mx.nd.empty((size, size), dtype="float16") for i in range(8)]
for x in out:
    x[:] = 0
mx.nd.waitall()
mx.storage.reset_peak(mx.cpu())
before = mx.storage.stats(mx.cpu()).used_bytes
for x, y in zip(a, out):
    mx.nd.dot(x, x, out=y)
mx.nd.waitall()
tell(scratch=(mx.storage.stats(mx.cpu()).peak_used_bytes - before) / (3 * 4 * size * size))
"""
    copies = lambda n: run(program, MXNET_CPU_WORKER_NTHREADS="4", OMP_NUM_THREADS="1", MXNET_ONEDNN_ENABLED="0",
                           MXNET_CPU_TEMP_COPY=n)["scratch"]
    assert copies("1") < 1.5
    assert copies("3") > 1.9


@acts("OMP_NUM_THREADS")
def test_omp_threads():
    few, many = (run_own(LARGE_SUM, OMP_NUM_THREADS=n, MXNET_CPU_PARALLEL_SIZE="1000")["new"] for n in ("2", "5"))
    assert many == few + 3


@acts("MXNET_SAFE_ACCUMULATION")
def test_safe_accumulation():
    program = """
import numpy as np
x = mx.nd.random.uniform(shape=(1 << 12, 256))
tell(error=float(np.abs(x.sum(axis=0).asnumpy() - x.asnumpy().sum(axis=0, dtype="float64").astype("float32")).max()))
"""
    assert run(program)["error"] == 0
    assert run(program, MXNET_SAFE_ACCUMULATION="0")["error"] > 0


@acts("MXNET_CPU_PARALLEL_RAND_COPY")
def test_parallel_random_resources():
    program = "mx.random.seed(1); tell(draws=[mx.nd.random.uniform(shape=(2,)).asnumpy().tolist() for i in range(4)])"
    one, two = run(program)["draws"], run(program, MXNET_CPU_PARALLEL_RAND_COPY="2")["draws"]
    assert two[0] == one[0]     # the first resource has the user's seed
    assert two[2] == one[1]     # it is the turn of the first one again
    assert two[1] not in one


@acts("MXNET_KVSTORE_REDUCTION_NTHREADS", "MXNET_KVSTORE_BIGARRAY_BOUND")
def test_kvstore_reduction():
    program = """
kv = mx.kv.create("local")
kv.init(0, mx.nd.zeros((2000,)))
parts = [mx.nd.ones((2000,)) * i for i in range(4)]
mx.nd.waitall()
before = threads()
kv.push(0, parts)
out = mx.nd.zeros((2000,))
kv.pull(0, out)
assert out.asnumpy()[0] == 6
tell(new=threads() - before)
"""
    assert run_own(program)["new"] == 0 == run_own(program, MXNET_KVSTORE_REDUCTION_NTHREADS="2")["new"]
    two, five = (run_own(program, MXNET_KVSTORE_BIGARRAY_BOUND="1000", MXNET_KVSTORE_REDUCTION_NTHREADS=n)["new"] for n in ("2", "5"))
    assert two >= 1 and five == two + 3


# The order in which values are added up shows in the last bits of their sums.
TREES = """
import random
kv = mx.kv.create("device")
keys = list(range(6))
draw = random.Random(1)
parts = [[mx.nd.array([draw.uniform(-1, 1) for _ in range(60)], ctx=mx.cpu(i)) for i in range(6)] for _ in keys]
kv.init(keys, [p[0] for p in parts])
outs = [[a.copy() for a in p] for p in parts]
kv.push(keys, parts)
kv.pull(keys, out=outs)
sums = [[a.asnumpy().tobytes().hex() for a in out] for out in outs]
assert all(len(set(s)) == 1 for s in sums)
largest = max(abs(o[0].asnumpy() - sum(a.asnumpy().astype("float64") for a in p)).max() for o, p in zip(outs, parts))
assert largest < 1e-5, largest
tell(sums=[s[0] for s in sums])
"""


@acts("MXNET_KVSTORE_USETREE", "MXNET_KVSTORE_TREE_ARRAY_BOUND", "MXNET_KVSTORE_TREE_BACKTRACK",
      "MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY")
def test_kvstore_trees():
    one, trees = run(TREES), run(TREES, MXNET_KVSTORE_USETREE="1")
    assert trees == run(TREES, MXNET_KVSTORE_USETREE="1")     # the same bits in every run
    others = [run(TREES, MXNET_KVSTORE_USETREE="1", **{name: value}) for name, value in (
        ("MXNET_KVSTORE_TREE_ARRAY_BOUND", "59"), ("MXNET_KVSTORE_TREE_BACKTRACK", "1"), ("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "1"))]
    assert len({json.dumps(sums) for sums in (one, trees, *others)}) == 5
    # without trees their variables do nothing, and an array at the bound is not large
    assert run(TREES, MXNET_KVSTORE_TREE_BACKTRACK="1") == one
    assert run(TREES, MXNET_KVSTORE_USETREE="1", MXNET_KVSTORE_TREE_ARRAY_BOUND="60") == trees


# Slices are what a server has states of.
SLICES = """
kv = mx.kv.create("dist_p3")
kv.init(0, mx.nd.zeros((1000,)))
kv.set_optimizer(mx.optimizer.SGD(momentum=0.9))
kv.push(0, mx.nd.ones((1000,)))
kv.pull(0, out=mx.nd.zeros((1000,)))
mx.nd.waitall()
tell(parts=[begin for _, begin, _ in json.loads(kv._ask_servers(2, "")[0])["parts"]])
"""


@pytest.mark.skipif(not shutil.which("mpirun"), reason="needs Open MPI")
@acts("MXNET_KVSTORE_SLICE_THRESHOLD")
def test_kvstore_slices():
    launcher = [sys.executable, str(Path(__file__).parents[3] / "tools" / "launch.py"), "-n", "1", "-s", "1"]

    def parts(**variables):
        done = subprocess.run([*launcher, sys.executable, "-c", PRELUDE + SLICES], env={**os.environ, **variables},
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return told(SLICES, variables, json.loads(done.stdout.splitlines()[-1]))["parts"]

    assert parts() == [0]
    assert parts(MXNET_KVSTORE_SLICE_THRESHOLD="256") == [0, 256, 512, 768]


@acts("MXNET_KVSTORE_LOGTREE")
def test_kvstore_trees_are_logged():
    program = PRELUDE + TREES
    silent, loud = (process(program, MXNET_KVSTORE_USETREE="1", MXNET_KVSTORE_LOGTREE=value).stderr.splitlines() for value in "01")
    for value, lines in ("0", silent), ("1", loud):
        told(program, {"MXNET_KVSTORE_LOGTREE": value}, lines)
    assert silent == []
    assert loud[0] == "[mxnet] [kvstore] 6 reduction trees by Kernighan-Lin"
    assert loud[1].startswith("[mxnet] [kvstore] root cpu(0): cpu(") and len(loud) == 7


@acts("MXNET_ENGINE_TYPE", "MXNET_CPU_WORKER_NTHREADS")
def test_engine_type():
    program = """
a = mx.nd.ones((700, 700))
for i in range(5):
    a = mx.nd.dot(a, a) * 0
a.wait_to_read()
tell(workers=named("mx-"))
"""
    def workers(kind, threads):
        return run(program, MXNET_ENGINE_TYPE=kind, MXNET_CPU_WORKER_NTHREADS=threads, OMP_NUM_THREADS="1")["workers"]
    kinds = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
    assert [workers(kind, "3") for kind in kinds] == [0, 3, 3]
    assert [workers(kind, "2") for kind in kinds] == [0, 2, 2]


POOL = """
ctx = mx.Context(%r)
a = mx.nd.empty((1001,), ctx=ctx); a[:] = 1
a.wait_to_read()
used = mx.storage.stats(ctx).used_bytes
a = None
mx.nd.waitall()
b = mx.nd.empty((100001,), ctx=ctx); b[:] = 1   # no cached block fits, so the pool goes to the system
b.wait_to_read()
tell(used=used, cached=mx.storage.stats(ctx).cached_bytes)
"""


@pytest.mark.parametrize("device,name", [("cpu", "MXNET_CPU_MEM_POOL_TYPE"), ("cpu_pinned", "MXNET_CPU_PINNED_MEM_POOL_TYPE")])
@acts("MXNET_CPU_MEM_POOL_TYPE", "MXNET_CPU_PINNED_MEM_POOL_TYPE", argument="name")
def test_pools(device, name):
    used = {kind: run(POOL % device, **{name: kind})["used"] for kind in ("Naive", "Round", "Unpooled")}
    assert used["Naive"] % 4096 == 0 and used["Round"] % 4096 == 0 and used["Unpooled"] % 4096 != 0, used


@pytest.mark.parametrize("device,name", [("cpu", "MXNET_CPU_MEM_POOL_RESERVE"), ("cpu_pinned", "MXNET_CPU_PINNED_MEM_POOL_RESERVE")])
@acts("MXNET_CPU_MEM_POOL_RESERVE", "MXNET_CPU_PINNED_MEM_POOL_RESERVE", argument="name")
def test_reserve(device, name):
    assert run(POOL % device)["cached"] > 0
    assert run(POOL % device, **{name: "100"})["cached"] == 0


@acts("MXNET_ONEDNN_FORCE_FC_AB_FORMAT")
def test_packed_weights():
    program = """
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
net = mx.gluon.nn.Dense(4096, in_units=4096, use_bias=False)
net.initialize()
net.hybridize(static_alloc=True, static_shape=True)
x = mx.nd.ones((16, 4096))   # with up to 8 rows nothing is packed
mx.nd.dot(x, net.weight.data(), transpose_b=True).wait_to_read()
before = resident()
for i in range(3):
    net(x).wait_to_read()
tell(grown=resident() - before)
"""
    assert run(program)["grown"] > 50e6
    assert run(program, MXNET_ONEDNN_FORCE_FC_AB_FORMAT="1")["grown"] < 30e6


WINOGRAD = """
import numpy as np
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Conv2D(64, 3, padding=1, in_channels=32, activation="relu"), mx.gluon.nn.Conv2D(48, 3, in_channels=64))
net.initialize()
rng = np.random.default_rng(0)
for p in net.collect_params().values():
    p.set_data(mx.nd.array(rng.uniform(-0.1, 0.1, p.shape)))
x = mx.nd.array(rng.uniform(-1, 1, (2, 32, 33, 35)))
net.hybridize()
first = net(x).asnumpy().tobytes()
if switch:
    mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", switch)
second = net(x).asnumpy()
tell(same=first == second.tobytes(), values=[float(v) for v in second.ravel()[::501]])
"""


@acts("MXNET_CPU_ALLOW_WINOGRAD")
def test_winograd():
    """Other bits, same values; set before the start and while a plan lives."""
    on, off = (run('switch = ""' + WINOGRAD, MXNET_ENFORCE_DETERMINISM="1", MXNET_CPU_ALLOW_WINOGRAD=v) for v in "10")
    turned = run('switch = "0"' + WINOGRAD, MXNET_ENFORCE_DETERMINISM="1")
    assert on["same"] and off["same"] and not turned["same"]
    assert on["values"] != off["values"] and turned["values"] == off["values"]
    assert max(abs(a - b) for a, b in zip(on["values"], off["values"])) < 2e-5


PROFILED = """
a = mx.nd.dot(mx.nd.ones((4, 4)), mx.nd.ones((4, 4)))
bound(chain(3), "null").outputs[0].wait_to_read()
mx.nd.waitall()
"""


def profiled(folder, **variables):
    """Kinds of events in the profile.json of a program that never mentions the profiler; None when
    there is no file."""
    folder = tempfile.mkdtemp(dir=folder)
    process(PRELUDE + PROFILED, cwd=folder, **variables)
    path = os.path.join(folder, "profile.json")
    if not os.path.exists(path):
        return told(PROFILED, variables, None)
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    kinds = {"Device Storage": 8, "MXNET_C_API": 4}
    return told(PROFILED, variables, {kinds.get(e["cat"]) or (1 if "node" in e.get("args", {}) else 2)
                                      for e in events if e.get("cat") in (*kinds, "operator")})


@acts("MXNET_PROFILER_AUTOSTART")
def test_profiler_autostart(tmp_path):
    assert profiled(tmp_path) is None
    assert profiled(tmp_path, MXNET_PROFILER_MODE="15") is None
    assert profiled(tmp_path, MXNET_PROFILER_AUTOSTART="1") == {1, 4, 8}


@acts("MXNET_PROFILER_MODE")
def test_profiler_mode(tmp_path):
    for mode in (0, 1, 2, 4, 8, 7, 15):
        expected = {bit for bit in (1, 2, 4, 8) if mode & bit}
        assert profiled(tmp_path, MXNET_PROFILER_AUTOSTART="1", MXNET_PROFILER_MODE=str(mode)) == (expected or None)


def test_small_operators_leave_no_team_on_their_caller():
    # a second team of libgomp's makes the workers' team sleep between parallel loops
    program = """
small = [mx.nd.ones((n,)) for n in (1000, 150000, 250000, 300000)]
mx.nd.gamma(small[1])
mx.nd.waitall()
large = mx.nd.ones((4000000,)) + 1
large.wait_to_read()
tell(teams=team())
"""
    assert run_own(program, OMP_NUM_THREADS="2")["teams"] == 1
