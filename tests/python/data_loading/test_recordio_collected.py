"""Records that are collected before they are written."""
import os
import resource
import threading

import pytest
from mxnet import recordio


def read(path):
    with recordio.MXRecordIO(path, "r") as reader:
        return list(iter(reader.read, None))


@pytest.mark.parametrize("size", [1, 3000, 70000])
def test_all_records_come_in_order(tmp_path, size):
    path = str(tmp_path / "a.rec")
    records = [b"%d" % i + b"x" * size for i in range(60)]
    writer = recordio.MXRecordIO(path, "w")
    places = []
    for record in records:
        places.append(writer.tell())
        writer.write(record)
    end = writer.tell()
    writer.close()
    assert os.path.getsize(path) == end and read(path) == records
    reader = recordio.MXRecordIO(path, "r")
    for record, place in reversed(list(zip(records, places))):
        reader._seek(place)
        assert reader.read() == record


def test_a_writer_that_begins_again_forgets_nothing_and_repeats_nothing(tmp_path):
    path = str(tmp_path / "a.rec")
    writer = recordio.MXRecordIO(path, "w")
    writer.write(b"first")
    writer.reset()
    assert read(path) == [b"first"]
    writer.write(b"second")
    writer.close()
    writer.close()
    assert read(path) == [b"second"]


def test_a_pipe_has_each_record_at_once(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    got, wait = [], threading.Event()

    def receive():
        with open(path, "rb", buffering=0) as pipe:
            got.append(pipe.read(16))
            wait.set()

    thread = threading.Thread(target=receive)
    thread.start()
    writer = recordio.MXRecordIO(path, "w")
    writer.write(b"12345678")
    assert wait.wait(60) and got[0][8:] == b"12345678"
    thread.join()
    writer.close()


def test_a_fork_writes_nothing_of_its_parent(tmp_path):
    path = str(tmp_path / "a.rec")
    writer = recordio.MXRecordIO(path, "w")
    writer.write(b"once")
    child = os.fork()
    if child == 0:
        try:
            writer.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert not os.path.exists(path)
    writer.close()
    assert read(path) == [b"once"]


@pytest.mark.parametrize("index", [False, True])
def test_a_full_disk_is_told_at_the_latest_by_close(tmp_path, index):
    """The older files stay, and nothing lies beside them."""
    path, keys = str(tmp_path / "a.rec"), str(tmp_path / "a.idx")
    for name in (path, keys):
        with open(name, "wb") as file:
            file.write(b"before")
    writer = recordio.MXIndexedRecordIO(keys, path, "w") if index else recordio.MXRecordIO(path, "w")
    for i in range(10):
        writer.write_idx(i, b"x" * 1000) if index else writer.write(b"x" * 1000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))     # Python ignores the signal
    try:
        with pytest.raises(OSError) as error:
            writer.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not isinstance(error.value, FileNotFoundError)
    assert sorted(os.listdir(tmp_path)) == ["a.idx", "a.rec"]
    for name in (path, keys):
        with open(name, "rb") as file:
            assert file.read() == b"before"


MAGIC = bytes.fromhex("0a23d7ce")


@pytest.mark.parametrize("size", [40, 5000, 100001])
@pytest.mark.parametrize("place", [0, 4, 6, 8])
def test_magics_in_records_of_all_sizes(tmp_path, size, place):
    """Only a magic at a multiple of four splits a record; what is written are the parts."""
    path = str(tmp_path / "a.rec")
    record = b"x" * place + MAGIC + b"y" * (size - place - 4)
    with recordio.MXRecordIO(path, "w") as writer:
        writer.write(record)
        writer.write(b"next")
        end = writer.tell()
    assert os.path.getsize(path) == end and read(path) == [record, b"next"]
    with open(path, "rb") as file:
        flag = int.from_bytes(file.read(8)[4:], "little") >> 29
    assert flag == (1 if place % 4 == 0 else 0)


def test_a_long_record_that_is_no_bytes(tmp_path):
    path = str(tmp_path / "a.rec")
    with recordio.MXRecordIO(path, "w") as writer:
        writer.write(memoryview(bytearray(range(256)) * 400))
    assert read(path) == [bytes(range(256)) * 400]
