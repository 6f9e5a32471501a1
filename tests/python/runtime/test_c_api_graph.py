"""C functions of older programs: the first functions on arrays, graphs with attributes and passes
by name, CUDA kernels given as a body, and what a process is told. Numbers and names are those that
1.9.1 gives."""
import ctypes
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _LIB, check_call

nd = mx.nd


def handles(arrays):
    return (ctypes.c_void_p * max(1, len(arrays)))(*[a.handle for a in arrays])


def texts(strings):
    return (ctypes.c_char_p * max(1, len(strings)))(*[s.encode() for s in strings])


# ---- functions on arrays

def function(name):
    handle = ctypes.c_void_p()
    check_call(_LIB.MXGetFunction(name.encode(), ctypes.byref(handle)))
    return handle


def invoke(name, reads, numbers, out, **params):
    numbers = (ctypes.c_float * max(1, len(numbers)))(*numbers)
    if params:
        check_call(_LIB.MXFuncInvokeEx(function(name), handles(reads), numbers, handles([out]), len(params), texts(list(params)),
                                       texts(list(params.values()))))
    else:
        check_call(_LIB.MXFuncInvoke(function(name), handles(reads), numbers, handles([out])))
    return out.asnumpy()


def test_functions_are_those_of_the_first_releases():
    count, array = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
    check_call(_LIB.MXListFunctions(ctypes.byref(count), ctypes.byref(array)))
    found = {}
    for i in range(count.value):
        handle = ctypes.c_void_p(array[i])
        name, description, result = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_char_p()
        number, lists = ctypes.c_uint(), [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
        check_call(_LIB.MXFuncGetInfo(handle, ctypes.byref(name), ctypes.byref(description), ctypes.byref(number),
                                      *[ctypes.byref(x) for x in lists], ctypes.byref(result)))
        arguments = [lists[0][k].decode() for k in range(number.value)]
        assert description.value and all(lists[1][k] and lists[2][k] for k in range(number.value)) and result.value == b""
        facts = [ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_int()]
        check_call(_LIB.MXFuncDescribe(handle, *[ctypes.byref(x) for x in facts]))
        found[name.value.decode()] = (arguments, *[x.value for x in facts])
    assert found == {"_set_value": (["src"], 0, 1, 1, 0), "_onehot_encode": (["lhs", "rhs"], 2, 0, 1, 5),
                     "fill_element_0index": (["lhs", "mhs", "rhs"], 3, 0, 1, 5),
                     "_imdecode": (["mean", "index", "x0", "y0", "x1", "y1", "c", "size"], 1, 7, 1, 5)}
    assert function("nope").value is None


@pytest.mark.parametrize("dtype, wanted", [("float32", np.float32(2.7)), ("float64", float(np.float32(2.7))), ("float16", np.float16(2.7)),
                                           ("uint8", 2), ("int32", 2), ("int8", 2), ("int64", 2)])
def test_set_value(dtype, wanted):
    got = invoke("_set_value", [], [2.7], nd.zeros((2, 2), dtype=dtype), unknown="1")
    assert got.dtype == dtype
    np.testing.assert_allclose(got, np.full((2, 2), wanted), rtol=1e-7)


def test_functions_compute():
    onehot = invoke("_onehot_encode", [nd.array([1, 0, 2]), nd.zeros((3, 4))], [], nd.ones((3, 4)))
    assert (onehot == np.eye(4)[[1, 0, 2]]).all()
    lhs = nd.zeros((3, 4))
    filled = invoke("fill_element_0index", [lhs, nd.array([9, 8, 7]), nd.array([1, 0, 3])], [], lhs)
    assert filled.tolist() == [[0, 9, 0, 0], [8, 0, 0, 0], [0, 0, 0, 7]]
    with pytest.raises(ValueError, match="fill_element_0index"):
        invoke("fill_element_0index", [lhs, nd.array([9, 8]), nd.array([1, 0, 3])], [], lhs)
    with pytest.raises(ValueError, match="one|_onehot_encode"):
        invoke("_onehot_encode", [nd.array([[1, 0, 2]]), lhs], [], lhs)


# ---- graphs

class Graph:
    def __init__(self, symbol=None):
        self.handle = ctypes.c_void_p()
        if symbol is not None:
            check_call(_LIB.NNGraphCreate(symbol.handle, ctypes.byref(self.handle)))

    def __del__(self):
        check_call(_LIB.NNGraphFree(self.handle))

    def __setitem__(self, key, value):
        if isinstance(value, mx.sym.Symbol):
            check_call(_LIB.NNGraphSetNodeEntryListAttr_(self.handle, key.encode(), value.handle))
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            check_call(_LIB.NNGraphSetJSONAttr(self.handle, key.encode(), text.encode()))

    def text(self, key):
        out, success = ctypes.c_char_p(), ctypes.c_int(-1)
        check_call(_LIB.NNGraphGetJSONAttr(self.handle, key.encode(), ctypes.byref(out), ctypes.byref(success)))
        return out.value.decode() if success.value else None

    def __getitem__(self, key):
        text = self.text(key)
        return None if text is None else json.loads(text)[1]

    @property
    def symbol(self):
        handle = ctypes.c_void_p()
        check_call(_LIB.NNGraphGetSymbol(self.handle, ctypes.byref(handle)))
        return mx.sym.Symbol(handle)

    def apply(self, *passes):
        result = Graph()
        check_call(_LIB.NNGraphApplyPasses(self.handle, len(passes), texts(passes), ctypes.byref(result.handle)))
        return result


@pytest.fixture
def dense():
    data, weight = mx.sym.var("x"), mx.sym.var("w")
    return mx.sym.FullyConnected(data, weight, no_bias=True, num_hidden=4, name="fc") + 1


def test_attributes_have_types(dense):
    graph = Graph(dense)
    assert graph.symbol.list_arguments() == ["x", "w"] and graph.text("nothing") is None
    for value in (["int", -3], ["size_t", 3], ["str", "a\"b"], ["list_int", [3]], ["list_str", ["a", "b"]],
                  ["list_shape", [[1, 2], [3], []]]):
        graph["k"] = value
        assert json.loads(graph.text("k")) == value
    for wrong in (["bool", True], ["float", 1], ["list_dtype", [1]], ["int", "x"], ["int", 1.5], ["int", 1 << 40], ["size_t", -1],
                  ["list_int", 3], ["int"], 3, {"int": 3}, "[\"int\"", ""):
        with pytest.raises(ValueError):
            graph["k"] = wrong
    assert graph["k"] == [[1, 2], [3], []]   # as it was
    graph["entries"] = dense
    with pytest.raises(ValueError, match="no JSON form"):
        graph.text("entries")


def test_inference_passes(dense):
    graph = Graph(dense)
    graph["dtype_inputs"] = ["list_int", [0, -1]]
    found = graph.apply("InferType")
    assert found["dtype"] == [0, 0, 0, 0] and found["dtype_num_unknown_nodes"] == 0
    assert found["dtype_inputs"] is None and graph["dtype"] is None   # the source stays
    assert Graph(dense).apply("InferType")["dtype_num_unknown_nodes"] == 4
    graph["dtype_inputs"] = ["list_int", [1, 1, 1]]
    with pytest.raises(ValueError, match="3 entries"):
        graph.apply("InferType")
    graph["shape_inputs"] = ["list_shape", [[2, 3], [0, 0]]]
    found = graph.apply("InferShape")
    assert found["shape"] == [[2, 3], [4, 3], [2, 4], [2, 4]] and found["shape_num_unknown_nodes"] == 0
    graph = Graph(mx.sym.var("x", shape=(5, 6)) + mx.sym.var("y"))
    assert graph.apply("InferShape")["shape"] == [[5, 6]] * 3
    by_attr = Graph(mx.sym.var("x", attr={"size": "(2, 7)", "kind": "1"}) * 2)
    by_attr["shape_attr_key"], by_attr["dtype_attr_key"] = ["str", "size"], ["str", "kind"]
    found = by_attr.apply("InferShape", "InferType")
    assert found["shape"] == [[2, 7]] * 2 and found["dtype"] == [1, 1]
    found["dtype_inputs"] = ["list_int", [99]]
    with pytest.raises(ValueError, match="99"):
        found.apply("InferType")


def test_json_passes(dense):
    saved = Graph(dense).apply("SaveJSON")
    assert json.loads(saved["json"]) == json.loads(dense.tojson())
    for name in ("LoadJSON", "LoadLegacyJSON"):
        read = saved.apply(name)
        assert read.symbol.tojson() == dense.tojson() and read["json"] is None
    other = Graph(mx.sym.var("q"))
    with pytest.raises(ValueError, match="needs the attribute json.*SaveJSON"):
        other.apply("LoadJSON")
    other["json"] = ["int", 3]
    with pytest.raises(ValueError, match="another type"):
        other.apply("LoadJSON")


@pytest.mark.parametrize("name", ["Gradient", "MXGradient"])
def test_gradient_pass(name):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    f = mx.sym.sin(x) * y
    graph = Graph(f)
    for key, value in (("grad_ys", f), ("grad_xs", mx.sym.Group([x, y])), ("grad_ys_out_grad", mx.sym.var("og"))):
        with pytest.raises(ValueError, match=key):
            graph.apply(name)
        graph[key] = value
    gradient = graph.apply(name).symbol
    assert sorted(gradient.list_arguments()) == ["og", "x", "y"] and len(gradient.list_outputs()) == 2
    values = {"x": nd.array([0.5]), "y": nd.array([3.0]), "og": nd.array([2.0])}
    dx, dy = gradient.bind(mx.cpu(), values).forward()
    np.testing.assert_allclose([dx.asscalar(), dy.asscalar()], [6 * np.cos(0.5), 2 * np.sin(0.5)], rtol=1e-6)
    graph["grad_xs"] = mx.sym.Group([x, mx.sym.var("unrelated")])
    with pytest.raises(ValueError, match="entry 1 of grad_xs, unrelated"):
        graph.apply(name)
    graph["grad_ys"] = mx.sym.Group([f, x])
    with pytest.raises(ValueError, match="equally many"):
        graph.apply(name)


def test_memory_and_text_passes(dense):
    graph = Graph(dense)
    graph["dtype_inputs"] = ["list_int", [0, 0]]
    graph["shape_inputs"] = ["list_shape", [[2, 3], [4, 3]]]
    planned = graph.apply("InferType", "InferShape", "PlanMemory")
    assert planned["storage_id"] == [-1, -1, 0, 0] and planned["storage_inplace_index"] == [-1, -1, -1, 0]
    assert planned["storage_allocated_bytes"] == 32 and planned["storage_num_not_allocated"] == 0
    with pytest.raises(ValueError, match="needs the attribute dtype"):
        Graph(dense).apply("PlanMemory")
    with pytest.raises(ValueError, match="known"):
        Graph(dense).apply("InferType", "InferShape", "MXPlanMemory")
    graph["join_node_attrs"] = ["list_str", ["shape", "dtype"]]
    text = graph.apply("InferType", "InferShape", "PrintGraphIR")["graphir"]
    assert text == ("Graph(%x, %w) {\n  %x, shape=(2,3), dtype=0\n  %w, shape=(4,3), dtype=0\n"
                    "  %2 = FullyConnected(%x, %w, no_bias='True', num_hidden='4'), shape=(2,4), dtype=0\n"
                    "  %3 = _plus_scalar(%2, scalar='1'), shape=(2,4), dtype=0\n  ret %3\n}")


def test_writes_wait_for_reads():
    data, moving = mx.sym.var("data"), mx.sym.var("moving")
    read = mx.sym.sum(moving, name="read")
    write = mx.sym.BatchNorm(data, mx.sym.var("g"), mx.sym.var("b"), moving, mx.sym.var("v"), name="bn")
    ordered = Graph(mx.sym.Group([read, write])).apply("OrderMutation").symbol
    nodes = {n["name"]: n for n in json.loads(ordered.tojson())["nodes"]}
    names = [n["name"] for n in json.loads(ordered.tojson())["nodes"]]
    assert [names[i] for i in nodes["bn"]["control_deps"]] == ["read"]
    for name in ("CorrectLayout", "BuildSubgraph", "PlaceDevice"):
        assert Graph(write).apply(name).symbol.tojson() == write.tojson()


def test_an_unknown_pass_is_an_error(dense):
    with pytest.raises(ValueError, match="no pass 'Nope'; accepted: InferShape, InferType"):
        Graph(dense).apply("SaveJSON", "Nope")
    assert Graph(dense).apply().symbol.tojson() == dense.tojson()


# ---- kernels given as a body

def make_rtc(body, reads, writes, name=b"scale"):
    handle = ctypes.c_void_p()
    check_call(_LIB.MXRtcCreate(name, len(reads), len(writes), texts(list(reads)), texts(list(writes)),
                                handles(list(reads.values())), handles(list(writes.values())), body, ctypes.byref(handle)))
    return handle


def push_rtc(handle, reads, writes, grid=(1, 1, 1), block=(1, 1, 1)):
    check_call(_LIB.MXRtcPush(handle, len(reads), len(writes), handles(reads), handles(writes), *grid, *block))


CUDA = mx.runtime.Features().is_enabled("CUDA_RTC")


def test_kernel_bodies_are_checked():
    x = {"x": nd.ones((3,))}
    with pytest.raises(mx.MXNetError, match=r"\[rtc\]"):   # no compiler, or no such name in the body
        make_rtc(b"nothing;", x, {"y": nd.ones((3,))})
    for name, reads, writes, what in ((b"a b", x, {}, "the name 'a b'"), (b"k", x, x, "given twice"), (b"1", x, {}, "the name '1'"),
                                      (b"k", {"x": nd.ones((3,), dtype="bool")}, {}, "bool")):
        with pytest.raises((ValueError, TypeError), match=what):
            make_rtc(b"", reads, writes, name)


@pytest.mark.gpu
@pytest.mark.gpu_quick
@pytest.mark.skipif(not CUDA, reason="no CUDA compiler in this build")
def test_kernel_bodies_run():
    if mx.context.num_gpus() == 0:
        pytest.skip("no GPU")
    x, y = nd.arange(12, ctx=mx.gpu()).reshape((3, 4)), nd.zeros((3, 4), ctx=mx.gpu())
    handle = make_rtc(b"int i = threadIdx.x; y[i] = x[i] * 2 + x_ndim * 100 + y_dims[1];", {"x": x}, {"y": y})
    push_rtc(handle, [x], [y], block=(12, 1, 1))
    assert (y.asnumpy().ravel() == np.arange(12) * 2 + 204).all()
    with pytest.raises(ValueError, match="accepted: 1 and 1"):
        push_rtc(handle, [x, x], [y])
    with pytest.raises(ValueError, match="GPU"):
        push_rtc(handle, [x.as_in_context(mx.cpu())], [y])
    check_call(_LIB.MXRtcFree(handle))


# ---- what a process is told

def test_constraints_keep_nodes_from_mixed_precision():
    previous, now = ctypes.c_uint(7), ctypes.c_uint(7)
    check_call(_LIB.MXSetOptimizationConstraints(1, ctypes.byref(previous)))
    try:
        check_call(_LIB.MXGetOptimizationConstraints(ctypes.byref(now)))
        kept = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="kept")
    finally:
        check_call(_LIB.MXSetOptimizationConstraints(0, ctypes.byref(now)))
    assert (previous.value, now.value) == (0, 1)
    with pytest.raises(ValueError, match="accepted: 0, or 1"):
        check_call(_LIB.MXSetOptimizationConstraints(6, ctypes.byref(previous)))
    both = mx.sym.FullyConnected(kept, num_hidden=2, name="cast")
    converted = mx.amp.convert_symbol(both, target_dtype="float16")
    internals = converted.get_internals()
    _, outputs, _ = internals.infer_type_partial(x="float32")
    dtypes = dict(zip(internals.list_outputs(), outputs))
    assert dtypes["kept_output"] == np.float32 and dtypes["cast_output"] == np.float16


def test_layouts_may_be_kept():
    value = ctypes.c_bool()
    check_call(_LIB.MXGetOptimizeLayout(ctypes.byref(value)))
    assert value.value
    body = mx.sym.Convolution(mx.sym.var("x"), kernel=(3, 3), num_filter=16, name="c")
    symbol = mx.sym.Pooling(body, kernel=(2, 2))

    def graph():
        executor = symbol.simple_bind(mx.cpu(), x=(1, 3, 12, 12), grad_req="null")
        executor.forward()
        return executor.debug_str()

    with_layouts = graph()
    check_call(_LIB.MXSetOptimizeLayout(ctypes.c_bool(False)))
    try:
        check_call(_LIB.MXGetOptimizeLayout(ctypes.byref(value)))
        assert not value.value
        without = graph()
    finally:
        check_call(_LIB.MXSetOptimizeLayout(ctypes.c_bool(True)))
    assert "channels-last" not in without
    if mx.runtime.Features().is_enabled("MKLDNN"):
        assert "channels-last" in with_layouts


def test_streams_and_tools_need_a_gpu():
    stream = ctypes.c_int(-5)
    if mx.context.num_gpus() == 0:
        with pytest.raises(ValueError, match="0 GPUs"):
            check_call(_LIB.MXGetCurrentStream(0, ctypes.byref(stream)))
    else:
        check_call(_LIB.MXGetCurrentStream(0, ctypes.byref(stream)))
        assert stream.value == 1
        on_gpu = nd.ones((2,), ctx=mx.gpu())
        check_call(_LIB.MXPushStreamDep(on_gpu.handle, 1))
    on_cpu = nd.ones((2,))
    with pytest.raises(ValueError, match="accepted: arrays on a GPU"):
        check_call(_LIB.MXPushStreamDep(on_cpu.handle, 1))
    if not CUDA:
        for call in (lambda: mx.cuda.nvtx.range_push("a"), mx.cuda.nvtx.range_pop, mx.cuda.cuda_profiler_start, mx.cuda.cuda_profiler_stop,
                     mx.cuda.nvtx.range("a").__enter__):
            with pytest.raises(mx.MXNetError, match="build without GPU support"):
                call()


def test_tvm_is_refused():
    with pytest.raises(mx.MXNetError, match="lib.so.*TVM"):
        check_call(_LIB.MXLoadTVMOp(b"lib.so"))
    with pytest.raises(mx.MXNetError, match="TVM"):
        check_call(_LIB.MXLoadTVMConfig(None))


def test_a_store_in_one_process_has_no_server():
    store = mx.kv.create("local")
    check_call(_LIB.MXKVStoreSetBarrierBeforeExit(store.handle, 1))
    controller = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: pytest.fail("called"))
    check_call(_LIB.MXKVStoreRunServer(store.handle, controller, None))
    program = ("import ctypes, mxnet as mx\n"
               "role = lambda f: (lambda v: (getattr(mx.base._LIB, f)(ctypes.byref(v)), v.value)[1])(ctypes.c_int(-1))\n"
               "roles = lambda: [role('MXKVStoreIs%sNode' % w) for w in ('Worker', 'Server', 'Scheduler')]\n"
               "one = lambda s: (ctypes.c_char_p * 1)(s)\n"
               "print(roles())\n"
               "for r in (b'server', b'scheduler', b'worker'):\n"
               "    mx.base.check_call(mx.base._LIB.MXInitPSEnv(1, one(b'DMLC_ROLE'), one(r)))\n"
               "    print(roles())\n"
               "print(mx.base._LIB.MXInitPSEnv(1, one(b'A=B'), one(b'')))")
    environment = {k: v for k, v in os.environ.items() if k != "DMLC_ROLE"}
    out = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, env=environment).stdout.decode()
    assert out.split("\n")[:-1] == ["[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]", "[1, 0, 0]", "-1"]


def test_server_class_serves_nobody_and_ends(monkeypatch):
    monkeypatch.setenv("PS_ACCEPT_PICKLE", "1")
    server = mx.kvstore.kvstore_server.KVStoreServer(mx.kv.create("local"))
    assert server.run() is None
    server._controller()(0, pickle.dumps(mx.optimizer.SGD(learning_rate=0.5)), None)
    server.kvstore.init("w", nd.zeros((2,)))
    server.kvstore.push("w", nd.ones((2,)))
    out = nd.empty((2,))
    server.kvstore.pull("w", out)
    assert out.asnumpy().tolist() == [-0.5, -0.5]


def test_helpers_of_2_0():
    assert mx.sym.fromjson((mx.sym.var("x") * 2).tojson()).list_arguments() == ["x"]
    with pytest.raises(TypeError):
        mx.sym.fromjson(3)
    util = mx.util
    for number, dtype in ((1, np.int64), (True, np.int64), (1.5, np.float32), (np.int32(3), np.int32), (np.float16(2), np.float16),
                          (np.float64(3), np.float32)):
        assert util.dtype_from_number(number) == dtype
    with pytest.raises(TypeError):
        util.dtype_from_number(1j)
    assert not util.is_np_default_dtype()
    with util.np_default_dtype(True):
        assert util.is_np_default_dtype() and util.dtype_from_number(1.5) == np.float64
    assert util.use_np_default_dtype(util.is_np_default_dtype)() and not util.is_np_default_dtype()
    assert util.set_np_default_dtype(True) is False and util.set_np_default_dtype(False) is True
    renamed = util.wrap_ctx_to_device_func(lambda device=None: device)
    assert renamed(ctx=mx.cpu()) == renamed(device=mx.cpu()) == mx.cpu() and renamed() is None
    with pytest.raises(ValueError):
        util.get_rtc_compile_opts(mx.cpu())
    made = util.default_array([1, 2], dtype="int32", device=mx.cpu(1))
    assert made.dtype == np.int32 and made.context == mx.cpu(1) and util.default_array(made).dtype == np.int32
