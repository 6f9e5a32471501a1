"""`convert` and `to_block` of models whose first dimension is free: what depends on the batch, in
constants that were folded and in attributes, must follow it."""
import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto as T, helper as h, numpy_helper  # noqa: E402  (needs onnx)

RANDOM = np.random.RandomState(3)


def floats(*shape):
    return RANDOM.randn(*shape).astype("float32")


def size(name):
    """The batch as int64 (1,)."""
    return [h.make_node("Shape", ["x"], [name], end=1)]


def load(nodes, constants, shape=("n", 6), dtype=T.FLOAT):
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", dtype, shape)], [h.make_tensor_value_info("y", T.FLOAT, None)], tensors)
    return mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)]).SerializeToString())


def alike(model, make):
    """The block for batches that it was not made for, beside the model."""
    block = model.to_block()
    for n in (1, 2, 9, 35):
        x = make(n)
        np.testing.assert_allclose(block(mx.nd.array(x, dtype=x.dtype)).asnumpy(), model(x).asnumpy(), rtol=1e-6, atol=1e-6)
    return block


def expanded(constant, shape):
    """`constant` with the batch in front of `shape`."""
    return [*size("n"), h.make_node("Concat", ["n", "tail"], ["to"], axis=0), h.make_node("Expand", ["c", "to"], ["rows"])], \
        {"c": constant, "tail": np.array(shape, "int64")}


def test_a_token_in_front_of_each_sequence():
    """As vision transformers have it; it is trained as the one that it is."""
    nodes, constants = expanded(floats(1, 1, 6), (1, 6))
    model = load([*nodes, h.make_node("Concat", ["rows", "x"], ["y"], axis=1)], constants, ("n", 4, 6))
    block = alike(model, lambda n: floats(n, 4, 6))
    token, = (p for p in block.collect_params().values() if p.shape == (1, 1, 6))
    with mx.autograd.record():
        y = block(mx.nd.ones((3, 4, 6)))
    y.backward()
    np.testing.assert_array_equal(token.grad().asnumpy(), np.full((1, 1, 6), 3))


def test_rows_of_a_window_for_each_example():
    """Constants that repeat as a whole, and those whose rows repeat."""
    nodes, constants = expanded(floats(1, 4, 6), (4, 6))
    flat = {"rows_shape": np.array([-1, 6]), "four": np.array([-1, 4, 6])}
    one = [*nodes, h.make_node("Reshape", ["rows", "rows_shape"], ["flat"]), h.make_node("Reshape", ["x", "rows_shape"], ["z"]),
           h.make_node("Add", ["flat", "z"], ["y"])]
    alike(load(one, {**constants, **flat}, ("n", 4, 6)), lambda n: floats(n, 4, 6))
    turned = [*nodes, h.make_node("Transpose", ["rows"], ["t"], perm=[1, 0, 2]), h.make_node("Reshape", ["t", "rows_shape"], ["flat"]),
              h.make_node("Transpose", ["x"], ["u"], perm=[1, 0, 2]), h.make_node("Reshape", ["u", "rows_shape"], ["z"]),
              h.make_node("Add", ["flat", "z"], ["y"])]
    alike(load(turned, {**constants, **flat}, ("n", 4, 6)), lambda n: floats(n, 4, 6))


def test_places_of_examples_in_a_flat_array():
    """Exporters read masks so: b * 6 + j of all examples."""
    constants = {"zero": np.array(0), "one": np.array(1), "six": np.array(6), "columns": np.arange(6), "flat": np.array([-1]),
                 "first": np.array([0]), "last": np.array([1])}
    nodes = [*size("n"), h.make_node("Squeeze", ["n"], ["count"]), h.make_node("Range", ["zero", "count", "one"], ["b"]),
             h.make_node("Mul", ["b", "six"], ["before"]), h.make_node("Unsqueeze", ["before", "last"], ["column"]),
             h.make_node("Add", ["column", "columns"], ["at"]), h.make_node("Reshape", ["x", "flat"], ["all"]),
             h.make_node("Gather", ["all", "at"], ["y"])]
    alike(load(nodes, constants), lambda n: floats(n, 6))


def test_attributes_that_follow_the_batch():
    """Ends of slices, and heads that are repeated."""
    constants = {"begin": np.array([0, 0, 1]), "four": np.array([4]), "lots": np.array([1]), "two": np.array([2])}
    nodes = [*size("n"), h.make_node("Concat", ["n", "lots", "four"], ["end"], axis=0), h.make_node("Unsqueeze", ["x", "lots"], ["wide"]),
             h.make_node("Slice", ["wide", "begin", "end"], ["part"]), h.make_node("Concat", ["n", "four", "four"], ["to"], axis=0),
             h.make_node("ReduceSum", ["part", "two"], ["one"], keepdims=1), h.make_node("Expand", ["one", "to"], ["y"])]
    alike(load(nodes, constants), lambda n: floats(n, 6))


@pytest.mark.parametrize("weights, words", [([2.0], "has scalar="), ([1.0, 2, 3, 4, 5, 6], "is another for each batch")])
def test_numbers_that_depend_on_the_batch_are_refused(weights, words):
    """A mean over the batch by hand: the numbers of one batch are no other's."""
    weights = np.array(weights, "float32")
    model = load([*size("n"), h.make_node("Cast", ["n"], ["f"], to=T.FLOAT), h.make_node("Mul", ["w", "f"], ["q"]),
                  h.make_node("Div", ["x", "q"], ["y"])], {"w": weights})
    with pytest.raises(mx.MXNetError, match=words):
        model.convert()
    block, x = model.to_block(shapes={"x": (4, 6)}), floats(4, 6)
    np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), x / (4 * weights), rtol=1e-6)


def test_rows_from_the_end():
    """A slice goes over the whole batch, whatever its size."""
    nodes = [h.make_node("Slice", ["x", "end", "far", "axis", "back"], ["y"])]
    model = load(nodes, {"end": np.array([-1]), "far": np.array([-2**40]), "axis": np.array([1]), "back": np.array([-2])}, ("n", 5, 6))
    alike(model, lambda n: floats(n, 5, 6))


def test_inputs_that_nothing_reads():
    """A block has all of the model's inputs, in their order."""
    graph = h.make_graph([h.make_node("Relu", ["x"], ["y"])], "g",
                         [h.make_tensor_value_info(k, T.FLOAT, ["n", 3]) for k in ("unread", "x")],
                         [h.make_tensor_value_info("y", T.FLOAT, None)])
    model = mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)]).SerializeToString())
    x = floats(2, 3)
    with pytest.warns(UserWarning, match="unread"):
        block = model.to_block()
    for _ in range(2):
        np.testing.assert_array_equal(block(mx.nd.zeros((2, 3)), mx.nd.array(x)).asnumpy(), x.clip(0))
        block.hybridize()


def test_who_writes_parameters_does_not_change_the_model():
    """A weight that lies in the model's bytes, one that is computed of it, and a small one."""
    weight, nodes = floats(6, 900), [h.make_node("Transpose", ["w"], ["turned"]), h.make_node("MatMul", ["x", "w"], ["a"]),
                                     h.make_node("MatMul", ["a", "turned"], ["b"]), h.make_node("Mul", ["b", "half"], ["y"])]
    model, x = load(nodes, {"w": weight, "half": np.array([0.5], "float32")}), floats(4, 6)
    want, other = model(x).asnumpy(), model(x[:3]).asnumpy()
    for array in model.convert()[1].values():
        array[:] = 0
    np.testing.assert_array_equal(model(x).asnumpy(), want)
    # Further calls of a shape may round otherwise, as sums of 900 products do.
    np.testing.assert_allclose(model(x[:3]).asnumpy(), other, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(model(x[:2]).asnumpy(), want[:2], rtol=1e-5, atol=1e-3)
