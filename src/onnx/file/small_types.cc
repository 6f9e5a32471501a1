// Which values of a model have types that are stored in bytes (SmallType). Types of ONNX do not
// change from call to call, so it is found out once, when the model has been read; converters ask
// Call::small.
#include <set>
#include <unordered_map>

#include "onnx/file/reader.h"

namespace mxnet {
namespace onnx {
namespace {

bool IsOneOf(const NodeProto& n, const std::set<std::string>& ops) { return n.domain.empty() && ops.count(n.op); }

/* Operators that only move elements: results have the type of what they move. */
bool Moves(const NodeProto& n) {
  static const std::set<std::string> ops = {
      "CenterCropPad", "Compress",       "Concat",          "ConcatFromSequence", "DepthToSpace", "Dropout",         "Expand",
      "Flatten",       "Gather",         "GatherElements",  "GatherND",           "Identity",     "Optional",        "OptionalGetElement",
      "Pad",           "Reshape",        "ReverseSequence", "ScatterElements",    "ScatterND",    "SequenceAt",      "SequenceConstruct",
      "SequenceErase", "SequenceInsert", "Slice",           "SpaceToDepth",       "Split",        "SplitToSequence", "Squeeze",
      "TensorScatter", "Tile",           "Transpose",       "Unsqueeze",          "Where"};
  return IsOneOf(n, ops);
}

/* Operators that know what such bytes stand for, or do not look at them. */
bool Reads(const NodeProto& n) {
  static const std::set<std::string> ops = {"Cast",  "CastLike", "BitCast", "QuantizeLinear", "DequantizeLinear", "QLinearMatMul",
                                            "IsInf", "IsNaN",    "Shape",   "Size",           "SequenceLength",   "OptionalHasElement"};
  return IsOneOf(n, ops) || (n.domain == "com.microsoft" && (n.op == "QuantizeLinear" || n.op == "DequantizeLinear"));
}

const SmallType* TypeIn(const NodeProto& n, const char* name) {
  const Attribute* a = n.Find(name);
  return a ? SmallTypeOf(a->i) : nullptr;
}

class SmallTypes {
 public:
  void Graph(GraphProto* g) {
    for (const Constant& c : g->constants) Put(c.name, c.small);
    for (const ValueInfo& v : g->inputs) Put(v.name, v.small);
    for (NodeProto& n : g->nodes) Node(&n);
  }

 private:
  void Put(const std::string& name, const SmallType* type) {
    if (type && !name.empty()) types_[name] = type;
  }
  const SmallType* Of(const std::string& name) const {
    const auto it = types_.find(name);
    return it == types_.end() ? nullptr : it->second;
  }
  static const SmallType* At(const NodeProto& n, size_t input) { return input < n.small.size() ? n.small[input] : nullptr; }

  void Node(NodeProto* n) {
    const SmallType *first = nullptr, *first_float = nullptr;
    for (size_t i = 0; i < n->inputs.size(); ++i) {
      const SmallType* type = Of(n->inputs[i]);
      if (!type) continue;
      n->small.resize(n->inputs.size());
      n->small[i] = type;
      if (!first) first = type;
      if (!first_float && type->format) first_float = type;
    }
    bool runs_graphs = false;
    for (Attribute& a : n->attributes) {
      if (!a.graph) continue;
      runs_graphs = true;
      GraphOf(*n, a.graph.get());
    }
    if (runs_graphs) return;
    const SmallType* made = Made(*n);
    if (Moves(*n))
      made = first;
    else
      MXNET_CHECK_KIND(!first_float || Reads(*n), Value)
          << "[onnx] node " << n->label() << " (" << (n->domain.empty() ? "" : n->domain + ".") << n->op << ", opset " << n->opset
          << "): an input is " << first_float->name << "; accepted there: floats of 16 bits and more, which Cast and DequantizeLinear make";
    for (const std::string& name : n->outputs) Put(name, made);
  }

  /* A graph that a node runs, and what that makes of the node's results. */
  void GraphOf(const NodeProto& n, GraphProto* g) {
    const bool has_inputs = !(n.domain.empty() && n.op == "If");
    const size_t before = n.domain.empty() && n.op == "Scan" && n.opset < 9 ? 1 : 0;  // lengths of sequences
    for (size_t i = 0; has_inputs && i < g->inputs.size(); ++i) Put(g->inputs[i].name, At(n, i + before));
    Graph(g);
    const size_t skipped = n.domain.empty() && n.op == "Loop" ? 1 : 0;  // whether it goes on
    for (size_t i = 0; i < n.outputs.size() && i + skipped < g->outputs.size(); ++i) Put(n.outputs[i], Of(g->outputs[i + skipped].name));
  }

  /* What attributes and inputs say of results. */
  static const SmallType* Made(const NodeProto& n) {
    if (n.op == "Cast" || n.op == "BitCast") return TypeIn(n, "to");
    if (n.op == "CastLike") return At(n, 1);
    if (n.op == "QLinearMatMul") return At(n, 7);
    if (n.op == "QuantizeLinear") return n.inputs.size() > 2 && !n.inputs[2].empty() ? At(n, 2) : TypeIn(n, "output_dtype");
    if (n.op != "Constant" && n.op != "ConstantOfShape") return nullptr;
    const Attribute* a = n.Find("value");
    if (!a) a = n.Find("sparse_value");
    return a && a->tensor ? a->tensor->small : nullptr;
  }

  std::unordered_map<std::string, const SmallType*> types_;
};

}  // namespace

void FindSmallTypes(GraphProto* graph) { SmallTypes().Graph(graph); }

}  // namespace onnx
}  // namespace mxnet
