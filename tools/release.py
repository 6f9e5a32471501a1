#!/usr/bin/env python3
"""What a release needs: `./dev release --check`.

    tools/release.py --check [NAME...]     all checks without names; each finding is a line
"""
import argparse
import ast
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools", "wheel"))
import build  # noqa: E402
import headers  # noqa: E402

# Releases of Debian and Ubuntu in whose bare roots the wheel is tried: other versions of glibc and
# of Python.
ROOTS = ("bookworm", "trixie", "noble")
# How clean_root.sh tries a wheel for 64-bit Arm (docs/wheels.md says why with these).
QEMU = {"ARCH": "arm64", "QEMU_CPU": "neoverse-n1", "OMP_NUM_THREADS": "1"}
# Name, architecture and option of ./dev wheel.
WHEELS = (("mxnet", "x86_64", "--arch x86_64"), ("mxnet", "aarch64", "--arch aarch64"), ("mxnet_cu13", "x86_64", "--cuda"))


def _text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def version():
    """The number of include/mxnet/base.h, its one home."""
    return re.search(r'define MXNET_VERSION_STRING "([^"]*)"', _text("include", "mxnet", "base.h")).group(1)


def check_version():
    """The change log has the version, with its date, and the tag is new."""
    number = version()
    if not re.search(rf"^## \[{re.escape(number)}\] - \d{{4}}-\d\d-\d\d$", _text("CHANGELOG.md"), re.M):
        yield f"CHANGELOG.md: no line '## [{number}] - YYYY-MM-DD', the version of include/mxnet/base.h"
    if re.search(r"^## \[Unreleased\]\s*\n+### ", _text("CHANGELOG.md"), re.M):
        yield f"CHANGELOG.md: [Unreleased] has entries; move them to [{number}]"
    if subprocess.run(["git", "tag", "-l", "v" + number], cwd=ROOT, capture_output=True, text=True).stdout.strip():
        yield f"v{number} is a tag already; raise the version in include/mxnet/base.h"
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout.strip():
        yield "the checkout has changes that no commit has"


def deprecations():
    """(file, message) of each warning of the package that calls something deprecated."""
    for path in sorted(glob.glob(os.path.join(ROOT, "python", "mxnet", "**", "*.py"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or getattr(call.func, "attr", "") != "warn" or not call.args:
                continue
            texts = (part.value for part in ast.walk(call.args[0]) if isinstance(part, ast.Constant))
            message = "".join(text for text in texts if isinstance(text, str))
            if any(getattr(word, "id", "") == "DeprecationWarning" for word in call.args) or "deprecated" in message:
                yield os.path.relpath(path, ROOT), message


def check_deprecations():
    """docs/deprecations.md has a row for each, with dates in the order of time, and none that is
    later than the newest version."""
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (\d{4}-\d\d-\d\d) \| (\d{4}-\d\d-\d\d) \|$", _text("docs", "deprecations.md"), re.M)
    if not rows:
        yield "docs/deprecations.md: no rows"
    names = {word for row in rows for code in re.findall("`(.*?)`", row[0] + row[1]) for word in re.findall(r"\w+", code)}
    for file, message in deprecations():
        if not {word for word in re.findall(r"\w+", message) if len(word) > 5} & names:
            yield f"docs/deprecations.md: no row for what {file} calls deprecated: {message}"
    released = re.search(r"^## \[[\d.]+\] - (\d{4}-\d\d-\d\d)$", _text("CHANGELOG.md"), re.M)
    for name, _, since, until in rows:
        if released and since > released.group(1):
            yield f"docs/deprecations.md: {name} is deprecated since {since}, after the newest version of CHANGELOG.md"
        if datetime.date.fromisoformat(since) + datetime.timedelta(365) > datetime.date.fromisoformat(until):
            yield f"docs/deprecations.md: {name} goes less than a year after it was deprecated"


def wheel_findings(path):
    """What a wheel lacks: the version, a binding for each Python, licences, and a list of parts
    with a licence each."""
    name = os.path.basename(path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        info = next(entry for entry in names if entry.endswith(".dist-info/METADATA")).rpartition("/")[0]
        metadata = archive.read(f"{info}/METADATA").decode()
        if f"\nVersion: {version()}\n" not in metadata:
            yield f"{name}: not the version {version()}"
        for python in headers.PYTHONS:
            if not any(f"_cy3/ndarray.cpython-{python.replace('.', '')}-" in entry for entry in names):
                yield f"{name}: no compiled binding for Python {python}; ./dev wheel says why"
        for licence in re.findall(r"^License-File: (.*)$", metadata, re.M):
            if f"{info}/licenses/{licence}" not in names:
                yield f"{name}: no {licence}, which its metadata name"
        parts = f"{info}/sboms/mxnet.spdx.json"
        if parts not in names:
            yield f"{name}: no list of parts; ./dev wheel writes one"
            return
        packages = json.loads(archive.read(parts))["packages"]
    made_from, wanted = packages[0].get("sourceInfo", "nothing that it names"), build.source_note()
    if wanted and made_from != wanted:
        yield f"{name}: made from {made_from}; the checkout is {wanted}"
    own = {"libmxnet.so", "libmxnet_jpeg.so", "libmxnet_mpi.so"}
    listed = [package["name"] for package in packages if package["licenseConcluded"] != "NOASSERTION"]
    for library in (os.path.basename(entry) for entry in names if entry.startswith("mxnet/lib/") and ".so" in entry):
        stem = re.match(r"lib([a-z]+)", library).group(1)
        stem = {"hwy": "highway"}.get(stem, stem)
        if library not in own and not any(stem in part for part in listed):
            yield f"{name}: {library} is in no list of parts"


def sdist_findings(path):
    """What the source distribution lacks: the sources of this commit, and those of others that no
    registry of Python has."""
    name, folder = os.path.basename(path), os.path.basename(path).removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        names = archive.getnames()
        for url, _ in build.third_party.archives():
            if f"{folder}/third_party/{url.rpartition('/')[2]}" not in names:
                yield f"{name}: no third_party/{url.rpartition('/')[2]}"
        state = f"{folder}/third_party/commit.txt"
        lines = archive.extractfile(state).read().decode().splitlines() if state in names else []
    made_from = build.source_note([*lines, *["", "", "", "0"][len(lines):]]) or "nothing that it names"
    wanted = build.source_note()
    if wanted and made_from != wanted:
        yield f"{name}: made from {made_from}; the checkout is {wanted}"


def check_wheels():
    """dist/ has the source distribution, and each wheel, complete."""
    number = version()
    sources = os.path.join(ROOT, "dist", f"mxnet-{number}.tar.gz")
    if os.path.exists(sources):
        yield from sdist_findings(sources)
    else:
        yield f"dist/mxnet-{number}.tar.gz is not there; ./dev wheel --sdist makes it"
    for name, arch, option in WHEELS:
        found = glob.glob(os.path.join(ROOT, "dist", f"{name}-{number}-py3-none-manylinux_*_{arch}.whl"))
        if not found:
            lacking = build.lacking(arch, option == "--cuda")
            where = f" on another machine, since this one lacks {', '.join(lacking)}" if lacking else ""
            yield f"dist/ has no wheel {name} of {number} for {arch}; ./dev wheel {option} makes it{where}"
        for path in found:
            yield from wheel_findings(path)


def check_roots():
    """The wheel is installed, trains and serves in roots with nothing but Python, that for 64-bit
    Arm under qemu, and computes the same numbers in each."""
    found = glob.glob(os.path.join(ROOT, "dist", f"mxnet-{version()}-py3-none-manylinux_*_{os.uname().machine}.whl"))
    if shutil.which("mmdebstrap") is None or os.geteuid():
        yield "only root can make roots, with Debian's mmdebstrap"
        return
    if not found:
        yield "dist/ has no wheel to try; ./dev wheel makes one"
        return
    tried, failures = [(suite, found[0], {}) for suite in ROOTS], []
    if os.uname().machine != "aarch64":
        lacking = arm_lacks()
        if lacking:
            yield f"the wheel for 64-bit Arm cannot be tried: {lacking}"
        arm = glob.glob(os.path.join(ROOT, "dist", f"mxnet-{version()}-py3-none-manylinux_*_aarch64.whl"))
        tried += [("trixie", wheel, QEMU) for wheel in arm if not lacking]
    for suite, wheel, variables in tried:
        failures += _command("tools/wheel/clean_root.sh", suite, wheel, **variables)
    if not failures:
        failures = list(_command("./dev", "build"))     # the library that compares them
    yield from failures
    if failures:
        return
    first, *others = (f"build/roots/{suite}{'-arm64' if 'ARCH' in variables else ''}/try/numbers.npz" for suite, _, variables in tried)
    for other in others:
        yield from _command("./dev", "python", "tools/wheel/same_numbers.py", "compare", first, other)


def arm_lacks():
    """Why this machine cannot run programs of 64-bit Arm; empty where it can."""
    if shutil.which("arch-test") is None:
        return "install qemu-user-static and arch-test"
    if subprocess.run(["arch-test", "arm64"], capture_output=True).returncode:
        return "binfmt_misc does not know qemu-aarch64; docs/wheels.md says how it gets to know it"
    return ""


def _command(*words, **variables):
    """Runs it, with these variables set and what it prints in sight; a finding where it fails."""
    print("$ " + " ".join([*(f"{name}={value}" for name, value in variables.items()), *words]), flush=True)
    done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, env={**os.environ, **variables})
    if done.returncode:
        yield f"{' '.join(words)} failed with exit status {done.returncode}"


def check_docs():
    """Links, prose, generated pages, and the site."""
    yield from _command("./dev", "lint")
    yield from _command("./dev", "docs", "--site")
    yield from _command("./dev", "test", "tests/python/project/test_generated_pages.py")


def check_tests():
    """All tests. Those of the night wait for processes and clocks much of their time, so they run
    beside the others; what they print comes at the end."""
    print("tests: all of them, which takes an hour on two cores", flush=True)
    failures = list(_command("./dev", "build", "--tests"))     # once, for both
    if failures:
        yield from failures
        return
    night = ["./dev", "test", "--nightly=only"]
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        beside = subprocess.Popen(night, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        yield from _command("./dev", "test")
        status = beside.wait()
        output.seek(0)
        print("$ " + " ".join(night) + "\n" + output.read(), flush=True)
    if status:
        yield f"{' '.join(night)} failed with exit status {status}"


CHECKS = {"version": check_version, "deprecations": check_deprecations, "wheels": check_wheels, "roots": check_roots,
          "docs": check_docs, "tests": check_tests}


def main():
    parser = argparse.ArgumentParser(prog="./dev release", description="What a release needs; exit status 1 with findings.")
    parser.add_argument("--check", nargs="*", metavar="NAME", choices=[*CHECKS], required=True,
                        help="only these: " + ", ".join(CHECKS))
    args = parser.parse_args()
    findings = 0
    for name in args.check or CHECKS:
        start, found = time.monotonic(), list(CHECKS[name]())
        findings += len(found)
        for line in found:
            print(f"{name}: {line}", flush=True)
        print(f"{name}: {f'{len(found)} found' if found else 'good'} ({time.monotonic() - start:.0f} s)", flush=True)
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
