"""com.microsoft's operators that onnxruntime's optimizer, its quantizers and older exporters write,
beside onnxruntime, or beside NumPy where its CPU provider has none."""
import numpy as np
import pytest

import mxnet as mx
from import_checks import MICROSOFT, check, model, node, ours

RANDOM = np.random.RandomState(1)


def floats(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def made(op, inputs, **attributes):
    return node(op, inputs, ["y"], **attributes, **MICROSOFT)


def alone(nodes, feeds, weights, *wanted):
    """Beside `wanted`, for operators that onnxruntime has on GPUs alone."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    found = ours(model(nodes, feeds, weights), feeds)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# Older forms of operators of ai.onnx.

@pytest.mark.parametrize("upper", [0, 1])
def test_triangles(upper):
    check(made("Trilu", ["x", "k"], upper=upper), {"x": floats(2, 4, 5)}, {"k": np.array(1)})


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_pad(mode):
    pads = np.array([[0, 1, 2, 0, 2, 1]])
    weights = {"p": pads, "v": np.array([1.5], "float32")}
    check(made("Pad", ["x", "p", "v"] if mode == "constant" else ["x", "p"], mode=mode), {"x": floats(2, 4, 5)}, weights)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grids(mode):
    grid = RANDOM.uniform(-1.2, 1.2, (2, 3, 4, 2)).astype("float32")
    check(made("GridSample", ["x", "g"], mode=mode, padding_mode="border"), {"x": floats(2, 3, 6, 5), "g": grid})


def test_pieces():
    check(made("GatherND", ["x", "i"]), {"x": floats(3, 4, 5)}, {"i": np.array([[0, 1], [2, 3]])})
    check(made("ExpandDims", ["x", "a"]), {"x": floats(3, 4)}, {"a": np.array(-1, "int32")})
    check(node("Unique", ["x"], ["y", "y_at", "y_count"], **MICROSOFT),
          {"x": np.array([2, 1, 1, 3, 4, 3], "float32")})
    check(made("UnfoldTensor", ["x"], dim=1, size=3, step=2), {"x": floats(2, 8, 3)})
    check(made("Inverse", ["x"]), {"x": floats(2, 4, 4) + 4 * np.eye(4, dtype="float32")}, rtol=1e-3)


def test_pads_that_are_an_input():
    weights = {"w": floats(3, 4, 3, 3), "p": np.array([1, 0, 0, 1]), "b": floats(4)}
    check(made("ConvTransposeWithDynamicPads", ["x", "w", "p", "b"], strides=[2, 2]), {"x": floats(1, 3, 5, 6)}, weights)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_crops(mode):
    boxes = np.array([[0.1, 0.2, 0.8, 0.9], [-0.1, 0.5, 1.2, 0.4], [0.3, 0.3, 0.3, 0.7]], "float32")
    weights = {"n": np.array([1, 0, 1], "int32"), "s": np.array([4, 3], "int32")}
    check(made("CropAndResize", ["x", "r", "n", "s"], mode=mode, extrapolation_value=0.5),
          {"x": floats(2, 3, 7, 9), "r": boxes}, weights)


def test_complex_numbers():
    a, b = floats(3, 4, 2), floats(3, 4, 2)
    product = lambda p, q: np.stack([(p * q).real, (p * q).imag], -1)
    pair = lambda v: v[..., 0] + 1j * v[..., 1]
    alone(made("ComplexMul", ["a", "b"]), {"a": a, "b": b}, {}, product(pair(a), pair(b)))
    alone(made("ComplexMulConj", ["a", "b"]), {"a": a, "b": b}, {}, product(pair(a), pair(b).conj()))
    x = floats(3, 12)
    f = np.fft.rfft(x)
    alone(made("Rfft", ["x"], signal_ndim=1), {"x": x}, {}, np.stack([f.real, f.imag], -1))
    alone([node("Rfft", ["x"], ["f"], signal_ndim=1, **MICROSOFT), made("Irfft", ["f"], signal_ndim=1)], {"x": x}, {}, x)


def test_dropout_does_nothing():
    x, b, r = floats(2, 3, 4), floats(4), floats(2, 3, 4)
    alone(node("BiasDropout", ["x", "b", "r"], ["y", "y_mask"], **MICROSOFT), {"x": x, "r": r}, {"b": b}, x + b + r,
          np.ones_like(x, dtype=bool))
    alone(made("BitmaskDropout", ["x"]), {"x": x}, {}, x)


# Experimental operators of the first opsets.

def test_operators_that_are_no_more():
    x = floats(2, 3, 6, 5)
    plain = lambda op, **attributes: node(op, ["x"], ["y"], **attributes)
    check(plain("Affine", alpha=2.0, beta=0.5), {"x": x}, opset=9)
    check(plain("ScaledTanh", alpha=2.0, beta=0.5), {"x": x}, opset=9)
    check(plain("ParametricSoftplus", alpha=2.0, beta=0.5), {"x": x}, opset=9)
    check(plain("ImageScaler", scale=2.0, bias=[0.1, 0.2, 0.3]), {"x": x}, opset=9)
    check(plain("Crop", border=[1, 2, 1, 1]), {"x": x}, opset=9)
    check(plain("Crop", border=[1, 2, 0, 0], scale=[3, 2]), {"x": x}, opset=9)
    weights = {"a": np.array([1, 0]), "b": np.array([2, 3]), "c": np.array([1, 3])}
    check(node("DynamicSlice", ["x", "a", "b", "c"], ["y"]), {"x": x}, weights, opset=9)
    shape = {"s": np.array([2, 3])}
    alone([node("ConstantFill", ["s"], ["c"], input_as_shape=1, value=1.5, dtype=1), node("Add", ["x", "c"], ["y"])],
          {"x": x[0, 0, :2, :3]}, shape, x[0, 0, :2, :3] + 1.5)
    alone([node("GivenTensorFill", [], ["c"], shape=[3], values=[1.0, 2.0, 3.0]), node("Scale", ["c"], ["d"], scale=2.0),
           node("Add", ["x", "d"], ["y"])], {"x": x[0, 0, :2, :3]}, {}, x[0, 0, :2, :3] + np.array([2, 4, 6], "float32"))


# Channels that come last.

def test_pictures_of_diffusion_models():
    x, skip, g, b, bias = floats(2, 4, 5, 8), floats(2, 4, 5, 8), floats(8), floats(8), floats(8)

    def normed(v, silu):
        rows = v.reshape(2, 20, 4, 2)
        scaled = (rows - rows.mean((1, 3), keepdims=True)) / np.sqrt(rows.var((1, 3), keepdims=True) + 1e-5)
        y = scaled.reshape(v.shape) * g + b
        return y * sigmoid(y) if silu else y

    weights = {"g": g, "b": b, "c": bias}
    alone(made("GroupNorm", ["x", "g", "b"], groups=4, activation=1), {"x": x}, weights, normed(x, True))
    alone(made("GroupNorm", ["x", "g", "b"], groups=4, activation=0, channels_last=0), {"x": x.transpose(0, 3, 1, 2)},
          weights, normed(x, False).transpose(0, 3, 1, 2))
    both = node("SkipGroupNorm", ["x", "g", "b", "s", "c"], ["y", "y_sum"], groups=4, activation=1, **MICROSOFT)
    alone(both, {"x": x, "s": skip}, weights, normed(x + skip + bias, True), x + skip + bias)
    flat = node("SkipGroupNorm", ["x", "g", "b", "s"], ["y"], groups=4, activation=0, **MICROSOFT)
    alone(flat, {"x": x, "s": skip[:, 0, 0]}, weights, normed(x + skip[:, :1, :1], False))
    alone(made("BiasAdd", ["x", "c", "s"]), {"x": x, "s": skip}, weights, x + bias + skip)


def test_convolutions_of_diffusion_models():
    x, w, b = floats(2, 6, 5, 3), floats(4, 3, 3, 3), floats(4)
    plain = node("Conv", ["x", "w", "b"], ["y"], pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    wanted, = ours(model([plain], {"x": x.transpose(0, 3, 1, 2).copy()}, {"w": w, "b": b}), {"x": x.transpose(0, 3, 1, 2).copy()})
    last = made("NhwcConv", ["x", "w", "b"], pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    alone(last, {"x": x}, {"w": w.transpose(0, 2, 3, 1).copy(), "b": b}, wanted.transpose(0, 2, 3, 1))


def integers(dtype, *shape):
    low, high = (0, 255) if dtype == "uint8" else (-128, 127)
    return RANDOM.randint(low, high, shape).astype(dtype)


def one(value, dtype="float32"):
    return np.array(value, dtype)


def test_quantized_pictures_with_channels_last():
    x = integers("uint8", 2, 6, 5, 8)
    steps = {"s": one(0.02), "z": one(120, "uint8"), "t": one(0.3), "u": one(100, "uint8")}
    conv = {**steps, "w": integers("int8", 4, 8, 3, 3), "ws": one(0.01), "wz": one(0, "int8"),
            "b": RANDOM.randint(-900, 900, 4).astype("int32")}
    check(made("QLinearConv", ["x", "s", "z", "w", "ws", "wz", "t", "u", "b"], channels_last=1, pads=[1, 1, 1, 1]), {"x": x}, conv,
          atol=1)
    check(made("NhwcMaxPool", ["x"], kernel_shape=[2, 3], pads=[0, 1, 0, 1], strides=[2, 1]), {"x": x}, {})
    near = {**steps, "t": one(0.021)}
    check(made("QLinearAveragePool", ["x", "s", "z", "t", "u"], kernel_shape=[2, 2], channels_last=1), {"x": x}, near, atol=1)
    check(made("QLinearGlobalAveragePool", ["x", "s", "z", "t", "u"], channels_last=1), {"x": x}, near, atol=1)


# Attention.

@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("each", [False, True])
def test_quantized_attention(kind, each):
    count = 24 if each else 1
    weights = {"w": integers(kind, 8, 24), "b": floats(24), "xs": one(0.02), "ws": RANDOM.uniform(0.005, 0.01, count).astype("float32"),
               "xz": one(128, "uint8"), "wz": np.full(count, 3, kind), "m": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "int32")}
    if not each:
        weights["ws"], weights["wz"] = weights["ws"][0], weights["wz"][0]
    x = integers("uint8", 2, 5, 8)
    check(made("QAttention", ["x", "w", "b", "xs", "ws", "m", "xz", "wz"], num_heads=2), {"x": x}, weights, rtol=1e-3, atol=1e-4)
    past = {"x": x, "p": floats(2, 2, 2, 3, 4)}
    wide = {**weights, "m": np.array([[1] * 6 + [0, 1], [1] * 8], "int32")}
    check(node("QAttention", ["x", "w", "b", "xs", "ws", "m", "xz", "wz", "p"], ["y", "y_now"], num_heads=2, unidirectional=1, **MICROSOFT),
          past, wide, rtol=1e-3, atol=1e-4)


def test_quantized_embedding_with_norm():
    tables = {"w": integers("uint8", 9, 8), "p": integers("uint8", 9, 8), "s": integers("uint8", 2, 8), "g": integers("uint8", 8),
              "b": integers("uint8", 8)}
    scales = {k + "s": one(v) for k, v in zip("wpsgb", (0.01, 0.02, 0.015, 0.01, 0.02))}
    zeros = {k + "z": one(v, "uint8") for k, v in zip("wpsgb", (128, 120, 100, 0, 128))}
    names = ["i", "sg", *"wpsgb", "m", *scales, *zeros]
    feeds = {"i": np.array([[1, 2, 3], [4, 0, 8]], "int32"), "sg": np.array([[0, 1, 1], [0, 0, 1]], "int32")}
    check(node("QEmbedLayerNormalization", names, ["y", "y_lengths"], epsilon=1e-5, **MICROSOFT), feeds,
          {**tables, **scales, **zeros, "m": np.array([[1, 1, 0], [1, 1, 1]], "int32")}, rtol=1e-3)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attended(q, k, v, heads, bias=0):
    split = lambda x: x.reshape(len(x), heads, -1).transpose(1, 0, 2)
    q, k, v = split(q), split(k), split(v)
    weights = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]) + bias)
    return (weights @ v).transpose(1, 0, 2).reshape(q.shape[1], -1)


def test_texts_without_their_padding():
    lengths, x = np.array([2, 4, 1], "int32"), floats(3, 4, 8)
    w, b, bias = floats(8, 24), floats(24), floats(1, 2, 4, 4)
    nodes = [node("RemovePadding", ["x", "n"], ["rows", "at", "y_sums", "y_most"], **MICROSOFT),
             node("PackedAttention", ["rows", "w", "b", "at", "y_sums", "bias"], ["y_rows"], num_heads=2, **MICROSOFT),
             made("RestorePadding", ["y_rows", "at"])]
    texts = [attended(*np.split(x[i, :n] @ w + b, 3, -1), 2, bias[0, :, :n, :n]) for i, n in enumerate(lengths)]
    padded = np.stack([np.pad(t, ((0, 4 - len(t)), (0, 0))) for t in texts])
    alone(nodes, {"x": x, "n": lengths}, {"w": w, "b": b, "bias": bias}, np.array([0, 2, 6, 7]), np.array([4]),
          np.concatenate(texts), padded)


@pytest.mark.parametrize("together", [False, True])
def test_rows_of_texts_side_by_side(together):
    at = np.array([[0, 1, 4, 5], [6, 7, 2, 3]], "int32")
    parts, b = [floats(6, 8) for _ in range(3)], floats(24)
    biased = [p + b[8 * i:8 * i + 8] for i, p in enumerate(parts)]
    wanted = np.concatenate([attended(*(p[:2] for p in biased), 2), attended(*(p[2:] for p in biased), 2)])
    feeds = dict(zip("qkv", parts))
    names = ["q", "k", "v"]
    if together:
        feeds, names = {"q": np.stack([p.reshape(6, 2, 4) for p in parts], 2)}, ["q", "", ""]
    alone(made("PackedMultiHeadAttention", [*names, "b", "at", "n"], num_heads=2), feeds,
          {"b": b, "at": at, "n": np.array([0, 2, 6], "int32")}, wanted)


@pytest.mark.parametrize("bias", [False, True])
def test_keys_side_by_side_with_others(bias):
    """As the optimizer for Stable Diffusion writes them."""
    x, b = [floats(2, 3, 8) for _ in range(3)], floats(24)
    wanted = np.stack([attended(*(p[i] + (b[8 * j:8 * j + 8] if bias else 0) for j, p in enumerate(x)), 2) for i in range(2)])
    heads = [p.reshape(2, 3, 2, 4) for p in x]
    weights = {"b": b} if bias else {}
    names = ["q", "", "", "b"] if bias else ["q"]
    alone(made("MultiHeadAttention", names, num_heads=2), {"q": np.stack(heads, 3)}, weights, wanted)
    names = ["q", "k", "", "b"] if bias else ["q", "k"]
    alone(made("MultiHeadAttention", names, num_heads=2), {"q": x[0], "k": np.stack(heads[1:], 3)}, weights, wanted)


def bucket(distance, buckets, farthest, both):
    first, n = 0, -distance
    if both:
        buckets //= 2
        first, n = (buckets if n < 0 else 0), abs(n)
    n = max(n, 0)
    exact = buckets // 2
    if n < exact:
        return first + n
    return first + min(buckets - 1, exact + int(np.log(n / exact) / np.log(farthest / exact) * (buckets - exact)))


@pytest.mark.parametrize("both", [0, 1])
def test_biases_of_positions(both):
    table, count = floats(16, 3), np.array(20)
    wanted = np.array([[table[bucket(j - i, 16, 30, both)] for j in range(20)] for i in range(20)]).transpose(2, 0, 1)[None]
    alone(made("RelativePositionBias", ["t", "n", "n"], max_distance=30, is_bidirectional=both), {"t": table}, {"n": count}, wanted)


def test_biases_with_gates():
    x, b, positions, w, d, a = floats(2, 5, 8), floats(8), floats(1, 2, 5, 5), floats(4, 8), floats(8), floats(1, 2, 1, 1)
    q = (x + b).reshape(2, 5, 2, 4).transpose(0, 2, 1, 3)
    update, reset = np.split(sigmoid((q @ w + d).reshape(2, 2, 5, 2, 4).sum(-1)), 2, -1)
    wanted = (update * (reset * a - 1) + 2) * positions
    alone(made("GatedRelativePositionBias", ["x", "b", "p", "w", "d", "a"], num_heads=2), {"x": x, "p": positions},
          {"b": b, "w": w, "d": d, "a": a}, wanted)


# Attention without softmax.

@pytest.mark.parametrize("heads, groups", [(2, 2), (4, 2), (2, 4)])
@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_attention_step_by_step(heads, groups, rule):
    feeds = {"q": floats(2, 5, heads * 4), "k": 0.5 * floats(2, 5, groups * 4), "v": floats(2, 5, groups * 3),
             "s": floats(2, groups, 4, 3), "d": -np.abs(floats(2, 5, groups)), "b": sigmoid(floats(2, 5, groups))}
    names = ["q", "k", "v", "s", "d" if "gated" in rule else "", "b" if "delta" in rule else ""]
    while not names[-1]:
        names.pop()
    feeds = {k: v for k, v in feeds.items() if k in names}
    check(node("LinearAttention", names, ["y", "y_state"], q_num_heads=heads, kv_num_heads=groups, update_rule=rule, **MICROSOFT), feeds,
          rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("last, step", [(0, 1), (0, 2), (1, 1), (1, 3)])
def test_convolutions_with_a_state(last, step):
    x, state = floats(2, 6, 7), floats(2, 6, 3 * step)
    if last:
        x, state = x.transpose(0, 2, 1).copy(), state.transpose(0, 2, 1).copy()
    attributes = {"channels_last": 1} if last else {}
    check(node("CausalConvWithState", ["x", "w", "b", "s"], ["y", "y_state"], activation="silu", dilation=step, **attributes, **MICROSOFT),
          {"x": x, "s": state}, {"w": floats(6, 1, 4), "b": floats(6)})


def test_gates_around_it():
    x, gate = floats(2, 3, 8), floats(2, 3, 8)
    check(made("GatedRMSNorm", ["x", "w", "g"]), {"x": x, "g": gate}, {"w": floats(4)})
    check(made("GatedRMSNorm", ["x", "w", "g"], activation="sigmoid"), {"x": x, "g": gate}, {"w": floats(8)})
    check(node("LinearAttentionGate", ["x", "b", "s", "g"], ["y", "y_rate"], **MICROSOFT), {"x": x, "g": gate},
          {"b": floats(8), "s": -np.abs(floats(8))})
    check(made("ScaledSiLU", ["x"], alpha=0.5), {"x": x})
    check(made("GatedAdd", ["x", "z", "g"]), {"x": x, "z": gate, "g": floats(2, 3, 1)})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_equations_as_skl2onnx_writes_them(dtype):
    """onnxruntime has no Solve."""
    a, b = (floats(4, 4) + 4 * np.eye(4)).astype(dtype), floats(4, 3).astype(dtype)
    for right in (b, b[:, 0].copy()):
        alone(made("Solve", ["a", "b"], lower=0, transposed=0), {"b": right}, {"a": a}, np.linalg.solve(a, right))
    with pytest.raises(mx.MXNetError, match="attribute lower is not 0; accepted is 0"):
        alone(made("Solve", ["a", "b"], lower=1), {"b": b}, {"a": a}, b)
    with pytest.raises(mx.MXNetError, match=r"A has shape \(4, 4\), B \(3, 3\)"):
        alone(made("Solve", ["a", "b"]), {"b": b[:3]}, {"a": a}, b)


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("flat", [False, True])
def test_rotary_embeddings_of_three_positions(layout, flat):
    x = floats(2, 3, 5, 16)
    feeds = {"x": x.transpose(0, 2, 1, 3).reshape(2, 5, 48) if flat else x, "p": RANDOM.randint(0, 20, (3, 2, 5))}
    check(made("MRotaryEmbedding", ["x", "p", "c", "s"], mrope_section=[4, 2, 2], mrope_layout=layout, num_heads=3), feeds,
          {"c": floats(20, 8), "s": floats(20, 8)})


# Mixtures of experts, and weights of 4 bits.

EXPERTS, HIDDEN, INNER = 4, 16, 32


def some_experts(inner=INNER):
    return {"w1": 0.2 * floats(EXPERTS, inner, HIDDEN), "b1": floats(EXPERTS, inner), "w2": 0.2 * floats(EXPERTS, HIDDEN, INNER),
            "b2": floats(EXPERTS, HIDDEN)}


@pytest.mark.parametrize("activation", ["relu", "silu", "identity"])
@pytest.mark.parametrize("normalize", [0, 1])
def test_experts(activation, normalize):
    feeds = {"x": floats(2, 3, HIDDEN), "r": floats(6, EXPERTS)}
    check(made("MoE", ["x", "r", "w1", "b1", "w2", "b2"], k=2, activation_type=activation, normalize_routing_weights=normalize), feeds,
          some_experts())


def test_experts_with_gates():
    check(made("MoE", ["x", "r", "w1", "b1", "w2", "b2"], k=2, activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.702,
               activation_beta=1.0, swiglu_limit=1.0), {"x": floats(5, HIDDEN), "r": floats(5, EXPERTS)}, some_experts(2 * INNER))


def packed(numbers, bits):
    if bits == 8:
        return numbers.astype("uint8")
    return (numbers[..., ::2] | numbers[..., 1::2] << 4).astype("uint8")


@pytest.mark.parametrize("bits, block", [(4, 0), (4, 16), (8, 0)])
@pytest.mark.parametrize("zeros", [False, True])
def test_experts_of_few_bits(bits, block, zeros):
    weights, names = {}, ["x", "r", "w1", "s1", "b1", "w2", "s2", "b2", "", "", ""]
    for i, (rows, columns) in enumerate(((INNER, HIDDEN), (HIDDEN, INNER)), 1):
        steps = (columns // block,) if block else ()
        weights[f"w{i}"] = packed(RANDOM.randint(0, 2 ** bits, (EXPERTS, rows, columns)), bits)
        weights[f"s{i}"] = RANDOM.uniform(0.005, 0.02, (EXPERTS, rows, *steps)).astype("float32") / 2 ** (bits - 4)
        weights[f"b{i}"] = floats(EXPERTS, rows)
        if zeros:
            numbers = RANDOM.randint(0, 2 ** bits, (EXPERTS, rows, *steps))
            if block and bits == 4 and steps[0] % 2:
                numbers = np.concatenate([numbers, np.zeros_like(numbers)], -1)
            weights[f"z{i}"] = packed(numbers, bits)
    more = {"block_size": block} if block else {}
    check(made("QMoE", names + ["z1", "z2"] if zeros else names[:8], k=2, activation_type="relu", expert_weight_bits=bits, **more),
          {"x": floats(5, HIDDEN), "r": floats(5, EXPERTS)}, weights, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("columns", [32, 35])
def test_weights_in_numbers_of_a_table(kind, columns):
    count, block = 6 * columns, 16
    weights = {"w": RANDOM.randint(0, 256, (count + 1) // 2).astype("uint8"),
               "s": RANDOM.uniform(0.5, 1.5, -(-count // block)).astype("float32")}
    check(made("MatMulBnb4", ["x", "w", "s"], K=columns, N=6, block_size=block, quant_type=kind), {"x": floats(2, 3, columns)}, weights)


def test_weights_whose_order_is_named():
    """onnxruntime's optimizer says in each file whether the weight is in a GPU's order."""
    weights = {"w": RANDOM.randint(0, 256, (6, 2, 8)).astype("uint8"), "s": RANDOM.uniform(0.5, 1.5, 12).astype("float32")}
    check(made("MatMulNBits", ["x", "w", "s"], K=32, N=6, bits=4, block_size=16, weight_prepacked=0), {"x": floats(3, 32)}, weights)


# What is refused.

@pytest.mark.parametrize("op, shapes, attributes, what", [
    ("GroupNorm", [(1, 2, 2, 6), (6,), (6,)], {"groups": 4, "activation": 0}, "groups is 4 for 6 channels"),
    ("NhwcConv", [(1, 4), (2, 3)], {}, "3 to 5 dimensions"),
    ("MoE", [(3, 4), (3, 2), (2, 5, 4), (2, 5), (2, 4, 5)], {"k": 3}, "k is 3 for 2 experts"),
    ("MoE", [(3, 4), (4, 2), (2, 5, 4), (2, 5), (2, 4, 5)], {"k": 1}, "router_probs"),
    ("MultiHeadAttention", [(1, 2, 2, 2, 4)], {"num_heads": 2}, "accepted is 3 in its fourth dimension"),
    ("Rfft", [(2, 8)], {"signal_ndim": 2}, "signal_ndim=1"),
    ("GatedRMSNorm", [(2, 8), (3,), (2, 8)], {}, "scale"),
    ("MatMulBnb4", [(2, 8)] * 3, {"K": 8, "N": 2, "block_size": 16, "quant_type": 2}, "accepted are 0 and 1"),
    ("LinearAttention", [(1, 2, 8)] * 3, {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear", "state_window": 2},
     "accepted is 0"),
    ("MatMulNBits", [(2, 16)] * 3, {"K": 16, "N": 1, "block_size": 16, "weight_prepacked": 1}, "order of a GPU's kernel; accepted is 0"),
])
def test_refusals_say_what_is_accepted(op, shapes, attributes, what):
    feeds = {f"x{i}": floats(*shape) for i, shape in enumerate(shapes)}
    with pytest.raises(mx.MXNetError, match=what):
        ours(model([made(op, list(feeds), **attributes)], feeds, {}), feeds)
