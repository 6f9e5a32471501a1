"""A symbol as a torch module of torch.nn layers, so that torch, ONNX Runtime and OpenVINO run the
network that the symbol describes."""
import ast
import json

import torch
from torch import fx, nn


def _tuple(attrs, key, default, n=2):
    value = ast.literal_eval(attrs.get(key, "()")) or default
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def _true(attrs, key):
    return attrs.get(key, "False") in ("True", "true", "1")


def _reshape(x, spec):
    """MXNet's codes: 0 keeps a dimension, -1 is inferred, -3 joins two, -4 splits one into the next
    two."""
    out, at, spec = [], 0, list(spec)
    while spec:
        code = spec.pop(0)
        if code == -3:
            out.append(x.shape[at] * x.shape[at + 1])
            at += 2
        elif code == -4:
            left, right = spec.pop(0), spec.pop(0)
            out += [x.shape[at] // right if left == -1 else left, x.shape[at] // left if right == -1 else right]
            at += 1
        else:
            out.append(x.shape[at] if code == 0 else code)
            at += 1
    return x.reshape(out)


class _Builder:
    def __init__(self, arrays):
        self.arrays, self.root, self.graph = arrays, nn.Module(), fx.Graph()

    def layer(self, name, module, x, **values):
        state = module.state_dict()
        with torch.no_grad():
            for key, array in values.items():
                if array is not None:
                    state[key].copy_(torch.from_numpy(self.arrays[array]))
        self.root.add_module(name, module)
        return self.graph.call_module(name, (x,))

    def call(self, function, *args, **kwargs):
        return self.graph.call_function(function, args, kwargs)

    # One method for each operator: its attributes, the names of its parameters (None for computed
    # inputs), its inputs.
    def Convolution(self, name, a, params, x):
        kernel = _tuple(a, "kernel", 1)
        n, groups, bias = len(kernel), int(a.get("num_group", 1)), not _true(a, "no_bias")
        shape = self.arrays[params[1]].shape
        make = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[n - 1]
        return self.layer(name, make(shape[1] * groups, shape[0], kernel, _tuple(a, "stride", 1, n),
                                     _tuple(a, "pad", 0, n), _tuple(a, "dilate", 1, n),
                                     groups, bias), x[0], weight=params[1], bias=params[2] if bias else None)

    def BatchNorm(self, name, a, params, x):
        if _true(a, "use_global_stats") or int(a.get("axis", 1)) != 1:
            raise NotImplementedError("BatchNorm with use_global_stats or another axis")
        gamma = None if a.get("fix_gamma", "True") in ("True", "1") else params[1]   # None: stays 1
        module = nn.BatchNorm2d(self.arrays[params[2]].shape[0], float(a.get("eps", 1e-3)), 1 - float(a.get("momentum", 0.9)))
        return self.layer(name, module, x[0], weight=gamma, bias=params[2], running_mean=params[3], running_var=params[4])

    def Activation(self, name, a, params, x):
        inplace = x[0].op == "call_module"   # `module` takes it back where others read the input
        return self.layer(name, {"relu": nn.ReLU(inplace), "sigmoid": nn.Sigmoid(), "tanh": nn.Tanh()}[a["act_type"]], x[0])

    def LeakyReLU(self, name, a, params, x):
        return self.layer(name, {"gelu": nn.GELU(), "leaky": nn.LeakyReLU(float(a.get("slope", 0.25)))}[a["act_type"]], x[0])

    def clip(self, name, a, params, x):
        return self.layer(name, nn.Hardtanh(float(a["a_min"]), float(a["a_max"])), x[0])

    def Pooling(self, name, a, params, x):
        if _true(a, "global_pool"):
            return self.layer(name, {"avg": nn.AdaptiveAvgPool2d(1), "max": nn.AdaptiveMaxPool2d(1)}[a.get("pool_type", "max")], x[0])
        sizes = _tuple(a, "kernel", 1), _tuple(a, "stride", 1), _tuple(a, "pad", 0)
        full = a.get("pooling_convention", "valid") == "full"
        if a.get("pool_type", "max") == "max":
            return self.layer(name, nn.MaxPool2d(*sizes, ceil_mode=full), x[0])
        return self.layer(name, nn.AvgPool2d(*sizes, ceil_mode=full,
                                             count_include_pad=a.get("count_include_pad",
                                                                     "True") in ("True", "1")),
                          x[0])

    def FullyConnected(self, name, a, params, x):
        outputs, inputs = self.arrays[params[1]].shape
        bias = not _true(a, "no_bias")
        x = self.call(torch.flatten, x[0], 1) if a.get("flatten", "True") in ("True", "1") else x[0]
        return self.layer(name, nn.Linear(inputs, outputs, bias), x, weight=params[1], bias=params[2] if bias else None)

    def LayerNorm(self, name, a, params, x):
        return self.layer(name, nn.LayerNorm(self.arrays[params[1]].shape,
                                             float(a.get("eps", 1e-5))), x[0], weight=params[1],
                          bias=params[2])

    def Embedding(self, name, a, params, x):
        return self.layer(name, nn.Embedding(*self.arrays[params[1]].shape), x[0], weight=params[1])

    def Dropout(self, name, a, params, x):
        return self.layer(name, nn.Dropout(float(a.get("p", 0.5))), x[0])

    def Concat(self, name, a, params, x):
        return self.call(torch.cat, list(x), int(a.get("dim", 1)))

    def Flatten(self, name, a, params, x):
        return self.call(torch.flatten, x[0], 1)

    def Reshape(self, name, a, params, x):
        return self.call(_reshape, x[0], ast.literal_eval(a["shape"]))

    def transpose(self, name, a, params, x):
        return self.call(torch.permute, x[0], ast.literal_eval(a["axes"]))

    def batch_dot(self, name, a, params, x):
        sides = [self.call(torch.transpose, s, 1, 2) if _true(a, key) else s for s, key in zip(x, ("transpose_a", "transpose_b"))]
        return self.call(torch.bmm, *sides)

    def softmax(self, name, a, params, x):
        return self.call(torch.softmax, x[0], int(a.get("axis", -1)))

    def _mul_scalar(self, name, a, params, x):
        return self.call(torch.mul, x[0], float(a["scalar"]))

    def elemwise_add(self, name, a, params, x):
        return self.call(torch.add, *x)

    broadcast_add = _plus = elemwise_add
    reshape = Reshape


def module(text, arrays):
    """The torch module of the symbol whose JSON is `text`; its parameters are copies of
    `arrays`."""
    graph = json.loads(text)
    builder, values, params = _Builder(arrays), [], []
    for node in graph["nodes"]:
        name = node["name"]
        if node["op"] == "null":
            params.append(name if name in arrays else None)
            values.append(None if name in arrays else builder.graph.placeholder(name))
            continue
        inputs = [i[0] for i in node["inputs"]]
        for i in inputs:   # a parameter that an element-wise operator reads
            if params[i] and node["op"] == "broadcast_add":
                builder.root.register_parameter(params[i], nn.Parameter(torch.from_numpy(arrays[params[i]])))
                values[i] = builder.graph.get_attr(params[i])
        operator = getattr(builder, node["op"], None)
        if operator is None:
            raise NotImplementedError(f"operator {node['op']} of node {name}")
        values.append(operator(name, node.get("attrs", {}), [params[i] for i in inputs], [values[i] for i in inputs]))
        params.append(None)
    builder.graph.output(values[graph["heads"][0][0]])
    out = fx.GraphModule(builder.root, builder.graph)
    modules = dict(out.named_modules())
    for node in out.graph.nodes:   # in place only where nobody else reads the input
        if node.op == "call_module" and getattr(modules[node.target], "inplace", False) and len(node.args[0].users) > 1:
            modules[node.target].inplace = False
    return out
