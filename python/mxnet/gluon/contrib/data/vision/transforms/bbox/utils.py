"""Boxes in pixels: NumPy arrays (boxes, 4 or more) of left, top, right, bottom, and whatever else
belongs to a box, which stays as it is."""
import random

import numpy as np

__all__ = ['bbox_clip_xyxy', 'bbox_crop', 'bbox_flip', 'bbox_iou', 'bbox_random_crop_with_constraints', 'bbox_resize',
           'bbox_translate', 'bbox_xywh_to_xyxy', 'bbox_xyxy_to_xywh']

_SSD_CONSTRAINTS = ((0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1))


def _two(function, size, name):
    if len(size) != 2:
        raise ValueError(f'[{function}] {name} requires length 2 tuple, given {len(size)}')
    return size


def bbox_crop(bbox, crop_box=None, allow_outside_center=True):
    """The boxes of what is inside a part of an image, cut off at its edges and relative to it.

    Parameters
    ----------
    bbox : numpy.ndarray (boxes, 4 or more)
    crop_box : (left, top, width, height), optional
        The part. None in it, or 0, leaves a side open.
    allow_outside_center : bool
        Keep boxes whose middle is outside.

    Returns
    -------
    numpy.ndarray
        The boxes that still have an area.

    >>> from mxnet.gluon.contrib.data.vision.transforms.bbox.utils import bbox_crop
    >>> bbox_crop(np.array([[10, 20, 30, 40], [0, 0, 5, 5]]), (8, 18, 20, 20))
    array([[ 2,  2, 20, 20]])
    """
    bbox = bbox.copy()
    if crop_box is None:
        return bbox
    if len(crop_box) != 4:
        raise ValueError(f'[bbox_crop] Invalid crop_box parameter, requires length 4, given {crop_box}')
    if not any(crop_box):
        return bbox
    left, top, width, height = crop_box
    left, top = left or 0, top or 0
    right = left + width if width else np.inf
    bottom = top + height if height else np.inf
    inside = np.ones(len(bbox), dtype=bool)
    if not allow_outside_center:
        middle = (bbox[:, :2] + bbox[:, 2:4]) / 2
        inside = ((middle >= (left, top)) & (middle < (right, bottom))).all(axis=1)
    bbox[:, :2] = np.maximum(bbox[:, :2], (left, top))
    bbox[:, 2:4] = np.minimum(bbox[:, 2:4], (right, bottom))
    bbox[:, :4] -= np.array([left, top, left, top]).astype(bbox.dtype)
    return bbox[inside & (bbox[:, :2] < bbox[:, 2:4]).all(axis=1)]


def bbox_flip(bbox, size, flip_x=False, flip_y=False):
    """The boxes in an image of `size` (width, height) that is mirrored left to right (`flip_x`) or
    top to bottom (`flip_y`)."""
    width, height = _two('bbox_flip', size, 'size')
    bbox = bbox.copy()
    if flip_y:
        bbox[:, [1, 3]] = height - bbox[:, [3, 1]]
    if flip_x:
        bbox[:, [0, 2]] = width - bbox[:, [2, 0]]
    return bbox


def bbox_resize(bbox, in_size, out_size):
    """The boxes after an image of `in_size` (width, height) became one of `out_size`; floats."""
    width, height = _two('bbox_resize', in_size, 'in_size')
    new_width, new_height = _two('bbox_resize', out_size, 'out_size')
    bbox = bbox.copy() if np.issubdtype(bbox.dtype, np.floating) else bbox.astype(np.float64)
    bbox[:, [0, 2]] *= new_width / width
    bbox[:, [1, 3]] *= new_height / height
    return bbox


def bbox_translate(bbox, x_offset=0, y_offset=0):
    """The boxes, moved by so many pixels."""
    bbox = bbox.copy()
    bbox[:, [0, 2]] += x_offset
    bbox[:, [1, 3]] += y_offset
    return bbox


def bbox_iou(bbox_a, bbox_b, offset=0):
    """The intersection of each box of `bbox_a` with each one of `bbox_b`, as part of their union.

    Parameters
    ----------
    bbox_a, bbox_b : numpy.ndarray (boxes, 4 or more)
    offset : number
        Added to widths and heights: 1 where right and bottom belong to the box.

    Returns
    -------
    numpy.ndarray (boxes of bbox_a, boxes of bbox_b)
    """
    if bbox_a.shape[1] < 4 or bbox_b.shape[1] < 4:
        raise IndexError('[bbox_iou] Bounding boxes axis 1 must have at least length 4')
    low = np.maximum(bbox_a[:, None, :2], bbox_b[:, :2])
    high = np.minimum(bbox_a[:, None, 2:4], bbox_b[:, 2:4])
    shared = np.prod(high - low + offset, axis=2) * (low < high).all(axis=2)
    area_a, area_b = (np.prod(bbox[:, 2:4] - bbox[:, :2] + offset, axis=1) for bbox in (bbox_a, bbox_b))
    return shared / (area_a[:, None] + area_b - shared)


def _columns(function, boxes):
    """Four numbers, or the four columns of an array, and what makes such a box of four."""
    if isinstance(boxes, (tuple, list)):
        if len(boxes) != 4:
            raise IndexError(f'[{function}] Bounding boxes must have 4 elements, given {len(boxes)}')
        return boxes, lambda columns: tuple(x.item() if isinstance(x, np.generic) else x for x in columns)
    if isinstance(boxes, np.ndarray):
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise IndexError(f'[{function}] Bounding boxes must have n * 4 elements, given {boxes.shape}')
        return boxes.T, lambda columns: np.stack(columns, axis=1)
    raise TypeError(f'[{function}] Expect input xywh a list, tuple or numpy.ndarray, given {type(boxes)}')


def bbox_xywh_to_xyxy(xywh):
    """(left, top, width, height) as (left, top, right, bottom), where right and bottom belong to
    the box: a tuple, or an array (boxes, 4)."""
    (x, y, width, height), make = _columns('bbox_xywh_to_xyxy', xywh)
    return make((x, y, x + np.maximum(0, width - 1), y + np.maximum(0, height - 1)))


def bbox_xyxy_to_xywh(xyxy):
    """The inverse of `bbox_xywh_to_xyxy`."""
    (left, top, right, bottom), make = _columns('bbox_xyxy_to_xywh', xyxy)
    return make((left, top, right - left + 1, bottom - top + 1))


def bbox_clip_xyxy(xyxy, width, height):
    """(left, top, right, bottom), each limited to the pixels of an image."""
    (left, top, right, bottom), make = _columns('bbox_clip_xyxy', xyxy)
    columns, rows = width - 1, height - 1
    return make([np.minimum(limit, np.maximum(0, at)) for at, limit in ((left, columns), (top, rows), (right, columns), (bottom, rows))])


def bbox_random_crop_with_constraints(bbox, size, min_scale=0.3, max_scale=1, max_aspect_ratio=2, constraints=None, max_trial=50):
    """A random part of an image whose overlaps with the boxes are within limits (W. Liu et al.,
    SSD, ECCV 2016).

    Parameters
    ----------
    bbox : numpy.ndarray (boxes, 4 or more)
    size : (width, height)
    min_scale, max_scale : float
        Of the part's side to the image's.
    max_aspect_ratio : float
        Of a part's sides to each other, at most.
    constraints : sequence of (float or None, float or None), optional
        Least and largest intersection over union with any box. For each of them one part is looked
        for; one of those is drawn. Default: those of SSD.
    max_trial : int
        Parts to draw for each of the constraints.

    Returns
    -------
    (numpy.ndarray, (left, top, width, height))
        The boxes in the part, and the part.
    """
    width, height = _two('bbox_random_crop_with_constraints', size, 'size')
    parts = [(0, 0, width, height)]
    for low, high in _SSD_CONSTRAINTS if constraints is None else constraints:
        for _ in range(max_trial):
            part = _draw_part(width, height, min_scale, max_scale, max_aspect_ratio)
            if len(bbox) == 0:
                return bbox, part
            overlaps = bbox_iou(bbox, np.array([[part[0], part[1], part[0] + part[2], part[1] + part[3]]]))
            if (low is None or low <= overlaps.min()) and (high is None or overlaps.max() <= high):
                parts.append(part)
                break
    while parts:
        part = parts.pop(np.random.randint(0, len(parts)))
        cropped = bbox_crop(bbox, part, allow_outside_center=False)
        if cropped.size:
            return cropped, part
    return bbox, (0, 0, width, height)


def _draw_part(width, height, min_scale, max_scale, max_aspect_ratio):
    scale = random.uniform(min_scale, max_scale)
    ratio = random.uniform(max(1 / max_aspect_ratio, scale * scale), min(max_aspect_ratio, 1 / (scale * scale)))
    part_height, part_width = int(height * scale / ratio ** 0.5), int(width * scale * ratio ** 0.5)
    top = random.randrange(max(1, height - part_height))
    left = random.randrange(max(1, width - part_width))
    return left, top, part_width, part_height
