"""Free sizes of a model's inputs: names, and sums and products of names."""
import ast
import math
import operator
import re

_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}
_CALLS = {"max": max, "min": min}


def _parsed(text):
    if re.search(r"\w-\w", text):   # a name of two words; exporters write spaces around a minus
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _names(node):
    """The names in a dimension's text; None: it is no sum or product of names and numbers."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return set()
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.lower() in _CALLS and node.args:
        parts = node.args
    else:
        return None
    found = [_names(part) for part in parts]
    return None if None in found else set().union(*found)


def _value(node, sizes):
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Call):
        return _CALLS[node.func.id.lower()](_value(part, sizes) for part in node.args)
    return _BINARY[type(node.op)](_value(node.left, sizes), _value(node.right, sizes))


def names_in(dimension):
    """The names that a free dimension is made of: a list of one, if it is no more than a name.

    >>> names_in("past_length + length")
    ['length', 'past_length']
    >>> names_in("batch-size")
    ['batch-size']
    """
    names = _names(_parsed(dimension))
    return [dimension] if names is None else sorted(names)


def size_of(dimension, sizes):
    """The size of a dimension: a number, a name, or a sum or product of names. What `sizes` has no
    number for counts as 1. At least 0.

    >>> size_of("past_length + length", {"past_length": 12})
    13
    """
    if isinstance(dimension, int):
        return dimension
    if dimension is None or dimension in sizes:
        return sizes.get(dimension, 1)
    names = names_in(dimension)
    if names == [dimension]:
        return 1
    try:
        return max(0, math.floor(_value(_parsed(dimension), {name: sizes.get(name, 1) for name in names})))
    except (ZeroDivisionError, OverflowError):
        return 1
