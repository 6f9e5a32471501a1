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
