"""Graphs of hybridized blocks: recorded from `forward` by deferred compute or from `hybrid_forward`
on symbols, and called with arrays."""
import json
import re
import threading
import warnings
from collections import OrderedDict

from .. import autograd, context as context_mod, ndarray as nd, symbol
from .._arrays import deferred_compute as dc
from .._binding import set_mode
from .._arrays.tracing import CONTEXT, DTYPE, MODE, RANK, SHAPE, TraceStopped, watch
from ..name import _scopes as naming
from ..ndarray import NDArray
from .._arrays.classes import numpy_among
from ..util import is_np_array
from ._block import _BlockScope
from ._parameter import DeferredInitializationError, _generation
from ._state import Snapshot, is_ours, token
from ._structure import ARRAY, describe, flatten, listed, rebuild, regroup

__all__ = ['Trace', 'Traces', 'classes', 'signature', 'blocks_below', 'input_names', 'input_context', 'plain', 'record', 'compose',
           'renamed_graph']

MOST_TRACES = 32       # graphs kept per block, those used last; what plans each keeps: cached_op.cc
_tracing = threading.RLock()   # recording marks the arrays of Parameters, which all threads share


class _Plain(threading.local):
    """`on` while compiled blocks of this thread are to run operator by operator: during tracing and
    shape completion. It is put back by an assignment, as `watch` is (`_watched`)."""
    on = False


plain = _Plain()


def run_plainly(forward, args, kwargs):
    """Call `forward` without gradients, and all compiled blocks below it operator by operator."""
    before, plain.on = plain.on, True
    try:
        with autograd.pause():
            forward(*args, **kwargs)
    finally:
        plain.on = before


def input_context(flat):
    """The context of the first NDArray, preferring one that is not the CPU; None without any
    NDArray."""
    first = None
    for arg in flat:
        if isinstance(arg, NDArray):
            ctx = arg.context
            if ctx.device_type not in ('cpu', 'cpu_pinned', 'cpu_shared'):
                return ctx
            first = first or ctx
    return first


def blocks_below(block):
    """`block` and everything below it, each once."""
    found, stack = {}, [block]
    while stack:
        b = stack.pop()
        if id(b) not in found:
            found[id(b)] = b
            stack.extend(b._children.values())
    return list(found.values())


def renamed_graph(text, names):
    """The symbol that `text`, JSON, describes, with variables renamed: {name: new name}."""
    graph = json.loads(text)
    for node in graph['nodes']:
        if node['op'] == 'null':
            node['name'] = names.get(node['name'], node['name'])
    return symbol.load_json(json.dumps(graph))


def input_names(described, block):
    """Names of the variables for the arrays of a description of arguments of `block`: data, or
    data0, data1, ..., where None has a number too. A Parameter may have such a name itself."""
    leaves = []

    def walk(d):
        if d == ARRAY:
            leaves.append(True)
        elif d[0] is type(None):
            leaves.append(False)
        elif isinstance(d[-1], tuple):
            for x in d[-1]:
                if isinstance(x, tuple) and len(x) > 1 and isinstance(x[0], type) or x == ARRAY:
                    walk(x)
    walk(described)
    names = ['data'] if len(leaves) == 1 else [f'data{i}' for i, is_array in enumerate(leaves) if is_array]
    taken = {p.name for p in block.collect_params().values()}
    while taken.intersection(names):
        names = [f'{name}_input' if name in taken else name for name in names]
    return names


def signature(described, arrays):
    """Everything that a graph may depend on: (nesting and other arguments, shapes, ranks, dtypes,
    devices, mode, classes of arrays)."""
    return (described, tuple(a.shape for a in arrays), tuple(a.ndim for a in arrays), tuple(a._dtype_id for a in arrays),
            tuple(a._ctx_ids for a in arrays), set_mode(None, None), classes(arrays))


def classes(arrays):
    """The classes of arrays: functions of mx.nd and mx.np compute different things."""
    return type(arrays[0]) if len(arrays) == 1 else tuple(map(type, arrays))


_PARTS = ((SHAPE, 1), (RANK, 2), (DTYPE, 3), (CONTEXT, 4), (MODE, 5))


def _project(full, reads):
    return (full[0], full[6]) + tuple(full[i] for bit, i in _PARTS if reads & bit)


def _watched():
    """What `watch` is. An assignment in a ``finally`` puts it back. Ctrl-C could come where a
    function is called that does so; then `watch` stayed on, and later calls of Gluon failed."""
    return watch.on, watch.reads, watch.why, watch.aliases, watch.raises


def record(block, args, kwargs, arrays, variables):
    """(output symbol, description of the outputs, {variable: array} of arrays from outside, what
    was read) of ``block.forward(*args, **kwargs)``.

    Nothing is computed. Parameters below `block` must be initialised. Raises TraceStopped, and
    whatever `forward` raises.
    """
    # Fresh handles: an input that is also a Parameter, or is given twice, must not lose its own
    # variable.
    inputs = [a._detach() for a in arrays]
    found = []
    described = describe((args, kwargs), found)
    args, kwargs = rebuild(described, iter(inputs))
    marked = list(zip(inputs, variables))
    for param in block.collect_params().values():
        marked += [(array, param.var()) for array in param._data or ()]
    before, deferred, plain_before = _watched(), dc.is_deferred_compute(), plain.on
    with _tracing:
        try:
            plain.on = True
            watch.on, watch.reads, watch.why, watch.aliases, watch.raises = True, 0, None, {}, True
            dc.take_constants()
            dc.set_variable([a for a, _ in marked], [v for _, v in marked])
            outputs = []
            try:
                with dc.context():
                    result = block.forward(*args, **kwargs)
                    if watch.why:    # and the program went on
                        raise TraceStopped(watch.why)
                    try:
                        out_described = describe(result, outputs)
                    except TypeError as e:
                        raise TraceStopped(f'forward returns {e}') from None
                    if not outputs:
                        raise TraceStopped('forward returns no array')
                    out = dc.get_symbol(outputs)
                reads = watch.reads
            finally:
                dc.set_deferred_compute(deferred)    # again: Ctrl-C may have come as the scope ended
                dc.clear([a for a, _ in marked])
                constants = dc.take_constants()
        finally:
            plain.on = plain_before
            watch.on, watch.reads, watch.why, watch.aliases, watch.raises = before
    if constants:
        reads |= CONTEXT
    if not _keeps_tuples(block, arrays):
        out_described = listed(out_described)
    return out, out_described, constants, reads & (SHAPE | RANK | DTYPE | CONTEXT | MODE)


def _keeps_tuples(block, arrays):
    """Whether tuples that `block` returns stay tuples: where the original does not compile. 2.0
    does not compile recurrent cells, and 1.9.1 no `forward` of a program."""
    if numpy_among(arrays):
        return getattr(block, '_steps', False)
    return block._traces_forward and not type(block).forward.__module__.startswith('mxnet.')


def alike(variable, given):
    """`variable` as a symbol with NumPy's rules, if `given` is one."""
    return variable if type(given) is symbol.Symbol else variable.as_np_ndarray()


def of_numpy(args):
    """Whether a call is one with mx.np arrays: those that it gets are, or Gluon makes them."""
    found = []
    describe(args, found)
    return is_np_array() or numpy_among(found)


def compose(block, args, variables, described):
    """(output symbol, nesting of the outputs, what was read, why the graph is not to be compiled or
    None) of ``block.hybrid_forward(symbol, *args)``."""
    params = {key: p.var() for key, p in block._reg_params.items()}
    if of_numpy(args):
        variables = [v.as_np_ndarray() for v in variables]
        params = {key: v.as_np_ndarray() for key, v in params.items()}
    before, names, scope = _watched(), list(naming.stack), getattr(_BlockScope._current, 'value', None)
    try:
        # Symbols have no values to go wrong with; the graph also infers shapes, and is exported.
        watch.on, watch.reads, watch.why, watch.aliases, watch.raises = True, 0, None, {}, False
        with block.name_scope():
            result = block.hybrid_forward(symbol, *rebuild(described, iter(variables)), **params)
        reads, why = watch.reads & MODE, watch.why
    finally:
        watch.on, watch.reads, watch.why, watch.aliases, watch.raises = before
        naming.stack, _BlockScope._current.value = names, scope    # again: Ctrl-C may have come as a scope ended
    outputs, out_format = flatten(result, 'output')
    return symbol.Group([o for o in outputs if o is not None]), out_format, reads, why


def _structure(graph):
    """Nodes and outputs of a symbol, without the numbers in names that count recordings."""
    def uncounted(text):
        return re.sub(r'_dc\d+', '', text) if '_dc' in text else text

    def numbered(entries):
        return [(node.index, output) for node, output in entries]
    nodes = graph.nodes()
    return [(uncounted(node.name), node.op, {key: uncounted(value) for key, value in node.attrs.items()}, numbered(node.inputs),
             [_structure(inner) for inner in node.subgraphs]) for node in nodes], numbered(nodes.heads)


class Trace:
    """A graph and the CachedOp that runs it.

    Parameters
    ----------
    variables, out : list of Symbol, Symbol
        Inputs, and what is computed.
    nesting, exact
        The outputs: as `describe` has them if `exact`, else as `flatten`.
    reads : int
        What Python read while the graph was recorded.
    full
        The `signature` of the arguments.
    """
    __slots__ = ('variables', 'out', 'nesting', 'exact', 'constants', 'reads', 'full', 'op', 'hook',
                 'args', 'guards', 'only_constants', '_prepared', '_generation', '__weakref__')

    def __init__(self, variables, out, nesting, exact, reads=0, full=None, constants=None):
        self.variables, self.out, self.nesting, self.exact = variables, out, nesting, exact
        self.reads, self.full, self.constants = reads, full, constants or {}
        self.op = self.hook = self.args = None
        self.guards, self.only_constants = (), False
        self._prepared, self._generation = {}, -1

    @property
    def num_plain(self):
        """The number of arguments when all are single arrays and the graph serves every such call;
        -1 otherwise."""
        if self.reads or self.guards or self.full is None:
            return -1
        described = self.full[0]
        return len(described[1]) if described[0] is tuple and all(d == ARRAY for d in described[1]) else -1

    def structure(self):
        """What the graph computes, to compare with others."""
        return _structure(self.out)

    def compile(self, flags, params, name):
        """Make the CachedOp. `params` are the Parameters below by name; ValueError when the graph
        reads anything else."""
        position = {v.name: i for i, v in enumerate(self.variables)}
        inputs = self.out.list_inputs()
        used = set(inputs)
        ignored = ', '.join(f'{i}-th' for n, i in position.items() if n not in used)
        idle = ', '.join(sorted(n for n in params if n not in used))
        for what in ([f'The {ignored} input to HybridBlock'] if ignored else []) + ([f'Parameter {idle}'] if idle else []):
            warnings.warn(f'{what} is not used by any computation. Is this intended? ({name})', stacklevel=6)
        sources = {**self.constants, **params, **position}
        unknown = [n for n in inputs if n not in sources]
        if unknown:
            raise ValueError(f'[gluon.hybridize] the graph of {name!r} reads {unknown}, which are neither inputs nor Parameters '
                             'of this block and its children')
        self.args = [sources[n] for n in inputs]
        data = [i for i, a in enumerate(self.args) if isinstance(a, int)]
        rest = [i for i, a in enumerate(self.args) if not isinstance(a, int)]
        self.only_constants = all(isinstance(a, NDArray) for a in self.args)
        self.op = nd.CachedOp(self.out, list(dict(flags, data_indices=data, param_indices=rest).items()))

    def arguments(self, ctx):
        """The CachedOp's arguments on `ctx`, None for inputs."""
        return tuple(None if isinstance(a, int) else a if isinstance(a, NDArray) else a.data(ctx) for a in self.args)

    def _prepare(self, block, flat, ctx):
        """For a graph that reads one input once: (arguments before it, arguments after it, None);
        otherwise (arguments with None for data, (), [(place, position of data)])."""
        try:
            arrays = self.arguments(ctx)
        except DeferredInitializationError:
            block._finish_deferred(*rebuild(self.full[0], iter(flat)))
            arrays = self.arguments(ctx)
        positions = [(at, a) for at, a in enumerate(self.args) if isinstance(a, int)]
        if len(positions) == 1 and positions[0][1] == 0:
            at = positions[0][0]
            prepared = arrays[:at], arrays[at + 1:], None
        else:
            prepared = arrays, (), positions
        self._generation = _generation[0]
        self._prepared[ctx] = prepared
        return prepared

    def contexts(self):
        """Where it has run."""
        return list(self._prepared)

    def run(self, flat, block):
        """The outputs for the arrays `flat`, which are those of the arguments."""
        if self._generation != _generation[0]:
            self._prepared = {}
            self._generation = _generation[0]
        ctx = flat[0].context if len(flat) == 1 else input_context(flat) or context_mod.current_context()
        prepared = self._prepared.get(ctx)
        if prepared is None:
            prepared = self._prepare(block, flat, ctx)
        before, after, positions = prepared
        if positions is None:
            out = self.op(*before, flat[0], *after)
        else:
            arrays = list(before)
            for at, i in positions:
                arrays[at] = flat[i]
            out = self.op(*arrays)
            if self.only_constants and is_np_array():   # no argument tells the class of the results
                out = [o.as_np_ndarray() for o in out] if isinstance(out, list) else out.as_np_ndarray()
        if self.hook is not None:
            self.hook.raise_errors()
        if self.nesting == 0 or self.nesting is ARRAY:
            return out[0] if isinstance(out, list) else out
        out = out if isinstance(out, list) else [out]
        return rebuild(self.nesting, iter(out)) if self.exact else regroup(_with_none(out, self.nesting), self.nesting)


def _with_none(out, nesting):
    """The outputs, with a placeholder where the computation returned None."""
    missing = []

    def walk(d):
        if isinstance(d, list):
            for x in d:
                walk(x)
        else:
            missing.extend([d == -1] if d <= 1 else [False] * d)
    walk(nesting)
    if not any(missing):
        return out
    values = iter(out)
    return [None if gone else next(values) for gone in missing]


class Traces:
    """The graphs of one block, at most MOST_TRACES, by what they depend on."""

    def __init__(self):
        self._found = OrderedDict()
        self._reads = 0        # of all graphs together: a call looks at no more
        self.retired = []      # graphs of before an attribute was set, for when that changed nothing
        self.last = None       # used or made last

    def __len__(self):
        return len(self._found)

    def __iter__(self):
        return iter(self._found.values())

    def find(self, described, arrays):
        """The graph for these arguments, or None."""
        reads = self._reads
        if not reads:
            key = described, classes(arrays)
        else:
            key = [described, classes(arrays)]
            if reads & SHAPE:
                key.append(tuple([a.shape for a in arrays]))
            if reads & RANK:
                key.append(tuple([a.ndim for a in arrays]))
            if reads & DTYPE:
                key.append(tuple([a._dtype_id for a in arrays]))
            if reads & CONTEXT:
                key.append(tuple([a._ctx_ids for a in arrays]))
            if reads & MODE:
                key.append(set_mode(None, None))
            key = tuple(key)
        trace = self._found.get(key)
        if trace is None:
            return None
        if trace.guards and any(token(getattr(b, n, None)) != t for b, n, t in trace.guards):
            del self._found[key]
            return None
        if trace.constants and trace._generation not in (-1, _generation[0]):
            del self._found[key]    # an array from outside may have been a Parameter's that has another one now
            return None
        if trace is not self.last:
            self._found.move_to_end(key)
            self.last = trace
        return trace

    def add(self, trace):
        """Keep a new graph, and let the one go that was used longest ago."""
        if trace.reads & ~self._reads:
            self._reads |= trace.reads
            self._found = OrderedDict((_project(t.full, self._reads), t) for t in self._found.values())
        self._found[_project(trace.full, self._reads)] = self.last = trace
        while len(self._found) > MOST_TRACES:
            self._found.popitem(last=False)

    def retire(self):
        """Let all go, but keep a few to compare with."""
        self.retired = (self.retired + list(self._found.values()))[-4:]
        self._found.clear()
        self.last = None

    def same_as_before(self, trace):
        """A retired graph that equals `trace`, or None."""
        if not trace.constants:
            for old in self.retired:
                alike = not old.constants and old.full == trace.full and old.nesting == trace.nesting
                if alike and old.op is not None and old.structure() == trace.structure():
                    return old
        return None


def guards_of(blocks):
    """(block, attribute, token) of the small containers that users' blocks keep: they can change
    without an attribute being set."""
    from ._state import is_own_attribute
    found = []
    for b in blocks:
        if not is_ours(b):
            found += [(b, k, token(v)) for k, v in b.__dict__.items()
                      if isinstance(v, (list, dict, set)) and v and len(v) <= 64 and not is_own_attribute(k)]
    return tuple(found)


def traced_safely(block, make):
    """(what `make()` returns, None), or (None, why not) where a graph cannot have what forward
    does; whatever forward changed is put back then."""
    snapshot = Snapshot(blocks_below(block))
    try:
        made = make()
        why = snapshot.changed()
    except TraceStopped as e:
        made, why = None, watch_reason(e)
    except BaseException:
        snapshot.restore()
        raise
    snapshot.restore()
    return (made, None) if why is None else (None, why)


def watch_reason(error):
    """The reason in the text of a TraceStopped."""
    text = str(error)
    return text[len('[hybridize] '):].split(' while the graph')[0] if text.startswith('[hybridize] ') else text
