"""mx.contrib.torch.load and save: files that PyTorch 2.15 wrote, without PyTorch."""
import argparse
import collections
import datetime
import decimal
import io
import os
import pickle
import types
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np
import pieces
import pytest

import mxnet as mx
from mxnet.contrib import torch

DATA = Path(__file__).resolve().parents[1] / "data" / "torch_files"
BASE = np.arange(24, dtype="f").reshape(4, 6)
VIEWS = {"base": BASE, "t": BASE.T, "part": BASE[1:3, 2:5], "row": BASE[2], "expanded": np.full((3, 4), 5, "f"), "scalar": np.int64(7),
         "empty": np.zeros((0, 3), "f"), "flip": BASE[:, ::2], "last": np.arange(24, dtype="f").reshape(1, 2, 3, 4)}
DTYPES = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()


def same(array, values):
    assert array.shape == np.shape(values)
    np.testing.assert_array_equal(array.asnumpy().astype("float64"), np.asarray(values).astype("float64"))


@pytest.mark.parametrize("name", ["views.pt", "views_legacy.pt", "views_protocol_4.pt", "views_legacy_protocol_3.pt"])
@pytest.mark.parametrize("mapped", [True, False])
def test_views_of_shared_storages(name, mapped):
    found = torch.load(DATA / name, mmap=mapped)
    for key, values in VIEWS.items():
        same(found[key], values)
    assert found["scalar"].dtype == np.int64
    if "protocol" not in name:
        assert list(found) == [*VIEWS, *DTYPES]
        for dtype in DTYPES:
            assert mx.nd.zeros(1, dtype=dtype).dtype == found[dtype].dtype
            same(found[dtype], np.arange(6).reshape(2, 3) != 0 if dtype == "bool" else np.arange(6).reshape(2, 3))


def test_dtypes_without_a_type_of_storages():
    found = torch.load(DATA / "newer_dtypes.pt")
    assert {key: array.dtype.__name__ for key, array in found.items()} == {key: key for key in ("uint16", "uint32", "uint64")}
    same(found["uint16"], [1, 2, 60000])
    same(found["uint64"], [1, 2, 3000000000])


def test_a_checkpoint_with_optimizer_states():
    found = torch.load(DATA / "checkpoint.pt")
    assert {key: found[key] for key in ("epoch", "best", "size", "dtype", "device", "set", "bytes", "none", "true", "count",
                                         "negative")} == {
        "epoch": 3, "best": 0.5, "size": (2, 3), "dtype": "bfloat16", "device": "cuda:1", "set": {1, 2}, "bytes": b"abc", "none": None,
        "true": True, "count": 2 ** 40, "negative": -5}
    assert type(found["best"]) is float
    assert list(found["state_dict"])[-2:] == ["3.weight", "3.bias"]
    group = found["optimizer"]["param_groups"][0]
    assert group["betas"] == (0.9, 0.999) and group["params"] == [0, 1, 2, 3, 4, 5]
    assert found["optimizer"]["state"][0]["exp_avg"].shape == (2, 1, 3, 3)
    assert found["schedule"]["milestones"] == {3: 1, 5: 1}
    same(found["parameter"], np.ones(3))
    same(found["tensor"], np.ones((2, 2)))


def test_arrays_of_either_kind():
    assert type(torch.load(DATA / "views.pt")["base"]) is mx.nd.NDArray
    assert type(torch.load(DATA / "views.pt", array_type="np")["base"]) is mx.np.ndarray
    with mx.util.np_array(True):
        assert type(torch.load(DATA / "views.pt")["t"]) is mx.np.ndarray
        assert type(torch.load(DATA / "views.pt", array_type="nd")["t"]) is mx.nd.NDArray
    with pytest.raises(ValueError, match="array_type=3; accepted: 'nd', 'np'"):
        torch.load(DATA / "views.pt", array_type=3)


def test_arrays_of_another_device():
    for options in ({"ctx": mx.cpu(1)}, {"device": mx.cpu(1)}):
        found = torch.load(DATA / "views.pt", **options)
        assert {array.context for array in found.values()} == {mx.cpu(1)}
        same(found["t"], BASE.T)
    with mx.cpu(2):
        assert torch.load(DATA / "views.pt")["base"].context == mx.cpu(2)


def test_an_open_file_and_bytes_in_memory():
    for name in ("views.pt", "views_legacy.pt"):
        with open(DATA / name, "rb") as file:
            same(torch.load(file)["t"], BASE.T)
        same(torch.load(io.BytesIO((DATA / name).read_bytes()))["t"], BASE.T)
    with pytest.raises(TypeError, match="open for text"), open(__file__, encoding="utf-8") as file:
        torch.load(file)
    with pytest.raises(TypeError, match="got int; accepted: a path"):
        torch.load(3)


def test_arrays_share_the_pages_of_the_file(tmp_path):
    path = tmp_path / "large.pt"
    torch.save(path, {"w": mx.nd.ones((1024, 1024)), "b": mx.nd.zeros(5)})
    before = path.read_bytes()
    found = torch.load(path)["w"]
    path.write_bytes(before[:-1] + b"!")      # in place: pages that nobody wrote to are those of the file
    found[0] = 7
    assert found[0].asnumpy().max() == 7 and path.read_bytes() == before[:-1] + b"!"
    os.remove(path)
    assert found[1].asnumpy().min() == 1 and found.asnumpy().sum() == 1024 * 1023 + 7 * 1024


def test_files_that_are_written_again(tmp_path):
    weights = torch.load(DATA / "views.pt")
    values = {"model": weights, "list": [1, -300, 2.5, None, True, "text", (1, 2), 2 ** 70],
              "": {}, 3: weights["base"], "np": mx.np.ones(2)}
    torch.save(tmp_path / "again.pt", values)
    found = torch.load(tmp_path / "again.pt")
    assert found["list"] == values["list"] and found[""] == {}
    for key, array in weights.items():
        assert found["model"][key].dtype == array.dtype
        same(found["model"][key], array.asnumpy())
    with zipfile.ZipFile(tmp_path / "again.pt") as archive:
        assert archive.testzip() is None
        assert [name for name in archive.namelist() if "/data/" not in name] == ["archive/data.pkl", "archive/byteorder", "archive/version"]
        for info in archive.infolist():
            begin = info.header_offset + 30 + len(info.filename) + int.from_bytes(
                (tmp_path / "again.pt").read_bytes()[info.header_offset + 28:info.header_offset + 30], "little")
            assert begin % 64 == 0


def test_what_cannot_be_written(tmp_path):
    for value, what in (({"a": [1, object()]}, r"a object at \['a'\]\[1\]"), ({"a": mx.nd.ones((2, 2)).tostype("csr")}, "a csr array"),
                        ({(1, 2): 3}, "a tuple as a key"), ({"a": 2 ** 3000}, "an integer of 376 bytes")):
        with pytest.raises(mx.MXNetError, match=what):
            torch.save(tmp_path / "x.pt", value)
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="hold themselves"):
        torch.save(tmp_path / "x.pt", loop)
    with pytest.raises(TypeError, match="got dict as the file; accepted: a path"):
        torch.save({}, "x.pt")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name, what", [
    ("whole_module.pt", r"names 'torch.nn.modules.container.Sequential' \(byte 2 of the pickle\).* No code was run. It holds a whole "
                        r"module, .*torch.save\(net.state_dict\(\), 'weights.pt'\)"),
    ("script.pt", r"is a TorchScript archive, .*torch.jit.load\(path\).state_dict\(\)")])
def test_what_is_no_state_dict(name, what):
    with pytest.raises(OSError, match=what) as raised:
        torch.load(DATA / name)
    assert isinstance(raised.value, mx.MXNetError)


def test_no_code_runs(tmp_path):
    class Harm:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "harm"),)
    for protocol in range(6):
        path = tmp_path / f"{protocol}.pt"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x/data.pkl", pickle.dumps({"a": {"b": [Harm()]}}, protocol))
        with pytest.raises(OSError, match=r"(posix|os).mkdir'( at \['a'\]\['b'\])? .*No code was run"):
            torch.load(path)
    assert not (tmp_path / "harm").exists()


def pickled(path, values, protocol):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", pickle.dumps(values, protocol))
    return path


@pytest.mark.parametrize("protocol", range(2, 6))
def test_what_training_programs_keep_beside_weights(protocol, tmp_path):
    """Their arguments, their generators, and where they wrote."""
    values = {"args": argparse.Namespace(lr=0.1, names=["a"], inner=argparse.Namespace(depth=3)), "more": types.SimpleNamespace(x=1),
              "random": np.arange(6, dtype="uint32").reshape(2, 3), "order": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
              "path": PurePosixPath("/data/run/1"), "score": np.float64(0.5)}
    found = torch.load(pickled(tmp_path / "c.pt", values, protocol))
    assert found["args"] == {"lr": 0.1, "names": ["a"], "inner": {"depth": 3}} and found["more"] == {"x": 1}
    assert isinstance(found["args"], dict) and found["path"] == "/data/run/1" and found["score"] == 0.5
    for name in ("random", "order"):
        assert type(found[name]) is np.ndarray and found[name].dtype == values[name].dtype
        np.testing.assert_array_equal(found[name], values[name])
    with pytest.raises(OSError, match="names 'decimal.Decimal' at .* No code was run. It holds more than weights"):
        torch.load(pickled(tmp_path / "d.pt", {"price": decimal.Decimal("0.5")}, protocol))
    assert torch.load(DATA / "namespace.pt")["args"]


@pytest.mark.parametrize("protocol", range(2, 6))
def test_times_beside_weights(protocol, tmp_path):
    zone = datetime.timezone(datetime.timedelta(hours=-3, minutes=-30), "NST")
    now = datetime.datetime(2026, 12, 1, 23, 59, 58, 999_999, fold=1)
    values = {"saved": now, "zoned": now.replace(tzinfo=zone), "utc": now.astimezone(datetime.timezone.utc), "day": now.date(),
              "time": now.timetz(), "early": datetime.time(1, 2, tzinfo=datetime.timezone.utc), "took": datetime.timedelta(3, 4, 5),
              "counts": collections.defaultdict(int, steps=3), "names": collections.defaultdict(str, a="b")}
    found = torch.load(pickled(tmp_path / "t.pt", values, protocol))
    assert found == values
    assert [found[name].fold for name in ("saved", "zoned", "time", "early")] == ([1, 1, 1, 0] if protocol > 3 else [0] * 4)   # as pickled
    assert found["zoned"].tzname() == "NST"


@pytest.mark.parametrize("call", [
    (datetime.datetime, (b"\x07\xea\x0d\x01\0\0\0\0\0\0",)), (datetime.date, (b"\x07\xea\x01\0",)), (datetime.date, (b"\x07",)),
    (datetime.datetime, (2026, 1, 1)), (datetime.time, (b"\x19\0\0\0\0\0",)), (datetime.timedelta, (10 ** 10,)),
    (datetime.timedelta, ("3",)), (datetime.timezone, (3,)), (datetime.timezone, (datetime.timedelta(3),))], ids=str)
def test_times_that_are_none(call, tmp_path):
    class Made:
        def __reduce__(self):
            return call
    with pytest.raises(OSError, match="No code was run"):
        torch.load(pickled(tmp_path / "t.pt", {"v": Made()}, 4))


@pytest.mark.parametrize("protocol", range(2, 6))
def test_numbers_and_names_beside_weights(protocol, tmp_path):
    values = {"complex": 1 - 2j, "range": range(2, 9, 3), "losses": collections.deque([0.5, 0.25], maxlen=5),
              "classes": np.array(["cat", "Äpfel"]), "bytes": np.array([b"a", b"bc"]), "phases": np.array([1 + 2j, 0], "complex64"),
              "name": np.str_("net"), "phase": np.complex64(1j), "none": collections.deque()}
    found = torch.load(pickled(tmp_path / "v.pt", values, protocol))
    for name in ("classes", "bytes", "phases"):
        array = found.pop(name)
        assert array.dtype == values[name].dtype and array.tolist() == values.pop(name).tolist()
    assert found == values | {"losses": [0.5, 0.25], "none": []}
    assert [type(found[name]) for name in ("name", "phase")] == [str, complex]


@pytest.mark.parametrize("kind, dtype", [("FloatStorage", "float32"), ("DoubleStorage", "float64"), ("LongStorage", "int64"),
                                         ("BFloat16Storage", "bfloat16"), ("ComplexFloatStorage", "complex64")])
def test_views_whose_numbers_are_changed(kind, dtype, tmp_path):
    """What tensor.conj() and the imaginary part of such a one are in files."""
    values = np.arange(6).reshape(2, 3)
    data = values.astype("f").view("u4") >> 16 if dtype == "bfloat16" else values.astype(dtype) * (1j if dtype == "complex64" else 1)
    (tmp_path / "v.pt").write_bytes(pieces.archive(
        pieces.dictionary(x=pieces.tensor(of=pieces.storage(kind=kind), shape=(3, 2), strides=(1, 3),
                                          more=b"}" + pieces.text("conj" if dtype == "complex64" else "neg") + b"\x88s")),
        [("0", data.astype("u2" if dtype == "bfloat16" else dtype).tobytes())]))
    found = torch.load(tmp_path / "v.pt")["x"]
    assert getattr(found.dtype, "__name__", found.dtype) == dtype
    if dtype == "complex64":
        np.testing.assert_array_equal(found.numpy(), -1j * values.T)
    else:
        same(found, -values.T)


@pytest.mark.parametrize("protocol", range(6))
def test_plain_values_of_every_protocol(protocol, tmp_path):
    values = {"a": [1, -1, 255, 256, 65536, -2 ** 31, 2 ** 31, 2 ** 63, -2 ** 200, 0.5, -1e300, True, False, None],
              "b": ("x", "ä€\n'\"", ""),
              "c": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], {}], 3: {1.5: "y"}, "d": b"\0\xff", "e": {1, 2}, "f": frozenset([3]),
              "g": bytearray(b"abc")}
    values["again"] = values["a"]
    with zipfile.ZipFile(tmp_path / "v.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", pickle.dumps(values, protocol))
    found = torch.load(tmp_path / "v.pt")
    assert found == values | {"g": b"abc", "f": {3}}
    assert found["again"] is found["a"]
    assert [type(v) for v in found["a"]] == [type(v) for v in values["a"]]
