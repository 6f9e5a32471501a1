"""The first interface of automatic differentiation, and a data loader as an iterator."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.contrib import autograd as old
from mxnet.contrib.io import DataLoaderIter


def marked(grad_req='write'):
    x, gradient = nd.array([1, 2, 3]), nd.zeros(3)
    old.mark_variables([x], [gradient], grad_req)
    return x, gradient


def modes():
    return autograd.is_training(), autograd.is_recording()


def test_sections_switch_both_modes():
    with old.train_section() as nothing:
        assert nothing is None and modes() == (True, True)
        with old.test_section():
            assert modes() == (False, False)
        assert modes() == (True, True)
    assert modes() == (False, False)
    with pytest.raises(KeyError), old.TrainingStateScope(True):
        raise KeyError
    assert modes() == (False, False)
    assert old.set_is_training(True) is False and modes() == (True, True)
    assert old.set_is_training(False) is True and modes() == (False, False)
    with pytest.raises(TypeError):
        old.set_is_training('a')


def test_a_section_in_a_newer_one_puts_back_what_was():
    with autograd.record(train_mode=False):
        with old.train_section():
            pass
        assert modes() == (False, True)


def test_gradients_arrive_in_the_marked_arrays():
    x, gradient = marked()
    with old.train_section():
        y, z = x * x, x * 3
    old.compute_gradient([y, z])
    assert gradient.asnumpy().tolist() == [5, 7, 9] and x.grad.asnumpy().tolist() == [5, 7, 9]
    with old.train_section():
        y = x * x
    old.backward((y,), [nd.array([1, 10, 100])], retain_graph=True)
    assert gradient.asnumpy().tolist() == [2, 40, 600]
    old.backward([y])
    assert gradient.asnumpy().tolist() == [2, 4, 6]
    with pytest.raises(mx.MXNetError):
        old.backward([y])
    with old.train_section():
        y, z = x * x, x * 3
    old.backward([y, z], [None, nd.ones(3) * 2])
    assert gradient.asnumpy().tolist() == [8, 10, 12]


def test_gradients_are_added():
    x, gradient = marked('add')
    for _ in range(2):
        with old.train_section():
            y = x * x
        old.backward([y])
    assert gradient.asnumpy().tolist() == [4, 8, 12]
    with pytest.raises((KeyError, ValueError)):
        marked('foo')


@pytest.mark.parametrize('grads', [[nd.ones(3)], nd.ones(3)], ids=['list', 'array'])
def test_wrong_gradients_and_outputs(grads):
    x, _ = marked()
    with old.train_section():
        y, z = x * x, x * 3
    with pytest.raises(AssertionError):
        old.backward([y, z], grads)
    with pytest.raises(AssertionError):
        old.backward(y)


@pytest.mark.parametrize('argnum, expected', [(None, [4, 2]), (0, [4]), (1, [2]), ([0], [4]), ([1, 0], [2, 4]),
                                              ((0, 1), [4, 2]), (-1, [2])])
def test_gradients_by_arguments(argnum, expected):
    def function(a, b):
        return a * b + a
    a, b = nd.array([2]), nd.array([3])
    gradients, loss = old.grad_and_loss(function, argnum)(a, b)
    assert isinstance(gradients, list) and [g.asscalar() for g in gradients] == expected and loss.asscalar() == 8
    assert [g.asscalar() for g in old.grad(function, argnum)(a, b)] == expected
    assert old.grad(function).__name__ == 'function' and modes() == (False, False)


def test_several_results_and_other_arguments():
    gradients, (square, triple) = old.grad_and_loss(lambda a: [a * a, a * 3])(nd.array([2]))
    assert gradients[0].asscalar() == 7 and (square.asscalar(), triple.asscalar()) == (4, 6)
    assert old.grad(lambda a, n: a ** n, 0)(nd.array([2]), 3)[0].asscalar() == 12
    with pytest.raises(AssertionError):
        old.grad(lambda a, n: a ** n)(nd.array([2]), 3)
    for wrong, error in ((2, IndexError), ('a', TypeError)):
        with pytest.raises(error):
            old.grad(lambda a, n: a ** n, wrong)(nd.array([2]), nd.array([3]))


# -- DataLoaderIter --
X = np.arange(35).reshape(7, 5).astype('float32')
Y = np.arange(7).astype('float32')


def loader(batch_size=3, **kwargs):
    return gluon.data.DataLoader(gluon.data.ArrayDataset(X, Y), batch_size, **kwargs)


def test_batches_of_a_loader():
    iterator = DataLoaderIter(loader())
    assert iterator.provide_data == [mx.io.DataDesc('data', (3, 5))]
    assert iterator.provide_label == [mx.io.DataDesc('softmax_label', (3,))] and iterator.batch_size == 3
    for _ in range(2):
        batches = list(iterator)
        assert [batch.pad for batch in batches] == [0, 0, 2] and {batch.data[0].shape for batch in batches} == {(3, 5)}
        assert batches[2].label[0].asnumpy().tolist() == [6, 0, 0] and batches[2].index is None
        np.testing.assert_array_equal(batches[2].data[0].asnumpy(), [X[6], np.zeros(5), np.zeros(5)])
        iterator.reset()
    assert [batch.pad for batch in DataLoaderIter(loader(last_batch='discard'))] == [0, 0]
    assert next(DataLoaderIter(loader(7))).data[0].shape == (7, 5)


def test_names_and_dtypes_of_a_loader():
    iterator = DataLoaderIter(loader(), 'x', 'y', 'float16')
    assert iterator.provide_data[0].name == 'x' and iterator.provide_label[0].dtype == 'float16'
    assert {batch.data[0].dtype for batch in iterator} == {np.float16}


def test_before_and_after_the_batches():
    iterator = DataLoaderIter(loader())
    for function in (iterator.getdata, iterator.getlabel, iterator.getpad):
        with pytest.raises(TypeError):
            function()
    assert [iterator.iter_next() for _ in range(5)] == [True, True, True, False, False]
    with pytest.raises(StopIteration):
        iterator.next()
    with pytest.raises(StopIteration):
        DataLoaderIter(loader(10, last_batch='discard'))
    with pytest.raises(ValueError):
        DataLoaderIter(gluon.data.DataLoader(gluon.data.ArrayDataset(X, Y, Y), 2))


def test_a_module_trains_from_a_loader():
    output = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=7), name='softmax')
    trained = mx.mod.Module(output)
    trained.fit(DataLoaderIter(loader()), num_epoch=2)
    assert trained.predict(DataLoaderIter(loader())).shape == (7, 7)
