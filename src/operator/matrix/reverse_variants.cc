#include <cstdint>
#include <cstring>
#include <utility>

#include "base/vector_bytes.h"
#include "operator/matrix/reverse_run.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T, typename V, int... kLane>
inline V Reversed(V v, std::integer_sequence<int, kLane...>) {
  constexpr int kLast = sizeof...(kLane) - 1;
  return __builtin_shuffle(v, (V){static_cast<T>(kLast - kLane)...});
}

template <typename T>
void Run(const T* last, T* to, int64_t n) {
  typedef T V __attribute__((vector_size(kVectorBytes)));
  constexpr int kLanes = kVectorBytes / sizeof(T), kAtOnce = 4;
  using Lanes = std::make_integer_sequence<int, kLanes>;
  int64_t i = 0;
  const auto turn = [&](int64_t at) {
    V v;
    std::memcpy(&v, last - at - (kLanes - 1), sizeof(v));
    v = Reversed<T, V>(v, Lanes());
    std::memcpy(to + at, &v, sizeof(v));
  };
  for (; i + kAtOnce * kLanes <= n; i += kAtOnce * kLanes)
    for (int k = 0; k < kAtOnce; ++k) turn(i + k * kLanes);
  for (; i + kLanes <= n; i += kLanes) turn(i);
  for (; i < n; ++i) to[i] = last[-i];
}

}  // namespace

void ReverseRun(const void* last, void* to, int64_t n, size_t elem_bytes) {
  switch (elem_bytes) {
    case 1: return Run(static_cast<const uint8_t*>(last), static_cast<uint8_t*>(to), n);
    case 2: return Run(static_cast<const uint16_t*>(last), static_cast<uint16_t*>(to), n);
    case 4: return Run(static_cast<const uint32_t*>(last), static_cast<uint32_t*>(to), n);
    default: return Run(static_cast<const uint64_t*>(last), static_cast<uint64_t*>(to), n);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
