"""Jobs of the cluster "ssh"."""
from . import _forward


def submit(args):
    """Starts a job from arguments that ``opts.get_opts`` gave, and waits for its end."""
    _forward.submit(args, "ssh")
