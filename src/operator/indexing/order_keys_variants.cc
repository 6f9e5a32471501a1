#include <algorithm>
#include <cstring>

#include "operator/indexing/order_keys.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename U, U kInfinity>
void Keys(int64_t n, U flip, U* x) {
  constexpr U kFirst = U{1} << (8 * sizeof(U) - 1);
  for (int64_t i = 0; i < n; ++i) {
    const U u = x[i], key = u & kFirst ? static_cast<U>(~u) : u | kFirst;
    x[i] = ((u & ~kFirst) > kInfinity ? static_cast<U>(~U{0}) : key) ^ flip;
  }
}

template <typename U>
void Floats(int64_t n, U flip, U* x) {
  constexpr U kFirst = U{1} << (8 * sizeof(U) - 1);
  for (int64_t i = 0; i < n; ++i) {
    const U key = x[i] ^ flip;
    x[i] = key & kFirst ? key ^ kFirst : static_cast<U>(~key);
  }
}

// The place of a key is how many are less. Equal ones meet in one place and leave those behind it
// empty, where the key before them belongs.
template <typename U, int kVectors>
void SortByPlaces(int64_t n, U* x) {
  typedef U Vector __attribute__((vector_size(64)));
  constexpr int kLanes = 64 / sizeof(U);
  U keys[kVectors * kLanes], places[kVectors * kLanes];
  std::fill_n(keys, kVectors * kLanes, static_cast<U>(~U{0}));
  std::memcpy(keys, x, static_cast<size_t>(n) * sizeof(U));
  Vector all[kVectors], less[kVectors] = {};
  std::memcpy(all, keys, sizeof(keys));
  for (int64_t j = 0; j < n; ++j) {
    const Vector one = Vector{} + keys[j];
    for (int v = 0; v < kVectors; ++v) less[v] -= reinterpret_cast<Vector>(one < all[v]);
  }
  std::memcpy(places, less, sizeof(places));
  std::fill_n(x, n, U{0});
  for (int64_t j = 0; j < n; ++j) x[places[j]] = keys[j];
  for (int64_t i = 1; i < n; ++i) x[i] = std::max(x[i], x[i - 1]);
}

template <typename U>
void SortFew(int64_t n, U* x) {
  constexpr int kVectors = kFewKeys * sizeof(U) / 64;
  constexpr int kHalf = kVectors / 2 > 0 ? kVectors / 2 : 1;
  n <= kHalf* static_cast<int64_t>(64 / sizeof(U)) ? SortByPlaces<U, kHalf>(n, x) : SortByPlaces<U, kVectors>(n, x);
}

}  // namespace

void SortFewKeys(int bytes, int64_t n, void* keys) {
  if (bytes == 2) return SortFew(n, static_cast<uint16_t*>(keys));
  if (bytes == 4) return SortFew(n, static_cast<uint32_t*>(keys));
  SortFew(n, static_cast<uint64_t*>(keys));
}

void KeysOfFloats(bool wide, int64_t n, uint64_t flip, void* numbers) {
  if (wide) return Keys<uint64_t, 0x7ff0000000000000u>(n, flip, static_cast<uint64_t*>(numbers));
  Keys<uint32_t, 0x7f800000u>(n, static_cast<uint32_t>(flip), static_cast<uint32_t*>(numbers));
}

void FloatsOfKeys(bool wide, int64_t n, uint64_t flip, void* keys) {
  if (wide) return Floats<uint64_t>(n, flip, static_cast<uint64_t*>(keys));
  Floats<uint32_t>(n, static_cast<uint32_t>(flip), static_cast<uint32_t*>(keys));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
