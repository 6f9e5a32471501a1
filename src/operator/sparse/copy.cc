// Operators that hand on what is stored, or nothing.
#include "mxnet/ndarray.h"
#include "ndarray/sparse_copy.h"
#include "operator/pointwise/execute.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

void CopyTo(KernelArgs& args, const SparseParts& from, SparseParts* to) {
  if (!args.run.ctx.is_gpu()) return CopyParts(from, to, nullptr);
  if (from.values.dtype == to->values.dtype) return sparse::CopyOnDevice(args, from, to);
  sparse::CopyIndexOnDevice(args, from, to);
  pointwise::ExecuteCast(args.run, sparse::ValuesOf(from), sparse::ValuesOf(*to), OpReq::kWrite);
}

void Copy(KernelArgs& args) {
  if (args.req[0] != OpReq::kNull) CopyTo(args, *args.in[0].sparse, args.out[0].sparse);
}
void Empty(KernelArgs& args) {
  if (args.req[0] != OpReq::kNull) sparse::StoreNothing(args, args.out[0].sparse);
}

bool TakesSparse(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  return IsSparse(in[0]) && TakesLikeFirst(attrs, in, out);
}
/* Conversions give dense arrays, as in 1.9.1, where nobody wants the other. */
bool TakesCast(const Attrs&, const StorageTypes& in, StorageTypes* out) { return IsSparse(in[0]) && (*out)[0] == in[0]; }
/* Zeros of the storage of the input, or which is wished for. */
bool TakesZerosLike(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  if ((*out)[0] == StorageType::kUndefined) (*out)[0] = in[0];
  return IsSparse((*out)[0]);
}
/* lhs in the storage of rhs. */
bool TakesLikeRhs(const Attrs&, const StorageTypes& in, StorageTypes* out) { return GiveStorage(&(*out)[0], in[1]); }
void CopyLikeRhs(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const TBlob& lhs = args.in[0];
  SparseParts* const out = args.out[0].sparse;
  if (!out) return sparse::ToDense(args, lhs, args.out[0]);
  if (lhs.sparse && lhs.sparse->storage == out->storage) return CopyTo(args, *lhs.sparse, out);
  sparse::FromDense(args, sparse::AsDense(args, lhs), out);
}

MXNET_REGISTER_SPARSE(_copy, TakesSparse).set_kernel(DeviceType::kCPU, Copy).set_kernel(DeviceType::kGPU, Copy);
MXNET_REGISTER_SPARSE(BlockGrad, TakesSparse).set_kernel(DeviceType::kCPU, Copy).set_kernel(DeviceType::kGPU, Copy);
MXNET_REGISTER_SPARSE(make_loss, TakesSparse).set_kernel(DeviceType::kCPU, Copy).set_kernel(DeviceType::kGPU, Copy);
MXNET_REGISTER_SPARSE(Cast, TakesCast).set_kernel(DeviceType::kCPU, Copy).set_kernel(DeviceType::kGPU, Copy);
MXNET_REGISTER_SPARSE(amp_cast, TakesCast).set_kernel(DeviceType::kCPU, Copy).set_kernel(DeviceType::kGPU, Copy);
MXNET_REGISTER_SPARSE(_backward_cast, TakesCast).set_kernel(DeviceType::kCPU, Copy).set_kernel(DeviceType::kGPU, Copy);
MXNET_REGISTER_SPARSE(zeros_like, TakesZerosLike).set_kernel(DeviceType::kCPU, Empty).set_kernel(DeviceType::kGPU, Empty);
MXNET_REGISTER_SPARSE(_identity_with_attr_like_rhs, TakesLikeRhs)
    .set_kernel(DeviceType::kCPU, CopyLikeRhs)
    .set_kernel(DeviceType::kGPU, CopyLikeRhs);

}  // namespace
}  // namespace mxnet
