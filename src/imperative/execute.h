/* How Imperative runs an operator, apart from recording. */
#ifndef MXNET_IMPERATIVE_EXECUTE_H_
#define MXNET_IMPERATIVE_EXECUTE_H_

#include <cstdint>
#include <vector>

#include "mxnet/engine.h"
#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"

namespace mxnet {

/* Buffers of one invocation, reused so that a small operator allocates nothing there. */
struct CallBuffers {
  TensorTypes in_types, out_types;
  std::vector<TBlob> in, out;
  std::vector<OpReq> req;
  std::vector<Var*> reads, writes;
  void Clear() {
    in.clear();
    out.clear();
    req.clear();
    reads.clear();
    writes.clear();
  }
};

/*
 * Where the caller is far ahead of the engine, a result of arrays that are idle could be computed
 * at once, and would lie in memory until the operations before it have run. A large one waits for
 * its turn: is this one of so many bytes?
 */
inline bool WaitsForItsTurn(size_t bytes) {
  constexpr size_t kLarge = 1 << 16;
  constexpr uint64_t kFar = 64;  // operations
  return bytes >= kLarge && !Engine::Get()->AtMost(kFar);
}

/* `outputs` are allocated here when none. `shapes_only`: they get shapes, dtypes and a device, and
 * no values. `read`: without `reqs`, nobody reads the outputs from there on. */
void Execute(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
             const std::vector<OpReq>* reqs, const Context* given_ctx, bool is_train, bool shapes_only = false, size_t read = SIZE_MAX);

/* The same for a record's kernel, with arrays of the storages that it takes, on a device that is
 * known. */
void ExecuteKernel(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                   const std::vector<OpReq>* reqs, Context ctx, bool is_train, bool shapes_only, size_t read);

/*
 * The short way for operators that only read their inputs, if they have any, and make fresh outputs
 * or write one that is given, when the answer of inference is remembered, the work is small and the
 * arrays are idle. Nobody else knows fresh outputs yet, so only the inputs are taken from the
 * engine. Without inputs: for calls that are given no context. Returns false when the long way is
 * needed: Execute.
 */
bool ExecuteFresh(const AttrsPtr& attrs, Span<NDArray* const> inputs, Span<NDArray* const> outputs, bool is_train);
/* After inference: the next call with these shapes may take the short way. `given`: the outputs
 * were. */
void RememberFresh(const AttrsPtr& attrs, const CallBuffers& s, const Kernel* kernel, Context ctx, bool given);

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_EXECUTE_H_
