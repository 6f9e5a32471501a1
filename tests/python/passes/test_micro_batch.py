"""Layers of images go over a large batch some examples at a time: the same results, less memory,
and only where every example is treated alone."""
import re

import numpy as np
import pytest

import mxnet as mx
from test_passes import bind, off, run

SIZE = 112   # 16 channels of such images are 0.8 MB: a batch of 24 is more than what a node may fill of any cache


def micro_batches(e):
    """{name of a node: how often it runs} of the nodes that run more than once."""
    return {m.group(1): int(m.group(2)) for m in re.finditer(r'"(\w+)" \(.*\) in (\d+) micro_batches', e.debug_str())}


def conv(x, name, filters=16, size=3, **kwargs):
    return mx.sym.Convolution(x, name=name, num_filter=filters, kernel=(size, size), pad=(size // 2, size // 2), **kwargs)


def stack(x, tag=""):
    """Convolution, normalisation, pooling, a sum and a concatenation."""
    a = mx.sym.Activation(mx.sym.BatchNorm(conv(x, f"a{tag}"), name=f"n{tag}"), act_type="relu")
    b = mx.sym.Pooling(conv(a, f"b{tag}", size=1) + a, kernel=(3, 3), pad=(1, 1), pool_type="max", name=f"p{tag}")
    return mx.sym.Concat(b, mx.sym.tanh(a), dim=1, name=f"c{tag}")


def compare(net, shapes, sliced=True, **kwargs):
    with off("micro_batch"):
        plain = bind(net, shapes, **kwargs)
        assert not micro_batches(plain)
        expected = run(plain)
    e = bind(net, shapes, **kwargs)
    actual = run(e)
    assert bool(micro_batches(e)) == sliced, e.debug_str()
    for a, b in zip(actual, expected):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * max(1, abs(b).max()))
    again = run(e)   # pointers are where they were
    for a, b in zip(actual, again):
        np.testing.assert_array_equal(a, b)
    return e, plain


@pytest.mark.parametrize("batch", [24, 16, 13, 2])
def test_results_and_memory(batch):
    # 16: as many as filters, so shapes alone do not tell data from weights
    net = (mx.sym.FullyConnected(mx.sym.Pooling(stack(mx.sym.var("data")), global_pool=True,
                                                pool_type="avg", kernel=(1, 1)), num_hidden=5,
                                 name="head"))
    e, plain = (compare(net, {"data": (batch, 3, SIZE * (1 if batch > 2 else 4),
                                       SIZE * (1 if batch > 2 else 4))}))
    assert e.plan_stats()["arena_bytes"] < 0.8 * plain.plan_stats()["arena_bytes"]
    assert "head" not in micro_batches(e)
    assert all(batch % t == 0 for t in micro_batches(e).values())


def test_a_small_batch_is_computed_at_once():
    compare(stack(mx.sym.var("data")), {"data": (1, 3, SIZE, SIZE)}, sliced=False)
    compare(stack(mx.sym.var("data")), {"data": (24, 3, 8, 8)}, sliced=False)


def test_results_from_the_middle():
    x = mx.sym.var("data")
    first = conv(x, "first")
    second = conv(mx.sym.relu(first), "second")
    third = conv(mx.sym.tanh(second), "third", filters=4)
    whole = mx.sym.sum(second, axis=0)    # reads what a run wrote batch by batch
    compare(mx.sym.Group([third, first, whole, mx.sym.FullyConnected(third + 1, num_hidden=3)]), {"data": (24, 3, SIZE, SIZE)})


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_dtypes(dtype):
    compare(mx.sym.tanh(mx.sym.relu(conv(mx.sym.var("data"), "a")) * 2), {"data": (24, 3, SIZE, SIZE)}, dtype=dtype)


def test_what_mixes_examples_is_computed_at_once():
    x = conv(mx.sym.var("data"), "a")
    between = {
        "concat": mx.sym.Concat(x, x, dim=0), "concat_negative": mx.sym.Concat(x, x, dim=-4),
        "norm": mx.sym.BatchNorm(x, axis=0, fix_gamma=False),
        "softmax": mx.sym.softmax(x, axis=0), "reverse": mx.sym.reverse(x, axis=0),
        "sum": mx.sym.broadcast_add(x, mx.sym.sum(x, axis=0, keepdims=True)),
    }
    for what, node in between.items():
        net = mx.sym.relu(conv(mx.sym.relu(node), "b", filters=4), name="end")
        e, _ = compare(net, {"data": (24, 3, SIZE, SIZE)})
        for line in e.debug_str().splitlines():
            mixes = any(f" {op} " in line for op in ("softmax", "reverse", "sum", "broadcast_add")) or "dim=0" in line
            assert not (mixes and "micro_batches" in line), (what, line)
        assert not any(name.startswith(("concat", "batchnorm")) for name in micro_batches(e)), (what, micro_batches(e))


def test_other_inputs_and_new_parameters():
    net = conv(mx.sym.relu(conv(mx.sym.var("data"), "a")), "b", filters=8)
    shape = (24, 3, SIZE, SIZE)
    e = bind(net, {"data": shape})
    run(e)
    rng = np.random.RandomState(1)
    for name in ("data", "a_weight", "b_bias"):
        e.arg_dict[name][:] = rng.uniform(-1, 1, e.arg_dict[name].shape)
    actual = run(e)[0]
    with off("micro_batch"):
        plain = net.bind(mx.cpu(), {n: a for n, a in e.arg_dict.items()}, grad_req="null")
        np.testing.assert_allclose(actual, run(plain)[0], rtol=1e-4, atol=1e-3)
    smaller = e.reshape(data=(6, 3, SIZE, SIZE))
    smaller.arg_dict["data"][:] = e.arg_dict["data"][6:12]
    np.testing.assert_allclose(run(smaller)[0], actual[6:12], rtol=1e-4, atol=1e-3)


def test_explain_counts_the_whole_batch():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(16, 3, padding=1, in_channels=3), mx.gluon.nn.Conv2D(8, 3, padding=1, in_channels=16))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(24, 3, SIZE, SIZE))
    plan = net.explain(x, runs=1).plan
    nodes = [n for n in plan["nodes"] if "onvolution" in n["op"]]
    assert len(nodes) == 2 and all(n["micro_batches"] > 1 and n["nanoseconds"] for n in nodes)
    for n, (c, k) in zip(nodes, ((3, 16), (16, 8))):
        assert n["flops"] >= 2 * 24 * SIZE * SIZE * 9 * c * k
        assert n["inputs"][0]["shape"][0] * n["micro_batches"] == 24
        assert n["bytes"] >= 4 * 24 * SIZE * SIZE * (c + k)
    np.testing.assert_array_equal(net(x[5:6]).asnumpy().shape, (1, 8, SIZE, SIZE))


def test_monitors_and_single_nodes():
    net = conv(mx.sym.relu(conv(mx.sym.var("data"), "a")), "b", filters=8)
    e = bind(net, {"data": (24, 3, SIZE, SIZE)})
    expected = run(e)[0]
    assert micro_batches(e)
    seen = []
    e.set_monitor_callback(lambda name, array: seen.append((name, array.shape)))
    np.testing.assert_allclose(run(e)[0], expected, rtol=1e-4, atol=1e-3)
    assert ("a_output", (24, 16, SIZE, SIZE)) in seen
    mx.util.set_env("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")
    try:
        single = bind(net, {"data": (24, 3, SIZE, SIZE)})
        assert not micro_batches(single)   # every node is an operation of the engine's own
        np.testing.assert_allclose(run(single)[0], expected, rtol=1e-4, atol=1e-3)
    finally:
        mx.util.set_env("MXNET_EXEC_BULK_EXEC_INFERENCE", "1")


@pytest.mark.parametrize("mode", ["naive", "none"])
def test_bytes_go_by_examples_where_their_ranges_are_known(mode):
    """Ranges are results behind the first; those that contents decide need the whole batch."""
    from mxnet.contrib import quantization
    data = mx.sym.var("data")
    first = mx.sym.Activation(conv(data, "a"), act_type="relu")
    second = mx.sym.BatchNorm(mx.sym.Concat(first, mx.sym.Pooling(first, kernel=(3, 3), pad=(1, 1), pool_type="avg", name="p"), name="j"),
                              name="n", fix_gamma=False)
    net = mx.sym.Pooling(conv(mx.sym.Activation(second, act_type="relu", name="r"), "b"), global_pool=True, pool_type="avg", kernel=(1, 1))
    rng = np.random.RandomState(0)
    shape = (24, 3, SIZE, SIZE)
    shapes, _, aux = net.infer_shape(data=shape)
    def draw(names, sizes):
        return {n: mx.nd.array(rng.uniform(0.5, 1.5, s) * rng.choice([-1, 1], s)) for n, s in zip(names, sizes) if n != "data"}
    params, states = draw(net.list_arguments(), shapes), {n: abs(a) for n, a in draw(net.list_auxiliary_states(), aux).items()}
    x = mx.nd.array(rng.uniform(-1, 1, shape))
    qsym, args, states = quantization.quantize_model(net, params, states, calib_mode=mode, quantize_mode="full",
                                                     calib_data=mx.io.NDArrayIter(x, None, 24))

    def executed():
        e = qsym.bind(mx.cpu(), {**args, "data": x}, aux_states=states, grad_req="null")
        return e.forward()[0].asnumpy(), micro_batches(e)
    with off("micro_batch"):
        plain, _ = executed()
    sliced, nodes = executed()
    np.testing.assert_array_equal(sliced, plain)
    assert ({"quantized_j", "quantized_n", "quantized_r"} <= set(nodes)) == (mode == "naive"), nodes
