"""The modules of the package stand one above the other: no module imports one that needs it,
directly or through others."""
import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "python" / "mxnet"


def modules_below(folder):
    """{dotted name: (file, whether it is a package's __init__)}."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        found[".".join(parts[:-1] if is_package else parts)] = path, is_package
    return found


def imported_names(node, module, is_package):
    """Dotted names, the longest first, that an import statement may load; the modules among them
    are what it needs."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield [alias.name]
    if isinstance(node, ast.ImportFrom):
        home = node.module or ""
        if node.level:
            above = module.split(".")[:None if is_package else -1]
            above = above[:len(above) - node.level + 1]
            home = ".".join(above + ([node.module] if node.module else []))
        for alias in node.names:
            yield [f"{home}.{alias.name}", home]


def imports(modules):
    """{module: {imported module: line}}, with the imports inside functions: a circle is one
    wherever it is closed."""
    graph = {}
    for module, (path, is_package) in modules.items():
        needs = graph[module] = {}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for names in imported_names(node, module, is_package):
                target = next((name for name in names if name in modules), None)
                if target and target != module:
                    needs.setdefault(target, node.lineno)
    return graph


def circles(graph):
    """One circle, as a list of modules that ends where it begins, for each group of modules that
    need each other."""
    found, done = [], set()

    def visit(module, path):
        if module in path:
            found.append(path[path.index(module):] + [module])
            done.update(path)
        elif module not in done:
            for target in graph[module]:
                visit(target, path + [module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])
    return found


def described(circle, graph, modules):
    """The circle with file and line of each import."""
    return "\n".join(f"{modules[one][0]}:{graph[one][other]}: {one} imports {other}"
                     for one, other in zip(circle, circle[1:]))


def test_no_module_imports_one_that_needs_it():
    modules = modules_below(PACKAGE)
    graph = imports(modules)
    assert len(graph) > 150 and sum(map(len, graph.values())) > 500     # the files were read
    assert not [described(circle, graph, modules) for circle in circles(graph)]


@pytest.mark.parametrize("first, second, line", [
    ("from . import second", "from .first import x", 1),
    ("import package.second", "import package.first", 1),
    ("x = 1\ndef f():\n    from .second import y", "from . import first", 3),
    ("from .second import *", "from .third import *", 1)])
def test_circles_are_found_with_file_and_line(tmp_path, first, second, line):
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import first\n")
    for name, text in (("first", first), ("second", second), ("third", "from .first import *"), ("alone", "import os")):
        (folder / f"{name}.py").write_text(text)
    modules = modules_below(folder)
    graph = imports(modules)
    text = "\n".join(described(circle, graph, modules) for circle in circles(graph))
    assert f"{folder / 'first.py'}:{line}: package.first imports package.second" in text
    assert "alone" not in text and "__init__" not in text


def test_operators_of_python_stand_in_one_list():
    """The operator behind `x + 1`: whoever needs it asks mxnet._operators.methods, the
    compiled binding too."""
    folders = (PACKAGE, PACKAGE.parent / "src")
    files = [p for folder in folders for p in folder.rglob("*") if p.suffix in (".py", ".cc", ".h")]
    assert [p.name for p in files if re.search(r"_r?(plus|minus)_scalar", p.read_text())] == []
    assert [p.name for p in files if '"plus"' in p.read_text()] == ["methods.py"]
