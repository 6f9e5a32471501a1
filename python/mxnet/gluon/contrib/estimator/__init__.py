"""A training loop as an object: :class:`Estimator`, and handlers of what happens on the way."""
from . import batch_processor, estimator, event_handler, utils
from .batch_processor import *
from .estimator import *
from .event_handler import *
