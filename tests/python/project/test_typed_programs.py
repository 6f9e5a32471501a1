"""Programs in ordinary NumPy style: they run, and `./dev lint stubs` has type checkers accept them
without a comment that silences one."""

import pathlib
import runpy

import pytest

import mxnet as mx

PROGRAMS = sorted((pathlib.Path(__file__).parents[1] / "typed_programs").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_program(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if path.stem != "results":  # which shows errors, too
        assert "type: ignore" not in path.read_text()
    before = mx.util.is_np_array()
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        if not before:
            mx.npx.reset_np()
    assert "False" not in capsys.readouterr().out
