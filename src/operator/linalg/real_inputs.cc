#include "operator/linalg/real_inputs.h"

#include "operator/record/dtypes.h"

namespace mxnet {
namespace linalg {

int RealOf(const Attrs& attrs, const std::vector<int>& in) {
  int real = kFloat32;
  for (int type : in) {
    if (type == kDTypeUnknown) return kDTypeUnknown;
    MXNET_CHECK_KIND(!IsHalf(type), Type) << "[" << attrs.op->name << "] does not take " << DTypeName(type)
                                          << "; accepted: float32, float64, integers, bool";
    if (type != kFloat32) real = kFloat64;
  }
  return real;
}

bool RealType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int real = RealOf(attrs, *in);
  if (real == kDTypeUnknown) return false;
  for (int& type : *out) AssignType(attrs, "the result", &type, real);
  return true;
}

Op& RealRecord(const std::string& name, std::vector<std::string> inputs) {
  return Op::Register(name)
      .set_inputs(std::move(inputs))
      .set_dtypes(dtypes::kReals | dtypes::kIntegersAndBool)
      .set_infer_type(RealType)
      .set_precision(Precision::kFull)
      .set_expensive_to_recompute();
}

NodeEntry InTypeOf(const NodeEntry& gradient, const NodeEntry& like) { return MakeOp("_backward_linalg_cast", {gradient, like}); }

namespace {

bool CastType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[1]);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

bool CastShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  return (*in)[0].known() && (*in)[1].known();
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_backward_linalg_cast")
      .describe("data in the dtype of like, for gradients.")
      .set_inputs({"data", "like"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(1)
      .set_infer_shape(CastShape)
      .set_infer_type(CastType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{InTypeOf(ograds[0], node->inputs[0]), NodeEntry{}};
      })
      .set_kernel([](KernelArgs& args) {
        if (args.req[0] != OpReq::kNull && args.out[0].Size() != 0)
          pointwise::ExecuteCast(args.run, args.in[0], args.out[0], OpReq::kWrite);
      });
  return true;
}();

}  // namespace
}  // namespace linalg
}  // namespace mxnet
