"""Layers with weights, and normalisations."""
import numpy as np

from ... import _dtypes
from .activations import relu
from .shapes import is_static
from .table import converts

__all__ = ["channels_first", "channels_last", "convolve", "dense", "full", "is_channels_last"]


# ---- channels behind the other axes

def channels_first(c, x, ndim):
    """`x`, which has its channels last, with them in front."""
    return c.transpose(x, [0, ndim - 1, *range(1, ndim - 1)])


def channels_last(c, x, ndim):
    """The other way round."""
    return c.transpose(x, [0, *range(2, ndim), 1])


def is_channels_last(c):
    """Whether the parameter `layout` says so."""
    return (c.params.get("layout") or "NC")[1] != "C"


def full(values, count, default):
    """`values`, or as many defaults."""
    return list(values) if values else [default] * count


def convolve(c, kind, x, weight, bias, **attrs):
    """Conv or ConvTranspose of a layer with the parameters of Convolution."""
    params = c.params
    n = len(params["kernel"])
    pad = full(params["pad"], n, 0) if "pads" not in attrs else None
    last = is_channels_last(c)
    if last:
        x, weight = channels_first(c, x, n + 2), channels_first(c, weight, n + 2)
    attrs = {"pads": attrs.pop("pads", None) or pad * 2, **attrs}
    result = c.op(kind, x, weight, bias, kernel_shape=list(params["kernel"]),
                  strides=full(params["stride"], n, 1), dilations=full(params["dilate"], n, 1),
                  group=params["num_group"], **attrs)
    return channels_last(c, result, n + 2) if last else result


@converts("Convolution", "Convolution_v1")
def _(c):
    bias = None if c.params["no_bias"] or len(c) < 3 else c[2]
    return convolve(c, "Conv", c[0], c[1], bias)


@converts("Deconvolution")
def _(c):
    params, n = c.params, len(c.params["kernel"])
    bias = None if params["no_bias"] or len(c) < 3 else c[2]
    pad, adj = full(params["pad"], n, 0), full(params["adj"], n, 0)
    if params["target_shape"] and any(params["target_shape"]):
        pad, adj = _pads_to_target(c, n)
    return convolve(c, "ConvTranspose", c[0], c[1], bias, pads=pad * 2,
                    output_padding=adj if any(adj) else None)


def _pads_to_target(c, n):
    """Padding and adjustment that make the result have `target_shape`."""
    begin = 1 if is_channels_last(c) else 2
    sizes = c.dims()[begin:begin + n]
    if not all(map(is_static, sizes)):
        raise c.unsupported("target_shape with a free size", "fixed sizes, or pad and adj")
    stride, dilate = full(c.params["stride"], n, 1), full(c.params["dilate"], n, 1)
    pads, adjs = [], []
    for i, target in enumerate(c.params["target_shape"]):
        kernel = (c.params["kernel"][i] - 1) * dilate[i] + 1
        surplus = stride[i] * (sizes[i][0] - 1) + kernel - target
        adjs.append(surplus % 2)
        pads.append((surplus + 1) // 2)
    return pads, adjs


@converts("FullyConnected")
def _(c):
    bias = None if c.params["no_bias"] or len(c) < 3 else c[2]
    return dense(c, c[0], c[1], bias)


def dense(c, x, weight, bias):
    """`x` times the transposed weight, of a layer with the parameters of FullyConnected."""
    ndim = c.ndim()
    if c.params["flatten"] and ndim != 2:
        x, ndim = (c.op("Flatten", x, axis=1) if ndim > 2 else c.unsqueeze(x, 1)), 2
    if ndim == 2:
        return c.op("Gemm", x, weight, bias, transB=1)
    result = c.op("MatMul", x, c.op("Transpose", weight, perm=[1, 0]))
    return result if bias is None else c.op("Add", result, bias)


@converts("Embedding", "_contrib_SparseEmbedding")
def _(c):
    index = c[0] if np.dtype(c.dtype(0)) in (np.int32, np.int64) else c.cast(c[0], np.int64)
    return c.cast_from(c.op("Gather", c[1], index, axis=0), c.dtype(1), c.out_dtype())


@converts("Dropout")
def _(c):
    if c.params["mode"] == "always" and c.params["p"]:
        raise c.unsupported("mode 'always'", "'training', which drops nothing when it predicts")
    return c.op("Identity", c[0])


# ---- normalisation

def batch_norm(c):
    """Scale and shift of each channel, as a layer has them when it predicts."""
    ndim, axis = c.ndim(), c.axis(c.params.get("axis", 1))
    x, dtype = c[0], c.dtype(1)
    gamma = c.const(np.ones(c.shape(1)), dtype) if c.params["fix_gamma"] else c[1]
    x = c.cast_from(x, c.dtype(), dtype)
    order = [a for a in range(ndim) if a != axis]
    order.insert(1, axis)
    x = c.transpose(x, order) if ndim > 1 else c.unsqueeze(x, 0)
    x = c.op("BatchNormalization", x, gamma, c[2], c[3], c[4], epsilon=c.params["eps"],
             momentum=c.params["momentum"])
    x = c.transpose(x, np.argsort(order).tolist()) if ndim > 1 else c.squeeze(x, 0)
    x = c.cast_from(x, dtype, c.dtype())
    if len(c.outputs) == 1:
        return x
    spread = c.op("Sqrt", c.op("Add", c[4], c.const(c.params["eps"], dtype)))
    return [x, c.op("Identity", c[3]), c.op("Reciprocal", spread)]


converts("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm")(batch_norm)


@converts("_contrib_BatchNormWithReLU")
def _(c):
    if len(c.outputs) > 1:
        raise c.unsupported("output_mean_var", "the normalised array alone")
    return relu(c, batch_norm(c))


def _as_float32(c):
    """Input 0 in a dtype that statistics are taken in, and that dtype."""
    dtype = c.dtype() if _dtypes.name(c.dtype()) in ("float32", "float64") else np.float32
    return c.input_as(0, dtype), dtype


@converts("LayerNorm")
def _(c):
    axis = c.axis(c.params["axis"])
    if axis == c.ndim() - 1 and len(c.outputs) == 1 and c.opset >= 17:
        return c.op("LayerNormalization", c[0], c.input_as(1, c.dtype()),
                    c.input_as(2, c.dtype()), axis=-1, epsilon=c.params["eps"])
    x, dtype = _as_float32(c)
    mean = c.reduce("Mean", x, [axis])
    centred = c.op("Sub", x, mean)
    variance = c.reduce("Mean", c.op("Mul", centred, centred), [axis])
    deviation = c.op("Sqrt", c.op("Add", variance, c.const(c.params["eps"], dtype)))
    shape = [1] * c.ndim()
    shape[axis] = c.shape(1)[0]
    scale, shift = (c.reshape(c.input_as(i, dtype), shape) for i in (1, 2))
    x = c.op("Add", c.op("Mul", c.op("Div", centred, deviation), scale), shift)
    results = [c.cast_from(x, dtype, c.out_dtype())]
    for i, statistic in ((1, mean), (2, deviation)):
        if len(c.outputs) > i:
            results.append(c.cast_from(c.reshape(statistic, c.out_dims(i)), dtype, c.out_dtype(i)))
    return results


@converts("InstanceNorm")
def _(c):
    return c.op("InstanceNormalization", c[0], c.input_as(1, c.dtype()), c.input_as(2, c.dtype()),
                epsilon=c.params["eps"])


@converts("GroupNorm")
def _(c):
    """Groups are the channels of an instance normalisation."""
    if len(c.outputs) > 1:
        raise c.unsupported("output_mean_var", "the normalised array alone")
    groups, dtype = c.params["num_groups"], c.dtype()
    x = c.op("Reshape", c[0], c.ints(0, groups, -1))
    one, zero = (c.const(np.full(groups, v), dtype) for v in (1, 0))
    x = c.op("InstanceNormalization", x, one, zero, epsilon=c.params["eps"])
    per_group = c.shape(1)[0] == groups != c.shape()[1]
    ones = [1] if per_group else [1] * (c.ndim() - 2)
    scale, shift = (c.reshape(c.input_as(i, dtype), [c.shape(1)[0], *ones]) for i in (1, 2))
    if not per_group:
        x = c.reshape_out(x)
    x = c.op("Add", c.op("Mul", x, scale), shift)
    return c.reshape_out(x) if per_group else x


@converts("L2Normalization")
def _(c):
    axes = {"instance": range(1, c.ndim()), "channel": [1],
            "spatial": range(2, c.ndim())}[c.params["mode"]]
    squares = c.reduce("Sum", c.op("Mul", c[0], c[0]), axes)
    return c.op("Div", c[0], c.op("Sqrt", c.op("Add", squares, c.const(c.params["eps"]))))


@converts("LRN")
def _(c):
    params = c.params
    return c.op("LRN", c[0], alpha=params["alpha"], beta=params["beta"], bias=params["knorm"],
                size=params["nsize"])


@converts("MakeLoss", "make_loss", "BlockGrad", "_copy", "_copyto", "_np_copy", "_npi_copy",
          "LinearRegressionOutput", "MAERegressionOutput", "SVMOutput", "cast_storage",
          "_contrib_gradientmultiplier", "IdentityAttachKLSparseReg", "_identity_with_attr_like_rhs",
          "_CrossDeviceCopy", "_npi_share_memory", "_to_context")
def _(c):
    """What changes gradients or places alone."""
    return c.op("Identity", c[0])


@converts("Cast", "amp_cast")
def _(c):
    return c.cast(c[0], c.out_dtype())


@converts("amp_multicast")
def _(c):
    return [c.cast_from(c.op("Identity", c[i]), c.dtype(i), c.out_dtype(i))
            for i in range(len(c))]


@converts("_contrib_div_sqrt_dim")
def _(c):
    dim = c.dims()[-1]
    if is_static(dim):
        return c.op("Div", c[0], c.const(dim[0] ** 0.5))
    return c.op("Div", c[0], c.op("Sqrt", c.cast(c.size(dim), c.dtype())))
