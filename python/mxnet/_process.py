"""What is known of the process before the library is loaded, and who called the package."""
import os
import sys


# Of the library, under names that began elsewhere.
_OTHERS = {"OMP_NUM_THREADS", "NNVM_EXEC_MATCH_RANGE", "DMLC_LOG_STACK_TRACE_DEPTH"}


def variables():
    """The library's variables of the environment, as they are now."""
    return {name: value for name, value in os.environ.items() if name.startswith("MXNET_") or name in _OTHERS}


AT_START = variables()


def outside():
    """The `stacklevel` of the caller's warning for the line of the user's program; 0 if none
    runs."""
    package = os.path.dirname(os.path.abspath(__file__)) + os.sep
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    return 0 if frame.f_code.co_filename.startswith(package) else level
