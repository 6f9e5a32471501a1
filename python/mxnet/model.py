"""Checkpoints, the updating of parameters that Module and others share, and FeedForward."""
# ruff: noqa: F401  (programs of 1.x take from this module what it imports)
import logging
from collections import namedtuple

from . import kvstore as kvs
from . import ndarray as nd
from . import symbol as sym
from ._training.model import (BatchEndParam, _create_kvstore, _initialize_kvstore, _multiple_callbacks, _split_params, _update_params,
                     _update_params_on_kvstore, load_checkpoint, load_params, save_checkpoint)

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]  # noqa: F822

# FeedForward needs nothing of scikit-learn, and derives from no class of it even if that is
# installed.
BASE_ESTIMATOR, SKLEARN_INSTALLED = object, False


def __getattr__(name):
    # With Module and all that it needs, so only for those who ask.
    if name == "FeedForward":
        from ._training.feedforward import FeedForward
        globals()[name] = FeedForward
        return FeedForward
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), "FeedForward"})
