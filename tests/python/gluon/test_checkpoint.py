"""mx.checkpoint: jobs that go on where they were."""
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.checkpoint import Checkpoint

TRAIN = r"""
import os, signal, sys
import mxnet as mx
from mxnet import gluon, nd
folder, total, kill_at, moment = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
mx.random.seed(1)
net = gluon.nn.Dense(3, in_units=4)
net.initialize(mx.init.Uniform(0.5))
trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.1})
checkpoint = mx.checkpoint.Checkpoint(folder, net, trainer, every=3)
if moment == 'saving':
    save_states = trainer.save_states
    def killed(path):
        save_states(path)
        if kill_at in (checkpoint.now, -1):
            os.kill(os.getpid(), signal.SIGKILL)
    trainer.save_states = killed
for step in checkpoint.steps(total):
    checkpoint.now = step
    print('step', step, flush=True)
    data = nd.arange(8).reshape((2, 4)) * (step + 1) / 10
    with mx.autograd.record():
        loss = (net(data) ** 2).sum()
    loss.backward()
    trainer.step(2)
    if moment == 'step' and step == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
print('end', *net.weight.data().asnumpy().reshape(-1).tolist())
"""


def train(folder, total=10, kill_at=-2, moment="never"):
    done = subprocess.run([sys.executable, "-c", TRAIN, str(folder), str(total), str(kill_at), moment],
                          capture_output=True, text=True, check=False)
    if kill_at >= 0:
        assert done.returncode == -signal.SIGKILL, done.stderr
    else:
        assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    steps = [int(line.split()[1]) for line in lines if line.startswith("step")]
    end = [line.split()[1:] for line in lines if line.startswith("end")]
    return steps, end[0] if end else None


def test_killed_jobs_end_as_the_one_that_was_not(tmp_path):
    steps, expected = train(tmp_path / "whole")
    assert steps == list(range(10))
    # Killed in a step, then while a checkpoint is written, then not: the weights are bit-equal.
    assert train(tmp_path / "cut", kill_at=4, moment="step")[0] == [0, 1, 2, 3, 4]
    assert train(tmp_path / "cut", kill_at=8, moment="saving")[0] == [3, 4, 5, 6, 7, 8]
    assert any(name.startswith(".step-") for name in os.listdir(tmp_path / "cut"))
    steps, end = train(tmp_path / "cut")
    assert steps == [6, 7, 8, 9]
    assert end == expected
    assert sorted(os.listdir(tmp_path / "cut")) == ["step-0000000009", "step-0000000010"]


def gluon_job(folder, **options):
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    return net, trainer, Checkpoint(folder, net, trainer, **options)


def test_a_finished_job_has_no_steps_left(tmp_path):
    checkpoint = gluon_job(tmp_path, every=2)[2]
    assert checkpoint.latest() is None
    assert list(checkpoint.steps(3)) == [0, 1, 2]
    assert checkpoint.latest() == 3
    assert list(gluon_job(tmp_path)[2].steps(3)) == []
    assert list(gluon_job(tmp_path)[2].steps(4)) == [3]


def test_on_several_contexts(tmp_path):
    contexts = [mx.cpu(0), mx.cpu(1)]

    def job():
        net = gluon.nn.Dense(1, in_units=2)
        net.initialize(ctx=contexts)
        trainer = gluon.Trainer(net.collect_params(), "adam")
        return net, trainer, Checkpoint(tmp_path, net, trainer)

    def step(net, trainer):
        with mx.autograd.record():
            losses = [net(nd.ones((1, 2), ctx=c)).sum() for c in contexts]
        for loss in losses:
            loss.backward()
        trainer.step(1)

    net, trainer, checkpoint = job()
    for _ in checkpoint.steps(2):
        step(net, trainer)
    step(net, trainer)
    other, other_trainer, resumed = job()
    assert resumed.resume() == 2
    step(other, other_trainer)
    for c in contexts:
        np.testing.assert_array_equal(net.weight.data(c).asnumpy(), other.weight.data(c).asnumpy())


def module_job():
    out = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    return mx.mod.Module(mx.sym.SoftmaxOutput(out, name="softmax"))


def fit(module, checkpoint, epochs):
    data = np.arange(32, dtype="float32").reshape(8, 4) / 32
    batches = mx.io.NDArrayIter(data, np.arange(8) % 2, 4)
    module.fit(batches, num_epoch=epochs, optimizer="adam", initializer=mx.init.One(),
               begin_epoch=checkpoint.resume(), epoch_end_callback=checkpoint.epoch_end)
    return module.get_params()[0]["fc_weight"].asnumpy()


def test_module(tmp_path):
    whole = module_job()
    expected = fit(whole, Checkpoint(tmp_path / "whole", module=whole), 4)
    first, second = module_job(), module_job()
    fit(first, Checkpoint(tmp_path / "cut", module=first), 2)
    np.testing.assert_array_equal(fit(second, Checkpoint(tmp_path / "cut", module=second), 4),
                                  expected)
    with pytest.raises(mx.MXNetError, match="before init_optimizer or fit"):
        Checkpoint(tmp_path / "cut", module=second).resume()


def test_damaged_checkpoints_are_named(tmp_path):
    list(gluon_job(tmp_path)[2].steps(1))
    job = tmp_path / "step-0000000001" / "job.json"
    job.write_text(json.dumps({"step": 7}))
    with pytest.raises(mx.MXNetError, match="step-0000000001 cannot be read.*step 7"):
        gluon_job(tmp_path)[2].resume()
    job.unlink()
    with pytest.raises(mx.MXNetError, match="cannot be read"):
        gluon_job(tmp_path)[2].resume()


@pytest.mark.parametrize("options", [{"every": 0}, {"keep": 0}, {"every": 1.5}])
def test_wrong_numbers(tmp_path, options):
    with pytest.raises(ValueError, match="accepted: integers from 1"):
        gluon_job(tmp_path, **options)


def test_what_a_checkpoint_is_of(tmp_path):
    net, trainer, _ = gluon_job(tmp_path)
    for wrong in ({}, {"net": net, "module": module_job()},
                  {"module": module_job(), "trainer": trainer}):
        with pytest.raises(ValueError, match="accepted: a net"):
            Checkpoint(tmp_path, **wrong)
    assert list(Checkpoint(tmp_path / "bare", net).steps(1)) == [0]
