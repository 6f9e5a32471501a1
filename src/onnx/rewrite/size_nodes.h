/*
 * Nodes that compute sizes: Shape, and what picks, joins and adds its numbers.
 *
 * Exporters write a reshape to unknown sizes as a dozen of them, so that a decoder has more nodes
 * for sizes than for anything else. In a plan they are constants. Where nodes run one by one an
 * operator on an array takes most of a microsecond; here a node takes some nanoseconds.
 */
#ifndef MXNET_ONNX_REWRITE_SIZE_NODES_H_
#define MXNET_ONNX_REWRITE_SIZE_NODES_H_

#include <cstdint>
#include <vector>

#include "onnx/convert.h"
#include "onnx/file/model.h"

namespace mxnet {
namespace onnx {

/* Any number of threads compute with it, each with values of its own. */
class SizeNodes {
 public:
  /* What a node reads. */
  struct Operand {
    int place;
    const Value* constant;   // null: it depends on inputs
    const TensorType* type;  // that it had when the node was converted
  };
  /* Numbers of one run, by node. Each has one array for good: who keeps one copies it. */
  struct Values {
    std::vector<Value> made;
    std::vector<void*> data;
  };

  /*
   * Takes a node in, whose result has the place `out` and had the type `result`, if it computes
   * sizes of arrays, of sizes that were taken in before, and of constants. Its number; -1: it does
   * something else.
   */
  int Add(const NodeProto& node, const std::vector<Operand>& operands, int out, const TensorType& result);
  Values Make() const;
  /* Computes a node. False: an operand is another than the node was taken in with, a number is
   * negative where operators may round otherwise, or a result is too large. `at`: values by
   * place. */
  bool Compute(int node, const std::vector<const Value*>& at, Values* values) const;
  size_t count() const { return nodes_.size(); }

 private:
  enum class Kind : uint8_t { kShape, kPick, kJoin, kAdd, kSub, kMul, kDiv, kEqual, kWhere };
  struct Source {
    int place = -1, node = -1;     // the node that computes it; -1: none does
    std::vector<int64_t> numbers;  // of a constant
    int64_t count = 0;             // of numbers; of an array whose sizes are asked for, dimensions
  };
  struct Node {
    Kind kind;
    std::vector<Source> in;
    std::vector<int> picks;  // which numbers
    TensorType type;         // of the result
  };
  bool Read(const Operand& operand, int dtype, Source* source) const;
  bool Put(const NodeProto& node, const std::vector<Operand>& operands, Node* made) const;

  std::vector<Node> nodes_;
  std::vector<int> node_of_;  // by place; -1: none
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_REWRITE_SIZE_NODES_H_
