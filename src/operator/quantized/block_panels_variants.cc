// Numbers of few bits as panels of floats, in the order in which packed products read them.
#include "operator/quantized/block_columns.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

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

template <int kBits>
struct Rows : ColumnsOf {
  using ColumnsOf::ColumnsOf;

  /* `bytes` bytes of each row, at most 16; returns the end of what is written. */
  float* Write(int64_t at, int64_t bytes, Vec scale_of, Vec shift_of, float* to, int64_t width) {
    constexpr int kNumbers = 32 / kBits;  // of a word
    Words words[kWords];
    WordsAt(at, bytes, words);
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
  constexpr float kHalf = 1 << (kBits - 1);
  for (int64_t column = 0; column < width; column += kLanes) {
    Rows<kBits> rows(w, column, count);
    rows.Ask(first * w.bytes + ahead, ahead ? blocks * w.bytes : 0);
    float* to = panel + column;
    for (int64_t b = first; b < first + blocks; b += kWords) {
      const int64_t some = std::min<int64_t>(kWords, first + blocks - b);
      Vec scales[kWords], shifts[kWords];
      rows.Factors(b, some, kHalf, scales, shifts);
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
