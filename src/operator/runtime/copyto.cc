// Copies between arrays of any devices and dtypes as differentiable operators.
#include "mxnet/op.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/sparse_form.h"
#include "operator/runtime/array_call.h"

namespace mxnet {
namespace {

/*
 * Copies between devices and between views of one array are the array's own. On one device
 * conversions are operators, and on the host all copies: they use threads, and their results get
 * memory in their turn.
 */
void CopyOrCast(const NDArray& from, NDArray* to) {
  if (from.is_sparse() || to->is_sparse()) return CopyFromTo(from, *to);
  const bool cast = from.dtype() != to->dtype(), gpu = from.ctx().is_gpu() || to->ctx().is_gpu();
  if (from.shape() != to->shape() || (gpu ? !cast || from.ctx() != to->ctx() : from.chunk() == to->chunk())) return CopyFromTo(from, *to);
  const AttrsPtr attrs = cast ? graph_ops::CastAttrs(to->dtype()) : graph_ops::Copy();
  RunOnArrays(attrs, {from.Detach()}, {OpReq::kWrite}, {*to}, false);
}

void MakeResult(const NDArray& like, Context ctx, int dtype, NDArray* out) {
  if (like.is_sparse())
    *out = NDArray::Make(TensorType(like.shape(), dtype, like.storage_type()), ctx, true);
  else
    out->Init(like.shape(), ctx, dtype);
}

void Copy(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  MXNET_CHECK_KIND(!in[0]->is_none(), Value) << "[_copyto] the source is an empty (none) array";
  if (out[0]->is_none()) MakeResult(*in[0], in[0]->ctx(), in[0]->dtype(), out[0]);
  CopyOrCast(*in[0], out[0]);
}

struct ToContextParam : public Parameter<ToContextParam> {
  std::string ctx;
  MXNET_DECLARE_PARAM(ToContextParam) { MXNET_FIELD(ctx).describe("Where to, such as gpu(1)."); }
};
MXNET_REGISTER_PARAM(ToContextParam);

void ToContext(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  if (out[0]->is_none()) MakeResult(*in[0], Context::FromString(attrs.get<ToContextParam>().ctx), in[0]->dtype(), out[0]);
  CopyOrCast(*in[0], out[0]);
}

/* The gradient goes back to the device and dtype of what was copied. */
void CopyBack(const Attrs&, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  if (out[0]->is_none()) MakeResult(*in[0], in[1]->ctx(), in[1]->dtype(), out[0]);
  CopyOrCast(*in[0], out[0]);
}

bool AnyType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  if ((*out)[0] == kDTypeUnknown) (*out)[0] = in->back();
  return in->back() != kDTypeUnknown;
}

MXNET_REGISTER_OP(_copyto)
    .alias("_CrossDeviceCopy")
    .alias("_npi_copyto")
    .describe("Copies an array into another one, also across devices and dtypes.")
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ElemwiseShape)
    .set_infer_type(AnyType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_backward_copyto", {ograds[0], node->inputs[0]})};
    })
    .set_trait(TakesAnyStorage{})
    .set_array_fn(Copy);

MXNET_REGISTER_OP(_to_context)
    .describe("Copies an array to another device. Graphs whose parts are on several devices are given it (group2ctx).")
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_param<ToContextParam>()
    .set_infer_shape(ElemwiseShape)
    .set_infer_type(AnyType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_backward_copyto", {ograds[0], node->inputs[0]})};
    })
    .set_trait(TakesAnyStorage{})
    .set_array_fn(ToContext);

MXNET_REGISTER_OP(_NoGradient)
    .describe("Stands in graphs of 1.x for a gradient that there is none of. It cannot be computed.")
    .set_inputs({})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape([](const Attrs&, ShapeVector*, ShapeVector*) { return false; })
    .set_infer_type([](const Attrs&, std::vector<int>*, std::vector<int>*) { return false; })
    .set_array_fn([](const Attrs&, const std::vector<NDArray*>&, const std::vector<NDArray*>&, bool) {
      MXNET_THROW(Generic) << "[_NoGradient] stands for a gradient that there is none of; it cannot be computed";
    });

MXNET_REGISTER_OP(_backward_copyto)
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ElemwiseShape)
    .set_infer_type(AnyType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_backward_copyto", {ograds[0], node->inputs[0]}), NodeEntry()};
    })
    .set_shape_only_from(1)
    .set_trait(TakesAnyStorage{})
    .set_array_fn(CopyBack);

}  // namespace
}  // namespace mxnet
