"""Splitting batches over contexts, clipping gradients, downloading files, and small helpers of this
package."""
import os
import weakref

import numpy as np

from .. import ndarray as nd

__all__ = ['split_data', 'split_and_load', 'clip_global_norm', 'check_sha1', 'download', 'replace_file', 'HookHandle']


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """Cut an NDArray into `num_slice` parts along `batch_axis`.

    ValueError when the axis is not divisible, unless even_split=False: then the first parts have
    one element more than the others, which are empty when there are more parts than elements.
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
    return [nd.slice_axis(data, axis=batch_axis, begin=a, end=b) for a, b in bounds]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True):
    """Cut `data` (NDArray or array-like) into len(ctx_list) parts and put one on each context."""
    if not isinstance(data, nd.NDArray):
        data = nd.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    return [part.as_in_context(ctx) for part, ctx in zip(split_data(data, len(ctx_list), batch_axis, even_split), ctx_list)]


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scale `arrays` in place so that the 2-norm of all of them together is at most `max_norm`.

    Returns the norm before clipping: a float, with a warning when it is not finite; an NDArray of
    shape (1,), without waiting for the device, when check_isfinite=False. (Pascanu et al., "On the
    difficulty of training recurrent neural networks", 2013.)
    """
    assert len(arrays) > 0, '[gluon.clip_global_norm] an empty list given; at least one array is accepted'
    ctx = arrays[0].context
    squares = [nd.dot(flat, flat).as_in_context(ctx) for flat in (a.reshape((-1,)).astype('float32', copy=False) for a in arrays)]
    total = nd.sqrt(nd.add_n(*squares)).reshape((1,))
    norm = total
    if check_isfinite:
        norm = float(total.asscalar())
        if not np.isfinite(norm):
            import warnings
            warnings.warn(f'[gluon.clip_global_norm] the norm is {norm}; the clipped values are not usable', stacklevel=2)
    scale = nd.minimum(max_norm / (total + 1e-8), 1.0)
    for arr in arrays:
        arr *= scale.astype(arr.dtype, copy=False).as_in_context(arr.context)
    return norm


def check_sha1(filename, sha1_hash):
    """True when the SHA-1 of the file's bytes is `sha1_hash` (hexadecimal)."""
    import hashlib
    digest = hashlib.sha1()
    with open(filename, 'rb') as f:
        for chunk in iter(lambda: f.read(1 << 20), b''):
            digest.update(chunk)
    return digest.hexdigest() == sha1_hash


def replace_file(src, dst):
    """Move `src` over `dst` in one step; both on the same file system."""
    os.replace(src, dst)


def _fetch(url, target, verify_ssl):
    """Copy what `url` (http, https or file) holds to the file `target`."""
    import shutil
    import ssl
    import urllib.request
    context = None
    if url.startswith('https:') and not verify_ssl:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    with urllib.request.urlopen(url, context=context) as response, open(target, 'wb') as out:
        shutil.copyfileobj(response, out, 1 << 20)


def download(url, path=None, overwrite=False, sha1_hash=None, retries=5, verify_ssl=True):
    """Fetch `url` (http://, https:// or file://) and return the path of the local file.

    `path` is a file, a folder, or None for the last part of the URL. A file that is there already,
    with the right `sha1_hash` if one is given, is not fetched again unless `overwrite`. The bytes
    arrive in a temporary file beside the target, which is renamed when complete, so that readers
    never see half a file. After `retries` failures the last error is raised.
    """
    import uuid
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
        warnings.warn('[gluon.download] verify_ssl=False: the server is not authenticated', stacklevel=2)
    if not overwrite and os.path.exists(fname) and (not sha1_hash or check_sha1(fname, sha1_hash)):
        return fname
    folder = os.path.dirname(os.path.abspath(fname))
    os.makedirs(folder, exist_ok=True)
    for attempts_left in range(retries, -1, -1):
        temp = f'{fname}.{uuid.uuid4().hex}'
        try:
            _fetch(url, temp, verify_ssl)
            if sha1_hash and not check_sha1(temp, sha1_hash):
                raise OSError(f'[gluon.download] what {url} sent does not have the SHA-1 {sha1_hash}')
            replace_file(temp, fname)
            return fname
        except OSError:
            if not attempts_left:
                raise
        finally:
            if os.path.exists(temp):
                os.remove(temp)
    return fname


def _get_repo_url():
    """Base of dataset and model downloads (MXNET_GLUON_REPO), ending in a slash."""
    from .. import env
    return env.value('MXNET_GLUON_REPO').rstrip('/') + '/'


def _get_repo_file_url(namespace, filename):
    return f'{_get_repo_url()}{namespace}/{filename}'


def _data_dir(*parts):
    """A folder below MXNET_HOME, with ~ expanded."""
    from .. import env
    return os.path.join(os.path.expanduser(env.value('MXNET_HOME')), *parts)


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
    block."""

    _next_id = 0

    def __init__(self):
        self._hooks_ref = None
        self._id = None

    def attach(self, hooks_dict, hook):
        """Enter `hook` into `hooks_dict`."""
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
