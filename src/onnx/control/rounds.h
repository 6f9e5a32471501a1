/* What a loop of a model is made of, while it becomes an operator of the plan. */
#ifndef MXNET_ONNX_CONTROL_ROUNDS_H_
#define MXNET_ONNX_CONTROL_ROUNDS_H_

#include <string>
#include <vector>

#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {

struct RoundsState {
  Value value;
  std::string name, next;  // in the body
  int output;              // of the node
};

/* What is stacked, or appended to what was there before. */
struct RoundsStack {
  enum Kind : int { kRows, kSequence, kConcat } kind;
  std::string name;  // of a row in the body
  int output, axis;
  bool reversed = false;
  Value before;
};

/*
 * A loop as _npx_foreach and _while_loop have it. Arrays that are gone over lie along axis 0 and in
 * their order. What a body only appends to is no state of it: rows are stacked, and appended once.
 */
struct Rounds {
  struct Data {
    Value value;
    std::string name;
  };
  /* A sequence outside of which each round reads the element that has its number. */
  struct Read {
    std::string sequence, name;  // of the element in the body
    Value value;
  };
  const GraphProto* body = nullptr;
  std::vector<const NodeProto*> left_out;  // nodes of the body
  std::vector<RoundsState> states;
  std::vector<RoundsStack> stacks;
  std::vector<Data> data;
  std::vector<Read> reads;  // become data when the number of rounds is known
};

inline bool IsTensor(const Value& v) { return v.kind == Value::kTensor && v.type.shape.known(); }

/* States that the body appends something to, and does nothing else with, become stacks. `nodes`:
 * of the body. */
void TakeAppends(const Call& call, const std::vector<const NodeProto*>& nodes, Rounds* rounds);
/* Takes a sequence of tensors of one type from outside, if all that reads it in the body is
 * SequenceAt with the number of the round. */
void TakeReads(const std::string& name, const Value& sequence, const std::vector<const NodeProto*>& nodes, Rounds* rounds);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONTROL_ROUNDS_H_
