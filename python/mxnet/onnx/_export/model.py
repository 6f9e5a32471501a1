"""`export_model`: from what users give to a file."""
import os

import numpy as np

from ..._files.whole_files import NewFile, write_file
from ...base import CheckedValueError, MXNetError, __version__, error_class
from ...ndarray import NDArray
from .._written import written
from . import families, shapes
from .conversion import Dimensions
from .graph import Graph, all_nodes, identifier
from .package import onnx, tensor_type
from .scopes import Scope, check_operators, unknown_operators
from .shapes import is_static
from .sources import read_model
from .widening import widen

__all__ = ["export_model", "get_operator_support"]

_OLDEST, _NEWEST = 13, 21       # opsets
_LARGEST = 2**31 - 2**20        # bytes of a file without others: what protobuf holds


def export_model(sym, params=None, in_shapes=None, in_types=np.float32,
                 onnx_file_path="model.onnx", verbose=False, dynamic=False,
                 dynamic_input_shapes=None, run_shape_inference=False, input_type=None,
                 input_shape=None, large_model=False, opset_version=None, input_names=None,
                 output_names=None):
    """Write a model in the format of ONNX.

    Parameters
    ----------
    sym : Symbol, str, HybridBlock or Module
        The graph; a text is the path of a ``-symbol.json`` file. A block needs no `params`; it has
        a graph after a call that follows `hybridize()`, otherwise one is recorded with arrays of
        `in_shapes`. A block of an ONNX file (`Model.to_block`) that is no single graph, or has
        operators that this function does not write (mixtures of experts), becomes that file with
        the block's weights, in their bits; nothing else is looked at then.
    params : dict of str to NDArray, list of such dicts, or str
        Parameters, or the path of a file of them. ``arg:`` and ``aux:`` before names are accepted.
    in_shapes : list of tuple of int
        A shape for each input, in the order of `sym.list_arguments()`, labels left out; for a
        block, one for each argument of its call. Arguments that its graph does not read are no
        inputs of the model. Arrays are taken for their shapes and dtypes. A dictionary has shapes
        by name. Inputs behind the last shape get theirs by inference. A text or None in the place
        of a size makes it free.
    in_types : dtype or list of dtype
        Dtypes of inputs: one for all of them, or one for each.
    onnx_file_path : str or path
        The file. An older one stays as it is until the new one is complete.
    verbose : bool
        Print each node with the ONNX operators that stand for it.
    dynamic : bool
        Sizes stay free: those that `dynamic_input_shapes` names, or the first one of each input.
    dynamic_input_shapes : list of tuple
        A shape for each input, with a name or None where a size is free. Equal names are equal
        sizes. Only with `dynamic`.
    run_shape_inference : bool
        Let the package `onnx` add the shapes of all results to the file.
    input_type, input_shape
        Other names of `in_types` and `in_shapes`, as in 1.9.1.
    large_model : bool
        Write parameters to a file beside it, `onnx_file_path` with ``.data`` behind it. Models of
        more than 2 GB are always written so.
    opset_version : int
        Version of the operators, 13 to 21. The newest one that the installed package knows if it
        is not given.
    input_names, output_names : list of str
        Names in the model. Inputs and outputs have those of the symbol otherwise: an output is
        called as its node, with its number behind it if the node has several.

    Returns
    -------
    str
        `onnx_file_path`.

    Raises
    ------
    ImportError
        if the package `onnx` is not installed.
    MXNetError
        that lists the nodes whose operators have no equal in ONNX, or names inputs whose shapes
        are not known.
    ValueError
        for arguments that do not fit together.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(3)
    >>> net.initialize()
    >>> mx.onnx.export_model(net, in_shapes=[(2, 4)], onnx_file_path='dense.onnx')
    'dense.onnx'

    With any number of rows, from a symbol:

    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc')
    >>> params = {'fc_weight': mx.nd.ones((3, 4)), 'fc_bias': mx.nd.zeros(3)}
    >>> mx.onnx.export_model(net, params, [(2, 4)], onnx_file_path='fc.onnx', dynamic=True,
    ...                      dynamic_input_shapes=[('batch', 4)])
    'fc.onnx'
    """
    package = onnx()
    path = _path_to_write(onnx_file_path)
    opset = _opset(opset_version)
    if hasattr(sym, "written"):    # a block that is no graph: its file with other weights
        _write(sym.written(package), path, large_model)
        return path
    in_types = in_types if input_type is None else input_type
    in_shapes = in_shapes if input_shape is None else input_shape
    if dynamic_input_shapes is not None and not dynamic:
        raise CheckedValueError("[onnx.export_model] dynamic_input_shapes is given and dynamic is "
                                "False; accepted: dynamic=True with it")
    source = read_model(sym, params, in_shapes, in_types)
    file = getattr(sym, "_onnx_file", None)
    unknown = unknown_operators(source.symbol.nodes()) if file is not None else {}
    if unknown and file[0] is None:
        raise MXNetError(f"[onnx.export_model] no ONNX operators are known for {', '.join(unknown)}, and the block is of a model that was "
                         "loaded from bytes; accepted: blocks of models of files, which are written with the blocks' weights")
    if unknown:
        _write(written(package, *file, sym.collect_params()), path, large_model)
        return path
    if in_shapes is not None:
        source.set_shapes(in_shapes)
    if dynamic:
        source.set_dynamic(dynamic_input_shapes)
    source.set_dtypes(in_types)
    model = _Export(source, opset, verbose).model(input_names, output_names)
    if run_shape_inference or not all(o.type.tensor_type.HasField("shape")
                                      for o in model.graph.output):
        model = package.shape_inference.infer_shapes(model, data_prop=True)
    _write(model, path, large_model)
    return path


def _path_to_write(given):
    """As a text; found out before the work."""
    path = os.fsdecode(given)
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise error_class(MXNetError, FileNotFoundError)(
            f"[onnx.export_model] onnx_file_path is {path!r}; accepted: a path in a folder that is there")
    return path


def get_operator_support(opset_version=None):
    """Names of the operators that :func:`export_model` can write with an opset; an empty list for
    an opset that it does not write.

    >>> 'Convolution' in mx.onnx.get_operator_support()
    True
    """
    if opset_version is not None and not _OLDEST <= opset_version <= _NEWEST:
        return []
    return families.names()


def _opset(version):
    newest = min(_NEWEST, onnx().defs.onnx_opset_version())
    if version is None:
        return newest
    if not isinstance(version, (int, np.integer)) or not _OLDEST <= version <= newest:
        raise CheckedValueError(f"[onnx.export_model] opset_version {version!r}; accepted: "
                                f"{_OLDEST} to {newest}, or None for the newest")
    return int(version)


class _Export:
    """One export: the nodes of a source, converted in turn."""

    def __init__(self, source, opset, verbose):
        self._source, self._opset = source, opset
        known = {**source.shapes, **{n: a.shape for n, a in source.parameters.items()}}
        types = {**{n: a.dtype for n, a in source.parameters.items()}, **source.dtypes}
        types = {n: t for n, t in types.items() if n not in source.labels}
        inferred = shapes.infer(source.symbol, known, types, source.free)
        self._found, self._nodes = inferred.found, inferred.nodes
        self._scope = Scope(source.symbol, inferred, source.parameters, verbose)

    # ---- the steps

    def model(self, input_names, output_names):
        """The ONNX model."""
        scope = self._scope
        check_operators(self._nodes, scope.known)
        wanted = self._wanted_names(output_names)
        renamed = self._renamed(input_names)
        graph = Graph(self._opset, [*renamed.values(), *self._source.parameters, *wanted])
        self._set_variables(graph, renamed)
        scope.fold(graph)
        inputs = [scope.values[n.index, 0] for n in self._nodes
                  if n.is_variable and n.name in renamed]
        dimensions = Dimensions(graph, inputs)
        for node in _progress(scope.rest()):
            scope.convert(graph, dimensions, node)
        for value, name in zip(scope.results(), wanted):
            graph.nodes.append(onnx().helper.make_node("Identity", [value.name], [name], name=name))
        needed = graph.prune(wanted)
        for name, array in graph.arrays.items():
            if name in needed:
                graph.add_tensor(name, _numpy(array), array.dtype)
        graph.constants = {name: t for name, t in graph.constants.items() if name in needed}
        kinds = {name: t.data_type for name, t in graph.constants.items()}
        kinds.update((value.name, tensor_type(value.dtype)) for value in inputs)
        widen(graph, kinds)
        return self._assemble(graph, renamed, wanted)

    def _wanted_names(self, given):
        """Names of the model's outputs."""
        names = []
        for node, output in self._scope.heads:
            single = len(self._scope.outputs(node)) == 1
            names.append(node.name if single else f"{node.name}{output}")
        if given is not None:
            if len(given) != len(names):
                raise CheckedValueError(f"[onnx.export_model] output_names has {len(given)} names "
                                        f"for {len(names)} outputs; accepted: one for each")
            names = list(given)
        taken, unique = {*self._source.inputs, *self._source.parameters}, []
        for name in names:
            name, number, hint = identifier(name), 0, identifier(name)
            while name in taken:
                number += 1
                name = f"{hint}_output{number}"
            taken.add(name)
            unique.append(name)
        return unique

    def _renamed(self, given):
        """{input of the symbol: input of the model}."""
        data = self._source.data()
        if given is None:
            return {name: name for name in [*data, *self._source.labels]}
        given = self._source.read(given)
        if len(given) != len(data):
            raise CheckedValueError(f"[onnx.export_model] input_names has {len(given)} names for "
                                    f"the inputs {', '.join(data)}; accepted: one for each")
        return {**dict(zip(data, given)), **{n: n for n in self._source.labels}}

    def _set_variables(self, graph, renamed):
        """Note inputs and parameters."""
        for node in self._nodes:
            if not node.is_variable:
                continue
            value = self._scope.unknown(node, 0)
            value.name = renamed.get(node.name, node.name)
            if node.name in self._source.parameters:
                value.array = graph.arrays[node.name] = self._source.parameters[node.name]
            self._scope.values[node.index, 0] = value

    # ---- the model

    def _assemble(self, graph, renamed, wanted):
        helper = onnx().helper
        _drop_identities(graph, wanted)
        inputs = []
        for node in self._nodes:
            if node.is_variable and node.name in renamed and node.name not in self._source.labels:
                value = self._scope.values[node.index, 0]
                free = self._source.free.get(node.name, {})
                inputs.append(helper.make_tensor_value_info(
                    value.name, tensor_type(value.dtype), self._described(value, free)))
        order = {name: i for i, name in enumerate(renamed.values())}
        inputs.sort(key=lambda value: order[value.name])
        outputs = []
        for value, name in zip(self._scope.results(), wanted):
            outputs.append(helper.make_tensor_value_info(
                name, tensor_type(value.dtype), self._described(value, {})))
        proto = helper.make_graph(graph.nodes, "mxnet_converted_model", inputs, outputs,
                                  initializer=list(graph.constants.values()))
        opsets = [helper.make_opsetid("", self._opset)]
        opsets += [helper.make_opsetid(domain, 1) for domain in sorted(graph.domains)]
        return helper.make_model(proto, producer_name="mxnet", producer_version=__version__,
                                 opset_imports=opsets,
                                 ir_version=helper.find_min_ir_version_for(opsets[:1]))

    def _described(self, value, free):
        """A shape for people: sizes, and names of free ones."""
        if value.dims is None:
            return None
        labels = {}
        for name, axes in self._source.free.items():
            known = self._found_dims(name)
            labels.update((known[axis], label) for axis, label in axes.items())
        return [free.get(axis, dim[0] if is_static(dim) else labels.get(dim))
                for axis, dim in enumerate(value.dims)]

    def _found_dims(self, name):
        return next(self._found[n.index, 0][0] for n in self._nodes
                    if n.is_variable and n.name == name)


def _drop_identities(graph, wanted):
    """Give a result the name of the output that it is, where it is one output and made by a
    node."""
    made = {name: node for node in graph.nodes for name in node.output}
    copied = {}
    for node in graph.nodes:
        if node.op_type == "Identity" and node.output[0] in wanted and node.input[0] in made:
            copied.setdefault(node.input[0], node.output[0])
    copied = {old: new for old, new in copied.items() if old not in wanted}
    last = {new: old for old, new in copied.items()}
    graph.nodes = [n for n in graph.nodes
                   if not (n.op_type == "Identity" and last.get(n.output[0]) == n.input[0])]
    for node in all_nodes(graph.nodes):     # inner graphs read what is made outside of them
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                names[i] = copied.get(name, name)


def _numpy(array):
    return array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)


def _progress(nodes):
    """`nodes`, with a bar on a terminal if it takes longer than some seconds."""
    try:
        from tqdm import tqdm
    except ImportError:
        return nodes
    return tqdm(nodes, desc="onnx", unit="node", delay=3, disable=None, leave=False)


def _bytes_of(model):
    return sum(len(t.raw_data) for t in model.graph.initializer)


def _write(model, path, large):
    if not large and _bytes_of(model) < _LARGEST:
        write_file(path, model.SerializeToString())
        return
    _write_parts(model, path)


def _write_parts(model, path):
    """The parameters to a file of their own, then the model, which names it."""
    proto = onnx().TensorProto
    data = path + ".data"
    place = 0
    with NewFile(data) as out:
        for tensor in model.graph.initializer:
            if len(tensor.raw_data) < 1024:
                continue
            padding = -place % 4096     # readers map the file
            out.write(bytes(padding))
            out.write(tensor.raw_data)
            place += padding
            entries = (("location", os.path.basename(data)), ("offset", str(place)),
                       ("length", str(len(tensor.raw_data))))
            place += len(tensor.raw_data)
            tensor.ClearField("raw_data")
            tensor.data_location = proto.EXTERNAL
            tensor.external_data.extend(
                onnx().StringStringEntryProto(key=key, value=text) for key, text in entries)
    write_file(path, model.SerializeToString())

