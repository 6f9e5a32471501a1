"""Functions of arrays with inverses, and with the logarithms of their Jacobians' determinants."""
import weakref
from numbers import Number

from ...hybrid_block import HybridBlock
from .. import _functions as m
from ..distributions.utils import _clip_prob, cached_property, sum_right_most

__all__ = ["Transformation", "TransformBlock", "ComposeTransform", "ExpTransform", "AffineTransform", "PowerTransform", "AbsTransform",
           "SigmoidTransform", "SoftmaxTransform"]

# The inverses that somebody holds. Not attributes: some transformations are blocks, whose
# attributes may not change while a graph is recorded.
_inverses = weakref.WeakKeyDictionary()


class Transformation:
    """A function y = f(x) of arrays.

    A subclass defines ``_forward_compute(x)``, ``_inverse_compute(y)`` and
    ``log_det_jacobian(x, y)``, as far as there are formulas.

    Attributes
    ----------
    bijective : bool
    event_dim : int
        Axes of one value: 0 for functions element by element.
    sign : int or ndarray
        1 where f increases, -1 where it decreases.

    Examples
    --------
    >>> t = mx.gluon.probability.ExpTransform()
    >>> t.inv(t(mx.np.array([0.0])))
    array([0.])

    A transformation of one's own, with which a distribution is made:

    >>> class Cube(mx.gluon.probability.Transformation):
    ...     bijective, sign = True, 1
    ...     def _forward_compute(self, x):
    ...         return x ** 3
    ...     def _inverse_compute(self, y):
    ...         return mx.np.cbrt(y)
    ...     def log_det_jacobian(self, x, y):
    ...         return mx.np.log(3 * x ** 2)
    >>> cube, x = Cube(), mx.np.array([2.0])
    >>> forth, back = cube.log_det_jacobian(x, cube(x)), cube.inv.log_det_jacobian(cube(x), x)
    >>> forth.round(3), back.round(3), cube.sign
    (array([2.485]), array([-2.485]), 1)
    >>> base = mx.gluon.probability.Uniform(0.0, 4.0)
    >>> mx.gluon.probability.TransformedDistribution(base, cube).cdf(mx.np.array([8.0]))
    array([0.5])
    """

    bijective = False
    event_dim = 0
    _forward = None    # of an inverse

    @property
    def sign(self):
        """1 where the function increases, -1 where it decreases."""
        raise NotImplementedError

    @property
    def inv(self):
        """The inverse, whose `inv` is this."""
        if self._forward is not None:
            return self._forward
        inverse = _inverses[self]() if self in _inverses else None
        if inverse is None:
            inverse = self._inverted()
            inverse._forward = self
            _inverses[self] = weakref.ref(inverse)
        return inverse

    def _inverted(self):
        return _InverseTransformation()

    def __call__(self, x):
        return self._forward_compute(x)

    def _inv_call(self, y):
        return self._inverse_compute(y)

    def _forward_compute(self, x):
        raise NotImplementedError

    def _inverse_compute(self, y):
        raise NotImplementedError

    def log_det_jacobian(self, x, y):
        """The logarithm of the absolute determinant of the Jacobian at x, where y = f(x): of the
        shape of `x`, without its last ``event_dim`` axes."""
        raise NotImplementedError


class _InverseTransformation(Transformation):
    """The inverse of a transformation."""

    @property
    def bijective(self):
        return self._forward.bijective

    @property
    def event_dim(self):
        return self._forward.event_dim

    @property
    def sign(self):
        return self._forward.sign

    def __call__(self, x):
        return self._forward._inv_call(x)

    def _inv_call(self, y):
        return self._forward(y)

    def log_det_jacobian(self, x, y):
        return -self._forward.log_det_jacobian(y, x)


class TransformBlock(Transformation, HybridBlock):
    """A transformation with parameters: a block whose call is the transformation.

    Examples
    --------
    >>> class Scale(mx.gluon.probability.TransformBlock):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.dense = mx.gluon.nn.Dense(1)
    >>> len(Scale().collect_params())
    2
    """

    def __init__(self, *args, **kwargs):
        HybridBlock.__init__(self, *args, **kwargs)

    def forward(self, x):
        """The transformation."""
        return self._forward_compute(x)


class ComposeTransform(Transformation):
    """Several transformations, one after the other.

    Parameters
    ----------
    parts : list of Transformation
        The first one is applied first.

    Examples
    --------
    >>> p = mx.gluon.probability
    >>> p.ComposeTransform([p.AffineTransform(1.0, 2.0), p.AbsTransform()])(mx.np.array([-3.0]))
    array([5.])
    >>> t = p.ComposeTransform([p.AffineTransform(0.0, -2.0), p.ExpTransform()])    # exp(-2 x)
    >>> t.sign, t.bijective, t.event_dim, t.inv(t(mx.np.array([3.0])))
    (-1.0, True, 0, array([3.]))
    """

    def __init__(self, parts):
        super().__init__()
        self._parts = list(parts)

    def _forward_compute(self, x):
        for part in self._parts:
            x = part(x)
        return x

    def _inverse_compute(self, y):
        for part in reversed(self._parts):
            y = part.inv(y)
        return y

    @property
    def bijective(self):
        """Whether all parts are."""
        return all(part.bijective for part in self._parts)

    @cached_property
    def sign(self):
        """The product of the parts' signs."""
        sign = 1
        for part in self._parts:
            sign = sign * part.sign
        return sign

    @cached_property
    def event_dim(self):
        """The largest of the parts'."""
        return max((part.event_dim for part in self._parts), default=0)

    def _inverted(self):
        return ComposeTransform([part.inv for part in reversed(self._parts)])

    def log_det_jacobian(self, x, y):
        result = 0
        for part in self._parts:
            z = part(x)
            result = result + sum_right_most(part.log_det_jacobian(x, z), self.event_dim - part.event_dim)
            x = z
        return result


class ExpTransform(Transformation):
    """y = exp(x).

    Examples
    --------
    >>> mx.gluon.probability.ExpTransform()(mx.np.array([0.0]))
    array([1.])
    """

    bijective = True
    sign = 1

    def _forward_compute(self, x):
        return m.exp(x)

    def _inverse_compute(self, y):
        return m.log(y)

    def log_det_jacobian(self, x, y):
        return x


class AffineTransform(Transformation):
    """y = loc + scale * x.

    Parameters
    ----------
    loc, scale : number or ndarray
    event_dim : int
        Axes of one value, over which the logarithms of the Jacobian are summed.

    Examples
    --------
    >>> t, x = mx.gluon.probability.AffineTransform(1.0, -2.0), mx.np.array([3.0])
    >>> t(x), t.log_det_jacobian(x, t(x)), t.sign
    (array([-5.]), array([0.6931472]), -1.0)
    """

    bijective = True

    def __init__(self, loc, scale, event_dim=0):
        super().__init__()
        self._loc, self._scale, self.event_dim = loc, scale, event_dim

    def _forward_compute(self, x):
        return self._loc + self._scale * x

    def _inverse_compute(self, y):
        return (y - self._loc) / self._scale

    @property
    def sign(self):
        """The sign of `scale`."""
        return m.sign(self._scale)

    def log_det_jacobian(self, x, y):
        logs = m.log(abs(self._scale))
        logs = logs + 0 * x if not isinstance(x, Number) else logs
        return sum_right_most(logs, self.event_dim)


class PowerTransform(Transformation):
    """y = x^exponent, of positive numbers.

    Parameters
    ----------
    exponent : number or ndarray

    Examples
    --------
    >>> mx.gluon.probability.PowerTransform(2.0)(mx.np.array([3.0]))
    array([9.])
    >>> mx.gluon.probability.PowerTransform(-1.0).sign
    -1.0
    """

    bijective = True

    def __init__(self, exponent):
        super().__init__()
        self._exponent = exponent

    @property
    def sign(self):
        """The sign of the exponent."""
        return m.sign(self._exponent)

    def _forward_compute(self, x):
        return x ** self._exponent

    def _inverse_compute(self, y):
        return y ** (1 / self._exponent)

    def log_det_jacobian(self, x, y):
        return m.log(abs(self._exponent * y / x))


class SigmoidTransform(Transformation):
    """y = 1 / (1 + exp(-x)).

    Examples
    --------
    >>> mx.gluon.probability.SigmoidTransform()(mx.np.array([0.0]))
    array([0.5])
    """

    bijective = True
    sign = 1

    def _forward_compute(self, x):
        return _clip_prob(1 / (1 + m.exp(-x)))

    def _inverse_compute(self, y):
        y = _clip_prob(y)
        return m.log(y) - m.log1p(-y)

    def log_det_jacobian(self, x, y):
        return -m.softplus(-x) - m.softplus(x)


class SoftmaxTransform(Transformation):
    """Softmax along the last axis; the inverse gives logarithms.

    Examples
    --------
    >>> mx.gluon.probability.SoftmaxTransform()(mx.np.array([0.0, 0.0]))
    array([0.5, 0.5])
    """

    event_dim = 1

    def _forward_compute(self, x):
        return m.softmax(x)

    def _inverse_compute(self, y):
        return m.log(y)


class AbsTransform(Transformation):
    """y = abs(x); the inverse gives the positive one.

    Examples
    --------
    >>> mx.gluon.probability.AbsTransform()(mx.np.array([-2.0]))
    array([2.])
    """

    def _forward_compute(self, x):
        return abs(x)

    def _inverse_compute(self, y):
        return y
