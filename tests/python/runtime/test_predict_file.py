"""Predictors whose parameters stay in their file."""
import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _LIB, check_call
from predict_checks import create, predict

pytestmark = pytest.mark.cpu

def _files(tmp_path, layers=2, size=160):
    x = mx.sym.var("x")
    rng = np.random.RandomState(0)
    params = {}
    for i in range(layers):
        x = mx.sym.FullyConnected(x, num_hidden=size, no_bias=True, name=f"f{i}")
        params[f"arg:f{i}_weight"] = mx.nd.array(rng.randn(size, size) / np.sqrt(size))
        if i == 0:
            x = mx.sym.BatchNorm(x, name="b", fix_gamma=False, axis=1)
            for name in ("arg:b_gamma", "arg:b_beta", "aux:b_moving_mean", "aux:b_moving_var"):
                params[name] = mx.nd.array(rng.uniform(0.5, 1.5, size))
    path = str(tmp_path / "net.params")
    mx.nd.save(path, params)
    return x.tojson(), path


@pytest.mark.parametrize("rows", [1, 3, 70, 130])
def test_the_same_as_from_memory(tmp_path, rows):
    json, path = _files(tmp_path)
    x = np.random.RandomState(rows).randn(rows, 160)
    by_file, = create(json, path, (rows, 160))
    by_memory, = create(json, path, (rows, 160), False)
    for _ in range(2):
        np.testing.assert_array_equal(predict(by_file, x, rows * 160), predict(by_memory, x, rows * 160))
    for handle in (by_file, by_memory):
        check_call(_LIB.MXPredFree(handle))


def test_threads_and_reshape(tmp_path):
    json, path = _files(tmp_path)
    x = np.random.RandomState(1).randn(70, 160)
    handles = create(json, path, (70, 160), threads=3)
    expected = predict(handles[0], x, 70 * 160)
    for handle in handles[1:]:
        np.testing.assert_array_equal(predict(handle, x, 70 * 160), expected)
    keys, ends, dims = (ctypes.c_char_p * 1)(b"x"), (ctypes.c_uint32 * 2)(0, 2), (ctypes.c_uint32 * 2)(90, 160)
    other = ctypes.c_void_p()
    check_call(_LIB.MXPredReshape(1, keys, ends, dims, handles[0], ctypes.byref(other)))
    more = np.concatenate([x, x[:20]])
    np.testing.assert_allclose(predict(other, more, 90 * 160)[:70 * 160], expected, rtol=1e-5, atol=1e-6)
    for handle in [*handles, other]:
        check_call(_LIB.MXPredFree(handle))


@pytest.mark.parametrize("by_file", [True, False], ids=["file", "memory"])
def test_a_parameter_that_one_of_two_writes(by_file, tmp_path):
    json, path = _files(tmp_path)
    x = np.random.RandomState(2).randn(3, 160)
    first, second = create(json, path, (3, 160), by_file) + create(json, path, (3, 160), by_file)
    before = predict(first, x, 480)
    np.testing.assert_array_equal(predict(second, x, 480), before)
    floats, zeros = ctypes.POINTER(ctypes.c_float), np.zeros((160, 160), "float32")
    for _ in range(2):
        check_call(_LIB.MXPredSetInput(first, b"f1_weight", zeros.ctypes.data_as(floats), zeros.size))
        np.testing.assert_array_equal(predict(first, x, 480), 0)
    np.testing.assert_array_equal(predict(second, x, 480), before)
    third, = create(json, path, (3, 160), by_file)
    np.testing.assert_array_equal(predict(third, x, 480), before)
    for handle in (first, second, third):
        check_call(_LIB.MXPredFree(handle))


def test_types_of_parameters(tmp_path):
    path = str(tmp_path / "some.params")
    mx.nd.save(path, {"arg:a": mx.nd.ones(3, dtype="float16"), "aux:b": mx.nd.ones((200, 200), dtype="int8"), "c": mx.nd.ones(1)})
    count, names, dtypes = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(ctypes.c_int)()
    check_call(_LIB.MXPredParameterTypes(path.encode(), ctypes.byref(count), ctypes.byref(names), ctypes.byref(dtypes)))
    assert [(names[i], dtypes[i]) for i in range(count.value)] == [(b"a", 2), (b"b", 5), (b"c", 0)]


def test_what_is_wrong_with_a_file(tmp_path):
    json, path = _files(tmp_path)
    with pytest.raises(mx.MXNetError, match="not-there.params: No such file"):
        create(json, str(tmp_path / "not-there.params"), (2, 160))
    (tmp_path / "empty.params").write_bytes(b"")
    with pytest.raises(mx.MXNetError, match="neither the inputs nor the parameters have"):
        create(json, str(tmp_path / "empty.params"), (2, 160))
    with pytest.raises(mx.MXNetError, match="is a folder"):
        create(json, str(tmp_path), (2, 160))
    handle, = create(json, path, (2, 160))
    with open(path, "r+b") as f:
        f.truncate(3000)
    with pytest.raises(mx.MXNetError, match="net.params has changed"):
        predict(handle, np.ones((2, 160)), 320)
    with pytest.raises(mx.MXNetError, match="malformed NDArray data at byte"):
        create(json, path, (2, 160))
    check_call(_LIB.MXPredFree(handle))


def test_a_replaced_file_is_another_one(tmp_path):
    json, path = _files(tmp_path)
    old, = create(json, path, (2, 160))
    before = {k: v.asnumpy() for k, v in mx.nd.load(path).items()}
    mx.nd.save(path, {k: mx.nd.array(v * (2 if k.endswith("f1_weight") else 1)) for k, v in before.items()})
    new, = create(json, path, (2, 160))
    x = np.random.RandomState(0).randn(2, 160)
    np.testing.assert_allclose(predict(new, x, 320), 2 * predict(old, x, 320), rtol=1e-4)
    for handle in (old, new):
        check_call(_LIB.MXPredFree(handle))


MEMORY = r'''
import sys
sys.path.insert(0, sys.argv[3])
import numpy as np, mxnet as mx
from predict_checks import create, predict
def resident(key):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key)) / 1024
json = open(sys.argv[1]).read()
mx.nd.ones(3).asnumpy()
before = resident("VmRSS")
by_file = len(sys.argv) == 4
what = "VmHWM" if by_file else "VmRSS"   # what the caller reads from the file comes and goes
first, = create(json, sys.argv[2], (64, 1024), by_file)
predict(first, np.ones((64, 1024)), 64 * 1024)
one = resident(what) - before
for rows in (65, 66, 90):
    predict(create(json, sys.argv[2], (rows, 1024), by_file)[0], np.ones((rows, 1024)), rows * 1024)
print(one, resident(what) - before)
'''


@pytest.mark.parametrize("by_file", [True, False], ids=["file", "memory"])
def test_memory_is_one_copy_of_the_parameters(by_file, tmp_path):
    json, path = _files(tmp_path, 20, 1024)   # 80 MiB
    (tmp_path / "net.json").write_text(json)
    out = subprocess.run([sys.executable, "-c", MEMORY, str(tmp_path / "net.json"), path, os.path.dirname(__file__)] +
                         ["memory"] * (not by_file),
                         capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stderr
    one, several = map(float, out.stdout.split())
    assert 70 < one < (125 if by_file else 205) and several < one + 25   # arrays, and the packed ones
