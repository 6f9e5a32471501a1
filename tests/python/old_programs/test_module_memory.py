"""One device that is the CPU: a module has its parameters once, and what get_params gave behaves
as in 1.x."""
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym

pytestmark = pytest.mark.cpu
RNG = np.random.RandomState(0)
BATCH = mx.io.DataBatch([nd.array(RNG.rand(8, 3))], [nd.array(RNG.randint(0, 4, 8))])


def module(**options):
    net = sym.BatchNorm(sym.FullyConnected(sym.var("data"), num_hidden=4, name="fc"), name="bn")
    made = mx.mod.Module(sym.SoftmaxOutput(net, name="softmax"), **options)
    made.bind([("data", (8, 3))], [("softmax_label", (8,))])
    return made


def trained(steps=1, kvstore=None):
    made = module()
    made.init_params(mx.init.Xavier())
    made.init_optimizer(kvstore=kvstore, optimizer="sgd", optimizer_params={"learning_rate": 1.0})
    step(made, steps)
    return made


def step(made, count=1):
    for _ in range(count):
        made.forward_backward(BATCH)
        made.update()


def weight(made):
    return made._exec_group.execs[0].arg_dict["fc_weight"].asnumpy()


LARGE = """
import mxnet as mx

def resident_mib():
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024

rows = 1 << 20
net = mx.sym.Embedding(mx.sym.var("data"), weight=mx.sym.var("table_weight"), input_dim=rows, output_dim=16)
net = mx.sym.LinearRegressionOutput(mx.sym.sum(net, axis=(1, 2)), mx.sym.var("label"))
net = mx.mod.Module(net, label_names=["label"])
before = resident_mib()
net.bind([("data", (4, 2))], [("label", (4,))], for_training=False)
net.init_params(mx.init.Constant(0.5))
mx.nd.waitall()
print(resident_mib() - before)
copies, _ = net.get_params()
print(copies["table_weight"].shape, float(copies["table_weight"][rows - 1, 3].asscalar()))
"""


def test_weights_are_there_once():
    """A table of 64 MiB, in a process that has no memory to use again."""
    grown, copies = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True).stdout.splitlines()
    assert 60 < float(grown) < 64 * 1.5
    assert copies == "(1048576, 16) 0.5"


def test_arrays_of_a_caller_change_with_the_next_call():
    made = trained()
    args, auxs = made.get_params()
    before, mean = args["fc_weight"].asnumpy(), auxs["bn_moving_mean"].asnumpy()
    assert np.array_equal(before, weight(made))
    step(made)
    assert np.array_equal(args["fc_weight"].asnumpy(), before) and not np.array_equal(weight(made), before)
    again = made.get_params()[0]
    assert again["fc_weight"] is args["fc_weight"] and np.array_equal(args["fc_weight"].asnumpy(), weight(made))
    assert not np.array_equal(auxs["bn_moving_mean"].asnumpy(), mean)


def test_arrays_of_a_caller_are_not_the_weights():
    made = trained()
    before = weight(made)
    made.get_params()[0]["fc_weight"][:] = 0
    assert np.array_equal(weight(made), before)
    made.set_params(*made.get_params())     # the same arrays, as nothing was updated
    assert not weight(made).any() and before.any()


def test_what_is_wrong_leaves_the_weights_as_they_are():
    made = trained()
    before = weight(made)
    with pytest.raises(RuntimeError, match="bn_beta"):      # fc_weight comes behind it
        made.set_params({"fc_weight": nd.ones((4, 3)), "bias": nd.ones(4)}, {})
    names = {name: value.copy() for name, value in made.get_params()[0].items()}
    names["bn_beta"] = nd.ones(4)
    names["fc_weight"] = nd.ones((5, 3))
    with pytest.raises(mx.MXNetError, match="fc_weight has shape"):
        made.set_params(names, made.get_params()[1])
    assert np.array_equal(weight(made), before) and (made.get_params()[0]["bn_beta"].asnumpy() != 1).all()


@pytest.mark.parametrize("kvstore", [None, "local"])
def test_another_binding_goes_on_with_the_weights(kvstore, tmp_path):
    made = trained(3, mx.kv.create(kvstore) if kvstore else None)
    before = weight(made)
    made.bind([("data", (4, 3))], [("softmax_label", (4,))], force_rebind=True)
    assert np.array_equal(weight(made), before)
    made.reshape([("data", (8, 3))], [("softmax_label", (8,))])
    assert np.array_equal(made.get_params()[0]["fc_weight"].asnumpy(), before)
    other = module()
    other.bind([("data", (8, 3))], [("softmax_label", (8,))], shared_module=made, force_rebind=True)
    assert np.array_equal(other.get_params()[0]["fc_weight"].asnumpy(), before)
    made.save_checkpoint(str(tmp_path / "net"), 1)
    loaded = mx.mod.Module.load(str(tmp_path / "net"), 1)
    given = loaded.get_params()[0]["fc_weight"]
    loaded.bind([("data", (8, 3))], [("softmax_label", (8,))])
    assert np.array_equal(weight(loaded), before) and np.array_equal(given.asnumpy(), before)


def test_rows_that_a_store_has_reach_the_caller():
    """The executor has only rows of a row_sparse parameter whose updates happen in a store."""
    net = sym.sparse.dot(sym.var("data", stype="csr"), sym.var("weight", shape=(6, 1), stype="row_sparse"))
    net = mx.mod.Module(sym.LinearRegressionOutput(net, sym.var("label")), label_names=["label"])
    net.bind([("data", (2, 6))], [("label", (2, 1))])
    net.init_params(mx.init.Constant(1))
    net.init_optimizer(kvstore=mx.kv.create("local"), optimizer="sgd", optimizer_params={"learning_rate": 1.0})
    data = nd.sparse.csr_matrix(([1.0, 1.0], [0, 3], [0, 1, 2]), shape=(2, 6))
    batch = mx.io.DataBatch([data], [nd.zeros((2, 1))])
    net.prepare(batch, sparse_row_id_fn=lambda b: {"weight": b.data[0].indices})
    step_once(net, batch)
    found = net.get_params()[0]["weight"]
    assert found.stype == "row_sparse"
    assert found.asnumpy().ravel().tolist() == [0.5, 1, 1, 0.5, 1, 1]


def step_once(net, batch):
    net.forward_backward(batch)
    net.update()


def test_parameters_that_a_bucket_was_given_are_those_it_gives():
    """Copies that get_params gave before are brought up to date, whatever bucket is the current
    one. A store starts with the new values, too."""
    def graph(length):
        total = mx.sym.sum(mx.sym.var('data'), axis=1, keepdims=True)
        return mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(total, num_hidden=1, name='fc'), name='lro'), ('data',), ('lro_label',)

    module = mx.mod.BucketingModule(graph, default_bucket_key=3)
    module.bind([('data', (2, 3))], [('lro_label', (2, 1))])
    module.init_params(mx.init.One())
    held = module.get_params()
    for length, missing in ((3, False), (2, False), (3, True)):
        module.switch_bucket(length, [('data', (2, length))], [('lro_label', (2, 1))])
        module.set_params({'fc_weight': mx.nd.full((1, 1), length + 0.5), 'fc_bias': mx.nd.zeros(1)}, {}, allow_missing=missing)
        assert module.get_params()[0]['fc_weight'].asscalar() == length + 0.5
        assert held[0]['fc_weight'].asscalar() == length + 0.5
    module.init_params(mx.init.Zero(), force_init=True)
    assert module.get_params()[0]['fc_weight'].asscalar() == 0


@pytest.mark.parametrize('evaluated', [False, True])
def test_evaluation_leaves_training_the_rows_that_it_needs(evaluated):
    """The numbers and the calls are those of 1.9.1. The first batch of an epoch found zeros where
    the evaluation before had pulled other rows."""
    calls, losses = [], []

    def rows(batch):
        calls.append(batch.data[0].asnumpy().tolist())
        return {'table_weight': batch.data[0]}

    table = mx.sym.Embedding(mx.sym.var('data'), mx.sym.var('table_weight', stype='row_sparse'), input_dim=6, output_dim=2,
                             sparse_grad=True)
    module = mx.mod.Module(mx.sym.LinearRegressionOutput(mx.sym.sum(table, axis=1), mx.sym.var('label'), name='lro'),
                           label_names=['label'])
    numbers = np.arange(6, dtype='float32')
    train = mx.io.NDArrayIter(numbers, numbers + 1, 2, label_name='label')
    other = mx.io.NDArrayIter(numbers[[5, 5]], numbers[[5, 5]] + 1, 2, label_name='label')
    module.fit(train, eval_data=other if evaluated else None, num_epoch=2, eval_metric='mse', initializer=mx.init.One(),
               kvstore=mx.kv.create('local'), optimizer='sgd', optimizer_params={'learning_rate': .2}, sparse_row_id_fn=rows,
               batch_end_callback=lambda param: losses.append(param.eval_metric.get()[1]))
    assert calls == [[2, 3], [4, 5]] * 2
    assert np.allclose(losses, [0.5, 1.5, 5.166667, 0.32, 0.96, 3.306667])
