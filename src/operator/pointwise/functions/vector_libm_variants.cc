// What the compiler calls for vectors of vector_libm.h's functions, by the names of the vector
// function ABI: with vectors of this level, also where it has fewer numbers.
#define MXNET_VECTOR_LIBM_BODIES
#include "operator/pointwise/functions/vector_libm.h"

#if defined(__x86_64__)

namespace {

#if defined(__AVX512F__)
constexpr int kLevel = 2, kLanes = 8;
#elif defined(__AVX2__)
constexpr int kLevel = 1, kLanes = 4;
#else
constexpr int kLevel = 0, kLanes = 2;
#endif

template <int lanes>
struct Vector {
  typedef double Type __attribute__((vector_size(lanes * sizeof(double))));
};
using Whole = Vector<kLanes>::Type;

/* Some of the library's vectors lose the sign of a zero, which all functions keep that are 0
 * there. */
constexpr bool ZeroStays(int which) {
  using namespace mxnet::pointwise;
  return which != kVector_cos && which != kVector_cosh && which != kVector_acos && which != kVector_acosh;
}

inline Whole CallWhole(int which, void* function, Whole x) {
  const Whole y = reinterpret_cast<Whole (*)(Whole)>(function)(x);
  return ZeroStays(which) ? (x == 0.0 ? x : y) : y;
}

template <int lanes>
inline typename Vector<lanes>::Type Call(int which, double (*one)(double), typename Vector<lanes>::Type x) {
  typename Vector<lanes>::Type y;
  void* const function = mxnet::pointwise::g_vector_libm[kLevel][which];
  if (!function) {
    for (int i = 0; i < lanes; ++i) y[i] = one(x[i]);
    return y;
  }
  Whole all;
  for (int i = 0; i < kLanes; ++i) all[i] = x[i < lanes ? i : 0];
  all = CallWhole(which, function, all);
  for (int i = 0; i < lanes; ++i) y[i] = all[i];
  return y;
}

}  // namespace

#define MXNET_PASTE_(a, b, c) a##b##_##c
#define MXNET_PASTE(a, b, c) MXNET_PASTE_(a, b, c)
#define MXNET_VECTORS(kind, lanes, name)                                                                            \
  Vector<lanes>::Type MXNET_PASTE(_ZGV##kind##N##lanes##v_mxnet_, MXNET_CPU_VARIANT, name)(Vector<lanes>::Type x) { \
    return Call<lanes>(mxnet::pointwise::kVector_##name, std::name, x);                                             \
  }
#define MXNET_SCALAR(name) \
  double MXNET_VECTOR_MATH(name)(double x) { return Call<1>(mxnet::pointwise::kVector_##name, std::name, Vector<1>::Type{x})[0]; }

extern "C" {
#define MXNET_ONE(name) MXNET_SCALAR(name) MXNET_VECTORS(b, 2, name)
MXNET_VECTOR_LIBM(MXNET_ONE)
#undef MXNET_ONE
#if defined(__AVX2__)
#define MXNET_ONE(name) MXNET_VECTORS(c, 4, name) MXNET_VECTORS(d, 4, name)
MXNET_VECTOR_LIBM(MXNET_ONE)
#undef MXNET_ONE
#endif
#if defined(__AVX512F__)
#define MXNET_ONE(name) MXNET_VECTORS(e, 8, name)
MXNET_VECTOR_LIBM(MXNET_ONE)
#undef MXNET_ONE
#endif
}

#endif
