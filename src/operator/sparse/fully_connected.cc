// FullyConnected of csr data: a product with the transpose of the weight.
#include "operator/nn/dense/fully_connected.h"

#include <vector>

#include "operator/pointwise/execute.h"
#include "operator/record/sparse_form.h"
#include "operator/reduce/reduce.h"
#include "operator/sparse/gpu_product.h"
#include "operator/sparse/sparse_product.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

constexpr StorageType kD = StorageType::kDense, kC = StorageType::kCSR;

bool TakesData(const Attrs&, const StorageTypes& in, StorageTypes* out) { return in[0] == kC && GiveStorage(&(*out)[0], kD); }

template <typename Product>
void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const TBlob& out = args.out[0];
  const Product product(args, *args.in[0].sparse, false);
  product.Store(product.Rows(sparse::AsDense(args, args.in[1]), true), out, false);
  if (args.in.size() < 3 || out.Size() == 0) return;
  TBlob bias = sparse::AsDense(args, args.in[2]);
  bias.shape = Shape{bias.Size()};
  const pointwise::Operand sum[2] = {out, bias};
  pointwise::Execute(args.run, pointwise::Forward(pointwise::k_add), pointwise::ComputeFor(out.dtype, true), sum, 2,
                     pointwise::kBinaryMasks, nullptr, out, OpReq::kWrite);
}

/* Gradients are dense where nobody wants the other. */
bool TakesBackward(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  if (in[1] != kC) return false;
  for (StorageType& s : *out) GiveStorage(&s, kD);
  return true;
}

template <typename Product>
void Backward(KernelArgs& args) {
  const TBlob ograd = sparse::AsDense(args, args.in[0]);
  if (args.req[0] != OpReq::kNull) sparse::RunDense(args, 0);
  if (args.req[1] != OpReq::kNull) {
    const Product product(args, *args.in[1].sparse, true);
    sparse::ThroughDense(args, 1, [&](const TBlob& to) { product.Store(product.Rows(ograd, false), to, true); });
  }
  if (args.out.size() > 2 && args.req[2] != OpReq::kNull)
    sparse::ThroughDense(args, 2, [&](TBlob to) {
      to.shape = Shape{to.Size()};
      reduce::Reduce(args, reduce::kSum, ograd, {1, 0}, reduce::Finish(), false, to, OpReq::kWrite);
    });
}

double ForwardFlops(const Attrs&, Span<const TBlob> in, Span<const TBlob> out) { return sparse::ProductFlops(in[0], false, out[0]); }
/* Of the gradient of the weight. */
double BackwardFlops(const Attrs&, Span<const TBlob> in, Span<const TBlob>) { return sparse::ProductFlops(in[1], false, in[0]); }

MXNET_REGISTER_SPARSE(FullyConnected, TakesData)
    .set_flops(ForwardFlops)
    .set_kernel(DeviceType::kCPU, Forward<sparse::Product>)
    .set_kernel(DeviceType::kGPU, sparse::ProductsOnDevice<Forward<sparse::DeviceProduct>>);
MXNET_REGISTER_SPARSE(_backward_FullyConnected, TakesBackward)
    .set_flops(BackwardFlops)
    .set_kernel(DeviceType::kCPU, Backward<sparse::Product>)
    .set_kernel(DeviceType::kGPU, sparse::ProductsOnDevice<Backward<sparse::DeviceProduct>>);

}  // namespace
}  // namespace mxnet
