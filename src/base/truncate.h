/*
 * From floating numbers to integers: one answer on every path (casts, copies, fills; vector loops,
 * scalar tails and GPUs).
 *
 * The fraction is cut off. What int32 (int64 for types wider than int32, and for uint32) cannot
 * hold, and NaN, becomes the smallest int32 (int64), of which narrower types keep the low bits:
 * what 1.9.1 gives on x86. uint64 also takes numbers from 2^63 to 2^64.
 */
#ifndef MXNET_BASE_TRUNCATE_H_
#define MXNET_BASE_TRUNCATE_H_

#include <cstdint>
#include <limits>
#include <type_traits>

namespace mxnet {

/* Float: float or double. Without branches where the compiler has vectors for it: what does not fit
 * is converted as 0 and replaced. */
template <typename To, typename Float>
inline To Truncate(Float v) {
  static_assert(std::is_floating_point<Float>::value && std::is_integral<To>::value && !std::is_same<To, bool>::value,
                "from a floating type to an integer");
  using Wide = std::conditional_t<(sizeof(To) < 4 || std::is_same<To, int32_t>::value), int32_t, int64_t>;
  constexpr Float kLow = static_cast<Float>(std::numeric_limits<Wide>::min());  // a power of 2
  constexpr Float kBelow =
      sizeof(Wide) == 4 && sizeof(Float) == 8 ? kLow - Float(1) : kLow;  // a double has numbers in between that are cut to it
  const bool fits = (kBelow < kLow ? v > kBelow : v >= kLow) && v < -kLow;
  if constexpr (std::is_same<To, uint64_t>::value) {
    if (v >= -kLow && v < Float(-2) * kLow) return static_cast<uint64_t>(v);
  }
  const Wide whole = static_cast<Wide>(fits ? v : Float(0));
  return static_cast<To>(fits ? whole : std::numeric_limits<Wide>::min());
}

}  // namespace mxnet
#endif  // MXNET_BASE_TRUNCATE_H_
