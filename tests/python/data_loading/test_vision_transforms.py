"""mx.gluon.data.vision.transforms of images."""
import random

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon.data.vision import transforms


def images(shape=(9, 13, 3)):
    return nd.array(np.random.RandomState(0).randint(0, 256, shape), dtype="uint8")


@pytest.mark.parametrize("compiled", [False, True])
def test_transforms(compiled):
    image = images()
    for transform, shape in ((transforms.Resize((4, 6)), (6, 4, 3)), (transforms.Resize(18, keep_ratio=True), (18, 26, 3)),
                             (transforms.CropResize(1, 2, 5, 3), (3, 5, 3)), (transforms.CropResize(1, 2, 5, 3, (2, 4)), (4, 2, 3)),
                             (transforms.CenterCrop((4, 6)), (6, 4, 3)), (transforms.RandomResizedCrop(4), (4, 4, 3)),
                             (transforms.RandomCrop((4, 5)), (5, 4, 3)), (transforms.RandomCrop(9, pad=3), (9, 9, 3)),
                             (transforms.RandomFlipLeftRight(), (9, 13, 3)), (transforms.RandomFlipTopBottom(), (9, 13, 3)),
                             (transforms.RandomBrightness(0.3), (9, 13, 3)), (transforms.RandomContrast(0.3), (9, 13, 3)),
                             (transforms.RandomSaturation(0.3), (9, 13, 3)), (transforms.RandomHue(0.3), (9, 13, 3)),
                             (transforms.RandomColorJitter(0.1, 0.1, 0.1, 0.1), (9, 13, 3)), (transforms.RandomLighting(0.1), (9, 13, 3)),
                             (transforms.RandomGray(0.5), (9, 13, 3)), (transforms.ToTensor(), (3, 9, 13))):
        if compiled:
            transform.hybridize()
        assert transform(image).shape == shape, transform
    gray = transforms.RandomGray(1.0)(image).asnumpy()
    np.testing.assert_allclose(gray, np.repeat(image.asnumpy() @ np.array([[0.21], [0.72], [0.07]]), 3, axis=2), rtol=1e-5)
    chain = transforms.HybridCompose([transforms.Resize(6), transforms.HybridRandomApply(transforms.RandomFlipLeftRight(), 0.5),
                                      transforms.ToTensor(), transforms.Normalize(0.5, (0.1, 0.2, 0.3))])
    assert chain(image).shape == (3, 6, 6)
    with pytest.raises(ValueError):
        transforms.HybridCompose([transforms.Rotate(3)])
    with pytest.raises(AssertionError):
        transforms.RandomCrop(9, pad=(1, 2))


@pytest.mark.parametrize("numpy_arrays", [False, True])
@pytest.mark.parametrize("shape", [(9, 13, 3), (2, 9, 13, 3)])
def test_choices_in_graphs(shape, numpy_arrays):
    with mx.util.np_array(numpy_arrays), mx.util.np_shape(numpy_arrays):
        image = mx.np.array(images(shape).asnumpy()) if numpy_arrays else images(shape)
        for probability in (0, 1):
            apply = transforms.HybridRandomApply(transforms.CropResize(0, 0, 1, 1, (13, 9)), probability)
            want = np.broadcast_to(image.asnumpy()[..., :1, :1, :], shape) if probability else image.asnumpy()
            gray = transforms.RandomGray(probability)
            weights = np.array([[0.21], [0.72], [0.07]]) if probability else np.eye(3)
            for compiled in (False, True):
                apply.hybridize(compiled)
                gray.hybridize(compiled)
                assert type(apply(image)) is type(image) and apply(image).dtype == image.dtype
                np.testing.assert_allclose(apply(image).asnumpy(), want, rtol=1e-6)
                np.testing.assert_allclose(gray(image).asnumpy(), np.broadcast_to(image.asnumpy() @ weights, shape), rtol=1e-5)


@pytest.mark.parametrize("shape", [(9, 13, 3), (2, 9, 13, 3)])
def test_crops_in_graphs(shape):
    image = images(shape)
    for size in (4, (13, 5), (20, 20), (4, 20), (20, 4)):
        chain = transforms.HybridCompose([transforms.CenterCrop(size), transforms.ToTensor()])
        want = transforms.ToTensor()(transforms.CenterCrop(size)(image))
        np.testing.assert_array_equal(chain(image).asnumpy(), want.asnumpy(), err_msg=str(size))
    chain = gluon.nn.HybridSequential()
    chain.add(transforms.RandomResizedCrop((5, 4), scale=(0.3, 0.5)))
    chain.hybridize()
    draws = []
    for _ in range(2):
        mx.random.seed(3)
        draws.append([chain(image).asnumpy() for _ in range(5)])
    np.testing.assert_array_equal(*draws)
    assert draws[0][0].shape == shape[:-3] + (4, 5, 3) and (draws[0][0] != draws[0][1]).any()


def test_crops_between_others_draw_from_the_numbers_of_python():
    chain = transforms.Compose([transforms.Resize(12), transforms.RandomResizedCrop(4), transforms.ToTensor()])
    draws = []
    for _ in range(2):
        random.seed(7)
        draws.append([chain(images()).asnumpy() for _ in range(5)])
    np.testing.assert_array_equal(*draws)


@pytest.mark.skipif(not hasattr(nd, "BilinearSampler"), reason="no BilinearSampler yet")
def test_rotation_transforms():
    image = nd.random.uniform(shape=(3, 6, 7))
    assert transforms.Rotate(30)(image).shape == transforms.RandomRotation((10, 20))(image).shape == (3, 6, 7)
    with pytest.raises(TypeError):
        transforms.Rotate(30)(images())
    for bad in (lambda: transforms.RandomRotation((20, 10)), lambda: transforms.RandomRotation((0, 1), rotate_with_proba=2)):
        with pytest.raises(ValueError):
            bad()


def test_transforms_in_a_loader():
    data = gluon.data.ArrayDataset(images(shape=(6, 9, 13, 3)), nd.arange(6))
    chain = transforms.Compose([transforms.Resize(8), transforms.RandomFlipLeftRight(), transforms.ToTensor()])
    batches = list(gluon.data.DataLoader(data.transform_first(chain), batch_size=3))
    assert [x.shape for x, _ in batches] == [(3, 3, 8, 8)] * 2


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float16"])
def test_crops_that_resize_nothing_take_every_dtype(dtype):
    for shape in ((9, 13, 3), (2, 9, 13, 3)):
        image = nd.array(np.arange(np.prod(shape)).reshape(shape) % 100, dtype=dtype)
        for transform in (transforms.CenterCrop((5, 4)), transforms.RandomCrop((13, 9)),
                          transforms.RandomResizedCrop((13, 9), scale=(1, 1), ratio=(13 / 9, 13 / 9))):
            want = transform(image)
            transform.hybridize()
            got = transform(image)
            assert got.dtype == want.dtype == image.dtype
            np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())
        with pytest.raises(TypeError, match=f"data is {dtype}; interp=1 accepts uint8, float32, float64"):
            nd.image.random_crop(image, width=20, height=20).wait_to_read()
