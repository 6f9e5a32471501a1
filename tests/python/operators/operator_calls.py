"""Calls of operators by text: arrays and graphs, the same under MXNet 1.9.1 and here.

A call is [operator, inputs, attributes, how]. An input is [dtype, shape] or None; attributes are a
Python dict as text; `how` is one of

``array``   the outputs of a call with arrays: dtype, shape and numbers
``grad``    the gradients of the inputs of floating dtypes, for head gradients 1, 2, 3, ...
``graph``   names, and what shapes and dtypes follow from those of all inputs
``first``   the same from those of the first input alone
``last``    the same from those of the last input alone
"""
import ast

import numpy as np

PLACES = (('_contrib_', 'contrib'), ('_linalg_', 'linalg'), ('_image_', 'image'),
          ('_random_', 'random'))


def numbers(place, dtype, shape):
    """The values of input `place`: between -2 and 2, whole ones from 0 to 4 for other dtypes."""
    k = np.arange(int(np.prod(shape))).reshape(shape)
    if np.dtype(dtype).kind == 'f':
        return ((k * 37 + 11 * place + 5) % 101 / 25 - 2).astype(dtype)
    return ((k * 7 + place) % (2 if dtype == 'bool' else 5)).astype(dtype)


def function(root, op):
    """The operator's function in mx.nd or mx.sym."""
    for prefix, module in PLACES:
        if op.startswith(prefix) and hasattr(getattr(root, module), op[len(prefix):]):
            return getattr(getattr(root, module), op[len(prefix):])
    return next(getattr(m, op) for m in (root._internal, root.op, root) if hasattr(m, op))


def shown(array):
    """[dtype, shape, numbers]: at most 12 numbers and their mean."""
    value = array.asnumpy()
    flat = value.astype('float64').ravel()
    few = [float(f'{x:.5g}') for x in flat[::max(1, -(-flat.size // 12))]]
    mean = float(f'{flat.mean():.5g}') if flat.size else 0.0
    return [value.dtype.name, list(value.shape), few, mean]


def listed(value):
    return value if isinstance(value, (list, tuple)) else [value]


def with_arrays(mx, op, inputs, attrs, grad):
    arrays = [i and mx.nd.array(numbers(k, *i), dtype=i[0]) for k, i in enumerate(inputs)]
    if not grad:
        return [shown(o) for o in listed(function(mx.nd, op)(*arrays, **attrs))]
    floats = [a for a in arrays if a is not None and np.dtype(a.dtype).kind == 'f']
    for a in floats:
        a.attach_grad()
    with mx.autograd.record():
        outputs = listed(function(mx.nd, op)(*arrays, **attrs))
    heads = [mx.nd.arange(1, o.size + 1, dtype=o.dtype).reshape(o.shape) for o in outputs]
    mx.autograd.backward(outputs, heads)
    return [shown(a.grad) for a in floats]


def as_graph(mx, op, inputs, attrs, how):
    names = [None if i is None else f'v{k}' for k, i in enumerate(inputs)]
    graph = function(mx.sym, op)(*[n and mx.sym.Variable(n) for n in names], name='node', **attrs)
    known = {n: i for n, i in zip(names, inputs) if n}
    if how != 'graph':
        name = min(known) if how == 'first' else max(known)
        known = {name: known[name]}
    out = [graph.list_arguments(), graph.list_outputs(), graph.list_auxiliary_states()]
    for infer, of in ((graph.infer_shape, 1), (graph.infer_type, 0)):
        found = infer(**{n: tuple(i[1]) if of else i[0] for n, i in known.items()})
        out.append([part and [list(p) if of else np.dtype(p).name for p in part] for part in found])
    return out


def answer(mx, call):
    """What the call gives, as JSON has it; 'error' if it raises one."""
    op, inputs, attrs, how = call
    try:
        attrs = ast.literal_eval(attrs)
        if how in ('array', 'grad'):
            return with_arrays(mx, op, inputs, attrs, how == 'grad')
        return as_graph(mx, op, inputs, attrs, how)
    except Exception:   # pylint: disable=broad-except
        try:
            mx.nd.waitall()     # of several arrays that failed only one was read
        except mx.base.MXNetError:
            pass
        return 'error'
