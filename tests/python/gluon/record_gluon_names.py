"""Names in the graphs of gluon's layers, losses, recurrent layers and cells and model_zoo networks:
arguments, auxiliary states, outputs and internals.

Run by the 1.9.1 wheel it records them (``oracle/bin/python record_gluon_names.py
tests/python/data/gluon_names.json``), as a digest per network; the test imports it and compares.
"""

import hashlib
import json
import sys
import tempfile

import mxnet as mx
import mxnet.gluon.contrib.nn as cnn
import mxnet.gluon.contrib.rnn as crnn
from mxnet import nd, sym
from mxnet.gluon import nn, rnn, loss
from mxnet.gluon.model_zoo import vision

CASES = {
    'Dense': lambda: (nn.Dense(3), (2, 4)),
    'DenseAct': lambda: (nn.Dense(3, activation='relu', flatten=False), (2, 4)),
    'Dropout': lambda: (nn.Dropout(0.5), (2, 4)),
    'BatchNorm': lambda: (nn.BatchNorm(), (2, 4)),
    'BatchNormReLU': lambda: (nn.BatchNormReLU(), (2, 4, 3, 3)),
    'InstanceNorm': lambda: (nn.InstanceNorm(), (2, 4, 3)),
    'LayerNorm': lambda: (nn.LayerNorm(), (2, 4)),
    'GroupNorm': lambda: (nn.GroupNorm(2), (2, 4, 3)),
    'Flatten': lambda: (nn.Flatten(), (2, 4, 3)),
    'Embedding': lambda: (nn.Embedding(5, 3), (2,)),
    'HybridLambda': lambda: (nn.HybridLambda(lambda F, x: F.relu(x) + 1), (2,)),
    'HybridLambda2': lambda: (nn.HybridLambda('tanh'), (2,)),
    'LeakyReLU': lambda: (nn.LeakyReLU(0.1), (2,)),
    'PReLU': lambda: (nn.PReLU(), (2, 3)),
    'ELU': lambda: (nn.ELU(), (2,)),
    'SELU': lambda: (nn.SELU(), (2,)),
    'GELU': lambda: (nn.GELU(), (2,)),
    'Swish': lambda: (nn.Swish(), (2,)),
    'ReflectionPad2D': lambda: (nn.ReflectionPad2D(1), (1, 1, 3, 3)),
    'HybridSequential': lambda: (seq(), (2, 3, 8, 8)),
}
for a in ('relu', 'sigmoid', 'tanh', 'softrelu', 'softsign'):
    CASES['Act_' + a] = lambda a=a: (nn.Activation(a), (2,))
for d in (1, 2, 3):
    s = (1, 3) + (6,) * d
    for k in ('Conv', 'AvgPool', 'MaxPool', 'GlobalAvgPool', 'GlobalMaxPool'):
        n = f'{k}{d}D'
        CASES[n] = lambda n=n, s=s, k=k: (getattr(nn, n)(4, 3) if k == 'Conv' else getattr(nn, n)(), s)
    CASES[f'Conv{d}DAct'] = lambda d=d, s=s: (
        getattr(nn, f'Conv{d}D')(4, 3, activation='relu', use_bias=False),
        s,
    )
    CASES[f'Conv{d}DTranspose'] = lambda d=d, s=s: (getattr(nn, f'Conv{d}DTranspose')(4, 3), s)


def seq():
    n = nn.HybridSequential()
    with n.name_scope():
        n.add(
            nn.Conv2D(4, 3, activation='relu'),
            nn.BatchNorm(),
            nn.MaxPool2D(),
            nn.HybridSequential(),
            nn.Flatten(),
            nn.Dense(3),
        )
        n[3].add(nn.Dropout(0.1))
    return n


for n in ('RNN', 'LSTM', 'GRU'):
    for kw in (
        {},
        {'num_layers': 2, 'bidirectional': True},
        {'layout': 'NTC', 'dropout': 0.2, 'num_layers': 2},
    ):
        CASES[n + str(kw)] = lambda n=n, kw=kw: (getattr(rnn, n)(4, **kw), (3, 2, 5))
LOSSES = {
    n: 2
    for n in (
        'L2Loss',
        'L1Loss',
        'SigmoidBCELoss',
        'SigmoidBinaryCrossEntropyLoss',
        'SoftmaxCrossEntropyLoss',
        'SoftmaxCELoss',
        'KLDivLoss',
        'HuberLoss',
        'HingeLoss',
        'SquaredHingeLoss',
        'LogisticLoss',
        'PoissonNLLLoss',
    )
}
LOSSES.update(TripletLoss=3, CosineEmbeddingLoss=3, CTCLoss=2, SDMLLoss=2)
CELLS = ['RNNCell', 'LSTMCell', 'GRUCell']


def describe(out):
    if isinstance(out, (list, tuple)):
        flat = []

        def walk(o):
            if isinstance(o, (list, tuple)):
                for x in o:
                    walk(x)
            else:
                flat.append(o)

        walk(out)
        out = sym.Group(flat)
    return {
        'args': out.list_arguments(),
        'aux': out.list_auxiliary_states(),
        'outputs': out.list_outputs(),
        'internals': out.get_internals().list_outputs(),
    }


R = {}


def case(name, f):
    try:
        with mx.name.NameManager():
            R[name] = describe(f())
    except Exception as e:
        R[name] = 'ERR ' + type(e).__name__ + str(e)[:120].replace('\n', ' ')


def exported(mk):
    b, s = mk()
    b.initialize()
    b.hybridize()
    b(nd.ones(s))
    folder = tempfile.mkdtemp()
    b.export(folder + '/m')
    return sym.load(folder + '/m-symbol.json')


for n, mk in CASES.items():
    case('sym ' + n, lambda: mk()[0](sym.var('data')))
    case('exp ' + n, lambda: exported(mk))
for n, k in LOSSES.items():
    case('loss ' + n, lambda: getattr(loss, n)()(*[sym.var('d%d' % i) for i in range(k)]))
    if n not in ('CTCLoss', 'SDMLLoss', 'TripletLoss'):
        case(
            'lossw ' + n,
            lambda: getattr(loss, n)(weight=2.0)(*[sym.var('d%d' % i) for i in range(k)], sym.var('sw')),
        )
case('loss bce_pos', lambda: loss.SigmoidBCELoss(from_sigmoid=True)(sym.var('p'), sym.var('l')))
case('loss bce_pw', lambda: loss.SigmoidBCELoss()(sym.var('p'), sym.var('l'), None, sym.var('pw')))
case(
    'loss sce_dense',
    lambda: loss.SoftmaxCELoss(sparse_label=False, from_logits=True)(sym.var('p'), sym.var('l')),
)
case('loss kl', lambda: loss.KLDivLoss(from_logits=False)(sym.var('p'), sym.var('l')))
case('loss log', lambda: loss.LogisticLoss(label_format='binary')(sym.var('p'), sym.var('l')))
case(
    'loss poi', lambda: loss.PoissonNLLLoss(from_logits=False, compute_full=True)(sym.var('p'), sym.var('l'))
)
for n in CELLS:
    for m in (True, False, None):
        case(
            f'cell {n} {m}',
            lambda: getattr(rnn, n)(4).unroll(3, sym.var('data'), layout='NTC', merge_outputs=m),
        )
    case(
        f'cell {n} valid',
        lambda: getattr(rnn, n)(4).unroll(
            3, sym.var('data'), layout='NTC', merge_outputs=True, valid_length=sym.var('vl')
        ),
    )
    case(
        f'cell {n} step',
        lambda: getattr(rnn, n)(4)(
            sym.var('data'), [sym.var('s%d' % i) for i in range(2 if n == 'LSTMCell' else 1)]
        ),
    )
    case(
        f'cell bi {n}',
        lambda: rnn.BidirectionalCell(getattr(rnn, n)(4), getattr(rnn, n)(4)).unroll(
            2, sym.var('data'), layout='NTC', merge_outputs=True
        ),
    )
    case(
        f'cell res {n}',
        lambda: rnn.ResidualCell(getattr(rnn, n)(4)).unroll(
            2, sym.var('data'), layout='NTC', merge_outputs=True
        ),
    )
    case(
        f'cell zone {n}',
        lambda: rnn.ZoneoutCell(getattr(rnn, n)(4), 0.1, 0.2).unroll(
            2, sym.var('data'), layout='NTC', merge_outputs=True
        ),
    )


def stack():
    c = rnn.HybridSequentialRNNCell()
    c.add(rnn.LSTMCell(4))
    c.add(rnn.DropoutCell(0.2))
    c.add(rnn.GRUCell(3))
    return c


case('cell stack', lambda: stack().unroll(2, sym.var('data'), layout='NTC', merge_outputs=True))
for n in (
    'alexnet',
    'vgg11',
    'vgg11_bn',
    'resnet18_v1',
    'resnet50_v1',
    'resnet18_v2',
    'resnet50_v2',
    'densenet121',
    'squeezenet1_0',
    'squeezenet1_1',
    'inceptionv3',
    'mobilenet0.25',
    'mobilenetv2_0.25',
):
    case('zoo ' + n, lambda: vision.get_model(n)(sym.var('data')))

case(
    'contrib conc',
    lambda: (lambda b: (b.add(nn.Dense(2), nn.Dense(3)), b(sym.var('data')))[1])(cnn.HybridConcurrent()),
)
for k in (1, 2, 3):
    case(f'contrib ps{k}', lambda: getattr(cnn, f'PixelShuffle{k}D')(2)(sym.var('data')))
case(
    'contrib lstmp', lambda: crnn.LSTMPCell(4, 3).unroll(2, sym.var('data'), layout='NTC', merge_outputs=True)
)
case(
    'contrib vard',
    lambda: crnn.VariationalDropoutCell(rnn.LSTMCell(4), 0.1, 0.1, 0.1).unroll(
        2, sym.var('data'), layout='NTC', merge_outputs=True
    ),
)
for k in (1, 2):
    case(
        f'contrib conv{k}',
        lambda: getattr(crnn, f'Conv{k}DLSTMCell')((3,) + (8,) * k, 4, 3, 3, i2h_pad=1).unroll(
            2, [sym.var('a'), sym.var('b')], merge_outputs=False
        ),
    )
for k in ('RNN', 'GRU'):
    case(
        f'contrib conv{k}',
        lambda: getattr(crnn, f'Conv2D{k}Cell')((3, 8, 8), 4, 3, 3, i2h_pad=1).unroll(
            2, [sym.var('a'), sym.var('b')], merge_outputs=False
        ),
    )

DIGESTS = {
    name: hashlib.md5(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]
    for name, found in R.items()
    if not isinstance(found, str)
}

if __name__ == '__main__':
    json.dump(DIGESTS, open(sys.argv[1], 'w'), indent=0, sort_keys=True)
