"""bfloat16 where ONNX has it: operators that know it in newer opsets only compute in float32."""
from .package import onnx

__all__ = ["widen"]


def widen(graph, dtypes):
    """Put Casts around the nodes of `graph` that their opset has not for bfloat16.

    `dtypes` has ONNX's numbers of the dtypes of inputs and constants, by name.
    """
    proto = onnx().TensorProto
    if proto.BFLOAT16 not in dtypes.values():
        return
    types, nodes, wide = dict(dtypes), [], {}
    for node in graph.nodes:
        schema = onnx().defs.get_schema(node.op_type, graph.opset, node.domain)
        narrow = [i for i, name in enumerate(node.input) if types.get(name) == proto.BFLOAT16]
        refused = any(not _accepts(schema, i) for i in narrow)
        if refused:
            for i in narrow:
                if node.input[i] not in wide:
                    wide[node.input[i]] = graph.unique(f"{node.input[i]}_float32")
                    nodes.append(_cast(node.input[i], wide[node.input[i]], proto.FLOAT))
                node.input[i] = wide[node.input[i]]
        nodes.append(node)
        for i in range(len(node.output)):
            if _is_narrow(node, schema, i, types, wide if refused else ()):
                types[node.output[i]] = proto.BFLOAT16
                if refused:
                    name, node.output[i] = node.output[i], graph.unique(f"{node.output[i]}_float32")
                    wide[name] = node.output[i]
                    nodes.append(_cast(node.output[i], name, proto.BFLOAT16))
    graph.nodes = nodes


def _cast(name, result, kind):
    return onnx().helper.make_node("Cast", [name], [result], name=result, to=int(kind))


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
