"""Pool statistics as users read them; a fresh process per case, so that nothing else allocates."""
import os
import re
import subprocess
import sys

import pytest

# A block is taken through the C interface of the library, as an array would.
BLOCK = """
import ctypes
import mxnet.storage as storage
from mxnet.base import _LIB, check_call
from mxnet.context import Context
from mxnet.context import cpu, gpu, cpu_pinned
"""


def run(code, **variables):
    environment = {k: v for k, v in os.environ.items()
                   if not re.match("MXNET_|NNVM_|OMP_|DMLC_", k) or k == "MXNET_LIBRARY_PATH"}
    environment.update(variables)
    return subprocess.run([sys.executable, "-c", BLOCK + code], env=environment, capture_output=True, text=True, timeout=120)


ARRAY = """
def array(floats, ctx):
    handle, shape = ctypes.c_void_p(), (ctypes.c_int64 * 1)(floats)
    check_call(_LIB.MXNDArrayCreate64(shape, 1, ctx.device_typeid, ctx.device_id, 0, 0, ctypes.byref(handle)))
    return handle
def free(handle):
    check_call(_LIB.MXNDArrayFree(handle))
    check_call(_LIB.MXNDArrayWaitAll())
"""


@pytest.mark.parametrize("pool,rounded", [("Naive", 4096), ("Round", 2048), ("Unpooled", 1600)])
def test_statistics_follow_arrays(pool, rounded):
    result = run(ARRAY + """
before = storage.stats(cpu())
a = array(400, cpu())
held = storage.stats(cpu())
free(a)
after = storage.stats(cpu())
cpu().empty_cache()
empty = storage.stats(cpu())
storage.reset_peak(cpu())
print(storage.pool_name(cpu()), held.used_bytes - before.used_bytes, after.used_bytes - before.used_bytes,
      after.cached_bytes - before.cached_bytes, held.misses - before.misses, empty.cached_bytes,
      held.peak_used_bytes - before.used_bytes, storage.stats().peak_used_bytes - before.used_bytes)
""", MXNET_CPU_MEM_POOL_TYPE=pool)
    assert result.returncode == 0, result.stderr
    cached = 0 if pool == "Unpooled" else rounded
    assert result.stdout.split() == [pool] + [str(n) for n in (rounded, 0, cached, 1, 0, rounded, 0)]


def test_a_device_that_is_not_there_is_a_value_error():
    result = run("""
for call in (storage.stats, storage.reset_peak, storage.pool_name, Context.empty_cache):
    try:
        call(gpu(99))
        print("no error")
    except ValueError as e:
        print("gpu(99)" in str(e))
""")
    assert result.stdout.split() == ["True"] * 4, result.stderr


def test_pools_of_contexts_are_apart():
    result = run(ARRAY + """
a = array(400, cpu_pinned())
print(storage.stats(cpu_pinned()).used_bytes, storage.stats(cpu(3)).used_bytes)
""", MXNET_CPU_PINNED_MEM_POOL_TYPE="Round")
    assert result.stdout.split() == ["2048", "0"], result.stderr


def test_assigned_numpy_and_initialised_parameters_are_held_once():
    import mxnet as mx
    import numpy as np
    a = mx.nd.zeros((1000, 1000))
    a.wait_to_read()
    mx.storage.reset_peak()
    before = mx.storage.stats().used_bytes
    a[:] = np.full((1000, 1000), 2, "float32")
    assert a[999, 999].asscalar() == 2
    assert mx.storage.stats().peak_used_bytes - before < 1_000_000
    parameter = mx.gluon.Parameter("p", shape=(1000, 1000), grad_req="null")
    mx.nd.waitall()
    mx.storage.reset_peak()
    before = mx.storage.stats().used_bytes
    parameter.initialize(mx.init.One())
    assert parameter.data()[999, 999].asscalar() == 1
    assert mx.storage.stats().peak_used_bytes - before < 5_000_000
