"""The Poisson distribution."""
from .. import _functions as m
from .... import numpy as np
from .constraint import NonNegativeInteger, Positive
from .distribution import where_inside
from .exp_family import ExponentialFamily

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """The Poisson distribution.

    Parameters
    ----------
    rate : number or ndarray
        The mean.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Poisson(mx.np.array([2.0])).variance
    array([2.])
    >>> mx.gluon.probability.Poisson(mx.np.array([1.0, 10.0])).entropy().round(3)
    array([1.305, 2.561])
    """

    support = NonNegativeInteger()
    arg_constraints = {"rate": Positive()}
    _parameters = {"rate": 0}

    def __init__(self, rate=1.0, validate_args=None):
        self.rate = rate
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return m.call("_npx_tensor_poisson", (m.broadcast_to(self.rate, shape),))

    def _log_prob(self, value):
        return where_inside(value, value >= 0, 1.0, lambda x: m.xlogy(x, self.rate) - self.rate - m.gammaln(x + 1))

    @property
    def mean(self):
        return self.rate

    @property
    def variance(self):
        return self.rate

    @property
    def _natural_params(self):
        return (m.log(self.rate),)

    def _log_normalizer(self, x):
        return m.exp(x)

    def entropy(self):
        """The entropy in nats, of batch shape. There is no closed form: it is the sum over what has
        a probability that float64 sees, so it waits for the rate."""
        rate = m.broadcast_to(self.rate, m.shape_of(self.rate))
        counts = int(float(np.max(rate))) + 20 + int(12 * float(np.max(rate)) ** 0.5)
        logs = Poisson(np.expand_dims(rate, -1)).log_prob(np.arange(counts, dtype=rate.dtype))
        return -np.sum(m.exp(logs) * logs, axis=-1)
