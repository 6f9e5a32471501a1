"""Custom operators of which only some gradients are wanted."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import operator


@pytest.mark.parametrize("depends", [lambda og, i, o: og, lambda og, i, o: [*og, i[0]], lambda og, i, o: [*o]])
@pytest.mark.parametrize("wanted", [("a",), ("b",), ("a", "b"), ("c",)])
@pytest.mark.parametrize("request_", ["write", "add"])
def test_some_gradients_are_wanted_and_backward_reads_no_arguments(depends, wanted, request_):
    """Shapes of gradients that nobody wants are told by what backward does not read."""
    seen = []

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        seen.append([array.shape for array in in_grad])
        for k, gradient in enumerate(in_grad):
            self.assign(gradient, req[k], mx.nd.full(gradient.shape, k + 2))

    name = f"test_wanted{len(depends([0], [0], [0]))}_{'_'.join(wanted)}_{request_}"

    class Op(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0])
    Op.backward = backward

    class Prop(operator.CustomOpProp):
        list_arguments = lambda self: ["a", "b", "c"]  # noqa: E731
        infer_shape = lambda self, shapes: (shapes, [shapes[0]])  # noqa: E731
        declare_backward_dependency = lambda self, og, i, o: depends(og, i, o)  # noqa: E731
        create_operator = lambda self, ctx, shapes, types: Op()  # noqa: E731
    operator.register(name)(Prop)

    shapes = {"a": (2,), "b": (3, 1), "c": (1, 4)}
    gradients = {k: mx.nd.ones(v) for k, v in shapes.items()}
    executor = mx.sym.Custom(*(mx.sym.var(k) for k in shapes), op_type=name).bind(
        mx.cpu(), {k: mx.nd.ones(v) for k, v in shapes.items()}, args_grad=gradients,
        grad_req={k: request_ if k in wanted else "null" for k in shapes})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((2,)))
    for k, value in zip(shapes, (2, 3, 4)):
        want = 1 if k not in wanted else value if request_ == "write" else value + 1
        assert gradients[k].asnumpy().tolist() == np.full(shapes[k], want).tolist()
    assert seen == [list(shapes.values())]


@pytest.mark.parametrize("wanted", [("data",), ("b",), ("c",), ("data", "b", "c", "state")])
def test_some_gradients_are_wanted_in_the_body_of_a_loop(wanted):
    class Op(operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0])

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            for k, gradient in enumerate(in_grad):
                self.assign(gradient, req[k], mx.nd.full(gradient.shape, k + 2))

    class Prop(operator.CustomOpProp):
        list_arguments = lambda self: ["a", "b", "c"]  # noqa: E731
        infer_shape = lambda self, shapes: (shapes, [shapes[0]])  # noqa: E731
        declare_backward_dependency = lambda self, og, i, o: og  # noqa: E731
        create_operator = lambda self, ctx, shapes, types: Op()  # noqa: E731
    operator.register("test_wanted_in_loop")(Prop)

    data, state, b, c = (mx.sym.var(name) for name in ("data", "state", "b", "c"))
    out, last = mx.sym.contrib.foreach(
        lambda x, s: (mx.sym.Custom(x, b, c, op_type="test_wanted_in_loop") + s, s + x), data, state)
    shapes = {"data": (4, 2), "state": (2,), "b": (3, 1), "c": (1, 4)}
    gradients = {k: mx.nd.zeros(v) for k, v in shapes.items()}
    executor = mx.sym.Group([out, last]).bind(
        mx.cpu(), {k: mx.nd.ones(v) for k, v in shapes.items()}, args_grad=gradients,
        grad_req={k: "write" if k in wanted else "null" for k in shapes})
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones((4, 2)), mx.nd.ones((2,))])
    # 2 by the operator, 1 by the last state and by each later step; each step gives 3 to b, 4 to c.
    want = {"data": np.repeat([[6], [5], [4], [3]], 2, 1), "state": np.full(2, 5), "b": np.full((3, 1), 12), "c": np.full((1, 4), 16)}
    for k in shapes:
        np.testing.assert_array_equal(gradients[k].asnumpy(), want[k] if k in wanted else 0 * want[k])


def test_an_executor_has_one_operator_for_training_and_inference():
    made = []

    class Counts(operator.CustomOp):
        def __init__(self):
            super().__init__()
            self.calls = 0
            made.append(self)

        def forward(self, is_train, req, in_data, out_data, aux):
            self.calls += 1
            self.assign(out_data[0], req[0], in_data[0] + self.calls)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.calls += 1
            self.assign(in_grad[0], req[0], out_grad[0])

    @operator.register("test_counts_of_executors")
    class CountsProp(operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Counts()

    executor = mx.sym.Custom(mx.sym.var("x"), op_type="test_counts_of_executors").simple_bind(mx.cpu(), x=(2,))
    seen = []
    for is_train in (True, False, True):
        seen.append(executor.forward(is_train=is_train, x=mx.nd.zeros(2))[0].asnumpy()[0])
        if is_train:
            executor.backward(mx.nd.ones(2))
    mx.nd.waitall()
    assert len(made) == 1 and seen == [1, 3, 4] and made[0].calls == 5


class Twice(operator.CustomOp):
    seen = []

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.seen.append(req)
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[1])
        in_grad[1][:] = out_grad[0] * in_data[0]  # whatever the request


@operator.register("test_wanted_by_the_tape")
class TwiceProp(operator.CustomOpProp):
    def list_arguments(self):
        return ["a", "b"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Twice()


class TwiceBlock(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, a, b):
        return F.Custom(a, b, op_type="test_wanted_by_the_tape")


@pytest.mark.parametrize("flags", [None, {}, {"static_alloc": True}])
def test_backward_is_told_which_gradients_the_tape_reads(flags):
    """As in 1.9.1: labels and other inputs without a gradient have the request null."""
    block, x, label = TwiceBlock(), mx.nd.array([1, 2]), mx.nd.array([3, 4])
    if flags is not None:
        block.hybridize(**flags)
    x.attach_grad()
    for call, want in [(lambda: block(x, label), ["write", "null"]), (lambda: block(x * 1, label * 1), ["write", "null"]),
                       (lambda: block(label, x), ["null", "write"])]:
        Twice.seen.clear()
        with mx.autograd.record():
            y = call()
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), [3, 4])
        assert Twice.seen == [want]
    Twice.seen.clear()
    with mx.autograd.record():
        y = block(x, x)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])
    assert Twice.seen == [["write", "write"]]
