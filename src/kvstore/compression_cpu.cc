#include <algorithm>

#include "kvstore/compression_kernels.h"
#include "kvstore/reduce.h"

namespace mxnet {
namespace kvstore {
namespace {

// One word is made at a time, by one thread: kCodes codes of 32 / kCodes bits.
struct TwoBit {
  static constexpr int kCodes = 16, kBits = 2;
  static uint32_t Code(float sum, float threshold) { return sum >= threshold ? 1 : sum <= -threshold ? 2 : 0; }
  static float Value(uint32_t code, float threshold) { return code == 1 ? threshold : code == 2 ? -threshold : 0.0f; }
};
struct OneBit {
  static constexpr int kCodes = 32, kBits = 1;
  static uint32_t Code(float sum, float threshold) { return sum > threshold ? 1 : 0; }
  static float Value(uint32_t code, float) { return code != 0 ? 1.0f : -1.0f; }
};

template <typename How>
void Pack(const float* in, float* residual, uint32_t* bits, int64_t n, float threshold) {
  ParallelForThreads(ReductionThreads(n), (n + How::kCodes - 1) / How::kCodes, [&](int64_t begin, int64_t end) {
    for (int64_t w = begin; w < end; ++w) {
      const int64_t first = w * How::kCodes, count = std::min<int64_t>(How::kCodes, n - first);
      uint32_t word = 0;
      for (int64_t i = 0; i < count; ++i) {
        const float sum = residual[first + i] + in[first + i];
        const uint32_t code = How::Code(sum, threshold);
        residual[first + i] = sum - How::Value(code, threshold);
        word |= code << (How::kBits * i);
      }
      bits[w] = word;
    }
  });
}

template <typename How>
void Unpack(const uint32_t* bits, float* out, int64_t n, float threshold) {
  ParallelForThreads(ReductionThreads(n), (n + How::kCodes - 1) / How::kCodes, [&](int64_t begin, int64_t end) {
    for (int64_t w = begin; w < end; ++w) {
      const int64_t first = w * How::kCodes, count = std::min<int64_t>(How::kCodes, n - first);
      const uint32_t word = bits[w];
      for (int64_t i = 0; i < count; ++i) out[first + i] = How::Value(word >> (How::kBits * i) & ((1u << How::kBits) - 1), threshold);
    }
  });
}

}  // namespace

void CompressOnHost(const Compression& how, const TBlob& in, const TBlob& residual, const TBlob& bits) {
  const auto pack = how.kind == Compression::kTwoBit ? Pack<TwoBit> : Pack<OneBit>;
  pack(in.data<float>(), residual.data<float>(), bits.data<uint32_t>(), in.Size(), how.threshold);
}

void DecompressOnHost(const Compression& how, const TBlob& bits, const TBlob& out) {
  const auto unpack = how.kind == Compression::kTwoBit ? Unpack<TwoBit> : Unpack<OneBit>;
  unpack(bits.data<uint32_t>(), out.data<float>(), out.Size(), how.threshold);
}

}  // namespace kvstore
}  // namespace mxnet
