"""gluon.utils and the light import."""
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import utils


def test_split_data():
    x = nd.arange(12).reshape((6, 2))
    assert [p.shape for p in utils.split_data(x, 3)] == [(2, 2)] * 3
    assert [p.asnumpy().tolist() for p in utils.split_data(x.reshape((2, 6)), 3, batch_axis=1)] == [
        [[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]
    assert [p.shape for p in utils.split_data(x, 4, even_split=False)] == [(2, 2), (2, 2), (1, 2), (1, 2)]
    with pytest.raises(ValueError, match='multiple of 4'):
        utils.split_data(x, 4)


@pytest.mark.parametrize('axis', [0, 1, -1])
def test_more_parts_than_rows(axis):
    x = nd.arange(6).reshape((2, 3) if axis == 0 else (3, 2))
    parts = utils.split_data(x, 4, batch_axis=axis, even_split=False)
    want = np.split(x.asnumpy(), [1, 2, 2], axis)
    assert [p.shape for p in parts] == [w.shape for w in want]
    assert all(np.array_equal(p.asnumpy(), w) for p, w in zip(parts, want))


def test_split_and_load():
    ctxs = [mx.cpu(0), mx.cpu(1)]
    parts = utils.split_and_load(np.arange(4.), ctxs)
    assert [p.context for p in parts] == ctxs and [p.asnumpy().tolist() for p in parts] == [[0, 1], [2, 3]]
    assert utils.split_and_load(nd.ones((3,)), [mx.cpu(0)])[0].shape == (3,)


def test_clip_global_norm():
    arrays = [nd.array([3., 4.]), nd.array([[0., 12.]])]
    assert utils.clip_global_norm(arrays, 20) == 13 and type(utils.clip_global_norm(arrays, 20)) is np.float32
    assert type(utils.clip_global_norm([a.as_np_ndarray() for a in arrays], 20)) is float
    assert arrays[0].asnumpy().tolist() == [3, 4]
    assert utils.clip_global_norm(arrays, 1.3) == 13
    np.testing.assert_allclose(np.concatenate([a.asnumpy().ravel() for a in arrays]), [0.3, 0.4, 0, 1.2], rtol=1e-5)
    norm = utils.clip_global_norm(arrays, 1, check_isfinite=False)
    assert norm.shape == (1,) and abs(norm.asscalar() - 1.3) < 1e-5
    with pytest.warns(UserWarning, match='inf'):
        utils.clip_global_norm([nd.array([np.inf])], 1)
    with pytest.raises(AssertionError):
        utils.clip_global_norm([], 1)


@pytest.mark.parametrize('finite', [True, False])
def test_clip_global_norm_of_sparse_gradients(finite):
    rows, dense = np.array([[3, 0], [0, 4.]], 'float32'), np.array([[0, 12.]], 'float32')
    arrays = [nd.sparse.row_sparse_array((rows, [1, 4]), shape=(6, 2)), nd.array(dense), nd.array(rows).tostype('csr'),
              nd.sparse.zeros('row_sparse', (6, 2))]
    norm = utils.clip_global_norm(arrays, 1.0, check_isfinite=finite)
    want = np.sqrt(2 * 25 + 144)
    assert [a.stype for a in arrays] == ['row_sparse', 'default', 'csr', 'row_sparse']
    np.testing.assert_allclose(norm if finite else norm.asscalar(), want, rtol=1e-6)
    np.testing.assert_allclose(arrays[0].data.asnumpy(), rows / want, rtol=1e-6)
    assert arrays[0].indices.asnumpy().tolist() == [1, 4]
    for got, x in zip(arrays[1:], (dense, rows, np.zeros((6, 2)))):
        np.testing.assert_allclose(got.asnumpy(), x / want, rtol=1e-6)


def test_download(tmp_path):
    source = tmp_path / 'source.bin'
    source.write_bytes(b'content')
    url, digest = source.as_uri(), hashlib.sha1(b'content').hexdigest()
    folder = tmp_path / 'new' / 'folder'
    target = utils.download(url, path=str(folder / 'copy.bin'), sha1_hash=digest)
    assert open(target, 'rb').read() == b'content' and os.listdir(folder) == ['copy.bin']
    source.write_bytes(b'changed')
    assert open(utils.download(url, path=target), 'rb').read() == b'content'
    assert open(utils.download(url, path=target, overwrite=True), 'rb').read() == b'changed'
    assert utils.download(url, path=str(folder)) == str(folder / 'source.bin')
    with pytest.raises(OSError, match='SHA-1'):
        utils.download(url, path=str(folder / 'bad.bin'), sha1_hash=digest, retries=1)
    with pytest.raises(OSError):
        utils.download((tmp_path / 'absent').as_uri(), path=str(folder / 'absent'), retries=0)
    assert sorted(os.listdir(folder)) == ['copy.bin', 'source.bin']    # no temporary files stay
    with pytest.raises(AssertionError, match='retries'):
        utils.download(url, retries=-1)


def test_check_sha1(tmp_path):
    name = tmp_path / 'f'
    name.write_bytes(b'hi')
    assert utils.check_sha1(str(name), hashlib.sha1(b'hi').hexdigest()) and not utils.check_sha1(str(name), '0' * 40)


def test_lazy_parts_are_reachable_and_not_imported_early():
    assert gluon.Trainer and gluon.data.DataLoader and gluon.model_zoo.vision.resnet18_v1 and gluon.contrib.nn.Identity
    with pytest.raises(AttributeError):
        gluon.no_such_part
    code = ("import mxnet, sys; print([m for m in ('mxnet.gluon.model_zoo', 'mxnet.gluon.data.dataloader', 'multiprocessing.pool') "
            "if m in sys.modules])")
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout.strip() == '[]'


def test_folder_named_between_the_imports():
    program = ("import os, mxnet as mx\n"
               "os.environ['MXNET_HOME'] = '/named/late'\n"
               "from mxnet.gluon import utils\n"
               "print(utils._data_dir('datasets'))\n")
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "/named/late/datasets"


def test_known_shapes():
    shapes = (None, (), (0, 2), (2, 3), (-1, 2))
    assert [utils.shape_is_known(s) for s in shapes[:-1]] == [False, False, False, True]
    with pytest.raises(AssertionError, match='negative'):
        utils.shape_is_known(shapes[-1])
    with mx.util.np_shape(True):
        assert [utils.shape_is_known(s) for s in shapes] == [False, True, True, True, False]
    assert utils.is_np_array() is False
    assert gluon.parameter.shape_is_known is utils.shape_is_known
