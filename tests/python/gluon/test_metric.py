"""Metrics against the values of MXNet 1.9.1 (data/metrics.json) and against their definitions."""
import json
import math
import os
import pickle
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import metric, nd

pytestmark = pytest.mark.on_gpu

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data')
sys.path.insert(0, DATA)
from metric_cases import cases, values  # noqa: E402

with open(os.path.join(DATA, 'metrics.json')) as recorded:
    REFERENCE = json.load(recorded)
CASES = cases()


@pytest.mark.parametrize('index', range(len(CASES)), ids=[f'{c[0]}-{i}' for i, c in enumerate(CASES)])
@pytest.mark.parametrize('array', [nd.array, np.asarray], ids=['ndarray', 'numpy'])
def test_recorded_values(index, array):
    name, kwargs, labels, preds = CASES[index]
    found = values(metric.create(name, **kwargs), labels, preds, array)
    assert [f[0] for f in found] == [r[0] for r in REFERENCE[index]]
    np.testing.assert_allclose([f[1:] for f in found], [r[1:] for r in REFERENCE[index]], rtol=1e-5, atol=1e-6)


def test_every_case_is_recorded():
    assert len(CASES) == len(REFERENCE) and all(len(r) == 4 for r in REFERENCE)


def test_micro_pearson_is_the_correlation_of_everything():
    rng = np.random.RandomState(0)
    labels = [rng.randn(4, 3) + 1000 for _ in range(5)]
    preds = [label + rng.randn(4, 3) for label in labels]
    m = metric.PearsonCorrelation(average='micro')
    for i, (label, pred) in enumerate(zip(labels, preds)):
        m.update([label], [pred])
        if i == 2:
            m.reset_local()
    whole = np.corrcoef(np.ravel(labels), np.ravel(preds))[0, 1]
    late = np.corrcoef(np.ravel(labels[3:]), np.ravel(preds[3:]))[0, 1]
    assert m.get()[1] == pytest.approx(late) and m.get_global()[1] == pytest.approx(whole)
    count, mean, squares = 0, 0.0, 0.0
    for label in labels:
        count, mean, squares = m.update_variance(label, count, mean, squares)
    assert (count, mean, squares / count) == (60, pytest.approx(np.mean(labels)), pytest.approx(np.var(labels)))


def test_mcc_of_tables_with_empty_lines():
    m = metric.MCC()
    m.update([nd.zeros((4,))], [nd.array([[1, 0], [0, 1], [1, 0], [0, 1]])])
    assert m.get()[1] == 0


def test_binary_metrics_of_places():
    """Scores (n, 2, ...) with labels (n, ...), as of segmented images: each place is an example."""
    scores, labels = np.random.RandomState(0).rand(2, 2, 3), np.array([[0, 1, 1], [1, 0, 1]])
    for name, expected in (('f1', 0.4), ('mcc', 0.1 ** 0.5)):      # numbers of MXNet 1.9.1
        places, rows = metric.create(name), metric.create(name)
        places.update([nd.array(labels)], [nd.array(scores)])
        rows.update([nd.array(labels.ravel())], [nd.array(scores.transpose(0, 2, 1).reshape(6, 2))])
        assert places.get() == rows.get()
        assert places.get()[1] == pytest.approx(expected)


def test_new_metrics_are_nan():
    for name, kwargs, _, _ in CASES:
        assert math.isnan(metric.create(name, **kwargs).get()[1])


def test_top_k_of_few_classes_is_always_right():
    m = metric.TopKAccuracy(top_k=9)
    m.update([nd.array([0, 1])], [nd.array([[0.1, 0.9], [0.8, 0.2]])])
    assert m.get() == ('top_k_accuracy_9', 1.0)


def test_perplexity_along_an_axis():
    rng = np.random.RandomState(0)
    probabilities = rng.dirichlet(np.ones(3), size=(2, 5))           # 2 x 5 x 3
    labels = rng.randint(0, 3, (2, 5))
    m = metric.Perplexity(ignore_label=2, axis=1)
    m.update([nd.array(labels)], [nd.array(probabilities.transpose(0, 2, 1))])
    chosen = np.take_along_axis(probabilities, labels[..., None], -1)[..., 0][labels != 2]
    assert m.get()[1] == pytest.approx(math.exp(-np.log(chosen).mean()), rel=1e-4)
    assert m.num_inst == (labels != 2).sum()


def test_composite():
    label, pred = nd.array([0, 1]), nd.array([[0.9, 0.1], [0.8, 0.2]])
    m = metric.create(['acc', metric.CrossEntropy()])
    m.add(metric.create('top_k_accuracy', top_k=2))
    m.update([label], [pred])
    names, found = m.get()
    assert names == ['accuracy', 'cross-entropy', 'top_k_accuracy_2']
    assert found == pytest.approx([0.5, -(math.log(0.9) + math.log(0.2)) / 2, 1.0])
    assert m.get_name_value() == list(zip(names, found)) == m.get_global_name_value()
    m.reset_local()
    assert all(math.isnan(v) for v in m.get()[1]) and m.get_global()[1] == pytest.approx(found)
    m.reset()
    assert all(math.isnan(v) for v in m.get_global()[1])
    assert isinstance(m.get_metric(1), metric.CrossEntropy)
    with pytest.raises(ValueError):
        m.get_metric(3)


def test_names_choose_arrays():
    labels = {'l1': nd.array([0, 1]), 'l2': nd.array([1, 1])}
    preds = {'o1': nd.array([[1.0, 0], [1, 0]]), 'o2': nd.array([[1.0, 0], [0, 1]])}
    for output, label, expected in (('o1', 'l1', 0.5), ('o2', 'l1', 1), ('o2', 'l2', 0.5), ('o1', 'l2', 0)):
        m = metric.Accuracy(output_names=[output], label_names=[label])
        m.update_dict(labels, preds)
        assert m.get()[1] == expected
    both = metric.Accuracy()
    both.update_dict(labels, preds)
    assert both.get()[1] == 0.5 and both.num_inst == 4
    composite = metric.CompositeEvalMetric([metric.Accuracy()], output_names=['o2'], label_names=['l1'])
    composite.update_dict(labels, preds)
    assert composite.get() == (['accuracy'], [1.0])


def test_functions_as_metrics():
    def wrong(label, pred):
        return float((label != pred.argmax(axis=1)).sum()), len(label)

    def mean_wrong(label, pred):
        return float((label != pred.argmax(axis=1)).mean())

    label, pred = nd.array([0, 1, 1]), nd.array([[1.0, 0], [1, 0], [0, 1]])
    for m, name, value, count in ((metric.CustomMetric(wrong), 'wrong', 1 / 3, 3), (metric.np(mean_wrong), 'mean_wrong', 1 / 3, 1),
                                  (metric.create(mean_wrong), 'mean_wrong', 1 / 3, 1),
                                  (metric.CustomMetric(lambda label, p: 2.0), 'custom(<lambda>)', 2, 1),
                                  (metric.np(wrong, name='w'), 'w', 1 / 3, 3)):
        m.update([label], [pred])
        assert m.get() == (name, pytest.approx(value)) and m.num_inst == count
    with pytest.raises(ValueError):
        metric.CustomMetric(wrong).update([label], [pred, pred])
    extra = metric.CustomMetric(wrong, allow_extra_outputs=True)
    extra.update([label], [pred, pred])
    assert extra.num_inst == 3
    with pytest.raises(NotImplementedError):
        extra.get_config()


def test_config_makes_the_metric_again():
    m = metric.create('top_k_accuracy', top_k=3, name='x', output_names=['o'])
    config = m.get_config()
    assert config == {'metric': 'TopKAccuracy', 'name': 'x_3', 'output_names': ['o'], 'label_names': None, 'top_k': 3}
    again = metric.create(config)
    assert (type(again), again.top_k, again.output_names) == (metric.TopKAccuracy, 3, ['o'])
    assert str(metric.Accuracy()) == "EvalMetric: {'accuracy': nan}"


def test_metrics_pickle():
    m = metric.Accuracy()
    m.update([nd.array([1, 0])], [nd.array([[0.0, 1], [0, 1]])])
    assert pickle.loads(pickle.dumps(m)).get() == ('accuracy', 0.5)


@pytest.mark.parametrize('wrong', [
    lambda: metric.create('no_such_metric'), lambda: metric.TopKAccuracy(),
    lambda: metric.Accuracy().update([nd.ones((2,))] * 2, [nd.ones((2, 2))]),
    lambda: metric.Accuracy().update([nd.ones((3,))], [nd.ones((2, 2))]),
    lambda: metric.TopKAccuracy(top_k=2).update([nd.ones((2,))], [nd.ones((2,))]),
    lambda: metric.F1().update([nd.array([0, 1, 2])], [nd.ones((3, 2))]),
    lambda: metric.CrossEntropy().update([nd.ones((3,))], [nd.ones((2, 2))]),
    lambda: metric.MAE().update([nd.ones((3, 2))], [nd.ones((4, 2))]),
    lambda: metric.Perplexity(None).update([nd.ones((3,))], [nd.ones((4, 2))])])
def test_wrong_arguments(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_subclasses_without_global_totals():
    class Mine(metric.EvalMetric):
        def update(self, labels, preds):
            self.sum_metric += 1
            self.num_inst += 1

    m = Mine('mine', extra=3)
    m.update(None, None)
    assert m.get_global() == m.get() == ('mine', 1.0) and m.get_config()['extra'] == 3
    with pytest.raises(NotImplementedError):
        mx.metric.EvalMetric('x').update(None, None)


def test_np_names_functions_without_a_name_as_custom():
    def named(label, pred):
        return 1.0
    assert mx.metric.np(lambda label, pred: 1.0).name == 'custom(<lambda>)'
    assert mx.metric.np(named).name == 'named' and mx.metric.np(named, 'other').name == 'other'


def test_values_are_numbers_of_python():
    """Also where the program adds up NumPy's: printed names and values look as in 1.x."""
    class Mine(metric.EvalMetric):
        def update(self, labels, preds):
            self.sum_metric += (preds[0].asnumpy() == labels[0].asnumpy()).sum()
            self.num_inst += 4

    for m in (Mine('mine'), mx.metric.np(lambda label, pred: (label == pred).mean(), 'mine')):
        m.update([mx.nd.array([0, 1, 2, 3])], [mx.nd.array([0, 1, 0, 0])])
        assert str(m.get()) == "('mine', 0.5)" and str(m.get_name_value()) == "[('mine', 0.5)]"
