"""Metrics with batches of random labels and predictions; used by test_metric.py and
make_metric_reference.py."""
import numpy as np


def _softmax(rng, *shape):
    x = np.exp(rng.randn(*shape))
    return (x / x.sum(axis=-1, keepdims=True)).astype('float32')


def cases():
    """List of (name, constructor arguments, labels of 4 batches, predictions of 4 batches)."""
    rng = np.random.RandomState(7)
    multi = [_softmax(rng, 6, 4) for _ in range(4)]
    classes = [rng.randint(0, 4, 6).astype('float32') for _ in range(4)]
    binary = [_softmax(rng, 8, 2) for _ in range(4)]
    truth = [rng.randint(0, 2, 8).astype('float32') for _ in range(4)]
    real = [rng.randn(5, 3).astype('float32') for _ in range(4)]
    near = [(x + 0.3 * rng.randn(5, 3)).astype('float32') for x in real]
    line = [x[:, 0].copy() for x in real]
    near_line = [x[:, 0].copy() for x in near]
    images = [_softmax(rng, 2, 5, 3).transpose(0, 2, 1).copy() for _ in range(4)]
    pixels = [rng.randint(0, 3, (2, 5)).astype('float32') for _ in range(4)]
    result = []
    for name, kwargs in (('acc', {}), ('top_k_accuracy', {'top_k': 2}), ('top_k_accuracy', {'top_k': 3, 'name': 'top'}),
                         ('ce', {}), ('ce', {'eps': 0.1}), ('nll_loss', {}), ('perplexity', {'ignore_label': None}),
                         ('perplexity', {'ignore_label': 1}), ('pcc', {}), ('loss', {}), ('torch', {}), ('caffe', {})):
        result.append((name, kwargs, classes, multi))
    for average in ('macro', 'micro'):
        result.append(('f1', {'average': average}, truth, binary))
        result.append(('mcc', {'average': average}, truth, binary))
    result.append(('pearsonr', {'average': 'macro'}, real, near))
    result.append(('pcc', {}, truth, binary))
    for name in ('mae', 'mse', 'rmse', 'pearsonr'):
        result.append((name, {}, real, near))
        result.append((name, {}, line, near_line))
    result.append(('acc', {'axis': 1}, pixels, images))
    result.append(('acc', {}, classes, [p.argmax(axis=1).astype('float32') for p in multi]))
    return result


def values(metric, labels, preds, array):
    """What a metric says after each batch; it is restarted locally after the second."""
    found = []
    for i, (label, pred) in enumerate(zip(labels, preds)):
        metric.update([array(label)], [array(pred)])
        found.append([metric.get()[0], float(metric.get()[1]), float(metric.get_global()[1])])
        if i == 1:
            metric.reset_local()
    return found
