// Rounding to the steps of integers and back to floats, with a gradient that passes: what training
// makes of QuantizeLinear and DequantizeLinear of ONNX files.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/dtype.h"
#include "base/ran.h"
#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/quantized_fused/integer_loops.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

struct FakeQuantizeParam : public Parameter<FakeQuantizeParam> {
  int out_type, axis;
  MXNET_DECLARE_PARAM(FakeQuantizeParam) {
    MXNET_DTYPE_FIELD_OF(out_type, dtypes::kBytes | dtypes::Set{kInt16, kUint16, kInt32})
        .set_default(kUint8)
        .describe("Dtype of the integers.");
    MXNET_FIELD(axis).set_default(0).describe("The axis of data along which scale and zero are, if they are several numbers.");
  }
};
MXNET_REGISTER_PARAM(FakeQuantizeParam);

namespace {

using nn::Named;
using nn::Wanted;

constexpr int64_t kChunk = 16384;  // elements that a thread takes at least

ByteLimits IntegerLimits(int dtype) {
  ByteLimits limits{};
  VisitInteger(dtype, "_fake_quantize", [&](auto tag) {
    using Number = std::numeric_limits<decltype(tag)>;
    limits = {static_cast<float>(Number::lowest()), static_cast<float>(Number::max())};
  });
  return limits;
}

/* `first`: where data, scale and zero begin among the inputs. */
bool CheckSteps(const Attrs& attrs, const ShapeVector& in, size_t first) {
  const Shape& data = in[first];
  if (!data.known()) return false;
  const int axis = attrs.get<FakeQuantizeParam>().axis;
  for (size_t i = first + 1; i < first + 3; ++i) {
    if (!in[i].known() || in[i].Size() == 1) continue;
    MXNET_CHECK_KIND(axis >= -data.ndim() && axis < data.ndim(), Value)
        << Named(attrs) << "axis is " << axis << "; accepted for data of shape " << data << " is -" << data.ndim() << " to "
        << data.ndim() - 1;
    const int64_t size = data[axis < 0 ? axis + data.ndim() : axis];
    MXNET_CHECK_KIND(in[i].ndim() == 1 && in[i][0] == size, Value) << Named(attrs) << (i == first + 1 ? "scale" : "zero") << " has shape "
                                                                   << in[i] << "; accepted are one number and (" << size << ",)";
  }
  return true;
}

bool FakeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  return CheckSteps(attrs, *in, 0);
}

bool FakeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (size_t i = 0; i + 1 < in->size(); ++i) AssignType(attrs, "data", &(*in)[i], kFloat32);
  AssignType(attrs, "zero", &in->back(), kInt32);
  AssignType(attrs, "output", &(*out)[0], kFloat32);
  return true;
}

bool FakeGradShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "ograd", &(*in)[0], (*in)[1]);
  AssignShape(attrs, "output", &(*out)[0], (*in)[1]);
  return CheckSteps(attrs, *in, 1);
}

/* f(where it begins, elements, steps) for parts of data that have one scale and one zero point. */
template <typename F>
void ForParts(const FakeQuantizeParam& p, const TBlob& data, const TBlob& scale, const TBlob& zero, F&& f) {
  const auto& shape = data.shape;
  const ByteLimits limits = IntegerLimits(p.out_type);
  const int axis = p.axis < 0 ? p.axis + shape.ndim() : p.axis;
  const int64_t several = std::max(scale.Size(), zero.Size()), inner = several == 1 ? shape.Size() : shape.Prod(axis + 1, shape.ndim());
  if (shape.Size() == 0) return;
  const auto steps = [&](int64_t part) {
    const int64_t at = part % several;
    const auto z = static_cast<float>(zero.data<int32_t>()[zero.Size() == 1 ? 0 : at]);
    return IntegerSteps{scale.data<float>()[scale.Size() == 1 ? 0 : at], limits.low - z, limits.high - z};
  };
  if (several == 1) {
    const IntegerSteps one = steps(0);
    return ParallelFor(inner, kChunk, [&](int64_t b, int64_t e) { f(b, e - b, one); });
  }
  ParallelFor(shape.Size() / inner, std::max<int64_t>(1, kChunk / inner), [&](int64_t b, int64_t e) {
    for (int64_t part = b; part < e; ++part) f(part * inner, inner, steps(part));
  });
}

void Round(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  Ran("vector loop");
  const float* const x = args.in[0].data<float>();
  float* const y = args.out[0].data<float>();
  ForParts(args.param<FakeQuantizeParam>(), args.in[0], args.in[1], args.in[2], [&](int64_t at, int64_t n, const IntegerSteps& steps) {
    MXNET_CPU_CALL(RoundToSteps)(x + at, steps, n, y + at);
  });
}

void PassInside(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  Ran("vector loop");
  const float *const og = args.in[0].data<float>(), *const x = args.in[1].data<float>();
  float* const to = args.out[0].data<float>();
  ForParts(args.param<FakeQuantizeParam>(), args.in[1], args.in[2], args.in[3], [&](int64_t at, int64_t n, const IntegerSteps& steps) {
    MXNET_CPU_CALL(PassInSteps)(og + at, x + at, steps, n, to + at);
  });
}

MXNET_REGISTER_OP(_fake_quantize)
    .describe(
        "What is left of floats that become integers and floats again: (q - zero) * scale, where q is data / scale, rounded to the "
        "nearest (ties to even), plus zero, and cut to what out_type holds.\n\n"
        "scale (float32) and zero (int32) are one number each, or one for each index of the axis. The gradient of data is that of the "
        "result where q was not cut, and 0 elsewhere, so that what is in front learns; scale and zero have none. float32.")
    .set_param<FakeQuantizeParam>()
    .set_inputs({"data", "scale", "zero"})
    .set_infer_shape(FakeShape)
    .set_infer_type(FakeType)
    .set_dtypes({kFloat32})
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      std::vector<NodeEntry> grads(3);
      grads[0] = {MakeNodeLike("_backward_fake_quantize", *node, {ograds[0], node->inputs[0], node->inputs[1], node->inputs[2]}), 0, 0};
      return grads;
    })
    .set_kernel([](KernelArgs& a) { OnHost(a, Round); });

MXNET_REGISTER_OP(_backward_fake_quantize)
    .describe("The gradient of _fake_quantize with respect to data.")
    .set_param<FakeQuantizeParam>()
    .set_inputs({"ograd", "data", "scale", "zero"})
    .set_infer_shape(FakeGradShape)
    .set_infer_type(FakeType)
    .set_dtypes({kFloat32})
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {  // linear in ograd
      std::vector<NodeEntry> grads(4);
      grads[0] = {MakeNodeLike("_backward_fake_quantize", *node, {ograds[0], node->inputs[1], node->inputs[2], node->inputs[3]}), 0, 0};
      return grads;
    })
    .set_kernel([](KernelArgs& a) { OnHost(a, PassInside); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
