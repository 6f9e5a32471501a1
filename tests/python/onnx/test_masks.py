"""masked_scatter of PyTorch: in files, a ScatterND at the places of NonZero, with as many rows."""
import numpy as np
import pytest
from onnx import TensorProto as T, helper as h, numpy_helper as nh

import mxnet as mx

pytestmark = pytest.mark.cpu


def model(rank, depth, script=False, first=0, kind=T.BOOL):
    """y = x * w with rows where the mask is true. script: as torch.onnx.export(dynamo=False)."""
    nodes = [h.make_node("Mul", ["x", "w"], ["product"]), h.make_node("NonZero", ["mask"], ["found"]),
             h.make_node("Transpose", ["found"], ["places"], perm=[1, 0]), h.make_node("Shape", ["places"], ["sizes"])]
    if script:
        nodes += [h.make_node("Gather", ["sizes", "zero0"], ["count0"], axis=0), h.make_node("Unsqueeze", ["count0", "zero"], ["count"])]
    else:
        nodes += [h.make_node("Gather", ["sizes", "zero"], ["count"], axis=0)]
    nodes += [h.make_node("Slice", ["rows", "first", "count", "zero"], ["taken"]),
              h.make_node("ScatterND", ["product", "places", "taken"], ["y"])]
    sizes = ["a", "b", "c"]
    values = [h.make_tensor_value_info("x", T.FLOAT, sizes[:rank]), h.make_tensor_value_info("mask", kind, sizes[:depth]),
              h.make_tensor_value_info("rows", T.FLOAT, ["r"] + sizes[depth:rank])]
    constants = [nh.from_array(np.array([2.0, 3.0, 5.0], "float32"), "w"), nh.from_array(np.array([0]), "zero"),
                 nh.from_array(np.array(0), "zero0"), nh.from_array(np.array([first]), "first")]
    graph = h.make_graph(nodes, "g", values, [h.make_tensor_value_info("y", T.FLOAT, None)], constants)
    return mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=8).SerializeToString())


def arrays(rank, depth, rows=9):
    draw = np.random.RandomState(1)
    shape = (2, 4, 3)[-rank:]
    mask = draw.rand(*shape[:depth]) < 0.5
    return draw.rand(*shape).astype("float32"), mask, draw.rand(max(rows, mask.sum()), *shape[depth:]).astype("float32")


@pytest.mark.parametrize("script", (False, True))
@pytest.mark.parametrize("rank, depth", ((3, 3), (3, 2), (2, 1), (1, 1)))
def test_rows_go_where_the_mask_is_true(rank, depth, script):
    net, (x, mask, rows) = model(rank, depth, script), arrays(rank, depth)
    for given in (mask, np.zeros_like(mask), np.ones_like(mask)):
        wanted = x * np.array([2, 3, 5], "float32")
        given = given if given.sum() <= len(rows) else mask
        wanted[given] = rows[:given.sum()]
        np.testing.assert_array_equal(net(x, given, rows).asnumpy(), wanted)
    assert net.explain().count("plan of") == 1 and "then" not in net.explain()   # one plan, which nothing cuts


@pytest.mark.parametrize("rank, depth", ((3, 3), (3, 2)))
def test_blocks_are_trained(rank, depth):
    x, mask, rows = arrays(rank, depth)
    block = model(rank, depth).to_block(shapes={"x": x.shape, "mask": mask.shape, "rows": rows.shape})
    given, source = mx.nd.array(mask, dtype="bool"), mx.nd.array(rows)
    source.attach_grad()
    with mx.autograd.record():
        y = block(mx.nd.array(x), given, source)
        loss = (y * y).sum()
    loss.backward()
    wanted = x * np.array([2, 3, 5], "float32")
    wanted[mask] = rows[:mask.sum()]
    np.testing.assert_array_equal(y.asnumpy(), wanted)
    slope = 2 * wanted * x
    slope[mask] = 0
    weight, = [p for p in block.collect_params().values() if p.grad_req != "null"]
    np.testing.assert_allclose(weight.grad().asnumpy(), slope.reshape(-1, 3).sum(0), rtol=1e-5)
    of_rows = np.where(np.arange(len(rows)).reshape((-1,) + (1,) * (rows.ndim - 1)) < mask.sum(), 2 * rows, 0)
    np.testing.assert_allclose(source.grad.asnumpy(), of_rows, rtol=1e-5)


def test_too_few_rows_are_an_error():
    net, (x, mask, rows) = model(2, 1), arrays(2, 1)
    with pytest.raises(mx.MXNetError):
        net(x, np.ones_like(mask), rows[:2]).asnumpy()
    with pytest.raises(mx.MXNetError, match="no rows"):
        net(x, np.ones_like(mask), rows[:0]).asnumpy()
    assert net(x, np.zeros_like(mask), rows[:0]).shape == x.shape


def test_numbers_as_a_mask_and_other_slices():
    """A slice that starts elsewhere is no such scatter, and stays what the file says."""
    x, mask, rows = arrays(2, 1)
    wanted = x * np.array([2, 3, 5], "float32")
    wanted[mask] = rows[:mask.sum()]
    np.testing.assert_array_equal(model(2, 1, kind=T.INT64)(x, mask * 7, rows).asnumpy(), wanted)
    with pytest.raises(mx.MXNetError, match="updates"):
        model(2, 1, first=1)(x, mask, rows).asnumpy()
