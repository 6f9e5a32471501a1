"""Checks of symbols: values, gradients, and the same result in different settings."""
import inspect
import time

import numpy as np

from .. import ndarray as nd
from .._arrays.classes import numpy_among
from ..ndarray import NDArray
from ..util import use_np
from .compare import (assert_almost_equal, default_atols, default_context, default_dtype, default_numeric_eps,
                      default_rtols, effective_dtype, get_tolerance)

__all__ = ["check_consistency", "check_gluon_hybridize_consistency", "check_numeric_gradient", "check_speed",
           "check_symbolic_backward", "check_symbolic_forward", "numeric_grad", "same_symbol_structure",
           "simple_forward"]


def _array(value, ctx, dtype):
    if isinstance(value, NDArray):
        return value.as_in_context(ctx)
    value = np.asarray(value)
    return nd.array(value, ctx=ctx, dtype=value.dtype if dtype == "asnumpy" else dtype)


def _location(sym, location, ctx, dtype):
    """Arguments in any of the accepted forms as a dictionary of name to NDArray."""
    names = sym.list_arguments()
    if isinstance(location, dict):
        if set(location) != set(names):
            raise ValueError("Symbol arguments and keys of the given location do not match."
                             f"symbol args:{set(names)}, location.keys():{set(location)}")
    else:
        if len(location) != len(names):
            raise ValueError(f"[check] {len(location)} arrays for the arguments {names}")
        location = dict(zip(names, location))
    return {name: _array(value, ctx, dtype) for name, value in location.items()}


def _aux_states(sym, aux_states, ctx, dtype):
    if aux_states is None:
        return None
    names = sym.list_auxiliary_states()
    if not isinstance(aux_states, dict):
        aux_states = dict(zip(names, aux_states))
    if set(aux_states) != set(names):
        raise ValueError("Symbol aux_states names and given aux_states do not match."
                         f"symbol aux_names:{set(names)}, aux_states.keys:{set(aux_states)}")
    return {name: _array(value, ctx, dtype) for name, value in aux_states.items()}


def simple_forward(sym, ctx=None, is_train=False, **inputs):
    """Outputs of a symbol for NumPy arrays, as a NumPy array or a list of them.

    >>> import numpy
    >>> mx.test_utils.simple_forward(mx.sym.var('x') * 2, x=numpy.ones((1, 2)))
    array([[2., 2.]], dtype=float32)
    """
    ctx = ctx or default_context()
    inputs = {name: _array(value, ctx, default_dtype()) for name, value in inputs.items()}
    executor = sym.bind(ctx, args=inputs)
    executor.forward(is_train=is_train)
    outputs = [output.asnumpy() for output in executor.outputs]
    return outputs[0] if len(outputs) == 1 else outputs


# ---- gradients ----

def _run(executor, use_forward_train, aux_states):
    if aux_states:
        for name, value in aux_states.items():      # the pass before may have changed them
            executor.aux_dict[name][:] = value
    executor.forward(is_train=use_forward_train)


def _differences(executor, location, names, loss, eps, use_forward_train, aux_states):
    """Central differences of ``loss(executor.outputs)`` by each element of the arrays `names`, in
    NumPy."""
    gradients = {}
    for name in names:
        start = location[name]
        gradient = np.zeros(start.shape, np.float64)
        varied = start.copy()
        for index in np.ndindex(*start.shape):
            losses = []
            for step in (eps / 2, -eps / 2):
                varied[index] = start[index] + step
                executor.arg_dict[name][:] = varied
                _run(executor, use_forward_train, aux_states)
                losses.append(loss(executor.outputs))
            varied[index] = start[index]
            gradient[index] = (losses[0] - losses[1]) / eps
        executor.arg_dict[name][:] = start
        gradients[name] = gradient
    return gradients


def numeric_grad(executor, location, aux_states=None, eps=1e-4, use_forward_train=True, dtype=default_dtype()):
    """Gradients of the sum of an executor's first output by finite differences.

    Parameters
    ----------
    executor : Executor
    location : dict of str to numpy.ndarray
        Where to compute them; gradients are returned for all of these that are of floating point.
    aux_states : dict of str to numpy.ndarray, optional
    eps : float
        Size of the step.
    use_forward_train : bool
        Mode of the forward passes.
    dtype : type
        Of the result.

    Returns
    -------
    dict of str to numpy.ndarray

    Examples
    --------
    >>> import numpy
    >>> executor = (mx.sym.var('x') ** 2).simple_bind(mx.cpu(), x=(2,))
    >>> x = numpy.array([1., 3.], 'float32')
    >>> mx.test_utils.numeric_grad(executor, {'x': x}, eps=1e-2)['x'].round(2)
    array([2., 6.], dtype=float32)
    """
    for name, value in location.items():
        executor.arg_dict[name][:] = value
    location = {name: np.asarray(value) for name, value in location.items()}
    names = [name for name, value in location.items() if value.dtype.kind == "f"]
    found = _differences(executor, location, names, lambda outputs: outputs[0].asnumpy().sum(dtype=np.float64), eps,
                         use_forward_train, aux_states)
    return {name: gradient.astype(dtype) for name, gradient in found.items()}


def check_numeric_gradient(sym, location, aux_states=None, numeric_eps=None, rtol=None, atol=None, grad_nodes=None,
                           use_forward_train=True, ctx=None, grad_stype_dict=None, dtype=default_dtype()):
    """Compare the gradients of a random projection of the outputs with finite differences.

    Parameters
    ----------
    sym : Symbol
    location : list or dict of NDArray or numpy.ndarray
        Arguments.
    aux_states : list or dict, optional
    numeric_eps : float, optional
        Size of the step.
    rtol, atol : float, optional
    grad_nodes : list of str, or dict of str to {'write', 'add', 'null'}, optional
        Arguments whose gradients are checked; all that are of floating point by default.
    use_forward_train : bool
        Mode of the forward passes.
    ctx : Context, optional
    grad_stype_dict : dict of str to str, optional
        Storage types of the gradients.
    dtype : type

    Raises
    ------
    AssertionError
        if they differ.

    Examples
    --------
    >>> mx.test_utils.check_numeric_gradient(mx.sym.tanh(mx.sym.var('x')), [mx.nd.ones((2, 3))])
    """
    ctx = ctx or default_context()
    location = _location(sym, location, ctx, dtype)
    aux_states = _aux_states(sym, aux_states, ctx, dtype)
    aux_numpy = None if aux_states is None else {name: value.asnumpy() for name, value in aux_states.items()}
    if grad_nodes is None:
        grad_nodes = [n for n in sym.list_arguments() if effective_dtype(location[n]).kind == "f"]
    requests = dict(grad_nodes) if isinstance(grad_nodes, dict) else {name: "write" for name in grad_nodes}
    for name in requests:
        if name not in location:
            raise ValueError(f"[check_numeric_gradient] {name} is not an argument; those are {list(location)}")

    before = {name: np.random.normal(0, 0.01, location[name].shape).astype(np.float64) for name in requests}
    gradients = {name: nd.array(value, ctx=ctx, dtype=location[name].dtype) for name, value in before.items()}
    for name, stype in (grad_stype_dict or {}).items():
        if name in gradients and stype != "default":
            gradients[name] = gradients[name].tostype(stype)
    request = {name: requests.get(name, "null") for name in sym.list_arguments()}
    executor = sym.bind(ctx, args=location, args_grad=gradients, grad_req=request, aux_states=aux_states)
    executor.forward(is_train=True)
    projections = [np.random.uniform(0.1, 1.1, output.shape) for output in executor.outputs]
    heads = [nd.array(p, ctx=ctx, dtype=o.dtype) for p, o in zip(projections, executor.outputs)]
    executor.backward(heads)
    analytic = {name: executor.grad_dict[name].asnumpy() for name in requests}

    eps = get_tolerance(np.zeros(0, dtype), numeric_eps, default_numeric_eps())

    def loss(outputs):
        return sum((output.asnumpy().astype(np.float64) * p).sum() for output, p in zip(outputs, projections))

    start = {name: value.asnumpy() for name, value in location.items()}
    wanted = [name for name, how in requests.items() if how != "null"]
    numeric = _differences(executor, start, wanted, loss, eps, use_forward_train, aux_numpy)
    for name, how in requests.items():
        if how == "write":
            expected = numeric[name]
        elif how == "add":
            expected = numeric[name] + before[name]
        elif how == "null":
            expected = before[name]
        else:
            raise ValueError(f"[check_numeric_gradient] grad_req {how!r} for {name}; write, add and null are accepted")
        got = analytic[name]
        assert_almost_equal(expected.astype(got.dtype), got, rtol, atol, (f"NUMERICAL_{name}", f"BACKWARD_{name}"))


# ---- values ----

def _expected(expected, names):
    if isinstance(expected, dict):
        return {name: expected[name] for name in names if name in expected}
    return dict(zip(names, expected))


def check_symbolic_forward(sym, location, expected, rtol=None, atol=None, aux_states=None, ctx=None, equal_nan=False,
                           dtype=default_dtype()):
    """Compare the outputs of a symbol with expected ones. Returns the outputs.

    Parameters
    ----------
    sym : Symbol
    location : list or dict of NDArray or numpy.ndarray
        Arguments.
    expected : list or dict of NDArray or numpy.ndarray
        Outputs.
    rtol, atol : float, optional
    aux_states : list or dict, optional
    ctx : Context, optional
    equal_nan : bool
    dtype : type
        Of NumPy arguments; 'asnumpy' keeps theirs.

    Examples
    --------
    >>> import numpy
    >>> net, x = mx.sym.var('x') * 2, numpy.ones(2)
    >>> outputs = mx.test_utils.check_symbolic_forward(net, [x], [2 * x])
    """
    ctx = ctx or default_context()
    location = _location(sym, location, ctx, dtype)
    aux_states = _aux_states(sym, aux_states, ctx, dtype)
    gradients = {name: nd.zeros(value.shape, ctx, dtype=value.dtype) for name, value in location.items()}
    executor = sym.bind(ctx, args=location, args_grad=gradients, aux_states=aux_states)
    executor.forward(is_train=False)
    expected = _expected(expected, sym.list_outputs())
    for name, output in zip(sym.list_outputs(), executor.outputs):
        assert_almost_equal(expected[name], output, rtol, atol, (f"EXPECTED_{name}", f"FORWARD_{name}"),
                            equal_nan=equal_nan)
    return executor.outputs


def check_symbolic_backward(sym, location, out_grads, expected, rtol=None, atol=None, aux_states=None,
                            grad_req="write", ctx=None, grad_stypes=None, equal_nan=False, dtype=default_dtype()):
    """Compare the gradients of a symbol with expected ones. Returns the gradients by name.

    Parameters
    ----------
    sym : Symbol
    location : list or dict of NDArray or numpy.ndarray
        Arguments.
    out_grads : NDArray, numpy.ndarray, list or dict of them, or None
        Gradients of the outputs.
    expected : list or dict of NDArray or numpy.ndarray
        Gradients of the arguments; with ``grad_req='add'`` without what was there before.
    rtol, atol : float, optional
    aux_states : list or dict, optional
    grad_req : {'write', 'add', 'null'}, or list or dict of them
    ctx : Context, optional
    grad_stypes : dict of str to str, optional
        Storage types of the gradients.
    equal_nan : bool
    dtype : type
        Of NumPy arguments; 'asnumpy' keeps theirs.

    Examples
    --------
    >>> import numpy
    >>> net, x = mx.sym.var('x') ** 2, numpy.array([1., 3.])
    >>> gradients = mx.test_utils.check_symbolic_backward(net, [x], [numpy.ones(2)], [2 * x])
    """
    ctx = ctx or default_context()
    location = _location(sym, location, ctx, dtype)
    aux_states = _aux_states(sym, aux_states, ctx, dtype)
    names = sym.list_arguments()
    expected = _expected(expected, names)
    if isinstance(grad_req, str):
        grad_req = {name: grad_req for name in names}
    elif isinstance(grad_req, (list, tuple)):
        grad_req = dict(zip(names, grad_req))
    before = {name: np.random.normal(size=np.shape(value)) for name, value in expected.items()}
    gradients = {name: nd.array(value, ctx=ctx, dtype=location[name].dtype) for name, value in before.items()}
    for name, stype in (grad_stypes or {}).items():
        if name in gradients and stype != "default":
            gradients[name] = gradients[name].tostype(stype)
    before = {name: value.asnumpy() for name, value in gradients.items()}
    executor = sym.bind(ctx, args=location, args_grad=gradients, aux_states=aux_states,
                        grad_req={name: grad_req.get(name, "null") if name in gradients else "null" for name in names})
    executor.forward(is_train=True)
    if isinstance(out_grads, dict):
        out_grads = [out_grads[name] for name in sym.list_outputs()]
    elif isinstance(out_grads, (NDArray, np.ndarray)):
        out_grads = [out_grads]
    if out_grads is not None:
        out_grads = [_array(grad, ctx, output.dtype) for grad, output in zip(out_grads, executor.outputs)]
    executor.backward(out_grads)
    for name, wanted in expected.items():
        how = grad_req.get(name, "null")
        wanted = wanted.asnumpy() if isinstance(wanted, NDArray) else np.asarray(wanted)
        if how == "add":
            wanted = wanted + before[name]
        elif how == "null":
            wanted = before[name]
        got = executor.grad_dict[name]
        got = gradients[name] if got is None else got
        assert_almost_equal(wanted.astype(got.asnumpy().dtype), got, rtol, atol, (f"EXPECTED_{name}", f"BACKWARD_{name}"),
                            equal_nan=equal_nan)
    return gradients


def check_speed(sym, location=None, ctx=None, N=20, grad_req=None, typ="whole", **kwargs):
    """Seconds for a forward pass, with `typ` 'whole' for a backward pass too; the mean of N.

    Parameters
    ----------
    sym : Symbol
    location : dict of str to numpy.ndarray, optional
        Arguments; without them `kwargs` has their shapes, and they are random.
    ctx : Context, optional
    N : int
    grad_req : str, optional
    typ : {'whole', 'forward'}

    Examples
    --------
    >>> mx.test_utils.check_speed(mx.sym.exp(mx.sym.var('x')), N=2, x=(10, 10)) > 0
    True
    """
    if typ not in ("whole", "forward"):
        raise ValueError(f"[check_speed] typ={typ!r}; 'whole' and 'forward' are accepted")
    ctx = ctx or default_context()
    grad_req = grad_req or "write"
    shapes = kwargs if location is None else {name: value.shape for name, value in location.items()}
    executor = sym.simple_bind(ctx, grad_req=grad_req, **shapes)
    for name, array in executor.arg_dict.items():
        array[:] = np.random.normal(size=array.shape) if location is None else location[name]

    def run():
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(out_grads=executor.outputs)

    run()
    nd.waitall()
    start = time.perf_counter()
    for _ in range(N):
        run()
    nd.waitall()
    return (time.perf_counter() - start) / N


# ---- consistency ----

def _precision(array):
    return {"float64": 3, "float32": 2, "float16": 1}.get(effective_dtype(array).name, 0)


def _executor_tolerances(executor, rtol, atol):
    coarsest = min(executor.outputs, key=_precision)
    return get_tolerance(coarsest, rtol, default_rtols()), get_tolerance(coarsest, atol, default_atols())


def _drawn(arrays, given, scale, use_uniform, dtype):
    """The values `given` by name, and random ones for the other arrays."""
    values = dict(given or {})
    for name, array in arrays.items():
        if name not in values:
            draw = np.random.uniform(-scale, scale, array.shape) if use_uniform \
                else np.random.normal(size=array.shape, scale=scale)
            values[name] = np.asarray(draw, dtype=dtype)
    return values


def _assert_alike(array, wanted, tolerances, equal_nan):
    found = array.asnumpy()
    wanted = wanted.asnumpy() if isinstance(wanted, NDArray) else np.asarray(wanted)
    assert_almost_equal(found, wanted.astype(found.dtype), *tolerances, equal_nan=equal_nan)


def check_consistency(sym, ctx_list, scale=1.0, grad_req="write", arg_params=None, aux_params=None, rtol=None,
                      atol=None, raise_on_err=True, ground_truth=None, equal_nan=False, use_uniform=False,
                      rand_type=np.float64):
    """Compare outputs and gradients of a symbol on different devices, or with different dtypes.

    Parameters
    ----------
    sym : Symbol or list of Symbol
        One for all settings, or one for each.
    ctx_list : list of dict
        Arguments of `simple_bind`: 'ctx', shapes by name, 'type_dict'.
    scale : float
        Of the random arguments.
    grad_req : str or dict
    arg_params, aux_params : dict of str to numpy.ndarray, optional
        Values instead of random ones (auxiliary states: instead of zeros).
    rtol, atol : float or dict of dtype to float, optional
    raise_on_err : bool
        Raise AssertionError at a difference; else print it.
    ground_truth : dict of str to array, optional
        What to compare with; by default the results of the most precise setting.
    equal_nan : bool
    use_uniform : bool
        Uniformly distributed arguments, in place of normally distributed ones.
    rand_type : type
        In which they are drawn.

    Returns
    -------
    dict of str to NDArray
        Outputs and gradients with which the others were compared.

    Examples
    --------
    >>> net = mx.sym.exp(mx.sym.var('x'))
    >>> settings = [{'ctx': mx.cpu(), 'x': (2, 3), 'type_dict': {'x': kind}}
    ...             for kind in ('float64', 'float32')]
    >>> results = mx.test_utils.check_consistency(net, settings)
    """
    symbols = list(sym) if isinstance(sym, (list, tuple)) else [sym] * len(ctx_list)
    if len(symbols) != len(ctx_list):
        raise ValueError(f"[check_consistency] {len(symbols)} symbols for {len(ctx_list)} settings")
    output_names, arg_names = symbols[0].list_outputs(), symbols[0].list_arguments()
    executors = [s.simple_bind(grad_req=grad_req, **setting) for s, setting in zip(symbols, ctx_list)]
    arg_params = _drawn(executors[0].arg_dict, arg_params, scale, use_uniform, rand_type)
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[:] = arg_params[name]
        for name, array in executor.aux_dict.items():
            array[:] = 0 if aux_params is None else aux_params[name]
    order = [max((_precision(output) for output in executor.outputs), default=0) for executor in executors]
    truth = int(np.argmax(order))

    def compare(names_of, arrays_of, pass_name, described):
        reference = ground_truth
        if reference is None:
            reference = dict(zip(names_of, arrays_of(executors[truth])))
        for index, executor in enumerate(executors):
            if ground_truth is None and index == truth:
                continue
            tolerances = _executor_tolerances(executor, rtol, atol)
            for name, array in zip(names_of, arrays_of(executor)):
                wanted = reference.get(name)
                if array is None or wanted is None:
                    continue
                try:
                    _assert_alike(array, wanted, tolerances, equal_nan)
                except AssertionError as error:
                    print(f"{pass_name} Err: {described(index)} vs {described(truth)} at {name}")
                    if raise_on_err:
                        raise
                    print(error)
        return reference

    for executor in executors:
        executor.forward(is_train=False)
    result = dict(compare(output_names, lambda executor: executor.outputs, "Predict", lambda i: f"ctx {i}"))
    result = {name: value.copy() if isinstance(value, NDArray) else value for name, value in result.items()}
    if grad_req != "null":
        heads = None
        for executor in executors:
            executor.forward(is_train=True)
            if heads is None:
                heads = [np.random.normal(size=output.shape) for output in executor.outputs]
            executor.backward([nd.array(head, ctx=output.context, dtype=output.dtype)
                               for head, output in zip(heads, executor.outputs)])

        def described(index):
            return f"{effective_dtype(executors[index].outputs[0]).name} {ctx_list[index]['ctx']} ctx {index}"

        gradients = compare(output_names + arg_names,
                            lambda executor: executor.outputs + [executor.grad_dict.get(name) for name in arg_names], "Train", described)
        result.update((name, value) for name, value in gradients.items() if value is not None and name in arg_names)
    return result


def same_symbol_structure(sym1, sym2):
    """Whether two symbols have the same operators in the same order, connected in the same way;
    names don't matter.

    >>> x, y = mx.sym.var('x'), mx.sym.var('y')
    >>> mx.test_utils.same_symbol_structure(mx.sym.exp(x), mx.sym.exp(y))
    True
    """
    def structure(sym):
        nodes = sym._without_amp_cast().nodes()

        def numbered(entries):
            return [(node.index, output) for node, output in entries]
        return [(node.op, numbered(node.inputs)) for node in nodes], numbered(nodes.heads)
    return structure(sym1) == structure(sym2)


def check_gluon_hybridize_consistency(net_builder, data_l, numpy_func=None, test_grad=True, rtol=1e-4, atol=1e-4):
    """Compare results and gradients of a Gluon network with and without `hybridize`, and with a
    NumPy function.

    Parameters
    ----------
    net_builder : callable
        Makes the network. As in 1.9.1 it is given ``prefix='net_'`` if it takes that.
    data_l : list of NDArray
        Inputs, of mx.nd or of mx.np; with these the NumPy mode is on.
    numpy_func : callable, optional
        From NumPy inputs to the expected output.
    test_grad : bool
        Compare gradients of inputs and parameters.
    rtol, atol : float

    Raises
    ------
    AssertionError
        where they differ by more than the tolerances.

    Examples
    --------
    >>> def relu(prefix=None):
    ...     return mx.gluon.nn.Activation('relu', prefix=prefix)
    >>> x = mx.np.array([-1, 2])
    >>> mx.test_utils.check_gluon_hybridize_consistency(relu, [x], lambda x: x.clip(min=0))
    """
    check = use_np(_check_both_ways) if numpy_among(data_l) else _check_both_ways
    check(net_builder, data_l, numpy_func, test_grad, rtol, atol)


def _check_both_ways(net_builder, data_l, numpy_func, test_grad, rtol, atol):
    from .. import autograd
    saved, saved_grads, saved_params = None, None, None
    parameters = inspect.signature(net_builder).parameters.values()
    named = any(p.name == "prefix" or p.kind == p.VAR_KEYWORD for p in parameters)
    for hybridize in (False, True):
        net = net_builder(prefix="net_") if named else net_builder()
        net.initialize()
        if hybridize:
            net.hybridize()
        inputs = [data.copy() for data in data_l]
        if test_grad:
            for array in inputs:
                array.attach_grad()
        net(*inputs)                    # parameters get their shapes
        params = list(net.collect_params().values())
        if saved_params is None:
            saved_params = [param.data().copy() for param in params]
        for param, value in zip(params, saved_params):
            param.set_data(value)
        if test_grad:
            with autograd.record():
                output = net(*inputs)
            output.backward()
            grads = [array.grad.asnumpy() for array in inputs]
            grads += [param.grad().asnumpy() for param in params if param.grad_req != "null"]
        else:
            output, grads = net(*inputs), None
        if saved is None:
            saved, saved_grads = output.asnumpy(), grads
            continue
        assert_almost_equal(output.asnumpy(), saved, rtol=rtol, atol=atol)
        for grad, expected in zip(grads or (), saved_grads or ()):
            assert_almost_equal(grad, expected, rtol=rtol, atol=atol)
    if numpy_func is not None:
        assert_almost_equal(saved, numpy_func(*[data.asnumpy() for data in data_l]), rtol=rtol, atol=atol)
