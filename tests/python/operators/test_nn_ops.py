"""Neural network operators: conventions of 1.9.1 (data/nn_oracle.npz), auxiliary states,
randomness, and the oneDNN variables."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

pytestmark = pytest.mark.on_gpu

ORACLE = np.load(pathlib.Path(__file__).parents[1] / "data" / "nn_oracle.npz")
META = json.loads(str(ORACLE["meta"]))


def _attrs(attrs):
    return {k: tuple(v) if isinstance(v, list) else v for k, v in attrs.items()}


@pytest.mark.parametrize("number", range(len(META)), ids=[f"{i}-{m['op']}" for i, m in enumerate(META)])
def test_oracle(number):
    meta = META[number]
    inputs = [mx.nd.array(ORACLE[f"{number}_in{i}"]) for i in range(meta["inputs"])]
    for i in meta["grads"]:
        inputs[i].attach_grad()
    with mx.autograd.record():
        outs = getattr(mx.nd, meta["op"])(*inputs, **_attrs(meta["attrs"]))
    outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
    assert len(outs) == meta["outputs"]
    mx.autograd.backward(outs, [mx.nd.full(o.shape, 0.5) for o in outs])
    for i, o in enumerate(outs):
        np.testing.assert_allclose(o.asnumpy(), ORACLE[f"{number}_out{i}"], rtol=2e-5, atol=2e-6)
    for k, i in enumerate(meta["grads"]):
        np.testing.assert_allclose(inputs[i].grad.asnumpy(), ORACLE[f"{number}_grad{k}"], rtol=2e-4, atol=5e-6)
    if meta["op"] == "BatchNorm":
        for k in range(2):
            np.testing.assert_allclose(inputs[3 + k].asnumpy(), ORACLE[f"{number}_aux{k}"], rtol=1e-5)


def test_batch_norm_states_only_move_in_training():
    x, one = mx.nd.random.uniform(shape=(8, 3)), mx.nd.ones(3)
    mean, var = mx.nd.zeros(3), mx.nd.ones(3)
    mx.nd.BatchNorm(x, one, one, mean, var)
    np.testing.assert_array_equal(mean.asnumpy(), np.zeros(3))
    with mx.autograd.record():
        mx.nd.BatchNorm(x, one, one, mean, var, momentum=0.9)
    np.testing.assert_allclose(mean.asnumpy(), 0.1 * x.asnumpy().mean(0), rtol=1e-5)
    np.testing.assert_allclose(var.asnumpy(), 0.9 + 0.1 * x.asnumpy().var(0), rtol=1e-5)


def test_dropout_gradient_is_its_mask():
    x = mx.nd.ones((50, 40))
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Dropout(x, p=0.3)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), y.asnumpy())
    kept = (y.asnumpy() != 0).mean()
    assert 0.66 < kept < 0.74
    np.testing.assert_allclose(y.asnumpy().max(), 1 / 0.7, rtol=1e-6)


def test_dropout_follows_the_seed():
    def draw():
        mx.random.seed(7)
        with mx.autograd.record():
            return mx.nd.Dropout(mx.nd.ones(100)).asnumpy()
    first = draw()
    np.testing.assert_array_equal(first, draw())
    with mx.autograd.record():
        assert (mx.nd.Dropout(mx.nd.ones(100)).asnumpy() != first).any()


def test_dropout_of_everything_is_zero():
    with mx.autograd.record():
        np.testing.assert_array_equal(mx.nd.Dropout(mx.nd.ones(9), p=1.0).asnumpy(), np.zeros(9))


def test_rrelu_gradient_uses_the_drawn_slopes():
    x = -mx.nd.ones(200)
    x.attach_grad()
    with mx.autograd.record():
        y, mask = mx.nd.LeakyReLU(x, act_type="rrelu", lower_bound=0.1, upper_bound=0.3)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), -y.asnumpy())
    np.testing.assert_allclose(mask.asnumpy(), x.grad.asnumpy())
    assert x.grad.asnumpy().std() > 0.03


def test_softmax_output_multiplies_by_out_grad():
    x, label = mx.nd.array([[1.0, 2.0, 3.0]]), mx.nd.array([1])
    grads = []
    for flag in (False, True):
        x.attach_grad()
        with mx.autograd.record():
            y = mx.nd.SoftmaxOutput(x, label, out_grad=flag)
        y.backward(mx.nd.full((1, 3), 3.0))
        grads.append(x.grad.asnumpy())
    np.testing.assert_allclose(grads[1], 3 * grads[0], rtol=1e-6)


def test_softmax_is_stable_and_accepts_minus_infinity():
    y = mx.nd.softmax(mx.nd.array([[1e30, 1e30, -np.inf], [-np.inf, 5, 5]])).asnumpy()
    np.testing.assert_allclose(y, [[0.5, 0.5, 0], [0, 0.5, 0.5]])
    for rows in (1, 64):   # of -inf alone: NaN, however many rows are computed at once
        for columns in (2, 40):
            y = mx.nd.softmax(mx.nd.full((rows, columns), -np.inf)).asnumpy()
            assert np.isnan(y).all()


@pytest.mark.cpu
def test_safe_accumulation_acts():
    x = mx.nd.random.uniform(shape=(1, 3_000_000))
    errors = {}
    for value in ("0", "1"):
        mx.util.set_env("MXNET_SAFE_ACCUMULATION", value)
        try:
            y = mx.nd.softmax(x).asnumpy()
        finally:
            mx.util.set_env("MXNET_SAFE_ACCUMULATION", "")
        errors[value] = np.abs(y.sum(dtype="float64") - 1)
    assert errors["1"] < 1e-6
    assert errors["0"] != errors["1"]


PROGRAM = """
import mxnet as mx, numpy as np
rng = np.random.RandomState(0)
x, w = mx.nd.array(rng.rand(2, 16, 9, 9)), mx.nd.array(rng.rand(8, 16, 3, 3))
dense = mx.nd.array(rng.rand(5, 16 * 81))
w.attach_grad()
with mx.autograd.record():
    y = mx.nd.Convolution(x, w, kernel=(3, 3), num_filter=8, no_bias=True)
y.backward()
z = mx.nd.FullyConnected(x, dense, num_hidden=5, no_bias=True)
print(repr([float(y.sum().asnumpy().item()), float(w.grad.sum().asnumpy().item()), float(z.sum().asnumpy().item())]))
"""


def _run(**env):
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=dict(os.environ, **env), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return np.array(eval(done.stdout.strip().splitlines()[-1])), done.stdout


def test_results_without_onednn():
    with_it, verbose = _run(DNNL_VERBOSE="1")
    without, quiet = _run(MXNET_ONEDNN_ENABLED="0", DNNL_VERBOSE="1")
    np.testing.assert_allclose(with_it, without, rtol=1e-5)
    assert "convolution" in verbose
    assert "convolution" not in quiet and "gemm" not in quiet


def test_cache_limit():
    results, verbose = _run(MXNET_ONEDNN_CACHE_NUM="0")
    np.testing.assert_allclose(results, _run()[0], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kernel", [1, 3])
def test_half_convolution_gradients(dtype, kernel):
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape).astype(np.float32) for shape in ((2, 4, 7, 6), (6, 4, kernel, kernel), (6,))]

    def gradients(to):
        arrays = [mx.nd.array(v, dtype="float32").astype(to) for v in values]
        for a in arrays:
            a.attach_grad()
        with mx.autograd.record():
            y = mx.nd.Convolution(*arrays, num_filter=6, kernel=(kernel, kernel))
        y.backward(mx.nd.ones_like(y))
        return [a.grad.astype("float32").asnumpy() for a in arrays]

    for got, expected in zip(gradients(dtype), gradients("float32")):
        assert np.abs(got - expected).max() <= (0.01 if dtype == "float16" else 0.05) * np.abs(expected).max()


@pytest.mark.cpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape, axis", [((7, 10), -1), ((3, 20000), -1), ((2, 300, 7, 9), 1),
                                         ((5, 3), 0), ((9000, 5), 0), ((4, 1, 6), 1), ((1,), 0),
                                         ((3, 2, 130, 70), 1)])
def test_half_softmax_is_float_softmax_rounded_once(dtype, shape, axis):
    mx.random.seed(3)
    x = (mx.nd.random.normal(shape=shape) * 4).astype(dtype)
    g = mx.nd.random.normal(shape=shape).astype(dtype)
    length = mx.nd.random.randint(1, shape[axis] + 1,
                                  shape=shape[:axis % len(shape)] + shape[axis % len(shape) + 1:]
                                  or (1,), dtype="int32")
    mask = mx.nd.random.uniform(shape=shape) > 0.3
    calls = [lambda d: mx.nd.softmax(d, axis=axis),
             lambda d: mx.nd.log_softmax(d, axis=axis, temperature=2.0),
             lambda d: mx.nd.softmin(d, axis=axis),
             lambda d: mx.nd.masked_softmax(d, mask.astype("bool"), axis=axis)]
    if len(shape) > 1:
        calls += [lambda d: mx.nd.softmax(d, length, axis=axis, use_length=True), lambda d: mx.nd.SoftmaxActivation(d, mode="channel")]
    for call in calls:
        results = []
        for data, grad in ((x, g), (x.astype("float32"), g.astype("float32"))):
            data.attach_grad()
            with mx.autograd.record():
                y = call(data)
            y.backward(grad)
            results.append((y, data.grad))
        (y, dx), (wide_y, wide_dx) = results
        assert y.dtype == x.dtype and dx.dtype == x.dtype
        np.testing.assert_array_equal(y.asnumpy(), wide_y.astype(dtype).asnumpy())
        # the float gradient comes from an output that was not rounded
        np.testing.assert_allclose(dx.asnumpy().astype("float32"), wide_dx.asnumpy(),
                                   atol=0.02 if dtype == "float16" else 0.15,
                                   rtol=0.02 if dtype == "float16" else 0.1)


def test_softmax_changes_between_float_and_half():
    x = mx.nd.random.normal(shape=(40, 300))
    for source, target in (("float16", "float32"), ("float32", "float16")):
        data = x.astype(source)
        data.attach_grad()
        with mx.autograd.record():
            y = mx.nd.softmax(data, dtype=target)
            total = (y * y).sum()
        total.backward()
        assert y.dtype == np.dtype(target) and data.grad.dtype == np.dtype(source)
        exact = mx.nd.softmax(data.astype("float32"))
        np.testing.assert_allclose(y.asnumpy(), exact.asnumpy(), rtol=1e-3, atol=1e-7)
        np.testing.assert_allclose(data.grad.asnumpy(),
                                   (2 * exact * (exact - (exact * exact).sum(axis=1, keepdims=True))).asnumpy(), atol=1e-4)


@pytest.mark.parametrize("axis", [0, 1])
def test_half_softmax_needs_no_float_copy(axis):
    x = mx.nd.zeros((1024, 2048), dtype="float16")
    x.attach_grad()
    mx.nd.waitall()
    mx.cpu().empty_cache()
    mx.storage.reset_peak()
    before = mx.storage.stats().used_bytes
    with mx.autograd.record():
        y = mx.nd.softmax(x, axis=axis)
    y.backward(y)
    mx.nd.waitall()
    # the output; the float copies were 8 MiB each
    assert mx.storage.stats().peak_used_bytes - before < 2 * 4 * 2 ** 20


@pytest.mark.cpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("size", [1, 7, 2048, 20001])
def test_half_activations_are_float_activations_rounded_once(dtype, size):
    x = (mx.nd.random.normal(shape=(size,)) * 3).astype(dtype)
    g = mx.nd.random.normal(shape=(size,)).astype(dtype)
    calls = [lambda d, a=a: mx.nd.Activation(d, act_type=a) for a in ("relu", "sigmoid", "tanh", "softrelu", "softsign")]
    calls += [lambda d, a=a: mx.nd.LeakyReLU(d, act_type=a, slope=0.3) for a in ("leaky", "elu", "selu", "gelu")]
    for call in calls:
        data, wide = x.copy(), x.astype("float32")
        for d in (data, wide):
            d.attach_grad()
        with mx.autograd.record():
            y, exact = call(data), call(wide)
        y.backward(g)
        exact.backward(g.astype("float32"))
        np.testing.assert_array_equal(y.asnumpy(), exact.astype(dtype).asnumpy())
        np.testing.assert_allclose(data.grad.asnumpy().astype("float32"), wide.grad.asnumpy(),
                                   rtol=0.02, atol=0.01 if dtype == "float16" else 0.05)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape, axes", [((5,), ()), ((100, 41), ()), ((3, 5001), ()), ((30, 40), (0,))])
def test_half_dropout_draws_as_float_does(dtype, shape, axes):
    results = []
    for d in (dtype, "float32"):
        x = mx.nd.ones(shape, dtype=d)
        x.attach_grad()
        mx.random.seed(5)
        with mx.autograd.record():
            y = mx.nd.Dropout(x, p=0.25, axes=axes)
        y.backward(mx.nd.ones(shape, dtype=d) * 2)
        results.append((y, x.grad))
        assert (mx.nd.Dropout(x, p=0.25).asnumpy() == 1).all()
    (y, dx), (wide_y, wide_dx) = results
    np.testing.assert_array_equal(y.asnumpy(), wide_y.astype(dtype).asnumpy())
    np.testing.assert_array_equal(dx.asnumpy(), (2 * y).asnumpy())


@pytest.mark.parametrize("name", ["relu", "gelu", "dropout"])
def test_half_element_wise_layers_need_no_float_copy(name):
    x = mx.nd.ones((2048, 2048), dtype="float16")
    mx.nd.waitall()
    mx.cpu().empty_cache()
    mx.storage.reset_peak()
    before = mx.storage.stats().used_bytes
    with mx.autograd.train_mode():
        y = (mx.nd.Dropout(x, p=0.5) if name == "dropout" else mx.nd.Activation(x, act_type="relu")
             if name == "relu" else mx.nd.LeakyReLU(x, act_type="gelu"))
    y.wait_to_read()
    # the output, and dropout's mask; a float copy takes 16 MiB
    assert mx.storage.stats().peak_used_bytes - before < (1.5 if name != "dropout" else 2.5) * 8 * 2 ** 20


@pytest.mark.parametrize("rows", (15, 16, 31, 64, 65, 200))
@pytest.mark.parametrize("columns, features", ((400, 512), (300, 345)))
def test_dense_layers_of_some_rows(rows, columns, features):
    """Products that are computed in several calls of the library."""
    random = np.random.default_rng(rows)
    x, w, b = (random.standard_normal(shape).astype("float32") for shape in ((rows, features), (columns, features), (columns,)))
    got = mx.nd.FullyConnected(mx.nd.array(x), mx.nd.array(w), mx.nd.array(b), num_hidden=columns).asnumpy()
    np.testing.assert_allclose(got, x.astype("float64") @ w.T.astype("float64") + b, rtol=1e-5, atol=1e-4)


# Name, order of the axes of NCHW, and of its own in NCHW.
LAYOUTS = (("NCHW", (0, 1, 2, 3), (0, 1, 2, 3)), ("NHWC", (0, 2, 3, 1), (0, 3, 1, 2)))


@pytest.mark.parametrize("kind", ("max", "avg", "sum"))
@pytest.mark.parametrize("kernel, stride, pad", (((2, 2), (2, 2), (0, 0)), ((2, 2), (1, 2), (1, 0)), ((3, 3), (2, 2), (1, 1)),
                                                 ((3, 2), (3, 3), (0, 1)), ((5, 4), (1, 1), (2, 1))))
@pytest.mark.parametrize("size", ((9, 7), (8, 37), (6, 6)))
@pytest.mark.parametrize("convention", ("valid", "full"))
def test_gradients_of_pooling_in_both_layouts(kind, kernel, stride, pad, size, convention):
    """Planes go by in lines, channels that come last by windows. Few values have many ties."""
    random = np.random.default_rng(3)
    data, results = random.integers(0, 3, (2, 3, *size)).astype("float32"), []
    for layout, axes, back in LAYOUTS:
        x = mx.nd.array(data.transpose(axes))
        x.attach_grad()
        with mx.autograd.record():
            y = mx.nd.Pooling(x, kernel=kernel, stride=stride, pad=pad, pool_type=kind, layout=layout, pooling_convention=convention)
        shape = [y.shape[i] for i in back]
        y.backward(mx.nd.array(np.arange(y.size, dtype="float32").reshape(shape).transpose(axes)))
        results.append((y.asnumpy().transpose(back), x.grad.asnumpy().transpose(back)))
    for planes, last in zip(*results):
        np.testing.assert_allclose(planes, last, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("bound", [False, True])
def test_convolution_of_int8_is_cut_to_int8(bound):
    rng = np.random.default_rng(3)
    x, w, b = (rng.integers(-20, 20, shape, "int8") for shape in ((2, 2, 6, 5), (3, 2, 2, 2), (3,)))
    attrs = dict(kernel=(2, 2), num_filter=3, no_bias=False)
    inputs = {"data": x, "weight": w, "bias": b}
    exact = mx.nd.Convolution(*[mx.nd.array(v, dtype="float64") for v in inputs.values()], **attrs).asnumpy()
    arrays = {name: mx.nd.array(v, dtype="int8") for name, v in inputs.items()}
    if bound:
        out = mx.sym.Convolution(**{name: mx.sym.var(name) for name in inputs}, **attrs).eval(**arrays)[0]
    else:
        out = mx.nd.Convolution(**arrays, **attrs)
    assert out.dtype == np.int8
    np.testing.assert_array_equal(out.asnumpy(), exact.clip(-128, 127))
    assert (abs(exact) > 128).any() and (abs(exact) < 127).any()
    x = arrays["data"]
    x.attach_grad()
    with mx.autograd.record():
        out = mx.nd.Convolution(**arrays, **attrs)
    with pytest.raises(mx.MXNetError, match="int8"):
        out.backward()
        x.grad.wait_to_read()


def test_statistics_of_no_elements():
    """Inference has the moving statistics, as in 1.9.1; there is no mean of a batch of nothing."""
    nothing, ones, group = mx.nd.zeros((3, 4, 0, 2)), mx.nd.ones(4), mx.nd.ones(2)
    for train in (False, True):
        with mx.autograd.record(train_mode=train):
            _, mean, inverse = mx.nd.BatchNorm(nothing, ones, ones, ones * 2, ones * 3, output_mean_var=True, eps=1e-3)
        np.testing.assert_allclose(mean.asnumpy(), np.nan if train else 2)
        np.testing.assert_allclose(inverse.asnumpy(), np.nan if train else 3.001 ** -0.5, rtol=1e-6)
    for statistic in mx.nd.GroupNorm(nothing, group, group, num_groups=2, output_mean_var=True)[1:]:
        assert statistic.shape == (3, 2) and np.isnan(statistic.asnumpy()).all()


@pytest.mark.cpu
@pytest.mark.parametrize("mean", [1000.1, 12345.678, -7.7e6])
@pytest.mark.parametrize("n", [40, 777])
def test_normalizations_of_data_far_from_zero(mean, n):
    """Equal elements become beta, others keep the digits in which they differ."""
    ones, zeros = mx.nd.ones(4), mx.nd.zeros(4)

    def normalized(x):
        with mx.autograd.record():
            group = mx.nd.GroupNorm(x, ones, zeros, num_groups=2, eps=1e-5)
            instance = mx.nd.InstanceNorm(x, ones, zeros, eps=1e-5)
            layer = mx.nd.LayerNorm(x, mx.nd.ones(n), mx.nd.zeros(n), eps=1e-5)
            mx.autograd.backward([group, instance], [slopes, slopes])
        return [y.asnumpy() for y in (group, instance, layer)] + [x.grad.asnumpy()]

    slopes = mx.nd.array(np.random.RandomState(0).uniform(-1, 1, (2, 4, n)))
    x = mx.nd.full((2, 4, n), mean)
    x.attach_grad()
    *outputs, gradient = normalized(x)
    assert all((y == 0).all() for y in outputs)
    heads = slopes.asnumpy().astype("float64")
    pairs = heads.reshape(2, 2, -1)
    expected = (pairs - pairs.mean(-1, keepdims=True)).reshape(heads.shape) + heads - heads.mean(-1, keepdims=True)
    np.testing.assert_allclose(gradient, expected / 1e-5 ** 0.5, rtol=1e-5, atol=1e-3)

    x[:] = mean + abs(mean) * 1e-4 * np.random.RandomState(1).normal(size=x.shape)
    *outputs, gradient = normalized(x)
    exact, row_gradients = x.asnumpy().astype("float64"), 0
    for y, rows, atol in zip(outputs, ((2, 2, -1), (8, -1), (8, -1)), (5e-6, 5e-6, 2e-3)):
        v, g = exact.reshape(rows), heads.reshape(rows)
        inverse = (v.var(-1, keepdims=True) + 1e-5) ** -0.5
        expected = (v - v.mean(-1, keepdims=True)) * inverse
        np.testing.assert_allclose(y.reshape(rows), expected, atol=atol)
        if atol < 1e-3:
            part = inverse * (g - g.mean(-1, keepdims=True) - expected * (g * expected).mean(-1, keepdims=True))
            row_gradients = row_gradients + part.reshape(exact.shape)
    np.testing.assert_allclose(gradient, row_gradients, rtol=1e-4, atol=2e-5 * abs(row_gradients).max())


@pytest.mark.parametrize("normalization", ["null", "batch", "valid"])
@pytest.mark.parametrize("use_ignore", [False, True])
def test_softmax_output_of_three_dimensions(normalization, use_ignore):
    """As 1.9.1: rows are all that is behind the first dimension, row i has element i of the label,
    and all labels count."""
    x = mx.nd.array(np.random.RandomState(0).uniform(-1, 1, (3, 2, 4)))
    label = mx.nd.array([[7, 0], [-1, 1], [2, -1]])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.SoftmaxOutput(x, label, use_ignore=use_ignore, normalization=normalization)
    y.backward()
    rows = x.asnumpy().reshape(3, 8)
    expected = np.exp(rows) / np.exp(rows).sum(1, keepdims=True)
    np.testing.assert_allclose(y.asnumpy().reshape(3, 8), expected, rtol=1e-5)
    expected[0, 7] -= 1
    expected[1, 0] -= 1
    expected[2] = 0 if use_ignore else expected[2]
    expected /= {"null": 1, "batch": 6, "valid": 4}[normalization]
    np.testing.assert_allclose(x.grad.asnumpy().reshape(3, 8), expected, rtol=1e-5, atol=1e-6)
    kept = mx.nd.SoftmaxOutput(x, label, preserve_shape=True)
    np.testing.assert_allclose(kept.asnumpy(), mx.nd.softmax(x).asnumpy(), rtol=1e-5)
