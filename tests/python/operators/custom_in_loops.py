"""Programs with custom operators in the graphs of loops. Run as a script it checks all of them:
test_custom_in_loops.py does that under several engines."""
import copy
import sys
import threading

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, operator

SEEN = []


class Masked(operator.CustomOp):
    """x * m, with a mask m that is drawn in each call and kept on the instance for the gradient.
    mxnet draws it, so a loop must not keep the random numbers for itself."""

    def forward(self, is_train, req, in_data, out_data, aux):
        self.mask = mx.nd.random.uniform(1, 2, in_data[0].shape, dtype=in_data[0].dtype)
        SEEN.append(self.mask.asnumpy())
        self.assign(out_data[0], req[0], in_data[0] * self.mask)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self.mask)


@operator.register("loops_masked")
class MaskedProp(operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Masked()


class Counted(operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        if (in_data[0].asnumpy() > 100).any():
            raise ValueError("too large for test")
        aux[0][:] += 1
        self.assign(out_data[0], req[0], in_data[0] * aux[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        if (out_grad[0].asnumpy() < 0).any():
            raise KeyError("negative for test")
        self.assign(in_grad[0], req[0], out_grad[0] * 7)


@operator.register("loops_counted")
class CountedProp(operator.CustomOpProp):
    def __init__(self, **arguments):
        super().__init__()
        assert not arguments, arguments

    def list_auxiliary_states(self):
        return ["count"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], [(1,)]

    def create_operator(self, ctx, shapes, dtypes):
        return Counted()


class MaskedByHeads(MaskedProp):
    """Backward reads nothing that tells the shape of the argument."""

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return out_grad


operator.register("loops_masked_by_heads")(MaskedByHeads)


def masked(F, x):
    return F.Custom(x, op_type="loops_masked")


def plus(F, a, s):
    y = masked(F, a + s)
    return y, y * 0.5


def each(F, x, h):
    """Stacked results and the last state."""
    out, state = F.contrib.foreach(lambda a, s: plus(F, a, s), x, h)
    return out, state


def reference_each(x, h, masks, weights, last):
    """Values and gradients of `each`: (results, state, d/dx, d/dh)."""
    steps, results, state = len(x), [], h
    for t in range(steps):
        results.append(masks[t] * (x[t] + state))
        state = 0.5 * results[t]
    grad, grads = last, [None] * steps
    for t in reversed(range(steps)):
        grads[t] = masks[t] * (weights[t] + 0.5 * grad)
        grad = grads[t]
    return np.stack(results), state, np.stack(grads), grad


def check_each(x, h, results, state, dx, dh, weights, last):
    want = reference_each(x, h, SEEN, weights, last)
    for name, a, b in zip(("results", "state", "dx", "dh"), (results, state, dx, dh), want):
        np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=name)


def arrays():
    rng = np.random.RandomState(3)
    return [rng.uniform(1, 2, shape).astype("float32") for shape in ((5, 3), (3,), (5, 3), (3,))]


def heads_program():
    x = mx.sym.var("x")
    out, _ = mx.sym.contrib.foreach(
        lambda a, s: (mx.sym.Custom(a * 2, op_type="loops_masked_by_heads"), s), x, mx.sym.zeros((1,)))
    for dtype in ("float32", "float64"):
        ex = out.simple_bind(mx.cpu(), x=(2, 3), type_dict={"x": dtype})
        SEEN.clear()
        ex.forward(is_train=True, x=np.ones((2, 3), dtype))
        ex.backward(mx.nd.ones((2, 3), dtype=dtype))
        mx.nd.waitall()
        np.testing.assert_allclose(ex.grad_dict["x"].asnumpy(), 2 * np.stack(SEEN), rtol=1e-6)


def executor_program(dropout=False):
    x, h, weights, last = arrays()
    sx, sh = mx.sym.var("x"), mx.sym.var("h")
    out, state = each(mx.sym, sx, sh)
    if dropout:  # draws from the same numbers, before and behind the loop
        out = mx.sym.Dropout(out, p=0.0) + mx.sym.Dropout(sx, p=0.9, mode="always") * 0
    ex = mx.sym.Group([out, state]).simple_bind(mx.cpu(), x=x.shape, h=h.shape)
    for _ in range(3):
        SEEN.clear()
        results, s = ex.forward(is_train=True, x=x, h=h)
        ex.backward([mx.nd.array(weights), mx.nd.array(last)])
        got = [a.asnumpy() for a in (results, s, ex.grad_dict["x"], ex.grad_dict["h"])]
        assert len(SEEN) == len(x)  # once for each step: the backward pass does not run forward again
        check_each(x, h, *got, weights, last)


class Loop(gluon.HybridBlock):
    def __init__(self, dynamic=False):
        super().__init__()
        self.dynamic = dynamic

    def hybrid_forward(self, F, x, h):
        out, state = each(F, x, h)
        if self.dynamic:  # a graph that no plan can hold
            ones = F.ones_like(F.slice_axis(x, axis=1, begin=0, end=1)).reshape((-1,))
            out = F.contrib.boolean_mask(out, ones)
        return out, state


def hybrid_program(dynamic=False, **kwargs):
    x, h, weights, last = arrays()
    net = Loop(dynamic)
    net.hybridize(**kwargs)
    for _ in range(3):
        SEEN.clear()
        a, b = mx.nd.array(x), mx.nd.array(h)
        a.attach_grad()
        b.attach_grad()
        with autograd.record():
            results, s = net(a, b)
        autograd.backward([results, s], [mx.nd.array(weights), mx.nd.array(last)])
        check_each(x, h, results.asnumpy(), s.asnumpy(), a.grad.asnumpy(), b.grad.asnumpy(), weights, last)


def interleaved_program():
    """Two recorded calls of one block, whose backward passes come in the order of the calls."""
    x, h, weights, last = arrays()
    for dynamic in (False, True):
        net = Loop(dynamic)
        net.hybridize()
        calls = []
        for _ in range(2):
            SEEN.clear()
            a, b = mx.nd.array(x), mx.nd.array(h)
            a.attach_grad()
            b.attach_grad()
            with autograd.record():
                out = net(a, b)
            mx.nd.waitall()
            calls.append((a, b, out, list(SEEN)))
        for a, b, out, seen in calls:
            autograd.backward(list(out), [mx.nd.array(weights), mx.nd.array(last)])
            SEEN[:] = seen
            check_each(x, h, out[0].asnumpy(), out[1].asnumpy(), a.grad.asnumpy(), b.grad.asnumpy(), weights, last)


def nested_program():
    """A loop in a branch in a loop: the gradient of each call has the mask of that call."""
    x, f = mx.sym.var("x"), mx.sym.var("f")

    def inner(row, s):
        y = masked(mx.sym, row + s)
        return y, y

    def step(data, s):
        rows, flag = data
        out = mx.sym.contrib.cond(flag.sum() > 0, lambda: mx.sym.contrib.foreach(inner, rows, s)[1], lambda: masked(mx.sym, s))
        return out, out

    _, last = mx.sym.contrib.foreach(step, [x, f], mx.sym.zeros((1,)))
    values = np.arange(1, 13, dtype="float32").reshape(3, 4, 1)
    ex = last.simple_bind(mx.cpu(), x=values.shape, f=(3, 1))
    for _ in range(2):
        SEEN.clear()
        (got,) = ex.forward(is_train=True, x=values, f=np.array([[1], [0], [1]], "float32"))
        ex.backward(mx.nd.ones(1))
        mx.nd.waitall()
        grad = ex.grad_dict["x"].asnumpy().ravel()
        masks = [m.item() for m in SEEN]
        assert len(masks) == 9
        rows = [*range(1, 5), None, *range(9, 13)]
        state, factor, want = 0.0, 1.0, {}
        for m, r in zip(masks, rows):
            state = m * (state + (r or 0))
        for m, r in zip(reversed(masks), reversed(rows)):
            factor *= m
            if r:
                want[r] = factor
        np.testing.assert_allclose(got.asnumpy(), [state], rtol=1e-5)
        np.testing.assert_allclose(grad, [want.get(i, 0) for i in range(1, 13)], rtol=1e-5)


def while_program():
    x = mx.sym.var("x")

    def body(i, v):
        y = masked(mx.sym, v)
        return y, (i + 1, y)

    out, (_, last) = mx.sym.contrib.while_loop(
        lambda i, v: masked(mx.sym, i * 0 + 1) * 0 + i < 3, body, (mx.sym.zeros((1,)), x), max_iterations=6)
    ex = mx.sym.Group([out, last]).simple_bind(mx.cpu(), x=(1,))
    for _ in range(2):
        SEEN.clear()
        out, last = ex.forward(is_train=True, x=np.array([2.0], "float32"))
        ex.backward([mx.nd.zeros((6, 1)), mx.nd.ones(1)])
        mx.nd.waitall()
        masks = [m.item() for m in SEEN]
        factor = np.prod(masks[1::2])  # those of the condition lie between
        assert len(masks) == 7 and out.shape == (6, 1)
        np.testing.assert_allclose(last.asnumpy(), [2 * factor], rtol=1e-5)
        np.testing.assert_allclose(ex.grad_dict["x"].asnumpy(), [factor], rtol=1e-5)


def states_program():
    x, count = mx.sym.var("x"), mx.sym.var("count")
    with mx.AttrScope(__mood__="grey"):
        out, _ = mx.sym.contrib.foreach(
            lambda a, s: (mx.sym.Custom(a, count, op_type="loops_counted"), s), x, mx.sym.zeros((1,)))
    ex = out.simple_bind(mx.cpu(), x=(4, 2))
    for call in range(2):
        (got,) = ex.forward(is_train=True, x=np.ones((4, 2), "float32"))
        ex.backward(mx.nd.ones((4, 2)))
        assert got.asnumpy()[:, 0].tolist() == [4 * call + i for i in (1, 2, 3, 4)]
        assert (ex.grad_dict["x"].asnumpy() == 7).all()
        assert ex.aux_dict["count"].asscalar() == 4 * call + 4


def copies_program():
    """Copies of one symbol in one graph: each has its own operators."""
    x, h, weights, last = arrays()
    sx, sh = mx.sym.var("x"), mx.sym.var("h")
    part = mx.sym.Group([*each(mx.sym, sx, sh), masked(mx.sym, sx)])
    whole = mx.sym.Group([part(x=mx.sym.var(n), h=sh) for n in "xy"] + [copy.deepcopy(part)(x=mx.sym.var("z"), h=sh)])
    ex = whole.simple_bind(mx.cpu(), x=x.shape, y=x.shape, z=x.shape, h=h.shape)
    given = {name: i + x for i, name in enumerate("xyz")}
    results = ex.forward(is_train=True, h=h, **given)
    heads = [weights, last, weights]
    ex.backward([mx.nd.array(a) for a in 3 * heads])
    mx.nd.waitall()
    for i, name in enumerate("xyz"):
        values = [r.asnumpy() for r in results[3 * i:3 * i + 3]]
        apart = values[2] / given[name]
        masks, state = [], h
        for row, result in zip(given[name], values[0]):
            masks.append(result / (row + state))
            state = 0.5 * result
        want = reference_each(given[name], h, masks, weights, last)
        np.testing.assert_allclose(ex.grad_dict[name].asnumpy(), want[2] + weights * apart, rtol=1e-4)


def raised(error, text, f):
    try:
        f()
    except error as e:
        assert text in str(e), e
        return str(e)
    raise AssertionError(f"no {error.__name__}")


def errors_program():
    x, count = mx.sym.var("x"), mx.sym.var("count")
    out, _ = mx.sym.contrib.foreach(
        lambda a, s: (mx.sym.Custom(a, count, op_type="loops_counted"), s), x, mx.sym.zeros((1,)))
    ex = (out * 1).simple_bind(mx.cpu(), x=(4, 1))
    good, bad = np.ones((4, 1), "float32"), np.array([[1], [2], [101], [3]], "float32")
    for _ in range(2):
        message = raised(mx.MXNetError, "too large for test", lambda: ex.forward(is_train=True, x=bad)[0].asnumpy())
        assert "in forward" in message  # Python's traceback
        ex.aux_dict["count"][:] = 0
        assert ex.forward(is_train=True, x=good)[0].asnumpy().ravel().tolist() == [1, 2, 3, 4]
        raised(mx.MXNetError, "negative for test", lambda: (ex.backward(-mx.nd.ones((4, 1))), ex.grad_dict["x"].asnumpy()))
        ex.forward(is_train=True, x=good)
        ex.backward(mx.nd.ones((4, 1)))
        assert (ex.grad_dict["x"].asnumpy() == 7).all()
        ex.aux_dict["count"][:] = 0


def many_program():
    """Many at once, which also call other loops with custom operators, and wait for them."""
    inner = Loop()
    inner.hybridize()

    class Calls(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            out, _ = inner(mx.nd.ones((2, 3)), in_data[0])
            self.assign(out_data[0], req[0], in_data[0] + out.sum().asscalar() * 0)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0])

    @operator.register("loops_calls")
    class CallsProp(operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Calls()

    def step(a, s):
        y = mx.sym.Custom(a + s, op_type="loops_calls")
        return y, y

    out, _ = mx.sym.contrib.foreach(step, mx.sym.var("x"), mx.sym.var("h"))
    executors = [out.simple_bind(mx.cpu(i % 2), x=(3, 3), h=(3,)) for i in range(12)]
    for _ in range(2):
        results = [e.forward(is_train=True, x=np.ones((3, 3), "float32"), h=np.zeros(3, "float32"))[0] for e in executors]
        for e in executors:
            e.backward(mx.nd.ones((3, 3), ctx=e.outputs[0].ctx))
        for e, r in zip(executors, results):
            assert r.asnumpy()[:, 0].tolist() == [1, 2, 3]
            assert e.grad_dict["x"].asnumpy()[:, 0].tolist() == [3, 2, 1]


def sync_batch_norm_program():
    """Two devices meet in each step; one batch of both has the same answers."""
    shape, rng = (3, 4, 2), np.random.RandomState(0)
    data = rng.uniform(-1, 1, shape).astype("float32")
    x, gamma, beta = (mx.sym.var(n) for n in ("x", "gamma", "beta"))
    mean, var = mx.sym.var("m"), mx.sym.var("v")

    def loop(norm):
        return mx.sym.contrib.foreach(lambda a, s: (norm(a), s), x, mx.sym.zeros((1,)))[0]

    both = loop(lambda a: mx.sym.contrib.SyncBatchNorm(a, gamma, beta, mean, var, ndev=2, key="loops", fix_gamma=False))
    whole = loop(lambda a: mx.sym.BatchNorm(a, gamma, beta, mean, var, fix_gamma=False, eps=1e-3))

    def bind(sym, ctx, part):
        e = sym.simple_bind(ctx, x=part.shape)
        e.arg_dict["x"][:] = part
        e.arg_dict["gamma"][:] = 1.5
        e.aux_dict["v"][:] = 1
        return e

    head = rng.uniform(-1, 1, shape).astype("float32")

    def run(i, e):
        e.forward(is_train=True)
        e.backward(mx.nd.array(head[:, 2 * i:2 * i + 2], ctx=mx.cpu(i)))

    halves = [bind(both, mx.cpu(i), data[:, 2 * i:2 * i + 2]) for i in range(2)]
    one = bind(whole, mx.cpu(), data)
    for _ in range(2):
        threads = [threading.Thread(target=run, args=pair) for pair in enumerate(halves)]  # one would do, but for NaiveEngine
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        outs = [e.outputs[0] for e in halves]
        want = one.forward(is_train=True)[0].asnumpy()
        one.backward(mx.nd.array(head))
        np.testing.assert_allclose(np.concatenate([o.asnumpy() for o in outs], 1), want, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(np.concatenate([e.grad_dict["x"].asnumpy() for e in halves], 1), one.grad_dict["x"].asnumpy(),
                                   rtol=1e-3, atol=1e-4)


PROGRAMS = {
    "executor": executor_program,
    "executor with dropout": lambda: executor_program(True),
    "hybridized": hybrid_program,
    "hybridized static": lambda: hybrid_program(static_alloc=True, static_shape=True),
    "operator by operator": lambda: hybrid_program(True),
    "interleaved": interleaved_program,
    "nested": nested_program,
    "while": while_program,
    "states": states_program,
    "errors": errors_program,
    "heads alone": heads_program,
    "copies": copies_program,
    "many": many_program,
    "SyncBatchNorm": sync_batch_norm_program,
}

if __name__ == "__main__":
    for _ in range(int(sys.argv[1])):
        for name, program in PROGRAMS.items():
            print(name, flush=True)
            program()
    mx.nd.waitall()
    print("all fine")
