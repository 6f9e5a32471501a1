"""Jobs of the cluster "yarn", which this launcher does not know."""
from . import _forward


def submit(args):
    """NotImplementedError, with what is accepted."""
    _forward.refuse("yarn")
