"""Data iterators: batches of arrays, with labels, for Module and other training loops."""
from . import io, utils
from .io import *

from ..base import public_home as _public_home

__all__ = io.__all__
_public_home(vars(io))
