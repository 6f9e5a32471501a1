"""What wrong calls raise can be caught as in MXNet 1.9.1, whose exceptions for the calls of
wrong_calls.py are recorded."""
import json
import os

import pytest

import mxnet as mx
import wrong_calls
from mxnet.base import error_class

with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), 'data', 'wrong_calls_1.9.1.json')) as _file:
    RECORDED = json.load(_file)

# Classes that accidents of 1.9.1 raised (a missing attribute of a number and the like), and calls
# that mean something here.
OTHERWISE = {
    "nd.save(3, a)", "nd.cast(a, dtype='nonsense')", "nd.histogram(a, 'x')", "nd.full((2,), 'x')",
    "mx.autograd.mark_variables(a, 3)", "mx.io.CSVIter()",
    "mx.gpu_memory_info(77)", "mx.viz.plot_network(3)", "mx.callback.do_checkpoint('x', 'y')", "a.reshape(shape=())",
    "x.simple_bind('cpu', x=(2,))", "mx.metric.CustomMetric(3)", "mx.metric.np(3)",
    "mx.recordio.MXRecordIO(folder + '/x.rec', 'w').write(3)",
    "mx.rnn.BucketSentenceIter([], 2, [3])"}


def test_the_record_is_of_these_calls():
    assert list(RECORDED) == wrong_calls.CALLS and len(RECORDED) > 400
    assert OTHERWISE <= set(RECORDED)


@pytest.mark.parametrize('begin', range(0, len(wrong_calls.CALLS), 50))
def test_wrong_calls_raise_what_programs_catch(begin):
    wrong = {}
    for call in wrong_calls.CALLS[begin:begin + 50]:
        before = RECORDED[call]
        if before in (None, 'crash') or call in OTHERWISE:
            continue
        now = wrong_calls.outcome(call)
        if now is None or set(before) - set(now):
            wrong[call] = before, now
    assert not wrong


def test_error_classes():
    kind = error_class(ValueError, KeyError)
    assert kind is error_class(ValueError, KeyError) and kind.__name__ == 'ValueError' and str(kind('plain text')) == 'plain text'
    import pickle
    again = pickle.loads(pickle.dumps(kind('text')))
    assert isinstance(again, KeyError) and isinstance(again, ValueError) and str(again) == 'text'


def test_a_number_is_no_handle():
    """It was taken as the address of an array, and the process ended."""
    for value in (3, 'x', 1.5):
        with pytest.raises(TypeError, match='accepted: a handle'):
            mx.nd.NDArray(value)
        with pytest.raises(AssertionError):
            mx.nd.NDArray(value)
