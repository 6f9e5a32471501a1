"""Arrays of more than 2^31 elements: one byte each, two arrays at a time at most, so that memory
stays below 5 GiB. Each test is a process, which gives its memory back."""
import subprocess
import sys

import pytest

import mxnet as mx

pytestmark = [pytest.mark.nightly, pytest.mark.cpu]

PRELUDE = """
import numpy as np, mxnet as mx
from mxnet import nd
ROWS, COLUMNS = 32771, 65537            # 2,147,713,027 elements
N = ROWS * COLUMNS
assert N > 2 ** 31
def row():
    # zeros, but in the last rows, from element 2^31 on
    x = nd.zeros((ROWS, COLUMNS), dtype='uint8')
    x[-1] = 7
    x[2 ** 31 // COLUMNS:-1] = 5
    x[-1, -1] = 9
    return x
def number(x):
    return x.asnumpy().reshape(-1)[0].item()
"""

PROGRAMS = {
    'create': """
x = nd.ones((N,), dtype='uint8')
assert x.size == N and x.shape == (N,) and number(x[-1:]) == 1 and number(x[2 ** 31:2 ** 31 + 1]) == 1
y = nd.full((N,), 3, dtype='int8')
assert number(y[N - 1:N]) == 3
""",
    'write slices': """
x = row()
assert number(x[-1, -1]) == 9 and number(x[-1, 0]) == 7 and number(x[-2, 3]) == 5 and number(x[0, 0]) == 0
flat = x.reshape((-1,))
assert flat.shape == (N,) and number(flat[N - 1:]) == 9 and number(flat[N - 2:N - 1]) == 7
flat[2 ** 31 + 3:2 ** 31 + 5] = 77
assert flat[2 ** 31 + 2:2 ** 31 + 6].asnumpy().tolist() == [5, 77, 77, 5]
""",
    'add': """
x = row()
y = x + 1
assert number(y[-1, -1]) == 10 and number(y[-2, 0]) == 6 and number(y[0, 0]) == 1
y += x
assert number(y[-1, -1]) == 19 and number(y[-1, -2]) == 15 and number(y[5, 5]) == 1
""",
    'compare': """
x = row()
y = x == 5
assert y.dtype == np.uint8 and number(y[-2, 1]) == 1 and number(y[-1, -1]) == 0
""",
    'sum': """
x = row()
assert x.sum(axis=0).shape == (COLUMNS,)
most = x.max()
assert number(most) == 9 and number(x.min()) == 0
columns = nd.max(x, axis=1)
assert columns[-3:].asnumpy().tolist() == [5, 5, 9] and columns[:2].asnumpy().tolist() == [0, 0]
""",
    'count of all': """
x = mx.np.ones((N,), dtype='uint8')
assert int(mx.np.count_nonzero(x)) == N
""",
    'mean of all': """
x = mx.np.ones((N,), dtype='int8')
x[:N // 2] = 3
assert abs(float(x.mean()) - 2) < 1e-6
""",
    'sort': """
x = mx.nd.sort(row().reshape((-1,)), is_ascend=False)
ends = x[:3].asnumpy().tolist(), x[-2:].asnumpy().tolist()
assert ends == ([9, 7, 7], [0, 0]), ends
""",
    'bincount': """
x = row().reshape((-1,)).as_np_ndarray()
counts = mx.np.bincount(x).asnumpy().tolist()
assert counts[7] == COLUMNS - 1 and counts[9] == 1 and sum(counts) == N and counts[0] > 2 ** 30, counts
""",
    'position of the maximum': """
x = row().reshape((-1,))

assert int(mx.np.argmax(x.as_np_ndarray())) == N - 1
assert int(mx.np.argmin(x.as_np_ndarray()[1:])) == 0
""",
    'argmax of rows': """
x = row()
best = mx.np.argmax(x.as_np_ndarray(), axis=1)
assert int(best[-1]) == COLUMNS - 1 and int(best[0]) == 0
""",
    'transpose': """
x = row()
y = x.T
assert y.shape == (COLUMNS, ROWS) and number(y[-1, -1]) == 9 and number(y[3, -2]) == 5 and number(y[3, -1]) == 7
""",
    'flip': """
x = row()
y = nd.flip(x, axis=0)
assert number(y[0, 0]) == 7 and number(y[0, -1]) == 9 and number(y[1, 0]) == 5 and number(y[-1, -1]) == 0
""",
    'take': """
x = row()
got = nd.take(x, nd.array([ROWS - 1, 0, ROWS - 2], dtype='int64'))
assert got[:, -1].asnumpy().tolist() == [9, 0, 5]
flat = x.reshape((-1,))
near = nd.take(flat, nd.array([N - 1, N - 2, 2 ** 31 + 1, 0], dtype='int64'))
assert near.asnumpy().tolist() == [9, 7, 5, 0]
assert x.as_np_ndarray()[mx.np.array([ROWS - 1], dtype='int64'), mx.np.array([COLUMNS - 1], dtype='int64')].tolist() == [9]
""",
    'pick and gather': """
x = row()
where = nd.full((ROWS,), COLUMNS - 1, dtype='int32')
assert nd.pick(x, where, axis=1)[-2:].asnumpy().tolist() == [5, 9]
index = nd.array([[ROWS - 1, 1], [COLUMNS - 1, 2]], dtype='int64')
assert nd.gather_nd(x, index).asnumpy().tolist() == [9, 0]
""",
    'concatenate': """
half = nd.ones((N // 2 + 1,), dtype='uint8')
both = nd.concat(half, half, dim=0)
del half
assert both.shape == (2 * (N // 2 + 1),) and number(both[-1:]) == 1 and number(both[2 ** 31:2 ** 31 + 1]) == 1
""",
    'split': """
x = row()
upper, lower = x[:ROWS // 2], x[ROWS // 2:]
assert upper.shape[0] + lower.shape[0] == ROWS and number(lower[-1, -1]) == 9
assert number(upper[-1, -1]) == 0
""",
    'broadcast': """
column = nd.array(np.arange(ROWS) % 200, dtype='uint8').reshape((ROWS, 1))
x = nd.broadcast_to(column, shape=(ROWS, COLUMNS))
assert number(x[-1, -1]) == (ROWS - 1) % 200 and number(x[100, 3]) == 100
y = nd.broadcast_add(x, nd.ones((1, COLUMNS), dtype='uint8'), out=x)
assert number(x[-1, -1]) == (ROWS - 1) % 200 + 1
""",
    'repeat and tile': """
x = nd.tile(nd.array([1, 2, 3], dtype='uint8'), reps=(2 ** 31 // 3 + 9,))
assert x.shape == (3 * (2 ** 31 // 3 + 9),) and x[-3:].asnumpy().tolist() == [1, 2, 3]
del x
x = nd.repeat(nd.array([1, 2], dtype='uint8'), repeats=2 ** 30 + 5)
assert x.shape == (2 ** 31 + 10,) and number(x[-1:]) == 2 and number(x[2 ** 30 + 4:2 ** 30 + 5]) == 1
""",
    'clip and cast': """
x = row()
y = nd.clip(x, 0, 6)
assert number(y[-1, -1]) == 6 and number(y[-2, 0]) == 5
del x
z = y.astype('int8')
assert z.dtype == np.int8 and number(z[-1, -1]) == 6
""",
    'where': """
x = row()
nd.where(x, x, x, out=x)
assert number(x[-1, -1]) == 9 and number(x[0, 0]) == 0
""",
    'cumulative sums': """
x = mx.np.zeros((N,), dtype='int8')
x[-3:] = 1
y = mx.np.cumsum(x, dtype='int8')
assert y[-4:].tolist() == [0, 1, 2, 3]
""",
    'copy to NumPy and back': """
x = row()
a = x.asnumpy()
del x
assert a.shape == (ROWS, COLUMNS) and a[-1, -1] == 9 and a[-2, 0] == 5
y = nd.array(a, dtype='uint8')
del a
assert number(y[-1, -1]) == 9
""",
    'save and load': """
import os, tempfile
x = row()
with tempfile.TemporaryDirectory(dir='.') as folder:
    path = os.path.join(folder, 'x.params')
    nd.save(path, {'x': x})
    del x
    y = nd.load(path)['x']
    assert y.shape == (ROWS, COLUMNS) and number(y[-1, -1]) == 9 and number(y[-2, 0]) == 5
""",
    'gradient': """
x = nd.ones((N,), dtype='uint8')
w = nd.ones((1,))
w.attach_grad()
with mx.autograd.record():
    part = x[2 ** 31 - 5:2 ** 31 + 5].astype('float32') * w
    total = part.sum()
total.backward()
assert w.grad.asscalar() == 10
""",
}


@pytest.mark.parametrize('name', PROGRAMS)
def test_more_than_2_to_the_31(name, tmp_path):
    done = subprocess.run([sys.executable, '-c', PRELUDE + PROGRAMS[name]], capture_output=True, text=True, cwd=tmp_path, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]


def test_library_counts_elements_in_64_bits():
    assert mx.runtime.Features().is_enabled('INT64_TENSOR_SIZE')
