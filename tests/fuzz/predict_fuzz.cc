// The C predict API with damaged symbols, parameters and arguments. What is made is also run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "fuzz.h"
#include "mxnet/c_predict_api.h"
#include "mxnet/graph.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"

using namespace mxnet;  // NOLINT

namespace {

Symbol Dense(Symbol in, const char* units, const std::string& name) {
  Symbol s = Symbol::Atomic(Op::Get("FullyConnected"), {{"num_hidden", units}});
  s.Compose({in}, {}, name);
  return s;
}

std::string Net() {
  Symbol conv = Symbol::Atomic(Op::Get("Convolution"), {{"kernel", "(3, 3)"}, {"num_filter", "4"}});
  conv.Compose({Symbol::Variable("data")}, {}, "conv");
  Symbol norm = Symbol::Atomic(Op::Get("BatchNorm"), {});
  norm.Compose({conv}, {}, "norm");
  Symbol relu = Symbol::Atomic(Op::Get("relu"), {});
  relu.Compose({norm}, {}, "relu");
  Symbol loss = Symbol::Atomic(Op::Get("SoftmaxOutput"), {});
  loss.Compose({Dense(relu, "5", "fc")}, {}, "softmax");
  return SymbolToJSON(loss);
}

std::string Params() {
  auto filled = [](const Shape& shape) {
    NDArray a(shape, Context::CPU());
    const std::vector<float> values(static_cast<size_t>(shape.Size()), 0.25f);
    a.CopyBytesFrom(values.data(), values.size() * sizeof(float));
    return a;
  };
  const std::string path = ::testing::TempDir() + "fuzz_predict_" + std::to_string(getpid());
  SaveNDArrays(path, {filled({4, 2, 3, 3}), filled({4}), filled({4}), filled({4}), filled({4}), filled({4}), filled({5, 64}), filled({5})},
               {"arg:conv_weight", "arg:conv_bias", "arg:norm_gamma", "arg:norm_beta", "aux:norm_moving_mean", "aux:norm_moving_var",
                "arg:fc_weight", "arg:fc_bias"});
  std::ifstream f(path, std::ios::binary);
  const std::string data(std::istreambuf_iterator<char>(f), {});
  std::remove(path.c_str());
  return data;
}

/* Makes, runs and frees a predictor; throws what the C interface reports. */
void Predict(const std::string& json, const std::string& params) {
  const char* keys[] = {"data"};
  const uint32_t pointers[] = {0, 4}, shape[] = {1, 2, 6, 6};
  auto ok = [](int code) {
    if (code != 0) throw Error(Error::Kind::kValue, MXGetLastError());
  };
  PredictorHandle p = nullptr;
  ok(MXPredCreate(json.c_str(), params.data(), static_cast<int>(params.size()), 1, 0, 1, keys, pointers, shape, &p));
  struct Free {
    PredictorHandle p;
    ~Free() { MXPredFree(p); }
  } freed{p};
  const std::vector<float> x(72, 0.5f);
  ok(MXPredSetInput(p, "data", x.data(), 72));
  ok(MXPredForward(p));
  uint32_t *dims = nullptr, ndim = 0, n = 1;
  ok(MXPredGetOutputShape(p, 0, &dims, &ndim));
  for (uint32_t i = 0; i < ndim; ++i) n *= dims[i];
  int dtype = 0;
  ok(MXPredGetOutputType(p, 0, &dtype));
  std::vector<double> y(static_cast<size_t>(n) + 1);  // wide enough for every dtype
  ok(MXPredGetOutput(p, 0, reinterpret_cast<float*>(y.data()), n));
}

// what a damaged graph may take: arrays for its arguments and one arena
constexpr fuzz::Budget kBudget{4096, 64 << 20};

TEST(PredictFuzz, DamagedSymbols) {
  const std::string params = Params();
  fuzz::Mutator mutator(
      6, {Net()},
      {"\"conv\"",      "\"data\"",   "\"fc_weight\"", "\"relu\"",      "\"op\": \"null\"", "\"(3, 3)\"", "\"(1, 1)\"", "\"2\"",
       "[0, 0, 0]",     "[1, 0, 0]",  "}, {",          "\"attrs\": {}", "\"num_filter\"",   "\"kernel\"", "\"stride\"", "\"dilate\"",
       "\"num_group\"", "\"layout\"", "\"__shape__\"", "\"no_bias\"",   "\"True\"",         "\"axis\"",   "\"-1\""});
  fuzz::Run(&mutator, 300, kBudget, [&params](const std::string& json) { Predict(json, params); });
}

TEST(PredictFuzz, DamagedParameters) {
  const std::string net = Net();
  fuzz::Mutator mutator(7, {Params()},
                        {"arg:", "aux:", "conv_weight", "fc_bias", std::string("\xc9\xfa\x93\xf9", 4), std::string("\x01\0\0\0", 4),
                         std::string("\x0c\0\0\0", 4)});
  fuzz::Run(&mutator, 300, kBudget, [&net](const std::string& params) { Predict(net, params); });
}

TEST(PredictFuzz, ArgumentsThatNobodyMeans) {
  const std::string json = Net(), params = Params();
  PredictorHandle p = nullptr;
  const char* keys[] = {"data"};
  const uint32_t pointers[] = {0, 4}, backwards[] = {4, 0}, many[] = {0, 1000}, huge[] = {0xffffffff, 2, 0xffffffff, 0xffffffff},
                 none[] = {0, 0, 0, 0}, shape[] = {1, 2, 6, 6};
  const int size = static_cast<int>(params.size());
  EXPECT_EQ(MXPredCreate(json.c_str(), params.data(), size, 1, 0, 1, keys, backwards, shape, &p), -1);
  EXPECT_EQ(MXPredCreate(json.c_str(), params.data(), size, 1, 0, 1, keys, many, shape, &p), -1);
  EXPECT_EQ(MXPredCreate(json.c_str(), params.data(), size, 1, 0, 1, keys, pointers, huge, &p), -1);
  EXPECT_EQ(MXPredCreate(json.c_str(), params.data(), size, 77, 0, 1, keys, pointers, shape, &p), -1);
  EXPECT_EQ(MXPredCreate(json.c_str(), params.data(), -5, 1, 0, 1, keys, pointers, shape, &p), -1);
  EXPECT_EQ(MXPredCreate(json.c_str(), nullptr, size, 1, 0, 1, keys, pointers, shape, &p), -1);
  EXPECT_EQ(MXPredCreate(nullptr, params.data(), size, 1, 0, 1, keys, pointers, shape, &p), -1);
  EXPECT_EQ(MXPredForward(nullptr), -1);
  if (MXPredCreate(json.c_str(), params.data(), size, 1, 0, 1, keys, pointers, none, &p) == 0) MXPredFree(p);
  // a weight that nobody gave and that is larger than anything here
  std::string wide = json;
  const size_t at = wide.rfind("\"num_hidden\": \"5\"");
  ASSERT_NE(at, std::string::npos);
  wide.replace(at, 17, "\"num_hidden\": \"2000000000\"");
  fuzz::Allocations::Reset();
  EXPECT_EQ(MXPredCreate(wide.c_str(), nullptr, 0, 1, 0, 1, keys, pointers, shape, &p), -1);
  EXPECT_LE(fuzz::Allocations::Peak(), size_t{64} << 20);
}

}  // namespace
