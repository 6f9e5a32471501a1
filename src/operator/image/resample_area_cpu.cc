// Resampling to means of what each pixel covers. No product and sum become one rounding
// (resample_cpu.cc).
#pragma GCC optimize("fp-contract=off")

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#if defined(__SSE4_1__)
#include <smmintrin.h>
#endif

#include "base/cpu_dispatch.h"
#include "mxnet/base.h"
#include "operator/image/resample_picture.h"

namespace mxnet {

MXNET_CPU_DECLARE(void HalveBytes(const uint8_t* upper, const uint8_t* lower, int64_t n, int64_t channels, uint8_t* to);
                  void MeanBytes(const uint8_t* from, int64_t pitch, int64_t across, int64_t down, int64_t n, int64_t channels, float scale,
                                 uint16_t* sums, uint8_t* to);
                  int64_t MeanFloats(const float* from, const int64_t* offsets, int64_t area, int64_t step, int64_t n, int64_t channels,
                                     float scale, float* to);
                  void HalveFloats(const float* upper, const float* lower, int64_t n, int64_t channels, float* to);)

namespace image {
namespace {

// Means of blocks of bytes in rows that a loop of its own makes: whether there is one.
bool BlocksOfBytes(const Picture<uint8_t>& p, int64_t across, int64_t down) {
  const int64_t channels = p.size.channels, n = p.row();
  if ((channels != 1 && channels != 3 && channels != 4) || down > 257) return false;
  const float scale = 1.f / static_cast<float>(across * down);
  p.Rows([&](int64_t begin, int64_t end) {
    std::vector<uint16_t> sums(across == 2 && down == 2 ? 0 : static_cast<size_t>(n * across));
    for (int64_t r = begin; r < end; ++r) {
      const uint8_t* from = p.from + (p.top + r) * down * p.pitch + p.left * across * channels;
      if (across == 2 && down == 2)
        MXNET_CPU_CALL(HalveBytes)(from, from + p.pitch, p.width, channels, p.to + r * n);
      else
        MXNET_CPU_CALL(MeanBytes)(from, p.pitch, across, down, p.width, channels, scale, sums.data(), p.to + r * n);
    }
  });
  return true;
}

// Means of blocks of whole pixels.
template <typename T>
void Blocks(const Picture<T>& p, int64_t across, int64_t down) {
  constexpr bool floats = std::is_same<T, float>::value;
  if constexpr (std::is_same<T, uint8_t>::value) {
    if (BlocksOfBytes(p, across, down)) return;
  }
  const int64_t channels = p.size.channels, n = p.row(), area = across * down, step = across * channels;
  const float scale = 1.f / static_cast<float>(area);
  std::vector<int64_t> offsets(static_cast<size_t>(area));
  for (int64_t k = 0; k < area; ++k) offsets[static_cast<size_t>(k)] = k / across * p.pitch + k % across * channels;
  // Those that OpenCV has a loop for, of four floats.
  const int64_t halves = floats && across == 2 && down == 2 && (channels == 1 || channels == 4) ? n / 4 * 4 : 0;
  p.Rows([&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = p.from + (p.top + r) * down * p.pitch + p.left * step;
      T* to = p.to + r * n;
      int64_t d = 0;  // pixel
      if constexpr (floats) {
        if (halves > 0) MXNET_CPU_CALL(HalveFloats)(row, row + p.pitch, halves, channels, to);
        d = halves / channels;
        d += MXNET_CPU_CALL(MeanFloats)(row + d * step, offsets.data(), area, step, p.width - d, channels, scale, to + d * channels);
      }
      for (; d < p.width; ++d)
        for (int64_t c = 0; c < channels; ++c) {
          auto element = [&](int64_t k) { return static_cast<Sum<T>>(row[d * step + c + offsets[static_cast<size_t>(k)]]); };
          Sum<T> sum = 0;
          int64_t k = 0;
          for (; k + 4 <= area; k += 4) sum += element(k) + element(k + 1) + element(k + 2) + element(k + 3);
          for (; k < area; ++k) sum += element(k);
          to[d * channels + c] = Saturated<T>(sum * scale);
        }
    }
  });
}

// What a pixel of the result covers: source pixel `at` with `weight`.
struct Cover {
  int64_t at;
  float weight;
};
struct Covers {
  std::vector<Cover> all;
  std::vector<size_t> first;  // of each pixel of the result, and one more
};

Covers MakeCovers(const Axis& axis) {
  Covers covers;
  for (int64_t d = axis.first; d < axis.first + axis.count; ++d) {
    covers.first.push_back(covers.all.size());
    const double begin = static_cast<double>(d) * axis.scale, end = begin + axis.scale;
    const double width = std::min(axis.scale, static_cast<double>(axis.from) - begin);
    int64_t a = static_cast<int64_t>(std::ceil(begin)), b = static_cast<int64_t>(std::floor(end));
    b = std::min(b, axis.from - 1);
    a = std::min(a, b);
    if (static_cast<double>(a) - begin > 1e-3) covers.all.push_back({a - 1, static_cast<float>((static_cast<double>(a) - begin) / width)});
    for (int64_t s = a; s < b; ++s) covers.all.push_back({s, static_cast<float>(1.0 / width)});
    if (end - static_cast<double>(b) > 1e-3)
      covers.all.push_back({b, static_cast<float>(std::min(std::min(end - static_cast<double>(b), 1.), width) / width)});
  }
  covers.first.push_back(covers.all.size());
  return covers;
}

#if defined(__SSE4_1__)
inline __m128 Load4(const float* from) { return _mm_loadu_ps(from); }
inline __m128 Load4(const uint8_t* from) {
  int32_t bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  return _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes)));
}
#endif

// line = the columns' covers of one row of the source. `wide` pixels may be read, and followed, as
// four elements.
template <typename T, typename W, int kChannels>
void CoverRow(const T* from, const Covers& columns, int64_t channels, size_t wide, W* line) {
  if constexpr (kChannels > 0) channels = kChannels;
  size_t d = 0;
#if defined(__SSE4_1__)
  if constexpr (kChannels == 3 && std::is_same<W, float>::value) {
    for (; d < wide; ++d, line += 3) {
      __m128 sum = _mm_setzero_ps();
      for (size_t k = columns.first[d]; k < columns.first[d + 1]; ++k)
        sum = _mm_add_ps(sum, _mm_mul_ps(Load4(from + columns.all[k].at * 3), _mm_set1_ps(columns.all[k].weight)));
      _mm_storeu_ps(line, sum);
    }
  }
#endif
  for (; d + 1 < columns.first.size(); ++d)
    for (int64_t c = 0; c < channels; ++c) {
      W sum = 0;
      for (size_t k = columns.first[d]; k < columns.first[d + 1]; ++k)
        sum += static_cast<W>(from[columns.all[k].at * channels + c]) * static_cast<W>(columns.all[k].weight);
      *line++ = sum;
    }
}

template <typename T>
void CoveredArea(const Picture<T>& p) {
  using W = std::conditional_t<std::is_same<T, uint8_t>::value, float, T>;
  const Covers columns = MakeCovers(p.columns()), lines = MakeCovers(p.lines());
  const int64_t channels = p.size.channels, n = p.row();
  size_t wide = 0;  // a further pixel of the source and of the result lies behind these
  while (static_cast<int64_t>(wide) < p.width - 1 && columns.all[columns.first[wide + 1] - 1].at < p.size.width - 1) ++wide;
  p.Rows([&](int64_t begin, int64_t end) {
    std::vector<W> line(static_cast<size_t>(n)), sum(static_cast<size_t>(n));
    int64_t held = -1;  // the row of the source that `line` is made from
    for (int64_t r = begin; r < end; ++r) {
      std::fill(sum.begin(), sum.end(), W(0));
      for (size_t j = lines.first[static_cast<size_t>(r)]; j < lines.first[static_cast<size_t>(r) + 1]; ++j) {
        const T* from = p.from + lines.all[j].at * p.pitch;
        if (held == lines.all[j].at) {
          // Two rows of the result share it.
        } else if (channels == 3) {
          CoverRow<T, W, 3>(from, columns, channels, wide, line.data());
        } else if (channels == 1) {
          CoverRow<T, W, 1>(from, columns, channels, 0, line.data());
        } else {
          CoverRow<T, W, 0>(from, columns, channels, 0, line.data());
        }
        held = lines.all[j].at;
        const W weight = static_cast<W>(lines.all[j].weight);
        for (size_t i = 0; i < line.size(); ++i) sum[i] += weight * line[i];
      }
      for (int64_t i = 0; i < n; ++i) p.to[r * n + i] = Saturated<T>(sum[static_cast<size_t>(i)]);
    }
  });
}

}  // namespace

template <typename T>
void ShrinkToMeans(const Picture<T>& p) {
  const Axis x = p.columns(), y = p.lines();
  if (x.IsWhole() && y.IsWhole()) return Blocks(p, x.Whole(), y.Whole());
  CoveredArea(p);
}

template void ShrinkToMeans(const Picture<uint8_t>&);
template void ShrinkToMeans(const Picture<float>&);
template void ShrinkToMeans(const Picture<double>&);

}  // namespace image
}  // namespace mxnet
