"""pytest plugin: the tests of tests/python with mx.gpu(0) as the context of everything that names
none, and gpu(i) where they say cpu(i), if there is one. Tests with the mark `cpu` are left out.

    PYTHONPATH=tests/host_gpu:$PYTHONPATH python -m pytest -p default_gpu ...
"""
import mxnet as mx
import pytest


def pytest_configure(config):
    assert mx.num_gpus() > 0, "no GPU; LD_PRELOAD=build/cuda/tests/host_gpu/libhost_gpu.so stands in for one"
    mx.Context._default_ctx.value = mx.gpu(0)
    host = mx.cpu
    mx.cpu = mx.context.cpu = lambda device_id=0: mx.gpu(device_id) if device_id < mx.num_gpus() else host(device_id)


def pytest_collection_modifyitems(config, items):
    about_cpu = [i for i in items if i.get_closest_marker("cpu")]
    config.hook.pytest_deselected(items=about_cpu)
    items[:] = [i for i in items if not i.get_closest_marker("cpu")]


@pytest.fixture(autouse=True)
def _default_gpu():
    mx.Context._default_ctx.value = mx.gpu(0)
    yield
