"""Random numbers: formulas of RandomUniform and RandomNormal. Each run draws others."""
import math

import numpy as np

from .conversion import is_float
from .package import tensor_type
from .rounds import repeat
from .shapes import is_static
from .table import converts
from .terms import Term, term

__all__ = ["uniform"]

_ODDS = 1e-7        # chances of 0 and of 1 stay away from the ends of logarithms


def _drawn(c, kind, dims, dtype=np.float32):
    """Numbers of RandomUniform (0 to 1) or RandomNormal (around 0)."""
    number = int(tensor_type(dtype))
    if all(map(is_static, dims)):
        name = c.op(f"Random{kind}", shape=[d[0] for d in dims], dtype=number)
    else:
        name = c.op(f"Random{kind}Like", c.expand(c.const(0, dtype), dims), dtype=number)
    return Term(c, name, dtype)


def uniform(c, dims=None):
    """Numbers from 0 on and below 1, in the shape of the result if no other is given."""
    return _drawn(c, "Uniform", c.out_dims() if dims is None else dims)


def _normal(c):
    return _drawn(c, "Normal", c.out_dims())


def _never_zero(c):
    return 1 - uniform(c)


# ---- parameters

def _parameters(c, names):
    """Each parameter of a distribution: a number of the node, or one of its inputs, in order."""
    if c.op_name.startswith("_sample_"):
        return [_of_rows(c, i) for i in range(len(names))]
    made, place = [], 0
    for name in names:
        value = c.params.get(name)
        if value is None:
            value, place = term(c, place, np.float32), place + 1
        made.append(value if isinstance(value, Term) else _number(c, value))
    return made


def _of_rows(c, i):
    """A parameter that has many draws for each of its numbers."""
    one, behind = term(c, i, np.float32), len(c.out_dims()) - c.ndim(i)
    return one.unsqueeze(*range(c.ndim(i), c.ndim(i) + behind)) if behind > 0 else one


def _number(c, value):
    return Term(c, c.const(float(value), np.float32), np.float32)


def _draws(formula, names, *operators):
    """`formula(c, *parameters)` draws for the operators, whose parameters have these names."""
    def convert(c):
        if not is_float(c.out_dtype()) and formula in _CONTINUOUS:
            raise c.unsupported("random whole numbers", "floating-point numbers")
        return formula(c, *_parameters(c, names.split())).to(c.out_dtype()).name
    converts(*operators)(convert)


# ---- formulas

def _between(c, low, high):
    return low + (high - low) * uniform(c)


def _around(c, mean, deviation):
    return mean + deviation * _normal(c)


def _waiting(c):
    """Exponential draws of mean 1."""
    return -_never_zero(c).log()


def _inside(c):
    """Numbers between 0 and 1 that are neither."""
    return uniform(c).op("Clip", _ODDS, 1 - _ODDS)


def _laplace(c, mean, scale):
    side = _inside(c) - 0.5
    return mean - scale * side.op("Sign") * (1 - 2 * side.abs()).log()


def _logistic(c, mean, scale):
    u = _inside(c)
    return mean + scale * (u / (1 - u)).log()


def _gamma(c, shape, scale):
    """Marsaglia and Tsang, "A simple method for generating gamma variables", 2000: rounds until
    the last draw is accepted. Below a shape of 1 it is that of one more, times a power."""
    small = shape < 1
    d = small.where(shape + 1, shape) - 1 / 3
    spread = 1 / (9 * d).sqrt()
    dims = c.out_dims()

    def step(body, number, terms):
        made, open_ = terms
        x, u = made.op("RandomNormalLike"), made.op("RandomUniformLike")
        v = 1 + Term(body, spread.name, np.float32) * x
        v = v * v * v
        scaled = Term(body, d.name, np.float32)
        bound = 0.5 * x * x + scaled * (1 - v + v.op("Max", 1e-30).log())
        taken = (v > 0) & ((1 - u).log() < bound)
        made = (open_ & taken).where(scaled * v, made)
        open_ = open_ & taken.op("Not")
        return [made, open_], _any(open_, len(dims))

    start = _filled(c, 0, np.float32), _filled(c, True, np.bool_)
    made = repeat(c, [(one, dims) for one in start], step)[0]
    lifted = made * _never_zero(c).op("Pow", 1 / shape)
    return small.where(lifted, made) * scale


def _filled(c, number, dtype):
    return Term(c, c.expand(c.const(number, dtype), c.out_dims()), dtype)


def _any(truth, ndim):
    """Whether one of them is true."""
    found = truth.to(np.int32).reduce("Max", range(ndim), False) if ndim else truth.to(np.int32)
    return found.to(np.bool_)


def _poisson(c, mean):
    """How many exponential waits fit into `mean`: rounds until none does."""
    dims = c.out_dims()

    def step(body, number, terms):
        count, time = terms
        time = time - (1 - time.op("RandomUniformLike")).log()
        fits = time <= Term(body, mean.name, np.float32)
        return [count + fits.to(np.float32), time], _any(fits, len(dims))

    start = _filled(c, 0, np.float32)
    return repeat(c, [(start, dims), (start, dims)], step)[0]


def _binomial(c, count, chance):
    """Successes of so many trials: a round for each."""
    dims = c.out_dims()

    def step(body, number, terms):
        made, = terms
        hit = (made.op("RandomUniformLike") < Term(body, chance.name, np.float32)) \
            & (number.to(np.float32) < Term(body, count.name, np.float32))
        return [made + hit.to(np.float32)], None

    most = c.op("ReduceMax", c.op("Reshape", count.name, c.ints(-1)), keepdims=0)
    start = _filled(c, 0, np.float32)
    return repeat(c, [(start, dims)], step, c.cast(most, np.int64))[0]


def _negative_binomial(c, count, chance):
    return _poisson(c, _gamma(c, count, (1 - chance) / chance))


def _generalized(c, mean, alpha):
    """Its mean varies by a gamma distribution, but not where alpha is 0."""
    some = alpha.op("Max", 1e-20)
    varied = _gamma(c, (1 / some).op("Min", 1e6), mean * some)
    return _poisson(c, (alpha > 0).where(varied, mean))


_CONTINUOUS = {_between, _around, _gamma}
_PAIRS = {"uniform": (_between, "low high"), "normal": (_around, "loc scale"),
          "exponential": (lambda c, rate: _waiting(c) / rate, "lam"), "gamma": (_gamma, "alpha beta"),
          "poisson": (_poisson, "lam"), "binomial": (_binomial, "n p"),
          "negative_binomial": (_negative_binomial, "k p"),
          "generalized_negative_binomial": (_generalized, "mu alpha")}
for _name, (_formula, _names) in _PAIRS.items():
    _like = [] if _name == "binomial" else [f"_random_{_name}_like"]
    _draws(_formula, _names, f"_random_{_name}", f"_sample_{_name}", *_like)
_draws(_between, "low high", "_npi_uniform", "_npi_uniform_n")
_draws(_around, "loc scale", "_npi_normal", "_npi_normal_n")
_draws(lambda c, scale: _waiting(c) * scale, "scale", "_npi_exponential")
_draws(_gamma, "shape scale", "_npi_gamma")
_draws(_laplace, "loc scale", "_npi_laplace")
_draws(_logistic, "loc scale", "_npi_logistic")
_draws(lambda c, mean, scale: mean - scale * (-_inside(c).log()).log(), "loc scale", "_npi_gumbel")
_draws(lambda c, a: (_waiting(c) / a).exp() - 1, "a", "_npi_pareto")
_draws(lambda c, a: _never_zero(c).op("Pow", 1 / a), "a", "_npi_powerd")
_draws(lambda c, scale: scale * (2 * _waiting(c)).sqrt(), "scale", "_npi_rayleigh")
_draws(lambda c, a: _waiting(c).op("Pow", 1 / a), "a", "_npi_weibull")


@converts("_npi_bernoulli")
def _(c):
    name = "logit" if c.params["is_logit"] else "prob"
    chance, = _parameters(c, [name])
    chance = chance.op("Sigmoid") if name == "logit" else chance
    return (uniform(c) < chance).to(c.out_dtype()).name


@converts("_random_randint")
def _(c):
    low, high = c.params["low"], c.params["high"]
    if high - low > 1 << 24:
        raise c.unsupported(f"a range of {high - low} numbers", "at most 2^24")
    drawn = (uniform(c) * (high - low)).floor().to(np.int64)
    return (drawn + low).to(c.out_dtype()).name


# ---- choices

@converts("_sample_multinomial", "_sample_categorical")
def _(c):
    """Classes, by their probabilities; with `get_prob` also the logarithms of these."""
    x = c[0] if c.ndim() == 2 else c.reshape(c[0], [(1,) * len(c.dims()[-1]), c.dims()[-1]])
    shape = c.params.get("shape") or ()
    shape = (shape,) if isinstance(shape, int) else shape
    drawn = _classes(c, x, math.prod(shape))
    classes = c.cast_from(c.reshape(drawn, c.out_dims()), np.int32, c.out_dtype())
    if not c.params.get("get_prob"):
        return classes
    chances = c.op("Log", c.op("GatherElements", x, drawn, axis=1))
    return [classes, c.cast_from(c.reshape(chances, c.out_dims(1)), c.dtype(), c.out_dtype(1))]


def _classes(c, chances, count):
    """(rows, count) classes, int32, by chances of (rows, classes)."""
    return c.op("Multinomial", c.op("Log", chances), sample_size=count, dtype=int(tensor_type(np.int32)))


@converts("_npi_multinomial")
def _(c):
    """How often each class was drawn; the last one has what chances leave."""
    *shape, classes = c.out_dims()
    if not all(map(is_static, c.out_dims())):
        raise c.unsupported("a free size", "fixed sizes")
    if len(c):
        chances = term(c, 0, np.float32)
    else:
        chances = Term(c, c.const(c.params["pvals"], np.float32), np.float32)
    first = chances.columns(0, classes[0] - 1)
    last = (1 - first.reduce("Sum", [0])).op("Max", 0)
    row = c.unsqueeze(c.op("Concat", first.name, last.name, axis=0), 0)
    draws, trials = math.prod(d[0] for d in shape), c.params["n"]
    drawn = c.op("Reshape", _classes(c, row, draws * trials), c.ints(draws, trials))
    hits = Term(c, drawn, np.int32).unsqueeze(2).same(np.arange(classes[0])).to(np.int64)
    return c.reshape(hits.reduce("Sum", [1], False).name, c.out_dims())


@converts("_npi_choice")
def _(c):
    """Positions: of the largest of random numbers, where none comes twice."""
    params = c.params
    weighted = params["weighted"]
    if params["a"] is None and not is_static(c.dims(0)[0]):
        raise c.unsupported("a free number of elements", "a fixed one")
    if not all(map(is_static, c.out_dims())):
        raise c.unsupported("a free size", "fixed sizes")
    size = params["a"] if params["a"] is not None else c.shape(0)[0]
    count = math.prod(c.out_shape())
    chances = term(c, len(c) - 1, np.float32) if weighted else None
    if params["replace"] and weighted:
        places = c.cast(_classes(c, chances.unsqueeze(0).name, count), np.int64)
    elif params["replace"]:
        places = (uniform(c, [(count,)]) * size).floor().to(np.int64).name
    else:       # Gumbel's: the largest of logarithms of chances and waits
        waits = -(1 - uniform(c, [(size,)])).log().abs().op("Max", 1e-30).log()
        ranks = waits + chances.log() if weighted else waits
        places = c.op("TopK", ranks.name, c.ints(count), outputs=2, axis=0)[1]
    places = c.reshape(places, c.out_dims())
    if params["a"] is None:
        places = c.op("Gather", c[0], places, axis=0)
        return c.cast_from(places, c.dtype(0), c.out_dtype())
    return c.cast_from(places, np.int64, c.out_dtype())


@converts("_shuffle")
def _(c):
    rows = c.dims()[0]
    ranks = uniform(c, [rows])
    places = c.op("TopK", ranks.name, c.size(rows), outputs=2, axis=0)[1]
    return c.op("Gather", c[0], places, axis=0)
