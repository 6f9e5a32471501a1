"""`./dev bench onnx` with ours alone and a tiny model, and how it judges results."""
import json
import os
import subprocess
import sys
import types

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

BENCHMARK = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), "benchmark")


@pytest.fixture
def tiny(tmp_path):
    """A dense layer with a free batch, its inputs, and what it computes."""
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(4, 3)).astype("float32")
    make = onnx.helper
    value = lambda name, width: make.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", width])
    graph = make.make_graph([make.make_node("MatMul", ["x", "w"], ["y"])], "tiny", [value("x", 4)], [value("y", 3)],
                            [onnx.numpy_helper.from_array(weight, "w")])
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=10), tmp_path / "tiny.onnx")
    for batch, rows in (("1", 1), ("8", 8), ("other", 3)):
        x = rng.normal(size=(rows, 4)).astype("float32")
        np.savez(tmp_path / f"tiny.{batch}.npz", in_x=x, out_0=x @ weight)
    return tmp_path


def race(folder, *arguments):
    return subprocess.run([sys.executable, os.path.join(BENCHMARK, "onnx_race.py"), "--cache", str(folder), *arguments],
                          capture_output=True, text=True, timeout=300)


def test_a_model_of_ones_own_is_timed_and_checked(tiny):
    figures = tiny / "figures.json"
    done = race(tiny, "--only", "tiny", "--quick", "--rounds", "2", "--slice", "0.01", "--clock", "cpu", "--batch", "1,8",
                "--level", "avx512,avx2", "--json", str(figures))
    assert done.returncode == 0, done.stderr
    rows = json.loads(figures.read_text())
    assert [(r["model"], r["batch"], r["level"]) for r in rows] == [("tiny", b, level) for b in (1, 8) for level in ("avx512", "avx2")]
    for r in rows:
        assert not r["failed"] and r["errors"]["ours"] < 1e-6
        assert 0 < r["best_ms"]["ours"] <= r["median_ms"]["ours"] < r["first_ms"]["ours"] and r["change_ms"]["ours"] > 0
        assert r["whole_mib"]["ours"] > 10 and r["peak_mib"]["ours"] >= 0
    assert "| tiny@8 | 1 | avx2 | " in done.stdout and "Disagree: none." in done.stdout


def test_first_answers_alone_are_medians_of_processes(tiny, monkeypatch):
    figures = tiny / "figures.json"
    done = race(tiny, "--only", "tiny", "--quick", "--starts-only", "--json", str(figures))
    assert done.returncode == 0, done.stderr
    row, = json.loads(figures.read_text())
    assert row["first_ms"]["ours"] > 0 and not row["median_ms"] and not row["peak_mib"] and not row["errors"]

    monkeypatch.syspath_prepend(BENCHMARK)
    import onnx_race
    seconds = iter((0.5, 0.1, 0.2))

    class Process:
        def __init__(self):
            self.info = {"first": {"wall": next(seconds)}}

        def end(self):
            pass
    args = types.SimpleNamespace(contestants=["ours"], starts=3, starts_only=True, clock="wall", cache=str(tiny))
    monkeypatch.setitem(onnx_race.onnx_models.MADE, "tiny", onnx_race.onnx_models.Made("own", None, None, [1]))
    row = onnx_race.Row("tiny", 1, 2, "avx512", args, str(tiny))
    row.started = lambda name, awake: Process()
    assert row.start() == [] and row.first == {"ours": 0.2}


def test_a_wrong_result_is_named(tiny):
    with np.load(tiny / "tiny.1.npz") as f:
        np.savez(tiny / "tiny.1.npz", in_x=f["in_x"], out_0=f["out_0"] * 1.01)
    done = race(tiny, "--only", "tiny", "--quick", "--rounds", "1", "--slice", "0.01", "--clock", "cpu")
    assert done.returncode == 0 and "WRONG" in done.stdout and "Disagree: tiny@1." in done.stdout, done.stdout + done.stderr


def test_what_it_does_not_take_is_refused(tiny):
    for arguments, words in ((["--level", "sse"], "--level sse; accepted: avx512, avx2"),
                             (["--only", "nothing"], "--only nothing: no such model"),
                             (["--contestants", "openvino"], "no contestant: onnxruntime and openvino need --peers PYTHON")):
        done = race(tiny, *arguments)
        assert done.returncode and words in done.stderr, done.stderr
    assert "resnet18: not made; --peers PYTHON makes it" in race(tiny, "--only", "resnet18").stderr


def test_the_list_has_what_the_comparison_needs(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import onnx_models
    kinds = [m.kind for m in onnx_models.MADE.values()]
    assert len(kinds) >= 40 and sum(m.quantized for m in onnx_models.MADE.values()) >= 10
    assert {"classification", "detection", "segmentation", "text encoder", "decoder with cache", "speech", "recurrent", "recommender",
            "diffusion", "small", "scikit-learn"} <= set(kinds)
    for name in ("bert", "dlrm", "streaming", "gpt", "resnet18"):
        first, other = (onnx_models.MADE[name].inputs(b) for b in (8, None))
        assert first.keys() == other.keys() and any(first[k].shape != other[k].shape for k in first)
        again = onnx_models.MADE[name].inputs(8)
        assert all(np.array_equal(first[k], again[k]) and first[k].std() > 0 or first[k].dtype.kind != "f" for k in first)


def test_differences_are_relative_to_the_largest_value(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    from onnx_race import error_of
    one = np.array([1.0, -4.0], "float32")
    assert error_of([one], [one]) == 0 and error_of([one + 0.04], [one]) == pytest.approx(0.01, rel=1e-3)
    assert error_of([one[:1]], [one]) == error_of([], [one]) == error_of([np.array([np.nan, 1])], [one]) == float("inf")


def raced(monkeypatch, tmp_path, level, quantized):
    """The figures of a race whose numbers are made up: ours 2 ms, onnxruntime 1, OpenVINO 3."""
    monkeypatch.syspath_prepend(BENCHMARK)
    import onnx_race
    monkeypatch.setattr(onnx_race.onnx_contestants, "has_instructions", lambda *flags: True)
    seconds = {"ours": 0.002, "onnxruntime": 0.001, "openvino": 0.003}
    begun = []

    class Process:
        def __init__(self, name, awake):
            self.name, self.info = name, {"first": {"wall": seconds[name]}, "imported": 1, "version": "0"}
            begun.append((name, awake))
            np.savez(tmp_path / (name + ".npz"), out_0=np.array([1.0 if name == "onnxruntime" else 1.1]))

        def time(self, workload, calls, settle=0):
            return [seconds[self.name]] * 2

        def peak_mib(self):
            return 5 + 1000 * seconds[self.name]

        def ask(self, number):
            return {"first": {"wall": seconds[self.name]}, "later": None}

        def end(self):
            pass
    np.savez(tmp_path / "tiny.1.npz", in_x=np.zeros(1), out_0=np.array([7.0]))
    made = onnx_race.onnx_models.Made("own", None, None, [1], quantized=quantized)
    monkeypatch.setitem(onnx_race.onnx_models.MADE, "tiny", made)
    args = types.SimpleNamespace(contestants=list(seconds), starts=1, starts_only=False, clock="wall", cache=str(tmp_path), slice=0.001,
                                 rounds=3, peers="python")
    row = onnx_race.Row("tiny", 1, 2, level, args, str(tmp_path))
    row.started = Process
    return onnx_race, row.figures(), begun


@pytest.mark.parametrize("level, quantized, held", [("avx2", True, False), ("avx512", True, True), ("avx2", False, False)])
def test_a_cell_that_cannot_be_measured_at_the_level_says_so(monkeypatch, tmp_path, level, quantized, held):
    onnx_race, figures, begun = raced(monkeypatch, tmp_path, level, quantized)
    line, summary = onnx_race.line(figures), onnx_race.summary([figures])
    assert figures["best"] == ("onnxruntime" if held else "openvino")
    assert figures["ratio"] == pytest.approx(0.5 if held else 1.5)
    assert all(("onnxruntime" in figures[key]) == held for key in ("median_ms", "first_ms", "peak_mib"))
    assert (" / not held / " in line, "| not held |" in line, "not held" in summary) == (not held,) * 3
    assert f"Speed: median {figures['ratio']:.2f}, {int(held)} of 1 below 0.95." in summary
    assert ("new shape: median" in summary) == held
    # What it computes is what ours is compared with, at every level.
    assert figures["errors"]["ours"] == pytest.approx(0.1) and begun.count(("onnxruntime", True)) == int(held)


def test_levels_are_those_of_the_processor(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import onnx_contestants
    for flags, levels in (({"avx2", "avx512f", "avx512_vnni"}, ("avx512", "avx2")), ({"avx2"}, ("avx2",))):
        monkeypatch.setattr(onnx_contestants, "has_instructions", lambda *asked, has=flags: not has.isdisjoint(asked))
        assert onnx_contestants.levels_here() == levels and onnx_contestants.saturates_here() == (len(flags) == 1)
        assert [onnx_contestants.is_held("onnxruntime", level) for level in levels] == [True, False][:len(levels)]


def test_the_library_is_copied_in_its_place_with_its_time(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(BENCHMARK)
    from onnx_race import copy_library
    library = tmp_path / "libmxnet.so"
    library.write_bytes(b"code")
    os.chmod(library, 0o755)
    os.utime(library, ns=(10**18, 10**18))
    with open(library, "rb") as before:   # a process that runs
        copy_library(str(library))
        assert os.fstat(before.fileno()).st_ino != os.stat(library).st_ino
        assert before.read() == library.read_bytes() == b"code"
    assert os.stat(library).st_mtime_ns == 10**18 and os.access(library, os.X_OK) and os.listdir(tmp_path) == ["libmxnet.so"]
    copy_library(None)


def test_cells_of_8_bits_at_avx2_leave_onnxruntime_out(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import int8
    monkeypatch.setattr(int8.onnx_contestants, "has_instructions", lambda *flags: True)
    times = {"ours": [0.002] * 3, "ours, own form": [0.004] * 3, "ours, float32": [0.006] * 3, "openvino": [0.003] * 3}
    figures = int8.row("resnet50", 1, "avx2", times, {"ours": 0.1, "openvino": 0.2})
    assert figures["ratio"] == pytest.approx(1.5)
    assert "| 6.00 | not held | 3.00 | 1.50 | 3.00 | 0.100 / - / not held / 0.200 |" in int8.printed(figures)
    figures = int8.row("resnet50", 1, "avx512", {**times, "onnxruntime": [0.001] * 3}, {})
    assert figures["ratio"] == pytest.approx(0.5) and "not held" not in int8.printed(figures)


def test_openvino_ends_where_its_kernels_are_above_the_level(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import onnx_contestants

    def compiled(*names):
        value = lambda text: types.SimpleNamespace(value=text)
        info = {name: {"primitiveType": value(name), "layerType": value("Reduce" if "f32" in name else "Convolution")} for name in names}
        nodes = [types.SimpleNamespace(get_rt_info=lambda i=i: i) for i in info.values()]
        return types.SimpleNamespace(get_runtime_model=lambda: types.SimpleNamespace(get_ops=lambda: nodes))
    onnx_contestants.check_level(compiled("jit_avx2_I8", "unknown_f32", "jit_avx512_f32"), "avx2")
    onnx_contestants.check_level(compiled("brgconv_avx512_I8"), "avx512")
    with pytest.raises(RuntimeError, match="above AVX2.*brgconv_avx512_I8"):
        onnx_contestants.check_level(compiled("jit_avx2_I8", "brgconv_avx512_I8"), "avx2")
    assert onnx_contestants.environment("openvino", "avx2", {}) == {"ONEDNN_MAX_CPU_ISA": "AVX2"}
