"""mx.npx: its functions give what MXNet 2.0 gives for arrays, symbols and hybridized blocks,
gradients included; files, loops, switches and devices."""
import os
import threading

import numpy as onp
import pytest

import mxnet as mx
from mxnet import gluon, npx
from mxnet.numpy._dispatch import from_values
from npx_cases import CASES, random

pytestmark = pytest.mark.usefixtures("numpy_semantics")

ORACLE = onp.load(os.path.join(os.path.dirname(os.path.dirname(__file__)), 'data', 'npx.npz'))
# 2.0 has other gradients here than its own finite differences; test_operators.py checks ours.
WRONG_GRADIENTS = {'leaky_relu selu', 'pooling', 'image.flip_left_right', 'image.flip_top_bottom'}


def array(values, dtype=None):
    return from_values(onp.asarray(values), None, dtype or onp.asarray(values).dtype)


def function(space, name):
    for part in name.split('.'):
        space = getattr(space, part)
    return space


def recorded(name):
    found = []
    while f'{name}|{len(found)}' in ORACLE:
        found.append(ORACLE[f'{name}|{len(found)}'])
    assert found, name
    return found


def as_list(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def check(name, out):
    out, expected = as_list(out), recorded(name)
    assert len(out) == len(expected)
    for got, want in zip(out, expected):
        assert type(got) is mx.np.ndarray
        assert got.shape == want.shape and onp.dtype(got.dtype) == want.dtype, (got.shape, want.shape, got.dtype, want.dtype)
        onp.testing.assert_allclose(got.asnumpy(), want, rtol=2e-5, atol=2e-6)


def case(name):
    short, arrays, params = CASES[name]
    return short, [array(a) for a in arrays], params


@pytest.mark.parametrize('name', CASES)
def test_arrays(name):
    short, arrays, params = case(name)
    check(name, function(npx, short)(*arrays, **params))


@pytest.mark.parametrize('name', [n for n in CASES if f'{n}|grad' in ORACLE and n not in WRONG_GRADIENTS])
def test_gradient(name):
    short, arrays, params = case(name)
    arrays[0].attach_grad()
    with mx.autograd.record(train_mode=False):
        first = as_list(function(npx, short)(*arrays, **params))[0]
    first.backward(array(onp.cos(onp.arange(first.size)).reshape(first.shape), 'float32'))
    assert type(arrays[0].grad) is mx.np.ndarray
    onp.testing.assert_allclose(arrays[0].grad.asnumpy(), ORACLE[f'{name}|grad'], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('name', CASES)
def test_symbols(name):
    short, arrays, params = case(name)
    variables = [mx.sym.var(f'v{i}').as_np_ndarray() for i in range(len(arrays))]
    out = as_list(function(npx, short)(*variables, **params))
    given = {f'v{i}': a for i, a in enumerate(arrays)}
    results = []
    for symbol in out:
        assert type(symbol) is mx.sym.np._Symbol
        args = {n: given[n] for n in symbol.list_arguments()}
        aux = {n: given[n] for n in symbol.list_auxiliary_states()}
        results += symbol.bind(mx.cpu(), args, aux_states=aux).forward()
    check(name, results)




@pytest.mark.parametrize('name', [n for n in CASES if not n.startswith(('bipartite', 'nonzero'))])
def test_hybridized_blocks(name):
    short, arrays, params = case(name)

    class Net(gluon.HybridBlock):
        def forward(self, *given):
            return function(npx, short)(*given, **params)
    net = Net()
    net.hybridize()
    for _ in range(2):
        check(name, net(*arrays))
    assert net._cached_op is not None


@pytest.mark.parametrize('name', ['activation', 'convolution', 'layer_norm', 'pooling', 'embedding', 'one_hot', 'pick', 'topk', 'softmax',
                                  'batch_norm', 'leaky_relu', 'reshape', 'sequence_mask', 'fully_connected'])
def test_hybrid_forward(name):
    short, arrays, params = case(name)
    if short == 'activation':
        params = {'act_type': 'relu'}   # 1.9.1 has no default here

    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, *given):
            return getattr(F.npx, short)(*given, **params, name='fwd')
    net = Net()
    check(name, net(*arrays))
    net.hybridize()
    check(name, net(*arrays))
    out = as_list(net(*(mx.sym.var(f'v{i}').as_np_ndarray() for i in range(len(arrays)))))[0]
    assert type(out) is mx.sym.np._Symbol and out.name.endswith('fwd')


def test_names_of_2_0():
    listed = """Device activation add_n arange_like batch_dot batch_flatten batch_norm batch_norm_with_relu bipartite_matching box_decode
        box_encode box_iou box_nms broadcast_greater broadcast_like cast cond constraint_check convolution cpu cpu_pinned ctc_loss
        current_device deconvolution deformable_convolution digamma dropout embedding erf erfinv foreach from_dlpack from_numpy
        fully_connected gamma gammaln gather_nd get_cuda_compute_capability gpu gpu_memory_info group_norm image index_add index_update
        instance_norm interleaved_matmul_encdec_qk interleaved_matmul_encdec_valatt interleaved_matmul_selfatt_qk
        interleaved_matmul_selfatt_valatt is_np_array is_np_default_dtype is_np_shape layer_norm leaky_relu load log_softmax
        masked_log_softmax masked_softmax modulated_deformable_convolution multibox_detection multibox_prior multibox_target nonzero norm
        num_gpus one_hot pad pick pooling random relu reset_np reshape reshape_like rnn roi_pooling round_ste save savez scalar_poisson
        sequence_last sequence_mask sequence_reverse set_np set_np_default_dtype shape_array sigmoid sign_ste sldwin_atten_context
        sldwin_atten_mask_like sldwin_atten_score slice slice_channel slice_like smooth_l1 softmax softsign stop_gradient sync_batch_norm
        tensor_poisson to_dlpack_for_read to_dlpack_for_write topk utils waitall while_loop seed""".split()
    for space in (npx, mx.nd.npx):
        assert [n for n in listed if not hasattr(space, n) or n not in dir(space)] == []
    operators = [n for n in listed if hasattr(mx.sym.npx, n)]
    assert len(operators) > 80 and {'foreach', 'cond', 'while_loop', 'image', 'random'} <= set(operators)


def test_names_of_1_9_1_are_accepted_as_keywords():
    x, w = array(random(2, 3)), array(random(4, 3))
    want = npx.fully_connected(x, w, num_hidden=4).asnumpy()
    assert onp.array_equal(npx.fully_connected(data=x, weight=w, num_hidden=4).asnumpy(), want)
    assert onp.array_equal(npx.one_hot(indices=array([1, 0]), depth=2).asnumpy(), onp.eye(2)[[1, 0]])
    assert npx.batch_dot(lhs=array(random(1, 2, 3)), rhs=array(random(1, 3, 2))).shape == (1, 2, 2)
    ones = [array(onp.ones(3, 'f')) for _ in range(4)]
    assert npx.batch_norm(data=x, gamma=ones[0], beta=ones[1], moving_mean=ones[2], moving_var=ones[3]).shape == (2, 3)


def test_batch_norm_updates_its_averages_in_training():
    x, mean, var = array(random(4, 3)), array(onp.zeros(3, 'f')), array(onp.ones(3, 'f'))
    with mx.autograd.record():
        npx.batch_norm(x, array(onp.ones(3, 'f')), array(onp.zeros(3, 'f')), mean, var, momentum=.5)
    onp.testing.assert_allclose(mean.asnumpy(), .5 * x.asnumpy().mean(0), rtol=1e-5)


@pytest.mark.parametrize('given, error', [
    (lambda: npx.relu(mx.nd.ones((2,))), 'one of mx.np'),
    (lambda: npx.relu(onp.ones(2)), 'accepted: an NDArray'),
    (lambda: npx.relu(2.), 'accepted: an NDArray'),
    (lambda: npx.relu(), 'got 0 inputs'),
    (lambda: npx.dropout(array([1.]), strength=1), 'strength'),
    (lambda: npx.fully_connected(array([[1.]]), array([[1.]])), 'num_hidden'),
    (lambda: npx.softmax(array([1.]), array([1])), 'it takes 1'),
    (lambda: npx.activation(array([1.]), 'no_such'), 'no_such'),
    (lambda: npx.relu(mx.sym.var('x')), 'as_np_ndarray'),
    (lambda: npx.add_n(mx.sym.var('x').as_np_ndarray(), array([1.])), 'beside symbols'),
    (lambda: npx.no_such_function, 'no such operator'),
])
def test_errors_name_what_is_wrong(given, error):
    with pytest.raises((TypeError, ValueError, AttributeError), match=error):
        given()


def test_out():
    x = array(random(2, 3))
    out = array(onp.zeros((2, 3), 'f'))
    assert npx.relu(x, out=out) is out and (out.asnumpy() >= 0).all() and out.asnumpy().any()


def test_random_operators_with_and_without_arrays():
    assert npx.scalar_poisson(lam=3., shape=(2,)).shape == (2,)
    assert npx.tensor_poisson(lam=array([1., 2.], 'float32'), shape=(3,)).shape == (2, 3)


# ---- switches

def test_set_np_and_reset_np():
    assert npx.is_np_array() and npx.is_np_shape() and not npx.is_np_default_dtype()
    npx.set_np(dtype=True)
    assert npx.is_np_default_dtype() and mx.util.is_np_default_dtype()
    npx.set_np()
    assert not npx.is_np_default_dtype()
    assert npx.set_np_default_dtype(True) is False and npx.set_np_default_dtype(False) is True
    npx.reset_np()
    assert not (npx.is_np_array() or npx.is_np_shape() or npx.is_np_default_dtype())
    with pytest.raises(ValueError, match='Shape semantics is required'):
        npx.set_np(shape=False)
    npx.set_np(shape=True, array=False)
    assert npx.is_np_shape() and not npx.is_np_array()


def test_switches_are_of_a_thread():
    seen = []
    thread = threading.Thread(target=lambda: seen.append((npx.is_np_array(), npx.is_np_shape())))
    thread.start()
    thread.join()
    assert seen == [(False, False)]


def test_what_was_made_before_stays_as_it_is():
    npx.reset_np()
    old, symbol = mx.nd.array([[1, 2], [3, 4]]), mx.sym.var('x')
    total = mx.sym.sum(symbol)
    net = gluon.nn.Dense(2, in_units=2)
    net.initialize(mx.init.One())
    net.hybridize()
    before = net(old)
    executor = total.bind(mx.cpu(), {'x': old})
    npx.set_np()
    assert type(old) is mx.nd.NDArray and type(old + 1) is mx.nd.NDArray and type(old.sum()) is mx.nd.NDArray
    assert type(symbol * 2) is mx.sym.Symbol and type(total) is mx.sym.Symbol
    assert type(executor.forward()[0]) is mx.nd.NDArray
    npx.reset_np()
    after = net(old)
    assert type(before) is type(after) is mx.nd.NDArray and onp.array_equal(before.asnumpy(), after.asnumpy())
    assert old[0].shape == (2,) and old.sum().shape == (1,)
    new = array([1., 2.])
    assert type(new) is mx.np.ndarray and type(npx.relu(new)) is mx.np.ndarray and type(new + 1) is mx.np.ndarray


# ---- loops

def test_foreach():
    step = lambda x, total: (x + total, x + total)    # noqa: E731
    sums, last = npx.foreach(step, array([1., 2., 3.]), array(0.))
    assert sums.asnumpy().tolist() == [1, 3, 6] and last.shape == () and float(last.asnumpy()) == 6
    outs, states = npx.foreach(lambda d, s: ([d[0] + s[0], d[1]], [s[0] + d[1]]), [array(random(3, 2)), array(random(3, 2))],
                               [array(onp.zeros(2, 'f'))])
    assert [o.shape for o in outs] == [(3, 2), (3, 2)] and states[0].shape == (2,)


def test_while_loop():
    (outs,), (i, s) = npx.while_loop(lambda i, s: i <= 5, lambda i, s: ([i + s], [i + 1, s + i]), (array([0.]), array([1.])), 10)
    assert outs.asnumpy().ravel().tolist() == [1, 2, 4, 7, 11, 16, 0, 0, 0, 0]
    assert (i.asnumpy().tolist(), s.asnumpy().tolist()) == ([6], [16])
    with pytest.raises(ValueError, match='max_iterations should be specified'):
        npx.while_loop(lambda i: i < 0, lambda i: ([i], [i + 1]), [array([0.])])


def test_cond():
    x = array([1., 2.])
    for pred, want in ((lambda a, b: a[1] > 1, [2, 4]), (lambda a, b: a[1] < 1, [0, 0]), (array(True), [2, 4]), (False, [0, 0])):
        assert npx.cond(pred, lambda a, b: a + b, lambda a, b: a - b, [x, x]).asnumpy().tolist() == want
    assert npx.cond(lambda a: a[0] > 5, lambda a: [a + 1], lambda a: [a - 1], x)[0].asnumpy().tolist() == [0, 1]


def test_loops_of_symbols():
    x, y = (mx.sym.var(n).as_np_ndarray() for n in 'xy')
    sums, last = npx.foreach(lambda d, s: (d + s, d * 2), x, y)
    for data, start in ((random(3), onp.float32(0)), (random(3, 2), onp.zeros(2, 'f'))):
        given = {'x': array(data), 'y': array(start)}
        assert sums.eval(**given)[0].shape == data.shape and last.eval(**given)[0].shape == data.shape[1:]
        eager = npx.foreach(lambda d, s: (d + s, d * 2), given['x'], given['y'])
        onp.testing.assert_allclose(sums.eval(**given)[0].asnumpy(), eager[0].asnumpy())
    chosen = npx.cond(lambda a, b: a > b, lambda a, b: a + 1, lambda a, b: b * 2, [x, y])
    assert float(chosen.eval(x=array(3.), y=array(1.))[0].asnumpy()) == 4
    assert float(chosen.eval(x=array(1.), y=array(3.))[0].asnumpy()) == 6
    (out,), last = npx.while_loop(lambda i, s: i < 3, lambda i, s: ([s], [i + 1, s * 2]), [x, y], 5)
    assert out.eval(x=array(0.), y=array(1.))[0].asnumpy().tolist() == [1, 2, 4, 0, 0]
    assert float(last[1].eval(x=array(0.), y=array(1.))[0].asnumpy()) == 8


# ---- files

def test_save_and_load(tmp_path):
    x, scalar, empty = array(random(2, 3)), array(3.5, 'float32'), array(onp.zeros((0, 2), 'int64'))
    path = str(tmp_path / 'one')
    npx.save(path, x)
    assert onp.array_equal(onp.load(path), x.asnumpy()) and type(npx.load(path)) is mx.np.ndarray
    assert type(mx.nd.load(path)[0]) is mx.nd.NDArray
    for dtype in ('bool', 'int8', 'uint8', 'int32', 'int64', 'float16', 'float64'):
        npx.save(path, x.astype(dtype))
        assert npx.load(path).dtype == onp.dtype(dtype)
    npx.savez(path, x, scalar, q=empty)
    with onp.load(path) as data:
        assert sorted(data.files) == ['arr_0', 'arr_1', 'q'] and data['arr_1'].shape == ()
    found = npx.load(path)
    assert found['q'].shape == (0, 2) and found['q'].dtype == onp.int64 and found['arr_1'].shape == ()
    for given in ({'a': x, 'b': scalar, 'c': empty}, [x, scalar]):
        npx.save(path, given)
        found = npx.load(path)
        assert type(found) is type(given)
        for key in given if isinstance(given, dict) else range(len(given)):
            assert type(found[key]) is mx.np.ndarray and found[key].shape == given[key].shape and found[key].dtype == given[key].dtype
            assert onp.array_equal(found[key].asnumpy(), given[key].asnumpy())
    assert not [n for n in os.listdir(tmp_path) if n != 'one']


def test_files_of_numpy_and_of_old_programs(tmp_path):
    onp.save(tmp_path / 'a.npy', onp.arange(4).reshape(2, 2).T)    # in Fortran's order
    assert npx.load(tmp_path / 'a.npy').asnumpy().tolist() == [[0, 2], [1, 3]]
    onp.savez_compressed(tmp_path / 'a.npz', x=onp.arange(3.))
    assert npx.load(str(tmp_path / 'a.npz'))['x'].dtype == onp.float64
    mx.nd.save(str(tmp_path / 'a.params'), {'w': mx.nd.ones((2,))})
    assert type(npx.load(str(tmp_path / 'a.params'))['w']) is mx.np.ndarray


def test_what_cannot_be_saved_or_loaded(tmp_path):
    path = str(tmp_path / 'x')
    for given in (3, {'a': 3}, [3], 'text'):
        with pytest.raises(ValueError, match='accepted: arrays of mx.np'):
            npx.save(path, given)
    with pytest.raises(AssertionError, match='Naming conflict between arg 0 and kwargs'):
        npx.savez(path, array([1.]), arr_0=array([1.]))
    with pytest.raises(FileNotFoundError):
        npx.load(path)
    for content in (b'\x93NUMPY\x01\x00v\x00{broken', b'PK\x03\x04broken', b'anything else', b''):
        with open(path, 'wb') as f:
            f.write(content)
        with pytest.raises(OSError):
            npx.load(path)
    onp.save(path + '.npy', onp.array([{}], object), allow_pickle=True)
    with pytest.raises(OSError, match='accepted'):
        npx.load(path + '.npy')


# ---- memory of others, devices

def test_memory_is_shared():
    host = onp.ones(3, 'f')
    shared = npx.from_numpy(host)
    assert not host.flags.writeable     # as in 1.x
    npx.relu(array(onp.float32([5, 1, 1])), out=shared)
    assert type(shared) is mx.np.ndarray and host[0] == 5
    again = npx.from_dlpack(npx.to_dlpack_for_write(shared))
    assert type(again) is mx.np.ndarray and again.asnumpy().tolist() == [5, 1, 1]
    assert npx.from_dlpack(npx.to_dlpack_for_read(shared)).shape == (3,)
    other = onp.ones(3, 'f')
    copied = npx.from_numpy(other, zero_copy=False)
    other[1] = 7
    assert float(copied.asnumpy()[1]) == 1


def test_devices_and_seeds():
    assert npx.current_device() == npx.cpu() == npx.Device('cpu', 0) and str(npx.cpu_pinned()) == 'cpu_pinned(0)'
    assert isinstance(npx.num_gpus(), int)
    with pytest.raises(ValueError, match='gpu'):
        npx.get_cuda_compute_capability(npx.cpu())
    draws = []
    for _ in range(2):
        npx.seed(3)
        draws.append(npx.scalar_poisson(lam=30., shape=(5,)).asnumpy().tolist())
    assert draws[0] == draws[1]
    npx.waitall()


# ---- decorators of mx.util

def test_arguments_of_numpy_for_those_of_the_array_standard():
    def given(*args, **kwargs):
        return args, kwargs
    sort, statistic, algebra = (getattr(mx.util, n)(given) for n in
                                ('wrap_sort_functions', 'wrap_data_api_statical_func', 'wrap_data_api_linalg_func'))
    assert sort(5, kind='stable', order=None) == ((5,), {'stable': True}) and sort(5, kind='quicksort') == ((5,), {'stable': False})
    assert statistic(5, ddof=1) == ((5,), {'correction': 1}) and statistic(5, ddof=None) == ((5,), {})
    assert algebra(5, UPLO='U', rcond=1.) == ((5,), {'upper': True, 'rtol': 1.}) and algebra(5, tol=2.) == ((5,), {'rtol': 2.})


def test_numpy_fallback():
    def spread(x, scale=1):
        """The distance of the extremes."""
        return onp.ptp(x) * scale, [x]
    wrapped = mx.util.numpy_fallback(spread)
    assert wrapped.__doc__ == spread.__doc__
    x = array([1., 4.])
    with pytest.warns(UserWarning, match='spread.*NumPy'):
        value, (same,) = wrapped(x, scale=2)
    assert float(value.asnumpy()) == 6 and type(same) is mx.np.ndarray
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        wrapped(x)
    with mx.autograd.record(), pytest.raises(ValueError, match='records nothing'):
        wrapped(x)
    with pytest.raises(ValueError, match='should wrap a function'):
        mx.util.numpy_fallback(3)


# ---- operators of 1.9 that compute with NumPy

def test_fallback_operators():
    internal = mx.nd.numpy._internal
    import mxnet.numpy_op_fallback as fallback
    x = array(onp.arange(6).reshape(2, 3), 'float32')
    assert internal.resize_fallback(x, new_shape=(4,)).asnumpy().tolist() == [0, 1, 2, 3]
    assert internal.unravel_index_fallback(array([1, 5]), shape=(2, 3)).asnumpy().tolist() == [[0, 1], [1, 2]]
    assert internal.mvn_fallback(array(onp.zeros(2, 'f')), array(onp.eye(2, dtype='f')), size=(3,)).shape == (3, 2)
    assert internal.empty_like_fallback(x, dtype='int32', order='C', subok=True, shape=None).dtype == onp.int32
    symbol = mx.sym.numpy._internal.resize_fallback(mx.sym.var('x').as_np_ndarray(), new_shape=(4,))
    assert symbol.eval(x=x)[0].asnumpy().tolist() == [0, 1, 2, 3]
    assert internal.add(x, x).asnumpy().sum() == 30

    @fallback.register('twice_of_test')
    class TwiceProp(mx.operator.CustomOpProp):
        def __init__(self):
            super().__init__(True)

        def list_arguments(self):
            return ['a']

        def create_operator(self, ctx, shapes, dtypes):
            class Twice(mx.operator.CustomOp):
                def forward(self, is_train, req, in_data, out_data, aux):
                    self.assign(out_data[0], req[0], in_data[0] * 2)
            return Twice()
    assert internal.twice_of_test(x).asnumpy().sum() == 30
    assert mx.numpy_dispatch_protocol.with_array_ufunc_protocol(abs)(-2) == 2


def test_axis_none_is_the_default_of_softmax():
    x = array([[1., 2., 3.], [4., 5., 7.]])
    for function in (npx.softmax, npx.log_softmax, lambda v, axis=-1: npx.masked_softmax(v, v > 1, axis=axis)):
        assert onp.array_equal(function(x, axis=None).asnumpy(), function(x).asnumpy())


def test_leaky_relu_takes_gamma_with_prelu_alone():
    x = array([-2., 3.])
    for act_type, want in (('leaky', [-.5, 3]), ('prelu', [-1, 3]), ('elu', [.25 * (onp.exp(-2) - 1), 3])):
        onp.testing.assert_allclose(npx.leaky_relu(x, array([.5]), act_type).asnumpy(), want, rtol=1e-6)
        onp.testing.assert_allclose(npx.leaky_relu(x, gamma=array([.5]), act_type=act_type).asnumpy(), want, rtol=1e-6)
