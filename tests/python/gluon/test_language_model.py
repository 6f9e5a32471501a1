"""A language model of words, trained as by a script of 1.x, has the losses of 1.9.1."""
import json
import os

import numpy as np
import pytest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
from language_model_programs import PROGRAMS, train  # noqa: E402

with open(os.path.join(HERE, 'data', 'language_model.json')) as file:
    RECORDED = json.load(file)


@pytest.mark.filterwarnings('ignore:.*not the published file')
@pytest.mark.parametrize('name', sorted(PROGRAMS))
def test_losses_of_1_9_1(name, tmp_path):
    epochs, best = train(str(tmp_path), **PROGRAMS[name])
    np.testing.assert_allclose(epochs, RECORDED[name][0], rtol=2e-5)
    assert best == pytest.approx(RECORDED[name][1], rel=1e-5)
