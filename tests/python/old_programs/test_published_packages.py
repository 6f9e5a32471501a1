"""Published packages of MXNet's time, unchanged, print what they print with 1.9.1.

``python tests/python/old_programs/test_published_packages.py FOLDER ORACLE`` records
tests/packages/*.txt again: FOLDER is where the packages lie (``build/packages`` after a run),
ORACLE is a Python with 1.9.1.
"""
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAMS = os.path.join(ROOT, "tests", "packages")
PACKAGES = {"gluoncv": "gluoncv==0.10.5.post0", "gluonnlp": "gluonnlp==0.10.0", "gluonts": "gluonts==0.8.1",
            "xfer": "xfer-ml==1.1.0", "d2l": "d2l==0.17.6", "gluoncv2": "gluoncv2==0.0.64", "einops": "einops==0.4.1",
            "tensorly": "tensorly==0.5.1", "sockeye": "sockeye==2.3.24", "dgl": "dgl==1.0.4", "mxfusion": "mxfusion==0.3.1"}
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def _install(folder, *what):
    if os.path.isdir(folder):
        return
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder + ".part", *what],
                          capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip cannot install {what[-1]}: {done.stderr.strip()[-200:]}")
    os.rename(folder + ".part", folder)


def _printed(python, folder, name, environment):
    folder = os.path.abspath(folder)
    paths = [os.path.join(folder, name), os.path.join(folder, "requirements"), PROGRAMS, environment.get("PYTHONPATH", "")]
    done = subprocess.run([python, "-W", "ignore", os.path.join(PROGRAMS, f"{name}_programs.py")], capture_output=True,
                          text=True, cwd=folder, env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))})
    assert done.returncode == 0, done.stderr[-2000:]
    return [line.rstrip() for line in done.stdout.splitlines()]


@pytest.mark.nightly
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="NumPy 1.23, which the packages need, has no wheels for later Pythons")
@pytest.mark.parametrize("name", PACKAGES)
def test_package(name):
    folder = os.path.join(ROOT, "build", "packages")
    os.makedirs(folder, exist_ok=True)
    _install(os.path.join(folder, "requirements"), "-r", os.path.join(PROGRAMS, "requirements.txt"))
    _install(os.path.join(folder, name), "--no-deps", PACKAGES[name])
    with open(os.path.join(PROGRAMS, f"{name}_programs.txt")) as file:
        expected = file.read().splitlines()
    printed = _printed(sys.executable, folder, name, dict(os.environ))
    assert len(printed) == len(expected)
    for ours, theirs in zip(printed, expected):
        assert _NUMBER.sub("#", ours) == _NUMBER.sub("#", theirs)
        numbers = [[float(n) for n in _NUMBER.findall(line)] for line in (ours, theirs)]
        assert numbers[0] == pytest.approx(numbers[1], rel=2e-3, abs=2e-3), ours


def _record(folder, oracle):
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MXNET_LIBRARY_PATH")}
    for name in PACKAGES:
        with open(os.path.join(PROGRAMS, f"{name}_programs.txt"), "w") as file:
            file.write("\n".join(_printed(oracle, folder, name, plain)) + "\n")


if __name__ == "__main__":
    _record(*sys.argv[1:])
