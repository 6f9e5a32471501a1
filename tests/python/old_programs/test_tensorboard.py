"""Files of events for TensorBoard, read back by the definition of the format."""
import collections
import logging
import os
import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import tensorboard
from mxnet.contrib.tensorboard import LogMetricsCallback

Param = collections.namedtuple('Param', ['epoch', 'nbatch', 'eval_metric', 'locals'])


def masked(data):
    """CRC-32C bit by bit, from its polynomial."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 * (crc & 1))
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def fields(data):
    """{number: list of values} of a message of protobuf."""
    found, i = collections.defaultdict(list), 0

    def varint():
        nonlocal i
        value = shift = 0
        while True:
            byte = data[i]
            i += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while i < len(data):
        key = varint()
        size = {0: None, 1: 8, 5: 4}.get(key & 7, -1)
        if size is None:
            found[key >> 3].append(varint())
            continue
        size = varint() if size == -1 else size
        found[key >> 3].append(data[i:i + size])
        assert i + size <= len(data)
        i += size
    return found


def events(path):
    """(version or None, step, tag, value) of each record."""
    with open(path, 'rb') as file:
        data = file.read()
    found, i = [], 0
    while i < len(data):
        size, check = struct.unpack_from('<QI', data, i)
        assert check == masked(data[i:i + 8])
        body = data[i + 12:i + 12 + size]
        assert struct.unpack_from('<I', data, i + 12 + size)[0] == masked(body)
        i += 16 + size
        event = fields(body)
        step = event[2][0] if event[2] else 0
        assert 1e9 < struct.unpack('<d', event[1][0])[0] < 1e11
        if event[3]:
            found.append((event[3][0].decode(), step, None, None))
        for summary in event[5]:
            for value in fields(summary)[1]:
                value = fields(value)
                found.append((None, step, value[1][0].decode(), struct.unpack('<f', value[2][0])[0]))
    return found


def only_file(folder):
    name, = os.listdir(folder)
    assert name.startswith('events.out.tfevents.')
    return os.path.join(folder, name)


def metric():
    found = mx.metric.create(['mse', 'mae'])
    found.update([mx.nd.array([1., 2.])], [mx.nd.array([2., 4.])])
    return found


@pytest.mark.parametrize('prefix', [None, 'train', 'é'])
def test_scalars_come_back(tmp_path, prefix):
    callback = LogMetricsCallback(str(tmp_path / 'deep' / 'logs'), prefix)
    assert os.listdir(tmp_path / 'deep' / 'logs') == []
    callback(Param(0, 0, None, None))
    for epoch in (0, 0, 1, 300, 1 << 40):
        callback(Param(epoch, 7, metric(), None))
    start = '' if prefix is None else prefix + '-'
    assert events(only_file(tmp_path / 'deep' / 'logs')) == [('brain.Event:2', 0, None, None)] + [
        (None, epoch, start + name, value) for epoch in (0, 0, 1, 300, 1 << 40) for name, value in (('mse', 2.5), ('mae', 1.5))]


def test_check_sums_of_the_standard():
    # RFC 3720, appendix B.4
    for data, crc in ((bytes(32), 0x8A9136AA), (b'\xff' * 32, 0x62A8AB43), (bytes(range(32)), 0x46DD794E)):
        assert tensorboard._masked_crc(data) == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF == masked(data)


def test_values_that_are_no_numbers_and_epochs_before_the_first(tmp_path):
    callback = LogMetricsCallback(tmp_path)
    callback(Param(-1, 0, mx.metric.create('mse'), None))
    (_, _, _, _), (_, step, name, value) = events(only_file(tmp_path))
    assert (step, name) == ((1 << 64) - 1, 'mse') and np.isnan(value)


def test_two_writers_have_two_files(tmp_path):
    for _ in range(2):
        LogMetricsCallback(str(tmp_path))(Param(0, 0, metric(), None))
    assert len(os.listdir(tmp_path)) == 2 and all(len(events(tmp_path / name)) == 3 for name in os.listdir(tmp_path))


def test_a_module_calls_it(tmp_path):
    output = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1), mx.sym.var('label'))
    data = mx.io.NDArrayIter(np.ones((8, 3)), np.ones(8), 4, label_name='label')
    trained = mx.mod.Module(output, label_names=['label'], logger=logging.getLogger('quiet'))
    trained.fit(data, data, 'mse', num_epoch=2, batch_end_callback=LogMetricsCallback(str(tmp_path / 'train'), 'train'),
                eval_end_callback=LogMetricsCallback(str(tmp_path / 'eval'), 'eval'))
    assert [event[1:3] for event in events(only_file(tmp_path / 'train'))[1:]] == [(0, 'train-mse')] * 2 + [(1, 'train-mse')] * 2
    assert [event[1:3] for event in events(only_file(tmp_path / 'eval'))[1:]] == [(0, 'eval-mse'), (1, 'eval-mse')]


def test_tensorboard_reads_it(tmp_path):
    pytest.importorskip('tensorboard')
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    callback = LogMetricsCallback(str(tmp_path), 'train')
    for epoch in (0, 5):
        callback(Param(epoch, 0, metric(), None))
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    assert {tag: [(e.step, e.value) for e in found.Scalars(tag)] for tag in found.Tags()['scalars']} == {
        'train-mse': [(0, 2.5), (5, 2.5)], 'train-mae': [(0, 1.5), (5, 1.5)]}
