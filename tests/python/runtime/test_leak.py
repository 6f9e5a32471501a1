"""Resident memory stays flat over training steps (each run in a process of its own, so that other
tests' memory does not count)."""
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.unsanitized
SCRIPT = os.path.join(os.path.dirname(os.path.dirname(__file__)), "..", "..", "benchmark", "leak.py")


def run(steps):
    done = subprocess.run([sys.executable, SCRIPT, "--steps", str(steps)], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr


def test_500_steps():
    run(500)


@pytest.mark.nightly
def test_10000_steps():
    run(10000)


SHAPES = """
import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn


def resident():
    nd.waitall()
    return int(next(line for line in open('/proc/self/status') if line.startswith('VmRSS')).split()[1]) // 1024


class Reads(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.conv, self.dense = nn.Conv2D(8, 3, in_channels=3), nn.Dense(4, in_units=8, flatten=False)

    def forward(self, x):
        return self.dense(self.conv(x).mean(axis=(2, 3))) * x.shape[2]


def fixed():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, in_channels=3), nn.GlobalAvgPool2D(), nn.Dense(4, in_units=8))
    return net


def step(net, i):
    x = nd.ones((1 + i % 3, 3, 8 + i // 40 % 50, 8 + i % 40))
    with autograd.record():
        y = net(x)
    y.backward()


def through_shapes(make, count):
    net = make()
    net.initialize()
    net.hybridize()
    for i in range(count):
        step(net, i)
        if i == count // 2:
            before = resident()
    return len(net._traces), resident() - before


def through_blocks(make, count):
    for i in range(count):
        net = make()
        net.initialize()
        net.hybridize()
        step(net, 0)
        if i == count // 4:
            before = resident()
    return 0, resident() - before
"""


def grown(call, pool="Unpooled"):
    """(graphs kept, MiB by which the process grew in the second half) of a call in a process of its
    own, without the pool, which keeps sizes by design."""
    env = dict(os.environ, MXNET_CPU_MEM_POOL_TYPE=pool, OMP_NUM_THREADS="1")
    done = subprocess.run([sys.executable, "-c", SHAPES + f"print(*{call})"], capture_output=True, text=True, timeout=1800, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return [int(n) for n in done.stdout.split()]


@pytest.mark.nightly
@pytest.mark.parametrize("make, graphs", [("Reads", 32), ("fixed", 1)])
def test_2000_shapes_through_one_block(make, graphs):
    """32 graphs and 32 plans of each stay, and 1,024 primitives of oneDNN: all reached after 1,000
    shapes."""
    kept, growth = grown(f"through_shapes({make}, 2000)")
    assert kept == graphs and growth < 48


@pytest.mark.parametrize("make, graphs", [("Reads", 32), ("fixed", 1)])
def test_200_shapes_through_one_block(make, graphs):
    os.environ["MXNET_ONEDNN_CACHE_NUM"] = "16"
    try:
        kept, growth = grown(f"through_shapes({make}, 200)")
    finally:
        del os.environ["MXNET_ONEDNN_CACHE_NUM"]
    assert kept == graphs and growth < 12


@pytest.mark.parametrize("make", ["Reads", "fixed"])
def test_blocks_created_and_dropped(make):
    assert grown(f"through_blocks({make}, 200)")[1] < 8


@pytest.mark.nightly
@pytest.mark.parametrize("make", ["Reads", "fixed"])
def test_2000_blocks_created_and_dropped(make):
    assert grown(f"through_blocks({make}, 2000)")[1] < 8
