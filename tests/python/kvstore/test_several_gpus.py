"""Stores of several GPUs of one process. `./dev test --host-gpu` runs this with four that are made
of the host."""
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import mxnet as mx
from several_gpus import FACTOR, GPUS, blank, kind, nccl_or_skip, same, spread   # noqa: F401  (kind: a fixture)

pytestmark = pytest.mark.several_gpus


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8"])
def test_every_dtype(kind, dtype):
    base = np.arange(6).reshape(2, 3) % 3
    values = [mx.nd.array(base * (i + 1), ctx=gpu).astype(dtype) for i, gpu in enumerate(GPUS)]
    outs = [mx.nd.zeros((2, 3), ctx=gpu).astype(dtype) for gpu in GPUS]
    kv = mx.kv.create(kind)
    kv.init("w", values[0])
    kv.pull("w", out=outs)
    same(outs, base)
    kv.push("w", values)
    kv.pull("w", out=outs)
    same(outs, FACTOR * base)
    kv.pushpull("w", values)
    same(values, FACTOR * base)
    kv.pushpull("w", outs, out=values)
    same(values, len(GPUS) * FACTOR * base)
    kv.pull("w", out=outs[-1])
    same(outs[-1:], len(GPUS) * FACTOR * base)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "bool"])
def test_dtypes_that_gpus_do_not_add_up(kind, dtype):
    values = [mx.nd.array([0, 1, 1], ctx=gpu, dtype=dtype) for gpu in GPUS]
    kv = mx.kv.create(kind)
    kv.init(0, values[0])
    if kind == "local":
        kv.pushpull(0, values)
        same(values, [0, 1, 1] if dtype == "bool" else [0, len(GPUS), len(GPUS)])
    else:
        with pytest.raises(TypeError, match=f"dtype {dtype} is not supported; accepted: float32"):
            kv.pushpull(0, values)
        same(values, [0, 1, 1])


def test_stored_values_keep_their_dtype(kind):
    kv = mx.kv.create(kind)
    kv.init(0, mx.nd.zeros((3,), ctx=GPUS[0]))
    halves = [mx.nd.array([1, 2, 3], ctx=gpu, dtype="float16") for gpu in GPUS]
    outs, whole = blank((3,), dtype="float64"), blank((3,))
    kv.push(0, halves)
    kv.pull(0, out=outs)
    same(outs, len(GPUS) * np.array([1, 2, 3]))
    kv.pushpull(0, halves, out=whole)
    same(whole, len(GPUS) * np.array([1, 2, 3]))


def test_lists_of_keys_and_priorities(kind):
    kv = mx.kv.create(kind)
    shapes = [(7,), (3, 5), (1,), (2, 2, 300), (0, 4)]
    bases = [np.arange(np.prod(s), dtype="float32").reshape(s) % 50 for s in shapes]
    keys = list(range(len(shapes)))
    outs = [blank(s) for s in shapes]
    kv.broadcast(keys, [mx.nd.array(b, ctx=GPUS[0]) for b in bases], out=outs)
    for o, b in zip(outs, bases):
        same(o, b)
    for turn in range(3):
        kv.push(keys, [spread(b) for b in bases], priority=-turn)
        kv.pull(keys, out=outs, priority=turn)
        for o, b in zip(outs, bases):
            same(o, FACTOR * b)
    grads = [spread(b) for b in bases]
    kv.pushpull(keys, grads)
    for g, b in zip(grads, bases):
        same(g, FACTOR * b)


@pytest.mark.parametrize("gpus", [GPUS[:1], GPUS[-1:], GPUS[:2], GPUS[-2:], GPUS[::-1],
                                  [GPUS[-1], GPUS[0], GPUS[-1]], [mx.cpu(), GPUS[-1]],
                                  [mx.cpu(), mx.cpu()]],
                         ids=lambda gpus: "-".join(f"{g.device_type[0]}{g.device_id}" for g in gpus))
def test_any_set_of_devices(kind, gpus):
    base = np.arange(5, dtype="float32")
    kv = mx.kv.create(kind)
    kv.init("w", mx.nd.zeros((5,), ctx=GPUS[1]))
    factor = sum(range(1, len(gpus) + 1))
    outs = blank((5,))
    for _ in range(2):
        kv.push("w", spread(base, gpus))
        kv.pull("w", out=outs + [mx.nd.zeros((5,))])
        same(outs, factor * base)
    values = spread(base, gpus)
    kv.pushpull("w", values, out=outs)
    same(outs, factor * base)
    kv.pushpull("w", values)
    same(values, factor * base)
    kv.push("w", spread(base))     # then all of them
    kv.pull("w", out=values)
    same(values, FACTOR * base)


def test_views_of_one_array(kind):
    """Gradients as parts of one buffer on each GPU."""
    kv = mx.kv.create(kind)
    flat = [mx.nd.array(np.arange(12) * (i + 1), ctx=gpu) for i, gpu in enumerate(GPUS)]
    parts = [[f[4 * k:4 * k + 4] for f in flat] for k in range(3)]
    kv.init([0, 1, 2], [mx.nd.zeros((4,), ctx=GPUS[0])] * 3)
    kv.pushpull([0, 1, 2], parts)
    same(flat, FACTOR * np.arange(12))


def test_values_are_read_before_results_are_written(kind):
    kv = mx.kv.create(kind)
    kv.init(["a", "b"], [mx.nd.zeros((4,), ctx=GPUS[0])] * 2)
    x, y, z = spread(np.ones(4, "float32")), spread(np.full(4, 10, "float32")), blank((4,))
    kv.pushpull(["a", "b"], [x, y], out=[y, z])     # y is a value of b
    same(y, FACTOR)
    same(z, 10 * FACTOR)
    kv.pushpull(["a", "b"], [x, y], out=[x[::-1], y])   # each other's place
    same(x, FACTOR)


def test_updater_gets_arrays_of_one_gpu(kind):
    """Also when the first value comes from the CPU, as Module's do; keys are spread over the
    GPUs."""
    kv = mx.kv.create(kind)
    places = []

    def update(key, pushed, stored):
        assert pushed.context == stored.context
        places.append(stored.context)
        stored += pushed

    keys = [str(i) for i in range(2 * len(GPUS))]
    kv.init(keys, [mx.nd.ones((5,)) for _ in keys])
    kv._set_updater(update)
    for turn in range(1, 3):
        kv.push(keys, [spread(np.ones(5, "float32")) for _ in keys])
        outs = [blank((5,)) for _ in keys]
        kv.pull(keys, out=outs)
        for o in outs:
            same(o, 1 + turn * FACTOR)
    if kind == "local":
        assert set(places) == {mx.cpu()}
    else:
        assert {g: places.count(g) for g in GPUS} == {g: 4 for g in GPUS}


def test_optimizer_on_the_store(kind, tmp_path):
    rng = np.random.RandomState(0)
    start, grads = rng.randn(3, 4).astype("float32"), rng.randn(5, 3, 4).astype("float32")
    results = []
    for contexts, name in ((GPUS, kind), ([mx.cpu(i) for i in range(len(GPUS))], "local")):
        kv = mx.kv.create(name)
        kv.init(["v", "w"], [mx.nd.array(start), mx.nd.array(start)])
        kv.set_optimizer(mx.optimizer.create("adam", learning_rate=0.1))
        outs = [mx.nd.zeros((3, 4), ctx=c) for c in contexts]
        for step, grad in enumerate(grads):
            kv.pushpull("v", [mx.nd.array(grad, ctx=c) for c in contexts], out=outs)
            kv.pushpull("w", [mx.nd.array(grad, ctx=c) for c in contexts], out=outs)
            if step == 2:
                kv.save_optimizer_states(str(tmp_path / "states"))
                kv.load_optimizer_states(str(tmp_path / "states"))
        for o in outs[1:]:
            np.testing.assert_array_equal(o.asnumpy(), outs[0].asnumpy())
        results.append(outs[0].asnumpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-4, atol=1e-6)


def test_computing_goes_on_meanwhile(kind):
    """Values that are still being computed, and arrays that are written again at once."""
    kv = mx.kv.create(kind)
    kv.init(0, mx.nd.zeros((64, 64), ctx=GPUS[0]))
    x = [mx.nd.full((64, 64), 1.0, ctx=gpu) for gpu in GPUS]
    for _ in range(10):
        grads = [mx.nd.dot(a, a) / 64 for a in x]
        kv.pushpull(0, grads)
        x = [g / len(GPUS) for g in grads]
        for g in grads:
            g[:] = 7
        kv.pull(0, out=grads)
        same(grads[-1:], len(GPUS))
    same(x, 1)


def test_random_calls_against_numpy(kind):
    rng = random.Random(3)
    shapes = {k: (rng.randint(1, 40), rng.randint(1, 9)) for k in range(6)}
    state = {k: np.full(s, float(k)) for k, s in shapes.items()}
    kv = mx.kv.create(kind)
    for k, s in shapes.items():
        kv.init(k, mx.nd.array(state[k], ctx=rng.choice(GPUS + [mx.cpu()])))
    for _ in range(60):
        keys = rng.sample(sorted(shapes), rng.randint(1, 4))
        gpus = rng.sample(GPUS, rng.randint(1, len(GPUS)))
        priority = rng.randint(-3, 3)
        values = [[mx.nd.full(shapes[k], rng.randint(0, 9), ctx=g) for g in gpus] for k in keys]
        sums = [sum(v.asnumpy() for v in vs) for vs in values]
        outs = [[mx.nd.zeros(shapes[k], ctx=g) for g in rng.sample(GPUS, rng.randint(1, len(GPUS)))] for k in keys]
        what = rng.choice(["push", "pull", "pushpull", "in place"])
        if what == "pull":
            kv.pull(keys, out=outs, priority=priority)
        elif what == "push":
            kv.push(keys, values, priority=priority)
        elif what == "pushpull":
            kv.pushpull(keys, values, out=outs, priority=priority)
        else:
            kv.pushpull(keys, values, priority=priority)
            outs = values
        if what != "pull":
            state.update(zip(keys, sums))
        if what != "push":
            for k, o in zip(keys, outs):
                same(o, state[k])


def test_keys_from_several_threads(kind):
    """Operations of all GPUs that meet in any order, and memory that is made and freed
    meanwhile."""
    kv = mx.kv.create(kind)
    kv.init(list(range(4)), [mx.nd.zeros((33,), ctx=GPUS[0])] * 4)
    wrong = []

    def work(key):
        try:
            rng = random.Random(key)
            for turn in range(12):
                gpus = rng.sample(GPUS, rng.randint(2, len(GPUS)))
                values = [mx.nd.full((33,), turn + i, ctx=g) for i, g in enumerate(gpus)]
                kv.pushpull(key, values, priority=rng.randint(-2, 2))
                same(values, sum(turn + i for i in range(len(gpus))))
                mx.nd.zeros((1000 * (turn + 1) * (key + 1),), ctx=gpus[0]).wait_to_read()
        except BaseException as error:      # pylint: disable=broad-except
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(key,)) for key in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if wrong:
        raise wrong[0]


def test_errors_change_nothing(kind):
    kv = mx.kv.create(kind)
    kv.init(0, mx.nd.ones((2,), ctx=GPUS[0]))
    for call in (lambda: kv.push(0, spread(np.ones(3, "float32"))), lambda: kv.pushpull(0, spread(np.ones(2, "float32")), out=blank((3,))),
                 lambda: kv.pushpull(0, spread(np.ones(2, "float32")), out=None)
                 or kv.pull(1, out=blank((2,))), lambda: kv.push(1, spread(np.ones(2, "float32")))):
        with pytest.raises(ValueError, match=r"\[kvstore\]"):
            call()
    outs = blank((2,))
    kv.pull(0, out=outs)
    same(outs, FACTOR)


def test_values_of_other_dtypes_are_converted(kind):
    kv = mx.kv.create(kind)
    kv.init(0, mx.nd.ones((2,), ctx=GPUS[0]))
    outs = blank((2,))
    kv.pushpull(0, [mx.nd.ones((2,), ctx=GPUS[0]), mx.nd.ones((2,), ctx=GPUS[1], dtype="float16")], out=outs)
    same(outs, 2)


def test_gradient_compression_on_gpus():
    kv = mx.kv.create("device")
    kv.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    kv.init(0, mx.nd.zeros((2,), ctx=GPUS[0]))
    sent = []
    for _ in range(4):
        grads = [mx.nd.full((2,), 0.25, ctx=gpu) for gpu in GPUS]
        kv.pushpull(0, grads)
        sent.append(float(grads[-1].asnumpy()[0]))
    assert sent == [0, 0.5 * len(GPUS)] * 2
    nccl_or_skip()
    with pytest.raises(ValueError, match="not supported for a store of type nccl"):
        mx.kv.create("nccl").set_gradient_compression({"type": "2bit"})


# ---- what goes wrong

FAILING = """
import mxnet as mx
gpus = [mx.gpu(i) for i in range(mx.num_gpus())]
kv = mx.kv.create("nccl")
kv.init(0, mx.nd.ones((3,), ctx=gpus[0]))
for turn in range(2):
    values = [mx.nd.ones((3,), ctx=g) for g in gpus]
    try:
        kv.pushpull(0, values)
        values[1].wait_to_read()
    except Exception as error:
        print(type(error).__name__, error)
values = [mx.nd.ones((3,), ctx=g) for g in gpus]
other = mx.kv.create("device")
other.init(0, values[0])
other.pushpull(0, values)
print(values[-1].asnumpy())
"""


@pytest.mark.parametrize("what, says", [("init", "NCCL: joining gpu(0), gpu(1)"),
                                        ("launch", "NCCL: launching a group failed"),
                                        ("async", "NCCL: what was under way failed")])
def test_failures_of_the_library(what, says):
    if "host_gpu" not in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("failures are made by the stand-in")
    environment = dict(os.environ, HOST_GPU_NCCL_REFUSE=what, HOST_GPU_REPORT="")
    run = subprocess.run([sys.executable, "-c", FAILING], env=environment, capture_output=True, text=True, timeout=300, check=True)
    lines = run.stdout.splitlines()
    assert sum("[kvstore] " + says in line for line in lines) >= 1, run.stdout
    if what != "init":
        assert any("is of no use since it failed" in line for line in lines), run.stdout
    assert lines[-1] == str(np.full(3, float(len(GPUS)), "float32")), run.stdout


def test_an_old_library_is_refused():
    if "host_gpu" not in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the version is the stand-in's")
    run = subprocess.run([sys.executable, "-c", "import mxnet as mx; mx.kv.create('nccl')"],
                         env=dict(os.environ, HOST_GPU_NCCL_VERSION="2804"),
                         capture_output=True, text=True, timeout=300, check=False)
    assert "[kvstore] a store of type 'nccl' needs NVIDIA's NCCL: version 2.8.4 is older than 2.10.0; accepted: device" in run.stderr
