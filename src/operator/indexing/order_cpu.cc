#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/omp.h"
#include "operator/indexing/order.h"

namespace mxnet {
namespace {

// Unsigned numbers in the order of the values: comparing them is one instruction, whatever the
// dtype. Zeros of either sign are equal, NaN is above everything and equal to itself.
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
inline uint64_t SortKey(int64_t v) {
  return static_cast<uint64_t>(v) ^ uint64_t { 1 } << 63;
}
template <typename T, typename = std::enable_if_t<std::is_integral<T>::value && sizeof(T) <= 4>>
inline uint32_t SortKey(T v) {
  if constexpr (std::is_signed<T>::value)
    return static_cast<uint32_t>(static_cast<int32_t>(v)) ^ 0x80000000u;
  else
    return static_cast<uint32_t>(v);
}

// Key above, position below: unsigned 64-bit numbers for 32-bit keys, pairs for 64-bit ones. Equal
// keys keep the order of positions.
inline uint64_t Pack(uint32_t key, int64_t at) { return static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(at); }
inline std::pair<uint64_t, int64_t> Pack(uint64_t key, int64_t at) { return {key, at}; }
inline int64_t Position(uint64_t packed) { return static_cast<int64_t>(packed & UINT32_MAX); }
inline int64_t Position(const std::pair<uint64_t, int64_t>& packed) { return packed.second; }

// The k smallest first, in order.
template <typename P>
void SortFirst(std::vector<P>* line, int64_t k) {
  auto begin = line->begin();
  if (k < static_cast<int64_t>(line->size())) std::nth_element(begin, begin + k, line->end());
  std::sort(begin, begin + k);
}

// By the keys in the upper halves, digit by digit from the lowest; each pass keeps the order of
// equal digits, so that of positions. `other`: as large as the line.
template <int kBits>
void RadixSort(std::vector<uint64_t>* line, std::vector<uint64_t>* other) {
  constexpr int kPasses = (32 + kBits - 1) / kBits;
  constexpr uint64_t kDigits = uint64_t{1} << kBits;
  std::vector<uint32_t> count(kPasses * kDigits, 0);
  for (uint64_t v : *line)
    for (int p = 0; p < kPasses; ++p) ++count[p * kDigits + (v >> (32 + p * kBits) & (kDigits - 1))];
  const uint32_t n = static_cast<uint32_t>(line->size());
  for (int p = 0; p < kPasses; ++p) {
    uint32_t* first = &count[p * kDigits];
    const int shift = 32 + p * kBits;
    if (first[(*line)[0] >> shift & (kDigits - 1)] == n) continue;  // all have this digit
    uint32_t before = 0;
    for (uint64_t d = 0; d < kDigits; ++d) {
      const uint32_t here = first[d];
      first[d] = before;
      before += here;
    }
    for (uint64_t v : *line) (*other)[first[v >> shift & (kDigits - 1)]++] = v;
    line->swap(*other);
  }
}

// The k smallest of n keys with their positions, in order; few of many: most blocks are refused by
// one comparison. key(i): of entry i, in order of i.
template <typename Key, typename P, typename F>
void FirstFew(int64_t n, int64_t k, F&& key, P* best) {
  constexpr int64_t kBlock = 64;
  for (int64_t i = 0; i < k; ++i) best[i] = Pack(key(i), i);
  std::sort(best, best + k);
  Key keys[kBlock];
  for (int64_t s = k; s < n; s += kBlock) {
    const int64_t m = std::min(kBlock, n - s);
    Key least = static_cast<Key>(~Key{0});
    for (int64_t j = 0; j < m; ++j) {
      keys[j] = key(s + j);
      least = keys[j] < least ? keys[j] : least;
    }
    if (!(Pack(least, s) < best[k - 1])) continue;
    for (int64_t j = 0; j < m; ++j) {
      const P entry = Pack(keys[j], s + j);
      if (!(entry < best[k - 1])) continue;
      int64_t at = k - 1;
      for (; at > 0 && entry < best[at - 1]; --at) best[at] = best[at - 1];
      best[at] = entry;
    }
  }
}

constexpr int64_t kRadixFrom = 100,
                  kWideDigitsFrom =
                      1000;  // entries from which counting digits is faster than comparing, and fewer passes than smaller counts

template <typename T, bool kWide>
void OrderLines(const T* data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, T* values, int64_t* positions) {
  using Key = std::conditional_t<kWide, uint64_t, decltype(SortKey(T{}))>;
  using Packed = decltype(Pack(Key{}, 0));
  const Key flip = ascending ? 0 : static_cast<Key>(~Key{0});
  const int64_t grain =
      std::max<int64_t>(1, Env::Get().cpu_parallel_size / 16 / std::max<int64_t>(size, 1));  // comparing costs more than adding
  ParallelFor(outer * inner, grain, [&](int64_t begin, int64_t end) {
    const bool few = k * 16 <= size && k <= 32, radix = !kWide && sizeof(Key) == 4 && !few && k * 4 >= size && size >= kRadixFrom;
    std::vector<Packed> line(few ? k : size), other(radix ? size : 0);
    for (int64_t l = begin; l < end; ++l) {
      const int64_t o = l / inner, i = l % inner;
      const T* from = data + o * size * inner + i;
      auto key = [from, inner, flip](int64_t s) { return static_cast<Key>(static_cast<Key>(SortKey(from[s * inner])) ^ flip); };
      if (few) {
        FirstFew<Key>(size, k, key, line.data());
      } else {
        for (int64_t s = 0; s < size; ++s) line[s] = Pack(key(s), s);
        if constexpr (std::is_same<Packed, uint64_t>::value) {
          if (radix)
            size < kWideDigitsFrom ? RadixSort<8>(&line, &other) : RadixSort<11>(&line, &other);
          else
            SortFirst(&line, k);
        } else {
          SortFirst(&line, k);
        }
      }
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

void OrderEntries(const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, void* values,
                  int64_t* positions) {
  VisitDType(data.dtype, "sort", [&](auto tag) {
    using T = decltype(tag);
    auto order =
        size <= static_cast<int64_t>(UINT32_MAX) ? OrderLines<T, false> : OrderLines<T, true>;  // do positions fit beside a 32-bit key?
    order(data.data<T>(), outer, size, inner, k, ascending, static_cast<T*>(values), positions);
  });
}

}  // namespace mxnet
