"""Programs in C++ against an installed library, as users build them, and the header that the build
writes. What the classes do is tested in tests/cpp/front_end/front_end_test.cc."""
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mxnet as mx
from mxnet._operators import functions as _op_functions

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = Path(os.environ.get("MXNET_LIBRARY_PATH", ""))
BUILD = LIBRARY.resolve().parent
PROGRAMS = ("mlp", "lenet", "inference", "char_rnn", "resnet")

pytestmark = [
    pytest.mark.skipif(not (BUILD / "cmake_install.cmake").exists(), reason="needs the library's build folder"),
    pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("c++"), reason="needs CMake and a C++ compiler"),
]


def run(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An install prefix."""
    folder = tmp_path_factory.mktemp("prefix")
    run(["cmake", "--install", BUILD, "--prefix", folder])
    return folder


@pytest.fixture(scope="module")
def programs(prefix, tmp_path_factory):
    """The folder of the example programs, compiled in C++17 as CMake asks of users; no warnings."""
    folder = tmp_path_factory.mktemp("examples")
    run(["cmake", "-S", ROOT / "examples" / "cpp", "-B", folder, "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_PREFIX_PATH={prefix}",
         "-DCMAKE_CXX_FLAGS=-O0 -g0 -Wall -Wextra -Werror"])
    run(["cmake", "--build", folder, "-j", str(os.cpu_count()), "--target", *PROGRAMS])
    return folder


# What programs written for 1.9.1 do in their first lines, in one translation unit.
OLD_PROGRAM = """
#include <iostream>
#include "mxnet-cpp/MxNetCpp.h"
using namespace std;
using namespace mxnet::cpp;

int main(int argc, char **argv) {
  MX_TRY
  Context ctx(DeviceType::kCPU, 0);
  auto x = Symbol::Variable("X");
  vector<Symbol> w(2), out(2);
  for (int i = 0; i < 2; ++i) {
    string n = to_string(i);
    w[i] = Symbol::Variable("w" + n);
    Symbol fc = FullyConnected("fc" + n, i == 0 ? x : out[i - 1], w[i], Symbol("b" + n), i == 0 ? 8 : 4);
    out[i] = LeakyReLU("act" + n, fc, Symbol(), LeakyReLUActType::kLeaky);
  }
  Symbol net = SoftmaxOutput("softmax", out[1], Symbol::Variable("label"));
  Symbol conv = Convolution("conv", x, w[0], w[1], Shape(5, 5), 20, Shape(2, 2), Shape(1, 1), Shape(2, 2), 1, 512, false);
  Symbol pool = Pooling("pool", conv, Shape(2, 2), PoolingPoolType::kMax, false, false,
                        PoolingPoolingConvention::kValid, Shape(2, 2));
  Symbol merged = Concat("concat", std::vector<Symbol>{pool, pool}, 2, 1) + ElementWiseSum("sum", {pool, pool});
  Symbol drop = Dropout("drop", Flatten("flatten", merged), 0.5);
  map<string, NDArray> args;
  args["X"] = NDArray(Shape(6, 3), ctx);
  args["label"] = NDArray(Shape(6), ctx, false);
  args["X"] = 0.5f;
  args["label"] = 1;
  net.InferArgsMap(ctx, &args, args);
  Executor *exec = net.SimpleBind(ctx, args, map<string, NDArray>(), {{"label", kNullOp}, {"X", kNullOp}});
  Optimizer *opt = OptimizerRegistry::Find("ccsgd");
  opt->SetParam("momentum", 0.9)->SetParam("rescale_grad", 1.0)->SetParam("clip_gradient", 10);
  opt->SetParam("lr", 0.2)->SetParam("wd", 1e-4);
  unique_ptr<LRScheduler> schedule(new FactorScheduler(5000, 0.1));
  opt->SetLRScheduler(move(schedule));
  auto names = net.ListArguments();
  for (int step = 0; step < 50; ++step) {
    exec->Forward(true);
    exec->Backward();
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "X" || names[i] == "label") continue;
      opt->Update(i, exec->arg_arrays[i], exec->grad_arrays[i]);
    }
  }
  NDArray::WaitAll();
  vector<mx_float> scores(24);
  exec->outputs[0].SyncCopyToCPU(&scores, 24);
  CHECK_EQ(exec->outputs[0].GetShape()[1], 4u);
  LG << "the score of the right class is " << exec->outputs[0].At(0, 1);
  CHECK_GT(scores[1], 0.9f) << argc << argv[0];
  delete exec;
  delete opt;
  MXNotifyShutdown();
  cout << "learned" << endl;
  MX_CATCH
  return 0;
}
"""


def compile_command(prefix, standard, *more):
    return ["c++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{prefix}/include", *more]


def test_old_program(prefix, tmp_path):
    source, program, libraries = tmp_path / "old.cc", tmp_path / "old", prefix / "lib"
    source.write_text(OLD_PROGRAM)
    (tmp_path / "other.cc").write_text('#include "mxnet-cpp/MxNetCpp.h"\n')  # what is not inline would collide
    run(compile_command(prefix, "c++11", source, tmp_path / "other.cc", "-o", program, f"-L{libraries}", "-lmxnet",
                        f"-Wl,-rpath,{libraries}"))
    said, noted = run([program])
    assert said == "learned\n", noted
    assert re.search(r"\[\d\d:\d\d:\d\d\] \S+old\.cc:\d+: the score of the right class is 0\.9", noted)


def test_program_of_the_page_compiles_as_cpp20(prefix, tmp_path):
    page = (ROOT / "docs" / "cpp.md").read_text()
    (tmp_path / "page.cc").write_text(re.search(r"```cpp\n(.*?)```", page, re.S).group(1))
    run(compile_command(prefix, "c++20", "-fsyntax-only", tmp_path / "page.cc"))


@pytest.mark.parametrize("name", ["symbol", "optimizer"])  # each needs what includes it
def test_headers_stand_alone(prefix, tmp_path, name):
    source = tmp_path / f"{name}.cc"
    source.write_text(f'#include "mxnet-cpp/{name}.h"\n')
    run(compile_command(prefix, "c++11", "-fsyntax-only", source))


def test_every_public_operator_has_a_function(prefix):
    text = (prefix / "include" / "mxnet-cpp" / "op.h").read_text()
    functions = re.findall(r"^inline Symbol (\w+)\((.*)\) \{$", text, re.M)
    names = {name for name, _ in functions}
    assert names == {name for name in _op_functions.op_names() if not name.startswith("_")}
    assert len(functions) == 2 * len(names)
    named = {name: arguments for name, arguments in functions if arguments.startswith("const std::string& symbol_name")}
    assert named["FullyConnected"] == ("const std::string& symbol_name, Symbol data, Symbol weight, Symbol bias, int num_hidden, "
                                       "bool no_bias = false, bool flatten = true")
    assert named["Concat"] == "const std::string& symbol_name, const std::vector<Symbol>& data, int num_args, int dim = 1"
    assert "enum class ActivationActType { kLog_sigmoid, kMish, kRelu, kSigmoid, kSoftrelu, kSoftsign, kTanh };" in text


def test_mlp_learns(programs):
    said, _ = run([programs / "mlp"])
    assert "accuracy of new points after 3000 steps" in said


def write_digits(folder, part, count, rng, patterns):
    """Files in the form of MNIST: ten patterns of 28 x 28 pixels, and noise."""
    labels = np.arange(count) % 10
    images = np.clip(patterns[labels] * 200 + rng.normal(20, 40, (count, 28, 28)), 0, 255).astype(np.uint8)
    (folder / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">4i", 0x803, count, 28, 28) + images.tobytes())
    (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 0x801, count) + labels.astype(np.uint8).tobytes())
    return images.reshape(-1, 1, 28, 28) / 255.0, labels


def test_lenet_learns_and_inference_agrees_with_python(programs, tmp_path):
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 2, (10, 7, 7)).repeat(4, 1).repeat(4, 2)
    write_digits(tmp_path, "train", 600, rng, patterns)
    images, labels = write_digits(tmp_path, "t10k", 90, rng, patterns)
    _, noted = run([programs / "lenet", tmp_path, tmp_path / "net", "3"])
    assert float(re.findall(r"([\d.]+) on test images", noted)[-1]) > 0.95

    mx.nd.save(str(tmp_path / "input.nd"), {"data": mx.nd.array(images)})
    said, _ = run([programs / "inference", tmp_path / "net", tmp_path / "input.nd", "32"])
    classes = np.array(said.split(), float)
    symbol, args, states = mx.model.load_checkpoint(str(tmp_path / "net"), 0)
    executor = symbol.simple_bind(mx.cpu(), data=images.shape, grad_req="null")
    executor.copy_params_from(args, states, allow_extra_params=True)
    expected = executor.forward(data=mx.nd.array(images))[0].asnumpy().argmax(1)
    assert (classes == expected).all()
    assert (classes == labels).mean() > 0.95


def test_char_rnn_writes_its_text(programs, tmp_path):
    sentence = "the quick brown fox jumps over the lazy dog. "
    (tmp_path / "text.txt").write_text(sentence * 40)
    said, noted = run([programs / "char_rnn", tmp_path / "text.txt", "300", "the quick"])
    assert float(re.findall(r"loss ([\d.]+)", noted)[-1]) < 0.2
    assert said.strip() == (sentence * 3)[:len("the quick") + 80].strip()


def write_images(file, count, rng):
    """A RecordIO file of JPEG images of two colours."""
    from mxnet import recordio
    record = recordio.MXRecordIO(str(file), "w")
    for i in range(count):
        colour = np.array([200, 80, 60] if i % 2 else [60, 90, 190])
        image = np.clip(colour + rng.normal(0, 20, (36, 36, 3)), 0, 255).astype(np.uint8)
        record.write(recordio.pack_img(recordio.IRHeader(0, float(i % 2), i, 0), image, quality=90))
    record.close()


def test_resnet_learns_from_a_record_file(programs, tmp_path):
    write_images(tmp_path / "train.rec", 64, np.random.default_rng(0))
    done = subprocess.run([programs / "resnet", tmp_path / "train.rec", "2", "32", "4"], capture_output=True, text=True)
    if "got 'ImageRecordIter'; accepted:" in done.stderr:
        pytest.skip("the library has no ImageRecordIter")
    assert done.returncode == 0, done.stderr
    assert float(re.findall(r"accuracy ([\d.]+)", done.stderr)[-1]) > 0.9


def test_errors_end_programs_with_the_library_s_message(programs, tmp_path):
    done = subprocess.run([programs / "lenet", tmp_path, tmp_path / "net"], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"[MNISTIter] cannot open {tmp_path}/train-images-idx3-ubyte" in done.stderr
