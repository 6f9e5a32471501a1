"""Block: a tree of layers that owns Parameters, with name scopes and hooks."""
import re
import threading
import warnings
import weakref
from collections import OrderedDict

from .. import initializer, name as _name
from .._startup.names import hint
from .._display.repr import parameters_of
from ..ndarray import NDArray
from ..symbol import Symbol
from ..util import accepts_device, is_np_array
from ._block_files import _BlockFiles
from ._parameter import Parameter
from ._share import replace, share
from ._structure import regroup
from .parameter_dict import ParameterDict
from .summary import print_summary
from .utils import HookHandle, _indent

__all__ = ['Block']


class _BlockScope:
    """Gives names to the blocks made inside `with block.name_scope()`, and to the symbols that a
    block makes."""

    _current = threading.local()

    def __init__(self, block):
        self._block = block
        self._counter = block._scope_counter
        self._entered = []    # (outer scope, name manager), one per active `with`

    @staticmethod
    def create(prefix, params, hint):
        """(full prefix, ParameterDict) for a new block whose class alias is `hint`."""
        current = getattr(_BlockScope._current, 'value', None)
        if current is None:
            if prefix is None:
                prefix = _name.current().get(None, hint) + '_'
            if params is None:
                return prefix, ParameterDict(prefix)
            return prefix, ParameterDict(params.prefix, params)
        if prefix is None:
            count = current._counter.get(hint, 0)
            current._counter[hint] = count + 1
            prefix = f'{hint}{count}_'
        if params is None:
            parent = current._block.params
            params = ParameterDict(parent.prefix + prefix, parent._shared)
        else:
            params = ParameterDict(params.prefix, params)
        return current._block.prefix + prefix, params

    def __enter__(self):
        if self._block._empty_prefix:
            return self
        manager = _name.Prefix(self._block.prefix)
        self._entered.append((getattr(_BlockScope._current, 'value', None), manager))
        _BlockScope._current.value = self
        manager.__enter__()
        return self

    def __exit__(self, ptype, value, trace):
        if self._block._empty_prefix:
            return
        outer, manager = self._entered.pop()
        manager.__exit__(ptype, value, trace)
        _BlockScope._current.value = outer


def _refuse(block, prefix, params, unknown):
    """Raises what is said of arguments that no class of a block takes."""
    home = type(block).__module__.split('.')
    kind = f'{home[-2]}.{type(block).__name__}' if home[0] == 'mxnet' else type(block).__name__
    if not unknown and isinstance(prefix, (str, type(None))):
        raise TypeError(f'[{kind}] params of type {type(params).__name__} given; the params of another block are accepted')
    if not unknown:
        more = '; the blocks inside are given to add()' if block._is_sequence else ''
        raise TypeError(f'[{kind}] prefix of type {type(prefix).__name__} given; a string is accepted{more}')
    known = [name for name in parameters_of(type(block)) if not name.startswith('_')]
    near = ''.join(hint(name, known) for name in unknown)
    raise TypeError(f'[{kind}] unexpected arguments {", ".join(unknown)}; {near}accepted: {", ".join(known)}')


def _listing(block, parts):
    """What `repr` gives for a block with these parts, a dict."""
    lines = '\n'.join(f'  ({key}): {_indent(repr(part), 2)}' for key, part in parts.items())
    return f'{type(block).__name__}(\n{lines}\n)'


class Block(_BlockFiles):
    """Base class of layers and models. Subclasses set child blocks and Parameters as attributes and
    define `forward`.

    Parameters
    ----------
    prefix : str, optional
        Begins the names of all Parameters below. By default the class name in lower case and a
        count, after the prefix of the block whose `name_scope` is active.
    params : ParameterDict, optional
        Share these Parameters: `Dense(..., params=other.params)`.

    Examples
    --------
    >>> class Twice(mx.gluon.Block):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.layer = mx.gluon.nn.Dense(3)
    ...     def forward(self, x):
    ...         return self.layer(x) + self.layer(x)
    >>> net = Twice()
    >>> net.initialize()
    >>> net(mx.nd.ones((2, 4))).shape
    (2, 3)
    """

    _active = False         # compiled
    _is_sequence = False    # only runs its children in turn
    _numbering = frozenset()    # attributes that count the names of nodes, which a forward may change

    def __init__(self, prefix=None, params=None, **unknown):
        if unknown or not isinstance(prefix, (str, type(None))) or (params is not None and not hasattr(params, 'prefix')):
            _refuse(self, prefix, params, unknown)
        self._empty_prefix = prefix == ''
        self._prefix, self._params = _BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix[:-1] if self._prefix.endswith('_') else self._prefix
        self._scope_counter = {}    # how many blocks of each kind were named in its scope
        self._children = OrderedDict()
        self._reg_params = {}
        self._forward_hooks = OrderedDict()
        self._forward_pre_hooks = OrderedDict()

    # The text of 1.9.1, which programs compare; counts are in `summary` and `_repr_html_`.
    def __repr__(self):
        return _listing(self, {key: value for key, value in self.__dict__.items() if isinstance(value, Block)})

    def _repr_html_(self):
        from .._display.html import block_html
        return block_html(self)

    def __setattr__(self, name, value):
        known = self.__dict__.get(name)
        if isinstance(known, (Block, Parameter)) and not isinstance(value, type(known)):
            raise TypeError(f'[gluon.Block] {name!r} holds a {type(known).__name__} and was given a {type(value).__name__}; '
                            'a value of the same type is accepted')
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            if self._reg_params.get(name, value) is not value:
                assert is_np_array(), f'[gluon.Block] Parameter {name!r} is set already; another attribute name is accepted'
                replace(self, name, value)      # MXNet 2.0 ties weights so
                return
            self._reg_params[name] = value
            self._adopt(name, value)
        super().__setattr__(name, value)

    def _adopt(self, name, param):
        """A Parameter becomes an attribute. In the style of MXNet 2.0, without name scopes,
        ``self.weight = Parameter(shape=...)`` is how a block gets its Parameters."""
        if param._in_dict:
            return
        param._in_dict = True
        own = self._params._params
        if not param.name.startswith(self.prefix):
            param.name = self.prefix + (param.name if self.prefix + param.name not in own else name)
        assert own.get(param.name, param) is param, (
            f'[gluon.Block] two Parameters of {self.name!r} are named {param.name!r}; distinct names are accepted')
        own[param.name] = param

    def _alias(self):
        return type(self).__name__.lower()

    # -- names and parameters ----------------------------------------------------------------------
    @property
    def prefix(self):
        """What the names of the Parameters below begin with.

        >>> net = mx.gluon.nn.Dense(1, prefix='fc_')
        >>> net.prefix, net.name
        ('fc_', 'fc')
        """
        return self._prefix

    @property
    def name(self):
        """The prefix without its last underscore."""
        return self._name

    def name_scope(self):
        """A `with` scope in which new blocks and symbols get names that begin with this block's
        prefix.

        >>> class Net(mx.gluon.Block):
        ...     def __init__(self, **kwargs):
        ...         super().__init__(**kwargs)
        ...         with self.name_scope():
        ...             self.layer = mx.gluon.nn.Dense(3)
        >>> Net(prefix='net_').layer.name
        'net_dense0'
        """
        return _BlockScope(self)    # made anew: kept, it and its block would hold each other until the collector comes

    _scope = property(name_scope)

    @property
    def params(self):
        """The ParameterDict of this block itself, without its children.

        >>> list(mx.gluon.nn.Dense(3, prefix='fc_').params)
        ['fc_weight', 'fc_bias']
        """
        self._params._owner = weakref.ref(self)    # a circle would keep both until the collector runs
        return self._params

    def collect_params(self, select=None):
        """A ParameterDict of this block and everything below; with `select`, only names that match
        that regular expression (at their beginning; use `|` for alternatives).

        A ParameterDict is indexed by name or by path (`features.0.weight`). Under ``npx.set_np()``
        `select` matches paths as well.

        >>> net = mx.gluon.nn.Sequential(prefix='net_')
        >>> with net.name_scope():
        ...     net.add(mx.gluon.nn.Dense(3), mx.gluon.nn.Dense(2))
        >>> list(net.collect_params('.*weight'))
        ['net_dense0_weight', 'net_dense1_weight']
        >>> net.collect_params()['1.bias'].name
        'net_dense1_bias'
        """
        found = ParameterDict(self._params.prefix)
        self._gather_params(found)
        if select is not None:
            self._keep_selected(found, re.compile(select))
        found._owner, found._collected = lambda: self, True
        return found

    def _gather_params(self, found):
        """Add the Parameters of this block and everything below to a ParameterDict."""
        self._warn_about_hidden_blocks()
        found.update(self._params)
        for child in self._children.values():
            if type(child).collect_params is Block.collect_params and 'collect_params' not in child.__dict__:
                child._gather_params(found)
            else:
                found.update(child.collect_params())

    def _keep_selected(self, found, pattern):
        """Take out what matches neither by name nor, with NumPy's arrays, by path: paths are the
        names of MXNet 2.0."""
        paths = self._collect_params_with_prefix().items() if is_np_array() else ()
        by_path = {id(param) for path, param in paths if pattern.match(path)}
        for name, param in list(found.items()):
            if not pattern.match(name) and id(param) not in by_path:
                del found._params[name]

    def _warn_about_hidden_blocks(self):
        """Blocks inside plain lists and dicts are not registered; say so."""
        containers = [(key, value) for key, value in self.__dict__.items()
                      if isinstance(value, (list, tuple, dict)) and value and key not in _OWN_CONTAINERS]
        if not containers:
            return
        children = set(map(id, self._children.values()))

        def hidden(value, depth=0):
            if isinstance(value, Block):
                return id(value) not in children
            if depth > 3:
                return False
            if isinstance(value, (list, tuple)):
                return any(hidden(v, depth + 1) for v in value)
            if isinstance(value, dict):
                return any(hidden(v, depth + 1) for v in value.values())
            return False

        for key, value in containers:
            if not key.startswith('__') and hidden(value):
                warnings.warn(f'"{type(self).__name__}.{key}" is an unregistered container with Blocks. Their Parameters are '
                              'not collected; use Sequential, or register_child', stacklevel=4)

    def _collect_params_with_prefix(self, prefix=''):
        """{path by attribute names, e.g. 'features.0.weight': Parameter} of everything below."""
        if prefix:
            prefix += '.'
        found = {prefix + key: p for key, p in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def register_child(self, block, name=None):
        """Make `block` a child; `name` is its part of the paths in parameter files (default: its
        number).

        >>> net = mx.gluon.Block()
        >>> net.layers = [mx.gluon.nn.Dense(2, prefix='a_'), mx.gluon.nn.Dense(2, prefix='b_')]
        >>> for layer in net.layers:
        ...     net.register_child(layer)
        >>> list(net.collect_params())
        ['a_weight', 'a_bias', 'b_weight', 'b_bias']
        """
        self._children[str(len(self._children)) if name is None else name] = block

    @accepts_device
    def initialize(self, init=None, ctx=None, verbose=False, force_reinit=False):
        """Initialise all Parameters below on `ctx` (a Context or a list; default: the current one)
        with `init` (default: Uniform)."""
        self.collect_params().initialize(initializer.Uniform() if init is None else init, ctx, verbose, force_reinit)

    def zero_grad(self):
        """Set the gradients of all Parameters below to 0.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> net.zero_grad()
        >>> net.weight.grad().asnumpy()
        array([[0., 0.]], dtype=float32)
        """
        self.collect_params().zero_grad()

    def reset_ctx(self, ctx):
        """Move all Parameters below to `ctx` (a Context or a list).

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> net.reset_ctx(mx.cpu(1))
        >>> net.weight.list_ctx()
        [cpu(1)]
        """
        self.collect_params().reset_ctx(ctx)

    def reset_device(self, device):
        """:meth:`reset_ctx` under the name that MXNet 2.0 gave it.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> net.reset_device(mx.cpu(1))
        >>> net.weight.list_device()
        [cpu(1)]
        """
        self.reset_ctx(device)

    def share_parameters(self, shared):
        """Put Parameters of another block in the place of this one's; both then compute with, and
        train, the same arrays.

        Parameters
        ----------
        shared : dict
            Parameters by path (``{'0.weight': other[0].weight}``), or what ``collect_params()`` of
            a block of the same structure gives. Of names that this block does not have a warning
            tells.

        Returns
        -------
        Block
            This block.

        Raises
        ------
        ValueError
            for anything but a dict.

        Examples
        --------
        >>> net, other = mx.gluon.nn.Dense(1, in_units=2), mx.gluon.nn.Dense(1, in_units=2)
        >>> _ = net.share_parameters(other.collect_params())
        >>> net.weight is other.weight
        True
        """
        return self if shared is None else share(self, shared)

    def setattr(self, name, value):
        """Set one attribute of all Parameters below, e.g. setattr('grad_req', 'null').

        >>> net = mx.gluon.nn.Dense(2)
        >>> net.setattr('grad_req', 'null')
        >>> net.weight.grad_req, net.bias.grad_req
        ('null', 'null')
        """
        self.collect_params().setattr(name, value)

    # -- computation -------------------------------------------------------------------------------
    def __call__(self, *args, **kwargs):
        """Run the pre-hooks, `forward` and the hooks. Hooks see the positional arguments."""
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        try:
            out = self.forward(*args, **kwargs)
        except Exception as error:
            self._note_where(error, args)
            raise
        if self._forward_hooks:
            for hook in list(self._forward_hooks.values()):
                hook(self, args, out)
        return out

    def _note_where(self, error, args):
        """A traceback ends with the block, among many of one class, in which the error came up."""
        if not any(note.startswith('in block ') for note in getattr(error, '__notes__', ())):
            try:
                given = ', '.join(f'an array {a.shape}' if isinstance(a, NDArray) else type(a).__name__ for a in args[:4])
            except Exception:   # a shape that depends on what failed
                given = 'arrays'
            error.add_note(f'in block {self.name}, a {type(self).__name__}, called with {given or "nothing"}')

    def forward(self, *args):
        """The computation, on NDArrays; defined by subclasses."""
        raise NotImplementedError(f'[gluon.Block] {type(self).__name__} does not define forward')

    def register_forward_pre_hook(self, hook):
        """Call `hook(block, inputs)` before every forward; returns a HookHandle that can detach
        it.

        >>> net = mx.gluon.nn.Flatten()
        >>> handle = net.register_forward_pre_hook(lambda block, inputs: print(inputs[0].shape))
        >>> _ = net(mx.nd.ones((2, 3, 4)))
        (2, 3, 4)
        >>> handle.detach()
        """
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook):
        """Call `hook(block, inputs, outputs)` after every forward; returns a HookHandle that can
        detach it.

        >>> net = mx.gluon.nn.Flatten()
        >>> show = lambda block, inputs, output: print(inputs[0].shape, 'to', output.shape)
        >>> with net.register_forward_hook(show):
        ...     _ = net(mx.nd.ones((2, 3, 4)))
        (2, 3, 4) to (2, 12)
        """
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback, monitor_all=False):
        """Call `callback(name, operator, array)` for the outputs (with `monitor_all`, also the
        inputs) of every operator that compiled blocks below run.

        >>> net = mx.gluon.nn.Sequential()
        >>> net.add(mx.gluon.nn.Dense(1, in_units=2))
        >>> net.initialize()
        >>> net[0].hybridize()
        >>> net.register_op_hook(lambda name, operator, array: print(operator, array.shape))
        >>> _ = net(mx.nd.ones((4, 2)))
        FullyConnected (4, 1)
        """
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def apply(self, fn):
        """Call `fn(block)` for every block below, and last for this one. Returns self.

        >>> net = mx.gluon.nn.Sequential()
        >>> net.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Dropout(0.5))
        >>> _ = net.apply(lambda block: print(type(block).__name__))
        Dense
        Dropout
        Sequential
        """
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active=True, **kwargs):
        """Switch compilation on or off in every HybridBlock below; `kwargs` as in
        HybridBlock.hybridize.

        >>> net = mx.gluon.nn.Sequential()
        >>> net.add(mx.gluon.nn.Dense(2, in_units=3))
        >>> net.initialize()
        >>> net.hybridize(static_alloc=True)
        >>> net(mx.nd.ones((1, 3))).shape
        (1, 2)
        """
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def cast(self, dtype):
        """Convert all Parameters below to `dtype`.

        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.cast('float16')
        >>> net(mx.nd.ones((1, 3), dtype='float16')).dtype.__name__
        'float16'
        """
        for child in self._children.values():
            child.cast(dtype)
        for param in self._params.values():
            param.cast(dtype)

    def summary(self, *inputs):
        """Run `inputs` through the initialised network and print a table of layers, output shapes
        and parameter counts. A compiled network runs operator by operator for it.

        >>> net = mx.gluon.nn.HybridSequential()
        >>> net.add(mx.gluon.nn.Dense(8, in_units=4), mx.gluon.nn.Dense(2, in_units=8))
        >>> net.initialize()
        >>> net.summary(mx.nd.ones((1, 4)))
        --------------------------------------------------------------------------------
                Layer (type)                                Output Shape         Param #
        ================================================================================
                       Input                                      (1, 4)               0
                     Dense-1                                      (1, 8)              40
                     Dense-2                                      (1, 2)              18
        ================================================================================
        Parameters in forward computation graph, duplicate included
           Total params: 58
           Trainable params: 58
           Non-trainable params: 0
        Shared params in forward computation graph: 0
        Unique parameters in model: 58
        --------------------------------------------------------------------------------
        """
        print_summary(self, inputs)


def _regroup(args, fmt):
    """The nesting `fmt`, from `_flatten`, over the values of the list `args`; ValueError where it
    has None and `args` has something else."""
    flat, at = list(args), 0

    def check(d):
        nonlocal at
        if isinstance(d, list):
            for x in d:
                check(x)
            return
        if d == -1 and at < len(flat) and flat[at] is not None:
            raise ValueError(f'[gluon.block] {type(flat[at]).__name__} given where the nesting {fmt} has None; None is accepted')
        at += max(d, 1)
    check(fmt)
    return regroup(flat, fmt)


def _gather_type_ctx_info(args):
    """(a Symbol is inside, an NDArray is inside, set of their contexts, the first context or None)
    of nested lists and tuples."""
    if isinstance(args, (list, tuple)):
        parts = [_gather_type_ctx_info(a) for a in args]
        first = next((p[3] for p in parts if p[3] is not None), None)
        return any(p[0] for p in parts), any(p[1] for p in parts), set().union(*[p[2] for p in parts]), first
    if isinstance(args, NDArray):
        return False, True, {args.context}, args.context
    return isinstance(args, Symbol), False, set(), None


# Attributes that hold blocks by design.
_OWN_CONTAINERS = frozenset({'_children', '_reg_params', '_forward_hooks', '_forward_pre_hooks',
                             '_cached_graph', '_cached_in', '_cached_out', '_by_operator'})
