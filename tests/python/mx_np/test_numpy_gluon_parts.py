"""Parts of Gluon under npx.set_np(): the class of what they make and take."""
import os
import pickle
import subprocess
import sys

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn


def is_np(array):
    return isinstance(array, mx.np.ndarray)


def an_array(shape, dtype="float32", seed=0):
    return mx.nd.array(onp.random.RandomState(seed).normal(size=shape), dtype=dtype).as_np_ndarray()


# -- parameters ----------------------------------------------------------------------------------
def test_parameters_are_of_the_class_of_their_initialization(numpy_semantics):
    net = nn.Dense(3, in_units=2)
    net.initialize()
    assert is_np(net.weight.data()) and is_np(net.weight.grad()) and all(map(is_np, net.weight.list_data()))
    assert is_np(net(an_array((4, 2))))


def test_switching_touches_only_what_is_made_afterwards():
    old = nn.Dense(3, in_units=2)
    old.initialize()
    x = mx.nd.ones((4, 2))
    before = old(x)
    mx.util.set_np()
    try:
        assert type(old.weight.data()) is mx.nd.NDArray
        after = old(x)
        new = nn.Dense(3, in_units=2)
        new.initialize()
    finally:
        mx.util.reset_np()
    assert type(after) is mx.nd.NDArray and (before.asnumpy() == after.asnumpy()).all()
    assert is_np(new.weight.data()) and is_np(new(x.as_np_ndarray()))
    with pytest.raises(TypeError, match="mx.nd and of mx.np"):
        new(x)


def test_a_decorated_class_initializes_in_its_scope():
    @mx.util.use_np
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3)

        def hybrid_forward(self, F, x):
            return self.dense(x)

    class Below(Net):
        pass

    for net in (Net(), Below()):
        net.initialize()
        out = net(mx.nd.ones((2, 4)).as_np_ndarray())
        assert is_np(net.dense.weight.data()) and is_np(out)
        net.hybridize()
        assert is_np(net(mx.nd.ones((2, 4)).as_np_ndarray()))
    assert not mx.util.is_np_array()


def test_open_and_empty_shapes(numpy_semantics):
    assert nn.Dense(3).weight.shape == (3, -1)
    scalar = gluon.Parameter("w", shape=(), init="ones")
    scalar.initialize()
    assert scalar.data().shape == () and float(scalar.data()) == 1 and scalar.grad().shape == ()
    scalar.set_data(mx.nd.zeros(()).as_np_ndarray())
    scalar.zero_grad()
    assert float(scalar.data()) == 0
    for shape in ((0, 3), (-1, 3)):
        with pytest.raises(ValueError, match="open dimensions"):
            gluon.Parameter("w", shape=shape).initialize()


def test_constants(numpy_semantics):
    for constant in (gluon.Constant([[1, 2], [3, 4.]]), gluon.Constant("c", an_array((2, 2)))):
        constant.initialize()
        assert is_np(constant.data()) and constant.data().shape == (2, 2)


def test_values_are_copied_from_either_class(numpy_semantics):
    net = nn.Dense(3, in_units=2)
    net.initialize()
    for value in (mx.nd.ones((3, 2)), mx.nd.ones((3, 2)).as_np_ndarray(), onp.ones((3, 2))):
        net.weight.set_data(mx.nd.zeros((3, 2)).as_np_ndarray())
        net.weight.set_data(value)
        assert is_np(net.weight.data()) and net.weight.data().asnumpy().sum() == 6


@pytest.mark.parametrize("name", ("a.params", "a.npz"))
def test_files_go_between_classic_and_numpy_blocks(tmp_path, name):
    path = str(tmp_path / name)
    old = nn.Dense(3, in_units=2)
    old.initialize()
    old.save_parameters(path)
    if name.endswith("npz"):
        assert sorted(onp.load(path)) == ["bias", "weight"]
    mx.util.set_np()
    try:
        new = nn.Dense(3)
        new.load_parameters(path)
        assert is_np(new.weight.data()) and (new.weight.data().asnumpy() == old.weight.data().asnumpy()).all()
        new.weight.set_data(mx.nd.ones((3, 2)))
        new.load_parameters(path)      # over values that are there
        assert is_np(new.weight.data()) and (new.weight.data().asnumpy() == old.weight.data().asnumpy()).all()
        new.save_parameters(path)
    finally:
        mx.util.reset_np()
    third = nn.Dense(3)
    third.load_parameters(path)
    assert type(third.weight.data()) is mx.nd.NDArray


def test_a_vector_of_a_recurrent_layer_is_read(numpy_semantics):
    net = nn.HybridSequential()
    net.add(rnn.LSTM(4, num_layers=2, bidirectional=True))
    net.initialize()
    x = an_array((5, 2, 3))
    net(x)
    layer = net[0]
    parts = [layer._reg_params[k].data().asnumpy().ravel() for k in layer._in_vector(layer._reg_params)]
    expected = net(x).asnumpy()
    again = nn.HybridSequential()
    again.add(rnn.LSTM(4, num_layers=2, bidirectional=True))
    again.load_dict({"0.rnn_param": mx.nd.array(onp.concatenate(parts)).as_np_ndarray()})
    onp.testing.assert_allclose(again(x).asnumpy(), expected, rtol=1e-6)


def test_parameters_by_path(numpy_semantics):
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Dense(2))
    params = net.collect_params()
    assert params["1.weight"] is net[1].weight and "0.bias" in params and "2.bias" not in params
    assert list(net.collect_params("0.*").values()) == [net[0].weight, net[0].bias]
    assert list(net.collect_params(".*bias").values()) == [net[0].bias, net[1].bias]
    with pytest.raises(KeyError):
        params["2.weight"]
    assert pickle.loads(pickle.dumps(params)).keys() == params.keys()
    assert net[0].params["weight"] is net[0].weight and "weight" in net[0].params and "0.weight" not in net.params


def test_collected_parameters_are_looked_up_as_in_a_dictionary(numpy_semantics):
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Dense(2))
    params = net.collect_params()
    assert params.get("0.weight") is net[0].weight and params.get(net[1].bias.name) is net[1].bias
    assert params.get("2.weight") is None and params.get("2.weight", 5) == 5 and len(params) == 4
    assert list(net.collect_params("1.bias|0.weight").values()) == [net[0].weight, net[1].bias]   # in their order
    mx.npx.reset_np()
    assert params.get("0.weight") is net[0].weight and params.get("none", None) is None
    assert params.get("none").name == net.prefix + "none"     # of 1.x
    with pytest.raises(TypeError, match="get"):
        params.get("none", 1, 2)


def test_paths_are_those_of_the_block_that_collects(numpy_semantics):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.first, self.rest = nn.Dense(3), nn.HybridSequential()
            self.rest.add(nn.Dense(2))

        def forward(self, x):
            return self.rest(self.first(x))
    net = Net()
    assert list(net.collect_params("0.weight")) == [] and list(net.collect_params("weight")) == []
    assert list(net.collect_params("rest.0.weight").values()) == [net.rest[0].weight]
    assert list(net.collect_params("first.*").values()) == [net.first.weight, net.first.bias]


# -- blocks --------------------------------------------------------------------------------------
LAYERS = {
    "dense": (lambda: nn.Dense(3, activation="relu"), (4, 6)),
    "conv": (lambda: nn.Conv2D(4, 3), (2, 3, 8, 8)),
    "transposed": (lambda: nn.Conv2DTranspose(4, 3), (2, 3, 8, 8)),
    "pool": (lambda: nn.MaxPool2D(), (2, 3, 8, 8)),
    "batch norm": (lambda: nn.BatchNorm(), (2, 3, 8, 8)),
    "layer norm": (lambda: nn.LayerNorm(), (2, 3, 8)),
    "instance norm": (lambda: nn.InstanceNorm(), (2, 3, 8)),
    "prelu": (lambda: nn.PReLU(), (2, 3)),
    "gelu": (lambda: nn.GELU(), (2, 3)),
    "swish": (lambda: nn.Swish(), (2, 3)),
    "reflection": (lambda: nn.ReflectionPad2D(1), (1, 2, 4, 4)),
    "shuffle": (lambda: nn.PixelShuffle2D(2), (1, 4, 3, 3)),
    "synchronous": (lambda: nn.SyncBatchNorm(), (2, 3, 4, 4)),
    "lstm": (lambda: rnn.LSTM(4, 2, bidirectional=True), (5, 2, 3)),
    "gru": (lambda: rnn.GRU(4, layout="NTC"), (2, 5, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_the_same_numbers_for_both_classes(name):
    make, shape = LAYERS[name]
    values = an_array(shape).asnumpy()

    def run(numpy, compiled):
        mx.util.set_np(numpy, numpy)
        try:
            net = make()
            net.initialize()
            if compiled:
                net.hybridize()
            x = mx.nd.array(values)
            x = x.as_np_ndarray() if numpy else x
            net(x)
            for i, param in enumerate(net.collect_params().values()):
                param.set_data(mx.nd.array(onp.random.RandomState(i).uniform(0.2, 0.8, size=param.shape)))
            x.attach_grad()
            with autograd.record():
                out = net(x)
            out.backward()
            assert is_np(out) == is_np(x.grad) == numpy
            grads = [p.grad() for p in net.collect_params().values() if p.grad_req != "null"]
            assert all(is_np(g) == numpy for g in grads)
            return [a.asnumpy() for a in (out, x.grad, *grads)]
        finally:
            mx.util.reset_np()

    expected = run(False, False)
    for compiled in (False, True):
        for a, b in zip(run(True, compiled), expected, strict=True):
            onp.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_group_norm_has_a_scale_for_each_channel(numpy_semantics):
    net = nn.GroupNorm(num_groups=2)
    net.initialize()
    net(an_array((2, 4, 3)))
    assert net.gamma.shape == (4,)


def test_losses_of_numpy_arrays_have_a_number_for_each_sample(numpy_semantics):
    pred, label = an_array((4, 5)), mx.nd.random.uniform(0.1, 1, shape=(4, 5)).as_np_ndarray()
    loss = gluon.loss.KLDivLoss()(pred, label)
    expected = (label.asnumpy() * (onp.log(label.asnumpy() + 1e-12) - pred.asnumpy())).mean(axis=1)
    onp.testing.assert_allclose(loss.asnumpy(), expected, rtol=1e-4)
    assert gluon.loss.PoissonNLLLoss()(pred, label).shape == (4,)
    assert gluon.loss.CosineEmbeddingLoss()(pred, label, mx.nd.ones((4,)).as_np_ndarray()).shape == (4,)


def test_states_are_of_the_current_class(numpy_semantics):
    cell = rnn.LSTMCell(4, input_size=3)
    cell.initialize()
    assert all(map(is_np, cell.begin_state(2))) and all(map(is_np, rnn.LSTM(4).begin_state(2)))
    outputs, states = cell.unroll(5, an_array((2, 5, 3)), merge_outputs=True)
    assert is_np(outputs) and all(map(is_np, states))
    assert all(type(s) is mx.nd.NDArray for s in cell.begin_state(2, func=mx.nd.zeros))


def test_hybrid_lambda_with_and_without_f(numpy_semantics):
    x = an_array((2, 3))
    for function in (lambda x: x * 2, lambda F, x: F.broadcast_add(x, x), "relu"):
        net = nn.HybridLambda(function)
        eager = net(x).asnumpy()
        net.hybridize()
        assert is_np(net(x)) and (net(x).asnumpy() == eager).all()


def test_export_and_import(numpy_semantics, tmp_path):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3), nn.BatchNorm(), nn.Dense(3, activation="relu"))
    net.initialize()
    net.hybridize()
    x = an_array((2, 1, 5, 5))
    expected = net(x).asnumpy()
    symbol_file, params_file = net.export(str(tmp_path / "net"))
    for device in ({}, {"device": mx.cpu()}):
        block = gluon.SymbolBlock.imports(symbol_file, ["data"], params_file, **device)
        out = block(x)
        assert is_np(out)
        onp.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-5)


# -- training ------------------------------------------------------------------------------------
def trained(numpy, contexts, **options):
    mx.util.set_np(numpy, numpy)
    try:
        net = nn.HybridSequential()
        net.add(nn.Dense(4, in_units=3, activation="tanh"), nn.Dense(1, in_units=4))
        net.initialize(ctx=contexts)
        for i, param in enumerate(net.collect_params().values()):
            param.set_data(an_array(param.shape, seed=i))
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, **options)
        loss = gluon.loss.L2Loss()
        for step in range(3):
            parts = [gluon.utils.split_and_load(an_array(s, seed=9 + step).asnumpy(), contexts) for s in ((8, 3), (8, 1))]
            with autograd.record():
                losses = [loss(net(x), y) for x, y in zip(*parts)]
            autograd.backward(losses)
            if options.get("update_on_kvstore") is False:
                trainer.allreduce_grads()
                gluon.utils.clip_global_norm([p.grad(contexts[0]) for p in net.collect_params().values()], 1e6)
                trainer.update(8)
            else:
                trainer.step(8)
        assert all(is_np(a) == numpy for p in net.collect_params().values() for a in p.list_data() + p.list_grad())
        states = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"numpy_gluon_{os.getpid()}.states")
        trainer.save_states(states)
        trainer.load_states(states)
        os.remove(states)
        return net[0].weight.data(contexts[0]).asnumpy()
    finally:
        mx.util.reset_np()


@pytest.mark.parametrize("options", ({}, {"kvstore": "local"}, {"kvstore": None}, {"update_on_kvstore": False}), ids=str)
@pytest.mark.parametrize("devices", (1, 2))
def test_trainer(devices, options):
    contexts = [mx.cpu(i) for i in range(devices)]
    onp.testing.assert_allclose(trained(True, contexts, **options), trained(False, contexts, **options), rtol=1e-5)


@pytest.mark.parametrize("check", (True, False))
def test_clip_global_norm(numpy_semantics, check):
    arrays = [an_array((2, 2)), an_array((3,))]
    whole = onp.sqrt(sum((a.asnumpy() ** 2).sum() for a in arrays))
    norm = gluon.utils.clip_global_norm(arrays, 1.0, check_isfinite=check)
    assert float(norm) == pytest.approx(whole, rel=1e-5) and all(map(is_np, arrays)) and is_np(norm) != check
    assert sum((a.asnumpy() ** 2).sum() for a in arrays) == pytest.approx(1, rel=1e-4)


def test_a_function_with_its_own_gradient_gets_numpy_arrays(numpy_semantics):
    seen = []

    class Product(autograd.Function):
        def forward(self, a, b):
            self.save_for_backward(a, b)
            return a * b

        def backward(self, grad):
            seen.append(is_np(grad))
            a, b = self.saved_tensors
            return b * grad, a * grad

    a, b = an_array((2,)), an_array((2,), seed=1)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        out = Product()(a, b)
    out.backward()
    assert seen == [True] and (a.grad.asnumpy() == b.asnumpy()).all() and (b.grad.asnumpy() == a.asnumpy()).all()


def test_an_initializer_of_the_program_gets_a_numpy_array(numpy_semantics):
    class Three(mx.init.Initializer):
        def _init_weight(self, name, arr):
            assert is_np(arr)
            arr[:] = 3
            arr *= 2

    param = gluon.Parameter("w_weight", shape=(2, 2))
    param.initialize(init=Three())
    assert (param.data().asnumpy() == 6).all()


# -- data ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("workers", ({}, {"num_workers": 2}, {"num_workers": 2, "thread_pool": True},
                                     {"num_workers": 1, "try_nopython": True}), ids=str)
def test_data_loader(numpy_semantics, workers):
    data = gluon.data.ArrayDataset(onp.arange(24, dtype="float32").reshape(8, 3), onp.arange(8, dtype="int32"))
    batches = list(gluon.data.DataLoader(data, batch_size=3, **workers))
    assert [b[0].shape for b in batches] == [(3, 3), (3, 3), (2, 3)]
    assert all(is_np(part) for batch in batches for part in batch)
    assert onp.concatenate([b[1].asnumpy() for b in batches]).tolist() == list(range(8))


def test_batchify(numpy_semantics):
    from mxnet.gluon.data import batchify
    assert is_np(batchify.Stack()([onp.ones(2), onp.ones(2)])) and is_np(batchify.Stack(use_shared_mem=True)([an_array((2,))] * 2))
    assert is_np(batchify.Pad()([[1, 2], [3]])) and is_np(batchify.Append()([onp.ones(2)])[0])
    assert type(batchify.Stack()([1, 2])) is mx.np.ndarray


def test_pictures(numpy_semantics, tmp_path):
    transforms = gluon.data.vision.transforms
    image = mx.nd.array(onp.arange(90).reshape(5, 6, 3), dtype="uint8").as_np_ndarray()
    for change in (transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.25)]), transforms.Resize(4),
                   transforms.CenterCrop(3), transforms.RandomResizedCrop(4), transforms.RandomColorJitter(0.1, 0.1, 0.1, 0.1),
                   transforms.RandomLighting(0.1), transforms.RandomGray(1.0), transforms.RandomFlipLeftRight(),
                   transforms.Cast("float32")):
        assert is_np(change(image)), change
    assert is_np(transforms.Rotate(30)(an_array((3, 5, 6))))
    for augment in mx.image.CreateAugmenter((3, 4, 4), rand_crop=True, rand_mirror=True, mean=True, std=True, brightness=0.1, contrast=0.1,
                                            saturation=0.1, hue=0.1, pca_noise=0.1, rand_gray=1.0):
        image = augment(image)
    assert is_np(image)


def test_metrics(numpy_semantics):
    label, pred = mx.nd.array([0, 1, 2, 1], dtype="int32").as_np_ndarray(), mx.nd.array(onp.eye(3)[[0, 1, 1, 1]]).as_np_ndarray()
    for name, expected in (("acc", 0.75), ("top_k_accuracy", 1.0)):
        metric = gluon.metric.create(name, **({"top_k": 3} if name == "top_k_accuracy" else {}))
        metric.update([label], [pred])
        assert metric.get()[1] == pytest.approx(expected)
    accuracy = mx.metric.Accuracy()
    accuracy.update(label, pred)
    assert accuracy.get()[1] == pytest.approx(0.75)


@pytest.mark.parametrize("compiled", (False, True))
def test_model_zoo(numpy_semantics, compiled):
    net = gluon.model_zoo.vision.resnet18_v1(classes=5)
    net.initialize(mx.init.Xavier())
    if compiled:
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.001})
    x, y = an_array((4, 3, 32, 32)), mx.nd.array([0, 1, 2, 3], dtype="int32").as_np_ndarray()
    loss, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
    for _ in range(4):
        with autograd.record():
            value = loss(net(x), y)
        value.backward()
        trainer.step(4)
        losses.append(float(value.asnumpy().mean()))
    assert is_np(value) and losses[-1] < losses[0]


def test_parameters_are_named_after_their_attributes(numpy_semantics):
    class Sum(nn.Block):
        def __init__(self):
            super().__init__()
            self.w, self.v = gluon.Parameter(shape=(2,), init="ones"), gluon.Parameter(shape=(2,), init="ones")
            self.c, self.d = gluon.Constant([1., 2.]), gluon.Constant([3., 4.])

        def forward(self, x):
            return x * self.w.data() + self.v.data() + self.c.data() + self.d.data()

    net = Sum()
    net.initialize()
    assert net(mx.nd.ones((2,)).as_np_ndarray()).asnumpy().tolist() == [6, 8] and len(net.collect_params()) == 4


def test_weights_are_tied_by_assignment(numpy_semantics):
    class Tied(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.words, self.out = nn.Embedding(4, 3), nn.Dense(4, flatten=False, use_bias=False)
            self.out.weight = self.words.weight

        def forward(self, x):
            return self.out(self.words(x))

    net = Tied()
    net.initialize()
    x = mx.nd.array([1, 2], dtype="int32").as_np_ndarray()
    eager = net(x).asnumpy()
    net.hybridize()
    assert (net(x).asnumpy() == eager).all() and net.out.weight is net.words.weight and len(net.collect_params()) == 1


def test_assignment_to_a_parameter_is_refused_without_numpy():
    net = nn.Dense(3)
    with pytest.raises(AssertionError, match="is set already"):
        net.weight = nn.Dense(3).weight


AMP = """
import mxnet as mx
from mxnet import amp, autograd, gluon, np, npx
npx.set_np()
amp.init("float16")
x, w = np.ones((2, 3)), np.ones((4, 3))
low = x.astype("float16")
print(npx.fully_connected(x, w, no_bias=True, num_hidden=4).dtype, np.dot(x, w.T).dtype, np.matmul(x, w.T).dtype, np.exp(low).dtype,
      npx.softmax(low).dtype, (low + x).dtype)
net = gluon.nn.Dense(4)
net.initialize()
for compiled in (False, True):
    net.hybridize(compiled)
    out = net(x)
    print(out.dtype, type(out).__name__, net.weight.data().dtype)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
amp.init_trainer(trainer)
with autograd.record():
    with amp.scale_loss(net(x).sum(), trainer) as scaled:
        scaled.backward()
trainer.step(2)
"""


def test_mixed_precision():
    found = subprocess.run([sys.executable, "-c", AMP], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == ["float16 float32 float16 float32 float32 float32"] + 2 * ["float16 ndarray float32"]


def test_hybrid_forward_with_functions_of_f(numpy_semantics):
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get("weight", shape=(4, 0), allow_deferred_init=True)
            self.dense = nn.Dense(5, flatten=False)

        def hybrid_forward(self, F, x, weight):
            x = F.npx.fully_connected(x, weight, num_hidden=4, no_bias=True, flatten=False)
            x, _ = F.npx.foreach(lambda row, total: (self.dense(row) + total, self.dense(row) + total), x, F.np.zeros((2, 5)))
            x = F.np.concatenate([x, F.np.ones_like(x)], axis=-1)[:, :, 1:7]
            return F.np.where(x > 0, x, -x).sum(axis=-1)

    net, x = Net(), an_array((3, 2, 6))
    net.initialize(mx.init.Normal(0.5))
    eager = net(x)
    net.hybridize()
    assert net.weight.shape == (4, 6) and is_np(net(x)) and eager.shape == (3, 2)
    onp.testing.assert_allclose(net(x).asnumpy(), eager.asnumpy(), rtol=1e-5)


def test_estimator(numpy_semantics):
    from mxnet.gluon.contrib.estimator import Estimator
    net = nn.Dense(2, in_units=3)
    net.initialize()
    data = gluon.data.ArrayDataset(onp.random.RandomState(0).normal(size=(8, 3)).astype("float32"), onp.array([0, 1] * 4, "int32"))
    loader = gluon.data.DataLoader(data, batch_size=4)
    accuracy = mx.metric.Accuracy()
    estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), train_metrics=accuracy,
                          trainer=gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}))
    before = net.weight.data().asnumpy().copy()
    estimator.fit(loader, val_data=loader, epochs=2)
    assert (net.weight.data().asnumpy() != before).any() and is_np(net.weight.grad()) and accuracy.get()[1] > 0


CELLS = {"rnn": lambda: rnn.RNNCell(5), "gru": lambda: rnn.GRUCell(5), "lstm": lambda: rnn.LSTMCell(5)}


@pytest.mark.parametrize("cell", CELLS)
def test_cells_find_out_the_size_of_their_input(numpy_semantics, cell):
    """Their graphs divide results in several outputs; on symbols with NumPy's rules these are a
    group."""
    net = CELLS[cell]()
    net.initialize(mx.init.Constant(0.1))
    known = type(net)(5, input_size=3)
    known.initialize(mx.init.Constant(0.1))
    x = mx.np.ones((2, 3))
    got, want = (n(x, n.begin_state(batch_size=2))[0] for n in (net, known))
    onp.testing.assert_array_equal(got.asnumpy(), want.asnumpy())
    assert net.unroll(4, mx.np.ones((2, 4, 3)), merge_outputs=True)[0].shape == (2, 4, 5)


def test_files_are_read_to_the_current_device(numpy_semantics, tmp_path):
    """As in 2.0; in 1.9.1 to cpu(0)."""
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    net(mx.np.ones((1, 3)))
    file = str(tmp_path / "net.params")
    net.save_parameters(file)
    net.export(str(tmp_path / "net"))
    with mx.cpu(1):
        loaded = nn.Dense(2)
        loaded.load_parameters(file)
        imported = gluon.SymbolBlock.imports(
            str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
        )
    assert loaded.weight.list_ctx() == [mx.cpu(1)]
    assert all(p.list_ctx() == [mx.cpu(1)] for p in imported.collect_params().values())
    with mx.util.np_array(False), mx.util.np_shape(False), mx.cpu(1):
        classic = nn.Dense(2)
        classic.load_parameters(file)
    assert classic.weight.list_ctx() == [mx.cpu(0)]


def test_arrays_named_by_another_block_are_loaded(numpy_semantics):
    """As target networks get them. In 2.0 both blocks have the same names."""
    def net(units=3, before=None):
        made = nn.HybridSequential()
        made.add(nn.Dense(units, in_units=4 if before is None else before), nn.BatchNorm(in_channels=units), nn.Dense(2))
        made.initialize(mx.init.Normal(1))
        return made
    one, x = net(), mx.np.ones((2, 4))
    expected = one(x)
    given = {name: p.data() for name, p in one.collect_params().items()}
    for other in (net(), net(before=0)):
        other.load_dict(given)
        onp.testing.assert_array_equal(other(x).asnumpy(), expected.asnumpy())
    with pytest.raises(AssertionError):
        net(5).load_dict(given)
    with pytest.raises(AssertionError):
        net().load_dict({name: array.as_nd_ndarray() for name, array in given.items()})


def test_a_group_norm_by_channel_shows_its_channels(numpy_semantics):
    layer = nn.GroupNorm(2)
    layer.initialize()
    layer(an_array((1, 4, 3)))
    assert repr(layer) == "GroupNorm(eps=1e-05, num_groups=2, center=True, scale=True, in_channels=4)"
