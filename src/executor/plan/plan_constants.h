/*
 * A plan instance's constants: one block of memory, of which pieces are given back to the system
 * while nobody reads them. Beside them inputs whose contents are stored elsewhere
 * (ndarray/stored.h): they are held from Need to Done. Of other parameters it knows which contents
 * they have, so that plans of one model share what kernels make of them.
 *
 * THREADS  used by the one thread that runs the instance.
 */
#ifndef MXNET_EXECUTOR_PLAN_PLAN_CONSTANTS_H_
#define MXNET_EXECUTOR_PLAN_PLAN_CONSTANTS_H_

#include <functional>
#include <unordered_map>
#include <vector>

#include "executor/plan/plan.h"
#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"
#include "operator/shared/transposed_weights.h"
#include "operator/shared/weights_room.h"

namespace mxnet {

constexpr size_t kLeastPostponed = 1 << 14;  // bytes: smaller constants are not worth a system call

/* Does the kernel say before it reads that input (AsksForWeights)? Those of nodes that hold graphs
 * do, but for what the graphs write (control::HeldWeights). */
bool AsksFor(const Attrs& attrs, int input, int dtype);

class PlanConstants final : public PlanWeights, public TransposedWeights, public WeightsRoom {
 public:
  /* `compute(node)` runs a constant node. */
  PlanConstants(const Plan& plan, std::function<void(int node)> compute);
  ~PlanConstants();
  PlanConstants(const PlanConstants&) = delete;
  PlanConstants& operator=(const PlanConstants&) = delete;

  /* The plan is a graph in another plan's node: of what lies in none of its constants, its inputs
   * among it, `outer` knows (null: nobody does). `blobs`: the plan's, which stay where they are. */
  void Within(const std::vector<TBlob>* blobs, PlanWeights* outer) { blobs_ = blobs, outer_ = outer; }
  /* Where the plan's constants lie, on the CPU. */
  void PutAt(char* base) { base_ = base; }
  /* From now on `slot` has this array; a none array: one that is not stored elsewhere. False:
   * another slot has it, so its contents are there for good. */
  bool Watch(int slot, const NDArray& array);
  bool Watches(int slot) const { return watched_at_[slot] != nullptr; }
  /* From now on `slot`, an array like others, lies there and has contents of that number
   * (ContentsNumber). */
  void Know(int slot, const void* at, uint64_t number);
  /* A constant node whose results only such kernels and constant nodes read need not run: it does
   * when one of them asks, which a kernel that finds its form of the weights made never does. */
  enum class Postponed { kNothing, kOutput, kNode };  // kOutput: one of a node with the trait ReadOnlyFor, the others are to be computed
  Postponed Postpone(int node);
  /* Around a constant node that runs; `but`: an input that it does not read, an output that it does
   * not write. */
  void Begin(int node, int but = -1);
  /* Postpones what it can of a constant node that is to run. True: nothing is left to be computed
   * now. */
  bool RunPostponed(int node, const KernelArgs& args);
  void Computed(int node, int but = -1);

  void Need(const void* weights) override;
  void Done(const void* weights) override;
  uint64_t Identity(const void* weights) override;
  ReadPart Parts(const void* weights) override;
  ReadPart TransposedParts(const void* weights) override;
  bool HasRoomFor(const void* weights, size_t more, bool anyway) override;

  size_t dropped_bytes() const { return dropped_bytes_; }

 private:
  struct Piece {
    size_t bytes = 0;
    int node = -1, output = 0, readers = 0, askers = 0;
    bool dropped = false;  // or not computed yet
  };
  struct Known {
    const void* at = nullptr;
    uint64_t number = 0;
  };
  struct Watched {
    int slot = -1;
    NDArray array;  // without a history
    bool held = false;
  };
  /* Identity, for a constant that another one is computed of. */
  uint64_t NumberOf(const void* weights);
  Piece* Postponable(int blob);  // null: it is not
  bool InBlock(const void* weights) const { return base_ && weights >= base_ && weights < base_ + plan_.constant_bytes; }
  const void* AddressOf(int blob) const;
  static void Release(Watched* watched);

  const Plan& plan_;
  const std::vector<TBlob>* blobs_ = nullptr;
  PlanWeights* outer_ = nullptr;
  char* base_ = nullptr;
  std::function<void(int)> compute_;
  std::unordered_map<size_t, Piece> pieces_;  // by offset
  size_t dropped_bytes_ = 0;
  size_t weight_bytes_ = 0, room_taken_ = 0;          // of all weights that kernels ask for; beyond them
  std::unordered_map<const void*, bool> has_room_;    // by address
  std::unordered_map<const void*, Watched> watched_;  // by address
  std::vector<const void*> watched_at_;               // by slot; null: not watched
  std::vector<Known> known_;                          // by slot
  std::unordered_map<const void*, int> known_slot_;   // by address; another one's, where known_ says that it lies elsewhere
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_PLAN_CONSTANTS_H_
