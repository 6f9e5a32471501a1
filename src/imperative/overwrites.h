/*
 * Writing into arrays while autograd records (x += 1, x[:] = y, out=x).
 *
 * A gradient reads the values that its operator saw. The tape shares the memory of the arrays, so
 * what an operator is about to write over is copied first, for the graphs of this thread.
 */
#ifndef MXNET_IMPERATIVE_OVERWRITES_H_
#define MXNET_IMPERATIVE_OVERWRITES_H_

#include <vector>

#include "imperative/tape.h"

namespace mxnet {

/* Called for each constant whose value a gradient reads. */
void NoteConstant(const NodeEntry& constant);

/* Made before an operator of a recorded program runs that writes into existing `outputs`. Copies
 * what gradients of earlier operators, or of this one, read of them. */
class Overwrites {
 public:
  Overwrites(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs);
  /* What is to be recorded as the operator's inputs. */
  const std::vector<NDArray*>& inputs() const { return inputs_; }

 private:
  std::vector<NDArray> copies_;
  std::vector<NDArray*> inputs_;
};

/* Where results go that are recorded and would be written into a part of another array, which does
 * not know of them: x[i] += y gives the view x[i] memory of its own, and then assigns it to x. What
 * is only written (out=x[i]) is refused: Error(kValue). */
class NewMemory {
 public:
  NewMemory(const Attrs& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs);
  const std::vector<NDArray*>& outputs() const { return outputs_; }
  void Give();

 private:
  std::vector<NDArray> made_;
  std::vector<NDArray*> outputs_, wanted_;
};

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_OVERWRITES_H_
