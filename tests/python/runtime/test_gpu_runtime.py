"""The runtime on a GPU: CUDA graphs, memory shared with other libraries. What needs no device is in
tests/cpp/gpu/gpu_graphs_test.cc and gpu_exchange_test.cc."""
import glob
import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

pytestmark = [pytest.mark.gpu, pytest.mark.gpu_quick]

on_gpu = pytest.mark.skipif(mx.num_gpus() == 0, reason="needs a GPU")

NETWORK = """
import sys
import numpy as np
import mxnet as mx
from mxnet import autograd, gluon
ctx = mx.gpu(0)
mx.random.seed(1)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(32, activation="tanh"), gluon.nn.Dense(4))
net.initialize(mx.init.Constant(0.02), ctx=ctx)
net.hybridize(static_alloc=True, static_shape=True)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
"""
TRAIN = NETWORK + """
loss = gluon.loss.L2Loss()
x = mx.nd.array(np.linspace(-1, 1, 8 * 16).reshape(8, 16), ctx=ctx)
y = mx.nd.ones((8, 4), ctx=ctx)
for step in range(30):
    with autograd.record():
        error = loss(net(x), y)
    error.backward()
    trainer.step(8)
np.save(sys.argv[1], net(x).asnumpy())
"""


def train(folder, name, program=TRAIN, **env):
    result = subprocess.run([sys.executable, "-c", program, os.path.join(folder, name)],
                            env=dict(os.environ, **env), capture_output=True, text=True,
                            timeout=300)
    assert result.returncode == 0, result.stderr
    return np.load(os.path.join(folder, name + ".npy")), result.stderr


@on_gpu
def test_cuda_graphs_compute_the_same(tmp_path):
    plain, silent = train(tmp_path, "plain")
    prefix = str(tmp_path / "net")
    captured, log = train(tmp_path, "captured", MXNET_ENABLE_CUDA_GRAPHS="1",
                          MXNET_CUDA_GRAPHS_VERBOSE="1", MXNET_CUDA_GRAPHS_DBG_FILE=prefix)
    np.testing.assert_allclose(captured, plain, rtol=1e-5, atol=1e-6)
    assert "[cuda graphs]" not in silent
    assert "captured from" in log and "replayed" in log
    files = glob.glob(prefix + "-dev0-trn.*.dot")
    assert files and all(open(f).read().lstrip().startswith("digraph") for f in files)


class ToBoth(mx.autograd.Function):
    """Doubles on another device, trebles on its own."""

    def __init__(self, there):
        super().__init__()
        self.there = there

    def forward(self, x):
        self.here = x.context
        return x.as_in_context(self.there) * 2, x * 3

    def backward(self, doubled, trebled):
        assert doubled.context == self.there and trebled.context == self.here
        return doubled.as_in_context(self.here) * 2 + trebled * 3


@on_gpu
@pytest.mark.parametrize("here, there", [(mx.cpu(), mx.gpu(0)), (mx.gpu(0), mx.cpu())]
                         + [(mx.gpu(0), mx.gpu(1))] * (mx.num_gpus() > 1), ids=str)
def test_gradients_go_from_device_to_device(here, there):
    x = mx.nd.array([1, 2, 3], ctx=here)
    x.attach_grad()
    with mx.autograd.record():
        y = (x * 2).as_in_context(there)
        z = (y * y).as_in_context(here) + x
    z.backward()
    assert x.grad.context == here and x.grad.asnumpy().tolist() == [9, 17, 25]
    with mx.autograd.record():
        y = (x * 2).as_in_context(there)
        g = mx.autograd.grad((y * y).sum(), x, create_graph=True)[0]
        squares = (g * g).sum()
    squares.backward()
    assert x.grad.asnumpy().tolist() == [128, 256, 384]      # of (8 x)^2
    with mx.autograd.record():
        doubled, trebled = ToBoth(there)(x)
        heads = [doubled * doubled, trebled * 1]
    mx.autograd.backward(heads)
    assert x.grad.asnumpy().tolist() == [11, 19, 27]
    with pytest.raises(ValueError, match="must be on one device"):
        x + doubled


def array_of_a_child(connection):
    try:
        mx.nd.ones((3,), ctx=mx.gpu(0)).wait_to_read()
        connection.send("made")
    except mx.MXNetError as error:
        connection.send(str(error))


@on_gpu
def test_forked_processes_are_told_that_they_have_no_gpu():
    mx.nd.ones((3,), ctx=mx.gpu(0)).wait_to_read()
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=array_of_a_child, args=(there,))
    child.start()
    assert here.poll(60)
    said = here.recv()
    child.join()
    assert "gpu(0) cannot be used" in said and "'spawn'" in said, said


FRESH = NETWORK + """
kept, results = [], []
for step in range(40):
    x = mx.nd.array(np.linspace(-1, 1 + step, 8 * 16).reshape(8, 16) / (1 + step), ctx=ctx)
    with autograd.record():
        y = net(x)
        error = (y * y).mean()
    error.backward()
    trainer.step(8)
    kept += [x, y]      # so that no address comes twice
    results.append(y)
np.save(sys.argv[1], np.stack([r.asnumpy() for r in results]))
"""


@on_gpu
def test_cuda_graphs_are_replayed_for_new_arrays(tmp_path):
    plain, _ = train(tmp_path, "plain", FRESH)
    captured, log = train(tmp_path, "captured", FRESH, MXNET_ENABLE_CUDA_GRAPHS="1",
                          MXNET_CUDA_GRAPHS_VERBOSE="1", MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES="0")
    np.testing.assert_allclose(captured, plain, rtol=1e-5, atol=1e-6)
    assert log.count("replayed") >= 40, log   # forward and backward, after some steps in which addresses are seen to change


@on_gpu
def test_cuda_array_interface():
    a = mx.nd.arange(6, ctx=mx.gpu(0)).reshape((2, 3))
    interface = a.__cuda_array_interface__
    assert interface["shape"] == (2, 3) and interface["typestr"] == "<f4" and interface["data"][0] and interface["strides"] is None
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        t = torch.as_tensor(a, device="cuda")
        t += 1
        torch.cuda.synchronize()
        np.testing.assert_array_equal(a.asnumpy(), np.arange(1, 7).reshape(2, 3))
        np.testing.assert_array_equal(mx.nd.from_dlpack(t * 2).asnumpy(), 2 * np.arange(1, 7).reshape(2, 3))


@on_gpu
def test_copies_of_all_sizes():
    # direct ones, and those through one, some or all chunks of a ring of pinned memory, several
    # under way at a time
    sizes = [1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 4 << 20, (4 << 20) + 3, (16 << 20) + 5, (37 << 20) + 7]
    sources = [np.random.RandomState(i).randint(0, 256, n).astype("uint8") for i, n in enumerate(sizes)]
    for host in (mx.cpu(), mx.cpu_pinned()):
        arrays = [mx.nd.array(s, ctx=host, dtype="uint8").as_in_context(mx.gpu(0)) for s in sources]
        back = [a.as_in_context(host) for a in arrays]
        for source, array, copied in zip(sources, arrays, back):
            np.testing.assert_array_equal(copied.asnumpy(), source)
            np.testing.assert_array_equal(array.asnumpy(), source)


@on_gpu
def test_dlpack_between_streams():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch without CUDA")
    side = torch.cuda.Stream()
    for stream in (torch.cuda.current_stream(), side):
        a = mx.nd.ones((1 << 24,), ctx=mx.gpu(0))
        for step in range(20):
            a = a * 1.0 + 1.0   # under way when it is exported
            with torch.cuda.stream(stream):
                t = torch.from_dlpack(a) * 2
                stream.synchronize()   # what we free is in order with the default stream alone
            assert float(t.min()) == float(t.max()) == 2 * (step + 2)
    t = torch.ones(1 << 24, device="cuda")
    for step in range(20):
        t = t * 1.0 + 1.0
        assert float((mx.nd.from_dlpack(t) * 2).max().asscalar()) == 2 * (step + 2)
    assert np.from_dlpack(a, device="cpu").min() == 21


def test_arrays_of_the_host_have_no_cuda_array_interface():
    assert not hasattr(mx.nd.ones((2,)), "__cuda_array_interface__")


class Producer:
    """Tells which stream it was asked for."""

    def __init__(self, kind):
        self.array, self.kind, self.asked = mx.nd.ones((2,)), kind, []

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, **options):
        self.asked.append(options)
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind, asked", [(1, {"max_version": (1, 0)}),
                                         (2, {"max_version": (1, 0), "stream": 1}),
                                         (3, {"max_version": (1, 0)})])
def test_from_dlpack_asks_for_the_default_stream(kind, asked):
    producer = Producer(kind)
    assert mx.nd.from_dlpack(producer).asnumpy().tolist() == [1, 1]
    assert producer.asked == [asked]


@on_gpu
def test_the_same_call_on_both_devices():
    # what an eager call on the CPU leaves for the next one (shapes, kernels) is not for a GPU
    for _ in range(30):
        for ctx in (mx.cpu(), mx.gpu(0)):
            a = mx.nd.full((3, 4), 2.0, ctx=ctx)
            got = (a * -3).astype("float64")
            assert got.context == ctx
            np.testing.assert_array_equal(got.asnumpy(), np.full((3, 4), -6.0))


@on_gpu
def test_copies_with_conversion():
    source = np.linspace(-3, 3, 35).astype("float32").reshape(5, 7)
    a, narrow, whole = (mx.nd.array(source, ctx=mx.gpu(0)),
                        mx.nd.zeros((5, 7), ctx=mx.gpu(0), dtype="float16"),
                        mx.nd.zeros((5, 7), ctx=mx.gpu(0), dtype="int32"))
    a.copyto(narrow)
    np.testing.assert_array_equal(narrow.asnumpy(), source.astype("float16"))
    whole[:] = a
    np.testing.assert_array_equal(whole.asnumpy(), source.astype("int32"))
    with pytest.raises(TypeError, match="cast first"):
        a.copyto(mx.nd.zeros((5, 7), dtype="int32"))


@on_gpu
def test_a_caller_who_runs_ahead_holds_little_memory():
    a, b = mx.nd.ones((512, 512), ctx=mx.gpu(0)), mx.nd.ones((512, 512), ctx=mx.gpu(0))
    (a + b).wait_to_read()
    mx.storage.reset_peak(mx.gpu(0))
    before = mx.storage.stats(mx.gpu(0)).peak_bytes
    for _ in range(2000):
        a = a + b
    assert a[0, 0].asscalar() == 2001
    assert mx.storage.stats(mx.gpu(0)).peak_bytes - before <= 64 << 20   # 2,000 results are 2,000 MiB


@on_gpu
def test_gradients_through_a_hybridized_block():
    net = mx.gluon.nn.Dense(3, use_bias=False)
    net.initialize(mx.init.One(), ctx=mx.gpu(0))
    net.hybridize()
    x = mx.nd.array([[1.0, 2.0]], ctx=mx.gpu(0))
    for _ in range(3):
        with mx.autograd.record():
            y = net(x).sum()
        y.backward()
        np.testing.assert_array_equal(net.weight.grad(mx.gpu(0)).asnumpy(), np.tile([1.0, 2.0], (3, 1)))


@on_gpu
@pytest.mark.parametrize("streams", ["1", "2"])
def test_explain_tells_times_of_the_device(streams):
    program = """
import mxnet as mx
from mxnet import autograd
from mxnet.gluon import nn
ctx = mx.gpu(0)
net = nn.HybridSequential()
net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.Dropout(0.5), nn.Dense(10))
net.initialize(mx.init.Xavier(), ctx=ctx)
net.hybridize(static_alloc=True, static_shape=True)
x = mx.nd.ones((2, 3, 16, 16), ctx=ctx)
inference = net.explain(x, runs=3)
with autograd.record():
    net(x)
mean = net[1].running_mean.data().asnumpy()
training = net.explain(runs=2)
for e, runs in ((inference, 3), (training, 2)):
    assert e.plan["clock"] == "device" and "by the device's clock" in str(e)
    assert all(len(n["nanoseconds"]) == runs for n in e.plan["nodes"])
    times = [(n["op"], n["nanoseconds"]) for n in e.plan["nodes"]]
    assert all((min(n["nanoseconds"]) > 0) != n["constant"] for n in e.plan["nodes"]), times
assert any(n["constant"] for n in inference.plan["nodes"]) and training.plan["backward"]
assert (net[1].running_mean.data().asnumpy() == mean).all()
"""
    result = subprocess.run([sys.executable, "-c", program],
                            env=dict(os.environ, MXNET_GPU_WORKER_NSTREAMS=streams,
                                     MXNET_ENABLE_CUDA_GRAPHS="1"), capture_output=True,
                            text=True, timeout=300)
    assert result.returncode == 0, result.stderr


@on_gpu
@pytest.mark.parametrize("graphs", ["0", "1"])
def test_profiler_tells_times_of_the_device(tmp_path, graphs):
    program = NETWORK + """
import collections, json
x = mx.nd.ones((8, 16), ctx=ctx)
def step():
    with autograd.record():
        out = net(x)
    out.backward()
for _ in range(4):
    step()
mx.nd.waitall()
mx.profiler.set_config(filename=sys.argv[1], profile_symbolic=True, profile_imperative=True, profile_memory=False,
                       profile_api=False, continuous_dump=False)
mx.profiler.set_state("run")
for _ in range(3):
    step()
(x + 1).copyto(mx.cpu())
mx.nd.waitall()
mx.profiler.set_state("stop")
mx.profiler.dump()
trace = json.load(open(sys.argv[1]))["traceEvents"]
rows = {e["tid"] for e in trace if e["name"] == "thread_name" and e["args"]["name"].startswith("gpu/0 ")}
count = collections.Counter()
for row in rows:
    events = sorted((e for e in trace if e["ph"] == "X" and e["tid"] == row), key=lambda e: (e["ts"], -e["dur"]))
    inside = 0      # spans of a stream lie in each other or behind each other
    for e in events:
        count[e["name"]] += 1
        end = e["ts"] + e["dur"]
        if e["cat"] == "bulk":
            inside = end
        elif "node" in e.get("args", {}):
            assert end <= inside + 1e-2, (e, inside)
assert count["forward"] == count["backward"] == 3 and count["FullyConnected"] == 6 and count["_backward_FullyConnected"] == 6, count
assert count["_plus_scalar"] == 1 and count["_copyto"] + count["copyto"] == 1, count
step()
mx.nd.waitall()
"""
    result = subprocess.run([sys.executable, "-c", program, str(tmp_path / "trace.json")],
                            env=dict(os.environ, MXNET_ENABLE_CUDA_GRAPHS=graphs),
                            capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


@on_gpu
def test_memory_of_a_cuda_array_is_free_when_its_consumer_has_passed():
    # a consumer on the legacy default stream, which is late; our own streams do not wait for it by
    # themselves
    program = """
import ctypes
import mxnet as mx
try:
    cuda = ctypes.CDLL(None)
    cuda.cudaMemcpyAsync
except AttributeError:      # nobody has made it known to all
    cuda = mx.base._LIB
ctx, n = mx.gpu(0), 1 << 18
def address(a):
    interface = a.__cuda_array_interface__
    assert interface["stream"] is None      # complete, for consumers that do not look there too
    return ctypes.c_void_p(interface["data"][0])
def copy(to, source):
    assert cuda.cudaMemcpyAsync(to, source, ctypes.c_size_t(4 * n), ctypes.c_int(3), None) == 0
busy = [mx.nd.zeros((n,), ctx=ctx) for _ in range(2)]
result = mx.nd.zeros((n,), ctx=ctx)
places, to = [address(b) for b in busy], address(result)
for step in range(10):
    a = mx.nd.full((n,), step + 1, ctx=ctx)
    source = address(a)
    for _ in range(20):
        copy(places[1], places[0])
    copy(to, source)
    del a
    other = mx.nd.full((n,), 100, ctx=ctx)      # the memory of `a`
    other.wait_to_read()
    assert cuda.cudaDeviceSynchronize() == 0
    assert float(result.min().asscalar()) == float(result.max().asscalar()) == step + 1, (step, result)
    for _ in range(3):
        address(result)
"""
    result = subprocess.run([sys.executable, "-c", program],
                            env=dict(os.environ, HOST_GPU_LATE="2000"), capture_output=True,
                            text=True, timeout=300)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif("libhost_gpu.so" not in os.environ.get("LD_PRELOAD", ""), reason="counts the calls of the GPU made of the host")
@pytest.mark.parametrize("operator,most", [("dot(x, x)", {"cublasLtMatmul": 1}),
                                           ("FullyConnected(x, x, b, num_hidden=64)",
                                            {"cublasLtMatmul": 1}),
                                           ("batch_dot(x3, x3)", {"cublasLtMatmul": 1}),
                                           ("Convolution(x4, w, kernel=(3, 3), num_filter=8, "
                                            "no_bias=True)",
                                            {"cudnnBackendExecute": 1, "cudnnSetStream": 1})])
def test_calls_of_libraries_for_an_operator(operator, most):
    def calls(times):
        program = f"""
import mxnet as mx
nd = mx.nd
with mx.gpu(0):
    x, b, x3, x4, w = (nd.ones(shape) for shape in ((64, 64), (64,), (3, 64, 64), (2, 8, 16, 16), (8, 8, 3, 3)))
    for _ in range({times}):
        nd.{operator}.wait_to_read()
"""
        result = subprocess.run([sys.executable, "-c", program],
                                env=dict(os.environ, HOST_GPU_COUNT="1", HOST_GPU_MODE="null",
                                         MXNET_GPU_WORKER_NTHREADS="1"), capture_output=True,
                                text=True, timeout=300)
        assert result.returncode == 0, result.stderr
        counts = (line.split() for line in result.stderr.splitlines()
                  if line.startswith("[host_gpu] cublas") or line.startswith("[host_gpu] cudnn"))
        return {name.rstrip(":"): int(count) for _, name, count, _ in counts}

    few, many = calls(10), calls(60)
    assert {name: (many[name] - few.get(name, 0)) / 50 for name in many if many[name] != few.get(name, 0)} == most


@on_gpu
def test_empty_cache_of_pinned_memory():
    program = """
import mxnet as mx
a = mx.nd.ones((1 << 21,), ctx=mx.gpu(0))
assert float(a.as_in_context(mx.cpu()).min().asscalar()) == 1
mx.nd.ones((1 << 21,)).as_in_context(mx.gpu(0)).wait_to_read()
pinned = mx.cpu_pinned()
assert mx.storage.stats(pinned).used_bytes > 0      # what copies go through
pinned.empty_cache()
stats = mx.storage.stats(pinned)
assert stats.used_bytes == stats.cached_bytes == 0, stats
assert float(a.as_in_context(mx.cpu()).max().asscalar()) == 1
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif("libhost_gpu.so" not in os.environ.get("LD_PRELOAD", ""), reason="kernels fail on the GPU made of the host")
@pytest.mark.parametrize("engine", ["ThreadedEnginePerDevice", "NaiveEngine"])
def test_a_fault_of_a_kernel_is_told(engine):
    program = """
import mxnet as mx
ctx = mx.gpu(0)
a = mx.nd.ones((4,), ctx=ctx)
b = a + 1
b.wait_to_read()
def fails(work, *parts):
    try:
        result = work()
    except mx.MXNetError as e:
        assert not isinstance(e, MemoryError) and all(part in str(e) for part in parts), e
    else:
        raise AssertionError(result)
fails(lambda: (a * 3).wait_to_read(), "an illegal memory access was encountered", "cannot use the GPU any more", "_mul_scalar")
illegal = "an illegal memory access"
fails(lambda: a.asnumpy(), illegal)      # never numbers that nobody computed
fails(lambda: (b + 1).asnumpy(), illegal)
fails(lambda: mx.nd.ones((1 << 22,), ctx=ctx).asnumpy(), illegal)
fails(lambda: mx.nd.ones((4,)).as_in_context(ctx).asnumpy(), illegal)
fails(lambda: mx.context.gpu_memory_info(0), illegal)
assert (mx.nd.ones((2,)) * 2).asnumpy().tolist() == [2, 2]
"""
    result = subprocess.run([sys.executable, "-c", program],
                            env=dict(os.environ, HOST_GPU_FAULT="row_mul",
                                     MXNET_ENGINE_TYPE=engine), capture_output=True, text=True,
                            timeout=300)
    assert result.returncode == 0, result.stderr
