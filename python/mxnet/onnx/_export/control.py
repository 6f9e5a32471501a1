"""Loops and branches: Scan, Loop and If."""
import numpy as np

from ... import _dtypes
from .package import tensor_type
from .shapes import Value, is_static
from .table import converts

__all__ = []


def _fixed(sizes, like):
    """Sizes that depend on no free dimension, as many variants of each as `like` has."""
    count = len(like.dims[0]) if like.dims else 1
    return tuple((size,) * count for size in sizes)


def _slice_of(c, body, stack, flat):
    """An input of a Scan's body that is one row of the value `stack`, and what the graph gets of
    it: in 1.x a row of a vector has shape (1,)."""
    dims = c.dims_of(stack)
    row = body.input(f"{c.name}_row", dims[1:], stack.dtype)
    if len(dims) > 1 or not flat:
        return row
    return Value(body.op("Reshape", row.name, c.ints(1)), _fixed((1,), stack), stack.dtype)


@converts("_foreach", "_npx_foreach")
def _(c):
    params = c.params
    data, at = len(params["in_data_locs"]), params["in_state_locs"]
    stacked = params["num_out_data"]
    states = params["num_outputs"] - stacked
    order = params.get("in_state_index", ())
    order = order if len(order) == len(at) else tuple(range(len(at)))
    first = [data + order.index(state) for state in range(states)]      # which inputs they are
    body, given = c.body(), {}
    inner = [body.input(f"{c.name}_state", c.dims_of(c.outputs[stacked + j]), c.inputs[i].dtype)
             for j, i in enumerate(first)]
    given.update((place, inner[state]) for place, state in zip(at, order))
    for i, place in enumerate(params["in_data_locs"]):
        given[place] = _slice_of(c, body, c.inputs[i], c.op_name == "_foreach")
    for i, place in enumerate(params["remain_locs"]):
        given[place] = c.inputs[data + len(at) + i]
    results = body.run(c.subgraphs[0], [given[i] for i in range(len(given))])
    graph = body.proto(results[stacked:] + results[:stacked])
    made = c.op("Scan", *(c[i] for i in first), *(c[i] for i in range(data)),
                outputs=len(results), body=graph, num_scan_inputs=data)
    made = [made] if len(results) == 1 else made
    return made[states:] + made[:states]


def _truth(op, ints, condition):
    """A condition, a tensor of one number, as ONNX wants it."""
    name = condition.name
    if _dtypes.number(condition.dtype) != _dtypes.number(np.bool_):
        name = op("Cast", name, to=int(tensor_type(np.bool_)))
    return op("Reshape", name, ints) if condition.dims is None or condition.dims else name


@converts("_while_loop")
def _(c):
    params, condition, function = c.params, *c.subgraphs
    stacked, reads = params["num_out_data"], params["func_input_locs"]
    variables = [reads[place] for place in params["func_var_locs"]]     # which inputs they are
    scalar = c.const(np.zeros(0), np.int64)
    start, = c.run(condition, [c.inputs[i] for i in params["cond_input_locs"]])
    start = _truth(c.op, scalar, start)

    body, given = c.body(), dict(enumerate(c.inputs))
    body.input(f"{c.name}_step", (), np.int64)
    body.input(f"{c.name}_goes_on", (), np.bool_)
    for j, i in enumerate(variables):
        given[i] = body.input(f"{c.name}_variable", c.dims_of(c.outputs[stacked + j]),
                              c.inputs[i].dtype)
    results = body.run(function, [given[i] for i in reads])
    given.update(zip(variables, results[stacked:]))
    truth, = body.run(condition, [given[i] for i in params["cond_input_locs"]])
    truth = Value(_truth(body.op, scalar, truth), (), np.bool_)
    graph = body.proto([truth, *results[stacked:], *results[:stacked]])

    steps = c.const(params["max_iterations"], np.int64)
    made = c.op("Loop", steps, start, *(c[i] for i in variables), outputs=len(results), body=graph)
    made = [made] if len(results) == 1 else made
    rows = [_padded(c, name, i) for i, name in enumerate(made[len(variables):])]
    return rows + made[:len(variables)]


def _padded(c, name, i):
    """The rows of the steps that were made, with zeros for the others behind them."""
    dims = c.out_dims(i)
    done = c.op("Slice", c.op("Shape", name), c.ints(0), c.ints(1))
    left = c.op("Sub", c.ints(c.params["max_iterations"]), done)
    if all(map(is_static, dims)):
        sizes = [c.ints(*(d[0] for d in dims[1:]))] if dims[1:] else []
    else:
        sizes = [c.sizes(dims[1:])]
        # without a step the free sizes of the result are 0
        name = c.op("Reshape", name, c.op("Concat", done, *sizes, axis=0),
                    allowzero=1 if c.opset >= 14 else None)
    shape = c.op("Concat", left, *sizes, axis=0)
    zeros = c.op("Expand", c.const(0, c.out_dtype(i)), shape)
    return c.op("Concat", name, zeros, axis=0)


@converts("_cond")
def _(c):
    params = c.params
    truth, = c.run(c.subgraphs[0], [c.inputs[i] for i in params["cond_input_locs"]])
    truth = _truth(c.op, c.const(np.zeros(0), np.int64), truth)
    branches = []
    for symbol, places in zip(c.subgraphs[1:], (params["then_input_locs"],
                                                params["else_input_locs"])):
        body = c.body()
        branches.append(body.proto(body.run(symbol, [c.inputs[i] for i in places])))
    made = c.op("If", truth, outputs=params["num_outputs"], then_branch=branches[0],
                else_branch=branches[1])
    return made
