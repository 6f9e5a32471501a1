/* A trait of operators whose calls others end: custom ones (operator/custom, library). */
#ifndef MXNET_OPERATOR_RECORD_ASYNC_CALL_H_
#define MXNET_OPERATOR_RECORD_ASYNC_CALL_H_

#include <memory>

#include "mxnet/op.h"

namespace mxnet {

class OnComplete;  // mxnet/engine.h

/*
 * Of records with RunBy::kAsync: the operator runs on threads that are not the engine's, whose
 * workers only start it, so it may wait for other operations. It has no kernel. Each call of an
 * eager program, and each instance of a plan, has a state, which the gradient's node shares.
 */
struct AsyncCall {
  /* Keeps nothing of `args` but copies. `done` is called from any thread. */
  void (*start)(const KernelArgs& args, const std::shared_ptr<OpState>& state, OnComplete done);
  /* Null for an operator that only takes over the state of another one. `in`: all known. */
  std::shared_ptr<OpState> (*make_state)(const Attrs&, Context, const TensorTypes& in);
  /* The same attributes with room for a state, and that room. */
  AttrsPtr (*for_call)(const AttrsPtr&);
  std::shared_ptr<OpState>* (*state_of_call)(const Attrs&);

  static void Check(const Op& op) {
    MXNET_CHECK_KIND(op.runs == RunBy::kAsync && op.kernels.empty(), Value)
        << "[" << op.name << "] has the trait AsyncCall and runs otherwise; accepted: RunBy::kAsync and no kernel";
  }
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_ASYNC_CALL_H_
