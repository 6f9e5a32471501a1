"""Data sets that scripts expect from ``mx.test_utils``, read from local files.

The files of MNIST are looked for in the folder ``data`` of the working directory (where 1.x put
them), in the working directory, and in ``$MXNET_HOME/datasets/mnist``: train-images-idx3-ubyte,
train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, as they are or
compressed with gzip (``.gz``). Nothing is fetched from the network unless a function says so.
"""
import bz2
import gzip
import os
import pickle
import shutil
import zipfile

import numpy as np

from ..base import _MXFileNotFoundError, data_dir
from ..io import MNISTIter
from ..io.mnist import _IMAGES, _LABELS, _read_idx

__all__ = ["download", "download_model", "get_bz2_data", "get_cifar10", "get_im2rec_path", "get_mnist",
           "get_mnist_iterator", "get_mnist_pkl", "get_mnist_ubyte", "get_zip_data"]

_MNIST = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def _folders(name):
    return ["data", ".", os.path.join(data_dir(), "datasets", name)]


def _find(function, names, folders):
    """Paths of files, each the first of its kind in `folders`, compressed or not. Raises an error
    that lists what was looked for."""
    found = {}
    for name in names:
        candidates = [os.path.join(folder, name + ending) for folder in folders for ending in ("", ".gz")]
        found[name] = next((path for path in candidates if os.path.isfile(path)), None)
    missing = [name for name in names if found[name] is None]
    if missing:
        raise _MXFileNotFoundError(f"[{function}] no {', '.join(missing)} (or with .gz) in "
                                   f"{', '.join(os.path.abspath(f) for f in folders)}; put the "
                                   f"files there")
    return [found[name] for name in names]


def get_mnist_ubyte():
    """Makes sure that the four files of MNIST are in ./data, uncompressed, where scripts open them.

    Raises
    ------
    FileNotFoundError, MXNetError
        naming the files and folders that were looked for.

    Examples
    --------
    Files of a few black pictures stand for those of MNIST.

    >>> import gzip, os, struct
    >>> os.makedirs('data', exist_ok=True)
    >>> for part, count in (('train', 6), ('t10k', 2)):
    ...     with gzip.open(f'data/{part}-images-idx3-ubyte.gz', 'wb') as file:
    ...         _ = file.write(struct.pack('>4i', 2051, count, 28, 28) + bytes(count * 784))
    ...     with gzip.open(f'data/{part}-labels-idx1-ubyte.gz', 'wb') as file:
    ...         _ = file.write(struct.pack('>2i', 2049, count) + bytes(range(count)))
    >>> mx.test_utils.get_mnist_ubyte()
    >>> for name in sorted(os.listdir('data')):
    ...     if name.endswith('ubyte'):
    ...         print(name, os.path.getsize('data/' + name), 'bytes')
    t10k-images-idx3-ubyte 1584 bytes
    t10k-labels-idx1-ubyte 10 bytes
    train-images-idx3-ubyte 4720 bytes
    train-labels-idx1-ubyte 14 bytes
    """
    for name, path in zip(_MNIST, _find("get_mnist_ubyte", _MNIST, _folders("mnist"))):
        target = os.path.join("data", name)
        if os.path.exists(target):
            continue
        os.makedirs("data", exist_ok=True)
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as source, open(target + ".part", "wb") as out:
            shutil.copyfileobj(source, out)
        os.replace(target + ".part", target)


def get_mnist():
    """The MNIST images and labels as NumPy arrays.

    Returns
    -------
    dict
        ``train_data`` (60000, 1, 28, 28) and ``test_data`` (10000, 1, 28, 28), float32 from 0 to 1;
        ``train_label``, ``test_label``, int8.

    Raises
    ------
    FileNotFoundError, MXNetError
        naming the files and folders that were looked for.

    Examples
    --------
    Files of a few black pictures stand for those of MNIST.

    >>> import gzip, os, struct
    >>> os.makedirs('data', exist_ok=True)
    >>> for part, count in (('train', 6), ('t10k', 2)):
    ...     with gzip.open(f'data/{part}-images-idx3-ubyte.gz', 'wb') as file:
    ...         _ = file.write(struct.pack('>4i', 2051, count, 28, 28) + bytes(count * 784))
    ...     with gzip.open(f'data/{part}-labels-idx1-ubyte.gz', 'wb') as file:
    ...         _ = file.write(struct.pack('>2i', 2049, count) + bytes(range(count)))
    >>> mnist = mx.test_utils.get_mnist()
    >>> mnist['train_data'].shape, mnist['test_label']
    ((6, 1, 28, 28), array([0, 1], dtype=int8))
    """
    paths = _find("get_mnist", _MNIST, _folders("mnist"))
    out = {}
    for part, image, label in (("train", *paths[:2]), ("test", *paths[2:])):
        out[part + "_data"] = _read_idx(image, _IMAGES, 3)[:, None].astype(np.float32) / 255
        out[part + "_label"] = _read_idx(label, _LABELS, 1).astype(np.int8)
    return out


def get_mnist_iterator(batch_size, input_shape, num_parts=1, part_index=0):
    """Training and validation iterators over MNIST; `input_shape` (784,) gives vectors, (1, 28, 28)
    images. Each of `num_parts` workers reads the part `part_index`, from 0.

    Files of a few black pictures stand for those of MNIST.

    >>> import gzip, os, struct
    >>> os.makedirs('data', exist_ok=True)
    >>> for part, count in (('train', 6), ('t10k', 2)):
    ...     with gzip.open(f'data/{part}-images-idx3-ubyte.gz', 'wb') as file:
    ...         _ = file.write(struct.pack('>4i', 2051, count, 28, 28) + bytes(count * 784))
    ...     with gzip.open(f'data/{part}-labels-idx1-ubyte.gz', 'wb') as file:
    ...         _ = file.write(struct.pack('>2i', 2049, count) + bytes(range(count)))
    >>> train, test = mx.test_utils.get_mnist_iterator(batch_size=2, input_shape=(784,))
    >>> [batch.data[0].shape for batch in train]
    [(2, 784), (2, 784), (2, 784)]
    >>> sorted(next(test).label[0].asnumpy().tolist())
    [0.0, 1.0]
    """
    paths = _find("get_mnist_iterator", _MNIST, _folders("mnist"))
    shared = {"batch_size": batch_size, "flat": len(input_shape) != 3, "num_parts": num_parts, "part_index": part_index, "silent": True}
    return (MNISTIter(image=paths[0], label=paths[1], shuffle=True, **shared),
            MNISTIter(image=paths[2], label=paths[3], shuffle=True, **shared))


def get_mnist_pkl():
    """The path ./data/mnist.pkl.gz of a pickle of (training, validation, test), each (images of
    shape (n, 784) from 0 to 1, labels).

    It is made of the four files of MNIST if it is not there: 50,000 images are for training, 10,000
    for validation.

    Files of a few black pictures stand for those of MNIST.

    >>> import gzip, os, struct
    >>> os.makedirs('data', exist_ok=True)
    >>> for part, count in (('train', 6), ('t10k', 2)):
    ...     with gzip.open(f'data/{part}-images-idx3-ubyte.gz', 'wb') as file:
    ...         _ = file.write(struct.pack('>4i', 2051, count, 28, 28) + bytes(count * 784))
    ...     with gzip.open(f'data/{part}-labels-idx1-ubyte.gz', 'wb') as file:
    ...         _ = file.write(struct.pack('>2i', 2049, count) + bytes(range(count)))
    >>> import pickle
    >>> with gzip.open(mx.test_utils.get_mnist_pkl()) as file:
    ...     training, validation, test = pickle.load(file)
    >>> training[0].shape, validation[0].shape, test[1]
    ((5, 784), (1, 784), array([0, 1]))
    """
    path = os.path.join("data", "mnist.pkl.gz")
    if not os.path.exists(path):
        arrays = get_mnist()
        images, labels = arrays["train_data"].reshape(-1, 784), arrays["train_label"].astype(np.int64)
        cut = len(images) * 5 // 6
        parts = ((images[:cut], labels[:cut]), (images[cut:], labels[cut:]),
                 (arrays["test_data"].reshape(-1, 784), arrays["test_label"].astype(np.int64)))
        os.makedirs("data", exist_ok=True)
        with gzip.open(path + ".part", "wb") as out:
            pickle.dump(parts, out, 2)
        os.replace(path + ".part", path)
    return path


def get_cifar10():
    """Makes sure that ./data/cifar holds train.rec, test.rec, train.lst and test.lst, as files or
    in ./data/cifar10.zip. Raises FileNotFoundError, naming what was looked for.

    Empty files stand for those of CIFAR-10.

    >>> import os, zipfile
    >>> os.makedirs('data', exist_ok=True)
    >>> with zipfile.ZipFile('data/cifar10.zip', 'w') as archive:
    ...     for name in ('train.rec', 'test.rec', 'train.lst', 'test.lst'):
    ...         archive.writestr('cifar/' + name, b'')
    >>> mx.test_utils.get_cifar10()
    >>> sorted(os.listdir('data/cifar'))
    ['test.lst', 'test.rec', 'train.lst', 'train.rec']
    """
    names = [os.path.join("cifar", name) for name in ("train.rec", "test.rec", "train.lst", "test.lst")]
    archive = next((p for p in (os.path.join(f, "cifar10.zip") for f in _folders("cifar10")) if os.path.isfile(p)), None)
    if archive and not all(os.path.exists(os.path.join("data", name)) for name in names):
        os.makedirs("data", exist_ok=True)
        with zipfile.ZipFile(archive) as files:
            files.extractall("data")
    _find("get_cifar10", names, ["data"])


def get_im2rec_path(home_env="MXNET_HOME"):
    """The path of im2rec.py, the tool that packs images: in the folder that the variable `home_env`
    names, or beside the package.

    >>> import os
    >>> os.path.basename(mx.test_utils.get_im2rec_path())
    'im2rec.py'
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    roots = ([os.environ[home_env]] if home_env in os.environ else []) + [package, os.path.dirname(os.path.dirname(package))]
    candidates = [os.path.join(root, *folder, "im2rec.py") for root in roots for folder in (("tools",), ("im2rec",), ())]
    found = next((path for path in candidates if os.path.isfile(path)), None)
    if found is None:
        raise _MXFileNotFoundError(f"[get_im2rec_path] Could not find path to tools/im2rec.py; looked for {', '.join(candidates)}")
    return found


def download(url, fname=None, dirname=None, overwrite=False, retries=5):
    """Fetches a URL (``file:`` too) into `dirname`/`fname` unless the file is there; returns its
    path.

    `fname` is the last part of the URL by default. A failure is tried again, `retries` times
    altogether.

    >>> with open('a.txt', 'w') as file:
    ...     _ = file.write('text')
    >>> import os
    >>> mx.test_utils.download('file:' + os.path.abspath('a.txt'), fname='b.txt')
    Downloading b.txt from file:...
    'b.txt'
    """
    from ..gluon.utils import download as fetch
    path = fname or url.rsplit("/", 1)[-1]
    if dirname is not None:
        path = os.path.join(dirname, path)
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    return path if os.path.exists(path) and not overwrite else fetch(url, path=path, overwrite=overwrite, retries=retries)


_MODELS = "http://data.mxnet.io/models/"
# Where 1.x looked for the files of a model: up to -symbol.json, and up to .params.
_MODEL_FILES = {
    "imagenet1k-inception-bn": ("imagenet/inception-bn/Inception-BN", "-0126"),
    **{f"imagenet1k-resnet-{n}": (f"imagenet/resnet/{n}-layers/resnet-{n}", "-0000") for n in (18, 34, 50, 101, 152)},
    **{f"imagenet1k-resnext-{n}": (f"imagenet/resnext/{n}-layers/resnext-{n}", "-0000") for n in (50, 101)},
    "imagenet1k-resnext-101-64x4d": ("imagenet/resnext/101-layers/resnext-101-64x4d", "-0000"),
    "imagenet11k-resnet-152": ("imagenet-11k/resnet-152/resnet-152", "-0000"),
    **{f"imagenet11k-place365ch-resnet-{n}": (f"imagenet-11k-place365-ch/resnet-{n}", "-0000") for n in (50, 152)}}


def download_model(model_name, dst_dir="./", meta_info=None):
    """Fetches a model's symbol and parameters, unless they are in `dst_dir`.

    Parameters
    ----------
    model_name : str
    dst_dir : str
        Where `model_name`-symbol.json and `model_name`-0000.params are written.
    meta_info : dict, optional
        By model, a dict with the URLs ``symbol`` and ``params``. Default: models for ImageNet at
        the address of 1.x.

    Returns
    -------
    (prefix, epoch) : (str, int)
        What `mx.model.load_checkpoint` takes; (None, 0) for a model that is not known.

    Raises
    ------
    AssertionError
        if a URL is missing.

    Examples
    --------
    >>> import os
    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, no_bias=True, name='fc')
    >>> mx.model.save_checkpoint('there', 0, net, {'fc_weight': mx.nd.ones((2, 3))}, {})
    >>> here = 'file:' + os.path.abspath('there')
    >>> urls = {'small': {'symbol': here + '-symbol.json', 'params': here + '-0000.params'}}
    >>> prefix, epoch = mx.test_utils.download_model('small', dst_dir='models', meta_info=urls)
    Downloading models/small-symbol.json from file:...
    Downloading models/small-0000.params from file:...
    >>> prefix, epoch
    ('models/small', 0)
    >>> symbol, arg_params, aux_params = mx.model.load_checkpoint(prefix, epoch)
    >>> arg_params['fc_weight'].shape
    (2, 3)
    """
    if meta_info is None:
        meta_info = {name: {"symbol": f"{_MODELS}{path}-symbol.json", "params": f"{_MODELS}{path}{epoch}.params"}
                     for name, (path, epoch) in _MODEL_FILES.items()}
    if model_name not in meta_info:
        return None, 0
    urls = dict(meta_info[model_name])
    for kind in ("symbol", "params"):
        assert kind in urls, f"[download_model] {model_name} has no URL {kind!r}; accepted: a dict with 'symbol' and 'params'"
    prefix = os.path.join(dst_dir, model_name)
    download(urls["symbol"], prefix + "-symbol.json")
    download(urls["params"], prefix + "-0000.params")
    return prefix, 0


def get_zip_data(data_dir, url, data_origin_name):
    """Makes sure that the archive `data_origin_name` is in `data_dir`, from `url` if need be, and
    unpacks it there.

    >>> import os, zipfile
    >>> with zipfile.ZipFile('texts.zip', 'w') as archive:
    ...     archive.writestr('a.txt', 'text')
    >>> url = 'file:' + os.path.abspath('texts.zip')
    >>> mx.test_utils.get_zip_data('texts', url, 'texts.zip')
    Downloading texts/texts.zip from file:...
    >>> sorted(os.listdir('texts'))
    ['a.txt', 'texts.zip']
    """
    archive = download(url, data_origin_name, data_dir)
    with zipfile.ZipFile(archive) as files:
        files.extractall(data_dir)


def get_bz2_data(data_dir, data_name, url, data_origin_name):
    """Makes sure that `data_name` is in `data_dir`, decompressed from `data_origin_name`, which
    comes from `url` if need be.

    >>> import bz2, os
    >>> with bz2.open('numbers.bz2', 'wt') as file:
    ...     _ = file.write('1 2 3')
    >>> url = 'file:' + os.path.abspath('numbers.bz2')
    >>> mx.test_utils.get_bz2_data('numbers', 'numbers.t', url, 'numbers.bz2')
    Downloading numbers/numbers.bz2 from file:...
    >>> with open('numbers/numbers.t') as file:
    ...     file.read()
    '1 2 3'
    """
    target = os.path.join(data_dir, data_name)
    if os.path.exists(target):
        return
    archive = download(url, data_origin_name, data_dir)
    with bz2.BZ2File(archive) as source, open(target + ".part", "wb") as out:
        shutil.copyfileobj(source, out)
    os.replace(target + ".part", target)
