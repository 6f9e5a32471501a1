"""The commands that pages print run as they are printed, in a folder that looks like a checkout
after `./dev build`, and in the shell that `./dev shell` starts."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("MXNET_LIBRARY_PATH", "")).resolve().parent
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
PAGES = [*sorted(TREE.glob("docs/**/*.md")), *(TREE / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]

# Commands that this test does not run, and why. What is not here runs.
ELSEWHERE = {
    r"\./dev (setup|build|test|fuzz|format|lint|wheel|bench)\b": "builds or tests the tree, and takes minutes",
    r"cmake --(preset|install) |ctest ": "configures, builds or installs the tree itself",
    r"apt-get|mmdebstrap|mount |update-binfmts|hooks=|packages=": "needs root, and changes the system",
    r"pip install ": "needs the network",
    r"-H hosts": "needs several machines",
    r"tools/launch\.py|mxnet\.tools\.launch": "needs MPI: test_tutorials.py runs a job",
    r"bandwidth/measure\.py": "takes minutes: test_bandwidth.py runs it",
    r"KERNELS_OUT|gpu_kernels\.py|gpu_bundle\.sh|gpu_check\.sh|host_gpu": "needs the CUDA build",
    r"gdb ": "needs a debugger",
    r"same_numbers\.py|clean_root\.sh": "needs wheels: test_wheel.py",
    r"resnet50\.py": "takes minutes",
}
PROGRAM = """
import mxnet as mx
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
net.initialize()
net.hybridize()
print(net(mx.nd.ones((2, 3))).asnumpy().shape)
"""


def commands(text):
    """Lines without comments, those that a backslash continues joined."""
    for line in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if line:
            yield line


def left_out(command):
    return any(re.search(pattern, command) for pattern in ELSEWHERE)


def scripts():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            lines = [command for command in commands(found.group(1)) if not left_out(command)]
            if lines:
                yield pytest.param(page, lines, id=f"{page.name}-{text.count(chr(10), 0, found.start()) + 1}")
        for command in re.findall(r"`((?:\./dev )?python -m mxnet[^`]*)`", text):
            if left_out(command):
                continue
            yield pytest.param(page, [command.replace("\n", " ")], id=f"{page.name}-{command[-24:]}")


@pytest.fixture
def checkout(tmp_path):
    """A folder with the names of the tree, and a build folder that commands may write into."""
    for name in TREE.iterdir():
        if name.name not in ("build", ".git"):
            (tmp_path / name.name).symlink_to(name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "release").symlink_to(BUILD)
    for name in ("train.py", "script.py"):
        (tmp_path / name).write_text(PROGRAM)
    return tmp_path


def shell(checkout, lines):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MXNET_LIBRARY_PATH")}
    environment["DEV_VENV"] = os.environ.get("DEV_VENV") or sys.prefix
    environment["SOURCE"] = str(TREE / "tests" / "python" / "libraries" / "operators.cc")
    script = checkout / "commands.sh"
    script.write_text("set -eu\n" + "\n".join(lines) + "\n")
    return subprocess.run(["./dev", "shell", "bash", "commands.sh"], cwd=checkout, env=environment, capture_output=True,
                          text=True, timeout=300)


def files_of(page, folder):
    """The programs and files that stand on a page, under the names that its commands use."""
    text = page.read_text(encoding="utf-8")
    for language, body in re.findall(r"^```(python|cpp|cmake)\n(.*?)^```$", text, re.M | re.S):
        named = re.match(r"(?://|#) (\w+\.\w+)\n", body)
        name = named.group(1) if named else {"cmake": "CMakeLists.txt"}.get(language)
        if name and not (folder / name).is_symlink():
            (folder / name).write_text(body)


@pytest.mark.cpu
@pytest.mark.skipif(not (BUILD / "cmake_install.cmake").exists() or not shutil.which("cmake") or not shutil.which("c++"),
                    reason="needs the library's build folder, CMake and a C++ compiler")
@pytest.mark.parametrize("page, lines", list(scripts()))
def test_commands_run(page, lines, checkout):
    if page.name == "deploy_cpp.md":
        for name in ("CMakeLists.txt", "build/release"):
            (checkout / name).unlink()
        (checkout / "build" / "release").symlink_to(BUILD)
    files_of(page, checkout)
    if page.name in ("deploy_cpp.md", "onnx.md"):        # its first block exports the network that its last command reads
        program = re.search(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S).group(1)
        (checkout / "save.py").write_text(program)
        lines = ["python save.py", *lines]
    done = shell(checkout, lines)
    assert done.returncode == 0, f"{page}: {lines}\n{done.stdout}{done.stderr}"
    if page.name == "deploy_cpp.md" and "build/classify" in lines:
        said = re.search(r"python:( .*)\n(?:.*\n)*c\+\+:( .*)", done.stdout)
        first, second = (list(map(float, words.split())) for words in said.groups())
        assert len(first) == 3 and first == pytest.approx(second, abs=2e-4)


def test_each_reason_is_needed():
    every = [command for page in PAGES for found in BLOCK.finditer(page.read_text(encoding="utf-8"))
             for command in commands(found.group(1))]
    assert len(every) > 60
    for pattern in ELSEWHERE:
        assert any(re.search(pattern, command) for command in every), f"no page prints {pattern} any more"


def test_a_checkout_without_a_library_says_so(tmp_path):
    """`python -m mxnet.cmake` where nothing was built ends with a sentence, and no traceback."""
    package = tmp_path / "python" / "mxnet"
    shutil.copytree(TREE / "python" / "mxnet", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    program = ("import importlib.util, sys\nsys.path.insert(0, sys.argv[1])\nimport types\n"
               "package = types.ModuleType('mxnet'); package.__path__ = [sys.argv[1] + '/mxnet']; sys.modules['mxnet'] = package\n"
               "import mxnet.cmake\nmxnet.cmake.prefix()")
    environment = {name: value for name, value in os.environ.items() if name != "MXNET_LIBRARY_PATH"}
    (tmp_path / "include" / "mxnet").mkdir(parents=True)
    shutil.copy(TREE / "include" / "mxnet" / "base.h", tmp_path / "include" / "mxnet" / "base.h")
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "python")], env=environment, capture_output=True, text=True)
    assert "FileNotFoundError: [cmake]" in done.stderr and "without a library" in done.stderr and "./dev build" in done.stderr


def test_setup_brings_what_tutorials_and_examples_install():
    import tomllib
    brought = {re.match(r"[\w-]+", name).group(0)
               for name in tomllib.loads((TREE / "pyproject.toml").read_text())["dependency-groups"]["dev"]}
    for page in ("docs/tutorials/index.md", "examples/README.md"):
        packages = re.search(r"`pip install ([\w -]+)`", (TREE / page).read_text(encoding="utf-8")).group(1).split()
        assert set(packages) <= brought, page
