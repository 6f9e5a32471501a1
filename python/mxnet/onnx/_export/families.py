"""The converter of an operator. The files imported here fill the table."""
import functools

from ..._operators.functions import op_info, op_names
from ...base import MXNetError
from . import (activations, alignments, assign, comparisons, control, counts, creation,  # noqa: F401
               detection, draws, elementwise, indexing, integers, layers, layout, matrices,
               pictures, pooling, quantized, recurrent, reductions, regions, solves, spatial, special,
               suppression, triangles, windows)
from .table import CONVERTERS

__all__ = ["find", "names"]


@functools.lru_cache(None)
def _record(name):
    try:
        return op_info(name).name
    except MXNetError:
        return name     # of graphs of 1.x alone


@functools.lru_cache(None)
def _by_record():
    """The converters by the name of the operator's record."""
    return {_record(name): function for name, function in CONVERTERS.items()}


def find(operator):
    """The converter of an operator, or None."""
    return _by_record().get(_record(operator))


def names():
    """All names of the operators that have a converter; "null" is a variable, as in 1.9.1."""
    return sorted({*CONVERTERS, "null", *(name for name in op_names() if find(name))})
