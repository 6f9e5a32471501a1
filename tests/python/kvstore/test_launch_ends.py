"""tools/launch.py: ranks that end before they say a word."""
import time

import pytest

from test_launch import launch, pytestmark  # noqa: F401


@pytest.mark.parametrize("how", ["kill", "0", "3"])
def test_a_rank_that_ends_before_it_reaches_the_launcher(how, tmp_path):
    """The others waited 300 s for it."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nif os.environ.get('OMPI_COMM_WORLD_RANK') == '1':\n"
        "    os.kill(os.getpid(), 9) if os.environ['HOW'] == 'kill' else os._exit(int(os.environ['HOW']))\n")
    began = time.monotonic()
    done = launch("-n", "2", "-s", "0", "sleep", "100", HOW=how, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1 and "worker 1 (rank 1) was not started, or ended at once" in done.stderr, done.stderr
    assert time.monotonic() - began < 50
