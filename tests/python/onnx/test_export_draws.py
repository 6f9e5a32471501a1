"""Random numbers in exported models: ONNX Runtime and our importer draw from the distributions
that this library draws from."""
import numpy as np
import pytest
from onnx_checks import ort, run, run_here

import mxnet as mx

S = mx.sym
COUNT = 20000
x, y = S.var("x"), S.var("y")


def drawn(symbol, arrays, folder):
    """Results of the library, of ONNX Runtime and of our importer."""
    inputs = {n: mx.nd.array(a, dtype=a.dtype) for n, a in arrays.items()}
    bound = symbol.bind(mx.cpu(), {n: inputs[n] for n in symbol.list_arguments()}, grad_req="null")
    ours = bound.forward(is_train=False)[0].asnumpy()
    path = mx.onnx.export_model(symbol, {}, inputs, onnx_file_path=str(folder / "draws.onnx"))
    return ours, run(path, arrays)[0], run_here(path, arrays)[0]


def check(symbol, arrays, folder, axis=None):
    """Equal means, deviations and quantiles, within what chance allows."""
    mx.random.seed(3)
    ort.set_seed(3)
    ours, *others = drawn(symbol, arrays, folder)
    for other in others:
        assert other.shape == ours.shape and other.dtype == ours.dtype
        spread = ours.std(axis) + 1e-3
        np.testing.assert_allclose((other.mean(axis) - ours.mean(axis)) / spread, 0, atol=0.07)
        np.testing.assert_allclose(other.std(axis) / spread, 1, atol=0.15)
        for part in (0.1, 0.5, 0.9):
            far = np.quantile(other, part, axis) - np.quantile(ours, part, axis)
            assert np.all(np.abs(far) <= np.maximum(0.15 * spread, ours.dtype.kind in "iu" or
                                                    np.all(ours == ours.round())))


OLD = [("uniform", {"low": -1, "high": 3}), ("normal", {"loc": 2, "scale": 3}),
       ("exponential", {"lam": 0.5}), ("gamma", {"alpha": 2.5, "beta": 0.7}),
       ("gamma", {"alpha": 0.4, "beta": 2}), ("poisson", {"lam": 3.5}), ("negative_binomial", {"k": 4, "p": 0.3}),
       ("generalized_negative_binomial", {"mu": 3, "alpha": 0.4}), ("binomial", {"n": 7, "p": 0.3})]


@pytest.mark.parametrize("name, numbers", OLD)
def test_draws_by_numbers(name, numbers, tmp_path):
    random = getattr(S._internal, f"_random_{name}")
    check(random(shape=(COUNT,), **numbers), {}, tmp_path)
    if name != "binomial":
        like = getattr(S._internal, f"_random_{name}_like")
        check(like(x, **numbers), {"x": np.zeros(COUNT, np.float32)}, tmp_path)


@pytest.mark.parametrize("name, numbers", OLD)
def test_draws_of_rows(name, numbers, tmp_path):
    arrays = {n: np.array([v, v * 0.8], np.float32) for n, v in zip("xy", numbers.values())}
    if name in ("negative_binomial", "binomial"):
        arrays["x"] = np.round(arrays["x"])
    sample = getattr(S._internal, f"_sample_{name}")
    check(sample(*(S.var(n) for n in arrays), shape=(COUNT,)), arrays, tmp_path, axis=1)


NEW = [("laplace", (1, 2)), ("logistic", (1, 2)), ("gumbel", (1, 2)), ("gamma", (2, 3)), ("exponential", (2,)),
       ("pareto", (5,)), ("rayleigh", (2,)), ("weibull", (1.5,)), ("power", (3,)), ("normal", (1, 2)), ("uniform", (1, 2))]


@pytest.mark.parametrize("name, numbers", NEW)
def test_numpys_draws(name, numbers, tmp_path):
    random = getattr(S.np.random, name)
    check(random(*numbers, size=(COUNT,)), {}, tmp_path)
    rows = {n: np.array([v, v * 1.2], np.float32) for n, v in zip("xy", numbers)}
    made = random(*(S.var(n).as_np_ndarray() for n in rows), size=(COUNT, 2))
    check(made, rows, tmp_path, axis=0)


def test_truths_and_whole_numbers(tmp_path):
    check(S.random.randint(-3, 9, shape=(COUNT,)), {}, tmp_path)
    bernoulli = S.npx.random.bernoulli if hasattr(S.npx, "random") else None
    if bernoulli is not None:
        check(bernoulli(prob=0.3, size=(COUNT,)), {}, tmp_path)
        check(bernoulli(logit=S.var("x").as_np_ndarray(), size=(COUNT, 2)), {"x": np.array([-1, 2], np.float32)}, tmp_path, axis=0)


def test_multinomial_counts(tmp_path):
    check(S.np.random.multinomial(6, [0.2, 0.3, 0.5], size=(COUNT,)), {}, tmp_path, axis=0)


def test_choices(tmp_path):
    a = S.var("x").as_np_ndarray()
    values = {"x": np.array([2, 5, 11], np.int64)}
    check(S.np.random.choice(10, size=(COUNT,)), {}, tmp_path)
    chances = np.array([0.2, 0.7, 0.1], np.float32)
    check(S.np.random.choice(3, size=(COUNT,), p=a), {"x": chances}, tmp_path)
    for other in drawn(S.np.random.choice(7, size=(7,), replace=False), {}, tmp_path):
        assert sorted(other) == list(range(7))
    for other in drawn(S.np.random.choice(a, size=(4, 5)), values, tmp_path):
        assert other.shape == (4, 5) and set(other.ravel()) <= {2, 5, 11}
    for other in drawn(S.np.random.choice(3, size=(2,), replace=False, p=a), {"x": np.array([0.5, 0.5, 0], np.float32)}, tmp_path):
        assert sorted(other) == [0, 1]


def test_shuffled_rows(tmp_path):
    rows = np.arange(60, dtype=np.float32).reshape(30, 2)
    ours, *others = drawn(S.shuffle(x), {"x": rows}, tmp_path)
    for other in others:
        np.testing.assert_array_equal(other[other[:, 0].argsort()], rows)
        assert not np.array_equal(other, rows)


def test_each_run_draws_others(tmp_path):
    path = mx.onnx.export_model(S.random.gamma(2, 1, shape=(5,)) + x, {}, [(5,)], onnx_file_path=str(tmp_path / "g.onnx"))
    model, zeros = mx.onnx.load(path), np.zeros(5, np.float32)
    assert not np.array_equal(model(zeros).asnumpy(), model(zeros).asnumpy())
    assert len(set(model(zeros).asnumpy())) == 5
