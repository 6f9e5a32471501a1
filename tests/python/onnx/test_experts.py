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
