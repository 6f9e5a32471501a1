"""Samplers and data sets that may still change."""
from . import sampler, text
from .sampler import *
