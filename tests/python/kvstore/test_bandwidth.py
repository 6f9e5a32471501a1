"""tools/bandwidth: the measurement of stores, and the estimate of steps of many workers."""
import importlib.util
import json
import os
import subprocess
import sys
import xml.etree.ElementTree

import pytest

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "..", "..", "tools", "bandwidth")


def script(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(FOLDER, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module       # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


simulate = script("simulate")
LAYERS = [simulate.Layer(n, 0.01, 0.02) for n in (10_000, 500_000, 2_000_000, 4_000_000)]
FREE = simulate.Costs(per_message=0, per_byte=0, per_added_byte=0, latency=0)


def run(*arguments, expected=0):
    done = subprocess.run([sys.executable, os.path.join(FOLDER, "measure.py"), *arguments],
                          capture_output=True, text=True, check=False)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


def test_a_free_network_costs_nothing():
    for kind in ("dist_sync", "dist_p3", "all_reduce"):
        job = simulate.Job(kind=kind, workers=4, servers=2)
        assert simulate.step_seconds(LAYERS, job, FREE) == pytest.approx(0.12)


def test_one_array_takes_its_way_in_the_links():
    # The server's link carries it once for each of 3 workers, in and out; parts of 1 MB overlap.
    layer = [simulate.Layer(25_000_000, 0, 0)]
    costs = simulate.Costs(per_message=0, per_byte=1e-9, per_added_byte=0, latency=0)
    seconds = simulate.step_seconds(layer, simulate.Job(workers=3, servers=1), costs)
    assert 0.6 <= seconds < 0.62
    # Two servers have two links; the second one's half leaves the worker behind the first's.
    seconds = simulate.step_seconds(layer, simulate.Job(workers=3, servers=2), costs)
    assert seconds == pytest.approx(0.05 + 2 * 0.15, abs=0.01)
    # An all-reduce of n machines moves 2 (n - 1) / n of the bytes; the estimate counts 2.
    seconds = simulate.step_seconds(layer, simulate.Job(kind="all_reduce", workers=4), costs)
    assert 0.15 < seconds < 0.42


def test_slices_by_priority_shorten_a_step_on_a_slow_link():
    costs = simulate.Costs(per_byte=1 / 4e8)
    plain, sliced = (simulate.step_seconds(LAYERS, simulate.Job(kind=kind, workers=4, servers=4),
                                           costs) for kind in ("dist_sync", "dist_p3"))
    assert sliced < 0.8 * plain


def test_what_is_faster_is_never_slower():
    for kind in ("dist_sync", "dist_p3", "all_reduce"):
        job = simulate.Job(kind=kind, workers=8, servers=4)
        seconds = [simulate.step_seconds(LAYERS, job, simulate.Costs(per_byte=1 / b))
                   for b in (1e8, 1e9, 1e10)]
        assert seconds == sorted(seconds, reverse=True)
        assert seconds[-1] >= 0.12


def test_a_job_needs_somebody():
    with pytest.raises(ValueError, match="0 workers and 1 servers"):
        simulate.step_seconds(LAYERS, simulate.Job(workers=0, servers=1), FREE)


def test_measure_checks_sums_and_says_what_it_found():
    out = run("--network", "10,2000", "--kv-store", "local", "--cpus", "2", "--num-batches", "2")
    result = json.loads(out[out.index("measure.py: ") + len("measure.py: "):])
    assert result["error"] == 0 and result["seconds"] > 0
    assert result["megabytes"] == pytest.approx(2010 * 4e-6)
    assert out.count("GB/s per device") == 2


def test_measure_with_compression_and_an_optimizer():
    out = run("--network", "100", "--kv-store", "device", "--cpus", "2", "--gc-type", "2bit",
              "--optimizer", "sgd", "--num-batches", "1")
    assert "error 0" in out


def test_comparison_draws_a_picture(tmp_path):
    plot = tmp_path / "bandwidth.svg"
    out = run("--network", "100", "--compare", "local,device", "--rounds", "1", "--cpus", "2",
              "--num-batches", "1", "--plot", str(plot))
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["local", "device"]
    texts = [e.text for e in xml.etree.ElementTree.parse(plot).getroot() if e.tag.endswith("text")]
    assert "local" in texts and "device" in texts
    assert os.listdir(tmp_path) == ["bandwidth.svg"]
