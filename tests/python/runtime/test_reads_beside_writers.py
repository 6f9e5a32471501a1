"""Reads of an array beside threads that write it."""
import threading

import pytest

import mxnet as mx
from mxnet import nd

pytestmark = [pytest.mark.on_gpu, pytest.mark.sanitized]


def assign(array, values):
    array[:] = values


def add_in_place(array, _values):
    array += 1


@pytest.fixture
def written_by_a_thread():
    """A function that lets a thread write one array's values and another's in turns, until the test
    is over."""
    stop, threads = threading.Event(), []

    def start(write, array, values):
        def work():
            count = 0
            while not stop.is_set():
                write(array, values[count % 2])
                array.wait_to_read()        # a queue without end would never be read
                count += 1
        threads.append(threading.Thread(target=work))
        threads[-1].start()
    yield start
    stop.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("write", [assign, add_in_place])
def test_reads_beside_a_writer_see_one_write(write, written_by_a_thread):
    """The copy began behind a wait, and another thread wrote while it went on."""
    array = nd.zeros(1 << 20)
    written_by_a_thread(write, array, [nd.full(1 << 20, v) for v in (1, 2)])
    for _ in range(40):
        found = array.asnumpy()
        assert found.min() == found.max()


@pytest.mark.parametrize("function", ["bincount", "nonzero", "unique", "boolean_mask"])
def test_results_beside_a_writer_have_room(function, written_by_a_thread):
    """These counted, and then took elements that another thread had written meanwhile: more than
    there was room for."""
    size = 1 << 20
    array, few, many = mx.np.zeros(size, dtype="int32"), mx.np.zeros(size, dtype="int32"), mx.np.full(size, 4000, dtype="int32")
    written_by_a_thread(assign, array, [few, many])
    for _ in range(20):
        if function == "bincount":
            counts = mx.np.bincount(array).asnumpy()
            assert (counts > 0).sum() == 1 and counts.max() == size
        elif function == "nonzero":
            assert mx.np.nonzero(array)[0].size in (0, size)
        elif function == "unique":
            assert mx.np.unique(array).asnumpy().tolist() in ([0], [4000])
        else:
            chosen = nd.contrib.boolean_mask(nd.ones(size), array.as_nd_ndarray()).asnumpy()
            assert chosen.size in (0, size) and (chosen == 1).all()
