"""Image datasets. Images are NDArrays (height, width, channels) of uint8."""
import gzip
import os
import struct
import tarfile
import warnings

import numpy as np

from ...._files.whole_files import write_file
from ....base import MXNetError
from ....util import default_array
from ...utils import _data_dir, _get_repo_file_url, check_sha1, download
from .. import dataset

__all__ = ['MNIST', 'FashionMNIST', 'CIFAR10', 'CIFAR100', 'ImageRecordDataset', 'ImageFolderDataset', 'ImageListDataset']


class _DownloadedDataset(dataset.Dataset):
    """A dataset in memory, with labels of int32, whose files are fetched to `root` when they are
    not there."""

    _namespace = ''

    def __init__(self, root, transform):
        self._root = os.path.expanduser(_data_dir('datasets', self._namespace) if root is None else root)
        self._transform = transform
        self._data = None
        self._label = None
        os.makedirs(self._root, exist_ok=True)
        self._get_data()

    def __getitem__(self, idx):
        if self._transform is not None:
            return self._transform(self._data[idx], self._label[idx])
        return self._data[idx], self._label[idx]

    def __len__(self):
        return len(self._label)

    def _get_data(self):
        raise NotImplementedError(f'[gluon.data.vision] {type(self).__name__} does not define _get_data')

    def _file(self, name, sha1):
        """Path of file `name` below root, fetched unless it is there with the right SHA-1. A local
        file with another content is used as it is, with a warning, so that own data in the same
        format works without a network."""
        path = os.path.join(self._root, name)
        if os.path.exists(path):
            if not check_sha1(path, sha1):
                warnings.warn(f'[gluon.data.vision] {path} is not the published file (its SHA-1 differs from {sha1}); it is used as it is')
            return path
        return download(_get_repo_file_url(f'gluon/dataset/{self._namespace}', name), path=path, sha1_hash=sha1)


def _read_idx(path, expect_dims):
    """The array in a (gzip compressed) IDX file of unsigned bytes; ValueError when the file is
    something else."""
    with open(path, 'rb') as f:
        head = f.read(2)
    with (gzip.open if head == b'\x1f\x8b' else open)(path, 'rb') as f:
        content = f.read()
    if len(content) < 4 or content[:3] != b'\0\0\x08' or content[3] != expect_dims or len(content) < 4 + 4 * expect_dims:
        raise ValueError(f'[gluon.data.vision] {path} begins with {content[:4]!r}; an IDX file of '
                         f'bytes with {expect_dims} axes is accepted')
    dims = struct.unpack(f'>{expect_dims}I', content[4:4 + 4 * expect_dims])
    size = int(np.prod(dims, dtype=np.int64))
    if len(content) != 4 + 4 * expect_dims + size:
        raise ValueError(f'[gluon.data.vision] {path} holds {len(content) - 4 - 4 * expect_dims} '
                         f'values for shape {dims}; {size} are accepted')
    return np.frombuffer(content, np.uint8, offset=4 + 4 * expect_dims).reshape(dims)


class MNIST(_DownloadedDataset):
    """Handwritten digits, 28 x 28 x 1, labels 0 to 9; 60,000 to train and 10,000 to test (LeCun et
    al.).

    Parameters
    ----------
    root : str, optional
        Where the four IDX files are, or are to be put. Default: MXNET_HOME/datasets/mnist.
    train : bool
    transform : callable, optional
        `transform(image, label)` for each element.

    Examples
    --------
    >>> import gzip, struct
    >>> images = struct.pack('>iiii', 2051, 2, 28, 28) + bytes(2 * 28 * 28)
    >>> labels = struct.pack('>ii', 2049, 2) + bytes([7, 3])
    >>> for name, content in (('images-idx3', images), ('labels-idx1', labels)):
    ...     with gzip.open(f't10k-{name}-ubyte.gz', 'w') as file:
    ...         _ = file.write(content)
    >>> data = mx.gluon.data.vision.MNIST(root='.', train=False)    # files of one's own, here
    >>> len(data), data[0][0].shape, int(data[1][1])
    (2, (28, 28, 1), 3)
    """

    _namespace = 'mnist'
    _files = {True: (('train-images-idx3-ubyte.gz', '6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d'),
                     ('train-labels-idx1-ubyte.gz', '2a80914081dc54586dbdf242f9805a6b8d2a15fc')),
              False: (('t10k-images-idx3-ubyte.gz', 'c3a25af1f52dad7f726cce8cacb138654b760d48'),
                      ('t10k-labels-idx1-ubyte.gz', '763e7fa3757d93b0cdec073cef058b2004252c17'))}

    def __init__(self, root=None, train=True, transform=None):
        self._train = train
        super().__init__(root, transform)

    def _get_data(self):
        images, labels = (self._file(*f) for f in self._files[bool(self._train)])
        data = _read_idx(images, 3)
        self._label = _read_idx(labels, 1).astype(np.int32)
        if len(data) != len(self._label):
            raise ValueError(f'[gluon.data.vision] {len(data)} images and {len(self._label)} '
                             f'labels in {self._root}; as many of both are accepted')
        self._data = default_array(data[..., None], dtype='uint8')


class FashionMNIST(MNIST):
    """Pictures of clothes in ten classes, in the format and numbers of MNIST (Xiao et al., 2017);
    default root MXNET_HOME/datasets/fashion-mnist.

    >>> import gzip, struct
    >>> images = struct.pack('>iiii', 2051, 2, 28, 28) + bytes(2 * 28 * 28)
    >>> labels = struct.pack('>ii', 2049, 2) + bytes([7, 3])
    >>> for name, content in (('images-idx3', images), ('labels-idx1', labels)):
    ...     with gzip.open(f't10k-{name}-ubyte.gz', 'w') as file:
    ...         _ = file.write(content)
    >>> data = mx.gluon.data.vision.FashionMNIST(root='.', train=False)
    >>> len(data), data[0][0].shape
    (2, (28, 28, 1))
    """

    _namespace = 'fashion-mnist'
    _files = {True: (('train-images-idx3-ubyte.gz', '0cf37b0d40ed5169c6b3aba31069a9770ac9043d'),
                     ('train-labels-idx1-ubyte.gz', '236021d52f1e40852b06a4c3008d8de8aef1e40b')),
              False: (('t10k-images-idx3-ubyte.gz', '626ed6a7c06dd17c0eec72fa3be1740f146a2863'),
                      ('t10k-labels-idx1-ubyte.gz', '17f9ab60e7257a1620f4ad76bbbaf857c3920701'))}


class CIFAR10(_DownloadedDataset):
    """Photographs 32 x 32 x 3 in ten classes; 50,000 to train and 10,000 to test (Krizhevsky,
    2009).

    Arguments as for MNIST; default root MXNET_HOME/datasets/cifar10, with the files of the binary
    version.

    >>> with open('test_batch.bin', 'wb') as file:
    ...     _ = file.write(bytes([5]) + bytes(3 * 32 * 32))
    >>> data = mx.gluon.data.vision.CIFAR10(root='.', train=False)    # a file of one's own, here
    >>> data[0][0].shape, int(data[0][1])
    ((32, 32, 3), 5)
    """

    _namespace = 'cifar10'
    _archive = ('cifar-10-binary.tar.gz', 'fab780a1e191a7eda0f345501ccd62d20f7ed891')
    _label_bytes = 1
    _files = {True: (('data_batch_1.bin', 'aadd24acce27caa71bf4b10992e9e7b2d74c2540'),
                     ('data_batch_2.bin', 'c0ba65cce70568cd57b4e03e9ac8d2a5367c1795'),
                     ('data_batch_3.bin', '1dd00a74ab1d17a6e7d73e185b69dbf31242f295'),
                     ('data_batch_4.bin', 'aab85764eb3584312d3c7f65fd2fd016e36a258e'),
                     ('data_batch_5.bin', '26e2849e66a845b7f1e4614ae70f4889ae604628')),
              False: (('test_batch.bin', '67eb016db431130d61cd03c7ad570b013799c88c'),)}

    def __init__(self, root=None, train=True, transform=None):
        self._train = train
        super().__init__(root, transform)

    def _label_of(self, records):
        return records[:, 0]

    def _read_batch(self, path):
        content = np.fromfile(path, np.uint8)
        record = self._label_bytes + 3072
        if content.size == 0 or content.size % record:
            raise ValueError(f'[gluon.data.vision] {path} has {content.size} bytes; a multiple of {record} is accepted')
        records = content.reshape(-1, record)
        return records[:, self._label_bytes:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), self._label_of(records).astype(np.int32)

    def _get_data(self):
        files = self._files[bool(self._train)]
        if not all(os.path.exists(os.path.join(self._root, name)) for name, _ in files):
            archive = self._file(*self._archive)
            with tarfile.open(archive) as tar:
                for member in tar.getmembers():
                    # Only the plain files we know, whatever else the archive names.
                    base = os.path.basename(member.name)
                    if member.isfile() and base in {n for group in self._files.values() for n, _ in group}:
                        with tar.extractfile(member) as source:
                            write_file(os.path.join(self._root, base), source.read())
        batches = [self._read_batch(self._file(*f)) for f in files]
        self._data = default_array(np.concatenate([b[0] for b in batches]), dtype='uint8')
        self._label = np.concatenate([b[1] for b in batches])


class CIFAR100(CIFAR10):
    """Like CIFAR10 with 100 classes, or, without `fine_label`, the 20 superclasses; default root
    MXNET_HOME/datasets/cifar100.

    >>> with open('test.bin', 'wb') as file:
    ...     _ = file.write(bytes([5, 77]) + bytes(3 * 32 * 32))
    >>> data = mx.gluon.data.vision.CIFAR100(root='.', fine_label=True, train=False)
    >>> data[0][0].shape, int(data[0][1])
    ((32, 32, 3), 77)
    """

    _namespace = 'cifar100'
    _archive = ('cifar-100-binary.tar.gz', 'a0bb982c76b83111308126cc779a992fa506b90b')
    _label_bytes = 2
    _files = {True: (('train.bin', 'e207cd2e05b73b1393c74c7f5e7bea451d63e08e'),),
              False: (('test.bin', '8fb6623e830365ff53cf14adec797474f5478006'),)}

    def __init__(self, root=None, fine_label=False, train=True, transform=None):
        self._fine_label = fine_label
        super().__init__(root, train, transform)

    def _label_of(self, records):
        return records[:, int(self._fine_label)]


class ImageRecordDataset(dataset.RecordFileDataset):
    """The images and labels in a RecordIO file `x.rec` that has its index `x.idx` beside it.

    Parameters
    ----------
    filename : str
    flag : {0, 1}
        0 gives one channel of gray, 1 three channels of colour.
    transform : callable, optional
        `transform(image, label)` for each element.

    Elements are (NDArray, label). A label is a float, or a NumPy array of them.

    Examples
    --------
    >>> import os, tempfile
    >>> base = os.path.join(tempfile.mkdtemp(), 'a')
    >>> record = mx.recordio.MXIndexedRecordIO(base + '.idx', base + '.rec', 'w')
    >>> picture = b'P6 10 12 255 ' + bytes(360)    # a PNM file
    >>> record.write_idx(0, mx.recordio.pack((0, 7, 0, 0), picture))
    >>> record.close()
    >>> image, label = mx.gluon.data.vision.ImageRecordDataset(base + '.rec')[0]
    >>> image.shape, label
    ((12, 10, 3), 7.0)
    """

    def __init__(self, filename, flag=1, transform=None):
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx):
        from .... import image, recordio
        try:
            header, packed = recordio.unpack(super().__getitem__(idx))
            element = image.imdecode(packed, self._flag), header.label
        except (MXNetError, ValueError) as error:
            raise self._broken(idx, error) from None
        return element if self._transform is None else self._transform(*element)

    def _broken(self, idx, error):
        """`error`, of the same class, with the record's place unless it names the file itself."""
        if self.filename in str(error):
            return error
        key = self._record.keys[idx]
        return type(error)(f"[ImageRecordDataset] {self.filename}, record {key} at byte {self._record.idx[key]}: {error}")


class ImageFolderDataset(dataset.Dataset):
    """The images (.jpg, .jpeg and .png) in folders that are named for their class::

        root/car/0001.jpg
        root/car/other.png
        root/bus/1.jpg

    Parameters
    ----------
    root : str
    flag : {0, 1}
        0 gives one channel of gray, 1 three channels of colour.
    transform : callable, optional
        `transform(image, label)` for each element.

    Attributes
    ----------
    synsets : list of str
        The names of the classes, sorted. Labels are places in this list.
    items : list of (str, int)
        Paths and labels, sorted.

    Elements are (NDArray, int). Other files and folders are left out with a warning.

    Examples
    --------
    >>> import os
    >>> picture = mx.nd.zeros((8, 8, 3), dtype='uint8').asnumpy()
    >>> file = mx.recordio.unpack(mx.recordio.pack_img((0, 0, 0, 0), picture, img_fmt='.png'))[1]
    >>> for kind in ('bus', 'car'):
    ...     os.makedirs(f'pictures/{kind}')
    ...     with open(f'pictures/{kind}/1.png', 'wb') as out:
    ...         _ = out.write(file)
    >>> data = mx.gluon.data.vision.ImageFolderDataset('pictures')
    >>> data.synsets, len(data), data[1][0].shape, data[1][1]
    (['bus', 'car'], 2, (8, 8, 3), 1)
    """

    def __init__(self, root, flag=1, transform=None):
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self._exts = ['.jpg', '.jpeg', '.png']
        self._list_images(self._root)

    def _list_images(self, root):
        """Sets `synsets` and `items`; subclasses of 1.x programs override it."""
        self.synsets = []
        self.items = []
        for folder in sorted(os.listdir(root)):
            path = os.path.join(root, folder)
            if os.path.isdir(path):
                self._list_class(path)
                self.synsets.append(folder)
            else:
                warnings.warn(f'Ignoring {path}, which is not a directory.', stacklevel=3)

    def _list_class(self, path):
        for name in sorted(os.listdir(path)):
            filename = os.path.join(path, name)
            extension = os.path.splitext(name)[1]
            if extension.lower() in self._exts:
                self.items.append((filename, len(self.synsets)))
            else:
                warnings.warn(f'Ignoring {filename} of type {extension}. Only support {", ".join(self._exts)}', stacklevel=4)

    def __getitem__(self, idx):
        from .... import image
        path, label = self.items[idx]
        element = image.imread(path, self._flag), label
        return element if self._transform is None else self._transform(*element)

    def __len__(self):
        return len(self.items)


class ImageListDataset(dataset.Dataset):
    """The images of a list.

    Parameters
    ----------
    root : str
        The folder of all paths, also of `imglist`.
    imglist : str or list
        The path of a file with a number, labels and a path on each line, and tabs between them; or
        a list with labels and a path, or a list of labels and a path, for each image.
    flag : {0, 1}
        0 gives one channel of gray, 1 three channels of colour.

    Elements are (NDArray, NDArray): the image and its labels of float32.

    Examples
    --------
    >>> picture = mx.nd.zeros((8, 8, 3), dtype='uint8').asnumpy()
    >>> with open('1.png', 'wb') as out:
    ...     record = mx.recordio.pack_img((0, 0, 0, 0), picture, img_fmt='.png')
    ...     _ = out.write(mx.recordio.unpack(record)[1])
    >>> data = mx.gluon.data.vision.ImageListDataset('.', imglist=[[3, '1.png']])
    >>> data[0][0].shape, float(data[0][1])
    ((8, 8, 3), 3.0)
    """

    def __init__(self, root='.', imglist=None, flag=1):
        from ....image._lists import read_list
        if not isinstance(imglist, (str, list)):
            raise ValueError(f'[ImageListDataset] imglist is of {type(imglist)}; imglist must be filename or list of valid entries')
        self._root = os.path.expanduser(root)
        self._flag = flag
        path = os.path.join(self._root, imglist) if isinstance(imglist, str) else None
        listed, self._imgkeys = read_list('ImageListDataset', path, imglist)
        self._imglist = {key: (label, os.path.join(self._root, name)) for key, (label, name) in listed.items()}

    def __getitem__(self, idx):
        from .... import image
        label, path = self._imglist[self._imgkeys[idx]]
        return image.imread(path, self._flag), label

    def __len__(self):
        return len(self._imgkeys)
