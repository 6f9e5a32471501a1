"""Programs with little memory, or where no thread can start: OpenBLAS is loaded with one thread."""
import os
import resource
import shutil
import subprocess
import sys

import pytest

SMALL = "import mxnet as mx\nprint(float((mx.nd.ones((2, 2)) + 1).asnumpy().sum()))"
TRAINED = """
import mxnet as mx
from mxnet import autograd, gluon
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(16, 3, activation='relu'), gluon.nn.MaxPool2D(), gluon.nn.Conv2D(32, 3), gluon.nn.Dense(128), gluon.nn.Dense(10))
net.initialize()
net.hybridize(static_alloc=True)
trainer, x = gluon.Trainer(net.collect_params(), 'adam'), mx.nd.random.uniform(shape=(64, 3, 32, 32))
for i in range(4):
    with autograd.record():
        loss = net(x).square().mean()
    loss.backward()
    trainer.step(64)
a = mx.nd.random.uniform(shape=(700, 700))
print(mx.nd.dot(a, a).asnumpy().shape)
"""
ENVIRONMENT = """
import os
import mxnet as mx
assert os.environ.get('OPENBLAS_NUM_THREADS') == GIVEN and '_MXNET_OPENBLAS_NUM_THREADS' not in os.environ
x = mx.nd.ones((600, 600), dtype='float64')
assert mx.nd.dot(x, x).asnumpy().sum() == 600 ** 3
print('done')
"""

THREADS = """
import mxnet as mx
threads = getattr(mx.base._LIB, 'openblas_get_num_threads', lambda: 'another library')
for a, b in ((mx.nd.ones((8, 40)), mx.nd.ones((40, 40))), (mx.nd.ones((600, 600), dtype='float64'),) * 2):
    print(mx.nd.dot(a, b).asnumpy().max(), threads())
"""


@pytest.mark.cpu
@pytest.mark.parametrize("megabytes", [280, 310, 330, 350])
def test_a_program_ends_with_little_address_space(megabytes):
    """It spun for ever at its end: a thread of OpenBLAS had found no memory, and tried again."""
    limit = megabytes << 20
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 0 and done.stdout == "8.0\n" or "MemoryError" in done.stderr, done.stdout + done.stderr


@pytest.mark.cpu
@pytest.mark.parametrize("megabytes", [384, 555, 717])
def test_teams_are_opened_where_there_is_memory_for_their_threads(megabytes):
    """libgomp ended the process ("Thread creation failed"), as did oneDNN's products of matrices: a
    smaller team in between ends threads, and the next team makes them anew."""
    limit = megabytes << 20
    done = subprocess.run([sys.executable, "-c", TRAINED], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "OMP_NUM_THREADS": "4"},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 0 and "(700, 700)" in done.stdout or "MemoryError" in done.stderr or "memory" in done.stderr, done.stderr
    assert done.returncode in (0, 1) and "libgomp" not in done.stderr, done.stderr


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_import_where_no_thread_can_start(tmp_path):
    """It was a KeyboardInterrupt: OpenBLAS raises SIGINT then. NumPy's own copy does so, too."""
    (tmp_path / "none.c").write_text("#include <errno.h>\n#include <pthread.h>\nint pthread_create(pthread_t* t, const pthread_attr_t* a, "
                                     "void* (*f)(void*), void* p) { return EAGAIN; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "none.c", "-o", "none.so"], cwd=tmp_path, check=True)
    program = "import os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\nimport numpy\ndel os.environ['OPENBLAS_NUM_THREADS']\n" \
              "import mxnet as mx\nprint(mx.context.current_context())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "LD_PRELOAD": str(tmp_path / "none.so")})
    assert done.returncode == 0 and done.stdout == "cpu(0)\n", done.stdout + done.stderr


@pytest.mark.parametrize("given", [None, "1", "3"])
def test_the_environment_is_as_it_was(given):
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if given:
        env["OPENBLAS_NUM_THREADS"] = given
    program = ENVIRONMENT.replace("GIVEN", repr(given))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=env)
    assert done.stdout == "done\n", done.stdout + done.stderr


@pytest.mark.cpu
def test_small_products_start_no_threads():
    """To start those of OpenBLAS took as long as some hundred small products."""
    without = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=60,
                          env={**without, "OMP_NUM_THREADS": "2"})
    if "another library" in done.stdout:
        pytest.skip("a BLAS library that does not tell its threads")
    assert done.stdout == "40.0 1\n600.0 2\n", done.stdout + done.stderr
