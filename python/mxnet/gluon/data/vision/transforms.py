"""Transformations of images: NDArrays (height, width, channels), or (N, height, width, channels).
Each is a block; those with random numbers draw anew for every call."""
import random

from ...block import HybridBlock
from ...nn import HybridSequential, Sequential

__all__ = ['Compose', 'Cast', 'ToTensor', 'Normalize', 'RandomApply']


class Compose(Sequential):
    """Applies transformations one after the other; consecutive hybrid ones run as one compiled
    block."""

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
        x = F.cast(x, 'float32') / 255
        return F.swapaxes(F.swapaxes(x, dim1=-1, dim2=-3), dim1=-1, dim2=-2)


class Normalize(HybridBlock):
    """(x - mean) / std for each channel of (C, H, W) or (N, C, H, W); `mean` and `std` are numbers
    or one per channel."""

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        mean, std = (tuple(v) if isinstance(v, (tuple, list)) else (v,) for v in (mean, std))
        channels = max(len(mean), len(std))
        assert len(mean) in (1, channels) and len(std) in (1, channels), (
            f'[transforms.Normalize] {len(mean)} means and {len(std)} deviations given; one or as many of both are accepted')
        self._channels = list(zip(mean * (channels // len(mean)), std * (channels // len(std))))

    def hybrid_forward(self, F, x):
        if len(self._channels) == 1:
            mean, std = self._channels[0]
            return (x - mean) / std
        parts = F.split(x, num_outputs=len(self._channels), axis=-3)
        return F.concat(*[(part - mean) / std for part, (mean, std) in zip(parts, self._channels)], dim=-3)


class RandomApply(Sequential):
    """Applies one transformation with probability `p`."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x):
        return self.transforms(x) if random.random() < self.p else x
