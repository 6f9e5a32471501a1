// Bilinear samples at points, lines of resized images, and rows of correlations.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "mxnet/base.h"
#include "operator/vision/spatial/spatial_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using nn::CorrelateCall;
using nn::kSamplePoints;
using nn::LineSources;
using nn::SampleCall;

// ---- bilinear samples

// The four pixels around each point and their weights. A place of -1 lies outside and counts as 0.
template <typename T, typename I>
struct Around {
  I place[4][kSamplePoints];  // upper left, upper right, lower left, lower right
  T right[kSamplePoints], low[kSamplePoints];

  // The nearest whole number that is not larger; far ones and NaN are outside of every image.
  static inline __attribute__((always_inline)) I Whole(T floor) {
    const T far = static_cast<T>(sizeof(I) == 4 ? 1073741824.0 : 4611686018427387904.0);
    const T least = floor > T(-2) ? floor : T(-2);
    return static_cast<I>(least < far ? least : far);
  }

  explicit Around(const SampleCall& call) {
    using U = std::make_unsigned_t<I>;
    const T *x = static_cast<const T*>(call.x), *y = static_cast<const T*>(call.y);
    const I width = static_cast<I>(call.width), height = static_cast<I>(call.height);
    const T by_x = static_cast<T>(call.width - 1) / 2, by_y = static_cast<T>(call.height - 1) / 2;
#pragma GCC ivdep
    for (int64_t i = 0; i < call.points; ++i) {
      const T at_x = (x[i] + 1) * by_x, at_y = (y[i] + 1) * by_y;
      const T left = std::floor(at_x), top = std::floor(at_y);
      right[i] = at_x - left;
      low[i] = at_y - top;
      const I column = Whole(left), row = Whole(top);
      const bool c0 = (column >= 0) & (column < width), c1 = (column >= -1) & (column < width - 1);
      const bool r0 = (row >= 0) & (row < height), r1 = (row >= -1) & (row < height - 1);
      const I at = static_cast<I>(static_cast<U>(row) * static_cast<U>(width) + static_cast<U>(column));  // no meaning for far points
      place[0][i] = c0 & r0 ? at : -1;
      place[1][i] = c1 & r0 ? at + 1 : -1;
      place[2][i] = c0 & r1 ? at + width : -1;
      place[3][i] = c1 & r1 ? at + width + 1 : -1;
    }
  }
};

template <typename T, typename I>
inline __attribute__((always_inline)) T At(const T* plane, I place) {
  const T value = plane[place < 0 ? 0 : place];
  return place < 0 ? T(0) : value;
}

/*
 * Pixels that are neighbours in a row are loaded together, as one number of eight bytes: half as
 * many loads, and no gathering, which takes twice the time. `first_` is the left one of two pixels
 * of the image, of which one is masked where the point lies beside it.
 */
class Pairs {
 public:
  static bool Takes(const SampleCall& call) { return call.width >= 2; }

  explicit Pairs(const Around<float, int32_t>& p, int64_t points) {
    for (int64_t i = 0; i < points; ++i)
      for (int row = 0; row < 2; ++row) {
        const int32_t left = p.place[2 * row][i], right = p.place[2 * row + 1][i];
        const float weight = row ? p.low[i] : 1 - p.low[i], of_left = weight * (1 - p.right[i]), of_right = weight * p.right[i];
        const bool behind = left >= 0 && right < 0;  // only the left one is in the image: it comes second
        first_[row][i] = left < 0 && right < 0 ? 0 : left < 0 ? right : behind ? left - 1 : left;
        Set(row, 2 * i, left < 0 ? right >= 0 : !behind, left < 0 ? of_right : of_left);
        Set(row, 2 * i + 1, left >= 0, behind ? of_left : of_right);
      }
    for (int64_t i = points; i % kTogether != 0; ++i)
      for (int row = 0; row < 2; ++row) {
        first_[row][i] = 0;
        Set(row, 2 * i, false, 0);
        Set(row, 2 * i + 1, false, 0);
      }
  }

  void Sample(int64_t points, const float* plane, float* out) const {
    int64_t i = 0;
    for (; i + kTogether <= points; i += kTogether) Some(i, plane, out + i);
    if (i == points) return;
    float rest[kTogether];
    Some(i, plane, rest);
    for (int64_t k = 0; i + k < points; ++k) out[i + k] = rest[k];
  }

 private:
  static constexpr int64_t kTogether = 8;
  typedef double Loads __attribute__((vector_size(32)));  // of four points
  typedef float Values __attribute__((vector_size(32), may_alias));
  typedef int32_t Masks __attribute__((vector_size(32), may_alias));

  void Set(int row, int64_t at, bool inside, float weight) {
    mask_[row][at] = inside ? -1 : 0;
    weight_[row][at] = weight;  // not a number where the point is none
  }

  static inline __attribute__((always_inline)) double Two(const float* p) {
    double both;
    __builtin_memcpy(&both, p, sizeof(both));
    return both;
  }
  // Four points: the weighted pixels of each, side by side.
  inline __attribute__((always_inline)) void Weighted(int row, int64_t i, const float* plane, Values* sum) const {
    const int32_t* at = first_[row] + i;
    const Loads loads = {Two(plane + at[0]), Two(plane + at[1]), Two(plane + at[2]), Two(plane + at[3])};
    const Masks& mask = *reinterpret_cast<const Masks*>(mask_[row] + 2 * i);
    *sum += reinterpret_cast<Values>(reinterpret_cast<Masks>(loads) & mask) * *reinterpret_cast<const Values*>(weight_[row] + 2 * i);
  }
  inline __attribute__((always_inline)) void Some(int64_t i, const float* plane, float* out) const {
    Values low = {}, high = {};
    for (int row = 0; row < 2; ++row) {
      Weighted(row, i, plane, &low);
      Weighted(row, i + 4, plane, &high);
    }
    const Masks even = {0, 2, 4, 6, 8, 10, 12, 14}, odd = {1, 3, 5, 7, 9, 11, 13, 15};
    const Values sums = __builtin_shuffle(low, high, even) + __builtin_shuffle(low, high, odd);
    __builtin_memcpy(out, &sums, sizeof(sums));
  }

  int32_t first_[2][kSamplePoints];
  alignas(64) int32_t mask_[2][2 * kSamplePoints];
  alignas(64) float weight_[2][2 * kSamplePoints];
};

template <typename T, typename I>
void Sample(const SampleCall& call, const T* planes, T* out) {
  const Around<T, I> p(call);
  if constexpr (sizeof(T) == 4 && sizeof(I) == 4) {
    if (Pairs::Takes(call)) {
      const Pairs pairs(p, call.points);
      for (int64_t c = 0; c < call.channels; ++c) pairs.Sample(call.points, planes + c * call.height * call.width, out + c * call.step);
      return;
    }
  }
  for (int64_t c = 0; c < call.channels; ++c) {
    const T* plane = planes + c * call.height * call.width;
    T* to = out + c * call.step;
#pragma GCC ivdep
    for (int64_t i = 0; i < call.points; ++i) {
      const T right = p.right[i], low = p.low[i];
      const T upper = At(plane, p.place[0][i]) * (1 - right) + At(plane, p.place[1][i]) * right;
      const T lower = At(plane, p.place[2][i]) * (1 - right) + At(plane, p.place[3][i]) * right;
      to[i] = upper * (1 - low) + lower * low;
    }
  }
}

template <typename T, typename I>
void ToPlanes(const SampleCall& call, const T* og, T* planes) {
  const Around<T, I> p(call);
  for (int64_t c = 0; c < call.channels; ++c) {
    T* plane = planes + c * call.height * call.width;
    const T* from = og + c * call.step;
    for (int64_t i = 0; i < call.points; ++i) {
      const T right = p.right[i], upper = from[i] * (1 - p.low[i]), lower = from[i] * p.low[i];
      if (p.place[0][i] >= 0) plane[p.place[0][i]] += upper * (1 - right);
      if (p.place[1][i] >= 0) plane[p.place[1][i]] += upper * right;
      if (p.place[2][i] >= 0) plane[p.place[2][i]] += lower * (1 - right);
      if (p.place[3][i] >= 0) plane[p.place[3][i]] += lower * right;
    }
  }
}

template <typename T, typename I>
void Points(const SampleCall& call, const T* planes, const T* og, T* dx, T* dy) {
  const Around<T, I> p(call);
  for (int64_t i = 0; i < call.points; ++i) dx[i] = dy[i] = 0;
  for (int64_t c = 0; c < call.channels; ++c) {
    const T* plane = planes + c * call.height * call.width;
    const T* from = og + c * call.step;
#pragma GCC ivdep
    for (int64_t i = 0; i < call.points; ++i) {
      const T right = p.right[i], low = p.low[i];
      const T a = At(plane, p.place[0][i]), b = At(plane, p.place[1][i]), d = At(plane, p.place[2][i]), e = At(plane, p.place[3][i]);
      dx[i] += from[i] * ((b - a) * (1 - low) + (e - d) * low);
      dy[i] += from[i] * ((d - a) * (1 - right) + (e - b) * right);
    }
  }
  const T by_x = static_cast<T>(call.width - 1) / 2, by_y = static_cast<T>(call.height - 1) / 2;
  for (int64_t i = 0; i < call.points; ++i) dx[i] *= by_x, dy[i] *= by_y;
}

// f(T{}, I{}): the type of the data, and a type for places that is wide enough.
template <typename F>
inline __attribute__((always_inline)) void Typed(const SampleCall& call, int dtype, F&& f) {
  const bool wide = call.height * call.width >= (int64_t{1} << 30);
  if (dtype == kFloat64)
    wide ? f(double{}, int64_t{}) : f(double{}, int32_t{});
  else
    wide ? f(float{}, int64_t{}) : f(float{}, int32_t{});
}

// ---- lines of resized images

template <typename T>
void Line(const LineSources& from, const T* line, T* out, int64_t n) {
  const T* part = static_cast<const T*>(from.part);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = line[from.first[i]] * (1 - part[i]) + line[from.second[i]] * part[i];
}

template <typename T>
void LineBack(const LineSources& from, const T* out, T* line, int64_t n) {
  const T* part = static_cast<const T*>(from.part);
  for (int64_t i = 0; i < n; ++i) {
    line[from.first[i]] += out[i] * (1 - part[i]);
    line[from.second[i]] += out[i] * part[i];
  }
}

template <typename T>
void Blend(const T* upper, const T* lower, T part, T* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = upper[i] * (1 - part) + lower[i] * part;
}

template <typename T>
void AddTimes(const T* from, T weight, T* to, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] += from[i] * weight;
}

// ---- rows of correlations

template <bool kMultiply, typename T>
inline __attribute__((always_inline)) T Pair(T a, T b) {
  return kMultiply ? a * b : std::abs(a - b);
}

template <bool kMultiply, typename T>
void Correlate(const CorrelateCall& call, const T* first, const T* second, T* out) {
  const int64_t n = call.channels;
  for (int64_t x = 0; x < call.columns; ++x) {
    const T *a = first + x * n, *b = second + x * n;
    int64_t d = 0;
    for (; d + 4 <= call.displacements; d += 4) {  // four at a time share what is read of `first`
      const T *b0 = b + d * call.step, *b1 = b0 + call.step, *b2 = b1 + call.step, *b3 = b2 + call.step;
      T s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
      for (int64_t c = 0; c < n; ++c) {
        s0 += Pair<kMultiply>(a[c], b0[c]);
        s1 += Pair<kMultiply>(a[c], b1[c]);
        s2 += Pair<kMultiply>(a[c], b2[c]);
        s3 += Pair<kMultiply>(a[c], b3[c]);
      }
      T* to = out + d * call.columns + x;
      to[0] = s0, to[call.columns] = s1, to[2 * call.columns] = s2, to[3 * call.columns] = s3;
    }
    for (; d < call.displacements; ++d) {
      const T* b0 = b + d * call.step;
      T s0 = 0;
#pragma omp simd reduction(+ : s0)
      for (int64_t c = 0; c < n; ++c) s0 += Pair<kMultiply>(a[c], b0[c]);
      out[d * call.columns + x] = s0;
    }
  }
}

template <typename T>
void CorrelateBack(const CorrelateCall& call, const T* weights, const T* own, const T* other, T* to) {
  const int64_t n = call.channels;
  for (int64_t x = 0; x < call.columns; ++x) {
    const T w = weights[x];
    if (w == 0) continue;
    const T *a = own + x * n, *b = other + x * n;
    T* into = to + x * n;
    if (call.multiply) {
#pragma GCC ivdep
      for (int64_t c = 0; c < n; ++c) into[c] += w * b[c];
    } else if (call.of_second) {
#pragma GCC ivdep
      for (int64_t c = 0; c < n; ++c) into[c] += b[c] >= a[c] ? -w : w;
    } else {
#pragma GCC ivdep
      for (int64_t c = 0; c < n; ++c) into[c] += a[c] >= b[c] ? w : -w;
    }
  }
}

}  // namespace

void SamplePlanes(const SampleCall& call, int dtype, const void* planes, void* out) {
  Typed(call, dtype, [&](auto t, auto i) {
    Sample<decltype(t), decltype(i)>(call, static_cast<const decltype(t)*>(planes), static_cast<decltype(t)*>(out));
  });
}

void SampleToPlanes(const SampleCall& call, int dtype, const void* og, void* planes) {
  Typed(call, dtype, [&](auto t, auto i) {
    ToPlanes<decltype(t), decltype(i)>(call, static_cast<const decltype(t)*>(og), static_cast<decltype(t)*>(planes));
  });
}

void SamplePoints(const SampleCall& call, int dtype, const void* planes, const void* og, void* dx, void* dy) {
  Typed(call, dtype, [&](auto t, auto i) {
    using T = decltype(t);
    Points<T, decltype(i)>(call, static_cast<const T*>(planes), static_cast<const T*>(og), static_cast<T*>(dx), static_cast<T*>(dy));
  });
}

#define MXNET_BY_TYPE(call_of) \
  if (dtype == kFloat64) {     \
    using T = double;          \
    call_of;                   \
  } else {                     \
    using T = float;           \
    call_of;                   \
  }

void ResizeLine(const LineSources& from, int dtype, const void* line, void* out, int64_t n) {
  MXNET_BY_TYPE(Line(from, static_cast<const T*>(line), static_cast<T*>(out), n))
}

void ResizeLineBack(const LineSources& from, int dtype, const void* out, void* line, int64_t n) {
  MXNET_BY_TYPE(LineBack(from, static_cast<const T*>(out), static_cast<T*>(line), n))
}

void BlendLines(int dtype, const void* upper, const void* lower, double part, void* out, int64_t n) {
  MXNET_BY_TYPE(Blend(static_cast<const T*>(upper), static_cast<const T*>(lower), static_cast<T>(part), static_cast<T*>(out), n))
}

void AddScaled(int dtype, const void* from, double weight, void* to, int64_t n) {
  MXNET_BY_TYPE(AddTimes(static_cast<const T*>(from), static_cast<T>(weight), static_cast<T*>(to), n))
}

void CorrelateRow(const CorrelateCall& call, int dtype, const void* first, const void* second, void* out) {
  MXNET_BY_TYPE(const T* a = static_cast<const T*>(first); const T* b = static_cast<const T*>(second); T* to = static_cast<T*>(out);
                call.multiply ? Correlate<true>(call, a, b, to) : Correlate<false>(call, a, b, to))
}

void CorrelateRowBack(const CorrelateCall& call, int dtype, const void* weights, const void* own, const void* other, void* to) {
  MXNET_BY_TYPE(
      CorrelateBack(call, static_cast<const T*>(weights), static_cast<const T*>(own), static_cast<const T*>(other), static_cast<T*>(to)))
}

#undef MXNET_BY_TYPE

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
