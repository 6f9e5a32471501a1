"""Writes tests/python/data/numpy_graphs: models of MXNet 1.9.1 and 2.0 with NumPy's rules,
exported, with an input and what the model gives for it. Run it with the Python of each version,
whose first two digits the files begin with:

    ORACLE/bin/python tests/python/mx_np/record_numpy_graphs.py [FOLDER]
"""
import os
import sys

import mxnet as mx
import numpy as onp

from mxnet import gluon, np, npx

npx.set_np()
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'data', 'numpy_graphs')
STYLE = 'v' + ''.join(mx.__version__.split('.')[:2])
SYMBOLIC = mx.__version__.startswith('1.') and '--forward' not in sys.argv


def with_forward(compute, parameters):
    """A block of `compute(F, F.np, F.npx, x, **parameters)` in the style of the version: what
    `hybrid_forward` gets, or `forward` finds."""
    if SYMBOLIC:
        class Old(gluon.HybridBlock):
            def __init__(self):
                super().__init__()
                with self.name_scope():
                    for name, value in parameters.items():
                        setattr(self, name, self.params.get(name, shape=value.shape, init=mx.init.Constant(0)))

            def hybrid_forward(self, F, x, **params):
                return compute(F.np, F.npx, x, **params)
        return Old()

    class New(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            for name, value in parameters.items():
                setattr(self, name, gluon.Parameter(name, shape=value.shape, init=mx.init.Constant(0)))

        def forward(self, x):
            return compute(np, npx, x, **{name: getattr(self, name).data() for name in parameters})
    return New()


def random(*shape):
    return onp.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype('float32')


def mlp(np, npx, x, w1, b1, w2, b2):
    h = npx.relu(npx.fully_connected(x, w1, b1, num_hidden=5, no_bias=False))
    return npx.log_softmax(np.tanh(np.dot(h, w2) + b2) * 2 - 1, axis=-1)


def cnn(np, npx, x, w1, b1, gamma, beta, w2, b2):
    h = npx.convolution(x, w1, b1, kernel=(3, 3), pad=(1, 1), num_filter=3)
    h = npx.leaky_relu(npx.layer_norm(h, gamma, beta, axis=1, eps=1e-5), act_type='leaky', slope=0.1)
    h = npx.pooling(h, kernel=(2, 2), stride=(2, 2), pool_type='max')
    h = npx.fully_connected(npx.batch_flatten(h), w2, b2, num_hidden=2, no_bias=False)
    return np.concatenate([h, np.mean(h, axis=1, keepdims=True)], axis=1)


def rnn(np, npx, x, weights, start):
    h = npx.rnn(np.transpose(x, (1, 0, 2)), weights, np.repeat(start, 2, axis=1), mode='gru', state_size=4, num_layers=1)
    h = np.swapaxes(h, 0, 1)
    return np.max(h, axis=1) - np.min(h, axis=1), np.cumsum(h, axis=1)


def attention(np, npx, x, wq, wk, wv):
    q, k, v = (npx.reshape(np.einsum('bij,jk->bik', x, w), (-2, -2, 2, -1)) for w in (wq, wk, wv))
    scores = np.einsum('bihd,bjhd->bhij', q, k) / 2
    mixed = np.matmul(npx.softmax(scores, axis=-1), np.transpose(v, (0, 2, 1, 3)))
    return np.reshape(np.transpose(mixed, (0, 2, 1, 3)), (2, 3, -1)), np.expand_dims(np.sum(scores), 0)


def choices(np, npx, x, scale):
    y = np.where(x > 0, x * scale, np.ones_like(x) - x)
    top = npx.topk(y, k=2, axis=-1, ret_typ='value')
    parts = np.split(y, 2, axis=1)
    return y[:, 1:3], y[0], np.stack([parts[0], np.square(parts[1])]), np.squeeze(np.maximum(top, 0.25))[1, 0] ** 2, np.argmax(y, axis=0)


MODELS = {
    'mlp': (mlp, {'w1': random(5, 4), 'b1': random(5), 'w2': random(5, 3), 'b2': random(3)}, random(2, 4)),
    'cnn': (cnn, {'w1': random(3, 2, 3, 3), 'b1': random(3), 'gamma': random(3), 'beta': random(3), 'w2': random(2, 12), 'b2': random(2)},
            random(2, 2, 4, 4)),
    'rnn': (rnn, {'weights': random(12 * 3 + 12 * 4 + 24), 'start': random(1, 1, 4)}, random(2, 5, 3)),
    'attention': (attention, {'wq': random(4, 8), 'wk': random(8, 4).T, 'wv': random(4, 8) * 2}, random(2, 3, 4)),
    'choices': (choices, {'scale': random(4)}, random(3, 4)),
}


def main():
    for name, (compute, parameters, data) in MODELS.items():
        net = with_forward(compute, parameters)
        net.initialize()
        for key, value in parameters.items():
            getattr(net, key).set_data(np.array(value))
        net.hybridize()
        out = net(np.array(data))
        path = os.path.join(FOLDER, f'{STYLE}_{name}')
        net.export(path)
        out = out if isinstance(out, (list, tuple)) else [out]
        onp.savez(path + '.npz', data=data, **{f'out{i}': o.asnumpy() for i, o in enumerate(out)})


if __name__ == '__main__':
    main()
