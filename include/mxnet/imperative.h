/*
 * Eager execution: runs one operator on arrays, records it when autograd is on, and differentiates
 * what was recorded. State is per thread. Errors of arguments, shapes and dtypes are thrown at
 * once; errors of kernels stay with the outputs.
 */
#ifndef MXNET_IMPERATIVE_H_
#define MXNET_IMPERATIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mxnet/ndarray.h"
#include "mxnet/op.h"

namespace mxnet {

struct ImperativeState {
  bool recording = false;
  bool training = false;
  bool deferred_compute = false;
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

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_H_
