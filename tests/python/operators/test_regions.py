"""Operators on regions and deformable convolution: values that are not numbers, regions far away,
the layers of gluon.contrib.cnn."""
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon.contrib import cnn

NAN, INF = float('nan'), float('inf')
IMAGE = np.arange(2 * 4 * 6 * 7, dtype='float32').reshape(2, 4, 6, 7)
POOLS = {
    'ROIPooling': lambda x, rois: nd.ROIPooling(x, rois, pooled_size=(2, 2), spatial_scale=1),
    'ROIAlign': lambda x, rois: nd.contrib.ROIAlign(x, rois, pooled_size=(2, 2), spatial_scale=1),
    'aligned': lambda x, rois: nd.contrib.ROIAlign(x, rois, pooled_size=(2, 2), spatial_scale=1, aligned=True, position_sensitive=True),
    'RROIAlign': lambda x, rois: nd.contrib.RROIAlign(x, nd.concat(rois, rois[:, 1:2]), pooled_size=(2, 2), spatial_scale=1),
    'PSROIPooling': lambda x, rois: nd.contrib.PSROIPooling(x, rois, output_dim=1, pooled_size=2, spatial_scale=1),
    'DeformablePSROIPooling': lambda x, rois: nd.contrib.DeformablePSROIPooling(
        x, rois, nd.ones((len(rois), 2, 2, 2)), output_dim=1, pooled_size=2, group_size=2, spatial_scale=1, trans_std=1),
}


def gradient(function, x, *others):
    x = nd.array(x)
    x.attach_grad()
    with autograd.record():
        y = function(x, *others)
    y.backward()
    return y.asnumpy(), x.grad.asnumpy()


@pytest.mark.parametrize('name', POOLS)
@pytest.mark.parametrize('number', [-1, -7, 2, 1e9, NAN, INF, -INF])
def test_regions_of_no_image_are_zero(name, number):
    y, dx = gradient(POOLS[name], IMAGE, nd.array([[number, 0, 0, 3, 3]]))
    assert not y.any() and not dx.any()


@pytest.mark.parametrize('name', POOLS)
@pytest.mark.parametrize('roi', [[NAN, 0, 3, 3], [0, 0, INF, 3], [0, -INF, 3, 3], [0, 0, 3, NAN]])
def test_coordinates_that_are_not_finite(name, roi):
    y, dx = gradient(POOLS[name], IMAGE, nd.array([[0] + roi, [1, 0, 0, 3, 3]]))
    assert np.isnan(y[0]).all() if 'lign' in name else not y[0].any()
    assert np.isfinite(y[1]).all() and np.isfinite(dx).all() and not dx[0].any() and dx[1].any()


@pytest.mark.parametrize('name', POOLS)
def test_regions_far_away_and_huge(name):
    rois = nd.array([[0, -1e30, -1e30, 1e30, 1e30], [1, 1e20, 1e20, 2e20, 2e20], [0, 3e9, -3e9, -3e9, 3e9], [1, -1e7, -1e7, 1e7, 1e7],
                     [0, -3e38, -3e38, 3e38, 3e38], [1, 0, -3e38, 5, 3e38]])
    y, dx = gradient(POOLS[name], IMAGE, rois)
    assert np.isfinite(y[:4]).all() and np.isfinite(dx).all()


def test_pixels_that_are_not_numbers():
    x = nd.array(np.full((1, 1, 4, 4), -INF, 'float32'))
    x[0, 0, 3, 3] = NAN
    y = nd.ROIPooling(x, nd.array([[0, 0, 0, 3, 3]]), pooled_size=(2, 2), spatial_scale=1).asnumpy()[0, 0]
    assert np.isnan(y[1, 1]) and (y.ravel()[:3] == -INF).all()


def test_first_of_equal_pixels_gets_the_gradient():
    _, dx = gradient(POOLS['ROIPooling'], np.ones((1, 1, 4, 4)), nd.array([[0, 0, 0, 3, 3]]))
    assert dx[0, 0].tolist() == [[1, 0, 1, 0], [0] * 4, [1, 0, 1, 0], [0] * 4]


def test_offsets_that_are_not_numbers_sample_nothing():
    x, weight, bias = nd.array(IMAGE), nd.ones((2, 4, 3, 3)), nd.array([1, 2])
    for value in (NAN, INF, -INF, 1e30):
        offset, mask = nd.full((2, 18, 4, 5), value), nd.ones((2, 9, 4, 5))
        for y in (nd.contrib.DeformableConvolution(x, offset, weight, bias, kernel=(3, 3), num_filter=2),
                  nd.contrib.ModulatedDeformableConvolution(x, offset, mask, weight, bias, kernel=(3, 3), num_filter=2)):
            assert (y.asnumpy() == np.array([1, 2])[None, :, None, None]).all()


@pytest.mark.parametrize('cls, modulated', [(cnn.DeformableConvolution, False), (cnn.ModulatedDeformableConvolution, True)])
def test_layers(cls, modulated):
    layer = cls(6, (3, 3), strides=2, padding=(1, 1), groups=2, num_deformable_group=2, activation='relu')
    layer.initialize(mx.init.Normal(0.1))
    x = nd.array(np.random.RandomState(3).randn(2, 4, 7, 8))
    plain = nd.Convolution(x, nd.ones((6, 2, 3, 3)), nd.ones(6), kernel=(3, 3), stride=(2, 2), pad=(1, 1), num_filter=6, num_group=2)
    layer(x)
    shapes = {name[len(layer.prefix):]: p.shape for name, p in layer.collect_params().items()}
    each = 27 if modulated else 18
    assert shapes == {'offset_weight': (2 * each, 2, 3, 3), 'offset_bias': (2 * each,), 'deformable_conv_weight': (6, 2, 3, 3),
                      'deformable_conv_bias': (6,)}
    layer.deformable_conv_weight.set_data(nd.ones((6, 2, 3, 3)))
    layer.deformable_conv_bias.set_data(nd.ones(6))
    np.testing.assert_allclose(layer(x).asnumpy(), np.maximum(plain.asnumpy(), 0), rtol=1e-5, atol=1e-5)
    layer.offset_weight.set_data(nd.array(np.random.RandomState(4).randn(2 * each, 2, 3, 3) * 0.3))
    eager = layer(x).asnumpy()
    layer.hybridize()
    np.testing.assert_allclose(layer(x).asnumpy(), eager, rtol=1e-5, atol=1e-5)
    with autograd.record():
        loss = layer(x).sum()
    loss.backward()
    assert all(np.abs(p.grad().asnumpy()).sum() > 0 for p in layer.collect_params().values())
    nodes = json.loads(layer(mx.sym.var('data')).tojson())['nodes']
    assert [n['op'] for n in nodes if 'Deformable' in n['op']] == ['_contrib_' + cls.__name__]


def test_modulated_layer_splits_offsets_from_masks():
    layer = cnn.ModulatedDeformableConvolution(1, (1, 1), use_bias=False)
    layer.initialize(mx.init.One())
    x = nd.ones((1, 1, 2, 2))
    layer(x)
    layer.offset_bias.set_data(nd.array([0, 0, 3]))
    np.testing.assert_allclose(layer(x).asnumpy(), 2 / (1 + np.exp(-3)), rtol=1e-6)


def test_layers_refuse():
    for kwargs in ({'layout': 'NHWC'}, {'kernel_size': (3,)}, {'strides': (1, 1, 1)}, {'adj': (1, 1)}):
        with pytest.raises(AssertionError, match='accepted'):
            cnn.DeformableConvolution(4, **kwargs)
    assert repr(cnn.DeformableConvolution(4, 3, padding=1, dilation=2, groups=2, in_channels=4, use_bias=False)) == \
        'DeformableConvolution(2 -> 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(2, 2), groups=2, bias=False)'


def test_symbols_and_blocks():
    class Head(gluon.HybridBlock):
        def hybrid_forward(self, F, x, rois):
            aligned = F.contrib.ROIAlign(x, rois, pooled_size=(2, 2), spatial_scale=0.5, sample_ratio=2)
            return F.concat(aligned, F.ROIPooling(x, rois, pooled_size=(2, 2), spatial_scale=0.5), dim=1)

    head, rois = Head(), nd.array([[1, 0, 2, 9, 9.5], [0, 1, 1, 6, 7]])
    eager = head(nd.array(IMAGE), rois).asnumpy()
    head.hybridize()
    assert (head(nd.array(IMAGE), rois).asnumpy() == eager).all()
    symbol = head(mx.sym.var('data'), mx.sym.var('rois'))
    assert symbol.infer_shape(data=(2, 4, 6, 7), rois=(2, 5))[1] == [(2, 8, 2, 2)]
    assert (symbol.eval(data=nd.array(IMAGE), rois=rois)[0].asnumpy() == eager).all()
    columns = mx.sym.im2col(mx.sym.var('data'), kernel=(3, 3), pad=(1, 1))
    back = mx.sym.col2im(columns, output_size=(6, 7), kernel=(3, 3), pad=(1, 1))
    assert back.infer_shape(data=(2, 4, 6, 7))[1] == [(2, 4, 6, 7)]
    offsets = mx.sym.contrib.DeformableConvolution(mx.sym.var('data'), mx.sym.var('offset'), name='d', kernel=(3, 3), num_filter=8)
    assert dict(zip(offsets.list_arguments(), offsets.infer_shape(data=(2, 4, 6, 7))[0])) == {
        'data': (2, 4, 6, 7), 'offset': (2, 18, 4, 5), 'd_weight': (8, 4, 3, 3), 'd_bias': (8,)}


@pytest.mark.parametrize("width", [1, 7, 8, 9, 19])
def test_roi_pooling_of_many_bins(width):
    """Bins that overlap, bins without pixels, and pixels that are equally large."""
    rng = np.random.default_rng(4)
    data = rng.integers(-4, 5, (2, 3, 12, 15)).astype("float32")
    rois = np.array([[0, 0, 0, 14, 11], [1, 3, 2, 6, 9], [1, -9, -9, 2, 3], [0, 10, 4, 40, 30], [1, 20, 20, 30, 30]], "float32")
    wanted, back = np.zeros((5, 3, 4, width), "float32"), np.zeros_like(data)
    head = rng.integers(1, 9, wanted.shape).astype("float32")
    for i, (image, x1, y1, x2, y2) in enumerate(rois):
        def edges(first, last, bins, size):
            step = np.float32(max(last - first + 1, 1)) / np.float32(bins)
            return [(int(np.clip(np.floor(np.float32(k) * step) + first, 0, size)),
                     int(np.clip(np.ceil(np.float32(k + 1) * step) + first, 0, size))) for k in range(bins)]
        for j, (top, bottom) in enumerate(edges(y1, y2, 4, 12)):
            for k, (left, right) in enumerate(edges(x1, x2, width, 15)):
                if top >= bottom or left >= right:
                    continue
                for c in range(3):
                    bin_ = data[int(image), c, top:bottom, left:right]
                    y, x = np.unravel_index(np.argmax(bin_), bin_.shape)
                    wanted[i, c, j, k] = bin_[y, x]
                    back[int(image), c, top + y, left + x] += head[i, c, j, k]
    x = nd.array(data)
    x.attach_grad()
    with mx.autograd.record():
        y = nd.ROIPooling(x, nd.array(rois), pooled_size=(4, width), spatial_scale=1)
    y.backward(nd.array(head))
    assert np.array_equal(y.asnumpy(), wanted) and np.array_equal(x.grad.asnumpy(), back)
