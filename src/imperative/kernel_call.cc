#include "imperative/kernel_call.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

#include "base/float_mode.h"
#include "mxnet/env.h"
#include "mxnet/profiler.h"
#include "operator/runtime/call_states.h"
#include "operator/shared/op_scope.h"
#include "storage/device_memory.h"

namespace mxnet {
namespace {

/*
 * MXNET_CPU_TEMP_COPY and MXNET_GPU_TEMP_COPY: how many operators hold workspace memory on the CPU,
 * or on one GPU, at once; the next one waits. A kernel that is called from inside another one
 * shares its turn.
 */
class WorkspaceTurn {
 public:
  ~WorkspaceTurn() {
    if (!taken_ || --Depth() > 0) return;
    {
      std::lock_guard<std::mutex> lock(Shared().mutex);
      --Shared().holders[place_];
    }
    Shared().free.notify_all();  // those that wait may wait for different devices
  }
  void Take(Context ctx) {
    if (taken_) return;
    taken_ = true;
    if (Depth()++ > 0) return;
    place_ = ctx.is_gpu() ? 1 + ctx.dev_id % kGpus : 0;
    const int most = ctx.is_gpu() ? Env::Get().gpu_temp_copy : Env::Get().cpu_temp_copy;
    std::unique_lock<std::mutex> lock(Shared().mutex);
    Shared().free.wait(lock, [&] { return Shared().holders[place_] < most; });
    ++Shared().holders[place_];
  }

 private:
  static constexpr int kGpus = 32;
  struct State {
    std::mutex mutex;
    std::condition_variable free;
    int holders[1 + kGpus] = {};
  };
  static State& Shared() {
    static State* state = [] {
      pthread_atfork(nullptr, nullptr, [] { new (&Shared()) State; });  // the holders are not in the child
      return new State;                                                 // used until the very end of the process
    }();
    return *state;
  }
  static int& Depth() {
    static thread_local int depth = 0;
    return depth;
  }
  bool taken_ = false;
  int place_ = 0;
};

/* Workspace memory of a kernel call, given back when the call is over; on a GPU behind what is on
 * the stream then. */
class Workspace {
 public:
  Workspace(const RunContext& run, bool waits) : run_(run), waits_(waits) {}
  ~Workspace() {
    for (const auto& h : blocks_) storage::FreeOnStream(h, run_);
  }
  void* Get(size_t bytes) {
    if (!waits_) turn_.Take(run_.ctx);
    blocks_.push_back(storage::AllocOnStream(bytes, run_));
    return blocks_.back().dptr;
  }

 private:
  const RunContext& run_;
  const bool waits_;
  WorkspaceTurn turn_;  // given back after the blocks
  std::vector<StorageHandle> blocks_;
};

}  // namespace

void CallKernel(const Kernel& kernel, const Attrs& attrs, Span<const TBlob> in, Span<const OpReq> req, Span<const TBlob> out,
                const RunContext& run, bool is_train, RandomState* random, bool waits, const InferSwitches* switches) {
  FloatModeScope float_mode;
  Workspace workspace(run, waits);
  std::shared_ptr<OpState> state;
  Workspace* w = &workspace;
  // All at once: assigning a function takes a swap, which waits for what was written just before.
  KernelArgs args = {
      &attrs, in, req, out, run, is_train, attrs.op->stateful ? &state : nullptr, random, {}, nullptr, {}, [w](size_t bytes) {
        return w->Get(bytes);
      }};
  if (__builtin_expect(switches != nullptr, 0)) args.switches = *switches;
  if (const KeepsCallStates* keeps = waits ? attrs.op->trait<KeepsCallStates>() : nullptr) {
    state = NewCallScope(attrs, keeps->of(attrs));
    args.state = &state;
  }
  profiler::OpScope profiled(attrs, in, out, run);
  kernel(args);
}

void CallKernelWithWeights(const Kernel& kernel, const Attrs& attrs, Span<const TBlob> in, Span<const uint64_t> in_versions,
                           Span<const TBlob> out, PlanWeights* weights, std::shared_ptr<OpState>* state) {
  FloatModeScope float_mode;
  RunContext run;
  run.ctx = Context::CPU();
  Workspace workspace(run, false);
  const std::vector<OpReq> req(out.size(), OpReq::kWrite);
  Workspace* w = &workspace;
  KernelArgs args = {&attrs, in,      req,         out,     run, false,
                     state,  nullptr, in_versions, weights, {},  [w](size_t bytes) { return w->Get(bytes); }};
  profiler::OpScope profiled(attrs, in, out, run);
  kernel(args);
}

}  // namespace mxnet
