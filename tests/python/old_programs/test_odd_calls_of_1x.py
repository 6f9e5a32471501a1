"""Answers to odd calls that paired runs against 1.9.1 found to differ: numbers as its wheel gives
them, unless a test says otherwise."""
import json
import operator
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd, sym

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize('name', ['log_softmax', 'softmin'])
def test_data_comes_by_name_and_the_axis_by_position(name):
    x = nd.array([[1, 2, 3], [4, 6, 5]])
    want = getattr(nd, name)(x, axis=0).asnumpy()
    for got in (getattr(nd, name)(data=x, axis=0), getattr(nd, name)(x, 0),
                getattr(sym, name)(data=sym.Variable('x'), axis=0).eval(x=x)[0],
                getattr(sym, name)(sym.Variable('x'), 0).eval(x=x)[0]):
        np.testing.assert_array_equal(got.asnumpy(), want)
    assert getattr(sym, name)(sym.Variable('x')).list_arguments() == ['x']


def test_log_softmax_of_lengths():
    x, length = mx.np.array([[1.0, 2, 3], [4, 6, 5]]), mx.np.array([2, 3], dtype='int32')
    got = mx.npx.log_softmax(x, axis=-1, length=length, use_length=True).asnumpy()
    np.testing.assert_allclose(np.exp(got[0, :2]).sum(), 1, rtol=1e-6)
    np.testing.assert_allclose(np.exp(got[1]).sum(), 1, rtol=1e-6)


def test_signs_do_not_know_the_factor_of_the_gradient():
    for factor in (-1, 0, 2):
        got = nd.signsgd_update(nd.ones(2), nd.array([1, -1]), lr=0.1, wd=0.5, rescale_grad=factor)
        np.testing.assert_allclose(got.asnumpy(), [0.85, 1.05], rtol=1e-6)


def test_ftrl_keeps_nan():
    got = nd.ftrl_update(nd.array([1, NAN]), nd.array([1, NAN]), nd.zeros(2), nd.zeros(2), lr=0.1)
    np.testing.assert_allclose(got.asnumpy(), [0.4495, NAN], rtol=1e-5)


@pytest.mark.parametrize('dtype', ['float32', 'float64', 'float16'])
def test_an_infinite_element_makes_normalized_rows_nan(dtype):
    x = nd.array([[[INF, 1, 2, 3], [1, 2, 3, 4]]], dtype=dtype)
    one, zero = nd.ones(4, dtype=dtype), nd.zeros(4, dtype=dtype)
    two = one[:2], zero[:2]
    for y in (nd.LayerNorm(x, one, zero), nd.GroupNorm(x, *two, num_groups=2),
              nd.InstanceNorm(x, *two)):
        assert np.isnan(y[0, 0].asnumpy()).all() and np.isfinite(y[0, 1].asnumpy()).all()


@pytest.mark.parametrize('channels', [5, 40])
@pytest.mark.parametrize('odd', [INF, -INF, NAN])
def test_an_infinite_channel_stays_within_its_windows(odd, channels):
    x = np.random.default_rng(0).standard_normal((2, channels, 3, 3)).astype('float32')
    x[0, 1, 1, 1] = odd
    got = nd.LRN(nd.array(x), nsize=3, alpha=0.5).asnumpy()
    squares = np.pad(x.astype('float64') ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))
    with np.errstate(invalid='ignore'):
        want = x * (2 + 0.5 / 3 * (squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:])) ** -0.75
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert np.isnan(got).sum() == (3 if np.isnan(odd) else 1)


def test_a_slice_without_step():
    x = nd.arange(24).reshape((2, 3, 4))
    got = nd.slice(x, begin=(0, 1), end=(2, 3), step=None).asnumpy()
    np.testing.assert_array_equal(got, x.asnumpy()[0:2, 1:3])
    got = nd.slice(x, begin=(0, 2), end=(2, 0), step=(None, -1)).asnumpy()
    np.testing.assert_array_equal(got, x.asnumpy()[0:2, 2:0:-1])


def test_cumsum_has_its_old_name_in_files_without_numpy():
    graph = sym.cumsum(sym.Variable('x'), axis=0)
    assert json.loads(graph.tojson())['nodes'][1]['op'] == '_np_cumsum'
    with mx.util.np_shape(True):
        assert json.loads(graph.tojson())['nodes'][1]['op'] == '_npi_cumsum'
    assert sym.load_json(graph.tojson()).eval(x=nd.ones(3))[0].asnumpy().tolist() == [1, 2, 3]


def test_gradients_of_norms_over_nothing():
    """1.9.1 refuses these."""
    for function, channels in ((nd.LayerNorm, 0), (lambda *a: nd.GroupNorm(*a, num_groups=2), 4)):
        x = mx.np.zeros((3, 4, 0)).as_nd_ndarray()
        gamma, beta = (mx.np.ones((channels,)).as_nd_ndarray() for _ in range(2))
        for a in (x, gamma, beta):
            a.attach_grad()
        with autograd.record():
            y = function(x, gamma, beta)
        y.backward()
        assert x.grad.shape == (3, 4, 0)
        assert not gamma.grad.asnumpy().any() and not beta.grad.asnumpy().any()


@pytest.mark.parametrize('dtype', ['float64', 'float16', 'int32'])
def test_draws_with_arrays_as_parameters_are_float32(dtype):
    a, b, half = (nd.array(v, dtype=dtype) for v in ([1, 2], [3, 4], [1, 1]))
    for draw in (lambda **k: nd.random.uniform(a, b, **k), lambda **k: nd.random.normal(a, b, **k),
                 lambda **k: nd.random.poisson(a, **k), lambda **k: nd.random.gamma(a, b, **k),
                 lambda **k: nd.random.exponential(a, **k),
                 lambda **k: nd.sample_uniform(a, b, **k),
                 lambda **k: nd.random.negative_binomial(a, half, **k),
                 lambda **k: nd.random.generalized_negative_binomial(a, b, **k)):
        assert draw().dtype == np.float32 and draw(dtype='float64').dtype == np.float64
    graph = sym.random.normal(sym.Variable('a'), sym.Variable('b'))
    assert graph.infer_type(a=dtype)[1] == [np.float32]


def test_one_scale_of_a_resized_image_is_ignored():
    x = nd.arange(16).reshape((1, 1, 4, 4))
    want = nd.contrib.BilinearResize2D(x, height=6, width=3).asnumpy()
    for scale in ({'scale_width': 2}, {'scale_height': 0.5}):
        got = nd.contrib.BilinearResize2D(x, height=6, width=3, **scale).asnumpy()
        np.testing.assert_array_equal(got, want)


def test_absolute_regression_goes_down_where_label_and_output_agree():
    x = nd.array([[0, 1, -1, 2]])
    x.attach_grad()
    with autograd.record():
        y = nd.MAERegressionOutput(x, nd.array([[0, 0, 0, 2]]))
    y.backward()
    assert x.grad.asnumpy().tolist() == [[-0.25, 0.25, -0.25, -0.25]]


def test_lars_with_odd_factors():
    rates, wds = nd.array([0.1, 0.2]), nd.array([0.1, 0.1])
    for factor, want in ((0, [0.49751243, 0.99667776]), (-1, [-0.12515645, -0.17657447])):
        got = nd.multi_lars(rates, nd.array([4, 9]), nd.array([1, 4]), wds, eta=0.5, eps=1e-3,
                            rescale_grad=factor)
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5)
    got = nd.multi_lars(rates, nd.array([0, 9]), nd.array([1, 0]), wds, eta=0.5, eps=1e-3)
    np.testing.assert_allclose(got.asnumpy(), [0.1, 0.2], rtol=1e-6)


def test_a_channel_with_an_infinity_is_nan_in_batch_norm():
    x = nd.array(np.random.RandomState(0).normal(size=(2, 2, 3)).astype('float32'))
    x[0, 0, 1] = np.inf
    gamma, beta, mean, var = nd.ones(2), nd.zeros(2), nd.zeros(2), nd.ones(2)
    with autograd.train_mode():
        y = nd.BatchNorm(x, gamma, beta, mean, var, axis=1).asnumpy()
    assert np.isnan(y[:, 0]).all() and np.isfinite(y[:, 1]).all()


@pytest.mark.parametrize('source,want', [
    (np.array([1, 2.5], dtype=object), [1, 2.5]), (np.array([[1, True], [2, 3.5]], dtype=object), [[1, 1], [2, 3.5]]),
    ([1, None], [1, NAN]), (np.array([1, None], dtype=object), [1, NAN]),
    ('1,2.5'.split(','), [1, 2.5]), (np.array(['1', '2.5']), [1, 2.5])])
def test_tables_of_objects_and_texts_are_numbers(source, want):
    np.testing.assert_array_equal(nd.array(source).asnumpy(), want)
    x = nd.zeros(np.shape(want))
    x[:] = source
    np.testing.assert_array_equal(x.asnumpy(), want)


def test_what_is_no_table_of_numbers():
    for wrong in ('1', ['a'], [[1, 2], [3]], {1: 2}):
        with pytest.raises(TypeError):
            nd.array(wrong)
    with pytest.raises(ValueError):
        nd.array(np.array(['a']))
    assert nd.array(['1', '2'], dtype='int32').dtype == np.int32


def test_foreign_sparse_arrays_are_refused_with_what_to_do():
    class Matrix:
        def toarray(self):
            return np.eye(2)
    with pytest.raises(TypeError, match=r'got a Matrix, where a dense array is made; accepted: what its toarray\(\) gives'):
        nd.array(Matrix())
    with pytest.raises(TypeError, match=r'accepted: what its toarray\(\) gives'):
        mx.np.array(Matrix())


@pytest.mark.parametrize('binding', ['1', '0'])
def test_arrays_are_not_compared_with_lists(binding):
    """Which would be False, as of any two objects."""
    program = textwrap.dedent("""
        import mxnet as mx
        x = mx.nd.ones(2)
        for compare in (lambda: x == [1, 1], lambda: (1, 1) != x, lambda: x in [[1, 1]]):
            try:
                compare()
            except TypeError as e:
                assert "an array compared with a" in str(e), e
            else:
                raise AssertionError
        assert not x == None and x != "a" and x in [x]
        assert (mx.np.ones(2) == [1, 1]).all()
    """)
    run = subprocess.run([sys.executable, '-c', program], env=dict(os.environ, MXNET_ENABLE_CYTHON=binding), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_log_file_has_the_texts_alone(tmp_path):
    path = tmp_path / 'log.txt'
    logger = mx.log.get_logger('test_odd_calls', filename=str(path), level=mx.log.INFO)
    logger.info('epoch %d', 3)
    logger.debug('not this')
    assert path.read_text() == 'epoch 3\n'


@pytest.mark.parametrize('wrong,kinds', [
    (lambda: mx.gluon.nn.Conv2D(3, 3, groups=2), (mx.MXNetError, ValueError, AssertionError)),
    (lambda: mx.gluon.rnn.RNN(3, activation='foo'), (KeyError, ValueError))])
def test_errors_of_layers_are_of_both_kinds(wrong, kinds):
    for kind in kinds:
        with pytest.raises(kind):
            wrong()


@pytest.mark.parametrize('spelling,name', [('f4', 'float32'), ('double', 'float64'), ('half', 'float16'), ('int', 'int64'),
                                           ('i8', 'int64'), ('>f4', 'float32'), (np.dtype('>i4'), 'int32')])
def test_numpys_other_spellings_of_dtypes(spelling, name):
    x = nd.array([1, 2])
    for got in (nd.cast(x, dtype=spelling), nd.one_hot(x, 3, dtype=spelling), x.topk(dtype=spelling), x.astype(spelling),
                nd.zeros(2, dtype=spelling), nd.array([1], dtype=spelling)):
        assert np.dtype(got.dtype).name == name
    assert sym.cast(sym.Variable('x'), dtype=spelling).attr('dtype') == name
    if name.startswith('float'):
        assert np.dtype(nd.random.uniform(shape=2, dtype=spelling).dtype).name == name


def test_dtypes_that_do_not_exist():
    for kind in (TypeError, KeyError, mx.MXNetError):
        with pytest.raises(kind, match='float32'):
            nd.array([1], dtype=np.complex64)
    with pytest.raises(mx.MXNetError, match='float32'):
        nd.cast(nd.ones(1), dtype='Float32')


def test_integers_of_numpy_are_sizes():
    assert mx.gluon.nn.Conv2D(2, np.int64(3)).weight.shape[2:] == (3, 3)
    assert mx.gluon.nn.MaxPool2D(np.int32(2))(nd.ones((1, 1, 4, 4))).shape == (1, 1, 2, 2)
    assert [part.shape for part in nd.split_v2(nd.ones((6, 2)), np.int64(3))] == [(2, 2)] * 3


def test_axes_of_numpy_and_shapes_as_texts():
    assert nd.moveaxis(nd.zeros((2, 3, 4)), np.array([0, 1]), (1, 2)).shape == (4, 2, 3)
    assert nd.moveaxis(nd.zeros((2, 3, 4)), np.int64(0), -1).shape == (3, 4, 2)
    for shape in ('(2, 3)', '[2, 3]', np.array([2, 3])):
        assert sym.relu(sym.Variable('x', shape=shape)).infer_shape()[1] == [(2, 3)]


def test_a_product_in_place_is_never_written_for_a_number():
    x = nd.ones((2, 2))
    for call in (lambda: x @ 2, lambda: 2 @ x, lambda: operator.imatmul(x, 2)):
        with pytest.raises(TypeError, match='unsupported operand'):
            call()
    assert (x.asnumpy() == 1).all()
    x @= nd.ones((2, 2))
    assert (x.asnumpy() == 2).all()


def test_reshape_takes_the_shape_by_position_where_both_are_given():
    x = nd.ones((2, 3))
    assert x.reshape((3, 2), shape=(6,)).shape == x.reshape(3, 2, shape=(6,)).shape == (3, 2)
    assert mx.sym.var('x').reshape().list_attr() == {}


def test_averages_but_macro_count_as_micro():
    def value(average, kind):
        metric = getattr(mx.metric, kind)(average=average)
        metric.update([nd.array([1, 0, 1])], [nd.array([[.1, .9], [.2, .8], [.8, .2]])])
        metric.update([nd.array([1, 0, 1, 1])], [nd.array([[.1, .9], [.2, .8], [.2, .8], [.3, .7]])])
        return metric.get()[1]
    for kind in ('F1', 'MCC'):
        assert value('weighted', kind) == value('micro', kind) != value('macro', kind)
    assert value('weighted', 'F1') == pytest.approx(0.7272727)     # 1.9.1's


def test_initializers_warn_before_they_refuse_a_name():
    with pytest.warns(DeprecationWarning), pytest.raises(TypeError, match='name must be string'):
        mx.init.Zero()(3, nd.ones((2,)))


def test_sentences_come_with_the_batch_first_in_any_layout_that_says_so():
    batches = mx.rnn.BucketSentenceIter([[1, 2, 3], [2, 3]], 1, buckets=[3, 4], layout='NN')
    assert batches.major_axis == 0 and batches.provide_data[0].shape == (1, 4)
    with pytest.raises(ValueError, match='layout'):
        mx.rnn.BucketSentenceIter([[1, 2, 3], [2, 3]], 1, buckets=[3, 4], layout='XX')


def test_arrays_without_a_shape_are_so_through_ctypes_too():
    program = '''
import mxnet as mx
x = mx.nd.NDArray(None)
assert x.ndim == -1 and x.size == 0 and x.shape == () and x.__getstate__() == {"handle": None} and "empty" in repr(x)
assert mx.np.ones(()).ndim == 0
'''
    subprocess.run([sys.executable, '-c', program], check=True, env={**os.environ, 'MXNET_ENABLE_CYTHON': '0'})


def test_ctc_refuses_more_labels_than_steps():
    """What programs that mix up the layouts of data call: a loss of 0 would hide it."""
    labels = nd.array([[1, 2, 0]])
    with pytest.raises(mx.MXNetError, match=r'as many steps as labels, 3, are needed'):
        nd.CTCLoss(nd.ones((2, 1, 4)), labels)
    with pytest.raises(mx.MXNetError, match=r'as many steps as labels'):
        sym.CTCLoss(sym.var('data'), sym.var('label')).infer_shape(data=(2, 1, 4), label=(1, 3))
    assert nd.CTCLoss(nd.ones((3, 1, 4)), labels).asscalar() > 0


def test_symbols_beside_numbers_as_parameters_of_a_distribution_are_an_assertion():
    for draw, names in ((sym.random.normal, 'mu=.*, sigma=1'), (sym.random.gamma, 'alpha=.*, beta=1')):
        with pytest.raises(AssertionError, match=names) as error:
            draw(sym.var('a'), 1)
        assert isinstance(error.value, ValueError)


def test_loop_variables_of_a_loop_without_steps_are_what_came_in():
    start = (nd.array([0]), nd.array([1]))
    for variables, most, kind in ((start, 0, tuple), (start, -1, tuple), (list(start), 0, list), (start, 3, list)):
        _, last = nd.contrib.while_loop(lambda i, s: i < 2, lambda i, s: (s, [i + 1, s]), variables, max_iterations=most)
        assert type(last) is kind and len(last) == 2


@pytest.mark.parametrize('method', ['add', 'sub', 'mul', 'truediv', 'mod', 'pow', 'eq', 'ne', 'lt', 'ge'])
@pytest.mark.parametrize('number', [np.int64(3), np.float32(2.5), np.bool_(True), np.uint8(200), np.array(2.5)])
def test_numbers_of_numpy_in_front_count_as_those_of_python(method, number):
    """They were put into the array's dtype first; beside truth values that was an error."""
    function = getattr(operator, method)
    for dtype in ('bool', 'uint8', 'int32', 'float16', 'float64'):
        array = nd.array([0, 1, 200], dtype=dtype)
        answer, wanted = function(number, array), function(number.item(), array)
        assert answer.dtype == wanted.dtype
        np.testing.assert_array_equal(answer.asnumpy(), wanted.asnumpy())


def test_negative_numbers_of_numpy_in_front_of_bytes():
    bytes_ = nd.array([0, 200], dtype='uint8')
    assert (np.int64(-1) < bytes_).asnumpy().tolist() == (bytes_ > np.int64(-1)).asnumpy().tolist() == [1, 1]
    assert (np.float32(3.7) * nd.array([1, 0], dtype='bool')).asnumpy().tolist() == [3, 0]   # 1.9.1's


def test_lists_among_parameters_stay_lists_in_attributes():
    net = sym.Convolution(sym.var('x'), name='c', kernel=[3, np.int64(2)], num_filter=2, pad=(1, 1))
    assert {k: net.attr_dict()['c'][k] for k in ('kernel', 'pad')} == {'kernel': '[3, 2]', 'pad': '(1, 1)'}
    assert sym.sum(net, axis=[0], name='s').attr('axis') == '[0]'
    assert sym.load_json(net.tojson()).infer_shape(x=(1, 1, 5, 5))[1] == [(1, 2, 5, 6)]
    assert nd.transpose(nd.ones((2, 3)), axes=[1, 0]).shape == (3, 2)
