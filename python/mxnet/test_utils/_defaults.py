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
    """Run tests on this device: it becomes the default one of the thread.

    >>> before = mx.test_utils.default_context()
    >>> mx.test_utils.set_default_context(mx.cpu(1))
    >>> mx.nd.ones(2).context
    cpu(1)
    >>> mx.test_utils.set_default_context(before)
    """
    Context._default_ctx.value = ctx


default_device = default_context


def set_default_device(device):
    """:func:`set_default_context` under the name of 2.0.

    >>> before = mx.test_utils.default_device()
    >>> mx.test_utils.set_default_device(mx.cpu(1))
    >>> mx.nd.ones(2).context
    cpu(1)
    >>> mx.test_utils.set_default_device(before)
    """
    set_default_context(device)


def default_dtype():
    """The dtype of tests that name none: float32.

    >>> mx.test_utils.default_dtype().__name__
    'float32'
    """
    return np.float32
