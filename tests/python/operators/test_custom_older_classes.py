"""Operators written in Python with the classes before CustomOp: NumpyOp and NDArrayOp."""
import warnings

import pytest

import mxnet as mx
from mxnet import operator


def test_older_classes():
    """Their records are _Native and _NDArray."""
    class Square(operator.NumpyOp):
        def forward(self, in_data, out_data):
            out_data[0][:] = in_data[0] ** 2

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = 2 * in_data[0] * out_grad[0]

    class Third(operator.NDArrayOp):
        def forward(self, in_data, out_data):
            out_data[0][:] = in_data[0] * 3

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = 3

    with pytest.warns(UserWarning, match="NumpyOp has been deprecated. Please use CustomOp"):
        square = Square(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        third = Third(need_top_grad=False)
        assert operator.PythonOp().infer_shape([(1, 2)]) == ([(1, 2)], [(1, 2)])
        with pytest.raises(NotImplementedError):
            operator.PythonOp()(1)
    for op, value, grad in [(square, [1, 4, 9], [2, 4, 6]), (third, [3, 6, 9], [3, 3, 3])]:
        s = op(mx.sym.var("x"), name="p")
        assert s.list_arguments() == ["x"] and s.list_outputs() == ["p_output"]
        exe = s.simple_bind(mx.cpu(), x=(3,), grad_req="add")
        exe.grad_dict["x"][:] = 10
        exe.arg_dict["x"][:] = mx.nd.array([1, 2, 3])
        exe.forward(is_train=True)
        exe.backward(mx.nd.ones((3,)))
        assert exe.outputs[0].asnumpy().tolist() == value
        assert exe.grad_dict["x"].asnumpy().tolist() == [10 + g for g in grad]
        assert op.get_symbol(data=mx.sym.var("z")).list_arguments() == ["z"]
