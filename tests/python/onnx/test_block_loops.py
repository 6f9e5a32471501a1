"""What `to_block` trains inside of Loop, Scan and If: the same as in a graph without them."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd
from import_checks import node, onnx

RANDOM = np.random.RandomState(5)
ROUNDS, SIZE = 3, 4


def floats(*shape):
    return (RANDOM.rand(*shape) + 0.5).astype(np.float32) / np.float32(shape[0])


# nodes from s to t, and their weights: short ones of few numbers, and what is computed of them
PARTS = {
    "vector": ([node("Mul", ["s", "w"], ["t"])], {"w": floats(SIZE)}),
    "row": ([node("Add", ["s", "w"], ["t"])], {"w": floats(1, SIZE)}),
    "small matrix": ([node("MatMul", ["s", "w"], ["t"])], {"w": floats(SIZE, SIZE)}),
    "dense": ([node("Gemm", ["s", "w", "b"], ["t"])], {"w": floats(SIZE, SIZE), "b": floats(SIZE)}),
    "normalized": ([node("LayerNormalization", ["s", "w", "b"], ["t"])], {"w": floats(SIZE), "b": floats(SIZE)}),
    "slope": ([node("Sub", ["s", "b"], ["below"]), node("PRelu", ["below", "w"], ["t"])], {"w": floats(1), "b": floats(SIZE)}),
    "computed": ([node("Mul", ["w", "w"], ["ww"]), node("MatMul", ["s", "ww"], ["t"])], {"w": floats(SIZE, SIZE)}),
}


def info(name, dtype, shape):
    return onnx.helper.make_tensor_value_info(name, dtype, shape)


def part(nodes, last):
    """The nodes of one of several that follow each other."""
    return [node(n.op_type, [x + last if x in ("s", "below", "ww") else x for x in n.input],
                 [x + last if x in ("below", "ww") else last if x == "t" else x for x in n.output]) for n in nodes]


def block_of(nodes, weights, outputs=(("y", [2, SIZE]),)):
    graph = onnx.helper.make_graph(nodes, "g", [info("x", 1, [2, SIZE])], [info(name, 1, shape) for name, shape in outputs],
                                   [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=10)
    return mx.onnx.load(model.SerializeToString()).to_block()


def unrolled(nodes, weights, rounds):
    made = [node("Identity", ["x"], ["s1"])]
    for i in range(1, rounds + 1):
        made += part(nodes, str(i))
        made += [node("Identity", [str(i)], [f"s{i + 1}" if i < rounds else "y"])]
    return block_of(made, weights)


def loop(nodes, weights, rounds, ends=False):
    body = list(nodes)
    if ends:    # by itself, when the numbers of rounds are used up
        body += [node("Cast", ["i"], ["f"], to=1), node("ReduceSum", ["t"], ["sum"], keepdims=0), node("Mul", ["sum", "none"], ["nothing"]),
                 node("Add", ["f", "nothing"], ["counted"]), node("Less", ["counted", "last"], ["on"])]
    else:
        body += [node("Identity", ["go"], ["on"])]
    inner = onnx.helper.make_graph(body, "body", [info("i", 7, []), info("go", 9, []), info("s", 1, [2, SIZE])],
                                   [info("on", 9, []), info("t", 1, [2, SIZE])])
    more = {"yes": np.array(True), "count": np.int64(20 if ends else rounds), "none": np.array([0, 0], np.float32)[0],
            "last": np.float32(rounds - 1)}
    return block_of([node("Loop", ["count", "yes", "x"], ["y"], body=inner)], {**weights, **more})


def scan(nodes, weights, rounds):
    inner = onnx.helper.make_graph([*nodes, node("Identity", ["row"], ["again"])], "body", [info("s", 1, [2, SIZE]), info("row", 1, [1])],
                                   [info("t", 1, [2, SIZE]), info("again", 1, [1])])
    return block_of([node("Scan", ["x", "rows"], ["y", "rows_again"], body=inner, num_scan_inputs=1)],
                    {**weights, "rows": np.ones((rounds, 1), np.float32)})


def branch(nodes, weights, rounds):
    assert rounds == 1
    then = onnx.helper.make_graph(part([node("Identity", ["x"], ["s_"]), *nodes], "_")[1:], "then", [], [info("_", 1, [2, SIZE])])
    other = onnx.helper.make_graph([node("Neg", ["x"], ["o"])], "other", [], [info("o", 1, [2, SIZE])])
    return block_of([node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["is"]),
                     node("Identity", ["x"], ["s_"]), node("If", ["is"], ["y"], then_branch=then, else_branch=other)],
                    {**weights, "zero": np.array([-1000, 0], np.float32)[0]})


def gradients(block, x):
    """The result, the gradient of the data, and those of weights as they are in the file."""
    data = mx.nd.array(x)
    data.attach_grad()
    with autograd.record():
        y = block(data)
        y = y[0] if isinstance(y, (list, tuple)) else y
        loss = (y * y).sum()
    loss.backward()
    found = {}
    for name, parameter in block.collect_params().items():
        if parameter.grad_req != "null" and name != "rows":
            gradient = parameter.grad().asnumpy()
            found[name.split("_")[0]] = gradient.T if name.endswith("_transpose") else gradient
    return y.asnumpy(), data.grad.asnumpy(), found


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("way", [loop, scan, branch, lambda *args: loop(*args, ends=True)], ids=["loop", "scan", "if", "ends"])
def test_weights_within_are_trained(way, name):
    nodes, weights = PARTS[name]
    rounds = 1 if way is branch else ROUNDS
    x = RANDOM.randn(2, SIZE).astype(np.float32)
    y, of_data, found = gradients(way(nodes, weights, rounds), x)
    want_y, want_data, want = gradients(unrolled(nodes, weights, rounds), x)
    assert sorted(found) == sorted(want) == sorted(weights)
    np.testing.assert_allclose(y, want_y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(of_data, want_data, rtol=1e-4, atol=1e-5)
    for key, gradient in want.items():
        np.testing.assert_allclose(found[key], gradient, rtol=1e-4, atol=1e-5)
        assert np.abs(gradient).max() > 0
