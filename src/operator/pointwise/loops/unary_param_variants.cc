// Loops of MXNET_UNARY_PARAM: see table.h.
#include "operator/pointwise/loops/prelude.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {
using pointwise::Loop;
#include "operator/pointwise/functions/functions.h"
#include "operator/pointwise/loops/loop_templates.h"
#define MXNET_STRUCT(name, types, expression, uses, derivative) \
  struct F_##name {                                             \
    template <typename T>                                       \
    static MXNET_FN T f(T x, T p, T q, T r) {                   \
      return expression;                                        \
    }                                                           \
  };
#define MXNET_ENTRY(name, types, expression, uses, derivative) {LoopParam<F_##name, float>, LoopParam<F_##name, double>},
MXNET_UNARY_PARAM(MXNET_STRUCT)

// Where the bounds are in order, the larger and the smaller of two numbers are one instruction
// each, which give NaN where x is one.
template <typename T>
void Clip(const void* const* in, void* out, int64_t n) {
  const T* x = static_cast<const T*>(in[0]);
  const T p = *static_cast<const T*>(in[1]), q = *static_cast<const T*>(in[2]);
  T* y = static_cast<T*>(out);
  if (p <= q) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T least = p > x[i] ? p : x[i];
      y[i] = q < least ? q : least;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = F_clip::f(x[i], p, q, T(0));
  }
}
template <>
void LoopParam<F_clip, float>(const void* const* in, void* out, int64_t n, unsigned) {
  Clip<float>(in, out, n);
}
template <>
void LoopParam<F_clip, double>(const void* const* in, void* out, int64_t n, unsigned) {
  Clip<double>(in, out, n);
}

/*
 * x / (1 + 2^t) with t = -p x log2(e), at half the cost of `sigmoid`: activations of whole networks
 * go through it. The rounding of t makes results of large negative p x less exact, by |p x| units
 * in the last place at most; these are near 0.
 */
template <>
void LoopParam<F_silu, float>(const void* const* in, void* out, int64_t n, unsigned) {
  // Bounds that the compiler knew would become branches of their own, and then masks. 2^128 is
  // infinite.
  const volatile float bounds[] = {-126.5f, 128.0f};
  const float* x = static_cast<const float*>(in[0]);
  const float slope = *static_cast<const float*>(in[1]) * -1.44269504f, least = bounds[0], most = bounds[1];
  float* y = static_cast<float*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float t = x[i] * slope, above = least > t ? least : t, bounded = most < above ? most : above;
    const float shifted = bounded + 0x1.8p23f;  // low bits: nearest integer
    const float r = bounded - (shifted - 0x1.8p23f);
    float e = 0.0013264731f;
    e = e * r + 0.009671513f;
    e = e * r + 0.055507336f;
    e = e * r + 0.24022242f;
    e = e * r + 0.693147f;
    e = e * r + 1.0f;
    const float scale = BitCast<float>((BitCast<uint32_t>(shifted) << 23) + 0x3f800000u);
    y[i] = x[i] / (e * scale + 1.0f);
  }
}

constexpr Loop kLoops[][2] = {MXNET_UNARY_PARAM(MXNET_ENTRY)};

// derivatives: (gradient, x or y, p, q, r) would be five operands; parameters travel behind in[2]
template <class E, typename T>
void LoopGradientParam(const void* const* in, void* out, int64_t n, unsigned) {
  const T* g = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  const T* params = static_cast<const T*>(in[2]);
  const T p = params[0], q = params[1], r = params[2];
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = E::f(g[i], x[i], p, q, r);
}
#define MXNET_PG_STRUCT(name, types, expression, uses, derivative) MXNET_PG_STRUCT_##uses(name, derivative)
#define MXNET_PG_STRUCT_X(name, derivative)        \
  struct G_##name {                                \
    template <typename T>                          \
    static MXNET_FN T f(T g, T x, T p, T q, T r) { \
      return g * (derivative);                     \
    }                                              \
  };
#define MXNET_PG_STRUCT_Y(name, derivative)        \
  struct G_##name {                                \
    template <typename T>                          \
    static MXNET_FN T f(T g, T y, T p, T q, T r) { \
      return g * (derivative);                     \
    }                                              \
  };
#define MXNET_PG_STRUCT_C(name, derivative)   \
  struct G_##name {                           \
    template <typename T>                     \
    static MXNET_FN T f(T g, T p, T q, T r) { \
      return g * (derivative);                \
    }                                         \
  };
#define MXNET_PG_STRUCT_XG(name, derivative)       \
  struct G_##name {                                \
    template <typename T>                          \
    static MXNET_FN T f(T g, T x, T p, T q, T r) { \
      const T d = derivative;                      \
      return d == T(0) ? T(0) : g * d;             \
    }                                              \
  };
#define MXNET_PG_STRUCT_YG(name, derivative)       \
  struct G_##name {                                \
    template <typename T>                          \
    static MXNET_FN T f(T g, T y, T p, T q, T r) { \
      const T d = derivative;                      \
      return d == T(0) ? T(0) : g * d;             \
    }                                              \
  };
#define MXNET_PG_STRUCT_Z(name, derivative)
#define MXNET_PG_ENTRY(name, types, expression, uses, derivative) MXNET_PG_ENTRY_##uses(name)
#define MXNET_PG_ENTRY_X(name) {LoopGradientParam<G_##name, float>, LoopGradientParam<G_##name, double>},
#define MXNET_PG_ENTRY_Y(name) MXNET_PG_ENTRY_X(name)
#define MXNET_PG_ENTRY_XG(name) MXNET_PG_ENTRY_X(name)
#define MXNET_PG_ENTRY_YG(name) MXNET_PG_ENTRY_X(name)
#define MXNET_PG_ENTRY_C(name) {LoopParam<G_##name, float>, LoopParam<G_##name, double>},
#define MXNET_PG_ENTRY_Z(name) {nullptr, nullptr},
MXNET_UNARY_PARAM(MXNET_PG_STRUCT)
constexpr Loop kGradients[][2] = {MXNET_UNARY_PARAM(MXNET_PG_ENTRY)};
}  // namespace

Loop UnaryParamLoop(int index, int compute) { return kLoops[index][compute]; }
Loop UnaryParamGradient(int index, int compute) { return kGradients[index][compute]; }
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
