"""Helpers for tests of operators, networks and random generators."""
import contextlib
import os
import platform
import sys

from .. import context as _context
from ..base import error_class
from ..io import DataIter
from ..util import _library_value, set_env, wraps_safely
from . import arrays, compare, datasets, sparse_arrays, statistics, symbolic
from .arrays import *
from .compare import *
from .datasets import *
from .sparse_arrays import *
from .statistics import *
from .symbolic import *

__all__ = ["DummyIter", "discard_stderr", "environment", "has_tvm_ops", "is_aarch64_run", "is_cd_run",
           "is_op_runnable", "list_gpus",
           "retry"] + arrays.__all__ + compare.__all__ + datasets.__all__ + sparse_arrays.__all__ + statistics.__all__ + symbolic.__all__


def list_gpus():
    """Numbers of the GPUs that the library can use.

    >>> len(mx.test_utils.list_gpus()) == mx.num_gpus()
    True
    """
    return range(_context.num_gpus())


def retry(n):
    """Decorator: a test that fails is run again, up to `n` times altogether.

    >>> tries = []
    >>> @mx.test_utils.retry(3)
    ... def test():
    ...     tries.append(1)
    ...     assert len(tries) == 2
    >>> test()
    >>> len(tries)
    2
    """
    if n < 1:
        raise error_class(ValueError, AssertionError)(f"[retry] n={n}; at least 1 is expected")

    def decorator(test):
        @wraps_safely(test)
        def repeated(*args, **kwargs):
            for attempt in range(n):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    if attempt == n - 1:
                        raise
        return repeated
    return decorator


@contextlib.contextmanager
def discard_stderr():
    """A ``with`` block in which what is written to the standard error stream, by C code too, gets
    lost.

    >>> import sys
    >>> with mx.test_utils.discard_stderr():
    ...     _ = sys.stderr.write('not seen')
    """
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)


@contextlib.contextmanager
def environment(*args):
    """A ``with`` block in which environment variables have other values; for the library's
    variables too.

    ``environment(name, value)`` or ``environment({name: value})``; a value of None: not set.

    Raises
    ------
    ValueError
        for a variable of the library that can't be changed after its start.

    Examples
    --------
    >>> with mx.test_utils.environment('MXNET_CHECK_INDICES', '1'):
    ...     mx.env.value('MXNET_CHECK_INDICES')
    True
    """
    if len(args) == 1 and isinstance(args[0], dict):
        wanted = args[0]
    elif len(args) == 2:
        wanted = {args[0]: args[1]}
    else:
        raise ValueError("[environment] a dict, or a name and a value, is expected")
    before = {name: os.environ.get(name) for name in wanted}
    library = {name: _library_value(name) for name in wanted}
    try:
        for name, value in wanted.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                if library[name] is not None:
                    set_env(name, value)
                os.environ[name] = str(value)
        yield
    finally:
        for name, value in before.items():
            if library[name] is not None:
                set_env(name, library[name])
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class DummyIter(DataIter):
    """An iterator that returns the first batch of another one over and over: for measuring
    everything but reading.

    >>> batches = mx.test_utils.DummyIter(mx.io.NDArrayIter(mx.nd.arange(4), batch_size=2))
    >>> batches.next().data[0].asnumpy(), batches.next().data[0].asnumpy()
    (array([0., 1.], dtype=float32), array([0., 1.], dtype=float32))
    """

    def __init__(self, real_iter):
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch = next(real_iter)

    def __iter__(self):
        return self

    def next(self):
        return self.the_batch


def has_tvm_ops():
    """Whether the library was built with operators of TVM.

    >>> mx.test_utils.has_tvm_ops()
    False
    """
    from ..runtime import Features
    features = Features()
    return "TVM_OP" in features and features.is_enabled("TVM_OP")


def is_op_runnable():
    """Whether operators of TVM run where tests run: always on the CPU; on a GPU of compute
    capability 5.3 or later, or without such operators.

    >>> mx.test_utils.is_op_runnable()
    True
    """
    ctx = arrays.default_context()
    if ctx.device_type != "gpu" or not has_tvm_ops():
        return True
    from ..util import get_cuda_compute_capability
    return get_cuda_compute_capability(ctx) >= 53


def is_cd_run():
    """Whether this is a run of a delivery pipeline (``CD_JOB`` is 1).

    >>> with mx.test_utils.environment('CD_JOB', '1'):
    ...     mx.test_utils.is_cd_run()
    True
    """
    return os.environ.get("CD_JOB", "0") == "1"


def is_aarch64_run():
    """Whether this is a 64-bit ARM machine.

    >>> import platform
    >>> mx.test_utils.is_aarch64_run() == (platform.machine() == 'aarch64')
    True
    """
    return platform.machine() == "aarch64"
