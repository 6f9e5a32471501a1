"""Hybridized blocks give the answers of unhybridized ones, whatever Python code is in their
forward."""
import gc
import random
import warnings

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


class F(gluon.HybridBlock):
    """A block whose forward is a function of (self, *inputs)."""

    def __init__(self, function, **attributes):
        super().__init__()
        self.function = function
        for k, v in attributes.items():
            setattr(self, k, v)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


class WithLayers(gluon.HybridBlock):
    """Layers below a forward that reads shapes."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(4, in_units=3), nn.Dense(4, in_units=4)

    def forward(self, x):
        y = self.a(x)
        for _ in range(len(x)):
            y = self.b(y)
        return y / x.shape[0]


class Shared(gluon.HybridBlock):
    """One child used twice."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(3, in_units=3)
        self.again = self.layer

    def forward(self, x):
        return self.again(self.layer(x)) * x.size


class OwnParameter(gluon.HybridBlock):
    """Reads its Parameter through data()."""

    def __init__(self):
        super().__init__()
        self.weight = gluon.Parameter('weight', shape=(3,), init='ones')

    def forward(self, x):
        return x * self.weight.data() + self.weight.data().sum()


class Outer(gluon.HybridBlock):
    """A block with hybrid_forward over one with forward."""

    def __init__(self):
        super().__init__()
        self.inner, self.dense = WithLayers(), nn.Dense(2, in_units=4)

    def hybrid_forward(self, F, x):
        return self.dense(self.inner(x))


class ReadsBelow(gluon.HybridBlock):
    """A compiled child beside one that reads values."""

    def __init__(self):
        super().__init__()
        self.dense, self.reads = nn.Dense(3, in_units=3), F(lambda self, x: x * 2 if x.sum().asscalar() > 0 else x - 1)

    def forward(self, x):
        return self.dense(x) + self.reads(x)


def branch(self, x):
    if x.sum().asscalar() > 0:
        return x * 2
    return x - 1


def count(self, x):
    self.k += 1
    return x * self.k


def append(self, x):
    self.seen.append(1)
    return x * len(self.seen)


def remember(self, x):
    before, self.state = self.state, x * 2
    return x if before is None or before.shape != x.shape or before.context != x.context else x + before


def mask(self, x):
    n = x.shape[0]
    return nd.dot(nd.array(np.tril(np.ones((n, n)))), x)


def in_place(self, x):
    y = x * 2
    y += 1
    y[0] = 7
    return y


def through_view(self, x):
    y = x * 2
    row = y[0]
    row[:] = 5
    return y


def writes_input(self, x):
    x += 1
    return x * 2


def paused(self, x):
    with autograd.pause():
        y = x * 3
    return x * y


def inner_gradient(self, x):
    x = x.copy()
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    return x.grad * 1


def keyword(self, x, y=None, *, scale=2, name='a', flag=False):
    out = x * scale
    if y is not None:
        out = out + (y['a'] if isinstance(y, dict) else y[0] if isinstance(y, (list, tuple)) else y)
    if flag:
        out = out * 10
    return out + (100 if name == 'b' else 0)


def x(*shape, seed=0):
    return nd.array(np.random.RandomState(seed + sum(shape)).randn(*shape))


TABLE = {    # name: (block, is it a graph; None: it may be either)
    'shape': (lambda: F(lambda self, x: x * x.shape[0]), True),
    'size': (lambda: F(lambda self, x: x * x.size), True),
    'ndim': (lambda: F(lambda self, x: x * x.ndim), True),
    'len': (lambda: F(lambda self, x: sum([x[i] for i in range(len(x))]) if len(x) else x), True),
    'iterate': (lambda: F(lambda self, x: nd.stack(*[row * i for i, row in enumerate(x)])), True),
    'zeros': (lambda: F(lambda self, x: x + nd.zeros(x.shape) + nd.ones(x.shape, dtype=x.dtype)), True),
    'last row': (lambda: F(lambda self, x: x[-1] + x[:1]), True),
    'reshape': (lambda: F(lambda self, x: x.reshape((x.shape[0] * x.shape[1],))), True),
    'numpy inside': (lambda: F(mask), True),
    'array outside': (lambda: F(lambda self, x: x * self.scale, scale=nd.array([1, 2, 3])), True),
    'arange': (lambda: F(lambda self, x: x + nd.arange(x.shape[1])), True),
    'training': (lambda: F(lambda self, x: x * 2 if autograd.is_training() else x), True),
    'recording': (lambda: F(lambda self, x: x * 2 if autograd.is_recording() else x), True),
    'dtype': (lambda: F(lambda self, x: x * (2 if x.dtype == np.float64 else 3)), True),
    'context': (lambda: F(lambda self, x: x * (2 if x.context == mx.cpu(1) else 3)), True),
    'asscalar branch': (lambda: F(branch), False),
    'bool': (lambda: F(lambda self, x: x * 2 if (x.sum() > 0) else x), False),
    'float': (lambda: F(lambda self, x: x * float(x.sum())), False),
    'int': (lambda: F(lambda self, x: x * int(x.sum())), False),
    'item': (lambda: F(lambda self, x: x * x.max().item()), False),
    'asnumpy': (lambda: F(lambda self, x: x + nd.array(x.asnumpy() * 2)), False),
    'print': (lambda: F(lambda self, x: x * len(str(x))), False),
    'swallowed': (lambda: F(lambda self, x: swallowed(x)), False),
    'python random': (lambda: F(lambda self, x: x * random.random()), False),
    'numpy random': (lambda: F(lambda self, x: x * np.random.rand()), False),
    'counter': (lambda: F(count, k=0), False),
    'list that grows': (lambda: F(append, seen=[]), False),
    'state': (lambda: F(remember, state=None), False),
    'in place': (lambda: F(in_place), True),
    'through a view': (lambda: F(through_view), None),
    'writes its input': (lambda: F(writes_input), False),
    'pause': (lambda: F(paused), None),
    'own gradient': (lambda: F(inner_gradient), False),
    'detach': (lambda: F(lambda self, x: x * x.detach()), True),
    'layers': (WithLayers, True),
    'shared child': (Shared, True),
    'own parameter': (OwnParameter, True),
    'below hybrid_forward': (Outer, True),
    'child reads': (ReadsBelow, False),
    'tuple out': (lambda: F(lambda self, x: (x, (x * 2, [x * 3]), None, x.shape[0], {'a': x + 1})), True),
    'no array out': (lambda: F(lambda self, x: x.shape), False),
    'boolean mask': (lambda: F(lambda self, x: nd.contrib.boolean_mask(x, x[:, 0] > 0)), True),
    'dropout': (lambda: F(lambda self, x: nd.Dropout(x, p=0.0) * x.shape[1]), True),
}


def swallowed(x):
    try:
        return x * float(x.sum().asscalar())
    except Exception:    # pylint: disable=broad-except
        return x


def plain(value):
    """The values of arrays in nested containers, with the types of the containers."""
    if isinstance(value, nd.NDArray):
        return str(value.dtype), value.shape, value.asnumpy().round(4).tolist()
    if isinstance(value, (list, tuple)):
        return type(value), [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def one_call(block, a, mode):
    """What a call gives and does: outputs, the gradient of the input where it is recorded, the
    input afterwards."""
    if mode != 'record':
        with (autograd.train_mode() if mode == 'train' else autograd.predict_mode()):
            out = block(a)
        return plain(out), a.asnumpy().tolist()
    a.attach_grad()
    try:
        with autograd.record():
            out = block(a)
            first = out[1][0] if isinstance(out, tuple) and out and isinstance(out[0], nd.NDArray) else out
        if isinstance(first, nd.NDArray):
            first.backward()
    except mx.base.MXNetError as e:
        return type(e)
    return plain(out), a.grad.asnumpy().round(4).tolist()


def calls():
    """Shapes, dtypes, devices and modes of twenty calls."""
    for mode in ('predict', 'record', 'train', 'predict'):
        for shape in ((2, 3), (4, 3), (2, 3)):
            yield x(*shape), mode
        yield -x(2, 3).abs(), mode
    yield x(2, 3).as_in_context(mx.cpu(1)), 'predict'


@pytest.mark.parametrize('name', TABLE)
def test_same_answers(name):
    make, compiled = TABLE[name]
    blocks = []
    for _ in range(2):
        mx.random.seed(3)
        block = make()
        block.initialize(mx.init.Xavier(), ctx=[mx.cpu(0), mx.cpu(1)])
        blocks.append(block)
    blocks[1].hybridize()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        for i, (a, mode) in enumerate(calls()):
            if name in ('array outside', 'numpy inside', 'arange', 'zeros') and a.context != mx.cpu(0):
                continue
            results = []
            for block in blocks:
                random.seed(i)
                np.random.seed(i)
                results.append(one_call(block, a.copyto(a.context), mode))
            assert results[0] == results[1], (i, mode, a.shape)
    told = [w for w in seen if 'operator by operator' in str(w.message)]
    if compiled is not None:
        assert (blocks[1]._cached_op is not None) == compiled
        assert bool(told) == (not compiled)
    assert len({str(w.message) for w in told}) <= 4    # once per block and mode


def test_dtypes():
    block = TABLE['dtype'][0]()
    block.hybridize()
    assert block(nd.ones((1,))).asscalar() == 3 and block(nd.ones((1,), dtype='float64')).asscalar() == 2


@pytest.mark.parametrize('style', [keyword, None])
def test_arguments(style):
    """Keywords, defaults, None, numbers, texts, bools, lists, tuples and dicts, of both kinds of
    blocks."""
    class H(gluon.HybridBlock):
        def hybrid_forward(self, F, x, y=None, scale=2, name='a', flag=False):
            return keyword(self, x, y, scale=scale, name=name, flag=flag)
    a, b = nd.array([1, 2]), nd.array([10, 20])
    plain_block, compiled = (F(keyword), F(keyword)) if style else (H(), H())
    compiled.hybridize()
    cases = [((a,), {}), ((a, b), {}), ((a, None), {}), ((a,), {'y': b}), ((a,), {'scale': 3}),
             ((a, [b]), {'flag': True}), ((a, (b,)), {'name': 'b'}),
             ((a, {'a': b}), {}), ((a, 3.5), {}), ((a,), {'scale': np.float32(2)}),
             ((a,), {'scale': True}), ((a,), {'scale': 1}), ((a, b), {'scale': 2.5, 'name': 'b'}),
             ((a,), {'y': 4})]
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for _ in range(2):
            for args, kwargs in cases:
                assert np.array_equal(plain_block(*args, **kwargs).asnumpy(), compiled(*args, **kwargs).asnumpy()), (args, kwargs)
    for block in (plain_block, compiled):
        with pytest.raises(TypeError):
            block(a, unknown=1)
        with pytest.raises(TypeError):
            block()


def test_argument_that_cannot_be_compared():
    class Options:
        n = 2
    block = F(lambda self, x, options: x * options.n)
    block.hybridize()
    with pytest.warns(UserWarning, match='a Options'):
        assert block(nd.ones((1,)), Options()).asscalar() == 2
    options = Options()
    options.n = 5
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert block(nd.ones((1,)), options).asscalar() == 5


def test_no_array_inputs():
    block = OwnParameter()
    only = F(lambda self, n: self.inner.weight.data() * n, inner=block)
    only.initialize()
    only.hybridize()
    for n in (1, 2, 1):
        assert only(n).asnumpy().tolist() == [n] * 3
    assert len(only._traces) == 2


def test_attribute_set_between_calls():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), F(lambda self, x: x * self.k, k=2))
    net.initialize(mx.init.One())
    net.hybridize()
    a = nd.ones((1, 2))
    assert net(a).asnumpy().tolist() == [[4, 4]]
    net[1].k = 3
    assert net(a).asnumpy().tolist() == [[6, 6]]
    op = net._cached_op
    net[1].note = 'read by nobody'
    assert net(a).asnumpy().tolist() == [[6, 6]] and net._cached_op is op    # recorded again, and the same
    net[1].options = {'n': 1}
    net[1].function = lambda self, x: x * self.options['n']
    assert net(a).asnumpy().tolist() == [[2, 2]]
    net[1].options['n'] = 5
    assert net(a).asnumpy().tolist() == [[10, 10]]


def test_layer_replaced_below():
    net = nn.HybridSequential()
    net.add(WithLayers())
    net.initialize(mx.init.One())
    net.hybridize()
    a = nd.ones((1, 3))
    before = net(a).asnumpy()
    net[0].b = nn.Dense(4, in_units=4, weight_initializer='zeros')
    net[0].b.initialize()
    assert not np.array_equal(net(a).asnumpy(), before)


def test_hybrid_forward_reads_the_mode():
    class M(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return (x, x * 2) if autograd.is_training() else x
    net = M()
    net.hybridize()
    a = nd.ones((1,))
    for _ in range(2):
        assert isinstance(net(a), nd.NDArray)
        with autograd.record():
            assert len(net(a)) == 2


def test_fixed_code_is_recorded_once():
    times = []
    block = F(lambda self, x: times.append(1) or (x * 2 + 1).sum(axis=1))
    block.hybridize()
    for n in range(1, 50):
        assert block(nd.ones((n, 2))).shape == (n,)
    with autograd.record():
        block(nd.ones((3, 2)))
    assert len(times) == 1 and len(block._traces) == 1


def test_graphs_are_bounded():
    block = F(lambda self, x: x * x.shape[0])
    block.hybridize()
    for n in range(1, 200):
        assert block(nd.ones((n,)))[0].asscalar() == n
    assert len(block._traces) == 32
    assert block(nd.ones((1,))).asscalar() == 1


def test_blocks_are_freed_without_the_collector():
    import weakref
    gc.collect()
    gc.disable()
    try:
        for make in (WithLayers, Outer, lambda: F(lambda self, x: x * x.shape[0]), lambda: F(branch)):
            block = make()
            block.initialize()
            block.hybridize()
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                a = x(2, 3)
                a.attach_grad()
                with autograd.record():
                    out = block(a)
            out.backward()
            arrays = [weakref.ref(a) for p in block.collect_params().values() for a in p.list_data()]
            gone = weakref.ref(block._traces)
            del block, out, make
            assert gone() is None and all(a() is None for a in arrays)
    finally:
        gc.enable()


def test_traced_arrays_have_no_values():
    kept = []
    block = F(lambda self, x: kept.append(x * 2) or x + 1)
    block.hybridize()
    block(nd.ones((2,)))
    for use in (lambda a: a.asnumpy(), lambda a: a + 1, lambda a: str(a), lambda a: nd.save('/tmp/never', [a]), lambda a: a.__dlpack__()):
        with pytest.raises(ValueError, match='no values'):
            use(kept[0])


def test_export_with_an_array_from_outside(tmp_path):
    block = F(mask)
    block.hybridize()
    a = x(3, 2)
    want = block(a).asnumpy()
    block.export(str(tmp_path / 'm'))
    again = gluon.SymbolBlock.imports(str(tmp_path / 'm-symbol.json'), ['data'], str(tmp_path / 'm-0000.params'))
    np.testing.assert_allclose(again(a).asnumpy(), want, rtol=1e-6)


def test_error_of_the_program_is_its_own():
    block = F(lambda self, x: nd.dot(x, x))
    block.hybridize()
    with pytest.raises(mx.base.MXNetError):
        block(nd.ones((2, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert block(nd.ones((2, 2))).shape == (2, 2)
    assert block._cached_op is not None


class OfUsers(gluon.rnn.HybridRecurrentCell):
    """A cell that is not this package's."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.layer = gluon.nn.Dense(4)

    def state_info(self, batch_size=0):
        return [{'shape': (batch_size, 4), '__layout__': 'NC'}]

    def hybrid_forward(self, F, x, states):
        y = F.tanh(self.layer(x) + states[0])
        return y, [y]


@pytest.mark.parametrize('make', (lambda: gluon.rnn.LSTMCell(4), lambda: gluon.rnn.GRUCell(4), OfUsers,
                                  lambda: gluon.rnn.ZoneoutCell(gluon.rnn.RNNCell(4), .1)))
def test_a_step_of_a_hybridized_cell_records_no_graph(make, monkeypatch):
    """Cells count their steps for the names of nodes, which is no reason to record them anew."""
    from mxnet.gluon import _trace
    cell = make()
    cell.initialize()
    cell.hybridize()
    x = mx.nd.ones((2, 3))
    cell.unroll(3, mx.nd.ones((2, 3, 3)))
    recorded, safely = [], _trace.traced_safely
    monkeypatch.setattr(_trace, 'traced_safely', lambda *args: recorded.append(args) or safely(*args))
    states = cell.begin_state(batch_size=2)
    cell.unroll(5, mx.nd.ones((2, 5, 3)))
    for _ in range(3):
        _, states = cell(x, states)
    assert not recorded


@pytest.mark.parametrize('hybridize', [False, True])
def test_a_layer_that_forward_leaves_out_stays_open(hybridize):
    class Partly(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.used, self.unused = nn.Dense(2), nn.Dense(3)

        def hybrid_forward(self, F, x):
            return self.used(x)

    net = Partly()
    net.initialize()
    if hybridize:
        net.hybridize()
    for _ in range(2):
        assert net(nd.ones((1, 4))).shape == (1, 2)
    assert net.used.weight.shape == (2, 4) and net.unused.weight.shape[1] in (0, -1)
    with pytest.raises(gluon.DeferredInitializationError):
        net.unused.weight.data()
    net.unused(nd.ones((1, 5)))
    assert net.unused.weight.data().shape == (3, 5)


def test_summary_of_a_hybridized_network_is_that_of_a_plain_one(capsys):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation='relu'), gluon.nn.Dense(2))
    net.initialize()
    x = mx.nd.ones((3, 5))
    net.summary(x)
    plain = capsys.readouterr().out
    net.hybridize()
    before = net(x).asnumpy()
    net.summary(x)
    assert capsys.readouterr().out == plain and plain.count('Dense-') == 2
    assert net._active and all(child._active for child in net._children.values())
    assert (net(x).asnumpy() == before).all()
    with pytest.raises(Exception):
        net.summary(mx.nd.ones((3, 6)))      # of another width
    assert net._active


@pytest.mark.parametrize('kind', ['forward', 'hybrid_forward'])
@pytest.mark.parametrize('names', [('data', 'weight'), ('data0', 'data1'), ('data1', 'data1_input')])
def test_parameters_may_have_the_names_of_inputs(kind, names, tmp_path):
    """Graphs computed with the input in the place of the Parameter."""
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__(prefix='')
            self.a, self.b = (self.params.get(name, shape=(4,), init=mx.init.Constant(i + 2)) for i, name in enumerate(names))

    class Recorded(Net):
        def forward(self, x, *more):
            return sum(more, x * self.a.data()) + self.b.data()

    class Composed(Net):
        def hybrid_forward(self, F, x, *more, a, b):
            return F.broadcast_add(sum(more, F.broadcast_mul(x, a)), b)

    arrays = [nd.array([[1, 2, 3, 4]]), nd.array([[5, 6, 7, 8]])][:1 if names[0] == 'data' else 2]
    net = Recorded() if kind == 'forward' else Composed()
    net.initialize()
    plain = net(*arrays).asnumpy()
    net.hybridize()
    np.testing.assert_array_equal(net(*arrays).asnumpy(), plain)
    graph, params = net.export(str(tmp_path / 'net'))
    inputs = [v.name for v in net._cached_graph[0]]
    assert set(nd.load(params)) == {'arg:' + name for name in names} and not set(inputs) & set(names)
    again = gluon.SymbolBlock.imports(graph, inputs, params)
    np.testing.assert_array_equal(again(*arrays).asnumpy(), plain)


def test_an_input_with_the_name_of_an_attribute_is_no_parameter(tmp_path):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.data = self.params.get('data', shape=(4,), init='ones')

        def hybrid_forward(self, F, x, data):
            return F.broadcast_add(x, data)

    net = Net()
    net.initialize()
    net.hybridize()
    net(nd.ones((2, 4)))
    assert set(nd.load(net.export(str(tmp_path / 'net'))[1])) == {'arg:' + net.data.name}
