"""The plan compiler's passes: each gives what the graph without it gives, is seen in the plan, and leaves parameters alone."""
import contextlib
import re

import numpy as np
import pytest

import mxnet as mx


@contextlib.contextmanager
def off(*names):
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", ",".join(names))
    try:
        yield
    finally:
        mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")


def bind(net, shapes, train=False, dtype="float32", seed=0, dtypes=None):
    """An executor with the same random arrays whenever it is called with the same arguments."""
    rng = np.random.RandomState(seed)
    types = {n: dtype for n in net.list_arguments()}
    types.update(dtypes or {})
    e = net.simple_bind(mx.cpu(), grad_req="write" if train else "null", type_dict=types, **shapes)
    for name in sorted(e.arg_dict):
        e.arg_dict[name][:] = rng.uniform(-1, 1, e.arg_dict[name].shape)
    for name in sorted(e.aux_dict):
        e.aux_dict[name][:] = rng.uniform(0.5, 1.5, e.aux_dict[name].shape)
    return e


def run(e, train=False, **inputs):
    outputs = [o.asnumpy() for o in e.forward(is_train=train, **inputs)]
    if train:
        e.backward([mx.nd.array(np.linspace(-1, 1, o.size).reshape(o.shape), dtype=o.dtype) for o in e.outputs])
        outputs += [e.grad_dict[n].asnumpy() for n in sorted(e.grad_dict) if e.grad_dict[n] is not None]
    return outputs


def operators(e):
    """Operator of every node of the plan, in order."""
    return [line.split()[1] for line in e.debug_str().splitlines() if line[:1].isdigit()]


def compare(net, shapes, passes, tolerance=1e-5, train=False, dtype="float32", fewer=True, **kwargs):
    """(with the passes, without them) after checking that the results agree. tolerance 0: to the bit."""
    with off("fuse_pointwise", *passes):
        plain = bind(net, shapes, train, dtype, **kwargs)
        expected = run(plain, train)
    fused = bind(net, shapes, train, dtype, **kwargs)
    before = {n: a.asnumpy() for n, a in fused.arg_dict.items()}
    actual = run(fused, train)
    assert len(actual) == len(expected) and (not fewer or len(operators(fused)) < len(operators(plain))), fused.debug_str()
    for a, b in zip(actual, expected):
        assert a.dtype == b.dtype
        if tolerance:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(a, b)
    for n, a in before.items():
        np.testing.assert_array_equal(a, fused.arg_dict[n].asnumpy())
    # parameters changed afterwards are respected
    for e in (plain, fused):
        for n in e.arg_dict:
            e.arg_dict[n][:] = e.arg_dict[n] * 0.5 + 0.1
        for n in e.aux_dict:
            e.aux_dict[n][:] = e.aux_dict[n] + 0.25
    for a, b in zip(run(fused, train), run(plain, train)):
        np.testing.assert_allclose(a, b, rtol=tolerance or 1e-6, atol=tolerance or 1e-6)
    return fused, plain


X = mx.sym.Variable("x")

ACTIVATIONS = {
    "relu": lambda s: mx.sym.Activation(s, act_type="relu"),
    "relu_op": mx.sym.relu,
    "sigmoid": lambda s: mx.sym.Activation(s, act_type="sigmoid"),
    "tanh": mx.sym.tanh,
    "softrelu": lambda s: mx.sym.Activation(s, act_type="softrelu"),
    "gelu": lambda s: mx.sym.LeakyReLU(s, act_type="gelu"),
    "leaky": lambda s: mx.sym.LeakyReLU(s, act_type="leaky", slope=0.2),
    "elu": lambda s: mx.sym.LeakyReLU(s, act_type="elu", slope=0.7),
    "relu6": lambda s: mx.sym.clip(s * 8, 0, 6),
    "hard_sigmoid": lambda s: mx.sym.hard_sigmoid(s, alpha=0.3, beta=0.4),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("layer", ["dense", "convolution"])
def test_activation_joins_the_layer(layer, name):
    if layer == "dense":
        net, shapes, fused_name = mx.sym.FullyConnected(X, num_hidden=9, name="f"), {"x": (5, 7)}, "_fused_dense"
    else:
        net, shapes, fused_name = mx.sym.Convolution(X, num_filter=9, kernel=(3, 3), name="f"), {"x": (2, 3, 8, 8)}, "_fused_convolution"
    fused, plain = compare(ACTIVATIONS[name](net), shapes, ["fuse_dense", "fuse_convolution", "fold_scale_shift"])
    assert fused_name in operators(fused) and fused_name not in operators(plain)
    assert not {"Activation", "LeakyReLU", "clip", "relu", "tanh", "hard_sigmoid"} & set(operators(fused))


def expansion(filters=32, act=True, no_bias=False, kernel=(3, 3), pad=(1, 1), stride=(1, 1), groups=None, **more):
    s = mx.sym.Convolution(X, num_filter=filters, kernel=(1, 1), no_bias=no_bias, name="e")
    s = mx.sym.clip(s, 0, 6) if act else s
    s = mx.sym.Convolution(s, num_filter=filters, num_group=groups or filters, kernel=kernel, pad=pad, stride=stride, no_bias=not no_bias, name="d", **more)
    return mx.sym.relu(s) if act else s


@pytest.mark.parametrize("given", [{}, {"stride": (1, 1)}, {"pad": (1, 1)}, {"stride": (), "pad": (), "dilate": ()}])
def test_expansion_without_strides_or_pads(given):
    s = mx.sym.Convolution(X, num_filter=32, kernel=(1, 1), no_bias=True, name="e")
    net = mx.sym.Convolution(s, num_filter=32, num_group=32, kernel=(3, 3), no_bias=True, name="d", **given)
    fused, _ = compare(net, {"x": (2, 5, 7, 6)}, ["fuse_expansion"], fewer=False)
    assert "_fused_expand_depthwise" in operators(fused)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("act", [False, True])
def test_expansion_joins_the_depthwise_convolution(act, stride):
    shapes = {"x": (2, 5, 11, 13)}
    for no_bias in (False, True):
        net = mx.sym.Pooling(expansion(act=act, no_bias=no_bias, stride=(stride, stride)), kernel=(2, 2), pool_type="avg")
        fused, plain = compare(net, shapes, ["fuse_expansion", "fuse_convolution"], fewer=False)
        assert "_fused_expand_depthwise" in operators(fused) and "_fused_expand_depthwise" not in operators(plain)
        assert not {"Convolution", "_fused_convolution", "clip"} & set(operators(fused))
        with off("layout"):
            planes = bind(net, shapes)
            assert "_fused_expand_depthwise" in operators(planes) and "_to_layout" not in operators(planes)
            for name in plain.arg_dict:
                planes.arg_dict[name][:] = plain.arg_dict[name]
            np.testing.assert_allclose(run(planes)[0], run(plain)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("change", [dict(filters=24), dict(kernel=(3, 1), pad=(1, 0)), dict(kernel=(5, 5), pad=(2, 2)), dict(stride=(1, 2)), dict(dilate=(2, 2)), dict(groups=2),
                                    dict(pad=(2, 2))])
def test_other_pairs_of_convolutions_stay(change):
    assert "_fused_expand_depthwise" not in operators(bind(expansion(**change), {"x": (1, 4, 9, 9)}))


def test_expansion_that_others_read_stays():
    net = expansion(act=False)
    net = mx.sym.Group([net, net.get_internals()["e_output"]])
    assert "_fused_expand_depthwise" not in operators(bind(net, {"x": (1, 4, 9, 9)}))
    assert "_fused_expand_depthwise" not in operators(bind(expansion(), {"x": (1, 4, 9, 9)}, train=True))
    assert "_fused_expand_depthwise" not in operators(bind(expansion(), {"x": (1, 4, 9, 9)}, dtype="float64"))


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("side", [0, 1])
def test_addition_joins_the_dense_layer(side, no_bias, rows):
    dense = mx.sym.FullyConnected(X, num_hidden=6, flatten=False, no_bias=no_bias)
    other = mx.sym.exp(mx.sym.Variable("y"))
    net = mx.sym.relu(mx.sym.elemwise_add(dense, other) if side == 0 else mx.sym.broadcast_add(other, dense))
    fused, _ = compare(net, {"x": (rows, rows * rows, 5), "y": (rows, rows * rows, 6)}, ["fuse_dense"])
    assert operators(fused) == ["exp", "_fused_dense"]


def test_addition_that_broadcasts_stays():
    net = mx.sym.broadcast_add(mx.sym.FullyConnected(X, num_hidden=6), mx.sym.Variable("y"))
    for shape in [(1, 6), (3, 1)]:
        assert "_fused_dense" not in operators(bind(net, {"x": (3, 5), "y": shape}))
    # the layer's own result is the one that is broadcast
    assert "_fused_dense" not in operators(bind(net, {"x": (1, 5), "y": (3, 6)}))


def test_what_others_read_is_not_fused():
    dense = mx.sym.FullyConnected(X, num_hidden=6, name="f")
    assert "_fused_dense" not in operators(bind(mx.sym.Group([mx.sym.relu(dense), dense]), {"x": (3, 5)}))
    assert "_fused_dense" not in operators(bind(mx.sym.relu(dense), {"x": (3, 5)}, train=True))
    assert "_fused_dense" not in operators(bind(mx.sym.relu(dense), {"x": (3, 5)}, dtype="float64"))


NORMS = {
    "dense": (lambda: mx.sym.FullyConnected(X, num_hidden=6, no_bias=True), {}, {"x": (4, 5)}),
    "dense 3d": (lambda: mx.sym.FullyConnected(X, num_hidden=6, flatten=False), {"axis": -1}, {"x": (2, 3, 5)}),
    "convolution": (lambda: mx.sym.Convolution(X, num_filter=6, kernel=(3,), num_group=2), {}, {"x": (2, 4, 9)}),
    "channels last": (lambda: mx.sym.Convolution(X, num_filter=6, kernel=(3, 3), layout="NHWC"), {"axis": 3}, {"x": (2, 8, 8, 3)}),
}


@pytest.mark.parametrize("name", NORMS)
def test_norm_and_numbers_fold_into_the_layer(name):
    layer, norm, shapes = NORMS[name]
    net = 3 - mx.sym.BatchNorm(layer() * 0.5 + 0.25, fix_gamma=False, eps=1e-2, **norm) / 4
    fused, plain = compare(net, shapes, ["fold_scale_shift"], tolerance=2e-5)
    assert len(operators(fused)) == 2 and operators(fused)[0] == "_fold_scale_shift", fused.debug_str()
    assert "BatchNorm" in operators(plain)


def test_norm_over_another_axis_is_not_folded():
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(X, num_hidden=6, flatten=False), axis=1)
    assert "BatchNorm" in operators(bind(net, {"x": (2, 3, 5)}))
    # its mean is read by somebody
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(X, num_hidden=6), output_mean_var=True)
    assert "BatchNorm" in operators(bind(net, {"x": (2, 5)}))


def test_fused_operators_say_what_they_accept():
    # a graph that the compiler made can be read back; a wrong one is refused
    e = bind(mx.sym.relu(mx.sym.FullyConnected(X, num_hidden=3, name="f")), {"x": (2, 4)})
    text = e.get_optimized_symbol().tojson()
    again = mx.sym.load_json(text).bind(mx.cpu(), dict(e.arg_dict))
    np.testing.assert_array_equal(again.forward()[0].asnumpy(), e.forward()[0].asnumpy())
    for wrong in ["swoosh", "clip:1", "relu:1", "leaky:a"]:
        with pytest.raises(mx.MXNetError, match="accepted: relu"):
            mx.sym.load_json(re.sub(r'("post": *)"relu"', rf'\1"{wrong}"', text))


# ---- fuse_pointwise

def chain(x):
    return mx.sym.tanh(mx.sym.square(x * 0.5 + 1) - mx.sym.exp(-mx.sym.abs(x)))


def diamond(x):
    a, b = mx.sym.sigmoid(x), mx.sym.Activation(x, act_type="softrelu")
    c = mx.sym.elemwise_mul(a, b)
    return mx.sym.LeakyReLU(mx.sym.broadcast_maximum(c, a) + mx.sym.clip(b, 0.1, 0.9) * c, act_type="gelu")


def broadcasting(x):
    row, column, one = mx.sym.Variable("row"), mx.sym.Variable("column"), mx.sym.Variable("one")
    return mx.sym.relu(mx.sym.broadcast_mul(mx.sym.broadcast_add(mx.sym.broadcast_sub(x, row), column), one) ** 2 - 3)


POINTWISE = {"chain": (chain, {}), "diamond": (diamond, {}), "broadcasting": (broadcasting, {"row": (1, 1, 37), "column": (1, 50, 1), "one": (1,)})}


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise_graphs_run_as_one_operator(name, dtype, train):
    make, shapes = POINTWISE[name]
    fused, plain = compare(make(X), dict({"x": (3, 50, 37)}, **shapes), ["fuse_pointwise"], tolerance=0, train=train, dtype=dtype)
    assert "_fused_pointwise" in operators(fused) and "_fused_pointwise" not in operators(plain)
    if not train:
        assert operators(fused) == ["_fused_pointwise"]


def cast(x, dtype, op="Cast"):
    return getattr(mx.sym, op)(x, dtype=dtype)


def mixed(x):
    """Mixed precision: halves around float32, the casts' gradients too."""
    y = cast(mx.sym.exp(cast(cast(x, "float16", "amp_cast") * 1.1, "float32", "amp_cast")) + mx.sym.Variable("y"), "bfloat16")
    return mx.sym.tanh(cast(mx.sym.relu(y) * 3, "float32"))


def double(x):
    """float64 that ends in halves."""
    return cast(mx.sym.sin(cast(x, "float64") * 0.3) - cast(mx.sym.Variable("y"), "float64"), "float16")


def repeated(x):
    y = mx.sym.Variable("y")
    narrow = mx.sym.broadcast_axis(mx.sym.Variable("column"), axis=(0, 2), size=(3, 37))
    return mx.sym.tanh(mx.sym.broadcast_to(mx.sym.Variable("row"), shape=(3, 50, 37)) * 2 + narrow) - mx.sym.broadcast_like(mx.sym.Variable("one"), y) * x


def without_shape(x):
    """What the inputs broadcast to is smaller than the result."""
    return mx.sym.exp(mx.sym.broadcast_to(mx.sym.Variable("row"), shape=(3, 50, 37)) * 2)


def sums(x):
    y = mx.sym.Variable("y")
    return mx.sym.sigmoid(mx.sym.add_n(mx.sym.add_n(x * 3, y, x, x / 7), mx.sym.sin(x), y * y)) + mx.sym.add_n(x, mx.sym.cos(y), y)


SMALL = {"row": (1, 1, 37), "column": (1, 50, 1), "one": (1, 1, 1)}
# what, dtypes that differ from float32, operators left in inference
TAKEN_IN = {"mixed": (mixed, {}, 1), "double": (double, {}, 1), "double of halves": (double, {"x": "float16", "y": "bfloat16"}, 1), "double of integers": (double, {"x": "int32", "y": "int64"}, 1),
            "repeated": (repeated, {}, 1), "repeated halves": (repeated, dict.fromkeys(["x", "y", "row", "column", "one"], "float16"), 1), "without_shape": (without_shape, {}, 1),
            "sums": (sums, {}, 1), "sums of halves": (sums, {"x": "bfloat16", "y": "bfloat16"}, 1), "sums of doubles": (sums, {"x": "float64", "y": "float64"}, 1),
            "wide integers": (lambda x: cast(x, "float32") * 2 + 1, {"x": "int64"}, 1), "small integers": (lambda x: cast(x, "float16") * 2 + 1, {"x": "uint8"}, 1),
            "rounded twice": (lambda x: cast(x, "float16") * 2 + 1, {"x": "float64"}, 2), "rounded twice, integers": (lambda x: cast(x, "bfloat16") * 2 + 1, {"x": "int32"}, 2),
            "through int64": (lambda x: cast(x, "float32") * 2 + 1, {"x": "uint64"}, 2), "in between": (lambda x: cast(cast(mx.sym.exp(x), "float64") * 2, "float32") + 1, {}, 3)}


def filled(net, dtypes, req):
    """An executor with numbers that conversions have to round."""
    shapes = {n: SMALL.get(n, (3, 50, 37)) for n in net.list_arguments()}
    types = {n: dtypes.get(n, "float32") for n in shapes}
    e = net.simple_bind(mx.cpu(), grad_req={n: req if "float" in types[n] else "null" for n in shapes}, type_dict=types, **shapes)
    for i, name in enumerate(sorted(shapes)):
        values = np.random.RandomState(i).uniform(-1, 1, shapes[name]) * (1 if "float" in types[name] else 200 if types[name] == "uint8" else 2.0 ** 31 - 1)
        e.arg_dict[name][:] = mx.nd.array(abs(values) if types[name][0] == "u" else values, dtype="float64").astype(types[name])
        if e.grad_dict[name] is not None:
            e.grad_dict[name][:] = i + 0.3
    return e


@pytest.mark.parametrize("req", ["null", "write", "add"])
@pytest.mark.parametrize("name", TAKEN_IN)
def test_casts_repetitions_and_sums_join_chains(name, req):
    make, dtypes, left = TAKEN_IN[name]
    net = make(X)
    results, counts = [], []
    for passes in ([], ["fuse_pointwise"]):
        with off(*passes):
            e = filled(net, dtypes, req)
            results.append(run(e, train=req != "null"))
            counts.append(len(operators(e)))
    for a, b in zip(*results):
        assert a.dtype == b.dtype and np.isfinite(a.astype("float32")).any()
        np.testing.assert_array_equal(a, b)
    assert counts[0] < counts[1] if left == 1 or req != "null" else counts[0] == left
    if req == "null":
        assert counts[0] == left


def test_members_that_wait_for_each_other_alone_do_not_wait():
    """Backwards all of gelu written out is one operator, although its sum needs what its other members compute."""
    y = mx.sym.FullyConnected(X, num_hidden=64, flatten=False, name="fc")
    y = 0.5 * y * (1 + mx.sym.tanh(0.79788 * (y + 0.044715 * y * y * y)))
    fused, plain = compare(mx.sym.softmax(y), {"x": (128, 32)}, ["fuse_pointwise"], tolerance=1e-5, train=True)
    backward = operators(fused)[operators(fused).index("_backward_softmax"):]
    assert backward == ["_backward_softmax", "_fused_pointwise", "_backward_FullyConnected"]
    assert fused.plan_stats()["arena_bytes"] <= plain.plan_stats()["arena_bytes"]


def test_gradients_of_many_uses_do_not_hold_every_term():
    """A value whose gradients come one after the other: they are added where they come, not kept for one large sum."""
    terms = [mx.sym.FullyConnected(mx.sym.sin(X * (i + 1)) * mx.sym.cos(X), num_hidden=64, flatten=False, name="fc%d" % i) for i in range(6)]
    net = terms[0]
    for i, term in enumerate(terms[1:]):
        net = mx.sym.FullyConnected(net, num_hidden=64, flatten=False, name="d%d" % i) + term
    fused, plain = compare(net, {"x": (256, 64)}, ["fuse_pointwise"], tolerance=1e-4, train=True)
    assert fused.plan_stats()["arena_bytes"] <= plain.plan_stats()["arena_bytes"]


def test_dropout_backwards_joins_chains():
    net = mx.sym.tanh(mx.sym.Dropout(mx.sym.sin(X), p=0.4)) * 2
    for dtype in ("float32", "float16", "float64"):
        results = []
        for passes in ([], ["fuse_pointwise"]):
            with off(*passes):
                e = bind(net, {"x": (30, 100)}, True, dtype)
                mx.random.seed(5)
                results.append(run(e, True))
                assert ("_backward_Dropout" in operators(e)) == bool(passes)
        for a, b in zip(*results):
            np.testing.assert_array_equal(a, b)


def test_pointwise_results_that_others_read_end_a_group():
    a = mx.sym.exp(X)
    b = mx.sym.sin(a + 1)
    net = mx.sym.Group([mx.sym.sum(b) + 0, mx.sym.square(mx.sym.cos(b)), a * 2])
    fused, _ = compare(net, {"x": (70, 30)}, ["fuse_pointwise"], tolerance=0)
    assert operators(fused).count("_fused_pointwise") == 2
    # nothing is fused around an operator in between
    assert "_fused_pointwise" not in operators(bind(mx.sym.exp(mx.sym.softmax(mx.sym.exp(X))), {"x": (4, 5)}))


def test_pointwise_gradients_are_added():
    net = mx.sym.tanh(mx.sym.sin(X) * 2)
    grads = {}
    for passes in ([], ["fuse_pointwise"]):
        with off(*passes):
            x, g = mx.nd.arange(3000).reshape((30, 100)) / 1000, mx.nd.ones((30, 100))
            e = net.bind(mx.cpu(), {"x": x}, args_grad={"x": g}, grad_req="add")
            for _ in range(2):
                e.forward(is_train=True)
                e.backward(mx.nd.ones((30, 100)))
            grads[len(passes)] = g.asnumpy()
    np.testing.assert_array_equal(grads[0], grads[1])
    assert not (grads[0] == 1).all()


@pytest.mark.parametrize("train", [False, True])
def test_pointwise_graphs_carry_channels_last_images(train):
    image = mx.sym.Convolution(X, num_filter=8, kernel=(3, 3), name="c")
    gate = mx.sym.broadcast_mul(mx.sym.sin(image), mx.sym.Variable("s")) + mx.sym.cos(image)
    net = mx.sym.Convolution(gate, num_filter=4, kernel=(1, 1), name="d")
    fused, _ = compare(net, {"x": (2, 3, 9, 9), "s": (2, 8, 1, 1)}, ["fuse_pointwise"], train=train, tolerance=1e-4)
    assert "_fused_pointwise" in operators(fused)
    if not train:
        assert operators(fused).count("_to_layout") <= 1   # the result leaves the graph


def test_pointwise_block_in_training():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(16), mx.gluon.nn.Swish(), mx.gluon.nn.GELU(), mx.gluon.nn.Dense(3))
    net.initialize()
    x = mx.nd.array(np.random.RandomState(0).randn(4, 5))
    grads = []
    for passes in (["fuse_pointwise"], []):
        with off(*passes):
            net.hybridize()
            with mx.autograd.record():
                y = net(x)
            y.backward()
            grads.append([y.asnumpy()] + [p.grad().asnumpy() for p in net.collect_params().values()])
    for a, b in zip(*grads):
        np.testing.assert_array_equal(a, b)


# ---- detach_shapes

def scaled(x):
    """Others want the shape of what the chain computes, not its values."""
    y = x * 2
    return mx.sym.broadcast_add(mx.sym.tanh(y) - mx.sym.ones_like(y), mx.sym.Variable("row")) / mx.sym.reshape_like(mx.sym.Variable("flat"), y)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("req", ["write", "add"])
def test_values_wanted_for_their_shape_do_not_part_chains(dtype, req):
    shapes = {"x": (6, 50, 37), "row": (1, 1, 37), "flat": (300, 37)}
    results, counts = [], []
    for passes in ([], ["detach_shapes"], ["detach_shapes", "fuse_pointwise"]):
        with off(*passes):
            e = scaled(X).simple_bind(mx.cpu(), grad_req=req, type_dict=dict.fromkeys(shapes, dtype), **shapes)
            for i, name in enumerate(sorted(shapes)):
                e.arg_dict[name][:] = np.random.RandomState(i).uniform(0.5, 1, shapes[name])
                e.grad_dict[name][:] = i
            results.append(run(e, True))
            counts.append(len(operators(e)))
    for other in results[1:]:
        for a, b in zip(results[0], other):
            np.testing.assert_array_equal(a, b)
    assert counts[0] < counts[1] < counts[2]


def test_the_plan_says_what_is_nowhere():
    e = bind(mx.sym.broadcast_like(mx.sym.sin(mx.sym.Variable("row")), mx.sym.exp(X)), {"x": (4, 6), "row": (1, 6)})
    assert e.debug_str().count(" nowhere") == 1
    tensors = [t for node in e.explain().plan["nodes"] for t in node["inputs"]]
    assert [(t["shape"], "made_by" in t) for t in tensors if t["place"] == "nowhere"] == [([4, 6], False)]


def test_values_wanted_for_their_shape_alone_are_not_computed():
    a = mx.sym.exp(mx.sym.FullyConnected(X, num_hidden=6, name="fc"))
    row = mx.sym.Variable("row")
    for net, left in ((mx.sym.broadcast_like(mx.sym.sin(row), a), ["sin", "broadcast_like"]), (mx.sym.cos(mx.sym.reshape_like(row, mx.sym.sum(a, axis=0))), ["reshape_like", "cos"]),
                      (mx.sym.shape_array(a), ["shape_array"]), (mx.sym.cos(row) + mx.sym.slice_like(row, a, axes=(1,)), ["slice_like", "cos", "elemwise_add"])):
        shapes = {"x": (4, 5), "row": (1, 6)}
        shapes = {n: shapes[n] for n in shapes if n in net.list_arguments()}
        with off("fuse_pointwise", "remove_identities"):
            assert sorted(operators(bind(net, shapes))) == sorted(left)
        fused, plain = compare(net, shapes, ["detach_shapes"], tolerance=0, fewer=False)
        assert "FullyConnected" not in operators(fused) and "FullyConnected" not in operators(plain)   # nobody reads it: the order leaves it out, too
        assert len(operators(fused)) <= len(left)


def test_what_has_effects_stays_although_only_its_shape_is_read():
    draws = mx.sym.Dropout(X, p=0.5, name="first")
    norm = mx.sym.BatchNorm(mx.sym.sin(X), name="bn", fix_gamma=False)
    net = mx.sym.Dropout(X, p=0.5, name="second") + mx.sym.zeros_like(draws * 2) + mx.sym.ones_like(norm + 1)
    results = []
    for passes in ([], ["detach_shapes"]):
        with off(*passes):
            e = bind(net, {"x": (8, 4)}, train=True)
            mx.random.seed(7)
            results.append(run(e, True) + [e.aux_dict[n].asnumpy() for n in sorted(e.aux_dict)])
            assert operators(e).count("Dropout") == 2 and operators(e).count("BatchNorm") == 1
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def test_shapes_of_every_dtype_and_rank():
    for dtype in ("float32", "float64", "float16", "bfloat16", "uint8", "int8", "int32", "int64", "bool"):
        compare(mx.sym.ones_like(X + X), {"x": (2, 3)}, ["detach_shapes"], tolerance=0, dtype=dtype, fewer=False)
    with mx.util.np_shape(True):
        for net in (mx.sym.ones_like(X * 2) + 1, mx.sym.ones_like(mx.sym.sum(X))):
            block = mx.gluon.SymbolBlock(net, X)
            block.hybridize()
            for shape in ((2, 0, 3), (2, 3), (0,)):
                got, given = block(mx.nd.ones(shape)), mx.nd.ones(shape)
                assert got.shape == (shape if "scalar" in net.name else mx.nd.sum(given).shape) and (got.asnumpy() > 0).all()


def test_operands_that_a_derivative_does_not_mention_are_not_kept():
    """d(x / c) = 1 / c: x is neither kept nor read."""
    def arena(scale):
        y = X
        for i in range(6):
            y = mx.sym.FullyConnected(scale(mx.sym.FullyConnected(y, num_hidden=64, no_bias=True, name="a%d" % i)), num_hidden=64, no_bias=True, name="b%d" % i)
        return bind(y, {"x": (512, 64)}, train=True).plan_stats()["arena_bytes"]
    assert arena(lambda y: y / 7) == arena(lambda y: y * 7) < arena(mx.sym.square)
    with mx.autograd.record():
        x, c = mx.nd.array([1.0, -2.0]), mx.nd.array([4.0, 0.5])
        x.attach_grad()
        c.attach_grad()
        y = mx.nd.broadcast_div(x, c)
        dx = mx.autograd.grad(y.sum(), [x], create_graph=True)[0]
        z = (dx * dx).sum()
    z.backward()
    np.testing.assert_allclose(dx.asnumpy(), [0.25, 2])
    np.testing.assert_allclose(c.grad.asnumpy(), -2 / c.asnumpy() ** 3)
    assert not x.grad.asnumpy().any()


@pytest.mark.parametrize("mirror", ["MXNET_BACKWARD_DO_MIRROR", "MXNET_MEMORY_OPT"])
def test_shapes_of_what_is_computed_again(mirror):
    y = X
    for i in range(6):
        y = mx.sym.FullyConnected(mx.sym.tanh(mx.sym.broadcast_add(y * 2, mx.sym.Variable("b%d" % i))), num_hidden=8, name="fc%d" % i)
    shapes = dict({"x": (64, 8)}, **{"b%d" % i: (1, 8) for i in range(6)})
    expected = run(bind(y, shapes, train=True), True)
    mx.util.set_env(mirror, "1")
    try:
        fused, plain = compare(y, shapes, ["detach_shapes"], tolerance=0, train=True)
        actual = run(bind(y, shapes, train=True), True)
        assert fused.plan_stats()["arena_bytes"] <= plain.plan_stats()["arena_bytes"]
    finally:
        mx.util.set_env(mirror, "")
    for a, b in zip(actual, expected):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_monitors_see_what_only_shapes_are_read_of():
    seen = []
    e = bind(mx.sym.zeros_like(mx.sym.exp(X, name="e"), name="z"), {"x": (2, 3)})
    e.set_monitor_callback(lambda name, array: seen.append((name, array.asnumpy())))
    e.forward()
    assert [name for name, _ in seen] == ["e_output", "z_output"]
    np.testing.assert_allclose(seen[0][1], np.exp(e.arg_dict["x"].asnumpy()), rtol=1e-6)


# ---- remove_identities

def test_what_changes_nothing_goes():
    y = mx.sym.Dropout(mx.sym.identity(mx.sym.sin(X)), p=0.5)
    y = mx.sym.Cast(mx.sym.reshape(mx.sym.BlockGrad(y), shape=(2, 3, 4)), dtype="float32")
    y = mx.sym.transpose(mx.sym.transpose(y, axes=(2, 0, 1)), axes=(1, 2, 0))
    net = mx.sym.softmax(mx.sym.transpose(mx.sym.transpose(y, axes=(2, 0, 1)), axes=(2, 0, 1)))
    fused, _ = compare(net, {"x": (2, 3, 4)}, ["remove_identities"], tolerance=0)
    assert operators(fused) == ["sin", "transpose", "softmax"]


def test_what_changes_something_stays():
    shapes = {"x": (2, 3)}
    def left(net, **kwargs):
        return operators(bind(net, shapes, **kwargs))
    sin = mx.sym.sin(X)
    assert "Dropout" in left(mx.sym.Dropout(sin, mode="always"))
    assert "Dropout" in left(mx.sym.sum(mx.sym.Dropout(sin)), train=True)
    assert "Cast" in left(mx.sym.Cast(sin, dtype="float64"))
    assert "Reshape" in left(mx.sym.reshape(sin, shape=(3, 2)))
    assert "transpose" in left(mx.sym.transpose(sin))
    assert "_copy" in left(mx.sym.identity(X))          # a result has memory of its own


def test_gradient_stops_without_its_node():
    net = mx.sym.sin(X) * mx.sym.BlockGrad(mx.sym.identity(mx.sym.cos(X)))
    compare(net, {"x": (3, 4)}, ["remove_identities"], tolerance=0, train=True)


def test_sums_and_broadcasts_of_one_shape_go():
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    y = mx.sym.broadcast_like(mx.sym.broadcast_to(mx.sym.sin(a), shape=(3, 4)), b)
    net = mx.sym.softmax(mx.sym.slice_like(y, b) + mx.sym.broadcast_add(mx.sym.cos(a), b))
    fused, plain = compare(net, {"a": (3, 4), "b": (3, 4)}, ["remove_identities"], tolerance=0, train=True)
    for gone in ("broadcast_like", "broadcast_to", "slice_like", "_sum_like"):
        assert gone in operators(plain) and gone not in operators(fused)


# ---- fold_constants

def test_arrays_without_inputs_are_computed_once():
    position = mx.sym.reshape(mx.sym.sin(mx.sym.arange(12) / 3), shape=(3, 4))
    net = mx.sym.broadcast_add(mx.sym.softmax(X), position) + mx.sym.ones_like(X)
    fused, plain = compare(net, {"x": (3, 4)}, ["fold_constants"], tolerance=1e-6, fewer=False)
    assert fused.debug_str().count(" constant@") > 4 and " constant@" not in plain.debug_str()
    for _ in range(3):
        np.testing.assert_array_equal(run(fused)[0], run(plain)[0])
    # gradients of what is constant are not asked for; those of what is not stay right
    compare(net, {"x": (3, 4)}, ["fold_constants"], tolerance=1e-6, train=True, fewer=False)


def test_results_random_and_large_arrays_are_no_constants():
    assert " constant@" in bind(mx.sym.zeros((3, 3)) + X, {"x": (3, 3)}).debug_str()
    assert " constant@" not in bind(mx.sym.zeros((300, 300)) + X, {"x": (300, 300)}).debug_str()
    e = bind(mx.sym.zeros((2, 3)) + 1, {})
    for _ in range(2):
        np.testing.assert_array_equal(run(e)[0], np.ones((2, 3)))   # the last node writes the caller's array
    e = bind(mx.sym.random.uniform(shape=(2, 3)) * X, {"x": (2, 3)})
    assert " constant@" not in e.debug_str() and not np.array_equal(run(e)[0], run(e)[0])


# ---- all passes together

def all_passes():
    """Names of the passes of inference and training, as the plans themselves tell."""
    e = bind(mx.sym.relu(X), {"x": (2,)}, train=True)
    names = []
    for train in (False, True):
        run(e, train)
        names += [p["name"] for p in e.explain(runs=0).plan["passes"]]
    return sorted(set(names))


@pytest.mark.parametrize("name, size", [("mobilenetv2_0.25", 64), ("resnet18_v1", 64), ("squeezenet1.1", 224)])
def test_networks_compute_the_same_without_passes(name, size):
    """The bound that docs/passes.md states, and parameters that nothing touches."""
    mx.random.seed(1)
    net = mx.gluon.model_zoo.vision.get_model(name, classes=7)
    net.initialize(mx.init.Xavier())
    x = mx.nd.array(np.random.RandomState(0).uniform(-1, 1, (2, 3, size, size)))
    net(x).wait_to_read()
    before = {n: p.data().asnumpy() for n, p in net.collect_params().items()}
    results, nodes = [], []
    for passes in ([], all_passes()):
        with off(*passes):
            net.hybridize(static_alloc=True, static_shape=True)
            results.append(net(x).asnumpy())
            nodes.append(net.explain(runs=0).plan["stats"]["num_nodes"])
    assert nodes[0] < 0.8 * nodes[1], nodes
    assert np.abs(results[0] - results[1]).max() <= 1e-5 * np.abs(results[1]).max()
    for n, p in net.collect_params().items():
        np.testing.assert_array_equal(p.data().asnumpy(), before[n])


def test_nodes_that_nobody_reads_are_not_in_the_plan():
    net = mx.sym.FullyConnected(mx.sym.tanh(mx.sym.exp(X)), num_hidden=3, name="f")
    with off("fuse_pointwise"):
        names = {}
        for wanted in ("x", "f_weight"):
            e = net.simple_bind(mx.cpu(), grad_req={n: "write" if n == wanted else "null" for n in net.list_arguments()}, x=(2, 4))
            run(e, True)
            names[wanted] = operators(e)
        assert len(names["f_weight"]) == 4 and names["f_weight"][-1] == "_backward_FullyConnected"     # x's gradient ends in two more
        assert len(names["x"]) > 5
        both = mx.sym.Group([mx.sym.exp(X), net])
        assert operators(bind(both[0], {"x": (2, 4)})) == ["exp"]


# ---- optimize_for

def test_backends_of_graphs():
    net = mx.sym.relu(mx.sym.FullyConnected(X, num_hidden=3, name="f"))
    e = bind(net, {"x": (2, 4)})
    for made in [net.get_backend_symbol("MKLDNN"), net.optimize_for("ONEDNN", dict(e.arg_dict)), net.optimize_for("MKLDNN_QUANTIZE", shape_dict={"x": (2, 4)})]:
        assert made.list_arguments() == net.list_arguments() and made.list_outputs() == net.list_outputs()
        np.testing.assert_array_equal(made.bind(mx.cpu(), dict(e.arg_dict)).forward()[0].asnumpy(), e.forward()[0].asnumpy())
    for call in (net.get_backend_symbol, net.optimize_for):
        with pytest.raises(ValueError, match="no backend 'TensorRT'; accepted: MKLDNN, "):
            call("TensorRT")
        with pytest.raises(TypeError, match="backend=None; accepted: the name of a subgraph backend"):
            call(None)
    wrong = {"shape_dict": {"x": (2, 4), "f_weight": (3, 5)}}
    with pytest.raises(mx.MXNetError, match="f_weight|weight"):
        net.optimize_for("MKLDNN", **wrong)
    net.optimize_for("MKLDNN", skip_infer=True, **wrong)


def test_backends_of_blocks():
    net = mx.gluon.nn.Dense(3, activation="relu")
    net.initialize()
    x = mx.nd.ones((2, 4))
    y = net(x)
    net.optimize_for(x, backend="MKLDNN")
    np.testing.assert_allclose(net(x).asnumpy(), y.asnumpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="no backend 'other'"):
        net.optimize_for(x, backend="other")


def test_a_constant_that_fails_fails_in_every_run():
    words = mx.sym.take(mx.sym.ones((3, 2)), mx.sym.arange(5), mode="raise", name="words")
    e = bind(mx.sym.broadcast_add(X, mx.sym.sum(words)), {"x": (2, 2)})
    assert "constant" in e.debug_str()
    for _ in range(3):
        with pytest.raises(mx.MXNetError, match="words"):
            e.forward()[0].wait_to_read()


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
def test_rnn_parameters_are_put_together_once(layer):
    net = getattr(mx.gluon.rnn, layer)(20, num_layers=2, bidirectional=True, input_size=12)
    net.initialize(mx.init.Uniform(0.3))
    x = mx.nd.random.uniform(-1, 1, shape=(5, 3, 12))
    eager = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), eager, rtol=1e-5, atol=1e-6)
    text = str(net.explain(runs=0))
    assert "_join_parameters" in text and "2 nodes" in text
    for p in net.collect_params().values():   # new parameters are seen
        p.set_data(p.data() * 0.5)
    changed = net(x).asnumpy()
    net.hybridize(False)
    np.testing.assert_allclose(changed, net(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert abs(changed - eager).max() > 1e-2
