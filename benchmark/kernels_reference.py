"""What the operators of kernels.py should compute, in NumPy and float64, and how far from it
float32 results may be."""
import itertools
import math

import numpy as np

# Largest error relative to the largest result. Convolutions: Winograd's largest tiles may err by
# 2.6e-5 (docs/winograd.md), all other sums by 2e-6.
TOLERANCE = {"conv": 4e-5, "dense": 5e-6, "batch_dot": 5e-6, "pool": 1e-6, "batch_norm": 1e-5,
             "embedding": 0, "softmax": 2e-6, "layer_norm": 5e-6, "gelu": 2e-6,
             "rnn": 1e-5, "sgd": 1e-6}


def _windows(x, kernel, stride, pad, dilate, fill):
    """(offset in the window, what lies there for every output) of an array whose spatial dimensions
    come last."""
    n = len(kernel)
    x = np.pad(x, [(0, 0)] * (x.ndim - n) + [(p, p) for p in pad], constant_values=fill)
    out = [(s - d * (k - 1) - 1) // t + 1 for s, k, t, d in zip(x.shape[-n:], kernel, stride, dilate)]
    for place in itertools.product(*map(range, kernel)):
        yield place, x[(..., *(slice(p * d, p * d + (o - 1) * t + 1, t) for p, d, o, t in zip(place, dilate, out, stride)))]


def convolution(x, w, stride, pad, dilate, groups):
    """x: (batch, channels, ...), w: (filters, channels of a group, ...)."""
    batch, each = x.shape[0], w.shape[0] // groups
    w = w.reshape(groups, each, *w.shape[1:])
    total = 0
    for place, part in _windows(x, w.shape[3:], stride, pad, dilate, 0):
        space = part.shape[2:]
        part = part.reshape(batch, groups, w.shape[2], -1)
        total = total + np.matmul(w[(slice(None), slice(None), slice(None), *place)], part)
    return total.reshape(batch, groups * each, *space)


def pooling(x, kind, kernel, stride, pad):
    """Averages count the padding."""
    parts = [part for _, part in _windows(x, (kernel,) * 2, (stride,) * 2, (pad,) * 2, (1, 1), -np.inf if kind == "max" else 0)]
    return np.max(parts, axis=0) if kind == "max" else np.mean(parts, axis=0)


def batch_norm(x, head):
    """Training: the output, or with `head` the gradient of relu(output) by x; gamma 1, beta 0."""
    axes = (0, 2, 3)
    deviation = np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    y = (x - x.mean(axes, keepdims=True)) / deviation
    if head is None:
        return y
    g = np.where(y > 0, head, 0)
    return (g - g.mean(axes, keepdims=True) - y * (g * y).mean(axes, keepdims=True)) / deviation


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, gamma, beta):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + beta


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrent(kind, x, input_weight, hidden_weight, input_bias, hidden_bias):
    """One layer from zero states; x: (steps, batch, features). Gates in the order of cuDNN: i f g
    o, or r z n."""
    h = c = np.zeros((x.shape[1], hidden_weight.shape[1]))
    outputs = []
    for a in x @ input_weight.T + input_bias:
        b = h @ hidden_weight.T + hidden_bias
        if kind == "tanh":
            h = np.tanh(a + b)
        elif kind == "gru":
            (ar, az, an), (br, bz, bn) = np.split(a, 3, -1), np.split(b, 3, -1)
            z = _sigmoid(az + bz)
            h = (1 - z) * np.tanh(an + _sigmoid(ar + br) * bn) + z * h
        else:
            i, f, g, o = np.split(a + b, 4, -1)
            c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
            h = _sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs)


def momentum_sgd(weight, gradient, state, rate, decay, momentum):
    """The weight after one step."""
    return weight + momentum * state - rate * (gradient + decay * weight)


def error(actual, expected):
    """Largest error relative to the largest result; infinite where a result is not finite or has
    another shape."""
    if actual.shape != expected.shape or not np.isfinite(actual).all():
        return float("inf")
    return float(np.abs(actual - expected).max() / np.abs(expected).max())
