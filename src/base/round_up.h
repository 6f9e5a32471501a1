/* Sizes rounded up to whole steps. */
#ifndef MXNET_BASE_ROUND_UP_H_
#define MXNET_BASE_ROUND_UP_H_

#include <type_traits>

namespace mxnet {

/* The least multiple of `step` that is not below n, for n >= 0 and step > 0. */
template <typename T>
__attribute__((always_inline)) constexpr T RoundUp(T n, std::common_type_t<T> step) {
  return (n + step - 1) / step * step;
}

}  // namespace mxnet
#endif  // MXNET_BASE_ROUND_UP_H_
