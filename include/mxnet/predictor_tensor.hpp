/* What goes into a Predictor and comes out of it; included by predictor.hpp. C++11. */
#ifndef MXNET_PREDICTOR_TENSOR_HPP_
#define MXNET_PREDICTOR_TENSOR_HPP_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mxnet {

/* Values in the order of rows, and how many there are along each dimension. */
struct Tensor {
  std::vector<uint32_t> shape;
  std::vector<float> data;

  Tensor() = default;
  /* Zeros. */
  explicit Tensor(std::vector<uint32_t> dimensions) : shape(std::move(dimensions)), data(Count(shape)) {}
  /* Throws std::invalid_argument unless there are as many values as the shape has places. */
  Tensor(std::vector<uint32_t> dimensions, std::vector<float> values) : shape(std::move(dimensions)), data(std::move(values)) {
    if (data.size() != Count(shape))
      throw std::invalid_argument("[Tensor] " + std::to_string(data.size()) + " values; the shape has " + std::to_string(Count(shape)));
  }

  size_t size() const { return data.size(); }

  /* Number of places of a shape. Throws std::length_error beyond 2^32 - 1. */
  static size_t Count(const std::vector<uint32_t>& dimensions) {
    uint64_t count = 1;
    for (uint32_t d : dimensions) {
      count *= d;
      if (count > UINT32_MAX) throw std::length_error("[Tensor] a shape with more than 4294967295 places");
    }
    return static_cast<size_t>(count);
  }
};

namespace detail {

/* float16 as its bits. */
inline float FromHalf(uint16_t half) {
  const uint32_t sign = half >> 15, exponent = half >> 10 & 31, fraction = half & 1023;
  const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                     : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(fraction + 1024), static_cast<int>(exponent) - 25);
  return sign ? -size : size;
}

inline uint16_t ToHalf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  if (size > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // not a number
  if (size >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // rounds to infinity
  if (size < 0x38800000) return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(std::ldexp(std::fabs(value), 24))));
  return static_cast<uint16_t>(sign | ((size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13));
}

}  // namespace detail
}  // namespace mxnet

#endif  // MXNET_PREDICTOR_TENSOR_HPP_
