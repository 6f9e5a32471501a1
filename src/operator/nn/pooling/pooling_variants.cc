// Pooling loops. Windows are clipped to the data; the divisor of averages may count padding, but
// never what lies behind it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "mxnet/base.h"
#include "operator/nn/pooling/pooling_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using nn::PoolDims;

struct Window {
  int64_t begin[3], end[3];
  int64_t divisor, outer;  // of averages: elements that count; the same in the dimensions before the last alone
};

inline Window WindowAt(const PoolDims& d, int64_t od, int64_t oh, int64_t ow) {
  const int64_t o[3] = {od, oh, ow};
  Window w;
  int64_t padded = 1, real = 1;
  for (int i = 0; i < 3; ++i) {
    const int64_t start = o[i] * d.stride[i] - d.pad[i], stop = std::min(start + d.kernel[i], d.in[i] + d.pad[i]);
    w.begin[i] = std::max<int64_t>(start, 0);
    w.end[i] = std::max(std::min(stop, d.in[i]), w.begin[i]);
    padded *= stop - start;
    real *= w.end[i] - w.begin[i];
    if (i == 1) w.outer = d.include_pad ? padded : real;
  }
  w.divisor = std::max<int64_t>(1, d.include_pad ? padded : real);
  return w;
}

template <typename T>
inline T Power(T v, int p) {  // |v|^p
  v = v < T(0) ? -v : v;
  if (p == 2) return v * v;
  T r = T(1);
  for (int i = 0; i < p; ++i) r *= v;
  return r;
}
template <typename T>
inline T Root(T v, int p) {
  return p == 1 ? v : p == 2 ? std::sqrt(v) : std::pow(v, T(1) / static_cast<T>(p));
}

template <typename T>
inline T Lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

template <int kType, typename V>
inline void Join(V& a, const V& b) {  // b into a; values or vectors, which GCC warns of where a function returns them
  if constexpr (kType == nn::kPoolMax)
    a = b > a ? b : a;
  else
    a = a + b;
}
template <typename T, int kType>
inline T Identity() {
  return kType == nn::kPoolMax ? Lowest<T>() : T(0);
}

template <typename T, int kType>
void WindowsForward(const PoolDims& d, const T* in, T* out) {  // one plane, window by window
  for (int64_t od = 0; od < d.out[0]; ++od)
    for (int64_t oh = 0; oh < d.out[1]; ++oh)
      for (int64_t ow = 0; ow < d.out[2]; ++ow) {
        const Window w = WindowAt(d, od, oh, ow);
        T r = Identity<T, kType>();
        for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
          for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih) {
            const T* row = in + (id * d.in[1] + ih) * d.in[2];
            for (int64_t iw = w.begin[2]; iw < w.end[2]; ++iw) Join<kType, T>(r, kType == nn::kPoolLp ? Power(row[iw], d.p) : row[iw]);
          }
        if (kType == nn::kPoolAvg) r /= static_cast<T>(w.divisor);
        if (kType == nn::kPoolLp) r = static_cast<T>(Root(static_cast<double>(r), d.p));
        *out++ = r;
      }
}

// out[i] = line[i * stride] joined with the kernel - 1 elements behind it.
template <typename T, int kType, int kStride>
void Across(const T* line, int64_t kernel, int64_t stride, int64_t n, T* out) {
  const int64_t step = kStride ? kStride : stride, second = std::min<int64_t>(1, kernel - 1);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    T both = line[i * step];
    if (second) Join<kType, T>(both, line[i * step + 1]);
    out[i] = both;
  }
  for (int64_t k = 2; k < kernel; ++k)
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) Join<kType, T>(out[i], line[i * step + k]);
}

// One plane in two steps: the rows of the windows are joined into one line (with padding at both
// ends), and that across the columns.
constexpr int64_t kLine = 4096;
template <typename T, int kType>
void LinesForward(const PoolDims& d, const int* columns, const T* in, T* out) {  // columns: that count for the divisor, by ow
  T line[kLine];
  const int64_t width = d.in[2], size = std::max(d.pad[2] + width, (d.out[2] - 1) * d.stride[2] + d.kernel[2]);
  std::fill(line, line + size, Identity<T, kType>());
  T divisors[kType == nn::kPoolAvg ? kLine : 1];
  int64_t rows = -1;  // that the divisors are for
  for (int64_t od = 0; od < d.out[0]; ++od)
    for (int64_t oh = 0; oh < d.out[1]; ++oh, out += d.out[2]) {
      const Window w = WindowAt(d, od, oh, 0);
      T* middle = line + d.pad[2];
      std::fill(middle, middle + width, Identity<T, kType>());
      for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
        for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih) {
          const T* row = in + (id * d.in[1] + ih) * width;
#pragma omp simd
          for (int64_t i = 0; i < width; ++i) Join<kType, T>(middle[i], row[i]);
        }
      if (d.stride[2] == 1)
        Across<T, kType, 1>(line, d.kernel[2], 1, d.out[2], out);
      else if (d.stride[2] == 2)
        Across<T, kType, 2>(line, d.kernel[2], 2, d.out[2], out);
      else
        Across<T, kType, 0>(line, d.kernel[2], d.stride[2], d.out[2], out);
      if constexpr (kType == nn::kPoolAvg) {
        if (w.outer != rows)
          for (int64_t ow = 0; ow < d.out[2]; ++ow) divisors[ow] = static_cast<T>(std::max<int64_t>(1, w.outer * columns[ow]));
        rows = w.outer;
#pragma omp simd
        for (int64_t ow = 0; ow < d.out[2]; ++ow) out[ow] /= divisors[ow];
      }
    }
}

template <typename T, int kType>
T Whole(const T* in, int64_t n) {
  T r = Identity<T, kType>();
  if constexpr (kType == nn::kPoolMax) {
#pragma omp simd reduction(max : r)
    for (int64_t i = 0; i < n; ++i) r = in[i] > r ? in[i] : r;
  } else {
#pragma omp simd reduction(+ : r)
    for (int64_t i = 0; i < n; ++i) r += in[i];
    if (kType == nn::kPoolAvg) r /= static_cast<T>(n);
  }
  return r;
}

// Of each window, the columns that count for the divisor of averages.
void CountColumns(const PoolDims& d, int* columns) {
  for (int64_t ow = 0; ow < d.out[2]; ++ow) {
    const int64_t start = ow * d.stride[2] - d.pad[2], stop = std::min(start + d.kernel[2], d.in[2] + d.pad[2]);
    columns[ow] =
        static_cast<int>(d.include_pad ? stop - start : std::max<int64_t>(0, std::min(stop, d.in[2]) - std::max<int64_t>(start, 0)));
  }
}

bool FitsLine(const PoolDims& d) { return std::max(d.pad[2] + d.in[2], (d.out[2] - 1) * d.stride[2] + d.kernel[2]) <= kLine; }

template <typename T, int kType>
void PlanesForward(const PoolDims& d, const T* x, T* y, int64_t begin, int64_t end) {
  const bool whole = d.OutSize() == 1 && std::equal(d.kernel, d.kernel + 3, d.in) && d.pad[0] + d.pad[1] + d.pad[2] == 0;
  const bool lines = FitsLine(d);
  int columns[kLine];
  if (lines && kType == nn::kPoolAvg) CountColumns(d, columns);
  for (int64_t plane = begin; plane < end; ++plane) {
    const T* in = x + plane * d.InSize();
    T* out = y + plane * d.OutSize();
    if constexpr (kType != nn::kPoolLp) {
      if (whole) {
        *out = Whole<T, kType>(in, d.InSize());
        continue;
      }
      if (lines) {
        LinesForward<T, kType>(d, columns, in, out);
        continue;
      }
    }
    WindowsForward<T, kType>(d, in, out);
  }
}

// kVectors vectors of channels of one window, in registers.
template <typename T, int kType, int kVectors, int kBytes = 32>
inline void ChannelsForward(const PoolDims& d, const Window& w, const T* image, T* out) {
  typedef T V __attribute__((vector_size(kBytes)));
  constexpr int kLanes = kBytes / sizeof(T);
  V acc[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) acc[v] = V{} + Identity<T, kType>();
  for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
    for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih) {
      const T* in = image + ((id * d.in[1] + ih) * d.in[2] + w.begin[2]) * d.channels;
      for (int64_t iw = w.begin[2]; iw < w.end[2]; ++iw, in += d.channels)
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
          V x;
          std::memcpy(&x, in + v * kLanes, sizeof x);
          Join<kType, V>(acc[v], x);
        }
    }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    if (kType == nn::kPoolAvg) acc[v] /= V{} + static_cast<T>(w.divisor);
    std::memcpy(out + v * kLanes, &acc[v], sizeof acc[v]);
  }
}

// kVectors vectors of kBytes of bfloat16 channels of one window: the elements at even and at odd
// places become vectors of float32 of their own.
template <int kType, int kBytes, int kVectors>
void BfloatChannels(const PoolDims& d, const Window& w, const bfloat16* image, bfloat16* out) {
  typedef float V __attribute__((vector_size(kBytes)));
  typedef uint32_t Bits __attribute__((vector_size(kBytes)));
  constexpr uint32_t kUpper = 0xffff0000u;
  V even[kVectors], odd[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) even[v] = odd[v] = V{} + Identity<float, kType>();
  for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
    for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih) {
      const bfloat16* in = image + ((id * d.in[1] + ih) * d.in[2] + w.begin[2]) * d.channels;
      for (int64_t iw = w.begin[2]; iw < w.end[2]; ++iw, in += d.channels)
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
          Bits x;
          std::memcpy(&x, in + v * (kBytes / 2), sizeof x);
          const V e = (V)(x << 16), o = (V)(x & kUpper);  // NOLINT: bits
          even[v] = kType == nn::kPoolMax ? (e > even[v] ? e : even[v]) : e + even[v];
          odd[v] = kType == nn::kPoolMax ? (o > odd[v] ? o : odd[v]) : o + odd[v];
        }
    }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    if (kType == nn::kPoolAvg) even[v] /= V{} + static_cast<float>(w.divisor), odd[v] /= V{} + static_cast<float>(w.divisor);
    // as FloatToBfloatBits, in the upper half
    const Bits e = (Bits)even[v], o = (Bits)odd[v];  // NOLINT: bits
    const Bits low = (Bits)(even[v] == even[v] ? e + 0x7fff + (e >> 16 & 1) : e | 0x400000),
               high = (Bits)(odd[v] == odd[v] ? o + 0x7fff + (o >> 16 & 1) : o | 0x400000);  // NOLINT
    const Bits x = low >> 16 | (high & kUpper);
    std::memcpy(out + v * (kBytes / 2), &x, sizeof x);
  }
}

// bfloat16, channels last, in whole vectors of channels: sums in float32.
template <int kType>
void BfloatRows(const PoolDims& d, const bfloat16* x, bfloat16* y, int64_t begin, int64_t end) {
  const int64_t c = d.channels;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t oh = row % d.out[1], od = row / d.out[1] % d.out[0], n = row / d.out[1] / d.out[0];
    const bfloat16* image = x + n * d.InSize() * c;
    for (int64_t ow = 0; ow < d.out[2]; ++ow) {
      bfloat16* out = y + (row * d.out[2] + ow) * c;
      const Window w = WindowAt(d, od, oh, ow);
      int64_t from = 0;
#ifdef __AVX512F__
      constexpr int kBytes = 64;
#else
      constexpr int kBytes = 32;
#endif
      for (; from + 2 * kBytes <= c; from += 2 * kBytes) BfloatChannels<kType, kBytes, 4>(d, w, image + from, out + from);
      for (; from + 32 <= c; from += 32) BfloatChannels<kType, kBytes, 64 / kBytes>(d, w, image + from, out + from);
      for (; from < c; from += 8) BfloatChannels<kType, 16, 1>(d, w, image + from, out + from);
    }
  }
}

template <typename T, int kType>
void RowsForward(const PoolDims& d, const T* x, T* y, int64_t begin, int64_t end) {
  const int64_t c = d.channels;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t oh = row % d.out[1], od = row / d.out[1] % d.out[0], n = row / d.out[1] / d.out[0];
    const T* image = x + n * d.InSize() * c;
    for (int64_t ow = 0; ow < d.out[2]; ++ow) {
      T* out = y + (row * d.out[2] + ow) * c;
      const Window w = WindowAt(d, od, oh, ow);
      int64_t from = 0;
      if constexpr (kType != nn::kPoolLp) {
        constexpr int64_t kLanes = 32 / sizeof(T);
        // Large windows are better read in the order of memory, below.
        if ((w.end[0] - w.begin[0]) * (w.end[1] - w.begin[1]) * (w.end[2] - w.begin[2]) <= 25) {
          for (; from + 8 * kLanes <= c; from += 8 * kLanes) ChannelsForward<T, kType, 8>(d, w, image + from, out + from);
          for (; from + kLanes <= c; from += kLanes) ChannelsForward<T, kType, 1>(d, w, image + from, out + from);
          // The rest, by vectors that end with the channels; narrow ones, where these fill none.
          if (from < c && c > kLanes) ChannelsForward<T, kType, 1>(d, w, image + c - kLanes, out + c - kLanes), from = c;
          for (; from + kLanes / 2 <= c; from += kLanes / 2) ChannelsForward<T, kType, 1, 16>(d, w, image + from, out + from);
          if (from < c && from > 0) ChannelsForward<T, kType, 1, 16>(d, w, image + c - kLanes / 2, out + c - kLanes / 2), from = c;
          for (; from < c; ++from) ChannelsForward<T, kType, 1, sizeof(T)>(d, w, image + from, out + from);
        }
      }
      if (from == c) continue;
      std::fill(out + from, out + c, Identity<T, kType>());
      for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
        for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih)
          for (int64_t iw = w.begin[2]; iw < w.end[2]; ++iw) {
            const T* in = image + ((id * d.in[1] + ih) * d.in[2] + iw) * c;
#pragma omp simd
            for (int64_t j = from; j < c; ++j) Join<kType, T>(out[j], kType == nn::kPoolLp ? Power(in[j], d.p) : in[j]);
          }
      if (kType == nn::kPoolAvg)
        for (int64_t j = from; j < c; ++j) out[j] /= static_cast<T>(w.divisor);
      if (kType == nn::kPoolLp)
        for (int64_t j = from; j < c; ++j) out[j] = static_cast<T>(Root(static_cast<double>(out[j]), d.p));
    }
  }
}

template <typename T>
inline T LpSlope(T x, T y, int p) {  // d y / d x with y = (sum |x|^p)^(1/p)
  if (y == T(0)) return T(0);
  const T ratio = Power(x / y, p - 1);
  return x < T(0) ? -ratio : ratio;
}

template <typename T>
inline void FirstMaximum(const PoolDims& d, const Window& w, const T* x, T top, T g, T* dx, int64_t step) {
  for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
    for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih) {
      const int64_t row = (id * d.in[1] + ih) * d.in[2];
      for (int64_t iw = w.begin[2]; iw < w.end[2]; ++iw)
        if (x[(row + iw) * step] == top) {
          dx[(row + iw) * step] += g;
          return;
        }
    }
}

// dx of one plane, for sums and averages: what a row of windows gives is made once, in `line`, and
// added to the rows that those windows have.
template <typename T, int kStride>
void LinesBackward(const PoolDims& d, const int* columns, const T* g, T* dx) {
  T line[kLine];
  const int64_t step = kStride ? kStride : d.stride[2], width = d.in[2], n = d.out[2];
  const int64_t size = std::max(d.pad[2] + width, (n - 1) * step + d.kernel[2]);
  std::fill(dx, dx + d.InSize(), T(0));
  for (int64_t od = 0; od < d.out[0]; ++od)
    for (int64_t oh = 0; oh < d.out[1]; ++oh, g += n) {
      const Window w = WindowAt(d, od, oh, 0);
      T share[kLine];
      if (d.type == nn::kPoolAvg)
        for (int64_t ow = 0; ow < n; ++ow) share[ow] = g[ow] * (T(1) / static_cast<T>(std::max<int64_t>(1, w.outer * columns[ow])));
      else
        std::copy(g, g + n, share);
      std::fill(line, line + size, T(0));
      for (int64_t k = 0; k < d.kernel[2]; ++k)
#pragma GCC ivdep
        for (int64_t ow = 0; ow < n; ++ow) line[ow * step + k] += share[ow];
      for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
        for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih) {
          T* row = dx + (id * d.in[1] + ih) * width;
#pragma omp simd
          for (int64_t i = 0; i < width; ++i) row[i] += line[d.pad[2] + i];
        }
    }
}

// LinesOfMaxima of a row of windows with two elements each, side by side, for the `n` whole ones.
template <typename T>
void PairsOfMaxima(const T* __restrict x, const T* __restrict y, T* __restrict left, T* __restrict dx, int64_t n) {
#pragma GCC ivdep
  for (int64_t ow = 0; ow < n; ++ow) {
    const T top = y[ow], all = left[ow];
    const bool first = x[2 * ow] == top, second = x[2 * ow + 1] == top;
    const T rest = first ? T(0) : all;
    dx[2 * ow] += first ? all : T(0);
    dx[2 * ow + 1] += second ? rest : T(0);
    left[ow] = second ? T(0) : rest;
  }
}

// The same for maxima: element k of all windows of a row at a time, without branches. left[ow] is
// 0 once the first element that holds the maximum was found.
template <typename T, int kStride>
void LinesOfMaxima(const PoolDims& d, const T* g, const T* x, const T* y, T* dx) {
  T left[kLine];
  const int64_t step = kStride ? kStride : d.stride[2], width = d.in[2], n = d.out[2];
  const bool pairs = kStride == 2 && d.kernel[2] == 2 && d.pad[2] == 0;
  std::fill(dx, dx + d.InSize(), T(0));
  for (int64_t od = 0; od < d.out[0]; ++od)
    for (int64_t oh = 0; oh < d.out[1]; ++oh, g += n, y += n) {
      const Window w = WindowAt(d, od, oh, 0);
      std::copy(g, g + n, left);
      for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
        for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih) {
          const int64_t at = (id * d.in[1] + ih) * width, done = pairs ? std::min(n, width / 2) : 0;
          PairsOfMaxima(x + at, y, left, dx + at, done);
          for (int64_t k = 0; k < d.kernel[2] && done < n; ++k) {
            const int64_t shift = k - d.pad[2];  // the column of window 0
            const int64_t from = std::max(done, shift < 0 ? (-shift + step - 1) / step : 0),
                          to = std::min(n, (width - shift + step - 1) / step);
            const T* in = x + at + shift;
            T* out = dx + at + shift;
#pragma GCC ivdep
            for (int64_t ow = from; ow < to; ++ow) {
              const bool top = in[ow * step] == y[ow];
              out[ow * step] += top ? left[ow] : T(0);
              left[ow] = top ? T(0) : left[ow];
            }
          }
        }
    }
}

template <typename T, int kStride>
void LineByLine(const PoolDims& d, const int* columns, const T* og, const T* x, const T* y, T* dx) {
  if (d.type == nn::kPoolMax)
    LinesOfMaxima<T, kStride>(d, og, x, y, dx);
  else
    LinesBackward<T, kStride>(d, columns, og, dx);
}

// Items are planes of one channel; element e of the plane is at [e * step].
template <typename T>
void OnePlaneBackward(const PoolDims& d, const T* og, const T* x, const T* y, T* dx, int64_t step, int64_t width) {
  for (int64_t i = 0; i < d.InSize(); ++i) std::fill(dx + i * step, dx + i * step + width, T(0));
  int64_t o = 0;
  for (int64_t od = 0; od < d.out[0]; ++od)
    for (int64_t oh = 0; oh < d.out[1]; ++oh)
      for (int64_t ow = 0; ow < d.out[2]; ++ow, ++o) {
        const Window w = WindowAt(d, od, oh, ow);
        const T* g = og + o * step;
        auto each = [&](auto&& f) {
          for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
            for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih)
              for (int64_t iw = w.begin[2]; iw < w.end[2]; ++iw) f(((id * d.in[1] + ih) * d.in[2] + iw) * step);
        };
        if (d.type == nn::kPoolMax) {  // the first element that holds the maximum
          const T* top = y + o * step;
          if (width == 1) {
            FirstMaximum(d, w, x, *top, *g, dx, step);
            continue;
          }
          T pending[kPoolChannelBlock];
          std::fill(pending, pending + width, T(1));
          each([&](int64_t at) {
#pragma omp simd
            for (int64_t j = 0; j < width; ++j) {
              const T found = x[at + j] == top[j] ? pending[j] : T(0);
              dx[at + j] += found != T(0) ? g[j] : T(0);
              pending[j] -= found;
            }
          });
        } else if (d.type == nn::kPoolLp) {
          const T* norm = y + o * step;
          each([&](int64_t at) {
            for (int64_t j = 0; j < width; ++j) dx[at + j] += g[j] * LpSlope(x[at + j], norm[j], d.p);
          });
        } else {
          const T scale = d.type == nn::kPoolAvg ? T(1) / static_cast<T>(w.divisor) : T(1);
          each([&](int64_t at) {
            for (int64_t j = 0; j < width; ++j) dx[at + j] += g[j] * scale;
          });
        }
      }
}

// Planes as above. The places of maxima are those that OnePlaneBackward finds.
template <typename T>
void OnePlaneGather(const PoolDims& d, const T* u, const T* x, const T* y, T* out, int64_t step, int64_t width) {
  int64_t o = 0;
  for (int64_t od = 0; od < d.out[0]; ++od)
    for (int64_t oh = 0; oh < d.out[1]; ++oh)
      for (int64_t ow = 0; ow < d.out[2]; ++ow, ++o) {
        const Window w = WindowAt(d, od, oh, ow);
        const T* result = y + o * step;
        T sum[kPoolChannelBlock], pending[kPoolChannelBlock];
        std::fill(sum, sum + width, T(0));
        std::fill(pending, pending + width, T(1));
        for (int64_t id = w.begin[0]; id < w.end[0]; ++id)
          for (int64_t ih = w.begin[1]; ih < w.end[1]; ++ih)
            for (int64_t iw = w.begin[2]; iw < w.end[2]; ++iw) {
              const int64_t at = ((id * d.in[1] + ih) * d.in[2] + iw) * step;
              if (d.type == nn::kPoolLp) {
                for (int64_t j = 0; j < width; ++j) sum[j] += u[at + j] * LpSlope(x[at + j], result[j], d.p);
                continue;
              }
#pragma omp simd
              for (int64_t j = 0; j < width; ++j) {
                const T found = x[at + j] == result[j] ? pending[j] : T(0);
                sum[j] = found != T(0) ? u[at + j] : sum[j];
                pending[j] -= found;
              }
            }
        std::copy(sum, sum + width, out + o * step);
      }
}

// f(place of the first image element, place of the first result, step, width) of every plane or
// block of channels.
template <typename F>
void EachPlane(const PoolDims& d, bool last, int64_t begin, int64_t end, F&& f) {
  const int64_t blocks = (d.channels + kPoolChannelBlock - 1) / kPoolChannelBlock;
  for (int64_t i = begin; i < end; ++i) {
    if (!last) {
      f(i * d.InSize(), i * d.OutSize(), int64_t{1}, int64_t{1});
      continue;
    }
    const int64_t n = i / blocks, c = i % blocks * kPoolChannelBlock, in = n * d.InSize() * d.channels + c,
                  out = n * d.OutSize() * d.channels + c;
    f(in, out, d.channels, std::min(kPoolChannelBlock, d.channels - c));
  }
}

template <typename T, int kType>
void Forward(const PoolDims& d, bool last, const void* x, void* y, int64_t begin, int64_t end) {
  if (last)
    RowsForward<T, kType>(d, static_cast<const T*>(x), static_cast<T*>(y), begin, end);
  else
    PlanesForward<T, kType>(d, static_cast<const T*>(x), static_cast<T*>(y), begin, end);
}

template <typename T>
void ForwardOf(const PoolDims& d, bool last, const void* x, void* y, int64_t begin, int64_t end) {
  switch (d.type) {
    case nn::kPoolMax: return Forward<T, nn::kPoolMax>(d, last, x, y, begin, end);
    case nn::kPoolAvg: return Forward<T, nn::kPoolAvg>(d, last, x, y, begin, end);
    case nn::kPoolSum: return Forward<T, nn::kPoolSum>(d, last, x, y, begin, end);
    default: return Forward<T, nn::kPoolLp>(d, last, x, y, begin, end);
  }
}

}  // namespace

void PoolForward(const nn::PoolDims& d, int dtype, bool last, const void* x, void* y, int64_t begin, int64_t end) {
  switch (dtype) {
    case kFloat32: return ForwardOf<float>(d, last, x, y, begin, end);
    case kFloat64: return ForwardOf<double>(d, last, x, y, begin, end);
    case kBfloat16: {
      const auto run = d.type == nn::kPoolMax   ? BfloatRows<nn::kPoolMax>
                       : d.type == nn::kPoolAvg ? BfloatRows<nn::kPoolAvg>
                                                : BfloatRows<nn::kPoolSum>;
      return run(d, static_cast<const bfloat16*>(x), static_cast<bfloat16*>(y), begin, end);
    }
    case kInt8: return Forward<int8_t, nn::kPoolMax>(d, last, x, y, begin, end);
    default: return Forward<uint8_t, nn::kPoolMax>(d, last, x, y, begin, end);
  }
}

void PoolBackward(const nn::PoolDims& d, int dtype, bool last, const void* og, const void* x, const void* y, void* dx, int64_t begin,
                  int64_t end) {
  int columns[kLine];
  const bool lines = !last && d.type != nn::kPoolLp && FitsLine(d);
  if (lines) CountColumns(d, columns);
  auto run = [&](auto tag) {
    using T = decltype(tag);
    const auto plane = d.stride[2] == 1 ? LineByLine<T, 1> : d.stride[2] == 2 ? LineByLine<T, 2> : LineByLine<T, 0>;
    EachPlane(d, last, begin, end, [&](int64_t in, int64_t out, int64_t step, int64_t width) {
      if (lines)
        return plane(d, columns, static_cast<const T*>(og) + out, static_cast<const T*>(x) + in, static_cast<const T*>(y) + out,
                     static_cast<T*>(dx) + in);
      OnePlaneBackward(d, static_cast<const T*>(og) + out, static_cast<const T*>(x) + in, static_cast<const T*>(y) + out,
                       static_cast<T*>(dx) + in, step, width);
    });
  };
  if (dtype == kFloat64)
    run(double{});
  else
    run(float{});
}

void PoolGather(const nn::PoolDims& d, int dtype, bool last, const void* u, const void* x, const void* y, void* out, int64_t begin,
                int64_t end) {
  auto run = [&](auto tag) {
    using T = decltype(tag);
    EachPlane(d, last, begin, end, [&](int64_t in, int64_t o, int64_t step, int64_t width) {
      OnePlaneGather(d, static_cast<const T*>(u) + in, static_cast<const T*>(x) + in, static_cast<const T*>(y) + o,
                     static_cast<T*>(out) + o, step, width);
    });
  };
  if (dtype == kFloat64)
    run(double{});
  else
    run(float{});
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
