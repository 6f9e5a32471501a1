/*
 * The autograd tape, private to the imperative room.
 *
 * Each recorded operation is a graph Node; what belongs to its execution hangs in Node::tape.
 * INVARIANT: an array is kept by a tape only if some gradient will read it (Attrs::grad_use tells) or if it is a marked variable.
 */
#ifndef MXNET_IMPERATIVE_TAPE_H_
#define MXNET_IMPERATIVE_TAPE_H_

#include <memory>
#include <vector>

#include "mxnet/ndarray.h"
#include "mxnet/op.h"

namespace mxnet {

struct Tape {
  bool is_variable = false;
  bool released = false;             // a backward pass without retain_graph has consumed it
  // variables
  NDArray grad;
  OpReq req = OpReq::kNull;          // kNull: a constant that happened to take part
  bool fresh_grad = false;           // a backward pass wrote or added to `grad` since the flag was last cleared
  // outputs of the node (one for a variable): value if kept, and what is needed to make zeros of it
  struct Output {
    NDArray value;
    Shape shape;
    int dtype = kFloat32;
    Context ctx;
  };
  std::vector<Output> outputs;
};

inline Tape* TapeOf(const NodeEntry& e) { return e.node ? static_cast<Tape*>(e.node->tape.get()) : nullptr; }
inline bool IsTapeVariable(const NodeEntry& e) {
  Tape* t = TapeOf(e);
  return t && t->is_variable && t->req != OpReq::kNull;
}

void RecordDeferred(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs);

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_TAPE_H_
