/*
 * The autograd tape, private to this folder.
 *
 * Each recorded operation is a graph Node; what belongs to its execution hangs in Node::tape.
 * INVARIANT: an array is kept by a tape only if some gradient will read it (Attrs::grad_use tells)
 * or if it is a marked variable.
 */
#ifndef MXNET_IMPERATIVE_TAPE_H_
#define MXNET_IMPERATIVE_TAPE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {

struct Tape {
  bool is_variable = false;
  bool released = false;  // a backward pass without retain_graph has consumed it
  // variables
  NDArray grad;
  OpReq req = OpReq::kNull;  // kNull: a constant, or an array marked with "null", which keeps `grad`
  bool fresh_grad = false;   // a backward pass wrote or added to `grad` since the flag was last cleared
  // outputs of the node (one for a variable): value if kept, and what is needed to make zeros of it
  struct Output {
    NDArray value;
    TensorType type;
    Context ctx;
  };
  std::vector<Output> outputs;
  // outputs of an operation with gradients of their own (Imperative::MarkResults)
  struct Marked {
    uint32_t index;
    NDArray grad;
    OpReq req;
    bool fresh_grad = false;
  };
  std::vector<Marked> marked;
};

inline Tape* TapeOf(const NodeEntry& e) { return e.node ? static_cast<Tape*>(e.node->tape.get()) : nullptr; }
inline bool IsTapeVariable(const NodeEntry& e) {
  Tape* t = TapeOf(e);
  return t && t->is_variable && t->req != OpReq::kNull;
}
/* Whether gradients reach the array. A variable marked with "null" only holds its gradient. */
inline bool TakesPart(const NodeEntry& e) {
  Tape* t = TapeOf(e);
  return t && !(t->is_variable && t->req == OpReq::kNull);
}

/* The gradient of its own that a recorded result has, or null. */
inline Tape::Marked* MarkOf(const NodeEntry& e) {
  Tape* t = TapeOf(e);
  if (!t || t->is_variable) return nullptr;
  for (auto& m : t->marked)
    if (m.index == e.index) return &m;
  return nullptr;
}

Tape::Output DescribeOutput(const NDArray& a, bool keep);
/* Which inputs (bits 0 to 30) and outputs (from bit 32) the gradient of the operator reads. */
uint64_t GradUse(const AttrsPtr& attrs);

void RecordDeferred(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs);
/* What computes `a` in the recorded graph: for an array from outside, a variable that stands for it
 * (TakeDeferredConstants). */
NodeEntry DeferredEntry(const NDArray& a);
/* Throws Error(kValue) when a graph cannot say what writing into `outputs` (those that exist) does:
 * inputs of the graph, arrays from outside of it, other devices. */
void CheckDeferredOutputs(const Attrs& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs);
/* Lets an array stand for an entry of graphs; undone by ForgetDeferred. */
void StandFor(NDArray* array, const NodeEntry& entry);
void ForgetDeferred(NDArray* array);
/* The shapes that depend on values, and are therefore found by computing what leads to them: false
 * where inference tells them. `outputs` get them, and no values. Throws Error(kValue) where
 * computing would have effects: random numbers, moving means, a program's own operators. */
bool FindShapes(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs);
/* Of an array that was made while this thread recorded: may another call's shape differ, with
 * inputs of the same shapes? */
MXNET_DLL bool ShapeIsValue(const NDArray& array);
/* Throws Error(kValue) for an array that was made while a graph was recorded, and so has no
 * values. */
MXNET_DLL void CheckComputed(const NDArray& array);
/* Arrays from outside that the graph recorded last on this thread reads, and the names of their
 * variables. Taking them forgets them. */
std::vector<std::pair<std::string, NDArray>> TakeDeferredConstants();
/* Hidden attributes (`__key__`) that nodes get which this thread records meanwhile. */
AttrDict& DeferredAttributes();

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_TAPE_H_
