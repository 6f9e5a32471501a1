/*
 * Eager execution: runs one operator on arrays, records it when autograd is on, and differentiates
 * what was recorded. State is per thread. Errors of arguments, shapes and dtypes are thrown at
 * once; errors of kernels stay with the outputs.
 */
#ifndef MXNET_IMPERATIVE_H_
#define MXNET_IMPERATIVE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {

struct ImperativeState {
  bool recording = false;
  bool training = false;
  bool deferred_compute = false;
};

/*
 * Parsed parameters by what was given for them, for the caller's use alone: parsing takes longer
 * than most calls. Programs with ever-changing, or long, arguments do not make it grow without
 * bound.
 */
class AttrsCache {
 public:
  /* Null when they are not kept. */
  const AttrsPtr* Find(const std::string& key) const {
    auto it = now_.find(key);
    return it == now_.end() ? nullptr : &it->second;
  }
  /* Not what has a long key, nor an operator whose name may come to stand for something else. */
  MXNET_DLL static bool Takes(const std::string& key, const Op& op);
  /* What it returns stays where it is until thousands of others were put behind it. */
  const AttrsPtr& Put(const std::string& key, const AttrsPtr& attrs) {
    constexpr size_t kMaxEntries = 4096;
    if (now_.size() >= kMaxEntries) {
      before_.swap(now_);
      now_.clear();
      ++generation_;
    }
    return now_.emplace(key, attrs).first->second;
  }
  /* Another number: what was found before may be gone with the next change. */
  uint64_t generation() const { return generation_; }

 private:
  std::unordered_map<std::string, AttrsPtr> now_, before_;  // maps keep their elements where they are
  uint64_t generation_ = 0;
};

class MXNET_DLL Imperative {
 public:
  static ImperativeState& State();  // of this thread

  /* Parsed parameters for an operator; equal arguments give the same object without parsing
   * twice. */
  static AttrsPtr GetAttrs(const Op* op, int num_params, const char* const* keys, const char* const* values);

  /*
   * Runs attrs->op. `outputs` holds num_outputs arrays; those that are none are created (shape
   * inferred, on the inputs' context, or `ctx` when there are no inputs), others are written in
   * place. Throws Error when shapes, dtypes or contexts do not fit.
   *
   * The caller reads the first `read` outputs. The others may stay without values, and without
   * memory, while nothing is recorded.
   */
  static void Invoke(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                     const Context* ctx = nullptr, size_t read = SIZE_MAX);
  /* The same for one output that is none, if that takes the short way: nothing is recorded, the
   * call is like an earlier one of this thread, its work is small and the inputs are idle. False,
   * and nothing is done: Invoke. */
  static bool InvokeAtOnce(const AttrsPtr& attrs, Span<NDArray* const> inputs, NDArray* output);

  /* Runs the operator without recording, with given requests (kAdd etc.). Used by autograd and the
   * plan's fallback. */
  static void Run(const AttrsPtr& attrs, const std::vector<NDArray>& inputs, const std::vector<OpReq>& req,
                  const std::vector<NDArray>& outputs, bool is_train);

  static void MarkVariables(const std::vector<NDArray*>& variables, const std::vector<OpReq>& req, const std::vector<NDArray*>& gradients);
  /* The same, but results of recorded operations stay results: gradients go on to what they were
   * computed from, as in MXNet 2.0. */
  static void MarkResults(const std::vector<NDArray*>& results, const std::vector<OpReq>& req, const std::vector<NDArray*>& gradients);
  static void DropGrads(const std::vector<NDArray*>& variables);
  /* Whether gradients can go through an array. Not if a backward pass has freed what computed it:
   * it is a constant from then on, as in 1.x, such as the state that a recurrent network carries
   * from one batch into the next. */
  static bool HasHistory(const NDArray& array);
  /* The gradient array attached to `variable`; none when it has none. */
  static NDArray Grad(const NDArray& variable);
  /* Whether a backward pass has touched the gradient since SetFreshGrad(variable, false); false for
   * what is not marked. */
  static bool HasFreshGrad(const NDArray& variable);
  static void SetFreshGrad(const NDArray& variable, bool fresh);
  /*
   * Differentiates `heads` (weighted by `head_grads`; null entries mean ones). With `variables`,
   * returns their gradients as fresh arrays; without, adds or writes into the marked gradients.
   * `create_graph` records the backward pass itself.
   */
  static std::vector<NDArray> Backward(const std::vector<NDArray*>& heads, const std::vector<NDArray*>& head_grads,
                                       const std::vector<NDArray*>& variables, bool retain_graph, bool create_graph, bool is_train);
  /* The recorded computation of `array` as a graph entry whose leaves are variables. */
  static NodeEntry GetSymbolEntry(const NDArray& array);

  /* Random state and its engine variable, per context. Seed() orders itself behind pending random
   * operators. */
  static void Seed(uint64_t seed);
  static void SeedContext(uint64_t seed, Context ctx);
  struct RandomResource {
    RandomState state;
    Var* var;
  };
  static RandomResource* Random(Context ctx);

  /* Records a node with given arrays as one tape entry (CachedOp and custom functions use it). */
  static void Record(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                     const std::string& name = "");
};

/* Puts this thread's state back at its end; meanwhile State() may be changed. */
class ImperativeScope {
 public:
  ImperativeScope() : before_(Imperative::State()) {}
  ~ImperativeScope() { Imperative::State() = before_; }
  ImperativeScope(const ImperativeScope&) = delete;
  ImperativeScope& operator=(const ImperativeScope&) = delete;
  /* Operators are computed, and neither recorded nor deferred. */
  static ImperativeScope Computing() {
    ImperativeState now = Imperative::State();
    now.recording = now.deferred_compute = false;
    return ImperativeScope(now);
  }
  /* With these two, not deferred. */
  static ImperativeScope Mode(bool recording, bool training) { return ImperativeScope(ImperativeState{recording, training, false}); }

 private:
  explicit ImperativeScope(const ImperativeState& now) : ImperativeScope() { Imperative::State() = now; }
  const ImperativeState before_;
};

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_H_
