"""SVRGModule against recorded trainings of 1.9.1 and against the algorithm in NumPy."""
import json
import os

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib.svrg_optimization import svrg_optimizer

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
from svrg_programs import PROGRAMS, START, X, Y, data, module, train  # noqa: E402

with open(os.path.join(HERE, 'data', 'contrib_svrg.json')) as file:
    RECORDED = json.load(file)


@pytest.mark.parametrize('name', sorted(PROGRAMS))
def test_trainings_of_1_9_1(name):
    errors, weights = train(**PROGRAMS[name])
    np.testing.assert_allclose(errors, RECORDED[name][0], rtol=1e-5)
    for key, value in RECORDED[name][1].items():
        np.testing.assert_allclose(weights[key], value, rtol=1e-4, atol=1e-6)


def by_hand(update_freq, num_epoch, lr, begin_epoch=0):
    """Johnson and Zhang (2013), with batches of 8 and the gradient of LinearRegressionOutput."""
    inputs = np.hstack([X, np.ones((32, 1))]).astype(float)
    batches = [slice(i, i + 8) for i in range(0, 32, 8)]
    w = np.append(START['fc_weight'].ravel(), START['fc_bias']).astype(float)

    def gradient(at, batch):
        return (inputs[batch] @ at - Y[batch]) @ inputs[batch]

    mean = None
    for epoch in range(begin_epoch, num_epoch):
        if mean is None or epoch % update_freq == 0:
            copy, mean = w.copy(), np.mean([gradient(w, b) for b in batches], axis=0)
        for b in batches:
            w = w - lr / 8 * (gradient(w, b) - gradient(copy, b) + mean)
    return w


@pytest.mark.parametrize('update_freq', [1, 2, 3])
@pytest.mark.parametrize('store', ['local', None, 'object', 'two contexts'])
def test_the_algorithm_over_several_periods(update_freq, store):
    kwargs = {'kvstore': mx.kv.create('local') if store == 'object' else None if store is None else 'local'}
    if store == 'two contexts':
        kwargs['context'] = [mx.cpu(0), mx.cpu(1)]
    _, weights = train(update_freq, 5, optimizer_params={'learning_rate': .05}, **kwargs)
    expected = by_hand(update_freq, 5, .05)
    np.testing.assert_allclose(weights['fc_weight'] + weights['fc_bias'], expected, rtol=1e-4, atol=1e-5)


def test_training_that_begins_in_the_middle_of_a_period():
    _, weights = train(2, 4, begin_epoch=1, optimizer_params={'learning_rate': .05})
    np.testing.assert_allclose(weights['fc_weight'] + weights['fc_bias'], by_hand(2, 4, .05, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('value, error', [(None, TypeError), ('a', TypeError), (1.5, TypeError), (True, TypeError),
                                          (0, ValueError), (-1, ValueError)])
def test_wrong_periods(value, error):
    with pytest.raises(error):
        module(value)


def test_without_epochs():
    with pytest.raises(AssertionError):
        module().fit(data(), eval_metric='mse')


def prepared():
    made, batches = module(), data()
    made.bind(batches.provide_data, batches.provide_label)
    made.init_params(arg_params={name: mx.nd.array(value) for name, value in START.items()})
    made.init_optimizer(optimizer_params={'learning_rate': .05})
    return made, batches


def test_step_by_step():
    made, batches = prepared()
    batch = next(iter(data()))
    made.forward(batch, is_train=True)
    made.backward()
    made.update_full_grads(batches)
    assert len(list(batches)) == 4      # it begins anew
    mean = {name: grad.asnumpy() for name, grad in made._param_dict[0].items()}
    assert mean.keys() == START.keys() and np.abs(mean['fc_weight']).min() > 0
    made.forward(batch, is_train=True)
    made.backward()
    made.update()       # the weights are those of the copy: the gradient is the mean
    np.testing.assert_allclose(made._exec_group.grad_arrays[0][0].asnumpy(), mean['fc_weight'], rtol=1e-5)
    np.testing.assert_allclose(made.get_params()[0]['fc_weight'].asnumpy(), START['fc_weight'] - .05 / 8 * mean['fc_weight'], rtol=1e-5)
    assert made.predict(data()).shape == (32, 1) and made.score(data(), 'mse')[0][1] > 0
    made.reshape([('data', (4, 4))], [('label', (4,))])
    made.forward(mx.io.DataBatch([mx.nd.ones((4, 4))], [mx.nd.ones(4)]), is_train=True)
    made.backward()
    made.update()
    assert made.get_outputs()[0].shape == (4, 1)


def test_without_batches():
    class Nothing(mx.io.DataIter):
        def next(self):
            raise StopIteration
    made, _ = prepared()
    with pytest.raises(ValueError, match='no batches'):
        made.update_full_grads(Nothing())
    with pytest.raises(AssertionError):
        module().update_full_grads(data())


def test_frozen_weights_have_no_mean():
    made = module(fixed_param_names=['fc_bias'])
    made.fit(data(), eval_metric='mse', num_epoch=2, arg_params={name: mx.nd.array(value) for name, value in START.items()})
    assert made.get_params()[0]['fc_bias'].asnumpy() == START['fc_bias'] and list(made._param_dict[0]) == ['fc_weight']


def test_saved_files_are_those_of_a_module(tmp_path):
    made, batches = prepared()
    made.update_full_grads(batches)
    made.save_checkpoint(str(tmp_path / 'net'), 1, save_optimizer_states=True)
    assert sorted(mx.nd.load(str(tmp_path / 'net-0001.params'))) == ['arg:fc_bias', 'arg:fc_weight']
    assert mx.mod.Module.load(str(tmp_path / 'net'), 1, label_names=['label']).symbol.list_outputs() == ['out_output']


def test_optimizers_by_key():
    made = mx.optimizer.create('_SVRGOptimizer', default_optimizer='sgd', learning_rate=.5, param_idx2name={0: 'w', 1: 'w_full'})
    assert made.default_opt.lr == .5 and isinstance(made.aux_opt, svrg_optimizer._AssignmentOptimizer)
    for key, expected in ((0, -1), (1, 4), ('x_full', 4), ('x', -1)):
        weight = mx.nd.ones(2)
        made.update(key, weight, mx.nd.full(2, 4), made.create_state(key, weight))
        assert (weight.asnumpy() == expected).all(), key
    assert svrg_optimizer._SVRGOptimizer(mx.optimizer.Adam(learning_rate=.3)).default_opt.lr == .3


def test_a_second_training_tells_that_both_modules_are_bound(caplog):
    trained = module(2)
    for _ in range(2):
        caplog.clear()
        with caplog.at_level('WARNING'):
            trained.fit(data(), eval_metric='mse', num_epoch=1)
    told = [record.getMessage() for record in caplog.records]
    assert told == ['Already bound, ignoring bind()'] * 2 + ['optimizer already initialized, ignoring...']
