"""Augmenters of images with boxes: what MXNet 1.9.1 made of the same boxes
(image_iter_programs.py), and errors."""
import json
import os
import warnings

import image_iter_programs as programs
import numpy as np
import pytest

import mxnet as mx
from mxnet.image import detection

with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "image_iter_1.9.1.json")) as recorded:
    RECORDED = json.load(recorded)


def test_pictures_boxes_and_consumed_random_numbers():
    made = programs.detection_augmenters(mx, range(80))
    for case, (now, then) in enumerate(zip(made, RECORDED["detection"], strict=True)):
        assert now[:2] == then[:2] and now[3] == then[3], f"seed {case // 3}, augmenter {case % 3}"
        np.testing.assert_allclose(now[2], then[2], atol=2e-5)


def test_descriptions():
    assert json.loads(json.dumps(programs.described(mx))) == RECORDED["described"]


def test_the_module_has_a_short_name():
    assert mx.image.det is detection and mx.img.ImageDetIter is detection.ImageDetIter


@pytest.mark.parametrize("kind, arguments", [
    (detection.DetRandomCropAug, dict(area_range=(0.5, 0.1))), (detection.DetRandomCropAug, dict(area_range=(0, 0))),
    (detection.DetRandomCropAug, dict(aspect_ratio_range=(0, 1))), (detection.DetRandomCropAug, dict(aspect_ratio_range=(2, 1))),
    (detection.DetRandomPadAug, dict(area_range=(1, 1))), (detection.DetRandomPadAug, dict(aspect_ratio_range=(-1, 0)))])
def test_ranges_without_values_warn_and_change_nothing(kind, arguments):
    with pytest.warns(UserWarning, match="invalid " + next(iter(arguments))):
        augmenter = kind(**arguments)
    image, label = mx.nd.zeros((9, 8, 3)), np.array([[0, 0, 0, 1, 1]], "float32")
    assert not augmenter.enabled and augmenter(image, label)[0] is image


def test_a_number_is_a_range(caplog):
    caplog.set_level("INFO")
    crop = detection.DetRandomCropAug(aspect_ratio_range=2, area_range=0.5)
    assert crop.aspect_ratio_range == (2, 2) and crop.area_range == (0.5, 0.5)
    assert "Using fixed area range: 0.5 in DetRandomCropAug" in caplog.text


def test_wrong_arguments():
    for error, make in ((TypeError, lambda: detection.DetBorrowAug(1)),
                        (AssertionError, lambda: detection.DetRandomCropAug(area_range=None)),
                        (ValueError, lambda: detection.DetRandomSelectAug([mx.image.CastAug()])),
                        (AssertionError, lambda: detection.CreateMultiRandCropAugmenter([0.1, 0.2], [(1, 2)] * 3)),
                        (AssertionError, lambda: detection.CreateDetAugmenter((3, 8, 8), mean=[1, 2, 3])),
                        (AssertionError, lambda: detection.DetRandomPadAug(pad_val=None)),
                        (NotImplementedError, lambda: detection.DetAugmenter()(None, None))):
        with pytest.raises(error, match=r"^\[\w+\]"):
            make()


def test_no_objects_are_no_error():
    image, label = mx.nd.zeros((9, 8, 3)), np.zeros((0, 5), "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out, boxes = detection.DetRandomCropAug(max_attempts=3)(image, label)
        padded = np.array([[-1, -1, -1, -1, -1], [0, 0, 0, 1, 1]], "float32")
        detection.DetRandomCropAug(area_range=(0.9, 1))(image, padded)
    assert out is image and boxes.shape == (0, 5)
