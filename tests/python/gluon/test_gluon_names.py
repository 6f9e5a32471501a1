"""Names in the graphs of gluon's blocks are those of 1.9.1 (recorded by record_gluon_names.py)."""
import json
import os

import pytest

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
