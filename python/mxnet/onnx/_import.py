"""ONNX models as this library's own: symbols with parameters, and Gluon blocks."""
from .. import _dtypes
from . import _batch


def _probe_shapes(infos, shapes, size):
    """Shapes of all inputs; a free first dimension that nobody gave is `size`. And the names of the
    inputs that have one."""
    full, free = {}, []
    for info in infos:
        if info.name in shapes:
            full[info.name] = tuple(shapes[info.name])
            continue
        dims = info.shape or ()
        if info.shape is None or any(not isinstance(d, int) for d in dims[1:]):
            raise ValueError(f"[onnx] no shape for the input {info}; accepted: shapes={{{info.name!r}: (...)}}")
        open_first = bool(dims) and not isinstance(dims[0], int)
        full[info.name] = ((size,) + dims[1:]) if open_first else dims
        free += [info.name] * open_first
    return full, free


def to_symbol(model, shapes=None, dtypes=None):
    """A symbol and its parameters by name, for any size of a first dimension that the file leaves
    open and `shapes` does not give."""
    shapes = dict(shapes or {})
    probe, free = _probe_shapes(model.inputs, shapes, _batch.PROBES[0])
    made = model._convert(probe, dtypes or {})
    if not free:
        return made
    other = model._convert(_probe_shapes(model.inputs, shapes, _batch.PROBES[1])[0], dtypes or {})
    return _batch.join(made, other, probe, free)


def split(symbol, params):
    """Arguments and auxiliary states."""
    states = set(symbol.list_auxiliary_states())
    return {k: v for k, v in params.items() if k not in states}, {k: v for k, v in params.items() if k in states}


def to_block(model, shapes=None, dtypes=None, ctx=None):
    """A SymbolBlock with the model's weights; see `Model.to_block`."""
    from .. import symbol as sym
    from ..gluon import SymbolBlock
    out, params = to_symbol(model, shapes, dtypes)
    block = SymbolBlock(out, [sym.var(i.name) for i in model.inputs])
    for name, parameter in block.collect_params().items():
        value = params[name]
        if not _dtypes.name(value.dtype).startswith(("float", "bfloat")):
            parameter.grad_req = "null"
        parameter._load_init(value, ctx or model._ctx, cast_dtype=True, dtype_source="saved")
    return block
