"""What the commands of the package (``python -m mxnet.env`` and others) have alike."""
import os
import sys


def run(main, *args):
    """Calls `main`, and returns its exit status. A reader that has enough (``| head``) ends the
    command quietly."""
    try:
        status = main(*args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())      # what the interpreter flushes at its end
        return 0
