// _contrib_getnnz of csr matrices: how many elements are stored, zeros among them included.
#include <algorithm>

#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/indexing/counts.h"
#include "operator/init/fill.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_fold.h"

namespace mxnet {
namespace {

void CountStored(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const SparseParts& data = *args.in[0].sparse;
  const std::optional<int> axis = args.param<CountParam>().axis;
  if (args.run.ctx.is_gpu()) {
    if (!axis) return FillValue(args.run, args.out[0], static_cast<double>(data.stored()));
    return sparse::FoldOnDevice(args, data, {sparse::FoldKind::kCount, axis.value() != 1, true, 1, false}, args.out[0]);
  }
  int64_t* const out = args.out[0].data<int64_t>();
  const int64_t* const indptr = data.index[SparseParts::kIndptr].data<int64_t>();
  if (!axis) {
    out[0] = data.stored();
  } else if (axis.value() == 1) {
    for (int64_t r = 0; r < data.shape[0]; ++r) out[r] = indptr[r + 1] - indptr[r];
  } else {
    std::fill_n(out, data.shape[1], 0);
    const int64_t* const column = data.index[SparseParts::kColumns].data<int64_t>();
    for (int64_t i = 0; i < data.stored(); ++i) ++out[column[i]];
  }
}

bool TakesCSR(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  return in[0] != StorageType::kRowSparse && GiveStorage(&(*out)[0], StorageType::kDense);
}
MXNET_REGISTER_SPARSE(_contrib_getnnz, TakesCSR).set_kernel(DeviceType::kCPU, CountStored).set_kernel(DeviceType::kGPU, CountStored);

}  // namespace
}  // namespace mxnet
