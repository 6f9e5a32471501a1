"""Second derivatives of operators whose gradients are kernels of their own: recurrent layers,
losses over sequences, deformable convolutions and pooling. Against central differences in
float64."""
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from test_second_gradients import _array, check

STEPS, BATCH, INPUT, HIDDEN = 3, 2, 2, 2


def _rnn_inputs(rng, mode, layers, directions, projection=None):
    gates, out = {"lstm": 4, "gru": 3}.get(mode, 1), projection or HIDDEN
    size = 0
    for layer in range(layers):
        inputs = INPUT if layer == 0 else out * directions
        size += directions * (gates * HIDDEN * (inputs + out + 2) + (out * HIDDEN if projection else 0))
    arrays = [_array(rng, (STEPS, BATCH, INPUT)), _array(rng, (size,), -0.8, 0.8), _array(rng, (layers * directions, BATCH, out))]
    return arrays + [_array(rng, (layers * directions, BATCH, HIDDEN))] * (mode == "lstm")


def _rnn(mode, layers, directions, states=True, lengths=None, **more):
    def f(*arrays):
        if lengths is not None:
            arrays = (*arrays, nd.array(lengths, dtype="float64"))
        results = nd.RNN(*arrays, mode=mode, state_size=HIDDEN, num_layers=layers, bidirectional=directions == 2,
                         state_outputs=states, use_sequence_length=lengths is not None, **more)
        results = results if isinstance(results, list) else [results]
        return nd.concat(*[r.reshape(-1) for r in results], dim=0)
    return f


@pytest.mark.parametrize("mode", ["rnn_tanh", "rnn_relu", "lstm", "gru"])
@pytest.mark.parametrize("layers,directions", [(1, 1), (2, 2)])
def test_rnn(mode, layers, directions):
    rng = np.random.default_rng(20)
    check(_rnn(mode, layers, directions), _rnn_inputs(rng, mode, layers, directions))


def test_rnn_of_three_layers_without_last_states():
    rng = np.random.default_rng(21)
    check(_rnn("gru", 3, 1, states=False), _rnn_inputs(rng, "gru", 3, 1))


@pytest.mark.parametrize("mode", ["rnn_tanh", "lstm", "gru"])
def test_rnn_of_sequences_of_several_lengths(mode):
    rng = np.random.default_rng(22)
    check(_rnn(mode, 1, 2, lengths=[1, 3]), _rnn_inputs(rng, mode, 1, 2))


@pytest.mark.parametrize("directions", [1, 2])
def test_lstm_with_projection_and_limits(directions):
    rng = np.random.default_rng(23)
    f = _rnn("lstm", 2, directions, projection_size=1, lstm_state_clip_min=-0.6, lstm_state_clip_max=0.7)
    check(f, _rnn_inputs(rng, "lstm", 2, directions, projection=1))


def test_rnn_with_dropout_keeps_its_mask():
    """The second derivative is that of the same draw: with the mask known, of a product."""
    rng = np.random.default_rng(24)
    arrays = _rnn_inputs(rng, "rnn_tanh", 2, 1)
    f = _rnn("rnn_tanh", 2, 1, p=0.5)

    def seeded(*given):
        mx.random.seed(11)
        return f(*given)
    check(seeded, arrays)


@pytest.mark.parametrize("make", [mx.gluon.rnn.LSTM, mx.gluon.rnn.GRU, mx.gluon.rnn.RNN])
@pytest.mark.parametrize("hybridize", [None, {}, {"static_alloc": True, "static_shape": True}])
def test_a_layer_and_its_cell_have_one_penalty(make, hybridize):
    """Gradients of a gradient penalty, of the layer and of its cells unrolled."""
    layer = make(3, input_size=2)
    layer.initialize(mx.init.Uniform(0.7))
    layer.cast("float64")
    if hybridize is not None:
        layer.hybridize(**hybridize)
    x = nd.array(np.random.default_rng(25).standard_normal((4, 2, 2)), dtype="float64")
    x.attach_grad()
    cell_of = {mx.gluon.rnn.LSTM: mx.gluon.rnn.LSTMCell, mx.gluon.rnn.GRU: mx.gluon.rnn.GRUCell, mx.gluon.rnn.RNN: mx.gluon.rnn.RNNCell}
    cell = cell_of[make](3, input_size=2, **({"activation": "relu"} if make is mx.gluon.rnn.RNN else {}))
    cell.initialize()
    cell.cast("float64")
    names = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    of_layer, of_cell = [getattr(layer, "l0_" + name) for name in names], [getattr(cell, name) for name in names]
    for own, other in zip(of_cell, of_layer):
        own.set_data(other.data())

    def unrolled(data):
        states = [nd.zeros((2, 3), dtype="float64")] * (2 if make is mx.gluon.rnn.LSTM else 1)
        return cell.unroll(4, data, layout="TNC", merge_outputs=True, begin_state=states)[0]

    def penalty(outputs_of, parameters):
        with mx.autograd.record():
            grad = mx.autograd.grad((outputs_of(x) ** 2).sum(), [x], create_graph=True, retain_graph=True)[0]
            loss = ((grad ** 2).sum(axis=2) + 0.1).sqrt().sum()
        loss.backward()
        return [loss.asnumpy(), x.grad.asnumpy()] + [p.grad().asnumpy() for p in parameters]
    for got, want in zip(penalty(layer, of_layer), penalty(unrolled, of_cell)):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_rnn_without_steps_and_in_float16():
    layer = mx.gluon.rnn.LSTM(2, input_size=2)
    layer.initialize()
    for dtype, steps in (("float32", 0), ("float16", 2)):
        layer.cast(dtype)
        x = nd.ones((steps, 1, 2), dtype=dtype)
        x.attach_grad()
        with mx.autograd.record():
            grad = mx.autograd.grad(layer(x).sum(), [x], create_graph=True, retain_graph=True)[0]
            loss = (grad ** 2).sum()
        loss.backward()
        assert x.grad.shape == x.shape and np.isfinite(x.grad.asnumpy()).all()


def test_rnn_three_times():
    rng = np.random.default_rng(26)
    arrays = _rnn_inputs(rng, "rnn_tanh", 1, 1)
    f = _rnn("rnn_tanh", 1, 1)

    def first(x):
        y = f(x, *arrays[1:])
        return mx.autograd.grad((y * y).sum(), [x], create_graph=True, retain_graph=True)[0]
    arrays[0].attach_grad()
    check(first, arrays[:1], rtol=1e-4)


# ---- losses over sequences

@pytest.mark.parametrize("blank", ["first", "last"])
@pytest.mark.parametrize("lengths", [(), ("data",), ("label",), ("data", "label")])
def test_ctc(blank, lengths):
    rng = np.random.default_rng(30)
    pad = 0 if blank == "first" else -1
    # repeated labels, one that does not fit into the steps, none at all
    label = np.array([[1, 1, 2], [2, pad, pad], [pad, pad, pad], [1, 2, 1]])
    more = {}
    if "data" in lengths:
        more["data_lengths"] = nd.array([5, 3, 4, 2], dtype="float64")
    if "label" in lengths:
        label = np.where(label == pad, 1, label)
        more["label_lengths"] = nd.array([3, 1, 0, 2], dtype="float64")
    check(lambda x: nd.CTCLoss(x, nd.array(label, dtype="float64"), use_data_lengths="data" in lengths,
                               use_label_lengths="label" in lengths, blank_label=blank, **more),
          [_array(rng, (5, 4, 4))])


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_ctc_takes_labels_of_other_dtypes_and_none(dtype):
    rng = np.random.default_rng(31)
    check(lambda x: nd.CTCLoss(x, nd.array([[2, 1]], dtype=dtype)), [_array(rng, (4, 1, 3))])
    check(lambda x: nd.CTCLoss(x, nd.zeros((1, 0), dtype=dtype)), [_array(rng, (2, 1, 3))])


def test_ctc_of_gluon():
    loss = mx.gluon.loss.CTCLoss(layout="NTC", label_layout="NT")
    x = nd.array(np.random.default_rng(32).standard_normal((2, 6, 5)), dtype="float64")
    check(lambda a: loss(a, nd.array([[1, 0, -1], [3, 2, 2]], dtype="float64")), [x])


def test_hawkes_process():
    rng = np.random.default_rng(33)
    batch, marks, events = 2, 3, 4
    lags, max_time = _array(rng, (batch, events), 0.1, 1), nd.array([4.5, 5.0], dtype="float64")
    kinds = nd.array([[0, 1, 1, 2], [2, 2, 7, 0]], dtype="int32")      # 7 is no mark: it only takes time
    valid = nd.array([4, 3], dtype="float64")
    state = _array(rng, (batch, marks), 0, 1)
    check(lambda lda, alpha, beta: nd.contrib.hawkesll(lda, alpha, beta, state, lags, kinds, valid, max_time)[0],
          [_array(rng, (batch, marks), 0.5, 2), _array(rng, (marks,), 0.2, 0.9), _array(rng, (marks,), 0.5, 2)])


# ---- samples between pixels

@pytest.mark.parametrize("groups,own", [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("modulated", [False, True])
@pytest.mark.parametrize("window", [{"kernel": (2, 1)}, {"kernel": (1, 2), "stride": (2, 1), "pad": (1, 2), "dilate": (1, 2)}])
def test_deformable_convolution(modulated, groups, own, window):
    rng = np.random.default_rng(40)
    height, width = (2, 3) if window["kernel"] == (2, 1) else (3, 6)
    places = (height, width)
    data, weight = _array(rng, (1, 2, 3, 3 if height == 2 else 4)), _array(rng, (2, 2 // groups, *window["kernel"]))
    # no offset is near a pixel, where the derivative jumps; some places are outside of the image
    offset = nd.array(rng.integers(-2, 2, (1, 4 * own, *places)) + rng.uniform(0.2, 0.8, (1, 4 * own, *places)), dtype="float64")
    common = dict(window, num_filter=2, num_group=groups, num_deformable_group=own)
    bias = _array(rng, (2,))
    if modulated:
        mask = _array(rng, (1, 2 * own, *places), 0.2, 1)
        check(lambda x, o, m, w, b: nd.contrib.ModulatedDeformableConvolution(x, o, m, w, b, **common),
              [data, offset, mask, weight, bias])
    else:
        check(lambda x, o, w: nd.contrib.DeformableConvolution(x, o, w, no_bias=True, **common), [data, offset, weight])


@pytest.mark.parametrize("modulated", [False, True])
def test_deformable_convolution_without_offsets_is_a_convolution(modulated):
    """Offsets of 0 lie on pixels; there, the second derivative by data and weight is that of
    Convolution."""
    rng = np.random.default_rng(41)
    x, w = _array(rng, (2, 2, 4, 4)), _array(rng, (3, 2, 3, 3))
    common = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 3, "no_bias": True}
    offset, mask = nd.zeros((2, 18, 4, 4), dtype="float64"), nd.ones((2, 9, 4, 4), dtype="float64")

    def deformable():
        if modulated:
            return nd.contrib.ModulatedDeformableConvolution(x, offset, mask, w, **common)
        return nd.contrib.DeformableConvolution(x, offset, w, **common)
    results = []
    for f in (deformable, lambda: nd.Convolution(x, w, **common)):
        x.attach_grad(), w.attach_grad()
        with mx.autograd.record():
            dx, dw = mx.autograd.grad((f() ** 2).sum(), [x, w], create_graph=True, retain_graph=True)
            loss = (dx ** 2).sum() + (dw ** 3).sum()
        loss.backward()
        results.append((x.grad.asnumpy(), w.grad.asnumpy()))
    for got, want in zip(*results):
        np.testing.assert_allclose(got, want, rtol=1e-9)


@pytest.mark.parametrize("trans", [False, True])
def test_deformable_psroi_pooling(trans):
    rng = np.random.default_rng(42)
    rois = nd.array([[0, 0, 0, 4, 4], [1, 1, 1, 4, 3], [3, 0, 0, 2, 2], [0, 3, 3, 9, 9]], dtype="float64")
    data = _array(rng, (2, 2 * 4, 5, 5))
    common = dict(spatial_scale=0.9, output_dim=2, group_size=2, pooled_size=3, part_size=2, sample_per_part=2)
    if trans:
        check(lambda x, t: nd.contrib.DeformablePSROIPooling(x * x, rois, t, trans_std=0.1, **common),
              [data, _array(rng, (4, 4, 2, 2), -0.7, 0.7)])
    else:
        check(lambda x: nd.contrib.DeformablePSROIPooling(x * x, rois, no_trans=True, **common), [data])


@pytest.mark.parametrize("name", ["SoftmaxOutput", "LinearRegressionOutput", "MAERegressionOutput", "LogisticRegressionOutput",
                                  "SVMOutput"])
def test_outputs_that_are_losses_have_no_second_derivative(name):
    """Their gradient is not the derivative of their result; 1.9.1 refuses, too."""
    x = nd.ones((2, 3))
    x.attach_grad()
    label = nd.zeros((2,)) if name in ("SoftmaxOutput", "SVMOutput") else nd.zeros((2, 3))
    with mx.autograd.record():
        grad = mx.autograd.grad(getattr(nd, name)(x, label), [x], create_graph=True, retain_graph=True)[0]
        loss = (grad * grad).sum()
    with pytest.raises(mx.MXNetError, match=rf"\[_backward_{name}\] has no gradient"):
        loss.backward()


ROWS, COLUMNS, HEADS, WIDTH = 3, 4, 2, 2
ATTENTION = {     # the shapes of the arrays
    "separate": [(BATCH, ROWS, HEADS * WIDTH), (BATCH, COLUMNS, HEADS * WIDTH), (BATCH, COLUMNS, HEADS * 3)],
    "selfatt": [(COLUMNS, BATCH, HEADS * 3 * WIDTH)],
    "encdec": [(ROWS, BATCH, HEADS * WIDTH), (COLUMNS, BATCH, HEADS * 2 * WIDTH)]}


def _attention(inputs, **attrs):
    """The operator that plans use, from a file: it has no function."""
    nodes = [{"op": "null", "name": f"x{i}", "inputs": []} for i in range(inputs)]
    nodes.append({"op": "_fused_attention", "name": "attention", "attrs": {k: str(v) for k, v in attrs.items()},
                  "inputs": [[i, 0, 0] for i in range(inputs)]})
    graph = {"nodes": nodes, "arg_nodes": list(range(inputs)), "heads": [[inputs, 0, 0]]}
    return mx.nd.CachedOp(mx.sym.load_json(json.dumps(graph)))


@pytest.mark.parametrize("layout", list(ATTENTION))
@pytest.mark.parametrize("mask", [None, "numbers", "booleans"])
@pytest.mark.parametrize("lengths,dropout", [(None, 0), ((0, 2, 4, 3), 0.4)])
def test_fused_attention(layout, mask, lengths, dropout):
    rng = np.random.default_rng(28)
    all_heads, rows = BATCH * HEADS, COLUMNS if layout == "selfatt" else ROWS
    more = []
    if mask == "numbers":
        more.append(nd.array(rng.standard_normal((all_heads, 1, COLUMNS))))
    elif mask:
        some = rng.uniform(size=(1, rows, COLUMNS)) < 0.6
        some[0, 1] = False      # nothing counts in this row
        more.append(nd.array(some, dtype="bool"))
    if lengths:
        more += [nd.array([[n] for n in lengths], dtype="int32"), nd.array([5, 7, 0, 0], dtype="int64")]
    arrays = [_array(rng, s, dtype="float32") for s in ATTENTION[layout]]
    fused = _attention(len(arrays) + len(more), layout=layout, heads=HEADS, scale=0.7, dropout=dropout,
                       with_mask=int(mask is not None), with_length=int(lengths is not None))
    check(lambda *arrays: fused(*arrays, *more), arrays, step=1e-2, rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize("shape", [(4, 3), (3, 2, 2)])
def test_sparseness_penalty(shape):
    rng = np.random.default_rng(29)
    x = _array(rng, shape, 0.1, 0.9)
    check(lambda x: nd.IdentityAttachKLSparseReg(x, nd.full((shape[1],), 0.4, dtype="float64"), penalty=0.5,
                                                 sparseness_target=0.2, momentum=0.7), [x])
