"""Data iterators: batches of arrays, with labels, for Module and other training loops."""
from . import io, utils
from .io import *

__all__ = io.__all__
