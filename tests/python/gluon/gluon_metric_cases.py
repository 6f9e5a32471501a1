"""Cases for mxnet.gluon.metric.

    python gluon_metric_cases.py data/gluon_metric.json     under MXNet 2.0.0b1: records the values that test_gluon_metric.py expects
"""
import json
import sys

import numpy as np

RNG = np.random.RandomState(0)


def uniform(*shape):
    return RNG.uniform(0, 1, shape).astype('float32')


def classes(n, *shape):
    return RNG.randint(0, n, shape).astype('float32')


def probabilities(*shape):
    values = uniform(*shape)
    return values / values.sum(axis=-1, keepdims=True)


BINARY = [([classes(2, n)], [uniform(n)]) for n in (8, 5)]
PAIRS = [([classes(2, n)], [probabilities(n, 2)]) for n in (8, 5)]
CLASSES = [([classes(4, n)], [probabilities(n, 4)]) for n in (8, 5)]
LABELS = [([classes(2, n, 3)], [uniform(n, 3)]) for n in (8, 5)]
REALS = [([uniform(n, 3)], [uniform(n, 3)]) for n in (8, 5)]
ROWS = [([uniform(n)], [uniform(n)]) for n in (8, 5)]
CUBES = [([uniform(n, 2, 3)], [uniform(n, 2, 3)]) for n in (8, 5)]
TWO_OUTPUTS = [(CLASSES[0][0] + CLASSES[1][0], CLASSES[0][1] + CLASSES[1][1])]

CASES = [
    ('BinaryAccuracy', {}, BINARY), ('BinaryAccuracy', {'threshold': .8}, LABELS),
    ('F1', {}, BINARY), ('F1', {}, PAIRS), ('F1', {'threshold': .9}, BINARY), ('F1', {'average': 'macro'}, BINARY),
    *[('F1', {'class_type': kind, 'average': average}, batches) for average in ('micro', 'macro', None)
      for kind, batches in (('multiclass', CLASSES), ('multilabel', LABELS))],
    ('F1', {'class_type': 'multilabel', 'threshold': .7}, LABELS),
    *[('Fbeta', {'beta': beta, 'class_type': 'multiclass', 'average': average}, CLASSES)
      for beta in (.5, 1, 2) for average in ('micro', 'macro')],
    ('Fbeta', {'beta': 2}, BINARY),
    ('MCC', {}, BINARY), ('MCC', {}, PAIRS), ('PCC', {}, CLASSES), ('PCC', {}, PAIRS),
    ('MeanPairwiseDistance', {}, REALS), ('MeanPairwiseDistance', {}, CUBES), ('MeanPairwiseDistance', {}, ROWS),
    ('MeanCosineSimilarity', {}, REALS), ('MeanCosineSimilarity', {}, CUBES), ('MeanCosineSimilarity', {}, ROWS),
    ('MeanCosineSimilarity', {'eps': 10}, REALS),
    ('CrossEntropy', {}, CLASSES), ('CrossEntropy', {'ignore_label': 2}, CLASSES), ('CrossEntropy', {'from_logits': True}, CLASSES),
    ('CrossEntropy', {'eps': .3}, CLASSES), ('CrossEntropy', {}, TWO_OUTPUTS),
    ('Perplexity', {}, CLASSES), ('Perplexity', {'ignore_label': 2}, CLASSES), ('Perplexity', {'from_logits': True}, CLASSES),
    ('MAE', {}, REALS), ('MSE', {}, REALS), ('RMSE', {}, REALS), ('MAE', {}, ROWS), ('RMSE', {}, CUBES),
    ('PearsonCorrelation', {}, REALS), ('PearsonCorrelation', {}, ROWS),
    ('Accuracy', {}, CLASSES), ('TopKAccuracy', {'top_k': 2}, CLASSES), ('Loss', {}, ROWS), ('Torch', {}, ROWS),
]


def values(metric, batches, array):
    """Name and value after each batch, and the number of samples at the end."""
    found = []
    for labels, preds in batches:
        metric.update([array(a) for a in labels], [array(a) for a in preds])
        name, value = metric.get()
        found.append([name, np.asarray(value.asnumpy() if hasattr(value, 'asnumpy') else value, 'float64').tolist()])
    count = metric.num_inst
    return found + [float(count.asnumpy() if hasattr(count, 'asnumpy') else count)]


if __name__ == '__main__':
    import mxnet as mx
    mx.npx.set_np()
    recorded = [values(getattr(mx.gluon.metric, name)(**kwargs), batches, mx.np.array) for name, kwargs, batches in CASES]
    with open(sys.argv[1], 'w') as file:
        json.dump(recorded, file)
