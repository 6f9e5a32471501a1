"""Pages and stubs in the repository are what ./dev docs writes from the library of this tree."""
import os
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def test_committed_pages_are_current():
    result = (subprocess.run([sys.executable, os.path.join(TREE, "tools", "generate_docs.py"),
                              "--check"], capture_output=True, text=True, timeout=400))
    assert result.returncode == 0, result.stderr


def test_stubs_are_python():
    for kind in ("ndarray", "symbol"):
        for name in ("op", "contrib", "linalg", "image"):
            with open(os.path.join(TREE, "python", "mxnet", kind, name + ".pyi"), encoding="utf-8") as f:
                compile(f.read(), f.name, "exec")


def test_stubs_type_each_parameter():
    with open(os.path.join(TREE, "python", "mxnet", "ndarray", "op.pyi"), encoding="utf-8") as f:
        stub = f.read()
    activation = next(line for line in stub.split("\n") if line.startswith("def Activation("))
    assert 'act_type: Literal["log_sigmoid", "mish", "relu", "sigmoid", "softrelu", "softsign", "tanh"' in activation
    assert "Any = ..." not in stub
