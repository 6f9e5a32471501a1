/* The GPU's kernels of gradient compression, on the emulator, beside those of the CPU. */
#include <memory>
#include <random>

#include "gpu_cases.h"
#include "kvstore/compression.h"

namespace mxnet {
namespace kvstore {
namespace {

using CompressionKernels = DeviceKernels;

struct Values {
  std::vector<float> in, residual, out;
  std::vector<uint32_t> bits;
};

/* Two rounds: the second has what the first left out. */
void Rounds(const Compression& how, const Context& where, Values* v) {
  RunContext run;
  run.ctx = where;
  const auto blob = [&](void* data, size_t size, int dtype) {
    TBlob b;
    b.dptr = data, b.shape = {static_cast<int64_t>(size)}, b.dtype = dtype, b.ctx = where;
    return b;
  };
  const TBlob bits = blob(v->bits.data(), v->bits.size(), kUint32);
  for (int round = 0; round < 2; ++round) {
    Compress(run, how, blob(v->in.data(), v->in.size(), kFloat32), blob(v->residual.data(), v->in.size(), kFloat32), bits);
    Decompress(run, how, bits, blob(v->out.data() + round * v->in.size(), v->in.size(), kFloat32));
  }
}

TEST_F(CompressionKernels, PackAndUnpackAsTheCpuDoes) {
  std::mt19937 rng(5);
  std::normal_distribution<float> normal;
  for (const Compression& how : {Compression{Compression::kTwoBit, 0.5f}, Compression{Compression::kOneBit, 0.25f}}) {
    for (size_t n : {size_t{1}, size_t{32}, size_t{1000}}) {
      auto cpu = std::make_shared<Values>();
      for (size_t i = 0; i < n; ++i) cpu->in.push_back(i % 5 == 0 ? how.threshold : normal(rng));
      cpu->residual.assign(n, 0);
      cpu->out.assign(2 * n, -9);
      cpu->bits.assign(static_cast<size_t>(how.Words(static_cast<int64_t>(n))), 0xffffffffu);
      auto gpu = std::make_shared<Values>(*cpu);
      Later(
          "compression of " + std::to_string(n), 4, [=] { Rounds(how, Context::GPU(0), gpu.get()); },
          [=] {
            Rounds(how, Context::CPU(), cpu.get());
            EXPECT_EQ(gpu->bits, cpu->bits);
            EXPECT_EQ(gpu->residual, cpu->residual);
            EXPECT_EQ(gpu->out, cpu->out);
          });
    }
  }
}

}  // namespace
}  // namespace kvstore
}  // namespace mxnet
