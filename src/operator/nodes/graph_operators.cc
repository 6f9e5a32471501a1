#include "operator/nodes/graph_operators.h"

#include <unordered_map>

#include "mxnet/op.h"

namespace mxnet {
namespace graph_ops {

NodeEntry ZerosLike(const NodeEntry& like, const std::string& name) { return MakeOp("zeros_like", {like}, {}, name); }
NodeEntry OnesLike(const NodeEntry& like, const std::string& name) { return MakeOp("ones_like", {like}, {}, name); }
NodeEntry CopyOf(const NodeEntry& e, const std::string& name) { return MakeOp("_copy", {e}, {}, name); }
NodeEntry AddOf(const NodeEntry& a, const NodeEntry& b, const std::string& name) { return MakeOp("elemwise_add", {a, b}, {}, name); }
NodeEntry SumOf(const std::vector<NodeEntry>& terms, const std::string& name) {
  return MakeOp("add_n", terms, {{"num_args", std::to_string(terms.size())}}, name);
}
NodeEntry AddGradient(const NodeEntry& before, const NodeEntry& gradient, const std::string& name) {
  return MakeOp("_grad_add", {before, gradient}, {}, name);
}
NodeEntry CastGradient(const NodeEntry& gradient, const NodeEntry& of, const std::string& name) {
  return MakeOp("_backward_cast", {gradient, of}, {}, name);
}
NodeEntry CastTo(const NodeEntry& e, int dtype, const std::string& name) {
  return MakeOp("amp_cast", {e}, {{"dtype", DTypeName(dtype)}}, name);
}
NodePtr CastToWidest(const std::vector<NodeEntry>& inputs, const std::string& name) {
  return MakeNode("amp_multicast", inputs, {{"num_outputs", std::to_string(inputs.size())}}, name);
}
NodeEntry CopyTo(const NodeEntry& e, const Context& ctx) { return MakeOp("_to_context", {e}, {{"ctx", ctx.str()}}); }
NodeEntry ReshapeTo(const NodeEntry& e, const Shape& shape, const std::string& name) {
  return MakeOp("Reshape", {e}, {{"shape", shape.str()}}, name);
}
NodeEntry TransposeTo(const NodeEntry& e, const std::vector<int>& axes, const std::string& name) {
  bool same = true;
  for (size_t i = 0; i < axes.size(); ++i) same = same && axes[i] == static_cast<int>(i);
  if (same) return e;
  return MakeOp("transpose", {e}, {{"axes", Shape(std::vector<int64_t>(axes.begin(), axes.end())).str()}}, name);
}
NodeEntry BroadcastTo(const NodeEntry& e, const Shape& shape, const std::string& name) {
  return MakeOp("broadcast_to", {e}, {{"shape", shape.str()}}, name);
}
NodeEntry ToLayout(const NodeEntry& e, const std::string& name) { return MakeOp("_to_layout", {e}, {}, name); }
NodeEntry ShapeOnly(const Shape& shape, int dtype, const std::string& name) {
  return MakeOp("_npi_zeros", {}, {{"shape", shape.str()}, {"dtype", DTypeName(dtype)}}, name);
}

AttrsPtr FusedPointwiseAttrs(std::shared_ptr<Symbol> graph, size_t num_inputs, const Shape& shape) {
  AttrDict dict = {{"num_args", std::to_string(num_inputs)}};
  if (shape.known()) dict["shape"] = shape.str();
  auto attrs = std::make_shared<Attrs>(*MakeAttrs(Op::Get("_fused_pointwise"), std::move(dict)));
  attrs->subgraphs.push_back(std::move(graph));
  return attrs;
}

const AttrsPtr& Zeros() {
  static const AttrsPtr& attrs = *new AttrsPtr(MakeAttrs(Op::Get("_zeros_without_dtype"), {}));
  return attrs;
}
AttrsPtr Filled(double value, int dtype) { return MakeAttrs(Op::Get(value == 0 ? "_zeros" : "_ones"), {{"dtype", DTypeName(dtype)}}); }
AttrsPtr CastAttrs(int dtype) {
  static thread_local std::unordered_map<int, AttrsPtr> known;  // gradients of mixed precision ask again and again
  AttrsPtr& attrs = known[dtype];
  if (!attrs) attrs = MakeAttrs(Op::Get("Cast"), {{"dtype", DTypeName(dtype)}});
  return attrs;
}
AttrsPtr Sum(int terms) {
  static const Op* const op = Op::Get("add_n");
  return MakeAttrs(op, {{"num_args", std::to_string(terms)}});
}
const AttrsPtr& Copy() {
  static const AttrsPtr& attrs = *new AttrsPtr(MakeAttrs(Op::Get("_copy"), {}));
  return attrs;
}
const AttrsPtr& CastStorageAttrs(StorageType storage) {
  static const AttrsPtr attrs[] = {
      MakeAttrs(Op::Get("cast_storage"), {{"stype", StorageTypeName(StorageType::kDense)}}),
      MakeAttrs(Op::Get("cast_storage"), {{"stype", StorageTypeName(StorageType::kRowSparse)}}),
      MakeAttrs(Op::Get("cast_storage"), {{"stype", StorageTypeName(StorageType::kCSR)}}),
  };
  return attrs[static_cast<int>(storage)];
}
const AttrsPtr& RetainRows() {
  static const AttrsPtr& attrs = *new AttrsPtr(MakeAttrs(Op::Get("_sparse_retain"), {}));
  return attrs;
}
const AttrsPtr& CopyAcross() {
  static const AttrsPtr& attrs = *new AttrsPtr(MakeAttrs(Op::Get("_copyto"), {}));
  return attrs;
}
const AttrsPtr& AddGradients() {
  static const AttrsPtr& attrs = *new AttrsPtr(MakeAttrs(Op::Get("_grad_add"), {}));
  return attrs;
}
const AttrsPtr& ReshapeLike() {
  static const AttrsPtr& attrs = *new AttrsPtr(MakeAttrs(Op::Get("reshape_like"), {}));
  return attrs;
}
const AttrsPtr& ConnectedTo() {
  static const AttrsPtr& attrs = *new AttrsPtr(MakeAttrs(Op::Get("_identity_with_attr_like_rhs"), {}));
  return attrs;
}
const Op* SumLike() {
  static const Op* const op = Op::Get("_sum_like");
  return op;
}

}  // namespace graph_ops
}  // namespace mxnet
