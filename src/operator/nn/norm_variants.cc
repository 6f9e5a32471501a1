// Loops of BatchNorm, LayerNorm, GroupNorm and InstanceNorm.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "mxnet/base.h"
#include "operator/nn/norm_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int64_t kBlock = 1024;   // elements summed in the data's type before going into a double
constexpr int64_t kRows = 32;      // rows, for sums by column

template <typename T>
void Moments(const T* x, int64_t n, T shift, double* sum, double* squares) {
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t e = std::min(n, b + kBlock);
    T s = 0, q = 0;
#pragma omp simd reduction(+ : s, q)
    for (int64_t i = b; i < e; ++i) {
      const T d = x[i] - shift;
      s += x[i];
      q += d * d;
    }
    *sum += s;
    *squares += q;
  }
}

template <typename T>
void GradientSums(const T* g, const T* x, int64_t n, T mean, double* sum, double* product) {
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t e = std::min(n, b + kBlock);
    T s = 0, q = 0;
#pragma omp simd reduction(+ : s, q)
    for (int64_t i = b; i < e; ++i) {
      s += g[i];
      q += g[i] * (x[i] - mean);
    }
    *sum += s;
    *product += q;
  }
}

template <typename T>
void Scale(const T* x, T* y, int64_t n, T scale, T shift) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale + shift;
}

template <typename T>
void Gradient(const T* g, const T* x, T* dx, int64_t n, T a, T b, T c) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = g[i] * a + x[i] * b + c;
}

// Runs f(row, first, s, q) over blocks of rows and columns; s and q collect a block in the data's type.
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
      s[j] += in[j];
      q[j] += d * d;
    }
  });
}

template <typename T>
void GradientSumsColumns(const T* g, const T* x, int64_t rows, int64_t n, const double* mean, double* sum, double* product) {
  std::vector<T> at(mean, mean + n);
  ByColumns<T>(rows, n, sum, product, [&](int64_t row, int64_t c, int64_t width, T* s, T* q) {
    const T *in = x + row * n + c, *gr = g + row * n + c, *m = at.data() + c;
#pragma omp simd
    for (int64_t j = 0; j < width; ++j) {
      s[j] += gr[j];
      q[j] += gr[j] * (in[j] - m[j]);
    }
  });
}

template <typename F>
inline void OfType(int dtype, F&& f) {
  if (dtype == kFloat64) f(double{}); else f(float{});
}

}  // namespace

#define MXNET_T using T = decltype(tag)
#define MXNET_IN(p) static_cast<const T*>(p)
#define MXNET_OUT(p) static_cast<T*>(p)

void NormMoments(int dtype, const void* x, int64_t n, double shift, double* sum, double* squares) {
  OfType(dtype, [&](auto tag) { MXNET_T; Moments(MXNET_IN(x), n, static_cast<T>(shift), sum, squares); });
}
void NormGradientSums(int dtype, const void* g, const void* x, int64_t n, double mean, double* sum, double* product) {
  OfType(dtype, [&](auto tag) { MXNET_T; GradientSums(MXNET_IN(g), MXNET_IN(x), n, static_cast<T>(mean), sum, product); });
}
void NormScale(int dtype, const void* x, void* y, int64_t n, double scale, double shift) {
  OfType(dtype, [&](auto tag) { MXNET_T; Scale(MXNET_IN(x), MXNET_OUT(y), n, static_cast<T>(scale), static_cast<T>(shift)); });
}
void NormGradient(int dtype, const void* g, const void* x, void* dx, int64_t n, double a, double b, double c) {
  OfType(dtype, [&](auto tag) { MXNET_T; Gradient(MXNET_IN(g), MXNET_IN(x), MXNET_OUT(dx), n, static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)); });
}
void NormMomentsColumns(int dtype, const void* x, int64_t rows, int64_t n, const double* shift, double* sum, double* squares) {
  OfType(dtype, [&](auto tag) { MXNET_T; MomentsColumns(MXNET_IN(x), rows, n, shift, sum, squares); });
}
void NormGradientSumsColumns(int dtype, const void* g, const void* x, int64_t rows, int64_t n, const double* mean, double* sum, double* product) {
  OfType(dtype, [&](auto tag) { MXNET_T; GradientSumsColumns(MXNET_IN(g), MXNET_IN(x), rows, n, mean, sum, product); });
}
void NormScaleColumns(int dtype, const void* x, void* y, int64_t rows, int64_t n, const void* scale, const void* shift) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T *s = MXNET_IN(scale), *t = MXNET_IN(shift);
    for (int64_t r = 0; r < rows; ++r) {
      const T* in = MXNET_IN(x) + r * n;
      T* out = MXNET_OUT(y) + r * n;
#pragma omp simd
      for (int64_t j = 0; j < n; ++j) out[j] = in[j] * s[j] + t[j];
    }
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

void NormRowGradient(int dtype, const void* gv, const void* xv, const void* gamma, void* dxv, int64_t n, double mean, double inv_std, double* gamma_sum,
                     double* beta_sum) {
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

void NormGradientColumns(int dtype, const void* g, const void* x, void* dx, int64_t rows, int64_t n, const void* a, const void* b, const void* c) {
  OfType(dtype, [&](auto tag) {
    MXNET_T;
    const T *pa = MXNET_IN(a), *pb = MXNET_IN(b), *pc = MXNET_IN(c);
    for (int64_t r = 0; r < rows; ++r) {
      const T *gr = MXNET_IN(g) + r * n, *in = MXNET_IN(x) + r * n;
      T* out = MXNET_OUT(dx) + r * n;
#pragma omp simd
      for (int64_t j = 0; j < n; ++j) out[j] = gr[j] * pa[j] + in[j] * pb[j] + pc[j];
    }
  });
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
