"""The binding without a compiled part: test files that hand handles of both kinds on, run again
with it."""
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.mark.parametrize("name", ["passes/test_explain.py", "runtime/test_autograd.py", "gluon/test_gluon_block.py",
                                  "kvstore/test_kvstore.py"])
def test_file(name):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.join(HERE, name)],
                          env={**os.environ, "MXNET_ENABLE_CYTHON": "0"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
