// BatchNorm (Ioffe and Szegedy, ICML 2015), alone and followed by relu.
#include "operator/nn/norm/batch_norm.h"

#include <cstring>
#include <memory>

#include "base/ran.h"
#include "operator/matrix/move.h"
#include "operator/nn/norm/batch_norm_twice.h"
#include "operator/nn/norm/gpu_norm.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"
#include "operator/record/writes_in_training.h"

namespace mxnet {
namespace nn {

MXNET_REGISTER_PARAM(BatchNormParam);

bool BatchNormShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<BatchNormParam>();
  const auto& names = attrs.op->input_names;
  const size_t moving = in->size() - 2;  // behind an addend
  auto alike = [&](size_t i) {
    AssignShape(attrs, "output", &(*out)[0], (*in)[i]);
    AssignShape(attrs, names[i].c_str(), &(*in)[i], (*out)[0]);
  };
  alike(0);
  for (size_t i = 3; i < moving; ++i) alike(i);
  alike(0);
  Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  const int axis = CheckAxis(attrs, p.axis, data.ndim());
  Shape channel{data[axis]};
  const size_t by_channel[] = {1, 2, moving, moving + 1};
  for (size_t i : by_channel) {
    AssignShape(attrs, names[i].c_str(), &(*in)[i], channel);
    channel = (*in)[i];
  }
  for (size_t i : by_channel) (*in)[i] = channel;
  if (data[axis] < 0) (*in)[0][axis] = (*out)[0][axis] = channel[0];
  AssignShape(attrs, "mean", &(*out)[1], channel);
  AssignShape(attrs, "var", &(*out)[2], channel);
  return data.known();
}

bool BatchNormType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& names = attrs.op->input_names;
  const size_t moving = in->size() - 2;
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  const int data = (*in)[0];
  if (data == kDTypeUnknown) return false;
  MXNET_CHECK_KIND(IsFloating(data), Type) << Named(attrs) << "data is " << DTypeName(data)
                                           << "; accepted are float32, float64, float16, bfloat16";
  const int param = IsHalf(data) ? static_cast<int>(kFloat32) : data;
  for (size_t i = 1; i < in->size(); ++i) AssignType(attrs, names[i].c_str(), &(*in)[i], i >= 3 && i < moving ? data : param);
  AssignType(attrs, "mean", &(*out)[1], param);
  AssignType(attrs, "var", &(*out)[2], param);
  return true;
}

bool BatchNormRecomputeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  return (*out)[0].known();
}

bool BatchNormRecomputeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  return (*out)[0] != kDTypeUnknown;
}

namespace {

enum { kData, kGamma, kBeta, kMovingMean, kMovingVar };

template <bool kRelu, typename T>
void Scale(KernelArgs& a, const NormView& v, NormData x, const NormStatistics& s) {
  const Coefficients<T> k(a.param<BatchNormParam>(), a.in[kGamma].data<T>(), a.in[kBeta].data<T>(), s.mean, s.inv_std);
  const NormData y(a.out[0]);
  if (const int64_t together = v.Together(); together > 1) {
    const std::vector<T> scale = Repeated(k.scale, together), shift = Repeated(k.shift, together);
    const int64_t n = v.channels * v.inner;
    ParallelFor(v.outer, RowGrain(n),
                [&](int64_t b, int64_t e) { ScaleColumns(x + b * n, y + b * n, e - b, n, scale.data(), shift.data(), kRelu); });
  } else if (v.inner > 1) {
    ParallelFor(v.outer * v.channels, RowGrain(v.inner), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        const int64_t c = i % v.channels;
        ScaleLine(x + i * v.inner, y + i * v.inner, v.inner, k.scale[c], k.shift[c], kRelu);
      }
    });
  } else {
    ParallelFor(v.outer, RowGrain(v.channels), [&](int64_t b, int64_t e) {
      const int64_t at = b * v.channels;
      ScaleColumns(x + at, y + at, e - b, v.channels, k.scale.data(), k.shift.data(), kRelu);
    });
  }
}

BatchNormSettings OnDevice(const KernelArgs& args, bool relu) {
  const auto& p = args.param<BatchNormParam>();
  const NormView v(p, args.out[0]);
  return {{v.outer, v.channels, v.inner}, p.eps, p.momentum, p.fix_gamma, UsesBatch(args), relu};
}

template <bool kRelu>
void Forward(KernelArgs& args) {
  if (args.in[0].Size() == 0 && UsesBatch(args)) return NoStatistics(args, 2);
  if (args.run.ctx.is_gpu()) return BatchNormOnDevice(args, OnDevice(args, kRelu));
  RunStored(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const NormView v(a.param<BatchNormParam>(), a.out[0]);
    const NormData x = InOrderOf(a, a.in[0], a.out[0]);
    Ran("norm of channels");
    const NormStatistics stats = ForwardStatistics<T>(a, v, x, kMovingMean);
    if (Wanted(a, 0)) Scale<kRelu, T>(a, v, x, stats);
  });
}

// data, gamma, beta, mean, inv_std -> output: as it was in the forward pass, and nothing else
// happens
template <bool kRelu>
void Again(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.in[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return BatchNormRecomputeOnGpu(args, OnDevice(args, kRelu));
  RunStored(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const NormView v(a.param<BatchNormParam>(), a.out[0]);
    Ran("norm of channels");
    Scale<kRelu, T>(a, v, InOrderOf(a, a.in[0], a.out[0]), KeptStatistics<T>(a, v, 3));
  });
}

template <bool kRelu, typename T>
void AllGradientSums(const NormView& v, NormData og, NormData x, const std::vector<double>& mean, const NormMaskArrays<T>& mask,
                     std::vector<double>* sum, std::vector<double>* product) {
  const NormMaskColumns columns = mask.Columns();
  Sums(
      v, sum->data(), product->data(),
      [&](int64_t c) {
        const NormMask own = kRelu ? mask.At(c) : NormMask();
        for (int64_t o = 0; o < v.outer; ++o) {
          const int64_t at = (o * v.channels + c) * v.inner;
          GradientSums(og + at, x + at, v.inner, mean[c], &(*sum)[c], &(*product)[c], kRelu ? &own : nullptr);
        }
      },
      [&](int64_t b, int64_t e, double* s, double* q) {
        const int64_t at = b * v.channels;
        GradientSumsColumns(og + at, x + at, e - b, v.channels, mean.data(), s, q, kRelu ? &columns : nullptr);
      });
}

// ograd, data, gamma, moving_mean, moving_var, mean, inv_std, [beta with relu] -> data_grad,
// gamma_grad, beta_grad The relu's mask is computed again from the data, with the coefficients of
// the forward pass: cheaper than reading the output from memory.
template <bool kRelu>
void Backward(KernelArgs& args) {
  const auto& p = args.param<BatchNormParam>();
  if (args.in[1].Size() == 0) {
    for (int i = 0; i < 3; ++i)
      if (Wanted(args, i) && args.out[i].Size()) ZeroBytes(args.run, args.out[i].dptr, static_cast<int64_t>(args.out[i].Bytes()));
    return;
  }
  if (args.run.ctx.is_gpu()) return BatchNormBackwardOnDevice(args, OnDevice(args, kRelu));
  const bool batch = UsesBatch(args);
  RunStored(
      args,
      [&](KernelArgs& a, auto tag) {
        using T = decltype(tag);
        const NormView v(p, a.out[0]);
        Ran("norm of channels");
        const NormData og = InOrderOf(a, a.in[0], a.out[0]), x = InOrderOf(a, a.in[1], a.out[0]);
        const NormStatistics stats = BackwardStatistics<T>(a, v, 3, 5);
        const int64_t together = v.Together();
        const NormView w = v.ByRows();
        NormMaskArrays<T> mask;
        if (kRelu) mask = NormMaskArrays<T>(p, a.in[2].data<T>(), a.in[7].data<T>(), stats, together);
        std::vector<double> sum(v.channels), product(v.channels);
        if (batch || Wanted(a, 1) || Wanted(a, 2)) {
          std::vector<double> sums(w.channels), products(w.channels);
          AllGradientSums<kRelu>(w, og, x, Repeated(stats.mean, together), mask, &sums, &products);
          Fold(sums, together, sum.data());
          Fold(products, together, product.data());
        }
        ParameterGradients<T>(a, v, stats, sum, product);
        if (!Wanted(a, 0)) return;
        GradientCoefficients<T> to(p, batch, v, a.in[2].data<T>(), stats, sum, product);
        if (together > 1) to.Repeat(together);
        DataGradient<kRelu>(w, og, x, to, mask, NormData(a.out[0]));
      },
      1);
}

template <bool kRelu>
std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> inputs = {ograds[0],
                                   node->inputs[kData],
                                   node->inputs[kGamma],
                                   node->inputs[kMovingMean],
                                   node->inputs[kMovingVar],
                                   NodeEntry{node, 1, 0},
                                   NodeEntry{node, 2, 0}};
  if (kRelu) inputs.push_back(node->inputs[kBeta]);
  NodePtr back = MakeNodeLike(kRelu ? "_backward_BatchNormWithReLU" : "_backward_BatchNorm", *node, inputs);
  return {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}, NodeEntry{back, 2, 0}, NodeEntry(), NodeEntry()};
}

// The same function of data, gamma and beta, through the moments too where they are the data's.
std::vector<NodeEntry> RecomputeGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  enum { kMean = 3, kInvStd };
  const auto& in = node->inputs;
  const AttrDict eps = {{"scalar", ExactText(-node->attrs->get<BatchNormParam>().eps)}, {"is_int", "0"}};
  const NodeEntry var = MakeOp("_plus_scalar", {MakeOp("_power_scalar", {in[kInvStd]}, {{"scalar", "-2"}, {"is_int", "0"}})}, eps);
  const NodePtr back =
      MakeNodeLike("_backward_BatchNorm", *node, {ograds[0], in[kData], in[kGamma], in[kMean], var, in[kMean], in[kInvStd]});
  return {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}, NodeEntry{back, 2, 0}, NodeEntry(), NodeEntry()};
}

NodePtr FuseRelu(const Node& norm, const std::vector<NodeEntry>& inputs) {
  return MakeNodeLike("_contrib_BatchNormWithReLU", norm, inputs);
}
NodePtr FuseAddRelu(const Node& norm, const std::vector<NodeEntry>& inputs, const NodeEntry& addend) {
  std::vector<NodeEntry> all = inputs;
  all.insert(all.begin() + kMovingMean, addend);
  return MakeNodeLike("_fused_batch_norm_add_relu", norm, std::move(all));
}

const char kText[] =
    "data is normalized over all dimensions except `axis` to mean 0 and variance 1, then multiplied by gamma and shifted by beta.\n\n"
    "In training the batch's mean and (biased) variance are used, and the auxiliary states follow them:\n"
    "moving = momentum * moving + (1 - momentum) * batch. Otherwise, and with use_global_stats, moving_mean and moving_var are used.\n"
    "gamma, beta and the states have shape (channels,), and dtype float32 when data is float16 or bfloat16. With output_mean_var also the "
    "mean and\n"
    "1 / sqrt(variance + eps) are returned.";

template <bool kRelu>
void Register(const char* name, const char* backward, const char* again, const std::string& text) {
  Op::Register(name)
      .describe(text)
      .set_param<BatchNormParam>()
      .set_inputs({"data", "gamma", "beta", "moving_mean", "moving_var"})
      .set_mutate_inputs({kMovingMean, kMovingVar})
      .set_outputs({"output", "mean", "var"}, nullptr, [](const Attrs& a) { return a.get<BatchNormParam>().output_mean_var ? 3 : 1; })
      .set_infer_shape(BatchNormShape)
      .set_infer_type(BatchNormType)
      .set_dtypes(dtypes::kFloats)
      .set_layout(LayoutRule::kChannelsLast)
      .set_depends_on_training()
      .set_trait(AlongAxis{NormAxis})
      .set_trait(FixedGamma())
      .set_trait(WritesInTraining{})
      .set_gradient(Gradient<kRelu>)
      .set_recompute({again, 3, {1, 2}})
      .set_kernel(Forward<kRelu>);
  Op::Register(again)
      .describe(std::string("The output of ") + name +
                " from the mean and 1 / sqrt(variance + eps) that it gave; the moving averages stay.")
      .set_param<BatchNormParam>()
      .set_inputs({"data", "gamma", "beta", "mean", "inv_std"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(BatchNormRecomputeShape)
      .set_infer_type(BatchNormRecomputeType)
      .set_layout(LayoutRule::kChannelsLast)
      .set_gradient(kRelu ? GradientFn() : RecomputeGradient)
      .set_kernel(Again<kRelu>);
  std::vector<std::string> inputs = {"ograd", "data", "gamma", "moving_mean", "moving_var", "mean", "inv_std"};
  if (kRelu) inputs.push_back("beta");
  Op::Register(backward)
      .describe(std::string("Gradients of ") + name + " with respect to data, gamma and beta.")
      .set_param<BatchNormParam>()
      .set_inputs(inputs)
      .set_dtypes(dtypes::kAll)
      .set_outputs({"data_grad", "gamma_grad", "beta_grad"})
      .set_infer_shape(BatchNormGradientShape<1>)
      .set_infer_type(BatchNormGradientType<1>)
      .set_inplace({{0, 0}, {1, 0}})
      .set_layout(LayoutRule::kChannelsLast)
      .set_depends_on_training()
      .set_gradient(kRelu ? BatchNormReluSecondGradient : BatchNormSecondGradient)
      .set_kernel(Backward<kRelu>);
}

[[maybe_unused]] const bool registered = [] {
  Register<false>("BatchNorm", "_backward_BatchNorm", "_backward_BatchNorm_recompute", kText);
  Op::Register("BatchNorm")
      .set_expensive_to_recompute()
      .alias("_npx_batch_norm")
      .set_trait(Role::kBatchNorm)
      .set_trait(ViewOf<BatchNormView>{[](const Attrs& a) {
        const auto& p = a.get<BatchNormParam>();
        return BatchNormView{p.eps, p.fix_gamma, p.output_mean_var};
      }})
      .set_trait(
          Quantized{"_contrib_quantized_batch_norm", {1, 2, 3, 4}, [](const Attrs& a) { return !a.get<BatchNormParam>().output_mean_var; }})
      .set_trait(NormFusion{FuseRelu, FuseAddRelu});
  Register<true>("_contrib_BatchNormWithReLU", "_backward_BatchNormWithReLU", "_backward_BatchNormWithReLU_recompute",
                 std::string("BatchNorm followed by relu, in one pass.\n\n") + kText);
  Op::Register("_backward_BatchNorm_recompute").set_trait(WithRelu{"_backward_BatchNormWithReLU_recompute"});
  Op::Register("_contrib_BatchNormWithReLU")
      .set_expensive_to_recompute()
      .alias("_npx_batch_norm_with_relu")
      .set_trait(RecomputesNearlyFree{});
  return true;
}();

}  // namespace
}  // namespace nn
}  // namespace mxnet
