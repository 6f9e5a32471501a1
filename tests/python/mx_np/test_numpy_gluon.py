"""Gluon on mx.np arrays: programs against what 2.0.0b1 gives (data/numpy_gluon.json)."""
import json
import os

import numpy as onp
import pytest

import mxnet as mx

pytestmark = pytest.mark.usefixtures("numpy_semantics")

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(HERE, "data", "numpy_gluon.json"), encoding="utf-8") as file:
    RECORDED = json.load(file)


def compare(ours, theirs, where):
    """Equal structure and names, numbers to 1e-4 (5e-4 where they are sums of many)."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key in theirs:
            compare(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for i, (a, b) in enumerate(zip(ours, theirs)):
            compare(a, b, f"{where}[{i}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=5e-4, abs=1e-4), where
    else:
        assert ours == theirs, where


@pytest.mark.parametrize("hybrid", (False, True), ids=("eager", "hybrid"))
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_program_gives_what_2_0_gives(name, hybrid):
    import numpy_gluon_programs as programs
    mx.random.seed(1)
    ours = json.loads(json.dumps(getattr(programs, name)(hybrid)))
    print(json.dumps(ours))  # all digits, where one number differs
    compare(ours, RECORDED[name], name)


def test_every_program_is_recorded():
    import numpy_gluon_programs as programs
    assert {program.__name__ for program in programs.PROGRAMS} == set(RECORDED)
    assert onp.isfinite(RECORDED["mlp"]["losses"]).all()
