// _to_layout: the same tensor in another memory layout; both are told by the blobs.
#include <cstring>

#include "base/ran.h"
#include "operator/matrix/move.h"
#include "operator/matrix/to_layout.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

void Convert(const TBlob& from, const TBlob& to) {
  if (to.Size() == 0) return;
  if (from.layout == to.layout || from.shape.ndim() < 3) {
    if (from.dptr != to.dptr) std::memcpy(to.dptr, from.dptr, to.Bytes());
    return;
  }
  const int64_t batch = from.shape[0], channels = from.shape[1], places = from.shape.Prod(2, from.shape.ndim());
  const int64_t rows = from.layout == Layout::kPlain ? channels : places, columns = from.layout == Layout::kPlain ? places : channels;
  const int axes[] = {0, 2, 1};
  Ran("transposed tiles", RanAt::kNone);
  Permute(from.dptr, Shape{batch, rows, columns}, axes, to.dptr, DTypeSize(from.dtype));
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
