// What the operators on 8-bit integers share.
#include "operator/quantized/quantized.h"

#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace quantized {

using nn::Named;
using nn::Wanted;

void StoreRange(KernelArgs& args, float low, float high) {
  if (Wanted(args, 1)) *args.out[1].data<float>() = low;
  if (Wanted(args, 2)) *args.out[2].data<float>() = high;
}

void CheckBytes(const Attrs& attrs, const char* what, int dtype) {
  MXNET_CHECK_KIND(dtype == kDTypeUnknown || IsBytes(dtype), Type)
      << Named(attrs) << what << " is " << DTypeName(dtype) << "; accepted are int8, uint8";
}

int CommonBytes(const std::vector<int>& dtypes, int count) {
  bool all = true;
  for (int i = 0; i < count; ++i) {
    if (dtypes[i] == kInt8) return kInt8;
    all = all && dtypes[i] == kUint8;
  }
  return all ? static_cast<int>(kUint8) : kDTypeUnknown;
}

void RangeShapes(const Attrs& attrs, ShapeVector* in, int first, ShapeVector* out) {
  const std::vector<std::string> names = attrs.op->ListInputs(attrs);
  for (size_t i = first; i < in->size(); ++i) AssignShape(attrs, names[i].c_str(), &(*in)[i], Shape{1});
  for (size_t i = 1; i < out->size(); ++i) AssignShape(attrs, i == 1 ? "the least output" : "the greatest output", &(*out)[i], Shape{1});
}

void RangeTypes(const Attrs& attrs, std::vector<int>* in, int first, std::vector<int>* out) {
  const std::vector<std::string> names = attrs.op->ListInputs(attrs);
  for (size_t i = first; i < in->size(); ++i) AssignType(attrs, names[i].c_str(), &(*in)[i], kFloat32);
  for (size_t i = 1; i < out->size(); ++i) AssignType(attrs, i == 1 ? "the least output" : "the greatest output", &(*out)[i], kFloat32);
}

InferShapeBySwitchesFn ShapesOf(const char* name, int (*arrays)(const Attrs&)) {
  return [name, arrays](const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
    const int n = arrays(attrs);
    ShapeVector own(in->begin(), in->begin() + n), result(out->begin(), out->begin() + 1);
    const bool known = InferCallAs(*Op::Get(name), attrs, switches, &own, &result);
    std::copy(own.begin(), own.end(), in->begin());
    (*out)[0] = result[0];
    RangeShapes(attrs, in, n, out);
    return known;
  };
}

InferTypeFn TypeOfData(dtypes::Set accepted) {
  return [accepted](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    RangeTypes(attrs, in, 1, out);
    AssignType(attrs, "output", &(*out)[0], (*in)[0]);
    AssignType(attrs, "data", &(*in)[0], (*out)[0]);
    const int dtype = (*in)[0];
    if (!accepted.Has(dtype)) CheckBytes(attrs, "data", dtype);
    return dtype != kDTypeUnknown;
  };
}

void RunAs(KernelArgs& args, const char* name, int arrays) {
  KernelArgs call = args;
  call.in = Span<const TBlob>(args.in.begin(), arrays);
  call.out = Span<const TBlob>(args.out.begin(), 1);
  call.req = Span<const OpReq>(args.req.begin(), 1);
  (*Op::Get(name)->KernelFor(args.run.ctx.dev_type))(call);
}

void RunInRange(KernelArgs& args, const char* name, int arrays, int low) {
  RunAs(args, name, arrays);
  for (int i = 0; i < 2; ++i)
    if (Wanted(args, 1 + i)) CopyBytes(args.run, args.in[low + i].dptr, args.out[1 + i].dptr, static_cast<int64_t>(sizeof(float)));
}

}  // namespace quantized
}  // namespace mxnet
