"""Records what the tests of Gluon compare with, from the retired 1.9.1 wheel. Run with its
interpreter:

    oracle/bin/python tests/python/data/make_gluon_reference.py

writes, beside this file, gluon_model_zoo.json (per model: number of Parameters, of values, and
digests of the two naming schemes with shapes) and a small network saved in each format:
gluon_net.params, gluon_net-symbol.json, gluon_net-0000.params, gluon_net.json (its input and
output).
"""
import hashlib
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ('alexnet densenet121 densenet161 densenet169 densenet201 inception_v3 mobilenet0_25 mobilenet0_5 mobilenet0_75 mobilenet1_0 '
          'mobilenet_v2_0_25 mobilenet_v2_0_5 mobilenet_v2_0_75 mobilenet_v2_1_0 resnet101_v1 resnet101_v2 resnet152_v1 resnet152_v2 '
          'resnet18_v1 resnet18_v2 resnet34_v1 resnet34_v2 resnet50_v1 resnet50_v2 squeezenet1_0 squeezenet1_1 vgg11 vgg11_bn vgg13 '
          'vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn').split()


def digest(shapes):
    """SHA-256 of the lines 'name shape', in order."""
    return hashlib.sha256('\n'.join(f'{name} {tuple(shape)}' for name, shape in shapes.items()).encode()).hexdigest()


def describe(mx, name):
    """What is recorded for one model."""
    from mxnet.gluon.model_zoo import vision
    with mx.name.NameManager():
        net = getattr(vision, name)()
        net.initialize(mx.init.Zero())
        size = 299 if name.startswith('inception') else 224
        net.infer_shape(mx.nd.zeros((1, 3, size, size)))
    by_prefix = {k: p.shape for k, p in net.collect_params().items()}
    by_path = {k: p.shape for k, p in net._collect_params_with_prefix().items()}
    values = 0
    for shape in by_prefix.values():
        n = 1
        for d in shape:
            n *= d
        values += n
    return {'parameters': len(by_prefix), 'values': values, 'prefix_names': digest(by_prefix), 'path_names': digest(by_path),
            'first': list(by_prefix)[0], 'last_path': list(by_path)[-1]}


def small_net(mx, **kwargs):
    """A network with every kind of Parameter that files distinguish."""
    from mxnet.gluon import nn
    net = nn.HybridSequential(prefix='small_', **kwargs)
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation='relu'), nn.BatchNorm(), nn.MaxPool2D(), nn.Flatten(), nn.Dense(5))
    return net


def main():
    import mxnet as mx
    import numpy as np
    with open(os.path.join(HERE, 'gluon_model_zoo.json'), 'w') as f:
        json.dump({name: describe(mx, name) for name in MODELS}, f, indent=1)
        f.write('\n')
    mx.random.seed(7)
    rng = np.random.RandomState(7)
    net = small_net(mx)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x = rng.uniform(-1, 1, (2, 3, 8, 8)).astype('float32')
    net(mx.nd.array(x))
    for name, p in net.collect_params().items():
        low, high = (0.5, 1.5) if name.endswith(('var', 'gamma')) else (-0.5, 0.5)
        p.set_data(mx.nd.array(rng.uniform(low, high, p.shape)))
    y = net(mx.nd.array(x))
    base = os.path.join(HERE, 'gluon_net')
    net.save_parameters(base + '.params')
    net.export(base)
    with open(base + '.json', 'w') as f:
        json.dump({'x': x.ravel().tolist(), 'y': y.asnumpy().tolist()}, f)
        f.write('\n')


if __name__ == '__main__':
    main()
