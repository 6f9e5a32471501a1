"""Loops and branches as Scan, Loop and If; the importer reads them back."""
import numpy as np
import pytest
from onnx_checks import around_zero, assert_equal, check_block, check_symbol, operators, run

import mxnet as mx
from mxnet import npx

S = mx.sym
d, s, t, w = (S.var(name) for name in "dstw")


def check(symbol, arrays, params, folder, **options):
    """Export, compare with ONNX Runtime, and read the file back."""
    path = check_symbol(symbol, arrays, params, folder, **options)
    model = mx.onnx.load(path)
    theirs = run(path, arrays)
    assert_equal(theirs, [value.asnumpy() for value in model.run(arrays).values()])
    return path


def dense(x):
    return S.FullyConnected(x, w, num_hidden=3, no_bias=True, flatten=False)


WEIGHT = {"w": around_zero(3, 3)}


def test_states_and_several_outputs(tmp_path):
    outs, states = S.contrib.foreach(
        lambda x, st: ([x + st[0], S.broadcast_mul(dense(x), st[1])],
                       [S.tanh(dense(x)) + st[0], st[1] * 2]), d, [s, t])
    path = check(S.Group([*outs, *states]), {"d": around_zero(4, 2, 3), "s": around_zero(2, 3),
                                             "t": around_zero(2, 1)}, WEIGHT, tmp_path)
    assert operators(path) == ["Scan"]


def test_rows_of_a_vector_have_one_element(tmp_path):
    outs, last = S.contrib.foreach(lambda x, st: (x * st, x + st), d, s)
    check(S.Group([outs, last]), {"d": around_zero(5), "s": around_zero(1)}, {}, tmp_path)


def test_without_states_and_over_two_arrays(tmp_path):
    outs, _ = S.contrib.foreach(lambda x, _: (S.dot(x[0], x[1]), []), [d, t], [])
    check(outs, {"d": around_zero(4, 2, 3), "t": around_zero(4, 3, 2, seed=3)}, {}, tmp_path)


def test_what_a_body_hands_back(tmp_path):
    """A result that is an input, a value from outside, or the same twice."""
    outer = S.exp(t)
    outs, last = S.contrib.foreach(lambda x, st: ([x, outer, st[0]], [st[0], x + st[1]]), d, [s, t])
    check(S.Group([*outs, *last, outer]), {name: around_zero(*shape) for name, shape in
                                           {"d": (3, 2), "s": (2,), "t": (2,)}.items()},
          {}, tmp_path)


@pytest.mark.parametrize("opset", [13, 21])
def test_free_sizes(opset, tmp_path):
    outs, last = S.contrib.foreach(lambda x, st: (S.reshape(dense(x), (0, -1)), dense(x) + st), d, s)
    symbol = S.Group([outs, last])
    arrays = {"d": around_zero(4, 2, 3), "s": around_zero(2, 3)}
    path = check(symbol, arrays, WEIGHT, tmp_path, dynamic=True, opset_version=opset,
                 dynamic_input_shapes=[("steps", "batch", 3), ("batch", 3)])
    more = {"d": around_zero(7, 5, 3), "s": around_zero(5, 3)}
    bound = symbol.bind(mx.cpu(), {n: mx.nd.array(a) for n, a in {**more, **WEIGHT}.items()})
    ours = [o.asnumpy() for o in bound.forward()]
    assert_equal(ours, run(path, more))
    assert_equal(ours, [value.asnumpy() for value in mx.onnx.load(path).run(more).values()])


@pytest.mark.parametrize("start", [0., 2., 9.])
def test_while_loop_has_zeros_behind_its_last_step(start, tmp_path):
    i, x = S.var("i"), S.var("x")
    outs, last = S.contrib.while_loop(
        lambda i, x: i < 4, lambda i, x: ([dense(x), i * 2], [i + 1, x + dense(x)]), [i, x], 6)
    path = check(S.Group([*outs, *last]), {"i": np.array([start], "float32"),
                                           "x": around_zero(2, 3)}, WEIGHT, tmp_path)
    assert "Loop" in operators(path)


@pytest.mark.parametrize("start", [1., 9.])
def test_while_loop_of_free_sizes(start, tmp_path):
    i, x = S.var("i"), S.var("x")
    outs, last = S.contrib.while_loop(lambda i, x: i < 4, lambda i, x: (dense(x), [i + 1, x * 2]),
                                      [i, x], 6)
    check(S.Group([outs, *last]), {"i": np.array([start], "float32"), "x": around_zero(2, 3)},
          WEIGHT, tmp_path, dynamic=True, dynamic_input_shapes=[(1,), ("batch", 3)])


def test_while_loop_that_the_number_of_steps_ends(tmp_path):
    outs, last = S.contrib.while_loop(lambda x: S.sum(x) < 1e9, lambda x: (x * x, x + 1), d, 5)
    check(S.Group([outs, last]), {"d": around_zero(2, 3)}, {}, tmp_path)


@pytest.mark.parametrize("number", [3., 7.])
def test_cond(number, tmp_path):
    outer = S.exp(t)
    made = S.contrib.cond(S.sum(d) < 5, lambda: [dense(outer), outer], lambda: [S.broadcast_sub(t, d), t])
    path = check(S.Group([*made]), {"d": np.array([number], "float32"), "t": around_zero(2, 3)},
                 WEIGHT, tmp_path)
    assert "If" in operators(path)


def test_loops_in_loops_and_branches(tmp_path):
    def step(x, st):
        inner, last = S.contrib.foreach(lambda y, z: (dense(y) + st, y + z), x, s * 2)
        chosen = S.contrib.cond(S.sum(x) < 0, lambda: st + last, lambda: st * S.sum(dense(x), axis=0))
        return inner, S.tanh(chosen)
    outs, last = S.contrib.foreach(step, d, s)
    path = check(S.Group([outs, last]), {"d": around_zero(4, 2, 3), "s": around_zero(3)}, WEIGHT,
                 tmp_path)
    assert operators(path).count("Scan") == 1


class Steps(mx.gluon.HybridBlock):
    """A loop of 1.x in a block, over a cell."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.cell = mx.gluon.rnn.LSTMCell(4, input_size=3)

    def hybrid_forward(self, F, x, h, c):
        def body(row, states):
            return self.cell(row, states)
        outs, states = F.contrib.foreach(body, x, [h, c])
        return outs, states[0], states[1]


def test_cell_in_a_block(tmp_path):
    block = Steps()
    block.initialize(mx.init.Xavier())
    arrays = [around_zero(5, 2, 3), around_zero(2, 4), around_zero(2, 4, seed=4)]
    check_block(block, arrays, tmp_path, dynamic=True,
                dynamic_input_shapes=[("steps", "batch", 3), ("batch", 4), ("batch", 4)],
                others=[[around_zero(2, 7, 3), around_zero(7, 4), around_zero(7, 4, seed=4)]])


def test_dynamic_unroll(tmp_path):
    class Unrolled(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.cell = mx.gluon.rnn.GRUCell(4, input_size=3)

        def hybrid_forward(self, F, x, h, lengths):
            outs, last = mx.gluon.contrib.rnn.rnn_cell.dynamic_unroll(
                self.cell, x, [h], layout="TNC", valid_length=lengths)
            return outs, last[0]

    block = Unrolled()
    block.initialize(mx.init.Xavier())
    check_block(block, [around_zero(5, 2, 3), around_zero(2, 4), np.array([2, 5], "float32")],
                tmp_path)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_dtypes(dtype, tmp_path):
    outs, last = S.contrib.foreach(lambda x, st: (S.LeakyReLU(dense(x), act_type="gelu"), st + x),
                                   S.cast(d, dtype), S.cast(s, dtype))
    symbol = S.Group([S.cast(outs, "float32"), S.cast(last, "float32")])
    params = {"w": mx.nd.array(WEIGHT["w"]).astype(dtype)}
    arrays = {"d": around_zero(4, 2, 3), "s": around_zero(2, 3)}
    given = {n: mx.nd.array(a) for n, a in arrays.items()}
    ours = [o.asnumpy() for o in symbol.bind(mx.cpu(), {**given, **params}).forward()]
    path = mx.onnx.export_model(symbol, params, given, onnx_file_path=str(tmp_path / "m.onnx"))
    read = [value.asnumpy() for value in mx.onnx.load(path).run(arrays).values()]
    assert_equal(ours, read, 2e-2)
    if dtype == "float16":      # ONNX Runtime has hardly any bfloat16
        assert_equal(ours, run(path, arrays), 2e-2)


@pytest.mark.parametrize("flag", [0, 1])
def test_numpy_blocks(flag, tmp_path):
    class Net(mx.gluon.HybridBlock):
        def forward(self, x, h, flag):
            outs, last = npx.foreach(lambda row, st: (row + st, mx.np.tanh(row * st)), x, h)
            rows, more = npx.while_loop(lambda i, a: i < 3, lambda i, a: (a.sum(), (i + 1, a * 2)),
                                        (flag, last), max_iterations=4)
            chosen = npx.cond(flag.sum(), lambda: more[1] + 1, lambda: more[1] * 3)
            return outs, rows, chosen

    with mx.util.np_shape(True), mx.util.np_array(True):
        block = Net()
        block.initialize()
        check_block(block, [around_zero(4, 3), around_zero(3), np.array(flag, "float32")], tmp_path)


def test_unknown_operators_of_bodies_are_named(tmp_path):
    outs, _ = S.contrib.foreach(lambda x, st: (S._internal._tetragamma(x, name="inner"), st + x), d, s)
    with pytest.raises(mx.base.MXNetError, match=r"_tetragamma \(inner\)"):
        mx.onnx.export_model(outs, {}, [(3, 2), (2,)], onnx_file_path=str(tmp_path / "m.onnx"))


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("lengths", [False, True])
def test_projected_lstm(bidirectional, lengths, tmp_path):
    layer = mx.gluon.rnn.LSTM(4, 2, input_size=3, bidirectional=bidirectional, projection_size=2,
                              state_clip_min=-.2, state_clip_max=.3, use_sequence_length=lengths)
    layer.initialize(mx.init.Uniform(1))
    parts = 4 if bidirectional else 2
    arrays = [around_zero(5, 3, 3), around_zero(parts, 3, 2), around_zero(parts, 3, 4)]
    more = [around_zero(7, 2, 3), around_zero(parts, 2, 2), around_zero(parts, 2, 4)]

    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def hybrid_forward(self, F, x, h, c, sizes=None):
            outs, states = self.layer(x, [h, c], sizes) if lengths else self.layer(x, [h, c])
            return (outs, *states)

    if lengths:
        arrays.append(np.array([2, 5, 1], "float32"))
        more.append(np.array([7, 3], "float32"))
    free = [("steps", "batch", 3), (parts, "batch", 2), (parts, "batch", 4), ("batch",)]
    check_block(Net(), arrays, tmp_path, others=[more], dynamic=True,
                dynamic_input_shapes=free[:len(arrays)])


@pytest.mark.parametrize("masked", [False, True])
def test_deformable_convolution(masked, tmp_path):
    x, offset, mask, weight, bias = (S.var(n) for n in ("x", "offset", "mask", "weight", "bias"))
    options = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1), "dilate": (1, 2), "num_filter": 4,
               "num_group": 2, "num_deformable_group": 2}
    out = (3, 6)
    arrays = {"x": around_zero(2, 4, 5, 6), "offset": 2 * around_zero(2, 24, *out)}
    params = {"weight": around_zero(4, 2, 3, 2), "bias": around_zero(4)}
    if masked:
        arrays["mask"] = around_zero(2, 12, *out)
        made = S.contrib.ModulatedDeformableConvolution(x, offset, mask, weight, bias, **options)
    else:
        made = S.contrib.DeformableConvolution(x, offset, weight, bias, **options)
    for opset in (13, 19):      # there is DeformConv from 19 on
        path = check(made, arrays, params, tmp_path, opset_version=opset)
        assert ("DeformConv" in operators(path)) == (opset == 19)
