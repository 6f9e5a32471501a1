"""What programs of users did with 1.9.1, found by running them beside it."""
import numpy as np
import pytest

import mxnet as mx


@pytest.mark.parametrize("shape, dtype, axis", [((1, 3), "float32", 0), ((1, 2), "int32", 0), ((2, 3), "float32", 1), ((2,), "float32", 0)])
def test_concatenate_asserts_that_arrays_fit(shape, dtype, axis):
    with pytest.raises(AssertionError, match=r"\[concatenate\] array 1 has shape"):
        mx.nd.concatenate([mx.nd.ones((1, 2)), mx.nd.ones(shape, dtype=dtype)], axis=axis)


def test_concatenate_from_the_last_axis():
    joined = mx.nd.concatenate([mx.nd.ones((2, 1)), mx.nd.zeros((2, 2))], axis=-1)
    np.testing.assert_array_equal(joined.asnumpy(), [[1, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("make", [list, np.array, mx.nd.array])
def test_rows_in_any_order(make):
    x = mx.nd.sparse.row_sparse_array((make([[1, 2], [3, 4]]), make([3, 1])), shape=(5, 2), dtype="float32")
    dense = np.zeros((5, 2), "float32")
    dense[3], dense[1] = [1, 2], [3, 4]
    np.testing.assert_array_equal(x.asnumpy(), dense)
    np.testing.assert_array_equal((x * 2).asnumpy(), dense * 2)
    weight = mx.nd.ones((5, 2))
    mx.nd.sgd_update(weight, x, out=weight, lr=0.1)
    np.testing.assert_allclose(weight.asnumpy(), 1 - 0.1 * dense, rtol=1e-6)


def test_a_closed_reader_opens_again_for_a_key(tmp_path):
    names = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    with mx.recordio.MXIndexedRecordIO(*names, "w") as writer:
        for key in range(3):
            writer.write_idx(key, b"record %d" % key)
    reader = mx.recordio.MXIndexedRecordIO(*names, "r")
    reader.close()
    assert reader.read_idx(1) == b"record 1" and reader.is_open
    reader.close()
    with pytest.raises(RuntimeError, match="closed"):
        reader.read()
    reader.seek(2)
    assert reader.read() == b"record 2"
    reader.close()


def network(x, weight):
    y = mx.nd.Convolution(x, weight, no_bias=True, kernel=(3, 3), num_filter=2)
    return mx.nd.square(mx.nd.Pooling(mx.nd.relu(y), kernel=(2, 2), stride=(2, 2), pool_type="max")).sum()


def test_attacks_follow_the_gradient_of_inference():
    rng = np.random.RandomState(0)
    x, weight = mx.nd.array(rng.rand(1, 1, 6, 6)), mx.nd.array(rng.uniform(-0.5, 0.5, (2, 1, 3, 3)))
    x.attach_grad()
    gradients = []
    for training in (True, False):
        with mx.autograd.record(train_mode=training):
            loss = network(x, weight)
        loss.backward(train_mode=training)
        gradients.append(x.grad.asnumpy())
    np.testing.assert_allclose(*gradients, rtol=1e-6)
    step = 1e-2 * gradients[0] / np.abs(gradients[0]).max()
    risen, fallen = (network(x + mx.nd.array(s), weight).asscalar() for s in (step, -step))
    np.testing.assert_allclose(risen - fallen, 2 * (step * gradients[1]).sum(), rtol=1e-3)


def penalty(x, weights):
    """The square of the distance from 1 of the norm of a critic's gradient, as in WGAN-GP."""
    point = x.copy()
    point.attach_grad()
    with mx.autograd.record():
        hidden = mx.nd.sigmoid(mx.nd.FullyConnected(point, weights[0], weights[1], num_hidden=8))
        score = mx.nd.FullyConnected(hidden, weights[2], no_bias=True, num_hidden=1)
        slope = mx.autograd.grad(score, point, create_graph=True, retain_graph=True)[0]
        return mx.nd.square(slope.norm(axis=1) - 1).mean()


def test_gradient_penalties():
    rng = np.random.RandomState(0)
    weights = [mx.nd.array(rng.randn(*shape) * 0.5) for shape in ((8, 4), (8,), (1, 8))]
    x = mx.nd.array(rng.randn(5, 4))
    for weight in weights:
        weight.attach_grad()
    penalty(x, weights).backward()
    for number, weight in enumerate(weights):
        step = 1e-2 * weight.grad / weight.grad.abs().max()
        wanted = 2 * (step * weight.grad).sum().asscalar()
        moved = [[w + s if i == number else w for i, w in enumerate(weights)] for s in (step, -step)]
        found = penalty(x, moved[0]).asscalar() - penalty(x, moved[1]).asscalar()
        np.testing.assert_allclose(found, wanted, rtol=1e-2)
