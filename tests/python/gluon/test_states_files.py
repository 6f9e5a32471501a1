"""Files of optimizer states: pickles as 1.9.1 writes and reads them, read without running them."""
import base64
import json
import os
import pickle
import pickletools

import numpy as np
import pytest

import mxnet as mx
from mxnet.optimizer._states_reader import read_states

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Scheduler:
    """A schedule as programs of 1.x have them, of no class of the library."""

    def __init__(self):
        self.scalar, self.matrix = np.float32(2), np.arange(6.).reshape(2, 3).T
        self.dtype, self.kind = np.dtype("float16"), np.float32

    def __call__(self, num_update):
        return .25


class OwnSchedule(mx.lr_scheduler.LRScheduler):
    def __call__(self, num_update):
        return .5


class OwnOptimizer(mx.optimizer.SGD):
    pass


class Evil:
    """What a pickle may do: call anything."""

    def __reduce__(self):
        return os.mkdir, ("made-by-a-file",)


def stepped(optimizer, dtype="float32"):
    updater = mx.optimizer.get_updater(optimizer)
    updater(0, mx.nd.ones(3, dtype=dtype), mx.nd.ones(3, dtype=dtype))
    return updater


def trainer_of(optimizer, **kwargs):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, **kwargs)
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 3))).sum()
    loss.backward()
    trainer.step(1)
    return trainer


@pytest.mark.parametrize("inner", [False, True])
def test_nothing_in_a_file_is_run(inner, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps({0: Evil()} if inner else Evil())
    path = tmp_path / "evil.states"
    path.write_bytes(data)
    trainer, store = trainer_of("adam"), mx.kv.create("local")
    store.set_optimizer(mx.optimizer.SGD())
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1), label_names=None)
    module.bind([("data", (4, 2))])
    module.init_params()
    module.init_optimizer(optimizer="adam")
    for load in (trainer.load_states, store.load_optimizer_states, module.load_optimizer_states):
        with pytest.raises(mx.MXNetError, match=r"evil\.states.*mkdir.*PS_ACCEPT_PICKLE"):
            load(str(path))
    with pytest.raises(mx.MXNetError, match="mkdir"):
        mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(data)
    assert not os.path.exists("made-by-a-file")
    monkeypatch.setenv("PS_ACCEPT_PICKLE", "1")
    try:
        mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(data)
    except mx.MXNetError:       # what the call gave is no state
        pass
    assert os.path.exists("made-by-a-file")


@pytest.mark.parametrize("update_on_kvstore", [False, True])
def test_a_checkpoint_is_resumed_without_pickle(update_on_kvstore, tmp_path, monkeypatch):
    trainer = trainer_of("adam", optimizer_params={"lr_scheduler": mx.lr_scheduler.FactorScheduler(5)}, update_on_kvstore=update_on_kvstore)
    path = str(tmp_path / "states")
    trainer.save_states(path)
    again = trainer_of("adam", update_on_kvstore=update_on_kvstore)
    again.set_learning_rate(7)
    monkeypatch.setattr(pickle, "loads", None)
    again.load_states(path)
    assert again.learning_rate == trainer.learning_rate and type(again.optimizer.lr_scheduler) is mx.lr_scheduler.FactorScheduler
    for updater, other in zip(trainer._own_updaters(), again._own_updaters()):
        for index, state in updater.states.items():
            for part, read in zip(state, other.states[index]):
                assert part.asnumpy().tolist() == read.asnumpy().tolist()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_classes_of_the_program(protocol):
    optimizer = OwnOptimizer(momentum=.9)
    optimizer.lr_scheduler = Scheduler()
    data = pickle.dumps((stepped(optimizer).states, optimizer), protocol)
    reader = mx.optimizer.get_updater(optimizer)
    reader.set_states(data)
    read = reader.optimizer
    assert type(read) is OwnOptimizer and read is not optimizer and read.momentum == .9
    schedule = read.lr_scheduler
    assert type(schedule) is Scheduler and schedule(1) == .25
    assert schedule.scalar == 2 and schedule.dtype == np.float16 and schedule.kind is np.float32
    assert schedule.matrix.tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(mx.MXNetError, match="Scheduler"):       # a class that this optimizer does not hold
        mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(data)
    optimizer.lr_scheduler = OwnSchedule()
    reader = mx.optimizer.get_updater(mx.optimizer.SGD())
    reader.set_states(pickle.dumps(({}, optimizer), protocol))
    assert type(reader.optimizer.lr_scheduler) is OwnSchedule


def test_states_of_every_kind():
    state = {0: None, "a": mx.nd.ones((2, 3), dtype="float16"), 2: (mx.nd.array([1, 2]).tostype("row_sparse"), None), 3: [1, 2.5, "x"],
             4: mx.nd.array([[0, 1]]).tostype("csr"), 5: np.arange(3), 6: mx.np.ones(2), b"key": True}
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    updater.set_states(pickle.dumps(state, 4))
    read = updater.states
    assert list(read) == [0, "a", 2, 3, 4, 5, 6, "key"] and read[0] is None and read[3] == [1, 2.5, "x"] and read["key"] is True
    assert read["a"].dtype == np.float16 and read["a"].asnumpy().tolist() == [[1] * 3] * 2
    assert read[2][0].stype == "row_sparse" and read[2][0].asnumpy().tolist() == [1, 2] and read[4].stype == "csr"
    assert read[5].tolist() == [0, 1, 2] and isinstance(read[6], mx.np.ndarray)


def test_files_of_1_9_1_are_read_without_pickle(monkeypatch):
    with open(os.path.join(HERE, "data", "pickles_1.9.1.json")) as file:
        recorded = json.load(file)["optimizers"]
    expected = {}
    for name, entry in recorded.items():
        for part in ("states", "both"):
            value = pickle.loads(base64.b64decode(entry[part]))
            expected[name, part] = value if part == "both" else (value, None)
    monkeypatch.setattr(pickle, "loads", None)
    for (name, part), (states, optimizer) in expected.items():
        updater = mx.optimizer.get_updater(mx.optimizer.SGD())
        updater.set_states(base64.b64decode(recorded[name][part]))
        assert repr(updater.states) == repr(states), name
        assert optimizer is None or type(updater.optimizer) is type(optimizer) and vars(updater.optimizer).keys() == vars(optimizer).keys()


def test_what_is_written_1_9_1_reads():
    """Protocol 4, which Python 3.8 has, and names that 1.9.1 has."""
    data = stepped(mx.optimizer.Adam()).get_states(dump_optimizer=True)
    strings = [argument for _, argument, _ in pickletools.genops(data) if isinstance(argument, str)]
    assert data[:2] == b"\x80\x04" and "mxnet.ndarray.ndarray" in strings and "mxnet.optimizer.optimizer" in strings


BROKEN = {"a dtype of objects": pickle.dumps({0: np.array([None, {}])}),
          "a context": b"\x80\x04cmxnet.context\nContext\n)\x81}b.", "arguments": b"\x80\x04cmxnet.optimizer.optimizer\nSGD\nK\x01\x85R.",
          "attributes": b"\x80\x04cmxnet.optimizer.optimizer\nSGD\n)\x81]b.",
          "values": b"\x80\x04}K\x00cmxnet.ndarray.ndarray\nNDArray\nN\x85R}X\x06\x00\x00\x00handleK\x07sbs."}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_pickles_are_errors(what):
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    with pytest.raises(mx.MXNetError, match="optimizer"):
        updater.set_states(BROKEN[what])


def arrays_pickled(size, count=4):
    """States of several arrays, which repeat the instructions of the second one."""
    return pickle.dumps({i: mx.nd.array([i] * size) for i in range(count)}, protocol=4)


@pytest.mark.parametrize("size", [3, 100])
def test_many_arrays(size):
    states, _ = read_states(arrays_pickled(size, 300))
    assert list(states) == list(range(300))
    for i, state in states.items():
        np.testing.assert_array_equal(state.asnumpy(), [i] * size)


def test_objects_behind_many_arrays_are_found_again():
    """What an array has pushed and what it has remembered is counted: later ones name it."""
    shared = mx.nd.array([5])
    states, _ = read_states(pickle.dumps({0: (mx.nd.ones(1), mx.nd.ones(2), shared), 1: (shared, "text"), 2: (shared, "text")}, protocol=4))
    assert states[0][2] is states[1][0] and states[1][0] is states[2][0] and states[2][1] == "text"


@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize("change", [lambda data: data[:-20], lambda data: data.replace(b"\x94h\x07h", b"\x94h\x63h"),
                                    lambda data: data[:data.rindex(b"\x94h\x07h\x0a") + 5] + b"B\xff\xff\xff\x7f" + data[-50:]])
def test_damage_in_what_repeats_is_an_error(size, change):
    data = arrays_pickled(size)
    assert change(data) != data
    with pytest.raises(mx.base.MXNetError, match="these bytes are no states"):
        read_states(change(data))
