"""Graphs of programs with NumPy's rules: files of MXNet 1.9.1 and 2.0, blocks in both styles, and
what a traced `forward` can hold."""
import json
import os

import numpy as onp
import pytest

import mxnet as mx
from mxnet import gluon, npx

pytestmark = pytest.mark.usefixtures("numpy_semantics")

np = mx.np
FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), 'data', 'numpy_graphs')
MODELS = ['mlp', 'cnn', 'rnn', 'attention', 'choices']
X = onp.random.RandomState(1).uniform(-1, 1, (3, 4)).astype('float32')


def as_list(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def compare(out, data):
    out = as_list(out)
    assert len(out) == sum(k.startswith('out') for k in data.files)
    for i, got in enumerate(out):
        want = data[f'out{i}']
        assert type(got) is np.ndarray and got.shape == want.shape and onp.dtype(got.dtype) == want.dtype
        onp.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5, atol=1e-6)


def imported(path):
    return gluon.SymbolBlock.imports(path + '-symbol.json', ['data'], path + '-0000.params')


@pytest.mark.parametrize('version', ['v19', 'v20'])
@pytest.mark.parametrize('model', MODELS)
def test_files_of_both_versions(version, model, tmp_path):
    path = os.path.join(FOLDER, f'{version}_{model}')
    data = onp.load(path + '.npz')
    net = imported(path)
    compare(net(np.array(data['data'])), data)
    net.hybridize()
    compare(net(np.array(data['data'])), data)
    symbol = mx.sym.load(path + '-symbol.json')
    shapes = symbol.infer_shape(data=data['data'].shape)
    assert shapes[1] == [data[f'out{i}'].shape for i in range(len(shapes[1]))]
    again = str(tmp_path / 'again')
    net.export(again)
    compare(imported(again)(np.array(data['data'])), data)


def recorder():
    import importlib.util
    spec = importlib.util.spec_from_file_location('record_numpy_graphs', os.path.join(os.path.dirname(__file__), 'record_numpy_graphs.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('symbolic', [True, False])
@pytest.mark.parametrize('model', MODELS)
def test_our_own_blocks(model, symbolic, tmp_path):
    """The recorded models in the styles of 1.9.1 and of 2.0: eager, hybridized, imported again."""
    record = recorder()
    record.SYMBOLIC = symbolic
    compute, parameters, given = record.MODELS[model]
    data = onp.load(os.path.join(FOLDER, f'v20_{model}.npz'))
    net = record.with_forward(compute, parameters)
    net.initialize()
    for name, value in parameters.items():
        getattr(net, name).set_data(np.array(value))
    compare(net(np.array(given)), data)
    net.hybridize()
    compare(net(np.array(given)), data)
    net.export(str(tmp_path / 'net'))
    graph = json.loads((tmp_path / 'net-symbol.json').read_text())
    assert graph['attrs']['is_np_shape'] == ['int', 1]
    of_1_9_1 = [n['op'] for n in graph['nodes'] if n['op'].startswith('_np_') and n['op'] not in ('_np_reshape', '_np_copy', '_np_repeat')]
    assert not of_1_9_1     # 2.0 has other names
    compare(imported(str(tmp_path / 'net'))(np.array(given)), data)
    if symbolic:
        out = as_list(net(mx.sym.var('data').as_np_ndarray()))
        assert all(type(o) is mx.sym.np._Symbol for o in out)


class Traced(gluon.HybridBlock):
    def __init__(self, compute):
        super().__init__()
        self.compute = compute

    def forward(self, *args):
        return self.compute(*args)


COMPUTED = {
    'zero-dim': lambda x: np.sum(x),
    'zero-dim in arithmetic': lambda x: x / np.max(x) + np.sum(x * x),
    'creation': lambda x: x + np.ones((4,)) * np.arange(4) - np.zeros((3, 1)) + np.eye(3, 4) + np.full((), 2.),
    'creation like': lambda x: np.ones_like(x) * x + np.zeros_like(x) + np.full_like(x, 3),
    'index': lambda x: x[1],
    'indices': lambda x: x[1:, ::2],
    'element': lambda x: x[0, 1],
    'new axis': lambda x: x[:, None] * x[None, :, :],
    'ellipsis': lambda x: x[..., -1],
    'array of indices': lambda x: x[np.array([2, 0], dtype='int32')],
    'NumPy operand': lambda x: x * np.array(onp.float32([1, 2, 3, 4])),
    'number operands': lambda x: 1 - x ** 2 / 3 + (x > 0) * 2,
    'constants from outside': lambda x: x + OUTSIDE,
    'python loop': lambda x: np.stack([np.sum(row) for row in x]),
    'shape': lambda x: np.reshape(x, (x.shape[1], x.shape[0])) * x.ndim,
    'linear algebra': lambda x: np.linalg.norm(x @ x.T),
    'split': lambda x: np.concatenate(np.split(x, 2, axis=1)[::-1], axis=1),
    'comparison': lambda x: np.where(np.logical_and(x > -.5, x < .5), x, -x),
    'types': lambda x: x.astype('int32') + np.argmax(x, axis=1, keepdims=True).astype('int32'),
    'loop': lambda x: npx.foreach(lambda row, total: (row + total, row + total), x, x[0] * 0)[0],
    'nested': lambda x: (x, [np.mean(x), {'a': x * 2}['a']]),
    'empty': lambda x: x[:0],
}
OUTSIDE = None


@pytest.mark.parametrize('name', COMPUTED)
def test_traced_forward(name):
    global OUTSIDE
    OUTSIDE = np.array(onp.float32([1, 2, 3, 4]))
    x = np.array(X)
    net = Traced(COMPUTED[name])
    expected = net(x)
    net.hybridize()
    for _ in range(2):
        out = net(x)
        flat = [(out, expected)] if isinstance(out, np.ndarray) else [(out[0], expected[0]), *zip(out[1], expected[1])]
        for got, want in flat:
            assert type(got) is np.ndarray and got.shape == want.shape and got.dtype == want.dtype
            onp.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-6)
    assert net._cached_op is not None


def test_random_numbers_in_a_traced_forward_are_new_in_each_call():
    net = Traced(lambda x: x + np.random.normal(0, 1, size=(3, 4)) + np.random.uniform(size=(1,)))
    net.hybridize()
    x = np.array(X)
    npx.seed(1)
    first, second = net(x).asnumpy(), net(x).asnumpy()
    assert not onp.array_equal(first, second) and net._cached_op is not None
    npx.seed(1)
    assert onp.array_equal(net(x).asnumpy(), first)


def test_gradients_of_traced_blocks():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.w = gluon.Parameter('w', shape=(4, 2))

        def forward(self, x):
            return np.mean(np.tanh(x @ self.w.data())[1:, None] ** 2)
    gradients = []
    for hybrid in (False, True):
        net = Net()
        net.initialize(mx.init.Constant(.3))
        if hybrid:
            net.hybridize()
        x = np.array(X)
        x.attach_grad()
        with mx.autograd.record():
            loss = net(x)
        loss.backward()
        assert loss.shape == () and type(x.grad) is np.ndarray and type(net.w.grad()) is np.ndarray
        gradients.append((x.grad.asnumpy(), net.w.grad().asnumpy()))
    for eager, compiled in zip(*gradients):
        onp.testing.assert_allclose(eager, compiled, rtol=1e-5, atol=1e-7)


def test_values_cannot_be_read_while_tracing_and_the_block_still_works():
    net = Traced(lambda x: x * 2 if float(np.sum(x)) > 0 else x)
    net.hybridize()
    with pytest.warns(UserWarning, match='operator by operator'):
        out = net(np.array(X))
    assert type(out) is np.ndarray


def test_one_block_for_both_kinds_of_arrays():
    """A call with arrays of mx.nd computes with the rules of 1.x, whatever came before."""
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x * 2 + 1
    net = Net()
    net.hybridize()
    for _ in range(2):
        assert type(net(np.array(X))) is np.ndarray
        npx.reset_np()
        assert type(net(mx.nd.array(X))) is mx.nd.NDArray
        npx.set_np()


def test_hybrid_forward_with_np_and_npx():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.scale = self.params.get('scale', shape=(4,), init=mx.init.Constant(2))

        def hybrid_forward(self, F, x, scale):
            y = F.np.exp(x) * scale + F.np.ones((4,)) - F.np.sum(x, axis=1, keepdims=True)
            y = F.npx.softmax(F.np.where(y > 1, y, F.np.zeros_like(y)), axis=0)
            return F.np.concatenate([y[0:2], y[1:]], axis=0), F.np.mean(y), F.np.linalg.norm(y), y[0, 1]
    net = Net()
    net.initialize()
    expected = net(np.array(X))
    net.hybridize()
    for got, want in zip(net(np.array(X)), expected):
        assert got.shape == want.shape
        onp.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-6)
    symbols = net(mx.sym.var('data').as_np_ndarray())
    given = {'data': np.array(X), net.scale.name: net.scale.data()}
    for symbol, want in zip(symbols, expected):
        out, = symbol.bind(mx.cpu(), {n: given[n] for n in symbol.list_arguments()}).forward()
        assert out.shape == want.shape
        onp.testing.assert_allclose(out.asnumpy(), want.asnumpy(), rtol=1e-6)


class Flat(gluon.HybridBlock):
    """Without Parameters, and of another meaning for each class of arrays."""

    def forward(self, x):
        return x.reshape((-1,)) if isinstance(x, np.ndarray) else x.flatten()


class Total(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x.sum()


@pytest.mark.parametrize('make,shapes', [(Flat, {'nd': (3, 4), 'np': (12,)}), (Total, {'nd': (1,), 'np': ()})])
@pytest.mark.parametrize('order', [('nd', 'np'), ('np', 'nd')])
def test_graphs_belong_to_a_class_of_arrays(make, shapes, order):
    """A compiled block has a graph for arrays of mx.nd and another one for those of mx.np."""
    npx.reset_np()
    net = make()
    net.hybridize()
    for kind in order * 3:
        x = getattr(mx, kind).array(X)
        out = net(x)
        assert type(out) is type(x) and out.shape == shapes[kind]
    assert len(net._traces) == 2


def nesting(value):
    return [type(value)] + [nesting(v) for v in value] if isinstance(value, (list, tuple)) else value.shape


def test_compiled_blocks_return_lists(numpy_semantics):
    """As in 2.0, and in 1.9.1 with `hybrid_forward`: tuples of `forward` become lists, in all
    depths. Cells do not compile alone in 2.0."""
    class Nested(gluon.HybridBlock):
        def forward(self, x):
            return x, (x + 1, ()), [x]

    class Around(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.inner = Nested()

        def forward(self, x):
            out = self.inner(x)
            assert type(out) is tuple
            return out

    x = mx.np.ones((2, 3))
    net = Nested()
    assert nesting(net(x)) == [tuple, (2, 3), [tuple, (2, 3), [tuple]], [list, (2, 3)]]
    net.hybridize()
    around = Around()
    around.hybridize()
    for block in (net, net, around):
        assert nesting(block(x)) == [list, (2, 3), [list, (2, 3), [list]], [list, (2, 3)]]
    assert type(net(mx.nd.ones((2, 3)))) is tuple    # 1.9.1 does not compile it
    layer, cell = gluon.rnn.LSTM(4), gluon.rnn.GRUCell(4)
    for block in (layer, cell):
        block.initialize()
        block.hybridize()
    assert type(layer(x.reshape(1, 2, 3), layer.begin_state(2))) is list
    assert type(cell(x, cell.begin_state(2))) is tuple


# (operator, parameters) as files of 2.0.0b1 have them, and what they mean
NODES_OF_2 = [
    ("_npi_linspace", {"num": "3", "start_double": "0", "start_int": "-1", "start_uint": "0", "stop_double": "0", "stop_int": "1",
                       "stop_uint": "0", "value_type": "0", "ctx": "cpu(0)", "dtype": "float32"}, lambda x: onp.linspace(-1, 1, 3)),
    ("_npi_full", {"ctx": "cpu(0)", "double_value": "2.5", "dtype": "float32", "int_value": "0", "shape": "[3,4]", "uint_value": "0",
                   "value_type": "2"}, lambda x: onp.full((3, 4), 2.5)),
    ("sort", {"axis": "1", "is_ascend_s": "0"}, lambda x: -onp.sort(-x, axis=1)),
    ("argsort", {"axis": "1", "dtype": "int64", "is_ascend_s": "1"}, lambda x: onp.argsort(x, axis=1)),
    ("_npi_around", {"decimal": "1"}, lambda x: onp.around(x, 1)),
    ("_npi_hstack", {"dim": "None", "num_args": "1"}, lambda x: x),
    ("_npi_norm", {"axis": "None", "flag": "-2", "keepdims": "0", "ord": "2"}, onp.linalg.norm),
    ("_npi_norm", {"axis": "[1]", "flag": "-1", "keepdims": "0", "ord": "1"}, lambda x: onp.linalg.norm(x, 1, axis=1)),
    ("_npi_norm", {"axis": "[0]", "flag": "-1", "keepdims": "1", "ord": "2"}, lambda x: onp.linalg.norm(x, axis=0, keepdims=True)),
    ("_linalg_det", {}, lambda x: onp.linalg.det(x[:, :3])),
]


def node_of_2(name, attrs):
    inputs = [] if name in ("_npi_linspace", "_npi_full") else [[0, 0, 0]]
    nodes = [{"op": "null", "name": "data", "inputs": []}, {"op": name, "name": "node", "attrs": attrs, "inputs": inputs}]
    return mx.sym.load_json(json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[1, 0, 0]],
                                        "attrs": {"is_np_shape": ["int", 1], "mxnet_version": ["int", 20000]}}))


@pytest.mark.parametrize("name, attrs, meaning", NODES_OF_2)
def test_parameters_that_files_of_2_name_otherwise(name, attrs, meaning):
    x = onp.array([[2.26, -1.13, 0.5, 3], [1, 4.44, 0, -2], [0.25, 7, 6, 5]], "float32")
    given = x[:, :3] if name == "_linalg_det" else x
    symbol = node_of_2(name, attrs)
    arguments = {"data": mx.np.array(given)} if "data" in symbol.list_arguments() else {}
    got = symbol.bind(mx.cpu(), arguments).forward()[0].asnumpy()
    expected = onp.asarray(meaning(x))
    assert got.shape == expected.shape
    onp.testing.assert_allclose(got, expected, rtol=1e-5)


def test_an_order_of_norms_that_nodes_lack_is_an_error():
    with pytest.raises(mx.base.MXNetError, match="accepted: None, 1, 2"):
        node_of_2("_npi_norm", {"axis": "[1]", "flag": "-1", "ord": "3"})


def test_parameters_of_a_block_without_any(tmp_path):
    """2.0 saves an archive with nothing in it."""
    onp.savez(tmp_path / "none.npz")
    (tmp_path / "none.params").write_bytes((tmp_path / "none.npz").read_bytes())
    assert mx.nd.load(str(tmp_path / "none.params")) == {} and mx.npx.load(str(tmp_path / "none.params")) == {}
