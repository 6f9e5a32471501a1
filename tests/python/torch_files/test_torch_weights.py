"""mx.contrib.torch.load_into: blocks with the weights of torchvision's networks compute what these
do, and names that do not fit are listed."""
import gzip
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.contrib import safetensors, torch
from mxnet.gluon import nn, rnn

DATA = Path(__file__).resolve().parents[1] / "data"
_spec = importlib.util.spec_from_file_location("make_torch_files", DATA / "make_torch_files.py")
RECORD = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(RECORD)
with gzip.open(DATA / "torch_files" / "torchvision.json.gz", "rb") as _file:
    NETS = json.load(_file)
QUICK = ("resnet18", "mobilenet_v2", "squeezenet1_1", "densenet121")
zoo = gluon.model_zoo.vision


def weights_of(name):
    return {key: mx.nd.from_numpy(RECORD.values(key, tuple(shape))) for key, shape in NETS[name]["shapes"].items()}


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.nightly) for name in NETS])
def test_a_network_computes_what_torchvisions_does(name):
    net = torch.get_model(name, classes=RECORD.CLASSES)
    assert torch.load_into(net, weights_of(name)) == ([], [])
    out, expected = net(mx.nd.array(RECORD.picture(name))).asnumpy()[0], np.array(NETS[name]["output"])
    assert np.abs(out - expected).max() <= 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("name", NETS)
def test_names_and_shapes_of_every_network(name):
    net = torch.get_model(name, classes=RECORD.CLASSES)
    size = RECORD.picture(name).shape
    net.initialize(mx.init.Zero())
    net(mx.sym.var("data"))
    params = net._collect_params_with_prefix()
    inferred = dict(zip(*[net(mx.sym.var("data")).list_arguments(), net(mx.sym.var("data")).infer_shape(data=size)[0]]))
    shapes = {key: tuple(shape) for key, shape in NETS[name]["shapes"].items()
              if not key.endswith("num_batches_tracked") and not key.startswith("AuxLogits.")}
    names = torch.names(net)
    assert set(names) == set(shapes) and set(names.values()) == set(params)
    for theirs, ours in names.items():
        assert inferred.get(params[ours].name, shapes[theirs]) == shapes[theirs]


def test_networks_of_the_zoo_that_torchvision_has_in_another_form():
    for make, name in ((zoo.resnet50_v1, "resnet50"), (zoo.resnet101_v1, "resnet101"), (zoo.resnet152_v1, "resnet152"),
                       (zoo.mobilenet_v2_1_0, "mobilenet_v2")):
        with pytest.raises(ValueError, match=rf"accepted: mx.contrib.torch.get_model\('{name}'\)"):
            torch.names(make())
        with pytest.raises(mx.MXNetError, match="would give other results"):
            torch.load_into(make(), {"conv1.weight": mx.nd.ones(1)})
    for make, what in ((zoo.resnet18_v2, "torchvision has no ResNet v2"), (zoo.mobilenet0_25, "torchvision has no MobileNet v1")):
        with pytest.raises(ValueError, match=what):
            torch.load_into(make(), {"conv1.weight": mx.nd.ones(1)})
    with pytest.raises(ValueError, match="the nearest name is 'resnet50'; accepted: alexnet, "):
        torch.get_model("resnet5O")


def test_the_layers_whose_parameters_have_other_names():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(10, 3)
            self.lstm = gluon.rnn.LSTM(4, 2, bidirectional=True, layout="NTC")
            self.gru = gluon.rnn.GRU(3, layout="NTC")
            self.norm = nn.LayerNorm()
            self.fc = nn.Dense(3, flatten=False)
            self.cell = gluon.rnn.LSTMCell(4)
            self.rnn = gluon.rnn.RNN(4, activation="tanh", layout="NTC")
            self.up = nn.Conv2DTranspose(2, 3, strides=2)
            self.act = nn.PReLU()

        def forward(self, x):
            x = self.fc(self.norm(self.gru(self.lstm(self.emb(x)))))
            x = self.cell(x[:, 0], [mx.nd.zeros((2, 4)), mx.nd.zeros((2, 4))])[0]
            return self.act(self.up(self.rnn(x.expand_dims(1)).expand_dims(1)))
    path, net = DATA / "torch_files" / "layers.pt", Net()
    assert torch.load_into(net, path) == ([], [])
    recorded = torch.load(path)
    np.testing.assert_allclose(net(recorded["x"]).asnumpy(), recorded["y"].asnumpy(), rtol=1e-4, atol=1e-6)
    again = torch.state_dict(net)
    assert again.keys() == recorded["net"].keys()
    for name, array in again.items():
        assert (array == recorded["net"][name]).min().asscalar() == 1


def small(**kwargs):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3, in_channels=1, **kwargs), nn.BatchNorm(), nn.Flatten(), nn.Dense(2))
    return net


def test_a_checkpoint_into_a_block():
    net = small()
    assert torch.load_into(net, DATA / "torch_files" / "checkpoint.pt") == ([], [])
    state = torch.load(DATA / "torch_files" / "checkpoint.pt")["state_dict"]
    assert (net[1].gamma.data() == state["1.weight"]).min().asscalar() == 1
    assert (net[1].running_var.data() == state["1.running_var"]).min().asscalar() == 1
    with open(DATA / "torch_files" / "checkpoint.pt", "rb") as file:
        assert torch.load_into(small(), file) == ([], [])


def test_parameters_are_copies_and_keep_their_dtype(tmp_path):
    path = tmp_path / "x.pt"
    torch.save(path, {"weight": mx.nd.ones((2, 3)).astype("float16"), "bias": mx.nd.array([1, 2], dtype="float64")})
    net = nn.Dense(2)
    torch.load_into(net, path)
    with open(path, "r+b") as file:     # what is mapped must not be needed any more
        file.truncate(100)
    assert net.weight.data().dtype == np.float32 and net.weight.data().sum().asscalar() == 6
    source = mx.nd.ones((2, 3))
    torch.load_into(net, {"weight": source}, strict=False)
    source[:] = 5
    assert net.weight.data().sum().asscalar() == 6
    net.cast("float16")
    torch.load_into(net, {"weight": source}, strict=False)
    assert net.weight.data().dtype == np.float16 and net.weight.data().sum().asscalar() == 30


def test_wrappers_and_checkpoints_in_other_forms():
    weights = {"weight": mx.nd.ones((2, 3)), "bias": mx.nd.zeros(2)}
    for source in ({"module." + k: v for k, v in weights.items()}, {"_orig_mod.module." + k: v for k, v in weights.items()},
                   {"model": weights, "epoch": 3}, {"anything": weights, "epoch": 3},
                   {"state_dict": {"model." + k: v for k, v in weights.items()}, "ema": weights},
                   {**weights, "version": 3},
                   {"n_averaged": mx.nd.zeros(()), **{"module." + k: v for k, v in weights.items()}}):   # of AveragedModel
        assert torch.load_into(nn.Dense(2), source) == ([], [])
    for source, what in (({"a": weights, "b": weights}, r"under 'a', 'b'; accepted: one of them, as mx.contrib.torch.load\(path\)\['a'\]"),
                         ({"epoch": 3, "loss": 0.5}, "holds no arrays by name; it has 'epoch', 'loss'")):
        with pytest.raises(ValueError, match=what):
            torch.load_into(nn.Dense(2), source)


def test_all_that_does_not_fit_is_listed_and_nothing_is_set():
    net = small()
    net.initialize(mx.init.Zero())
    net[3].weight.shape = (2, 4)
    weights = {"0.weight": mx.nd.ones((2, 1, 3, 3)), "1.weight": mx.nd.ones(2), "1.bias": mx.nd.ones(2), "1.running_mean": mx.nd.ones(2),
               "head.weight": mx.nd.ones((2, 2)), "3.weight": mx.nd.ones((2, 5)), "3.bias": mx.nd.ones(2),
               "1.num_batches_tracked": mx.nd.ones(())}
    with pytest.raises(ValueError) as raised:
        torch.load_into(net, weights)
    assert str(raised.value) == (
        "[contrib.torch.load_into] the given dict does not fit the HybridSequential:\n"
        "  parameters of the block that it lacks: 2\n    0.bias\n    1.running_var\n"
        "  names in it that the block has no parameter for: 1\n    head.weight\n"
        "  shapes that differ: 1\n    3.weight: (2, 4) in the block, (2, 5) in '3.weight'\n"
        "Accepted: all names on both sides, or strict=False. Names that differ can be given as mapping={'PyTorch name': 'block name'}, or "
        "layers paired by mapping='order'. To keep the block's own values for arrays of other shapes (another number of classes), take "
        "these names out of what mx.contrib.torch.load(path) gives, and use strict=False.")
    assert net[0].weight.data().sum().asscalar() == 0
    with pytest.raises(ValueError, match=r"\(2, 5\) in '3.weight'"):
        torch.load_into(net, weights, strict=False)
    del weights["3.weight"]
    found = torch.load_into(net, weights, strict=False)
    assert found.missing == ["0.bias", "1.running_var", "3.weight"] and found.unexpected == ["head.weight"]
    assert net[0].weight.data().sum().asscalar() == 18
    with pytest.raises(ValueError, match="none of its 1 names is one of the HybridSequential's"):
        torch.load_into(net, {"other": mx.nd.ones(1)}, strict=False)
    many = {f"x{i}": mx.nd.ones(1) for i in range(50)}
    with pytest.raises(ValueError, match="x19\n    and 30 more"):
        torch.load_into(net, many)


def test_mappings():
    weights = {"encoder.lin.weight": mx.nd.ones((2, 3)), "encoder.lin.bias": mx.nd.zeros(2), "encoder.norm.weight": mx.nd.ones(2),
               "encoder.norm.bias": mx.nd.zeros(2), "unused": mx.nd.ones(3)}

    def make():
        net = nn.HybridSequential()
        net.add(nn.Dense(2), nn.LayerNorm())
        return net
    for mapping in ({"encoder.lin.": "0.", "encoder.norm.": "1.", "unused": None},
                    {"encoder.lin.weight": "0.weight", "encoder.lin.bias": "0.bias", "encoder.norm.weight": "1.gamma",
                     "encoder.norm.bias": "1.beta", "unused": None},
                    lambda name: None if name == "unused" else name.replace("encoder.lin", "0").replace("encoder.norm", "1")):
        net = make()
        assert torch.load_into(net, weights, mapping) == ([], [])
        assert net(mx.nd.ones((1, 3))).shape == (1, 2)
    del weights["unused"]
    assert torch.load_into(make(), weights, "order") == ([], [])
    with pytest.raises(ValueError, match="both become '0.weight'"):
        torch.load_into(make(), weights, {"encoder.lin.weight": "0.weight", "encoder.norm.weight": "0.weight"})
    with pytest.raises(ValueError, match="mapping=5; accepted: None, a dictionary"):
        torch.load_into(make(), weights, 5)
    with pytest.raises(ValueError, match="names in it that the block has no parameter for: 2\n    c.weight\n    c.bias"):
        torch.load_into(make(), {**weights, "c.weight": mx.nd.ones(1), "c.bias": mx.nd.ones(1)}, "order")


def test_orders_of_a_whole_network():
    name = "resnet18"
    net = zoo.resnet18_v1(classes=RECORD.CLASSES)
    assert torch.load_into(net, weights_of(name), "order") == ([], [])
    assert (net.output.weight.data() == weights_of(name)["fc.weight"]).min().asscalar() == 1


def test_the_older_names_of_densenets():
    weights = {key.replace(".norm1.", ".norm.1.").replace(".conv2.", ".conv.2.") if "denselayer" in key else key: array
               for key, array in weights_of("densenet121").items()}
    assert any(".norm.1." in key for key in weights)
    assert torch.load_into(torch.get_model("densenet121", classes=RECORD.CLASSES), weights) == ([], [])


def test_norms_without_scale_and_shared_parameters():
    net = nn.HybridSequential()
    net.add(nn.BatchNorm(scale=False, center=False, in_channels=2))
    assert torch.load_into(net, {"0.running_mean": mx.nd.ones(2), "0.running_var": mx.nd.ones(2)}) == ([], [])
    first = nn.Dense(3, in_units=3, use_bias=False)
    tied = nn.HybridSequential()
    tied.add(first, nn.Dense(3, in_units=3, use_bias=False, params=first.params))
    assert torch.load_into(tied, {"0.weight": mx.nd.ones((3, 3))}) == ([], [])


def test_files_of_all_kinds_into_a_block(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = small()
    net.initialize()
    net(mx.nd.ones((1, 1, 3, 3)))
    net.save_parameters("own.params")
    net.save_parameters("own.npz")
    own = {name: param.data() for name, param in net._collect_params_with_prefix().items()}
    safetensors.save("own.safetensors", own)
    torch.save("own.pt", own)
    safetensors.save("theirs.safetensors", torch.state_dict(net), {"format": "pt"})
    for name in ("own.params", "own.npz", "own.safetensors", "own.pt", "theirs.safetensors"):
        again = small()
        assert torch.load_into(again, name) == ([], []), name
        assert (again[3].weight.data() == net[3].weight.data()).min().asscalar() == 1
    with pytest.raises(OSError, match="accepted here: files of torch.save and of safetensors, their indexes .*, .params and .npz files"):
        Path("x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
        torch.load_into(net, "x.png")
    with pytest.raises(TypeError, match="got int; accepted: a path"):
        torch.load_into(net, 5)


def test_arrays_of_numpy_into_blocks_of_either_kind():
    weights = torch.load(DATA / "torch_files" / "checkpoint.pt", array_type="np")["state_dict"]
    assert torch.load_into(small(), weights) == ([], [])
    with mx.util.np_shape(True), mx.util.np_array(True):
        net = small()
        assert torch.load_into(net, DATA / "torch_files" / "checkpoint.pt") == ([], [])
        assert type(net[0].weight.data()) is mx.np.ndarray


class Tensor:
    """As PyTorch's: NumPy takes it only without its gradient, and has no bfloat16."""

    def __init__(self, array, detached=False):
        self._array, self._detached, self.dtype = array, detached, str(array.dtype)

    def detach(self):
        return Tensor(self._array, True)

    def __array__(self, dtype=None, copy=None):
        if not self._detached:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if "bfloat16" in self.dtype:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._array.asnumpy()

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("make", [lambda a: a.asnumpy(), Tensor, lambda a: Tensor(a.astype("bfloat16"))])
def test_dictionaries_of_numpy_and_of_tensors(make):
    """module.state_dict(), with a counter of shape ()."""
    net = nn.HybridSequential()
    net.add(nn.Dense(2), nn.BatchNorm())
    with mx.util.np_shape(True):
        weights = {"0.weight": mx.nd.array([[1, 2, 3], [4, 5, 6]]), "0.bias": mx.nd.array([7, 8]), "1.weight": mx.nd.ones(2),
                   "1.bias": mx.nd.zeros(2), "1.running_mean": mx.nd.array([1, 2]), "1.running_var": mx.nd.array([3, 4])}
        given = {name: make(array) for name, array in weights.items()}
        given["1.num_batches_tracked"] = np.array(5)
    assert torch.load_into(net, {"state_dict": given, "epoch": 3}) == ([], [])
    assert net[0].weight.data().asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert net[1].running_var.data().asnumpy().tolist() == [3, 4]
    before = net[0].weight.data().asnumpy()
    for array in given.values():
        if isinstance(array, np.ndarray):
            array[...] = 0
    np.testing.assert_array_equal(net[0].weight.data().asnumpy(), before)   # copies
    with pytest.raises(TypeError, match=r"accepted: .*, which module.state_dict\(\) is"):
        torch.load_into(net, type("Module", (), {"state_dict": None})())


@pytest.mark.parametrize("names", [("weight_g", "weight_v"),
                                   ("parametrizations.weight.original0", "parametrizations.weight.original1")])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_weights_of_a_length_and_a_direction(names, dtype):
    """weight_norm, as torch.nn.utils has it and had it before."""
    v, g = np.random.RandomState(1).randn(4, 3, 2).astype("f"), np.array([1, 2, 3, 4], "f").reshape(4, 1, 1)
    net = nn.HybridSequential()
    net.add(nn.Conv1D(4, 2), nn.Dense(2))
    weights = {"0." + names[0]: mx.nd.array(g, dtype=dtype), "0." + names[1]: mx.nd.array(v, dtype=dtype), "0.bias": mx.nd.zeros(4),
               "1.weight": mx.nd.ones((2, 8)), "1.bias": mx.nd.zeros(2)}
    assert torch.load_into(net, weights) == ([], [])
    want = g * v / np.sqrt((v ** 2).sum((1, 2), keepdims=True))
    np.testing.assert_allclose(net[0].weight.data().asnumpy(), want, rtol=1e-6 if dtype == "float32" else 3e-3)
    del weights["0." + names[1]]
    with pytest.raises(ValueError, match=r"lacks: 1\s+0.weight\s+names in it .*: 1\s+0." + names[0]):
        torch.load_into(net, weights)


def test_a_norm_without_scale_is_ready():
    net = nn.BatchNorm(scale=False, center=False)
    assert torch.load_into(net, {"running_mean": mx.nd.array([1, 2]), "running_var": mx.nd.ones(2)}) == ([], [])
    np.testing.assert_allclose(net(mx.nd.ones((1, 2))).asnumpy(), [[0, -1]], atol=1e-4)


def test_the_scales_of_group_norm():
    weights = {"weight": mx.nd.ones(8), "bias": mx.nd.zeros(8)}
    with pytest.raises(ValueError, match=r"accepted: nn.GroupNorm\(groups, in_channels=channels\)"):
        torch.load_into(nn.GroupNorm(2), weights)
    assert torch.load_into(nn.GroupNorm(2, in_channels=8), weights) == ([], [])


@pytest.mark.parametrize("layer", [rnn.LSTM, rnn.GRU, rnn.RNN])
def test_a_recurrent_layer_without_biases(layer):
    """PyTorch's with bias=False; layers of this library have biases always."""
    gates = {rnn.LSTM: 4, rnn.GRU: 3, rnn.RNN: 1}[layer]
    weights = {"weight_ih_l0": mx.nd.ones((5 * gates, 3)), "weight_hh_l0": mx.nd.ones((5 * gates, 5))}
    net = layer(5)
    assert torch.load_into(net, weights) == ([], [])
    x = mx.nd.random.uniform(shape=(4, 2, 3))
    biases = {name: mx.nd.zeros(5 * gates) for name in ("bias_ih_l0", "bias_hh_l0")}
    whole = layer(5)
    torch.load_into(whole, weights | biases)
    assert (net(x) == whole(x)).asnumpy().all()
    with pytest.raises(ValueError, match=r"lacks: 1\s+_unfused.0.h2h_bias"):
        torch.load_into(layer(5), weights | {"bias_ih_l0": biases["bias_ih_l0"]})


def test_a_folder_of_transformers(tmp_path):
    """The weights in a folder of save_pretrained: safetensors first, as transformers has it."""
    def values():
        net = nn.Dense(2, in_units=3)
        return torch.load_into(net, str(tmp_path)) == ([], []) and net.weight.data().asnumpy().mean()
    torch.save(tmp_path / "pytorch_model.bin", {"weight": mx.nd.ones((2, 3)), "bias": mx.nd.zeros(2)})
    (tmp_path / "config.json").write_text("{}")
    assert values() == 1
    index = {"weight_map": {"weight": "a.safetensors", "bias": "b.safetensors"}}
    safetensors.save(tmp_path / "a.safetensors", {"weight": mx.nd.full((2, 3), 2)})
    safetensors.save(tmp_path / "b.safetensors", {"bias": mx.nd.zeros(2)})
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert values() == 2
    safetensors.save(tmp_path / "model.safetensors", {"weight": mx.nd.full((2, 3), 3), "bias": mx.nd.zeros(2)})
    assert values() == 3
    with pytest.raises(OSError, match="is a folder: give the path of a file in it"):
        torch.load_into(nn.Dense(2), tmp_path.parent)
