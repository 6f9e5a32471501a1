"""Blocks that collect losses of what they draw."""
from . import stochastic_block
from .stochastic_block import *  # noqa: F403

__all__ = stochastic_block.__all__
