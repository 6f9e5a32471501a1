"""Batches of images from a record file or from a list of files, decoded and augmented in Python."""
import logging
import os
import random

import numpy as np

from .. import env
from .. import ndarray as nd
from ..io.base import DataBatch, DataIter
from ..util import to_current_class
from ._augment import CreateAugmenter
from ._lists import read_list
from ._read import imdecode

__all__ = ["ImageIter"]

_LABEL_DTYPES = ("float32", "float64", "int32", "int64")
_LAST_BATCHES = ("pad", "discard", "roll_over")


class ImageIter(DataIter):
    """Batches of images as `data`, (images, 3, height, width) of float32, and numbers as `label`.

    Parameters
    ----------
    batch_size : int
    data_shape : (3, height, width)
        Of one image, after the augmenters.
    label_width : int
        Numbers for each image. The label is (images,) for one, else (images, label_width).
    path_imgrec : str, optional
        A record file, as `mx.recordio.pack_img` makes records.
    path_imglist : str, optional
        A list of files: a number, the labels and a path on each line, with tabs between them.
        Together with `path_imgrec` and `path_imgidx` it gives other labels to the records.
    path_root : str, optional
        The folder of the paths in lists.
    path_imgidx : str, optional
        The index of the record file. `shuffle` and `num_parts` need it.
    shuffle : bool
        Another order for each pass, from Python's ``random``.
    part_index, num_parts : int
        Read part `part_index` of `num_parts` equal parts. What is left over is in no part.
    aug_list : list of callable, optional
        Augmenters, applied in their order. Default: ``CreateAugmenter(data_shape, **kwargs)``.
    imglist : list of list, optional
        As `path_imglist`, without the numbers: labels and a path, or a list of labels and a path.
    data_name, label_name : str
    dtype : {'float32', 'float64', 'int32', 'int64'}
        Of the labels that a list gives. Batches hold float32.
    last_batch_handle : {'pad', 'discard', 'roll_over'}
        What happens to images that fill no batch: the first ones of the pass fill it up and `pad`
        says how many they are; they are left out; or they begin the next pass.
    **kwargs
        For `CreateAugmenter`.

    Raises
    ------
    RuntimeError
        For an image that can not be decoded. The next batch begins behind it.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> record = mx.recordio.MXRecordIO(os.path.join(folder, 'a.rec'), 'w')
    >>> for label in range(4):
    ...     picture = b'P6 10 12 255 ' + bytes([50 * label] * 360)    # a PNM file
    ...     record.write(mx.recordio.pack((0, label, label, 0), picture))
    >>> record.close()
    >>> batches = mx.image.ImageIter(2, (3, 8, 8), path_imgrec=os.path.join(folder, 'a.rec'))
    >>> [(batch.data[0].shape, batch.label[0].asnumpy().tolist()) for batch in batches]
    [((2, 3, 8, 8), [0.0, 1.0]), ((2, 3, 8, 8), [2.0, 3.0])]
    """

    def __init__(self, batch_size, data_shape, label_width=1, path_imgrec=None, path_imglist=None, path_root=None, path_imgidx=None,
                 shuffle=False, part_index=0, num_parts=1, aug_list=None, imglist=None, data_name="data", label_name="softmax_label",
                 dtype="float32", last_batch_handle="pad", **kwargs):
        super().__init__(batch_size)
        self._check_arguments(batch_size, path_imgrec, path_imglist, imglist, last_batch_handle)
        dtype = _label_dtype(type(self).__name__, dtype)
        # Logs of 1.x have these lines, with its spelling.
        logging.info("Using %s threads for decoding...", env.value("MXNET_CPU_WORKER_NTHREADS"))
        logging.info("Set enviroment variable MXNET_CPU_WORKER_NTHREADS to a larger number to use more threads.")
        self._open_records(path_imgrec, path_imgidx)
        self.imglist, listed = read_list(type(self).__name__, path_imglist, imglist, dtype)
        self.path_root = path_root
        self.check_data_shape(data_shape)
        self.data_shape = tuple(data_shape)
        self.label_width = label_width
        self.provide_data = [(data_name, (batch_size, *self.data_shape))]      # plain tuples, as in 1.x
        self.provide_label = [(label_name, (batch_size, label_width) if label_width > 1 else (batch_size,))]
        self.shuffle = shuffle
        self.seq = self.imgidx if self.imgrec is not None else listed
        if self.seq is None:
            assert not shuffle and num_parts <= 1, (
                f"[{type(self).__name__}] shuffle={shuffle}, num_parts={num_parts} without an index; accepted is path_imgidx with them")
        self.num_image = None if self.seq is None else len(self.seq)
        if num_parts > 1:
            self._take_part(part_index, num_parts)
        self.auglist = CreateAugmenter(self.data_shape, **kwargs) if aug_list is None else aug_list
        self.cur = 0
        self._allow_read = True
        self.last_batch_handle = last_batch_handle
        self._cache_data = self._cache_label = self._cache_idx = None
        self.reset()

    def _check_arguments(self, batch_size, path_imgrec, path_imglist, imglist, last_batch_handle):
        name = type(self).__name__
        if batch_size < 1:
            raise ValueError(f"[{name}] batch_size={batch_size}; accepted are 1 or more")
        assert path_imgrec or path_imglist or isinstance(imglist, list), (
            f"[{name}] no images given; accepted are path_imgrec, path_imglist and imglist (a list)")
        if last_batch_handle not in _LAST_BATCHES:
            raise ValueError(f"[{name}] last_batch_handle={last_batch_handle!r}; accepted are {', '.join(_LAST_BATCHES)}")

    def _open_records(self, path, path_index):
        self.imgrec = self.imgidx = None
        if path:
            from .. import recordio
            logging.info("%s: loading recordio %s...", type(self).__name__, path)
            if path_index:
                self.imgrec = recordio.MXIndexedRecordIO(path_index, path, "r")
                self.imgidx = list(self.imgrec.keys)
            else:
                self.imgrec = recordio.MXRecordIO(path, "r")

    def _take_part(self, part_index, num_parts):
        assert 0 <= part_index < num_parts, (
            f"[{type(self).__name__}] part_index={part_index} of num_parts={num_parts}; accepted are 0 to {num_parts - 1}")
        size = len(self.seq) // num_parts
        self.seq = self.seq[part_index * size:(part_index + 1) * size]
        self.num_image = size

    def reset(self):
        """To the beginning, in a new order if `shuffle`. Images that 'roll_over' kept stay."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        self._rewind()
        self._allow_read = True

    def hard_reset(self):
        """As `reset`, without images that 'roll_over' kept.

        >>> for value in range(3):
        ...     with open('%d.pnm' % value, 'wb') as file:
        ...         _ = file.write(b'P6 4 4 255 ' + bytes([value] * 48))
        >>> files = [[i, '%d.pnm' % i] for i in range(3)]
        >>> batches = mx.image.ImageIter(2, (3, 4, 4), imglist=files, path_root='.',
        ...                              last_batch_handle='roll_over')
        >>> [batch.label[0].asnumpy().tolist() for batch in batches]
        [[0.0, 1.0]]
        >>> batches.reset()
        >>> [batch.label[0].asnumpy().tolist() for batch in batches]
        [[2.0, 0.0], [1.0, 2.0]]
        >>> batches.hard_reset()
        >>> [batch.label[0].asnumpy().tolist() for batch in batches]
        [[0.0, 1.0]]
        """
        self._cache_data = self._cache_label = self._cache_idx = None
        self.reset()

    def _rewind(self):
        if self.imgrec is not None:
            self.imgrec.reset()
        self.cur = 0

    def next_sample(self):
        """The label and the bytes of the next image; StopIteration behind the last one.

        >>> with open('red.pnm', 'wb') as file:
        ...     _ = file.write(b'P6 2 1 255 ' + bytes([255, 0, 0] * 2))
        >>> batches = mx.image.ImageIter(
        ...     1, (3, 4, 4), imglist=[[7, 'red.pnm']], path_root='.', resize=8)
        >>> label, data = batches.next_sample()
        >>> label.asnumpy(), data == batches.read_image('red.pnm')
        (array([7.], dtype=float32), True)
        >>> image = batches.imdecode(data)
        >>> image.shape, batches.augmentation_transform(image).shape
        ((1, 2, 3), (4, 4, 3))
        """
        if not self._allow_read:
            raise StopIteration
        if self.seq is None:
            record = self.imgrec.read()
            if record is None:
                raise StopIteration
            return _unpacked(record)
        if self.cur >= self.num_image:
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            label, path = self.imglist[key]
            return label, self.read_image(path)
        label, image = _unpacked(self.imgrec.read_idx(key))
        return label if self.imglist is None else self.imglist[key][0], image

    def next(self):
        """The next batch; StopIteration at the end of the pass.

        >>> class Positive(mx.image.ImageIter):
        ...     def postprocess_data(self, datum):
        ...         return super().postprocess_data(datum).astype('float32') / 255
        ...     def check_valid_image(self, data):
        ...         super().check_valid_image(data)
        ...         if data[0].max() == 0:
        ...             raise RuntimeError('black')
        >>> for value in 0, 51, 255:
        ...     with open('%d.pnm' % value, 'wb') as file:
        ...         _ = file.write(b'P6 4 4 255 ' + bytes([value] * 48))
        >>> files = [[0, '0.pnm'], [1, '51.pnm'], [2, '255.pnm']]
        >>> batches = Positive(1, (3, 4, 4), imglist=files, path_root='.', aug_list=[])
        >>> batch = batches.next()
        >>> batch.label[0].asnumpy(), batch.data[0].max().asnumpy().round(2)
        (array([1.], dtype=float32), array([0.2], dtype=float32))
        >>> batches.reset()
        >>> [batch.label[0].asnumpy().tolist() for batch in batches]
        [[1.0], [2.0]]
        """
        data, label, start = self._cache_data, self._cache_label, self._cache_idx
        pad = 0
        if data is None:
            data, label, start = to_current_class(nd.zeros(self.provide_data[0][1])), self._empty_labels(), 0
        else:
            self._cache_data = self._cache_label = self._cache_idx = None
            pad = self.batch_size - start
        filled = self._batchify(data, label, start)
        if filled < self.batch_size:
            if filled == 0 or self.last_batch_handle == "discard":
                if self.last_batch_handle != "discard" and self._allow_read:
                    self._rewind()      # as in 1.x, a loop may go on without a reset
                raise StopIteration
            if self.last_batch_handle == "roll_over":
                self._cache_data, self._cache_label, self._cache_idx = data, label, filled
                self._rewind()
                raise StopIteration
            pad = self.batch_size - filled
            self._fill_up(data, label, filled)
        return DataBatch([to_current_class(data)], [to_current_class(nd.array(label, dtype="float32"))], pad=pad)

    def _empty_labels(self):
        return np.zeros(self.provide_label[0][1], dtype=np.float32)

    def _fill_up(self, data, label, filled):
        """Fills rows from `filled` on with the first images, as often as they are needed, and ends
        the pass."""
        before = None
        while filled < self.batch_size and filled != before:
            self._rewind()
            before, filled = filled, self._batchify(data, label, filled)
        self._allow_read = False

    def _batchify(self, batch_data, batch_label, start=0):
        """Fills rows from `start` on and returns how many are filled then."""
        row = start
        while row < self.batch_size:
            try:
                label, packed = self.next_sample()
            except StopIteration:
                break
            try:
                prepared = self._prepare(self.imdecode(packed), label)
            except StopIteration as error:      # would end the pass
                raise RuntimeError(f"[{type(self).__name__}] an augmenter raised StopIteration for image {row} of a batch; "
                                   f"accepted: an image, or another error") from error
            if prepared is not None:
                image, label = prepared
                batch_data[row] = self.postprocess_data(image)
                self._put_label(batch_label, row, label)
                row += 1
        return row

    def _prepare(self, image, label):
        """The augmented image and its label; None for what `check_valid_image` rejects."""
        try:
            self.check_valid_image(image)
        except RuntimeError as error:
            logging.debug("Invalid image, skipping:  %s", error)
            return None
        return self.augmentation_transform(image), label

    def _put_label(self, batch_label, row, label):
        batch_label.reshape(self.batch_size, -1)[row] = label.asnumpy() if isinstance(label, nd.NDArray) else label

    def check_data_shape(self, data_shape):
        """ValueError unless `data_shape` is (3, height, width).

        >>> with open('red.pnm', 'wb') as file:
        ...     _ = file.write(b'P6 2 1 255 ' + bytes([255, 0, 0] * 2))
        >>> batches = mx.image.ImageIter(1, (3, 4, 4), imglist=[[7, 'red.pnm']], path_root='.')
        >>> try:
        ...     batches.check_data_shape((1, 4, 4))
        ... except ValueError as error:
        ...     print(error)
        [ImageIter] data_shape=(1, 4, 4); accepted are images of 3 channels
        """
        if len(data_shape) != 3:
            raise ValueError(f"[{type(self).__name__}] data_shape={data_shape}; accepted are three numbers, (channels, height, width)")
        if data_shape[0] != 3:
            raise ValueError(f"[{type(self).__name__}] data_shape={data_shape}; accepted are images of 3 channels")

    def check_valid_image(self, data):
        """RuntimeError for a decoded image without values; it is left out then. For subclasses to
        extend."""
        if len(data[0].shape) == 0:
            raise RuntimeError("Data shape is wrong")

    def imdecode(self, s):
        """The image in the bytes `s`: an NDArray (height, width, 3) of uint8."""
        try:
            return imdecode(s)
        except RuntimeError as error:
            raise RuntimeError(f"[{type(self).__name__}] Broken image {self._last_source()}: {error}") from None

    def _last_source(self):
        """Where the bytes of the last `next_sample` came from, in words."""
        if self.seq is None or not 0 < self.cur <= len(self.seq):
            return f"in {self.imgrec.uri}" if self.imgrec is not None else "given"
        key = self.seq[self.cur - 1]
        if self.imglist is not None and key in self.imglist:
            return f"filename: {self.imglist[key][1]}"
        return f"in record {key} of {self.imgrec.uri}"

    def read_image(self, fname):
        """The bytes of file `fname` in `path_root`."""
        with open(fname if self.path_root is None else os.path.join(self.path_root, fname), "rb") as file:
            return file.read()

    def augmentation_transform(self, data):
        """The image `data`, changed by all augmenters."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum):
        """The image (height, width, channels) as (channels, height, width)."""
        return nd.transpose(datum, axes=(2, 0, 1))


def _unpacked(record):
    from ..recordio import unpack
    header, image = unpack(record)
    return header.label, image


def _label_dtype(name, dtype):
    dtype = np.dtype(dtype).name if not isinstance(dtype, str) else dtype
    assert dtype in _LABEL_DTYPES, f"[{name}] dtype={dtype!r}, {dtype} label not supported; accepted are {', '.join(_LABEL_DTYPES)}"
    return dtype
