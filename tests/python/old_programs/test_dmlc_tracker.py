"""The package dmlc_tracker, as copies of 1.x's tools/launch.py use it."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mxnet as mx
from dmlc_tracker import _forward, kubernetes, local, mesos, mpi, opts, sge, slurm, ssh, submit, yarn  # noqa: F401

ROOT = Path(mx.__file__).resolve().parents[2]
PROGRAM = """
import sys
from dmlc_tracker import local, opts
args = ["--num-workers", "2", "--num-servers", "0", "--cluster", "local", "--host-file", "None", "--sync-dst-dir", "None",
        "--env-worker", "COLOUR:blue", sys.executable, "-c", sys.argv[1]]
local.submit(opts.get_opts(args))
print("over", "mxnet" in sys.modules)
"""
RANK = "import os; os.write(1, '{DMLC_ROLE} {DMLC_WORKER_ID} {COLOUR}\\n'.format_map(os.environ).encode())"


def run(command):
    sys.path.insert(0, str(ROOT / "tests" / "python" / "kvstore"))
    import test_kvstore_dist
    if not test_kvstore_dist._has_jobs():
        pytest.skip("no MPI here")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run([sys.executable, "-c", PROGRAM, command], capture_output=True, text=True, timeout=120, env=environment)


def test_a_job_of_an_old_script_runs():
    done = run(RANK)
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"worker \d blue", done.stdout)) == ["worker 0 blue", "worker 1 blue"], done.stdout + done.stderr
    assert done.stdout.endswith("over False\n"), done.stdout


def test_the_status_of_a_process_that_fails_is_the_programs():
    done = run("import sys; sys.exit(7)")
    assert done.returncode == 7 and "over" not in done.stdout


def test_arguments_become_those_of_the_launcher(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("localhost\n")
    given = opts.get_opts(["--cluster", "ssh", "--num-workers", "3", "--num-servers", "2", "--host-file", str(hosts),
                           "--sync-dst-dir", "/job", "--env", "A", "--env-server", "B:1", "python", "train.py", "--lr", "0.1"])
    assert given.command == ["python", "train.py", "--lr", "0.1"] and given.cluster == "ssh" and given.jobname is None
    words = _forward.words(given, "ssh")
    assert words == ["-n", "3", "--launcher", "ssh", "-s", "2", "-H", str(hosts), "--sync-dst-dir", "/job", "--env", "A",
                     "--env-server", "B:1", "--", "python", "train.py", "--lr", "0.1"]
    parsed = _forward.launcher().arguments(words)
    assert parsed.num_servers == 2 and parsed.command == given.command and parsed.hostfile == str(hosts)


@pytest.mark.parametrize("cluster", ["sge", "yarn", "mesos", "kubernetes"])
def test_other_clusters_are_refused(cluster):
    with pytest.raises(NotImplementedError, match=f"{cluster}; accepted: local, ssh, mpi and slurm"):
        submit.submit(opts.get_opts(["--cluster", cluster, "--num-workers", "1", "true"]))
