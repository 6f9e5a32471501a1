/*
 * CUDA graphs know addresses, and programs bring new arrays with every call (batches, results).
 * While few sets of addresses come again, each has a graph of its own. When there are more, the
 * arrays that move get private places, which graphs read and write; what is in the arrays is copied
 * there before a run and back behind it.
 */
#ifndef MXNET_EXECUTOR_PLAN_GRAPH_PLACES_H_
#define MXNET_EXECUTOR_PLAN_GRAPH_PLACES_H_

#include <vector>

#include "executor/plan/plan.h"
#include "executor/plan/plan_call.h"

namespace mxnet {

/* Of one plan instance; used by one operation at a time. */
class GraphPlaces {
 public:
  explicit GraphPlaces(const Plan& plan);
  ~GraphPlaces();  // the device has to be done
  GraphPlaces(const GraphPlaces&) = delete;
  GraphPlaces& operator=(const GraphPlaces&) = delete;

  /* Where nodes find the array of a slot that lies at `at` in this call. */
  void* PlaceOf(int slot, void* at);
  /* From now on the arrays that move in every other call or more often have places. Throws when
   * there is no memory for them; some may have one then. */
  void Settle(const RunContext& run);
  void CopyIn(const PlanCall& call, const Plan::Bulk& phase, const RunContext& run) const;
  void CopyOut(const PlanCall& call, const Plan::Bulk& phase, const RunContext& run) const;

 private:
  struct Slot {
    void* at = nullptr;        // last address
    int binds = 0, moves = 0;  // since Settle
    bool possible = true;      // false: nodes add to what is there, or write an input
    size_t bytes = 0;
    StorageHandle place;
  };
  std::vector<Slot> slots_;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_GRAPH_PLACES_H_
