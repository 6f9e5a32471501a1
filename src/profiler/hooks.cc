// The slow halves of the hooks: something is recorded, or nobody has decided yet whether something
// is.
#include <unordered_map>

#include "base/ran.h"
#include "mxnet/profiler.h"
#include "profiler/called_for.h"
#include "profiler/gpu_spans.h"
#include "profiler/recorder.h"
#include "profiler/session.h"

namespace mxnet {
namespace profiler {

std::atomic<uint32_t> active{kUndecided};

namespace {

constexpr uint8_t kOpenOp = 10;  // of Open::kind, behind those of NameScope

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

namespace {
/* Whether one of the flags is wanted; else the operator is only counted. */
bool Opens(uint32_t flags, uint32_t wanted) {
  ThreadState* state = flags == 0 ? nullptr : Local();
  if (state == nullptr) return false;
  if (flags & wanted) return true;
  ++state->seen;
  return false;
}
}  // namespace

bool OpensEager(const RunContext& run) {
  const uint32_t flags = Decided();
  if (flags == 0 || (run.ctx.is_gpu() && !HasDeviceTimes(run))) return false;
  return Opens(flags, kImperative | kMemory);
}

bool OpensNode() { return Opens(Decided(), kSymbolic | kMemory); }

void OpenOp(Open* open, const OpInfo* info, uint32_t what, const RunContext& run) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  const uint32_t flags = Active();
  const bool record = flags & what;
  ++state->seen;
  open->kind = kOpenOp;
  const bool device = record && HasDeviceTimes(run);
  open->span = device ? BeginOnDevice(run) : nullptr;
  open->record = record && (!device || open->span);
  open->what = info;
  open->outer_label = state->label;
  if (flags & kMemory) state->label = Combine(*state, LabelOf(info));
  open->begin = Now();
}

void CloseOp(Open* open, const RanParts& ran) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  const int64_t now = Now();
  state->label = static_cast<const Label*>(open->outer_label);
  Event e = Base(Type::kOp, open->begin, now, open->what);
  e.id = reinterpret_cast<uintptr_t>(state->called_for);
  if (open->span) e.dev_type = static_cast<int16_t>(DeviceType::kGPU);
  if (ran.count > 0 || !open->span) e.total = reinterpret_cast<uintptr_t>(TextOfRan(ran));
  if (open->span)
    EndOnDevice(open->span, e);
  else if (open->record)
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
  e.id = type == Type::kWork ? reinterpret_cast<uintptr_t>(state->called_for) : static_cast<uint64_t>(count_);
  if (open_.span)
    EndOnDevice(open_.span, e);
  else if (open_.record)
    state->log->Append(e);
}

// ---- for whom

const Label* CalledForHere() {
  const ThreadState* state = Local();
  return state == nullptr ? nullptr : state->called_for;
}

void CalledForScope::Begin(const Label* who) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  open_ = true;
  outer_ = state->called_for;
  state->called_for = who;
}

void CalledForScope::Begin(const std::string& name, bool gradient) {
  Begin(Intern(kCustomOperator, gradient ? "_backward_" + name : name));
}

void CalledForScope::End() {
  if (ThreadState* state = Local()) state->called_for = outer_;
}

// ---- memory

MXNET_DLL bool DecideMemory() { return Decided() & kMemory; }

MXNET_DLL void RecordAlloc(const Context& ctx, const void* ptr, size_t bytes, size_t rounded, uint64_t used) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  Event e = Memory(Type::kAlloc, ctx, state->label != nullptr ? state->label : state->scope, used);
  e.id = reinterpret_cast<uintptr_t>(ptr);
  e.bytes = bytes;
  e.rounded = rounded;
  state->log->Append(e);
}

MXNET_DLL void RecordFree(const Context& ctx, const void* ptr, size_t rounded, uint64_t used) {
  Event e = Memory(Type::kFree, ctx, nullptr, used);
  e.id = reinterpret_cast<uintptr_t>(ptr);
  e.rounded = rounded;
  Record(e);
}

MXNET_DLL void RecordHeld(const Context& ctx, uint64_t held) { Record(Memory(Type::kHeld, ctx, nullptr, held)); }

MXNET_DLL void MemoryScope::Begin(const std::string& name) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  outer_label_ = state->label;
  outer_scope_ = state->scope;
  open_ = true;
  // As the scope it also holds for operators that are called meanwhile.
  state->scope = state->label = Combine(*state, Intern("memory", name));
}

MXNET_DLL void MemoryScope::Begin(OperatorName op) { Begin(op, ScopeHere()); }

MXNET_DLL void MemoryScope::Begin(OperatorName op, const void* scope) {
  ThreadState* state = Local();
  if (state == nullptr) return;
  static thread_local std::unordered_map<const std::string*, const Label*> known;
  const Label*& label = known[op.name];
  if (label == nullptr) label = Intern("operator", *op.name);
  outer_label_ = state->label;
  outer_scope_ = state->scope;
  open_ = true;
  state->scope = static_cast<const Label*>(scope);
  state->label = Combine(*state, label);
}

MXNET_DLL const void* MemoryScope::ScopeHere() {
  const ThreadState* state = Local();
  return state == nullptr ? nullptr : state->scope;
}

MXNET_DLL void MemoryScope::End() {
  ThreadState* state = Local();
  if (state == nullptr) return;
  state->label = static_cast<const Label*>(outer_label_);
  state->scope = static_cast<const Label*>(outer_scope_);
}

MXNET_DLL void SetMemoryScope(const std::string& scope) {
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

MXNET_DLL Object* NewObject(ObjectKind kind, const std::string& domain, const std::string& name) {
  const std::string category = kind == ObjectKind::kEvent ? "event" : kind == ObjectKind::kFrame ? domain + ",frame" : domain;
  return new Object(kind, Intern(category, name));
}

MXNET_DLL void DeleteObject(Object* object) { delete object; }

MXNET_DLL void Start(Object* object) {
  if (Recording()) object->begin.store(Now(), std::memory_order_relaxed);
}

MXNET_DLL void Stop(Object* object) {
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

MXNET_DLL void SetCounter(Object* object, uint64_t value) {
  object->value.store(value, std::memory_order_relaxed);
  RecordCounter(object, value);
}

MXNET_DLL void AdjustCounter(Object* object, int64_t by) {
  RecordCounter(object, object->value.fetch_add(static_cast<uint64_t>(by), std::memory_order_relaxed) + static_cast<uint64_t>(by));
}

MXNET_DLL void Mark(const std::string& domain, const std::string& name, const std::string& scope) {
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
