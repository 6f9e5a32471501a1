// _to_layout: the same tensor in another memory layout; both are told by the blobs.
#include <algorithm>
#include <cstring>

#include "base/ran.h"
#include "base/threads/omp.h"
#include "operator/matrix/move.h"
#include "operator/matrix/to_layout.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

/* dst[j][i] = src[i][j] for `planes` matrices of rows x columns, in blocks that stay in the
 * first-level cache. */
template <typename T>
void Transpose(const T* src, T* dst, int64_t planes, int64_t rows, int64_t columns) {
  constexpr int64_t kBlock = 32;
  const int64_t row_blocks = (rows + kBlock - 1) / kBlock;
  Ran("transposed tiles", RanAt::kNone);
  ParallelFor(planes * row_blocks, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, columns * kBlock)), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const T* from = src + (k / row_blocks) * rows * columns;
      T* to = dst + (k / row_blocks) * rows * columns;
      const int64_t r0 = (k % row_blocks) * kBlock, r1 = std::min(rows, r0 + kBlock);
      for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
        const int64_t c1 = std::min(columns, c0 + kBlock);
        for (int64_t c = c0; c < c1; ++c)
          for (int64_t r = r0; r < r1; ++r) to[c * rows + r] = from[r * columns + c];
      }
    }
  });
}

void Convert(const TBlob& from, const TBlob& to) {
  if (to.Size() == 0) return;
  if (from.layout == to.layout || from.shape.ndim() < 3) {
    if (from.dptr != to.dptr) std::memcpy(to.dptr, from.dptr, to.Bytes());
    return;
  }
  const int64_t batch = from.shape[0], channels = from.shape[1], places = from.shape.Prod(2, from.shape.ndim());
  const int64_t rows = from.layout == Layout::kPlain ? channels : places, columns = from.layout == Layout::kPlain ? places : channels;
  switch (DTypeSize(from.dtype)) {
    case 1: Transpose(from.data<uint8_t>(), to.data<uint8_t>(), batch, rows, columns); break;
    case 2: Transpose(from.data<uint16_t>(), to.data<uint16_t>(), batch, rows, columns); break;
    case 4: Transpose(from.data<uint32_t>(), to.data<uint32_t>(), batch, rows, columns); break;
    default: Transpose(from.data<uint64_t>(), to.data<uint64_t>(), batch, rows, columns); break;
  }
}

MXNET_REGISTER_OP(_to_layout)
    .describe("The same values in another memory layout; the layout pass of compiled graphs puts it in.")
    .set_trait(LayoutConversion{})
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ElemwiseShape)
    .set_trait(HiddenFromMonitors{})
    .set_kernel([](KernelArgs& args) {
      if (args.run.ctx.is_gpu())
        ConvertLayoutOnDevice(args.run, args.in[0], args.out[0]);
      else
        Convert(args.in[0], args.out[0]);
    });

}  // namespace

void ConvertLayout(const TBlob& from, const TBlob& to) { Convert(from, to); }

}  // namespace mxnet
