"""RNN in half types: whichever products the processor has, results are near those of float64."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

HALVES = ["float16", "bfloat16"]
MODES = ["lstm", "gru", "rnn_tanh", "rnn_relu"]


def step_of(dtype):
    return 2.0 ** (-11 if dtype == "float16" else -8)


def drawn(rng, shape, scale=1.0):
    """Numbers that both half types hold."""
    x = nd.array((rng.standard_normal(shape) * scale).astype("float32"))
    return x.astype("bfloat16").astype("float16").astype("bfloat16").astype("float32")


class Call:
    """One call of RNN with its operands in float32."""

    def __init__(self, mode, steps, batch, inputs, hidden, layers=1, both=False, projection=0, lengths=False):
        rng = np.random.default_rng(steps + hidden)
        places, gates, out = layers * (1 + both), {"lstm": 4, "gru": 3}.get(mode, 1), projection or hidden
        scale = hidden ** -0.5 / (16 if mode == "rnn_relu" else 2)
        weights, biases = [], []
        for layer in range(layers):
            width = inputs if layer == 0 else out * (1 + both)
            for _ in range(1 + both):
                weights.append(drawn(rng, gates * hidden * (width + out) + projection * hidden, scale))
                bias = drawn(rng, 2 * gates * hidden, 0.1)
                if mode == "rnn_relu":  # each unit is far from where the gradient jumps
                    bias = bias + nd.array(np.where(np.arange(2 * hidden) % hidden % 2, -4.0, 4.0))
                biases.append(bias)
        state = (places, batch)
        self.inputs = [drawn(rng, (steps, batch, inputs), 0.5), nd.concat(*weights, *biases, dim=0), drawn(rng, state + (out,), 0.5)]
        self.heads = [drawn(rng, (steps, batch, out * (1 + both))), drawn(rng, state + (out,))]
        self.args = {"state_size": hidden, "num_layers": layers, "mode": mode, "bidirectional": both, "state_outputs": True}
        if mode == "lstm":
            self.inputs.append(drawn(rng, state + (hidden,)))
            self.heads.append(drawn(rng, state + (hidden,)))
        if projection:
            self.args["projection_size"] = projection
        self.lengths = []
        if lengths:
            self.args["use_sequence_length"] = True
            self.lengths = [nd.array(rng.integers(0, steps + 1, batch), dtype="int32")]

    def run(self, dtype, req="write"):
        """Results in inference, then in training, then the gradients."""
        inputs = [x.astype(dtype) for x in self.inputs]
        for x in inputs:
            x.attach_grad(req)
            x.grad[:] = 1
        results = nd.RNN(*inputs, *self.lengths, **self.args)
        with autograd.record():
            trained = nd.RNN(*inputs, *self.lengths, **self.args)
        autograd.backward(list(trained), [h.astype(dtype) for h in self.heads])
        arrays = [*results, *trained, *(x.grad for x in inputs)]
        assert all(a.dtype == inputs[0].dtype for a in arrays)
        return [a.astype("float64").asnumpy() for a in arrays]


def close(half, full, dtype, most=4.0, usual=2.0):
    """States are rounded once a step, and each result once more."""
    assert len(half) == len(full)
    for h, f in zip(half, full):
        assert h.shape == f.shape
        scale = np.abs(f).max()
        assert np.abs(h - f).max() <= most * step_of(dtype) * scale
        assert np.sqrt(np.mean((h - f) ** 2)) <= usual * step_of(dtype) * np.sqrt(np.mean(f ** 2))


# below, at and above a panel of 32 units; odd sizes; rows of more than one block; products of more
# and fewer than 2^18 multiplications
SIZES = [(5, 3, 7, 34), (1, 1, 8, 16), (9, 20, 13, 64), (4, 2, 130, 46), (3, 40, 64, 96), (2, 250, 64, 48), (5, 4, 9, 33), (6, 17, 32, 32)]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("steps,batch,inputs,hidden", SIZES)
def test_sizes(dtype, mode, steps, batch, inputs, hidden):
    call = Call(mode, steps, batch, inputs, hidden)
    close(call.run(dtype), call.run("float64"), dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("mode,projection", [(m, 0) for m in MODES] + [("lstm", 18), ("lstm", 32)])
@pytest.mark.parametrize("layers,both", [(1, True), (2, False), (2, True)])
@pytest.mark.parametrize("lengths", [False, True])
def test_layers(dtype, mode, projection, layers, both, lengths):
    call = Call(mode, 7, 18, 22, 50, layers, both, projection, lengths)
    close(call.run(dtype), call.run("float64"), dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_gradients_are_added(dtype):
    call = Call("gru", 6, 5, 12, 40)
    close(call.run(dtype, "add"), call.run("float64", "add"), dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_clipped_cells(dtype):
    call = Call("lstm", 6, 5, 12, 40)
    call.args.update(lstm_state_clip_min=-0.25, lstm_state_clip_max=0.25)
    half, full = call.run(dtype), call.run("float64")
    close(half[:6], full[:6], dtype)
    assert np.abs(half[2]).max() == 0.25


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("layer", [gluon.rnn.LSTM, gluon.rnn.GRU])
def test_a_compiled_layer_sees_new_weights(dtype, layer):
    """Its weights are packed once, until they change."""
    net = layer(48, num_layers=2, input_size=20, bidirectional=True)
    net.initialize(mx.init.Xavier())
    x = drawn(np.random.default_rng(0), (6, 18, 20))
    net.hybridize(static_alloc=True, static_shape=True)
    for scale in (1, 0.5):
        for p in net.collect_params().values():
            p.set_data(drawn(np.random.default_rng(1), p.shape, scale * 0.2).astype(p.dtype))
        net.cast("float32")
        full = net(x).astype("float64").asnumpy()
        net.cast(dtype)
        for _ in range(3):
            close([net(x.astype(dtype)).astype("float64").asnumpy()], [full], dtype)


def test_without_matrix_tiles():
    """oneDNN's limit of instructions holds for these kernels too. It is read once in a process."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_rnn_halves as t\n"
        "for mode, both, lengths in (('lstm', True, True), ('gru', False, False), ('rnn_tanh', True, False)):\n"
        "    call = t.Call(mode, 6, 37, 22, 50, 2, both, 0, lengths)\n"
        "    t.close(call.run('bfloat16'), call.run('float64'), 'bfloat16')\n")
    for isa in ("AVX512_CORE_BF16", "AVX2"):
        subprocess.run([sys.executable, "-c", code, os.path.dirname(__file__)], env=dict(os.environ, ONEDNN_MAX_CPU_ISA=isa), check=True)
