"""tools/gpu_check.sh where there is no GPU, and with a GPU that is only pretended: what it says,
and how it ends."""
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

import mxnet as mx

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUNDLE = os.path.join(ROOT, "tools", "gpu_bundle.sh")
CHECK = os.path.join(ROOT, "tools", "gpu_check.sh")
pytestmark = pytest.mark.skipif(mx.num_gpus() > 0, reason="a GPU is here")


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return path


def check(tmp_path, *arguments):
    """With a pretended GPU; (exit code, what was printed, files of the out folder)"""
    program(tmp_path / "bin" / "nvidia-smi", 'if [[ $1 == -L ]]; then echo "GPU 0: pretended"; else echo "pretended, 1, 2 MiB"; fi')
    env = dict(os.environ, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    done = subprocess.run(["bash", CHECK, "--out", str(tmp_path / "out"), *arguments], env=env, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr, sorted(os.listdir(tmp_path / "out")) if (tmp_path / "out").exists() else []


@pytest.fixture
def library(tmp_path):
    """A library that needs nothing that is missing, with test programs beside it of which one
    fails."""
    folder = tmp_path / "build"
    for name, text in (("gpu_run", "echo ran; echo fine"), ("engine", "echo broken; exit 3")):
        program(folder / "tests" / f"{name}_test", text)
    shutil.copy(shutil.which("true"), folder / "libmxnet.so")
    return str(folder / "libmxnet.so")


def test_without_a_gpu(tmp_path):
    env = dict(os.environ, PATH="/usr/bin:/bin")
    for require, code in ((["--require"], 1), ([], 0)):
        done = subprocess.run(["bash", CHECK, "--out", str(tmp_path), *require], env=env, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (code, "gpu_check: no GPU here; nothing was run\n") and not os.listdir(tmp_path)


@pytest.mark.parametrize("arguments,told", [(["--only", "all"], "accepted: tests, bench, sanitizer"), (["--fast"], "accepted: --library"),
                                            (["--library", "/a", "--bundle", "/b"], "exclude each other")])
def test_bad_options(tmp_path, arguments, told):
    code, text, _ = check(tmp_path, *arguments)
    assert code == 2 and told in text


def test_a_python_without_numpy_leaves_the_cpp_parts(tmp_path, library):
    bare = program(tmp_path / "bare", "exit 1")
    code, text, files = check(tmp_path, "--library", library, "--python", str(bare))
    assert (code == 1 and "has no numpy; Python tests and benchmarks are left out" in text
            and "operators, runtime: not run, no pytest" in text and "bench: not run" in text)
    assert "gpu_run_test: passed" in text and "gpu_run_test.log" in files and "summary.txt" in files
    code, text, _ = check(tmp_path, "--library", library, "--python", "no-such-python")
    assert code == 1 and "no no-such-python here" in text


def test_steps_that_fail_hang_or_do_not_fit(tmp_path, library):
    bare = program(tmp_path / "bare", "exit 1")
    assert ("engine_test: FAILED with 3 (see engine_test.log): "
            "broken" in check(tmp_path, "--library", library, "--python", str(bare), "--only",
                              "tests")[1])
    program(tmp_path / "build" / "tests" / "storage_test", "exec sleep 100")   # before engine's
    code, text, files = check(tmp_path, "--library", library, "--python", str(bare), "--only", "tests", "--limit", "12", "--pack")
    assert code == 1 and "storage_test: stopped after" in text and "engine_test: not run, no time left" in text
    assert files == ["logs.tar.gz", "summary.txt"]
    with tarfile.open(tmp_path / "out" / "logs.tar.gz") as logs:
        assert "./storage_test.log" in logs.getnames()


def test_the_sanitizer_watches_the_program_for_devices(tmp_path, library):
    bare = program(tmp_path / "bare", "exit 1")
    program(tmp_path / "bin" / "compute-sanitizer", 'echo "$@" >>"$0.calls"; [[ $2 != initcheck ]]')
    code, text, _ = check(tmp_path, "--library", library, "--python", str(bare), "--only", "sanitizer")
    calls = (tmp_path / "bin" / "compute-sanitizer.calls").read_text().splitlines()
    assert [c.split()[1] for c in calls] == ["memcheck", "racecheck", "synccheck",
                                             "initcheck"] and all(c.endswith("/tests/gpu_run_test") for c in calls)
    assert code == 1 and "sanitizer_memcheck: passed" in text and "sanitizer_initcheck: FAILED with 1" in text


def test_a_bundle_brings_library_and_tests(tmp_path, library):
    folder = tmp_path / "packed"
    program(folder / "tests" / "gpu_run_test", 'echo "$LD_LIBRARY_PATH"')
    (folder / "lib").mkdir()
    shutil.copy(library, folder / "lib" / "libmxnet.so")
    (folder / "commit").write_text("0123abc\n")
    with tarfile.open(tmp_path / "bundle.tar.xz", "w:xz") as bundle:
        bundle.add(folder, ".")
    bare = program(tmp_path / "bare", "exit 1")
    _, text, _ = check(tmp_path, "--bundle", str(tmp_path / "bundle.tar.xz"), "--python", str(bare), "--only", "tests")
    assert "gpu_run_test: passed" in text and "0123abc" in text
    path = (tmp_path / "out" / "gpu_run_test.log").read_text()
    assert path.split(":")[0].strip().endswith("/lib") and not os.path.exists(path.split(":")[0].strip())   # unpacked, and gone again


@pytest.mark.nightly
def test_a_bundle_imports_with_its_binding_and_nothing_of_this_tree(tmp_path):
    library = os.environ.get("MXNET_LIBRARY_PATH") or mx.libinfo.find_lib_path()[0]
    bundle = tmp_path / "bundle.tar.xz"
    subprocess.run(["bash", BUNDLE, "--build", os.path.dirname(library), "--tests", "", "--out", str(bundle),
                    "--binding-for", sys.executable], check=True, capture_output=True, timeout=1200)
    with tarfile.open(bundle) as packed:
        packed.extractall(tmp_path / "at", filter="data")
    code = ("import mxnet as mx; print(mx.__version__, mx.nd._internal.NDArrayBase.__module__, "
            "mx.nd.ones(2).asnumpy().sum()); print(mx.__file__)")
    env = {"PATH": "/usr/bin:/bin", "MXNET_LIBRARY_PATH": str(tmp_path / "at" / "lib" / "libmxnet.so"),
           "LD_LIBRARY_PATH": os.pathsep.join([str(tmp_path / "at" / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]),
           "PYTHONPATH": str(tmp_path / "at" / "python")}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:3] == [mx.__version__, "mxnet._cy3.ndarray", "2.0"]
    assert done.stdout.splitlines()[1].startswith(str(tmp_path))
