"""python -m mxnet.doctor, commands whose readers have enough, late changes of the environment, and
the fallback to ctypes."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mxnet as mx
from mxnet import doctor
from mxnet._machine import report as _machine


def run(*arguments, code=None, **variables):
    command = ["-c", code] if code else arguments
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True, timeout=120)


def test_report():
    done = run("-m", "mxnet.doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == int(any(row["needed"] for row in found["missing"])) and not done.stderr
    names = {row["name"] for row in found["libraries"]}
    assert names >= {"libdnnl", "libgomp", "libc"} and names & {"libopenblas", "libscipy_openblas"}     # the second in a wheel
    for row in found["libraries"]:
        assert os.path.exists(row["path"]) and row["version"][0].isdigit(), row
    assert found["processor"]["usable"] == len(os.sched_getaffinity(0))
    assert found["processor"]["level"].startswith(("x86-64-v", "aarch64"))
    assert os.path.samefile(found["library"]["path"], doctor.libinfo.find_lib_path()[0])
    text = run("-m", "mxnet.doctor").stdout
    assert f"numpy {found['python']['numpy']}" in text and "\nmissing:" in text


def test_instructions():
    """What the processor has, what is used, and why that is less."""
    found = json.loads(run("-m", "mxnet.doctor", "--json", ONEDNN_MAX_CPU_ISA="").stdout)["instructions"]
    core = os.environ.get("OPENBLAS_CORETYPE")      # machines may have it
    of_blas = [f"OPENBLAS_CORETYPE={core}"] if core and "OpenBLAS" in found else []
    others = [why for why in found.get("less because of", []) if why not in of_blas]
    assert found["processor"] and found["library"] and all("this build" in why for why in others)
    if found["library"] == "AVX-512 AMX":
        assert "AMX" in found["processor"]
        words = [json.loads(run("-m", "mxnet.doctor", "--json", ONEDNN_MAX_CPU_ISA=word).stdout)["instructions"]["library"]
                 for word in ("AVX512_CORE_BF16", "AVX512_CORE_VNNI", "AVX512_CORE_AMX")]
        assert words == ["AVX-512 BF16", "AVX-512", "AVX-512 AMX"]
    if found["library"].startswith("AVX-512"):
        limited = json.loads(run("-m", "mxnet.doctor", "--json", ONEDNN_MAX_CPU_ISA="AVX2").stdout)["instructions"]
        assert limited["processor"] == found["processor"] and limited["library"] == "AVX2"
        assert limited["less because of"] == ["ONEDNN_MAX_CPU_ISA=AVX2", *of_blas] and limited.get("oneDNN", "AVX2") == "AVX2"
        text = run("-m", "mxnet.doctor", ONEDNN_MAX_CPU_ISA="AVX2").stdout
        line = next(line for line in text.splitlines() if line.startswith("instructions: "))
        assert "library AVX2" in line and "less because of ONEDNN_MAX_CPU_ISA=AVX2" in line


def test_instructions_of_a_build_for_one_level():
    levels = {"has": "AVX-512", "uses": "AVX2", "built": ["AVX2"], "bfloat16": False, "amx": False, "limited": False}
    found = _machine.instructions(levels, {})
    assert found["library"] == "AVX2" and found["less because of"] == ["this build has kernels for AVX2 alone"]


def test_without_a_library(tmp_path):
    """What the loader says, where it comes from, and the exit status 1."""
    library = tmp_path / "libmxnet.so"
    library.write_text("no library")
    done = run("-m", "mxnet.doctor", "--json", MXNET_LIBRARY_PATH=str(library))
    found = json.loads(done.stdout)
    assert done.returncode == 1 and str(library) in found["missing"][0]["what"] and found["missing"][0]["needed"]
    missing = run("-m", "mxnet.doctor", MXNET_LIBRARY_PATH=str(tmp_path / "none.so"))
    assert missing.returncode == 1 and "none.so" in missing.stdout
    assert run(code="import mxnet", MXNET_LIBRARY_PATH=str(library)).stderr.splitlines()[-1].startswith("OSError: [libinfo]")


def test_a_value_that_is_not_accepted():
    done = run("-m", "mxnet.doctor", MXNET_ENGINE_TYPE="bad")
    assert done.returncode == 1 and "MXNET_ENGINE_TYPE='bad'; accepted" in done.stdout and not done.stderr
    assert "one of these values" in done.stdout


@pytest.mark.parametrize("message, source", [
    ("libopenblas.so.0: cannot open shared object file", "apt install libopenblas0"),
    ("libcudnn.so.9: cannot open", "pip install nvidia-cudnn-cu13, or cuDNN 9"),
    ("libdnnl.so.3: cannot open", "pip install onednn-cpu-gomp=="),
    ("libscipy_openblas.so: cannot open", "pip install scipy-openblas32"),
    ("/lib/libc.so.6: version `GLIBC_2.38' not found", "newer distribution"), ("libunknown.so.1: cannot open", "")])
def test_advice(message, source):
    assert source in doctor.advice(message) and bool(source) == bool(doctor.advice(message))


def test_quota(tmp_path):
    """The least of all groups on the way; version 1 and 2 of control groups."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "a" / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "a" / "b" / "cpu.max").write_text("400000 100000\n")
    assert doctor.quota("0::/a/b\n", tmp_path) == 1.5 and doctor.quota("0::/\n", tmp_path) is None
    old = tmp_path / "cpu,cpuacct" / "c"
    old.mkdir(parents=True)
    (old / "cpu.cfs_quota_us").write_text("50000\n")
    (old / "cpu.cfs_period_us").write_text("100000\n")
    assert doctor.quota("3:cpu,cpuacct:/c\n2:memory:/a\n", tmp_path) == 0.5
    assert doctor.quota("nonsense\n", tmp_path) is None and doctor.quota("", tmp_path) is None


@pytest.mark.parametrize("module", ["mxnet.env", "mxnet.doctor"])
def test_a_reader_that_has_enough(module):
    """`python -m mxnet.env | head -1` prints no traceback, wherever the pipe breaks."""
    script = f"{sys.executable} -u -m {module} | head -c 1; echo ${{PIPESTATUS[0]}}; {sys.executable} -m {module} | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stderr == "" and done.stdout[1:].strip() in ("0", "1"), done


LATE = """
import os, warnings
import mxnet as mx
def lines(): return len(caught)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    os.environ["MXNET_CPU_WORKER_NTHREADS"] = "7"
    os.environ["MXNET_NO_SUCH_VARIABLE"] = "7"
    os.environ["MXNET_HOME"] = "/nowhere"
    net = mx.gluon.nn.Dense(3, in_units=2)
    assert lines() == 0
    net.hybridize()
    assert lines() == 1 and caught[0].filename == "<string>", caught
    assert "MXNET_CPU_WORKER_NTHREADS was set to '7'" in str(caught[0].message) and "set_env" in str(caught[0].message)
    net.hybridize()
    assert lines() == 1
    mx.util.set_env("MXNET_SAFE_ACCUMULATION", 0)
    os.environ["MXNET_SAFE_ACCUMULATION"] = "0"
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    assert lines() == 1 and mx.util.getenv("MXNET_SAFE_ACCUMULATION") == "0"
    os.environ["MXNET_EXEC_ENABLE_INPLACE"] = "0"
    (mx.sym.var("a") * 2).simple_bind(mx.cpu(), a=(2,))
    assert lines() == 2
    del os.environ["MXNET_EXEC_ENABLE_INPLACE"]
    del os.environ["MXNET_CPU_WORKER_NTHREADS"]
    mx.gluon.Trainer(net.collect_params(), "sgd")
    assert lines() == 2, caught
os.environ["MXNET_ENGINE_TYPE"] = "NaiveEngine"
"""


def test_late_changes_of_the_environment():
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MXNET_") or name == "MXNET_LIBRARY_PATH"}
    done = subprocess.run([sys.executable, "-c", LATE], env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("UserWarning") == 1 and "MXNET_ENGINE_TYPE" in done.stderr      # at exit
    early = subprocess.run([sys.executable, "-c", "import mxnet"], env={**clean, "MXNET_ENGINE_TYPE": "NaiveEngine"},
                           capture_output=True, text=True)
    assert early.stderr == ""


def test_late_changes_at_exit_name_the_line(tmp_path):
    script = tmp_path / "late.py"
    script.write_text("import os\nimport mxnet\nos.environ['MXNET_ENGINE_TYPE'] = 'NaiveEngine'\n")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MXNET_") or name == "MXNET_LIBRARY_PATH"}
    done = subprocess.run([sys.executable, script], env=clean, capture_output=True, text=True)
    assert f"{script}:3: UserWarning" in done.stderr
    assert "os.environ['MXNET_ENGINE_TYPE'] = 'NaiveEngine'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("info, machine, name", [
    ("processor\t: 0\nmodel name\t: Intel Xeon\nflags\t\t: fpu\n", "x86_64", "Intel Xeon"),
    ("processor\t: 0\nmodel name\t: Intel Xeon\nflags\t\t: fpu\n", "aarch64", "emulated on Intel Xeon"),
    ("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "aarch64", "implementer 0x41, part 0xd0c")])
def test_the_processor_is_named(info, machine, name):
    """Under qemu /proc/cpuinfo is the host's."""
    assert _machine._model(info, machine) == name


def test_levels_are_those_of_x86_alone():
    info = f"flags\t\t: fpu {' '.join(flag for _, needed in _machine._LEVELS for flag in needed)}\n"
    assert _machine._level(info, "x86_64") == "x86-64-v4" and _machine._level("flags\t\t: fpu avx2\n", "x86_64") == "x86_64"
    assert _machine._level(info, "aarch64") == "aarch64"


FALLBACK = """
import sys, warnings
sys.modules["mxnet._cy3.ndarray"] = None         # as where it was not built
import mxnet as mx
print(mx.nd.ones((2,)).sum().asscalar())
"""


def test_ctypes_says_that_it_is_slow():
    done = run(code=FALLBACK, MXNET_ENABLE_CYTHON="1")
    assert done.stdout == "2.0\n" and done.stderr.count("RuntimeWarning") == 1 and "14 µs" in done.stderr
    chosen = run(code=FALLBACK, MXNET_ENABLE_CYTHON="0")
    assert chosen.stdout == "2.0\n" and chosen.stderr == ""


@pytest.mark.skipif("_cy3" not in mx._binding._backend.__name__, reason="about the compiled binding")
@pytest.mark.parametrize("changed, reason", [
    (None, ""),
    ("python/src/binding.h", "was compiled from other sources than those in python/src; ./dev build compiles it again"),
    ("include/mxnet/base.h", f"belongs to {mx.__version__}, and the package is 9.9.9; ./dev build compiles it again")])
def test_a_binding_of_other_sources_is_not_used(tmp_path, changed, reason):
    """A tree with the package and the binding of this one, and with changed sources."""
    tree = Path(mx.__file__).parents[2]
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "mxnet").symlink_to(tree / "python" / "mxnet")
    for folder in ("python/src", "include"):
        shutil.copytree(tree / folder, tmp_path / folder)
    if changed:
        text = (tmp_path / changed).read_text()
        (tmp_path / changed).write_text(text.replace(f'"{mx.__version__}"', '"9.9.9"') + "// another\n")
    code = "import mxnet as mx; print(mx._binding._backend.__name__, mx.nd.ones((2,)).sum().asscalar())"
    tried = {"PYTHONPATH": str(tmp_path / "python"), "MXNET_ENABLE_CYTHON": "1"}
    done = run(code=code, **tried)
    assert done.stdout == f"mxnet.{'_ctypes' if changed else '_cy3'}.ndarray 2.0\n"
    assert done.stderr.count("RuntimeWarning") == bool(changed) and reason in done.stderr
    enforced = run(code=code, MXNET_ENFORCE_CYTHON="1", **tried)
    assert ("ImportError: [binding]" in enforced.stderr and reason in enforced.stderr) == bool(changed)
