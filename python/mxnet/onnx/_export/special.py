"""The gamma function and its relatives, the inverse of the error function, and densities that are
made of them."""
import math

import numpy as np

from ... import _dtypes
from .table import converts
from .terms import term

__all__ = ["log_gamma"]

# Lanczos's approximation with g = 7 and nine coefficients (Godfrey, 2001).
_LANCZOS = (0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
            -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
            1.5056327351493116e-7)
_SHIFT = 6      # the series of digamma serve from there on
# Giles, "Approximating the erfinv function", 2010: near 0, and in the tails.
_MIDDLE = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
           -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
_TAILS = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
          -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)


def _computed(c):
    """Input 0 in a dtype that all readers compute such functions in."""
    wide = _dtypes.number(c.out_dtype()) == _dtypes.number(np.float64)
    return term(c, 0, np.float64 if wide else np.float32)


def _of_right_side(c, x):
    """ln Γ(x) of x from 0.5 on."""
    z = x - 1
    total = _LANCZOS[1] / (z + 1)
    for i, coefficient in enumerate(_LANCZOS[2:], 2):
        total = coefficient / (z + i) + total
    t = z + 7.5
    return (z + 0.5) * t.log() - t + (total + _LANCZOS[0]).log() + 0.5 * math.log(2 * math.pi)


def _angle(x):
    """πx by what x is above a whole number."""
    return (x - x.floor()) * math.pi


def log_gamma(c, x, positive=False):
    """ln |Γ(x)|, of positive x alone if `positive`."""
    if positive:        # Γ(x) = Γ(x + 1) / x, so that one formula serves
        return _of_right_side(c, x + 1) - x.log()
    left = x < 0.5
    right = _of_right_side(c, left.where(1 - x, x))
    mirrored = math.log(math.pi) - _angle(x).op("Sin").log() - right
    infinite = x.abs().same(np.inf)
    return infinite.where(x.abs(), left.where(mirrored, right))


@converts("gammaln")
def _(c):
    return log_gamma(c, _computed(c)).to(c.out_dtype()).name


@converts("gamma")
def _(c):
    """Below 0 the sign changes from one whole number to the next, and there is no value at them."""
    x = _computed(c)
    size = log_gamma(c, x).exp()
    below, halves = x.floor(), x.floor() * 0.5
    odd = (x < 0) & (halves > halves.floor())
    made = odd.where(-size, size)
    return ((x < 0) & below.same(x)).where(np.nan, made).to(c.out_dtype()).name


def _shifted(x, power):
    """(x + 6, the sum of (x + k) ** -power for k from 0 to 5)"""
    total = None
    for k in range(_SHIFT):
        part = x + k
        part = 1 / (part if power == 1 else part * part)
        total = part if total is None else total + part
    return x + _SHIFT, total


def _reflected(c, power):
    """(x, where it is left of 1 / 2, y, the sum of :func:`_shifted`, 1 / y ** 2): y is x or, on the
    left, 1 - x, shifted."""
    x = _computed(c)
    left = x < 0.5
    y, below = _shifted(left.where(1 - x, x), power)
    return x, left, y, below, 1 / (y * y)


@converts("digamma")
def _(c):
    x, left, y, below, inverse = _reflected(c, 1)
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252)))
    right = y.log() - 0.5 / y - series - below
    angle = _angle(x)
    mirrored = right - math.pi * angle.op("Cos") / angle.op("Sin")
    pole = (x <= 0) & x.floor().same(x)
    return pole.where(np.nan, left.where(mirrored, right)).to(c.out_dtype()).name


@converts("_trigamma")
def _(c):
    x, left, y, below, inverse = _reflected(c, 2)
    series = inverse * (1 / 6 - inverse * (1 / 30 - inverse * (1 / 42)))
    right = 1 / y + 0.5 * inverse + series / y + below
    sine = _angle(x).op("Sin")
    return left.where(math.pi ** 2 / (sine * sine) - right, right).to(c.out_dtype()).name


def _polynomial(x, coefficients):
    made = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        made = made * x + coefficient
    return made


@converts("erfinv")
def _(c):
    """Exact to 1e-6, also in float64."""
    x = _computed(c)
    w = -((1 - x) * (1 + x)).log()
    made = (w < 5).where(_polynomial(w - 2.5, _MIDDLE), _polynomial(w.sqrt() - 3, _TAILS)) * x
    end = x.abs().same(1)
    return end.where(x * np.inf, made).to(c.out_dtype()).name


# ---- densities: samples have the dimensions of the parameters first

def _parameters(c):
    """(the samples, each parameter with dimensions of size 1 behind)"""
    x, made = term(c, 0), []
    for i in range(1, len(c)):
        one, behind = term(c, i), c.ndim(0) - c.ndim(i)
        made.append(one.unsqueeze(*range(c.ndim(i), c.ndim(0))) if behind > 0 else one)
    return x, made


def _log_gamma(c, x):
    return log_gamma(c, x, positive=True)


def _uniform(c, x, low, high):
    inside = (x >= low) & (x <= high)
    return inside.where(-(high - low).log(), -np.inf)


def _normal(c, x, mean, deviation):
    z = (x - mean) / deviation
    return -0.5 * (z * z) - deviation.log() - 0.5 * math.log(2 * math.pi)


def _exponential(c, x, rate):
    return rate.log() - rate * x


def _gamma(c, x, shape, rate):
    return shape * rate.log() + (shape - 1) * x.log() - rate * x - _log_gamma(c, shape)


def _poisson(c, x, rate):
    return x * rate.log() - rate - _log_gamma(c, x + 1)


def _negative_binomial(c, x, count, chance):
    ways = _log_gamma(c, x + count) - _log_gamma(c, x + 1) - _log_gamma(c, count)
    return ways + count * chance.log() + x * (1 - chance).log()


def _generalized(c, x, mean, alpha):
    count = 1 / alpha
    return _negative_binomial(c, x, count, 1 / (mean * alpha + 1))


for _name, _formula in (("uniform", _uniform), ("normal", _normal), ("exponential", _exponential),
                        ("gamma", _gamma), ("poisson", _poisson),
                        ("negative_binomial", _negative_binomial),
                        ("generalized_negative_binomial", _generalized)):
    converts(f"_random_pdf_{_name}")(lambda c, formula=_formula: _density(c, formula))


def _density(c, formula):
    x, parameters = _parameters(c)
    made = formula(c, x, *parameters)
    return (made if c.params["is_log"] else made.exp()).name


@converts("_random_pdf_dirichlet")
def _(c):
    x, alpha = term(c, 0), term(c, 1)
    between = c.ndim(0) - c.ndim(1)
    if between > 0:
        alpha = alpha.unsqueeze(*range(c.ndim(1) - 1, c.ndim(1) - 1 + between))
    parts = (alpha - 1) * x.log() - _log_gamma(c, alpha)
    made = parts.reduce("Sum", [-1], False) + _log_gamma(c, alpha.reduce("Sum", [-1], False))
    return (made if c.params["is_log"] else made.exp()).name
