"""The graph of a hybridized block outside of its calls: in files, in copies of the block, in
reports, and in the hands of a partitioner."""
import warnings

from .. import symbol
from .._binding import set_mode
from ._parameter import Parameter
from ._structure import ARRAY, describe
from ._trace import input_context, renamed_graph
from .parameter_dict import save_arrays

__all__ = ['explain', 'partition', 'export', 'graph_arrays', 'describe_graph', 'restore_graph']


def explain(block, args, path, runs):
    """:meth:`HybridBlock.explain`."""
    if args:
        block(*args)
    if not block._active or block._cached_op is None:
        raise RuntimeError(f'[gluon.explain] {block.name!r} has no plan; call hybridize(), and explain with inputs or after a call')
    from ..explain import of_cached_op
    trace, flat = block._traces.last, []
    describe(args, flat)
    ctx = input_context(flat) if flat else next(iter(trace.contexts()), None)
    given = len(flat) > max((a for a in trace.args if isinstance(a, int)), default=-1)
    # A call may make more arrays of these, as recurrent layers make states: then all are zeros.
    inputs = [(flat[a] if given else None) if isinstance(a, int) else a for a in trace.args]
    inputs = [a.data(ctx) if isinstance(a, Parameter) else a for a in inputs]
    explanation = of_cached_op(trace.op.handle, inputs, runs)
    if path is not None:
        explanation.save(path)
    return explanation


def partition(block, trace, params, flat):
    """Let the partitioner of `block` rewrite the graph. Parameters that it adds or replaces become
    Parameters of the block."""
    variables, out = trace.variables, trace.out
    ctx = input_context(flat)
    arg_names, aux_names = set(out.list_arguments()), set(out.list_auxiliary_states())
    arg_dict = {n: p.data(ctx) for n, p in params.items() if n in arg_names}
    aux_dict = {n: p.data(ctx) for n, p in params.items() if n in aux_names}
    arg_dict.update({v.name: a for v, a in zip(variables, flat)})
    given = {**arg_dict, **aux_dict}
    out = out.optimize_for(block._backend, arg_dict, aux_dict, ctx, **block._backend_opts)
    inputs = {v.name for v in variables}
    for name in out.list_inputs():
        value = arg_dict.get(name, aux_dict.get(name))
        if name in inputs or value is None or value is given.get(name):
            continue
        if name in params:
            params[name].set_data(value)
            continue
        param = Parameter(name, shape=value.shape, dtype=value.dtype, grad_req='null' if name in aux_dict else 'write')
        param._load_init(value, [ctx])
        param._in_dict = True
        block._params._params[name] = params[name] = param
    trace.out = out
    block._cached_graph = variables, out


def export(block, path, epoch, remove_amp_cast):
    """:meth:`HybridBlock.export`."""
    if not block._cached_graph:
        why = next(iter(block._by_operator.values()), None)
        raise RuntimeError(f'[gluon.export] {block.name!r} has no graph; '
                           + (f'it runs operator by operator: {why}' if why
                              else 'call hybridize() and run it once before'))
    if len(block._traces) > 1:
        warnings.warn(f'[gluon.export] {block.name!r} has {len(block._traces)} graphs, for '
                      f'different shapes, modes or arguments; the one recorded last is written',
                      stacklevel=3)
    out, arrays = graph_arrays(block)
    sym_file = f'{path}-symbol.json'
    params_file = '%s-%04d.params' % (path, epoch)
    # The graph comes last: where parameters cannot be written, older ones keep theirs.
    save_arrays(params_file, arrays)
    out.save(sym_file, remove_amp_cast=remove_amp_cast)
    return sym_file, params_file


def graph_arrays(block):
    """(the graph recorded last, the parameters that it reads as files have them: 'arg:' or 'aux:'
    before their names)."""
    out = block._cached_graph[1]
    arg_names, aux_names = set(out.list_arguments()), set(out.list_auxiliary_states())
    parameters = dict(block.collect_params().items())    # which looks up paths, too: an input may have the name of one
    arrays = {}
    for name in out.list_inputs():    # 1.9.1 writes them in the order of the graph, too
        if name in parameters:
            arrays[('aux:' if name in aux_names else 'arg:') + name] = parameters[name]._reduce()
    for trace in block._traces:
        if trace.out is out:
            arrays.update({'arg:' + n: a for n, a in trace.constants.items() if n in arg_names})
    return out, arrays


def cached_op(block):
    """The CachedOp used last, or None."""
    return block._traces.last.op if block._traces.last is not None else None


def cached_op_args(block):
    """For each input of that CachedOp (True, its number among the arguments) or (False, the
    Parameter or array)."""
    trace = block._traces.last
    return [] if trace is None else [(isinstance(source, int), source) for source in trace.args]


def _nested(described):
    """A description of `describe` in the form of `flatten`: what is no array counts as None."""
    if described == ARRAY or isinstance(described, (int, list)):
        return 0 if described == ARRAY else described
    return [_nested(part) for part in described[1]] if described[0] in (list, tuple) else -1


def in_format(block):
    """How the arguments of the graph are nested, as lists of 0; None without a graph."""
    return _nested(block._cached_in[0]) if block._cached_graph and block._cached_in else None


def out_format(block):
    """How the outputs of the graph are nested."""
    return _nested(block._cached_out[0]) if block._cached_graph and block._cached_out else None


def describe_graph(block):
    """What a copy of `block` needs to have its graph; nothing if the graph depends on more than the
    arrays that it is given."""
    trace = block._traces.last
    if trace is None or not block._active or trace.num_plain < 0 or trace.constants or trace.exact:
        return {}
    return {'compiled': {'symbol': trace.out.tojson(),
                         'inputs': [v.name for v in trace.variables],
                         'out_format': trace.nesting, 'flags': dict(block._flags),
                         'parameters': {p.name: path for path, p in block._collect_params_with_prefix().items()}}}


def restore_graph(block, described):
    """Give `block` the graph of `describe_graph`, if it has all that the graph reads."""
    compiled = described.get('compiled')
    if not compiled:
        return
    # Parameters have other names in another instance, and the same paths.
    own = {path: p.name for path, p in block._collect_params_with_prefix().items()}
    names = {name: own[path] for name, path in compiled.get('parameters', {}).items() if path in own}
    out = renamed_graph(compiled['symbol'], names)
    known = set(block.collect_params().keys())
    inputs = set(n for n in compiled['inputs'] if n)
    if all(n in known or n in inputs for n in out.list_inputs()):
        block._clear_cached_op()
        block._cached_graph = [symbol.var(n) for n in compiled['inputs']], out
        block._cached_in = (tuple, (ARRAY,) * len(compiled['inputs'])), set_mode(None, None)
        block._cached_out = compiled['out_format'], 0
        block._flags, block._active = list(compiled['flags'].items()), True
