"""One harness over all registered operators. The cases are data: see op_cases/__init__.py."""
import importlib
import pathlib
import pkgutil
import re
import zlib

import numpy as np
import pytest

import mxnet as mx
import op_cases
from mxnet._operators import functions as _op_functions
from op_cases import FLOATS, INTEGERS, NUMBERS_AND_BOOL, Draw, rand

HERE = pathlib.Path(__file__).parents[1]
# relative tolerance of results that are a few roundings away from exact
TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}


def _load():
    cases, elsewhere = [], {}
    for module in sorted(m.name for m in pkgutil.iter_modules(op_cases.__path__)):
        loaded = importlib.import_module(f"op_cases.{module}")
        for case in loaded.CASES:
            names = [case["op"]] if isinstance(case["op"], str) else case["op"]
            cases += [dict(case, op=name, module=module) for name in names]
        elsewhere.update(getattr(loaded, "COVERED_ELSEWHERE", {}))
    return cases, elsewhere


CASES, ELSEWHERE = _load()
NAMES = _op_functions.op_names()       # before other files of tests load libraries of operators


def _ids(cases):
    seen, ids = {}, []
    for c in cases:
        seen[c["op"]] = seen.get(c["op"], -1) + 1
        ids.append(f"{c['op']}-{seen[c['op']]}")
    return ids


def all_cases(predicate=lambda case: True):
    chosen = [c for c in CASES if predicate(c)]
    return pytest.mark.parametrize("case", chosen, ids=_ids(chosen))


def _function(case):
    return _op_functions.ndarray_function(case["op"])


def _draw(case, dtype, shapes=None):
    """The inputs as float64/int64 arrays, already rounded to what `dtype` can hold."""
    rng = np.random.default_rng(zlib.crc32(case["op"].encode()))
    values = []
    for i, spec in enumerate(case["inputs"]):
        if spec is None:
            values.append(None)
            continue
        own = case.get("input_dtypes", {}).get(i, dtype)
        if shapes is not None:
            spec = np.zeros(shapes[i])
        if isinstance(spec, tuple):
            spec = rand(spec)
        value = spec.values(rng, own) if isinstance(spec, Draw) else np.asarray(spec)
        if value.dtype == object or own in ("bfloat16", "float16", "float32", "float64"):
            value = _array(value, own).astype("float64").asnumpy()
        elif own == "bool":
            value = (value != 0).astype("int64")
        elif own in INTEGERS:
            value = value.astype(own).astype("int64")
        values.append(value)
    return values


def _array(value, dtype):
    return mx.nd.array(value, dtype="float64" if value.dtype.kind == "f" else "int64").astype(dtype)


def _arrays(case, values, dtype):
    return [None if v is None else _array(v, case.get("input_dtypes", {}).get(i, dtype)) for i, v in enumerate(values)]


def _run(case, arrays, attrs=None):
    attrs = case.get("attrs", {}) if attrs is None else attrs
    if _op_functions.op_info(case["op"]).variadic:
        out = _function(case)(*[a for a in arrays if a is not None], **attrs)
    else:
        while arrays and arrays[-1] is None:
            arrays = arrays[:-1]
        out = _function(case)(*arrays, **attrs)
    return list(out) if isinstance(out, (list, tuple)) else [out]


def _name(array):
    return "bfloat16" if array.dtype == mx.nd.bfloat16 else np.dtype(array.dtype).name


def _numpy(array):
    return array.astype("float64").asnumpy() if _name(array) in FLOATS else array.asnumpy()


def _expected(case, values):
    with np.errstate(all="ignore"):
        out = case["ref"](*values, **case.get("attrs", {}))
    return list(out) if isinstance(out, (list, tuple)) else [out]


def _out_dtypes(case, dtype, n):
    out = case.get("out_dtype", case.get("input_dtypes", {}).get(0, dtype))
    out = out(dtype) if callable(out) else out
    return [out] * n if isinstance(out, str) else list(out)


def _tolerance(case, dtype):
    tol = case.get("tol", 1)
    if isinstance(tol, dict):
        return tol.get(dtype, TOLERANCE.get(dtype, 0))
    return TOLERANCE.get(dtype, 0) * tol


def _compare(got, want, dtype, rtol, what):
    want = np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if dtype in INTEGERS:
        if want.dtype.kind == "f":
            finite = np.isfinite(want)
            want, got = np.trunc(np.where(finite, want, 0)), np.where(finite, got, 0)   # NaN and infinity have no integer
        np.testing.assert_array_equal(got, want.astype("int64").astype(dtype), err_msg=what)
    elif dtype == "bool":
        np.testing.assert_array_equal(got, want != 0, err_msg=what)
    else:
        with np.errstate(over="ignore"):
            if dtype == "float16":
                want = want.astype("float16").astype("float64")
            elif dtype in ("float32", "bfloat16"):
                want = want.astype("float32").astype("float64")
        finite = np.isfinite(want)
        scale = np.max(np.abs(want[finite]), initial=1e-30)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * min(scale, 1.0), err_msg=what)


def _accepted(case):
    return case.get("dtypes", FLOATS)


@all_cases(lambda c: "ref" in c or "check" in c)
def test_forward(case):
    for dtype in _accepted(case):
        values = _draw(case, dtype)
        arrays = _arrays(case, values, dtype)
        if case.get("train"):
            with mx.autograd.record():
                outs = _run(case, arrays)
        else:
            outs = _run(case, arrays)
        results = [_numpy(o) for o in outs]
        if "check" in case:
            case["check"](results, values, case.get("attrs", {}))
            continue
        expected = _expected(case, values)
        assert len(results) == len(expected), f"{len(results)} outputs, expected {len(expected)}"
        wanted = _out_dtypes(case, dtype, len(expected))
        for k, (got, want) in enumerate(zip(results, expected)):
            what = f"{case['op']} {dtype} output {k}"
            assert _name(outs[k]) == wanted[k], f"{what}: dtype {_name(outs[k])}, expected {wanted[k]}"
            tolerance = max(_tolerance(case, dtype), _tolerance(case, wanted[k]))
            _compare(got, want, wanted[k], tolerance, what)


@all_cases(lambda c: c.get("refuses", True))
def test_refused_dtypes(case):
    for dtype in NUMBERS_AND_BOOL:
        if dtype in _accepted(case) or 0 in case.get("input_dtypes", {}):
            continue
        values = _draw(case, dtype)
        with pytest.raises(Exception) as error:
            for o in _run(case, _arrays(case, values, dtype)):
                o.wait_to_read()
        _check_message(case, error, f"dtype {dtype}")


def _check_message(case, error, what):
    names = {case["op"], _op_functions.op_info(case["op"]).name}
    assert re.match(r"\[(" + "|".join(map(re.escape, names)) + r")\]",
                    str(error.value)), f"{what}: message {str(error.value)!r} does not start with [{case['op']}]"


@all_cases(lambda c: c.get("empty", True) is not False and "ref" in c)
def test_empty(case):
    shapes = case.get("empty")
    if shapes is None:
        own = [getattr(s, "shape", s) for s in case["inputs"] if s is not None]
        if not own or any(tuple(s) != tuple(own[0]) for s in own) or len(own[0]) == 0:
            pytest.skip("inputs of different shapes: the case names no empty ones")
        shapes = [(0,) + tuple(own[0])[1:]] * len(case["inputs"])
    dtype = _accepted(case)[0]
    values = _draw(case, dtype, shapes)
    outs = _run(case, _arrays(case, values, dtype))
    with np.errstate(all="ignore"):
        expected = _expected(case, values)
    for k, (got, want) in enumerate(zip(outs, expected)):
        _compare(_numpy(got), want, _out_dtypes(case, dtype, len(expected))[k], 1e-6, f"{case['op']} empty output {k}")


@all_cases(lambda c: c.get("bad"))
def test_bad_arguments(case):
    for bad in case["bad"]:
        changed = dict(case, **bad)
        dtype = _accepted(case)[0]
        values = _draw(changed, dtype)
        with pytest.raises(Exception) as error:
            for o in _run(changed, _arrays(changed, values, dtype)):
                o.wait_to_read()
        _check_message(case, error, str(bad))


@all_cases()
def test_unknown_argument(case):
    values = _draw(case, _accepted(case)[0])
    info = mx._operators.functions.op_info(case["op"])
    if not info.params and not info.variadic:   # 1.x ignores it
        with pytest.warns(UserWarning, match="no_such_argument"):
            _run(case, _arrays(case, values, _accepted(case)[0]), dict(case.get("attrs", {}), no_such_argument="1"))
        return
    with pytest.raises(Exception) as error:
        _run(case, _arrays(case, values, _accepted(case)[0]), dict(case.get("attrs", {}), no_such_argument="1"))
    assert "no_such_argument" in str(error.value)
    _check_message(case, error, "unknown argument")


def _grad_indices(case):
    grad = case["grad"]
    if grad is True:
        return [i for i, s in enumerate(case["inputs"]) if s is not None and i not in case.get("input_dtypes", {})]
    return grad


def _weights(shapes, salt):
    rng = np.random.default_rng(salt)
    return [rng.uniform(0.5, 1.5, s) for s in shapes]


def _loss_terms(case, arrays, weights):
    outs = _run(case, arrays)
    total = None
    for o, w in zip(outs, weights):
        if _name(o) not in FLOATS:
            continue
        term = (o * w).sum()
        total = term if total is None else total + term
    return total


def _as_weights(case, values):
    outs = _run(case, _arrays(case, values, "float64"))
    shapes = [o.shape for o in outs]
    return [_array(np.asarray(w), _name(o)) for w, o in zip(_weights(shapes, 7), outs)]


def _differences(f, values, index, eps=1e-5):
    """Fourth-order central differences of the number f(values) with respect to values[index]."""
    result = np.zeros_like(values[index], dtype="float64")
    for at in np.ndindex(result.shape):
        def moved(h):
            changed = [None if v is None else v.copy() for v in values]
            changed[index][at] += h
            return f(changed)
        h = eps * max(1.0, abs(values[index][at]))
        result[at] = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    return result


def _first_gradients(case, values, indices, weights, grad_req="write", times=1, dtype="float64"):
    arrays = _arrays(case, values, dtype)
    for i in indices:
        arrays[i].attach_grad(grad_req)
    for _ in range(times):
        with mx.autograd.record():
            loss = _loss_terms(case, arrays, weights)
        loss.backward()
    return [arrays[i].grad.asnumpy() for i in indices]


@all_cases(lambda c: c.get("grad"))
def test_gradient(case):
    indices = _grad_indices(case)
    values = _draw(case, "float64")
    weights = _as_weights(case, values)
    got = _first_gradients(case, values, indices, weights)

    def f(changed):
        if case.get("train"):
            with mx.autograd.record():
                return float(_loss_terms(case, _arrays(case, changed, "float64"), weights).asnumpy().reshape(-1)[0])
        return float(_loss_terms(case, _arrays(case, changed, "float64"), weights).asnumpy().reshape(-1)[0])

    rtol = case.get("grad_tol", 1e-5)
    for g, i in zip(got, indices):
        np.testing.assert_allclose(g, _differences(f, values, i), rtol=rtol, atol=rtol, err_msg=f"{case['op']} gradient of input {i}")
    # grad_req "add" sums over passes, through the kernels' own accumulation where they have one
    for g, twice in zip(got, _first_gradients(case, values, indices, weights, "add", 2)):
        np.testing.assert_allclose(twice, 2 * g, rtol=1e-9, atol=1e-12, err_msg=f"{case['op']} grad_req add")


@all_cases(lambda c: c.get("grad") and len(c["inputs"]) > 1)
def test_gradient_of_one_input(case):
    """What nobody asks for is not computed: that changes nothing in what is."""
    dtype = "float32" if "float32" in case.get("dtypes", ["float32"]) else "float64"
    indices = _grad_indices(case)
    values = _draw(case, dtype)
    weights = [w.astype(dtype) for w in _as_weights(case, values)]
    for i, wanted in zip(indices, _first_gradients(case, values, indices, weights, dtype=dtype)):
        got, = _first_gradients(case, values, [i], weights, dtype=dtype)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5 * (1 + np.abs(wanted).max(initial=0)),
                                   err_msg=f"{case['op']} input {i}")


@all_cases(lambda c: c.get("grad2"))
def test_second_gradient(case):
    indices = _grad_indices(case)
    values = _draw(case, "float64")
    weights = _as_weights(case, values)
    directions = [_array(w, "float64") for w in _weights([values[i].shape for i in indices], 11)]

    arrays = _arrays(case, values, "float64")
    for i in indices:
        arrays[i].attach_grad()
    with mx.autograd.record():
        loss = _loss_terms(case, arrays, weights)
        first = mx.autograd.grad(loss, [arrays[i] for i in indices], create_graph=True, retain_graph=True)
        first = first if isinstance(first, (list, tuple)) else [first]
        total = None
        for g, d in zip(first, directions):
            term = (g * d).sum()
            total = term if total is None else total + term
    total.backward()

    def f(changed):
        grads = _first_gradients(case, changed, indices, weights)
        return sum(float((g * d.asnumpy()).sum()) for g, d in zip(grads, directions))

    rtol = 10 * case.get("grad_tol", 1e-5)
    for i in indices:
        np.testing.assert_allclose(arrays[i].grad.asnumpy(), _differences(f, values, i), rtol=rtol, atol=rtol,
                                   err_msg=f"{case['op']} second derivative of input {i}")


def test_every_operator_has_a_case():
    names = [n for n in NAMES if "_backward" not in n]     # gradients are tested with what they belong to
    covered = {_op_functions.op_info(c["op"]).name for c in CASES}
    for op, file in ELSEWHERE.items():
        path = [*HERE.glob(f"*/{file}"), HERE / file][0]
        assert path.is_file(), f"{op}: {file} does not exist"
        assert op in path.read_text(), f"{op}: {file} does not mention it"
        covered.add(_op_functions.op_info(op).name)
    missing = sorted({_op_functions.op_info(n).name for n in names} - covered)
    missing = [m for m in missing if "_backward" not in m]
    assert not missing, f"{len(missing)} operators without a case in tests/python/op_cases: {' '.join(missing)}"


def test_cases_name_operators():
    known = set(NAMES)
    unknown = sorted({c["op"] for c in CASES} - known)
    assert not unknown, f"cases of operators that do not exist: {' '.join(unknown)}"
    for case in CASES:
        strange = set(case) - {"op", "module", "inputs", "attrs", "ref", "dtypes", "refuses",
                               "input_dtypes", "out_dtype", "grad", "grad2", "tol",
                               "grad_tol", "empty", "bad", "check", "train", "example"}
        assert not strange, f"{case['op']}: unknown keys {sorted(strange)}"
        assert "ref" in case or "check" in case, f"{case['op']}: neither ref nor check"
