"""States that calls of 1.9.1 leave behind, and what callers see of them, as its wheel has them."""
import logging

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet.io import DataBatch


def classifier():
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=4, name='fc'), name='softmax')


def module(size=6):
    result = mx.mod.Module(classifier())
    result.bind([('data', (size, 3))], [('softmax_label', (size,))])
    result.init_params()
    return result


# ---- arrays


@pytest.mark.parametrize('make', [nd.ones, mx.np.ones])
def test_all_of_an_array_is_the_array(make):
    x = make((2, 3))
    assert x[:] is x and x[()] is x and x[::1] is x and x[slice(None, None, None)] is x
    assert all(x[key] is not x for key in (slice(0, 2), (slice(None),), Ellipsis, None, slice(None, None, -1), slice(None, None, 2 ** 70)))
    x.attach_grad()
    with autograd.record():
        y = x[:]
        z = (y * y).sum()
    z.backward()
    assert y is x and y.grad.asnumpy().tolist() == [[2, 2, 2]] * 2
    x[:] += 1
    assert x.asnumpy().tolist() == [[2, 2, 2]] * 2


def test_writing_into_all_of_a_result_is_recorded():
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = x * 3
        y[:] *= x
        z = y[:]
        z += x
        total = y.sum()
    total.backward()
    assert z is y and y.asnumpy().tolist() == [4, 14] and x.grad.asnumpy().tolist() == [7, 13]


# ---- modules


@pytest.mark.parametrize('labels', [[], None])
def test_a_module_stays_as_it_was_when_it_cannot_be_reshaped(labels):
    m = module()
    with pytest.raises(mx.MXNetError, match='softmax_label'):
        m.reshape([('data', (2, 3))], labels)
    assert [d.shape for d in m.data_shapes + m.label_shapes] == [(6, 3), (6,)]
    for size in (6, 4):
        m.forward(DataBatch([nd.ones((size, 3))], [nd.zeros(size)]))
        assert m.get_outputs()[0].shape == (size, 4)
        m.forward(DataBatch([nd.ones((size, 3))]))


def test_names_may_be_arrays_of_numpy():
    data = mx.sym.Variable('data') + mx.sym.Variable('more')
    m = mx.mod.Module(data, data_names=np.array(['data', 'more']), label_names=np.array([]))
    assert m.data_names == ['data', 'more'] and m.label_names == []
    assert mx.metric.CompositeEvalMetric(np.array(['acc', 'mse'])).get()[0] == ['accuracy', 'mse']


def test_modules_in_python_may_be_bound_again():
    m = mx.mod.PythonLossModule()
    for size in (8, 4):
        m.bind([('data', (size, 4))], [('softmax_label', (size,))])
        assert m.output_shapes == [('pyloss_output', (size, 4))] and m.data_shapes == [('data', (size, 4))]


def test_checkpoints_ask_for_each_bucket_s_network(tmp_path):
    asked = []

    def network(key):
        asked.append(key)
        return classifier(), ['data'], ['softmax_label']
    m = mx.mod.BucketingModule(network, default_bucket_key=6)
    m.bind([('data', (6, 3))], [('softmax_label', (6,))])
    m.init_params()
    m.switch_bucket(4, [('data', (4, 3))], [('softmax_label', (4,))])
    del asked[:]
    m.save_checkpoint(str(tmp_path / 'b'), 1)
    assert asked == [6, 4]
    assert mx.sym.load(str(tmp_path / 'b-4-symbol.json')).list_arguments() == classifier().list_arguments()


def test_epochs_and_names_of_files(tmp_path):
    m, prefix = module(), str(tmp_path / 'p')
    m.init_optimizer(optimizer='adam')
    m.save_checkpoint(prefix, 3.0, True)
    assert sorted(f.name for f in tmp_path.iterdir()) == ['p-0003.params', 'p-0003.states', 'p-symbol.json']
    assert mx.mod.Module.load(prefix, 3.0, True)._preload_opt_states == prefix + '-0003.states'
    assert sorted(mx.model.load_checkpoint(prefix, np.float64(3))[1]) == ['fc_bias', 'fc_weight']
    m.save_optimizer_states((prefix + '.states').encode())
    m.load_optimizer_states((prefix + '.states').encode())


def test_variables_that_callbacks_see():
    seen = []
    data = mx.io.NDArrayIter(np.ones((8, 3), 'float32'), np.zeros(8), 4)
    mx.mod.Module(classifier()).fit(data, eval_data=data, num_epoch=2, batch_end_callback=lambda p: seen.append(set(p.locals)))
    first = set('''allow_missing arg_params aux_params batch_end_callback begin_epoch data_batch data_iter end_of_batch epoch
        epoch_end_callback eval_batch_end_callback eval_data eval_end_callback eval_metric force_init force_rebind initializer kvstore
        monitor nbatch next_data_batch num_epoch optimizer optimizer_params self sparse_row_id_fn tic train_data
        validation_metric'''.split())     # those of 1.9.1, beside the ones of its loop over callbacks
    assert [names - first for names in seen] == [set(), {'eval_name_vals'}, *[{'eval_name_vals', 'name', 'res', 'val'}] * 2]


# ---- images


def test_image_iterators_describe_batches_by_plain_tuples(tmp_path, caplog):
    (tmp_path / 'a.pnm').write_bytes(b'P6 8 8 255 ' + bytes(192))
    with caplog.at_level(logging.INFO):
        it = mx.image.ImageIter(1, (3, 8, 8), imglist=[[1, 'a.pnm']], path_root=str(tmp_path))
    assert [(type(d), d) for d in it.provide_data + it.provide_label] == [
        (tuple, ('data', (1, 3, 8, 8))), (tuple, ('softmax_label', (1,)))]
    assert caplog.messages == [
        'Using 1 threads for decoding...',
        'Set enviroment variable MXNET_CPU_WORKER_NTHREADS to a larger number to use more threads.',
        'ImageIter: loading image list...']
    boxes = mx.image.ImageDetIter(1, (3, 8, 8), imglist=[[[2, 5, 0, .25, .25, .75, .75], 'a.pnm']], path_root=str(tmp_path))
    boxes.reshape((3, 4, 4), (3, 5))
    assert [(type(d), d) for d in boxes.provide_data + boxes.provide_label] == [
        (tuple, ('data', (1, 3, 4, 4))), (tuple, ('label', (1, 3, 5)))]
    both = mx.io.PrefetchingIter(mx.io.ResizeIter(it, 2))
    assert both.provide_data[0] == ('data', (1, 3, 8, 8)) and len(list(both)) == 2
