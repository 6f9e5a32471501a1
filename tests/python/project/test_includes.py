"""The order of modules that docs/architecture.md draws, and the program that checks it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools" / "check_includes.py"

PAGE = """# Architecture

```
c_api -> operator -> engine
engine, io -> base
include/mxnet-cpp (front end) -> c_api
```

| module | what it owns | contract |
|---|---|---|
| `src/base` | shapes | `base.h` |
| `src/engine` | order | `engine.h` |
| `src/operator` | records | `op.h` |
"""


def run(root):
    done = subprocess.run(
        [sys.executable, str(TOOL), "--root", str(root)], capture_output=True, text=True
    )
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def tree(tmp_path):
    """Writes a small tree: {file: included paths}."""

    def write(files):
        files = {"include/mxnet/base.h": [], "include/mxnet/op.h": [], **files}
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "architecture.md").write_text(PAGE)
        for name, includes in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f'// text\n#include "{i}"\n' for i in includes))
        return tmp_path

    return write


def test_every_include_follows_the_drawing():
    status, errors = run(ROOT)
    assert (status, errors) == (0, [])


def test_what_follows_the_drawing_passes(tree):
    root = tree(
        {
            "src/engine/a.cc": ["mxnet/base.h", "engine/b.h"],
            "src/engine/b.h": [],
            "src/operator/nn/a.h": ["engine/b.h", "operator/matrix/b.h"],
            "src/operator/matrix/b.h": ["mxnet/base.h"],
            "src/c_api/a.cc": ["mxnet/base.h", "mxnet/op.h"],
        }
    )
    assert run(root) == (0, [])


@pytest.mark.parametrize(
    "file, included, said",
    [
        ("src/engine/a.cc", "mxnet/op.h", "engine includes include/mxnet/op.h of operator"),
        ("src/base/a.h", "engine/b.h", "base includes src/engine/b.h of engine"),
        ("src/io/a.cc", "engine/b.h", "io includes src/engine/b.h of engine"),
        ("src/graph/a.cc", "engine/b.h", "has no module graph"),
        ("src/c_api/a.cc", "engine/none.h", '"engine/none.h" does not exist'),
        ("include/mxnet-cpp/a.h", "engine/none.h", '"engine/none.h" does not exist'),
        ("tests/cpp/a.cc", "engine/none.h", '"engine/none.h" does not exist'),
    ],
)
def test_another_way_is_named_with_its_line(tree, file, included, said):
    root = tree({"src/engine/b.h": [], file: ["mxnet/base.h", included]})
    status, errors = run(root)
    assert status == 1
    assert len({e.split(":")[0] for e in errors}) == 1
    assert errors[-1].startswith(f"{file}:4: ")
    assert said in errors[-1]


def test_of_a_circle_of_folders_the_rarest_arrow_is_named(tree):
    root = tree(
        {
            "src/operator/nn/dense/a.h": ["operator/matrix/b.h"],
            "src/operator/nn/conv/c.h": ["operator/matrix/b.h"],
            "src/operator/matrix/b.h": ["mxnet/base.h", "operator/nn/conv/c.h"],
        }
    )
    status, errors = run(root)
    assert status == 1
    assert {e.split(" ")[0] for e in errors} == {"src/operator/matrix/b.h:4:"}


def test_a_header_that_no_module_owns_is_named(tree):
    status, errors = run(tree({"include/mxnet/new.h": []}))
    assert status == 1
    assert errors == [
        "include/mxnet/new.h:1: no row of the table in docs/architecture.md names this header"
    ]
