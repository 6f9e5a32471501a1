"""First states that recurrent layers and cells make themselves, in graphs that are recorded from
`forward`: there are as many as the input has sequences."""
import mxnet as mx
import numpy as onp
import pytest
from mxnet import gluon, np
from mxnet.gluon import rnn

STEPS, FEATURES = 3, 4


@pytest.fixture(autouse=True)
def numpy_mode():
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


class Whole(gluon.HybridBlock):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return mx.npx.relu(self.layer(x))


class Unrolled(gluon.HybridBlock):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):
        return self.cell.unroll(STEPS, x, layout='TNC', merge_outputs=True)[0]


BLOCKS = {
    'lstm': lambda: Whole(rnn.LSTM(2, num_layers=2, bidirectional=True)),
    'gru': lambda: Whole(rnn.GRU(2)),
    'projection': lambda: Whole(rnn.LSTM(3, projection_size=2)),
    'batch first': lambda: Whole(rnn.RNN(2, layout='NTC')),
    'cell': lambda: Unrolled(rnn.LSTMCell(2)),
    'two directions': lambda: Unrolled(rnn.BidirectionalCell(rnn.GRUCell(2), rnn.GRUCell(2))),
}


@pytest.mark.parametrize('kind', BLOCKS)
def test_exported_graphs_take_any_batch(kind, tmp_path):
    def batch(size):
        shape = (size, STEPS, FEATURES) if kind == 'batch first' else (STEPS, size, FEATURES)
        return np.array(onp.random.RandomState(size).uniform(-1, 1, shape), dtype='float32')

    block = BLOCKS[kind]()
    block.initialize()
    expected = block(batch(5)).asnumpy()
    block.hybridize()
    block(batch(2))
    files = block.export(str(tmp_path / 'net'))
    again = gluon.SymbolBlock.imports(files[0], ['data'], files[1])
    onp.testing.assert_allclose(again(batch(5)).asnumpy(), expected, 1e-5, 1e-6)
    onp.testing.assert_allclose(block(batch(5)).asnumpy(), expected, 1e-5, 1e-6)


def test_one_graph_for_batches_of_all_sizes():
    block = BLOCKS['lstm']()
    block.initialize()
    block.hybridize()
    for size in (2, 5, 1):
        assert block(np.ones((STEPS, size, FEATURES))).shape == (STEPS, size, 4)
    assert len(block._traces) == 1


def test_gradients_in_a_loop():
    class Each(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.layer = rnn.GRU(2, input_size=FEATURES)

        def forward(self, x):
            return mx.npx.foreach(lambda row, state: (self.layer(row), state), x, [np.zeros((1,))])[0]

    block = Each()
    block.initialize()
    x = np.array(onp.random.RandomState(1).uniform(-1, 1, (2, STEPS, 5, FEATURES)), dtype='float32')
    found = []
    for active in (False, True):
        block.hybridize(active)
        with mx.autograd.record():
            y = block(x)
        y.backward()
        found.append((y.asnumpy(), block.layer.l0_i2h_weight.grad().asnumpy()))
    for plain, compiled in zip(*found):
        onp.testing.assert_allclose(compiled, plain, 1e-4, 1e-6)
