/*
 * Events on their way from the hooks to whoever writes them down: one unbounded queue per thread,
 * written by that thread alone without a lock.
 */
#ifndef MXNET_PROFILER_EVENTS_H_
#define MXNET_PROFILER_EVENTS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ran.h"
#include "mxnet/profiler.h"

namespace mxnet {
namespace profiler {

/* A name that does not come from the program's text; interned, never freed. */
struct Label {
  std::string name, category;
};

enum class Type : uint8_t { kOp, kWork, kApi, kPlanBulk, kEagerBulk, kAlloc, kFree, kHeld, kTask, kFrame, kEvent, kCounter, kMarker };

struct Event {
  Type type;
  uint8_t scope;     // marker: index into kMarkerScopes
  int16_t dev_type;  // memory: where; operator: kGPU, or 0
  int32_t dev_id;
  int64_t begin, end;  // nanoseconds of Now(); moments have end == begin
  const void* what;    // OpInfo (kOp), const char* (kWork, kApi, bulks), Label (memory: who it counts for, or null; the program's objects)
  uint64_t id;       // memory: address; task, frame: number of this use; bulk: operators; operator, work: Label of who called for it, or 0
  uint64_t bytes;    // memory: asked for; counter: value
  uint64_t rounded;  // memory: taken
  uint64_t total;    // memory: used or held afterwards; operator: its TextOfRan, or 0
};

/* The category of what custom operators do, as of 1.9.1. */
constexpr const char* kCustomOperator = "Custom Operator";
/* Whose Python code called for an operator or work; null: the program. */
inline const Label* CallerOf(const Event& e) {
  return e.type == Type::kOp || e.type == Type::kWork ? reinterpret_cast<const Label*>(e.id) : nullptr;
}

int64_t Now();

class ThreadLog {
 public:
  ThreadLog(int64_t tid, std::string name) : tid(tid), name(std::move(name)), first_(new Chunk), last_(first_) {}
  ~ThreadLog();
  ThreadLog(const ThreadLog&) = delete;
  ThreadLog& operator=(const ThreadLog&) = delete;

  const int64_t tid;
  const std::string name;
  std::atomic<bool> exited{false};  // its thread appends nothing more

  /* The thread's own. */
  void Append(const Event& event) {
    uint32_t n = last_->count.load(std::memory_order_relaxed);
    if (__builtin_expect(n == kChunk, 0)) {
      Grow();
      n = 0;
    }
    last_->events[n] = event;
    last_->count.store(n + 1, std::memory_order_release);
  }
  /* One reader at a time: moves what is there to the end of `out`.  */
  void Read(std::vector<Event>* out);

 private:
  static constexpr uint32_t kChunk = 1000;
  struct Chunk {
    std::atomic<uint32_t> count{0};
    std::atomic<Chunk*> next{nullptr};
    Event events[kChunk];
  };
  void Grow();

  Chunk* first_;       // reader's
  uint32_t read_ = 0;  // of first_
  Chunk* last_;        // writer's
};

/* What a thread needs when it records. Null when the thread is past its end (destructors of
 * thread-local objects). */
struct ThreadState {
  ThreadLog* log = nullptr;
  uint32_t seen = 0;                  // operators: see NameScope::kWork
  const Label* label = nullptr;       // who allocations count for
  const Label* scope = nullptr;       // of SetMemoryScope
  const Label* called_for = nullptr;  // see called_for.h
  bool ended = false;
};
ThreadState* Local();
/* Appends to this thread's log. */
void Record(const Event& event);

const Label* Intern(const std::string& category, const std::string& name);

/* What a trace says about it: name of the operator, members of a JSON object (without braces),
 * bytes touched, floating-point operations. */
enum class Numbers : uint8_t { kFloat32, kFloat64, kBytes };  // what an operator reads
struct OpText {
  const std::string* name;
  const std::string* args;
  double bytes, flops;
  Numbers numbers;
};
OpText TextOf(const OpInfo* info);
/* An operator with the shapes and dtypes of one use; interned, never freed. `node`: name in the
 * graph, or null. */
const OpInfo* Describe(OperatorName op, double flops, Span<const TBlob> in, Span<const TBlob> out, const char* node);
/* For eager calls: what this thread has seen lately, found without a lock; or null, and then
 * Remember is told. */
const OpInfo* FindRecent(OperatorName op, const std::shared_ptr<const void>& param, Span<const TBlob> in, Span<const TBlob> out);
const OpInfo* Remember(const OpInfo* info, OperatorName op, const std::shared_ptr<const void>& param, Span<const TBlob> in,
                       Span<const TBlob> out);

// The halves of operator/shared/op_scope.h that know the recorder.
/* Does an eager kernel, a node of a plan open a scope now? Counts it when only others are
 * recorded. */
bool OpensEager(const RunContext& run);
bool OpensNode();
/* `what`: the bit that records it. */
void OpenOp(Open* open, const OpInfo* info, uint32_t what, const RunContext& run);
/* `ran`: what the kernel said. */
void CloseOp(Open* open, const RanParts& ran);

/* Members of a JSON object, without braces, that say which implementation ran; kept for ever. */
const std::string* TextOfRan(const RanParts& ran);

/* For allocations: the operator's or node's name as a label. */
const Label* LabelOf(const OpInfo* info);

extern const char* const kMarkerScopes[5];

/* `text` as the inside of a JSON string. */
std::string JsonEscape(const std::string& text);

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_EVENTS_H_
