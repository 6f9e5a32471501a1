"""Distributions of the exponential family."""
from .... import autograd
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    r"""A distribution of density exp(<t(x), theta> - F(theta) + k(x)).

    A subclass may give ``_natural_params`` (theta), ``_log_normalizer(*theta)`` (F) and
    ``_mean_carrier_measure(x)`` (the mean of k); then `entropy` is F - <theta, grad F> - mean k.

    >>> class Waiting(mx.gluon.probability.ExponentialFamily):
    ...     _parameters = {'rate': 0}
    ...     def __init__(self, rate):
    ...         self.rate = rate
    ...         super().__init__(event_dim=0)
    ...     @property
    ...     def _natural_params(self):
    ...         return (-self.rate,)
    ...     def _log_normalizer(self, theta):
    ...         return -mx.np.log(-theta)
    ...     def _mean_carrier_measure(self, x):
    ...         return 0
    >>> rates = mx.np.array([1., 2.])
    >>> Waiting(rates).entropy()
    array([1.        , 0.30685282])
    >>> mx.gluon.probability.Exponential(scale=1 / rates).entropy()
    array([1.        , 0.30685282])
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    def _mean_carrier_measure(self, x):
        raise NotImplementedError

    def entropy(self):
        """The entropy in nats, from the gradient of the logarithm of the normalizer."""
        params = [p.detach() for p in self._natural_params]
        for p in params:
            p.attach_grad()
        with autograd.record():
            normalizer = self._log_normalizer(*params)
        gradients = autograd.grad(normalizer, params)
        entropy = normalizer.detach() - self._mean_carrier_measure(None)
        for p, g in zip(params, gradients):
            entropy = entropy - p * g
        return entropy
