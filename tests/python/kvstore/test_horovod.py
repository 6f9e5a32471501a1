"""Horovod, compiled unchanged against this library's headers, trains as one process does."""
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = Path(mx.libinfo.find_lib_path()[0]).resolve()
PROGRAM = Path(__file__).parent / "horovod_program.py"
TOOLS = ("cmake", "c++", "mpicxx", "mpirun")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"),
    pytest.mark.skipif(not (LIBRARY.parent / "cmake_install.cmake").exists(), reason="needs the library's build folder"),
]


def package(folder):
    """The package as a wheel lays it out: with its headers and library inside."""
    (folder / "mxnet" / "lib").mkdir(parents=True)
    for entry in (ROOT / "python" / "mxnet").iterdir():
        (folder / "mxnet" / entry.name).symlink_to(entry)
    subprocess.run(["cmake", "--install", LIBRARY.parent, "--prefix", folder / "prefix"], check=True, capture_output=True)
    (folder / "mxnet" / "include").symlink_to(folder / "prefix" / "include")
    (folder / "mxnet" / "lib" / LIBRARY.name).symlink_to(LIBRARY)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables for programs of a Python that has Horovod."""
    folder = tmp_path_factory.mktemp("horovod")
    package(folder)
    env = {name: value for name, value in os.environ.items() if name != "MXNET_LIBRARY_PATH"}
    env["PYTHONPATH"] = os.pathsep.join([str(folder), str(folder / "tools"), *site.getsitepackages()])
    env.update(HOROVOD_WITH_MXNET="1", HOROVOD_WITHOUT_TENSORFLOW="1", HOROVOD_WITHOUT_PYTORCH="1", HOROVOD_WITH_MPI="1",
               HOROVOD_WITHOUT_GLOO="1", MAKEFLAGS=f"-j{os.cpu_count()}", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_rmaps_base_oversubscribe="1")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder / "tools"]
    for what in (["setuptools<70", "wheel", "packaging", "pyyaml", "psutil", "cloudpickle"],
                 ["--no-deps", "--no-build-isolation", "--no-binary", "horovod", "horovod==0.28.1"]):
        done = subprocess.run([*pip, *what], capture_output=True, text=True, env=env)
        if done.returncode and "No matching distribution" in done.stderr:
            pytest.skip("PyPI cannot be reached")
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    yield env
    shutil.rmtree(folder)


def run(env, *args, processes=2):
    done = subprocess.run(["mpirun", "-np", str(processes), sys.executable, PROGRAM, *map(str, args)], env=env, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_collective_functions(environment):
    run(environment, "calls")


@pytest.mark.parametrize("kind", ["gluon", "gluon hybrid adam", "gluon group", "gluon fp16", "module"])
def test_two_processes_train_as_one(environment, kind, tmp_path):
    run(environment, "plain", kind, tmp_path / "one.npz", processes=1)
    run(environment, "horovod", kind, tmp_path / "two.npz")
    one, two = (np.load(tmp_path / name) for name in ("one.npz", "two.npz"))
    for name in one.files:
        np.testing.assert_allclose(two[name], one[name], rtol=0, atol=2e-3 if "fp16" in kind else 1e-5)
