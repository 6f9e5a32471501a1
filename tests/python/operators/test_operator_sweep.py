"""Every operator, called as in op_cases, with `out=` (new arrays, inputs, views that overlap
inputs), with each grad_req, and with arrays of no elements. What the same call gives without them
is expected. `./dev test` runs some of the cases, the nightly tests all."""
import zlib

import numpy as np
import pytest

import mxnet as mx
from mxnet._operators import functions as _op_functions
from op_cases import FLOATS
from test_operators import CASES, _accepted, _arrays, _draw, _grad_indices, _ids, _name, _weights

PARTS = 24      # one of them is tested every day
# With the weight as output the momentum is decayed by the weight that was just written, as in 1.9.1
# (test_optimizer.py has its numbers).
OTHER_STATES_IN_PLACE = {'nag_mom_update', 'mp_nag_mom_update'}


def swept(predicate=lambda case: True):
    chosen = [case for case in CASES if predicate(case)]
    return pytest.mark.parametrize('case', [
        pytest.param(case, id=name, marks=() if zlib.crc32(name.encode()) % PARTS == 0 else pytest.mark.nightly)
        for case, name in zip(chosen, _ids(chosen))])


def call(case, arrays, **more):
    """The outputs in a list; the same random numbers each time."""
    function, attrs = _op_functions.ndarray_function(case['op']), case.get('attrs', {})
    if _op_functions.op_info(case['op']).variadic:
        arrays = [a for a in arrays if a is not None]
    while arrays and arrays[-1] is None:
        arrays = arrays[:-1]
    mx.random.seed(5)
    if case.get('train'):
        with mx.autograd.train_mode():
            out = function(*arrays, **attrs, **more)
    else:
        out = function(*arrays, **attrs, **more)
    return list(out) if isinstance(out, (list, tuple)) else [out]


def bits(array):
    """Values that compare equal if they are the same, NaN included."""
    return (array.astype('float64') if _name(array) == 'bfloat16' else array).asnumpy()


def same(got, want, what):
    got, want = bits(got), bits(want) if isinstance(want, mx.nd.NDArray) else want
    assert got.dtype == want.dtype and got.shape == want.shape, f'{what}: {got.dtype}{got.shape}, expected {want.dtype}{want.shape}'
    np.testing.assert_array_equal(got, want, err_msg=what)


def nearly(got, want, dtype, what):
    """The same sums, whose order may be another one: oneDNN adds up a bias's gradient while it
    makes that of the weights."""
    got, want = bits(got), bits(want)
    rounding = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(got, want, rtol=rounding, atol=rounding * np.abs(want[np.isfinite(want)]).max(initial=0), err_msg=what)


def filled(shape, value, dtype):
    """Also an array without dimensions, which full() does not make."""
    return mx.nd.full(shape, value, dtype=dtype) if shape else mx.nd.full((1,), value, dtype=dtype).reshape(())


def garbage(like):
    """An array of the same kind whose values are wrong."""
    return filled(like.shape, 77, like.dtype)


def out_of(arrays):
    return arrays[0] if len(arrays) == 1 else arrays


def dtypes(case):
    """The first accepted type, and one of 16 bits, which has kernels of its own."""
    accepted = list(_accepted(case))
    return accepted[:1] + [d for d in ('float16', 'bfloat16') if d in accepted and d != accepted[0]][:1]


def plain(case, dtype):
    """Values to draw inputs from, the outputs, and the inputs after the call (states change)."""
    values = _draw(case, dtype)
    arrays = _arrays(case, values, dtype)
    outs = call(case, arrays)
    return values, [o.copy() for o in outs], [None if a is None else a.copy() for a in arrays]


@swept()
def test_new_arrays_as_out(case):
    for dtype in dtypes(case):
        values, expected, after = plain(case, dtype)
        arrays = _arrays(case, values, dtype)
        given = [garbage(e) for e in expected]
        got = call(case, arrays, out=out_of(given))
        assert len(got) == len(given) and all(a is b for a, b in zip(got, given)), 'out= is what a call returns'
        for k, (one, want) in enumerate(zip(given, expected)):
            same(one, want, f"{case['op']} {dtype} out={k}")
        for i, (one, want) in enumerate(zip(arrays, after)):
            if one is not None:
                same(one, want, f"{case['op']} {dtype} input {i} afterwards")


def fitting(expected, before, after):
    """Pairs (output, input) of equal shapes and types. A state that the operator changes is no
    place for an output: both would be written there."""
    return [(k, i) for k, e in enumerate(expected) for i, (b, a) in enumerate(zip(before, after))
            if a is not None and a.shape == e.shape and a.dtype == e.dtype and np.array_equal(bits(a), bits(b), equal_nan=True)]


@swept()
def test_inputs_as_out(case):
    for dtype in dtypes(case):
        values, expected, after = plain(case, dtype)
        for k, i in fitting(expected, _arrays(case, values, dtype), after):
            arrays = _arrays(case, values, dtype)
            given = [arrays[i] if n == k else garbage(e) for n, e in enumerate(expected)]
            call(case, arrays, out=out_of(given))
            for n, (one, want) in enumerate(zip(given, expected)):
                same(one, want, f"{case['op']} {dtype} output {n} with input {i} as output {k}")
            for n, (one, want) in enumerate(zip(arrays, after)):
                if one is not None and n != i and case['op'] not in OTHER_STATES_IN_PLACE:
                    same(one, want, f"{case['op']} {dtype} input {n} after a call with input {i} as output {k}")


@swept()
def test_views_that_overlap_an_input_as_out(case):
    dtype = dtypes(case)[0]
    values, expected, after = plain(case, dtype)
    for k, i in fitting(expected, _arrays(case, values, dtype), after):
        size = int(np.prod(expected[k].shape))
        if size < 2 or not expected[k].shape:
            continue
        for shift in (1, -1):
            arrays = _arrays(case, values, dtype)
            memory = mx.nd.zeros(size + 1, dtype=expected[k].dtype)
            source, target = (memory[1:], memory[:-1]) if shift < 0 else (memory[:-1], memory[1:])
            source, target = source.reshape(expected[k].shape), target.reshape(expected[k].shape)
            source[:] = arrays[i]
            arrays[i] = source
            given = [target if n == k else garbage(e) for n, e in enumerate(expected)]
            call(case, arrays, out=out_of(given))
            for n, (one, want) in enumerate(zip(given, expected)):
                same(one, want, f"{case['op']} {dtype} output {n} with output {k} {shift} element off input {i}")


@swept(lambda case: case['inputs'] or case.get('attrs', {}).get('shape'))     # else the array says the shape
def test_arrays_that_do_not_fit_as_out(case):
    dtype = dtypes(case)[0]
    values, expected, _ = plain(case, dtype)
    for k, e in enumerate(expected):
        given = [garbage(o) for o in expected]
        given[k] = mx.nd.full(e.shape + (3,), 77, dtype=e.dtype)
        before = bits(given[k])
        with pytest.raises((mx.MXNetError, ValueError, TypeError)):
            call(case, _arrays(case, values, dtype), out=out_of(given))
        assert (bits(given[k]) == before).all(), f"{case['op']}: an array that does not fit was written"
    with pytest.raises((mx.MXNetError, ValueError, TypeError)):
        call(case, _arrays(case, values, dtype), out=[garbage(o) for o in expected] + [mx.nd.ones(2)])


# ---- gradients


def heads_of(outs):
    """Different numbers for each element of the outputs; 0 for those that are not floats."""
    weights = iter(_weights([o.shape for o in outs if _name(o) in FLOATS], 7))
    values = [next(weights) if _name(o) in FLOATS else None for o in outs]
    # An array of no elements is made in its shape: 0 says something else to reshape().
    return [mx.nd.zeros(o.shape, dtype=o.dtype) if value is None or not o.size
            else mx.nd.array(value.reshape(-1), dtype=o.dtype).reshape(o.shape) for o, value in zip(outs, values)]


def gradients(case, values, dtype, indices, requests, times=1):
    """The gradients in arrays that held 3 before."""
    arrays = _arrays(case, values, dtype)
    for i in indices:
        if requests[i] != 'none':
            arrays[i].attach_grad(requests[i])
            if arrays[i].grad is not None:
                filled(arrays[i].shape, 3, dtype).copyto(arrays[i].grad)
    for _ in range(times):
        with mx.autograd.record():
            outs = [o for o in call(dict(case, train=False), arrays) if _name(o) in FLOATS]
        heads = heads_of(outs)
        mx.autograd.backward(outs, heads)
    return {i: arrays[i].grad for i in indices if requests[i] != 'none'}


def float_types(case):
    return [d for d in ('float32', 'float16') if d in _accepted(case)] or ['float64']


@swept(lambda case: case.get('grad'))
def test_gradient_requests(case):
    indices = _grad_indices(case)
    for dtype in float_types(case):
        values = _draw(case, dtype)
        written = gradients(case, values, dtype, indices, dict.fromkeys(indices, 'write'))
        added = gradients(case, values, dtype, indices, dict.fromkeys(indices, 'add'), 2)
        tolerance = {'float64': 1e-12, 'float32': 1e-5, 'float16': 1e-2}[dtype]
        for i in indices:
            want = 2 * bits(written[i]).astype('float64') + 3
            np.testing.assert_allclose(bits(added[i]), want, rtol=tolerance, atol=tolerance * max(1, np.abs(want).max(initial=0)),
                                       err_msg=f"{case['op']} {dtype} add, input {i}")
        for one in indices if len(indices) > 1 else ():
            for request in ('null', 'none', 'add'):
                got = gradients(case, values, dtype, indices, {i: request if i == one else 'write' for i in indices})
                for i in indices:
                    if i != one:
                        nearly(got[i], written[i], dtype, f"{case['op']} {dtype} input {i} with {request} for input {one}")


@swept(lambda case: case.get('grad'))
def test_gradient_requests_of_executors(case):
    indices = _grad_indices(case)
    dtype = float_types(case)[0]
    values = _draw(case, dtype)
    written = gradients(case, values, dtype, indices, dict.fromkeys(indices, 'write'))
    arrays = _arrays(case, values, dtype)
    while arrays[-1] is None:
        arrays.pop()
    if any(a is None for a in arrays):
        pytest.skip('an input in the middle is missing: symbols take the others by name')
    names = [f'input{i}' for i in range(len(arrays))]
    given, by_name = list(map(mx.sym.var, names)), {}
    if case['op'] == 'RNN' and case['attrs'].get('use_sequence_length') and case['attrs']['mode'] != 'lstm':
        by_name = {'sequence_length': given.pop()}      # there is no state_cell before it
    symbol = getattr(mx.sym._internal, case['op'])(*given, **by_name, **case.get('attrs', {}))
    order = [names.index(n) for n in symbol.list_inputs()]
    auxiliary = set(symbol.list_auxiliary_states())
    arguments = {names[i]: arrays[i] for i in order if names[i] not in auxiliary}
    states = {names[i]: arrays[i] for i in order if names[i] in auxiliary}
    for request in ('write', 'add', 'null'):
        grads = {names[i]: filled(arrays[i].shape, 3, dtype) for i in indices}
        requests = {n: request if n in grads else 'null' for n in arguments}
        executor = symbol.bind(mx.cpu(), arguments, grads, requests, {n: a.copy() for n, a in states.items()})
        mx.random.seed(5)
        outs = executor.forward(is_train=True)
        executor.backward(heads_of(outs))
        for i in indices:
            want = {'write': 0, 'add': 3, 'null': 3}[request] + (request != 'null') * bits(written[i]).astype('float64')
            np.testing.assert_allclose(bits(grads[names[i]]), want, rtol=2e-5, atol=2e-5 * max(1, np.abs(want).max(initial=0)),
                                       err_msg=f"{case['op']} {dtype} {request}, input {i}")


# ---- nothing


def shapes_without_elements(case):
    """The case's shapes with each axis of each input, and of all inputs, of length 0."""
    own = [None if s is None else tuple(getattr(s, 'shape', s if isinstance(s, tuple) else np.shape(s))) for s in case['inputs']]
    made = []
    for i, shape in enumerate(own):
        for axis in range(len(shape or ())):
            made.append([s if n != i else s[:axis] + (0,) + s[axis + 1:] for n, s in enumerate(own)])
    for axis in range(max((len(s) for s in own if s is not None), default=0)):
        made.append([s if s is None or len(s) <= axis else s[:axis] + (0,) + s[axis + 1:] for s in own])
    return made


@swept(lambda case: case['inputs'])
def test_arrays_without_elements(case):
    """A result, or an error of the operator's; a gradient of the input's shape."""
    dtype = dtypes(case)[0]
    for shapes in shapes_without_elements(case):
        values = [None if s is None else np.ones(s, 'int64' if dtype not in FLOATS or i in case.get('input_dtypes', {}) else 'float64')
                  for i, s in enumerate(shapes)]
        arrays = _arrays(case, values, dtype)
        indices = [i for i in _grad_indices(case) if arrays[i] is not None] if case.get('grad') else []
        for i in indices:
            arrays[i].attach_grad()
        try:
            with mx.autograd.record() if indices else mx.autograd.pause():
                outs = call(case, arrays)
            for o in outs:
                o.wait_to_read()
        except (mx.MXNetError, ValueError, TypeError, IndexError, NotImplementedError) as error:
            assert str(error).startswith('['), f"{case['op']} {shapes}: {error}"
            continue
        assert all(np.isfinite(o.shape).all() for o in outs)
        floats = [o for o in outs if _name(o) in FLOATS]
        if indices and floats:
            mx.autograd.backward(floats)
            for i in indices:
                assert arrays[i].grad.asnumpy().shape == shapes[i]
