/*
 * Philox4x32-10: random numbers as a function of (seed, counter), so any thread computes any part
 * of a sequence. Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11.
 * One counter gives four 32-bit words. Kernels reserve counters with RandomState::Take and draw
 * word i of element group g from counter `first + g`.
 */
#ifndef MXNET_OPERATOR_SHARED_RANDOM_PHILOX_H_
#define MXNET_OPERATOR_SHARED_RANDOM_PHILOX_H_

#include <cstdint>

namespace mxnet {

struct Philox {
  uint32_t word[4];

  Philox(uint64_t seed, uint64_t counter) : Philox(seed, counter, 0) {}
  Philox(uint64_t seed, uint64_t counter_low, uint64_t counter_high) {
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    uint32_t c0 = static_cast<uint32_t>(counter_low), c1 = static_cast<uint32_t>(counter_low >> 32);
    uint32_t c2 = static_cast<uint32_t>(counter_high), c3 = static_cast<uint32_t>(counter_high >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = static_cast<uint64_t>(0xD2511F53u) * c0, p1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
      const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0, n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<uint32_t>(p1);
      c3 = static_cast<uint32_t>(p0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    word[0] = c0, word[1] = c1, word[2] = c2, word[3] = c3;
  }
  /* Uniform in [0, 1), 24 and 53 bits. */
  static float ToFloat(uint32_t w) { return static_cast<float>(w >> 8) * 0x1p-24f; }
  static double ToDouble(uint32_t high, uint32_t low) {
    return static_cast<double>((static_cast<uint64_t>(high) << 32 | low) >> 11) * 0x1p-53;
  }
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_RANDOM_PHILOX_H_
