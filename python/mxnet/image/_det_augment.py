"""Augmenters of images with boxes: objects that are called with an image and its label and return
both."""
import json
import logging
import math
import random
import warnings

import numpy as np

from .. import ndarray as nd
from ._augment import Augmenter, CastAug, ForceResizeAug, ResizeAug, _colour_augmenters, _for_json
from ._crop import fixed_crop, numbers_of
from ._read import copyMakeBorder

__all__ = ["CreateDetAugmenter", "CreateMultiRandCropAugmenter", "DetAugmenter", "DetBorrowAug", "DetHorizontalFlipAug",
           "DetRandomCropAug", "DetRandomPadAug", "DetRandomSelectAug"]

_SMALLEST_OBJECT = 2    # pixels; smaller ones do not decide about a crop, and no crop is smaller


class DetAugmenter:
    """Base class: remembers its arguments for `dumps`.

    >>> class Invert(mx.image.DetAugmenter):
    ...     def __call__(self, src, label):
    ...         return 255 - src, label
    >>> boxes = mx.nd.array([[0, 0.1, 0.1, 0.5, 0.5]]).asnumpy()
    >>> image, label = Invert()(mx.nd.full((1, 1, 3), 55), boxes)
    >>> image.asnumpy(), Invert().dumps()
    (array([[[200., 200., 200.]]], dtype=float32), '["invert", {}]')
    """

    def __init__(self, **kwargs):
        self._kwargs = _for_json(kwargs)

    def dumps(self):
        """The class's name in lower case and the arguments, as JSON."""
        return json.dumps([self.__class__.__name__.lower(), self._kwargs])

    def __call__(self, src, label):
        raise NotImplementedError(f"[{type(self).__name__}] has no __call__")


class DetBorrowAug(DetAugmenter):
    """An augmenter of images, for those that leave objects where they are. The label stays.

    >>> boxes = mx.nd.array([[0, 0.1, 0.1, 0.5, 0.5]]).asnumpy()
    >>> cast = mx.image.DetBorrowAug(mx.image.CastAug())
    >>> image, label = cast(mx.nd.zeros((40, 60, 3), dtype='uint8'), boxes)
    >>> image.dtype.__name__
    'float32'
    """

    def __init__(self, augmenter):
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f"[DetBorrowAug] augmenter is {augmenter!r}; accepted is an mx.image.Augmenter")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self):
        return [self.__class__.__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src, label):
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of a list of augmenters, drawn for each image, or, with probability `skip_prob`, none.

    >>> boxes = mx.nd.array([[0, 0.1, 0.1, 0.5, 0.5]]).asnumpy()
    >>> one_of = mx.image.DetRandomSelectAug([mx.image.DetHorizontalFlipAug(1)], skip_prob=0.5)
    >>> image, label = one_of(mx.nd.zeros((40, 60, 3), dtype='uint8'), boxes)
    >>> image.shape, label.shape
    ((40, 60, 3), (1, 5))
    """

    def __init__(self, aug_list, skip_prob=0):
        super().__init__(skip_prob=skip_prob)
        aug_list = aug_list if isinstance(aug_list, (list, tuple)) else [aug_list]
        for augmenter in aug_list:
            if not isinstance(augmenter, DetAugmenter):
                raise ValueError(f"[DetRandomSelectAug] {augmenter!r} in the list; accepted are DetAugmenters only")
        self.aug_list = list(aug_list)
        self.skip_prob = skip_prob if aug_list else 1

    def dumps(self):
        return [self.__class__.__name__.lower(), [x.dumps() for x in self.aug_list]]

    def __call__(self, src, label):
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        return self.aug_list[0](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Columns and boxes mirrored, with probability `p`.

    >>> boxes = mx.nd.array([[0, 0.125, 0.25, 0.5, 0.5]]).asnumpy()
    >>> image, label = mx.image.DetHorizontalFlipAug(1.0)(mx.nd.zeros((40, 60, 3)), boxes)
    >>> label
    array([[0.   , 0.5  , 0.25 , 0.875, 0.5  ]], dtype=float32)
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src, label):
        if random.random() < self.p:
            src = nd.flip(src, axis=1)
            label[:, [1, 3]] = 1.0 - label[:, [3, 1]]
        return src, label


def _range(name, value, what):
    """(smallest, largest), of one number or both."""
    if isinstance(value, (tuple, list)):
        return value
    assert isinstance(value, (int, float, np.number)), f"[{name}] {what} is {value!r}; accepted are a number and two numbers"
    logging.info("Using fixed %s: %s in %s", what, value, name)
    return (value, value)


def _usable(name, areas, below_areas, ratios):
    """Whether an augmenter can draw from these ranges; warns if not."""
    for what, value, fine in (("area_range", areas, below_areas < areas[1] and areas[0] <= areas[1]),
                              ("aspect_ratio_range", ratios, 0 < ratios[0] <= ratios[1])):
        if not fine:
            warnings.warn(f"Skip {name} due to invalid {what}: {value}; accepted are two positive numbers in ascending order")
            return False
    return True


def _areas(boxes):
    return np.maximum(0, boxes[:, 2] - boxes[:, 0]) * np.maximum(0, boxes[:, 3] - boxes[:, 1])


def _fitting(length, ratio):
    """The largest height whose width, height * ratio rounded, does not exceed `length`."""
    return int((length + 0.4999999) / ratio)


class DetRandomCropAug(DetAugmenter):
    """A box of random area and ratio at a random place, which must cover enough of the objects that
    it meets (W. Liu et al., SSD, ECCV 2016; drawn as in Google's Inception networks).

    Parameters
    ----------
    min_object_covered : float
        Every object that the box meets must be inside it with more than this part of its area.
    aspect_ratio_range : (float, float) or float
        Of the box's width / height.
    area_range : (float, float) or float
        Of the box's part of the image.
    min_eject_coverage : float
        Objects stay, cut off, if more than this part of their area is inside; others are left out.
        At least one must stay.
    max_attempts : int
        Boxes to draw; if none of them fits, the image stays as it is.

    Examples
    --------
    >>> boxes = mx.nd.array([[0, 0.25, 0.25, 0.75, 0.75]]).asnumpy()
    >>> crop = mx.image.DetRandomCropAug(min_object_covered=0.5, area_range=(0.5, 1.0))
    >>> image, label = crop(mx.nd.zeros((40, 60, 3), dtype='uint8'), boxes)
    >>> image.ndim, label.shape
    (3, (1, 5))
    """

    def __init__(self, min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 1.0), min_eject_coverage=0.3,
                 max_attempts=50):
        name = "DetRandomCropAug"
        aspect_ratio_range = _range(name, aspect_ratio_range, "aspect ratio")
        area_range = _range(name, area_range, "area range")
        super().__init__(min_object_covered=min_object_covered, aspect_ratio_range=aspect_ratio_range, area_range=area_range,
                         min_eject_coverage=min_eject_coverage, max_attempts=max_attempts)
        self.min_object_covered = min_object_covered
        self.min_eject_coverage = min_eject_coverage
        self.max_attempts = max_attempts
        self.aspect_ratio_range = aspect_ratio_range
        self.area_range = area_range
        self.enabled = _usable(name, area_range, 0, aspect_ratio_range)

    def __call__(self, src, label):
        height, width = src.shape[:2]
        for box in self._boxes(height, width):
            if self._covers(label, box, height, width):
                cut = self._cut(label, box, height, width)
                if cut is not None:
                    return fixed_crop(src, *box), cut
        return src, label

    def _boxes(self, height, width):
        """Boxes (x, y, width, height) in pixels, at most `max_attempts`."""
        if not self.enabled or height <= 0 or width <= 0:
            return
        smallest, largest = self.area_range[0] * height * width, self.area_range[1] * height * width
        for _ in range(self.max_attempts):
            size = self._draw_size(height, width, smallest, largest)
            if size is not None:
                w, h = size
                y = random.randint(0, height - h)
                yield random.randint(0, width - w), y, w, h

    def _draw_size(self, height, width, smallest, largest):
        ratio = random.uniform(self.aspect_ratio_range[0], self.aspect_ratio_range[1])
        if ratio <= 0:
            return None
        most = round(math.sqrt(largest / ratio))
        if round(most * ratio) > width:
            most = _fitting(width, ratio)
        most = min(most, height)
        h = min(round(math.sqrt(smallest / ratio)), most)
        if h < most:
            h = random.randint(h, most)
        w = round(h * ratio)
        if w * h < smallest:
            h += 1
            w = round(h * ratio)
        if w * h > largest:
            h -= 1
            w = round(h * ratio)
        return (w, h) if smallest <= w * h <= largest and 0 < w <= width and 0 < h <= height else None

    def _covers(self, label, box, height, width):
        x, y, w, h = box
        if w * h < _SMALLEST_OBJECT:
            return False
        boxes = label[_areas(label[:, 1:]) * width * height >= _SMALLEST_OBJECT, 1:5]
        inside = np.empty_like(boxes)
        inside[:, :2] = np.maximum(boxes[:, :2], (x / width, y / height))
        inside[:, 2:] = np.minimum(boxes[:, 2:], ((x + w) / width, (y + h) / height))
        covered = _areas(inside) / _areas(boxes)
        covered = covered[covered > 0]
        return covered.size > 0 and float(np.min(covered)) > self.min_object_covered

    def _cut(self, label, box, height, width):
        """The label of what is in the box; None without objects."""
        left, top, w, h = box[0] / width, box[1] / height, box[2] / width, box[3] / height
        out = label.copy()
        out[:, (1, 3)] = np.clip((out[:, (1, 3)] - left) / w, 0, 1)
        out[:, (2, 4)] = np.clip((out[:, (2, 4)] - top) / h, 0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            covered = _areas(out[:, 1:]) * w * h / _areas(label[:, 1:])
        stays = (out[:, 3] > out[:, 1]) & (out[:, 4] > out[:, 2]) & (covered > self.min_eject_coverage)
        return out[stays] if stays.any() else None


class DetRandomPadAug(DetAugmenter):
    """The image at a random place of a larger one.

    Parameters
    ----------
    aspect_ratio_range : (float, float) or float
        Of the larger image's width / height.
    area_range : (float, float) or float
        Of the larger image's area as a multiple of the image's.
    max_attempts : int
        Sizes to draw; if none of them fits, the image stays as it is.
    pad_val : tuple of float
        The value around the image, for each channel.

    Examples
    --------
    >>> boxes = mx.nd.array([[0, 0.25, 0.25, 0.75, 0.75]]).asnumpy()
    >>> pad = mx.image.DetRandomPadAug(area_range=(1.5, 2.0), pad_val=(127, 127, 127))
    >>> image, label = pad(mx.nd.zeros((40, 60, 3), dtype='uint8'), boxes)
    >>> image.shape[0] * image.shape[1] >= 40 * 60, label.shape
    (True, (1, 5))
    """

    def __init__(self, aspect_ratio_range=(0.75, 1.33), area_range=(1.0, 3.0), max_attempts=50, pad_val=(128, 128, 128)):
        name = "DetRandomPadAug"
        aspect_ratio_range = _range(name, aspect_ratio_range, "aspect ratio")
        area_range = _range(name, area_range, "area range")
        assert isinstance(pad_val, (tuple, list, int, float, np.number)), (
            f"[{name}] pad_val is {pad_val!r}; accepted are a number and numbers for each channel")
        super().__init__(aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts, pad_val=pad_val)
        self.pad_val = pad_val
        self.aspect_ratio_range = aspect_ratio_range
        self.area_range = area_range
        self.max_attempts = max_attempts
        self.enabled = _usable(name, area_range, 1, aspect_ratio_range)

    def __call__(self, src, label):
        height, width, _ = src.shape
        place = self._draw(height, width)
        if place is None:
            return src, label
        x, y, w, h = place
        values = self.pad_val if isinstance(self.pad_val, (tuple, list)) else (self.pad_val,)
        src = copyMakeBorder(src, y, h - y - height, x, w - x - width, values=tuple(values))
        label = label.copy()
        label[:, (1, 3)] = (label[:, (1, 3)] * width + x) / w
        label[:, (2, 4)] = (label[:, (2, 4)] * height + y) / h
        return src, label

    def _draw(self, height, width):
        """(x, y, width, height): the place of the image in a larger one of this size."""
        if not self.enabled or height <= 0 or width <= 0:
            return None
        smallest, largest = self.area_range[0] * height * width, self.area_range[1] * height * width
        for _ in range(self.max_attempts):
            ratio = random.uniform(self.aspect_ratio_range[0], self.aspect_ratio_range[1])
            if ratio <= 0:
                continue
            h, most = round(math.sqrt(smallest / ratio)), round(math.sqrt(largest / ratio))
            if round(h * ratio) < width:
                h = _fitting(width, ratio)
            h = min(max(h, height), most)
            if h < most:
                h = random.randint(h, most)
            w = round(h * ratio)
            if h - height >= 2 and w - width >= 2:
                y = random.randint(0, h - height)
                return random.randint(0, w - width), y, w, h
        return None


def CreateMultiRandCropAugmenter(min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 1.0), min_eject_coverage=0.3,
                                 max_attempts=50, skip_prob=0):
    """One of several `DetRandomCropAug`, drawn for each image.

    Each argument of `DetRandomCropAug` is one value or a list of values, one for each of the
    augmenters. Lists have equal lengths; a single value is for all of them.

    Parameters
    ----------
    skip_prob : float
        The probability that an image stays as it is.

    Returns
    -------
    DetRandomSelectAug

    Examples
    --------
    >>> crops = mx.image.CreateMultiRandCropAugmenter([0.3, 0.7], area_range=[(0.3, 1), (0.7, 1)])
    >>> len(crops.aug_list)
    2
    """
    given = [min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts]
    given = [value if isinstance(value, list) else [value] for value in given]
    count = max(len(value) for value in given)
    for i, value in enumerate(given):
        assert len(value) in (1, count) and value, (
            f"[CreateMultiRandCropAugmenter] argument {i} is a list of {len(value)}; accepted are one value and {count} values")
    given = [value * count if len(value) == 1 else value for value in given]
    return DetRandomSelectAug([DetRandomCropAug(*arguments) for arguments in zip(*given)], skip_prob=skip_prob)


def CreateDetAugmenter(data_shape, resize=0, rand_crop=0, rand_pad=0, rand_gray=0, rand_mirror=False, mean=None, std=None, brightness=0,
                       contrast=0, saturation=0, pca_noise=0, hue=0, inter_method=2, min_object_covered=0.1,
                       aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 3.0), min_eject_coverage=0.3, max_attempts=50,
                       pad_val=(127, 127, 127)):
    """A list of augmenters as detectors are trained with. The last of them that moves objects
    resizes to `data_shape`.

    Parameters
    ----------
    data_shape : (channels, height, width) of the result
    resize : the shorter side is resized to this first, unless 0
    rand_crop, rand_pad : probabilities of `DetRandomCropAug` and `DetRandomPadAug`
    rand_gray : probability of gray
    rand_mirror : left and right are swapped for half of the images
    mean, std : what is subtracted and divided by; True means those of ImageNet
    brightness, contrast, saturation, hue, pca_noise : amounts of jitter
    inter_method : 0 to 4, 9 or 10, as in `imresize`
    min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts
        Of crops, as in `CreateMultiRandCropAugmenter`. Padding takes the ratios, the upper end of
        the areas, and the attempts.
    pad_val : the values around a padded image

    Examples
    --------
    >>> augmenters = mx.image.CreateDetAugmenter((3, 20, 20), rand_crop=0.5, rand_mirror=True)
    >>> image = mx.nd.zeros((40, 60, 3), dtype='uint8')
    >>> label = mx.nd.array([[0, 0.25, 0.25, 0.75, 0.75]]).asnumpy()
    >>> for augmenter in augmenters:
    ...     image, label = augmenter(image, label)
    >>> image.shape, label.shape
    ((20, 20, 3), (1, 5))
    """
    numbers_of("CreateDetAugmenter", "data_shape", data_shape, "(channels, height, width)")
    augmenters = []
    if resize > 0:
        augmenters.append(DetBorrowAug(ResizeAug(resize, inter_method)))
    if rand_crop > 0:
        augmenters.append(CreateMultiRandCropAugmenter(min_object_covered, aspect_ratio_range, area_range, min_eject_coverage,
                                                       max_attempts, skip_prob=1 - rand_crop))
    if rand_mirror > 0:
        augmenters.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        pad = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        augmenters.append(DetRandomSelectAug([pad], 1 - rand_pad))
    augmenters += map(DetBorrowAug, [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug()])
    augmenters += map(DetBorrowAug, _colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std))
    return augmenters
