"""tools/wheel: wheels and what they say. The whole build, and what a new user does with it, are
tests of the night."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import numpy as np
import pytest

import mxnet as mx
from mxnet import doctor
from mxnet._startup import packages as _packages

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
TOOLS = os.path.join(ROOT, "tools", "wheel")

pytestmark = pytest.mark.skipif(not os.path.isdir(TOOLS), reason="an installed package, without the checkout")

METADATA = """Metadata-Version: 2.4
Name: mxnet
Version: 1.2.3
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Dist: numpy>=1.23
Requires-Dist: onednn-cpu-gomp==1; platform_machine == 'x86_64'
Requires-Dist: other; extra == 'more'
"""


@pytest.fixture
def pack(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import pack
    return pack


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "mxnet-1.2.3-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {"mxnet/b.py": "b = 1\n", "mxnet/a.py": "a = 1\n", "mxnet-1.2.3.dist-info/METADATA": METADATA,
                           "mxnet-1.2.3.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-linux_x86_64\n"}.items():
            archive.writestr(name, text)
    return str(path)


def test_equal_bytes(pack, wheel, tmp_path, monkeypatch):
    """Whatever the order and the times of the files were, and RECORD names each."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    written = []
    for turn in range(2):
        contents = pack._Contents(wheel)
        if turn:
            contents.files = dict(reversed(contents.files.items()))
        contents.write(str(tmp_path / f"{turn}.whl"))
        written.append((tmp_path / f"{turn}.whl").read_bytes())
    assert written[0] == written[1]
    with zipfile.ZipFile(tmp_path / "0.whl") as archive:
        assert archive.namelist()[:2] == ["mxnet/a.py", "mxnet/b.py"] and archive.infolist()[0].date_time == (2023, 11, 14, 22, 13, 20)
        rows = archive.read("mxnet-1.2.3.dist-info/RECORD").decode().splitlines()
    assert len(rows) == 5 and rows[-1] == "mxnet-1.2.3.dist-info/RECORD,," and rows[2].startswith("mxnet/a.py,sha256=")


def test_requirements(pack):
    assert [name for name, _ in pack._requirements(METADATA, "x86_64")] == ["numpy", "onednn-cpu-gomp"]
    assert pack._requirements(METADATA, "aarch64") == [("numpy", ">=1.23")]


def test_a_wheel_for_gpus(pack, wheel):
    """Another name, NVIDIA's packages, and NCCL for who asks."""
    contents = pack._Contents(wheel)
    pack.rename(contents, pack.CUDA_NAME, pack.CUDA_PACKAGES)
    metadata = contents.text("METADATA")
    assert contents.info == "mxnet_cu13-1.2.3.dist-info" and "\nName: mxnet-cu13\n" in metadata
    needed = dict(pack._requirements(metadata, "x86_64"))
    assert {"nvidia-cuda-runtime", "nvidia-cublas", "nvidia-cuda-nvrtc", "nvidia-cudnn-cu13", "numpy"} <= needed.keys()
    assert "nvidia-nccl-cu13" not in needed and "\nProvides-Extra: nccl\n" in metadata


def test_list_of_parts(pack, monkeypatch):
    monkeypatch.setattr(pack, "_text_of", lambda command: "12.2.0")
    document = json.loads(pack._spdx("mxnet", "1.2.3", "x86_64", [("numpy", ">=1.23")], "commit abc"))
    assert document["packages"][0]["sourceInfo"] == "commit abc" and document["packages"][0]["downloadLocation"] == "NOASSERTION"
    for_gpus = json.loads(pack._spdx(pack.CUDA_NAME, "1.2.3", "x86_64", []))
    assert for_gpus["packages"][0]["name"] == "mxnet-cu13" and for_gpus["documentNamespace"] != document["documentNamespace"]
    names = {package["name"]: package for package in document["packages"]}
    assert {"mxnet", "highway", "libjpeg-turbo", "dmlc-core", "libgomp", "libstdc++", "pybind11", "numpy"} <= names.keys()
    identities = [package["SPDXID"] for package in document["packages"]]
    assert len(set(identities)) == len(identities) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name) for name in identities)
    assert {row["relatedSpdxElement"] for row in document["relationships"]} == set(identities)


def test_sources(pack, tmp_path):
    """The list is CMake's; a file with another checksum is refused."""
    import sysroot
    import third_party
    assert [row[:2] for row in third_party.rows()] == [("highway", "1.0.3"), ("dmlc-core", "0.5"), ("protozero", "1.8.1"),
                                                          ("libjpeg-turbo", "2.1.5")]
    (tmp_path / "a.tar.gz").write_bytes(b"other")
    with pytest.raises(SystemExit, match="SHA-256"):
        sysroot.fetch("http://localhost/a.tar.gz", hashlib.sha256(b"this").hexdigest(), str(tmp_path))


def test_changes_that_no_commit_has(monkeypatch, tmp_path, capsys):
    """A wheel or a source distribution of them warns, and says so inside."""
    monkeypatch.syspath_prepend(TOOLS)
    import build
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    (tmp_path / "a.txt").write_text("1\n")
    for words in (["init", "-q", "-b", "main"], ["add", "a.txt"], ["commit", "-q", "-m", "A"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(build, "ROOT", str(tmp_path))
    monkeypatch.setattr(build, "build_sdist", lambda out: "made")
    monkeypatch.setattr(build.os, "environ", dict(os.environ))
    monkeypatch.setattr(sys, "argv", ["build.py", "--sdist", "--out", str(tmp_path.parent / "dist")])
    monkeypatch.chdir(tmp_path)
    build.main()
    assert capsys.readouterr() == ("wheel: made\n", "")
    commit = build.source_state()[0]
    assert build.source_note() == "commit " + commit
    (tmp_path / "a.txt").write_text("2\n")
    (tmp_path / "b.txt").write_text("new\n")
    build.main()
    said = capsys.readouterr().err
    assert said.startswith("wheel: warning: 2 files of this checkout have changes that no commit has")
    assert build.source_note() == f"commit {commit}, and 2 files with changes that it has not"


def test_headers_of_pythons(monkeypatch, tmp_path):
    """Given ones first, then this machine's, then Debian's, with the configuration in its place."""
    monkeypatch.syspath_prepend(TOOLS)
    import headers
    asked = []

    def unpack(apt, package, folder):
        asked.append(package)
        version = package.removeprefix("libpython").removesuffix("-dev")
        if version != "3.14":
            return False
        for name in (f"python{version}/Python.h", f"{os.uname().machine}-linux-gnu/python{version}/pyconfig.h"):
            path = os.path.join(folder, "usr", "include", name)
            os.makedirs(os.path.dirname(path))
            open(path, "w").close()
        return True

    monkeypatch.setattr(headers._Apt, "unpack", unpack)
    monkeypatch.setattr(headers, "_installed", lambda versions: {"3.11": "/here", "3.12": "/here"})
    monkeypatch.setattr(headers.shutil, "which", lambda name: name)
    found = headers.find(["3.12=/given"], ("3.11", "3.12", "3.13", "3.14"), str(tmp_path))
    assert found.keys() == {"3.11", "3.12", "3.14"} and found["3.11"] == "/here" and found["3.12"] == "/given"
    assert asked == ["libpython3.13-dev", "libpython3.14-dev"]
    assert {"Python.h", "pyconfig.h"} <= set(os.listdir(found["3.14"]))


def test_headers_of_this_python(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import headers
    version = "%d.%d" % sys.version_info[:2]
    for name, folder in headers._installed((version,)).items():
        assert name == version and os.path.exists(os.path.join(folder, "Python.h"))


def test_numbers_of_two_machines(monkeypatch, tmp_path, capsys):
    """Equal files and models pass; a number, an infinity or a model that differs is named."""
    monkeypatch.syspath_prepend(TOOLS)
    import same_numbers
    one, other = (str(tmp_path / folder / "numbers.npz") for folder in ("one", "other"))
    for path in (one, other):
        os.mkdir(os.path.dirname(path))
        same_numbers.write(path)
    assert same_numbers.compare(one, other) == 0
    changed = dict(np.load(other))
    changed["exp float32"][3] *= 1.001
    changed["long sort int32"][0] -= 1
    changed["tan float64"][0] = np.inf
    np.savez(other, **changed)
    parameters = mx.nd.load(str(tmp_path / "other" / "numbers-0000.params"))
    mx.nd.save(str(tmp_path / "other" / "numbers-0000.params"), {name: value * 1.01 for name, value in parameters.items()})
    capsys.readouterr()
    assert same_numbers.compare(one, other) == 4
    said = capsys.readouterr().out
    assert all(name in said for name in ("exp float32", "long sort int32", "tan float64", "the model of " + other))


def installed(folder, library, source):
    """A package with a library, as pip would install it."""
    info = folder / "brought-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1\n")
    (info / "RECORD").write_text(f"brought/{library},,\n")
    (folder / "brought").mkdir()
    shutil.copy(source, folder / "brought" / library)


def test_libraries_of_other_packages(tmp_path, monkeypatch):
    """One that the loader misses is opened where its package has it, which is on sys.path."""
    source = next(row["path"] for row in doctor.libraries() if row["name"] == "libgomp")
    installed(tmp_path, "libmxtestpart.so.1", source)
    monkeypatch.setitem(_packages.REQUIREMENTS, "libmxtestpart.so", "brought")
    message = "libmxtestpart.so.1: cannot open shared object file: No such file or directory"
    assert not _packages.open_missing(message)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert _packages.open_missing(message)
    with open("/proc/self/maps") as maps:
        assert "libmxtestpart.so.1" in maps.read()
    assert not _packages.open_missing("libunknown.so.1: cannot open") and not _packages.open_missing("libdnnl.so.999: cannot open")
    for library in ("libdnnl.so.3", "libscipy_openblas.so", "libcudart.so.13", "libcublasLt.so.13", "libnvrtc.so.13", "libcudnn.so.9"):
        assert _packages.requirement_of(library)


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("ninja"), reason="needs CMake and Ninja")
def test_headers_of_python_that_are_missing(tmp_path):
    """`pip install .` says which package has them before it compiles anything."""
    done = subprocess.run(["cmake", "-S", ROOT, "-B", str(tmp_path), "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}",
                           "-DPython_INCLUDE_DIR=/nowhere"], capture_output=True, text=True)
    said = " ".join(done.stderr.split())
    assert done.returncode and "were not found. Install python3-dev (Debian, Ubuntu)" in said and "MXNET_BUILD_PYTHON=OFF" in said


@pytest.mark.nightly
def test_build_install_and_use(tmp_path):
    """Two builds are equal; auditwheel accepts it (tools/wheel/build.py asks); a new environment
    with nothing else trains, decodes and serves."""
    for tool in ("ninja", "cmake", "dpkg-deb", "readelf", "nasm"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    out, version = [tmp_path / "one", tmp_path / "two"], "%d.%d" % sys.version_info[:2]
    for folder in out:
        subprocess.run([sys.executable, os.path.join(TOOLS, "build.py"), "--out", str(folder), "--pythons", version], check=True)
    (first,), (second,) = (list(folder.iterdir()) for folder in out)
    assert first.name == f"mxnet-{mx.__version__}-py3-none-manylinux_2_28_x86_64.whl" and first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
    assert sum("_cy3/ndarray.cpython-" in name for name in names) == 1 and "mxnet/lib/libgomp.so.1" in names
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = str(environment / "bin" / "python")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MXNET_", "PYTHON", "LD_"))}
    subprocess.run([python, "-m", "pip", "install", "-q", str(first)], check=True, env=clean)
    used = subprocess.run([python, os.path.join(TOOLS, "new_user.py")], cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert used.returncode == 0 and "RuntimeWarning" not in used.stderr, used.stdout + used.stderr
    assert "reads and writes JPEG files alone" in used.stdout       # a PNG file, without OpenCV
    link_with(python, tmp_path / "program", clean)


def link_with(python, folder, environment):
    """The C++ program that calls every function, found in the wheel by CMake, and by pkg-config."""
    source = os.path.join(ROOT, "tests", "cpp", "installed")
    prefix = subprocess.run([python, "-m", "mxnet.cmake"], check=True, capture_output=True, text=True, env=environment).stdout.strip()
    subprocess.run(["cmake", "-S", source, "-B", str(folder), f"-DCMAKE_PREFIX_PATH={prefix}"], check=True, env=environment)
    subprocess.run(["cmake", "--build", str(folder)], check=True, env=environment)
    programs = [folder / "every_function"]
    if shutil.which("pkg-config"):
        said = subprocess.run(["pkg-config", "--cflags", "--libs", "mxnet"], check=True, capture_output=True, text=True,
                              env={**environment, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}).stdout.split()
        programs.append(folder / "by_pkg_config")
        subprocess.run(["c++", "-std=c++17", os.path.join(source, "every_function.cc"), "-o", str(programs[1]), *said,
                        "-pthread"], check=True, env=environment)
    for program in programs:
        done = subprocess.run([str(program), str(folder)], capture_output=True, text=True, env=environment)
        assert done.stdout == "called\n", done.stdout + done.stderr
