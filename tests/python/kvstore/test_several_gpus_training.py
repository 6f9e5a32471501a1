"""Training on several GPUs of one process. `./dev test --host-gpu` runs this with four that are
made of the host."""
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from several_gpus import GPUS, SIZE, kind, same   # noqa: F401  (kind: a fixture)

pytestmark = pytest.mark.several_gpus


def batches(steps, size, shape, classes):
    rng = np.random.RandomState(5)
    return rng.randn(steps, size, *shape).astype("float32"), rng.randint(0, classes, (steps, size)).astype("float32")


def residual_network(norm):
    class Block(gluon.nn.HybridBlock):
        def __init__(self, channels, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.conv = gluon.nn.Conv2D(channels, 3, padding=1, use_bias=False)
                self.norm = gluon.nn.BatchNorm() if norm else gluon.nn.HybridLambda("identity")
                self.short = gluon.nn.Conv2D(channels, 1)

        def hybrid_forward(self, F, x):
            return F.relu(self.norm(self.conv(x)) + self.short(x))

    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(Block(4), Block(6), gluon.nn.GlobalAvgPool2D(), gluon.nn.Dense(3))
    return net


def train(contexts, store, on_store=None, optimizer="sgd", hybrid=True, steps=4, norm=True, **options):
    mx.random.seed(1)
    net = residual_network(norm)
    net.initialize(mx.init.Xavier(), ctx=contexts)
    net(mx.nd.zeros((1, 2, 6, 6), ctx=contexts[0]))
    rng = np.random.RandomState(9)
    for name in net.collect_params():
        p = net.collect_params()[name]
        if name.endswith("weight"):
            p.set_data(mx.nd.array(rng.uniform(-0.3, 0.3, p.shape)))
    if hybrid:
        net.hybridize(static_alloc=hybrid == "static", static_shape=hybrid == "static")
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.05, **options}, kvstore=store, update_on_kvstore=on_store)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    data, labels = batches(steps, SIZE, (2, 6, 6), 3)
    losses = []
    for x, y in zip(data, labels):
        xs, ys = gluon.utils.split_and_load(x, contexts), gluon.utils.split_and_load(y, contexts)
        with autograd.record():
            parts = [loss(net(a), b) for a, b in zip(xs, ys)]
        autograd.backward(parts)
        trainer.step(SIZE)
        losses.append(sum(float(p.sum().asscalar()) for p in parts) / SIZE)
    for p in net.collect_params().values():
        if p.grad_req != "null":
            for copy in p.list_data()[1:]:
                np.testing.assert_array_equal(copy.asnumpy(), p.list_data()[0].asnumpy(), err_msg=p.name)
    return losses, {n: p.list_data()[0].asnumpy() for n, p in net.collect_params().items()}


def agree(a, b, rtol=2e-3, atol=2e-5):
    np.testing.assert_allclose(a[0], b[0], rtol=rtol)
    assert a[1].keys() == b[1].keys()
    for name in a[1]:
        np.testing.assert_allclose(a[1][name], b[1][name], rtol=rtol, atol=atol, err_msg=name)


@pytest.mark.parametrize("on_store", [True, False])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_gluon_data_parallel_as_on_cpus(kind, on_store, optimizer):
    options = {"momentum": 0.9} if optimizer == "sgd" else {"learning_rate": 0.005}
    host = train([mx.cpu(i) for i in range(len(GPUS))], "local", on_store, optimizer, **options)
    agree(train(GPUS, kind, on_store, optimizer, **options), host, atol=2e-5 if optimizer == "sgd" else 1e-4)


@pytest.mark.parametrize("hybrid", [False, "static"])
def test_gluon_data_parallel_as_on_one_gpu(kind, hybrid):
    """Without batch normalisation, whose statistics are those of each GPU's part."""
    one = train(GPUS[:1], kind, norm=False, momentum=0.9)
    agree(train(GPUS, kind, norm=False, hybrid=hybrid, momentum=0.9), one)
    agree(train(GPUS[1:], kind, norm=False, hybrid=hybrid, momentum=0.9), one)


def test_trainer_takes_no_store(kind):
    """Gradients added up by hand: allreduce_grads, then update."""
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One(), ctx=GPUS)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, kvstore=kind, update_on_kvstore=False)
    with autograd.record():
        losses = [net(mx.nd.ones((1, 3), ctx=gpu)).sum() for gpu in GPUS]
    autograd.backward(losses)
    trainer.allreduce_grads()
    same(net.weight.list_grad(), len(GPUS))
    gluon.utils.clip_global_norm(net.weight.list_grad()[:1], 1e9)
    trainer.update(len(GPUS))
    same(net.weight.list_data(), 0)


class Dense:
    """A dense network with Adam, whose steps depend on how many there were."""

    def __init__(self, contexts, store, on_store):
        self.net = gluon.nn.HybridSequential(prefix="dense_")
        with self.net.name_scope():
            self.net.add(gluon.nn.Dense(8, activation="tanh", in_units=4), gluon.nn.Dense(3, in_units=8))
        self.net.initialize(mx.init.Zero(), ctx=contexts)
        rng = np.random.RandomState(2)
        for p in self.net.collect_params().values():
            p.set_data(mx.nd.array(rng.uniform(-0.5, 0.5, p.shape)))
        self.trainer = gluon.Trainer(self.net.collect_params(), "adam", {"learning_rate": 0.01}, kvstore=store, update_on_kvstore=on_store)

    def steps(self, begin, end):
        loss = gluon.loss.SoftmaxCrossEntropyLoss()
        contexts = self.net[0].weight.list_ctx()
        for x, y in list(zip(*batches(6, SIZE, (4,), 3)))[begin:end]:
            with autograd.record():
                parts = [loss(self.net(a), b)
                         for a, b in zip(gluon.utils.split_and_load(x, contexts),
                                         gluon.utils.split_and_load(y, contexts))]
            autograd.backward(parts)
            self.trainer.step(SIZE)
        copies = ([np.concatenate([p.list_data()[i].asnumpy().ravel()
                                   for p in self.net.collect_params().values()])
                   for i in range(len(contexts))])
        for c in copies[1:]:
            np.testing.assert_array_equal(c, copies[0])
        return copies[0]


@pytest.mark.parametrize("on_store", [True, False])
def test_states_are_loaded_for_other_gpus(kind, on_store, tmp_path):
    """What some GPUs saved, more, fewer or one goes on with; and the CPU."""
    whole = Dense([mx.cpu()], None, None).steps(0, 6)
    first = Dense(GPUS[:2], kind, on_store)
    first.steps(0, 3)
    first.trainer.save_states(str(tmp_path / "states"))
    first.net.save_parameters(str(tmp_path / "parameters"))
    for contexts in (GPUS, GPUS[::-1], GPUS[-2:], GPUS[1:2], [mx.cpu(), mx.cpu(1)]):
        for other in (True, False) if len(contexts) > 1 else (None,):
            second = Dense(contexts, kind, other)
            second.net.load_parameters(str(tmp_path / "parameters"), ctx=contexts)
            second.trainer.load_states(str(tmp_path / "states"))
            np.testing.assert_allclose(second.steps(3, 6), whole, rtol=1e-3, atol=1e-5, err_msg=str(contexts))


@pytest.mark.parametrize("on_store", [True, False])
def test_parameters_move_between_steps(kind, on_store):
    whole = Dense([mx.cpu()], None, None).steps(0, 6)
    moving = Dense(GPUS[:2], kind, on_store)
    for step, contexts in enumerate((GPUS[:2], GPUS, GPUS[::-1], GPUS[-2:], GPUS[:1], [mx.cpu(), mx.cpu(1)])):
        moving.net.collect_params().reset_ctx(contexts)
        result = moving.steps(step, step + 1)
    np.testing.assert_allclose(result, whole, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("to", GPUS[:2] + [mx.cpu()], ids=str)
@pytest.mark.parametrize("home", [mx.cpu(), GPUS[1]], ids=str)
def test_gradients_come_back_over_devices(home, to):
    x = mx.nd.array([1, 2, 3], ctx=home)
    x.attach_grad()
    with autograd.record():
        y = (x * x * x).as_in_context(to)
        dx = autograd.grad(y.sum(), [x], create_graph=True)[0]
        z = (dx * dx).copyto(to).sum()
    z.backward()
    assert dx.context == x.grad.context == home
    same([x.grad], 36 * np.array([1, 8, 27]))
    x.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            z = (x.as_in_context(to) * x.as_in_context(to)).sum()
        z.backward()
    same([x.grad], 4 * np.array([1, 2, 3]))


def test_a_network_over_several_gpus():
    """Each part on its GPU, by as_in_context."""
    results = []
    for contexts in (GPUS[:2], [mx.cpu(), mx.cpu()]):
        parts = [gluon.nn.Dense(6, activation="relu", in_units=4), gluon.nn.Dense(3, in_units=6)]
        rng = np.random.RandomState(3)
        for part, context in zip(parts, contexts):
            part.initialize(ctx=context)
            part.hybridize()
            for p in (part.weight, part.bias):
                p.set_data(mx.nd.array(rng.uniform(-1, 1, p.shape)))
        trainers = [gluon.Trainer(part.collect_params(), "sgd", {"learning_rate": 0.1}) for part in parts]
        for x in batches(3, 8, (4,), 3)[0]:
            with autograd.record():
                y = parts[0](mx.nd.array(x, ctx=contexts[0]))
                z = (parts[1](y.as_in_context(contexts[1])) ** 2).mean()
            z.backward()
            for trainer in trainers:
                trainer.step(1)
        results.append([p.data().asnumpy() for part in parts for p in (part.weight, part.bias)])
    for gpu, host in zip(*results):
        np.testing.assert_allclose(gpu, host, rtol=1e-4, atol=1e-6)


def module_data():
    data, labels = batches(3, SIZE, (2, 6, 6), 3)
    return mx.io.NDArrayIter(data.reshape(-1, 2, 6, 6), labels.reshape(-1), SIZE)


def module_network(norm):
    x = mx.sym.var("data")
    for i, channels in enumerate((4, 6)):
        y = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=channels, no_bias=norm,
                               name=f"conv{i}")   # whose gradient would be nothing but rounding
        if norm:
            y = mx.sym.BatchNorm(y, fix_gamma=False, name=f"bn{i}")
        x = mx.sym.relu(y + mx.sym.Convolution(x, kernel=(1, 1), num_filter=channels, name=f"short{i}"))
    x = mx.sym.Flatten(mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg"))
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, name="fc"), name="softmax")


def fit(contexts, store, norm=True, optimizer="sgd", epochs=2, **options):
    module = mx.mod.Module(module_network(norm), context=contexts)
    shapes = dict(zip(module_network(norm).list_arguments(), module_network(norm).infer_shape(data=(SIZE, 2, 6, 6))[0]))
    rng = np.random.RandomState(4)
    start = {n: mx.nd.array(rng.uniform(-0.3, 0.3, s)) for n, s in sorted(shapes.items()) if n not in ("data", "softmax_label")}
    metric = mx.metric.CrossEntropy()
    losses = []
    module.fit(module_data(), num_epoch=epochs, kvstore=store, optimizer=optimizer,
               optimizer_params={"learning_rate": 0.1, **options}, arg_params=start,
               initializer=mx.init.Zero(), allow_missing=True, eval_metric=metric,
               batch_end_callback=lambda p: losses.append(p.eval_metric.get()[1]))
    arguments, states = module.get_params()
    return losses, {n: a.asnumpy() for n, a in {**arguments, **states}.items()}


@pytest.mark.parametrize("on_store", ["0", "1"])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_module_data_parallel(kind, on_store, optimizer, monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", on_store)
    options = {"momentum": 0.9} if optimizer == "sgd" else {"learning_rate": 0.005}
    several = fit(GPUS, kind, optimizer=optimizer, **options)
    near = {"atol": 2e-5 if optimizer == "sgd" else 1e-4}     # Adam makes steps of gradients that are next to nothing
    agree(several, fit([mx.cpu(i) for i in range(len(GPUS))], "local", optimizer=optimizer, **options), **near)
    agree(fit(GPUS, kind, norm=False, optimizer=optimizer, **options),
          fit(GPUS[:1], kind, norm=False, optimizer=optimizer, **options), **near)


# ---- parts of a graph on several devices (group2ctx)

def parts_network():
    with mx.AttrScope(ctx_group="first"):
        x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="fc1")
        x = mx.sym.BatchNorm(x, fix_gamma=False, name="bn")
        short = mx.sym.relu(x, name="short")
    with mx.AttrScope(ctx_group="second"):
        y = mx.sym.FullyConnected(short, num_hidden=8, name="fc2")
        y = mx.sym.tanh(y) + short                      # a value that two devices read
    y = mx.sym.FullyConnected(y, num_hidden=3, name="fc3", weight=mx.sym.var("fc3_weight"), bias=mx.sym.var("fc3_bias"))
    return mx.sym.SoftmaxOutput(y, name="softmax")


def run_parts(context, groups, steps=3):
    rng = np.random.RandomState(6)
    executor = parts_network().simple_bind(context, group2ctx=groups, data=(6, 4), softmax_label=(6,))
    for name in sorted(executor.arg_dict):
        value = rng.uniform(-1, 1, executor.arg_dict[name].shape) if name != "softmax_label" else rng.randint(0, 3, 6)
        executor.arg_dict[name][:] = value
    assert [o.shape for o in executor.outputs] == [(6, 3)]
    for _ in range(steps):
        executor.forward(is_train=True)
        executor.backward()
        for name, grad in executor.grad_dict.items():
            if name not in ("data", "softmax_label"):
                executor.arg_dict[name] -= 0.1 * grad
    executor.forward(is_train=False)
    arrays = {**executor.arg_dict, **executor.aux_dict,
              **{"grad_" + n: g for n, g in executor.grad_dict.items()}, "out": executor.outputs[0]}
    return executor, {n: a.asnumpy() for n, a in arrays.items()}


@pytest.mark.parametrize("places", [(GPUS[0], GPUS[1], GPUS[0]), (GPUS[1], GPUS[0], GPUS[-1]),
                                    (mx.cpu(), GPUS[0], GPUS[1]), (GPUS[0], mx.cpu(), GPUS[1])],
                         ids=lambda places: "-".join(str(p) for p in places))
def test_group2ctx(places):
    context, first, second = places
    executor, found = run_parts(context, {"first": first, "second": second})
    where = {n: a.context for n, a in {**executor.arg_dict, **executor.aux_dict}.items()}
    assert {where[n] for n in ("data", "fc1_weight", "bn_gamma", "bn_moving_mean")} == {first}
    assert {where[n] for n in ("fc2_weight", "fc2_bias")} == {second}
    assert {where[n] for n in ("fc3_weight", "softmax_label")} == {context}
    assert all(executor.grad_dict[n].context == where[n] for n in executor.grad_dict)
    assert executor.outputs[0].context == second        # an operator without a group follows its first input
    _, expected = run_parts(mx.cpu(), None)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-3, atol=1e-5, err_msg=name)


def test_group2ctx_of_arrays_that_are_bound():
    x, w = mx.sym.var("x"), mx.sym.var("w")
    with mx.AttrScope(ctx_group="far"):
        y = mx.sym.broadcast_mul(x, w, name="y")
    arrays = {"x": mx.nd.array([1, 2], ctx=GPUS[0]), "w": mx.nd.array([3, 4], ctx=GPUS[1])}
    grads = {n: a.zeros_like() for n, a in arrays.items()}
    executor = y.bind(GPUS[0], arrays, args_grad=grads, group2ctx={"far": GPUS[1]})
    out = executor.forward(is_train=True)[0]
    assert out.context == GPUS[1]
    same([out], [3, 8])
    executor.backward([mx.nd.array([1, 10], ctx=GPUS[0])])
    same([grads["x"]], [3, 40])
    same([grads["w"]], [1, 20])
    assert grads["x"].context == GPUS[0]
    there = mx.nd._internal._to_context(arrays["x"], ctx="gpu(1)")      # what is put between
    assert there.context == GPUS[1]
    same([there], [1, 2])
    small = executor.reshape(x=(1,), w=(1,))
    same(small.forward(), [3])
    # groups that nobody uses, or that are where all is, change nothing
    near = {"x": mx.nd.ones((2,), ctx=GPUS[0]), "w": mx.nd.ones((2,), ctx=GPUS[0])}
    for groups in ({"other": GPUS[1]}, {"far": GPUS[0]}):
        assert y.bind(GPUS[0], near, group2ctx=groups).forward()[0].context == GPUS[0]
    with pytest.raises(ValueError, match="argument w is on gpu.1.; the executor is on gpu.0."):
        y.bind(GPUS[0], arrays, group2ctx={"other": GPUS[1]})


def test_states_of_another_group_are_refused():
    with mx.AttrScope(ctx_group="far"):
        mean = mx.sym.var("mean")
    with mx.AttrScope(ctx_group="near"):
        bn = mx.sym.BatchNorm(mx.sym.var("x"), moving_mean=mean, name="bn")
    with pytest.raises(ValueError, match="auxiliary state mean is on gpu.1., and bn, which writes it, on gpu.0."):
        bn.simple_bind(GPUS[0], group2ctx={"far": GPUS[1], "near": GPUS[0]}, x=(2, 3))


@pytest.mark.parametrize("kvstore", ["local", "device"])
def test_module_with_groups(kvstore):
    """Copies of a network whose parts are on two GPUs each."""
    results = []
    count = len(GPUS) // 2
    rng = np.random.RandomState(8)
    data = mx.io.NDArrayIter(rng.randn(24, 4).astype("float32"), rng.randint(0, 3, 24).astype("float32"), 12)
    start = {n: mx.nd.array(rng.uniform(-0.5, 0.5, s))
             for n, s in sorted(zip(parts_network().list_arguments(),
                                    parts_network().infer_shape(data=(12, 4))[0]))
             if n not in ("data", "softmax_label")}
    for contexts, groups in ((GPUS[:count], {"first": GPUS[:count],
                                             "second": GPUS[count:2 * count]}),
                             ([mx.cpu(i) for i in range(count)], None)):
        module = mx.mod.Module(parts_network(), context=contexts, group2ctxs=groups)
        data.reset()
        module.fit(data, num_epoch=3, kvstore=kvstore,
                   optimizer_params={"learning_rate": 0.1, "momentum": 0.9}, arg_params=start,
                   initializer=mx.init.Zero(), allow_missing=True)
        arguments, states = module.get_params()
        results.append(([], {n: a.asnumpy() for n, a in {**arguments, **states}.items()}))
        assert module.predict(data).shape == (24, 3)
    agree(*results)
