"""Downloads from a server on this machine: attempts, resuming, checks, and the data sets and models
that come from MXNET_GLUON_REPO."""
import gzip
import hashlib
import http.server
import io
import multiprocessing
import os
import re
import struct
import tarfile
import threading
import zipfile

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import _download, utils
from mxnet.gluon.data import vision as data_vision
from mxnet.gluon.model_zoo import model_store, vision

CONTENT = bytes(range(256)) * 400
SHA1 = hashlib.sha1(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Files by path; `breaks` holds the sizes after which the next answers break off."""

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.files, self.breaks, self.requests, self.failures, self.ranges = {'/file.bin': CONTENT}, [], [], [], True
        self.etag = '"1"'
        self.url = f'http://127.0.0.1:{self.server_port}'


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        server = self.server
        server.requests.append((self.path, self.headers.get('Range')))
        content = server.files.get(self.path)
        if content is None or server.failures:
            return self.send_error(server.failures.pop(0) if server.failures else 404)
        start = re.match(r'bytes=(\d+)-', self.headers.get('Range') or '')
        if start and server.ranges and self.headers.get('If-Range') in (None, server.etag):
            at = int(start[1])
            if at >= len(content):
                return self.send_error(416)
            self.send_response(206)
            self.send_header('Content-Range', f'bytes {at}-{len(content) - 1}/{len(content)}')
            content = content[at:]
        else:
            self.send_response(200)
        self.send_header('ETag', server.etag)
        self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content[:server.breaks.pop(0)] if server.breaks else content)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(_download, '_WAITS', (0,))
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv('MXNET_GLUON_REPO', server.url)
    yield server
    server.shutdown()
    server.server_close()


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def test_a_file(server, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert utils.download(server.url + '/file.bin') == 'file.bin'
    assert read('file.bin') == CONTENT and os.listdir() == ['file.bin']
    assert 'Downloading file.bin from http' in capsys.readouterr().out
    utils.download(server.url + '/file.bin')
    utils.download(server.url + '/file.bin', sha1_hash=SHA1.upper())
    assert len(server.requests) == 1
    utils.download(server.url + '/file.bin', overwrite=True)
    assert len(server.requests) == 2


@pytest.mark.parametrize('sha1', [None, SHA1])
@pytest.mark.parametrize('ranges', [True, False])
def test_a_broken_connection_is_resumed(server, tmp_path, sha1, ranges):
    server.ranges = ranges
    server.breaks = [50000, 30000]
    target = utils.download(server.url + '/file.bin', path=str(tmp_path / 'a.bin'), sha1_hash=sha1)
    assert read(target) == CONTENT and os.listdir(tmp_path) == ['a.bin']
    begins = [int(r[1][6:-1]) for r in server.requests[1:]]
    assert begins[0] == 50000 and begins[1] == (80000 if ranges else 30000)


def test_a_file_that_changed_meanwhile_is_fetched_from_its_beginning(server, tmp_path, monkeypatch):
    server.breaks = [50000]
    real = _download._attempt

    def attempt(*arguments):
        try:
            real(*arguments)
        finally:
            server.files['/file.bin'], server.etag = CONTENT[::-1], '"2"'

    monkeypatch.setattr(_download, '_attempt', attempt)
    assert read(utils.download(server.url + '/file.bin', path=str(tmp_path / 'a.bin'))) == CONTENT[::-1]


def test_what_was_interrupted_is_resumed_by_the_next_call(server, tmp_path):
    target = str(tmp_path / 'a.bin')
    server.breaks = [60000]
    with pytest.raises(OSError, match='60000 of 102400'):
        utils.download(server.url + '/file.bin', path=target, sha1_hash=SHA1, retries=1)
    assert os.listdir(tmp_path) == ['a.bin.part']
    utils.download(server.url + '/file.bin', path=target, sha1_hash=SHA1, retries=1)
    assert server.requests[-1][1] == 'bytes=60000-' and read(target) == CONTENT and os.listdir(tmp_path) == ['a.bin']
    # what is left of another file is found out
    for left in (b'other' * 100, CONTENT + b'longer'):
        (tmp_path / 'a.bin.part').write_bytes(left)
        assert read(utils.download(server.url + '/file.bin', path=target, sha1_hash=SHA1, overwrite=True)) == CONTENT
    # without a checksum nothing is kept
    server.breaks = [60000]
    with pytest.raises(OSError):
        utils.download(server.url + '/file.bin', path=str(tmp_path / 'b.bin'), retries=0)
    assert os.listdir(tmp_path) == ['a.bin']


def test_errors(server, tmp_path, capsys):
    target = str(tmp_path / 'a.bin')
    with pytest.raises(mx.MXNetError, match=r'1 attempt\): HTTP Error 404.*a\.bin.*MXNET_GLUON_REPO'):
        utils.download(server.url + '/none', path=target)
    assert len(server.requests) == 1
    server.failures = [503, 500]
    assert read(utils.download(server.url + '/file.bin', path=target)) == CONTENT
    assert '4 attempts left' in capsys.readouterr().out
    with pytest.raises(OSError, match='3 attempts.*SHA-1'):
        utils.download(server.url + '/file.bin', path=target, sha1_hash='0' * 40, retries=3)
    assert read(target) == CONTENT and os.listdir(tmp_path) == ['a.bin']
    with pytest.raises(RuntimeError, match='refused'):
        utils.download('http://127.0.0.1:9/x', path=str(tmp_path / 'b.bin'), retries=2)
    with pytest.raises(OSError, match='unknown url type'):
        utils.download('foo://x/y', path=target + '2')
    assert os.listdir(tmp_path) == ['a.bin']
    for wrong in ({'url': server.url + '/'}, {'url': server.url + '/file.bin', 'retries': -1}):
        with pytest.raises(AssertionError):
            utils.download(**wrong)


def _fetch_in_process(url, path):
    utils.download(url, path=path, sha1_hash=SHA1)


def test_several_processes_at_once(server, tmp_path):
    context = multiprocessing.get_context('fork')
    target = str(tmp_path / 'a.bin')
    workers = [context.Process(target=_fetch_in_process, args=(server.url + '/file.bin', target)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert read(target) == CONTENT and os.listdir(tmp_path) == ['a.bin']


def idx(array):
    return gzip.compress(bytes([0, 0, 8, array.ndim]) + struct.pack(f'>{array.ndim}I', *array.shape) + array.tobytes(), mtime=0)


@pytest.mark.parametrize('name', ['MNIST', 'FashionMNIST'])
def test_mnist(name, server, tmp_path, monkeypatch):
    cls, rng = getattr(data_vision, name), np.random.RandomState(0)
    monkeypatch.setenv('MXNET_HOME', str(tmp_path / 'home'))
    files, wanted = {}, {}
    for train, count in ((True, 7), (False, 3)):
        wanted[train] = rng.randint(0, 256, (count, 28, 28)).astype('uint8'), rng.randint(0, 10, count).astype('uint8')
        contents = [idx(array) for array in wanted[train]]
        names = [n for n, _ in cls._files[train]]
        files[train] = tuple((n, hashlib.sha1(c).hexdigest()) for n, c in zip(names, contents))
        server.files.update({f'/gluon/dataset/{cls._namespace}/{n}': c for n, c in zip(names, contents)})
    monkeypatch.setattr(cls, '_files', files)
    for train in (True, False, True):
        got = cls(train=train)
        assert len(got) == len(wanted[train][1])
        image, label = got[1]
        assert image.shape == (28, 28, 1) and image.dtype == np.uint8 and label == wanted[train][1][1]
        np.testing.assert_array_equal(image.asnumpy()[..., 0], wanted[train][0][1])
    assert len(server.requests) == 4
    assert sorted(os.listdir(tmp_path / 'home' / 'datasets' / cls._namespace)) == sorted(n for group in files.values() for n, _ in group)
    server.files.clear()
    assert len(cls(root=str(tmp_path / 'home' / 'datasets' / cls._namespace), train=False)) == 3
    with pytest.raises(OSError, match='404'):
        cls(root=str(tmp_path / 'elsewhere'))


@pytest.mark.parametrize('name', ['CIFAR10', 'CIFAR100'])
def test_cifar(name, server, tmp_path, monkeypatch):
    cls, rng = getattr(data_vision, name), np.random.RandomState(0)
    archive, wanted, hashes = io.BytesIO(), {}, {}
    with tarfile.open(fileobj=archive, mode='w:gz') as tar:
        for group in cls._files.values():
            for file, _ in group:
                wanted[file] = rng.randint(0, 256, (4, cls._label_bytes + 3072)).astype('uint8')
                hashes[file] = hashlib.sha1(wanted[file].tobytes()).hexdigest()
                info = tarfile.TarInfo('folder/' + file)
                info.size = wanted[file].size
                tar.addfile(info, io.BytesIO(wanted[file].tobytes()))
    content = archive.getvalue()
    server.files[f'/gluon/dataset/{cls._namespace}/{cls._archive[0]}'] = content
    monkeypatch.setattr(cls, '_archive', (cls._archive[0], hashlib.sha1(content).hexdigest()))
    monkeypatch.setattr(cls, '_files', {train: tuple((f, hashes[f]) for f, _ in group) for train, group in cls._files.items()})
    for train in (True, False):
        got = cls(root=str(tmp_path), train=train)
        records = np.concatenate([wanted[f] for f, _ in cls._files[train]])
        assert len(got) == len(records)
        image, label = got[2]
        np.testing.assert_array_equal(image.asnumpy(), records[2, cls._label_bytes:].reshape(3, 32, 32).transpose(1, 2, 0))
        assert label == records[2, 0]
    assert len(server.requests) == 1
    if name == 'CIFAR100':
        assert cls(root=str(tmp_path), fine_label=True)[2][1] == wanted['train.bin'][2, 1]


def test_published_models(server, tmp_path, monkeypatch):
    monkeypatch.setenv('MXNET_HOME', str(tmp_path / 'home'))
    source = vision.mobilenet0_25(classes=3)
    source.initialize()
    x = mx.nd.ones((1, 3, 32, 32))
    wanted = source(x).asnumpy()
    source.save_parameters(str(tmp_path / 'a.params'))
    content = read(tmp_path / 'a.params')
    sha1 = hashlib.sha1(content).hexdigest()
    monkeypatch.setitem(model_store._model_sha1, 'mobilenet0.25', sha1)
    name = f'mobilenet0.25-{sha1[:8]}'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, 'w') as archive:
        archive.writestr(name + '.params', content)
    path = f'/gluon/models/{name}.zip'
    server.files[path] = packed.getvalue()
    server.breaks = [1000]
    folder = tmp_path / 'home' / 'models'
    assert model_store.get_model_file('mobilenet0.25') == str(folder / (name + '.params'))
    assert os.listdir(folder) == [name + '.params']
    server.files.clear()
    net = vision.mobilenet0_25(pretrained=True, classes=3)
    np.testing.assert_allclose(net(x).asnumpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(vision.get_model('mobilenet0.25', pretrained=True, classes=3, ctx=mx.cpu())(x).asnumpy(), wanted, rtol=1e-5)
    (folder / (name + '.params')).write_bytes(b'damaged')
    with pytest.warns(UserWarning, match='not the published file'):
        with pytest.raises(OSError, match=r'mobilenet0\.25.*404.*MXNET_GLUON_REPO'):
            model_store.get_model_file('mobilenet0.25')
    for damaged in (b'no archive', packed.getvalue()[:-30]):
        server.files[path] = damaged
        with pytest.raises(ValueError, match='no archive'):
            model_store.get_model_file('mobilenet0.25', root=str(tmp_path / 'other'))
    assert os.listdir(tmp_path / 'other') == []
    model_store.purge()
    model_store.purge(str(tmp_path / 'absent'))
    assert os.listdir(folder) == []
    assert model_store.short_hash('mobilenet0.25') == sha1[:8] and gluon.model_zoo.model_store is model_store
