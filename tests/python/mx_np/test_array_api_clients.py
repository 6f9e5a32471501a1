"""scikit-learn and SciPy work on arrays of mx.np through the array API."""

import json
import pathlib
import subprocess
import sys

import numpy as onp
import pytest

pytest.importorskip("sklearn", "1.6")
pytest.importorskip("scipy", "1.15")
PROGRAM = pathlib.Path(__file__).parent / "array_api_clients.py"


@pytest.mark.nightly
def test_programs_give_what_they_give_for_numpy():
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) > 20
    for name, (module, ours, theirs) in found.items():
        onp.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-6, err_msg=name)
    kept = [name for name, (module, _, _) in found.items() if module.startswith("mxnet")]
    assert len(kept) > 12, kept
