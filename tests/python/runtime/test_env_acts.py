"""Every variable of the environment does something: a test shows its effect, or nothing in the
library reads it."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mxnet as mx
import test_env_effects     # noqa: F401  (its tests are registered)
import test_env_storages    # noqa: F401
from env_effects import ACTING, acts, process, run, shows, told

TREE = Path(__file__).resolve().parents[3]

# In the table because programs of 1.9.1 set them; what they govern (cuDNN's dropout) is not in this
# library. None of them is read.
UNREAD = """
MXNET_GPU_CUDNN_DROPOUT_STATE_COPY
""".split()

# They act on GPUs alone: programs of tests/cpp, with the CUDA build on the host's GPU, show it.
ON_GPUS = """
MXNET_GPU_WORKER_NTHREADS MXNET_GPU_COPY_NTHREADS MXNET_GPU_WORKER_NSTREAMS
MXNET_GPU_MEM_POOL_TYPE MXNET_GPU_MEM_POOL_RESERVE MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE
MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF MXNET_GPU_MEM_POOL_PAGE_SIZE
MXNET_ENABLE_GPU_P2P MXNET_GPU_TEMP_COPY MXNET_GPU_PARALLEL_RAND_COPY
MXNET_ENABLE_CUDA_GRAPHS MXNET_CUDA_GRAPHS_VERBOSE MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES
MXNET_CUDA_GRAPHS_DBG_FILE MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS
MXNET_CUDNN_AUTOTUNE_DEFAULT MXNET_CUDNN_HEUR_MODE MXNET_CUDNN_ALGO_VERBOSE_LEVEL
MXNET_CUDA_ALLOW_TENSOR_CORE MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION
MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION MXNET_CUDNN_ALLOW_FFT MXNET_CUDNN_ALLOW_WINOGRAD
MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES
MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES MXNET_CUDA_LIB_CHECKING MXNET_CUDNN_LIB_CHECKING
MXNET_FC_TRUE_FP16 MXNET_RTC_VERBOSE CUDA_HOME
""".split()

MODEL = """
w = mx.nd.random.uniform(shape=(8, 16, 3, 3))
for size in (9, 12, 9, 12):
    x = mx.nd.random.uniform(shape=(2, 16, size, size))
    mx.nd.Convolution(x, w, kernel=(3, 3), num_filter=8, no_bias=True).wait_to_read()
"""
PRIORITY = """
kv = mx.kv.create("local")
kv.init(0, mx.nd.zeros((500000,)))
kv.push(0, [mx.nd.ones((500000,))] * 4)
mx.nd.waitall()
tell(workers=named("mx-cpu-prio"))
"""
WORKER = """
from mxnet.gluon.data import ArrayDataset, DataLoader
from mxnet.gluon.data.batchify import AsList
def look(_):
    a = mx.nd.ones((700, 700))
    mx.nd.dot(a, a).wait_to_read()
    return dict(engine=named("mx-cpu") + named("mx-worker"), opencv=os.environ["OPENCV_FOR_THREADS_NUM"])
tell(**next(iter(DataLoader(ArrayDataset([0]).transform(look), 1, num_workers=1, batchify_fn=AsList())))[0])
"""
AGGREGATION = """
updater = mx.optimizer.get_updater(mx.optimizer.SGD())
groups, update = [], updater.optimizer.update_multi_precision
def count(index, *rest):
    groups.append(len(index))
    update(index, *rest)
updater.optimizer.update_multi_precision = count
arrays = [mx.nd.ones((2,)) for _ in range(5)]
updater(list(range(5)), [a.copy() for a in arrays], arrays)
mx.nd.waitall()
tell(groups=groups)
"""
ERROR = """
try:
    %s
    tell(error=None)
except mx.MXNetError as error:
    tell(error=str(error).count("\\n"))
"""
BYTES = """
ctx = mx.Context("%s")
a = mx.nd.empty((%d,), ctx=ctx, dtype="uint8")
a[:] = 1
a.wait_to_read()
tell(used=mx.storage.stats(ctx).used_bytes)
"""
CUSTOM = """
import threading, time
now, most, lock = [0], [0], threading.Lock()
class Wait(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.2)
        with lock:
            now[0] -= 1
@mx.operator.register("wait")
class WaitProp(mx.operator.CustomOpProp):
    def create_operator(self, *_):
        return Wait()
arrays = [mx.nd.Custom(mx.nd.ones((1,)), op_type="wait") for _ in range(5)]
mx.nd.waitall()
tell(most=most[0])
"""
# variable: (program, a value beside the default, settings of both runs)
SIMPLE = {
    "MXNET_CPU_PRIORITY_NTHREADS": (PRIORITY, "2", {}),
    "MXNET_CUSTOM_OP_NUM_THREADS": (CUSTOM, "2", {}),
    "MXNET_MP_WORKER_NTHREADS": (WORKER, "3", {}),
    "MXNET_MP_OPENCV_NUM_THREADS": (WORKER, "2", {}),
    "MXNET_UPDATE_ON_KVSTORE": ("tell(on=mx.model._create_kvstore('device', 2, {})[1])", "0", {}),
    "MXNET_OPTIMIZER_AGGREGATION_SIZE": (AGGREGATION, "2", {}),
    "MXNET_CHECK_INDICES": (ERROR % "mx.nd.take(mx.nd.ones((3,)), mx.nd.array([7])).asnumpy()", "1", {}),
    "DMLC_LOG_STACK_TRACE_DEPTH": (ERROR % "(mx.nd.ones((2,)) + mx.nd.ones((3,))).asnumpy()", "5", {}),
    "MXNET_ENABLE_CYTHON": ("tell(binding=mx.nd._internal.NDArrayBase.__module__)", "0", {}),
    "MXNET_GLUON_REPO": ("tell(url=mx.gluon.utils._get_repo_url())", "file:///elsewhere/", {}),
    "MXNET_HOME": ("tell(folder=mx.base.data_dir())", "/elsewhere", {}),
    "MXNET_USE_NAIVE_STORAGE_MANAGERS": (BYTES % ("cpu", 5000), "1", {}),
    **{f"MXNET_{prefix}_MEM_{name}": (BYTES % (device, size), value, common)
       for device, prefix in (("cpu", "CPU"), ("cpu_pinned", "CPU_PINNED"))
       for name, size, value, common in (
           ("POOL_PAGE_SIZE", 5000, "65536", {}),
           ("LARGE_ALLOC_ROUND_SIZE", 3000000, "1", {}),
           ("POOL_ROUND_LINEAR_CUTOFF", 3000000, "12", {f"MXNET_{prefix}_MEM_POOL_TYPE": "Round"}))},
}


@pytest.mark.parametrize("name", SIMPLE)
@acts(*SIMPLE, argument="name")
def test_a_program_tells_that_the_variable_is_set(name):
    program, value, common = SIMPLE[name]
    if name == "MXNET_ENABLE_CYTHON" and "_ctypes" in mx.nd._internal.NDArrayBase.__module__:
        pytest.skip("the compiled binding is not here")
    run(program, **common)
    run(program, **common, **{name: value})


@acts("MXNET_LIBRARY_PATH")
def test_library_path(tmp_path):
    link = tmp_path / "libmxnet.so"
    link.symlink_to(mx.libinfo.find_lib_path()[0])
    program = "tell(path=mx.libinfo.find_lib_path()[0])"
    paths = [run(program, MXNET_LIBRARY_PATH=path)["path"] for path in (str(link), os.path.realpath(link))]
    assert paths == [str(link), os.path.realpath(link)]


@acts("MXNET_ENFORCE_CYTHON")
def test_a_binding_that_is_missing_can_be_an_error():
    code = """
import sys
sys.modules["mxnet._cy3"] = None
try:
    import mxnet
    print(mxnet.nd._internal.NDArrayBase.__module__)
except ImportError as error:
    print(error)
"""
    without, enforced = (told(code, variables, process(code, **variables).stdout)
                         for variables in ({}, {"MXNET_ENFORCE_CYTHON": "1"}))
    assert without.strip() == "mxnet._ctypes.ndarray" and enforced.startswith("[binding] MXNET_ENFORCE_CYTHON=1")


@acts("MXNET_CPU_NNPACK_NTHREADS")
def test_a_retired_variable_warns():
    texts = [told("", variables, process("import mxnet", **variables).stderr)
             for variables in ({}, {"MXNET_CPU_NNPACK_NTHREADS": "2"})]
    assert "NNPACK is retired" not in texts[0] and "NNPACK is retired" in texts[1]


@pytest.mark.skipif(not mx.runtime.Features().is_enabled("MKLDNN"), reason="a build without oneDNN")
@pytest.mark.parametrize("name", ["MXNET_ONEDNN_ENABLED", "MXNET_MKLDNN_ENABLED", "MXNET_ONEDNN_CACHE_NUM", "MXNET_MKLDNN_CACHE_NUM"])
@acts("MXNET_ONEDNN_ENABLED", "MXNET_MKLDNN_ENABLED", "MXNET_ONEDNN_CACHE_NUM", "MXNET_MKLDNN_CACHE_NUM", argument="name")
def test_onednn(name):
    """Primitives run, and of them are made: each once, or each time without a cache."""
    def counted(**variables):
        text = process("import mxnet as mx" + MODEL, ONEDNN_VERBOSE="2", **variables).stdout
        return told(MODEL, variables, [len(re.findall(f",(?:primitive,)?{kind}[^,]*,(?:cpu|convolution)", text))
                                       for kind in ("exec", "create")])
    default, changed = counted(), counted(**{name: "0"})
    assert default[0] >= 4
    assert changed[0] == 0 if name.endswith("ENABLED") else changed[1] > default[1]


def rows():
    """Names of all variables; members of mxnet::Env by name."""
    listed = subprocess.run([sys.executable, "-m", "mxnet.env", "--json"], capture_output=True, text=True, timeout=120)
    assert listed.returncode == 0, listed.stderr
    table = (TREE / "include" / "mxnet" / "env_table.inc").read_text()
    return [row["name"] for row in json.loads(listed.stdout)], {
        name: member for member, name in re.findall(r'^MXNET_ENV\((\w+),[^,]+(?:<int>)?, "(\w+)"', table, re.M)}


def test_every_variable_acts_or_is_read_by_nobody():
    names, _ = rows()
    assert sorted(names) == sorted([*ACTING, *UNREAD, *ON_GPUS]), "each variable stands in one place"


def test_what_is_said_to_be_unread_is_unread():
    _, members = rows()
    sources = [p.read_text(errors="replace") for folder in ("src", "python") for p in (TREE / folder).rglob("*")
               if p.suffix in (".cc", ".h", ".cu", ".inc", ".py")]
    assert len(sources) > 500 and any(re.search(r"\benable_gpu_p2p\b", s) for s in sources)     # which acts
    for name in UNREAD:
        assert not [s for s in sources if re.search(rf"\b({members[name]}|{name})\b", s)], name


def test_tests_of_gpus_set_their_variables():
    """The body of a TEST, or a table in it, sets the variable, and the TEST checks something.
    env_test.cc has the table itself."""
    sources = [p.read_text() for p in sorted((TREE / "tests" / "cpp").rglob("*.cc")) if p.name != "env_test.cc"]
    bodies = [body for source in sources for body in re.findall(r"^TEST(?:_[FP])?\([^{]*\{.*?^\}", source, re.S | re.M)
              if re.search(r"EXPECT_|ASSERT_|\bExpect[A-Z]", body)]
    assert len(bodies) > 300
    assert [name for name in ON_GPUS if not any(re.search(rf'"(?:[^"]* )?{name}[="]', body) for body in bodies)] == []


def test_a_variable_without_an_effect_fails():
    @acts("NO_EFFECT")
    def test(**_):
        run("tell(a=1)")
        run("tell(a=1)", MXNET_HOME="/elsewhere")
    try:
        with pytest.raises(AssertionError, match="NO_EFFECT alone"):
            test()
    finally:
        del ACTING["NO_EFFECT"]
    runs = [("p", {}, 1), ("p", {"A": "1"}, 1), ("p", {"A": "1", "B": "1"}, 2), ("q", {"A": "2"}, 3)]
    assert not shows("A", runs) and shows("B", runs)
