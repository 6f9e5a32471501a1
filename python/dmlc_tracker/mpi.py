"""Jobs of the cluster "mpi"."""
from . import _forward


def submit(args):
    """Starts a job from arguments that ``opts.get_opts`` gave, and waits for its end."""
    _forward.submit(args, "mpi")
