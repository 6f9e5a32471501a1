"""The hostile-input harness (tests/fuzz): what it found stays mended, and some time on new
calls."""
import os
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.unsanitized     # crashes that are wanted; ./dev fuzz --preset asan is the rest
FUZZ = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "fuzz")


def harness(*arguments, seconds=300):
    return subprocess.run([sys.executable, os.path.join(FUZZ, "harness.py"), *arguments], capture_output=True, text=True, timeout=seconds)


def test_what_was_found_stays_mended():
    result = harness("--replay", os.path.join(FUZZ, "found.txt"))
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]


def test_a_crash_a_hang_and_a_wrong_error_are_noticed(tmp_path):
    """The harness itself: it names the line of each."""
    lines = ["call('eager', 'relu', [a((3,))])",
             "import ctypes; ctypes.string_at(0)",
             "raise Wrong('by hand')",
             "x = guarded(np.ones(4)); ctypes = __import__('ctypes'); ctypes.memset(x.ctypes.data + 32, 0, 1)",
             "call('eager', 'relu', [a((3,))])"]
    (tmp_path / "lines.txt").write_text("\n".join(lines))
    result = harness("--replay", str(tmp_path / "lines.txt"))
    assert result.returncode == 1 and "5 calls of lines.txt, 3 found" in result.stdout, result.stdout + result.stderr
    for line in lines[1:4]:
        assert line in result.stdout


def test_a_worker_ends_with_who_watches_it(tmp_path):
    """A call that hangs would have a core for itself until the machine is gone."""
    note = tmp_path / "worker"
    (tmp_path / "lines.txt").write_text(f"open({str(note)!r}, 'w').write(str(os.getpid())); __import__('time').sleep(600)\n")
    watcher = subprocess.Popen([sys.executable, os.path.join(FUZZ, "harness.py"), "--replay", str(tmp_path / "lines.txt")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert wait_for(lambda: note.exists() and note.read_text()), "no worker came"
    finally:
        watcher.kill()
        watcher.wait()
    assert wait_for(lambda: not runs(int(note.read_text()))), "the worker goes on"


def runs(process):
    """Who has ended and was not waited for does not."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(happened, seconds=60):
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.05)
    return happened()


def test_a_machine_that_slept_is_no_hang(tmp_path, monkeypatch):
    """The clock goes on where all processes are stopped; a call is late by what was seen of it."""
    monkeypatch.syspath_prepend(FUZZ)
    import harness as fuzz
    clock = [0.0]
    monkeypatch.setattr(fuzz.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(fuzz.subprocess, "Popen", lambda *given, **more: Asleep())
    life = fuzz.Life(str(tmp_path), "w0", [])
    (tmp_path / "w0.state").write_text("3\nline")
    ends = []
    for step in (1, 3600, 4, 3600, *[4] * 6, 4):
        clock[0] += step
        ends.append(life.poll())
    assert ends == [None] * 10 + ["hang"]


class Asleep:
    """A process that does nothing."""
    poll = kill = wait = lambda self: None


def test_the_calls_of_about_a_minute_find_nothing():
    """So many and not so long: a faster machine makes no other calls."""
    result = harness("--minutes", "10", "--calls", "16000", "--seed", "17", "--workers", "2", seconds=700)
    assert "16000 calls of seed 17, 0 found" in result.stdout, result.stdout[-8000:] + result.stderr[-2000:]
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]


@pytest.mark.nightly
@pytest.mark.parametrize("more", [(), ("--guard",), ("--guard", "--mutations", "1")], ids=["plain", "guarded", "guarded_mutations"])
def test_ten_minutes_find_nothing(more):
    result = harness("--minutes", "10", "--seed", str(int.from_bytes(os.urandom(3), "little")), *more, seconds=1200)
    assert result.returncode == 0, result.stdout[-20000:] + result.stderr[-2000:]


@pytest.mark.parametrize("level, every", [(4, 180)] + [pytest.param(n, 1, marks=pytest.mark.nightly) for n in (4, 3, 2)])
def test_odd_sizes_touch_nothing_outside(level, every):
    """Kernels of one level of the processor, each array against a page without access."""
    result = subprocess.run([sys.executable, os.path.join(FUZZ, "odd_sizes.py"), "--guard", "--level", str(level), "--every", str(every)],
                            capture_output=True, text=True, timeout=14400, check=False)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]
    assert " 0 found; " in result.stdout


PLACES = {
    "nothing": "",
    "behind": "ctypes.memset(at + 12, 0, 1)",
    "dropped in a loop": "for _ in range(8): y = x + x; at = where(y); del y\nctypes.string_at(at, 1)",
    "freed": "del x; mx.nd.waitall(); ctypes.string_at(at, 1)",
}


@pytest.mark.parametrize("place", PLACES)
def test_guarded_memory_notices(place, tmp_path):
    sys.path.insert(0, FUZZ)
    try:
        from guard_library import environment
    finally:
        sys.path.remove(FUZZ)
    program = ("import ctypes, mxnet as mx; from mxnet.base import _LIB\n"
               "def where(x, at=ctypes.c_void_p()): _LIB.MXNDArrayGetData(x.handle, ctypes.byref(at)); return at.value\n"
               "x = mx.nd.ones((3,)); at = where(x)\n" + PLACES[place])
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                            env={**os.environ, **environment(str(tmp_path))})
    if place == "nothing":
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode == -11 and "outside of a block" in result.stderr, result.stderr


@pytest.mark.parametrize("calls, seed", [("800", "3"), pytest.param("40000", None, marks=pytest.mark.nightly)])
def test_calls_that_are_right_but_for_a_few_things_find_nothing(calls, seed):
    seed = seed or str(int.from_bytes(os.urandom(3), "little"))
    result = harness("--minutes", "15", "--calls", calls, "--seed", seed, "--mutations", "1", "--workers", "2", seconds=1200)
    assert f"{calls} calls of seed {seed}, 0 found" in result.stdout, result.stdout[-8000:] + result.stderr[-2000:]


def test_damaged_archives_and_indexes_name_the_file(tmp_path):
    import numpy as np
    import mxnet as mx
    path = str(tmp_path / "a.npz")
    np.savez(path, w=np.ones((2, 3), "f"))
    with open(path, "rb") as f:
        data = f.read()
    for damaged in (data[:100], data[:-30], data.replace(b"NUMPY", b"NUMPX")):
        with open(path, "wb") as f:
            f.write(damaged)
        with pytest.raises(OSError, match=r"\[load\] .*a\.npz") as error:
            mx.nd.load(path)
        assert isinstance(error.value, mx.MXNetError)
    index, record = str(tmp_path / "r.idx"), str(tmp_path / "r.rec")
    with mx.recordio.MXIndexedRecordIO(index, record, "w") as out:
        out.write_idx(0, b"x")
    for offset in (-8, 2**63, 2**70):
        with open(index, "w", encoding="utf-8") as f:
            f.write(f"0\t{offset}\n")
        with pytest.raises(mx.MXNetError, match="r.idx, line 1"):
            mx.recordio.MXIndexedRecordIO(index, record, "r")
