"""Readers of files that are given one of another kind say what it is and what reads it."""
import bz2
import gzip
import io
import lzma
import pickle
import re
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet._files import kinds
from mxnet.contrib import safetensors, torch

DATA = Path(__file__).resolve().parents[1] / "data" / "torch_files"


def made(*entries):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as out:
        for name in entries:
            out.writestr(name, "x")
    return held.getvalue()


def tar(*names):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as out:
        for name in names:
            out.addfile(tarfile.TarInfo(name))
    return held.getvalue()


# kind: (contents, what errors say)
FILES = {
    "empty": (b"", "an empty file: .*write or download it again"),
    "torch_legacy": ((DATA / "views_legacy.pt").read_bytes(),
                     r"PyTorch file of the form before version 1.6 .*mx.contrib.torch.load\(path\)"),
    "torch": ((DATA / "views.pt").read_bytes(), r"PyTorch file .*mx.contrib.torch.load_into\(block, path\)"),
    "torchscript": ((DATA / "script.pt").read_bytes(), "TorchScript archive, .*state_dict"),
    "torch_export": (made("m/archive_format", "m/models/model.json"), r"torch.export \(.pt2\): .*state_dict"),
    "safetensors": (struct.pack("<Q", 8) + b"{}      ", r"a safetensors file: mx.contrib.safetensors.load\(path\)"),
    "onnx": (b"\x08\x08\x12\x07pytorch\x1a\x052.0.0:\x80\x01", r"an ONNX model: mx.onnx.load\(path\)"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5 file .*h5py"),
    "keras": (made("config.json", "metadata.json", "model.weights.h5"), "a Keras archive"),
    "pickle": (pickle.dumps(list(range(500)), 4), "a pickle of Python, which can run code .*load_states"),
    "gguf": (b"GGUF" + bytes(40), "GGUF"),
    "ort": (b"\x18\0\0\0ORTM" + bytes(40), r"ONNX Runtime file \(.ort\), .* open the ONNX model"),
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(40), "TensorFlow Lite"),
    "record": (b"\x0a\x23\xd7\xce" + bytes(40), r"a RecordIO file .*mx.recordio.MXRecordIO\(path, 'r'\)"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n", "a pointer of git-lfs, .*`git lfs pull`"),
    "html": (b"\n<!DOCTYPE html>\n<html><title>404</title>", "a page of HTML: most likely a download that failed"),
    "xml": (b"<?xml version='1.0'?><net/>", "an XML text"),
    "gzip": (gzip.compress(b"x"), "compressed by gzip .*unpack it first"),
    "bzip2": (bz2.compress(b"x"), "compressed by bzip2"),
    "xz": (lzma.compress(b"x"), "compressed by xz"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(9), "compressed by zstd"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + bytes(40), "a 7z archive"),
    "torch_tar": (tar("sys_info", "pickle", "tensors", "storages"), r"PyTorch file of before version 0.2, .*weights_only=False"),
    "tar": (tar("a.txt"), "a tar archive: unpack"),
    "zip": (made("a.txt"), "a zip archive"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(40), r"a PNG picture: mx.image.imread\(path\)"),
    "jpeg": (b"\xff\xd8\xff\xe0" + bytes(40), "a JPEG picture"),
    "gif": (b"GIF89a" + bytes(40), "a GIF picture"),
    "pdf": (b"%PDF-1.4\n", "a PDF document"),
    "elf": (b"\x7fELF" + bytes(40), r"mx.library.load\(path\)"),
    "json": (b' {"model_type": "bert"}', "a JSON text"),
    "shards": (b' {"metadata": {}, "weight_map": {}}', r"an index of several files of weights: .*load_into\(block, path\)"),
    "symbol": (None, r"an MXNet network \(-symbol.json\): mx.sym.load\(path\)"),
    "graph_def": (b"\x0a\x10\x0a\x01x\x12\x0bPlaceholder\x22\0", r"a graph of TensorFlow \(.pb\): .*tf2onnx"),
    "folder": (None, "a folder: give the path of a file in it"),
    "saved_model": (None, "a SavedModel of TensorFlow: .*tf2onnx"),
    "text": (b"epoch 3\nloss 0.5\n", "a text"),
    "params": (None, r"a file of MXNet arrays \(.params\): mx.nd.load\(path\)"),
    "npy": (None, r"a NumPy array \(.npy\): mx.nd.load\(path\)"),
    "npz": (None, r"a NumPy archive \(.npz\): mx.nd.load\(path\)"),
}


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    for kind, (data, _) in FILES.items():
        if data is not None:
            (folder / kind).write_bytes(data)
    mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc").save(str(folder / "symbol"))
    mx.nd.save(folder / "params", {"w": mx.nd.ones(2)})
    with open(folder / "npy", "wb") as npy, open(folder / "npz", "wb") as npz:
        np.save(npy, np.ones(2))
        np.savez(npz, w=np.ones(2))
    (folder / "folder").mkdir()
    (folder / "saved_model").mkdir()
    (folder / "saved_model" / "saved_model.pb").write_bytes(b"\x08\x01\x12\x04\x0a\0\x12\0")
    return folder


def block():
    return gluon.nn.Dense(2, in_units=3)


def trainer():
    net = block()
    net.initialize()
    return gluon.Trainer(net.collect_params(), "sgd")


# reader: (call, kinds that it takes or whose errors were there before, class of the error)
_ARRAYS = ("params", "npy", "npz")
_FOLDERS = ("folder", "saved_model")      # names of files may begin as a folder's does
READERS = {
    "mx.nd.load": (mx.nd.load, _ARRAYS, OSError), "mx.npx.load": (mx.npx.load, _ARRAYS, OSError),
    "mx.np.load": (mx.np.load, ("npy", "npz"), ValueError),
    "load_parameters": (lambda path: block().load_parameters(path), _ARRAYS, OSError),
    "ParameterDict.load": (lambda path: block().collect_params().load(path), _ARRAYS, OSError),
    "imports": (lambda path: gluon.SymbolBlock.imports(path, ["data"]), ("symbol", "json", "empty", "text"), ValueError),
    "mx.sym.load": (mx.sym.load, ("symbol", "json", "empty", "text"), ValueError),
    "Module.load": (lambda path: mx.mod.Module.load(path, 0), _FOLDERS, FileNotFoundError),
    "load_checkpoint": (lambda path: mx.model.load_checkpoint(path, 0), _FOLDERS, FileNotFoundError),
    "Block.load": (lambda path: block().load(path), _FOLDERS, FileNotFoundError),
    "load_states": (lambda path: trainer().load_states(path), ("pickle", "empty", "text"), ValueError),
    "torch.load": (torch.load, ("torch", "torch_legacy", "shards"), OSError),
    "safetensors.load": (safetensors.load, ("safetensors", "shards"), OSError),
    "safetensors.metadata": (safetensors.metadata, ("safetensors",), OSError),
    "load_into": (lambda path: torch.load_into(block(), path), (*_ARRAYS, "torch", "torch_legacy", "safetensors", "shards"), OSError),
}


def test_each_kind_is_told(files):
    rows = (Path(__file__).resolve().parents[3] / "src/base/file_kinds.cc").read_text()
    assert FILES.keys() == set(re.findall(r'^    \{"(\w+)"', rows, re.M))
    assert kinds.kind_of_file(files / "saved_model" / "saved_model.pb") == "saved_model"
    assert {kind: kinds.kind_of_file(files / kind) for kind in FILES} == {kind: kind for kind in FILES}


@pytest.mark.parametrize("reader", READERS)
def test_readers_say_what_a_file_is(reader, files):
    call, own, error = READERS[reader]
    for kind, (_, what) in FILES.items():
        if kind not in own:
            with pytest.raises(error, match=what) as raised:
                call(str(files / kind))
            assert isinstance(raised.value, mx.MXNetError) and repr(str(files / kind)) in str(raised.value), kind


def test_imports_says_it_of_the_parameters(files):
    for kind in ("torch", "onnx", "html"):
        with pytest.raises(OSError, match=FILES[kind][1]):
            gluon.SymbolBlock.imports(str(files / "symbol"), ["data"], str(files / kind))


def test_a_prefix_that_is_there_is_no_file(tmp_path):
    mx.model.save_checkpoint(str(tmp_path / "m"), 1, mx.sym.exp(mx.sym.var("data")), {}, {})
    (tmp_path / "m").write_text("notes")      # beside them
    assert mx.model.load_checkpoint(str(tmp_path / "m"), 1)[0].list_arguments() == ["data"]
    with pytest.raises(FileNotFoundError, match="n-symbol.json"):
        mx.model.load_checkpoint(str(tmp_path / "n"), 1)


def test_files_without_a_sign_have_no_kind(tmp_path):
    random = np.random.RandomState(1)
    for data in (bytes(100), bytes(1000), b"\0", b"\x08", b"\x80", random.bytes(600), struct.pack("<8f", *range(1, 9))):
        (tmp_path / "x").write_bytes(data)
        assert kinds.kind_of_file(tmp_path / "x") is None, data[:20]
        with pytest.raises(OSError, match="malformed NDArray data at byte"):
            mx.nd.load(tmp_path / "x")


def test_damaged_archives_by_their_names(tmp_path):
    for name, what in (("x.pt", "is a PyTorch file"), ("x.npz", "not a whole .npz file"), ("x", "not a whole .npz file")):
        (tmp_path / name).write_bytes((DATA / "views.pt").read_bytes()[:3000])
        with pytest.raises(OSError, match=what):
            mx.nd.load(tmp_path / name)
    with pytest.raises(OSError, match="no whole zip archive: .* download was interrupted"):
        torch.load(tmp_path / "x.pt")


def test_urls_of_files(tmp_path):
    (tmp_path / "x.pt").write_bytes(FILES["torch"][0])
    with pytest.raises(OSError, match="is a PyTorch file"):
        mx.nd.load(f"file://{tmp_path}/x.pt")
    with pytest.raises(ValueError, match="is a PyTorch file"):
        mx.sym.load(f"file://{tmp_path}/x.pt")
    assert "t" in torch.load(f"file://{tmp_path}/x.pt")
