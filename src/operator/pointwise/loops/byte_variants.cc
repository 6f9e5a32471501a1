// Loops whose results are bytes: comparisons, and arithmetic of int8 and uint8, which wraps as that
// of wider integers does when its results are cut off.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mxnet/base.h"
#include "operator/pointwise/loops/byte_loops.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

using pointwise::Loop;

template <class E, typename T, typename Out>
void Pairs(const void* const* in, void* out, int64_t n, unsigned scalars) {
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  Out* y = static_cast<Out*>(out);
  if (scalars == 0) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(E::f(a[i], b[i]));
  } else if (scalars == 2) {
    const T s = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(E::f(a[i], s));
  } else {
    const T s = *a;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(E::f(s, b[i]));
  }
}

template <class E, typename T>
void Singles(const void* const* in, void* out, int64_t n, unsigned) {
  const T* x = static_cast<const T*>(in[0]);
  uint8_t* y = static_cast<uint8_t*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = E::f(x[i]);
}

#define MXNET_PAIR(name, expression) \
  struct name {                      \
    template <typename T>            \
    static inline auto f(T a, T b) { \
      return expression;             \
    }                                \
  };
MXNET_PAIR(Equal, a == b)
MXNET_PAIR(NotEqual, a != b)
MXNET_PAIR(Greater, a > b)
MXNET_PAIR(GreaterEqual, a >= b)
MXNET_PAIR(Add, a + b)
MXNET_PAIR(Sub, a - b)
MXNET_PAIR(Mul, a* b)
MXNET_PAIR(And, a& b)
MXNET_PAIR(Or, a | b)
MXNET_PAIR(Xor, a ^ b)
MXNET_PAIR(Most, a > b ? a : b)
MXNET_PAIR(Least, a < b ? a : b)
MXNET_PAIR(Lesser, a < b)
MXNET_PAIR(LesserEqual, a <= b)
#undef MXNET_PAIR

struct Not {
  static inline uint8_t f(uint8_t x) { return x ^ 1u; }
};
struct IsNan {
  template <typename T>
  static inline bool f(T x) {
    return x != x;
  }
};
struct IsInf {
  template <typename T>
  static inline bool f(T x) {
    return std::fabs(x) == std::numeric_limits<T>::infinity();
  }
};
struct IsFinite {
  template <typename T>
  static inline bool f(T x) {
    return std::fabs(x) < std::numeric_limits<T>::infinity();
  }
};

// Divisions of bytes by a number from 2 on, rounded down, without divisions: 1 / number is a whole
// number of 65536ths, and what is missing of it is too little for 9 bits. Multiples of the number
// keep what is divided from being negative.
template <typename T, bool kRest>
void ByNumber(const void* const* in, void* out, int64_t n, unsigned) {
  const T* x = static_cast<const T*>(in[0]);
  const int number = *static_cast<const T*>(in[1]), size = number < 0 ? -number : number, sign = number < 0 ? -1 : 1;
  const int more = std::is_signed<T>::value ? (127 + size) / size : 0;
  using U = uint16_t;
  const U factor = static_cast<U>(65536 / size + 1), added = static_cast<U>(more * size);
  const U turn = static_cast<U>(sign), back = static_cast<U>(more), divisor = static_cast<U>(number);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const U a = static_cast<U>(x[i]), from = static_cast<U>(static_cast<U>(a * turn) + added);
    const U q = static_cast<U>(static_cast<U>(static_cast<uint32_t>(from) * factor >> 16) - back);
    y[i] = static_cast<T>(kRest ? static_cast<U>(a - static_cast<U>(q * divisor)) : q);
  }
}

template <typename T, bool kLeft>
void ShiftedBy(const void* const* in, void* out, int64_t n, unsigned) {
  const T* x = static_cast<const T*>(in[0]);
  const int number = *static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    y[i] = static_cast<T>(kLeft ? static_cast<int16_t>(x[i] * (1 << number)) : static_cast<int16_t>(x[i]) >> number);
}

template <typename T>
Loop WithNumber(int row) {
  switch (row) {
    case pointwise::k_floor_divide: return ByNumber<T, false>;
    case pointwise::k_mod: return ByNumber<T, true>;
    case pointwise::k_left_shift: return ShiftedBy<T, true>;
    case pointwise::k_right_shift: return ShiftedBy<T, false>;
    default: return nullptr;
  }
}

template <class E>
Loop Compared(int dtype) {
  switch (dtype) {
    case kFloat32: return Pairs<E, float, uint8_t>;
    case kFloat64: return Pairs<E, double, uint8_t>;
    case kInt32: return Pairs<E, int32_t, uint8_t>;
    case kInt64: return Pairs<E, int64_t, uint8_t>;
    case kInt8: return Pairs<E, int8_t, uint8_t>;
    case kUint8: return Pairs<E, uint8_t, uint8_t>;
    default: return nullptr;
  }
}

template <class E>
Loop Tested(int dtype) {
  return dtype == kFloat32 ? Singles<E, float> : dtype == kFloat64 ? Singles<E, double> : nullptr;
}

template <class E>
Loop Ordered(bool is_signed) {
  return is_signed ? Pairs<E, int8_t, int8_t> : Pairs<E, uint8_t, uint8_t>;
}

}  // namespace

Loop TruthLoop(int row, int dtype) {
  switch (row) {
    case pointwise::k_equal: return Compared<Equal>(dtype);
    case pointwise::k_not_equal: return Compared<NotEqual>(dtype);
    case pointwise::k_greater: return Compared<Greater>(dtype);
    case pointwise::k_greater_equal: return Compared<GreaterEqual>(dtype);
    case pointwise::k_lesser: return Compared<Lesser>(dtype);
    case pointwise::k_lesser_equal: return Compared<LesserEqual>(dtype);
    case pointwise::k_isnan: return Tested<IsNan>(dtype);
    case pointwise::k_isinf: return Tested<IsInf>(dtype);
    case pointwise::k_isfinite: return Tested<IsFinite>(dtype);
    default: return nullptr;
  }
}

Loop BoolLoop(int row) {
  switch (row) {
    case pointwise::k_logical_not: return Singles<Not, uint8_t>;
    case pointwise::k_logical_and:
    case pointwise::k_bitwise_and: return Pairs<And, uint8_t, uint8_t>;
    case pointwise::k_logical_or:
    case pointwise::k_bitwise_or: return Pairs<Or, uint8_t, uint8_t>;
    case pointwise::k_logical_xor:
    case pointwise::k_bitwise_xor: return Pairs<Xor, uint8_t, uint8_t>;
    default: return TruthLoop(row, kUint8);
  }
}

Loop ByteNumberLoop(int row, bool is_signed) { return is_signed ? WithNumber<int8_t>(row) : WithNumber<uint8_t>(row); }

Loop ByteLoop(int row, bool is_signed) {
  switch (row) {
    case pointwise::k_add: return Pairs<Add, uint8_t, uint8_t>;
    case pointwise::k_sub: return Pairs<Sub, uint8_t, uint8_t>;
    case pointwise::k_mul: return Pairs<Mul, uint8_t, uint8_t>;
    case pointwise::k_bitwise_and: return Pairs<And, uint8_t, uint8_t>;
    case pointwise::k_bitwise_or: return Pairs<Or, uint8_t, uint8_t>;
    case pointwise::k_bitwise_xor: return Pairs<Xor, uint8_t, uint8_t>;
    case pointwise::k_maximum: return Ordered<Most>(is_signed);
    case pointwise::k_minimum: return Ordered<Least>(is_signed);
    default: return nullptr;
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
