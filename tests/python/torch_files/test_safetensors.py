"""mx.contrib.safetensors: what it writes and reads, and files that lie."""
import io
import json
import os
import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import safetensors

DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32", "I16": "int16",
          "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool"}


def file_of(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def row(dtype="F32", shape=(2,), places=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(places)}


def refused(data, what):
    with pytest.raises(OSError, match=what) as raised:
        safetensors.load(io.BytesIO(data))
    assert isinstance(raised.value, mx.MXNetError) and len(str(raised.value)) < 1000


def test_the_bytes_that_are_written(tmp_path):
    path = tmp_path / "x.safetensors"
    safetensors.save(path, {"b": mx.nd.array([1, 2], dtype="uint8"), "ä": mx.np.array([[1.5], [2.5]])}, {"format": "pt"})
    text = ('{"__metadata__":{"format":"pt"},"ä":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},'
            '"b":{"dtype":"U8","shape":[2],"data_offsets":[8,10]}}').encode()
    text += b" " * (-len(text) % 8)
    assert path.read_bytes() == struct.pack("<Q", len(text)) + text + struct.pack("<ff", 1.5, 2.5) + b"\1\2"
    assert list(tmp_path.iterdir()) == [path]
    assert safetensors.metadata(path) == {"format": "pt"}


def test_every_dtype_and_shape(tmp_path):
    arrays = {name: mx.nd.array([[0, 1, 2], [3, 4, 100]], dtype=name) for name in DTYPES.values()}
    arrays.update(empty=mx.np.zeros((0, 3)), scalar=mx.np.array(5.0),
                  part=mx.nd.arange(12).reshape((3, 4))[1:3], spread=mx.np.ones((3, 2)).T)
    safetensors.save(tmp_path / "x", arrays)
    for mapped in (True, False):
        found = safetensors.load(tmp_path / "x", mmap=mapped)
        assert found.keys() == arrays.keys() and safetensors.metadata(tmp_path / "x") == {}
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype and found[name].shape == array.shape
            np.testing.assert_array_equal(found[name].asnumpy(), array.asnumpy())
    head = (tmp_path / "x").read_bytes()[8:]
    assert {json.JSONDecoder().raw_decode(head.decode("latin1"))[0][name]["dtype"]: name for name in DTYPES.values()} == DTYPES


def test_open_files_and_kinds_of_arrays(tmp_path):
    held = io.BytesIO()
    safetensors.save(held, {"w": mx.nd.ones(3)})
    assert type(safetensors.load(io.BytesIO(held.getvalue()), array_type="np")["w"]) is mx.np.ndarray
    (tmp_path / "x").write_bytes(held.getvalue())
    with open(tmp_path / "x", "rb") as file:
        assert type(safetensors.load(file)["w"]) is mx.nd.NDArray


def test_elements_at_odd_places():
    """Other writers need not align anything."""
    data = b"\1" + struct.pack("<d", 2.5) + struct.pack("<H", 0x3FC0) + b"\0\2\0"
    header = {"a": row("U8", [1], [0, 1]), "d": row("F64", [], [1, 9]), "h": row("BF16", [1], [9, 11]), "t": row("BOOL", [3], [11, 14])}
    found = safetensors.load(io.BytesIO(file_of(header, data)))
    assert found["d"].asnumpy() == 2.5 and found["h"].astype("float32").asscalar() == 1.5
    assert found["t"].asnumpy().tolist() == [False, True, False]


def test_arrays_are_mapped_and_the_file_stays(tmp_path):
    path = tmp_path / "x"
    safetensors.save(path, {"w": mx.nd.ones((256, 1024))})
    before = path.read_bytes()
    with open(path, "r+b") as file:     # a byte of a page that nobody has read
        file.seek(len(before) - 4)
        array = safetensors.load(path)["w"]
        file.write(struct.pack("<f", 9))
        file.flush()
        assert array[-1, -1].asscalar() == 9
        file.seek(len(before) - 4)
        file.write(struct.pack("<f", 1))
    array[:] = 3
    assert array.asnumpy().sum() == 3 * 256 * 1024 and path.read_bytes() == before


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    safetensors.save(path, {"w": mx.nd.ones(3)})
    before = path.read_bytes()
    for arrays, metadata, what in (({"w": [1, 2]}, None, "'w' is a list; accepted: dense arrays"),
                                   ([1], None, "got list; accepted: a dict"),
                                   ({"w": mx.nd.ones((2, 2)).tostype("csr")}, None, "'w' is a csr array"),
                                   ({3: mx.nd.ones(1)}, None, "the name 3"),
                                   ({"__metadata__": mx.nd.ones(1)}, None, "the name '__metadata__'"),
                                   ({"w": mx.nd.ones(1)}, {"epoch": 3}, "metadata is no dictionary of texts")):
        with pytest.raises(mx.MXNetError, match=what):
            safetensors.save(path, arrays, metadata)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["x"]
    with pytest.raises(TypeError, match="got dict as the file; accepted: a path"):
        safetensors.save({"w": mx.nd.ones(1)}, path)


@pytest.mark.parametrize("data, what", [
    (b"", "an empty file|not inside"),
    (b"\x08\0\0", "a header of 8 bytes is not inside of the file"),
    (file_of({"a": row("F7", [2], [0, 2])}, bytes(2)), "dtype 'F7', of which there are no arrays; accepted: BOOL, U8"),
    (file_of({"a": row("C64", [2], [0, 8])}, bytes(8)), "takes 16 bytes"),
    (file_of({"a": row("F4", [3], [0, 3])}, bytes(3)), "takes 2 bytes"),
    (file_of({}, length=2 ** 63), "a header of 9223372036854775808 bytes is not inside"),
    (file_of({}, length=50), "is not inside of the file"),
    (file_of(b" {}"), "does not begin with '{'"),
    (file_of(b'{"a":'), "Expecting value"),
    (file_of(b'{"a\xff":1}'), "utf-8|decode"),
    (file_of(b'{"a":' + b"[" * 100000), "nested too deep"),
    (file_of(b'{"a":{"x":1},"a":{"x":1}}'), "'a' twice"),
    (file_of(b'{"a":{"dtype":"F32","dtype":"F64","shape":[],"data_offsets":[0,4]}}'), "'dtype' twice"),
    (file_of(b'{"a":{"dtype":"F32","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,4]}}'), "a number of 5000 digits"),
    (file_of(b'{"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}', bytes(4)), "the number 1.0"),
    (file_of(b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}', bytes(4)), "the number NaN"),
    (file_of({"a": 3}), "not described by dtype"),
    (file_of({"a": {**row(), "more": 1}}), "not described by dtype"),
    (file_of({"a": row(["F32"])}, bytes(8)), "has dtype 'list'"),
    (file_of({"a": row(shape=[-1])}, bytes(8)), "dimension -1"),
    (file_of({"a": row(shape=[True])}, bytes(8)), "dimension True"),
    (file_of({"a": row(shape=[2 ** 40, 2 ** 40])}, bytes(8)), "elements; accepted: up to"),
    (file_of({"a": row(shape=[1] * 40)}, bytes(8)), "40 dimensions"),
    (file_of({"a": row(shape=[3])}, bytes(8)), r"takes 12 bytes; the header gives it bytes 0 to 8"),
    (file_of({"a": row(places=[8, 0])}, bytes(8)), "the header gives it bytes 8 to 0"),
    (file_of({"a": row(places=[0])}, bytes(8)), "no lists of whole numbers"),
    (file_of({"a": row(places=[0, "8"])}, bytes(8)), "no lists of whole numbers"),
    (file_of({"a": row(), "b": row()}, bytes(8)), "begins at byte 0 of the values, where 8 is expected: arrays overlap"),
    (file_of({"a": row(), "b": row(places=[12, 20])}, bytes(20)), "'b' begins at byte 12 .* leave a hole"),
    (file_of({"a": row(places=[4, 12])}, bytes(12)), "leave a hole"),
    (file_of({"a": row()}, bytes(7)), "take 8 bytes, 7 bytes are there"),
    (file_of({"a": row()}, bytes(9)), "take 8 bytes, 9 bytes are there"),
    (file_of({"__metadata__": {"a": 1}}), "__metadata__ is no dictionary of texts"),
    (file_of({"__metadata__": []}), "__metadata__ is no dictionary of texts")])
def test_headers_that_lie(data, what):
    refused(data, what)


def test_names_that_are_long_are_not_printed_whole():
    refused(file_of({"n" * 100000: 3}), "n{150}")


def test_a_file_without_arrays():
    assert safetensors.load(io.BytesIO(file_of({}))) == {}


def test_damaged_files():
    random = np.random.RandomState(3)
    held = io.BytesIO()
    safetensors.save(held, {"a": mx.nd.ones((2, 3)), "b": mx.nd.zeros(5, dtype="int8")}, {"k": "v"})
    whole, errors = held.getvalue(), 0
    for _ in range(1000):
        data = bytearray(whole)
        for _ in range(random.randint(1, 4)):
            data[random.randint(len(data) - 29)] = random.randint(256)
        try:
            for array in safetensors.load(io.BytesIO(bytes(data))).values():
                array.asnumpy()
        except OSError:
            errors += 1
    assert 700 < errors < 1000


def test_an_index_of_several_files(tmp_path):
    """As Hugging Face writes large models."""
    index = tmp_path / "model.safetensors.index.json"
    safetensors.save(tmp_path / "a.safetensors", {"bias": mx.nd.array([1, 2])})
    safetensors.save(tmp_path / "b.safetensors", {"weight": mx.nd.ones((2, 3)), "other": mx.nd.ones(1)})
    places = {"weight": "b.safetensors", "bias": "a.safetensors"}
    index.write_text(json.dumps({"metadata": {"total_size": 32}, "weight_map": places}, indent=2))
    found = safetensors.load(index)
    assert list(found) == ["weight", "bias"] and found["bias"].asnumpy().tolist() == [1, 2]
    net = mx.gluon.nn.Dense(2)
    mx.contrib.torch.load_into(net, index)
    assert net(mx.nd.ones((1, 3))).asnumpy().tolist() == [[4, 5]]
    mx.contrib.torch.save(tmp_path / "c.bin", {"bias": mx.nd.array([3, 4])})
    index.write_text(json.dumps({"weight_map": {"bias": "c.bin"}}))
    assert mx.contrib.torch.load(index)["bias"].asnumpy().tolist() == [3, 4]
    for text, what in (('{"weight_map": 3}', "damaged"), ('{"weight_map": {"a": 3}}', "damaged"), ('{"weight_map": {"a"', "damaged"),
                       ('{"weight_map": {"a": "../c.bin"}}', "names of files beside it"),
                       ('{"weight_map": {"x": "a.safetensors"}}', "'a.safetensors' has no array 'x'")):
        index.write_text(text)
        with pytest.raises(OSError, match="index of several files: .*" + what):
            safetensors.load(index)
    index.write_text(json.dumps({"weight_map": {"x": index.name}}))     # it went on until the stack was full
    for load in (safetensors.load, mx.contrib.torch.load, lambda path: mx.contrib.torch.load_into(net, path)):
        with pytest.raises(OSError, match="is an index, too; accepted: files of weights"):
            load(index)
    index.write_text('{"weight_map": {"x": "not_there.safetensors"}}')
    with pytest.raises(FileNotFoundError, match="not_there"):
        safetensors.load(index)
