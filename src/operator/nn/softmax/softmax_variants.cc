// Softmax loops: maximum, sum of exponentials, scaling; rows when the axis is last, else blocks of
// neighbouring columns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mxnet/base.h"
#include "operator/nn/softmax/softmax_kernels.h"
#include "operator/pointwise/functions/vector_libm.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
#include "operator/pointwise/functions/functions.h"

using nn::SoftmaxCall;
constexpr int64_t kBlock = 256;

template <typename T>
constexpr T kLowest = -std::numeric_limits<T>::infinity();

/* exp(x), but 0 in place of a subnormal number: what a mask leaves of a weight would be one, and on
 * processors of Intel each product with one takes a hundred cycles, in the next operators as well.
 * PyTorch has 0 from there on, too. */
template <typename T>
inline T ExpOrZero(T x) {
  constexpr T kLeast = static_cast<T>(sizeof(T) == 4 ? -87.3365 : -708.396);  // the logarithm of the least normal number
  const T e = exp(x < kLeast ? kLeast : x);
  return x < kLeast ? T(0) : e;
}

// The elements of one contiguous row that count. They are scaled after the maximum was taken off:
// then numbers near the largest one (masks) do not become infinite.
template <typename T, typename Sum>
void Row(const T* x, T* y, int64_t n, T signed_scale, bool log_form) {
  const T sign = signed_scale < T(0) ? T(-1) : T(1), scale = signed_scale * sign;
  T top = kLowest<T>;
#pragma omp simd reduction(max : top)
  for (int64_t i = 0; i < n; ++i) top = x[i] * sign > top ? x[i] * sign : top;
  if (!(top > kLowest<T>)) top = T(0);  // all elements are -inf (or NaN): no inf - inf
  Sum sum = 0;
  if (log_form) {
    for (int64_t b = 0; b < n; b += kBlock) {
      const int64_t e = std::min(n, b + kBlock);
      T part = 0;
#pragma omp simd reduction(+ : part)
      for (int64_t i = b; i < e; ++i) part += ExpOrZero((x[i] * sign - top) * scale);
      sum += part;
    }
    const T shift = static_cast<T>(std::log(sum));
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] * sign - top) * scale - shift;
    return;
  }
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t e = std::min(n, b + kBlock);
    T part = 0;
#pragma omp simd reduction(+ : part)
    for (int64_t i = b; i < e; ++i) {
      y[i] = ExpOrZero((x[i] * sign - top) * scale);
      part += y[i];
    }
    sum += part;
  }
  const T factor = static_cast<T>(Sum(1) / sum);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] *= factor;
}

// Columns [0, width) of a slice, `stride` apart along the axis; width <= kBlock.
template <typename T, typename Sum, bool kAll, bool kLog>
void Columns(const SoftmaxCall& c, const T* x, T* y, int64_t width, const int64_t* lengths, const unsigned char* mask) {
  const T sign = c.scale < 0 ? T(-1) : T(1), scale = static_cast<T>(c.scale) * sign;
  T top[kBlock];
  Sum sum[kBlock];
  std::fill(top, top + width, kLowest<T>);
  std::fill(sum, sum + width, Sum(0));
  auto counts = [&](int64_t i, int64_t j) { return (!lengths || i < lengths[j]) && (!mask || mask[i * c.inner + j]); };
  for (int64_t i = 0; i < c.length; ++i) {
    const T* row = x + i * c.inner;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      const T v = row[j] * sign;
      top[j] = (kAll || counts(i, j)) && v > top[j] ? v : top[j];
    }
  }
  for (int64_t j = 0; j < width; ++j) top[j] = top[j] > kLowest<T> ? top[j] : T(0);
  for (int64_t i = 0; i < c.length; ++i) {
    const T* row = x + i * c.inner;
    T* out = y + i * c.inner;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      const T shifted = (row[j] * sign - top[j]) * scale;
      const T e = ExpOrZero(shifted);
      const bool in = kAll || counts(i, j);
      sum[j] += in ? e : T(0);
      out[j] = in ? (kLog ? shifted : e) : T(0);
    }
  }
  for (int64_t j = 0; j < width; ++j) {  // columns that are masked are 0, columns of -inf NaN
    const bool divide = kAll || sum[j] > Sum(0) || sum[j] != sum[j];
    sum[j] = kLog ? std::log(sum[j]) : divide ? Sum(1) / sum[j] : Sum(0);
  }
  for (int64_t i = 0; i < c.length; ++i) {
    T* out = y + i * c.inner;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      if (!kLog)
        out[j] = static_cast<T>(out[j] * sum[j]);
      else
        out[j] = kAll || counts(i, j) ? static_cast<T>(out[j] - sum[j]) : (mask ? kLowest<T> : T(0));
    }
  }
}

template <typename T, typename Sum>
auto ColumnsOf(const SoftmaxCall& c) {
  if (!c.lengths && !c.mask) return c.log ? Columns<T, Sum, true, true> : Columns<T, Sum, true, false>;
  return c.log ? Columns<T, Sum, false, true> : Columns<T, Sum, false, false>;
}

/* Rows too short for a loop over their elements to be worth vectors: 64 of them at a time become
 * columns. */
constexpr int64_t kShort = 24, kTile = 64;

bool Short(const SoftmaxCall& c, int64_t rows) { return c.inner == 1 && !c.mask && c.length <= kShort && rows >= 8; }

template <typename T>
void Transpose(const T* from, int64_t rows, int64_t columns, T* to) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < columns; ++i) to[i * rows + r] = from[r * columns + i];
}

template <typename T, typename Sum>
void ShortRows(const SoftmaxCall& call, const T* x, T* y, int64_t begin, int64_t end) {
  T tile[kShort * kTile];
  SoftmaxCall c = call;
  for (int64_t o = begin; o < end; o += kTile) {
    c.inner = std::min(kTile, end - o);
    Transpose(x + o * c.length, c.inner, c.length, tile);
    ColumnsOf<T, Sum>(c)(c, tile, tile, c.inner, c.lengths ? c.lengths + o : nullptr, nullptr);
    Transpose(tile, c.length, c.inner, y + o * c.length);
  }
}

template <typename T, typename Sum>
void Forward(const SoftmaxCall& c, const void* xv, void* yv, int64_t begin, int64_t end) {
  const T* x = static_cast<const T*>(xv);
  T* y = static_cast<T*>(yv);
  const int64_t slice = c.length * c.inner;
  if (Short(c, end - begin)) return ShortRows<T, Sum>(c, x, y, begin, end);
  for (int64_t o = begin; o < end; ++o) {
    if (c.inner == 1 && !c.mask) {
      const int64_t count = c.lengths ? std::max<int64_t>(0, std::min(c.lengths[o], c.length)) : c.length;
      Row<T, Sum>(x + o * slice, y + o * slice, count, static_cast<T>(c.scale), c.log);
      std::fill(y + o * slice + count, y + (o + 1) * slice, T(0));
      continue;
    }
    const auto columns = ColumnsOf<T, Sum>(c);
    for (int64_t j = c.first; j < c.Last(); j += kBlock)
      columns(c, x + o * slice + j, y + o * slice + j, std::min(kBlock, c.Last() - j), c.lengths ? c.lengths + o * c.inner + j : nullptr,
              c.mask ? c.mask + o * slice + j : nullptr);
  }
}

/* A row without a largest element is NaN. Where others take its place, behind a mask that hides all
 * of it, no gradient comes in, and none goes out: NaN * 0 would be NaN. */
template <typename T>
bool Unreached(const T* gradient, int64_t length, int64_t stride) {
  for (int64_t i = 0; i < length; ++i)
    if (gradient[i * stride] != T(0)) return false;
  return true;
}

template <typename T, typename Sum, bool kLog>
void BackwardColumns(const SoftmaxCall& c, const T* og, const T* y, T* dx, int64_t width) {
  const T scale = static_cast<T>(c.scale);
  Sum sum[kBlock];
  std::fill(sum, sum + width, Sum(0));
  for (int64_t i = 0; i < c.length; ++i) {
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) sum[j] += kLog ? og[i * c.inner + j] : og[i * c.inner + j] * y[i * c.inner + j];
  }
  bool unreached[kBlock];
  for (int64_t j = 0; j < width; ++j) unreached[j] = !kLog && std::isnan(sum[j]) && Unreached(og + j, c.length, c.inner);
  for (int64_t i = 0; i < c.length; ++i) {
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      const int64_t k = i * c.inner + j;
      const T s = static_cast<T>(sum[j]);
      dx[k] = scale * (kLog ? og[k] - exp(y[k]) * s : y[k] * (og[k] - s));
    }
  }
  for (int64_t j = 0; j < width; ++j)
    for (int64_t i = 0; unreached[j] && i < c.length; ++i) dx[i * c.inner + j] = T(0);
}

template <typename T, typename Sum>
void Backward(const SoftmaxCall& c, const void* ogv, const void* yv, void* dxv, int64_t begin, int64_t end);

template <typename T, typename Sum>
void ShortRowsBackward(const SoftmaxCall& call, const T* og, const T* y, T* dx, int64_t begin, int64_t end) {
  T tile[2][kShort * kTile];
  SoftmaxCall c = call;
  for (int64_t o = begin; o < end; o += kTile) {
    c.inner = std::min(kTile, end - o);
    Transpose(og + o * c.length, c.inner, c.length, tile[0]);
    Transpose(y + o * c.length, c.inner, c.length, tile[1]);
    Backward<T, Sum>(c, tile[0], tile[1], tile[0], 0, 1);
    Transpose(tile[0], c.length, c.inner, dx + o * c.length);
  }
}

template <typename T, typename Sum>
void Backward(const SoftmaxCall& c, const void* ogv, const void* yv, void* dxv, int64_t begin, int64_t end) {
  const T scale = static_cast<T>(c.scale);
  const int64_t slice = c.length * c.inner;
  if (Short(c, end - begin))
    return ShortRowsBackward<T, Sum>(c, static_cast<const T*>(ogv), static_cast<const T*>(yv), static_cast<T*>(dxv), begin, end);
  for (int64_t o = begin; o < end; ++o) {
    for (int64_t first = c.first; first < c.Last(); first += kBlock) {
      const int64_t width = std::min(kBlock, c.Last() - first), at = o * slice + first;
      const T *og = static_cast<const T*>(ogv) + at, *y = static_cast<const T*>(yv) + at;
      T* dx = static_cast<T*>(dxv) + at;
      if (c.inner == 1) {
        Sum sum = 0;
        for (int64_t b = 0; b < c.length; b += kBlock) {
          const int64_t e = std::min(c.length, b + kBlock);
          T part = 0;
          if (c.log) {
#pragma omp simd reduction(+ : part)
            for (int64_t i = b; i < e; ++i) part += og[i];
          } else {
#pragma omp simd reduction(+ : part)
            for (int64_t i = b; i < e; ++i) part += og[i] * y[i];
          }
          sum += part;
        }
        const T s = static_cast<T>(sum);
        if (!c.log && std::isnan(s) && Unreached(og, c.length, 1)) {
          std::fill(dx, dx + c.length, T(0));
          continue;
        }
        if (c.log) {
#pragma omp simd
          for (int64_t i = 0; i < c.length; ++i) dx[i] = scale * (og[i] - exp(y[i]) * s);
        } else {
#pragma omp simd
          for (int64_t i = 0; i < c.length; ++i) dx[i] = scale * y[i] * (og[i] - s);
        }
        continue;
      }
      c.log ? BackwardColumns<T, Sum, true>(c, og, y, dx, width) : BackwardColumns<T, Sum, false>(c, og, y, dx, width);
    }
  }
}

}  // namespace

void SoftmaxForward(const nn::SoftmaxCall& c, int dtype, const void* x, void* y, int64_t begin, int64_t end) {
  if (dtype == kFloat64)
    Forward<double, double>(c, x, y, begin, end);
  else if (c.safe)
    Forward<float, double>(c, x, y, begin, end);
  else
    Forward<float, float>(c, x, y, begin, end);
}

void SoftmaxBackward(const nn::SoftmaxCall& c, int dtype, const void* og, const void* y, void* dx, int64_t begin, int64_t end) {
  if (dtype == kFloat64)
    Backward<double, double>(c, og, y, dx, begin, end);
  else if (c.safe)
    Backward<float, double>(c, og, y, dx, begin, end);
  else
    Backward<float, float>(c, og, y, dx, begin, end);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
