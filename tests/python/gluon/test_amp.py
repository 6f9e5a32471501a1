"""Mixed precision: lists, converted graphs, training."""
import json
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import amp, autograd, gluon
from mxnet.gluon import nn

pytestmark = pytest.mark.on_gpu

TARGETS = ["float16", "bfloat16"]
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2}     # relative to the largest value: some units in the last place


def operators(symbol):
    nodes = json.loads(symbol.tojson(remove_amp_cast=False))["nodes"]
    return [(n["op"], n["name"]) for n in nodes if n["op"] != "null"]


def close(a, b, target):
    a, b = a.astype("float32").asnumpy(), b.astype("float32").asnumpy()
    np.testing.assert_allclose(a, b, atol=TOLERANCE[target] * max(1e-3, np.abs(b).max()), rtol=0)


def network():
    mx.random.seed(7)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2),
            nn.Conv2D(16, 3, padding=1), nn.LeakyReLU(0.1),
            nn.GlobalAvgPool2D(), nn.Dense(32, activation="tanh"), nn.LayerNorm(), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


@pytest.mark.parametrize("target", TARGETS)
def test_lists(target):
    low, full, either, widest = (set(f(target))
                                 for f in (amp.list_lp16_ops, amp.list_fp32_ops,
                                           amp.list_lp16_fp32_ops, amp.list_widest_type_cast))
    assert {"Convolution", "Deconvolution", "FullyConnected", "RNN"} <= low
    assert {"exp", "log", "sum", "mean", "norm", "softmax", "log_softmax", "LayerNorm", "SoftmaxOutput", "broadcast_power"} <= full
    assert {"relu", "tanh", "Pooling", "Reshape", "transpose", "BatchNorm", "Dropout", "slice"} <= either
    assert {"elemwise_add", "broadcast_mul", "Concat", "concat", "dot", "batch_dot", "add_n", "where", "stack"} <= widest
    assert not low & full and not low & widest and not full & widest and not either & (low | full | widest)
    conditional = {name: (parameter, values) for name, parameter, values in amp.list_conditional_fp32_ops(target)}
    assert conditional["Activation"] == ("act_type", ["softrelu"]) and conditional["LeakyReLU"] == ("act_type", ["elu", "selu"])
    losses = ["LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput", "SVMOutput",
              "SoftmaxOutput"]
    assert sorted(amp.list_loss_output_functions(target)) == losses
    with pytest.raises(ValueError, match="target_dtype"):
        amp.list_lp16_ops("int8")


@pytest.mark.parametrize("target", TARGETS)
def test_convert_symbol(target):
    x = mx.sym.var("data")
    y = mx.sym.FullyConnected(mx.sym.relu(mx.sym.FullyConnected(x, num_hidden=8, name="a")), num_hidden=8, name="b")
    y = mx.sym.elemwise_add(mx.sym.exp(y, name="e"), y, name="sum")
    s = amp.convert_symbol(y, target)
    ops = operators(s)
    casts = [name for op, name in ops if op == "amp_cast"]
    assert (sorted(casts) == sorted([f"{n}_amp_cast_{target}"
                                     for n in ("data", "a_weight", "a_bias", "b_weight", "b_bias")]
                                    + ["b_output_amp_cast_float32"]))
    assert [name for op, name in ops if op == "amp_multicast"] == ["sum_amp_multicast"]
    assert operators(mx.sym.load_json(s.tojson(remove_amp_cast=True))) == operators(y)
    excluded = operators(amp.convert_symbol(y, target, excluded_sym_names=["b"]))
    assert ("amp_cast", f"b_weight_amp_cast_{target}") not in excluded and ("amp_cast", f"a_weight_amp_cast_{target}") in excluded
    # without data_names nothing is a parameter
    assert operators(amp.convert_symbol(y, target, cast_optional_params=True)) == ops
    optional = amp.convert_symbol(y, target, data_names=["data"], cast_optional_params=True)
    assert {n for n, a in optional.attr_dict().items() if "__dtype__" in a} == {"a_weight", "a_bias", "b_weight", "b_bias"}
    assert [name for op, name in operators(optional) if op == "amp_cast"] == [f"data_amp_cast_{target}", "b_output_amp_cast_float32"]
    assert not [1 for op, _ in operators(amp.convert_symbol(y, target, target_dtype_ops=[])) if op.startswith("amp")]
    elu = mx.sym.LeakyReLU(mx.sym.FullyConnected(x, num_hidden=4, name="a"), act_type="elu")
    assert ("amp_cast", "a_output_amp_cast_float32") in operators(amp.convert_symbol(elu, target))
    leaky = mx.sym.LeakyReLU(mx.sym.FullyConnected(x, num_hidden=4, name="a"), act_type="leaky")
    assert ("amp_cast", "a_output_amp_cast_float32") not in operators(amp.convert_symbol(leaky, target))
    with pytest.warns(UserWarning, match="no nodes"):     # 1.9.1 leaves such names out
        converted = amp.convert_symbol(y, target, excluded_sym_names=["nothing"])
    assert operators(converted) == operators(s)
    with pytest.raises(ValueError, match="target_dtype"):
        amp.convert_symbol(y, "float64")


@pytest.mark.parametrize("target", TARGETS)
def test_converted_graphs_give_float32(target):     # as in 1.9.1 and 2.0
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="a")
    heads = mx.sym.Group([x, mx.sym.softmax(x, name="s"), mx.sym.split(x, num_outputs=2, name="p")[1],
                          mx.sym.cast(x, "int32", name="i")])
    converted = amp.convert_symbol(heads, target)
    assert converted.list_outputs() == ["a_output_amp_cast_float32_output", "s_output",
                                        "p_output1_amp_cast_float32_output", "i_output"]
    executor = converted.simple_bind(mx.cpu(), data=(2, 3))
    assert [np.dtype(out.dtype).name for out in executor.forward()] == ["float32"] * 3 + ["int32"]
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 3)))
    assert amp.convert_hybrid_block(net, target)(mx.nd.ones((1, 3))).dtype == np.float32


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("cast_params", [False, True])
def test_convert_model(target, cast_params):
    net = network()
    x = mx.nd.random.normal(shape=(2, 3, 12, 12))
    expected = net(x)
    symbol = net._cached_graph[1]
    params = {p.name: p.data() for p in net.collect_params().values()}
    args = {n: params[n] for n in symbol.list_arguments() if n in params}
    aux = {n: params[n] for n in symbol.list_auxiliary_states()}
    s, new_args, new_aux = amp.convert_model(symbol, args, aux, target, cast_optional_params=cast_params)
    changed = {n for n in args if new_args[n].dtype != args[n].dtype}
    assert bool(changed) == cast_params and all("weight" in n or "bias" in n for n in changed)
    assert all(new_aux[n].dtype == np.float32 for n in aux)
    executor = s.bind(mx.cpu(), dict(new_args, data=x), aux_states=new_aux, grad_req="null")
    out = executor.forward()[0]
    close(out, expected, target)
    assert not np.array_equal(out.astype("float32").asnumpy(), expected.asnumpy())       # it was computed otherwise


@pytest.mark.parametrize("target", TARGETS)
def test_convert_hybrid_block(target):
    net = network()
    x = mx.nd.random.normal(shape=(2, 3, 12, 12))
    expected = net(x)
    new = amp.convert_hybrid_block(net, target)
    close(new(x), expected, target)
    low = amp.convert_hybrid_block(net, target, cast_optional_params=True)
    close(low(x), expected, target)
    assert len({str(p.dtype) for p in low.collect_params().values()}) == 2
    with pytest.raises(RuntimeError, match="run it once"):
        amp.convert_hybrid_block(nn.Dense(3), target)


@pytest.mark.parametrize("target", TARGETS)
def test_converted_network_is_one_plan(target):
    """BatchNorm is folded, additions and activations are part of the layers, and parameters are
    cast once, as in float32."""
    mx.random.seed(3)
    body = nn.HybridSequential()
    body.add(nn.Conv2D(24, 3, padding=1, in_channels=20), nn.BatchNorm(), nn.Activation("relu"),
             nn.Conv2D(20, 1, in_channels=24), nn.BatchNorm())

    class Residual(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.stem, self.body, self.top = nn.Conv2D(20, 7, strides=2, padding=3), body, nn.Dense(10, activation="tanh")

        def hybrid_forward(self, F, x):
            x = F.Pooling(self.stem(x), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max")
            return self.top(F.Pooling(F.relu(x + self.body(x)), kernel=(2, 2), stride=(2, 2), pool_type="avg"))

    net = Residual()
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.normal(shape=(2, 3, 30, 30))
    with autograd.record():      # running statistics that are not 0 and 1
        net(x)
    net.hybridize()
    expected = net(x)
    kinds = lambda n: sorted(node["op"] for node in n.explain(runs=1).plan["nodes"] if not node["constant"] and "cast" not in node["op"])
    plain = kinds(net)
    for cast_params in (False, True):
        low = amp.convert_hybrid_block(net, target, cast_optional_params=cast_params)
        low.hybridize(static_alloc=True, static_shape=True)
        close(low(x), expected, target)
        fused = kinds(low)
        assert ("BatchNorm" not in fused and "elemwise_add" not in fused
                and "Activation" not in fused and len(fused) <= len(plain) + 1), fused
        first = low(x).astype("float32").asnumpy()
        weight = next(p for p in low.collect_params().values() if p.shape == (24, 20, 3, 3))
        weight.set_data(weight.data() * 2)        # what was derived from it is derived again
        assert np.abs(low(x).astype("float32").asnumpy() - first).max() > 1e-3
        weight.set_data(weight.data() / 2)
        np.testing.assert_array_equal(low(x).astype("float32").asnumpy(), first)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("masked", [False, True])
def test_attention_is_one_operator(target, masked):
    """Scores and weights stay inside, through the casts that softmax and the sum with a mask
    get."""
    class Attention(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v, self.top = (nn.Dense(32, flatten=False) for _ in range(4))

        def hybrid_forward(self, F, x, mask=None):
            heads = lambda a: F.reshape(F.transpose(F.reshape(a, shape=(0, 0, 4, -1)), axes=(0, 2, 1, 3)), shape=(-3, 0, 0))
            scores = F.batch_dot(heads(self.q(x)) * 0.35, heads(self.k(x)), transpose_b=True)
            if mask is not None:
                scores = F.broadcast_add(scores, mask)
            out = F.batch_dot(F.softmax(scores), heads(self.v(x)))
            return self.top(F.reshape(F.transpose(F.reshape(out, shape=(-4, -1, 4, 0, 0)), axes=(0, 2, 1, 3)), shape=(0, 0, -3)))

    mx.random.seed(5)
    net = Attention()
    net.initialize(mx.init.Xavier(magnitude=6))
    net.hybridize()
    inputs = [mx.nd.random.normal(shape=(2, 11, 32))] + ([mx.nd.array(-1e4 * (np.arange(11) > 6).reshape(1, 1, 11))] if masked else [])
    expected = net(*inputs)
    low = amp.convert_hybrid_block(net, target)
    close(low(*inputs), expected, target)
    ops = {node["op"] for node in low.explain(runs=0).plan["nodes"]}
    assert "_fused_attention" in ops and not ops & {"batch_dot", "softmax", "transpose", "amp_multicast"}, ops


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["max", "avg", "sum", "lp"])
@pytest.mark.parametrize("channels", [5, 8, 72, 200])
def test_pooling(target, kind, channels):
    rng = np.random.RandomState(1)
    x = mx.nd.array(rng.normal(size=(2, 9, 7, channels))).astype(target)
    x[0, 0, 0, 0], x[1, 4, 4, channels - 1] = float("inf"), float("nan")
    for kernel, options in (((3, 3), dict(stride=(2, 2), pad=(1, 1))),
                            ((9, 7), dict(global_pool=True)),
                            ((2, 3), dict(pooling_convention="full", stride=(2, 2)))):
        options = dict(options, kernel=kernel, pool_type=kind, layout="NHWC", **({"p_value": 2} if kind == "lp" else {}))
        expected = mx.nd.Pooling(x.astype("float32"), **options).astype(target).astype("float32").asnumpy()
        got = mx.nd.Pooling(x, **options).astype("float32").asnumpy()
        if kind == "max":
            np.testing.assert_array_equal(got, expected)
        else:
            np.testing.assert_allclose(got, expected, rtol=2 ** -7, atol=1e-2)


def test_contrib_names():
    import mxnet.contrib.amp as contrib
    from mxnet.contrib.amp import amp as inner
    from mxnet.contrib.amp.loss_scaler import LossScaler
    assert contrib.convert_model is amp.convert_model is inner.convert_model and LossScaler is amp.LossScaler


def test_loss_scaler():
    p = gluon.Parameter("p", shape=(3,))
    p.initialize()
    scaler = amp.LossScaler()
    scale = scaler.loss_scale
    p.grad()[:] = 1
    assert not scaler.has_overflow([p]) and scaler.loss_scale == scale
    p.grad()[1] = np.inf
    assert scaler.has_overflow([p])
    p.grad()[1] = 0
    assert not scaler.has_overflow([p]) and scaler.loss_scale == scale / 2
    for _ in range(2001):
        scaler.has_overflow([p])
    assert scaler.loss_scale == scale


TRAIN = """
import json
import sys
import numpy as np
import mxnet as mx
from mxnet import amp, autograd, gluon
from mxnet.gluon import nn
target, hybridize = sys.argv[1], sys.argv[2] == "1"
rng = np.random.RandomState(2)
x = mx.nd.array(rng.normal(size=(32, 20)))
y = mx.nd.array((x.asnumpy() @ rng.normal(size=(20, 4))).argmax(1))

def train(steps):
    mx.random.seed(1)
    net = nn.HybridSequential()
    net.add(nn.Dense(32, activation="relu"), nn.LayerNorm(), nn.Dense(4))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2})
    scaled_training = amp.amp._target is not None
    if scaled_training:
        amp.init_trainer(trainer)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for i in range(steps):
        with autograd.record():
            out = net(x)
            loss = loss_of(out, y)
            if scaled_training:
                with amp.scale_loss(loss, trainer) as scaled:
                    autograd.backward(scaled)
            else:
                autograd.backward(loss)
        trainer.step(32)
        losses.append(float(loss.mean().asscalar()))
    return losses, net, trainer, out

plain, _, _, _ = train(30)
amp.init(target)
amp.init(target)      # once more does nothing
mixed, net, trainer, out = train(30)
assert str(getattr(out.dtype, "__name__", out.dtype)) == target, out.dtype
assert all(p.data().dtype == np.float32 for p in net.collect_params().values())
assert mixed[-1] < 0.5 * mixed[0] and abs(mixed[-1] - plain[-1]) < 0.1 * plain[0], (plain[-1], mixed[-1])
assert mixed != plain
assert mx.nd.exp(out).dtype == np.float32
assert (mx.nd.broadcast_add(out, mx.nd.ones((32, 4)))).dtype == np.float32

# Python's operators, the functions of their names, and those of modules: the widest type of two arrays
wide = mx.nd.ones((32, 4))
for two in (out + wide, wide - out, out * wide, wide / out, out % wide, out > wide, wide == out,
            mx.nd.maximum(out, wide), mx.nd.add(wide, out), mx.nd.logical_and(out, wide), mx.nd.elemwise_add(out, wide)):
    assert two.dtype == np.float32, two.dtype
assert all(str(getattr(one.dtype, "__name__", one.dtype)) == target for one in (out + 1, 2 - out, out + out, 2 * out))
assert (out ** 2).dtype == np.float32 and (2 ** out).dtype == np.float32
assert (wide + 1)[0, 0].asscalar() == 2 and (3 - wide)[0, 0].asscalar() == 2 and (out == out).asnumpy().all()
low, qkv = mx.nd.ones((4, 2, 24)).astype(target), mx.nd.ones((4, 2, 24))
scores = mx.nd.contrib.interleaved_matmul_selfatt_qk(low, heads=2)
assert str(getattr(scores.dtype, "__name__", scores.dtype)) == target
assert mx.nd.contrib.interleaved_matmul_selfatt_valatt(low, mx.nd.softmax(scores), heads=2).dtype == np.float32
a, b = mx.sym.var("a"), mx.sym.var("b")
for two, op in ((a + b, "elemwise_add"), (a - b, "elemwise_sub"), (a / b, "elemwise_div"), (a > b, "_greater"),
                (mx.sym.maximum(a, b), "_maximum"), (mx.sym.elemwise_mul(a, b), "elemwise_mul"),
                (mx.sym.contrib.interleaved_matmul_selfatt_valatt(a, b, heads=2), "_contrib_interleaved_matmul_selfatt_valatt")):
    ops = [n["op"] for n in json.loads(two.tojson(remove_amp_cast=False))["nodes"] if n["op"] != "null"]
    assert ops == ["amp_multicast", op], ops
nodes = json.loads((a ** b).tojson(remove_amp_cast=False))["nodes"]
assert [n["op"] for n in nodes if n["op"] != "null"] == ["amp_cast", "amp_cast", "_power"]

# an overflow skips the step
weight = net[0].weight
before = weight.data().asnumpy()
for p in net.collect_params().values():
    p.grad()[:] = np.inf
for p in net.collect_params().values():
    for d in p.list_data():
        d._fresh_grad = True
trainer.step(32)
assert np.array_equal(before, weight.data().asnumpy())

# gradients between backward and update
with autograd.record():
    loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
    with amp.scale_loss(loss, trainer) as scaled:
        autograd.backward(scaled)
scale = trainer._amp_loss_scaler.loss_scale
raw = weight.grad().asnumpy()
amp.unscale(trainer)
assert np.allclose(raw / scale, weight.grad().asnumpy(), rtol=1e-6)
assert (scale == 1) == (target == "bfloat16")
try:
    amp.init("float16" if target == "bfloat16" else "bfloat16")
    raise SystemExit("accepted a second target")
except ValueError:
    pass
print("ok")
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("hybridize", ["0", "1"])
def test_training(target, hybridize):
    result = subprocess.run([sys.executable, "-c", TRAIN, target, hybridize], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0 and result.stdout.strip().endswith("ok"), result.stderr[-2000:]


def test_errors():
    p = gluon.Parameter("p", shape=(1,))
    p.initialize()
    trainer = gluon.Trainer([p], "sgd")
    with pytest.raises(ValueError, match=r"amp.init\(\)"):
        amp.init_trainer(trainer)
    with pytest.raises(TypeError, match="Trainer"):
        amp.init_trainer(mx.optimizer.SGD())
    for kind in (ValueError, AttributeError):      # the latter in 1.9.1
        with pytest.raises(kind, match="init_trainer"):
            with amp.scale_loss(mx.nd.ones(1), trainer):
                pass
        with pytest.raises(kind, match="no operators: Nope"):
            amp.init(fp32_ops=["exp", "Nope"])
        with pytest.raises(kind, match="no operators: Nope"):
            amp.init(conditional_fp32_ops=[("Nope", "a", ["b"])])
    assert amp.unscale(trainer) is None and trainer._scale == 1      # as in 1.9.1, without a scale
    symbol, dense = mx.sym.relu(mx.sym.var("data"), name="r"), gluon.nn.Dense(3)
    for target in ("int8", "float64", None):
        with pytest.raises(ValueError, match=r"\[amp.convert_model\] target_dtype .*; accepted: 'float16', 'bfloat16'"):
            amp.convert_model(symbol, {}, {}, target)
    for convert in (amp.convert_symbol, lambda s: amp.convert_model(s, {}, {})):
        with pytest.raises(TypeError, match=r"\[amp.convert_.*\] got a Dense; accepted: a Symbol"):
            convert(dense)
    with pytest.raises(ValueError, match=r"\['tanh'\] stand in target_dtype_ops and in fp32_ops"):
        amp.convert_symbol(symbol, target_dtype_ops=["tanh"], fp32_ops=["tanh"])
    for wrong in ({"excluded_sym_names": "r"}, {"fp32_ops": "tanh"}, {"target_dtype_ops": ["tanh"], "fp32_ops": ["tanh"]},
                  {"target_dtype": "int8"}, {"target_dtype_ops": 3}, {"fp32_ops": [3]}, {"conditional_fp32_ops": ["a"]},
                  {"conditional_fp32_ops": [("relu", 3, ["a"])]}, {"fp32_ops": ["Nope"]}, {"target_dtype_ops": ["Nope"]}):
        with pytest.raises(AssertionError, match=r"^\[amp.convert_symbol\]"):      # which 1.9.1 raises
            amp.convert_symbol(symbol, **wrong)
    for arrays in ((3, {}), ({}, None)):
        with pytest.raises(AssertionError, match="a dict of names to NDArrays is expected"):
            amp.convert_model(symbol, *arrays)
    with pytest.raises(TypeError, match="got a Symbol; accepted: a HybridBlock"):
        amp.convert_hybrid_block(symbol)
    with pytest.raises(RuntimeError, match=r"has no graph; call hybridize\(\) and run it once before"):
        amp.convert_hybrid_block(dense)


@pytest.mark.parametrize("target", TARGETS)
def test_loops_stay_in_full_precision(target):
    """The graphs of loops are left alone, as 1.9.1 leaves them. What goes in is cast to float32
    where the graph needs that; 1.9.1 refuses it, or computes exp in float16."""
    x, h, w = (mx.sym.var(n) for n in "xhw")
    data, state, weight = mx.nd.full((3, 2, 4), 2.5), mx.nd.zeros((2, 4)), mx.nd.ones((4, 4))
    first = mx.sym.FullyConnected(x, w, num_hidden=4, no_bias=True, flatten=False)      # 10
    bodies = {"exp": lambda a, s: (mx.sym.exp(a * 1.2) + s, s),                         # float16 ends at 65504
              "weights": lambda a, s: (mx.sym.FullyConnected(a, w, num_hidden=4, no_bias=True) + s, s)}
    for name, body in bodies.items():
        sym, _ = mx.sym.contrib.foreach(body, first, h)
        ex = amp.convert_symbol(sym, target).bind(mx.cpu(), {"x": data, "h": state, "w": weight})
        (out,) = ex.forward()
        assert out.dtype == np.float32
        np.testing.assert_allclose(out.asnumpy(), np.full((3, 2, 4), np.exp(12) if name == "exp" else 40), rtol=1e-5)
