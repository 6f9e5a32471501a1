// boolean_mask: the rows that a mask chooses; their number depends on its values, so arrays are
// read on the calling thread.
#include <cstring>
#include <numeric>
#include <type_traits>

#include "operator/indexing/gpu_index.h"
#include "operator/indexing/host_values.h"
#include "operator/indexing/select.h"
#include "operator/like_inputs.h"
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

// For each entry of a mask 1 or 0.
const uint8_t* Flags(const TBlob& mask, std::vector<uint8_t>* made) {
  if (mask.dtype == kBool) return mask.data<uint8_t>();
  made->resize(static_cast<size_t>(mask.Size()));
  NonzeroFlags(mask, 0, mask.Size(), made->data());
  return made->data();
}

// The entries of `from` (outer, size, piece bytes) where the mask is 1. `bytes`: the length of a
// piece, a constant for the compiler where it is short.
template <typename Length>
void Gather(const char* from, int64_t outer, int64_t size, const uint8_t* mask, int64_t chosen, Length bytes, char* to) {
  for (int64_t o = 0; o < outer; ++o) {
    int64_t n = 0;
    // What is not chosen is written, too, and written over: one branch less.
    for (int64_t i = 0; n < chosen; ++i) {
      std::memcpy(to + n * bytes, from + (o * size + i) * bytes, static_cast<size_t>(bytes));
      n += mask[i];
    }
    to += chosen * bytes;
  }
}

void GatherPieces(const char* from, int64_t outer, int64_t size, const uint8_t* mask, int64_t chosen, int64_t piece, char* to) {
  switch (piece) {
    case 1: return Gather(from, outer, size, mask, chosen, std::integral_constant<int64_t, 1>(), to);
    case 2: return Gather(from, outer, size, mask, chosen, std::integral_constant<int64_t, 2>(), to);
    case 4: return Gather(from, outer, size, mask, chosen, std::integral_constant<int64_t, 4>(), to);
    case 8: return Gather(from, outer, size, mask, chosen, std::integral_constant<int64_t, 8>(), to);
    default: break;
  }
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < size; ++i) {
      if (!mask[i]) continue;
      std::memcpy(to, from + (o * size + i) * piece, static_cast<size_t>(piece));
      to += piece;
    }
}

void Mask(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray &data = *in[0], &index = *in[1];
  const Shape& s = data.shape();
  const int axis = CheckMask(attrs, s, index.shape());
  const HostValues flags(index);
  std::vector<uint8_t> made;
  const uint8_t* mask = Flags(flags.blob(), &made);
  const int64_t chosen = std::accumulate(mask, mask + index.shape().Size(), int64_t{0});
  Shape to = s;
  to[axis] = chosen;
  const bool fresh = out[0]->is_none();
  if (fresh) out[0]->Init(to, data.ctx(), data.dtype());
  MXNET_CHECK_KIND(out[0]->shape() == to && out[0]->dtype() == data.dtype(), Value)
      << "[" << attrs.op->name << "] out has shape " << out[0]->shape() << " and dtype " << DTypeName(out[0]->dtype()) << "; the result is "
      << to << " of " << DTypeName(data.dtype());
  const int64_t outer = s.Prod(0, axis), piece = s.Prod(axis + 1, s.ndim()) * static_cast<int64_t>(DTypeSize(data.dtype()));
  if (to.Size() == 0) return;
  const HostValues from(data);
  if (fresh && !data.ctx().is_gpu()) return GatherPieces(from.at(), outer, s[axis], mask, chosen, piece, out[0]->data().data<char>());
  std::vector<char> result(static_cast<size_t>(to.Size()) * DTypeSize(data.dtype()));
  GatherPieces(from.at(), outer, s[axis], mask, chosen, piece, result.data());
  out[0]->SyncCopyFromCPU(result.data(), result.size());
}

// [ograd, data, index] -> gradient of data
void MaskBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob &g = a.in[0], &out = a.out[0], &index = a.in[2];
  const Shape& s = out.shape;
  const int axis = CheckMask(*a.attrs, s, index.shape);
  std::vector<uint8_t> made;
  int64_t* before = a.run.ctx.is_gpu() ? CountChosenOnDevice(a, index) : nullptr;
  const uint8_t* mask = before ? nullptr : Flags(index, &made);
  int64_t n = before ? 0 : std::accumulate(mask, mask + index.Size(), int64_t{0});
  if (before) rtc::ReadBack(a.run, before + index.Size(), &n, sizeof(n));
  const int64_t outer = s.Prod(0, axis), piece = s.Prod(axis + 1, s.ndim()) * static_cast<int64_t>(DTypeSize(out.dtype));
  MXNET_CHECK_KIND(g.shape.ndim() == s.ndim() && g.shape[axis] == n && static_cast<int64_t>(g.Bytes()) == outer * n * piece, Value)
      << "[" << a.attrs->op->name << "] the gradient has shape " << g.shape << "; the mask chooses " << n << " entries of dimension "
      << axis;
  if (before) return PutChosenOnDevice(a.run, g, before, outer, s[axis], n, piece, out);
  ZeroBytes(out.dptr, static_cast<int64_t>(out.Bytes()));
  const char* from = g.data<char>();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < s[axis]; ++i) {
      if (!mask[i]) continue;
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
      .set_infer_shape(LikeInputsShape(1))
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
