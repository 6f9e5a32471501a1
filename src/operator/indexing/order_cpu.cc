#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/indexing/order.h"
#include "operator/indexing/order_keys.h"

namespace mxnet {
namespace {

// Unsigned numbers in the order of the values: comparing them is one instruction, whatever the
// dtype. NaN is above everything and equal to itself.
//   ValueKey  from which the value can be made again: zeros differ, and there is one NaN
//   SortKey   zeros of either sign are equal
inline uint32_t ValueKey(float v) {
  uint32_t u;
  std::memcpy(&u, &v, sizeof(u));
  return v != v ? UINT32_MAX : u >> 31 ? ~u : u | 0x80000000u;
}
inline uint64_t ValueKey(double v) {
  uint64_t u;
  std::memcpy(&u, &v, sizeof(u));
  return v != v ? UINT64_MAX : u >> 63 ? ~u : u | uint64_t{1} << 63;
}
inline uint32_t SortKey(float v) { return ValueKey(v + 0.0f); }
inline uint64_t SortKey(double v) { return ValueKey(v + 0.0); }
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

inline uint32_t ValueKey(float16 v) { return ValueKey(static_cast<float>(v)); }
inline uint32_t ValueKey(bfloat16 v) { return ValueKey(static_cast<float>(v)); }
template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>>
inline auto ValueKey(T v) {
  return SortKey(v);
}
// Of 16 bits, for numbers of 16 bits.
template <typename T>
inline uint16_t NarrowKey(T v) {
  uint16_t u;
  std::memcpy(&u, &v, sizeof(u));
  if constexpr (std::is_integral<T>::value) return std::is_signed<T>::value ? u ^ 0x8000 : u;
  if ((u & 0x7FFF) > (std::is_same<T, float16>::value ? 0x7C00 : 0x7F80)) return UINT16_MAX;
  return u & 0x8000 ? static_cast<uint16_t>(~u) : u | 0x8000;
}
template <typename T, typename Key>
inline Key KeyAs(T v) {
  if constexpr (sizeof(Key) == 2)
    return NarrowKey(v);
  else
    return ValueKey(v);
}

template <typename T, typename Key>
inline T ValueOf(Key key) {
  if constexpr (sizeof(Key) == 2) {
    const uint16_t plain = std::is_integral<T>::value && !std::is_signed<T>::value ? key : key ^ 0x8000;
    const uint16_t u = std::is_integral<T>::value || key & 0x8000 ? plain : ~key;
    T v;
    std::memcpy(&v, &u, sizeof(u));
    return v;
  } else if constexpr (std::is_integral<T>::value) {
    return static_cast<T>(key ^ SortKey(T{}));
  } else {
    constexpr Key first = Key{1} << (8 * sizeof(Key) - 1);
    const Key u = key & first ? key ^ first : static_cast<Key>(~key);
    std::conditional_t<sizeof(Key) == 4, float, double> v;
    std::memcpy(&v, &u, sizeof(v));
    return static_cast<T>(v);
  }
}

// Key above, position below: one number, so that equal keys keep the order of positions.
inline uint64_t Pack(uint32_t key, int64_t at) { return static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(at); }
inline hwy::uint128_t Pack(uint64_t key, int64_t at) { return {static_cast<uint64_t>(at), key}; }
inline int64_t Position(uint64_t packed) { return static_cast<int64_t>(packed & UINT32_MAX); }
inline int64_t Position(const hwy::uint128_t& packed) { return static_cast<int64_t>(packed.lo); }
inline bool Less(uint64_t a, uint64_t b) { return a < b; }
inline bool Less(const hwy::uint128_t& a, const hwy::uint128_t& b) { return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo; }

constexpr int64_t kVectorsFrom = 40;  // entries from which Highway's sort of 128 bits outweighs its set-up

template <typename P>
void SortLine(P* line, int64_t n) {
  constexpr bool wide = std::is_same<P, hwy::uint128_t>::value;
  if constexpr (!wide) {
    if (n <= kFewKeys) return MXNET_CPU_CALL(SortFewKeys)(sizeof(P), n, line);
  }
  if (!wide || n >= kVectorsFrom) {
    const hwy::Sorter sorter;
    sorter(line, static_cast<size_t>(n), hwy::SortAscending());
  } else if constexpr (wide) {
    std::sort(line, line + n, [](const P& a, const P& b) { return Less(a, b); });
  }
}

// The k smallest of n keys with their positions, in order; few of many: most blocks are refused by
// one comparison. key(i): of entry i, in order of i.
template <typename Key, typename P, typename F>
void FirstFew(int64_t n, int64_t k, F&& key, P* best) {
  constexpr int64_t kBlock = 64;
  for (int64_t i = 0; i < k; ++i) best[i] = Pack(key(i), i);
  SortLine(best, k);
  Key keys[kBlock];
  for (int64_t s = k; s < n; s += kBlock) {
    const int64_t m = std::min(kBlock, n - s);
    Key least = static_cast<Key>(~Key{0});
    for (int64_t j = 0; j < m; ++j) {
      keys[j] = key(s + j);
      least = keys[j] < least ? keys[j] : least;
    }
    if (!Less(Pack(least, s), best[k - 1])) continue;
    for (int64_t j = 0; j < m; ++j) {
      const P entry = Pack(keys[j], s + j);
      if (!Less(entry, best[k - 1])) continue;
      int64_t at = k - 1;
      for (; at > 0 && Less(entry, best[at - 1]); --at) best[at] = best[at - 1];
      best[at] = entry;
    }
  }
}

int64_t Grain(int64_t size) {  // comparing costs more than adding
  return std::max<int64_t>(1, Env::Get().cpu_parallel_size / 16 / std::max<int64_t>(size, 1));
}

/* A line of an array, whose entries lie `inner` apart, and where what is found goes. */
template <typename T>
struct LineOf {
  const T* from;
  int64_t size, inner, k;
  T* values;
  int64_t* positions;
};

bool IsFew(int64_t k, int64_t size) { return k * 16 <= size && k <= 32; }

// The first k entries of a line in the order of key(i).
template <typename Packed, typename T, typename F>
void OrderLine(const LineOf<T>& l, F&& key, std::vector<Packed>* memory) {
  const bool few = IsFew(l.k, l.size);
  memory->resize(static_cast<size_t>(few ? l.k : l.size));
  Packed* line = memory->data();
  if (few) {
    FirstFew<decltype(key(int64_t{0}))>(l.size, l.k, key, line);
  } else {
    for (int64_t s = 0; s < l.size; ++s) line[s] = Pack(key(s), s);
    SortLine(line, l.size);
  }
  for (int64_t s = 0; s < l.k; ++s) {
    const int64_t at = Position(line[s]);
    if (l.values) l.values[s * l.inner] = l.from[at * l.inner];
    if (l.positions) l.positions[s * l.inner] = at;
  }
}

// The same for keys of 64 bits in half as many bytes: what they exceed the least by is moved up as
// far as it goes, and the position takes the lowest bits. Keys that differ in none of the others
// are put in order afterwards. False: those are many, or there is nothing to gain.
template <typename T>
bool OrderTogether(const LineOf<T>& l, const uint64_t* keys, std::vector<uint64_t>* memory) {
  constexpr int64_t kLongest = int64_t{1} << 32, kFewTies = 8;  // of so many entries one may be tied
  if (IsFew(l.k, l.size) || l.size < 2 || l.size > kLongest) return false;
  uint64_t least = UINT64_MAX, most = 0;
  for (int64_t s = 0; s < l.size; ++s) least = std::min(least, keys[s]), most = std::max(most, keys[s]);
  const int up = most == least ? 0 : __builtin_clzll(most - least), bits = 64 - __builtin_clzll(static_cast<uint64_t>(l.size - 1));
  const uint64_t places = (uint64_t{1} << bits) - 1;
  memory->resize(static_cast<size_t>(l.size));
  uint64_t* line = memory->data();
  for (int64_t s = 0; s < l.size; ++s) line[s] = ((keys[s] - least) << up & ~places) | static_cast<uint64_t>(s);
  SortLine(line, l.size);
  if (bits > up && most != least) {
    auto tied = [&](int64_t i) { return ((line[i] ^ line[i - 1]) & ~places) == 0 && keys[line[i] & places] != keys[line[i - 1] & places]; };
    int64_t ties = 0;
    for (int64_t i = 1; i < l.size; ++i) ties += tied(i);
    if (ties > l.size / kFewTies) return false;
    for (int64_t i = 1, first = 0; ties > 0 && i <= l.size; ++i) {
      if (i < l.size && ((line[i] ^ line[first]) & ~places) == 0) continue;
      if (i - first > 1)
        std::sort(line + first, line + i, [&](uint64_t x, uint64_t y) {
          const uint64_t kx = keys[x & places], ky = keys[y & places];
          return kx != ky ? kx < ky : x < y;
        });
      first = i;
    }
  }
  for (int64_t s = 0; s < l.k; ++s) {
    const int64_t at = static_cast<int64_t>(line[s] & places);
    if (l.values) l.values[s * l.inner] = l.from[at * l.inner];
    if (l.positions) l.positions[s * l.inner] = at;
  }
  return true;
}

template <typename T, bool kWide>
void OrderLines(const T* data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, T* values, int64_t* positions) {
  using Key = std::conditional_t<kWide, uint64_t, decltype(SortKey(T{}))>;
  using Packed = decltype(Pack(Key{}, 0));
  const Key flip = ascending ? 0 : static_cast<Key>(~Key{0});
  ParallelFor(outer * inner, Grain(size), [&](int64_t begin, int64_t end) {
    std::vector<Packed> line;
    std::vector<uint64_t> keys, together;
    for (int64_t n = begin; n < end; ++n) {
      const int64_t o = n / inner, i = n % inner, to = o * k * inner + i;
      const LineOf<T> l = {data + o * size * inner + i,         size, inner, k, values ? values + to : nullptr,
                           positions ? positions + to : nullptr};
      auto key = [&l, flip](int64_t s) { return static_cast<Key>(static_cast<Key>(SortKey(l.from[s * l.inner])) ^ flip); };
      if constexpr (sizeof(T) == 8) {
        keys.resize(static_cast<size_t>(size));
        for (int64_t s = 0; s < size; ++s) keys[static_cast<size_t>(s)] = key(s);
        if (OrderTogether(l, keys.data(), &together)) continue;
      }
      OrderLine(l, key, &line);
    }
  });
}

constexpr int64_t kCountsFrom = 256;  // entries from which counting bytes outweighs going through all counts

// A line of bytes: how often each occurs says where they stand. Four counts of each byte take
// turns, because equal neighbours wait for each other's.
template <typename T>
void SortBytes(const T* from, int64_t size, int64_t inner, bool ascending, T* to) {
  constexpr int kFirst = std::is_signed<T>::value ? 128 : 0;  // the byte of the least value
  int64_t counts[4][256] = {};
  for (int64_t s = 0; s < size; ++s) ++counts[s & 3][static_cast<uint8_t>(from[s * inner])];
  for (int i = 0; i < 256; ++i) {
    const int byte = (ascending ? i : 255 - i) ^ kFirst;
    const int64_t n = counts[0][byte] + counts[1][byte] + counts[2][byte] + counts[3][byte];
    if (inner == 1) {
      std::memset(to, byte, static_cast<size_t>(n));
    } else {
      for (int64_t s = 0; s < n; ++s) to[s * inner] = static_cast<T>(byte);
    }
    to += n * inner;
  }
}

// Keys of the numbers that lie at `keys` and take their places, and the way back.
template <typename T, typename Key>
void MakeKeys(int64_t n, Key flip, Key* keys) {
  if constexpr (sizeof(T) >= 4 && !std::is_integral<T>::value) {
    MXNET_CPU_CALL(KeysOfFloats)(sizeof(T) == 8, n, flip, keys);
  } else {
    for (int64_t s = 0; s < n; ++s) {
      T v;
      std::memcpy(&v, keys + s, sizeof(v));
      keys[s] = KeyAs<T, Key>(v) ^ flip;
    }
  }
}
template <typename T, typename Key>
void MakeValues(int64_t n, Key flip, Key* keys) {
  if constexpr (sizeof(T) >= 4 && !std::is_integral<T>::value) {
    MXNET_CPU_CALL(FloatsOfKeys)(sizeof(T) == 8, n, flip, keys);
  } else {
    for (int64_t s = 0; s < n; ++s) {
      const T v = ValueOf<T>(static_cast<Key>(keys[s] ^ flip));
      std::memcpy(keys + s, &v, sizeof(v));
    }
  }
}

// All entries of every line, where nobody asks for positions. Keys are as long as numbers, so they
// are sorted where the result goes, or, of lines that lie apart, some lines beside each other.
template <typename T>
void SortLines(const T* data, int64_t outer, int64_t size, int64_t inner, bool ascending, T* values) {
  using Key = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  const Key flip = ascending ? 0 : static_cast<Key>(~Key{0});
  auto sort = [&](Key* keys) {
    MakeKeys<T, Key>(size, flip, keys);
    SortLine(keys, size);
    MakeValues<T, Key>(size, flip, keys);
  };
  if (inner == 1)
    return ParallelFor(outer, Grain(size), [&](int64_t begin, int64_t end) {
      if (values != data) std::memcpy(values + begin * size, data + begin * size, static_cast<size_t>((end - begin) * size) * sizeof(T));
      for (int64_t l = begin; l < end; ++l) sort(reinterpret_cast<Key*>(values + l * size));
    });
  constexpr int64_t kBeside = 64 / sizeof(T);  // a cache line
  const int64_t groups = (inner + kBeside - 1) / kBeside;
  ParallelFor(outer * groups, Grain(size * kBeside), [&](int64_t begin, int64_t end) {
    std::vector<Key> lines(static_cast<size_t>(size * kBeside));
    for (int64_t g = begin; g < end; ++g) {
      const int64_t i = g % groups * kBeside, beside = std::min(kBeside, inner - i), first = g / groups * size * inner + i;
      for (int64_t s = 0; s < size; ++s)
        for (int64_t j = 0; j < beside; ++j)
          std::memcpy(&lines[static_cast<size_t>(j * size + s)], data + first + s * inner + j, sizeof(T));
      for (int64_t j = 0; j < beside; ++j) sort(&lines[static_cast<size_t>(j * size)]);
      for (int64_t s = 0; s < size; ++s)
        for (int64_t j = 0; j < beside; ++j)
          std::memcpy(values + first + s * inner + j, &lines[static_cast<size_t>(j * size + s)], sizeof(T));
    }
  });
}

// The same for bytes.
template <typename T>
void SortLinesOfBytes(const T* data, int64_t outer, int64_t size, int64_t inner, bool ascending, T* values) {
  const uint32_t flip = ascending ? 0 : UINT32_MAX;
  ParallelFor(outer * inner, Grain(size), [&](int64_t begin, int64_t end) {
    std::vector<uint32_t> keys(static_cast<size_t>(size >= kCountsFrom ? 0 : size));
    for (int64_t l = begin; l < end; ++l) {
      const int64_t first = l / inner * size * inner + l % inner;
      const T* from = data + first;
      T* to = values + first;
      if (size >= kCountsFrom) {
        SortBytes(from, size, inner, ascending, to);
        continue;
      }
      for (int64_t s = 0; s < size; ++s) keys[static_cast<size_t>(s)] = ValueKey(from[s * inner]) ^ flip;
      SortLine(keys.data(), size);
      for (int64_t s = 0; s < size; ++s) to[s * inner] = ValueOf<T>(keys[static_cast<size_t>(s)] ^ flip);
    }
  });
}

}  // namespace

void OrderEntries(const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, void* values,
                  int64_t* positions) {
  VisitDType(data.dtype, "sort", [&](auto tag) {
    using T = decltype(tag);
    if (!positions && k == size) {
      auto sort = [&] {
        if constexpr (sizeof(T) == 1)
          return SortLinesOfBytes<T>;
        else
          return SortLines<T>;
      }();
      return sort(data.data<T>(), outer, size, inner, ascending, static_cast<T*>(values));
    }
    auto order =
        size <= static_cast<int64_t>(UINT32_MAX) ? OrderLines<T, false> : OrderLines<T, true>;  // do positions fit beside a 32-bit key?
    order(data.data<T>(), outer, size, inner, k, ascending, static_cast<T*>(values), positions);
  });
}

}  // namespace mxnet
