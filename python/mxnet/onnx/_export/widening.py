"""Casts around operators that do not have a dtype in their opset: bfloat16 computes in float32,
and small whole numbers and truth values in larger ones."""
import functools

from ...base import MXNetError
from .graph import graphs_of
from .package import onnx

__all__ = ["widen"]


@functools.lru_cache(None)
def _wider():
    """{dtype: those that have its numbers, the smallest first}, all as ONNX's numbers."""
    p = onnx().TensorProto
    small = (p.INT32, p.INT64, p.FLOAT)
    return {p.BFLOAT16: (p.FLOAT,), p.FLOAT16: (p.FLOAT,), p.BOOL: small, p.INT8: small, p.UINT8: small,
            p.INT16: small, p.UINT16: small, p.INT32: (p.INT64, p.DOUBLE), p.INT64: (p.DOUBLE,), p.FLOAT: (p.DOUBLE,)}


def widen(graph, dtypes):
    """Put Casts around the nodes of `graph` that their opset has not for what they read.

    `dtypes` has ONNX's numbers of the dtypes of inputs and constants, by name.
    """
    graph.nodes = _widened(graph, graph.nodes, dict(dtypes), {})


def _widened(graph, given, types, wide):
    """The nodes `given` with Casts. `types` are those of names so far, `wide` the names of what is
    there in another dtype, too, by name and that dtype."""
    nodes = []
    for node in given:
        inner = graphs_of(node)
        if inner:
            _check_loop(graph, node, types)
            _widen_inner(graph, node, inner, types, wide)
            nodes.append(node)
            continue
        schema = _Schema.of(node.op_type, graph.opset, node.domain)
        if schema is None:
            nodes.append(node)
            continue
        own = [types.get(name) for name in node.input]
        kinds = schema.kinds(own)
        results = [schema.result(node, i, own) for i in range(len(node.output))]
        for i, name in enumerate(node.input):
            kind = kinds.get(schema.input(i)) or kinds.get(own[i])
            if not kind or own[i] is None or own[i] == kind:
                continue
            if (name, kind) not in wide:
                wide[name, kind] = graph.unique(f"{name}_wide")
                nodes.append(_cast(graph, name, wide[name, kind], kind))
            node.input[i] = wide[name, kind]
        nodes.append(node)
        for i, (name, result) in enumerate(zip(list(node.output), results)):
            types[name] = result
            kind = kinds.get(schema.output(i)) or kinds.get(result)
            if not kind or result is None or result == kind or not schema.follows(node, i):
                continue
            node.output[i] = wide[name, kind] = graph.unique(f"{name}_wide")
            nodes.append(_cast(graph, node.output[i], name, result))
    return nodes


class _Schema:
    """What an operator of an opset takes and gives."""

    def __init__(self, schema):
        self._schema = schema
        self._allowed = {c.type_param_str: {_number(t) for t in c.allowed_type_strs} for c in schema.type_constraints}

    @staticmethod
    @functools.lru_cache(None)
    def of(kind, opset, domain):
        """None for operators that the package does not know."""
        defs = onnx().defs
        return _Schema(defs.get_schema(kind, opset, domain)) if defs.has(kind, domain) else None

    def input(self, i):
        """The name of the dtype of input i."""
        return _formal(self._schema.inputs, i).type_str

    def output(self, i):
        """The name of the dtype of output i."""
        return _formal(self._schema.outputs, i).type_str

    def kinds(self, own):
        """{name of a dtype, or bfloat16 itself: what takes its place}. Where one input is refused
        bfloat16, none stays in it."""
        places = {}
        for i, kind in enumerate(own):
            allowed = self._allowed.get(self.input(i))
            if kind is None or allowed is None or kind in allowed:
                continue
            for other in _wider().get(kind, ()):
                if other in allowed:
                    places[self.input(i)] = other
                    break
            if kind == onnx().TensorProto.BFLOAT16:
                places[kind] = onnx().TensorProto.FLOAT
        return places

    def follows(self, node, i):
        """Whether output i has the dtype of inputs."""
        return _told(node) is None and self.output(i) in self._allowed

    def result(self, node, i, own):
        """The dtype of output i; None where it is not known."""
        told = _told(node)
        if told is not None:
            return told
        name = self.output(i)
        if name not in self._allowed:
            return _number(name)
        return next((kind for place, kind in enumerate(own) if kind is not None and self.input(place) == name), None)


def _told(node):
    """The dtype that a node's attributes say, or None."""
    proto = onnx().TensorProto
    for attribute in node.attribute:
        if attribute.name in ("to", "dtype"):
            return attribute.i
        if attribute.name == "value" and attribute.HasField("t"):
            return attribute.t.data_type
    return proto.FLOAT if node.op_type in ("ConstantOfShape", "RandomUniform", "RandomNormal") else None


@functools.lru_cache(None)
def _number(text):
    """ONNX's number of a dtype as schemas name it, tensor(float)."""
    name = text[text.find("(") + 1:].rstrip(")").upper()
    return getattr(onnx().TensorProto, name, None) if text.startswith("tensor(") else None


def _check_loop(graph, node, types):
    """Opsets before 16 have no loops and branches of bfloat16."""
    proto = onnx().TensorProto
    values = [value for body in graphs_of(node) for value in (*body.input, *body.output)]
    kinds = {types.get(name) for name in node.input} | {v.type.tensor_type.elem_type for v in values}
    if proto.BFLOAT16 in kinds and graph.opset < 16:
        raise MXNetError(f"[onnx.export_model] node {node.name!r}: {node.op_type} of bfloat16 in opset "
                         f"{graph.opset} cannot be exported; accepted: opset_version 16 and later, or float32")


def _widen_inner(graph, node, inner, types, wide):
    """The graphs that a node holds. Their results say what the node's are."""
    for body in inner:
        of_inputs = {value.name: value.type.tensor_type.elem_type for value in body.input}
        nodes = _widened(graph, list(body.node), {**types, **of_inputs}, dict(wide))
        del body.node[:]
        body.node.extend(nodes)
    results = list(inner[0].output)[1 if node.op_type == "Loop" else 0:]
    for name, value in zip(node.output, results):
        types[name] = value.type.tensor_type.elem_type


def _cast(graph, name, result, kind):
    """Its result may have had the name of another node before."""
    own = graph.unique(f"{result}_cast")
    return onnx().helper.make_node("Cast", [name], [result], name=own, to=int(kind))


def _formal(parameters, i):
    """The description of the parameter i: the last one may be many."""
    return parameters[min(i, len(parameters) - 1)]
