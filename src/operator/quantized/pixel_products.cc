#include "operator/quantized/pixel_products.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/cpu_limit.h"
#include "base/ran.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"
#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace quantized {
namespace {

constexpr int64_t kTile = 12;              // rows of a register tile
constexpr int64_t kBlockBytes = 64 << 10;  // of pixels that meet all panels while they are in a cache
constexpr int64_t kMostTiles = 16;         // of a block

int64_t Places(int64_t filters) { return RoundUp(filters, kPanelPair / 2); }
int64_t PackedBytes(const PackedJob& l) { return Places(l.d.filters) * l.d.channels; }
const int32_t* SumsOf(const PackedJob& l) { return reinterpret_cast<const int32_t*>(l.packed + PackedBytes(l)); }

int64_t Pairs(int64_t filters) { return RoundUp(filters, kPanelPair) / kPanelPair; }

/* to[place of a filter] = its value. Four neighbours stay together; of the values there are whole
 * panels. */
void PutInPlaces(int64_t filters, const float* values, float* to) {
  for (int64_t first = 0; first < filters; first += kPanelPair) {
    const int64_t width = PixelWidth(filters - first);
    for (int64_t j = 0; j < width; j += 4) std::memcpy(to + first + PixelPlace(width, j), values + first + j, 4 * sizeof(float));
  }
}

PixelFinish FinishOf(KernelArgs& args, const PackedJob& l, int flip) {
  const int64_t places = Places(l.d.filters);
  const SumsFinish& from = l.finish;
  int32_t* start = nn::Workspace<int32_t>(args, places);
  MXNET_CPU_CALL(PixelStart)(SumsOf(l), places, l.src_zero + flip, start);
  if (from.out_type == kFloat32) {
    PixelFinish f{start, from.scales, from.bias, 0, 0, kFloat32, 0, 0, 0};
    f.floats = true, f.low = from.low, f.high = from.high;
    return f;
  }
  float* scales = nn::Workspace<float>(args, 3 * places);
  float *const bias = scales + places, *const later = bias + places;
  PutInPlaces(l.d.filters, from.scales, scales);
  PutInPlaces(l.d.filters, from.bias, bias);
  if (from.later)
    PutInPlaces(l.d.filters, from.later, later);
  else
    std::fill_n(later, places, 0.0f);
  PixelFinish f{start,
                scales,
                bias,
                from.addend_scale,
                static_cast<int>(from.addend_zero),
                from.addend_type,
                from.high,
                static_cast<int>(from.low),
                from.zero};
  f.between = from.between, f.between_low = from.between_low, f.between_high = from.between_high;
  f.between_scale = from.between_scale, f.between_bias = later;
  return f;
}

/* Blocks of rows, whose panels are divided where there are few of them. */
struct Tasks {
  int threads;
  int64_t rows, blocks, shares, pairs;
  explicit Tasks(const PackedJob& l) {
    rows = l.d.batch * l.d.OutSize(), pairs = Pairs(l.d.filters);
    constexpr double kRead = 4;  // multiply-adds in the time in which a byte of the weights comes from memory
    threads = OmpThreadsForFlops((2.0 * static_cast<double>(rows) + kRead) * static_cast<double>(l.d.filters * l.d.channels));
    const int64_t tiles = RoundUp(rows, kTile) / kTile, row = l.d.channels;
    const int64_t most = std::max<int64_t>(1, std::min(kMostTiles, kBlockBytes / (row * kTile)));
    blocks = RoundUp(tiles, most) / most;
    const int64_t wanted = threads > 1 ? 4 * threads : 1;
    shares = std::min(pairs, RoundUp(wanted, blocks) / blocks);
  }
  int64_t MostRows() const { return (rows + blocks - 1) / blocks; }
};

}  // namespace

int64_t PixelWeights(const PackedJob& l) { return PackedBytes(l) + Places(l.d.filters) * 4; }

namespace {

/* Filters [first, first + n), of which the first begins a pair of panels, and their sums. */
void PackPair(const int8_t* weights, int64_t channels, int64_t filters, int64_t first, int8_t* to, int32_t* sums) {
  const int64_t width = PixelWidth(filters - first), n = std::min(width, filters - first);
  if (n < width) {
    std::memset(to, 0, static_cast<size_t>(width * channels));
    std::fill_n(sums, width, 0);
  }
  for (int64_t j = 0; j < n; ++j) {
    const int8_t* const row = weights + j * channels;
    const int64_t place = PixelPlace(width, j);
    for (int64_t c = 0; c < channels; c += 4) std::memcpy(to + c * width + place * 4, row + c, 4);
    sums[place] = std::accumulate(row, row + channels, int32_t{0});
  }
}

}  // namespace

nn::WeightParts PixelWeightParts(const PackedJob& l) {
  const int64_t channels = l.d.channels, filters = l.d.filters, all = PackedBytes(l);
  nn::WeightParts parts;
  parts.count = Pairs(filters);
  parts.bytes = static_cast<size_t>(kPanelPair * channels), parts.all = static_cast<size_t>(filters * channels);
  parts.fill = [=](const void* from, int64_t begin, int64_t end, float* form, void*) {
    int8_t* const to = reinterpret_cast<int8_t*>(form);
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * kPanelPair;
      PackPair(static_cast<const int8_t*>(from) + (p - begin) * kPanelPair * channels, channels, filters, first, to + first * channels,
               reinterpret_cast<int32_t*>(to + all) + first);
    }
  };
  return parts;
}

bool HasPixelProducts(const PackedJob& l) {
  const nn::ConvDims& d = l.d;
  if (d.groups != 1 || l.zeros || d.KernelSize() != 1 || d.channels % 4 != 0) return false;
  for (int i = 0; i < 3; ++i)
    if (d.pad[i] != 0 || d.out[i] != d.in[i] || d.stride[i] != 1) return false;
  return CurrentCpuLevel() == CpuLevel::kV4 && HasVnni();
}

void PixelProducts(KernelArgs& args, const PackedJob& l) {
  Ran("packed GEMM of bytes", RanAt::kAvx512Vnni);
  const uint8_t flip = l.is_unsigned ? 0 : 0x80;
  const PixelFinish finish = FinishOf(args, l, flip);
  const Tasks tasks(l);
  const int64_t filters = l.d.filters, row = l.d.channels, room = RoundUp(tasks.MostRows() * row, 64);
  uint8_t* copied = flip ? nn::Workspace<uint8_t>(args, tasks.threads * room) : nullptr;
  DividedItems items(tasks.threads, tasks.blocks * tasks.shares);
  ParallelForThreads(tasks.threads, tasks.threads, [&](int64_t first, int64_t last) {
    for (int64_t id = first; id < last; ++id)
      for (int64_t t; items.Next(id, &t);) {
        const int64_t block = t / tasks.shares, share = t % tasks.shares;
        const int64_t begin = Share(tasks.rows, tasks.blocks, block), count = Share(tasks.rows, tasks.blocks, block + 1) - begin;
        const uint8_t* a = reinterpret_cast<const uint8_t*>(l.src) + begin * row;
        if (flip) MXNET_CPU_CALL(FlipBytes)(a, count * row, flip, copied + id * room), a = copied + id * room;
        const int64_t at = begin * filters * l.size;
        MXNET_CPU_CALL(PixelsTimesPanels)
        ({a, row, count, row / 4, l.addend ? l.addend + at : nullptr, l.dst + at, filters * l.size}, l.packed, finish,
         Share(tasks.pairs, tasks.shares, share) * kPanelPair, std::min(filters, Share(tasks.pairs, tasks.shares, share + 1) * kPanelPair),
         filters);
      }
  });
}

}  // namespace quantized
}  // namespace mxnet
