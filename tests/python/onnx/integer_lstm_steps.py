"""LSTM layers with weights of 8 bits, step by step in NumPy."""
import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rounded(rows):
    """Rows in 8 bits by their own range: integers less their zero point, and scales."""
    low, high = np.minimum(rows.min(-1), 0), np.maximum(rows.max(-1), 0)
    scale = np.where(high > low, (high - low) / np.float32(255), 1).astype("float32")[..., None]
    zero = np.rint(np.clip(-low[..., None] / scale, 0, 255))
    return np.clip(np.rint(rows / scale) + zero, 0, 255) - zero, scale


def product(rows, weight, scale, zero, rounding):
    numbers, by = rounding(rows)
    return numbers @ (weight.astype("float64") - zero) * by * scale


def reference(x, w, r, ws, wz, rs, rz, b, h, c, lengths=None, reverse=False, rounding=rounded):
    """All results of DynamicQuantizeLSTM in float64; `rounding`: of data and states, as `rounded`
    says."""
    steps, batch, _ = x.shape
    directions, units, _ = r.shape
    y = np.zeros((steps, directions, batch, units))
    last_h, last_c = h.astype("float64").copy(), c.astype("float64").copy()
    for d in range(directions):
        backwards = d == 1 or reverse
        data = product(x, w[d], ws[d], wz[d], rounding) + b[d, :4 * units] + b[d, 4 * units:]
        for t in reversed(range(steps)) if backwards else range(steps):
            gates = data[t] + product(last_h[d].astype("float32"), r[d], rs[d], rz[d], rounding)
            i, o, f, g = np.split(gates, 4, -1)
            cell = sigmoid(f) * last_c[d] + sigmoid(i) * np.tanh(g)
            hidden = sigmoid(o) * np.tanh(cell)
            live = np.ones((batch, 1), bool) if lengths is None else (t < lengths)[:, None]
            last_c[d] = np.where(live, cell, last_c[d])
            last_h[d] = np.where(live, hidden, last_h[d])
            y[t, d] = np.where(live, hidden, 0)
    return y, last_h, last_c
