"""Contributed operators as functions of arrays."""
from ._namespace import attach as _attach

__getattr__, __dir__ = _attach(__name__, "_contrib_")
