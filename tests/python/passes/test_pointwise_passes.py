"""Chains of pointwise operators as one operator, and what is read for its shape alone."""

import numpy as np
import pytest

import mxnet as mx
from contraction import assert_same
from test_passes import X, bind, compare, off, operators, run

pytestmark = pytest.mark.on_gpu


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


POINTWISE = {"chain": (chain, {}), "diamond": (diamond, {}),
             "broadcasting": (broadcasting, {"row": (1, 1, 37), "column": (1, 50, 1), "one": (1,)})}


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
    return mx.sym.tanh(mx.sym.broadcast_to(mx.sym.Variable("row"), shape=(3, 50, 37)) * 2
                       + narrow) - mx.sym.broadcast_like(mx.sym.Variable("one"), y) * x


def without_shape(x):
    """What the inputs broadcast to is smaller than the result."""
    return mx.sym.exp(mx.sym.broadcast_to(mx.sym.Variable("row"), shape=(3, 50, 37)) * 2)


def sums(x):
    y = mx.sym.Variable("y")
    return mx.sym.sigmoid(mx.sym.add_n(mx.sym.add_n(x * 3, y, x, x / 7), mx.sym.sin(x), y * y)) + mx.sym.add_n(x, mx.sym.cos(y), y)


SMALL = {"row": (1, 1, 37), "column": (1, 50, 1), "one": (1, 1, 1)}
# what, dtypes that differ from float32, operators left in inference
TAKEN_IN = {"mixed": (mixed, {}, 1), "double": (double, {}, 1),
            "double of halves": (double, {"x": "float16", "y": "bfloat16"}, 1),
            "double of integers": (double, {"x": "int32", "y": "int64"}, 1),
            "repeated": (repeated, {}, 1),
            "repeated halves": (repeated, dict.fromkeys(["x", "y", "row", "column", "one"],
                                                        "float16"), 1),
            "without_shape": (without_shape, {}, 1),
            "sums": (sums, {}, 1), "sums of halves": (sums, {"x": "bfloat16", "y": "bfloat16"}, 1),
            "sums of doubles": (sums, {"x": "float64", "y": "float64"}, 1),
            "wide integers": (lambda x: cast(x, "float32") * 2 + 1, {"x": "int64"}, 1),
            "small integers": (lambda x: cast(x, "float16") * 2 + 1, {"x": "uint8"}, 1),
            "rounded twice": (lambda x: cast(x, "float16") * 2 + 1, {"x": "float64"}, 2),
            "rounded twice, integers": (lambda x: cast(x, "bfloat16") * 2 + 1, {"x": "int32"}, 2),
            "through int64": (lambda x: cast(x, "float32") * 2 + 1, {"x": "uint64"}, 2),
            "in between": (lambda x: cast(cast(mx.sym.exp(x), "float64") * 2, "float32") + 1, {},
                           3)}


def filled(net, dtypes, req):
    """An executor with numbers that conversions have to round."""
    shapes = {n: SMALL.get(n, (3, 50, 37)) for n in net.list_arguments()}
    types = {n: dtypes.get(n, "float32") for n in shapes}
    e = net.simple_bind(mx.cpu(), grad_req={n: req if "float" in types[n] else "null" for n in shapes}, type_dict=types, **shapes)
    for i, name in enumerate(sorted(shapes)):
        values = (np.random.RandomState(i).uniform(-1, 1, shapes[name])
                  * (1 if "float" in types[name] else 200 if types[name] == "uint8"
                     else 2.0 ** 31 - 1))
        e.arg_dict[name][:] = mx.nd.array(abs(values) if types[name][0] == "u" else values,
                                          dtype="float64").astype(types[name])
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
        assert_same(a, b)
    assert counts[0] < counts[1] if left == 1 or req != "null" else counts[0] == left
    if req == "null":
        assert counts[0] == left


MEANS = {"all": {}, "kept": {"axis": (0, 2), "keepdims": True}, "dropped": {"axis": 1},
         "dropped at both ends": {"axis": (0, 2)}, "excluded": {"axis": 0, "exclude": True},
         "one": {"axis": (0, 1, 2)}}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("axes", MEANS)
def test_gradients_of_means_and_sums_join_chains(axes, reduction, dtype):
    """Backwards the reduced gradient is read repeated, whether the reduction kept its dimensions or
    not."""
    y = getattr(mx.sym, reduction)(mx.sym.square(mx.sym.tanh(X * 3) - 1), **MEANS[axes])
    net = mx.sym.exp(y) if axes == "one" else y
    results, names = [], []
    for passes in ([], ["fuse_pointwise"]):
        for req in ("write", "add"):
            with off(*passes):
                e = net.simple_bind(mx.current_context(), x=(3, 50, 37), grad_req=req, type_dict={"x": dtype})
            e.arg_dict["x"][:] = mx.nd.array(np.random.RandomState(1).uniform(-1, 1, (3, 50, 37))).astype(dtype)
            e.grad_dict["x"][:] = 0.7
            names.append(operators(e))
            e.forward(is_train=True)
            e.backward([mx.nd.array(np.random.RandomState(2).uniform(-2, 2, o.shape)).astype(dtype) for o in e.outputs])
            results.append([e.grad_dict["x"].astype("float64").asnumpy()] + [o.astype("float64").asnumpy() for o in e.outputs])
    own = f"_backward_{reduction}"
    assert own not in names[0] + names[1] and own in names[2] and own in names[3], names
    for fused, plain in zip(results[:2], results[2:]):
        for a, b in zip(fused, plain):
            np.testing.assert_array_equal(a, b)


def test_means_of_losses_join_chains():
    """What Gluon's losses do: a mean over all axes but the batch's."""
    net = mx.gluon.nn.Dense(8)
    net.initialize(mx.init.Uniform(0.3))
    loss = mx.gluon.loss.L2Loss(weight=0.7)
    x, y = mx.nd.random.uniform(shape=(6, 5)), mx.nd.random.uniform(shape=(6, 8))
    net(x)
    gradients, names = [], []
    for passes in ([], ["fuse_pointwise"]):
        with off(*passes):
            loss.hybridize()
            with mx.autograd.record():
                error = loss(net(x), y)
            error.backward()
            names.append([n["op"] for n in loss.explain(runs=0).plan["nodes"]])
        gradients.append(net.weight.grad().asnumpy())
    assert "_backward_mean" not in names[0] and "_backward_mean" in names[1], names
    np.testing.assert_array_equal(*gradients)


def test_members_that_wait_for_each_other_alone_do_not_wait():
    """Backwards all of gelu written out is one operator, although its sum needs what its other
    members compute."""
    y = mx.sym.FullyConnected(X, num_hidden=64, flatten=False, name="fc")
    y = 0.5 * y * (1 + mx.sym.tanh(0.79788 * (y + 0.044715 * y * y * y)))
    fused, plain = compare(mx.sym.softmax(y), {"x": (128, 32)}, ["fuse_pointwise"], tolerance=1e-5, train=True)
    backward = operators(fused)[operators(fused).index("_backward_softmax"):]
    assert backward == ["_backward_softmax", "_fused_pointwise", "_backward_FullyConnected"]
    assert fused.plan_stats()["arena_bytes"] <= plain.plan_stats()["arena_bytes"]


def test_gradients_of_many_uses_do_not_hold_every_term():
    """A value whose gradients come one after the other: they are added where they come, not kept
    for one large sum."""
    terms = ([mx.sym.FullyConnected(mx.sym.sin(X * (i + 1)) * mx.sym.cos(X), num_hidden=64,
                                    flatten=False, name="fc%d" % i) for i in range(6)])
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
        assert_same(a, b)


# ---- detach_shapes

def scaled(x):
    """Others want the shape of what the chain computes, not its values."""
    y = x * 2
    return mx.sym.broadcast_add(mx.sym.tanh(y) - mx.sym.ones_like(y),
                                mx.sym.Variable("row")) / mx.sym.reshape_like(mx.sym.Variable("flat"), y)


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
    for net, left in ((mx.sym.broadcast_like(mx.sym.sin(row), a), ["sin", "broadcast_like"]),
                      (mx.sym.cos(mx.sym.reshape_like(row, mx.sym.sum(a, axis=0))),
                       ["reshape_like", "cos"]),
                      (mx.sym.shape_array(a), ["shape_array"]),
                      (mx.sym.cos(row) + mx.sym.slice_like(row, a, axes=(1,)),
                       ["slice_like", "cos", "elemwise_add"])):
        shapes = {"x": (4, 5), "row": (1, 6)}
        shapes = {n: shapes[n] for n in shapes if n in net.list_arguments()}
        with off("fuse_pointwise", "remove_identities"):
            assert sorted(operators(bind(net, shapes))) == sorted(left)
        fused, plain = compare(net, shapes, ["detach_shapes"], tolerance=0, fewer=False)
        # nobody reads it: the order leaves it out, too
        assert "FullyConnected" not in operators(fused) and "FullyConnected" not in operators(plain)
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
            y = (mx.sym.FullyConnected(scale(mx.sym.FullyConnected(y, num_hidden=64, no_bias=True,
                                                                   name="a%d" % i)), num_hidden=64,
                                       no_bias=True, name="b%d" % i))
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
