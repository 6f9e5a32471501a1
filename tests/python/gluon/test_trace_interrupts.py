"""Ctrl-C in a block's first call leaves nothing switched on: later calls work."""
import signal
import sys

import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._arrays.deferred_compute import is_deferred_compute
from mxnet._arrays.tracing import watch
from mxnet.gluon._trace import plain
from mxnet.profiler import _memory


class WithForward(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.dense = gluon.nn.Dense(2, in_units=3)    # its memory has a scope of its own, which an interrupt may leave open

    def forward(self, x):
        return self.dense(x) * 2


class WithSymbols(gluon.nn.HybridSequential):
    def __init__(self):
        super().__init__()
        self.add(gluon.nn.Dense(2, in_units=3))


def prepared(made):
    net = made()
    net.initialize()
    net.hybridize()
    return net


def interrupt_at_a_new_call(seen):
    """Python's SIGINT at the next function call whose place is not in `seen`; signals are looked at
    there."""
    def trace(frame, event, arg):
        place = frame.f_code, frame.f_back and (frame.f_back.f_code, frame.f_back.f_lineno)
        if event == "call" and place not in seen:
            seen.add(place)
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
    sys.settrace(trace)


def interrupted_everywhere(make, use, check):
    """How many calls of ``use(make())`` Ctrl-C ended, one at each place in turn; `check` is called
    after each."""
    seen, interrupts = set(), 0
    for _ in range(5000):
        places, made = len(seen), make()
        interrupt_at_a_new_call(seen)
        try:
            use(made)
        except KeyboardInterrupt:
            interrupts += 1
        finally:
            sys.settrace(None)
        check(made)
        if len(seen) == places:
            return interrupts
    raise AssertionError("no end of places")


a_generator_may_be_interrupted = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Open(gluon.nn.HybridSequential):
    """With parameters that get their shapes, and memory, in the first call."""

    def __init__(self):
        super().__init__()
        self.add(gluon.nn.Dense(3, activation="relu"), gluon.nn.Dense(2))


@a_generator_may_be_interrupted
@pytest.mark.parametrize("hybridize", [False, True])
def test_a_block_works_after_its_first_call_was_interrupted(hybridize):
    x = nd.ones((1, 3))

    def make():
        net = Open()
        net.initialize()
        net.hybridize(hybridize)
        return net

    def check(net):
        assert _memory.name == ""
        with autograd.record():
            y = net(x)
        y.backward()
        assert y.shape == (1, 2) and net[1].weight.grad().shape == (2, 3)

    check(make())
    assert interrupted_everywhere(make, lambda net: net(x), check) > 100

    def used():
        net = make()
        net(x)
        return net

    assert interrupted_everywhere(used, lambda net: net.hybridize(static_alloc=True), check) > 10


@a_generator_may_be_interrupted
@pytest.mark.parametrize("made", [WithForward, WithSymbols])
def test_an_interrupt_anywhere_in_the_first_call_leaves_nothing_on(made):
    x = nd.ones((1, 3))
    prepared(made)(x)
    names = mx.name.current()

    def check(_):
        assert not plain.on and not watch.on and not is_deferred_compute() and not autograd.is_recording()
        assert mx.sym.var("x").name == "x" and mx.name.current() is names

    assert interrupted_everywhere(lambda: prepared(made), lambda net: net(x), check) > 100
    assert prepared(made)(x).shape == (1, 2)
