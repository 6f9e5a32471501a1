"""Custom operators that take sparse arrays: what they get and what becomes of what they make."""
import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, gluon

seen = []
DENSE = np.array([[0, 1, 0], [2, 0, 3], [0, 0, 0]], "float32")


def like(array, values):
    if array.stype == "csr":
        return mx.nd.sparse.csr_matrix((values, array.indices, array.indptr), shape=array.shape)
    if array.stype == "row_sparse":
        return mx.nd.sparse.row_sparse_array((values, array.indices), shape=array.shape)
    return values


def stored(array):
    return array if array.stype == "default" else array.data


class Square(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        seen.append(("forward", in_data[0].stype, out_data[0].stype))
        self.kept = in_data[0], out_data[0]
        self.assign(out_data[0], req[0], like(in_data[0], stored(in_data[0]) ** 2))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        seen.append(("backward", in_data[0].stype, in_grad[0].stype))
        grad = 2 * in_data[0].tostype("default") * out_grad[0].tostype("default")
        self.assign(in_grad[0], req[0], grad.tostype(in_grad[0].stype))


class SquareProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        self.operator = Square()
        return self.operator


@mx.operator.register("sparse_square")
class SparseSquareProp(SquareProp):
    def infer_storage_type(self, in_stype):
        return in_stype, in_stype, []

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        return ograd_stype, in_stype, out_stype, in_stype, aux_stype


@mx.operator.register("rows_of_dense")
class RowsOfDenseProp(SquareProp):
    """Dense in and out, a row_sparse gradient."""

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        return ograd_stype, in_stype, out_stype, ["row_sparse"], aux_stype


@mx.operator.register("wrong_storage")
class WrongStorageProp(SquareProp):
    def infer_storage_type(self, in_stype):
        return ["default"], ["default"], []


@mx.operator.register("unknown_storage")
class UnknownStorageProp(SquareProp):
    def infer_storage_type(self, in_stype):
        return in_stype, ["coo"], []


@pytest.fixture(autouse=True)
def nothing_seen():
    seen.clear()


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
@pytest.mark.parametrize("grad", ["default", "same"])
@pytest.mark.parametrize("req", ["write", "add"])
def test_eager(stype, grad, req):
    x = mx.nd.array(DENSE).tostype(stype)
    x.attach_grad(stype=stype if grad == "same" else "default", grad_req=req)
    for n in range(2):
        with autograd.record():
            y = mx.nd.Custom(x, op_type="sparse_square")
        y.backward()
        assert y.stype == stype
        np.testing.assert_array_equal(y.asnumpy(), DENSE ** 2)
        times = n + 1 if req == "add" else 1
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * times * DENSE)
    np.testing.assert_array_equal(x.asnumpy(), DENSE)
    for array in x, x.grad:
        if array.stype != "default":
            array.check_format()
    assert seen == 2 * [("forward", stype, stype), ("backward", stype, stype)]


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_graph(stype):
    y = mx.sym.Custom(mx.sym.Variable("x", stype=stype), op_type="sparse_square", name="y")
    executor = (y * 2).simple_bind(mx.cpu(), x=DENSE.shape)
    for n in range(2):
        mx.nd.array((n + 1) * DENSE).tostype(stype).copyto(executor.arg_dict["x"])
        out = executor.forward(is_train=True)[0]
        executor.backward(mx.nd.ones(DENSE.shape))
        assert out.stype == stype
        np.testing.assert_array_equal(out.asnumpy(), 2 * ((n + 1) * DENSE) ** 2)
        np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), 4 * (n + 1) * DENSE)
    assert set(seen) == {("forward", stype, stype), ("backward", stype, stype)}


def test_block_with_rows_of_gradients():
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(3, 3), grad_stype="row_sparse")

        def hybrid_forward(self, F, x, weight):
            return x * F.Custom(weight, op_type="rows_of_dense")

    for hybrid in False, True:
        net = Net()
        net.initialize()
        net.weight.set_data(mx.nd.array(DENSE))
        if hybrid:
            net.hybridize()
        with autograd.record():
            y = net(mx.nd.ones((3, 3)))
        y.backward()
        assert net.weight.grad().stype == "row_sparse"
        np.testing.assert_array_equal(net.weight.grad().indices.asnumpy(), [0, 1])
        np.testing.assert_array_equal(net.weight.grad().asnumpy(), 2 * DENSE)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_arrays_that_forward_keeps(stype):
    operators = []

    @mx.operator.register("kept_square_" + stype)
    class KeptProp(SparseSquareProp):
        def create_operator(self, ctx, shapes, dtypes):
            operators.append(Square())
            return operators[-1]

    x = mx.nd.array(DENSE).tostype(stype)
    y = mx.nd.Custom(x, op_type="kept_square_" + stype)
    np.testing.assert_array_equal(y.asnumpy(), DENSE ** 2)
    given, made = operators[0].kept
    x[:] = mx.nd.zeros(DENSE.shape).tostype(stype)
    y[:] = mx.nd.zeros(DENSE.shape).tostype(stype)
    mx.nd.waitall()
    np.testing.assert_array_equal(given.asnumpy(), DENSE)
    np.testing.assert_array_equal(made.asnumpy(), DENSE ** 2)
    given.check_format()
    made.check_format()


def test_output_of_another_storage():
    out = mx.nd.ones(DENSE.shape)
    x = mx.nd.array(DENSE).tostype("csr")
    mx.nd.Custom(x, op_type="sparse_square", out=out)
    np.testing.assert_array_equal(out.asnumpy(), DENSE ** 2)


def test_operators_for_dense_arrays_get_copies():
    mx.operator.register("dense_square")(SquareProp)
    y = mx.nd.Custom(mx.nd.array(DENSE).tostype("csr"), op_type="dense_square")
    np.testing.assert_array_equal(y.asnumpy(), DENSE ** 2)
    assert seen == [("forward", "default", "default")]


def test_bad_answers():
    x = mx.nd.array(DENSE).tostype("csr")
    with pytest.raises(mx.MXNetError, match="default for argument data, which is csr"):
        mx.nd.Custom(x, op_type="wrong_storage")
    with pytest.raises(mx.MXNetError, match="'coo'; accepted: 'default', 'row_sparse', 'csr'"):
        mx.nd.Custom(x, op_type="unknown_storage")
    with pytest.raises(mx.MXNetError, match="'csr'; accepted: 'default'"):
        mx.nd.Custom(x, op_type="rows_of_dense")


def test_failure_leaves_the_arrays():
    class Fails(Square):
        def forward(self, is_train, req, in_data, out_data, aux):
            raise ValueError("no forward")

    @mx.operator.register("sparse_failure")
    class FailsProp(SparseSquareProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Fails()

    x = mx.nd.array(DENSE).tostype("csr")
    with pytest.raises(mx.MXNetError, match="no forward"):
        mx.nd.Custom(x, op_type="sparse_failure").asnumpy()
    np.testing.assert_array_equal(x.asnumpy(), DENSE)
    x.check_format()


class Heads(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], (in_data[0] * 2).tostype(out_data[0].stype))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        seen.append(out_grad[0].stype)
        self.assign(in_grad[0], req[0], (out_grad[0] * 2).tostype(in_grad[0].stype))


@mx.operator.register("test_heads")
class HeadsProp(mx.operator.CustomOpProp):
    def __init__(self, result):
        super().__init__()
        self.result = result

    def infer_storage_type(self, in_stype):
        return in_stype, [self.result], []

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        seen.append((ograd_stype[0], out_stype[0]))
        return ograd_stype, in_stype, out_stype, ["default"], []

    def create_operator(self, ctx, shapes, dtypes):
        return Heads()


@pytest.mark.parametrize("result", ["default", "row_sparse", "csr"])
@pytest.mark.parametrize("given", ["default", "row_sparse", "csr"])
@pytest.mark.parametrize("bind", ["bind", "simple_bind", "behind a copy"])
def test_head_gradients_of_bound_graphs_have_the_storage_of_the_output(result, given, bind):
    """As in 1.9.1, whatever storage the program gives."""
    seen.clear()
    net = mx.sym.Custom(mx.sym.Variable("data"), op_type="test_heads", result=result)
    if bind == "behind a copy":
        net = mx.sym.identity(net)
    if bind == "bind":
        bound = net.bind(mx.cpu(), {"data": mx.nd.array(DENSE)}, {"data": mx.nd.zeros(DENSE.shape)})
    else:
        bound = net.simple_bind(mx.cpu(), data=DENSE.shape)
        bound.arg_dict["data"][:] = DENSE
    out, = bound.forward(is_train=True)
    assert out.stype == result
    bound.backward(mx.nd.array(DENSE + 1).tostype(given))
    assert bound.grad_dict["data"].asnumpy().tolist() == (2 * (DENSE + 1)).tolist()
    assert set(seen) == {(result, result), result}
