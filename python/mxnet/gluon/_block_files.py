"""Files of a Block: its Parameters, and the tree of blocks with their graphs."""
import json
import os
import warnings
from collections import defaultdict

from .. import ndarray as nd
from .._arrays.classes import numpy_among
from .._files import kinds
from .._files.whole_files import write_file
from ..util import accepts_device
from .parameter_dict import named_arrays, save_arrays, strip_arg_aux
from .utils import _brief_print_list

__all__ = []

def _fits(param, array):
    return param.shape is None or len(param.shape) == array.ndim and all(n in (0, -1, m) for n, m in zip(param.shape, array.shape))


def _as_named_here(mine, paths, arrays):
    """Arrays of mx.np that `collect_params()` of another block named, by the names of this one, if
    its Parameters have the same kinds and shapes in the same order. 2.0 names both by paths."""
    if not numpy_among(arrays.values()) or len(mine) != len(arrays) or any('.' in k or k in mine or k in paths for k in arrays):
        return arrays
    pairs = list(zip(mine.items(), arrays.items()))
    if all(own.rpartition('_')[2] == name.rpartition('_')[2] and _fits(param, array) for (own, param), (name, array) in pairs):
        return {own: array for (own, _), (_, array) in pairs}
    return arrays


class _BlockFiles:
    """The part of a Block that reads and writes files."""

    def save_parameters(self, filename, deduplicate=False):
        """Write all Parameters, named by block path (`features.0.weight`); `deduplicate` writes a
        shared one once. A name that ends in ``.npz`` makes a file that NumPy reads, and MXNet 2.0;
        others one that all versions read.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> net.save_parameters('net.params')
        >>> again = mx.gluon.nn.Dense(1, in_units=2)
        >>> again.load_parameters('net.params')
        >>> bool((net.weight.data() == again.weight.data()).min().asscalar())
        True
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            # As 1.x orders the file: the first place of a shared one, under its last name.
            params = {name: p for p, name in {p: name for name, p in params.items()}.items()}
        save_arrays(filename, {name: p._reduce() for name, p in params.items()})

    @accepts_device
    def load_parameters(self, filename, ctx=None, allow_missing=False, ignore_extra=False, cast_dtype=False, dtype_source='current'):
        """Read Parameters from a file of `save_parameters`, `export`, `ParameterDict.save` or
        `Module.save_checkpoint`.

        Parameters
        ----------
        ctx : Context or list of Context, optional
            Where to put Parameters that are not initialised yet (default: cpu(0); under
            ``npx.set_np()`` the current device).
        allow_missing, ignore_extra : bool
            Accept Parameters that the file lacks; accept names in the file that are not in this
            block.
        cast_dtype : bool
            Convert between dtypes, towards the one that `dtype_source` ('current' or 'saved')
            names.

        AssertionError for missing names and for shapes or dtypes that do not fit; ValueError for
        extra names.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> net.save_parameters('net.params')
        >>> again = mx.gluon.nn.Dense(1, in_units=2)
        >>> again.load_parameters('net.params', ctx=mx.cpu())
        >>> again.weight.shape
        (1, 2)
        """
        self.load_dict(nd.load(filename), ctx, allow_missing, ignore_extra, cast_dtype, dtype_source, source=f'file {filename!r}')

    @accepts_device
    def load_dict(self, param_dict, ctx=None, allow_missing=False, ignore_extra=False, cast_dtype=False, dtype_source='current',
                  source='the given dict'):
        """Like `load_parameters`, from {name: NDArray}; `source` only appears in messages.

        >>> net = mx.gluon.nn.Dense(1, in_units=2, use_bias=False)
        >>> net.load_dict({'weight': mx.nd.array([[1, 2]])})
        >>> net(mx.nd.array([[10, 1]])).asscalar().item()
        12.0
        """
        params = self._collect_params_with_prefix()
        if not param_dict and not params:
            return
        loaded = self._names_here('', strip_arg_aux(named_arrays(param_dict, source, 'gluon.load_parameters')))
        if source == 'the given dict':
            loaded = _as_named_here(self.collect_params(), params, loaded)
        restore = self._restored_prefix(loaded, params)
        if restore is not None:
            self.collect_params().load_dict(loaded, ctx, allow_missing, ignore_extra, restore, source, cast_dtype, dtype_source)
            return
        if not allow_missing:
            names_of = defaultdict(list)
            for name, p in params.items():
                names_of[id(p)].append(name)
            for name, p in params.items():
                assert any(alias in loaded for alias in names_of[id(p)]), (
                    f'[gluon.load_parameters] {name!r} is not in {source}, which has {_brief_print_list(loaded.keys())}; '
                    'a file with all Parameters, or allow_missing=True, is accepted')
        for name, array in loaded.items():
            if name in params:
                params[name]._load_init(array, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)
            elif not ignore_extra:
                raise ValueError(f'[gluon.load_parameters] {source} has {name!r}, which is not among '
                                 f'{_brief_print_list(params.keys())}; a file without it, or ignore_extra=True, is accepted')

    def _restored_prefix(self, loaded, params):
        """What stands before names of the prefix scheme, which are complete or lack this block's
        own prefix; None for names by path. A name may be of both schemes."""
        if any('.' in key for key in loaded):
            return None
        collected = self.collect_params().keys()
        by_path = sum(key in params for key in loaded)
        whole, stripped = (sum(prefix + key in collected for key in loaded) for prefix in ('', self.prefix))
        if by_path and by_path >= max(whole, stripped):
            return None
        return '' if whole and whole >= stripped else self.prefix

    def _names_here(self, prefix, arrays):
        """What a file holds by path, with the names that the blocks below know: some have others in
        MXNet 2.0."""
        for name, child in self._children.items():
            arrays = child._names_here(f'{prefix}{name}.', arrays)
        return arrays

    def save_params(self, filename):
        """Deprecated: write Parameters by the prefix scheme, without this block's prefix. Use
        `save_parameters`.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize(mx.init.One())
        >>> net.save_params('net.params')
        >>> again = mx.gluon.nn.Dense(1, in_units=2)
        >>> again.load_params('net.params')
        >>> again.weight.data().asnumpy()
        array([[1., 1.]], dtype=float32)
        """
        warnings.warn('save_params is deprecated. Please use save_parameters.', UserWarning, stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_params(self, filename, ctx=None, allow_missing=False, ignore_extra=False):
        """Deprecated name of `load_parameters`."""
        warnings.warn('load_params is deprecated. Please use load_parameters.', UserWarning, stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix):
        """Write the Parameters to `prefix`-model.params and the tree of blocks, with the graphs of
        those that are compiled, to `prefix`-model.json. `load` of a block of the same structure
        takes both back, without tracing again.

        >>> net, again = mx.gluon.nn.Dense(1, in_units=2), mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> net.save('net')
        >>> again.load('net')
        >>> bool((net.weight.data() == again.weight.data()).min().asscalar())
        True
        """
        write_file(f'{prefix}-model.json', json.dumps(self._describe(), indent=1))
        self.save_parameters(f'{prefix}-model.params')

    def load(self, prefix):
        """Read what `save` wrote; ValueError when the tree of blocks differs."""
        if not os.path.exists(f'{prefix}-model.json'):
            kinds.refuse_prefix('gluon.Block.load', prefix, 'the beginning of the names PREFIX-model.json and PREFIX-model.params')
        with open(f'{prefix}-model.json', encoding='utf-8') as f:
            self._restore(json.load(f), f'{prefix}-model.json')
        self.load_parameters(f'{prefix}-model.params')

    def _describe(self):
        return {'class': type(self).__name__, 'children': {k: c._describe() for k, c in self._children.items()}}

    def _restore(self, described, source):
        if list(described['children']) != list(self._children) or described['class'] != type(self).__name__:
            raise ValueError(f'[gluon.Block.load] {source} describes a {described["class"]} with children {list(described["children"])} '
                             f'and this is a {type(self).__name__} with {list(self._children)}; the same structure is accepted')
        for key, child in self._children.items():
            child._restore(described['children'][key], source)
