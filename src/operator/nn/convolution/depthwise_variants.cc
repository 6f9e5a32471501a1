// Sums over the window of a depthwise convolution, along rows that lie one behind the other.
#include <type_traits>

#include "base/row_vectors.h"
#include "operator/nn/convolution/depthwise_planes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using V = Wide<float>::type;
constexpr int64_t kCount = Wide<float>::kCount;

// So many vectors of results at a time, which share each weight.
template <int64_t kVectors>
inline void Sum(int64_t taps, const float* weights, const int64_t* places, float start, const float* from, float* to) {
  V sums[kVectors];
  for (int64_t k = 0; k < kVectors; ++k) sums[k] = V{} + start;
  for (int64_t t = 0; t < taps; ++t) {
    const float weight = weights[t], *row = from + places[t];
    for (int64_t k = 0; k < kVectors; ++k) sums[k] += At(row + k * kCount) * weight;
  }
  for (int64_t k = 0; k < kVectors; ++k) At(to + k * kCount) = sums[k];
}

// One vector of so many neighbouring rows of results: what is loaded counts for up to kSize of
// them, and a column of the window stays in registers.
template <int64_t kSize, int64_t kRows>
inline void Window(const float* weights, float start, const float* from, int64_t pitch, float* to, int64_t to_pitch) {
  V sums[kRows];
  for (int64_t r = 0; r < kRows; ++r) sums[r] = V{} + start;
  for (int64_t j = 0; j < kSize; ++j) {
    V column[kSize];
    for (int64_t k = 0; k < kSize; ++k) column[k] = V{} + weights[k * kSize + j];
#pragma GCC unroll 16
    for (int64_t r = 0; r < kRows + kSize - 1; ++r) {
      const V row = At(from + r * pitch + j);
#pragma GCC unroll 8
      for (int64_t k = 0; k < kSize; ++k)
        if (r - k >= 0 && r - k < kRows) sums[r - k] += row * column[k];
    }
  }
  for (int64_t r = 0; r < kRows; ++r) At(to + r * to_pitch) = sums[r];
}

template <int64_t kSize>
void Windows(const float* weights, float start, const float* from, int64_t pitch, int64_t rows, int64_t columns, float* to,
             int64_t to_pitch) {
  for (int64_t r = 0; r < rows;) {
    const int64_t together = rows - r >= 8 ? 8 : rows - r >= 4 ? 4 : rows - r >= 2 ? 2 : 1;
    for (int64_t i = 0; i < columns; i += kCount) {
      const float* here = from + r * pitch + i;
      float* result = to + r * to_pitch + i;
      if (together == 8) Window<kSize, 8>(weights, start, here, pitch, result, to_pitch);
      if (together == 4) Window<kSize, 4>(weights, start, here, pitch, result, to_pitch);
      if (together == 2) Window<kSize, 2>(weights, start, here, pitch, result, to_pitch);
      if (together == 1) Window<kSize, 1>(weights, start, here, pitch, result, to_pitch);
    }
    r += together;
  }
}

// So many sums stay in registers.
template <int64_t kTaps>
inline void Dots(const int64_t* places, const float* from, const float* by, int64_t n, float* sums) {
  V all[kTaps];
  for (int64_t t = 0; t < kTaps; ++t) all[t] = At(sums + t * kCount);
  for (int64_t i = 0; i < n; i += kCount) {
    const V factor = At(by + i);
    for (int64_t t = 0; t < kTaps; ++t) all[t] += At(from + i + places[t]) * factor;
  }
  for (int64_t t = 0; t < kTaps; ++t) At(sums + t * kCount) = all[t];
}

}  // namespace

void SumOfWindow(int64_t size, const float* weights, float start, const float* from, int64_t pitch, int64_t rows, int64_t columns,
                 float* to, int64_t to_pitch) {
  if (size == 3) return Windows<3>(weights, start, from, pitch, rows, columns, to, to_pitch);
  if (size == 5) return Windows<5>(weights, start, from, pitch, rows, columns, to, to_pitch);
  Windows<7>(weights, start, from, pitch, rows, columns, to, to_pitch);
}

void SumOfTaps(int64_t taps, const float* weights, const int64_t* places, float start, const float* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + 4 * kCount <= n; i += 4 * kCount) Sum<4>(taps, weights, places, start, from + i, to + i);
  for (; i < n; i += kCount) Sum<1>(taps, weights, places, start, from + i, to + i);
}

void SumOfSteps(int64_t taps, const float* weights, const float* start, const float* from, int64_t step, int64_t n, float* to) {
  const auto vectors = [&](int64_t c, auto count) {
    constexpr int64_t kVectors = decltype(count)::value;
    V sums[kVectors];
    for (int64_t k = 0; k < kVectors; ++k) sums[k] = start ? At(start + c + k * kCount) : V{};
    const float *w = weights + c, *x = from + c;
    for (int64_t t = 0; t < taps; ++t, w += n, x += step)
      for (int64_t k = 0; k < kVectors; ++k) sums[k] += At(x + k * kCount) * At(w + k * kCount);
    for (int64_t k = 0; k < kVectors; ++k) At(to + c + k * kCount) = sums[k];
  };
  int64_t c = 0;
  for (; c + 4 * kCount <= n; c += 4 * kCount) vectors(c, std::integral_constant<int64_t, 4>());
  for (; c + kCount <= n; c += kCount) vectors(c, std::integral_constant<int64_t, 1>());
  for (; c < n; ++c) {
    float sum = start ? start[c] : 0.0f;
    for (int64_t t = 0; t < taps; ++t) sum += weights[t * n + c] * from[t * step + c];
    to[c] = sum;
  }
}

void DotsOfTaps(int64_t taps, const int64_t* places, const float* from, const float* by, int64_t n, float* sums) {
  for (; taps >= 9; taps -= 9, places += 9, sums += 9 * kCount) Dots<9>(places, from, by, n, sums);
  for (; taps > 0; --taps, ++places, sums += kCount) Dots<1>(places, from, by, n, sums);
}

double SumOfNumbers(const float* from, int64_t n) {
  V sums = {};
  for (int64_t i = 0; i < n; i += kCount) sums += At(from + i);
  return static_cast<double>(Total<float>(sums));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
