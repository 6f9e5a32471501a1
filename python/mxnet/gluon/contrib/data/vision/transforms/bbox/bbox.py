"""Blocks that change an image (height, width, channels) together with its boxes (boxes, 4 or more):
left, top, right and bottom in pixels, and whatever else belongs to a box.

Boxes are NDArrays or NumPy arrays; the same kind comes back.
"""
import random

import numpy as np

from ....... import image, ndarray as nd
from ......._arrays.classes import to_class_of
from ......block import Block
from . import utils

__all__ = ['ImageBboxCrop', 'ImageBboxRandomCropWithConstraints', 'ImageBboxRandomExpand', 'ImageBboxRandomFlipLeftRight',
           'ImageBboxResize']


def _on_numpy(bbox, change):
    """`change` of the boxes as a NumPy array, as the kind that they were."""
    if not isinstance(bbox, nd.NDArray):
        return change(bbox)
    return to_class_of(nd.array(change(bbox.asnumpy()), dtype=bbox.dtype, ctx=bbox.context), bbox)


class ImageBboxRandomFlipLeftRight(Block):
    """Columns in reverse order, with probability `p`."""

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img, bbox):
        if self.p <= 0 or self.p < 1 and random.random() > self.p:
            return img, bbox
        size = img.shape[-2], img.shape[-3]
        return nd.flip(img, axis=img.ndim - 2), _on_numpy(bbox, lambda b: utils.bbox_flip(b, size, flip_x=True))


class ImageBboxCrop(Block):
    """The part `crop` (left, top, width, height) of an image, where the image has it. Boxes are cut
    off at its edges; those whose middle is outside go, unless `allow_outside_center`."""

    def __init__(self, crop, allow_outside_center=False):
        super().__init__()
        assert len(crop) == 4 and crop[0] >= 0 and crop[1] >= 0 and crop[2] > 0 and crop[3] > 0, (
            f'[ImageBboxCrop] crop={crop}; accepted are left, top, width and height, none of them negative')
        self._crop = tuple(crop)
        self._allow_outside_center = allow_outside_center

    def forward(self, img, bbox):
        left, top, width, height = self._crop
        if left + width > img.shape[-2] or top + height > img.shape[-3]:
            return img, bbox
        return (nd.image.crop(img, left, top, width, height),
                _on_numpy(bbox, lambda b: utils.bbox_crop(b, self._crop, self._allow_outside_center)))


class ImageBboxRandomCropWithConstraints(Block):
    """With probability `p`, a random part of an image whose overlaps with the boxes are within
    limits. Other arguments are those of `utils.bbox_random_crop_with_constraints`."""

    def __init__(self, p=0.5, min_scale=0.3, max_scale=1, max_aspect_ratio=2, constraints=None, max_trial=50):
        super().__init__()
        self.p = p
        self._args = dict(min_scale=min_scale, max_scale=max_scale, max_aspect_ratio=max_aspect_ratio, constraints=constraints,
                          max_trial=max_trial)

    def forward(self, img, bbox):
        if random.random() > self.p:
            return img, bbox
        part = None

        def cropped(boxes):
            nonlocal part
            boxes, part = utils.bbox_random_crop_with_constraints(boxes, (img.shape[-2], img.shape[-3]), **self._args)
            return boxes
        bbox = _on_numpy(bbox, cropped)
        return nd.image.crop(img, *part), bbox


class ImageBboxRandomExpand(Block):
    """With probability `p`, the image at a random place of a larger one.

    Parameters
    ----------
    p : float
    max_ratio : float
        Of the larger image's sides to the image's. 1 or less: nothing happens.
    fill : number, or one for each channel
        The value around the image.
    keep_ratio : bool
        One ratio for width and height.
    """

    def __init__(self, p=0.5, max_ratio=4, fill=0, keep_ratio=True):
        super().__init__()
        self.p = p
        self._max_ratio, self._fill, self._keep_ratio = max_ratio, fill, keep_ratio

    def forward(self, img, bbox):
        if self._max_ratio <= 1 or random.random() > self.p:
            return img, bbox
        height, width, channels = img.shape
        ratio_x = random.uniform(1, self._max_ratio)
        ratio_y = ratio_x if self._keep_ratio else random.uniform(1, self._max_ratio)
        new_height, new_width = int(height * ratio_y), int(width * ratio_x)
        top = random.randint(0, new_height - height)
        left = random.randint(0, new_width - width)
        larger = np.broadcast_to(np.asarray(self._fill).astype(np.dtype(img.dtype)), (new_height, new_width, channels))
        larger = to_class_of(nd.array(larger, dtype=img.dtype, ctx=img.context), img)
        larger[top:top + height, left:left + width] = img
        return larger, _on_numpy(bbox, lambda b: utils.bbox_translate(b, left, top))


class ImageBboxResize(Block):
    """The image and the boxes, resized to a width and a height. `interp` is 0 to 4, 9 or 10, as in
    `mx.image.imresize`."""

    def __init__(self, width, height, interp=1):
        super().__init__()
        self._size, self._interp = (width, height), interp

    def forward(self, img, bbox):
        height, width = img.shape[-3], img.shape[-2]
        method = image.image._get_interp_method(self._interp, (height, width, self._size[1], self._size[0]))
        return nd.image.resize(img, self._size, False, method), _on_numpy(bbox, lambda b: utils.bbox_resize(b, (width, height), self._size))
