"""Splitting batches over contexts, clipping gradients, downloading files, and small helpers of this
package."""
import os
import weakref

import numpy as np

from .._startup import process as _process
from .. import ndarray as nd
from .._arrays.classes import to_class_of
from ..util import default_array, is_np_array, is_np_shape  # noqa: F401

__all__ = ['split_data', 'split_and_load', 'clip_global_norm', 'check_sha1', 'download', 'replace_file', 'HookHandle']


def shape_is_known(shape):
    """Whether no dimension of a shape is open: 0 is without NumPy's shape semantics, and -1 is with
    them. Without them, the shape of no dimensions is open, too.

    >>> mx.gluon.utils.shape_is_known((2, 0)), mx.gluon.utils.shape_is_known((2, 3))
    (False, True)
    """
    if shape is None:
        return False
    if is_np_shape():
        return all(size >= 0 for size in shape)
    assert all(size >= 0 for size in shape), f'[shape_is_known] {shape} has a negative size; accepted: 0 or more'
    return len(shape) > 0 and 0 not in shape


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """Cut an NDArray into `num_slice` parts along `batch_axis`.

    ValueError when the axis is not divisible, unless even_split=False: then the first parts have
    one element more than the others, which are empty when there are more parts than elements.

    >>> [part.shape for part in mx.gluon.utils.split_data(mx.nd.ones((6, 2)), 3)]
    [(2, 2), (2, 2), (2, 2)]
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise ValueError(f'[gluon.split_data] shape {data.shape} given for {num_slice} slices along axis {batch_axis}; '
                         f'a multiple of {num_slice}, or even_split=False, is accepted')
    if num_slice == 1:
        return [data]
    n_each, longer = divmod(size, num_slice)
    starts = [i * n_each + min(i, longer) for i in range(num_slice + 1)]
    bounds = list(zip(starts, starts[1:]))
    if batch_axis == 0:
        return [data[a:b] for a, b in bounds]
    # slice_axis makes no part without elements; indexing does.
    rest = (slice(None),) * (batch_axis % len(data.shape))
    return [nd.slice_axis(data, axis=batch_axis, begin=a, end=b) if a < b else data[rest + (slice(a, b),)] for a, b in bounds]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True):
    """Cut `data` (NDArray or array-like) into len(ctx_list) parts and put one on each context.

    >>> parts = mx.gluon.utils.split_and_load(mx.nd.ones((6, 2)), [mx.cpu(0), mx.cpu(1)])
    >>> [part.shape for part in parts]
    [(3, 2), (3, 2)]
    """
    if not isinstance(data, nd.NDArray):
        data = default_array(data, device=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    return [part.as_in_context(ctx) for part, ctx in zip(split_data(data, len(ctx_list), batch_axis, even_split), ctx_list)]


def _square_of_norm(array):
    """The sum of the squares of an array's elements, of shape (1,)."""
    array = array.as_nd_ndarray().astype('float32', copy=False)
    if array.stype != 'default':
        return nd.square(nd.norm(array))
    flat = array.reshape((-1,))
    return nd.dot(flat, flat)


def _scale(array, factor):
    """array *= factor, of shape (1,). Of a row_sparse array the stored rows alone are read."""
    factor = factor.astype(array.dtype, copy=False).as_in_context(array.context)
    if array.stype != 'row_sparse':
        array *= to_class_of(factor, array)
    elif len(array.indices) > 0:
        parts = array.data * factor, array.indices
        nd.sparse.row_sparse_array(parts, shape=array.shape, ctx=array.context, dtype=array.dtype).copyto(array)


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scale `arrays` in place so that the 2-norm of all of them together is at most `max_norm`.

    Returns the norm before clipping: a float, with a warning when it is not finite; an NDArray of
    shape (1,), without waiting for the device, when check_isfinite=False. (Pascanu et al., "On the
    difficulty of training recurrent neural networks", 2013.)

    >>> arrays = [mx.nd.array([3]), mx.nd.array([4])]
    >>> norm = mx.gluon.utils.clip_global_norm(arrays, max_norm=1)
    >>> float(norm), [round(float(a.asscalar()), 3) for a in arrays]
    (5.0, [0.6, 0.8])
    """
    assert len(arrays) > 0, '[gluon.clip_global_norm] an empty list given; at least one array is accepted'
    ctx = arrays[0].context
    squares = [_square_of_norm(a).as_in_context(ctx) for a in arrays]
    total = nd.sqrt(nd.add_n(*squares)).reshape((1,))
    norm = total
    if check_isfinite:
        norm = total.asscalar()
        if arrays[0].as_nd_ndarray() is not arrays[0]:
            norm = norm.item()    # 2.0 gives a number of Python, 1.9.1 one of NumPy
        if not np.isfinite(norm):
            import warnings
            warnings.warn('nan or inf is detected. Clipping results will be undefined.', stacklevel=2)
    scale = nd.minimum(max_norm / (total + 1e-8), 1.0)
    for arr in arrays:
        _scale(arr, scale)
    return to_class_of(norm, arrays[0]) if norm is total else norm


def check_sha1(filename, sha1_hash):
    """True when the SHA-1 of the file's bytes is `sha1_hash` (hexadecimal).

    >>> with open('empty', 'wb'):
    ...     pass
    >>> mx.gluon.utils.check_sha1('empty', 'da39a3ee5e6b4b0d3255bfef95601890afd80709')
    True
    """
    import hashlib
    digest = hashlib.sha1()
    with open(filename, 'rb') as f:
        for chunk in iter(lambda: f.read(1 << 20), b''):
            digest.update(chunk)
    return digest.hexdigest() == sha1_hash.lower()


def replace_file(src, dst):
    """Move `src` over `dst` in one step; both on the same file system.

    >>> for name in ('a', 'b'):
    ...     with open(name, 'w') as file:
    ...         _ = file.write(name)
    >>> mx.gluon.utils.replace_file('a', 'b')
    >>> open('b').read()
    'a'
    """
    os.replace(src, dst)


def download(url, path=None, overwrite=False, sha1_hash=None, retries=5, verify_ssl=True):
    """Fetch a file and return its local path.

    The bytes arrive in a temporary file beside the target, which is renamed when it is complete, so
    readers never see half a file. An attempt that breaks off is resumed where the server can do
    that (RFC 9110, section 14). With `sha1_hash`, a later call goes on as well, from ``NAME.part``.

    Parameters
    ----------
    url : str
        Of the schemes http, https or file.
    path : str, optional
        A file or a folder. Without it, the last part of the URL in the current folder.
    overwrite : bool
        Fetch a file that is there already. Without this it is fetched only if it does not have
        the right `sha1_hash`, where one is given.
    sha1_hash : str, optional
        The SHA-1 that the file must have, in hexadecimal digits.
    retries : int
        Number of attempts; 0 means 1 as well.
    verify_ssl : bool
        Whether the server's certificate is verified.

    Raises
    ------
    OSError
        (also an MXNetError) if the server cannot be reached, has no such file, or sends something
        else than `sha1_hash`.

    >>> open("weights.txt", "w").write("1 2 3")
    5
    >>> mx.gluon.utils.download("file://" + os.path.abspath("weights.txt"), path="copy.txt")
    Downloading copy.txt from file:///.../weights.txt...
    'copy.txt'
    """
    last = url.split('/')[-1]
    if path is None:
        assert last, f'[gluon.download] {url!r} given without a path; a URL that ends in a file name is accepted'
        fname = last
    else:
        path = os.path.expanduser(path)
        fname = os.path.join(path, last) if os.path.isdir(path) else path
    assert retries >= 0, f'[gluon.download] retries={retries} given; 0 or more is accepted'
    if not verify_ssl:
        import warnings
        warnings.warn('Unverified HTTPS request is being made (verify_ssl=False). The server is not authenticated.', stacklevel=2)
    matches = (lambda name: check_sha1(name, sha1_hash)) if sha1_hash else None
    if not overwrite and os.path.exists(fname) and (matches is None or matches(fname)):
        return fname
    os.makedirs(os.path.dirname(os.path.abspath(fname)), exist_ok=True)
    advice = f'Without a network, put the file at {os.path.abspath(fname)}'
    if url.startswith(_get_repo_url()):
        advice += ', or let MXNET_GLUON_REPO name a repository that can be reached'
    from ._download import fetch
    fetch(url, fname, matches, max(retries, 1), verify_ssl, advice)
    return fname


def _setting(name):
    """A variable as the library read it, or as the program put it into os.environ afterwards."""
    from .. import env
    now = os.environ.get(name)
    return now if now and now != _process.AT_START.get(name) else env.value(name)


def _get_repo_url():
    """Base of dataset and model downloads (MXNET_GLUON_REPO), ending in a slash."""
    return _setting('MXNET_GLUON_REPO').rstrip('/') + '/'


def _get_repo_file_url(namespace, filename):
    return f'{_get_repo_url()}{namespace}/{filename}'


def _data_dir(*parts):
    """A folder below MXNET_HOME, with ~ expanded."""
    return os.path.join(os.path.expanduser(_setting('MXNET_HOME')), *parts)


def _indent(text, num_spaces):
    """`text` with every line after the first moved right."""
    first, *rest = text.split('\n')
    return '\n'.join([first] + [' ' * num_spaces + line for line in rest])


def _brief_print_list(names, limit=7):
    """Quoted names, shortened in the middle when there are many."""
    names = [f"'{n}'" for n in names]
    if len(names) > limit:
        names = names[:limit // 2] + ['...'] + names[-(limit // 2):]
    return ', '.join(names)


class HookHandle:
    """Returned by register_*_hook; `detach` removes the hook, and so does leaving a `with`
    block.

    >>> net = mx.gluon.nn.Flatten()
    >>> handle = net.register_forward_hook(lambda block, inputs, output: print(output.shape))
    >>> _ = net(mx.nd.ones((2, 3, 4)))
    (2, 12)
    >>> handle.detach()
    >>> _ = net(mx.nd.ones((2, 3, 4)))
    """

    _next_id = 0

    def __init__(self):
        self._hooks_ref = None
        self._id = None

    def attach(self, hooks_dict, hook):
        """Enter `hook` into `hooks_dict`, an OrderedDict that the handle does not keep alive.
        Raises AssertionError when the handle has a hook already.

        >>> hooks = collections.OrderedDict()
        >>> handle = mx.gluon.utils.HookHandle()
        >>> handle.attach(hooks, print)
        >>> list(hooks.values())
        [<built-in function print>]
        >>> handle.detach()
        >>> len(hooks)
        0
        """
        assert self._hooks_ref is None, '[gluon.HookHandle] this handle is attached already; a new handle is accepted'
        HookHandle._next_id += 1
        self._id = HookHandle._next_id
        hooks_dict[self._id] = hook
        self._hooks_ref = weakref.ref(hooks_dict)

    def detach(self):
        """Remove the hook; safe to call again."""
        hooks = self._hooks_ref() if self._hooks_ref is not None else None
        if hooks is not None:
            hooks.pop(self._id, None)

    def __enter__(self):
        return self

    def __exit__(self, ptype, value, trace):
        self.detach()
