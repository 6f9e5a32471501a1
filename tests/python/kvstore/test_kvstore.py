"""Key-value stores of one process, through Python."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

pytestmark = [pytest.mark.on_gpu, pytest.mark.sanitized]

TYPES = ["local", "device", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device"]
SHAPE = (4, 5)


def full(value, shape=SHAPE, dtype="float32"):
    return mx.nd.array(np.full(shape, value), dtype=dtype)


def values(array):
    found = np.unique(array.asnumpy())
    assert len(found) == 1, found
    return found[0]


@pytest.fixture(params=TYPES)
def kv(request):
    return mx.kv.create(request.param)


@pytest.mark.parametrize("keys", [[3, 5, 7], ["a", "b", "c"]])
def test_lists_of_keys_and_of_devices(kv, keys):
    kv.init(keys, [full(i) for i in range(3)])
    outs = [[full(-1), full(-1)] for _ in keys]
    kv.pull(keys, out=outs)
    assert [[values(o) for o in pair] for pair in outs] == [[0, 0], [1, 1], [2, 2]]
    kv.push(keys, [[full(i + 1)] * 4 for i in range(3)])
    out = [full(-1) for _ in keys]
    kv.pull(keys, out=out)
    assert [values(o) for o in out] == [4, 8, 12]


def test_pushpull_with_and_without_out(kv):
    kv.init("w", full(1))
    a, b, x, y = full(2), full(3), full(0), full(0)
    kv.pushpull("w", [a, b], out=[x, y])
    assert values(x) == values(y) == 5 and values(a) == 2
    kv.pushpull("w", [a, b])
    assert values(a) == values(b) == 5
    kv.pull("w", out=x)
    assert values(x) == 5


def test_broadcast(kv):
    x, y = full(0), full(0)
    kv.broadcast("w", full(6), out=[x, y])
    assert values(x) == values(y) == 6
    with pytest.raises(ValueError, match="key w was initialised before"):
        kv.broadcast("w", full(1), out=x)


@pytest.mark.parametrize("key", [3, "weight"])
def test_updater(kv, key):
    seen = []

    def update(k, pushed, stored):
        seen.append(k)
        stored += pushed * 2

    kv.init(key, full(1))
    kv._set_updater(update)
    kv.push(key, [full(1)] * 3)
    out = full(0)
    kv.pull(key, out=out)
    assert values(out) == 7 and seen == [key]
    kv.push(key, full(1))
    kv.pull(key, out=out)
    assert values(out) == 9


def test_error_in_an_updater_is_raised(kv):
    kv.init(1, full(1))

    def update(k, pushed, stored):
        raise KeyError("no state")

    kv._set_updater(update)
    with pytest.raises(KeyError, match="no state"):
        kv.push(1, full(1))


def test_updater_may_call_the_store(kv):
    kv.init([1, 2], [full(1), full(2)])
    copy = full(0)
    kv._set_updater(lambda k, pushed, stored: kv.pull(2, out=copy))
    kv.push(1, full(1))
    assert values(copy) == 2


def test_optimizer_on_the_store(kv, tmp_path):
    weight = mx.nd.array(np.arange(20).reshape(SHAPE), dtype="float32")
    kv.init("w", weight)
    kv.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.1, momentum=0.9, wd=0.0))
    out, w, m = full(0), weight.asnumpy().astype("float64"), np.zeros(SHAPE)
    for step in range(4):
        grad = np.full(SHAPE, 0.5 + step)
        kv.push("w", [mx.nd.array(grad, dtype="float32")] * 2)
        m = 0.9 * m - 0.1 * 2 * grad
        w += m
    kv.pull("w", out=out)
    np.testing.assert_allclose(out.asnumpy(), w, rtol=1e-5)
    kv.save_optimizer_states(str(tmp_path / "states"))
    other = mx.kv.create(kv.type)
    other.init("w", out)
    other.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.1, momentum=0.9, wd=0.0))
    other.load_optimizer_states(str(tmp_path / "states"))
    for store in (kv, other):
        store.pushpull("w", full(0), out=out)
        np.testing.assert_allclose(out.asnumpy(), w + 0.9 * m, rtol=1e-5)


def test_work_waits_for_what_it_needs(kv):
    size = (400, 400)
    kv.init(0, mx.nd.zeros(size))
    total = mx.nd.ones(size)
    for _ in range(20):
        total = mx.nd.dot(total, total) / 400      # still in flight when it is pushed
        kv.push(0, [total, total])
        kv.pull(0, out=total)
        total = total / 2
    np.testing.assert_allclose(total.asnumpy(), 1, rtol=1e-4)


def test_errors(kv):
    kv.init(1, full(1))
    with pytest.raises(ValueError, match="key 2 has no value yet"):
        kv.push(2, full(1))
    with pytest.raises(ValueError, match="key 2 has no value yet"):
        kv.pull(2, out=full(1))
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        kv.push(1, full(1, (3,)))
    with pytest.raises(ValueError, match="keys of this store are numbers"):
        kv.init("name", full(1))
    with pytest.raises(TypeError, match="inconsistent types of keys"):
        kv.init([3, "name"], [full(1), full(1)])
    out = full(0)
    kv.pull(1, out=out)
    assert values(out) == 1


def test_wrong_arguments_are_the_errors_of_1x_too(kv):
    kv.init([1, 2], [full(1), full(1)])
    for error in (TypeError, AssertionError):
        for key, value in ((1, np.ones(SHAPE)), (1.5, full(1)), ([3, "name"], [full(1), full(1)]), (1, [full(1), None])):
            with pytest.raises(error, match=r"\[kvstore\]"):
                kv.push(key, value)
    for error in (ValueError, AssertionError):
        with pytest.raises(error, match="2 keys, and one array to go with them"):
            kv.push([1, 2], full(1))
        with pytest.raises(error, match="2 keys, and 1 to go with them"):
            kv.push([1, 2], [full(1)])
    kv.push([], [])
    out = full(0)
    kv.pull(1, out=out)
    assert values(out) == 1


@pytest.mark.skipif("_ctypes" in mx._binding._backend.__name__, reason="about the compiled binding")
@pytest.mark.parametrize("key", [3, "w"])
def test_plain_calls_are_made_by_the_binding(kv, key):
    from mxnet._binding import store_pull, store_push, store_pushpull
    kv.init(key, full(0))
    store, out = kv.handle.value, full(0)
    assert store_push(store, key, full(2), 0) == 0 and store_pull(store, key, out, -1) == 0 and values(out) == 2
    assert store_push(store, [key], ([full(3), full(4)],), 0) == 0 and store_pull(store, (key,), [out], 0) == 0 and values(out) == 7
    assert store_pushpull(store, key, [full(5), full(6)], [out, out], 0) == 0 and values(out) == 11
    assert store_push(store, key, full(1, (3,)), 0) == -1      # the caller raises the library's error
    class Name(str):
        pass
    for odd in (Name("w"), 1.5, None, True, 1 << 40, "\ud800", [key, None], [key, "x", 1]):
        value = [full(1)] * len(odd) if isinstance(odd, list) else full(1)
        assert store_push(store, odd, value, 0) is None and store_pull(store, odd, value, 0) is None
    for odd in (None, np.ones(SHAPE), [full(1), None], ([full(1)], full(1))):
        assert store_push(store, key, odd, 0) is None and store_pushpull(store, key, full(1), odd, 0) is None
    assert store_push(store, [key, key], [full(1)], 0) is None and store_push(store, [key], full(1), 0) is None
    assert store_push(store, key, full(1), 1.5) is None and store_push(store, key, full(1), 1 << 40) is None
    for name, call in (("store_push", store_push), ("store_pushpull", store_pushpull)):
        with pytest.raises(TypeError, match=name):
            call(store)
    kv.pull(key, out=out)
    assert values(out) == 11


def test_row_sparse_pull_from_no_rows(kv):
    kv.init(1, mx.nd.sparse.zeros("row_sparse", SHAPE))
    out = full(1).tostype("row_sparse")
    kv.row_sparse_pull(1, out=out, row_ids=mx.nd.array([1, 0], dtype="int64"))
    assert out.indices.shape == (0,) and values(out) == 0


@pytest.mark.parametrize("ids", [mx.nd.zeros((0,)), mx.nd.zeros((0,), dtype="int64"), mx.nd.zeros((0, 3), dtype="int32")],
                         ids=["float", "int", "matrix"])
@pytest.mark.parametrize("stype", ["row_sparse", "default"])
def test_row_sparse_pull_of_no_rows(kv, stype, ids):
    kv.init(["a", "b"], [full(2).tostype(stype), full(3).tostype(stype)])
    outs = [full(1).tostype("row_sparse"), full(1).tostype("row_sparse")]
    kv.row_sparse_pull(["a", "b"], out=outs, row_ids=[ids, mx.nd.array([3, 3])])
    assert outs[0].indices.shape == (0,) and outs[0].data.shape == (0, 5) and values(outs[0]) == 0
    assert outs[1].indices.asnumpy().tolist() == [3] and values(outs[1].data) == 3


def test_row_sparse_pull_with_lists_of_rows_for_each_key(kv):
    """Old programs hand over a list of ids for each key, one for each device."""
    kv.init(["a", "b"], [full(1).tostype("row_sparse"), full(2).tostype("row_sparse")])
    outs = [[mx.nd.sparse.zeros("row_sparse", SHAPE)], [mx.nd.sparse.zeros("row_sparse", SHAPE) for _ in range(2)]]
    kv.row_sparse_pull(["b", "a"], out=outs, row_ids=[[mx.nd.array([1])], [mx.nd.array([0]), mx.nd.array([3, 2])]])
    assert [[o.indices.asnumpy().tolist() for o in of_key] for of_key in outs] == [[[1]], [[0], [2, 3]]]
    assert [[o.data.asnumpy().max() for o in of_key] for of_key in outs] == [[2], [1, 1]]
    for ids in ([1, 2], np.array([1, 2]), 3, [[mx.nd.array([1]), 2]]):
        with pytest.raises(AssertionError, match="row_ids has a "):
            kv.row_sparse_pull("a", out=outs[0][0], row_ids=ids)



def test_row_sparse_pull_into_another_dtype(kv):
    kv.init(1, full(0.5, dtype="float64").tostype("row_sparse"))
    out = mx.nd.sparse.zeros("row_sparse", SHAPE)
    kv.row_sparse_pull(1, out=out, row_ids=mx.nd.array([2, 0]))
    assert out.dtype == np.float32 and out.indices.asnumpy().tolist() == [0, 2] and values(out.data) == 0.5


@pytest.mark.parametrize("optimizer", [None, mx.optimizer.SGD(learning_rate=0.5, momentum=0.9, wd=0.1, lazy_update=True)],
                         ids=["sums", "sgd"])
def test_a_push_without_rows(kv, optimizer):
    none = mx.nd.sparse.zeros("row_sparse", SHAPE)
    kv.init(1, full(1).tostype("row_sparse"))
    if optimizer:
        kv.set_optimizer(optimizer)
    for pushed in (none, [none, none]):
        kv.push(1, pushed)
    out = full(2)
    kv.pull(1, out=out, ignore_sparse=False)
    assert values(out) == (1 if optimizer else 0)


def test_csr_values_are_kept_and_pulled(kv):
    value = mx.nd.array([[0, 1], [2, 0]]).tostype("csr")
    kv.init([1, 2], [value, full(1)])
    like, dense = mx.nd.sparse.zeros("csr", (2, 2)), mx.nd.zeros((2, 2))
    kv.pull(1, out=[like, dense], ignore_sparse=False)
    assert like.stype == "csr" and like.indices.asnumpy().tolist() == [1, 0]
    assert like.asnumpy().tolist() == dense.asnumpy().tolist() == [[0, 1], [2, 0]]
    whole = mx.nd.sparse.zeros("csr", SHAPE)
    kv.pull(2, out=whole, ignore_sparse=False)
    assert whole.data.shape == (20,) and values(whole) == 1
    for wrong in (value, dense, dense.tostype("row_sparse")):
        with pytest.raises(ValueError, match="push to key 1.*csr.*accepted: default and row_sparse"):
            kv.push(1, wrong)
    with pytest.raises(ValueError, match="push to key 2 got a csr array; accepted: default and row_sparse"):
        kv.push(2, whole)
    with pytest.raises(ValueError, match="row_sparse_pull of key 1, whose value is csr"):
        kv.row_sparse_pull(1, out=mx.nd.sparse.zeros("row_sparse", (2, 2)), row_ids=mx.nd.array([0]))


def test_row_sparse_pull_into_dense_arrays(kv):
    kv.init(1, full(1))
    for error in (ValueError, mx.MXNetError):
        with pytest.raises(error, match="row_sparse_pull into an array of storage type 'default'; accepted: 'row_sparse'"):
            kv.row_sparse_pull(1, out=full(0), row_ids=mx.nd.array([0]))
    out = full(0)
    kv.pull(1, out=out, ignore_sparse=False)
    assert values(out) == 1


@pytest.mark.skipif(mx.runtime.Features().is_enabled("NCCL"), reason="a build with CUDA")
def test_nccl_says_what_is_missing():
    with pytest.raises(ValueError, match="type 'nccl' needs NVIDIA's NCCL: this build has no CUDA; accepted: device"):
        mx.kv.create("nccl")


@pytest.mark.parametrize("name", ["dist_asink", "my_dist"])
def test_types_that_do_not_exist(name):
    with pytest.raises(ValueError, match=rf"{name}.*accepted: dist, dist_sync, "):
        mx.kv.create(name)


@pytest.mark.parametrize("name", ["dist_sync", "DIST_async", "dist_p3"])
def test_distributed_stores_need_a_job(name):
    with pytest.raises(mx.MXNetError, match="this process is not part of a distributed job.*launch.py"):
        mx.kv.create(name)


def test_group_of_one(kv):
    assert (kv.rank, kv.num_workers) == (0, 1)
    kv._barrier()
    kv.barrier()
    kv._send_command_to_servers(0, "nobody listens")


def test_gradient_compression():
    kv = mx.kv.create("device")
    kv.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    kv.init(1, full(0))
    out = full(9)
    sent = []
    for _ in range(6):
        kv.push(1, [full(0.25), full(-0.5)])
        kv.pull(1, out=out)
        sent.append(float(values(out)))
    assert sent == [-0.5, 0.0, -0.5, 0.0, -0.5, 0.0]
    with pytest.raises(ValueError, match="accepted: none, 1bit, 2bit"):
        kv.set_gradient_compression({"type": "3bit"})
    with pytest.raises(ValueError, match="not supported for a store of type local"):
        mx.kv.create("local").set_gradient_compression({"type": "2bit"})


def test_one_bit_compression():
    """The numbers are those of 2.0: 1 above the threshold, else -1; the rest waits."""
    kv = mx.kv.create("device")
    kv.set_gradient_compression({"type": "1bit", "threshold": 0.5})
    kv.init("w", mx.nd.zeros((9,)))
    grad = mx.nd.array([0.3, 0.9, -0.5, -0.2, 0.5, -3, 3, 0, 0.1])
    out = mx.nd.zeros((9,))
    expected = [[-1, 1, -1, -1, -1, -1, 1, -1, -1], [1, 1, -1, 1, 1, -1, 1, 1, 1],
                [1, 1, -1, -1, 1, -1, 1, -1, -1], [-1, 1, 1, -1, 1, -1, 1, 1, 1]]
    for signs in expected:
        kv.push("w", [grad.copyto(grad.ctx) for _ in range(2)])
        kv.pull("w", out=out)
        np.testing.assert_array_equal(out.asnumpy(), 2 * np.array(signs))


THREADS = """
import os, mxnet as mx
kv = mx.kv.create('local')
x = [mx.nd.ones((500000,)) for _ in range(2)]
kv.init(0, x[0])
mx.nd.waitall()
before = len(os.listdir('/proc/self/task'))
kv.push(0, x); kv.pull(0, out=x[0]); assert x[0].asnumpy().sum() == 1e6
print(len(os.listdir('/proc/self/task')) - before)
"""


def _new_threads(**env):
    # one CPU worker, made by the first sum if at all; OpenMP threads are counted beyond it, on
    # cores that count as our own
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="active", MXNET_ENGINE_TYPE="NaiveEngine", **env)
    return int(subprocess.run([sys.executable, "-c", THREADS], env=environment, check=True, capture_output=True, text=True).stdout)


@pytest.mark.several_threads
def test_reduction_threads_and_bound_act():
    assert _new_threads(MXNET_KVSTORE_BIGARRAY_BOUND="1000", MXNET_KVSTORE_REDUCTION_NTHREADS="5") == 4
    assert _new_threads(MXNET_KVSTORE_BIGARRAY_BOUND="1000", MXNET_KVSTORE_REDUCTION_NTHREADS="2") == 1
    assert _new_threads(MXNET_KVSTORE_BIGARRAY_BOUND="500000", MXNET_KVSTORE_REDUCTION_NTHREADS="5") == 0
    assert _new_threads(MXNET_KVSTORE_BIGARRAY_BOUND="499999", MXNET_KVSTORE_REDUCTION_NTHREADS="5") == 4


def test_trainer_with_several_contexts():
    """Gradients of copies are summed and the copies stay equal, with the optimizer on the store and
    without."""
    results = []
    for on_store in (True, False):
        contexts = [mx.cpu(0), mx.cpu(1)]
        net = mx.gluon.nn.Dense(1, use_bias=False, in_units=3)
        net.initialize(mx.init.One(), ctx=contexts)
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd",
                                   {"learning_rate": 0.1, "momentum": 0.5}, kvstore="device",
                                   update_on_kvstore=on_store)
        for step in range(3):
            losses = []
            with mx.autograd.record():
                for i, ctx in enumerate(contexts):
                    losses.append(net(mx.nd.array(np.full((2, 3), 1.0 + i + step), ctx=ctx)).sum())
            mx.autograd.backward(losses)
            trainer.step(4)
        copies = [p.asnumpy() for p in net.weight.list_data()]
        np.testing.assert_array_equal(copies[0], copies[1])
        results.append(copies[0])
    w, m = np.ones(3), np.zeros(3)
    for step in range(3):
        m = 0.5 * m - 0.1 * (2 * (1.0 + step) + 2 * (2.0 + step)) / 4
        w += m
    np.testing.assert_allclose(results[0].ravel(), w, rtol=1e-5)
    np.testing.assert_allclose(results[1].ravel(), w, rtol=1e-5)


@pytest.mark.parametrize("key", [2 ** 31, 2 ** 32, -2 ** 31 - 1, 10 ** 30])
def test_keys_that_no_c_int_holds_are_refused(kv, key):
    """They were cut to 32 bits: 2**32 wrote key 0, and 2**31 met -2**31."""
    out = full(-1)
    kv.init([0, -2 ** 31, 2 ** 31 - 1], [full(1), full(2), full(3)])
    for call in (lambda: kv.init(key, full(5)), lambda: kv.push(key, full(5)), lambda: kv.pull(key, out=out),
                 lambda: kv.pushpull(key, full(5), out=out), lambda: kv.broadcast(key, full(5), out=out),
                 lambda: kv.push([0, key], [full(5), full(5)]), lambda: kv.push(0, full(5), priority=key)):
        with pytest.raises(OverflowError, match=r"kvstore (key|priority)\] .*accepted: -2147483648 to 2147483647"):
            call()
    for own, value in ((0, 1), (-2 ** 31, 2), (2 ** 31 - 1, 3)):
        kv.pull(own, out=out)
        assert values(out) == value


def test_a_store_warns_once_of_a_sparse_key(capfd):
    """As 1.9.1 does: a program that trains would fill its log else."""
    zeros = mx.nd.zeros((4, 2)).tostype("row_sparse")
    for _ in range(2):
        store = mx.kv.create()
        for key in ("a", "b"):
            store.init(key, zeros)
        for _ in range(3):
            store.pull("a", out=zeros)
            store.pull(["a", "b"], out=[zeros, zeros.copy()])
        assert capfd.readouterr().err.count("pull of 1 row_sparse arrays") == 2
