"""Quantized networks: how right they are, and that they are networks like others."""
import ctypes
import json
import logging
import warnings
from pathlib import Path

import numpy as np
import pytest
from test_ranges import ARRAYS, calibration, model

import mxnet as mx
from mxnet import gluon
from mxnet.contrib import quantization
from mxnet.gluon import nn

LABELS = ARRAYS["labels"]


def held_out():
    return mx.nd.array(ARRAYS["held_out"].astype("float32")[:, None] / 16)


def scores(symbol, args, aux):
    return symbol.bind(mx.cpu(), {**args, "data": held_out()}, aux_states=aux, grad_req="null").forward()[0].asnumpy()


def right(result):
    return (result.argmax(axis=1) == LABELS).mean()


def test_float32_is_what_1_9_1_gives():
    np.testing.assert_allclose(scores(*model()), ARRAYS["float32"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", ["naive", "entropy"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "auto"])
@pytest.mark.parametrize("quantize", [quantization.quantize_model, quantization.quantize_model_mkldnn])
@pytest.mark.parametrize("graph", ["full", "smart"])
def test_digits_are_as_right(mode, dtype, quantize, graph):
    if dtype == "uint8" and quantize is quantization.quantize_model:
        pytest.skip("unsigned integers for values of both signs")
    result = scores(*quantize(*model(), calib_mode=mode, calib_data=calibration(), quantized_dtype=dtype, quantize_mode=graph))
    assert abs(right(result) - right(ARRAYS["float32"])) <= 0.01
    assert (result.argmax(axis=1) == ARRAYS["merged " + mode].argmax(axis=1)).mean() >= 0.98


def test_merged_layers_lose_little():
    """As much as those of 1.9.1, whose weights have a range for each channel, or little more."""
    exact = scores(*model())
    theirs = abs(ARRAYS["merged naive"] - ARRAYS["float32"]).mean()
    ours = abs(scores(*quantization.quantize_model_mkldnn(*model(), calib_mode="naive", calib_data=calibration(),
                                                          quantized_dtype="auto", quantize_mode="full")) - exact).mean()
    assert ours < 1.34 * theirs


def test_without_calibration():
    result = scores(*quantization.quantize_model(*model(), calib_mode="none"))
    assert abs(right(result) - right(ARRAYS["float32"])) <= 0.01


def small_net():
    mx.random.seed(3)
    net = nn.HybridSequential(prefix="small_")
    with net.name_scope():
        net.add(nn.Conv2D(8, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2),
                nn.Conv2D(8, 3, padding=1), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Flatten(),
                nn.Dense(16, activation="relu"), nn.Dropout(0.5), nn.Dense(4))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def pictures(count=12):
    return mx.nd.array(np.random.RandomState(4).uniform(-1, 1, (count, 3, 8, 8)))


def loader(labels=False, batch=4):
    arrays = [pictures(), mx.nd.arange(12)] if labels else [pictures()]
    return gluon.data.DataLoader(gluon.data.ArrayDataset(*arrays), batch)


def close(a, b, share):
    assert abs(a - b).max() < share * abs(b).max()


@pytest.mark.parametrize("data", ["loader", "labels", "iterator"])
def test_a_block(data):
    net, x = small_net(), pictures()
    before = net(x).asnumpy()
    given = {"loader": loader(), "labels": loader(True), "iterator": mx.io.NDArrayIter(x, mx.nd.arange(12), 4)}[data]
    int8 = quantization.quantize_net(net, calib_data=given, calib_mode="naive")
    close(int8(x).asnumpy(), before, 0.1)
    np.testing.assert_array_equal(net(x).asnumpy(), before)
    kinds = {p.dtype if isinstance(p.dtype, str) else np.dtype(p.dtype).name for n, p in int8.collect_params().items()
             if n.endswith("_quantize")}
    assert kinds == {"int8", "int32"}      # biases have 32 bits


@pytest.mark.parametrize("shapes", [[(4, 3, 8, 8)], [mx.io.DataDesc("data", (4, 3, 8, 8))], [("data", (4, 3, 8, 8))]])
def test_a_block_by_shapes(shapes):
    net = small_net()
    close(quantization.quantize_net_v2(net, data_shapes=shapes)(pictures()).asnumpy(), net(pictures()).asnumpy(), 0.1)


def test_a_block_of_two_inputs():
    class Two(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.a, self.b = nn.Dense(8), nn.Dense(8)

        def hybrid_forward(self, F, x, y):
            return F.elemwise_add(F.relu(self.a(x)), self.b(y))
    net = Two()
    net.initialize(mx.init.Xavier())
    x, y = mx.nd.random.uniform(shape=(12, 5)), mx.nd.random.uniform(shape=(12, 7))
    net.hybridize()
    wanted = net(x, y).asnumpy()
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), 4)
    close(quantization.quantize_net(net, calib_data=data, calib_mode="naive")(x, y).asnumpy(), wanted, 0.05)


def test_calibration_takes_what_gives_batches():
    """A loader, an iterator, lists, generators, and functions of nothing: the same ranges."""
    net, x = small_net(), pictures()
    batches = [batch[0] if isinstance(batch, (list, tuple)) else batch for batch in loader()]
    wanted = quantization.quantize_net(net, calib_data=loader(), calib_mode="naive")(x).asnumpy()

    def generated():
        yield from batches
    whole = mx.nd.concat(*batches, dim=0)
    for given in (loader, lambda: loader(), lambda: batches, generated, generated(), iter(batches), tuple(batches),
                  [[b, mx.nd.zeros(4)] for b in batches], [b.asnumpy() for b in batches], [b.asnumpy().astype("float64") for b in batches],
                  [b.astype("float64") for b in batches], mx.io.NDArrayIter(whole, batch_size=4),
                  lambda: mx.io.NDArrayIter(whole, batch_size=4)):
        made = quantization.quantize_net(net, calib_data=given, calib_mode="naive")
        np.testing.assert_array_equal(made(x).asnumpy(), wanted, err_msg=repr(given))
    with pytest.raises(ValueError, match="calib_data has no batches"):
        quantization.quantize_net(net, calib_data=iter([]), calib_mode="naive")


def test_the_report_says_what_stayed_in_floats():
    net = nn.HybridSequential(prefix="r_")
    net.add(nn.Conv2D(4, 3, prefix="c_"), nn.BatchNorm(prefix="b_"), nn.Activation("relu", prefix="a_"), nn.Flatten(prefix="f_"),
            nn.Dense(6, prefix="d_"), nn.Activation("softrelu", prefix="s_"), nn.Dense(3, prefix="e_"))
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(shape=(4, 3, 8, 8))

    def report(**ask):
        return {row.name: row for row in quantization.quantize_net(net, calib_data=[x], calib_mode="naive", **ask).quantization}
    full = report()
    forms = {name.split("_")[0]: row.form for name, row in full.items()}
    assert forms == {"c": "integers", "b": "merged", "a": "integers", "f": "integers", "d": "integers", "s": "float32", "e": "integers"}
    assert "no form on integers" in next(row.why for name, row in full.items() if name.startswith("s_"))
    named = report(exclude_layers=["d_fwd"])["d_fwd"]
    assert named.form == "float32" and named.why == "exclude_layers names it" and named.operator == "FullyConnected"
    assert report(exclude_layers_match=["e_f"])["e_fwd"].why == "exclude_layers_match has 'e_f'"
    operators = report(exclude_operators=["FullyConnected"])
    assert operators["e_fwd"].why == operators["d_fwd"].why == "exclude_operators has FullyConnected"
    assert operators["c_fwd"].form == "integers" and "exclude_operators" not in operators["f_flatten0"].why
    floats = report(exclude_layers=["d_fwd", "e_fwd"])
    between = "what it reads and what reads it are floats, or it moves floats"
    assert [name.split("_")[0] for name, row in floats.items() if row.why == between] == ["a", "f"]
    made = quantization.quantize_net(net, data_shapes=[(4, 3, 8, 8)], exclude_layers=["d_fwd"])
    assert "d_fwd" in made.quantization.in_floats() and "d_fwd" in str(made.quantization)
    assert str(made.quantization).splitlines()[0].endswith("4 in float32")


def test_names_that_are_nothing_are_said():
    net, data = small_net(), [pictures()]
    unknown = "exclude_layers has 'no_layer'; exclude_layers_match has 'zz'; exclude_operators has 'NoOperator'"
    with pytest.warns(UserWarning, match=unknown) as said:
        quantization.quantize_net(net, calib_data=data, calib_mode="naive", exclude_layers=["no_layer"], exclude_layers_match=["zz"],
                                  exclude_operators=["NoOperator", "Pooling"])
    assert said[0].filename == __file__


def test_nothing_to_warn_of():
    """Also of the dtypes of inputs, which the batches have."""
    net = small_net()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in ({"calib_data": [pictures()], "calib_mode": "naive"}, {"data_shapes": [pictures().shape]}):
            quantization.quantize_net(net, exclude_operators=["Pooling", "LayerNorm"], **data)


def test_the_report_of_a_smart_choice_and_of_many_alike():
    """A relu before the first layer has floats before it, and integers behind it."""
    net = nn.HybridSequential(prefix="s_")
    net.add(nn.Activation("relu", prefix="first_"), *(layer for i in range(5) for layer in (
        nn.Dense(4, prefix=f"d{i}_"), nn.Activation("tanh", prefix=f"t{i}_"))))
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(shape=(4, 8))
    smart, full = (quantization.quantize_net(net, calib_data=[x], calib_mode="naive", quantize_mode=mode).quantization
                   for mode in ("smart", "full"))
    assert "quantize_mode 'smart'" in smart[0].why and full[0].form == "integers"
    line, = str(full).splitlines()[1:]
    assert line.startswith("  Activation: ") and "t0_" in line and "t4_" not in line and line.endswith("and 2 more)")


class OfNumpyArrays(gluon.HybridBlock):
    """Functions in the place of layers: relu, reshape, concatenate."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.dense = nn.Conv2D(8, 3, padding=1), nn.Conv2D(8, 1), nn.Dense(4)

    def forward(self, x):
        x = mx.npx.relu(self.first(x))
        y = mx.np.concatenate([x, mx.npx.relu(self.second(x))], axis=1)
        return self.dense(mx.np.reshape(y, (y.shape[0], -1)))


def test_a_block_of_numpy_arrays():
    with mx.util.np_shape(True), mx.util.np_array(True):
        mx.random.seed(3)
        net = OfNumpyArrays()
        net.initialize(mx.init.Xavier())
        x = mx.np.array(pictures().asnumpy())
        exact = net(x).asnumpy()
        made = quantization.quantize_net(net, calib_data=lambda: [x], calib_mode="naive")
        result = made(x)
        assert type(result) is mx.np.ndarray
        close(result.asnumpy(), exact, 0.05)
        assert made.quantization.in_floats() == []


def test_what_is_excluded_stays():
    net, x = small_net(), pictures()
    for exclude in (dict(exclude_layers_match=["conv", "dense", "pool", "flatten", "relu", "batchnorm"]),
                    dict(exclude_operators=["Convolution", "FullyConnected", "Pooling", "Flatten", "Activation", "BatchNorm"])):
        same = quantization.quantize_net(net, calib_data=loader(), calib_mode="naive", **exclude)
        np.testing.assert_allclose(same(x).asnumpy(), net(x).asnumpy(), rtol=1e-5, atol=1e-6)
        assert not any("quantize" in n for n in same.collect_params())
    part = quantization.quantize_net(net, calib_data=loader(), calib_mode="naive", exclude_layers=["small_dense1_fwd"])
    assert "small_dense1_weight" in part.collect_params() and "small_dense0_weight_quantize" in part.collect_params()


def test_examples_and_batches_are_counted():
    seen = []

    class Count(quantization.CalibrationCollector):
        def collect(self, name, op_name, arr):
            if name == "data":
                seen.append((op_name, arr.shape))
    for limits, batches in ((dict(), 3), (dict(num_calib_examples=5), 2), (dict(num_calib_examples=4), 1), (dict(num_calib_batches=2), 2)):
        seen.clear()
        quantization.quantize_net(small_net(), calib_data=loader(), calib_mode="custom", LayerOutputCollector=Count(), **limits)
        assert seen == batches * [("null", (4, 3, 8, 8))]


def test_batches_of_several_sizes():
    net = small_net()
    int8 = quantization.quantize_net(net, calib_data=loader(batch=5), calib_mode="naive")
    close(int8(pictures()).asnumpy(), net(pictures()).asnumpy(), 0.1)


def test_a_collector_of_1_9_1():
    """It has two arguments, a name to decode and a handle."""
    class Collector:
        def __init__(self):
            self.min_max_dict = {}

        def collect(self, name, arr):
            name = mx.base.py_str(name)
            if name in self.include_layer:
                handle = ctypes.cast(arr, mx.base.NDArrayHandle)
                values = mx.nd.NDArray(handle, writable=False).asnumpy()
                self.min_max_dict[name] = float(values.min()), float(values.max())
    collector = Collector()
    net = small_net()
    int8 = quantization.quantize_net_v2(net, calib_data=loader(batch=12), calib_mode="customize", LayerOutputCollector=collector)
    assert set(collector.min_max_dict) == set(collector.include_layer)
    close(int8(pictures()).asnumpy(), net(pictures()).asnumpy(), 0.1)


# ---- files

@pytest.fixture
def exported(tmp_path):
    net = quantization.quantize_net(small_net(), calib_data=loader(), calib_mode="naive")
    result = net(pictures()).asnumpy()
    net.export(str(tmp_path / "net"), 3)
    return str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0003.params"), result


def test_exported_blocks_are_read(exported):
    symbol, params, result = exported
    block = gluon.SymbolBlock.imports(symbol, ["data"], params)
    np.testing.assert_array_equal(block(pictures()).asnumpy(), result)
    block.hybridize(static_alloc=True, static_shape=True)
    np.testing.assert_array_equal(block(pictures()).asnumpy(), result)


def test_a_module_runs_them(exported):
    symbol, _, result = exported
    net, args, aux = mx.model.load_checkpoint(symbol[:-len("-symbol.json")], 3)
    module = mx.mod.Module(net, label_names=None)
    module.bind([("data", (12, 3, 8, 8))], for_training=False)
    module.set_params(args, aux)
    module.forward(mx.io.DataBatch([pictures()]), is_train=False)
    np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), result)


def test_the_predict_interface_runs_them(exported):
    symbol, params, result = exported
    lib, handle = mx.base._LIB, ctypes.c_void_p()
    check, data = mx.base.check_call, Path(params).read_bytes()
    shape, start = (ctypes.c_uint * 4)(12, 3, 8, 8), (ctypes.c_uint * 2)(0, 4)
    check(lib.MXPredCreate(Path(symbol).read_bytes(), data, len(data), 1, 0, 1, (ctypes.c_char_p * 1)(b"data"), start, shape,
                           ctypes.byref(handle)))
    x, out = pictures().asnumpy(), np.empty_like(result)
    address = lambda a: a.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    check(lib.MXPredSetInput(handle, b"data", address(x), ctypes.c_uint(x.size)))
    check(lib.MXPredForward(handle))
    check(lib.MXPredGetOutput(handle, ctypes.c_uint(0), address(out), ctypes.c_uint(out.size)))
    check(lib.MXPredFree(handle))
    np.testing.assert_array_equal(out, result)


def test_graphs_survive_their_text():
    qsym, args, aux = quantization.quantize_model(*model(), calib_mode="naive", calib_data=calibration(), quantize_mode="full")
    again = mx.sym.load_json(qsym.tojson())
    np.testing.assert_array_equal(scores(again, args, aux), scores(qsym, args, aux))


# ---- what is said

def test_a_logger_is_told():
    logger, lines = logging.getLogger("test_quantization"), []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    quantization.quantize_net(small_net(), calib_data=loader(), calib_mode="entropy", num_calib_examples=8, logger=logger,
                              exclude_layers=["small_dense1_fwd"])
    text = "\n".join(lines)
    assert "These layers have been excluded ['small_dense1_fwd']" in text
    assert "Collecting layer data histogram of shape (4, 3, 8, 8)" in text
    assert "Collected statistics from 2 batches with batch_size=4" in text
    assert "Collected layer output values from FP32 model using 8 examples" in text
    assert "layer=data, min_val=" in text


NET, PARAMS = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="f"), {}


@pytest.mark.parametrize("call, kind, words", [
    (lambda q: q.quantize_graph("net", {}, {}), TypeError, "sym is a str; a Symbol"),
    (lambda q: q.quantize_graph(NET, None, {}), TypeError, "arg_params is a NoneType; a dict"),
    (lambda q: q.quantize_graph(NET, {}, {}, calib_mode="bad"), ValueError, "calib_mode 'bad'; accepted: 'none', 'naive', 'entropy'"),
    (lambda q: q.quantize_graph(NET, {}, {}, quantized_dtype="int4"), ValueError, "quantized_dtype 'int4'; accepted: 'int8', 'uint8'"),
    (lambda q: q.quantize_graph(NET, {}, {}, quantize_mode="half"), ValueError, "quantize mode 'half'; accepted: full, smart"),
    (lambda q: q.quantize_graph(NET, {}, {}, quantize_granularity="row"), ValueError, "quantize_granularity 'row'"),
    (lambda q: q.quantize_graph(NET, {}, {}, excluded_sym_names="f"), ValueError, "excluded_sym_names is 'f'; a list of names"),
    (lambda q: q.quantize_graph(NET, {}, {}, excluded_op_names="f"), ValueError, "excluded_op_names is 'f'; a list of names"),
    (lambda q: q.calib_graph(NET, {}, {}, None, calib_mode="none"), ValueError, "calib_mode 'none'; accepted: 'naive'"),
    (lambda q: q.calib_graph(NET, {}, {}, 5, calib_mode="entropy"), TypeError, "calib_mode 'entropy' with a int"),
    (lambda q: q.quantize_model(NET, {}, {}, calib_mode="naive"), ValueError, "calib_data is None with calib_mode 'naive'; a DataIter"),
    (lambda q: q.quantize_model(NET, {}, {}, calib_mode="naive", calib_data=[1]), ValueError, "a DataIter or a DataLoader is accepted"),
    (lambda q: q.quantize_model(NET, {}, {}, calib_mode="customize"), ValueError, "calib_mode 'customize'; accepted"),
    (lambda q: q.quantize_model(NET, {}, {}, data_names=["x"], calib_mode="none"), ValueError, r"data_names has \['x'\]"),
    (lambda q: q.quantize_model_mkldnn(NET, {}, {}, ctx=mx.gpu(), calib_mode="none"), ValueError, "the CPU is accepted"),
    (lambda q: q.quantize_net(small_net()), ValueError, "neither data_shapes nor calib_data"),
    (lambda q: q.quantize_net(small_net(), calib_mode="naive"), ValueError, "calib_data is None with calib_mode 'naive'"),
    (lambda q: q.quantize_net(small_net(), calib_mode="naive", calib_data=5), TypeError, "calib_data is a int; a DataLoader"),
    (lambda q: q.quantize_net(small_net(), calib_mode="custom", calib_data=loader()), ValueError, "needs a LayerOutputCollector"),
    (lambda q: q.quantize_net(nn.Sequential(), data_shapes=[(1, 2)]), TypeError, "network is a Sequential; a HybridBlock"),
    (lambda q: q.quantize_net("net", data_shapes=[(1, 2)]), TypeError, "network is a str; a HybridBlock"),
    (lambda q: q.quantize_net(small_net(), calib_mode="naive", calib_data=pictures()), TypeError, "calib_data is a NDArray; .*one batch"),
    (lambda q: q.quantize_net(small_net(), calib_mode="naive", calib_data="file"), TypeError, "calib_data is a str; a DataLoader"),
    (lambda q: q.quantize_net(small_net(), calib_mode="naive", calib_data=small_net()), TypeError, "calib_data is a HybridSequential"),
    (lambda q: q.quantize_net(small_net(), calib_mode="naive", calib_data=lambda: 5), TypeError, r"calib_data\(\) gives a int"),
    (lambda q: q.quantize_net(small_net(), calib_mode="naive", calib_data=["a"]), TypeError, "batch 0 of calib_data has a str; arrays"),
    (lambda q: q.quantize_net(small_net(), calib_mode="naive", calib_data=lambda a: [a]), TypeError, "a function that needs"),
    (lambda q: q.quantize_net(small_net(), data_shapes=[(1, "3", 8, 8)]), TypeError, r"data_shapes has \(1, '3', 8, 8\); shapes of"),
    (lambda q: q.quantize_net(small_net(), data_shapes=(1, 3, 8, 8)), TypeError, r"data_shapes is \(1, 3, 8, 8\); a list with a shape"),
    (lambda q: q.quantize_net(small_net(), data_shapes=[(1, 3, 8, 8)], quantize_mode="half"), ValueError, "quantize_mode 'half'"),
    (lambda q: q.quantize_net(small_net(), data_shapes=[(1, 3, 8, 8)], num_calib_examples="5"), TypeError, "num_calib_examples is a str"),
    (lambda q: q.quantize_net(small_net(), data_shapes=[(1, 3, 8, 8)], num_calib_batches=0), ValueError, "num_calib_batches is 0; an int"),
    (lambda q: q.quantize_net(small_net(), data_shapes=[(1, 3, 8, 8)], logger=print), TypeError, "logger is a builtin_function"),
    (lambda q: q.quantize_net(small_net(), data_shapes=[(1, 3, 8, 8)], logger=warnings), TypeError, "logger is a module"),
    (lambda q: q.quantize_net(small_net(), calib_mode="custom", calib_data=loader(), LayerOutputCollector=q.CalibrationCollector),
     TypeError, "LayerOutputCollector is the class CalibrationCollector"),
    (lambda q: q.quantize_net(small_net(), exclude_layers="x", data_shapes=[(1, 3, 8, 8)]), ValueError, "exclude_layers is 'x'"),
])
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words):
        call(quantization)


@pytest.mark.parametrize("low, high", [([1.], [0.]), ([np.nan], [1.]), ([0.], [np.inf])])
def test_ranges_that_are_none(low, high):
    with pytest.raises(ValueError, match="the range of data is .*; accepted: finite numbers, the least first"):
        quantization._calibrate_quantized_sym(NET, {"data": (low[0], high[0])})


def test_null_pointers_are_errors():
    lib, out = mx.base._LIB, mx.base.SymbolHandle()
    count, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    none = (0, None, 0, None, 0, None)
    assert lib.MXQuantizeSymbol(None, ctypes.byref(out), ctypes.byref(ctypes.c_int(1)), *none, b"int8", True, b"full", b"tensor-wise",
                                ctypes.byref(count), ctypes.byref(names)) == -1
    assert lib.MXQuantizeSymbol(NET.handle, ctypes.byref(out), None, *none, b"int8", True, b"full", b"tensor-wise",
                                ctypes.byref(count), ctypes.byref(names)) == -1
    assert lib.MXSetCalibTableToQuantizedSymbol(NET.handle, 1, None, None, None, ctypes.byref(out)) == -1
    assert "is null" in mx.base.py_str(lib.MXGetLastError()).lower() or "NULL" in mx.base.py_str(lib.MXGetLastError())


def test_json_has_no_parsed_numbers():
    """What is written is what is read: ranges are exact."""
    collector = quantization._LayerOutputMinMaxCollector("int8")
    collector.min_max_dict = {"data": (-1e-9, 1 / 3)}
    qsym, args, aux, _ = quantization.quantize_graph(NET, {"f_weight": mx.nd.ones((2, 2)), "f_bias": mx.nd.ones(2)}, {}, calib_mode="none")
    attrs = quantization.calib_graph(qsym, args, aux, collector, calib_mode="naive")[0].attr_dict()["data_quantize"]
    assert [np.float32(attrs[k]) for k in ("min_calib_range", "max_calib_range")] == [np.float32(-1e-9), np.float32(1 / 3)]
    json.dumps(attrs)
