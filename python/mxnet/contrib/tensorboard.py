"""Metrics of a training as curves in TensorBoard."""
import os
import socket
import struct
import time

__all__ = ["LogMetricsCallback"]


def _crc_table():
    """Table of CRC-32C (Castagnoli; RFC 3720, appendix B.4), a byte at a time."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC = _crc_table()


def _masked_crc(data):
    """CRC-32C, rotated and shifted as TFRecord files have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _record(data):
    """A record of a TFRecord file: length, its check sum, data, their check sum."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _masked_crc(length)) + data + struct.pack("<I", _masked_crc(data))


def _varint(value):
    value &= 0xFFFFFFFFFFFFFFFF     # int64 of protobuf: two's complement
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number, data):
    """A field of bytes in the encoding of protobuf."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _event(wall_time, step=0, file_version=None, scalar=None):
    """A message `Event` of TensorBoard: wall_time = 1 (double), step = 2 (int64), file_version = 3
    (string), summary = 5, whose values = 1 have tag = 1 (string) and simple_value = 2 (float)."""
    event = b"\x09" + struct.pack("<d", wall_time)
    if step:
        event += b"\x10" + _varint(step)
    if file_version is not None:
        event += _field(3, file_version.encode())
    if scalar is not None:
        tag, value = scalar
        event += _field(5, _field(1, _field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)))
    return event


class _EventFile:
    """Appends scalars to a file of events in a folder. Each of them is written at once: a program
    that ends early leaves whole records."""

    def __init__(self, folder):
        self._folder = os.fspath(folder)
        os.makedirs(self._folder, exist_ok=True)
        self._file = None

    def _open(self):
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}"
        path, count = os.path.join(self._folder, name), 0
        while True:
            try:
                return open(path, "xb", buffering=0)
            except FileExistsError:         # another writer began in the same second
                count += 1
                path = os.path.join(self._folder, f"{name}.{os.getpid()}.{count}")

    def add_scalar(self, tag, value, global_step=None):
        """Append the value of a curve."""
        if self._file is None:
            self._file = self._open()
            self._file.write(_record(_event(time.time(), file_version="brain.Event:2")))
        self._file.write(_record(_event(time.time(), int(global_step or 0), scalar=(tag, float(value)))))

    def flush(self):
        """Nothing is left to write."""

    def close(self):
        """Close the file; the next value begins another one."""
        if self._file is not None:
            self._file.close()
            self._file = None


class LogMetricsCallback:
    """A callback, for batches or evaluations, that writes metrics to a file for TensorBoard.

    Each value is a point of the curve that has the metric's name, with the epoch as its step. The
    file is in the format of TensorBoard; no other package is needed to write it.

    Parameters
    ----------
    logging_dir : str
        Folder of the file; it is made if need be. Show it with ``tensorboard --logdir=...``.
    prefix : str, optional
        What stands before the names of metrics, with a hyphen.

    >>> import collections
    >>> metric = mx.metric.MSE()
    >>> metric.update([mx.nd.zeros(2)], [mx.nd.ones(2)])
    >>> Param = collections.namedtuple('BatchEndParam', ['epoch', 'nbatch', 'eval_metric', 'locals'])
    >>> LogMetricsCallback('logs', prefix='train')(Param(0, 7, metric, None))
    """

    def __init__(self, logging_dir, prefix=None):
        self.prefix = prefix
        self.summary_writer = _EventFile(logging_dir)

    def __call__(self, param):
        """Write the values of ``param.eval_metric``; nothing if it is None."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            if self.prefix is not None:
                name = f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(name, value, global_step=param.epoch)
