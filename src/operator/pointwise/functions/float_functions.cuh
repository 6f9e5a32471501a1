/*
 * The vocabulary of the pointwise table on GPUs for float and double: what functions.h is for the
 * CPU. mx::T, the type of the program, is defined before. libdevice's functions are overloaded for
 * both types; a name found in namespace mx hides them, so they are called with `std::` or `::`.
 */
#include "rtc/prelude.cuh"
#include "rtc/std_math.cuh"

namespace mx {
#define MXNET_FN __device__ __forceinline__
#define MXNET_SLOW_FN inline __device__
#define MXNET_LIBM T
#define MXNET_VECTOR_MATH(name) std::name
MXNET_FN T exp(T x) { return ::exp(x); }
MXNET_FN T log(T x) { return ::log(x); }
MXNET_FN T sigmoid(T x) { return Reciprocal(T(1) + ::exp(-x)); }
MXNET_FN T normal_cdf(T x) { return T(0.5) * (T(1) + ::erf(x * T(0.70710678118654752))); }
MXNET_FN T erfinv(T x) { return ::erfinv(x); }
#include "operator/pointwise/functions/libm_functions.cuh"
// Behind libm's, whose power ldexp calls.
#include "operator/pointwise/functions/exact_functions.cuh"

// Rare functions, in double for both types.
#include "operator/pointwise/functions/gamma_recurrences.cuh"
MXNET_FN T digamma(T x) { return static_cast<T>(SlowDigamma(x)); }
MXNET_FN T trigamma(T x) { return static_cast<T>(SlowTrigamma(x)); }
MXNET_FN T tetragamma(T x) { return static_cast<T>(SlowTetragamma(x)); }
MXNET_FN T gamma(T x) {
  if constexpr (sizeof(T) == 8) {  // factorials are exact, as the C library has them: integers are made of such results
    if (x >= T(1) && x <= T(23) && x == ::floor(x)) {
      T product = T(1);
      for (T k = T(2); k < x; k += T(1)) product *= k;
      return product;
    }
  }
  return static_cast<T>(::tgamma(static_cast<double>(x)));
}
MXNET_FN T gammaln(T x) { return static_cast<T>(::lgamma(static_cast<double>(x))); }
#undef MXNET_VECTOR_MATH
#undef MXNET_LIBM
#undef MXNET_SLOW_FN
#undef MXNET_FN
}  // namespace mx

/*
 * In float where the result is rounded to 16 bits, with errors that those do not show: a quarter of
 * the instructions. On a Hopper GPU 25 for each element take as long as memory takes to bring and
 * to store it.
 */
namespace mx {
namespace rounded {
#define MX_FN __device__ __forceinline__ float
MX_FN exp(float x) { return ShortExp(x); }
MX_FN sigmoid(float x) { return Reciprocal(1.0f + ShortExp(-x)); }
MX_FN tanh(float x) {
  const float far = 1.0f - 2.0f * Reciprocal(1.0f + ShortExp(2.0f * x));  // loses digits near 0
  return ::fabs(x) < 0.03f ? x * (1.0f - x * x * 0.33333333f) : far;
}
// Abramowitz and Stegun 7.1.26, whose terms are those of the lower tail: nothing is lost there, as
// it is where erf is near -1
MX_FN normal_cdf(float x) {
  const float t = Reciprocal(1.0f + 0.23164190f * ::fabs(x));
  const float series = t * (0.127414796f + t * (-0.142248368f + t * (0.710706870f + t * (-0.726576013f + t * 0.530702714f))));
  const float tail = series * ShortExp(-0.5f * x * x);
  return x < 0.0f ? tail : 1.0f - tail;
}
#undef MX_FN
}  // namespace rounded
}  // namespace mx
