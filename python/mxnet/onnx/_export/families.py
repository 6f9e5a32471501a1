"""The files with converters, each of which fills the table."""
from . import (activations, comparisons, creation, detection, elementwise, indexing,  # noqa: F401
               layers, layout, matrices, pooling, quantized, recurrent, reductions)
