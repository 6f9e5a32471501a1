"""What the harness of test_operators.py does not see of update operators: states, in-place results,
lists, threads."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import _opgen
from op_cases import Draw, optimizer

pytestmark = pytest.mark.on_gpu

STATEFUL = [c for c in optimizer.CASES if isinstance(c["op"], list) and c["op"][0] in optimizer.UPDATES]


def _inputs(case, dtype):
    rng = np.random.default_rng(3)
    arrays = []
    for i, spec in enumerate(case["inputs"]):
        value = spec.values(rng, dtype) if isinstance(spec, Draw) else np.asarray(spec)
        arrays.append(mx.nd.array(value, dtype="float64").astype(case.get("input_dtypes", {}).get(i, dtype)))
    return arrays


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("case", STATEFUL, ids=[f"{c['op'][0]}-{i}" for i, c in enumerate(STATEFUL)])
def test_states_and_in_place_result(case, dtype):
    if dtype not in case["dtypes"]:
        pytest.skip("not a dtype of this operator")
    op, attrs = case["op"][0], case["attrs"]
    rule, function, weights = optimizer.UPDATES[op], _opgen.ndarray_function(op), attrs.get("num_weights", 1)
    arrays = _inputs(case, dtype)
    before = [a.astype("float64").asnumpy() for a in arrays]
    expected = rule(*before, **attrs)
    count = len(arrays) - (2 if op.startswith("preloaded") else 0)
    stride = count // weights
    own = list(range(0, stride * weights, stride))
    if op.endswith("phase1"):   # a direction, no weight
        outs = [function(*arrays, **attrs)]
    else:
        outs = [arrays[i] for i in own]
        function(*arrays, out=outs if weights > 1 else outs[0], **attrs)
    changed = [i for i in range(len(arrays)) if i not in own and not np.array_equal(arrays[i].astype("float64").asnumpy(), before[i])]
    assert len(changed) == len(expected) - weights, f"{op} changed inputs {changed}; its rule changes {len(expected) - weights}"
    tolerance = {"float64": 1e-12, "float32": 2e-5, "float16": 1e-2}[dtype]
    for got, want in zip(outs + [arrays[i] for i in changed], expected):
        np.testing.assert_allclose(got.astype("float64").asnumpy(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("rescale", [0.0, np.nan, np.inf])
def test_adamw_skips_overflowed_steps(rescale):
    w, g, m, v = (mx.nd.array(x) for x in ([1.0, 2], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]))
    update = _opgen.ndarray_function("_adamw_update")
    fresh = update(w, g, m, v, mx.nd.array([rescale]), lr=0.1, eta=1.0)
    update(w, g, m, v, mx.nd.array([rescale]), lr=0.1, eta=1.0, out=w)
    assert fresh.asnumpy().tolist() == w.asnumpy().tolist() == [1, 2]
    np.testing.assert_allclose(m.asnumpy(), [0.3, 0.4])
    np.testing.assert_allclose(v.asnumpy(), [0.5, 0.6])


def test_gradients_that_are_not_finite_reach_the_weight():
    w = mx.nd.zeros((3,))
    mx.nd.sgd_update(w, mx.nd.array([np.nan, np.inf, 1]), lr=1, clip_gradient=2, out=w)
    np.testing.assert_array_equal(w.asnumpy(), [np.nan, -2, -1])


def test_all_finite_accumulates():
    result = mx.nd.zeros((1,))
    mx.nd.all_finite(mx.nd.ones((3,)), init_output=False, out=result)
    assert result.asscalar() == 0
    result[:] = 1
    mx.nd.all_finite(mx.nd.ones((3,)), init_output=False, out=result)
    assert result.asscalar() == 1
    mx.nd.multi_all_finite(mx.nd.ones((3,)), mx.nd.array([np.inf]), num_arrays=2, init_output=False, out=result)
    assert result.asscalar() == 0


def test_reset_arrays():
    a, b = mx.nd.ones((2, 3)), mx.nd.ones((4,), dtype="int32")
    mx.nd.reset_arrays(a, b, num_arrays=2)
    assert not a.asnumpy().any() and not b.asnumpy().any()
    with pytest.raises(Exception, match=r"\[reset_arrays\]"):
        mx.nd.reset_arrays(a, b, num_arrays=3)


def test_symbol_takes_a_list():
    names = [f"{n}{i}" for i in range(2) for n in ("w", "g", "m")]
    s = mx.sym.multi_sgd_mom_update(*[mx.sym.var(n) for n in names], lrs=(1, 1), wds=(0, 0), num_weights=2, name="u")
    assert sorted(s.list_arguments() + s.list_auxiliary_states()) == sorted(names)
    assert len(s.list_outputs()) == 2


def test_counts_must_agree():
    w = mx.nd.ones((2,))
    with pytest.raises(ValueError, match=r"\[multi_sgd_update\].*num_weights = 2"):
        mx.nd.multi_sgd_update(w, w, w, w, lrs=(0.1,), wds=(0, 0), num_weights=2)
    with pytest.raises(ValueError, match="lrs"):
        mx.nd.multi_sgd_update(w, w, lrs="(0.1, abc)", wds=(0,), num_weights=1)


THREADS = """
import mxnet as mx, numpy as np
rng = np.random.default_rng(0)
arrays = [mx.nd.array(rng.normal(size=n)) for n in (7, 300001, 1, 50000) for _ in range(3)]
mx.nd.multi_sgd_mom_update(*arrays, lrs=(.1, .2, .3, .4), wds=(.1, 0, .2, .3), momentum=.9, num_weights=4, out=arrays[::3])
s = mx.nd.multi_sum_sq(*arrays, num_arrays=12).asnumpy()
print([float(a.asnumpy().astype('float64').sum()).hex() for a in arrays], s.tolist())
"""


def test_same_on_any_number_of_threads():
    texts = ({subprocess.run([sys.executable, "-c", THREADS],
                             env=dict(os.environ, OMP_NUM_THREADS=str(n)), check=True,
                             capture_output=True, text=True).stdout for n in (1, 2, 3)})
    assert len(texts) == 1
