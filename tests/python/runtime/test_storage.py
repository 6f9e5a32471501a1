"""Pool statistics as users read them; a fresh process per case, so that nothing else allocates."""
import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.sanitized

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


# `step`: arrays of so many floats at once; the blocks are taken, not touched, so that this costs
# the same on every machine.
WALK = ARRAY + """
import time
def step(sizes):
    live = [array(n, cpu()) for n in sizes]
    for handle in live:
        check_call(_LIB.MXNDArrayFree(handle))
    check_call(_LIB.MXNDArrayWaitAll())
def until_gone():
    for i in range(600):
        if storage.stats(cpu()).cached_bytes < 1 << 20:
            return True
        time.sleep(0.1)
"""


def test_a_walk_through_sizes_holds_what_it_uses_and_gives_that_back():
    """120 stops of 8 arrays each, which go on to larger ones: 1.3 GB of distinct sizes, 160 MB at
    once."""
    result = run(WALK + """
for i in range(120):
    for _ in range(2):
        step([200000 + 41 * (8 * i + k) * 130 for k in range(8)])
s = storage.stats(cpu())
assert 150e6 < s.peak_used_bytes < 200e6, s
assert s.peak_bytes <= 1.1 * s.peak_used_bytes, s
assert s.used_bytes + s.cached_bytes <= s.limit_bytes, s
assert s.given_back_blocks > 50 and s.given_back_bytes > 500 << 20, s
assert s.releases == 0, s
print(until_gone(), storage.stats(cpu()).cached_bytes < 1 << 20)
""")
    assert result.stdout.split() == ["True", "True"], result.stderr


def test_what_grows_a_little_leaves_no_small_blocks_behind():
    """Twelve arrays of 0.4 to 1.7 MB, each 10 KB larger in each step, as caches of a decoder."""
    result = run(WALK + """
for i in range(130):
    step([100000 + 2500 * i] * 12)
s = storage.stats(cpu())
print(s.cached_bytes < 2 * s.peak_used_bytes, s.given_back_blocks, s.misses > 24)  # one length has a size without room
""")
    assert result.stdout.split() == ["True", "0", "True"], result.stdout + result.stderr


def test_a_steady_loop_finds_its_memory_again():
    """Also when no size of one half of its step serves in the other."""
    result = run(WALK + """
sizes = [(70000 + 997 * k) * (10 + k % 70) for k in range(40)]
for i in range(30):
    step(sizes[:20])
    step(sizes[20:])
before, slowest = storage.stats(cpu()), 0
for i in range(200):
    begin = time.monotonic()
    step(sizes[:20])
    step(sizes[20:])
    slowest = max(slowest, time.monotonic() - begin)
after = storage.stats(cpu())
assert after.peak_used_bytes > 200 << 20, after
if slowest < 0.75:   # blocks that nobody wants for a second do grow old; on a machine that stands still that is all of them
    assert after.misses - before.misses <= 40 and after.given_back_blocks - before.given_back_blocks <= 40, (before, after)
assert after.hits - before.hits > 7000, (before, after)
print("found")
""")
    assert result.stdout.split() == ["found"], result.stderr


@pytest.mark.unsanitized
def test_what_was_resident_goes_back_to_the_system():
    result = run(WALK + """
import mxnet as mx
def resident():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024
base = resident()
live = [mx.nd.ones((n,)) for n in [5000000] * 5 + [100000] * 100]   # of the system's and of malloc's memory
mx.nd.waitall()
full = resident()
del live
mx.nd.waitall()
print(until_gone(), full > base + 120)
for i in range(100):   # malloc's comes last
    if resident() < base + 30:
        break
    time.sleep(0.1)
print(resident() < base + 30)
""")
    assert result.stdout.split() == ["True"] * 3, result.stderr


def test_a_forked_child_gives_memory_back_too():
    result = run(WALK + """
import os
step([1 << 20] * 4)
pid = os.fork()
if pid == 0:
    step([1 << 21] * 4)
    os._exit(0 if until_gone() else 1)
assert os.waitpid(pid, 0)[1] == 0
print("gone")
""")
    assert result.stdout.split() == ["gone"], result.stderr


def test_shared_memory_has_no_bound():
    result = run("""
s = storage.stats(Context("cpu_shared", 0))
print(s.limit_bytes, s.given_back_blocks, s.given_back_bytes)
""")
    assert result.stdout.split() == ["0"] * 3, result.stderr


@pytest.mark.unsanitized
def test_long_parameters_are_not_remembered():
    """Parsed parameters are kept for 4,096 sets a thread; sets of some 60 KB each would be 250 MB
    and more."""
    result = run("""
import mxnet as mx
def resident():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024
x = mx.nd.ones((2, 3))
def call(i):
    try:
        mx.nd.slice(x, begin=tuple(range(i, i + 5000)), end=tuple(range(i, i + 5000)))
    except ValueError:
        pass
for i in range(20):
    call(i)
base = resident()
for i in range(300):
    call(i)
print(resident() < base + 40)   # 93 MB when they are kept
""")
    assert result.stdout.split() == ["True"], result.stderr
