"""Probability distributions, transformations of them, and blocks that draw, on mx.np."""
from . import block, distributions, transformation
from .block import *  # noqa: F403
from .distributions import *  # noqa: F403
from .transformation import *  # noqa: F403

__all__ = block.__all__ + distributions.__all__ + transformation.__all__
