"""Jobs without servers whose workers' GPUs add up among themselves. `./dev test --host-gpu` runs
this with GPUs that are made of the host, and a NCCL that meets in shared memory."""
import os
import re

import pytest

from test_kvstore_dist import jobs, run_job

made_of_the_host = "libhost_gpu" in os.environ.get("LD_PRELOAD", "")
pytestmark = [pytest.mark.gpu, jobs, pytest.mark.skipif(not made_of_the_host, reason="each process needs a GPU of its own")]

SUMS = """
gpu = mx.gpu(kv.rank % int(os.environ.get('HOST_GPU_DEVICES', '1')))
def pushed(worker, key, step):
    return np.random.RandomState(100 * worker + 10 * key + step).uniform(-1, 1, 1000 + key).astype('float32')
for key in range(3):
    kv.init(key, nd.full((1000 + key,), 5.0 + kv.rank, ctx=gpu))
for step in range(3):
    outs = [nd.zeros(1000 + key, ctx=gpu) for key in range(3)]
    for key in range(3) if kv.rank else reversed(range(3)):     # another order on each worker
        value = nd.array(pushed(kv.rank, key, step), ctx=gpu) * 2
        kv.pushpull(key, value, out=outs[key], priority=-key)
    for key in range(3):
        expected = sum(2 * pushed(w, key, step) for w in range(kv.num_workers))
        np.testing.assert_allclose(outs[key].asnumpy(), expected, rtol=1e-5, atol=1e-5)
kv._barrier()
say('done', kv.num_workers)
"""


def calls(output, function):
    return [int(count) for count in re.findall(rf"\[host_gpu\] {function}: (\d+) calls", output)]


@pytest.mark.gpu_quick
def test_gpus_add_up_in_stores_on_devices(tmp_path):
    lines, output = run_job(tmp_path, 3, 0, SUMS, STORE="dist_device_sync", HOST_GPU_COUNT="1", HOST_GPU_DEVICES="2")
    assert lines == {w: ["done 3"] for w in range(3)}
    assert calls(output, "ncclAllReduce") == [9, 9, 9] and calls(output, "ncclCommInitRankConfig") == [1, 1, 1]
    assert calls(output, "ncclGetUniqueId") == [1]


def test_hosts_add_up_for_workers_that_share_a_gpu(tmp_path):
    lines, output = run_job(tmp_path, 2, 0, SUMS, STORE="dist_device_sync", HOST_GPU_COUNT="1", HOST_GPU_SHARED="1")
    assert lines == {w: ["done 2"] for w in range(2)}
    assert not calls(output, "ncclAllReduce") and output.count("workers share a GPU") == 1


@pytest.mark.parametrize("env", [{"STORE": "dist_sync"}, {"STORE": "dist_device_sync", "HOST_GPU_NCCL_VERSION": "21200"}])
def test_hosts_add_up_in_other_stores_and_without_the_library(tmp_path, env):
    lines, output = run_job(tmp_path, 2, 0, SUMS, HOST_GPU_COUNT="1", **env)
    assert lines == {w: ["done 2"] for w in range(2)}
    assert not calls(output, "ncclAllReduce")
    assert ("through the memory of the hosts: NCCL 2.12.0" in output) == (env["STORE"] == "dist_device_sync")


TRAINER = """
gpus = [mx.gpu(0), mx.gpu(1)]
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(5, activation='tanh', in_units=3), gluon.nn.Dense(1, in_units=5))
net.initialize(mx.init.Constant(0.1 * (kv.rank + 1)), ctx=gpus)
trainer = gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.05}, kvstore=kv)
data = np.random.RandomState(3).rand(3, 8, 3).astype('float32')
for x in data:
    mine = x[kv.rank * 4:kv.rank * 4 + 4]
    with autograd.record():
        losses = [(net(part) ** 2).sum() for part in gluon.utils.split_and_load(mine, gpus)]
    autograd.backward(losses)
    trainer.step(8)
say(' '.join(f'{v:.5f}' for p in net.collect_params().values() for v in p.data(gpus[1]).asnumpy().ravel()))
"""


def test_trainer_on_two_gpus_of_each_worker(tmp_path):
    on_gpus, output = run_job(tmp_path, 2, 0, TRAINER, STORE="dist_device_sync", HOST_GPU_COUNT="1", HOST_GPU_DEVICES="2")
    assert on_gpus[0] == on_gpus[1] and min(calls(output, "ncclAllReduce")) > 0
    on_hosts, _ = run_job(tmp_path, 2, 0, TRAINER, STORE="dist_sync", HOST_GPU_DEVICES="2")
    numbers = [[float(v) for v in said[0][0].split()] for said in (on_gpus, on_hosts)]
    assert numbers[0] == pytest.approx(numbers[1], abs=2e-5)


MIXED = """
where = mx.gpu(0) if kv.rank else mx.cpu()
kv.init(1, nd.zeros(4))
out = nd.zeros(4, ctx=where)
say(error_of(lambda: (kv.pushpull(1, nd.ones(4, ctx=where), out=out), out.wait_to_read())))
"""


def test_a_worker_without_a_gpu_for_a_key_is_an_error_for_all(tmp_path):
    lines, _ = run_job(tmp_path, 3, 0, MIXED, STORE="dist_device_sync")
    for said in lines.values():
        assert "the workers gave different arrays for one key" in said[0] and "on a GPU" in said[0]


LOST = """
import signal, time
gpu = mx.gpu(0)
kv.init(1, nd.zeros(4, ctx=gpu))
out = nd.zeros(4, ctx=gpu)
kv.pushpull(1, nd.ones(4, ctx=gpu), out=out)
out.wait_to_read()
if kv.rank == 2:
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)
begin = time.time()
say(error_of(lambda: (kv.pushpull(1, nd.ones(4, ctx=gpu), out=out), out.wait_to_read())), '|', time.time() - begin < 20)
"""


def test_a_killed_worker_is_named(tmp_path):
    lines, _ = run_job(tmp_path, 3, 0, LOST, STORE="dist_device_sync", check=False)
    for worker in (0, 1):
        assert "worker 2 (rank 2, process" in lines[worker][0] and lines[worker][0].endswith("| True")
    assert not lines[2]
