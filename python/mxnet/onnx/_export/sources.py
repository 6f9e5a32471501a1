"""What users give to the exporter, as a symbol, its parameters, and its inputs."""
import numbers
import os

from ... import _dtypes, ndarray as nd, symbol as sym
from ..._operators.functions import op_info
from ...base import CheckedTypeError, CheckedValueError
from ...ndarray import NDArray
from ...symbol import Symbol

__all__ = ["Source", "read_model"]


class Source:
    """A graph to export: `symbol`, `parameters` (NDArrays by name), `shapes` and `dtypes` of inputs
    that were told, and `free`: {input: {axis: label}}. `arguments` are names of what a block is
    called with, whether the graph reads it or not."""

    def __init__(self, symbol, parameters):
        self.symbol = symbol
        used = set(symbol.list_inputs())
        self.parameters = {n: a for n, a in parameters.items() if n in used}
        self.inputs = [n for n in symbol.list_arguments() + symbol.list_auxiliary_states()
                       if n not in self.parameters]
        self.labels = _labels(symbol, set(self.inputs))
        self.arguments = []
        self.shapes, self.dtypes, self.free = {}, {}, {}

    def data(self):
        """Inputs that are no labels."""
        return [n for n in self.inputs if n not in self.labels]

    def read(self, values):
        """Of values for each argument of a block, those of inputs of the graph; else all."""
        values = list(values)
        if len(values) != len(self.arguments):
            return values
        return [value for name, value in zip(self.arguments, values) if name in self.inputs]

    def _match(self, values, what):
        """{input: value} of a list that has one for each input, with or without labels."""
        if isinstance(values, dict):
            unknown = [name for name in values if name not in (*self.inputs, *self.arguments)]
            if unknown:
                raise CheckedValueError(f"[onnx.export_model] {what} has {', '.join(unknown)}; "
                                        f"accepted: inputs, {', '.join(self.inputs)}")
            return {name: value for name, value in values.items() if name in self.inputs}
        values = self.read(values)
        for names in (self.data(), self.inputs):
            if len(values) == len(names):
                return dict(zip(names, values))
        if len(values) < len(self.data()):      # the rest is inferred, as states from the data
            return dict(zip(self.data(), values))
        raise CheckedValueError(f"[onnx.export_model] {what} has {len(values)} entries; accepted: "
                                f"one for each of {', '.join(self.arguments or self.data()) or 'no inputs'}")

    def set_shapes(self, in_shapes):
        """Take shapes, or arrays that have them; a name or None for a size makes it free."""
        for name, shape in self._match(_listed(in_shapes, "in_shapes"), "in_shapes").items():
            if isinstance(shape, NDArray) or hasattr(shape, "__array__"):
                self.dtypes.setdefault(name, shape.dtype)
                shape = shape.shape
            _check_sizes(name, shape)
            self.set_free(name, shape)
            self.shapes[name] = tuple(2 if isinstance(size, str) or size is None else int(size)
                                      for size in shape)

    def set_free(self, name, shape):
        """Note which axes of the input `name` are free."""
        axes = {axis: size or f"{name}_{axis}" for axis, size in enumerate(shape)
                if size is None or isinstance(size, str)}
        known = self.shapes.get(name)
        if known is not None and len(known) != len(shape):
            raise CheckedValueError(f"[onnx.export_model] dynamic_input_shapes has {shape!r} for "
                                    f"{name!r}, in_shapes {known!r}; accepted: as many dimensions")
        if axes:
            self.free[name] = axes

    def set_dynamic(self, shapes):
        """Take `dynamic_input_shapes`, or make the first dimension of each input free."""
        if shapes is None:
            for name in self.data():
                if self.shapes.get(name):
                    self.free.setdefault(name, {0: "batch"})
            return
        for name, shape in self._match(shapes, "dynamic_input_shapes").items():
            self.set_free(name, shape)

    def set_dtypes(self, in_types):
        """Take one dtype for all inputs, or one for each."""
        if isinstance(in_types, (list, tuple, dict)):
            types = _one_each(in_types, self)
        else:
            types = {name: in_types for name in self.inputs if name not in self.dtypes}
        for name, dtype in types.items():
            _dtypes.number(dtype)
            self.dtypes[name] = dtype


def _check_sizes(name, shape):
    if any(isinstance(size, numbers.Integral) and size < 0 for size in shape):
        raise CheckedValueError(f"[onnx.export_model] in_shapes has {tuple(shape)} for {name}; accepted: sizes from 0, and a "
                                "name, such as 'batch', or None for a size that is free")


def _one_each(in_types, source):
    count = len(in_types if isinstance(in_types, dict) else source.read(in_types))
    if not isinstance(in_types, dict) and count not in (len(source.inputs), len(source.data())):
        raise CheckedValueError(f"[onnx.export_model] in_types has {count} dtypes for "
                                f"{len(source.data())} inputs; accepted: one, or one for each")
    return source._match(in_types, "in_types")


def _listed(shapes, what):
    """A list of shapes from what may be one shape."""
    if isinstance(shapes, dict):
        return shapes
    if isinstance(shapes, NDArray) or hasattr(shapes, "__array__"):
        return [shapes]
    if not isinstance(shapes, (list, tuple)):
        raise CheckedTypeError(f"[onnx.export_model] {what} is {shapes!r}; accepted: a list of "
                               "shapes, one for each input")
    shapes = list(shapes)
    if shapes and all(s is None or isinstance(s, (str, numbers.Integral)) for s in shapes):
        return [tuple(shapes)]
    return shapes


def _labels(symbol, inputs):
    """Inputs that operators read as labels only: no prediction depends on them."""
    read = {}
    for node in symbol.nodes():
        if node.is_variable:
            continue
        info = op_info(node.op)
        for place, (source, _) in enumerate(node.inputs):
            if source.is_variable and source.name in inputs:
                is_label = (not info.variadic and place < len(info.inputs)
                            and info.inputs[place] == "label" and node.op.endswith("Output"))
                read.setdefault(source.name, []).append(is_label)
    return {name for name, uses in read.items() if all(uses)}


# ---- forms of a model

def read_model(model, params, in_shapes, in_types):
    """The :class:`Source` of a symbol, files, a Gluon block or a Module."""
    if isinstance(model, (str, os.PathLike)):
        if params is None:
            raise CheckedValueError(f"[onnx.export_model] sym is the file {os.fspath(model)!r} "
                                    "and params is None; accepted: its file of parameters")
        return Source(sym.load(os.fspath(model)), _parameters(params))
    if isinstance(model, Symbol):
        return Source(model, _parameters(params))
    if hasattr(model, "collect_params") and hasattr(model, "hybridize"):
        return _of_block(model, params, in_shapes, in_types)
    if hasattr(model, "get_params") and hasattr(model, "symbol"):
        return _of_module(model, params)
    raise CheckedValueError(f"[onnx.export_model] sym is a {type(model).__name__}; accepted: a "
                            "Symbol, the path of a -symbol.json file, a HybridBlock or a Module")


def _parameters(params):
    """NDArrays by name, from a file, a dictionary or a list of dictionaries."""
    if params is None:
        return {}
    if isinstance(params, (str, os.PathLike)):
        params = nd.load(os.fspath(params))
        if not isinstance(params, dict):
            raise CheckedValueError("[onnx.export_model] the file of parameters has no names; "
                                    "accepted: a file that save_checkpoint or export wrote")
    if isinstance(params, (list, tuple)):
        params = {name: array for part in params for name, array in part.items()}
    if not isinstance(params, dict):
        raise CheckedValueError(f"[onnx.export_model] params is a {type(params).__name__}; "
                                "accepted: a dictionary of NDArrays, or the path of a file")
    found = {}
    for name, array in params.items():
        array = array.data() if not isinstance(array, NDArray) and hasattr(array, "data") else array
        found[name.split(":", 1)[1] if name.startswith(("arg:", "aux:")) else name] = \
            array.as_nd_ndarray()
    return found


def _of_module(module, params):
    arguments, states = module.get_params()
    source = Source(module.symbol, {**arguments, **states, **_parameters(params)})
    if module.binded:
        for name, shape in [tuple(d)[:2] for d in module.data_shapes]:
            source.shapes[name] = tuple(shape)
    return source


def _samples(in_shapes, in_types):
    """Arrays to trace a block with."""
    shapes = _listed(in_shapes, "in_shapes")
    if isinstance(shapes, dict):
        shapes = list(shapes.values())
    for number, shape in enumerate(shapes):
        if not isinstance(shape, NDArray):
            _check_sizes(f"input {number}", shape)
    types = list(in_types) if isinstance(in_types, (list, tuple)) else [in_types] * len(shapes)
    return [shape if isinstance(shape, NDArray) else
            nd.zeros(tuple(2 if s is None or isinstance(s, str) else s for s in shape), dtype=dtype)
            for shape, dtype in zip(shapes, types)]


def _trace(block, in_shapes, in_types):
    """Let `block` record its graph by a call, as `hybridize` would."""
    if in_shapes is None:
        raise CheckedValueError(f"[onnx.export_model] the block {block.name!r} has no graph; "
                                "accepted: in_shapes, or a block that ran after hybridize()")
    from ... import util
    was_active = block._active
    block.hybridize()
    samples = _samples(in_shapes, in_types)
    if util.is_np_array():
        samples = [s.as_np_ndarray() for s in samples]
    try:
        block(*samples)
    except TypeError as error:      # Python's, for another number of arguments
        raise CheckedTypeError(f"[onnx.export_model] the block {block.name!r} cannot be called with {len(samples)} arrays, one for each "
                               f"of in_shapes: {error}") from error
    return was_active


def _graph_block(block, in_shapes):
    """The block whose graph is written. A recurrent layer makes its first states for a batch of any
    size inside another block."""
    from ...gluon import HybridBlock, nn, rnn
    if not isinstance(block, HybridBlock):
        raise CheckedTypeError(f"[onnx.export_model] the block {block.name!r} is a {type(block).__name__}, which has no graph; accepted: "
                               "a HybridBlock, such as nn.HybridSequential")
    alone = isinstance(block, (rnn.RNN, rnn.LSTM, rnn.GRU)) and in_shapes is not None and len(_listed(in_shapes, "in_shapes")) == 1
    if not alone:
        return block
    outer = nn.HybridSequential(prefix="")
    outer.add(block)
    return outer


def _of_block(block, params, in_shapes, in_types):
    from ...gluon._graph_files import graph_arrays
    block = _graph_block(block, in_shapes)
    was_active = True
    if not block._cached_graph:
        was_active = _trace(block, in_shapes, in_types)
    try:
        symbol, arrays = graph_arrays(block)
        source = Source(symbol, {**_parameters(arrays), **_parameters(params)})
        trace, variables = block._traces.last, block._cached_graph[0]
        names = [v.name for v in variables if v.name in source.inputs]
        source.arguments = [v.name for v in variables]
        source.inputs.sort(key=lambda n: names.index(n) if n in names else len(names))
        if trace is not None and trace.full is not None and trace.out is symbol:
            for variable, shape, dtype in zip(variables, trace.full[1], trace.full[3]):
                if variable.name in source.inputs:
                    source.shapes[variable.name] = tuple(shape)
                    source.dtypes[variable.name] = _dtypes.type_of(dtype)
        return source
    finally:
        if not was_active:
            block.hybridize(False)
