"""Parameters: named arrays with gradients, one copy per context, initialised when their shape is
known."""
import warnings

import numpy as np

from .. import autograd, context as context_mod, initializer, ndarray as nd, profiler, symbol
from ..base import CheckedValueError, MXNetError, StateError
from .._arrays.classes import overwrite, to_class_of
from ..util import accepts_device, default_array, is_np_array, is_np_shape, to_current_class
from ._structure import checked_shape

__all__ = ['DeferredInitializationError', 'Parameter', 'tensor_types']

tensor_types = (symbol.Symbol, nd.NDArray)
_STYPES = ('default', 'row_sparse', 'csr')
_GRAD_REQS = ('write', 'add', 'null')

# Counts every event after which some Parameter may hold other arrays than before (initialisation,
# cast, moving between contexts). A compiled block keeps the list of its parameters' arrays for as
# long as this does not move.
_generation = [0]


class DeferredInitializationError(MXNetError):
    """Raised when a Parameter is read whose shape, and with it its arrays, is not known yet.

    >>> net = mx.gluon.nn.Dense(2)
    >>> net.initialize()
    >>> try:
    ...     net.weight.data()
    ... except mx.gluon.DeferredInitializationError:
    ...     print('shape not known yet')
    shape not known yet
    """


def _has_whole_shape(shape):
    """True when no dimension of a Parameter's `shape` is open: 0 and -1 both are, whether or not
    NumPy shape semantics are on."""
    return shape is not None and all(d > 0 for d in shape)


def _copy_on(array, ctx):
    """A copy on `ctx`, of the same class."""
    return to_class_of(array.as_nd_ndarray().copyto(ctx), array) if array.stype == 'default' else array.copyto(ctx)


def _as_ctx_list(ctx):
    if ctx is None:
        return [context_mod.current_context()]
    if isinstance(ctx, context_mod.Context):
        return [ctx]
    ctx = list(ctx)
    if not ctx or not all(isinstance(c, context_mod.Context) for c in ctx):
        raise ValueError(f'[gluon.Parameter] contexts {ctx!r} given; a Context or a non-empty list of Context is accepted')
    if len({str(c) for c in ctx}) != len(ctx):
        raise ValueError(f'[gluon.Parameter] contexts {ctx!r} given; each context may appear once')
    return ctx


def _same_dtype(a, b):
    return str(getattr(a, "__name__", a)) == str(getattr(b, "__name__",
                                                         b)) or "bfloat16" not in (str(a), str(b)) and np.dtype(a) == np.dtype(b)


class Parameter:
    """An array that a Block learns or carries, held once per context.

    Parameters
    ----------
    name : str
        Unique in its ParameterDict; also the name of the symbol variable.
    grad_req : {'write', 'add', 'null'}
        What backward does with the gradient: overwrite it, add to it, or not compute it.
    shape : int or tuple of int, optional
        Open dimensions (0, or -1) are filled in by the first forward pass when
        `allow_deferred_init` is set.
    dtype : str or numpy type
    lr_mult, wd_mult : float
        Factors on the learning rate and the weight decay of the Trainer.
    init : Initializer or str, optional
        Used instead of the initializer passed to `initialize`.
    differentiable : bool
        False fixes `grad_req` to 'null'.
    stype, grad_stype : {'default', 'row_sparse', 'csr'}
        Storage types of the array and of its gradient.

    Examples
    --------
    >>> weight = mx.gluon.Parameter('weight', shape=(2, 2), init=mx.init.Constant(3))
    >>> weight.initialize()
    >>> weight.data().asnumpy()
    array([[3., 3.],
           [3., 3.]], dtype=float32)
    >>> weight.grad().asnumpy()
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """

    def __init__(self, name='weight', grad_req='write', shape=None, dtype=np.float32, lr_mult=1.0, wd_mult=1.0, init=None,
                 allow_deferred_init=False, differentiable=True, stype='default', grad_stype='default'):
        for label, value in (('stype', stype), ('grad_stype', grad_stype)):
            assert value in _STYPES, f'[gluon.Parameter] {label}={value!r} given for {name!r}; one of {_STYPES} is accepted'
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self._dtype = dtype
        self._shape = (shape,) if isinstance(shape, int) else None if shape is None else checked_shape(name, shape)
        self._allow_deferred_init = allow_deferred_init
        self._differentiable = differentiable
        self._stype = stype
        self._grad_stype = grad_stype
        self._grad_req = None
        self._in_dict = False       # whether a ParameterDict has it
        self._var = None
        self._var_shape = None      # of a _var with open dimensions: whether it declares them with -1 (NumPy shape semantics) or 0
        self._data = None           # one NDArray per context of _ctx_list, or None before initialisation
        self._grad = None           # gradients in the same order, or None
        self._ctx_list = None
        self._deferred_init = ()    # (init, contexts, default_init, data) while initialisation waits for the shape
        self._trainer = None        # the Trainer that owns the row_sparse copies
        self.grad_req = grad_req

    def __repr__(self):
        return f'{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})'

    # -- pickling, in the layout of 1.x; a copy belongs to no Trainer and no graph -----------------
    def __getstate__(self):
        places = None
        if self._ctx_list is not None:      # 1.x: position in _ctx_list by kind of device and its number
            places = [[], []]
            for position, ctx in enumerate(self._ctx_list):
                row = places[ctx.device_typeid & 1]
                row.extend([None] * (ctx.device_id + 1 - len(row)))
                row[ctx.device_id] = position
        return {**self.__dict__, '_ctx_map': places, '_trainer': None, '_var': None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._in_dict = True
        self.__dict__.pop('_ctx_map', None)
        self._trainer = None
        if self._ctx_list is not None:
            self._ctx_list = [context_mod.Context(ctx) for ctx in self._ctx_list]
        if self._data is not None and self._grad is not None:
            autograd.mark_variables(self._data, self._grad, self._grad_req)

    # -- description -------------------------------------------------------------------------------
    @property
    def grad_req(self):
        """'write', 'add' or 'null'. Setting it allocates or frees the gradients."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req):
        assert req in _GRAD_REQS, f'[gluon.Parameter] grad_req={req!r} given for {self.name!r}; one of {_GRAD_REQS} is accepted'
        if not self._differentiable:
            req = 'null'
        if req == self._grad_req:
            return
        self._grad_req = req
        if req == 'null':
            if self._data is not None and self._grad is not None:
                self._data = [d.detach() for d in self._data]
                _generation[0] += 1
            self._grad = None
        elif self._data is not None:
            self._init_grad()

    @property
    def dtype(self):
        """Element type; setting it casts what is initialised."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype):
        self.cast(dtype)

    @property
    def shape(self):
        """Tuple with 0 (or -1 under NumPy shape semantics) for open dimensions, or None when
        unknown altogether.

        >>> weight = mx.gluon.Parameter('weight', shape=(2, 0), grad_req='null')
        >>> weight.shape = (2, 3)
        >>> weight.shape, weight.grad_req, weight.stype
        ((2, 3), 'null', 'default')
        """
        if self._shape is None:
            return None
        return tuple(d if d > 0 else -1 for d in self._shape) if is_np_shape() else tuple(max(d, 0) for d in self._shape)

    @shape.setter
    def shape(self, new_shape):
        if self._shape is None:
            self._shape = tuple(new_shape)
            return
        new_shape = tuple(new_shape)
        fits = len(self._shape) == len(new_shape) and all(
            old == new or old in (0, -1) for old, new in zip(self._shape, new_shape))
        assert fits, (f'[gluon.Parameter] shape {new_shape} given for {self.name!r}; '
                      f'its shape {self._shape} may only have its open dimensions filled in')
        self._shape = new_shape

    @property
    def stype(self):
        """Storage type of the array: 'default', 'row_sparse' or 'csr'."""
        return self._stype

    # -- initialisation ----------------------------------------------------------------------------
    @accepts_device
    def initialize(self, init=None, ctx=None, default_init=None, force_reinit=False):
        """Allocate the arrays on every context and fill them.

        `init` takes precedence over the Parameter's own initializer, which takes precedence over
        `default_init` (Uniform). With open dimensions the work is deferred to the first forward
        pass, if the Parameter allows that; otherwise ValueError. An initialised Parameter is left
        alone, with a warning, unless `force_reinit`.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(f"Parameter '{self.name}' is already initialized, ignoring. "
                          'Set force_reinit=True to re-initialize.', stacklevel=3)
            return
        self._release()
        ctx = _as_ctx_list(ctx)
        if default_init is None:
            default_init = initializer.Uniform()
        if init is None:
            init = default_init if self.init is None else self.init
        if not _has_whole_shape(self._shape):
            if not self._allow_deferred_init:
                raise ValueError(f'[gluon.Parameter] {self.name!r} cannot be initialised with shape {self._shape}; '
                                 'a shape without open dimensions, or allow_deferred_init=True, is accepted')
            self._deferred_init = (init, ctx, default_init, None)
            return
        self._deferred_init = (init, ctx, default_init, None)
        self._finish_deferred_init()

    @profiler.memory_of_itself
    def _finish_deferred_init(self):
        """Allocate and fill the arrays once the shape is known; nothing happens when no
        initialisation is pending."""
        if not self._deferred_init:
            return
        init, ctx, default_init, data = pending = self._deferred_init
        if not _has_whole_shape(self._shape):
            raise CheckedValueError(f'[gluon.Parameter] {self.name!r} cannot be initialised with shape {self._shape}; '
                                    'give in_units, in_channels, ... to its layer or call the network on data first')
        self._deferred_init = ()
        try:
            with autograd.pause():
                if own := data is None:
                    data = to_current_class(nd.zeros(self._shape, dtype=self._dtype, ctx=context_mod.cpu(),
                                                     **({} if self._stype == 'default' else {'stype': self._stype})))
                    desc = initializer.InitDesc(self.name, {'__init__': init})
                    initializer.create(default_init)(desc, data)
                self._init_impl(data, ctx, own)
            pending = ()
        finally:
            if pending:    # after Ctrl-C, say, the next call does it all
                self._data, self._grad, self._ctx_list, self._deferred_init = None, None, None, pending

    @profiler.memory_of_itself
    def _init_impl(self, data, ctx_list, own=False):
        """Take `data` as the value on every context of `ctx_list`; `own`: nobody else holds it, so
        one context can have it itself."""
        self._ctx_list = list(ctx_list)
        self._data = [data if own and len(self._ctx_list) == 1 and c == data.context else _copy_on(data, c) for c in self._ctx_list]
        _generation[0] += 1
        self._init_grad()

    def _init_grad(self):
        if self._grad_req == 'null':
            self._grad = None
            return
        if self._grad_stype == 'default':
            self._grad = [to_class_of(nd.zeros(d.shape, dtype=d.dtype, ctx=d.context), d) for d in self._data]
        else:
            self._grad = [nd.zeros(d.shape, dtype=d.dtype, ctx=d.context, stype=self._grad_stype) for d in self._data]
        autograd.mark_variables(self._data, self._grad, self._grad_req)

    def _release(self):
        self._data = None
        self._grad = None
        self._ctx_list = None
        self._deferred_init = ()
        _generation[0] += 1

    def _load_init(self, data, ctx, cast_dtype=False, dtype_source='current'):
        """Take an array from a file: checks shape and dtype, then initialises or overwrites.

        `cast_dtype` converts between the dtypes of file and Parameter; `dtype_source` says whose
        dtype stays. AssertionError when they do not fit.
        """
        if self._shape is not None:
            fits = len(self._shape) == len(data.shape) and all(
                mine in (0, -1) or mine == theirs for mine, theirs in zip(self._shape, data.shape))
            assert fits, (f'[gluon.load] {self.name!r} has shape {self._shape} and the saved array {data.shape}; '
                          'equal dimensions are accepted, apart from open ones')
            self._shape = tuple(data.shape)
        else:
            self._shape = tuple(data.shape)
        if cast_dtype:
            assert dtype_source in ('current', 'saved'), (
                f"[gluon.load] dtype_source={dtype_source!r} given; 'current' or 'saved' is accepted")
        if not _same_dtype(self._dtype, data.dtype):
            assert cast_dtype, (f'[gluon.load] {self.name!r} has dtype {np.dtype(self._dtype)} and the saved array '
                                f'{np.dtype(data.dtype)}; equal dtypes, or cast_dtype=True, are accepted')
            if dtype_source == 'current':
                data = data.astype(self._dtype)
            else:
                self.cast(data.dtype)
        if getattr(data, 'stype', 'default') != self._stype:
            data = data.tostype(self._stype)
        if isinstance(ctx, context_mod.Context):
            ctx = [ctx]
        if self._data is None:
            if self._deferred_init:
                pending = self._deferred_init[1]
                assert ctx is None or set(ctx) == set(pending), (
                    f'[gluon.load] contexts {ctx} given for {self.name!r}; it is to be initialised on {pending}')
                ctx = pending
            elif ctx is None:
                ctx = [context_mod.current_context() if is_np_array() else context_mod.cpu()]    # 2.0 and 1.9.1
            self._deferred_init = ()
            with autograd.pause():
                self._init_impl(to_current_class(data), _as_ctx_list(ctx))
            return
        assert ctx is None or set(ctx) == set(self.list_ctx()), (
            f'[gluon.load] contexts {ctx} given for {self.name!r}; it is initialised on {self.list_ctx()}')
        self.set_data(data)

    # -- reading -----------------------------------------------------------------------------------
    def _explain_missing(self):
        """Raise what fits a Parameter without arrays."""
        if self._deferred_init:
            raise DeferredInitializationError(
                f'[gluon.Parameter] {self.name!r} has no data yet, because its shape {self._shape} is open: run one batch '
                'through the network, or give in_units, in_channels, ... to its layer')
        raise StateError(
            f'[gluon.Parameter] {self.name!r} has not been initialized: call initialize() on the outermost block '
            '(block.params leaves out the Parameters of nested blocks, block.collect_params() has them)')

    def _pick(self, arrays, ctx):
        if ctx is None:
            if len(arrays) == 1:
                return arrays[0]
            ctx = context_mod.current_context()
        for c, arr in zip(self._ctx_list, arrays):
            if c == ctx:
                return arr
        if ctx.device_type in ('cpu_shared', 'cpu_pinned'):   # batches of workers: their memory is the CPU's
            for c, arr in zip(self._ctx_list, arrays):
                if c.device_type == 'cpu':
                    return arr
        raise RuntimeError(f'[gluon.Parameter] {self.name!r} is not on {ctx}; it was initialized on {self._ctx_list}')

    def _dense_only(self, what):
        if self._stype != 'default':
            raise RuntimeError(f'[gluon.Parameter] {what} asked of {self.name!r}, whose storage type is {self._stype}; '
                               'row_sparse_data() and list_row_sparse_data() are accepted')

    def _check_and_get(self, arrays, ctx):
        """What `data(ctx)` makes of `arrays`, or `list_data()` if `ctx` is `list`. Subclasses that
        change their data (dropout of weights) call it with `self._data`, as in 1.x."""
        if arrays is None:
            self._explain_missing()
        return list(arrays) if ctx is list else self._pick(arrays, ctx)

    # Blocks call data() for each Parameter of each call: `device` is read here, without the
    # decorator of other functions.
    def data(self, ctx=None, device=None):
        """The array on `ctx` (default: the only context, or the current one).
        DeferredInitializationError while its shape is open, RuntimeError before `initialize` or on
        another context."""
        if self._data is None:
            self._explain_missing()
        if self._stype != 'default':
            self._dense_only('data()')
        return self._pick(self._data, device if ctx is None else ctx)

    def list_data(self):
        """The arrays on all contexts, in the order of `list_ctx`.

        >>> weight = mx.gluon.Parameter('weight', shape=(2,), init='ones')
        >>> weight.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        >>> [array.context for array in weight.list_data()]
        [cpu(0), cpu(1)]
        >>> [array.context for array in weight.list_grad()]
        [cpu(0), cpu(1)]
        """
        if self._data is None:
            self._explain_missing()
        self._dense_only('list_data()')
        return list(self._data)

    def _need_grad(self):
        if self._data is not None and self._grad is None:
            raise RuntimeError(f"[gluon.Parameter] {self.name!r} has no gradient, because its grad_req is 'null'")
        if self._data is None:
            if self._grad_req == 'null' and not self._deferred_init:
                raise RuntimeError(f"[gluon.Parameter] {self.name!r} has no gradient, because its grad_req is 'null'")
            self._explain_missing()

    def grad(self, ctx=None, device=None):
        """The gradient on `ctx`; RuntimeError when `grad_req` is 'null'."""
        self._need_grad()
        return self._pick(self._grad, device if ctx is None else ctx)

    def list_grad(self):
        """The gradients on all contexts, in the order of `list_ctx`."""
        self._need_grad()
        return list(self._grad)

    def list_ctx(self):
        """The contexts this Parameter is, or is about to be, initialised on."""
        if self._data is None:
            if self._deferred_init:
                return list(self._deferred_init[1])
            raise RuntimeError(f'[gluon.Parameter] {self.name!r} has not been initialized: call initialize() first')
        return list(self._ctx_list)

    def _row_sparse_arrays(self, row_id, want):
        if self._stype != 'row_sparse':
            raise RuntimeError(f'[gluon.Parameter] {want} asked of {self.name!r}, whose storage type is {self._stype}; '
                               'data() and list_data() are accepted')
        if self._data is None:
            self._explain_missing()
        if self._trainer is not None:
            self._trainer._row_sparse_pull(self, self._data, row_id)
        return self._data

    def row_sparse_data(self, row_id):
        """The rows `row_id` (1-D integer NDArray) as a row_sparse array on row_id's context,
        fetched from the Trainer's store; without a Trainer the whole array. RuntimeError for a
        Parameter of another storage type.

        >>> weight = mx.gluon.Parameter('weight', shape=(3, 2), init='ones', stype='row_sparse',
        ...                             grad_stype='row_sparse')
        >>> weight.initialize()
        >>> trainer = mx.gluon.Trainer([weight], 'sgd')
        >>> rows = weight.row_sparse_data(mx.nd.array([1], dtype='int64'))
        >>> rows.indices.asnumpy(), rows.data.asnumpy()
        (array([1]), array([[1., 1.]], dtype=float32))
        """
        return self._pick(self._row_sparse_arrays(row_id, 'row_sparse_data()'), row_id.context)

    def list_row_sparse_data(self, row_id):
        """Like `row_sparse_data`, on all contexts.

        >>> weight = mx.gluon.Parameter('weight', shape=(3, 2), init='ones', stype='row_sparse',
        ...                             grad_stype='row_sparse')
        >>> weight.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        >>> trainer = mx.gluon.Trainer([weight], 'sgd')
        >>> [rows.context for rows in weight.list_row_sparse_data(mx.nd.array([1], dtype='int64'))]
        [cpu(0), cpu(1)]
        """
        return list(self._row_sparse_arrays(row_id, 'list_row_sparse_data()'))

    def var(self):
        """The symbol variable that stands for this Parameter.

        >>> mx.gluon.Parameter('weight', shape=(2,)).var().infer_shape()[0]
        [(2,)]
        """
        shape = self.shape
        if self._var is None or self._var_shape is not None and self._var_shape != is_np_shape():
            self._var_shape = None if shape is None or _has_whole_shape(shape) else is_np_shape()
            self._var = symbol.var(self.name, shape=shape, dtype=self._dtype, lr_mult=self.lr_mult,
                                   wd_mult=self.wd_mult, init=self.init, stype=self._stype)
        return self._var

    # -- writing -----------------------------------------------------------------------------------
    def set_data(self, data):
        """Copy `data` (an array of this shape) to every context; before initialisation it becomes
        the initial value.

        >>> weight = mx.gluon.Parameter('weight', shape=(2,))
        >>> weight.initialize()
        >>> weight.set_data(mx.nd.array([1, 2]))
        >>> weight.data().asnumpy()
        array([1., 2.], dtype=float32)
        """
        self.shape = tuple(data.shape)
        if self._data is None:
            if not self._deferred_init:
                self._explain_missing()
            data = to_current_class(data) if isinstance(data, nd.NDArray) else default_array(data, dtype=self._dtype)
            self._deferred_init = self._deferred_init[:3] + (data,)
            return
        if self._trainer is not None:
            self._trainer._forget_store_values(self)
        for arr in self._data:
            overwrite(arr, to_class_of(data, arr) if isinstance(data, nd.NDArray) else data)

    def zero_grad(self):
        """Set the gradients on all contexts to 0; nothing happens without gradients.

        >>> weight = mx.gluon.Parameter('weight', shape=(2,), init='ones')
        >>> weight.initialize()
        >>> with mx.autograd.record():
        ...     y = weight.data() * 3
        >>> y.backward()
        >>> weight.zero_grad()
        >>> weight.grad().asnumpy()
        array([0., 0.], dtype=float32)
        """
        for g in self._grad or ():
            if getattr(g, 'stype', 'default') == 'default':
                overwrite(g, 0)
            else:
                nd.zeros(g.shape, stype=g.stype, ctx=g.context, dtype=g.dtype).copyto(g)

    def reset_ctx(self, ctx):
        """Move to `ctx` (a Context or a list), keeping the value: the mean over the present
        contexts.

        >>> weight = mx.gluon.Parameter('weight', shape=(2,))
        >>> weight.initialize(ctx=mx.cpu(0))
        >>> weight.reset_ctx(mx.cpu(1))
        >>> weight.list_ctx()
        [cpu(1)]
        """
        ctx = _as_ctx_list(ctx)
        if self._data is not None:
            value = self._reduce()
            with autograd.pause():
                self._init_impl(value, ctx)
        elif self._deferred_init:
            init, _, default_init, data = self._deferred_init
            self._deferred_init = (init, ctx, default_init, data)
        else:
            raise ValueError(f'[gluon.Parameter] {self.name!r} cannot be moved to {ctx} before it is initialised')

    def reset_device(self, device):
        """:meth:`reset_ctx` under the name that MXNet 2.0 gave it.

        >>> weight = mx.gluon.Parameter('weight', shape=(2, 3))
        >>> weight.initialize(ctx=mx.cpu(0))
        >>> weight.reset_device(mx.cpu(1))
        >>> weight.list_device()
        [cpu(1)]
        """
        self.reset_ctx(device)

    def list_device(self):
        """:meth:`list_ctx` under the name that MXNet 2.0 gave it.

        >>> weight = mx.gluon.Parameter('weight', shape=(2, 3))
        >>> weight.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        >>> weight.list_device()
        [cpu(0), cpu(1)]
        """
        return self.list_ctx()

    def _set_trainer(self, trainer):
        if self._stype != 'default' and self._trainer is not None and trainer is not None and self._trainer is not trainer:
            raise RuntimeError(f'[gluon.Trainer] row_sparse Parameter {self.name!r} has a Trainer already; one Trainer is accepted')
        self._trainer = trainer

    def _reduce(self):
        """The value of this Parameter on the CPU: its mean over contexts, or the stored rows of a
        sparse one."""
        cpu = context_mod.cpu()
        if self._stype != 'default' and self._trainer is not None:
            rows = nd.arange(0, self._shape[0], dtype='int64', ctx=cpu)
            value = nd.zeros(self._shape, stype='row_sparse', ctx=cpu, dtype=self._dtype)
            self._trainer._row_sparse_pull(self, [value], rows, full_idx=True)
            return value
        if self._data is None:
            self._explain_missing()
        total = _copy_on(self._data[0], cpu)
        for other in self._data[1:]:
            total = total + _copy_on(other, cpu)
        return total / len(self._data) if len(self._data) > 1 else total

    def cast(self, dtype):
        """Convert arrays and gradients to `dtype`.

        >>> weight = mx.gluon.Parameter('weight', shape=(2,))
        >>> weight.initialize()
        >>> weight.cast('float16')
        >>> weight.data().dtype.__name__
        'float16'
        """
        self._dtype = dtype
        self._var = None
        if self._data is None:
            return
        with autograd.pause():
            self._data = [d.astype(dtype) for d in self._data]
            _generation[0] += 1
            if self._grad is not None:
                self._grad = [g.astype(dtype) for g in self._grad]
                autograd.mark_variables(self._data, self._grad, self._grad_req)
