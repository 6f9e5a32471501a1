#include "operator/quantized/packed_winograd.h"

#include <algorithm>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/cpu_limit.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/winograd_blocks.h"

namespace mxnet {
namespace quantized {
namespace {

using nn::WinogradDims;

constexpr int64_t kGap = 32;            // numbers between tiles: powers of two would fall into the same sets of the cache
constexpr int64_t kLeastChannels = 16;  // fewer do not fill the vectors
constexpr int64_t kMostSum = 1 << 29;   // magnitudes of sums that are known by their remainder
constexpr int64_t kMostProduct = 255 * 128;
constexpr int64_t kLargeBytes = 8 << 20;  // of weights of the larger tiles, which must then be worth their memory
constexpr double kClear = 1.15;
constexpr int kTiles[] = {2, 4};

WinogradDims DimsOf(const PackedJob& job, int m) {
  const nn::ConvDims& d = job.d;
  WinogradDims w;
  w.points = m + 2;
  w.batch = d.batch, w.c = d.channels, w.k = d.filters;
  w.h = d.in[1], w.w = d.in[2], w.oh = d.out[1], w.ow = d.out[2], w.pad_h = d.pad[1], w.pad_w = d.pad[2];
  return w;
}

bool CanCompute(const PackedJob& job) {
  const nn::ConvDims& d = job.d;
  if (d.groups != 1 || job.zeros || d.channels < kLeastChannels || d.filters < kLeastChannels) return false;
  if (d.kernel[0] != 1 || d.in[0] != 1 || d.out[0] != 1 || d.pad[0] != 0) return false;
  for (int i = 1; i < 3; ++i)
    if (d.kernel[i] != 3 || d.stride[i] != 1 || d.dilate[i] != 1) return false;
  return job.deep * kMostProduct < kMostSum;
}

int64_t PanelSize(const WinogradDims& d) { return d.Points() * WidePairs(d.c) * 2 * kWideColumns; }

/* Of a cycle: bytes of weights, and products of direct sums and of tiles. Cycles of a channel and
 * of a filter in the transforms of a tile. */
struct Rates {
  double bytes, direct, tiles, channel, filter;
};

/* Zen 5 begins two instructions of 512 bits in a cycle, where Zen 4 and others begin one. */
bool BeginsTwoProducts() {
#ifdef __x86_64__
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!HasVnni() || !__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || !__get_cpuid(1, &a, &b, &c, &d)) return false;
  constexpr unsigned kZen5 = 0x1a;
  return (a >> 8 & 15) + (a >> 20 & 255) == kZen5;
#else
  return false;
#endif
}

// Zen 4: 64 products of bytes, or 32 of 16 bits, are an instruction each, and one a cycle; 16 bits
// of pairs without VNNI take half as long again. Direct sums reach 0.94 of that. Of Zen 5's two
// instructions oneDNN reaches 0.9, and tiles 0.8; transforms are hardly faster (docs/winograd.md).
Rates RatesHere() {
  static const bool two = BeginsTwoProducts();
  if (two) return {18, 115, 52, 5.5, 17};
  return {12, 60, HasVnni() ? 32.0 : 21.0, 7, 22};
}

/* A convolution for winograd_blocks.h. */
struct Blocks {
  const PackedJob& job;
  const WinogradDims& d;
  const int16_t* u;
  const int64_t channels = RoundUp(d.c, MXNET_CPU_CALL(ByteLanes)()), tiles = d.Tiles(), filters = d.k, panels = WidePanels(d.k),
                panel = kWideColumns, rows = MXNET_CPU_CALL(ByteRows)(), weight_bytes = WinogradWeights(d) * 2;
  int64_t TileBytes() const { return RoundUp((d.Points() * channels + kGap) * 2, 64); }
  int64_t ProductPitch(int64_t of) const { return (d.Points() * of + 1) * kWideColumns; }
  int64_t ProductBytes(int64_t of, int64_t count) const { return RoundUp(ProductPitch(of) * count * 4, 64); }
  BytePart Part(const char* v) const { return {reinterpret_cast<int16_t*>(const_cast<char*>(v)), TileBytes() / 2, channels}; }
  void Input(int64_t begin, int64_t end, char* v) const {
    MXNET_CPU_CALL(BytesToPoints)(d, job.src, job.is_unsigned, job.src_zero, begin, end, Part(v));
  }
  void Products(const char* v, int64_t begin, int64_t end, int64_t p, int64_t stop, char* buffer) const {
    const ProductPart m{reinterpret_cast<int32_t*>(buffer), ProductPitch(stop - p), (stop - p) * kWideColumns};
    MXNET_CPU_CALL(MultiplyPoints)(d, Part(v), end - begin, u, p, stop, m);
    const int64_t filter = p * kWideColumns, n = std::min(d.k, stop * kWideColumns) - filter, side = d.TileH();
    alignas(64) int32_t sums[16 * kColumns];  // of a tile
    for (int64_t t = begin; t < end; ++t) {
      MXNET_CPU_CALL(PointsToSums)(d, m.m + (t - begin) * m.tile, m.point, m.point, sums, kColumns);
      const nn::WinogradTile at(d, t);
      const int64_t lines = std::min(side, d.oh - at.y), width = std::min(side, d.ow - at.x);
      for (int64_t i = 0; i < lines; ++i)
        job.Finish(sums + i * side * kColumns, kColumns, (at.n * d.oh + at.y + i) * d.ow + at.x, width, filter, n);
    }
  }
};

}  // namespace

// Multiply-adds, with what transforms and the reading of weights cost in units of them (fitted to
// Zen 4, and to two threads that share the memory). Weights are packed for one call where they are
// not kept.
bool WinogradTakes(const PackedJob& job, bool kept, WinogradDims* dims) {
  if (!Env::Get().cpu_allow_winograd || !CanCompute(job)) return false;
  const double pairs = static_cast<double>(job.d.channels * job.d.filters);
  double least = 9 * pairs * (static_cast<double>(job.d.batch * job.d.OutSize()) + (kept ? 4 : 16));
  bool takes = false;
  for (int m : kTiles) {
    const WinogradDims d = DimsOf(job, m);
    const auto tiles = static_cast<double>(d.Tiles());
    const double work = (m == 4 && 2 * WinogradWeights(d) > kLargeBytes ? kClear : 1) * d.Points() *
                        (pairs * (tiles + (kept ? 4 : 60)) + 7 * tiles * static_cast<double>(d.c + d.k));
    if (work < least) least = work, *dims = d, takes = true;
  }
  return takes;
}

// Cycles of a thread: weights come from the last cache, whatever their size; transforms take so
// long for each channel and filter of a tile. Measured ratios were off the rule's by up to 0.1.
bool BeatsByteProducts(const WinogradDims& d) {
  constexpr double kClearly = 0.95;
  if (d.points != 6) return false;
  const Rates r = RatesHere();
  const auto tiles = static_cast<double>(d.Tiles()), weights = static_cast<double>(WinogradWeights(d));
  const double pairs = static_cast<double>(d.c * d.k), channels = static_cast<double>(RoundUp(d.c, MXNET_CPU_CALL(ByteLanes)())),
               filters = static_cast<double>(WidePanels(d.k) * kWideColumns);
  const double direct = 9 * pairs * (static_cast<double>(d.batch * d.oh * d.ow) / r.direct + 1 / r.bytes);
  const double products = weights * (tiles / r.tiles + 2 / r.bytes);
  return products + tiles * (r.channel * channels + r.filter * filters) < kClearly * direct;
}

int64_t WinogradWeights(const WinogradDims& d) { return WidePanels(d.k) * PanelSize(d); }

nn::WeightParts TransformedParts(const PackedJob& job, const WinogradDims& d) {
  nn::WeightParts parts;
  parts.count = WidePanels(d.k);
  parts.bytes = static_cast<size_t>(9 * d.c * kWideColumns), parts.all = static_cast<size_t>(9 * d.c * d.k);
  parts.fill = [d, last = job.weights_last](const void* from, int64_t begin, int64_t end, float* form, void*) {
    for (int64_t p = begin; p < end; ++p) {
      WinogradDims own = d;
      own.k = d.k - p * kWideColumns;
      MXNET_CPU_CALL(FiltersToPoints)
      (own, static_cast<const int8_t*>(from) + (p - begin) * 9 * d.c * kWideColumns, last,
       reinterpret_cast<int16_t*>(form) + p * PanelSize(d));
    }
  };
  return parts;
}

void WinogradProducts(KernelArgs& args, const PackedJob& job, const WinogradDims& d, const int16_t* weights) {
  const char* name = d.points == 6 ? "Winograd F(4x4, 3x3) of bytes" : "Winograd F(2x2, 3x3) of bytes";
  CurrentCpuLevel() == CpuLevel::kV4&& HasVnni() ? Ran(name, RanAt::kAvx512Vnni) : Ran(name);
  const double flops = 2.0 * d.Points() * static_cast<double>(d.Tiles() * d.c) * static_cast<double>(d.k);
  nn::WinogradByBlocks(Blocks{job, d, weights}, flops, args.workspace);
}

}  // namespace quantized
}  // namespace mxnet
