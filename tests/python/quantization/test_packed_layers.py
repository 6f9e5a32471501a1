"""Convolutions and dense layers of 8-bit integers with zero points, by loops of our own and by
oneDNN, which has no exact sums of bytes on a processor without VNNI. Sums are exact and what
follows is float32 in a known order (SumsFinish): results are equal to the last bit."""
import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from processor import has_amx

pytestmark = pytest.mark.cpu
HAS_AMX = has_amx()
INTEGERS = {"int8": (-128, 127), "uint8": (0, 255)}


@pytest.fixture(autouse=True)
def our_loops():
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "0")
    yield
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "1")


@pytest.fixture
def with_library(our_loops):
    """oneDNN may take what it is faster at. `ran` is not looked at."""
    mx.util.set_env("MXNET_ONEDNN_ENABLED", "1")


def bytes_of(rng, dtype, shape):
    low, high = INTEGERS[dtype]
    return rng.integers(low, high + 1, shape).astype(dtype)


def zero_of(rng, dtype):
    return int(rng.integers(INTEGERS[dtype][0], INTEGERS[dtype][1] + 1))


def here(ran, kernel):
    """Matrix tiles take the place of other methods, which test_other_instructions has."""
    if not HAS_AMX or ran.startswith("depthwise"):
        return ran
    return "packed GEMM of bytes" if kernel in (None, (1, 1)) else "packed implicit GEMM of bytes"


def sums(x, zero, w, groups, stride, dilate, pad, pad_end):
    """Of images (n, c, h, w) with windows (f, c / groups, kh, kw), less the zero point."""
    x = np.pad(x.astype("int64") - zero, ((0, 0), (0, 0), (pad[0], pad_end[0]), (pad[1], pad_end[1])))
    filters, channels, *kernel = w.shape
    out = [(x.shape[i + 2] - (kernel[i] - 1) * dilate[i] - 1) // stride[i] + 1 for i in (0, 1)]
    y = np.zeros((x.shape[0], groups, filters // groups, *out), "int64")
    x = x.reshape(x.shape[0], groups, channels, *x.shape[2:])
    w = w.reshape(groups, filters // groups, channels, *kernel)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = x[..., i * dilate[0]:, j * dilate[1]:][..., ::stride[0], ::stride[1]][..., :out[0], :out[1]]
            y += np.einsum("ngchw,gfc->ngfhw", part, w[..., i, j])
    return y.reshape(x.shape[0], filters, *out)


def rounded(values, form):
    """Steps of (dtype, scale, zero) in whole numbers."""
    low, high = (np.float32(limit - form[2]) for limit in INTEGERS[form[0]])
    return np.clip(np.rint(values), low, high)


def expected(y, case, scale, bias, addend):
    """What becomes of sums, whose filters are axis 1. Values are counted in steps of the result, or
    first of what they are rounded to before."""
    shape = (1, -1) + (1,) * (y.ndim - 2)
    if case["out_type"] == "int32":
        return y
    step = np.float32(case["out"][1] if "out" in case else 1)
    unit = np.float32(case["between"][1]) if "between" in case else step
    scale, bias = (of.astype("float32").reshape(shape) for of in (scale, bias))
    v = y.astype("float32") * (scale / unit)
    if not case.get("bias_last"):
        v = v + bias / unit
    if "between" in case:
        v = rounded(v, case["between"]) * (unit / step)
    if case.get("bias_last"):
        v = v + bias / step
    if addend is not None and addend.dtype == "float32":
        v = v + addend
    elif addend is not None:   # a product of float32 is exact in float64: the sum is rounded as that of a fused operation is
        product = (addend.astype("float64") - case["addend"][2]) * np.float64(np.float32(case["addend"][1]) / step)
        v = (product + v).astype("float32")
    v = np.clip(v, np.float32(case.get("low", -np.inf)) / step, np.float32(case.get("high", np.inf)) / step)
    if case["out_type"] == "float32":
        return v
    return (rounded(v, case["out"]) + case["out"][2]).astype(case["out_type"])


def draw(rng, deep):
    """What follows a layer, at random; and the dtype of its data."""
    case = {"data": str(rng.choice(["int8", "uint8"])), "out_type": str(rng.choice(["int8", "uint8", "uint8", "float32", "int32"]))}
    spread = np.float32(0.01 * 0.02 * 5000 * np.sqrt(deep))
    is_bytes = case["out_type"] in INTEGERS
    if is_bytes:
        case["out"] = (case["out_type"], float(spread / rng.integers(20, 200)), zero_of(rng, case["out_type"]))
    if case["out_type"] == "int32":
        return case
    if rng.random() < 0.4:
        dtype = str(rng.choice(list(INTEGERS)))
        case["between"] = (dtype, float(spread / 100), zero_of(rng, dtype))
        case["bias_last"] = bool(rng.random() < 0.4)
    if rng.random() < 0.5:
        dtype = str(rng.choice(list(INTEGERS))) if is_bytes else "float32"
        case["addend"] = (dtype, float(spread / 90), zero_of(rng, dtype) if is_bytes else 0)
    if rng.random() < 0.6:
        case["low"] = 0.0
    if rng.random() < 0.3:
        case["high"] = float(spread)
    return case


def attributes(case):
    found = {"out_type": case["out_type"], "bias_last": case.get("bias_last", False)}
    found.update({k: case[k] for k in ("low", "high") if k in case})
    if "out" in case:
        found.update(out_scale=case["out"][1], out_zero=case["out"][2])
    for name in ("between", "addend"):
        if name in case:
            found.update({f"{name}_type": case[name][0], f"{name}_scale": case[name][1], f"{name}_zero": case[name][2]})
    return dict(found, with_addend="addend" in case)


def run(op, rng, case, x, w, zero, y, ran=None, **layer):
    """The operator's result is what it must be. `ran`: what computed it."""
    filters = w.shape[0]
    scale = (2e-4 * (0.5 + rng.random(filters if rng.random() < 0.7 else 1))).astype("float32")
    bias = rng.normal(size=filters).astype("float32")
    inputs = {"data": x, "weight": w, "scale": scale, "zero": np.array([zero], case["data"]), "bias": bias}
    addend = None
    if case.get("weight_zero") is not None:
        inputs["weight_zero"] = case["weight_zero"]
    if "addend" in case:
        dtype = case["addend"][0]
        addend = bytes_of(rng, dtype, y.shape) if dtype in INTEGERS else rng.normal(size=y.shape).astype("float32")
        inputs["addend"] = addend
    names = list(inputs)
    arrays = {n: mx.nd.array(v, dtype=v.dtype) for n, v in inputs.items()}
    symbol = getattr(mx.sym._internal, op)(**{n: mx.sym.var(n) for n in names}, num_filter=filters, **layer, **attributes(case),
                                           with_weight_zero="weight_zero" in inputs)
    executor = symbol.bind(mx.cpu(), arrays, grad_req="null")
    got = executor.forward()[0].asnumpy()
    np.testing.assert_array_equal(got, expected(y, case, scale, bias, addend), err_msg=f"{case} {layer}")
    if ran is not None and mx.util.getenv("MXNET_ONEDNN_ENABLED") == "0":
        nodes = executor.explain(runs=1).plan["nodes"]
        assert [n["ran"][0]["implementation"] for n in nodes if n["op"] == op] == [here(ran, layer.get("kernel"))]


@pytest.mark.parametrize("seed", range(40))
def test_convolutions(seed):
    rng = np.random.default_rng(seed)
    groups = int(rng.choice([1, 1, 1, 2, 3]))
    channels, filters = (groups * int(rng.integers(1, 40)) for _ in range(2))
    if seed % 5 == 4:  # windows of single channels
        groups = channels = filters = int(rng.integers(1, 70))
    kernel, dilate = rng.integers(1, 4, 2), rng.integers(1, 3, 2)
    stride, pad, pad_end = rng.integers(1, 3, 2), rng.integers(0, 3, 2), rng.integers(0, 3, 2)
    case = draw(rng, channels // groups * int(np.prod(kernel)))
    x = bytes_of(rng, case["data"], (int(rng.integers(1, 4)), channels, *rng.integers(5, 13, 2)))
    w = bytes_of(rng, "int8", (filters, channels // groups, *kernel))
    zero = zero_of(rng, case["data"])
    less = np.zeros(filters, "int64")
    if seed % 4 == 3:
        case["weight_zero"] = rng.integers(-128, 128, filters if seed % 8 == 3 else 1).astype("int32")
        less = less + case["weight_zero"]
    y = sums(x, zero, w.astype("int64") - less.reshape(-1, 1, 1, 1), groups, stride, dilate, pad, pad_end)
    run("_integer_convolution", rng, case, x, w, zero, y, kernel=tuple(kernel), stride=tuple(stride), dilate=tuple(dilate),
        pad=tuple(pad), pad_end=tuple(pad_end), num_group=groups)


@pytest.mark.parametrize("seed", range(20))
def test_dense_layers(seed):
    rng = np.random.default_rng(1000 + seed)
    rows, k, n = (int(rng.integers(1, most)) for most in (150, 400, 150))
    case = draw(rng, k)
    x, w = bytes_of(rng, case["data"], (rows, k)), bytes_of(rng, "int8", (n, k))
    zero = zero_of(rng, case["data"])
    run("_integer_dense", rng, case, x, w, zero, (x.astype("int64") - zero) @ w.astype("int64").T)


@pytest.mark.parametrize("seed", range(20))
def test_products_of_two_arrays(seed):
    rng = np.random.default_rng(2000 + seed)
    batch, m, k, n = (int(rng.integers(1, most)) for most in (5, 120, 90, 70))
    case = {key: value for key, value in draw(rng, k).items() if key not in ("between", "bias_last", "addend")}
    a = bytes_of(rng, case["data"], (batch, m, k))
    b = bytes_of(rng, str(rng.choice(list(INTEGERS))), (batch, k, n))
    zeros = zero_of(rng, case["data"]), int(rng.integers(0, 100))
    y = (a.astype("int64") - zeros[0]) @ (b.astype("int64") - zeros[1])
    scale = np.float32(0.02) * np.float32(0.01)
    given = {key: value for key, value in attributes(case).items() if key.split("_")[0] in ("out", "low", "high")}
    got = mx.nd._internal._integer_matmul(mx.nd.array(a, dtype=a.dtype), mx.nd.array(b, dtype=b.dtype), a_scale=0.02, b_scale=0.01,
                                          a_zero=zeros[0], b_zero=zeros[1], **given).asnumpy()
    np.testing.assert_array_equal(got, expected(y, case, np.array([scale]), np.zeros(1, "float32"), None), err_msg=str(case))


WINOGRAD = "Winograd F({0}x{0}, 3x3) of bytes"
TILES = [   # channels, filters, image, pad, pad behind, tile
    (16, 16, (14, 14), (1, 1), (1, 1), 4), (33, 47, (9, 21), (1, 0), (0, 2), 4), (70, 19, (3, 50), (1, 1), (1, 1), 4),
    (64, 70, (4, 4), (1, 1), (1, 1), 2), (65, 130, (1, 2), (2, 2), (3, 2), 2), (40, 40, (2, 3), (7, 5), (4, 9), 4),
    (24, 24, (31, 7), (0, 0), (0, 0), 4), (129, 100, (4, 3), (1, 1), (1, 1), 2)]


@pytest.mark.parametrize("channels, filters, image, pad, pad_end, tile", TILES)
def test_winograd(channels, filters, image, pad, pad_end, tile):
    """Tiles at the edges, pads longer than the window, what follows in all forms."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        case = draw(rng, channels * 9)
        x = bytes_of(rng, case["data"], (1 + seed % 2, channels, *image))
        w = bytes_of(rng, "int8", (filters, channels, 3, 3))
        zero = (*INTEGERS[case["data"]], zero_of(rng, case["data"]))[seed % 3]
        y = sums(x, zero, w, 1, (1, 1), (1, 1), pad, pad_end)
        run("_integer_convolution", rng, case, x, w, zero, y, WINOGRAD.format(tile) if len(x) == 1 else None, kernel=(3, 3), pad=pad,
            pad_end=pad_end)


@pytest.mark.parametrize("size, tile", [(12, 4), (2, 2)])
def test_winograd_of_extremes(size, tile):
    """The largest numbers of 16 bits that transforms give, and sums that exceed 32 bits on the
    way."""
    rng = np.random.default_rng(size)
    signs = [rng.choice([0, 1], (48, 3, 3)), np.ones((48, 3, 3), "int64"), np.indices((48, 3, 3)).sum(0) % 2]
    for dtype, (low, high) in INTEGERS.items():
        for zero in (low, high):
            for sign in signs:
                w = np.where(sign, 127, -128)[None].repeat(32, 0).astype("int8")
                plain = np.where(rng.random((48, size, size)) < 0.5, low, high)
                against = np.where(np.resize(w[0] > 0, (48, size, size)), high, low)
                x = np.stack([plain, against, np.full_like(plain, low + high - zero)]).astype(dtype)
                y = sums(x, zero, w, 1, (1, 1), (1, 1), (1, 1), (1, 1))
                run("_integer_convolution", rng, {"data": dtype, "out_type": "int32"}, x, w, zero, y, WINOGRAD.format(tile), kernel=(3, 3),
                    pad=(1, 1), pad_end=(1, 1))


@pytest.mark.parametrize("channels, ran", [(1827, WINOGRAD.format(2)), (1828, "packed GEMM of bytes")])
def test_winograd_up_to_its_largest_sums(channels, ran):
    """2^29: what is beyond has no tiles."""
    x, w = np.full((1, channels, 4, 4), 255, "uint8"), np.full((16, channels, 3, 3), -128, "int8")
    y = sums(x, 0, w, 1, (1, 1), (1, 1), (1, 1), (1, 1))
    assert (y.min() > -2**29) == (channels == 1827)
    run("_integer_convolution", np.random.default_rng(0), {"data": "uint8", "out_type": "int32"}, x, w, 0, y, ran, kernel=(3, 3),
        pad=(1, 1), pad_end=(1, 1))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_winograd_of_weights_whose_channels_are_last(dtype):
    rng = np.random.default_rng(8)
    x, w = bytes_of(rng, dtype, (2, 21, 13, 10)), bytes_of(rng, "int8", (50, 21, 3, 3))
    y = sums(x, 0, w, 1, (1, 1), (1, 1), (1, 1), (1, 1))
    arrays = {"data": mx.nd.array(x.transpose(0, 2, 3, 1), dtype=dtype), "weight": mx.nd.array(w.transpose(0, 2, 3, 1), dtype="int8")}
    arrays.update({f"{end}_{of}": mx.nd.array([1]) for of in arrays for end in ("min", "max")})
    conv = mx.sym.contrib.quantized_conv(**{n: mx.sym.var(n) for n in arrays}, kernel=(3, 3), pad=(1, 1), num_filter=50, no_bias=True,
                                         layout="NHWC")
    executor = conv.bind(mx.cpu(), arrays, grad_req="null")
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), y.transpose(0, 2, 3, 1))
    ran = [n["ran"][0]["implementation"] for n in executor.explain(runs=1).plan["nodes"] if "quantized_conv" in n["op"]]
    assert ran == [here(WINOGRAD.format(4), (3, 3))]


def test_winograd_is_switched_off():
    rng = np.random.default_rng(5)
    x, w = bytes_of(rng, "uint8", (1, 32, 14, 14)), bytes_of(rng, "int8", (32, 32, 3, 3))
    y = sums(x, 3, w, 1, (1, 1), (1, 1), (1, 1), (1, 1))
    mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", "0")
    try:
        run("_integer_convolution", rng, draw(rng, 288), x, w, 3, y, "packed GEMM of bytes", kernel=(3, 3), pad=(1, 1), pad_end=(1, 1))
    finally:
        mx.util.set_env("MXNET_CPU_ALLOW_WINOGRAD", "1")


NINES = [(8, 1, 1), (8, 2, 2), (72, 7, 1), (960, 7, 1), (24, 70, 1), (136, 131, 2), (16, 20, 3)]   # channels, width, stride


@pytest.mark.parametrize("channels, width, stride", NINES)
def test_windows_of_nine(channels, width, stride):
    """Lines shorter than a window, and longer than those that are computed together."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        case = draw(rng, 9)
        pad = (1, seed % 3)
        x = bytes_of(rng, case["data"], (2, channels, 5, width))
        w = bytes_of(rng, "int8", (channels, 1, 3, 3))
        zero = zero_of(rng, case["data"])
        layer = {"stride": (stride, stride), "dilate": (1, 1 + seed // 3), "pad": pad, "pad_end": (1, 4)}
        y = sums(x, zero, w, channels, layer["stride"], layer["dilate"], pad, layer["pad_end"])
        run("_integer_convolution", rng, case, x, w, zero, y, None if channels < 16 else "depthwise of bytes", kernel=(3, 3),
            num_group=channels, **layer)


PIXELS = [(4, 1, (1, 1)), (16, 96, (13, 11)), (20, 17, (5, 5)), (64, 33, (1, 12)), (96, 24, (9, 9)), (260, 48, (3, 5)), (36, 160, (30, 31))]


@pytest.mark.parametrize("channels, filters, image", PIXELS)
def test_windows_of_one(channels, filters, image):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        case = draw(rng, channels)
        case["out_type"] = str(rng.choice(list(INTEGERS)))
        case["out"] = (case["out_type"], float(np.sqrt(channels) / rng.integers(20, 200)), zero_of(rng, case["out_type"]))
        if "addend" in case:
            case["addend"] = (str(rng.choice(list(INTEGERS))), case["addend"][1], int(rng.integers(0, 100)))
        x, w = bytes_of(rng, case["data"], (1 + seed % 2, channels, *image)), bytes_of(rng, "int8", (filters, channels, 1, 1))
        zero = zero_of(rng, case["data"])
        y = sums(x, zero, w, 1, (1, 1), (1, 1), (0, 0), (0, 0))
        run("_integer_convolution", rng, case, x, w, zero, y, "packed GEMM of bytes", kernel=(1, 1))


STRIDED = [(3, 64, 7, 64, 2), (64, 128, 1, 56, 2), (128, 128, 3, 28, 2), (256, 256, 3, 7, 1), (32, 32, 3, 40, 1), (20, 9, 5, 13, 1)]


@pytest.mark.parametrize("channels, filters, kernel, size, stride", STRIDED)
def test_oneDNN_rounds_as_our_loops_do(with_library, channels, filters, kernel, size, stride):
    """Many values, of which some are nearly in the middle of two steps."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        case = draw(rng, channels * kernel ** 2)
        x = bytes_of(rng, case["data"], (1, channels, size, size))
        w = bytes_of(rng, "int8", (filters, channels, kernel, kernel))
        zero = zero_of(rng, case["data"])
        layer = {"stride": (stride, stride), "pad": (kernel // 2,) * 2, "pad_end": (kernel // 2,) * 2}
        y = sums(x, zero, w, 1, layer["stride"], (1, 1), layer["pad"], layer["pad_end"])
        run("_integer_convolution", rng, case, x, w, zero, y, kernel=(kernel, kernel), **layer)


@pytest.mark.parametrize("seed", range(20))
def test_the_same_where_oneDNN_takes_part(with_library, seed):
    test_convolutions(seed)
    test_dense_layers(seed)
    test_products_of_two_arrays(seed)


@pytest.mark.parametrize("groups", [1, 2])
def test_layers_that_threads_share(groups):
    rng = np.random.default_rng(groups)
    case = draw(rng, 64 * 9)
    x, w = bytes_of(rng, case["data"], (2, 64 * groups, 29, 31)), bytes_of(rng, "int8", (130, 64, 3, 3))
    y = sums(x, 7, w, groups, (1, 1), (1, 1), (1, 1), (1, 1))
    run("_integer_convolution", rng, case, x, w, 7, y, kernel=(3, 3), pad=(1, 1), num_group=groups)


def test_extremes_do_not_saturate():
    """The largest products of both signs, side by side."""
    for value in (-128, 127):
        x, w = np.full((7, 999), 255, "uint8"), np.full((33, 999), value, "int8")
        for zero in (0, 255, 3):
            y = (x.astype("int64") - zero) @ w.astype("int64").T
            run("_integer_dense", np.random.default_rng(0), {"data": "uint8", "out_type": "int32"}, x, w, zero, y)


def test_ties_go_to_the_even_one():
    """Sums that are odd halves of a step, which is no power of two: the quotient of both is exact,
    where the product divided by the step would not be."""
    x, w = np.arange(-100, 100, dtype="int8")[:, None], np.ones((16, 1), "int8")
    case = {"data": "int8", "out_type": "int8", "out": ("int8", 0.6, 0)}
    arrays = [mx.nd.array(v, dtype=v.dtype) for v in (x, w, np.array([0.3], "float32"), np.zeros(1, "int8"), np.zeros(16, "float32"))]
    got = mx.nd._internal._integer_dense(*arrays, num_filter=16, **attributes(case)).asnumpy()
    values = x.astype("float32") * (np.float32(0.3) / np.float32(0.6))
    assert (np.abs(values - np.trunc(values)) == 0.5).sum() == 100
    np.testing.assert_array_equal(got, np.broadcast_to(np.rint(values), got.shape))


@pytest.mark.parametrize("level", ["SSE41", "AVX2", "AVX512_CORE", "AVX512_CORE_BF16"])
def test_other_instructions(level):
    """The same where the processor had less, for which a process is started."""
    if "ONEDNN_MAX_CPU_ISA" in os.environ:
        pytest.skip("the level is given")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__], capture_output=True, text=True,
                          env=dict(os.environ, ONEDNN_MAX_CPU_ISA=level), check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_what_ran():
    names = ("data", "weight", "scale", "zero", "bias")
    for kernel, groups, implementation in ((2, 1, "packed GEMM of bytes"), (3, 32, "depthwise of bytes"), (3, 1, WINOGRAD.format(4))):
        out = mx.sym._internal._integer_convolution(*(mx.sym.var(n) for n in names), kernel=(kernel, kernel), num_filter=32,
                                                    num_group=groups)
        arrays = [mx.nd.zeros((1, 32, 12, 12), dtype="int8"), mx.nd.zeros((32, 32 // groups, kernel, kernel), dtype="int8"), mx.nd.ones(1),
                  mx.nd.zeros(1, dtype="int8"), mx.nd.zeros(32)]
        executor = out.bind(mx.cpu(), dict(zip(names, arrays)), grad_req="null")
        executor.forward()
        ran = [n["ran"][0]["implementation"] for n in executor.explain(runs=1).plan["nodes"] if "integer" in n["op"]]
        assert ran == [here(implementation, (kernel, kernel))]
