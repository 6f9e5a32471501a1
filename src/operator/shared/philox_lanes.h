/*
 * Philox4x32-10 of many counters at once, for `*_variants.cc`: a variant is compiled once per
 * instruction set, and these are its own. The numbers are those of random_philox.h. Words lie in
 * lanes of 64 bits, whose lower halves the processors multiply to 64 bits.
 */
#ifndef MXNET_OPERATOR_SHARED_PHILOX_LANES_H_
#define MXNET_OPERATOR_SHARED_PHILOX_LANES_H_

#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/vector_bytes.h"
#include "mxnet/base.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int kPhiloxLanes = kVectorBytes / 8;
constexpr int kPhiloxParts = 4;                                // under way side by side, so that a processor need not wait for a product
constexpr int kPhiloxWords = 4 * kPhiloxLanes * kPhiloxParts;  // of one call
typedef uint64_t PhiloxVec __attribute__((vector_size(kPhiloxLanes * 8)));

/* The lower halves times a factor; what is in the upper halves means nothing. */
inline __attribute__((always_inline)) PhiloxVec TimesLower(PhiloxVec a, uint32_t factor) {
#if defined(__AVX512F__)
  return reinterpret_cast<PhiloxVec>(_mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), _mm512_set1_epi64(factor)));
#elif defined(__AVX2__)
  return reinterpret_cast<PhiloxVec>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), _mm256_set1_epi64x(factor)));
#elif defined(__x86_64__)
  return reinterpret_cast<PhiloxVec>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), _mm_set1_epi64x(factor)));
#else
  return (a & 0xffffffffu) * factor;
#endif
}

/* Even and odd elements of the result come from a and b: the lower or the upper halves of both. */
inline __attribute__((always_inline)) PhiloxVec Interleave(PhiloxVec a, PhiloxVec b, bool upper) {
#if defined(__AVX512F__)
  return upper ? __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15) : __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#elif defined(__AVX2__)
  return upper ? __builtin_shufflevector(a, b, 2, 6, 3, 7) : __builtin_shufflevector(a, b, 0, 4, 1, 5);
#else
  return upper ? __builtin_shufflevector(a, b, 1, 3) : __builtin_shufflevector(a, b, 0, 2);
#endif
}

/* The words of counters first, first + 1, ...: out[4 * i + w] is word w of counter first + i, for
 * kPhiloxWords words; `high` is the counters' upper half. */
inline __attribute__((always_inline)) void PhiloxWords(uint64_t seed, uint64_t first, uint32_t* out, uint64_t high = 0) {
  PhiloxVec c0[kPhiloxParts], c1[kPhiloxParts], c2[kPhiloxParts], c3[kPhiloxParts];
  PhiloxVec counter;
  for (int i = 0; i < kPhiloxLanes; ++i) counter[i] = first + static_cast<uint64_t>(i);
#pragma GCC unroll 4
  for (int p = 0; p < kPhiloxParts; ++p) {
    c0[p] = counter + static_cast<uint64_t>(p * kPhiloxLanes);
    c1[p] = c0[p] >> 32, c2[p] = PhiloxVec{} + high, c3[p] = PhiloxVec{} + (high >> 32);
  }
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 4
    for (int p = 0; p < kPhiloxParts; ++p) {
      const PhiloxVec p0 = TimesLower(c0[p], 0xD2511F53u), p1 = TimesLower(c2[p], 0xCD9E8D57u);
      c0[p] = (p1 >> 32) ^ c1[p] ^ uint64_t { k0 };
      c2[p] = (p0 >> 32) ^ c3[p] ^ uint64_t { k1 };
      c1[p] = p1, c3[p] = p0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPhiloxParts; ++p) {
    const PhiloxVec a = (c0[p] & 0xffffffffu) | c1[p] << 32, b = (c2[p] & 0xffffffffu) | c3[p] << 32;
    const PhiloxVec words[2] = {Interleave(a, b, false),
                                Interleave(a, b, true)};  // of 64 bits each: words 0 and 1, then 2 and 3 of a counter
    std::memcpy(out + 4 * kPhiloxLanes * p, words, sizeof(words));
  }
}

}  // namespace
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_PHILOX_LANES_H_
