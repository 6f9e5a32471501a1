// softmax, log_softmax, softmin, SoftmaxActivation, masked_softmax, masked_log_softmax.
#include "operator/nn/softmax/softmax.h"

#include "base/ran.h"
#include "operator/matrix/move.h"
#include "operator/nn/softmax/gpu_softmax.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/optional_number.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

struct SoftmaxParam : public Parameter<SoftmaxParam> {
  int axis;
  OptionalNumber temperature;
  std::optional<int> dtype;
  std::optional<bool> use_length;
  MXNET_DECLARE_PARAM(SoftmaxParam) {
    MXNET_FIELD(axis).set_default(-1).describe("Axis over which the results sum to 1.");
    MXNET_FIELD(temperature).set_default(OptionalNumber()).describe("Data is divided by this first.");
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::kIeeeFloats)
        .set_default(std::optional<int>())
        .describe("Dtype of the output; data's when not given.");
    MXNET_FIELD(use_length)
        .set_default(std::optional<bool>(false))
        .describe("A second input says how many elements along the axis count; the results of the others are 0.");
  }
};
struct SoftmaxActivationParam : public Parameter<SoftmaxActivationParam> {
  int mode;
  MXNET_DECLARE_PARAM(SoftmaxActivationParam) {
    MXNET_FIELD(mode)
        .add_enum("instance", 0)
        .add_enum("channel", 1)
        .set_default(0)
        .describe("instance: over the last dimension; channel: over dimension 1.");
  }
};
struct MaskedSoftmaxParam : public Parameter<MaskedSoftmaxParam> {
  int axis;
  OptionalNumber temperature;
  std::optional<bool> normalize;
  MXNET_DECLARE_PARAM(MaskedSoftmaxParam) {
    MXNET_FIELD(axis).set_default(-1).describe("Axis over which the results sum to 1.");
    MXNET_FIELD(temperature).set_default(OptionalNumber()).describe("Data is divided by this first.");
    MXNET_FIELD(normalize)
        .set_default(std::optional<bool>(true))
        .describe("Accepted for compatibility; the maximum is always subtracted first.");
  }
};
MXNET_REGISTER_PARAM(SoftmaxParam);
MXNET_REGISTER_PARAM(SoftmaxActivationParam);
MXNET_REGISTER_PARAM(MaskedSoftmaxParam);

namespace {

enum Kind { kSoftmax, kLogSoftmax, kSoftmin };

bool UsesLength(const Attrs& a) {
  const auto& u = a.get<SoftmaxParam>().use_length;
  return u.has_value() && u.value();
}

SoftmaxCall CallOf(Kind kind, const OptionalNumber& temperature, const Shape& shape, int axis) {
  SoftmaxCall c;
  c.length = shape.ndim() ? shape[axis] : 1;
  c.inner = shape.ndim() ? shape.Prod(axis + 1, shape.ndim()) : 1;
  c.log = kind == kLogSoftmax;
  c.scale = (kind == kSoftmin ? -1.0 : 1.0) / (temperature.has_value() ? temperature.value() : 1.0);
  return c;
}

DeviceSoftmax OnDevice(const SoftmaxCall& c, int64_t outer) {
  DeviceSoftmax d;
  d.outer = outer, d.length = c.length, d.inner = c.inner, d.scale = c.scale, d.log = c.log;
  return d;
}

int AxisOf(const Attrs& a, int axis, const Shape& s) { return s.ndim() == 0 ? 0 : CheckAxis(a, axis, s.ndim()); }

/* For the loops of half precision: one at least is float16 or bfloat16, none is float64. */
bool OnlyHalf(std::initializer_list<const TBlob*> blobs) {
  return std::any_of(blobs.begin(), blobs.end(), [](const TBlob* b) { return IsHalf(b->dtype); }) &&
         std::none_of(blobs.begin(), blobs.end(), [](const TBlob* b) { return b->dtype == kFloat64; });
}

template <Kind kKind>
void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  MXNET_CHECK_KIND(IsFloating(args.in[0].dtype), Type)  // inference lets integers pass, as in 1.x
      << Named(*args.attrs) << "data is " << DTypeName(args.in[0].dtype) << "; accepted are float32, float64, float16, bfloat16";
  const auto& p = args.param<SoftmaxParam>();
  const int axis = AxisOf(*args.attrs, p.axis, args.in[0].shape);
  SoftmaxCall c = CallOf(kKind, p.temperature, args.in[0].shape, axis);
  if (args.run.ctx.is_gpu())
    return SoftmaxOnDevice(args.run, OnDevice(c, args.in[0].shape.Prod(0, axis)), args.in[0],
                           UsesLength(*args.attrs) ? &args.in[1] : nullptr, args.out[0]);
  Ran(c.inner > 1 ? "softmax of columns" : "softmax of rows");
  if (UsesLength(*args.attrs)) c.lengths = AsInt64(args, args.in[1]);
  const int64_t outer = args.in[0].shape.Prod(0, axis);
  auto run = [&](KernelArgs& a, auto tag) {  // computed in the wider of the two dtypes
    using T = decltype(tag);
    RunSoftmax(c, As<T>(a, a.in[0]), a.out[0].data<T>(), outer);
  };
  KernelArgs data = args;  // lengths are converted already
  data.in = Span<const TBlob>(args.in.ptr, 1);
  if (args.out[0].dtype == kFloat64) {
    run(data, double{});
  } else if (args.in[0].dtype == kFloat64) {
    float* narrow = args.out[0].dtype == kFloat32 ? args.out[0].data<float>() : Workspace<float>(args, args.out[0].Size());
    TBlob out = args.out[0];
    out.dptr = narrow, out.dtype = kFloat32;
    KernelArgs inner = data;
    inner.out = Span<const TBlob>(&out, 1);
    run(inner, float{});
    if (narrow != args.out[0].dptr) {
      Widened w(&data);  // only its output side is used
      std::copy(narrow, narrow + out.Size(), data.out[0].data<float>());
      w.Narrow();
    }
  } else if (OnlyHalf({&args.in[0], &args.out[0]})) {
    RunSoftmaxHalf(c, args.in[0], args.out[0], outer);
  } else {
    run(data, float{});
  }
}

template <Kind kKind>
void Backward(KernelArgs& args) {  // ograd, output, [data] -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const auto& p = args.param<SoftmaxParam>();
  const Shape shape = args.in[1].shape;
  const int axis = AxisOf(*args.attrs, p.axis, shape);
  const SoftmaxCall c = CallOf(kKind, p.temperature, shape, axis);
  const int64_t outer = shape.Prod(0, axis);
  if (args.run.ctx.is_gpu()) return SoftmaxBackwardOnDevice(args.run, OnDevice(c, outer), args.in[0], args.in[1], args.out[0]);
  Ran(c.inner > 1 ? "softmax of columns" : "softmax of rows");
  if (OnlyHalf({&args.in[0], &args.in[1], &args.out[0]})) return RunSoftmaxBackwardHalf(c, args.in[0], args.in[1], args.out[0], outer);
  KernelArgs two = args;
  two.in = Span<const TBlob>(args.in.ptr, 2);
  RunReal(two, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    if (a.out[0].dtype == a.in[0].dtype) {
      RunSoftmaxBackward(c, a.in[0].data<T>(), a.in[1].data<T>(), a.out[0].data<T>(), outer);
      return;
    }
    const int64_t n = shape.Size();  // dtype= changed the type: float64 on one side, float32 on the other
    double* dx = Workspace<double>(a, n);
    RunSoftmaxBackward(c, AsDouble(a, a.in[0]), AsDouble(a, a.in[1]), dx, outer);
    if (a.out[0].dtype == kFloat64)
      std::copy(dx, dx + n, a.out[0].data<double>());
    else
      std::copy(dx, dx + n, a.out[0].data<float>());
  });
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  const int axis = AxisOf(attrs, attrs.get<SoftmaxParam>().axis, data);
  if (UsesLength(attrs)) {
    MXNET_CHECK_KIND(data.ndim() >= 1, Value) << Named(attrs) << "use_length on data without dimensions";
    Shape length(data.ndim() - 1);
    for (int i = 0, j = 0; i < data.ndim(); ++i)
      if (i != axis) length[j++] = data[i];
    AssignShape(attrs, "length", &(*in)[1], length);
  }
  for (const Shape& s : *in)
    if (!s.known()) return false;
  return true;
}

bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<SoftmaxParam>();
  if (p.dtype.has_value()) {
    AssignType(attrs, "output", &(*out)[0], p.dtype.value());
  } else {
    AssignType(attrs, "output", &(*out)[0], (*in)[0]);
    AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  }
  if (UsesLength(attrs) && (*in)[1] == kDTypeUnknown) (*in)[1] = kInt32;
  return (*in)[0] != kDTypeUnknown && (*out)[0] != kDTypeUnknown;
}

bool HasDType(const Attrs& a) { return a.get<SoftmaxParam>().dtype.has_value(); }

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape all = (*in)[1];
  AssignShape(attrs, "ograd", &all, (*in)[0]);
  AssignShape(attrs, "data_grad", &all, (*out)[0]);
  for (Shape& s : *in) AssignShape(attrs, "input", &s, all);
  (*out)[0] = all;
  return all.known();
}

bool BackwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  if (!HasDType(attrs)) return SameType(attrs, in, out);
  AssignType(attrs, "data_grad", &(*out)[0], (*in)[2]);
  return (*out)[0] != kDTypeUnknown;
}

template <const char* kName>
std::vector<NodeEntry> Gradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> inputs = {ograds[0], NodeEntry{node, 0, 0}};
  if (HasDType(*node->attrs)) inputs.push_back(node->inputs[0]);
  std::vector<NodeEntry> grads(node->inputs.size());
  grads[0] = NodeEntry{MakeNodeLike(kName, *node, inputs), 0, 0};
  return grads;
}

constexpr char kBackwardSoftmax[] = "_backward_softmax", kBackwardLogSoftmax[] = "_backward_log_softmax",
               kBackwardSoftmin[] = "_backward_softmin";

int Inputs(const Attrs& a) { return UsesLength(a) ? 2 : 1; }

SoftmaxView ReadSoftmax(const Attrs& a) {
  const auto& p = a.get<SoftmaxParam>();
  return {p.axis, p.temperature.has_value(), p.dtype.has_value(), UsesLength(a)};
}

// `inputs`: those with a name. The length of log_softmax and softmin has none, because the axis
// comes behind the data in their signatures.
Op& Record(const char* name, std::vector<std::string> inputs, const char* text) {
  return Op::Register(name)
      .describe(std::string(text) +
                "\n\nThe output has data's shape, and dtype `dtype` or data's: float16, bfloat16, float32 or float64. The maximum is "
                "subtracted first, so the\n"
                "exponentials do not overflow. With use_length, `length` has data's shape without the axis.")
      .set_param<SoftmaxParam>()
      .set_inputs(std::move(inputs), Inputs)
      .set_precision(Precision::kFull)
      .set_infer_shape(ForwardShape)
      .set_infer_type(ForwardType)
      .set_dtypes(dtypes::kFloats);
}

Op& BackwardRecord(const char* name, const char* text) {
  return Op::Register(name)
      .describe(text)
      .set_param<SoftmaxParam>()
      .set_inputs({"ograd", "output", "data"}, [](const Attrs& a) { return HasDType(a) ? 3 : 2; })
      .set_outputs({"data_grad"})
      .set_infer_shape(BackwardShape)
      .set_infer_type(BackwardType)
      .set_dtypes(dtypes::kAll);
}

// What came from above in the dtype of the results. With `dtype` the gradient, like the data, has
// another one.
NodeEntry InResultType(const NodePtr& node, const NodeEntry& z) {
  const auto& p = node->attrs->get<SoftmaxParam>();
  return p.dtype.has_value() ? MakeOp("Cast", {z}, {{"dtype", DTypeName(p.dtype.value())}}) : z;
}

// For ograd, the output and, with `dtype`, the data, of which only the dtype is looked at.
std::vector<NodeEntry> SecondGradients(const NodePtr& node, const NodeEntry& to_g, const NodeEntry& to_y) {
  std::vector<NodeEntry> grads = {to_g, to_y};
  grads.resize(node->inputs.size());
  return grads;
}

// y * (g - sum(g y)) / t: with ggx from above, s = sum(g y), u = sum(ggx y), everything over the
// axis:
//   d/dg = softmax'(ggx), d/dy = (ggx (g - s) - g u) / t
// This is d/dy.
NodeEntry SoftmaxSecondOfOutput(const NodeEntry& g, const NodeEntry& y, const NodeEntry& gg, int axis, double t) {
  auto sum = [&](const NodeEntry& a, const NodeEntry& b) {
    return MakeOp("sum", {MakeOp("elemwise_mul", {a, b})}, {{"axis", std::to_string(axis)}, {"keepdims", "True"}});
  };
  const NodeEntry first = MakeOp("elemwise_mul", {gg, MakeOp("broadcast_sub", {g, sum(g, y)})});
  const NodeEntry second = MakeOp("broadcast_mul", {g, sum(gg, y)});
  return MakeOp("_mul_scalar", {MakeOp("elemwise_sub", {first, second})}, {{"scalar", ExactText(1.0 / t)}});
}

// The node again, with what came from above in place of its gradient.
NodeEntry WithOgrad(const NodePtr& node, const NodeEntry& gg) {
  std::vector<NodeEntry> inputs = node->inputs;
  inputs[0] = gg;
  return {MakeNodeLike(node->op()->name, *node, inputs), 0, 0};
}

std::vector<NodeEntry> SoftmaxSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<SoftmaxParam>();
  const double t = (p.temperature.has_value() ? p.temperature.value() : 1.0) * (node->op()->name == kBackwardSoftmin ? -1 : 1);
  const NodeEntry gg = InResultType(node, ograds[0]);
  return SecondGradients(node, InResultType(node, WithOgrad(node, gg)),
                         SoftmaxSecondOfOutput(node->inputs[0], node->inputs[1], gg, p.axis, t));
}

// (g - exp(y) sum(g)) / t
std::vector<NodeEntry> LogSoftmaxSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<SoftmaxParam>();
  const double t = p.temperature.has_value() ? p.temperature.value() : 1.0;
  const AttrDict scale = {{"scalar", ExactText(1.0 / t)}}, over = {{"axis", std::to_string(p.axis)}, {"keepdims", "True"}};
  const NodeEntry g = node->inputs[0], e = MakeOp("exp", {node->inputs[1]}), gg = InResultType(node, ograds[0]);
  const NodeEntry gge = MakeOp("elemwise_mul", {gg, e});
  const NodeEntry to_g = MakeOp("_mul_scalar", {MakeOp("broadcast_sub", {gg, MakeOp("sum", {gge}, over)})}, scale);
  const NodeEntry to_y = MakeOp("negative", {MakeOp("_mul_scalar", {MakeOp("broadcast_mul", {gge, MakeOp("sum", {g}, over)})}, scale)});
  return SecondGradients(node, to_g, to_y);
}

[[maybe_unused]] const bool registered = [] {
  Record("softmax", {"data", "length"}, "exp(data / temperature), divided by its sum along an axis.")
      .alias("_npx_softmax")
      .set_trait(Role::kSoftmax)
      .set_trait(ViewOf<SoftmaxView>{ReadSoftmax})
      .set_expensive_to_recompute()
      .set_gradient(Gradient<kBackwardSoftmax>)
      .set_kernel(Forward<kSoftmax>);
  Record("log_softmax", {"data"}, "The logarithm of softmax, computed without taking the logarithm of small numbers.")
      .alias("_npx_log_softmax")
      .set_trait(Role::kLogSoftmax)
      .set_trait(ViewOf<SoftmaxView>{ReadSoftmax})
      .set_expensive_to_recompute()
      .set_gradient(Gradient<kBackwardLogSoftmax>)
      .set_kernel(Forward<kLogSoftmax>);
  Record("softmin", {"data"}, "softmax of -data.").set_gradient(Gradient<kBackwardSoftmin>).set_kernel(Forward<kSoftmin>);
  BackwardRecord("_backward_softmax", "Gradient of softmax.").set_gradient(SoftmaxSecondGradient).set_kernel(Backward<kSoftmax>);
  BackwardRecord("_backward_log_softmax", "Gradient of log_softmax.")
      .set_gradient(LogSoftmaxSecondGradient)
      .set_kernel(Backward<kLogSoftmax>);
  BackwardRecord("_backward_softmin", "Gradient of softmin.").set_gradient(SoftmaxSecondGradient).set_kernel(Backward<kSoftmin>);
  return true;
}();

// ---- SoftmaxActivation
SoftmaxCall ActivationCall(const KernelArgs& a, const Shape& s) {
  SoftmaxCall c;
  if (a.param<SoftmaxActivationParam>().mode == 0) {
    c.length = s[s.ndim() - 1];
  } else {
    c.length = s[1];
    c.inner = s.Prod(2, s.ndim());
  }
  return c;
}
int64_t ActivationRows(const Shape& s, const SoftmaxCall& c) { return s.Size() / (c.length * c.inner); }  // of arrays that have elements

bool ActivationShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool known = ElemwiseShape(attrs, in, out);
  const int least = attrs.get<SoftmaxActivationParam>().mode == 0 ? 1 : 2;
  MXNET_CHECK_KIND((*in)[0].ndim() < 0 || (*in)[0].ndim() >= least, Value)
      << Named(attrs) << "the input has shape " << (*in)[0] << "; at least " << (least == 1 ? "one dimension is" : "two dimensions are")
      << " needed";
  return known;
}

// As for softmax above, over the axis of the mode.
std::vector<NodeEntry> ActivationSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry g = node->inputs[0], y = node->inputs[1], gg = ograds[0];
  const AttrDict over = {{"axis", node->attrs->get<SoftmaxActivationParam>().mode == 0 ? "-1" : "1"}, {"keepdims", "True"}};
  auto sum = [&](const NodeEntry& a, const NodeEntry& b) { return MakeOp("sum", {MakeOp("elemwise_mul", {a, b})}, over); };
  const NodeEntry to_g{MakeNodeLike("_backward_SoftmaxActivation", *node, {gg, y}), 0, 0};
  const NodeEntry first = MakeOp("elemwise_mul", {gg, MakeOp("broadcast_sub", {g, sum(g, y)})});
  return {to_g, MakeOp("elemwise_sub", {first, MakeOp("broadcast_mul", {g, sum(gg, y)})})};
}

MXNET_REGISTER_OP(SoftmaxActivation)
    .describe("softmax over the last dimension (mode instance), or over dimension 1 (mode channel). Superseded by softmax.")
    .set_param<SoftmaxActivationParam>()
    .set_inputs({"data"})
    .set_infer_shape(ActivationShape)
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_SoftmaxActivation", kGradOutputs))
    .set_kernel([](KernelArgs& args) {
      if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
      const Shape& s = args.in[0].shape;
      const SoftmaxCall call = ActivationCall(args, s);
      const int64_t rows = ActivationRows(s, call);
      if (args.run.ctx.is_gpu()) return SoftmaxOnDevice(args.run, OnDevice(call, rows), args.in[0], nullptr, args.out[0]);
      if (OnlyHalf({&args.in[0]})) return RunSoftmaxHalf(call, args.in[0], args.out[0], rows);
      RunReal(args, [&](KernelArgs& a, auto tag) {
        using T = decltype(tag);
        RunSoftmax(call, a.in[0].data<T>(), a.out[0].data<T>(), rows);
      });
    });

MXNET_REGISTER_OP(_backward_SoftmaxActivation)
    .describe("Gradient of SoftmaxActivation.")
    .set_param<SoftmaxActivationParam>()
    .set_inputs({"ograd", "output"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(ActivationShape)
    .set_gradient(ActivationSecondGradient)
    .set_kernel([](KernelArgs& args) {
      if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
      const Shape& s = args.in[0].shape;
      const SoftmaxCall call = ActivationCall(args, s);
      const int64_t rows = ActivationRows(s, call);
      if (args.run.ctx.is_gpu()) return SoftmaxBackwardOnDevice(args.run, OnDevice(call, rows), args.in[0], args.in[1], args.out[0]);
      if (OnlyHalf({&args.in[0]})) return RunSoftmaxBackwardHalf(call, args.in[0], args.in[1], args.out[0], rows);
      RunReal(args, [&](KernelArgs& a, auto tag) {
        using T = decltype(tag);
        RunSoftmaxBackward(call, a.in[0].data<T>(), a.in[1].data<T>(), a.out[0].data<T>(), rows);
      });
    });

// ---- masked forms
// The mask, broadcast to data's shape, one byte per element.
const unsigned char* FullMask(KernelArgs& args, const TBlob& mask, const Shape& shape) {
  if (mask.shape == shape) return mask.data<unsigned char>();
  const int64_t n = shape.Size();
  unsigned char* full = Workspace<unsigned char>(args, n);
  const int nd = shape.ndim(), lead = nd - mask.shape.ndim();
  std::vector<int64_t> stride(nd, 0), index(nd, 0);
  int64_t step = 1;
  for (int d = nd - 1; d >= lead; --d) {
    stride[d] = mask.shape[d - lead] == 1 ? 0 : step;
    step *= mask.shape[d - lead];
  }
  const unsigned char* from = mask.data<unsigned char>();
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    full[i] = from[at];
    for (int d = nd - 1; d >= 0; --d) {
      at += stride[d];
      if (++index[d] < shape[d]) break;
      at -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return full;
}

// The same on a GPU; `full` gets the mask.
DeviceSoftmax MaskedOnDevice(KernelArgs& args, const SoftmaxCall& c, const Shape& shape, int64_t outer, TBlob* full) {
  *full = args.in[1];
  full->shape = shape;
  if (args.in[1].shape != shape) {
    const int nd = shape.ndim(), lead = nd - args.in[1].shape.ndim();
    std::vector<int64_t> own(nd), from(nd, 0), dense(nd);
    RowMajorStrides(args.in[1].shape, own.data());
    RowMajorStrides(shape, dense.data());
    for (int d = lead; d < nd; ++d) from[d] = args.in[1].shape[d - lead] == 1 ? 0 : own[d - lead];
    full->dptr = args.workspace(full->Bytes());
    CopyStrided(args.run, args.in[1].dptr, from.data(), full->dptr, dense.data(), shape.dims(), nd, 1);
  }
  DeviceSoftmax s = OnDevice(c, outer);
  s.mask = full;
  return s;
}

template <Kind kKind>
void MaskedForward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const auto& p = args.param<MaskedSoftmaxParam>();
  const Shape& s = args.in[0].shape;
  const int axis = AxisOf(*args.attrs, p.axis, s);
  SoftmaxCall c = CallOf(kKind, p.temperature, s, axis);
  if (args.run.ctx.is_gpu()) {
    TBlob full;
    return SoftmaxOnDevice(args.run, MaskedOnDevice(args, c, s, s.Prod(0, axis), &full), args.in[0], nullptr, args.out[0]);
  }
  Ran(c.inner > 1 ? "softmax of columns" : "softmax of rows");
  c.mask = FullMask(args, args.in[1], s);
  if (OnlyHalf({&args.in[0]})) return RunSoftmaxHalf(c, args.in[0], args.out[0], s.Prod(0, axis));
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    RunSoftmax(c, a.in[0].data<T>(), a.out[0].data<T>(), s.Prod(0, axis));
  });
}

template <Kind kKind>
void MaskedBackward(KernelArgs& args) {  // ograd, mask, output -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const auto& p = args.param<MaskedSoftmaxParam>();
  const Shape& s = args.in[2].shape;
  const int axis = AxisOf(*args.attrs, p.axis, s);
  if (args.run.ctx.is_gpu()) {
    TBlob full;
    return SoftmaxBackwardOnDevice(args.run, MaskedOnDevice(args, CallOf(kKind, p.temperature, s, axis), s, s.Prod(0, axis), &full),
                                   args.in[0], args.in[2], args.out[0]);
  }
  Ran("softmax of rows");
  const unsigned char* mask = FullMask(args, args.in[1], s);
  if (OnlyHalf({&args.in[0]})) {
    SoftmaxCall c = CallOf(kKind, p.temperature, s, axis);
    c.mask = mask;
    return RunSoftmaxBackwardHalf(c, args.in[0], args.in[2], args.out[0], s.Prod(0, axis));
  }
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const int64_t n = s.Size();
    T* og = Workspace<T>(a, n);  // gradients of what does not count do not count either
    const T* given = a.in[0].data<T>();
    for (int64_t i = 0; i < n; ++i) og[i] = mask[i] ? given[i] : T(0);
    RunSoftmaxBackward(CallOf(kKind, p.temperature, s, axis), og, a.in[2].data<T>(), a.out[0].data<T>(), s.Prod(0, axis));
  });
}

bool MaskedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape &data = (*in)[0], &mask = (*in)[1];
  if (data.known() && mask.known())
    MXNET_CHECK_KIND(BroadcastShape(attrs.op->name, data, mask) == data, Value)
        << Named(attrs) << "mask of shape " << mask << " does not broadcast to data's " << data;
  return data.known() && mask.known();
}

bool MaskedType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "mask", &(*in)[1], kBool);
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  return (*in)[0] != kDTypeUnknown;
}

std::vector<NodeEntry> MaskedSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<MaskedSoftmaxParam>();
  const double t = p.temperature.has_value() ? p.temperature.value() : 1.0;
  return {WithOgrad(node, ograds[0]), NodeEntry(), SoftmaxSecondOfOutput(node->inputs[0], node->inputs[2], ograds[0], p.axis, t)};
}

// With e = exp(output) and m the mask: (m g - e sum(m g)) / t.
std::vector<NodeEntry> MaskedLogSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<MaskedSoftmaxParam>();
  const double t = p.temperature.has_value() ? p.temperature.value() : 1.0;
  const AttrDict scale = {{"scalar", ExactText(1.0 / t)}}, over = {{"axis", std::to_string(p.axis)}, {"keepdims", "True"}};
  auto masked = [&](const NodeEntry& x) { return MakeOp("_npi_where", {node->inputs[1], x, MakeOp("zeros_like", {x})}); };
  const NodeEntry gge = MakeOp("elemwise_mul", {ograds[0], MakeOp("exp", {node->inputs[2]})});
  const NodeEntry to_g = masked(MakeOp("broadcast_sub", {ograds[0], MakeOp("sum", {gge}, over)}));
  const NodeEntry to_y = MakeOp("negative", {MakeOp("broadcast_mul", {gge, MakeOp("sum", {masked(node->inputs[0])}, over)})});
  return {MakeOp("_mul_scalar", {to_g}, scale), NodeEntry(), MakeOp("_mul_scalar", {to_y}, scale)};
}

[[maybe_unused]] const bool masked = [] {
  auto forward = [](const char* name, const char* text) -> Op& {
    return Op::Register(name)
        .describe(std::string(text) + "\n\n`mask` is boolean and broadcasts to data's shape.")
        .alias(std::string("_npx_") + name)
        .set_param<MaskedSoftmaxParam>()
        .set_inputs({"data", "mask"})
        .set_precision(Precision::kFull)
        .set_infer_shape(MaskedShape)
        .set_infer_type(MaskedType)
        .set_dtypes(dtypes::kFloats);
  };
  auto backward = [](const char* name) -> Op& {
    return Op::Register(name)
        .describe("Gradient of the masked softmax of that name.")
        .set_param<MaskedSoftmaxParam>()
        .set_inputs({"ograd", "mask", "output"})
        .set_outputs({"data_grad"})
        .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
          AssignShape(attrs, "data_grad", &(*out)[0], (*in)[0]);
          return (*out)[0].known();
        })
        .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
          AssignType(attrs, "data_grad", &(*out)[0], (*in)[0]);
          return (*out)[0] != kDTypeUnknown;
        })
        .set_dtypes(dtypes::kAll);
  };
  auto gradient = [](const char* name) {
    return [name](const NodePtr& node, const std::vector<NodeEntry>& og) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike(name, *node, {og[0], node->inputs[1], NodeEntry{node, 0, 0}}), 0, 0}, NodeEntry()};
    };
  };
  forward("masked_softmax", "softmax over the elements whose mask is true; the others become 0.")
      .set_gradient(gradient("_backward_masked_softmax"))
      .set_trait(Role::kMaskedSoftmax)
      .set_trait(ViewOf<SoftmaxView>{[](const Attrs& a) {
        const auto& p = a.get<MaskedSoftmaxParam>();
        return SoftmaxView{p.axis, p.temperature.has_value()};
      }})
      .set_kernel(MaskedForward<kSoftmax>);
  forward("masked_log_softmax", "log_softmax over the elements whose mask is true; the others become -inf.")
      .set_gradient(gradient("_backward_masked_log_softmax"))
      .set_kernel(MaskedForward<kLogSoftmax>);
  backward("_backward_masked_softmax").set_gradient(MaskedSecondGradient).set_kernel(MaskedBackward<kSoftmax>);
  backward("_backward_masked_log_softmax").set_gradient(MaskedLogSecondGradient).set_kernel(MaskedBackward<kLogSoftmax>);
  return true;
}();

}  // namespace
}  // namespace nn

NodePtr MakeSoftmax(const NodeEntry& data, int axis, bool logarithm, const std::string& name) {
  return MakeNode(logarithm ? "log_softmax" : "softmax", {data}, {{"axis", std::to_string(axis)}}, name);
}

}  // namespace mxnet
