"""mx.np arrays and other libraries and files: pickles, parameter files, NumPy, DLPack, the array
API standard."""
import bisect
import copy
import ctypes
import operator
import pickle
import subprocess
import sys

import numpy as onp
import pytest

import mxnet as mx
from mxnet.numpy._dispatch import from_values

ARRAYS = [onp.array(1.5, "float32"), onp.zeros((0, 3), "float32"), onp.arange(6).reshape(2, 3), onp.array([True, False]),
          onp.array([1.5, 2.5], "float16"), onp.arange(4, dtype="uint8"), onp.arange(3, dtype="int8"), onp.linspace(0, 1, 5)]
IDS = [f"{a.dtype}{a.shape}" for a in ARRAYS]


def equal(got, want):
    assert got.shape == want.shape and got.dtype == want.dtype and onp.array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("values", ARRAYS, ids=IDS)
def test_pickle_and_copy(values):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        got = pickle.loads(pickle.dumps(from_values(values), protocol))
        assert type(got) is mx.np.ndarray
        equal(got, values)
    for kopy in (copy.copy, copy.deepcopy):
        source = from_values(values)
        got = kopy(source)
        assert type(got) is mx.np.ndarray and got is not source
        equal(got, values)


def test_pickle_of_another_process(tmp_path):
    """A process that has not imported mx.np reads them."""
    path = tmp_path / "array.pkl"
    path.write_bytes(pickle.dumps({"a": from_values(ARRAYS[2])}))
    code = (f"import pickle; a = pickle.load(open({str(path)!r}, 'rb'))['a']; "
            "print(type(a).__module__, type(a).__name__, a.tolist(), a.dtype)")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split("\n")[0] == "mxnet.numpy ndarray [[0, 1, 2], [3, 4, 5]] int64"


@pytest.mark.parametrize("values", ARRAYS, ids=IDS)
def test_parameter_files(values, tmp_path):
    path = str(tmp_path / "arrays.params")
    a = from_values(values)
    mx.nd.save(path, {"a": a})
    got = mx.nd.load(path)["a"]
    assert type(got) is mx.nd.NDArray
    equal(got.as_np_ndarray(), values)
    mx.nd.save(path, [a, a])
    assert len(mx.nd.load(path)) == 2


@pytest.mark.parametrize("values", ARRAYS, ids=IDS)
def test_to_numpy(values):
    a = from_values(values)
    old = onp.lib.NumpyVersion(onp.__version__) < "1.25.0"    # from_dlpack does not know bool
    for got in (a.asnumpy(), onp.asarray(a), onp.array(a), a.asnumpy() if old and values.dtype == bool else onp.from_dlpack(a)):
        assert type(got) is onp.ndarray and got.dtype == values.dtype and onp.array_equal(got, values)
    assert onp.asarray(a, dtype="float64").dtype == "float64"
    assert onp.asarray([a, a]).shape == (2,) + values.shape
    got = a.asnumpy()
    if got.size:
        got[...] = 1
        equal(a, values)
    with pytest.raises(ValueError, match="copy"):
        a.__array__(copy=False)


def test_dlpack_shares_memory():
    a = from_values(onp.zeros((2, 3), "float32"))
    seen = onp.from_dlpack(a)
    a[0] = 5
    mx.nd.waitall()
    assert (seen[0] == 5).all()
    assert a.__dlpack_device__() == (1, 0) and a[0].__dlpack_device__() == (1, 0)
    row = onp.from_dlpack(a[1])
    a[1, 2] = 7
    mx.nd.waitall()
    assert row.tolist() == [0, 0, 7]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool"])
def test_dlpack_with_torch(dtype):
    torch = pytest.importorskip("torch")
    values = onp.arange(6).reshape(2, 3).astype(dtype)
    a = from_values(values)
    tensor = torch.from_dlpack(a)
    assert onp.array_equal(tensor.numpy(), values)
    back = mx.nd.from_dlpack(tensor).as_np_ndarray()
    equal(back, values)
    back[0] = 1
    mx.nd.waitall()
    assert (a.asnumpy()[0] == 1).all()


def test_priority_and_namespace():
    a = from_values([1.0, 2.0])
    assert a.__array_priority__ >= 1000
    for version in (None, "2021.12", "2022.12", "2023.12"):
        assert a.__array_namespace__(api_version=version) is mx.np.array_api
    with pytest.raises(ValueError, match="api_version"):
        a.__array_namespace__(api_version="1999.01")
    with pytest.raises(AttributeError):
        a.__cuda_array_interface__   # noqa: B018


def test_namespace_info():
    info = mx.np.__array_namespace_info__()
    assert info.capabilities()["data-dependent shapes"] is True
    assert info.default_device() == mx.current_context() and mx.cpu(0) in info.devices()
    assert info.default_dtypes() == {"real floating": onp.dtype("float32"), "integral": onp.dtype("int64"), "indexing": onp.dtype("int64")}
    names = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}
    assert set(info.dtypes()) == names and set(info.dtypes(kind="bool")) == {"bool"}
    assert set(info.dtypes(kind=("signed integer", "real floating"))) == {"int8", "int16", "int32", "int64", "float32", "float64"}
    assert info.dtypes(kind="complex floating") == {}
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="text")


def test_devices():
    a = from_values([1.0, 2.0])
    b = a.to_device(mx.cpu(1))
    assert b.device == mx.cpu(1) and b is not a and type(b) is mx.np.ndarray and type(a.copyto(mx.cpu(1))) is mx.np.ndarray
    assert type(b.as_nd_ndarray()) is mx.nd.NDArray
    for bad in ("nowhere", 3):
        with pytest.raises((TypeError, ValueError)):
            a.to_device(bad)
    with pytest.raises(ValueError, match="stream"):
        a.to_device(mx.cpu(), stream=1)


def test_old_arrays_beside_new_ones():
    """Both classes share memory and gradients, and neither takes the other's place."""
    old = mx.nd.array([1.0, 2.0])
    new = old.as_np_ndarray()
    new += 1
    assert old.asnumpy().tolist() == [2.0, 3.0] and type(old + 1) is mx.nd.NDArray and type(new + 1) is mx.np.ndarray
    assert (old == 2).dtype == onp.float32 and (new == 2).dtype == "bool"
    with pytest.raises(TypeError, match="as_np_ndarray"):
        new[0] = mx.nd.ones((1,))
    assert new[mx.nd.array([1, 0])].tolist() == [3.0, 2.0]


@pytest.mark.parametrize("shapes, magic", [(False, 0xF993FAC9), (True, 0xF993FACA)])
def test_version_of_the_format(shapes, magic, tmp_path):
    """With NumPy's shapes arrays are written so that 1.9.1 and 2.0 read them with these, and
    without as 1.9.1 reads them without."""
    path = tmp_path / "arrays.params"
    with mx.util.np_shape(shapes):
        raw = bytes(from_values([1.0, 2.0]).__getstate__()["handle"])
        mx.nd.save(str(path), [mx.nd.ones((2,))])
    assert int.from_bytes(raw[:4], "little") == magic and int.from_bytes(path.read_bytes()[24:28], "little") == magic
    assert mx.nd.load(str(path))[0].asnumpy().tolist() == [1.0, 1.0]


def test_results_in_arrays_of_numpy():
    """``numpy_array += x`` and NumPy's functions with `out` write into NumPy's array."""
    x, total = mx.np.array([1.0, 2.0]), onp.zeros(2)
    before = total
    total += x
    total *= mx.np.array([2, 3], dtype="int32")
    assert total is before and total.tolist() == [2, 6]
    assert onp.add(x, 1, out=total) is total and total.tolist() == [2, 3]
    onp.maximum(x, 1.5, out=total, where=onp.array([True, False]))
    assert total.tolist() == [1.5, 3]
    assert onp.add.reduce(mx.np.ones((2, 3)), axis=1, out=total) is total and total.tolist() == [3, 3]


def test_methods_of_numpys_ufuncs():
    """``numpy.add.at`` changes the array, and reductions give arrays of mx.np with gradients."""
    x = mx.np.zeros(3)
    onp.add.at(x, [0, 0, 2], 1)
    onp.negative.at(x, mx.np.array([2], dtype="int32"))
    assert x.tolist() == [2, 0, -1]
    host = onp.zeros(3)
    onp.add.at(host, mx.np.array([1, 1], dtype="int64"), mx.np.array(2.0))
    assert host.tolist() == [0, 4, 0]
    y = mx.np.array([[1.0, 2.0], [3.0, 4.0]])
    for got, want in [(onp.add.reduce(y), [4, 6]), (onp.multiply.accumulate(y), [[1, 2], [3, 8]]),
                      (onp.subtract.outer(y[0], y[1]), [[-2, -3], [-1, -2]]), (onp.add.reduceat(y[0], [0, 1]), [1, 2]),
                      (onp.add.reduce(y, out=mx.np.zeros(2)), [4, 6]), (onp.add.reduce(y, axis=None, initial=5.0), 15)]:
        assert type(got) is mx.np.ndarray and got.tolist() == want
    with pytest.raises(TypeError, match="spacing"):
        onp.spacing.at(x, [0])
    y.attach_grad()
    with mx.autograd.record():
        z = onp.add.reduce(y * y)
    z.backward()
    assert y.grad.tolist() == [[2, 4], [6, 8]]


def test_reductions_into_arrays_of_numpy():
    y = mx.np.array([[1.0, 2.0], [3.0, 4.0]])
    total = onp.zeros(2)
    assert onp.sum(y, axis=0, out=total) is total and total.tolist() == [4, 6]
    assert onp.clip(y, 2, 3, out=onp.zeros((2, 2))).tolist() == [[2, 2], [3, 3]]
    with pytest.raises(TypeError, match="cast"):
        onp.sum(y, axis=0, out=onp.zeros(2, "int32"))
    with pytest.raises(ValueError, match="shape"):
        onp.sum(y, axis=0, out=onp.zeros(3))


def test_shared_memory_with_numpy():
    x = mx.np.ones(3)
    host = onp.ones(3, "float32")
    assert not onp.shares_memory(x, host) and not mx.np.may_share_memory(host, x) and not mx.np.shares_memory(host, host.copy())
    assert mx.np.shares_memory(host, host[1:]) and onp.may_share_memory(mx.np.from_dlpack(host), host)


@pytest.mark.filterwarnings("ignore")
def test_what_only_numpy_takes():
    """Arguments that are no numbers, such as None among arrays, go to NumPy's own function."""
    x = mx.np.arange(3)
    found = onp.broadcast_arrays(x, None)
    assert found[0].tolist() == [0, 1, 2] and found[1].tolist() == [None] * 3
    with pytest.raises(TypeError, match="copyto"):
        onp.copyto(mx.np.ones(2, dtype="int8"), 1.5)
    x.attach_grad()
    with mx.autograd.record(), pytest.raises(TypeError):
        onp.broadcast_arrays(x, None)


class Labelled:
    """Values as another library has them, such as pandas in a Series: no list, and not NumPy's."""

    def __init__(self, values):
        self.values = onp.asarray(values)
        self.ndim, self.dtype = self.values.ndim, self.values.dtype

    def __array__(self, dtype=None, copy=None):
        return onp.asarray(self.values, dtype)


def test_arrays_of_other_libraries_are_keys_and_values():
    x = mx.np.array([1, 2, 3, 4])
    assert x[Labelled([True, False, False, True])].tolist() == [1, 4]
    assert x[Labelled([0, -1])].tolist() == [1, 4]
    x[Labelled([0, 1])] = Labelled([7, 8])
    x[2:] = Labelled([9.0, 10.0])
    assert x.tolist() == [7, 8, 9, 10]
    with pytest.raises(IndexError):
        x[Labelled([0.5])]


@pytest.mark.parametrize("namespace", [mx.nd, mx.np])
def test_arrays_are_sequences(namespace):
    """pandas asks that of the interpreter, to tell arrays from numbers; so does bisect."""
    x = namespace.array([1, 2, 3])
    assert ctypes.pythonapi.PySequence_Check(ctypes.py_object(x)) == 1
    assert bisect.bisect(x, 2) == 2
    assert [float(v) for v in reversed(x)] == [3, 2, 1]
    with pytest.raises(IndexError):
        operator.getitem(x, 3)


# ---- masked arrays of NumPy, for whose masks arrays of mx.np have no place


def _plain_and_masked():
    plain = onp.array([[1.0, 2, 3], [4, 5, 6]], "float32")
    return plain, mx.np.array(plain), onp.ma.masked_array(plain * 2, mask=[[0, 1, 0], [0, 0, 1]])


MASKED = [
    lambda x, m: onp.add(x, m),
    lambda x, m: onp.add(m, x),
    lambda x, m: x + m,
    lambda x, m: m - x,
    lambda x, m: x < m,
    lambda x, m: onp.where(onp.array([True, False, True]), m, x),
    lambda x, m: onp.concatenate([x, m]),
    lambda x, m: onp.stack([x, m]),
    lambda x, m: onp.percentile(m, x[0]),
]


@pytest.mark.filterwarnings("ignore:Warning. .partition. will ignore")
@pytest.mark.parametrize("call", MASKED)
def test_masked_operands_are_numpys(call):
    """As with an array of NumPy beside them: what keeps the mask there keeps it here."""
    plain, x, masked = _plain_and_masked()
    got, expected = call(x, masked), call(plain, masked)
    assert type(got) is type(expected)
    onp.testing.assert_array_equal(onp.ma.getmaskarray(got), onp.ma.getmaskarray(expected))
    onp.testing.assert_allclose(onp.ma.getdata(got), onp.ma.getdata(expected), rtol=1e-6)


def test_masked_operands_are_not_recorded():
    _, x, masked = _plain_and_masked()
    x.attach_grad()
    with mx.autograd.record(), pytest.raises(ValueError, match="masked"):
        onp.add(x, masked)
