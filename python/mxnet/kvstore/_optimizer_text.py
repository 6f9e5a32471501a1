"""An optimizer as text: its registered name and its parameters as JSON, as workers send it to
servers.

Nothing in the text names code: what comes out is an optimizer or a schedule that this package has.
Others can be pickled, which a job must allow with ``PS_ACCEPT_PICKLE=1``: whoever can send to a
server may then run any code there.
"""
import base64
import json
import os
import pickle
from types import SimpleNamespace

import numpy

from .. import lr_scheduler
from ..optimizer import Optimizer

__all__ = ["accepts_pickle", "from_text", "needs_whole_weights", "to_text", "unpickled"]

_ALLOW = "PS_ACCEPT_PICKLE=1 for all processes of the job (launch.py --accept-pickle) allows it to be pickled"


def accepts_pickle():
    """Whether the job allows objects to be pickled."""
    return os.environ.get("PS_ACCEPT_PICKLE", "0") not in ("", "0")


def unpickled(data):
    """The optimizer in a pickle that came from a worker. Raises ValueError unless the job allows
    pickling."""
    if not accepts_pickle():
        raise ValueError(f"[kvstore] a pickled optimizer is refused; {_ALLOW}")
    return pickle.loads(data)


def needs_whole_weights(optimizer):
    """Whether an optimizer takes norms of weights or gradients, so that it must not see parts of
    them. Of a class of the program's own nothing is known: it might."""
    return optimizer._takes_norms or not _ours(type(optimizer))


def to_text(optimizer):
    """The text for an optimizer. Raises ValueError for one that text cannot say, unless the job
    allows pickling."""
    name = type(optimizer).__name__.lower()
    try:
        if Optimizer.opt_registry.get(name) is not type(optimizer) or not _ours(type(optimizer)):
            raise ValueError("it is a class of its own, which servers do not have")
        content = {"optimizer": name, "state": _encode_all(vars(optimizer))}
    except ValueError as error:
        if not accepts_pickle():
            raise ValueError(f"[kvstore] {type(optimizer).__name__} cannot be sent to the servers by name: {error}; {_ALLOW}") from None
        content = {"pickle": base64.b64encode(pickle.dumps(optimizer)).decode("ascii")}
    return json.dumps(content)


def from_text(text):
    """The optimizer that a text of :func:`to_text` stands for. Raises ValueError."""
    content = json.loads(text) if isinstance(text, str) else text
    if "pickle" in content:
        optimizer = unpickled(base64.b64decode(content["pickle"]))
    else:
        klass = Optimizer.opt_registry.get(content["optimizer"])
        if klass is None:
            raise ValueError(f"[kvstore] there is no optimizer named {content['optimizer']!r} on this server")
        optimizer = _restore(klass, content["state"])
        optimizer._set_current_context(0)
    return optimizer


def _ours(klass):
    return klass.__module__.split(".")[0] == __name__.split(".", maxsplit=1)[0]


def _encode_all(state):
    return {name: _encode(value) for name, value in state.items()}


def _encode(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, list):
        return [_encode(v) for v in value]
    if isinstance(value, tuple):
        return {"tuple": [_encode(v) for v in value]}
    if isinstance(value, dict):
        return {"dict": [[_encode(k), _encode(v)] for k, v in value.items()]}
    if isinstance(value, lr_scheduler.LRScheduler) and _ours(type(value)):
        return {"schedule": type(value).__name__, "state": _encode_all(vars(value))}
    if hasattr(value, "lr_mult") and hasattr(value, "wd_mult"):      # a Parameter of Gluon
        return {"lr_mult": float(value.lr_mult), "wd_mult": float(value.wd_mult)}
    raise ValueError(f"a {type(value).__name__} is among its parameters")


def _decode(value):
    if isinstance(value, list):
        return [_decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_decode(v) for v in value["tuple"])
    if "dict" in value:
        return {_decode(k): _decode(v) for k, v in value["dict"]}
    if "schedule" in value:
        if value["schedule"] not in lr_scheduler.__all__:
            raise ValueError(f"[kvstore] there is no schedule named {value['schedule']!r} on this server")
        return _restore(getattr(lr_scheduler, value["schedule"]), value["state"])
    return SimpleNamespace(lr_mult=value["lr_mult"], wd_mult=value["wd_mult"])


def _restore(klass, state):
    """An object with these attributes; none may hide what its class defines, except defaults of
    public parameters."""
    restored = klass.__new__(klass)
    for name, value in state.items():
        default = not name.startswith("_") and isinstance(getattr(klass, name, None), (bool, int, float, str))
        if not name.isidentifier() or name.startswith("__") or hasattr(klass, name) and not default:
            raise ValueError(f"[kvstore] {klass.__name__} has no parameter {name!r}")
        setattr(restored, name, _decode(value))
    return restored
