"""Names of gluon that programs of 1.x import although they are private, and what star imports
give."""
import multiprocessing
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import rnn
from mxnet.gluon.data import dataloader


def test_star_imports():
    for module, names in (('mxnet.gluon', 'Trainer Block HybridBlock SymbolBlock Parameter '
                           'Constant nn rnn data loss model_zoo contrib utils'),
                          ('mxnet.gluon.data', 'DataLoader ArrayDataset RandomSampler vision dataloader')):
        found = {}
        exec(f'from {module} import *', found)
        assert not set(names.split()) - set(found)


def test_flatten_and_regroup():
    from mxnet.gluon.block import DeferredInitializationError, _flatten, _gather_type_ctx_info, _regroup
    one = nd.ones((1,))
    flat, fmt = _flatten([one, [one, None]], 'input')
    assert fmt == [0, [0, -1]] and len(flat) == 3
    assert _regroup([1, 2, None], fmt) == [1, [2, None]] and _regroup([1], 0) == 1
    with pytest.raises(ValueError):
        _regroup([1, 2, 3], fmt)
    with pytest.raises(ValueError):
        _flatten(3, 'input')
    assert _gather_type_ctx_info([one, [mx.sym.var('a')], 3]) == (True, True, {mx.cpu(0)}, mx.cpu(0))
    assert issubclass(DeferredInitializationError, mx.base.MXNetError)


def test_weighting():
    from mxnet.gluon.loss import _apply_weighting, _reshape_like
    assert _apply_weighting(nd, nd.ones((2, 2)), 3., nd.array([[1], [2]])).asnumpy().tolist() == [[3, 3], [6, 6]]
    with pytest.raises(AssertionError):
        _apply_weighting(nd, nd.ones((1,)), 'a')
    assert _reshape_like(nd, nd.ones((4,)), nd.ones((2, 2))).shape == (2, 2)


def test_iterator_over_a_pool():
    data = [float(i) for i in range(10)]
    with multiprocessing.get_context('fork').Pool(2, initializer=dataloader._worker_initializer, initargs=(data,)) as pool:
        batches = dataloader._MultiWorkerIter(pool, dataloader.default_mp_batchify_fn,
                                              gluon.data.BatchSampler(gluon.data.SequentialSampler(10), 4), prefetch=2)
        assert len(batches) == 3
        assert [b.asnumpy().tolist() for b in batches] == [data[:4], data[4:8], data[8:]]
    assert pickle.loads(dataloader._worker_fn([1, 2], np.array, data)).tolist() == [1, 2]
    with pytest.raises(ValueError):
        dataloader._worker_fn([0], np.array)


def test_sequences():
    from mxnet.gluon.rnn.rnn_cell import (_cells_begin_state, _cells_state_info, _format_sequence, _get_begin_state,
                                          _mask_sequence_variable_length, _reverse_sequences)
    x = nd.arange(24).reshape((2, 3, 4))
    steps, axis, F, batch = _format_sequence(3, x, 'NTC', False)
    assert len(steps) == 3 and (axis, F, batch) == (1, mx.nd, 2)
    assert np.array_equal(_format_sequence(3, steps, 'NTC', True)[0].asnumpy(), x.asnumpy())
    assert _format_sequence(3, x, 'NTC', True, 'TNC')[0].shape == (3, 2, 4)
    ones = nd.ones((2, 3, 1))
    assert _mask_sequence_variable_length(nd, ones, 3, nd.array([1, 2]), 1, True).asnumpy()[:, :, 0].tolist() == [[1, 0, 0], [1, 1, 0]]
    assert len(_mask_sequence_variable_length(nd, ones, 3, nd.array([1, 2]), 1, False)) == 3
    rows = [nd.array([[i], [i]]) for i in range(3)]
    assert [r.asnumpy()[0, 0] for r in _reverse_sequences(rows, 3)] == [2, 1, 0]
    assert [r.asnumpy()[:, 0].tolist() for r in _reverse_sequences(rows, 3, nd.array([2, 3]))] == [[1, 2], [0, 1], [2, 0]]
    cell = rnn.RNNCell(3)
    assert _get_begin_state(cell, nd, None, [nd.ones((2, 4))], 2)[0].shape == (2, 3)
    assert _cells_state_info([cell, cell], 2)[1]['shape'] == (2, 3) and len(_cells_begin_state([cell, cell], batch_size=2)) == 2


@pytest.mark.parametrize('layout', ['TNC', 'NTC'])
def test_dynamic_unroll(layout):
    from mxnet.gluon.contrib.rnn.rnn_cell import dynamic_unroll
    cell = rnn.LSTMCell(3, input_size=2)
    cell.initialize(mx.init.One())
    x = nd.arange(12).reshape((3, 2, 2)) * .1    # 1.9.1 gives the numbers below
    outputs, states = dynamic_unroll(cell, x if layout == 'TNC' else x.swapaxes(0, 1),
                                     cell.begin_state(2), layout=layout,
                                     valid_length=nd.array([1, 2]))
    outputs = outputs if layout == 'TNC' else outputs.swapaxes(0, 1)
    np.testing.assert_allclose(outputs.asnumpy()[:, :, 0], [[.0274, .1743], [0, .6779], [0, 0]], atol=1e-4)
    np.testing.assert_allclose(states[0].asnumpy()[:, 0], [.0274, .6779], atol=1e-4)
    with pytest.raises(TypeError):
        dynamic_unroll(cell, [1.0], [])
