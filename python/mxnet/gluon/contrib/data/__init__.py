"""Samplers, data sets and loaders that may still change."""
from . import sampler, text, vision
from .sampler import *
