"""Pages and stubs in the repository are what ./dev docs writes from the library of this tree."""
import os
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_committed_pages_are_current():
    result = (subprocess.run([sys.executable, os.path.join(TREE, "tools", "generate_docs.py"),
                              "--check"], capture_output=True, text=True, timeout=120))
    assert result.returncode == 0, result.stderr


def test_stubs_are_python():
    for kind in ("ndarray", "symbol"):
        with open(os.path.join(TREE, "python", "mxnet", kind, "op.pyi"), encoding="utf-8") as f:
            compile(f.read(), f.name, "exec")
