// _fused_dense: a dense layer with the addition and the activation behind it, in one pass over its result.
#include <algorithm>
#include <cstring>

#include "operator/gemm.h"
#include "operator/nn/fully_connected.h"
#include "operator/nn/hooks.h"
#include "operator/nn/nn_common.h"
#include "operator/nn/packed.h"

namespace mxnet {
namespace nn {
namespace {

int DenseInputs(const FusedDenseParam& p) { return p.dense->op->NumInputs(*p.dense); }

bool InferFusedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<FusedDenseParam>();
  ShapeVector own(in->begin(), in->begin() + DenseInputs(p));
  const bool known = p.dense->op->infer_shape(*p.dense, &own, out);
  std::copy(own.begin(), own.end(), in->begin());
  if (!p.add) return known;
  AssignShape(attrs, "addend", &in->back(), (*out)[0]);
  return known && in->back().known();
}

void Forward(KernelArgs& args) {
  const TBlob& out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  MXNET_CHECK_KIND(out.dtype == kFloat32, Type) << Named(*args.attrs) << "dtype " << DTypeName(out.dtype) << "; accepted: float32";
  const auto& p = args.param<FusedDenseParam>();
  const TBlob &weight = args.in[1], &addend = args.in[args.in.size() - 1];
  DenseCall call;
  call.n = weight.shape[0], call.k = weight.shape[1], call.m = out.Size() / call.n;
  call.dtype = kFloat32;
  call.data = args.in[0].dptr, call.weight = weight.dptr, call.bias = DenseInputs(p) > 2 ? args.in[2].dptr : nullptr, call.out = out.dptr;
  call.weight_input = 1;
  call.accumulate = p.add;
  call.post = p.post;
  if (OwnDense(args, call, p.add ? addend.dptr : nullptr)) return;
  if (p.add && addend.dptr != out.dptr) {
    const char* from = static_cast<const char*>(addend.dptr);
    char* to = static_cast<char*>(out.dptr);
    ParallelFor(static_cast<int64_t>(out.Bytes()), 1 << 18, [&](int64_t b, int64_t e) { std::memcpy(to + b, from + b, e - b); });
  }
  auto dense = ActiveHooks().dense;
  if (dense && dense(args, call)) return;
  float* y = out.data<float>();
  const float* bias = static_cast<const float*>(call.bias);
  const int64_t n = call.n, rows = std::max<int64_t>(1, 65536 / n);
  if (bias)
    ParallelFor(call.m, rows, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i)
        for (int64_t j = 0; j < n; ++j) y[i * n + j] = bias[j] + (p.add ? y[i * n + j] : 0.f);
    });
  Gemm(false, true, call.m, n, call.k, args.in[0].data<float>(), weight.data<float>(), bias || p.add ? 1.f : 0.f, y);
  if (p.post) ParallelFor(out.Size(), 0, [&](int64_t b, int64_t e) { ApplyPost(p.post, y + b, y + b, e - b); });
}

// FullyConnected's own parameters, and with_add and post.
std::shared_ptr<const void> Parse(const AttrDict& dict) {
  AttrDict rest = dict;
  auto p = std::make_shared<FusedDenseParam>();
  std::string post;
  p->add = TakeFlag("_fused_dense", &rest, "with_add");
  TakeText(&rest, "post", &post);
  p->post = ParsePost("_fused_dense", post);
  p->dense = MakeAttrs(Op::Get("FullyConnected"), std::move(rest));
  return p;
}

Op& WithParser(Op& op) {
  op.parse = Parse;
  return op;
}

[[maybe_unused]] Op& record = WithParser(Op::Register("_fused_dense"))
    .describe("FullyConnected with the addition and the activation behind it; made by the plan compiler.")
    .set_inputs({"data", "weight", "bias", "addend"}, [](const Attrs& a) { return DenseInputs(a.get<FusedDenseParam>()) + (a.get<FusedDenseParam>().add ? 1 : 0); })
    .set_list_inputs([](const Attrs& a) {
      const auto& p = a.get<FusedDenseParam>();
      std::vector<std::string> names = p.dense->op->ListInputs(*p.dense);
      if (p.add) names.push_back("addend");
      return names;
    })
    .set_infer_shape(InferFusedShape)
    .set_dtypes({kFloat32})
    .set_dear()
    .set_inplace([](const Attrs& a) {
      const auto& p = a.get<FusedDenseParam>();
      return p.add ? std::vector<std::pair<int, int>>{{DenseInputs(p), 0}} : std::vector<std::pair<int, int>>();
    })
    .set_flops([](const Attrs& a, Span<const TBlob> in, Span<const TBlob> out) {
      const Attrs& dense = *a.get<FusedDenseParam>().dense;
      return dense.op->flops(dense, in, out);
    })
    .set_stateful()
    .set_kernel(DeviceType::kCPU, Forward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
