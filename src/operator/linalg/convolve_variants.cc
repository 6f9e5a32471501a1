// Blocks of four registers of results, which meet every number of the filter in turn.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/vector_bytes.h"
#include "operator/linalg/convolve_loops.h"
#include "operator/pointwise/loops/loops.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
constexpr int kRegisters = 4;
template <typename T>
constexpr int64_t kBlock = kRegisters* kLanes<T>;
// Products that are added up one to the other. Their sums are added up again, so that rounding does
// not grow with the length of the filter.
constexpr int64_t kChain = 256;

// sums[i] = sum of x[i + j] * filter[j] for i < kBlock, j < taps
template <typename T>
inline void SlideBlock(const T* x, const T* filter, int64_t taps, T* sums) {
  typedef T V __attribute__((vector_size(kVectorBytes)));
  V all[kRegisters] = {};
  for (int64_t from = 0; from < taps; from += kChain) {
    const int64_t to = std::min(from + kChain, taps);
    V part[kRegisters] = {};
    for (int64_t j = from; j < to; ++j) {
      for (int r = 0; r < kRegisters; ++r) {
        V v;
        std::memcpy(&v, x + j + r * kLanes<T>, sizeof(v));
        part[r] += v * filter[j];
      }
    }
    for (int r = 0; r < kRegisters; ++r) all[r] += part[r];
  }
  std::memcpy(sums, all, sizeof(all));
}

// The sum of x[j] * filter[j] for j < taps, in as many chains as a block has numbers.
template <typename T>
inline T OneSum(const T* x, const T* filter, int64_t taps) {
  typedef T V __attribute__((vector_size(kVectorBytes)));
  V all[kRegisters] = {};
  int64_t j = 0;
  for (; j + kBlock<T> <= taps; j += kBlock<T>) {
    for (int r = 0; r < kRegisters; ++r) {
      V v, w;
      std::memcpy(&v, x + j + r * kLanes<T>, sizeof(v));
      std::memcpy(&w, filter + j + r * kLanes<T>, sizeof(w));
      all[r] += v * w;
    }
  }
  const V four = (all[0] + all[1]) + (all[2] + all[3]);
  T sum = T(0);
  for (; j < taps; ++j) sum += x[j] * filter[j];
  for (int l = 0; l < kLanes<T>; ++l) sum += four[l];
  return sum;
}

template <typename T>
void SlideOf(const SlidingVector& vector, const T* filter, int64_t taps, int64_t begin, int64_t end, T* out) {
  const T* data = static_cast<const T*>(vector.data);
  std::vector<T> window;
  T sums[kBlock<T>];
  for (int64_t i = begin; i < end; i += kBlock<T>) {
    const int64_t n = std::min(kBlock<T>, end - i);
    const int64_t at = i - vector.before;  // where the first one's products begin
    // those of all products that are not with zeros
    const int64_t first = std::clamp<int64_t>(-at - (kBlock<T> - 1), 0, taps), last = std::clamp<int64_t>(vector.size - at, first, taps);
    const T* x = data + at + first;
    if (n == 1) {  // no block, of which the others would be thrown away
      const int64_t from = std::clamp<int64_t>(-at, 0, taps), to = std::clamp<int64_t>(vector.size - at, from, taps);
      out[i] = OneSum(data + at + from, filter + from, to - from);
      return;
    }
    if (at + first < 0 || vector.size < at + last - 1 + kBlock<T>) {
      const int64_t length = last - first + kBlock<T>;
      window.assign(static_cast<size_t>(length), T(0));
      const int64_t low = std::max<int64_t>(0, at + first), high = std::min(vector.size, at + first + length);
      if (low < high) std::copy(data + low, data + high, window.data() + (low - at - first));
      x = window.data();
    }
    if (n == kBlock<T>) {
      SlideBlock(x, filter + first, last - first, out + i);
    } else {
      SlideBlock(x, filter + first, last - first, sums);
      std::copy(sums, sums + n, out + i);
    }
  }
}

}  // namespace

void Slide(int compute, const SlidingVector& vector, const void* filter, int64_t taps, int64_t begin, int64_t end, void* out) {
  switch (compute) {
    case pointwise::kF32: return SlideOf(vector, static_cast<const float*>(filter), taps, begin, end, static_cast<float*>(out));
    case pointwise::kF64: return SlideOf(vector, static_cast<const double*>(filter), taps, begin, end, static_cast<double*>(out));
    // unsigned: they wrap
    case pointwise::kI32: return SlideOf(vector, static_cast<const uint32_t*>(filter), taps, begin, end, static_cast<uint32_t*>(out));
    default: return SlideOf(vector, static_cast<const uint64_t*>(filter), taps, begin, end, static_cast<uint64_t*>(out));
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
