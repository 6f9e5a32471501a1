#include "operator/nn/norm/batch_norm_parts.h"

#include <utility>

#include "operator/matrix/gpu_move.h"
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

}  // namespace nn
}  // namespace mxnet
