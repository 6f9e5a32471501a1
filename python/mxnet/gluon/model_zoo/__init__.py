"""Predefined networks and the store of their published parameters."""
from . import model_store, vision
