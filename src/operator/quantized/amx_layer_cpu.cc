#include <algorithm>
#include <cstring>

#include "base/cpu_limit.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/amx_windows.h"
#include "operator/quantized/amx_layer.h"
#include "operator/quantized/pixel_products.h"

namespace mxnet {
namespace quantized {
namespace {

/*
 * Filters are packed by panels of 32, or 16 where no more are left:
 *   [panel][place][unit of channels][filter][4]
 * Behind all panels stands the sum of each filter.
 */
constexpr int64_t kPanel = nn::kAmxPanel;

int64_t Width(int64_t left) { return left > nn::kAmxColumns ? kPanel : nn::kAmxColumns; }
int64_t Panels(int64_t filters) { return RoundUp(filters, kPanel) / kPanel; }

/* A filter as it lies, and as it is packed. */
struct Filter {
  int64_t places, channels;
  bool last;  // channels are beside each other
  int64_t Deep() const { return places * channels; }
  int64_t Filled() const { return RoundUp(channels, 4); }
  int64_t Bytes() const { return places * Filled(); }
};
Filter FilterOf(const PackedJob& l) { return {l.d.KernelSize(), l.per_group, l.weights_last}; }
int64_t Places(const PackedJob& l) { return RoundUp(l.d.filters, nn::kAmxColumns); }
int64_t PackedBytes(const PackedJob& l) { return Places(l) * FilterOf(l).Bytes(); }

/* `n` filters, of which the first begins a panel. Four numbers go at a time. */
void PackPanel(const Filter& f, const int8_t* weights, int64_t n, int64_t width, int8_t* to, int32_t* sums) {
  const int64_t deep = f.Deep(), whole = f.channels / 4 * 4, apart = f.last ? 1 : f.places;
  if (n < width || whole < f.channels) std::memset(to, 0, static_cast<size_t>(width * f.Bytes()));
  std::fill_n(sums, width, 0);
  for (int64_t j = 0; j < n; ++j) {
    const int8_t* const row = weights + j * deep;
    int32_t sum = 0;
    for (int64_t k = 0; k < deep; ++k) sum += row[k];
    sums[j] = sum;
    int8_t* unit = to + j * 4;
    for (int64_t p = 0; p < f.places; ++p) {
      const int8_t* from = row + p * (f.last ? f.channels : 1);
      for (int64_t c = 0; c < whole; c += 4, from += 4 * apart, unit += width * 4) {
        const int8_t four[] = {from[0], from[apart], from[2 * apart], from[3 * apart]};
        std::memcpy(unit, four, sizeof(four));
      }
      if (whole == f.channels) continue;
      for (int64_t c = whole; c < f.channels; ++c, from += apart) unit[c - whole] = *from;
      unit += width * 4;
    }
  }
}

}  // namespace

int64_t AmxWeights(const PackedJob& l) { return PackedBytes(l) / 4 + Places(l); }

nn::WeightParts AmxWeightParts(const PackedJob& l) {
  const Filter filter = FilterOf(l);
  const int64_t filters = l.d.filters, all = PackedBytes(l);
  nn::WeightParts parts;
  parts.count = Panels(filters);
  parts.bytes = static_cast<size_t>(kPanel * filter.Deep()), parts.all = static_cast<size_t>(filters * filter.Deep());
  parts.fill = [=](const void* from, int64_t begin, int64_t end, float* form, void*) {
    int8_t* const to = reinterpret_cast<int8_t*>(form);
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * kPanel, width = Width(filters - first);
      PackPanel(filter, static_cast<const int8_t*>(from) + (p - begin) * kPanel * filter.Deep(), std::min(width, filters - first), width,
                to + first * filter.Bytes(), reinterpret_cast<int32_t*>(to + all) + first);
    }
  };
  return parts;
}

bool HasAmxLayer(const PackedJob& l) {
  return l.d.groups == 1 && !l.depthwise && !l.zeros && CurrentCpuLevel() == CpuLevel::kV4 && HasAmx();
}

void AmxLayer(KernelArgs& args, const PackedJob& l) {
  Ran(l.d.KernelSize() == 1 ? "packed GEMM of bytes" : "packed implicit GEMM of bytes", RanAt::kAmx);
  const int64_t places = Places(l), filters = l.d.filters, filter_bytes = FilterOf(l).Bytes();
  int32_t* const start = nn::Workspace<int32_t>(args, places);
  MXNET_CPU_CALL(PixelStart)(reinterpret_cast<const int32_t*>(l.packed + PackedBytes(l)), places, l.src_zero, start);
  const nn::AmxImages images{l.d, l.src, 1, l.src_zero, l.planes};
  const auto kind = l.is_unsigned ? nn::AmxKind::kUnsigned : nn::AmxKind::kSigned;
  nn::AmxForBlocks(args, images, Panels(filters), [&](const nn::AmxBlock& block, int64_t first, int64_t last) {
    alignas(64) int32_t sums[nn::kAmxSums];
    const nn::AmxScope scope(block.rows, block.view.depth);
    for (int64_t p = first; p < last; ++p) {
      const int64_t filter = p * kPanel, width = Width(filters - filter), n = std::min(width, filters - filter);
      const int8_t *const own = l.packed + filter * filter_bytes, *const next = own + width * filter_bytes;
      const int64_t behind = (std::min(RoundUp(filters, nn::kAmxColumns), filter + width + kPanel) - (filter + width)) * filter_bytes;
      nn::AmxMultiply(kind, block, {own, width, width * 4, start + filter, next, behind}, sums,
                      [&](const int32_t* rows, int64_t pixel, int64_t count) { l.Finish(rows, kPanel, pixel, count, filter, n); });
    }
  });
}

}  // namespace quantized
}  // namespace mxnet
