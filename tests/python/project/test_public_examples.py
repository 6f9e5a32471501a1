"""Examples in the docstrings of public names run and give what stands there, and the numbers of
names and of methods without one can only fall.

    ./dev python tests/python/project/test_public_examples.py              prints the numbers
    ./dev python tests/python/project/test_public_examples.py --write      makes them the limits
    ./dev python tests/python/project/test_public_examples.py --run MODULE      runs the module's examples
"""
import collections
import doctest
import inspect
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import pytest

import mxnet as mx
from mxnet._operators import functions as _op_functions

TREE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "tools" / "website"))
import public_names  # noqa: E402

LIMITS = Path(__file__).parents[1] / "data" / "names_without_example.json"
# test_numpy_docstrings.py runs the examples of their functions.
ELSEWHERE = ("mxnet.numpy", "mxnet.numpy_extension")
# What they do lasts until the process ends.
CHANGES_THE_PROCESS = ("mxnet.contrib.amp", "mxnet.library")
NAMES = public_names.public_names()


def is_operator(entry):
    """Whether the docstring is made from a record; test_examples.py runs those."""
    space = entry.module.rpartition(".")[2]
    names = (entry.name, f"_{space}_{entry.name}", f"_{entry.name}")
    return entry.module.startswith(public_names.OPERATORS) and any(name in OPERATOR_NAMES for name in names)


OPERATOR_NAMES = set(_op_functions.op_names())
TRIED = collections.defaultdict(list)
for _entry in NAMES:
    if (_entry.is_class or not _entry.module.startswith(ELSEWHERE)) and not is_operator(_entry):
        TRIED[_entry.module].append(_entry)


def examples(entry):
    """(name, docstring) of a name and its methods that have an example."""
    found = [(entry.name, entry.value.__doc__)]
    if inspect.isclass(entry.value):
        found += [(f"{entry.name}.{name}", value.__doc__) for name, value in public_names.methods(entry.value)]
        made = vars(entry.value).get("__init__")
        found += [(f"{entry.name}.__init__", made.__doc__)] if inspect.isfunction(made) else []
    return [(name, text) for name, text in found if isinstance(text, str) and public_names.EXAMPLE.search(text)]


def failures(module):
    """What doctest says of a module's examples that fail."""
    home = vars(sys.modules[module])
    failed = []
    for entry in TRIED[module]:
        for name, text in examples(entry):
            mx.random.seed(1)
            numpy.random.seed(1)
            random.seed(1)
            names = {**home, "mx": mx, "collections": collections, "numpy": numpy, "__name__": "__main__"}
            test = doctest.DocTestParser().get_doctest(text, names, f"{module}.{name}", None, 0)
            said = []
            flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            if doctest.DocTestRunner(optionflags=flags).run(test, out=said.append).failed:
                failed.append("".join(said))
            mx.profiler.set_config(filename="profile.json", aggregate_stats=False)
    return "\n".join(failed)


@pytest.mark.cpu
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", [m for m, names in TRIED.items() if any(map(examples, names))])
def test_examples_of_a_module(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if module in CHANGES_THE_PROCESS:
        if module == "mxnet.library" and shutil.which("g++") is None:
            pytest.skip("no g++")
        done = subprocess.run([sys.executable, __file__, "--run", module], stdout=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stdout
    else:
        said = failures(module)
        assert not said, said


def without_example():
    """{"names" or "methods": {module: those without an example}}."""
    found = {"names": collections.defaultdict(list), "methods": collections.defaultdict(list)}
    for entry in NAMES:
        if not entry.has_example:
            found["names"][entry.module].append(entry.name)
        if entry.is_class:
            found["methods"][entry.module] += [f"{entry.name}.{name}" for name in public_names.methods_without_example(entry)]
    return {kind: {module: names for module, names in of_kind.items() if names} for kind, of_kind in found.items()}


@pytest.mark.parametrize("kind", ["names", "methods"])
def test_fewer_and_fewer_have_no_example(kind):
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))[kind]
    more = {module: names for module, names in without_example()[kind].items() if len(names) > limits.get(module, 0)}
    assert not more, f"{kind} without an example, of modules that have more of them than {LIMITS.name} says: {more}"


def test_every_name_has_a_docstring():
    assert not [f"{entry.module}.{entry.name}" for entry in NAMES if not entry.docstring]


if __name__ == "__main__":
    if "--run" in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = failures(sys.argv[-1])
        print(text)
        sys.exit(bool(text))
    functions = [entry for entry in NAMES if not entry.is_class]
    classes = [entry for entry in NAMES if entry.is_class]
    methods = [value for entry in classes for _, value in public_names.methods(entry.value)]
    for kind, found in (("functions", functions), ("classes", classes)):
        print(f"{len(found)} {kind}, {sum(entry.has_example for entry in found)} with an example")
    print(f"{len(methods)} methods, {sum(bool(public_names.EXAMPLE.search(m.__doc__ or '')) for m in methods)} with an example")
    counts = {kind: {module: len(names) for module, names in found.items()} for kind, found in without_example().items()}
    if "--write" in sys.argv:
        LIMITS.write_text(json.dumps(counts, indent=1) + os.linesep, encoding="utf-8")
    for kind, of_kind in counts.items():
        print(f"without an example: {sum(of_kind.values())} {kind}")
        for name, number in of_kind.items():
            print(f"{number:5} in {name}")
