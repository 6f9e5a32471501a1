"""Transformations of images: NDArrays (height, width, channels), or (N, height, width, channels) where the operator takes batches.

Each is a block; those on random numbers draw anew for every call.
"""
import random

from .... import image
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential

__all__ = ['Compose', 'Cast', 'ToTensor', 'Normalize', 'RandomResizedCrop', 'CropResize', 'CenterCrop', 'Resize', 'RandomFlipLeftRight',
           'RandomFlipTopBottom', 'RandomBrightness', 'RandomContrast', 'RandomSaturation', 'RandomHue', 'RandomColorJitter',
           'RandomLighting', 'RandomApply']


def _pair(size):
    """(width, height) of a number or a pair."""
    return (size, size) if isinstance(size, int) else tuple(size)


class Compose(Sequential):
    """Applies transformations one after the other; consecutive hybrid ones run as one compiled block."""

    def __init__(self, transforms):
        super().__init__()
        run = []
        for transform in list(transforms) + [None]:
            if isinstance(transform, HybridBlock):
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
    """Converts to `dtype`."""

    def __init__(self, dtype='float32'):
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F, x):
        return F.cast(x, self._dtype)


class ToTensor(HybridBlock):
    """(H, W, C) of [0, 255] to (C, H, W) of float32 in [0, 1]; also (N, H, W, C)."""

    def hybrid_forward(self, F, x):
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """(x - mean) / std for each channel of (C, H, W) or (N, C, H, W); `mean` and `std` are numbers or one per channel."""

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F, x):
        return F.image.normalize(x, self._mean, self._std)


class RandomResizedCrop(Block):
    """Cuts out a part of random area (`scale`, relative) and aspect ratio (`ratio`) and resizes it to `size`."""

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3. / 4., 4. / 3.), interpolation=1):
        super().__init__()
        self._args = (_pair(size), scale if isinstance(scale, (tuple, list)) else (scale, 1.0), ratio, interpolation)

    def forward(self, x):
        return image.random_size_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """Cuts out `width` x `height` pixels from (x, y) and resizes them when `size` is given."""

    def __init__(self, x, y, width, height, size=None, interpolation=None):
        super().__init__()
        self._crop = {'x': x, 'y': y, 'width': width, 'height': height}
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F, x):
        out = F.image.crop(x, **self._crop)
        if self._size:
            out = F.image.resize(out, self._size, False, 1 if self._interpolation is None else self._interpolation)
        return out


class CenterCrop(Block):
    """Cuts `size` (a number, or width and height) out of the middle, enlarging images that are smaller."""

    def __init__(self, size, interpolation=1):
        super().__init__()
        self._args = (_pair(size), interpolation)

    def forward(self, x):
        return image.center_crop(x, *self._args)[0]


class Resize(HybridBlock):
    """Resizes to `size` (a number, or width and height); with `keep_ratio` and a number, the shorter side becomes `size`."""

    def __init__(self, size, keep_ratio=False, interpolation=1):
        super().__init__()
        self._size = size
        self._keep = keep_ratio
        self._interpolation = interpolation

    def hybrid_forward(self, F, x):
        return F.image.resize(x, self._size, self._keep, self._interpolation)


class RandomFlipLeftRight(HybridBlock):
    """Mirrors left and right with probability 1/2."""

    def hybrid_forward(self, F, x):
        return F.image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Mirrors top and bottom with probability 1/2."""

    def hybrid_forward(self, F, x):
        return F.image.random_flip_top_bottom(x)


def _range(amount):
    return max(0, 1 - amount), 1 + amount


class RandomBrightness(HybridBlock):
    """Multiplies by a factor from [max(0, 1 - brightness), 1 + brightness]."""

    def __init__(self, brightness):
        super().__init__()
        self._args = _range(brightness)

    def hybrid_forward(self, F, x):
        return F.image.random_brightness(x, *self._args)


class RandomContrast(HybridBlock):
    """Moves away from or towards the mean grey by a factor from [max(0, 1 - contrast), 1 + contrast]."""

    def __init__(self, contrast):
        super().__init__()
        self._args = _range(contrast)

    def hybrid_forward(self, F, x):
        return F.image.random_contrast(x, *self._args)


class RandomSaturation(HybridBlock):
    """Moves away from or towards the grey image by a factor from [max(0, 1 - saturation), 1 + saturation]."""

    def __init__(self, saturation):
        super().__init__()
        self._args = _range(saturation)

    def hybrid_forward(self, F, x):
        return F.image.random_saturation(x, *self._args)


class RandomHue(HybridBlock):
    """Turns the hue by an amount from [max(0, 1 - hue), 1 + hue]."""

    def __init__(self, hue):
        super().__init__()
        self._args = _range(hue)

    def hybrid_forward(self, F, x):
        return F.image.random_hue(x, *self._args)


class RandomColorJitter(HybridBlock):
    """RandomBrightness, RandomContrast, RandomSaturation and RandomHue in random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F, x):
        return F.image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """AlexNet's noise along the principal components of colours; `alpha` is its standard deviation."""

    def __init__(self, alpha):
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.image.random_lighting(x, self._alpha)


class RandomApply(Sequential):
    """Applies one transformation with probability `p`."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x):
        return self.transforms(x) if random.random() < self.p else x
