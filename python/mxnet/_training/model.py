"""Checkpoints, and the updating of parameters that Module and others share."""
import logging
import math
import os
from collections import namedtuple

from .. import kvstore as kvs
from .. import ndarray as nd
from .. import symbol as sym
from .._files import kinds
from ..kvstore import KVStoreBase
from ..util import getenv

__all__ = ["BatchEndParam", "load_checkpoint", "load_params", "save_checkpoint"]

BatchEndParam = namedtuple("BatchEndParams", ["epoch", "nbatch", "eval_metric", "locals"], module="mxnet.model")
BatchEndParam.__doc__ = """What a batch callback is told: epoch, number of the batch in it, metric, and the caller's local variables.

>>> def report(param):
...     print(param.epoch, param.nbatch, param.eval_metric.get())
>>> metric = mx.metric.create('acc')
>>> metric.update([mx.nd.array([1, 0])], [mx.nd.array([1, 1])])
>>> report(mx.model.BatchEndParam(epoch=0, nbatch=7, eval_metric=metric, locals=None))
0 7 ('accuracy', 0.5)
"""

_BIG_PARAMETER = 16 * 1024 * 1024       # elements


def _multiple_callbacks(callbacks, *args, **kwargs):
    """Call one callback, or each of a list."""
    for callback in callbacks if isinstance(callbacks, list) else [callbacks]:
        if callback:
            callback(*args, **kwargs)


# ---- parameters and stores ----

def _create_kvstore(kvstore, num_device, arg_params):
    """The store to use, and whether it shall run the optimizer.

    Parameters
    ----------
    kvstore : KVStoreBase, str or None
    num_device : int
        Devices that share the parameters; one does not need a store on one machine.
    arg_params : dict of str to NDArray
        Big ones are better updated on each device than in one place, with a 'local' store.

    Returns
    -------
    (KVStoreBase or None, bool)
    """
    on_store = getenv("MXNET_UPDATE_ON_KVSTORE") not in ("0", "false", "False")
    if kvstore is None:
        store = None
    elif isinstance(kvstore, KVStoreBase):
        store = kvstore
    elif isinstance(kvstore, str):
        if num_device == 1 and "dist" not in kvstore:
            store = None
        else:
            store = kvs.create(kvstore)
            if kvstore == "local" and max((math.prod(p.shape) for p in arg_params.values()), default=0) > _BIG_PARAMETER:
                on_store = False
    else:
        raise TypeError(f"[kvstore] kvstore must be KVStore, str or None, {type(kvstore).__name__} was given")
    if store is None or not store.is_capable(KVStoreBase.OPTIMIZER):
        on_store = False
    return store, on_store


def _initialize_kvstore(kvstore, param_arrays, arg_params, param_names, update_on_kvstore):
    """Give the first values to the store; where it runs the optimizer, the devices get them from
    there."""
    for index, (name, on_devices) in enumerate(zip(param_names, param_arrays)):
        if update_on_kvstore and arg_params[name].stype == "default":
            kvstore.broadcast(name, arg_params[name], out=on_devices, priority=-index)
        else:
            kvstore.init(name, arg_params[name])


def _trained(param_arrays, grad_arrays):
    """(index, weights, gradients) of the parameters that have gradients, one array per device."""
    for index, (weights, grads) in enumerate(zip(param_arrays, grad_arrays)):
        if grads[0] is not None:
            yield index, weights, grads


def _update_params_on_kvstore(param_arrays, grad_arrays, kvstore, param_names):
    """Give gradients to the store, whose optimizer updates, and get the weights back; first layers
    first."""
    for index, weights, grads in _trained(param_arrays, grad_arrays):
        name = param_names[index]
        if grads[0].stype == "default" and weights[0].stype == "default":
            kvstore.pushpull(name, grads, out=weights, priority=-index)
        else:
            kvstore.push(name, grads, priority=-index)
            kvstore.pull(name, weights, priority=-index)


def _update_params(param_arrays, grad_arrays, updater, num_device, kvstore=None, param_names=None):
    """Update the weights on each device, with gradients that the store, if there is one, adds up
    first."""
    updates = [[] for _ in range(num_device)]
    for index, weights, grads in _trained(param_arrays, grad_arrays):
        if kvstore:
            name = param_names[index]
            if grads[0].stype == "default":
                kvstore.pushpull(name, grads, priority=-index)
            else:
                kvstore.push(name, grads, priority=-index)
                kvstore.pull(name, grads, priority=-index, ignore_sparse=False)
        for device, (w, g) in enumerate(zip(weights, grads)):
            updates[device].append((index * num_device + device, g, w))
    for update in updates:
        if update:
            updater(*map(list, zip(*update)))


# ---- checkpoints ----

def save_checkpoint(prefix, epoch, symbol, arg_params, aux_params, remove_amp_cast=True):
    """Write a network to ``prefix-symbol.json`` and its parameters to ``prefix-NNNN.params``.

    Parameters
    ----------
    prefix : str
    epoch : int
        Number in the second file's name.
    symbol : Symbol or None
        None: parameters only.
    arg_params, aux_params : dict of str to NDArray
    remove_amp_cast : bool
        Leave out the casts of automatic mixed precision.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=1, no_bias=True, name='fc')
    >>> mx.model.save_checkpoint('m', 3, net, {'fc_weight': mx.nd.ones((1, 2))}, {})
    >>> symbol, arguments, states = mx.model.load_checkpoint('m', 3)
    >>> symbol.list_arguments(), list(arguments), states
    (['data', 'fc_weight'], ['fc_weight'], {})
    """
    path = "%s-%04d.params" % (prefix, epoch)    # 1.x takes an epoch of 2.0, too
    arrays = {f"arg:{name}": array for name, array in arg_params.items()}
    arrays.update((f"aux:{name}", array) for name, array in aux_params.items())
    # The network comes last: where parameters cannot be written, older ones keep theirs.
    nd.save(path, arrays)
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    logging.info('Saved checkpoint to "%s"', path)


def _split_params(arrays, path):
    """Arguments and auxiliary states from a dictionary with ``arg:`` and ``aux:`` in front of the
    names."""
    params = {"arg": {}, "aux": {}}
    if not isinstance(arrays, dict):
        if arrays:
            raise ValueError(f"[load_params] {path} has arrays without names; those of a checkpoint have names")
        arrays = {}
    for key, array in arrays.items():
        kind, _, name = key.partition(":")
        if kind not in params or not name:
            raise ValueError(f"[load_params] {path} has an array named {key!r}; 'arg:NAME' and 'aux:NAME' are expected")
        params[kind][name] = array
    return params["arg"], params["aux"]


def _look_for(path, prefix):
    """An error where the prefix itself is a file: a `.pt`, or one with its ending."""
    if not os.path.exists(path):
        kinds.refuse_prefix("load_checkpoint", prefix, "the beginning of the names PREFIX-symbol.json and PREFIX-0000.params")


def load_params(prefix, epoch):
    """Read ``prefix-NNNN.params``. Returns two dictionaries of name to NDArray: arguments and
    auxiliary states.

    Raises
    ------
    ValueError
        if the file is not one of a checkpoint.

    Examples
    --------
    >>> mx.nd.save('m-0001.params', {'arg:weight': mx.nd.ones(2), 'aux:mean': mx.nd.zeros(2)})
    >>> arguments, states = mx.model.load_params('m', 1)
    >>> list(arguments), list(states)
    (['weight'], ['mean'])
    """
    path = "%s-%04d.params" % (prefix, epoch)    # 1.x takes an epoch of 2.0, too
    _look_for(path, prefix)
    arrays = nd.load(path)
    if not arrays:
        logging.warning("Params file '%s' is empty", path)
    return _split_params(arrays, path)


def load_checkpoint(prefix, epoch):
    """Read what :func:`save_checkpoint` wrote. Returns the symbol, and the dictionaries of
    :func:`load_params`.

    >>> net = mx.sym.exp(mx.sym.Variable('data'))
    >>> mx.model.save_checkpoint('m', 1, net, {}, {})
    >>> symbol, arguments, states = mx.model.load_checkpoint('m', 1)
    >>> symbol.list_arguments()
    ['data']
    """
    _look_for(f"{prefix}-symbol.json", prefix)
    return (sym.load(f"{prefix}-symbol.json"), *load_params(prefix, epoch))
