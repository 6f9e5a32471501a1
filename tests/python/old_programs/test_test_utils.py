"""The helpers of tests: they accept what is right and refuse what is wrong."""
import os

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym, test_utils as tu

A = np.arange(6, dtype='float32').reshape(2, 3)


def changed(*index, by=0.5):
    b = A.copy()
    b[index] += by
    return b


def test_assert_almost_equal_accepts():
    tu.assert_almost_equal(A, A)
    tu.assert_almost_equal(nd.array(A), A + 1e-5)
    tu.assert_almost_equal(A, A.astype('float64'))
    tu.assert_almost_equal(A[:1], np.broadcast_to(A[0], (2, 3)))
    tu.assert_almost_equal(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), equal_nan=True)
    tu.assert_almost_equal(A, changed(1, 2), atol=1)
    tu.assert_almost_equal(A.astype('float16'), changed(1, 2, by=0.05))       # the coarser dtype decides
    tu.assert_almost_equal(1.0, 1.0 + 1e-9)


@pytest.mark.parametrize('a, b, options', [
    (A, changed(0, 0), {}), (nd.array(A), changed(1, 2), {'rtol': 1e-2, 'atol': 1e-2}), (A, A[:, :2], {}),
    (A[0], A[:1], {'use_broadcast': False}), (np.array([np.nan]), np.array([np.nan]), {}),
    (np.array([1.0]), np.array([np.nan]), {'equal_nan': True}), (np.array([np.inf]), np.array([-np.inf]), {}),
    (np.array([1]), np.array([2]), {}), (np.array([np.inf]), np.array([1.0]), {'equal_nan': True})])
def test_assert_almost_equal_refuses(a, b, options):
    with pytest.raises(AssertionError, match='not equal'):
        tu.assert_almost_equal(a, b, **options)


def test_messages_name_the_worst_place(capsys):
    b = changed(1, 2)
    b[0, 1] = 7
    with pytest.raises(AssertionError, match=r'mismatch 33\.3.*\n?.*maximum error: \(0, 1\), x=1\.0+, y=7'):
        tu.assert_almost_equal(A, b, names=('x', 'y'), mismatches=(1, 1))
    out = capsys.readouterr().out
    assert '1: Error 3529.' in out and '2: Error' not in out


def test_other_comparisons():
    assert tu.almost_equal(A, A + 1e-6) and not tu.almost_equal(A, changed(0, 0)) and tu.same(A, A) and not tu.same(A, A + 1)
    assert not tu.almost_equal(A[0], A[:1], use_broadcast=False)
    tu.assert_almost_equal_with_err(A, changed(0, 0), etol=0.2)
    with pytest.raises(AssertionError):
        tu.assert_almost_equal_with_err(A, changed(0, 0), etol=0.1)
    tu.assert_almost_equal_ignore_nan(np.array([1, np.nan]), np.array([1.0, 5]))
    with pytest.raises(AssertionError):
        tu.assert_almost_equal_ignore_nan(np.array([1, np.nan]), np.array([2.0, 5]))
    with pytest.raises(AssertionError):
        tu.assert_allclose(A, A + 1e-3)
    tu.assert_exception(int, ValueError, 'x')
    with pytest.raises(AssertionError):
        tu.assert_exception(int, ValueError, '1')
    array = nd.ones((4,))
    assert tu.same_array(array, array[:]) and not tu.same_array(array, array.copy()) and array.asnumpy().tolist() == [1] * 4
    with pytest.raises(AssertionError):
        tu.compare_ndarray_tuple((array, (array, None)), (array, (array * 2, None)))


def test_tolerances():
    assert tu.get_tols(A, A.astype('float64'), None,
                       None) == (1e-4, 1e-3) and tu.get_tols(A.astype('float16'), 1.0, None,
                                                             None) == (1e-2, 1e-1)
    assert tu.get_tolerance(A, {np.dtype('float32'): 7}, {np.dtype('float32'): 5}) == 7 and tu.get_tolerance(A, 0.5, {}) == 0.5
    assert tu.get_rtol(dtype=np.float16) == 1e-2 and tu.get_atol(3) == 3 and tu.get_etol() == 0


def test_shapes_and_arrays():
    np.random.seed(0)
    for _ in range(50):
        assert all(1 <= d <= 3 for d in tu.rand_shape_nd(4, 3)) and all(0 <= d <= 4 for d in tu.rand_shape_2d(4, 2, allow_zero_size=True))
        x, y = tu.rand_coord_2d(1, 5, 2, 6)
        assert 1 <= x < 5 and 2 <= y < 6
    assert tu.random_arrays((2,)).shape == (2,) and [a.shape for a in tu.random_arrays((2,), (3, 4))] == [(2,), (3, 4)]
    low = tu.random_uniform_arrays((100,), low=3, high=4)[0]
    assert low.dtype == np.float32 and low.min() >= 3 and low.max() <= 4
    assert tu.rand_ndarray((2, 3), dtype='float64').dtype == np.float64
    assert tu.create_2d_tensor(2, 3).asnumpy().tolist() == [[0] * 3, [1] * 3] and tu.create_vector(3).asnumpy().tolist() == [0, 1, 2]
    q = tu.new_orthonormal_matrix_2d(5)
    assert np.allclose(q.T @ q, np.identity(5))
    assert np.isrealobj(np.linalg.eigvals(tu.new_matrix_with_real_eigvals_nd((2, 4, 4))))
    s = tu.new_sym_matrix_with_real_eigvals_nd((2, 2, 3, 3))
    assert (s == s.swapaxes(-1, -2)).all()
    assert tu.np_reduce(A, (0,), True, np.sum).shape == (1, 3) and tu.np_reduce(A, None, False, np.sum) == 15
    assert tu.collapse_sum_like(A, (1, 3)).tolist() == [[3, 5, 7]] and tu.collapse_sum_like(A, (3,)).tolist() == [3, 5, 7]
    with pytest.raises(ValueError):
        tu.collapse_sum_like(A, (2, 2))
    assert tu.assign_each2(A, A, lambda x, y: x * y).tolist() == (A * A).tolist() and tu.assign_each(A, None).tolist() == A.tolist()


def test_symbolic_checks():
    x, y = sym.var('x'), sym.var('y')
    product = x * y + x
    np.testing.assert_allclose(tu.simple_forward(product, x=A, y=A), A * A + A)
    tu.check_symbolic_forward(product, [A, A], [A * A + A])
    tu.check_symbolic_forward(product, {'x': A, 'y': A}, {product.list_outputs()[0]: A * A + A})
    with pytest.raises(AssertionError):
        tu.check_symbolic_forward(product, [A, A], [A])
    with pytest.raises(ValueError):
        tu.check_symbolic_forward(product, {'x': A, 'z': A}, [A])
    ones = np.ones_like(A)
    for grad_req in ('write', 'add', {'x': 'add', 'y': 'write'}):
        tu.check_symbolic_backward(product, [A, A], [ones], {'x': A + 1, 'y': A}, grad_req=grad_req)
    tu.check_symbolic_backward(product, [A, A], [ones], {'x': A + 1}, grad_req={'x': 'write', 'y': 'null'})
    with pytest.raises(AssertionError):
        tu.check_symbolic_backward(product, [A, A], [ones], [A, A])
    assert tu.same_symbol_structure(product, sym.var('a') * sym.var('b') + x) is False and tu.same_symbol_structure(product, product)
    assert tu.check_speed(product, N=2, x=(2, 3), y=(2, 3)) > 0


def test_numeric_gradients():
    x, y = sym.var('x'), sym.var('y')
    product = x * y + x
    tu.check_numeric_gradient(product, [A, A])
    tu.check_numeric_gradient(product, [A, A], grad_nodes={'x': 'add', 'y': 'null'})
    tu.check_numeric_gradient(sym.Group([product, sym.tanh(x)]), [A / 5, A / 5])
    with pytest.raises(AssertionError, match='NUMERICAL_x'):
        tu.check_numeric_gradient(sym.BlockGrad(product), [A, A])
    executor = product.simple_bind(mx.cpu(), x=(2, 3), y=(2, 3))
    found = tu.numeric_grad(executor, {'x': A, 'y': A}, eps=2.0 ** -6)
    np.testing.assert_allclose(found['x'], A + 1, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found['y'], A, rtol=1e-3, atol=1e-3)


def test_consistency():
    x = sym.var('x')
    settings = [{'ctx': mx.cpu(), 'x': (2, 3), 'type_dict': {'x': dtype}} for dtype in ('float64', 'float32')]
    truth = tu.check_consistency(sym.tanh(x), settings)
    assert truth['x'].dtype == np.float64
    with pytest.raises(AssertionError):
        tu.check_consistency([sym.tanh(x, name='s'), sym.sin(x, name='s')], settings)


def test_statistics():
    rng = np.random.RandomState(0)
    assert tu.mean_check(lambda n: rng.normal(1, 2, n), 1, 2,
                         nsamples=20000) and not tu.mean_check(lambda n: rng.normal(1.2, 2, n), 1,
                                                               2, nsamples=20000)
    assert tu.var_check(lambda n: rng.normal(1, 2, n), 2,
                        nsamples=20000) and not tu.var_check(lambda n: rng.normal(1, 2.2, n), 2,
                                                             nsamples=20000)
    pytest.importorskip('scipy')
    buckets, probs = tu.gen_buckets_probs_with_ppf(lambda p: p, 5)
    assert buckets[0] == (0, 0.2) and probs == [0.2] * 5
    tu.verify_generator(lambda n: rng.uniform(0, 1, n), buckets, probs, nsamples=10000)
    tu.verify_generator(lambda n: rng.randint(0, 2, n), [0, 1], [0.5, 0.5], nsamples=10000)
    with pytest.raises(AssertionError):
        tu.verify_generator(lambda n: rng.uniform(0, 1, n) ** 1.2, buckets, probs, nsamples=10000)


def test_environment_retry_and_stderr(capfd):
    os.environ.pop('SOME_VARIABLE', None)
    with tu.environment({'SOME_VARIABLE': '1', 'OTHER_VARIABLE': None}):
        assert os.environ['SOME_VARIABLE'] == '1'
        with tu.environment('SOME_VARIABLE', '2'):
            assert os.environ['SOME_VARIABLE'] == '2'
        assert os.environ['SOME_VARIABLE'] == '1'
    assert 'SOME_VARIABLE' not in os.environ
    with pytest.raises(ValueError):
        with tu.environment(3):
            pass
    tries = []

    @tu.retry(3)
    def fails(times):
        tries.append(1)
        assert len(tries) > times

    fails(2)
    assert len(tries) == 3
    tries.clear()
    with pytest.raises(AssertionError):
        fails(3)
    with tu.discard_stderr():
        os.write(2, b'lost')
    os.write(2, b'kept')
    assert capfd.readouterr().err == 'kept'


def test_bfloat16_has_the_tolerance_of_16_bits():
    a = nd.ones((2,)).astype('bfloat16')
    tu.assert_almost_equal(a, a * 1.05)
    with pytest.raises(AssertionError):
        tu.assert_almost_equal(a, a * 2)
    settings = [{'ctx': mx.cpu(), 'x': (2, 3), 'type_dict': {'x': dtype}} for dtype in ('float32', 'bfloat16')]
    assert tu.check_consistency(sym.tanh(sym.var('x')), settings)['x'].dtype == np.float32


@pytest.mark.parametrize("array", [mx.nd.array, mx.np.array])
def test_hybridize_consistency_gives_builders_the_prefix_that_1x_gives(array):
    given = []

    def named(prefix):
        given.append(prefix)
        return mx.gluon.nn.Dense(2, prefix=prefix)

    def plain():
        return mx.gluon.nn.Activation("relu")
    mx.test_utils.check_gluon_hybridize_consistency(named, [array([[1, -2, 3]])])
    mx.test_utils.check_gluon_hybridize_consistency(plain, [array([1, -2])], lambda x: x.clip(min=0))
    assert given == ["net_", "net_"]
