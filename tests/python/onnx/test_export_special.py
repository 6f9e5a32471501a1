"""The gamma function, its relatives and densities as ONNX operators."""
import numpy as np
import pytest
from onnx_checks import check_symbol, positive

import mxnet as mx

S = mx.sym
x, y, z = S.var("x"), S.var("y"), S.var("z")
WIDE = np.array([-3.3, -2.5, -0.7, -1e-3, 1e-3, 0.3, 0.5, 1, 1.5, 2, 3.7, 10, 25.5, 33], np.float32)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", ["gammaln", "gamma", "digamma"])
def test_gamma_and_its_relatives(name, dtype, tmp_path):
    tolerance = 2e-3 if dtype == "float16" else 1e-5
    numbers = WIDE[WIDE < 7] if dtype == "float16" else WIDE
    numbers = numbers[np.abs(numbers) > 0.01] if dtype == "float16" else numbers
    given = mx.sym.var("x", dtype=dtype)
    check_symbol(getattr(S, name)(given), {"x": numbers.astype(dtype)}, {}, tmp_path, tolerance)


def test_large_numbers(tmp_path):
    large = np.array([1e3, 1e5, 1e8], np.float32)
    check_symbol(S.gammaln(x), {"x": large}, {}, tmp_path, 1e-5)
    check_symbol(S.digamma(x), {"x": large}, {}, tmp_path, 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erfinv(dtype, tmp_path):
    numbers = np.concatenate([np.linspace(-0.999, 0.999, 41), [0, 1e-6, -1, 1, 0.9999999, 2]])
    check_symbol(S.erfinv(mx.sym.var("x", dtype=dtype)), {"x": numbers.astype(dtype)}, {}, tmp_path, 1e-5)


DENSITIES = [("uniform", (0.1, 0.95)), ("normal", (0.4, 0.7)), ("exponential", (1.5,)),
             ("gamma", (2.5, 1.5)), ("poisson", (3.0,)), ("negative_binomial", (4.0, 0.3)),
             ("generalized_negative_binomial", (2.0, 0.4))]


@pytest.mark.parametrize("name, numbers", DENSITIES)
@pytest.mark.parametrize("is_log", [False, True])
def test_densities(name, numbers, is_log, tmp_path):
    samples = positive(2, 3, 5)
    if "poisson" in name or "binomial" in name:
        samples = np.floor(samples * 8)
    names = "yz"[:len(numbers)]
    given = {n: (np.full((2, 3), v) * positive(2, 3) * 1.1).astype("float32")
             for n, v in zip(names, numbers)}
    made = getattr(S, f"random_pdf_{name}")(x, *(S.var(n) for n in names), is_log=is_log)
    check_symbol(made, {"x": samples, **given}, {}, tmp_path)
    one = {n: a[0, :1] for n, a in given.items()}
    check_symbol(made, {"x": samples[0, :1], **one}, {}, tmp_path)


@pytest.mark.parametrize("is_log", [False, True])
def test_density_of_dirichlet(is_log, tmp_path):
    samples = positive(2, 5, 3)
    samples /= samples.sum(-1, keepdims=True)
    made = S.random_pdf_dirichlet(x, y, is_log=is_log)
    check_symbol(made, {"x": samples, "y": positive(2, 3) * 3}, {}, tmp_path)
