"""`.ci/run` runs every stage, and its last lines name what failed. `./dev` is a script here that
prints what the tools print."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[3]
CTEST = """
 1/3 Test #1: engine_test ..........   Passed    0.10 sec
 2/3 Test #2: onnx_test ............***Failed    0.20 sec
[ RUN      ] Onnx.Reads
[  FAILED  ] Onnx.Reads (3 ms)
[==========] 2 tests ran.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Onnx.Reads

The following tests did not run:
      3 - gpu_test (Skipped)

The following tests FAILED:
      2 - onnx_test (Failed)
Errors while running CTest
"""
PYTEST = """
..F.E
=========================== short test summary info ============================
FAILED tests/python/onnx/test_once.py::test_a - AssertionError: assert 1 == 2
ERROR tests/python/gluon/test_amp.py - ImportError: no name
1 failed, 3 passed, 1 error in 0.10s
"""
COMPILER = "[1/2] Building CXX object a.o\nFAILED: a.o\na.cc:1:1: error: no such type\n"
LINT = "---- prose\ndocs/x.md:3: long line\nlint: prose found what is shown above (2 s)\n"


@pytest.fixture
def ci(tmp_path):
    """Runs .ci/run, given what verbs of ./dev print and return; gives the exit status and lines."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(TREE / ".ci" / "run", tmp_path / ".ci" / "run")

    def run(**verbs):
        lines = ["#!/usr/bin/env bash", 'case $1 in']
        for verb, (output, status) in verbs.items():
            (tmp_path / f"{verb}.txt").write_text(output)
            lines.append(f"  {verb}) [[ $* == *host-gpu* ]] || {{ cat {verb}.txt; exit {status}; }} ;;")
        (tmp_path / "dev").write_text("\n".join([*lines, "esac"]) + "\n")
        (tmp_path / "dev").chmod(0o755)
        done = subprocess.run([tmp_path / ".ci" / "run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, cwd=os.sep)
        return done.returncode, done.stdout.splitlines()
    return run


def last(lines):
    """The lines of the list at the end."""
    return lines[lines.index("ci: what failed:") + 1:]


def test_names_of_tests_end_the_output(ci):
    status, lines = ci(lint=("lint: prose: nothing found (2 s)\n", 0), test=(CTEST + PYTEST, 8))
    assert status == 1
    assert last(lines) == [
        "ci:   stage test, exit status 8, whole output in build/ci/test.log",
        "ci:     C++ test Onnx.Reads",
        "ci:     C++ test onnx_test (Failed)",
        "ci:     Python test tests/python/onnx/test_once.py::test_a - AssertionError: assert 1 == 2",
        "ci:     Python test tests/python/gluon/test_amp.py - ImportError: no name"]


def test_stages_after_a_failed_one_run(ci):
    status, lines = ci(lint=(LINT, 1), test=(PYTEST, 1))
    assert status == 1
    assert [line for line in last(lines) if "stage" in line] == [
        "ci:   stage lint, exit status 1, whole output in build/ci/lint.log",
        "ci:   stage test, exit status 1, whole output in build/ci/test.log"]
    assert "ci:     lint: prose found what is shown above" in last(lines)


def test_without_names_the_last_lines_say_what_happened(ci):
    status, lines = ci(lint=("", 0), test=(COMPILER, 1))
    assert status == 1
    assert last(lines)[1:] == [f"ci:     | {line}" for line in COMPILER.splitlines()]


def test_nothing_is_listed_where_all_passes(ci):
    status, lines = ci(lint=("lint: nothing found\n", 0), test=("3 passed\n", 0))
    assert status == 0
    assert "ci: what failed:" not in lines and lines[-1] == "ci: every stage passed"
