"""bfloat16 where ONNX has it: operators that know it in newer opsets only compute in float32."""
from ...base import MXNetError
from .graph import graphs_of
from .package import onnx

__all__ = ["widen"]


def widen(graph, dtypes):
    """Put Casts around the nodes of `graph` that their opset has not for bfloat16.

    `dtypes` has ONNX's numbers of the dtypes of inputs and constants, by name.
    """
    if onnx().TensorProto.BFLOAT16 in dtypes.values():
        graph.nodes = _widened(graph, graph.nodes, dict(dtypes), {})


def _widened(graph, given, types, wide):
    """The nodes `given` with Casts. `types` are those of names so far, `wide` the names of what is
    there in float32, too."""
    proto = onnx().TensorProto
    nodes = []
    for node in given:
        inner = graphs_of(node)
        if inner:
            _check_loop(graph, node, types)
            _widen_inner(graph, node, inner, types, wide)
            nodes.append(node)
            continue
        schema = onnx().defs.get_schema(node.op_type, graph.opset, node.domain)
        narrow = [i for i, name in enumerate(node.input) if types.get(name) == proto.BFLOAT16]
        refused = any(not _accepts(schema, i) for i in narrow)
        if refused:
            for i in narrow:
                if node.input[i] not in wide:
                    wide[node.input[i]] = graph.unique(f"{node.input[i]}_float32")
                    nodes.append(_cast(graph, node.input[i], wide[node.input[i]], proto.FLOAT))
                node.input[i] = wide[node.input[i]]
        nodes.append(node)
        for i in range(len(node.output)):
            if _is_narrow(node, schema, i, types, wide if refused else ()):
                types[node.output[i]] = proto.BFLOAT16
                if refused:
                    name, node.output[i] = node.output[i], graph.unique(f"{node.output[i]}_float32")
                    wide[name] = node.output[i]
                    nodes.append(_cast(graph, node.output[i], name, proto.BFLOAT16))
    return nodes


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


def _accepts(schema, i):
    kind = _formal(schema.inputs, i).type_str
    for constraint in schema.type_constraints:
        if constraint.type_param_str == kind:
            return "tensor(bfloat16)" in constraint.allowed_type_strs
    return kind == "tensor(bfloat16)"


def _is_narrow(node, schema, i, types, widened):
    """Whether output i has the dtype of an input that is bfloat16, or was before it was cast."""
    proto = onnx().TensorProto
    for attribute in node.attribute:
        if attribute.name in ("to", "dtype") and node.op_type not in ("EyeLike",):
            return attribute.i == proto.BFLOAT16
    if node.op_type == "DequantizeLinear":
        return types.get(node.input[1]) == proto.BFLOAT16
    kind = _formal(schema.outputs, i).type_str
    was = set(widened.values()) if widened else set()
    return any(types.get(name) == proto.BFLOAT16 or name in was
               for place, name in enumerate(node.input)
               if name and _formal(schema.inputs, place).type_str == kind)
