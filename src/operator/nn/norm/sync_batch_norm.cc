// _contrib_SyncBatchNorm: BatchNorm over the batches of several devices of this process (Zhang et
// al., Context Encoding for Semantic Segmentation, CVPR 2018).
#include <memory>
#include <vector>

#include "mxnet/engine.h"
#include "operator/matrix/move.h"
#include "operator/nn/norm/batch_norm_parts.h"
#include "operator/record/meeting.h"
#include "operator/record/traits.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

struct SyncBatchNormArguments : public Parameter<SyncBatchNormArguments> {
  float eps, momentum;
  bool fix_gamma, use_global_stats, output_mean_var;
  int ndev;
  std::string key;
  MXNET_DECLARE_PARAM(SyncBatchNormArguments) {
    MXNET_FIELD(eps).set_default(1e-3f).describe("Added to the variance.");
    MXNET_FIELD(momentum).set_default(0.9f).describe("Part of the old value that a moving average keeps.");
    MXNET_FIELD(fix_gamma).set_default(true).describe("Take gamma as 1, with gradient 0.");
    MXNET_FIELD(use_global_stats).set_default(false).describe("Use the moving averages in training too.");
    MXNET_FIELD(output_mean_var).set_default(false).describe("Also return the mean and the variance.");
    MXNET_FIELD(ndev).set_default(1).describe("Number of devices whose calls belong together.");
    MXNET_FIELD(key).describe("Name of the layer: calls with the same key belong together.");
  }
};
MXNET_REGISTER_PARAM(SyncBatchNormArguments);

namespace {

enum { kMovingMean = 3, kMovingVar };

// Parsed form; what BatchNorm's kernels see is its base.
struct SyncBatchNormParam : public BatchNormParam {
  int ndev = 1;
  std::string key;
};

Op& SetParam(Op& op) {
  op.set_param<SyncBatchNormArguments>();
  const auto parse = op.parse;
  op.parse = [parse](const AttrDict& dict) -> std::shared_ptr<const void> {
    const auto given = std::static_pointer_cast<const SyncBatchNormArguments>(parse(dict));
    auto p = std::make_shared<SyncBatchNormParam>();
    TakeArguments(*given, p.get());
    p->ndev = given->ndev, p->key = given->key;
    return std::shared_ptr<const void>(p, static_cast<const BatchNormParam*>(p.get()));
  };
  return op;
}
const SyncBatchNormParam& ParamOf(const Attrs& attrs) { return static_cast<const SyncBatchNormParam&>(attrs.get<BatchNormParam>()); }

RunBy HowItRuns(const Attrs& attrs) { return ParamOf(attrs).ndev > 1 ? RunBy::kMeetingKernel : RunBy::kKernel; }

// ---- numbers per channel, between the device and the meeting

std::vector<double> Read(const KernelArgs& a, const TBlob& from) {
  std::vector<double> numbers(static_cast<size_t>(from.Size()));
  std::vector<char> raw(from.Bytes());
  const char* bytes = from.data<char>();
  if (a.run.ctx.is_gpu()) {
    rtc::ReadBack(a.run, from.dptr, raw.data(), raw.size());
    bytes = raw.data();
  }
  for (size_t c = 0; c < numbers.size(); ++c)
    numbers[c] =
        from.dtype == kFloat64 ? reinterpret_cast<const double*>(bytes)[c] : static_cast<double>(reinterpret_cast<const float*>(bytes)[c]);
  return numbers;
}

// To `to`, in stream order; on a GPU the numbers are arguments of launches.
void Write(const KernelArgs& a, const std::vector<double>& numbers, const TBlob& to) {
  if (!a.run.ctx.is_gpu()) {
    for (size_t c = 0; c < numbers.size(); ++c)
      to.dtype == kFloat64 ? void(to.data<double>()[c] = numbers[c]) : void(to.data<float>()[c] = static_cast<float>(numbers[c]));
    return;
  }
  constexpr size_t kAtATime = 64;
  for (size_t first = 0; first < numbers.size(); first += kAtATime) {
    rtc::Arguments args;
    args.Add(to.dptr).Add(static_cast<int64_t>(first));
    for (size_t i = first; i < first + kAtATime; ++i) args.Add(i < numbers.size() ? numbers[i] : 0.0);
    const auto items = static_cast<int64_t>(std::min(kAtATime, numbers.size() - first));
    rtc::LaunchItems(a.run, {"operator/nn/norm/gpu_batch_norm_parts.cuh", "store_numbers", {to.dtype}}, items, &args);
  }
}

// What all devices bring: elements per channel, then two numbers for each channel.
std::vector<MeetingNumbers> Meet(const KernelArgs& a, const char* phase, const TBlob& device, double count,
                                 const std::vector<double>& first, const std::vector<double>& second) {
  MeetingNumbers own{device.ctx, {count}};
  own.numbers.insert(own.numbers.end(), first.begin(), first.end());
  own.numbers.insert(own.numbers.end(), second.begin(), second.end());
  const SyncBatchNormParam& p = ParamOf(*a.attrs);
  const size_t size = own.numbers.size();
  auto all = MeetOthers(Named(*a.attrs), phase + p.key, p.ndev, std::move(own));
  for (const MeetingNumbers& m : all)
    MXNET_CHECK_KIND(m.numbers.size() == size, Value) << Named(*a.attrs) << "key " << p.key << ": one device has " << (size - 1) / 2
                                                      << " channels, another " << (m.numbers.size() - 1) / 2;
  return all;
}

int64_t PerChannel(const TBlob& data) { return data.shape[1] > 0 ? data.Size() / data.shape[1] : 0; }

// The statistics of all devices' elements from those of each (Chan, Golub and LeVeque, 1979).
void JoinStatistics(KernelArgs& a, const TBlob& mean, const TBlob& var) {
  const auto all = Meet(a, "forward ", a.in[0], static_cast<double>(PerChannel(a.in[0])), Read(a, mean), Read(a, var));
  const auto channels = static_cast<size_t>(mean.Size());
  std::vector<double> means(channels, 0.0), vars(channels, 0.0);
  double total = 0;
  for (const MeetingNumbers& m : all) total += m.numbers[0];
  if (total == 0) return;
  for (const MeetingNumbers& m : all)
    for (size_t c = 0; c < channels && m.numbers[0] > 0; ++c) means[c] += m.numbers[1 + c] * (m.numbers[0] / total);
  for (const MeetingNumbers& m : all)
    for (size_t c = 0; c < channels && m.numbers[0] > 0; ++c) {
      const double off = m.numbers[1 + c] - means[c];
      vars[c] += (m.numbers[1 + channels + c] + off * off) * (m.numbers[0] / total);
    }
  Write(a, means, mean);
  Write(a, vars, var);
}

void Forward(KernelArgs& a) {
  const OpReq req[3] = {a.req[0], OpReq::kNull, OpReq::kNull};
  const bool batch = UsesBatch(a);
  TBlob stats[2] = {a.in[kMovingMean], a.in[kMovingVar]};
  if (batch) {
    for (TBlob& s : stats) s = ZerosLike(a, s);
    if (a.in[0].Size()) BatchStatistics(a, stats[0], stats[1]);
    if (ParamOf(*a.attrs).ndev > 1) JoinStatistics(a, stats[0], stats[1]);
  }
  auto p = std::make_shared<BatchNormParam>(a.param<BatchNormParam>());
  p->use_global_stats = true;
  const TBlob in[5] = {a.in[0], a.in[1], a.in[2], stats[0], stats[1]};
  RunBatchNorm("BatchNorm", a, Span<const TBlob>(in, 5), Span<const OpReq>(req, 3), a.out, p);
  for (int i = 0; i < 2; ++i) {
    if (Wanted(a, 1 + i)) CopyChannels(a, stats[i], a.out[1 + i]);
    if (batch) FollowBatch(a, stats[i], a.in[kMovingMean + i]);
  }
}

// dx = gamma inv (g - mean(g) - (x - mean) inv^2 mean(g (x - mean))), with means over all devices.
void DataGradient(KernelArgs& a, const std::vector<double>& sums, const std::vector<double>& products, double count) {
  const auto channels = static_cast<size_t>(a.in[1].shape[1]);
  const bool fixed = a.param<BatchNormParam>().fix_gamma;
  const std::vector<double> gamma = Read(a, a.in[2]), mean = Read(a, a.in[5]), var = Read(a, a.in[6]);
  std::vector<double> k(3 * channels);
  for (size_t c = 0; c < channels; ++c) {
    const double inv = 1 / std::sqrt(var[c] + a.param<BatchNormParam>().eps), scale = (fixed ? 1.0 : gamma[c]) * inv;
    k[3 * c] = scale;
    k[3 * c + 1] = count > 0 ? -scale * inv * products[c] / count : 0;
    k[3 * c + 2] = count > 0 ? -scale * sums[c] / count - k[3 * c + 1] * mean[c] : 0;
  }
  const Shape& s = a.in[1].shape;
  const int64_t inner = s.Prod(2, s.ndim());
  if (a.run.ctx.is_gpu()) {
    TBlob numbers = a.in[5];
    numbers.shape = Shape{static_cast<int64_t>(3 * channels)};
    numbers.dptr = a.workspace(std::max<size_t>(1, numbers.Bytes()));
    Write(a, k, numbers);
    rtc::Arguments args;
    args.Add(a.in[0].dptr).Add(a.in[1].dptr).Add(numbers.dptr).Add(a.out[0].dptr).Add(s[1]).Add(inner);
    const char* const file = "operator/nn/norm/gpu_batch_norm_parts.cuh";
    return rtc::LaunchItems(a.run, {file, "channel_gradient", {a.in[1].dtype, numbers.dtype}}, a.in[1].Size(), &args);
  }
  RunReal(
      a,
      [&](KernelArgs& w, auto tag) {
        using T = decltype(tag);
        ParallelFor(s[0] * s[1], RowGrain(inner), [&](int64_t b, int64_t e) {
          for (int64_t i = b; i < e; ++i) {
            const double* of = k.data() + 3 * (i % s[1]);
            MXNET_CPU_CALL(NormGradient)
            (w.in[1].dtype, w.in[0].data<T>() + i * inner, w.in[1].data<T>() + i * inner, w.out[0].data<T>() + i * inner, inner, of[0],
             of[1], of[2], nullptr);
          }
        });
      },
      1);
}

// ograd, data, gamma, moving_mean, moving_var, mean, var -> data_grad, gamma_grad, beta_grad: those
// of gamma and beta are this device's part, which a Trainer adds up.
void Backward(KernelArgs& a) {
  if (!UsesBatch(a) || ParamOf(*a.attrs).ndev <= 1) return VarianceNormBackward(a);
  TBlob in[7];
  for (int i = 0; i < 7; ++i) in[i] = a.in[i];
  auto p = std::make_shared<BatchNormParam>(a.param<BatchNormParam>());
  p->use_global_stats = true, p->fix_gamma = false;  // then the gradients are sums of g and of g (x - mean) inv
  in[3] = a.in[5], in[4] = a.in[6];
  const TBlob out[3] = {a.out[0], ZerosLike(a, a.in[5]), ZerosLike(a, a.in[5])};
  const OpReq req[3] = {OpReq::kNull, OpReq::kWrite, OpReq::kWrite};
  if (a.in[1].Size())
    RunBatchNorm("_backward_BatchNorm", a, Span<const TBlob>(in, 7), Span<const OpReq>(req, 3), Span<const TBlob>(out, 3), p);
  const auto all = Meet(a, "backward ", a.in[1], static_cast<double>(PerChannel(a.in[1])), Read(a, out[2]), Read(a, out[1]));
  const auto channels = static_cast<size_t>(a.in[1].shape[1]);
  std::vector<double> sums(channels, 0.0), products(channels, 0.0);
  double count = 0;
  for (const MeetingNumbers& m : all) {
    count += m.numbers[0];
    for (size_t c = 0; c < channels; ++c) sums[c] += m.numbers[1 + c], products[c] += m.numbers[1 + channels + c];
  }
  if (Wanted(a, 0) && a.in[1].Size()) DataGradient(a, sums, products, count);
  for (int i = 1; i < 3; ++i) {
    if (!Wanted(a, i) || a.out[i].Size() == 0) continue;
    if (i == 1 && a.param<BatchNormParam>().fix_gamma)
      ZeroBytes(a.run, a.out[i].dptr, static_cast<int64_t>(a.out[i].Bytes()));
    else
      CopyChannels(a, out[i], a.out[i]);
  }
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  MXNET_CHECK_KIND(ParamOf(attrs).ndev >= 1, Value) << Named(attrs) << "ndev " << ParamOf(attrs).ndev << "; at least 1 is accepted";
  return VarianceNormShape(attrs, in, out);
}

[[maybe_unused]] const bool registered = [] {
  Op &forward = Op::Register("_contrib_SyncBatchNorm"), &backward = Op::Register("_backward__contrib_SyncBatchNorm");
  SetVarianceNorm(forward, backward);
  SetParam(forward)
      .alias("_npx_sync_batch_norm")
      .describe(
          "BatchNorm (Ioffe and Szegedy, ICML 2015) whose batch is that of several devices of this process (Zhang et al., Context "
          "Encoding, "
          "CVPR\n"
          "2018).\n\n"
          "In training a call waits until calls with the same key have come from ndev different devices; the mean and variance, and in the "
          "backward\n"
          "pass the sums that the gradient of data needs, are those over all of their elements. Gradients of gamma and beta are each "
          "device's part.\n"
          "An error is raised for all of them if some do not come within two minutes. Channels are dimension 1 of data; otherwise as "
          "BatchNorm, but\n"
          "output_mean_var returns the variance.")
      .set_infer_shape(ForwardShape)
      .set_runs(HowItRuns)
      .set_kernel(Forward);
  SetParam(backward)
      .describe("Gradients of _contrib_SyncBatchNorm with respect to data, gamma and beta.")
      .set_runs(HowItRuns)
      .set_gradient([of_one = backward.gradient](const NodePtr& n, const std::vector<NodeEntry>& ograds) {
        MXNET_CHECK(ParamOf(*n->attrs).ndev == 1 || n->attrs->get<BatchNormParam>().use_global_stats)
            << Named(*n->attrs) << "ndev " << ParamOf(*n->attrs).ndev << " has no second derivatives; 1 and BatchNorm have";
        return of_one(n, ograds);
      })
      .set_kernel(Backward);
  return true;
}();

}  // namespace
}  // namespace nn
}  // namespace mxnet
