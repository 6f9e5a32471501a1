"""Samplers that may still change."""
from . import sampler
from .sampler import *
