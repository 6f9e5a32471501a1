"""Shared by the tests of gluon.probability."""
import pytest

import mxnet as mx
from mxnet import np, npx


def A(values, dtype="float32"):
    """An array; float32 whatever the values are."""
    return np.array(values, dtype=dtype)


def numpy_semantics(seed):
    """A fixture that every test of a module uses: NumPy's rules, and random numbers from `seed`."""
    @pytest.fixture(autouse=True)
    def semantics():
        npx.set_np()
        mx.random.seed(seed)
        yield
        npx.reset_np()
    return semantics
