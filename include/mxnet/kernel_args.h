/* What kernels see: arguments, requests, state, random numbers. Operators' records are in op.h. */
#ifndef MXNET_KERNEL_ARGS_H_
#define MXNET_KERNEL_ARGS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "mxnet/base.h"
#include "mxnet/infer_switches.h"
#include "mxnet/node.h"
#include "mxnet/run_context.h"

namespace mxnet {

enum class OpReq : int { kNull = 0, kWrite = 1, kWriteInplace = 2, kAdd = 3 };

/* State that a kernel keeps between calls of one node of one plan (primitives, packed weights,
 * masks). Not shared between threads. */
struct OpState {
  virtual ~OpState() = default;
};

/*
 * What a plan offers to the kernels that it runs: weights that it computes itself (a convolution's
 * with the BatchNorm behind it folded in) and that their only reader needs just until it has them
 * in a form of its own. Then the plan drops them, and computes them again if they are asked for.
 * So it does with weights whose contents lie in a file (StoredContents). Pointers that it does not
 * know are left alone.
 */
class PlanWeights {
 public:
  /* Writes bytes [offset, offset + size) of weights to `to`. Any thread may call it. */
  using ReadPart = std::function<void(size_t offset, void* to, size_t size)>;

  virtual void Need(const void* weights) = 0;  // before a kernel that may have said Done reads them
  virtual void Done(const void* weights) = 0;  // they will not be read any more without Need before
  /* Equal numbers are equal contents, in all plans; 0: not known. */
  virtual uint64_t Identity(const void* weights) = 0;
  /* For a kernel that needs a part at a time, not the whole. Empty: it says Need, because weights
   * are in memory already or cannot be had so. */
  virtual ReadPart Parts(const void*) { return {}; }

 protected:
  ~PlanWeights() = default;
};

/*
 * Counter-based random numbers (Philox4x32-10, Salmon et al., SC'11). Take(n) reserves n 128-bit
 * counters; equal seed and equal sequence of Take calls give equal numbers on any number of
 * threads. Calls are ordered by the engine.
 */
class RandomState {
 public:
  void Seed(uint64_t seed) {
    seed_ = seed;
    next_ = 0;
  }
  uint64_t seed() const { return seed_; }
  uint64_t Take(uint64_t counters) {
    uint64_t at = next_;
    next_ += counters;
    return at;
  }

 private:
  uint64_t seed_ = 0, next_ = 0;
};

/* All that a kernel sees. Kernels are stateless functions; they must be safe to run on several
 * threads at once. */
struct KernelArgs {
  const Attrs* attrs = nullptr;
  Span<const TBlob> in;  // includes auxiliary states, which the kernel may write if the record says so
  Span<const OpReq> req;
  Span<const TBlob> out;
  RunContext run;
  bool is_train = false;
  std::shared_ptr<OpState>* state = nullptr;  // slot that lives as long as the plan's node; null in a one-off eager call
  RandomState* random = nullptr;              // set iff the record says uses_random
  /* Per input, a number that changes whenever its contents may have (Engine::Version). Empty:
   * unknown, so nothing derived from an input may be kept. */
  Span<const uint64_t> in_versions;
  PlanWeights* plan_weights = nullptr;  // null: the plan drops nothing, or there is none
  InferSwitches switches;               // of a node that holds graphs: what their inference is given
  /* Workspace memory (64-byte aligned) that lives until the kernel returns (GPU: until the stream
   * has passed). One block per call of this function. */
  std::function<void*(size_t bytes)> workspace;
  template <typename P>
  const P& param() const {
    return attrs->get<P>();
  }
  void NeedWeights(const void* weights) const {
    if (plan_weights) plan_weights->Need(weights);
  }
  void DoneWithWeights(const void* weights) const {
    if (plan_weights) plan_weights->Done(weights);
  }
};
using Kernel = std::function<void(KernelArgs&)>;

}  // namespace mxnet
#endif  // MXNET_KERNEL_ARGS_H_
