"""Variables that choose cuDNN's engines, on gpu(0) with and without each of them.

Programs print what cuDNN names (MXNET_CUDNN_ALGO_VERBOSE_LEVEL=2) and forbid some of that. Where
this cuDNN has no engine of a kind, it is made to say that an engine is of that kind.
"""
import re

import pytest

import mxnet as mx
from test_gpu_variables import note, run, watches

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(mx.num_gpus() == 0, reason="needs a GPU")]

CONVOLUTIONS = """
def notes(call, descriptor, name, kind, most, count, values):
    result, name = call(), name & 0xffffffff
    if name == 1303 and result == 0 and count and values:      # CUDNN_ATTR_ENGINE_NUMERICAL_NOTE
        number, kinds = ctypes.cast(count, ctypes.POINTER(ctypes.c_int64)), ctypes.cast(values, ctypes.POINTER(ctypes.c_int))
        said = kinds[:number[0]]
        if 0 in said and pretended not in said:                # engines with tensor cores
            kinds[number[0]] = pretended
            number[0] += 1
    return result

pretended = {pretended}
if pretended is not None:
    watch("cudnnBackendGetAttribute", 6, notes)
error = ""
d = np.random.RandomState(0)
for kernel in {kernels}:
    x, w = (mx.nd.array(d.uniform(-1, 1, shape), ctx=gpu, dtype="{dtype}") for shape in ((8, 16, 16, 16), (16, 16, kernel, kernel)))
    x.attach_grad()
    w.attach_grad()
    try:
        with mx.autograd.record({train}):
            y = mx.nd.Convolution(x, w, kernel=(kernel, kernel), num_filter=16, no_bias=True, pad=(kernel // 2, kernel // 2){options})
        y.wait_to_read()
        if {train}:
            y.backward()
            w.grad.wait_to_read(), x.grad.wait_to_read()
    except mx.MXNetError as e:
        error = str(e)
end(error=error)
"""
ALL = dict(MXNET_CUDNN_ALGO_VERBOSE_LEVEL="2", MXNET_CUDNN_AUTOTUNE_DEFAULT="0")      # all engines, the first is taken


def convolutions(variables, dtype="float16", kernels=(3,), train=True, options="", pretended=None):
    """What convolutions and their gradients print: [(pass, configs)] with the numbers, the notes,
    the workspace and the time of engines, the chosen one first; the error."""
    program = CONVOLUTIONS.format(dtype=dtype, kernels=tuple(kernels), train=train, options=options, pretended=pretended)
    told, text = run(program, **variables)
    return read(text), told["error"]


def read(text):
    problems = []
    for line in text.splitlines():
        head = re.match(r"\[mxnet\] cuDNN (forward convolution|data gradient|weight gradient), ", line)
        if head:
            problems.append((head.group(1), []))
        config = re.match(r"  ([* ])\d+: engine (\d+) knobs (\S+) notes (\S+) workspace (\d+)( time .*)?$", line)
        if config:
            chosen, engine, knobs, notes, workspace, time = config.groups()
            one = dict(engine=int(engine), knobs=knobs, notes=notes.split(","), workspace=int(workspace), timed=bool(time))
            problems[-1][1].insert(0 if chosen == "*" else len(problems[-1][1]), one)
    return problems


def by_pass(problems):
    return {name: configs for name, configs in problems}


def of_kind(problems, kinds):
    return [(name, c["engine"]) for name, configs in problems for c in configs if set(c["notes"]) & kinds]


def test_printed_engines():
    counts = []
    for level in "012":
        problems, error = convolutions(dict(ALL, MXNET_CUDNN_ALGO_VERBOSE_LEVEL=level))
        assert not error
        counts.append([len(configs) for _, configs in problems])
    assert counts[0] == [] and counts[1] == [1, 1, 1] and len(counts[2]) == 3 and max(counts[2]) > 1
    note("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", f"0: configs {counts[0]}", f"1: {counts[1]}, 2: {counts[2]}")


@pytest.mark.parametrize("which, name", [("FWD", "forward convolution"), ("DGRAD", "data gradient"), ("WGRAD", "weight gradient")])
def test_disabled_engines(which, name):
    """The engine that was chosen for one pass is forbidden for it: another one computes it, and the
    others have theirs."""
    variable = f"MXNET_CUDNN_DISABLED_CONV_{which}_ENGINES"
    problems, error = convolutions(ALL)
    before = by_pass(problems)
    assert not error and len(before) == 3
    chosen = before[name][0]["engine"]
    problems, error = convolutions({**ALL, variable: f"{chosen},9999"})
    after = by_pass(problems)
    if error:       # a cuDNN that has no other engine
        assert "MXNET_CUDNN_DISABLED_CONV_*_ENGINES" in error or "no engine" in error, error
        assert name not in after
        return note(variable, f"engine {chosen}", error)
    assert all(c["engine"] != chosen for c in after[name])
    assert {k: v[0]["engine"] for k, v in after.items() if k != name} == {k: v[0]["engine"] for k, v in before.items() if k != name}
    note(variable, f"engine {chosen}", f"engine {after[name][0]['engine']}")


FILTERS = [
    ("MXNET_CUDNN_ALLOW_FFT", "0", {"fft"}, 3, "float32", (5,), {}),
    ("MXNET_CUDNN_ALLOW_WINOGRAD", "0", {"w", "w4x4", "w6x6", "w13x13"}, 5, "float32", (3,), {}),
    ("MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION", "0", {"rp"}, 2, "float16", (3,), {}),
    ("MXNET_ENFORCE_DETERMINISM", "1", {"nd"}, 4, "float32", (3, 5), {}),
    ("MXNET_CUDA_ALLOW_TENSOR_CORE", "0", {"tc"}, None, "float16", (3,), {}),
]
# Engines of float32 with tensor cores are there to be pretended about.
TF32 = {"MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION": "1"}


@watches
@pytest.mark.parametrize("variable, value, kinds, number, dtype, kernels, common", FILTERS, ids=[f[0] for f in FILTERS])
def test_filters(variable, value, kinds, number, dtype, kernels, common):
    """Engines of a kind are named, and are not with the variable."""
    pretended, said = None, ""
    problems, error = convolutions({**ALL, **common}, dtype, kernels)
    assert not error
    if not of_kind(problems, kinds) and number is not None:
        pretended, said, common = number, ", said of engines with tensor cores", TF32
        problems, error = convolutions({**ALL, **common}, dtype, kernels, pretended=pretended)
    without = of_kind(problems, kinds)
    assert without and not error
    problems, error = convolutions({**ALL, **common, variable: value}, dtype, kernels, pretended=pretended)
    assert of_kind(problems, kinds) == []
    if error:       # a cuDNN that has no other engine
        assert variable in error or "MXNET_CUDNN_ALLOW_*" in error or "no engine" in error, error
    else:
        assert len(problems) >= 3 * len(kernels)
    note(variable, f"{len(without)} configs of {'/'.join(sorted(kinds))}{said}, as engine {without[0][1]} of the {without[0][0]}",
         error or "none of " + str(sum(len(configs) for _, configs in problems)))


def test_tensor_float_engines():
    plain, permitted = (convolutions({**ALL, **v}, "float32", (3, 5)) for v in ({}, TF32))
    assert not plain[1] and not permitted[1]
    with_cores = of_kind(permitted[0], {"tc"})
    assert of_kind(plain[0], {"tc", "dc"}) == [] and with_cores
    note("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "no engine of float32 with tensor cores", f"{len(with_cores)} configs")


def test_measured_engines():
    """0 measures nothing; 1 measures within the operator's workspace, which is none at all here; 2
    measures what needs more too."""
    def seen(tune, options):
        problems, error = convolutions(dict(TF32, MXNET_CUDNN_ALGO_VERBOSE_LEVEL="2", MXNET_CUDNN_AUTOTUNE_DEFAULT=tune),
                                       "float32", (5,), train=False, options=options)
        assert not error or "more than the 0 MiB" in error, error
        return [c for _, configs in problems for c in configs]
    still, measured = seen("0", ""), seen("1", "")
    assert len(still) > 1 and not any(c["timed"] for c in still)
    assert len(measured) > 1 and any(c["timed"] for c in measured)
    note("MXNET_CUDNN_AUTOTUNE_DEFAULT", f"0: {len(still)} configs, none measured", f"1: {sum(c['timed'] for c in measured)} measured")
    limited, free = (max([c["workspace"] for c in seen(tune, ", workspace=0")], default=0) for tune in "12")
    assert limited == 0 < free
    note("MXNET_CUDNN_AUTOTUNE_DEFAULT", f"1: engines with {limited} bytes, as workspace=0 says", f"2: with up to {free}")


HEURISTICS = """
modes = []
def attributes(call, descriptor, name, kind, count, values):
    if name & 0xffffffff == 200:        # CUDNN_ATTR_ENGINEHEUR_MODE
        modes.append(ctypes.cast(values, ctypes.POINTER(ctypes.c_int))[0])
    return call()
watch("cudnnBackendSetAttribute", 5, attributes)
"""


@watches
def test_heuristics():
    """Which list cuDNN is asked for: CUDNN_HEUR_MODE_A is the decision tree, B the network. What
    they name need not differ."""
    program = HEURISTICS + CONVOLUTIONS.format(dtype="float16", kernels=(3, 5), train=True, options="", pretended=None)
    program = program.replace("end(error", "end(modes=sorted(set(modes)), error")
    (told, text), (again, other) = (run(program, **ALL, **v) for v in ({}, {"MXNET_CUDNN_HEUR_MODE": "0"}))
    assert not told["error"] and not again["error"]
    tree, network = 3, 1
    assert network in told["modes"] and tree in again["modes"] and network not in again["modes"]
    assert "heuristics 1" in text and "heuristics 0" in other
    firsts = [[configs[0]["engine"] for _, configs in read(t)] for t in (text, other)]
    note("MXNET_CUDNN_HEUR_MODE", f"1: modes {told['modes']}, first engines {firsts[0]}", f"0: {again['modes']}, {firsts[1]}")
