// What becomes of sums of products of 8-bit integers: values, and 8 bits again. Values are the same
// on each level, so products and sums are not contracted.
#pragma GCC optimize("fp-contract=off")  // for all that follows

#include <algorithm>

#include "mxnet/base.h"
#include "operator/quantized_fused/packed_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using quantized::Division;
using quantized::SumsFinish;

constexpr int64_t kMost = 64;       // columns at a time
constexpr float kWhole = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction

inline float Cut(float v, float low, float high) {
  v = v > low ? v : low;
  return v < high ? v : high;
}

/*
 * `whole` is not v: whole[j] = the nearest whole number to v[j] / step, ties to the even one. Times the inverse it is
 * the same, unless a quotient is so near to the middle of two numbers that the errors of both
 * could decide: the quotients are at most 2^9, so each errs by less than 2^-15 times 3.
 */
void Divide(const Division& d, const float* v, int64_t n, float* whole) {
  constexpr float kSure = 0.5f - 2e-4f;
  const float low = d.low, high = d.high;
  if (d.inverse != 0) {
    const float inverse = d.inverse;
    float worst = 0;
#pragma omp simd reduction(max : worst)
    for (int64_t j = 0; j < n; ++j) {
      const float x = Cut(v[j] * inverse, low, high), w = (x + kWhole) - kWhole;
      const float apart = x > w ? x - w : w - x;
      worst = worst > apart ? worst : apart;
      whole[j] = w;
    }
    if (worst < kSure) return;
  }
  const float step = d.step;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) whole[j] = (Cut(v[j] / step, low, high) + kWhole) - kWhole;
}

void AddAddend(const SumsFinish& f, const void* addend, int64_t n, float* v) {
  if (f.addend_type == kFloat32) {
    const float* from = static_cast<const float*>(addend);
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] += from[j];
    return;
  }
  const float step = f.addend_step, zero = f.addend_zero;
  const auto add = [&](const auto* from) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] += step * (static_cast<float>(from[j]) - zero);
  };
  f.addend_type == kUint8 ? add(static_cast<const uint8_t*>(addend)) : add(static_cast<const int8_t*>(addend));
}

void Sums(const int32_t* sums, const int32_t* addend, int64_t n, int32_t* out) {
  if (!addend) {
    std::copy_n(sums, n, out);
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    const int64_t sum = static_cast<int64_t>(sums[j]) + addend[j];
    out[j] = static_cast<int32_t>(std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, sum)));
  }
}

void Piece(const SumsFinish& f, const int32_t* sums, int64_t at, int64_t n, const void* addend, void* out) {
  float v[kMost], whole[kMost];
  const float* scales = f.scales + at;
  const float* bias = f.bias + at;
  if (f.bias_last) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] = static_cast<float>(sums[j]) * scales[j];
  } else {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] = static_cast<float>(sums[j]) * scales[j] + bias[j];
  }
  if (f.between) {
    Divide(f.rounding, v, n, whole);
    const float step = f.rounding.step;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] = whole[j] * step;
  }
  if (f.bias_last) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) v[j] += bias[j];
  }
  if (addend) AddAddend(f, addend, n, v);
  const float low = f.low, high = f.high;
  if (f.out_type == kFloat32) {
    float* to = static_cast<float*>(out);
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) to[j] = Cut(v[j], low, high);
    return;
  }
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) v[j] = Cut(v[j], low, high);
  Divide(f.result, v, n, whole);
  int8_t* to = static_cast<int8_t*>(out);
  const int zero = f.zero;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) to[j] = static_cast<int8_t>(static_cast<int32_t>(whole[j]) + zero);
}

}  // namespace

void FinishSums(const SumsFinish& f, const int32_t* sums, int32_t row, int64_t at, int64_t n, const void* addend, void* out) {
  const bool wide = f.out_type == kFloat32 || f.out_type == kInt32;
  const int64_t size = wide ? 4 : 1;
  const char* added = static_cast<const char*>(addend);
  for (int64_t from = 0; from < n; from += kMost) {
    const int64_t some = std::min(kMost, n - from);
    const int32_t* own = sums + from;
    int32_t less[kMost];
    if (f.zeros) {
      const int32_t* zeros = f.zeros + at + from;
#pragma GCC ivdep
      for (int64_t j = 0; j < some; ++j) less[j] = own[j] - row * zeros[j];
      own = less;
    }
    const char* beside = added ? added + from * size : nullptr;
    char* to = static_cast<char*>(out) + from * size;
    if (f.out_type == kInt32)
      Sums(own, reinterpret_cast<const int32_t*>(beside), some, reinterpret_cast<int32_t*>(to));
    else
      Piece(f, own, at + from, some, beside, to);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
