"""Records tests/python/data/torch_files: files that PyTorch wrote, and what torchvision's networks
compute.

    /path/to/python/with/torch tests/python/data/make_torch_files.py [values forms layers nets]

Weights of networks are not kept: `values` makes the same ones from their names, here and in tests.
"""
import argparse
import gzip
import json
import os
import sys
import zlib

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_files")     # not `torch`, which would be a package
NETS = ("alexnet densenet121 densenet161 densenet169 densenet201 inception_v3 mobilenet_v2 resnet18 resnet34 resnet50 resnet101 "
        "resnet152 resnext50_32x4d squeezenet1_0 squeezenet1_1 vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 vgg19_bn "
        "wide_resnet50_2").split()
CLASSES = 5


def values(name, shape):
    """Random values that a trained network could have, from the name alone."""
    random = np.random.RandomState(zlib.crc32(name.encode()))
    if name.endswith("num_batches_tracked"):
        return np.array(3, "int64")
    if name.endswith("running_var") or name.endswith("weight") and len(shape) == 1:
        return random.uniform(0.5, 1.5, shape).astype("f")
    if name.endswith("weight"):
        return (random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype("f")
    return (random.standard_normal(shape) * 0.1).astype("f")


def picture(name):
    size = 299 if name == "inception_v3" else 224
    return np.random.RandomState(0).standard_normal((1, 3, size, size)).astype("f")


def record_nets():
    import torch
    import torchvision
    found = {}
    for name in NETS:
        options = {"init_weights": False} if name == "inception_v3" else {}
        net = getattr(torchvision.models, name)(weights=None, num_classes=CLASSES, **options).eval()
        shapes = {key: list(tensor.shape) for key, tensor in net.state_dict().items()}
        net.load_state_dict({key: torch.from_numpy(values(key, shape)) for key, shape in shapes.items()})
        with torch.no_grad():
            out = net(torch.from_numpy(picture(name)))
        found[name] = {"shapes": shapes, "output": out[0].tolist()}
        print(name, out[0].tolist(), flush=True)
    with gzip.GzipFile(os.path.join(HERE, "torchvision.json.gz"), "wb", mtime=0) as file:
        file.write(json.dumps(found, separators=(",", ":")).encode())


def record_values():
    """Views, dtypes, a checkpoint, and what is refused, in the forms that torch.save has."""
    import torch
    base = torch.arange(24.).reshape(4, 6)
    views = {"base": base, "t": base.t(), "part": base[1:3, 2:5], "row": base[2], "expanded": torch.full((1,), 5.).expand(3, 4),
             "scalar": torch.tensor(7), "empty": torch.zeros(0, 3), "flip": base[:, ::2],
             "last": torch.arange(24.).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)}
    plain = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool"
    dtypes = {name: torch.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(torch, name)) for name in plain.split()}
    newer = {name: torch.tensor([1, 2, 60000 if name == "uint16" else 3000000000]).to(getattr(torch, name))
             for name in "uint16 uint32 uint64".split()}

    def save(name, value, **options):
        torch.save(value, os.path.join(HERE, name), **options)
    save("views.pt", {**views, **dtypes})
    save("views_legacy.pt", {**views, **dtypes}, _use_new_zipfile_serialization=False)
    save("views_protocol_4.pt", views, pickle_protocol=4)
    save("views_legacy_protocol_3.pt", views, pickle_protocol=3, _use_new_zipfile_serialization=False)
    save("newer_dtypes.pt", newer)
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(2, 2))
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.randn(4, 1, 3, 3)).sum().backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 5])
    tagged = torch.nn.Parameter(torch.ones(3))
    tagged.tag = "x"
    marked = torch.ones(2, 2)
    marked.tag = "y"
    save("checkpoint.pt", {
        "epoch": 3, "best": np.float64(0.5), "state_dict": net.state_dict(), "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(), "size": torch.Size([2, 3]), "dtype": torch.bfloat16, "device": torch.device("cuda:1"),
        "set": {1, 2}, "bytes": b"abc", "none": None, "true": True, "parameter": tagged, "tensor": marked,
        "count": 2 ** 40, "negative": -5})
    save("whole_module.pt", net)
    save("namespace.pt", {"state_dict": {"w": torch.ones(2)}, "args": argparse.Namespace(rate=0.1)})
    save("complex.pt", {"layer": {"w": torch.ones(2, dtype=torch.complex64)}})
    save("float8.pt", {"w": torch.ones(2).to(torch.float8_e4m3fn)})
    save("sparse.pt", {"w": torch.eye(3).to_sparse()})
    torch.jit.script(torch.nn.Linear(2, 1)).save(os.path.join(HERE, "script.pt"))


def record_forms():
    """Quantized and sparse tensors, with what they stand for, and layers of 8 bits."""
    import torch
    x = torch.tensor([[0.31, -1.27, 0.05], [2.5, -0.44, 1.0], [0, 0.72, -0.3], [1.3, 0.9, -2.2]])
    matrix = torch.tensor([[0, 1.0, 0, 0], [2, 0, 3, 0], [0, 0, 0, 0], [0, 4, 0, 5]])
    scales, zeros = torch.tensor([0.1, 0.2, 0.05, 0.3]), torch.tensor([0, 1, 2, 3])
    forms = {"quint8": torch.quantize_per_tensor(x, 0.1, 30, torch.quint8), "qint8": torch.quantize_per_tensor(x, 0.05, 0, torch.qint8),
             "qint32": torch.quantize_per_tensor(x, 0.0005, 0, torch.qint32),
             "channels": torch.quantize_per_channel(x, scales, zeros, 0, torch.qint8),
             "columns": torch.quantize_per_channel(x, scales[:3], zeros[:3].float(), 1, torch.quint8),
             "coo": matrix.to_sparse(), "csr": matrix.to_sparse_csr(), "csc": matrix.to_sparse_csc(),
             "bsr": matrix.to_sparse_bsr((2, 2)), "bsc": matrix.to_sparse_bsc((2, 2)), "vector": x[0].to_sparse(),
             "rows": torch.sparse_coo_tensor(torch.tensor([[2, 0, 2]]), x[:3], (5, 3)), "plain": x}

    def dense(tensor):
        return tensor.dequantize() if tensor.is_quantized else tensor.to_dense()
    for name, options in (("forms.pt", {}), ("forms_legacy.pt", {"_use_new_zipfile_serialization": False})):
        torch.save({"given": forms, "meant": {key: dense(tensor) for key, tensor in forms.items()}}, os.path.join(HERE, name), **options)
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    layers = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear}, dtype=torch.qint8)
    torch.save(layers.state_dict(), os.path.join(HERE, "layers_of_8_bits.pt"))
    torch.save({"state_dict": net.state_dict()}, os.path.join(HERE, "layers_of_32_bits.pt"))


def record_layers():
    """Layers whose parameters are called otherwise, with input and output."""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(10, 3)
            self.lstm = nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True)
            self.gru = nn.GRU(8, 3, batch_first=True)
            self.norm = nn.LayerNorm(3)
            self.fc = nn.Linear(3, 3)
            self.cell = nn.LSTMCell(3, 4)
            self.rnn = nn.RNN(4, 4, batch_first=True)
            self.up = nn.ConvTranspose2d(1, 2, 3, 2)
            self.act = nn.PReLU()

        def forward(self, x):
            x = self.lstm(self.emb(x))[0]
            x = self.fc(self.norm(self.gru(x)[0]))
            x = self.cell(x[:, 0])[0]
            return self.act(self.up(self.rnn(x[:, None, :])[0][:, None]))
    torch.manual_seed(0)
    net = Net()
    for parameter in net.parameters():
        parameter.data.normal_(0, 0.4)
    x = torch.randint(0, 10, (2, 5))
    torch.save({"net": net.state_dict(), "x": x, "y": net(x).detach()}, os.path.join(HERE, "layers.pt"))


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    for record in (record_values, record_forms, record_layers, record_nets):
        if record.__name__[len("record_"):] in (sys.argv[1:] or ["values", "forms", "layers", "nets"]):
            record()
