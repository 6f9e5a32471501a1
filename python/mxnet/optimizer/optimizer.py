"""All common optimizers under one name, as in MXNet 1.x.

They are what the modules below list in their ``__all__``.
"""
from ..base import public_home as _public_home
from . import adaptive as _adaptive, base as _base, several as _several, sgd as _sgd, updater as _updater
from .adaptive import *
from .base import *
from .several import *
from .sgd import *
from .updater import *

__all__ = sorted(_base.__all__ + _updater.__all__ + _sgd.__all__ + _adaptive.__all__ + _several.__all__)
_public_home(globals())
