#include "kvstore/compression_kernels.h"
#include "rtc/loop.h"

namespace mxnet {
namespace kvstore {
namespace {

// The loop is over words.
void Launch(const RunContext& run, const Compression& how, const char* name, rtc::Arguments* args, const TBlob& bits, int64_t values) {
  args->Add(static_cast<double>(how.threshold)).Add(values);
  rtc::LaunchItems(run, {"kvstore/gpu_compression.cuh", name, {}, {how.kind == Compression::kTwoBit ? 2 : 1}}, bits.Size(), args);
}

}  // namespace

void CompressOnDevice(const RunContext& run, const Compression& how, const TBlob& in, const TBlob& residual, const TBlob& bits) {
  rtc::Arguments args;
  args.Add(in.dptr).Add(residual.dptr).Add(bits.dptr);
  Launch(run, how, "compress_bits", &args, bits, in.Size());
}

void DecompressOnDevice(const RunContext& run, const Compression& how, const TBlob& bits, const TBlob& out) {
  rtc::Arguments args;
  args.Add(bits.dptr).Add(out.dptr);
  Launch(run, how, "decompress_bits", &args, bits, out.Size());
}

}  // namespace kvstore
}  // namespace mxnet
