/*
 * float16 (IEEE 754 binary16) and bfloat16 as storage types: arithmetic happens in float, through
 * the implicit conversion. Conversions round to nearest, ties to even; NaN stays NaN and becomes
 * quiet; every float16 value survives float and back. Kernels convert whole blocks (HalfToFloat and
 * friends) rather than single elements.
 */
#ifndef MXNET_BASE_HALF_H_
#define MXNET_BASE_HALF_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "mxnet/error.h"

namespace mxnet {

namespace detail {

inline uint32_t FloatBits(float f) {
  uint32_t u;
  std::memcpy(&u, &f, sizeof(u));
  return u;
}
inline float BitsFloat(uint32_t u) {
  float f;
  std::memcpy(&f, &u, sizeof(f));
  return f;
}

// Both directions compute every case and select, so that compilers vectorize loops over them.
inline float HalfBitsToFloat(uint16_t h) {
  constexpr uint32_t kRebias = 112u << 23;  // exponent bias 15 -> 127
  const uint32_t magnitude = (h & 0x7fffu) << 13;
  uint32_t out = magnitude + kRebias;
  out = magnitude >= (31u << 23) ? magnitude + 2 * kRebias : out;  // infinity, NaN
  out |= magnitude > (31u << 23) ? 0x400000u : 0u;
  const uint32_t subnormal = FloatBits(BitsFloat(magnitude + kRebias + (1u << 23)) - BitsFloat(kRebias + (1u << 23)));
  out = magnitude < (1u << 23) ? subnormal : out;
  return BitsFloat(out | (h & 0x8000u) << 16);
}

inline uint16_t FloatToHalfBits(float f) {
  const uint32_t bits = FloatBits(f);
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t out = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  constexpr uint32_t kMagic = 126u << 23;  // adding 0.5 lets the adder round to multiples of 2^-24
  const uint32_t subnormal = FloatBits(BitsFloat(magnitude) + BitsFloat(kMagic)) - kMagic;
  out = magnitude < (113u << 23) ? subnormal : out;
  const uint32_t special = magnitude > (255u << 23) ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : 0x7c00u;
  out = magnitude >= (143u << 23) ? special : out;  // 65536 and above; what lies between rounds up by itself
  return static_cast<uint16_t>(out | (bits >> 16 & 0x8000u));
}

inline float BfloatBitsToFloat(uint16_t b) { return BitsFloat(static_cast<uint32_t>(b) << 16); }

inline uint16_t FloatToBfloatBits(float f) {
  const uint32_t bits = FloatBits(f);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : rounded);
}

// Narrows so that rounding the result once more to 16 bits equals rounding the double directly
// (round to odd).
inline float DoubleToOddFloat(double d) {
  const float f = static_cast<float>(d);
  const double back = f;
  if (back == d || f != f || (FloatBits(f) & 1u)) return f;
  const bool away = (back > d) == (d > 0);  // f lies further from zero than d
  return BitsFloat(FloatBits(f) + (away ? -1 : 1));
}

template <typename T>
inline float ToRoundable(T value) {
  if constexpr (std::is_same<T, double>::value || (std::is_integral<T>::value && sizeof(T) > 2)) {
    return DoubleToOddFloat(static_cast<double>(value));
  } else {
    return static_cast<float>(value);
  }
}

}  // namespace detail

struct float16 {
  uint16_t bits;

  float16() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>>
  float16(T value) : bits(detail::FloatToHalfBits(detail::ToRoundable(value))) {}  // NOLINT: implicit on purpose
  operator float() const { return detail::HalfBitsToFloat(bits); }                 // NOLINT
  static float16 FromBits(uint16_t b) {
    float16 h;
    h.bits = b;
    return h;
  }
  float16& operator+=(float v) { return *this = float16(static_cast<float>(*this) + v); }
  float16& operator-=(float v) { return *this = float16(static_cast<float>(*this) - v); }
  float16& operator*=(float v) { return *this = float16(static_cast<float>(*this) * v); }
  float16& operator/=(float v) { return *this = float16(static_cast<float>(*this) / v); }
};

struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>>
  bfloat16(T value) : bits(detail::FloatToBfloatBits(detail::ToRoundable(value))) {}  // NOLINT: implicit on purpose
  operator float() const { return detail::BfloatBitsToFloat(bits); }                  // NOLINT
  static bfloat16 FromBits(uint16_t b) {
    bfloat16 h;
    h.bits = b;
    return h;
  }
  bfloat16& operator+=(float v) { return *this = bfloat16(static_cast<float>(*this) + v); }
  bfloat16& operator-=(float v) { return *this = bfloat16(static_cast<float>(*this) - v); }
  bfloat16& operator*=(float v) { return *this = bfloat16(static_cast<float>(*this) * v); }
  bfloat16& operator/=(float v) { return *this = bfloat16(static_cast<float>(*this) / v); }
};

static_assert(sizeof(float16) == 2 && std::is_trivial<float16>::value, "float16 is a plain 16-bit value");
static_assert(sizeof(bfloat16) == 2 && std::is_trivial<bfloat16>::value, "bfloat16 is a plain 16-bit value");

/* Whole arrays, on this thread, with the best instructions of this CPU. `in` and `out` must not
 * overlap. */
MXNET_DLL void HalfToFloat(const float16* in, float* out, int64_t n);
MXNET_DLL void FloatToHalf(const float* in, float16* out, int64_t n);
MXNET_DLL void BfloatToFloat(const bfloat16* in, float* out, int64_t n);
MXNET_DLL void FloatToBfloat(const float* in, bfloat16* out, int64_t n);

}  // namespace mxnet

namespace std {

template <>
struct numeric_limits<mxnet::float16> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false, has_infinity = true,
                        has_quiet_NaN = true;
  static constexpr int digits = 11, digits10 = 3, max_exponent = 16, min_exponent = -13, radix = 2;
  static mxnet::float16 min() { return mxnet::float16::FromBits(0x0400); }
  static mxnet::float16 max() { return mxnet::float16::FromBits(0x7bff); }
  static mxnet::float16 lowest() { return mxnet::float16::FromBits(0xfbff); }
  static mxnet::float16 epsilon() { return mxnet::float16::FromBits(0x1400); }
  static mxnet::float16 infinity() { return mxnet::float16::FromBits(0x7c00); }
  static mxnet::float16 quiet_NaN() { return mxnet::float16::FromBits(0x7e00); }
  static mxnet::float16 denorm_min() { return mxnet::float16::FromBits(0x0001); }
};

template <>
struct numeric_limits<mxnet::bfloat16> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false, has_infinity = true,
                        has_quiet_NaN = true;
  static constexpr int digits = 8, digits10 = 2, max_exponent = 128, min_exponent = -125, radix = 2;
  static mxnet::bfloat16 min() { return mxnet::bfloat16::FromBits(0x0080); }
  static mxnet::bfloat16 max() { return mxnet::bfloat16::FromBits(0x7f7f); }
  static mxnet::bfloat16 lowest() { return mxnet::bfloat16::FromBits(0xff7f); }
  static mxnet::bfloat16 epsilon() { return mxnet::bfloat16::FromBits(0x3c00); }
  static mxnet::bfloat16 infinity() { return mxnet::bfloat16::FromBits(0x7f80); }
  static mxnet::bfloat16 quiet_NaN() { return mxnet::bfloat16::FromBits(0x7fc0); }
  static mxnet::bfloat16 denorm_min() { return mxnet::bfloat16::FromBits(0x0001); }
};

}  // namespace std
#endif  // MXNET_BASE_HALF_H_
