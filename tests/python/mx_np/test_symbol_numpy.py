"""mx.sym.np: symbols with NumPy's rules give what mx.np gives for arrays; operators, methods,
indexing, names, graphs and both kinds of symbols side by side."""
import json
import os
import re
import subprocess
import sys

import numpy as onp
import pytest

import mxnet as mx
from mxnet import npx

pytestmark = pytest.mark.usefixtures("numpy_semantics")

np = mx.np
A = onp.random.RandomState(3).uniform(-2, 2, (3, 4)).astype('float32')
B = onp.random.RandomState(4).uniform(.5, 2, (3, 4)).astype('float32')


def variables(*names):
    return [mx.sym.var(n).as_np_ndarray() for n in names]


def value(symbol, **arrays):
    given = {n: np.array(a, dtype=a.dtype) for n, a in arrays.items() if n in symbol.list_arguments()}
    out = symbol.bind(mx.cpu(), given).forward()
    assert all(type(o) is np.ndarray for o in out)
    return out[0]


def same(symbol, expected, **arrays):
    out = value(symbol, **arrays)
    expected = expected.asnumpy() if isinstance(expected, np.ndarray) else onp.asarray(expected)
    assert out.shape == expected.shape, (out.shape, expected.shape)
    onp.testing.assert_allclose(out.asnumpy().astype('float64'), expected.astype('float64'), rtol=1e-5, atol=1e-6)
    return out


def nodes(symbol):
    return [(n['op'], n['name'], n.get('attrs', {})) for n in json.loads(symbol.tojson())['nodes'] if n['op'] != 'null']


def test_both_kinds_of_symbols():
    classic = mx.sym.var('x')
    x = classic.as_np_ndarray()
    assert type(x) is mx.sym.np._Symbol is mx.sym.numpy._Symbol and isinstance(x, mx.sym.Symbol) and x.name == 'x'
    assert type(x.as_nd_ndarray()) is mx.sym.Symbol and x.as_np_ndarray() is x and classic.as_nd_ndarray() is classic
    y = (x + 1).as_nd_ndarray()
    assert y.tojson() == (y.as_np_ndarray()).tojson()
    both = mx.sym.Group([x, (x * 2)])
    assert type(both) is mx.sym.Symbol and type((x + 1).get_internals()) is mx.sym.Symbol
    assert type((x + 1).__copy__()) is type((x + 1)(x=mx.sym.var('z'))) is mx.sym.np._Symbol
    assert mx.sym.np is mx.sym.numpy and mx.sym.npx is mx.sym.numpy_extension and mx.np_symbol is mx.sym.np
    for mixed in (lambda: x + classic, lambda: classic + x, lambda: mx.sym.npx.relu(classic), lambda: mx.sym.np.exp(classic),
                  lambda: npx.relu(classic)):
        with pytest.raises(TypeError, match='as_np_ndarray'):
            mixed()


OPERATORS = ['x + y', 'x - y', 'x * y', 'x / y', 'x % y', 'y ** x', 'x // y', 'x + 1', '1 + x', 'x - 2.5', '2 - x', 'x * True', '3 / y',
             'x / 2', 'x % 2', '2 % y', 'y ** 2', '2 ** x', 'x // 2', '5 // y', '-x', '+x', 'abs(x)', 'x == y', 'x != 1', 'x < y', 'x <= 0',
             'x > 0', 'x >= y', '1 < x', 'x @ y.T', 'x + onp.float32(2)', '(x > 0) & (y > 1)', '(x > 0) | (y > 1)', '(x > 0) ^ (y > 1)',
             '~(x > 0)']


@pytest.mark.parametrize('text', OPERATORS)
def test_operators(text):
    x, y = variables('x', 'y')
    expected = eval(text, {'x': np.array(A), 'y': np.array(B), 'onp': onp})
    out = same(eval(text, {'x': x, 'y': y, 'onp': onp}), expected, x=A, y=B)
    assert out.dtype == expected.dtype


def test_operands_that_are_refused():
    x, = variables('x')
    for bad in ([1, 2], onp.ones(2), 'text', None, 1j, np.array([1.])):
        with pytest.raises(TypeError):
            x + bad
    with pytest.raises(mx.base.NotImplementedForSymbol):
        x += 1
    for refused in (lambda: len(x), lambda: iter(x), lambda: list(x)):
        with pytest.raises(TypeError):
            refused()
    for refused in (lambda: bool(x), x.asnumpy, x.copy, x.backward):
        with pytest.raises(mx.base.NotImplementedForSymbol):
            refused()
    with pytest.raises(AttributeError, match=r'mx.sym.np.exp\(x\)'):
        x.exp()
    with pytest.raises(AttributeError, match=r'mx.sym.npx.softmax\(x\)'):
        x.softmax()


METHODS = ['x.T', 'x.reshape(4, 3)', 'x.reshape((2, -1))', 'x.flatten()', 'x.transpose()', 'x.transpose(1, 0)', 'x.transpose((1, 0))',
           'x.sum()', 'x.sum(axis=0, keepdims=True)', 'x.mean(axis=1)', 'x.std()', 'x.var(axis=0)', 'x.max(axis=0)', 'x.min()', 'x.prod()',
           'x.argmax(0)', 'x.argmin(axis=1)', 'x.cumsum(0)', 'x.clip(0, 1)', 'x.repeat(2, axis=0)', 'x.swapaxes(0, 1)', 'x.round()',
           'x.dot(y.T)', 'x.squeeze()', 'x.expand_dims(0)', 'x.take(i, axis=0)', "x.astype('int32')", 'x.diagonal()', 'x.argsort()',
           'x.sort()', 'x.all()', 'x.any(axis=0)', 'x.tile((2, 1))']


@pytest.mark.parametrize('text', METHODS)
def test_methods(text):
    x, y, i = variables('x', 'y', 'i')
    index = onp.array([2, 0], 'int32')
    if 'sort()' in text and 'arg' not in text:
        expected = onp.sort(A)      # of an array it sorts in place
    elif '.tile(' in text:
        expected = onp.tile(A, (2, 1))
    elif '.expand_dims(' in text:
        expected = A[None]
    else:
        expected = eval(text, {'x': A, 'y': B, 'i': index})
    same(eval(text, {'x': x, 'y': y, 'i': i}), expected, x=A, y=B, i=index)


FUNCTIONS = ['np.exp(x)', 'np.maximum(x, y)', 'np.maximum(x, 0)', 'np.where(x > 0, x, y)', 'np.concatenate([x, y], axis=1)',
             'np.stack([x, y])', 'np.vstack([x, y])', 'np.split(x, 2, axis=1)[1]', 'np.einsum("ij,kj->ik", x, y)', 'np.dot(x, y.T)',
             'np.tensordot(x, y, ((0, 1), (0, 1)))', 'np.matmul(x, y.T)', 'np.transpose(x)', 'np.reshape(x, (2, 6))',
             'np.expand_dims(x, 1)',
             'np.pad(x, ((1, 1), (0, 2)))', 'np.tril(x)', 'np.mean(x, axis=0)', 'np.sum(x)', 'np.flip(x, 0)', 'np.roll(x, 1)',
             'np.square(x) + np.sqrt(y)', 'np.linalg.norm(x)', 'np.cumsum(x, axis=1)', 'np.zeros_like(x) + x', 'np.ones_like(x) * y',
             'x + np.zeros((3, 4))', 'x + np.ones((4,))', 'np.arange(4) * x', 'np.full((3, 1), 7) * x', 'x @ np.eye(4)',
             'np.logical_and(x > 0, y > 1)', 'np.clip(x, -1, 1)', 'np.squeeze(np.expand_dims(x, 0))', 'np.argmax(x, axis=1)',
             'np.outer(x, y)']


@pytest.mark.parametrize('text', FUNCTIONS)
def test_functions(text):
    x, y = variables('x', 'y')
    symbol = eval(text, {'x': x, 'y': y, 'np': mx.sym.np})
    assert type(symbol) is mx.sym.np._Symbol
    same(symbol, eval(text, {'x': A, 'y': B, 'np': onp}), x=A, y=B)


def test_functions_without_inputs_make_symbols_only_in_their_namespace():
    for name, args in (('zeros', ((2, 3),)), ('ones', ((2,),)), ('arange', (3,)), ('eye', (3,)), ('full', ((2,), 5)),
                       ('linspace', (0, 1, 5))):
        symbol = getattr(mx.sym.np, name)(*args)
        assert type(symbol) is mx.sym.np._Symbol and type(getattr(np, name)(*args)) is np.ndarray
        same(symbol, getattr(np, name)(*args))
    drawn = mx.sym.np.random.uniform(size=(1000,))
    assert type(drawn) is mx.sym.np._Symbol and 0.4 < float(value(drawn).mean().asnumpy()) < 0.6
    assert value(mx.sym.np.random.normal(0, 1, (2, 3))).shape == (2, 3)


KEYS = ['0', '-1', 'slice(1, 3)', '(slice(None), 0)', '(0, 1)', '(0, slice(1, None))', 'slice(None, None, 2)', 'slice(None, None, -1)',
        '(slice(1, 3), slice(0, 2))', 'None', '(None, 0)', '(slice(None), None)', '(Ellipsis, None)', '(Ellipsis, 0)', 'Ellipsis', '()',
        '(Ellipsis, slice(1, None))', '(0, Ellipsis, None)', '(Ellipsis, -1, None)', '(None, slice(None), None, 1)', '(-1, -1)',
        '(Ellipsis, slice(-2, None), 0)', '(0, Ellipsis, 1)', '(None, Ellipsis, 1, None)', 'slice(-2, None)']


@pytest.mark.parametrize('key', KEYS)
@pytest.mark.parametrize('shape', [(3, 4), (3, 4, 2)])
def test_indexing(key, shape):
    x, = variables('x')
    data = onp.arange(onp.prod(shape), dtype='float32').reshape(shape)
    same(x[eval(key)], data[eval(key)], x=data)


def test_indexing_by_symbols():
    x, i, j, m = variables('x', 'i', 'j', 'm')
    rows, columns = onp.array([2, 0, 1], 'int32'), onp.array([1, 1, 3], 'int32')
    same(x[i], A[rows], x=A, i=rows)
    same(x[i, j], A[rows, columns], x=A, i=rows, j=columns)
    for bad in ('x_output', 1.5, (Ellipsis, Ellipsis), (i, slice(None)), [0, 1], True):
        with pytest.raises(IndexError):
            x[bad]
    assert value(x[0, 0], x=A).shape == ()


def test_names_and_attributes_are_those_of_1_9_1():
    with mx.name.NameManager():
        x, y = variables('x', 'y')
        made = [x + y, x + 1, 1.5 - x, -x, x == y, mx.sym.np.exp(x), mx.sym.npx.relu(x), mx.sym.npx.fully_connected(x, num_hidden=3),
                mx.sym.npx.softmax(x, name='given'), x.T, x.reshape(2, -1)]
        assert [s.name for s in made] == ['add0', 'add_scalar0', 'rsubtract_scalar0', 'negative0', 'equal0', 'exp0', 'relu0',
                                          'fully_connected0', 'given', 'transpose0', 'reshape0']
        assert made[7].list_arguments() == ['x', 'fully_connected0_weight', 'fully_connected0_bias']
        assert nodes(made[1])[0] == ('_npi_add_scalar', 'add_scalar0', {'scalar': '1.0', 'is_int': 'True'})
        assert nodes(made[2])[0][2] == {'scalar': '1.5', 'is_int': 'False'}
        assert [n[0] for n in nodes(x[:, 0])] == ['slice', '_npx_reshape'] and nodes(x[:, 0])[1][2] == {'newshape': '(-2, -3, -4)'}
    with mx.AttrScope(group='g'):
        assert (x + y).attr('group') == 'g'
    with mx.name.Prefix('net_'):
        assert mx.sym.npx.relu(x).name.startswith('net_relu')
    assert json.loads((x + y).tojson())['attrs']['is_np_shape'] == ['int', 1]
    mx.util.set_np_shape(False)
    assert 'is_np_shape' not in json.loads((x + y).tojson())['attrs']


def test_results_in_lists():
    x, = variables('x')
    parts = mx.sym.np.split(x, 2)
    assert type(parts) is list and len(parts) == 2 and all(type(p) is mx.sym.np._Symbol for p in parts)
    grouped = mx.sym.Group(parts)
    assert grouped.list_outputs()[1].endswith('output1')
    mean, var = mx.sym.npx.topk(x, k=1, ret_typ='both').as_nd_ndarray()
    assert (mean.name, var.name) == (mean.name, mean.name)


def test_shapes_and_dtypes_are_inferred():
    x, y = variables('x', 'y')
    assert mx.sym.np.sum(x).infer_shape(x=(2, 3))[1] == [()]
    assert (x + y).infer_shape(x=(2, 0), y=(1,))[1] == [(2, 0)] and (x + y).infer_shape(x=(), y=())[1] == [()]
    assert (x + y).infer_shape_partial(x=(2, -1)) == ([(2, -1), None], [None], [])
    assert (x > y).infer_type(x='float32', y='float32')[1] == [onp.bool_]
    assert (x / 2).infer_type(x='int32')[1] == [onp.float32]
    dense = mx.sym.npx.fully_connected(x, num_hidden=3)
    assert dense.infer_shape(x=(2, 4))[0] == [(2, 4), (3, 4), (3,)]


def test_executors_keep_the_class_of_arrays():
    x, = variables('x')
    y = mx.sym.np.sum(x * x)
    data, grad = np.array(A), np.array(onp.zeros_like(A))
    executor = y.bind(mx.cpu(), {'x': data}, {'x': grad})
    out, = executor.forward(is_train=True)
    assert type(out) is np.ndarray and out.shape == ()
    executor.backward(np.array(1.))
    onp.testing.assert_allclose(grad.asnumpy(), 2 * A, rtol=1e-6)
    simple = y.simple_bind(mx.cpu(), x=(3, 4))
    assert all(type(a) is np.ndarray for a in simple.arg_arrays + simple.grad_arrays + simple.forward())
    both = mx.sym.Group([y, x]).simple_bind(mx.cpu(), x=(3, 4))
    assert all(type(a) is mx.nd.NDArray for a in both.arg_arrays + both.forward())    # a classic symbol, as in 2.0
    classic = mx.sym.sum(mx.sym.var('x'))
    for reset in (lambda: None, npx.reset_np):      # symbols decide, not the switch
        reset()
        assert type(executor.forward()[0]) is np.ndarray     # bound to arrays of mx.np
        assert type(classic.bind(mx.cpu(), {'x': mx.nd.ones((2,))}).forward()[0]) is mx.nd.NDArray
        assert type(classic.simple_bind(mx.cpu(), x=(2,)).arg_arrays[0]) is mx.nd.NDArray
        assert type(y.bind(mx.cpu(), {'x': mx.nd.array(A)}).forward()[0]) is np.ndarray


def test_files(tmp_path):
    x, y = variables('x', 'y')
    z = mx.sym.np.where(x > 0, x[:, 0:1] * y, y ** 2)
    z.save(str(tmp_path / 'z.json'))
    again = mx.sym.load(str(tmp_path / 'z.json'))
    assert type(again) is mx.sym.Symbol and again.tojson() == z.tojson()
    same(again.as_np_ndarray(), value(z, x=A, y=B).asnumpy(), x=A, y=B)
    import pickle
    assert type(pickle.loads(pickle.dumps(z))) is mx.sym.np._Symbol


def test_namespaces():
    listed = """abs absolute add all any append arange arccos arctan2 argmax argsort around array_split atleast_1d average bincount
        bitwise_and blackman broadcast_to cbrt ceil clip column_stack concatenate copysign cos cross cumsum deg2rad delete diag diagonal
        diff divide dot dsplit einsum equal exp expand_dims eye flip floor fmax full full_like greater hamming histogram hsplit hypot
        identity indices inner insert interp isfinite isnan kron lcm linspace log log1p logical_not logspace matmul max maximum mean median
        min minimum mod moveaxis multiply nan_to_num negative not_equal ones ones_like outer pad percentile polyval power prod quantile
        radians ravel reciprocal repeat reshape resize rint roll rot90 round sign sin sort split sqrt square squeeze stack std subtract sum
        swapaxes take tan tanh tensordot tile trace transpose tri tril triu true_divide trunc unique unravel_index var vdot vsplit vstack
        where zeros zeros_like""".split()
    for space in (mx.sym.np, mx.nd.np):
        assert [n for n in listed if not hasattr(space, n) or n not in dir(space)] == []
    assert mx.nd.np.exp is np.exp and mx.nd.np.linalg.norm is np.linalg.norm and mx.nd.np.random.normal is np.random.normal
    algebra = 'cholesky det eig eigh eigvals eigvalsh inv lstsq matrix_rank norm pinv qr slogdet solve svd tensorinv tensorsolve'.split()
    assert [n for n in algebra if not hasattr(mx.sym.np.linalg, n)] == []
    drawing = 'beta chisquare choice exponential f gamma gumbel laplace logistic lognormal multivariate_normal normal pareto power rand ' \
              'randint rayleigh shuffle uniform weibull'.split()
    assert [n for n in drawing if not hasattr(mx.sym.np.random, n)] == []
    with pytest.raises(AttributeError):
        mx.sym.np.no_such_function


@pytest.mark.parametrize("module,name,hidden", [
    ("nd.contrib", "box_iou", "no_such"), ("nd._internal", "_plus", "__plus"), ("nd.image", "to_tensor", "_to_tensor"),
    ("nd.np._internal", "add", "_add"), ("nd.npx", "fully_connected", "_image_crop"), ("npx", "relu", "_image_crop"),
    ("npx.image", "resize", "__x"), ("sym.contrib", "box_iou", "_x"), ("sym._internal", "_plus", "__plus"),
    ("sym.npx", "relu", "_image_crop"), ("sym.npx.image", "resize", "no_such"), ("sym.np._internal", "add", "_add")])
def test_names_of_generated_functions(module, name, hidden):
    """Every module of generated functions finds, lists and refuses names alike."""
    space = mx
    for part in module.split("."):
        space = getattr(space, part)
    function = getattr(space, name)
    assert callable(function) and getattr(space, name) is function and name in dir(space)
    with pytest.raises(AttributeError, match=hidden):
        getattr(space, hidden)
    assert hidden not in dir(space)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_grids_of_symbols(indexing, count):
    """Sides of unknown length and of several dtypes."""
    sides = dict(zip("abc"[:count], (onp.arange(2, dtype="int32"), onp.arange(3, dtype="float32"), onp.arange(4, dtype="float64"))))
    grid = mx.sym.np.meshgrid(*(mx.sym.var(n).as_np_ndarray() for n in sides), indexing=indexing)
    executor = mx.sym.Group(list(grid)).bind(mx.cpu(), {n: mx.np.array(v, dtype=v.dtype) for n, v in sides.items()})
    for got, want in zip(executor.forward(), onp.meshgrid(*sides.values(), indexing=indexing)):
        assert got.dtype == want.dtype
        onp.testing.assert_array_equal(got.asnumpy(), want)


def test_what_needs_shapes_or_one_dtype_is_refused():
    """As in 2.0, whose errors do not say why."""
    a, b = (mx.sym.var(n).as_np_ndarray() for n in "ab")
    for width in (1, (1, 2)):
        with pytest.raises(TypeError, match=r"\[pad\] pad_width=.* on a symbol.*; accepted: a pair for each"):
            mx.sym.np.pad(a, width)
    for name, use in (("nonzero", "mx.sym.npx.nonzero(x)"), ("mish", "mx.sym.npx.activation(x, act_type='mish')")):
        with pytest.raises(AttributeError, match=re.escape(f"no attribute {name}: NumPy's arrays have no such method; use {use}")):
            getattr(a, name)()
    with pytest.raises(NotImplementedError, match=r"\[nonzero\] got a symbol"):
        mx.sym.np.nonzero(a)
    for product in (mx.sym.np.dot(a, b), mx.sym.np.matmul(a, b), mx.sym.np.einsum("ij,jk->ik", a, b)):
        with pytest.raises(TypeError, match="must have one dtype, and the others are int32"):
            product.infer_type(a="int32", b="float32")


NUMPY_RESULTS = """
import mxnet as mx
classic = mx.nd.CachedOp(mx.sym.var('a') + 1)
assert classic.is_np_sym is False and type(classic(mx.nd.ones((2,)))) is mx.nd.NDArray
classic.is_np_sym = True
assert type(classic(mx.nd.ones((2,)))).__module__ == 'mxnet.numpy'
numpy = mx.nd.CachedOp(mx.sym.var('a').as_np_ndarray() + 1)
assert numpy.is_np_sym is True and type(numpy(mx.nd.ones((2,)))) is mx.np.ndarray
try:
    classic.is_np_sym = 'x'
except TypeError:
    pass
"""


@pytest.mark.parametrize("compiled", ["1", "0"])
def test_class_of_results_of_a_cached_op(compiled):
    """In a process of its own, where mx.np was not imported before."""
    done = subprocess.run([sys.executable, "-c", NUMPY_RESULTS], env={**os.environ, "MXNET_ENABLE_CYTHON": compiled},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
