"""Transformations of images together with what belongs to them."""
from . import bbox
from .bbox import *

__all__ = [*bbox.__all__]
