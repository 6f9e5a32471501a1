"""Model zoo: Parameter names and shapes as recorded from 1.9.1 by data/make_gluon_reference.py, and
forward passes."""
import json
import os
import sys
import zipfile

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet.gluon import model_zoo
from mxnet.gluon.model_zoo import model_store, vision

pytestmark = pytest.mark.on_gpu

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data')
sys.path.insert(0, DATA)
import make_gluon_reference as reference  # noqa: E402

with open(os.path.join(DATA, 'gluon_model_zoo.json'), encoding='utf-8') as _f:
    RECORDED = json.load(_f)


@pytest.mark.parametrize('name', reference.MODELS)
def test_names_and_shapes(name):
    assert reference.describe(mx, name) == RECORDED[name]


def test_every_listed_model_is_recorded():
    assert len(vision._models) == len(RECORDED) == len(reference.MODELS)
    assert set(model_store._model_sha1) == set(vision._models)


@pytest.mark.parametrize('name, size', [('squeezenet1.1', 224), ('mobilenet0.25', 64), ('mobilenetv2_0.25', 64), ('resnet18_v1', 64),
                                        ('resnet50_v2', 64), ('densenet121', 224)])
def test_forward_compiled_equals_eager(name, size):
    net = vision.get_model(name, classes=7)
    net.initialize(mx.init.Xavier())
    x = nd.array(np.random.RandomState(0).uniform(-1, 1, (1, 3, size, size)))
    eager = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    compiled = net(x).asnumpy()
    assert eager.shape == (1, 7) and np.isfinite(eager).all()
    np.testing.assert_allclose(compiled, eager, rtol=1e-3, atol=1e-4)


def test_thumbnail_resnet_trains():
    net = vision.get_resnet(1, 18, thumbnail=True, classes=3)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x = nd.array(np.random.RandomState(0).uniform(-1, 1, (2, 3, 16, 16)))
    with autograd.record():
        y = net(x)
    y.backward()
    grads = [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != 'null']
    assert y.shape == (2, 3) and all(np.isfinite(g).all() for g in grads) and any(g.any() for g in grads)


def test_get_model():
    assert type(vision.get_model('ResNet18_v1')).__name__ == 'ResNetV1'
    with pytest.raises(ValueError, match='resnet50_v1'):
        vision.get_model('resnet17_v1')
    with pytest.raises(AssertionError, match='version'):
        vision.get_resnet(3, 18)
    with pytest.raises(AssertionError, match='num_layers'):
        vision.get_resnet(1, 19)
    with pytest.raises(KeyError):
        vision.get_vgg(12)
    assert model_zoo.vision is vision


def test_pretrained_parameters_are_fetched_checked_and_kept(tmp_path, monkeypatch):
    """The whole way of a published file, from a repository in a folder."""
    with mx.name.NameManager():
        source = vision.mobilenet0_25(classes=4)
        source.initialize(mx.init.Xavier())
        x = nd.array(np.random.RandomState(0).uniform(-1, 1, (1, 3, 32, 32)))
        expected = source(x).asnumpy()
    packed, root = tmp_path / 'repo' / 'gluon' / 'models', tmp_path / 'kept'
    packed.mkdir(parents=True)
    params = tmp_path / 'm.params'
    source.save_parameters(str(params))
    import hashlib
    digest = hashlib.sha1(params.read_bytes()).hexdigest()
    monkeypatch.setitem(model_store._model_sha1, 'mobilenet0.25', digest)
    monkeypatch.setattr(model_store, '_get_repo_url', lambda: (tmp_path / 'repo').as_uri() + '/')
    file_name = f'mobilenet0.25-{digest[:8]}'
    with zipfile.ZipFile(packed / (file_name + '.zip'), 'w') as z:
        z.write(params, file_name + '.params')
    net = vision.mobilenet0_25(pretrained=True, root=str(root), classes=4)
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5)
    assert os.listdir(root) == [file_name + '.params'] and model_store.short_hash('mobilenet0.25') == digest[:8]
    (packed / (file_name + '.zip')).unlink()
    vision.mobilenet0_25(pretrained=True, root=str(root), classes=4)    # from the folder now
    model_store.purge(str(root))
    assert os.listdir(root) == []
    with zipfile.ZipFile(packed / (file_name + '.zip'), 'w') as z:
        z.writestr(file_name + '.params', b'something else')
    with pytest.raises(ValueError, match='SHA-1'):
        model_store.get_model_file('mobilenet0.25', root=str(root))
    assert os.listdir(root) == []
    with pytest.raises(ValueError, match='published'):
        model_store.short_hash('other')
