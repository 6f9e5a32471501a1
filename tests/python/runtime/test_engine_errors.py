"""What was never computed keeps raising until it is written, a program that catches the error goes
on, and nothing is lost at exit."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

PRELUDE = """
import os, resource, sys
import numpy as np
import mxnet as mx
from mxnet import nd
def bad():
    return nd.take(nd.arange(6), nd.array([7]), mode='raise')
def address_space(extra):
    used = int(open('/proc/self/statm').read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, resource.RLIM_INFINITY))
"""


def run(code, stack=None, **variables):
    """Runs Python on PRELUDE and `code`; `stack`: the address space in MiB that each new thread
    takes."""
    code = "import resource\n" + PRELUDE + code
    argv = [sys.executable, "-c", code]
    if stack:
        argv = ["/bin/sh", "-c", f"ulimit -s {stack << 10}; exec \"$@\"", "sh"] + argv
    return subprocess.run(argv, env=dict(os.environ, **variables), capture_output=True, text=True, timeout=120)


def bad():
    return nd.take(nd.arange(6), nd.array([7]), mode="raise")


def raises(f):
    with pytest.raises(IndexError, match=r"\[take\] index 7"):
        f()


def test_what_was_never_computed_raises_until_it_is_written():
    x = bad()
    for read in (x.asnumpy, x.wait_to_read, x.asnumpy, x.asscalar, lambda: x.copyto(mx.cpu()).asnumpy(), lambda: str(x)):
        raises(read)
    later = x * 2 + 1   # made after the program was told
    raises(later.asnumpy)
    raises(later.asnumpy)
    nd.waitall()        # told already
    x += 1              # changes nothing that there is
    raises(x.asnumpy)
    x[:] = 3
    assert x.asscalar() == 3 and (x * 2).asscalar() == 6
    raises(later.asnumpy)
    y = bad()
    raises(nd.waitall)
    nd.waitall()
    raises(y.asnumpy)


def test_results_written_into_given_arrays():
    out = nd.array([5])
    nd.take(nd.arange(6), nd.array([7]), mode="raise", out=out)
    raises(out.asnumpy)
    raises(out.asnumpy)
    nd.take(nd.arange(6), nd.array([2]), mode="raise", out=out)
    assert out.asscalar() == 2
    rows = nd.ones((3, 1))
    rows[1:2] = bad().reshape((1, 1))   # a part: the rest is what it was
    raises(rows.asnumpy)
    assert rows.asnumpy().sum() == 3
    rows[1:2] = 7
    assert rows.asnumpy().sum() == 9


@pytest.mark.parametrize("bulk", [1, 2, 15, 2**31 - 1])
def test_parts_of_a_plan_behind_a_failure_are_skipped(bulk):
    mx.util.set_env("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", bulk)
    try:
        out = mx.sym.take(mx.sym.exp(mx.sym.Variable("a")), mx.sym.Variable("i"), mode="raise")
        for _ in range(5):
            out = mx.sym.sin(out) + 1
        n = 300000   # too long for the calling thread
        bound = out.bind(mx.cpu(), {"a": nd.ones(n), "i": nd.array([1, 2, n])},
                         args_grad={"a": nd.zeros(n)}, grad_req={"a": "write", "i": "null"})
        for _ in range(2):
            bound.forward(is_train=True)
            bound.backward(nd.ones(3))
            for array in (bound.outputs[0], bound.grad_dict["a"], bound.outputs[0]):
                with pytest.raises(IndexError, match="index 300000"):
                    array.asnumpy()
        bound.arg_dict["i"][:] = nd.array([1, 2, 3])
        bound.forward(is_train=True)
        bound.backward(nd.ones(3))
        assert np.isfinite(bound.outputs[0].asnumpy()).all()
        assert np.count_nonzero(bound.grad_dict["a"].asnumpy()) == 3
    finally:
        mx.util.set_env("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "")


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("kvstore", [None, "local"])
def test_training_goes_on_behind_a_bad_batch(hybrid, kvstore):
    """As in 1.9.1, an update that is skipped leaves weights, states and moving means as they
    were."""
    def train(batches):
        mx.random.seed(1)
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(8), gluon.nn.BatchNorm(), gluon.nn.Dense(2))
        net.initialize(mx.init.Xavier())
        if hybrid:
            net.hybridize(static_alloc=True, static_shape=True)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, kvstore=kvstore,
                                update_on_kvstore=False if kvstore else None)
        table = nd.arange(50).reshape((10, 5)) / 50
        caught = 0
        for rows in batches:
            with autograd.record():
                loss = (net(nd.take(table, nd.array(rows), mode="raise")) ** 2).sum()
            loss.backward()
            trainer.step(3)
            try:
                loss.asnumpy()
            except IndexError:
                caught += 1
        return caught, [p.data().asnumpy() for p in net.collect_params().values()]
    good = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    caught, weights = train([[1, 2, 3], [4, 5, 11], [4, 5, 6], [11, 1, 2], [7, 8, 9]])
    assert caught == 2
    for got, expected in zip(weights, train(good)[1]):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def tell_all():
    """Raises what is unread, until nothing is."""
    while True:
        try:
            return nd.waitall()
        except IndexError:
            pass


def test_random_chains_of_failures_equal_a_plain_account():
    """What each array holds, or that it raises, against an account in NumPy: results, changes in
    place, writes and reads in any order."""
    random = np.random.RandomState(7)
    for _ in range(40):
        arrays = [nd.full((2, 3), k) for k in range(5)]
        held = [np.full((2, 3), k, "f") for k in range(5)]   # None: never computed
        waiting = set()                                       # changed in vain, and the program does not know yet
        for _ in range(50):
            a, b = (int(k) for k in random.randint(5, size=2))
            what = random.randint(5)
            missing = held[b] is None or b in waiting
            if what == 0:
                arrays[a] = nd.zeros((2, 3)) + bad()
                held[a] = None
                waiting.discard(a)
            elif what == 1:
                arrays[a] = arrays[b] * 0.5
                held[a] = None if missing else held[b] * np.float32(0.5)
                waiting.discard(a)
            elif what == 2 and a != b:
                arrays[a] += arrays[b]
                if held[a] is not None and missing:
                    waiting.add(a)
                elif held[a] is not None and a not in waiting:
                    held[a] = held[a] + held[b]
            elif what == 3:
                arrays[a][:] = b
                held[a] = np.full((2, 3), b, "f")
                waiting.discard(a)
            elif what == 4:
                tell_all()
                waiting.clear()
                for array, value in zip(arrays, held):
                    if value is None:
                        raises(array.asnumpy)
                    else:
                        np.testing.assert_array_equal(array.asnumpy(), value)
    tell_all()


@pytest.mark.parametrize("engine", ["ThreadedEnginePerDevice", "NaiveEngine"])
@pytest.mark.parametrize("code, status, told", [
    ("x = bad()", 1, True),
    ("bad(); bad()", 1, True),
    ("x = bad()\nsys.exit(5)", 5, True),
    ("x = bad()\ntry: x.asnumpy()\nexcept IndexError: pass", 0, False),
    ("x = bad()\ntry: nd.waitall()\nexcept IndexError: pass\ny = x + 1", 0, False),
    ("x = bad()\nx[:] = 1", 0, False),
    ("nd.ones(1).asnumpy()\nif os.fork() == 0:\n    x = bad()\n    os._exit(0)\nassert os.wait()[1] == 0", 0, False),
    ("x = bad()\npid = os.fork()\nif pid == 0: sys.exit(0)\nassert os.wait()[1] == 0", 1, True),   # the parent's failure is the parent's
])
def test_unread_failures_are_told_at_exit(engine, code, status, told):
    result = run(code, MXNET_ENGINE_TYPE=engine)
    assert result.returncode == status, result.stderr
    assert ("ended without reading its result: [take] index 7" in result.stderr) == told
    assert result.stderr.count("index 7") == (code.count("bad()") if told else 0)


def test_without_threads_operations_run_on_the_caller():
    code = """
address_space(96 << 20)
b = nd.ones((700, 700))
x, y = nd.dot(b, b), nd.broadcast_add(b, b)
assert x[0, 0].asscalar() == 700 and y[1, 1].asscalar() == 2
try:
    bad().asnumpy()
except IndexError:
    print('done')
nd.waitall()
"""
    for engine in ("ThreadedEnginePerDevice", "ThreadedEngine"):
        result = run(code, stack=1024, MXNET_ENGINE_TYPE=engine, OMP_NUM_THREADS="4", OPENBLAS_NUM_THREADS="1")
        assert result.returncode == 0 and "done" in result.stdout, (result.returncode, result.stderr)
        assert "operations run on the threads that call" in result.stderr, result.stderr


@pytest.mark.unsanitized
def test_convolutions_work_again_after_a_failed_allocation():
    code = """
def conv(channels, filters):
    return nd.Convolution(nd.ones((2, channels, 14, 14)), nd.ones((filters, channels, 3, 3)),
                          kernel=(3, 3), num_filter=filters, no_bias=True)
conv(3, 4).wait_to_read()
failed = 0
for k in range(40):
    address_space(k << 15)
    try:
        conv(8 + k, 24).wait_to_read()
    except Exception:
        failed += 1
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for filters in (24, 40):
        assert conv(8 + k, filters).asnumpy()[0, 0, 5, 5] == 9 * (8 + k)
assert failed > 3, failed
while True:
    try:
        nd.waitall()
        break
    except Exception: pass
"""
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_errors_of_callbacks_come_out():
    def fail(*_):
        raise KeyError("by hand")
    bound = mx.sym.relu(mx.sym.Variable("x")).bind(mx.cpu(), {"x": nd.ones(3)}, {"x": nd.zeros(3)})
    bound.set_monitor_callback(fail)
    for run_it in (lambda: bound.forward(is_train=True), lambda: bound.backward(nd.ones(3))):
        with pytest.raises(KeyError, match="by hand"):
            run_it()
    bound.set_monitor_callback(lambda *_: None)
    assert bound.forward()[0].asnumpy().sum() == 3
    store = mx.kv.create("local")
    store.init(3, nd.ones(2))
    store._set_updater(fail)
    with pytest.raises(KeyError, match="by hand"):
        store.push(3, nd.ones(2))

    class Bad(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, head):
            raise KeyError("by hand")
    x = nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = Bad()(x)
    with pytest.raises(mx.MXNetError, match="by hand"):
        y.backward()
