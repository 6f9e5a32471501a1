"""Augmenters: objects that change an image (height, width, channels), most of them at random."""
import json
import random

import numpy as np

from .. import ndarray as nd
from ..ndarray import NDArray, array
from .._arrays.classes import to_class_of
from ._crop import _get_interp_method, center_crop, color_normalize, numbers_of, random_crop, random_size_crop, resize_short
from ._read import imresize

__all__ = ["Augmenter", "BrightnessJitterAug", "CastAug", "CenterCropAug", "ColorJitterAug", "ColorNormalizeAug",
           "ContrastJitterAug", "CreateAugmenter", "ForceResizeAug", "HorizontalFlipAug", "HueJitterAug", "LightingAug",
           "RandomCropAug", "RandomGrayAug", "RandomOrderAug", "RandomSizedCropAug", "ResizeAug", "SaturationJitterAug",
           "SequentialAug"]

_MEAN, _STD = (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)     # of the images of ImageNet
_GRAY = (0.299, 0.587, 0.114)   # of red, green, blue (ITU-R BT.601)


def _for_json(arguments):
    """The arguments with arrays as lists."""
    arguments = {name: value.asnumpy() if isinstance(value, NDArray) else value for name, value in arguments.items()}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


class Augmenter:
    """Base class: remembers its arguments for `dumps`.

    >>> class Invert(mx.image.Augmenter):
    ...     def __call__(self, src):
    ...         return 255 - src
    >>> Invert()(mx.nd.full((1, 1, 3), 55)).asnumpy()
    array([[[200., 200., 200.]]], dtype=float32)
    """

    def __init__(self, **kwargs):
        self._kwargs = _for_json(kwargs)

    def dumps(self):
        """The class's name in lower case and the arguments, as JSON.

        >>> mx.image.ResizeAug(20).dumps()
        '["resizeaug", {"size": 20, "interp": 2}]'
        """
        return json.dumps([self.__class__.__name__.lower(), self._kwargs])

    def __call__(self, src):
        raise NotImplementedError(f"[{type(self).__name__}] has no __call__")


class SequentialAug(Augmenter):
    """All of a list of augmenters, in its order.

    >>> steps = mx.image.SequentialAug([mx.image.ResizeAug(24), mx.image.CenterCropAug((20, 20))])
    >>> steps(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (20, 20, 3)
    """

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        return [self.__class__.__name__.lower(), [x.dumps() for x in self.ts]]

    def __call__(self, src):
        for aug in self.ts:
            src = aug(src)
        return src


class RandomOrderAug(Augmenter):
    """All of a list of augmenters, in an order that is drawn for each image.

    >>> steps = mx.image.RandomOrderAug([mx.image.CastAug(), mx.image.HorizontalFlipAug(0.5)])
    >>> steps(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (40, 60, 3)
    """

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        return [self.__class__.__name__.lower(), [x.dumps() for x in self.ts]]

    def __call__(self, src):
        random.shuffle(self.ts)
        for aug in self.ts:
            src = aug(src)
        return src


class ResizeAug(Augmenter):
    """Resizes the shorter side to `size`.

    >>> mx.image.ResizeAug(20)(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (20, 30, 3)
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """Resizes to `size` (width, height), whatever the ratio.

    >>> mx.image.ForceResizeAug((20, 10))(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (10, 20, 3)
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        numbers_of("ForceResizeAug", "size", self.size, "(width, height)")
        sizes = (src.shape[0], src.shape[1], self.size[1], self.size[0])
        return imresize(src, *self.size, interp=_get_interp_method(self.interp, sizes))


class RandomCropAug(Augmenter):
    """Crops at a random place, see :func:`random_crop`.

    >>> mx.image.RandomCropAug((20, 20))(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (20, 20, 3)
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Crops a part of random size and ratio, see :func:`random_size_crop`.

    >>> augmenter = mx.image.RandomSizedCropAug((20, 20), area=(0.3, 1), ratio=(0.75, 1.33))
    >>> augmenter(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (20, 20, 3)
    """

    def __init__(self, size, area, ratio, interp=2, **kwargs):
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size = size
        if "min_area" in kwargs:
            import warnings
            warnings.warn("`min_area` is deprecated. Please use `area` instead.", DeprecationWarning)
            area = kwargs.pop("min_area")
        if kwargs:
            raise TypeError(f"[RandomSizedCropAug] unexpected arguments {sorted(kwargs)}")
        self.area, self.ratio, self.interp = area, ratio, interp

    def __call__(self, src):
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(Augmenter):
    """Crops the middle, see :func:`center_crop`.

    >>> mx.image.CenterCropAug((20, 20))(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (20, 20, 3)
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return center_crop(src, self.size, self.interp)[0]


class BrightnessJitterAug(Augmenter):
    """Multiplies by 1 - brightness to 1 + brightness.

    >>> mx.image.BrightnessJitterAug(0.2)(mx.nd.ones((4, 4, 3))).shape
    (4, 4, 3)
    """

    def __init__(self, brightness):
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src):
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Multiplies the distance from the image's mean gray by 1 - contrast to 1 + contrast.

    >>> mx.image.ContrastJitterAug(0.2)(mx.nd.ones((4, 4, 3))).shape
    (4, 4, 3)
    """

    def __init__(self, contrast):
        super().__init__(contrast=contrast)
        self.contrast = contrast
        self.coef = array([[_GRAY]])

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.contrast, self.contrast)
        gray = src * to_class_of(self.coef, src)
        gray = (3.0 * (1.0 - alpha) / gray.size) * nd.sum(gray)
        src *= alpha
        src += gray
        return src


class SaturationJitterAug(Augmenter):
    """Multiplies the distance from each pixel's gray by 1 - saturation to 1 + saturation.

    >>> mx.image.SaturationJitterAug(0.2)(mx.nd.ones((4, 4, 3))).shape
    (4, 4, 3)
    """

    def __init__(self, saturation):
        super().__init__(saturation=saturation)
        self.saturation = saturation
        self.coef = array([[_GRAY]])

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.saturation, self.saturation)
        gray = nd.sum(src * to_class_of(self.coef, src), axis=2, keepdims=True)
        gray *= 1.0 - alpha
        src *= alpha
        src += gray
        return src


class HueJitterAug(Augmenter):
    """Turns the chroma (I and Q of the YIQ space) by up to `hue` half turns.

    >>> mx.image.HueJitterAug(0.2)(mx.nd.ones((4, 4, 3))).shape
    (4, 4, 3)
    """

    def __init__(self, hue):
        super().__init__(hue=hue)
        self.hue = hue
        self.tyiq = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
        self.ityiq = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    def __call__(self, src):
        angle = random.uniform(-self.hue, self.hue) * np.pi
        cos, sin = np.cos(angle), np.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])
        return nd.dot(src, to_class_of(array((self.ityiq @ turn @ self.tyiq).T), src))


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation, in an order that is drawn.

    >>> mx.image.ColorJitterAug(0.2, 0.2, 0.2)(mx.nd.ones((4, 4, 3))).shape
    (4, 4, 3)
    """

    def __init__(self, brightness, contrast, saturation):
        amounts = ((brightness, BrightnessJitterAug), (contrast, ContrastJitterAug), (saturation, SaturationJitterAug))
        super().__init__([kind(amount) for amount, kind in amounts if amount > 0])


class LightingAug(Augmenter):
    """Adds principal components of the colours times normally distributed amounts (Krizhevsky,
    Sutskever, Hinton, NIPS 2012).

    >>> values, vectors = mx.nd.array([55, 5, 1]).asnumpy(), mx.nd.eye(3).asnumpy()
    >>> mx.image.LightingAug(0.1, values, vectors)(mx.nd.ones((4, 4, 3))).shape
    (4, 4, 3)
    """

    def __init__(self, alphastd, eigval, eigvec):
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd, self.eigval, self.eigvec = alphastd, eigval, eigvec

    def __call__(self, src):
        alpha = np.random.normal(0, self.alphastd, size=(3,))
        src += to_class_of(array(np.dot(self.eigvec * alpha, self.eigval)), src)
        return src


class ColorNormalizeAug(Augmenter):
    """Subtracts means and divides by deviations, see :func:`color_normalize`.

    >>> mean, std = mx.nd.array([50, 100, 150]), mx.nd.array([10, 10, 10])
    >>> mx.image.ColorNormalizeAug(mean, std)(mx.nd.full((1, 1, 3), 100)).asnumpy()
    array([[[ 5.,  0., -5.]]], dtype=float32)
    """

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean = mean if mean is None or isinstance(mean, NDArray) else array(mean)
        self.std = std if std is None or isinstance(std, NDArray) else array(std)

    def __call__(self, src):
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Gray in all channels, with probability `p`.

    >>> mx.image.RandomGrayAug(1.0)(mx.nd.array([[[100, 0, 0]]])).asnumpy().round(1)
    array([[[21., 21., 21.]]], dtype=float32)
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p
        self.mat = array([[0.21, 0.21, 0.21], [0.72, 0.72, 0.72], [0.07, 0.07, 0.07]])

    def __call__(self, src):
        if random.random() < self.p:
            src = nd.dot(src, to_class_of(self.mat, src))
        return src


class HorizontalFlipAug(Augmenter):
    """The columns in reverse order, with probability `p`.

    >>> mx.image.HorizontalFlipAug(1.0)(mx.nd.array([[[1], [2], [3]]])).asnumpy().ravel()
    array([3., 2., 1.], dtype=float32)
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        if random.random() < self.p:
            src = nd.flip(src, axis=1)
        return src


class CastAug(Augmenter):
    """Converts to a dtype.

    >>> mx.image.CastAug()(mx.nd.zeros((2, 2, 3), dtype='uint8')).dtype.__name__
    'float32'
    """

    def __init__(self, typ="float32"):
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src):
        return src.astype(self.typ)


def CreateAugmenter(data_shape, resize=0, rand_crop=False, rand_resize=False, rand_mirror=False, mean=None, std=None, brightness=0,
                    contrast=0, saturation=0, hue=0, pca_noise=0, rand_gray=0, inter_method=2):
    """A list of augmenters as networks for ImageNet are trained with.

    Parameters
    ----------
    data_shape : (channels, height, width) of the result
    resize : the shorter side is resized to this first, unless 0
    rand_crop, rand_resize : a crop at a random place, and of random size
    rand_mirror : left and right are swapped for half of the images
    mean, std : what is subtracted and divided by; True means those of ImageNet
    brightness, contrast, saturation, hue, pca_noise : amounts of jitter
    rand_gray : probability of gray
    inter_method : 0 to 4, 9 or 10, as in `imresize`

    Examples
    --------
    >>> augmenters = mx.image.CreateAugmenter((3, 20, 20), resize=24, rand_mirror=True)
    >>> picture = mx.nd.zeros((40, 60, 3), dtype='uint8')
    >>> for augmenter in augmenters:
    ...     picture = augmenter(picture)
    >>> picture.shape, picture.dtype.__name__
    ((20, 20, 3), 'float32')
    """
    augmenters = []
    if resize > 0:
        augmenters.append(ResizeAug(resize, inter_method))
    numbers_of("CreateAugmenter", "data_shape", data_shape, "(channels, height, width)")
    crop_size = (data_shape[2], data_shape[1])
    if rand_resize:
        assert rand_crop, "[CreateAugmenter] rand_resize=True needs rand_crop=True"
        augmenters.append(RandomSizedCropAug(crop_size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    elif rand_crop:
        augmenters.append(RandomCropAug(crop_size, inter_method))
    else:
        augmenters.append(CenterCropAug(crop_size, inter_method))
    if rand_mirror:
        augmenters.append(HorizontalFlipAug(0.5))
    augmenters.append(CastAug())
    mean, std = array(_MEAN) if mean is True else mean, array(_STD) if std is True else std
    return augmenters + _colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std)


def _colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std):
    """What CreateAugmenter and CreateDetAugmenter do with the values of float32 images."""
    augmenters = []
    if brightness or contrast or saturation:
        augmenters.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        augmenters.append(HueJitterAug(hue))
    if pca_noise > 0:
        values = np.array([55.46, 4.794, 1.148])
        vectors = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
        augmenters.append(LightingAug(pca_noise, values, vectors))
    if rand_gray > 0:
        augmenters.append(RandomGrayAug(rand_gray))
    mean, std = _three(mean, "mean", _MEAN), _three(std, "std", _STD)
    if mean is not None or std is not None:
        augmenters.append(ColorNormalizeAug(mean, std))
    return augmenters


def _three(value, name, usual):
    """One or three numbers, from what the caller was given."""
    if value is True:
        return np.array(usual)
    if value is not None:
        assert isinstance(value, (np.ndarray, NDArray)) and value.shape[0] in (1, 3), (
            f"[image] {name} is {value!r}; accepted are True, None and arrays of 1 or 3 numbers")
    return value
