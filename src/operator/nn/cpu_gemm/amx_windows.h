/*
 * Convolutions and dense layers by matrix tiles (amx_products.h), of elements of one or two bytes:
 * how the windows of an image become rows of adjacent bytes, and how threads divide them.
 *
 * A filter is packed as [place of the window][channel], channels filled up to whole units of 4
 * bytes with zeros.
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_AMX_WINDOWS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_AMX_WINDOWS_H_

#include <functional>

#include "mxnet/kernel_args.h"
#include "operator/nn/cpu_gemm/amx_products.h"
#include "operator/shared/conv_call.h"

namespace mxnet {
namespace nn {

constexpr int64_t kAmxPanel = 2 * kAmxColumns;  // filters that are multiplied together

/* Images of a batch, channels last but where `planes` says that they are apart. */
struct AmxImages {
  const ConvDims& d;  // of one group
  const char* data = nullptr;
  int64_t size = 1;                                                   // bytes of an element
  int outside = 0;                                                    // the byte that what lies outside is made of
  bool planes = false;                                                // REQUIRES: AmxTakesPlanes
  int64_t Filled() const { return (d.channels * size + 3) / 4 * 4; }  // bytes of a pixel
};

/* Are images of these whose channels are apart taken as they are? */
bool AmxTakesPlanes(const ConvDims& d);

/*
 * kDirect: windows lie as rows. kFlat: windows with stride 1 of a copy of the image with its border
 * are rows a pixel apart, which overlap; where a line ends come some that are of no pixel. kLines:
 * those of other strides are so within a line. kCopied: each is copied.
 */
enum class AmxWay { kDirect, kFlat, kLines, kCopied };

struct AmxView {
  AmxWay way;
  int64_t wide;                   // places of a line of the copy
  int64_t pitch, segments, step;  // as AmxOperands has them
  int64_t depth;
};

/* Rows of A that lie alike, `count` times: in each line of them the first `width` are pixels of the
 * result, from pixel `first` on. */
struct AmxBlock {
  const AmxView& view;
  const char* a;
  int64_t rows, line, width, first;
  int64_t count, apart;  // apart: bytes between the times, which are `width` pixels apart
  bool fetches = false;  // filters have not been read before
};

constexpr int64_t kAmxSums = kAmxGroup * kAmxPanel;  // of a group of rows and a panel

/* A panel of filters, or what is left of one. */
struct AmxFilters {
  const void* b;
  int64_t columns;     // 16 or 32
  int64_t pitch;       // bytes between units of depth
  const void* start;   // null: zeros
  const void* next;    // filters behind them, which are fetched meanwhile
  int64_t next_bytes;  // 0: there are none
};

/*
 * The block's rows times filters; `done(rows, pixel, count)` for rows of `sums`, kAmxPanel apart,
 * that are pixels [pixel, pixel + count). `sums` has room for kAmxSums. REQUIRES: an AmxScope of
 * block.rows and block.view.depth.
 */
template <typename Sum, typename Done>
void AmxMultiply(AmxKind kind, const AmxBlock& block, const AmxFilters& filters, Sum* sums, const Done& done) {
  const AmxView& view = block.view;
  AmxOperands o;
  o.pitch = view.pitch, o.segments = view.segments, o.step = view.step, o.depth = view.depth;
  o.b = filters.b, o.b_pitch = filters.pitch, o.start = filters.start, o.sums = sums, o.sums_pitch = kAmxPanel;
  // The next filters come evenly beside all tiles.
  const int64_t steps = view.segments * std::max<int64_t>(1, view.depth / kAmxDepth),
                groups = block.count * ((block.rows + kAmxGroup - 1) / kAmxGroup);
  const char *next = static_cast<const char*>(filters.next), *const end = next + filters.next_bytes;
  o.ahead = (filters.next_bytes / (steps * groups) / 64 + 1) * 64;
  const char* a = block.a;
  for (int64_t t = 0, first = block.first; t < block.count; ++t, a += block.apart, first += block.width)
    for (int64_t i = 0; i < block.rows; i += kAmxGroup) {
      const AmxRows group(block.rows, i);
      o.a = a + group.from * view.pitch;
      o.next = block.fetches && next < end ? next : nullptr;
      AmxProducts(kind, o, group.rows, filters.columns);
      next += steps * o.ahead;
      for (int64_t r = group.fresh, last = group.from + group.rows; r < last;) {
        const int64_t x = r % block.line, in_line = x < block.width ? block.width - x : block.line - x, count = std::min(last - r, in_line);
        if (x < block.width) done(sums + (r - group.from) * kAmxPanel, first + r / block.line * block.width + x, count);
        r += count;
      }
    }
}

/* Calls `multiply` on several threads, for each block and some of the panels: [first, last). */
void AmxForBlocks(KernelArgs& args, const AmxImages& images, int64_t panels,
                  const std::function<void(const AmxBlock& block, int64_t first, int64_t last)>& multiply);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_AMX_WINDOWS_H_
