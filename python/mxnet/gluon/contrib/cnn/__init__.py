"""Convolutions that may still change."""
from . import conv_layers
from .conv_layers import *
