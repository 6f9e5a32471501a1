"""Weights of PyTorch: its files, read without PyTorch and without running what they hold, and
blocks that take them.

    net = mx.contrib.torch.get_model('resnet50')
    mx.contrib.torch.load_into(net, 'resnet50-11ad3fa6.pth')

docs/migration/from_pytorch.md says which networks have the same weights.
"""
from collections import namedtuple

from .._files import kinds as _kinds
from .._files.mapped import array_class as _array_class
from .._files.safetensors_files import load_safetensors as _load_safetensors
from .._files.shards import load_shards as _load_shards, weights_in as _weights_in
from .._files.torch_files import load_torch as _load_torch
from .._files.torch_writing import save_torch as _save_torch
from ..base import MXNetError as _MXNetError, error_class as _error_class
from ..ndarray import utils as _files
from ..util import accepts_device as _accepts_device
from ._torch_names import names_of as _names_of
from ._torch_nets import torch_net as _torch_net
from ._torch_weights import assign as _assign, of_other_libraries as _of_other_libraries, weights_among as _weights_among

__all__ = ["get_model", "load", "load_into", "names", "save", "state_dict"]

LoadedNames = namedtuple("LoadedNames", ["missing", "unexpected"])
LoadedNames.__doc__ = "What :func:`load_into` left out: names of the block, and names of the file."


@_accepts_device
def load(file, ctx=None, array_type=None, mmap=True):
    """What a file of ``torch.save`` holds (``.pt``, ``.pth``, ``.bin``), with arrays for tensors.

    PyTorch is not needed. The pickle in the file is read by a reader that builds numbers, texts,
    lists, dictionaries and tensors, and refuses all else; nothing in it is called or imported. So a
    file from anywhere can be tried. Files of all versions of PyTorch are read, also those of before
    1.6.

    Parameters
    ----------
    file : str, os.PathLike or file
        A path, or a file that is open for bytes. The path of an index
        (``pytorch_model.bin.index.json``) stands for the files beside it.
    ctx : Context, optional
        Where the arrays are; the current context by default.
    array_type : str, optional
        ``'nd'`` or ``'np'``: arrays of ``mx.nd`` or ``mx.np``. By default those of ``mx.np`` where
        ``npx.set_np()`` is active, else of ``mx.nd``.
    mmap : bool
        Share the pages of the file, if `file` is a path and `ctx` a CPU, so that loading takes no
        time and no memory. Arrays may be written to: the file does not change. It must not be cut
        short or written in place while they are used, as ``torch.save`` to its name would do. With
        false the file is read.

    Returns
    -------
    dict
        Of a state dict: {name: NDArray}. Of other values (a checkpoint with optimizer states) the
        dictionaries, lists, tuples, numbers and texts that were saved. A ``torch.Size`` is a tuple,
        a dtype, a device and a path are texts, a number of NumPy is one of Python, a namespace
        (``argparse``) is a dictionary, a deque is a list. Arrays of NumPy are what they were. Views
        become arrays of their own, unless their elements lie side by side. Floats of 8 bits are
        given as float32, with a warning. For a complex tensor, and other dtypes that no array has,
        an object stands that has ``shape`` and ``dtype``, and ``numpy()`` for complex numbers; all
        else that is asked of it is an error that says so.

    Raises
    ------
    OSError
        for a file that is not there, is damaged, or holds anything else than values: a whole
        module, a program of TorchScript, objects of other classes. The error names it and where it
        is, and says how to save the weights. It is an MXNetError as well.

    Examples
    --------
    >>> mx.contrib.torch.save('linear.pt', {'weight': mx.nd.ones((2, 3)), 'bias': mx.nd.zeros(2)})
    >>> weights = mx.contrib.torch.load('linear.pt')
    >>> {name: array.shape for name, array in weights.items()}
    {'weight': (2, 3), 'bias': (2,)}
    """
    return _load_torch(file, "contrib.torch.load", _array_class(array_type, "contrib.torch.load"), ctx, mmap)


def save(file, values):
    """Write values that ``torch.load`` reads, also with ``weights_only=True``, which is its
    default.

    Parameters
    ----------
    file : str, os.PathLike or file
        A path, or a file that is open for bytes. A path appears complete or not at all.
    values : dict
        {name: NDArray}, as :func:`state_dict` gives, or arrays, numbers, texts, None, and
        dictionaries, lists and tuples of them. Arrays become tensors on the CPU.

    Raises
    ------
    TypeError
        for other values; the error says where they are. It is an MXNetError as well.
    OSError
        where the file cannot be written.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(1, in_units=2)
    >>> net.initialize()
    >>> mx.contrib.torch.save('net.pt', {'epoch': 3, 'model': mx.contrib.torch.state_dict(net)})
    >>> mx.contrib.torch.load('net.pt')['epoch']
    3
    """
    _save_torch(file, values)


def get_model(name, **kwargs):
    """The network that torchvision calls `name`, for its weights: a block with parameters that are
    not initialized.

    It is the zoo's network where both are the same, and one like torchvision's where they differ:
    ``resnet50`` and deeper have their strides in other convolutions than ``resnet50_v1``, and
    ``mobilenet_v2`` has other layers at both ends.

    Parameters
    ----------
    name : str
        ``alexnet``, ``densenet121`` (``161``, ``169``, ``201``), ``inception_v3``,
        ``mobilenet_v2``, ``resnet18`` (``34``, ``50``, ``101``, ``152``), ``resnext50_32x4d``,
        ``resnext101_32x8d``, ``resnext101_64x4d``, ``squeezenet1_0``, ``squeezenet1_1``, ``vgg11``
        (``13``, ``16``, ``19``; with ``_bn``), ``wide_resnet50_2``, ``wide_resnet101_2``.
    **kwargs
        For the block, such as `classes` (1000).

    Examples
    --------
    >>> net = mx.contrib.torch.get_model('resnet50', classes=10)
    >>> net(mx.sym.var('data')).infer_shape(data=(8, 3, 224, 224))[1]
    [(8, 10)]
    """
    return _torch_net(name, **kwargs)


def names(block):
    """{PyTorch's name: the block's} of the parameters of a block, in order.

    The block's names are those in files of `save_parameters`. Paths are the same in PyTorch, and
    parameters are called as in its layers: `gamma` and `beta` are ``weight`` and ``bias``, those of
    recurrent layers are ``weight_ih_l0`` and so on. Networks of the zoo have the names of
    torchvision.

    Raises
    ------
    ValueError
        for a network of the zoo that torchvision has none like (ResNet v2, MobileNet v1) or has in
        another form (ResNet v1 of 50 layers and more, MobileNet v2; see :func:`get_model`).

    Examples
    --------
    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(4, in_units=3, use_bias=False), mx.gluon.nn.LayerNorm(in_channels=4))
    >>> mx.contrib.torch.names(net)
    {'0.weight': '0.weight', '1.weight': '1.gamma', '1.bias': '1.beta'}
    >>> list(mx.contrib.torch.names(mx.gluon.model_zoo.vision.resnet18_v1()))[:3]
    ['conv1.weight', 'bn1.weight', 'bn1.bias']
    """
    return {theirs: ours for ours, theirs in _names_of(block)}


def state_dict(block):
    """{PyTorch's name: array} of the parameters of a block, for :func:`save` or
    ``mx.contrib.safetensors.save``. ``load_state_dict`` of the same network in PyTorch takes them;
    with ``strict=False`` where it has BatchNorm, since counters of batches are not there.

    Examples
    --------
    >>> net = mx.gluon.nn.BatchNorm(in_channels=2)
    >>> net.initialize()
    >>> list(mx.contrib.torch.state_dict(net))
    ['weight', 'bias', 'running_mean', 'running_var']
    """
    params = block._collect_params_with_prefix()
    return {theirs: params[ours]._reduce() for ours, theirs in _names_of(block)}


@_accepts_device
def load_into(block, source, mapping=None, strict=True, ctx=None):
    """Set the parameters of a block to weights of PyTorch.

    Parameters
    ----------
    block : gluon.Block
        Initialized or not; open dimensions are taken from the weights.
    source : str, os.PathLike, file or dict
        A file of ``torch.save`` or of safetensors, an index of several (``.index.json``), a folder
        that ``save_pretrained`` of transformers wrote, or {name: array}, also with arrays of NumPy
        and tensors of PyTorch (``module.state_dict()``). Of a checkpoint the dictionary of weights
        is taken (``state_dict``, ``model``, ...), if there is one. Prefixes of wrappers that all
        names have (``module.``, ``_orig_mod.``) and counters of batches are left out. Parts of a
        weight are joined: length and direction (``weight_norm``), weight and singular vectors
        (``spectral_norm``), weight and mask (pruning). Recurrent layers without biases have zeros
        here.
    mapping : dict, callable or 'order', optional
        How names become the block's. By default as :func:`names` tells, or as they are if they are
        the block's own. A dict has {PyTorch's name: the block's} for names that differ; a name that
        ends with a dot stands for all that begin with it, and None leaves out. A function gets a
        name and returns one, or None. ``'order'`` pairs both sides in their orders, whatever the
        names.
    strict : bool
        Whether names without a partner are an error.
    ctx : Context or list of Context, optional
        Where parameters are put that are not initialized; cpu(0) by default.

    Returns
    -------
    LoadedNames
        `missing`, the names of parameters that got nothing, and `unexpected`, the names in the file
        that nothing took; both empty with `strict`.

    Raises
    ------
    ValueError
        that lists all missing and unexpected names, with `strict`, and all arrays whose shapes
        differ from their parameters'. Nothing is set then. It is an MXNetError as well.

    Examples
    --------
    >>> weights = {'0.weight': mx.nd.ones((2, 3)), '0.bias': mx.nd.zeros(2)}
    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(2))
    >>> mx.contrib.torch.load_into(net, weights)
    LoadedNames(missing=[], unexpected=[])
    >>> net(mx.nd.ones((1, 3))).asnumpy()
    array([[3., 3.]], dtype=float32)
    """
    what, values = _read(source)
    return LoadedNames(*_assign(block, _weights_among(values, what), what, mapping, strict, ctx))


def _read(source):
    """(what to call it, values) of the argument `source`."""
    if isinstance(source, dict):
        return "the given dict", _of_other_libraries(source)
    source = _weights_in(source)
    function, what = "contrib.torch.load_into", getattr(source, "name", None) or repr(source)[:200]
    if hasattr(source, "read"):
        source, head = _with_head(source)
        kind = _kinds.kind_of(head)
    else:
        if not isinstance(source, (str, bytes)) and not hasattr(source, "__fspath__"):
            hint = ", which module.state_dict() is" if hasattr(source, "state_dict") else ""
            raise _error_class(_MXNetError, TypeError)(f"[{function}] got {type(source).__name__}; accepted: a path, a file that is open "
                                                       f"for bytes, or a dictionary {{name: array}}{hint}")
        kind = _kinds.refuse_other(function, source, ("torch", "torch_legacy", "torchscript", "safetensors", "params", "npz",
                                                      "shards"), "files of torch.save and of safetensors, their indexes (.index.json), "
                                  ".params and .npz files")
        if kind in ("params", "npz"):
            return what, _files.load(source)
    if kind == "shards":
        return what, _load_shards(source, function, lambda path: _read(path)[1])
    read = _load_safetensors if kind == "safetensors" else _load_torch
    return what, read(source, function, False, None)


def _with_head(file):
    """The file and its first bytes, which stay to be read."""
    if not (hasattr(file, "seekable") and file.seekable()):
        import io
        file = io.BytesIO(file.read())
    at = file.tell()
    head = file.read(_kinds.HEAD)
    file.seek(at)
    return file, head if isinstance(head, bytes) else b""
