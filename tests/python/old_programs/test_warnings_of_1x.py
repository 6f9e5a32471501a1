"""Warnings that 1.9.1 gave as well begin with its words, so that the filters of old programs, which
look at the start of a message, find them."""
import re

import mxnet as mx
import numpy as np
import pytest
from mxnet import gluon, nd

SHAPES = [('data', (8, 3))], [('softmax_label', (8,))]


def network():
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, name='fc'), name='softmax')


def bound(**arguments):
    module = mx.mod.Module(network(), **arguments)
    module.bind(*SHAPES)
    module.init_params()
    return module


def buckets():
    module = mx.mod.BucketingModule(lambda key: (network(), ('data',), ('softmax_label',)), default_bucket_key=3)
    module.bind(*SHAPES)
    module.init_params()
    module.set_params(*module.get_params(), allow_missing=True, force_init=False)


class Container(gluon.Block):
    def __init__(self):
        super().__init__()
        self.layers = [gluon.nn.Dense(2)]


class Reader(gluon.HybridBlock):
    """Reads one of two inputs, and one of two layers."""

    def __init__(self):
        super().__init__(prefix='net_')
        with self.name_scope():
            self.used, self.idle = gluon.nn.Dense(2, in_units=3), gluon.nn.Dense(2, in_units=3)

    def hybrid_forward(self, F, x, y):
        return self.used(x)


def made(block):
    block.initialize()
    return block


def compiled(block):
    block.hybridize()
    return block


def hooked():
    block = gluon.nn.Dense(2)
    block.register_forward_hook(lambda *args: None)
    return block


def fixed_rows(batch):
    return {'fc_weight': nd.array([0])}


def twice(register, base, name):
    register(type(name, (base,), {}))
    register(type(name, (base,), {}))


def embedding(folder):
    path = folder / 'vectors.txt'
    path.write_text('2 3\na 1 2 3\n')
    return mx.contrib.text.embedding.CustomEmbedding(str(path))


BATCH = mx.io.DataBatch([nd.ones((8, 3))], [nd.ones(8)])
CONSTANT = gluon.Constant('c', nd.ones(2))
CASES = [
    ('Parameters already initialized and force_init=False. init_params call ignored.',
     lambda: bound().init_params()),
    ('Parameters already initialized and force_init=False. set_params call ignored.',
     lambda: bound().set_params(*bound().get_params(), allow_missing=True, force_init=False)),
    ('Parameters already initialized and force_init=False. set_params call ignored.', buckets),
    ('Optimizer created manually outside Module but rescale_grad is not normalized to '
     '1.0/batch_size/num_workers (1.0 vs. 0.125). Is this intended?',
     lambda: bound().init_optimizer(optimizer=mx.optimizer.SGD(rescale_grad=1.0))),
    ("You created Module with Module(..., label_names=['other_label'])",
     lambda: mx.mod.Module(network(), label_names=['other_label'])),
    ("Data provided by label_shapes don't match names specified by label_names ([] vs. ['softmax_label'])",
     lambda: mx.mod.Module(network()).bind(SHAPES[0])),
    ('Parameters are not updated in the KVStore. No need to call sparse_row_id_fn.',
     lambda: bound().prepare(BATCH, fixed_rows)),
    ('mxnet.model.FeedForward has been deprecated. Please use mxnet.mod.Module instead.',
     lambda: mx.model.FeedForward(network())),
    ("All children of this Sequential layer 'whole_' are HybridBlocks. Consider using HybridSequential",
     lambda: filled(gluon.nn.Sequential(prefix='whole_')).hybridize()),
    ('save_params is deprecated. Please use save_parameters.',
     lambda folder: made(gluon.nn.Dense(2, in_units=2)).save_params(folder / 'a')),
    ("Parameter 'w_weight' is already initialized, ignoring. Set force_reinit=True to re-initialize.",
     lambda: made(made(gluon.nn.Dense(2, prefix='w_', in_units=2)))),
    ('Constant parameter "c" does not support grad_req other than "null", and new value "write" is ignored.',
     lambda: setattr(CONSTANT, 'grad_req', 'write')),
    ('"Container.layers" is an unregistered container with Blocks.', lambda: Container().collect_params()),
    ('The 1-th input to HybridBlock is not used by any computation. Is this intended?',
     lambda: compiled(made(Reader()))(nd.ones((2, 3)), nd.ones((2, 3)))),
    ('Parameter net_dense1_bias, net_dense1_weight is not used by any computation. Is this intended?',
     lambda: compiled(made(Reader()))(nd.ones((2, 3)), nd.ones((2, 3)))),
    ('"Dense(None -> 2, linear)" is being hybridized while still having forward hook/pre-hook.',
     lambda: hooked().hybridize()),
    ('nan or inf is detected. Clipping results will be undefined.',
     lambda: gluon.utils.clip_global_norm([nd.array([np.nan])], 1)),
    ('AttrScope.current has been deprecated.', lambda: mx.AttrScope.current),
    ('NameManager.current has been deprecated.', lambda: mx.name.NameManager.current),
    ('Context.default_ctx has been deprecated.', lambda: mx.Context.default_ctx),
    ('getLogger is deprecated, Use get_logger instead.', lambda: mx.log.getLogger('of_warnings')),
    ('Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence.',
     lambda: mx.optimizer.SGD().create_state_multi_precision(0, nd.ones(2, dtype='float16'))),
    ('WARNING: New optimizer', lambda: twice(mx.optimizer.register, mx.optimizer.Optimizer, 'WarnedStep')),
    ('New metric', lambda: twice(mx.metric.register, mx.metric.EvalMetric, 'WarnedScore')),
    ('New score mxnet.metric.EvalMetric registered with name same is overriding',
     lambda: [mx.registry.get_register_func(mx.metric.EvalMetric, 'score')(mx.metric.EvalMetric, 'same') for _ in range(2)]),
    ('New registration is overriding existing custom operator warned_twice',
     lambda: [mx.operator.register('warned_twice')(mx.operator.CustomOpProp) for _ in range(2)]),
    ('WARNING: New kvstore', lambda: twice(mx.kvstore.KVStoreBase.register, mx.kvstore.KVStoreBase, 'WarnedStore')),
    ('`min_area` is deprecated. Please use `area` instead.',
     lambda: mx.image.RandomSizedCropAug((2, 2), area=1, ratio=(1, 1), min_area=.5)),
    ('Calling initializer with init(str, NDArray) has been deprecated.', lambda: mx.init.One()('fc_weight', nd.zeros(2))),
    ('profiler.profiler_set_state() is deprecated. Please use profiler.set_state() instead',
     lambda: mx.profiler.profiler_set_state('stop')),
    ('rnn_unroll is deprecated. Please call cell.unroll directly.', lambda: mx.rnn.rnn_unroll(mx.rnn.RNNCell(3), 2)),
    ('At line 1 of the pre-trained text embedding file: token 2 with 1-dimensional vector [3.0]', embedding),
]


def filled(block):
    block.add(gluon.nn.Dense(2))
    return block


@pytest.mark.parametrize('start, program', CASES, ids=[start[:30] for start, _ in CASES])
def test_warnings_begin_with_the_words_of_1x(start, program, tmp_path):
    needs_folder = program.__code__.co_argcount == 1
    with pytest.warns(Warning, match=re.escape(start)) as seen:
        program(*[tmp_path] * needs_folder)
    assert any(str(warning.message).startswith(start) for warning in seen)


def test_rows_of_dense_parameters_are_not_pulled():
    module = bound(context=[mx.cpu(0), mx.cpu(1)])
    module.init_optimizer(kvstore='local')
    before = module.get_params()[0]['fc_weight'].asnumpy()
    with pytest.warns(UserWarning, match="fc_weight.stype is not 'row_sparse'. No need to perform row_sparse_pull."):
        module.prepare(BATCH, fixed_rows)
    np.testing.assert_array_equal(module.get_params()[0]['fc_weight'].asnumpy(), before)
