"""Weights of 4 and 8 bits with a scale for each block (DequantizeLinear in front of MatMul) stay
packed, and weights of bytes without sign take no more memory than their products need."""
import math

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T, helper as h, numpy_helper

import mxnet as mx
from memory_checks import figures

pytestmark = pytest.mark.cpu

LIMITS = {T.INT2: (-2, 1), T.UINT2: (0, 3), T.INT4: (-8, 7), T.UINT4: (0, 15), T.INT8: (-128, 127), T.UINT8: (0, 255)}


def weight(rng, kind, k, n, block, with_zeros):
    """Numbers, scales and zero points (or None), and what they stand for in float64."""
    low, high = LIMITS[kind]
    numbers = rng.randint(low, high + 1, (k, n))
    scale = (rng.rand(k // block, n) * 0.1 + 0.01).astype("float32")
    zeros = rng.randint(low, high + 1, scale.shape) if with_zeros else None
    spread = lambda v: np.repeat(v, block, 0).astype("float64")
    return numbers, scale, zeros, (numbers - (spread(zeros) if with_zeros else 0)) * spread(scale)


def tensor(name, kind, values):
    return h.make_tensor(name, kind, values.shape, values.flatten().tolist())


def model(kind, numbers, scale, zeros, block, axis=0, rank=2, more=()):
    k, n = numbers.shape
    inits = [tensor("w", kind, numbers), numpy_helper.from_array(scale, "s")] + ([tensor("z", kind, zeros)] if zeros is not None else [])
    nodes = [h.make_node("DequantizeLinear", ["w", "s"] + ["z"] * (zeros is not None), ["f"], axis=axis, block_size=block),
             h.make_node("MatMul", ["x", "f"], ["y"]), *more]
    free = [f"n{i}" for i in range(rank - 1)]
    outputs = [h.make_tensor_value_info("y", T.FLOAT, free + [n])] + [h.make_tensor_value_info(m.output[0], T.FLOAT, None) for m in more]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, free + [k])], outputs, inits)
    opset, ir = (25, 13) if kind in (T.INT2, T.UINT2) else (21, 10)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=ir)


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("kind", list(LIMITS))
@pytest.mark.parametrize("k, n, block", [(64, 5, 16), (96, 33, 32), (12, 7, 4), (12, 7, 6), (128, 64, 128)])
def test_products(kind, k, n, block, with_zeros):
    rng = np.random.RandomState(k + n)
    numbers, scale, zeros, floats = weight(rng, kind, k, n, block, with_zeros)
    loaded = mx.onnx.load(model(kind, numbers, scale, zeros, block).SerializeToString(), precision="float32")
    for rows in (1, 3, 40):
        x = rng.randn(rows, k).astype("float32")
        expected = x.astype("float64") @ floats
        np.testing.assert_allclose(loaded(x).asnumpy(), expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def in_8_bits(x, block):
    """Data as it is rounded in blocks, in float64."""
    parts = x.reshape(len(x), -1, block)
    most = np.abs(parts).max(-1, keepdims=True)
    return (np.rint(parts * (np.float32(127) / most)).astype("float64") * (most / np.float32(127))).reshape(x.shape)


def rounds_its_data(net):
    return '"in_integers": "True"' in net.convert()[0].tojson()


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("kind", [T.INT4, T.UINT4, T.UINT8])
def test_later_calls_give_what_the_first_does(kind, with_zeros):
    """A plan keeps weights in an order of its own, and so do other plans and runs without one."""
    rng = np.random.RandomState(3)
    numbers, scale, zeros, floats = weight(rng, kind, 192, 70, 32, with_zeros)
    net = mx.onnx.load(model(kind, numbers, scale, zeros, 32).SerializeToString())
    for rows in (1, 2, 7, 8, 9, 17, 8, 1):
        x = rng.randn(rows, 192).astype("float32")
        forms = [in_8_bits(x, 32) @ floats, x.astype("float64") @ floats]
        bound = 2e-5 * np.abs(forms[1]).max()
        for _ in range(3):
            assert min(np.abs(net(x).asnumpy() - v).max() for v in forms) < bound


@pytest.mark.parametrize("kind, block, with_zeros", [(T.INT8, 16, False), (T.UINT8, 32, True), (T.UINT8, 64, False)])
def test_data_of_8_bit_blocks_is_rounded_by_default(kind, block, with_zeros):
    """As in onnxruntime; where a processor gains by it."""
    rng = np.random.RandomState(block)
    numbers, scale, zeros, floats = weight(rng, kind, 256, 40, block, with_zeros)
    contents = model(kind, numbers, scale, zeros, block).SerializeToString()
    net, exact = mx.onnx.load(contents), mx.onnx.load(contents, precision="float32")
    assert rounds_its_data(net) and not rounds_its_data(exact)
    for rows in (1, 5, 40):
        x = rng.randn(rows, 256).astype("float32")
        forms = [in_8_bits(x, block) @ floats, x.astype("float64") @ floats]
        bound = 2e-5 * np.abs(forms[1]).max()
        assert min(np.abs(net(x).asnumpy() - v).max() for v in forms) < bound
        assert np.abs(exact(x).asnumpy() - forms[1]).max() < bound


@pytest.mark.parametrize("kind, block, k", [(T.INT8, 8, 64), (T.UINT8, 24, 96), (T.UINT4, 32, 64)])
def test_other_blocks_keep_all_digits_of_the_data(kind, block, k):
    numbers, scale, zeros, _ = weight(np.random.RandomState(k), kind, k, 6, block, False)
    assert not rounds_its_data(mx.onnx.load(model(kind, numbers, scale, zeros, block).SerializeToString()))


@pytest.mark.parametrize("kind", [T.INT4, T.UINT8])
@pytest.mark.parametrize("form", ["Transpose", "Gemm", "Gemm transB", "Gemm Transpose"])
@pytest.mark.parametrize("with_zeros", [False, True])
def test_weights_that_are_turned(form, kind, with_zeros):
    """Blocks along the last axis behind a Transpose, as Olive writes them, and those of Gemm."""
    rng, k, n, block = np.random.RandomState(4), 64, 10, 16
    numbers, scale, zeros, floats = weight(rng, kind, k, n, block, with_zeros)
    turned = form != "Gemm"
    stored = [v if v is None or not turned else v.T for v in (numbers, scale, zeros)]
    inits = [tensor("w", kind, stored[0]), numpy_helper.from_array(np.ascontiguousarray(stored[1]), "s")]
    inits += [tensor("z", kind, stored[2])] if with_zeros else []
    bias = rng.randn(n).astype("float32")
    inits.append(numpy_helper.from_array(bias, "c"))
    nodes = [h.make_node("DequantizeLinear", ["w", "s"] + ["z"] * with_zeros, ["f"], axis=-1 if turned else 0, block_size=block)]
    if "Transpose" in form:
        nodes.append(h.make_node("Transpose", ["f"], ["t"], perm=[1, 0]))
    right = "t" if "Transpose" in form else "f"
    nodes.append(h.make_node("MatMul", ["x", right], ["y"]) if form == "Transpose" else
                 h.make_node("Gemm", ["x", right, "c"], ["y"], transB=int("transB" in form)))
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, ["n", k])], [h.make_tensor_value_info("y", T.FLOAT, ["n", n])],
                         inits)
    net = mx.onnx.load(h.make_model(graph, opset_imports=[h.make_opsetid("", 21)], ir_version=10).SerializeToString())
    for rows in (1, 20):
        x = rng.randn(rows, k).astype("float32")
        expected = x.astype("float64") @ floats + (0 if form == "Transpose" else bias)
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    assert '"_block_dense"' in net.convert()[0].tojson() and "plan of 1 nodes" in str(net.explain())


def test_scales_in_float16():
    rng = np.random.RandomState(5)
    numbers, scale, zeros, floats = weight(rng, T.INT4, 64, 6, 16, False)
    made = model(T.INT4, numbers, scale, zeros, 16)
    half = scale.astype("float16")
    made.graph.initializer[1].CopyFrom(numpy_helper.from_array(half, "s"))
    for value in (made.graph.input[0], made.graph.output[0]):
        value.type.tensor_type.elem_type = T.FLOAT16
    net = mx.onnx.load(made.SerializeToString())
    x = rng.randn(3, 64).astype("float16")
    y = net(x).asnumpy()
    assert y.dtype == np.float16
    expected = x.astype("float64") @ (numbers * np.repeat(half, 16, 0).astype("float64"))
    np.testing.assert_allclose(y, expected, rtol=2e-3, atol=2e-3 * np.abs(expected).max())
    symbol, _ = net.convert()[:2]
    assert '"_block_dense"' in symbol.tojson()


def test_data_of_three_dimensions_and_an_axis_from_the_end():
    rng = np.random.RandomState(0)
    numbers, scale, zeros, floats = weight(rng, T.INT4, 32, 6, 8, False)
    loaded = mx.onnx.load(model(T.INT4, numbers, scale, zeros, 8, axis=-2, rank=3).SerializeToString())
    x = rng.randn(2, 5, 32).astype("float32")
    np.testing.assert_allclose(loaded(x).asnumpy(), x.astype("float64") @ floats, rtol=1e-4, atol=1e-4)


def test_a_weight_that_others_read_is_there_in_floats():
    rng = np.random.RandomState(0)
    numbers, scale, zeros, floats = weight(rng, T.INT4, 32, 6, 8, True)
    loaded = mx.onnx.load(model(T.INT4, numbers, scale, zeros, 8, more=[h.make_node("Neg", ["f"], ["o"])]).SerializeToString())
    x = rng.randn(4, 32).astype("float32")
    y, negative = (v.asnumpy() for v in loaded.run({"x": x}).values())
    np.testing.assert_allclose(y, x.astype("float64") @ floats, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(negative, -floats, rtol=1e-6)


MEMORY = r"""
model = mx.onnx.load(sys.argv[1])
x = np.ones((4, 2048), "float32")
for _ in range(2):
    next(iter(model.run({"x": x}).values())).asnumpy()
print(resident("VmRSS") - before)
"""


def test_blocks_of_4_bits_are_no_floats_in_memory(tmp_path):
    """Eight layers of 2048 x 2048: 16 MiB in 4 bits, 128 in float32."""
    rng, path = np.random.RandomState(0), str(tmp_path / "m.onnx")
    nodes, inits, x = [], [], "x"
    packed = rng.randint(0, 256, 2048 * 1024).astype("uint8").tobytes()
    scale = np.full((64, 2048), 0.001, "float32")
    for i in range(8):
        inits += [h.make_tensor(f"w{i}", T.INT4, (2048, 2048), packed, raw=True), numpy_helper.from_array(scale, f"s{i}")]
        nodes += [h.make_node("DequantizeLinear", [f"w{i}", f"s{i}"], [f"f{i}"], axis=0, block_size=32),
                  h.make_node("MatMul", [x, f"f{i}"], [f"y{i}"])]
        x = f"y{i}"
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, ["n", 2048])],
                         [h.make_tensor_value_info(x, T.FLOAT, ["n", 2048])], inits)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 21)], ir_version=10), path)
    assert figures(path, MEMORY)[0] < 80


def test_bytes_without_sign_are_moved_in_bytes(tmp_path):
    """Eight layers of 2048 x 2048 bytes, 32 MiB, whose numbers less 120 need two int8 weights."""
    rng, path = np.random.RandomState(0), str(tmp_path / "m.onnx")
    nodes, x = [], "x"
    inits = [tensor("z", T.UINT8, np.array([120])), numpy_helper.from_array(np.array([0.001], "float32"), "s")]
    for i in range(8):
        inits.append(numpy_helper.from_array(rng.randint(0, 256, (2048, 2048)).astype("uint8"), f"w{i}"))
        nodes += [h.make_node("DynamicQuantizeLinear", [x], [f"q{i}", f"a{i}", f"b{i}"]),
                  h.make_node("MatMulInteger", [f"q{i}", f"w{i}", f"b{i}", "z"], [f"m{i}"]),
                  h.make_node("Cast", [f"m{i}"], [f"c{i}"], to=1),
                  h.make_node("Mul", [f"a{i}", "s"], [f"t{i}"]), h.make_node("Mul", [f"c{i}", f"t{i}"], [f"y{i}"])]
        x = f"y{i}"
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, ["n", 2048])],
                         [h.make_tensor_value_info(x, T.FLOAT, ["n", 2048])], inits)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), path)
    assert figures(path, MEMORY)[0] < 130   # the file's pages, and both weights


# ---- many rows, and what stands behind a layer

def microsoft(bits, k, n, block, with_zeros, rng):
    """MatMulNBits: its weights by name, the node, and what they stand for."""
    blocks = k // block
    packed = rng.randint(0, 256, (n, blocks, block * bits // 8)).astype("uint8")
    zeros = rng.randint(0, 256, (n, -(-blocks * bits // 8))).astype("uint8")
    scale = (rng.rand(n * blocks) * 0.1 + 0.01).astype("float32")

    def numbers(bytes_):  # the low bits first
        places = [(bytes_[..., None] >> (i * bits)) & (2 ** bits - 1) for i in range(8 // bits)]
        return np.concatenate(places, -1).reshape(*bytes_.shape[:-1], -1).astype("float64")

    zero = numbers(zeros)[:, :blocks, None] if with_zeros else 2 ** (bits - 1)
    floats = ((numbers(packed) - zero) * scale.reshape(n, blocks, 1)).reshape(n, k).T
    node = h.make_node("MatMulNBits", ["x", "w", "s"] + ["z"] * with_zeros, ["m"], domain="com.microsoft", K=k, N=n, bits=bits,
                       block_size=block)
    weights = {"w": packed, "s": scale, **({"z": zeros} if with_zeros else {})}
    return node, weights, floats


def loaded(nodes, weights, k, inputs=("x",)):
    inits = [numpy_helper.from_array(a, name) for name, a in weights.items()]
    info = [h.make_tensor_value_info(name, T.FLOAT, None if name != "x" else ["n", k]) for name in inputs]
    graph = h.make_graph(nodes, "g", info, [h.make_tensor_value_info(nodes[-1].output[0], T.FLOAT, None)], inits)
    opsets = [h.make_opsetid("", 21), h.make_opsetid("com.microsoft", 1)]
    return mx.onnx.load(h.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString())


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("bits, block", [(2, 8), (2, 64), (4, 16), (4, 32), (8, 4), (8, 128)])
@pytest.mark.parametrize("k, n", [(128, 7), (1152, 33), (2048, 50), (256, 112)])
def test_many_rows(bits, block, k, n, with_zeros):
    """More rows than are multiplied as they lie: panels of floats, also of several parts of a row
    (k > 1024), rows that are a power of two apart, and a last panel of one to three vectors."""
    node, weights, floats = microsoft(bits, k, n, block, with_zeros, np.random.RandomState(bits * k + n))
    model = loaded([node], weights, k)
    for rows in (8, 13, 17, 31, 530):
        x = np.random.RandomState(rows).randn(rows, k).astype("float32")
        expected = x.astype("float64") @ floats
        np.testing.assert_allclose(model(x).asnumpy(), expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("bits, block", [(2, 16), (2, 512), (4, 16), (4, 32), (4, 256), (8, 8), (8, 32), (8, 256)])
@pytest.mark.parametrize("k, n", [(1536, 7), (9216, 33), (512, 70)])
def test_data_in_8_bits(bits, block, k, n, with_zeros):
    """accuracy_level 4: data is rounded, a scale for each block, where a processor gains by it."""
    node, weights, floats = microsoft(bits, k, n, block, with_zeros, np.random.RandomState(bits * k + n))
    node.attribute.append(h.make_attribute("accuracy_level", 4))
    model = loaded([node], weights, k)
    for rows in (1, 2, 3, 4, 13, 515):
        x = np.random.RandomState(rows).randn(rows, k).astype("float32")
        got = model(x).asnumpy()
        forms = [v @ floats for v in (in_8_bits(x, block), x.astype("float64"))]
        assert min(np.abs(got - v).max() for v in forms) < 2e-5 * np.abs(forms[1]).max()


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("k, n, block", [(2048, 37, 32), (1152, 6, 128), (96, 3, 4), (1536, 70, 256)])
def test_few_rows_keep_all_digits_of_floats(k, n, block, with_zeros):
    """Also where a block's numbers are a millionth of its largest, and where all are tiny or 0."""
    rng = np.random.RandomState(k + n)
    node, weights, floats = microsoft(8, k, n, block, with_zeros, rng)
    net = loaded([node], weights, k)
    for rows in (1, 2, 3):
        for x in (rng.randn(rows, k), rng.randn(rows, k) * 10.0 ** rng.randint(-6, 1, k), rng.randn(rows, k) * 1e-33,
                  np.where(np.arange(k) < block, 0, rng.randn(rows, k))):
            x = x.astype("float32")
            bound = np.abs(x.astype("float64")) @ np.abs(floats)    # of sums without signs
            assert (np.abs(net(x).asnumpy() - x.astype("float64") @ floats) <= 1e-6 * bound + 1e-38).all()
    x[0, 5] = np.inf
    got = net(x).asnumpy()
    assert not np.isfinite(got[0]).any() and np.isfinite(got[1:]).all()


@pytest.mark.parametrize("rows", [1, 30])
@pytest.mark.parametrize("level", [0, 4])
def test_what_is_no_number_stays_in_its_row(rows, level):
    node, weights, _ = microsoft(4, 256, 40, 32, True, np.random.RandomState(0))
    node.attribute.append(h.make_attribute("accuracy_level", level))
    x = np.random.RandomState(rows).randn(rows + 1, 256).astype("float32")
    x[0, 77] = np.nan
    got = loaded([node], weights, 256)(x).asnumpy()
    assert np.isnan(got[0]).all() and np.isfinite(got[1:]).all()


def functions():
    """What nodes behind a layer compute, by name: their inputs beside "b", outputs, and NumPy."""
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    erf = np.vectorize(math.erf)
    return {"Relu": ([h.make_node("Relu", ["b"], ["y"])], lambda v: np.maximum(v, 0)),
            "Clip": ([h.make_node("Clip", ["b", "low", "high"], ["y"])], lambda v: np.clip(v, -0.5, 2)),
            "Gelu": ([h.make_node("Gelu", ["b"], ["y"])], lambda v: v * (1 + erf(v / np.sqrt(2))) / 2),
            "SiLU": ([h.make_node("Sigmoid", ["b"], ["t"]), h.make_node("Mul", ["b", "t"], ["y"])], lambda v: v * sigmoid(v)),
            "residual": ([h.make_node("Add", ["r", "b"], ["y"])], None)}


@pytest.mark.parametrize("rows", [1, 3, 70])
@pytest.mark.parametrize("name", list(functions()))
@pytest.mark.parametrize("level", [0, 4])
def test_what_follows_a_layer_is_part_of_it(name, rows, level):
    rng = np.random.RandomState(1)
    node, weights, floats = microsoft(4, 1280, 70, 32, True, rng)
    node.attribute.append(h.make_attribute("accuracy_level", level))
    weights.update(b0=rng.randn(70).astype("float32"), low=np.float32(-0.5), high=np.float32(2))
    behind, compute = functions()[name]
    inputs = {"x": rng.randn(rows, 1280).astype("float32") * 0.02}
    if compute is None:
        inputs["r"] = rng.randn(rows, 70).astype("float32")
    model = loaded([node, h.make_node("Add", ["m", "b0"], ["b"]), *behind], weights, 1280, list(inputs))
    sums = inputs["x"].astype("float64") @ floats + weights["b0"]
    expected = compute(sums) if compute else sums + inputs["r"]
    got = next(iter(model.run(inputs).values())).asnumpy()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=2e-2 if level else 1e-4)
    assert "plan of 1 nodes" in str(model.explain())
    assert "_fused_block_dense" in str(model.explain(runs=0).plans[0])


def test_a_layer_between_steps_of_a_file_takes_what_follows():
    """DequantizeLinear, MatMul, Add, Gelu."""
    rng = np.random.RandomState(3)
    numbers, scale, _, floats = weight(rng, T.INT4, 64, 64, 16, False)
    bias = rng.randn(64).astype("float32")
    more = [h.make_node("Add", ["y", "b"], ["a"]), h.make_node("Gelu", ["a"], ["g"])]
    made = model(T.INT4, numbers, scale, None, 16, more=more)
    made.graph.initializer.append(numpy_helper.from_array(bias, "b"))
    del made.graph.output[:2]
    net = mx.onnx.load(made.SerializeToString())
    x = rng.randn(20, 64).astype("float32")
    sums = x.astype("float64") @ floats + bias
    expected = sums * (1 + np.vectorize(math.erf)(sums / np.sqrt(2))) / 2
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-4)
    assert "plan of 1 nodes" in str(net.explain())


def test_numbers_behind_a_packed_layer_are_not_folded_into_its_weight():
    node, weights, floats = microsoft(4, 64, 5, 32, False, np.random.RandomState(0))
    net = loaded([node, h.make_node("Mul", ["m", "c"], ["y"])], {**weights, "c": np.float32(0.5)}, 64)
    x = np.random.RandomState(1).randn(3, 64).astype("float32")
    np.testing.assert_allclose(net(x).asnumpy(), x.astype("float64") @ floats / 2, rtol=1e-4, atol=1e-4)
