"""Operators called as users do, odd arguments included: values, shapes, dtypes, names, inference
and errors are what 1.9.1 gave (record_operator_calls.py)."""
import collections
import gzip
import json
import pathlib

import numpy as np
import pytest

import mxnet as mx
from operator_calls import answer

RECORDED = pathlib.Path(__file__).parents[1] / 'data' / 'operator_calls_1.9.1.json.gz'
with gzip.open(RECORDED, 'rt') as recorded:
    CALLS = collections.defaultdict(list)
    for line in recorded:
        call, want = json.loads(line)
        CALLS[call[0]].append((call, want))
PARTS = 16
TOLERANCE = {'float16': 4e-3, 'float32': 2e-4, 'float64': 2e-4}     # five digits are recorded


def difference(got, want, how):
    """What differs, as text; '' if nothing does."""
    if 'error' in (got, want) or how not in ('array', 'grad'):
        return '' if got == want else f'{got}, expected {want}'
    if [g[:2] for g in got] != [w[:2] for w in want]:
        return f'{[g[:2] for g in got]}, expected {[w[:2] for w in want]}'
    for g, w in zip(got, want):
        limit = TOLERANCE.get(w[0], 1e-4)
        for a, b in ((g[2], w[2]), (g[3], w[3])):
            if not np.allclose(a, b, rtol=limit, atol=limit * max(1.0, abs(w[3])), equal_nan=True):
                return f'{a}, expected {b}'
    return ''


def test_a_difference_is_told():
    one = [['float32', [2], [1.0, 2.0], 1.5]]
    assert not difference(one, one, 'array')
    for other in ([['float32', [2], [1.0, 2.1], 1.55]], [['float64', [2], [1.0, 2.0], 1.5]],
                  [['float32', [1, 2], [1.0, 2.0], 1.5]], 'error'):
        assert difference(one, other, 'array') and difference(other, one, 'array')
    assert difference([['a'], ['b']], [['a'], ['c']], 'graph')


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('part', range(PARTS))
def test_calls_give_what_they_gave(part):
    found = []
    for op in sorted(CALLS)[part::PARTS]:
        for call, want in CALLS[op]:
            text = difference(json.loads(json.dumps(answer(mx, call))), want, call[3])
            if text:
                found.append(f'{json.dumps(call)}: {text}')
    assert not found, '\n'.join(found)
