// Outputs of float16 whose type the file does not say. A file need not, and plans compute float16
// in float32 on processors, so results do not tell. Types of ONNX do not change from call to call:
// they are found out once, when the model has been read.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "onnx/file/reader.h"

namespace mxnet {
namespace onnx {
namespace {

class FloatTypes {
 public:
  void Graph(const GraphProto& g) {
    for (const ValueInfo& v : g.inputs) Put(v.name, v.dtype);
    for (const Constant& c : g.constants)
      if (!c.array.is_none()) Put(c.name, c.array.dtype());
    for (const NodeProto& n : g.nodes) Node(n);
  }
  /* kDTypeUnknown: no floats, or nobody knows. */
  int Of(const std::string& name) const {
    const auto it = types_.find(name);
    return it == types_.end() ? static_cast<int>(kDTypeUnknown) : it->second;
  }

 private:
  void Put(const std::string& name, int dtype) {
    if (!name.empty() && IsFloating(dtype)) types_[name] = dtype;
  }

  int FirstOf(const NodeProto& n) const {
    for (const std::string& name : n.inputs)
      if (const int dtype = Of(name); IsFloating(dtype)) return dtype;
    return kDTypeUnknown;
  }
  int At(const NodeProto& n, size_t input) const { return input < n.inputs.size() ? Of(n.inputs[input]) : static_cast<int>(kDTypeUnknown); }

  void Node(const NodeProto& n) {
    bool runs_graphs = false;
    for (const Attribute& a : n.attributes) {
      if (!a.graph) continue;
      runs_graphs = true;
      GraphOf(n, *a.graph);
    }
    if (runs_graphs) return;
    const int made = Made(n);
    for (size_t i = 0; i < n.outputs.size(); ++i)
      if (i == 0 || !GivesPlaces(n)) Put(n.outputs[i], i > 0 && HasStatistics(n) ? StatisticsOf(n) : made);
  }

  /* Means and deviations beside a normalised result, shares of experts, and states. */
  static bool HasStatistics(const NodeProto& n) {
    static const std::set<std::string> ops = {"LayerNormalization", "SkipLayerNormalization", "SimplifiedLayerNormalization",
                                              "RMSNormalization",   "BatchNormalization",     "SkipSimplifiedLayerNormalization",
                                              "MoEGroupRouter",     "GatedDeltaNet"};
    return ops.count(n.op) > 0;
  }
  int StatisticsOf(const NodeProto& n) const { return n.op == "BatchNormalization" ? At(n, 3) : DTypeOfOnnx(n.Int("stash_type", 1)); }

  /* A graph that a node runs, and what that makes of the node's results. */
  void GraphOf(const NodeProto& n, const GraphProto& g) {
    const bool of_onnx = n.domain.empty(), is_loop = of_onnx && n.op == "Loop";
    const size_t before = of_onnx && n.op == "Scan" && n.opset < 9 ? 1 : 0;  // lengths of sequences
    if (!(of_onnx && n.op == "If"))
      for (size_t i = 0; i < g.inputs.size(); ++i) Put(g.inputs[i].name, At(n, i + before));
    Graph(g);
    const size_t skipped = is_loop ? 1 : 0;  // whether it goes on
    for (size_t i = 0; of_onnx && i < n.outputs.size() && i + skipped < g.outputs.size(); ++i) {
      const ValueInfo& made = g.outputs[i + skipped];
      Put(n.outputs[i], IsFloating(made.dtype) ? made.dtype : Of(made.name));
    }
  }

  /* Whose results are no floats, whatever they read. */
  static bool GivesNoFloats(const NodeProto& n) {
    static const std::set<std::string> ops = {"Shape", "Size", "NonZero",     "ArgMax",  "ArgMin",         "IsNaN",       "IsInf",
                                              "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Multinomial", "QuantizeLinear"};
    return n.domain == "ai.onnx.ml" || ops.count(n.op) > 0;
  }
  /* Whose results behind the first are places. */
  static bool GivesPlaces(const NodeProto& n) { return n.op == "TopK" || n.op == "MaxPool" || n.op == "Unique"; }

  /* What a node says of its results; else they have the type of the first floats that it reads. */
  int Made(const NodeProto& n) const {
    if (GivesNoFloats(n)) return kDTypeUnknown;
    for (const char* name : {"to", "dtype", "output_dtype", "output_datatype"})
      if (const Attribute* const a = n.Find(name); a && a->i > 0) return DTypeOfOnnx(a->i);
    if (n.op == "CastLike" || n.op == "DequantizeLinear" || n.op == "GemmaRotaryEmbedding") return At(n, 1);
    if (n.op == "Constant" || n.op == "ConstantOfShape") {
      const Attribute* const value = n.Find("value");
      return value && value->tensor && !value->tensor->array.is_none() ? value->tensor->array.dtype() : static_cast<int>(kFloat32);
    }
    return FirstOf(n);
  }

  std::unordered_map<std::string, int> types_;
};

}  // namespace

void FindHalfOutputs(GraphProto* graph) {
  const auto open = [](const ValueInfo& v) { return v.kind == ValueInfo::kTensor && v.dtype == kDTypeUnknown; };
  if (std::none_of(graph->outputs.begin(), graph->outputs.end(), open)) return;
  FloatTypes types;
  types.Graph(*graph);
  for (ValueInfo& v : graph->outputs)
    if (open(v) && types.Of(v.name) == kFloat16) v.dtype = kFloat16;
}

}  // namespace onnx
}  // namespace mxnet
