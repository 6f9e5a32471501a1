"""Quantized and sparse tensors of PyTorch's files, as arrays of NumPy."""
import numpy as np

from .mapped import check_shape
from .plain_pickle import brief

__all__ = ["PLAIN", "Triplets", "dequantized", "triplets_of"]

# What elements of a quantized tensor are in memory; those that are packed are not among them.
PLAIN = {"quint8": "uint8", "qint8": "int8", "qint32": "int32"}
_PER_TENSOR = "per_tensor_affine"
_PER_CHANNEL = ("per_channel_affine", "per_channel_affine_float_qparams")


def _number(value, what):
    if type(value) not in (int, float):     # pylint: disable=unidiomatic-typecheck
        raise ValueError(f"{what} of a quantized tensor that is {brief(value)}")
    return value


def _scaled(values, zeros, scales):
    """The product is one of float32 numbers, as PyTorch's is."""
    return (values.astype(np.float64) - zeros).astype(np.float32) * scales


def dequantized(values, how):
    """The float32 numbers that integers stand for: scale * (values - zero point). `how` is what the
    file has for a quantizer: (scheme, scale, zero point), or (scheme, scales, zero points, axis)
    with arrays."""
    scheme = how[0] if isinstance(how, tuple) and how else None
    if scheme == _PER_TENSOR and len(how) == 3:
        scale, zero = (_number(n, w) for n, w in zip(how[1:], ("a scale", "a zero point")))
        return _scaled(values, zero, np.float32(scale))
    if scheme not in _PER_CHANNEL or len(how) != 4:
        raise ValueError(f"a quantized tensor of scheme {brief(scheme)}; accepted: {', '.join((_PER_TENSOR, *_PER_CHANNEL))}")
    axis, parts = how[3], [np.asarray(part, np.float64) for part in how[1:3]]
    if type(axis) is not int or not 0 <= axis < values.ndim:        # pylint: disable=unidiomatic-typecheck
        raise ValueError(f"a quantized tensor of {values.ndim} dimensions with channels in {brief(axis)}")
    if any(part.shape != (values.shape[axis],) for part in parts):
        raise ValueError("a quantized tensor with other than one scale and zero point for each channel")
    shape = [-1 if d == axis else 1 for d in range(values.ndim)]
    scales, zeros = (part.reshape(shape) for part in parts)
    return _scaled(values, zeros, scales.astype(np.float32))


class Triplets:
    """Elements of a sparse tensor by place: `indices` (dimensions, count) of the first dimensions
    of `shape`, in order and without repetition, and `values` (count, ...)."""

    def __init__(self, indices, values, shape):
        self.shape = tuple(shape)
        check_shape(self.shape, "a sparse tensor")
        if indices.ndim != 2 or values.ndim < 1 or indices.shape[1] != values.shape[0] \
                or len(indices) + values.ndim - 1 != len(self.shape) or values.shape[1:] != self.shape[len(indices):]:
            raise ValueError(f"a sparse tensor of shape {self.shape} with indices {indices.shape} and values {values.shape}")
        self.sparse = self.shape[:len(indices)]
        ends = np.array(self.sparse).reshape(-1, 1)
        if indices.dtype.kind not in "iu" or (indices < 0).any() or (indices >= ends).any():
            raise ValueError(f"a sparse tensor of shape {self.shape} with indices outside of it")
        places, where = np.unique(np.ravel_multi_index(tuple(indices), self.sparse) if len(indices) else np.zeros(len(values), np.int64),
                                  return_inverse=True)
        self.indices = np.stack(np.unravel_index(places, self.sparse)) if len(indices) else np.zeros((0, len(places)), np.int64)
        self.values = np.zeros((len(places), *values.shape[1:]), values.dtype)
        np.add.at(self.values, where.reshape(-1), values)

    def csr(self):
        """(values, columns, where rows begin) of a matrix."""
        starts = np.searchsorted(self.indices[0], np.arange(self.shape[0] + 1))
        return self.values, self.indices[1], starts

    def dense(self):
        """All elements."""
        found = np.zeros(self.shape, self.values.dtype)
        found[tuple(self.indices)] = self.values
        return found


def _pairs(starts, others, count):
    """(which row or column each element is in, the other one) of compressed forms."""
    if starts.ndim != 1 or others.ndim != 1 or len(starts) != count + 1 or starts.dtype.kind not in "iu":
        raise ValueError("a compressed tensor of a batch, or with other than one place for each row; accepted: matrices")
    if starts[0] != 0 or starts[-1] != len(others) or (np.diff(starts) < 0).any():
        raise ValueError("a compressed tensor whose rows do not follow each other")
    return np.repeat(np.arange(count), np.diff(starts)), others


def triplets_of(layout, parts, shape):
    """Triplets of what the file has for a sparse tensor: `parts` are its arrays."""
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):   # pylint: disable=unidiomatic-typecheck
        raise ValueError(f"a sparse tensor of shape {brief(shape)}")
    if layout == "torch.sparse_coo" and len(parts) == 2:
        return Triplets(*parts, shape)
    kind = layout.removeprefix("torch.sparse_")
    if kind not in ("csr", "csc", "bsr", "bsc") or len(parts) != 3 or len(shape) != 2:
        raise ValueError(f"a sparse tensor of layout {brief(layout)} and shape {brief(shape)}; accepted: sparse_coo, and matrices in "
                         "sparse_csr, sparse_csc, sparse_bsr and sparse_bsc")
    starts, others, values = parts
    block = values.shape[1:] if kind.startswith("b") else (1, 1)
    if len(block) != 2 or 0 in block or any(n % b for n, b in zip(shape, block)) or len(values) != len(others):
        raise ValueError(f"a sparse tensor of shape {shape} with values {values.shape}")
    by_row = kind.endswith("r")
    along, across = _pairs(starts, others, shape[0 if by_row else 1] // block[0 if by_row else 1])
    rows, columns = (along, across) if by_row else (across, along)
    rows = rows.reshape(-1, 1, 1) * block[0] + np.arange(block[0]).reshape(1, -1, 1)
    columns = columns.reshape(-1, 1, 1) * block[1] + np.arange(block[1]).reshape(1, 1, -1)
    rows, columns = np.broadcast_arrays(rows, columns)
    return Triplets(np.stack([rows.reshape(-1), columns.reshape(-1)]), values.reshape(-1), shape)
