// Inner loops of RNN.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "mxnet/base.h"
#include "operator/nn/rnn/rnn_kernels.h"
#include "operator/pointwise/functions/vector_libm.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
#include "operator/pointwise/functions/functions.h"

using nn::CellClip;

template <typename T>
void Lstm(int64_t n, int64_t stride, const CellClip& clip, T* gates, T* cell, T* kept, T* hidden) {
  T *gi = gates, *gf = gates + stride, *gg = gates + 2 * stride, *go = gates + 3 * stride;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    gi[j] = sigmoid(gi[j]);
    gf[j] = sigmoid(gf[j]);
    gg[j] = tanh(gg[j]);
    go[j] = sigmoid(go[j]);
    cell[j] = gf[j] * cell[j] + gi[j] * gg[j];
  }
  if (clip.on) {
    const T low = static_cast<T>(clip.low), high = static_cast<T>(clip.high);
    for (int64_t j = 0; j < n; ++j) {
      if (clip.nan && cell[j] != cell[j]) cell[j] = high;
      cell[j] = cell[j] < low ? low : cell[j] > high ? high : cell[j];
    }
  }
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    kept[j] = cell[j];
    hidden[j] = go[j] * tanh(cell[j]);
  }
}

template <typename T>
void LstmGradient(int64_t n, const CellClip& clip, const T* gates, const T* kept, const T* before, const T* up, T* dcell, T* dgates) {
  const T *gi = gates, *gf = gates + n, *gg = gates + 2 * n, *go = gates + 3 * n;
  const T low = static_cast<T>(clip.low), high = static_cast<T>(clip.high);
  const bool on = clip.on;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T tc = tanh(kept[j]), raw = gf[j] * before[j] + gi[j] * gg[j];
    T dc = dcell[j] + up[j] * go[j] * (T(1) - tc * tc);
    dc = on && !(raw > low && raw < high) ? T(0) : dc;
    dgates[3 * n + j] = up[j] * tc * go[j] * (T(1) - go[j]);
    dgates[j] = dc * gg[j] * gi[j] * (T(1) - gi[j]);
    dgates[n + j] = dc * before[j] * gf[j] * (T(1) - gf[j]);
    dgates[2 * n + j] = dc * gi[j] * (T(1) - gg[j] * gg[j]);
    dcell[j] = dc * gf[j];
  }
}

template <typename T>
void Gru(int64_t n, int64_t stride, T* gates, int64_t apart, const T* r, const T* before, T* kept, T* hidden) {
  T *gr = gates, *gz = gates + stride, *gn = gates + 2 * stride;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    gr[j] = sigmoid(gr[j] + r[j]);
    gz[j] = sigmoid(gz[j] + r[apart + j]);
    kept[j] = r[2 * apart + j];
    gn[j] = tanh(gn[j] + gr[j] * kept[j]);
    hidden[j] = (T(1) - gz[j]) * gn[j] + gz[j] * before[j];
  }
}

template <typename T>
void GruGradient(int64_t n, const T* gates, const T* kept, const T* before, const T* up, T* dgates, T* drecurrent, T* keep) {
  const T *gr = gates, *gz = gates + n, *gn = gates + 2 * n;
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    const T candidate = up[j] * (T(1) - gz[j]) * (T(1) - gn[j] * gn[j]);
    dgates[2 * n + j] = candidate;
    drecurrent[2 * n + j] = candidate * gr[j];
    dgates[j] = drecurrent[j] = candidate * kept[j] * gr[j] * (T(1) - gr[j]);
    dgates[n + j] = drecurrent[n + j] = up[j] * (before[j] - gn[j]) * gz[j] * (T(1) - gz[j]);
    keep[j] = up[j] * gz[j];
  }
}

template <typename T>
void Tanh(int64_t n, T* gates, T* hidden) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) hidden[j] = gates[j] = tanh(gates[j]);
}

template <typename T>
void Relu(int64_t n, T* gates, T* hidden) {
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) hidden[j] = gates[j] = gates[j] > T(0) ? gates[j] : T(0);
}

template <typename T>
void PlainGradient(int64_t n, bool relu, const T* gates, const T* up, T* dgates) {
  if (relu) {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) dgates[j] = gates[j] > T(0) ? up[j] : T(0);
  } else {
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) dgates[j] = up[j] * (T(1) - gates[j] * gates[j]);
  }
}

template <typename F>
inline void OfType(int dtype, F&& f) {
  if (dtype == kFloat64)
    f(double{});
  else
    f(float{});
}
template <typename T>
T* Out(void* p, T) {
  return static_cast<T*>(p);
}
template <typename T>
const T* In(const void* p, T) {
  return static_cast<const T*>(p);
}

}  // namespace

void LstmRow(int dtype, int64_t n, int64_t stride, const nn::CellClip& clip, void* gates, void* cell, void* kept, void* hidden) {
  OfType(dtype, [&](auto t) { Lstm(n, stride, clip, Out(gates, t), Out(cell, t), Out(kept, t), Out(hidden, t)); });
}
void LstmRowGradient(int dtype, int64_t n, const nn::CellClip& clip, const void* gates, const void* kept, const void* before,
                     const void* up, void* dcell, void* dgates) {
  OfType(dtype, [&](auto t) { LstmGradient(n, clip, In(gates, t), In(kept, t), In(before, t), In(up, t), Out(dcell, t), Out(dgates, t)); });
}
void GruRow(int dtype, int64_t n, int64_t stride, void* gates, int64_t recurrent_stride, const void* recurrent, const void* before,
            void* kept, void* hidden) {
  OfType(dtype,
         [&](auto t) { Gru(n, stride, Out(gates, t), recurrent_stride, In(recurrent, t), In(before, t), Out(kept, t), Out(hidden, t)); });
}
void AddToGates(int64_t n, int64_t gates, int64_t stride, float* to, int64_t sums_stride, const float* sums) {
  for (int64_t g = 0; g < gates; ++g, to += stride, sums += sums_stride)
    for (int64_t j = 0; j < n; ++j) to[j] += sums[j];
}
void GruRowGradient(int dtype, int64_t n, const void* gates, const void* kept, const void* before, const void* up, void* dgates,
                    void* drecurrent, void* keep) {
  OfType(dtype, [&](auto t) {
    GruGradient(n, In(gates, t), In(kept, t), In(before, t), In(up, t), Out(dgates, t), Out(drecurrent, t), Out(keep, t));
  });
}
void TanhRow(int dtype, int64_t n, void* gates, void* hidden) {
  OfType(dtype, [&](auto t) { Tanh(n, Out(gates, t), Out(hidden, t)); });
}
void ReluRow(int dtype, int64_t n, void* gates, void* hidden) {
  OfType(dtype, [&](auto t) { Relu(n, Out(gates, t), Out(hidden, t)); });
}
void PlainRowGradient(int dtype, int64_t n, bool relu, const void* gates, const void* up, void* dgates) {
  OfType(dtype, [&](auto t) { PlainGradient(n, relu, In(gates, t), In(up, t), Out(dgates, t)); });
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
