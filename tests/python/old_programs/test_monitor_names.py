"""Names that monitors and callbacks of executors get, against those that MXNet 1.9.1 gives
(recorded in data/monitor_names.json)."""
import json
import os
import re
from collections import Counter

import monitor_networks
import pytest

import mxnet as mx

with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), 'data', 'monitor_names.json')) as _file:
    RECORDED = json.load(_file)
with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), 'data', 'monitor_backward_names.json')) as _file:
    BACKWARD = json.load(_file)
BEHIND = '--fwd--'   # what comes behind this is seen in the backward pass


def cnn():
    net = mx.sym.Convolution(mx.sym.var('data'), num_filter=2, kernel=(3, 3), name='conv1')
    net = mx.sym.Pooling(mx.sym.Activation(net, act_type='relu', name='relu1'), kernel=(2, 2), stride=(2, 2), pool_type='max', name='pool1')
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name='flat'), num_hidden=3, name='fc1')
    return mx.sym.SoftmaxOutput(net, name='softmax'), {'data': (2, 1, 8, 8), 'softmax_label': (2,)}


def mlp():
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, name='fc1')
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type='relu', name='relu1'), num_hidden=3, name='fc2')
    return mx.sym.SoftmaxOutput(net, name='softmax'), {'data': (2, 5), 'softmax_label': (2,)}


def bn():
    net = mx.sym.Convolution(mx.sym.var('data'), num_filter=2, kernel=(3, 3), name='conv1', no_bias=True)
    net = mx.sym.LeakyReLU(mx.sym.BatchNorm(net, name='bn1'), name='lr1')
    net = mx.sym.Flatten(mx.sym.Pooling(net, global_pool=True, kernel=(1, 1), name='gp'), name='flat')
    return mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(net, num_hidden=3, name='fc1'),
                                         name='lro'), {'data': (2, 1, 8, 8), 'lro_label': (2, 3)}


def recorded(net, everything, how):
    """What 1.9.1 shows, without its workspaces and helper nodes."""
    return [n for n in RECORDED[f'{net}|{everything}|{how}'] if not n.endswith('_workspace') and n != 'zeros_without_dtype_output']


def without_inputs(names):
    """Without the inputs of backward nodes, whose number and order belong to an implementation, and
    the variables among them."""
    return [n for n in names if re.search(r'_backward_output\d*$', n)]


@pytest.mark.parametrize('everything', [False, True])
@pytest.mark.parametrize('how', ['trainbwd', 'infer'])
@pytest.mark.parametrize('net', [cnn, mlp, bn], ids=lambda f: f.__name__)
def test_callback(net, everything, how):
    symbol, shapes = net()
    executor = symbol.simple_bind(mx.cpu(), **shapes)
    for array in executor.arg_arrays:
        array[:] = 0.1
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append((name, array.shape)), everything)
    executor.forward(is_train=how == 'trainbwd')
    forward, names = [n for n, _ in seen], recorded(net.__name__, everything, how)
    at = names.index(BEHIND)
    assert forward == names[:at]
    if how == 'infer':
        return
    del seen[:]
    executor.backward()
    backward = [n for n, _ in seen]
    assert without_inputs(backward) == without_inputs(names[at:])
    if everything:
        # variables are seen, and every backward node's inputs are numbered
        variables = {n for n in backward if '_backward' not in n}
        assert {n for n in names[at:] if n == 'data' or n.endswith(('_label', '_weight'))} <= variables <= set(symbol.list_inputs())
        assert {n for n in backward if n.endswith('_backward_input0')} <= {n for n in names[at:] if n.endswith('_backward_input0')}
        assert len(backward) > len(without_inputs(backward))
    else:
        assert len(backward) == len(without_inputs(backward))
    # a gradient has the shape of what it belongs to
    shapes = dict(seen)
    for name, array in executor.grad_dict.items():
        layer, _, parameter = name.rpartition('_')
        if parameter == 'weight':
            assert shapes[f'{layer}_backward_output1'] == array.shape


@pytest.mark.parametrize('everything', [False, True])
@pytest.mark.parametrize('net', [cnn, mlp, bn], ids=lambda f: f.__name__)
def test_monitor_of_a_module(net, everything):
    symbol, shapes = net()
    label = next(name for name in shapes if name != 'data')
    module = mx.mod.Module(symbol, label_names=[label])
    module.bind([('data', shapes['data'])], [(label, shapes[label])])
    module.init_params()
    monitor = mx.mon.Monitor(1, monitor_all=everything)
    module.install_monitor(monitor)
    module.init_optimizer()
    monitor.tic()
    module.forward(mx.io.DataBatch([mx.nd.ones(shapes['data'])], [mx.nd.ones(shapes[label])]))
    module.backward()
    module.update()
    seen = monitor.toc()
    backward = without_inputs(name for _, name, _ in seen)
    expected = without_inputs(recorded(net.__name__, everything, 'module'))
    # 1.9.1 shows the memory of the data's gradient, which nobody computes
    assert backward == [n for n in expected if n not in (('fc1_backward_output0',) if net is mlp else ('conv1_backward_output0',))]
    values = {name: float(text) for _, name, text in seen}
    assert values[f'{"lro" if net is bn else "softmax"}_backward_output1'] == 0   # labels have no gradient
    parameters = [name for name in symbol.list_arguments() + symbol.list_auxiliary_states()]
    assert [name for _, name, _ in seen][-len(parameters):] == parameters


def test_a_monitor_sees_every_shape_of_the_input():
    """A batch of another size is computed by another executor, which the monitor looks at too. The
    names are those that 1.9.1 gives."""
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="f")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.bind([("data", (2, 4))], [("softmax_label", (2,))])
    module.init_params()
    monitor = mx.mon.Monitor(1)
    module.install_monitor(monitor)
    for rows in (2, 3, 2):
        monitor.tic()
        module.forward(mx.io.DataBatch([mx.nd.ones((rows, 4))], [mx.nd.zeros(rows)]), is_train=True)
        assert [name for _, name, _ in monitor.toc()] == ["f_output", "softmax_output", "data", "f_weight", "f_bias", "softmax_label"]
    seen = []
    executor = net.simple_bind(mx.cpu(), data=(2, 4))
    executor.set_monitor_callback(lambda name, array: seen.append((name, array.shape)))
    executor.reshape(allow_up_sizing=True, data=(5, 4)).forward()[0].wait_to_read()
    assert seen == [("f_output", (5, 3))]

    def fail(name, array):
        raise RuntimeError(name)

    executor.set_monitor_callback(fail)
    with pytest.raises(RuntimeError, match="f_output"):
        executor.reshape(data=(1, 4)).forward()


# What 1.9.1 shows besides: helper nodes, copies without a name, and gradients that nobody wants
# (of the data, of labels' shapes, of the first states).
HELPERS = {'zeros_without_dtype_output', 'pick_index_backward_output', 'output', '_foreach0_backward_output0', 'labels_backward_output'}
UNWANTED = {
    'residual': ['conv1_backward_output0'],
    'lstm': ['_mul0_backward_output1', '_mul6_backward_output1', 'l0_t0_h2h_backward_output0', 'l1_t0_h2h_backward_output0'],
    'gru': ['_mul2_backward_output1', 'l0_t0__h2h_backward_output0'],
    'sparse_embedding': ['embedding_backward_output0', 'l0_t0_h2h_backward_output0'],
    'csr': ['dot_backward_output0'],
    'concat': ['fc_backward_output0'],
    'shared': ['fc0_backward_output0'],
    'attention': ['query_backward_output0', 'key_backward_output0'],
    'old_layers': ['deconv_backward_output0'],
}


@pytest.mark.parametrize('network', monitor_networks.NETWORKS, ids=lambda f: f.__name__)
def test_backward_nodes(network):
    """Each gradient has the name and the number that it has in 1.9.1, and no other is shown. The
    order of independent nodes belongs to an implementation."""
    expected = Counter(BACKWARD[network.__name__])
    for name in HELPERS:
        del expected[name]
    expected.subtract(UNWANTED.get(network.__name__, []))
    seen = Counter(monitor_networks.backward_names(network))
    seen.subtract({name: seen[name] for name in HELPERS})
    assert +seen == +expected and min(expected.values()) >= 0
