// Register tiles of filters by vectors along the sequence.
#include "operator/nn/convolution/sequence_windows.h"
#include "operator/nn/cpu_gemm/vector_lanes.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int kMostVectors = kLanes == 16 ? 6 : 3;  // that the sums of four filters fill the registers with
constexpr int kTwice = kMostVectors / 2;            // so many leave room for the sums of eight

// Weights of the first filter, and what lies between blocks of them.
struct Weights {
  const float* first;
  int64_t apart;
};

inline __attribute__((always_inline)) void Put(float* p, Vec v, int64_t count) {
  if (count >= kLanes) return Store(p, v);
  std::memcpy(p, &v, static_cast<size_t>(count) * sizeof(float));
}

inline __attribute__((always_inline)) Vec Get(const float* p, int64_t count) {
  if (count >= kLanes) return Load(p);
  Vec v = {};
  std::memcpy(&v, p, static_cast<size_t>(count) * sizeof(float));
  return v;
}

// Results of filter f, so many vectors from element i on.
template <int kVectors>
inline __attribute__((always_inline)) void Finish(const nn::SequenceSums& to, int64_t f, int64_t i, Vec* all) {
  if (f >= to.filters) return;
  const int64_t at = f * to.apart + i, count = to.length - i;
  if (to.addend)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      if (count > v * kLanes) all[v] += Get(to.addend + at + v * kLanes, count - v * kLanes);
  if (to.bends)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) all[v] = all[v] < 0 ? (to.slope == 0.0f ? Vec{} : all[v] * to.slope) : all[v];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v)
    if (count > v * kLanes) Put(to.out + at + v * kLanes, all[v], count - v * kLanes);
}

// kFilters filters from f on, of blocks of kTogether, by kVectors vectors from element i on.
template <int kTogether, int kFilters, int kVectors>
inline void Tile(const nn::SequenceLines& lines, Weights w, int64_t f, int64_t i, const nn::SequenceSums& to) {
  Vec all[kFilters][kVectors];
  float* const sums = to.sums + f * to.pitch + i;
  for (int k = 0; k < kFilters; ++k)
    for (int v = 0; v < kVectors; ++v) all[k][v] = to.start ? to.start[f + k] - Vec{} : Load(sums + k * to.pitch + v * kLanes);
  const float *from = lines.data + i, *weights = w.first + f / kTogether * w.apart;
  for (int64_t c = 0; c < lines.channels; ++c, from += lines.pitch) {
    const float* element = from;
    for (int64_t t = 0; t < lines.taps; ++t, element += lines.step, weights += kTogether) {
      Vec data[kVectors];
      for (int v = 0; v < kVectors; ++v) data[v] = Load(element + v * kLanes);
#pragma GCC unroll 8
      for (int k = 0; k < kFilters; ++k) {
        const Vec weight = weights[k / kTogether * w.apart + k % kTogether] - Vec{};  // a sum with 0 would be computed
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) all[k][v] += data[v] * weight;
      }
    }
  }
  for (int k = 0; k < kFilters; ++k) {
    if (to.out) {
      Finish<kVectors>(to, f + k, i, all[k]);
      continue;
    }
    for (int v = 0; v < kVectors; ++v) Store(sums + k * to.pitch + v * kLanes, all[k][v]);
  }
}

// A tile of so many vectors, at most kMost.
template <int kTogether, int kFilters, int kMost>
inline void TileOf(int64_t vectors, const nn::SequenceLines& lines, Weights w, int64_t f, int64_t i, const nn::SequenceSums& to) {
  if constexpr (kMost > 1) {
    if (vectors < kMost) return TileOf<kTogether, kFilters, kMost - 1>(vectors, lines, w, f, i, to);
  }
  Tile<kTogether, kFilters, kMost>(lines, w, f, i, to);
}

// Equal tiles rather than full ones and a small one, whose few sums would wait for each other.
template <int kTogether, int kFilters, int kMost>
inline void Row(const nn::SequenceLines& lines, Weights w, int64_t f, int64_t columns, const nn::SequenceSums& to) {
  const int64_t vectors = columns / kLanes, tiles = (vectors + kMost - 1) / kMost;
  for (int64_t t = 0, i = 0; t < tiles; ++t) {
    const int64_t width = vectors * (t + 1) / tiles - vectors * t / tiles;
    TileOf<kTogether, kFilters, kMost>(width, lines, w, f, i, to);
    i += width * kLanes;
  }
}

}  // namespace

void SumSequences(const nn::SequenceLines& lines, const float* weights, int64_t apart, int64_t together, int64_t filters, int64_t columns,
                  const nn::SequenceSums& to) {
  constexpr int kFew = nn::kSequenceFilters;
  const Weights w{weights, apart};
  if (together == 1) return Row<1, 1, kMostVectors>(lines, w, 0, columns, to);
  const bool narrow = columns / kLanes <= kTwice;
  for (int64_t f = 0; f < filters;) {
    const bool twice = narrow && filters - f >= 2 * kFew;
    if (twice)
      Row<kFew, 2 * kFew, kTwice>(lines, w, f, columns, to);
    else
      Row<kFew, kFew, kMostVectors>(lines, w, f, columns, to);
    f += twice ? 2 * kFew : kFew;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
