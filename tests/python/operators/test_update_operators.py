"""What the harness of test_operators.py does not see of update operators: states, in-place results,
lists, threads."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet._operators import functions as _op_functions
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
    rule = optimizer.IN_PLACE.get(op, optimizer.UPDATES[op])
    function, weights = _op_functions.ndarray_function(op), attrs.get("num_weights", attrs.get("num_tensors", 1))
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
    tolerance = {"float64": 2e-5 if "mp_" in op else 1e-12, "float32": 2e-5, "float16": 1e-2}[dtype]    # mp_: float32 states
    for got, want in zip(outs + [arrays[i] for i in changed], expected):
        np.testing.assert_allclose(got.astype("float64").asnumpy(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("rescale", [0.0, np.nan, np.inf])
def test_adamw_skips_overflowed_steps(rescale):
    w, g, m, v = (mx.nd.array(x) for x in ([1.0, 2], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]))
    update = _op_functions.ndarray_function("_adamw_update")
    fresh = update(w, g, m, v, mx.nd.array([rescale]), lr=0.1, eta=1.0)
    update(w, g, m, v, mx.nd.array([rescale]), lr=0.1, eta=1.0, out=w)
    assert fresh.asnumpy().tolist() == w.asnumpy().tolist() == [1, 2]
    np.testing.assert_allclose(m.asnumpy(), [0.3, 0.4])
    np.testing.assert_allclose(v.asnumpy(), [0.5, 0.6])


@pytest.mark.parametrize("name", ["adamw", "adabelief"])
@pytest.mark.parametrize("rescale", [0.0, np.nan, -np.inf])
def test_several_updates_skip_overflowed_steps(name, rescale):
    arrays = [mx.nd.array(x) for x in ([1.0, 2], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])]
    before = [a.asnumpy() for a in arrays]
    update = getattr(mx.nd.contrib, f"multi_{name}_update")
    for out in (None, arrays[:1]):
        result = update(arrays[:1], arrays[1:2], arrays[2:3], arrays[3:], rescale, [0.1], [0.1], [1.0], out=out)
        np.testing.assert_array_equal((result[0] if isinstance(result, list) else result).asnumpy(), before[0])
        for a, b in zip(arrays, before):
            np.testing.assert_array_equal(a.asnumpy(), b)


def test_lans_of_a_gradient_of_zeros():
    arrays = [mx.nd.ones((3,)), mx.nd.zeros((3,)), mx.nd.zeros((3,)), mx.nd.zeros((3,))]
    mx.nd.contrib.multi_lans_update(*[[a] for a in arrays], [1], [0.1], [0.0], out=arrays[:1])
    assert arrays[0].asnumpy().tolist() == [1, 1, 1]


def test_small_variances_of_16_bits():
    """A variance that is 0 in float16 still bounds the direction of its step."""
    arrays = [mx.nd.array(x, dtype="float16") for x in (np.ones(4), np.full(4, 1e-4), np.zeros(4), np.zeros(4))]
    mx.nd.contrib.multi_lamb_update(*[[a] for a in arrays], [1], [0.1], [0.0], out=arrays[:1])
    np.testing.assert_allclose(arrays[0].asnumpy(), 0.9, rtol=2e-3)


def test_numbers_of_updates():
    w = [mx.nd.ones((2,)) for _ in range(4)]
    lists = [w[:1], w[1:2], w[2:3], w[3:]]
    for counts in ([0], [-1], [1, 2]):
        with pytest.raises(ValueError, match=r"\[_multi_lamb_update\].*accepted: "):
            mx.nd.contrib.multi_lamb_update(*lists, counts, [0.1], [0])
    with pytest.raises(ValueError, match=r"\[_multi_adamw_update\] got 2 learning rates"):
        mx.nd.contrib.multi_adamw_update(*lists, 1.0, [0.1, 0.1], [0], [1])
    with pytest.raises(ValueError, match="as many of each kind"):
        mx.nd.contrib.multi_adamw_update(*lists[:3], [], 1.0, [0.1], [0], [1])
    with pytest.raises(ValueError, match=r"\[_contrib_group_adagrad_update\].*one element for each row"):
        mx.nd.contrib.group_adagrad_update(mx.nd.ones((3, 2)), mx.nd.ones((3, 2)), mx.nd.ones((2, 1)), lr=1)


def test_functions_take_a_number_or_an_array():
    def arrays():
        return [mx.nd.array(x) for x in ([1.0, 2], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])]
    for name in ("adamw", "adabelief"):
        expected = getattr(mx.nd.contrib, name + "_update")(*arrays(), mx.nd.array([0.5]), lr=0.1, eta=0.9, wd=0.1).asnumpy()
        assert abs(expected - [1, 2]).min() > 1e-3
        for rescale in (0.5, mx.nd.array([0.5])):
            one = getattr(mx.nd.contrib, name + "_update")(*arrays(), rescale, 0.1, 0.9, wd=0.1)
            several = getattr(mx.nd.contrib, f"multi_{name}_update")(*[[a] for a in arrays()], rescale, [0.1], [0.1], [0.9])
            for result in (one, several[0] if isinstance(several, list) else several):
                np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
    names = "wgmv"
    symbol = mx.sym.contrib.adamw_update(*[mx.sym.var(n) for n in names], 0.5, lr=0.1, eta=0.9, wd=0.1)
    args = dict(zip(names, arrays()))
    mutated = {n: args.pop(n) for n in symbol.list_auxiliary_states()}
    out = symbol.bind(mx.cpu(), args, aux_states=mutated).forward()[0].asnumpy()
    np.testing.assert_allclose(out, mx.nd.contrib.adamw_update(*arrays(), 0.5, 0.1, 0.9, wd=0.1).asnumpy(), rtol=1e-6)


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
    result[:] = -2      # as in 1.9.1, nothing is written where all is finite
    mx.nd.all_finite(mx.nd.ones((3,)), init_output=False, out=result)
    assert result.asscalar() == -2


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
for f in (mx.nd.contrib.multi_lamb_update, mx.nd.contrib.multi_lans_update):
    groups = [[mx.nd.array(abs(rng.normal(size=n))) for n in (70001, 3, 9000)] for _ in range(4)]
    f(*groups, (1, 2, 3), (.1, .2, .3), (0, .1, .2), out=groups[0])
    arrays += sum(groups, [])
s = mx.nd.multi_sum_sq(*arrays, num_arrays=len(arrays)).asnumpy()
print([float(a.asnumpy().astype('float64').sum()).hex() for a in arrays], s.tolist())
"""


def test_same_on_any_number_of_threads():
    texts = ({subprocess.run([sys.executable, "-c", THREADS],
                             env=dict(os.environ, OMP_NUM_THREADS=str(n)), check=True,
                             capture_output=True, text=True).stdout for n in (1, 2, 3)})
    assert len(texts) == 1


def test_norms_of_lamb_behind_a_first_dimension_of_one():
    """1.9.1 reads the first element of arrays of shapes (1, ...); the numbers are its."""
    weight, step = mx.nd.array([1, 2, 3]), mx.nd.array([0.1, 0.2, 0.3])
    for first, second in (((1, 3), (1, 3)), ((1, 3), (1,)), ((1, 1), (1, 2, 2))):
        norms = mx.nd.array(np.r_[2, np.full(int(np.prod(first)) - 1, 9)].reshape(first)), mx.nd.full(second, 4)
        np.testing.assert_allclose(mx.nd.lamb_update_phase2(weight, step, *norms, lr=0.5).asnumpy(), [0.975, 1.95, 2.925], rtol=1e-6)
        master = weight.copy()
        mx.nd.mp_lamb_update_phase2(weight.astype("float16"), step, *norms, master, lr=0.5)
        np.testing.assert_allclose(master.asnumpy(), [0.975, 1.95, 2.925], rtol=1e-6)
    for wrong in ((3,), (2, 1), (1, 0)):
        with mx.util.np_shape(True), pytest.raises(mx.MXNetError, match="r1.*first dimension of 1"):
            mx.nd.lamb_update_phase2(weight, step, mx.nd.ones(wrong), mx.nd.ones(1), lr=0.5)
