"""Layers that may still change."""
from . import basic_layers
from .basic_layers import *
