"""Modules: training on one and several devices, saving, shapes, buckets, chains; callbacks and
monitors with them."""
import logging

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd, sym
from mxnet.io import DataBatch, DataDesc, NDArrayIter

pytestmark = [pytest.mark.on_gpu, pytest.mark.gpu_quick]

RNG = np.random.RandomState(0)
X = RNG.randn(60, 8).astype('float32')
Y = (X.sum(axis=1) > 0).astype('float32')


def network(hidden=8):
    net = sym.FullyConnected(sym.var('data'), num_hidden=hidden, name='fc1')
    net = sym.BatchNorm(net, name='bn')
    net = sym.Activation(net, act_type='relu')
    return sym.SoftmaxOutput(sym.FullyConnected(net, num_hidden=2, name='fc2'), name='softmax')


def linear():
    return sym.LinearRegressionOutput(sym.FullyConnected(sym.var('data'), num_hidden=1, name='fc'), sym.var('label'), name='out')


def batch(n=10, start=0):
    return DataBatch([nd.array(X[start:start + n])], [nd.array(Y[start:start + n])])


def bound(context=None, net=None, n=10, **options):
    module = mx.mod.Module(network() if net is None else net, context=context or mx.cpu())
    module.bind([('data', (n, 8))], [('softmax_label', (n,))], **options)
    mx.random.seed(1)
    module.init_params(mx.init.Xavier())
    return module


def numbers(module):
    args, auxs = module.get_params()
    return {name: array.asnumpy() for name, array in {**args, **auxs}.items()}


def check_same(a, b, **tolerance):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_allclose(a[name], b[name], err_msg=name, **(tolerance or {'rtol': 1e-5, 'atol': 1e-6}))


def test_update_is_gradient_descent():
    module = mx.mod.Module(linear(), label_names=['label'])
    module.bind([('data', (10, 8))], [('label', (10, 1))], inputs_need_grad=True)
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={'learning_rate': 0.1, 'momentum': 0.9, 'wd': 0.01})
    weight, bias = np.ones((1, 8)), np.zeros(1)
    m_weight, m_bias = 0, 0
    for step in range(3):
        x, y = X[10 * step:10 * step + 10].astype('f8'), Y[10 * step:10 * step + 10, None]
        module.forward_backward(DataBatch([nd.array(x)], [nd.array(y)]))
        error = x @ weight.T + bias - y
        np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), error + y, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(module.get_input_grads()[0].asnumpy(), error @ weight, rtol=1e-4, atol=1e-5)
        module.update()
        m_weight = 0.9 * m_weight - 0.1 * (error.T @ x / 10 + 0.01 * weight)
        m_bias = 0.9 * m_bias - 0.1 * error.sum(axis=0) / 10            # no decay
        weight, bias = weight + m_weight, bias + m_bias
    check_same(numbers(module), {'fc_weight': weight, 'fc_bias': bias}, rtol=1e-4, atol=1e-5)


def test_fit_learns_and_reports(caplog):
    np.random.seed(1)
    mx.random.seed(1)
    calls = []
    module = mx.mod.Module(network())
    with caplog.at_level(logging.INFO):
        module.fit(NDArrayIter(X, Y, 10, shuffle=True), NDArrayIter(X, Y, 10), eval_metric=['acc', 'ce'], num_epoch=12,
                   optimizer_params={'learning_rate': 0.2}, initializer=mx.init.Xavier(),
                   batch_end_callback=[lambda p: calls.append((p.epoch, p.nbatch)), mx.callback.Speedometer(10, 3)],
                   epoch_end_callback=lambda epoch, s, args, auxs: calls.append((epoch, sorted(args), sorted(auxs))))
    assert calls[:2] == [(0, 0), (0, 1)]
    assert calls[6] == (0, ['bn_beta', 'bn_gamma', 'fc1_bias', 'fc1_weight', 'fc2_bias', 'fc2_weight'], ['bn_moving_mean', 'bn_moving_var'])
    assert len(calls) == 12 * 7
    text = caplog.text
    for part in ('Epoch[11] Train-accuracy=', 'Epoch[0] Train-cross-entropy=', 'Epoch[3] Validation-accuracy=', 'Time cost=',
                 'Epoch[0] Batch [0-3]\tSpeed: '):
        assert part in text
    assert dict(module.score(NDArrayIter(X, Y, 10), 'acc'))['accuracy'] >= 0.93
    with pytest.raises(ValueError, match='num_epoch'):
        mx.mod.Module(network()).fit(NDArrayIter(X, Y, 10))


@pytest.mark.parametrize('kvstore', ['local', 'device'])
@pytest.mark.parametrize('on_kvstore', ['0', '1'])
@pytest.mark.parametrize('loads', [None, [1, 4]])
def test_devices_share_a_batch(kvstore, on_kvstore, loads):
    def train(context, **options):
        module = mx.mod.Module(linear(), label_names=['label'], context=context, **options)
        module.bind([('data', (10, 8))], [('label', (10, 1))], inputs_need_grad=True)
        module.init_params(mx.init.One())
        module.init_optimizer(kvstore=kvstore, optimizer_params={'learning_rate': 0.1, 'momentum': 0.9, 'wd': 0.1})
        for step in range(4):
            module.forward_backward(DataBatch([nd.array(X[10 * step:10 * step + 10])], [nd.array(Y[10 * step:10 * step + 10, None])]))
            module.update()
        return module

    with mx.test_utils.environment('MXNET_UPDATE_ON_KVSTORE', on_kvstore):
        one, two = train(mx.cpu(0)), train([mx.cpu(0), mx.cpu(1)], work_load_list=loads)
    assert two._update_on_kvstore == (on_kvstore == '1') and two._kvstore is not None and one._kvstore is None
    check_same(numbers(one), numbers(two))
    np.testing.assert_allclose(one.get_input_grads()[0].asnumpy(), two.get_input_grads()[0].asnumpy(), rtol=1e-4, atol=1e-6)
    assert [o.shape[0] for o in two.get_outputs(merge_multi_context=False)[0]] == ([5, 5] if loads is None else [2, 8])
    assert two.get_outputs()[0].shape == (10, 1) == one.get_outputs()[0].shape


def test_checkpoints(tmp_path):
    prefix = str(tmp_path / 'net')
    module = bound()
    module.init_optimizer(optimizer='adam', optimizer_params={'learning_rate': 0.1})
    for step in range(3):
        module.forward_backward(batch(start=10 * step))
        module.update()
    module.save_checkpoint(prefix, 3, save_optimizer_states=True)
    before = numbers(module)
    module.forward_backward(batch(start=30))
    module.update()
    again = mx.mod.Module.load(prefix, 3, load_optimizer_states=True)
    again.bind([('data', (10, 8))], [('softmax_label', (10,))])
    check_same(numbers(again), before)
    again.init_optimizer(optimizer='adam', optimizer_params={'learning_rate': 0.1, 'begin_num_update': 3})
    again.forward_backward(batch(start=30))
    again.update()
    check_same(numbers(again), numbers(module))
    symbol, args, auxs = mx.model.load_checkpoint(prefix, 3)
    assert symbol.list_arguments() == module.symbol.list_arguments()
    check_same({k: v.asnumpy() for k, v in {**args, **auxs}.items()}, before)
    module.save_params(str(tmp_path / 'p.params'))
    again.load_params(str(tmp_path / 'p.params'))
    check_same(numbers(again), numbers(module))
    nd.save(str(tmp_path / 'q.params'), {'foo': nd.ones((1,))})
    with pytest.raises(ValueError, match='foo'):
        again.load_params(str(tmp_path / 'q.params'))


def test_checkpoint_callbacks(tmp_path):
    prefix = str(tmp_path / 'net')
    module = bound()
    module.init_optimizer()
    args, auxs = module.get_params()
    plain, of_module = mx.callback.do_checkpoint(prefix, 2), mx.callback.module_checkpoint(module, prefix + 'm', 3, True)
    for epoch in range(4):
        plain(epoch, module.symbol, args, auxs)
        of_module(epoch)
    assert sorted(p.name for p in tmp_path.iterdir()) == \
        ['net-0002.params', 'net-0004.params', 'net-symbol.json', 'netm-0003.params', 'netm-0003.states', 'netm-symbol.json']


def test_prediction():
    module = bound(for_training=False)
    it = NDArrayIter(X[:25], None, 10)
    whole = module.predict(it)
    assert whole.shape == (25, 2)
    parts = [(out[0].asnumpy(), n) for out, n, _ in module.iter_predict(it)]
    assert [(p.shape[0], n) for p, n in parts] == [(10, 0), (10, 1), (5, 2)]
    assert (np.concatenate([p for p, _ in parts]) == whole.asnumpy()).all()
    assert len(module.predict(it, merge_batches=False)) == 3 and len(module.predict(it, num_batch=1)) == 10
    assert module.predict(it, always_output_list=True)[0].shape == (25, 2)
    np.testing.assert_allclose(module.predict(X[:10]).asnumpy(), whole.asnumpy()[:10], rtol=1e-5)
    with pytest.raises(RuntimeError, match='for_training'):
        module.backward()


def test_arrays_are_predicted_as_iterators_are():
    """Also by a module that is bound for training, whose layers behave otherwise there."""
    net = mx.sym.BatchNorm(mx.sym.var('data'), fix_gamma=False, name='bn')
    module = mx.mod.Module(net, label_names=None)
    module.bind([('data', (10, 8))])
    module.init_params()
    for data in (X[:10], nd.array(X[:10])):
        np.testing.assert_allclose(module.predict(data).asnumpy(), X[:10] / np.sqrt(1 + 1e-3), rtol=1e-5)
    np.testing.assert_array_equal(module.predict(NDArrayIter(X[:10], None, 10)).asnumpy(), module.predict(X[:10]).asnumpy())


def test_batches_of_other_sizes():
    module = bound()
    module.init_optimizer()
    before = numbers(module)['fc1_weight']
    for n in (10, 7, 13, 10):
        module.forward(batch(n), is_train=False)
        assert module.get_outputs()[0].shape == (n, 2) and module.data_shapes[0].shape == (n, 8)
        assert module.output_shapes == [('softmax_output', (n, 2))]
    module.forward(DataBatch([nd.array(X[:4])], None), is_train=False)
    assert module.get_outputs()[0].shape == (4, 2)
    module.reshape([('data', (5, 8))], [('softmax_label', (5,))])
    module.forward_backward(batch(5))
    assert (numbers(module)['fc1_weight'] == before).all()
    module.update()
    assert (numbers(module)['fc1_weight'] != before).any()


def test_giving_parameters():
    module = bound()
    args, auxs = module.get_params()
    some = {name: array for name, array in args.items() if name != 'fc1_bias'}
    with pytest.raises(RuntimeError, match='fc1_bias'):
        module.set_params(some, auxs)
    module.set_params(some, auxs, allow_missing=True)
    module.set_params({**args, 'other': args['fc1_bias']}, auxs)
    module.init_params(mx.init.Constant(2), {'fc1_weight': args['fc1_weight']}, allow_missing=True, force_init=True)
    assert (numbers(module)['fc2_weight'] == 2).all() and (numbers(module)['fc1_weight'] == args['fc1_weight'].asnumpy()).all()
    with pytest.raises(ValueError, match='shape'):
        module.set_params({**args, 'fc1_bias': nd.ones((3,))}, auxs)
    with pytest.warns(UserWarning, match='already initialized'):
        module.init_params()


def test_fixed_parameters_and_gradient_requests():
    module = mx.mod.Module(network(), fixed_param_names=['fc1_weight'])
    module.bind([('data', (10, 8))], [('softmax_label', (10,))])
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer_params={'learning_rate': 0.5})
    before = numbers(module)
    module.forward_backward(batch())
    module.update()
    after = numbers(module)
    assert (before['fc1_weight'] == after['fc1_weight']).all() and (before['fc2_weight'] != after['fc2_weight']).any()
    added = bound(grad_req='add', inputs_need_grad=True)
    added.forward_backward(batch())
    once = added.get_input_grads()[0].asnumpy()
    added.forward_backward(batch())
    np.testing.assert_allclose(added.get_input_grads()[0].asnumpy(), 2 * once, rtol=1e-4, atol=1e-6)


def test_wrong_names_and_states():
    with pytest.raises(ValueError, match='foo'):
        mx.mod.Module(network(), data_names=['foo'])
    with pytest.warns(UserWarning, match='foo'):
        mx.mod.Module(network(), label_names=['foo'])
    module = mx.mod.Module(network())
    for use in (lambda: module.data_shapes, lambda: module.forward(batch()), lambda: module.get_params(), lambda: module.init_optimizer()):
        with pytest.raises(RuntimeError, match='bind comes first'):
            use()
    with pytest.raises(ValueError, match="'x'"):
        module.bind([('x', (10, 8))])
    with pytest.raises(ValueError, match='slices'):
        mx.mod.Module(network(), context=[mx.cpu()] * 20).bind([('data', (10, 8))], [('softmax_label', (10,))])
    with pytest.raises(ValueError, match='loads'):
        mx.mod.Module(network(), work_load_list=[1, 2])


def test_optimizers_given_as_objects():
    module = bound()
    with pytest.warns(UserWarning, match='rescale_grad'):
        module.init_optimizer(optimizer=mx.optimizer.SGD())
    assert module._optimizer.idx2name[0] == module._param_names[0]
    with pytest.raises(TypeError):
        module.init_optimizer(optimizer=3, force_init=True)


def embedding(key):
    summed = sym.sum(sym.Embedding(sym.var('data'), input_dim=20, output_dim=5, name='emb'), axis=1)
    return sym.SoftmaxOutput(sym.FullyConnected(summed, num_hidden=3, name='fc'), name='softmax'), ('data',), ('softmax_label',)


def sentences(key, n=4):
    return DataBatch([nd.array(RNG.randint(0, 20, (n, key)))], [nd.array(RNG.randint(0, 3, n))], bucket_key=key,
                     provide_data=[DataDesc('data', (n, key))], provide_label=[DataDesc('softmax_label', (n,))])


def test_buckets_share_parameters(tmp_path):
    module = mx.mod.BucketingModule(embedding, default_bucket_key=12)
    assert module.data_names == ('data',)
    module.bind([('data', (4, 12))], [('softmax_label', (4,))])
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.5})
    plain = mx.mod.Module(*embedding(5)[:3])
    plain.bind([('data', (4, 5))], [('softmax_label', (4,))])
    plain.init_params(arg_params=module.get_params()[0], aux_params={})
    plain.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.5})
    for key in (5, 12, 8, 5, 12):
        data = sentences(key)
        module.prepare(data)
        module.forward_backward(data)
        module.update()
        plain.forward_backward(DataBatch(data.data, data.label))
        plain.update()
        np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), plain.get_outputs()[0].asnumpy(), rtol=1e-4, atol=1e-6)
    check_same(numbers(module), numbers(plain))
    assert module.data_shapes == [('data', (4, 12))]
    prefix = str(tmp_path / 'b')
    module.save_checkpoint(prefix, 2)
    assert {p.name for p in tmp_path.iterdir()} == {'b-12-symbol.json', 'b-5-symbol.json', 'b-8-symbol.json', 'b-0002.params', 'b.buckets'}
    again = mx.mod.BucketingModule.load(prefix, 2, sym_gen=embedding, default_bucket_key=12)
    again.bind([('data', (4, 12))], [('softmax_label', (4,))])
    check_same(numbers(again), numbers(module))


def test_buckets_with_parameters_of_their_own_are_refused():
    """They trained on parameters that nobody had initialised, and get_params raised KeyError."""
    def graph(length):
        net = sym.mean(sym.var('data'), axis=1, keepdims=True)
        net = sym.FullyConnected(net, num_hidden=2, name='fc')
        if length == 3:
            net = sym.BatchNorm(sym.FullyConnected(net, num_hidden=2, name='extra'), name='bn')
        return net, ('data',), None
    module = mx.mod.BucketingModule(graph, default_bucket_key=5)
    module.bind([('data', (4, 5))])
    module.init_params(mx.init.One())
    with pytest.raises(ValueError, match="bucket 3 has parameters extra_weight, extra_bias, bn_gamma, bn_beta, bn_moving_mean, "
                                         "bn_moving_var, which that of the default bucket 5 lacks"):
        module.switch_bucket(3, [('data', (4, 3))])
    module.forward(DataBatch([nd.ones((4, 2))], bucket_key=2, provide_data=[('data', (4, 2))]), is_train=False)
    assert (module.get_outputs()[0].asnumpy() == 1).all() and sorted(module.get_params()[0]) == ['fc_bias', 'fc_weight']


@pytest.mark.parametrize('devices', [1, 2])
def test_a_head_gradient_of_no_dimensions_is_refused(devices):
    """It was an IndexError about a tuple."""
    module = mx.mod.Module(sym.FullyConnected(sym.var('data'), num_hidden=3), label_names=None, context=[mx.cpu(i) for i in range(devices)])
    module.bind([('data', (4, 2))])
    module.init_params()
    module.forward(DataBatch([nd.ones((4, 2))]), is_train=True)
    with pytest.raises(mx.MXNetError, match=r"head gradient 0 has shape \(\)"):
        module.backward([nd.array(3)])


def test_chains():
    first = sym.FullyConnected(sym.var('data'), num_hidden=6, name='a')
    second = sym.SoftmaxOutput(sym.FullyConnected(sym.var('data'), num_hidden=2, name='b'), name='softmax')
    whole = sym.SoftmaxOutput(sym.FullyConnected(first, num_hidden=2, name='b'), name='softmax')
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(first, label_names=[])).add(mx.mod.Module(second), take_labels=True, auto_wiring=True)
    one = bound(net=whole, inputs_need_grad=True)
    chain.bind([('data', (10, 8))], [('softmax_label', (10,))], inputs_need_grad=True)
    chain.init_params(None, *one.get_params())
    for module in (chain, one):
        module.init_optimizer(optimizer_params={'learning_rate': 0.5})
        for step in range(3):
            module.forward_backward(batch(start=10 * step))
            module.update()
    check_same(numbers(chain), numbers(one))
    np.testing.assert_allclose(chain.get_input_grads()[0].asnumpy(), one.get_input_grads()[0].asnumpy(), rtol=1e-4, atol=1e-6)
    assert chain.output_shapes == [('softmax_output', (10, 2))] and chain.data_names == ['data']
    metric = mx.metric.Accuracy()
    chain.update_metric(metric, batch().label)
    assert metric.num_inst == 10
    with pytest.raises(ValueError, match='foo'):
        chain.add(mx.mod.Module(first, label_names=[]), foo=1)


def test_python_loss():
    net = sym.FullyConnected(sym.var('data'), num_hidden=2, name='b')
    chain = mx.mod.SequentialModule().add(mx.mod.Module(net, label_names=[]))
    chain.add(mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores - nd.one_hot(labels, 2)), take_labels=True, auto_wiring=True)
    chain.bind([('data', (10, 8))], [('softmax_label', (10,))])
    chain.init_params(mx.init.Zero())
    chain.init_optimizer(optimizer_params={'learning_rate': 0.1})
    chain.forward_backward(batch())
    chain.update()
    target = np.eye(2)[Y[:10].astype(int)]
    np.testing.assert_allclose(numbers(chain)['b_weight'], 0.1 * target.T @ X[:10] / 10, rtol=1e-4, atol=1e-6)


def test_labels_under_wrong_names():
    """A network would train with zeros for labels. 1.9.1 raises KeyError, too."""
    module = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3), name='softmax'))
    for kind in (KeyError, ValueError):
        with pytest.raises(kind, match="label_shapes has 'lab', which is no argument of the symbol; its arguments are data, "):
            module.bind([('data', (2, 4))], [('lab', (2,))])
    assert not module.binded
    module.bind([('data', (2, 4))], [('softmax_label', (2,))])
    module.init_params()
    # batches bring labels by their order, under whatever names
    batch = mx.io.NDArrayIter(mx.nd.ones((3, 4)), mx.nd.zeros(3), 3, label_name='lab').next()
    module.forward(batch, is_train=True)
    assert module.label_shapes[0].name == 'softmax_label' and module.get_outputs()[0].shape == (3, 3)


def test_metrics_without_labels():
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3), label_names=None)
    module.bind([('data', (2, 4))])
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 4))], None))
    for labels in (None, []):
        for kind in (TypeError, ValueError):      # 1.9.1 raises TypeError
            with pytest.raises(kind, match=r'\[Module\] update_metric has no labels for Accuracy: '):
                module.update_metric(mx.metric.Accuracy(), labels)
        loss = mx.metric.Loss()
        module.update_metric(loss, labels)        # which needs none
        assert loss.num_inst == 6


def test_monitor():
    module = bound()
    monitor = mx.mon.Monitor(2, stat_func=lambda x: nd.max(nd.abs(x)), pattern='fc1_weight|softmax_output', sort=True)
    module.install_monitor(monitor)
    seen = []
    for _ in range(4):
        monitor.tic()
        module.forward_backward(batch())
        seen.append(monitor.toc())
    assert [len(s) > 0 for s in seen] == [True, False, True, False]
    step, name, value = seen[2][0]
    assert (step, name) == (3, 'fc1_weight') and {n for _, n, _ in seen[0]} == {'softmax_output', 'fc1_weight'}
    assert float(value) == pytest.approx(np.abs(numbers(module)['fc1_weight']).max(), rel=1e-5)
    default = mx.mon.Monitor(1)
    for interval in (0, -1):
        with pytest.raises(ValueError, match="interval=.*; accepted: batches"):
            mx.mon.Monitor(interval)
    with pytest.raises(TypeError, match="install got a Monitor; accepted: an executor"):
        default.install(default)
    ones = nd.ones((4, 4)) * 3
    assert default.stat_func(ones).asscalar() == pytest.approx(3)
    with pytest.raises(TypeError):
        broken = mx.mon.Monitor(1, stat_func=lambda x: 3)
        module.install_monitor(broken)
        broken.tic()
        module.forward(batch())
        broken.toc()


def test_logging_callbacks(caplog):
    from mxnet.model import BatchEndParam
    metric = mx.metric.Accuracy()
    metric.update([nd.array([0, 1])], [nd.array([[1.0, 0], [1, 0]])])
    with caplog.at_level(logging.INFO):
        mx.callback.LogValidationMetricsCallback()(BatchEndParam(3, 1, metric, None))
        mx.callback.ProgressBar(total=7, length=20)(BatchEndParam(0, 4, metric, None))
        log = mx.callback.log_train_metric(2, auto_reset=True)
        for n in range(3):
            log(BatchEndParam(1, n, metric, None))
    assert caplog.messages == ['Epoch[3] Validation-accuracy=0.500000', '[===========---------] 58%\r',
                               'Iter[1] Batch[0] Train-accuracy=0.500000', 'Iter[1] Batch[2] Train-accuracy=nan']


def test_feed_forward(tmp_path):
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var('data'), num_hidden=2, name='fc'), name='softmax')
    np.random.seed(1)
    mx.random.seed(1)
    with pytest.warns(DeprecationWarning):
        model = mx.model.FeedForward(net, num_epoch=20, learning_rate=0.5, numpy_batch_size=10, initializer=mx.init.Xavier())
    with pytest.raises(RuntimeError, match='fit'):
        model.predict(X)
    model.fit(X, Y, eval_data=(X, Y))
    assert model.score(NDArrayIter(X, Y, 7)) > 0.95
    outputs, inputs, labels = model.predict(NDArrayIter(X, Y, 7), return_data=True)
    assert outputs.shape == (60, 2) and (inputs == X).all() and (labels == Y).all()
    model.save(str(tmp_path / 'ff'))
    again = mx.model.FeedForward.load(str(tmp_path / 'ff'), 20)
    np.testing.assert_allclose(again.predict(X[:3]), outputs[:3], rtol=1e-4, atol=1e-6)
    for wrong in ((X, None), (X, Y[:3]), ([1], [2])):
        with pytest.raises((ValueError, TypeError)):
            model.fit(*wrong)


def test_tables_of_networks(capsys):
    mx.viz.print_summary(network(), shape={'data': (1, 8)})
    out = capsys.readouterr().out
    assert 'fc1(FullyConnected)' in out and 'Total params: 106' in out      # 8*8+8, 2*8, 8*2+2
    with pytest.raises(TypeError):
        mx.viz.print_summary(3)


def test_the_default_context_is_the_cpu_also_inside_another():
    with mx.Context('cpu', 1):
        module = mx.mod.Module(network())
        buckets = mx.mod.BucketingModule(lambda key: (network(), ['data'], ['softmax_label']), default_bucket_key=1)
        for made in (module, buckets):
            made.bind([('data', (10, 8))], [('softmax_label', (10,))])
            made.init_params()
            assert made.get_params()[0]['fc1_weight'].context == mx.cpu(0)
        module.forward(batch(), is_train=False)
        assert module.get_outputs()[0].context == buckets._curr_module._context[0] == mx.cpu(0)


@pytest.mark.parametrize("between", [lambda module: None, lambda module: module.get_params(), lambda module: nd.waitall()],
                         ids=["nothing", "get_params", "waitall"])
def test_predict_uses_what_the_update_before_has_left(between):
    """1.9.1 loses the moving averages of the batch unless the program waits behind the update."""
    net = sym.BatchNorm(sym.FullyConnected(sym.var('data'), num_hidden=8, name='fc1'), name='bn', momentum=0.5, fix_gamma=False)
    net = sym.LinearRegressionOutput(sym.FullyConnected(net, num_hidden=1, name='fc2'), sym.var('label'), name='out')
    module = mx.mod.Module(net, label_names=['label'])
    data = NDArrayIter(X, Y.reshape(-1, 1), 20, label_name='label')
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Xavier(rnd_type='gaussian'))
    before = module.get_params()[0]['fc1_weight'].asnumpy()
    module.init_optimizer('local', 'sgd', (('learning_rate', 0.1),))
    module.forward_backward(next(data))
    module.update()
    between(module)
    data.reset()
    predicted = module.predict(data).asnumpy()
    args, aux = ({name: array.asnumpy() for name, array in arrays.items()} for arrays in module.get_params())
    hidden = X @ args['fc1_weight'].T + args['fc1_bias']
    batch_mean = (X[:20] @ before.T).mean(axis=0)
    np.testing.assert_allclose(aux['bn_moving_mean'], 0.5 * batch_mean, rtol=1e-4, atol=1e-5)
    hidden = (hidden - aux['bn_moving_mean']) / np.sqrt(aux['bn_moving_var'] + 1e-3) * args['bn_gamma'] + args['bn_beta']
    np.testing.assert_allclose(predicted, hidden @ args['fc2_weight'].T + args['fc2_bias'], rtol=1e-4, atol=1e-5)


def test_initializers_by_name():
    def weights(initializer):
        mx.random.seed(3)
        net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc")
        module = mx.mod.Module(net, label_names=None)
        module.bind([("data", (2, 5))])
        module.init_params(initializer)
        return module.get_params()[0]["fc_weight"].asnumpy()
    assert (weights("xavier") == weights(mx.init.Xavier())).all() and weights("xavier").any()
    with pytest.raises(TypeError, match=r"initializer is a int; accepted: an Initializer, such as mx.init.Xavier\(\), its name"):
        weights(3)
    with pytest.raises(Exception, match="xavier"):
        weights("xavir")


def test_a_shared_module_has_all_parameters():
    """Those that it lacked stayed zeros, and get_params was a KeyError. 1.9.1 refuses it, too."""
    def network(wide):
        hidden = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=4, name='fc1')
        hidden = mx.sym.FullyConnected(hidden, num_hidden=4, name='extra') if wide else hidden
        return mx.sym.FullyConnected(hidden, num_hidden=2, name='fc2')
    shared = mx.mod.Module(network(False), label_names=None)
    shared.bind([('data', (2, 3))])
    shared.init_params()
    wide = mx.mod.Module(network(True), label_names=None)
    with pytest.raises(ValueError, match='extra_weight, extra_bias'):
        wide.bind([('data', (2, 3))], shared_module=shared)
    assert not wide.binded and not wide.params_initialized
    narrow = mx.mod.Module(network(False), label_names=None)
    narrow.bind([('data', (5, 3))], shared_module=shared)
    assert sorted(narrow.get_params()[0]) == ['fc1_bias', 'fc1_weight', 'fc2_bias', 'fc2_weight']
