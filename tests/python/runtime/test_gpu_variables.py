"""Variables of the environment that act on a GPU: the same program in fresh processes on gpu(0),
with and without each of them.

What the programs look at is right for a real GPU and for tests/host_gpu: names of threads, bytes
of pools, numbers, lines of logs, drawings of CUDA graphs. Where nothing comes out of the process, a
function of CUDA is watched in its place (``watch`` of the prelude).

With GPU_CHECK_VARIABLES=FILE each test adds a line to the file: the variable, and what was seen
without and with it.
"""
import collections
import json
import math
import os
import platform
import re
from pathlib import Path

import pytest

import mxnet as mx
from env_effects import PRELUDE, process

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(mx.num_gpus() == 0, reason="needs a GPU")]
watches = pytest.mark.skipif(platform.machine() != "x86_64", reason="functions of CUDA are watched by x86-64 code")

ON_HOST = "libhost_gpu" in os.environ.get("LD_PRELOAD", "")     # not a real GPU

# Rows of env_vars.csv about GPUs that have no test here.
NOT_HERE = {
    "MXNET_ENABLE_GPU_P2P": "forbids copies from GPU to GPU; with one GPU there are none",
    "MXNET_GPU_CUDNN_DROPOUT_STATE_COPY": "not read: masks of dropout come from our own generator",
}

ON_GPU = PRELUDE + """
import sys, threading, time
import numpy as np
gpu = mx.gpu(0)
LIBC, KEPT = ctypes.CDLL(None), []
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

def place(name):   # of a function of CUDA, in the library that libmxnet.so calls
    for library in (None, "libcudart.so.13", "libcudnn.so.9", "libcublasLt.so.13"):
        try:
            return ctypes.cast(getattr(ctypes.CDLL(library), name), ctypes.c_void_p).value
        except (AttributeError, OSError):
            pass
    raise LookupError(name)

def overwrite(at, code):
    first, end = at & -4096, (at + len(code) + 4095) & -4096
    assert LIBC.mprotect(first, end - first, 7) == 0
    ctypes.memmove(at, code, len(code))

def watch(name, arguments, see):   # see(call, *arguments) in the function's place; call() is the function itself
    at, kind = place(name), ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * arguments)
    own, lock = ctypes.string_at(at, 12), threading.RLock()
    def instead(*given):
        def call():
            with lock:
                overwrite(at, own)
                result = kind(at)(*given)
                overwrite(at, jump)
            return result
        return see(call, *given)
    KEPT.append(kind(instead))
    jump = b"\\x48\\xb8" + ctypes.cast(KEPT[-1], ctypes.c_void_p).value.to_bytes(8, "little") + b"\\xff\\xe0"
    overwrite(at, jump)

def end(**what):   # without the libraries' own ends, which what was overwritten might disturb
    tell(**what)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
"""


def run(program, **variables):
    """What `program`, behind the prelude, tells, and its standard error."""
    if "MXNET_HOME" in os.environ:      # kernels that were compiled are there
        variables.setdefault("MXNET_HOME", os.environ["MXNET_HOME"])
    done = process(ON_GPU + program, **variables)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def note(name, without, with_):
    """Writes down what a test saw. It fails where the variable changed nothing."""
    assert without != with_, f"{name} did nothing: {without}"
    path = os.environ.get("GPU_CHECK_VARIABLES")
    if path:
        line = " ".join(f"{name}: {without} -> {with_}".split())
        with open(path, "a") as out:
            out.write(line + "\n")


def test_every_variable_of_gpus_is_here():
    """Those whose names say so; others act on a CPU too."""
    code = "import runpy, sys; sys.argv[1:] = ['--json']; runpy.run_module('mxnet.env', run_name='__main__')"
    names = {row["name"] for row in json.loads(process(code).stdout)
             if re.search("GPU|CUDA|CUDNN|RTC|FP16", row["name"])}
    text = "".join(p.read_text() for p in Path(__file__).parent.glob("test_gpu_variables*.py"))
    tested = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", text)) - set(NOT_HERE)
    engines = {f"MXNET_CUDNN_DISABLED_CONV_{which}_ENGINES" for which in ("FWD", "DGRAD", "WGRAD")}     # put together there
    assert len(names) > 25 and sorted(names - tested - engines) == sorted(NOT_HERE)


# ---- threads and streams

WORKERS = """
a = mx.nd.ones((64, 64), ctx=gpu)
b = mx.nd.array(np.ones((300, 300)), ctx=gpu)
b.asnumpy(), (a + 1).wait_to_read()
tell(compute=named("mx-gpu\\n"), copy=named("mx-gpu-copy\\n"))
"""


@pytest.mark.parametrize("name, kind", [("MXNET_GPU_WORKER_NTHREADS", "compute"), ("MXNET_GPU_COPY_NTHREADS", "copy")])
def test_threads(name, kind):
    """The stand-in's threads of streams have the names of the workers that made them."""
    few, many = (run(WORKERS, **{name: count})[0] for count in ("1", "9"))
    assert 1 <= few[kind] < 9 <= many[kind]
    other = "copy" if kind == "compute" else "compute"
    assert few[other] < 9 and many[other] < 9
    note(name, f"1: {few[kind]} threads", f"9: {many[kind]} threads")


GRAPHS = """
x = mx.sym.Variable("x")
y = mx.sym.FullyConnected(mx.sym.tanh(mx.sym.FullyConnected(x, num_hidden=32, name="a")), num_hidden=8, name="b")
e = y.simple_bind(gpu, x=(8, 16))
head = mx.nd.ones((8, 8), ctx=gpu)
for array in e.arg_arrays:
    array[:] = 0.01
for step in range(6):
    e.forward(is_train=True)
    e.backward(head)
mx.nd.waitall()
"""


def drawings(folder):
    return {p.name: p.read_text() for p in folder.glob("net*.dot")}


def forks(text):
    """Nodes of a drawing before or behind which there are several."""
    edges = re.findall(r'^\s*"?(\w+)"? -> "?(\w+)"?', text, re.M)
    assert edges, text
    ends = collections.Counter((side, edge[side]) for edge in edges for side in (0, 1))
    return sum(count > 1 for count in ends.values())


def test_streams(tmp_path):
    """Gradients of data and of weights, one behind the other or side by side, as CUDA's own
    drawing of a captured backward pass has them."""
    counts = []
    for streams in "12":
        folder = tmp_path / streams
        folder.mkdir()
        run(GRAPHS + "tell()", MXNET_ENABLE_CUDA_GRAPHS="1", MXNET_GPU_WORKER_NSTREAMS=streams,
            MXNET_CUDA_GRAPHS_DBG_FILE=str(folder / "net"))
        drawn = drawings(folder)
        assert len(drawn) == 2, drawn
        counts.append(sum(forks(text) for text in drawn.values()))
    assert counts[0] == 0 < counts[1]
    note("MXNET_GPU_WORKER_NSTREAMS", *(f"{s}: {c} forks and joins in the graph of training" for s, c in zip("12", counts)))


# ---- memory

POOL = """
ctx = mx.Context("%s")
kept = []
for size in (%s):
    before = mx.storage.stats(ctx).used_bytes
    kept.append(mx.nd.empty((size,), ctx=ctx, dtype="uint8"))
    kept[-1][:] = 1
    mx.nd.waitall()
    kept[-1] = [kept[-1], mx.storage.stats(ctx).used_bytes - before]
used = [bytes for _, bytes in kept]
kept.clear()
mx.nd.waitall()
again = mx.nd.empty((200000,), ctx=ctx, dtype="uint8")
again[:] = 1
mx.nd.waitall()
now = mx.storage.stats(ctx)
tell(pool=mx.storage.pool_name(ctx), used=used, keeps=now.cached_bytes > 0, released=now.releases > 0)
"""
NAIVE = dict(pool="Naive", used=[12288, 4194304], keeps=True, released=False)
ROUND = dict(NAIVE, pool="Round", used=[16384, 4194304])
POOLS = [
    ("gpu", "MXNET_GPU_MEM_POOL_TYPE", "Round", {}, NAIVE, dict(pool="Round", used=[16384, 4194304])),
    ("gpu", "MXNET_GPU_MEM_POOL_TYPE", "Unpooled", {}, NAIVE, dict(pool="Unpooled", used=[9000, 3000000], keeps=False)),
    ("gpu", "MXNET_USE_NAIVE_STORAGE_MANAGERS", "1", {}, NAIVE, dict(pool="Unpooled", used=[9000, 3000000], keeps=False)),
    ("gpu", "MXNET_GPU_MEM_POOL_RESERVE", "100", {}, NAIVE, dict(keeps=False, released=True)),
    ("gpu", "MXNET_GPU_MEM_POOL_PAGE_SIZE", "65536", {}, NAIVE, dict(used=[65536, 4194304])),
    ("gpu", "MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE", "1048576", {}, NAIVE, dict(used=[12288, 3145728])),
    ("gpu", "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "12", dict(MXNET_GPU_MEM_POOL_TYPE="Round"), ROUND, dict(used=[12288, 3002368])),
    ("cpu_pinned", "MXNET_CPU_PINNED_MEM_POOL_TYPE", "Unpooled", {}, NAIVE, dict(pool="Unpooled", used=[9000, 3000000], keeps=False)),
    ("cpu_pinned", "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE", "65536", {}, NAIVE, dict(used=[65536, 4194304])),
]


@pytest.mark.parametrize("device, name, value, common, plain, changes", POOLS, ids=[f"{p[1]}={p[2]}" for p in POOLS])
def test_pools(device, name, value, common, plain, changes):
    """What arrays of 9,000 and 3,000,000 bytes take, and whether freed memory stays."""
    program = POOL % (device, "9000, 3000000")
    without, with_ = run(program, **common)[0], run(program, **common, **{name: value})[0]
    assert without == plain
    assert with_ == {**plain, **changes}
    note(f"{name}={value}", *(", ".join(f"{key} {seen[key]}" for key in changes) for seen in (without, with_)))


# ---- resources

TURNS = """
now, most, lock = [0], [0], threading.Lock()
def launch(call):   # of a kernel: takes its time, and fails
    with lock:
        now[0] += 1
        most[0] = max(most[0], now[0])
    time.sleep(0.3)
    with lock:
        now[0] -= 1
    return 1        # cudaErrorInvalidValue

def array():
    return mx.nd.ones((8,), ctx=gpu)

inputs = [(mx.nd.ones((4, 8, 5, 5), ctx=gpu), array(), array(), array(), array()) for _ in range(6)]
mx.nd.waitall()
watch("cudaLaunchKernel", 0, launch)
failed = 0
with mx.autograd.record():
    outputs = [mx.nd.BatchNorm(*arrays) for arrays in inputs]      # workspace first, then kernels
for y in outputs:
    try:
        y.wait_to_read()
    except mx.MXNetError as error:
        failed += "launching batch_norm" in str(error)
end(most=most[0], failed=failed)
"""


@watches
def test_workspaces():
    """How many operators with workspace memory launch kernels at once."""
    default, one, three = (run(TURNS, MXNET_GPU_WORKER_NTHREADS="4", **variables)[0] for variables in
                           ({}, {"MXNET_GPU_TEMP_COPY": "1"}, {"MXNET_GPU_TEMP_COPY": "3"}))
    assert default["failed"] == one["failed"] == three["failed"] == 6
    assert default["most"] == one["most"] == 1 < three["most"] <= 3
    note("MXNET_GPU_TEMP_COPY", f"1: {one['most']} at once", f"3: {three['most']} at once")


def test_random_sequences():
    """Calls take the generators in turn, so the second one draws other numbers where there is one
    generator alone."""
    program = """
mx.random.seed(3)
tell(draws=[mx.nd.random.uniform(shape=(2,), ctx=gpu).asnumpy().tolist() for _ in range(3)])
"""
    four, one, two = (run(program, **variables)[0]["draws"] for variables in
                      ({}, {"MXNET_GPU_PARALLEL_RAND_COPY": "1"}, {"MXNET_GPU_PARALLEL_RAND_COPY": "2"}))
    assert four[0] == one[0] == two[0] and four[1] == two[1] != one[1] and four[2] != two[2]
    note("MXNET_GPU_PARALLEL_RAND_COPY", f"4: second draw {four[1]}", f"1: {one[1]}")


# ---- CUDA graphs

def reports(error):
    return [line for line in error.splitlines() if line.startswith("[cuda graphs]")]


def test_graphs():
    program = GRAPHS + "tell(grad=e.grad_dict['b_weight'].asnumpy().ravel().tolist())"
    verbose = dict(MXNET_CUDA_GRAPHS_VERBOSE="1")
    (plain, without), (replayed, with_) = run(program, **verbose), run(program, **verbose, MXNET_ENABLE_CUDA_GRAPHS="1")
    assert plain["grad"] == pytest.approx(replayed["grad"], rel=1e-5) and plain["grad"][0] > 0 and reports(without) == []
    captured, again = (sum(word in line for line in reports(with_)) for word in ("captured from", "replayed"))
    assert captured == 2 and again >= 4, with_
    note("MXNET_ENABLE_CUDA_GRAPHS", "no graph", f"{captured} graphs captured, {again} replays, the same results")


def test_reports_of_graphs():
    program = GRAPHS + "tell()"
    silent, loud, few = (len(reports(run(program, MXNET_ENABLE_CUDA_GRAPHS="1", **variables)[1])) for variables in
                         ({}, dict(MXNET_CUDA_GRAPHS_VERBOSE="1"),
                          dict(MXNET_CUDA_GRAPHS_VERBOSE="1", MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES="3")))
    assert silent == 0 and few == 3 < loud
    note("MXNET_CUDA_GRAPHS_VERBOSE", f"{silent} reports", f"{loud} reports")
    note("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", f"0: {loud} reports", f"3: {few} reports")


@watches
def test_drawings_of_graphs(tmp_path):
    program = """
flags = []
def see(call, graph, path, bits):
    flags.append((bits or 0) & 0xffffffff)
    return call()
watch("cudaGraphDebugDotPrint", 3, see)
""" + GRAPHS + "end(flags=flags)"
    seen = []
    for number, variables in enumerate(({}, dict(MXNET_CUDA_GRAPHS_DBG_FILE="{}/net"),
                                        dict(MXNET_CUDA_GRAPHS_DBG_FILE="{}/net", MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS="4"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        told, _ = run(program, MXNET_ENABLE_CUDA_GRAPHS="1", **{k: v.format(folder) for k, v in variables.items()})
        seen.append((told["flags"], drawings(folder)))
    (_, nothing), (every, drawn), (four, fewer) = seen
    assert nothing == {} and sorted(drawn) == sorted(fewer) == ["net-dev0-trn.0.dot", "net-dev0-trn.1.dot"]
    assert all(text.lstrip().startswith("digraph") for text in drawn.values())
    assert every == [1, 1] and four == [4, 4]       # cudaGraphDebugDotFlagsVerbose; parameters of kernels
    lengths = [sum(map(len, files.values())) for files in (drawn, fewer)]
    assert ON_HOST or lengths[0] != lengths[1]      # the stand-in's drawings are always the same
    note("MXNET_CUDA_GRAPHS_DBG_FILE", "no file", " ".join(sorted(drawn)))
    note("MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", f"flags {every}, {lengths[0]} bytes", f"flags {four}, {lengths[1]} bytes")


# ---- kernels

def test_fusion():
    program = """
x = mx.sym.Variable("x")
e = mx.sym.tanh(mx.sym.exp(x * 2) + 1).simple_bind(gpu, grad_req="null", x=(3, 3))
e.arg_dict["x"][:] = 0.25
for step in range(4):
    e.forward()
    mx.nd.waitall()
tell(names=[line.split()[1] for line in e.debug_str().splitlines() if line[0].isdigit()], y=float(e.outputs[0].asnumpy()[0, 0]))
"""
    seen = []
    for variables in ({}, {"MXNET_USE_FUSION": "0"}):
        told, error = run(program, MXNET_ENABLE_CUDA_GRAPHS="1", MXNET_CUDA_GRAPHS_VERBOSE="1", **variables)
        assert told["y"] == pytest.approx(math.tanh(math.exp(0.5) + 1), rel=1e-5)
        kernels = re.search(r"(\d+) kernels and copies", error)
        seen.append((told["names"], int(kernels.group(1))))
    assert seen == [(["_fused_pointwise"], 1), (["_mul_scalar", "exp", "_plus_scalar", "tanh"], 4)]
    note("MXNET_USE_FUSION", *(f"{' '.join(names)}: {kernels} kernels" for names, kernels in seen))


MODULE = """
try:
    source = %r
    kernel = mx.rtc.CudaModule(source, exports=["put"]).get_kernel("put", "float *x")
    x = mx.nd.zeros((4,), ctx=gpu)
    kernel.launch([x], gpu, (1, 1, 1), (4, 1, 1))
    tell(x=x.asnumpy().tolist())
except mx.MXNetError as error:
    tell(error=str(error))
"""
PUT = 'extern "C" __global__ void put(float* x) { x[threadIdx.x] = %s + threadIdx.x; }'


def test_sources_of_kernels():
    (told, silent), (again, printed) = (run(MODULE % (PUT % "41"), **v) for v in ({}, {"MXNET_RTC_VERBOSE": "1"}))
    assert told == again == {"x": [41, 42, 43, 44]}
    assert "41 + threadIdx.x" not in silent and "[rtc]" not in silent
    assert "41 + threadIdx.x" in printed and "[rtc] user_module.cu for" in printed
    note("MXNET_RTC_VERBOSE", "no source", next(line for line in printed.splitlines() if line.startswith("[rtc]")))


def test_headers_of_kernels(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "of_this_test.h").write_text("#define BEGIN 7\n")
    program = MODULE % ("#include <of_this_test.h>\n" + PUT % "BEGIN")
    without, with_ = run(program)[0], run(program, CUDA_HOME=str(tmp_path))[0]
    assert "of_this_test.h" in without["error"] and with_ == {"x": [7, 8, 9, 10]}
    note("CUDA_HOME", "a header of the folder is not found", f"its kernel computes {with_['x']}")


# ---- products

PRODUCT = """
kinds = []
def see(call, made, compute, scale):
    kinds.append(compute & 0xffffffff)
    return call()
if %r:
    watch("cublasLtMatmulDescCreate", 3, see)

def error(a, b):   # the largest, in parts of the result
    exact = a.astype("float64") @ b.astype("float64")
    got = mx.nd.dot(mx.nd.array(a, ctx=gpu, dtype=a.dtype), mx.nd.array(b, ctx=gpu, dtype=b.dtype)).asnumpy().astype("float64")
    return float(np.abs(got / exact - 1).max())

d = np.random.RandomState(0)
fine = np.full((512, 512), 1 + 2.0 ** -12, "float32")      # TensorFloat32 has 10 bits behind the leading one
half = [d.uniform(0, 1, (256, 4096)).astype("float16"), d.uniform(0, 1, (4096, 256)).astype("float16")]
end(fine=error(fine, np.ones_like(fine)), half=error(*half), kinds=kinds)
"""
TF32 = {"MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION": "1"}


def test_tensor_float():
    """A bit that TensorFloat32 does not have is in the sum, is lost with the permission, and is
    there again where tensor cores are forbidden."""
    exact, rounded, forbidden = (run(PRODUCT % False, **v)[0]["fine"] for v in ({}, TF32, {**TF32, "MXNET_CUDA_ALLOW_TENSOR_CORE": "0"}))
    assert exact < 1e-6 and forbidden < 1e-6
    assert rounded == pytest.approx(2.0 ** -12, rel=0.01)
    note("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", f"relative error {exact:.1e}", f"{rounded:.1e}")
    note("MXNET_CUDA_ALLOW_TENSOR_CORE", f"relative error {rounded:.1e} where float32 may be rounded", f"{forbidden:.1e}")


@watches
def test_sums_in_float16():
    """Products of float16 are added in float32, or in float16. The stand-in always adds in float32,
    but is asked for the other."""
    wide, narrow = (run(PRODUCT % True, **v)[0] for v in ({}, {"MXNET_FC_TRUE_FP16": "1"}))
    assert wide["half"] < 1.1 * 2.0 ** -11       # rounded once
    assert 64 in narrow["kinds"] and 64 not in wide["kinds"]        # CUBLAS_COMPUTE_16F
    assert ON_HOST or narrow["half"] > 2 * wide["half"]
    note("MXNET_FC_TRUE_FP16", *(f"relative error {t['half']:.1e}, compute types {sorted(set(t['kinds']))}" for t in (wide, narrow)))


# ---- versions

@watches
@pytest.mark.parametrize("name, library", [("MXNET_CUDA_LIB_CHECKING", "CUDA"), ("MXNET_CUDNN_LIB_CHECKING", "cuDNN")])
def test_versions(name, library):
    """The libraries' functions say versions for which this library was not built."""
    program = """
one = mx.nd.ones((8, 8), ctx=gpu)
mx.nd.waitall()
overwrite(place("cudaRuntimeGetVersion"), b"\\xc7\\x07" + (13990).to_bytes(4, "little") + b"\\x31\\xc0\\xc3")
overwrite(place("cudnnGetVersion"), b"\\xb8" + (90001).to_bytes(4, "little") + b"\\xc3")
end(sum=float(mx.nd.dot(one, one).asnumpy().sum()))
"""
    (told, warned), (again, silent) = run(program), run(program, **{name: "0"})
    assert told["sum"] == again["sum"] == 512
    texts = {"CUDA": "CUDA 13.99 is running", "cuDNN": "cuDNN 9.0.1 is running"}
    assert all(text in warned for text in texts.values()), warned
    assert [key for key, text in texts.items() if text in silent] == [key for key in texts if key != library], silent
    note(name, "warning: " + texts[library], "no warning")


# ---- sparse arrays

def test_densified_arrays_are_reported():
    program = """
x = mx.nd.sparse.row_sparse_array(([[1.0, 2.0]], [1]), shape=(3, 2), ctx=gpu)
tell(y=mx.nd.cos(x).asnumpy().sum().item())
"""
    (told, plain), (again, silent) = run(program), run(program, MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0")
    assert told == again and "[cos] has no sparse kernel" in plain and "sparse kernel" not in silent
    note("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "[cos] has no sparse kernel", "nothing said")


def test_storages_are_reported():
    program = """
graph = mx.sym.softmax(mx.sym.Variable("x", stype="csr"), name="s").simple_bind(gpu, grad_req="null", x=(2, 3))
tell(y=graph.forward()[0].asnumpy().tolist())
"""
    (told, plain), (again, logged) = run(program), run(program, MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING="1")
    line = re.search(r"\[infer_storage_type\] s = softmax.*", logged)
    assert told == again and "[infer_storage_type]" not in plain and line
    note("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING", "nothing said", line.group())
