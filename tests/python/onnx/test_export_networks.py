"""Whole networks as ONNX models."""
import numpy as np
import onnx_checks
import pytest
from onnx_checks import around_zero, check_block, onnx, operators, positive, run

import mxnet as mx
from mxnet.gluon import nn, rnn


@pytest.fixture(autouse=True)
def seed():
    mx.random.seed(3)


def zoo(name, size, folder):
    net = mx.gluon.model_zoo.vision.get_model(name, classes=10)
    net.initialize(mx.init.Xavier())
    images = [positive(n, 3, size, size) for n in (2, 3)]
    return check_block(net, images[:1], folder, others=[images[1:]], dynamic=True)


@pytest.mark.parametrize("name, size", [("squeezenet1.1", 224), ("mobilenet0.25", 32), ("mobilenetv2_0.25", 32),
                                        ("resnet18_v1", 32)])
def test_small_networks_of_the_zoo(name, size, tmp_path):
    path = zoo(name, size, tmp_path)
    assert onnx.load(path).graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"


LARGE = """alexnet densenet121 densenet161 densenet169 densenet201 inceptionv3 mobilenet0.5 mobilenet0.75 mobilenet1.0
    mobilenetv2_0.5 mobilenetv2_0.75 mobilenetv2_1.0 resnet101_v1 resnet101_v2 resnet152_v1 resnet152_v2 resnet18_v2
    resnet34_v1 resnet34_v2 resnet50_v1 resnet50_v2 squeezenet1.0 vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19
    vgg19_bn"""


@pytest.mark.nightly
@pytest.mark.parametrize("name", LARGE.split())
def test_networks_of_the_zoo(name, tmp_path):
    zoo(name, 299 if name == "inceptionv3" else 224, tmp_path)


# ---- a transformer

class Layer(mx.gluon.HybridBlock):
    def __init__(self, units, heads):
        super().__init__()
        self.heads = heads
        self.joined, self.out = nn.Dense(3 * units, flatten=False), nn.Dense(units, flatten=False)
        self.wide, self.narrow = nn.Dense(2 * units, flatten=False), nn.Dense(units, flatten=False)
        self.first, self.second = nn.LayerNorm(), nn.LayerNorm()
        self.gelu, self.dropout = nn.GELU(), nn.Dropout(0.1)

    def hybrid_forward(self, F, x, mask):
        joined = self.joined(x)
        scores = F.contrib.interleaved_matmul_selfatt_qk(joined, heads=self.heads)
        mask = F.broadcast_axis(F.expand_dims(mask, axis=1), axis=1, size=self.heads)
        mask = F.reshape(mask, shape=(-3, 0, 0))
        scores = F.where(mask, scores, F.ones_like(scores) * -1e18)
        attention = self.dropout(F.softmax(scores, axis=-1))
        mixed = self.out(F.contrib.interleaved_matmul_selfatt_valatt(joined, attention, heads=self.heads))
        x = self.first(x + mixed)
        return self.second(x + self.narrow(self.gelu(self.wide(x))))


class Bert(mx.gluon.HybridBlock):
    def __init__(self, units=16, heads=4, layers=2):
        super().__init__()
        self.units = units
        self.words, self.kinds, self.places = nn.Embedding(50, units), nn.Embedding(2, units), nn.Embedding(32, units)
        self.norm, self.pooler = nn.LayerNorm(), nn.Dense(units, activation="tanh", flatten=False)
        self.layers = nn.HybridSequential()
        for _ in range(layers):
            self.layers.add(Layer(units, heads))

    def hybrid_forward(self, F, tokens, kinds, lengths):
        steps = F.contrib.arange_like(tokens, axis=1)
        mask = F.broadcast_lesser(F.reshape(steps, shape=(1, -1)), F.reshape(lengths, shape=(-1, 1)))
        columns = F.expand_dims(mask, axis=1)
        mask = F.broadcast_mul(columns, F.broadcast_like(F.expand_dims(mask, axis=2), columns, lhs_axes=(2,), rhs_axes=(2,)))
        x = self.words(tokens) + self.kinds(kinds)
        x = F.transpose(self.norm(F.broadcast_add(x, F.expand_dims(self.places(steps), axis=0))), axes=(1, 0, 2))
        for layer in self.layers:
            x = layer(x, mask)
        x = F.transpose(x, axes=(1, 0, 2))
        return x, self.pooler(F.slice_axis(x, axis=1, begin=0, end=1).reshape(shape=(-1, self.units)))


@pytest.mark.parametrize("opset", [13, 17, 21])
def test_bert_with_any_batch_and_any_number_of_words(opset, tmp_path):
    net = Bert()
    net.initialize(mx.init.Normal(0.3))
    rs = np.random.RandomState(0)

    def batch(n, steps):
        return [a.astype("float32") for a in (rs.randint(0, 50, (n, steps)), rs.randint(0, 2, (n, steps)),
                                              rs.randint(1, steps + 1, n))]

    path = check_block(net, batch(2, 6), tmp_path, others=[batch(3, 9), batch(1, 1)], opset_version=opset, dynamic=True,
                       dynamic_input_shapes=[("batch", "steps"), ("batch", "steps"), ("batch",)])
    sizes = [d.dim_param or d.dim_value for d in onnx.load(path).graph.output[0].type.tensor_type.shape.dim]
    assert sizes == ["batch", "steps", 16]
    assert ("LayerNormalization" in operators(path)) == (opset >= 17)
    assert ("Gelu" in operators(path)) == (opset >= 20)


# ---- recurrent networks

@pytest.mark.parametrize("kind", [rnn.LSTM, rnn.GRU, rnn.RNN])
@pytest.mark.parametrize("layout", ["TNC", "NTC"])
def test_recurrent_layers_without_states(kind, layout, tmp_path):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.layer, self.dense = kind(8, 2, bidirectional=True, layout=layout), nn.Dense(3, flatten=False)

        def hybrid_forward(self, F, x):
            return self.dense(self.layer(x))

    net = Net()
    net.initialize(mx.init.Uniform(0.5))
    path = check_block(net, [around_zero(5, 3, 4)], tmp_path, others=[[around_zero(6, 2, 4)]], dynamic=True,
                       dynamic_input_shapes=[("a", "b", 4)])
    assert len(onnx.load(path).graph.input) == 1


def test_recurrent_layer_takes_and_gives_states(tmp_path):
    layer = rnn.LSTM(8, 2)
    layer.initialize(mx.init.Uniform(0.5))
    layer.hybridize()
    x, states = around_zero(5, 3, 4), [around_zero(2, 3, 8), around_zero(2, 3, 8, seed=5)]
    out, after = layer(mx.nd.array(x), [mx.nd.array(s) for s in states])
    path = mx.onnx.export_model(layer, onnx_file_path=str(tmp_path / "lstm.onnx"))
    onnx_checks.assert_equal([a.asnumpy() for a in [out, *after]], run(path, [x, *states]))


def test_unrolled_cells(tmp_path):
    cells = rnn.HybridSequentialRNNCell()
    cells.add(rnn.LSTMCell(4))
    cells.add(rnn.GRUCell(4))

    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.cells = cells

        def hybrid_forward(self, F, x):
            return self.cells.unroll(5, x, layout="NTC", merge_outputs=True)[0]

    net = Net()
    net.initialize(mx.init.Uniform(0.5))
    check_block(net, [around_zero(2, 5, 3)], tmp_path, others=[[around_zero(4, 5, 3)]], dynamic=True)


# ---- other dtypes

def image_network():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(), nn.Dense(5))
    net.initialize(mx.init.Xavier())
    net(mx.nd.zeros((1, 3, 16, 16)))
    return net


def test_float16(tmp_path):
    net = image_network()
    net.cast("float16")
    check_block(net, [positive(2, 3, 16, 16).astype("float16")], tmp_path, tolerance=2e-3)


def test_bfloat16_is_cast_where_onnx_has_no_operator_for_it(tmp_path):
    import ml_dtypes
    import onnx.reference
    net = image_network()
    net.cast("bfloat16")
    net.hybridize()
    x = positive(2, 3, 16, 16)
    ours = net(mx.nd.array(x).astype("bfloat16")).astype("float32").asnumpy()
    path = mx.onnx.export_model(net, onnx_file_path=str(tmp_path / "half.onnx"))
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert {v.type.tensor_type.elem_type for v in (*model.graph.input, *model.graph.output)} == {onnx.TensorProto.BFLOAT16}
    names = [node.name for node in model.graph.node]
    assert len(set(names)) == len(names)
    theirs = onnx.reference.ReferenceEvaluator(model).run(None, {"data": x.astype(ml_dtypes.bfloat16)})[0]
    np.testing.assert_allclose(theirs.astype("float32"), ours, rtol=0.02, atol=0.02 * np.abs(ours).max())


# ---- 8 bits

class Residual(mx.gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2D(8, 3, padding=1, in_channels=8), nn.BatchNorm()

    def hybrid_forward(self, F, x):
        return F.relu(x + self.norm(self.conv(x)))


def quantizable():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, in_channels=3, activation="relu"), nn.MaxPool2D(), nn.Conv2D(8, 3, in_channels=8), nn.BatchNorm(),
            nn.Activation("relu"), Residual(), nn.AvgPool2D(), nn.Flatten(), nn.Dense(5))
    net.initialize(mx.init.Xavier())
    return net, mx.nd.array(positive(4, 3, 20, 20))


@pytest.mark.parametrize("dtype", ["int8", "auto"])
@pytest.mark.filterwarnings("ignore")
def test_network_in_8_bits(dtype, tmp_path):
    net, x = quantizable()
    exact = net(x).asnumpy()
    data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x), batch_size=2)
    net = mx.contrib.quantization.quantize_net(net, calib_data=data, calib_mode="naive", num_calib_batches=2,
                                               ctx=mx.cpu(), quantized_dtype=dtype)
    net.hybridize()
    ours = net(x).asnumpy()
    path = mx.onnx.export_model(net, onnx_file_path=str(tmp_path / "q.onnx"), dynamic=True)
    theirs, = run(path, [x.asnumpy()])
    step = np.abs(exact).max() / 127
    assert np.abs(theirs - ours).max() < step and np.abs(theirs - exact).max() < 4 * step
    kinds = operators(path)
    assert kinds.count("QuantizeLinear") >= 5 and kinds.count("Conv") == 3 and kinds.count("Gemm") == 1
    stored = {t.data_type for t in onnx.load(path).graph.initializer if len(t.dims) == 4}
    assert stored == {onnx.TensorProto.INT8}


@pytest.mark.parametrize("mode", ["naive", "none"])
@pytest.mark.filterwarnings("ignore")
def test_symbol_in_8_bits(mode, tmp_path):
    net, x = quantizable()
    net.hybridize()
    net(x)
    symbol, arguments, states = mx.model.load_checkpoint(net.export(str(tmp_path / "net"))[0].removesuffix("-symbol.json"), 0)
    symbol, arguments, states = mx.contrib.quantization.quantize_model(
        symbol, arguments, states, data_names=("data",), calib_mode=mode, calib_data=mx.io.NDArrayIter(x, None, 2),
        num_calib_examples=4, quantized_dtype="int8", label_names=None)
    ours = symbol.bind(mx.cpu(), {**arguments, "data": x}, aux_states=states, grad_req="null").forward()[0].asnumpy()
    path = mx.onnx.export_model(symbol, [arguments, states], [x.shape], onnx_file_path=str(tmp_path / "q.onnx"))
    assert np.abs(run(path, [x.asnumpy()])[0] - ours).max() < np.abs(ours).max() / 60
