"""Handwritten digits in the files in which they are distributed."""
import gzip
import math
import struct
import warnings

import numpy as np

from .. import ndarray as nd
from ..base import open_file, _MXValueError
from .base import DataDesc, DataIter

__all__ = ["MNISTIter"]

_IMAGES, _LABELS = 0x803, 0x801         # unsigned bytes in three dimensions, and in one


def _read_idx(path, magic, dimensions):
    """The array in an IDX file, which may be compressed with gzip."""
    with open_file(path, "rb") as stream:
        compressed = stream.read(2) == b"\x1f\x8b"
    with (gzip.open if compressed else open)(path, "rb") as stream:
        header = stream.read(4 + 4 * dimensions)
        if len(header) < 4 + 4 * dimensions:
            raise ValueError(f"[MNISTIter] {path}: {len(header)} bytes; the header alone has {4 + 4 * dimensions}")
        found, *shape = struct.unpack(f">{1 + dimensions}I", header)
        if found != magic:
            raise _MXValueError(f"[MNISTIter] {path} begins with {found:#x}; {magic:#x} is expected")
        size = math.prod(shape)
        data = bytearray()
        # in pieces: a wrong header must not allocate what the file does not have
        while len(data) < size:
            piece = stream.read(min(size - len(data), 1 << 24))
            if not piece:
                raise ValueError(f"[MNISTIter] {path} has {len(data)} bytes of data; shape {tuple(shape)} needs {size}")
            data += piece
    return np.frombuffer(data, np.uint8).reshape(shape)


def _flag(name, value):
    """A truth value, also as the text that configuration files hold."""
    if isinstance(value, str):
        known = {"true": True, "1": True, "false": False, "0": False}
        if value.lower() not in known:
            raise ValueError(f"[MNISTIter] {name}={value!r}; True and False are accepted")
        return known[value.lower()]
    return bool(value)


class MNISTIter(DataIter):
    """Batches of the MNIST files: images of 28 x 28 with values from 0 to 255/256, and their
    digits.

    Instances that do not fill a batch are left out.

    Parameters
    ----------
    image, label : str
        Files in IDX format, compressed with gzip or not.
    batch_size : int
    shuffle : bool
        Mix the instances, once, by `seed`.
    flat : bool
        Vectors of 784 numbers, in place of 1 x 28 x 28.
    seed : int
    silent : bool
        Do not print what was loaded.
    num_parts, part_index : int
        Divide the instances among workers, and which part this one gets.
    dtype : str, optional
        Of the images; float32 by default.
    data_name, label_name : str
    prefetch_buffer, ctx, input_shape, data_shape
        Accepted as in MXNet 1.x and without effect: `flat` says the shape, and
        :class:`PrefetchingIter` reads ahead. Any other argument is ignored with a warning.

    Raises
    ------
    OSError, ValueError
        if a file can't be read, or is not one of images or labels.
    """

    def __init__(self, image="./train-images-idx3-ubyte", label="./train-labels-idx1-ubyte", batch_size=128,
                 shuffle=True, flat=False, seed=0, silent=False, num_parts=1, part_index=0, prefetch_buffer=4,
                 ctx="cpu", dtype=None, data_name="data", label_name="softmax_label", **kwargs):
        unknown = sorted(set(kwargs) - {"input_shape", "data_shape"})
        if unknown:
            warnings.warn(f"[MNISTIter] arguments {', '.join(unknown)} are ignored", UserWarning, stacklevel=2)
        flat, shuffle, silent = (_flag(name, value) for name, value in (("flat", flat), ("shuffle", shuffle), ("silent", silent)))
        super().__init__(batch_size)
        if not 0 <= part_index < num_parts:
            raise ValueError(f"[MNISTIter] part_index={part_index} of num_parts={num_parts}")
        if batch_size < 1:
            raise ValueError(f"[MNISTIter] batch_size={batch_size}; at least 1 is expected")
        images, labels = _read_idx(image, _IMAGES, 3), _read_idx(label, _LABELS, 1)
        if len(images) != len(labels):
            raise ValueError(f"[MNISTIter] {image} has {len(images)} images, and {label} {len(labels)} labels")
        begin, end = (len(images) * i // num_parts for i in (part_index, part_index + 1))
        self._order = np.arange(begin, end)
        if shuffle:
            np.random.RandomState(seed).shuffle(self._order)
        self._images = images.reshape(len(images), -1) if flat else images[:, None]
        self._labels = labels
        self._dtype = np.dtype(dtype or "float32").type
        self.provide_data = [DataDesc(data_name, (batch_size, *self._images.shape[1:]), self._dtype)]
        self.provide_label = [DataDesc(label_name, (batch_size,))]
        self._start = -batch_size
        if not silent:
            print(f"MNISTIter: load {end - begin} images, shuffle={int(shuffle)}, shape={self.provide_data[0].shape}")

    def reset(self):
        self._start = -self.batch_size

    def iter_next(self):
        self._start += self.batch_size
        return self._start + self.batch_size <= len(self._order)

    def getindex(self):
        return self._order[self._start:self._start + self.batch_size].astype(np.uint64)

    def getdata(self):
        images = self._images[self.getindex().astype(np.int64)]
        return [nd.array(images.astype(np.float32) / 256, dtype=self._dtype)]

    def getlabel(self):
        return [nd.array(self._labels[self.getindex().astype(np.int64)].astype(np.float32))]

    def getpad(self):
        return 0
