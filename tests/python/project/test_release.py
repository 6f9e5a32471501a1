"""tools/release.py: what it asks before a release; and the one home of the version."""
import ctypes
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import types
import zipfile

import pytest

import mxnet as mx
from mxnet.base import _LIB, check_call

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCRIPT = os.path.join(ROOT, "tools", "release.py")

pytestmark = pytest.mark.skipif(not os.path.exists(SCRIPT), reason="an installed package, without the checkout")


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_version(release):
    """Header, package and library say the same."""
    number = ctypes.c_int()
    check_call(_LIB.MXGetVersion(ctypes.byref(number)))
    major, minor, patch = map(int, mx.__version__.split("."))
    assert mx.__version__ == release.version() and number.value == major * 10000 + minor * 100 + patch
    with open(os.path.join(ROOT, "python", "mxnet", "libinfo.py"), encoding="utf-8") as file:
        assert not re.search(r'"\d+\.\d+\.\d+"', file.read())


def test_deprecations(release, monkeypatch):
    assert list(release.check_deprecations()) == [] and len(list(release.deprecations())) > 4
    rows = {"docs": "| `save_parameters` | `x` | 2026-01-01 | 2026-06-01 |\n"}
    monkeypatch.setattr(release, "_text", lambda *path: rows["docs"])
    found = list(release.check_deprecations())
    assert any("getLogger" in line for line in found) and any("dump_profile" in line for line in found)
    assert any("less than a year" in line for line in found) and not any("the newest version" in line for line in found)
    rows["docs"] += "## [7.8.9] - 2025-12-31\n"       # read as the change log, too
    assert any("since 2026-01-01, after the newest version" in line for line in release.check_deprecations())


def test_the_change_log(release, monkeypatch):
    texts = {"CHANGELOG.md": "## [Unreleased]\n\n### Added\n\n- A.\n", "base.h": '#define MXNET_VERSION_STRING "7.8.9"\n'}
    monkeypatch.setattr(release, "_text", lambda *path: texts[path[-1]])
    found = list(release.check_version())
    assert any("[7.8.9] - YYYY-MM-DD" in line for line in found) and any("[Unreleased] has entries" in line for line in found)
    texts["CHANGELOG.md"] = "## [Unreleased]\n\n## [7.8.9] - 2026-12-01\n\n### Added\n\n- A.\n"
    assert not [line for line in release.check_version() if "CHANGELOG" in line]


def write_wheel(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def test_a_wheel(release, tmp_path, monkeypatch):
    """A library without a part, a licence and bindings that are not there, another version."""
    path, info = str(tmp_path / "mxnet-0-py3-none-any.whl"), "mxnet-0.dist-info"
    files = {f"{info}/METADATA": "Name: mxnet\nVersion: 0.0.0\nLicense-File: LICENSE\n", "mxnet/lib/libgomp.so.1": "",
             "mxnet/lib/libmxnet.so": "", **{f"mxnet/_cy3/ndarray.cpython-{n}-x86_64-linux-gnu.so": "" for n in (311, 312, 313)}}
    write_wheel(path, files)
    found = list(release.wheel_findings(path))
    for line, says in zip(found, ("not the version", "no compiled binding for Python 3.14", "no LICENSE", "no list of parts"), strict=True):
        assert says in line
    files["mxnet/_cy3/ndarray.cpython-314-x86_64-linux-gnu.so"] = ""
    parts = {"packages": [{"name": "mxnet", "licenseConcluded": "Apache-2.0", "sourceInfo": release.build.source_note()}]}
    files.update({f"{info}/METADATA": f"Name: mxnet\nVersion: {release.version()}\nLicense-File: LICENSE\n", f"{info}/licenses/LICENSE": "",
                  f"{info}/sboms/mxnet.spdx.json": json.dumps(parts)})
    write_wheel(path, files)
    assert [line.partition(": ")[2] for line in release.wheel_findings(path)] == ["libgomp.so.1 is in no list of parts"]
    parts["packages"].append({"name": "libgomp", "licenseConcluded": "GPL-3.0-or-later WITH GCC-exception-3.1"})
    files["mxnet/lib/libhwy_contrib.so.1"] = ""
    write_wheel(path, {**files, f"{info}/sboms/mxnet.spdx.json": json.dumps(parts)})
    assert [line.partition(": ")[2] for line in release.wheel_findings(path)] == ["libhwy_contrib.so.1 is in no list of parts"]
    parts["packages"].append({"name": "highway", "licenseConcluded": "Apache-2.0"})
    write_wheel(path, {**files, f"{info}/sboms/mxnet.spdx.json": json.dumps(parts)})
    assert list(release.wheel_findings(path)) == []
    monkeypatch.setattr(release.build, "source_state", lambda: ["1" * 40, "main", "0", "3"])
    del parts["packages"][0]["sourceInfo"]
    for made_from in ("nothing that it names", "commit " + "1" * 40):
        write_wheel(path, {**files, f"{info}/sboms/mxnet.spdx.json": json.dumps(parts)})
        said, = release.wheel_findings(path)
        assert said.endswith(f"made from {made_from}; the checkout is commit {'1' * 40}, and 3 files with changes that it has not")
        parts["packages"][0]["sourceInfo"] = "commit " + "1" * 40


def test_a_source_distribution(release, tmp_path, monkeypatch):
    """One of another commit, and one without the sources that PyPI has not."""
    path, state = str(tmp_path / "mxnet-1.2.3.tar.gz"), ["1" * 40, "main", "1700000000", "0"]
    monkeypatch.setattr(release.build, "source_state", lambda: state)

    def write(commit, names):
        with tarfile.open(path, "w:gz") as archive:
            for name, text in {"commit.txt": "\n".join(commit) + "\n", **dict.fromkeys(names, "")}.items():
                entry = tarfile.TarInfo("mxnet-1.2.3/third_party/" + name)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
    sources = [url.rpartition("/")[2] for url, _ in release.build.third_party.archives()]
    write(state, sources)
    assert list(release.sdist_findings(path)) == []
    write(["2" * 40, *state[1:3]], sources[1:])
    missing, other = release.sdist_findings(path)
    assert missing == f"mxnet-1.2.3.tar.gz: no third_party/{sources[0]}"
    assert other == f"mxnet-1.2.3.tar.gz: made from commit {'2' * 40}; the checkout is commit {'1' * 40}"
    write([*state[:3], "4"], sources)
    assert "and 4 files with changes" in next(release.sdist_findings(path))


def test_bare_roots(release, tmp_path, monkeypatch):
    """Each release is tried with the wheel of this machine, then the wheel for Arm under qemu, then
    their numbers are compared; a root that fails is a finding."""
    name = f"mxnet-1.2.3-py3-none-manylinux_2_28_{os.uname().machine}.whl"
    monkeypatch.setattr(release, "ROOT", str(tmp_path))
    monkeypatch.setattr(release, "version", lambda: "1.2.3")
    monkeypatch.setattr(release.os, "geteuid", lambda: 0)
    monkeypatch.setattr(release.shutil, "which", lambda program: program)
    monkeypatch.setattr(release, "arm_lacks", lambda: "no qemu")
    assert list(release.check_roots()) == ["dist/ has no wheel to try; ./dev wheel makes one"]
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / name).write_bytes(b"")
    (tmp_path / "tools" / "wheel").mkdir(parents=True)
    script, log = tmp_path / "tools" / "wheel" / "clean_root.sh", tmp_path / "log"
    script.write_text(f'#!/bin/sh\necho "$ARCH$@" >>{log}; [ "$1" != trixie ]\n')
    script.chmod(0o755)
    wheel = str(tmp_path / "dist" / name)
    failed = f"tools/wheel/clean_root.sh trixie {wheel} failed with exit status 1"
    assert list(release.check_roots()) == ["the wheel for 64-bit Arm cannot be tried: no qemu", failed]
    assert log.read_text() == f"bookworm {wheel}\ntrixie {wheel}\nnoble {wheel}\n"
    monkeypatch.setattr(release, "arm_lacks", lambda: "")
    monkeypatch.setattr(release.os, "uname", lambda: types.SimpleNamespace(machine="x86_64"))
    arm = tmp_path / "dist" / "mxnet-1.2.3-py3-none-manylinux_2_28_aarch64.whl"
    arm.write_bytes(b"")
    (tmp_path / "dist" / name).rename(tmp_path / "dist" / arm.name.replace("aarch64", "x86_64"))
    assert [line.split()[1] for line in release.check_roots()] == ["trixie", "trixie"]
    assert log.read_text().endswith(f"arm64trixie {arm}\n")
    script.write_text("#!/bin/sh\n")
    (tmp_path / "dev").write_text("#!/bin/sh\nexit 2\n")
    (tmp_path / "dev").chmod(0o755)
    assert list(release.check_roots()) == ["./dev build failed with exit status 2"]
    (tmp_path / "dev").write_text('#!/bin/sh\n[ "$1" = build ] || exit 3\n')
    for suite, said in zip(("trixie", "noble", "trixie-arm64"), release.check_roots(), strict=True):
        assert f"compare build/roots/bookworm/try/numbers.npz build/roots/{suite}/try/numbers.npz failed with exit status 3" in said
    monkeypatch.setattr(release.os, "geteuid", lambda: 1000)
    assert list(release.check_roots()) == ["only root can make roots, with Debian's mmdebstrap"]


def test_all_tests(release, tmp_path, monkeypatch, capsys):
    """The two halves run at the same time, after one build; each may fail."""
    monkeypatch.setattr(release, "ROOT", str(tmp_path))
    (tmp_path / "dev").write_text(f"""#!/bin/bash
half() {{ touch {tmp_path}/$1; for i in $(seq 100); do [ -e {tmp_path}/$2 ] && exit $3; sleep 0.1; done; exit 9; }}
case "$*" in "build --tests") exit 0 ;; test) half day night 0 ;; "test --nightly=only") echo slept badly; half night day 3 ;; esac
""")
    (tmp_path / "dev").chmod(0o755)
    assert list(release.check_tests()) == ["./dev test --nightly=only failed with exit status 3"]
    assert "slept badly" in capsys.readouterr().out
    (tmp_path / "dev").write_text("#!/bin/sh\nexit 2\n")
    assert list(release.check_tests()) == ["./dev build --tests failed with exit status 2"]


def test_wheels_that_are_missing(release, tmp_path, monkeypatch):
    (tmp_path / "dist").mkdir()
    monkeypatch.setattr(release, "ROOT", str(tmp_path))
    monkeypatch.setattr(release, "version", lambda: "1.2.3")
    (tmp_path / "dist" / "mxnet-1.2.3.tar.gz").write_bytes(b"")
    monkeypatch.setattr(release, "sdist_findings", lambda path: [])
    monkeypatch.setattr(release.build, "lacking", lambda arch, cuda=False: ["nvcc (the toolkit)"] if cuda else [])
    made_by = [line.rpartition("./dev wheel ")[2] for line in release.check_wheels()]
    assert made_by == ["--arch x86_64 makes it", "--arch aarch64 makes it",
                       "--cuda makes it on another machine, since this one lacks nvcc (the toolkit)"]


def test_what_a_machine_lacks(release, monkeypatch):
    """Said in words before anything is compiled, by `./dev wheel` too."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("CUDA_HOME", "/nowhere")
    other = "aarch64" if os.uname().machine == "x86_64" else "x86_64"
    assert f"{other}-linux-gnu-g++ (Debian's g++-{other}-linux-gnu)" in release.build.lacking(other)
    own = release.build.lacking(os.uname().machine, cuda=True)
    assert own[0] == "c++ (Debian's g++)" and own[-1].startswith("nvcc") and "CUDA_HOME" in own[-1]
    script = os.path.join(ROOT, "tools", "wheel", "build.py")
    done = subprocess.run([sys.executable, script, "--arch", other], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("[wheel] this machine lacks ") and "Traceback" not in done.stderr


def test_command():
    done = subprocess.run([sys.executable, SCRIPT, "--check", "deprecations"], capture_output=True, text=True)
    assert done.returncode == 0 and re.fullmatch(r"deprecations: good \(\d+ s\)\n", done.stdout)
    done = subprocess.run([sys.executable, SCRIPT, "--check", "nothing"], capture_output=True, text=True)
    assert done.returncode == 2 and "invalid choice: 'nothing'" in done.stderr
