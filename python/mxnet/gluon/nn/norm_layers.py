"""Normalisation layers. gamma scales and beta shifts; without `scale` and `center` they stay at
their initial values."""
from ...util import is_np_array
from ..block import HybridBlock

__all__ = ['BatchNorm', 'BatchNormReLU', 'InstanceNorm', 'LayerNorm', 'GroupNorm']


class _BatchNorm(HybridBlock):
    """What BatchNorm and BatchNormReLU share."""

    fuse_relu = False

    def __init__(self, axis=1, momentum=0.9, epsilon=1e-5, center=True, scale=True, use_global_stats=False, beta_initializer='zeros',
                 gamma_initializer='ones', running_mean_initializer='zeros', running_variance_initializer='ones', in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {'axis': axis, 'eps': epsilon, 'momentum': momentum, 'fix_gamma': not scale, 'use_global_stats': use_global_stats}
        self._axis = axis
        if in_channels != 0:
            self.in_channels = in_channels
        shape = (in_channels,)
        self.gamma = self._vector('gamma', shape, gamma_initializer, scale)
        self.beta = self._vector('beta', shape, beta_initializer, center)
        self.running_mean = self._vector('running_mean', shape, running_mean_initializer, False)
        self.running_var = self._vector('running_var', shape, running_variance_initializer, False)

    def _vector(self, name, shape, init, trained):
        return self.params.get(name, grad_req='write' if trained else 'null', shape=shape, init=init, allow_deferred_init=True,
                               differentiable=trained)

    def cast(self, dtype):
        # Statistics in half precision lose too much: gamma, beta and the running statistics stay
        # float32.
        super().cast('float32' if str(dtype) in ('float16', 'bfloat16')
                     or getattr(dtype, '__name__', '') in ('float16', 'bfloat16') else dtype)

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var):
        operator = F.contrib.BatchNormWithReLU if self.fuse_relu else F.BatchNorm
        return operator(x, gamma, beta, running_mean, running_var, name='fwd', **self._kwargs)

    def __repr__(self):
        described = ', '.join(f'{k}={v!r}' for k, v in self._kwargs.items())
        return f'{type(self).__name__}({described}, in_channels={self.gamma.shape[0] or None})'


class BatchNorm(_BatchNorm):
    """Normalises each channel (index along `axis`) to mean 0 and variance 1 over the batch and all
    other axes.

    In training the statistics of the batch are used, and the running ones become momentum *
    running + (1 - momentum) * batch; in prediction, or with `use_global_stats`, the running ones
    are used. Input of 2 or more axes (Ioffe and Szegedy, 2015).

    >>> layer = mx.gluon.nn.BatchNorm()
    >>> layer.initialize()
    >>> x = mx.nd.array([[1, 10], [3, 30]])
    >>> with mx.autograd.train_mode():
    ...     y = layer(x)
    >>> y.asnumpy().round(3)
    array([[-1., -1.],
           [ 1.,  1.]], dtype=float32)
    """


class BatchNormReLU(_BatchNorm):
    """BatchNorm followed by ReLU, as one operator.

    >>> layer = mx.gluon.nn.BatchNormReLU()
    >>> layer.initialize()
    >>> with mx.autograd.train_mode():
    ...     y = layer(mx.nd.array([[1, 10], [3, 30]]))
    >>> y.asnumpy().round(3)
    array([[0., 0.],
           [1., 1.]], dtype=float32)
    """

    fuse_relu = True


class InstanceNorm(HybridBlock):
    """Normalises each channel of each sample over all other axes: input (N, C, *) with C at `axis`
    (Ulyanov et al., "Instance Normalization", 2016).

    >>> layer = mx.gluon.nn.InstanceNorm()
    >>> layer.initialize()
    >>> layer(mx.nd.array([[[1, 3], [10, 30]]])).asnumpy().round(3)
    array([[[-1.,  1.],
            [-1.,  1.]]], dtype=float32)
    """

    def __init__(self, axis=1, epsilon=1e-5, center=True, scale=False, beta_initializer='zeros', gamma_initializer='ones', in_channels=0,
                 **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {'eps': epsilon, 'axis': axis, 'center': center, 'scale': scale}
        self._axis = axis
        self._epsilon = epsilon
        self._center, self._scale = center, scale
        self.gamma = self.params.get('gamma', grad_req='write' if scale else 'null', shape=(in_channels,), init=gamma_initializer,
                                     allow_deferred_init=True)
        self.beta = self.params.get('beta', grad_req='write' if center else 'null', shape=(in_channels,), init=beta_initializer,
                                    allow_deferred_init=True)

    def hybrid_forward(self, F, x, gamma, beta):
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, name='fwd', eps=self._epsilon)
        x = x.swapaxes(1, self._axis)
        return F.InstanceNorm(x, gamma, beta, name='fwd', eps=self._epsilon).swapaxes(1, self._axis)

    def __repr__(self):
        return _described(self, self._kwargs, self.gamma.shape[0])


class LayerNorm(HybridBlock):
    """Normalises along `axis`, for every other index by itself (Ba et al., "Layer Normalization",
    2016).

    >>> layer = mx.gluon.nn.LayerNorm()
    >>> layer.initialize()
    >>> layer(mx.nd.array([[1, 3], [10, 30]])).asnumpy().round(3)
    array([[-1.,  1.],
           [-1.,  1.]], dtype=float32)
    """

    def __init__(self, axis=-1, epsilon=1e-5, center=True, scale=True, beta_initializer='zeros', gamma_initializer='ones', in_channels=0,
                 prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {'eps': epsilon, 'axis': axis, 'center': center, 'scale': scale}
        self._axis = axis
        self._epsilon = epsilon
        self._center, self._scale = center, scale
        self.gamma = self.params.get('gamma', grad_req='write' if scale else 'null', shape=(in_channels,), init=gamma_initializer,
                                     allow_deferred_init=True)
        self.beta = self.params.get('beta', grad_req='write' if center else 'null', shape=(in_channels,), init=beta_initializer,
                                    allow_deferred_init=True)

    def hybrid_forward(self, F, data, gamma, beta):
        return F.LayerNorm(data, gamma=gamma, beta=beta, axis=self._axis, eps=self._epsilon)

    def __repr__(self):
        return _described(self, self._kwargs, self.gamma.shape[0])


class GroupNorm(HybridBlock):
    """Normalises `num_groups` groups of channels of each sample by themselves: input (N, C, *)
    (Wu and He, "Group Normalization", 2018).

    gamma and beta have shape (num_groups,), as in 1.x. They have shape (C,), as in MXNet 2.0, under
    ``npx.set_np()`` and where `in_channels` is given.

    >>> layer = mx.gluon.nn.GroupNorm(num_groups=2)
    >>> layer.initialize()
    >>> layer(mx.nd.array([[[1], [3], [10], [30]]])).asnumpy().round(3).ravel()
    array([-1.,  1., -1.,  1.], dtype=float32)
    """

    def __init__(self, num_groups=1, epsilon=1e-5, center=True, scale=True, beta_initializer='zeros', gamma_initializer='ones',
                 prefix=None, params=None, in_channels=None):
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {'eps': epsilon, 'num_groups': num_groups, 'center': center, 'scale': scale}
        self._num_groups = num_groups
        self._by_channel = is_np_array() or in_channels is not None
        size = (in_channels or 0) if self._by_channel else num_groups
        self._epsilon = epsilon
        self._center, self._scale = center, scale
        self.gamma = self.params.get('gamma', grad_req='write' if scale else 'null', shape=(size,), init=gamma_initializer,
                                     allow_deferred_init=True)
        self.beta = self.params.get('beta', grad_req='write' if center else 'null', shape=(size,), init=beta_initializer,
                                    allow_deferred_init=True)

    def infer_shape(self, data):
        if self._by_channel:
            self.gamma.shape = self.beta.shape = (data.shape[1],)

    def hybrid_forward(self, F, data, gamma, beta):
        return F.GroupNorm(data, gamma=gamma, beta=beta, num_groups=self._num_groups, eps=self._epsilon)

    def __repr__(self):
        if self._by_channel:
            return _described(self, self._kwargs, self.gamma.shape[0])
        return f'{type(self).__name__}({", ".join(f"{k}={v!r}" for k, v in self._kwargs.items())})'


def _described(block, kwargs, in_channels):
    return f'{type(block).__name__}({", ".join(f"{k}={v!r}" for k, v in kwargs.items())}, in_channels={in_channels})'
