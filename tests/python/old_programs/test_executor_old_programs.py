"""What programs written for MXNet 1.9.1 do with executors, and what it answers there."""
import ctypes
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd


def product(grad_req='write'):
    a, b = mx.sym.var('a'), mx.sym.var('b')
    grads = {'a': mx.nd.zeros(3), 'b': mx.nd.zeros(3)}
    executor = (a * a * b).bind(mx.cpu(), {'a': mx.nd.array([1, 2, 3.]), 'b': mx.nd.array([4, 5, 6.])}, grads, grad_req)
    return executor, grads


@pytest.mark.parametrize('before', ['nothing', 'inference'])
def test_backward_without_a_training_forward(before):
    executor, grads = product()
    if before == 'inference':
        executor.forward(is_train=False)
    executor.backward(mx.nd.ones(3))
    assert grads['a'].asnumpy().tolist() == [8, 20, 36]
    assert grads['b'].asnumpy().tolist() == [1, 4, 9]
    assert executor.outputs[0].asnumpy().tolist() == [4, 20, 54]


def test_backward_alone_trains():
    data = mx.sym.var('data')
    executor = mx.sym.BatchNorm(data, name='bn', fix_gamma=False).simple_bind(mx.cpu(), data=(4, 2))
    values = np.arange(8).reshape(4, 2) ** 1.5
    executor.arg_dict['data'][:] = values
    executor.backward(mx.nd.ones((4, 2)))
    # the mean of the batch is in the moving one: this was a forward pass for training
    np.testing.assert_allclose(executor.aux_dict['bn_moving_mean'].asnumpy(), 0.1 * values.mean(0), rtol=1e-5)
    assert executor.grad_dict['bn_beta'].asnumpy().tolist() == [4, 4]


def test_backward_alone_of_a_graph_with_shapes_that_depend_on_values():
    data, mask = mx.sym.var('data'), mx.sym.var('mask')
    grad = mx.nd.zeros((3, 2))
    executor = (mx.sym.contrib.boolean_mask(data, mask) * 2).bind(mx.cpu(), {'data': mx.nd.ones((3, 2)), 'mask': mx.nd.array([1, 0, 1])},
                                                                 {'data': grad}, {'data': 'write', 'mask': 'null'})
    executor.backward(mx.nd.ones((2, 2)))
    assert grad.asnumpy().tolist() == [[2, 2], [0, 0], [2, 2]]


def test_head_gradients_that_nobody_reads_are_not_checked():
    softmax = mx.sym.SoftmaxOutput(mx.sym.var('data'), name='softmax').simple_bind(mx.cpu(), data=(2, 3))
    softmax.forward(is_train=True)
    softmax.backward(mx.nd.ones((7,)))
    np.testing.assert_allclose(softmax.grad_dict['data'].asnumpy(), [[-2 / 3, 1 / 3, 1 / 3]] * 2, rtol=1e-5)
    a = mx.sym.var('a')
    loss = mx.sym.Group([mx.sym.MakeLoss(a * 2), mx.sym.BlockGrad(a)]).simple_bind(mx.cpu(), a=(3,))
    loss.forward(is_train=True)
    loss.backward([mx.nd.ones(5), mx.nd.ones((2, 2))])
    assert loss.grad_dict['a'].asnumpy().tolist() == [2, 2, 2]
    executor, grads = product()
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones(3)] * 3)   # more than there are outputs
    assert grads['a'].asnumpy().tolist() == [8, 20, 36]
    with pytest.raises(mx.MXNetError, match='shape'):
        executor.backward(mx.nd.ones(4))     # this one is read


def test_reshape_shares_the_memory_of_outputs():
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc')
    executor = net.simple_bind(mx.cpu(), data=(4, 5))
    executor.arg_dict['fc_weight'][:] = 1
    large = executor.forward(data=mx.nd.ones((4, 5)))[0]
    smaller = executor.reshape(data=(2, 5))
    smaller.forward(data=mx.nd.ones((2, 5)) * 2)
    assert large.asnumpy().tolist() == [[10] * 3] * 2 + [[5] * 3] * 2
    assert executor.arg_dict['data'].asnumpy().tolist() == [[2] * 5] * 2 + [[1] * 5] * 2
    larger = executor.reshape(allow_up_sizing=True, data=(8, 5))
    assert larger.forward(data=mx.nd.ones((8, 5)))[0].asnumpy().tolist() == [[5] * 3] * 8
    assert large.asnumpy()[0].tolist() == [10] * 3
    back = larger.reshape(data=(4, 5))
    assert back.forward(data=mx.nd.ones((4, 5)) * 3)[0].asnumpy().tolist() == [[15] * 3] * 4


def test_no_gradients_at_all():
    executor = (mx.sym.var('a') * mx.sym.var('b')).simple_bind(mx.cpu(), grad_req=None, a=(2,))
    assert executor.grad_arrays == [None, None]


def test_debug_str_has_the_backward_nodes_and_ends_in_totals():
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc'), name='softmax')
    lines = net.simple_bind(mx.cpu(), data=(2, 3)).debug_str().split('\n')
    assert 'Op:_backward_FullyConnected, Name=fc_backward' in lines
    assert 'Op:_backward_SoftmaxOutput, Name=softmax_backward' in lines
    assert int(lines[-3].split()[1]) >= 0 and lines[-3].endswith('MB allocated')
    assert lines[-2].endswith('TempSpace resource requested') and lines[-1] == ''
    a = mx.sym.var('a')
    lines = (a * a).simple_bind(mx.cpu(), a=(2,)).debug_str().split('\n')
    assert 'Variable:_head_grad_0' in lines
    assert not any('_backward' in line for line in net.simple_bind(mx.cpu(), grad_req='null',
                                                                   data=(2, 3)).debug_str().split('\n') if line.startswith('Op:'))


# ---- autograd
def test_a_variable_behind_blockgrad_gets_a_gradient_of_zero():
    x, w = mx.nd.array([1, 2, 3.]), mx.nd.array([2, 3, 4.])
    x.attach_grad()
    w.attach_grad()
    for blocked in (mx.nd.BlockGrad, mx.nd.ones_like, lambda t: t > 2):
        with autograd.record():
            t = x * x
            first, second = t * w, blocked(t) * w
        first.backward(retain_graph=True)
        assert x.grad.asnumpy().tolist() == [4, 12, 24]
        second.backward()
        assert x.grad.asnumpy().tolist() == [0, 0, 0]   # and not what the first pass left
    x.attach_grad(grad_req='add')
    with autograd.record():
        t = x * x
        first, second = t * w, mx.nd.BlockGrad(t) * w
    first.backward(retain_graph=True)
    second.backward()
    assert x.grad.asnumpy().tolist() == [4, 12, 24]


def test_backward_behind_one_that_freed_other_parts():
    x, w = mx.nd.array([1, 2, 3.]), mx.nd.array([2, 3, 4.])
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        t = x * x
        first, second = t * w, mx.nd.BlockGrad(t) * w * w
    first.backward()
    second.backward(retain_graph=True)   # reaches what the first one freed, but no gradient has to go there
    assert w.grad.asnumpy().tolist() == [4, 24, 72]
    second.backward()
    with pytest.raises(mx.MXNetError, match='retain_graph'):
        second.backward()
    with autograd.record():
        t = x * x
        first, second = t * 3, mx.nd.square(t)
    first.backward()
    with pytest.raises(mx.MXNetError, match='retain_graph'):
        second.backward(retain_graph=True)


@pytest.mark.parametrize('trunk', ['mul', 'add', 'exp'])
@pytest.mark.parametrize('order', [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_two_heads_over_a_trunk(trunk, order):
    x, w = mx.nd.array([1, 2, 3.]), mx.nd.array([2, 2, 2.])
    x.attach_grad()
    w.attach_grad()
    xs, ws = x.asnumpy(), w.asnumpy()
    with autograd.record():
        t = {'mul': lambda: x * x * w, 'add': lambda: x + w, 'exp': lambda: mx.nd.exp(x) * w}[trunk]()
        heads = [t * 3, mx.nd.square(t)]
    to_x, to_w = {'mul': (2 * xs * ws, xs * xs), 'add': (np.ones(3), np.ones(3)), 'exp': (np.exp(xs) * ws, np.exp(xs))}[trunk]
    for head, keep in zip(order, (True, False)):
        heads[head].backward(retain_graph=keep)
        above = 3 if head == 0 else 2 * t.asnumpy()
        np.testing.assert_allclose(x.grad.asnumpy(), above * to_x, rtol=1e-5)
        np.testing.assert_allclose(w.grad.asnumpy(), above * to_w, rtol=1e-5)


# ---- files
def test_files_say_that_shapes_are_numpys():
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc')
    assert 'is_np_shape' not in json.loads(net.tojson())['attrs']
    with mx.util.np_shape(True):
        text = net.tojson()
    assert json.loads(text)['attrs']['is_np_shape'] == ['int', 1]
    assert text.endswith(f'"attrs": {{\n    "is_np_shape": ["int", 1], \n    "mxnet_version": '
                         f'["int", {json.loads(text)["attrs"]["mxnet_version"][1]}]\n  }}\n}}')
    read = mx.sym.load_json(text)
    assert read.infer_shape(data=(2, 3)) == ([(2, 3), (2, 3), (2,)], [(2, 2)], [])
    assert 'is_np_shape' not in json.loads(read.tojson())['attrs']


def test_gradient_of_a_symbol():
    a = mx.sym.var('a')
    grad = (a * a * 3).gradient(['a'])
    assert grad.eval(a=mx.nd.array([1, 2.]))[0].asnumpy().tolist() == [6, 12]


def test_a_monitors_callback_gets_what_1x_programs_decode_and_cast():
    seen = []

    def callback(name, array):
        array = mx.nd.NDArray(ctypes.cast(array, mx.base.NDArrayHandle), writable=False)
        seen.append((mx.base.py_str(name), name.decode('utf-8'), array.asnumpy().tolist()))
    executor = mx.sym.square(mx.sym.var('x'), name='y').bind(mx.cpu(), {'x': mx.nd.array([2, 3])})
    executor.set_monitor_callback(callback)
    for _ in range(3):
        executor.forward()
    assert seen == [('y_output', 'y_output', [4.0, 9.0])] * 3


def test_shapes_of_numpy_in_classic_symbols():
    """With NumPy's shapes 0 is a size and () an element: as what a variable declares, in `zeros`
    and for `simple_bind`. Else 0 means not known."""
    def shapes(symbol, **given):
        return symbol.infer_shape(**given)[1]

    declared = mx.sym.exp(mx.sym.Variable('x', shape=(0, 2)))
    assert mx.sym.zeros((0, 2)).infer_shape_partial()[1] == [(0, 2)]
    assert shapes(mx.sym.zeros((0, 2)) + mx.sym.Variable('y'), y=(3, 2)) == [(3, 2)] == shapes(declared, x=(3, 2))
    with pytest.raises(mx.MXNetError, match='cannot be inferred'):
        declared.simple_bind(mx.cpu())
    with mx.util.np_shape(True):
        assert shapes(declared) == [(0, 2)] == shapes(mx.sym.zeros((0, 2)))
        assert shapes(mx.sym.ones((2, 0))) == [(2, 0)] and shapes(mx.sym.ones(())) == [()] and shapes(mx.sym.full((0,), 3)) == [(0,)]
        assert shapes(mx.sym.exp(mx.sym.Variable('y', shape=()))) == [()]
        assert shapes(mx.sym.sum(mx.sym.Variable('x', shape=(0, 2)), axis=1)) == [(0,)]
        executor = declared.simple_bind(mx.cpu())
        assert executor.forward(is_train=True)[0].shape == (0, 2)
        executor.backward(mx.nd.ones((0, 2)))
        assert executor.grad_dict['x'].shape == (0, 2)
        executor = (mx.sym.Variable('y') * 2 + 1).simple_bind(mx.cpu(), y=())
        executor.arg_dict['y'][:] = 3
        assert executor.forward(is_train=True)[0].asnumpy() == 7
        executor.backward(mx.nd.array(1.0).reshape(()))
        assert executor.grad_dict['y'].asnumpy() == 2 and executor.grad_dict['y'][:].shape == ()
        with pytest.raises(mx.MXNetError, match='cannot be inferred'):
            mx.sym.exp(mx.sym.Variable('y', shape=(-1, 2))).simple_bind(mx.cpu())
    with mx.util.np_shape(True), pytest.raises(IndexError):
        mx.np.array(3)[:] = 1
