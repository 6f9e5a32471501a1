"""Programs against an installed prefix: mxnet/predictor.hpp, the example server, pkg-config, and
every function that the public headers declare. What Predictor does is tested in
tests/cpp/front_end/front_end_predictor_test.cc."""
import collections
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

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("MXNET_LIBRARY_PATH", "")).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))

import check_exports    # noqa: E402

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
    return [*values["Cflags"].split(), *values["Libs"].split()]


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


WRONG = """
#include <cstdio>
#include "mxnet/predictor.hpp"
int main(int, char** argv) {
  try {
    mxnet::Predictor(argv[1], argv[2])(mxnet::Tensor({1, 2, 6}));
  } catch (const std::exception& error) {
    std::printf("%s\\n", error.what());
  }
  mxnet::Predictor::Options options;
  options.device = mxnet::Predictor::Device::kGpu;
  options.device_id = 1000;
  try {
    mxnet::Predictor(argv[1], argv[2], options);
  } catch (const std::exception& error) {
    std::printf("%s\\n", error.what());
  }
}
"""


def test_what_is_wrong_is_said_where_it_is_given(flags, model, tmp_path):
    """A shape that does not fit with its input's name, and a GPU that is not there when the
    Predictor is made."""
    (tmp_path / "wrong.cc").write_text(WRONG)
    name, _, _ = model
    shape, device = run([build(tmp_path / "wrong.cc", tmp_path / "wrong", flags, "-std=c++11"), name + "-symbol.json",
                         name + "-0000.params"]).splitlines()
    assert shape.startswith("[Convolution] ") and shape.endswith("the shapes of inputs that were given: data (1,2,6)")
    assert re.fullmatch(r"\[Predictor\] GPU 1000 given; this library finds \d+ GPUs. Accepted: .*", device)


def test_serving_example(tmp_path):
    """examples/serving.py exports a network, builds the server against the library of a checkout,
    and compares its answers."""
    environment = {**os.environ, "PYTHONPATH": str(Path(mx.__file__).resolve().parents[1])}
    environment.pop("CMAKE_PREFIX_PATH", None)
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
    in_cpp = ROOT / "compat" / "include" / "mxnet"
    headers = sorted(path for path in (prefix / "include" / "mxnet").glob("c_*.h") if not (in_cpp / path.name).exists())
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
    run(["cc", "-std=gnu99", "-O1", "-Wall", "-Werror", ROOT / "tests" / "cpp" / "c_api" / f"{name}.c", "-o", tmp_path / name, *flags,
         "-pthread", "-lm"])
    run([tmp_path / name], cwd=tmp_path)


def called(program):
    """Counter of the functions that a program takes from libraries: one for each overload."""
    symbols = {line.split(None, 1)[1] for line in run(["nm", "-uC", program]).splitlines()}
    return collections.Counter(re.sub(r"\(.*", "", re.sub(r"\[abi:\w+\]", "", symbol)) for symbol in symbols)


def test_every_function_of_the_cpp_headers_is_called(flags, prefix, tmp_path):
    """tests/cpp/installed/every_function.cc uses all that installed headers declare, and works."""
    program = build(ROOT / "tests" / "cpp" / "installed" / "every_function.cc", tmp_path / "calls", flags, "-std=c++17",
                    "-Wno-unused-parameter")
    there, declared = called(program), collections.Counter()
    for header in sorted((prefix / "include" / "mxnet").glob("*.h")):
        if not check_exports.HEADER_ONLY.search(header.name):
            declared.update(name for _, name, _ in check_exports.declarations(header) if name.startswith("mxnet::"))
    # Called by no function that a header defines; of parameters, whose header is not installed.
    private = {"mxnet::Chunk::FreeMemory", "mxnet::Op::SetParams"}
    missing = {name for name, count in declared.items() if there[name] < count} - private
    assert not missing, f"not called: {sorted(missing)}"
    assert len(declared) > 140 and run([program, tmp_path]) == "called\n"


def test_headers_say_what_the_library_exports():
    """tools/check_exports.py: declared is exported, and something is said about it."""
    run([sys.executable, ROOT / "tools" / "check_exports.py", os.environ["MXNET_LIBRARY_PATH"]])


def test_check_exports_names_what_is_missing(tmp_path):
    header = tmp_path / "c_new.h"
    header.write_text("""namespace mxnet {
/* Not there. */
int NoSuchFunction(int x, void (*callback)(int), Shape shape = {});
static int Local();
struct Thing {
  int (*pointer)(int);
  void Member() const;  // nor this
  void Inline() { Member(); }
  static Thing* Make(int = 1);
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
        "mxnet::Thing::Make is declared and not exported", "mxnet::Thing::Secret is declared and not exported",
        "MXGetVersion has no comment"]
