// Loops of BatchNorm, LayerNorm, GroupNorm and InstanceNorm.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "mxnet/base.h"
#include "operator/nn/norm/norm_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int64_t kBlock = 1024;  // elements summed in the data's type before going into a double
constexpr int64_t kRows = 32;     // rows, for sums by column

template <typename T>
void Moments(const T* x, int64_t n, T shift, double* sum, double* squares) {
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t e = std::min(n, b + kBlock);
    T s = 0, q = 0;
#pragma omp simd reduction(+ : s, q)
    for (int64_t i = b; i < e; ++i) {
      const T d = x[i] - shift;
      s += d;
      q += d * d;
    }
    *sum += s;
    *squares += q;
  }
}

template <bool kMask, typename T>
inline T Masked(T g, T x, T scale, T shift) {
  return !kMask || x * scale + shift > T(0) ? g : T(0);
}  // the expression of Scale: the same rounding

template <bool kMask, typename T>
void GradientSums(const T* g, const T* x, int64_t n, T mean, double* sum, double* product, T scale, T shift) {
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t e = std::min(n, b + kBlock);
    T s = 0, q = 0;
#pragma omp simd reduction(+ : s, q)
    for (int64_t i = b; i < e; ++i) {
      const T v = x[i], h = Masked<kMask>(g[i], v, scale, shift);
      s += h;
      q += h * (v - mean);
    }
    *sum += s;
    *product += q;
  }
}

template <bool kRelu, typename T>
void Scale(const T* x, T* y, int64_t n, T scale, T shift) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T v = x[i] * scale + shift;
    y[i] = kRelu && v < T(0) ? T(0) : v;  // keeps NaN
  }
}

template <typename T>
void ScaleCentred(const T* x, T* y, int64_t n, T mean, T scale, T shift) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale + shift;
}

template <typename T>
inline T Sum(T x, T scale, T shift, T addend) {
  const T v = x * scale + shift + addend;
  return v < T(0) ? T(0) : v;
}

template <bool kMask, typename T>
void Gradient(const T* g, const T* x, T* dx, int64_t n, T a, T b, T c, T scale, T shift) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T v = x[i];
    dx[i] = Masked<kMask>(g[i], v, scale, shift) * a + v * b + c;
  }
}

template <typename T>
void GradientCentred(const T* g, const T* x, T* dx, int64_t n, T mean, T a, T b, T c) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = g[i] * a + (x[i] - mean) * b + c;
}

template <bool kRelu, typename T>
void ScaleColumns(const T* x, T* y, int64_t rows, int64_t n, const T* s, const T* t) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const T v = x[j] * s[j] + t[j];
      y[j] = kRelu && v < T(0) ? T(0) : v;
    }
  }
}

template <typename T>
void ScaleCentredColumns(const T* x, T* y, int64_t rows, int64_t n, const T* mean, const T* s, const T* t) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean[j]) * s[j] + t[j];
  }
}

template <bool kMask, typename T>
void GradientColumns(const T* g, const T* x, T* dx, int64_t rows, int64_t n, const T* a, const T* b, const T* c, const T* scale,
                     const T* shift) {
  for (int64_t r = 0; r < rows; ++r, g += n, x += n, dx += n) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const T v = x[j];
      dx[j] = (kMask ? Masked<kMask>(g[j], v, scale[j], shift[j]) : g[j]) * a[j] + v * b[j] + c[j];
    }
  }
}

// Runs f(row, first, s, q) over blocks of rows and columns; s and q collect a block in the data's
// type.
template <typename T, typename F>
void ByColumns(int64_t rows, int64_t n, double* sum, double* squares, F&& f) {
  constexpr int64_t kWidth = 512;
  T s[kWidth], q[kWidth];
  for (int64_t c = 0; c < n; c += kWidth) {
    const int64_t width = std::min(kWidth, n - c);
    for (int64_t r = 0; r < rows; r += kRows) {
      std::fill(s, s + width, T(0));
      std::fill(q, q + width, T(0));
      for (int64_t i = r; i < std::min(rows, r + kRows); ++i) f(i, c, width, s, q);
      for (int64_t j = 0; j < width; ++j) {
        sum[c + j] += s[j];
        squares[c + j] += q[j];
      }
    }
  }
}

template <typename T>
void MomentsColumns(const T* x, int64_t rows, int64_t n, const double* shift, double* sum, double* squares) {
  std::vector<T> at(shift, shift + n);
  ByColumns<T>(rows, n, sum, squares, [&](int64_t row, int64_t c, int64_t width, T* s, T* q) {
    const T *in = x + row * n + c, *m = at.data() + c;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      const T d = in[j] - m[j];
      s[j] += d;
      q[j] += d * d;
    }
  });
}

template <bool kMask, typename T>
void GradientSumsColumns(const T* g, const T* x, int64_t rows, int64_t n, const double* mean, double* sum, double* product, const T* scale,
                         const T* shift) {
  std::vector<T> at(mean, mean + n);
  ByColumns<T>(rows, n, sum, product, [&](int64_t row, int64_t c, int64_t width, T* s, T* q) {
    const T *in = x + row * n + c, *gr = g + row * n + c, *m = at.data() + c, *sc = kMask ? scale + c : nullptr,
            *sh = kMask ? shift + c : nullptr;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      const T v = in[j], h = kMask ? Masked<kMask>(gr[j], v, sc[j], sh[j]) : gr[j];
      s[j] += h;
      q[j] += h * (v - m[j]);
    }
  });
}

// Eight lanes and the bits that stand for them.
template <typename T>
struct Eight;
template <>
struct Eight<float> {
  typedef int32_t Ints __attribute__((vector_size(32)));
  static constexpr Ints kBits = {1, 2, 4, 8, 16, 32, 64, 128};
};
template <>
struct Eight<double> {
  typedef int64_t Ints __attribute__((vector_size(64)));
  static constexpr Ints kBits = {1, 2, 4, 8, 16, 32, 64, 128};
};

template <typename T>
inline uint8_t PositiveBits(const T* y, int64_t n) {
  unsigned bits = 0;
  for (int64_t i = 0; i < n; ++i) bits |= static_cast<unsigned>(y[i] > T(0)) << i;
  return static_cast<uint8_t>(bits);
}

template <typename T>
inline void MarkPositive(const T* y, int64_t n, uint8_t* bits) {
  int64_t i = 0;
#if defined(__AVX__)
  if (sizeof(T) == 4)
    for (; i + 8 <= n; i += 8)
      *bits++ = static_cast<uint8_t>(
          _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(reinterpret_cast<const float*>(y + i)), _mm256_setzero_ps(), _CMP_GT_OQ)));
#endif
  for (; i + 8 <= n; i += 8) *bits++ = PositiveBits(y + i, 8);
  if (i < n) *bits = PositiveBits(y + i, n - i);
}

template <typename T>
inline void KeepMarked(const T* g, const uint8_t* bits, T* h, int64_t n) {
  using Ints = typename Eight<T>::Ints;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    Ints v;
    std::memcpy(&v, g + i, sizeof(v));
    v &= (Eight<T>::kBits & (Ints{} + *bits++)) != 0;
    std::memcpy(h + i, &v, sizeof(v));
  }
  for (int64_t k = 0; i + k < n; ++k) h[i + k] = *bits >> k & 1 ? g[i + k] : T(0);
}

// Rows of few elements, kLanes of them side by side: element j of row k is at j * kLanes + k.
template <typename T>
struct ShortRows {
  static constexpr int kLanes = 64 / sizeof(T);
  T x[kNormShortRow * kLanes];
  T mean[kLanes], inv_std[kLanes];

  static void Load(const T* from, int64_t n, int rows, T* to) {
    if (rows < kLanes) std::fill(to, to + n * kLanes, T(0));
    for (int k = 0; k < rows; ++k)
      for (int64_t j = 0; j < n; ++j) to[j * kLanes + k] = from[k * n + j];
  }
  static void Store(const T* from, int64_t n, int rows, T* to) {
    for (int k = 0; k < rows; ++k)
      for (int64_t j = 0; j < n; ++j) to[k * n + j] = from[j * kLanes + k];
  }

  void Moments(int64_t n, T eps) {
    T squares[kLanes] = {};
    std::fill(mean, mean + kLanes, T(0));
    for (int64_t j = 0; j < n; ++j)
#pragma omp simd
      for (int k = 0; k < kLanes; ++k) mean[k] += x[j * kLanes + k];
#pragma omp simd
    for (int k = 0; k < kLanes; ++k) mean[k] /= static_cast<T>(n);
    for (int64_t j = 0; j < n; ++j)
#pragma omp simd
      for (int k = 0; k < kLanes; ++k) {
        const T d = x[j * kLanes + k] - mean[k];
        squares[k] += d * d;
      }
#pragma omp simd
    for (int k = 0; k < kLanes; ++k) inv_std[k] = T(1) / std::sqrt(squares[k] / static_cast<T>(n) + eps);
  }

  void Scale(int64_t n, const T* gamma, const T* beta) {
    for (int64_t j = 0; j < n; ++j) {
      const T a = gamma[j], b = beta[j];
#pragma omp simd
      for (int k = 0; k < kLanes; ++k) x[j * kLanes + k] = (x[j * kLanes + k] - mean[k]) * inv_std[k] * a + b;
    }
  }

  // Replaces x by its gradient; `g` is laid out as x is. Lanes from `rows` on are not counted.
  void Gradient(const T* g, int64_t n, int rows, const T* gamma, double* gamma_sum, double* beta_sum) {
    T sum[kLanes] = {}, product[kLanes] = {};
    for (int64_t j = 0; j < n; ++j) {
      T *v = x + j * kLanes, a = gamma[j], columns = 0, products = 0;
      const T* h = g + j * kLanes;
#pragma omp simd reduction(+ : columns, products)
      for (int k = 0; k < kLanes; ++k) {
        v[k] = (v[k] - mean[k]) * inv_std[k];
        columns += k < rows ? h[k] : T(0);
        products += k < rows ? h[k] * v[k] : T(0);
        sum[k] += h[k] * a;
        product[k] += h[k] * a * v[k];
      }
      if (!gamma_sum) continue;
      beta_sum[j] += columns;
      gamma_sum[j] += products;
    }
    const T share = T(1) / static_cast<T>(n);
    for (int64_t j = 0; j < n; ++j) {
      T *v = x + j * kLanes, a = gamma[j];
      const T* h = g + j * kLanes;
#pragma omp simd
      for (int k = 0; k < kLanes; ++k) v[k] = inv_std[k] * (h[k] * a - (sum[k] + v[k] * product[k]) * share);
    }
  }
};

template <typename F>
inline void OfType(int dtype, F&& f) {
  if (dtype == kFloat64)
    f(double{});
  else
    f(float{});
}

}  // namespace

#define MXNET_T using T = decltype(tag)
#define MXNET_IN(p) static_cast<const T*>(p)
#define MXNET_OUT(p) static_cast<T*>(p)

void NormMoments(int dtype, const void* x, int64_t n, double shift, double* sum, double* squares) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    Moments(MXNET_IN(x), n, static_cast<T>(shift), sum, squares);
  });
}
void NormGradientSums(int dtype, const void* g, const void* x, int64_t n, double mean, double* sum, double* product, const NormMask* mask) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T m = static_cast<T>(mean);
    if (mask)
      GradientSums<true>(MXNET_IN(g), MXNET_IN(x), n, m, sum, product, static_cast<T>(mask->scale), static_cast<T>(mask->shift));
    else
      GradientSums<false>(MXNET_IN(g), MXNET_IN(x), n, m, sum, product, T(0), T(0));
  });
}
void NormScale(int dtype, const void* x, void* y, int64_t n, double scale, double shift, bool relu) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    (relu ? Scale<true, T> : Scale<false, T>)(MXNET_IN(x), MXNET_OUT(y), n, static_cast<T>(scale), static_cast<T>(shift));
  });
}
void NormScaleCentred(int dtype, const void* x, void* y, int64_t n, double mean, double scale, double shift) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    ScaleCentred(MXNET_IN(x), MXNET_OUT(y), n, static_cast<T>(mean), static_cast<T>(scale), static_cast<T>(shift));
  });
}
void NormGradient(int dtype, const void* g, const void* x, void* dx, int64_t n, double a, double b, double c, const NormMask* mask) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T scale = mask ? static_cast<T>(mask->scale) : T(0), shift = mask ? static_cast<T>(mask->shift) : T(0);
    (mask ? Gradient<true, T> : Gradient<false, T>)(MXNET_IN(g), MXNET_IN(x), MXNET_OUT(dx), n, static_cast<T>(a), static_cast<T>(b),
                                                    static_cast<T>(c), scale, shift);
  });
}
void NormGradientCentred(int dtype, const void* g, const void* x, void* dx, int64_t n, double mean, double a, double b, double c) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    GradientCentred(MXNET_IN(g), MXNET_IN(x), MXNET_OUT(dx), n, static_cast<T>(mean), static_cast<T>(a), static_cast<T>(b),
                    static_cast<T>(c));
  });
}
void NormMomentsColumns(int dtype, const void* x, int64_t rows, int64_t n, const double* shift, double* sum, double* squares) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    MomentsColumns(MXNET_IN(x), rows, n, shift, sum, squares);
  });
}
void NormGradientSumsColumns(int dtype, const void* g, const void* x, int64_t rows, int64_t n, const double* mean, double* sum,
                             double* product, const NormMaskColumns* mask) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    if (mask)
      GradientSumsColumns<true>(MXNET_IN(g), MXNET_IN(x), rows, n, mean, sum, product, MXNET_IN(mask->scale), MXNET_IN(mask->shift));
    else
      GradientSumsColumns<false, T>(MXNET_IN(g), MXNET_IN(x), rows, n, mean, sum, product, nullptr, nullptr);
  });
}
void NormScaleCentredColumns(int dtype, const void* x, void* y, int64_t rows, int64_t n, const void* mean, const void* scale,
                             const void* shift) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    ScaleCentredColumns(MXNET_IN(x), MXNET_OUT(y), rows, n, MXNET_IN(mean), MXNET_IN(scale), MXNET_IN(shift));
  });
}
void NormScaleColumns(int dtype, const void* x, void* y, int64_t rows, int64_t n, const void* scale, const void* shift, bool relu) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    (relu ? ScaleColumns<true, T> : ScaleColumns<false, T>)(MXNET_IN(x), MXNET_OUT(y), rows, n, MXNET_IN(scale), MXNET_IN(shift));
  });
}
void NormScaleAdd(int dtype, const void* xv, const void* av, void* yv, int64_t n, double scale, double shift, uint8_t* bits) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T *x = MXNET_IN(xv), *a = MXNET_IN(av), s = static_cast<T>(scale), t = static_cast<T>(shift);
    T* y = MXNET_OUT(yv);
    for (int64_t b = 0; b < n; b += kBlock) {
      const int64_t e = std::min(n, b + kBlock);
#pragma omp simd
      for (int64_t i = b; i < e; ++i) y[i] = Sum(x[i], s, t, a[i]);
      if (bits) MarkPositive(y + b, e - b, bits + b / 8);
    }
  });
}
void NormScaleAddColumns(int dtype, const void* xv, const void* av, void* yv, int64_t rows, int64_t n, const void* scale, const void* shift,
                         uint8_t* bits) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T *x = MXNET_IN(xv), *a = MXNET_IN(av), *s = MXNET_IN(scale), *t = MXNET_IN(shift);
    T* y = MXNET_OUT(yv);
    for (int64_t r = 0; r < rows; ++r, x += n, a += n, y += n) {
#pragma omp simd
      for (int64_t j = 0; j < n; ++j) y[j] = Sum(x[j], s[j], t[j], a[j]);
      if (bits) MarkPositive(y, n, bits + r * ((n + 7) / 8));
    }
  });
}
void NormKeepMarked(int dtype, const void* g, const uint8_t* bits, void* h, int64_t rows, int64_t n) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    for (int64_t r = 0; r < rows; ++r) KeepMarked(MXNET_IN(g) + r * n, bits + r * ((n + 7) / 8), MXNET_OUT(h) + r * n, n);
  });
}
void NormRow(int dtype, const void* xv, void* yv, int64_t n, double mean, double inv_std, const void* gamma, const void* beta) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T *x = MXNET_IN(xv), *ga = MXNET_IN(gamma), *be = MXNET_IN(beta);
    T* y = MXNET_OUT(yv);
    const T m = static_cast<T>(mean), s = static_cast<T>(inv_std);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m) * s * ga[i] + be[i];
  });
}

void NormShortRows(int dtype, const void* xv, void* yv, int64_t rows, int64_t n, double eps, const void* gamma, const void* beta,
                   void* meanv, void* deviationv) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T* x = MXNET_IN(xv);
    T *y = MXNET_OUT(yv), *mean = MXNET_OUT(meanv), *deviation = MXNET_OUT(deviationv);
    ShortRows<T> tile;
    for (int64_t r = 0; r < rows; r += tile.kLanes) {
      const int count = static_cast<int>(std::min<int64_t>(tile.kLanes, rows - r));
      tile.Load(x + r * n, n, count, tile.x);
      tile.Moments(n, static_cast<T>(eps));
      if (mean) std::copy(tile.mean, tile.mean + count, mean + r);
      for (int k = 0; deviation && k < count; ++k) deviation[r + k] = T(1) / tile.inv_std[k];
      if (!y) continue;
      tile.Scale(n, MXNET_IN(gamma), MXNET_IN(beta));
      tile.Store(tile.x, n, count, y + r * n);
    }
  });
}

void NormShortRowsGradient(int dtype, const void* gv, const void* xv, const void* gamma, void* dxv, int64_t rows, int64_t n, double eps,
                           double* gamma_sum, double* beta_sum) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T *g = MXNET_IN(gv), *x = MXNET_IN(xv);
    T *dx = MXNET_OUT(dxv), heads[kNormShortRow * ShortRows<T>::kLanes];
    ShortRows<T> tile;
    for (int64_t r = 0; r < rows; r += tile.kLanes) {
      const int count = static_cast<int>(std::min<int64_t>(tile.kLanes, rows - r));
      tile.Load(x + r * n, n, count, tile.x);
      tile.Load(g + r * n, n, count, heads);
      tile.Moments(n, static_cast<T>(eps));
      tile.Gradient(heads, n, count, MXNET_IN(gamma), gamma_sum, beta_sum);
      if (dx) tile.Store(tile.x, n, count, dx + r * n);
    }
  });
}

void NormRowGradient(int dtype, const void* gv, const void* xv, const void* gamma, void* dxv, int64_t n, double mean, double inv_std,
                     double* gamma_sum, double* beta_sum) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T *g = MXNET_IN(gv), *x = MXNET_IN(xv), *ga = MXNET_IN(gamma);
    const T m = static_cast<T>(mean), is = static_cast<T>(inv_std);
    if (gamma_sum) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) {
        beta_sum[i] += g[i];
        gamma_sum[i] += g[i] * (x[i] - m) * is;
      }
    }
    if (!dxv) return;
    double sum = 0, product = 0;
    for (int64_t b = 0; b < n; b += kBlock) {
      const int64_t e = std::min(n, b + kBlock);
      T s = 0, q = 0;
#pragma omp simd reduction(+ : s, q)
      for (int64_t i = b; i < e; ++i) {
        const T h = g[i] * ga[i];
        s += h;
        q += h * (x[i] - m);
      }
      sum += s;
      product += q;
    }
    T* dx = MXNET_OUT(dxv);
    const double count = static_cast<double>(n);
    const T slope = static_cast<T>(-inv_std * inv_std * inv_std * product / count), shift = static_cast<T>(-inv_std * sum / count);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dx[i] = g[i] * ga[i] * is + (x[i] - m) * slope + shift;
  });
}

void NormGradientColumns(int dtype, const void* g, const void* x, void* dx, int64_t rows, int64_t n, const void* a, const void* b,
                         const void* c, const NormMaskColumns* mask) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    (mask ? GradientColumns<true, T> : GradientColumns<false, T>)(MXNET_IN(g), MXNET_IN(x), MXNET_OUT(dx), rows, n, MXNET_IN(a),
                                                                  MXNET_IN(b), MXNET_IN(c), mask ? MXNET_IN(mask->scale) : nullptr,
                                                                  mask ? MXNET_IN(mask->shift) : nullptr);
  });
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
