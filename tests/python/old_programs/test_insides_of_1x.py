"""What programs of 1.x took from behind the public names: helpers of modules, and methods of
layers, optimizers and datasets that their subclasses call or override."""
import importlib
import os

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
from mxnet.gluon.model_zoo import vision


@pytest.mark.parametrize('module, names', [
    ('io', '_init_data _has_instance _getdata_by_idx'),
    ('module.base_module', '_as_list _parse_data_desc _check_input_names'),
    ('module.executor_group', '_load_data _load_label _load_general _merge_multi_context'),
    ('executor', '_split_input_slice'),
    ('model', '_load_data _load_label _check_arguments'),
    ('gluon.data.dataset', '_DownloadedDataset'),
    ('gluon.data.dataloader', 'DataLoaderV1'),
    ('gluon.rnn.rnn_cell', '_as_list numeric_types'),
    ('gluon.trainer', '_create_kvstore'),
    ('optimizer.optimizer', 'NDArray zeros clip sqrt sgd_update adam_update'),
    ('gluon.model_zoo.vision.densenet', '_make_dense_block _make_transition'),
    ('gluon.model_zoo.vision.inception', '_make_basic_conv _make_branch make_aux'),
    ('gluon.model_zoo.vision.mobilenet', '_add_conv _add_conv_dw'),
    ('gluon.model_zoo.vision.squeezenet', '_make_fire'),
])
def test_names_that_programs_import(module, names):
    module = importlib.import_module(f'mxnet.{module}')
    assert all(callable(getattr(module, name)) or isinstance(getattr(module, name), tuple) for name in names.split())
    assert not [name for name in getattr(module, '__all__', ()) if name in names.split() and name.startswith('_')]


def test_names_of_sparse_arrays_and_base():
    from mxnet.ndarray import sparse
    assert sparse.NDArrayHandle is mx.base.NDArrayHandle
    assert sparse.NotSupportedForSparseNDArray is mx.base.NotSupportedForSparseNDArray
    assert (sparse.py_slice, sparse.py_sum, sparse.mx_real_t) == (slice, sum, np.float32)
    assert (sparse.check_call, sparse._LIB, sparse.op) == (mx.base.check_call, mx.base._LIB, mx.nd.op)
    assert isinstance(1, sparse.integer_types) and isinstance(1.0, sparse.numeric_types)
    assert [getattr(sparse, f'_STORAGE_TYPE_{name}') for name in ('UNDEFINED', 'DEFAULT', 'ROW_SPARSE', 'CSR')] == [-1, 0, 1, 2]
    assert mx.test_utils._STORAGE_TYPE_STR_TO_ID is sparse._STORAGE_TYPE_STR_TO_ID
    assert callable(mx.nd._ndarray_cls) and mx.base.inspect and mx.base.platform


def test_initializers_fill_special_weights():
    kernel, affine = nd.zeros((2, 1, 4, 4)), nd.zeros(6)
    mx.init.Initializer()._init_bilinear('upsampling_weight', kernel)
    mx.init.Initializer()._init_loc_bias('stn_loc_bias', affine)
    assert kernel[1, 0, 0].asnumpy().tolist() == [0.0625, 0.1875, 0.1875, 0.0625]
    assert affine.asnumpy().tolist() == [1, 0, 0, 0, 1, 0]


def test_networks_of_the_zoo_are_made_of_layers_that_subclasses_change():
    calls = []

    class Wide(vision.ResNetV1):
        def _make_layer(self, block, layers, channels, stride, stage_index, in_channels=0):
            calls.append((layers, channels, stride, stage_index, in_channels))
            return super()._make_layer(block, layers, channels, stride, stage_index, in_channels=in_channels)

    class Deep(vision.VGG):
        def _make_features(self, layers, filters, batch_norm):
            features = super()._make_features(layers, filters, batch_norm)
            features.add(nn.GlobalAvgPool2D())
            return features

    Wide(vision.BasicBlockV1, [1, 2], [4, 8, 16])
    assert calls == [(1, 8, 1, 1, 4), (2, 16, 2, 2, 8)]
    net = Deep([1], [4], classes=3)
    assert isinstance(net.features[3], nn.GlobalAvgPool2D) and isinstance(net.features[4], nn.Dense)


def test_a_forward_of_ones_own():
    class Scaled(nn.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.scale = self.params.get('scale', shape=(1, 0), allow_deferred_init=True, init='ones')

        def infer_shape(self, x):
            self.scale.shape = (1, x.shape[1])

        def forward(self, x, *args):
            if self._active:
                return self._call_cached_op(x, *args)
            try:
                params = {name: p.data(x.context) for name, p in self._reg_params.items()}
            except gluon.parameter.DeferredInitializationError:
                self._deferred_infer_shape(x, *args)
                for p in self.params.values():
                    p._finish_deferred_init()
                params = {name: p.data(x.context) for name, p in self._reg_params.items()}
            return self.hybrid_forward(nd, x, *args, **params)

        def hybrid_forward(self, F, x, scale):
            return F.broadcast_mul(x, scale + 1)

    net = Scaled()
    net.initialize()
    assert net(nd.ones((2, 3))).asnumpy().tolist() == [[2, 2, 2]] * 2
    net.hybridize()
    assert net(nd.ones((2, 3))).asnumpy().tolist() == [[2, 2, 2]] * 2


@pytest.mark.parametrize('lists', [False, True])
def test_subclasses_of_sgd(lists):
    class Clipped(mx.optimizer.SGD):
        def _update_impl(self, indices, weights, grads, states, multi_precision=False):
            for grad in grads if isinstance(grads, (list, tuple)) else [grads]:
                grad[:] = nd.clip(grad, -1, 1)
            super()._update_impl(indices, weights, grads, states, multi_precision)

    weights, grads = [nd.zeros(2), nd.zeros(2)], [nd.array([5, 0.5]), nd.array([-3, 1])]
    update = mx.optimizer.get_updater(Clipped(learning_rate=1))
    if lists:
        update([0, 1], grads, weights)
    else:
        update(0, grads[0], weights[0])
        update(1, grads[1], weights[1])
    assert weights[0].asnumpy().tolist() == [-1, -0.5] and weights[1].asnumpy().tolist() == [1, -1]


def test_trainers_that_scale_gradients_otherwise():
    scales = []

    class Fixed(gluon.Trainer):
        def _check_and_rescale_grad(self, scale):
            scales.append(scale)
            super()._check_and_rescale_grad(1.0)

    weight = gluon.Parameter('weight', shape=(2,), init='zeros')
    weight.initialize()
    trainer = Fixed([weight], 'sgd', {'learning_rate': 1})
    with autograd.record():
        loss = weight.data().sum()
    loss.backward()
    trainer.step(4)
    assert scales == [0.25] and weight.data().asnumpy().tolist() == [-1, -1]
    weight._set_trainer(None)


def test_folders_that_are_listed_otherwise(tmp_path):
    class Flat(gluon.data.vision.ImageFolderDataset):
        def _list_images(self, root):
            self.synsets = ['all']
            self.items = [(os.path.join(root, name), 0) for name in sorted(os.listdir(root))]

    (tmp_path / 'a.pnm').write_bytes(b'P6 2 1 255\n' + bytes(range(6)))
    data = Flat(str(tmp_path))
    assert len(data) == 1 and data[0][0].shape == (1, 2, 3) and data.synsets == ['all']


def test_parts_of_batches():
    from mxnet.module.executor_group import _load_data, _merge_multi_context
    batch = mx.io.DataBatch([nd.arange(4)])
    parts = [nd.zeros(1), nd.zeros(3)]
    _load_data(batch, [[(slice(0, 1), parts[0]), (slice(1, 4), parts[1])]], [0])
    np.testing.assert_array_equal(_merge_multi_context([parts], [0])[0].asnumpy(), [0, 1, 2, 3])


@pytest.mark.parametrize('handle', ['pad', 'discard', 'roll_over'])
def test_rows_of_batches_are_read_by_one_method(handle):
    """With 'pad' and 'roll_over' two parts are read and joined, as a trace of 1.9.1 says."""
    seen = []

    class Rows(mx.io.NDArrayIter):
        def _getdata(self, data_source, start=None, end=None):
            seen.append((data_source is self.data, start, end))
            return [array * 2 for array in super()._getdata(data_source, start, end)]

        def _concat(self, first_data, second_data):
            seen.append(len(first_data))
            return super()._concat(first_data, second_data)

    batches = Rows(np.arange(5.0), np.arange(5) * 10, 2, last_batch_handle=handle)
    data = [batch.data[0].asnumpy().tolist() for batch in batches]
    assert data == [[0, 2], [4, 6]] + ([[8, 0]] if handle == 'pad' else [])
    ends = [(True, 4, 5), (False, 4, 5)]
    if handle == 'pad':
        ends = [(True, 4, None), (True, None, 1), 1, (False, 4, None), (False, None, 1), 1]
    assert seen == [(True, 0, 2), (False, 0, 2), (True, 2, 4), (False, 2, 4)] + ends
    if handle == 'roll_over':
        batches.reset()
        assert batches.next().label[0].asnumpy().tolist() == [80, 0] and seen[-4:] == [(True, None, 1), 1, (False, None, 1), 1]
    batches.hard_reset()
    batches.iter_next()
    assert batches._batchify(batches.label)[0].asnumpy().tolist() == [0, 20]
    with pytest.raises(AssertionError):
        batches._getdata(batches.data)


@pytest.mark.parametrize('base, options', [
    (mx.optimizer.NAG, {}), (mx.optimizer.NAG, {'momentum': 0.9}), (mx.optimizer.Signum, {}), (mx.optimizer.LAMB, {})])
@pytest.mark.parametrize('dtype', ['float32', 'float16'])
def test_subclasses_of_other_optimizers(base, options, dtype):
    calls = []

    class Noted(base):
        def _update_impl(self, index, weight, grad, state, **kwargs):
            calls.append(kwargs)
            super()._update_impl(index, weight, grad, state, **kwargs)

    weights = [nd.ones(2, dtype=dtype), nd.ones(2, dtype=dtype)]
    for weight, kind in zip(weights, (Noted, base)):
        optimizer = kind(learning_rate=0.1, multi_precision=True, **options)
        state = optimizer.create_state_multi_precision(0, weight)
        for _ in range(2):
            optimizer.update_multi_precision(0, weight, nd.ones(2, dtype=dtype), state)
    assert calls == [{} if base is mx.optimizer.Signum else {'multi_precision': dtype == 'float16'}] * 2
    assert weights[0].asnumpy().tolist() == weights[1].asnumpy().tolist() != [1, 1]


def test_graphs_are_built_without_a_run():
    net = nn.HybridSequential()
    net.add(nn.Dense(2), nn.BatchNorm())
    net.initialize()
    net._build_cache(nd.ones((4, 3)))
    assert net[0].weight.shape == (2, 3) and net._cached_graph[1].list_arguments()[0] == 'data'
    net.hybridize()
    with autograd.record():
        net._build_cache(nd.ones((4, 3)))
    assert net._cached_op is not None and net[1].running_mean.data().asnumpy().tolist() == [0, 0]


def test_cells_derived_from_the_convolutional_base():
    from mxnet.gluon.contrib.rnn import conv_rnn_cell

    class Cell(conv_rnn_cell._BaseConvRNNCell):
        def __init__(self, input_shape, hidden_channels):
            super().__init__(input_shape=input_shape, hidden_channels=hidden_channels, activation='tanh', i2h_kernel=3, i2h_pad=1,
                             i2h_dilate=1, h2h_kernel=3, h2h_dilate=1, i2h_weight_initializer=None, h2h_weight_initializer=None,
                             i2h_bias_initializer='zeros', h2h_bias_initializer='zeros', dims=2, conv_layout='NCHW')

        @property
        def _gate_names(self):
            return ['_a', '_b']

        def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
            prefix = 't%d_' % self._counter
            i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, prefix)
            a, b = F.SliceChannel(i2h + h2h, num_outputs=2)
            output = self._get_activation(F, a, self._activation, name=prefix + 'out') * b
            return output, [output]

    cell = Cell((2, 5, 5), 3)
    cell.initialize(mx.init.Constant(0.01))
    outputs, _ = cell.unroll(2, nd.ones((1, 2, 2, 5, 5)), merge_outputs=True)
    assert outputs.shape == (1, 2, 3, 5, 5) and cell.i2h_weight.shape == (6, 2, 3, 3) and cell._num_gates == 2
    want = np.tanh(0.18) * 0.18      # at the middle, in the first step
    np.testing.assert_allclose(outputs[0, 0, 0, 2, 2].asscalar(), want, rtol=1e-5)
    assert conv_rnn_cell._get_conv_out_size((5, 5), (3, 3), (1, 0), (1, 2)) == (5, 1)


def test_gates_are_lists():
    """Programs add to them; those of one gate are tuples in 1.9.1."""
    lists = {'lstm': ['_i', '_f', '_c', '_o'], 'gru': ['_r', '_z', '_o'], 'rnn': ('',)}
    for module, ending, arguments in ((mx.rnn, 'Cell', (3,)), (mx.gluon.contrib.rnn, 'Cell', ((1, 4), 2, 3, 3))):
        for kind, gates in lists.items():
            name = ('' if module is mx.rnn else 'Conv1D') + kind.upper() + ending
            assert getattr(module, name)(*arguments)._gate_names == gates
    assert [mx.rnn.FusedRNNCell(3, mode=mode)._gate_names for mode in ('rnn_relu', 'lstm')] == [[''], lists['lstm']]


def test_bucketing_modules_in_mixed_precision():
    def graph(length):
        hidden = mx.sym.FullyConnected(mx.sym.mean(mx.sym.Variable('data'), axis=1, keepdims=True), num_hidden=2, name='fc')
        return mx.sym.SoftmaxOutput(hidden, name='softmax'), ('data',), ('softmax_label',)

    from mxnet.contrib.amp import amp
    module = mx.mod.BucketingModule(graph, default_bucket_key=4)
    with pytest.raises(AssertionError, match='convert_bucketing_module'):
        amp.convert_bucketing_module(module)
    module.bind([('data', (2, 4))], [('softmax_label', (2,))])
    module.init_params(mx.init.Uniform(1))
    for options, dtype in (({}, np.float32), ({'cast_optional_params': True}, np.float16)):
        half = amp.convert_bucketing_module(module, **options)
        assert half.params_initialized and not half.binded
        half.bind([('data', (2, 4))], [('softmax_label', (2,))], for_training=False)
        assert half.get_params()[0]['fc_weight'].dtype == dtype
        for length in (4, 3):
            batch = mx.io.DataBatch([nd.random.uniform(shape=(2, length))], None, bucket_key=length, provide_data=[('data', (2, length))],
                                    provide_label=[('softmax_label', (2,))])
            outputs = []
            for one in (module, half):
                one.forward(batch, is_train=False)
                outputs.append(one.get_outputs()[0].asnumpy())
            np.testing.assert_allclose(*outputs, atol=2e-3)
            assert (outputs[0] != outputs[1]).any()
    assert any('amp_cast' in name for name in half._curr_module.symbol.get_internals().list_outputs())


def test_what_a_hybridized_block_keeps():
    """1.9.1 gave what this test expects."""
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(nn.Dense(3, in_units=4))
    net.initialize()
    assert (net._in_format, net._out_format, net._cached_op_args, net._flags) == (None, None, [], [])
    net.hybridize(static_alloc=True, inline_limit=3)
    net(nd.ones((2, 4)))
    assert (net._in_format, net._out_format) == ([0], 0)
    assert net._flags == [('static_alloc', True), ('static_shape', False), ('inline_limit', 3)]
    assert [(data, source if data else source.name) for data, source in net._cached_op_args] == [
        (True, 0), (False, 'net_dense0_weight'), (False, 'net_dense0_bias')]
    assert (net._callback, net._monitor_all) == (None, False)

    class Two(gluon.HybridBlock):
        def hybrid_forward(self, F, x, states):
            return [x + states[0], (states[1], x)]
    net = Two()
    net.hybridize()
    net(nd.ones(2), [nd.ones(2), nd.ones(2)])
    assert (net._in_format, net._out_format) == ([0, [0, 0]], [0, [0, 0]])
    assert net._cached_op_args == [(True, 0), (True, 1), (True, 2)]


def test_arrays_in_segments_that_programs_hand_on():
    from mxnet.ndarray.ndarray import _new_from_shared_mem
    segment = nd.array([[1, 2]], dtype='int32')._to_shared_mem()
    assert segment[2:] == ((1, 2), np.int32)
    again = nd.NDArray(_new_from_shared_mem(*segment))
    assert again.context == mx.Context('cpu_shared', 0) and again.asnumpy().tolist() == [[1, 2]] and again.dtype == np.int32


def test_subclasses_of_large_batch_optimizers():
    class Slower(mx.optimizer.LBSGD):
        def _get_lbmult(self, nup):
            return super()._get_lbmult(nup) / 2
    weight = nd.array([1, 2])
    optimizer = Slower(learning_rate=.1, batch_scale=2, warmup_epochs=2, updates_per_epoch=2)
    optimizer.update(0, weight, nd.array([.5, -1]), None)
    assert weight.asnumpy().tolist() == [1, 2] and optimizer.cumgrads[0]['num_cums'] == 1
    optimizer.update(0, weight, nd.array([1, -2]), None)
    np.testing.assert_allclose(weight.asnumpy(), [1 - .1 * .75 * .75, 2 + .1 * .75 * 1.5], rtol=1e-6)
    assert optimizer._get_cum_gradient(0) == {'cum_grad': 0, 'num_cums': 2} and optimizer._get_cum_gradient(7) == {}
    assert [optimizer._get_lbmult(n) for n in (0, 2, 4)] == [.5, .75, 1]
    np.testing.assert_allclose(optimizer._get_lars(nd.array([1, 2]), nd.array([.75, -1.5]), 0.), 4 / 3, rtol=1e-6)
    assert optimizer._l2norm(nd.array([1, 2])) == 5
    trust = mx.optimizer.LARS(eta=.1, eps=.1, rescale_grad=.5, param_idx2name={0: 'a_weight', 1: 'b_bias'})
    weight = nd.array([.94643, 2.05237])
    assert trust._get_lars(1, weight, weight * .5, .1, .01) == .1
    np.testing.assert_allclose(trust._get_lars(0, weight, weight * .5, .1, .01), .03287, rtol=1e-3)
    np.testing.assert_allclose([trust._l2norm(weight), trust._l2norm(weight, rescale=True)], [2.26008, 1.13004], rtol=1e-5)


def test_row_wise_adagrad_refuses_as_1x_does():
    optimizer = mx.optimizer.create('groupadagrad', learning_rate=.1, wd=.1)
    weight = nd.ones((2, 3))
    for kind in (ValueError, AssertionError):
        with pytest.raises(kind):
            optimizer.update(0, weight, weight, optimizer.create_state(0, weight))
        with pytest.raises(kind):
            optimizer.create_state(0, nd.ones(3))
        with pytest.raises(kind):
            mx.test_utils.retry(0)
        with pytest.raises(kind):
            mx.test_utils.collapse_sum_like(np.ones((2, 3)), (5, 3))


def test_arrays_of_another_storage_type_are_copies():
    x = nd.ones((2, 3))
    x.attach_grad()
    with autograd.record():
        (x.tostype('default') * 3).backward()
    assert (x.grad.asnumpy() == 3).all()
    x.tostype('default')[:] = 5
    assert (x.asnumpy() == 1).all()
