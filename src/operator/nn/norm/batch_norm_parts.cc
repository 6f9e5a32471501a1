#include "operator/nn/norm/batch_norm_parts.h"

#include <utility>

#include "operator/matrix/move.h"
#include "operator/nn/norm/batch_norm_twice.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {
namespace {

const char* const kFile = "operator/nn/norm/gpu_batch_norm_parts.cuh";

// f(number of `from`, number of `to`) gives the new number of `to`.
template <typename F>
void EachChannel(const TBlob& from, const TBlob& to, F&& f) {
  const auto each = [&](const auto* in, auto* out) {
    for (int64_t c = 0; c < to.Size(); ++c)
      out[c] = static_cast<std::decay_t<decltype(*out)>>(f(static_cast<double>(in[c]), static_cast<double>(out[c])));
  };
  to.dtype == kFloat64 ? each(from.data<double>(), to.data<double>()) : each(from.data<float>(), to.data<float>());
}

void OnDevice(KernelArgs& a, const char* name, const TBlob& from, const TBlob& to, double number) {
  rtc::Arguments args;
  args.Add(from.dptr).Add(to.dptr).Add(number);
  rtc::LaunchItems(a.run, {kFile, name, {to.dtype}}, to.Size(), &args);
}

}  // namespace

void RunBatchNorm(const char* name, const KernelArgs& args, Span<const TBlob> in, Span<const OpReq> req, Span<const TBlob> out,
                  std::shared_ptr<const BatchNormParam> param) {
  Attrs attrs(*args.attrs);
  if (param) attrs.param = std::move(param);
  KernelArgs a = args;
  a.attrs = &attrs;
  a.in = in, a.req = req, a.out = out;
  (*Op::Get(name)->KernelFor(args.run.ctx.dev_type))(a);
}

TBlob ZerosLike(KernelArgs& a, const TBlob& like) {
  TBlob blob = like;
  blob.dptr = a.workspace(std::max<size_t>(1, like.Bytes()));
  ZeroBytes(a.run, blob.dptr, static_cast<int64_t>(blob.Bytes()));
  return blob;
}

void BatchStatistics(KernelArgs& a, const TBlob& mean, const TBlob& var) {
  auto p = std::make_shared<BatchNormParam>(a.param<BatchNormParam>());
  p->momentum = 0;  // moving averages that keep nothing are the batch's
  p->use_global_stats = false;
  const TBlob in[5] = {a.in[0], a.in[1], a.in[2], mean, var};
  const OpReq req[3] = {OpReq::kNull, OpReq::kNull, OpReq::kNull};
  RunBatchNorm("BatchNorm", a, Span<const TBlob>(in, 5), Span<const OpReq>(req, 3), a.out, p);
}

void FollowBatch(KernelArgs& a, const TBlob& batch, const TBlob& moving) {
  const double keep = static_cast<double>(a.param<BatchNormParam>().momentum);
  if (a.run.ctx.is_gpu()) return OnDevice(a, "follow_batch", batch, moving, keep);
  EachChannel(batch, moving, [keep](double now, double before) { return keep * before + (1 - keep) * now; });
}

void InverseRoots(KernelArgs& a, const TBlob& var, const TBlob& inv) {
  const double eps = a.param<BatchNormParam>().eps;
  if (a.run.ctx.is_gpu()) return OnDevice(a, "inverse_root", var, inv, eps);
  EachChannel(var, inv, [eps](double v, double) { return 1 / std::sqrt(v + eps); });
}

void CopyChannels(const KernelArgs& a, const TBlob& from, const TBlob& to) {
  CopyBytes(a.run, from.dptr, to.dptr, static_cast<int64_t>(from.Bytes()));
}

bool VarianceNormShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  MXNET_CHECK_KIND(!data.ndim_known() || data.ndim() >= 2, Value)
      << Named(attrs) << "data has shape " << data << "; (batch, channels, ...) is needed";
  return BatchNormShape(attrs, in, out);
}

void VarianceNormBackward(KernelArgs& a) {
  TBlob in[7];
  for (int i = 0; i < 7; ++i) in[i] = a.in[i];
  if (a.in[6].Size()) {
    in[6] = ZerosLike(a, a.in[6]);
    InverseRoots(a, a.in[6], in[6]);
  }
  RunBatchNorm("_backward_BatchNorm", a, Span<const TBlob>(in, 7), a.req, a.out);
}

void SetVarianceNorm(Op& forward, Op& backward) {
  enum { kData, kGamma, kBeta, kMovingMean, kMovingVar };
  forward.set_inputs({"data", "gamma", "beta", "moving_mean", "moving_var"})
      .set_mutate_inputs({kMovingMean, kMovingVar})
      .set_trait(FixedGamma())
      .set_outputs({"output", "mean", "var"}, nullptr, [](const Attrs& a) { return a.get<BatchNormParam>().output_mean_var ? 3 : 1; })
      .set_infer_shape(VarianceNormShape)
      .set_infer_type(BatchNormType)
      .set_dtypes(dtypes::kFloats)
      .set_depends_on_training()
      .set_expensive_to_recompute()
      .set_gradient([name = backward.name](const NodePtr& n, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
        const auto& in = n->inputs;
        const NodePtr back = MakeNodeLike(
            name, *n, {ograds[0], in[kData], in[kGamma], in[kMovingMean], in[kMovingVar], NodeEntry{n, 1, 0}, NodeEntry{n, 2, 0}});
        return {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}, NodeEntry{back, 2, 0}, NodeEntry(), NodeEntry()};
      });
  backward.set_inputs({"ograd", "data", "gamma", "moving_mean", "moving_var", "mean", "var"})
      .set_outputs({"data_grad", "gamma_grad", "beta_grad"})
      .set_infer_shape(BatchNormGradientShape<1>)
      .set_infer_type(BatchNormGradientType<1>)
      .set_dtypes(dtypes::kAll)
      .set_depends_on_training()
      .set_gradient([](const NodePtr& n, const std::vector<NodeEntry>& ograds) {
        const auto& p = n->attrs->get<BatchNormParam>();
        std::vector<NodeEntry> in = n->inputs;
        in.back() = MakeOp("rsqrt", {MakeOp("_plus_scalar", {in.back()}, {{"scalar", ExactText(p.eps)}, {"is_int", "0"}})});
        return BatchNormSecondGradientOf(p, in, ograds);
      });
}

}  // namespace nn
}  // namespace mxnet
