"""Layers of LSTM, GRU and plain recurrent cells."""
import numpy as np

from .shapes import Value
from .table import converts

__all__ = []

# Gates as ONNX orders them: places among those of MXNet.
_GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_relu": (0,), "rnn_tanh": (0,)}
_KINDS = {"lstm": "LSTM", "gru": "GRU", "rnn_relu": "RNN", "rnn_tanh": "RNN"}


class _Weights:
    """The parameters of all layers, cut out of their one array: arrays of NumPy where they are
    known, else names of what the graph computes."""

    def __init__(self, c, width):
        params = c.params
        self._c, self._known, self._place = c, c.constant(1), 0
        if self._known is not None:
            self._known = self._known.ravel()
        self._mode, self._size = params["mode"], params["state_size"]
        self._gates = _GATES[self._mode]
        self._directions = 2 if params["bidirectional"] else 1
        self._layers = params["num_layers"]
        rows = len(self._gates) * self._size
        self.kernels, self.biases = [], []
        projected = params.get("projection_size")
        out = projected or self._size
        for layer in range(self._layers):
            below = width if layer == 0 else out * self._directions
            self.kernels.append([(self._take((rows, below)), self._take((rows, out)),
                                  *([self._cut((projected, self._size))] if projected else []))
                                 for _ in range(self._directions)])
        for layer in range(self._layers):
            self.biases.append([(self._take((rows,)), self._take((rows,)))
                                for _ in range(self._directions)])

    def _cut(self, shape):
        """The next numbers."""
        begin, self._place = self._place, self._place + int(np.prod(shape))
        if self._known is not None:
            return self._known[begin:self._place].reshape(shape)
        return self._c.op("Reshape", self._c.slice(self._c[1], 0, begin, self._place),
                          self._c.ints(*shape))

    def _take(self, shape):
        """The next numbers, with the gates in ONNX's order."""
        part = self._cut((len(self._gates), self._size, *shape[1:]))
        if self._known is not None:
            return part[list(self._gates)].reshape(shape)
        part = self._c.op("Gather", part, self._c.ints(*self._gates), axis=0)
        return self._c.op("Reshape", part, self._c.ints(*shape))

    def of_layer(self, layer):
        """Names of (W, R, B) of a layer: each with the directions in front."""
        kernels, biases, c = self.kernels[layer], self.biases[layer], self._c
        if self._known is not None:
            return (c.const(np.stack([k[0] for k in kernels])),
                    c.const(np.stack([k[1] for k in kernels])),
                    c.const(np.stack([np.concatenate(b) for b in biases])))

        def stacked(parts):
            parts = [c.unsqueeze(part, 0) for part in parts]
            return parts[0] if len(parts) == 1 else c.op("Concat", *parts, axis=0)
        return (stacked([k[0] for k in kernels]), stacked([k[1] for k in kernels]),
                stacked([c.op("Concat", *b, axis=0) for b in biases]))

    def turned(self, kernel):
        """The name of a kernel whose rows are columns."""
        if self._known is not None:
            return self._c.const(kernel.T)
        return self._c.op("Transpose", kernel, perm=[1, 0])

    def sum(self, biases):
        """The name of the sum of both biases."""
        if self._known is not None:
            return self._c.const(biases[0] + biases[1])
        return self._c.op("Add", *biases)


@converts("RNN")
def _(c):
    params, weights = c.params, _Weights(c, c.shape()[2])
    mode, size = params["mode"], params["state_size"]
    directions = 2 if params["bidirectional"] else 1
    states = 2 if mode == "lstm" else 1
    lengths = None
    if params["use_sequence_length"]:
        lengths = c.input_as(2 + states, np.int32)
    initial = [_by_layer(c, c[2 + i], params["num_layers"], directions) for i in range(states)]
    if params.get("projection_size") or _clips(params):
        return _written_out(c, weights, initial, lengths)
    attrs = {"hidden_size": size, "direction": "bidirectional" if directions == 2 else "forward"}
    if mode == "gru":
        attrs["linear_before_reset"] = 1
    if mode == "rnn_relu":
        attrs["activations"] = ["Relu"] * directions
    x, last = c[0], [[] for _ in range(states)]
    for layer in range(params["num_layers"]):
        w, r, b = weights.of_layer(layer)
        made = c.op(_KINDS[mode], x, w, r, b, lengths,
                    *(part[layer] for part in initial), outputs=1 + states, **attrs)
        x = c.op("Transpose", made[0], perm=[0, 2, 1, 3])      # directions beside each other
        x = c.op("Reshape", x, c.ints(0, 0, directions * size))
        for i in range(states):
            last[i].append(made[1 + i])
    return _results(c, x, last)


def _results(c, x, last):
    results = [x]
    if len(c.outputs) > 1:
        results += [part[0] if len(part) == 1 else c.op("Concat", *part, axis=0) for part in last]
    return results[:len(c.outputs)]


def _by_layer(c, state, layers, directions):
    """The initial states of each layer."""
    if layers == 1:
        return [state]
    return c.op("Split", state, c.ints(*[directions] * layers), outputs=layers, axis=0)


# ---- LSTM with what ONNX's has not: a projection, cell states that are clipped

def _clips(params):
    return params.get("lstm_state_clip_min") is not None and \
        params.get("lstm_state_clip_max") is not None


def _written_out(c, weights, initial, lengths):
    """The layers as loops over the steps."""
    layers = c.params["num_layers"]
    directions = 2 if c.params["bidirectional"] else 1
    x, last, live = c[0], [[], []], None
    if lengths is not None:
        steps = c.op("Range", c.const(0, np.int32), c.op("Squeeze", c.cast(c.size(c.dims()[0]),
                                                                           np.int32)),
                     c.const(1, np.int32))
        live = c.unsqueeze(c.op("Less", c.unsqueeze(steps, 1), lengths), 2)
    for layer in range(layers):
        made = []
        for direction in range(directions):
            kernels, biases = weights.kernels[layer][direction], weights.biases[layer][direction]
            states = [c.slice(part[layer], 0, direction, direction + 1) if directions > 1
                      else part[layer] for part in initial]
            states = [c.squeeze(state, 0) for state in states]
            names = [*map(weights.turned, kernels), weights.sum(biases)]
            hidden, cell, rows = _steps(c, x, states, names, direction, live)
            made.append(rows)
            for part, state in zip(last, (hidden, cell)):
                part.append(c.unsqueeze(state, 0))
        x = made[0] if directions == 1 else c.op("Concat", *made, axis=2)
    return _results(c, x, last)


def _steps(c, x, states, weights, reverse, live):
    """One layer in one direction: the last states, and the rows of all steps. `weights`: names of
    the kernels, turned, and of the bias."""
    *kernels, bias = weights
    params, dtype = c.params, c.dtype()
    batch, size = c.dims()[1], (params["state_size"],) * len(c.dims()[1])
    inner = ((params.get("projection_size") or params["state_size"]),) * len(batch)
    gates = c.op("Add", c.op("MatMul", x, kernels[0]), bias)
    body = c.body()
    hidden = body.input(f"{c.name}_hidden", (batch, inner), dtype)
    cell = body.input(f"{c.name}_cell", (batch, size), dtype)
    row = body.input(f"{c.name}_row", (batch, tuple(4 * s for s in size)), dtype).name
    row = body.op("Add", row, body.op("MatMul", hidden.name, kernels[1]))
    i, o, f, g = (body.op("Slice", row, c.ints(k * size[0]), c.ints((k + 1) * size[0]), c.ints(1))
                  for k in range(4))
    i, o, f, g = (*(body.op("Sigmoid", gate) for gate in (i, o, f)), body.op("Tanh", g))
    state = body.op("Add", body.op("Mul", f, cell.name), body.op("Mul", i, g))
    if _clips(params):
        low, high = (c.const(params[f"lstm_state_clip_{end}"]) for end in ("min", "max"))
        if params["lstm_state_clip_nan"]:
            state = body.op("Where", body.op("IsNaN", state), high, state)
        state = body.op("Clip", state, low, high)
    result = body.op("Mul", o, body.op("Tanh", state))
    if len(kernels) > 2:
        result = body.op("MatMul", result, kernels[2])
    rows = result
    if live is not None:
        counts = body.input(f"{c.name}_counts", (batch, (1,) * len(batch)), np.bool_).name
        rows = body.op("Where", counts, result, c.const(0))
        result = body.op("Where", counts, result, hidden.name)
        state = body.op("Where", counts, state, cell.name)
    graph = body.proto([Value(result, hidden.dims, dtype), Value(state, cell.dims, dtype),
                        Value(rows, hidden.dims, dtype)])
    data = [gates] if live is None else [gates, live]
    return c.op("Scan", *states, *data, outputs=3, body=graph, num_scan_inputs=len(data),
                scan_input_directions=[reverse] * len(data), scan_output_directions=[reverse])
