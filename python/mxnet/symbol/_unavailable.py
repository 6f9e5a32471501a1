"""Methods that arrays have and symbols cannot."""
from ..base import NotImplementedForSymbol

# What arrays have and symbols can't, and what is there for it.
INSTEAD = {
    "wait_to_read": "Arrays that an executor gives can be waited for.",
    "asnumpy": "Values come from an evaluation.",
    "asscalar": "Values come from an evaluation.",
    "copy": "Python's `copy` gives a graph of its own; ``mx.sym.identity`` is the operator that copies.",
    "as_in_context": "An executor has a device.",
    "detach": "``mx.sym.BlockGrad`` stops gradients.",
    "backward": "An executor computes gradients.",
}

# What depends on values that only a call brings, and how a block does without it.
_CODES = ("a symbol stands for arrays of any shape. Codes of reshape such as 0 (as it was) and -1 (what is left) and operators such as "
          "reshape_like and slice_like do without it; a block that defines forward(self, x) in place of hybrid_forward may read it")
_OF_CALLS = {**dict.fromkeys(("shape", "ndim", "size"), _CODES),
             "dtype": "a symbol stands for arrays of any dtype; infer_type tells it from those of the inputs"}


def missing(symbol, name):
    """The error for an attribute that a symbol has not."""
    reason = _OF_CALLS.get(name)
    text = f"{type(symbol).__name__!r} object has no attribute {name!r}" + (f": {reason}" if reason else "")
    return AttributeError(text, name=name, obj=symbol)


def unavailable(name):
    def method(self, *args):
        raise NotImplementedForSymbol(getattr(self, name), None, *args)
    method.__doc__ = f"Raises NotImplementedForSymbol: a symbol holds no values. {INSTEAD[name]}"
    return method
