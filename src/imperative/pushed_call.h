/* What an eager call leaves for the engine's worker that runs it. */
#ifndef MXNET_IMPERATIVE_PUSHED_CALL_H_
#define MXNET_IMPERATIVE_PUSHED_CALL_H_

#include <atomic>
#include <vector>

#include "mxnet/imperative.h"
#include "mxnet/kernel_args.h"

namespace mxnet {

/* A blob of a pushed operator that gets its memory in the operator's turn. The chunk lives until
 * then: the engine deletes it behind the operator. */
struct Late {
  bool output;
  size_t index;
  Chunk* chunk;
  size_t offset;
};

/* Used again and again: memory that one thread takes and another gives back costs both of them a
 * lock, several times for each call. */
struct PushedCall {
  AttrsPtr attrs;
  const Kernel* kernel = nullptr;
  std::vector<TBlob> in, out;
  std::vector<OpReq> req;
  std::vector<Late> late;
  bool is_train = false;
  InferSwitches switches;
  RandomState* random = nullptr;
  const void* memory_scope = nullptr;  // profiler::MemoryScope::Scope() of the caller
  std::atomic<int> refs{0};

  static PushedCall* Take();  // empty
  static void Give(PushedCall* call);
};

/* Keeps a call as long as somebody may run it. */
class PushedCallPtr {
 public:
  explicit PushedCallPtr(PushedCall* call) : call_(call) { call_->refs.fetch_add(1, std::memory_order_relaxed); }
  PushedCallPtr(const PushedCallPtr& o) : PushedCallPtr(o.call_) {}
  PushedCallPtr& operator=(const PushedCallPtr&) = delete;
  ~PushedCallPtr() {
    if (call_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) PushedCall::Give(call_);
  }
  PushedCall* operator->() const { return call_; }

 private:
  PushedCall* const call_;
};

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_PUSHED_CALL_H_
