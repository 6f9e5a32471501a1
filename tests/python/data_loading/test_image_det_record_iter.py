"""ImageDetRecordIter: what MXNet 1.9.1 made of the same records where nothing is drawn at random
(image_iter_programs.py), and properties of what is drawn."""
import json
import os

import image_iter_programs as programs
import numpy as np
import picture_files
import pytest

import mxnet as mx

with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "image_iter_1.9.1.json")) as recorded:
    RECORDED = json.load(recorded)["native"]
pytestmark = [pytest.mark.sanitized,
              pytest.mark.skipif(not mx.runtime.Features().is_enabled("OPENCV"), reason="a build without OpenCV")]
folder = picture_files.folder


def open_iter(folder, **more):
    usual = dict(path_imgrec=f"{folder}/box.rec", data_shape=(3, 20, 30), batch_size=7, verbose=False)
    return mx.io.ImageDetRecordIter(**{**usual, **more})


def test_batches_of_1_9_1(folder):
    made = programs.native(mx, folder)
    for name, batches in RECORDED.items():
        for now, then in zip(made[name], batches, strict=True):
            np.testing.assert_allclose(now[0], then[0], atol=0.02, err_msg=name)
            np.testing.assert_allclose(now[1], then[1], atol=2e-5, err_msg=name)
            assert now[2:] == then[2:], name


def objects(batch, row):
    """The objects of a row, and the height and the width of its picture."""
    label = batch.label[0].asnumpy()[row]
    return label[6:4 + int(label[3])].reshape(-1, 5), int(label[1]), int(label[2])


def pictures(folder):
    """A record with two squares in each picture, which fill a quarter of it."""
    path = f"{folder}/squares.rec"
    record = mx.recordio.MXRecordIO(path, "w")
    for number in range(6):
        pixels = np.full((64, 96, 3), 10 * number, "uint8")
        pixels[:32, :48], pixels[32:, 48:] = (250, 0, 0), (0, 0, 250)
        label = [2, 5, 0, 0, 0, 0.5, 0.5, 1, 0.5, 0.5, 1, 1]
        record.write(mx.recordio.pack(mx.recordio.IRHeader(0, label, number, 0), programs.png(pixels)))
    record.close()
    return path


COLOURS = {0: (250, 0, 0), 1: (0, 0, 250)}
AUGMENTED = [dict(rand_mirror_prob=0.5), dict(rand_pad_prob=0.7, max_pad_scale=3, fill_value=77),
             dict(rand_crop_prob=1, min_crop_scales=(0.3,)),
             dict(rand_crop_prob=0.8, num_crop_sampler=2, min_crop_scales=(0.4, 0.6), min_crop_aspect_ratios=(0.5,),
                  max_crop_aspect_ratios=(2,), min_crop_object_coverages=(0.2, 0.5), crop_emit_mode="overlap", emit_overlap_thresh=0.1,
                  rand_mirror_prob=0.5),
             dict(rand_crop_prob=0.5, rand_pad_prob=0.5, max_pad_scale=2, rand_mirror_prob=0.5, resize_mode="fit", min_crop_scales=(0.5,))]


@pytest.mark.parametrize("arguments", AUGMENTED)
def test_boxes_follow_the_pictures(folder, arguments):
    it = open_iter(folder, path_imgrec=pictures(folder), data_shape=(3, 64, 96), batch_size=6, inter_method=0, **arguments)
    seen = set()
    for _ in range(4):
        it.reset()
        batch = it.next()
        for row in range(6):
            boxes, height, width = objects(batch, row)
            assert len(boxes)
            for kind, *corners in boxes:
                left, top, right, bottom = np.array(corners) * (width, height, width, height)
                seen.add((round(left), round(top)))
                if right - left > 4 and bottom - top > 4:
                    inside = batch.data[0].asnumpy()[row, :, round(top) + 2:round(bottom) - 2, round(left) + 2:round(right) - 2]
                    wrong = (inside != np.reshape(COLOURS[int(kind)], (3, 1, 1))).mean()
                    assert wrong < 0.1, (arguments, corners)
    assert len(seen) > 3


def test_the_number_of_threads_changes_nothing(folder):
    def batches(threads):
        it = open_iter(folder, batch_size=3, preprocess_threads=threads, shuffle=True, seed=3, rand_crop_prob=0.5, rand_pad_prob=0.5,
                       max_pad_scale=2, rand_mirror_prob=0.5, max_random_hue=20, random_hue_prob=0.5, max_random_contrast=0.5,
                       random_contrast_prob=0.5, max_random_saturation=20, random_saturation_prob=1, max_random_illumination=20,
                       random_illumination_prob=1, inter_method=10)
        found = []
        for _ in range(2):
            found += [(batch.data[0].asnumpy(), batch.label[0].asnumpy()) for batch in it]
            it.reset()
        return found
    one, four = batches(1), batches(4)
    for (data, label), (data_4, label_4) in zip(one, four, strict=True):
        np.testing.assert_array_equal(data, data_4)
        np.testing.assert_array_equal(label, label_4)
    assert (one[0][0] != one[3][0]).any()


def test_colours_change_and_boxes_do_not(folder):
    plain = open_iter(folder).next()
    for arguments in (dict(max_random_hue=60, random_hue_prob=1), dict(max_random_saturation=60, random_saturation_prob=1),
                      dict(max_random_illumination=60, random_illumination_prob=1), dict(max_random_contrast=0.5, random_contrast_prob=1)):
        changed = open_iter(folder, **arguments).next()
        assert (changed.data[0].asnumpy() != plain.data[0].asnumpy()).mean() > 0.3, arguments
        np.testing.assert_array_equal(changed.label[0].asnumpy(), plain.label[0].asnumpy())


@pytest.mark.parametrize("arguments, error, message", [
    (dict(path_imgrec="none.rec"), FileNotFoundError, "none.rec"),
    (dict(label_pad_width=5), ValueError, "label_pad_width: 5 smaller than estimated width 17"),
    (dict(data_shape=(2, 20, 30)), ValueError, "data_shape"), (dict(batch_size=0), ValueError, "batch_size"),
    (dict(dtype="uint8"), ValueError, "float32"), (dict(aug_seq="aug_default"), ValueError, "det_aug_default"),
    (dict(resize_mode="stretch"), ValueError, "force"), (dict(crop_emit_mode="all"), ValueError, "overlap"),
    (dict(num_crop_sampler=3, min_crop_scales=(0.1, 0.2)), ValueError, "min_crop_scales has 2 numbers"),
    (dict(num_crop_sampler=0), ValueError, "num_crop_sampler"), (dict(max_crop_trials=(1, 2)), ValueError, "max_crop_trials"),
    (dict(min_crop_scales=(0.9,), max_crop_scales=(0.5,)), ValueError, "max_crop_scales"),
    (dict(min_crop_aspect_ratios=(0,)), ValueError, "aspect_ratios"), (dict(max_crop_overlaps=(1.5,)), ValueError, "overlaps"),
    (dict(max_pad_scale=0.5), ValueError, "max_pad_scale"), (dict(max_pad_scale=1e9), ValueError, "max_pad_scale"),
    (dict(fill_value=300), ValueError, "fill_value"), (dict(inter_method=7), ValueError, "inter_method"),
    (dict(resize=0), ValueError, "resize"),
    (dict(mean_img="none.nd"), OSError, "none.nd"),
])
def test_wrong_arguments(folder, arguments, error, message):
    with pytest.raises(error, match=message):
        open_iter(folder, **arguments)


@pytest.mark.parametrize("label", [[1], [2, 5], [2, 4, 0, 0, 0, 1, 1], [1, 5, 0, 0, 0, 1, 1], [2, 5, 0, 0, 0, 1, 1, 1],
                                   [9, 5, 0, 0, 0, 1, 1], [float("nan"), 5, 0, 0, 0, 1, 1], [2, 1e30, 0, 0, 0, 1, 1],
                                   [-2, -5, 0, 0, 0, 1, 1]])
def test_wrong_labels(tmp_path, label):
    record = mx.recordio.MXRecordIO(str(tmp_path / "a.rec"), "w")
    record.write(mx.recordio.pack(mx.recordio.IRHeader(0, label, 0, 0), programs.png(np.zeros((4, 4, 3), "uint8"))))
    record.close()
    with pytest.raises(ValueError, match="widths of the header"):
        mx.io.ImageDetRecordIter(path_imgrec=str(tmp_path / "a.rec"), data_shape=(3, 4, 4), batch_size=1, verbose=False).next()


def test_label_width_of_all_pictures(folder):
    with pytest.raises(ValueError, match="label_width=7"):
        open_iter(folder, label_width=7).next()
    assert open_iter(folder, path_imgrec=pictures(folder), label_width=12, data_shape=(3, 8, 8)).next().label[0].shape == (7, 16)
