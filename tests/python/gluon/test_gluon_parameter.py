"""Parameter, Constant and ParameterDict."""
import gc

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

pytestmark = pytest.mark.on_gpu


def test_initialize_fills_and_allocates_gradient():
    p = gluon.Parameter('w', shape=(2, 3))
    p.initialize(mx.init.Constant(2.5))
    assert p.data().shape == (2, 3) and (p.data().asnumpy() == 2.5).all()
    assert (p.grad().asnumpy() == 0).all()
    assert p.list_ctx() == [mx.cpu()] or p.list_ctx() == [mx.current_context()]


def test_own_initializer_wins_over_default():
    p = gluon.Parameter('w', shape=(2,), init='ones')
    p.initialize(default_init=mx.init.Zero())
    assert (p.data().asnumpy() == 1).all()
    p.initialize(mx.init.Constant(3), force_reinit=True)
    assert (p.data().asnumpy() == 3).all()


def test_second_initialize_warns_and_keeps():
    p = gluon.Parameter('w', shape=(2,), init='ones')
    p.initialize()
    with pytest.warns(UserWarning, match='already initialized, ignoring'):
        p.initialize(mx.init.Zero())
    assert (p.data().asnumpy() == 1).all()


def test_reading_before_initialize():
    p = gluon.Parameter('w', shape=(2,))
    for read in (p.data, p.grad, p.list_data, p.list_grad, p.list_ctx):
        with pytest.raises(RuntimeError, match='has not been initialized'):
            read()


def test_deferred_initialization():
    p = gluon.Parameter('w', shape=(2, 0), allow_deferred_init=True, init='ones')
    p.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match='open'):
        p.data()
    assert p.list_ctx() == [mx.current_context()]
    p.shape = (2, 4)
    p._finish_deferred_init()
    assert p.data().shape == (2, 4)
    with pytest.raises(AssertionError, match='shape'):
        p.shape = (3, 4)
    with pytest.raises(ValueError, match='cannot be initialised'):
        gluon.Parameter('v', shape=(0, 2)).initialize()


def test_set_data_before_shape_is_known():
    p = gluon.Parameter('w', shape=(2, 0), allow_deferred_init=True)
    p.initialize()
    p.set_data(nd.array([[1, 2], [3, 4]]))
    p._finish_deferred_init()
    assert p.data().asnumpy().tolist() == [[1, 2], [3, 4]]


def test_contexts():
    ctxs = [mx.cpu(0), mx.cpu(1)]
    p = gluon.Parameter('w', shape=(2,))
    p.initialize(mx.init.One(), ctx=ctxs)
    assert p.list_ctx() == ctxs and [d.context for d in p.list_data()] == ctxs
    assert p.data(mx.cpu(1)).context == mx.cpu(1)
    with pytest.raises(RuntimeError, match='is not on'):
        p.data(mx.cpu(2))
    p.data(mx.cpu(1))[:] = 3
    p.reset_ctx(mx.cpu(2))
    assert p.list_ctx() == [mx.cpu(2)] and (p.data().asnumpy() == 2).all()    # the mean of 1 and 3
    with pytest.raises(ValueError, match='once'):
        gluon.Parameter('v', shape=(2,)).initialize(ctx=[mx.cpu(0), mx.cpu(0)])


@pytest.mark.parametrize('req, steps, expected', [('write', 2, 2.0), ('add', 3, 6.0)])
def test_grad_req(req, steps, expected):
    p = gluon.Parameter('w', shape=(1,), grad_req=req, init='ones')
    p.initialize()
    for _ in range(steps):
        with autograd.record():
            y = p.data() * 2
        y.backward()
    assert p.grad().asnumpy().tolist() == [expected]
    p.zero_grad()
    assert p.grad().asnumpy().tolist() == [0]


def test_grad_req_null_and_back():
    p = gluon.Parameter('w', shape=(1,), init='ones')
    p.initialize()
    p.grad_req = 'null'
    with pytest.raises(RuntimeError, match="grad_req is 'null'"):
        p.grad()
    p.grad_req = 'write'
    with autograd.record():
        y = p.data() * 5
    y.backward()
    assert p.grad().asnumpy().tolist() == [5]
    assert gluon.Parameter('v', shape=(1,), differentiable=False).grad_req == 'null'
    with pytest.raises(AssertionError, match='grad_req'):
        p.grad_req = 'sometimes'


def test_cast():
    p = gluon.Parameter('w', shape=(2,), init='ones')
    p.initialize()
    p.cast('float64')
    assert p.data().dtype == np.float64 and p.grad().dtype == np.float64
    with autograd.record():
        y = p.data() * 3
    y.backward()
    assert p.grad().asnumpy().tolist() == [3, 3]


def test_var_carries_attributes():
    p = gluon.Parameter('w', shape=(2, 3), lr_mult=2.0, wd_mult=0.5, dtype='float64')
    attrs = p.var().list_attr()
    assert attrs['__shape__'] == '(2, 3)' and attrs['__lr_mult__'] == '2.0' and attrs['__wd_mult__'] == '0.5' and attrs['__dtype__'] == '1'
    assert p.var() is p.var()


def test_constant():
    c = gluon.Constant('c', [[1, 2], [3, 4]])
    c.initialize()
    assert c.data().asnumpy().tolist() == [[1, 2], [3, 4]] and c.grad_req == 'null'
    with pytest.warns(UserWarning, match='Constant parameter'):
        c.grad_req = 'write'
    assert c.grad_req == 'null'


def test_module_fills_constants_of_a_block():
    """A graph knows its Constants when the Block is gone."""
    class Scaled(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.scale = self.params.get_constant('scale', [[1, 2], [3, 4.5]])

        def hybrid_forward(self, F, x, scale):
            return x * scale

    module = mx.mod.Module(Scaled()(mx.sym.var('data')), label_names=None)
    gc.collect()
    module.bind([('data', (2, 2))], for_training=False)
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 2))]))
    assert module.get_outputs()[0].asnumpy().tolist() == [[1, 2], [3, 4.5]]



def test_dict_get_shares_and_checks():
    d = gluon.ParameterDict('net_')
    w = d.get('w', shape=(2, 0))
    assert d.get('w') is w and list(d.keys()) == ['net_w'] and d['net_w'] is w
    assert d.get('w', shape=(0, 3)) is w and w.shape == (2, 3)
    with pytest.raises(AssertionError, match='shape'):
        d.get('w', shape=(2, 4))
    with pytest.raises(AssertionError, match='dtype'):
        d.get('w', dtype='float16')
    assert d.get('w', dtype='float32') is w
    shared = gluon.ParameterDict('net_', shared=d)
    assert shared.get('w') is w and 'net_w' in shared


def test_dict_constants():
    d = gluon.ParameterDict('net_')
    with pytest.raises(KeyError, match='no constant'):
        d.get_constant('c')
    c = d.get_constant('c', nd.array([1, 2]))
    assert d.get_constant('c') is c and d.get_constant('c', [1, 2]) is c
    with pytest.raises(AssertionError, match='another value'):
        d.get_constant('c', [1, 3])
    d.get('w', shape=(1,))
    with pytest.raises(AssertionError, match='exists'):
        d.get_constant('w', [1])


def test_dict_update_refuses_two_parameters_of_one_name():
    a, b = gluon.ParameterDict('n_'), gluon.ParameterDict('n_')
    a.get('w', shape=(1,))
    b.get('v', shape=(1,))
    a.update(b)
    assert list(a.keys()) == ['n_w', 'n_v']
    b.get('w', shape=(1,))
    with pytest.raises(AssertionError, match="'n_w'"):
        a.update(b)


def test_dict_save_and_load(tmp_path):
    d = gluon.ParameterDict('net_')
    d.get('w', shape=(2,), init='ones')
    d.get('v', shape=(3,), init='zeros')
    d.initialize()
    name = str(tmp_path / 'd.params')
    d.save(name, strip_prefix='net_')
    assert set(nd.load(name)) == {'w', 'v'}
    e = gluon.ParameterDict('other_')
    e.get('w', shape=(2,))
    with pytest.raises(AssertionError, match='not among'):
        e.load(name, mx.cpu(), restore_prefix='other_')
    e.load(name, mx.cpu(), restore_prefix='other_', ignore_extra=True)
    assert (e['other_w'].data().asnumpy() == 1).all()
    e.get('missing', shape=(1,))
    with pytest.raises(AssertionError, match='other_missing'):
        e.load(name, mx.cpu(), restore_prefix='other_', ignore_extra=True)
    e.load(name, mx.cpu(), restore_prefix='other_', ignore_extra=True, allow_missing=True)
    with pytest.raises(ValueError, match='strip_prefix'):
        d.save(name, strip_prefix='x')
    with pytest.raises(AssertionError, match='restore_prefix'):
        e.load(name, restore_prefix='x')


def test_dict_setattr_zero_grad_reset_ctx():
    d = gluon.ParameterDict()
    w = d.get('w', shape=(2,), init='ones')
    d.initialize()
    d.setattr('lr_mult', 0.5)
    assert w.lr_mult == 0.5
    with autograd.record():
        y = w.data() * 2
    y.backward()
    d.zero_grad()
    assert w.grad().asnumpy().tolist() == [0, 0]
    d.reset_ctx([mx.cpu(0), mx.cpu(1)])
    assert d.list_ctx() == [mx.cpu(0), mx.cpu(1)] and (w.data(mx.cpu(1)).asnumpy() == 1).all()


def test_list_ctx_without_initialize_raises():
    d = gluon.ParameterDict()
    d.get('w', shape=(2,))
    with pytest.raises(RuntimeError):
        d.list_ctx()


# -- NumPy shape semantics: open dimensions are -1 there and 0 elsewhere ---------------------------
def _net():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(4, 3), gluon.nn.BatchNorm(), gluon.nn.Dense(3), gluon.nn.LayerNorm(), gluon.nn.Dense(2))
    return net


@pytest.mark.parametrize('hybrid', [False, True])
@pytest.mark.parametrize('made, run', [(False, False), (True, True), (False, True), (True, False)])
def test_deferred_shapes_under_np_shape(made, run, hybrid):
    for make, shape, weight in ((lambda: gluon.nn.Dense(2), (2, 3), (2, 3)),
                                (_net, (1, 3, 6, 6), (4, 3, 3, 3)),
                                (lambda: gluon.nn.InstanceNorm(), (2, 4, 3, 3), (4,)),
                                (lambda: gluon.rnn.LSTM(5), (3, 2, 4), (20, 4)),
                                (lambda: gluon.nn.Conv2DTranspose(4, 3), (1, 3, 6, 6),
                                 (3, 4, 3, 3))):
        with mx.util.np_shape(made):
            net = make()
            net.initialize()
            first = next(iter(net.collect_params().values()))
            assert [d for d in first.shape if d > 0] == [w for d, w in zip(first.shape, weight) if d > 0]
            assert not any(d == (0 if made else -1) for d in first.shape)
            if hybrid:
                net.hybridize()
        with mx.util.np_shape(run):
            net(nd.ones(shape))
            assert first.shape == first.data().shape == weight


def test_module_and_files_under_np_shape(tmp_path):
    with mx.util.np_shape(True):
        out = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc')
        assert out.simple_bind(mx.cpu(), data=(2, 4)).arg_dict['fc_weight'].shape == (3, 4)
        assert mx.sym.FullyConnected(mx.sym.var('data', shape=(-1, 4)), num_hidden=3).infer_shape_partial()[1] == [(-1, 3)]
        net = gluon.nn.Dense(2)
        net.initialize()
        net.hybridize()
        want = net(nd.ones((1, 3))).asnumpy()
        net.export(str(tmp_path / 'm'))
        net.save_parameters(str(tmp_path / 'p'))
        other = gluon.nn.Dense(2)
        other.load_parameters(str(tmp_path / 'p'))
        block = gluon.SymbolBlock.imports(str(tmp_path / 'm-symbol.json'), ['data'], str(tmp_path / 'm-0000.params'))
        assert other(nd.ones((1, 3))).asnumpy().tolist() == block(nd.ones((1, 3))).asnumpy().tolist() == want.tolist()
