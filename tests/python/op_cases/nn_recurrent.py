"""Fused recurrent layers and connectionist temporal classification."""
import numpy as np

from op_cases import rand

TOL = {"float64": 1e-11, "float32": 1e-5, "float16": 6e-3, "bfloat16": 5e-2}


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn(x, params, state, *rest, state_size, num_layers, mode, bidirectional=False,
        state_outputs=False, use_sequence_length=False, projection_size=None,
        lstm_state_clip_min=None, lstm_state_clip_max=None, p=0):
    rest = list(rest)
    cell = rest.pop(0) if mode == "lstm" else np.zeros((state.shape[0], state.shape[1], state_size))
    steps, batch = x.shape[:2]
    lengths = rest.pop(0) if use_sequence_length else np.full(batch, steps)
    gates, dirs, out = {"lstm": 4, "gru": 3}.get(mode, 1), 1 + bidirectional, projection_size or state_size
    at = 0

    def take(*shape):
        nonlocal at
        at += int(np.prod(shape))
        return params[at - int(np.prod(shape)):at].reshape(shape)

    weights = []
    for layer in range(num_layers):
        for _ in range(dirs):
            size = x.shape[2] if layer == 0 else out * dirs
            weights.append([take(gates * state_size, size), take(gates * state_size, out),
                            take(out, state_size) if projection_size else None])
    for w in weights:
        w += [take(gates * state_size), take(gates * state_size)]
    assert at == params.size
    states, cells = [], []
    for layer in range(num_layers):
        ys = []
        for direction in range(dirs):
            k = layer * dirs + direction
            wi, wh, wp, bi, bh = weights[k]
            h, c = state[k].copy(), cell[k].copy()
            y = np.zeros((steps, batch, out))
            for t in (range(steps) if direction == 0 else reversed(range(steps))):
                live = (t < lengths)[:, None]
                a, r = x[t] @ wi.T + bi, h @ wh.T + bh
                if mode == "lstm":
                    i, f, g, o = np.split(a + r, 4, axis=1)
                    new_c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
                    if lstm_state_clip_min is not None:
                        new_c = np.clip(new_c, lstm_state_clip_min, lstm_state_clip_max)
                    new_h = _sigmoid(o) * np.tanh(new_c)
                    c = np.where(live, new_c, c)
                elif mode == "gru":
                    (ar, az, an), (rr, rz, rn) = np.split(a, 3, axis=1), np.split(r, 3, axis=1)
                    z = _sigmoid(az + rz)
                    new_h = (1 - z) * np.tanh(an + _sigmoid(ar + rr) * rn) + z * h
                else:
                    new_h = np.maximum(a + r, 0) if mode == "rnn_relu" else np.tanh(a + r)
                if wp is not None:
                    new_h = new_h @ wp.T
                h = np.where(live, new_h, h)
                y[t] = np.where(live, new_h, 0)
            ys.append(y)
            states.append(h)
            cells.append(c)
        x = np.concatenate(ys, -1)
    if not state_outputs:
        return x
    return [x, np.array(states)] + ([np.array(cells)] if mode == "lstm" else [])


def ctc(x, label, *lengths, use_data_lengths=False, use_label_lengths=False, blank_label="first"):
    """The sum over all alignments, by trying them: only for tiny cases."""
    import itertools
    lengths = list(lengths)
    steps, batch, classes = x.shape
    data_lengths = lengths.pop(0) if use_data_lengths else np.full(batch, steps)
    label_lengths = lengths.pop(0) if use_label_lengths else None
    blank, padding = (0, 0) if blank_label == "first" else (classes - 1, -1)
    p = np.exp(x - x.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    result = []
    for n in range(batch):
        row = [int(v) for v in label[n]]
        want = row[:int(label_lengths[n])] if use_label_lengths else row[:row.index(padding)] if padding in row else row
        total = 0.0
        for path in itertools.product(range(classes), repeat=int(data_lengths[n])):
            kept = [k for i, k in enumerate(path) if k != blank and (i == 0 or path[i - 1] != k)]
            if kept == want:
                total += np.prod([p[t, n, k] for t, k in enumerate(path)])
        result.append(-np.log(total) if total > 0 else 0.0)
    return np.array(result)


def _case(mode, layers=1, bidirectional=False, projection=None, lengths=None, **attrs):
    steps, batch, size, hidden = 3, 2, 3, 4
    gates, dirs, out = {"lstm": 4, "gru": 3}.get(mode, 1), 1 + bidirectional, projection or hidden
    count = (sum(dirs * (gates * hidden * ((size if i == 0 else out * dirs) + out)
                         + (out * hidden if projection else 0)) for i in range(layers)))
    inputs = [rand((steps, batch, size), -1, 1),
              rand((count + 2 * layers * dirs * gates * hidden,), -0.5, 0.5),
              rand((layers * dirs, batch, out), -0.5, 0.5)]
    attrs.update(state_size=hidden, num_layers=layers, mode=mode)
    if mode == "lstm":
        inputs.append(rand((layers * dirs, batch, hidden), -0.5, 0.5))
    case = {"op": "RNN", "attrs": attrs, "ref": rnn, "tol": TOL, "grad": list(range(len(inputs))), "empty": False, "grad_tol": 2e-5}
    if lengths:
        inputs.append(np.array(lengths))
        case["input_dtypes"] = {len(inputs) - 1: "int32"}
        attrs["use_sequence_length"] = True
    if bidirectional:
        attrs["bidirectional"] = True
    if projection:
        attrs["projection_size"] = projection
    return dict(case, inputs=inputs)


CASES = [
    dict(_case("rnn_tanh"), bad=[{"inputs": [(3, 2, 3), (10,), (1, 2, 4)]},
                                 {"attrs": {"state_size": 4, "num_layers": 1, "mode": "elman"}}]),
    _case("rnn_relu", layers=2, state_outputs=True),
    _case("lstm", state_outputs=True),
    _case("lstm", layers=2, bidirectional=True, state_outputs=True),
    _case("lstm", bidirectional=True, lengths=[3, 1], state_outputs=True),
    _case("lstm", layers=2, projection=2, state_outputs=True),
    _case("lstm", lstm_state_clip_min=-0.1, lstm_state_clip_max=0.1),
    _case("gru", state_outputs=True),
    _case("gru", layers=2, bidirectional=True),
    _case("gru", bidirectional=True, lengths=[2, 3], state_outputs=True),
    {"op": "CTCLoss", "inputs": [rand((4, 3, 4), -1, 1),
                                 np.array([[1, 2, 0], [3, 3, 0], [1, 2, 3]])],
     "input_dtypes": {1: "int32"}, "ref": ctc, "tol": TOL, "grad": [0],
     "empty": False, "bad": [{"inputs": [(4, 3), (3, 2)]}, {"inputs": [(4, 3, 4), (2, 3)]},
                             {"inputs": [(4, 1, 4), np.array([[1, 9, 0]])]}]},
    {"op": "ctc_loss", "inputs": [rand((4, 2, 4), -1, 1), np.array([[0, 1, -1], [2, -1, -1]])],
     "input_dtypes": {1: "int32"}, "attrs": {"blank_label": "last"}, "ref": ctc,
     "tol": TOL, "grad": [0], "empty": False},
    {"op": "CTCLoss", "inputs": [rand((4, 2, 4), -1, 1), np.array([[1, 2, 3], [3, 1, 2]]), np.array([3, 4]), np.array([2, 1])],
     "input_dtypes": {1: "int32", 2: "int32", 3: "int32"},
     "attrs": {"use_data_lengths": True, "use_label_lengths": True}, "ref": ctc, "tol": TOL,
     "grad": [0], "empty": False},
    {"op": "CTCLoss", "inputs": [rand((2, 1, 3), -1, 1), np.array([[1, 1]])],
     "input_dtypes": {1: "int32"}, "ref": ctc, "tol": TOL, "grad": [0], "empty": False},
    # two layers of 8 numbers each, in front of the second one 4 of the mask and 4 that it has left
    {"op": "_rnn_dropout_masks", "inputs": [(24,), (2, 1, 3)], "empty": False, "refuses": False,
     "attrs": {"state_size": 2, "num_layers": 2, "mode": "rnn_tanh", "p": 0.5},
     "ref": lambda reserve, data, **kw: reserve[8:12].reshape(1, 2, 1, 2)},
]
