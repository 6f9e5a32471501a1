// The slow halves of the hooks: something is recorded, or nobody has decided yet whether something
// is.
#include <unordered_map>

#include "mxnet/engine.h"
#include "mxnet/op.h"
#include "mxnet/profiler.h"
#include "profiler/gpu_spans.h"
#include "profiler/recorder.h"
#include "profiler/session.h"

namespace mxnet {
namespace profiler {

std::atomic<uint32_t> active{kUndecided};

namespace {

enum OpenKind : uint8_t { kOpenEager = 10, kOpenNode = 11 };

/* The caller's flags, after the environment has been asked. */
uint32_t Decided() {
  const uint32_t flags = Active();
  return flags & kUndecided ? AutoStart() : flags;
}

/* The label in force when `name` works inside the scope that the program has set. */
const Label* Combine(const ThreadState& state, const Label* name) {
  if (state.scope == nullptr) return name;
  if (name == nullptr || state.scope->name.back() != ':') return state.scope;
  static thread_local std::unordered_map<const Label*, std::unordered_map<const Label*, const Label*>> known;
  const Label*& both = known[state.scope][name];
  if (both == nullptr) both = Intern("operator", state.scope->name + name->name);
  return both;
}

void OpenOp(Open* open, ThreadState* state, const OpInfo* info, uint8_t kind, bool record, bool memory, const RunContext& run) {
  ++state->seen;
  open->kind = kind;
  const bool device = record && HasDeviceTimes(run);
  open->span = device ? BeginOnDevice(run) : nullptr;
  open->record = record && (!device || open->span);
  open->what = info;
  open->outer_label = state->label;
  if (memory) state->label = Combine(*state, LabelOf(info));
  open->begin = Now();
}

Event Base(Type type, int64_t begin, int64_t end, const void* what) {
  Event e = {};
  e.type = type;
  e.begin = begin;
  e.end = end;
  e.what = what;
  return e;
}

Event Memory(Type type, const Context& ctx, const void* what, uint64_t total) {
  const int64_t now = Now();
  Event e = Base(type, now, now, what);
  e.dev_type = static_cast<int16_t>(ctx.dev_type);
  e.dev_id = ctx.dev_id;
  e.total = total;
  return e;
}

}  // namespace

// ---- operators

void OpScope::BeginEager(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, const RunContext& run) {
  const uint32_t flags = Decided();
  if (flags == 0 || (run.ctx.is_gpu() && !HasDeviceTimes(run))) return;
  ThreadState* state = Local();
  if (state == nullptr) return;
  if (!(flags & (kImperative | kMemory))) {
    ++state->seen;
    return;
  }
  OpenOp(&open_, state, DescribeEager(attrs, in, out), kOpenEager, flags & kImperative, flags & kMemory, run);
}

void OpScope::BeginNode(const OpInfo** info, const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, const std::string& node,
                        const RunContext& run) {
  const uint32_t flags = Decided();
  ThreadState* state = flags == 0 ? nullptr : Local();
  if (state == nullptr) return;
  if (!(flags & (kSymbolic | kMemory))) {
    ++state->seen;
    return;
  }
  if (*info == nullptr) *info = Describe(attrs, in, out, node.c_str());
  OpenOp(&open_, state, *info, kOpenNode, flags & kSymbolic, flags & kMemory, run);
}

void OpScope::End() {
  ThreadState* state = Local();
  if (state == nullptr) return;
  const int64_t now = Now();
  state->label = static_cast<const Label*>(open_.outer_label);
  const Event e = Base(Type::kOp, open_.begin, now, open_.what);
  if (open_.span)
    EndOnDevice(open_.span, e);
  else if (open_.record)
    state->log->Append(e);
}

void NameScope::Begin(Kind kind, const char* name, int64_t count, const RunContext* run) {
  const uint32_t flags = Decided();
  ThreadState* state = flags == 0 ? nullptr : Local();
  if (state == nullptr) return;
  const uint32_t wanted = kind == kApiCall ? kApi : kind == kPlanBulk ? kSymbolic : kImperative;
  if (!(flags & wanted)) {
    if (kind == kPlanBulk) ++state->seen;
    return;
  }
  if (kind == kPlanBulk) ++state->seen;
  open_.kind = kind;
  open_.what = name;
  open_.seen = state->seen;
  const bool device = run && HasDeviceTimes(*run);
  open_.span = device ? BeginOnDevice(*run) : nullptr;
  open_.record = !device || open_.span;
  open_.begin = Now();
  count_ = count;
}

void NameScope::End() {
  ThreadState* state = Local();
  if (state == nullptr) return;
  Type type = Type::kApi;
  if (open_.kind == kWork) {
    if (open_.seen != state->seen++ || open_.what == nullptr) {
      if (open_.span) DropOnDevice(open_.span);
      return;
    }
    type = Type::kWork;
  } else if (open_.kind == kPlanBulk) {
    type = Type::kPlanBulk;
  } else if (open_.kind == kEagerBulk) {
    type = Type::kEagerBulk;
  }
  Event e = Base(type, open_.begin, Now(), open_.what);
  e.id = static_cast<uint64_t>(count_);
  if (open_.span)
    EndOnDevice(open_.span, e);
  else if (open_.record)
    state->log->Append(e);
}

// ---- memory

bool DecideMemory() { return Decided() & kMemory; }

void RecordAlloc(const Context& ctx, const void* ptr, size_t bytes, size_t rounded, uint64_t used) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  Event e = Memory(Type::kAlloc, ctx, state->label != nullptr ? state->label : state->scope, used);
  e.id = reinterpret_cast<uintptr_t>(ptr);
  e.bytes = bytes;
  e.rounded = rounded;
  state->log->Append(e);
}

void RecordFree(const Context& ctx, const void* ptr, size_t rounded, uint64_t used) {
  Event e = Memory(Type::kFree, ctx, nullptr, used);
  e.id = reinterpret_cast<uintptr_t>(ptr);
  e.rounded = rounded;
  Record(e);
}

void RecordRegisterRows(const Context& ctx, uint64_t held) { Record(Memory(Type::kHeld, ctx, nullptr, held)); }

void MemoryScope::Begin(const std::string& name) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  outer_label_ = state->label;
  outer_scope_ = state->scope;
  open_ = true;
  // As the scope it also holds for operators that are called meanwhile.
  state->scope = state->label = Combine(*state, Intern("memory", name));
}

void MemoryScope::Begin(const Attrs& attrs) { Begin(attrs, ScopeHere()); }

void MemoryScope::Begin(const Attrs& attrs, const void* scope) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  static thread_local std::unordered_map<const Op*, const Label*> known;
  const Label*& label = known[attrs.op];
  if (label == nullptr) label = Intern("operator", attrs.op->name);
  outer_label_ = state->label;
  outer_scope_ = state->scope;
  open_ = true;
  state->scope = static_cast<const Label*>(scope);
  state->label = Combine(*state, label);
}

const void* MemoryScope::ScopeHere() {
  const ThreadState* state = Local();
  return state == nullptr ? nullptr : state->scope;
}

void MemoryScope::End() {
  ThreadState* state = Local();
  if (state == nullptr) return;
  state->label = static_cast<const Label*>(outer_label_);
  state->scope = static_cast<const Label*>(outer_scope_);
}

void SetMemoryScope(const std::string& scope) {
  if (ThreadState* state = Local()) state->scope = scope.empty() ? nullptr : Intern("memory", scope);
}

// ---- the program's own

class Object {
 public:
  Object(ObjectKind k, const Label* l) : kind(k), label(l) {}
  const ObjectKind kind;
  const Label* const label;
  std::atomic<int64_t> begin{0};  // 0: not started
  std::atomic<uint64_t> value{0};
};

namespace {
std::atomic<uint64_t> next_use{1};

bool Recording() { return Decided() & kUser; }
}  // namespace

Object* NewObject(ObjectKind kind, const std::string& domain, const std::string& name) {
  const std::string category = kind == ObjectKind::kEvent ? "event" : kind == ObjectKind::kFrame ? domain + ",frame" : domain;
  return new Object(kind, Intern(category, name));
}

void DeleteObject(Object* object) { delete object; }

void Start(Object* object) {
  if (Recording()) object->begin.store(Now(), std::memory_order_relaxed);
}

void Stop(Object* object) {
  const int64_t begin = object->begin.exchange(0, std::memory_order_relaxed);
  if (begin == 0 || !Recording()) return;
  const Type type = object->kind == ObjectKind::kTask ? Type::kTask : object->kind == ObjectKind::kFrame ? Type::kFrame : Type::kEvent;
  Event e = Base(type, begin, Now(), object->label);
  e.id = next_use.fetch_add(1, std::memory_order_relaxed);
  Record(e);
}

static void RecordCounter(const Object* object, uint64_t value) {
  if (!Recording()) return;
  const int64_t now = Now();
  Event e = Base(Type::kCounter, now, now, object->label);
  e.bytes = value;
  Record(e);
}

void SetCounter(Object* object, uint64_t value) {
  object->value.store(value, std::memory_order_relaxed);
  RecordCounter(object, value);
}

void AdjustCounter(Object* object, int64_t by) {
  RecordCounter(object, object->value.fetch_add(static_cast<uint64_t>(by), std::memory_order_relaxed) + static_cast<uint64_t>(by));
}

void Mark(const std::string& domain, const std::string& name, const std::string& scope) {
  for (uint8_t i = 0; i < 5; ++i) {
    if (scope != kMarkerScopes[i]) continue;
    if (!Recording()) return;
    const int64_t now = Now();
    Event e = Base(Type::kMarker, now, now, Intern(domain + ",instant_marker", name));
    e.scope = i;
    return Record(e);
  }
  MXNET_THROW(Value) << "[profiler] a marker's scope '" << scope << "'; accepted: global, process, thread, task, marker";
}

}  // namespace profiler
}  // namespace mxnet
