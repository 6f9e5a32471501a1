"""The benchmarks' own checks: results of the measured operators against their references."""
import contextlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

BENCHMARK = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), "benchmark")


def kernels(*arguments):
    return subprocess.run([sys.executable, os.path.join(BENCHMARK, "kernels.py"), *arguments], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("words, count", [("5x5,1x7,depthwise 3x3,dilated,1-D,avg pooling", 9),
                                          ("batch_dot,embedding,softmax,LayerNorm,gelu,gru,2048 to "
                                           "1000", 8),
                                          pytest.param("", 47, marks=pytest.mark.nightly)])
def test_measured_operators_compute_what_their_references_do(words, count):
    done = kernels("--check", "--only", words)
    assert done.returncode == 0, done.stderr
    errors = json.loads(done.stdout.splitlines()[-1])
    assert len(errors) == count and 0 < max(errors.values()) < 4e-5, errors


def test_a_wrong_result_is_an_error(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import kernels as program
    name = "gelu, 128 rows of 3072"
    assert program.check([name])[name] < 2e-6
    monkeypatch.setattr(program, "reference_of", lambda case: np.full((128, 3072), 0.5))
    with pytest.raises(SystemExit, match="gelu, 128 rows of 3072: error .* against float64; accepted: 2e-06"):
        program.check([name])
    assert program.reference.error(np.array([np.nan]), np.ones(1)) == program.reference.error(np.ones(2), np.ones(1)) == float("inf")


def test_an_unknown_operator_is_refused():
    done = kernels("--only", "elsewhere")
    assert done.returncode == 2 and "--only elsewhere: no operator's name holds that" in done.stderr


def test_the_walk_tells_memory_and_times_of_each_build():
    library = mx.libinfo.find_lib_path()[0]
    done = subprocess.run([sys.executable, os.path.join(BENCHMARK, "memory.py"), "--walk",
                           "--other", library, "--stops", "3", "--steps", "1", "--scale", "0.1",
                           "--rest", "1",
                           "--turns", "1"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = {cells[1].strip(): [float(c) for c in cells[2:4]]
            for cells in (line.split("|") for line in done.stdout.splitlines()) if len(cells) > 3
            and cells[2].strip(" -").replace(".", "").isdigit()}
    assert {"peak", "resident", "resident 1 s later", "walk, faults", "faults a step, eager",
            "ms a step, hybridized"} <= set(rows), done.stdout
    assert all(peak >= resident > 10 for peak, resident in zip(rows["peak"], rows["resident"])), done.stdout


def test_shared_cores_are_measured_with_every_load():
    """Two programs with one neighbour: a row each. What contestants compute is compared, so both
    must agree."""
    done = subprocess.run([sys.executable, os.path.join(BENCHMARK, "shared.py"), "--neighbours",
                           "1", "--quotas", "--rounds", "1", "--slice", "0.01", "--only",
                           "small CNN, step", "20 eager operators"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()]
    assert head == ["load", "program", "ours, ms", "ours, 1 thread, ms"]
    assert [row[:2] for row in rows] == [["1 neighbours", "small CNN, step"], ["1 neighbours", "20 eager operators"]]
    assert all(float(ms) > 0 for row in rows for ms in row[2:])


def test_a_contestant_that_computes_something_else_is_an_error(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import shared

    class Said:
        def __init__(self, name, *numbers):
            self.name, self.info = name, {"numbers": {"a program": list(numbers)}}
    shared.check([Said("ours", 1.0, 2.0), Said("torch", 1.0, 2.001)])
    for wrong in ((1.0, 2.1), (1.0,), (1.0, float("nan"))):
        with pytest.raises(shared.Failed, match="a program: torch computes .*, ours "):
            shared.check([Said("ours", 1.0, 2.0), Said("torch", *wrong)])


def test_quotas_without_control_groups_are_left_out_in_one_line(monkeypatch, capsys):
    monkeypatch.syspath_prepend(BENCHMARK)
    import shared

    def refused(path):
        raise PermissionError(path)
    monkeypatch.setattr(os, "mkdir", refused)
    monkeypatch.setattr(sys, "argv", ["shared.py", "--neighbours", "--quotas", "1.5"])
    shared.main()
    assert capsys.readouterr().out.splitlines()[2:] == ["", "quota of 1.5: left out, no control group of processor time can be made here"]


def test_a_quota_holds():
    """A process in a group of half a processor computes for about half of the time."""
    program = """if True:
        import sys, time
        sys.path.insert(0, sys.argv[1])
        import shared
        here, group = open("/proc/self/cgroup").read(), shared.Quota(0.5)
        if not group.enter():
            raise SystemExit("none")
        begin = time.perf_counter(), time.process_time()
        while time.perf_counter() < begin[0] + 2:
            pass
        print((time.process_time() - begin[1]) / (time.perf_counter() - begin[0]))
        folder = group.folder
        shared.leave(here)
        group.end()
        import os
        assert not os.path.exists(folder), folder
        """
    done = subprocess.run([sys.executable, "-c", program, BENCHMARK], capture_output=True, text=True, timeout=100)
    if done.stderr == "none\n":
        pytest.skip("no control group can be made here")
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 0.65


@pytest.mark.skipif(mx.context.num_gpus() > 0, reason="a GPU is here")
@pytest.mark.parametrize("program", ["score", "train", "eager", "kernels", "memory", "rnn", "leak"])
def test_a_gpu_where_there_is_none_is_one_clear_line(program):
    done = (subprocess.run([sys.executable, os.path.join(BENCHMARK, program + ".py"), "--ctx",
                            "gpu"], capture_output=True, text=True, timeout=600))
    assert done.returncode == 1 and done.stdout == "", done.stdout
    assert done.stderr == f"{program}: --ctx gpu needs a GPU and a CUDA build, and there is no GPU here; accepted: --ctx cpu\n"


@pytest.mark.parametrize("arguments,told", [(["score", "--dtype", "float16"], "--dtype float16: choose from float32, bfloat16"),
                                            (["train", "--dtype", "bfloat16"], "--dtype bfloat16: choose from float32"),
                                            (["score", "--ctx", "gpu", "--dtype", "int8"], "choose from float32, tf32, bfloat16, float16"),
                                            (["score", "--ctx", "gpu", "--contestants", "openvino"],
                                             "choose from ours, torch, torch graph, torch compile, "
                                             "torch compile graph"),
                                            (["score", "--ctx", "gpu", "--clock", "cpu"], "--ctx gpu goes with --clock wall"),
                                            (["score", "--each-call"], "--each-call goes with --ctx gpu"),
                                            (["kernels", "--dtype", "tf32"], "--dtype and --write-docs go with --ctx gpu"),
                                            (["eager", "--write-docs"], "--write-docs goes with --ctx gpu")])
def test_options_that_do_not_go_together(arguments, told):
    done = (subprocess.run([sys.executable, os.path.join(BENCHMARK, arguments[0] + ".py"),
                            *arguments[1:]], capture_output=True, text=True, timeout=600))
    assert done.returncode == 2 and told in done.stderr, done.stderr


def test_figures_of_a_gpu_go_to_their_own_page(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import report
    docs = tmp_path / "docs" / "gpu"
    docs.mkdir(parents=True)
    with open(os.path.join(BENCHMARK, "..", "docs", "gpu", "figures.md")) as f:
        (docs / "figures.md").write_text(f.read())
    for text in ("first", "second"):
        report.write_gpu(str(tmp_path), "score tf32", f"{text} table")
        report.write_gpu(str(tmp_path), "elsewhere", f"{text} addition")
    page = (docs / "figures.md").read_text()
    assert ("<!-- score tf32: begin -->\nsecond table\n<!-- score tf32: end -->" in page
            and "<!-- elsewhere: begin -->\nsecond addition\n<!-- elsewhere: end -->" in page)
    assert "first table" not in page and "first addition" not in page
    assert page.count("elsewhere: begin") == 1 and page.count("## Training") == 1
    assert os.listdir(docs) == ["figures.md"]


def test_operators_of_a_gpu_on_the_cpu(monkeypatch):
    """What kernels.py would run on a GPU, with small arrays and the CPU in its place, gives the
    same in every type."""
    monkeypatch.syspath_prepend(BENCHMARK)
    import kernels as program
    monkeypatch.setattr(mx, "gpu", lambda index: mx.cpu(1))
    small = {name: case._replace(settings=dict(case.settings, shape=(96, 64)))
             for name, case in program.kernels_gpu.CASES.items() if case.kind == "call"}
    monkeypatch.setattr(program.kernels_gpu, "CASES", small)
    for dtype in program.kernels_gpu.DTYPES:
        errors = program.check_on_gpu(list(small), dtype)
        assert (len(errors) == len(program.kernels_gpu.CALLS)
                and (dtype in program.kernels_gpu.HALF) == (max(errors.values()) > 1e-4)), errors


def test_contestants_of_a_gpu_on_the_cpu(tmp_path, monkeypatch):
    """This library's contestants, with a small network and the CPU in the GPU's place: types agree,
    training begins with the same loss."""
    monkeypatch.syspath_prepend(BENCHMARK)
    import contestants_gpu
    import networks

    def build():
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Conv2D(8, 3, use_bias=False), mx.gluon.nn.BatchNorm(),
                mx.gluon.nn.Activation("relu"), mx.gluon.nn.GlobalAvgPool2D(),
                mx.gluon.nn.Dense(1000))
        return net
    monkeypatch.setitem(networks.NETWORKS, "small", networks.Network("Small", build, (3, 12, 12)))
    monkeypatch.setattr(mx, "gpu", lambda index: mx.cpu(1))
    monkeypatch.setattr(mx.context, "num_gpus", lambda: 1)
    monkeypatch.setattr(mx.context, "gpu_memory_info", lambda index: (1, 2))
    folder = networks.prepare("small", str(tmp_path))
    x = networks.examples(networks.NETWORKS["small"], 4)
    for loaders, bound in ((contestants_gpu.score_mxnet, None), (contestants_gpu.train_mxnet, 0.1)):
        expected = None
        for dtype in contestants_gpu.DTYPES["score"]:
            loaded = loaders("ours", folder, x, dtype, True)
            got = loaded.output()
            expected = got if expected is None else expected
            assert (got.dtype == np.float32 and np.abs(got - expected).max()
                    <= (bound or contestants_gpu.TOLERANCE[dtype]) * np.abs(expected).max()), dtype
            loaded.run(2)
            assert loaded.device_mib() == 0


def test_the_table_of_the_v100_on_the_cpu(tmp_path, monkeypatch):
    """A process's cells with a small network and the CPU in the GPU's place: a batch that does not
    fit is told, and later ones are measured with a network of their own."""
    monkeypatch.syspath_prepend(BENCHMARK)
    import networks
    import v100

    def build():
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Conv2D(8, 3), mx.gluon.nn.GlobalAvgPool2D(), mx.gluon.nn.Dense(1000))
        return net
    monkeypatch.setitem(networks.NETWORKS, "alexnet", networks.Network("Small", build, (3, 12, 12)))
    monkeypatch.setattr(mx, "gpu", lambda index: mx.cpu(1))
    monkeypatch.setattr(mx.context, "num_gpus", lambda: 1)
    step, sizes, nets = v100.contestants_gpu.training_step, [], set()

    def training_step(mx, net, x, y):
        sizes.append(x.shape[0])
        nets.add(net)
        if x.shape[0] == 32:
            raise MemoryError
        return step(mx, net, x, y)
    monkeypatch.setattr(v100.contestants_gpu, "training_step", training_step)
    sent = []
    cells = [("scoring", 1), ("scoring", 100), ("training", 1), ("training", 2), ("training", 8)]
    v100.measure("alexnet", "float32", cells, 0.01, str(tmp_path), str(tmp_path / "lock"), sent.append)
    assert sent[0] == {"version": mx.__version__} and [(c["part"], c["batch"]) for c in sent[1:]] == cells
    assert sizes == [16, 32, 128] and len(nets) == 2
    assert [c["rate"] == "OOM" for c in sent[1:]] == [False, False, False, True, False]
    assert all(c["rate"] > 0 and c["finite"] for c in sent[1:] if c["rate"] != "OOM")


def test_cells_of_cut_runs_make_tables(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import v100
    known = v100.guide()
    assert len(known) == 9 * 6 + 9 * 5 + 8 * 3 and known["training", "float32", "alexnet", 128] == "OOM"
    cell = {"part": "training", "dtype": "float32", "model": "alexnet", "batch": 64, "v100": 1984.21}
    files = []
    for gpu, cells in (("one", [{**cell, "rate": 1.0, "finite": True}]),
                       ("other", [{**cell, "rate": 3968.42, "finite": True},
                                  {**cell, "batch": 128, "v100": "OOM", "rate": 5.0, "finite": False},
                                  {**cell, "model": "resnet50", "v100": 343.19, "rate": "OOM"}])):
        files.append(str(tmp_path / gpu))
        with open(files[-1], "w") as f:
            json.dump({"gpu": gpu, "host_cores": 1, "seconds": 0.1, "cells": cells, "notes": []}, f)
    text = v100.markdown(v100.merged(files))
    assert "GPU: one and other;" in text and text.endswith("""
| batch | AlexNet (batch × 16) | ResNet-50 |
|---|---|---|
| 64 | 3968.4 (1984.21, 2.00) | OOM (343.19) |
| 128 | 5.0 (OOM) not finite |  |
""")


def test_stores_below_their_targets_are_told(monkeypatch, capsys):
    monkeypatch.syspath_prepend(BENCHMARK)
    import kvstore_targets as program
    said = {"sums": [["a", "a"], ["a", "b"]], "steps_over_a_link": [[1.0, 1.0]]}
    monkeypatch.setattr(program, "ours", lambda workers, servers, name, *rest, **options: said[name] * (workers // 2))
    report = program.Report()
    args = program.argparse.Namespace(only=["bits", "p3"], rounds=2)
    program.bits(args, report)
    assert report.below == 2
    said["sums"] = [["a", "a"], ["a", "a"]]
    program.bits(args, report)
    assert report.below == 2
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(program, "slow_links", lambda hosts, mbit: contextlib.nullcontext(((), (), None)))
    program.over_slow_links(args, report)
    assert report.below == 3
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["below", "below", "ok", "ok", "below"]
    assert "1.00 s with dist_p3, 1.00 s with dist_sync: 0 % shorter; target at least 20 %" in lines[-1]


@pytest.mark.nightly
def test_stores_reach_the_target_that_is_no_time():
    done = subprocess.run([sys.executable, os.path.join(BENCHMARK, "kvstore_targets.py"), "--only", "bits"], capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0 and done.stdout.count("ok    dist_sync") == 2, done.stdout + done.stderr


def test_cases_of_operators_compute(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    import operators as program
    from operators_cases import LINALG, VISION, VISION_GRADIENT
    for part, cases in (("vision-gradient", VISION_GRADIENT), ("vision", VISION), ("linalg", LINALG)):
        space, wait = program.own_space(part, 4)
        for case in cases:
            call = eval("lambda: " + case[1], space)   # noqa: S307
            result = call()
            assert np.isfinite(result.asnumpy()).all() and result.size > 0, case[0]
            if part == "vision-gradient":
                program.with_backward("ours", call, space)()
    wait()
    whole, lower = space["s16"].asnumpy(), space["l16"].asnumpy()
    assert np.allclose(lower @ lower.swapaxes(1, 2), whole, atol=1e-4)
