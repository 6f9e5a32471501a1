"""First values of parameters."""
import json
import logging
import math
import re
import warnings  # noqa: F401  (1.9.1 has it here)

import numpy as np

from ._training.initializers import InitDesc, Initializer, alias, create, register
from .base import CheckedTypeError, CheckedValueError
from . import ndarray as nd
from . import random, registry  # noqa: F401  (1.9.1 has registry here)
from ._display.repr import from_arguments, short
from .ndarray import NDArray

__all__ = ["Bilinear", "Constant", "FusedRNN", "InitDesc", "Initializer", "LSTMBias", "Load", "MSRAPrelu", "Mixed",
           "Normal", "One", "Orthogonal", "RNNFused", "Uniform", "Xavier", "Zero", "alias", "create", "register"]


class Load:
    """Takes values from a dictionary or a ``.params`` file, and the rest from another initializer.

    Parameters
    ----------
    param : str or dict of str to NDArray
        Values by name, with or without ``arg:`` or ``aux:`` in front.
    default_init : Initializer, optional
        For the names that are not there.
    verbose : bool
        Log where each value comes from.

    Examples
    --------
    >>> weight = mx.nd.zeros(2)
    >>> mx.init.Load({'arg:fc_weight': mx.nd.array([1, 2])})('fc_weight', weight)
    >>> weight.asnumpy()
    array([1., 2.], dtype=float32)
    """

    __repr__ = from_arguments()

    def __init__(self, param, default_init=None, verbose=False):
        if isinstance(param, str):
            param = nd.load(param)
        if not isinstance(param, dict):
            raise CheckedTypeError(f"[Load] param is a {type(param).__name__}; a file with names or a dict is expected")
        self.param = {name[4:] if name.startswith(("arg:", "aux:")) else name: value for name, value in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name, arr):
        """Fill `arr`. Raises ValueError if the shapes differ, or if there is neither a value nor
        another initializer."""
        if name in self.param:
            value = self.param[name]
            if arr.shape != value.shape:
                raise CheckedValueError(f"[Load] Parameter {name} cannot be initialized from loading. Shape mismatch, "
                                 f"target {arr.shape} vs loaded {value.shape}")
            arr[...] = value
            source = "loading"
        else:
            if self.default_init is None:
                raise CheckedValueError(f"[Load] Cannot Initialize {name}. Not found in loaded param and no default "
                                 "Initializer is provided.")
            self.default_init(name, arr)
            source = "default"
        if self.verbose:
            logging.info("Initialized %s by %s", name, source)


class Mixed:
    """The initializer of the first pattern that matches the beginning of the name.

    Parameters
    ----------
    patterns : list of str
        Regular expressions.
    initializers : list of Initializer
        One for each.

    Examples
    --------
    >>> init = mx.init.Mixed(['.*scale', '.*'], [mx.init.Constant(1), mx.init.Constant(7)])
    >>> scale, weight = mx.nd.zeros(2), mx.nd.zeros(2)
    >>> init('a_scale_weight', scale)
    >>> init('fc_weight', weight)
    >>> scale.asnumpy(), weight.asnumpy()
    (array([1., 1.], dtype=float32), array([7., 7.], dtype=float32))
    """

    def __repr__(self):
        return f"Mixed({short([(pattern.pattern, initializer) for pattern, initializer in self.map])})"

    def __init__(self, patterns, initializers):
        if len(patterns) != len(initializers):
            raise CheckedValueError(f"[Mixed] {len(patterns)} patterns and {len(initializers)} initializers")
        self.map = [(re.compile(p), init) for p, init in zip(patterns, initializers)]

    def __call__(self, name, arr):
        """Fill `arr`. Raises ValueError if no pattern matches."""
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, arr)
                return
        raise ValueError(f"[Mixed] Parameter name {name} did not match any pattern; "
                         'a last pattern ".*" would catch the rest')


@alias("zeros")
@register
class Zero(Initializer):
    """Weights of 0.

    >>> layer = mx.gluon.nn.Dense(1, in_units=2, weight_initializer=mx.init.Zero())
    >>> layer.initialize()
    >>> layer.weight.data().asnumpy()
    array([[0., 0.]], dtype=float32)
    """

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[...] = 0


@alias("ones")
@register
class One(Initializer):
    """Weights of 1.

    >>> layer = mx.gluon.nn.Dense(1, in_units=2, weight_initializer=mx.init.One())
    >>> layer.initialize()
    >>> layer.weight.data().asnumpy()
    array([[1., 1.]], dtype=float32)
    """

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[...] = 1


@register
class Constant(Initializer):
    """Weights of a given value: a number, or an array that broadcasts to the parameter's shape.

    >>> layer = mx.gluon.nn.Dense(1, in_units=2, weight_initializer=mx.init.Constant(0.5))
    >>> layer.initialize()
    >>> layer.weight.data().asnumpy()
    array([[0.5, 0.5]], dtype=float32)
    """

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, _, arr):
        arr[...] = self.value

    def dumps(self):
        value = self.value
        if isinstance(value, NDArray):
            value = value.asnumpy()
        if isinstance(value, (np.ndarray, np.generic)):
            value = value.tolist()
        return json.dumps([type(self).__name__.lower(), {"value": value}])


@register
class Uniform(Initializer):
    """Weights drawn uniformly from ``[-scale, scale]``.

    >>> layer = mx.gluon.nn.Dense(100, in_units=100)
    >>> layer.initialize(mx.init.Uniform(0.1))
    >>> bool(layer.weight.data().abs().max().asscalar() <= 0.1)
    True
    """

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        random.uniform(-self.scale, self.scale, out=arr)


@register
class Normal(Initializer):
    """Weights drawn from a normal distribution with mean 0 and standard deviation `sigma`.

    >>> layer = mx.gluon.nn.Dense(100, in_units=100)
    >>> layer.initialize(mx.init.Normal(0.1))
    >>> bool(abs(layer.weight.data().asnumpy().std() - 0.1) < 0.01)
    True
    """

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        random.normal(0, self.sigma, out=arr)


@register
class Orthogonal(Initializer):
    """Weights whose rows (or columns, if those are fewer) are orthogonal (Saxe, McClelland and
    Ganguli, 2013).

    Parameters
    ----------
    scale : float
        Their length.
    rand_type : {'uniform', 'normal'}
        Distribution of the matrix from which they are made.

    Examples
    --------
    >>> layer = mx.gluon.nn.Dense(2, in_units=2)
    >>> layer.initialize(mx.init.Orthogonal(scale=1))
    >>> weight = layer.weight.data()
    >>> abs(mx.nd.dot(weight, weight.T).asnumpy()).round(3)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(self, scale=1.414, rand_type="uniform"):
        if rand_type not in ("uniform", "normal"):
            raise ValueError(f"[Orthogonal] rand_type={rand_type!r}; 'uniform' and 'normal' are accepted")
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, _, arr):
        shape = arr.shape[0], int(np.prod(arr.shape[1:]))
        if self.rand_type == "uniform":
            start = random.uniform(-1.0, 1.0, shape=shape)
        else:
            start = random.normal(0.0, 1.0, shape=shape)
        u, _, v = np.linalg.svd(start.asnumpy(), full_matrices=False)
        arr[...] = (self.scale * (u if u.shape == shape else v)).reshape(arr.shape)


@register
class Xavier(Initializer):
    """Weights whose scale keeps the variance from layer to layer (Glorot and Bengio, 2010).

    Parameters
    ----------
    rnd_type : {'uniform', 'gaussian'}
        Distribution: uniform in ``[-c, c]`` or normal with standard deviation c, ``c =
        sqrt(magnitude / factor)``.
    factor_type : {'avg', 'in', 'out'}
        The factor: inputs of a unit, outputs of a unit, or their mean.
    magnitude : float

    Examples
    --------
    >>> layer = mx.gluon.nn.Dense(50, in_units=100)
    >>> layer.initialize(mx.init.Xavier(magnitude=3))
    >>> bool(layer.weight.data().abs().max().asscalar() <= (3 / 75) ** 0.5)
    True
    """

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name, arr):
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(f"[{type(self).__name__}] Xavier initializer cannot be applied to vector {name} of shape "
                             f"{shape}. It requires at least 2D.")
        window = float(np.prod(shape[2:]))
        inputs, outputs = shape[1] * window, shape[0] * window
        factors = {"avg": (inputs + outputs) / 2.0, "in": inputs, "out": outputs}
        if self.factor_type not in factors:
            raise ValueError(f"[Xavier] Incorrect factor type {self.factor_type!r}; accepted are {', '.join(factors)}")
        scale = math.sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            random.uniform(-scale, scale, out=arr)
        elif self.rnd_type == "gaussian":
            random.normal(0, scale, out=arr)
        else:
            raise ValueError(f"[Xavier] Unknown random type {self.rnd_type!r}; accepted are uniform, gaussian")


@register
class MSRAPrelu(Xavier):
    """Xavier for rectifiers (He et al., 2015).

    Parameters
    ----------
    factor_type : {'avg', 'in', 'out'}
        As in :class:`Xavier`.
    slope : float
        Slope of the PReLU for negative inputs.

    Examples
    --------
    >>> layer = mx.gluon.nn.Conv2D(8, 3, in_channels=4)
    >>> layer.initialize(mx.init.MSRAPrelu())
    >>> layer.weight.data().shape
    (8, 4, 3, 3)
    """

    def __init__(self, factor_type="avg", slope=0.25):
        super().__init__("gaussian", factor_type, 2. / (1 + slope ** 2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """Weights with which a deconvolution interpolates bilinearly; for arrays of four dimensions.

    >>> weight = mx.nd.zeros((1, 1, 4, 4))
    >>> mx.init.Bilinear()('upsampling_weight', weight)
    >>> weight[0, 0, 1].asnumpy()
    array([0.1875, 0.5625, 0.5625, 0.1875], dtype=float32)
    """

    def __init__(self):
        super().__init__()

    def _init_weight(self, name, arr):
        shape = arr.shape
        if len(shape) != 4:
            raise ValueError(f"[Bilinear] {name} has shape {shape}; four dimensions are expected")
        factor = math.ceil(shape[3] / 2.)
        centre = (2 * factor - 1 - factor % 2) / (2. * factor)
        rows = 1 - np.abs(np.arange(shape[2]) / factor - centre)
        columns = 1 - np.abs(np.arange(shape[3]) / factor - centre)
        arr[...] = np.broadcast_to(np.outer(rows, columns).astype(np.float32), shape).copy()


@register
class LSTMBias(Initializer):
    """Biases of an LSTM cell: `forget_bias` for the forget gate, the second quarter; 0 for the
    others.

    >>> cell = mx.gluon.rnn.LSTMCell(2, input_size=3, i2h_bias_initializer=mx.init.LSTMBias(1.0))
    >>> cell.initialize()
    >>> cell.i2h_bias.data().asnumpy()
    array([0., 0., 1., 1., 0., 0., 0., 0.], dtype=float32)
    """

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, _, arr):
        arr[...] = 0.0
        hidden = arr.shape[0] // 4
        arr[hidden:2 * hidden] = self.forget_bias


_GATES = {"rnn_relu": [""], "rnn_tanh": [""], "lstm": ["_i", "_f", "_c", "_o"], "gru": ["_r", "_z", "_o"]}


@register
class FusedRNN(Initializer):
    """The parameters of a fused recurrent layer: one vector that holds the weights and biases of
    all gates.

    Parameters
    ----------
    init : Initializer, str or None
        For the parts; None: the initializer of the network.
    num_hidden, num_layers : int
        Of the layer.
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
        Kind of the layer.
    bidirectional : bool
        Whether it has both directions.
    forget_bias : float
        Bias of the forget gates of an LSTM.

    Raises
    ------
    ValueError
        for an unknown mode, and for a vector whose size does not fit.

    Examples
    --------
    >>> parameters = mx.nd.zeros(4 * 2 * (3 + 2 + 2))    # 4 gates of 2 units, for inputs of size 3
    >>> init = mx.init.FusedRNN('zeros', num_hidden=2, num_layers=1, mode='lstm')
    >>> init(mx.init.InitDesc('lstm_weight'), parameters)
    >>> parameters[-16:].reshape((2, 4, 2)).asnumpy()[:, 1]    # biases of the forget gate
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """

    def __init__(self, init, num_hidden, num_layers, mode, bidirectional=False, forget_bias=1.0):
        if isinstance(init, str):
            init = create(init)
        if mode not in _GATES:
            raise ValueError(f"[FusedRNN] mode={mode!r}; accepted are {', '.join(_GATES)}")
        super().__init__(init=init.dumps() if init is not None else None, num_hidden=num_hidden,
                         num_layers=num_layers, mode=mode, bidirectional=bidirectional, forget_bias=forget_bias)
        self._init = init
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._forget_bias = forget_bias

    def _parts(self, size):
        """Names and shapes of the parts in the order of the vector: all weights by layer and
        direction, then all biases."""
        hidden, gates = self._num_hidden, _GATES[self._mode]
        directions = ["l", "r"] if self._bidirectional else ["l"]
        # size = sum of g * h * (inputs + h + 2) over layers and directions; only the first layer's
        # inputs are unknown.
        rows = len(gates) * hidden * len(directions)
        upper = (self._num_layers - 1) * (hidden * len(directions) + hidden + 2)
        inputs, rest = divmod(size, rows)
        inputs -= upper + hidden + 2
        if rest or inputs < 1:
            raise ValueError(f"[FusedRNN] {size} parameters do not fit a {self._mode} of {self._num_layers} layers "
                             f"with {hidden} units")
        for ending, width in (("weight", lambda layer: inputs if layer == 0 else hidden * len(directions)),
                              ("bias", None)):
            for layer in range(self._num_layers):
                for direction in directions:
                    for side in ("i2h", "h2h"):
                        if ending == "bias":
                            shape = (hidden,)
                        else:
                            shape = (hidden, width(layer) if side == "i2h" else hidden)
                        for gate in gates:
                            yield f"{direction}{layer}_{side}{gate}_{ending}", shape

    def _init_weight(self, desc, arr):
        init = self._init if self._init is not None else getattr(desc, "global_init", None)
        if init is None:
            raise ValueError(f"[FusedRNN] no initializer for the parts of {desc}")
        vector = arr.reshape((-1,))
        start = 0
        for name, shape in self._parts(arr.size):
            end = start + int(np.prod(shape))
            if self._mode == "lstm" and name.endswith("_f_bias"):
                vector[start:end] = self._forget_bias
            else:
                part = nd.zeros(shape, ctx=arr.context, dtype=arr.dtype)
                init(InitDesc(name, global_init=init), part)
                vector[start:end] = part.reshape((-1,))
            start = end
        if vector is not arr:
            arr[...] = vector.reshape(arr.shape)


_RNN_PARTS = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias", "h2r_weight")


@register
class RNNFused(Initializer):
    """The parameters of a fused recurrent layer, one vector: each kind of part by an initializer of
    its own. All weights come first, by layer and direction; then all biases.

    Parameters
    ----------
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
        Kind of the layer.
    num_layers, state_size : int
        Of the layer.
    bidirectional : bool
        Whether it has both directions.
    projection_size : int, optional
        Size that the states of an LSTM are projected to.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, \
    h2r_weight_initializer : str or Initializer, optional
        For the parts; None: what :meth:`set_initializer` was given.

    Examples
    --------
    >>> weights = mx.nd.zeros((2 * (3 + 2) + 2 * 2,))
    >>> init = mx.init.RNNFused("rnn_tanh", 1, 2, i2h_weight_initializer="one", h2h_weight_initializer="zero",
    ...                         i2h_bias_initializer="zero", h2h_bias_initializer="one")
    >>> init(mx.init.InitDesc("rnn_weight"), weights)
    >>> weights.asnumpy()
    array([1., 1., 1., 1., 1., 1., 0., 0., 0., 0., 0., 0., 1., 1.], dtype=float32)
    """

    def __init__(self, mode, num_layers, state_size, bidirectional=False, projection_size=None, i2h_weight_initializer=None,
                 h2h_weight_initializer=None, i2h_bias_initializer=None, h2h_bias_initializer=None, h2r_weight_initializer=None):
        if mode not in _GATES:
            raise ValueError(f"[RNNFused] mode={mode!r}; accepted are {', '.join(_GATES)}")
        given = (i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, h2r_weight_initializer)
        written = [i.dumps() if isinstance(i, Initializer) else i for i in given]
        super().__init__(mode=mode, num_layers=num_layers, state_size=state_size, bidirectional=bidirectional,
                         projection_size=projection_size, **{f"{part}_initializer": w for part, w in zip(_RNN_PARTS, written)})
        self._layout = len(_GATES[mode]), num_layers, state_size, 2 if bidirectional else 1, projection_size or 0
        self._initializers = dict(zip(_RNN_PARTS, given))
        self._default = None

    def set_initializer(self, init):
        """For the parts that have none of their own: a name or an Initializer.

        >>> init = mx.init.RNNFused("rnn_tanh", 1, 2, i2h_weight_initializer="one")
        >>> init.set_initializer("zero")
        >>> weights = mx.nd.full((2 * (3 + 2) + 2 * 2,), 7)
        >>> init(mx.init.InitDesc("rnn_weight"), weights)
        >>> weights.asnumpy()
        array([1., 1., 1., 1., 1., 1., 0., 0., 0., 0., 0., 0., 0., 0.], dtype=float32)
        """
        self._default = init

    def _parts(self, size):
        """Kinds and shapes of the parts, in order."""
        gates, layers, state, directions, projected = self._layout
        rows, hidden = gates * state, projected or state
        # size = directions * (rows * (inputs + hidden + 2) + projection) of each layer; the inputs
        # of the first are unknown.
        each = rows * (hidden + 2) + projected * state
        inputs, rest = divmod(size - directions * (layers * each + (layers - 1) * rows * hidden * directions), directions * rows)
        if rest or inputs < 1:
            raise ValueError(f"[RNNFused] {size} parameters do not fit {layers} layers with {state} units")
        for layer in range(layers):
            for _ in range(directions):
                yield "i2h_weight", (rows, inputs if layer == 0 else hidden * directions)
                yield "h2h_weight", (rows, hidden)
                if projected:
                    yield "h2r_weight", (projected, state)
        for _ in range(layers * directions):
            yield "i2h_bias", (rows,)
            yield "h2h_bias", (rows,)

    def _init_weight(self, _, arr):
        vector = arr.reshape((-1,))
        start = 0
        for part, shape in self._parts(arr.size):
            init = self._initializers[part] if self._initializers[part] is not None else self._default
            if not isinstance(init, (str, Initializer)):
                raise TypeError(f"[RNNFused] the initializer of {part} is {init!r}; accepted: the name of one, or an Initializer")
            values = nd.zeros(shape, ctx=arr.context, dtype=arr.dtype)
            (create(init) if isinstance(init, str) else init)._init_weight(InitDesc(part), values)
            end = start + values.size
            vector[start:end] = values.reshape((-1,))
            start = end
