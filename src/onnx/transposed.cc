#include "onnx/transposed.h"

#include <algorithm>
#include <unordered_map>

#include "operator/matrix/axes.h"

namespace mxnet {
namespace onnx {
namespace {

/* Does it exchange rows and columns, of matrices that weights do not have? Those are read as they
 * are packed. */
bool SwapsMatrices(const NodeProto& n, const Session& session) {
  const Attribute* perm = n.op == "Transpose" && n.domain.empty() ? n.Find("perm") : nullptr;
  if (!perm || perm->ints.size() < 3 || !n.small.empty() || n.inputs.size() != 1 || session.ConstantNamed(n.inputs[0])) return false;
  return SwapsLastTwo(perm->ints);
}

NodeProto Joined(const NodeProto& product, const NodeProto& transpose) {
  NodeProto n;
  n.name = product.name, n.op = "FusedMatMul", n.domain = "com.microsoft", n.opset = 1;
  n.inputs = {product.inputs[0], transpose.inputs[0]}, n.outputs = product.outputs;
  Attribute a;
  a.name = "transB", a.kind = AttributeKind::kInt, a.i = 1;
  n.attributes.push_back(std::move(a));
  return n;
}

}  // namespace

std::vector<const NodeProto*> JoinTransposes(const std::vector<const NodeProto*>& nodes, const GraphProto& graph, const Session& session,
                                             std::deque<NodeProto>* made) {
  std::unordered_map<std::string, const NodeProto*> transposes;
  std::unordered_map<std::string, int> uses;
  std::vector<const NodeProto*> with;
  for (const NodeProto* n : nodes) {
    if (n->outputs.size() == 1 && SwapsMatrices(*n, session)) transposes[n->outputs[0]] = n;
    const bool product = n->op == "MatMul" && n->domain.empty() && n->inputs.size() == 2 && n->small.empty();
    const auto found = product ? transposes.find(n->inputs[1]) : transposes.end();
    if (found != transposes.end()) n = &made->emplace_back(Joined(*n, *found->second));
    for (const auto* list : {&n->inputs, &n->captured})
      for (const std::string& name : *list) ++uses[name];
    with.push_back(n);
  }
  for (const ValueInfo& v : graph.outputs) ++uses[v.name];
  const auto unread = [&](const NodeProto* n) {
    const auto found = transposes.find(n->outputs.empty() ? std::string() : n->outputs[0]);
    return found != transposes.end() && found->second == n && !uses.count(found->first);
  };
  with.erase(std::remove_if(with.begin(), with.end(), unread), with.end());
  return with;
}

}  // namespace onnx
}  // namespace mxnet
