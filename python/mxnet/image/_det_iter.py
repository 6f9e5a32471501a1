"""Batches of images with labelled boxes."""
import logging

import numpy as np

from .. import ndarray as nd
from ._augment import _MEAN, _STD, _three
from ._det_augment import CreateDetAugmenter
from ._iter import ImageIter

__all__ = ["ImageDetIter"]

_FEWEST_NUMBERS = 7     # of a label: two of the header and the five of one object
_NO_OBJECT = -1         # fills rows of labels behind an image's objects


class ImageDetIter(ImageIter):
    """Batches of images as `data`, (images, 3, height, width), and of their objects as `label`,
    (images, objects, object width) of float32, both float32.

    The numbers of an image in a record or a list are: how many numbers its header has, how many an
    object has, the rest of the header, then the objects, one after the other. An object is its
    class, 0 or more, then left, top, right and bottom as parts of the width and the height, and
    whatever else belongs to it. Objects without an area are left out. Rows behind the last object
    of an image are filled with -1.

    Parameters
    ----------
    batch_size : int
    data_shape : (3, height, width)
    path_imgrec, path_imglist, path_root, path_imgidx, shuffle, part_index, num_parts, imglist
        As of `ImageIter`.
    aug_list : list of DetAugmenter, optional
        Default: ``CreateDetAugmenter(data_shape, **kwargs)``.
    data_name, label_name, last_batch_handle
        As of `ImageIter`.
    **kwargs
        For `CreateDetAugmenter`.

    Raises
    ------
    RuntimeError
        When it is made, for labels that are not as above; all of them are read then.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> record = mx.recordio.MXRecordIO(os.path.join(folder, 'a.rec'), 'w')
    >>> for boxes in ([1, .1, .2, .5, .6], [0, .3, .3, .4, .9, 2, .5, 0, 1, 1]):
    ...     header = mx.recordio.IRHeader(0, [2, 5, *boxes], 0, 0)
    ...     record.write(mx.recordio.pack(header, b'P6 10 12 255 ' + bytes(360)))    # a PNM file
    >>> record.close()
    >>> batches = mx.image.ImageDetIter(2, (3, 8, 8), path_imgrec=os.path.join(folder, 'a.rec'))
    >>> batches.next().label[0].shape
    (2, 2, 5)
    """

    def __init__(self, batch_size, data_shape, path_imgrec=None, path_imglist=None, path_root=None, path_imgidx=None, shuffle=False,
                 part_index=0, num_parts=1, aug_list=None, imglist=None, data_name="data", label_name="label", last_batch_handle="pad",
                 **kwargs):
        super().__init__(batch_size, data_shape, path_imgrec=path_imgrec, path_imglist=path_imglist, path_root=path_root,
                         path_imgidx=path_imgidx, shuffle=shuffle, part_index=part_index, num_parts=num_parts, aug_list=[],
                         imglist=imglist, data_name=data_name, label_name=label_name, last_batch_handle=last_batch_handle)
        self.auglist = CreateDetAugmenter(self.data_shape, **kwargs) if aug_list is None else aug_list
        self._set_label_shape(self._estimate_label_shape())

    def _set_label_shape(self, shape):
        self.label_shape = tuple(shape)
        self.provide_label = [(self.provide_label[0][0], (self.batch_size, *self.label_shape))]

    def _estimate_label_shape(self):
        """The largest number of objects and of numbers of an object, in all labels."""
        objects, numbers = 0, 0
        self.reset()
        while True:
            try:
                label = self._parse_label(self.next_sample()[0])
            except StopIteration:
                break
            objects, numbers = max(objects, label.shape[0]), max(numbers, label.shape[1])
        self.reset()
        return objects, numbers

    def _parse_label(self, label):
        """The objects of an image's numbers, as an array (objects, object width)."""
        raw = (label.asnumpy() if isinstance(label, nd.NDArray) else np.asarray(label, dtype=np.float32)).ravel()
        if raw.size < _FEWEST_NUMBERS:
            raise RuntimeError(f"[{type(self).__name__}] Label shape is invalid: {raw.shape}; "
                               f"accepted are {_FEWEST_NUMBERS} numbers or more")
        if not np.isfinite(raw[:2]).all():
            raise RuntimeError(f"[{type(self).__name__}] a label begins with {raw[:2]}; accepted are the widths of header and object")
        header, width = int(raw[0]), int(raw[1])
        if header < 2 or width < 5 or (raw.size - header) % width:
            raise RuntimeError(f"[{type(self).__name__}] Label shape {raw.shape} inconsistent with annotation width {width}, header width "
                               f"{header}; accepted are headers of 2 or more and objects of 5 or more numbers")
        objects = raw[header:].reshape(-1, width)
        objects = objects[(objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])]
        if not objects.size:
            raise RuntimeError(f"[{type(self).__name__}] Encounter sample with no valid label.")
        return objects

    def _check_valid_label(self, label):
        """RuntimeError unless `label` has an object that has an area and a class."""
        if label.ndim != 2 or label.shape[1] < 5:
            raise RuntimeError(f"[{type(self).__name__}] Label with shape (1+, 5+) required, {label} received.")
        if not np.any((label[:, 0] >= 0) & (label[:, 3] > label[:, 1]) & (label[:, 4] > label[:, 2])):
            raise RuntimeError(f"[{type(self).__name__}] Invalid label occurs.")

    def check_label_shape(self, label_shape):
        """ValueError unless labels of this shape (objects, object width) have room for ours."""
        if len(label_shape) != 2:
            raise ValueError(f"[{type(self).__name__}] label_shape={label_shape}; label_shape should have length 2")
        objects, width = self.label_shape
        if label_shape[0] < objects:
            raise ValueError(f"[{type(self).__name__}] Attempts to reduce label count from {objects} to {label_shape[0]}, not allowed.")
        if label_shape[1] != width:
            raise ValueError(f"[{type(self).__name__}] label_shape object width inconsistent: {width} vs {label_shape[1]}.")

    def reshape(self, data_shape=None, label_shape=None):
        """Changes the shapes (3, height, width) of images and (objects, object width) of labels.

        Augmenters stay as they are. What they make has to have the new shape.

        >>> with open('a.pnm', 'wb') as file:
        ...     _ = file.write(b'P6 8 8 255 ' + bytes(192))
        >>> one = [2, 5, 0, .25, .25, .75, .75]
        >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[one, 'a.pnm']], path_root='.')
        >>> batches.check_label_shape((3, 5))
        >>> batches.reshape(label_shape=(3, 5))
        >>> batches.next().label[0].asnumpy()
        array([[[ 0.  ,  0.25,  0.25,  0.75,  0.75],
                [-1.  , -1.  , -1.  , -1.  , -1.  ],
                [-1.  , -1.  , -1.  , -1.  , -1.  ]]], dtype=float32)
        """
        if data_shape is not None:
            self.check_data_shape(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self._set_label_shape(label_shape)
        if data_shape is not None:
            self.data_shape = tuple(data_shape)
            self.provide_data = [(self.provide_data[0][0], (self.batch_size, *self.data_shape))]

    def sync_label_shape(self, it, verbose=False):
        """Gives this iterator and `it` the label shape of the one with more objects, for example
        for the two parts of a data set.

        Parameters
        ----------
        it : ImageDetIter
        verbose : bool
            Log the shapes that changed.

        Returns
        -------
        ImageDetIter
            `it`

        Examples
        --------
        >>> with open('a.pnm', 'wb') as file:
        ...     _ = file.write(b'P6 8 8 255 ' + bytes(192))
        >>> one = [2, 5, 0, .25, .25, .75, .75]
        >>> two = one + [1, 0, 0, .5, .5]
        >>> train = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[one, 'a.pnm']], path_root='.')
        >>> test = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[two, 'a.pnm']], path_root='.')
        >>> test = train.sync_label_shape(test)
        >>> train.provide_label[0][1], test.provide_label[0][1]
        ((1, 2, 5), (1, 2, 5))
        """
        name = type(self).__name__
        assert isinstance(it, ImageDetIter), f"[{name}] Synchronize with invalid iterator {it!r}; accepted is an ImageDetIter"
        mine, its = self.label_shape, it.label_shape
        assert mine[1] == its[1], f"[{name}] object width mismatch: {mine[1]} and {its[1]}; accepted are equal widths"
        objects = max(mine[0], its[0])
        for iterator, before in ((self, mine), (it, its)):
            if objects > before[0]:
                iterator.reshape(None, (objects, before[1]))
                if verbose:
                    logging.info("Resized label_shape from %s to (%d, %d)", before, objects, before[1])
        return it

    def _empty_labels(self):
        return np.full(self.provide_label[0][1], _NO_OBJECT, dtype=np.float32)

    def _prepare(self, image, label):
        try:
            self.check_valid_image(image)
            image, label = self.augmentation_transform(image, self._parse_label(label))
            self._check_valid_label(label)
        except RuntimeError as error:
            logging.debug("Invalid image, skipping:  %s", error)
            return None
        return image, label

    def _put_label(self, batch_label, row, label):
        batch_label[row] = _NO_OBJECT
        batch_label[row, :label.shape[0]] = label

    def augmentation_transform(self, data, label):      # pylint: disable=arguments-differ
        """The image and its objects, changed by all augmenters.

        >>> with open('a.pnm', 'wb') as file:
        ...     _ = file.write(b'P6 8 8 255 ' + bytes(192))
        >>> one = [2, 5, 0, 0, .25, .25, .75]
        >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[one, 'a.pnm']], path_root='.',
        ...                                 aug_list=[mx.image.DetHorizontalFlipAug(1)])
        >>> boxes = numpy.array([[0, 0, .25, .25, .75]], 'float32')
        >>> batches.augmentation_transform(mx.nd.zeros((8, 8, 3)), boxes)[1]
        array([[0.  , 0.75, 0.25, 1.  , 0.75]], dtype=float32)
        """
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return data, label

    def draw_next(self, color=None, thickness=2, mean=None, std=None, clip=True, waitKey=None, window_name="draw_next", id2labels=None):
        """Yields the images of the next batches with their boxes drawn, to look at them.

        Parameters
        ----------
        color : (red, green, blue), optional
            Default: drawn for each box.
        thickness : int
            Of lines, in pixels.
        mean, std : True or array of 1 or 3 numbers, optional
            What was subtracted and divided by, to undo that. True means those of ImageNet.
        clip : bool
            Limit values to 0 to 255.
        waitKey : int, optional
            Show each image in a window and wait so many milliseconds for a key. OpenCV's Python
            package does that.
        window_name : str
        id2labels : dict of int to str, optional
            Names of classes, written beside the boxes by OpenCV's Python package.

        Yields
        ------
        numpy.ndarray
            (height, width, 3) of uint8, blue first.

        Examples
        --------
        >>> with open('a.pnm', 'wb') as file:
        ...     _ = file.write(b'P6 8 8 255 ' + bytes(192))
        >>> one = [2, 5, 0, .25, .25, .75, .75]
        >>> batches = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[one, 'a.pnm']], path_root='.')
        >>> for picture in batches.draw_next(color=(255, 0, 0), thickness=1):
        ...     print(picture[:, :, 2])     # red
        [[  0   0   0   0   0   0   0   0]
         [  0   0   0   0   0   0   0   0]
         [  0   0 255 255 255 255 255   0]
         [  0   0 255   0   0   0 255   0]
         [  0   0 255   0   0   0 255   0]
         [  0   0 255   0   0   0 255   0]
         [  0   0 255 255 255 255 255   0]
         [  0   0   0   0   0   0   0   0]]
        """
        mean, std = (_as_numpy(_three(value, name, usual)) for value, name, usual in (
            (mean, "mean", _MEAN), (std, "std", _STD)))
        while True:
            try:
                batch = self.next()
            except StopIteration:
                return
            count = self.batch_size - batch.pad
            for image, label in zip(batch.data[0].asnumpy()[:count], batch.label[0].asnumpy()):
                image = image.transpose(1, 2, 0)
                image = image if std is None else image * std
                image = image if mean is None else image + mean
                image = np.clip(image, 0, 255) if clip else image
                image = np.ascontiguousarray(image[:, :, ::-1].astype(np.uint8))
                _draw_boxes(image, label, color, thickness, id2labels)
                if waitKey is not None:
                    import cv2
                    cv2.imshow(window_name, image)
                    cv2.waitKey(waitKey)
                yield image


def _as_numpy(value):
    return value.asnumpy() if isinstance(value, nd.NDArray) else value


def _draw_boxes(image, label, color, thickness, names):
    """Draws the objects of `label` into an image whose first channel is blue."""
    height, width = image.shape[:2]
    for row in label:
        if row[3] <= row[1] or row[4] <= row[2]:
            continue
        left, top, right, bottom = (int(part * size) for part, size in zip(row[1:5], (width, height, width, height)))
        bgr = np.random.rand(3) * 255 if color is None else np.resize(color, 3)[::-1]
        _draw_frame(image, (left, top, right, bottom), np.round(bgr).clip(0, 255), max(0, thickness // 2))
        if isinstance(names, dict) and int(row[0]) in names:
            import cv2
            cv2.putText(image, names[int(row[0])], (left + 5, top + 20), cv2.FONT_HERSHEY_SIMPLEX, 0.5, tuple(map(float, bgr)))


def _draw_frame(image, corners, bgr, around):
    """Lines through the corners, `around` pixels to either side."""
    left, top, right, bottom = corners
    first = np.maximum(np.array([left, top, right, bottom]) - around, 0)
    last = np.maximum(np.array([left, top, right, bottom]) + around + 1, 0)
    rows, columns = slice(first[1], last[3]), slice(first[0], last[2])
    for at in (0, 2):
        image[rows, first[at]:last[at]] = bgr
    for at in (1, 3):
        image[first[at]:last[at], columns] = bgr
