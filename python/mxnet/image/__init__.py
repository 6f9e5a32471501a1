"""Reading and changing images as arrays (height, width, channels)."""
from . import detection, image
from . import detection as det  # noqa: F401  a name of 1.x
from .detection import *
from .image import *
