"""Layers of LSTM, GRU and plain recurrent cells."""
import numpy as np

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
        for layer in range(self._layers):
            below = width if layer == 0 else self._size * self._directions
            self.kernels.append([(self._take((rows, below)), self._take((rows, self._size)))
                                 for _ in range(self._directions)])
        for layer in range(self._layers):
            self.biases.append([(self._take((rows,)), self._take((rows,)))
                                for _ in range(self._directions)])

    def _take(self, shape):
        """The next numbers, with the gates in ONNX's order."""
        begin, self._place = self._place, self._place + int(np.prod(shape))
        part = self._parameters[begin:self._place].reshape(len(self._gates), self._size, *shape[1:])
        return part[list(self._gates)].reshape(shape)

    def of_layer(self, layer):
        """(W, R, B) of a layer: each with the directions in front."""
        kernels, biases = self.kernels[layer], self.biases[layer]
        return (np.stack([k[0] for k in kernels]), np.stack([k[1] for k in kernels]),
                np.stack([np.concatenate(b) for b in biases]))


def _check(c):
    params = c.params
    if params.get("projection_size"):
        raise c.unsupported("projection_size", "LSTM without projection")
    if params.get("lstm_state_clip_min") is not None or \
            params.get("lstm_state_clip_max") is not None:
        raise c.unsupported("lstm_state_clip", "states that are not clipped")


@converts("RNN")
def _(c):
    _check(c)
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
    results = [x]
    if len(c.outputs) > 1:
        results += [part[0] if len(part) == 1 else c.op("Concat", *part, axis=0) for part in last]
    return results[:len(c.outputs)]


def _by_layer(c, state, layers, directions):
    """The initial states of each layer."""
    if layers == 1:
        return [state]
    return c.op("Split", state, c.ints(*[directions] * layers), outputs=layers, axis=0)
