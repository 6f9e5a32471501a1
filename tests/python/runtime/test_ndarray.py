"""NDArray: creation, views, indexing, copies, files, exchange with other libraries."""
import ctypes
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd

pytestmark = [pytest.mark.on_gpu, pytest.mark.sanitized]

DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16", "uint32", "uint64"]


def check(a, expected):
    np.testing.assert_allclose(a.asnumpy(), expected)
    assert a.shape == np.shape(expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_round_trip(dtype):
    values = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    a = nd.array(values, dtype=dtype)
    assert a.dtype == np.dtype(dtype).type and a.asnumpy().dtype == values.dtype
    np.testing.assert_array_equal(a.asnumpy(), values)
    for other in DTYPES:
        np.testing.assert_array_equal(a.astype(other).asnumpy(), values.astype(other))


def test_a_number_of_numpy_before_bfloat16_is_not_rounded():
    a = nd.array([1.0, 3.0]).astype("bfloat16")
    for number in (np.float32(1.001), np.float64(1.001)):
        np.testing.assert_allclose((number - a).astype("float32").asnumpy(), [0.001, -2], rtol=4e-3)
    assert (np.int32(257) - a).astype("float32").asnumpy().tolist() == [256, 254]
    assert (np.float32(1.001) > a).astype("float32").asnumpy().tolist() == [1, 0]


def test_bfloat16_keeps_eight_bits():
    a = nd.array([1.0, 1.00390625, -3.1415926]).astype("bfloat16")
    assert a.dtype == "bfloat16"
    np.testing.assert_array_equal(a.asnumpy(), np.float32([1.0, 1.0, -3.140625]))


def test_creation_matches_numpy():
    check(nd.zeros((2, 3)), np.zeros((2, 3)))
    check(nd.ones((2,), dtype="int32"), np.ones(2))
    check(nd.full((2, 2), 7), np.full((2, 2), 7.0))
    check(nd.arange(2, 10, 3), np.arange(2, 10, 3))
    check(nd.arange(3, repeat=2), np.repeat(np.arange(3), 2))
    check(nd.linspace(0, 1, 5), np.linspace(0, 1, 5))
    check(nd.eye(3, 4, 1), np.eye(3, 4, 1))
    assert nd.array(np.ones((2, 0))).shape == (2, 0)
    assert nd.array(np.array([1])).dtype == np.float32   # 1.x: float32 unless the source is an NDArray
    assert nd.array(nd.ones((1,), dtype="int8")).dtype == np.int8
    with pytest.raises(TypeError, match="array"):
        nd.array([[1, 2], [3]])


def test_views_share_memory():
    a = nd.zeros((3, 4))
    a[1][:] = 5
    a[2:3][:] = 7
    a.reshape((-1,))[0:1][:] = 9
    expected = np.zeros((3, 4))
    expected[1], expected[2], expected[0, 0] = 5, 7, 9
    check(a, expected)


@pytest.mark.parametrize("codes, reverse, shape",
                         [((0, -1), False, (2, 12)), ((-1,), False, (24,)),
                          ((-2,), False, (2, 3, 4)), ((-3, 0), False, (6, 4)),
                                                   ((0, -3), False, (2, 12)),
                          ((-4, 1, 2, -2), False, (1, 2, 3, 4)),
                          ((-4, -1, 2, 0, 0), False, (1, 2, 3, 4)),
                                                   ((-1, 0), True, (6, 4)), ((-3, 0), True, (6, 4)), ((8, 3), True, (8, 3))])
def test_reshape_codes(codes, reverse, shape):
    a = nd.arange(24).reshape((2, 3, 4))
    check(a.reshape(codes, reverse=reverse), np.arange(24).reshape(shape))


@pytest.mark.parametrize("codes", [(5, 5), (-1, -1), (-4, 2), (-5,), (-4, 3, 3, -2), (0, 0, 0, 0)])
def test_reshape_refuses(codes):
    with pytest.raises(ValueError, match=r"^\[reshape\]"):
        nd.arange(24).reshape((2, 3, 4)).reshape(codes)


BASIC = [0, -1, slice(1, 3), slice(None, None, -1), slice(3, 0, -2), (0, 1), (slice(None), 1),
         (Ellipsis, 2), (0, Ellipsis), (None, 1), (slice(None), None, 2),
         (1, slice(0, 3, 2), slice(None, None, -1)), (slice(1, 1),), slice(None), ()]
ADVANCED = [[0, 2], ([0, 1], [2, 0]), (slice(None), [1, 2]), (Ellipsis, [0, 3, 1]),
            (np.array([[0, 1], [2, 3]]),), ([0, 1], slice(None), [1, 2]),
            (0, [1, 2]), ([-1, -2],), (slice(0, 2), [0, 0], [3, 1]), (None, [1, 1])]


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=repr)
def test_getitem_matches_numpy(key):
    values = np.arange(60, dtype="float32").reshape(4, 3, 5)
    expected = values[key]
    got = nd.array(values)[key]
    np.testing.assert_array_equal(got.asnumpy(), expected.reshape(1) if expected.ndim == 0 else expected)
    assert got.shape == (expected.shape or (1,))   # 1.x has no arrays without dimensions


@pytest.mark.parametrize("key", BASIC + ADVANCED, ids=repr)
@pytest.mark.parametrize("kind", ["number", "array", "broadcast"])
def test_setitem_matches_numpy(key, kind):
    values = np.arange(60, dtype="float32").reshape(4, 3, 5)
    a = nd.array(values)
    selection = values[key]
    if kind == "number":
        value = 99.0
    elif kind == "array":
        value = -np.arange(selection.size, dtype="float32").reshape(selection.shape)
    else:
        value = np.full(selection.shape[-1:], -3, dtype="float32")
    if isinstance(key, tuple) and any(isinstance(k, list) and len(set(k)) != len(k) for k in key
                                      if isinstance(k, list)) and kind == "array":
        value = 5.0   # which of several values for one element stays is not defined
    values[key] = value
    a[key] = nd.array(value) if kind == "array" and not np.isscalar(value) and np.ndim(value) else value
    np.testing.assert_array_equal(a.asnumpy(), values)


def test_boolean_mask():
    values = np.arange(6, dtype="float32").reshape(2, 3)
    a = nd.array(values)
    check(a[values > 2], values[values > 2])
    a[values > 2] = 0
    check(a, np.where(values > 2, 0, values))


@pytest.mark.parametrize("key", [4, -5, (0, 3), (slice(None), [5]), ([4],), (0, 0, 0, 0)], ids=repr)
def test_out_of_range_is_index_error(key):
    a = nd.zeros((4, 3))
    with pytest.raises(IndexError, match=r"^\[indexing\]"):
        a[key]
    with pytest.raises(IndexError, match=r"^\[indexing\]"):
        a[key] = 1


def test_iteration_ends():
    assert [float(x.asscalar()) for x in nd.array([1, 2, 3])] == [1, 2, 3]


def test_arithmetic_and_broadcasting():
    x, y = np.array([[1.0, -2.0], [3.0, 4.0]]), np.array([[2.0], [0.5]])
    a, b = nd.array(x), nd.array(y)
    for f in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q,
              lambda p, q: p % q, lambda p, q: p > q, lambda p, q: p == q,
              lambda p, q: q <= p):
        np.testing.assert_allclose(f(a, b).asnumpy(), f(x, y), rtol=1e-6)
        np.testing.assert_allclose(f(a, 3).asnumpy(), f(x, 3), rtol=1e-6)
        np.testing.assert_allclose(f(3, b).asnumpy(), f(3, y), rtol=1e-6)
    np.testing.assert_allclose((2 ** a).asnumpy(), 2 ** x)
    np.testing.assert_allclose((-a).asnumpy(), -x)
    np.testing.assert_allclose(abs(a).asnumpy(), abs(x))
    a += b
    a *= 2
    a /= 4
    a -= 1
    np.testing.assert_allclose(a.asnumpy(), (x + y) * 2 / 4 - 1)
    with pytest.raises(ValueError, match=r"^\[broadcast_add\]"):
        nd.ones((2, 3)) + nd.ones((4,))
    with pytest.raises(TypeError):
        a + "x"


def test_overlapping_out_is_computed_as_if_apart():
    values = np.arange(12, dtype="float32").reshape(3, 4)
    a = nd.array(values)
    nd.transpose(a.reshape((4, 3)), out=a)
    np.testing.assert_array_equal(a.asnumpy(), values.reshape(4, 3).T)


def test_truth_value():
    assert bool(nd.array([2])) and not bool(nd.array([0])) and not bool(nd.zeros((0,)))
    with pytest.raises(ValueError, match="truth value"):
        bool(nd.ones((2,)))
    assert int(nd.array([3])) == 3 and float(nd.array([0.5])) == 0.5
    with pytest.raises(ValueError, match="asscalar"):
        nd.ones((2,)).asscalar()


def test_copies():   # the operator is _copyto
    a = nd.array([[1, 2], [3, 4]])
    b = a.copy()
    b[:] = 0
    check(a, [[1, 2], [3, 4]])
    c = nd.zeros((2, 2), dtype="int32")
    a.copyto(c)
    check(c, [[1, 2], [3, 4]])
    assert a.as_in_context(mx.cpu(0)) is a
    with pytest.raises(ValueError):
        a.copyto(nd.zeros((3, 2)))
    with pytest.raises(Exception, match="CUDA|GPU|gpu"):
        a.copyto(mx.gpu(0)).wait_to_read() if not mx.num_gpus() else nd.ones((1,), ctx=mx.gpu(99))


def test_pickle_and_deepcopy():
    import copy
    a = nd.array([[1, 2], [3, 4]], dtype="int8")
    for b in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), copy.copy(a)):
        assert b.dtype == np.int8
        check(b, [[1, 2], [3, 4]])


def test_save_and_load(tmp_path):
    f = str(tmp_path / "x.params")
    data = {f"arg:{d}": nd.array(np.arange(6).reshape(2, 3) % 2, dtype=d) for d in DTYPES}
    nd.save(f, data)
    back = nd.load(f)
    assert list(back) == list(data)
    for k in data:
        assert back[k].dtype == data[k].dtype
        np.testing.assert_array_equal(back[k].asnumpy(), data[k].asnumpy())
    nd.save(f, [nd.ones((2,)), nd.zeros((0, 3))])
    one, none = nd.load(f)
    check(one, np.ones(2))
    assert none.shape == (0, 3)
    assert os.listdir(tmp_path) == ["x.params"]
    with open(f, "rb") as stream:
        assert len(nd.load_frombuffer(stream.read())) == 2
    np.savez(str(tmp_path / "y.npz"), w=np.ones((2, 2), "float32"))
    check(nd.load(str(tmp_path / "y.npz"))["w"], np.ones((2, 2)))


def old_array(values, version):
    shape = values.shape
    context, flag = struct.pack("<ii", 2, 3), struct.pack("<i", 0)
    if version == 0:
        return struct.pack(f"<I{len(shape)}I", len(shape), *shape) + context + flag + values.tobytes()
    if version == 1:
        return struct.pack(f"<Ii{len(shape)}q", 0xF993FAC8, len(shape), *shape) + context + flag + values.tobytes()
    return struct.pack(f"<Iii{len(shape)}q", 0xF993FAC9 if version == 2 else 0xF993FACA, 0,
                       len(shape), *shape) + context + flag + values.tobytes()


def container(arrays, names=()):
    out = struct.pack("<QQQ", 0x112, 0, len(arrays)) + b"".join(arrays) + struct.pack("<Q", len(names))
    return out + b"".join(struct.pack("<Q", len(n)) + n for n in names)


@pytest.mark.cpu
@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_every_container_version_loads(version):
    values = np.arange(6, dtype="float32").reshape(2, 3)
    got = nd.load_frombuffer(container([old_array(values, version)], [b"w"]))["w"]
    np.testing.assert_array_equal(got.asnumpy(), values)
    assert got.context == mx.cpu(0)   # saved on gpu(3): loaded where there is memory


def test_malformed_files_are_refused_with_offset():
    good = container([old_array(np.arange(6, dtype="float32").reshape(2, 3), 2)], [b"w"])
    nd.load_frombuffer(good)
    for end in range(len(good)):
        with pytest.raises(OSError, match=r"^\[load\] malformed NDArray data at byte \d+"):
            nd.load_frombuffer(good[:end])
    rng = np.random.default_rng(5)
    for _ in range(3000):
        bad = bytearray(good)
        for at in rng.integers(0, len(bad), size=rng.integers(1, 4)):
            bad[at] = rng.integers(0, 256)
        try:
            nd.load_frombuffer(bytes(bad))
        except (OSError, ValueError):
            pass
    huge = struct.pack("<QQQ", 0x112, 0, 1) + struct.pack("<Iii2q", 0xF993FAC9, 0, 2, 2 ** 40, 2 ** 40) + struct.pack("<iii", 1, 0, 0)
    with pytest.raises(OSError, match="bytes"):
        nd.load_frombuffer(huge)
    with pytest.raises(OSError):
        nd.load("/nonexistent/x.params")


def test_numpy_interop():
    a = nd.array([[1.0, 2.0], [3.0, 4.0]])
    assert isinstance(np.asarray(a), np.ndarray)
    assert np.array(a, dtype="int64").dtype == np.int64
    np.testing.assert_array_equal(np.concatenate([a, a]), np.concatenate([a.asnumpy()] * 2))
    assert isinstance(np.ones((2, 2), "float32") + a, nd.NDArray)
    check(np.ones((2, 2), "float32") + a, a.asnumpy() + 1)
    check(np.float32(2) * a, a.asnumpy() * 2)


@pytest.mark.cpu
def test_dlpack_shares_memory():
    a = nd.zeros((2, 3))
    view = np.from_dlpack(a)
    a[:] = 4
    a.wait_to_read()
    np.testing.assert_array_equal(view, np.full((2, 3), 4))
    source = np.arange(6, dtype="int32").reshape(2, 3)
    b = nd.from_dlpack(source)
    source[0, 0] = 77
    assert b.asnumpy()[0, 0] == 77
    c = nd.from_dlpack(nd.to_dlpack_for_write(a))
    c[:] = 1
    check(a, np.ones((2, 3)))
    capsule = a.to_dlpack_for_read()
    nd.from_dlpack(capsule)
    with pytest.raises(ValueError, match="once"):
        nd.from_dlpack(capsule)
    with pytest.raises(ValueError, match="row-major"):
        nd.from_dlpack(np.ones((2, 3)).T)
    d = nd.from_numpy(np.arange(3, dtype="float32"))
    check(d, [0, 1, 2])


def test_error_waits_in_the_array():
    a = nd.take(nd.arange(3), nd.array([7]), mode="raise")
    with pytest.raises(IndexError, match=r"take"):
        a.asnumpy()


def test_repr_shows_values_shape_and_device():
    text = repr(nd.array([[1, 2]]))
    assert "[[1. 2.]]" in text and f"<NDArray 1x2 @{mx.cpu(0)}>" in text


@pytest.mark.parametrize("switch", ["0", pytest.param("1", marks=pytest.mark.unsanitized)])
def test_binding_is_chosen_by_variable(switch):
    code = ("import mxnet as mx; a = mx.nd.ones((2,)) + 1; a -= 0.5; "
            "print(mx.nd._internal.NDArrayBase.__module__, a.asnumpy().tolist(), (a[0] == "
            "1.5).asscalar())")
    out = subprocess.run([sys.executable, "-c", code],
                         env={**os.environ, "MXNET_ENABLE_CYTHON": switch,
                              "MXNET_ENFORCE_CYTHON": switch}, capture_output=True, text=True,
                         check=True)
    assert out.stdout.split()[0] == ("mxnet._cy3.ndarray" if switch == "1" else "mxnet._ctypes.ndarray")
    assert "[1.5, 1.5] 1.0" in out.stdout


def test_numbers_do_not_change_integer_dtypes():
    # as in 1.9.1 and in symbols: the number is cut to the array's dtype
    a = nd.array([1, 2, 3], dtype="int32")
    for result, expected in [(a + 1.5, [2, 3, 4]), (2.7 * a, [2, 4, 6]), (a > 1.5, [0, 1, 1]),
                             (nd.maximum(a, 2.5), [2, 2, 3]), (nd.subtract(a, 0.5), [1, 2, 3])]:
        assert result.dtype == np.int32
        np.testing.assert_array_equal(result.asnumpy(), expected)
    a -= 1.5
    np.testing.assert_array_equal(a.asnumpy(), [0, 1, 2])
    traced = (mx.sym.var("a") + 1.5).eval(a=a)[0]
    assert traced.dtype == np.int32 and traced.asnumpy().tolist() == (a + 1.5).asnumpy().tolist()


@pytest.mark.parametrize("value", ["x", None, [1, 2, 3], object()])
def test_in_place_operators_refuse_what_they_cannot_take(value):
    import operator
    for op in (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.imod, operator.ipow):
        with pytest.raises(TypeError):
            op(nd.ones((3,)), value)


def test_values_that_are_no_numbers_are_named():
    a = nd.zeros((2, 3))
    for value in ("x", 1j):
        with pytest.raises(TypeError, match=r"\[indexing\] a value"):
            a[0] = value
    a[0] = None     # 1.9.1, as NumPy
    check(a, [[np.nan] * 3, [0] * 3])
    with pytest.raises(TypeError, match=r"\[shape\] got 'x'"):
        nd.zeros("x")
    with pytest.raises(TypeError, match=r"\[context\] got 'cpu'"):
        nd.zeros((2,), ctx="cpu")
    with pytest.raises(TypeError, match=r"\[array\]"):
        nd.array([1 + 2j])   # not its real part
    with pytest.raises(TypeError, match=r"\[from_numpy\]"):
        nd.from_numpy([1, 2])
    check(nd.full((2, 2), [1, 2]), [[1, 2], [1, 2]])
    check(nd.arange(6).reshape((2, 3))[True], [3, 4, 5])   # 1.x: an integer


def test_broadcast_to_more_dimensions():
    a = nd.arange(3)
    check(a.broadcast_to((2, 3)), [[0, 1, 2]] * 2)
    check(nd.ones((2, 1)).broadcast_to((4, 2, 3)), np.ones((4, 2, 3)))
    with pytest.raises(ValueError, match="broadcast_to"):
        a.broadcast_to((2, 4))


def test_what_lies_side_by_side_is_a_view():
    # as in 1.9.1: writing to it writes to the array
    for key in [(1, 2), (1, slice(1, 3)), (slice(0, 1), slice(1, 3)), (1,), (slice(1, 3),),
                (2, slice(None)), (slice(2, 3), slice(2, 3)), (None, 1, slice(0, 2))]:
        values = np.arange(12, dtype="float32").reshape(3, 4)
        a = nd.array(values)
        selected = a[key]
        selected[:] = 50
        values[key] = 50
        np.testing.assert_array_equal(a.asnumpy(), values, err_msg=repr(key))
    a = nd.array(values)
    for key in [(slice(None), 1), (slice(0, 2), slice(0, 2)), (0, slice(None, None, -1)), (0, slice(None, None, 2))]:
        a[key][:] = 70
    np.testing.assert_array_equal(a.asnumpy(), values)
    deep = nd.zeros((2, 3, 4))
    deep[1, 0:2][:] = 1
    assert deep.asnumpy().sum() == 8 and deep[1, :2].asnumpy().all()


def test_views_of_read_only_arrays_are_read_only():
    owner = nd.ones((2, 3))
    a = owner.detach()
    fixed = nd.NDArray(_handle_of(a), writable=False)
    for view in (fixed[0], fixed[0:1], fixed.reshape((3, 2)), fixed[0, 1:2], fixed[:]):
        assert not view.writable
        with pytest.raises(ValueError, match="read-only"):
            view[:] = 0
    assert owner.asnumpy().all()


def _handle_of(a):
    """A second native array for the same memory, which the caller's object owns."""
    out = ctypes.c_void_p()
    mx.base.check_call(mx.base._LIB.MXNDArrayDetach(a.handle, ctypes.byref(out)))
    return out


def test_masks_have_the_shape_of_what_they_select():
    a = nd.arange(6).reshape((2, 3))
    for mask in ([True, False], np.array([True, False]), nd.array([1, 0], dtype="bool")):
        check(a[mask], [[0, 1, 2]])
    check(a[:, [True, False, True]], [[0, 2], [3, 5]])
    check(a[[[True, False, False], [False, True, True]]], [0, 4, 5])
    check(a[..., nd.array([0, 1, 0], dtype="bool")], [[1], [4]])
    for key in ([True], [True, False, True], (slice(None), [True, False]), np.ones((3, 2), bool), np.ones((2, 4), bool)):
        with pytest.raises(IndexError, match=r"\[indexing\] a mask of shape"):
            a[key]
        with pytest.raises(IndexError, match=r"\[indexing\] a mask of shape"):
            a[key] = 1


def test_whole_floats_of_numpy_are_indices():
    a = nd.arange(4)
    check(a[nd.argsort(nd.array([3, 1, 2])).asnumpy()], [1, 2, 0])
    for key in (np.array([0.5]), [1.5], 1.0, np.float32(1)):
        with pytest.raises(IndexError, match="no index"):
            a[key]


def test_creation_refuses_what_it_does_not_know():
    for call in (lambda: nd.zeros((2,), foo=1), lambda: nd.ones((2,), otu=nd.zeros((2,))), lambda: nd.eye(2, foo=1)):
        with pytest.raises(TypeError, match="unexpected arguments (foo|otu); (the nearest name is 'out'; )?accepted: .*ctx, dtype, .*out"):
            call()
    with pytest.raises(TypeError, match=r"^\[zeros\] got unexpected arguments ctxx; the nearest name is 'ctx'; accepted: shape, "):
        nd.zeros((2,), ctxx=mx.cpu())
    for call in (lambda: nd.linspace(0, 1, 2.5), lambda: nd.eye(2.5),
                 lambda: nd.arange(3, repeat=1.5), lambda: nd.histogram(nd.ones((2,)), 2.5)):
        with pytest.raises(TypeError, match="accepted: an integer"):
            call()
    assert nd.moveaxis(nd.zeros((2, 3, 4)), np.int64(0), np.int32(-1)).shape == (3, 4, 2)


def test_histogram_without_range_has_the_edges_of_numpy():
    counts, edges = nd.histogram(nd.array([1, 2, 3, 1], dtype="int32"), 4)
    check(counts, [2, 0, 1, 1])
    check(edges, [1, 1.5, 2, 2.5, 3])
    assert counts.dtype == edges.dtype == np.float32


@pytest.mark.cpu
def test_dlpack_arguments():
    a = nd.arange(3)
    copied = nd.from_dlpack(a.__dlpack__(copy=True, max_version=(1, 0), dl_device=(1, 0)))
    copied[:] = 9
    check(a, [0, 1, 2])
    with pytest.raises(BufferError, match="dl_device"):
        a.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError):
        a.__dlpack__(foo=1)
    for value in ([1, 2], None, 3):
        with pytest.raises(TypeError, match=r"\[from_dlpack\] got a"):
            nd.from_dlpack(value)
    with pytest.raises(TypeError, match=r"\[to_dlpack\] got a ndarray"):
        nd.to_dlpack_for_read(np.ones(2))
    with pytest.raises(ValueError, match="multiple of the element's 4 bytes"):
        nd.from_dlpack(np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float32))


def test_capsules_end_quietly():
    # while an exception is on its way (NumPy knows no bfloat16), and in a cycle that is collected
    # while the interpreter ends
    code = """
import numpy as np, mxnet as mx
try:
    np.from_dlpack(mx.nd.ones((2,), dtype="bfloat16"))
except (RuntimeError, BufferError, TypeError) as e:
    print(type(e).__name__)
kept = [mx.nd.ones((2,)).to_dlpack_for_read() for _ in range(5)]
kept.append(kept)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and run.stderr == "" and run.stdout.strip() in ("RuntimeError", "BufferError", "TypeError"), run.stderr


def test_small_refusals():
    x = nd.arange(12).reshape((3, 4))
    check(nd.slice(x, begin=1, end=2), [[4, 5, 6, 7]])   # a number is a tuple of one, as in 1.9.1
    check(x.slice(begin=(0,), end=(3,), step=2), [[0, 1, 2, 3], [8, 9, 10, 11]])
    with pytest.raises(ValueError, match=r"\[squeeze\]"):
        x.squeeze(1, inplace=True)
    assert x.reshape((4, 3), shape=(2, 6)).shape == (4, 3)     # as in 1.9.1
    with pytest.raises(TypeError, match=r"\[NDArray\] got a str"):
        nd.NDArray("values")
    with pytest.raises(TypeError, match=r"\[add\] got str and NDArray"):
        nd.add("1", x)
    with pytest.raises(TypeError, match=r"\[shape\]"):
        nd.zeros(shape=nd.array([2, 3]))
    with pytest.raises(ValueError, match=r"\[concatenate\] got no list"):
        nd.concatenate(x)
    assert nd.zeros(shape=np.array([2, 3])).shape == (2, 3)


@pytest.mark.cpu      # memory that a GPU's stream is not done with counts as used
def test_a_caller_that_runs_ahead_holds_few_results():
    # memory comes in an operation's turn, and a thread's operations run in the order of its program
    x = mx.nd.ones((1 << 20,))
    mx.nd.waitall()
    mx.storage.reset_peak(mx.cpu())
    before = mx.storage.stats(mx.cpu()).used_bytes
    for _ in range(50):
        y = mx.nd.relu(x) * 2 + x
    np.testing.assert_array_equal(y.asnumpy()[:3], 3)
    assert mx.storage.stats(mx.cpu()).peak_used_bytes - before < 10 * (4 << 20)   # all results would be 150 arrays


def step_with_gradient(function, grad_req="write"):
    x = mx.nd.ones((256, 4096))
    x.attach_grad(grad_req)

    def step():
        with mx.autograd.record():
            y = function(x)
        y.backward()
    return step


@pytest.mark.cpu      # memory that a GPU's stream is not done with counts as used
@pytest.mark.parametrize("make", [
    lambda: step_with_gradient(lambda x: mx.nd.moments(x, axes=(1,))[1]),       # a gradient of several operators
    lambda: step_with_gradient(lambda x: x > 0.5),              # nothing but a gradient of the head
    lambda: step_with_gradient(lambda x: mx.nd.LRN(x.reshape((1, 16, 256, 256)), nsize=5), "add"),
    lambda: step_with_gradient(lambda x: x + x),                # one that is copied to where it belongs
    lambda: lambda x=mx.nd.ones((1 << 20,)): mx.nd.flip(x, axis=0, out=x),      # through a temporary array
], ids=["several", "head", "add", "copied", "over itself"])
def test_steps_that_run_ahead_hold_few_results(make):
    step = make()
    step()
    mx.nd.waitall()
    mx.storage.reset_peak(mx.cpu())
    before = mx.storage.stats(mx.cpu()).used_bytes
    for _ in range(40):
        step()
    mx.nd.waitall()
    assert mx.storage.stats(mx.cpu()).peak_used_bytes - before < 10 * (4 << 20)   # a result of each step would be 40 arrays


def test_minus_of_a_bool_array():
    got = -nd.array([1, 0, 1], dtype="bool")     # as in 1.9.1
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got.asnumpy(), [-1, 0, -1])


def test_rint_keeps_the_sign_of_zeros():
    x = [-0.15, -0.49999997, -0.5, -0.0, 0.15, 0.49999997, 0.5, 1.5]
    for dtype in ("float32", "float64"):
        got = nd.rint(nd.array(np.tile(x, 9), dtype=dtype)).asnumpy()
        np.testing.assert_array_equal(got, np.tile([-0.0, -0.0, -1, -0.0, 0, 0, 0, 1], 9))
        np.testing.assert_array_equal(np.signbit(got), np.signbit(np.tile(x, 9)))


def test_relu_of_minus_zero_is_zero():
    x = nd.array([-0.0, -1, 1, np.nan] * 9)     # printed as in 1.9.1
    for got in (nd.relu(x), nd.Activation(x, act_type="relu"), mx.npx.relu(x.as_np_ndarray())):
        np.testing.assert_array_equal(got.asnumpy(), [0, 0, 1, np.nan] * 9)
        assert not np.signbit(got.asnumpy()[::4]).any()
