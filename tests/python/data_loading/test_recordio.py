"""Record files: byte layout, malformed files, forks, pickling, indexes, packed images."""
import gc
import multiprocessing
import os
import pickle
import random
import shutil
import struct
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import recordio
from mxnet._files import record_images as _record_images

MAGIC = struct.pack('<I', 0xCED7230A)
# Payloads, and the file that MXNet 1.9.1 writes for them.
PAYLOADS = [b'', b'a', b'abcd', b'abcde', MAGIC, b'ab' + MAGIC, MAGIC + MAGIC, b'abcd' + MAGIC + b'xyz', b'1234' + MAGIC,
            b'abcdefgh' * 3 + MAGIC + b'k' + MAGIC]
FILE = bytes.fromhex(
    '0a23d7ce000000000a23d7ce01000000610000000a23d7ce04000000616263640a23d7ce0500000061626364650000000a23d7ce00000020'
    '0a23d7ce000000600a23d7ce0600000061620a23d7ce00000a23d7ce000000200a23d7ce000000400a23d7ce000000600a23d7ce04000020'
    '616263640a23d7ce0300006078797a000a23d7ce04000020313233340a23d7ce000000600a23d7ce18000020616263646566676861626364'
    '6566676861626364656667680a23d7ce050000606b0a23d7ce000000')


def write(path, payloads):
    with recordio.MXRecordIO(path, 'w') as record:
        for payload in payloads:
            record.write(payload)


def read(path):
    with recordio.MXRecordIO(path, 'r') as record:
        return list(iter(record.read, None))


def test_layout(tmp_path):
    path = str(tmp_path / 'a.rec')
    write(path, PAYLOADS)
    assert open(path, 'rb').read() == FILE
    assert read(path) == PAYLOADS


def test_random_payloads_come_back(tmp_path):
    rng = random.Random(1)
    pieces = [MAGIC, MAGIC[:2], b'a', b'abcd', b'xyz', b'\0\0\0\0']
    payloads = [b''.join(rng.choices(pieces, k=rng.randrange(12))) for _ in range(500)]
    path = str(tmp_path / 'a.rec')
    write(path, payloads)
    assert read(path) == payloads
    assert os.path.getsize(path) % 4 == 0


def test_nothing_under_the_name_before_close(tmp_path):
    path = tmp_path / 'a.rec'
    path.write_bytes(b'before')
    record = recordio.MXRecordIO(str(path), 'w')
    record.write(b'x')
    assert path.read_bytes() == b'before'
    record.close()
    assert read(str(path)) == [b'x']
    with pytest.raises(KeyError):
        with recordio.MXRecordIO(str(path), 'w') as record:
            record.write(b'y')
            raise KeyError
    assert read(str(path)) == [b'x'] and os.listdir(tmp_path) == ['a.rec']
    record = recordio.MXRecordIO(str(path), 'w')
    record.write(b'z')
    del record                                  # as good as closed
    assert read(str(path)) == [b'z']


def test_a_folder_that_is_gone(tmp_path, capfd):
    """Closing names the file, and not the one that stood for it; a writer that is dropped, as after
    another error inside of a temporary folder, says nothing."""
    for index in (False, True):
        (tmp_path / "gone").mkdir()
        name = str(tmp_path / "gone" / "a.rec")
        writers = [recordio.MXIndexedRecordIO(name[:-3] + "idx", name, "w") if index else recordio.MXRecordIO(name, "w") for _ in "12"]
        writers[0].write(b"abc")
        shutil.rmtree(tmp_path / "gone")
        with pytest.raises(FileNotFoundError, match="a.(rec|idx)'$"):
            writers[0].close()
        writers.clear()
        gc.collect()
        assert "Exception ignored" not in capfd.readouterr().err


def test_reset_tell_and_close(tmp_path):
    path = str(tmp_path / 'a.rec')
    write(path, [b'a', b'bcdef'])
    record = recordio.MXRecordIO(path, 'r')
    assert record.tell() == 0 and record.read() == b'a' and record.tell() == 12
    record.reset()
    assert [record.read(), record.read(), record.read(), record.read()] == [b'a', b'bcdef', None, None]
    record.close()
    record.close()
    with pytest.raises(RuntimeError, match='closed'):
        record.read()
    record.open()
    assert record.read() == b'a'
    with pytest.raises(RuntimeError, match='reading only'):
        record.write(b'x')
    with pytest.raises(ValueError):
        recordio.MXRecordIO(path, 'a')
    for flag in 'rw':
        with pytest.raises(OSError):
            recordio.MXRecordIO(str(tmp_path / 'no' / 'such'), flag)


@pytest.mark.parametrize('data, offset, what', [
    (b'garbage!', 0, 'magic'),
    (FILE[:8] + b'garbage!', 8, 'magic'),
    (FILE[:13], 8, 'header'),
    (FILE[:19], 8, 'payload of 1 bytes'),
    (MAGIC + struct.pack('<I', (1 << 29) - 1) + b'abcd', 0, 'payload of 536870911 bytes'),
    (MAGIC + struct.pack('<I', 5 << 29), 4, 'flag 5'),
    (MAGIC + struct.pack('<I', 2 << 29), 0, 'flag 2'),
    (MAGIC + struct.pack('<I', 1 << 29), 0, 'middle of a record'),
    (MAGIC + struct.pack('<I', 1 << 29) + MAGIC + struct.pack('<I', 0), 8, 'flag 0'),
])
def test_malformed_files_name_the_offset(tmp_path, data, offset, what):
    path = str(tmp_path / 'a.rec')
    with open(path, 'wb') as out:
        out.write(data)
    with pytest.raises(mx.MXNetError, match=rf'a\.rec, byte {offset}: .*{what}'):
        read(path)


def test_random_damage_is_an_error_or_another_content(tmp_path):
    rng = random.Random(2)
    path = str(tmp_path / 'a.rec')
    errors = 0
    for _ in range(1000):
        data = bytearray(FILE)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        with open(path, 'wb') as out:
            out.write(data[:rng.randrange(len(data))] if rng.random() < 0.3 else data)
        try:
            assert all(isinstance(payload, bytes) for payload in read(path))
        except mx.MXNetError:
            errors += 1
    assert errors > 300


@pytest.fixture
def indexed(tmp_path):
    paths = str(tmp_path / 'a.idx'), str(tmp_path / 'a.rec')
    record = recordio.MXIndexedRecordIO(*paths, 'w')
    for i in range(20):
        record.write_idx(i * 2, b'%d' % i * i)
    record.close()
    return paths


def test_index(indexed):
    lines = [line.split('\t') for line in open(indexed[0]).read().splitlines()]
    assert [int(key) for key, _ in lines] == list(range(0, 40, 2)) and lines[0][1] == '0' and lines[1][1] == '8'
    record = recordio.MXIndexedRecordIO(*indexed, 'r')
    assert record.keys == list(range(0, 40, 2))
    assert [record.read_idx(i) for i in (38, 0, 8)] == [b'19' * 19, b'', b'4444']
    record.seek(6)
    assert record.read() == b'333' and record.read() == b'4444'
    with pytest.raises(KeyError):
        record.read_idx(1)
    assert recordio.MXIndexedRecordIO(*indexed, 'r', key_type=str).read_idx('8') == b'4444'


def test_malformed_index(indexed):
    with open(indexed[0], 'a') as out:
        out.write('x\t5\n')
    with pytest.raises(mx.MXNetError, match='line 21'):
        recordio.MXIndexedRecordIO(*indexed, 'r')


def test_readers_pickle_and_fork_at_their_place(indexed):
    record = recordio.MXIndexedRecordIO(*indexed, 'r')
    record.seek(20)
    copy = pickle.loads(pickle.dumps(record))
    assert copy.read() == record.read() == b'10' * 10
    queue = multiprocessing.get_context('fork').SimpleQueue()

    def child():
        queue.put([record.read() for _ in range(5)])

    process = multiprocessing.get_context('fork').Process(target=child)
    process.start()
    process.join()
    expected = [b'%d' % i * i for i in range(11, 16)]
    assert queue.get() == expected == [record.read() for _ in range(5)]


def test_a_writer_belongs_to_its_process(tmp_path):
    path = str(tmp_path / 'a.rec')
    record = recordio.MXRecordIO(path, 'w')
    record.write(b'1')
    with pytest.raises(RuntimeError):
        pickle.dumps(record)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            record.write(b'2')
        except RuntimeError:
            code = 0
        record.close()
        os._exit(code if not os.path.exists(path) else 2)
    assert os.waitpid(pid, 0)[1] == 0
    record.write(b'3')
    record.close()
    assert read(path) == [b'1', b'3']


def test_pack():
    header = recordio.IRHeader(0, 3.5, 7, 8)
    record = recordio.pack(header, b'data')
    assert record.hex() == '00000000000060400700000000000000080000000000000064617461'
    assert recordio.unpack(record) == (header, b'data')
    record = recordio.pack(recordio.IRHeader(9, [1, 2, 3], 7, 8), b'data')
    assert record.hex() == '0300000000000000070000000000000008000000000000000000803f000000400000404064617461'
    header, data = recordio.unpack(record)
    assert (header.flag, header.label.tolist(), header.label.dtype, header.id, header.id2, data) == \
        (3, [1, 2, 3], np.float32, 7, 8, b'data')
    for short in (record[:20], record[:30]):
        with pytest.raises(ValueError):
            recordio.unpack(short)


def test_damaged_parts_are_skipped_when_asked(tmp_path):
    path, rng = str(tmp_path / 'a.rec'), random.Random(3)
    payloads = [bytes([i]) * rng.randrange(40) + (MAGIC if i % 5 == 0 else b'') for i in range(30)]
    write(path, payloads)
    whole = open(path, 'rb').read()
    starts = [m for m in range(0, len(whole), 4) if whole[m:m + 4] == MAGIC and whole[m + 7] >> 5 in (0, 1)]
    for damage in (whole[:starts[9]] + b'garb' + whole[starts[9] + 4:],                     # a magic
                   whole[:starts[9] + 4] + b'\xff\xff\xff\x1f' + whole[starts[9] + 8:],     # a length
                   whole[:starts[9] + 4] + b'\0\0\0\xff' + whole[starts[9] + 8:]):          # a flag
        open(path, 'wb').write(damage)
        with pytest.raises(mx.MXNetError, match=f'a.rec, byte {starts[9]}|a.rec, byte {starts[9] + 4}'):
            read(path)
        record = recordio.MXRecordIO(path, 'r', skip_malformed=True)
        with pytest.warns(UserWarning, match=f'goes on at byte {starts[10]}'):
            assert list(iter(record.read, None)) == payloads[:9] + payloads[10:]
        assert record.num_skipped == 1
    open(path, 'wb').write(whole[:-2])                                                      # the end is missing
    record = recordio.MXRecordIO(path, 'r', skip_malformed=True)
    with pytest.warns(UserWarning, match='the end of the file'):
        assert list(iter(record.read, None)) == payloads[:29]
    open(path, 'wb').write(bytes(rng.randrange(256) for _ in range(5000)))
    record = recordio.MXRecordIO(path, 'r', skip_malformed=True)
    with pytest.warns(UserWarning):
        assert record.read() is None and record.num_skipped == 1
    index = str(tmp_path / 'a.idx')
    open(index, 'w').write('0\t0\n')
    with pytest.raises(mx.MXNetError, match='byte 0'):
        recordio.MXIndexedRecordIO(index, path, 'r', skip_malformed=True).read_idx(0)


@pytest.fixture(params=['cv2', 'codecs', 'pillow'])
def codec(request, monkeypatch):
    """Each way of encoding and decoding, where it is there."""
    if request.param == 'cv2':
        pytest.importorskip('cv2')
        return request.param
    monkeypatch.setattr(_record_images, '_opencv', lambda: None)
    if request.param == 'codecs' and not mx.runtime.Features().is_enabled('OPENCV'):
        pytest.skip('a build without OpenCV')
    if request.param == 'pillow':
        pytest.importorskip('PIL')
        monkeypatch.setattr(_record_images, '_has_codecs', lambda jpeg: False)
    return request.param


def test_images(codec):
    image = (np.indices((16, 24, 3)).sum(0) * 4 % 256).astype('uint8')
    header, again = recordio.unpack_img(recordio.pack_img((0, 1.0, 2, 3), image, quality=9, img_fmt='.png'))
    assert (again == image).all() and header.label == 1.0
    _, lossy = recordio.unpack_img(recordio.pack_img((0, 1.0, 2, 3), image, quality=95))
    assert lossy.shape == image.shape and np.abs(lossy.astype(int) - image).mean() < 20
    _, grey = recordio.unpack_img(recordio.pack_img((0, 1.0, 2, 3), image, img_fmt='.png', quality=1), iscolor=0)
    assert grey.shape == (16, 24)
    for pixels in (image[:, :, 0], image[:, :, :1]):
        for iscolor, shape in ((-1, (16, 24)), (0, (16, 24)), (1, (16, 24, 3))):
            _, again = recordio.unpack_img(recordio.pack_img((0, 1.0, 2, 3), pixels, img_fmt='.png', quality=3), iscolor)
            assert again.shape == shape and (again.reshape(16, 24, -1)[:, :, -1] == image[:, :, 0]).all()
    with_alpha = np.dstack([image, image[:, :, 0]])
    _, again = recordio.unpack_img(recordio.pack_img((0, 1.0, 2, 3), with_alpha, img_fmt='.PNG', quality=None))
    assert (again == with_alpha).all()
    assert recordio.unpack_img(recordio.pack_img((0, 1.0, 2, 3), with_alpha))[1].shape == image.shape
    with pytest.raises(ValueError):
        recordio.unpack_img(recordio.pack((0, 1.0, 2, 3), b'no image'))
    if codec != 'cv2':
        with pytest.raises(ValueError, match='img_fmt'):
            recordio.pack_img((0, 1.0, 2, 3), image, img_fmt='.gif')
        for wrong in (image[:0], image[:, :, :2], image.astype('float32')):
            with pytest.raises(ValueError, match='accepted'):
                recordio.pack_img((0, 1.0, 2, 3), wrong)



def test_formats_that_nothing_here_reads_are_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(_record_images, '_opencv', lambda: None)
    monkeypatch.setattr(_record_images, '_has_codecs', lambda jpeg: False)
    monkeypatch.setitem(sys.modules, 'PIL', None)
    for call in (lambda: recordio.pack_img(recordio.IRHeader(0, 1, 2, 0), np.zeros((4, 4, 3), np.uint8), img_fmt='.png'),
                 lambda: recordio.unpack_img(recordio.pack(recordio.IRHeader(0, 1, 2, 0), b'\x89PNG'))):
        with pytest.raises(ImportError, match='pip install pillow'):
            call()


def test_an_index_beyond_the_end_of_its_records_is_an_error(tmp_path):
    """Of a file that was cut between two records, and all that reads by keys."""
    names = [str(tmp_path / name) for name in ('a.idx', 'a.rec')]
    with recordio.MXIndexedRecordIO(*names, 'w') as writer:
        for key in range(4):
            writer.write_idx(key, recordio.pack(recordio.IRHeader(0, key, key, 0), b'x' * 8))
        end = writer.idx[2]
    with open(names[1], 'r+b') as file:
        file.truncate(end)
    reader = recordio.MXIndexedRecordIO(*names, 'r')
    assert reader.read_idx(1).endswith(b'x' * 8)
    for key in (2, 3):
        with pytest.raises(mx.MXNetError, match=rf'a\.rec, byte {end if key == 2 else r"[0-9]+"}: .*a\.idx has the key {key}'):
            reader.read_idx(key)
    for dataset in (mx.gluon.data.RecordFileDataset(names[1]), mx.gluon.data.vision.ImageRecordDataset(names[1])):
        with pytest.raises(mx.MXNetError, match='has the key 2 here'):
            dataset[2]
    with recordio.MXRecordIO(names[1], 'r') as records:       # whose end is no error
        assert [records.read() is None for _ in range(3)] == [False, False, True]
