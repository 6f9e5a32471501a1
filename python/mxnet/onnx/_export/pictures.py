"""Pictures as (height, width, channels), and windows of attention."""
import numpy as np

from .conversion import is_float
from .draws import uniform
from .shapes import is_static
from .table import converts
from .terms import Term, term

__all__ = []

# Principal components of colours of ImageNet times their deviations (Krizhevsky et al., 2012).
_LIGHTING = np.array([[55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009], [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
                      [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203]])
_MODES = {0: {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
          1: {"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
          2: {"mode": "cubic", "coordinate_transformation_mode": "half_pixel", "cubic_coeff_a": -0.75}}


@converts("_image_resize", "_cvimresize")
def _(c):
    """Channels come first for Resize. Bytes are rounded to the nearest."""
    interp, n = c.params["interp"], c.ndim()
    if interp not in _MODES:
        raise c.unsupported(f"interp {interp}", "0 (nearest), 1 (bilinear), 2 (bicubic)")
    if not all(map(is_static, [*c.dims()[-3:], *c.out_dims()[-3:]])):
        raise c.unsupported("a picture of a free size", "fixed sizes")
    x = c.input_as(0, np.float32)
    x = c.unsqueeze(x, 0) if n == 3 else x
    x = c.transpose(x, [0, 3, 1, 2])
    batch = (1,) if n == 3 else c.dims()[0]
    sizes = c.sizes([batch, c.dims()[-1], *c.out_dims()[-3:-1]])
    if interp == 2:     # ONNX Runtime takes transposes to the other side, where it knows no bicubic
        if not is_static(batch):
            raise c.unsupported("bicubic and a free batch", "a fixed batch, or interp 0 and 1")
        planes, whole = batch[0] * c.shape()[-1], sizes
        x = c.op("Reshape", x, c.ints(planes, 1, *c.shape()[-3:-1]))
        sizes = c.ints(planes, 1, *c.out_shape()[-3:-1])
    x = c.op("Resize", x, None, None, sizes, **_MODES[interp])
    x = c.op("Reshape", x, whole) if interp == 2 else x
    x = c.transpose(x, [0, 2, 3, 1])
    x = c.squeeze(x, 0) if n == 3 else x
    return _stored(c, Term(c, x, np.float32), nearest=True)


def _stored(c, x, nearest=False):
    """`x` in the dtype of the picture: bytes from 0 to 255."""
    if is_float(c.out_dtype()):
        return x.to(c.out_dtype()).name
    x = x.op("Round") if nearest else x
    if np.dtype(c.out_dtype()) == np.uint8:
        x = x.op("Clip", 0, 255)
    return x.to(c.out_dtype()).name


@converts("_cvcopyMakeBorder")
def _(c):
    params = c.params
    if params["type"] not in (0, 1) or params["values"]:
        raise c.unsupported(f"type {params['type']}", "0 with one value, and 1")
    pads = c.ints(params["top"], params["left"], 0, params["bot"], params["right"], 0)
    if params["type"] == 1:
        return c.op("Pad", c[0], pads, mode="edge")
    return c.op("Pad", c[0], pads, c.const(params["value"]))


@converts("_image_adjust_lighting")
def _(c):
    shift = _LIGHTING @ np.array(c.params["alpha"])
    if c.dims()[-1][0] == 1:
        shift = shift[:1]
    return _stored(c, term(c, 0, np.float32) + shift)


def _amount(c):
    low, high = c.params["min_factor"], c.params["max_factor"]
    return low + (high - low) * uniform(c, [(1,)])


@converts("_image_random_brightness")
def _(c):
    return _stored(c, term(c, 0, np.float32) * _amount(c))


@converts("_image_random_contrast")
def _(c):
    x, amount = term(c, 0, np.float32), _amount(c)
    gray = x
    if c.dims()[-1][0] == 3:
        gray = (x * [0.299, 0.587, 0.114]).reduce("Sum", [-1])
    return _stored(c, x * amount + (1 - amount) * gray.reduce("Mean", range(c.ndim())))


for _name, _axis in (("_image_random_flip_left_right", -2), ("_image_random_flip_top_bottom", -3)):
    converts(_name)(lambda c, axis=_axis: _flipped(c, axis))


def _flipped(c, axis):
    turned = c.slice(c[0], c.ndim() + axis, np.iinfo(np.int64).max, np.iinfo(np.int64).min, -1)
    return c.op("Where", (uniform(c, [(1,)]) < c.params["p"]).name, turned, c[0])


# ---- attention within a window of neighbours

def _neighbours(c, dilation):
    """(where each neighbour is, whether it is there): (steps, heads, window)."""
    w = c.params["w"]
    steps, heads, width = c.dims(0)[1][0], c.dims(0)[2][0], w * (2 if c.params["symmetric"] else 1) + 1
    if not all(map(is_static, c.dims(0)[1:3])):
        raise c.unsupported("a free number of steps", "a fixed one")
    by = dilation.unsqueeze(0, 2) * (np.arange(width) - w)
    at = by + np.arange(steps).reshape(-1, 1, 1)
    there = (at >= 0) & (at < steps)
    return there.where(at, 0), there, (steps, heads, width)


def _gathered(c, x, dilation):
    """Rows of the neighbours of (batch, steps, heads, size): (steps, heads, window, batch, size),
    and where there are any."""
    at, there, shape = _neighbours(c, dilation)
    heads = Term(c, c.const(np.broadcast_to(np.arange(shape[1]).reshape(1, -1, 1), shape), np.int64), np.int64)
    places = c.op("Concat", at.unsqueeze(3).name, heads.unsqueeze(3).name, axis=3)
    first = c.transpose(x.name, [1, 2, 0, 3])
    return Term(c, c.op("GatherND", first, places), x.dtype), there


@converts("_contrib_sldwin_atten_score")
def _(c):
    rows, there = _gathered(c, term(c, 1), term(c, 2, np.int64))
    query = Term(c, c.unsqueeze(c.transpose(c[0], [1, 2, 0, 3]), 2), c.dtype())
    scores = (rows * query).reduce("Sum", [-1], False)
    scores = there.unsqueeze(3).where(scores, 0)
    return c.transpose(scores.name, [3, 0, 1, 2])


@converts("_contrib_sldwin_atten_context")
def _(c):
    rows, there = _gathered(c, term(c, 1), term(c, 2, np.int64))
    weights = Term(c, c.unsqueeze(c.transpose(c[0], [1, 2, 3, 0]), 4), c.dtype())
    made = (there.unsqueeze(3, 4).where(weights, 0) * rows).reduce("Sum", [2], False)
    return c.transpose(made.name, [2, 0, 1, 3])


@converts("_contrib_sldwin_atten_mask_like")
def _(c):
    at, there, shape = _neighbours(c, term(c, 1, np.int64))
    limit = term(c, 2, np.float32).unsqueeze(1, 2, 3)
    own = Term(c, c.const(np.arange(shape[0]).reshape(-1, 1, 1), np.float32), np.float32)
    inside = (own < limit) & (at.to(np.float32) < limit)
    return (inside & there).to(c.out_dtype()).name
