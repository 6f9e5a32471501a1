/* A trait of operators that wait: custom ones (operator/custom). */
#ifndef MXNET_OPERATOR_RUNS_ELSEWHERE_H_
#define MXNET_OPERATOR_RUNS_ELSEWHERE_H_

#include <memory>
#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {

class OnComplete;  // mxnet/engine.h

/*
 * The operator runs on threads that are not the engine's, whose workers only start it: it may wait
 * for other operations. It has no kernel. Each call of an eager program, and each instance of a
 * plan, has a state, which the gradient's node shares.
 */
struct RunsElsewhere {
  /* Keeps nothing of `args` but copies. `done` is called from any thread. */
  void (*start)(const KernelArgs& args, const std::shared_ptr<OpState>& state, OnComplete done);
  /* Null for an operator that only takes over the state of another one. */
  std::shared_ptr<OpState> (*make_state)(const Attrs&, Context, const ShapeVector& in_shapes, const std::vector<int>& in_types);
  /* The same attributes with room for a state, and that room. */
  AttrsPtr (*for_call)(const AttrsPtr&);
  std::shared_ptr<OpState>* (*state_of_call)(const Attrs&);
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNS_ELSEWHERE_H_
