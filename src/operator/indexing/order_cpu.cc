#include "operator/indexing/order.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/omp.h"

namespace mxnet {
namespace {

// Unsigned numbers in the order of the values: comparing them is one instruction, whatever the dtype. Zeros of either sign are
// equal, NaN is above everything and equal to itself.
inline uint32_t SortKey(float v) {
  if (v != v) return UINT32_MAX;
  uint32_t u;
  v += 0.0f;
  std::memcpy(&u, &v, sizeof(u));
  return u >> 31 ? ~u : u | 0x80000000u;
}
inline uint64_t SortKey(double v) {
  if (v != v) return UINT64_MAX;
  uint64_t u;
  v += 0.0;
  std::memcpy(&u, &v, sizeof(u));
  return u >> 63 ? ~u : u | uint64_t{1} << 63;
}
inline uint32_t SortKey(float16 v) { return SortKey(static_cast<float>(v)); }
inline uint32_t SortKey(bfloat16 v) { return SortKey(static_cast<float>(v)); }
inline uint64_t SortKey(uint64_t v) { return v; }
inline uint64_t SortKey(int64_t v) { return static_cast<uint64_t>(v) ^ uint64_t{1} << 63; }
template <typename T, typename = std::enable_if_t<std::is_integral<T>::value && sizeof(T) <= 4>>
inline uint32_t SortKey(T v) {
  if constexpr (std::is_signed<T>::value) return static_cast<uint32_t>(static_cast<int32_t>(v)) ^ 0x80000000u;
  else return static_cast<uint32_t>(v);
}

// Key above, position below: unsigned 64-bit numbers for 32-bit keys, pairs for 64-bit ones. Equal keys keep the order of positions.
inline uint64_t Pack(uint32_t key, int64_t at) { return static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(at); }
inline std::pair<uint64_t, int64_t> Pack(uint64_t key, int64_t at) { return {key, at}; }
inline int64_t Position(uint64_t packed) { return static_cast<int64_t>(packed & UINT32_MAX); }
inline int64_t Position(const std::pair<uint64_t, int64_t>& packed) { return packed.second; }

// The k smallest first, in order.
template <typename P>
void SortFirst(std::vector<P>* line, int64_t k) {
  const int64_t n = static_cast<int64_t>(line->size());
  auto begin = line->begin();
  if (k * 16 <= n && k <= 32) {   // few of many: most entries are refused by one comparison
    std::sort(begin, begin + k);
    for (int64_t s = k; s < n; ++s) {
      const P entry = begin[s];
      if (!(entry < begin[k - 1])) continue;
      int64_t at = k - 1;
      for (; at > 0 && entry < begin[at - 1]; --at) begin[at] = begin[at - 1];
      begin[at] = entry;
    }
    return;
  }
  if (k < n) std::nth_element(begin, begin + k, line->end());
  std::sort(begin, begin + k);
}

template <typename T, bool kWide>
void OrderLines(const T* data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, T* values, int64_t* positions) {
  using Key = std::conditional_t<kWide, uint64_t, decltype(SortKey(T{}))>;
  using Packed = decltype(Pack(Key{}, 0));
  const Key flip = ascending ? 0 : static_cast<Key>(~Key{0});
  const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / 16 / std::max<int64_t>(size, 1));   // comparing costs more than adding
  ParallelFor(outer * inner, grain, [&](int64_t begin, int64_t end) {
    std::vector<Packed> line(size);
    for (int64_t l = begin; l < end; ++l) {
      const int64_t o = l / inner, i = l % inner;
      const T* from = data + o * size * inner + i;
      for (int64_t s = 0; s < size; ++s) line[s] = Pack(static_cast<Key>(static_cast<Key>(SortKey(from[s * inner])) ^ flip), s);
      SortFirst(&line, k);
      const int64_t to = o * k * inner + i;
      for (int64_t s = 0; s < k; ++s) {
        const int64_t at = Position(line[s]);
        if (values) values[to + s * inner] = from[at * inner];
        if (positions) positions[to + s * inner] = at;
      }
    }
  });
}

}  // namespace

void OrderEntries(const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, void* values, int64_t* positions) {
  VisitDType(data.dtype, "sort", [&](auto tag) {
    using T = decltype(tag);
    auto order = size <= static_cast<int64_t>(UINT32_MAX) ? OrderLines<T, false> : OrderLines<T, true>;   // do positions fit beside a 32-bit key?
    order(data.data<T>(), outer, size, inner, k, ascending, static_cast<T*>(values), positions);
  });
}

}  // namespace mxnet
