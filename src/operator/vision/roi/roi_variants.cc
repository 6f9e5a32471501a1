// Loops over the pixels of regions: rows first, whole vectors at a time, then the few columns of
// each bin.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "operator/vision/roi/roi_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using roi::AlignedRegion;
using roi::kLanes;
using roi::PooledRegion;
using roi::Tap;

constexpr int64_t kBlock = 16;

// Columns [first, first + blocks * kBlock) hold those of the region and lie in the plane from any
// of its rows on: they may run into the next rows. No blocks: the plane is too small for that.
struct Blocks {
  int64_t first, blocks;
  Blocks(int64_t begin, int64_t end, int64_t last_row, int64_t h, int64_t w) : first(begin), blocks((end - begin + kBlock - 1) / kBlock) {
    first = std::min(first, (h - last_row) * w - blocks * kBlock);
    if (first < 0) first = begin, blocks = 0;
  }
};

// to[c] = sum over the taps of weight * plane[row, first + c]
template <typename T>
inline void WeightedRows(const Tap<T>* taps, int64_t n, const T* plane, int64_t w, const Blocks& b, int64_t columns, T* to) {
  for (int64_t k = 0; k < b.blocks; ++k) {
    T sum[kBlock] = {};
    for (int64_t t = 0; t < n; ++t) {
      const T* row = plane + taps[t].at * w + b.first + k * kBlock;
      const T weight = taps[t].weight;
#pragma omp simd
      for (int64_t c = 0; c < kBlock; ++c) sum[c] += weight * row[c];
    }
#pragma omp simd
    for (int64_t c = 0; c < kBlock; ++c) to[k * kBlock + c] = sum[c];
  }
  if (b.blocks > 0) return;
  std::fill_n(to, columns, T(0));
  for (int64_t t = 0; t < n; ++t)
    for (int64_t c = 0; c < columns; ++c) to[c] += taps[t].weight * plane[taps[t].at * w + b.first + c];
}

// All bins of a row at once. False where an element that is not finite would spread to bins that
// do not read it.
template <typename T>
inline bool DenseColumns(const AlignedRegion<T>& r, const T* from, int64_t columns, T* out) {
  T sum[kLanes] = {}, odd = 0;
  const T *weights = r.dense, *row = from + r.first_column;
  for (int64_t c = 0; c < columns; ++c, weights += kLanes) {
    const T v = row[c];
    odd += v * T(0);
#pragma omp simd
    for (int64_t j = 0; j < kLanes; ++j) sum[j] += v * weights[j];
  }
  if (!(odd == T(0))) return false;
  for (int64_t j = 0; j < r.pooled_w; ++j) out[j] = sum[j] * r.scale;
  return true;
}

template <typename T>
void Forward(const AlignedRegion<T>& r, const T* plane, int64_t h, int64_t w, T* out, T* scratch) {
  const Blocks b(r.first_column, r.end_column, r.last_row, h, w);
  const int64_t columns = r.end_column - r.first_column;
  const Tap<T>* taps = r.taps;
  for (int64_t i = 0; i < r.pooled_h; ++i, out += r.pooled_w) {
    const int64_t n = r.rows[i + 1] - r.rows[i];
    if (n == 0 || columns <= 0) {
      std::fill_n(out, r.pooled_w, T(0));
      continue;
    }
    WeightedRows(taps + r.rows[i], n, plane, w, b, columns, scratch);
    const T* from = scratch - b.first;
    if (r.dense && DenseColumns(r, from, columns, out)) continue;
    for (int64_t j = 0; j < r.pooled_w; ++j) {
      T sum = 0;
      for (int64_t t = r.columns[j]; t < r.columns[j + 1]; ++t) sum += taps[t].weight * from[taps[t].at];
      out[j] = sum * r.scale;
    }
  }
}

template <typename T>
void Backward(const AlignedRegion<T>& r, const T* og, int64_t h, int64_t w, T* plane, T* scratch) {
  const Blocks b(r.first_column, r.end_column, r.last_row, h, w);
  const int64_t columns = r.end_column - r.first_column, width = b.blocks > 0 ? b.blocks * kBlock : columns;
  const Tap<T>* taps = r.taps;
  if (columns <= 0) return;
  for (int64_t i = 0; i < r.pooled_h; ++i, og += r.pooled_w) {
    if (r.rows[i + 1] == r.rows[i]) continue;
    std::fill_n(scratch, width, T(0));
    T* to = scratch - b.first;
    for (int64_t j = 0; j < r.pooled_w; ++j) {
      const T g = og[j] * r.scale;
      for (int64_t t = r.columns[j]; t < r.columns[j + 1]; ++t) to[taps[t].at] += taps[t].weight * g;
    }
    for (int64_t t = r.rows[i]; t < r.rows[i + 1]; ++t) {
      T* row = plane + taps[t].at * w + r.first_column;
      const T* from = to + r.first_column;
      const T weight = taps[t].weight;
#pragma GCC ivdep
      for (int64_t c = 0; c < columns; ++c) row[c] += weight * from[c];
    }
  }
}

// NaN counts as larger than all numbers.
template <typename T>
inline __attribute__((always_inline)) bool Larger(T a, T b) {
  return (a > b) | ((a != a) & (b == b));
}

// to[c] = the largest of plane[begin..., first + c], and its row unless rows is null.
template <typename T, bool find>
inline void LargestOfRows(const T* plane, int32_t begin, int32_t end, int64_t w, const Blocks& b, int64_t columns, T* to, int32_t* rows) {
  for (int64_t k = 0; k < b.blocks; ++k) {
    const T* row = plane + begin * w + b.first + k * kBlock;
    T most[kBlock];
    int32_t best[kBlock];
    for (int64_t c = 0; c < kBlock; ++c) most[c] = row[c], best[c] = begin;
    for (int32_t y = begin + 1; y < end; ++y) {
      row += w;
#pragma omp simd
      for (int64_t c = 0; c < kBlock; ++c) {
        const bool better = Larger(row[c], most[c]);
        most[c] = better ? row[c] : most[c];
        if (find) best[c] = better ? y : best[c];
      }
    }
    for (int64_t c = 0; c < kBlock; ++c) to[k * kBlock + c] = most[c];
    if (find)
      for (int64_t c = 0; c < kBlock; ++c) rows[k * kBlock + c] = best[c];
  }
  if (b.blocks > 0) return;
  for (int64_t c = 0; c < columns; ++c) {
    const T* from = plane + b.first + c;
    int32_t best = begin;
    for (int32_t y = begin + 1; y < end; ++y)
      if (Larger(from[y * w], from[best * w])) best = y;
    to[c] = from[best * w];
    if (find) rows[c] = best;
  }
}

// The columns of kLanes bins of a row, from bin `first` on; behind the last bin it is repeated. Of
// bins without columns the first bin's is seen: the callers leave them out.
struct BinColumns {
  int32_t left[kLanes], last[kLanes], steps = 0;  // steps: of the widest bin, beyond its first column
  BinColumns(const PooledRegion& r, int64_t first) {
    const int32_t *begin = r.begin + r.pooled_h, *end = r.end + r.pooled_h;
    for (int64_t l = 0; l < kLanes; ++l) {
      const int64_t j = std::min(first + l, r.pooled_w - 1);
      left[l] = begin[j] < end[j] ? begin[j] : begin[0];
      last[l] = begin[j] < end[j] ? end[j] - 1 : begin[0];
      steps = std::max(steps, last[l] - left[l]);
    }
  }
};

template <typename T>
void Pool(const PooledRegion& r, const T* plane, int64_t h, int64_t w, T* out, T* scratch) {
  const int32_t *left = r.begin + r.pooled_h, *right = r.end + r.pooled_h;
  const int64_t first = left[0], columns = right[r.pooled_w - 1] - first;  // bins are in order
  const Blocks b(first, first + columns, r.end[r.pooled_h - 1] - 1, h, w);
  const T* from = scratch - b.first;
  BinColumns bins(r, 0);
  for (int64_t i = 0; i < r.pooled_h; ++i, out += r.pooled_w) {
    if (r.begin[i] >= r.end[i] || columns <= 0) {
      std::fill_n(out, r.pooled_w, T(0));
      continue;
    }
    LargestOfRows<T, false>(plane, r.begin[i], r.end[i], w, b, columns, scratch, nullptr);
    for (int64_t j = 0; j < r.pooled_w; j += kLanes) {
      if (j > 0 || r.pooled_w > kLanes) bins = BinColumns(r, j);
      T most[kLanes];
      for (int64_t l = 0; l < kLanes; ++l) most[l] = from[bins.left[l]];
      for (int32_t c = 1; c <= bins.steps; ++c) {  // who is narrower meets its last column again
#pragma omp simd
        for (int64_t l = 0; l < kLanes; ++l) {
          const T x = from[std::min(bins.left[l] + c, bins.last[l])];
          most[l] = Larger(x, most[l]) ? x : most[l];
        }
      }
      for (int64_t l = 0; l < std::min(kLanes, r.pooled_w - j); ++l) out[j + l] = left[j + l] < right[j + l] ? most[l] : T(0);
    }
  }
}

// f(bin, the place of its first largest pixel), for bins that have pixels.
template <typename T, typename F>
void EachLargest(const PooledRegion& r, const T* image, int64_t h, int64_t w, T* scratch, int32_t* rows, F&& f) {
  const int32_t *left = r.begin + r.pooled_h, *right = r.end + r.pooled_h;
  const int64_t first = left[0], columns = right[r.pooled_w - 1] - first;
  if (columns <= 0) return;
  const Blocks b(first, first + columns, r.end[r.pooled_h - 1] - 1, h, w);
  const T* most = scratch - b.first;
  const int32_t* at = rows - b.first;
  BinColumns bins(r, 0);
  for (int64_t i = 0; i < r.pooled_h; ++i) {
    if (r.begin[i] >= r.end[i]) continue;
    LargestOfRows<T, true>(image, r.begin[i], r.end[i], w, b, columns, scratch, rows);
    for (int64_t j = 0; j < r.pooled_w; j += kLanes) {
      if (j > 0 || r.pooled_w > kLanes) bins = BinColumns(r, j);
      T value[kLanes];
      int32_t best[kLanes], row[kLanes];
      for (int64_t l = 0; l < kLanes; ++l) best[l] = bins.left[l], value[l] = most[best[l]], row[l] = at[best[l]];
      for (int32_t c = 1; c <= bins.steps; ++c) {
#pragma omp simd
        for (int64_t l = 0; l < kLanes; ++l) {
          const int32_t place = std::min(bins.left[l] + c, bins.last[l]);
          const T x = most[place];
          const int32_t y = at[place];
          const bool larger = Larger(x, value[l]), as_large = !Larger(value[l], x);
          const bool better = larger | (as_large & (y < row[l]));
          best[l] = better ? place : best[l];
          value[l] = better ? x : value[l];
          row[l] = better ? y : row[l];
        }
      }
      for (int64_t l = 0; l < std::min(kLanes, r.pooled_w - j); ++l)
        if (left[j + l] < right[j + l]) f(i * r.pooled_w + j + l, row[l] * w + best[l]);
    }
  }
}

template <typename T>
void PoolGradient(const PooledRegion& r, const T* image, const T* og, int64_t h, int64_t w, T* plane, T* scratch, int32_t* rows) {
  EachLargest(r, image, h, w, scratch, rows, [&](int64_t bin, int64_t place) { plane[place] += og[bin]; });
}

template <typename T>
void PoolOther(const PooledRegion& r, const T* image, const T* plane, int64_t h, int64_t w, T* out, T* scratch, int32_t* rows) {
  std::fill_n(out, r.pooled_h * r.pooled_w, T(0));
  EachLargest(r, image, h, w, scratch, rows, [&](int64_t bin, int64_t place) { out[bin] = plane[place]; });
}

template <typename T>
const T* In(const void* p) {
  return static_cast<const T*>(p);
}
template <typename T>
T* Out(void* p) {
  return static_cast<T*>(p);
}

}  // namespace

void AlignForward(bool wide, const void* region, const void* plane, int64_t h, int64_t w, void* out, void* scratch) {
  if (wide)
    Forward(*In<AlignedRegion<double>>(region), In<double>(plane), h, w, Out<double>(out), Out<double>(scratch));
  else
    Forward(*In<AlignedRegion<float>>(region), In<float>(plane), h, w, Out<float>(out), Out<float>(scratch));
}
void AlignBackward(bool wide, const void* region, const void* og, int64_t h, int64_t w, void* plane, void* scratch) {
  if (wide)
    Backward(*In<AlignedRegion<double>>(region), In<double>(og), h, w, Out<double>(plane), Out<double>(scratch));
  else
    Backward(*In<AlignedRegion<float>>(region), In<float>(og), h, w, Out<float>(plane), Out<float>(scratch));
}
void PoolForward(bool wide, const PooledRegion& r, const void* plane, int64_t h, int64_t w, void* out, void* scratch) {
  if (wide)
    Pool(r, In<double>(plane), h, w, Out<double>(out), Out<double>(scratch));
  else
    Pool(r, In<float>(plane), h, w, Out<float>(out), Out<float>(scratch));
}
void PoolBackward(bool wide, const PooledRegion& r, const void* image, const void* og, int64_t h, int64_t w, void* plane, void* scratch,
                  int32_t* rows) {
  if (wide)
    PoolGradient(r, In<double>(image), In<double>(og), h, w, Out<double>(plane), Out<double>(scratch), rows);
  else
    PoolGradient(r, In<float>(image), In<float>(og), h, w, Out<float>(plane), Out<float>(scratch), rows);
}
void PoolOtherForward(bool wide, const PooledRegion& r, const void* image, const void* plane, int64_t h, int64_t w, void* out,
                      void* scratch, int32_t* rows) {
  if (wide)
    PoolOther(r, In<double>(image), In<double>(plane), h, w, Out<double>(out), Out<double>(scratch), rows);
  else
    PoolOther(r, In<float>(image), In<float>(plane), h, w, Out<float>(out), Out<float>(scratch), rows);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
