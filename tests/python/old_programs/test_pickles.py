"""Pickles exchanged with MXNet 1.9.1: optimizer states, arrays, symbols, parameters, metrics, ...
(data written by pickled_objects.py)."""
import copy
import json
import os
import pickle
import pickletools

import numpy as np
import pytest

import mxnet as mx
import pickled_objects as described

with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), 'data', 'pickles_1.9.1.json')) as _file:
    RECORDED = json.load(_file)


def test_what_1_9_1_wrote_is_read():
    """Objects show the same values, metrics count on, and optimizers make the same next steps."""
    assert len(RECORDED['objects']) > 55 and len(RECORDED['optimizers']) == len(described.OPTIMIZERS)
    assert not list(described.differences(mx, RECORDED))


def globals_and_keys(data):
    """Names that a pickle imports, and all strings in it (the keys of states among them)."""
    names, strings = set(), []
    for code, arg, _ in pickletools.genops(data):
        if code.name == 'GLOBAL':
            names.add(arg.replace(' ', '.'))
        elif 'UNICODE' in code.name:
            strings.append(arg)
    return {n for n in names if n.startswith('mxnet')}, strings


def lacking(old, new):
    """What 1.9.1 would miss in our pickle `new` of an object that it pickled as `old`."""
    (old_names, old_strings), (new_names, new_strings) = globals_and_keys(old), globals_and_keys(new)
    made_by_enter = {'_old_scope', '_old_manager', '_old_ctx', 'device_id', 'device_typeid', 'f8',
                     'i8', 'b', 'latin1'}     # a context is pickled by its constructor; NumPy's own
    keys = {s for s in old_strings if s.isidentifier() and not s.startswith('Constant_')} - made_by_enter
    return sorted(new_names - old_names - {'mxnet.initializer.Constant', 'mxnet.base._Null'}) + sorted(keys - set(new_strings))


def test_what_we_write_1_9_1_reads():
    """Ours names only classes that 1.9.1 has, and every key of the states that 1.9.1 writes (run
    once by hand: `pickled_objects.py read` under 1.9.1)."""
    ours = json.loads(json.dumps(described.record(mx), default=lambda number: number.item()))
    wrong = {}
    for kind in ('objects', 'metrics'):
        for name, (text, _) in RECORDED[kind].items():
            wrong[name] = lacking(described.from_text(text), described.from_text(ours[kind][name][0]))
    for name, entry in RECORDED['optimizers'].items():
        for part in ('states', 'both'):
            wrong[f'{name} {part}'] = lacking(described.from_text(entry[part]), described.from_text(ours['optimizers'][name][part]))
    assert not {name: what for name, what in wrong.items() if what}


@pytest.mark.parametrize('protocol', range(pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_and_symbols_at_every_protocol(protocol):
    for value in (mx.nd.array([[1, 2], [3, 4]], dtype='float16'),
                  mx.nd.array([1], dtype='bfloat16'), mx.sym.Variable('x') * 2,
                  mx.sym.Group([mx.sym.Variable('a'), mx.sym.Variable('b')])):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert type(again) is type(value)
        if isinstance(value, mx.nd.NDArray):
            assert again.dtype == value.dtype
            np.testing.assert_array_equal(again.asnumpy(), value.asnumpy())
        else:
            assert again.tojson() == value.tojson()


def test_states_of_arrays_and_symbols():
    a = mx.nd.array([1, 2, 3])
    constructor, arguments, state = a.__reduce__()
    assert constructor is mx.nd.NDArray and arguments == (None,) and isinstance(state['handle'], bytearray)
    b = mx.nd.zeros((7,))
    b.__setstate__(state)
    assert b.asnumpy().tolist() == [1, 2, 3]
    b.__setstate__({'handle': None})
    assert b.__getstate__() == {'handle': None} and mx.nd.NDArray(None).__getstate__() == {'handle': None}
    for kind in (bytes, bytearray, memoryview):
        b.__setstate__({'handle': kind(state['handle'])})
        assert b.asnumpy().tolist() == [1, 2, 3]
        for damaged in (state['handle'][:20], b'', b'x' * 40):
            with pytest.raises(mx.MXNetError):
                b.__setstate__({'handle': kind(damaged)})
            assert b.asnumpy().tolist() == [1, 2, 3]
    for other in (id(b), 'text', 1.5):      # no address is read
        with pytest.raises(TypeError):
            b.__setstate__({'handle': other})
    row = mx.nd.array([[0, 0], [1, 2]]).tostype('row_sparse')
    again = pickle.loads(pickle.dumps(row))
    assert type(again) is type(row) and again.asnumpy().tolist() == [[0, 0], [1, 2]]
    x = mx.sym.Variable('x')
    y = mx.sym.Symbol(None)
    y.__setstate__(x.__getstate__())
    assert y.list_arguments() == ['x']


def test_contexts_of_1_9_1_equal_ours():
    for name in ('ctx.list', 'ctx.cpu(3)', 'ctx.gpu(1)'):
        loaded = pickle.loads(described.from_text(RECORDED['objects'][name][0]))
        for context in loaded if isinstance(loaded, list) else [loaded]:
            own = mx.Context(context.device_type, context.device_id)
            assert context == own and own == context and not context != own and hash(context) == hash(own)
            assert mx.Context(context) is own and {own: 1}[context] == 1 and {context: 1}[own] == 1
            assert context != mx.cpu(77) and copy.copy(context) is own and pickle.loads(pickle.dumps(context)) is own
    assert mx.nd.zeros((1,), ctx=pickle.loads(described.from_text(RECORDED['objects']['ctx.cpu(3)'][0]))).context == mx.cpu(3)
    with pytest.raises(TypeError, match='no device type'):
        mx.Context()


def make_module(states=None):
    first, second = mx.sym.Variable('first_weight', shape=(2, 3)), mx.sym.Variable('second_weight', shape=(4, 1))
    mod = mx.mod.Module(mx.sym.MakeLoss(mx.sym.sum(mx.sym.Variable('data')) + mx.sym.sum(first) + mx.sym.sum(second)), label_names=None)
    mod.bind([('data', (2, 2))])
    mod.init_params(mx.init.One())
    mod.init_optimizer(kvstore=None, optimizer='adam')
    if states:
        mod.load_optimizer_states(states)
    return mod


def test_state_files_of_1_9_1_through_every_entry_point(tmp_path):
    """Trainer.load_states, Module.load_optimizer_states and kv.load_optimizer_states of files that
    hold what 1.9.1 wrote."""
    entry = RECORDED['optimizers']['adam']
    for part in ('states', 'both'):
        path = str(tmp_path / part)
        with open(path, 'wb') as out:
            out.write(described.from_text(entry[part]))
        kv = mx.kv.create('local')
        kv.set_optimizer(described.create_optimizer(mx, 'adam'))
        kv.load_optimizer_states(path)
        assert sorted(kv._updater.states) == [0, 1] and kv._updater.states[0][0].shape == (2, 3)
        module = make_module(path)
        assert module._updater.states[1][1].shape == (4, 1)
    params = [mx.gluon.Parameter(n, shape=s) for n, s in (('a', (2, 3)), ('b', (4, 1)))]
    for p, w in zip(params, entry['weights']):
        p.initialize()
        p.set_data(mx.nd.array(np.array(w)))
    trainer = mx.gluon.Trainer(params, 'adam', dict(wd=.5, rescale_grad=7.))
    trainer.load_states(str(tmp_path / 'both'))
    assert trainer.optimizer.wd == .01 and trainer.optimizer.num_update == 3
    for number in (3, 4, 5):
        for i, p in enumerate(params):
            described.step(mx, lambda _, g, w, index=i: trainer._updaters[0](index, g, w),
                           [p.data()], number) if i == 0 else trainer._updaters[0](
                1, mx.nd.array(np.cos(np.arange(4) * 2 + number).reshape(4, 1)), p.data())
    for p, w in zip(params, entry['after']):
        np.testing.assert_allclose(p.data().asnumpy(), np.array(w), 2e-5)


def test_parameters_train_after_pickling():
    p = mx.gluon.Parameter('w', shape=(2,), init='ones')
    p.initialize()
    q = pickle.loads(pickle.dumps(p))
    with mx.autograd.record():
        y = (q.data() * 3).sum()
    y.backward()
    assert q.grad().asnumpy().tolist() == [3, 3] and p.grad().asnumpy().tolist() == [0, 0]
    c = pickle.loads(pickle.dumps(mx.gluon.Constant('c', [1., 2.])))
    c.initialize()
    assert c.grad_req == 'null' and c.data().asnumpy().tolist() == [1, 2]
