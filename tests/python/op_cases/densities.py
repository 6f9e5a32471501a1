"""Cases of probability densities: _random_pdf_*."""
import numpy as np
from scipy import stats
from scipy.special import gammaln, xlog1py, xlogy

from op_cases import FLOATS, ints, rand

S = (3, 5)
P = (3,)
NAN, INF = float("nan"), float("inf")
HALF = {"float16": 6e-3, "bfloat16": 4e-2}


def along(parameter, sample):
    """The parameter, with dimensions of size 1 behind its own."""
    return parameter.reshape(parameter.shape + (1,) * (sample.ndim - parameter.ndim))


def poisson(x, lam):
    return np.where(x < 0, -INF, xlogy(x, lam) - lam - gammaln(x + 1))


def negative_binomial(x, k, p):
    return np.where(x < 0, -INF, gammaln(x + k) - gammaln(x + 1) - gammaln(k) + k * np.log(p) + xlog1py(x, -p))


def generalized(x, mu, alpha):
    safe = np.where(alpha == 0, 1, alpha)
    return np.where(alpha == 0, poisson(x, mu), negative_binomial(x, 1 / safe, 1 / (1 + safe * mu)))


LOGS = {
    "uniform": lambda x, low, high: stats.uniform.logpdf(x, low, high - low),
    "normal": lambda x, mu, sigma: stats.norm.logpdf(x, mu, sigma),
    "gamma": lambda x, alpha, beta: stats.gamma.logpdf(x, alpha, scale=1 / beta),
    "exponential": lambda x, lam: stats.expon.logpdf(x, scale=1 / lam),
    "poisson": poisson,
    "negative_binomial": negative_binomial,
    "generalized_negative_binomial": generalized,
}


def reference(log):
    def density(x, *parameters, is_log=False):
        with np.errstate(all="ignore"):
            v = np.where(x == INF, -INF, log(x, *(along(p, x) for p in parameters)))
        return v if is_log else np.exp(v)
    return density


def cases(name, grad, *inputs, tol=None, is_log=(False, True), **more):
    """Of both forms of the density."""
    op = "_random_pdf_" + name
    # a logarithm near 0 has few digits
    tol = tol or {"float32": 1e-6, "float64": 1e-12, **HALF}
    return [dict(dict(op=op, inputs=list(inputs), attrs={"is_log": log}, ref=reference(LOGS[name]), grad=grad, grad2=bool(grad),
                      dtypes=FLOATS, tol=tol, refuses=False, empty=False, bad=[]), **more)
            for log in is_log]


def contract(name, grad, sample, *parameters):
    """The first case of a density, which also has what holds for any: aliases, other dtypes, empty
    arrays, other shapes."""
    many = len(parameters)
    return cases(name, grad, sample, *parameters, is_log=[False], op=["_random_pdf_" + name, "random_pdf_" + name], refuses=True,
                 empty=[(0, 5)] + [(0,)] * many,
                 bad=[dict(inputs=[S] + [(5,)] * many), dict(inputs=[(3,)] + [S] * many)]) \
        + cases(name, grad, sample, *parameters, is_log=[True])


def edges(name, samples, *parameters, dtypes=("float32", "float64")):
    """Ends of the support and beyond; parameters outside of their domain."""
    return cases(name, False, np.array([samples], "float64"), *(np.array([p], "float64") for p in parameters), dtypes=list(dtypes))


def invalid(name, *parameters):
    """Pairs of parameters that give NaN."""
    def nan(x, *p, is_log=False):
        return np.full(x.shape, NAN)
    pairs = [np.array(p, "float64") for p in parameters]
    return cases(name, False, np.ones((len(pairs[0]), 2)), *pairs, ref=nan, is_log=[False], dtypes=["float32"])


ZERO_ONE = rand(S, 0.1, 0.9)
POSITIVE = rand(S, 0.2, 3)
COUNTS = ints(S, 0, 6)
CASES = (
    contract("uniform", True, ZERO_ONE, rand(P, -1, 0), rand(P, 1, 2))
    + contract("normal", True, rand(S), rand(P, -1, 1), rand(P, 0.5, 2))
    + cases("normal", True, rand((2, 3, 4)), rand((2, 3), -1, 1), rand((2, 3), 0.5, 2))
    + cases("normal", True, rand(S), rand(S, -1, 1), rand(S, 0.5, 2))
    + cases("normal", [1, 2], rand((2, 700)), rand((2,), -1, 1), rand((2,), 0.5, 2), dtypes=["float64"])
    + contract("gamma", True, POSITIVE, rand(P, 0.5, 3), rand(P, 0.5, 2))
    + cases("gamma", True, POSITIVE, rand(P, 8, 12), rand(P, 4, 6))
    + contract("exponential", True, POSITIVE, rand(P, 0.5, 3))
    + contract("poisson", [1], COUNTS, rand(P, 0.5, 4))
    + cases("poisson", [1], ints(S, 80, 120), rand(P, 90, 110))
    + contract("negative_binomial", [1, 2], COUNTS, rand(P, 1, 5), rand(P, 0.2, 0.8))
    + cases("negative_binomial", [1, 2], ints(S, 3, 30), rand(P, 9, 15), rand(P, 0.4, 0.6))
    + contract("generalized_negative_binomial", [1, 2], COUNTS, rand(P, 1, 5), rand(P, 0.2, 0.8))
    + cases("generalized_negative_binomial", [1, 2], COUNTS, rand(P, 1, 5), rand(P, 0.02, 0.1), grad_tol=1e-4)
    # 3000 failures: some pieces of a row
    + cases("poisson", [1], ints((2, 1500), 0, 6), rand((2,), 0.5, 4), dtypes=["float64"])
    + edges("uniform", [-0.5, 0, 0.5, 1, 1.5, INF, NAN], 0, 1)
    + edges("normal", [-INF, -40, 0, 40, INF, NAN], 0, 1)
    + edges("gamma", [-1, 0, 1e-30, 1e30, INF, NAN], 1.5, 2) + edges("gamma", [-1, 0, 0.5], 1, 2) + edges("gamma", [-1, 0, 0.5], 0.5, 2)
    + edges("gamma", [0.5, 9], 1e-20, 1, dtypes=["float64"])
    + edges("exponential", [-1, 0, 1e30, INF, NAN], 2)
    + edges("poisson", [-1, -0.5, 0, 0.5, 1e6, INF, NAN], 2) + edges("poisson", [0, 1], 0)
    + edges("poisson", [999000, 1e6, 1001000], 1e6)
    + edges("negative_binomial", [-1, -0.5, 0, 0.5, 1e4, NAN], 3, 0.4) + edges("negative_binomial", [0, 1], 3, 1)
    + edges("generalized_negative_binomial", [-1, 0, 0.5, 40, NAN], 3, 0) + edges("generalized_negative_binomial", [0, 1], 0, 0.5)
    + edges("generalized_negative_binomial", [0, 3, 1e4], 3, 1e-3)
    + invalid("uniform", [1, 2, NAN], [1, 1, 2]) + invalid("normal", [0, 0, NAN], [0, -1, 1])
    + invalid("gamma", [0, -1, 1, NAN], [1, 1, 0, 1])
    + invalid("exponential", [0, -1, NAN, INF]) + invalid("poisson", [-1, NAN, INF])
    + invalid("negative_binomial", [0, -1, 1, 1, NAN], [0.5, 0.5, 0, 1.5, 0.5])
    + invalid("generalized_negative_binomial", [-1, 1, NAN], [0.5, -1, 1])
)


def dirichlet(x, alpha, is_log=False):
    alpha = alpha.reshape(alpha.shape[:-1] + (1,) * (x.ndim - alpha.ndim) + alpha.shape[-1:])
    with np.errstate(all="ignore"):
        v = gammaln(alpha.sum(-1)) + np.where(x < 0, -INF, xlogy(alpha - 1, x) - gammaln(alpha)).sum(-1)
    return np.atleast_1d(v if is_log else np.exp(v))


def dirichlets(*inputs, grad=True, contract_too=False, **more):
    return [dict(dict(op=["_random_pdf_dirichlet", "random_pdf_dirichlet"] if contract_too else "_random_pdf_dirichlet",
                      inputs=list(inputs),
                      attrs={"is_log": log}, ref=dirichlet, grad=grad, grad2=grad, dtypes=FLOATS,
                      tol={"float32": 2e-6, "float64": 1e-12, "float16": 1e-2, "bfloat16": 6e-2}, empty=False, refuses=contract_too,
                      bad=[dict(inputs=[(2, 3), (4,)]), dict(inputs=[(3,), (2, 3)]), dict(inputs=[(2, 0), (0,)])] if contract_too else []),
                 **more)
            for log in (False, True)]


CASES += (
    dirichlets(rand((4, 3), 0.2, 0.5), rand((3,), 0.5, 3), contract_too=True)
    + dirichlets(rand((3,), 0.2, 0.5), rand((3,), 0.5, 3))
    + dirichlets(rand((2, 4, 3), 0.2, 0.5), rand((2, 3), 0.5, 3))
    + dirichlets(rand((2, 3), 0.2, 0.5), rand((2, 3), 9, 12), tol={"float32": 3e-6, "float64": 1e-11, "float16": 0.2, "bfloat16": 1})
    + dirichlets(rand((150, 40), 0.01, 0.05), rand((40,), 0.5, 1.5), grad=False, dtypes=["float64"])
    + dirichlets(np.array([[0.0, 1], [-0.1, 1.1], [0.5, 0.5]]), np.array([1.0, 2]), grad=False)
    + dirichlets(rand((2, 2), 0.2, 0.5), np.array([[0.0, 1], [-1, 2]]), grad=False,
                 ref=lambda x, alpha, is_log: np.full(2, NAN))
)
