"""Turning images (channels, height, width) around their middle."""
import math

import numpy as np

from .. import ndarray as nd
from ..ndarray import NDArray, array
from .._arrays.classes import to_class_of

__all__ = ["imrotate", "random_rotate"]


def imrotate(src, rotation_degrees, zoom_in=False, zoom_out=False):
    """Turns images by some degrees, bilinearly; what comes from outside is 0.

    Parameters
    ----------
    src : NDArray of float32, (channels, height, width) or (images, channels, height, width)
    rotation_degrees : number, or for images one for each of them
    zoom_in : the image is enlarged until nothing from outside is seen
    zoom_out : the image is shrunk until all of it is seen

    Examples
    --------
    >>> mx.image.imrotate(mx.nd.ones((3, 8, 8)), 90).shape
    (3, 8, 8)
    """
    if zoom_in and zoom_out:
        raise ValueError("[imrotate] zoom_in and zoom_out were given; accepted is one of them")
    if np.dtype(src.dtype) != np.float32:
        raise TypeError(f"[imrotate] src is {np.dtype(src.dtype).name}; accepted is float32")
    single = src.ndim == 3
    if single:
        if not isinstance(rotation_degrees, (int, float, np.number)):
            raise TypeError("[imrotate] one image is turned by a number of degrees")
        src = nd.expand_dims(src, axis=0)
    elif src.ndim != 4:
        raise ValueError(f"[imrotate] src has shape {src.shape}; accepted are 3 and 4 dimensions")
    count, height, width = src.shape[0], src.shape[2], src.shape[3]
    degrees = rotation_degrees.asnumpy() if isinstance(rotation_degrees, NDArray) else np.asarray(rotation_degrees, dtype=np.float32)
    if degrees.ndim > 0 and len(degrees) != count:
        raise ValueError(f"[imrotate] {len(degrees)} angles for {count} images")
    angles = np.broadcast_to(degrees.reshape(-1), (count,)).astype(np.float64) * (math.pi / 180)
    grids = np.empty((count, 2, height, width), np.float32)
    for grid, angle in zip(grids, angles):
        _fill_grid(grid, angle, zoom_in, zoom_out)
    out = nd.BilinearSampler(src, to_class_of(array(grids, dtype=np.float32, ctx=src.context), src))
    return out[0] if single else out


def _fill_grid(grid, angle, zoom_in, zoom_out):
    """Where each pixel of the turned image comes from, into (2, height, width): x and y from -1 to
    1, as float64 until they are stored."""
    height, width = grid.shape[1:]
    half_height, half_width = (height - 1) / 2, (width - 1) / 2
    y, x = np.arange(height) - half_height, np.arange(width) - half_width
    cos, sin = math.cos(angle), math.sin(angle)
    zoom = _zoom(height, width, angle, zoom_in) if zoom_in or zoom_out else None
    places = np.empty((height, width))
    for axis, across, down, half in ((0, x * cos, -(y * sin), half_width), (1, x * sin, y * cos, half_height)):
        np.add(across, down[:, None], out=places)
        np.divide(places, max(half, 1e-12), out=places)
        grid[axis] = places if zoom is None else np.multiply(places, zoom, out=places)


def _zoom(height, width, angle, zoom_in):
    """How much larger than the image its turned corners reach, or the inverse of how far inside."""
    length, corner = math.hypot(height, width), math.atan2(height, width)
    reach_x = max(abs(length * math.cos(corner + angle)), abs(length * math.cos(corner - angle)))
    reach_y = max(abs(length * math.sin(corner + angle)), abs(length * math.sin(corner - angle)))
    if zoom_in:
        return min(width / reach_x, height / reach_y)
    return max(reach_x / width, reach_y / height)


def random_rotate(src, angle_limits, zoom_in=False, zoom_out=False):
    """`imrotate` by degrees that are drawn between the two `angle_limits`, for each image anew.

    >>> mx.image.random_rotate(mx.nd.ones((3, 8, 8)), (-10, 10)).shape
    (3, 8, 8)
    """
    low, high = angle_limits
    if src.ndim == 3:
        return imrotate(src, np.random.uniform(low, high), zoom_in, zoom_out)
    return imrotate(src, array(np.random.uniform(low, high, size=src.shape[0])), zoom_in, zoom_out)
