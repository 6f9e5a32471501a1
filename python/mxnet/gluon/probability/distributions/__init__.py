"""Distributions."""
import importlib as _importlib

_MODULES = ("distribution", "exp_family", "normal", "laplace", "cauchy", "half_cauchy", "half_normal", "gumbel", "uniform", "exponential",
            "weibull", "pareto", "gamma", "chi2", "beta", "dirichlet", "fishersnedecor", "studentT", "poisson", "bernoulli", "geometric",
            "binomial", "negative_binomial", "categorical", "one_hot_categorical", "multinomial", "relaxed_bernoulli",
            "relaxed_one_hot_categorical", "multivariate_normal", "independent", "transformed_distribution", "divergence", "utils")
from . import constraint  # noqa: F401,E402

__all__ = []
for _name in _MODULES:
    _module = _importlib.import_module("." + _name, __name__)
    for _public in _module.__all__:
        globals()[_public] = getattr(_module, _public)
    __all__ += _module.__all__
