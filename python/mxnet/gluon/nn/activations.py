"""Activation layers: elementwise, the output has the shape and dtype of the input."""
from ... import initializer
from ..block import HybridBlock

__all__ = ['Activation', 'LeakyReLU', 'PReLU', 'ELU', 'SELU', 'GELU', 'Swish', 'SiLU']


class Activation(HybridBlock):
    """The function named `activation`: 'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign' (and
    others the Activation operator has).

    >>> mx.gluon.nn.Activation('relu')(mx.nd.array([-1, 2])).asnumpy()
    array([0., 2.], dtype=float32)
    """

    def __init__(self, activation, **kwargs):
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self):
        return self._act_type

    def hybrid_forward(self, F, x):
        return F.Activation(x, act_type=self._act_type, name='fwd')

    def __repr__(self):
        return f'{type(self).__name__}({self._act_type})'


class LeakyReLU(HybridBlock):
    """x for x > 0, alpha * x otherwise; `alpha` >= 0 (Maas et al., 2013).

    >>> mx.gluon.nn.LeakyReLU(0.1)(mx.nd.array([-1, 2])).asnumpy()
    array([-0.1,  2. ], dtype=float32)
    """

    def __init__(self, alpha, **kwargs):
        assert alpha >= 0, f'[nn.LeakyReLU] alpha={alpha} given; a number >= 0 is accepted'
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type='leaky', slope=self._alpha, name='fwd')

    def __repr__(self):
        return f'{type(self).__name__}({self._alpha})'


class PReLU(HybridBlock):
    """Leaky ReLU whose slope is learned: one for all (`in_channels` = 1) or one per channel
    (axis 1) (He et al., "Delving Deep into Rectifiers", 2015).

    >>> layer = mx.gluon.nn.PReLU()
    >>> layer.initialize()
    >>> layer(mx.nd.array([[-1, 2]])).asnumpy()
    array([[-0.25,  2.  ]], dtype=float32)
    """

    def __init__(self, alpha_initializer=None, in_channels=1, **kwargs):
        super().__init__(**kwargs)
        if alpha_initializer is None:
            alpha_initializer = initializer.Constant(0.25)
        with self.name_scope():
            self.alpha = self.params.get('alpha', shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F, x, alpha):
        return F.LeakyReLU(x, gamma=alpha, act_type='prelu', name='fwd')


class ELU(HybridBlock):
    """x for x > 0, alpha * (exp(x) - 1) otherwise (Clevert et al., 2015).

    >>> mx.gluon.nn.ELU()(mx.nd.array([-1, 2])).asnumpy().round(3)
    array([-0.632,  2.   ], dtype=float32)
    """

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type='elu', slope=self._alpha)


class SELU(HybridBlock):
    """Scaled ELU with the constants of "Self-Normalizing Neural Networks" (Klambauer et al.,
    2017).

    >>> mx.gluon.nn.SELU()(mx.nd.array([-1, 2])).asnumpy().round(3)
    array([-1.111,  2.101], dtype=float32)
    """

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type='selu', name='fwd')


class GELU(HybridBlock):
    """x times the Gaussian distribution function of x (Hendrycks and Gimpel, 2016).

    >>> mx.gluon.nn.GELU()(mx.nd.array([-1, 2])).asnumpy().round(3)
    array([-0.159,  1.954], dtype=float32)
    """

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type='gelu', name='fwd')


class Swish(HybridBlock):
    """x * sigmoid(beta * x) (Ramachandran et al., "Searching for Activation Functions", 2017).

    >>> mx.gluon.nn.Swish(beta=2)(mx.nd.array([-1, 2])).asnumpy().round(3)
    array([-0.119,  1.964], dtype=float32)
    """

    def __init__(self, beta=1.0, **kwargs):
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F, x):
        return x * F.sigmoid(self._beta * x, name='fwd')


class SiLU(HybridBlock):
    """x * sigmoid(x) (Elfwing et al., 2017).

    >>> mx.gluon.nn.SiLU()(mx.nd.array([-1, 2])).asnumpy().round(3)
    array([-0.269,  1.762], dtype=float32)
    """

    def hybrid_forward(self, F, x):
        return x * F.sigmoid(x, name='fwd')
