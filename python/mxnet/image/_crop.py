"""Cutting boxes out of images (height, width, channels)."""
import math
import numbers
import random

from .. import ndarray as nd
from ..ndarray import NDArray
from .._arrays.classes import to_class_of
from ..base import _MXValueError
from ._read import imresize

__all__ = ["scale_down", "resize_short", "fixed_crop", "random_crop", "center_crop", "random_size_crop", "color_normalize"]


def _get_interp_method(interp, sizes=()):
    """The number of a method of interpolation. 9 chooses by `sizes` (height and width before and
    after): bicubic to enlarge, area to shrink, else bilinear; 10 draws one of 0 to 4."""
    if interp == 9:
        if not sizes:
            return 2
        height, width, new_height, new_width = sizes
        if new_height > height and new_width > width:
            return 2
        return 3 if new_height < height and new_width < width else 1
    if interp == 10:
        return random.randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ValueError(f"[image] interp={interp}; accepted are 0 to 4, 9 (by size) and 10 (by chance)")
    return interp


def _sides(function, src):
    """Height and width of an image."""
    shape = getattr(src, "shape", None)
    if not isinstance(shape, tuple):
        raise TypeError(f"[{function}] src is a {type(src).__name__}; accepted: an NDArray (height, width, channels)")
    if len(shape) != 3:
        raise ValueError(f"[{function}] src has the shape {shape}; accepted: (height, width, channels)")
    return shape[:2]


def numbers_of(function, name, value, meaning):
    """`value`, which must be as many numbers as `meaning` names: ``'(width, height)'``."""
    count = meaning.count(",") + 1
    try:
        good = len(value) == count and all(isinstance(v, numbers.Real) for v in value)
    except TypeError:
        good = False
    if not good:
        kind = ValueError if isinstance(value, (tuple, list)) else TypeError
        raise kind(f"[{function}] {name}={value!r}; accepted: {meaning}")
    return value


def scale_down(src_size, size):
    """The largest (width, height) with the ratio of `size` that fits into `src_size`, if `size`
    does not.

    >>> mx.image.scale_down((640, 480), (720, 120))
    (640, 106)
    """
    width, height = size
    src_width, src_height = src_size
    if src_height < height:
        width, height = width * src_height / height, src_height
    if src_width < width:
        width, height = src_width, height * src_width / width
    return int(width), int(height)


def resize_short(src, size, interp=2):
    """Resizes so that the shorter side has `size` pixels; the ratio is kept.

    >>> mx.image.resize_short(mx.nd.zeros((40, 60, 3), dtype='uint8'), 20).shape
    (20, 30, 3)
    """
    height, width = _sides("resize_short", src)
    if not isinstance(size, numbers.Real):
        raise TypeError(f"[resize_short] size={size!r}; accepted: a number of pixels")
    if not 0 < size < math.inf:
        raise _MXValueError(f"[resize_short] size={size!r}; accepted: above 0")
    if height > width:
        new_height, new_width = size * height // width, size
    else:
        new_height, new_width = size, size * width // height
    return imresize(src, new_width, new_height, interp=_get_interp_method(interp, (height, width, new_height, new_width)))


def fixed_crop(src, x0, y0, w, h, size=None, interp=2):
    """The box of width `w` and height `h` at column `x0` and row `y0`, resized to `size` (width,
    height) if that is given and differs.

    >>> mx.image.fixed_crop(mx.nd.zeros((40, 60, 3), dtype='uint8'), 5, 10, 30, 20).shape
    (20, 30, 3)
    """
    out = nd.slice(src, begin=(y0, x0, 0), end=(y0 + h, x0 + w, int(src.shape[2])))
    if size is not None and (w, h) != size:
        out = imresize(out, *size, interp=_get_interp_method(interp, (h, w, size[1], size[0])))
    return out


def random_crop(src, size, interp=2):
    """A box of `size` (width, height) at a random place; of images that are smaller, the largest
    one of that ratio, resized.

    Returns
    -------
    (NDArray, (x0, y0, width, height))

    Examples
    --------
    >>> crop, (x, y, w, h) = mx.image.random_crop(mx.nd.zeros((40, 60, 3), dtype='uint8'), (20, 20))
    >>> crop.shape, (w, h)
    ((20, 20, 3), (20, 20))
    """
    height, width = _sides("random_crop", src)
    numbers_of("random_crop", "size", size, "(width, height)")
    new_width, new_height = scale_down((width, height), size)
    x0 = random.randint(0, width - new_width)
    y0 = random.randint(0, height - new_height)
    return fixed_crop(src, x0, y0, new_width, new_height, size, interp), (x0, y0, new_width, new_height)


def center_crop(src, size, interp=2):
    """As `random_crop`, from the middle.

    >>> crop, (x, y, w, h) = mx.image.center_crop(mx.nd.zeros((40, 60, 3), dtype='uint8'), (20, 20))
    >>> crop.shape, (x, y, w, h)
    ((20, 20, 3), (20, 10, 20, 20))
    """
    height, width = _sides("center_crop", src)
    numbers_of("center_crop", "size", size, "(width, height)")
    new_width, new_height = scale_down((width, height), size)
    x0, y0 = int((width - new_width) / 2), int((height - new_height) / 2)
    return fixed_crop(src, x0, y0, new_width, new_height, size, interp), (x0, y0, new_width, new_height)


def random_size_crop(src, size, area, ratio, interp=2, **kwargs):
    """A box of random area and ratio at a random place, resized to `size`; after ten draws that do
    not fit, `center_crop`.

    Parameters
    ----------
    area : float or (float, float)
        Smallest (and largest, 1) part of the image's area.
    ratio : (float, float)
        Smallest and largest width / height; its logarithm is uniform.

    Examples
    --------
    >>> picture = mx.nd.zeros((40, 60, 3), dtype='uint8')
    >>> crop, box = mx.image.random_size_crop(picture, (20, 20), area=(0.3, 1), ratio=(0.75, 1.33))
    >>> crop.shape
    (20, 20, 3)
    """
    height, width = _sides("random_size_crop", src)
    numbers_of("random_size_crop", "size", size, "(width, height)")
    if "min_area" in kwargs:
        import warnings
        warnings.warn("`min_area` is deprecated. Please use `area` instead.", DeprecationWarning)
        area = kwargs.pop("min_area")
    if kwargs:
        raise TypeError(f"[random_size_crop] unexpected arguments {sorted(kwargs)}")
    low, high = numbers_of("random_size_crop", "area", area if isinstance(area, (tuple, list)) else (area, 1.0), "(smallest, largest)")
    if not (0 <= low < math.inf and 0 <= high < math.inf):
        raise ValueError(f"[random_size_crop] area={area!r}; accepted: parts of the image's area of 0 or more")
    if not all(0 < r < math.inf for r in numbers_of("random_size_crop", "ratio", ratio, "(smallest, largest)")):
        raise ValueError(f"[random_size_crop] ratio={ratio!r}; accepted: width / height above 0")
    for _ in range(10):
        target = random.uniform(low, high) * height * width
        new_ratio = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        new_width, new_height = round(math.sqrt(target * new_ratio)), round(math.sqrt(target / new_ratio))
        if new_width <= width and new_height <= height:
            x0 = random.randint(0, width - new_width)
            y0 = random.randint(0, height - new_height)
            return fixed_crop(src, x0, y0, new_width, new_height, size, interp), (x0, y0, new_width, new_height)
    return center_crop(src, size, interp)


def color_normalize(src, mean, std=None):
    """(src - mean) / std, in place where `src` can hold it; either may be None.

    >>> mean, std = mx.nd.array([50, 100, 150]), mx.nd.array([10, 10, 10])
    >>> mx.image.color_normalize(mx.nd.full((1, 1, 3), 100), mean, std).asnumpy()
    array([[[ 5.,  0., -5.]]], dtype=float32)
    """
    if mean is not None:
        src -= to_class_of(mean, src) if isinstance(mean, NDArray) else mean
    if std is not None:
        src /= to_class_of(std, src) if isinstance(std, NDArray) else std
    return src
