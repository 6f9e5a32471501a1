"""Operators as functions of symbols; names without a leading underscore."""
from ._functions import attach as _attach

__getattr__, __dir__ = _attach(__name__)
