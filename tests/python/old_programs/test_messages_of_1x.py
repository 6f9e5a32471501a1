"""Small habits of 1.9.1 that programs see: texts, warnings, classes of errors and orders of names,
as its wheel gave them in paired runs."""
import logging
import warnings

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.base import MXNetError

RESULTS = {                                     # expression: what 1.9.1 gives, with its type
    "nd.maximum(3, 4)": 4,
    "nd.minimum(3, 4.5)": 3.0,
    "nd.multiply(2, 3)": 6,
    "nd.power(2, 3)": 8,
    "nd.lesser_equal(1, 0)": 0,
    "nd.greater(1, 0)": 1,
}


@pytest.mark.parametrize("text", RESULTS)
def test_functions_of_two_numbers_give_numbers(text):
    got = eval(text)
    assert (got, type(got)) == (RESULTS[text], type(RESULTS[text]))


WARNED = [                                      # what is called, the warning, the result
    ("a.copyto(a)", RuntimeWarning, "False"),
    ("nd.arange(0, 2, infer_range=True).asnumpy().tolist()", DeprecationWarning, "[0.0, 1.0]"),
    ("net.save_params(path)", UserWarning, "None"),
    ("mx.profiler.profiler_set_state('stop')", UserWarning, "None"),
]


@pytest.mark.parametrize("text,kind,result", WARNED)
def test_warnings(text, kind, result, tmp_path):
    net = gluon.nn.Dense(1, in_units=1)
    net.initialize()
    names = {"a": nd.arange(2), "net": net, "path": str(tmp_path / "p"), "nd": nd, "mx": mx}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = eval(text, names)
    assert [w.category for w in caught] == [kind]
    assert repr(got) == result


def _assign_while_recording():
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        x[0] = 5


REFUSED = [                                     # a wrong call, the classes that programs catch
    (_assign_while_recording, MXNetError),
    (lambda: gluon.Parameter("w", shape=(2,)).set_data(nd.ones(2)), AssertionError),
    (lambda: gluon.Parameter("w", shape=(2,)).set_data(nd.ones(2)), RuntimeError),
    (lambda: _bound().predict("x"), ValueError),
    (lambda: mx.contrib.amp.init_trainer(gluon.Trainer({}, "sgd")), AssertionError),
    (lambda: nd.zeros((3, 3)).__setitem__((0, None), nd.ones((2, 3))), MXNetError),
    (lambda: nd.zeros((3, 3)).__setitem__(0, nd.ones((2, 3))), ValueError),
]


def _bound():
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), label_names=None)
    module.bind([("data", (2, 3))], for_training=False)
    module.init_params()
    return module


@pytest.mark.parametrize("call,kind", REFUSED)
def test_classes_of_errors(call, kind):
    with pytest.raises(kind):
        call()


POSITIONS = {                                   # parameters by position: the attributes of the symbol
    "sym.random.normal_like(x, 5, 0.1)": {"loc": "5", "scale": "0.1"},
    "sym.random.poisson_like(x, 3)": {"lam": "3"},
    "sym.log_softmax(x, 0)": {"axis": "0"},
    "sym.log_softmax(x, 0, 2.0)": {"axis": "0", "temperature": "2.0"},
    "sym.softmin(x, 0)": {"axis": "0"},
    "x.log_softmax(0)": {"axis": "0"},
}


@pytest.mark.parametrize("text", POSITIONS)
def test_parameters_by_position(text):
    assert eval(text, {"sym": mx.sym, "x": mx.sym.Variable("x")}).list_attr() == POSITIONS[text]


def test_axes_of_log_softmax_by_position():
    a = nd.array([[1, 2], [3, 5]])
    for f in (nd.log_softmax, nd.softmin):
        assert (f(a, 0) == f(a, axis=0)).asnumpy().all() and (f(a, 0) != f(a, 1)).asnumpy().any()
        assert (getattr(a, f.__name__)(0) == f(a, axis=0)).asnumpy().all()
    length = nd.array([1, 2], dtype="int32")
    data, lengths = mx.sym.Variable("data"), mx.sym.Variable("lengths")
    got = mx.sym.softmax(data, lengths, use_length=True).eval(data=a, lengths=length)[0]
    assert got.asnumpy()[0].tolist() == [1, 0]


NEW_AXES = [                                    # key, shape of the value, the selection without the new axes
    ((slice(None), None), (3, 3), (3, 3)),
    ((slice(None), None), (3, 1, 3), (3, 3)),
    ((Ellipsis, None), (3,), (3, 3)),
    ((Ellipsis, None), (3, 1), (3, 3)),
    ((None, Ellipsis, None), (3, 3), (3, 3)),
    ((slice(1, 3), None, 1), (2,), (2,)),
]


@pytest.mark.parametrize("key,shape,plain", NEW_AXES)
def test_values_are_assigned_without_new_axes(key, shape, plain):
    value = np.arange(np.prod(shape)).reshape(shape) + 10
    for given in (value, nd.array(value)):
        a = nd.zeros((3, 3))
        a[key] = given
        wanted = np.zeros((3, 3))
        wanted[tuple(k for k in key if k is not None)] = value if len(shape) <= len(plain) else value.reshape(plain)
        assert a.asnumpy().tolist() == wanted.tolist()


def test_text_of_stacked_cells():
    for kind in (gluon.rnn.SequentialRNNCell, gluon.rnn.HybridSequentialRNNCell):
        cell = kind()
        cell.add(gluon.rnn.LSTMCell(3))
        cell.add(gluon.rnn.DropoutCell(.3))
        assert repr(cell) == f"{kind.__name__}(\n(0): LSTMCell(None -> 12)\n(1): DropoutCell(rate=0.3, axes=())\n)"


def test_order_of_unpacked_weights():
    cell = mx.rnn.RNNCell(2, prefix="r_")
    args = {"r_i2h_weight": nd.ones((2, 1)), "r_i2h_bias": nd.ones(2), "r_h2h_weight": nd.ones((2, 2)), "r_h2h_bias": nd.ones(2)}
    assert list(cell.unpack_weights(args)) == ["r_i2h_weight", "r_i2h_bias", "r_h2h_weight", "r_h2h_bias"]
    cell = mx.rnn.GRUCell(1, prefix="g_")
    args = {f"g_{side}_{kind}": nd.ones((3, 1) if kind == "weight" else (3,)) for side in ("i2h", "h2h") for kind in ("weight", "bias")}
    assert list(cell.unpack_weights(args))[:4] == ["g_i2h_r_weight", "g_i2h_r_bias", "g_i2h_z_weight", "g_i2h_z_bias"]


def test_log_of_a_rate_that_stops(caplog):
    caplog.set_level(logging.INFO)
    schedule = mx.lr_scheduler.FactorScheduler(2, .5, stop_factor_lr=.3, base_lr=1)
    assert [schedule(i) for i in range(8)] == [1, 1, 1, .5, .5, .3, .3, .3]
    stop = "now learning rate arrived at 3.00000e-01, will not change in the future"
    assert caplog.messages == ["Update[3]: Change learning rate to 5.00000e-01", f"Update[5]: {stop}", f"Update[7]: {stop}"]


def test_log_of_large_batches(caplog):
    caplog.set_level(logging.INFO)
    mx.optimizer.LBSGD(warmup_strategy="lars")
    assert caplog.messages == ["Running Large-Batch SGD Algorithm",
                               "(Batch_scale=1.000000, warmup_epochs=5, warmup_strategy=lars, updates_per_epoch=32)"]


def test_feed_forward_logs_a_validation_once(caplog):
    caplog.set_level(logging.INFO)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), name="softmax")
    data = mx.io.NDArrayIter(nd.ones((4, 2)), nd.zeros(4), 2)
    with pytest.warns(DeprecationWarning):
        mx.model.FeedForward(net, num_epoch=1).fit(data, eval_data=data)
    assert sum("Validation-accuracy" in message for message in caplog.messages) == 1


class _DroppedParameter(gluon.Parameter):
    """As packages of 1.x derive Parameters: another one's attributes, and data with dropout."""

    def __init__(self, other, rate):
        super().__init__(name=other.name, grad_req=other.grad_req, shape=other._shape, dtype=other.dtype, lr_mult=other.lr_mult,
                         wd_mult=other.wd_mult, init=other.init, allow_deferred_init=other._allow_deferred_init,
                         differentiable=other._differentiable)
        self._rate = rate

    def data(self, ctx=None):
        return nd.Dropout(self._check_and_get(self._data, ctx), self._rate, "always")


@pytest.mark.parametrize("make,name,shape", [
    (lambda: gluon.nn.Dense(30, in_units=3), "weight", (1, 3)),
    (lambda: gluon.rnn.LSTM(30, input_size=3), "l0_i2h_weight", (1, 1, 3)),
])
def test_parameters_with_data_of_their_own(make, name, shape):
    block = make()
    old = block._reg_params[name]
    new = _DroppedParameter(old, .999)
    with pytest.raises(RuntimeError):
        new.data()
    params = block._params
    while params:
        params._params[old.name] = new
        params = params._shared
    block._reg_params[name] = new
    super(gluon.Block, block).__setattr__(name, new)
    block.initialize(mx.init.One())
    assert (block(nd.ones(shape)) == 0).mean().asscalar() > .8
    assert new._check_and_get(new._data, list)[0].shape == new.shape
    assert block.collect_params()[old.name] is new


def test_trainers_derived_from_trainer():
    class Doubling(gluon.Trainer):
        def _allreduce_grads(self):
            for param in self._params:
                param.grad()[:] *= 2

    net = gluon.nn.Dense(2, in_units=3, prefix="d_")
    net.initialize(mx.init.One())
    trainer = Doubling(net.collect_params(), "sgd", {"learning_rate": .1}, kvstore=None)
    for step in (lambda: trainer.step(1), lambda: (trainer._allreduce_grads(), trainer._update())):
        before = net.weight.data().asnumpy()
        with autograd.record():
            loss = net(nd.ones((1, 3))).sum()
        loss.backward()
        step()
        np.testing.assert_allclose(net.weight.data().asnumpy(), before - .2, rtol=1e-6)
    assert trainer._param2idx == {"d_bias": 0, "d_weight": 1}


def test_values_are_copied_from_arrays():
    a = nd.zeros((2,), dtype="int32")
    a._sync_copyfrom(np.array([5.7, 6]))
    assert a.asnumpy().tolist() == [5, 6]
    a._sync_copyfrom([7, 8])
    assert a.asnumpy().tolist() == [7, 8]
    with pytest.raises(ValueError):
        a._sync_copyfrom([1, 2, 3])


@pytest.mark.parametrize("seed,sample", [(2, [3, 4]), (3, [4, 2])])
def test_samples_follow_the_seed_of_numpy(seed, sample):
    np.random.seed(seed)
    assert mx.test_utils.random_sample([1, 2, 3, 4], 2) == sample
    with pytest.raises(AssertionError):
        mx.test_utils.random_sample([1, 2], 3)


class _SimpleCell(gluon.rnn.HybridRecurrentCell):
    """A cell as programs of 1.x derive them: names from the count of steps, activations by name."""

    def __init__(self, size, **kwargs):
        super().__init__(**kwargs)
        self._hidden_size = size
        self.i2h_weight = self.params.get("i2h_weight", shape=(size, 0), allow_deferred_init=True)

    def state_info(self, batch_size=0):
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _alias(self):
        return "simple"

    def hybrid_forward(self, F, inputs, states, i2h_weight):
        prefix = f"t{self._counter}_"
        i2h = F.FullyConnected(inputs, i2h_weight, num_hidden=self._hidden_size, no_bias=True, name=prefix + "i2h")
        output = self._get_activation(F, i2h + states[0], "tanh", name=prefix + "out")
        return output, [output]


def test_cells_derived_from_recurrent_cell():
    cell = _SimpleCell(2, prefix="s_")
    cell.initialize(mx.init.Constant(.1))
    for _ in range(2):
        outputs, _ = cell.unroll(2, nd.ones((1, 2, 3)), layout="NTC", merge_outputs=True)
        np.testing.assert_allclose(outputs.asnumpy()[0, :, 0], [np.tanh(.3), np.tanh(.3 + np.tanh(.3))], rtol=1e-5)
        cell.hybridize()
    outputs, _ = _SimpleCell(2, prefix="s_").unroll(2, mx.sym.Variable("x"), layout="NTC", merge_outputs=False)
    names = mx.sym.Group(outputs).get_internals().list_outputs()
    assert [n for n in names if n.endswith(("i2h_output", "out_output"))] == ["s_t0_i2h_output", "s_t0_out_output",
                                                                               "s_t1_i2h_output", "s_t1_out_output"]


def test_cells_derived_from_the_symbolic_ones():
    class Cell(mx.rnn.LSTMCell):
        def __call__(self, inputs, states):
            self._counter += 1
            name = f"{self._prefix}t{self._counter}_"
            i2h = mx.sym.FullyConnected(inputs, self._iW, self._iB, num_hidden=self._num_hidden * 4, name=name + "i2h")
            h2h = mx.sym.FullyConnected(states[0], self._hW, self._hB, num_hidden=self._num_hidden * 4, name=name + "h2h")
            gate = mx.sym.split(i2h + h2h, num_outputs=4)
            return self._get_activation(gate[0], "tanh", name=name + "out"), [gate[1], gate[2]]

    outputs, _ = Cell(3, prefix="l_").unroll(2, inputs=mx.sym.Variable("x"), merge_outputs=False)
    group = mx.sym.Group(outputs)
    assert group.list_outputs() == ["l_t0_out_output", "l_t1_out_output"]
    assert group.list_arguments() == ["x", "l_i2h_weight", "l_i2h_bias", "l_h2h_weight", "l_h2h_bias"]
    assert group.infer_shape(x=(2, 2, 5))[1] == [(2, 3), (2, 3)]


def test_modules_derived_from_bucketing_module():
    def generate(key):
        net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2)      # named by number
        return mx.sym.SoftmaxOutput(net, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(generate, default_bucket_key=4, fixed_param_names=["fullyconnected0_bias"])
    assert module._sym_gen is generate
    assert (module._context, module._work_load_list, module._group2ctxs) == (mx.cpu(), None, None)
    assert (module._fixed_param_names, module._state_names) == (["fullyconnected0_bias"], [])
    module.bind([("data", (2, 3))], [("softmax_label", (2,))])
    module.init_params()
    module.switch_bucket(3, [("data", (4, 3))], [("softmax_label", (4,))])
    assert module._curr_module._exec_group.param_names == ["fullyconnected0_weight", "fullyconnected0_bias"]


@pytest.mark.parametrize("dtype, master", [("float32", False), ("float16", True)])
def test_nesterov_decays_its_momentum_with_the_weight_just_written(dtype, master):
    made = mx.optimizer.NAG(learning_rate=.3, momentum=.9, wd=.1, rescale_grad=.5, multi_precision=master)
    update, weight = mx.optimizer.get_updater(made), nd.array([1, -2, .5], dtype=dtype)
    for _ in range(3):
        update(0, nd.array([.3, .4, -.5], dtype=dtype), weight)
    np.testing.assert_allclose(weight.asnumpy(), [.4381943, -2, .9494445], rtol=2e-7 if dtype == "float32" else 1e-3)


def test_nesterov_into_another_array_decays_with_the_old_weight():
    weight, momentum, out = nd.array([1, -2, .5]), nd.array([.1, .2, -.3]), nd.zeros(3)
    nd.nag_mom_update(weight, nd.array([.3, .4, -.5]), momentum, out=out, lr=.3, momentum=.9, wd=.1, rescale_grad=.5)
    np.testing.assert_allclose(momentum.asnumpy(), [.015, .18, -.21], rtol=1e-5)
    assert weight.asnumpy().tolist() == [1, -2, .5]


@pytest.mark.parametrize("name, labels, expected", [
    ("F1", [1, 1, 0, 0], .5), ("F1", [1.5, 1.9, .2, .7], .5), ("MCC", [1, 1, 0, 0], 0.)])
def test_binary_metrics_take_scores_of_more_classes(name, labels, expected):
    made = getattr(mx.metric, name)()
    scores = nd.array([[.1, .7, .2], [.2, .3, .5], [.6, .3, .1], [.1, .8, .1]])
    made.update([nd.array(labels)], [scores])
    assert made.get()[1] == expected
    with pytest.raises(ValueError, match="only binary classification is supported"):
        made.update([nd.array([0, 1, 2, 1])], [scores])


def test_perplexity_ignores_equal_labels_only():
    made = mx.metric.Perplexity(ignore_label=0)
    made.update([nd.array([1, .5, 0, 2])], [nd.array([[.1, .7, .2], [.2, .3, .5], [.6, .3, .1], [.1, .8, .1]])])
    assert made.num_inst == 3 and abs(made.get()[1] - 4.1491324) < 1e-5


@pytest.mark.parametrize("rates, merged", [
    ({}, True), ({"drop_inputs": .5}, True), ({"drop_outputs": .5}, True), ({"drop_states": .5}, False)])
def test_variational_dropout_joins_the_steps_unless_states_are_dropped(rates, merged):
    cell = gluon.contrib.rnn.VariationalDropoutCell(gluon.rnn.GRUCell(3), **rates)
    cell.initialize()
    outputs, _ = cell.unroll(3, nd.ones((2, 3, 4)))
    assert isinstance(outputs, nd.NDArray) == merged
    outputs, _ = cell.unroll(3, nd.ones((2, 3, 4)), merge_outputs=False)
    assert [step.shape for step in outputs] == [(2, 3)] * 3


def test_floor_division_follows_numpy():
    whole, numbers = np.array([7, -7, 0], "int32"), np.array([7, -7.5], "float32")
    for a in (whole, numbers):
        x = nd.array(a, dtype=a.dtype)
        for got in (x // 2, x // nd.array([2], dtype=a.dtype)):
            assert got.dtype == a.dtype and got.asnumpy().tolist() == (a // 2).tolist()
    assert (7 // nd.array([2., -2])).asnumpy().tolist() == [3, -4]
    x = nd.array(whole, dtype="int32")
    assert (~(x > 0)).asnumpy().tolist() == [0, 1, 1]
    x //= 2
    assert x.asnumpy().tolist() == [3, -4, 0]


def test_norm_of_all_gradients_is_a_number_of_numpy():
    assert type(gluon.utils.clip_global_norm([nd.array([3, 4])], 10)) is np.float32


@pytest.mark.parametrize("training", [False, True])
def test_executors_write_ones_into_a_gamma_that_counts_as_one(training):
    net = mx.sym.BatchNorm(mx.sym.BatchNorm(mx.sym.var("x"), name="fixed"), name="free", fix_gamma=False)
    executor = net.simple_bind(mx.cpu(), x=(2, 3))
    for _ in range(2):      # again, after something else was written
        executor.arg_dict["fixed_gamma"][:] = executor.arg_dict["free_gamma"][:] = 3
        executor.forward(is_train=training, x=nd.ones((2, 3)))
        assert executor.arg_dict["fixed_gamma"].asnumpy().tolist() == [1] * 3
        assert executor.arg_dict["free_gamma"].asnumpy().tolist() == [3] * 3


def test_checkpoints_hold_the_gamma_of_the_last_step():
    net = mx.sym.SoftmaxOutput(mx.sym.BatchNorm(mx.sym.var("data"), name="b"), name="softmax")
    module = mx.mod.Module(net)
    module.bind([("data", (4, 8))], [("softmax_label", (4,))])
    module.init_params()
    module.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": .01, "wd": .1})
    batch = mx.io.DataBatch([nd.ones((4, 8))], [nd.zeros(4)])
    for _ in range(5):
        module.forward_backward(batch)
        module.update()
    np.testing.assert_allclose(module.get_params()[0]["b_gamma"].asnumpy(), .99, rtol=1e-5)     # 1 and one step of its decay


@pytest.mark.parametrize("handle", ["rollover", None])
def test_unknown_handling_of_the_last_batch_leaves_it_out(handle):
    with pytest.warns(UserWarning, match="leaves out instances"):
        batches = mx.io.NDArrayIter(np.arange(7.), batch_size=3, last_batch_handle=handle)
    for _ in range(2):
        assert [batch.data[0].asnumpy().tolist() for batch in batches] == [[0, 1, 2], [3, 4, 5]]
        batches.reset()


@pytest.mark.parametrize("name, made", [("local_sync", "local"), ("device_sync", "device")])
def test_unknown_stores_are_local_with_a_warning(name, made, capfd):
    store, out = mx.kv.create(name), nd.zeros(2)
    store.init(1, nd.ones(2))
    store.push(1, [nd.ones(2), nd.ones(2)])
    store.pull(1, out=out)
    assert (store.type, out.asnumpy().tolist()) == (name, [2, 2])
    assert f"there is no store of type '{name}', so '{made}' is made" in capfd.readouterr().err
    with pytest.raises(mx.MXNetError, match="there is no store of type 'dist_nothing'"):
        mx.kv.create("dist_nothing")


@pytest.mark.parametrize("prefix", ["b_", "other_"])
def test_files_of_save_params_load_into_blocks_with_parameters_of_their_own(tmp_path, prefix):
    class Scaled(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.dense = gluon.nn.Dense(3)
                self.w = self.params.get("w", shape=(3,), init="ones")

        def hybrid_forward(self, F, x, w):
            return self.dense(x) * w

    net, again, x, path = Scaled(prefix="b_"), Scaled(prefix=prefix), nd.ones((2, 4)), str(tmp_path / "net.params")
    net.initialize()
    expected = net(x).asnumpy()
    with pytest.warns(UserWarning, match="deprecated"):
        net.save_params(path)
    assert sorted(nd.load(path)) == ["dense0_bias", "dense0_weight", "w"]       # "w" is a name by path, too
    again.load_parameters(path)
    np.testing.assert_array_equal(again(x).asnumpy(), expected)


@pytest.mark.parametrize("text,name", [("nd.FullyConnected", "FullyConnected"), ("nd.contrib.box_nms", "box_nms"),
                                       ("nd.linalg.gemm2", "gemm2"), ("nd.image.to_tensor", "to_tensor"),
                                       ("mx.sym.contrib.box_nms", "box_nms"), ("nd._internal._plus_scalar", "_plus_scalar")])
def test_functions_have_the_name_that_they_are_called_by(text, name):
    assert eval(text).__name__ == name


def test_files_are_named_by_uris(tmp_path):
    folder = f'file://{tmp_path}'
    mx.nd.save(f'{folder}/a.params', {'a': mx.nd.ones(2)})
    assert (tmp_path / 'a.params').exists() and list(mx.nd.load(f'{folder}/a.params')) == ['a']
    net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc')
    mx.model.save_checkpoint(f'{folder}/net', 1, net, {'fc_weight': mx.nd.ones((2, 2))}, {})
    loaded, weights, _ = mx.model.load_checkpoint(f'{folder}/net', 1)
    assert loaded.list_outputs() == ['fc_output'] and list(weights) == ['fc_weight']
    with mx.recordio.MXIndexedRecordIO(f'{folder}/r.idx', f'{folder}/r.rec', 'w') as records:
        records.write_idx(7, b'seven')
    with mx.recordio.MXIndexedRecordIO(f'{folder}/r.idx', f'{folder}/r.rec', 'r') as records:
        assert records.read_idx(7) == b'seven'


@pytest.mark.parametrize('mark', [lambda x: x.attach_grad('null'),
                                  lambda x: autograd.mark_variables([x], [mx.nd.zeros(2)], 'null')])
def test_the_request_null_keeps_the_gradient_array(mark):
    x, w = mx.nd.array([1, 2]), mx.nd.ones(2)
    mark(x)
    assert x.grad.asnumpy().tolist() == [0, 0]
    w.attach_grad()
    with autograd.record():
        y = x * w
        x += 1                      # no gradient needs it
    y.backward()
    assert w.grad.asnumpy().tolist() == [1, 2] and x.grad.asnumpy().tolist() == [0, 0]
    for call in (x.backward, lambda: autograd.grad(y, x)):
        with pytest.raises(mx.MXNetError):
            call()
