"""Ctrl-C while a hybridized block is recorded leaves nothing switched on: later calls work."""
import signal
import sys

import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._deferred_compute import is_deferred_compute
from mxnet._tracing import watch
from mxnet.gluon._trace import plain


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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")     # a generator that was interrupted
@pytest.mark.parametrize("made", [WithForward, WithSymbols])
def test_an_interrupt_anywhere_in_the_first_call_leaves_nothing_on(made):
    x = nd.ones((1, 3))
    prepared(made)(x)
    seen, interrupts, names = set(), 0, mx.name.current()
    for _ in range(3000):
        places = len(seen)
        net = prepared(made)
        interrupt_at_a_new_call(seen)
        try:
            net(x)
        except KeyboardInterrupt:
            interrupts += 1
        finally:
            sys.settrace(None)
        assert not plain.on and not watch.on and not is_deferred_compute() and not autograd.is_recording(), seen
        assert mx.sym.var("x").name == "x" and mx.name.current() is names, seen
        if len(seen) == places:
            break
    assert interrupts > 100
    assert prepared(made)(x).shape == (1, 2)
