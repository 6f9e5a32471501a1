// Transformed weights in 3 or 2 bytes a number (winograd_kernels.h).
#include <cstring>

#include "operator/nn/cpu_gemm/vector_lanes.h"
#include "operator/nn/cpu_gemm/winograd_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {

MXNET_WINOGRAD_KERNELS

namespace {

/*
 * Integers err by the same for all channels, half of 2^-23 (2^-15) of a filter's largest weight;
 * upper bits of float32 by 2^-17 (2^-9) of each weight. Where the largest is more than this many
 * times the usual one the latter is less. The usual: the mean of square roots, squared, of all that
 * are not zero, which a few large weights hardly change.
 */
constexpr float kUneven = 64;
constexpr float kLeast = 1e-27f;    // of largest weights: steps between integers are ordinary numbers
constexpr float kOfZeros = 1e-33f;  // scale where all weights are zero, whose words may hold others' lower bits

Words Bits(Vec v) { return reinterpret_cast<Words>(v); }
Vec Magnitude(Vec v) { return reinterpret_cast<Vec>(Bits(v) & 0x7fffffffu); }
Vec Largest(Vec a, Vec b) { return a > b ? a : b; }

// Integers of 32 bits, of which the upper `bits` are kept, nearest to v; `lower`: what lies below
// them.
Words Fixed(Vec v, Words lower, int bits) {
  const float most = static_cast<float>((1 << (bits - 1)) - 1), unit = 1.f / static_cast<float>(int64_t{1} << (32 - bits));
  Vec q = v - __builtin_convertvector(lower, Vec) * unit;
  q = q > most ? Vec{} + most : q < -most ? Vec{} - most : q;
  for (int i = 0; i < kLanes; ++i) q[i] = __builtin_rintf(q[i]);
  return (reinterpret_cast<Words>(__builtin_convertvector(q, Ints)) << (32 - bits)) | lower;
}

// The same for the bits of float32, whose numbers of one sign have the order of their bits. What is
// not finite becomes not a number.
Words Upper(Vec v, Words lower, int bits) {
  const int below = 32 - bits;
  const Words value = Bits(v), magnitude = value & 0x7fffffffu, half = Words{} + (1u << (below - 1)), mask = Words{} + (~0u << below);
  const Words wanted = magnitude + half, rounded = wanted > lower ? (wanted - lower) & mask : Words{};
  const Words strange = reinterpret_cast<Words>(magnitude >= 0x7f800000u);
  return (strange ? Words{} + (0x7fc00000u & ~0u << below) : rounded) | lower | (value & 0x80000000u);
}

// One panel at one point, channels [c][kPanel].
template <int kBytes>
void Chunk(int64_t channels, const float* plain, float* to) {
  constexpr int kBits = 8 * kBytes;
  Vec scale[2];
  bool fixed = true;
  for (int half = 0; half < 2; ++half) {
    Vec largest = {}, roots = {}, count = {};
    Words strange = {};
    for (int64_t c = 0; c < channels; ++c) {
      Vec m = Magnitude(Load(plain + c * kPanel + half * kLanes));
      strange |= reinterpret_cast<Words>(Bits(m) >= 0x7f800000u);
      largest = Largest(largest, m);
      for (int i = 0; i < kLanes; ++i) m[i] = __builtin_sqrtf(m[i]);
      roots += m;
      count += m > 0.f ? Vec{} + 1.f : Vec{};
    }
    for (int i = 0; i < kLanes; ++i) {
      const float usual = count[i] > 0 ? roots[i] / count[i] : 0;
      if (strange[i] || largest[i] > kUneven * usual * usual || (largest[i] > 0 && largest[i] < kLeast)) fixed = false;
      scale[half][i] = largest[i] > 0 ? largest[i] / static_cast<float>((1 << (kBits - 1)) - 1) : kOfZeros;
    }
  }
  const Vec one = Vec{} + 1.f, inverse[2] = {one / scale[0], one / scale[1]};
  const float unit = fixed ? 1.f / static_cast<float>(int64_t{1} << (32 - kBits)) : 0.f;
  for (int half = 0; half < 2; ++half) Store(to + half * kLanes, scale[half] * unit);
  const auto word = [&](int64_t c, int half, Words lower) {
    const Vec v = c < channels ? Load(plain + c * kPanel + half * kLanes) : Vec{};
    return fixed ? Fixed(v * inverse[half], lower, kBits) : Upper(v, lower, kBits);
  };
  float* words = to + kPanel;
  for (int64_t c = 0; c < channels; c += 2, words += kBytes * kLanes) {
    if (kBytes == 3) {
      const Words last = word(c + 1, 1, Words{});
      Store(words, reinterpret_cast<Vec>(word(c, 0, last >> 8 & 0xffu)));
      Store(words + kLanes, reinterpret_cast<Vec>(word(c, 1, last >> 16 & 0xffu)));
      Store(words + 2 * kLanes, reinterpret_cast<Vec>(word(c + 1, 0, last >> 24)));
    } else {
      for (int half = 0; half < 2; ++half)
        Store(words + half * kLanes, reinterpret_cast<Vec>(word(c, half, word(c + 1, half, Words{}) >> 16)));
    }
  }
}

}  // namespace

int64_t WinogradChunk(const nn::WinogradDims& d) {
  return d.weight_bytes == 4 ? d.c * kPanel : kPanel + (d.c + 1) / 2 * d.weight_bytes * kLanes;
}

void WinogradCompact(const nn::WinogradDims& d, const float* plain, float* compact) {
  const int64_t size = WinogradChunk(d);
  for (int point = 0; point < d.Points(); ++point, plain += d.c * kPanel, compact += size) {
    if (d.weight_bytes == 3)
      Chunk<3>(d.c, plain, compact);
    else
      Chunk<2>(d.c, plain, compact);
  }
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
