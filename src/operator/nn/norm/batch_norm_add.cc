// BatchNorm with a sum and relu behind it, the end of a residual block, in one pass:
// relu(BatchNorm(data) + addend). Where the result is positive is kept as one bit for each element,
// so that the backward pass reads neither the result nor the addend.
#include <cstring>

#include "base/ran.h"
#include "operator/matrix/move.h"
#include "operator/nn/norm/batch_norm.h"
#include "operator/nn/norm/batch_norm_twice.h"
#include "operator/nn/norm/gpu_norm.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace nn {
namespace {

constexpr char kName[] = "_fused_batch_norm_add_relu", kBackward[] = "_backward_fused_batch_norm_add_relu",
               kRecompute[] = "_backward_fused_batch_norm_add_relu_recompute";

enum { kData, kGamma, kBeta, kAddend, kMovingMean };
constexpr int kMask = 3;

/*
 * Bits of the mask: by rows of channels when these lie last, else by planes; each row or plane
 * starts at a byte. The order is that of the result, which a plan chooses after shapes are known:
 * the header's first byte is its layout.
 */
constexpr int64_t kHeader = 64;
struct MaskView {
  int64_t lines, width;
  bool by_rows;
  explicit MaskView(const NormView& v)
      : lines(v.inner > 1 ? v.outer * v.channels : v.outer), width(v.inner > 1 ? v.inner : v.channels), by_rows(v.inner == 1) {}
  int64_t stride() const { return (width + 7) / 8; }
  int64_t bytes() const { return kHeader + lines * stride(); }
};

int64_t MaskBytes(const BatchNormParam& p, const Shape& data) {
  TBlob b;
  b.shape = data;
  const int64_t plain = MaskView(NormView(p, b)).bytes();
  b.layout = Layout::kChannelsLast;
  return std::max(plain, data.ndim() < 3 ? 0 : MaskView(NormView(p, b)).bytes());
}

template <typename T>
void ScaleAdd(KernelArgs& a, const NormView& v, NormData x, const NormStatistics& s, uint8_t* bits) {
  const Coefficients<T> k(a.param<BatchNormParam>(), a.in[kGamma].data<T>(), a.in[kBeta].data<T>(), s.mean, s.inv_std);
  const NormData addend = InOrderOf(a, a.in[kAddend], a.out[0]), y(a.out[0]);
  const MaskView m(v);
  ParallelFor(m.lines, RowGrain(m.width), [&](int64_t b, int64_t e) {
    if (m.by_rows)
      return ScaleAddColumns(x + b * m.width, addend + b * m.width, y + b * m.width, e - b, m.width, k.scale.data(), k.shift.data(),
                             bits ? bits + b * m.stride() : nullptr);
    for (int64_t i = b; i < e; ++i) {
      const int64_t c = i % v.channels, at = i * m.width;
      ScaleAddLine(x + at, addend + at, y + at, m.width, k.scale[c], k.shift[c], bits ? bits + i * m.stride() : nullptr);
    }
  });
}

/* What the kernels of a GPU are told; valid while `marks` is. */
BatchNormSettings OnDevice(const KernelArgs& args, void* mask, NormMarks* marks) {
  const auto& p = args.param<BatchNormParam>();
  const TBlob& like = args.out[0];
  TBlob other = like;
  if (like.shape.ndim() >= 3) other.layout = like.layout == Layout::kPlain ? Layout::kChannelsLast : Layout::kPlain;
  const NormView v(p, like);
  marks->bytes = mask, marks->header = kHeader, marks->order = static_cast<int64_t>(like.layout);
  marks->line = MaskView(v).width, marks->other_line = MaskView(NormView(p, other)).width;
  if (like.shape.ndim() >= 3) {
    const int64_t channels = like.shape[1], size = like.shape.Prod(2, like.shape.ndim());
    marks->minor = like.layout == Layout::kPlain ? size : channels, marks->major = like.layout == Layout::kPlain ? channels : size;
  }
  return {{v.outer, v.channels, v.inner}, p.eps, p.momentum, p.fix_gamma, UsesBatch(args), false, marks};
}

// data, gamma, beta, addend, moving_mean, moving_var -> output, mean, inv_std, mask
void Forward(KernelArgs& args) {
  if (args.in[0].Size() == 0) return NoStatistics(args, 2);
  NormMarks marks;
  if (args.run.ctx.is_gpu()) return BatchNormOnDevice(args, OnDevice(args, Wanted(args, kMask) ? args.out[kMask].dptr : nullptr, &marks));
  RunStored(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const NormView v(a.param<BatchNormParam>(), a.out[0]);
    Ran("norm of channels");
    const NormData x = InOrderOf(a, a.in[0], a.out[0]);
    const NormStatistics stats = ForwardStatistics<T>(a, v, x, kMovingMean);
    uint8_t* mask = Wanted(a, kMask) ? a.out[kMask].data<uint8_t>() : nullptr;
    if (mask) mask[0] = static_cast<uint8_t>(a.out[0].layout);
    ScaleAdd<T>(a, v, x, stats, mask ? mask + kHeader : nullptr);
  });
}

// data, gamma, beta, addend, mean, inv_std -> output
void Again(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.in[0].Size() == 0) return;
  NormMarks marks;
  if (args.run.ctx.is_gpu()) return BatchNormRecomputeOnGpu(args, OnDevice(args, nullptr, &marks));
  RunStored(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const NormView v(a.param<BatchNormParam>(), a.out[0]);
    Ran("norm of channels");
    ScaleAdd<T>(a, v, InOrderOf(a, a.in[0], a.out[0]), KeptStatistics<T>(a, v, kAddend + 1), nullptr);
  });
}

/* The gradient behind the relu, in the order of `like`, when its mask was written for the other
 * order. */
NormData Reordered(KernelArgs& a, const TBlob& ograd, const uint8_t* mask, const TBlob& like) {
  TBlob other = like;
  other.layout = like.layout == Layout::kPlain ? Layout::kChannelsLast : Layout::kPlain;
  const MaskView m(NormView(a.param<BatchNormParam>(), other));
  const NormData h(Workspace<char>(a, static_cast<int64_t>(like.Bytes())), like.dtype);
  KeepMarked(InOrderOf(a, ograd, other), mask + kHeader, h, m.lines, m.width);
  other.dptr = h.at;
  return InOrderOf(a, other, like);
}

// ograd, mask, data, gamma, moving_mean, moving_var, mean, inv_std -> data_grad, gamma_grad,
// beta_grad, addend_grad
void Backward(KernelArgs& args) {
  if (args.in[2].Size() == 0) {
    for (int i = 0; i < 4; ++i)
      if (Wanted(args, i) && args.out[i].Size()) ZeroBytes(args.run, args.out[i].dptr, static_cast<int64_t>(args.out[i].Bytes()));
    return;
  }
  NormMarks marks;
  if (args.run.ctx.is_gpu()) return BatchNormBackwardOnDevice(args, OnDevice(args, args.in[1].dptr, &marks));
  RunStored(
      args,
      [](KernelArgs& a, auto tag) {
        using T = decltype(tag);
        Ran("norm of channels");
        const auto& p = a.param<BatchNormParam>();
        const TBlob& like = a.out[0];
        const NormView v(p, like);
        const MaskView m(v);
        const uint8_t* mask = a.in[1].data<uint8_t>();
        const NormData x = InOrderOf(a, a.in[2], like);
        NormData og, h(a.out[3]);
        if (!Wanted(a, 3) || a.out[3].layout != like.layout)
          h = NormData(Workspace<char>(a, static_cast<int64_t>(like.Bytes())), like.dtype);
        if (mask[0] == static_cast<uint8_t>(like.layout))
          og = InOrderOf(a, a.in[0], like);
        else
          std::memcpy(h.at, Reordered(a, a.in[0], mask, like).at, like.Bytes());
        const auto keep = [&](int64_t line, int64_t lines) {  // of lines that are then in the cache
          if (og.at) KeepMarked(og + line * m.width, mask + kHeader + line * m.stride(), h + line * m.width, lines, m.width);
        };
        const NormStatistics stats = BackwardStatistics<T>(a, v, 4, 6);
        // As BatchNorm alone goes by rows where planes are small; the mask's lines are planes then.
        const int64_t together = v.Together(), lines = m.by_rows ? 1 : v.channels;
        const NormView w = v.ByRows();
        const std::vector<double> means = Repeated(stats.mean, together);
        std::vector<double> sum(v.channels), product(v.channels), sums(w.channels), products(w.channels);
        Sums(
            w, sums.data(), products.data(),
            [&](int64_t c) {
              for (int64_t o = 0; o < v.outer; ++o) {
                const int64_t line = o * v.channels + c, at = line * v.inner;
                keep(line, 1);
                GradientSums(h + at, x + at, v.inner, stats.mean[c], &sums[c], &products[c], nullptr);
              }
            },
            [&](int64_t b, int64_t e, double* s, double* q) {
              constexpr int64_t kRows = 32;
              for (int64_t r = b; r < e; r += kRows) {
                const int64_t rows = std::min(kRows, e - r), at = r * w.channels;
                keep(r * lines, rows * lines);
                GradientSumsColumns(h + at, x + at, rows, w.channels, means.data(), s, q, nullptr);
              }
            });
        Fold(sums, together, sum.data());
        Fold(products, together, product.data());
        ParameterGradients<T>(a, v, stats, sum, product);
        if (Wanted(a, 3) && h.at != a.out[3].data<char>()) {
          TBlob made = like;
          made.dptr = h.at;
          std::memcpy(a.out[3].dptr, InOrderOf(a, made, a.out[3]).at, a.out[3].Bytes());
        }
        if (!Wanted(a, 0)) return;
        GradientCoefficients<T> to(p, UsesBatch(a), v, a.in[3].data<T>(), stats, sum, product);
        if (together > 1) to.Repeat(together);
        DataGradient<false>(w, h, x, to, NormMaskArrays<T>(), NormData(a.out[0]));
      },
      2);
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!BatchNormShape(attrs, in, out)) return false;
  AssignShape(attrs, "mask", &(*out)[kMask], Shape{MaskBytes(attrs.get<BatchNormParam>(), (*in)[kData])});
  return true;
}
bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "mask", &(*out)[kMask], kUint8);
  return BatchNormType(attrs, in, out);
}

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool known = BatchNormGradientShape<2>(attrs, in, out);
  AssignShape(attrs, "addend_grad", &(*out)[3], (*in)[2]);
  return known;
}
bool BackwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const bool known = BatchNormGradientType<2>(attrs, in, out);
  AssignType(attrs, "addend_grad", &(*out)[3], (*in)[2]);
  return known;
}

std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& in = node->inputs;
  NodePtr back = MakeNodeLike(kBackward, *node,
                              {ograds[0], NodeEntry{node, kMask, 0}, in[kData], in[kGamma], in[kMovingMean], in[kMovingMean + 1],
                               NodeEntry{node, 1, 0}, NodeEntry{node, 2, 0}});
  return {NodeEntry{back, 0, 0}, NodeEntry{back, 1, 0}, NodeEntry{back, 2, 0}, NodeEntry{back, 3, 0}, NodeEntry(), NodeEntry()};
}

// As BatchNorm's, with what passes the relu in place of the gradient from above.
std::vector<NodeEntry> SecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> in = node->inputs;
  const NodeEntry og = in[0];
  in[0] = MakeOp("ones_like", {og});
  const NodeEntry passes{MakeNodeLike(kBackward, *node, in), 3, 0};
  in.erase(in.begin() + 1);
  in[0] = MakeOp("elemwise_mul", {og, passes});
  std::vector<NodeEntry> grads = BatchNormSecondGradientOf(node->attrs->get<BatchNormParam>(), in, ograds);
  grads[0] = MakeOp("elemwise_mul", {MakeOp("elemwise_add", {grads[0], ograds[3]}), passes});
  grads.insert(grads.begin() + 1, NodeEntry());
  return grads;
}

[[maybe_unused]] const bool registered = [] {
  Op::Register(kName)
      .describe(
          "relu(BatchNorm(data) + addend), the end of a residual block, in one pass; `mask` has a bit for each positive element of the "
          "output.")
      .set_param<BatchNormParam>()
      .set_inputs({"data", "gamma", "beta", "addend", "moving_mean", "moving_var"})
      .set_mutate_inputs({kMovingMean, kMovingMean + 1})
      .set_trait(FixedGamma())
      .set_outputs({"output", "mean", "var", "mask"}, nullptr, [](const Attrs&) { return 1; })
      .set_infer_shape(ForwardShape)
      .set_infer_type(ForwardType)
      .set_dtypes(dtypes::kFloats)
      .set_inplace({{kAddend, 0}})
      .set_layout(LayoutRule::kChannelsLast)
      .set_depends_on_training()
      .set_expensive_to_recompute()
      .set_trait(AlongAxis{NormAxis})
      .set_gradient(Gradient)
      .set_recompute({kRecompute, 4, {1, 2}})
      .set_kernel(Forward);
  Op::Register(kRecompute)
      .describe(std::string("The output of ") + kName +
                " from the mean and 1 / sqrt(variance + eps) that it gave; the moving averages stay.")
      .set_param<BatchNormParam>()
      .set_inputs({"data", "gamma", "beta", "addend", "mean", "inv_std"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(BatchNormRecomputeShape)
      .set_infer_type(BatchNormRecomputeType)
      .set_inplace({{kAddend, 0}})
      .set_layout(LayoutRule::kChannelsLast)
      .set_kernel(Again);
  Op::Register(kBackward)
      .describe(std::string("Gradients of ") + kName + " with respect to data, gamma, beta and the addend.")
      .set_param<BatchNormParam>()
      .set_inputs({"ograd", "mask", "data", "gamma", "moving_mean", "moving_var", "mean", "inv_std"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"data_grad", "gamma_grad", "beta_grad", "addend_grad"})
      .set_infer_shape(BackwardShape)
      .set_infer_type(BackwardType)
      .set_inplace({{0, 3}, {2, 0}})
      .set_layout(LayoutRule::kChannelsLast)
      .set_depends_on_training()
      .set_gradient(SecondGradient)
      .set_kernel(Backward);
  return true;
}();

}  // namespace
}  // namespace nn
}  // namespace mxnet
