"""What 2.0 added to modules of 1.x: steps of optimizers, sharing of Parameters, RNNFused,
mxnet.dlpack, helpers of tests. Numbers are those that 2.0.0b1 gives."""
import warnings

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import nn

nd = mx.nd


def steps(name, use_fused_step, dtype="float32", count=3, **kwargs):
    optimizer = mx.optimizer.create(name, learning_rate=0.1, wd=0.01, rescale_grad=0.5, use_fused_step=use_fused_step,
                                    multi_precision=dtype != "float32", **kwargs)
    weight, grad = nd.array([1, -2, 3], dtype=dtype), nd.array([0.5, -1, 0.2], dtype=dtype)
    state = optimizer.create_state_multi_precision(0, weight)
    for _ in range(count):
        optimizer.update_multi_precision([0], [weight], [grad], [state])
    return weight.asnumpy()


@pytest.mark.parametrize("name, options, wanted", [
    ("AdaBelief", {"clip_gradient": 0.3}, [0.653136, -1.6521941, 2.6632283]),
    ("LANS", {"clip_gradient": 0.3}, [0.41526127, -1.4094718, 2.4036834]),
    ("AdamW", {"clip_gradient": 0.3}, [0.69933647, -1.6985744, 2.6978738]),
    ("AdamW", {"clip_gradient": 0.3, "correct_bias": False}, [-0.23804939, -0.75891924, 1.7561324]),
    ("LANS", {"clip_gradient": 0.3, "lower_bound": 0.01, "upper_bound": 0.5}, [0.91424924, -1.9134, 2.9125514]),
    ("AdaBelief", {}, None), ("LANS", {"lower_bound": 5}, None)])
def test_plain_steps_do_what_fused_ones_do(name, options, wanted):
    fused, plain = (steps(name, use, **options) for use in (True, False))
    np.testing.assert_allclose(plain, fused, rtol=1e-4)
    if wanted is not None:
        np.testing.assert_allclose(fused, wanted, rtol=1e-4)
    np.testing.assert_allclose(steps(name, False, "float16", **options), fused, rtol=2e-3)


def test_steps_of_several_weights():
    for name in ("AdaBelief", "AdamW", "LANS"):
        results = []
        for method in ("step", "fused_step"):
            optimizer = mx.optimizer.create(name, learning_rate=0.1)
            weights, grads = [nd.ones((2,)), nd.ones((3,)) * 2], [nd.ones((2,)), nd.arange(1, 4)]
            states = [optimizer.create_state(i, w) for i, w in enumerate(weights)]
            getattr(optimizer, method)([0, 1], weights, grads, states)
            results.append(np.concatenate([w.asnumpy() for w in weights]))
        np.testing.assert_allclose(results[0], results[1], rtol=1e-4)
        assert (results[0] != [1, 1, 2, 2, 2]).all()


def network():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=3), nn.Dense(2, in_units=4))
    net.initialize()
    return net


def test_share_parameters():
    one, other = network(), network()
    x = nd.ones((1, 3))
    other.hybridize()
    other(x)
    assert other.share_parameters({"0.weight": one[0].weight, "0.bias": one[0].bias}) is other
    assert other[0].weight is one[0].weight and other[1].weight is not one[1].weight
    assert one[0].weight.name in other.collect_params() and len(other.collect_params()) == 4
    one[0].weight.set_data(nd.ones((4, 3)) * 5)
    want = other[1](other[0](x)).asnumpy()
    np.testing.assert_allclose(other(x).asnumpy(), want, rtol=1e-6)
    other.share_parameters(one._collect_params_with_prefix())
    np.testing.assert_allclose(other(x).asnumpy(), one(x).asnumpy(), rtol=1e-6)
    dense, like = nn.Dense(2, in_units=3), nn.Dense(2, in_units=3)
    assert like.share_parameters(dense.collect_params()).weight is dense.weight
    with pytest.warns(UserWarning, match="Parameter name nope is not in the current model"):
        like.share_parameters({"nope": dense.weight})
    assert like.share_parameters(None) is like
    for wrong in (3, [1], dense):
        with pytest.raises(ValueError, match="should be in type of Dict"):
            like.share_parameters(wrong)


def test_reset_device():
    net = network()
    net.reset_device(mx.cpu(1))
    assert net[0].weight.list_ctx() == [mx.cpu(1)]


def test_device_is_a_name_of_ctx(tmp_path):
    """Where 1.9.1 has ctx=, device= of 2.0 is taken; of both, ctx."""
    one, two, file = mx.Device("cpu", 1), mx.cpu(2), str(tmp_path / "net.params")
    parameter = mx.gluon.Parameter("w", shape=(2,))
    parameter.initialize(device=[one, two])
    assert parameter.list_device() == [one, two]
    assert parameter.data(device=one).ctx == one and parameter.grad(device=two).ctx == two
    assert parameter.data(ctx=two, device=one).ctx == two and parameter.data(ctx=None, device=one).ctx == one
    parameter.reset_device(device=one)
    assert parameter.list_ctx() == [one]

    net = nn.Dense(2, in_units=3)
    net.initialize(device=one)
    assert net.bias.list_device() == [one]
    net.save_parameters(file)
    net.hybridize()
    net(nd.ones((1, 3), ctx=one))
    net.export(str(tmp_path / "net"))
    for load in (lambda block: block.load_parameters(file, device=two),
                 lambda block: block.load_dict(nd.load(file), device=two)):
        again = nn.Dense(2, in_units=3)
        load(again)
        assert again.weight.list_ctx() == [two]
    block = mx.gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"), device=two)
    assert all(p.list_ctx() == [two] for p in block.collect_params().values())

    for made in (mx.gluon.rnn.LSTM(4), mx.gluon.rnn.ZoneoutCell(mx.gluon.rnn.LSTMCell(4)),
                 mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.GRUCell(4), mx.gluon.rnn.GRUCell(4))):
        states = made.begin_state(batch_size=2, device=one)
        assert len(states) == 2 and all(state.ctx == one for state in states)

    with pytest.warns(UserWarning) as told:
        estimator = mx.gluon.contrib.estimator.Estimator(net, mx.gluon.loss.L2Loss(), device=one)
        parameter.initialize()
    assert [warning.filename for warning in told] == [__file__] * 2
    assert estimator.context == estimator.device == [one]
    numbers = []
    for _ in range(2):
        mx.random.seed(3, device=one)
        numbers.append(nd.random.uniform(shape=3, ctx=one).asnumpy())
    assert (numbers[0] == numbers[1]).all()
    with pytest.raises(ValueError, match="Expecting a gpu"):
        mx.util.get_cuda_compute_capability(device=one)
    with one:
        assert mx.current_device() == one


@pytest.mark.parametrize("name", ["alexnet", "densenet121", "inceptionv3", "mobilenet1.0", "mobilenetv2_1.0", "resnet18_v1",
                                  "squeezenet1.0", "vgg11"])
def test_models_take_device(name, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(mx.gluon.Block, "load_parameters", lambda self, filename, ctx=None, **kwargs: asked.append(ctx))
    module = mx.gluon.model_zoo.model_store
    monkeypatch.setattr(module, "get_model_file", lambda *args, **kwargs: "file")
    mx.gluon.model_zoo.vision.get_model(name, pretrained=True, device=mx.cpu(1))
    assert asked == [mx.cpu(1)]


def test_rnn_fused_fills_the_parts():
    init = mx.init.RNNFused("lstm", 2, 3, i2h_weight_initializer="one", h2h_weight_initializer=mx.init.Constant(4),
                            i2h_bias_initializer="lstmbias", h2h_bias_initializer="one")
    weights = nd.zeros((216,))
    init(mx.init.InitDesc("rnn_weight"), weights)
    bias = [0] * 3 + [1] * 3 + [0] * 6 + [1] * 12
    assert weights.asnumpy().tolist() == [1] * 60 + [4] * 36 + [1] * 36 + [4] * 36 + bias * 2
    assert mx.init.create(*["rnnfused"], mode="gru", num_layers=1, state_size=2).dumps().startswith('["rnnfused"')
    some = mx.init.RNNFused("lstm", 1, 4, projection_size=2, bidirectional=True, h2r_weight_initializer="one")
    with pytest.raises(TypeError, match="the initializer of i2h_weight is None"):
        some(mx.init.InitDesc("rnn_weight"), nd.zeros((2 * (16 * (3 + 2 + 2) + 8),)))
    some.set_initializer("zero")
    weights = nd.ones((2 * (16 * (3 + 2 + 2) + 8),))
    some(mx.init.InitDesc("rnn_weight"), weights)
    assert weights.asnumpy().tolist() == ([0] * 80 + [1] * 8) * 2 + [0] * 64
    for size in (1, 7, 241):
        with pytest.raises(ValueError, match=f"{size} parameters do not fit"):
            some(mx.init.InitDesc("rnn_weight"), nd.zeros((size,)))
    with pytest.raises(ValueError, match="mode='no'"):
        mx.init.RNNFused("no", 1, 1)


def test_dlpack_functions():
    from mxnet import dlpack
    x = nd.array([1, 2])
    read = dlpack.ndarray_from_dlpack(mx.nd.NDArray)
    shared = read(dlpack.ndarray_to_dlpack_for_write()(x))
    shared[:] = 5
    assert x.asnumpy().tolist() == [5, 5] and read(dlpack.ndarray_to_dlpack_for_read()(x)).asnumpy().tolist() == [5, 5]

    class Mine(mx.nd.NDArray):
        pass
    mine = dlpack.ndarray_from_dlpack(Mine)(dlpack.ndarray_to_dlpack_for_write()(x))
    assert type(mine) is Mine and mine.asnumpy().tolist() == [5, 5]
    given = np.arange(3.0)
    both = [dlpack.ndarray_from_numpy(Mine, nd.array)(given, zero_copy=z) for z in (False, True)]
    assert [b.asnumpy().tolist() for b in both] == [[0, 1, 2]] * 2 and type(both[1]) is Mine and both[0].dtype == np.float64
    assert [m.value for m in dlpack.DLDeviceType] == [1, 2, 3, 4, 7, 8, 9, 10, 12]
    assert dlpack.DLDataType(*dlpack.DLDataType.TYPE_MAP["uint8"]).bits == 8
    assert dlpack.DLManagedTensor().dl_tensor.ctx.device_id == 0


def test_optimizers_with_equal_noise():
    compare = mx.test_utils.compare_optimizer_noise_seeded
    compare(mx.optimizer.SGLD(), mx.optimizer.SGLD(), [(3,), (2, 2)], "float32", 7)
    with pytest.raises(AssertionError):
        compare(mx.optimizer.SGLD(), mx.optimizer.SGLD(learning_rate=0.5), [(30,)], "float32", 7, compare_states=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare(mx.optimizer.SGD(), mx.optimizer.SGD(), [(3,)], "float32", 7)


def test_names_at_the_top_and_an_interval_sampler():
    assert not mx.is_np_default_dtype()
    with mx.np_default_dtype(True):
        assert mx.np.zeros(1).dtype == "float64"
    assert mx.use_np_default_dtype(lambda: mx.np.zeros(1).dtype)() == "float64"
    assert list(mx.gluon.data.IntervalSampler(5, 2, rollover=False)) == [0, 2, 4]
    assert mx.gluon.contrib.data.IntervalSampler is mx.gluon.data.IntervalSampler
