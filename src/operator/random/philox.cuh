// Philox4x32-10 as in random_philox.h, and the counters of a launch.
#include "rtc/prelude.cuh"

namespace mx {
struct Philox {
  unsigned w[4];
};
__device__ __forceinline__ Philox Draw(uint64 seed, uint64 counter, uint64 high = 0) {
  unsigned k0 = static_cast<unsigned>(seed), k1 = static_cast<unsigned>(seed >> 32);
  unsigned c0 = static_cast<unsigned>(counter), c1 = static_cast<unsigned>(counter >> 32), c2 = static_cast<unsigned>(high),
           c3 = static_cast<unsigned>(high >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c2 = h0 ^ c3 ^ k1;
    c1 = l1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  Philox r;
  r.w[0] = c0;
  r.w[1] = c1;
  r.w[2] = c2;
  r.w[3] = c3;
  return r;
}
__device__ __forceinline__ float ToFloat(unsigned w) { return static_cast<float>(w >> 8) * 5.9604644775390625e-8f; }
__device__ __forceinline__ double ToDouble(unsigned high, unsigned low) {
  return static_cast<double>((static_cast<uint64>(high) << 32 | low) >> 11) * 1.1102230246251565e-16;
}

// The members that DeviceDraws::AddTo of gpu_random.h adds. A CUDA graph, which draws other numbers
// in every replay, has seed and first counter behind `base`.
struct Draws {
  const uint64* base;
  uint64 seed, first;
  __device__ __forceinline__ uint64 Seed() const { return base ? base[0] : seed; }
  __device__ __forceinline__ uint64 First() const { return base ? base[1] + first : first; }
};
}  // namespace mx
