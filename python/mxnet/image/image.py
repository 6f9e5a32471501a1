"""Images as arrays (height, width, channels): decoding, cutting, resizing, augmenters, and batches.

An augmenter is an object that is called with an image and returns another one. What is drawn at
random comes from Python's ``random`` and, for lighting, from ``numpy.random``.
"""
from ..base import public_home as _public_home
from . import _augment, _crop, _iter, _read, _rotate
from ._augment import *
from ._crop import *
from ._crop import _get_interp_method  # noqa: F401  programs of 1.x call it
from ._iter import *
from ._read import *
from ._rotate import *

__all__ = [*_read.__all__, *_crop.__all__, *_rotate.__all__, *_augment.__all__, *_iter.__all__]

_public_home(globals())
