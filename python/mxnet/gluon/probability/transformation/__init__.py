"""Functions with inverses and Jacobians, and which of them lead to a constraint."""
from .domain_map import __all__ as _maps
from .domain_map import *  # noqa: F403
from .transformation import __all__ as _transformations
from .transformation import *  # noqa: F403

__all__ = _transformations + _maps
