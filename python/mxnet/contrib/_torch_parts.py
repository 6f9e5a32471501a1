"""Parameters that PyTorch keeps in parts: of weight_norm, spectral_norm and pruning."""
import re

from .. import ndarray as nd
from ..base import MXNetError, error_class

__all__ = ["joined_parts"]


def _error(what):
    return error_class(MXNetError, ValueError)("[contrib.torch.load_into] " + what)


def _of_length(direction, length):
    """weight_norm: one length for each slice, or one for all (``dim=None``)."""
    if length.ndim == 0 or length.shape == (1,):
        length = length.as_nd_ndarray().reshape((1,) * direction.ndim)
    if direction.ndim != length.ndim:
        raise _error(f"a direction of shape {direction.shape} and a length of shape {length.shape}; accepted: as many dimensions")
    v, g = direction.as_nd_ndarray().astype("float32"), length.as_nd_ndarray().astype("float32")
    axes = tuple(i for i, size in enumerate(g.shape) if size == 1)
    norm = nd.sqrt(nd.sum(nd.square(v), axis=axes, keepdims=True)) if axes else nd.abs(v)
    return nd.broadcast_mul(v, nd.broadcast_div(g, norm)).astype(direction.dtype)


def _of_spectrum(weight, left, right):
    """spectral_norm: the weight through its largest singular value, which is left * weight * right
    as the training left them. Rows of the matrix are those of the first dimension, and of the
    second in transposed convolutions: of two that fit, those that `left` belongs to."""
    w, u, v = (part.as_nd_ndarray().astype("float32") for part in (weight, left, right))
    best = None
    for axis in range(min(2, w.ndim)):
        if u.shape != (w.shape[axis],) or u.size * v.size != w.size:
            continue
        rows = nd.moveaxis(w, axis, 0).reshape((u.size, -1))
        product = nd.dot(rows, v.reshape((-1,)))
        value = nd.sum(u * product)
        off = nd.norm(product - u * value).asscalar()
        if best is None or off < best[0]:
            best = off, value
    if best is None:
        raise _error(f"a weight of shape {weight.shape} with singular vectors of shapes {left.shape} and {right.shape}; accepted: "
                     "one of as many elements as rows, and one of as many as columns")
    return nd.broadcast_div(w, best[1].reshape((1,) * w.ndim)).astype(weight.dtype)


def _pruned(weight, mask):
    if weight.shape != mask.shape:
        raise _error(f"a weight of shape {weight.shape} with a mask of shape {mask.shape}; accepted: the same shape")
    return weight.as_nd_ndarray() * mask.as_nd_ndarray().astype(weight.dtype)


# How the parts of a parameter are called, as PyTorch 2 and older versions do: the one that has its
# shape, the others, and what joins them.
_SCHEMES = (("parametrizations.{}.original1", ("parametrizations.{}.original0",), _of_length),
            ("{}_v", ("{}_g",), _of_length),
            ("parametrizations.{}.original", ("parametrizations.{}.0._u", "parametrizations.{}.0._v"), _of_spectrum),
            ("{}_orig", ("{}_u", "{}_v"), _of_spectrum),
            ("{}_orig", ("{}_mask",), _pruned))
_SCHEMES = tuple((re.compile(r"((?:.*\.)?)" + re.escape(main).replace(r"\{\}", r"(\w+)")), others, join)
                 for main, others, join in _SCHEMES)


def joined_parts(weights, expected):
    """The weights with one array in the place of the parts of a parameter, where the block does not
    have the parts themselves (`expected` are its names)."""
    joined, left_out = {}, set()
    for name in weights:
        for main, others, join in _SCHEMES:
            found = main.fullmatch(name)
            if not found or name in expected:
                continue
            whole, others = found[1] + found[2], [found[1] + other.format(found[2]) for other in others]
            if whole not in weights and name not in joined and all(other in weights for other in others):
                joined[name] = whole, [name, *others], join
                left_out.update(others)
    found = {}
    for name, array in weights.items():
        if name in joined:
            whole, parts, join = joined[name]
            found[whole] = join(*(weights[part] for part in parts))
        elif name not in left_out:
            found[name] = array
    return found
