"""Loaders of images, with and without boxes."""
from . import dataloader, transforms
from .dataloader import *
from .transforms.bbox import *

__all__ = [*dataloader.__all__, *transforms.__all__]
