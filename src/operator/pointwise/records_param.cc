// Unary operators with parameters: clip, smooth_l1, hard_sigmoid, quadratic, nan_to_num, around,
// div_sqrt_dim.
#include <algorithm>
#include <cmath>
#include <limits>

#include "operator/nodes/make_nodes.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"
#include "operator/record/optional_number.h"
#include "operator/record/param.h"
#include "operator/runtime/parameters_in_files.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace pointwise {

struct ClipParam : public Parameter<ClipParam> {
  float a_min, a_max;
  MXNET_DECLARE_PARAM(ClipParam) {
    MXNET_FIELD(a_min).describe("Smaller elements become this.");
    MXNET_FIELD(a_max).describe("Larger elements become this.");
  }
};
struct NumpyClipParam : public Parameter<NumpyClipParam> {
  OptionalNumber a_min, a_max;
  MXNET_DECLARE_PARAM(NumpyClipParam) {
    MXNET_FIELD(a_min).set_default(OptionalNumber()).describe("Smaller elements become this; None: they stay.");
    MXNET_FIELD(a_max).set_default(OptionalNumber()).describe("Larger elements become this; None: they stay.");
  }
};
struct HardSigmoidParam : public Parameter<HardSigmoidParam> {
  float alpha, beta;
  MXNET_DECLARE_PARAM(HardSigmoidParam) {
    MXNET_FIELD(alpha).set_default(0.2f).describe("Slope of the middle part.");
    MXNET_FIELD(beta).set_default(0.5f).describe("Value at 0.");
  }
};
struct SiluParam : public Parameter<SiluParam> {
  float beta;
  MXNET_DECLARE_PARAM(SiluParam) { MXNET_FIELD(beta).set_default(1.0f).describe("Factor of x in the sigmoid."); }
};
struct HardSwishParam : public Parameter<HardSwishParam> {
  float alpha, beta;
  MXNET_DECLARE_PARAM(HardSwishParam) {
    MXNET_FIELD(alpha).set_default(1.0f / 6).describe("Slope of the middle part of the factor of x.");
    MXNET_FIELD(beta).set_default(0.5f).describe("That factor at 0.");
  }
};
struct SmoothL1Param : public Parameter<SmoothL1Param> {
  float scalar;
  bool is_int;
  MXNET_DECLARE_PARAM(SmoothL1Param) {
    MXNET_FIELD(scalar).set_default(1).describe("sigma: the quadratic part ends at 1/sigma^2.");
    MXNET_FIELD(is_int).set_default(true).describe("Changes nothing; files of 1.9.1 and 2.0 have it.");
  }
};
struct QuadraticParam : public Parameter<QuadraticParam> {
  float a, b, c;
  MXNET_DECLARE_PARAM(QuadraticParam) {
    MXNET_FIELD(a).set_default(0).describe("Coefficient of x * x.");
    MXNET_FIELD(b).set_default(0).describe("Coefficient of x.");
    MXNET_FIELD(c).set_default(0).describe("Constant term.");
  }
};
struct NanToNumParam : public Parameter<NanToNumParam> {
  bool copy;
  double nan;
  OptionalNumber posinf, neginf;
  MXNET_DECLARE_PARAM(NanToNumParam) {
    MXNET_FIELD(copy).set_default(true).describe("Whether the front end makes a new array.");
    MXNET_FIELD(nan).set_default(0).describe("Replaces NaN.");
    MXNET_FIELD(posinf).set_default(OptionalNumber()).describe("Replaces infinity; None: the largest finite number of the dtype.");
    MXNET_FIELD(neginf).set_default(OptionalNumber()).describe("Replaces -infinity; None: the smallest finite number of the dtype.");
  }
};
struct AroundParam : public Parameter<AroundParam> {
  int decimals;
  MXNET_DECLARE_PARAM(AroundParam) {
    MXNET_FIELD(decimals).set_default(0).describe("Decimal places to keep; negative: places left of the point.");
  }
};
MXNET_REGISTER_PARAM(ClipParam);
MXNET_REGISTER_PARAM(NumpyClipParam);
MXNET_REGISTER_PARAM(HardSigmoidParam);
MXNET_REGISTER_PARAM(SiluParam);
MXNET_REGISTER_PARAM(HardSwishParam);
MXNET_REGISTER_PARAM(SmoothL1Param);
MXNET_REGISTER_PARAM(QuadraticParam);
MXNET_REGISTER_PARAM(NanToNumParam);
MXNET_REGISTER_PARAM(AroundParam);

namespace {

double LargestFinite(int dtype) {
  switch (dtype) {
    case kFloat64: return std::numeric_limits<double>::max();
    case kFloat16: return 65504.0;
    case kBfloat16: return 0x1.fep127;
    default: return std::numeric_limits<float>::max();
  }
}

template <typename P>
void SetParam(const ParamOps& ops) {
  ops.forward->set_param<P>();
  if (ops.backward) ops.backward->set_param<P>();
}

const bool kRegistered = [] {
  ParamOps clip = RegisterUnaryParam("clip", k_clip, [](const Attrs& a, int, double* p) {
    p[0] = a.get<ClipParam>().a_min;
    p[1] = a.get<ClipParam>().a_max;
  });
  SetParam<ClipParam>(clip);
  AddAliases(clip.forward, "_sparse_clip");
  clip.forward->set_trait(nn::AsEpilogue{[](const Attrs& a) {
    const auto& c = a.get<ClipParam>();
    return nn::EpilogueOp{nn::EpilogueKind::kClip, static_cast<float>(c.a_min), static_cast<float>(c.a_max)};
  }});

  ParamOps numpy_clip = RegisterUnaryParam("_npi_clip", k_clip, [](const Attrs& a, int dtype, double* p) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const NumpyClipParam& c = a.get<NumpyClipParam>();
    p[0] = c.a_min.has_value() ? c.a_min.value() : -inf;
    p[1] = c.a_max.has_value() ? c.a_max.value() : inf;
    if (dtype == kUint64)  // whose bounds are bits: numbers below 0 have those of large ones
      for (int i = 0; i < 2; ++i) p[i] = std::max(p[i], 0.0);
  });
  SetParam<NumpyClipParam>(numpy_clip);
  numpy_clip.forward->set_dtypes(dtypes::kAll);
  numpy_clip.forward->set_trait(nn::AsEpilogue{[](const Attrs& a) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const auto& c = a.get<NumpyClipParam>();
    return nn::EpilogueOp{nn::EpilogueKind::kClip, c.a_min.has_value() ? static_cast<float>(c.a_min.value()) : -inf,
                          c.a_max.has_value() ? static_cast<float>(c.a_max.value()) : inf};
  }});
  for (ParamInfo& info : numpy_clip.forward->params) info.type = "float, required";  // as the reference lists them

  ParamOps hard_sigmoid = RegisterUnaryParam("hard_sigmoid", k_hard_sigmoid, [](const Attrs& a, int, double* p) {
    p[0] = a.get<HardSigmoidParam>().alpha;
    p[1] = a.get<HardSigmoidParam>().beta;
  });
  SetParam<HardSigmoidParam>(hard_sigmoid);
  hard_sigmoid.forward->set_dtypes(dtypes::kFloats).set_trait(nn::AsEpilogue{[](const Attrs& a) {
    const auto& h = a.get<HardSigmoidParam>();
    return nn::EpilogueOp{nn::EpilogueKind::kHardSigmoid, static_cast<float>(h.alpha), static_cast<float>(h.beta)};
  }});

  ParamOps silu = RegisterUnaryParam("_silu", k_silu, [](const Attrs& a, int, double* p) { p[0] = a.get<SiluParam>().beta; });
  SetParam<SiluParam>(silu);
  silu.forward->set_dtypes(dtypes::kFloats).set_trait(nn::AsEpilogue{[](const Attrs& a) {
    return nn::EpilogueOp{nn::EpilogueKind::kSilu, static_cast<float>(a.get<SiluParam>().beta)};
  }});

  ParamOps hard_swish = RegisterUnaryParam("_hard_swish", k_hard_swish, [](const Attrs& a, int, double* p) {
    p[0] = a.get<HardSwishParam>().alpha;
    p[1] = a.get<HardSwishParam>().beta;
  });
  SetParam<HardSwishParam>(hard_swish);
  hard_swish.forward->set_dtypes(dtypes::kFloats).set_trait(nn::AsEpilogue{[](const Attrs& a) {
    const auto& h = a.get<HardSwishParam>();
    return nn::EpilogueOp{nn::EpilogueKind::kHardSwish, static_cast<float>(h.alpha), static_cast<float>(h.beta)};
  }});

  ParamOps smooth_l1 =
      RegisterUnaryParam("smooth_l1", k_smooth_l1, [](const Attrs& a, int, double* p) { p[0] = a.get<SmoothL1Param>().scalar; });
  SetParam<SmoothL1Param>(smooth_l1);
  smooth_l1.forward->params[0].type = "float";  // as the reference lists it, although a default exists
  AddAliases(&smooth_l1.forward->set_precision(Precision::kFull), "_npx_smooth_l1");

  ParamOps quadratic = RegisterUnaryParam("_contrib_quadratic", k_quadratic, [](const Attrs& a, int, double* p) {
    const QuadraticParam& q = a.get<QuadraticParam>();
    p[0] = q.a;
    p[1] = q.b;
    p[2] = q.c;
  });
  SetParam<QuadraticParam>(quadratic);
  quadratic.backward->alias("_contrib_backward_quadratic");

  ParamOps nan_to_num = RegisterUnaryParam("_npi_nan_to_num", k_nan_to_num, [](const Attrs& a, int dtype, double* p) {
    const NanToNumParam& n = a.get<NanToNumParam>();
    p[0] = n.nan;
    p[1] = n.posinf.has_value() ? n.posinf.value() : LargestFinite(dtype);
    p[2] = n.neginf.has_value() ? n.neginf.value() : -LargestFinite(dtype);
  });
  SetParam<NanToNumParam>(nan_to_num);
  nan_to_num.forward->set_dtypes(dtypes::kAll);
  nan_to_num.backward->alias("_npi_backward_nan_to_num");

  ParamOps around = RegisterUnaryParam("_npi_around", k_around,
                                       [](const Attrs& a, int, double* p) { p[0] = std::pow(10.0, a.get<AroundParam>().decimals); });
  SetParam<AroundParam>(around);
  around.forward->set_inputs({"x"}).set_dtypes(dtypes::kAll).set_trait(ParametersInFiles{{{"decimal", "decimals"}}});  // of 2.0
  return true;
}();

// x / sqrt(d), d = the last dimension: the scaling of attention scores (Vaswani et al., 2017).
MXNET_REGISTER_OP(_contrib_div_sqrt_dim)
    .describe("Divides by the square root of the last dimension's size; integers by the whole part of that root.")
    .set_inputs({"data"})
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
      MXNET_CHECK_KIND((*in)[0].ndim() != 0, Value) << "[" << attrs.op->name << "] data has shape (); at least one dimension is needed";
      return ElemwiseShape(attrs, in, out);
    })
    .set_inplace({{0, 0}})
    .set_dtypes(dtypes::kClassicNumbers)
    .set_supports_add()
    .set_gradient([](const NodePtr&, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{Simple("_contrib_div_sqrt_dim", {ograds[0]})};
    })
    .set_kernel([](KernelArgs& a) {
      const TBlob& x = a.in[0];
      const int compute = ComputeFor(x.dtype, false);
      const double root = std::sqrt(static_cast<double>(x.shape[x.shape.ndim() - 1])), p[3] = {1.0 / root, 0, 0};
      if (!IsFloating(x.dtype)) {
        const Operand parts[2] = {x, Operand(std::trunc(root))};
        Execute(a.run, Forward(k_div), compute, parts, 2, kBinaryMasks, nullptr, a.out[0], a.req[0]);
        return;
      }
      const Operand in(x);
      Execute(a.run, Forward(k_scale), compute, &in, 1, kUnaryMasks, p, a.out[0], a.req[0]);
    });

}  // namespace
}  // namespace pointwise

NodePtr MakeSilu(const NodeEntry& data, double beta, const std::string& name) {
  return MakeNode("_silu", {data}, {{"beta", ExactText(beta)}}, name);
}
NodePtr MakeHardSwish(const NodeEntry& data, double alpha, double beta, const std::string& name) {
  return MakeNode("_hard_swish", {data}, {{"alpha", ExactText(alpha)}, {"beta", ExactText(beta)}}, name);
}

}  // namespace mxnet
