"""Mixtures of experts compute the experts that the router chose, and no others: `_expert_dense`,
and `_expert_block_dense` of packed weights. Answers are those of NumPy."""
import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx")

EXPERTS, HIDDEN, INNER = 5, 32, 64


def load(op, feeds, weights, names, **attributes):
    node = onnx.helper.make_node(op, names, ["y"], domain="com.microsoft", **attributes)
    inputs = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [None] * (v.ndim - 1) + [v.shape[-1]])
              for n, v in feeds.items()]
    graph = onnx.helper.make_graph([node], "g", inputs,
                                   [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
                                   [onnx.numpy_helper.from_array(v, n) for n, v in weights.items()])
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
    return mx.onnx.load(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def mixed(x, router, k, layers, of_chosen, shares=None):
    """`layers`: of an expert, from data to result."""
    y = np.zeros(x.shape)
    for t, scores in enumerate(router):
        best = np.argsort(-scores, kind="stable")[:k]
        if shares is not None:
            parts = shares[t, best]
        else:
            parts = softmax(scores[best]) if of_chosen else softmax(scores)[best]
        for e, part in zip(best, parts):
            y[t] += part * layers(e, x[t])
    return y


def floats(rng, *shape):
    return rng.randn(*shape).astype("float32")


@pytest.mark.parametrize("tokens", [1, 7, 40])
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("normalize", [0, 1])
@pytest.mark.parametrize("third", [False, True])
def test_experts(tokens, k, normalize, third):
    rng = np.random.RandomState(tokens + k)
    feeds = {"x": floats(rng, tokens, HIDDEN), "r": floats(rng, tokens, EXPERTS)}
    weights = {"w1": 0.2 * floats(rng, EXPERTS, INNER, HIDDEN), "b1": floats(rng, EXPERTS, INNER),
               "w2": 0.2 * floats(rng, EXPERTS, HIDDEN, INNER), "b2": floats(rng, EXPERTS, HIDDEN)}
    if third:
        weights["w3"] = 0.2 * floats(rng, EXPERTS, INNER, HIDDEN)

    def layers(e, x):
        y = np.maximum(weights["w1"][e] @ x + weights["b1"][e], 0)
        if third:
            y = y * (weights["w3"][e] @ x)
        return weights["w2"][e] @ y + weights["b2"][e]
    model = load("MoE", feeds, weights, ["x", "r", *weights], k=k, normalize_routing_weights=normalize)
    np.testing.assert_allclose(model(**feeds).asnumpy(), mixed(feeds["x"], feeds["r"], k, layers, normalize),
                               rtol=1e-4, atol=1e-4)


def few_bits(rng, bits, block, zeros, rows, columns):
    """Packed weights, scales and zero points, and what they stand for."""
    blocks = columns // block
    numbers = rng.randint(0, 2 ** bits, (EXPERTS, rows, columns))
    scales = rng.uniform(0.01, 0.02, (EXPERTS, rows, blocks)).astype("float32") / 2 ** (bits - 4)
    middle = rng.randint(0, 2 ** bits, scales.shape) if zeros else np.full(scales.shape, 2 ** (bits - 1))
    each = 8 // bits

    def pack(values):
        values = np.pad(values, [(0, 0), (0, 0), (0, -values.shape[-1] % each)])
        return sum(values[..., i::each] << i * bits for i in range(each)).astype("uint8")
    spread = (np.repeat(v, block, 2) for v in (middle, scales))
    return pack(numbers), scales, pack(middle), (numbers - next(spread)) * next(spread)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("tokens", [1, 20])
@pytest.mark.parametrize("given", [False, True])
def test_experts_of_few_bits(bits, zeros, tokens, given):
    rng = np.random.RandomState(bits + tokens)
    feeds = {"x": floats(rng, tokens, HIDDEN), "r": floats(rng, tokens, EXPERTS)}
    if given:
        feeds["shares"] = rng.rand(tokens, EXPERTS).astype("float32")
    names, weights, plain = ["x", "r"] + [""] * 13, {}, {}
    for i, (rows, columns) in enumerate(((INNER, HIDDEN), (HIDDEN, INNER)), 1):
        at = 3 * i - 1
        packed, scales, middle, plain[i] = few_bits(rng, bits, 16, zeros, rows, columns)
        names[at:at + 3] = [f"w{i}", f"s{i}", f"b{i}"]
        weights.update({f"w{i}": packed, f"s{i}": scales, f"b{i}": floats(rng, EXPERTS, rows)})
        if zeros:
            names[10 + i] = f"z{i}"
            weights[f"z{i}"] = middle
    names[14] = "shares" if given else ""

    def layers(e, x):
        return plain[2][e] @ np.maximum(plain[1][e] @ x + weights["b1"][e], 0) + weights["b2"][e]
    while not names[-1]:
        names.pop()
    model = load("QMoE", feeds, weights, names, k=2, expert_weight_bits=bits, block_size=16)
    np.testing.assert_allclose(model(**feeds).asnumpy(),
                               mixed(feeds["x"], feeds["r"], 2, layers, True, feeds.get("shares")), rtol=1e-3, atol=1e-3)


def saved(path, names, weights, more=(), **attributes):
    """A file of a QMoE whose tokens an earlier MatMulNBits makes, if there is `more` of it."""
    h = onnx.helper
    nodes = [*more, h.make_node("QMoE", names, ["y"], domain="com.microsoft", **attributes)]
    made = {o for n in nodes for o in n.output}
    given = [n for n in dict.fromkeys(n for node in nodes for n in node.input if n) if n not in weights and n not in made]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["tokens", EXPERTS if n == "r" else HIDDEN])
                                      for n in given],
                         [h.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["tokens", HIDDEN])],
                         [onnx.numpy_helper.from_array(v, n) for n, v in weights.items()])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("com.microsoft", 1)], ir_version=8), path)
    return mx.onnx.load(path)


def packed_experts(rng, bits, block, zeros):
    """Inputs of a QMoE, its weights, and what they stand for as those of a MoE."""
    names, weights, plain = ["x", "r"] + [""] * 13, {}, {}
    for i, (rows, columns) in enumerate(((INNER, HIDDEN), (HIDDEN, INNER)), 1):
        at = 3 * i - 1
        numbers, scales, middle, whole = few_bits(rng, bits, block or columns, zeros, rows, columns)
        names[at:at + 3] = [f"w{i}", f"s{i}", f"b{i}"]
        bias = floats(rng, EXPERTS, rows)
        if not block:     # one scale for each row; an expert's zero points lie together
            scales, middle = scales[..., 0], None
        weights.update({f"w{i}": numbers, f"s{i}": scales, f"b{i}": bias})
        plain.update({f"w{i}": whole.astype("float32"), f"b{i}": bias})
        if zeros:
            names[10 + i] = f"z{i}"
            weights[f"z{i}"] = middle
    while not names[-1]:
        names.pop()
    return names, weights, plain


def trained(block, arrays, step=0.0):
    """The loss, and gradients of data and weights by the first two letters of their names."""
    given = [mx.nd.array(a) for a in arrays]
    for a in given:
        a.attach_grad()
    with mx.autograd.record():
        loss = (block(*given) ** 2).sum()
    loss.backward()
    grads = {n[:2]: p.grad().asnumpy() for n, p in block.collect_params().items() if p.grad_req != "null"}
    if step:
        for p in block.collect_params().values():
            if p.grad_req != "null":
                p.set_data(p.data() - step * p.grad().sign())
    return loss.asscalar(), [a.grad.asnumpy() for a in given], grads


@pytest.mark.parametrize("bits, block, zeros", [(4, 16, False), (4, 16, True), (2, 32, True), (8, 16, True), (4, 0, False), (8, 0, False)])
def test_blocks_of_packed_experts_learn_as_their_floats_do(bits, block, zeros, tmp_path):
    rng = np.random.RandomState(bits + block)
    feeds = {"x": floats(rng, 6, HIDDEN), "r": floats(rng, 6, EXPERTS)}
    names, weights, plain = packed_experts(rng, bits, block, zeros)
    model = saved(str(tmp_path / "experts.onnx"), names, weights, k=2, expert_weight_bits=bits, block_size=block)
    learned = model.to_block(shapes={n: v.shape for n, v in feeds.items()})
    float_model = load("MoE", feeds, plain, ["x", "r", *plain], k=2, normalize_routing_weights=1)
    wanted = trained(float_model.to_block(shapes={n: v.shape for n, v in feeds.items()}), feeds.values())
    path = mx.onnx.export_model(learned, in_shapes=[v.shape for v in feeds.values()], onnx_file_path=str(tmp_path / "same.onnx"))
    assert onnx.load(path) == onnx.load(model.source)     # to the last bit
    got = trained(learned, feeds.values(), step=0.02 * 2 ** (4 - bits))
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-4)
    for one, other in zip(got[1], wanted[1]):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)
    assert sorted(got[2]) == sorted(wanted[2]) == ["b1", "b2", "w1", "w2"]
    for name, grad in got[2].items():
        np.testing.assert_allclose(grad, wanted[2][name], rtol=1e-3, atol=1e-3)
        assert np.abs(grad).max() > 0
    # The file has the nearest numbers in its steps.
    path = mx.onnx.export_model(learned, in_shapes=[v.shape for v in feeds.values()], onnx_file_path=str(tmp_path / "trained.onnx"))
    tensors = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    moved = {n[:2]: p.data().asnumpy() for n, p in learned.collect_params().items()}
    each = 8 // bits
    for i in (1, 2):
        assert (tensors[f"w{i}"] != weights[f"w{i}"]).any()
        np.testing.assert_array_equal(tensors[f"s{i}"], weights[f"s{i}"])
        np.testing.assert_array_equal(tensors[f"b{i}"], moved[f"b{i}"])
        numbers = np.stack([(tensors[f"w{i}"] >> (bits * j)) & (2 ** bits - 1) for j in range(each)], -1).reshape(plain[f"w{i}"].shape)
        size = block or numbers.shape[-1]
        steps = np.repeat(weights[f"s{i}"].reshape(*numbers.shape[:2], -1), size, 2)
        first = np.stack([(weights[f"w{i}"] >> (bits * j)) & (2 ** bits - 1) for j in range(each)], -1).reshape(numbers.shape)
        zero = first - plain[f"w{i}"] / steps
        stands_for = (numbers - zero) * steps
        inside = (moved[f"w{i}"] > -zero * steps) & (moved[f"w{i}"] < (2 ** bits - 1 - zero) * steps)
        assert inside.mean() > 0.5
        assert (np.abs(stands_for - moved[f"w{i}"])[inside] <= 0.501 * steps[inside]).all()


def test_a_dense_layer_in_front_of_experts_is_written_in_its_bits_as_well(tmp_path):
    rng = np.random.RandomState(3)
    names, weights, _ = packed_experts(rng, 4, 16, False)
    numbers, scales, middle, _ = few_bits(rng, 4, 16, True, HIDDEN, HIDDEN)
    weights.update(dw=numbers[0].reshape(HIDDEN, 2, 8), ds=scales[0].ravel(), dz=middle[0].ravel())
    dense = onnx.helper.make_node("MatMulNBits", ["d", "dw", "ds", "dz"], ["x"], K=HIDDEN, N=HIDDEN, bits=4, block_size=16,
                                  domain="com.microsoft")
    model = saved(str(tmp_path / "experts.onnx"), names, weights, [dense], k=2, expert_weight_bits=4, block_size=16)
    block = model.to_block(shapes={"d": (6, HIDDEN), "r": (6, EXPERTS)})
    arrays = [floats(rng, 6, HIDDEN), floats(rng, 6, EXPERTS)]
    export = {"in_shapes": [a.shape for a in arrays]}
    path = mx.onnx.export_model(block, onnx_file_path=str(tmp_path / "same.onnx"), **export)
    assert onnx.load(path) == onnx.load(model.source)
    trained(block, arrays, step=0.02)
    path = mx.onnx.export_model(block, onnx_file_path=str(tmp_path / "trained.onnx"), **export)
    assert (onnx.numpy_helper.to_array(onnx.load(path).graph.initializer[-3]) != weights["dw"]).any()
    got = mx.onnx.load(path)(*arrays).asnumpy()
    want = block(*map(mx.nd.array, arrays)).asnumpy()
    assert np.abs(got - want).mean() < 0.3 * np.abs(want).mean()     # rounded to 4 bits


def test_a_block_of_experts_of_bytes_has_no_file(tmp_path):
    rng = np.random.RandomState(3)
    names, weights, _ = packed_experts(rng, 4, 16, False)
    model = saved(str(tmp_path / "experts.onnx"), names, weights, k=2, expert_weight_bits=4, block_size=16)
    with open(model.source, "rb") as file:
        block = mx.onnx.load(file.read()).to_block(shapes={"x": (6, HIDDEN), "r": (6, EXPERTS)})
    with pytest.raises(mx.MXNetError, match="known for _expert_dense, .* loaded from bytes; accepted: blocks of models of files"):
        mx.onnx.export_model(block, in_shapes=[(6, HIDDEN), (6, EXPERTS)], onnx_file_path=str(tmp_path / "no.onnx"))


def test_what_was_not_chosen_is_not_computed():
    """Weights without a number would make all tokens NaN, since 0 * NaN is NaN."""
    rng = np.random.RandomState(0)
    feeds = {"x": floats(rng, 6, HIDDEN), "r": floats(rng, 6, EXPERTS)}
    feeds["r"][:, 3] = -9
    weights = {"w1": floats(rng, EXPERTS, INNER, HIDDEN), "b1": floats(rng, EXPERTS, INNER),
               "w2": floats(rng, EXPERTS, HIDDEN, INNER), "b2": floats(rng, EXPERTS, HIDDEN)}
    for weight in weights.values():
        weight[3] = np.nan
    names = ["x", "r", *weights]
    assert np.isfinite(load("MoE", feeds, weights, names, k=2)(**feeds).asnumpy()).all()
    feeds["r"][2, 3] = 9
    rows = np.isnan(load("MoE", feeds, weights, names, k=2)(**feeds).asnumpy()).all(1)
    assert rows.tolist() == [False, False, True, False, False, False]


def test_blocks_of_experts_learn():
    rng = np.random.RandomState(0)
    feeds = {"x": floats(rng, 6, HIDDEN), "r": floats(rng, 6, EXPERTS)}
    feeds["r"][:, 3] = -9
    weights = {"w1": 0.2 * floats(rng, EXPERTS, INNER, HIDDEN), "b1": floats(rng, EXPERTS, INNER),
               "w2": 0.2 * floats(rng, EXPERTS, HIDDEN, INNER), "b2": floats(rng, EXPERTS, HIDDEN)}
    block = load("MoE", feeds, weights, ["x", "r", *weights], k=2, normalize_routing_weights=1).to_block(
        shapes={n: v.shape for n, v in feeds.items()})
    x, router = (mx.nd.array(v) for v in feeds.values())
    for array in (x, router):
        array.attach_grad()
    with mx.autograd.record():
        loss = (block(x, router) ** 2).sum()
    loss.backward()
    params = {n: p for n, p in block.collect_params().items()}
    for name, array in list(params.items()) + [("x", x), ("r", router)]:
        grad = (array.grad() if name in params else array.grad).asnumpy()
        assert np.isfinite(grad).all()
        if name in params:
            assert (grad[3] == 0).all()
            assert (grad[:3] != 0).any()
    # along the gradient of x, numerically
    step = 1e-2 / np.linalg.norm(x.grad.asnumpy())
    up, down = ((block(x + s * step * x.grad, router) ** 2).sum().asscalar() for s in (1, -1))
    np.testing.assert_allclose((up - down) / (2 * step), (x.grad ** 2).sum().asscalar(), rtol=1e-2)
