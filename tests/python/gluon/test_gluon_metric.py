"""mxnet.gluon.metric against the values of 2.0.0b1 and against definitions."""
import copy
import json
import os
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.gluon import metric

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
from gluon_metric_cases import BINARY, CASES, CLASSES, LABELS, REALS, values  # noqa: E402

with open(os.path.join(HERE, 'data', 'gluon_metric.json')) as file:
    RECORDED = json.load(file)


@pytest.mark.parametrize('index', range(len(CASES)), ids=[f'{c[0]}-{i}' for i, c in enumerate(CASES)])
@pytest.mark.parametrize('array', [nd.array, np.asarray], ids=['ndarray', 'numpy'])
def test_recorded_values(index, array):
    name, kwargs, batches = CASES[index]
    made = metric.create(name, **kwargs)
    assert isinstance(made, metric.EvalMetric) and isinstance(made, mx.metric.EvalMetric)
    found = values(made, batches, array)
    assert [f[0] for f in found[:-1]] == [r[0] for r in RECORDED[index][:-1]]
    for mine, theirs in zip(found[:-1], RECORDED[index][:-1]):
        np.testing.assert_allclose(mine[1], theirs[1], rtol=2e-5)
    assert found[-1] == RECORDED[index][-1]
    made.reset()
    assert np.isnan(made.get()[1])


def test_other_norms():
    (label,), (pred,) = REALS[0]
    for p in (1, 3):
        made = metric.MeanPairwiseDistance(p=p)
        made.update([nd.array(label)], [nd.array(pred)])
        assert made.get()[1] == pytest.approx(np.linalg.norm(label - pred, p, axis=1).mean())


def test_classes_along_any_axis():
    (label,), (pred,) = CLASSES[0]
    for axis in (0, -1):
        made = metric.CrossEntropy(axis=axis)
        made.update([nd.array(label)], [nd.array(pred.T if axis == 0 else pred)])
        assert made.get()[1] == pytest.approx(-np.log(pred[np.arange(8), label.astype(int)]).mean(), rel=1e-5)
    image = metric.CrossEntropy(axis=1, ignore_label=0)
    image.update([nd.array([[[0, 1], [1, 0]]])], [nd.array([[[[.5, .5], [.5, .5]], [[.5, .25], [.125, .5]]]])])
    assert image.num_inst == 2 and image.get()[1] == pytest.approx(-np.log([.25, .125]).mean())


def test_large_logits_stay_finite():
    made = metric.CrossEntropy(from_logits=True)
    made.update([np.array([0, 1])], [np.array([[1e4, 0], [1e4, 0]])])
    assert made.get()[1] == pytest.approx(5000)


def test_thresholds():
    assert metric.predict_with_threshold(np.array([.1, .5, .6])).tolist() == [False, False, True]
    pred = nd.array([[.1, .5], [.6, .9]])
    assert metric.predict_with_threshold(pred, np.array([.2, .8])).asnumpy().tolist() == [[0, 0], [1, 1]]
    assert metric.predict_with_threshold(pred, nd.array([.05, .4])).asnumpy().tolist() == [[1, 1], [1, 1]]
    for wrong in ([.1, .2], None, '0.5', np.array([.1, .2, .3]), True):
        with pytest.raises(ValueError):
            metric.predict_with_threshold(pred, wrong)
    made = metric.F1(class_type='multilabel', threshold=np.array([.2, .5, .8]), average=None)
    made.update(*LABELS[0])
    assert made.get()[1].shape == (3,)


@pytest.mark.parametrize('name, kwargs, batch', [
    ('F1', {}, CLASSES[0]), ('MCC', {}, CLASSES[0]), ('F1', {}, ([np.zeros(3)], [np.zeros(4)])),
    ('F1', {'class_type': 'multiclass'}, BINARY[0]), ('F1', {'class_type': 'multilabel'}, BINARY[0][:1] + ([np.zeros((8, 2))],)),
    ('F1', {'class_type': 'multiclass'}, ([np.array([7])], [np.zeros((1, 3))])),
    ('BinaryAccuracy', {}, ([np.zeros(3)], [np.zeros(4)])), ('MeanPairwiseDistance', {}, ([np.zeros((2, 3))], [np.zeros((2, 4))])),
    ('MeanCosineSimilarity', {}, ([np.zeros((2, 3))], [np.zeros((2, 4))])),
    ('CrossEntropy', {}, ([np.zeros(3)], [np.zeros((4, 2))])), ('CrossEntropy', {}, ([np.array([5])], [np.ones((1, 2))]))])
def test_arrays_that_do_not_fit(name, kwargs, batch):
    made = metric.create(name, **kwargs)
    with pytest.raises(ValueError):
        made.update(*batch)
    assert np.isnan(made.get()[1])


def test_constructors():
    with pytest.raises(ValueError, match='class_type'):
        metric.F1(class_type='foo')
    with pytest.raises(AssertionError):
        metric.create('nll_loss')      # only mxnet.metric has it
    assert isinstance(metric.create(['acc', 'f1']), metric.CompositeEvalMetric)
    assert metric.Perplexity(1e-9, 3).ignore_label == 3
    for name, kwargs in (('Fbeta', {'beta': 3, 'average': 'macro'}), ('F1', {'class_type': 'multilabel'}),
                         ('CrossEntropy', {'axis': 1}), ('MeanPairwiseDistance', {'p': 1})):
        config = metric.create(name, **kwargs).get_config()
        assert config['metric'] == name and {key: config[key] for key in kwargs} == kwargs
        assert metric.create(config.pop('metric'), **config).get_config().items() >= config.items()
    made = metric.np(lambda label, pred: (label + pred).sum())
    made.update([np.ones(2)], [np.ones(2)])
    assert made.get()[1] == 4
    assert not metric.EvalMetric('x').get_config().keys() - {'metric', 'name', 'output_names', 'label_names'}


def test_an_estimator_takes_these_metrics():
    net = mx.gluon.nn.Dense(1, in_units=3)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), 'sgd')
    made = mx.gluon.contrib.estimator.Estimator(net, mx.gluon.loss.L2Loss(), trainer=trainer,
                                                train_metrics=[metric.MSE(), metric.Loss()])
    made.logger.handlers.clear()
    data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(np.ones((4, 3), 'float32'), np.ones(4, 'float32')), 2)
    made.fit(data, epochs=1)
    assert made.train_metrics[0].get()[1] == pytest.approx(2 * made.train_metrics[1].get()[1])


@pytest.mark.parametrize('index', range(len(CASES)), ids=[f'{c[0]}-{i}' for i, c in enumerate(CASES)])
def test_copies_go_on_where_the_metric_was(index):
    name, kwargs, batches = CASES[index]
    made = metric.create(name, **kwargs)
    made.update(*batches[0])
    copies = copy.deepcopy(made), pickle.loads(pickle.dumps(made))
    made.update(*batches[-1])
    for one in copies:
        one.update(*batches[-1])
        np.testing.assert_allclose(one.get()[1], made.get()[1])
