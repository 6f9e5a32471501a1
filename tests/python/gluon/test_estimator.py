"""Estimator and its handlers: the lines and weights of 1.9.1, and what is wrong to give."""
import json
import logging
import os
import warnings

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, metric, nd
from mxnet.gluon.contrib import estimator as package
from mxnet.gluon.contrib.estimator import (BatchProcessor, CheckpointHandler, EarlyStoppingHandler, EpochEnd, Estimator,
                                           GradientUpdateHandler, LoggingHandler, MetricHandler, StoppingHandler,
                                           ValidationHandler)

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
from estimator_programs import PROGRAMS, Lines, data, network  # noqa: E402

with open(os.path.join(HERE, 'data', 'estimator.json')) as recorded:
    RECORDED = json.load(recorded)
LOSS = gluon.loss.SoftmaxCrossEntropyLoss()


def same(found, expected):
    if isinstance(expected, list) and expected and isinstance(expected[0], dict):
        assert len(found) == len(expected)
        for pair in zip(found, expected):
            same(*pair)
        return
    assert found['lines'] == expected['lines']
    assert found['updates'] == expected['updates']
    assert found['weight'] == pytest.approx(expected['weight'], abs=1e-5)


@pytest.mark.parametrize('name', sorted(PROGRAMS))
def test_programs_do_what_they_did_under_1_9_1(name):
    same(PROGRAMS[name](), RECORDED[name])


def quiet(net=None, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        made = Estimator(network() if net is None else net, LOSS, *args, **kwargs)
    made.logger.handlers[:] = [Lines()]
    return made


def test_default_metrics_and_trainer():
    with pytest.warns(UserWarning, match='No trainer specified, default SGD'):
        made = Estimator(network(), LOSS)
    assert [m.name for m in made.train_metrics] == ['training accuracy', 'training softmaxcrossentropyloss']
    assert [m.name for m in made.val_metrics] == ['validation accuracy', 'validation softmaxcrossentropyloss']
    assert made.trainer.learning_rate == 0.001 and made.context == [mx.cpu()]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        other = Estimator(network(), gluon.loss.L2Loss(), val_loss=gluon.loss.L1Loss())
    assert [m.name for m in other.train_metrics] == ['training l2loss']
    assert isinstance(other.val_loss, gluon.loss.L1Loss)
    with pytest.raises(AttributeError):
        made.train_metrics = []


def test_metrics_are_named_once():
    accuracy = metric.Accuracy()
    quiet(train_metrics=accuracy)
    made = quiet(train_metrics=accuracy, val_metrics=accuracy)
    assert made.train_metrics[0] is accuracy and accuracy.name == 'training accuracy'
    assert [m.name for m in made.val_metrics] == ['validation accuracy']
    parts = quiet(train_metrics=metric.CompositeEvalMetric(['acc', 'mse']), val_metrics=(metric.MAE(),))
    assert [m.name for m in parts.train_metrics] == ['training accuracy', 'training mse']
    assert [m.name for m in parts.val_metrics] == ['validation mae']


def test_initialization():
    net = gluon.nn.Dense(3)
    quiet(net, initializer=mx.init.One(), context=[mx.cpu(1)])
    assert net.bias.list_ctx() == [mx.cpu(1)]
    with pytest.warns(UserWarning, match='already fully initialized'):
        Estimator(network(), LOSS, initializer=mx.init.Zero())
    half = network()
    half.add(gluon.nn.Dense(2, in_units=3))
    before = half[0].weight.data().asnumpy()
    quiet(half, initializer=mx.init.One())
    assert (half[0].weight.data().asnumpy() == before).all() and (half[2].weight.data().asnumpy() == 1).all()


@pytest.mark.parametrize('arguments', [
    dict(loss=3), dict(loss=None), dict(loss=[LOSS]), dict(train_metrics='acc'), dict(train_metrics=[3]), dict(val_metrics=3),
    dict(trainer='sgd'), dict(context='cpu'), dict(context=(mx.cpu(0), mx.cpu(1))), dict(context=[mx.cpu(), 'x']),
    dict(val_loss=3), dict(batch_processor=3)], ids=str)
def test_wrong_arguments_of_the_estimator(arguments):
    with pytest.raises(ValueError):
        Estimator(**{'net': network(), 'loss': LOSS, **arguments})


def test_a_missing_gpu():
    if mx.context.num_gpus():
        pytest.skip('needs a machine without GPU')
    with pytest.raises(AssertionError, match='not available'):
        Estimator(network(), LOSS, context=mx.gpu())


@pytest.mark.parametrize('arguments', [
    {}, dict(epochs=1, batches=1), dict(epochs=0), dict(epochs=-1), dict(batches=-2), dict(epochs=1.5),
    dict(epochs='a'), dict(batches=float('nan')), dict(epochs=[1]),
    dict(epochs=1, event_handlers=[3]), dict(epochs=1, event_handlers=[MetricHandler(metric.Accuracy())]),
    dict(epochs=1, event_handlers=LoggingHandler(metrics=metric.Accuracy())),
    dict(train_data=[(nd.ones((2, 5)), nd.zeros(2))], epochs=1), dict(train_data=None, epochs=1),
    dict(val_data=3, epochs=1)], ids=str)
def test_wrong_arguments_of_fit(arguments):
    with pytest.raises(ValueError):
        quiet().fit(**{'train_data': data(), **arguments})


def test_no_batches_are_an_error_and_no_endless_loop():
    class Nothing(gluon.data.DataLoader):
        def __iter__(self):
            return iter(())
    made = quiet()
    nothing = Nothing(gluon.data.ArrayDataset(np.ones((2, 5)), np.zeros(2)), 1)
    with pytest.raises(ValueError, match='no batches'):
        made.fit(nothing, batches=2)
    made.fit(nothing, epochs=2)


@pytest.mark.parametrize('interval', ['batch', 2.5, None, 0, True])
def test_wrong_log_intervals(interval):
    with pytest.raises(ValueError):
        LoggingHandler(interval)


def test_wrong_monitors(tmp_path):
    for wrong in (None, 3, 'acc', metric.CompositeEvalMetric()):
        with pytest.raises(ValueError):
            EarlyStoppingHandler(wrong)
    for wrong in (None, 3, 'acc'):
        with pytest.raises(ValueError):
            CheckpointHandler(str(tmp_path), monitor=wrong, save_best=True)
    with pytest.warns(UserWarning, match='`greater` operator will be used to determine if mse'):
        assert EarlyStoppingHandler(metric.MSE()).monitor_op is np.greater
    with pytest.warns(RuntimeWarning, match='mode foo is unknown'):
        CheckpointHandler(str(tmp_path), monitor=metric.MSE(), save_best=True, mode='foo')
    assert EarlyStoppingHandler(metric.MSE(), min_delta=.5, mode='min').min_delta == -.5


def test_a_monitor_that_nobody_updates_is_warned_of(tmp_path):
    made = quiet()
    handlers = [EarlyStoppingHandler(made.val_metrics[0], mode='max'),
                CheckpointHandler(str(tmp_path), monitor=made.val_metrics[0], save_best=True, mode='max')]
    with pytest.warns(RuntimeWarning, match='validation accuracy is not updated') as seen:
        made.fit(data(), epochs=1, event_handlers=handlers)
    assert len([w for w in seen if w.category is RuntimeWarning]) == 2
    assert not (tmp_path / 'model-best.params').exists()


def test_the_line_of_an_improvement_has_both_values(tmp_path):
    made = quiet()
    handler = CheckpointHandler(str(tmp_path), monitor=made.train_metrics[1], save_best=True, mode='min', verbose=1)
    made.fit(data(), epochs=2, event_handlers=[handler])
    told = [line for line in made.logger.handlers[0].lines if 'improved' in line]
    assert 'improved from inf to' in told[0]
    assert told[0].split(' to ')[1].split(',')[0] == told[1].split('from ')[1].split(' to ')[0]


def test_resuming_gives_the_weights_of_one_training(tmp_path):
    def run(epochs, resume, folder):
        net = network()
        made = quiet(net, trainer=gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': .05}))
        made.fit(data(), epochs=epochs, event_handlers=[CheckpointHandler(str(folder), resume_from_checkpoint=resume)])
        return [p.data().asnumpy() for p in net.collect_params().values()]
    whole = run(3, False, tmp_path / 'whole')
    run(2, False, tmp_path / 'parts')
    for a, b in zip(whole, run(3, True, tmp_path / 'parts')):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    symbol = gluon.SymbolBlock.imports(str(tmp_path / 'parts' / 'model-symbol.json'), ['data'])
    assert len(symbol.collect_params()) == 4


def test_resuming_is_a_warning_as_in_1_9_1(tmp_path, caplog):
    for resume in (False, True):
        made = quiet()
        made.logger.addHandler(caplog.handler)
        made.fit(data(), epochs=1 + resume, event_handlers=[CheckpointHandler(str(tmp_path), resume_from_checkpoint=resume)])
    assert [(r.levelname, r.getMessage()[:50]) for r in caplog.records if 'resumed' in r.getMessage()] == [
        ('WARNING', 'CheckpointHandler: Checkpoint resumed from epoch 0')]


def test_damaged_folders(tmp_path):
    def resume():
        quiet().fit(data(), epochs=9, event_handlers=[CheckpointHandler(str(tmp_path), resume_from_checkpoint=True)])
    (tmp_path / 'model-epochXbatch3.params').write_text('junk')
    with pytest.raises(ValueError, match='Error parsing checkpoint'):
        resume()
    os.rename(tmp_path / 'model-epochXbatch3.params', tmp_path / 'model-epoch1batch3.params')
    with pytest.raises(AssertionError, match='does not exist'):
        resume()
    (tmp_path / 'model-epoch1batch3.states').write_text('junk')
    with pytest.raises(mx.MXNetError):
        resume()
    for name in ('model-best.params', 'model-epoch1.txt', 'other-epoch9batch9.params'):     # none of ours
        (tmp_path / name).write_text('junk')
    os.remove(tmp_path / 'model-epoch1batch3.params')
    resume()
    assert (tmp_path / 'model-epoch8batch36.params').exists()


def test_a_handler_list_stays_as_it_was():
    handlers = [StoppingHandler()]
    quiet().fit(data(), epochs=1, event_handlers=handlers)
    assert len(handlers) == 1


def test_an_own_batch_processor():
    class Autoencoder(BatchProcessor):
        def fit_batch(self, estimator, train_batch, batch_axis=0):
            x, _ = self._get_data_and_label(train_batch, estimator.context, batch_axis)
            with mx.autograd.record():
                pred = [estimator.net(one) for one in x]
                loss = [estimator.loss(p, one) for p, one in zip(pred, x)]
            mx.autograd.backward(loss)
            return x, x, pred, loss

    net = gluon.nn.Dense(5, in_units=5)
    net.initialize(mx.init.Zero())
    made = Estimator(net, gluon.loss.L2Loss(), train_metrics=metric.MAE(), batch_processor=Autoencoder(),
                     trainer=gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': .5}))
    made.logger.handlers[:] = [logging.NullHandler()]
    made.fit(data(), epochs=1)
    first = made.train_metrics[0].get()[1]
    made.fit(data(), epochs=20)
    assert made.train_metrics[0].get()[1] < first / 2


def test_one_batch():
    made = quiet()
    batch = next(iter(data()))
    found = BatchProcessor().fit_batch(made, batch)
    assert [part[0].shape for part in found] == [(6, 5), (6,), (6, 3), (6,)]
    assert made.trainer.optimizer.num_update == 0 and made.net[0].weight.grad().asnumpy().any()
    GradientUpdateHandler().batch_end(made, loss=found[3])
    assert made.trainer.optimizer.num_update == 1
    assert [part[0].shape for part in BatchProcessor().evaluate_batch(made, batch)] == [(6, 5), (6,), (6, 3), (6,)]


def test_evaluate():
    made = quiet(val_net=network(hybridize=False))
    assert made.evaluate(data()) is None
    pred = made.val_net(nd.array(data()._dataset._data[0])).asnumpy().argmax(1)
    assert made.val_metrics[0].get()[1] == pytest.approx((pred == data()._dataset._data[1]).mean())
    with pytest.raises(ValueError):
        made.evaluate(data(), event_handlers=[MetricHandler(made.train_metrics)])
    with pytest.raises(ValueError):
        made.evaluate(3)


def test_a_validation_function_of_ones_own():
    seen = []

    class Mine(EpochEnd):
        pass

    mine = Mine()
    quiet().fit(data(), epochs=2, event_handlers=[ValidationHandler('data', lambda **k: seen.append(k), event_handlers=mine)])
    assert seen == [{'val_data': 'data', 'batch_axis': 0, 'event_handlers': mine}] * 2


def test_star_import_gives_the_names_of_1_9_1():
    with open(os.path.join(HERE, 'data', 'star_exports_1.9.1.txt')) as lines:
        names = next(line for line in lines if line.startswith('mxnet.gluon.contrib.estimator:')).split()[1:]
    assert all(hasattr(package, name.rstrip('/')) for name in names)
