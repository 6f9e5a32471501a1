"""Tutorials of several parts: the C++ program of docs/tutorials/deploy_cpp.md prints what the
Python program printed, and the job of docs/tutorials/distributed.md trains with two workers."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[3]
TUTORIALS = TREE / "docs" / "tutorials"
LIBRARY = Path(os.environ.get("MXNET_LIBRARY_PATH", TREE / "build" / "release" / "libmxnet.so")).resolve()


def block(page, language):
    """The first block of a language on a page."""
    return re.search(rf"^```{language}\n(.*?)^```$", (TUTORIALS / page).read_text(encoding="utf-8"), re.M | re.S).group(1)


def run(command, folder, **more):
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.cpu
@pytest.mark.skipif(not shutil.which("c++") or not LIBRARY.exists(), reason="needs a C++ compiler and the library's file")
def test_cpp_program_gives_the_same_numbers(tmp_path):
    (tmp_path / "save.py").write_text(block("deploy_cpp.md", "python"))
    (tmp_path / "classify.cc").write_text(block("deploy_cpp.md", "cpp"))
    python = run([sys.executable, "save.py"], tmp_path)
    run(["c++", "-std=c++11", "-Wall", "-Werror", "classify.cc", "-o", "classify", "-I", TREE / "include",
         LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-Wl,--allow-shlib-undefined"], tmp_path)
    answer = run(["./classify"], tmp_path)
    assert answer.startswith("c++: ") and python.startswith("python: ")
    numbers = [[float(word) for word in text.split()[1:]] for text in (answer, python)]
    assert len(numbers[0]) == 3 and numbers[0] == pytest.approx(numbers[1], abs=2e-4)


@pytest.mark.nightly
@pytest.mark.cpu
@pytest.mark.parametrize("servers", [1, 0])
def test_two_workers_train(tmp_path, servers):
    sys.path.insert(0, str(TREE / "tests" / "python" / "kvstore"))
    import test_kvstore_dist
    if not test_kvstore_dist._has_jobs():
        pytest.skip("no MPI here")
    (tmp_path / "train.py").write_text(block("distributed.md", "python"))
    out = run([sys.executable, TREE / "tools" / "launch.py", "-n", 2, "-s", servers, sys.executable, "train.py",
               "--kv-store", "dist_sync"], tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert "worker 0 of 2" in out and "worker 1 of 2" in out
