"""Nested lists of arrays (or symbols) as a flat list and a description of the nesting, and back."""
from ..ndarray import NDArray
from ..symbol import Symbol

__all__ = ['flatten', 'regroup']

# A description is 0 for one array, n > 1 for a symbol with n outputs, -1 for None and a list for a list or tuple.


def flatten(args, what):
    """(flat list, description) of `args`; ValueError when something else than arrays, symbols, None, lists and tuples is inside.

    `what` ('input' or 'output') appears in the message.
    """
    if isinstance(args, NDArray):
        return [args], 0
    if isinstance(args, Symbol):
        count = len(args.list_outputs())
        return [args], count if count > 1 else 0
    if args is None:
        return [None], -1
    if not isinstance(args, (list, tuple)):
        raise ValueError(f'[gluon.HybridBlock] {what} of type {type(args).__name__} given; '
                         'NDArray, Symbol, None and (nested) lists and tuples of them are accepted')
    flat, described = [], []
    for arg in args:
        sub, d = flatten(arg, what)
        flat.extend(sub)
        described.append(d)
    return flat, described


def regroup(flat, description):
    """The nesting of `description` over the values of the list `flat`."""
    values = iter(flat)

    def build(d):
        if isinstance(d, list):
            return [build(x) for x in d]
        if d == -1:
            next(values, None)
            return None
        if d == 0:
            return next(values)
        return [next(values) for _ in range(d)]

    return build(description)
