// Casts of numbers that do not fit, and NaN: one answer for every way a conversion can go, on every
// instruction set, whatever the length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "mxnet/ndarray.h"
#include "operator/init/fill_cpu.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/loops/convert.h"

namespace mxnet {
namespace {

const double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> kValues = {0.0,          1.5,     -1.5,     kNan,   300.7,        -129.2,        1e10,          -1e10,
                                     3e9,          -3e9,    kInf,     -kInf,  2147483647.0, -2147483648.0, -2147483648.9, 2147483648.0,
                                     4294967301.0, 70000.0, -70000.0, 1e19,   -1e19,        9.3e18,        1.8e19,        2e19,
                                     -0.0,         127.9,   255.9,    1e-300, -kNan};

template <typename T>
double Wide(T v) {
  return static_cast<double>(v);
}
double Wide(float16 v) { return static_cast<double>(static_cast<float>(v)); }
double Wide(bfloat16 v) { return static_cast<double>(static_cast<float>(v)); }

// What base/truncate.h says, in long double and without its formula.
template <typename To>
To Expected(double v) {
  if constexpr (std::is_same<To, bool>::value) {
    return v != 0;
  } else {
    const bool narrow = sizeof(To) < 4 || std::is_same<To, int32_t>::value;
    const long double whole = std::trunc(static_cast<long double>(v));
    if (std::is_same<To, uint64_t>::value && whole >= 0x1p63L && whole < 0x1p64L) return static_cast<To>(static_cast<uint64_t>(whole));
    const long double limit = narrow ? 0x1p31L : 0x1p63L;
    if (!(whole >= -limit && whole < limit))
      return static_cast<To>(narrow ? int64_t{std::numeric_limits<int32_t>::min()} : std::numeric_limits<int64_t>::min());
    return static_cast<To>(static_cast<int64_t>(whole));
  }
}

template <typename To, typename From>
void CheckAll(const char* way, const std::vector<From>& in, const std::vector<char>& out) {
  const size_t n = in.size();
  for (size_t i = 0; i < n; ++i) {
    const To expected = Expected<To>(Wide(in[i]));
    ASSERT_EQ(std::memcmp(&out[i * sizeof(To)], &expected, sizeof(To)), 0)
        << way << " of " << Wide(in[i]) << " from " << DTypeName(DTypeOf<From>::value) << " to " << DTypeName(DTypeOf<To>::value) << " at "
        << i << " of " << n << "; expected " << static_cast<double>(expected);
  }
}

template <typename F>
void AtEveryLevel(const F& check) {
  for (CpuLevel cap : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4})
    if (CapCpuLevel(cap) == cap) check();
  CapCpuLevel(DetectedCpuLevel());
}

TBlob Blob(void* p, int dtype, int64_t n) {
  TBlob b;
  b.dptr = p, b.dtype = dtype, b.shape = Shape{n};
  return b;
}

TEST(Casts, NumbersThatDoNotFitHaveOneAnswer) {
  AtEveryLevel([] {
    for (int from : {kFloat32, kFloat64, kFloat16, kBfloat16})
      for (int to : {kUint8, kInt8, kInt16, kUint16, kInt32, kUint32, kInt64, kUint64, kBool})
        for (int64_t n = 1; n <= 70; ++n)
          VisitFloating(from, "test", [&](auto source) {
            VisitDType(to, "test", [&](auto target) {
              using From = decltype(source);
              using To =
                  std::conditional_t<std::is_integral<decltype(target)>::value, decltype(target), int32_t>;  // the others are not asked for
              std::vector<From> in(static_cast<size_t>(n));
              for (int64_t i = 0; i < n; ++i) in[i] = From(kValues[static_cast<size_t>(i * 7 + n) % kValues.size()]);
              std::vector<char> room(static_cast<size_t>(n) * sizeof(To));
              auto check = [&](const char* way) {
                CheckAll<To>(way, in, room);
                std::fill(room.begin(), room.end(), 1);
              };
              ConvertElements(in.data(), from, room.data(), to, n);
              check("copy");
              RunContext run;
              pointwise::ExecuteCast(run, Blob(in.data(), from, n), Blob(room.data(), to, n), OpReq::kWrite);
              check("cast");
              const int compute = from == kFloat64 ? pointwise::kF64 : pointwise::kF32;
              std::vector<double> wide(static_cast<size_t>(n));
              pointwise::LoadFn(from, compute)(in.data(), wide.data(), n);
              pointwise::StoreFn(to, compute)(wide.data(), room.data(), n);
              check("stored result");
              for (int64_t i = 0; i < n; ++i) FillValue(Blob(room.data() + i * sizeof(To), to, 1), Wide(in[i]));
              check("fill");
            });
          });
  });
}

TEST(Casts, SumsAreOfTheResultsKind) {  // what is added to must not go through the other kind
  std::vector<float> sum = {10.5f, -2.25f, 1e9f};
  const std::vector<int32_t> more = {1, 2, 3};
  RunContext run;
  pointwise::ExecuteCast(run, Blob(const_cast<int32_t*>(more.data()), kInt32, 3), Blob(sum.data(), kFloat32, 3), OpReq::kAdd);
  EXPECT_EQ(sum[0], 11.5f);
  EXPECT_EQ(sum[1], -0.25f);
  std::vector<int64_t> whole = {(int64_t{1} << 60) + 1, 5, -7};
  const std::vector<float> parts = {1.9f, -1.9f, 0.5f};
  pointwise::ExecuteCast(run, Blob(const_cast<float*>(parts.data()), kFloat32, 3), Blob(whole.data(), kInt64, 3), OpReq::kAdd);
  EXPECT_EQ(whole[0], (int64_t{1} << 60) + 2);
  EXPECT_EQ(whole[1], 4);
  EXPECT_EQ(whole[2], -7);
}

}  // namespace
}  // namespace mxnet
