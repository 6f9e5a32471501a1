"""The stores 'horovod' and 'byteps', over small modules in place of the packages. What they are
called with was recorded from 2.0.0b1 over such modules (BytePS: its documentation)."""
import sys
import types

import numpy as np
import pytest

import mxnet as mx

WORKERS = 3


@pytest.fixture(params=['horovod', 'byteps'])
def package(request, monkeypatch):
    """The name of a package, and the calls of a module in its place, in which all workers have the
    same values."""
    calls, module = [], types.ModuleType(request.param + '.mxnet')

    def note(name, result=None):
        def called(*args, **kwargs):
            calls.append((name, {k: v for k, v in kwargs.items() if not isinstance(v, mx.nd.NDArray)}))
            return result(*args, **kwargs) if result else None
        setattr(module, name, called)

    def in_place(tensor, **_):
        tensor *= WORKERS
        return tensor
    note('init')
    note('rank', lambda: 1)
    note('local_rank', lambda: 0)
    note('size', lambda: WORKERS)
    if request.param == 'horovod':
        note('broadcast', lambda tensor, root_rank, name, priority: tensor * 0 + 7)
        note('allreduce', lambda tensor, average, name, priority: tensor * WORKERS)
        note('allreduce_', in_place)
    else:
        note('byteps_declare_tensor')
        note('byteps_push_pull', in_place)
    parent = types.ModuleType(request.param)
    parent.mxnet = module
    monkeypatch.setitem(sys.modules, request.param, parent)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return request.param, calls


def test_they_are_made_by_name(package):
    name, calls = package
    store = mx.kv.create(name)
    assert isinstance(store, {'horovod': mx.kvstore.horovod.Horovod, 'byteps': mx.kvstore.byteps.BytePS}[name])
    assert isinstance(store, mx.kv.KVStoreBase) and calls == [('init', {})]
    assert (store.type, store.rank, store.local_rank, store.num_workers) == (name, 1, 0, WORKERS)
    assert store.is_capable('optimizer') is False


@pytest.mark.parametrize('name', ['horovod', 'byteps'])
def test_a_package_that_is_not_there_is_named_with_its_command(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match=f'{name}.mxnet.*pip install.*{name}') as info:
        mx.kv.create(name)
    assert info.value.name == name


@pytest.mark.parametrize('package', ['horovod'], indirect=True)
def test_horovod_adds_up_and_spreads(package):
    store, calls = mx.kv.create('horovod'), package[1]
    value, out, other = mx.nd.ones(2), mx.nd.zeros(2), mx.nd.zeros(2)
    store.broadcast(3, value, [out, other], priority=4)
    assert calls[-1] == ('broadcast', dict(root_rank=0, name='3', priority=4))
    assert out.asnumpy().tolist() == other.asnumpy().tolist() == [7, 7] and value.asnumpy().tolist() == [1, 1]
    store.pushpull('a', value, priority=-2)
    assert calls[-1] == ('allreduce_', dict(average=False, name='a', priority=-2)) and value.asnumpy().tolist() == [3, 3]
    store.pushpull(1, [value], out=[out])
    assert calls[-1] == ('allreduce', dict(average=False, name='1', priority=0))
    assert out.asnumpy().tolist() == [9, 9] and value.asnumpy().tolist() == [3, 3]
    store.pushpull(1, [value, out])                 # 2.0 gives each array its own sum, under one name
    assert value.asnumpy().tolist() == out.asnumpy().tolist() == [36, 36]
    with pytest.raises(TypeError, match='list.*one key'):
        store.pushpull(['a', 'b'], [value, out])
    with pytest.raises(TypeError, match='value is ndarray'):
        store.pushpull('a', np.ones(2))
    with pytest.raises(ValueError, match='out is an empty list'):
        store.broadcast('a', value, [])
    assert store.set_optimizer(mx.optimizer.create('sgd')) is None


@pytest.mark.parametrize('package', ['byteps'], indirect=True)
def test_byteps_adds_up_and_spreads(package, monkeypatch):
    store, calls = mx.kv.create('byteps'), package[1]
    value, out = mx.nd.ones(2), mx.nd.zeros(2)
    for call in (lambda: store.pushpull('a', value), lambda: store.broadcast('a', value, out)):
        with pytest.raises(ValueError, match=r'1 arrays on cpu\(0\); accepted: one, on a GPU'):
            call()
    monkeypatch.setattr(store, '_one_on_gpu', lambda value: value)     # what follows takes any context
    store.pushpull('a', value, priority=-2)
    assert [name for name, _ in calls[-2:]] == ['byteps_declare_tensor', 'byteps_push_pull']
    assert calls[-1][1] == dict(version=0, priority=-2, name='a', is_average=False) and value.asnumpy().tolist() == [3, 3]
    store.pushpull('a', value, out=out)
    assert value.asnumpy().tolist() == [3, 3] and out.asnumpy().tolist() == [9, 9]
    store.broadcast('a', value, out)                # worker 1 adds nothing
    assert out.asnumpy().tolist() == [0, 0] and value.asnumpy().tolist() == [3, 3]
    for call in (lambda: store.set_optimizer(None), lambda: store.save_optimizer_states('f'), lambda: store.load_optimizer_states('f')):
        with pytest.raises(NotImplementedError, match='BytePS'):
            call()


@pytest.mark.parametrize('package', ['horovod'], indirect=True)
@pytest.mark.parametrize('by_name', [True, False])
def test_a_trainer_adds_up_gradients_of_one_device(package, by_name):
    weight = mx.gluon.Parameter('weight', shape=(2,))
    weight.initialize(mx.init.Zero())
    trainer = mx.gluon.Trainer([weight], 'sgd', {'learning_rate': 1}, kvstore='horovod' if by_name else mx.kv.create('horovod'))
    with mx.autograd.record():
        loss = weight.data().sum()
    loss.backward()
    trainer.step(1)
    # The first worker's value is 7, and the sum of three gradients is 3.
    assert weight.data().asnumpy().tolist() == [4, 4]
