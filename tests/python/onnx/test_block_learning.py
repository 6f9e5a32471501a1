"""What `to_block` trains: the weights of the file, each once, and nothing else."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from import_checks import node, onnx

RANDOM = np.random.RandomState(3)


def floats(*shape):
    return (RANDOM.randn(*shape) * 0.5).astype(np.float32)


def loaded(nodes, shape, weights, outputs=("y",), opset=17, producer=""):
    """A model of one input, with a free batch."""
    h = onnx.helper
    dims = ["batch", *shape[1:]]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", 1, dims)],
                         [h.make_tensor_value_info(name, 1, None) for name in outputs],
                         [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()])
    opsets = [h.make_opsetid("", opset)]
    return mx.onnx.load(h.make_model(graph, opset_imports=opsets, ir_version=10, producer_name=producer).SerializeToString())


def grads(block, x, target):
    """Names to gradients of what is trained."""
    with autograd.record():
        loss = ((block(mx.nd.array(x)) - mx.nd.array(target)) ** 2).sum()
    loss.backward()
    return {name: p.grad().asnumpy() for name, p in block.collect_params().items() if p.grad_req != "null"}


def test_masks_and_other_constants_stay():
    """PyTorch's masked_fill: minus infinity times the learning rate would be NaN."""
    mask = np.array([[True, False, False], [False, True, False], [False, False, False]])
    nodes = [node("Constant", [], ["low"], value=onnx.numpy_helper.from_array(np.array(-np.inf, np.float32))),
             node("Constant", [], ["two"], value=onnx.numpy_helper.from_array(np.array([2.0, 3.0, 4.0], np.float32))),
             node("MatMul", ["x", "w"], ["xw"]), node("Mul", ["xw", "two"], ["scaled"]),
             node("Where", ["mask", "low", "scaled"], ["masked"]), node("Softmax", ["masked"], ["y"], axis=-1)]
    model = loaded(nodes, (3, 3), {"w": floats(3, 3), "mask": mask})
    block = model.to_block(shapes={"x": (3, 3)})
    assert [n for n, p in block.collect_params().items() if p.grad_req != "null"] == ["w_transpose"]
    trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.1})
    x = floats(3, 3)
    for _ in range(3):
        grads(block, x, np.zeros((3, 3), "f"))
        trainer.step(1)
    assert np.isfinite(block(mx.nd.array(x)).asnumpy()).all()
    # masks that the exporter folded into a float array
    ready = np.where(mask, -np.inf, 0).astype("f")
    model = loaded([node("MatMul", ["x", "w"], ["xw"]), node("Add", ["xw", "ready"], ["y"])], (3, 3), {"w": floats(3, 3), "ready": ready})
    block = model.to_block(shapes={"x": (3, 3)})
    assert {n: p.grad_req for n, p in block.collect_params().items()}["ready"] == "null"


@pytest.mark.parametrize("producer", ["pytorch", "tf2onnx"])
def test_numbers_that_exporters_name_are_no_parameters(producer):
    """PyTorch's logit_scale of CLIP is one, and the bias of a layer with one result."""
    nodes = [node("Mul", ["x", "val_7"], ["a"]), node("Mul", ["a", "logit_scale"], ["b"]), node("MatMul", ["b", "w"], ["c"]),
             node("Add", ["c", "bias"], ["y"])]
    weights = {"val_7": np.array(2, "f"), "logit_scale": np.array(3, "f"), "w": floats(3, 1), "bias": floats(1)}
    block = loaded(nodes, (2, 3), weights, producer=producer).to_block()
    assert sorted(n for n, p in block.collect_params().items() if p.grad_req != "null") == [
        "bias"] + ["logit_scale"] * (producer == "pytorch") + ["w_transpose"]


def test_buffers_of_pytorch_stay():
    h, kind = onnx.helper, "pkg.torch.export.graph_signature.InputSpec.kind"
    made = [onnx.numpy_helper.from_array(value, name) for name, value in
            (("p.scale", floats(3)), ("p.factor", floats(1)[0]), ("p.positions", floats(3)), ("threshold", floats(1)[0]))]
    for tensor, value in zip(made, ("PARAMETER", "PARAMETER", "BUFFER")):
        tensor.metadata_props.add(key=kind, value=value)
    nodes = [node("Mul", ["x", "p.scale"], ["a"]), node("Mul", ["a", "p.factor"], ["b"]), node("Max", ["b", "threshold"], ["c"]),
             node("Add", ["c", "p.positions"], ["y"])]
    graph = h.make_graph(nodes, "g",
                         [h.make_tensor_value_info("x", 1, ["n", 3])], [h.make_tensor_value_info("y", 1, ["n", 3])], made)
    block = mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=10).SerializeToString()).to_block()
    kinds = {n: p.grad_req for n, p in block.collect_params().items()}
    assert kinds.pop("threshold", "null") == "null"
    assert kinds == {"p.scale": "write", "p.factor": "write", "p.positions": "null"}


@pytest.mark.parametrize("shapes", [None, {"x": (4, 2, 3)}])
def test_rows_of_the_batch_are_one_weight(shapes):
    """The token that a vision transformer puts in front of each example."""
    token, weight = floats(1, 1, 3), floats(3, 3)
    nodes = [node("Shape", ["x"], ["n"], start=0, end=1), node("Concat", ["n", "ones"], ["size"], axis=0),
             node("Expand", ["token", "size"], ["tokens"]), node("Concat", ["tokens", "x"], ["all"], axis=1),
             node("MatMul", ["all", "w"], ["y"])]
    model = loaded(nodes, (4, 2, 3), {"token": token, "w": weight, "ones": np.array([1, 1])})
    block, x, target = model.to_block(shapes=shapes), floats(4, 2, 3), floats(4, 3, 3)
    made = grads(block, x, target)
    assert {n: g.shape for n, g in made.items()} == {"token": (1, 1, 3), "w_transpose": (3, 3)}
    off = 2 * (np.concatenate([np.repeat(token, 4, 0), x], 1) @ weight - target)
    np.testing.assert_allclose(made["token"], (off[:, :1] @ weight.T).sum(0, keepdims=True), rtol=1e-5)
    if shapes is None:
        assert block(mx.nd.array(x[:3])).shape == (3, 3, 3)


def test_a_weight_of_two_layers_is_one():
    """An embedding that is the last layer's weight, too."""
    table = floats(5, 3)
    nodes = [node("Transpose", ["table"], ["back"], perm=[1, 0]), node("MatMul", ["x", "table"], ["inner"]),
             node("MatMul", ["inner", "back"], ["y"])]
    block, x, target = loaded(nodes, (2, 5), {"table": table}).to_block(), floats(2, 5), floats(2, 5)
    made = grads(block, x, target)
    assert list(made) == ["table"]
    off = 2 * (x @ table @ table.T - target)
    np.testing.assert_allclose(made["table"], x.T @ (off @ table) + off.T @ (x @ table), rtol=1e-4, atol=1e-5)


def test_weights_that_are_computed():
    """weight_norm: a direction and its length."""
    v, g = floats(3, 4), np.abs(floats(3, 1))
    nodes = [node("ReduceL2", ["v"], ["length"], axes=[1], keepdims=1), node("Div", ["v", "length"], ["unit"]),
             node("Mul", ["unit", "g"], ["w"]), node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    block, x, target = loaded(nodes, (2, 4), {"v": v, "g": g, "b": floats(3)}).to_block(), floats(2, 4), floats(2, 3)
    made = grads(block, x, target)
    assert sorted(made) == ["b", "g", "v"]
    length = np.sqrt((v ** 2).sum(1, keepdims=True))
    unit = v / length
    off = 2 * (block(mx.nd.array(x)).asnumpy() - target)
    of_w = off.T @ x
    np.testing.assert_allclose(made["g"], (of_w * unit).sum(1, keepdims=True), rtol=1e-4)
    np.testing.assert_allclose(made["v"], g / length * (of_w - unit * (of_w * unit).sum(1, keepdims=True)), rtol=1e-4, atol=1e-5)
    y = loaded(nodes, (2, 4), {"v": v, "g": g, "b": block.collect_params()["b"].data().asnumpy()})(x)
    np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), y.asnumpy(), rtol=1e-5)


def test_states_of_zeros_stay_and_gates_have_names():
    weights = {"w": floats(1, 8, 3), "r": floats(1, 8, 2), "b": floats(1, 16)}
    model = loaded([node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=2)], (2, 1, 3), weights)
    block = model.to_block(shapes={"x": (2, 1, 3)})
    trained = [n for n, p in block.collect_params().items() if p.grad_req != "null"]
    assert trained == ["w_parameters"]


def test_quantized_weights_are_trained_as_floats():
    nodes = [node("DequantizeLinear", ["q", "scale"], ["w"]), node("MatMul", ["x", "w"], ["y"])]
    q = RANDOM.randint(-90, 90, (300, 8)).astype(np.int8)
    block = loaded(nodes, (2, 300), {"q": q, "scale": np.array(0.02, "f")}).to_block()
    made = grads(block, floats(2, 300), floats(2, 8))
    assert [g.size for g in made.values()] == [2400]


def test_batch_norm_of_a_file_for_training():
    """In a block it is Gluon's layer: statistics of the batch while it learns, which move averages,
    and the averages when it predicts. A call of the model keeps the words of ONNX."""
    weights = {"g": floats(4), "b": floats(4), "mean": floats(4), "var": np.abs(floats(4)) + 1}
    nodes = [node("BatchNormalization", ["x", "g", "b", "mean", "var"], ["y", "m2", "v2"], training_mode=1, momentum=0.8, epsilon=1e-3)]
    model, x = loaded(nodes, (6, 4, 3), weights), floats(6, 4, 3)
    block = model.to_block(shapes={"x": (6, 4, 3)})
    before = {name: p.data().asnumpy() for name, p in block.collect_params().items()}
    assert sorted(n for n, p in block.collect_params().items() if p.grad_req != "null") == ["b", "g"]

    def normalized(mean, var):
        wide = [v.reshape(4, 1).astype("float64") for v in (mean, var, weights["g"], weights["b"])]
        return (x - wide[0]) / np.sqrt(wide[1] + 1e-3) * wide[2] + wide[3]
    mean, var = x.mean((0, 2)), x.var((0, 2))
    np.testing.assert_allclose(model(mx.nd.array(x)).asnumpy(), normalized(mean, var), atol=1e-5)
    np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), normalized(weights["mean"], weights["var"]), atol=1e-5)
    with autograd.record():
        y = block(mx.nd.array(x))
    np.testing.assert_allclose(y.asnumpy(), normalized(mean, var), atol=1e-5)
    y.backward()
    moved = [0.8 * weights[name] + 0.2 * batch for name, batch in (("mean", mean), ("var", var))]
    np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), normalized(*moved), atol=1e-5)
    assert all((p.data().asnumpy() == before[n]).all() for n, p in block.collect_params().items() if n in "gb")


def chain(op, links):
    """A weight, `links` operators behind each other on it, and the data times the last result."""
    ints = {"zero": np.array([0]), "one": np.array([1]), "far": np.array([2**40]), "pairs": np.array([2, -1]), "all": np.array([-1])}
    weights = {"w": np.arange(2.0, links + 4 if op == "Slice" else 6.0, dtype="f"), **ints}
    operands = {"Slice": ["one", "far", "zero"], "Reshape": ["pairs"], "Neg": []}[op]
    nodes, last = [], "w"
    for k in range(links):
        nodes.append(node(op, [last, *(["all"] if op == "Reshape" and k % 2 else operands)], [f"v{k}"]))
        last = f"v{k}"
    return loaded(nodes + [node("Mul", ["x", last], ["y"])], (1, 1), weights, opset=18, producer="pytorch")


@pytest.mark.parametrize("op", ["Slice", "Reshape", "Neg"])
def test_chains_of_any_length_on_a_weight(op):
    """30,000 slices of slices overflowed the stack, and 8,000 took seconds: each link was followed
    back to its weight, and had the names of all links in its own."""
    links = 30000
    model = chain(op, links)
    block = model.to_block(shapes={"x": (1, 1)})   # a second; 300 before, more than a test may take
    assert block(mx.nd.ones((1, 1))).asnumpy().ravel()[0] == {"Slice": links + 2, "Reshape": 2, "Neg": 2}[op]
    names = [n for n, p in block.collect_params().items() if p.grad_req != "null"]
    assert len(names) == 1 and len(names[0]) < 600
    symbol, params = model.convert(shapes={"x": (1, 1)})
    assert max(map(len, params)) < 600 and len(symbol.list_arguments()) == 2


def test_a_weight_that_is_made_of_the_shape_of_data():
    """Its name cannot be that of what it is made of, which is no weight."""
    h = onnx.helper
    nodes = [node("Shape", ["x"], ["s"]), node("ConstantOfShape", ["s"], ["ones"], value=h.make_tensor("v", 1, [1], [1.0])),
             node("DynamicQuantizeLinear", ["ones"], ["q", "scale", "zero"]),
             node("MatMulInteger", ["q", "w", "zero", "wz"], ["sums"]), node("Cast", ["sums"], ["y"], to=1)]
    w = np.arange(12).reshape(3, 4).astype("uint8")
    model = loaded(nodes, (2, 3), {"w": w, "wz": np.full(4, 5, "uint8")})
    with pytest.warns(UserWarning, match="do not depend"):
        block = model.to_block(shapes={"x": (2, 3)})
    with pytest.warns(UserWarning, match="not used"):
        y = block(mx.nd.zeros((2, 3)))
    np.testing.assert_array_equal(y.asnumpy(), np.full((2, 3), 255) @ (w.astype(int) - 5))


def test_casts_to_whole_numbers_have_no_slope():
    """As in PyTorch, though Gluon's cast hands gradients on."""
    nodes = [node("MatMul", ["x", "w"], ["xw"]), node("Cast", ["xw"], ["steps"], to=6), node("Cast", ["steps"], ["back"], to=1),
             node("Mul", ["xw", "back"], ["y"])]
    w, x = floats(3, 3), 4 * floats(2, 3)
    block = loaded(nodes, x.shape, {"w": w}).to_block(shapes={"x": x.shape})
    found = grads(block, x, np.zeros((2, 3), "f"))["w_transpose"]
    steps = np.trunc(x @ w)
    np.testing.assert_allclose(found.T, x.T @ (2 * (x @ w) * steps * steps), rtol=1e-4, atol=1e-4)
