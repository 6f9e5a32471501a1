"""Headers of dmlc-core and NNVM that sources for 1.9.1 include, and Makefiles that compile its
lib_api.cc: the names are there, in lines of ours."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import mxnet as mx

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = Path(mx.libinfo.find_lib_path()[0])
BUILD = LIBRARY.resolve().parent
WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
COMPAT = ROOT / "compat" / "include"
HEADERS = ["nnvm/c_api.h", *sorted(str(path.relative_to(COMPAT)) for path in COMPAT.rglob("*.h"))]

pytestmark = [
    pytest.mark.skipif(not (BUILD / "cmake_install.cmake").exists(), reason="needs the library's build folder"),
    pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("c++"), reason="needs CMake and a C++ compiler"),
]


def run(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def include(tmp_path_factory):
    """The headers of an install prefix."""
    folder = tmp_path_factory.mktemp("prefix")
    run(["cmake", "--install", BUILD, "--prefix", folder])
    return folder / "include"


def test_there_are_the_headers():
    assert set(HEADERS) >= {"nnvm/c_api.h", "nnvm/base.h", "nnvm/tuple.h", "dmlc/base.h", "dmlc/logging.h", "dmlc/optional.h",
                            "dmlc/parameter.h", "dmlc/timer.h", "dmlc/omp.h", "dmlc/thread_local.h"}


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_is_enough_for_itself(header, include, tmp_path):
    source = tmp_path / "one.cc"
    source.write_text(f'#include "{header}"\n#include <{header}>\nint main() {{ return 0; }}\n')
    run(["c++", *WARNINGS, "-std=c++11", "-fsyntax-only", source, "-I", include])


PARAMETERS = r"""
#include <dmlc/base.h>
#include <dmlc/logging.h>
#include <dmlc/omp.h>
#include <dmlc/parameter.h>
#include <dmlc/thread_local.h>
#include <dmlc/timer.h>
#include <nnvm/tuple.h>

#include <cassert>
#include <cstdlib>
#include <iostream>

struct Options : public dmlc::Parameter<Options> {
  int depth;
  float rate;
  bool quiet;
  std::string name;
  int act;
  nnvm::Tuple<int> none;
  dmlc::optional<int> seed;
  DMLC_DECLARE_PARAMETER(Options) {
    DMLC_DECLARE_FIELD(depth).set_range(1, 9).describe("layers");
    DMLC_DECLARE_FIELD(rate).set_default(0.5f).set_lower_bound(0);
    DMLC_DECLARE_FIELD(quiet).set_default(false);
    DMLC_DECLARE_FIELD(name).set_default("net");
    DMLC_DECLARE_FIELD(act).add_enum("relu", 1).add_enum("tanh", 2).set_default(1);
    DMLC_DECLARE_FIELD(seed).set_default(dmlc::optional<int>());
    DMLC_DECLARE_ALIAS(depth, layers);
  }
};
DMLC_REGISTER_PARAMETER(Options);

typedef std::map<std::string, std::string> Texts;

std::string Fails(const Texts& texts) {
  Options options;
  try {
    options.Init(texts);
  } catch (const dmlc::ParamError& error) {
    return error.what();
  }
  return "";
}

int main() {
  Options options;
  options.Init(Texts{{"layers", "3"}, {"rate", "1e-3"}, {"quiet", "true"}, {"act", "tanh"}, {"seed", "7"}});
  assert(options.depth == 3 && options.rate == 1e-3f && options.quiet && options.name == "net" && options.act == 2 && *options.seed == 7);
  std::map<std::string, std::string> all = options.__DICT__();
  assert(all.size() == 6 && all["act"] == "tanh" && all["quiet"] == "True" && all["depth"] == "3" && all["seed"] == "7");
  options.Init(all);
  assert(options.rate == 1e-3f);
  const std::vector<std::pair<std::string, std::string>> more{{"depth", "2"}, {"colour", "red"}};
  assert(options.InitAllowUnknown(more).at(0).first == "colour");
  assert(!options.seed.has_value() && options.act == 1);
  for (const auto& wrong : std::vector<std::pair<Texts, std::string>>{
           {{}, "depth"}, {{{"depth", "10"}}, "<=9"}, {{{"depth", "x"}}, "int"}, {{{"depth", "1 2"}}, "int"},
           {{{"depth", "1"}, {"act", "1"}}, "{'relu', 'tanh'}"}, {{{"depth", "1"}, {"kernal", "1"}}, "kernal"}}) {
    const std::string what = Fails(wrong.first);
    if (what.find(wrong.second) == std::string::npos) {
      std::cerr << wrong.second << ": " << what << std::endl;
      return 1;
    }
  }
  assert(Options::__FIELDS__()[0].name == "depth" && Options::__DOC__().find("layers") != std::string::npos);
  setenv("A_NUMBER", "12", 1);
  assert(dmlc::GetEnv("A_NUMBER", 3) == 12 && dmlc::GetEnv("NO_NUMBER", 3) == 3);
  dmlc::SetEnv("A_NUMBER", 4);
  assert(dmlc::GetEnv<std::string>("A_NUMBER", "") == "4");
  *dmlc::ThreadLocalStore<int>::Get() = 5;
  assert(*dmlc::ThreadLocalStore<int>::Get() == 5 && omp_get_max_threads() == 1);
  const double start = dmlc::GetTime();
  assert(dmlc::GetTime() >= start);
  std::vector<int> empty;
  assert(dmlc::BeginPtr(empty) == nullptr);
  nnvm::Tuple<float> tuple({1.5f, 2.f});
  assert(tuple.ndim() == 2 && tuple[0] == 1.5f);
  try {
    CHECK_EQ(1, 2) << "no";
  } catch (const dmlc::Error& error) {
    std::cout << "done" << std::endl;
  }
}
"""


@pytest.mark.parametrize("standard", ["c++11", "c++17"])
def test_parameters_and_their_errors(standard, include, tmp_path):
    (tmp_path / "options.cc").write_text(PARAMETERS)
    run(["c++", *WARNINGS, f"-std={standard}", tmp_path / "options.cc", "-o", tmp_path / "options", "-I", include])
    assert run([tmp_path / "options"]) == "done\n"


# What a wrapper looks like that was generated for 1.9.1, and a program that includes such a file.
WRAPPERS = r"""
#pragma once
#include <string>
#include <vector>
#include "mxnet-cpp/base.h"
#include "mxnet-cpp/shape.h"
#include "mxnet-cpp/op_util.h"
#include "mxnet-cpp/operator.h"
#include "dmlc/optional.h"
#include "nnvm/tuple.h"

namespace mxnet {
namespace cpp {
enum class MineMode { kAdd = 0, kMean = 1 };
inline Symbol my_slice(const std::string& symbol_name, Symbol data, int axis, int begin, dmlc::optional<int> end) {
  return Operator("slice_axis").SetParam("axis", axis).SetParam("begin", begin).SetParam("end", end).SetInput("data", data)
      .CreateSymbol(symbol_name);
}
inline Symbol my_boxes(Symbol data, nnvm::Tuple<mx_float> sizes) {
  return Operator("_contrib_MultiBoxPrior").SetParam("sizes", sizes).SetInput("data", data).CreateSymbol();
}
}  // namespace cpp
}  // namespace mxnet
"""
PROGRAM = r"""
#include <dmlc/logging.h>
#include <mxnet-cpp/MxNetCpp.h>
#include "wrappers.h"
using namespace mxnet::cpp;
int main() {
  Symbol data = Symbol::Variable("data");
  Symbol cut = my_slice("cut", data, 1, 1, dmlc::optional<int>());
  std::map<std::string, NDArray> args{{"data", NDArray(Shape(2, 3), Context::cpu())}};
  args["data"] = 2.f;
  Executor* run = cut.SimpleBind(Context::cpu(), args);
  run->Forward(false);
  CHECK_EQ(run->outputs[0].GetShape()[1], 2u);
  LOG(INFO) << my_boxes(data, {0.5f, 0.25f}).ToJSON().size();
  delete run;
  MXNotifyShutdown();
  std::cout << "ran" << std::endl;
}
"""


def test_generated_wrappers_of_1_9_1(include, tmp_path):
    (tmp_path / "wrappers.h").write_text(WRAPPERS)
    (tmp_path / "program.cc").write_text(PROGRAM)
    run(["c++", *WARNINGS, tmp_path / "program.cc", "-o", tmp_path / "program", "-I", include, "-I", tmp_path, LIBRARY,
         f"-Wl,-rpath,{LIBRARY.parent}"])
    assert run([tmp_path / "program"]) == "ran\n"


EXTENSION = r"""
#include "mxnet/lib_api.h"
using namespace mxnet::ext;
PRIVATE_SYMBOL int helper() { return 3; }
extern "C" {
MX_INT_RET my_answer() { return helper(); }
MX_VOID_RET my_nothing() {}
}
MXReturnValue parseAttrs(const std::unordered_map<std::string, std::string>&, int* in, int* out) {
  *in = *out = 1;
  return MX_SUCCESS;
}
MXReturnValue inferType(const std::unordered_map<std::string, std::string>&, std::vector<int>* in, std::vector<int>* out) {
  out->at(0) = in->at(0);
  return MX_SUCCESS;
}
MXReturnValue inferShape(const std::unordered_map<std::string, std::string>&, std::vector<std::vector<unsigned int>>* in,
                         std::vector<std::vector<unsigned int>>* out) {
  out->at(0) = in->at(0);
  return MX_SUCCESS;
}
MXReturnValue forward(const std::unordered_map<std::string, std::string>&, std::vector<MXTensor>* in, std::vector<MXTensor>* out,
                      const OpResource&) {
  for (int64_t i = 0; i < in->at(0).size(); ++i) out->at(0).data<float>()[i] = in->at(0).data<float>()[i] + my_answer();
  return MX_SUCCESS;
}
REGISTER_OP(made_by_old_makefile).setForward(forward, "cpu").setParseAttrs(parseAttrs).setInferType(inferType).setInferShape(inferShape);
MXReturnValue initialize(int) { return MX_SUCCESS; }
"""


def test_a_makefile_that_compiles_lib_api(include, tmp_path):
    """The folder of the package is what Makefiles call MXNET, as in 1.9.1's wheel."""
    (tmp_path / "mine.cc").write_text(EXTENSION)
    (tmp_path / "Makefile").write_text("MXNET = " + os.path.dirname(mx.__file__) + "\nlibmine.so: mine.cc $(MXNET)/src/lib_api.cc\n"
                                       f"\tg++ -shared -fPIC -std=c++11 -Wall -Werror $^ -o $@ -I {include}\n")
    run(["make"], cwd=tmp_path)
    mx.library.load(str(tmp_path / "libmine.so"), verbose=False)
    assert mx.nd.made_by_old_makefile(mx.nd.ones(2)).asnumpy().tolist() == [4, 4]
