/*
 * What the profiler records and how it is told to.
 *
 * HOOKS      (of operators: operator/shared/op_scope.h) A scope object marks a duration on the calling thread, a function marks a moment.
 *            While nothing is recorded each costs one relaxed load. Otherwise an event of fixed
 *            size goes to a buffer that only this thread writes: no lock, no formatting. Names are
 *            pointers: a `const char*` given to a hook must stay valid for ever (operator names,
 *            string literals, __func__), others are interned first.
 * THREADS    Everything may be called from any thread.
 * FORK       A child records nothing until it is told to; what the parent had recorded stays with
 *            the parent.
 * FILES      The trace (Chrome's trace-event JSON) is written to a temporary file and renamed, so
 *            that its name never holds half a trace.
 */
#ifndef MXNET_PROFILER_H_
#define MXNET_PROFILER_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "mxnet/base.h"
#include "mxnet/run_context.h"

namespace mxnet {

namespace profiler {

/* What to record. The first four are the bits of MXNET_PROFILER_MODE. */
enum What : uint32_t {
  kSymbolic = 1,    // nodes of compiled plans, and their bulks
  kImperative = 2,  // eager operators, copies and other work of the engine
  kApi = 4,         // calls of the C interface
  kMemory = 8,      // allocations and frees
  kUser = 16,       // tasks, counters... of the program: whenever anything is recorded
  kUndecided = 32   // nobody has looked at MXNET_PROFILER_AUTOSTART yet
};

/* The set of What that is recorded now; 0 while stopped or paused. */
MXNET_DLL extern std::atomic<uint32_t> active;
inline uint32_t Active() { return active.load(std::memory_order_relaxed); }

// ---- hooks

/* An operator with the shapes and dtypes of one use; interned, never freed. */
struct OpInfo;
/* A duration on a device's stream (src/profiler/gpu_spans.h). */
class DeviceSpan;

/* State that a scope keeps while it is open. */
struct Open {
  uint8_t kind = 0;  // 0: not open, and nothing below is set: a scope that records nothing costs nothing
  bool record;
  uint32_t seen;  // operators seen on this thread when the scope was opened
  int64_t begin;
  const void* what;
  const void* outer_label;
  DeviceSpan* span;  // null: the host's clock
};

/* A duration that has a name only. */
class MXNET_DLL NameScope {
 public:
  enum Kind : uint8_t {
    kApiCall = 1,
    kWork = 2,      // work of the engine: recorded unless something inside it was, which says more
    kPlanBulk = 3,  // several operators; `count` says how many
    kEagerBulk = 4
  };
  /* With `run`, of a GPU: what is put on its stream meanwhile. */
  NameScope(Kind kind, const char* name, int64_t count = 0, const RunContext* run = nullptr) {
    if (__builtin_expect(Active() != 0, 0)) Begin(kind, name, count, run);
  }
  ~NameScope() {
    if (__builtin_expect(open_.kind != 0, 0)) End();
  }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  void Begin(Kind kind, const char* name, int64_t count, const RunContext* run);
  void End();
  Open open_;
  int64_t count_;
};

/* Ask before the next three: are allocations recorded? */
bool DecideMemory();
inline bool RecordsMemory() { return __builtin_expect((Active() & (kMemory | kUndecided)) != 0, 0) && DecideMemory(); }
/* `used`: bytes of the context's pool that are handed out after this call, `held`: those and the
 * cached ones. */
void RecordAlloc(const Context& ctx, const void* ptr, size_t bytes, size_t rounded, uint64_t used);
void RecordFree(const Context& ctx, const void* ptr, size_t rounded, uint64_t used);
void RecordHeld(const Context& ctx, uint64_t held);

/* The name of a record, which lives for ever: its address stands for the operator. */
struct OperatorName {
  const std::string* name;
};

/* Allocations of this thread count for `name` (a parameter, an arena) while it lives. */
class MemoryScope {
 public:
  explicit MemoryScope(const std::string& name) {
    if (__builtin_expect((Active() & kMemory) != 0, 0)) Begin(name);
  }
  explicit MemoryScope(OperatorName op) {
    if (__builtin_expect((Active() & kMemory) != 0, 0)) Begin(op);
  }
  /* The same on another thread than the caller's, whose Scope() it was. */
  MemoryScope(OperatorName op, const void* scope) {
    if (__builtin_expect((Active() & kMemory) != 0, 0)) Begin(op, scope);
  }
  /* What SetMemoryScope has set on this thread; null while no memory is recorded. */
  static const void* Scope() { return __builtin_expect((Active() & kMemory) != 0, 0) ? ScopeHere() : nullptr; }
  ~MemoryScope() {
    if (__builtin_expect(open_, 0)) End();
  }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  void Begin(const std::string& name);
  void Begin(OperatorName op);
  void Begin(OperatorName op, const void* scope);
  static const void* ScopeHere();
  void End();
  bool open_ = false;
  const void *outer_label_, *outer_scope_;  // not set unless open
};
/*
 * What this thread's allocations count for from here on: "encoder:" in front of the operator's
 * name, or, without the colon, all of it (a parameter). "" = the operator's name alone.
 */
void SetMemoryScope(const std::string& scope);

/* Bytes of the CPU's pool: handed out, and those and the cached ones. Asked when a profile with
 * memory begins; `ask` is the storage's, once and for good. */
struct MemoryTotals {
  uint64_t used = 0, held = 0;
};
bool SetMemoryTotals(MemoryTotals (*ask)());  // returns true, for a static initialiser

/* Billions a second that the processor does at most, by what it computes with, and bytes. A trace
 * holds operators against them. They are asked for when a profile of operators begins. */
struct MachineRates {
  double float32 = 0, bfloat16 = 0, int8 = 0, bytes = 0;
};
bool SetMachineRates(MachineRates (*measure)());

// ---- the program's own events

/* Something with a name in a domain. Start and stop may happen on different threads. */
class Object;
enum class ObjectKind : uint8_t { kTask, kFrame, kEvent, kCounter, kMarker };
Object* NewObject(ObjectKind kind, const std::string& domain, const std::string& name);
void DeleteObject(Object* object);
void Start(Object* object);
void Stop(Object* object);  // without a Start: nothing
void SetCounter(Object* object, uint64_t value);
void AdjustCounter(Object* object, int64_t by);  // wraps around
/* scope: global, process, thread, task or marker. Throws Error(kValue). */
void Mark(const std::string& domain, const std::string& name, const std::string& scope);

// ---- control

struct Config {
  std::string filename = "profile.json";
  bool profile_all = false;  // all of the next four
  bool profile_symbolic = true, profile_imperative = true, profile_memory = true, profile_api = true;
  bool continuous_dump = true;
  double dump_period = 1;  // seconds
  bool aggregate_stats = false;
  std::string gpu_memory_profile_filename_prefix;  // "": no list of allocations
  bool server = false;                             // profile_process
};
/* Throws Error(kValue) naming the option, what was given and what is accepted. Options that are not
 * given get their defaults. */
Config ParseConfig(int num, const char* const* keys, const char* const* values);
/* Takes effect at once, also while running. */
void SetConfig(const Config& config);
/* Running after a finished dump begins a new profile. */
void SetRunning(bool running);
bool Running();
void SetPaused(bool paused);
/* Writes what was recorded since the profile began. `finished` ends it. Throws Error(kGeneric) when
 * nothing was ever recorded, Error(kIO). */
void Dump(bool finished);

enum class SortBy : int { kTotal = 0, kAvg = 1, kMin = 2, kMax = 3, kCount = 4 };
/* Totals by name since the last reset; "" without aggregate_stats. */
std::string AggregateStats(bool json, SortBy sort_by, bool ascending, bool reset);

}  // namespace profiler
}  // namespace mxnet
#endif  // MXNET_PROFILER_H_
