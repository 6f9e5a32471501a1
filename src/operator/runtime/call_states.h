/*
 * Nodes that hold graphs with operators that wait: custom ones (RunBy::kAsync), and those that meet
 * other devices (RunBy::kMeetingKernel). Such a node waits itself while its kernel runs. So it runs
 * alone, on a thread of its own, and holds the random numbers of its device for nobody: a custom
 * operator in the graph may want some.
 */
#ifndef MXNET_OPERATOR_RUNTIME_CALL_STATES_H_
#define MXNET_OPERATOR_RUNTIME_CALL_STATES_H_

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {

/*
 * States of operators that others end (AsyncCall), for one instance of a plan, or for one eager
 * call and its gradient. An operator in a loop has a state for each step, as if the steps were
 * written one behind the other. The gradient's node finds the state by the parameters that both
 * share. Safe from several threads.
 */
class CallStates {
 public:
  /* `steps`: of the loops around, the outermost first. Throws Error when the node is a gradient's
   * and its operator has not run. */
  std::shared_ptr<OpState> Of(const Attrs& attrs, Context ctx, Span<const TBlob> in, const std::vector<int64_t>& steps);

 private:
  struct Kept {
    std::shared_ptr<const void> param;  // so that its address stays its own
    std::shared_ptr<OpState> state;
  };
  std::mutex mutex_;
  std::map<std::pair<const void*, std::vector<int64_t>>, Kept> states_;
};

/* State of a node that holds graphs: where the states of operators in them are. */
struct CallScope : OpState {
  std::shared_ptr<CallStates> calls;
  std::vector<int64_t> steps;  // of the loops around the node
};

/* A trait of records whose nodes hold graphs that run in their kernels. */
struct KeepsCallStates {
  /* The same attributes, for one eager call. */
  AttrsPtr (*with)(const Attrs&, std::shared_ptr<CallStates>);
  std::shared_ptr<CallStates> (*of)(const Attrs&);  // null: not of an eager call
  std::shared_ptr<CallScope> (*new_scope)();
};
/* A state for the node. */
std::shared_ptr<CallScope> NewCallScope(const Attrs& attrs, std::shared_ptr<CallStates> calls);

/* Numbers that nobody else draws from `state`, whoever comes next. */
RandomState SplitRandom(RandomState* state);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RUNTIME_CALL_STATES_H_
