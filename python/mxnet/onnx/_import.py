"""ONNX models as this library's own: symbols with parameters, and Gluon blocks."""
import ast
import json

from .. import _dtypes
from ..base import MXNetError

# Sizes of a free first dimension for which a model is converted; what differs follows the batch.
_PROBES = (5, 7)


def _probe_shapes(infos, shapes, size):
    """Shapes of all inputs; a free first dimension that nobody gave is `size`."""
    full, free = {}, False
    for info in infos:
        if info.name in shapes:
            full[info.name] = tuple(shapes[info.name])
            continue
        dims = info.shape or ()
        if info.shape is None or any(not isinstance(d, int) for d in dims[1:]):
            raise ValueError(f"[onnx] no shape for the input {info}; accepted: shapes={{{info.name!r}: (...)}}")
        open_first = bool(dims) and not isinstance(dims[0], int)
        full[info.name] = ((size,) + dims[1:]) if open_first else dims
        free = free or open_first
    return full, free


def _follow(node, key, first, second):
    """An attribute that serves any batch, from what it is for two of them; None: there is none."""
    if key not in ("newshape", "shape"):
        return None
    a, b = ast.literal_eval(first), ast.literal_eval(second)
    if not isinstance(a, tuple) or len(a) != len(b):
        return None
    places = [i for i, (x, y) in enumerate(zip(a, b)) if x != y]
    if len(places) != 1 or "reshape" not in node["op"].lower():
        return None
    return str(tuple(-1 if i == places[0] else x for i, x in enumerate(a)))


def _join(first, second):
    """One graph of two that were made for different batches."""
    a, b = json.loads(first.tojson()), json.loads(second.tojson())
    if len(a["nodes"]) != len(b["nodes"]):
        raise MXNetError("[onnx] the model is another graph for each batch; accepted: shapes= with a fixed batch")
    for x, y in zip(a["nodes"], b["nodes"]):
        ours, others = x.get("attrs", {}), y.get("attrs", {})
        if x["op"] != y["op"] or x["inputs"] != y["inputs"] or set(ours) != set(others):
            raise MXNetError(f"[onnx] node {x['name']} is another for each batch; accepted: shapes= with a fixed batch")
        for key in ours:
            if ours[key] == others[key]:
                continue
            value = _follow(x, key, ours[key], others[key])
            if value is None:
                raise MXNetError(f"[onnx] node {x['name']} ({x['op']}) has {key}={ours[key]} for one batch and {others[key]} for another; "
                                 "accepted: shapes= with a fixed batch")
            ours[key] = value
    from ..symbol import load_json
    return load_json(json.dumps(a))


def to_symbol(model, shapes=None, dtypes=None):
    """A symbol and its parameters by name, for any size of a first dimension that the file leaves
    open and `shapes` does not give."""
    shapes = dict(shapes or {})
    probe, free = _probe_shapes(model.inputs, shapes, _PROBES[0])
    symbol, params = model._convert(probe, dtypes or {})
    if not free:
        return symbol, params
    other, others = model._convert(_probe_shapes(model.inputs, shapes, _PROBES[1])[0], dtypes or {})
    joined = _join(symbol, other)
    for name, value in params.items():
        if name not in others or others[name].shape != value.shape:
            raise MXNetError(f"[onnx] the constant {name} is another for each batch; accepted: shapes= with a fixed batch")
    return joined, params


def split(symbol, params):
    """Arguments and auxiliary states."""
    states = set(symbol.list_auxiliary_states())
    return {k: v for k, v in params.items() if k not in states}, {k: v for k, v in params.items() if k in states}


def to_block(model, shapes=None, dtypes=None, ctx=None):
    """A SymbolBlock with the model's weights; see `Model.to_block`."""
    from .. import symbol as sym
    from ..gluon import SymbolBlock
    out, params = to_symbol(model, shapes, dtypes)
    taken = set(out.list_inputs())
    block = SymbolBlock(out, [sym.var(i.name) for i in model.inputs if i.name in taken])
    for name, parameter in block.collect_params().items():
        value = params[name]
        if not _dtypes.name(value.dtype).startswith(("float", "bfloat")):
            parameter.grad_req = "null"
        parameter._load_init(value, ctx or model._ctx, cast_dtype=True, dtype_source="saved")
    return block
