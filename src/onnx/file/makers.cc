#include "onnx/file/makers.h"

namespace mxnet {
namespace onnx {

Makers::Makers(const std::vector<const NodeProto*>& nodes, const Session& session) : session_(session) {
  for (const NodeProto* n : nodes)
    for (const std::string& name : n->outputs) makers_[name] = n;
}

const NodeProto* Makers::Of(const std::string& name) const {
  const auto found = makers_.find(name);
  return found == makers_.end() ? nullptr : found->second;
}

const NDArray* Makers::ConstantOf(const std::string& name) const {
  const Value* const known = session_.ConstantNamed(name);
  if (known) return known->kind == Value::kTensor ? &known->array : nullptr;
  const NodeProto* const n = Of(name);
  const Attribute* const value = n && n->op == "Constant" && n->domain.empty() ? n->Find("value") : nullptr;
  return value && value->tensor && !value->tensor->array.is_none() ? &value->tensor->array : nullptr;
}

std::vector<const NodeProto*> WithoutUnread(const std::vector<const NodeProto*>& nodes, const GraphProto& graph,
                                            const std::unordered_set<const NodeProto*>& replaced) {
  std::unordered_map<std::string, int> uses;
  for (const NodeProto* n : nodes)
    for (const auto* list : {&n->inputs, &n->captured})
      for (const std::string& name : *list) ++uses[name];
  for (const ValueInfo& v : graph.outputs) ++uses[v.name];
  std::vector<const NodeProto*> kept;
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {  // readers come first
    if (replaced.count(*n) && uses[(*n)->outputs[0]] == 0)
      for (const std::string& name : (*n)->inputs) --uses[name];
    else
      kept.push_back(*n);
  }
  return {kept.rbegin(), kept.rend()};
}

}  // namespace onnx
}  // namespace mxnet
