// Numbers of few bits as panels of floats, in the order in which packed products read them.
#include <algorithm>
#include <cstring>

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

/* Word w of each of kLanes rows is words[w]; of each row `bytes` bytes are read, at most 16. */
template <typename T>
inline __attribute__((always_inline)) void Columns(const T* const* rows, int64_t at, int64_t bytes, Words* words) {
  constexpr int kQuarters = kLanes / 4;
  Raw r[kWords];
#pragma GCC unroll 4
  for (int i = 0; i < kWords; ++i) {
    Quarter q[kQuarters];
#pragma GCC unroll 4
    for (int j = 0; j < kQuarters; ++j) q[j] = LoadQuarter(reinterpret_cast<const char*>(rows[4 * j + i] + at), bytes);
    r[i] = Join(q);
  }
  const Raw a = Low32(r[0], r[1]), b = High32(r[0], r[1]), c = Low32(r[2], r[3]), d = High32(r[2], r[3]);
  words[0] = reinterpret_cast<Words>(Low64(a, c)), words[1] = reinterpret_cast<Words>(High64(a, c));
  words[2] = reinterpret_cast<Words>(Low64(b, d)), words[3] = reinterpret_cast<Words>(High64(b, d));
}

/* Number i of the words. */
template <int kBits>
inline __attribute__((always_inline)) Vec NumberOf(Words words, int i) {
  const Words low = words >> (i * kBits);
#ifdef __AVX512F__
  if constexpr (kBits < 8) {  // the index of a permutation is its lowest 4 bits
    const __m512 table = kBits == 4 ? _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                                    : _mm512_setr_ps(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    return reinterpret_cast<Vec>(_mm512_permutexvar_ps(reinterpret_cast<__m512i>(low), table));
  }
#endif
  return __builtin_convertvector(reinterpret_cast<Ints>(low & ((1u << kBits) - 1)), Vec);
}

/* kLanes rows, one column of the panel each. */
template <int kBits>
struct Rows {
  const uint8_t* packed[kLanes];
  const float *scale[kLanes], *shift[kLanes];
  bool shifted;

  Rows(const BlockRows& w, int64_t from, int64_t count) : shifted(w.shift != nullptr) {
    for (int l = 0; l < kLanes; ++l) {
      const int64_t r = std::min(from + l, count - 1);
      packed[l] = w.packed + r * w.blocks * w.bytes, scale[l] = w.scale + r * w.blocks;
      shift[l] = shifted ? w.shift + r * w.blocks : nullptr;
    }
  }

  /* Bytes that are wanted next come while these are multiplied. */
  void Ask(int64_t at, int64_t bytes) const {
    for (int l = 0; l < kLanes; ++l)
      for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(packed[l] + at + i, 0, 2);
  }

  /* Scales of `blocks` blocks, at most four, and shifts. */
  void Factors(int64_t first, int64_t blocks, Vec* scales, Vec* shifts) const {
    constexpr float kHalf = 1 << (kBits - 1);
    Words words[kWords];
    Columns(scale, first, blocks * 4, words);
    for (int i = 0; i < kWords; ++i) scales[i] = reinterpret_cast<Vec>(words[i]), shifts[i] = scales[i] * kHalf;
    if (!shifted) return;
    Columns(shift, first, blocks * 4, words);
    for (int i = 0; i < kWords; ++i) shifts[i] = reinterpret_cast<Vec>(words[i]);
  }

  /* `bytes` bytes of each row, at most 16; returns the end of what is written. */
  float* Write(int64_t at, int64_t bytes, Vec scale_of, Vec shift_of, float* to, int64_t width) const {
    constexpr int kNumbers = 32 / kBits;  // of a word
    Words words[kWords];
    Columns(packed, at, bytes, words);
#pragma GCC unroll 4
    for (int w = 0; w < kWords; ++w) {
      if (w * 4 >= bytes) break;
#pragma GCC unroll 16
      for (int i = 0; i < kNumbers; ++i, to += width) {
        const Vec number = NumberOf<kBits>(words[w], i) * scale_of - shift_of;
        std::memcpy(to, &number, sizeof(number));
      }
    }
    return to;
  }

  /* Bytes that do not fill a word. */
  float* WriteRest(int64_t at, int64_t bytes, Vec scale_of, Vec shift_of, float* to, int64_t width) const {
    for (int64_t i = 0; i < bytes; ++i)
      for (int place = 0; place < 8 / kBits; ++place, to += width)
        for (int l = 0; l < kLanes; ++l)
          to[l] = static_cast<float>(packed[l][at + i] >> (place * kBits) & ((1 << kBits) - 1)) * scale_of[l] - shift_of[l];
    return to;
  }
};

template <int kBits>
void Fill(const BlockRows& w, int64_t count, int64_t first, int64_t blocks, int64_t ahead, float* panel, int64_t width) {
  for (int64_t column = 0; column < width; column += kLanes) {
    const Rows<kBits> rows(w, column, count);
    rows.Ask(first * w.bytes + ahead, ahead ? blocks * w.bytes : 0);
    float* to = panel + column;
    for (int64_t b = first; b < first + blocks; b += kWords) {
      const int64_t some = std::min<int64_t>(kWords, first + blocks - b);
      Vec scales[kWords], shifts[kWords];
      rows.Factors(b, some, scales, shifts);
      for (int64_t i = 0; i < some; ++i) {
        const int64_t end = (b + i + 1) * w.bytes;
        int64_t at = end - w.bytes;
        for (; at + 16 <= end; at += 16) to = rows.Write(at, 16, scales[i], shifts[i], to, width);
        const int64_t rest = (end - at) / 4 * 4;
        if (rest) to = rows.Write(at, rest, scales[i], shifts[i], to, width);
        to = rows.WriteRest(at + rest, end - at - rest, scales[i], shifts[i], to, width);
      }
    }
  }
}

}  // namespace

void FillPanel(const BlockRows& weight, int64_t count, int64_t first, int64_t blocks, int64_t ahead, float* panel, int64_t width) {
  const auto fill = weight.bits == 8 ? Fill<8> : weight.bits == 4 ? Fill<4> : Fill<2>;
  fill(weight, count, first, blocks, ahead, panel, width);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
