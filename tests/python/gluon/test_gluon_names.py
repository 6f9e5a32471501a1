"""Names in the graphs of gluon's blocks are those of 1.9.1 (recorded by record_gluon_names.py)."""
import json
import os

import pytest

import mxnet as mx

WANTED = json.load(open(os.path.join(os.path.dirname(os.path.dirname(__file__)), 'data', 'gluon_names.json'), encoding='utf-8'))
# Without its two constants, which were float32 whatever the inputs; its inputs and outputs are
# compared below. CTCLoss's name is its operator's.
DIFFERENT = {'loss CosineEmbeddingLoss', 'lossw CosineEmbeddingLoss', 'loss CTCLoss'}


@pytest.fixture(scope='module')
def found():
    import record_gluon_names
    return record_gluon_names


def test_names(found):
    assert len(WANTED) > 180
    differ = {name: found.R[name] for name in WANTED if found.DIGESTS.get(name) != WANTED[name] and name not in DIFFERENT}
    assert not differ


def test_cosine_embedding_loss(found):
    names = found.R['loss CosineEmbeddingLoss']
    assert names['args'] == ['d0', 'd1', 'd2'] and names['outputs'] == ['cosineembeddingloss0__plus0_output']


def test_operators_of_projected_cells():
    """As MXNet 1.9.1 writes them; its other cells are in the recorded names."""
    with mx.name.NameManager():
        steps, _ = mx.gluon.contrib.rnn.LSTMPCell(4, 3).unroll(1, mx.sym.var('x'), layout='NTC')
    nodes = {n['name'].split('_')[-1]: n for n in json.loads(steps[0].tojson())['nodes'] if n['op'] != 'null'}
    assert nodes['split0']['attrs'] == {'axis': '1', 'num_outputs': '1', 'squeeze_axis': '1'}
    assert [nodes[gate]['attrs']['act_type'] for gate in 'ifco'] == ['sigmoid', 'sigmoid', 'tanh', 'sigmoid']
    assert {nodes[gate]['op'] for gate in 'ifco'} == {'Activation'}
