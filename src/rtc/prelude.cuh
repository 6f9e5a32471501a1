// The first lines of every kernel: storage types with their conversions, packs of elements, fast
// division. No header of CUDA, so a machine needs none.
#include "rtc/instructions.cuh"

namespace mx {
typedef long long int64;
typedef unsigned long long uint64;
struct half {
  unsigned short bits;
};
struct bfloat {
  unsigned short bits;
};
struct boolean {
  unsigned char bits;
};

template <typename S>
struct IsFloat {
  static constexpr bool value = false;
};
template <>
struct IsFloat<float> {
  static constexpr bool value = true;
};
template <>
struct IsFloat<double> {
  static constexpr bool value = true;
};

// The type that sums and products of elements are computed in, where float is enough for all but
// double.
template <typename S>
struct Real {
  typedef float Type;
};
template <>
struct Real<double> {
  typedef double Type;
};
template <typename S>
struct IsReal {
  static constexpr bool value = IsFloat<S>::value;
};
template <>
struct IsReal<half> {
  static constexpr bool value = true;
};
template <>
struct IsReal<bfloat> {
  static constexpr bool value = true;
};
template <typename S>
struct IsBoolean {
  static constexpr bool value = false;
};
template <>
struct IsBoolean<boolean> {
  static constexpr bool value = true;
};
template <bool condition, typename A, typename B>
struct Choose {
  typedef A Type;
};
template <typename A, typename B>
struct Choose<false, A, B> {
  typedef B Type;
};

template <typename S>
struct IsWide {
  static constexpr bool value = sizeof(S) == 8;
};
template <>
struct IsWide<unsigned> {
  static constexpr bool value = true;
};

// from a float to an integer, as base/truncate.h says
template <typename S, typename C>
__device__ __forceinline__ S Truncate(C v) {
  if constexpr (IsWide<S>::value) {
    if constexpr (S(-1) > S(0) && sizeof(S) == 8)
      if (v >= C(9223372036854775808.0) && v < C(18446744073709551616.0)) return static_cast<S>(static_cast<uint64>(v));
    return static_cast<S>(v >= C(-9223372036854775808.0) && v < C(9223372036854775808.0) ? static_cast<int64>(v)
                                                                                         : -9223372036854775807ll - 1);
  } else {
    return static_cast<S>((sizeof(C) == 4 ? v >= C(-2147483648.0) : v > C(-2147483649.0)) && v < C(2147483648.0) ? static_cast<int>(v)
                                                                                                                 : -2147483647 - 1);
  }
}
template <typename S, typename C>
__device__ __forceinline__ S Number(C v) {
  if constexpr (IsFloat<C>::value && !IsFloat<S>::value)
    return Truncate<S>(v);
  else
    return static_cast<S>(v);
}

// storage -> compute type
template <typename C, typename S>
struct Convert {
  static __device__ __forceinline__ C Load(S v) { return Number<C>(v); }
};
template <typename C>
struct Convert<C, half> {
  static __device__ __forceinline__ C Load(half v) { return Number<C>(HalfBitsToFloat(v.bits)); }
};
template <typename C>
struct Convert<C, bfloat> {
  static __device__ __forceinline__ C Load(bfloat v) { return Number<C>(BfloatBitsToFloat(v.bits)); }
};
template <typename C>
struct Convert<C, boolean> {
  static __device__ __forceinline__ C Load(boolean v) { return static_cast<C>(v.bits != 0); }
};
// compute type -> storage
template <typename S, typename C>
struct Narrow {
  static __device__ __forceinline__ S Store(C v) { return Number<S>(v); }
};
// to a 16-bit float in one rounding: double and wide integers must not be rounded to float first
__device__ __forceinline__ float ToRoundable(float v) { return v; }
__device__ __forceinline__ float ToRoundable(double v) {
  float f = static_cast<float>(v);
  const double back = f;
  if (back != v && v == v && back - back == 0) {  // round to odd: sticky last bit
    const unsigned bits = __float_as_uint(f);
    if (!(bits & 1u)) f = __uint_as_float((v < 0 ? -back < -v : back < v) ? bits | 1u : (bits - 1u) | 1u);
  }
  return f;
}
__device__ __forceinline__ float ToRoundable(int v) { return ToRoundable(static_cast<double>(v)); }
__device__ __forceinline__ float ToRoundable(int64 v) {
  const double d = static_cast<double>(v);
  return ToRoundable(d);
}
__device__ __forceinline__ float ToRoundable(uint64 v) {
  const double d = static_cast<double>(v);
  return ToRoundable(d);
}
template <typename C>
struct Narrow<half, C> {
  static __device__ __forceinline__ half Store(C v) { return half{FloatToHalfBits(ToRoundable(v))}; }
};
template <typename C>
struct Narrow<bfloat, C> {
  static __device__ __forceinline__ bfloat Store(C v) { return bfloat{FloatToBfloatBits(ToRoundable(v))}; }
};
template <typename C>
struct Narrow<boolean, C> {
  static __device__ __forceinline__ boolean Store(C v) { return boolean{static_cast<unsigned char>(v != C(0))}; }
};

template <typename C, typename S>
__device__ __forceinline__ C Load(const S* p, int64 i) {
  return Convert<C, S>::Load(p[i]);
}
template <typename S, typename C>
__device__ __forceinline__ void Store(S* p, int64 i, C v) {
  p[i] = Narrow<S, C>::Store(v);
}

// A number that an operator is given, as the CPU converts it: to integers through int64.
template <typename S>
__device__ __forceinline__ void StoreNumber(S* p, int64 i, double v) {
  if constexpr (IsReal<S>::value || IsBoolean<S>::value)
    Store(p, i, v);
  else
    p[i] = static_cast<S>(static_cast<int64>(v));
}

// V neighbouring elements in one access; the address is a multiple of their size
template <typename S, int V>
struct alignas(sizeof(S) * V) Pack {
  S v[V];
};
template <int V, typename C, typename S>
__device__ __forceinline__ void LoadPack(const S* p, int64 i, C* out) {
  const Pack<S, V> pack = *reinterpret_cast<const Pack<S, V>*>(p + i);
#pragma unroll
  for (int j = 0; j < V; ++j) out[j] = Convert<C, S>::Load(pack.v[j]);
}
template <int V, typename S, typename C>
__device__ __forceinline__ void StorePack(S* p, int64 i, const C* in) {
  Pack<S, V> pack;
#pragma unroll
  for (int j = 0; j < V; ++j) pack.v[j] = Narrow<S, C>::Store(in[j]);
  *reinterpret_cast<Pack<S, V>*>(p + i) = pack;
}

// Four neighbours from i on, `left` of them if there are fewer; in one access where the address
// allows it.
template <typename C, typename S>
__device__ __forceinline__ void LoadFour(const S* p, int64 i, int left, C* out) {
  if (left == 4 && reinterpret_cast<uint64>(p + i) % (4 * sizeof(S)) == 0) return LoadPack<4>(p, i, out);
#pragma unroll
  for (int k = 0; k < 4; ++k) out[k] = k < left ? Load<C>(p, i + k) : C(0);
}
template <typename S, typename C>
__device__ __forceinline__ void StoreFour(S* p, int64 i, int left, const C* in) {
  if (left == 4 && reinterpret_cast<uint64>(p + i) % (4 * sizeof(S)) == 0) return StorePack<4>(p, i, in);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (k < left) Store(p, i + k, in[k]);
}

// exp where the result is rounded to 16 bits: the error is below 2^-17 for all finite results
__device__ __forceinline__ float ShortExp(float x) { return Exp2(x * 1.44269504f); }
__device__ __forceinline__ double Reciprocal(double x) { return 1.0 / x; }
// quotient of i < 2^31 by a FastDivisor
__device__ __forceinline__ unsigned Divide(unsigned i, int64 multiplier, int64 shift) {
  return (__umulhi(i, static_cast<unsigned>(multiplier)) + i) >> static_cast<unsigned>(shift);
}
__device__ __forceinline__ int64 ThreadIndex() { return static_cast<int64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int64 ThreadCount() { return static_cast<int64>(gridDim.x) * blockDim.x; }
}  // namespace mx
