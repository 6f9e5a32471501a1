/*
 * The compiled graph; Executor and CachedOp are entry points to it. A Plan is immutable. What it
 * reads and writes from outside is numbered as slots: [inputs][outputs][head gradients][gradients].
 * A PlanInstance runs it.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_H_
#define MXNET_EXECUTOR_PLAN_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/passes/core/passes.h"
#include "executor/passes/core/plan_request.h"
#include "executor/plan/plan_memory.h"
#include "mxnet/executor.h"
#include "operator/record/async_call.h"

namespace mxnet {

class OnComplete;  // mxnet/engine.h

/* Numbers of what a plan reads and writes from outside. */
struct PlanSlots {
  int num_inputs = 0, num_outputs = 0;
  int output_slot(int i) const { return num_inputs + i; }
  int head_slot(int i) const { return num_inputs + num_outputs + i; }
  int grad_slot(int i) const { return num_inputs + 2 * num_outputs + i; }  // by input
  int num_slots() const { return 2 * num_inputs + 2 * num_outputs; }
  enum class SlotKind : uint8_t { kInput, kOutput, kHeadGradient, kGradient };
  /* What a slot is of, and which one of these. */
  std::pair<SlotKind, int> KindOf(int slot) const {
    if (slot < output_slot(0)) return {SlotKind::kInput, slot};
    if (slot < head_slot(0)) return {SlotKind::kOutput, slot - output_slot(0)};
    if (slot < grad_slot(0)) return {SlotKind::kHeadGradient, slot - head_slot(0)};
    return {SlotKind::kGradient, slot - grad_slot(0)};
  }
};

/* What a plan runs, and on what. */
struct PlanNodes {
  struct Node {
    AttrsPtr attrs;
    std::string name;
    const Kernel* kernel;
    int in, num_in, out, num_out;  // places in `blobs`; the requests of the outputs begin at `req`
    int req;
    double cost;                       // rough nanoseconds
    bool constant = false;             // runs only when a variable that it reads has changed
    int loop = -1;                     // which of `loops` it belongs to
    const AsyncCall* async = nullptr;  // started in place of a kernel; a bulk of its own
    bool alone = false;                // waits for such nodes in graphs that it holds; a bulk and a thread of its own
  };
  /* Where a blob lies. Whoever acts by it has a switch without `default:`, so that the compiler
   * lists what a new place concerns. */
  enum class Place : uint8_t {
    kNowhere,   // nobody computes it: it is read for its shape and dtype alone
    kSlot,      // in an array of the caller; `at`: which slot
    kConstant,  // in the instance's block of constants; `at`: the offset in bytes
    kArena,     // in the arena; `at`: the offset in bytes
    kSparse,    // in a sparse array of the instance; `at`: which one
  };
  struct Blob {
    TBlob shape;  // no pointer
    StorageType storage = StorageType::kDense;
    Place place = Place::kNowhere;
    size_t at = 0;          // what it means, `place` says
    int micro_batches = 1;  // `shape` is one of so many parts that lie one behind the other and are used in turn (Loop)
    int slot() const { return place == Place::kSlot ? static_cast<int>(at) : -1; }
  };
  /*
   * Forward nodes [begin, end) that run `micro_batches` times, each time on the next examples of
   * the batch. What they hand to each other has memory for one micro-batch; what comes from before
   * or is wanted behind them moves on by its bytes after each.
   */
  struct Loop {
    int begin = 0, end = 0, micro_batches = 1;
    std::vector<int> data, moving;  // blobs with another content in each micro-batch; those of them that move on
  };

  std::vector<Node> nodes;
  std::vector<Blob> blobs;
  std::vector<OpReq> reqs;
  std::vector<Loop> loops;
  std::vector<std::vector<int>> slot_blobs;  // which blobs a slot's pointer goes to
  std::vector<char> slot_asked;              // by slot: everyone who reads it says so before (AsksForWeights), or is constant
  std::vector<int> arena_blobs, constant_blobs;
  TensorTypes sparse_types;                        // of the instance's sparse arrays
  std::vector<std::vector<int>> sparse_blobs;      // which blobs each of them is for
  std::vector<std::vector<int>> constant_readers;  // by node: blobs that hold its results, when it is constant
  std::vector<char> head_used;                     // by output: does the backward pass read its head gradient?
};

class Plan : public PlanSlots, public PlanNodes {
 public:
  static std::shared_ptr<const Plan> Compile(const PlanRequest& request);

  /* Nodes that are pushed together. */
  struct Bulk {
    int begin, end;
    std::vector<int> read_slots, write_slots, kept_slots;  // kept: written, but what they held is read first
    bool random = false;
    bool async = false;  // one node, which others end
    bool alone = false;  // one node, which needs a thread of its own
  };
  struct Phase {
    int begin = 0, end = 0;  // nodes
    std::vector<Bulk> bulks;
    Bulk whole;                  // the phase as one
    bool only_in_bulks = false;  // some node is asynchronous, or alone: never as one
    double cost = 0;
    bool meets = false;       // a node waits for another device's
    bool own_random = false;  // draws from numbers set aside for it: some node runs alone
  };

  /* Slots of an input and an output that may be one array of the caller: the node that makes the
   * output works in place, and is the last to read the input. */
  std::vector<std::pair<int, int>> shared_slots;
  size_t constant_bytes = 0;
  TensorTypes output_types;
  TensorTypes grad_types;      // by input; unknown where no gradient is wanted
  StorageTypes head_storages;  // by output: of its head gradient; kUndefined is dense
  std::vector<OpReq> grad_req;
  std::vector<char> per_call;  // by input
  Phase forward, backward;
  std::vector<MemoryBlock> blocks;  // what was planned, for verification
  MemoryPlan memory;
  PlanStats stats;
  std::vector<PassRecord> passes;  // what was run, in order
  Context ctx;
  bool is_train = false, has_backward = false;
  InferSwitches switches;  // that it was inferred with
  Symbol optimized;        // the forward graph after the passes
  Recompute recompute;     // chosen nodes of the symbol

  /* Does a node work on sparse arrays, the caller's or others? */
  bool has_sparse = false;

  std::string DebugStr() const;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_H_
