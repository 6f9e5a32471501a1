"""Models of ai.onnx.ml: trees, linear models, support vector machines, encoders."""

import numpy as np
import pytest

import mxnet as mx
from import_checks import LEARNING, MICROSOFT, check, model, node, onnx, ours, theirs

RANDOM = np.random.RandomState(0)


def floats(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def trees(first, count, targets, modes=("BRANCH_LEQ",), depth=3, features=4, positive=False):
    """Attributes of full trees of random splits, whose leaves weigh for random targets. ONNX
    Runtime forgets base values of targets that no tree weighs for, so let there be many trees."""
    made = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                            "falsenodeids", "missing_value_tracks_true")}
    leaves = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
    inner = 2 ** depth - 1
    for tree in range(count):
        for n in range(2 * inner + 1):
            leaf = n >= inner
            values = (tree, n, 0 if leaf else RANDOM.randint(features),
                      0.0 if leaf else float(np.float32(RANDOM.randn())),
                      "LEAF" if leaf else modes[RANDOM.randint(len(modes))],
                      0 if leaf else 2 * n + 1, 0 if leaf else 2 * n + 2,
                      0 if leaf else RANDOM.randint(2))
            for key, value in zip(made, values):
                made[key].append(value)
            if leaf:
                weight = RANDOM.rand() if positive else RANDOM.randn()
                for key, value in zip(leaves, (tree, n, RANDOM.randint(targets), weight)):
                    leaves[key].append(value)
    return {**{"nodes_" + k: v for k, v in made.items()},
            **{first + "_" + k: v for k, v in leaves.items()}}


@pytest.mark.parametrize("modes", [("BRANCH_LEQ",), ("BRANCH_LT",), ("BRANCH_GT", "BRANCH_GTE")])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE"])
def test_tree_regressors(modes, aggregate):
    made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=3, aggregate_function=aggregate,
                base_values=[0.5, 0.25, -1.0], **trees("target", 60, 3, modes), **LEARNING)
    x = floats(20, 4)
    x[3, 1] = np.nan
    check(made, {"x": x}, rtol=1e-4)


@pytest.mark.parametrize("post", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
def test_tree_classifiers(post):
    made = node("TreeEnsembleClassifier", ["x"], ["y", "y_scores"], post_transform=post,
                classlabels_int64s=[3, 5, 7], **trees("class", 60, 3), **LEARNING)
    check(made, {"x": floats(20, 4)})


@pytest.mark.parametrize("positive", [False, True])
def test_trees_of_two_classes(positive):
    made = node("TreeEnsembleClassifier", ["x"], ["y", "y_scores"], post_transform="NONE",
                classlabels_int64s=[0, 1], **trees("class", 2, 1, positive=positive), **LEARNING)
    check(made, {"x": floats(20, 4)})


def test_labels_that_are_strings():
    made = node("TreeEnsembleClassifier", ["x"], ["y", "y_scores"], post_transform="NONE",
                classlabels_strings=["a", "b", "c"], **trees("class", 60, 3), **LEARNING)
    feeds = {"x": floats(20, 4)}
    data = model([made], feeds, {})
    want, got = theirs(data, feeds), ours(data, feeds)
    assert list(map(str, got[0])) == list(map(str, want[0]))
    np.testing.assert_allclose(got[1], want[1], rtol=1e-4)


def test_a_circle_is_an_error():
    broken = trees("target", 1, 1, depth=1)
    broken["nodes_truenodeids"][0] = 0
    made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, **broken, **LEARNING)
    feeds = {"x": floats(2, 4)}
    with pytest.raises(mx.MXNetError, match="lead to themselves"):
        ours(model([made], feeds, {}), feeds)


@pytest.mark.parametrize("classes, rows, post", [
    (2, 1, "LOGISTIC"), (3, 3, "NONE"), (3, 3, "LOGISTIC"), (3, 3, "SOFTMAX")])
def test_linear_classifiers(classes, rows, post):
    made = node("LinearClassifier", ["x"], ["y", "y_scores"], post_transform=post,
                coefficients=floats(rows * 4).tolist(), intercepts=floats(rows).tolist(),
                classlabels_ints=list(range(classes)), **LEARNING)
    check(made, {"x": floats(9, 4)})


@pytest.mark.parametrize("kernel", ["RBF", "POLY", "SIGMOID", "LINEAR"])
def test_support_vectors(kernel):
    made = node("SVMRegressor", ["x"], ["y"], kernel_type=kernel, kernel_params=[0.3, 0.5, 2.0],
                coefficients=floats(6).tolist(), support_vectors=floats(24).tolist(), rho=[0.3],
                n_supports=6, **LEARNING)
    check(made, {"x": floats(9, 4)})
    made = node("SVMClassifier", ["x"], ["y", "y_scores"], kernel_type=kernel,
                kernel_params=[0.3, 0.5, 2.0], coefficients=floats(12).tolist(),
                support_vectors=floats(24).tolist(), rho=floats(3).tolist(),
                vectors_per_class=[2, 3, 1], classlabels_ints=[0, 1, 2], **LEARNING)
    check(made, {"x": floats(9, 4)}, rtol=1e-3)


def test_numbers_that_are_changed():
    x = floats(5, 4)
    check(node("Scaler", ["x"], ["y"], offset=floats(4).tolist(), scale=[2.0, 1.0, 3.0, 0.5], **LEARNING),
          {"x": x})
    for norm in ("L1", "L2"):
        check(node("Normalizer", ["x"], ["y"], norm=norm, **LEARNING), {"x": x})
    holes = x.copy()
    holes[1, 2] = np.nan
    made = node("Imputer", ["x"], ["y"], imputed_value_floats=[1.0, 2.0, 3.0, 4.0],
                replaced_value_float=float("nan"), **LEARNING)
    check(made, {"x": holes})
    check(node("OneHotEncoder", ["x"], ["y"], cats_int64s=[1, 3, 4], zeros=1, **LEARNING),
          {"x": np.array([[1, 4], [2, 3]])})
    made = node("LabelEncoder", ["x"], ["y"], keys_int64s=[1, 3], values_floats=[0.5, 1.5],
                default_float=-1.0, **LEARNING)
    check(made, {"x": np.array([3, 2, 1])})
    made = node("FeatureVectorizer", ["x", "z"], ["y"], inputdimensions=[4, 2], **LEARNING)
    check(made, {"x": x, "z": floats(5, 2)})


@pytest.mark.parametrize("kernel", ["RBF", "POLY", "SIGMOID", "LINEAR"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_support_vectors_with_probabilities(kernel, dtype):
    made = node("SVMClassifier", ["x"], ["y", "y_scores"], kernel_type=kernel,
                kernel_params=[0.3, 0.5, 2.0], coefficients=floats(12).tolist(),
                support_vectors=floats(24).tolist(), rho=floats(3).tolist(),
                prob_a=[-1.2, -0.7, -2.0], prob_b=[0.1, -0.2, 0.3],
                vectors_per_class=[2, 3, 1], classlabels_ints=[4, 1, 2], **LEARNING)
    x = floats(9, 4).astype(dtype)
    check(made, {"x": x}, rtol=1e-3, atol=1e-4)
    loaded = mx.onnx.load(model([made], {"x": x}, {}))
    whole = loaded.run({"x": x})["y_scores"].asnumpy()
    again = loaded.run({"x": x + 1})["y_scores"].asnumpy()  # vectors are kept, scores are not
    assert np.abs(again - whole).max() > 1e-3
    np.testing.assert_allclose(whole.sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["RBF", "LINEAR"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("per_class", [[64, 64], [1, 62], [70, 60]])
def test_many_support_vectors(kernel, dtype, per_class):
    """Their sums stay in registers for 64 vectors at a time, and for what is left."""
    count, features = sum(per_class), 5
    made = node("SVMClassifier", ["x"], ["y", "y_scores"], kernel_type=kernel, kernel_params=[0.05, 0.0, 2.0],
                coefficients=(floats(count) / 8).tolist(), support_vectors=floats(count * features).tolist(), rho=[0.1],
                prob_a=[-1.2], prob_b=[0.1], vectors_per_class=per_class, classlabels_ints=[0, 1], **LEARNING)
    check(made, {"x": floats(9, features).astype(dtype)}, rtol=1e-3, atol=1e-4)


def test_support_vectors_for_any_number_of_rows():
    """What a converter keeps of a node serves plans for other shapes."""
    made = node("SVMClassifier", ["x"], ["y", "y_scores"], kernel_type="RBF", kernel_params=[0.3, 0.5, 2.0],
                coefficients=floats(12).tolist(), support_vectors=floats(24).tolist(), rho=floats(3).tolist(),
                vectors_per_class=[2, 3, 1], classlabels_ints=[0, 1, 2], **LEARNING)
    given = onnx.load_from_string(model([made], {"x": floats(1, 4)}, {}))
    given.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    loaded, x = mx.onnx.load(given.SerializeToString()), floats(9, 4)
    whole = loaded.run({"x": x})
    for rows in (1, 3, 9, 2):
        some = loaded.run({"x": x[:rows]})
        for name in ("y", "y_scores"):
            np.testing.assert_allclose(some[name].asnumpy(), whole[name].asnumpy()[:rows], rtol=1e-4, atol=1e-5)


def made_trees(weights, n_targets=1, **attributes):
    """A tree of one split at 0, whose leaves have these weights: (leaf, target, weight)."""
    leaves = {"target_" + k: list(v) for k, v in zip(("nodeids", "ids", "weights"), zip(*weights))}
    return node("TreeEnsembleRegressor", ["x"], ["y"], nodes_treeids=[0] * 3,
                nodes_nodeids=[0, 1, 2], nodes_featureids=[0] * 3, nodes_values=[0.0] * 3,
                nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0],
                nodes_falsenodeids=[2, 0, 0], target_treeids=[0] * len(weights),
                n_targets=n_targets, **leaves, **attributes, **LEARNING)


@pytest.mark.parametrize("aggregate", ["SUM", "MIN", "MAX"])
def test_leaves_that_repeat_a_weight(aggregate):
    """skl2onnx finds the numbers of leaves so: of one target the first weight counts."""
    x = np.array([[-1], [1]], np.float32)
    one = made_trees([(1, 0, 2.0), (1, 0, 5.0), (2, 0, 7.0)], aggregate_function=aggregate)
    check(one, {"x": x})
    two = made_trees([(1, 0, 2.0), (1, 0, 5.0), (1, 1, 3.0), (2, 0, 7.0), (2, 1, 1.0)],
                     aggregate_function=aggregate, n_targets=2)
    check(two, {"x": x})


def test_strings_without_elements():
    empty = np.empty((0, 2), object)
    for made, shape in ((node("ArrayFeatureExtractor", ["x", "i"], ["y"], **LEARNING), (0, 1)),
                        (node("Gather", ["x", "i"], ["y"], axis=1), (0, 1)),
                        (node("Concat", ["x", "x"], ["y"], axis=0), (0, 2))):
        data = model([made], {"x": empty}, {"i": np.array([1])})
        got = ours(data, {"x": empty})[0]
        assert got.shape == shape and got.dtype == object


def test_nan_has_no_sign():
    x = np.array([[-2, np.nan, 0, 3]], np.float32)
    check(node("Sign", ["x"], ["y"]), {"x": x})
    check(node("Sign", ["x"], ["y"]), {"x": np.array([-2, 0, 3])})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean"])
def test_distances(metric, dtype):
    rows = {"x": floats(5, 4).astype(dtype), "z": floats(3, 4).astype(dtype)}
    made = node("CDist", ["x", "z"], ["y"], metric=metric, **MICROSOFT)
    check(made, rows)
    check(made, {"x": rows["x"]}, {"z": rows["z"]})
    assert ours(model([made], {**rows, "x": rows["x"][:0]}, {}), {**rows, "x": rows["x"][:0]})[0].shape == (0, 3)


def test_a_range_without_steps():
    check(node("Range", ["x", "z"], ["y"], **MICROSOFT), {"x": np.array(2), "z": np.array(6)})


def test_base_values_of_classes_without_leaves():
    """Four classes, of which leaves weigh for two."""
    made = node("TreeEnsembleClassifier", ["x"], ["y", "y_scores"], post_transform="SOFTMAX",
                classlabels_int64s=[2, 4, 6, 8], base_values=[0.1, 0.2, 0.3, 0.4],
                nodes_treeids=[0] * 3, nodes_nodeids=[0, 1, 2], nodes_featureids=[0] * 3,
                nodes_values=[0.0] * 3, nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
                nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
                class_treeids=[0, 0], class_nodeids=[1, 2], class_ids=[0, 1],
                class_weights=[5.0, 7.0], **LEARNING)
    x = np.array([[-1], [1]], np.float32)
    labels, scores = ours(model([made], {"x": x}, {}), {"x": x})
    assert labels.tolist() == [2, 4]
    sums = np.array([[5.1, 0.2, 0.3, 0.4], [0.1, 7.2, 0.3, 0.4]])
    np.testing.assert_allclose(scores, np.exp(sums) / np.exp(sums).sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("target", [-1, 1 << 30, (1 << 63) - 1])
def test_a_target_that_is_not_there(target):
    made = made_trees([(1, 0, 2.0), (2, target, 7.0)])
    x = np.array([[-1], [1]], np.float32)
    with pytest.raises(mx.MXNetError, match=f"target {target} is not there"):
        ours(model([made], {"x": x}, {}), {"x": x})


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("modes", [("BRANCH_LEQ",), ("BRANCH_LT", "BRANCH_EQ", "BRANCH_GT")])
def test_an_example_has_its_scores_in_any_batch(targets, aggregate, modes):
    made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=targets,
                aggregate_function=aggregate, **trees("target", 21, targets, modes, depth=4), **LEARNING)
    x = floats(301, 4)
    x[RANDOM.rand(301) < 0.1, 2] = np.nan
    one_by_one = np.concatenate([ours(model([made], {"x": x[:1]}, {}), {"x": x[i:i + 1]})[0]
                                 for i in range(40)])
    for count in (2, 7, 15, 16, 17, 40, 301):
        got = ours(model([made], {"x": x[:count]}, {}), {"x": x[:count]})[0]
        np.testing.assert_array_equal(got[:40], one_by_one[:count])
    want = theirs(model([made], {"x": x}, {}), {"x": x})[0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


# Where nodes ask alike once questions are turned, and where they do not.
QUESTIONS = [("BRANCH_LEQ",), ("BRANCH_LT",), ("BRANCH_GT",), ("BRANCH_GTE",), ("BRANCH_EQ",), ("BRANCH_NEQ",),
             ("BRANCH_LEQ", "BRANCH_GT"), ("BRANCH_LT", "BRANCH_GTE"),
             ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ")]


@pytest.mark.parametrize("modes", QUESTIONS)
@pytest.mark.parametrize("tracks", ["no", "yes", "both", "absent"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_every_number_goes_where_its_node_says(modes, tracks, dtype):
    """NaN, infinities, zeros of both signs and numbers equal to those of nodes; by one row,
    by vectors of rows (tree_tops.h) and by blocks of them."""
    for depth in (1, 2, 5, 7):
        made = trees("target", 9, 1, modes, depth=depth, features=3)
        values = np.array(made["nodes_values"]).round() + 0.0
        made["nodes_values"] = [float(v) for v in values]
        if tracks == "absent":
            del made["nodes_missing_value_tracks_true"]
        elif tracks != "both":
            made["nodes_missing_value_tracks_true"] = [int(tracks == "yes")] * len(values)
        made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, **made, **LEARNING)
        x = RANDOM.randint(-2, 3, (150, 3)).astype(dtype)
        if dtype != "int64":
            for hole in (np.nan, np.inf, -np.inf, -0.0):
                x[RANDOM.rand(*x.shape) < 0.1] = hole
        known = x.astype("float32") if dtype == "int64" else x   # onnxruntime refuses integers here
        want = theirs(model([made], {"x": known}, {}), {"x": known})[0]
        for rows in (150, 17, 4, 3, 1, 0):
            got = ours(model([made], {"x": x[:rows]}, {}), {"x": x[:rows]})[0]
            np.testing.assert_allclose(got, want[:rows], rtol=1e-5, atol=1e-5)


def test_values_that_are_nan():
    """Nothing is below, equal to or above them; other nodes ask as before."""
    made = trees("target", 12, 1, ("BRANCH_LEQ",), depth=5)
    for i, mode in enumerate(made["nodes_modes"]):
        if mode != "LEAF" and i % 5 == 0:
            made["nodes_values"][i] = float("nan")
    made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, **made, **LEARNING)
    x = floats(33, 4)
    x[RANDOM.rand(33, 4) < 0.2] = np.nan
    check(made, {"x": x}, rtol=1e-5, atol=1e-5)


def test_forests_that_threads_divide():
    """So many trees that also one example is for several threads, with sums in the same order."""
    made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=2, **trees("target", 1500, 2, depth=6), **LEARNING)
    x = floats(40, 4)
    whole = ours(model([made], {"x": x}, {}), {"x": x})[0]
    for rows in (1, 2, 3):
        np.testing.assert_array_equal(ours(model([made], {"x": x[:rows]}, {}), {"x": x[:rows]})[0], whole[:rows])
    np.testing.assert_allclose(whole, theirs(model([made], {"x": x}, {}), {"x": x})[0], rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("depth", [1, 2, 7, 40])
@pytest.mark.parametrize("examples", [1, 9])
def test_ways_that_do_not_come_to_a_leaf_stay_inside(examples, depth):
    # Node 0 leads back to itself, node 1 to node 0. Values look like numbers of leaves that there
    # are not.
    nodes = mx.nd.array([[0, 0, 1], [0, 1, 0], [0, 1, 1]], dtype="int32")
    values = mx.nd.array(np.full(3, 0x3fffffff, "uint32").view("float32"))
    data = mx.nd.array(np.linspace(-3, 3, examples).reshape(-1, 1))
    roots, weights = mx.nd.array([0, 1, -5, 9], dtype="int32"), mx.nd.array([[1], [1]])
    score = mx.nd.contrib.tree_ensemble(data, nodes, values, roots, weights, depth=depth)
    assert (score.asnumpy() == 4).all()


def test_no_trees_score_zero():
    nodes, values = mx.nd.array([[0, 1, 2], [0, 1, 1], [16, 2, 2]], dtype="int32"), mx.nd.zeros(3)
    score = mx.nd.contrib.tree_ensemble(mx.nd.ones((2, 1)), nodes, values, mx.nd.zeros(0, dtype="int32"), mx.nd.ones((2, 3)), depth=1)
    assert score.shape == (2, 3) and not score.asnumpy().any()


@pytest.mark.parametrize("form", ["turned", "shuffled", "far"])
def test_nodes_in_any_order(form):
    """Nodes are found by their numbers, which may begin anywhere and lie in any order. ONNX Runtime
    refuses such models, so what the same trees score in order is right."""
    plain = trees("target", 7, 2, depth=4)
    made, x = dict(plain), {"x": floats(20, 4)}
    count, weights = len(made["nodes_modes"]), len(made["target_weights"])
    order = {"turned": np.arange(count)[::-1], "shuffled": RANDOM.permutation(count)}.get(form, np.arange(count))
    for key in [k for k in made if k.startswith("nodes_")]:
        made[key] = [made[key][i] for i in order]
    order = RANDOM.permutation(weights) if form == "shuffled" else np.arange(weights)
    for key in [k for k in made if k.startswith("target_")]:
        made[key] = [made[key][i] for i in order]
    if form == "far":
        for key in ("nodes_nodeids", "nodes_truenodeids", "nodes_falsenodeids", "target_nodeids"):
            made[key] = [3 * n + (1 << 40) for n in made[key]]
    scores = [ours(model([node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=2, **given, **LEARNING)], x, {}), x)[0]
              for given in (plain, made)]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-5, atol=1e-5)


def field(number, content):
    """A message within a message, as protobuf writes it."""
    length, size = len(content), b""
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + content


def scaler(offset, scale):
    """A model of one Scaler whose attributes have these bytes."""
    made = onnx.load_from_string(model([node("Scaler", ["x"], ["y"], **LEARNING)], {"x": floats(3, 4)}, {}))
    wire = made.graph.node[0].SerializeToString() + field(5, offset) + field(5, scale)
    del made.graph.node[0]
    graph = made.graph.SerializeToString() + field(1, wire)
    made.ClearField("graph")
    return made.SerializeToString() + field(7, graph)


def numbers(name, values):
    return onnx.AttributeProto(name=name, type="FLOATS", floats=values).SerializeToString()


def test_lists_as_protobuf_may_write_them():
    """With the field's tag before each number, packed, and in pieces with other fields between."""
    want, x = [1.0, 2.0, -3.0, 4.0], floats(3, 4)
    one = numbers("offset", want)
    packed = onnx.AttributeProto(name="offset", type="FLOATS").SerializeToString() + field(7, np.float32(want).tobytes())
    pieces = onnx.AttributeProto(floats=want[:2]).SerializeToString() + numbers("offset", want[2:])
    for offset in (one, packed, pieces):
        got = ours(scaler(offset, numbers("scale", [2.0])), {"x": x})[0]
        np.testing.assert_allclose(got, (x - np.float32(want)) * 2, rtol=1e-6)


@pytest.mark.parametrize("field_number, wire_type, tail", [(7, 5, b"\0\0\0"), (8, 0, b"\x80"), (8, 0, b"\x80" * 11 + b"\1"), (7, 5, b"")])
def test_lists_that_end_within_a_number(field_number, wire_type, tail):
    tag = bytes([field_number << 3 | wire_type])
    whole = tag + (b"\0" * 4 if wire_type == 5 else b"\1")
    with pytest.raises(mx.MXNetError):
        mx.onnx.load(scaler(numbers("offset", [1.0]), whole * 2 + tag + tail))


@pytest.mark.parametrize("child", [3, 99, -1, -1 << 63])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_node_that_is_not_there(child, shuffled):
    made = trees("target", 2, 1, depth=1)
    made["nodes_truenodeids"][3] = child
    if shuffled:
        made = {k: v[::-1] for k, v in made.items()}
    made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, **made, **LEARNING)
    with pytest.raises(mx.MXNetError, match=f"node {child} of tree 1 is not there"):
        ours(model([made], {"x": floats(2, 4)}, {}), {"x": floats(2, 4)})


def test_a_mode_that_is_not_there():
    made = trees("target", 1, 1, depth=1)
    made["nodes_modes"][0] = "BRANCH_MEMBER"
    made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, **made, **LEARNING)
    with pytest.raises(mx.MXNetError, match="BRANCH_MEMBER"):
        ours(model([made], {"x": floats(2, 4)}, {}), {"x": floats(2, 4)})


def packed_forms(net):
    """How often this process put weights into a kernel's form."""
    return net.explain(runs=0).plans[0].plan["stats"]["packed_forms"]


def test_new_shapes_do_not_pack_a_forest_again():
    """Each batch here comes once, so nodes run one by one."""
    made = node("TreeEnsembleRegressor", ["x"], ["y"], n_targets=1, **trees("target", 100, 1, depth=8), **LEARNING)
    data = onnx.load_from_string(model([made], {"x": floats(1, 4)}, {}))
    data.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    net, whole = mx.onnx.load(data.SerializeToString()), floats(40, 4)

    def call(rows):
        return net.run({"x": mx.nd.array(whole[:rows])})["y"].asnumpy()
    for _ in range(40):
        call(8)
    call(9)
    before = packed_forms(net)
    assert before > 0
    others = {rows: call(rows) for rows in range(10, 40)}
    assert "by recipes" in net.explain() and packed_forms(net) == before
    scores = call(40)
    for rows, found in others.items():
        np.testing.assert_array_equal(found, scores[:rows])


def test_trees_are_constants_and_what_reads_them_learns():
    """Leaves are as they are, also where a matrix behind them is trained."""
    trees = node("TreeEnsembleRegressor", ["x"], ["t"], n_targets=1, nodes_treeids=[0] * 3, nodes_nodeids=[0, 1, 2],
                 nodes_featureids=[0] * 3, nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values=[0.] * 3, nodes_truenodeids=[1, 0, 0],
                 nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1., 2.],
                 **LEARNING)
    x = np.array([[-1], [1], [2]], "f")
    data = model([trees, node("MatMul", ["t", "w"], ["y"])], {"x": x}, {"w": np.array([[3, 4]], "f")})
    block = mx.onnx.load(data).to_block()
    with mx.autograd.record():
        y = block(mx.nd.array(x))
    y.backward()
    np.testing.assert_array_equal(y.asnumpy(), [[3, 4], [6, 8], [6, 8]])
    (weight,) = [p for p in block.collect_params().values() if p.grad_req != "null"]
    np.testing.assert_array_equal(weight.grad().asnumpy().ravel(), [5, 5])
