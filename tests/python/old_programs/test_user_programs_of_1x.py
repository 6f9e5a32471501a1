"""What programs of users met: spellings, errors and converted graphs, as 1.9.1 has them."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd

BFLOAT16 = np.dtype([('bfloat16', np.uint16)])      # how programs of 1.9.1 spell it


# ---- bfloat16


def test_the_spelling_of_bfloat16():
    from mxnet.contrib.amp.amp import bfloat16
    assert bfloat16 == BFLOAT16
    x = nd.ones((2, 2))
    low = x.astype(BFLOAT16)
    assert low.dtype == BFLOAT16 and BFLOAT16 == low.dtype and not x.dtype == BFLOAT16 and not low.dtype != BFLOAT16
    assert low.dtype != np.dtype('uint16')
    made = [nd.zeros(2, dtype=BFLOAT16), nd.array([1, 2.5], dtype=BFLOAT16), nd.full((2,), 3, dtype=BFLOAT16), nd.empty(2, dtype=BFLOAT16),
            nd.arange(3, dtype=BFLOAT16), nd.cast(x, dtype=BFLOAT16), nd.amp_cast(x, dtype=BFLOAT16), nd.zeros_like(low)]
    assert all(a.dtype == BFLOAT16 for a in made)
    np.testing.assert_array_equal(nd.FullyConnected(low, low, no_bias=True, num_hidden=2).astype('float32').asnumpy(), np.full((2, 2), 2))
    layer = gluon.nn.Dense(2, in_units=2)
    layer.initialize()
    layer.cast(BFLOAT16)
    assert layer.weight.dtype == BFLOAT16 and layer.weight.data().dtype == BFLOAT16
    assert mx.sym.Variable('x', dtype=BFLOAT16).attr('__dtype__') == '12'
    assert all(t == BFLOAT16 for t in mx.sym.FullyConnected(mx.sym.Variable('x'), num_hidden=2).infer_type(x=BFLOAT16)[0])
    with pytest.raises(TypeError):
        nd.ones(2, dtype=np.dtype([('half', np.uint16)]))


# ---- errors and values of calls


@pytest.mark.parametrize('make', [nd.ones, nd.zeros])
def test_unknown_arguments_of_functions_that_make_arrays_can_be_caught_as_before(make):
    with pytest.raises(mx.MXNetError, match='foo'):
        make((2,), foo=3)
    with pytest.raises(TypeError, match='foo'):
        make((2,), foo=3)
    with pytest.raises(mx.MXNetError, match='foo'):
        nd.eye(2, foo=3)


def test_a_size_of_no_pixels_can_be_caught_as_before():
    with pytest.raises(mx.MXNetError, match='size=0'):
        mx.image.resize_short(nd.zeros((4, 6, 3), dtype='uint8'), 0)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
def test_none_is_written_as_nan(dtype):
    x = nd.ones((2, 2), dtype=dtype)
    x[0] = None
    np.testing.assert_array_equal(x.asnumpy(), [[np.nan] * 2, [1, 1]])
    x[:] = None
    assert np.isnan(x.asnumpy()).all()
    with pytest.raises(TypeError):
        nd.ones(2, dtype='int32')[:] = None


# ---- mixed precision


@pytest.mark.parametrize('op,kept', [('BatchNorm', {'n_gamma', 'n_beta'}), ('LayerNorm', set())])
@pytest.mark.parametrize('cast', [False, True])
def test_operators_that_keep_parameters_in_float32_run_in_16_bits(op, kept, cast):
    net = getattr(mx.sym, op)(mx.sym.Variable('data'), name='n')
    half = mx.contrib.amp.convert_symbol(net, target_dtype_ops=[op], fp32_ops=[], data_names=['data'], cast_optional_params=cast)
    casts = {n for n in half.get_internals().list_outputs() if n.endswith('_amp_cast_float16_output')}
    wanted = set(net.list_arguments()) - kept - {'data'}
    assert casts == {f'{n}_amp_cast_float16_output' for n in {'data'} | (set() if cast else wanted)}
    assert {n for n, a in half.attr_dict().items() if a.get('__dtype__') == '2'} == (wanted if cast else set())
    ex = half.simple_bind(mx.cpu(), data=(2, 3, 4))
    for name, array in ex.arg_dict.items():
        array[:] = np.random.RandomState(len(name)).uniform(0, 2, array.shape)
    assert np.isfinite(ex.forward(is_train=True)[0].asnumpy()).all() and ex.outputs[0].dtype == np.float32


# ---- histograms


@pytest.mark.parametrize('dtype,ends,bins,counts', [
    ('int32', (0, 3), 5, [0, 1, 1, 0, 3]), ('int64', (0.5, 3.5), 5, [0, 1, 0, 1, 2]), ('uint8', (-2, 4), 3, [0, 2, 3]),
    ('uint8', (0, 300), 3, [6, 2, 0]), ('uint8', (0, 256), 5, [6, 1, 1, 0, 0]), ('int8', (0, 256), 1, [8]),
    ('int32', (2.5, 2.9), 3, [0, 0, 0]),
    ('float32', (1, 1), 3, [0, 1, 0]), ('int32', (1, 1), 3, [0, 0, 1]),
    ('uint8', (-1, 255), 3, [6, 2, 0])])        # 1.9.1 writes the 6 before the counts
def test_edges_of_integers_are_rounded_but_the_range_is_not(dtype, ends, bins, counts):
    """A range that the dtype does not hold ended the process."""
    x = nd.array([0, 1, 2, 3, 3, 100, 120, 7], dtype=dtype)
    got, edges = nd.histogram(x, bins=bins, range=ends)
    assert got.asnumpy().tolist() == counts and edges.dtype == x.dtype and edges.shape == (bins + 1,)


# ---- values while autograd records


@pytest.mark.parametrize('kind', ['nd', 'np'])
@pytest.mark.parametrize('key', [slice(None), Ellipsis, slice(0, 2), (slice(None), slice(None))])
def test_values_of_numpy_for_a_whole_array_are_not_recorded(kind, key):
    x = getattr(mx, kind).array([[1., 2], [3, 4]])
    x.attach_grad()
    values = np.array([[4., 5], [6, 7]])
    with mx.autograd.record():
        x[key] = values
        assert mx.autograd.is_recording()
        y = (x * x).sum()
    y.backward()
    np.testing.assert_array_equal(x.asnumpy(), values)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * values)
    with mx.autograd.record():
        x[key] = values[0]
        for wrong_key, wrong in ((0, values[0]), (key, [4, 5]), (key, 3), (key, getattr(mx, kind).ones((2, 2)))):
            with pytest.raises(mx.MXNetError, match='not differentiable'):
                x[wrong_key] = wrong
    np.testing.assert_array_equal(x.asnumpy(), [[4, 5]] * 2)
    with mx.autograd.record():
        x._sync_copyfrom(values)
    np.testing.assert_array_equal(x.asnumpy(), values)


@pytest.mark.parametrize('optimizer', ['sgd', 'adam', 'lamb', 'adabelief'])
@pytest.mark.parametrize('kind', ['nd', 'np'])
def test_a_step_inside_of_record_is_an_error_at_once(optimizer, kind):
    """The weight was changed, and the next backward pass failed."""
    x = getattr(mx, kind).array([1., 2])
    x.attach_grad()
    update = mx.optimizer.get_updater(mx.optimizer.create(optimizer, learning_rate=0.1))
    with mx.autograd.record():
        loss = (x * x).sum()
        loss.backward()
        with pytest.raises(mx.MXNetError, match=r'or write behind record\(\)'):
            update(0, x.grad, x)
        with mx.autograd.pause():
            update(0, x.grad, x)
        loss = (x * x).sum()
    loss.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * x.asnumpy())
    assert (x.asnumpy() < [1, 2]).all()


# ---- gradients of results


def test_a_result_of_mx_np_with_a_gradient_hands_it_on():
    """As in 2.0; what it was computed from got zeros. Results of mx.nd are cut off, as in 1.9.1."""
    x = mx.np.array([1., 2])
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        early = y * 3
        y.attach_grad()
        z = y * y + early
        z.attach_grad()
        loss = (z * z).sum()
    loss.backward(retain_graph=True)
    wanted = 2 * np.array([10, 28.]), 2 * np.array([10, 28.]) * [7, 11], 4 * np.array([10, 28.]) * [7, 11]
    for array, gradient in zip((z, y, x), wanted):
        np.testing.assert_array_equal(array.grad.asnumpy(), gradient)
    y_grad, x_grad = mx.autograd.grad(loss, [y, x], retain_graph=True)      # leaves the others alone
    np.testing.assert_array_equal(y_grad.asnumpy(), wanted[1])
    np.testing.assert_array_equal(x_grad.asnumpy(), wanted[2])
    y.attach_grad('add')            # instead of the one before
    for passes in (1, 2):
        loss.backward(retain_graph=True)
        np.testing.assert_array_equal(y.grad.asnumpy(), passes * wanted[1])
        np.testing.assert_array_equal(x.grad.asnumpy(), wanted[2])
    y.drop_grad()
    assert y.grad is None
    loss.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), wanted[2])


def test_gradients_of_one_of_several_results_and_of_none():
    x = mx.np.array([1., 2])
    x.attach_grad()
    with mx.autograd.record():
        first, second = mx.np.split(x * 2, 2)
        first.attach_grad()
        (first * second * 3).sum().backward()
        np.testing.assert_array_equal(first.grad.asnumpy(), [12])
        np.testing.assert_array_equal(x.grad.asnumpy(), [24, 12])
        y = x * 2
        y.attach_grad()
        y.grad[:] = 7
        with pytest.raises(mx.MXNetError, match='not differentiable'):
            mx.np.exp(x, out=y)
        (mx.npx.stop_gradient(y) * x).sum().backward()
    np.testing.assert_array_equal(y.grad.asnumpy(), [0, 0])
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


def test_a_result_of_mx_nd_with_a_gradient_is_a_variable():
    x = nd.array([1., 2])
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        y.attach_grad()
        (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0])
    np.testing.assert_array_equal(y.grad.asnumpy(), [4, 8])
