"""Views of mx.np where NumPy has views (npx.set_np(views=True)): random programs run here and in
NumPy, and each form of view by itself."""
import gc
import os
import subprocess
import sys
import threading

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx

pytestmark = [pytest.mark.on_gpu, pytest.mark.unsanitized,
              pytest.mark.skipif(not hasattr(mx._binding._backend, "_sources"), reason="views need the compiled binding")]


@pytest.fixture(autouse=True)
def views():
    npx.set_np(views=True)
    yield
    npx.reset_np()


def pair(shape, dtype="float32"):
    values = onp.arange(onp.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return np.array(values, dtype=dtype), values.copy()


# Name and function of (module, array); those that need more dimensions raise in both.
FORMS = {
    "row": lambda m, x: x[1], "rows": lambda m, x: x[1:], "column": lambda m, x: x[:, 0], "columns": lambda m, x: x[:, 1:],
    "steps": lambda m, x: x[::2], "reversed": lambda m, x: x[::-1], "inner": lambda m, x: x[..., -1:], "new": lambda m, x: x[:, None],
    "mixed": lambda m, x: x[None, ..., ::-2], "number": lambda m, x: x[onp.int64(1)], "empty": lambda m, x: x[:0],
    "T": lambda m, x: x.T, "mT": lambda m, x: x.swapaxes(-1, -2), "transpose": lambda m, x: m.transpose(x),
    "axes": lambda m, x: x.transpose(*range(1, x.ndim), 0), "moveaxis": lambda m, x: m.moveaxis(x, 0, -1),
    "rollaxis": lambda m, x: m.rollaxis(x, x.ndim - 1), "swapaxes": lambda m, x: m.swapaxes(x, 0, -1),
    "ravel": lambda m, x: m.ravel(x), "vector": lambda m, x: x.reshape(-1), "reshape": lambda m, x: m.reshape(x, (2, -1)),
    "method": lambda m, x: x.reshape(-1, 2), "squeeze": lambda m, x: x.squeeze(), "expand": lambda m, x: m.expand_dims(x, 1),
    "expands": lambda m, x: m.expand_dims(x, (0, -1)), "flip": lambda m, x: m.flip(x), "flip 0": lambda m, x: m.flip(x, 0),
    "flipud": lambda m, x: m.flipud(x), "fliplr": lambda m, x: m.fliplr(x), "rot90": lambda m, x: m.rot90(x),
    "rot180": lambda m, x: m.rot90(x, 2), "diagonal": lambda m, x: x.diagonal(),
    "diag": lambda m, x: m.diag(x) if x.ndim == 2 else x[1:],
    "broadcast": lambda m, x: m.broadcast_to(x, (2, *x.shape)), "atleast": lambda m, x: m.atleast_3d(x),
    "split": lambda m, x: m.split(x, [1])[1],
    "array_split": lambda m, x: m.array_split(x, 2)[0], "hsplit": lambda m, x: m.hsplit(x, [1])[1],
    "view": lambda m, x: x.view(), "whole": lambda m, x: x[...], "flatten": lambda m, x: x.flatten(), "copy": lambda m, x: x.copy(),
    "mask": lambda m, x: x[m.array([True] * (x.shape[0] - 1) + [False], dtype="bool")], "list": lambda m, x: x[[1, 0]],
}


def made(form, m, x):
    try:
        return FORMS[form](m, x)
    except (ValueError, IndexError, TypeError):
        return None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(4,), (3, 4), (1, 4), (2, 3, 4)], ids=str)
def test_form_of_view_is_numpys(form, shape):
    ours, theirs = pair(shape)
    part, expected = made(form, np, ours), made(form, onp, theirs)
    assert (part is None) == (expected is None)
    if expected is None or not isinstance(expected, onp.ndarray):
        return      # NumPy has a number where an array of no dimensions is here
    assert part.shape == expected.shape
    assert np.shares_memory(part, ours) == onp.shares_memory(expected, theirs)
    assert part.flags.writeable == expected.flags.writeable and part.flags.c_contiguous == expected.flags.c_contiguous
    if expected.size and expected.base is not None:
        assert [s for s, n in zip(part.strides, part.shape) if n > 1] == [s for s, n in zip(expected.strides, expected.shape) if n > 1]
    ours += 100     # seen by the view
    theirs += 100
    onp.testing.assert_array_equal(part.asnumpy(), expected)
    if part.flags.writeable:
        part[...] = -1      # seen by the array
        expected[...] = -1
        onp.testing.assert_array_equal(ours.asnumpy(), theirs)
        part += 5
        expected += 5
        onp.testing.assert_array_equal(ours.asnumpy(), theirs)


def write(how, m, x, rng):
    """Writes into an array of ours or of NumPy, the same for equal states of `rng`."""
    values = rng.integers(0, 100, x.shape).astype("float32")
    if how == 0:
        x[...] = float(rng.integers(100))
    elif how == 1:
        x += m.array(values)
    elif how == 2:
        m.add(m.array(values), 1, out=x)
    elif how == 3 and x.ndim and x.shape[0]:
        x[int(rng.integers(x.shape[0]))] = 7
    elif how == 4 and x.ndim > 1 and x.shape[1]:
        x[:, int(rng.integers(x.shape[1]))] = m.array(values[:, 0])
    elif how == 5 and x.ndim:
        x[m.array(values > 50, dtype="bool")] = 3
    elif how == 6 and x.ndim and x.shape[0] > 1:
        x[[0, x.shape[0] - 1]] *= 2
    elif how == 7 and x.ndim > 1:
        x.T[...] = m.array(values.T)
    elif how == 8 and x.ndim:
        x[::-1] += 1


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_have_numpys_values(seed):
    rng = onp.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 4)))
    pool = [pair(shape), pair((4, 4))]
    forms = [f for f in FORMS if f not in ("split", "array_split")]
    for _ in range(60):
        ours, theirs = pool[rng.integers(len(pool))]
        if rng.random() < 0.5:
            form = forms[rng.integers(len(forms))]
            part, expected = made(form, np, ours), made(form, onp, theirs)
            if isinstance(expected, onp.ndarray):
                assert part.shape == expected.shape, form
                pool.append((part, expected))
        elif ours.flags.writeable:
            how, state = rng.integers(9), int(rng.integers(1 << 30))
            write(how, np, ours, onp.random.default_rng(state))
            write(how, onp, theirs, onp.random.default_rng(state))
        if len(pool) > 8:
            del pool[rng.integers(len(pool))]
        i = rng.integers(len(pool))     # the others stay unread: what is carried late must be right as well
        onp.testing.assert_array_equal(pool[i][0].asnumpy(), pool[i][1])
    for ours, theirs in pool:
        onp.testing.assert_array_equal(ours.asnumpy(), theirs)
    for a, x in pool:
        for b, y in pool:
            assert np.shares_memory(a, b) == onp.shares_memory(x, y)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "float16", "int32", "int64", "float64"])
def test_every_item_size_is_carried(dtype):
    ours, theirs = pair((3, 5), dtype)
    for x, m in ((ours, np), (theirs, onp)):
        x.T[1:3] = m.ones((2, 3), dtype=dtype)
        x[:, ::-2][0] = 0
    onp.testing.assert_array_equal(ours.asnumpy(), theirs)


def test_large_arrays_and_pending_work():
    ours, theirs = pair((700, 900))
    turned, expected = ours.T, theirs.T
    for _ in range(5):
        ours = np.multiply(ours, 1.5, out=ours)     # by the engine's threads
        theirs *= 1.5
        turned += 1
        expected += 1
    onp.testing.assert_allclose(ours.asnumpy(), theirs, rtol=1e-6)
    onp.testing.assert_allclose(turned.asnumpy(), expected, rtol=1e-6)


def test_view_keeps_what_it_shows():
    view = np.arange(12).reshape(3, 4)[:, 1]
    gc.collect()
    view += 1
    assert view.tolist() == [2, 6, 10]


def test_write_is_carried_when_the_view_goes():
    x = np.zeros((3, 4))
    x[:, 1][:] = 1
    x.T[2][1:][0] = 2
    assert x.tolist() == [[0, 1, 0, 0], [0, 1, 2, 0], [0, 1, 0, 0]]


def test_other_objects_on_a_view_write_through():
    x = np.zeros((3, 4))
    view = x[:, 1]
    view.detach()[:] = 1
    view.as_nd_ndarray()[2] = 5
    view.view("int32")[1] = 0
    assert x[:, 1].tolist() == [1, 0, 5]
    import ctypes
    values = (ctypes.c_float * 3)(7, 8, 9)
    mx.base.check_call(mx.base._LIB.MXNDArraySyncCopyFromCPU(view.handle, values, ctypes.c_size_t(3)))
    assert x[:, 1].tolist() == [7, 8, 9]


def test_recorded_results_are_arrays_of_their_own():
    x = np.ones((2, 3))
    x.attach_grad()
    with mx.autograd.record():
        part = x[:, 1]
        turned = x.T
        loss = (part * 2).sum() + turned.sum()
    loss.backward()
    assert x.grad.tolist() == [[1, 3, 1], [1, 3, 1]]
    assert not np.shares_memory(part, x) and not np.shares_memory(turned, x)


def test_gradient_of_a_view():
    x = np.arange(6).reshape(2, 3)
    view = x[:, 1]
    view.attach_grad()
    with mx.autograd.record():
        loss = (view * view).sum()
    loss.backward()
    assert view.grad.tolist() == [2, 8]
    x[:] = 3
    assert view.tolist() == [3, 3]


def test_hybridized_block_on_views():
    net = mx.gluon.nn.Dense(2, in_units=3, flatten=False)
    net.initialize()
    net.hybridize()
    x = np.random.uniform(size=(3, 4))
    expected = net(x.T.copy())
    onp.testing.assert_allclose(net(x.T).asnumpy(), expected.asnumpy(), rtol=1e-6)
    x += 1
    onp.testing.assert_allclose(net(x.T).asnumpy(), net(x.T.copy()).asnumpy(), rtol=1e-6)


def test_switch_is_of_the_thread_and_of_what_is_made_afterwards():
    x = np.zeros((2, 3))
    view = x[:, 1]
    seen = []
    thread = threading.Thread(target=lambda: seen.append(npx.is_np_views()))
    thread.start()
    thread.join()
    assert seen == [False] and npx.is_np_views()
    with mx.util.np_views(False):
        copied = x[:, 2]
        with pytest.warns(UserWarning, match="views=True"):
            copied[:] = 9
        view[:] = 4
        assert x.tolist() == [[0, 4, 0], [0, 4, 0]]
    npx.set_np()
    assert not npx.is_np_views()
    view += 1
    assert x.tolist() == [[0, 5, 0], [0, 5, 0]]
    y = x.T
    y += 1
    assert x.tolist() == [[0, 5, 0], [0, 5, 0]]


def test_threads_share_views():
    x = np.zeros((8, 64))
    columns = [x[:, i::8] for i in range(8)]

    def add(column):
        for _ in range(50):
            column += 1
    threads = [threading.Thread(target=add, args=(c,)) for c in columns]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (x.asnumpy() == 50).all()


def test_failed_writes_are_told():
    x = np.zeros((3, 4))
    view = x[:, 1]
    with pytest.raises(ValueError, match="could not broadcast"):
        view[:] = np.ones(5)
    assert view.tolist() == [0, 0, 0]


def test_ctypes_binding_refuses():
    program = "from mxnet import npx\nnpx.set_np()\nnpx.set_np(views=True)"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "MXNET_ENABLE_CYTHON": "0"}, capture_output=True, text=True,
                          timeout=120)
    assert "NotImplementedError: [set_np] views=True without the compiled binding" in done.stderr


def test_an_array_without_dimensions_is_flipped():
    """NumPy gives the element, which is no view: its place was taken for one in the array."""
    with mx.npx.np_views(True):
        x = mx.np.array(3.)
        for flipped in (mx.np.flip(x), mx.np.flip(x, axis=())):
            assert flipped.shape == () and flipped.item() == 3
