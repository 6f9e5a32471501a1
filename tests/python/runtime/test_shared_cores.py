"""Training beside processes that compute all the time, and what says whether cores are shared."""
import json
import os
import subprocess
import sys

import pytest

STEPS = """
import json, time
import numpy as np
import mxnet as mx
net = mx.gluon.nn.HybridSequential()
for n in (8, 16):
    net.add(mx.gluon.nn.Conv2D(n, 3, padding=1, activation="relu"), mx.gluon.nn.MaxPool2D())
net.add(mx.gluon.nn.Dense(10))
rng = np.random.RandomState(0)
net.initialize(mx.init.Xavier(rnd_type="gaussian"))
net.hybridize(static_alloc=True, static_shape=True)
x, y = mx.nd.array(rng.rand(32, 1, 28, 28)), mx.nd.array(rng.randint(0, 10, 32))
net(x)
for p in net.collect_params().values():
    p.set_data(mx.nd.array(rng.rand(*p.shape) * 0.1))
loss_of, trainer = mx.gluon.loss.SoftmaxCrossEntropyLoss(), mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
def step():
    with mx.autograd.record():
        loss = loss_of(net(x), y)
    loss.backward()
    trainer.step(32)
    return float(loss.mean().asscalar())
losses = [step() for _ in range(40)]
times = []
for _ in range(5):
    begin = time.perf_counter()
    for _ in range(10): step()
    times.append(time.perf_counter() - begin)
print(json.dumps([losses[:20], min(times)]))
"""


def steps(**variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run([sys.executable, "-c", STEPS], env={**environment, **variables}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(not os.path.exists("/proc/thread-self/schedstat"), reason="the kernel does not say how long threads wait")
def test_neighbours_do_not_stop_the_team():
    neighbours = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        one, team = steps(OMP_NUM_THREADS="1"), steps()
    finally:
        for process in neighbours:
            process.kill()
            process.wait()
    assert team[1] < 5 * one[1]   # with teams that spin it was 30 times as long


def test_results_are_those_of_own_cores():
    own, shared = steps(OMP_WAIT_POLICY="active", OMP_NUM_THREADS="2")[0], steps(OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="2")[0]
    assert own == pytest.approx(shared, rel=1e-4)
    assert own[-1] < own[0]
