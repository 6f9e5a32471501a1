"""What ``__array_namespace__()`` of mx.np's arrays gives keeps version 2023.12 of the array API
standard: names, parameters and dtypes against `data/array_api.json` (record_array_api.py). Values
are in test_array_api_values.py."""

import inspect
import json
import pathlib

import numpy as onp
import pytest

import mxnet as mx

FACTS = json.loads((pathlib.Path(__file__).parents[1] / "data" / "array_api.json").read_text())
xp = mx.np.ones(1).__array_namespace__()
FLOATS = ("float32", "float64")
INTEGERS = tuple(d for d in FACTS["dtypes"] if "int" in d)
NAMES = [(module, name) for module in ("", "linalg") for name in FACTS["functions"][module]]
numpy2 = pytest.mark.skipif(
    onp.lib.NumpyVersion(onp.__version__) < "2.1.0", reason="compares with the functions of NumPy 2"
)


def place(module, names=None):
    """The module of the standard with that name, of ours or of `names`."""
    space = xp if names is None else names
    return getattr(space, module) if module else space


# ---- names and parameters


@pytest.mark.parametrize("module, name", NAMES)
def test_parameters(module, name):
    """Everything by position that the standard has by position, everything by keyword else, and
    the same defaults."""
    function = getattr(place(module), name)
    if name == "__array_namespace_info__":
        return
    assert function.__doc__
    own = inspect.signature(function).parameters
    ordered = [p for p in own.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind == p.VAR_POSITIONAL for p in own.values())
    for i, (parameter, kind, default) in enumerate(FACTS["functions"][module][name]):
        if kind == "VAR_POSITIONAL":
            assert variadic
            continue
        if kind != "KEYWORD_ONLY":
            assert variadic or i < len(ordered), parameter
            found = ordered[i] if not variadic else None
        if kind != "POSITIONAL_ONLY":
            assert parameter in own, parameter
            found = own[parameter]
            assert found.kind != found.POSITIONAL_ONLY
        if default is None:
            continue
        assert found.default is not found.empty, parameter
        if default != "given":
            assert (
                repr(found.default) == default
                or found.default == eval(default)
                or found.default is None
            ), (parameter, found.default)
    count = len(FACTS["functions"][module][name])
    if not variadic:
        rest = [p.name for p in ordered[count:] if p.default is p.empty]
        assert not rest, rest


@pytest.mark.parametrize("name", sorted(FACTS["methods"]))
def test_methods(name):
    array = xp.asarray([1.0])
    method = getattr(array, name)
    try:
        own = inspect.signature(method).parameters
    except ValueError:  # a slot of the compiled class without text
        return
    variadic = {p.kind for p in own.values()}
    for parameter, kind, _ in FACTS["methods"][name][1:]:
        if kind == "KEYWORD_ONLY":
            assert parameter in own
        else:
            assert len(own) >= 1 or inspect.Parameter.VAR_POSITIONAL in variadic


@pytest.mark.parametrize("name", FACTS["attributes"])
def test_attributes(name):
    array = xp.ones((2, 3))
    got, expected = getattr(array, name), getattr(onp.ones((2, 3), "float32"), name, None)
    if name == "device":
        assert got == mx.current_context()
    elif name in ("T", "mT"):
        assert got.shape == (3, 2)
    else:
        assert got == expected


def test_constants_and_dtypes():
    for name in FACTS["constants"]:
        assert (
            getattr(xp, name) is None
            if name == "newaxis"
            else repr(float(getattr(xp, name))) == repr(float(getattr(onp, name)))
        )
    for name in FACTS["dtypes"]:
        dtype = getattr(xp, name)
        assert xp.zeros(2, dtype=dtype).dtype == dtype and xp.isdtype(dtype, dtype)
    info = xp.__array_namespace_info__()
    assert all(info.capabilities()[name] for name in FACTS["capabilities"])
    assert set(info.dtypes()) == set(FACTS["dtypes"])
    assert xp.__array_api_version__ == FACTS["version"]
    assert mx.np.ones(1).__array_namespace__(api_version=FACTS["version"]) is xp


# ---- dtypes of results


def dtypes_of(result):
    return (
        [a.dtype.name for a in result] if isinstance(result, (tuple, list)) else result.dtype.name
    )


@pytest.mark.parametrize(
    "module, name", [(m, n) for m, table in FACTS["results"].items() for n in table]
)
def test_dtypes_of_results(module, name):
    function = getattr(place(module), name)
    for dtype, expected in FACTS["results"][module][name].items():
        array = xp.asarray([[1, 0], [0, 1]], dtype=getattr(xp, dtype))
        needed = [p for p in FACTS["functions"][module][name] if p[2] is None]
        result = dtypes_of(function(*[array] * len(needed)))
        assert result == expected, (dtype, result, expected)


@pytest.mark.parametrize("one", FACTS["dtypes"])
def test_promotion(one):
    for other, expected in FACTS["promotion"][one].items():
        if expected is None:
            continue
        a, b = xp.ones(2, dtype=getattr(xp, one)), xp.ones(2, dtype=getattr(xp, other))
        assert (
            xp.result_type(a, b) == expected
            and xp.result_type(getattr(xp, one), getattr(xp, other)) == expected
        )
        assert xp.concat([a, b]).dtype == expected and xp.where(a == b, a, b).dtype == expected
        if one != "bool":
            assert (a + b).dtype == expected and (a * b[0]).dtype == expected
            assert xp.equal(a, b).dtype == xp.bool


@pytest.mark.parametrize("dtype", FACTS["dtypes"])
def test_python_numbers(dtype):
    """A number takes the dtype of the array beside it."""
    a = xp.ones(2, dtype=getattr(xp, dtype))
    numbers = [True] if dtype == "bool" else [2] if dtype in INTEGERS else [2, 2.5]
    for number in numbers:
        operators = (
            ("__and__", "__rxor__")
            if dtype == "bool"
            else ("__add__", "__rsub__", "__mul__", "__pow__", "__mod__")
        )
        for name in operators:
            assert getattr(a, name)(number).dtype == dtype, name
        assert (a == number).dtype == xp.bool
    if dtype != "bool" and dtype not in INTEGERS:
        assert (1 / a).dtype == dtype


# ---- making arrays


@pytest.mark.parametrize(
    "value, dtype",
    [
        (1, "int64"),
        (1.0, "float32"),
        (True, "bool"),
        ([1, 2], "int64"),
        ([[1, 2.5]], "float32"),
        ([True, False], "bool"),
        ([], "float32"),
        (onp.array([1, 2], "int8"), "int8"),
        (onp.array([1.0]), "float64"),
        (onp.float64(2), "float64"),
    ],
)
def test_asarray(value, dtype):
    got = xp.asarray(value)
    assert (
        got.dtype == dtype
        and got.shape == onp.shape(value)
        and (got.asnumpy() == onp.asarray(value)).all()
    )
    assert xp.asarray(got) is got and xp.asarray(got, copy=True) is not got
    assert xp.asarray(value, dtype=xp.int32).dtype == "int32"
    with pytest.raises(ValueError, match="copy"):
        xp.asarray([1], copy=False)


def test_asarray_refuses():
    for bad in (1j, [1j], "text", [object()]):
        with pytest.raises(TypeError):
            xp.asarray(bad)


@pytest.mark.parametrize(
    "arguments, dtype",
    [
        ((3,), "int64"),
        ((1, 7, 2), "int64"),
        ((3.0,), "float32"),
        ((0, 1, 0.25), "float32"),
        ((5, 1, -2), "int64"),
        ((3, 3), "int64"),
    ],
)
def test_arange(arguments, dtype):
    got = xp.arange(*arguments)
    assert got.dtype == dtype and got.tolist() == onp.arange(*arguments).tolist()


def test_filled():
    assert (
        xp.full((2,), 3).dtype == "int64"
        and xp.full((2,), 3.0).dtype == "float32"
        and xp.full((), True).dtype == "bool"
    )
    assert (
        xp.zeros(2).dtype
        == xp.ones(2).dtype
        == xp.empty(2).dtype
        == xp.eye(2).dtype
        == xp.linspace(0, 1, 3).dtype
        == "float32"
    )
    assert xp.eye(2, 3, k=1, dtype=xp.int8).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert xp.linspace(0, 10, 5, endpoint=False, dtype=xp.float64).tolist() == [0, 2, 4, 6, 8]
    like = xp.ones((2, 3), dtype=xp.int16)
    for made in (
        xp.zeros_like(like),
        xp.ones_like(like),
        xp.empty_like(like),
        xp.full_like(like, 7),
    ):
        assert made.dtype == "int16" and made.shape == (2, 3)
    assert xp.full_like(like, 2.5, dtype=xp.float64).tolist() == [[2.5] * 3] * 2


# ---- dtypes as values


def test_types():
    assert xp.isdtype(xp.float32, "real floating") and xp.isdtype(
        xp.int8, ("bool", "signed integer")
    )
    assert (
        not xp.isdtype(xp.bool, "numeric")
        and xp.isdtype(xp.uint8, "integral")
        and not xp.isdtype(xp.float64, "complex floating")
    )
    for name in FACTS["dtypes"]:
        for kind in (
            "bool",
            "signed integer",
            "unsigned integer",
            "integral",
            "real floating",
            "complex floating",
            "numeric",
        ):
            assert xp.isdtype(getattr(xp, name), kind) == (
                name in xp.__array_namespace_info__().dtypes(kind=kind)
            ), (name, kind)
    with pytest.raises(ValueError, match="kind"):
        xp.isdtype(xp.int8, "text")
    assert (
        xp.finfo(xp.float32).dtype == xp.float32
        and xp.finfo(xp.ones(1)).eps == onp.finfo("float32").eps
    )
    assert (
        type(xp.finfo(xp.float64).max) is float
        and xp.iinfo(xp.uint8).max == 255
        and xp.iinfo(xp.uint8).dtype == xp.uint8
    )
    assert (
        xp.can_cast(xp.int8, xp.int16)
        and not xp.can_cast(xp.int16, xp.uint16)
        and xp.can_cast(xp.ones(1), xp.float64)
    )


# ---- methods, keys, exchange


def test_keys():
    values = onp.arange(24).reshape(2, 3, 4)
    a = xp.asarray(values)
    for key in [
        (1, 2, 3),
        (0,),
        (slice(None), 1),
        (..., -1),
        (slice(None), slice(2, None, -1), None),
        (1, ..., slice(0, 4, 2)),
        None,
        (None, ...),
        (slice(5, 1), 0),
        values > 5,
        (0, values[0] > 3),
        (),
    ]:
        mine = (
            tuple(xp.asarray(k) if isinstance(k, onp.ndarray) else k for k in key)
            if isinstance(key, tuple)
            else xp.asarray(key)
            if isinstance(key, onp.ndarray)
            else key
        )
        assert a[mine].shape == values[key].shape and a[mine].tolist() == values[key].tolist()
        b, expected = xp.asarray(values, copy=True), values.copy()
        b[mine], expected[key] = 7, 7
        assert b.tolist() == expected.tolist()
    for key in ((0, 0, 0, 0), (2,), (0, 3), (slice(None), slice(None), 4), (..., ...)):
        with pytest.raises(IndexError):
            a[key]


def test_numbers_of_arrays():
    assert (
        float(xp.asarray(2.5)) == 2.5
        and int(xp.asarray(3)) == 3
        and bool(xp.asarray(True))
        and complex(xp.asarray(1.5)) == 1.5
    )
    assert [10, 20][xp.asarray(1)] == 20
    with pytest.raises(TypeError):
        [10, 20][xp.asarray(1.0)]
    with pytest.raises((TypeError, ValueError)):
        float(xp.ones(2))


def test_in_place():
    for dtype, names in (
        (xp.float32, "add sub mul truediv floordiv mod pow"),
        (xp.int64, "add sub mul and or xor lshift rshift floordiv mod"),
    ):
        for name in names.split():
            a, values = xp.asarray([5, 6], dtype=dtype), onp.asarray([5, 6], dtype)
            same_object = a
            getattr(onp.ndarray, f"__i{name}__")(values, onp.asarray(2, dtype))
            a = getattr(a, f"__i{name}__")(xp.asarray(2, dtype=dtype))
            assert a is same_object and a.dtype == dtype and a.tolist() == values.tolist(), name


def test_exchange():
    a = xp.asarray([1, 2, 3])
    b = xp.from_dlpack(a)
    b[0] = 7
    assert a.tolist() == [7, 2, 3] and xp.from_dlpack(a, copy=True) is not a
    c = xp.from_dlpack(a, copy=True)
    c[0] = 1
    assert a.tolist() == [7, 2, 3]
    assert xp.from_dlpack(a, device=mx.cpu(1)).device == mx.cpu(1)
    with pytest.raises(ValueError, match="copy"):
        xp.from_dlpack(a, device=mx.cpu(1), copy=False)
    rows = onp.arange(6, dtype="int32").reshape(2, 3)
    for strided in (rows.T, rows[:, ::-1], onp.broadcast_to(rows[0], (2, 3))):
        if strided.flags.writeable:     # NumPy 1.x exports no others
            got = xp.from_dlpack(strided)
            assert got.dtype == onp.int32 and got.tolist() == strided.tolist()
            with pytest.raises(ValueError, match="row-major"):
                xp.from_dlpack(strided, copy=False)
    assert onp.from_dlpack(a).tolist() == [7, 2, 3] and a.__dlpack_device__()[0] == 1
    assert a.to_device(mx.cpu(1)).device == mx.cpu(1)


def test_unique_values_are_in_order():
    assert xp.unique_values(xp.asarray([[3, 1], [1, 2]])).tolist() == [1, 2, 3]


def test_every_nan_is_its_own():
    x = xp.asarray([[onp.nan, 1.0], [onp.nan, 1.0]])
    values, indices, inverse, counts = xp.unique_all(x)
    expected = onp.unique_all(x.asnumpy()) if hasattr(onp, "unique_all") else None
    assert onp.isnan(values.asnumpy()).tolist() == [False, True, True] and counts.tolist() == [
        2,
        1,
        1,
    ]
    assert indices.tolist() == [1, 0, 2] and inverse.tolist() == [[1, 0], [2, 0]]
    assert expected is None or expected.counts.tolist() == [2, 1, 1]
    assert (
        xp.unique_values(x).shape
        == xp.unique_counts(x).values.shape
        == xp.unique_inverse(x).values.shape
        == (3,)
    )


def test_names_beyond_the_standard_are_those_of_the_package():
    assert xp.random is mx.np.random and xp.einsum is mx.np.einsum
    with pytest.raises(AttributeError):
        xp.no_such_name
    assert set(xp.__all__) >= set(FACTS["functions"][""])
