// Operators that copy, convert or fill: identities with special gradients, casts, zeros_like and
// ones_like, add_n.
#include <algorithm>
#include <cstring>

#include "base/threads/omp.h"
#include "operator/matrix/move.h"
#include "operator/nodes/graph_operators.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/expression.h"
#include "operator/pointwise/gpu_program.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"
#include "rtc/loop.h"

namespace mxnet {
namespace pointwise {

struct CastParam : public Parameter<CastParam> {
  int dtype;
  MXNET_DECLARE_PARAM(CastParam) { MXNET_DTYPE_FIELD(dtype).describe("What to convert to."); }
};
struct AmpMulticastParam : public Parameter<AmpMulticastParam> {
  int num_outputs;
  bool cast_narrow;
  MXNET_DECLARE_PARAM(AmpMulticastParam) {
    MXNET_FIELD(num_outputs).set_lower_bound(1).describe("Number of arrays.");
    MXNET_FIELD(cast_narrow).set_default(false).describe("Convert to the narrowest floating type among the inputs, not the widest.");
  }
};
struct AddNParam : public Parameter<AddNParam> {
  int num_args;
  MXNET_DECLARE_PARAM(AddNParam) { MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of arrays."); }
};
struct MakeLossParam : public Parameter<MakeLossParam> {
  float grad_scale, valid_thresh;
  int normalization;
  MXNET_DECLARE_PARAM(MakeLossParam) {
    MXNET_FIELD(grad_scale).set_default(1).describe("The gradient that every element starts with.");
    MXNET_FIELD(valid_thresh).set_default(0).describe("With normalization 'valid': elements above this count.");
    MXNET_FIELD(normalization)
        .add_enum("null", 0)
        .add_enum("batch", 1)
        .add_enum("valid", 2)
        .set_default(0)
        .describe("What the gradient is divided by: nothing, the batch size, or the number of valid elements.");
  }
};
MXNET_REGISTER_PARAM(CastParam);
MXNET_REGISTER_PARAM(AmpMulticastParam);
MXNET_REGISTER_PARAM(AddNParam);
MXNET_REGISTER_PARAM(MakeLossParam);

namespace {

void CopyKernel(KernelArgs& a) { ExecuteCast(a.run, a.in[0], a.out[0], a.req[0]); }

Op& RegisterCopy(const std::string& name, const char* input_name, const char* description) {
  Op& op = Op::Register(name);
  op.describe(description);
  return op.set_inputs({input_name})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(ElemwiseShape)
      .set_infer_type(SameType)
      .set_inplace({{0, 0}})
      .set_layout(LayoutRule::kAgnostic)
      .set_supports_add()
      .set_kernel(CopyKernel);
}

std::vector<NodeEntry> PassGradient(const NodePtr&, const std::vector<NodeEntry>& ograds) { return ograds; }

// out (=, +=) value
void FillKernel(const RunContext& run, const TBlob& out, OpReq req, double value) {
  if (out.dtype == kInt64 || out.dtype == kUint64) {  // exactly
    const Operand in(value);
    Execute(run, Forward(k_identity), kI64, &in, 1, kUnaryMasks, nullptr, out, req);
    return;
  }
  const Operand in(value);
  Execute(run, Forward(k_identity), kF64, &in, 1, kUnaryMasks, nullptr, out, req);
}

Op& RegisterFillLike(const std::string& name, double value) {
  Op& op = Op::Register(name);
  op.describe(value ? "Ones in the shape and dtype of the input." : "Zeros in the shape and dtype of the input.");
  return op.set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(ElemwiseShape)
      .set_infer_type(SameType)
      .set_inplace({{0, 0}})
      .set_layout(LayoutRule::kAgnostic)
      .set_supports_add()
      .set_zero_gradient()
      .set_shape_only_from(0)
      .set_trait(Role::kConstant)
      .set_kernel([value](KernelArgs& a) {
        if (a.req[0] == OpReq::kNull) return;
        if (value == 0 && !a.run.ctx.is_gpu()) {
          if (a.req[0] != OpReq::kAdd && a.out[0].dptr) std::memset(a.out[0].dptr, 0, a.out[0].Bytes());
        } else {
          FillKernel(a.run, a.out[0], a.req[0], value);
        }
      });
}

bool CastType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], attrs.get<CastParam>().dtype);
  return (*in)[0] != kDTypeUnknown;
}
bool IsLowOrSingle(int dtype) { return IsHalf(dtype) || dtype == kFloat32; }
// Mixed precision only moves between float16, bfloat16 and float32; everything else passes.
bool AmpCastType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int t = (*in)[0];
  if (t == kDTypeUnknown) return false;
  AssignType(attrs, "output", &(*out)[0], IsLowOrSingle(t) ? attrs.get<CastParam>().dtype : t);
  return true;
}
std::vector<NodeEntry> CastGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> grads;
  for (size_t i = 0; i < ograds.size(); ++i) grads.push_back(Simple("_backward_cast", {ograds[i], node->inputs[i]}));
  return grads;
}

bool MulticastType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  int chosen = kDTypeUnknown;
  for (int t : *in) {
    if (t == kDTypeUnknown) return false;
    if (!IsLowOrSingle(t)) continue;
    const bool wider = chosen != kDTypeUnknown && DTypeSize(t) > DTypeSize(chosen);
    if (chosen == kDTypeUnknown || (DTypeSize(t) != DTypeSize(chosen) && wider != attrs.get<AmpMulticastParam>().cast_narrow)) chosen = t;
  }
  for (size_t i = 0; i < in->size(); ++i) AssignType(attrs, "an output", &(*out)[i], IsLowOrSingle((*in)[i]) ? chosen : (*in)[i]);
  return true;
}
bool MulticastShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  bool known = true;
  for (size_t i = 0; i < in->size(); ++i) {
    AssignShape(attrs, "an output", &(*out)[i], (*in)[i]);
    AssignShape(attrs, "an input", &(*in)[i], (*out)[i]);
    known = known && (*in)[i].known();
  }
  return known;
}

// Some tens of inputs in one kernel; more of them in further passes.
void AddNOnDevice(KernelArgs& a, int compute) {
  constexpr int kAtOnce = 48;
  for (int first = 0; first < a.in.size(); first += kAtOnce) {
    const int count = std::min(kAtOnce, a.in.size() - first);
    DeviceProgram program;
    program.name = "pointwise_add_n";
    program.compute = compute;
    if (count == 1) program.steps.push_back({Forward(k_identity), {{DeviceValue::kInput, 0}}});
    for (int k = 1; k < count; ++k)
      program.steps.push_back(
          {Forward(k_add),
           {k == 1 ? DeviceValue{DeviceValue::kInput, 0} : DeviceValue{DeviceValue::kStep, k - 2}, {DeviceValue::kInput, k}}});
    RunProgram(program, Span<const TBlob>(a.in.data() + first, count), nullptr, a.out[0], first > 0 ? OpReq::kAdd : a.req[0], a.run);
  }
}

void AddNKernel(KernelArgs& a) {
  const TBlob& out = a.out[0];
  const int64_t total = out.Size();
  if (a.req[0] == OpReq::kNull || total == 0) return;
  const int compute = ComputeFor(out.dtype, true);
  if (a.run.ctx.is_gpu()) return AddNOnDevice(a, compute);
  const Loop add = ForwardLoop(k_add, compute);
  const bool native = out.dtype == ComputeDType(compute), accumulate = a.req[0] == OpReq::kAdd;
  const size_t size = DTypeSize(out.dtype);
  const ConvertFn load = LoadFn(out.dtype, compute), store = StoreFn(out.dtype, compute);
  // Chunks stay in the first-level cache while all inputs pass over them. Short ones keep all
  // inputs on their way from memory at once.
  constexpr int64_t kChunk = 256;
  const int count = a.in.size();
  ParallelForThreads(OmpThreads(total * count), total, [&](int64_t begin, int64_t end) {
    alignas(64) char sum[kChunk * 8];
    alignas(64) char term[kChunk * 8];
    for (int64_t i = begin; i < end; i += kChunk) {
      const int64_t n = std::min(kChunk, end - i);
      char* target = static_cast<char*>(out.dptr) + i * size;
      const void* so_far = accumulate ? target : static_cast<const char*>(a.in[0].dptr) + i * size;
      if (!native) {
        load(so_far, sum, n);
        so_far = sum;
      }
      for (int k = accumulate ? 0 : 1; k < count; ++k) {
        const void* source = static_cast<const char*>(a.in[k].dptr) + i * size;
        if (!native) load(source, term, n);
        const void* ptrs[kMaxOperands] = {so_far, native ? source : term};
        char* const to = native && k == count - 1 ? target : sum;  // target may be one of the arrays that are still to come
        add(ptrs, to, n, 0);
        so_far = to;
      }
      if (so_far != target) store(so_far, target, n);
    }
  });
}

// lhs with what is known of rhs's shape: connects gradients of sparse graphs
bool LikeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) { return ElemwiseShape(attrs, in, out); }
bool LhsType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "input", &(*in)[0], (*out)[0]);
  if ((*in)[1] == kDTypeUnknown) (*in)[1] = (*in)[0];
  return (*in)[0] != kDTypeUnknown;
}

const bool kRegistered = [] {
  AddAliases(&RegisterCopy("_copy", "data", "A copy.").set_gradient(PassGradient).set_trait(Role::kCopy).set_trait(GivesInput{}),
             "identity");
  for (const char* name : {"_np_copy", "_npi_copy"})
    RegisterCopy(name, "a", "A copy.").set_gradient(PassGradient).set_trait(Role::kCopy).set_trait(GivesInput{});
  AddAliases(&RegisterCopy("BlockGrad", "data", "A copy through which no gradient flows.")
                  .set_zero_gradient()
                  .set_trait(Role::kStopGradient)
                  .set_trait(GivesInput{}),
             "stop_gradient _npx_stop_gradient _sparse_stop_gradient");
  AddAliases(&RegisterCopy("make_loss", "data", "A copy whose gradient is 1, whatever comes from above: the end of a symbolic loss.")
                  .set_outputs({"loss"})
                  .set_precision(Precision::kFull)
                  .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>&) {
                    return std::vector<NodeEntry>{Simple("ones_like", {node->inputs[0]})};
                  }),
             "_sparse_make_loss");
  AddAliases(&RegisterFillLike("zeros_like", 0), "_sparse_zeros_like");
  RegisterFillLike("ones_like", 1);

  for (const char* name : {"Cast", "amp_cast"}) {
    Op& op = Op::Register(name);
    op.set_param<CastParam>()
        .set_inputs({"data"})
        .set_dtypes(dtypes::kAll)
        .set_infer_shape(ElemwiseShape)
        .set_infer_type(name[0] == 'C' ? CastType : AmpCastType);
    op.set_layout(LayoutRule::kAgnostic).set_supports_add().set_gradient(CastGradient).set_kernel(CopyKernel);
    if (name[0] == 'a') op.set_trait(MixedPrecisionCast{});
    op.set_trait(Role::kCast).set_trait(GivesInput{}).set_trait(RecipeOfKind(Recipe::kCopy));
    op.describe(name[0] == 'C' ? "Converts to another dtype; fractions are truncated towards zero for integers.\n\n"
                                 "NaN, and numbers that int32 (int64 for int64, uint32 and uint64) cannot hold, become its smallest "
                                 "number, of which narrower types keep\n"
                                 "the low bits: -2147483648 for int32, 0 for int8 and uint8. uint64 also takes numbers from 2^63 to 2^64; "
                                 "bool is whether a number is not 0."
                               : "Converts between float16, bfloat16 and float32; other dtypes pass unchanged.");
    AddAliases(&op, name[0] == 'C' ? "cast _npi_cast _npx_cast" : "_npi_amp_cast");
  }
  return true;
}();

MXNET_REGISTER_OP(_backward_cast)
    .set_trait(GivesInput{})
    .describe("Converts the gradient to the dtype of the data.")
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_trait(Role::kCast)
    .set_trait(GivesInput{})
    .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {  // data may have another shape: only its dtype matters
      AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
      AssignShape(attrs, "gradient", &(*in)[0], (*out)[0]);
      return (*in)[0].known() && (*in)[1].known();
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "output", &(*out)[0], (*in)[1]);
      return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
    })
    .set_layout(LayoutRule::kAgnostic)
    .set_supports_add()
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{Simple("_backward_cast", {ograds[0], node->inputs[0]}), NodeEntry()};
    })
    .set_trait(RecipeOfKind(Recipe::kCopy))
    .set_kernel(CopyKernel);

/* A cast for each array of another dtype; the others are what they were. */
std::vector<NodeEntry> SingleCasts(const Node& node, const std::vector<int>& in, const std::vector<int>& out) {
  std::vector<NodeEntry> results;
  for (size_t i = 0; i < out.size(); ++i)
    results.push_back(in[i] == out[i] ? node.inputs[i] : graph_ops::CastTo(node.inputs[i], out[i], node.name + std::to_string(i)));
  return results;
}

MXNET_REGISTER_OP(amp_multicast)
    .describe("Converts all float16, bfloat16 and float32 inputs to one of their dtypes: the widest, or the narrowest.")
    .alias("_npi_amp_multicast")
    .set_param<AmpMulticastParam>()
    .set_variadic(
        "data", [](const Attrs& a) { return a.get<AmpMulticastParam>().num_outputs; }, "num_outputs")
    .set_dtypes(dtypes::kAll)
    .set_list_inputs([](const Attrs& a) {
      std::vector<std::string> names;
      for (int i = 0; i < a.get<AmpMulticastParam>().num_outputs; ++i) names.push_back("data_" + std::to_string(i));
      return names;
    })
    .set_outputs({"output"}, [](const Attrs& a) { return a.get<AmpMulticastParam>().num_outputs; })
    .set_infer_shape(MulticastShape)
    .set_infer_type(MulticastType)
    .set_trait(Role::kCastTogether)
    .set_trait(CheaperForm{SingleCasts})
    .set_supports_add()
    .set_gradient(CastGradient)
    .set_trait(MixedPrecisionCast{})
    .set_kernel([](KernelArgs& a) {
      for (int i = 0; i < a.in.size(); ++i) ExecuteCast(a.run, a.in[i], a.out[i], a.req[i]);
    });

Op& add_n = Op::Register("add_n")
                .describe("Sum of equally shaped arrays.")
                .alias("ElementWiseSum")
                .alias("_npx_add_n")
                .alias("_sparse_ElementWiseSum")
                .alias("_sparse_add_n")
                .set_param<AddNParam>()
                .set_variadic("args", [](const Attrs& a) { return a.get<AddNParam>().num_args; })
                .set_infer_shape(ElemwiseShape)
                .set_infer_type(SameType)
                .set_inplace({{0, 0}})
                .set_dtypes(dtypes::kClassicNumbers)
                .set_layout(LayoutRule::kAgnostic)
                .set_supports_add()
                .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
                  return std::vector<NodeEntry>(node->inputs.size(), ograds[0]);
                })
                .set_trait(RecipeOfKind(Recipe::kSum))
                .set_kernel(AddNKernel);
const bool kAddNSignature = [] {
  add_n.params.clear();  // the number of arrays is counted by the front ends and not an argument in the reference's list
  return true;
}();

MXNET_REGISTER_OP(_identity_with_attr_like_rhs)
    .set_trait(GivesInput{})
    .describe("lhs; its shape is known as soon as that of rhs is.")
    .set_inputs({"lhs", "rhs"})
    .set_dtypes(dtypes::kAll)
    .set_shape_only_from(1)
    .set_infer_shape(LikeShape)
    .set_infer_type(LhsType)
    .set_trait(GivesInput{})
    .set_inplace({{0, 0}})
    .set_supports_add()
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{ograds[0], Simple("zeros_like", {node->inputs[1]})};
    })
    .set_kernel(CopyKernel);

MXNET_REGISTER_OP(_npi_bitwise_not)
    .describe("Inverts every bit; logical not for bool.")
    .set_inputs({"x"})
    .set_infer_shape(ElemwiseShape)
    .set_inplace({{0, 0}})
    .set_dtypes(dtypes::kIntegersAndBool)
    .set_layout(LayoutRule::kAgnostic)
    .set_supports_add()
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) {
      const int compute = ComputeFor(a.in[0].dtype, true);
      const Operand in(a.in[0]);
      Execute(a.run, Forward(a.in[0].dtype == kBool ? k_logical_not : k_bitwise_not), compute, &in, 1, kUnaryMasks, nullptr, a.out[0],
              a.req[0]);
    });

MXNET_REGISTER_OP(MakeLoss)
    .describe("A copy whose gradient is grad_scale, normalized as asked, whatever comes from above.")
    .set_param<MakeLossParam>()
    .set_inputs({"data"})
    .set_infer_shape(ElemwiseShape)
    .set_inplace({{0, 0}})
    .set_dtypes(dtypes::kFloats)
    .set_precision(Precision::kFull)
    .set_supports_add()
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>&) {
      return std::vector<NodeEntry>{{MakeNodeLike("_backward_MakeLoss", *node, {node->inputs[0]}), 0, 0}};
    })
    .set_kernel(CopyKernel);

// scale divided by how many elements of in[0] are above the threshold.
void LossGradientOnDevice(KernelArgs& a, double scale, double threshold) {
  void* valid = a.workspace(sizeof(int64_t));
  ZeroBytes(a.run, valid, sizeof(int64_t));
  rtc::Arguments count, fill;
  count.Add(a.in[0].dptr).Add(valid).Add(threshold);
  fill.Add(a.out[0].dptr).Add(valid).Add(scale);
  const char* const file = "operator/nn/loss/gpu_losses.cuh";
  rtc::LaunchItems(a.run, {file, "count_above", {a.in[0].dtype}}, a.in[0].Size(), &count);
  rtc::LaunchItems(a.run, {file, "fill_divided", {a.out[0].dtype}, {a.req[0] == OpReq::kAdd}},
                   a.req[0] == OpReq::kNull ? 0 : a.out[0].Size(), &fill);
}

MXNET_REGISTER_OP(_backward_MakeLoss)
    .describe("The gradient of MakeLoss: one number for all elements.")
    .set_param<MakeLossParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ElemwiseShape)
    .set_supports_add()
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) {
      const MakeLossParam& p = a.param<MakeLossParam>();
      const TBlob& x = a.in[0];
      double divisor = 1;
      if (p.normalization == 1 && x.shape.ndim() > 1) divisor = static_cast<double>(x.shape[0]);
      if (p.normalization == 2 && a.run.ctx.is_gpu()) return LossGradientOnDevice(a, p.grad_scale, p.valid_thresh);
      if (p.normalization == 2) {
        int64_t valid = 0;
        constexpr int64_t kChunk = 512;
        double wide[kChunk];
        const ConvertFn load = LoadFn(x.dtype, kF64);
        for (int64_t i = 0, n = x.Size(); i < n; i += kChunk) {
          const int64_t m = std::min(kChunk, n - i);
          load(static_cast<const char*>(x.dptr) + i * DTypeSize(x.dtype), wide, m);
          for (int64_t j = 0; j < m; ++j) valid += wide[j] > p.valid_thresh;
        }
        divisor = static_cast<double>(std::max<int64_t>(valid, 1));
      }
      FillKernel(a.run, a.out[0], a.req[0], p.grad_scale / divisor);
    });

}  // namespace
}  // namespace pointwise
}  // namespace mxnet
