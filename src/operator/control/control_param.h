/* Parameters of the control-flow records, and what is found out about their graphs once. */
#ifndef MXNET_OPERATOR_CONTROL_CONTROL_PARAM_H_
#define MXNET_OPERATOR_CONTROL_CONTROL_PARAM_H_

#include <memory>
#include <mutex>
#include <vector>

#include "mxnet/op.h"
#include "operator/record/param.h"
#include "operator/record/tuple_field.h"

namespace mxnet {
namespace control {

/*
 * What was made of a node's graphs. Lies in the node's parsed parameters, which copies of the node
 * share; `graphs` tells for which graphs it holds.
 */
template <typename T>
class MadeOfGraphs {
 public:
  using Graphs = std::vector<std::shared_ptr<Symbol>>;
  template <typename Make>
  std::shared_ptr<const T> Get(const Graphs& graphs, const Make& make) const {
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (!state_->made || state_->graphs != graphs) {
      state_->made = make();
      state_->graphs = graphs;
    }
    return state_->made;
  }

 private:
  struct State {
    std::mutex mutex;
    Graphs graphs;
    std::shared_ptr<const T> made;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

using Locations = Tuple<int64_t>;

/* Every element must be one of `count` places. */
inline void CheckLocations(const Attrs& attrs, const char* name, const Locations& given, int64_t count) {
  for (int64_t at : given.values)
    MXNET_CHECK_KIND(at >= 0 && at < count, Value)
        << "[" << attrs.op->name << "] " << name << " holds " << at << "; accepted: 0 to " << count - 1;
}

inline void CheckGraphs(const Attrs& attrs, size_t count) {
  MXNET_CHECK_KIND(attrs.subgraphs.size() == count, Value)
      << "[" << attrs.op->name << "] " << attrs.subgraphs.size() << " graphs; it needs " << count;
}

}  // namespace control
}  // namespace mxnet
#endif  // MXNET_OPERATOR_CONTROL_CONTROL_PARAM_H_
