/*
 * The compiled graph. Executor (bind / simple_bind) and CachedOp (hybridized Gluon) are two entry
 * points to the same Plan.
 *
 * A Plan is made once for a graph with known shapes, dtypes and contexts: passes, topological
 * order, one arena with offsets, layouts, bulks. Running it allocates nothing and touches the
 * engine once per bulk. A Plan is immutable; each PlanInstance owns one arena and the operators'
 * states, so several threads may run one plan with an instance each.
 */
#ifndef MXNET_EXECUTOR_H_
#define MXNET_EXECUTOR_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mxnet/graph.h"
#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {

class ArenaPool;
class Plan;
class PlanInstance;

/* Figures of one plan, for people and tests. */
struct PlanStats {
  size_t arena_bytes = 0;        // one arena for everything internal
  size_t unshared_bytes = 0;     // what separate buffers would take
  size_t lower_bound_bytes = 0;  // largest live set
  int num_nodes = 0, num_bulks = 0, num_inplace = 0, num_removed = 0;
  double forward_ns = 0;  // of the forward phase, an estimate
  double compile_ns = 0;  // what compiling the plan took
};

class MXNET_DLL Executor {
 public:
  /* args/arg_grads/grad_req in ListInputNames(kReadOnlyArgs) order (a none array: no gradient), aux
   * in kAuxStates order. */
  static std::shared_ptr<Executor> Bind(const Symbol& symbol, Context ctx, const std::map<std::string, Context>& group2ctx,
                                        const std::vector<NDArray>& args, const std::vector<NDArray>& arg_grads,
                                        const std::vector<OpReq>& grad_req, const std::vector<NDArray>& aux,
                                        std::shared_ptr<Executor> shared = nullptr);
  virtual ~Executor() = default;
  virtual void Forward(bool is_train) = 0;
  /* Runs one node of the forward pass; returns how many are left after it. Step 0 begins. */
  virtual int PartialForward(bool is_train, int step) = 0;
  virtual void Backward(const std::vector<NDArray>& head_grads, bool is_train = true) = 0;
  virtual const std::vector<NDArray>& Outputs() const = 0;
  virtual std::shared_ptr<Executor> Reshape(const std::map<std::string, Shape>& shapes, bool partial_shaping, bool allow_up_sizing) = 0;
  virtual std::string DebugStr() const = 0;
  virtual PlanStats Stats() const = 0;
  using MonitorFn = std::function<void(const char* name, const char* op, const NDArray& array)>;
  virtual void SetMonitor(MonitorFn fn, bool monitor_all) = 0;
  virtual Symbol OptimizedSymbol() const = 0;
  virtual std::vector<std::string> ArgNames() const = 0;
  virtual std::vector<std::string> AuxNames() const = 0;
  /*
   * An executor for inference by another thread: this one's compiled plan with an arena and outputs
   * of its own, on arrays of the shapes and dtypes bound here (throws Error(kValue) otherwise).
   * Both then compute on the threads that call Forward(false), side by side.
   */
  virtual std::shared_ptr<Executor> SharePlan(const std::vector<NDArray>& args, const std::vector<NDArray>& aux) = 0;
  // What was bound, in the orders above.
  std::vector<NDArray> args, arg_grads, aux;
};

/* What simple_bind was given; names are those of arguments and auxiliary states. */
struct SimpleBindRequest {
  Symbol symbol;
  Context ctx;
  std::map<std::string, Context> group2ctx;
  std::vector<OpReq> grad_req;                // by argument
  std::map<std::string, TensorType> types;    // as far as they are known; a dtype that nothing tells is float32
  std::vector<std::string> shared_arg_names;  // taken from `shared` as they are, with their gradients
  // Memory for the other arguments and, as "grad of NAME", for their gradients; grows when too
  // small. Without it nothing is shared.
  std::map<std::string, NDArray>* shared_buffer = nullptr;
  std::shared_ptr<Executor> shared;
};
/* Infers the rest, makes zero-filled arrays and binds them. Throws Error(kValue) when shapes stay
 * unknown. */
MXNET_DLL std::shared_ptr<Executor> SimpleBind(const SimpleBindRequest& request);

/* What a training step needs and what recomputing parts of its forward pass saves. Bytes are those
 * of the arena: activations, gradients inside the graph. */
struct MemoryAdvice {
  Symbol symbol;  // the given one with `__force_mirroring__` on what is to be recomputed
  size_t arena_bytes = 0, lower_bound_bytes = 0;
  size_t kept_bytes = 0;             // arena when nothing is recomputed
  double step_ns = 0, extra_ns = 0;  // rough times of a step without recomputation and of the recomputation
  double step_flops = 0, extra_flops = 0;
  std::vector<std::string> recomputed;  // names of nodes
};
/*
 * The choice that fits `budget` bytes at the least extra time; budget 0: the one that needs least.
 * Gradients of the arguments named `wanted` (empty: all). Throws Error(kValue) naming the least
 * possible bytes, or when shapes stay unknown.
 */
MXNET_DLL MemoryAdvice AdviseMemory(const Symbol& symbol, Context ctx, const std::map<std::string, TensorType>& types,
                                    const std::vector<std::string>& wanted, size_t budget);

class MXNET_DLL CachedOp {
 public:
  /*
   * flags: static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size,
   * memory_budget, data_indices, param_indices, is_dynamic; thread_safe: inference runs on the
   * calling thread (several side by side share the cores) and is done when Invoke returns, unless
   * something that it needs is in use. Any CachedOp may be called from several threads; without the
   * flag the engine's workers compute. `arenas`: where graphs that run one after another find the
   * memory between their nodes; null: this one has its own.
   */
  static std::shared_ptr<CachedOp> Create(const Symbol& symbol, const std::map<std::string, std::string>& flags,
                                          std::shared_ptr<ArenaPool> arenas = nullptr);
  virtual ~CachedOp() = default;
  /* inputs in ListInputNames(kAll) order. Outputs that are none are created. Records itself when
   * autograd is on. Thread-safe. */
  virtual void Invoke(const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, const Context* ctx = nullptr) = 0;
  virtual Symbol symbol() const = 0;
  virtual Symbol OptimizedSymbol() const = 0;
  virtual PlanStats Stats() const = 0;
  virtual void SetMonitor(Executor::MonitorFn fn, bool monitor_all) = 0;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_H_
