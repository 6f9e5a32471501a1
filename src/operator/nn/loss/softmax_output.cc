// SoftmaxOutput: softmax whose gradient is that of the cross entropy with a label.
// softmax_cross_entropy: that loss itself.
#include "operator/nn/loss/softmax_output.h"

#include <algorithm>
#include <cmath>

#include "operator/indexing/checked_indices.h"
#include "operator/nn/loss/gpu_losses.h"
#include "operator/nn/softmax/gpu_softmax.h"
#include "operator/nn/softmax/softmax.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/record/precision.h"

namespace mxnet {
namespace nn {

enum Normalization : int { kNull, kBatch, kValid };

struct SoftmaxOutputParam : public Parameter<SoftmaxOutputParam> {
  float grad_scale, ignore_label, smooth_alpha;
  bool multi_output, use_ignore, preserve_shape, out_grad;
  int normalization;
  MXNET_DECLARE_PARAM(SoftmaxOutputParam) {
    MXNET_FIELD(grad_scale).set_default(1.0f).describe("The gradient is multiplied by this.");
    MXNET_FIELD(ignore_label).set_default(-1.0f).describe("Label without gradient when use_ignore is set.");
    MXNET_FIELD(multi_output).set_default(false).describe("Softmax over dimension 1, one label per batch element and position.");
    MXNET_FIELD(use_ignore).set_default(false).describe("Elements labelled ignore_label get gradient 0.");
    MXNET_FIELD(preserve_shape)
        .set_default(false)
        .describe("Softmax over the last dimension, instead of over all dimensions behind the first.");
    MXNET_FIELD(normalization)
        .add_enum("null", kNull)
        .add_enum("batch", kBatch)
        .add_enum("valid", kValid)
        .set_default(kNull)
        .describe("What the gradient is divided by: nothing, the number of labels, or of labels other than ignore_label.");
    MXNET_FIELD(out_grad).set_default(false).describe("Multiply by the gradient that comes from above.");
    MXNET_FIELD(smooth_alpha)
        .set_default(0.0f)
        .set_range(0.0f, 1.0f)
        .describe("Label smoothing: this much of the target is shared by the other classes.");
  }
};
MXNET_REGISTER_PARAM(SoftmaxOutputParam);

namespace {

// Data as (outer, classes, inner). Row i of `outer` has element i of the label, which may have more
// elements than there are rows: as in 1.x, its shape does not depend on preserve_shape.
struct Split {
  int64_t outer, classes, inner;
  Split(const SoftmaxOutputParam& p, const Shape& s) {
    const int last = s.ndim() - 1, first = p.preserve_shape || last == 0 ? last : 1;
    if (p.multi_output) {
      outer = s[0], classes = s[1], inner = s.Prod(2, s.ndim());
    } else {
      classes = s.Prod(first, s.ndim()), outer = s.Prod(0, first), inner = 1;
    }
  }
  SoftmaxCall call() const {
    SoftmaxCall c;
    c.length = classes;
    c.inner = inner;
    return c;
  }
};

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) {
    const Split s(args.param<SoftmaxOutputParam>(), args.in[0].shape);
    return SoftmaxOnDevice(args.run, {s.outer, s.classes, s.inner, 1, false}, args.in[0], nullptr, args.out[0]);
  }
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const Split s(a.param<SoftmaxOutputParam>(), a.in[0].shape);
    RunSoftmax(s.call(), a.in[0].data<T>(), a.out[0].data<T>(), s.outer);
  });
}

void BackwardOnDevice(KernelArgs& args) {
  const auto& p = args.param<SoftmaxOutputParam>();
  const Split s(p, args.in[1].shape);
  SoftmaxOutputSettings d{s.outer,
                          s.classes,
                          s.inner,
                          args.in[0].shape == args.in[1].shape && !(p.multi_output && s.classes == 1),
                          p.use_ignore,
                          false,
                          p.grad_scale,
                          p.ignore_label,
                          1,
                          0};
  if (!d.probabilities) {
    d.valid = p.normalization == kValid;
    if (p.normalization == kBatch) d.scale /= static_cast<double>(p.multi_output ? s.outer : args.in[0].Size());
    if (!d.valid && p.multi_output) d.scale /= static_cast<double>(std::max<int64_t>(s.inner, 1));
    if (p.smooth_alpha != 0 && !p.multi_output && s.classes > 1)
      d.on = 1 - static_cast<double>(p.smooth_alpha), d.off = p.smooth_alpha / static_cast<double>(s.classes - 1);
  }
  SoftmaxOutputBackwardOnDevice(args, d, args.in[0], args.in[1], p.out_grad ? &args.in[2] : nullptr, args.out[0]);
}

void Backward(KernelArgs& args) {  // label, output, [ograd] -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return BackwardOnDevice(args);
  RunReal(
      args,
      [](KernelArgs& a, auto tag) {
        using T = decltype(tag);
        const auto& p = a.param<SoftmaxOutputParam>();
        const Split s(p, a.in[1].shape);
        const T* label = As<T>(a, a.in[0]);
        const T* y = a.in[1].data<T>();
        const T* og = p.out_grad ? As<T>(a, a.in[2]) : nullptr;
        T* dx = a.out[0].data<T>();
        if (a.in[0].shape == a.in[1].shape && !(p.multi_output && s.classes == 1)) {  // probabilities as labels
          ParallelFor(a.out[0].Size(), 0, [&](int64_t b, int64_t e) {
            for (int64_t i = b; i < e; ++i) dx[i] = (y[i] - label[i]) * static_cast<T>(p.grad_scale) * (og ? og[i] : T(1));
          });
          return;
        }
        const int64_t labels = a.in[0].Size();
        const T ignore = static_cast<T>(p.ignore_label);
        double divisor = 1;
        if (p.normalization == kBatch) divisor = static_cast<double>(p.multi_output ? s.outer : labels);
        if (p.normalization == kValid) {
          int64_t valid = 0;
          for (int64_t i = 0; i < labels; ++i) valid += label[i] != ignore;
          divisor = static_cast<double>(std::max<int64_t>(valid, 1));
        } else if (p.multi_output) {
          divisor *= static_cast<double>(std::max<int64_t>(s.inner, 1));
        }
        const T scale = static_cast<T>(p.grad_scale / divisor);
        const bool smooth = p.smooth_alpha != 0 && !p.multi_output && s.classes > 1;
        const T on = smooth ? T(1) - static_cast<T>(p.smooth_alpha) : T(1),
                off = smooth ? static_cast<T>(p.smooth_alpha) / static_cast<T>(s.classes - 1) : T(0);
        const LabelGradient<T> g{s.classes, s.inner, scale, on, off, p.use_ignore, ignore};
        ParallelFor(s.outer, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, s.classes * s.inner)), [&](int64_t b, int64_t e) {
          for (int64_t o = b; o < e; ++o) {
            const int64_t at = o * s.classes * s.inner;
            g.Slice(label + o * s.inner, y + at, og ? og + at : nullptr, dx + at);
          }
        });
      },
      1);
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<SoftmaxOutputParam>();
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  Shape& label = (*in)[1];
  if (!data.known()) {
    // without the classes, which are the last dimension; a label of data's shape holds
    // probabilities
    if (!p.multi_output && data.ndim() > 1 && (!label.ndim_known() || label.ndim() == data.ndim() - 1))
      AssignShape(attrs, "label", &label, Shape(data.dims(), data.ndim() - 1));
    return false;
  }
  MXNET_CHECK_KIND(data.ndim() >= (p.multi_output ? 2 : 1), Value) << Named(attrs) << "data has shape " << data << "; too few dimensions";
  if (label == data && data.ndim() > 1) return true;  // probabilities
  const int nd = data.ndim();
  if (p.multi_output) {
    const Shape flat{data[0], data.Prod(2, nd)};
    Shape open(nd - 1);  // (batch, positions...)
    open[0] = data[0];
    for (int i = 2; i < nd; ++i) open[i - 1] = data[i];
    if (!label.known()) AssignShape(attrs, "label", &label, label.ndim() == open.ndim() && nd != 3 ? open : flat);
    Shape kept(nd);  // (batch, 1, positions...)
    kept[0] = data[0], kept[1] = 1;
    for (int i = 2; i < nd; ++i) kept[i] = data[i];
    MXNET_CHECK_KIND(label == flat || label == open || label == kept || (nd == 2 && label == Shape{data[0]}), Value)
        << Named(attrs) << "label has shape " << label << "; expected " << flat << ", " << open << " or " << kept;
    return true;
  }
  AssignShape(attrs, "label", &label, Shape(data.dims(), nd - 1));
  return true;
}

bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
  return (*in)[0] != kDTypeUnknown;
}

MXNET_REGISTER_OP(SoftmaxOutput)
    .set_expensive_to_recompute()
    .describe(
        "softmax(data) whose gradient is that of the cross entropy with `label`: (output - target) grad_scale / normalization, whatever "
        "comes from above.\n\n"
        "label has one class number per row of data (shape data.shape[:-1]; with multi_output (batch, positions)), or data's shape and "
        "holds probabilities.\n"
        "Without multi_output and preserve_shape, a row is all that is behind the first dimension, and row i has element i of label.\n"
        "Labels outside of the classes have no target. float16, bfloat16, float32 and float64.")
    .alias("Softmax")
    .set_param<SoftmaxOutputParam>()
    .set_inputs({"data", "label"})
    .set_infer_shape(ForwardShape)
    .set_infer_type(ForwardType)
    .set_precision(Precision::kFull)
    .set_trait(LossAndOutput{})
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      std::vector<NodeEntry> inputs = {node->inputs[1], NodeEntry{node, 0, 0}};
      if (node->attrs->get<SoftmaxOutputParam>().out_grad) inputs.push_back(ograds[0]);
      return {NodeEntry{MakeNodeLike("_backward_SoftmaxOutput", *node, inputs), 0, 0}, NodeEntry()};
    })
    .set_kernel(Forward);

// What MXNET_CHECK_INDICES accepts. Labels are read by the gradient alone: inference may leave
// anything in them.
IndexRange LabelRange(const KernelArgs& a) {
  const auto& p = a.param<SoftmaxOutputParam>();
  const Split s(p, a.in[1].shape);
  IndexRange range{s.classes};
  range.any = a.in[0].shape == a.in[1].shape && !(p.multi_output && s.classes == 1);  // probabilities
  if (p.use_ignore) range.ignored = static_cast<double>(p.ignore_label);
  return range;
}

MXNET_REGISTER_OP(_backward_SoftmaxOutput)
    .describe("Gradient of SoftmaxOutput with respect to data.")
    .set_param<SoftmaxOutputParam>()
    .set_inputs({"label", "output", "ograd"}, [](const Attrs& a) { return a.get<SoftmaxOutputParam>().out_grad ? 3 : 2; })
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_kernel(WithCheckedIndices(0, LabelRange, Backward));

// ---- softmax_cross_entropy
constexpr double kLeast = 1e-8;  // probabilities below count as this

void CrossEntropy(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  if (args.run.ctx.is_gpu()) return CrossEntropyOnDevice(args, args.in[0], args.in[1], kLeast, args.out[0]);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const int64_t rows = a.in[0].shape[0], classes = a.in[0].shape[1];
    T* y = Workspace<T>(a, rows * classes);
    SoftmaxCall c;
    c.length = classes;
    RunSoftmax(c, a.in[0].data<T>(), y, rows);
    const double* label = AsDouble(a, a.in[1]);
    double loss = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const bool inside = label[i] > -1 && label[i] < static_cast<double>(classes);
      loss -= std::log(std::max(inside ? static_cast<double>(y[i * classes + static_cast<int64_t>(label[i])]) : 0.0, kLeast));
    }
    a.out[0].data<T>()[0] = static_cast<T>(loss);
  });
}

void CrossEntropyBackward(KernelArgs& args) {  // ograd, data, label -> data_grad
  if (args.req[0] == OpReq::kNull) return;
  if (args.run.ctx.is_gpu()) {
    SoftmaxOnDevice(args.run, {args.in[1].shape[0], args.in[1].shape[1], 1, 1, false}, args.in[1], nullptr, args.out[0]);
    return CrossEntropyBackwardOnDevice(args, args.in[0], args.in[2], args.out[0]);
  }
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const int64_t rows = a.in[1].shape[0], classes = a.in[1].shape[1];
    T* dx = a.out[0].data<T>();
    SoftmaxCall c;
    c.length = classes;
    const double* label = AsDouble(a, a.in[2]);
    const T og = a.in[0].data<T>()[0];
    RunSoftmax(c, a.in[1].data<T>(), dx, rows);
    for (int64_t i = 0; i < rows; ++i) {
      if (label[i] > -1 && label[i] < static_cast<double>(classes)) dx[i * classes + static_cast<int64_t>(label[i])] -= T(1);
      for (int64_t j = 0; j < classes; ++j) dx[i * classes + j] *= og;
    }
  });
}

bool CrossEntropyShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], Shape{1});
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 2, Value) << Named(attrs) << "data has shape " << data << "; (rows, classes) is accepted";
  AssignShape(attrs, "label", &(*in)[1], Shape{data[0]});
  if (data[0] < 0) (*in)[0][0] = (*in)[1][0];
  return data.known();
}

MXNET_REGISTER_OP(softmax_cross_entropy)
    .describe(
        "The sum over rows of -log(softmax(data)[label]), as an array of shape (1,).\n\ndata has shape (rows, classes), label (rows,).")
    .set_inputs({"data", "label"})
    .set_infer_shape(CrossEntropyShape)
    .set_infer_type(ForwardType)
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike("_backward_softmax_cross_entropy", *node, {ograds[0], node->inputs[0], node->inputs[1]}), 0, 0},
              NodeEntry()};
    })
    .set_kernel(WithCheckedIndices(
        1, [](const KernelArgs& a) { return IndexRange{a.in[0].shape[1]}; }, CrossEntropy));

MXNET_REGISTER_OP(_backward_softmax_cross_entropy)
    .describe("Gradient of softmax_cross_entropy with respect to data.")
    .set_inputs({"ograd", "data", "label"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(LikeInputsType(1))
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      const NodeEntry &og = node->inputs[0], &data = node->inputs[1], &label = node->inputs[2], &u = ograds[0];
      const NodeEntry alone = MakeOp("_backward_softmax_cross_entropy", {MakeOp("ones_like", {og}), data, label});
      const NodeEntry to_og = MakeOp("reshape_like", {MakeOp("sum", {MakeOp("elemwise_mul", {u, alone})}), og});
      const NodeEntry changed = MakeOp("_backward_softmax", {u, MakeOp("softmax", {data})});
      return {to_og, MakeOp("broadcast_mul", {changed, MakeOp("Reshape", {og}, {{"shape", "(1, 1)"}})}), NodeEntry()};
    })
    .set_kernel(CrossEntropyBackward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
