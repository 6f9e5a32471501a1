// Inference and gradient building blocks that most records use.
#include <algorithm>

#include "mxnet/op.h"

namespace mxnet {

MXNET_DLL bool ElemwiseShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  Shape all;
  const char* name = attrs.op ? attrs.op->name.c_str() : "graph";
  auto merge = [&](const Shape& s, const char* what, size_t i) {
    MXNET_CHECK_KIND(MergeShape(&all, s), Value) << "[" << name << "] " << what << " " << i << " has shape " << s
                                                 << "; all inputs and outputs must have one shape, and the others have " << all;
  };
  for (size_t i = 0; i < in->size(); ++i) merge((*in)[i], "input", i);
  for (size_t i = 0; i < out->size(); ++i) merge((*out)[i], "output", i);
  for (auto& s : *in) s = all;
  for (auto& s : *out) s = all;
  return all.known();
}

MXNET_DLL bool SameType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  int all = kDTypeUnknown;
  auto merge = [&](int t, const char* what, size_t i) {
    const int before = all;
    MXNET_CHECK_KIND(MergeDType(&all, t), Type) << "[" << attrs.op->name << "] " << what << " " << i << " is " << DTypeName(t)
                                                << "; all inputs and outputs must have one dtype, and the others are " << DTypeName(before);
  };
  for (size_t i = 0; i < in->size(); ++i) merge((*in)[i], "input", i);
  for (size_t i = 0; i < out->size(); ++i) merge((*out)[i], "output", i);
  for (auto& t : *in) t = all;
  for (auto& t : *out) t = all;
  return all != kDTypeUnknown;
}

MXNET_DLL Shape BroadcastShape(const std::string& op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  if (!a.ndim_known() || !b.ndim_known()) return Shape();
  const int n = std::max(a.ndim(), b.ndim());
  Shape out(n);
  for (int i = 0; i < n; ++i) {
    const int ia = i - (n - a.ndim()), ib = i - (n - b.ndim());
    const int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da == db || db == 1) {
      out[i] = da;
    } else if (da == 1) {
      out[i] = db;
    } else if (da == Shape::kUnknownDim || db == Shape::kUnknownDim) {
      out[i] = std::max(da, db);  // the known one: the unknown must be equal to it or 1
    } else {
      MXNET_THROW(Value) << "[" << op << "] shapes " << a << " and " << b << " cannot be broadcast: axis " << i << " has " << da << " and "
                         << db << "; each pair must be equal or contain 1";
    }
  }
  return out;
}

MXNET_DLL void AssignShape(const Attrs& attrs, const char* what, Shape* into, const Shape& value) {
  const Shape before = *into;
  MXNET_CHECK_KIND(MergeShape(into, value), Value)
      << "[" << (attrs.op ? attrs.op->name : "graph") << "] " << what << " has shape " << before << "; expected " << value;
}

MXNET_DLL void AssignType(const Attrs& attrs, const char* what, int* into, int value) {
  const int before = *into;
  MXNET_CHECK_KIND(MergeDType(into, value), Type)
      << "[" << (attrs.op ? attrs.op->name : "graph") << "] " << what << " is " << DTypeName(before) << "; expected " << DTypeName(value);
}

MXNET_DLL GradientFn BackwardNode(const char* backward_op, int uses) {
  return [backward_op, uses](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
    std::vector<NodeEntry> inputs;
    if (!(uses & kGradNoOgrad)) inputs = ograds;
    if (uses & kGradInputs) inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
    if (uses & kGradOutputs)
      for (int i = 0; i < node->num_outputs(); ++i) inputs.push_back(NodeEntry{node, static_cast<uint32_t>(i), 0});
    NodePtr backward = MakeNodeLike(backward_op, *node, std::move(inputs));
    std::vector<NodeEntry> grads(node->inputs.size());
    const size_t made = std::min<size_t>(grads.size(), backward->num_outputs());
    for (size_t i = 0; i < made; ++i) grads[i] = NodeEntry{backward, static_cast<uint32_t>(i), 0};
    return grads;
  };
}

MXNET_DLL std::vector<NodeEntry> NoGradient(const NodePtr& node, const std::vector<NodeEntry>&) {
  return std::vector<NodeEntry>(node->inputs.size());
}

}  // namespace mxnet
