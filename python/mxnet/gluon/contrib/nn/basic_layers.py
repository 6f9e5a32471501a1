"""Parallel branches, identity, embeddings of row_sparse tables, batch normalisation over several
devices and pixel shuffles."""
import warnings

from ....context import num_gpus
from ...block import Block, HybridBlock
from ...nn import BatchNorm, Concatenate, HybridConcatenate
from ...nn import Identity as _Identity

__all__ = ['Concurrent', 'HybridConcurrent', 'Identity', 'SparseEmbedding', 'SyncBatchNorm',
           'PixelShuffle1D', 'PixelShuffle2D', 'PixelShuffle3D']


class Concurrent(Concatenate):
    """Gives its input to every child and joins their outputs along `axis`.

    >>> net = mx.gluon.contrib.nn.Concurrent(axis=1)
    >>> net.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Dense(3))
    >>> net.initialize()
    >>> net(mx.nd.ones((4, 7))).shape
    (4, 5)
    """


class HybridConcurrent(HybridConcatenate):
    """Gives its input to every child, all HybridBlocks, and joins their outputs along `axis`.

    >>> net = mx.gluon.contrib.nn.HybridConcurrent(axis=1)
    >>> net.add(mx.gluon.nn.Dense(2), mx.gluon.contrib.nn.Identity())
    >>> net.initialize()
    >>> net(mx.nd.ones((4, 7))).shape
    (4, 9)
    """


class Identity(_Identity):
    """Returns its input; a branch of HybridConcurrent that is a shortcut.

    >>> mx.gluon.contrib.nn.Identity()(mx.nd.array([1, 2])).asnumpy()
    array([1., 2.], dtype=float32)
    """


class SparseEmbedding(Block):
    """Embedding whose table, (input_dim, output_dim), and its gradient are row_sparse: only rows
    that the input names are fetched from the Trainer's store.

    >>> layer = mx.gluon.contrib.nn.SparseEmbedding(1000, 16)
    >>> layer.initialize()
    >>> trainer = mx.gluon.Trainer(layer.collect_params(), 'sgd')
    >>> layer(mx.nd.array([3, 7])).shape
    (2, 16)
    """

    def __init__(self, input_dim, output_dim, dtype='float32', weight_initializer=None, **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {'input_dim': input_dim, 'output_dim': output_dim, 'dtype': dtype, 'sparse_grad': True}
        self.weight = self.params.get('weight', shape=(input_dim, output_dim), init=weight_initializer, dtype=dtype,
                                      grad_stype='row_sparse', stype='row_sparse')

    def forward(self, x):
        from .... import ndarray as nd
        weight = self.weight.row_sparse_data(x.reshape((-1,)))
        return nd.Embedding(x, weight, name='fwd', **self._kwargs)

    def __repr__(self):
        return '{}({input_dim} -> {output_dim}, {dtype})'.format(type(self).__name__, **self._kwargs)


class SyncBatchNorm(BatchNorm):
    """BatchNorm whose statistics in training are those of the batches of `num_devices` devices of
    this process together (Zhang et al., "Context Encoding for Semantic Segmentation", 2018).

    Every device must call the layer in each step: a call waits for the others, and raises an error
    after two minutes. Without `num_devices` it is the number of GPUs. Channels are axis 1.

    >>> layer = mx.gluon.contrib.nn.SyncBatchNorm(in_channels=2, num_devices=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((3, 2, 4, 4))).shape
    (3, 2, 4, 4)
    """

    def __init__(self, in_channels=0, num_devices=None, momentum=0.9, epsilon=1e-5, center=True, scale=True, use_global_stats=False,
                 beta_initializer='zeros', gamma_initializer='ones', running_mean_initializer='zeros',
                 running_variance_initializer='ones', **kwargs):
        super().__init__(1, momentum, epsilon, center, scale, use_global_stats, beta_initializer, gamma_initializer,
                         running_mean_initializer, running_variance_initializer, in_channels, **kwargs)
        if num_devices is None:
            warnings.warn('Caution using SyncBatchNorm: it waits for every GPU of this machine. '
                          'Give num_devices if fewer of them train.')
            num_devices = max(num_gpus(), 1)
        self._kwargs = {'eps': epsilon, 'momentum': momentum, 'fix_gamma': not scale, 'use_global_stats': use_global_stats,
                        'ndev': num_devices, 'key': self.prefix}

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var):
        return F.contrib.SyncBatchNorm(x, gamma, beta, running_mean, running_var, name='fwd', **self._kwargs)

    def __repr__(self):
        described = ', '.join(f'{k}={v!r}' for k, v in self._kwargs.items())
        return f'{type(self).__name__}({described}, in_channels={self.gamma.shape[0] or None})'


class _PixelShuffle(HybridBlock):
    """Moves factor^n channels into the n spatial axes (Shi et al., "Real-Time Single Image and
    Video Super-Resolution", 2016)."""

    _ndim = 2

    def __init__(self, factor):
        super().__init__()
        self._factors = (int(factor),) * self._ndim if isinstance(factor, (int, float)) else tuple(int(f) for f in factor)
        assert len(self._factors) == self._ndim, f'[PixelShuffle] factor={factor} given; an integer or {self._ndim} integers are accepted'

    def __repr__(self):
        return f'{type(self).__name__}({self._factors if self._ndim > 1 else self._factors[0]})'


class PixelShuffle1D(_PixelShuffle):
    """(N, f C, W) to (N, C, f W).

    >>> mx.gluon.contrib.nn.PixelShuffle1D(2)(mx.nd.ones((1, 8, 3))).shape
    (1, 4, 6)
    """

    _ndim = 1

    def hybrid_forward(self, F, x):
        f = self._factors[0]
        x = F.reshape(x, (0, -4, -1, f, 0))
        x = F.transpose(x, (0, 1, 3, 2))
        return F.reshape(x, (0, 0, -3))


class PixelShuffle2D(_PixelShuffle):
    """(N, f1 f2 C, H, W) to (N, C, f1 H, f2 W).

    >>> mx.gluon.contrib.nn.PixelShuffle2D((2, 3))(mx.nd.ones((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    """

    def hybrid_forward(self, F, x):
        f1, f2 = self._factors
        x = F.reshape(x, (0, -4, -1, f1 * f2, 0, 0))
        x = F.reshape(x, (0, 0, -4, f1, f2, 0, 0))
        x = F.transpose(x, (0, 1, 4, 2, 5, 3))
        return F.reshape(x, (0, 0, -3, -3))


class PixelShuffle3D(_PixelShuffle):
    """(N, f1 f2 f3 C, D, H, W) to (N, C, f1 D, f2 H, f3 W).

    >>> mx.gluon.contrib.nn.PixelShuffle3D(2)(mx.nd.ones((1, 8, 3, 5, 7))).shape
    (1, 1, 6, 10, 14)
    """

    _ndim = 3

    def hybrid_forward(self, F, x):
        f1, f2, f3 = self._factors
        x = F.reshape(x, (0, -4, -1, f1 * f2 * f3, 0, 0, 0))
        x = F.swapaxes(x, 2, 3)
        x = F.reshape(x, (0, 0, 0, -4, f1, f2 * f3, 0, 0))
        x = F.reshape(x, (0, 0, -3, 0, 0, 0))
        x = F.swapaxes(x, 3, 4)
        x = F.reshape(x, (0, 0, 0, 0, -4, f2, f3, 0))
        x = F.reshape(x, (0, 0, 0, -3, 0, 0))
        x = F.swapaxes(x, 4, 5)
        return F.reshape(x, (0, 0, 0, 0, -3))
