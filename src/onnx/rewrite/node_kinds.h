/* Kinds of ONNX operators that a group of integers may take in. */
#ifndef MXNET_ONNX_REWRITE_NODE_KINDS_H_
#define MXNET_ONNX_REWRITE_NODE_KINDS_H_

#include <set>
#include <string>

#include "onnx/file/model.h"

namespace mxnet {
namespace onnx {

/* Operators of one number each; the others of them are constants of one element. */
inline const std::set<std::string>& Functions() {
  static const std::set<std::string> names = {"Relu", "LeakyRelu", "Sigmoid",  "HardSigmoid", "HardSwish", "Tanh",  "Elu",     "Selu",
                                              "Erf",  "Softplus",  "Softsign", "Exp",         "Sqrt",      "Abs",   "Neg",     "Clip",
                                              "Gelu", "Mish",      "Celu",     "Floor",       "Ceil",      "Round", "Add",     "Sub",
                                              "Mul",  "Div",       "Pow",      "Reciprocal",  "Sign",      "PRelu", "Identity"};
  return names;
}

/* Operators that only move numbers, or choose among them, by their first input. */
inline bool Moves(const NodeProto& n) {
  static const std::set<std::string> names = {"MaxPool",      "Reshape",      "Transpose", "Flatten",      "Squeeze",
                                              "Unsqueeze",    "Slice",        "Identity",  "Expand",       "Gather",
                                              "DepthToSpace", "SpaceToDepth", "Tile",      "GlobalMaxPool"};
  return n.domain.empty() && names.count(n.op) && n.outputs.size() == 1;
}

/* Of these, those with loops for numbers of 8 bits, and none for wider integers. */
inline bool Pools(const NodeProto& n) { return n.op == "MaxPool" || n.op == "GlobalMaxPool"; }

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_NODE_KINDS_H_
