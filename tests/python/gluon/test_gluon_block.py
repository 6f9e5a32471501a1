"""Block, HybridBlock and SymbolBlock: names, structure, files, compilation."""
import json
import os

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

pytestmark = pytest.mark.on_gpu

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data')


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.fc = nn.Dense(3, activation='relu')
            self.bn = nn.BatchNorm()
            self.scale = self.params.get('scale', shape=(1, 3), init='ones')

    def hybrid_forward(self, F, x, scale):
        return F.broadcast_mul(self.bn(self.fc(x)), scale)


def make(net, x=None, init=None):
    net.initialize(init or mx.init.Xavier())
    if x is not None:
        net(x)
    return net


def two_layers(**kwargs):
    net = nn.HybridSequential(**kwargs)
    with net.name_scope():
        net.add(nn.Dense(4, in_units=3, activation='tanh'), nn.Dense(2, in_units=4))
    return net


# -- names and structure ---------------------------------------------------------------------------
def test_names_follow_scopes():
    with mx.name.NameManager():
        net = Net()
        assert net.prefix == 'net0_' and net.name == 'net0'
        assert list(net.collect_params()) == [
            'net0_scale', 'net0_dense0_weight', 'net0_dense0_bias', 'net0_batchnorm0_gamma', 'net0_batchnorm0_beta',
            'net0_batchnorm0_running_mean', 'net0_batchnorm0_running_var']
        assert Net().prefix == 'net1_' and Net(prefix='mine_').fc.weight.name == 'mine_dense0_weight'
        symbol = net(mx.sym.var('data'))
        assert symbol.list_outputs() == ['net0_broadcast_mul0_output']
        assert symbol.list_auxiliary_states() == ['net0_batchnorm0_running_mean', 'net0_batchnorm0_running_var']
        assert [n['name'] for n in json.loads(symbol.tojson())['nodes'] if n['op'] != 'null'] == [
            'net0_dense0_fwd', 'net0_dense0_relu_fwd', 'net0_batchnorm0_fwd', 'net0_broadcast_mul0']


def test_empty_prefix_and_select():
    with mx.name.NameManager():
        outer = nn.HybridSequential(prefix='o_')
        with outer.name_scope():
            inner = nn.HybridSequential(prefix='')
            with inner.name_scope():
                inner.add(nn.Dense(1))
            outer.add(inner)
        assert list(outer.collect_params()) == ['o_dense0_weight', 'o_dense0_bias']
        assert list(outer.collect_params('.*bias')) == ['o_dense0_bias']
        assert list(outer.collect_params('.*bias|.*weight')) == ['o_dense0_weight', 'o_dense0_bias']
        assert list(outer.collect_params('bias')) == []


def test_sharing_by_params():
    a = nn.Dense(2, in_units=2)
    b = nn.Dense(2, in_units=2, params=a.params)
    make(a)
    x = nd.array([[1, 2]])
    assert b.weight is a.weight and np.array_equal(a(x).asnumpy(), b(x).asnumpy())


def test_attributes_register_and_keep_their_type():
    net = Net()
    assert list(net._children) == ['fc', 'bn'] and set(net._reg_params) == {'scale'}
    with pytest.raises(TypeError, match="'fc'"):
        net.fc = 3
    net.fc = nn.Dense(7)
    assert net._children['fc']._units == 7
    with pytest.raises(ValueError, match='HybridBlock'):
        net.register_child(nn.Sequential())
    with pytest.raises(AssertionError, match='scale'):
        net.scale = net.params.get('other', shape=(1,))


def test_repr():
    assert repr(two_layers()) == 'HybridSequential(\n  (0): Dense(3 -> 4, Activation(tanh))\n  (1): Dense(4 -> 2, linear)\n)'


def test_blocks_in_lists_warn():
    class Hidden(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Dense(1)]

    with pytest.warns(UserWarning, match='Hidden.layers'):
        assert len(Hidden().collect_params()) == 0


def test_sequential_containers():
    net = two_layers()
    assert len(net) == 2 and isinstance(net[1], nn.Dense) and len(net[0:1]) == 1 and [c._units for c in net] == [4, 2]
    assert net[0:1][0] is net[0] and type(net[0:1]) is nn.HybridSequential

    class Two(gluon.Block):
        def forward(self, x, y=None):
            return (x + 1, x * 2) if y is None else x + y
    seq = nn.Sequential()
    seq.add(Two(), Two())
    assert seq(nd.array([3])).asnumpy().tolist() == [10]


def test_hooks_and_apply():
    net, calls = make(two_layers()), []
    first = net[0].register_forward_hook(lambda block, inputs, output: calls.append((block, len(inputs), output.shape)))
    pre = net.register_forward_pre_hook(lambda block, inputs: calls.append('pre'))
    net(nd.ones((1, 3)))
    assert calls == ['pre', (net[0], 1, (1, 4))]
    first.detach()
    with pre:
        pass
    net(nd.ones((1, 3)))
    assert len(calls) == 2
    seen = []
    assert net.apply(lambda b: seen.append(type(b).__name__)) is net
    assert seen == ['Activation', 'Dense', 'Dense', 'HybridSequential']


def test_cast_keeps_batchnorm_in_float32():
    net = Net()
    net.cast('float16')
    assert str(np.dtype(net.fc.weight.dtype)) == 'float16' and str(np.dtype(net.bn.gamma.dtype)) == 'float32'
    net.cast('float64')
    assert str(np.dtype(net.bn.gamma.dtype)) == 'float64'


def test_summary(capsys):
    net = make(nn.HybridSequential())
    net.add(nn.Dense(4, in_units=3), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    net.summary(nd.ones((5, 3)))
    text = capsys.readouterr().out
    rows = [line.split() for line in text.splitlines()]
    assert ['Dense-1', '(5,', '4)', '16'] in rows and ['BatchNorm-2', '(5,', '4)', '16'] in rows and ['Dense-3', '(5,', '2)', '10'] in rows
    assert 'Total params: 42' in text and 'Trainable params: 34' in text and 'Unique parameters in model: 42' in text
    assert not net[0]._forward_hooks


# -- running ---------------------------------------------------------------------------------------
@pytest.mark.parametrize('flags', [{}, {'static_alloc': True}, {'static_alloc': True, 'static_shape': True}, {'inline_limit': 0}])
def test_compiled_equals_eager(flags):
    x = nd.array(np.random.RandomState(0).randn(6, 5))
    net = make(Net(), x)

    def run():
        with autograd.record():
            y = net(x)
            loss = (y * y).sum()
        loss.backward()
        return y.asnumpy(), net.fc.weight.grad().asnumpy(), net.bn.running_mean.data().asnumpy()
    before = {k: p.data().copy() for k, p in net.collect_params().items()}
    eager = run()
    for k, p in net.collect_params().items():
        p.set_data(before[k])
    net.hybridize(**flags)
    for a, b in zip(eager, run()):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert net._cached_op is not None
    np.testing.assert_allclose(net(x).asnumpy(), net(x).asnumpy())
    net.hybridize(False)
    assert net._cached_op is None


def test_static_shape_needs_static_alloc():
    with pytest.raises(ValueError, match='static_alloc'):
        Net().hybridize(static_shape=True)


def test_compiled_block_sees_new_parameter_values_and_arrays():
    net = make(nn.Dense(1, in_units=2, use_bias=False), init=mx.init.One())
    net.hybridize()
    x = nd.array([[1, 2]])
    assert net(x).asscalar() == 3
    net.weight.set_data(nd.array([[2, 2]]))
    assert net(x).asscalar() == 6
    net.initialize(mx.init.Zero(), force_reinit=True)
    assert net(x).asscalar() == 0
    net.cast('float64')
    assert net(x.astype('float64')).dtype == np.float64


def test_shapes_may_change_between_calls():
    net = make(nn.Dense(2, in_units=3))
    net.hybridize()
    for n in (1, 4, 2, 4):
        assert net(nd.ones((n, 3))).shape == (n, 2)


def test_nested_arguments_and_none():
    class M(gluon.HybridBlock):
        def hybrid_forward(self, F, x, pair, extra=None):
            y = x + pair[0] * pair[1]
            if extra is not None:
                y = y + extra
            return y, [y * 2, pair[1]]
    args = nd.array([1]), [nd.array([2]), nd.array([3])]
    for net in (M(), M()):
        for _ in range(2):
            a, (b, c) = net(*args)
            assert (a.asscalar(), b.asscalar(), c.asscalar()) == (7, 14, 3)
            net.hybridize()
    net(*args)
    with pytest.raises(TypeError):
        net(args[0], list(args))    # an array times a list, as without hybridize
    assert net(*args, None)[0].asscalar() == 7
    assert net(*args, nd.array([10]))[0].asscalar() == 17


def test_operator_with_several_outputs():
    class S(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.split(x, num_outputs=2, axis=1)
    net = S()
    eager = [v.asnumpy() for v in net(nd.array([[1, 2]]))]
    net.hybridize()
    assert [v.asnumpy().tolist() for v in net(nd.array([[1, 2]]))] == [v.tolist() for v in eager] == [[[1]], [[2]]]


def test_wrong_inputs():
    net = make(Net())
    for wrong in (3, [], 'x'):
        with pytest.raises(ValueError):
            net(wrong)
    with pytest.raises(ValueError, match='NDArrays and Symbols|not both'):
        two = nn.HybridLambda(lambda F, a, b: a + b)
        two(nd.ones((1,)), mx.sym.var('b'))


def test_deferred_shapes_are_inferred():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    net.hybridize()
    assert net(nd.ones((1, 3, 6, 6))).shape == (1, 2)
    assert net[0].weight.shape == (4, 3, 3, 3) and net[2].weight.shape == (2, 64)
    other = Net()
    other.infer_shape(nd.ones((2, 7)))
    assert other.fc.weight.shape == (3, 7)
    late = nn.Conv2D(4, 3)
    late.initialize()
    with pytest.raises(ValueError, match='cannot be inferred'):
        late(nd.ones((2, 7)))


def test_several_contexts():
    net = two_layers()
    net.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    net.hybridize()
    outs = [net(nd.ones((1, 3), ctx=c)) for c in (mx.cpu(0), mx.cpu(1), mx.cpu(0))]
    assert [o.context for o in outs] == [mx.cpu(0), mx.cpu(1), mx.cpu(0)]
    assert np.array_equal(outs[0].asnumpy(), outs[1].asnumpy())


def test_unused_parameter_warns():
    class Unused(Net):
        def hybrid_forward(self, F, x, scale):
            return self.bn(self.fc(x))
    net = make(Unused())
    net.hybridize()
    with pytest.warns(UserWarning, match='scale'):
        net(nd.ones((1, 2)))


# -- forward style ---------------------------------------------------------------------------------
class Forward(gluon.HybridBlock):
    """A block that defines forward and no hybrid_forward."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self._units = units
        self.weight = gluon.Parameter(name='weight', shape=(units, 0), allow_deferred_init=True)
        self.act = nn.Activation('tanh')

    def infer_shape(self, x):
        self.weight.shape = (self._units, x.shape[1])

    def forward(self, x):
        return self.act(nd.dot(x, self.weight.data(x.context).T))


def test_forward_style_eager():
    net = Forward(2)
    assert list(net.collect_params()) == [net.prefix + 'weight']
    net.initialize(mx.init.One())
    assert np.allclose(net(nd.array([[.1, .2, .3]])).asnumpy(), np.tanh(.6))
    assert net.weight.shape == (2, 3)


def test_forward_style_compiled():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation='relu'), Forward(2))
    net.initialize()
    x = nd.array(np.random.RandomState(0).randn(5, 3))
    eager = net(x).asnumpy()
    net.hybridize()
    with autograd.record():
        y = net(x)
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), eager, rtol=1e-5)
    assert net._cached_op is not None
    assert float(net[1].weight.grad().abs().sum().asscalar()) > 0


# -- files -----------------------------------------------------------------------------------------
def values(net):
    return {k: p.data().asnumpy() for k, p in net._collect_params_with_prefix().items()}


def test_save_and_load_by_path(tmp_path):
    name = str(tmp_path / 'p.params')
    x = nd.ones((2, 5))
    net = make(Net(), x)
    net.save_parameters(name)
    assert set(nd.load(name)) == {'fc.weight', 'fc.bias', 'bn.gamma', 'bn.beta', 'bn.running_mean', 'bn.running_var', 'scale'}
    other = Net()
    other.load_parameters(name, ctx=mx.cpu(1))
    assert other.fc.weight.list_ctx() == [mx.cpu(1)]
    assert all(np.array_equal(a, values(other)[k]) for k, a in values(net).items())


def test_load_reports_what_does_not_fit(tmp_path):
    name = str(tmp_path / 'p.params')
    make(two_layers()).save_parameters(name)
    longer = two_layers()
    longer.add(nn.Dense(1, in_units=2))
    with pytest.raises(AssertionError, match="'2.weight'"):
        longer.load_parameters(name)
    longer.load_parameters(name, allow_missing=True)
    shorter = nn.HybridSequential()
    shorter.add(nn.Dense(4, in_units=3))
    with pytest.raises(ValueError, match="'1.weight'"):
        shorter.load_parameters(name)
    shorter.load_parameters(name, ignore_extra=True)
    wrong = nn.HybridSequential()
    wrong.add(nn.Dense(5, in_units=3), nn.Dense(2))
    with pytest.raises(AssertionError, match='shape'):
        wrong.load_parameters(name)
    with pytest.raises((OSError, mx.MXNetError)):
        wrong.load_parameters(str(tmp_path / 'absent'))


def test_load_casts(tmp_path):
    name = str(tmp_path / 'p.params')
    make(two_layers()).save_parameters(name)
    net = two_layers()
    net.cast('float64')
    with pytest.raises(AssertionError, match='dtype'):
        net.load_parameters(name)
    net.load_parameters(name, cast_dtype=True)
    assert net[0].weight.data().dtype == np.float64
    net.load_parameters(name, cast_dtype=True, dtype_source='saved')
    assert net[0].weight.data().dtype == np.float32
    with pytest.raises(AssertionError, match='dtype_source'):
        net.load_parameters(name, cast_dtype=True, dtype_source='elsewhere')


def test_deduplicate(tmp_path):
    name = str(tmp_path / 'p.params')
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2))
    net.add(nn.Dense(2, in_units=2, params=net[0].params))
    make(net)
    net.save_parameters(name, deduplicate=True)
    assert set(nd.load(name)) == {'1.weight', '1.bias'}
    net.add(nn.Dense(2, in_units=2), nn.Dense(2, in_units=2, params=net[0].params))
    make(net)
    net.save_parameters(name, deduplicate=True)
    assert list(nd.load(name)) == ['3.weight', '3.bias', '2.weight', '2.bias']   # the order of 1.9.1
    before = values(net)
    net.initialize(mx.init.Zero(), force_reinit=True)
    net.load_parameters(name)
    assert all(np.array_equal(a, values(net)[k]) for k, a in before.items())


def test_load_prefix_named_files(tmp_path):
    full, stripped = str(tmp_path / 'full'), str(tmp_path / 'stripped')
    net = make(two_layers(prefix='m_'))
    net.collect_params().save(full)
    net.collect_params().save(stripped, strip_prefix='m_')
    before = values(net)
    for name in (full, stripped):
        net.initialize(mx.init.Zero(), force_reinit=True)
        net.load_parameters(name)
        assert all(np.array_equal(a, values(net)[k]) for k, a in before.items())


def test_export_and_imports(tmp_path):
    x = nd.array(np.random.RandomState(0).randn(2, 5))
    net = Net(prefix='net_')
    with pytest.raises(RuntimeError, match='no graph'):
        net.export(str(tmp_path / 'm'))
    make(net)
    net.hybridize()
    y = net(x)
    net.export(str(tmp_path / 'm'), epoch=12)
    params = str(tmp_path / 'm-0012.params')
    assert {k for k in nd.load(params) if k.startswith('aux:')} == {'aux:net_batchnorm0_running_mean', 'aux:net_batchnorm0_running_var'}
    block = gluon.SymbolBlock.imports(str(tmp_path / 'm-symbol.json'), ['data'], params)
    np.testing.assert_allclose(block(x).asnumpy(), y.asnumpy(), rtol=1e-5)
    assert block.collect_params()['net_batchnorm0_running_mean'].grad_req == 'null'
    graph = mx.sym.load(str(tmp_path / 'm-symbol.json'))
    arguments = [name for name in graph.list_arguments() if name != 'data']
    assert list(block.collect_params()) == arguments + graph.list_auxiliary_states()     # as in 1.9.1, what is learned first
    again = Net(prefix='net_')
    again.load_parameters(params)
    np.testing.assert_allclose(again(x).asnumpy(), y.asnumpy(), rtol=1e-5)
    empty = gluon.SymbolBlock.imports(str(tmp_path / 'm-symbol.json'), 'data')
    with pytest.raises(RuntimeError, match='not been initialized'):
        empty(x)
    empty.load_parameters(params)
    np.testing.assert_allclose(empty(x).asnumpy(), y.asnumpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="'dat'"):
        gluon.SymbolBlock.imports(str(tmp_path / 'm-symbol.json'), ['dat'])


class Exp(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.exp(x) + 1


class ExpOfNumpy(gluon.HybridBlock):
    def forward(self, x):
        return mx.np.exp(x) + 1


@pytest.mark.parametrize('make_net, numpy_arrays', [(Exp, False), (ExpOfNumpy, True)])
def test_files_of_a_block_without_parameters(make_net, numpy_arrays, tmp_path):
    with mx.util.np_array(numpy_arrays), mx.util.np_shape(numpy_arrays):
        x = (mx.np if numpy_arrays else nd).ones((2, 3))
        net = make_net()
        net.hybridize()
        y = net(x)
        sym_file, params = net.export(str(tmp_path / 'm'))
        block = gluon.SymbolBlock.imports(sym_file, ['data'], params)
        np.testing.assert_allclose(block(x).asnumpy(), y.asnumpy(), rtol=1e-6)
        assert type(block(x)) is type(y)
        again = make_net()
        again.load_parameters(params)
        again.collect_params().load(params)
    assert mx.model.load_params(str(tmp_path / 'm'), 0) == ({}, {})
    with pytest.raises(AssertionError, match='weight'):
        nn.Dense(2, in_units=2).load_parameters(params)
    with pytest.raises(AssertionError, match='weight'):
        nn.Dense(2, in_units=2).collect_params().load(params)


def test_symbol_block_trains_and_composes():
    data = mx.sym.var('data')
    hidden = mx.sym.FullyConnected(data, num_hidden=3, name='fc')
    block = gluon.SymbolBlock([mx.sym.tanh(hidden), hidden], [data])
    block.initialize(mx.init.One())
    x = nd.ones((1, 2))
    with autograd.record():
        y, h = block(x)
        total = y.sum() + h.sum()
    total.backward()
    assert h.asnumpy().tolist() == [[2 + 1, 3, 3]] or h.asnumpy().tolist() == [[2, 2, 2]]
    assert float(block.params['fc_weight'].grad().abs().sum().asscalar()) > 0
    composed = block(mx.sym.var('other'))
    assert 'other' in composed[0].list_arguments()
    with pytest.raises(ValueError, match='variables'):
        gluon.SymbolBlock(hidden, mx.sym.tanh(data))


def test_save_and_load_whole_block(tmp_path):
    prefix = str(tmp_path / 'b')
    x = nd.ones((1, 3))
    net = make(two_layers(prefix='m_'))
    net.hybridize()
    y = net(x).asnumpy()
    net.save(prefix)
    other = two_layers(prefix='m_')
    other.load(prefix)
    assert other._active and np.array_equal(other(x).asnumpy(), y)
    with pytest.raises(ValueError, match='structure'):
        Net().load(prefix)


def reference_net():
    net = nn.HybridSequential(prefix='small_')
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation='relu'), nn.BatchNorm(), nn.MaxPool2D(), nn.Flatten(), nn.Dense(5))
    return net


@pytest.mark.parametrize('how', ['path', 'export', 'symbol'])
def test_files_of_the_retired_version(how):
    """Files recorded by data/make_gluon_reference.py load and give the recorded output."""
    base = os.path.join(DATA, 'gluon_net')
    with open(base + '.json', encoding='utf-8') as f:
        recorded = json.load(f)
    x = nd.array(np.array(recorded['x'], 'float32').reshape(2, 3, 8, 8))
    if how == 'symbol':
        net = gluon.SymbolBlock.imports(base + '-symbol.json', ['data'], base + '-0000.params')
    else:
        net = reference_net()
        net.load_parameters(base + ('.params' if how == 'path' else '-0000.params'))
    np.testing.assert_allclose(net(x).asnumpy(), recorded['y'], rtol=1e-5, atol=1e-5)


@pytest.fixture
def every_operator():
    """Plans whose operators are those of the graph."""
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "fuse_dense,fuse_pointwise")
    yield
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")


def test_op_hook_sees_operators(every_operator):
    seen = {}
    net = make(two_layers(prefix='m_'))
    x = nd.ones((1, 3))
    expected = net(x)
    net.register_op_hook(lambda name, op, array: seen.setdefault(name, (op, array.asnumpy())), monitor_all=True)
    net.hybridize()
    net(x)
    outputs = {k: v for k, v in seen.items() if k.endswith('_output')}
    assert [v[0] for v in outputs.values()] == ['FullyConnected', 'Activation', 'FullyConnected']
    np.testing.assert_allclose(outputs['m_dense1_fwd_output'][1], expected.asnumpy(), rtol=1e-5)
    assert any('weight' in k for k in seen)

    def fail(name, op, array):
        raise KeyError(name)
    net.register_op_hook(fail)
    with pytest.raises(KeyError, match='m_dense0_fwd_output'):
        net(x)


def test_op_hook_numbers_outputs_without_names(every_operator):
    """As in 1.9.1, whose executors call them output."""
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            top = F.topk(F.softmax(x), k=2, ret_typ='both')
            return F.Flatten(top[0]) + 1, F.concat(top[1], x * x, dim=1)

    for flags in ({}, {'static_alloc': True}, {'static_alloc': True, 'static_shape': True}):
        net, seen = Net(prefix='n_'), []
        net.register_op_hook(lambda name, op, array: seen.append(name))
        net.hybridize(**flags)
        net(nd.ones((2, 3)))
        assert sorted(seen) == ['n__mul0_0', 'n__plusscalar0_0', 'n_concat0_output', 'n_flatten0_0', 'n_softmax0_output',
                                'n_topk0_0', 'n_topk0_1']


def test_op_hooks_of_1x_decode_and_cast():
    import ctypes
    from mxnet.base import NDArrayHandle, py_str
    seen = []

    def hook(name, operator, array):
        array = nd.NDArray(ctypes.cast(array, NDArrayHandle), writable=False)
        seen.append((py_str(name), operator.decode('utf-8'), array.copyto(mx.cpu()).asnumpy().tolist()))
    net = nn.Dense(1, in_units=2, prefix='d_')
    net.initialize(mx.init.One())
    net.register_op_hook(hook)
    net.hybridize()
    net(nd.ones((2, 2)))
    assert seen == [('d_fwd_output', 'FullyConnected', [[2], [2]])]


def test_load_dict_zero_grad_reset_ctx_setattr():
    net = make(two_layers())
    other = two_layers()
    other.load_dict({k: p.data() for k, p in net._collect_params_with_prefix().items()})
    assert all(np.array_equal(a, values(other)[k]) for k, a in values(net).items())
    with autograd.record():
        y = net(nd.ones((1, 3)))
    y.backward()
    net.zero_grad()
    assert not net[1].bias.grad().asnumpy().any()
    net.reset_ctx(mx.cpu(1))
    assert net[0].weight.list_ctx() == [mx.cpu(1)]
    net.setattr('grad_req', 'null')
    assert net[0].weight.grad_req == 'null'
