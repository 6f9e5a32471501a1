"""mx.np.ndarray: what the class is, its operators, values, printing, and copies."""
import copy
import functools
import math
import operator
import pickle

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.numpy._dispatch import from_values
from mxnet.numpy._methods import REFUSED


def array(values, dtype="float32"):
    return from_values(values, dtype=dtype)


X = [[1.0, -2.0, 3.5], [0.0, 4.0, -5.25]]


def same(got, want, dtype=None):
    assert type(got) is mx.np.ndarray
    want = onp.asarray(want)
    assert got.dtype == (dtype or want.dtype) and got.shape == want.shape
    assert onp.allclose(got.asnumpy(), want)


# ---- what it is

def test_attributes():
    a = array(onp.zeros((2, 3, 4)), "int16")
    assert (a.shape, a.ndim, a.size, a.itemsize, a.nbytes, len(a)) == ((2, 3, 4), 3, 24, 2, 48, 2)
    assert a.dtype == onp.dtype("int16") and isinstance(a.dtype, onp.dtype)
    assert a.T.shape == (4, 3, 2) and a.mT.shape == (2, 4, 3)
    assert a.device == a.ctx == a.context == mx.cpu()
    assert isinstance(a, mx.nd.NDArray) and type(a).__module__ == "mxnet.numpy"
    assert a.grad is None and a.stype == "default" and a.writable
    with pytest.raises(ValueError, match="mT"):
        array([1]).mT   # noqa: B018
    with pytest.raises(AttributeError):
        a.shape = (24,)


DTYPES = "float32 float64 float16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    a = array([0, 1], dtype)
    assert a.dtype == onp.dtype(dtype) and a.asnumpy().dtype == onp.dtype(dtype)
    assert a.tolist() == onp.array([0, 1], dtype).tolist() and type(a[1].item()) is type(onp.array(1, dtype).item())


def test_zero_dimensions():
    a = array(2.5)
    assert a.shape == () and a.size == 1 and a.item() == 2.5 and a.tolist() == 2.5
    assert float(a) == 2.5 and int(a) == 2 and complex(a) == 2.5 and bool(a) and math.sqrt(array(4)) == 2
    same(a[()], 2.5, "float32")
    same(a[...], 2.5, "float32")
    same(a[None], [2.5], "float32")
    same(a + 1, 3.5, "float32")
    for call, error in ((lambda: len(a), TypeError), (lambda: list(a), TypeError), (lambda: a[0], IndexError), (lambda: a[:], IndexError)):
        with pytest.raises(error):
            call()


def test_zero_size():
    a = array(onp.zeros((0, 3)))
    assert len(a) == 0 and not a and list(a) == [] and a.tolist() == [] and a.asnumpy().shape == (0, 3)
    assert (a + 1).shape == (0, 3) and a.T.shape == (3, 0) and a.reshape(3, 0).shape == (3, 0) and a.copy().shape == (0, 3)
    assert a.astype("int32").dtype == "int32" and a[:, 1].shape == (0,)
    with pytest.raises(TypeError):
        float(a)


def test_truth_and_numbers():
    assert not array(0) and array([2.0]) and not array(False, "bool")
    with pytest.raises(ValueError, match="ambiguous"):
        bool(array([1, 2]))
    for function in (int, float, complex):
        assert function(array([[2]])) == 2
        with pytest.raises(TypeError, match="size-1"):
            function(array([1, 2]))
    assert operator.index(array(2, "int64")) == 2 and [1, 2, 3][array(1, "uint8")] == 2 and list(range(array(3, "int32"))) == [0, 1, 2]
    for bad in (array(2.0), array([2], "int32"), array(True, "bool")):
        with pytest.raises(TypeError, match="integer scalar"):
            operator.index(bad)


def test_iteration_and_membership():
    a = array(X)
    assert [row.tolist() for row in a] == X
    for row in a:
        row[:] = 1      # rows are views
    assert a.tolist() == [[1.0] * 3] * 2
    assert 3.5 in array(X) and 9 not in array(X) and array(4.0) in array(X)
    assert a in [a] and {a: 1}[a] == 1 and hash(a) != hash(array(X))


def test_format_and_round():
    assert f"{array(1.5):.3f} {array(2, 'int32'):d} {array([1, 2])}" == "1.500 2 [1. 2.]"
    with pytest.raises(TypeError, match="format"):
        format(array([1.0, 2]), ".2f")


def test_python_functions():
    pytest.importorskip("mxnet.numpy._ufuncs")
    a = array([1.25, -2.75])
    same(round(a, 1), onp.round([1.25, -2.75], 1), "float32")
    same(round(a), [1, -3], "float32")
    same(math.floor(a), [1, -3], "float32")
    same(math.ceil(a), [2, -2], "float32")
    same(math.trunc(a), [1, -2], "float32")


# ---- operators

BINARY = ["add", "sub", "mul", "truediv", "mod", "pow", "floordiv", "eq", "ne", "lt", "le", "gt", "ge"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_operators(name, dtype):
    function = getattr(operator, name)
    x, y = onp.array([[1.5, 2, 3], [4, 5.5, 6]], dtype), onp.array([2, 2.5, 3], dtype)
    a, b = array(x, dtype), array(y, dtype)
    same(function(a, b), function(x, y))
    same(function(b, a), function(y, x))
    for number in (2, 2.5, True, onp.float32(1.5), onp.int64(3), onp.bool_(True)):
        same(function(a, number), function(x, x.dtype.type(number)))
        same(function(number, a), function(x.dtype.type(number), x))
    same(function(a, y), function(x, y))
    same(function(y, a), function(y, x))
    same(function(a, [2.0, 2.5, 3.0]), function(x, y.astype(x.dtype)))
    same(function([2.0, 2.5, 3.0], a), function(y.astype(x.dtype), x))


@pytest.mark.parametrize("name", BITWISE)
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_bitwise_operators(name, dtype):
    function = getattr(operator, name)
    x, y = onp.array([[1, 2, 3], [4, 5, 6]], dtype), onp.array([2, 1, 3], dtype)
    a, b = array(x, dtype), array(y, dtype)
    same(function(a, b), function(x, y))
    same(function(a, 2), function(x, x.dtype.type(2)))
    same(function(2, a), function(x.dtype.type(2), x))
    same(~a, ~x)


def test_unary_operators():
    x = onp.array([1.5, -2.0], "float32")
    a = array(x)
    for function in (operator.neg, operator.pos, abs):
        same(function(a), function(x))
    flags = array([True, False], "bool")
    same(~flags, [False, True])
    same(flags & True, [True, False])
    same(flags | array([False, False], "bool"), [True, False])
    assert +a is not a
    same(divmod(a, 2)[0], x // 2)
    same(divmod(a, 2)[1], x % 2)
    same(divmod(5, a)[0], 5 // x)


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "imod", "ipow", "ifloordiv"])
def test_in_place(name):
    function = getattr(operator, name)
    for other in (2, 2.5, array([2, 1, 3]), onp.array([2.0, 1.0, 3.0]), [2.0, 1.0, 3.0]):
        x = onp.array(X, "float32")
        a = array(x)
        before = a
        a = function(a, other)
        assert a is before
        want = function(x, other.asnumpy() if isinstance(other, mx.np.ndarray) else other)
        assert a.dtype == "float32" and onp.allclose(a.asnumpy(), want, equal_nan=True)


def test_in_place_refusals():
    a = array([1, 2], "int32")
    for call in (lambda: operator.iadd(a, 1.5), lambda: operator.itruediv(a, 2), lambda: operator.iadd(a, array([1.5, 2])),
                 lambda: operator.iadd(array([1, 2]), array(onp.ones((3, 2)))), lambda: operator.iadd(array([1.0]), None)):
        with pytest.raises((TypeError, ValueError)) as error:
            call()
        assert str(error.value)
    assert a.tolist() == [1, 2]
    a += 1
    assert a.tolist() == [2, 3] and a.dtype == "int32"
    a |= 4
    a <<= 1
    assert a.tolist() == [12, 14]


def test_no_operands():
    a = array([1, 2])
    assert (a == None) is False and (a != None) is True   # noqa: E711
    for call in (lambda: a + None, lambda: a < None, lambda: a + "x", lambda: a * {}, lambda: None - a, lambda: a + 1j,
                 lambda: pow(a, 2, 3)):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: a + mx.nd.ones((2,)), lambda: mx.nd.ones((2,)) * a, lambda: a == mx.nd.ones((2,))):
        with pytest.raises(TypeError, match="as_np_ndarray"):
            call()


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
                                    ((5, 2, 3), (5, 3, 1)),
                                    ((2, 0), (0, 3))])
def test_matmul(shapes):
    rng = onp.random.default_rng(0)
    x, y = (rng.normal(size=s).astype("float32") for s in shapes)
    same(array(x) @ array(y), x @ y)
    same(array(x) @ y, x @ y)


def test_matmul_in_place():
    x = onp.array([[1.0, 2], [3, 4]], "float32")
    a = array(x)
    before = a
    a @= array(x)
    assert a is before
    same(a, x @ x)
    with pytest.raises(ValueError, match="matmul"):
        a @= array(onp.ones((2, 1)))
    for call in (lambda: a @ 2, lambda: 2 @ a, lambda: a @ array(2.0), lambda: a @ array(onp.ones((3, 2)))):
        with pytest.raises((TypeError, ValueError)):
            call()


# ---- values, copies, shapes

def test_item():
    a = array(X)
    assert a.item(4) == 4.0 and a.item(1, 2) == -5.25 and a.item((0, 1)) == -2.0 and type(array([3], "int32").item()) is int
    assert array([True], "bool").item() is True and array(1.5, "float16").item() == 1.5 and array(2, "uint64").item() == 2
    with pytest.raises(ValueError, match="size 1"):
        a.item()
    with pytest.raises(IndexError):
        a.item(9)


def test_astype():
    a = array([0.0, 1.75, -2.5])
    same(a.astype("int32"), onp.array([0, 1, -2], "int32"))
    same(a.astype(bool), [False, True, True])
    same(a.astype(onp.float64), [0, 1.75, -2.5])
    assert a.astype("float32", copy=False) is a and a.astype("float32") is not a and a.astype(int).dtype == "int64"
    assert a.astype("bfloat16").dtype == "bfloat16" and a.astype("bfloat16").asnumpy().dtype == "float32"
    for arguments in (dict(casting="safe"), dict(order="Q"), dict(subok=False)):
        with pytest.raises(ValueError, match="astype"):
            a.astype("int32", **arguments)
    with pytest.raises(TypeError):
        a.astype("complex64")


def test_copies():
    a = array(X)
    for other in (a.copy(), copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), a.copyto(mx.cpu()), a.astype("float32"),
                  a.reshape(3, 2), a.flatten(), a.T, a[:, 1]):
        assert type(other) is mx.np.ndarray
        other[:] = 7
        assert a.tolist() == X
    assert a.as_np_ndarray() is a and type(a.as_nd_ndarray()) is mx.nd.NDArray and type(mx.nd.ones(2).as_np_ndarray()) is mx.np.ndarray
    assert a.as_in_ctx(mx.cpu()) is a and a.as_in_context(mx.cpu()) is a and a.to_device("cpu") is a
    assert a.to_device(mx.cpu(1)).ctx == mx.cpu(1)
    target = array(onp.zeros((2, 3)), "int32")
    assert a.copyto(target) is target and target.tolist() == [[1, -2, 3], [0, 4, -5]]
    for bad, error in ((mx.nd.zeros((2, 3)), TypeError), (3, TypeError), (array([1]), ValueError)):
        with pytest.raises(error):
            a.copyto(bad)
    same(a.copy(order="F"), X, "float32")
    with pytest.raises(ValueError, match="order='Q'"):
        a.copy(order="Q")
    same(a.flatten("F"), onp.ravel(X, "F"), "float32")


def test_views_share_memory():
    def shares(view):
        a = array(X)
        view(a)[()] = 7
        return 7 in a
    for view in (lambda a: a.detach(), lambda a: a[0], lambda a: a[1:], lambda a: a[...], lambda a: a[()], lambda a: a[None],
                 lambda a: a[0, 1], lambda a: a[0, 1:], lambda a: a[-1:, None], lambda a: a.as_nd_ndarray(), lambda a: a.reshape_view(3, 2),
                 lambda a: a.as_nd_ndarray().as_np_ndarray()):
        assert shares(view)
    for kopy in (lambda a: a[:, 1], lambda a: a[::-1], lambda a: a[[0]], lambda a: a[array([0], "int64")], lambda a: a[True],
                 lambda a: a[array(1, "int64")], lambda a: a.T, lambda a: a.reshape(6), lambda a: a.flatten(), lambda a: a.copy(),
                 lambda a: a[onp.array([True, False])]):
        assert not shares(kopy)


def test_shapes():
    a = array(X)
    same(a.reshape(3, -1), onp.reshape(X, (3, -1)), "float32")
    same(a.reshape((6,)), onp.reshape(X, 6), "float32")
    same(a.transpose(), onp.transpose(X), "float32")
    same(a.transpose(1, 0), onp.transpose(X), "float32")
    same(a.transpose((-1, 0)), onp.transpose(X), "float32")
    same(a.transpose(None), onp.transpose(X), "float32")
    same(array([5]).reshape(()), 5.0, "float32")
    same(a.reshape(3, 2, order="F"), onp.reshape(X, (3, 2), order="F"), "float32")
    view = a.reshape(3, 2, copy=False)
    view[0, 0] = 9
    assert a[0, 0] == 9
    for call, error in ((lambda: a.reshape(4, 2), ValueError), (lambda: a.reshape(), TypeError), (lambda: a.reshape(2, 3, order="Q"),
                        ValueError), (lambda: a.transpose(0), ValueError), (lambda: a.transpose(0, 0), ValueError)):
        with pytest.raises(error):
            call()


def test_refused_methods():
    a = array(X)
    for name in ("exp", "abs", "nansum", "asscalar", "tostype", "expand_dims", "slice", "norm", "zeros_like", "topk", "softmax",
                 "broadcast_like"):
        with pytest.raises(AttributeError, match=f"no attribute {name}; accepted: "):
            getattr(a, name)()
    with pytest.raises(AttributeError):
        a.no_such_method   # noqa: B018
    with pytest.raises(AttributeError, match="accepted: mx.npx.activation\\(x, act_type='log_sigmoid'\\)"):
        a.log_sigmoid()
    for name, instead in REFUSED.items():
        if instead.startswith("mx.") and "(" not in instead:
            assert callable(functools.reduce(getattr, instead.split(".")[1:], mx)), name


FUNCTIONS = [
    ("sum", (), {}), ("sum", (0,), dict(keepdims=True)), ("mean", (), {}), ("mean", (1,), {}), ("max", (0,), {}), ("min", (), {}),
    ("prod", (), {}), ("std", (), {}), ("var", (0,), {}), ("argmax", (1,), {}), ("argmin", (), {}), ("cumsum", (0,), {}), ("all", (), {}),
    ("any", (1,), {}), ("round", (1,), {}), ("clip", (-1, 2), {}), ("repeat", (2,), dict(axis=1)), ("squeeze", (), {}),
    ("swapaxes", (0, 1), {}), ("diagonal", (), {}), ("ravel", (), {}), ("argsort", (), {}),
]


@pytest.mark.parametrize("name, args, kwargs", FUNCTIONS)
def test_function_methods(name, args, kwargs):
    if not hasattr(mx.np, name):
        pytest.skip(f"mx.np.{name} is not there yet")
    got, want = getattr(array(X), name)(*args, **kwargs), getattr(onp.array(X, "float32"), name)(*args, **kwargs)
    assert type(got) is mx.np.ndarray and got.shape == want.shape and onp.allclose(got.asnumpy(), want)


# ---- autograd

def test_gradients():
    a = array(X)
    a.attach_grad()
    assert type(a.grad) is mx.np.ndarray and a.grad.tolist() == [[0.0] * 3] * 2
    with autograd.record():
        y = (a * a)[0] + 1
    y.backward()
    same(a.grad, [[2, -4, 7], [0, 0, 0]], "float32")
    a.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = a * 2
        y.backward(array(onp.ones((2, 3))))
    same(a.grad, onp.full((2, 3), 4), "float32")
    a.drop_grad()
    assert a.grad is None and a.detach().grad is None
    shared = a.as_nd_ndarray()
    shared.attach_grad()
    assert type(shared.as_np_ndarray().grad) is mx.np.ndarray


def test_assignment_while_recording():
    a = array(X)
    a.attach_grad()
    with autograd.record():
        with pytest.raises(ValueError, match="records"):
            a[0] = 1
        y = a * 2
        y[0] = 5
        z = (y * y).sum() if hasattr(mx.np, "sum") else y * y
    z.backward()
    same(a.grad, [[0, 0, 0], [0, 32, -42]], "float32")


# ---- printing

@pytest.mark.parametrize("values, dtype, text", [
    ([1, 2.5], "float32", "array([1. , 2.5])"), ([1, 2], "int32", "array([1, 2], dtype=int32)"),
    ([1, 2], "int64", "array([1, 2], dtype=int64)"),
    ([1.0], "float64", "array([1.], dtype=float64)"), (1.5, "float32", "array(1.5)"), (1, "int8", "array(1, dtype=int8)"),
    ([True], "bool", "array([ True])"), (False, "bool", "array(False)"), (onp.zeros((0, 3)), "float32", "array([], shape=(0, 3))"),
    ([], "float32", "array([])"), ([], "bool", "array([], dtype=bool)"),
    (onp.zeros((2, 0)), "int32", "array([], shape=(2, 0), dtype=int32)"),
    ([[1, 2], [3, 4]], "float16", "array([[1., 2.],\n       [3., 4.]], dtype=float16)"),
    ([1, 2], "bfloat16", "array([1., 2.], dtype=bfloat16)"),
    (onp.arange(2000), "int32", "array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)"),
    (onp.arange(16), "int64", "array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15], dtype=int64)"),
])
def test_repr(values, dtype, text):
    assert repr(array(values, dtype)) == text


@pytest.mark.parametrize("dtype,said", [("float64", ""), ("float32", ", dtype=float32"), ("int64", ", dtype=int64")])
def test_repr_leaves_out_the_default_float(dtype, said):
    try:
        mx.npx.set_np(dtype=True)
        assert repr(mx.np.ones(2, dtype=dtype)) == f"array([1{'' if 'int' in dtype else '.'}, 1{'' if 'int' in dtype else '.'}]{said})"
    finally:
        mx.npx.reset_np()


def test_str_and_print_options():
    assert str(array([0.1, 1 / 3])) == "[0.1        0.33333334]" and str(array(1.5)) == "1.5" and str(array(onp.zeros((0, 2)))) == "[]"
    with onp.printoptions(precision=2):
        assert repr(array([1.23456])) == "array([1.23])"
    assert repr(from_values([1.0], mx.cpu(1))) == "array([1.])"


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 3, 4), (0, 2)])
def test_item_takes_what_that_of_numpy_takes(shape):
    theirs = onp.arange(onp.prod(shape), dtype="float32").reshape(shape)
    ours = mx.np.array(theirs)

    def outcome(x, arguments):
        try:
            return x.item(*arguments)
        except (IndexError, TypeError, ValueError) as error:
            return next(kind for kind in (IndexError, TypeError, ValueError) if isinstance(error, kind))

    for arguments in ((), (0,), (2,), (-1,), (5,), (-6,), (24,), (0, 0), (1, 2), (-1, -1), (2, 0), (0, 3), ((1, 2),), (1, 2, 3),
                      (onp.int64(1),), (True,), (1.0,), ("a",), ((),)):
        assert outcome(ours, arguments) == outcome(theirs, arguments), arguments


@pytest.mark.skipif("_cy3" not in mx._binding._backend.__name__, reason="the compiled binding's")
def test_memory_that_values_are_copied_to_is_large_enough():
    with pytest.raises(ValueError, match="memory of 4 bytes; at least 8"):
        mx.np.ones(2)._copy_to(bytearray(4), 8)


@pytest.mark.parametrize("name, instead", [("data", "asnumpy"), ("ctypes", "asnumpy"), ("resize", "mx.np.resize"),
                                           ("itemset", "index"), ("setflags", "asnumpy")])
def test_absent_names_say_what_to_call(name, instead):
    x = mx.np.ones(2)
    assert not hasattr(x, name)
    with pytest.raises(AttributeError, match=instead):
        getattr(x, name)
