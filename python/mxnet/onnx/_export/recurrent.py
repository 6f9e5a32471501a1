"""Layers of LSTM, GRU and plain recurrent cells."""
import numpy as np

from .shapes import Value
from .table import converts

__all__ = []

# Gates as ONNX orders them: places among those of MXNet.
_GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_relu": (0,), "rnn_tanh": (0,)}
_KINDS = {"lstm": "LSTM", "gru": "GRU", "rnn_relu": "RNN", "rnn_tanh": "RNN"}


class _Weights:
    """The parameters of all layers, cut out of their one array."""

    def __init__(self, c, parameters, width):
        params = c.params
        self._mode, self._size = params["mode"], params["state_size"]
        self._gates = _GATES[self._mode]
        self._directions = 2 if params["bidirectional"] else 1
        self._layers = params["num_layers"]
        self._parameters, self._place = parameters, 0
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
        return self._parameters[begin:self._place].reshape(shape)

    def _take(self, shape):
        """The next numbers, with the gates in ONNX's order."""
        part = self._cut(shape).reshape(len(self._gates), self._size, *shape[1:])
        return part[list(self._gates)].reshape(shape)

    def of_layer(self, layer):
        """(W, R, B) of a layer: each with the directions in front."""
        kernels, biases = self.kernels[layer], self.biases[layer]
        return (np.stack([k[0] for k in kernels]), np.stack([k[1] for k in kernels]),
                np.stack([np.concatenate(b) for b in biases]))


@converts("RNN")
def _(c):
    params, known = c.params, c.constant(1)
    if known is None:
        raise c.unsupported("weights that are computed from inputs", "parameters")
    weights = _Weights(c, known.ravel(), c.shape()[2])
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
        made = c.op(_KINDS[mode], x, c.const(w), c.const(r), c.const(b), lengths,
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
            hidden, cell, rows = _steps(c, x, states, kernels, biases, direction, live)
            made.append(rows)
            for part, state in zip(last, (hidden, cell)):
                part.append(c.unsqueeze(state, 0))
        x = made[0] if directions == 1 else c.op("Concat", *made, axis=2)
    return _results(c, x, last)


def _steps(c, x, states, kernels, biases, reverse, live):
    """One layer in one direction: the last states, and the rows of all steps."""
    params, dtype = c.params, c.dtype()
    batch, size = c.dims()[1], (params["state_size"],) * len(c.dims()[1])
    inner = ((params.get("projection_size") or params["state_size"]),) * len(batch)
    gates = c.op("Add", c.op("MatMul", x, c.const(kernels[0].T)), c.const(biases[0] + biases[1]))
    body = c.body()
    hidden = body.input(f"{c.name}_hidden", (batch, inner), dtype)
    cell = body.input(f"{c.name}_cell", (batch, size), dtype)
    row = body.input(f"{c.name}_row", (batch, tuple(4 * s for s in size)), dtype).name
    row = body.op("Add", row, body.op("MatMul", hidden.name, c.const(kernels[1].T)))
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
        result = body.op("MatMul", result, c.const(kernels[2].T))
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
