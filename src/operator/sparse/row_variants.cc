// Sums of rows that two lists have, without branches on which of them has a row.
#include <cstdint>
#include <cstring>

#include "operator/sparse/row_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using sparse::MergeCall;

template <typename T, bool kMinus>
inline T Sum(T a, T b) {
  return kMinus ? a - b : a + b;
}

/* Rows of one element: what a list lacks counts as 0. */
template <typename T, bool kMinus>
void MergeNumbers(const MergeCall<T>& c) {
  const int64_t *ar = c.a_rows, *br = c.b_rows;
  const T *a = c.a, *b = c.b;
  int64_t* rows = c.rows;
  T* out = c.out;
  while (ar != c.a_end && br != c.b_end) {
    const int64_t x = *ar, y = *br;
    const bool from_a = x <= y, from_b = y <= x;
    *rows++ = from_a ? x : y;
    const T va = *a, vb = *b;
    *out++ = Sum<T, kMinus>(from_a ? va : T(0), from_b ? vb : T(0));
    ar += from_a, a += from_a, br += from_b, b += from_b;
  }
  for (; ar != c.a_end; ++ar) *rows++ = *ar, *out++ = *a++;
  for (; br != c.b_end; ++br) *rows++ = *br, *out++ = Sum<T, kMinus>(T(0), *b++);
}

template <typename T, bool kMinus>
void MergeRows(const MergeCall<T>& c) {
  constexpr int64_t kMost = 1024;  // of rows longer than that the branch costs nothing
  alignas(64) T zeros[kMost];
  if (c.size <= kMost) std::memset(zeros, 0, static_cast<size_t>(c.size) * sizeof(T));
  const int64_t *ar = c.a_rows, *br = c.b_rows, size = c.size;
  const T *a = c.a, *b = c.b;
  int64_t* rows = c.rows;
  T* __restrict out = c.out;
  for (; ar != c.a_end || br != c.b_end; out += size) {
    const int64_t x = ar != c.a_end ? *ar : INT64_MAX, y = br != c.b_end ? *br : INT64_MAX;
    const bool from_a = x <= y, from_b = y <= x;
    *rows++ = from_a ? x : y;
    if (size <= kMost) {
      const T *const va = from_a ? a : zeros, *const vb = from_b ? b : zeros;
      for (int64_t i = 0; i < size; ++i) out[i] = Sum<T, kMinus>(va[i], vb[i]);
    } else if (!from_b) {
      std::memcpy(out, a, static_cast<size_t>(size) * sizeof(T));
    } else if (!from_a) {
      for (int64_t i = 0; i < size; ++i) out[i] = Sum<T, kMinus>(T(0), b[i]);
    } else {
      for (int64_t i = 0; i < size; ++i) out[i] = Sum<T, kMinus>(a[i], b[i]);
    }
    ar += from_a, br += from_b;
    a += from_a ? size : 0, b += from_b ? size : 0;
  }
}

template <typename T>
void MergeAny(const MergeCall<T>& c) {
  if (c.size == 1) return c.minus ? MergeNumbers<T, true>(c) : MergeNumbers<T, false>(c);
  c.minus ? MergeRows<T, true>(c) : MergeRows<T, false>(c);
}

template <typename T>
void AddAny(T* to, const T* from, int64_t count, bool minus) {
  if (minus)
    for (int64_t i = 0; i < count; ++i) to[i] -= from[i];
  else
    for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

void MergeFloat(const MergeCall<float>& call) { MergeAny(call); }
void MergeDouble(const MergeCall<double>& call) { MergeAny(call); }
void AddFloats(float* to, const float* from, int64_t count, bool minus) { AddAny(to, from, count, minus); }
void AddDoubles(double* to, const double* from, int64_t count, bool minus) { AddAny(to, from, count, minus); }

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
