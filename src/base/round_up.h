/* Sizes and addresses rounded up to whole steps. */
#ifndef MXNET_BASE_ROUND_UP_H_
#define MXNET_BASE_ROUND_UP_H_

#include <cstdint>
#include <type_traits>

namespace mxnet {

/* The least multiple of `step` that is not below n, for n >= 0 and step > 0. */
template <typename T>
__attribute__((always_inline)) constexpr T RoundUp(T n, std::common_type_t<T> step) {
  return (n + step - 1) / step * step;
}

/* The first address from `p` on that is a multiple of 64: a line of the cache, and the widest
 * vector. */
template <typename T>
T* AlignedTo64(void* p) {
  return reinterpret_cast<T*>(RoundUp(reinterpret_cast<uintptr_t>(p), 64));
}

}  // namespace mxnet
#endif  // MXNET_BASE_ROUND_UP_H_
