"""Loops and branches as symbols: what Python functions do with variables becomes graphs, which one
node holds."""
import ctypes
import re

from .._arrays.nested import flatten as _flatten, regroup, whole_number
from ..attribute import AttrScope
from ..base import SymbolHandle, _LIB, check_call
from . import _functions
from ._symbol import Group, Symbol
from ._variable import var

__all__ = ["foreach", "while_loop", "cond"]

_KEY = "__subgraph_name__"
_used = {}   # name of graphs -> how many there are


def flatten(value, what):
    if isinstance(value, Symbol) and Symbol.__len__(value) > 1:
        value = [Symbol.__getitem__(value, i) for i in range(Symbol.__len__(value))]
    return _flatten(value, Symbol, what)


def _graph_name(hint):
    """A new name; within another graph it contains that one's."""
    around = AttrScope._current.value.get(None).get(_KEY)
    if around:
        hint = f"{around}${hint}"
    number = _used.get(hint, 0)
    _used[hint] = number + 1
    return f"{hint}{number}"


def _place(symbol):
    """The variable that stands for a value of the loop in its graph."""
    found = re.match(r"Symbol Outputs:\n\toutput\[0\]=.*\((\d+)\)\n", symbol.debug_str())
    index = found[1] if found else 0    # a variable is printed without its outputs
    return _alike(var(f"{symbol.name}-{index}"), [symbol])


def _alike(symbol, others):
    """`symbol`, with NumPy's rules where one of `others` has them."""
    return symbol.as_np_ndarray() if any(type(s) is not Symbol for s in others) else symbol


def _is_variable(symbol):
    return symbol.list_inputs() == [symbol.name] and not symbol.get_children()


def _is_inside(symbol, graph):
    """Is it what an operator of that graph computes?"""
    return symbol.attr(_KEY) == graph and not _is_variable(symbol)


def _own(symbols, graph, taken=()):
    """Results of a graph: what its operators compute, and copies of what comes from elsewhere or
    has a name in `taken`."""
    return [s if _is_inside(s, graph) and s.name not in taken else _functions.symbol_function("identity")(s) for s in symbols]


class _Graph:
    """A graph cut out of the symbols that were made while its name was in scope."""

    def __init__(self, results):
        self.first = results[0]
        self.symbol = Group(results)
        outside, count = ctypes.POINTER(SymbolHandle)(), ctypes.c_int()
        check_call(_LIB.MXSymbolCutSubgraph(self.symbol.handle, ctypes.byref(outside), ctypes.byref(count)))
        self._outside = {}
        for symbol in [Symbol(SymbolHandle(outside[i])) for i in range(count.value)]:
            self._outside.setdefault(symbol.list_outputs()[0], symbol)
        self.names = self.symbol.list_inputs()
        if len(set(self.names)) != len(self.names):
            raise AssertionError(f"The inputs of the subgraph don't have unique names: {self.names}")

    def outer(self, name):
        """The value from outside that an input stands for; a variable that was made inside stands
        for itself."""
        return self._outside[name] if name in self._outside else self.symbol.get_internals()[name]


def _check_names(places):
    names = [p.name for p in places]
    if len(set(names)) != len(names):
        raise AssertionError(f"The inputs of the subgraph don't have unique names: {names}")


def _node(operator, graphs, inputs, **params):
    node = _functions.symbol_function(operator)(*[g.symbol for g in graphs], *inputs,
                                                **{k: v if isinstance(v, int) else str(v) for k, v in params.items()})
    return [_alike(s, [*inputs, *(g.first for g in graphs)]) for s in node]


def foreach(body, data, init_states, name="foreach"):
    """Runs a function's graph with the slices of arrays along their first dimension, one after the
    other.

    Parameters
    ----------
    body : function
        ``outputs, states = body(slices, states)``. It gets symbols for one slice of each array of
        `data` and for the states, in lists nested as they were given, and returns results and the
        next states, whose shapes and dtypes are those of the states. It is called once. What else
        it uses is the same in every step.
    data : Symbol or (nested) list of Symbol
        What to go over.
    init_states : Symbol or (nested) list of Symbol
        States before the first step.
    name : str
        What the name of the graph begins with.

    Returns
    -------
    outputs : Symbol or (nested) list of Symbol
        The results of all steps, stacked along a new first dimension.
    states : Symbol or (nested) list of Symbol
        The states behind the last step.

    Examples
    --------
    >>> step = lambda x, total: (x + total, x + total)
    >>> sums, last = mx.sym.contrib.foreach(step, mx.sym.var('data'), mx.sym.var('zero'))
    >>> sums.eval(data=mx.nd.array([[1], [2], [3]]), zero=mx.nd.array([0]))[0].asnumpy().ravel().tolist()
    [1.0, 3.0, 6.0]
    """
    data, data_form = flatten(data, "foreach input")
    states, state_form = flatten(init_states, "foreach states")
    graph_name = _graph_name(name)
    with AttrScope(**{_KEY: graph_name}):
        slices, olds = [_place(s) for s in data], [_place(s) for s in states]
        outputs, new = body(regroup(slices, data_form), regroup(olds, state_form))
        outputs, out_form = flatten(outputs, "foreach output")
        new, new_form = flatten(new, "foreach loop_vars")
        if new_form != state_form:
            raise AssertionError("The input and output loop_vars have different format")
        results = _own(outputs, graph_name)
        results += _own(new, graph_name, {s.name for s in results})
    graph = _Graph(results)
    _check_names(slices + olds)
    places = {n: i for i, n in enumerate(graph.names)}
    for kind, variables in (("data", slices), ("state", olds)):
        if not all(v.name in places for v in variables):
            raise AssertionError(f"the {kind} arrays have to be used in the loop body")
    data_at, state_at = [places[v.name] for v in slices], [places[v.name] for v in olds]
    remain = [i for i in range(len(places)) if i not in data_at and i not in state_at]
    params = {"num_outputs": len(results), "num_out_data": len(outputs), "in_state_locs": state_at, "in_data_locs": data_at,
              "remain_locs": remain}
    numpy = any(type(s) is not Symbol for s in data)    # slices of vectors have shape ()
    if numpy:
        params["in_state_index"] = list(range(len(states)))
    node = _node("_npx_foreach" if numpy else "_foreach", [graph], data + states + [graph.outer(graph.names[i]) for i in remain], **params)
    return regroup(node[:len(outputs)], out_form), regroup(node[len(outputs):], state_form)


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):
    """Runs a function's graph again and again while the result of another one is true, but not more
    than `max_iterations` times.

    Parameters
    ----------
    cond : function
        ``cond(*loop_vars)`` gives a symbol of one element; while it is true, the loop goes on.
    func : function
        ``outputs, loop_vars = func(*loop_vars)``. Results, or None, and the next loop variables,
        whose shapes and dtypes are those of the loop variables.
    loop_vars : Symbol or (nested) list of Symbol
        Loop variables before the first step.
    max_iterations : int
        Size of the first dimension of the results, whose rows of steps that are not made are zero.
    name : str
        What the names of the graphs begin with.

    Returns
    -------
    outputs : Symbol or (nested) list of Symbol
        The results of all steps, stacked along a new first dimension.
    loop_vars : Symbol or (nested) list of Symbol
        The loop variables behind the last step.

    Examples
    --------
    >>> i, x = mx.sym.var('i'), mx.sym.var('x')
    >>> powers, last = mx.sym.contrib.while_loop(lambda i, x: i < 3, lambda i, x: (x, [i + 1, x * 2]), [i, x], 4)
    >>> powers.eval(i=mx.nd.array([0]), x=mx.nd.array([1]))[0].asnumpy().ravel().tolist()
    [1.0, 2.0, 4.0, 0.0]
    """
    max_iterations = whole_number(max_iterations)
    single = isinstance(loop_vars, Symbol)
    variables, form = flatten([loop_vars] if single else list(loop_vars), "while loop_vars")
    if not variables:
        raise ValueError("[while_loop] loop_vars should contain at least one element")

    graph_name = _graph_name(f"{name}_cond")
    with AttrScope(**{_KEY: graph_name}):
        cond_places = [_place(v) for v in variables]
        truth = cond(*regroup(cond_places, form))
        if not isinstance(truth, Symbol):
            raise ValueError("[while_loop] Return of cond must be a Symbol")
        truth = _own([truth], graph_name)
    condition = _Graph(truth)

    graph_name = _graph_name(f"{name}_func")
    with AttrScope(**{_KEY: graph_name}):
        places = [_place(v) for v in variables]
        outputs, new = func(*regroup(places, form))
        outputs, out_form = flatten([] if outputs is None else outputs, "while output")
        new, _ = flatten([new] if isinstance(new, Symbol) else new, "while loop_vars")
        if len(new) != len(variables):
            raise ValueError("[while_loop] The number of loop_vars should be consistent during the loop")
        results = _own(outputs, graph_name) + _own(new, graph_name)
    graph = _Graph(results)
    _check_names(places)

    inputs, of_variable = [], {}

    def locations(of, their_places):
        found = []
        index = {p.name: k for k, p in enumerate(their_places)}
        for name_ in of.names:
            k = index.get(name_)
            if k is None or k not in of_variable:
                inputs.append(of.outer(name_) if k is None else variables[k])
                if k is not None:
                    of_variable[k] = len(inputs) - 1
                found.append(len(inputs) - 1)
            else:
                found.append(of_variable[k])
        return found

    cond_at, func_at = locations(condition, cond_places), locations(graph, places)
    for k, place in enumerate(places):
        if place.name not in graph.names:
            raise ValueError(f"[while_loop] The {k + 1}-th loop_var doesn't involve into the computation")
    node = _node("_while_loop", [condition, graph], inputs, max_iterations=max_iterations, num_outputs=len(results),
                 num_out_data=len(outputs), cond_input_locs=cond_at, func_input_locs=func_at,
                 func_var_locs=[graph.names.index(p.name) for p in places])
    last = regroup(node[len(outputs):], form)
    return regroup(node[:len(outputs)], out_form), last[0] if single else last


def cond(pred, then_func, else_func, name="cond"):
    """The results of one of two functions' graphs.

    Parameters
    ----------
    pred : Symbol
        Of one element; true: those of `then_func`.
    then_func, else_func : function
        Without arguments. Both give symbols, or lists of as many, of the same shapes and dtypes.
        Each is called once; only the graph that is chosen is computed.
    name : str
        What the names of the graphs begin with.

    Returns
    -------
    Symbol or (nested) list of Symbol
        As `then_func` gives them.

    Examples
    --------
    >>> x = mx.sym.var('x')
    >>> mx.sym.contrib.cond(x < 5, lambda: x * 2, lambda: x - 5).eval(x=mx.nd.array([3]))[0].asscalar()
    6.0
    """
    graphs, forms, counts = [], [], []
    for part, function in (("pred", lambda: pred), ("then", then_func), ("else", else_func)):
        graph_name = _graph_name(f"{name}_{part}")
        with AttrScope(**{_KEY: graph_name}):
            results, form = flatten(function(), "cond outputs")
            if not results:
                raise TypeError(f"[cond] the {part} branch gives an empty list; Expected a list of symbols as input")
            if part == "pred" and form != 0:
                raise ValueError("[cond] pred should be a single Symbol")
            graphs.append(_Graph(_own(results, graph_name)))
            forms.append(form)
            counts.append(len(results))
    if counts[1] != counts[2]:
        raise ValueError("[cond] Number of outputs differs between then-branch and else-branch: "
                         f"{counts[1]} and {counts[2]}")
    inputs, of_variable = [], {}

    def locations(of):
        found = []
        for name_ in of.names:
            outer = of.outer(name_)
            if name_ not in of_variable or not _is_variable(outer):
                inputs.append(outer)
                found.append(len(inputs) - 1)
                if _is_variable(outer):
                    of_variable[name_] = found[-1]
            else:
                found.append(of_variable[name_])
        return found

    places = [locations(g) for g in graphs]
    node = _node("_cond", graphs, inputs, num_outputs=counts[1], cond_input_locs=places[0], then_input_locs=places[1],
                 else_input_locs=places[2])
    return regroup(node, forms[1])
