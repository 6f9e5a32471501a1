"""What the tests of several GPUs share. They are left out where there are fewer than two."""
import numpy as np
import pytest

import mxnet as mx

if mx.num_gpus() < 2:
    pytest.skip("needs several GPUs", allow_module_level=True)

GPUS = [mx.gpu(i) for i in range(mx.num_gpus() if mx.num_gpus() > 1 else 4)]   # parameters of tests are made where there is none, too


def nccl_or_skip():
    try:
        mx.kv.create("nccl")
    except ValueError as error:
        pytest.skip(str(error))


@pytest.fixture(params=["device", "nccl", "local"])
def kind(request):
    if request.param == "nccl":
        nccl_or_skip()
    return request.param


def spread(array, gpus=None):
    """`array` times 1, 2, ... on GPUs."""
    return [mx.nd.array(array * (i + 1), ctx=gpu, dtype=array.dtype) for i, gpu in enumerate(gpus or GPUS)]


def blank(shape, gpus=None, dtype="float32"):
    return [mx.nd.full(shape, -1 if dtype[0] != "u" else 1, ctx=gpu, dtype=dtype) for gpu in gpus or GPUS]


def numbers(array):
    """NumPy without half types that it lacks."""
    return array.astype("float32").asnumpy() if str(array.dtype) == "bfloat16" else array.asnumpy()


def same(arrays, expected):
    for a in arrays:
        np.testing.assert_array_equal(numbers(a).astype("float64"), expected)


SIZE = 24       # of a batch: two, three, four, six and eight GPUs share it
FACTOR = sum(range(1, len(GPUS) + 1))
