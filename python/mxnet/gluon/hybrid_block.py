"""HybridBlock: a Block whose computation is also a graph, so that it can be compiled, exported and have its shapes inferred."""
import threading
import warnings

from .. import autograd, ndarray as nd, symbol
from ..ndarray import NDArray
from ..symbol import Symbol
from ._structure import flatten, regroup
from .block import Block
from .parameter import DeferredInitializationError, Parameter, _generation

__all__ = ['HybridBlock']


class _Plain(threading.local):
    """`on` while compiled blocks of this thread are to run operator by operator: during tracing and shape completion."""
    on = 0

    def __enter__(self):
        self.on += 1

    def __exit__(self, ptype, value, trace):
        self.on -= 1


_plain = _Plain()


def _input_context(flat):
    """The context of the first NDArray, preferring one that is not the CPU; ValueError without any NDArray."""
    first = None
    for arg in flat:
        if isinstance(arg, NDArray):
            ctx = arg.context
            if ctx.device_type not in ('cpu', 'cpu_pinned', 'cpu_shared'):
                return ctx
            first = first or ctx
    return first


class HybridBlock(Block):
    """A Block that can run operator by operator or as one compiled graph (`hybridize`).

    Subclasses define one of

    * ``hybrid_forward(self, F, x, *args, **params)``: F is `mx.nd` or `mx.sym`, `params` are the Parameters that are attributes
      of this block;
    * ``forward(self, x, *args)``, on NDArrays only, with ``self.weight.data()``: its graph is recorded by deferred compute. A block
      of this kind whose own Parameters have open dimensions also defines ``infer_shape(self, x, *args)``, which sets their shapes.

    All children must be HybridBlocks.
    """

    _traces_forward = False    # this class defines forward and no hybrid_forward
    _compiles_all = True       # when compiled, a call is the graph and nothing else

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        own_forward = cls.forward is not HybridBlock.forward
        cls._traces_forward = cls.hybrid_forward is HybridBlock.hybrid_forward and own_forward
        cls._compiles_all = cls._traces_forward or not own_forward

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._active = False
        self._flags = {}
        self._backend = None
        self._backend_opts = {}
        self._op_hook = None    # (callback, monitor_all)
        self._clear_cached_op()

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if isinstance(value, (HybridBlock, Parameter)) and '_cached_op' in self.__dict__:
            self._clear_cached_op()

    def _adopt(self, param):
        # In the style without name scopes, `self.weight = Parameter(shape=...)` is how a block gets its Parameters.
        if self._traces_forward and not getattr(param, '_in_dict', False):
            param._in_dict = True
            if not param.name.startswith(self.prefix):
                param.name = self.prefix + param.name
            assert self._params._params.get(param.name, param) is param, (
                f'[gluon.HybridBlock] two Parameters of {self.name!r} are named {param.name!r}; distinct names are accepted')
            self._params._params[param.name] = param

    def register_child(self, block, name=None):
        """Make `block`, which must be a HybridBlock (ValueError otherwise), a child."""
        if not isinstance(block, HybridBlock):
            raise ValueError(f'[gluon.HybridBlock] child of type {type(block).__name__} given; a HybridBlock is accepted '
                             '(Sequential accepts any Block, HybridSequential only HybridBlocks)')
        super().register_child(block, name)
        self._clear_cached_op()

    # -- switching -----------------------------------------------------------------------------------------------
    def hybridize(self, active=True, backend=None, clear=True, static_alloc=False, static_shape=False, inline_limit=2,
                  forward_bulk_size=None, backward_bulk_size=None, **kwargs):
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
        """
        if static_shape and not static_alloc:
            raise ValueError('[gluon.hybridize] static_shape=True given with static_alloc=False; static_shape needs static_alloc=True')
        self._active = bool(active)
        self._backend = backend
        self._backend_opts = kwargs
        flags = {'static_alloc': static_alloc, 'static_shape': static_shape, 'inline_limit': inline_limit}
        if forward_bulk_size is not None:
            flags['forward_bulk_size'] = forward_bulk_size
        if backward_bulk_size is not None:
            flags['backward_bulk_size'] = backward_bulk_size
        self._flags = flags
        if clear or not active:
            self._clear_cached_op()
        if active and (self._forward_hooks or self._forward_pre_hooks) and self._children:
            warnings.warn(f'[gluon.hybridize] hooks of the blocks below {self.name!r} do not run while it is compiled; its own do', stacklevel=2)
        super().hybridize(active, static_alloc=static_alloc, static_shape=static_shape, inline_limit=inline_limit,
                          forward_bulk_size=forward_bulk_size, backward_bulk_size=backward_bulk_size)

    def optimize_for(self, x, *args, backend=None, clear=False, static_alloc=False, static_shape=False, inline_limit=2,
                     forward_bulk_size=None, backward_bulk_size=None, **kwargs):
        """Hybridize, trace with these inputs and partition the graph with `backend`, without computing the outputs."""
        if not backend:
            raise ValueError('[gluon.optimize_for] no backend given; the name of a graph partitioner is accepted')
        self.hybridize(True, backend, clear, static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size, **kwargs)
        self._cached_op = None
        if self._has_deferred():
            self._finish_deferred(x, *args)
        self._build_cache(x, *args)

    def _clear_cached_op(self):
        self._cached_graph = ()       # (input variables in the nesting of the arguments, output symbol)
        self._cached_op = None
        self._attached_hook = None    # the OpHook of the present CachedOp
        self._cached_op_args = ()     # per input of the graph: position among the arguments, or the Parameter
        self._cached_params = {}      # context -> arguments with Parameters filled in, valid for one storage generation
        self._cached_generation = -1
        self._in_format = None
        self._out_format = None
        self._plain_inputs = -1       # of a compiled block whose arguments are all single arrays: their number

    def register_op_hook(self, callback, monitor_all=False):
        """Call `callback(name, operator, array)` for the operators of the compiled graph; what it raises, the call of the block raises."""
        self._op_hook = (callback, monitor_all)
        self._attach_op_hook()
        super().register_op_hook(callback, monitor_all)

    def _attach_op_hook(self):
        if self._op_hook is not None and self._cached_op is not None:
            from ._op_hook import OpHook
            self._attached_hook = OpHook(self._cached_op, *self._op_hook)

    def cast(self, dtype):
        """Convert all Parameters below to `dtype` and forget the graph."""
        self._clear_cached_op()
        super().cast(dtype)

    # -- graph ---------------------------------------------------------------------------------------------------
    def _get_graph(self, *args):
        """(input variables, output symbol); made once for one nesting of the arguments."""
        flat, in_format = flatten(list(args), 'input')
        if self._cached_graph and in_format == self._in_format:
            return self._cached_graph
        names = ['data'] if len(flat) == 1 else [f'data{i}' for i in range(len(flat))]
        variables = [None if a is None else symbol.var(n) for n, a in zip(names, flat)]
        if self._must_trace():
            from . import _trace
            with _plain:
                out, out_format = _trace.record(self, args, flat, variables)
        else:
            params = {key: p.var() for key, p in self._reg_params.items()}
            with self.name_scope():
                result = self.hybrid_forward(symbol, *regroup(variables, in_format), **params)
            outputs, out_format = flatten(result, 'output')
            out = symbol.Group([o for o in outputs if o is not None])
        self._in_format, self._out_format = in_format, out_format
        self._cached_graph = variables, out
        return self._cached_graph

    def _must_trace(self):
        """True when this block or one below has no symbolic form."""
        return self._traces_forward or any(c._must_trace() for c in self._children.values())

    def _has_deferred(self):
        return any(p._deferred_init for p in self.collect_params().values())

    def _infer(self, method, attribute, args):
        variables, out = self._get_graph(*args)
        flat, _ = flatten(list(args), 'input')
        known = {v.name: getattr(a, attribute) for v, a in zip(variables, flat) if v is not None}
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
        """Fill in the open dimensions of all Parameters below from these inputs."""
        if self._traces_forward:
            raise ValueError(f'[gluon.infer_shape] {type(self).__name__} has Parameters with open dimensions and defines forward without '
                             'infer_shape; define infer_shape, which sets their shapes, or give them full shapes')
        self._infer('infer_shape', 'shape', args)

    def infer_type(self, *args):
        """Set the dtype of all Parameters below to what follows from these inputs."""
        self._infer('infer_type', 'dtype', args)

    def _finish_deferred(self, *args):
        """Initialise the Parameters whose initialisation waited for these inputs."""
        if self._must_trace():
            if self._traces_forward and any(p._deferred_init for p in self._reg_params.values()):
                self.infer_shape(*args)
                for p in self._reg_params.values():
                    p._finish_deferred_init()
            if self._has_deferred():
                with autograd.pause(), _plain:    # every block below completes its own Parameters while it runs
                    self.forward(*args)
            return
        try:
            self.infer_shape(*args)
        except Exception as e:
            raise ValueError(f'[gluon.HybridBlock] shapes of the Parameters of {self.name!r} cannot be inferred from these inputs: {e}') from e
        for p in self.collect_params().values():
            p._finish_deferred_init()
        if not self._active:
            self._clear_cached_op()

    def _build_cache(self, *args):
        """Make the CachedOp for arguments of this nesting."""
        variables, out = self._get_graph(*args)
        params = {p.name: p for p in self.collect_params().values()}
        if self._backend:
            out = self._partition(variables, out, params, args)
        position = {v.name: i for i, v in enumerate(variables) if v is not None}
        inputs = out.list_inputs()
        used = set(inputs)
        unused = [f'input {i}' for n, i in position.items() if n not in used]
        unused += [f'Parameter {n!r}' for n in params if n not in used]
        for what in unused:
            warnings.warn(f'[gluon.hybridize] {what} of {self.name!r} is not used by its computation', stacklevel=5)
        unknown = [n for n in inputs if n not in position and n not in params]
        if unknown:
            raise ValueError(f'[gluon.hybridize] the graph of {self.name!r} reads {unknown}, which are neither inputs nor Parameters '
                             'of this block and its children')
        self._cached_op_args = [position[n] if n in position else params[n] for n in inputs]
        data_indices = [i for i, a in enumerate(self._cached_op_args) if isinstance(a, int)]
        param_indices = [i for i, a in enumerate(self._cached_op_args) if not isinstance(a, int)]
        flags = dict(self._flags, data_indices=data_indices, param_indices=param_indices)
        self._cached_op = nd.CachedOp(out, list(flags.items()))
        self._attach_op_hook()
        self._plain_inputs = len(args) if all(d == 0 for d in self._in_format) else -1
        self._cached_params = {}

    def explain(self, *args, path=None, runs=5):
        """The compiled plan of this block: nodes as fused, layouts, memory, time per node.

        Parameters
        ----------
        args : NDArray
            Inputs, for which the block is called once first (in the present modes of autograd). Without them the plan of the last call is explained,
            its inputs taken as zeros.
        path : str, optional
            Where to write it, in the form that the name ends in: ``.html`` (a page that needs nothing else), ``.svg`` (the arena over time), ``.txt`` or ``.json``.
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
        """
        if args:
            self(*args)
        if not self._active or self._cached_op is None:
            raise RuntimeError(f'[gluon.explain] {self.name!r} has no plan; call hybridize(), and explain with inputs or after a call')
        from ..explain import of_cached_op
        flat = flatten(list(args), 'input')[0] if args else []
        ctx = _input_context(flat) if flat else next(iter(self._cached_params), None)
        inputs = [(flat[a] if flat else None) if isinstance(a, int) else a.data(ctx) for a in self._cached_op_args]
        explanation = of_cached_op(self._cached_op.handle, inputs, runs)
        if path is not None:
            explanation.save(path)
        return explanation

    def _partition(self, variables, out, params, args):
        """`out` after the partitioner; Parameters that it adds or replaces become Parameters of this block."""
        flat, _ = flatten(list(args), 'input')
        ctx = _input_context(flat)
        arg_names, aux_names = set(out.list_arguments()), set(out.list_auxiliary_states())
        arg_dict = {n: p.data(ctx) for n, p in params.items() if n in arg_names}
        aux_dict = {n: p.data(ctx) for n, p in params.items() if n in aux_names}
        arg_dict.update({v.name: a for v, a in zip(variables, flat) if v is not None})
        out = out.optimize_for(self._backend, arg_dict, aux_dict, ctx, **self._backend_opts)
        inputs = {v.name for v in variables if v is not None}
        for name in out.list_inputs():
            if name in params or name in inputs:
                continue
            value = arg_dict.get(name, aux_dict.get(name))
            if value is None:
                continue
            param = Parameter(name, shape=value.shape, dtype=value.dtype, grad_req='null' if name in aux_dict else 'write')
            param._load_init(value, [ctx])
            param._in_dict = True
            self._params._params[name] = params[name] = param
        self._cached_graph = variables, out
        return out

    def _call_cached_op(self, args):
        if self._cached_op is None:
            if self._has_deferred():
                self._finish_deferred(*args)
            self._build_cache(*args)
        if len(args) == self._plain_inputs and all(isinstance(a, NDArray) for a in args):
            return self._run_cached_op(args, args)
        flat, in_format = flatten(list(args), 'input')
        if in_format != self._in_format:
            raise ValueError(f'[gluon.HybridBlock] arguments nested as {in_format} given to {self.name!r}, which is compiled for '
                             f'{self._in_format}; the same nesting, or hybridize() before the call, is accepted')
        return self._run_cached_op(flat, args)

    def _run_cached_op(self, flat, args):
        """The outputs for the arguments `args`, which are `flat` without nesting and fit the graph."""
        if self._cached_generation != _generation[0]:
            self._cached_params = {}
            self._cached_generation = _generation[0]
        ctx = flat[0].context if len(flat) == 1 else _input_context(flat)
        prepared = self._cached_params.get(ctx)
        if prepared is None:
            prepared = self._prepare(args, ctx)
        before, after, positions = prepared
        if positions is None:
            out = self._cached_op(*before, flat[0], *after)
        else:
            arrays = list(before)
            for at, i in positions:
                arrays[at] = flat[i]
            out = self._cached_op(*arrays)
        if self._attached_hook is not None:
            self._attached_hook.raise_errors()
        if self._out_format == 0:
            return out[0] if isinstance(out, list) else out
        return regroup(self._with_none(out if isinstance(out, (list, tuple)) else [out]), self._out_format)

    def _with_none(self, out):
        """The outputs, with a placeholder where the computation returned None."""
        missing = []

        def walk(d):
            if isinstance(d, list):
                for x in d:
                    walk(x)
            else:
                missing.extend([d == -1] if d <= 1 else [False] * d)
        walk(self._out_format)
        if not any(missing):
            return list(out)
        values = iter(out)
        return [None if gone else next(values) for gone in missing]

    def _prepare(self, args, ctx):
        """The CachedOp's arguments on `ctx`: for a graph that reads one input once, (Parameters before it, Parameters after it, None);
        otherwise (Parameters with None for data, (), [(place, position of data)])."""
        try:
            arrays = tuple(None if isinstance(a, int) else a.data(ctx) for a in self._cached_op_args)
        except DeferredInitializationError:
            self._finish_deferred(*args)
            arrays = tuple(None if isinstance(a, int) else a.data(ctx) for a in self._cached_op_args)
        positions = [(at, a) for at, a in enumerate(self._cached_op_args) if isinstance(a, int)]
        if len(positions) == 1 and positions[0][1] == 0:
            at = positions[0][0]
            prepared = arrays[:at], arrays[at + 1:], None
        else:
            prepared = arrays, (), positions
        self._cached_generation = _generation[0]
        self._cached_params[ctx] = prepared
        return prepared

    # -- computation ---------------------------------------------------------------------------------------------
    def __call__(self, *args):
        """Run the pre-hooks, the computation and the hooks."""
        if (len(args) == self._plain_inputs and self._compiles_all and not self._forward_hooks and not self._forward_pre_hooks
                and not _plain.on):
            for a in args:
                if not isinstance(a, NDArray):
                    break
            else:
                return self._run_cached_op(args, args)    # compiled already: the short way
        if not self._traces_forward:
            return super().__call__(*args)
        for hook in list(self._forward_pre_hooks.values()):
            hook(self, args)
        flat, _ = flatten(list(args), 'input')
        if any(isinstance(a, Symbol) for a in flat):
            out = self._compose(args, flat)
        elif self._active and not _plain.on:
            out = self._call_cached_op(args)
        else:
            try:
                out = self.forward(*args)
            except DeferredInitializationError:
                if not any(p._deferred_init for p in self._reg_params.values()):
                    raise
                self._finish_deferred(*args)
                out = self.forward(*args)
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
        composed = out(**{v.name: a for v, a in zip(variables, flat) if v is not None and v.name in used})
        return regroup(list(composed) if self._out_format != 0 else [composed], self._out_format)

    def forward(self, x, *args):
        """Run `hybrid_forward` on NDArrays (compiled, when hybridized) or on Symbols."""
        if isinstance(x, NDArray):
            ctx = x.context
            if args:
                flat = flatten((x,) + args, 'input')[0]
                if any(isinstance(a, Symbol) for a in flat):
                    raise ValueError('[gluon.HybridBlock] NDArrays and Symbols given together; either NDArrays or Symbols are accepted')
                ctx = _input_context(flat)
        elif isinstance(x, Symbol):
            ctx = None
        else:
            flat = flatten([x, *args], 'input')[0]
            symbols = sum(isinstance(a, Symbol) for a in flat)
            ctx = _input_context(flat)
            if bool(symbols) == (ctx is not None):
                raise ValueError('[gluon.HybridBlock] at least one NDArray or at least one Symbol, and not both kinds, is accepted as input; '
                                 f'{symbols} Symbols among {len(flat)} arguments given')
        if ctx is None:
            params = {key: p.var() for key, p in self._reg_params.items()}
            with self.name_scope():
                return self.hybrid_forward(symbol, x, *args, **params)
        if self._active and not _plain.on:
            return self._call_cached_op((x,) + args)
        try:
            params = {key: p.data(ctx) for key, p in self._reg_params.items()}
        except DeferredInitializationError:
            self._finish_deferred(x, *args)
            params = {key: p.data(ctx) for key, p in self._reg_params.items()}
        return self.hybrid_forward(nd, x, *args, **params)

    def hybrid_forward(self, F, x, *args, **kwargs):
        """The computation, in operators of `F` (`mx.nd` or `mx.sym`); defined by subclasses."""
        raise NotImplementedError(f'[gluon.HybridBlock] {type(self).__name__} defines neither hybrid_forward nor forward')

    # -- files ---------------------------------------------------------------------------------------------------
    def export(self, path, epoch=0, remove_amp_cast=True):
        """Write `path`-symbol.json and `path`-%04d.params (names with arg: and aux:), for SymbolBlock.imports, Module and the C
        predict API. RuntimeError unless the block is hybridized and has run once. Returns both file names."""
        if not self._cached_graph:
            raise RuntimeError(f'[gluon.export] {self.name!r} has no graph; call hybridize() and run it once before')
        out = self._cached_graph[1]
        sym_file = f'{path}-symbol.json'
        out.save(sym_file, remove_amp_cast=remove_amp_cast)
        arg_names, aux_names = set(out.list_arguments()), set(out.list_auxiliary_states())
        arrays = {}
        for name, param in self.collect_params().items():
            if name in arg_names:
                arrays['arg:' + name] = param._reduce()
            elif name in aux_names:
                arrays['aux:' + name] = param._reduce()
        params_file = f'{path}-{epoch:04d}.params'
        nd.save(params_file, arrays)
        return sym_file, params_file

    def _describe(self):
        described = super()._describe()
        if self._cached_graph and self._active:
            variables, out = self._cached_graph
            described['compiled'] = {'symbol': out.tojson(), 'inputs': [None if v is None else v.name for v in variables],
                                     'in_format': self._in_format, 'out_format': self._out_format, 'flags': self._flags}
        return described

    def _restore(self, described, source):
        super()._restore(described, source)
        compiled = described.get('compiled')
        if compiled:
            out = symbol.load_json(compiled['symbol'])
            known = set(self.collect_params().keys())
            inputs = set(n for n in compiled['inputs'] if n)
            if all(n in known or n in inputs for n in out.list_inputs()):
                self._clear_cached_op()
                self._cached_graph = [None if n is None else symbol.var(n) for n in compiled['inputs']], out
                self._in_format, self._out_format = compiled['in_format'], compiled['out_format']
                self._flags, self._active = compiled['flags'], True

