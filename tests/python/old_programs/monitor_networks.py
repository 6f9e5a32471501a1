"""Networks, and what a monitor sees of their backward passes.

    python monitor_networks.py data/monitor_backward_names.json

under MXNet 1.9.1 records what test_monitor_names.py expects.
"""
import json
import sys

import mxnet as mx

S = mx.sym
LABELS = {'data': (2, 4), 'label': (2,)}


def residual():
    net = S.Convolution(S.var('data'), num_filter=4, kernel=(3, 3), pad=(1, 1), name='conv1')
    branch = S.Activation(S.BatchNorm(net, name='bn'), act_type='relu', name='relu')
    net = net + S.Convolution(branch, num_filter=4, kernel=(3, 3), pad=(1, 1), name='conv2')
    net = S.Pooling(net, kernel=(1, 1), global_pool=True, pool_type='avg', name='pool')
    net = S.FullyConnected(net, num_hidden=3, name='fc')
    return S.SoftmaxOutput(net, S.var('label'), name='softmax'), {'data': (2, 1, 8, 8), 'label': (2,)}


def _recurrent(cell, **kwargs):
    net = S.Embedding(S.var('data'), input_dim=10, output_dim=4, name='embedding', **kwargs)
    outputs, _ = cell.unroll(3, inputs=net, merge_outputs=True)
    net = S.FullyConnected(S.Reshape(outputs, shape=(-1, 3), name='rows'), num_hidden=10, name='scores')
    label = S.Reshape(S.var('label'), shape=(-1,), name='labels')
    return S.SoftmaxOutput(net, label, name='softmax'), {'data': (2, 3), 'label': (2, 3)}


def lstm():
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.LSTMCell(3, prefix='l0_'))
    cell.add(mx.rnn.LSTMCell(3, prefix='l1_'))
    return _recurrent(cell)


def gru():
    return _recurrent(mx.rnn.GRUCell(3, prefix='l0_'))


def sparse_embedding():
    return _recurrent(mx.rnn.RNNCell(3, prefix='l0_'), weight=S.var('embedding_weight', stype='row_sparse'), sparse_grad=True)


def csr():
    weight = S.var('weight', stype='row_sparse', shape=(6, 3))
    net = S.sparse.dot(S.var('data', stype='csr'), weight, name='dot')
    net = S.broadcast_add(net, S.var('bias', shape=(3,)), name='sum')
    return S.SoftmaxOutput(net, S.var('label'), name='softmax'), {'data': (2, 6), 'label': (2,)}


def concat():
    parts = S.SliceChannel(S.tanh(S.FullyConnected(S.var('data'), num_hidden=4, name='fc'), name='tanh'), num_outputs=2, name='split')
    net = S.Concat(S.FullyConnected(parts[0], num_hidden=3, name='left'), S.exp(parts[1], name='right'), dim=1, name='both')
    return S.LinearRegressionOutput(S.Dropout(net, name='dropout'), S.var('label'), name='loss'), {'data': (2, 4), 'label': (2, 5)}


def shared():
    weight, bias, net = S.var('weight'), S.var('bias'), S.var('data')
    for i in range(3):
        net = S.FullyConnected(net, weight, bias, num_hidden=4, name=f'fc{i}')
        net = S.Activation(net, act_type='sigmoid', name=f'sigmoid{i}')
    return S.SoftmaxOutput(net, S.var('label'), name='softmax'), LABELS


def loop():
    def step(x, state):
        state = S.tanh(S.FullyConnected(x, S.var('weight', shape=(4, 4)), no_bias=True, num_hidden=4) + state)
        return state, state
    outputs, _ = S.contrib.foreach(step, S.var('data'), S.var('state', shape=(2, 4)), name='loop')
    return S.MakeLoss(S.mean(outputs, name='mean'), name='loss'), {'data': (3, 2, 4)}


def attention():
    data = S.var('data')
    query, key = [S.FullyConnected(data, num_hidden=4, flatten=False, name=name) for name in ('query', 'key')]
    scores = S.softmax(S.batch_dot(query, key, transpose_b=True, name='scores') / 2.0, axis=-1, name='softmax')
    net = S.mean(S.batch_dot(scores, data, name='mix'), axis=1, name='mean')
    net = net + S.take(S.var('table', shape=(5, 4)), S.var('ids', shape=(2,)), name='rows')
    net = S.sum(S.stack(net, net * 2, axis=0, name='stack'), axis=0, name='sum')
    net = S.where(net > 0, net, 0.1 * net, name='where')
    return S.MAERegressionOutput(net, S.var('label'), name='loss'), {'data': (2, 3, 4), 'label': (2, 4)}


def old_layers():
    net = S.Deconvolution(S.var('data'), num_filter=3, kernel=(2, 2), stride=(2, 2), name='deconv')
    net = S.LeakyReLU(S.InstanceNorm(net, name='norm'), act_type='prelu', name='prelu')
    net = S.Crop(S.Pad(net, mode='edge', pad_width=(0, 0, 0, 0, 1, 1, 1, 1), name='pad'), h_w=(4, 4), num_args=1, name='crop')
    net = S.SwapAxis(S.L2Normalization(S.Flatten(net, name='flat'), name='l2'), dim1=0, dim2=1, name='swap')
    net = S.SequenceReverse(net, name='reverse')
    net = S.FullyConnected(S.SwapAxis(net, dim1=0, dim2=1, name='back'), num_hidden=3, name='fc')
    net = S.pick(S.log_softmax(net, name='log'), S.var('label'), name='pick')
    return S.MakeLoss(-net, name='loss'), {'data': (2, 3, 4, 4), 'label': (2,)}


def many_readers():
    net = S.tanh(S.var('data'), name='tanh')
    few, many = S.sin(net, name='few'), S.cos(net, name='many')
    readers = [S.exp(few * float(i + 2), name=f'a{i}') for i in range(3)] + [S.exp(many * float(i + 2), name=f'b{i}') for i in range(12)]
    return S.MakeLoss(S.add_n(*[S.norm(r, name=f'n{i}') for i, r in enumerate(readers)], name='total'), name='loss'), {'data': (2, 3)}


def operands():
    x, y = S.tanh(S.var('data'), name='x'), S.tanh(S.var('row', shape=(1, 4)), name='y')
    terms = [getattr(S, f'broadcast_{what}')(x, y, name=what) for what in ('mul', 'div', 'maximum', 'power', 'hypot')]
    terms += [S.dot(x, y, transpose_b=True, name='dot'), S.elemwise_mul(x, S.exp(x, name='exp'), name='times')]
    terms += [S.prod(S.square(x, name='square'), axis=1, name='prod'), S.moments(x, axes=(0,), name='moments')[0]]
    return S.MakeLoss(S.add_n(*[S.sum(t, name=f's{i}') for i, t in enumerate(terms)], name='total'), name='loss'), {'data': (2, 4)}


NETWORKS = [residual, lstm, gru, sparse_embedding, csr, concat, shared, loop, attention, old_layers, many_readers, operands]


def backward_names(network):
    """The names in the order in which they are seen."""
    with mx.name.NameManager():
        symbol, shapes = network()
    unwanted = ('ids',) if network in (operands, many_readers) else ('ids', 'data')
    reqs = {name: 'null' if name in unwanted else 'write' for name in symbol.list_arguments()}
    executor = symbol.simple_bind(mx.cpu(), grad_req=reqs, **shapes)
    for array in executor.arg_arrays:
        if array.stype == 'default':
            array[:] = 0.1
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(name.decode() if isinstance(name, bytes) else name))
    executor.forward(is_train=True)
    mx.nd.waitall()
    del seen[:]
    executor.backward()
    mx.nd.waitall()
    return seen


if __name__ == '__main__':
    with open(sys.argv[1], 'w') as file:
        json.dump({network.__name__: backward_names(network) for network in NETWORKS}, file, indent=0)
