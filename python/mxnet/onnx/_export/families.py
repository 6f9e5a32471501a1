"""The files with converters, each of which fills the table."""
from . import activations, comparisons, elementwise, layers, layout, pooling  # noqa: F401
