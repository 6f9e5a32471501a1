// Compression of gradients to `bits` bits for a value; see kvstore/compression.h. A thread makes or
// reads one word.
#include "rtc/loop.cuh"

namespace kernels {

template <int bits>
__device__ __forceinline__ unsigned Code(float sum, float t) {
  return bits == 2 ? (sum >= t ? 1u : sum <= -t ? 2u : 0u) : (sum > t ? 1u : 0u);
}
template <int bits>
__device__ __forceinline__ float Value(unsigned code, float t) {
  return bits == 2 ? (code == 1 ? t : code == 2 ? -t : 0.0f) : (code != 0 ? 1.0f : -1.0f);
}

template <typename I, int bits>
struct compress_bits {
  struct Args {
    const float* in;
    float* residual;
    unsigned* words;
    double threshold;
    long long values;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long w) {
    const float t = static_cast<float>(a.threshold);
    const long long first = w * (32 / bits);
    const long long rest = a.values - first;
    const int count = rest < 32 / bits ? static_cast<int>(rest) : 32 / bits;
    unsigned word = 0;
    for (int i = 0; i < count; ++i) {
      const float sum = a.residual[first + i] + a.in[first + i];
      const unsigned code = Code<bits>(sum, t);
      a.residual[first + i] = sum - Value<bits>(code, t);
      word |= code << (bits * i);
    }
    a.words[w] = word;
  }
};

template <typename I, int bits>
struct decompress_bits {
  struct Args {
    const unsigned* words;
    float* out;
    double threshold;
    long long values;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long w) {
    const float t = static_cast<float>(a.threshold);
    const long long first = w * (32 / bits);
    const long long rest = a.values - first;
    const int count = rest < 32 / bits ? static_cast<int>(rest) : 32 / bits;
    const unsigned word = a.words[w];
    for (int i = 0; i < count; ++i) a.out[first + i] = Value<bits>(word >> (bits * i) & ((1u << bits) - 1), t);
  }
};

}  // namespace kernels
