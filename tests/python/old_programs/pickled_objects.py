"""Objects whose pickles MXNet 1.9.1 and this package exchange; runs under both.

    python pickled_objects.py write FILE     write the pickles of what is described here (under 1.9.1: the recorded data of test_pickles.py)
    python pickled_objects.py read FILE      read such a file of the other package, go on from there, and compare with what that package got
"""
import base64
import json
import math
import operator
import pickle
import sys
import warnings

import numpy as np

warnings.simplefilter('ignore')

OPTIMIZERS = {
    'sgd': dict(momentum=.9, wd=.01), 'sgd_plain': dict(), 'ccsgd': dict(momentum=.5),
    'nag': dict(momentum=.9), 'signum': dict(), 'ftml': dict(), 'lars': dict(momentum=.9),
    'lbsgd': dict(momentum=.9, batch_scale=2), 'lamb': dict(), 'dcasgd': dict(),
    'adam': dict(wd=.01), 'adagrad': dict(), 'rmsprop': dict(),
    'rmsprop_centered': dict(centered=True),
    'adadelta': dict(), 'ftrl': dict(), 'adamax': dict(), 'nadam': dict(), 'test': dict(),
    'groupadagrad': dict(), 'sgd_half': dict(momentum=.9, multi_precision=True),
    'adam_scheduled': dict()}


def create_optimizer(mx, name):
    """The optimizer called `name` above; a word after the underline only tells entries apart."""
    kwargs = dict(OPTIMIZERS[name], rescale_grad=.5)
    if name == 'adam_scheduled':
        kwargs['lr_scheduler'] = mx.lr_scheduler.FactorScheduler(2, .5)
    return mx.optimizer.create(name.partition('_')[0], **kwargs)


def weights(mx, name):
    dtype = 'float16' if name == 'sgd_half' else 'float32'
    return [mx.nd.array(np.linspace(-1, 1, 6).reshape(2, 3), dtype=dtype), mx.nd.array(np.linspace(.5, 2, 4).reshape(4, 1), dtype=dtype)]


def step(mx, updater, arrays, number):
    """Update `number` of a training that is the same everywhere."""
    for i, w in enumerate(arrays):
        grad = np.cos(np.arange(w.size) * (i + 1) + number).reshape(w.shape)
        updater(i, mx.nd.array(grad, dtype=w.dtype), w)


def trained(mx, name, start=0, stop=3, updater=None, arrays=None):
    updater = updater or mx.optimizer.get_updater(create_optimizer(mx, name))
    arrays = arrays or weights(mx, name)
    for number in range(start, stop):
        step(mx, updater, arrays, number)
    return updater, arrays


def metrics(mx):
    """(metric, labels, predictions) before anything was counted."""
    two = [mx.nd.array([0, 1, 1, 0, 1])], [mx.nd.array([[.9, .1], [.2, .8], [.7, .3], [.4, .6], [.1, .9]])]
    one = [mx.nd.array([[.1], [.5], [.9], [.3], [.2]])], [mx.nd.array([[.2], [.4], [.7], [.5], [.1]])]
    m = mx.metric
    for metric in (m.Accuracy(), m.TopKAccuracy(2), m.F1(), m.F1(average='micro'), m.MCC(),
                   m.MCC(average='micro'), m.PCC(), m.Perplexity(None), m.CrossEntropy(),
                   m.NegativeLogLikelihood(), m.create(['acc', 'ce'])):
        yield metric, two
    for metric in (m.MAE(), m.MSE(), m.RMSE(), m.PearsonCorrelation(),
                   m.PearsonCorrelation(average='micro'), m.Loss(), m.Torch(), m.Caffe(),
                   m.MAE(name='mine')):
        yield metric, one


def updated_metrics(mx):
    for number, (metric, batch) in enumerate(metrics(mx)):
        metric.update(*batch)
        yield 'metric.%d.%s' % (number, type(metric).__name__), metric, batch


def seen(mx, value):
    """What an object shows of itself, as JSON takes it."""
    if isinstance(value, mx.nd.NDArray):
        if value.handle is None or not value.handle or getattr(value, 'ndim', 0) < 0:
            return 'none'
        return [str(np.dtype(value.dtype)), str(value.context), value.asnumpy().tolist()]
    if isinstance(value, mx.sym.Symbol):
        return [value.list_arguments(), value.list_outputs(), value.attr_dict()]
    if isinstance(value, mx.gluon.Constant):
        return [value.name, value.grad_req, seen(mx, value.value)]
    if isinstance(value, mx.gluon.Parameter):
        shown = [value.name, value.grad_req, list(value.shape), str(np.dtype(value.dtype)), value.lr_mult, value.wd_mult]
        return shown + ([seen(mx, value.data()), [str(c) for c in value.list_ctx()]] if value._data is not None else [])
    if isinstance(value, mx.gluon.ParameterDict):
        return [value.prefix, [[k, seen(mx, p)] for k, p in value.items()]]
    if isinstance(value, mx.lr_scheduler.LRScheduler):
        return [value(n) for n in (1, 3, 7, 20)]
    if isinstance(value, mx.Context):
        return [str(value), value == mx.Context(value.device_type, value.device_id),
                {value: 1}.get(mx.Context(value.device_type, value.device_id))]
    if isinstance(value, mx.init.InitDesc):
        return [str(value), value.attrs]
    if isinstance(value, mx.init.Initializer):
        return value.dumps()
    if isinstance(value, mx.init.Mixed):
        return [[p.pattern, i.dumps()] for p, i in value.map]
    if isinstance(value, mx.init.Load):
        return [sorted(value.param), seen(mx, value.default_init)]
    if isinstance(value, mx.gluon.data.Dataset):
        return [len(value), [seen(mx, value[i]) for i in range(len(value))]]
    if isinstance(value, mx.gluon.data.Sampler):
        return [list(value) if not isinstance(value, mx.gluon.data.RandomSampler) else sorted(map(int, value)), len(value)]
    if isinstance(value, mx.optimizer.Updater):
        return sorted(value.states)
    if isinstance(value, mx.io.DataDesc):
        return [value.name, list(value.shape), str(np.dtype(value.dtype)), value.layout]
    if isinstance(value, mx.io.DataBatch):
        return [seen(mx, value.data), seen(mx, value.label), value.pad]
    if isinstance(value, mx.callback.Speedometer):
        return [value.batch_size, value.frequent, value.auto_reset]
    if isinstance(value, mx.name.NameManager):
        return [value.get(None, 'fc'), value.get(None, 'fc')]
    if isinstance(value, mx.AttrScope):
        return value.get({})
    if type(value).__name__ == 'LossScaler':
        return [value.loss_scale]
    if isinstance(value, (list, tuple)):
        return [seen(mx, v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if value is mx.base._Null:
        return 'the null'
    return value if isinstance(value, (str, int, float, type(None))) else str(value)


def objects(mx):
    """(name, object)"""
    from mxnet.contrib import amp
    data = mx.gluon.data
    yield 'nd.float32', mx.nd.array([[1, 2], [3, 4.5]])
    for dtype in ('float16', 'float64', 'uint8', 'int8', 'int32', 'int64'):
        yield 'nd.' + dtype, mx.nd.array([1, 2, 3], dtype=dtype)
    yield 'nd.empty', mx.nd.NDArray(None)
    yield 'nd.list', [mx.nd.ones((2,)), mx.nd.zeros((1, 2))]
    yield 'ctx.list', [mx.cpu(0), mx.cpu(3), mx.cpu_pinned(1), mx.Context('gpu', 2)]
    for context in (mx.cpu(0), mx.cpu(3), mx.cpu_pinned(0), mx.gpu(1)):
        yield 'ctx.' + str(context), context
    with mx.AttrScope(ctx_group='a', __lr_mult__='2'):
        net = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=3, name='fc')
    yield 'sym.fc', mx.sym.SoftmaxOutput(net, name='softmax')
    yield 'sym.group', mx.sym.Group([net, mx.sym.Variable('x') + 1])
    i = mx.init
    for name, value in (('zero', i.Zero()), ('one', i.One()), ('constant', i.Constant(2)),
                        ('uniform', i.Uniform(.5)), ('normal', i.Normal(.2)),
                        ('orthogonal', i.Orthogonal()),
                        ('xavier', i.Xavier('gaussian', 'in', 2)), ('msra', i.MSRAPrelu()),
                        ('bilinear', i.Bilinear()), ('lstm', i.LSTMBias(.5)),
                        ('mixed', i.Mixed(['bias', '.*'], [i.Zero(), i.Uniform(.1)])), ('load', i.Load({'a': mx.nd.ones((1,))}, i.Zero())),
                        ('desc', i.InitDesc('w', {'a': 'b'}))):
        yield 'init.' + name, value
    s = mx.lr_scheduler
    for name, value in (('factor', s.FactorScheduler(2, .5, base_lr=.1)),
                        ('multi', s.MultiFactorScheduler([3, 6], .1)),
                        ('poly', s.PolyScheduler(10, .1, 2, .01)),
                        ('cosine', s.CosineScheduler(10, .1, warmup_steps=2))):
        yield 'lr.' + name, value
    plain = data.SimpleDataset([1, 2, 3, 4])
    arrays = data.ArrayDataset(mx.nd.array([[1, 2], [3, 4], [5, 6]]), [0, 1, 2])
    yield 'data.array', arrays
    yield 'data.simple', plain
    yield 'data.lazy', plain.transform(math.sqrt)
    yield 'data.first', arrays.transform_first(operator.neg)
    for name in ('take', 'shard', 'filter', 'sample'):
        args = {'take': (2,), 'shard': (2, 1), 'filter': (bool,), 'sample': (data.SequentialSampler(3),)}[name]
        yield 'data.' + name, getattr(plain, name)(*args)
    yield 'sampler.sequential', data.SequentialSampler(3)
    yield 'sampler.random', data.RandomSampler(3)
    yield 'sampler.batch', data.BatchSampler(data.SequentialSampler(5), 2, 'rollover')
    parameter = mx.gluon.Parameter('w', shape=(2, 2), lr_mult=2., init=mx.init.One())
    yield 'parameter.open', mx.gluon.Parameter('v', shape=(0, 2), allow_deferred_init=True)
    parameter.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    yield 'parameter.two', parameter
    single = mx.gluon.Parameter('u', shape=(3,), grad_req='add', init='ones')
    single.initialize()
    yield 'parameter.one', single
    late = mx.gluon.Parameter('late', shape=(0, 2), allow_deferred_init=True)
    late.initialize()
    yield 'parameter.late', late
    yield 'parameter.constant', mx.gluon.Constant('c', mx.nd.ones((2,)))
    group = mx.gluon.ParameterDict('net_')
    group.get('weight', shape=(2,), init='ones').initialize()
    yield 'parameter.dict', group
    yield 'io.desc', mx.io.DataDesc('data', (1, 2), 'float16', 'NC')
    yield 'io.batch', mx.io.DataBatch([mx.nd.ones((1, 2))], [mx.nd.zeros((1,))], pad=0)
    yield 'speedometer', mx.callback.Speedometer(2)
    yield 'names', mx.name.Prefix('a_')
    yield 'attributes', mx.AttrScope(a='b')
    yield 'null', mx.base._Null
    yield 'loss_scaler', amp.loss_scaler.LossScaler()
    yield 'updater', trained(mx, 'adam')[0]


def to_text(data):
    return base64.b64encode(data).decode('ascii')


def record(mx):
    out = {'objects': {}, 'metrics': {}, 'optimizers': {}}
    for name, value in objects(mx):
        data = pickle.dumps(value, 2)   # before it is looked at: schedulers change
        out['objects'][name] = [to_text(data), seen(mx, value)]
    for name, metric, batch in updated_metrics(mx):
        data = pickle.dumps(metric, 2)
        metric.update(*batch)
        out['metrics'][name] = [to_text(data), seen(mx, metric.get())]
    for name in OPTIMIZERS:
        updater, arrays = trained(mx, name)
        entry = {'weights': [a.asnumpy().tolist() for a in arrays],
                 'states': to_text(updater.get_states(False)),
                 'both': to_text(updater.get_states(True))}
        trained(mx, name, 3, 6, updater, arrays)
        entry['after'] = [a.asnumpy().tolist() for a in arrays]
        out['optimizers'][name] = entry
    return out


def from_text(text):
    return base64.b64decode(text)


def go_on(mx, name, entry, both):
    """The weights three updates after those at which `entry` was written."""
    arrays = [mx.nd.array(np.array(w), dtype=a.dtype) for w, a in zip(entry['weights'], weights(mx, name))]
    updater = mx.optimizer.get_updater(create_optimizer(mx, name))
    if not both:
        for index in range(len(arrays)):
            updater.optimizer._index_update_count[index] = 3
        updater.optimizer.num_update = 3
    updater.set_states(from_text(entry['both' if both else 'states']))
    trained(mx, name, 3, 6, updater, arrays)
    return [a.asnumpy() for a in arrays]


def differences(mx, recorded):
    """What does not come out as recorded by the other package."""
    for name, (text, expected) in recorded['objects'].items():
        try:
            found = json.loads(json.dumps(seen(mx, pickle.loads(from_text(text)))))
        except Exception as error:      # pylint: disable=broad-except
            yield '%s: %s: %s' % (name, type(error).__name__, error)
            continue
        if found != expected:
            yield '%s: %s, expected %s' % (name, found, expected)
    batches = {name: batch for name, _, batch in updated_metrics(mx)}
    for name, (text, expected) in recorded['metrics'].items():
        try:
            metric = pickle.loads(from_text(text))
            metric.update(*batches[name])
            found = seen(mx, metric.get())
            np.testing.assert_allclose(np.array(found[1], dtype=float), np.array(expected[1], dtype=float), 1e-5)
            assert found[0] == expected[0]
        except Exception as error:      # pylint: disable=broad-except
            yield '%s: %s: %s' % (name, type(error).__name__, error)
    for name, entry in recorded['optimizers'].items():
        for both in (False, True):
            if not both and name in ('nadam', 'lbsgd', 'adam_scheduled'):
                continue    # what they remember is in the optimizer, too
            try:
                for found, expected in zip(go_on(mx, name, entry, both), entry['after']):
                    np.testing.assert_allclose(found, np.array(expected), 2e-3 if name == 'sgd_half' else 2e-5, 1e-6)
            except Exception as error:      # pylint: disable=broad-except
                yield '%s (%s): %s: %s' % (name, 'with the optimizer' if both else 'states', type(error).__name__, error)


if __name__ == '__main__':
    import mxnet
    if sys.argv[1] == 'write':
        with open(sys.argv[2], 'w') as out:
            json.dump(record(mxnet), out, indent=0, sort_keys=True, default=lambda number: number.item())
            out.write('\n')
    else:
        with open(sys.argv[2]) as file:
            found = list(differences(mxnet, json.load(file)))
        print('\n'.join(found) or 'all as recorded')
        sys.exit(bool(found))
