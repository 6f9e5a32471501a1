"""mx.image.ImageIter and ImageDetIter as MXNet 1.9.1 ran them (image_iter_programs.py), their
errors, and their hooks for subclasses."""
import json
import os
import random

import image_iter_programs as programs
import numpy as np
import picture_files
import pytest

import mxnet as mx

with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "image_iter_1.9.1.json")) as recorded:
    RECORDED = json.load(recorded)
pytestmark = pytest.mark.skipif(not mx.runtime.Features().is_enabled("OPENCV"), reason="a build without OpenCV")
folder = picture_files.folder


def as_json(value):
    return json.loads(json.dumps(value))


def test_order_labels_and_padding(folder):
    assert as_json(programs.epochs(mx, folder)) == RECORDED["epochs"]


def test_pictures_and_consumed_random_numbers(folder):
    assert as_json(programs.augmented(mx, folder)) == RECORDED["augmented"]


def test_labels(folder):
    assert as_json(programs.labels(mx, folder)) == RECORDED["labels"]


def test_batches_larger_than_the_data_repeat_it(folder):
    it = mx.image.ImageIter(20, (3, 8, 8), path_imglist=f"{folder}/class.lst", path_root=folder)
    batch = it.next()
    assert batch.pad == 13
    np.testing.assert_array_equal(batch.label[0].asnumpy(), (list(np.arange(7) % 3) * 3)[:20])
    np.testing.assert_array_equal(batch.data[0][7:14].asnumpy(), batch.data[0][:7].asnumpy())
    with pytest.raises(StopIteration):
        it.next()


@pytest.mark.parametrize("arguments, error, message", [
    ({}, AssertionError, "no images"),
    (dict(path_imgrec="class.rec", shuffle=True), AssertionError, "path_imgidx"),
    (dict(path_imgrec="class.rec", num_parts=2), AssertionError, "path_imgidx"),
    (dict(path_imglist="class.lst", num_parts=2, part_index=2), AssertionError, "0 to 1"),
    (dict(path_imglist="class.lst", dtype="uint8"), AssertionError, "uint8 label not supported"),
    (dict(path_imglist="class.lst", last_batch_handle="keep"), ValueError, "roll_over"),
    (dict(path_imglist="class.lst", data_shape=(8, 8)), ValueError, "three numbers"),
    (dict(path_imglist="class.lst", data_shape=(1, 8, 8)), ValueError, "3 channels"),
    (dict(path_imglist="class.lst", batch_size=0), ValueError, "batch_size=0"),
    (dict(path_imglist="class.lst", bogus=1), TypeError, "bogus"),
    (dict(path_imglist="none.lst"), FileNotFoundError, "none.lst"),
    (dict(path_imgrec="none.rec"), FileNotFoundError, "none.rec"),
    (dict(imglist=[["a", "1.png"]]), TypeError, "accepted are numbers"),
])
def test_wrong_arguments(folder, arguments, error, message):
    arguments = {name: os.path.join(folder, value) if name.startswith("path") else value for name, value in arguments.items()}
    arguments = {"batch_size": 2, "data_shape": (3, 8, 8), **arguments}
    with pytest.raises(error, match=message):
        mx.image.ImageIter(**arguments)


def test_lists_that_are_no_lists(tmp_path):
    for text, line in ((b"one 1 1.png\n", 1), (b"\n\nx\t1\t1.png\n", 3), (b"0\tx\t1.png\n", 1), (b"3\t1\ta.png\n1\n", 2),
                       (b"3\t1\t\xff.png\n", 1)):
        (tmp_path / "a.lst").write_bytes(text)
        for kind in (mx.image.ImageIter, mx.image.ImageDetIter):
            with pytest.raises(ValueError, match=rf"^\[{kind.__name__}\] .*a\.lst, line {line}: "):
                kind(2, (3, 8, 8), path_imglist=str(tmp_path / "a.lst"))
    (tmp_path / "a.lst").write_text("5\t1\ta.png\r\n\n7\t2\tb.png")
    assert mx.image.ImageIter(2, (3, 8, 8), path_imglist=str(tmp_path / "a.lst")).seq == [5, 7]


def test_dtype_of_listed_labels(folder):
    for dtype in ("int32", np.int64, "float64"):
        it = mx.image.ImageIter(2, (3, 8, 8), path_imglist=f"{folder}/class.lst", path_root=folder, dtype=dtype)
        assert it.imglist[10][0].dtype == np.dtype(dtype) and it.next().label[0].dtype == np.float32
    it = mx.image.ImageIter(2, (3, 8, 8), imglist=[[1, 2, "1.png"], [[3, 4], "2.png"]], path_root=folder, label_width=2)
    assert it.next().label[0].asnumpy().tolist() == [[1, 2], [3, 4]]
    assert it.provide_label[0][1] == (2, 2) and it.provide_data[0][0] == "data"


def test_files_that_can_not_be_read_are_passed(folder):
    with open(f"{folder}/broken.png", "wb") as file:
        file.write(b"no picture")
    for broken, error in (("broken.png", RuntimeError), ("none.png", FileNotFoundError)):
        it = mx.image.ImageIter(2, (3, 8, 8), imglist=[[0, "1.png"], [1, broken], [2, "2.png"], [3, "3.png"]], path_root=folder)
        with pytest.raises(error, match=broken):
            it.next()
        assert it.next().label[0].asnumpy().tolist() == [2, 3]
    record = mx.recordio.MXRecordIO(f"{folder}/broken.rec", "w")
    record.write(mx.recordio.pack((0, 1.0, 0, 0), b""))
    record.close()
    with pytest.raises(RuntimeError, match=r"broken\.rec"):
        mx.image.ImageIter(1, (3, 8, 8), path_imgrec=f"{folder}/broken.rec").next()


def test_hooks(folder, caplog):
    class Odd(mx.image.ImageIter):
        """Leaves out every second picture."""
        count = 0

        def check_valid_image(self, data):
            super().check_valid_image(data)
            self.count += 1
            if self.count % 2:
                raise RuntimeError("odd")

        def postprocess_data(self, datum):
            return super().postprocess_data(datum) * 0 + self.count
    caplog.set_level("DEBUG")
    it = Odd(2, (3, 8, 8), path_imglist=f"{folder}/class.lst", path_root=folder)
    batch = it.next()
    assert batch.label[0].asnumpy().tolist() == [1, 0] and batch.data[0][:, 0, 0, 0].asnumpy().tolist() == [2, 4]
    assert "Invalid image, skipping:  odd" in caplog.text


def test_methods(folder):
    it = mx.image.ImageIter(2, (3, 16, 16), path_imglist=f"{folder}/class.lst", path_root=folder)
    label, packed = it.next_sample()
    assert label.asnumpy().tolist() == [0] and isinstance(packed, bytes)
    image = it.imdecode(packed)
    assert image.shape == (40, 50, 3) and it.augmentation_transform(image).shape == (16, 16, 3)
    assert it.postprocess_data(image).shape == (3, 40, 50) and it.read_image("1.png")[:4] == b"\x89PNG"
    assert not it.iter_next() and iter(it) is it
    for image in (None, [], [mx.nd.array(1)]):
        with pytest.raises((TypeError, IndexError, RuntimeError)):
            it.check_valid_image(image)


# ---- boxes

def detection(folder, **more):
    return mx.image.ImageDetIter(3, (3, 16, 20), path_imgrec=f"{folder}/box.rec", **more)


def test_label_shapes(folder):
    it = detection(folder)
    assert it.label_shape == (3, 5) and it.provide_label[0] == ("label", (3, 3, 5))
    it.reshape(label_shape=(4, 5), data_shape=(3, 8, 8))
    assert it.provide_label[0] == ("label", (3, 4, 5)) and it.provide_data[0] == ("data", (3, 3, 8, 8))
    with pytest.raises(ValueError, match="8, 8"):
        it.next()       # the augmenters are those of the first shape
    for wrong in ((3, 5), (4, 6), (4,)):
        with pytest.raises(ValueError, match="label"):
            it.check_label_shape(wrong)
    with pytest.raises(ValueError):
        it.reshape(data_shape=(1, 8, 8))
    assert it.data_shape == (3, 8, 8)


def test_shared_label_shape(folder, caplog):
    caplog.set_level("INFO")
    one, other = detection(folder), mx.image.ImageDetIter(2, (3, 8, 8), imglist=[[2, 5, 0, 0, 0, 1, 1, "1.png"]], path_root=folder)
    assert one.sync_label_shape(other, verbose=True) is other
    assert one.label_shape == other.label_shape == (3, 5)
    assert "Resized label_shape from (1, 5) to (3, 5)" in caplog.text
    wide = mx.image.ImageDetIter(2, (3, 8, 8), imglist=[[2, 6, 0, 0, 0, 1, 1, 9, "1.png"]], path_root=folder)
    for wrong in (wide, 3):
        with pytest.raises(AssertionError):
            one.sync_label_shape(wrong)


def test_objects_without_a_class_are_left_out(folder):
    it = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[2, 5, -1, 0, 0, 1, 1, "1.png"], [2, 5, 1, 0, 0, 1, 1, "2.png"]], path_root=folder)
    assert [batch.label[0].asnumpy().ravel().tolist() for batch in it] == [[1, 0, 0, 1, 1]]


def test_frames_are_drawn(folder):
    it = mx.image.ImageDetIter(1, (3, 20, 30), imglist=[[2, 5, 0, 0.1, 0.25, 0.5, 0.75, "1.png"]], path_root=folder)
    for mean, amount in ((None, 0), (np.array([200.0]), 200)):
        it.reset()
        (drawn,) = it.draw_next(color=(255, 0, 7), thickness=1, mean=mean)
        it.reset()
        plain = (it.next().data[0].asnumpy()[0].transpose(1, 2, 0) + amount).clip(0, 255).astype("uint8")[..., ::-1]
        frame = np.zeros((20, 30), bool)
        frame[5:16, 3:16] = True
        frame[6:15, 4:15] = False
        assert drawn.dtype == np.uint8 and (drawn[frame] == [7, 0, 255]).all()
        np.testing.assert_array_equal(drawn[~frame], plain[~frame])


def test_random_state_after_construction(folder):
    """A shuffled pass is drawn three times while the labels are looked at, as 1.9.1 does."""
    random.seed(1)
    it = detection(folder, path_imgidx=f"{folder}/box.idx", shuffle=True)
    assert it.seq == [50, 20, 30, 40, 10, 60, 0]


def test_an_augmenter_cannot_end_the_pass(tmp_path):
    """StopIteration of an augmenter ended the pass early, without an error."""
    for value in 0, 51, 255:
        (tmp_path / f'{value}.pnm').write_bytes(b'P6 4 4 255 ' + bytes([value] * 48))

    def only_dark(image):
        return next(iter([image] if image.max().asscalar() < 255 else []))
    files = [[i, f'{value}.pnm'] for i, value in enumerate((0, 51, 255))]
    batches = mx.image.ImageIter(1, (3, 4, 4), imglist=files, path_root=str(tmp_path), aug_list=[only_dark])
    assert [batches.next().label[0].asscalar() for _ in range(2)] == [0, 1]
    with pytest.raises(RuntimeError, match='ImageIter. an augmenter raised StopIteration for image 0 of a batch'):
        batches.next()
