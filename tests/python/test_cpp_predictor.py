"""Programs against an installed prefix: mxnet/predictor.hpp, the example server, pkg-config, and
every function that the public headers declare. What Predictor does is tested in
tests/cpp/front_end_predictor_test.cc."""
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MXNET_LIBRARY_PATH", "")).resolve().parent

pytestmark = [
    pytest.mark.skipif(not (BUILD / "cmake_install.cmake").exists(), reason="needs the library's build folder"),
    pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("c++"), reason="needs CMake and a C++ compiler"),
]


def run(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run(["cmake", "--install", BUILD, "--prefix", folder])
    return folder


def variables(prefix):
    """What pkg-config prints for the prefix: read here, where there is no pkg-config."""
    file, = prefix.glob("lib*/**/pkgconfig/mxnet.pc")
    values = {"pcfiledir": str(file.parent)}
    for line in file.read_text().splitlines():
        name, equals, value = re.match(r"(\w*)([=:]?)\s*(.*)", line).groups()
        if equals:
            values[name] = re.sub(r"\$\{(\w+)\}", lambda m: values[m.group(1)], value)
    return values


@pytest.fixture(scope="module")
def flags(prefix):
    """Arguments for the compiler."""
    values = variables(prefix)
    if shutil.which("pkg-config"):
        path = {**os.environ, "PKG_CONFIG_PATH": values["pcfiledir"]}
        assert run(["pkg-config", "--modversion", "mxnet"], env=path).strip() == values["Version"] == mx.__version__
    return [*values["Cflags"].split(), *values["Libs"].split(), f"-Wl,-rpath,{values['libdir']}"]


def build(source, out, flags, *more):
    run(["c++", "-O1", "-Wall", "-Wextra", "-Werror", *more, source, "-o", out, *flags, "-pthread"])
    return out


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """(prefix of an exported network's files, its input, its output)."""
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(4, 3, in_channels=2, activation="relu"), mx.gluon.nn.Flatten(), mx.gluon.nn.Dense(3))
    net.initialize(mx.init.Uniform(0.5))
    net.hybridize()
    x = mx.nd.random.uniform(shape=(1, 2, 6, 6))
    y = net(x).asnumpy()
    name = str(tmp_path_factory.mktemp("model") / "m")
    net.export(name)
    return name, x.asnumpy(), y


FIVE_LINES = """
#include <cstdio>
#include "mxnet/predictor.hpp"
int main(int, char** argv) {
  mxnet::Predictor predict(argv[1], argv[2]);
  mxnet::Tensor x({1, 2, 6, 6});
  for (float& value : x.data)
    if (std::scanf("%f", &value) != 1) return 1;
  for (float value : predict(x).data) std::printf("%.9g ", value);
}
"""


def test_five_lines(flags, model, tmp_path):
    (tmp_path / "five.cc").write_text(FIVE_LINES)
    program = build(tmp_path / "five.cc", tmp_path / "five", flags, "-std=c++11")
    name, x, y = model
    out = run([program, name + "-symbol.json", name + "-0000.params"], input=" ".join(map(repr, x.ravel().tolist())))
    np.testing.assert_allclose([float(v) for v in out.split()], y.ravel(), rtol=1e-5)


def test_serving_example(prefix, tmp_path):
    """examples/serving.py exports a network, builds the server, and compares its answers."""
    environment = {**os.environ, "CMAKE_PREFIX_PATH": str(prefix), "PYTHONPATH": str(Path(mx.__file__).resolve().parents[1])}
    out = run([sys.executable, ROOT / "examples" / "serving.py", "--requests", "90"], cwd=tmp_path, env=environment)
    assert re.search(r"^90 requests: p50 [\d.]+ ms, p99 [\d.]+ ms$", out, re.M), out
    accuracy, difference = map(float, re.search(r"serving: accuracy ([\d.]+), answers differ from Python's by (\S+)$",
                                                out.strip()).groups())
    assert accuracy > 0.9 and difference < 1e-4


def test_server(flags, model, tmp_path):
    """Several clients at a time get the network's answers; wrong requests are answered with what is
    wrong; at the end come the latencies."""
    program = build(ROOT / "examples" / "cpp" / "serve.cc", tmp_path / "serve", flags, "-std=c++17")
    name, x, y = model
    server = subprocess.Popen([str(program), name + "-symbol.json", name + "-0000.params", "2x6x6", "0", "42"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        raw = urllib.request.Request(address, x.astype("<f4").tobytes(), {"Content-Type": "application/octet-stream"})
        text = urllib.request.Request(address, " ".join(map(repr, x.ravel().tolist())).encode(), {"Content-Type": "text/plain"})
        wrong = []

        def ask():
            for i in range(10):
                answer = eval(urllib.request.urlopen([raw, text][i % 2], timeout=60).read())
                if not np.allclose(answer, y.ravel(), rtol=1e-4):
                    wrong.append(answer)

        clients = [threading.Thread(target=ask) for _ in range(4)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert not wrong
        for data, said in ((b"1 2", "fewer numbers"), (b"0 " * 100000, "too long")):
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(urllib.request.Request(address, data, {"Content-Type": "text/plain"}), timeout=60)
            assert caught.value.code == 400 and said in caught.value.read().decode()
        out, errors = server.communicate(timeout=60)
        assert re.match(r"42 requests: p50 [\d.]+ ms, p99 [\d.]+ ms\n$", out), out + errors
        assert server.returncode == 0
    finally:
        server.kill()
        server.communicate()


def test_functions_of_the_c_interface_link(flags, prefix, tmp_path):
    """A C program with the address of every function that an installed header declares."""
    headers = sorted((prefix / "include" / "mxnet").glob("c_*.h"))
    code = "".join(f'#include "mxnet/{header.name}"\n' for header in headers)
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", "".join(header.read_text() for header in headers), flags=re.S)
    names = re.findall(r"\b((?:MX|NN)\w+)\s*\((?!\s*\*)", text)
    assert len(names) > 280
    code += "typedef void (*Any)(void);\nAny functions[] = {" + ", ".join(f"(Any){name}" for name in names) + "};\n"
    code += "int main(void) { return sizeof(functions) == 0; }\n"
    (tmp_path / "all.c").write_text(code)
    run(["cc", "-std=c99", "-Wall", "-Werror", tmp_path / "all.c", "-o", tmp_path / "all", *flags])
    run([tmp_path / "all"])


@pytest.mark.parametrize("name", ["c_names_test", "c_imperative_test", "c_custom_test"])
def test_c_programs(flags, tmp_path, name):
    """Programs of tests/cpp in plain C, against the installed prefix."""
    run(["cc", "-std=gnu99", "-O1", "-Wall", "-Werror", ROOT / "tests" / "cpp" / f"{name}.c", "-o", tmp_path / name, *flags,
         "-pthread", "-lm"])
    run([tmp_path / name], cwd=tmp_path)


CALLS = r"""
#include <cstdio>
#include <cstdlib>
#include "mxnet/executor.h"
#include "mxnet/graph.h"
#include "mxnet/imperative.h"
#include "mxnet/kvstore.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "mxnet/profiler.h"
#include "mxnet/storage.h"
using namespace mxnet;
#define CHECK(x) if (!(x)) std::printf("line %d: %s\n", __LINE__, #x), std::exit(1)

int main(int, char** argv) {
  // Arrays: copies, conversions, files.
  NDArray a(Shape({2, 2}), Context::CPU()), b(Shape({2, 2}), Context::CPU(), kFloat64);
  const float values[] = {1, 2, 3, 4};
  a.SyncCopyFromCPU(values, sizeof(values));
  CopyFromTo(a, b);
  double wide[4];
  b.SyncCopyToCPU(wide, sizeof(wide));
  CHECK(wide[3] == 4);
  ConvertElements(values, kFloat32, wide, kFloat64, 4);
  const std::string path = argv[1];
  SaveNDArrays(path, {a, b}, {"a", "b"});
  std::vector<NDArray> arrays;
  std::vector<std::string> names;
  LoadNDArrays(path, &arrays, &names);
  CHECK(names[1] == "b" && arrays[1].dtype() == kFloat64);
  const std::string raw = SaveNDArrayRaw(a);
  CHECK(LoadNDArrayRaw(raw.data(), raw.size()).shape() == Shape({2, 2}));
  a.chunk()->Allocate();

  // Graphs: JSON, inference, gradients, walks.
  const NodePtr x = MakeVariable("x");
  const NodeEntry y = MakeOp("square", {NodeEntry{x, 0, 0}});
  Symbol s;
  s.outputs = {y};
  CHECK(SymbolFromJSON(SymbolToJSON(s)).ListOutputNames() == s.ListOutputNames());
  int nodes = 0;
  DFSVisit(s.outputs, [&](const NodePtr&) { ++nodes; });
  CHECK(nodes == 2);
  const IndexedGraph g(s.outputs);
  ShapeVector shapes(g.num_entries());
  std::vector<int> dtypes(g.num_entries(), kDTypeUnknown);
  shapes[g.eid(g.input_nodes[0], 0)] = Shape({3, 5});
  CHECK(InferShapes(g, &shapes) && shapes[g.eid(g.id.at(y.node.get()), 0)] == Shape({3, 5}));
  CHECK(InferTypes(g, &dtypes, kFloat32));
  CHECK(Gradient({y}, {NodeEntry{x, 0, 0}}, {MakeOp("ones_like", {y})}).size() == 1);

  // Helpers of operators, pools, the profiler.
  CHECK(BroadcastShape("add", Shape({2, 1}), Shape({1, 3})) == Shape({2, 3}));
  CHECK(BackwardNode("_backward_square", 0) != nullptr);
  CHECK(PoolOptions{}.Round(1) >= 1);
  profiler::SetRunning(false);
  CHECK(!profiler::Running());
  profiler::SetMemoryScope("here:");
  profiler::AggregateStats(false, profiler::SortBy::kTotal, false, false);
  std::puts("called");
}
"""


def test_functions_of_the_cpp_headers_are_called(flags, tmp_path):
    """Programs that use the C++ headers link: LoadNDArrays, SymbolFromJSON, InferShapes and so on
    were declared and not exported."""
    (tmp_path / "calls.cc").write_text(CALLS)
    program = build(tmp_path / "calls.cc", tmp_path / "calls", flags, "-std=c++17", "-Wno-unused-parameter")
    assert run([program, tmp_path / "arrays.params"]) == "called\n"


def test_headers_say_what_the_library_exports():
    """tools/check_exports.py: declared is exported, and something is said about it."""
    run([sys.executable, ROOT / "tools" / "check_exports.py", os.environ["MXNET_LIBRARY_PATH"]])


def test_check_exports_names_what_is_missing(tmp_path):
    header = tmp_path / "c_new.h"
    header.write_text("""namespace mxnet {
/* Not there. */
int NoSuchFunction(int x, void (*callback)(int));
struct Thing {
  int (*pointer)(int);
  void Member() const;  // nor this
  void Inline() { Member(); }
  Thing() = default;
 private:
  void Secret();
};
inline int Here() { return 1; }
}
extern "C" int MXGetVersion(int* out);
""")
    done = subprocess.run([sys.executable, ROOT / "tools" / "check_exports.py", os.environ["MXNET_LIBRARY_PATH"], header],
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert [line.split(": ", 1)[1] for line in done.stdout.splitlines()] == [
        "mxnet::NoSuchFunction is declared and not exported", "mxnet::Thing::Member is declared and not exported",
        "mxnet::Thing::Secret is declared and not exported", "MXGetVersion has no comment"]
