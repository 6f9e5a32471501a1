"""A forked child reads what its parent was computing, as with 1.9.1: pools and workers of programs
get arrays of the parent."""
import os
import subprocess
import sys
import textwrap

import pytest

START = """
import os, sys, time, traceback
import numpy as np
import mxnet as mx

def under_way():
    x = mx.nd.ones((700, 700))
    for _ in range(30):
        x = mx.nd.dot(x, x) / 700
    return x

def child(call):
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            call()
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    return os.waitpid(pid, 0)[1]
"""


def runs(program, **environment):
    done = subprocess.run([sys.executable, "-c", START + textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=300, env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("engine", ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine"))
def test_a_child_reads_what_was_under_way(engine):
    runs("""
    x = under_way()
    def call():
        assert (x.asnumpy() == 1).all()
        assert (under_way().asnumpy() == 1).all()      # and computes itself
    assert child(call) == 0
    assert (x.asnumpy() == 1).all()
    """, MXNET_ENGINE_TYPE=engine)


def test_a_child_reads_a_bulk():
    runs("""
    with mx.engine.bulk(100):
        x = mx.nd.ones((3,))
        for _ in range(10):
            x += 1
        assert child(lambda: np.testing.assert_array_equal(x.asnumpy(), 11)) == 0
    """)


def test_workers_read_data_sets_that_are_computed():
    runs("""
    from mxnet.gluon.data import ArrayDataset, DataLoader
    loader = DataLoader(ArrayDataset(under_way(), mx.nd.arange(700)), batch_size=100, num_workers=2)
    assert sum(x.sum().asscalar() for x, y in loader) == 700 * 700
    """)


def test_custom_operators_end_before_a_fork():
    """They need the interpreter, which the thread that forks has."""
    runs("""
    class Slow(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            time.sleep(0.2)
            import colorsys                            # imports wait for forks
            self.assign(out_data[0], req[0], in_data[0] + 1)

    @mx.operator.register("slow")
    class SlowProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Slow()

    x = mx.nd.Custom(mx.nd.ones(3), op_type="slow")
    assert child(lambda: np.testing.assert_array_equal(x.asnumpy(), 2)) == 0
    """)


def test_failures_are_seen_by_both():
    runs("""
    x = mx.nd.take(mx.nd.arange(6), mx.nd.array([7]), mode="raise")
    def fails():
        try:
            x.asnumpy()
        except IndexError as e:
            assert "[take] index 7" in str(e)
        else:
            assert False, "no failure"
    assert child(fails) == 0
    fails()
    """)


def test_an_operation_may_fork():
    """It waits for nothing, for it would wait for itself."""
    runs("""
    class Forks(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] + child(lambda: None))

    @mx.operator.register("forks")
    class ForksProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Forks()

    assert (mx.nd.Custom(mx.nd.ones(3), op_type="forks").asnumpy() == 1).all()
    """)
