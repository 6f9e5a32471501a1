"""ParameterDict: the Parameters of a block by full name, with sharing and the .params file
formats."""
import io
from collections import OrderedDict

import numpy as np

from .. import initializer, ndarray as nd
from .._files.whole_files import write_file
from ..util import accepts_device, is_np_array
from ._constant import Constant
from ._parameter import Parameter
from .utils import _brief_print_list, _indent

__all__ = ['ParameterDict']


def strip_arg_aux(arrays):
    """{name: array} of a file without the `arg:` and `aux:` marks that `export` and
    `save_checkpoint` write."""
    return {k[4:] if k.startswith(('arg:', 'aux:')) else k: v for k, v in arrays.items()}


def named_arrays(arrays, source, function):
    """What `nd.load` read, as {name: array}. A file of no arrays has no names: it is {}."""
    if not isinstance(arrays, dict) and len(arrays):
        raise ValueError(f'[{function}] {source} holds arrays without names; named arrays are accepted')
    return arrays or {}


def save_arrays(filename, arrays):
    """Write {name: array}: as ``numpy.savez`` does where the name ends in ``.npz``, else in the
    format of 1.x."""
    if not str(filename).endswith('.npz'):
        nd.save(filename, {name: array.as_nd_ndarray() if array.stype == 'default' else array for name, array in arrays.items()})
        return
    content = io.BytesIO()
    np.savez(content, **{name: array.asnumpy() for name, array in arrays.items()})
    write_file(filename, content.getvalue())


class ParameterDict:
    """Ordered mapping of full name -> Parameter. Names made by `get` begin with `prefix`.

    Parameters
    ----------
    prefix : str
    shared : ParameterDict, optional
        `get` returns a Parameter of `shared` where that has one by the same full name.

    Examples
    --------
    >>> params = mx.gluon.ParameterDict('net_')
    >>> weight = params.get('weight', shape=(2, 3))
    >>> params.initialize()
    >>> list(params.keys()), params['net_weight'].data().shape
    (['net_weight'], (2, 3))
    """

    def __init__(self, prefix='', shared=None):
        self._prefix = prefix
        self._params = OrderedDict()
        self._shared = shared

    def __repr__(self):
        lines = '\n'.join(_indent(f'  {p}', 2) for p in self.values())
        return f'{self._prefix + " " if self._prefix else ""}(\n{lines}\n)'

    # A function that returns the block that these are Parameters of, which knows their paths.
    _owner = staticmethod(lambda: None)
    _collected = False     # collect_params() made this one: it looks up, and makes nothing

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != '_owner'}

    def __getitem__(self, key):
        found = self._params.get(key)
        return found if found is not None else self._by_path()[key]

    def _by_path(self):
        """{path in the block that was collected: Parameter}."""
        own = set(map(id, self._params.values()))
        owner = self._owner()
        paths = owner._collect_params_with_prefix() if owner is not None else {}
        return {path: param for path, param in paths.items() if id(param) in own}

    def __iter__(self):
        return iter(self._params)

    def __len__(self):
        return len(self._params)

    def __contains__(self, key):
        return key in self._params or key in self._by_path()

    def items(self):
        """(full name, Parameter) pairs.

        >>> params = mx.gluon.nn.Dense(2, in_units=3, prefix='fc_').collect_params()
        >>> [(name, param.shape) for name, param in params.items()]
        [('fc_weight', (2, 3)), ('fc_bias', (2,))]
        """
        return self._params.items()

    def keys(self):
        """Full names."""
        return self._params.keys()

    def values(self):
        """Parameters.

        >>> params = mx.gluon.nn.Dense(2, in_units=3).collect_params()
        >>> [param.shape for param in params.values()]
        [(2, 3), (2,)]
        """
        return self._params.values()

    @property
    def prefix(self):
        """What names made by `get` begin with.

        >>> mx.gluon.ParameterDict('net_').prefix
        'net_'
        """
        return self._prefix

    def _find(self, name):
        if name in self._params:
            return self._params[name]
        if self._shared is not None and name in self._shared._params:
            self._params[name] = self._shared._params[name]
            return self._params[name]
        return None

    def get(self, name, *default, **kwargs):
        """The Parameter `prefix + name`, made with `kwargs` if neither this dict nor the shared one
        has it.

        For one that exists, every attribute in `kwargs` has to agree with it (open dimensions are
        filled in from either side); AssertionError otherwise.

        What `collect_params` returns also knows full names and paths, such as `0.weight`. Under
        ``npx.set_np()``, and wherever a default is given, it makes no Parameter then: it returns
        the default, or None, as a dictionary does.

        >>> params = mx.gluon.ParameterDict('net_')
        >>> weight = params.get('weight', shape=(2, 0), allow_deferred_init=True)
        >>> params.get('weight', shape=(2, 3)) is weight, weight.shape
        (True, (2, 3))
        """
        if len(default) > 1:
            raise TypeError(f'[gluon.ParameterDict] get() with {len(default)} defaults; accepted: one at most')
        if self._collected and not kwargs:
            param = self._params.get(self._prefix + name) or self._params.get(name) or self._by_path().get(name)
            if param is not None:
                return param
            if default or is_np_array():
                return default[0] if default else None
        name = self._prefix + name
        param = self._find(name)
        if param is None:
            param = self._params[name] = Parameter(name, **kwargs)
            param._in_dict = True
            return param
        for key, wanted in kwargs.items():
            stored = getattr(param, key, getattr(param, '_' + key, None))
            if stored is None:
                setattr(param, key if hasattr(type(param), key) or not hasattr(param, '_' + key) else '_' + key, wanted)
                continue
            if key == 'shape' and wanted is not None:
                wanted = (wanted,) if isinstance(wanted, int) else tuple(wanted)
                if len(wanted) == len(stored) and all(a == b or a <= 0 or b <= 0 for a, b in zip(wanted, stored)):
                    param._shape = tuple(max(a, b) if min(a, b) <= 0 else a for a, b in zip(wanted, stored))
                    continue
            elif key == 'dtype' and np.dtype(wanted) == np.dtype(stored):
                continue
            assert wanted is None or wanted == stored, (
                f'[gluon.ParameterDict] {key}={wanted!r} given for {name!r}, which exists with {key}={stored!r}; '
                'the same value is accepted')
        return param

    def get_constant(self, name, value=None):
        """The Constant `prefix + name`. KeyError when it does not exist and no `value` is given;
        AssertionError when it exists with another value or as a trainable Parameter.

        >>> params = mx.gluon.ParameterDict('net_')
        >>> table = params.get_constant('table', [1, 2])
        >>> params.initialize()
        >>> table.data().asnumpy()
        array([1., 2.], dtype=float32)
        """
        name = self._prefix + name
        param = self._find(name)
        if param is None:
            if value is None:
                raise KeyError(f'[gluon.ParameterDict] no constant {name!r}; give its value to make it')
            param = self._params[name] = Constant(name, value)
            param._in_dict = True
            return param
        assert isinstance(param, Constant), f'[gluon.ParameterDict] {name!r} exists, but as a Parameter; a constant is accepted'
        if value is not None:
            given = value.asnumpy() if isinstance(value, nd.NDArray) else np.asarray(value)
            assert given.shape == param.value.shape and (given == param.value.asnumpy()).all(), (
                f'[gluon.ParameterDict] constant {name!r} exists with another value; the same value is accepted')
        return param

    def update(self, other):
        """Take in all Parameters of `other`; AssertionError when a name stands for two different
        Parameters.

        >>> both = mx.gluon.nn.Dense(1, prefix='a_').collect_params()
        >>> both.update(mx.gluon.nn.Dense(1, prefix='b_').collect_params())
        >>> len(both)
        4
        """
        mine = self._params
        for name, param in other.items():
            assert mine.get(name, param) is param, (
                f'[gluon.ParameterDict] both dictionaries have a Parameter {name!r}, and they differ; distinct names are accepted')
        self._params.update(other.items())

    @accepts_device
    def initialize(self, init=None, ctx=None, verbose=False, force_reinit=False):
        """Initialise every Parameter on `ctx`; `init` (default Uniform) serves those without an
        initializer of their own."""
        if init is None:
            init = initializer.Uniform()
        if verbose:
            init.set_verbosity(verbose=verbose)
        for param in self.values():
            param.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self):
        """Set all gradients to 0.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> with mx.autograd.record():
        ...     y = net(mx.nd.ones((1, 2)))
        >>> y.backward()
        >>> net.collect_params().zero_grad()
        >>> net.weight.grad().asnumpy()
        array([[0., 0.]], dtype=float32)
        """
        for param in self.values():
            param.zero_grad()

    def reset_ctx(self, ctx):
        """Move every Parameter to `ctx` (a Context or a list).

        >>> params = mx.gluon.nn.Dense(1, in_units=2).collect_params()
        >>> params.initialize()
        >>> params.reset_ctx([mx.cpu(0), mx.cpu(1)])
        >>> params.list_ctx()
        [cpu(0), cpu(1)]
        """
        for param in self.values():
            param.reset_ctx(ctx)

    def list_ctx(self):
        """All contexts that any Parameter is on."""
        found = OrderedDict((str(c), c) for p in self.values() for c in p.list_ctx())
        return list(found.values())

    def setattr(self, name, value):
        """Set one attribute of every Parameter, e.g. setattr('grad_req', 'null').

        >>> net = mx.gluon.nn.Dense(1)
        >>> net.collect_params('.*bias').setattr('wd_mult', 0)
        >>> net.bias.wd_mult, net.weight.wd_mult
        (0, 1.0)
        """
        for param in self.values():
            setattr(param, name, value)

    def save(self, filename, strip_prefix=''):
        """Write all Parameters as {full name without `strip_prefix`: array}; ValueError when a name
        does not begin with it.

        >>> net = mx.gluon.nn.Dense(1, in_units=2, prefix='fc_')
        >>> net.initialize()
        >>> net.collect_params().save('fc.params', strip_prefix='fc_')
        >>> list(mx.nd.load('fc.params'))
        ['weight', 'bias']
        >>> net.collect_params().load('fc.params', restore_prefix='fc_')
        """
        arrays = OrderedDict()
        for param in self.values():
            if not param.name.startswith(strip_prefix):
                raise ValueError(f'[gluon.ParameterDict] strip_prefix={strip_prefix!r} given, with which {param.name!r} does not begin; '
                                 'a prefix of all names is accepted')
            arrays[param.name[len(strip_prefix):]] = param._reduce()
        save_arrays(filename, arrays)

    @accepts_device
    def load(self, filename, ctx=None, allow_missing=False, ignore_extra=False, restore_prefix='', cast_dtype=False,
             dtype_source='current'):
        """Read a file written by `save`, `HybridBlock.export` or `Module.save_checkpoint`.

        `restore_prefix` is put in front of the saved names. AssertionError for a Parameter that the
        file lacks unless `allow_missing`, and for a saved name that is not here unless
        `ignore_extra`.

        >>> params = mx.gluon.nn.Dense(1, in_units=2, prefix='fc_', use_bias=False).collect_params()
        >>> mx.nd.save('fc.params', {'fc_weight': mx.nd.array([[1, 2]])})
        >>> params.load('fc.params', ctx=mx.cpu())
        >>> params['fc_weight'].data().asnumpy()
        array([[1., 2.]], dtype=float32)
        """
        if restore_prefix:
            self._check_restore_prefix(restore_prefix)
        arrays = named_arrays(nd.load(filename), f'file {filename!r}', 'gluon.ParameterDict')
        self.load_dict(arrays, ctx, allow_missing, ignore_extra, restore_prefix, f'file {filename!r}', cast_dtype, dtype_source)

    def _check_restore_prefix(self, restore_prefix):
        for name in self.keys():
            assert name.startswith(restore_prefix), (
                f'[gluon.ParameterDict] restore_prefix={restore_prefix!r} given, with which {name!r} does not begin; '
                'a prefix of all names is accepted')

    @accepts_device
    def load_dict(self, param_dict, ctx=None, allow_missing=False, ignore_extra=False, restore_prefix='', filename=None,
                  cast_dtype=False, dtype_source='current'):
        """Like `load`, from {name: NDArray}; `filename` only appears in messages.

        >>> params = mx.gluon.nn.Dense(1, in_units=2, prefix='fc_', use_bias=False).collect_params()
        >>> params.load_dict({'fc_weight': mx.nd.array([[1, 2]])})
        >>> params['fc_weight'].data().asnumpy()
        array([[1., 2.]], dtype=float32)
        """
        source = filename or 'the given dict'
        arrays = {restore_prefix + k: v for k, v in strip_arg_aux(param_dict).items()}
        if not allow_missing:
            for name in self.keys():
                assert name in arrays, (
                    f'[gluon.ParameterDict] {name!r} is not in {source}, which has {_brief_print_list(arrays.keys())}; '
                    'networks with the same prefix, or allow_missing=True, are accepted')
        for name, array in arrays.items():
            if name not in self._params:
                assert ignore_extra, (
                    f'[gluon.ParameterDict] {source} has {name!r}, which is not among {_brief_print_list(self.keys())}; '
                    'the names of this ParameterDict, or ignore_extra=True, are accepted')
                continue
            self._params[name]._load_init(array, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)
