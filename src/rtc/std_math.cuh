// What code that is compiled for the CPU too takes from the standard library. NVRTC has no headers;
// on the host the headers are there.
#ifndef MX_ON_HOST
typedef unsigned uint32_t;
typedef unsigned long long uint64_t;
namespace std {
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::exp;
using ::expm1;
using ::fabs;
using ::floor;
using ::fmod;
using ::hypot;
using ::isinf;
using ::lgamma;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::nan;
using ::nearbyint;
using ::pow;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::trunc;
template <typename T>
struct numeric_limits {
  static __device__ __forceinline__ T infinity() { return static_cast<T>(__int_as_float(0x7f800000)); }
  static __device__ __forceinline__ T quiet_NaN() { return static_cast<T>(__int_as_float(0x7fffffff)); }
};
}  // namespace std
#endif  // MX_ON_HOST
