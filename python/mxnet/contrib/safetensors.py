"""Files of safetensors, the format of most published weights: they hold arrays and nothing that
could run.

Arrays of a path share the file's pages, so a file of any size opens at once and takes memory only
for what is read.
"""
from .._files.mapped import array_class as _array_class
from .._files.safetensors_files import load_safetensors as _load, open_safetensors as _open, save_safetensors as _save
from ..util import accepts_device as _accepts_device

__all__ = ["load", "metadata", "save"]


@_accepts_device
def load(file, ctx=None, array_type=None, mmap=True):
    """The arrays of a safetensors file.

    Parameters
    ----------
    file : str, os.PathLike or file
        A path, or a file that is open for bytes. The path of an index
        (``model.safetensors.index.json``) stands for the files beside it.
    ctx : Context, optional
        Where the arrays are; the current context by default.
    array_type : str, optional
        ``'nd'`` or ``'np'``: arrays of ``mx.nd`` or ``mx.np``. By default those of ``mx.np`` where
        ``npx.set_np()`` is active, else of ``mx.nd``.
    mmap : bool
        Share the pages of the file, if `file` is a path and `ctx` a CPU. Arrays may be written to:
        the file does not change. It must not be cut short or written in place while they are used;
        a file that takes its name is no harm. Values of bool are always copied. With false the file
        is read.

    Returns
    -------
    dict of str to NDArray
        In the order in which they are in the file. All dtypes of arrays are read, bfloat16 too.
        Floats of 8 bits (``F8_E4M3``) are given as float32, with a warning. For a complex tensor,
        and for floats of 4 and 6 bits, an object stands that has ``shape`` and ``dtype``, and
        ``numpy()`` for complex numbers; all else that is asked of it is an error that says so.

    Raises
    ------
    OSError
        for a file that is not there, is of another kind, or whose header does not fit it (an
        MXNetError as well).

    Examples
    --------
    >>> mx.contrib.safetensors.save('net.safetensors', {'weight': mx.nd.ones((2, 3))})
    >>> mx.contrib.safetensors.load('net.safetensors')['weight'].shape
    (2, 3)
    """
    return _load(file, "contrib.safetensors.load", _array_class(array_type, "contrib.safetensors.load"), ctx, mmap)


def save(file, arrays, metadata=None):     # pylint: disable=redefined-outer-name
    """Write arrays to a safetensors file, which appears complete or not at all.

    Parameters
    ----------
    file : str, os.PathLike or file
        A path, or a file that is open for bytes.
    arrays : dict of str to NDArray
        Dense arrays of ``mx.nd`` or ``mx.np``, of any dtype.
    metadata : dict of str to str, optional
        Texts for the header, such as ``{'format': 'pt'}``, which some programs want to see.

    Raises
    ------
    TypeError
        for what is no dictionary of dense arrays, and for metadata other than texts.
    OSError
        where the file cannot be written.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(1, in_units=2)
    >>> net.initialize()
    >>> mx.contrib.safetensors.save('net.safetensors', mx.contrib.torch.state_dict(net), {'format': 'pt'})
    >>> sorted(mx.contrib.safetensors.load('net.safetensors'))
    ['bias', 'weight']
    """
    _save(file, arrays, metadata)


def metadata(file):
    """The texts of a file's header, as a dictionary.

    Examples
    --------
    >>> mx.contrib.safetensors.save('net.safetensors', {'w': mx.nd.ones(2)}, {'trained': '3 epochs'})
    >>> mx.contrib.safetensors.metadata('net.safetensors')
    {'trained': '3 epochs'}
    """
    return _open(file, "contrib.safetensors.metadata")[1]
