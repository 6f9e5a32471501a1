"""The chi-square distribution."""
from .constraint import Positive
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The chi-square distribution.

    Parameters
    ----------
    df : number or ndarray
        Degrees of freedom, above 0: the mean.
    validate_args : bool, optional

    Examples
    --------
    >>> mx.gluon.probability.Chi2(mx.np.array([3.0])).mean
    array([3.])
    >>> mx.gluon.probability.Chi2(mx.np.array([2.0, 4.0])).variance
    array([4., 8.])
    """

    arg_constraints = {"df": Positive()}

    def __init__(self, df, validate_args=None):
        super().__init__(df / 2, 2.0)
        if validate_args if validate_args is not None else self._validate_args:
            self._validate_args = True
            self.shape = Positive().check(self.shape)

    @property
    def df(self):
        """Degrees of freedom.

        >>> mx.gluon.probability.Chi2(mx.np.array([3.0])).df
        array([3.])
        """
        return self.shape * 2
