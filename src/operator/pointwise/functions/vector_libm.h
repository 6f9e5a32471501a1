/*
 * Functions of doubles from the C library's vectors of them (libmvec of glibc 2.35 and newer,
 * errors below 4 ulp), which loops that the compiler vectorizes may call. Where that library is
 * not, and on other processors than x86, each number goes to libm.
 *
 * INVARIANT  an element's result does not depend on where it stands: loops of fewer numbers than a
 *            vector, and the rest behind the last one, use the same vectors.
 *
 * Left out are functions with exact results that users count on (log10(1000) is 3): logarithms of
 * other bases, roots, powers.
 */
#ifndef MXNET_OPERATOR_POINTWISE_FUNCTIONS_VECTOR_LIBM_H_
#define MXNET_OPERATOR_POINTWISE_FUNCTIONS_VECTOR_LIBM_H_

#include <cmath>

#define MXNET_VECTOR_LIBM(f) \
  f(log1p) f(expm1) f(sin) f(cos) f(tan) f(atan) f(asin) f(acos) f(sinh) f(cosh) f(tanh) f(asinh) f(acosh) f(atanh) f(erf)

namespace mxnet {
namespace pointwise {
enum VectorLibm {
#define MXNET_ONE(name) kVector_##name,
  MXNET_VECTOR_LIBM(MXNET_ONE)
#undef MXNET_ONE
      kVectorLibmCount
};
/* The library's functions of 2, 4 and 8 numbers; null: it has none. */
extern void* g_vector_libm[3][kVectorLibmCount];
}  // namespace pointwise
}  // namespace mxnet

#if defined(__x86_64__) && defined(MXNET_CPU_VARIANT)
#define MXNET_LIBM_JOIN_(level, name) mxnet_##level##_##name
#define MXNET_LIBM_JOIN(level, name) MXNET_LIBM_JOIN_(level, name)
#define MXNET_VECTOR_MATH(name) MXNET_LIBM_JOIN(MXNET_CPU_VARIANT, name)
#ifndef MXNET_VECTOR_LIBM_BODIES  // those follow without the attribute, which would make them anew
extern "C" {
#define MXNET_ONE(name) __attribute__((simd("notinbranch"), const, nothrow)) double MXNET_VECTOR_MATH(name)(double x);
MXNET_VECTOR_LIBM(MXNET_ONE)
#undef MXNET_ONE
}
#endif
#else
#define MXNET_VECTOR_MATH(name) std::name
#endif

#endif  // MXNET_OPERATOR_POINTWISE_FUNCTIONS_VECTOR_LIBM_H_
