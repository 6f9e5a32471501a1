// Loops of MXNET_BINARY_MATH: see table.h.
#include <algorithm>

#include "operator/pointwise/loops/prelude.h"
#include "operator/pointwise/loops/row_groups.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;
#include "operator/pointwise/functions/functions.h"
#include "operator/pointwise/loops/loop_templates.h"
#define MXNET_BINARY_TABLE MXNET_BINARY_MATH
#include "operator/pointwise/loops/binary_loops.h"

constexpr int64_t kBlock = 512;

// Calls block(a, b, y, n) with at most kBlock elements; a scalar is laid out once.
template <typename T = float, typename F>
void ForBlocks(const void* const* in, void* out, int64_t n, unsigned scalars, F&& block) {
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out);
  T same[kBlock];
  if (scalars) std::fill_n(same, n < kBlock ? n : kBlock, scalars == 1 ? *a : *b);
  for (int64_t i = 0; i < n; i += kBlock)
    block(scalars == 1 ? same : a + i, scalars == 2 ? same : b + i, y + i, n - i < kBlock ? n - i : kBlock);
}

// Exact in double where the quotient has at most 28 bits: then its product with the divisor is, and
// so is the difference. The rest is libm's.
MXNET_FN bool ShortQuotient(float a, float b) {
  return std::fabs(static_cast<double>(a)) < 0x1p28 * std::fabs(static_cast<double>(b)) &&
         std::fabs(b) < std::numeric_limits<float>::infinity();
}
MXNET_FN float ShortRemainder(float a, float b) {
  const double x = std::fabs(static_cast<double>(a)), y = std::fabs(static_cast<double>(b));
  double r = x - std::trunc(x / y) * y;  // the quotient may have been rounded to the next integer
  r = r < 0.0 ? r + y : r;
  r = r >= y ? r - y : r;
  return std::copysign(static_cast<float>(r), a);
}
// Of doubles: the whole part of a quotient below 2^52 is exact, and one too large at most; what the
// fused step leaves is a multiple of the divisor's last place, so that it loses nothing.
MXNET_FN bool ShortQuotient(double a, double b) {
  return std::fabs(a) < 0x1p52 * std::fabs(b) && std::fabs(b) < std::numeric_limits<double>::infinity();
}
MXNET_FN double ShortRemainder(double a, double b) {
  const double x = std::fabs(a), y = std::fabs(b), r = std::fma(-std::trunc(x / y), y, x);
  return std::copysign(r < 0.0 ? r + y : r, a);
}
template <typename T, bool kSignOfDivisor>
void LoopRemainder(const void* const* in, void* out, int64_t n, unsigned scalars) {
  ForBlocks<T>(in, out, n, scalars, [](const T* a, const T* b, T* y, int64_t m) {
    int all = 1;
    for (int64_t i = 0; i < m; ++i) all &= ShortQuotient(a[i], b[i]);
    T x[kBlock], d[kBlock];  // y may be one of them
    if (!all) std::copy_n(a, m, x), std::copy_n(b, m, d);
#pragma GCC ivdep
    for (int64_t i = 0; i < m; ++i) {
      const T r = ShortRemainder(a[i], b[i]);
      const T with_sign = std::copysign(r != T(0) && (r < T(0)) != (b[i] < T(0)) ? r + b[i] : r, b[i]);
      y[i] = kSignOfDivisor ? with_sign : r;
    }
    for (int64_t i = 0; !all && i < m; ++i)
      if (!ShortQuotient(x[i], d[i])) y[i] = kSignOfDivisor ? mod(x[i], d[i]) : fmod(x[i], d[i]);
  });
}

// Whether all points are finite, and none is (0, 0).
MXNET_FN bool AllElsewhere(const float* a, const float* b, int64_t n) {
  uint32_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t y = BitCast<uint32_t>(a[i]) & 0x7fffffffu, x = BitCast<uint32_t>(b[i]) & 0x7fffffffu;
    const uint32_t above = (y > x ? y : x) - 1u;
    most = above > most ? above : most;
  }
  return most < 0x7f7fffffu;
}
void LoopArctan2(const void* const* in, void* out, int64_t n, unsigned scalars) {
  ForBlocks(in, out, n, scalars, [](const float* a, const float* b, float* y, int64_t m) {
    if (AllElsewhere(a, b, m)) {
#pragma GCC ivdep
      for (int64_t i = 0; i < m; ++i) {
        const float v = std::fabs(a[i]), w = std::fabs(b[i]);
        y[i] = AngleOf(v > w ? w : v, v > w ? v : w, v > w, a[i], b[i]);
      }
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < m; ++i) y[i] = arctan2(a[i], b[i]);
    }
  });
}

// As arctan2 of functions.h, in three loops: in one, the compiler would make branches around the
// call of the C library's vectors.
void LoopArctan2OfDoubles(const void* const* in, void* out, int64_t n, unsigned scalars) {
  ForBlocks<double>(in, out, n, scalars, [](const double* a, const double* b, double* y, int64_t m) {
    double angle[kBlock];
#pragma GCC ivdep
    for (int64_t i = 0; i < m; ++i) {
      const double v = std::fabs(a[i]), w = std::fabs(b[i]);
      const double one = v == 0.0 ? 0.0 : 1.0, ratio = (v > w ? w : v) / (v > w ? v : w);
      angle[i] = v == w ? one : ratio;  // both may be 0 or infinite
    }
    for (int64_t i = 0; i < m; ++i) angle[i] = MXNET_VECTOR_MATH(atan)(angle[i]);
#pragma GCC ivdep
    for (int64_t i = 0; i < m; ++i) {
      const bool steep = std::fabs(a[i]) > std::fabs(b[i]), behind = BitCast<int64_t>(b[i]) < 0;
      const double quarters = steep ? 1.0 : behind ? 2.0 : 0.0;
      const double from = behind == steep ? angle[i] : -angle[i];
      y[i] = std::copysign(quarters * 0x1.921fb54442d18p+0 + (from + quarters * 0x1.1a62633145c07p-54), a[i]);
    }
  });
}

template <typename T, typename F>
void EachPower(const void* const* in, void* out, int64_t n, F&& f) {
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}
// Powers with one number that need no power(); false: it is another number, or there are many. A
// cube is rounded twice, which float may be.
template <typename T>
bool PowersWithNumber(const void* const* in, void* out, int64_t n, unsigned scalars) {
  if (scalars == 1 && *static_cast<const T*>(in[0]) == T(2)) {
    EachPower<T>(
        in + 1, out, n, [](T x) __attribute__((always_inline)) { return PowerOfTwo(x); });
    return true;
  }
  const T exponent = scalars == 2 ? *static_cast<const T*>(in[1]) : T(0);
  if (exponent == T(2)) {
    EachPower<T>(
        in, out, n, [](T x) __attribute__((always_inline)) { return x * x; });
  } else if (exponent == T(3) && sizeof(T) == sizeof(float)) {
    EachPower<T>(
        in, out, n, [](T x) __attribute__((always_inline)) { return x * x * x; });
  } else if (exponent == T(-1)) {
    EachPower<T>(
        in, out, n, [](T x) __attribute__((always_inline)) { return T(1) / x; });
  } else if (exponent == T(0.5)) {  // of -0 and of minus infinity pow differs from the root
    EachPower<T>(
        in, out, n, [](T x) __attribute__((always_inline)) { return x == -std::numeric_limits<T>::infinity() ? -x : std::sqrt(x) + T(0); });
  } else {
    return false;
  }
  return true;
}
void LoopPower(const void* const* in, void* out, int64_t n, unsigned scalars) {
  if (PowersWithNumber<float>(in, out, n, scalars)) return;
  ForBlocks(in, out, n, scalars, [](const float* a, const float* b, float* y, int64_t m) {
    if (AllNormal(a, m) && AllFinite(b, m)) {
#pragma GCC ivdep
      for (int64_t i = 0; i < m; ++i) y[i] = PowerOf(a[i], 0.0f, b[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < m; ++i) y[i] = power(a[i], b[i]);
    }
  });
}
void LoopPowerOfDoubles(const void* const* in, void* out, int64_t n, unsigned scalars) {
  if (PowersWithNumber<double>(in, out, n, scalars)) return;
  ForBlocks<double>(in, out, n, scalars, [](const double* a, const double* b, double* y, int64_t m) {
    if (AllNormal(a, m) && AllFinite(b, m)) {
#pragma GCC ivdep
      for (int64_t i = 0; i < m; ++i) y[i] = PowerOf(a[i], b[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < m; ++i) y[i] = power(a[i], b[i]);
    }
  });
}

// (gradient, a, b): the loops over arrays, with a scalar laid out.
MXNET_FN float BaseSide(float g, float a, float b) { return g * (b * power(a, b - 1.0f)); }
template <float (*Side)(float, float, float)>
void LoopPowerGradient(const void* const* in, void* out, int64_t n, unsigned scalars) {
  const void* const base[2] = {in[1], in[2]};
  const float* g = static_cast<const float*>(in[0]);
  float* first = static_cast<float*>(out);
  ForBlocks(base, out, n, scalars >> 1, [g, first](const float* a, const float* b, float* y, int64_t m) {
    const float* h = g + (y - first);
#pragma GCC ivdep
    for (int64_t i = 0; i < m; ++i) y[i] = Side(h[i], a[i], b[i]);
  });
}
}  // namespace

Loop BinaryMathLoop(int index, int compute) {
  if (compute == pointwise::kF32) {
    if (index == pointwise::k_mod - pointwise::kBinaryMathRows) return LoopRemainder<float, true>;
    if (index == pointwise::k_fmod - pointwise::kBinaryMathRows) return LoopRemainder<float, false>;
    if (index == pointwise::k_power - pointwise::kBinaryMathRows) return LoopPower;
    if (index == pointwise::k_arctan2 - pointwise::kBinaryMathRows) return LoopArctan2;
  }
  if (compute == pointwise::kF64) {
#ifdef __FMA__
    if (index == pointwise::k_mod - pointwise::kBinaryMathRows) return LoopRemainder<double, true>;
    if (index == pointwise::k_fmod - pointwise::kBinaryMathRows) return LoopRemainder<double, false>;
#endif
    if (index == pointwise::k_power - pointwise::kBinaryMathRows) return LoopPowerOfDoubles;
    if (index == pointwise::k_arctan2 - pointwise::kBinaryMathRows) return LoopArctan2OfDoubles;
  }
  return kLoops[index][compute];
}
Loop BinaryMathGradient(int index, int side, int compute) {
  if (compute == pointwise::kF32 && index == pointwise::k_power - pointwise::kBinaryMathRows)
    return side == 0 ? LoopPowerGradient<BaseSide> : LoopPowerGradient<B_power::f<float>>;
  return kGradients[index][side][compute];
}
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
