"""Image files within records: by the package cv2 where it is installed, else by this library, or by
Pillow."""
import os

import numpy as np

from ..base import MXNetError

__all__ = ["decode", "encode"]


def _opencv():
    try:
        import cv2
    except ImportError:
        return None
    return cv2


def _has_codecs(jpeg):
    """Whether the library reads and writes such files: a wheel does JPEG files alone."""
    from .. import libinfo, runtime
    return runtime.Features().is_enabled("OPENCV") or \
        jpeg and os.path.exists(os.path.join(os.path.dirname(libinfo.find_lib_path()[0]), "libmxnet_jpeg.so"))


def _pillow():
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("[recordio] this build reads and writes JPEG files alone; for others, pip install pillow or "
                          "opencv-python-headless", name="PIL") from None
    return Image


def decode(data, iscolor):
    """The pixels of an image file, blue first; see :func:`mxnet.recordio.unpack_img`."""
    cv2 = _opencv()
    if cv2 is not None:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), iscolor)
        if image is None:
            raise ValueError(f"[recordio] {len(data)} bytes that are no image")
        return image
    if _has_codecs(data[:2] == b"\xff\xd8"):
        return _decode_natively(data, iscolor)
    import io
    try:
        image = _pillow().open(io.BytesIO(data))
        image.load()        # a damaged file is found here
    except (OSError, SyntaxError) as error:
        raise ValueError(f"[recordio] {len(data)} bytes that are no image: {error}") from None
    if iscolor == 0:
        return np.asarray(image.convert("L"))
    if iscolor < 0 and image.mode in ("L", "RGBA"):
        array = np.asarray(image)
        return array if array.ndim == 2 else array[:, :, [2, 1, 0, 3]].copy()
    return np.asarray(image.convert("RGB"))[:, :, ::-1].copy()      # blue first, as OpenCV has it


def _decode_natively(data, iscolor):
    """What OpenCV makes of a file, by the library's own decoders."""
    from . import exif as _exif
    from ..ndarray import _internal, array
    flag = -1 if iscolor < 0 else (iscolor & 1) + _exif.AS_IT_LIES
    if not data:
        raise MXNetError("[recordio] the record has no image behind its header")
    pixels = _internal._cvimdecode(array(np.frombuffer(data, np.uint8), dtype="uint8"), flag=flag, to_rgb=False).asnumpy()
    if flag >= 0:
        pixels = _exif.upright(pixels, _exif.orientation(data))
    return pixels[:, :, 0] if pixels.shape[2] == 1 else pixels


def encode(image, quality, img_fmt):
    """The bytes of an image file; see :func:`mxnet.recordio.pack_img`."""
    kind, cv2, image = img_fmt.lower(), _opencv(), np.asarray(image)
    if cv2 is not None:                     # which has more formats
        option = cv2.IMWRITE_PNG_COMPRESSION if kind == ".png" else cv2.IMWRITE_JPEG_QUALITY
        done, buffer = cv2.imencode(kind, image, [option, quality] if kind in (".jpg", ".jpeg", ".png") else [])
        if not done:
            raise ValueError(f"[recordio] an image of shape {image.shape}, {image.dtype} could not be encoded")
        return buffer.tobytes()
    if kind not in (".jpg", ".jpeg", ".png"):
        raise ValueError(f"[recordio] img_fmt={img_fmt!r}; '.jpg', '.jpeg' and '.png' are accepted without OpenCV (the package cv2)")
    if image.dtype != np.uint8 or image.ndim not in (2, 3) or image.size == 0 or (image.ndim == 3 and image.shape[2] not in (1, 3, 4)):
        raise ValueError(f"[recordio] an image of shape {image.shape}, {image.dtype}; accepted without OpenCV (the package cv2) are "
                         "(height, width) and 1, 3 or 4 channels of uint8")
    quality = 0 if quality is None else quality
    if _has_codecs(kind != ".png"):
        from ..ndarray import _internal, array
        pixels = array(image.reshape(image.shape[:2] + (-1,)), dtype="uint8")
        return _internal._cvimencode(pixels, encoding="png" if kind == ".png" else "jpg", quality=quality, to_rgb=False).asnumpy().tobytes()
    import io
    if image.ndim == 3:
        image = image[:, :, 0] if image.shape[2] == 1 else image[:, :, [2, 1, 0, 3][:image.shape[2] if kind == ".png" else 3]]
    stream = io.BytesIO()
    options = {"compress_level": min(max(quality, 0), 9)} if kind == ".png" else {"quality": quality}
    _pillow().fromarray(np.ascontiguousarray(image)).save(stream, "PNG" if kind == ".png" else "JPEG", **options)
    return stream.getvalue()
