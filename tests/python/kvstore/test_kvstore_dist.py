"""Distributed stores: what servers are told, and jobs of real processes."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.kvstore import _states
from mxnet.kvstore._optimizer_text import from_text, to_text
from mxnet.kvstore.kvstore_server import KVStoreServer

ROOT = Path(__file__).resolve().parents[3]


# ---- the optimizer as text ----

def _weights(optimizer, steps=3):
    updater = mx.optimizer.get_updater(optimizer)
    w = nd.array([[1.0, -2.0, 3.0]])
    for step in range(steps):
        updater(0, nd.array([[0.5, step, -1.0]]), w)
    return w.asnumpy()


# Other tests may have imported modules that register theirs.
OPTIMIZERS = sorted(name for name, kind in mx.optimizer.Optimizer.opt_registry.items()
                    if kind.__module__.startswith("mxnet.optimizer") and name != "test")


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_travels_as_text(name):
    np.random.seed(1)
    mx.random.seed(1)
    optimizer = mx.optimizer.create(name, learning_rate=0.125, wd=0.0 if name == "groupadagrad" else 0.01, rescale_grad=0.5,
                                    param_idx2name={0: "a_weight", 1: "a_bias"})
    text = to_text(optimizer)
    restored = from_text(text)
    assert type(restored) is type(optimizer) and to_text(restored) == text
    assert json.loads(text)["optimizer"] == name
    mx.random.seed(2)
    one = _weights(optimizer)
    mx.random.seed(2)
    np.testing.assert_array_equal(one, _weights(restored))


def test_schedules_and_multipliers_travel_along():
    schedule = mx.lr_scheduler.MultiFactorScheduler([2, 4], factor=0.5, base_lr=0.4)
    net = mx.gluon.nn.Dense(1, in_units=3)
    net.initialize()
    net.weight.lr_mult, net.weight.wd_mult = 2.0, 0.25
    optimizer = mx.optimizer.SGD(learning_rate=0.4, momentum=0.9, wd=1.0, lr_scheduler=schedule, param_dict={0: net.weight})
    restored = from_text(to_text(optimizer))
    assert restored._get_lr(0) == 0.8 and restored._get_wd(0) == 0.25
    for _ in range(5):
        restored._update_count(0)
        optimizer._update_count(0)
    assert restored.learning_rate == optimizer.learning_rate == 0.1
    assert restored._all_index_update_counts[0] is restored._index_update_count


class OwnSGD(mx.optimizer.SGD):
    pass


def test_classes_of_the_program_need_an_opt_in(monkeypatch):
    for optimizer in (OwnSGD(), mx.optimizer.SGD(lr_scheduler=type("Own", (mx.lr_scheduler.LRScheduler,), {})())):
        with pytest.raises(ValueError, match="cannot be sent to the servers by name.*PS_ACCEPT_PICKLE=1"):
            to_text(optimizer)
    monkeypatch.setenv("PS_ACCEPT_PICKLE", "1")
    text = to_text(OwnSGD(learning_rate=3))
    assert from_text(text).lr == 3
    monkeypatch.setenv("PS_ACCEPT_PICKLE", "0")
    with pytest.raises(ValueError, match="a pickled optimizer is refused; PS_ACCEPT_PICKLE=1"):
        from_text(text)


@pytest.mark.parametrize("text, message", [
    ('{"optimizer": "nosuch", "state": {}}', "no optimizer named 'nosuch'"),
    ('{"optimizer": "sgd", "state": {"update": 1}}', "SGD has no parameter 'update'"),
    ('{"optimizer": "sgd", "state": {"__class__": 1}}', "SGD has no parameter '__class__'"),
    ('{"optimizer": "sgd", "state": {"lr_scheduler": {"schedule": "os", "state": {}}}}', "no schedule named 'os'")])
def test_texts_that_name_anything_else_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        from_text(text)


# ---- a server's commands, on a store of one process ----

def _command(server, number, **content):
    server._serve(number, json.dumps(content).encode())


def test_the_first_workers_optimizer_counts():
    server = KVStoreServer(mx.kv.create("local"))
    sgd = lambda lr: json.loads(to_text(mx.optimizer.SGD(learning_rate=lr)))     # noqa: E731
    _command(server, 0, worker=1, call=1, store=0, **sgd(0.1))
    first = server.kvstore._updater
    _command(server, 0, worker=2, call=1, store=0, **sgd(0.2))
    assert server.kvstore._updater is first and first.optimizer.lr == 0.1
    _command(server, 0, worker=0, call=1, store=0, **sgd(0.3))
    assert server.kvstore._updater.optimizer.lr == 0.3
    second = server.kvstore._updater
    _command(server, 0, worker=1, call=2, store=0, **sgd(0.3))
    assert server.kvstore._updater is not second
    server._serve(1, b"0.75")
    assert server.kvstore._updater.optimizer.lr == 0.75


def test_pickles_from_workers_are_refused(monkeypatch):
    import pickle
    server = KVStoreServer(mx.kv.create("local"))
    with pytest.raises(ValueError, match="a pickled optimizer is refused; PS_ACCEPT_PICKLE=1"):
        server._serve(0, pickle.dumps(mx.optimizer.SGD(), 0))
    monkeypatch.setenv("PS_ACCEPT_PICKLE", "1")
    server._serve(0, pickle.dumps(mx.optimizer.SGD(learning_rate=0.5), 0))
    assert server.kvstore._updater.optimizer.lr == 0.5


def test_states_are_cut_and_joined():
    state = (nd.arange(6).reshape((2, 3)), (nd.ones((2, 3), dtype="float16"), None), 4)
    sent = _states.decode(json.loads(json.dumps(_states.encode(state))))
    parts = [_states.part_of(sent, begin, nd.zeros((size,))) for begin, size in ((0, 4), (4, 2))]
    assert parts[1][0].asnumpy().tolist() == [4, 5]
    whole = _states.join(parts, (2, 3))
    np.testing.assert_array_equal(whole[0].asnumpy(), state[0].asnumpy())
    assert whole[1][0].dtype == np.float16 and whole[1][1] is None and whole[2] == 4
    assert _states.join([nd.ones((2, 3))], None).shape == (2, 3)        # of a weight that this worker has not seen


# ---- jobs ----

def _has_jobs():
    library = Path(os.environ.get("MXNET_LIBRARY_PATH") or mx.libinfo.find_lib_path()[0])
    return bool(shutil.which("mpirun")) and any(library.parent.rglob("libmxnet_mpi.so"))


jobs = pytest.mark.skipif(not _has_jobs(), reason="no MPI here")

BEGIN = """
import os, sys, time, signal
import numpy as np
import mxnet as mx
from mxnet import autograd, gluon, nd
def error_of(f):
    try:
        f()
    except Exception as error:
        return str(error)
    return ''
def say(*what):
    sys.stdout.write(' '.join(map(str, ('worker', kv.rank, *what))) + chr(10))   # as one: others write, too
    sys.stdout.flush()
kv = mx.kv.create(os.environ.get('STORE', 'dist_sync'))
"""


def run_job(tmp_path, workers, servers, program, *options, timeout=150, check=True, **env):
    """The lines that each worker printed behind its number, and everything."""
    script = tmp_path / "program.py"
    script.write_text(BEGIN + program)
    command = [sys.executable, str(ROOT / "tools" / "launch.py"), "-n", str(workers), "-s", str(servers), *options,
               sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=tmp_path,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **env})
    output = done.stdout + done.stderr
    assert not check or done.returncode == 0, output
    lines = {w: [] for w in range(workers)}
    for line in done.stdout.splitlines():
        if line.startswith("worker "):
            _, worker, what = line.split(" ", 2)
            lines[int(worker)].append(what)
    return lines, output


SUMS = """
def pushed(worker, step):
    return np.random.RandomState(100 * worker + step).uniform(-1, 1, (300, 50)).astype('float32')
first = np.full((300, 50), 5 + kv.rank, 'float32')
for key in range(3):
    kv.init(key, nd.array(first))
out = nd.zeros((300, 50))
kv.pull(1, out=out)
assert (out.asnumpy() == 5).all()
for step in range(3):
    for key in range(3):
        if step % 2:
            kv.pushpull(key, nd.array(pushed(kv.rank, step + key)), out=out, priority=-key)
        else:
            kv.push(key, nd.array(pushed(kv.rank, step + key)), priority=-key)
            kv.pull(key, out=out, priority=-key)
        expected = pushed(0, step + key)
        for w in range(1, kv.num_workers):
            expected = expected + pushed(w, step + key)
        assert out.asnumpy().tobytes() == expected.tobytes(), (step, key)
kv.barrier()
say('done', kv.type, kv.num_workers)
"""


@jobs
@pytest.mark.parametrize("workers, servers, store", [(2, 1, "dist_sync"), (4, 2, "dist_sync"), (2, 2, "dist_p3"), (2, 0, "dist_sync")])
def test_sums_have_the_bits_of_adding_in_the_order_of_the_workers(tmp_path, workers, servers, store):
    lines, _ = run_job(tmp_path, workers, servers, SUMS, STORE=store, MXNET_KVSTORE_BIGARRAY_BOUND="10000",
                       MXNET_KVSTORE_SLICE_THRESHOLD="1000")
    assert lines == {w: [f"done {store} {workers}"] for w in range(workers)}


# What 1.9.1 gives for this program: recorded with two workers of the wheel.
TRAINER = """
net = gluon.nn.Dense(1, in_units=2)
net.initialize(mx.init.Constant(kv.rank + 1.0))
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}, kvstore=kv)
for i in range(5):
    with autograd.record():
        loss = net(nd.ones((4, 2)) * (kv.rank + 1)).sum()
    loss.backward()
    trainer.step(4)
    say(' '.join(f'{x:.4f}' for x in net.weight.data().asnumpy().ravel()), trainer._update_on_kvstore)
    if i == 2:
        trainer.set_learning_rate(0.2)
say('allreduce' if 'allreduce_grads' in error_of(trainer.allreduce_grads) else '')
say('update' if 'update()' in error_of(lambda: trainer.update(4)) else '')
trainer.save_states('states')
kv._barrier()
trainer.load_states('states')
say(error_of(lambda: trainer.step(5))[:40])
"""


@jobs
def test_trainer(tmp_path):
    lines, _ = run_job(tmp_path, 2, 1, TRAINER)
    for said in lines.values():
        assert said[:3] == ["0.7000 0.7000 True", "0.4000 0.4000 True", "0.1000 0.1000 True"]     # as 1.9.1
        assert said[3:5] == ["-0.5000 -0.5000 True", "-1.1000 -1.1000 True"]      # 1.9.1 keeps the rate of the start
        assert said[5:] == ["allreduce", "update", "[gluon.Trainer] the batch size changed ("]


MODULE = """
x = np.random.RandomState(0).rand(20, 4).astype('f')
y = (x.sum(1) > 2).astype('f')
data = mx.io.NDArrayIter(x[kv.rank * 10:(kv.rank + 1) * 10], y[kv.rank * 10:(kv.rank + 1) * 10], 5)
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc'), name='softmax')
module = mx.mod.Module(net)
module.fit(data, num_epoch=2, kvstore=kv, optimizer_params=(('learning_rate', 0.5),), initializer=mx.init.Constant(0.1 * (kv.rank + 1)))
say(module._update_on_kvstore, module._optimizer.rescale_grad,
    ' '.join(f'{v:.6f}' for v in module.get_params()[0]['fc_weight'].asnumpy().ravel()))
if kv.rank == 0:
    kv.save_optimizer_states('states', dump_optimizer=True) if kv._num_servers else module.save_optimizer_states('states')
kv._barrier()
kv._set_server_learning_rate(2.0) if kv._num_servers else None
module._optimizer.set_learning_rate(2.0)
module.load_optimizer_states('states')
say(module._optimizer.learning_rate)
"""


@jobs
@pytest.mark.parametrize("servers", [1, 0])
def test_module(tmp_path, servers):
    lines, _ = run_job(tmp_path, 2, servers, MODULE)
    assert lines[0] == lines[1]
    assert lines[0][1] == ("0.5" if servers else "2.0")      # the optimizer of the file, if it holds one
    on_store, rescale, *weights = lines[0][0].split()
    assert (on_store, rescale) == ("True", "0.1")
    # of 1.9.1, two workers
    np.testing.assert_allclose([float(w) for w in weights],
                               [0.072514, 0.094503, 0.013080, 0.034293, 0.127486, 0.105497, 0.186920, 0.165707], atol=2e-6)


FAULTS = """
kv.init('w', nd.ones((2,)))
out = nd.zeros((2,))
for i in range(3):
    kv.pushpull('w', nd.ones((2,)), out=out)
out.wait_to_read()
if kv.rank == 1:
    if sys.argv[1:] == ['leave']:
        sys.exit()
    os.kill(os.getpid(), signal.SIGKILL)
kv.pushpull('w', nd.ones((2,)), out=out)
say(error_of(out.wait_to_read))
say(error_of(kv._barrier))
"""


@jobs
@pytest.mark.nightly
def test_unequal_numbers_of_batches(tmp_path):
    lines, output = run_job(tmp_path, 2, 1, FAULTS.replace("sys.argv[1:]", "['leave']"), timeout=100)
    assert "worker 1 (rank" in lines[0][0] and "has ended after 3 pushes to key 'w'" in lines[0][0], output
    assert "worker 1 (rank" in lines[0][1]


@jobs
@pytest.mark.nightly
def test_killed_worker(tmp_path):
    lines, output = run_job(tmp_path, 2, 1, FAULTS, timeout=100, check=False)
    assert "worker 1 (rank" in lines[0][0] and "is lost" in lines[0][0], output
    assert "worker 1 (rank" in lines[0][1]


INTERRUPT = """
kv.init('w', nd.ones((2,)))
out = nd.zeros((2,))
if kv.rank == 1:
    time.sleep(8)      # and pushes nothing
    sys.exit()
import threading
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.time()
try:
    kv.pushpull('w', nd.ones((2,)), out=out)
    out.wait_to_read()
except KeyboardInterrupt:
    say('KeyboardInterrupt', time.time() - begin < 7)
"""


@jobs
@pytest.mark.nightly
@pytest.mark.parametrize("servers", (1, 0))
def test_ctrl_c_while_a_worker_waits(tmp_path, servers):
    lines, output = run_job(tmp_path, 2, servers, INTERRUPT, timeout=100)
    assert lines[0] == ["KeyboardInterrupt True"], output


ASYNC = """
kv.init('w', nd.zeros((2,)))
kv.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
for i in range(5 * (kv.rank + 1)):
    kv.push('w', nd.ones((2,)))
kv._barrier()
out = nd.zeros((2,))
kv.pull('w', out=out)
say(out.asnumpy()[0])
say(error_of(lambda: kv.set_optimizer(type('Own', (mx.optimizer.SGD,), {})()))[:60])
say(error_of(lambda: kv._send_command_to_servers(0, 'no json'))[:40])
"""


@jobs
@pytest.mark.nightly
def test_asynchronous_job(tmp_path):
    lines, _ = run_job(tmp_path, 2, 1, ASYNC, STORE="dist_async")
    for said in lines.values():
        assert said[0] == "-15.0"
        assert said[1].startswith("[kvstore] Own cannot be sent to the servers by name")
        assert said[2].startswith("[kvstore] command 0 failed on server 0")


CHECKPOINT = """
mx.random.seed(3)
net = gluon.nn.Dense(30, in_units=40, use_bias=False)
net.initialize(mx.init.Xavier())
trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.01}, kvstore=kv)
for step in mx.checkpoint.Checkpoint('checkpoints', net, trainer, every=2).steps(int(sys.argv[1]) if len(sys.argv) > 1 else STEPS):
    with autograd.record():
        loss = (net(nd.ones((4, 40)) * (kv.rank + step)) ** 2).sum()
    loss.backward()
    trainer.step(4)
say(float(net.weight.data().sum().asscalar()))
"""


@jobs
@pytest.mark.nightly
def test_checkpoints_have_the_servers_states(tmp_path):
    once, twice = tmp_path / "once", tmp_path / "twice"
    once.mkdir()
    twice.mkdir()
    bound = {"MXNET_KVSTORE_BIGARRAY_BOUND": "500"}
    straight, _ = run_job(once, 2, 2, CHECKPOINT.replace("STEPS", "6"), **bound)
    run_job(twice, 2, 2, CHECKPOINT.replace("STEPS", "4"), **bound)
    resumed, _ = run_job(twice, 2, 1, CHECKPOINT.replace("STEPS", "6"), **bound)
    assert straight == resumed


NORMS = """
w = mx.nd.array(np.random.RandomState(1).rand(30, 40))
kv.set_optimizer(mx.optimizer.create(os.environ['OPTIMIZER'], learning_rate=0.1, wd=0.01))
kv.init('w', w)
out = nd.zeros((30, 40))
updater = mx.optimizer.get_updater(mx.optimizer.create(os.environ['OPTIMIZER'], learning_rate=0.1, wd=0.01))
for step in range(4):
    grads = [nd.array(np.random.RandomState(10 * step + r).rand(30, 40) - 0.5) for r in range(kv.num_workers)]
    kv.pushpull('w', grads[kv.rank], out=out)
    updater('w', grads[0] + grads[1], w)
    np.testing.assert_array_equal(out.asnumpy(), w.asnumpy())
say('same')
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('always')
    kv.set_optimizer(mx.optimizer.LARS())
say(len(told))
"""


@jobs
@pytest.mark.parametrize("optimizer, store", [("lamb", "dist_sync"), pytest.param("lars", "dist_p3", marks=pytest.mark.nightly),
                                              pytest.param("lans", "dist_sync", marks=pytest.mark.nightly)])
def test_optimizers_that_take_norms_see_whole_weights(tmp_path, optimizer, store):
    lines, output = run_job(tmp_path, 2, 2, NORMS, OPTIMIZER=optimizer, STORE=store, MXNET_KVSTORE_BIGARRAY_BOUND="100",
                            MXNET_KVSTORE_SLICE_THRESHOLD="100")
    assert lines == {0: ["same", "1"], 1: ["same", "1"]}, output


SNAPSHOTS = """
kv.set_optimizer(mx.optimizer.Adam(learning_rate=0.05, wd=0.01))
start = kv.resumed_step
values = {'big': nd.array(np.random.RandomState(1).rand(400)), 'small': nd.ones((3,))}
for key, value in values.items():
    kv.init(key, value)
    kv.pull(key, out=value)
say('from', start)
for step in range(start, 60):
    for key, value in values.items():
        grad = nd.sin(value * (step + 1)) + kv.rank
        kv.pushpull(key, grad, out=value)
    time.sleep(float(os.environ.get('PAUSE', 0)))
import zlib
say('result', zlib.crc32(b''.join(v.asnumpy().tobytes() for v in values.values())))
"""


def _processes(job):
    """The workers and servers of the job that has this word in its environment: (process, role)."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                env = dict(e.split("=", 1) for e in (folder / "environ").read_bytes().decode(errors="replace").split("\0") if "=" in e)
            except OSError:
                continue
            if env.get("TEST_JOB") == job and env.get("DMLC_ROLE") and "OMPI_COMM_WORLD_RANK" in env:
                found.append((int(folder.name), env["DMLC_ROLE"]))
    return sorted(found)


@jobs
@pytest.mark.nightly
@pytest.mark.parametrize("servers", [1, 2])
def test_a_job_that_is_killed_goes_on_as_if_it_had_not_been(tmp_path, servers):
    straight, _ = run_job(tmp_path, 2, servers, SNAPSHOTS, MXNET_KVSTORE_BIGARRAY_BOUND="100")
    result = straight[0][1]
    assert straight[0] == straight[1] == ["from 0", result]
    random = np.random.RandomState(3 + servers)
    folder = tmp_path / "snapshots"
    folder.mkdir()
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_BIGARRAY_BOUND": "100", "PAUSE": "0.03", "TEST_JOB": str(tmp_path)}
    command = [sys.executable, str(ROOT / "tools" / "launch.py"), "-n", "2", "-s", str(servers), "--snapshots", str(folder),
               "--snapshot-interval", "0", sys.executable, str(tmp_path / "program.py")]
    starts, killed, output = [], 0, ""
    for _ in range(40):
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path, env=env)
        for line in job.stdout:
            output += line
            if line.startswith("worker 0 from"):
                break
        time.sleep(random.uniform(0, 1.5))
        there = _processes(str(tmp_path))
        if there and killed < 6:
            with contextlib.suppress(ProcessLookupError):       # it may have ended since
                os.kill(there[random.randint(len(there))][0], signal.SIGKILL)
                killed += 1
        text = job.communicate(timeout=100)[0]
        output += text
        starts += [int(line.split()[-1]) for line in output.splitlines()[-200:] if line.startswith("worker 0 from")][-1:]
        if job.returncode == 0:
            break
    assert "worker 0 " + result in text and "worker 1 " + result in text, output
    assert starts == sorted(starts) and starts[-1] > 0, output


@jobs
def test_workers_without_servers_say_different_shapes(tmp_path):
    """Sizes alone were compared: the values of workers with other shapes were mixed."""
    lines, _ = run_job(tmp_path, 2, 0, """
def said(key, mine):
    value, out = nd.ones(mine), nd.zeros(mine)
    text = error_of(lambda: (kv.init(key, value), kv.pull(key, out=out), out.wait_to_read()))
    return text, error_of(lambda: (kv.pushpull(key, value, out=out), out.wait_to_read()))
first, later = said('a', (2, 6) if kv.rank else (3, 4))      # worker 0 gives its value and goes on
say(all("different arrays" in t and "(2, 6)" in t and "(3, 4)" in t for t in ((first, later) if kv.rank else (later,))) or (first, later))
first, later = said('b', (2, 1, 3, 1, 1) if kv.rank else (1, 2, 3, 1, 1))
say('different arrays' in later or later)
value = nd.ones((3, 20000))
kv.init('c', value)
kv.pushpull('c', value, out=value)
say(value.asnumpy().sum())
""")
    assert lines == {w: ["True", "True", "120000.0"] for w in range(2)}
