// The pointwise table and the reductions below the operators: instruction sets agree, strides and
// dtypes against a plain evaluation, symbolic derivatives against differences.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "base/cpu_dispatch.h"
#include "cpu_levels.h"
#include "mxnet/op.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/repeats.h"
#include "operator/pointwise/rows.h"
#include "operator/reduce/reduce.h"

namespace mxnet {
namespace pointwise {
namespace {

TBlob Blob(void* data, const Shape& shape, int dtype = kFloat32) {
  TBlob b;
  b.dptr = data;
  b.shape = shape;
  b.dtype = dtype;
  return b;
}

std::vector<float> Numbers(int n, double low, double high, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> d(low, high);
  std::vector<float> v(n);
  for (float& x : v) x = static_cast<float>(d(rng));
  return v;
}

double UlpDistance(float a, float b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const float unit = std::nextafter(std::fabs(b), INFINITY) - std::fabs(b);
  return std::fabs(static_cast<double>(a) - b) / unit;
}

TEST(Pointwise, InstructionSetsAgree) {
  constexpr int kN = 1037;
  for (int row = 0; row < kEndBinary; ++row) {
    if (row >= k_clip && row < k_add) continue;  // with parameters: covered by the operators' own tests
    const std::vector<float> a = Numbers(kN, 0.1, 0.9, 1), b = Numbers(kN, 0.1, 0.9, 2);
    const void* in[2] = {a.data(), b.data()};
    std::vector<float> baseline(kN), best(kN);
    {
      CpuLevelScope scope(CpuLevel::kV2);
      ForwardLoop(row, kF32)(in, baseline.data(), kN, 0);
    }
    ForwardLoop(row, kF32)(in, best.data(), kN, 0);
    for (int i = 0; i < kN; ++i) ASSERT_LE(UlpDistance(best[i], baseline[i]), 3) << GetRow(row).name << " of " << a[i] << ", " << b[i];
  }
}

TEST(Pointwise, FloatFunctionsAreWithinTwoUlps) {
  struct {
    int row;
    double (*exact)(double);
    double low, high;
  } const cases[] = {
      {k_exp, std::exp, -80, 80},     {k_expm1, std::expm1, -3, 3},   {k_log, std::log, 0, 10},         {k_log, std::log, 0, 1e30},
      {k_log1p, std::log1p, -0.9, 5}, {k_tanh, std::tanh, -9, 9},     {k_tanh, std::tanh, -0.01, 0.01}, {k_sinh, std::sinh, -80, 80},
      {k_cosh, std::cosh, -80, 80},   {k_sin, std::sin, -100, 100},   {k_sin, std::sin, -1e6, 1e6},     {k_cos, std::cos, -100, 100},
      {k_tan, std::tan, -100, 100},   {k_arcsin, std::asin, -1, 1},   {k_arccos, std::acos, -1, 1},     {k_arctan, std::atan, -20, 20},
      {k_arcsinh, std::asinh, -9, 9}, {k_arccosh, std::acosh, 1, 99}, {k_arctanh, std::atanh, -1, 1},   {k_erf, std::erf, -5, 5},
      {k_erf, std::erf, -0.01, 0.01}, {k_cbrt, std::cbrt, -999, 999}, {k_gammaln, std::lgamma, 0.1, 50}};
  constexpr int kN = 50000;
  for (const auto& c : cases) {
    const std::vector<float> x = Numbers(kN, c.low, c.high, 3);
    std::vector<float> y(kN);
    const void* in[1] = {x.data()};
    ForwardLoop(c.row, kF32)(in, y.data(), kN, 0);
    for (int i = 0; i < kN; ++i) {
      const double exact = c.exact(x[i]);
      const float unit = std::nextafter(std::fabs(static_cast<float>(exact)), INFINITY) - std::fabs(static_cast<float>(exact));
      ASSERT_LE(std::fabs(y[i] - exact), 2 * static_cast<double>(unit)) << GetRow(c.row).name << "(" << x[i] << ")";
    }
  }
}

// Every shape of broadcasting against indices computed one by one.
TEST(Pointwise, BroadcastMatchesPlainIndexing) {
  std::mt19937 rng(5);
  for (int round = 0; round < 200; ++round) {
    const int ndim = static_cast<int>(rng() % 5);
    Shape out(ndim, 1), shapes[2] = {Shape(ndim, 1), Shape(ndim, 1)};
    for (int d = 0; d < ndim; ++d) {
      out[d] = 1 + static_cast<int64_t>(rng() % (round % 7 == 0 ? 40 : 5));
      for (Shape& s : shapes) s[d] = rng() % 3 ? out[d] : 1;
      if (shapes[0][d] != out[d] && shapes[1][d] != out[d]) shapes[0][d] = out[d];
    }
    std::vector<float> a = Numbers(static_cast<int>(shapes[0].Size()), -1, 1, 6), b = Numbers(static_cast<int>(shapes[1].Size()), -1, 1, 7);
    std::vector<double> result(out.Size(), 10.0);
    const bool add = round % 2 != 0;
    const TBlob lhs = Blob(a.data(), shapes[0]), rhs = Blob(b.data(), shapes[1]);
    const Operand in[2] = {lhs, rhs};
    Execute(ForwardLoop(k_sub, kF32), kF32, in, 2, kBinaryMasks, nullptr, Blob(result.data(), out, kFloat64),
            add ? OpReq::kAdd : OpReq::kWrite);
    for (int64_t i = 0; i < out.Size(); ++i) {
      int64_t at[2] = {0, 0}, rest = i, stride[2] = {1, 1};
      for (int d = ndim - 1; d >= 0; --d) {
        const int64_t index = rest % out[d];
        rest /= out[d];
        for (int k = 0; k < 2; ++k) {
          if (shapes[k][d] != 1) at[k] += index * stride[k];
          stride[k] *= shapes[k][d];
        }
      }
      const float expected = a[at[0]] - b[at[1]];
      ASSERT_FLOAT_EQ(static_cast<float>(result[i]), add ? 10.0f + expected : expected) << shapes[0] << " - " << shapes[1] << " at " << i;
    }
  }
}

TEST(Pointwise, ReductionsMatchPlainLoops) {
  std::mt19937 rng(8);
  for (int round = 0; round < 200; ++round) {
    const int ndim = 1 + static_cast<int>(rng() % 5);
    Shape shape(ndim, 1);
    std::vector<char> reduced(ndim);
    int64_t results = 1;
    for (int d = 0; d < ndim; ++d) {
      shape[d] = 1 + static_cast<int64_t>(rng() % (round % 5 == 0 ? 70 : 5));
      if (shape.Prod(0, d + 1) > 200000) shape[d] = 1;
      reduced[d] = rng() % 2 != 0;
      if (!reduced[d]) results *= shape[d];
    }
    std::vector<float> x = Numbers(static_cast<int>(shape.Size()), -1, 1, 9), got(results);
    const reduce::Kind kind = round % 3 == 0 ? reduce::kSum : round % 3 == 1 ? reduce::kMax : reduce::kSumSquare;
    reduce::Reduce(KernelArgs(), kind, Blob(x.data(), shape), reduced, reduce::Finish(), false, Blob(got.data(), Shape{results}),
                   OpReq::kWrite);
    std::vector<double> expected(results, kind == reduce::kMax ? -9.0 : 0.0);
    for (int64_t i = 0; i < shape.Size(); ++i) {
      int64_t to = 0, stride = 1, rest = i;
      for (int d = ndim - 1; d >= 0; --d) {
        if (!reduced[d]) {
          to += rest % shape[d] * stride;
          stride *= shape[d];
        }
        rest /= shape[d];
      }
      const double v = x[i];
      expected[to] = kind == reduce::kMax ? std::max(expected[to], v) : expected[to] + (kind == reduce::kSum ? v : v * v);
    }
    for (int64_t i = 0; i < results; ++i)
      ASSERT_NEAR(got[i], expected[i], 1e-5 * (1 + std::fabs(expected[i]))) << shape << " kind " << kind;
  }
}

double Evaluate(const ExprPtr& e, double x) {
  auto arg = [&](int i) { return Evaluate(e->args[i], x); };
  switch (e->kind) {
    case Expr::kNumber: return e->number;
    case Expr::kName: return x;
    case Expr::kSelect: return arg(0) != 0 ? arg(1) : arg(2);
    case Expr::kCall: {
      double a = arg(0), b = e->args.size() > 1 ? arg(1) : 0, y;
      const void* in[2] = {&a, &b};
      ForwardLoop(FindRow(e->name), kF64)(in, &y, 1, 0);
      return y;
    }
    case Expr::kOperator: {
      const double a = arg(0), b = arg(1);
      switch (e->name[0]) {
        case '+': return a + b;
        case '*': return a * b;
        case '/': return a / b;
        case '<': return a < b;
        case '>': return a > b;
        case 'l': return a <= b;
        case 'g': return a >= b;
        case '=': return a == b;
        default: return a != b;
      }
    }
  }
  return 0;
}

TEST(Pointwise, SymbolicDerivativesMatchDifferences) {
  for (int id = 0; id < k_clip; ++id) {
    const Row& row = GetRow(id);
    if (row.uses[0] == 'Z' || row.uses[0] == 'N' || row.uses[0] == 'P') continue;
    const double x = id == k_arccosh ? 1.7 : 0.6, h = 1e-6;
    const ExprPtr f = Parse(row.expression), d = Derivative(f, "x");
    EXPECT_NEAR(Evaluate(d, x), (Evaluate(f, x + h) - Evaluate(f, x - h)) / (2 * h), 1e-6 * (1 + std::fabs(Evaluate(d, x)))) << row.name;
  }
}

TEST(Pointwise, BadExpressionsAreErrors) {
  for (const char* text : {"", "x +", "(x", "unknown(x)", "x ? 1", "x $ y", "exp(x,"}) EXPECT_THROW(Parse(text), Error) << text;
}

// Not a limit that a busy machine could miss, but the number to watch: the cost of a kernel on four
// elements.
TEST(Pointwise, SmallKernelsAreCheap) {
  const Op* op = Op::Get("elemwise_add");
  float a[4] = {1, 2, 3, 4}, b[4] = {4, 3, 2, 1}, c[4];
  TBlob in[2] = {Blob(a, Shape{4}), Blob(b, Shape{4})}, out[1] = {Blob(c, Shape{4})};
  OpReq req[1] = {OpReq::kWrite};
  const AttrsPtr attrs = MakeAttrs(op, {});
  KernelArgs args;
  args.attrs = attrs.get();
  args.in = Span<const TBlob>(in, 2);
  args.req = Span<const OpReq>(req, 1);
  args.out = Span<const TBlob>(out, 1);
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) (*op->cpu_kernel)(args);
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / 1000);
  }
  EXPECT_EQ(c[0], 5);
  RecordProperty("nanoseconds", static_cast<int>(best));
  EXPECT_LT(best, 2000);
}

// What repeats inside of few elements leaves blocks as long as they were: (1000, 1, 4) in
// (1000, 3, 4) is gathered again in each.
TEST(Repeats, BlocksStayLong) {
  const int64_t few[] = {1000, 3, 4}, many[] = {10, 3000, 4}, stride[] = {4, 0, 1};
  Repeats short_turns(512), long_turns(512);
  short_turns.Add(0, 3, few, stride);
  long_turns.Add(0, 3, many, stride);
  Repeats::Walk walk;
  EXPECT_EQ(short_turns.Next(0, 12000, &walk), 512);
  EXPECT_FALSE(short_turns.Has(0));
  EXPECT_TRUE(long_turns.Has(0));
  EXPECT_EQ(long_turns.Next(0, 120000, &walk), 512);
  EXPECT_EQ(long_turns.Next(512, 120000, &walk), 512);
  EXPECT_TRUE(walk.again);
}

}  // namespace
}  // namespace pointwise
}  // namespace mxnet
