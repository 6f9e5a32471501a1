// boolean_mask: the rows that a mask chooses; their number depends on its values, so arrays are
// read on the calling thread.
#include <cstring>

#include "base/dtype.h"
#include "mxnet/ndarray.h"
#include "operator/indexing/gpu_index.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct BooleanMaskParam : public dmlc::Parameter<BooleanMaskParam> {
  int axis;
  DMLC_DECLARE_PARAMETER(BooleanMaskParam) { DMLC_DECLARE_FIELD(axis).set_default(0).describe("The dimension whose entries are chosen."); }
};
MXNET_REGISTER_PARAM(BooleanMaskParam);

int CheckMask(const Attrs& attrs, const Shape& data, const Shape& index) {
  const int axis = CheckedAxis(attrs, attrs.get<BooleanMaskParam>().axis, data.ndim());
  MXNET_CHECK_KIND(index.ndim() == 1 && index[0] == data[axis], Value)
      << "[" << attrs.op->name << "] index has shape " << index << "; it must be (" << data[axis] << ",) for dimension " << axis
      << " of data with shape " << data;
  return axis;
}

// Positions at which `values` (host memory) are not zero.
std::vector<int64_t> Chosen(const void* values, int dtype, int64_t n) {
  std::vector<int64_t> at;
  VisitDType(dtype, "boolean_mask", [&](auto tag) {
    using T = decltype(tag);
    const T* v = static_cast<const T*>(values);
    for (int64_t i = 0; i < n; ++i)
      if (static_cast<float>(v[i]) != 0.0f) at.push_back(i);
  });
  return at;
}

std::vector<char> HostCopy(const NDArray& a) {
  std::vector<char> bytes(static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()));
  a.SyncCopyToCPU(bytes.data(), bytes.size());
  return bytes;
}

void Mask(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray &data = *in[0], &index = *in[1];
  const Shape& s = data.shape();
  const int axis = CheckMask(attrs, s, index.shape());
  const std::vector<int64_t> at = Chosen(HostCopy(index).data(), index.dtype(), index.shape().Size());
  Shape to = s;
  to[axis] = static_cast<int64_t>(at.size());
  if (out[0]->is_none()) out[0]->Init(to, data.ctx(), data.dtype());
  MXNET_CHECK_KIND(out[0]->shape() == to && out[0]->dtype() == data.dtype(), Value)
      << "[" << attrs.op->name << "] out has shape " << out[0]->shape() << " and dtype " << DTypeName(out[0]->dtype()) << "; the result is "
      << to << " of " << DTypeName(data.dtype());
  const int64_t outer = s.Prod(0, axis), piece = s.Prod(axis + 1, s.ndim()) * static_cast<int64_t>(DTypeSize(data.dtype()));
  const std::vector<char> from = HostCopy(data);
  std::vector<char> result(static_cast<size_t>(to.Size()) * DTypeSize(data.dtype()));
  char* put = result.data();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i : at) {
      std::memcpy(put, from.data() + (o * s[axis] + i) * piece, static_cast<size_t>(piece));
      put += piece;
    }
  out[0]->SyncCopyFromCPU(result.data(), result.size());
}

// [ograd, data, index] -> gradient of data
void MaskBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob &g = a.in[0], &out = a.out[0], &index = a.in[2];
  const Shape& s = out.shape;
  const int axis = CheckMask(*a.attrs, s, index.shape);
  std::vector<int64_t> at;
  int64_t* before = nullptr;
  if (a.run.ctx.is_gpu())
    before = CountChosenOnDevice(a, index);
  else
    at = Chosen(index.dptr, index.dtype, index.Size());
  int64_t n = static_cast<int64_t>(at.size());
  if (before) rtc::ReadBack(a.run, before + index.Size(), &n, sizeof(n));
  const int64_t outer = s.Prod(0, axis), piece = s.Prod(axis + 1, s.ndim()) * static_cast<int64_t>(DTypeSize(out.dtype));
  MXNET_CHECK_KIND(g.shape.ndim() == s.ndim() && g.shape[axis] == n && static_cast<int64_t>(g.Bytes()) == outer * n * piece, Value)
      << "[" << a.attrs->op->name << "] the gradient has shape " << g.shape << "; the mask chooses " << n << " entries of dimension "
      << axis;
  if (before) return PutChosenOnDevice(a.run, g, before, outer, s[axis], n, piece, out);
  ZeroBytes(out.dptr, static_cast<int64_t>(out.Bytes()));
  const char* from = g.data<char>();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i : at) {
      std::memcpy(out.data<char>() + (o * s[axis] + i) * piece, from, static_cast<size_t>(piece));
      from += piece;
    }
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_contrib_boolean_mask")
      .describe("The entries of one dimension where index is not zero.")
      .alias("_npi_boolean_mask")
      .set_param<BooleanMaskParam>()
      .set_inputs({"data", "index"})
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        Shape to = (*in)[0];
        if (!to.ndim_known()) return false;
        to[CheckedAxis(attrs, attrs.get<BooleanMaskParam>().axis, to.ndim())] = Shape::kUnknownDim;
        AssignShape(attrs, "the result", &(*out)[0], to);
        return (*in)[0].known() && (*in)[1].known() && (*out)[0].known();
      })
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
        return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
      })
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{
            NodeEntry{MakeNodeLike("_backward_boolean_mask", *node, {ograds[0], node->inputs[0], node->inputs[1]}), 0, 0}, NodeEntry{}};
      })
      .set_array_fn(Mask);
  Op::Register("_backward_boolean_mask")
      .describe("Gradient of boolean_mask.")
      .set_param<BooleanMaskParam>()
      .set_inputs({"ograd", "data", "index"})
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        AssignShape(attrs, "the gradient", &(*out)[0], (*in)[1]);
        return (*in)[0].known() && (*in)[1].known() && (*in)[2].known();
      })
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the gradient", &(*out)[0], (*in)[0]);
        return (*in)[0] != kDTypeUnknown && (*in)[2] != kDTypeUnknown;
      })
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> grads(3);
        grads[0] = NodeEntry{MakeNodeLike("_contrib_boolean_mask", *node, {ograds[0], node->inputs[2]}), 0, 0};
        return grads;
      })
      .set_kernel(MaskBack);
  return true;
}();

}  // namespace
}  // namespace mxnet
