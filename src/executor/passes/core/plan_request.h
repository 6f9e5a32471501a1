/* What the plan compiler and its passes are asked for. */
#ifndef MXNET_EXECUTOR_PASSES_CORE_PLAN_REQUEST_H_
#define MXNET_EXECUTOR_PASSES_CORE_PLAN_REQUEST_H_

#include <cstddef>
#include <vector>

#include "mxnet/graph.h"
#include "mxnet/kernel_args.h"
#include "operator/record/sparse_form.h"

namespace mxnet {

/* In which storages the gradients of outputs come: dense, or as the outputs, where some operator
 * of the graph infers storages of its own (custom ones see it then, as in 1.9.1) or always. */
enum class HeadStorages : char { kDense, kAsOutputsWhereInferred, kAsOutputs };

/* What to compile. */
struct PlanRequest {
  Symbol symbol;
  Context ctx;
  TensorTypes inputs;  // in ListInputs(kAll) order
  InferSwitches switches = InferSwitches::OfThread(true);
  bool is_train = false;
  std::vector<OpReq> grad_req;  // by input; empty or all kNull: no backward pass
  StorageTypes grad_storage;    // by input: of the array that its gradient is written into; kUndefined, or empty: as it comes
  HeadStorages head_storages = HeadStorages::kDense;
  std::vector<OpReq> output_req;  // by output, kWrite or kAdd (onto what the array held); empty: all kWrite
  bool every_result = false;      // a monitor wants to see what every node of the symbol computes: nothing is merged or left out
  int forward_bulk = -1, backward_bulk = -1;  // nodes per bulk; -1: as the environment says
  size_t memory_budget = 0;                   // bytes that the arena may have; what does not fit is recomputed. 0: no limit
  std::vector<char> per_call;  // by input: another array in every call (data, not weights); such arrays are not held between calls
  bool least_memory = false;   // recompute whatever makes the arena smaller
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PASSES_CORE_PLAN_REQUEST_H_
