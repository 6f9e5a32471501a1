"""Operators on 8-bit integers: what 1.9.1 and 2.0 give (data/quantized_oracle_*.npz), names and
inference in symbols, the loops that run without oneDNN, and what quantized numbers are worth."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

DATA = pathlib.Path(__file__).parents[1] / "data"
ORACLES = [(version, np.load(DATA / f"quantized_oracle_{version}.npz")) for version in ("1.9.1", "2.0")]
CASES = [(version, oracle, number, meta) for version, oracle in ORACLES for number, meta in enumerate(json.loads(str(oracle["meta"])))]
CONTRIB = mx.nd.contrib


def arrays(oracle, number, meta):
    read = [oracle[f"{number}_in{i}"] for i in range(meta["inputs"])]
    return [mx.nd.array(x, dtype=x.dtype) for x in read]


@pytest.mark.parametrize("case", CASES, ids=[f"{version}-{number}-{meta['op']}" for version, _, number, meta in CASES])
def test_oracle(case):
    _, oracle, number, meta = case
    attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in meta["attrs"].items()}
    outs = getattr(CONTRIB, meta["op"])(*arrays(oracle, number, meta), **attrs)
    outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
    assert len(outs) == meta["outputs"]
    for i, out in enumerate(outs):
        want, got = oracle[f"{number}_out{i}"], out.asnumpy()
        assert got.dtype == want.dtype and got.shape == want.shape
        if want.dtype == np.float32 or want.dtype == np.int32:      # sums of 32 bits come from float32 there
            np.testing.assert_allclose(got, want, rtol=1e-6 if meta["op"] != "calibrate_entropy" else 1e-3)
        else:       # there sums are scaled in parts: numbers in the middle between two go either way
            unlike = np.abs(got.astype(int) - want.astype(int))
            exact = meta["op"] not in ("quantized_elemwise_add", "quantized_batch_norm", "quantize_asym")
            assert unlike.max() <= (0 if exact else 1) and (unlike != 0).mean() <= (0 if exact else 0.1)


def test_names_in_symbols():
    s = mx.sym.contrib
    conv = s.quantized_conv(kernel=(3, 3), num_filter=4, name="c")
    assert conv.list_arguments() == ["c_data", "c_weight", "c_bias", "c_min_data", "c_max_data", "c_min_weight", "c_max_weight",
        "c_min_bias",
                                     "c_max_bias"]
    assert conv.list_outputs() == ["c_output", "c_min_output", "c_max_output"]
    dense = s.quantized_fully_connected(num_hidden=4, no_bias=True, name="d")
    assert dense.list_arguments() == ["d_data", "d_weight", "d_min_data", "d_max_data", "d_min_weight", "d_max_weight"]
    joined = s.quantized_concat(mx.sym.var("a"), mx.sym.var("b"), name="j")
    assert joined.list_arguments() == ["a", "b", "j_arg0_min", "j_arg0_max", "j_arg1_min", "j_arg1_max"]
    norm = s.quantized_batch_norm(name="n")
    assert norm.list_arguments() == ["n_data", "n_gamma", "n_beta", "n_min_data", "n_max_data"]
    assert norm.list_auxiliary_states() == ["n_moving_mean", "n_moving_var"]
    assert s.quantize_v2(name="q").list_outputs() == ["q_output0", "q_output1", "q_output2"]
    assert s.quantize_asym(name="q").list_outputs() == ["q_output", "q_scale", "q_shift"]
    assert s.calibrate_entropy(name="e").list_outputs() == ["e_threshold", "e_divergence"]
    assert s.quantized_elemwise_mul(name="m", enable_float_output=True).list_outputs() == ["m_output"]
    lstm = s.quantized_rnn(name="r", mode="lstm", state_size=3, num_layers=1, state_outputs=True)
    assert lstm.list_outputs() == ["r_output", "r_state_output", "r_statecell_ouput"]       # as 1.9.1 writes it


def test_shapes_in_both_directions():
    s = mx.sym.contrib
    conv = s.quantized_conv(kernel=(3, 3), num_filter=4, name="c")
    arguments, outputs, _ = conv.infer_shape(c_data=(2, 3, 8, 8))
    assert arguments == [(2, 3, 8, 8), (4, 3, 3, 3), (4,)] + [(1,)] * 6 and outputs == [(2, 4, 6, 6), (1,), (1,)]
    dense = s.quantized_fully_connected(num_hidden=4, no_bias=True, flatten=False, name="d")
    arguments, outputs, _ = dense.infer_shape(d_data=(2, 3, 8))
    assert arguments[:2] == [(2, 3, 8), (4, 8)] and outputs[0] == (2, 3, 4)
    total = s.quantized_elemwise_add(mx.sym.var("a"), mx.sym.var("b"), name="t")
    assert total.infer_shape(b=(2, 3))[0][0] == (2, 3)
    norm = s.quantized_batch_norm(name="n")
    arguments, outputs, states = norm.infer_shape(n_data=(2, 3, 4))
    assert arguments == [(2, 3, 4), (3,), (3,), (1,), (1,)] and states == [(3,), (3,)] and outputs[0] == (2, 3, 4)
    assert s.quantized_rnn(name="r", mode="lstm", state_size=3, num_layers=1).infer_shape(r_data=(5, 2, 4))[0][1] == (4 * 3 * (4 + 3 + 2),)


def test_types_in_symbols():
    s = mx.sym.contrib
    for kind in (np.int8, np.uint8):
        conv = s.quantized_conv(kernel=(3, 3), num_filter=4, name="c")
        arguments, outputs, _ = conv.infer_type(c_data=kind)
        assert arguments == [kind, np.int8, np.int8] + [np.float32] * 6 and outputs == [np.int32, np.float32, np.float32]
        assert s.quantized_act(name="a", act_type="relu").infer_type(a_data=kind)[1][0] == kind
    assert s.quantize_v2(name="q", out_type="auto", min_calib_range=0, max_calib_range=1).infer_type(q_data=np.float32)[1][0] == np.uint8
    mixed = s.quantized_elemwise_add(mx.sym.var("a"), mx.sym.var("b"), min_calib_range=-1, max_calib_range=1)
    assert mixed.infer_type(a=np.uint8, b=np.int8)[1][0] == np.int8 and mixed.infer_type(a=np.uint8, b=np.uint8)[1][0] == np.uint8


def ends(*values):
    return [mx.nd.array([v]) for v in values]


def test_numbers_survive():
    """Convolution in 8-bit integers is convolution to within their steps."""
    rng = np.random.default_rng(9)
    x, w = rng.uniform(0, 1, (2, 8, 9, 9)), rng.uniform(-1, 1, (16, 8, 3, 3))
    want = mx.nd.Convolution(mx.nd.array(x), mx.nd.array(w), kernel=(3, 3), num_filter=16, no_bias=True).asnumpy()
    for kind in ("int8", "uint8"):
        data = CONTRIB.quantize(mx.nd.array(x), *ends(0, 1), out_type=kind)
        weight = CONTRIB.quantize(mx.nd.array(w), *ends(-1, 1), out_type="int8")
        sums = CONTRIB.quantized_conv(data[0], weight[0], *data[1:], *weight[1:], kernel=(3, 3), num_filter=16, no_bias=True)
        got = CONTRIB.dequantize(*CONTRIB.requantize(*sums)).asnumpy()
        assert np.abs(got - want).max() < 0.02 * np.abs(want).max()


def test_no_gradient_goes_through():
    data = mx.nd.array([[-3, 4]], dtype="int8")
    low, high = ends(-1, 1)
    low.attach_grad()
    with mx.autograd.record():
        out = CONTRIB.dequantize(data, low, high)
    with pytest.raises(mx.MXNetError, match="_contrib_dequantize"):
        out.backward()


def test_plans_keep_packed_weights():
    """An executor gives what the operator gives, also after the weight changed."""
    rng = np.random.default_rng(2)
    data, weight = rng.integers(-128, 128, (1, 16, 8, 8)), rng.integers(-128, 128, (16, 16, 3, 3))
    names, inputs = ["d", "w", "a", "b", "e", "f"], ["data", "weight", "min_data", "max_data", "min_weight", "max_weight"]
    symbol = mx.sym.contrib.quantized_conv(**dict(zip(inputs, map(mx.sym.var, names))), kernel=(3, 3), num_filter=16, no_bias=True)
    given = [mx.nd.array(data, dtype="int8"), mx.nd.array(weight, dtype="int8"), *ends(-1, 1, -1, 1)]
    executor = symbol.bind(mx.cpu(), dict(zip(names, given)), grad_req="null")
    for factor in (1, -1, -1):
        given[1][:] = np.clip(weight * factor, -128, 127)
        want = CONTRIB.quantized_conv(*given, kernel=(3, 3), num_filter=16, no_bias=True)[0].asnumpy()
        for _ in range(2):
            assert (executor.forward()[0].asnumpy() == want).all()


PROGRAM = """
import numpy as np, mxnet as mx
rng = np.random.default_rng(4)
ends = [mx.nd.array([v]) for v in (-1, 1, -1, 1)]
for kind, low, high in (('int8', -128, 127), ('uint8', 0, 255)):
    for groups, layout in ((1, 'NCHW'), (2, 'NCHW'), (1, 'NHWC')):
        x, w = rng.integers(low, high + 1, (2, 6, 9, 10)), rng.integers(-128, 128, (4, 6 // groups, 3, 2))
        if layout == 'NHWC':
            x, w = np.moveaxis(x, 1, -1), np.moveaxis(w, 1, -1)
        attrs = dict(kernel=(3, 2), num_filter=4, num_group=groups, layout=layout, no_bias=True, pad=(1, 1), stride=(1, 2))
        want = mx.nd.Convolution(mx.nd.array(x, dtype='float64'), mx.nd.array(w, dtype='float64'), **attrs).asnumpy()
        got = mx.nd.contrib.quantized_conv(mx.nd.array(x, dtype=kind), mx.nd.array(w, dtype='int8'), *ends, **attrs)[0].asnumpy()
        assert (got == want).all(), (kind, groups, layout)
    x, w = rng.integers(low, high + 1, (70, 1500)), rng.integers(-128, 128, (37, 1500))
    arrays = mx.nd.array(x, dtype=kind), mx.nd.array(w, dtype='int8')
    got = mx.nd.contrib.quantized_fully_connected(*arrays, *ends, num_hidden=37, no_bias=True)
    assert (got[0].asnumpy() == x @ w.T).all(), kind
    deep = np.full((1, 70000), high), np.full((1, 70000), 127)
    got = mx.nd.contrib.quantized_fully_connected(mx.nd.array(deep[0], dtype=kind), mx.nd.array(deep[1], dtype='int8'), *ends, num_hidden=1,
                                                  no_bias=True)
    assert got[0].asscalar() == min(70000 * high * 127, 2 ** 31 - 1), kind
"""


@pytest.mark.parametrize("onednn", ["0", "1"])
def test_sums_are_exact_with_and_without_the_library(onednn):
    environment = dict(os.environ, MXNET_ONEDNN_ENABLED=onednn)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
