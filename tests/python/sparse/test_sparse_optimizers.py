"""Updates by row_sparse gradients: of the rows that they have, or of all."""
import json

import numpy as np
import pytest
import sparse_update_cases as cases

import mxnet as mx

pytestmark = pytest.mark.on_gpu

with open(cases.DATA, encoding="utf-8") as _f:
    RECORDED = json.load(_f)


def _name(case):
    return "-".join(map(str, (case[0], case[2], case[3]))) + "".join(f"-{k}" for k in sorted(case[1]))


@pytest.mark.parametrize("case, arrays, storages", RECORDED["operators"], ids=[_name(c) for c, _, _ in RECORDED["operators"]])
def test_updates_are_those_of_1_9_1(case, arrays, storages):
    mine, mine_storages = cases.call(mx, *case)
    assert mine_storages == storages
    for a, b in zip(mine, arrays):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("case, weight, storages", RECORDED["optimizers"],
                         ids=["-".join([c[0], *c[1], c[2]]) for c, _, _ in RECORDED["optimizers"]])
def test_optimizers_are_those_of_1_9_1(case, weight, storages):
    mine, mine_storages = cases.train(mx, *case)
    assert mine_storages == storages
    tolerance = 2e-3 if case[1].get("multi_precision") else 1e-5
    np.testing.assert_allclose(mine, weight, rtol=tolerance, atol=tolerance / 10)


# ---- NumPy's models

def _clipped(g, o):
    c = o.get("clip_gradient", np.inf)
    return np.clip(g * o.get("rescale_grad", 1), -c, c)


def _sgd(w, g, o):
    return (1 - o["lr"] * o.get("wd", 0)) * w - o["lr"] * _clipped(g, o),


def _sgd_mom(w, g, m, o):
    m = o["momentum"] * m - o["lr"] * (_clipped(g, o) + o.get("wd", 0) * w)
    return w + m, m


def _adam(w, g, m, v, o):
    c = o.get("clip_gradient", np.inf)
    g = np.clip(g * o.get("rescale_grad", 1) + o.get("wd", 0) * w, -c, c)
    m, v = .9 * m + .1 * g, .999 * v + .001 * g * g
    return w - o["lr"] * m / (np.sqrt(v) + 1e-8), m, v


def _ftrl(w, g, z, n, o):
    g = _clipped(g, o)
    after = n + g * g
    z = z + g - (np.sqrt(after) - np.sqrt(n)) * w / o["lr"]
    step = (np.sign(z) * .01 - z) / ((1 + np.sqrt(after)) / o["lr"] + o.get("wd", 0))
    return np.where(np.abs(z) <= .01, 0, step), z, after


def _adagrad(w, g, h, o):
    g = _clipped(g, o)
    h = h + g * g
    return w - o["lr"] * (g / np.sqrt(h + 1e-7) + o.get("wd", 0) * w), h


def _group_adagrad(w, g, h, o):
    g = _clipped(g, o)
    h = h + np.mean(g * g, axis=1, keepdims=True)
    return w - o["lr"] * g / np.sqrt(h + 1e-5), h


MODELS = {
    "sgd_update": (_sgd, 0, {"wd": .1}, mx.nd.sgd_update),
    "sgd_mom_update": (_sgd_mom, 1, {"wd": .1, "momentum": .9}, mx.nd.sgd_mom_update),
    "adam_update": (_adam, 2, {"wd": .1}, mx.nd.adam_update),
    "ftrl_update": (_ftrl, 2, {"wd": .1}, mx.nd.ftrl_update),
    "adagrad_update": (_adagrad, 1, {"wd": .1}, mx.nd.sparse.adagrad_update),
    "group_adagrad_update": (_group_adagrad, 1, {}, mx.nd.contrib.group_adagrad_update),
}


def _dense(a):
    return mx.nd.cast_storage(a, stype="default").asnumpy()


def _rows(a):
    return mx.nd.cast_storage(a, stype="row_sparse")


def _arrays(rng, name, shape, dtype, rows, storage):
    """Weight, gradient and states in NumPy, and on this library's side."""
    _, count, _, _ = MODELS[name]
    w = rng.uniform(.5, 1, shape).astype(dtype)
    g = np.zeros(shape, dtype)
    g[rows] = rng.uniform(.5, 1, (len(rows),) + shape[1:]) * rng.choice([-1, 1], (len(rows),) + shape[1:])
    states = [rng.uniform(.5, 1, (shape[0], 1) if name == "group_adagrad_update" else shape).astype(dtype) for _ in range(count)]
    mine = [mx.nd.array(a, dtype=dtype) for a in [w, g] + states]
    mine = [_rows(a) if i == 1 or storage == "row_sparse" else a for i, a in enumerate(mine)]
    return [w, g] + states, mine


SHAPES = [((40, 1), [0, 3, 4, 5, 21, 39]), ((200, 1), list(range(3, 180))), ((30, 3), [1, 2, 9, 29]),
          ((500, 7), list(range(0, 500, 2))), ((20, 64), [0, 1, 2, 7, 19]), ((9, 4, 5), [2, 3, 8]), ((3000, 2), list(range(1, 3000, 3)))]


@pytest.mark.parametrize("storage", ["default", "row_sparse"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", MODELS)
def test_only_rows_of_the_gradient_are_touched(name, dtype, storage):
    model, _, extra, update = MODELS[name]
    if name == "ftrl_update" and storage == "default":
        pytest.skip("1.9.1 updates all rows of dense weights")
    rng = np.random.RandomState(3)
    for shape, rows in SHAPES:
        if name == "group_adagrad_update" and len(shape) > 2:
            continue
        before, mine = _arrays(rng, name, shape, dtype, rows, storage)
        options = dict(extra, lr=.1, rescale_grad=.5, clip_gradient=.4)
        update(mine[0], mine[1], *mine[2:], out=mine[0], **options)
        after = model(*[a[rows].astype("float64") for a in before], options)
        tolerance = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-7}[dtype]     # parameters are float32
        for new, old, got in zip(after, [before[0]] + before[2:], [mine[0]] + mine[2:]):
            assert got.stype == storage
            expected = old.copy()
            expected[rows] = new
            got = _dense(got)
            np.testing.assert_allclose(got[rows], expected[rows], rtol=tolerance, atol=tolerance)
            others = np.setdiff1d(np.arange(shape[0]), rows)
            assert np.array_equal(got[others], old[others])


@pytest.mark.parametrize("storage", ["default", "row_sparse"])
@pytest.mark.parametrize("name", ["sgd_update", "sgd_mom_update", "adam_update"])
def test_without_lazy_update_the_others_have_a_gradient_of_zero(name, storage):
    model, _, extra, update = MODELS[name]
    rng = np.random.RandomState(4)
    for shape, rows in SHAPES + [((6, 2), [])]:
        before, mine = _arrays(rng, name, shape, "float32", rows, storage)
        options = dict(extra, lr=.1)
        update(mine[0], mine[1], *mine[2:], out=mine[0], lazy_update=False, **options)
        after = model(*[a.astype("float64") for a in before], options)
        for new, got in zip(after, [mine[0]] + mine[2:]):
            np.testing.assert_allclose(_dense(got), new, rtol=1e-5, atol=1e-6)


def test_a_gradient_without_rows_changes_nothing():
    for name, (_, count, extra, update) in MODELS.items():
        weight, states = mx.nd.ones((4, 2)), [mx.nd.ones((4, 1) if name == "group_adagrad_update" else (4, 2)) for _ in range(count)]
        if name == "ftrl_update":
            weight, states = _rows(weight), [_rows(s) for s in states]
        update(weight, _rows(mx.nd.zeros((4, 2))), *states, out=weight, lr=.1, **extra)
        for a in [weight] + states:
            assert np.all(_dense(a) == 1)


@pytest.mark.parametrize("stored", [[], [0], [4], [1, 3], [0, 1, 2, 3, 4]])
def test_rows_that_are_not_stored_are_zero(stored):
    rng = np.random.RandomState(5)
    mom, weight = np.zeros((5, 3), "float32"), np.zeros((5, 3), "float32")
    mom[stored] = rng.uniform(1, 2, (len(stored), 3))
    weight[stored] = rng.uniform(1, 2, (len(stored), 3))
    grad = np.zeros((5, 3), "float32")
    grad[[1, 2]] = rng.uniform(1, 2, (2, 3))
    w, m = _rows(mx.nd.array(weight)), _rows(mx.nd.array(mom))
    mx.nd.sgd_mom_update(w, _rows(mx.nd.array(grad)), m, out=w, lr=.1, momentum=.5, wd=.1)
    new_w, new_m = weight.copy(), mom.copy()
    new_w[[1, 2]], new_m[[1, 2]] = _sgd_mom(weight[[1, 2]], grad[[1, 2]], mom[[1, 2]], {"lr": .1, "momentum": .5, "wd": .1})
    np.testing.assert_allclose(_dense(w), new_w, rtol=1e-6)
    np.testing.assert_allclose(_dense(m), new_m, rtol=1e-6)


@pytest.mark.parametrize("storage", ["default", "row_sparse"])
def test_without_out_the_weight_stays(storage):
    weight = mx.nd.cast_storage(mx.nd.ones((3, 2)), stype=storage)
    grad = _rows(mx.nd.array([[0, 0], [1, 2], [0, 0]]))
    new = mx.nd.sgd_update(weight, grad, lr=.5)
    assert new.stype == storage
    assert _dense(new).tolist() == [[1, 1], [.5, 0], [1, 1]]
    assert _dense(weight).tolist() == [[1, 1]] * 3


def test_many_rows_on_threads_are_those_of_one():
    rng = np.random.RandomState(6)
    w = rng.uniform(-1, 1, (20000, 33)).astype("float32")
    g = np.where(rng.rand(20000, 1) < .5, rng.uniform(-1, 1, w.shape), 0).astype("float32")
    a, m = mx.nd.array(w), mx.nd.zeros(w.shape)
    mx.nd.sgd_mom_update(a, _rows(mx.nd.array(g)), m, out=a, lr=.1, momentum=.9)
    np.testing.assert_allclose(a.asnumpy(), w - np.float32(.1) * g, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name, options", [("sgd", {"momentum": .9}), ("adam", {}), ("adagrad", {}), ("ftrl", {}), ("groupadagrad", {})])
def test_states_are_saved_and_loaded(name, options):
    def step(update, weight, row):
        grad = np.zeros((5, 2), "float32")
        grad[row] = 1, 2
        update(0, _rows(mx.nd.array(grad)), weight)

    weight = _rows(mx.nd.array(cases.WEIGHT))
    update = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=.1, **options))
    step(update, weight, 1)
    other, again = weight.copy(), mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=.1, **options))
    again.set_states(update.get_states(dump_optimizer=True))
    for u, w in ((update, weight), (again, other)):
        step(u, w, 1)
        step(u, w, 3)
    assert other.stype == weight.stype == "row_sparse"
    assert np.array_equal(_dense(other), _dense(weight))
    assert not np.array_equal(_dense(weight)[[1, 3]], cases.WEIGHT[[1, 3]])


def test_adagrad_decays_touched_rows():
    """Which 1.9.1 refuses."""
    weight = mx.nd.ones((3, 2))
    update = mx.optimizer.get_updater(mx.optimizer.AdaGrad(learning_rate=.1, wd=.5))
    update(0, _rows(mx.nd.array([[0, 0], [2, 2], [0, 0]])), weight)
    np.testing.assert_allclose(weight.asnumpy(), [[1, 1], [.85, .85], [1, 1]], rtol=1e-6)
