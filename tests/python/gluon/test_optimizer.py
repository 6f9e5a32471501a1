"""Every optimizer against its formula in float64 NumPy; states, multipliers, counting,
serialisation."""
import math
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, optimizer as opt
from op_cases.optimizer import OPTIMIZERS

pytestmark = pytest.mark.on_gpu

SHAPE = (3, 4)
STEPS = 6


# ---- references: coroutines that are sent gradients and change the weight in place ----

def clipped(g, o):
    g = g * o.get('rescale_grad', 1.0)
    c = o.get('clip_gradient')
    return g if c is None else np.clip(g, -c, c)


def sgd(w, o):
    mom = np.zeros_like(w)
    lr, wd, m = o['learning_rate'], o.get('wd', 0), o.get('momentum', 0)
    while True:
        mom[:] = m * mom - lr * (clipped((yield), o) + wd * w)
        w += mom


def nag(w, o):
    mom = np.zeros_like(w)
    lr, wd, m = o['learning_rate'], o.get('wd', 0), o.get('momentum', 0)
    while True:
        g = clipped((yield), o)
        step = lr * (g + wd * w)
        w += m * (m * mom - step) - step if m else -step
        mom[:] = m * mom - lr * (g + wd * w)    # with the new weight, as 1.9.1


def adam(w, o, b1=0.9, b2=0.999, eps=1e-8):
    m, v, t = np.zeros_like(w), np.zeros_like(w), 0
    b1, b2, eps = o.get('beta1', b1), o.get('beta2', b2), o.get('epsilon', eps)
    while True:
        g = (yield) * o.get('rescale_grad', 1.0) + o.get('wd', 0) * w
        c = o.get('clip_gradient')
        g = g if c is None else np.clip(g, -c, c)
        t += 1
        m[:] = b1 * m + (1 - b1) * g
        v[:] = b2 * v + (1 - b2) * g * g
        w -= o['learning_rate'] * math.sqrt(1 - b2 ** t) / (1 - b1 ** t) * m / (np.sqrt(v) + eps)


def adamax(w, o):
    m, u, t = np.zeros_like(w), np.zeros_like(w), 0
    while True:
        g = (yield) * o.get('rescale_grad', 1.0) + o.get('wd', 0) * w
        c = o.get('clip_gradient')
        g = g if c is None else np.clip(g, -c, c)
        t += 1
        m[:] = 0.9 * m + 0.1 * g
        u[:] = np.maximum(0.999 * u, np.abs(g))
        w -= o['learning_rate'] / (1 - 0.9 ** t) * m / u


def nadam(w, o):
    m, v, t, product = np.zeros_like(w), np.zeros_like(w), 0, 1.0
    decay = o.get('schedule_decay', 0.004)
    while True:
        g = (yield) * o.get('rescale_grad', 1.0) + o.get('wd', 0) * w
        c = o.get('clip_gradient')
        g = g if c is None else np.clip(g, -c, c)
        t += 1
        mu, mu1 = (0.9 * (1 - 0.5 * 0.96 ** (k * decay)) for k in (t, t + 1))
        product *= mu
        m[:] = 0.9 * m + 0.1 * g
        v[:] = 0.999 * v + 0.001 * g * g
        mean = (1 - mu) * g / (1 - product) + mu1 * m / (1 - product * mu1)
        w -= o['learning_rate'] * mean / (np.sqrt(v / (1 - 0.999 ** t)) + 1e-8)


def adagrad(w, o):
    h = np.zeros_like(w)
    while True:
        g = clipped((yield), o)
        h += g * g
        w -= o['learning_rate'] * (g / np.sqrt(h + o.get('eps', 1e-7)) + o.get('wd', 0) * w)


def adadelta(w, o):
    g2, d2 = np.zeros_like(w), np.zeros_like(w)
    rho, eps = o.get('rho', 0.9), o.get('epsilon', 1e-5)
    while True:
        g = clipped((yield), o)
        g2[:] = rho * g2 + (1 - rho) * g * g
        d = np.sqrt(d2 + eps) / np.sqrt(g2 + eps) * g
        d2[:] = rho * d2 + (1 - rho) * d * d
        w -= d + o.get('wd', 0) * w


def ftml(w, o):
    d, v, z, t = np.zeros_like(w), np.zeros_like(w), np.zeros_like(w), 0
    b1, b2, eps = o.get('beta1', 0.6), 0.999, 1e-8
    while True:
        g = (yield) * o.get('rescale_grad', 1.0) + o.get('wd', 0) * w
        c = o.get('clip_gradient')
        g = g if c is None else np.clip(g, -c, c)
        t += 1
        v[:] = b2 * v + (1 - b2) * g * g
        new = (1 - b1 ** t) / o['learning_rate'] * (np.sqrt(v / (1 - b2 ** t)) + eps)
        z[:] = b1 * z + (1 - b1) * g - (new - b1 * d) * w
        d[:] = new
        w[:] = -z / d


def dcasgd(w, o):
    mom, previous = np.zeros_like(w), w.copy()
    while True:
        g = clipped((yield), o)
        mom[:] = o.get('momentum', 0) * mom - o['learning_rate'] * (
            g + o.get('wd', 0) * w + o.get('lamda', 0.04) * g * g * (w - previous))
        previous[:] = w
        w += mom


def lars(w, o):
    mom = np.zeros_like(w)
    while True:
        raw, wd = (yield), o.get('wd', 0)
        w_norm, g_norm = np.linalg.norm(w), np.linalg.norm(raw) * o.get('rescale_grad', 1.0)
        trust = o.get('eta', 0.001) * w_norm / (g_norm + wd * w_norm + o.get('eps', 0))
        mom[:] = o.get('momentum', 0) * mom - o['learning_rate'] * trust * (clipped(raw, o) + wd * w)
        w += mom


def lamb(w, o):
    m, v, t = np.zeros_like(w), np.zeros_like(w), 0
    while True:
        g = clipped((yield), o)
        t += 1
        m[:] = 0.9 * m + 0.1 * g
        v[:] = 0.999 * v + 0.001 * g * g
        correct = o.get('bias_correction', True)
        m1, v1 = (m / (1 - 0.9 ** t), v / (1 - 0.999 ** t)) if correct else (m, v)
        d = m1 / (np.sqrt(v1) + 1e-6) + o.get('wd', 0) * w
        r1, r2 = np.linalg.norm(w), np.linalg.norm(d)
        r1 = max(r1, o.get('lower_bound') or r1)
        r1 = min(r1, o.get('upper_bound') or r1)
        w -= o['learning_rate'] * (r1 / r2 if r1 and r2 else 1) * d


def lbsgd(w, o):
    mom, calls, total = np.zeros_like(w), 0, np.zeros_like(w)
    scale, length = o.get('batch_scale', 1), o.get('warmup_epochs', 5) * o.get('updates_per_epoch', 32)
    while True:
        total += (yield)
        calls += 1
        if calls % scale:
            continue
        factor = scale if calls >= length else 1 + (scale - 1) * calls / length
        mom[:] = o.get('momentum', 0) * mom - o['learning_rate'] * factor * (clipped(total / scale, o) + o.get('wd', 0) * w)
        w += mom
        total[:] = 0


def group_adagrad(w, o):
    h = np.zeros((w.shape[0], 1))
    while True:
        g = clipped((yield), o)
        h += (g * g).mean(axis=1, keepdims=True)
        w -= o['learning_rate'] * g / np.sqrt(h + 1e-5)


def plain_test(w, o):
    while True:
        w += (yield) * o.get('rescale_grad', 1.0)


# whose steps are more than one call of an update operator; op_cases/optimizer.py has the others
CASES = OPTIMIZERS + [
    ('adam', adam, {}), ('adam', adam, {'beta1': 0.5, 'beta2': 0.9, 'epsilon': 1e-3}),
    ('adamax', adamax, {}), ('nadam', nadam, {}), ('nadam', nadam, {'schedule_decay': 0.1}),
    ('adagrad', adagrad, {}), ('adagrad', adagrad, {'eps': 1e-2}), ('adadelta', adadelta, {}),
    ('adadelta', adadelta, {'rho': 0.5, 'epsilon': 1e-2}),
    ('ftml', ftml, {}), ('ftml', ftml, {'beta1': 0.3}),
    ('dcasgd', dcasgd, {}), ('dcasgd', dcasgd, {'momentum': 0.9, 'lamda': 0.3}),
    ('lars', lars, {}), ('lars', lars, {'momentum': 0.9, 'eta': 0.1, 'eps': 1e-3}),
    ('lamb', lamb, {}), ('lamb', lamb, {'bias_correction': False}), ('lamb', lamb, {'lower_bound': 4.0}),
    ('lamb', lamb, {'upper_bound': 0.5}),
    ('lbsgd', lbsgd, {}), ('lbsgd', lbsgd, {'momentum': 0.9, 'batch_scale': 2, 'updates_per_epoch': 1}),
    ('groupadagrad', group_adagrad, {}), ('test', plain_test, {}),
]
COMMON = [{}, {'wd': 0.05, 'rescale_grad': 0.5}, {'clip_gradient': 0.4, 'rescale_grad': 2.0, 'wd': 0.03}]


def reference(make, weights, options, grads):
    """Weights after the steps, in float64."""
    weights = [w.astype(np.float64) for w in weights]
    for i, w in enumerate(weights):
        runner = make(w, options)
        next(runner)
        for step in grads:
            runner.send(step[i].astype(np.float64))
    return weights


def random_case(count, seed=0):
    rng = np.random.RandomState(seed)
    weights = [rng.randn(*SHAPE).astype('float32') for _ in range(count)]
    grads = [[rng.randn(*SHAPE).astype('float32') for _ in range(count)] for _ in range(STEPS)]
    return weights, grads


def train(optimizer, weights, grads, dtype='float32', aggregated=None):
    updater = opt.get_updater(optimizer)
    if aggregated is not None:
        updater.aggregate_updates = aggregated
    arrays = [nd.array(w, dtype=dtype) for w in weights]
    for step in grads:
        updater(list(range(len(arrays))), [nd.array(g, dtype=dtype) for g in step], arrays)
    return [a.asnumpy() for a in arrays], updater


@pytest.mark.parametrize('common', COMMON, ids=['plain', 'decay', 'clip'])
@pytest.mark.parametrize('name, make, extra', CASES, ids=[f'{n}-{i}' for i, (n, _, _) in enumerate(CASES)])
def test_against_float64(name, make, extra, common):
    options = {'learning_rate': 0.05, **common, **extra}
    if name == 'groupadagrad':
        options.pop('wd', None)
    count = 1 if name == 'nadam' else 3          # its schedule is one for all weights
    weights, grads = random_case(count)
    got, _ = train(opt.create(name, **options), weights, grads)
    for a, b in zip(got, reference(make, weights, options, grads)):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize('count', [1, 4, 5, 9])
@pytest.mark.parametrize('momentum', [0, 0.9])
@pytest.mark.parametrize('dtype, multi_precision', [('float32', False), ('float16', True), ('float16', False), ('bfloat16', True)])
def test_aggregated_sgd_is_the_same_as_one_by_one(count, momentum, dtype, multi_precision):
    weights, grads = random_case(count)
    results = []
    for aggregated in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            optimizer = opt.SGD(momentum=momentum, learning_rate=0.1, wd=0.01, multi_precision=multi_precision,
                                clip_gradient=1.0)
            results.append(train(optimizer, weights, grads, dtype, aggregated)[0])
    for a, b in zip(*results):
        np.testing.assert_allclose(a.astype('f8'), b.astype('f8'), rtol=0, atol={'float16': 1e-2, 'bfloat16': 5e-2}.get(dtype, 1e-6))


@pytest.mark.parametrize('name', ['lamb', 'lans', 'adamw', 'adabelief'])
@pytest.mark.parametrize('dtype, multi_precision', [('float32', False), ('float16', True), ('float16', False), ('bfloat16', True)])
def test_aggregated_moments_are_the_same_as_one_by_one(name, dtype, multi_precision):
    weights, grads = random_case(5)
    results = []
    for aggregated in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            optimizer = opt.create(name, learning_rate=0.1, wd=0.01, multi_precision=multi_precision, clip_gradient=1.0)
            results.append(train(optimizer, weights, grads, dtype, aggregated)[0])
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize('name', ['adamw', 'adabelief'])
def test_steps_whose_scale_overflowed_change_nothing(name):
    optimizer = opt.create(name, learning_rate=0.1, wd=0.01)
    weights, grads = random_case(3)
    optimizer.rescale_grad = float('nan')
    for a, b in zip(train(optimizer, weights, grads)[0], weights):
        np.testing.assert_array_equal(a, b)


def test_aggregate_num():
    assert opt.LAMB().aggregate_num == 45 and opt.LANS().aggregate_num == 4 and opt.LANS(aggregate_num=7).aggregate_num == 7
    assert opt.AdamW().aggregate_num == opt.AdaBelief().aggregate_num == 4
    code = ("import mxnet.optimizer as o; print(o.LAMB().aggregate_num, o.LANS().aggregate_num, "
            "o.AdamW().aggregate_num, o.AdaBelief().aggregate_num)")
    env = dict(os.environ, MXNET_OPTIMIZER_AGGREGATION_SIZE='50')
    assert subprocess.run([sys.executable, '-c', code], env=env, check=True, capture_output=True, text=True).stdout == '45 4 50 50\n'


def test_aggregated_weights_of_different_dtypes_are_grouped():
    optimizer = opt.SGD(learning_rate=0.5)
    updater = opt.get_updater(optimizer)
    weights = [nd.ones((2,), dtype=t) for t in ('float32', 'float64', 'float32', 'float64')]
    updater([0, 1, 2, 3], [nd.ones((2,), dtype=w.dtype) for w in weights], weights)
    assert [w.asnumpy().tolist() for w in weights] == [[0.5, 0.5]] * 4
    assert [np.dtype(w.dtype).name for w in weights] == ['float32', 'float64', 'float32', 'float64']


@pytest.mark.parametrize('name, make, extra', [('sgd', sgd, {'momentum': 0.9}), ('sgd', sgd, {}), ('nag', nag, {'momentum': 0.9}),
                                               ('adam', adam, {}), ('adagrad', adagrad, {}), ('lars', lars, {'momentum': 0.9}),
                                               ('lamb', lamb, {}),
                                               *(c for c in OPTIMIZERS if c[0] in ('lans', 'adamw', 'adabelief') and not c[2])])
def test_multi_precision_keeps_a_float32_copy(name, make, extra):
    options = {'learning_rate': 0.01, 'wd': 0.01, **extra}
    weights, grads = random_case(2)
    weights = [w.astype('float16') for w in weights]
    grads = [[g.astype('float16') for g in step] for step in grads]
    got, updater = train(opt.create(name, multi_precision=True, **options), weights, grads, 'float16')
    for a, b in zip(got, reference(make, weights, options, grads)):
        assert a.dtype == np.float16
        np.testing.assert_allclose(a.astype('f8'), b, rtol=1e-3, atol=1e-3)
    flat = []

    def collect(state):
        if isinstance(state, (tuple, list)):
            for part in state:
                collect(part)
        elif state is not None:
            flat.append(np.dtype(state.dtype).name)
    collect(updater.states[0])
    assert flat and set(flat) == {'float32'}


def test_16_bits_without_multi_precision_warn():
    with pytest.warns(UserWarning, match='multi_precision'):
        opt.Adam().create_state_multi_precision(0, nd.ones((2,), dtype='float16'))


def test_sgld_adds_noise_of_the_right_size():
    mx.random.seed(3)
    weight = nd.zeros((200, 200))
    opt.get_updater(opt.SGLD(learning_rate=0.04))(0, nd.ones((200, 200)), weight)
    value = weight.asnumpy()
    assert abs(value.mean() + 0.02) < 0.005 and abs(value.std() - 0.2) < 0.005


def test_adamax_leaves_weights_without_gradient_alone():
    weight = nd.ones((2,))
    opt.get_updater(opt.Adamax())(0, nd.array([0.0, 1.0]), weight)
    assert weight.asnumpy().tolist() == pytest.approx([1, 0.998])


def test_lars_takes_biases_as_they_are_and_corrects_momentum():
    names = {0: 'a_weight', 1: 'a_bias', 2: 'a_gamma'}
    optimizer = opt.LARS(learning_rate=0.1, eta=0.001, wd=0.1, param_idx2name=names)
    assert optimizer.wd_mult == {'a_bias': 0.0, 'a_gamma': 0.0}
    weights, grads = random_case(3)
    got, _ = train(optimizer, weights, grads[:1])
    np.testing.assert_allclose(got[1], weights[1] - 0.1 * grads[0][1], rtol=1e-5)
    assert np.abs(got[0] - weights[0]).max() < 1e-3
    optimizer = opt.LARS(learning_rate=0.1, momentum=0.5, eta=1.0, param_idx2name={0: 'a_weight'})
    weight, updater = nd.ones((1,)), opt.get_updater(optimizer)
    updater(0, nd.ones((1,)), weight)                    # mom = -0.1, weight 0.9
    optimizer.set_learning_rate(0.2)
    updater(0, nd.ones((1,)), weight)                    # mom = 0.5 * 2 * -0.1 - 0.2 * 0.9
    assert weight.asscalar() == pytest.approx(0.9 - 0.1 - 0.18)


def test_multipliers():
    names = {0: 'fc_weight', 1: 'fc_bias', 2: 'bn_gamma', 3: 'bn_beta', 4: 'foo'}
    optimizer = opt.SGD(param_idx2name=names, wd=0.1, learning_rate=0.2)
    assert optimizer._get_wds(list(range(6))) == pytest.approx([0.1, 0, 0.1, 0, 0, 0.1])
    optimizer.set_lr_mult({'foo': 3, 5: 4})
    optimizer.set_wd_mult({'foo': 3, 5: 4, 'fc_bias': 1})
    assert optimizer._get_lrs(list(range(6))) == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.6, 0.8])
    assert optimizer._get_wds(list(range(6))) == pytest.approx([0.1, 0.1, 0.1, 0, 0.3, 0.4])

    class Parameter:
        lr_mult, wd_mult = 0.5, 2.0

    optimizer.param_dict = {0: Parameter}
    assert (optimizer._get_lr(0), optimizer._get_wd(0)) == (pytest.approx(0.1), pytest.approx(0.2))


def test_multipliers_of_a_symbol():
    data = mx.sym.var('data', lr_mult=2)
    net = mx.sym.FullyConnected(data, mx.sym.var('fc_weight', lr_mult=0.5, wd_mult=0.3), num_hidden=2, name='fc')
    optimizer = opt.SGD(sym=net, param_idx2name={0: 'fc_weight', 1: 'fc_bias'}, wd=0.1, learning_rate=0.2)
    assert optimizer._get_lrs([0, 1]) == pytest.approx([0.1, 0.2])
    assert optimizer._get_wds([0, 1]) == pytest.approx([0.03, 0])


def test_scheduler_follows_the_updates():
    schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5)
    optimizer = opt.SGD(learning_rate=0.8, lr_scheduler=schedule)
    assert schedule.base_lr == 0.8
    weight, updater = nd.zeros((1,)), opt.get_updater(optimizer)
    for expected in (-0.8, -1.2, -1.4):
        updater(0, nd.ones((1,)), weight)
        assert weight.asscalar() == pytest.approx(expected)
    with pytest.raises(UserWarning):
        optimizer.set_learning_rate(1)
    assert opt.Ftrl(lr_scheduler=mx.lr_scheduler.FactorScheduler(step=1, base_lr=0.7)).learning_rate == 0.7


def test_updates_are_counted_by_weight_and_device():
    optimizer = opt.Adam(begin_num_update=10)
    updater = opt.get_updater(optimizer)
    weight = nd.zeros((1,))
    for index in (0, 0, 1):
        updater(index, nd.ones((1,)), weight)
    assert optimizer.num_update == 12 and optimizer._index_update_count == {0: 12, 1: 11}
    optimizer._set_current_context(3)
    optimizer._update_count([0, 1])
    assert optimizer._index_update_count == {0: 11, 1: 11} and optimizer.num_update == 12


def test_states_go_through_pickle():
    optimizer = opt.SGD(momentum=0.9, learning_rate=0.1)
    weights, grads = random_case(3)
    arrays = [nd.array(w) for w in weights]
    updater = opt.get_updater(optimizer)
    updater([0, 1, 2], [nd.array(g) for g in grads[0]], arrays)
    saved, with_optimizer = updater.get_states(), updater.get_states(dump_optimizer=True)
    copies = [a.copy() for a in arrays]
    updater([0, 1, 2], [nd.array(g) for g in grads[1]], arrays)
    for blob, fresh in ((saved, opt.SGD(momentum=0.9, learning_rate=0.1)), (with_optimizer, opt.Adam())):
        other = opt.get_updater(fresh)
        other.set_states(blob)
        assert isinstance(other.optimizer, opt.SGD) and not any(other.states_synced.values())
        again = [c.copy() for c in copies]
        other([0, 1, 2], [nd.array(g) for g in grads[1]], again)
        for a, b in zip(again, arrays):
            assert (a.asnumpy() == b.asnumpy()).all()
    assert other.optimizer.num_update == 2


def test_an_optimizer_pickles_without_its_parameters():
    class Unpicklable:
        lr_mult = wd_mult = 1.0

        def __reduce__(self):
            raise RuntimeError

    optimizer = opt.Adam(param_dict={0: Unpicklable()})
    optimizer._set_current_context(2)
    optimizer._update_count(5)
    copy = pickle.loads(pickle.dumps(optimizer))
    assert copy.param_dict == {} and copy._index_update_count == {5: 1}
    copy._update_count(5)
    assert copy._all_index_update_counts[2] == {5: 2}


def test_create_and_register():
    assert isinstance(opt.create('AdAm', learning_rate=0.1), opt.Adam)
    assert isinstance(opt.Optimizer.create_optimizer('sgd'), opt.SGD)
    with pytest.raises(ValueError, match='no_such'):
        opt.create('no_such')

    @opt.register
    class MyOptimizer(opt.Optimizer):
        def update(self, index, weight, grad, state):
            weight[:] -= grad

    weight = nd.ones((2,))
    opt.get_updater(opt.create('myoptimizer'))(0, nd.ones((2,)), weight)
    assert weight.asnumpy().tolist() == [0, 0]
    with pytest.raises(TypeError):
        opt.SGD(param_idx2name=3)
    with pytest.raises(TypeError):
        opt.get_updater(3)
    with pytest.raises(NotImplementedError):
        opt.Optimizer().update(0, weight, weight, None)


@pytest.mark.parametrize('value, groups', [(None, [4, 1]), ('1', [1] * 5), ('2', [2, 2, 1]), ('60', [5])])
def test_aggregation_size_is_a_variable_of_the_environment(value, groups):
    script = '''
import mxnet as mx
from mxnet import nd
updater = mx.optimizer.get_updater(mx.optimizer.SGD())
groups, update = [], updater.optimizer.update_multi_precision
def count(index, *rest):
    groups.append(len(index))
    update(index, *rest)
updater.optimizer.update_multi_precision = count
weights = [nd.ones((2,)) for _ in range(5)]
updater(list(range(5)), [nd.ones((2,)) for _ in range(5)], weights)
nd.waitall()
print(groups)
'''
    environment = {k: v for k, v in os.environ.items() if k != 'MXNET_OPTIMIZER_AGGREGATION_SIZE'}
    if value is not None:
        environment['MXNET_OPTIMIZER_AGGREGATION_SIZE'] = value
    run = subprocess.run([sys.executable, '-c', script], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(groups)


def test_compare_optimizer_helper():
    mx.test_utils.compare_optimizer(opt.SGD(momentum=0.9), opt.SGD(momentum=0.9), (3, 4), np.float32)
    with pytest.raises(AssertionError):
        mx.test_utils.compare_optimizer(opt.SGD(learning_rate=1), opt.SGD(learning_rate=0.5), (3, 4), np.float32)


@pytest.mark.filterwarnings('error')
def test_line_about_two_learning_rates(capsys):
    """An optimizer's default rate replaces the schedule's, which 1.9.1 and 2.0 print."""
    mx.optimizer.SGD(learning_rate=0.5, lr_scheduler=mx.lr_scheduler.FactorScheduler(10, base_lr=0.5))
    mx.optimizer.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(10, base_lr=0.5))
    assert capsys.readouterr().out == ''
    assert mx.optimizer.Adam(lr_scheduler=mx.lr_scheduler.FactorScheduler(10, base_lr=0.5)).learning_rate == 0.001
    assert capsys.readouterr().out == 'learning rate from ``lr_scheduler`` has been overwritten by ``learning_rate`` in optimizer.\n'


@pytest.mark.parametrize('fused', [None, False, True])
@pytest.mark.parametrize('base', [mx.optimizer.Optimizer, mx.optimizer.SGD])
def test_classes_of_2_0_define_steps_of_lists(base, fused):
    class Momentum(base):
        def __init__(self, **kwargs):
            super().__init__(use_fused_step=fused, **kwargs)
            self.calls = []

        def create_state(self, index, weight):
            return mx.nd.zeros_like(weight)

        def step(self, indices, weights, grads, states):
            self.calls.append('step')
            self._update_count(indices)
            for i, weight, grad, state in zip(indices, weights, grads, states):
                state[:] = 0.5 * state + grad * self.rescale_grad
                weight[:] -= self._get_lr(i) * state

        def fused_step(self, indices, weights, grads, states):
            self.step(indices, weights, grads, states)
            self.calls[-1] = 'fused'

    for dtype in ('float32', 'float16'):
        optimizer = Momentum(learning_rate=1, multi_precision=True)
        update, weight = mx.optimizer.get_updater(optimizer), mx.nd.zeros(2, dtype=dtype)
        for _ in range(2):
            update(0, mx.nd.ones(2, dtype=dtype), weight)
        assert weight.asnumpy().tolist() == [-2.5, -2.5] and optimizer.num_update == 2
        assert optimizer.calls == ['fused' if fused else 'step'] * 2


def test_lbsgd_with_a_state_of_its_own():
    """create_state gives the float32 copy of a float16 weight as well, as in 1.9.1."""
    for momentum, want in ((0.9, 0.97216796875), (0.0, 0.98486328125)):
        optimizer = mx.optimizer.LBSGD(momentum=momentum, multi_precision=True)
        weight, grad = mx.nd.ones(2, dtype="float16"), mx.nd.full(2, 0.5, dtype="float16")
        state = optimizer.create_state(0, weight)
        assert [None if s is None else s.dtype for s in state] == [np.float32 if momentum else None, np.float32]
        for _ in range(3):
            optimizer.update(0, weight, grad, state)
        np.testing.assert_array_equal(weight.asnumpy(), [want, want])
