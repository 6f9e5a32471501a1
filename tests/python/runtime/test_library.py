"""mx.library.load: operators, partitioners and passes of libraries that users compile. Two are
compiled once a session (and kept while their sources and the headers stay as they are)."""
import ctypes
import gc
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon

nd = mx.nd
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = os.path.join(HERE, "libraries")
HEADERS = mx.libinfo.find_include_path()
COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no g++")


def compiled(source, *options):
    """The path of a library. It is made again when something that it is made of has changed."""
    parts = [os.path.join(SOURCES, source), *sorted(glob.glob(os.path.join(HEADERS, "mxnet", "lib_api*.h")))]
    digest = hashlib.sha256(" ".join(options).encode())
    for part in parts:
        with open(part, "rb") as f:
            digest.update(f.read())
    folder = os.path.join(tempfile.gettempdir(), "mxnet_test_libraries_%d" % os.getuid())
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "lib%s_%s.so" % (source.partition(".")[0], digest.hexdigest()[:16]))
    if not os.path.exists(path):
        made = path + ".%d" % os.getpid()
        subprocess.run([COMPILER, "-std=c++11", "-shared", "-fPIC", "-Wall", "-Werror", *options, parts[0], "-o", made, "-I", HEADERS],
                       check=True)
        os.replace(made, path)
    return path


@pytest.fixture(scope="module")
def operators():
    path = compiled("operators.cc")
    mx.library.load(path, verbose=False)
    return path


@pytest.fixture(scope="module")
def backends():
    path = compiled("backends.cc")
    mx.library.load(path, verbose=False)
    return path


def tiny(text, name="tiny"):
    """A library of plain C: compiled in a moment."""
    folder = tempfile.mkdtemp()
    source, path = os.path.join(folder, name + ".c"), os.path.join(folder, name + ".so")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    compiler = shutil.which("gcc") or COMPILER
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", path, "-I", os.path.join(HEADERS, "mxnet")], check=True)
    return path


# ---- loading

def test_what_is_loaded_is_printed(operators, backends):
    program = ("import mxnet as mx\nprint('before')\nfor p in %r: mx.library.load(p)\n"
               "mx.library.load(%r)" % ([operators, backends], operators))
    out = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    assert out[0] == "before" and len(out) == 3   # the second time there is nothing to tell
    assert "operator my_gemm, operator state_gemm" in out[1] and out[1].endswith("6 in all")
    assert "partitioner expLog" in out[2] and "pass renames" in out[2]


def test_what_is_no_library_is_refused(tmp_path):
    empty, text = tmp_path / "empty.so", tmp_path / "text.txt"
    empty.write_bytes(b"x")
    text.write_text("x")
    for path, why in (("nope.so", "does NOT exist"), (str(tmp_path / "nope.so"), "does NOT exist"), (str(empty), "Error loading library"),
                      (str(text), "NOT a library file"), (str(tmp_path), "NOT a library file")):
        with pytest.raises(mx.MXNetError, match=why):
            mx.library.load(path)
    os.chdir(str(tmp_path))
    try:
        with pytest.raises(mx.MXNetError, match="not an absolute path"):
            mx.library.load("empty.so")
    finally:
        os.chdir(HERE)
    with pytest.raises(TypeError):
        mx.library.load(None)


def test_a_library_that_was_cut_short_is_refused(operators, tmp_path):
    """The system's loader touches what the file does not have, which ends the process."""
    with open(operators, "rb") as f:
        whole = f.read()
    program = ("import mxnet as mx, sys\ntry: mx.library.load(sys.argv[1])\n"
               "except mx.MXNetError as e: print(e)")
    for size in (100, 4096, len(whole) // 2):
        short = tmp_path / ("short%d.so" % size)
        short.write_bytes(whole[:size])
        ran = subprocess.run([sys.executable, "-c", program, str(short)], stdout=subprocess.PIPE, check=False)
        assert ran.returncode == 0
        assert b"the file is cut short: it has %d bytes" % size in ran.stdout


def test_other_versions_are_refused():
    for text, why in (("int x;", "no function mxnet_ext_library"),
                      ("int _opVersion(void) { return 7; }", "lib_api.h of version 7; accepted: one compiled against .* version 12"),
                      ('#include "lib_api_abi.h"\nstatic MXExtLibrary t = {99, sizeof(t)};\n'
                       "const MXExtLibrary* mxnet_ext_library(void) { return &t; }", "version 99; accepted: version 12"),
                      ('#include "lib_api_abi.h"\nstatic MXExtLibrary t = {MX_LIBRARY_VERSION, 8};\n'
                       "const MXExtLibrary* mxnet_ext_library(void) { return &t; }", "accepted: version 12"),
                      ("void* mxnet_ext_library(void) { return 0; }", "version 0"),
                      ("void nowhere(void); void f(void) { nowhere(); } void (*p)(void) = nowhere;", "undefined symbol: nowhere")):
        with pytest.raises(mx.MXNetError, match=why):
            mx.library.load(tiny(text))


TABLE = '''#include "lib_api_abi.h"
static int yes(int v) { return %d; }
static const char* why(void) { return "told so"; }
static size_t none(void) { return 0; }
static size_t one(void) { return 1; }
static const char* name(size_t i) { return "%s"; }
static int has(size_t op, const char* what, const char* device) { return %s; }
static void describe(size_t op, MXExtOp* out) { MXExtOp o = {"%s", 0, 0, 0, 0, 0, has}; *out = o; }
static MXExtLibrary t;
const MXExtLibrary* mxnet_ext_library(void) {
  t.version = MX_LIBRARY_VERSION; t.table_bytes = sizeof(t); t.initialize = yes; t.error = why;
  t.num_ops = one; t.op = describe; t.num_partitioners = none; t.num_passes = one; t.pass_name = name;
  return &t;
}
'''


def test_names_that_are_taken_are_refused_as_a_whole(backends):
    assert backends
    for ok, backend, functions, op, why in ((0, "a", "1", "b", "refuses version 11000 of the runtime: told so"),
                                            (1, "renames", "1", "tiny_b", "pass renames; there is one"),
                                            (1, "tiny_pass", "1", "FullyConnected", "there is an operator FullyConnected already"),
                                            (1, "tiny_pass", "1", "ones_like", "there is an operator ones_like already"),
                                            (1, "tiny_pass", "1", "", "without a name"),
                                            (1, "tiny_pass", "0", "tiny_b", "neither setForward nor setCreateOpState"),
                                            (1, "tiny_pass", "what[0] == 'f'", "tiny_b", "no setParseAttrs")):
        with pytest.raises(mx.MXNetError, match=why):
            mx.library.load(tiny(TABLE % (ok, backend, functions, op)))
        assert not hasattr(nd, "tiny_b")
        with pytest.raises(ValueError, match="no backend 'tiny_pass'"):
            mx.sym.var("x").optimize_for("tiny_pass")


# ---- operators

@pytest.fixture
def matrices():
    return nd.array([[1, 2, 0], [3, 4, 1]]), nd.array([[5, 6], [7, 8], [9, 1]])


@pytest.mark.parametrize("name", ["my_gemm", "state_gemm"])
def test_operator_in_every_form(operators, matrices, name):
    a, b = matrices
    want = a.asnumpy() @ b.asnumpy()
    np.testing.assert_array_equal(getattr(nd, name)(a, b).asnumpy(), want)
    head = nd.array([[1, 2], [3, 4]])
    grads = head.asnumpy() @ b.asnumpy().T, a.asnumpy().T @ head.asnumpy()
    a.attach_grad(), b.attach_grad()
    with mx.autograd.record():
        out = getattr(nd, name)(a, b)
    out.backward(head)
    np.testing.assert_array_equal(a.grad.asnumpy(), grads[0])
    np.testing.assert_array_equal(b.grad.asnumpy(), grads[1])

    symbol = getattr(mx.sym, name)(mx.sym.var("a"), mx.sym.var("b"), name="g")
    assert symbol.list_arguments() == ["a", "b"] and symbol.list_outputs() == ["g_output"]
    assert symbol.infer_shape(a=(2, 3), b=(3, 4))[1] == [(2, 4)]
    symbol = mx.sym.load_json(symbol.tojson())
    executor = symbol.bind(mx.cpu(), {"a": a, "b": b}, {"a": nd.zeros((2, 3)), "b": nd.zeros((3, 2))})
    for _ in range(2):
        np.testing.assert_array_equal(executor.forward(is_train=True)[0].asnumpy(), want)
        executor.backward(head)
        np.testing.assert_array_equal(executor.grad_dict["a"].asnumpy(), grads[0])
        np.testing.assert_array_equal(executor.grad_dict["b"].asnumpy(), grads[1])
    added = getattr(mx.sym, name)(mx.sym.var("a"), mx.sym.var("b")).bind(
        mx.cpu(), {"a": a, "b": b}, {"a": nd.ones((2, 3)), "b": nd.ones((3, 2))}, grad_req="add")
    added.forward(is_train=True)
    added.backward(head)
    np.testing.assert_array_equal(added.grad_dict["a"].asnumpy(), grads[0] + 1)


@pytest.mark.parametrize("name", ["my_gemm", "state_gemm"])
def test_operator_in_a_hybridized_block(operators, matrices, name):
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return F.relu(getattr(F, name)(a, b) - 20)
    a, b = matrices
    results = []
    for hybridize in (False, True):
        net = Net()
        if hybridize:
            net.hybridize()
        a.attach_grad()
        for _ in range(2):
            with mx.autograd.record():
                out = net(a, b)
            out.backward()
        results.append((out.asnumpy(), a.grad.asnumpy()))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
    assert results[0][0].any() and results[0][1].any()


def test_attributes_reach_the_library_as_texts(operators, matrices):
    a, b = matrices
    with pytest.raises(mx.MXNetError, match=r"\[my_gemm\] parseAttrs failed: .*bad is 3"):
        nd.my_gemm(a, b, bad=3)
    with pytest.raises(mx.MXNetError, match=r"bad is \(1, 2\)"):
        mx.sym.my_gemm(mx.sym.var("a"), mx.sym.var("b"), bad=(1, 2))
    assert nd.state_gemm(a, b, add_count=1).asnumpy()[0, 0] == 19 + 11


def test_a_state_belongs_to_one_use(operators, matrices):
    a, b = matrices
    gc.collect()      # a caught error keeps what the frames of earlier tests hold
    nd.waitall()
    before = nd.state_gemm_alive().asscalar()
    symbol = mx.sym.state_gemm(mx.sym.var("a"), mx.sym.var("b"), add_count=1)
    one, other = (symbol.bind(mx.cpu(), {"a": a, "b": b}) for _ in range(2))
    assert [one.forward()[0].asnumpy()[0, 0] for _ in range(3)] == [30, 31, 32]
    assert other.forward()[0].asnumpy()[0, 0] == 30
    assert nd.state_gemm_alive().asscalar() == before + 2
    del one, other
    nd.state_gemm(a, b)
    a.attach_grad()
    with mx.autograd.record():
        nd.state_gemm(a, b).backward()
    nd.waitall()
    assert nd.state_gemm_alive().asscalar() == before


def test_errors_of_inference_name_the_operator(operators, matrices):
    a, b = matrices
    with pytest.raises(ValueError, match=r"\[my_gemm\] inferShape failed: .*Inner dimensions differ: 3 and 2"):
        nd.my_gemm(a, a)
    with pytest.raises(ValueError, match="inferType failed: .*Expected 2 inputs with float data type"):
        nd.my_gemm(a.astype("float64"), b.astype("float64"))
    with pytest.raises(ValueError, match="got 1 inputs; it takes 2"):
        nd.my_gemm(a)
    symbol = mx.sym.my_gemm(mx.sym.var("a"), mx.sym.var("b"))
    with pytest.raises(ValueError, match="Inner dimensions differ"):
        symbol.infer_shape(a=(2, 3), b=(2, 3))
    assert symbol.infer_shape_partial(a=(2, 3))[1] == [()]
    with pytest.raises((ValueError, TypeError), match="dtype number 77"):
        nd.failing(a, dtype=77)
    with pytest.raises(ValueError, match="5000 inputs"):
        nd.failing(a, inputs=5000)
    with pytest.raises(mx.MXNetError, match="parseAttrs failed: stoi"):
        nd.failing(a, inputs="many")


def test_errors_of_computing_wait_for_the_result(operators):
    x = nd.ones((2,))
    for how, why in (("", r"first reason\n.*second reason"), ("throw", "thrown in forward"), ("number", "no std::exception")):
        out = nd.failing(x, how=how)
        with pytest.raises(mx.MXNetError, match=r"(?s)\[failing\] forward failed: .*" + why):
            out.asnumpy()
    x.attach_grad()
    with mx.autograd.record():
        out = nd.failing(x)
    with pytest.raises(mx.MXNetError, match="failing"):
        out.backward()
    with pytest.raises(mx.MXNetError, match="failing"):
        out.asnumpy()
    with pytest.raises(ValueError, match=r"\[gpu_alone\] the library has no forward for the CPU; accepted: contexts of GPUs"):
        nd.gpu_alone(nd.ones((2,))).asnumpy()
    with mx.autograd.record():
        out = nd.gpu_alone(x)
    with pytest.raises(mx.MXNetError, match="not differentiable|no gradient"):
        out.backward()
    with pytest.raises(ValueError, match="no forward"):
        out.asnumpy()


def test_a_part_of_a_graph_needs_its_graph(backends):
    with pytest.raises(ValueError, match="stands for a part of a graph"):
        mx.nd._internal._exp_log(nd.ones((2,)))
    for wrong in ("", "{}", "[1, 2", '{"nodes": [], "arg_nodes": [], "heads": [[3, 0, 0]]}'):
        with pytest.raises(ValueError):
            mx.nd._internal._exp_log(nd.ones((2,)), subgraph_sym_json=wrong)


def test_operators_on_several_threads(operators, matrices):
    import threading
    a, b = matrices
    want, wrong = a.asnumpy() @ b.asnumpy(), []

    def work():
        for name in ("my_gemm", "state_gemm") * 20:
            if not (getattr(nd, name)(a, b).asnumpy() == want).all():
                wrong.append(name)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_changed_inputs_noise_and_workspace(operators):
    data, calls = nd.zeros((5,)), nd.zeros((1,))
    mx.random.seed(3)
    first, noise = nd.contrib.noisy(data, calls, scale=2)
    np.testing.assert_allclose(first.asnumpy(), 2 * noise.asnumpy())
    again = nd.contrib.noisy(data, calls)[1].asnumpy()
    assert calls.asscalar() == 2 and (again != noise.asnumpy()).all()
    mx.random.seed(3)
    np.testing.assert_array_equal(nd.contrib.noisy(data, calls)[1].asnumpy(), noise.asnumpy())
    many = nd.contrib.noisy(nd.zeros((4000,)), calls)[1].asnumpy()
    assert abs(many.mean()) < 0.1 and abs(many.std() - 1) < 0.1
    symbol = mx.sym.contrib.noisy(mx.sym.var("x"), name="n")
    assert symbol.list_arguments() == ["x"] and symbol.list_auxiliary_states() == ["n_data1"]
    executor = symbol.simple_bind(mx.cpu(), x=(5,))
    executor.forward(is_train=True)
    executor.backward([nd.ones((5,)), nd.zeros((5,))])
    assert executor.aux_dict["n_data1"].asscalar() == 1 and executor.grad_dict["x"].asnumpy().tolist() == [2] * 5


def test_lists_of_operators_grow(operators):
    """Also those that were asked for before."""
    code = """
import ctypes, sys, mxnet as mx
from mxnet.base import _LIB, check_call
def creators():
    count, handles = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
    check_call(_LIB.MXSymbolListAtomicSymbolCreators(ctypes.byref(count), ctypes.byref(handles)))
    return handles[:count.value]
names, before, held = mx.operator.get_all_registered_operators(), creators(), dir(mx.nd)
mx.library.load(sys.argv[1], verbose=False)
new = set(mx.operator.get_all_registered_operators()) - set(names)
print('my_gemm' in new, len(new) >= len(set(creators()) - set(before)) > 1, 'my_gemm' in set(dir(mx.nd)) - set(held))
"""
    done = subprocess.run([sys.executable, "-c", code, operators], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["True"] * 3, done.stderr


def test_a_loaded_operator_is_listed(operators):
    assert "my_gemm" in dir(nd) and "my_gemm" in dir(mx.sym) and "noisy" in dir(nd.contrib)
    assert "my_gemm" in mx.operator.get_all_registered_operators()
    assert operators in nd.my_gemm.__doc__


# ---- partitioners

@pytest.fixture
def expression():
    """exp(log(2x)) + exp(x), whose parts are taken out."""
    x = mx.sym.var("x")
    return mx.sym.exp(mx.sym.log(x * 2, name="l"), name="e") + mx.sym.exp(x, name="f")


def value(symbol, x=(1.0, 2.0), **more):
    return symbol.bind(mx.cpu(), {"x": nd.array(x), **more}).forward()[0].asnumpy()


def nodes(symbol, op):
    import json
    return [n for n in json.loads(symbol.tojson())["nodes"] if n["op"] == op]


def test_partitioner_takes_parts_out(backends, expression):
    for backend in ("expLog", "expSelect"):
        taken = expression.optimize_for(backend, args={"x": nd.ones((2,))})
        assert len(nodes(taken, "_exp_log")) == (2 if backend == "expLog" else 1)
        assert [len(nodes(taken, op)) for op in ("exp", "log")] == ([0, 0] if backend == "expLog" else [1, 0])
        assert taken.list_arguments() == ["x"]
        np.testing.assert_allclose(value(taken), value(expression), rtol=1e-6)
        np.testing.assert_allclose(value(mx.sym.load_json(taken.tojson())), value(expression), rtol=1e-6)
        assert taken.infer_shape(x=(7, 3))[1] == [(7, 3)] and taken.infer_type(x="float32")[1] == [np.float32]
    assert len(nodes(expression, "exp")) == 2   # as it was
    assert len(nodes(expression.get_backend_symbol("expLog"), "_exp_log")) == 2


def test_options_and_answers_of_a_partitioner(backends, expression):
    args = {"x": nd.ones((2,))}
    assert len(nodes(expression.optimize_for("expLog", apart=True), "_exp_log")) == 3
    assert len(nodes(expression.optimize_for("expLog", args, reject=1), "_exp_log")) == 1
    added = expression.optimize_for("expLog", args, add=100)
    np.testing.assert_allclose(value(added), value(expression) + 200, rtol=1e-6)
    facts = [n["attrs"] for n in nodes(added, "_exp_log")]
    assert [f["first_shape"] for f in facts] == ["[2]", "[2]"]
    assert [(f["known"], f["arguments"]) for f in facts] == [("0", "0"), ("1", "1")]
    # shapes and dtypes are told where they are known
    assert not nodes(expression.optimize_for("expLog", reqFloat=True), "_exp_log")
    assert len(nodes(expression.optimize_for("expLog", shape_dict={"x": (2,)}, type_dict={"x": "float32"}, reqFloat=True), "_exp_log")) == 2
    assert not nodes(expression.optimize_for("expLog", shape_dict={"x": (2,)}, type_dict={"x": "float64"}, reqFloat=True), "_exp_log")
    assert not nodes(expression.optimize_for("expLog", args, skip_infer=True, reqFloat=True), "_exp_log")
    with pytest.raises(mx.MXNetError, match="supportedOps of the strategy strategy1 failed: .*told to fail"):
        expression.optimize_for("expLog", fail=1)
    with pytest.raises(ValueError, match="_not_registered"):
        expression.optimize_for("noSuchOp")
    with pytest.raises(ValueError, match="shape"):
        mx.sym.elemwise_add(mx.sym.var("x"), mx.sym.var("y")).optimize_for("expLog", {"x": nd.ones((2,)), "y": nd.ones((3,))})


def test_parts_make_no_circle(backends):
    """What lies between two nodes of a part would wait for it, and it for that."""
    x = mx.sym.var("x")
    first = mx.sym.exp(x)
    symbol = mx.sym.Group([mx.sym.log(first + mx.sym.sin(first)), mx.sym.exp(first)])
    symbol = mx.sym.elemwise_add(symbol[0], mx.sym.log(symbol[1]))
    twice = mx.sym.exp(mx.sym.broadcast_add(mx.sym.log(symbol), mx.sym.exp(mx.sym.cos(symbol))))
    for s in (symbol, twice):
        taken = s.optimize_for("expLog")
        assert not nodes(taken, "exp") and not nodes(taken, "log")
        np.testing.assert_allclose(value(taken, (0.1, 0.2)), value(s, (0.1, 0.2)), rtol=1e-5)


def test_partitioned_blocks(backends):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = gluon.nn.Dense(3)

        def hybrid_forward(self, F, x):
            return F.exp(F.log(self.dense(x) + 100))
    net = Net()
    net.initialize(mx.init.One())
    x = nd.array([[1, 2], [3, 4]])
    want = net(x).asnumpy()
    net.hybridize(backend="expLog", add=1)
    np.testing.assert_allclose(net(x).asnumpy(), want + 1, rtol=1e-5)
    net.optimize_for(x, backend="expLog", clear=True)
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5)
    net.optimize_for(x, backend="inserts", scale=2)   # of the graph as it is
    np.testing.assert_allclose(net(x).asnumpy(), 2 * want, rtol=1e-5)
    net.hybridize(backend="inserts", scale=3)
    np.testing.assert_allclose(net(x).asnumpy(), 3 * want, rtol=1e-5)
    assert any(name.endswith("made_scale") for name in net.collect_params())


# ---- passes

def test_passes_change_graphs(backends, expression):
    renamed = expression.optimize_for("renames", to="sqrt")
    assert renamed.list_outputs()[0].startswith("renamed_") and len(nodes(renamed, "sqrt")) == 2
    np.testing.assert_allclose(value(renamed), np.sqrt(np.log([2, 4])) + np.sqrt([1, 2]), rtol=1e-6)
    assert "__ext_shape__" not in expression.optimize_for("renames", {"x": nd.ones((2,))}).tojson()
    reported = expression.optimize_for("reports", {"x": nd.ones((2,))}, one=1, two="b")
    text = reported.attr_dict()[reported.list_outputs()[0][:-len("_output")]]["__report__"]
    assert text.startswith("6 nodes x=2") and "one:1" in text and "two:b" in text


def test_passes_make_parameters(backends, expression):
    args = {"x": nd.ones((2,)), "unrelated": nd.ones((1,))}
    scaled = expression.optimize_for("inserts", args)
    assert set(args) == {"x", "unrelated", "made_scale"} and args["made_scale"].asscalar() == 5
    assert scaled.list_arguments() == ["x", "made_scale"]
    np.testing.assert_allclose(value(scaled, made_scale=args["made_scale"]), 5 * value(expression), rtol=1e-6)
    for given in (None, [nd.ones((2,))]):
        with pytest.raises(ValueError, match="makes new parameters.*made_scale.*accepted: a dict"):
            expression.optimize_for("inserts", given)
    with pytest.raises(ValueError, match="makes new parameters"):
        expression.get_backend_symbol("inserts")


def test_passes_that_fail(backends, expression):
    for options, why in (({}, "the pass fails failed: .*a pass that fails"), ({"circle": 1}, "a circle through"),
                         ({"nonsense": 1}, "no_such_operator"), ({"memory": 1}, "no memory for the parameter much"),
                         ({"twice": 1}, "two parameters of the name one")):
        with pytest.raises(mx.MXNetError, match=why):
            expression.optimize_for("fails", args={"x": nd.ones((2,))}, **options)
    with pytest.raises(ValueError, match="no backend 'nope'; accepted: MKLDNN.*expLog"):
        expression.optimize_for("nope")


def test_two_libraries_do_not_share_what_they_have(operators, backends):
    """Each has the registry of the header for itself."""
    program = ("import mxnet as mx\nmx.library.load(%r, False)\nassert hasattr(mx.nd, 'my_gemm')\n"
               "try: mx.sym.var('x').optimize_for('expLog')\nexcept ValueError as e: print('apart')" % operators)
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True).stdout == b"apart\n"


def test_helpers():
    assert mx.library.compiled_with_gcc_cxx11_abi() in (0, 1)


def test_a_handle_that_closes_its_library(tmp_path):
    path = tmp_path / 'one.so'
    subprocess.run(['g++', '-x', 'c++', '-', '-shared', '-fPIC', '-o', path], check=True,
                   input='extern "C" int one() { return 1; }', text=True)
    library = mx.library.MXlib(ctypes.CDLL(str(path))._handle)
    assert str(path) in open('/proc/self/maps').read()
    del library
    assert str(path) not in open('/proc/self/maps').read()
    mx.library.MXlib(ctypes.c_void_p(None))     # nothing is open: nothing is closed
