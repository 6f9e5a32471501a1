// Sums of rows that two lists have, without branches on which of them has a row.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "operator/sparse/row_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using sparse::MergeCall;

template <typename T, bool kMinus>
inline T Sum(T a, T b) {
  return kMinus ? a - b : a + b;
}

/* The number, or 0: by its bits, for the compiler makes a branch of a choice, which is mispredicted
 * half the time. */
template <typename T>
inline T Masked(T value, bool keep) {
  std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits;
  std::memcpy(&bits, &value, sizeof(T));
  bits &= -static_cast<decltype(bits)>(keep);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/* Rows of one element: what a list lacks counts as 0. */
template <typename T, bool kMinus>
int64_t* MergeNumbers(const MergeCall<T>& c) {
  const int64_t *ar = c.a_rows, *br = c.b_rows;
  const T *a = c.a, *b = c.b;
  int64_t* rows = c.rows;
  T* out = c.out;
  while (ar != c.a_end && br != c.b_end) {
    const int64_t x = *ar, y = *br;
    const bool from_a = x <= y, from_b = y <= x;
    *rows++ = from_a ? x : y;
    const T va = *a, vb = *b;
    *out++ = Sum<T, kMinus>(Masked(va, from_a), Masked(vb, from_b));
    ar += from_a, a += from_a, br += from_b, b += from_b;
  }
  for (; ar != c.a_end; ++ar) *rows++ = *ar, *out++ = *a++;
  for (; br != c.b_end; ++br) *rows++ = *br, *out++ = Sum<T, kMinus>(T(0), *b++);
  return rows;
}

/* a or b, without a branch. */
template <typename T>
inline const T* Chosen(const T* a, const T* b, bool first) {
  const uintptr_t mask = -static_cast<uintptr_t>(first);
  return reinterpret_cast<const T*>((reinterpret_cast<uintptr_t>(a) & mask) | (reinterpret_cast<uintptr_t>(b) & ~mask));
}

template <typename T, bool kMinus>
int64_t* MergeLongRows(const MergeCall<T>& c) {
  const int64_t *ar = c.a_rows, *br = c.b_rows, size = c.size;
  const T *a = c.a, *b = c.b;
  int64_t* rows = c.rows;
  for (T* __restrict out = c.out; ar != c.a_end || br != c.b_end; out += size) {
    const int64_t x = ar != c.a_end ? *ar : INT64_MAX, y = br != c.b_end ? *br : INT64_MAX;
    const bool from_a = x <= y, from_b = y <= x;
    *rows++ = from_a ? x : y;
    if (!from_b)
      std::memcpy(out, a, static_cast<size_t>(size) * sizeof(T));
    else if (!from_a)
      for (int64_t i = 0; i < size; ++i) out[i] = Sum<T, kMinus>(T(0), b[i]);
    else
      for (int64_t i = 0; i < size; ++i) out[i] = Sum<T, kMinus>(a[i], b[i]);
    ar += from_a, br += from_b;
    a += from_a ? size : 0, b += from_b ? size : 0;
  }
  return rows;
}

/* kSize: of rows whose length is known, else 0. */
template <typename T, bool kMinus, int64_t kSize>
int64_t* MergeRows(const MergeCall<T>& c) {
  constexpr int64_t kMost = 1024;  // of rows longer than that a branch costs nothing
  alignas(64) T zeros[kMost];
  std::memset(zeros, 0, static_cast<size_t>(c.size < kMost ? c.size : kMost) * sizeof(T));
  const int64_t *ar = c.a_rows, *br = c.b_rows, size = kSize > 0 ? kSize : c.size;
  const T *a = c.a, *b = c.b;
  int64_t* rows = c.rows;
  T* __restrict out = c.out;
  if (size > kMost) return MergeLongRows<T, kMinus>(c);
  for (; ar != c.a_end && br != c.b_end; out += size) {
    const int64_t x = *ar, y = *br;
    const bool from_a = x <= y, from_b = y <= x;
    *rows++ = from_a ? x : y;
    const T *const va = Chosen(a, zeros, from_a), *const vb = Chosen(b, zeros, from_b);
    for (int64_t i = 0; i < size; ++i) out[i] = Sum<T, kMinus>(va[i], vb[i]);
    ar += from_a, br += from_b;
    a += size & -static_cast<int64_t>(from_a), b += size & -static_cast<int64_t>(from_b);
  }
  for (; ar != c.a_end; ++ar, a += size, out += size) {
    *rows++ = *ar;
    std::memcpy(out, a, static_cast<size_t>(size) * sizeof(T));
  }
  for (; br != c.b_end; ++br, b += size, out += size) {
    *rows++ = *br;
    for (int64_t i = 0; i < size; ++i) out[i] = Sum<T, kMinus>(T(0), b[i]);
  }
  return rows;
}

template <typename T>
int64_t* MergeAny(const MergeCall<T>& c) {
  const auto with = [&](auto minus) {
    constexpr bool kMinus = decltype(minus)::value;
    switch (c.size) {
      case 1: return MergeNumbers<T, kMinus>(c);
      case 2: return MergeRows<T, kMinus, 2>(c);
      case 4: return MergeRows<T, kMinus, 4>(c);
      case 8: return MergeRows<T, kMinus, 8>(c);
      case 16: return MergeRows<T, kMinus, 16>(c);
      default: return MergeRows<T, kMinus, 0>(c);
    }
  };
  return c.minus ? with(std::true_type()) : with(std::false_type());
}

template <typename T>
void AddAny(T* to, const T* from, int64_t count, bool minus) {
  if (minus)
    for (int64_t i = 0; i < count; ++i) to[i] -= from[i];
  else
    for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

int64_t* MergeFloat(const MergeCall<float>& call) { return MergeAny(call); }
int64_t* MergeDouble(const MergeCall<double>& call) { return MergeAny(call); }
void AddFloats(float* to, const float* from, int64_t count, bool minus) { AddAny(to, from, count, minus); }
void AddDoubles(double* to, const double* from, int64_t count, bool minus) { AddAny(to, from, count, minus); }

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
