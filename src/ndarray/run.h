/*
 * How an operation on arrays reaches the engine: at once on the calling thread when it is small and
 * everything that it touches is idle, through a queue otherwise. The order is the same either way.
 */
#ifndef MXNET_NDARRAY_RUN_H_
#define MXNET_NDARRAY_RUN_H_

#include <utility>
#include <vector>

#include "base/device/device_interface.h"
#include "base/float_mode.h"
#include "engine/change.h"
#include "mxnet/engine.h"
#include "mxnet/ndarray.h"
#include "mxnet/profiler.h"

namespace mxnet {

/* Work estimated below this many nanoseconds is not worth a hand-over to another thread (one
 * wake-up costs several microseconds). */
constexpr double kInlineNanoseconds = 50000;
/* Rough nanoseconds of what is no operator's call (operator/record/call_cost.h has those): copies,
 * sums of arrays by byte that is read or written, compression of gradients by element. */
constexpr double kNsPerCopiedByte = 0.1, kNsPerSummedByte = 0.05, kNsPerCompressedElement = 1;

/* The first `num_kept` of `writes` are changed rather than replaced (engine/change.h). */
template <typename Fn>
void RunOrPush(Fn&& fn, Context ctx, Span<Var* const> reads, Span<Var* const> writes, bool inline_ok, FnProperty prop = FnProperty::kNormal,
               int priority = 0, const char* name = nullptr, int num_kept = 0) {
  Engine* engine = Engine::Get();
  if (inline_ok && !ctx.is_gpu() && engine->TryAcquire(reads.ptr, reads.count, writes.ptr, writes.count)) {
    std::exception_ptr error;
    try {
      RunContext run;
      run.ctx = ctx;
      profiler::NameScope profiled(profiler::NameScope::kWork, name);
      FloatModeScope float_mode;
      fn(run);
    } catch (...) {
      error = std::current_exception();
    }
    engine::ReleaseChanged(engine, reads.ptr, reads.count, writes.ptr, writes.count, num_kept, error, name);
    return;
  }
  std::vector<Var*> read(reads.begin(), reads.end());
  read.insert(read.end(), writes.begin(), writes.begin() + num_kept);
  engine->PushSync(std::forward<Fn>(fn), ctx, std::move(read), std::vector<Var*>(writes.begin(), writes.end()), prop, priority, name);
}

/* Copies to, from and between GPUs: a part of their interface. With a `stream`, which is null
 * outside GPU workers, a copy is put there; without, it is over on return. */
struct CopyHooks {
  void (*copy)(void* dst, Context dst_ctx, const void* src, Context src_ctx, size_t bytes, void* stream);
};

/* Bytes of one array that may well be more than there is. Its memory is asked for at once, so that
 * the call itself fails; that of smaller ones comes in the turn of the operation that writes them,
 * for a caller who runs ahead would hold that of all results which nobody wants any more. */
constexpr size_t kRefusable = size_t{4} << 30;

/* An array without giving it memory if it has none yet. */
inline TBlob PendingBlob(const NDArray& a) {
  if (!a.delayed()) return a.blob();
  TBlob b;
  b.shape = a.shape();
  b.dtype = a.dtype();
  b.ctx = a.ctx();
  b.sparse = a.sparse();
  return b;
}

/*
 * Memory for a delayed `chunk` that the operation which runs with `run` writes first: on a GPU also
 * what earlier work on that stream still uses. No-op when it has some. The chunk's variable must be
 * one of the operation's.
 */
void AllocateOn(Chunk* chunk, const RunContext& run);

/* Is it all of what its variable stands for? Writing a part changes the rest's array, but does not
 * replace it. */
inline bool CoversChunk(const NDArray& a) {
  return a.byte_offset() == 0 && static_cast<size_t>(a.shape().Size()) * DTypeSize(a.dtype()) >= a.chunk()->bytes;
}

/* Where the results of operators on arrays of `input` live: pinned and shared memory is for those
 * who ask for it. */
inline Context ResultContext(Context input) { return input.dev_type == DeviceType::kCPU ? input : input.execution(); }

}  // namespace mxnet
#endif  // MXNET_NDARRAY_RUN_H_
