// GroupNorm (Wu and He, ECCV 2018), InstanceNorm (Ulyanov et al. 2016) and LRN (Krizhevsky et al.,
// NIPS 2012).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/ran.h"
#include "mxnet/op.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/norm/gpu_norm.h"
#include "operator/nn/norm/lrn_kernels.h"
#include "operator/nn/norm/norm_kernels.h"
#include "operator/nn/norm/second_gradient.h"
#include "operator/nn/norm/stored_rows.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

struct GroupNormParam : public Parameter<GroupNormParam> {
  int num_groups;
  float eps;
  bool output_mean_var;
  MXNET_DECLARE_PARAM(GroupNormParam) {
    MXNET_FIELD(num_groups).set_default(1).set_lower_bound(1).describe("Number of groups that the channels are divided into.");
    MXNET_FIELD(eps).set_default(1e-5f).describe("Added to the variance.");
    MXNET_FIELD(output_mean_var).set_default(false).describe("Also return the mean and the standard deviation sqrt(variance + eps).");
  }
};
struct InstanceNormParam : public Parameter<InstanceNormParam> {
  float eps;
  MXNET_DECLARE_PARAM(InstanceNormParam) { MXNET_FIELD(eps).set_default(1e-3f).describe("Added to the variance."); }
};
struct LRNParam : public Parameter<LRNParam> {
  float alpha, beta, knorm;
  uint32_t nsize;
  MXNET_DECLARE_PARAM(LRNParam) {
    MXNET_FIELD(alpha).set_default(1e-4f).describe("Weight of the squares.");
    MXNET_FIELD(beta).set_default(0.75f).describe("Exponent.");
    MXNET_FIELD(knorm).set_default(2.0f).describe("Constant term.");
    MXNET_FIELD(nsize).describe("Number of channels in the window; an even number counts as one less there.");
  }
  int64_t half() const { return (nsize - 1) / 2; }  // as in 1.x, even sizes have the window of the odd one before
};
MXNET_REGISTER_PARAM(GroupNormParam);
MXNET_REGISTER_PARAM(InstanceNormParam);
MXNET_REGISTER_PARAM(LRNParam);

namespace {

int64_t Grain(int64_t n) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, n)); }

// (batch, groups, channels per group, inner); a group's elements are neighbours.
struct View {
  int64_t batch, groups, per_group, inner;
  bool shared;  // one gamma per group instead of per channel
  View(const Shape& s, int64_t g, const Shape& gamma)
      : batch(s[0]), groups(g), per_group(g > 0 ? s[1] / g : 0), inner(s.Prod(2, s.ndim())) {
    shared = gamma[0] == groups && per_group != 1;
  }
  int64_t size() const { return per_group * inner; }
  int64_t Gamma(int64_t group, int64_t channel) const { return shared ? group : group * per_group + channel; }
};

RowNorm OnDevice(const View& v, double eps) {
  RowNorm r{v.batch * v.groups, v.size(), 1};
  r.parameter = v.shared ? RowNorm::kGroup : RowNorm::kChannel;
  r.groups = v.groups, r.per_group = v.per_group, r.span = v.inner;
  r.eps = eps;
  return r;
}

template <typename T>
void ForwardOf(KernelArgs& a, const View& v, double eps) {
  constexpr int dtype = DTypeOf<T>::value;
  const T *gamma = As<T>(a, a.in[1]), *beta = As<T>(a, a.in[2]);
  const bool wanted = Wanted(a, 0), mean_wanted = a.out.size() > 1 && Wanted(a, 1), std_wanted = a.out.size() > 2 && Wanted(a, 2);
  Ran("norm of channels");
  ParallelFor(v.batch * v.groups, Grain(v.size()), [&](int64_t b, int64_t e) {
    StoredRows<T> in(a.in[0], v.size()), out(a.out[0], v.size());
    for (int64_t r = b; r < e; ++r) {
      double mean, inv_std;
      const T* x = in.Read(r);
      T* y = wanted ? out.Room(r) : nullptr;
      RowMoments(dtype, x, v.size(), eps, &mean, &inv_std);
      if (mean_wanted) StoredRows<T>::PutNumber(a.out[1], r, static_cast<T>(mean));
      if (std_wanted) StoredRows<T>::PutNumber(a.out[2], r, static_cast<T>(1.0 / inv_std));
      for (int64_t c = 0; y && c < v.per_group; ++c) {
        const int64_t k = v.Gamma(r % v.groups, c), at = c * v.inner;
        const double s = static_cast<double>(gamma[k]) * inv_std;
        const double shift = static_cast<double>(beta[k]) - s * (mean - static_cast<double>(static_cast<T>(mean)));
        MXNET_CPU_CALL(NormScaleCentred)(dtype, x + at, y + at, v.inner, mean, s, shift);
      }
      if (wanted) out.Write(r);
    }
  });
}

// Channels last: the sums of each channel, which a group adds up.
template <typename T>
void ForwardOfRows(KernelArgs& a, const View& v, double eps) {
  constexpr int64_t kRows = 256;  // of a piece: the sums are the same for any number of threads
  const int dtype = a.in[0].dtype;
  const T *gamma = a.in[1].data<T>(), *beta = a.in[2].data<T>();
  const int64_t channels = v.groups * v.per_group, pieces = (v.inner + kRows - 1) / kRows;
  std::vector<double> shift(channels), sums(2 * pieces * channels);
  std::vector<T> centre(channels), scale(channels), offset(channels);
  for (int64_t i = 0; i < v.batch; ++i) {
    const T* x = a.in[0].data<T>() + i * channels * v.inner;
    T* y = a.out[0].data<T>() + i * channels * v.inner;
    for (int64_t c = 0; c < channels; ++c) {
      const T first = x[c / v.per_group * v.per_group];
      shift[c] = std::isfinite(first) ? static_cast<double>(first) : 0.0;
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    Ran("norm of channels");
    ParallelFor(pieces, Grain(kRows * channels), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) MXNET_CPU_CALL(NormMomentsColumns)
      (dtype, x + p * kRows * channels, std::min(kRows, v.inner - p * kRows), channels, shift.data(), &sums[2 * p * channels],
       &sums[(2 * p + 1) * channels]);
    });
    for (int64_t g = 0; g < v.groups; ++g) {
      double sum = 0, squares = 0;
      for (int64_t p = 0; p < pieces; ++p)
        for (int64_t c = g * v.per_group; c < (g + 1) * v.per_group; ++c)
          sum += sums[2 * p * channels + c], squares += sums[(2 * p + 1) * channels + c];
      const double n = static_cast<double>(v.size()), away = sum / n, variance = squares / n - away * away,
                   mean = shift[g * v.per_group] + away, inv_std = 1 / std::sqrt((variance < 0 ? 0.0 : variance) + eps);
      for (int64_t c = g * v.per_group; c < (g + 1) * v.per_group; ++c) {
        const int64_t k = v.Gamma(g, c - g * v.per_group);
        const double s = static_cast<double>(gamma[k]) * inv_std;
        centre[c] = static_cast<T>(mean), scale[c] = static_cast<T>(s);
        offset[c] = static_cast<T>(static_cast<double>(beta[k]) - s * (mean - static_cast<double>(centre[c])));
      }
    }
    ParallelFor(v.inner, Grain(channels), [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(NormScaleCentredColumns)
      (dtype, x + b * channels, y + b * channels, e - b, channels, centre.data(), scale.data(), offset.data());
    });
  }
}

void Compute(KernelArgs& args, int64_t groups, double eps) {
  const View v(args.in[0].shape, groups, args.in[1].shape);
  if (args.in[0].layout == Layout::kChannelsLast && Wanted(args, 0))
    RunReal(args, [&](KernelArgs& a, auto tag) { ForwardOfRows<decltype(tag)>(a, v, eps); });
  else
    RunStored(args, [&](KernelArgs& a, auto tag) { ForwardOf<decltype(tag)>(a, v, eps); });
}

template <typename T>
void BackwardOf(KernelArgs& a, const View& v, double eps) {  // ograd, data, gamma -> data_grad, gamma_grad, beta_grad
  constexpr int dtype = DTypeOf<T>::value;
  const T* gamma = As<T>(a, a.in[2]);
  const bool wanted = Wanted(a, 0);
  const int64_t channels = v.groups * v.per_group;
  std::vector<double> sums(v.batch * channels, 0.0),
      products(v.batch * channels, 0.0);  // of g and g * (x - mean) * inv_std, per batch element and channel
  ParallelFor(v.batch * v.groups, Grain(v.size()), [&](int64_t b, int64_t e) {
    StoredRows<T> from(a.in[0], v.size()), in(a.in[1], v.size()), out(a.out[0], v.size());
    for (int64_t r = b; r < e; ++r) {
      double mean, inv_std, sum = 0, product = 0;
      const T *og = from.Read(r), *x = in.Read(r);
      RowMoments(dtype, x, v.size(), eps, &mean, &inv_std);
      const double lost = mean - static_cast<double>(static_cast<T>(mean));
      for (int64_t c = 0; c < v.per_group; ++c) {
        const int64_t at = c * v.inner, k = r * v.per_group + c;
        MXNET_CPU_CALL(NormGradientSums)(dtype, og + at, x + at, v.inner, mean, &sums[k], &products[k], nullptr);
        products[k] -= lost * sums[k];
        const double weight = static_cast<double>(gamma[v.Gamma(r % v.groups, c)]);
        sum += weight * sums[k];
        product += weight * products[k];
        products[k] *= inv_std;
      }
      if (!wanted) continue;
      T* dx = out.Room(r);
      const double n = static_cast<double>(v.size()), slope = -inv_std * inv_std * inv_std * product / n,
                   shift = -inv_std * sum / n - slope * lost;
      for (int64_t c = 0; c < v.per_group; ++c) {
        const int64_t at = c * v.inner;
        MXNET_CPU_CALL(NormGradientCentred)
        (dtype, og + at, x + at, dx + at, v.inner, mean, static_cast<double>(gamma[v.Gamma(r % v.groups, c)]) * inv_std, slope, shift);
      }
      out.Write(r);
    }
  });
  for (int k = 1; k < 3; ++k) {
    if (!Wanted(a, k)) continue;
    const std::vector<double>& from = k == 1 ? products : sums;
    std::vector<double> total(a.out[k].Size(), 0.0);
    for (int64_t b = 0; b < v.batch; ++b)
      for (int64_t c = 0; c < channels; ++c) total[v.Gamma(c / v.per_group, c % v.per_group)] += from[b * channels + c];
    for (size_t i = 0; i < total.size(); ++i) StoredRows<T>::PutNumber(a.out[k], static_cast<int64_t>(i), static_cast<T>(total[i]));
  }
}

void ZeroParameterGradients(KernelArgs& args) {
  for (int i = 1; i < 3; ++i)
    if (Wanted(args, i)) ZeroBytes(args.run, args.out[i].dptr, static_cast<int64_t>(args.out[i].Bytes()));
}

bool ShapeOf(const Attrs& attrs, int64_t groups, bool by_group, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 2, Value) << Named(attrs) << "data has shape " << data << "; (batch, channels, ...) is needed";
  if (data[1] < 0) return false;
  if (groups <= 0) groups = data[1];
  MXNET_CHECK_KIND(data[1] % groups == 0, Value)
      << Named(attrs) << "num_groups " << groups << " does not divide the " << data[1] << " channels of data";
  // 1.x has one gamma and beta per group, 2.0 one per channel: both are taken, the first is what is
  // inferred
  for (int i = 1; i < 3; ++i) {
    const bool per_channel =
        !by_group || ((*in)[i].ndim() == 1 && (*in)[i][0] == data[1]) || ((*in)[3 - i].ndim() == 1 && (*in)[3 - i][0] == data[1]);
    AssignShape(attrs, i == 1 ? "gamma" : "beta", &(*in)[i], Shape{per_channel ? data[1] : groups});
  }
  if (out->size() > 1) {
    AssignShape(attrs, "mean", &(*out)[1], Shape{data[0], groups});
    AssignShape(attrs, "std", &(*out)[2], Shape{data[0], groups});
  }
  return data.known();
}

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "data_grad", &(*out)[0], (*in)[1]);
  AssignShape(attrs, "gamma_grad", &(*out)[1], (*in)[2]);
  AssignShape(attrs, "beta_grad", &(*out)[2], (*in)[2]);
  return (*out)[0].known() && (*out)[1].known();
}

GradientFn GradientBy(const char* backward) {
  return [backward](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
    NodePtr back = MakeNodeLike(backward, *node, {ograds[0], node->inputs[0], node->inputs[1]});
    return {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}, NodeEntry{back, 2, 0}};
  };
}

MXNET_REGISTER_OP(GroupNorm)
    .describe(
        "Channels (dimension 1) are divided into num_groups; each group of each batch element is normalized to mean 0 and variance 1 "
        "(biased), then multiplied\n"
        "by gamma and shifted by beta.\n\ngamma and beta have shape (num_groups,), as in 1.x, or (channels,). With output_mean_var the "
        "mean and\n"
        "sqrt(variance + eps), both (batch, num_groups), are returned too. float16, bfloat16, float32 and float64.")
    .alias("_npx_group_norm")
    .set_trait(ImagesOnCpu{[](const Attrs& a) { return !a.get<GroupNormParam>().output_mean_var; }})
    .set_param<GroupNormParam>()
    .set_inputs({"data", "gamma", "beta"})
    .set_outputs({"output", "mean", "std"}, nullptr, [](const Attrs& a) { return a.get<GroupNormParam>().output_mean_var ? 3 : 1; })
    .set_infer_shape([](const Attrs& a, ShapeVector* in, ShapeVector* out) {
      return ShapeOf(a, a.get<GroupNormParam>().num_groups, true, in, out);
    })
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(GradientBy("_backward_GroupNorm"))
    .set_kernel([](KernelArgs& args) {
      if (args.in[0].Size() == 0) return NoStatistics(args, args.out.size() - 1);
      if (args.run.ctx.is_gpu())
        return RowNormOnDevice(args, OnDevice(View(args.in[0].shape, args.param<GroupNormParam>().num_groups, args.in[1].shape),
                                              args.param<GroupNormParam>().eps));
      Compute(args, args.param<GroupNormParam>().num_groups, args.param<GroupNormParam>().eps);
    });

MXNET_REGISTER_OP(_backward_GroupNorm)
    .describe("Gradients of GroupNorm with respect to data, gamma and beta.")
    .set_param<GroupNormParam>()
    .set_inputs({"ograd", "data", "gamma"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "gamma_grad", "beta_grad"})
    .set_infer_shape(BackwardShape)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const auto& p = node->attrs->get<GroupNormParam>();
      const AttrDict groups = {{"shape", "(0, " + std::to_string(p.num_groups) + ", -1)"}};
      const auto arranged = [groups](const NodeEntry& z) { return MakeOp("Reshape", {z}, groups); };
      return NormalizationSecondGradient(NormalizationOf("GroupNorm", node, {{"axis", "2"}, {"keepdims", "1"}}, p.eps, arranged), ograds);
    })
    .set_kernel([](KernelArgs& args) {
      if (args.in[1].Size() == 0) return ZeroParameterGradients(args);
      if (args.run.ctx.is_gpu())
        return RowNormBackwardOnDevice(args, OnDevice(View(args.in[1].shape, args.param<GroupNormParam>().num_groups, args.in[2].shape),
                                                      args.param<GroupNormParam>().eps));
      RunStored(args, [](KernelArgs& a, auto tag) {
        const auto& p = a.param<GroupNormParam>();
        BackwardOf<decltype(tag)>(a, View(a.in[1].shape, p.num_groups, a.in[2].shape), p.eps);
      });
    });

MXNET_REGISTER_OP(InstanceNorm)
    .describe(
        "Each channel of each batch element is normalized to mean 0 and variance 1 (biased), then multiplied by gamma and shifted by beta, "
        "both (channels,).\n\n"
        "data has shape (batch, channels, ...). float16, bfloat16, float32 and float64.")
    .alias("_npx_instance_norm")
    .set_trait(ImagesOnCpu{[](const Attrs&) { return true; }})
    .set_trait(ViewOf<InstanceNormView>{[](const Attrs& a) { return InstanceNormView{a.get<InstanceNormParam>().eps}; }})
    .set_param<InstanceNormParam>()
    .set_inputs({"data", "gamma", "beta"})
    .set_infer_shape([](const Attrs& a, ShapeVector* in, ShapeVector* out) { return ShapeOf(a, 0, false, in, out); })
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(GradientBy("_backward_InstanceNorm"))
    .set_kernel([](KernelArgs& args) {
      if (args.in[0].Size() == 0) return;
      if (args.run.ctx.is_gpu())
        return RowNormOnDevice(
            args, OnDevice(View(args.in[0].shape, args.in[0].shape[1], args.in[1].shape), args.param<InstanceNormParam>().eps));
      Compute(args, args.in[0].shape[1], args.param<InstanceNormParam>().eps);
    });

MXNET_REGISTER_OP(_backward_InstanceNorm)
    .describe("Gradients of InstanceNorm with respect to data, gamma and beta.")
    .set_param<InstanceNormParam>()
    .set_inputs({"ograd", "data", "gamma"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad", "gamma_grad", "beta_grad"})
    .set_infer_shape(BackwardShape)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      const AttrDict over = {{"axis", "(0, 1)"}, {"exclude", "1"}, {"keepdims", "1"}};
      return NormalizationSecondGradient(NormalizationOf("InstanceNorm", node, over, node->attrs->get<InstanceNormParam>().eps), ograds);
    })
    .set_kernel([](KernelArgs& args) {
      if (args.in[1].Size() == 0) return ZeroParameterGradients(args);
      if (args.run.ctx.is_gpu())
        return RowNormBackwardOnDevice(
            args, OnDevice(View(args.in[1].shape, args.in[1].shape[1], args.in[2].shape), args.param<InstanceNormParam>().eps));
      RunStored(args, [](KernelArgs& a, auto tag) {
        BackwardOf<decltype(tag)>(a, View(a.in[1].shape, a.in[1].shape[1], a.in[2].shape), a.param<InstanceNormParam>().eps);
      });
    });

// ---- LRN: y = x / (knorm + alpha / nsize * sum of squares over neighbouring channels) ^ beta
LrnCall CallOf(const LRNParam& p, const Shape& s) {
  return {s[1],
          s.Prod(2, s.ndim()),
          p.half(),
          static_cast<double>(p.knorm),
          static_cast<double>(p.alpha) / p.nsize,
          static_cast<double>(p.beta)};
}

// f(first element, positions) for runs of neighbouring positions of one example.
template <typename F>
void EachRun(const Shape& s, F&& f) {
  const int64_t inner = s.Prod(2, s.ndim()), runs = (inner + kLrnPositions - 1) / kLrnPositions;
  ParallelFor(s[0] * runs, Grain(s[1] * std::min(inner, kLrnPositions)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t first = i % runs * kLrnPositions;
      f(i / runs * s[1] * inner + first, std::min(kLrnPositions, inner - first));
    }
  });
}

// norm[i] = knorm + alpha / nsize * sum of squares; then y, or with `og` the gradient of x, whose
// sums read the norms of the neighbours.
void LrnOnDevice(KernelArgs& args, const TBlob* og, const TBlob& x, const TBlob& out) {
  const auto& p = args.param<LRNParam>();
  const int dtype = x.dtype, wide = dtype == kFloat64 ? int{kFloat64} : int{kFloat32};
  const char* const file = "operator/nn/norm/gpu_row_norm.cuh";
  void* norm = args.workspace(static_cast<size_t>(x.Size()) * DTypeSize(wide));
  auto arguments = [&] {
    rtc::Arguments a;
    a.Add(og ? og->dptr : nullptr)
        .Add(x.dptr)
        .Add(norm)
        .Add(out.dptr)
        .Add(x.shape[1])
        .Add(x.shape.Prod(2, x.shape.ndim()))
        .Add(p.half())
        .Add(static_cast<double>(p.knorm))
        .Add(static_cast<double>(p.alpha) / p.nsize)
        .Add(static_cast<double>(p.beta));
    return a;
  };
  rtc::Arguments first = arguments(), second = arguments();
  rtc::LaunchItems(args.run, {file, "lrn_norm", {dtype, wide}}, x.Size(), &first);
  rtc::LaunchItems(args.run, {file, og ? "lrn_backward" : "lrn", {dtype, wide}}, x.Size(), &second);
}

void LrnForward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return LrnOnDevice(args, nullptr, args.in[0], args.out[0]);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const auto& p = a.param<LRNParam>();
    const T* x = a.in[0].data<T>();
    T* y = a.out[0].data<T>();
    const LrnCall call = CallOf(p, a.in[0].shape);
    const int dtype = a.in[0].dtype;
    EachRun(a.in[0].shape, [&](int64_t at, int64_t n) { MXNET_CPU_CALL(LrnForward)(call, dtype, x + at, y + at, n); });
  });
}

void LrnBackward(KernelArgs& args) {  // ograd, data -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return LrnOnDevice(args, &args.in[0], args.in[1], args.out[0]);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const auto& p = a.param<LRNParam>();
    const T *og = a.in[0].data<T>(), *x = a.in[1].data<T>();
    T* dx = a.out[0].data<T>();
    const LrnCall call = CallOf(p, a.in[1].shape);
    const int dtype = a.in[1].dtype;
    EachRun(a.in[1].shape, [&](int64_t at, int64_t n) {
      thread_local std::vector<double> workspace;
      workspace.resize(static_cast<size_t>(2 * call.channels * kLrnPositions));
      MXNET_CPU_CALL(LrnBackward)(call, dtype, og + at, x + at, dx + at, n, workspace.data());
    });
  });
}

bool LrnShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool known = ElemwiseShape(attrs, in, out);
  const uint32_t n = attrs.get<LRNParam>().nsize;
  MXNET_CHECK_KIND(n >= 1, Value) << Named(attrs) << "nsize " << n << "; it must be at least 1";
  MXNET_CHECK_KIND((*in)[0].ndim() < 0 || (*in)[0].ndim() >= 2, Value)
      << Named(attrs) << "data has shape " << (*in)[0] << "; (batch, channels, ...) is needed";
  return known;
}

// The sums over neighbouring channels: pooling of (batch, 1, channels, positions).
NodeEntry ChannelSums(const LRNParam& p, const NodeEntry& x) {
  const std::string n = std::to_string(2 * p.half() + 1), half = std::to_string(p.half());
  const NodeEntry flat = MakeOp("expand_dims", {MakeOp("Reshape", {x}, {{"shape", "(0, 0, -1)"}})}, {{"axis", "1"}});
  const NodeEntry sums =
      MakeOp("Pooling", {flat}, {{"kernel", "(" + n + ", 1)"}, {"pad", "(" + half + ", 0)"}, {"stride", "(1, 1)"}, {"pool_type", "sum"}});
  return MakeOp("reshape_like", {sums, x});
}

/*
 * With S the sums over neighbours, N = knorm + a S(x^2), f = N^-beta, p = N^(-beta-1), q =
 * N^(-beta-2) and c = 2 a beta the node's result is og f - c x S(og x p). With u from above:
 *   ograd: u f - c x p S(u x)
 *   data:  2 a x S(c (beta + 1) og x q S(u x) - beta u og p) - c (u S(og x p) + og p S(u x))
 */
std::vector<NodeEntry> LrnSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& param = node->attrs->get<LRNParam>();
  const double a = static_cast<double>(param.alpha) / param.nsize, beta = static_cast<double>(param.beta), c = 2 * a * beta;
  const NodeEntry &og = node->inputs[0], &x = node->inputs[1], &u = ograds[0];
  auto with = [](const char* op, const NodeEntry& z, double number) {
    return MakeOp(op, {z}, {{"scalar", ExactText(number)}, {"is_int", "0"}});
  };
  auto times = [&](const NodeEntry& z, double number) { return with("_mul_scalar", z, number); };
  auto mul = [](const NodeEntry& l, const NodeEntry& r) { return MakeOp("elemwise_mul", {l, r}); };
  auto add = [](const NodeEntry& l, const NodeEntry& r) { return MakeOp("elemwise_add", {l, r}); };
  auto less = [](const NodeEntry& l, const NodeEntry& r) { return MakeOp("elemwise_sub", {l, r}); };
  auto sums = [&](const NodeEntry& z) { return ChannelSums(param, z); };

  const NodeEntry norm = with("_plus_scalar", times(sums(MakeOp("square", {x})), a), static_cast<double>(param.knorm));
  const NodeEntry f = with("_power_scalar", norm, -beta), p = with("_power_scalar", norm, -beta - 1);
  const NodeEntry q = with("_power_scalar", norm, -beta - 2), ux = sums(mul(u, x)), ogp = mul(og, p);
  const NodeEntry by_norm = sums(less(times(mul(mul(mul(og, x), q), ux), c * (beta + 1)), times(mul(u, ogp), beta)));
  return {less(mul(u, f), times(mul(mul(x, p), ux), c)),
          less(times(mul(x, by_norm), 2 * a), times(add(mul(u, sums(mul(ogp, x))), mul(ogp, ux)), c))};
}

MXNET_REGISTER_OP(LRN)
    .describe(
        "Local response normalization over neighbouring channels: data / (knorm + alpha / nsize * sum of nsize squares) ^ beta.\n\n"
        "data has shape (batch, channels, ...). float16, bfloat16, float32 and float64.")
    .set_param<LRNParam>()
    .set_inputs({"data"})
    .set_infer_shape(LrnShape)
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_LRN", kGradInputs))
    .set_kernel(LrnForward);

MXNET_REGISTER_OP(_backward_LRN)
    .describe("Gradient of LRN with respect to data.")
    .set_param<LRNParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(ElemwiseShape)
    .set_gradient(LrnSecondGradient)
    .set_kernel(LrnBackward);

}  // namespace
}  // namespace nn

NodePtr MakeGroupNorm(const NodeEntry& data, const NodeEntry& gamma, const NodeEntry& beta, int64_t groups, double eps,
                      const std::string& name) {
  return MakeNode("GroupNorm", {data, gamma, beta}, {{"num_groups", std::to_string(groups)}, {"eps", ExactText(eps)}}, name);
}

}  // namespace mxnet
