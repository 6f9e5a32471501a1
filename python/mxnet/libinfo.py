"""Where the native library and its headers are, and the version of the package."""
import os
import re

__all__ = ["__version__", "find_lib_path", "find_include_path", "find_conf_path"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_TREE = os.path.dirname(os.path.dirname(_PACKAGE))  # of a source checkout


def _version():
    # The number has one home, the C header; without one (a frozen program) pip knows it.
    for folder in (_PACKAGE, _TREE):
        try:
            with open(os.path.join(folder, "include", "mxnet", "base.h"), encoding="utf-8") as file:
                return re.search(r'define MXNET_VERSION_STRING "([^"]*)"', file.read()).group(1)
        except OSError:
            pass
    import importlib.metadata
    return importlib.metadata.version("mxnet")


def _by_numbers(name):
    """A comparison of versions; of texts that are none, that of texts."""
    def compare(self, other):
        if not isinstance(other, str):
            return NotImplemented
        if not other[:1].isdigit():
            return getattr(str, name)(self, other)
        ours, theirs = ([int(number) for number in re.findall("[0-9]+", text)] for text in (self, other))
        return getattr(ours, name)(theirs)
    return compare


class _Version(str):
    """Programs of 1.x ask ``mx.__version__ < '1.3.1'``. As texts, 1.10 comes before 1.3."""

    __slots__ = ()
    __lt__, __le__, __gt__, __ge__ = map(_by_numbers, ("__lt__", "__le__", "__gt__", "__ge__"))

    def __reduce__(self):
        return str, (str(self),)


__version__ = _Version(_version())


def _folders():
    return [os.path.join(_PACKAGE, "lib"), _PACKAGE, os.path.join(_TREE, "build", "release"), os.path.join(_TREE, "build", "cuda")]


def _from_environment():
    # The one variable that cannot be asked of the library: it says which library to load.
    path = os.environ.get("MXNET_LIBRARY_PATH", "").strip()
    if path and not os.path.isfile(path):
        raise RuntimeError(f"[environment] MXNET_LIBRARY_PATH='{path}'; accepted: the path of an existing library file, "
                           "default: the library that belongs to the package")
    return os.path.abspath(path) if path else None


def find_lib_path(prefix="libmxnet"):
    """Returns the paths of ``{prefix}.so`` that exist, the one to load first.

    ``MXNET_LIBRARY_PATH`` comes before the package's own folder, that before the build folders of a
    source tree. Raises RuntimeError when there is none or when the variable names no file.
    """
    paths = [os.path.join(folder, prefix + ".so") for folder in _folders()]
    chosen = _from_environment() if prefix == "libmxnet" else None
    found = ([chosen] if chosen else []) + [path for path in paths if os.path.isfile(path) and path != chosen]
    if not found:
        raise RuntimeError(f"[libinfo] no {prefix}.so; looked for " + ", ".join(paths) + ". Build it with ./dev build, "
                           "or set MXNET_LIBRARY_PATH")
    return found


def find_include_path():
    """Returns the folder of the C and C++ headers: the installed package's, else the source tree's.
    RuntimeError without one."""
    paths = [os.path.join(_PACKAGE, "include"), os.path.join(_TREE, "include")]
    for path in paths:
        if os.path.isfile(os.path.join(path, "mxnet", "base.h")):
            return path
    raise RuntimeError("[libinfo] no headers; looked in " + ", ".join(paths))


def find_conf_path(prefix="tvmop"):
    """Returns the paths of ``{prefix}.conf`` beside the library; RuntimeError without one."""
    paths = [os.path.join(folder, prefix + ".conf") for folder in _folders()]
    found = [path for path in paths if os.path.isfile(path)]
    if not found:
        raise RuntimeError(f"[libinfo] no {prefix}.conf; looked for " + ", ".join(paths))
    return found
