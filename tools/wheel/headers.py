"""Finds the headers of each Python that a wheel has a compiled binding for: of the Pythons on this
machine, and for the others in Debian's packages."""
import os
import shutil
import subprocess
import sys

PYTHONS = ("3.11", "3.12", "3.13", "3.14")      # those that wheels have bindings for
_ASK = """import os, sys, sysconfig
include = sysconfig.get_path("include")
if not sysconfig.get_config_var("Py_GIL_DISABLED") and os.path.exists(os.path.join(include, "Python.h")):
    print("%d.%d" % sys.version_info[:2], include)
"""
# Each release of Debian has one or two Pythons. All headers of 3.x serve all patch releases of it.
SUITES = ("trixie", "sid")
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def _interpreters(versions):
    """Commands that may be Pythons: on PATH, and what pyenv has."""
    for version in versions:
        yield "python" + version
    folder = os.path.join(os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv")), "versions")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        yield os.path.join(folder, name, "bin", "python3")
    yield sys.executable


def _installed(versions):
    """{version: folder of headers} of the interpreters that are found."""
    found = {}
    for command in _interpreters(versions):
        try:
            words = subprocess.run([command, "-c", _ASK], capture_output=True, text=True, timeout=60).stdout.split()
        except OSError:
            continue
        if len(words) == 2 and words[0] in versions:
            found.setdefault(*words)
    return found


class _Apt:
    """Debian's packages of other releases than this machine's: lists of its own, checked by the
    keys of Debian."""

    def __init__(self, folder):
        self.folder, self.updated = folder, False
        for name in ("lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, "sources.list"), "w", encoding="utf-8") as file:
            file.writelines(f"deb [signed-by={_KEYRING}] http://deb.debian.org/debian {suite} main\n" for suite in SUITES)

    def _get(self, *words):
        options = {"Dir::Etc::sourcelist": os.path.join(self.folder, "sources.list"), "Dir::Etc::sourceparts": "-",
                   "Dir::State::lists": os.path.join(self.folder, "lists"), "Dir::Cache": os.path.join(self.folder, "cache"),
                   "APT::Sandbox::User": "root", "Acquire::Languages": "none",
                   "Acquire::Check-Valid-Until": "false"}      # a mirror may lag behind
        command = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items()), *words]
        return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True).returncode == 0

    def unpack(self, package, folder):
        """Unpacks `package` into `folder`; False where it cannot be had."""
        if not self.updated:
            self.updated = self._get("update")
        if not self._get("download", package):
            return False
        deb, = (name for name in os.listdir(self.folder) if name.startswith(package + "_"))
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        subprocess.run(["dpkg-deb", "-x", deb, folder + ".part"], cwd=self.folder, check=True)
        os.remove(os.path.join(self.folder, deb))
        os.replace(folder + ".part", folder)
        return True


def _from_debian(version, tools, apt):
    """Folder of the headers of the package libpython3.x-dev, or None."""
    folder = os.path.join(tools, "headers", "debian-" + version)
    include = os.path.join(folder, "usr", "include", "python" + version)
    if not os.path.exists(include) and not (shutil.which("apt-get") and apt.unpack(f"libpython{version}-dev", folder)):
        return None
    return include


def _whole(version, folder, tools):
    """Debian keeps the configuration in a folder of the machine's: a copy that has it in its place.
    The values of x86-64 are those of 64-bit Arm."""
    machine = os.uname().machine
    own = os.path.join(os.path.dirname(folder), f"{machine}-linux-gnu", f"python{version}", "pyconfig.h")
    if not os.path.exists(own):
        return folder
    copy = os.path.join(tools, "headers", version)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    shutil.copy(own, os.path.join(copy, "pyconfig.h"))
    return copy


def find(given, versions, tools):
    """{version: folder of headers} of `given`, a list of ``3.14=FOLDER``; of the Pythons on this
    machine; and of Debian, which are kept in `tools`."""
    found = dict(pair.split("=", 1) for pair in given)
    for version, folder in _installed(versions).items():
        found.setdefault(version, folder)
    apt = _Apt(os.path.join(tools, "apt"))
    for version in versions:
        folder = found.get(version) or _from_debian(version, tools, apt)
        if folder:
            found[version] = folder
    return {version: _whole(version, found[version], tools) for version in versions if version in found}
