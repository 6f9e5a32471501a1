"""mx.np.save and its like: files that NumPy reads, and reading its files; texts of arrays."""
import io
import pickle

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint16", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_save_and_load(tmp_path, dtype, shape):
    values = onp.asarray(onp.random.RandomState(0).rand(*shape) * 5).astype(dtype)
    path = tmp_path / "x"
    np.save(path, np.array(values, dtype=dtype))
    read = onp.load(str(path) + ".npy")
    assert read.dtype == values.dtype and read.shape == shape and (read == values).all()
    back = np.load(str(path) + ".npy")
    assert isinstance(back, mx.np.ndarray) and back.dtype == values.dtype and (back.asnumpy() == values).all()
    held = io.BytesIO()
    np.save(held, values)
    held.seek(0)
    assert np.load(held).shape == shape


def test_savez(tmp_path):
    np.savez(tmp_path / "all", np.ones(2), b=np.arange(3, dtype="int64"))
    read = onp.load(tmp_path / "all.npz")
    assert sorted(read.files) == ["arr_0", "b"] and read["b"].dtype == onp.int64
    back = np.load(tmp_path / "all.npz")
    assert sorted(back) == ["arr_0", "b"] and back["b"].asnumpy().tolist() == [0, 1, 2]


def test_refused_files(tmp_path):
    onp.save(tmp_path / "objects.npy", onp.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        np.load(tmp_path / "objects.npy")
    with pytest.raises(ValueError, match="bfloat16"):
        np.save(tmp_path / "b.npy", np.ones(2).astype("bfloat16"))
    assert not (tmp_path / "b.npy").exists()
    (tmp_path / "short.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(ValueError):
        np.load(tmp_path / "short.npy")
    with pytest.raises(FileNotFoundError):
        np.load(tmp_path / "absent.npy")


def test_text_files(tmp_path):
    x = np.array([[1.5, -2.0], [3.0, 4.0]])
    np.savetxt(tmp_path / "x.csv", x, delimiter=",")
    back = np.loadtxt(tmp_path / "x.csv", delimiter=",")
    assert back.dtype == onp.float64 and (back.asnumpy() == x.asnumpy()).all()
    assert np.loadtxt(tmp_path / "x.csv", delimiter=",", dtype="float32", usecols=1).asnumpy().tolist() == [-2.0, 4.0]


def test_out_of_other_things():
    data = onp.arange(6, dtype="int32")
    assert np.frombuffer(data.tobytes(), "int32", 3, 4).asnumpy().tolist() == [1, 2, 3]
    assert np.fromiter(iter([1, 2]), "float32").dtype == onp.float32
    made = np.fromfunction(lambda i, j, k: i * j + k, (2, 3), k=5)
    assert (made.asnumpy() == onp.fromfunction(lambda i, j, k: i * j + k, (2, 3), k=5)).all()
    with pytest.raises(ValueError):
        np.frombuffer(b"abc", "int32")


def test_texts():
    x = np.array([1 / 3, 2.0])
    assert np.array_repr(x) == repr(x) and np.array_str(x) == str(x)
    assert np.array2string(x, precision=2, separator=",") == onp.array2string(x.asnumpy(), precision=2, separator=",")
    with np.printoptions(precision=2):
        assert str(x) == "[0.33 2.  ]" and np.get_printoptions()["precision"] == 2
    assert np.get_printoptions()["precision"] == onp.get_printoptions()["precision"] != 2


@pytest.mark.parametrize("member, data", [("x.npy", b"hello"), ("x", b"hello"), ("x.npy", None)])
def test_an_archive_with_a_member_that_is_no_array(member, data, tmp_path):
    """The error names file and member; NumPy gives such a member's bytes. None: a cut array."""
    import zipfile
    path, whole = str(tmp_path / "a.npz"), io.BytesIO()
    onp.save(whole, onp.ones(3))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.npy", whole.getvalue())
        archive.writestr(member, whole.getvalue()[:-8] if data is None else data)
    for load, error in ((mx.np.load, ValueError), (mx.npx.load, mx.MXNetError), (mx.nd.load, mx.MXNetError),
                        (mx.gluon.nn.Dense(3, in_units=2).load_parameters, mx.MXNetError)):
        with pytest.raises(error, match="a.npz.*member 'x'"):
            load(path)


@pytest.mark.parametrize("make", [mx.nd.zeros, mx.np.zeros])
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0), (300, 0), (2, 1, 0, 4)])
def test_pickles_of_arrays_without_elements(make, shape):
    for dtype in ("float32", "float64", "int8"):
        x = pickle.loads(pickle.dumps(make(shape, dtype=dtype)))
        assert x.shape == shape and x.dtype == onp.dtype(dtype) and x.asnumpy().size == 0
