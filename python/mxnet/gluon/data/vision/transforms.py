"""Transformations of images: NDArrays (height, width, channels), or (N, height, width, channels).
Each is a block; those with random numbers draw anew for every call."""
import numbers
import random

import numpy as np

from .... import image, ndarray as nd
from ...._arrays.classes import to_class_of
from ...._arrays.tracing import watch as _watch
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential

__all__ = ['Cast', 'CenterCrop', 'Compose', 'CropResize', 'HybridCompose', 'HybridRandomApply', 'Normalize', 'RandomApply',
           'RandomBrightness', 'RandomColorJitter', 'RandomContrast', 'RandomCrop', 'RandomFlipLeftRight', 'RandomFlipTopBottom',
           'RandomGray', 'RandomHue', 'RandomLighting', 'RandomResizedCrop', 'RandomRotation', 'RandomSaturation', 'Resize',
           'Rotate', 'ToTensor']


class Compose(Sequential):
    """Applies transformations one after the other; consecutive hybrid ones run as one compiled
    block. CenterCrop and RandomResizedCrop run by themselves, so that there is no graph for each
    size of image, and `random.seed` decides what is drawn.

    >>> steps = mx.gluon.data.vision.transforms
    >>> prepare = steps.Compose([steps.Resize(20), steps.ToTensor()])
    >>> prepare(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (3, 20, 20)
    """

    def __init__(self, transforms):
        super().__init__()
        run = []
        for transform in list(transforms) + [None]:
            if isinstance(transform, HybridBlock) and not isinstance(transform, _Crop):
                run.append(transform)
                continue
            if len(run) == 1:
                self.add(run[0])
            elif run:
                together = HybridSequential()
                together.add(*run)
                together.hybridize()
                self.add(together)
            run = []
            if transform is not None:
                self.add(transform)


class Cast(HybridBlock):
    """Converts to `dtype`.

    >>> mx.gluon.data.vision.transforms.Cast('float16')(mx.nd.ones((4, 6, 3))).dtype.__name__
    'float16'
    """

    def __init__(self, dtype='float32'):
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F, x):
        return F.cast(x, self._dtype)


class ToTensor(HybridBlock):
    """(H, W, C) of [0, 255] to (C, H, W) of float32 in [0, 1]; also (N, H, W, C).

    >>> pixel = mx.nd.array([[[255, 51, 0]]], dtype='uint8')
    >>> mx.gluon.data.vision.transforms.ToTensor()(pixel).asnumpy().ravel()
    array([1. , 0.2, 0. ], dtype=float32)
    """

    def hybrid_forward(self, F, x):
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """(x - mean) / std for each channel of (C, H, W) or (N, C, H, W); `mean` and `std` are numbers
    or one per channel.

    >>> normalize = mx.gluon.data.vision.transforms.Normalize(mean=(0.5, 0, 1), std=(0.5, 1, 2))
    >>> normalize(mx.nd.ones((3, 1, 1))).asnumpy().ravel()
    array([1., 1., 0.], dtype=float32)
    """

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        mean, std = (tuple(v) if isinstance(v, (tuple, list)) else (v,) for v in (mean, std))
        channels = max(len(mean), len(std))
        assert len(mean) in (1, channels) and len(std) in (1, channels), (
            f'[transforms.Normalize] {len(mean)} means and {len(std)} deviations given; one or as many of both are accepted')
        self._mean, self._std = mean, std

    def hybrid_forward(self, F, x):
        return F.image.normalize(x, self._mean, self._std)


class Resize(HybridBlock):
    """Resizes (H, W, C) or (N, H, W, C) to `size`: (width, height), or one number for both, or with
    `keep_ratio` for the shorter side. `interpolation` is 0 (nearest) to 4, as in
    `mx.image.imresize`.

    >>> picture = mx.nd.zeros((40, 60, 3), dtype='uint8')
    >>> mx.gluon.data.vision.transforms.Resize((30, 10))(picture).shape
    (10, 30, 3)
    >>> mx.gluon.data.vision.transforms.Resize(20, keep_ratio=True)(picture).shape
    (20, 30, 3)
    """

    def __init__(self, size, keep_ratio=False, interpolation=1):
        super().__init__()
        self._size, self._keep_ratio, self._interpolation = size, keep_ratio, interpolation

    def hybrid_forward(self, F, x):
        return F.image.resize(x, self._size, self._keep_ratio, self._interpolation)


class CropResize(HybridBlock):
    """The box of `width` and `height` at column `x` and row `y` of (H, W, C) or (N, H, W, C),
    resized to `size` (width, height) if that is given.

    >>> crop = mx.gluon.data.vision.transforms.CropResize(5, 10, 30, 20, size=(8, 8))
    >>> crop(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (8, 8, 3)
    """

    def __init__(self, x, y, width, height, size=None, interpolation=None):
        super().__init__()
        self._box = (x, y, width, height)
        self._size, self._interpolation = size, 1 if interpolation is None else interpolation

    def hybrid_forward(self, F, x):
        out = F.image.crop(x, *self._box)
        return F.image.resize(out, self._size, False, self._interpolation) if self._size else out


def _pair(size):
    """(width, height), of one number or both."""
    return (size, size) if isinstance(size, numbers.Number) else tuple(size)


class _Crop(HybridBlock):
    """A box of (H, W, C), or of each of (N, H, W, C), by a function of `mx.image`; in a graph by an
    operator, with mx.random's numbers and one box for all of a batch."""

    def _of_image(self, one):
        raise NotImplementedError

    def _in_graph(self, F, x):
        raise NotImplementedError

    def hybrid_forward(self, F, x):
        if F is not nd or _watch.on:
            return self._in_graph(F, x)
        return nd.stack(*[self._of_image(one) for one in x]) if x.ndim == 4 else self._of_image(x)


class CenterCrop(_Crop):
    """The middle of (H, W, C) or (N, H, W, C), `size` (width, height) large; of images that are
    smaller, the largest part of that ratio, resized.

    >>> crop = mx.gluon.data.vision.transforms.CenterCrop((30, 10))
    >>> crop(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (10, 30, 3)
    """

    def __init__(self, size, interpolation=1):
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation

    def _of_image(self, one):
        return image.center_crop(one, self._size, self._interpolation)[0]

    def _in_graph(self, F, x):
        return F.image.random_crop(x, (0.5, 0.5), (0.5, 0.5), *self._size, self._interpolation)


class RandomResizedCrop(_Crop):
    """A part of (H, W, C), or of each of (N, H, W, C), whose area is `scale` (smallest, largest) of
    the image's, and whose width / height is between the numbers of `ratio`, resized to `size`
    (width, height).

    >>> crop = mx.gluon.data.vision.transforms.RandomResizedCrop(20)
    >>> crop(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (20, 20, 3)
    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=1):
        super().__init__()
        scale = (scale, 1.0) if isinstance(scale, numbers.Number) else scale
        self._args = (_pair(size), scale, ratio, interpolation)

    def _of_image(self, one):
        return image.random_size_crop(one, *self._args)[0]

    def _in_graph(self, F, x):
        (width, height), scale, ratio, interpolation = self._args
        return F.image.random_resized_crop(x, width=width, height=height, area=scale, ratio=ratio, interp=interpolation)


class RandomCrop(HybridBlock):
    """A part of (H, W, C) or (N, H, W, C) at a random place, `size` (width, height) large; images
    that are smaller are resized. `pad`: so many pixels of `pad_value` are put around the image
    (H, W, C) first, one number or (top, bottom, left, right).

    >>> crop = mx.gluon.data.vision.transforms.RandomCrop(20, pad=4)
    >>> crop(mx.nd.zeros((40, 60, 3), dtype='uint8')).shape
    (20, 20, 3)
    """

    def __init__(self, size, pad=None, pad_value=0, interpolation=1):
        super().__init__()
        self._size, self._interpolation, self._pad_value = _pair(size), interpolation, pad_value
        self._pad = (pad,) * 4 if isinstance(pad, numbers.Number) else pad
        assert not self._pad or len(self._pad) == 4, (
            f'[transforms.RandomCrop] pad={pad}; accepted are one number or (top, bottom, left, right)')

    def hybrid_forward(self, F, x):
        if self._pad:
            x = F._internal._cvcopyMakeBorder(x, *self._pad, type=0, value=self._pad_value)
        return F.image.random_crop(x, (0, 1), (0, 1), *self._size, self._interpolation)


class _Flip(HybridBlock):
    """One operator for the share `p` of the images."""

    _operator = None
    _options = {}       # of those that 1.9.1 pickled

    def __init__(self, p=0.5, **kwargs):
        super().__init__(**kwargs)
        self._options = {} if p == 0.5 else {"p": p}

    def hybrid_forward(self, F, x):
        return getattr(F.image, self._operator)(x, **self._options)


class RandomFlipLeftRight(_Flip):
    """The columns of (H, W, C) in reverse order, for half of the images, or the share `p` of them.

    >>> flip = mx.gluon.data.vision.transforms.RandomFlipLeftRight()
    >>> sorted(flip(mx.nd.array([[[1], [2]]])).asnumpy().ravel().tolist())
    [1.0, 2.0]
    """

    _operator = 'random_flip_left_right'


class RandomFlipTopBottom(_Flip):
    """The rows of (H, W, C) in reverse order, for half of the images, or the share `p` of them.

    >>> flip = mx.gluon.data.vision.transforms.RandomFlipTopBottom()
    >>> flip(mx.nd.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    _operator = 'random_flip_top_bottom'


class _Amount(HybridBlock):
    """One operator with an amount between 1 - amount (at least 0) and 1 + amount."""

    _operator = None

    def __init__(self, amount):
        super().__init__()
        self._args = (max(0, 1 - amount), 1 + amount)

    def hybrid_forward(self, F, x):
        return getattr(F.image, self._operator)(x, *self._args)


class RandomBrightness(_Amount):
    """Multiplies (H, W, C) by 1 - `brightness` to 1 + `brightness`.

    >>> mx.gluon.data.vision.transforms.RandomBrightness(0.3)(mx.nd.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    _operator = 'random_brightness'

    def __init__(self, brightness):
        super().__init__(brightness)


class RandomContrast(_Amount):
    """Multiplies the contrast of (H, W, C) by 1 - `contrast` to 1 + `contrast`.

    >>> mx.gluon.data.vision.transforms.RandomContrast(0.3)(mx.nd.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    _operator = 'random_contrast'

    def __init__(self, contrast):
        super().__init__(contrast)


class RandomSaturation(_Amount):
    """Multiplies the saturation of (H, W, C) by 1 - `saturation` to 1 + `saturation`.

    >>> mx.gluon.data.vision.transforms.RandomSaturation(0.3)(mx.nd.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    _operator = 'random_saturation'

    def __init__(self, saturation):
        super().__init__(saturation)


class RandomHue(_Amount):
    """Turns the hue of (H, W, C) by up to `hue` of a full circle in either direction.

    >>> mx.gluon.data.vision.transforms.RandomHue(0.1)(mx.nd.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    _operator = 'random_hue'

    def __init__(self, hue):
        super().__init__(hue)


class RandomColorJitter(HybridBlock):
    """Changes brightness, contrast, saturation and hue of (H, W, C) by up to these amounts, in an
    order that is drawn.

    >>> jitter = mx.gluon.data.vision.transforms.RandomColorJitter(0.3, 0.3, 0.3, 0.1)
    >>> jitter(mx.nd.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F, x):
        return F.image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """Adds the principal components of colours times amounts of standard deviation `alpha` to (H,
    W, C).

    >>> mx.gluon.data.vision.transforms.RandomLighting(0.1)(mx.nd.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(self, alpha):
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.image.random_lighting(x, self._alpha)


def _like(made, x):
    """An array, or a symbol, that was `made`, as one of the class of `x`."""
    return to_class_of(made, x) if isinstance(x, nd.NDArray) else made


def _choose(F, p, new, old):
    """`new` with probability `p`, else `old`, which has its shape and dtype."""
    draw = F.cast(_like(F.random.uniform(shape=(1,)), old) < p, 'float32')
    return F.where(F.reshape_like(F.broadcast_like(draw, F.reshape(new, shape=(-1,))), new), new, old)


class RandomGray(HybridBlock):
    """Gray in all channels of (H, W, C) or (N, H, W, C), with probability `p`; float32.

    >>> gray = mx.gluon.data.vision.transforms.RandomGray(p=1)
    >>> gray(mx.nd.array([[[100, 0, 0]]])).asnumpy().ravel().round(1)
    array([21., 21., 21.], dtype=float32)
    """

    def __init__(self, p=0.5):
        super().__init__()
        self._p = p

    def hybrid_forward(self, F, x):
        x = F.cast(x, 'float32')
        weights = F.concat(*[_like(F.full((3, 1), w), x) for w in (0.21, 0.72, 0.07)], dim=1)   # of red, green, blue
        return _choose(F, self._p, F.dot(x, F.transpose(weights)), x)


class Rotate(Block):
    """Turns (C, H, W) or (N, C, H, W) of float32 by some degrees. `zoom_in` enlarges until nothing
    from outside is seen, `zoom_out` shrinks until all of the image is.

    >>> mx.gluon.data.vision.transforms.Rotate(90)(mx.nd.ones((3, 8, 8))).shape
    (3, 8, 8)
    """

    def __init__(self, rotation_degrees, zoom_in=False, zoom_out=False):
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x):
        _need_float32(self, x)
        return image.imrotate(x, *self._args)


class RandomRotation(Block):
    """As `Rotate`, by degrees between the two `angle_limits`, for a part `rotate_with_proba` of
    the images.

    >>> mx.gluon.data.vision.transforms.RandomRotation((-10, 10))(mx.nd.ones((3, 8, 8))).shape
    (3, 8, 8)
    """

    def __init__(self, angle_limits, zoom_in=False, zoom_out=False, rotate_with_proba=1.0):
        super().__init__()
        low, high = angle_limits
        if low >= high:
            raise ValueError(f'[RandomRotation] angle_limits={angle_limits}; accepted are two numbers in ascending order')
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(f'[RandomRotation] rotate_with_proba={rotate_with_proba}; accepted are 0 to 1')
        self._args, self._probability = (angle_limits, zoom_in, zoom_out), rotate_with_proba

    def forward(self, x):
        if random.random() > self._probability:
            return x
        _need_float32(self, x)
        return image.random_rotate(x, *self._args)


def _need_float32(block, x):
    if np.dtype(x.dtype) != np.float32:
        raise TypeError(f'[{type(block).__name__}] the image is {np.dtype(x.dtype).name}; accepted is float32, as ToTensor gives it')


class RandomApply(Sequential):
    """Applies one transformation with probability `p`.

    >>> steps = mx.gluon.data.vision.transforms
    >>> steps.RandomApply(steps.Cast('float16'), p=1.0)(mx.nd.ones((4, 6, 3))).dtype.__name__
    'float16'
    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x):
        return self.transforms(x) if random.random() < self.p else x


class HybridCompose(HybridSequential):
    """Applies hybrid transformations one after the other, as one compiled block.

    >>> steps = mx.gluon.data.vision.transforms
    >>> prepare = steps.HybridCompose([steps.ToTensor(), steps.Normalize(0.5, 0.5)])
    >>> prepare(mx.nd.zeros((4, 6, 3), dtype='uint8')).shape
    (3, 4, 6)
    """

    def __init__(self, transforms):
        super().__init__()
        for transform in transforms:
            if not isinstance(transform, HybridBlock):
                raise ValueError(f'[HybridCompose] {transform!r} is no HybridBlock; Compose takes any')
            self.add(transform)
        self.hybridize()


class HybridRandomApply(HybridSequential):
    """Applies one hybrid transformation, which keeps shape and dtype, with probability `p`.

    >>> steps = mx.gluon.data.vision.transforms
    >>> steps.HybridRandomApply(steps.RandomBrightness(0.3), p=0.5)(mx.nd.ones((4, 6, 3))).shape
    (4, 6, 3)
    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        assert isinstance(transforms, HybridBlock), f'[HybridRandomApply] {transforms!r} is no HybridBlock; RandomApply takes any'
        self.transforms, self.p = transforms, p

    def hybrid_forward(self, F, x, *args):
        return _choose(F, self.p, self.transforms(x), x)
