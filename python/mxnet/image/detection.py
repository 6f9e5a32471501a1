"""Images with labelled boxes: augmenters that change both, and batches of them.

A label is a NumPy array (objects, 5 or more): class, left, top, right, bottom, and whatever else
belongs to the object. Coordinates are parts of the width and the height, 0 to 1.
"""
from ..base import public_home as _public_home
from . import _det_augment, _det_iter
from ._det_augment import *
from ._det_iter import *

__all__ = [*_det_augment.__all__, *_det_iter.__all__]

_public_home(globals())
