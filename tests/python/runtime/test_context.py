"""Contexts, names, attribute scopes, and other things that belong to a thread."""
import copy
import pickle
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import context

pytestmark = [pytest.mark.on_gpu, pytest.mark.sanitized]


def in_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


@pytest.mark.cpu
def test_contexts_compare_and_hash_by_type_and_number():
    assert mx.cpu() == mx.cpu(0) == mx.Context('cpu', 0) == mx.Context(mx.cpu(0), 7)
    assert mx.cpu(0) != mx.cpu(1) and mx.cpu(0) != mx.gpu(0) and mx.cpu(0) != 'cpu(0)'
    assert len({mx.cpu(0), mx.cpu(), mx.cpu(1), mx.gpu(0)}) == 3
    assert hash(mx.gpu(3)) == hash(mx.Context('gpu', 3))


def test_context_attributes():
    ctx = mx.gpu(2)
    assert (ctx.device_type, ctx.device_typeid, ctx.device_id, str(ctx)) == ('gpu', 2, 2, 'gpu(2)')
    assert [mx.Context(t).device_typeid for t in ('cpu', 'gpu', 'cpu_pinned', 'cpu_shared')] == [1, 2, 3, 5]
    assert str(mx.cpu_pinned()) == 'cpu_pinned(0)'


@pytest.mark.parametrize('copied', [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_a_context_are_equal(copied):
    assert copied(mx.gpu(1)) == mx.gpu(1) and copied(mx.gpu(1)) != mx.gpu(0)


@pytest.mark.parametrize('args, error', [(('tpu',), ValueError), ((7,), ValueError), (('cpu', 'a'), TypeError)])
def test_wrong_contexts(args, error):
    with pytest.raises(error, match=r'\[Context\]'):
        mx.Context(*args)


@pytest.mark.cpu
def test_with_statements_nest_and_belong_to_a_thread():
    assert mx.current_context() == mx.cpu(0)
    with mx.cpu(1):
        with mx.cpu(2), mx.cpu(1):
            assert mx.current_context() == mx.cpu(1)
        assert mx.current_context() == mx.cpu(1)
        assert in_thread(mx.current_context) == mx.cpu(0)
        assert mx.nd.zeros((1,)).context == mx.cpu(1)
    with pytest.raises(KeyError):
        with mx.cpu(3):
            raise KeyError
    assert mx.current_context() == mx.cpu(0)


def test_default_context_can_be_set():
    with pytest.warns(DeprecationWarning, match='current_context'):
        before = mx.Context.default_ctx
    try:
        mx.test_utils.set_default_context(mx.cpu(4))
        assert mx.current_context() == mx.test_utils.default_context() == mx.cpu(4)
    finally:
        with pytest.warns(DeprecationWarning):
            mx.Context.default_ctx = before
    assert mx.current_context() == before


def test_gpus_are_counted_and_missing_ones_refused():
    count = context.num_gpus()
    assert count == len(mx.test_utils.list_gpus()) >= 0
    with pytest.raises(mx.MXNetError):
        context.gpu_memory_info(count + 100)


def test_names():
    with mx.name.NameManager() as manager:
        with pytest.warns(DeprecationWarning, match='NameManager'):
            assert mx.name.NameManager.current is manager is mx.name.current()
        assert [manager.get(None, 'fc'), manager.get('', 'fc'), manager.get('x', 'fc'), manager.get(None, 'conv')] == \
            ['fc0', 'fc1', 'x', 'conv0']
        with mx.name.Prefix('a_') as inner:
            assert [inner.get(None, 'fc'), inner.get('x', 'fc')] == ['a_fc0', 'a_x']
        assert mx.name.current() is manager
        assert in_thread(mx.name.current) is not manager


def test_attribute_scopes_merge():
    with mx.AttrScope(a='1', b='1') as outer:
        with mx.AttrScope(b='2') as inner:
            with pytest.warns(DeprecationWarning, match='AttrScope'):
                assert mx.AttrScope.current is inner is mx.attribute.current()
            assert inner.get({'c': '3'}) == {'a': '1', 'b': '2', 'c': '3'}
            assert inner.get({'b': '4'}) == {'a': '1', 'b': '4'}
        assert inner.get(None) == {'b': '2'} and outer.get(None) == {'a': '1', 'b': '1'}
    assert mx.AttrScope().get(None) == {}
    with pytest.raises(ValueError, match='string'):
        mx.AttrScope(a=1)


def test_numpy_switches():
    util = mx.util
    assert not util.is_np_shape() and not util.is_np_array()
    util.set_np()
    try:
        assert util.is_np_shape() and util.is_np_array()
        assert in_thread(util.is_np_array) is False
        with util.np_array(False), util.np_shape(False):
            assert not util.is_np_shape() and not util.is_np_array()
        assert util.is_np_shape() and util.is_np_array()
    finally:
        util.reset_np()
    assert not util.is_np_shape() and not util.is_np_array()
    with pytest.raises(ValueError):
        util.set_np(shape=False, array=True)


def test_use_np_wraps_functions_and_every_kind_of_method():
    state = lambda: (mx.util.is_np_shape(), mx.util.is_np_array())  # noqa: E731

    @mx.util.use_np
    def function():
        """text"""
        return state()

    @mx.util.use_np
    class Thing:
        def method(self):
            return state()

        @staticmethod
        def static():
            return state()

        @classmethod
        def of_class(cls):
            return (cls, *state())

        @property
        def prop(self):
            return state()

    thing = Thing()
    assert function() == thing.method() == thing.static() == Thing.static() == thing.prop == (True, True)
    assert Thing.of_class() == (Thing, True, True)
    assert (function.__name__, function.__doc__) == ('function', 'text')
    assert state() == (False, False)
    with pytest.raises(TypeError):
        mx.util.use_np(3)


def test_environment_variables():
    util = mx.util
    assert util.getenv('MXNET_TEST_NO_SUCH_VARIABLE') is None
    with mx.test_utils.environment({'SOME_OTHER_VARIABLE': '1'}):
        assert util.getenv('SOME_OTHER_VARIABLE') == '1'
    assert util.getenv('SOME_OTHER_VARIABLE') is None
    before = util.getenv('MXNET_OPTIMIZER_AGGREGATION_SIZE')
    with mx.test_utils.environment('MXNET_OPTIMIZER_AGGREGATION_SIZE', '7'):
        assert util.getenv('MXNET_OPTIMIZER_AGGREGATION_SIZE') == '7'
        assert mx.optimizer.SGD().aggregate_num == 7
    assert util.getenv('MXNET_OPTIMIZER_AGGREGATION_SIZE') == before


def test_seeds_repeat_and_are_checked():
    mx.random.seed(5)
    first = mx.random.uniform(shape=(20,)).asnumpy()
    second = mx.random.uniform(shape=(20,)).asnumpy()
    mx.random.seed(5)
    again = mx.random.uniform(shape=(20,)).asnumpy()
    assert (first == again).all() and (first != second).any()
    mx.random.seed(6, ctx=mx.cpu(0))
    assert (mx.random.uniform(shape=(20,)).asnumpy() != first).any()
    with pytest.raises(ValueError):
        mx.random.seed('5')


def test_bulk_size_is_restored():
    before = mx.engine.set_bulk_size(3)
    try:
        with mx.engine.bulk(11):
            assert mx.engine.set_bulk_size(11) == 11
        assert mx.engine.set_bulk_size(3) == 3
    finally:
        mx.engine.set_bulk_size(before)


@pytest.mark.parametrize('size', [-1, -5])
def test_negative_bulk_sizes_are_refused(size):
    before = mx.engine.set_bulk_size(3)
    try:
        with pytest.raises(mx.base.MXNetError, match=f'the bulk size is {size}; accepted: 0'):
            mx.engine.set_bulk_size(size)
        with pytest.raises(mx.base.MXNetError, match='accepted: 0'):
            with mx.engine.bulk(size):
                pass
        assert [mx.engine.set_bulk_size(s) for s in (0, 1, 3)] == [3, 0, 1]
    finally:
        mx.engine.set_bulk_size(before)


def test_features():
    features = mx.runtime.Features()
    assert features is mx.runtime.Features() and features
    assert features.is_enabled('openmp') == features['OPENMP'].enabled
    assert {f.name for f in mx.runtime.feature_list()} == set(features)
    with pytest.raises(RuntimeError, match='NO_SUCH_FEATURE'):
        features.is_enabled('no_such_feature')


def test_registry():
    class Base:
        pass

    register = mx.registry.get_register_func(Base, 'thing')
    alias = mx.registry.get_alias_func(Base, 'thing')
    create = mx.registry.get_create_func(Base, 'thing')

    @alias('other', 'third')
    @register
    class One(Base):
        def __init__(self, a=1):
            self.a = a

    assert [create('ONE').a, create('other', a=2).a, create('["one", {"a": 3}]').a, create('{"thing": "third", "a": 4}').a,
            create({'thing': 'one', 'a': 5}).a, create(thing='one').a] == [1, 2, 3, 4, 5, 1]
    one = One()
    assert create(one) is one
    for wrong, error in ((('nope',), ValueError), ((one, 1), ValueError), ((3,), TypeError)):
        with pytest.raises(error):
            create(*wrong)
    with pytest.raises(TypeError):
        register(int)
    with pytest.warns(UserWarning, match='overriding existing'):
        register(type('One', (Base,), {}))


def test_short_names():
    from mxnet import util
    assert mx.use_np is util.use_np and mx.np_shape is util.np_shape and mx.is_np_array is util.is_np_array
    assert mx.AttrScope is mx.attribute.AttrScope and mx.kv is mx.kvstore and mx.mod is mx.module and mx.init is mx.initializer


def test_a_gpu_that_is_not_there_is_a_clear_error():
    for make in (lambda: mx.nd.ones((2, 2), ctx=mx.gpu(99)),
                 lambda: mx.nd.array([1], ctx=mx.gpu(99)),
                 lambda: mx.nd.ones((2,)).as_in_context(mx.gpu(99))):
        with pytest.raises(ValueError, match=r"gpu\(99\).*(built without CUDA|usable GPU)"):
            make()


@pytest.mark.cpu
@pytest.mark.parametrize('kind', ['cpu_shared', 'cpu_pinned'])
def test_results_of_shared_and_pinned_arrays_are_ordinary(kind):
    # as in 1.9.1: batches of a DataLoader's workers do not make everything behind them shared
    where = mx.Context(kind, 0)
    a = mx.nd.ones((2, 3), ctx=where)
    for result in (a + 1, a + mx.nd.ones((2, 3)), mx.nd.concat(a, a, dim=0), a.sum(), a.zeros_like()):
        assert result.context == mx.cpu(0)
    for same in (a[0], a.reshape((3, 2)), a.copy(), mx.nd.zeros((2,), ctx=where), a.detach()):
        assert same.context == where
    a += 1
    a.attach_grad()
    with mx.autograd.record():
        loss = (a * a).sum()
    loss.backward()
    assert a.context == where and a.grad.context == loss.context == mx.cpu(0) and a.grad.asnumpy().sum() == 24


@pytest.mark.cpu
@pytest.mark.parametrize('hybridize', [False, True])
def test_networks_take_batches_of_workers(hybridize):
    net = mx.gluon.nn.Dense(4)
    net.initialize()
    if hybridize:
        net.hybridize(static_alloc=True, static_shape=True)
    data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(np.ones((4, 3), 'float32')), 2, num_workers=1)
    for batch in data:
        assert batch.context.device_type == 'cpu_shared'
        with mx.autograd.record():
            out = net(batch)
        out.backward()
        assert out.context == mx.cpu(0)
        np.testing.assert_array_equal(out.asnumpy(), net(mx.nd.ones((2, 3))).asnumpy())
    assert net.weight.data(mx.Context('cpu_pinned', 0)) is net.weight.data()
    with pytest.raises(RuntimeError, match='initialized on'):
        net.weight.data(mx.cpu(1))


@pytest.mark.cpu
@pytest.mark.parametrize('number', [2**31, 2**32, -2**31 - 1])
def test_numbers_that_no_c_int_holds_are_refused(number):
    """They were cut to 32 bits: arrays of cpu(2**32) were on cpu(0)."""
    for call in (mx.cpu, mx.gpu, lambda n: mx.Context('cpu', n), mx.context.gpu_memory_info, mx.engine.set_bulk_size):
        with pytest.raises(OverflowError, match=r'%d was given; accepted: -2147483648 to 2147483647' % number):
            call(number)
    assert mx.nd.zeros((1,), ctx=mx.cpu(2**31 - 1)).context == mx.cpu(2**31 - 1)
