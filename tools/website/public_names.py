"""What the package documents: its public modules, and the functions and classes at home in each.

The API pages of the site and the count of examples read this list, so neither has one of its own.
"""
import importlib
import inspect
import re
from typing import NamedTuple

# In the order of the site's pages: module, and what it is for.
MODULES = {
    "mxnet.ndarray": "Arrays, and operators that run at once.",
    "mxnet.ndarray.random": "Random arrays.",
    "mxnet.ndarray.contrib": "Operators outside of the core: boxes, detection, control flow.",
    "mxnet.ndarray.linalg": "Matrices: products, factorisations, solutions.",
    "mxnet.ndarray.image": "Operators on pictures.",
    "mxnet.numpy": "Arrays and functions with NumPy's names and rules.",
    "mxnet.numpy.linalg": "Linear algebra with NumPy's names.",
    "mxnet.numpy.random": "Random arrays with NumPy's names.",
    "mxnet.numpy.fft": "Fourier transforms with NumPy's names.",
    "mxnet.numpy_extension": "Operators of networks on NumPy's arrays, and the NumPy mode.",
    "mxnet.numpy_extension.random": "Random arrays that NumPy has no name for.",
    "mxnet.symbol": "Graphs, which are compiled when they are bound.",
    "mxnet.executor": "A compiled graph with its arrays.",
    "mxnet.autograd": "Gradients of imperative programs.",
    "mxnet.gluon": "Networks as objects: blocks, parameters and the trainer.",
    "mxnet.gluon.nn": "Layers.",
    "mxnet.gluon.rnn": "Recurrent layers and cells.",
    "mxnet.gluon.loss": "Losses.",
    "mxnet.gluon.metric": "Metrics as 2.0 has them.",
    "mxnet.gluon.data": "Datasets, samplers and loaders.",
    "mxnet.gluon.data.batchify": "How samples become a batch.",
    "mxnet.gluon.data.vision": "Data sets of pictures.",
    "mxnet.gluon.data.vision.transforms": "Transformations of pictures.",
    "mxnet.gluon.model_zoo.vision": "Networks for pictures.",
    "mxnet.gluon.utils": "Splitting of batches, clipping of gradients, downloads.",
    "mxnet.gluon.probability": "Distributions, divergences and stochastic blocks.",
    "mxnet.gluon.contrib.nn": "More layers.",
    "mxnet.gluon.contrib.rnn": "More recurrent cells.",
    "mxnet.gluon.contrib.estimator": "A training loop with handlers of events.",
    "mxnet.module": "Training of symbols, the interface of 1.x.",
    "mxnet.model": "Checkpoints of symbols, and the older FeedForward.",
    "mxnet.checkpoint": "Training state in one file.",
    "mxnet.io": "Iterators over batches.",
    "mxnet.recordio": "Record files.",
    "mxnet.image": "Reading, changing and iterating over pictures.",
    "mxnet.metric": "Metrics of 1.x.",
    "mxnet.optimizer": "Rules that update weights.",
    "mxnet.lr_scheduler": "Learning rates that change during training.",
    "mxnet.initializer": "First values of weights.",
    "mxnet.callback": "Functions that `fit` calls.",
    "mxnet.monitor": "Statistics of the arrays in a bound graph.",
    "mxnet.kvstore": "Sums of gradients over devices and machines.",
    "mxnet.context": "Devices.",
    "mxnet.random": "The seed, and random arrays of the classic interface.",
    "mxnet.rnn": "Recurrent cells of symbols, and bucketed sentences.",
    "mxnet.operator": "Operators written in Python.",
    "mxnet.rtc": "CUDA kernels compiled at run time.",
    "mxnet.library": "Operators, passes and partitioners from libraries of your own.",
    "mxnet.profiler": "What takes the time.",
    "mxnet.explain": "What the compiler made of a graph.",
    "mxnet.memory": "What takes the memory.",
    "mxnet.engine": "How operators are bundled.",
    "mxnet.env": "The environment variables in effect.",
    "mxnet.util": "Settings of the process, and the NumPy mode.",
    "mxnet.runtime": "What the library was built with.",
    "mxnet.visualization": "Drawings and tables of networks.",
    "mxnet.attribute": "Attributes of symbols.",
    "mxnet.name": "Names of symbols.",
    "mxnet.log": "Loggers with colours.",
    "mxnet.contrib.text": "Vocabularies and embeddings.",
    "mxnet.contrib.amp": "Mixed precision.",
    "mxnet.contrib.tensorboard": "Metrics for TensorBoard.",
    "mxnet.contrib.svrg_optimization": "Stochastic variance-reduced gradients.",
    "mxnet.test_utils": "Comparison of arrays, numeric gradients.",
}
# Modules whose operators are found by dir() and are not all in __all__.
OPERATORS = ("mxnet.ndarray", "mxnet.symbol")
EXAMPLE = re.compile(r"^\s*>>> ", re.MULTILINE)


class Name(NamedTuple):
    """A public name and what it stands for."""

    module: str
    name: str
    value: object

    @property
    def is_class(self):
        """Whether it is a class, and not a function."""
        return inspect.isclass(self.value)

    @property
    def docstring(self):
        """The docstring, "" where there is none."""
        return inspect.cleandoc(self.value.__doc__) if isinstance(self.value.__doc__, str) else ""

    @property
    def has_example(self):
        """Whether the docstring has an example that runs; of a class, that of `__init__` counts
        too."""
        texts = [self.docstring]
        if self.is_class:
            texts.append(getattr(vars(self.value).get("__init__"), "__doc__", None) or "")
        return any(map(EXAMPLE.search, texts))


def _candidates(module):
    """Public names that a module offers, with their values."""
    listed = getattr(module, "__all__", None)
    names = dir(module) if listed is None or module.__name__ in OPERATORS else listed
    for name in sorted(n for n in names if not n.startswith("_")):
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError):
            continue
        if inspect.isclass(value) or (callable(value) and hasattr(value, "__name__")):
            yield name, value


def _at_home(module, name, value):
    """Whether a module is where `value` is written, or collected from private modules below it."""
    source = getattr(value, "__module__", None) or ""
    if name != value.__name__ or not source.startswith("mxnet"):
        return False
    return source == module or source.startswith(module + ".")


def public_names():
    """A list of every public function and class, each under one module: the first of the table
    that is its home, or else the first that offers it."""
    homes, offered = {}, {}
    modules = {}
    for path in MODULES:
        try:
            modules[path] = importlib.import_module(path)
        except ImportError:         # a package of others that is not installed
            continue
    for path in sorted(modules, key=lambda p: -p.count(".")):     # the innermost home wins
        for name, value in _candidates(modules[path]):
            if _at_home(path, name, value):
                homes.setdefault(id(value), Name(path, name, value))
    for path, module in modules.items():
        for name, value in _candidates(module):
            if (getattr(value, "__module__", None) or "").startswith("mxnet") and id(value) not in homes:
                offered.setdefault(id(value), Name(path, name, value))
    order = list(MODULES)
    found = [*homes.values(), *offered.values()]
    return sorted(found, key=lambda n: (order.index(n.module), n.name.lower(), n.name))


def methods(cls):
    """(name, function or property) of the public methods that a class defines, or a private base of
    it that no public base has."""
    elsewhere = {base for public in cls.__mro__[1:] if not public.__name__.startswith("_") for base in public.__mro__}
    found = {}
    for base in reversed(cls.__mro__):
        if base in elsewhere:
            continue
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if not name.startswith("_") and (inspect.isroutine(plain) or isinstance(plain, property)):
                found[name] = plain
    return sorted(found.items())


def methods_without_example(entry):
    """Names of the described methods of a class that no example in it calls or defines, be it
    their own, that of the class or of another method. What runs in a call of a block (`forward`)
    needs none."""
    made = getattr(vars(entry.value).get("__init__"), "__doc__", None) or ""
    described = {name: value.__doc__ for name, value in methods(entry.value) if isinstance(value.__doc__, str)}
    texts = [entry.docstring, made, *described.values()]
    shown = "\n".join(line for text in texts for line in text.split("\n") if line.strip().startswith((">>>", "...")))
    return [name for name, text in described.items() if name not in ("forward", "hybrid_forward")
            and not EXAMPLE.search(text) and not re.search(rf"(?:\.|def ){name}\b", shown)]
