"""Optimizers: how weights change, given their gradients."""
from . import contrib, optimizer
from .contrib import *
from .optimizer import *

__all__ = optimizer.__all__ + contrib.__all__
