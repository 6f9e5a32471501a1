// Loops of MXNET_UNARY_TRIG: see table.h.
#include "operator/pointwise/loops/prelude.h"
#include "operator/pointwise/loops/row_groups.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;
#include "operator/pointwise/functions/functions.h"
#include "operator/pointwise/loops/loop_templates.h"

// Sine and cosine by blocks: small angles in float, larger ones in double, what needs exact
// reduction by libm.
template <class E, double (*Exact)(double), int Quarter>
void LoopAngles(const void* const* in, void* out, int64_t n, unsigned) {
  constexpr int64_t kBlock = 1024;
  const float* x = static_cast<const float*>(in[0]);
  float* y = static_cast<float*>(out);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t end = i + kBlock < n ? i + kBlock : n;
    if (Quarter >= 0 && !AnyAbove(x + i, end - i, kSmallAngle)) {
#pragma GCC ivdep
      for (int64_t j = i; j < end; ++j) y[j] = Quarter == 0 && x[j] == 0.0f ? x[j] : SmallSinCos(x[j], Quarter);  // -0 stays
    } else if (!AnyAbove(x + i, end - i, 0x1p27f)) {
#pragma GCC ivdep
      for (int64_t j = i; j < end; ++j) y[j] = E::f(x[j]);
    } else {
      for (int64_t j = i; j < end; ++j) y[j] = static_cast<float>(Exact(x[j]));
    }
  }
}

MXNET_FN bool AnyOutside(const float* x, int64_t n) { return AnyAbove(x, n, kErfinvCentre); }
MXNET_FN bool AnyOutside(const double* x, int64_t n) {
  const int64_t limit = BitCast<int64_t>(static_cast<double>(kErfinvCentre));
  int64_t found = 0;  // magnitudes compare like the numbers
  for (int64_t i = 0; i < n; ++i) found |= static_cast<int64_t>((BitCast<int64_t>(x[i]) & INT64_MAX) > limit);
  return found != 0;
}

// Few arguments are as close to 1 as to need the second series. Two loops: one would be a chain of
// so many steps that a processor overlaps too few of its rounds.
template <typename T>
void LoopErfinv(const void* const* in, void* out, int64_t n, unsigned) {
  constexpr int64_t kBlock = 256;
  T w[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = i + kBlock < n ? kBlock : n - i;
    const T* x = static_cast<const T*>(in[0]) + i;
    T* y = static_cast<T*>(out) + i;
    const bool central = !AnyOutside(x, m);
    for (int64_t j = 0; j < m; ++j) w[j] = ErfinvPlace(x[j]);
    if (central) {
#pragma GCC ivdep
      for (int64_t j = 0; j < m; ++j) y[j] = ErfinvAt(x[j], ErfinvCentre(w[j]));
    } else {
#pragma GCC ivdep
      for (int64_t j = 0; j < m; ++j) y[j] = ErfinvFrom(x[j], w[j]);
    }
  }
}

MXNET_UNARY_TRIG(MXNET_UNARY_STRUCT)
constexpr Loop kLoops[][2] = {MXNET_UNARY_TRIG(MXNET_UNARY_ENTRY)};
}  // namespace

Loop UnaryTrigLoop(int index, int compute) {
  if (compute == pointwise::kF32) {
    if (index == pointwise::k_sin - pointwise::kUnaryTrigRows) return LoopAngles<F_sin, std::sin, 0>;
    if (index == pointwise::k_cos - pointwise::kUnaryTrigRows) return LoopAngles<F_cos, std::cos, 1>;
    if (index == pointwise::k_tan - pointwise::kUnaryTrigRows) return LoopAngles<F_tan, std::tan, -1>;  // no quarter: tangent
  }
  if (index == pointwise::k_erfinv - pointwise::kUnaryTrigRows) return compute == pointwise::kF32 ? LoopErfinv<float> : LoopErfinv<double>;
  return kLoops[index][compute];
}
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
