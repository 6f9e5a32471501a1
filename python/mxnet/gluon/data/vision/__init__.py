"""Image datasets and transformations."""
from . import datasets, transforms
from .datasets import *
