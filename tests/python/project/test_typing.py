"""The stubs: mistakes in a program are found, and what the stubs declare is there. Programs that
pass are in typed_programs."""
import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "tests" / "python" / "typed_programs").glob("*.py"))

WRONG = """
import mxnet as mx
from mxnet import gluon, nd

x = nd.ones((2, 3))
x.sotfmax()
nd.Dence
gluon.nn.Dense(3).wieght
y: int = x[0] + 1
nd.softmax(x, axis="a")
mx.sym.var("a").list_argumnts()
trainer = gluon.Trainer({}, "sgd")
trainer.stepp(1)
z: nd.NDArray = gluon.nn.Dense(2)(mx.sym.var("a"))
mx.metric.Accuracy().updaet([x], [x])
gluon.nn.Dense(3).collect_params()["weight"].daat()
gluon.nn.Dense(3).params.get("weight").shpae
gluon.nn.Dense(3).weight.data().asnmpy()
score: int = mx.metric.Accuracy().get()[1]
mx.io.NDArrayIter(x).next().dta
gluon.nn.Dense(3).initialize(devcie=mx.cpu())
loss: int = gluon.loss.L2Loss()(x, x)
text: str = mx.util.use_np(len)("abc")
mx.operator.register("a")(mx.operator.CustomOpProp)().infer_shapes
mx.optimizer.Optimizer.register(mx.optimizer.SGD)().updaet
"""


def mypy(folder, *arguments):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={folder}/cache", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT / "python")})


OPERATORS = """
import mxnet as mx
from mxnet import nd, sym

x, s = nd.ones((1, 1, 5, 5)), sym.var("x")
nd.Convolution(x, x, x, (3, 3), (1, 1), num_filter=4, no_bias=True)
nd.Convolution(x, x, None, (3, 3), (1, 1), (1, 1), (0, 0), 4)
sym.FullyConnected(num_hidden=3, lr_mult=2, name="a", attr={"__wd_mult__": "0"})
nd.Custom(x, op_type="mine", anything=3)
nd.concat(x, x, dim=1, num_args=2)
nd.split(x, 5, 2)
nd.contrib.box_nms(nd.ones((1, 6)), overlap_thresh=0.5)
mx.np.array_api.sum(mx.np.ones((2, 3)), axis=0)
nd.Convolution(x, x, kernal=(3, 3), num_filter=4)
nd.Convolution(x, x, kernel=(3, 3))
nd.relu()
nd.broadcast_add(x)
nd.FullyConnected(x, x)
sym.FullyConnected(s)
sym.softmax(s, axsi=1)
sym.Pooling(s, kernel="a")
nd.contrib.box_nms(x, overlap=0.5)
nd.concat(x, x, dimension=1)
nd.linalg.gemm2(x, x, transposea=True)
"""


@pytest.mark.parametrize("strict", [True, False])
def test_arguments_of_operators_are_checked(tmp_path, strict):
    """Wrong, misspelt and missing arguments are found, right ones pass, and the stubs themselves
    have no errors, for a checker that reads them through MYPYPATH with options of its own."""
    script = tmp_path / "operators.py"
    script.write_text(OPERATORS)
    done = mypy(tmp_path, script, *([] if strict else ["--no-strict-equality", "--allow-any-generics"]))
    lines = [line for line in done.stdout.splitlines() if "error:" in line]
    assert all(line.startswith(str(script)) for line in lines), done.stdout
    written = OPERATORS.split("\n")
    first = written.index("nd.Convolution(x, x, kernal=(3, 3), num_filter=4)") + 1
    assert sorted({int(line.split(":")[1]) for line in lines}) == list(range(first, len(written))), done.stdout + done.stderr


def test_operators_have_docstrings_in_the_stubs():
    for module in ("ndarray", "symbol"):
        body = ast.parse((ROOT / "python" / "mxnet" / module / "op.pyi").read_text()).body
        functions = [node for node in body if isinstance(node, ast.FunctionDef)]
        described = {node.name for node in functions if ast.get_docstring(node)}
        assert len(described) > 250 and described == {node.name for node in functions}
        convolution = next(node for node in functions if node.name == "Convolution")
        assert "num_filter: Number of output channels." in ast.get_docstring(convolution)


@pytest.mark.nightly     # ./dev lint checks the scripts
def test_mistakes_are_found(tmp_path):
    """Every line below the first array is wrong, and no other."""
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    done = mypy(tmp_path, script, *SCRIPTS)
    lines = sorted({int(line.split(":")[1]) for line in done.stdout.splitlines() if "error:" in line})
    start = WRONG.split("\n").index("x.sotfmax()") + 1
    expected = [number for number in range(start, len(WRONG.split("\n"))) if "trainer = " not in WRONG.split("\n")[number - 1]]
    assert lines == expected, done.stdout + done.stderr
    assert all(str(script) in line for line in done.stdout.splitlines() if "error:" in line)


def test_what_the_stubs_declare_is_there():
    """The package says that it has types; every name of a stub is a name of its module."""
    package = ROOT / "python" / "mxnet"
    assert (package / "py.typed").exists()
    wrong, count = [], 0
    for stub in sorted(package.rglob("*.pyi")):
        name = ".".join(stub.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        if name.startswith(("mxnet.numpy", "mxnet._typing")):     # whose named results are classes of the stub alone
            continue
        module = importlib.import_module(name)
        for node in ast.parse(stub.read_text()).body:
            targets = ([node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else
                       [node.target.id] if isinstance(node, ast.AnnAssign) else
                       [alias.asname for alias in node.names if alias.asname] if isinstance(node, ast.ImportFrom) else [])
            for target in targets:
                count += 1
                if not target.startswith("_") and not hasattr(module, target):
                    wrong.append(f"{name}.{target}")
    assert count > 1500 and not wrong


def declared(stub):
    """Names of a stub, those that it has of `from .op import *` among them."""
    found = set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.asname for alias in node.names if alias.asname)
            if node.names[0].name == "*":
                found |= declared(stub.parent / f"{node.module}.pyi")
    return found


OFFERED = """
import importlib, inspect, json, sys
offered = {}
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    values = {member: getattr(module, member, None) for member in dir(module) if not member.startswith("_")}
    offered[name] = [member for member, value in values.items() if (isinstance(value, type) or inspect.isroutine(value))
                     and str(getattr(value, "__module__", None)).startswith("mxnet")]
print(json.dumps(offered))
"""


def test_functions_and_classes_that_are_there_are_declared():
    """In a process of its own: other tests have asked modules for names that come late."""
    package = ROOT / "python" / "mxnet"
    stubs = {".".join(stub.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): stub
             for stub in sorted(package.rglob("*.pyi"))}
    names = [name for name in stubs if name != "mxnet._typing" and not name.endswith(".op")]
    offered = json.loads(subprocess.check_output([sys.executable, "-W", "ignore", "-c", OFFERED, *names], text=True))
    known = {name: declared(stubs[name]) for name in names}
    missing = [f"{name}.{member}" for name in names for member in offered[name]
               if member not in known[name] and not member.startswith("backward_")]
    assert sum(map(len, offered.values())) > 1500 and not missing


def test_what_programs_define_has_no_names_of_arguments():
    """Programs give the arguments of their initializers, optimizers and operators names of their
    own; pyright accepts that where the base's are positional alone."""
    package = ROOT / "python" / "mxnet"
    for file, methods in {"initializer.pyi": "Initializer._init_weight Initializer._init_bias Initializer._init_default",
                          "operator.pyi": "CustomOpProp.infer_shape CustomOpProp.infer_type CustomOpProp.declare_backward_dependency",
                          "optimizer/__init__.pyi": "Optimizer.create_state Optimizer.update SGD.update"}.items():
        classes = {node.name: node for node in ast.parse((package / file).read_text()).body if isinstance(node, ast.ClassDef)}
        for method in methods.split():
            cls, name = method.split(".")
            function, = (node for node in classes[cls].body if isinstance(node, ast.FunctionDef) and node.name == name)
            assert len(function.args.posonlyargs) > 1 and not function.args.args, method
