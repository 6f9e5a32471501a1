// Conversions around kernels, and inference helpers of backward nodes.
#include <algorithm>

#include "base/dtype.h"
#include "base/half.h"
#include "mxnet/op.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/pointwise/execute.h"

namespace mxnet {
namespace nn {
namespace {

/* Between half precision and float32, on the device of the arrays. */
void Cast(const RunContext& run, const TBlob& from, const TBlob& to) {
  if (run.ctx.is_gpu())
    pointwise::ExecuteCast(run, from, to, OpReq::kWrite);
  else if (IsHalf(from.dtype))
    ReadFloats(from, to.data<float>());
  else
    WriteFloats(from.data<float>(), to);
}

template <typename T>
const T* Converted(KernelArgs& args, const TBlob& blob) {
  if (blob.dtype == DTypeOf<T>::value) return blob.data<T>();
  const int64_t n = blob.Size();
  T* out = Workspace<T>(args, n);
  VisitDType(blob.dtype, args.attrs->op->name.c_str(), [&](auto tag) {
    using S = decltype(tag);
    const S* in = blob.data<S>();
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(in[i]);
  });
  return out;
}

}  // namespace

Widened::Widened(KernelArgs* args)
    : args_(args), in_(args->in), out_(args->out), wide_in_(in_.begin(), in_.end()), wide_out_(out_.begin(), out_.end()), late_(*args) {
  const auto widen = [args](TBlob* b, bool copy) {
    if (!IsHalf(b->dtype)) return;
    if (b->Size() == 0) b->dtype = kFloat32;  // no memory, but kernels ask for the dtype
    if (!b->dptr || b->Size() == 0) return;
    const TBlob half = *b;
    b->dptr = Workspace<float>(*args, b->Size());
    b->dtype = kFloat32;
    if (copy) Cast(args->run, half, *b);
  };
  for (int i = 0; i < in_.size(); ++i)
    if (!late_.Take(i, &wide_in_[i])) widen(&wide_in_[i], true);
  for (int i = 0; i < out_.size(); ++i) widen(&wide_out_[i], args->req[i] == OpReq::kAdd);
  args->in = Span<const TBlob>(wide_in_.data(), static_cast<int>(wide_in_.size()));
  args->out = Span<const TBlob>(wide_out_.data(), static_cast<int>(wide_out_.size()));
  if (!late_.empty()) args->plan_weights = &late_;
}

void Widened::Narrow() {
  for (int i = 0; i < out_.size(); ++i)
    if (wide_out_[i].dtype != out_[i].dtype && args_->req[i] != OpReq::kNull && out_[i].Size() > 0) Cast(args_->run, wide_out_[i], out_[i]);
  for (int i : args_->attrs->op->MutateInputs(*args_->attrs))
    if (wide_in_[i].dtype != in_[i].dtype && in_[i].Size() > 0) Cast(args_->run, wide_in_[i], in_[i]);
}

void ThrowReal(const Attrs* attrs, int dtype) { ThrowDType(dtype, attrs->op->name.c_str(), "float32, float64, float16, bfloat16"); }

const float* AsFloat(KernelArgs& args, const TBlob& blob) { return Converted<float>(args, blob); }
const double* AsDouble(KernelArgs& args, const TBlob& blob) { return Converted<double>(args, blob); }
const int64_t* AsInt64(KernelArgs& args, const TBlob& blob) { return Converted<int64_t>(args, blob); }

std::string Named(const Attrs& attrs) { return "[" + attrs.op->name + "] "; }

int CheckAxis(const Attrs& attrs, int axis, int ndim) {
  MXNET_CHECK_KIND(axis >= -ndim && axis < ndim, Value)
      << Named(attrs) << "axis " << axis << " of an array of " << ndim << " dimensions; accepted are " << -ndim << " to " << ndim - 1;
  return axis < 0 ? axis + ndim : axis;
}

namespace {
NodeEntry At(const NodePtr& n, uint32_t i) { return NodeEntry{n, i, 0}; }
NodeEntry Sum(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_add", {a, b}); }
}  // namespace

std::vector<NodeEntry> BilinearSecondGradient(const char* forward_op, const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  // The node computed (dx, dw[, db]) from (og, x, w[, b]); ograds are the gradients with respect to
  // those.
  const NodeEntry og = node->inputs[0], x = node->inputs[1], w = node->inputs[2];
  const bool bias = node->inputs.size() > 3;
  auto like = [&](const char* op, std::vector<NodeEntry> inputs) { return MakeNodeLike(op, *node, std::move(inputs)); };
  std::vector<NodeEntry> forward1 = {ograds[0], w}, forward2 = {x, ograds[1]}, back1 = {og, x, ograds[1]}, back2 = {og, ograds[0], w};
  if (bias) {
    NodeEntry zero = MakeOp("zeros_like", {node->inputs[3]});
    forward1.push_back(zero);
    forward2.push_back(ograds[2]);
    back1.push_back(node->inputs[3]);
    back2.push_back(node->inputs[3]);
  }
  std::vector<NodeEntry> grads(node->inputs.size());
  grads[0] = Sum(At(like(forward_op, forward1), 0), At(like(forward_op, forward2), 0));
  grads[1] = At(like(node->op()->name.c_str(), back1), 0);  // dx of (og, ., ggw)
  grads[2] = At(like(node->op()->name.c_str(), back2), 1);  // dw of (og, ggx, .)
  return grads;
}

}  // namespace nn
}  // namespace mxnet
