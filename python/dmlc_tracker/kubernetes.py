"""Jobs of the cluster "kubernetes", which this launcher does not know."""
from . import _forward


def submit(args):
    """NotImplementedError, with what is accepted."""
    _forward.refuse("kubernetes")
