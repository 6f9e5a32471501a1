"""Transformations of images with boxes."""
from . import bbox, utils
from .bbox import *

__all__ = [*bbox.__all__]
