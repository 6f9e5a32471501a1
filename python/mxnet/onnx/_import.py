"""ONNX models as this library's own: symbols with parameters, and Gluon blocks."""
import warnings

import numpy as np

from .. import _dtypes
from ..base import MXNetError
from . import _batch

_NO_GRAPH = "so the model is no single graph"   # what the library says then
_NO_BLOCK = "so the model is no block"          # where a node would lose gradients
_LARGEST_MASK = 1 << 22     # elements


def _probe_shapes(infos, shapes, size, values):
    """Shapes of all inputs but those of `values`; a free first dimension that nobody gave is
    `size`. The names of the inputs that have one. And those whose shape is a guess: where there are
    `values`, it may be that nothing reads them."""
    full, free, guessed = {}, [], []
    for info in infos:
        if info.name in values:
            continue
        if info.name in shapes:
            full[info.name] = tuple(shapes[info.name])
            continue
        dims = info.shape or ()
        if info.shape is None or any(not isinstance(d, int) for d in dims[1:]):
            guessed.append(info)
            full[info.name] = tuple(d if isinstance(d, int) else 1 for d in dims)
            continue
        open_first = bool(dims) and not isinstance(dims[0], int)
        full[info.name] = ((size,) + dims[1:]) if open_first else dims
        free += [info.name] * open_first
    return full, free, guessed


def _no_shape(info):
    raise ValueError(f"[onnx] no shape for the input {info}; accepted: shapes={{{info.name!r}: (...)}}")


def to_symbol(model, shapes=None, dtypes=None, values=None, learns=None):
    """A symbol and its parameters by name, for any size of a first dimension that the file leaves
    open and `shapes` does not give. `learns`: see `Model._convert`."""
    for what, given in (("shapes", shapes), ("dtypes", dtypes), ("values", values)):
        if given is not None and not isinstance(given, dict):
            raise TypeError(f"[onnx] {what} is a {type(given).__name__}; accepted: a dictionary by the names of inputs")
    shapes, dtypes, values = dict(shapes or {}), dict(dtypes or {}), dict(values or {})
    known = [info.name for info in model.inputs + model.with_defaults]
    for what, given in (("shapes", shapes), ("dtypes", dtypes), ("values", values)):
        for name in given:
            if name not in known:
                raise ValueError(f"[onnx] {what} has {name!r}, which is no input; accepted: {', '.join(known) or 'none'}")
    for name, shape in shapes.items():
        if isinstance(shape, (int, np.integer, str)) or not hasattr(shape, "__iter__"):
            raise TypeError(f"[onnx] shapes has {shape!r} for {name}; accepted: a tuple with a size for each dimension")
        if not all(isinstance(size, (int, np.integer)) and size >= 0 for size in shape):
            raise ValueError(f"[onnx] shapes has {tuple(shape)} for {name}; accepted: sizes from 0. A free first dimension stays free "
                             "where shapes= leaves the input out")
    probe, free, guessed = _probe_shapes(model.inputs, shapes, _batch.PROBES[0], values)
    if guessed and not values:
        _no_shape(guessed[0])
    try:
        made = model._convert(probe, dtypes, values, learns)
    except MXNetError as error:
        if not guessed:
            raise
        names = ", ".join(info.name for info in guessed)
        raise ValueError(f"{error}; no shapes were given for {names}, which may be the reason") from error
    read = set(made[0].list_inputs())
    for info in guessed:
        if info.name in read:
            _no_shape(info)
    if values:   # what nothing reads is no input
        probe, free = {n: s for n, s in probe.items() if n in read}, [n for n in free if n in read]
    if not free:
        return made
    other = model._convert(_probe_shapes(model.inputs, shapes, _batch.PROBES[1], values)[0], dtypes or {}, values, learns)
    return _batch.join(made, other, probe, free)


def split(symbol, params):
    """Arguments and auxiliary states."""
    states = set(symbol.list_auxiliary_states())
    return {k: v for k, v in params.items() if k not in states}, {k: v for k, v in params.items() if k in states}


def _trains(value):
    """Floats that are no mask."""
    if not _dtypes.name(value.dtype).startswith(("float", "bfloat")):
        return False
    return value.size > _LARGEST_MASK or bool(np.isfinite(value.astype("float32").asnumpy()).all())


def to_block(model, shapes=None, dtypes=None, ctx=None, values=None):
    """A SymbolBlock with the model's weights; see `Model.to_block`."""
    from .. import symbol as sym
    from ..gluon import SymbolBlock
    if model._within and not shapes and not values:   # of any shapes, and written within its file
        from ._parts import PartsBlock
        return PartsBlock(model, ctx)
    try:
        made = to_symbol(model, shapes, dtypes, values, learns=True)
    except MXNetError as error:   # operators on weights may depend on the batch where their results do not
        if _NO_GRAPH in str(error) and not values:
            from ._parts import PartsBlock
            return PartsBlock(model, ctx)
        if _NO_BLOCK in str(error):
            raise
        made = None
    out, params = made or to_symbol(model, shapes, dtypes, values, learns=False)
    read = set(out.list_inputs())
    inputs = [sym.var(i.name) for i in model.inputs if not values or i.name in read or i.name in (shapes or {})]
    with warnings.catch_warnings():    # the dtypes of Parameters are those of the file
        warnings.filterwarnings("ignore", "Cannot decide type")
        block = SymbolBlock(out, inputs)
    attributes = out.attr_dict()
    for name, parameter in block.collect_params().items():
        value = params[name]
        if "__constant__" in attributes.get(name, ()) or not _trains(value):
            parameter.grad_req = "null"
        parameter._load_init(value, ctx or model.ctx, cast_dtype=True, dtype_source="saved")
    block._onnx_file = model.source, model._within   # written again where nodes have no equal in ONNX
    return block
