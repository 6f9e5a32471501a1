"""Arrays that travel between processes through shared memory, under every way that Python starts a
process."""
import ctypes
import glob
import multiprocessing
import os
import shutil
import subprocess
import sys

import pytest

import mxnet

pytestmark = pytest.mark.sanitized

SENT, OPENED, SIZE = 12, 9, 1000


def send(queue, sent):
    """In a worker: makes arrays, announces each, frees its own and ends."""
    from mxnet.base import _LIB, check_call

    for i in range(sent):
        handle, shape, data = ctypes.c_void_p(), (ctypes.c_int64 * 1)(SIZE), (ctypes.c_float * SIZE)(*[i] * SIZE)
        check_call(_LIB.MXNDArrayCreate64(shape, 1, 1, 0, 0, 0, ctypes.byref(handle)))
        check_call(_LIB.MXNDArraySyncCopyFromCPU(handle, data, ctypes.c_size_t(SIZE)))
        queue.put(share(handle))
        check_call(_LIB.MXNDArrayFree(handle))


def share(handle):
    from mxnet.base import _LIB, check_call

    pid, number = ctypes.c_int(), ctypes.c_int()
    check_call(_LIB.MXNDArrayGetSharedMemHandle(handle, ctypes.byref(pid), ctypes.byref(number)))
    return pid.value, number.value


def receive(method):
    """In the main process: opens most of what a worker sends, sends one on, and leaves the rest."""
    from mxnet.base import _LIB, check_call

    context = multiprocessing.get_context(method)
    queue = context.Queue()
    worker = context.Process(target=send, args=(queue, SENT))
    worker.start()
    messages = [queue.get(timeout=60) for _ in range(SENT)]
    worker.join()
    assert worker.exitcode == 0
    for i, (pid, number) in enumerate(messages[:OPENED]):
        assert pid == worker.pid
        handle, data = ctypes.c_void_p(), (ctypes.c_float * SIZE)()
        check_call(_LIB.MXNDArrayCreateFromSharedMemEx(pid, number, (ctypes.c_int * 1)(SIZE), 1, 0, ctypes.byref(handle)))
        check_call(_LIB.MXNDArraySyncCopyToCPU(handle, data, ctypes.c_size_t(SIZE)))
        assert list(data) == [i] * SIZE
        assert not os.path.exists(f"/dev/shm/mxnet-{pid}-{number}")
        if i == 0:  # its name is gone, so a copy of ours is sent
            assert share(handle)[0] == os.getpid()
        check_call(_LIB.MXNDArrayFree(handle))
    assert len(glob.glob(f"/dev/shm/mxnet-{worker.pid}-*")) == SENT - OPENED
    print("pids", os.getpid(), worker.pid)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_messages_outlive_their_sender_and_nothing_stays(method, tmp_path):
    # Its own copy of the library: otherwise this process, once it has loaded the library, counts as
    # the one that messages of its children wait for.
    library = shutil.copy(mxnet.libinfo.find_lib_path()[0], tmp_path)
    result = subprocess.run([sys.executable, os.path.abspath(__file__), method], capture_output=True, text=True, timeout=120,
                            env=dict(os.environ, MXNET_LIBRARY_PATH=library))
    assert result.returncode == 0, result.stderr
    pids = result.stdout.split()[1:]
    assert len(pids) == 2
    for pid in pids:
        assert glob.glob(f"/dev/shm/mxnet-{pid}-*") == []


if __name__ == "__main__":
    receive(sys.argv[1])
