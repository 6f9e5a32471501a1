"""The device and the dtype of tests that name none."""
import numpy as np

from ..context import Context, current_context

__all__ = ["default_context", "default_device", "default_dtype", "set_default_context", "set_default_device"]


def default_context():
    """The device that tests run on: the current context.

    >>> with mx.cpu(1):
    ...     mx.test_utils.default_context()
    cpu(1)
    """
    return current_context()


def set_default_context(ctx):
    """Run tests on this device."""
    Context.default_ctx = ctx


default_device = default_context


def set_default_device(device):
    """Run tests on this device."""
    set_default_context(device)


def default_dtype():
    """The dtype of tests that name none: float32.

    >>> mx.test_utils.default_dtype().__name__
    'float32'
    """
    return np.float32
