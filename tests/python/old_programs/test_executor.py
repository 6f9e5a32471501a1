"""Executors: binding, running, gradients, reshaping, looking inside."""
import numpy as np
import pytest

import mxnet as mx

pytestmark = [pytest.mark.on_gpu, pytest.mark.gpu_quick, pytest.mark.sanitized]


def _fc(**kwargs):
    return mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3, name="fc", **kwargs)


def _values(rng, *shape):
    return mx.nd.array(rng.standard_normal(shape).astype(np.float32))


def test_forward_and_backward():
    rng = np.random.default_rng(0)
    x, w, b = rng.standard_normal((4, 2)), rng.standard_normal((3, 2)), rng.standard_normal(3)
    args = {"x": mx.nd.array(x), "fc_weight": mx.nd.array(w), "fc_bias": mx.nd.array(b)}
    grads = {k: mx.nd.zeros(v.shape) for k, v in args.items()}
    exe = _fc().bind(mx.cpu(), args, grads)
    out = exe.forward(is_train=True)[0]
    np.testing.assert_allclose(out.asnumpy(), x @ w.T + b, rtol=1e-5)
    og = rng.standard_normal((4, 3)).astype(np.float32)
    exe.backward(mx.nd.array(og))
    np.testing.assert_allclose(grads["x"].asnumpy(), og @ w, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(grads["fc_weight"].asnumpy(), og.T @ x, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(exe.grad_dict["fc_bias"].asnumpy(), og.sum(0), rtol=1e-4, atol=1e-5)
    assert list(exe.arg_dict) == ["x", "fc_weight", "fc_bias"] and list(exe.output_dict) == ["fc_output"]


@pytest.mark.parametrize("req", ("write", "add", "null"))
def test_requests(req):
    x = mx.sym.var("x")
    exe = (x * x).simple_bind(mx.cpu(), grad_req=req, x=(2,))
    for _ in range(2):
        exe.forward(is_train=True, x=np.array([1, 2], np.float32))
        exe.backward(mx.nd.ones((2,)))
    if req == "null":
        assert exe.grad_dict["x"] is None
    else:
        assert exe.grad_dict["x"].asnumpy().tolist() == ([2, 4] if req == "write" else [4, 8])


def test_requests_by_list_and_name():
    exe = _fc().simple_bind(mx.cpu(), grad_req=["write", "null", "add"], x=(2, 4))
    assert [g is None for g in exe.grad_arrays] == [False, True, False]
    exe = _fc().simple_bind(mx.cpu(), grad_req={"fc_weight": "write"}, x=(2, 4))
    assert [g is None for g in exe.grad_arrays] == [True, False, True]
    with pytest.raises(ValueError):
        _fc().simple_bind(mx.cpu(), grad_req="twice", x=(2, 4))
    with pytest.raises(ValueError):
        _fc().simple_bind(mx.cpu(), grad_req=["write"], x=(2, 4))


def test_backward_needs_head_gradients_of_what_is_no_loss():
    x = mx.sym.var("x")
    exe = (x * 2).simple_bind(mx.cpu(), x=(2,))
    exe.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="head gradient"):
        exe.backward()
    exe.backward({"_mulscalar0_output": mx.nd.ones((2,))} if exe.outputs
                 and list(exe.output_dict)[0] == "_mulscalar0_output" else mx.nd.ones((2,)))
    assert exe.grad_dict["x"].asnumpy().tolist() == [2, 2]


def test_simple_bind_makes_zeros_and_infers():
    exe = _fc().simple_bind(mx.cpu(), type_dict={"x": "float64"}, x=(2, 4))
    assert [a.shape for a in exe.arg_arrays] == [(2, 4), (3, 4), (3,)]
    assert all(a.dtype == np.float64 and not a.asnumpy().any() for a in exe.arg_arrays)
    with pytest.raises(mx.MXNetError, match="fc_weight"):
        _fc().simple_bind(mx.cpu())


def test_bind_checks():
    x = mx.nd.ones((2, 4))
    with pytest.raises(ValueError, match="fc_weight"):
        _fc().bind(mx.cpu(), {"x": x})
    with pytest.raises(ValueError):
        _fc().bind(mx.cpu(), [x])
    with pytest.raises(ValueError):
        _fc().bind(mx.cpu(), [x, mx.nd.ones((3, 5)), mx.nd.ones((3,))])
    with pytest.raises(TypeError):
        _fc().bind(mx.cpu(), [x, 3, 4])
    exe = _fc().simple_bind(mx.cpu(), x=(2, 4))
    with pytest.raises(TypeError, match="Unknown argument"):
        exe.forward(y=x)
    with pytest.raises(ValueError, match="Shape not match"):
        exe.forward(x=mx.nd.ones((3, 4)))


def test_reshape():
    exe = _fc().simple_bind(mx.cpu(), x=(4, 2))
    exe.arg_dict["fc_weight"][:] = 1
    smaller = exe.reshape(x=(2, 2))
    assert smaller.forward(x=mx.nd.ones((2, 2)))[0].asnumpy().tolist() == [[2] * 3] * 2
    smaller.arg_dict["fc_weight"][:] = 2   # shared
    assert exe.forward(x=mx.nd.ones((4, 2)))[0].asnumpy()[0, 0] == 4
    with pytest.raises(mx.MXNetError, match="allow_up_sizing"):
        exe.reshape(x=(8, 2))
    with pytest.raises(mx.MXNetError, match="partial_shaping"):
        exe.reshape(x=(4, 1))
    assert exe.reshape(x=(8, 2), allow_up_sizing=True).forward()[0].shape == (8, 3)


def test_shared_buffer_and_executor():
    buffer = {}
    first = _fc().simple_bind(mx.cpu(), shared_arg_names=["fc_weight", "fc_bias"], shared_buffer=buffer, x=(4, 2))
    assert sorted(buffer) == ["grad of x", "x"]
    second = _fc().simple_bind(mx.cpu(), shared_arg_names=["fc_weight", "fc_bias"], shared_exec=first, shared_buffer=buffer, x=(2, 2))
    first.arg_dict["fc_weight"][:] = 3
    assert second.arg_dict["fc_weight"].asnumpy().tolist() == [[3, 3]] * 3
    first.arg_dict["x"][:] = 7
    assert second.arg_dict["x"].asnumpy().tolist() == [[7, 7]] * 2


def _shared(first, second):
    """{name: do the executors have the argument, its gradient or the state in common}"""
    def common(a, b):
        a[:], b[:] = 0, 1
        return bool(a.asnumpy().any())
    return {name: common(a, b) for kind in ("arg_dict", "grad_dict", "aux_dict")
            for name, a, b in [(f"{kind[:-5]} {n}", a, getattr(second, kind)[n]) for n, a in getattr(first, kind).items()]}


def test_what_executors_share_is_what_they_share_in_1_9_1():
    symbol = mx.sym.BatchNorm(_fc(), name="bn")
    buffer = {}
    first = symbol.simple_bind(mx.cpu(), x=(4, 2), shared_buffer=buffer)
    names = symbol.list_arguments()
    assert sorted(buffer) == sorted(names + [f"grad of {name}" for name in names])
    # gradients lie in the buffer, too; states are the other executor's
    second = symbol.simple_bind(mx.cpu(), x=(4, 2), shared_buffer=buffer)
    assert _shared(first, second) == {k: not k.startswith("aux") for k in _shared(first, second)}
    second = symbol.simple_bind(mx.cpu(), x=(2, 2), shared_exec=first, shared_buffer=buffer)
    assert all(_shared(first, second).values())
    # what is asked for by name, with an empty buffer
    second = symbol.simple_bind(mx.cpu(), x=(4, 2), shared_exec=first, shared_buffer={}, shared_arg_names=["fc_bias"])
    assert {k for k, common in _shared(first, second).items() if common} == {"arg fc_bias", "grad fc_bias", "aux bn_moving_mean",
                                                                            "aux bn_moving_var"}
    # without a buffer nothing but memory for intermediate results
    second = symbol.simple_bind(mx.cpu(), x=(4, 2), shared_exec=first, shared_arg_names=["fc_bias"])
    assert not any(_shared(first, second).values())


def test_copy_params_from():
    exe = _fc().simple_bind(mx.cpu(), x=(1, 2))
    exe.copy_params_from({"fc_weight": mx.nd.ones((3, 2)), "fc_bias": mx.nd.ones((3,))})
    assert exe.forward(x=mx.nd.ones((1, 2)))[0].asnumpy().tolist() == [[3, 3, 3]]
    with pytest.raises(ValueError):
        exe.copy_params_from({"other": mx.nd.ones((1,))})
    exe.copy_params_from({"other": mx.nd.ones((1,))}, allow_extra_params=True)


@pytest.fixture
def every_operator():
    """Plans whose operators are those of the graph."""
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "fuse_dense,fuse_pointwise")
    yield
    mx.util.set_env("MXNET_PLAN_PASSES_OFF", "")


def test_monitor(every_operator):
    exe = mx.sym.relu(_fc(), name="act").simple_bind(mx.cpu(), x=(2, 4))
    seen = []
    exe.set_monitor_callback(lambda name, array: seen.append((name, array.shape)))
    exe.forward()
    assert seen == [("fc_output", (2, 3)), ("act_output", (2, 3))]
    seen.clear()
    exe.set_monitor_callback(lambda name, array: seen.append(name), monitor_all=True)
    exe.forward()
    assert seen == ["x", "fc_data", "fc_weight", "fc_weight", "fc_bias", "fc_bias", "fc_output", "act_input0", "act_output"]


def test_looking_inside(every_operator):
    exe = mx.sym.relu(_fc(), name="act").simple_bind(mx.cpu(), grad_req="null", x=(2, 4))
    stats = exe.plan_stats()
    assert stats["num_nodes"] == 2 and stats["lower_bound_bytes"] <= stats["arena_bytes"] <= max(64, stats["unshared_bytes"] * 2)
    text = exe.debug_str()
    assert "FullyConnected" in text and "Total" in text and "act" in text
    assert exe.get_optimized_symbol().list_outputs() == ["act_output"]


def test_training_a_softmax_net():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((128, 2)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.float32)
    net = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=16, name="a"), act_type="tanh")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=2, name="b"), name="softmax")
    exe = net.simple_bind(mx.cpu(), data=x.shape)
    for name, array in exe.arg_dict.items():
        if name not in ("data", "softmax_label"):
            array[:] = rng.standard_normal(array.shape).astype(np.float32) * 0.5
    for _ in range(300):
        exe.forward(is_train=True, data=x, softmax_label=y)
        exe.backward()
        for name, array in exe.arg_dict.items():
            if name not in ("data", "softmax_label"):
                array[:] = array - 0.02 * exe.grad_dict[name]
    accuracy = (exe.forward()[0].asnumpy().argmax(1) == y).mean()
    assert accuracy > 0.95


def test_dropout_differs_between_training_and_inference():
    exe = mx.sym.Dropout(mx.sym.var("x"), p=0.5).simple_bind(mx.cpu(), x=(1000,))
    ones = mx.nd.ones((1000,))
    assert exe.forward(is_train=False, x=ones)[0].asnumpy().tolist() == [1] * 1000
    kept = exe.forward(is_train=True)[0].asnumpy()
    assert 300 < (kept == 0).sum() < 700 and set(np.unique(kept)) == {0, 2}
    exe.backward(ones)
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), kept)   # the same mask
    exe.backward(ones)
    np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), kept)   # also when the forward pass must be repeated


def test_batch_norm_updates_its_statistics_once():
    net = mx.sym.BatchNorm(mx.sym.var("x"), fix_gamma=False, momentum=0.5, name="bn")
    exe = net.simple_bind(mx.cpu(), x=(4, 2))
    x = np.array([[0, 1], [2, 3], [4, 5], [6, 7]], np.float32)
    exe.forward(is_train=True, x=x)
    for _ in range(2):
        exe.backward(mx.nd.ones((4, 2)))
    np.testing.assert_allclose(exe.aux_dict["bn_moving_mean"].asnumpy(), x.mean(0) / 2, rtol=1e-5)


def test_outputs_are_those_of_the_last_forward_pass():
    x, grad = mx.nd.array([1, 2]), mx.nd.zeros(2)
    exe = mx.sym.exp(mx.sym.var("x")).bind(mx.cpu(), {"x": x}, {"x": grad})
    for is_train in (True, False):
        x[:] = mx.nd.array([1, 2])
        shown = exe.forward(is_train=is_train)[0]
        x[:] = 5
        for _ in range(2):      # the second one repeats the forward pass
            exe.backward(mx.nd.ones(2))
            np.testing.assert_allclose(shown.asnumpy(), np.exp([1, 2]), rtol=1e-6)
            np.testing.assert_array_equal(exe.outputs[0].asnumpy(), shown.asnumpy())
        np.testing.assert_allclose(grad.asnumpy(), np.exp([5, 5]), rtol=1e-6)


def test_lists_of_gradients_with_gaps():
    x, w, grad = mx.nd.array([1, 2]), mx.nd.array([3, 4]), mx.nd.zeros(2)
    for req in ("write", ["null", "write"], {"w": "write"}):
        exe = (mx.sym.var("x") * mx.sym.var("w")).bind(mx.cpu(), [x, w], [None, grad], grad_req=req)
        exe.forward(is_train=True)
        exe.backward(mx.nd.ones(2))
        assert exe.grad_arrays[0] is None and exe.grad_dict["x"] is None
        np.testing.assert_array_equal(exe.grad_dict["w"].asnumpy(), [1, 2])
