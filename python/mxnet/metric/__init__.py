"""Measures of how good predictions are, accumulated over batches.

Every metric keeps two totals: a local one, which a logger may restart in the middle of an epoch
(`reset_local`), and a global one over the epoch.
"""
from ..base import public_home as _public_home
from . import base, classification, regression
from .base import *
from .classification import *
from .regression import *

from .classification import _BinaryClassificationMetrics

__all__ = base.__all__ + classification.__all__ + regression.__all__
_public_home(globals(), [*__all__, "_BinaryClassificationMetrics"])
