"""set_np_shape(2): shapes mean what they mean in NumPy on all threads, as 1.9.1 had it."""
import threading

import pytest

import mxnet as mx
from mxnet.util import is_np_shape, set_np_shape


def in_thread(function):
    got = []
    thread = threading.Thread(target=lambda: got.append(function()))
    thread.start()
    thread.join()
    return got[0]


@pytest.fixture
def all_threads():
    before = set_np_shape(2)
    yield
    set_np_shape(0)
    set_np_shape(before)


def test_threads_to_come_have_it(all_threads):
    assert is_np_shape() and in_thread(is_np_shape)
    assert in_thread(lambda: mx.nd.zeros(()).shape) == ()


def test_off_ends_it_for_all(all_threads):
    assert set_np_shape(False) is True
    assert not is_np_shape() and not in_thread(is_np_shape)


def test_on_for_a_thread_leaves_it(all_threads):
    assert set_np_shape(True) is True
    assert in_thread(is_np_shape)


@pytest.mark.parametrize("active", [False, True])
def test_scope_brings_it_back(all_threads, active):
    with mx.np_shape(active):
        assert is_np_shape() is active
    assert is_np_shape() and in_thread(is_np_shape)


def test_a_thread_alone():
    before = set_np_shape(False)
    assert in_thread(lambda: (set_np_shape(True), is_np_shape())) == (False, True)
    assert not is_np_shape()
    set_np_shape(before)
