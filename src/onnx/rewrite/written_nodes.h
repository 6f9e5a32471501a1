/* What passes share that write nodes in the place of a file's: questions to nodes, and
 * attributes. */
#ifndef MXNET_ONNX_REWRITE_WRITTEN_NODES_H_
#define MXNET_ONNX_REWRITE_WRITTEN_NODES_H_

#include <string>
#include <utility>
#include <vector>

#include "onnx/file/model.h"

namespace mxnet {
namespace onnx {

/* Quantized numbers: names of the numbers, their scale and zero point ("": 0). */
struct QuantityNames {
  std::string numbers, scale, zero;
};

inline bool Is(const NodeProto& n, const char* op) { return n.op == op && n.domain.empty(); }
/* Of QuantizeLinear and DequantizeLinear, which onnxruntime has in a domain of its own as well. */
inline bool IsStep(const NodeProto& n, const char* op) { return n.op == op && (n.domain.empty() || n.domain == "com.microsoft"); }
/* An input's name; "": it is left out. */
inline std::string InputOf(const NodeProto& n, size_t i) { return i < n.inputs.size() ? n.inputs[i] : ""; }

inline void AddInt(NodeProto* n, const char* name, int64_t value) {
  Attribute a;
  a.name = name, a.kind = AttributeKind::kInt, a.i = value;
  n->attributes.push_back(std::move(a));
}
inline void AddFloat(NodeProto* n, const char* name, float value) {
  Attribute a;
  a.name = name, a.kind = AttributeKind::kFloat, a.f = value;
  n->attributes.push_back(std::move(a));
}

/* All nodes of a graph, as they are. */
inline std::vector<const NodeProto*> NodesOf(const GraphProto& graph) {
  std::vector<const NodeProto*> nodes;
  for (const NodeProto& n : graph.nodes) nodes.push_back(&n);
  return nodes;
}

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_WRITTEN_NODES_H_
