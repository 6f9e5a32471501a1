// csr times or divided by a dense array that broadcasts to it.
#include "operator/record/sparse_form.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

bool TakesCSRWithDense(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  return in[0] == StorageType::kCSR && in[1] == StorageType::kDense && GiveStorage(&(*out)[0], StorageType::kCSR);
}

void WithVector(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  // a csr array that is repeated itself, and dimensions which only the other has
  if (args.in[0].shape != args.out[0].shape || args.in[1].shape.ndim() > 2) return sparse::RunDense(args, 0);
  sparse::OnValues(args, *sparse::DenseKernel(args), 0);
}

MXNET_REGISTER_SPARSE(broadcast_mul, TakesCSRWithDense).set_kernel(DeviceType::kCPU, WithVector).set_kernel(DeviceType::kGPU, WithVector);
MXNET_REGISTER_SPARSE(broadcast_div, TakesCSRWithDense).set_kernel(DeviceType::kCPU, WithVector).set_kernel(DeviceType::kGPU, WithVector);

}  // namespace
}  // namespace mxnet
