"""The cases of test_operators.py on mx.gpu(0) against the CPU: every dtype forward, gradients in
float32. Skipped where there is no GPU.

An operator without a GPU kernel is skipped and must say so by itself; with GPU_CHECK_REPORT=FILE in
the environment, one line of JSON per case goes to that file (operator, dtype, outcome), from which
tools/gpu_check.sh counts.
"""
import json
import os

import numpy as np
import pytest

import mxnet as mx
from op_cases import FLOATS
from test_operators import CASES, _array, _draw, _name, _numpy, _run, _tolerance

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(mx.context.num_gpus() == 0, reason="no GPU")]
NO_KERNEL = "has no GPU kernel in this build"
# results that are one of many right ones, or are random by another device's seed
DIFFERENT = ("_random_", "_sample_", "random_", "sample_", "Dropout", "_shuffle", "_npi_choice")


def _report(case, dtype, outcome):
    path = os.environ.get("GPU_CHECK_REPORT")
    if path:
        with open(path, "a") as f:
            f.write(json.dumps({"op": case["op"], "dtype": dtype, "outcome": outcome}) + "\n")


def _on(ctx, case, values, dtype, grad):
    """(values, dtype) of every result, and of the gradients."""
    arrays = [None if v is None else _array(v, case.get("input_dtypes", {}).get(i, dtype)).as_in_context(ctx) for i, v in enumerate(values)]
    which = [i for i, a in enumerate(arrays) if a is not None] if case.get("grad") is True else list(case.get("grad") or [])
    if grad:
        for i in which:
            arrays[i].attach_grad()
    with ctx, mx.autograd.record(train_mode=bool(case.get("train", False))) if grad or case.get("train") else mx.autograd.pause():
        out = _run(case, list(arrays))
    results = [(_numpy(o), _name(o)) for o in out if _name(o) is not None]
    if grad:
        floating = [o for o in out if _name(o) in FLOATS]
        mx.autograd.backward(floating)
        results += [(_numpy(arrays[i].grad), dtype) for i in which]
    return results


def _tolerance_of(case, dtype, of_result):
    """Integers may have results in any floating type, and those are as exact as it is."""
    least = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
    exact = 4 * _tolerance(case, dtype)
    if dtype == "float32" or dtype not in FLOATS:
        exact += least.get(dtype if dtype in FLOATS else of_result, 0)
    return max(exact, 1e-14)


def _kernel_or_skip(case, dtype, call):
    try:
        return call()
    except mx.base.MXNetError as e:
        if NO_KERNEL not in str(e):
            _report(case, dtype, "error")
            raise
        _report(case, dtype, "no kernel")
        pytest.skip(str(e).splitlines()[0])


@pytest.mark.parametrize("case", CASES, ids=[f"{c['op']}-{i}" for i, c in enumerate(CASES)])
def test_forward_as_on_the_cpu(case):
    if case["op"].startswith(DIFFERENT) or "check" in case:
        pytest.skip("not one fixed result")
    for dtype in case.get("dtypes", FLOATS):
        values = _draw(case, dtype)
        want = _on(mx.cpu(), case, values, dtype, False)
        got = _kernel_or_skip(case, dtype, lambda: _on(mx.gpu(0), case, values, dtype, False))
        pairs = [(g, w, _tolerance_of(case, dtype, of_result)) for (g, _), (w, of_result) in zip(got, want)]
        same = all(np.allclose(g, w, rtol=t, atol=t, equal_nan=True) for g, w, t in pairs)
        _report(case, dtype, "same" if same else "different")
        for g, w, t in pairs:
            np.testing.assert_allclose(g, w, rtol=t, atol=t, err_msg=f"{case['op']} {dtype}")


@pytest.mark.parametrize("case", [c for c in CASES if c.get("grad")], ids=lambda c: c["op"])
def test_gradient_as_on_the_cpu(case):
    if case["op"].startswith(DIFFERENT):
        pytest.skip("not one fixed result")
    dtype = "float32"
    if dtype not in case.get("dtypes", FLOATS):
        pytest.skip("no float32")
    values = _draw(case, dtype)
    want = _on(mx.cpu(), case, values, dtype, True)
    got = _kernel_or_skip(case, "gradient", lambda: _on(mx.gpu(0), case, values, dtype, True))
    for (g, _), (w, _) in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=2e-4, atol=2e-4, err_msg=case["op"])
    _report(case, "gradient", "same")
