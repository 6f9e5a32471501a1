"""Small things that programs of 1.9.1 print, read or call, as its wheel has them."""
import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import nn, rnn
from mxnet.gluon.contrib import nn as contrib_nn


# ---- what blocks print


@pytest.mark.parametrize('base, args, rest', [
    (nn.Dense, (2,), '(None -> 2, linear)'), (nn.Dropout, (0.5,), '(p = 0.5, axes=())'), (nn.Flatten, (), ''),
    (nn.LeakyReLU, (0.1,), '(0.1)'), (nn.Activation, ('relu',), '(relu)'), (nn.Lambda, ('relu',), '(relu)'),
    (nn.HybridLambda, ('relu',), '(relu)'), (nn.GroupNorm, (2,), '(eps=1e-05, num_groups=2, center=True, scale=True)'),
    (contrib_nn.SparseEmbedding, (2, 3), '(2 -> 3, float32)'),
    (gluon.contrib.cnn.DeformableConvolution, (3,), '(None -> 3, kernel_size=(1, 1), stride=(1, 1))')])
def test_layers_of_ones_own_are_called_by_their_class(base, args, rest):
    assert repr(type('Mine', (base,), {})(*args)) == 'Mine' + rest


def test_blocks_show_their_attributes_and_containers_their_parts():
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.first = nn.Dense(2)
            self.register_child(nn.Dense(3), 'hidden')

    class Stack(nn.HybridSequential):
        def __init__(self):
            super().__init__()
            self.first = nn.Dense(2)
            self.add(nn.Dense(3))
    assert repr(Net()) == 'Net(\n  (first): Dense(None -> 2, linear)\n)'
    assert repr(Stack()) == 'Stack(\n  (first): Dense(None -> 2, linear)\n  (1): Dense(None -> 3, linear)\n)'
    assert repr(type('Cell', (rnn.RecurrentCell,), {})()) == 'Cell(\n\n)'
    assert repr(rnn.SequentialRNNCell()) == 'SequentialRNNCell(\n\n)'


# ---- recurrent cells of symbols


def test_gates_are_cut_along_the_default_axis():
    """Symbol files hold what was given, not what the default is."""
    for cell, count in ((mx.rnn.LSTMCell(3, prefix='a_'), '4'), (mx.rnn.GRUCell(3, prefix='a_'), '3'),
                        (mx.rnn.ConvGRUCell((1, 3, 8, 8), 4, prefix='a_'), '3')):
        outputs, _ = cell.unroll(2, mx.sym.Variable('x'))
        attributes = outputs[1].attr_dict()
        slices = [value for name, value in attributes.items() if name.endswith('slice')]
        assert slices and all(value == {'num_outputs': count} for value in slices)
        assert attributes['split%d' % ([int(name[5:]) for name in attributes if name.startswith('split')][0])]['squeeze_axis'] == '1'


def test_sentences_that_are_left_out_are_counted(capsys):
    mx.rnn.BucketSentenceIter([[1, 2], [2, 3], [1, 2, 3]], 2, buckets=[2])
    mx.rnn.BucketSentenceIter([[1, 2], [2, 3]], 2)
    assert capsys.readouterr().out.splitlines() == [
        f'WARNING: discarded {n} sentences longer than the largest bucket.' for n in (1, 0)]


def test_fused_cells_advise_a_layout():
    with pytest.warns(UserWarning, match='NTC layout detected. Consider using TNC for FusedRNNCell for faster speed'):
        mx.rnn.FusedRNNCell(3).unroll(2, mx.sym.Variable('x'))
    for kind in (AssertionError, ValueError):     # the former in 1.9.1; steps were taken for channels
        with pytest.raises(kind, match="layout 'CNT' given; TNC and NTC are accepted"):
            mx.rnn.FusedRNNCell(3).unroll(2, mx.sym.Variable('x'), layout='CNT')


def test_helpers_of_cells():
    from mxnet.rnn import rnn_cell
    cells = [mx.rnn.LSTMCell(3, prefix='a_'), mx.rnn.GRUCell(2, prefix='b_')]
    assert rnn_cell._cells_state_shape(cells) == [(0, 3), (0, 3), (0, 2)]
    assert [info['shape'] for info in rnn_cell._cells_state_info(cells)] == [(0, 3), (0, 3), (0, 2)]
    assert [s.name for s in rnn_cell._cells_begin_state(cells)] == ['a_begin_state_0', 'a_begin_state_1', 'b_begin_state_0']
    whole = {f'{p}{s}_{k}': nd.arange(n * 2).reshape((n, 2)) for p, n in (('a_', 12), ('b_', 6)) for s in ('i2h', 'h2h')
             for k in ('weight', 'bias')}
    parts = rnn_cell._cells_unpack_weights(cells, whole)
    assert parts['a_i2h_f_weight'].asnumpy().tolist() == [[6, 7], [8, 9], [10, 11]] and len(parts) == 28
    again = rnn_cell._cells_pack_weights(cells, parts)
    assert sorted(again) == sorted(whole) and again['b_h2h_bias'].asnumpy().tolist() == whole['b_h2h_bias'].asnumpy().tolist()

    x, steps = mx.sym.Variable('x'), [mx.sym.Variable('x'), mx.sym.Variable('y')]
    normalize = rnn_cell._normalize_sequence
    assert normalize(2, x, 'NTC', None) == (x, 1) and normalize(2, x, 'TNC', True) == (x, 0)
    assert normalize(2, steps, 'NTC', None) == (steps, 1) and normalize(2, steps, 'NTC', False) == (steps, 1)
    cut, axis = normalize(2, x, 'NTC', False, 'TNC')
    assert axis == 1 and len(cut) == 2 and cut[0].attr('axis') == '0'
    merged, axis = normalize(2, steps, 'TNC', True)
    assert axis == 0 and merged.infer_shape(x=(4, 5), y=(4, 5))[1] == [(2, 4, 5)]
    swapped, axis = normalize(2, x, 'NTC', True, 'TNC')
    assert axis == 1 and swapped.infer_shape(x=(2, 4, 5))[1] == [(4, 2, 5)]
    with pytest.raises(AssertionError):
        normalize(2, steps[:1], 'NTC', True)


# ---- mx.test_utils


def test_violations_are_counted_beside_the_least_tolerance():
    from mxnet import test_utils as tu
    with pytest.raises(AssertionError, match=r'Error 50000000000000000000\.000000 exceeds'):
        tu.assert_almost_equal(np.ones(2), np.zeros(2))


def test_optimizers_are_compared_on_lists_of_shapes():
    sgd = mx.optimizer.SGD
    mx.test_utils.compare_optimizer(sgd(momentum=0.9), sgd(momentum=0.9), [(2, 3)], 'float32')
    with pytest.raises(AssertionError):
        mx.test_utils.compare_optimizer(sgd(learning_rate=0.1), sgd(learning_rate=0.2), [(2, 3), (4,)], 'float32')


def test_gradients_that_were_checked_are_returned():
    x, y = mx.sym.Variable('x'), mx.sym.Variable('y')
    point = {'x': np.ones((2, 3)), 'y': np.ones((2, 3))}
    found = mx.test_utils.check_symbolic_backward(x * 2 + y, point, [np.ones((2, 3))], {'x': np.full((2, 3), 2.0)},
                                                  grad_req={'x': 'write', 'y': 'null'})
    assert list(found) == ['x'] and found['x'].asnumpy().tolist() == [[2, 2, 2]] * 2


def test_inconsistent_settings_are_named(capsys):
    x = mx.sym.Variable('x')
    symbols, settings = [mx.sym.exp(x, name='e'), mx.sym.exp(x + 0.1, name='e')], [{'ctx': mx.cpu(), 'x': (2, 3)}] * 2
    with pytest.raises(AssertionError, match=r', a=\S+, b='):
        mx.test_utils.check_consistency(symbols, settings)
    mx.test_utils.check_consistency(symbols, settings, raise_on_err=False)
    told = [line for line in capsys.readouterr().out.splitlines() if ' Err: ' in line]
    assert told == ['Predict Err: ctx 1 vs ctx 0 at e_output'] * 2 + [
        f'Train Err: float32 cpu(0) ctx 1 vs float32 cpu(0) ctx 0 at {name}' for name in ('e_output', 'x')]


# ---- mx.contrib.text


def test_reading_of_vectors_is_logged_and_closes_the_file(tmp_path, caplog, recwarn):
    path = tmp_path / 'vectors.txt'
    path.write_text('life 1 2\nis 3 4\n')
    with caplog.at_level('INFO'):
        vectors = mx.contrib.text.embedding.CustomEmbedding(str(path))
    assert [record.getMessage() for record in caplog.records] == [f'Loading pre-trained token embedding vectors from {path}']
    assert len(vectors) == 3 and not [w for w in recwarn if w.category is ResourceWarning]


# ---- classes of errors, logs and numbers


def _bound_symbol_block():
    data = mx.sym.var('data')
    layer = mx.sym.FullyConnected(data, num_hidden=2)
    return gluon.SymbolBlock(layer, mx.sym.relu(data))


def _created_with_an_instance():
    return mx.metric.create(mx.metric.Accuracy(), axis=0)


def _open_shape():
    parameter = gluon.Parameter('w', shape=(2, 0), allow_deferred_init=True)
    parameter.initialize()
    parameter._finish_deferred_init()


@pytest.mark.parametrize('call', [
    lambda: mx.lr_scheduler.LRScheduler(warmup_steps=1.5), lambda: mx.init.Load(3), _bound_symbol_block,
    _created_with_an_instance, _open_shape, lambda: mx.mod.BucketingModule.load('net', 1)])
def test_what_1x_asserted_raises_an_assertion_error_too(call):
    with pytest.raises(AssertionError) as caught:
        call()
    assert isinstance(caught.value, (ValueError, TypeError)) and str(caught.value).startswith('[')


def test_numpy_semantics_are_told_once(caplog):
    mx.util._told.clear()
    with caplog.at_level('INFO'):
        with mx.util.np_array(True):
            assert not caplog.records
        for _ in range(2):
            with mx.util.np_shape(True):
                pass
        assert len(caplog.records) == 1 and 'NumPy-shape semantics' in caplog.text
        for _ in range(2):
            mx.npx.set_np()
            mx.npx.reset_np()
        assert len(caplog.records) == 2 and 'NumPy array semantics' in caplog.text


def test_an_optimizer_with_a_schedule_has_the_rate_that_it_was_given():
    def schedule():
        return mx.lr_scheduler.FactorScheduler(2, base_lr=0.7)
    optimizer = mx.optimizer.SGD(lr_scheduler=schedule())
    assert (optimizer.lr, optimizer.learning_rate) == (None, 0.7)
    optimizer = mx.optimizer.SGD(learning_rate=0.3, lr_scheduler=schedule())
    assert (optimizer.lr, optimizer.learning_rate) == (0.3, 0.3)
    assert mx.optimizer.SGD(learning_rate=None).lr == 0.01


def test_mcc_counts_in_floats():
    metric = mx.metric.MCC()
    metric.update([nd.array([0, 1])], [nd.array([[.9, .1], [.2, .8]])])
    counts = metric.num_inst, metric.global_num_inst
    metric.reset_local()
    assert [repr(n) for n in (*counts, metric.num_inst)] == ['1.0', '1.0', '0.0']


def test_constants_of_a_graph_name_their_initializer():
    constant = gluon.Constant('scale', [[1, 2]])
    assert constant.var().attr('__init__').startswith('Constant_scale_')


# ---- warnings and errors of small calls


def test_histogram_without_a_range_warns():
    x = nd.array([1, 2, 3])
    with pytest.warns(UserWarning, match='range is not specified'):
        counts, edges = nd.histogram(x, bins=2)
    assert counts.asnumpy().tolist() == [1, 2] and edges.asnumpy().tolist() == [1, 2, 3]
    for bins in ('a', [0, 1], 2.5):
        with pytest.raises(ValueError, match='bins'):
            nd.histogram(x, bins=bins, range=(0, 3))


def test_parameters_of_draws_that_are_no_numbers():
    with pytest.raises(AssertionError, match='high'):
        nd.random.uniform(0, 'a')
    with pytest.raises(ValueError, match='low') as caught:
        nd.random.uniform('a', 1)
    assert not isinstance(caught.value, AssertionError)


def test_draws_take_the_text_of_a_context():
    assert nd.random.uniform(shape=(2,), ctx='cpu(0)').shape == (2,)
    for ctx in ('cpu', 3):
        with pytest.raises(mx.MXNetError, match='context'):
            nd.random.uniform(ctx=ctx)


def test_rand_zipfian_gives_a_tuple():
    assert type(nd.contrib.rand_zipfian(nd.array([3]), 4, 5)) is tuple


def test_an_iterator_at_its_end_asserts_that_it_is_reset():
    batches = mx.io.NDArrayIter(np.zeros((4, 2)), None, 2)
    list(batches)
    for read in (batches.getdata, batches.getlabel):
        with pytest.raises(AssertionError, match='reset'):
            read()


def test_infer_shape_takes_tuples_alone():
    x = mx.sym.var('x')
    for infer in (x.infer_shape, x.infer_shape_partial):
        assert infer(x=(1, 2))[1] == [(1, 2)]
        for given in (dict(x=[1, 2]), dict(x=3)):
            with pytest.raises(TypeError, match='tuple'):
                infer(**given)
        with pytest.raises(TypeError, match='tuple'):
            infer([1, 2])


def test_transposed_convolutions_do_not_print_the_padding_of_outputs():
    layer = nn.Conv2DTranspose(2, 3, strides=2, output_padding=1, in_channels=4)
    assert repr(layer) == 'Conv2DTranspose(4 -> 2, kernel_size=(3, 3), stride=(2, 2))'


def test_classes_of_images_live_in_the_modules_of_1x():
    assert {mx.image.ImageDetIter.__module__, mx.image.DetBorrowAug.__module__} == {'mxnet.image.detection'}
    assert {mx.image.ImageIter.__module__, mx.image.CastAug.__module__} == {'mxnet.image.image'}


def test_states_count_who_has_written_them_in_files():
    """The third number of an input in a symbol file."""
    data, mean, variance = (mx.sym.Variable(name) for name in ('data', 'mean', 'variance'))
    net = data
    for name in ('a', 'b'):
        net = mx.sym.BatchNorm(net, moving_mean=mean, moving_var=variance, name=name)
    net = mx.sym.broadcast_add(net, mean, name='last')
    for symbol in (net, mx.sym.load_json(net.tojson())):
        inputs = {node['name']: [last for *_, last in node['inputs']] for node in json.loads(symbol.tojson())['nodes']}
        assert inputs['a'] == [0, 0, 0, 1, 1] and inputs['b'] == [0, 0, 0, 2, 2] and inputs['last'] == [0, 2]


def test_outputs_are_where_their_group_is():
    with mx.AttrScope(ctx_group='first'):
        y = mx.sym.Variable('x') * 2
    with mx.AttrScope(ctx_group='second'):
        z = mx.sym.FullyConnected(y + 1, num_hidden=2, name='fc')
    groups = {'first': mx.cpu(1), 'second': mx.cpu(2)}
    bound = mx.sym.Group([y, z]).simple_bind(mx.cpu(), group2ctx=groups, x=(2, 3))
    for executor in (bound, bound.reshape(x=(1, 3))):
        assert [out.context for out in executor.forward(is_train=True)] == [mx.cpu(1), mx.cpu(2)]
        executor.backward([nd.ones(out.shape, out.context) for out in executor.outputs])
        assert (executor.grad_dict['x'].asnumpy() == 2).all()
    assert z.simple_bind(mx.cpu(3), x=(2, 3)).forward()[0].context == mx.cpu(3)
