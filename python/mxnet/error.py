"""Errors that the native library raises, by the kind that stands in front of its message.

A message that begins with ``ValueError:`` becomes a `ValueError`, and so on for each registered
kind; what has no registered kind becomes :class:`MXNetError`.
"""
from .base import MXNetError, register_error

__all__ = ["MXNetError", "InternalError", "register"]

register = register_error


@register
class InternalError(MXNetError):
    """A contract of the library was broken inside of it: please report it with the message."""

    def __init__(self, msg):
        hint = "an internal check failed: please report this message with the lines that lead to it"
        super().__init__(msg if hint in str(msg) else f"{msg}\n({hint})")


for _kind in (ValueError, TypeError, AttributeError, IndexError, NotImplementedError):
    register(_kind.__name__, _kind)
del _kind
