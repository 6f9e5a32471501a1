"""The base of initializers, the names that parameters may have, and the registry.

The classes say that :mod:`mxnet.initializer`, which collects them, is their home.
"""
import json
import logging
import math
import warnings

import numpy as np

from .. import ndarray as nd
from .. import registry
from .._display.repr import short
from ..ndarray import NDArray

__all__ = ["InitDesc", "Initializer", "alias", "create", "register"]
_HOME = "mxnet.initializer"


class InitDesc(str):
    """A parameter's name that carries what its initialisation needs to know.

    Parameters
    ----------
    name : str
        Name of the parameter.
    attrs : dict of str to str, optional
        Its attributes; ``__init__`` names an initializer that goes before the rules for names.
    global_init : Initializer, optional
        The initializer of the whole network.

    Examples
    --------
    >>> weight = mx.nd.zeros(2)
    >>> mx.init.One()(mx.init.InitDesc('fc_weight'), weight)
    >>> weight.asnumpy()
    array([1., 1.], dtype=float32)
    """

    __module__ = _HOME

    def __new__(cls, name, attrs=None, global_init=None):
        self = super().__new__(cls, name)
        self.attrs = attrs or {}
        self.global_init = global_init
        return self


class Initializer:
    """Base of the initializers; a subclass defines `_init_weight(name, arr)`.

    Called with a name and an array, it fills the array by the end of the name: weights as the
    subclass says; biases, beta, minimum, moving (running) means with 0; gamma, maximum and moving
    (running) variances with 1.

    Parameters
    ----------
    **kwargs
        The parameters of the subclass, from which :meth:`dumps` can write it down.

    Examples
    --------
    >>> class Counting(mx.init.Initializer):
    ...     def _init_weight(self, name, array):
    ...         array[:] = mx.nd.arange(array.size).reshape(array.shape)
    >>> layer = mx.gluon.nn.Dense(2, in_units=3)
    >>> layer.initialize(Counting())
    >>> layer.weight.data().asnumpy()
    array([[0., 1., 2.],
           [3., 4., 5.]], dtype=float32)
    """

    __module__ = _HOME

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._verbose = False
        self._print_func = None

    def set_verbosity(self, verbose=False, print_func=None):
        """Log each initialisation, with what `print_func` says of the array: by default the root of
        its mean square.

        >>> init = mx.init.One().set_verbosity(True, lambda array: str(array.shape))
        >>> init(mx.init.InitDesc('fc_weight'), mx.nd.zeros(2))
        """
        self._verbose = verbose
        self._print_func = print_func or (lambda x: str((nd.norm(x) / math.sqrt(x.size)).item()))
        return self

    def _log(self, name, rule, arr):
        if self._verbose and self._print_func:
            logging.info("Initialized %s as %s: %s", name, rule, self._print_func(arr))

    def dumps(self):
        """The initializer as JSON ``'["name", {parameters}]'``, which :func:`create` reads.

        >>> mx.init.Xavier().dumps()
        '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 3}]'
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc, arr):
        """Fill `arr` in place.

        Parameters
        ----------
        desc : InitDesc
            Name and attributes of the parameter; a plain string has no attributes (deprecated).
        arr : NDArray

        Raises
        ------
        ValueError
            if no rule is there for the name.
        TypeError
            if `desc` is not a string or `arr` not an NDArray.
        """
        if not isinstance(desc, InitDesc):
            warnings.warn("Calling initializer with init(str, NDArray) has been deprecated. "
                          "An InitDesc takes the place of the plain string.",
                          DeprecationWarning, stacklevel=2)
            if not isinstance(desc, str):
                raise TypeError(f"[initializer] name must be string, {type(desc).__name__} was given")
            if not isinstance(arr, NDArray):
                raise TypeError(f"[initializer] arr must be NDArray, {type(arr).__name__} was given")
            if self._init_special(desc, arr):
                return
            desc = InitDesc(desc)
        if desc.global_init is None:
            desc.global_init = self
        rule = desc.attrs.get("__init__", "")
        if rule:
            create(rule)._init_weight(desc, arr)
            self._log(desc, rule, arr)
            return
        for ending, method in _RULES:
            if desc.endswith(ending):
                getattr(self, method)(desc, arr)
                self._log(desc, ending, arr)
                return
        self._init_default(desc, arr)

    def _init_special(self, name, arr):
        """Names with a meaning of their own in old networks: bilinear upsampling, spatial
        transformers."""
        if name.startswith("upsampling"):
            self._init_bilinear(name, arr)
        elif name.startswith("stn_loc") and name.endswith("weight"):
            self._init_zero(name, arr)
        elif name.startswith("stn_loc") and name.endswith("bias"):
            self._init_loc_bias(name, arr)
        else:
            return False
        return True

    # Programs of 1.x call these for weights that they make themselves.
    def _init_bilinear(self, name, arr):
        create("bilinear")._init_weight(name, arr)

    def _init_loc_bias(self, name, arr):
        if arr.shape[0] != 6:
            raise ValueError(f"[initializer] {name} has shape {arr.shape}; an affine transform has 6 numbers")
        arr[...] = np.array([1.0, 0, 0, 0, 1.0, 0])

    def _init_zero(self, _, arr):
        arr[...] = 0.0

    def _init_one(self, _, arr):
        arr[...] = 1.0

    def _init_bias(self, _, arr):
        arr[...] = 0.0

    def _init_gamma(self, _, arr):
        arr[...] = 1.0

    def _init_beta(self, _, arr):
        arr[...] = 0.0

    def _init_weight(self, name, arr):
        raise NotImplementedError("Must override it")

    def _init_quantized_weight(self, _, arr):
        arr[...] = np.random.randint(-127, 127, size=arr.shape)

    def _init_default(self, name, _):
        raise ValueError(f"[initializer] Unknown initialization pattern for {name}: the name ends in none of "
                         f"{', '.join(ending for ending, _ in _RULES)}; give the variable an initializer with init=")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={short(value)}' for name, value in vars(self).get('_kwargs', {}).items())})"

    def __eq__(self, other):
        return type(self) is type(other) and self.dumps() == other.dumps()

    __hash__ = None


_RULES = (("weight", "_init_weight"), ("bias", "_init_bias"), ("gamma", "_init_gamma"), ("beta", "_init_beta"),
          ("min", "_init_zero"), ("max", "_init_one"), ("weight_quantize", "_init_quantized_weight"),
          ("moving_mean", "_init_zero"), ("running_mean", "_init_zero"),
          ("moving_var", "_init_one"), ("running_var", "_init_one"),
          ("moving_inv_var", "_init_zero"), ("moving_avg", "_init_zero"))

_enter = registry.get_register_func(Initializer, "initializer")
_enter_as = registry.get_alias_func(Initializer, "initializer")
_create = registry.get_create_func(Initializer, "initializer")

KEPT = {}    # initializers that no text can describe, by the name that stands for them in a graph


def alias(*aliases):
    """Class decorator: make the initializer known under further names.

    >>> @mx.init.alias('nines', 'all_nines')
    ... class Nines(mx.init.Constant):
    ...     def __init__(self):
    ...         super().__init__(9)
    >>> layer = mx.gluon.nn.Dense(1, in_units=2, weight_initializer='nines')
    >>> layer.initialize()
    >>> layer.weight.data().asnumpy()
    array([[9., 9.]], dtype=float32)
    """
    return _enter_as(*aliases)


def create(*args, **kwargs):
    """An initializer from its name, from JSON or from a dictionary; an instance is returned as it
    is.

    >>> mx.init.create('normal', sigma=0.1)
    Normal(sigma=0.1)
    >>> mx.init.create(mx.init.Xavier(magnitude=2).dumps()).dumps()
    '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 2}]'
    """
    if len(args) == 1 and isinstance(args[0], str) and args[0] in KEPT:
        return KEPT[args[0]]
    return _create(*args, **kwargs)


def register(klass):
    """Class decorator: make the initializer known under its name in lower case.

    >>> @mx.init.register
    ... class Sevens(mx.init.Initializer):
    ...     def _init_weight(self, name, array):
    ...         array[:] = 7
    >>> layer = mx.gluon.nn.Dense(1, in_units=2, weight_initializer='sevens')
    >>> layer.initialize()
    >>> layer.weight.data().asnumpy()
    array([[7., 7.]], dtype=float32)
    """
    return _enter(klass)


alias.__module__ = create.__module__ = register.__module__ = _HOME
