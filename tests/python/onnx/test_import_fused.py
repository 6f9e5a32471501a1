"""Operators that ONNX Runtime's optimizer writes."""
import numpy as np
import pytest

from import_checks import MICROSOFT, check, node

RANDOM = np.random.RandomState(0)


def floats(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


X = floats(2, 5, 8)


@pytest.mark.parametrize("op, inputs, attributes", [
    ("BiasGelu", ["x", "b"], {}), ("FastGelu", ["x", "b"], {}), ("Gelu", ["x"], {}),
    ("QuickGelu", ["x"], {"alpha": 1.5})])
def test_activations(op, inputs, attributes):
    weights = {"b": floats(8)} if len(inputs) > 1 else {}
    check(node(op, inputs, ["y"], **attributes, **MICROSOFT), {"x": X}, weights)


def test_norms():
    weights = {"g": floats(8), "b": floats(8), "c": floats(8)}
    made = node("SkipLayerNormalization", ["x", "s", "g", "b", "c"], ["y", "", "", "y_sum"],
                epsilon=1e-5, **MICROSOFT)
    check(made, {"x": X, "s": floats(2, 5, 8)}, weights)
    made = node("SkipSimplifiedLayerNormalization", ["x", "s", "g"], ["y", "", "", "y_sum"],
                epsilon=1e-5, **MICROSOFT)
    check(made, {"x": X, "s": floats(2, 5, 8)}, {"g": floats(8)})
    made = node("SimplifiedLayerNormalization", ["x", "g"], ["y"], epsilon=1e-5, axis=-1)
    check(made, {"x": X}, {"g": floats(8)})


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("across", [0, 1])
def test_products(known, across):
    right = floats(6, 8) if across else floats(8, 6)
    made = node("FusedMatMul", ["x", "w"], ["y"], alpha=0.5, transB=across, **MICROSOFT)
    check(made, {"x": X} if known else {"x": X, "w": right}, {"w": right} if known else {})


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("batch_a,batch_b", [(1, 0), (0, 1), (1, 1)])
def test_products_whose_rows_come_before_the_batch(batch_a, batch_b, trans):
    def operand(rows, columns, moved, across):
        rows, columns = (columns, rows) if across else (rows, columns)
        return floats(rows, 2, 3, columns) if moved else floats(2, 3, rows, columns)

    made = node("FusedMatMul", ["a", "b"], ["y"], transBatchA=batch_a, transBatchB=batch_b,
                transA=trans, transB=trans, **MICROSOFT)
    check(made, {"a": operand(4, 5, batch_a, trans), "b": operand(5, 6, batch_b, trans)})


def test_layers_with_activations():
    made = node("FusedConv", ["x", "w", "b"], ["y"], activation="LeakyRelu",
                activation_params=[0.2], pads=[1, 1, 1, 1], kernel_shape=[3, 3], **MICROSOFT)
    check(made, {"x": floats(1, 3, 6, 6)}, {"w": floats(4, 3, 3, 3), "b": floats(4)})
    made = node("FusedGemm", ["x", "w", "b"], ["y"], activation="Relu", transB=1, alpha=0.5,
                beta=2.0, **MICROSOFT)
    check(made, {"x": floats(3, 4)}, {"w": floats(5, 4), "b": floats(5)})


def test_attention_of_packed_weights():
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 1]], np.int32)
    weights = {"w": floats(8, 24), "b": floats(24)}
    made = node("Attention", ["x", "w", "b", "m"], ["y"], num_heads=2, **MICROSOFT)
    check(made, {"x": X}, {**weights, "m": mask}, rtol=1e-3)
    made = node("Attention", ["x", "w", "b"], ["y"], num_heads=2, unidirectional=1, **MICROSOFT)
    check(made, {"x": X}, weights, rtol=1e-3)
    # what onnxruntime-genai's model builder writes for Whisper
    made = node("Attention", ["x", "w", "b"], ["y"], num_heads=2, do_rotary=0, rotary_embedding_dim=0, past_present_share_buffer=0,
                mask_filter_value=-10000.0, scale=0.3, unidirectional=0, **MICROSOFT)
    check(made, {"x": X}, weights, rtol=1e-3)


def test_attention_of_three_inputs():
    feeds = {"q": floats(2, 3, 8), "k": floats(2, 4, 8), "v": floats(2, 4, 8)}
    check(node("MultiHeadAttention", ["q", "k", "v"], ["y"], num_heads=2, **MICROSOFT), feeds)
    made = node("MultiHeadAttention", ["q", "k", "v", "b", "m"], ["y"], num_heads=2, **MICROSOFT)
    mask = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
    check(made, feeds, {"b": floats(24), "m": mask}, rtol=1e-3)


def test_a_step_of_grouped_attention_with_a_cache():
    made = node("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "l", "t", "c", "s"],
                ["y", "y_k", "y_v"], num_heads=4, kv_num_heads=2, do_rotary=1, **MICROSOFT)
    feeds = {"q": floats(1, 1, 64), "k": floats(1, 1, 32), "v": floats(1, 1, 32),
             "pk": floats(1, 2, 3, 16), "pv": floats(1, 2, 3, 16)}
    weights = {"l": np.array([3], np.int32), "t": np.array([4], np.int32), "c": floats(16, 8),
               "s": floats(16, 8)}
    check(made, feeds, weights, rtol=1e-3)


def test_rotary_embedding():
    made = node("RotaryEmbedding", ["x", "p", "c", "s"], ["y"], **MICROSOFT)
    check(made, {"x": floats(1, 2, 3, 8)},
          {"p": np.array([[1, 2, 3]]), "c": floats(16, 4), "s": floats(16, 4)})


def test_embedding_with_norm():
    made = node("EmbedLayerNormalization", ["i", "sg", "w", "p", "s", "g", "b", "m"],
                ["y", "y_lengths"], epsilon=1e-5, **MICROSOFT)
    feeds = {"i": np.array([[1, 2, 3]], np.int32), "sg": np.array([[0, 1, 1]], np.int32)}
    check(made, feeds, {"w": floats(9, 8), "p": floats(9, 8), "s": floats(2, 8), "g": floats(8),
                        "b": floats(8), "m": np.array([[1, 1, 0]], np.int32)})
