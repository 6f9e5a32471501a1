"""What is known of the process before the library is loaded, and who called the package."""
import os
import sys


AT_START = dict(os.environ)


def shell():
    """IPython's shell, which notebooks have too, if it runs this program; else None."""
    module = sys.modules.get("IPython")
    return module and module.get_ipython()


def outside():
    """The `stacklevel` of the caller's warning for the line of the user's program; 0 if none
    runs."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    return 0 if frame.f_code.co_filename.startswith(package) else level
