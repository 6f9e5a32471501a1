"""Nested lists of arrays (or symbols) as a flat list and a description of the nesting, and back."""
import inspect

import numpy as np

from ..base import MXNetError, error_class
from ..context import Context
from ..ndarray import NDArray
from ..symbol import Symbol

__all__ = ['flatten', 'regroup', 'leaves', 'describe', 'listed', 'rebuild', 'by_position', 'checked_shape', 'ARRAY']

# A description is 0 for one array, n > 1 for a symbol with n outputs, -1 for None and a list for a
# list or tuple.


def flatten(args, what):
    """(flat list, description) of `args`; ValueError when something else than arrays, symbols,
    None, lists and tuples is inside.

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


def leaves(value):
    """What is inside nested lists, tuples and dicts."""
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from leaves(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from leaves(v)
    else:
        yield value


# -- any Python value: arrays in lists, tuples and dicts, beside numbers, texts and whatever else
# can be compared by value

ARRAY = '<array>'
_CONSTANTS = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), np.generic, np.dtype, type, Context, range)


def describe(value, arrays):
    """What `value` is, hashable, with ARRAY where an NDArray is (appended to `arrays`). TypeError
    for what cannot be compared by value.

    >>> describe([3, {'a': None}], [])
    (<class 'list'>, ((<class 'int'>, 3), (<class 'dict'>, ('a',), ((<class 'NoneType'>, None),))))
    """
    if isinstance(value, NDArray):
        arrays.append(value)
        return ARRAY
    kind = type(value)
    if kind in (list, tuple) or isinstance(value, tuple) and hasattr(kind, '_fields'):
        return kind, tuple(describe(v, arrays) for v in value)
    if isinstance(value, dict) and hasattr(kind, 'fromkeys') and kind.__module__ in ('builtins', 'collections'):
        return kind, tuple(value), tuple(describe(v, arrays) for v in value.values())
    if kind is slice:
        return kind, (value.start, value.stop, value.step)
    if isinstance(value, _CONSTANTS):
        return kind, value
    raise TypeError(f'a {kind.__name__}')


def listed(described):
    """`described` with a list for every tuple, which is what hybridized blocks of 1.9.1 and 2.0
    return. Named tuples stay."""
    if described is ARRAY or described == ARRAY:
        return described
    kind = described[0]
    if kind in (list, tuple) or hasattr(kind, '_fields'):
        return list if kind is tuple else kind, tuple(listed(d) for d in described[1])
    if len(described) == 3:
        return kind, described[1], tuple(listed(d) for d in described[2])
    return described


def rebuild(described, arrays):
    """The value that `describe` described, with the next of the iterator `arrays` in each array's
    place."""
    if described is ARRAY or described == ARRAY:
        return next(arrays)
    kind = described[0]
    if kind in (list, tuple):
        return kind([rebuild(d, arrays) for d in described[1]])
    if len(described) == 3:
        items = [(k, rebuild(d, arrays)) for k, d in zip(described[1], described[2])]
        made = kind() if kind is not dict else {}
        made.update(items)
        return made
    if kind is slice:
        return slice(*described[1])
    if hasattr(kind, '_fields') and issubclass(kind, tuple):
        return kind(*[rebuild(d, arrays) for d in described[1]])
    return described[1]


def by_position(block, function, is_forward, args, kwargs):
    """`args` with what `kwargs` gives to parameters of `function` behind them; TypeError for other
    names.

    `function` is the block's `forward` (`is_forward`) or `hybrid_forward`, whose first parameter is
    the namespace of functions.
    """
    names = [p for p in inspect.signature(function).parameters.values()
             if p.name not in block._reg_params and p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    names = names if is_forward else names[1:]
    args, kwargs = list(args), dict(kwargs)
    for p in names[len(args):]:
        if not kwargs:
            break
        if p.name not in kwargs and p.default is p.empty:
            raise TypeError(f'[gluon.HybridBlock] {type(block).__name__} is called without {p.name!r}')
        args.append(kwargs.pop(p.name, p.default))
    if kwargs:
        raise TypeError(f'[gluon.HybridBlock] {type(block).__name__} got unexpected or repeated '
                        f'arguments {sorted(kwargs)}; accepted: {[p.name for p in names]}')
    return tuple(args)


def checked_shape(name, shape):
    """`shape` as a tuple of what are integers."""
    shape = tuple(shape)
    for dimension in shape:
        if not hasattr(dimension, '__index__'):
            raise error_class(MXNetError, TypeError)(
                f'[gluon.Parameter] {name!r} of shape {shape}; integers are accepted, not {dimension!r}')
    return shape
