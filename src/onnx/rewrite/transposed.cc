#include "onnx/rewrite/transposed.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "onnx/builder.h"
#include "onnx/file/makers.h"
#include "onnx/rewrite/written_nodes.h"
#include "operator/matrix/axes.h"

namespace mxnet {
namespace onnx {
namespace {

/* Does it exchange rows and columns, of matrices that weights do not have? Those are read as they
 * are packed. */
bool SwapsMatrices(const NodeProto& n, const Session& session) {
  const Attribute* perm = n.op == "Transpose" && n.IsPlain(1) ? n.Find("perm") : nullptr;
  if (!perm || perm->ints.size() < 3 || session.ConstantNamed(n.inputs[0])) return false;
  return SwapsLastTwo(perm->ints);
}

NodeProto Joined(const NodeProto& product, const std::string& with, const NodeProto& transpose) {
  NodeProto n;
  n.name = product.name, n.op = "FusedMatMul", n.domain = "com.microsoft", n.opset = 1;
  n.inputs = {with, transpose.inputs[0]}, n.outputs = product.outputs;
  AddInt(&n, "transB", 1);
  return n;
}

bool IsOneOf(const std::string& op, std::initializer_list<const char*> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const char* each) { return op == each; });
}

/* Which values have one element, as far as a graph tells before shapes are known: scales that
 * exporters compute of a dimension. */
class Numbers {
 public:
  explicit Numbers(Makers makers) : makers_(std::move(makers)) {}
  bool IsOne(const std::string& name, int depth = 0) const {
    constexpr int kDeepest = 16;
    if (const NDArray* const array = makers_.ConstantOf(name)) return array->shape().Size() == 1;
    const NodeProto* const n = makers_.Of(name);
    if (!n || n->outputs.size() != 1 || !n->domain.empty() || n->inputs.empty() || depth > kDeepest) return false;
    if (n->op == "Slice") return IsOneOfSizes(*n);
    const bool of_all = IsOneOf(n->op, {"Add", "Sub", "Mul", "Div", "Pow"});
    if (!of_all && !IsOneOf(n->op, {"Sqrt", "Cast", "Identity", "Neg", "Reciprocal", "Squeeze", "Unsqueeze"})) return false;
    for (size_t i = 0; i < (of_all ? n->inputs.size() : 1); ++i)
      if (!IsOne(n->inputs[i], depth + 1)) return false;
    return true;
  }

 private:
  /* A Slice of the last dimension's size. */
  bool IsOneOfSizes(const NodeProto& slice) const {
    const NodeProto* const shape = makers_.Of(slice.inputs[0]);
    if (!shape || shape->op != "Shape" || !shape->domain.empty() || slice.inputs.size() != 3) return false;
    const NDArray *const begin = makers_.ConstantOf(slice.inputs[1]), *const end = makers_.ConstantOf(slice.inputs[2]);
    const auto is_number = [](const NDArray* a) { return a && a->dtype() == kInt64 && a->shape().Size() == 1; };
    return is_number(begin) && is_number(end) && IntsIn(*begin)[0] == -1 && IntsIn(*end)[0] >= std::numeric_limits<int32_t>::max();
  }

  Makers makers_;
};

/* Joins of one graph. */
class Joins {
 public:
  Joins(const std::vector<const NodeProto*>& nodes, const Session& session, std::deque<NodeProto>* made)
      : session_(session), numbers_(Makers(nodes, session)), made_(made) {}

  void Add(const NodeProto* n) {
    if (SwapsMatrices(*n, session_)) transposes_[n->outputs[0]] = n;
    if (n->IsPlain(2) && IsOneOf(n->op, {"Mul", "Div"})) TakeScaled(n);
    if (n->IsPlain(2) && n->op == "MatMul") n = Join(n);
    with_.push_back(n);
  }
  /* Without what nobody reads any more. */
  std::vector<const NodeProto*> Finish(const GraphProto& graph) { return WithoutUnread(with_, graph, joined_); }

 private:
  struct Scaled {
    const NodeProto *node, *transpose;
    size_t number;  // which input the number is
  };

  void TakeScaled(const NodeProto* n) {
    for (size_t at : {0, 1}) {
      const auto transpose = transposes_.find(n->inputs[at]);
      if ((at == 1 && n->op == "Div") || transpose == transposes_.end() || !numbers_.IsOne(n->inputs[1 - at])) continue;
      scaled_[n->outputs[0]] = {n, transpose->second, 1 - at};
      return;
    }
  }
  /* The product, of what lies there as it does: the other operand is scaled in its place. */
  const NodeProto* Join(const NodeProto* product) {
    const auto transpose = transposes_.find(product->inputs[1]);
    if (transpose != transposes_.end()) {
      joined_.insert(transpose->second);
      return &made_->emplace_back(Joined(*product, product->inputs[0], *transpose->second));
    }
    const auto found = scaled_.find(product->inputs[1]);
    if (found == scaled_.end()) return product;
    const Scaled& scaled = found->second;
    joined_.insert({scaled.node, scaled.transpose});
    NodeProto& scale = made_->emplace_back(*scaled.node);
    scale.name = product->label() + "_scale";
    scale.inputs[1 - scaled.number] = product->inputs[0];
    scale.outputs = {product->outputs[0] + "_scale"};
    with_.push_back(&scale);
    return &made_->emplace_back(Joined(*product, scale.outputs[0], *scaled.transpose));
  }

  const Session& session_;
  const Numbers numbers_;
  std::deque<NodeProto>* const made_;
  std::unordered_map<std::string, const NodeProto*> transposes_;
  std::unordered_map<std::string, Scaled> scaled_;  // by what a node gives that scales a transpose's result
  std::unordered_set<const NodeProto*> joined_;     // what products need not read
  std::vector<const NodeProto*> with_;
};

}  // namespace

std::vector<const NodeProto*> JoinTransposes(const std::vector<const NodeProto*>& nodes, const GraphProto& graph, const Session& session,
                                             std::deque<NodeProto>* made) {
  Joins joins(nodes, session, made);
  for (const NodeProto* n : nodes) joins.Add(n);
  return joins.Finish(graph);
}

}  // namespace onnx
}  // namespace mxnet
