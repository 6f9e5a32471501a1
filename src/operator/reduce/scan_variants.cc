#include <cstring>
#include <type_traits>

#include "base/half.h"
#include "base/vector_bytes.h"
#include "operator/pointwise/loops/loops.h"
#include "operator/reduce/scan_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

// Numbers in the order of the values: NaN stands above everything, zeros are equal. No choice is
// among the steps: the compiler would make branches of two in a row, and no vectors.
inline uint32_t KeyOf(float v, bool max) {
  v += 0.0f;
  int32_t bits;
  std::memcpy(&bits, &v, sizeof(bits));
  const int32_t ordered = bits ^ ((bits >> 31) & INT32_MAX);
  const uint32_t key = static_cast<uint32_t>(max ? ordered : ~ordered) ^ 0x80000000u;
  return key | (0u - static_cast<uint32_t>((bits & INT32_MAX) > 0x7f800000));
}
inline uint64_t KeyOf(double v, bool max) {
  v += 0.0;
  int64_t bits;
  std::memcpy(&bits, &v, sizeof(bits));
  const int64_t ordered = bits ^ ((bits >> 63) & INT64_MAX);
  const uint64_t key = static_cast<uint64_t>(max ? ordered : ~ordered) ^ uint64_t { 1 } << 63;
  return key | (uint64_t{0} - static_cast<uint64_t>((bits & INT64_MAX) > 0x7ff0000000000000));
}
inline uint32_t KeyOf(int32_t v, bool max) { return static_cast<uint32_t>(max ? v : ~v) ^ 0x80000000u; }
inline uint64_t KeyOf(int64_t v, bool max) {
  return static_cast<uint64_t>(max ? v : ~v) ^ uint64_t { 1 } << 63;
}
inline uint64_t KeyOf(uint64_t v, bool max) { return max ? v : ~v; }

/* The extreme of x[0 .. n); false where NaN is among them, or where they fill no vector. */
template <typename T, bool kMax>
bool ExtremeNumber(const T* x, int64_t n, T* extreme) {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  constexpr int64_t kLanes = kVectorBytes / sizeof(T);
  if (n < kLanes) return false;
  constexpr int kTurns = 4;  // of maxima that do not wait for each other
  Vector tops[kTurns], v;
  std::memcpy(&v, x, sizeof(v));
  auto unordered = v != v;
  decltype(unordered) unequal[kTurns];
  for (int t = 0; t < kTurns; ++t) tops[t] = v, unequal[t] = unordered;
  int64_t i = 0;
  for (; i + kTurns * kLanes <= n; i += kTurns * kLanes)
    for (int t = 0; t < kTurns; ++t) {
      std::memcpy(&v, x + i + t * kLanes, sizeof(v));
      unequal[t] |= v != v;
      tops[t] = (kMax ? v > tops[t] : v < tops[t]) ? v : tops[t];
    }
  for (; i < n; i += kLanes) {
    std::memcpy(&v, x + (i + kLanes <= n ? i : n - kLanes), sizeof(v));
    unordered |= v != v;
    tops[0] = (kMax ? v > tops[0] : v < tops[0]) ? v : tops[0];
  }
  Vector top = tops[0];
  for (int t = 0; t < kTurns; ++t) {
    unordered |= unequal[t];
    top = (kMax ? tops[t] > top : tops[t] < top) ? tops[t] : top;
  }
  *extreme = top[0];
  bool all = !unordered[0];
  for (int64_t l = 1; l < kLanes; ++l) {
    *extreme = (kMax ? top[l] > *extreme : top[l] < *extreme) ? top[l] : *extreme;
    all = all && !unordered[l];
  }
  return all;
}

/* The first place in [0, n) where equal(place), which there is. Some are looked at at once, and
 * which of them it is without leaving in between. */
template <typename Place, typename F>
int64_t FirstPlace(int64_t n, F&& equal) {
  constexpr int kPart = 64;
  int64_t at = 0;
  for (; at + kPart <= n; at += kPart) {
    Place found = 0;
    for (int i = 0; i < kPart; ++i) found |= static_cast<Place>(equal(at + i));
    if (!found) continue;
    Place first = kPart;
    for (int i = 0; i < kPart; ++i) {
      const Place here = equal(at + i) ? static_cast<Place>(i) : static_cast<Place>(kPart);
      first = here < first ? here : first;
    }
    return at + static_cast<int64_t>(first);
  }
  while (!equal(at)) ++at;
  return at;
}

template <typename T, bool kMax>
void Find(const T* x, int64_t first, int64_t n, reduce::ExtremeSoFar* so_far) {
  using Key = decltype(KeyOf(T{}, kMax));
  using Place = std::make_signed_t<Key>;
  if constexpr (std::is_floating_point<T>::value) {  // without NaN, numbers need no keys
    T extreme;
    if (ExtremeNumber<T, kMax>(x, n, &extreme)) {
      const Key top = KeyOf(extreme, kMax);
      if (first > 0 && top <= so_far->key) return;
      so_far->key = top;
      so_far->at = first + FirstPlace<Place>(n, [=](int64_t i) { return x[i] == extreme; });
      return;
    }
  }
  Key top = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Key key = KeyOf(x[i], kMax);
    top = key > top ? key : top;
  }
  if (first > 0 && top <= so_far->key) return;
  so_far->key = top;
  so_far->at = first + FirstPlace<Place>(n, [=](int64_t i) { return KeyOf(x[i], kMax) == top; });
}

template <typename T>
void Find(bool max, const void* x, int64_t first, int64_t n, reduce::ExtremeSoFar* so_far) {
  (max ? Find<T, true> : Find<T, false>)(static_cast<const T*>(x), first, n, so_far);
}

// ---- sums that are rounded to float16 at each step
typedef float Floats __attribute__((vector_size(16)));
typedef uint32_t Bits __attribute__((vector_size(16)));
typedef int32_t Lanes __attribute__((vector_size(16)));

constexpr uint32_t kTooLarge = 0x477ff000;  // 65520 as a float: what is smaller is rounded to a finite float16

inline float RoundedToHalf(float x) { return detail::HalfBitsToFloat(detail::FloatToHalfBits(x)); }

/* Rounds bits of floats below kTooLarge. Numbers below 2^-14, which have fewer bits in float16,
 * need nothing of their own: sums of float16 are multiples of 2^-24, so these are exact. */
template <typename B>
inline B RoundedBits(B bits) {
  return (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
}

inline void Transpose(Floats* v) {
  const Floats a = __builtin_shuffle(v[0], v[1], Lanes{0, 4, 1, 5}), b = __builtin_shuffle(v[0], v[1], Lanes{2, 6, 3, 7});
  const Floats c = __builtin_shuffle(v[2], v[3], Lanes{0, 4, 1, 5}), d = __builtin_shuffle(v[2], v[3], Lanes{2, 6, 3, 7});
  v[0] = __builtin_shuffle(a, c, Lanes{0, 1, 4, 5}), v[1] = __builtin_shuffle(a, c, Lanes{2, 3, 6, 7});
  v[2] = __builtin_shuffle(b, d, Lanes{0, 1, 4, 5}), v[3] = __builtin_shuffle(b, d, Lanes{2, 3, 6, 7});
}

/* Running sums along the rows as long as they are all finite; false: some are not. Four rows fill a
 * vector, and the sums of four vectors do not wait for each other. */
template <bool kReverse>
bool FiniteSumsAlong(const float* x, float* y, int64_t n, float* sums) {
  constexpr int kVectors = reduce::kHalfRows / 4;
  Floats before[kVectors];
  std::memcpy(before, sums, sizeof(before));
  Bits large[kVectors] = {};
  const int64_t fours = (n + 3) / 4;
  for (int64_t i = 0; i < fours; ++i) {
    const int64_t at = 4 * (kReverse ? fours - 1 - i : i);
    Floats v[kVectors][4];
    for (int k = 0; k < kVectors; ++k) {
      for (int r = 0; r < 4; ++r) std::memcpy(&v[k][r], x + (4 * k + r) * reduce::kHalfColumns + at, sizeof(Floats));
      Transpose(v[k]);
    }
    for (int step = 0; step < 4; ++step)
      for (int k = 0; k < kVectors; ++k) {
        Floats& number = v[k][kReverse ? 3 - step : step];
        const Floats sum = before[k] + number;
        Bits bits;
        std::memcpy(&bits, &sum, sizeof(bits));
        large[k] |= (bits & 0x7fffffffu) + (0x80000000u - kTooLarge);  // the highest bit: at least kTooLarge
        bits = RoundedBits(bits);
        std::memcpy(&number, &bits, sizeof(bits));
        before[k] = number;
      }
    for (int k = 0; k < kVectors; ++k) {
      Transpose(v[k]);
      for (int r = 0; r < 4; ++r) std::memcpy(y + (4 * k + r) * reduce::kHalfColumns + at, &v[k][r], sizeof(Floats));
    }
  }
  uint32_t any = 0;
  for (int k = 0; k < kVectors; ++k)
    for (int r = 0; r < 4; ++r) any |= large[k][r];
  if (any >> 31 != 0) return false;
  std::memcpy(sums, before, sizeof(before));
  return true;
}

}  // namespace

void FindExtreme(int compute, bool max, const void* x, int64_t first, int64_t n, reduce::ExtremeSoFar* so_far) {
  switch (compute) {
    case pointwise::kF32: return Find<float>(max, x, first, n, so_far);
    case pointwise::kF64: return Find<double>(max, x, first, n, so_far);
    case pointwise::kI32: return Find<int32_t>(max, x, first, n, so_far);
    case pointwise::kU64: return Find<uint64_t>(max, x, first, n, so_far);
    default: return Find<int64_t>(max, x, first, n, so_far);
  }
}

// Four elements at a time: each is added to those before it in two steps, and only the last sum
// waits for that of the elements before.
void RunningSumFloat(float* x, int64_t n, bool reverse, double* sum) {
  typedef double Four __attribute__((vector_size(32)));
  typedef int64_t Places __attribute__((vector_size(32)));
  typedef float Floats __attribute__((vector_size(16)));
  const Four zero = {};
  double before = *sum;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    float* at = reverse ? x + n - 4 - i : x + i;
    Floats in;
    std::memcpy(&in, at, sizeof(in));
    Four v = __builtin_convertvector(in, Four);
    if (reverse) {
      v += __builtin_shuffle(v, zero, Places{1, 2, 3, 4});
      v += __builtin_shuffle(v, zero, Places{2, 3, 4, 5});
    } else {
      v += __builtin_shuffle(v, zero, Places{4, 0, 1, 2});
      v += __builtin_shuffle(v, zero, Places{4, 5, 0, 1});
    }
    const Four sums = v + before;
    const Floats out = __builtin_convertvector(sums, Floats);
    std::memcpy(at, &out, sizeof(out));
    before += reverse ? v[0] : v[3];
  }
  for (; i < n; ++i) {
    float& at = x[reverse ? n - 1 - i : i];
    before += static_cast<double>(at);
    at = static_cast<float>(before);
  }
  *sum = before;
}

void RunningSumHalves(const float* x, float* y, int64_t n, float* sums) {
  uint32_t large = 0;
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const float sum = sums[j] + x[j];
    const uint32_t bits = detail::FloatBits(sum);
    large |= (bits & 0x7fffffffu) + (0x80000000u - kTooLarge);
    y[j] = detail::BitsFloat(RoundedBits(bits));
  }
  if (large >> 31 != 0)
    for (int64_t j = 0; j < n; ++j) y[j] = RoundedToHalf(sums[j] + x[j]);
  std::memcpy(sums, y, static_cast<size_t>(n) * sizeof(float));
}

void RunningSumHalvesAlong(const float* x, float* y, int64_t n, bool reverse, float* sums) {
  if ((reverse ? FiniteSumsAlong<true> : FiniteSumsAlong<false>)(x, y, n, sums)) return;
  for (int64_t r = 0; r < reduce::kHalfRows; ++r)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = r * reduce::kHalfColumns + (reverse ? n - 1 - i : i);
      y[at] = sums[r] = RoundedToHalf(sums[r] + x[at]);
    }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
