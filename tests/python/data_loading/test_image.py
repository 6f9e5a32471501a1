"""mx.image, decoding (_cvimread, _cvimdecode), and what 1.9.1 made of the same files and arrays
(record_oracle_image.py)."""
import json
import os
import random
import re
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd

DATA = np.load(os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "image_oracle.npz"))
needs_decoders = pytest.mark.skipif(not mx.runtime.Features().is_enabled("OPENCV"), reason="a build without OpenCV")
needs_sampler = pytest.mark.skipif(not hasattr(nd, "BilinearSampler"), reason="no BilinearSampler yet")


def file(name):
    return DATA[f"file/{name}"].tobytes()


def images(dtype="uint8", shape=(9, 13, 3)):
    return nd.array(np.random.RandomState(0).randint(0, 256, shape), dtype=dtype)


# ---- decoding

def test_names_of_numpy_are_the_same_records():
    for name in ("_npi_cvimread", "_npi_cvimdecode", "_npi_cvimresize"):
        assert mx._operators.functions.op_info(name).name == name.replace("_npi", "")


def with_exif(jpeg, orientation, before=b""):
    """A JPEG file whose JFIF segment is replaced by `before` and an Exif segment."""
    tag = struct.pack("<IHHHIHHI", 8, 1, 0x112, 3, 1, orientation, 0, 0)
    exif = b"Exif\0\0II*\0" + tag
    assert jpeg[6:10] == b"JFIF"
    return jpeg[:2] + before + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[20:]


@needs_decoders
def test_pictures_of_cameras_are_put_upright(tmp_path):
    """By the rules that 1.9.1 followed: an Exif segment counts that no JFIF segment and no other
    APP1 segment precedes."""
    jpeg = next(file(name) for name in json.loads(str(DATA["files"])) if file(name)[6:10] == b"JFIF")
    straight = mx.image.imdecode(jpeg).asnumpy()
    turned = {1: straight, 2: straight[:, ::-1], 3: straight[::-1, ::-1], 4: straight[::-1], 5: straight.transpose(1, 0, 2),
              6: np.rot90(straight, -1), 7: np.rot90(straight.transpose(1, 0, 2), 2), 8: np.rot90(straight), 9: straight}
    for orientation, want in turned.items():
        picture = with_exif(jpeg, orientation)
        (tmp_path / "a.jpg").write_bytes(picture)
        np.testing.assert_array_equal(mx.image.imdecode(picture).asnumpy(), want)
        np.testing.assert_array_equal(mx.image.imread(str(tmp_path / "a.jpg")).asnumpy(), want)
        assert mx.image.imdecode(picture, flag=0).shape == want.shape[:2] + (1,)
        np.testing.assert_array_equal(mx.image.imdecode(picture, flag=-1).asnumpy(), straight)
        np.testing.assert_array_equal(mx.image.imdecode(picture, out=nd.zeros(want.shape, dtype="uint8")).asnumpy(), want)
        np.testing.assert_array_equal(mx.image.imdecode(picture, flag=1 + 128).asnumpy(), straight)
        np.testing.assert_array_equal(mx.image.imdecode(picture, flag=1 + 256).asnumpy(), straight)
        assert mx.image.imdecode(picture, flag=256).shape == straight.shape[:2] + (1,)
    comment, note = b"\xff\xfe\0\7hello", b"\xff\xe1\0\7note."
    assert mx.image.imdecode(with_exif(jpeg, 6, comment)).shape == turned[6].shape
    for before in (jpeg[2:20], note, b"\xff"):
        np.testing.assert_array_equal(mx.image.imdecode(with_exif(jpeg, 6, before)).asnumpy(), straight)


@needs_decoders
def test_pictures_of_cameras_are_turned_once(tmp_path):
    """Readers that follow the orientation themselves, of more files than imdecode does."""
    from mxnet.tools import im2rec
    jpeg = next(file(name) for name in json.loads(str(DATA["files"])) if file(name)[6:10] == b"JFIF")
    height, width = mx.image.imdecode(jpeg).shape[:2]
    assert height != width
    for before in (b"", jpeg[2:20]):
        picture = with_exif(jpeg, 6, before)
        record = mx.recordio.pack((0, 1, 1, 0), picture)
        assert mx.recordio.unpack_img(record, iscolor=1)[1].shape == (width, height, 3)
        assert mx.recordio.unpack_img(record, iscolor=0)[1].shape == (width, height)
        (tmp_path / "pictures").mkdir(exist_ok=True)
        (tmp_path / "pictures" / "a.jpg").write_bytes(picture)
        for color, shape in (("1", (width, height, 3)), ("0", (width, height, 1)), ("-1", (height, width, 3))):
            prefix = str(tmp_path / "list")
            assert im2rec.main(["--list", prefix, str(tmp_path / "pictures")]) == 0
            assert im2rec.main(["--color", color, prefix, str(tmp_path / "pictures")]) == 0
            packed = mx.recordio.MXRecordIO(prefix + ".rec", "r").read()
            assert mx.image.imdecode(mx.recordio.unpack(packed)[1], flag=-1).shape == shape


@needs_decoders
@pytest.mark.parametrize("name", json.loads(str(DATA["files"])))
def test_decoding(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(file(name))
    for flag in (0, 1):
        want = DATA[f"decoded/{name}/{flag}"]
        got = mx.image.imdecode(file(name), flag=flag)
        assert got.dtype is np.uint8 and got.context == mx.cpu()
        np.testing.assert_array_equal(got.asnumpy(), want)
        np.testing.assert_array_equal(mx.image.imread(str(path), flag).asnumpy(), want)
    blue_first = mx.image.imdecode(file(name), to_rgb=False).asnumpy()
    np.testing.assert_array_equal(blue_first[..., ::-1], want)
    out = nd.zeros(want.shape, dtype="uint8")
    mx.image.imdecode(file(name), out=out)
    np.testing.assert_array_equal(out.asnumpy(), want)


@needs_decoders
def test_what_is_decoded():
    want = DATA["decoded/colour.png/1"]
    data = file("colour.png")
    for buf in (bytearray(data), memoryview(data), np.frombuffer(data, np.uint8), nd.array(np.frombuffer(data, np.uint8), dtype="uint8")):
        np.testing.assert_array_equal(mx.image.imdecode(buf).asnumpy(), want)
    symbol = mx.sym._internal._cvimdecode(mx.sym.var("buf"))
    assert symbol.list_arguments() == ["buf"]


@needs_decoders
def test_planes():
    """_imdecode, the decoder of the first versions."""
    want = DATA["decoded/colour.png/1"].transpose(2, 0, 1).astype("float32")
    np.testing.assert_array_equal(nd.imdecode(file("colour.png")).asnumpy(), want)
    mean = nd.full((3, 4, 5), 2.0)
    out = nd.imdecode(file("colour.png"), clip_rect=(1, 2, 6, 6), mean=mean).asnumpy()
    np.testing.assert_array_equal(out, want[:, 2:6, 1:6] - 2)
    several = nd.zeros((2, 1, 19, 23))
    nd.imdecode(file("gray.png"), out=several, index=1, channels=1)
    np.testing.assert_array_equal(several[1, 0].asnumpy(), DATA["decoded/gray.png/0"][..., 0])
    for bad in (dict(clip_rect=(0, 0, 99, 1)), dict(channels=2), dict(mean=nd.zeros((3, 3)))):
        with pytest.raises(mx.MXNetError, match=r"^\[_imdecode\]"):
            nd.imdecode(file("colour.png"), **bad)


def damaged():
    """(name, bytes) that no decoder may take."""
    for name in ("420.jpg", "422_progressive.jpg", "colour.png", "colour.bmp", "colour.tiff", "gray.jpg"):
        data = file(name)
        yield name + " cut", data[:len(data) * 2 // 3]
        yield name + " head", data[:20]
    jpeg = bytearray(file("444.jpg"))
    at = jpeg.index(b"\xff\xc0")
    jpeg[at + 5:at + 9] = b"\xff\xdc\xff\xdc"   # 65500 x 65500
    yield "huge jpeg", bytes(jpeg)
    head = b"IHDR" + struct.pack(">IIBBBBB", 1 << 19, 1 << 19, 8, 2, 0, 0, 0)
    yield "huge png", b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head)) + file("colour.png")[33:]
    bmp = bytearray(file("colour.bmp"))
    bmp[18:26] = struct.pack("<ii", 1 << 19, 1 << 19)
    yield "huge bmp", bytes(bmp)
    yield "text", b"this is no image"
    yield "zeros", bytes(1000)


@needs_decoders
@pytest.mark.parametrize("name,data", list(damaged()), ids=lambda v: v if isinstance(v, str) else "")
def test_damaged_files(name, data):
    with pytest.raises(mx.MXNetError, match=r"^\[_cvimdecode\] buf"):
        mx.image.imdecode(data)


@needs_decoders
def test_bytes_by_chance():
    """Damage in the middle gives an image or an error."""
    rng = np.random.RandomState(3)
    for name in json.loads(str(DATA["files"])):
        for _ in range(20):
            data = np.frombuffer(file(name), np.uint8).copy()
            data[rng.randint(2, len(data), rng.randint(1, 20))] = rng.randint(0, 256)
            try:
                mx.image.imdecode(data).asnumpy()
            except mx.MXNetError as error:
                assert "[_cvimdecode]" in str(error)


@needs_decoders
def test_refused_calls(tmp_path):
    with pytest.raises(mx.MXNetError, match="empty"):
        mx.image.imdecode(b"")
    with pytest.raises(mx.MXNetError, match="uint8"):
        mx.nd._internal._cvimdecode(nd.zeros((20,)))
    for flag in (-2, 2, 128):
        with pytest.raises(mx.MXNetError, match="flag"):
            mx.image.imdecode(file("gray.png"), flag=flag)
    for path in (tmp_path, tmp_path / "nothing.png", "/dev/zero"):
        with pytest.raises(mx.MXNetError, match=r"\[_cvimread\]"):
            mx.image.imread(str(path))
    with pytest.raises(mx.MXNetError, match="out has shape"):
        mx.image.imdecode(file("gray.png"), out=nd.zeros((3, 3, 3), dtype="uint8"))


# ---- against 1.9.1

def test_resizing():
    for i, width, height, interp in DATA["resize"]:
        image = DATA[f"resize/{i}/from"]
        got = nd.image.resize(nd.array(image, dtype=image.dtype), size=(int(width), int(height)), interp=int(interp)).asnumpy()
        np.testing.assert_array_equal(got, DATA[f"resize/{i}/{interp}"], err_msg=f"{image.shape} {width}x{height} {interp}")


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("size", [(320, 40), (120, 160), (144, 60), (72, 33), (72, 30), (96, 30), (160, 300)])
def test_resizing_of_wide_pixels_is_that_of_each_channel(dtype, size):
    """Pictures of 1, 3 and 4 channels have vector loops; those of 2 and 5 have none."""
    image = (np.random.RandomState(3).rand(90, 288, 5) * 255).astype(dtype)
    for interp in range(6):
        want = mx.image.imresize(nd.array(image, dtype=dtype), *size, interp=interp).asnumpy()
        for channels in (1, 3, 4):
            got = mx.image.imresize(nd.array(image[:, :, :channels], dtype=dtype), *size, interp=interp).asnumpy()
            np.testing.assert_array_equal(got, want[:, :, :channels], err_msg=f"{channels} channels, interp={interp}")


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("width", [2, 6, 20, 46, 258])
def test_halves_of_bytes_are_rounded_means(channels, width):
    image = np.random.RandomState(4).randint(0, 256, (10, width, channels)).astype("uint8")
    want = (image.reshape(5, 2, width // 2, 2, channels).astype(int).sum(axis=(1, 3)) + 2) >> 2
    for interp in (1, 3):
        got = mx.image.imresize(nd.array(image, dtype="uint8"), width // 2, 5, interp=interp).asnumpy()
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_bilinear_of_floats_is_bilinear(dtype):
    image = nd.array(np.random.RandomState(1).rand(7, 9, 3), dtype=dtype)
    for size in ((4, 3), (18, 14), (11, 5)):
        np.testing.assert_array_equal(*(mx.image.imresize(image, *size, interp=interp).asnumpy() for interp in (1, 5)))


def test_crops_of_images_that_are_smaller_keep_the_ratio():
    image = nd.array(np.random.RandomState(1).randint(0, 255, (40, 52, 3)), dtype="uint8")
    for width, height in ((100, 100), (20, 100), (100, 20), (52, 41)):
        got = nd.image.random_crop(image, (0.5, 0.5), (0.5, 0.5), width, height, 1)
        np.testing.assert_array_equal(got.asnumpy(), mx.image.center_crop(image, (width, height), 1)[0].asnumpy())


def test_random_rotations_draw_from_the_numbers_of_numpy():
    image = nd.array(np.random.RandomState(1).rand(3, 9, 9))
    for batch in (image, nd.stack(image, image)):
        np.random.seed(7)
        got = mx.image.random_rotate(batch, (-20, 20)).asnumpy()
        np.random.seed(7)
        angles = np.random.uniform(-20, 20, size=2)[:batch.ndim - 2]
        want = mx.image.imrotate(batch, nd.array(angles) if batch.ndim == 4 else angles[0]).asnumpy()
        np.testing.assert_array_equal(got, want)


def test_resizing_of_batches():
    batch = images(shape=(3, 20, 31, 3))
    for interp in range(6):
        got = nd.image.resize(batch, size=(17, 11), interp=interp).asnumpy()
        for one, image in zip(got, batch):
            np.testing.assert_array_equal(one, mx.image.imresize(image, 17, 11, interp=interp).asnumpy())


def test_colours():
    for dtype, op, amount in json.loads(str(DATA["colour"])):
        image = nd.array(DATA[f"colour/{dtype}"], dtype=dtype)
        got = getattr(nd.image, "random_" + op)(image, min_factor=amount, max_factor=amount).asnumpy()
        np.testing.assert_allclose(got, DATA[f"colour/{dtype}/{op}/{amount}"], rtol=0, atol=0 if dtype == "uint8" else 1e-3)


@needs_sampler
@pytest.mark.parametrize("call, error, message", [
    (lambda x: mx.image.center_crop(x, 224), TypeError, r"[center_crop] size=224; accepted: (width, height)"),
    (lambda x: mx.image.random_crop(x, (1, 2, 3)), ValueError, r"[random_crop] size=(1, 2, 3); accepted: (width, height)"),
    (lambda x: mx.image.center_crop(x[0], (2, 2)), ValueError, r"[center_crop] src has the shape (50, 3); accepted: (height, width, "),
    (lambda x: mx.image.center_crop((x,), (2, 2)), TypeError, r"[center_crop] src is a tuple; accepted: an NDArray"),
    (lambda x: mx.image.resize_short(x, (2, 2)), TypeError, r"[resize_short] size=(2, 2); accepted: a number"),
    (lambda x: mx.image.resize_short(x, 0), ValueError, r"[resize_short] size=0; accepted: above 0"),
    (lambda x: mx.image.random_size_crop(x, (2, 2), float("nan"), (1, 1)), ValueError, r"[random_size_crop] area=nan"),
    (lambda x: mx.image.random_size_crop(x, (2, 2), -1, (1, 1)), ValueError, r"[random_size_crop] area=-1"),
    (lambda x: mx.image.random_size_crop(x, (2, 2), 1, 0.5), TypeError, r"[random_size_crop] ratio=0.5; accepted: (smallest, "),
    (lambda x: mx.image.random_size_crop(x, (2, 2), 1, (0, 1)), ValueError, r"[random_size_crop] ratio=(0, 1); accepted: width / he"),
    (lambda x: mx.image.ForceResizeAug(20)(x), TypeError, r"[ForceResizeAug] size=20; accepted: (width, height)"),
    (lambda x: mx.image.CreateAugmenter((224, 224)), ValueError, r"[CreateAugmenter] data_shape=(224, 224); accepted: (channels, "),
    (lambda x: mx.image.CreateDetAugmenter(3), TypeError, r"[CreateDetAugmenter] data_shape=3; accepted: (channels, height, w")])
def test_errors_say_what_was_given(call, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        call(nd.zeros((40, 50, 3), dtype="uint8"))


def test_rotations():
    for i, (degrees, zoom_in, zoom_out) in enumerate(json.loads(str(DATA["rotate"]))):
        image, want = nd.array(DATA[f"rotate/{i}/from"]), DATA[f"rotate/{i}/to"]
        np.testing.assert_allclose(mx.image.imrotate(image, degrees, zoom_in, zoom_out).asnumpy(), want, atol=1e-4)
        both = mx.image.imrotate(nd.stack(image, image), nd.array([degrees, 0]), zoom_in, zoom_out).asnumpy()
        np.testing.assert_allclose(both[0], want, atol=1e-4)
    with pytest.raises(ValueError):
        mx.image.imrotate(image, 3, True, True)
    with pytest.raises(TypeError):
        mx.image.imrotate(images(), 3)


# ---- randomness

def draws(function, n=300):
    mx.random.seed(5)
    return np.array([function().asnumpy() for _ in range(n)])


def test_random_amounts():
    one = nd.ones((1, 1, 3))
    got = draws(lambda: nd.image.random_brightness(one, min_factor=0.2, max_factor=1.4))[:, 0, 0, 0]
    assert 0.2 <= got.min() < 0.23 and 1.37 < got.max() <= 1.4 and abs(got.mean() - 0.8) < 0.06
    np.testing.assert_array_equal(got, draws(lambda: nd.image.random_brightness(one, min_factor=0.2, max_factor=1.4))[:, 0, 0, 0])
    light = draws(lambda: nd.image.random_lighting(nd.zeros((1, 1, 3)), alpha_std=0.1), 1000)[:, 0, 0]
    np.testing.assert_allclose(light.std(axis=0), [3.17, 3.22, 3.25], rtol=0.1)
    flips = draws(lambda: nd.image.random_flip_left_right(nd.array([[[0.0], [1.0]]])))[:, 0, 0, 0]
    assert 0.4 < flips.mean() < 0.6
    jitter = draws(lambda: nd.image.random_color_jitter(nd.array([[[100, 50, 200.0]]]), brightness=0.4, contrast=0, saturation=0, hue=0))
    assert 60 <= jitter[:, 0, 0, 0].min() < 64 and 136 < jitter[:, 0, 0, 0].max() <= 140.01


def test_gradients():
    image = images("float32")
    image.attach_grad()
    for op in ("flip_left_right", "random_flip_left_right", "random_flip_top_bottom", "to_tensor"):
        with autograd.record():
            out = getattr(nd.image, op)(image)
        ograd = nd.random.uniform(shape=out.shape)
        out.backward(ograd)
        np.testing.assert_allclose((image.grad * image).sum().asscalar(), (ograd * out).sum().asscalar(), rtol=1e-4)   # linear operators


# ---- mx.image

def test_crops():
    image = images()
    array = image.asnumpy()
    np.testing.assert_array_equal(mx.image.fixed_crop(image, 2, 1, 5, 4).asnumpy(), array[1:5, 2:7])
    assert mx.image.fixed_crop(image, 2, 1, 5, 4, size=(3, 6)).shape == (6, 3, 3)
    out, box = mx.image.center_crop(image, (5, 3))
    assert box == (4, 3, 5, 3)
    np.testing.assert_array_equal(out.asnumpy(), array[3:6, 4:9])
    out, (x, y, width, height) = mx.image.random_crop(image, (5, 3))
    np.testing.assert_array_equal(out.asnumpy(), array[y:y + height, x:x + width])
    assert mx.image.random_crop(image, (40, 30))[0].shape == (30, 40, 3)
    for _ in range(20):
        out, (x, y, width, height) = mx.image.random_size_crop(image, (5, 4), (0.1, 1), (0.5, 2))
        assert out.shape == (4, 5, 3) and x + width <= 13 and y + height <= 9
    assert mx.image.resize_short(image, 18).shape == (18, 26, 3)
    assert mx.image.scale_down((640, 480), (720, 120)) == (640, 106)
    with pytest.raises(ValueError):
        mx.image.resize_short(image, 3, interp=7)


def test_augmenters():
    random.seed(1)
    np.random.seed(1)
    image = images("float32")
    array = image.asnumpy()
    gray = array @ np.array([0.299, 0.587, 0.114])
    for _ in range(3):
        state = random.getstate()
        amount = 1 + random.uniform(-0.4, 0.4)
        for aug, want in ((mx.image.BrightnessJitterAug(0.4), array * amount),
                          (mx.image.ContrastJitterAug(0.4), array * amount + (1 - amount) * gray.mean()),
                          (mx.image.SaturationJitterAug(0.4), array * amount + (1 - amount) * gray[..., None])):
            random.setstate(state)
            np.testing.assert_allclose(aug(image.copy()).asnumpy(), want, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(mx.image.HueJitterAug(0)(image).asnumpy(), array, atol=0.7)
    np.testing.assert_array_equal(mx.image.HorizontalFlipAug(1)(image).asnumpy(), array[:, ::-1])
    assert np.ptp(mx.image.RandomGrayAug(1)(image).asnumpy(), axis=2).max() == 0
    assert mx.image.CastAug()(images()).dtype is np.float32
    normalized = mx.image.ColorNormalizeAug([1, 2, 3], [2, 2, 4])(image.copy()).asnumpy()
    np.testing.assert_allclose(normalized, (array - [1, 2, 3]) / [2, 2, 4], rtol=1e-6)
    assert json.loads(mx.image.ResizeAug(3).dumps()) == ["resizeaug", {"size": 3, "interp": 2}]


def test_create_augmenter():
    every = mx.image.CreateAugmenter((3, 6, 7), resize=10, rand_crop=True, rand_resize=True, rand_mirror=True, mean=True, std=True,
                                     brightness=0.1, contrast=0.1, saturation=0.1, hue=0.1, pca_noise=0.1, rand_gray=0.1, inter_method=10)
    assert [type(aug).__name__ for aug in every] == [
        "ResizeAug", "RandomSizedCropAug", "HorizontalFlipAug", "CastAug", "ColorJitterAug", "HueJitterAug", "LightingAug",
        "RandomGrayAug", "ColorNormalizeAug"]
    image = images()
    for aug in every:
        image = aug(image)
    assert image.shape == (6, 7, 3) and image.dtype is np.float32
    assert [type(aug).__name__ for aug in mx.image.CreateAugmenter((3, 6, 7))] == ["CenterCropAug", "CastAug"]
    with pytest.raises(AssertionError):
        mx.image.CreateAugmenter((3, 6, 7), rand_resize=True)


LIMITED = r"""
import struct, zlib
import mxnet as mx
def part(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
def png(size):
    rows = zlib.compress(b''.join(bytes(size + 1) for _ in range(size)))
    header = struct.pack('>IIBBBBB', size, size, 8, 0, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + part(b'IHDR', header) + part(b'IDAT', rows) + part(b'IEND', b'')
for picture in (png(20), png(400), open('picture.jpg', 'rb').read()):
    try:
        print(mx.image.imdecode(picture).shape[0])
    except mx.MXNetError as error:
        print('IMAGE_PIXELS' in str(error))
"""


@pytest.mark.parametrize("limit", [None, "10000"])
def test_a_variable_limits_pixels(limit, tmp_path):
    """A file of 420 KB took 12 s and 0.8 GB: it held a very large picture of one colour."""
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (400, 400)).save(tmp_path / "picture.jpg")
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, cwd=tmp_path, timeout=100,
                          env={**os.environ, **({"OPENCV_IO_MAX_IMAGE_PIXELS": limit} if limit else {})})
    assert done.stdout.split() == (["20", "True", "True"] if limit else ["20", "400", "400"]), done.stderr
