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


def unavailable(name):
    def method(self, *args):
        raise NotImplementedForSymbol(getattr(self, name), None, *args)
    method.__doc__ = f"Raises NotImplementedForSymbol: a symbol holds no values. {INSTEAD[name]}"
    return method
