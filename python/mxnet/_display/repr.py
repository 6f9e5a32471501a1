"""``repr`` of objects that their arguments describe: ``Adam(learning_rate=0.001, wd=0.1)``.

MXNet 1.9.1 shows the class and an address for all of them.
"""
import inspect
import reprlib


class _Short(reprlib.Repr):
    maxlist = maxtuple = maxdict = maxset = 6
    maxstring = maxother = 120
    maxlevel = 5

    def __init__(self):
        super().__init__()
        for name in ("maxlist", "maxtuple", "maxdict", "maxset", "maxstring", "maxother", "maxlevel"):
            setattr(self, name, getattr(type(self), name))

    def repr_instance(self, x, level):
        shape = getattr(x, "shape", None)
        if isinstance(shape, tuple) and hasattr(x, "dtype") and (shape or hasattr(x, "asnumpy")):
            where = f" @{x.context}" if hasattr(x, "asnumpy") else ""
            return f"<{type(x).__name__} {'x'.join(map(str, shape))}{where}>"
        if callable(x) and hasattr(x, "__qualname__"):
            return x.__qualname__.rpartition(".")[2]
        return " ".join(repr(x).split())


def short(value):
    """A value on one line: arrays by their shape, functions by name, long containers in part."""
    return _Short().repr(value)


def parameters_of(cls):
    """{name: default} of the arguments of the constructor and of those of its bases, its own
    first."""
    found = {}
    for base in cls.__mro__:
        if "__init__" in vars(base) and base is not object:
            try:
                arguments = list(inspect.signature(base.__init__).parameters.items())[1:]
            except (TypeError, ValueError):     # a constructor that is not Python's
                continue
            for name, parameter in arguments:
                if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    found.setdefault(name, parameter.default)
    return found


def _same(value, default):
    if isinstance(value, (list, tuple, dict)) and (default is None or isinstance(default, tuple)):
        value, default = list(value), list(default or ())     # None and () become [] or {} in an object
    try:
        return value is default or (type(value) is type(default) and bool(value == default))
    except Exception:      # arrays, and what users define
        return False


def from_arguments(kept_as=None, always=(), without=()):
    """A ``__repr__`` that shows the constructor's arguments as far as the object keeps them.

    Parameters
    ----------
    kept_as : dict of str to str
        Attributes whose names are neither that of the argument nor that with an underscore.
    always : sequence of str
        Arguments that are shown also if they are the default, unless that is None.
    without : sequence of str
        Arguments that are never shown.
    """
    kept_as = kept_as or {}

    def represent(self):
        kept, shown = vars(self), []
        for name, default in parameters_of(type(self)).items():
            attribute = next((a for a in (kept_as.get(name), name, "_" + name) if a in kept), None)
            if attribute is None or name in without:
                continue
            if _same(kept[attribute], default) and (name not in always or default is None):
                continue
            shown.append(f"{name}={short(kept[attribute])}")
        return f"{type(self).__name__}({', '.join(shown)})"

    represent.__name__ = "__repr__"
    return represent


def of_dataset(self):
    """``__repr__`` of a dataset: how many samples it has, and what it shows of others."""
    try:
        return f"{type(self).__name__}({len(self)} samples)"
    except Exception:      # pylint: disable=broad-except    (len() is the user's)
        return f"{type(self).__name__}()"
