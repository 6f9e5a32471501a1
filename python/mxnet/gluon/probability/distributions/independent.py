"""Batches of distributions as distributions of arrays."""
from .distribution import Distribution
from .utils import sum_right_most

__all__ = ["Independent"]


class Independent(Distribution):
    """The last axes of a batch shape become event axes: `log_prob` and `entropy` are summed over
    them.

    Parameters
    ----------
    base_distribution : Distribution
    reinterpreted_batch_ndims : int
        How many axes.
    validate_args : bool, optional

    Examples
    --------
    >>> base = mx.gluon.probability.Normal(mx.np.zeros((3, 2)), 1.0)
    >>> mx.gluon.probability.Independent(base, 1).log_prob(mx.np.zeros((3, 2))).shape
    (3,)
    >>> rows = mx.gluon.probability.Independent(base, 1)
    >>> rows.sample().shape, rows.sample((5, 3, 2)).shape, rows.sample_n(4).shape, rows.event_dim
    ((3, 2), (5, 3, 2), (4, 3, 2), 1)
    >>> rows.has_grad, rows.has_enumerate_support, rows.support.words()
    (True, False, 'a real tensor')
    """

    arg_constraints = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        if not 0 <= reinterpreted_batch_ndims <= len(base_distribution._batch_shape()):
            raise ValueError(f"[Independent] reinterpreted_batch_ndims={reinterpreted_batch_ndims}; accepted: from 0 to "
                             f"{len(base_distribution._batch_shape())}, the axes of the batch")
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(event_dim=base_distribution.event_dim + reinterpreted_batch_ndims, validate_args=validate_args)

    @property
    def has_grad(self):
        """Whether gradients flow from draws."""
        return self.base_dist.has_grad

    @property
    def has_enumerate_support(self):
        """Only without event axes of its own can the support be listed."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @property
    def support(self):
        """That of the base distribution."""
        return self.base_dist.support

    def _batch_shape(self):
        shape = self.base_dist._batch_shape()
        return shape[:len(shape) - self.reinterpreted_batch_ndims]

    def broadcast_to(self, batch_shape):
        shape = self.base_dist._batch_shape()
        base = self.base_dist.broadcast_to(tuple(batch_shape) + shape[len(shape) - self.reinterpreted_batch_ndims:])
        return type(self)(base, self.reinterpreted_batch_ndims, validate_args=self._validate_args)

    def sample(self, size=None):
        """Draws of the base distribution, whose batch shape `size` is: it holds the event axes,
        too."""
        return self.base_dist.sample(size)

    def sample_n(self, size=None):
        return self.base_dist.sample_n(size)

    def log_prob(self, value):
        return sum_right_most(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def variance(self):
        return self.base_dist.variance

    def entropy(self):
        return sum_right_most(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self):
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support()

    def __repr__(self):
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
