/*
 * Words of several rows as vectors, for `*_variants.cc`: a variant is compiled once per instruction
 * set, and this is its own.
 */
#ifndef MXNET_OPERATOR_QUANTIZED_BLOCK_COLUMNS_H_
#define MXNET_OPERATOR_QUANTIZED_BLOCK_COLUMNS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cache_sets.h"
#include "base/vector_bytes.h"
#include "operator/quantized/block_dense.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int kLanes = kVectorBytes / 4, kWords = 4;  // words of a row that are read at once
typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef int32_t Ints __attribute__((vector_size(kLanes * 4)));
typedef uint32_t Words __attribute__((vector_size(kLanes * 4)));

/* Up to 16 bytes; zeros behind them. */
#ifdef __AVX2__
using Quarter = __m128i;
inline __attribute__((always_inline)) Quarter LoadQuarter(const char* from, int64_t bytes) {
  if (bytes == 16) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  alignas(16) char part[16] = {};
  std::memcpy(part, from, static_cast<size_t>(bytes));
  return _mm_load_si128(reinterpret_cast<const __m128i*>(part));
}
#else
typedef uint32_t Quarter __attribute__((vector_size(16)));
inline __attribute__((always_inline)) Quarter LoadQuarter(const char* from, int64_t bytes) {
  Quarter q = {};
  std::memcpy(&q, from, static_cast<size_t>(bytes));
  return q;
}
#endif

#if defined(__AVX512F__)
using Raw = __m512i;
inline Raw Join(const Quarter* q) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_set_m128i(q[1], q[0])), _mm256_set_m128i(q[3], q[2]), 1);
}
inline Raw Low32(Raw a, Raw b) { return _mm512_unpacklo_epi32(a, b); }
inline Raw High32(Raw a, Raw b) { return _mm512_unpackhi_epi32(a, b); }
inline Raw Low64(Raw a, Raw b) { return _mm512_unpacklo_epi64(a, b); }
inline Raw High64(Raw a, Raw b) { return _mm512_unpackhi_epi64(a, b); }
#elif defined(__AVX2__)
using Raw = __m256i;
inline Raw Join(const Quarter* q) { return _mm256_set_m128i(q[1], q[0]); }
inline Raw Low32(Raw a, Raw b) { return _mm256_unpacklo_epi32(a, b); }
inline Raw High32(Raw a, Raw b) { return _mm256_unpackhi_epi32(a, b); }
inline Raw Low64(Raw a, Raw b) { return _mm256_unpacklo_epi64(a, b); }
inline Raw High64(Raw a, Raw b) { return _mm256_unpackhi_epi64(a, b); }
#else
static_assert(kLanes == 4, "a register is a quarter");
using Raw = Quarter;
inline Raw Join(const Quarter* q) { return *q; }
inline Raw Low32(Raw a, Raw b) { return __builtin_shuffle(a, b, Raw{0, 4, 1, 5}); }
inline Raw High32(Raw a, Raw b) { return __builtin_shuffle(a, b, Raw{2, 6, 3, 7}); }
inline Raw Low64(Raw a, Raw b) { return __builtin_shuffle(a, b, Raw{0, 1, 4, 5}); }
inline Raw High64(Raw a, Raw b) { return __builtin_shuffle(a, b, Raw{2, 3, 6, 7}); }
#endif

/* Word w of each of kLanes rows is words[w]; of each row `bytes` bytes from `at` on are read, at
 * most 16. */
template <typename T>
inline __attribute__((always_inline)) void Columns(const T* const* rows, int64_t at, int64_t bytes, Words* words) {
  constexpr int kQuarters = kLanes / 4;
  Raw r[kWords];
#pragma GCC unroll 4
  for (int i = 0; i < kWords; ++i) {
    Quarter q[kQuarters];
#pragma GCC unroll 4
    for (int j = 0; j < kQuarters; ++j) q[j] = LoadQuarter(reinterpret_cast<const char*>(rows[4 * j + i]) + at, bytes);
    r[i] = Join(q);
  }
  const Raw a = Low32(r[0], r[1]), b = High32(r[0], r[1]), c = Low32(r[2], r[3]), d = High32(r[2], r[3]);
  words[0] = reinterpret_cast<Words>(Low64(a, c)), words[1] = reinterpret_cast<Words>(High64(a, c));
  words[2] = reinterpret_cast<Words>(Low64(b, d)), words[3] = reinterpret_cast<Words>(High64(b, d));
}

/* kLanes rows of a weight, one column of a panel each; behind the last of `count`, that one. */
struct ColumnsOf {
  static constexpr int64_t kSegment = 64;
  const uint8_t *packed[kLanes], *near_rows[kLanes];
  const float *scale[kLanes], *shift[kLanes];
  const bool shifted;
  const int64_t row_bytes;
  const bool collide;  // the rows push each other out of the first-level cache: each line is read once
  int64_t segment = -1;
  alignas(64) uint8_t near[kLanes][kSegment];  // that segment of the rows

  ColumnsOf(const BlockRows& w, int64_t from, int64_t count)
      : shifted(w.shift != nullptr), row_bytes(w.blocks * w.bytes), collide(RowsCollide(row_bytes, kLanes)) {
    for (int l = 0; l < kLanes; ++l) {
      const BlockRows row = w.From(std::min(from + l, count - 1));
      packed[l] = row.packed, scale[l] = row.scale, shift[l] = row.shift, near_rows[l] = near[l];
    }
  }

  /* As Columns. */
  inline __attribute__((always_inline)) void WordsAt(int64_t at, int64_t bytes, Words* words) {
    if (!collide || at % kSegment + bytes > kSegment) return Columns(packed, at, bytes, words);
    if (at / kSegment != segment) {
      segment = at / kSegment;
      const int64_t begin = segment * kSegment, there = std::min(kSegment, row_bytes - begin);
      for (int l = 0; l < kLanes; ++l) {
        if (there == kSegment)
          std::memcpy(near[l], packed[l] + begin, kSegment);
        else
          std::memcpy(near[l], packed[l] + begin, static_cast<size_t>(there));
      }
    }
    Columns(near_rows, at % kSegment, bytes, words);
  }

  /* Bytes that are wanted next come while these are multiplied. */
  void Ask(int64_t at, int64_t bytes) const {
    for (int l = 0; l < kLanes; ++l)
      for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(packed[l] + at + i, 0, 2);
  }

  /* Scales of `blocks` blocks, at most four, and shifts: of numbers around `half` without shift. */
  void Factors(int64_t first, int64_t blocks, float half, Vec* scales, Vec* shifts) const {
    Words words[kWords];
    Columns(scale, first * 4, blocks * 4, words);
    for (int i = 0; i < kWords; ++i) scales[i] = reinterpret_cast<Vec>(words[i]), shifts[i] = scales[i] * half;
    if (!shifted) return;
    Columns(shift, first * 4, blocks * 4, words);
    for (int i = 0; i < kWords; ++i) shifts[i] = reinterpret_cast<Vec>(words[i]);
  }
};

}  // namespace
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_BLOCK_COLUMNS_H_
