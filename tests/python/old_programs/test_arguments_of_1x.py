"""Arguments that 1.x takes: extra ones, and keys of assignments."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym

V = sym.Variable


def test_unknown_arguments_of_operators_without_parameters_are_ignored():
    a = nd.array([[1, 5]])
    with pytest.warns(UserWarning, match="broadcast_maximum.*axis.*ignored"):
        assert nd.broadcast_maximum(a, nd.array([[3, 3]]), axis=0).asnumpy().tolist() == [[3, 5]]
    with pytest.warns(UserWarning, match="relu.*foo"):
        symbol = sym.relu(V("x"), foo="bar", name="q")
    assert symbol.attr_dict() == {"q": {"foo": "bar"}}
    assert symbol.eval(ctx=mx.cpu(), x=a)[0].asnumpy().tolist() == [[1, 5]]
    for call in (lambda: nd.sum(a, foo=1), lambda: sym.sum(V("x"), foo=1),
                 lambda: nd.relu(a, other=a), lambda: sym.relu(V("x"), other=V("y"))):
        with pytest.raises(TypeError, match="unexpected"):
            call()


@pytest.mark.parametrize("last", ["pad", "discard"])
def test_labels_beyond_the_data_are_not_read(last):
    with pytest.warns(UserWarning, match="more instances than the 5"):
        batches = list(mx.io.NDArrayIter(np.arange(10).reshape(5, 2), np.arange(7), batch_size=2, last_batch_handle=last))
    labels = [b.label[0].asnumpy().tolist() for b in batches]
    assert labels == [[0, 1], [2, 3], [4, 0]][:len(labels)] and len(labels) == (3 if last == "pad" else 2)
    with pytest.raises(ValueError, match="has 3 instances"):
        mx.io.NDArrayIter(np.arange(10).reshape(5, 2), np.arange(3), batch_size=2)


def test_writing_with_a_boolean_writes_everything():
    for key in (True, False):
        x = nd.zeros((2, 3))
        x[key] = 7
        assert (x.asnumpy() == 7).all()
    assert nd.array([[1, 2], [3, 4]])[True].asnumpy().tolist() == [3, 4]


def test_broadcast_like_is_a_method():
    assert nd.ones((1, 3)).broadcast_like(nd.ones((2, 3))).shape == (2, 3)
    assert nd.ones(3).broadcast_like(nd.ones((4, 2, 3))).shape == (4, 2, 3)
    with pytest.raises(mx.MXNetError, match="both need the same number of dimensions"):
        nd.broadcast_like(nd.ones(3), nd.ones((2, 3)))
    assert V("a").broadcast_like(V("b")).infer_shape(a=(1, 3), b=(2, 3))[1] == [(2, 3)]


@pytest.mark.parametrize("dtype", [b"float16", "f2", "half", np.dtype("<f2"), np.float16(0), nd.zeros(1, dtype="float16")])
def test_spellings_of_dtypes(dtype):
    """What numpy.dtype takes: names as bytes too, and arrays, which stand for theirs."""
    x = nd.ones(2)
    arrays = [nd.zeros(2, dtype=dtype), nd.array([1], dtype=dtype), x.astype(dtype), nd.cast(x, dtype=dtype),
              nd.one_hot(x, 3, dtype=dtype), sym.cast(V("x"), dtype=dtype).eval(x=x)[0]]
    assert [a.dtype for a in arrays] == [np.float16] * len(arrays)
    assert V("a", dtype=dtype).infer_type()[1] == [np.float16]
    for wrong in (b"float17", [1], "2"):
        for call in (nd.cast, nd.NDArray.astype):
            with pytest.raises(TypeError, match="float16"):
                call(x, dtype=wrong)
