"""Programs on sparse arrays end where those of 1.9.1 do, in float64: its float32 rounds more than
this library's."""
import json

import mxnet as mx
import numpy as np
import pytest

import sparse_program_cases as cases

pytestmark = pytest.mark.cpu
with open(cases.DATA) as _file:
    RECORDED = json.load(_file)


@pytest.mark.parametrize("name", cases.PROGRAMS)
def test_weights_are_those_of_1_9_1(name):
    for got, wanted in zip(cases.PROGRAMS[name](mx), RECORDED[name]):
        np.testing.assert_allclose(got, np.array(wanted), rtol=1e-11, atol=1e-13)
