#include <cstdint>
#include <cstring>
#include <utility>

#include "base/vector_bytes.h"
#include "operator/matrix/even_steps.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

// Bytes and halves change places within 16 bytes in one instruction; across more it takes many.
template <typename T>
constexpr int kBytes = sizeof(T) >= 4 ? kVectorBytes : 16;

template <typename T>
struct Lanes {
  static constexpr int kCount = kBytes<T> / static_cast<int>(sizeof(T));
  typedef T V __attribute__((vector_size(kBytes<T>)));
  using All = std::make_integer_sequence<int, kCount>;
};
template <typename T>
using Vec = typename Lanes<T>::V;

template <typename T>
inline Vec<T> Load(const T* p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

// Vector kOut of those that have the lanes of kStep vectors in turn. A lane of the third vector
// joins in a second shuffle.
template <int kStep, int kOut, typename T, int... kLane>
inline Vec<T> Mixed(const Vec<T>* v, std::integer_sequence<int, kLane...>) {
  constexpr int n = sizeof...(kLane);
  const auto at = [](int lane) { return kOut * n + lane; };
  const Vec<T> two =
      __builtin_shuffle(v[0], v[1], (Vec<T>){static_cast<T>(at(kLane) % kStep < 2 ? at(kLane) / kStep + at(kLane) % kStep * n : 0)...});
  if constexpr (kStep == 2)
    return two;
  else
    return __builtin_shuffle(two, v[2], (Vec<T>){static_cast<T>(at(kLane) % kStep < 2 ? kLane : n + at(kLane) / kStep)...});
}

// Lanes 0, kStep, 2 kStep ... of kStep vectors, which are 2 or 3.
template <int kStep, typename T, int... kLane>
inline Vec<T> Picked(const Vec<T>* v, std::integer_sequence<int, kLane...>) {
  constexpr int n = sizeof...(kLane);
  const Vec<T> two = __builtin_shuffle(v[0], v[1], (Vec<T>){static_cast<T>(kLane * kStep < 2 * n ? kLane * kStep : 0)...});
  if constexpr (kStep == 2)
    return two;
  else
    return __builtin_shuffle(two, v[2], (Vec<T>){static_cast<T>(kLane * kStep < 2 * n ? kLane : kLane * kStep - n)...});
}

template <int kStep, typename T>
inline void MixVectors(const Vec<T>* v, Vec<T>* to) {
  using All = typename Lanes<T>::All;
  if constexpr (kStep == 4) {  // in pairs, and these in pairs
    const Vec<T> even[2] = {v[0], v[2]}, odd[2] = {v[1], v[3]};
    Vec<T> evens[2], odds[2];
    MixVectors<2, T>(even, evens);
    MixVectors<2, T>(odd, odds);
    for (int half = 0; half < 2; ++half) {
      const Vec<T> pair[2] = {evens[half], odds[half]};
      MixVectors<2, T>(pair, to + 2 * half);
    }
  } else {
    to[0] = Mixed<kStep, 0, T>(v, All());
    to[1] = Mixed<kStep, 1, T>(v, All());
    if constexpr (kStep == 3) to[2] = Mixed<kStep, 2, T>(v, All());
  }
}

template <int kStep, typename T>
inline Vec<T> PickFrom(const Vec<T>* v) {
  using All = typename Lanes<T>::All;
  if constexpr (kStep == 4) {
    const Vec<T> halves[2] = {PickFrom<2, T>(v), PickFrom<2, T>(v + 2)};
    return PickFrom<2, T>(halves);
  } else {
    return Picked<kStep, T>(v, All());
  }
}

template <int kStep, typename T>
void Mix(const void* const* parts, void* to, int64_t n) {
  constexpr int kLanes = Lanes<T>::kCount;
  const T* from[kStep];
  for (int k = 0; k < kStep; ++k) from[k] = static_cast<const T*>(parts[k]);
  T* out = static_cast<T*>(to);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Vec<T> v[kStep], w[kStep];
    for (int k = 0; k < kStep; ++k) v[k] = Load(from[k] + i);
    MixVectors<kStep, T>(v, w);
    std::memcpy(out + i * kStep, w, sizeof(w));
  }
  for (; i < n; ++i)
    for (int k = 0; k < kStep; ++k) std::memcpy(out + i * kStep + k, from[k] + i, sizeof(T));
}

template <int kStep, typename T>
void Pick(const void* data, void* to, int64_t n) {
  constexpr int kLanes = Lanes<T>::kCount;
  const T* from = static_cast<const T*>(data);
  T* out = static_cast<T*>(to);
  int64_t i = 0;
  for (; i + kLanes < n; i += kLanes) {  // not the last ones: whole vectors would go past the end
    Vec<T> v[kStep];
    for (int k = 0; k < kStep; ++k) v[k] = Load(from + i * kStep + k * kLanes);
    const Vec<T> picked = PickFrom<kStep, T>(v);
    std::memcpy(out + i, &picked, sizeof(picked));
  }
  for (; i < n; ++i) std::memcpy(out + i, from + i * kStep, sizeof(T));
}

template <typename T>
void MixOf(const void* const* parts, int step, void* to, int64_t n) {
  step == 2 ? Mix<2, T>(parts, to, n) : step == 3 ? Mix<3, T>(parts, to, n) : Mix<4, T>(parts, to, n);
}
template <typename T>
void PickOf(const void* from, int step, void* to, int64_t n) {
  step == 2 ? Pick<2, T>(from, to, n) : step == 3 ? Pick<3, T>(from, to, n) : Pick<4, T>(from, to, n);
}

}  // namespace

void Interleave(const void* const* parts, int step, void* to, int64_t n, size_t elem_bytes) {
  switch (elem_bytes) {
    case 1: return MixOf<uint8_t>(parts, step, to, n);
    case 2: return MixOf<uint16_t>(parts, step, to, n);
    case 4: return MixOf<uint32_t>(parts, step, to, n);
    default: return MixOf<uint64_t>(parts, step, to, n);
  }
}

void EveryStep(const void* from, int step, void* to, int64_t n, size_t elem_bytes) {
  switch (elem_bytes) {
    case 1: return PickOf<uint8_t>(from, step, to, n);
    case 2: return PickOf<uint16_t>(from, step, to, n);
    case 4: return PickOf<uint32_t>(from, step, to, n);
    default: return PickOf<uint64_t>(from, step, to, n);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
