"""What a traceback shows of an error: public classes, and what was given."""
import pickle
import traceback

import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.base import MXNetError


def shown(error):
    return traceback.format_exception_only(error)[0]


@pytest.mark.parametrize("call, also", [
    (lambda: nd.ones((2, 3)) + nd.ones((4, 5)), ValueError),
    (lambda: nd.Convolution(nd.ones((1, 3, 8, 8)), nd.ones((4, 3, 3, 3)), kernal=(3, 3), num_filter=4), TypeError),
    (lambda: nd.load("/nonexistent"), FileNotFoundError),
    (lambda: nd.load("/"), IsADirectoryError),
    (lambda: gluon.nn.Dense(3).load_parameters("/nonexistent"), OSError),
    (lambda: nd.FullyConnected(nd.ones((2, 4), dtype="float64"), nd.ones((3, 4)), no_bias=True, num_hidden=3), TypeError),
    (lambda: (mx.sym.var("a") + mx.sym.var("b")).infer_shape(a=(2, 3), b=(4, 5)), ValueError),
    (lambda: nd.array([1.0], ctx=mx.Context("cpu", 0)).reshape((7,)), ValueError)])
def test_errors_of_the_library_go_by_the_public_name(call, also):
    """As in 1.x a traceback shows mxnet.base.MXNetError; programs catch the built-in class, too."""
    with pytest.raises(MXNetError) as caught:
        call()
    error = caught.value
    assert isinstance(error, also) and shown(error).startswith("mxnet.base.MXNetError: ")
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error) and str(copied) == str(error) and isinstance(copied, also)


def test_optimizers_list_their_arguments():
    with pytest.raises(TypeError, match=r"^\[SGD\] unexpected arguments lr; accepted: momentum, .*learning_rate"):
        mx.optimizer.create("sgd", lr=0.1)


@pytest.mark.parametrize("call, near", [
    (lambda: mx.nd.softmax(mx.nd.ones(3), axsi=1), "axis"), (lambda: mx.sym.Convolution(num_filters=3), "num_filter"),
    (lambda: mx.nd.ones(3).mean(keepdim=True), "keepdims"), (lambda: mx.npx.softmax(mx.np.ones(3), zz=1, axs=1), "axis")])
def test_operators_name_the_argument_that_was_meant(call, near):
    with pytest.raises(TypeError, match=rf"got unexpected arguments .*; the nearest name is '{near}'; accepted: data, "):
        call()


def test_operators_name_no_argument_where_none_is_near():
    with pytest.raises(TypeError, match=r"^\[softmax\] got unexpected arguments qqq; accepted: data, "):
        mx.nd.softmax(mx.nd.ones(3), qqq=1)


def test_unknown_inputs_are_named():
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    with pytest.raises(MXNetError, match="No inputs of the symbol are dta; it has data, fc_weight, fc_bias"):
        symbol.simple_bind(mx.cpu(), dta=(2, 3))
    with pytest.raises(MXNetError, match="give more input shapes$"):
        symbol.simple_bind(mx.cpu())
    assert symbol.simple_bind(mx.cpu(), data=(2, 3), other=(1,)).forward()[0].shape == (2, 3)      # as in 1.9.1


def test_accuracy_names_both_shapes():
    with pytest.raises(ValueError, match=r"\[Accuracy\] predictions of shape \(2,\) for labels of shape \(3,\)"):
        mx.metric.create("acc").update([nd.ones((3,))], [nd.ones((2,))])


def test_the_block_is_named():
    """Below the message a traceback names the innermost block; the message stays as it is."""
    class Outer(gluon.Block):
        def __init__(self):
            super().__init__(prefix="outer_")
            with self.name_scope():
                self.first = gluon.nn.Dense(3, in_units=4)
                self.second = gluon.nn.Dense(3, in_units=3)

        def forward(self, x):
            return self.second(self.first(x))

    net = Outer()
    net.initialize()
    with pytest.raises(MXNetError) as caught:
        net(nd.ones((2, 5)))
    assert caught.value.__notes__ == ["in block outer_dense0, a Dense, called with an array (2, 5)"]
    assert str(caught.value) == "[FullyConnected] weight has shape (3,4); expected (3,5)"
    with pytest.raises(RuntimeError, match="has not been initialized") as caught:
        gluon.nn.Dense(3, prefix="d_")(nd.ones((2, 5)))
    assert caught.value.__notes__ == ["in block d, a Dense, called with an array (2, 5)"]


def test_modules_name_the_batch():
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 3))], for_training=False)
    module.init_params()
    with pytest.raises(MXNetError, match=r"^\[Module\] a batch with data \(2, 4\) for a module that is bound to "
                                         r"data \(2, 3\): .*fc_weight"):
        module.forward(mx.io.DataBatch([nd.ones((2, 4))]))
    with pytest.raises(MXNetError, match="fc_weight"):
        module.forward(mx.io.DataBatch([nd.ones((7, 4))]))
    for rows in (2, 5):                          # it stays usable
        module.forward(mx.io.DataBatch([nd.ones((rows, 3))]))
        assert module.get_outputs()[0].shape == (rows, 3)
