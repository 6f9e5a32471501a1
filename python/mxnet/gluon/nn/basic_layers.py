"""Containers, Dense, Dropout, Embedding, Flatten and blocks made of functions."""
import importlib
import inspect
import warnings

from ...base import CheckedValueError
from ..._arrays.classes import numpy_among
from ...util import is_np_array
from ... import ndarray as nd, symbol
from .._block import _listing
from ..block import Block, HybridBlock
from .activations import Activation
from .norm_layers import BatchNorm, BatchNormReLU, GroupNorm, InstanceNorm, LayerNorm

__all__ = ['Sequential', 'HybridSequential', 'Concatenate', 'HybridConcatenate', 'Identity', 'Dense', 'Dropout', 'Embedding', 'Flatten',
           'Lambda', 'HybridLambda', 'BatchNorm', 'BatchNormReLU', 'InstanceNorm', 'LayerNorm', 'GroupNorm']


class _Stack:
    """What the containers share: adding, indexing, iterating over the children in order."""

    def __repr__(self):
        return _listing(self, self._children)

    def add(self, *blocks):
        """Append blocks."""
        for block in blocks:
            self.register_child(block)

    def _run(self, x, args):
        for block in self._children.values():
            x = block(x, *args)
            args = ()
            if isinstance(x, (tuple, list)):
                x, args = x[0], tuple(x[1:])
        return (x, *args) if args else x

    def __len__(self):
        return len(self._children)

    def __iter__(self):
        return iter(self._children.values())

    def __getitem__(self, key):
        """The child at an index; for a slice, a container of the same kind with the same
        children."""
        layers = list(self._children.values())[key]
        if not isinstance(layers, list):
            return layers
        net = type(self)(prefix=self._prefix)
        net.add(*layers)
        return net


class Sequential(_Stack, Block):
    """Runs its children one after the other; several outputs of one become the arguments of the
    next.

    >>> net = mx.gluon.nn.Sequential()
    >>> net.add(mx.gluon.nn.Dense(16), mx.gluon.nn.Lambda('relu'))
    >>> net.initialize()
    >>> net(mx.nd.ones((2, 8))).shape
    (2, 16)
    """

    _is_sequence = True

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def forward(self, x, *args):
        return self._run(x, args)

    def hybridize(self, active=True, **kwargs):
        """As Block.hybridize; warns when a HybridSequential would compile all of it as one
        graph.

        >>> class Printing(mx.gluon.Block):
        ...     def forward(self, x):
        ...         print(x.shape)
        ...         return x
        >>> net = mx.gluon.nn.Sequential()
        >>> net.add(mx.gluon.nn.Dense(4), Printing(), mx.gluon.nn.Dense(2))
        >>> net.initialize()
        >>> net.hybridize()    # each Dense becomes a graph of its own
        >>> _ = net(mx.nd.ones((1, 3)))
        (1, 4)
        """
        if self._children and all(isinstance(c, HybridBlock) for c in self._children.values()):
            warnings.warn(f"All children of this Sequential layer '{self.prefix}' are HybridBlocks. "
                          'Consider using HybridSequential for the best performance.',
                          stacklevel=2)
        super().hybridize(active, **kwargs)


class HybridSequential(_Stack, HybridBlock):
    """Runs its children, which are HybridBlocks, one after the other; several outputs of one become
    the arguments of the next.

    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(16, activation='relu'), mx.gluon.nn.Dense(4))
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(mx.nd.ones((2, 8))).shape
    (2, 4)
    >>> len(net), net[1].weight.shape
    (2, (4, 16))
    """

    _is_sequence = True

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, x, *args):
        return self._run(x, args)


class Concatenate(Sequential):
    """Gives its input to every child and joins their outputs along `axis`.

    >>> net = mx.gluon.nn.Concatenate(axis=1)
    >>> net.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Dense(3))
    >>> net.initialize()
    >>> net(mx.nd.ones((4, 7))).shape
    (4, 5)
    """

    def __init__(self, axis=-1, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x):
        return nd.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class HybridConcatenate(HybridSequential):
    """Gives its input to every child, all HybridBlocks, and joins their outputs along `axis`.

    >>> net = mx.gluon.nn.HybridConcatenate(axis=1)
    >>> net.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Identity())
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(mx.nd.ones((4, 7))).shape
    (4, 9)
    """

    def __init__(self, axis=-1, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F, x):
        return F.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class Identity(HybridBlock):
    """Returns its input.

    >>> mx.gluon.nn.Identity()(mx.nd.array([1, 2])).asnumpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, x):
        return x


class Dense(HybridBlock):
    """activation(x W^T + b) with W of shape (units, in_units) and b of shape (units,).

    Input: with `flatten`, (N, *) taken as (N, in_units); otherwise (*, in_units), where all axes
    but the last stay. `in_units` = 0 is filled in by the first call.

    >>> layer = mx.gluon.nn.Dense(3, activation='relu')
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 4))).shape, layer.weight.shape
    ((2, 3), (3, 4))
    >>> mx.gluon.nn.Dense(3, in_units=5, flatten=False)
    Dense(5 -> 3, linear)
    """

    def __init__(self, units, activation=None, use_bias=True, flatten=True, dtype='float32', weight_initializer=None,
                 bias_initializer='zeros', in_units=0, **kwargs):
        super().__init__(**kwargs)
        self._units = units
        self._in_units = in_units
        self._flatten = flatten
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(units, in_units), init=weight_initializer, dtype=dtype, allow_deferred_init=True)
            self.bias = self.params.get('bias', shape=(units,), init=bias_initializer, dtype=dtype,
                                        allow_deferred_init=True) if use_bias else None
            self.act = Activation(activation, prefix=activation + '_') if activation is not None else None

    def hybrid_forward(self, F, x, weight, bias=None):
        out = F.FullyConnected(x, weight, bias, no_bias=bias is None, num_hidden=self._units, flatten=self._flatten, name='fwd')
        return out if self.act is None else self.act(out)

    def __repr__(self):
        shape = self.weight.shape
        return f'{type(self).__name__}({shape[1] or None} -> {shape[0]}, {self.act if self.act is not None else "linear"})'


class Dropout(HybridBlock):
    """In training, sets each element to 0 with probability `rate` and scales the others by 1 / (1 -
    rate); along `axes` one decision holds for all elements (Srivastava et al., 2014).

    >>> layer = mx.gluon.nn.Dropout(0.5)
    >>> layer(mx.nd.ones(4)).asnumpy()
    array([1., 1., 1., 1.], dtype=float32)
    >>> with mx.autograd.train_mode():
    ...     kept = (layer(mx.nd.ones(10000)) > 0).mean().asscalar()
    >>> bool(0.45 < kept < 0.55)
    True
    """

    def __init__(self, rate, axes=(), **kwargs):
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F, x):
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name='fwd', cudnn_off=False)
        return F.identity(x)

    def __repr__(self):
        return f'{type(self).__name__}(p = {self._rate}, axes={self._axes})'


class Embedding(HybridBlock):
    """Rows of a table of shape (input_dim, output_dim): input of any shape with indices, output
    shape + (output_dim,).

    `sparse_grad` makes the gradient row_sparse.

    >>> layer = mx.gluon.nn.Embedding(input_dim=100, output_dim=8)
    >>> layer.initialize()
    >>> layer(mx.nd.array([[1, 2, 3], [4, 5, 6]])).shape
    (2, 3, 8)
    """

    def __init__(self, input_dim, output_dim, dtype='float32', weight_initializer=None, sparse_grad=False, **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {'input_dim': input_dim, 'output_dim': output_dim, 'dtype': dtype, 'sparse_grad': sparse_grad}
        with self.name_scope():
            self.weight = self.params.get('weight', shape=(input_dim, output_dim), init=weight_initializer, dtype=dtype,
                                          allow_deferred_init=True, grad_stype='row_sparse' if sparse_grad else 'default')

    def cast(self, dtype):
        super().cast(dtype)
        self._kwargs['dtype'] = dtype

    def hybrid_forward(self, F, x, weight):
        return F.Embedding(x, weight, name='fwd', **self._kwargs)

    def __repr__(self):
        return '{}({input_dim} -> {output_dim}, {dtype})'.format(type(self).__name__, **self._kwargs)


class Flatten(HybridBlock):
    """(N, *) to (N, product of the rest).

    >>> mx.gluon.nn.Flatten()(mx.nd.ones((2, 3, 4))).shape
    (2, 12)
    """

    def hybrid_forward(self, F, x):
        return F.flatten(x)

    def __repr__(self):
        return type(self).__name__


def _numpy_function(name):
    """The function `name` of mx.np or mx.npx; None if neither has it."""
    for module in ('mxnet.numpy', 'mxnet.numpy_extension'):
        found = getattr(importlib.import_module(module), name, None)
        if callable(found):
            return found
    return None


def _takes_module(function, count):
    """Whether a function that is called with `count` arrays wants F before them, as in 1.x."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    if next(iter(signature.parameters), None) == 'F':
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return True
    return False


class Lambda(Block):
    """A Block from a function of arrays, or from the name of one of `mx.nd`; under
    ``npx.set_np()`` of one of `mx.np` or `mx.npx`.

    >>> mx.gluon.nn.Lambda('tanh')(mx.nd.zeros(2)).asnumpy()
    array([0., 0.], dtype=float32)
    >>> mx.gluon.nn.Lambda(lambda x: x[:, :2])(mx.nd.ones((3, 5))).shape
    (3, 2)
    """

    def __init__(self, function, prefix=None):
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            found = _numpy_function(function) if is_np_array() else None
            if found is None and not hasattr(nd, function):
                raise CheckedValueError(f'[nn.Lambda] {function!r} given; a function or the name of one in mx.nd is accepted')
            self._func_impl, self._func_name = found or getattr(nd, function), function
        elif callable(function):
            self._func_impl, self._func_name = function, getattr(function, '__name__', type(function).__name__)
        else:
            raise ValueError(f'[nn.Lambda] {type(function).__name__} given; a function or the name of one in mx.nd is accepted')

    def forward(self, *args):
        return self._func_impl(*args)

    def __repr__(self):
        return f'{type(self).__name__}({self._func_name})'


class HybridLambda(HybridBlock):
    """A HybridBlock from a function of (F, *inputs), or from a name that both `mx.nd` and `mx.sym`
    have. Called with mx.np arrays the function may do without F, as in MXNet 2.0, and the name may
    be one of `mx.np` or `mx.npx`.

    >>> net = mx.gluon.nn.HybridLambda(lambda F, x: F.clip(x, 0, 6))
    >>> net.hybridize()
    >>> net(mx.nd.array([-1, 3, 9])).asnumpy()
    array([0., 3., 6.], dtype=float32)
    """

    def __init__(self, function, prefix=None):
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            named = _numpy_function(function) if is_np_array() else None
            if named is None and not (hasattr(nd, function) and hasattr(symbol, function)):
                raise CheckedValueError(f'[nn.HybridLambda] {function!r} given; a function or a name in mx.nd and mx.sym is accepted')
            self._func_name = function
            self._func = lambda F, *args: (named if named and numpy_among(args) else getattr(F, function))(*args)
        elif callable(function):
            self._func, self._func_name = function, getattr(function, '__name__', type(function).__name__)
        else:
            raise ValueError(f'[nn.HybridLambda] {type(function).__name__} given; a function or a name in mx.nd and mx.sym is accepted')

    def hybrid_forward(self, F, x, *args):
        if numpy_among((x, *args)) and not _takes_module(self._func, 1 + len(args)):
            return self._func(x, *args)
        return self._func(F, x, *args)

    def __repr__(self):
        return f'{type(self).__name__}({self._func_name})'
