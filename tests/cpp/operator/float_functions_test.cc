// Functions of the pointwise table in float32 against double, over all magnitudes and on every
// instruction set: how far they may be off, in units of the last place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/cpu_dispatch.h"
#include "operator/pointwise/loops/loops.h"

namespace mxnet {
namespace {

const float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

template <typename F>
void AtEveryLevel(const F& check) {
  for (CpuLevel cap : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4})
    if (CapCpuLevel(cap) == cap) check();
  CapCpuLevel(DetectedCpuLevel());
}

// Every `step`th of all numbers, NaN and infinities among them.
std::vector<float> Numbers(uint32_t step) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step) {
    const uint32_t narrow = static_cast<uint32_t>(bits);
    float v;
    std::memcpy(&v, &narrow, 4);
    x.push_back(v);
  }
  for (float v : {0.0f, -0.0f, 1.0f, -1.0f, kInf, -kInf, kNan, 1e-45f, 1.17549421e-38f, 1.17549435e-38f}) x.push_back(v);
  return x;
}

bool IsNormal(float v) { return v >= std::numeric_limits<float>::min() && v < kInf; }

double Ulps(float got, double wanted) {
  const float rounded = static_cast<float>(wanted);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got) || std::isnan(got)) return got == rounded ? 0 : 1e9;
  if (std::signbit(got) != std::signbit(rounded)) return 1e9;
  const float m = std::fabs(rounded);
  return std::fabs(static_cast<double>(got) - wanted) / static_cast<double>(std::nextafter(m, kInf) - m);
}

std::vector<float> Computed(int row, const std::vector<float>& a, const std::vector<float>& b, unsigned scalars = 0) {
  std::vector<float> y(a.size());
  const void* const in[] = {a.data(), b.data()};
  pointwise::ForwardLoop(row, pointwise::kF32)(in, y.data(), static_cast<int64_t>(a.size()), scalars);
  return y;
}

template <typename F>
void ExpectWithin(double ulps, int row, const std::vector<float>& a, const std::vector<float>& b, F exact) {
  const std::vector<float> y = Computed(row, a, b);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_LE(Ulps(y[i], exact(static_cast<double>(a[i]), static_cast<double>(b[i]))), ulps)
        << "row " << row << " of " << a[i] << ", " << b[i] << ": " << y[i] << "; level " << static_cast<int>(CurrentCpuLevel());
}

// The second operand of a function of two: the same numbers in another order.
std::vector<float> Stirred(const std::vector<float>& x) {
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[(i * 7919 + 13) % x.size()];
  return y;
}

TEST(FloatFunctions, LogarithmsAndTangentsAreWithinTheirBounds) {
  const std::vector<float> x = Numbers(4099);
  std::vector<float> normal, near;
  std::copy_if(x.begin(), x.end(), std::back_inserter(normal), IsNormal);
  for (int i = -300000; i < 300000; ++i) near.push_back(static_cast<float>(i) * 1e-5f);
  const auto log = [](double v, double) { return std::log(v); };
  const auto tanh = [](double v, double) { return std::tanh(v); };
  AtEveryLevel([&] {
    ExpectWithin(0.9, pointwise::k_log, x, x, log);
    ExpectWithin(0.9, pointwise::k_log, normal, normal, log);
    ExpectWithin(0.9, pointwise::k_log, near, near, log);
    ExpectWithin(1.7, pointwise::k_tanh, x, x, tanh);
    ExpectWithin(1.7, pointwise::k_tanh, near, near, tanh);
  });
}

TEST(FloatFunctions, RootsAndInverseFunctionsAreWithinTheirBounds) {
  std::vector<float> sets[] = {Numbers(4099), {}};
  for (int i = -300000; i < 300000; ++i) sets[1].push_back(static_cast<float>(i) * 1e-5f);
  struct Function {
    int row;
    double (*exact)(double);
    double ulps;
  };
  const Function functions[] = {{pointwise::k_log2, std::log2, 0.9}, {pointwise::k_log10, std::log10, 0.9},
                                {pointwise::k_cbrt, std::cbrt, 0.6}, {pointwise::k_expm1, std::expm1, 2},
                                {pointwise::k_arctan, std::atan, 2}, {pointwise::k_arcsin, std::asin, 2},
                                {pointwise::k_arccos, std::acos, 2}};
  AtEveryLevel([&] {
    for (const Function& f : functions)
      for (const auto& numbers : sets) ExpectWithin(f.ulps, f.row, numbers, numbers, [&](double v, double) { return f.exact(v); });
    for (const auto& numbers : sets) {
      const std::vector<float> y = Computed(pointwise::k_power, {2.0f}, numbers, 1);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_LE(Ulps(y[i], std::exp2(static_cast<double>(numbers[i]))), 1) << "2 to the power " << numbers[i] << ": " << y[i];
    }
  });
}

TEST(FloatFunctions, PowersAndAnglesAreRoundedOnce) {
  const std::vector<float> x = Numbers(4099), other = Stirred(x);
  std::vector<float> normal, exponents, near;
  for (float v : x)
    if (IsNormal(v)) normal.push_back(v);
  for (size_t i = 0; i < normal.size(); ++i) {  // results of all sizes, subnormal ones too
    const double l = std::log2(static_cast<double>(normal[i]));
    exponents.push_back(l == 0 ? 5.5f : static_cast<float>((static_cast<double>(i % 997) / 997 * 290 - 155) / l));
  }
  for (size_t i = 0; i < normal.size(); ++i) near.push_back(1.0f + static_cast<float>(i) * 1e-7f);
  const auto power = [](double a, double b) { return std::pow(a, b); };
  const auto angle = [](double a, double b) { return std::atan2(a, b); };
  AtEveryLevel([&] {
    ExpectWithin(0.51, pointwise::k_power, x, other, power);
    ExpectWithin(0.51, pointwise::k_power, normal, exponents, power);
    ExpectWithin(0.51, pointwise::k_power, near, exponents, power);
    ExpectWithin(0.51, pointwise::k_arctan2, x, other, angle);
    ExpectWithin(0.51, pointwise::k_arctan2, x, x, angle);
    ExpectWithin(0.51, pointwise::k_arctan2, normal, near, angle);
    ExpectWithin(0.51, pointwise::k_arctan2, normal, normal, angle);
  });
}

TEST(FloatFunctions, PowersOfSpecialNumbersAreThoseOfPow) {
  const std::vector<float> special = {0.0f,   -0.0f,   1.0f, -1.0f, 0.5f,  -0.5f,       2.0f,        -2.0f,
                                      3.0f,   -3.0f,   2.5f, -2.5f, 1e30f, -1e30f,      1e-30f,      -1e-30f,
                                      1e-42f, -1e-42f, kInf, -kInf, kNan,  16777217.0f, 16777215.0f, -16777215.0f};
  std::vector<float> a, b;
  for (float v : special)
    for (float w : special) a.push_back(v), b.push_back(w);
  AtEveryLevel([&] {
    ExpectWithin(0.51, pointwise::k_power, a, b, [](double x, double y) { return std::pow(x, y); });
    for (float w : special) {
      const std::vector<float> y = Computed(pointwise::k_power, special, {w}, 2);
      for (size_t i = 0; i < special.size(); ++i)
        ASSERT_LE(Ulps(y[i], std::pow(static_cast<double>(special[i]), static_cast<double>(w))), w == 3 ? 1.5 : 0.51)
            << special[i] << " to the power " << w << ": " << y[i];
    }
  });
}

TEST(FloatFunctions, NumbersDoNotDependOnTheirNeighbours) {
  std::vector<float> x;
  for (float v : Numbers(104729))
    if (IsNormal(v)) x.push_back(v);
  std::vector<float> mixed = x, scaled(x.size());
  for (size_t i = 0; i < x.size(); ++i) scaled[i] = static_cast<float>(i % 90) * 0.1f - 4.0f;
  std::vector<float> exponents = scaled;
  for (size_t i = 0; i < x.size(); i += 100) mixed[i] = i % 200 ? 0.0f : -kInf, exponents[i] = kNan;
  AtEveryLevel([&] {
    const std::vector<float> logs = Computed(pointwise::k_log, x, x), among = Computed(pointwise::k_log, mixed, mixed);
    const std::vector<float> powers = Computed(pointwise::k_power, x, scaled), of = Computed(pointwise::k_power, mixed, scaled),
                             to = Computed(pointwise::k_power, x, exponents);
    const std::vector<float> angles = Computed(pointwise::k_arctan2, scaled, x), beside = Computed(pointwise::k_arctan2, exponents, mixed);
    for (size_t i = 0; i < x.size(); ++i) {
      if (i % 100 == 0) continue;
      ASSERT_EQ(logs[i], among[i]) << x[i];
      ASSERT_EQ(angles[i], beside[i]) << scaled[i] << " " << x[i];
      ASSERT_EQ(powers[i], of[i]) << x[i] << " " << scaled[i];
      ASSERT_EQ(powers[i], to[i]) << x[i] << " " << scaled[i];
    }
  });
}

}  // namespace
}  // namespace mxnet
