"""Reading and changing images as arrays (height, width, channels)."""
from . import image
from .image import *
