# Generated from the operator records by `./dev docs`; do not edit.
from collections.abc import Sequence
from typing import Any, Literal, overload

from .symbol import Symbol
@overload
def adjust_lighting(data: Symbol | None = ..., *, alpha: float | Sequence[float], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Adds the principal components of the colours of ImageNet, times alpha (Krizhevsky, Sutskever,
    Hinton, NIPS 2012).

    alpha: How much of each of the three principal components is added.
    """
@overload
def adjust_lighting(data: Symbol | None, alpha: float | Sequence[float], name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def crop(data: Symbol | None = ..., *, x: int, y: int, width: int, height: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The box of `height` rows and `width` columns whose upper left pixel is (x, y), from (height,
    width, channels) or (images, height, width, channels).

    x: First column.
    y: First row.
    width: Columns of the result, at least 1.
    height: Rows of the result, at least 1.
    """
@overload
def crop(data: Symbol | None, x: int, *, y: int, width: int, height: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def crop(data: Symbol | None, x: int, y: int, *, width: int, height: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def crop(data: Symbol | None, x: int, y: int, width: int, *, height: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def crop(data: Symbol | None, x: int, y: int, width: int, height: int, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def flip_left_right(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The columns of (height, width, channels) in reverse order."""
def flip_top_bottom(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The rows of (height, width, channels) in reverse order."""
def normalize(data: Symbol | None = ..., mean: float | Sequence[float] = ..., std: float | Sequence[float] = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """(data - mean) / std, with one mean and one deviation for all or for each channel of (channels,
    height, width) or (images, channels, height, width).

    mean: What is subtracted: one number, or one per channel.
    std: What is divided by: one number, or one per channel.
    """
@overload
def random_brightness(data: Symbol | None = ..., *, min_factor: float, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Multiplies the image by a number between min_factor and max_factor.

    min_factor: Smallest amount that is drawn.
    max_factor: Largest amount that is drawn.
    """
@overload
def random_brightness(data: Symbol | None, min_factor: float, *, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_brightness(data: Symbol | None, min_factor: float, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_color_jitter(data: Symbol | None = ..., *, brightness: float, contrast: float, saturation: float, hue: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Changes brightness, contrast, saturation and hue in an order that is drawn, each by an amount
    that is drawn.

    brightness: Brightness is multiplied by 1 - brightness to 1 + brightness; 0: not at all.
    contrast: Contrast is multiplied by 1 - contrast to 1 + contrast; 0: not at all.
    saturation: Saturation is multiplied by 1 - saturation to 1 + saturation; 0: not at all.
    hue: The hue is turned by -hue to hue of a full circle; 0: not at all.
    """
@overload
def random_color_jitter(data: Symbol | None, brightness: float, *, contrast: float, saturation: float, hue: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_color_jitter(data: Symbol | None, brightness: float, contrast: float, *, saturation: float, hue: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_color_jitter(data: Symbol | None, brightness: float, contrast: float, saturation: float, *, hue: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_color_jitter(data: Symbol | None, brightness: float, contrast: float, saturation: float, hue: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_contrast(data: Symbol | None = ..., *, min_factor: float, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Multiplies the image's distance from the mean of its gray (0.299 R + 0.587 G + 0.114 B) by a
    number between min_factor and max_factor.

    min_factor: Smallest amount that is drawn.
    max_factor: Largest amount that is drawn.
    """
@overload
def random_contrast(data: Symbol | None, min_factor: float, *, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_contrast(data: Symbol | None, min_factor: float, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_crop(data: Symbol | None = ..., xrange: float | Sequence[float] = ..., yrange: float | Sequence[float] = ..., *, width: int, height: int, interp: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A box of `width` and `height` at a place that is drawn, from (height, width, channels) or
    (images, height, width, channels).

    xrange: From where to where, from 0 to 1, the left edge is drawn.
    yrange: From where to where, from 0 to 1, the upper edge is drawn.
    width: Width of the result.
    height: Height of the result.
    interp: 0: nearest pixel, 1: bilinear, 2: bicubic, 3: mean of the area that a pixel covers, 4:
        Lanczos over 8 pixels, 5: bilinear with one rounding (uint8)
    """
@overload
def random_crop(data: Symbol | None, xrange: float | Sequence[float], yrange: float | Sequence[float], width: int, *, height: int, interp: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_crop(data: Symbol | None, xrange: float | Sequence[float], yrange: float | Sequence[float], width: int, height: int, interp: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def random_flip_left_right(data: Symbol | None = ..., p: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The columns of (height, width, channels) in reverse order with probability p, else the image
    itself.

    p: Probability that the image is flipped.
    """
def random_flip_top_bottom(data: Symbol | None = ..., p: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """The rows of (height, width, channels) in reverse order with probability p, else the image
    itself.

    p: Probability that the image is flipped.
    """
@overload
def random_hue(data: Symbol | None = ..., *, min_factor: float, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Turns the hue by a part of a full circle between min_factor and max_factor.

    min_factor: Smallest amount that is drawn.
    max_factor: Largest amount that is drawn.
    """
@overload
def random_hue(data: Symbol | None, min_factor: float, *, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_hue(data: Symbol | None, min_factor: float, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def random_lighting(data: Symbol | None = ..., alpha_std: float = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Adds the principal components of the colours of ImageNet, times normally distributed amounts
    (Krizhevsky, Sutskever, Hinton, NIPS 2012).

    alpha_std: Standard deviation of the amounts, which are normally distributed around 0.
    """
@overload
def random_resized_crop(data: Symbol | None = ..., xrange: float | Sequence[float] = ..., yrange: float | Sequence[float] = ..., *, width: int, height: int, interp: int = ..., area: float | Sequence[float] = ..., ratio: float | Sequence[float] = ..., max_trial: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """A box whose area, ratio and place are drawn, resized to `width` and `height` (Szegedy et al.,
    CVPR 2015).

    xrange: From where to where, from 0 to 1, the left edge is drawn.
    yrange: From where to where, from 0 to 1, the upper edge is drawn.
    width: Width of the result.
    height: Height of the result.
    interp: 0: nearest pixel, 1: bilinear, 2: bicubic, 3: mean of the area that a pixel covers, 4:
        Lanczos over 8 pixels, 5: bilinear with one rounding (uint8)
    area: From where to where the box's part of the area is drawn.
    ratio: From where to where the box's width / height is drawn.
    max_trial: Draws before the largest box in the middle is taken.
    """
@overload
def random_resized_crop(data: Symbol | None, xrange: float | Sequence[float], yrange: float | Sequence[float], width: int, *, height: int, interp: int = ..., area: float | Sequence[float] = ..., ratio: float | Sequence[float] = ..., max_trial: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_resized_crop(data: Symbol | None, xrange: float | Sequence[float], yrange: float | Sequence[float], width: int, height: int, interp: int = ..., area: float | Sequence[float] = ..., ratio: float | Sequence[float] = ..., max_trial: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_saturation(data: Symbol | None = ..., *, min_factor: float, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """data * f + (1 - f) * 0.114 * B, with f between min_factor and max_factor. So it was in 1.9.1,
    although the gray of a pixel has red and green in it; mx.image.SaturationJitterAug has them.

    min_factor: Smallest amount that is drawn.
    max_factor: Largest amount that is drawn.
    """
@overload
def random_saturation(data: Symbol | None, min_factor: float, *, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
@overload
def random_saturation(data: Symbol | None, min_factor: float, max_factor: float, name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol: ...
def resize(data: Symbol | None = ..., size: int | Sequence[int] = ..., keep_ratio: bool = ..., interp: int = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """Resizes (height, width, channels) or (images, height, width, channels) to `size`.

    size: (width, height) of the result, or one number for both.
    keep_ratio: With one number as size: the shorter side becomes that long, and the other one in
        proportion.
    interp: 0: nearest pixel, 1: bilinear, 2: bicubic, 3: mean of the area that a pixel covers, 4:
        Lanczos over 8 pixels, 5: bilinear with one rounding (uint8)
    """
def to_tensor(data: Symbol | None = ..., name: str | None = ..., attr: dict[str, str] | None = ..., out: None = ..., ctx_group: object = ..., lr_mult: object = ..., wd_mult: object = ..., force_mirroring: object = ..., mirror_stage: object = ...) -> Symbol:
    """From (height, width, channels) of numbers from 0 to 255 to (channels, height, width) of
    float32 from 0 to 1; also with a dimension of images in front.
    """
