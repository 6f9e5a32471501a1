"""Datasets of image files (gluon.data.vision), and gluon.contrib.data.vision: boxes as MXNet
2.0.0b1 has them (bbox_programs.py), and loaders."""
import json
import os
import pickle
import warnings

import bbox_programs
import image_iter_programs
import numpy as np
import picture_files
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.gluon.contrib.data import vision as contrib
from mxnet.gluon.contrib.data.vision.transforms.bbox import bbox
from mxnet.gluon.data import DataLoader, vision

with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "bbox_2.0.json")) as recorded:
    RECORDED = json.load(recorded)
needs_decoders = pytest.mark.skipif(not mx.runtime.Features().is_enabled("OPENCV"), reason="a build without OpenCV")
folder = picture_files.folder


# ---- datasets

@needs_decoders
def test_folders(tmp_path):
    picture = image_iter_programs.png(np.full((6, 5, 3), 9, "uint8"))
    for name in ("b/z.png", "b/A.PNG", "a/2.jpg", "a/1.jpeg", ".hidden/h.png", "a/sub/x.png", "a/notes.txt", "top.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = vision.ImageFolderDataset(str(tmp_path))
    said = [str(w.message).replace(str(tmp_path) + "/", "") for w in caught]
    assert said == ["Ignoring a/notes.txt of type .txt. Only support .jpg, .jpeg, .png",
                    "Ignoring a/sub of type . Only support .jpg, .jpeg, .png", "Ignoring top.txt, which is not a directory."]
    assert data.synsets == [".hidden", "a", "b"] and len(data) == 5
    assert [(os.path.basename(path), label) for path, label in data.items] == [("h.png", 0), ("1.jpeg", 1), ("2.jpg", 1), ("A.PNG", 2),
                                                                              ("z.png", 2)]
    image, label = data[-1]
    assert image.shape == (6, 5, 3) and image.dtype == np.uint8 and label == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert vision.ImageFolderDataset(str(tmp_path), flag=0)[0][0].shape == (6, 5, 1)
        assert vision.ImageFolderDataset(str(tmp_path), transform=lambda image, label: label * 10)[1] == 10
    images, labels = next(iter(DataLoader(pickle.loads(pickle.dumps(data)), 3)))
    assert images.shape == (3, 6, 5, 3) and labels.asnumpy().tolist() == [0, 1, 1]
    with pytest.raises(IndexError):
        data[9]


def test_folders_that_are_none(tmp_path):
    (tmp_path / "file").write_text("")
    for wrong, error in ((tmp_path / "none", FileNotFoundError), (tmp_path / "file", NotADirectoryError), (None, TypeError)):
        with pytest.raises(error):
            vision.ImageFolderDataset(wrong)


@needs_decoders
def test_records(folder):
    data = vision.ImageRecordDataset(f"{folder}/class.rec")
    assert len(data) == 7 and [label for _, label in (data[i] for i in range(7))] == [0, 1, 2, 0, 1, 2, 0]
    assert data[0][0].shape == (40, 50, 3) and isinstance(data[0][1], float)
    assert vision.ImageRecordDataset(f"{folder}/class.rec", 0, lambda image, label: (label, image))[1][1].shape == (33, 64, 1)
    assert vision.ImageRecordDataset(f"{folder}/box.rec")[1][1].shape == (12,)
    resized = data.transform_first(vision.transforms.Resize((8, 8)))
    assert [batch.shape for batch, _ in DataLoader(resized, 3, num_workers=1)] == [(3, 8, 8, 3), (3, 8, 8, 3), (1, 8, 8, 3)]
    with pytest.raises(FileNotFoundError):
        vision.ImageRecordDataset(f"{folder}/none.rec")


def test_records_that_are_no_images_name_their_place(tmp_path):
    records = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w")
    records.write_idx(3, mx.recordio.pack((0, 1, 0, 0), b"P6 2 1 255 " + bytes(6)))
    records.write_idx(5, mx.recordio.pack((0, 1, 0, 0), b"P6 2 1 255 "))
    records.write_idx(8, b"short")
    records.close()
    data = vision.ImageRecordDataset(str(tmp_path / "a.rec"))
    assert data[0][0].shape == (1, 2, 3)
    place = rf"^\[ImageRecordDataset\] {tmp_path}/a\.rec, record 5 at byte 52: "
    with pytest.raises(mx.MXNetError, match=place + ".*(cannot be decoded|no known)"):
        data[1]
    with pytest.raises(ValueError, match=r"a\.rec, record 8 at byte 96: .* 5 bytes"):
        data[-1]


@needs_decoders
def test_lists(folder):
    data = vision.ImageListDataset(folder, "class.lst")
    assert len(data) == 7 and data[1][0].shape == (33, 64, 3) and data[1][1].asnumpy().tolist() == [1]
    data = vision.ImageListDataset(folder, [[1, 2, "1.png"], [[3, 4], "2.png"]], flag=0)
    assert data[0][0].shape == (33, 64, 1) and data[-1][1].asnumpy().tolist() == [3, 4]
    for wrong, error in ((None, ValueError), (3, ValueError), ("none.lst", FileNotFoundError), ([["a", "1.png"]], TypeError)):
        with pytest.raises(error):
            vision.ImageListDataset(folder, wrong)
    assert len(vision.ImageListDataset(folder, [])) == 0


# ---- boxes

def test_blocks_and_functions_of_boxes():
    made = bbox_programs.everything(nd.array, bbox)
    assert made["functions"] == RECORDED["functions"]
    for case, (now, then) in enumerate(zip(made["blocks"], RECORDED["blocks"], strict=True)):
        assert now[0] == then[0] and now[3] == then[3], case
        np.testing.assert_allclose(now[2], then[2], atol=2e-3)
        np.testing.assert_allclose(now[1], then[1], rtol=2e-3)


def test_boxes_stay_what_they_are():
    image, boxes = nd.zeros((20, 30, 3)), np.array([[1, 2, 3, 4.0]])
    kept = boxes.copy()
    for block in bbox_programs.blocks(bbox):
        assert isinstance(block(image, boxes)[1], np.ndarray)
    np.testing.assert_array_equal(boxes, kept)
    assert bbox.ImageBboxCrop((0, 0, 30, 20))(image, boxes)[0].shape == (20, 30, 3)
    out, moved = bbox.ImageBboxCrop((10, 0, 20, 20))(image, nd.array(boxes))
    assert out.shape == (20, 20, 3) and moved.shape == (0, 4)
    out, moved = bbox.ImageBboxRandomCropWithConstraints(1)(image, np.zeros((0, 5)))
    assert moved.shape == (0, 5) and out.shape != image.shape
    for wrong in ((1, 2, 3), (-1, 0, 2, 2), (0, 0, 0, 2)):
        with pytest.raises(AssertionError, match="crop="):
            bbox.ImageBboxCrop(wrong)


def test_expanding_with_one_colour():
    image, boxes = bbox.ImageBboxRandomExpand(1, 2, fill=7)(nd.full((10, 10, 3), 9, dtype="uint8"), nd.array([[0, 0, 10, 10]]))
    left, top, right, bottom = boxes.asnumpy()[0].astype(int)
    assert (image[top:bottom, left:right].asnumpy() == 9).all() and (image.asnumpy() == 9).sum() == 300
    assert ((image.asnumpy() == 7) | (image.asnumpy() == 9)).all()


# ---- loaders

@needs_decoders
def test_images_are_loaded(folder):
    loader = contrib.ImageDataLoader(3, (3, 16, 20), path_imgrec=f"{folder}/class.rec")
    batches = list(loader)
    assert len(loader) == 3 and [images.shape for images, _ in batches] == [(3, 3, 16, 20), (3, 3, 16, 20), (1, 3, 16, 20)]
    assert batches[0][1].asnumpy().tolist() == [0, 1, 2] and 0 <= batches[0][0].asnumpy().min() <= batches[0][0].asnumpy().max() <= 1
    part = contrib.ImageDataLoader(3, (3, 8, 8), path_imglist="class.lst", path_root=folder, num_parts=2, part_index=1, dtype="float64")
    (images, labels), = part
    assert images.dtype == np.float64 and labels.asnumpy().tolist() == [[1], [2], [0]]
    raw = contrib.ImageDataLoader(2, (3, 8, 8), path_imgrec=f"{folder}/class.rec", aug_list=vision.transforms.Resize((8, 9)),
                                  last_batch="discard")
    assert [images.shape for images, _ in raw] == [(2, 9, 8, 3)] * 3


@needs_decoders
def test_augmented_images():
    image = nd.array(np.random.RandomState(0).randint(0, 256, (20, 30, 3)), dtype="uint8")
    plain = contrib.create_image_augment((3, 16, 20))(image).asnumpy()
    np.testing.assert_allclose(plain, image.asnumpy()[2:18, 5:25].transpose(2, 0, 1) / 255, rtol=1e-6)
    usual = contrib.create_image_augment((3, 16, 20), mean=True, std=True)(image).asnumpy()
    want = (plain - np.reshape([0.485, 0.456, 0.406], (3, 1, 1))) / np.reshape([0.229, 0.224, 0.225], (3, 1, 1))
    np.testing.assert_allclose(usual, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(contrib.create_image_augment((3, 16, 20), mean=(0.5, 0, 0))(image).asnumpy(),
                               plain - np.reshape([0.5, 0, 0], (3, 1, 1)), rtol=1e-5, atol=1e-6)
    everything = contrib.create_image_augment((3, 9, 9), 12, True, True, True, True, True, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5, 10)
    assert everything(image).shape == (3, 9, 9)
    assert contrib.create_image_augment((3, 9, 9), 12, True, inter_method=9)(image).shape == (3, 9, 9)
    for wrong in (dict(rand_resize=True), dict(mean=1.0), dict(std=np.ones(3))):
        with pytest.raises(AssertionError):
            contrib.create_image_augment((3, 9, 9), **wrong)


@needs_decoders
def test_boxes_are_loaded(folder):
    first = [2, 5, 0, .1, .2, .5, .6, "1.png"]
    second = [4, 6, 9, 9, 1, .1, .2, .5, .6, 7, 2, .3, .3, .9, .9, 8, "2.png"]
    images, boxes = next(iter(contrib.ImageBboxDataLoader(1, (3, 16, 20), imglist=[second], path_root=folder)))
    np.testing.assert_allclose(boxes.asnumpy(), [[[2, 3.2, 10, 9.6, 1, 7], [6, 4.8, 18, 14.4, 2, 8]]], rtol=1e-5)
    assert images.shape == (1, 3, 16, 20)
    third = [2, 5, 1, .1, .2, .5, .6, 2, .3, .3, .9, .9, "3.png"]
    _, boxes = next(iter(contrib.ImageBboxDataLoader(2, (3, 16, 20), imglist=[first, third], path_root=folder)))
    assert boxes.shape == (2, 2, 5) and boxes[0, 1].asnumpy().tolist() == [-1] * 5
    loader = contrib.ImageBboxDataLoader(4, (3, 16, 20), path_imgrec=f"{folder}/box.rec", rand_crop=0.5, rand_pad=0.5, rand_mirror=True,
                                         brightness=0.1, hue=0.1, pca_noise=0.1, rand_gray=0.1, mean=True, std=True, inter_method=10)
    assert [images.shape for images, _ in loader] == [(4, 3, 16, 20), (3, 3, 16, 20)]
    same = list(contrib.ImageBboxDataLoader(7, (3, 8, 8), path_imgrec=f"{folder}/box.rec", coord_normalized=False,
                                            aug_list=[bbox.ImageBboxResize(8, 8)]))
    assert same[0][0].shape == (7, 8, 8, 3)
    for wrong in ([2, 5, 0, .1, .2, .5, .6, 9, "1.png"], [1, "1.png"], [0, 0, 1, "1.png"]):
        with pytest.raises(ValueError, match="Broken label"):
            next(iter(contrib.ImageBboxDataLoader(1, (3, 8, 8), imglist=[wrong], path_root=folder)))


def test_wrong_loaders(folder):
    for kind in (contrib.ImageDataLoader, contrib.ImageBboxDataLoader):
        for wrong, error in (({}, AssertionError), (dict(dtype="uint8"), AssertionError), (dict(aug_list=[1]), ValueError),
                             (dict(bogus=1), TypeError), (dict(num_parts=2, part_index=2), AssertionError)):
            with pytest.raises(error):
                kind(2, (3, 8, 8), **wrong, **({"path_imgrec": f"{folder}/class.rec"} if wrong else {}))


def test_crops_of_batches():
    images = nd.array(np.random.RandomState(0).randint(0, 256, (2, 20, 30, 3)), dtype="uint8")
    cropped = vision.transforms.CenterCrop((10, 8))(images)
    np.testing.assert_array_equal(cropped.asnumpy(), images.asnumpy()[:, 6:14, 10:20])
    assert vision.transforms.RandomResizedCrop((9, 7))(images).shape == (2, 7, 9, 3)
