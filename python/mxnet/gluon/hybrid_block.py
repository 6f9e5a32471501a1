"""HybridBlock: a Block whose computation is also a graph, so that it can be compiled, exported and
have its shapes inferred."""
import inspect
import warnings
import weakref

from .. import ndarray as nd, symbol
from .._binding import set_mode
from .._machine.environment import warn_of_late_changes
from .._arrays.tracing import CHANGE, note, watch
from ..ndarray import NDArray
from ..symbol import Symbol
from .._arrays.classes import numpy_among
from . import _graph_files, _trace
from ._block import Block
from ._parameter import DeferredInitializationError, Parameter, _has_whole_shape
from ._share import forget_graphs
from ._state import is_ours, is_own_attribute, token
from ._structure import ARRAY, by_position, describe, flatten, leaves, regroup
from ._trace import Trace, Traces, input_context as _input_context, plain as _plain

__all__ = ['HybridBlock']

# Set by cells of recurrent networks in each step.
_PLAIN = {n: (tuple, (ARRAY,) * n) for n in range(1, 9)}    # descriptions of arguments that are single arrays
_ANY = object()
_STEPS = frozenset(('_step', '_prev_output', '_modified'))


class HybridBlock(Block):
    """A Block that can run operator by operator or as one compiled graph (`hybridize`).

    Subclasses define one of

    * ``hybrid_forward(self, F, x, *args, **params)``: F is `mx.nd` or `mx.sym`, `params` are the
      Parameters that are attributes of this block;
    * ``forward(self, x, *args)``, on NDArrays only, with ``self.weight.data()``: its graph is
      recorded by deferred compute. A block of this kind whose own Parameters have open dimensions
      also defines ``infer_shape(self, x, *args)``, which sets their shapes.

    All children must be HybridBlocks.

    A graph that is recorded from Python code holds operators only. What the code reads beside them
    (shapes, dtypes, devices, the mode of autograd, arguments that are no arrays, attributes of
    blocks) is noted, and the graph serves calls where all of that is the same; others record
    another one, and the 32 that were used last are kept. Code that reads values, changes
    attributes, draws Python's random numbers, writes into its inputs or switches autograd runs
    operator by operator, with one warning. Globals, closures, clocks and files are not watched:
    they stay as the graph was recorded.

    >>> class Scaled(mx.gluon.HybridBlock):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         with self.name_scope():
    ...             self.scale = self.params.get('scale', shape=(1,), init='ones')
    ...     def hybrid_forward(self, F, x, scale):
    ...         return F.broadcast_mul(x, scale) + 1
    >>> net = Scaled()
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(mx.nd.array([1, 2])).asnumpy()
    array([2., 3.], dtype=float32)
    """

    _traces_forward = False    # this class defines forward and no hybrid_forward
    _compiles_all = True       # when compiled, a call is the graph and nothing else

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        own_forward = inspect.unwrap(cls.forward) is not HybridBlock.forward    # use_np wraps methods
        cls._traces_forward = inspect.unwrap(cls.hybrid_forward) is HybridBlock.hybrid_forward and own_forward
        cls._compiles_all = cls._traces_forward or not own_forward

    def __init__(self, prefix=None, params=None, **unknown):
        super().__init__(prefix=prefix, params=params, **unknown)
        self._active = False
        self._flags = []
        self._backend = None
        self._backend_opts = {}
        self._op_hook = None    # (callback, monitor_all)
        self._clear_cached_op()

    def __setattr__(self, name, value):
        known = self.__dict__
        if (known.get('_inside_of') or watch.on) and not is_own_attribute(name):
            self._note_change(name, value)
        super().__setattr__(name, value)
        if isinstance(value, (HybridBlock, Parameter)) and '_traces' in known:
            self._clear_cached_op()

    def _note_change(self, name, value):
        """An attribute is set: what was recorded with the old value is out of date; a graph cannot
        do it."""
        if name in self._numbering or (is_ours(self) and name in _STEPS):
            return
        if watch.on:
            if not is_ours(self):
                note(CHANGE)
            return
        if name not in self.__dict__ or token(self.__dict__[name]) != token(value):
            for block in list(self._inside_of):
                block._traces.retire()
                block._plain_inputs = -1
                block._by_operator = {}

    def register_child(self, block, name=None):
        """Make `block`, which must be a HybridBlock (ValueError otherwise), a child.

        >>> net = mx.gluon.HybridBlock()
        >>> net.register_child(mx.gluon.nn.Dense(2, prefix='fc_'), 'output')
        >>> list(net.collect_params())
        ['fc_weight', 'fc_bias']
        """
        if not isinstance(block, HybridBlock):
            raise ValueError(f'[gluon.HybridBlock] child of type {type(block).__name__} given; a HybridBlock is accepted '
                             '(Sequential accepts any Block, HybridSequential only HybridBlocks)')
        super().register_child(block, name)
        forget_graphs(self)

    # -- switching ---------------------------------------------------------------------------------
    def hybridize(self, active=True, backend=None, clear=True, static_alloc=False, static_shape=False, inline_limit=2,
                  forward_bulk_size=None, backward_bulk_size=None, partition_if_dynamic=None, **kwargs):
        """Switch compilation on or off here and in all children.

        Parameters
        ----------
        static_alloc : bool
            Keep the memory of the graph between calls.
        static_shape : bool
            Also keep the plan: input shapes do not change. Requires `static_alloc`.
        inline_limit : int
            Graphs of up to this many operators are run as part of their caller.
        forward_bulk_size, backward_bulk_size : int, optional
            Operators per engine push.
        backend : str, optional
            A graph partitioner, which gets `kwargs`.
        clear : bool
            Forget the present graph.
        partition_if_dynamic : bool, optional
            An argument of 2.0: graphs with shapes that depend on values are always compiled as a
            whole here.
        """
        if static_shape and not static_alloc:
            raise ValueError('[gluon.hybridize] static_shape=True given with static_alloc=False; static_shape needs static_alloc=True')
        warn_of_late_changes()
        self._active = bool(active)
        self._backend = backend
        self._backend_opts = kwargs
        flags = {'static_alloc': static_alloc, 'static_shape': static_shape, 'inline_limit': inline_limit,
                 'forward_bulk_size': forward_bulk_size, 'backward_bulk_size': backward_bulk_size}
        self._flags = [(flag, value) for flag, value in flags.items() if value is not None]
        if clear or not active:
            self._clear_cached_op()
        if active and (self._forward_hooks or self._forward_pre_hooks):
            warnings.warn(f'"{self}" is being hybridized while still having forward hook/pre-hook. '
                          'Below a compiled block it is a part of that graph, and its hooks do not run.', stacklevel=2)
        super().hybridize(active, static_alloc=static_alloc, static_shape=static_shape, inline_limit=inline_limit,
                          forward_bulk_size=forward_bulk_size, backward_bulk_size=backward_bulk_size)

    def optimize_for(self, x, *args, backend=None, clear=False, static_alloc=False, static_shape=False, inline_limit=2,
                     forward_bulk_size=None, backward_bulk_size=None, **kwargs):
        """Hybridize, trace with these inputs and partition the graph with `backend`, without
        computing the outputs. The other arguments are those of `hybridize`. Raises ValueError for a
        backend that is not known, and without one.

        >>> net = mx.gluon.nn.Dense(2)
        >>> net.initialize()
        >>> net.optimize_for(mx.nd.ones((1, 3)), backend='ONEDNN')
        >>> net.export('net')
        ('net-symbol.json', 'net-0000.params')
        """
        if not backend:
            raise ValueError('[gluon.optimize_for] no backend given; the name of a graph partitioner is accepted')
        self.hybridize(True, backend, clear, static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size, **kwargs)
        self._traces = Traces()
        self._build_cache(x, *args)

    def _build_cache(self, *args):
        """Compile the graph for these inputs, without a run of it. Programs of 1.x call it."""
        if self._has_deferred():
            self._finish_deferred(*args)
        self._trace_for(args, {})

    def _clear_cached_op(self):
        # Of a compiled block whose arguments are single arrays of one class, and whose graph
        # depends on nothing else: their number and that class.
        self._plain_inputs, self._plain_class = -1, None
        self._cached_graph = ()       # (input variables, output symbol) recorded last
        self._cached_in = None        # the arguments that it is for, and the mode
        self._cached_out = None       # nesting of its outputs, what was read
        self._traces = Traces()
        self._plain_trace = None
        self._by_operator = {}        # mode -> why it cannot be a graph in it
        if self.__dict__.get('_inside_of') is None:
            self._inside_of = weakref.WeakSet()    # blocks with graphs that this block is part of

    _of_graphs = ("_cached_graph", "_cached_in", "_cached_out", "_traces", "_plain_trace", "_plain_inputs", "_by_operator",
                  "_inside_of")

    def __getstate__(self):
        """What copies and pickles have: all but the graphs, which they record anew."""
        return {name: value for name, value in vars(self).items() if name not in self._of_graphs}

    def __setstate__(self, state):
        vars(self).update(state)
        self._clear_cached_op()

    # What programs of 1.x read of the graph used last.
    _cached_op = property(_graph_files.cached_op)
    _cached_op_args = property(_graph_files.cached_op_args)
    _in_format = property(_graph_files.in_format)
    _out_format = property(_graph_files.out_format)
    _callback = property(lambda self: self._op_hook and self._op_hook[0])
    _monitor_all = property(lambda self: bool(self._op_hook and self._op_hook[1]))

    def register_op_hook(self, callback, monitor_all=False):
        """Call `callback(name, operator, array)` for the operators of the compiled graph; what it
        raises, the call of the block raises.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> net.hybridize()
        >>> net.register_op_hook(lambda name, operator, array: print(operator, array.shape))
        >>> _ = net(mx.nd.ones((4, 2)))
        FullyConnected (4, 1)
        """
        self._op_hook = (callback, monitor_all)
        self._attach_op_hook()
        super().register_op_hook(callback, monitor_all)

    def _attach_op_hook(self):
        if self._op_hook is not None:
            from ._op_hook import OpHook
            for trace in self._traces:
                trace.hook = OpHook(trace.op, *self._op_hook)

    def cast(self, dtype):
        """Convert all Parameters below to `dtype` and forget the graph.

        >>> net = mx.gluon.nn.Dense(3, in_units=5)
        >>> net.initialize()
        >>> net.hybridize()
        >>> net.cast('float64')
        >>> net(mx.nd.ones((2, 5), dtype='float64')).dtype.__name__
        'float64'
        """
        self._clear_cached_op()
        super().cast(dtype)

    # -- graph -------------------------------------------------------------------------------------
    def _get_graph(self, *args, **kwargs):
        """(input variables, output symbol) for these arguments."""
        arrays = []
        described = describe((args, kwargs) if kwargs else args, arrays)
        if not self._must_trace(arrays):
            self._compose_graph(args, described)
        elif not self._cached_graph or self._cached_in != (described, set_mode(None, None), _trace.classes(arrays)):
            self._record_graph(args, kwargs, arrays, described)
        return self._cached_graph

    def _compose_graph(self, args, described):
        """Set `_cached_graph` from `hybrid_forward` on symbols; why it is not to be compiled, or
        None."""
        asked = (described, set_mode(None, None), *(('numpy',) if _trace.of_numpy(args) else ()))
        if not self._cached_graph or self._cached_in != asked:
            variables = [symbol.var(n) for n in _trace.input_names(described, self)]
            out, *rest = _trace.compose(self, args, variables, described)
            self._cached_graph, self._cached_in, self._cached_out = (variables, out), asked, rest
        return self._cached_out[2] if len(self._cached_out) > 2 else None

    def _record_graph(self, args, kwargs, arrays, described):
        """Record the graph for these arguments; a Trace that is not compiled. Raises TraceStopped,
        and whatever the computation raises."""
        full = _trace.signature(described, arrays)
        if not self._must_trace(arrays):
            why = self._compose_graph(args, described)
            if why:
                raise _trace.TraceStopped(why)
            (variables, out), (nesting, reads) = self._cached_graph, self._cached_out[:2]
            return Trace(variables, out, nesting, False, reads, full)
        variables = [symbol.var(n) for n in _trace.input_names(described, self)]
        out, nesting, constants, reads = _trace.record(self, args, kwargs, arrays, variables)
        trace = Trace(variables, out, nesting, True, reads, full, constants)
        trace.guards = _trace.guards_of(_trace.blocks_below(self))
        self._cached_graph, self._cached_in, self._cached_out = (variables, out), (described, *full[5:]), (nesting, reads)
        return trace

    def _must_trace(self, arrays=()):
        """True when this block or one below has no symbolic form. Calls with arrays of mx.np are
        recorded as well, as in MXNet 2.0: so `hybrid_forward` sees arrays with NumPy's rules."""
        return self._traces_forward or numpy_among(arrays) or any(c._must_trace() for c in self._children.values())

    def _has_deferred(self):
        return any(p._deferred_init for p in self.collect_params().values())

    def _graph_to_infer(self, args, described):
        if self._must_trace():
            return self._get_graph(*args)
        self._compose_graph(args, described)
        return self._cached_graph

    def _infer_attrs(self, method, attribute, *args):
        flat = []
        variables, out = self._graph_to_infer(args, describe(args, flat))
        known = {v.name: getattr(a, attribute) for v, a in zip(variables, flat)}
        used = set(out.list_inputs())
        arg_values, _, aux_values = getattr(out, method)(**{k: v for k, v in known.items() if k in used})
        if arg_values is None:
            raise ValueError(f'[gluon.{method}] {attribute} of the Parameters of {self.name!r} does not follow from inputs with {known}')
        found = dict(zip(out.list_arguments(), arg_values))
        found.update(zip(out.list_auxiliary_states(), aux_values))
        for param in self.collect_params().values():
            if param.name in found:
                setattr(param, attribute, found[param.name])

    def infer_shape(self, *args):
        """Fill in the open dimensions of all Parameters below from these inputs.

        >>> net = mx.gluon.nn.Dense(3)
        >>> net.infer_shape(mx.nd.ones((2, 5)))
        >>> net.weight.shape
        (3, 5)
        """
        if self._traces_forward:
            raise ValueError(f'[gluon.infer_shape] {type(self).__name__} has Parameters with open dimensions and defines forward without '
                             'infer_shape; define infer_shape, which sets their shapes, or give them full shapes')
        self._infer_attrs('infer_shape', 'shape', *args)

    def infer_type(self, *args):
        """Set the dtype of all Parameters below to what follows from these inputs.

        >>> net = mx.gluon.nn.Dense(3, in_units=5, dtype='float16')
        >>> net.infer_type(mx.nd.ones((2, 5), dtype='float16'))
        >>> net.weight.dtype
        <class 'numpy.float16'>
        """
        self._infer_attrs('infer_type', 'dtype', *args)

    def _finish_deferred(self, *args, **kwargs):
        """Initialise the Parameters whose initialisation waited for these inputs."""
        own = any(p._deferred_init for p in self._reg_params.values())
        if own and self._traces_forward:
            self.infer_shape(*args, **kwargs)
            for p in self._reg_params.values():
                p._finish_deferred_init()
        # What computes on arrays of mx.np need not have a form on symbols.
        if self._must_trace() or numpy_among(leaves(args)) and not own:
            if self._has_deferred():
                _trace.run_plainly(self.forward, args, kwargs)    # every block below completes its own Parameters
            return
        try:
            self.infer_shape(*args)
        except Exception as e:
            raise ValueError(f'[gluon.HybridBlock] shapes of the Parameters of {self.name!r} '
                             f'cannot be inferred from these inputs: {e}') from e
        for p in self.collect_params().values():
            if _has_whole_shape(p._shape):    # not of a layer that forward leaves out: that one waits on, as it does without a graph
                p._finish_deferred_init()
        if not self._active:
            self._clear_cached_op()

    def _trace_for(self, args, kwargs):
        """The compiled graph for these arguments, which there is none for yet; None when they
        cannot have one."""
        arrays = []
        described = describe((args, kwargs) if kwargs else args, arrays)
        trace, why = _trace.traced_safely(self, lambda: self._record_graph(args, kwargs, arrays, described))
        if why is not None:
            self._by_operator[set_mode(None, None)] = why
            warnings.warn(f'[gluon.hybridize] {self.name!r} runs operator by operator: {why}, '
                          f'which its graph could not follow', stacklevel=5)
            return None
        params = {p.name: p for p in self.collect_params().values()}
        if self._backend:
            _graph_files.partition(self, trace, params, arrays)
        same = self._traces.same_as_before(trace)
        if same is not None:
            trace.op, trace.args = same.op, same.args
        else:
            trace.compile(dict(self._flags), params, self.name)
        self._traces.add(trace)
        for block in _trace.blocks_below(self):
            block._inside_of.add(self)
        if self._op_hook is not None:
            self._attach_op_hook()
        plain = trace.num_plain if not any(t.reads or t.guards for t in self._traces) else -1
        plain_class = type(arrays[0]) if arrays else None
        self._plain_trace, self._plain_class, self._plain_inputs = trace, plain_class, plain    # the number says: all are there
        return trace

    def explain(self, *args, path=None, runs=5):
        """The compiled plan of this block: nodes as fused, layouts, memory, time per node.

        Parameters
        ----------
        args : NDArray
            Inputs, for which the block is called once first (in the present modes of autograd).
            Without them the plan of the last call is explained, its inputs taken as zeros.
        path : str, optional
            Where to write it, in the form that the name ends in: ``.html`` (a page that needs
            nothing else), ``.svg`` (the arena over time), ``.txt`` or ``.json``.
        runs : int
            How often the plan is run, node by node and on copies, to time it; 0: not at all.

        Returns
        -------
        mxnet.explain.Explanation
            Prints as a report.

        Raises
        ------
        RuntimeError
            unless the block is hybridized and has been called.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(3, in_units=5)
        >>> net.initialize()
        >>> net.hybridize(static_alloc=True, static_shape=True)
        >>> plan = net.explain(mx.nd.ones((2, 5)))
        >>> 'FullyConnected' in str(plan)
        True
        """
        return _graph_files.explain(self, args, path, runs)

    def _run_compiled(self, args, kwargs=None):
        """The outputs for these arguments, from a graph where they have one."""
        arrays = []
        try:
            described = _PLAIN.get(len(args)) if not kwargs else None
            for a in args:
                if not isinstance(a, NDArray):
                    described = None
            if described is None:
                described = describe((args, kwargs) if kwargs else args, arrays)
            else:
                arrays = args
        except TypeError as e:
            if 'arguments' not in self._by_operator:
                self._by_operator['arguments'] = str(e)
                warnings.warn(f'[gluon.hybridize] {self.name!r} runs operator by operator when an '
                              f'argument is {e}, which cannot be compared by value', stacklevel=4)
            return self._run_forward(args, kwargs or {})
        if self._by_operator and set_mode(None, None) in self._by_operator:
            return self._run_forward(args, kwargs or {})
        trace = self._traces.find(described, arrays)
        if trace is None:
            trace, out = self._new_trace(args, kwargs or {})
            if trace is None:
                return out
        return trace.run(arrays, self)

    # Programs of 1.x with a `forward` of their own call these two in it.
    def _call_cached_op(self, *args):
        return self._run_compiled(args)

    def _deferred_infer_shape(self, *args):
        self.infer_shape(*args)

    def _new_trace(self, args, kwargs):
        """(graph for these arguments, None), or (None, outputs) where they have none."""
        if self._has_deferred():
            self._finish_deferred(*args, **kwargs)
        if not self._must_trace(leaves((args, kwargs))):
            trace = self._trace_for(args, kwargs)
            return trace, self._run_forward(args, kwargs) if trace is None else None
        try:
            trace = self._trace_for(args, kwargs)
        except Exception as e:    # pylint: disable=broad-except  (whatever forward raises: an error of the program, or of its being recorded)
            out = self._run_forward(args, kwargs)    # which raises the program's own
            self._by_operator[set_mode(None, None)] = str(e)
            warnings.warn(f'[gluon.hybridize] {self.name!r} runs operator by operator, because its '
                          f'graph could not be recorded: {e}', stacklevel=5)
            return None, out
        return trace, self._run_forward(args, kwargs) if trace is None else None

    def _run_forward(self, args, kwargs):
        """The outputs, operator by operator here; children run as they are hybridized."""
        if self._traces_forward:
            return self.forward(*args, **kwargs)
        return self._run_hybrid_forward(_input_context(list(leaves(args))), *args)

    # -- computation -------------------------------------------------------------------------------
    def __call__(self, *args, **kwargs):
        """Run the pre-hooks, the computation and the hooks. Keyword arguments go to the parameters
        of that name."""
        if kwargs and not self._traces_forward:
            own_forward = inspect.unwrap(type(self).forward) is not HybridBlock.forward
            args, kwargs = by_position(self, self.forward if own_forward else self.hybrid_forward, own_forward, args, kwargs), {}
        if (len(args) == self._plain_inputs and self._compiles_all and not self._forward_hooks and not self._forward_pre_hooks
                and not _plain.on and not kwargs):
            for a in args:
                if type(a) is not self._plain_class:
                    break
            else:
                return self._plain_trace.run(args, self)    # compiled already: the short way
        if not self._traces_forward:
            return super().__call__(*args)
        for hook in list(self._forward_pre_hooks.values()):
            hook(self, args)
        flat = [a for a in leaves((args, kwargs)) if isinstance(a, Symbol)]
        if flat:
            out = self._compose(args, flatten(list(args), 'input')[0])
        elif self._active and not _plain.on:
            out = self._run_compiled(args, kwargs)
        else:
            try:
                out = self.forward(*args, **kwargs)
            except DeferredInitializationError:
                if not any(p._deferred_init for p in self._reg_params.values()):
                    raise
                self._finish_deferred(*args, **kwargs)
                out = self.forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            hook(self, args, out)
        return out

    def _compose(self, args, flat):
        """The graph of this block with the symbols `flat` in the place of its inputs."""
        if not self._cached_graph:
            raise ValueError(f'[gluon.HybridBlock] a Symbol given to {self.name!r}, which defines forward and has no graph yet; '
                             'hybridize it and call it on NDArrays first')
        variables, out = self._cached_graph
        used = set(out.list_inputs())
        composed = out(**{v.name: a for v, a in zip(variables, [a for a in flat if a is not None]) if v.name in used})
        nesting = self._cached_out[0]
        if nesting == 0 or nesting is ARRAY:
            return composed
        return _trace.rebuild(nesting, iter(composed)) if self._must_trace() else regroup(list(composed), nesting)

    def forward(self, x, *args):
        """Run `hybrid_forward` on NDArrays (compiled, when hybridized) or on Symbols."""
        if _plain.on and watch.on and not isinstance(x, Symbol):
            ctx = _ANY    # a graph is recorded: Parameters are the same variable on every device
        elif isinstance(x, NDArray):
            ctx = x.context
            if args:
                flat = list(leaves((x,) + args))
                if any(isinstance(a, Symbol) for a in flat):
                    raise ValueError('[gluon.HybridBlock] NDArrays and Symbols given together; either NDArrays or Symbols are accepted')
                ctx = _input_context(flat)
        elif isinstance(x, Symbol):
            ctx = None
        else:
            flat = list(leaves((x,) + args))
            symbols = sum(isinstance(a, Symbol) for a in flat)
            ctx = _input_context(flat)
            if bool(symbols) == (ctx is not None):
                raise ValueError('[gluon.HybridBlock] at least one NDArray or at least one Symbol, '
                                 'and not both kinds, is accepted as input; '
                                 f'given: {", ".join(sorted({str(type(a)) for a in flat}))}')
        if ctx is None:
            given = next(a for a in leaves((x,) + args) if isinstance(a, Symbol))
            params = {key: _trace.alike(p.var(), given) for key, p in self._reg_params.items()}
            with self.name_scope():
                return self.hybrid_forward(symbol, x, *args, **params)
        if self._active and not _plain.on:
            return self._run_compiled((x,) + args)
        return self._run_hybrid_forward(ctx, x, *args)

    def _run_hybrid_forward(self, ctx, x, *args):
        """`hybrid_forward` on NDArrays."""
        try:
            if ctx is _ANY:
                params = {key: p.list_data()[0] for key, p in self._reg_params.items()}
            else:
                params = {key: p.data(ctx) for key, p in self._reg_params.items()}
        except DeferredInitializationError:
            self._finish_deferred(x, *args)
            params = {key: p.data(None if ctx is _ANY else ctx) for key, p in self._reg_params.items()}
        return self.hybrid_forward(nd, x, *args, **params)

    def hybrid_forward(self, F, x, *args, **kwargs):
        """The computation, in operators of `F` (`mx.nd` or `mx.sym`); defined by subclasses."""
        raise NotImplementedError(f'[gluon.HybridBlock] {type(self).__name__} defines neither hybrid_forward nor forward')

    # -- files -------------------------------------------------------------------------------------
    def export(self, path, epoch=0, remove_amp_cast=True):
        """Write `path`-symbol.json and `path`-%04d.params (names with arg: and aux:), for
        SymbolBlock.imports, Module and the C predict API. RuntimeError unless the block is
        hybridized and has run once. Returns both file names.

        >>> net = mx.gluon.nn.HybridSequential()
        >>> net.add(mx.gluon.nn.Dense(1))
        >>> net.initialize()
        >>> net.hybridize()
        >>> _ = net(mx.nd.ones((1, 2)))
        >>> net.export('model')
        ('model-symbol.json', 'model-0000.params')
        """
        return _graph_files.export(self, path, epoch, remove_amp_cast)

    def _describe(self):
        described = super()._describe()
        described.update(_graph_files.describe_graph(self))
        return described

    def _restore(self, described, source):
        super()._restore(described, source)
        _graph_files.restore_graph(self, described)
