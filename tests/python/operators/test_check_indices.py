"""MXNET_CHECK_INDICES: labels and indices out of range are an IndexError with operator, value and
place; without it they are clipped or ignored, as in 1.x."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.util import set_env

DATA = np.arange(12, dtype="float32").reshape(4, 3)


@pytest.fixture
def checked():
    set_env("MXNET_CHECK_INDICES", 1)
    yield
    set_env("MXNET_CHECK_INDICES", 0)




# name in the message: (graph of indices i and data d, indices of the right kind, wrong ones, text
# of the value, text of the place)
CASES = {
    "take clip": ("take", lambda F, i, d: F.take(d, i), [[0, 3], [1, 2]], [[0, 3], [4, 2]], "4", "(1, 0)"),
    "take negative": ("take", lambda F, i, d: F.take(d, i), [[0, 3], [1, 2]], [[0, -1], [1, 2]], "-1", "(0, 1)"),
    "take axis": ("take", lambda F, i, d: F.take(d, i, axis=1), [0, 2], [0, 3], "3", "(1,)"),
    "Embedding": ("Embedding", lambda F, i, d: F.Embedding(i, d, input_dim=4, output_dim=3), [[0, 3]], [[0, 100]], "100", "(0, 1)"),
    "pick": ("pick", lambda F, i, d: F.pick(d, i), [0, 1, 2, 0], [0, 1, 3, 0], "3", "(2,)"),
    "batch_take": ("batch_take", lambda F, i, d: F.batch_take(d, i), [0, 1, 2, 0], [0, 1, 2, -2], "-2", "(3,)"),
    "one_hot": ("one_hot", lambda F, i, d: F.one_hot(i, depth=3), [0, 2], [0, 3], "3", "(1,)"),
    "gather_nd": ("gather_nd", lambda F, i, d: F.gather_nd(d, i), [[0, 3], [0, 2]], [[0, 4], [0, 2]], "4", "axis 0"),
    "SequenceLast": ("SequenceLast", lambda F, i, d: F.SequenceLast(d, i, use_sequence_length=True), [4, 1, 2], [4, 0, 2], "0", "(1,)"),
    "SequenceMask": ("SequenceMask", lambda F, i, d: F.SequenceMask(d, i, use_sequence_length=True), [4, 0, 2], [4, 0, 5], "5", "(2,)"),
    "SequenceReverse": ("SequenceReverse", lambda F, i,
                        d: F.SequenceReverse(d, i, use_sequence_length=True), [4, 0, 2], [-1, 0, 2],
                        "-1", "(0,)"),
    "softmax_cross_entropy": ("softmax_cross_entropy", lambda F, i,
                              d: F.softmax_cross_entropy(d, i), [0, 1, 2, 0], [0, 1, 2, 3], "3",
                              "(3,)"),
}


def _eager(graph, indices, dtype):
    return graph(mx.nd, mx.nd.array(indices, dtype=dtype), mx.nd.array(DATA)).asnumpy()


def _bound(graph, indices, dtype):
    symbol = graph(mx.sym, mx.sym.Variable("i"), mx.sym.Variable("d"))
    arrays = {"i": mx.nd.array(indices, dtype=dtype), "d": mx.nd.array(DATA)}
    return symbol.bind(mx.cpu(), {k: arrays[k] for k in symbol.list_arguments()}).forward()[0].asnumpy()


def _hybridized(graph, indices, dtype):
    net = mx.gluon.nn.HybridLambda(lambda F, i, d: graph(F, i, d) * 1)
    net.hybridize(static_alloc=True)
    return net(mx.nd.array(indices, dtype=dtype), mx.nd.array(DATA)).asnumpy()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("entry_point", (_eager, _bound, _hybridized))
def test_out_of_range(name, entry_point, checked):
    operator, graph, good, bad, value, place = CASES[name]
    if name == "one_hot" and entry_point is _hybridized:
        entry_point = _bound
    for dtype in ("int32", "float32", "int64") if name != "batch_take" else ("int32",):
        with pytest.raises(IndexError) as raised:
            entry_point(graph, bad, dtype)
        text = str(raised.value)
        assert f"[{operator}]" in text and f" {value} " in text and place in text, text
        right = entry_point(graph, good, dtype)
        set_env("MXNET_CHECK_INDICES", 0)
        np.testing.assert_array_equal(entry_point(graph, good, dtype), right)
        if name != "gather_nd":
            entry_point(graph, bad, dtype)                    # clipped or ignored
        set_env("MXNET_CHECK_INDICES", 1)


def test_what_is_in_range(checked):
    data = mx.nd.array(DATA)
    assert mx.nd.take(data, mx.nd.array([-1, 5]), mode="wrap").asnumpy()[:, 0].tolist() == [9, 3]
    assert mx.nd.pick(data, mx.nd.array([-1, 3, 0, 0]), mode="wrap").shape == (4,)
    assert mx.nd.take(data, mx.nd.array([3.7, -0.5])).asnumpy()[:, 0].tolist() == [9, 0]     # fractions are cut off
    assert mx.nd.take(data, mx.nd.zeros((0,))).shape == (0, 3) if mx.util.is_np_shape() else True
    for bad in (np.nan, np.inf, -np.inf, 1e30):
        with pytest.raises(IndexError, match="take"):
            mx.nd.take(data, mx.nd.array([0, bad])).asnumpy()


def _train(label, executor, **params):
    data = mx.nd.array(DATA)
    if executor:
        grad = mx.nd.zeros(DATA.shape)
        symbol = mx.sym.SoftmaxOutput(mx.sym.Variable("d"), mx.sym.Variable("label"), **params)
        exe = symbol.bind(mx.cpu(), {"d": data, "label": mx.nd.array(label)}, {"d": grad})
        exe.forward(is_train=False)[0].wait_to_read()      # inference leaves anything in the labels
        exe.forward(is_train=True)
        exe.backward()
        return grad.asnumpy()
    data.attach_grad()
    with autograd.record():
        out = mx.nd.SoftmaxOutput(data, mx.nd.array(label), **params)
    out.backward()
    return data.grad.asnumpy()


@pytest.mark.parametrize("executor", (False, True))
def test_labels_of_softmax_output(executor, checked):
    with pytest.raises(IndexError, match=r"index 3 at position \(1,\)"):
        _train([0, 3, 2, 1], executor)
    with pytest.raises(IndexError, match=r"index -1 at position \(3,\)"):
        _train([0, 1, 2, -1], executor)
    ignored = _train([0, 1, 2, -1], executor, use_ignore=True, ignore_label=-1)
    assert (ignored[3] == 0).all() and (ignored[0] != 0).any()
    _train(np.full((4, 3), 1 / 3), executor)               # probabilities
    set_env("MXNET_CHECK_INDICES", 0)
    _train([0, 3, 2, 1], executor)


def test_loss_of_gluon(checked):
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    with pytest.raises(IndexError, match="pick"):
        loss(mx.nd.array(DATA), mx.nd.array([0, 1, 2, 7])).asnumpy()


def test_variable_is_read_at_start():
    program = ("import mxnet as mx\ntry:\n    mx.nd.take(mx.nd.ones((2, 2)), "
               "mx.nd.array([5])).asnumpy()\nexcept IndexError as e:\n    print('raised', "
               "e)\nelse:\n    print('clipped')\n")
    for value, expected in (("1", "raised"), ("0", "clipped"), (None, "clipped")):
        env = {k: v for k, v in os.environ.items() if k != "MXNET_CHECK_INDICES"}
        if value is not None:
            env["MXNET_CHECK_INDICES"] = value
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0 and done.stdout.startswith(expected), (value, done)
