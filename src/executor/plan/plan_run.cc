// Running a plan: binding pointers, executing bulks, going through the engine once per bulk.
#include <algorithm>
#include <cstring>

#include "base/borrowed_team.h"
#include "base/device_interface.h"
#include "base/float_mode.h"
#include "executor/plan/callers.h"
#include "executor/plan/cuda_graphs.h"
#include "executor/plan/graph_places.h"
#include "executor/plan/monitor_names.h"
#include "executor/plan/plan.h"
#include "executor/plan/plan_constants.h"
#include "executor/plan/plan_workspace.h"
#include "imperative/own_thread.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "ndarray/run.h"
#include "operator/matrix/to_layout.h"
#include "operator/op_scope.h"
#include "operator/random/gpu_random.h"
#include "operator/runtime/call_states.h"
#include "storage/device_memory.h"

namespace mxnet {
namespace {

void SortUnique(std::vector<Var*>* v) {
  std::sort(v->begin(), v->end());
  v->erase(std::unique(v->begin(), v->end()), v->end());
}

}  // namespace

void CopyBlob(const TBlob& from, const TBlob& to, RunContext run) {
  const size_t bytes = to.Bytes();
  if (bytes == 0) return;
  if (from.ctx.is_gpu() || to.ctx.is_gpu()) {
    MXNET_CHECK(GpuInterface().copies) << "[plan] this build has no GPU support";
    GpuInterface().copies->copy(to.dptr, to.ctx, from.dptr, from.ctx, bytes, run.stream);
  } else {
    ConvertLayout(from, to);
  }
}

Arena::Arena(Context c) : var(engine::NewWorkspaceVariable(Engine::Get())), ctx(c) {}

Arena::~Arena() {
  StorageHandle block = handle;
  Engine::Get()->DeleteVariable([block](RunContext) { storage::FreeWithVariable(block); }, ctx.execution(), var);
}

PlanInstance::PlanInstance(std::shared_ptr<const Plan> plan, std::shared_ptr<Arena> arena)
    : plan_(std::move(plan)), arena_(std::move(arena)) {
  const Plan& p = *plan_;
  blobs_.reserve(p.blobs.size());
  for (const auto& b : p.blobs) blobs_.push_back(b.shape);
  states_.resize(p.nodes.size());
  profiled_.assign(p.nodes.size(), nullptr);
  bound_.assign(p.num_slots(), nullptr);
  versions_.assign(p.blobs.size(), 0);
  seen_.resize(p.num_inputs);
  args_.resize(p.nodes.size());
  for (size_t t = 0; t < p.nodes.size(); ++t) {
    const Plan::Node& n = p.nodes[t];
    KernelArgs& a = args_[t];
    a.attrs = n.attrs.get();
    a.in = Span<const TBlob>(blobs_.data() + n.in, n.num_in);
    a.out = Span<const TBlob>(blobs_.data() + n.out, n.num_out);
    a.req = Span<const OpReq>(p.reqs.data() + n.req, n.num_out);
    a.in_versions = Span<const uint64_t>(versions_.data() + n.in, n.num_in);
    a.is_train = p.is_train;
    a.state = &states_[t];
    a.workspace = [this](size_t bytes) { return workspace_->Get(bytes); };
  }
  MakeStates();
}

// Of nodes that run elsewhere, or hold graphs with such nodes. A gradient's node has the
// parameters, and the state, of the node that it belongs to.
void PlanInstance::MakeStates() {
  const Plan& p = *plan_;
  if (!p.forward.elsewhere && !p.backward.elsewhere) return;
  const auto calls = std::make_shared<CallStates>();
  for (size_t t = 0; t < p.nodes.size(); ++t) {
    const Plan::Node& n = p.nodes[t];
    try {
      if (n.elsewhere) states_[t] = calls->Of(*n.attrs, p.ctx, args_[t].in, {});
      if (n.alone) states_[t] = NewCallScope(*n.attrs, calls);
    } catch (const Error& e) {
      throw Error(e.kind(), std::string(e.what()) + " (node " + n.name + ")");
    }
  }
}

void Arena::Reserve(size_t bytes) {
  size_t now = reserved.load();
  while (now < bytes && !reserved.compare_exchange_weak(now, bytes)) {
  }
}

PlanInstance::~PlanInstance() {
  if (constants_.dptr || graph_draws_.dptr || graph_places_) storage::FinishDevice(plan_->ctx);
  Storage::Get()->Free(constants_);
  Storage::Get()->Free(graph_draws_);
}

bool PlanInstance::UpToDate(int node) {
  const Plan::Node& n = plan_->nodes[node];
  bool same = folded_[n.out] == 1;  // computed at all
  folded_[n.out] = 1;
  for (int b = n.in; b < n.in + n.num_in; ++b) same = same && folded_[b] == versions_[b];
  if (same) return true;
  for (int b = n.in; b < n.in + n.num_in; ++b) folded_[b] = versions_[b];
  ++changes_;
  for (int b : plan_->constant_readers[node]) versions_[b] = changes_;
  return false;
}

void PlanInstance::Bind(PlanCall* call, RunContext run, bool graphs) {
  const Plan& p = *plan_;
  if (graphs && !graph_places_) graph_places_ = std::make_unique<GraphPlaces>(p);
  for (int s = 0; s < p.num_slots(); ++s) {
    if (p.slot_blobs[s].empty() || call->arrays[s].is_none()) continue;
    const NDArray& array = call->arrays[s];
    AllocateOn(array.chunk(), run);
    void *lies = array.data().dptr, *dptr = graphs ? graph_places_->PlaceOf(s, lies) : lies;
    if (s < p.num_inputs && !p.per_call[s]) {
      Seen& seen = seen_[s];
      const uint64_t version = array.version();
      if (seen.array.is_none() || seen.array.chunk() != array.chunk() || lies != seen.at || dptr != bound_[s] || seen.version != version) {
        seen.array = array.Detach();
        seen.version = version;
        seen.at = lies;
        ++changes_;
        for (int b : p.slot_blobs[s]) versions_[b] = changes_;
      }
    } else {
      ++changes_;
      for (int b : p.slot_blobs[s]) versions_[b] = changes_;
    }
    if (dptr == bound_[s]) continue;
    bound_[s] = dptr;
    for (int b : p.slot_blobs[s]) blobs_[b].dptr = dptr;
  }
  if (p.constant_bytes && !constants_.dptr) {
    profiler::MemoryScope memory("plan constants");
    constants_ = Storage::Get()->Alloc(p.constant_bytes, run.ctx);
    folded_.assign(p.blobs.size(), 0);
    for (int b : p.constant_blobs) blobs_[b].dptr = static_cast<char*>(constants_.dptr) + p.blobs[b].offset;
    if (!run.ctx.is_gpu()) {
      constant_pieces_.reset(
          new PlanConstants(p, static_cast<char*>(constants_.dptr), [this](int node) { (*plan_->nodes[node].kernel)(args_[node]); }));
      for (KernelArgs& a : args_) a.plan_weights = constant_pieces_.get();
    }
  }
  if (p.memory.arena_bytes == 0) return;
  ++changes_;
  for (int b : p.arena_blobs) versions_[b] = changes_;
  if (arena_->handle.size < p.memory.arena_bytes) {
    storage::FreeOnStream(arena_->handle, run);
    arena_->handle = StorageHandle();
    profiler::MemoryScope memory("plan arena");
    arena_->handle = Storage::Get()->Alloc(std::max(p.memory.arena_bytes, arena_->reserved.load()), run.ctx);
  }
  if (arena_->handle.dptr == bound_arena_) return;
  bound_arena_ = arena_->handle.dptr;
  for (int b : p.arena_blobs) blobs_[b].dptr = static_cast<char*>(bound_arena_) + p.blobs[b].offset;
}

void PlanInstance::NextMicroBatch(const Plan::Loop& loop, int micro_batches) {
  for (int b : loop.moving) blobs_[b].dptr = static_cast<char*>(blobs_[b].dptr) + micro_batches * static_cast<int64_t>(blobs_[b].Bytes());
  ++changes_;
  for (int b : loop.data) versions_[b] = changes_;
}

void PlanInstance::Execute(PlanCall* call, int begin, int end, const RunContext& run, PlanWorkspace* workspace) {
  for (int t = begin; t < end;) {
    const int index = plan_->nodes[t].loop;
    if (index < 0) {
      const int first = t;
      while (t < end && plan_->nodes[t].loop < 0) ++t;
      ExecuteNodes(call, first, t, run, workspace);
      continue;
    }
    const Plan::Loop& loop = plan_->loops[index];
    if (t == loop.begin) {
      struct Back {  // also when a kernel throws: pointers are kept from run to run
        PlanInstance* self;
        const Plan::Loop& loop;
        int micro_batches;
        ~Back() { self->NextMicroBatch(loop, -micro_batches); }
      } back{this, loop, 0};
      for (; back.micro_batches < loop.micro_batches; ++back.micro_batches) {
        ExecuteNodes(call, loop.begin, loop.end, run, workspace);
        NextMicroBatch(loop, 1);
      }
    }
    t = loop.end;
  }
}

void PlanInstance::ExecuteNodes(PlanCall* call, int begin, int end, const RunContext& run, PlanWorkspace* workspace) {
  const Plan& p = *plan_;
  workspace_ = workspace;
  int t = begin;
  // A constant node whose kernel throws has no result: the next run tries again and fails again.
  struct Failed {
    PlanInstance* self;
    int node = -1;
    ~Failed() {
      if (node >= 0) self->folded_[self->plan_->nodes[node].out] = 0;
    }
  } failed{this};
  try {
    for (; t < end; ++t) {
      if (p.nodes[t].constant) {
        if (UpToDate(t)) continue;
        failed.node = t;
      }
      KernelArgs& a = args_[t];
      a.run = run;
      if (p.nodes[t].attrs->op->uses_random)
        a.random = call->repeats ? &replay_random_ : OwnsRandom(t) ? &call->own_random[IsBackward(t)].state : &call->random->state;
      workspace->Begin(run);
      profiler::OpScope profiled(&profiled_[t], *p.nodes[t].attrs, a.in, a.out, p.nodes[t].name, run);
      (*p.nodes[t].kernel)(a);
      if (p.nodes[t].constant && constant_pieces_) constant_pieces_->Computed(t);
      failed.node = -1;
    }
  } catch (const Error& e) {
    throw Error(e.kind(), std::string(e.what()) + " (node " + p.nodes[t].name + ")");
  }
}

void PlanInstance::StartNode(int t, const RunContext& run, OnComplete done) {
  const Plan::Node& n = plan_->nodes[t];
  KernelArgs& a = args_[t];
  a.run = run;
  try {
    n.elsewhere->start(a, states_[t], done);
  } catch (const Error& e) {
    throw Error(e.kind(), std::string(e.what()) + " (node " + n.name + ")");
  }
}

void PlanInstance::ExecuteGraphs(PlanCall* call, const Plan::Bulk& phase, RunContext run) {
  const Plan& p = *plan_;
  const int begin = phase.begin, end = phase.end;
  if (!graphs_) {
    graphs_ = std::make_unique<DeviceGraphs>(static_cast<int>(p.nodes.size()), run.ctx.dev_id, p.is_train);
    graph_workspace_ = std::make_unique<PlanWorkspace>(true);
  }
  PlanWorkspace* const workspace = graph_workspace_.get();
  // Constants are computed first; in their places they then have nothing to do, and segments need
  // not end there.
  for (int t = begin; t < end; ++t)
    if (p.nodes[t].constant) ExecuteNodes(call, t, t + 1, run, workspace);
  DeviceGraphs::Work work;
  work.context = run;
  const bool draws = (begin == p.forward.begin ? p.forward : p.backward).whole.random;
  if (draws) {
    if (!graph_draws_.dptr) graph_draws_ = Storage::Get()->Alloc(2 * sizeof(uint64_t), run.ctx);
    uint64_t* place = static_cast<uint64_t*>(graph_draws_.dptr);
    work.random = call->repeats ? &replay_random_ : &call->random->state;
    work.draws = place;
    work.begin_draws = [run, place](uint64_t seed, uint64_t counter) { BeginDraws(run, place, seed, counter); };
  }
  work.run = [&](int t, const RunContext& watched) {
    const CaptureState& capture = *watched.capture;
    const uint64_t waits = capture.host_waits, replayable = capture.replayable, before = draws ? work.random->Take(0) : 0;
    ExecuteNodes(call, t, t + 1, watched, workspace);
    // Numbers that kernels do not draw by themselves would be the same in every replay.
    const uint64_t drawn = draws ? work.random->Take(0) - before : 0;
    return drawn == capture.replayable - replayable && waits == capture.host_waits;
  };
  work.addresses = [&](int first, int last, DeviceGraphs::Key* key) {
    for (int t = first; t < last; ++t) {
      const Plan::Node& n = p.nodes[t];
      for (int b = n.in; b < n.in + n.num_in; ++b) key->push_back(blobs_[b].dptr);
      for (int b = n.out; b < n.out + n.num_out; ++b) key->push_back(blobs_[b].dptr);
    }
  };
  work.name = [&](int t) { return p.nodes[t].name; };
  graph_places_->CopyIn(*call, phase, run);
  graphs_->Run(begin, end, work);
  graph_places_->CopyOut(*call, phase, run);
  if (graphs_->TakeRestless()) graph_places_->Settle(run);  // for the next call: it binds the places
}

/* `continues`: it reads what an earlier part of the call left in the arena. Returns how many of
 * `writes`, its first ones, are changed rather than replaced. */
int PlanInstance::CollectVars(const PlanCall& call, const Plan::Bulk& bulk, bool continues, std::vector<Var*>* reads,
                              std::vector<Var*>* writes) const {
  std::vector<Var*> kept;
  reads->clear();
  writes->clear();
  const auto add = [&call](int s, std::vector<Var*>* to) {
    if (!call.arrays[s].is_none()) to->push_back(call.arrays[s].var());
  };
  for (int s : bulk.write_slots) add(s, writes);
  writes->push_back(arena_->var);
  const bool draws = bulk.random && !call.repeats, own = OwnsRandom(bulk.begin);
  if (draws && !own) writes->push_back(call.random->var);
  if (draws && own) reads->push_back(call.own_random[IsBackward(bulk.begin)].taken.var());
  SortUnique(writes);
  for (int s : bulk.kept_slots) add(s, &kept);
  if (continues) kept.push_back(arena_->var);
  for (int s : bulk.read_slots) add(s, reads);
  SortUnique(reads);
  // An array that is both read and written, as two of the caller's.
  const auto written = [writes](Var* v) { return std::binary_search(writes->begin(), writes->end(), v); };
  std::copy_if(reads->begin(), reads->end(), std::back_inserter(kept), written);
  reads->erase(std::remove_if(reads->begin(), reads->end(), written), reads->end());
  SortUnique(&kept);
  std::stable_partition(writes->begin(), writes->end(), [&kept](Var* v) { return std::binary_search(kept.begin(), kept.end(), v); });
  return static_cast<int>(kept.size());
}

void PlanInstance::Push(std::function<void(RunContext)> fn, std::vector<Var*> reads, std::vector<Var*> writes, int num_kept,
                        const char* name, bool alone) const {
  reads.insert(reads.end(), writes.begin(), writes.begin() + num_kept);
  const Context where = plan_->ctx.execution();
  if (alone || ((plan_->forward.meets || plan_->backward.meets) && !where.is_gpu()))
    return PushOnOwnThread(std::move(fn), where, std::move(reads), std::move(writes), name);
  Engine::Get()->PushSync(std::move(fn), where, std::move(reads), std::move(writes), FnProperty::kNormal, 0, name);
}

void PlanInstance::PushElsewhere(std::function<void(RunContext)> before, const std::shared_ptr<PlanCall>& call, int node,
                                 std::vector<Var*> reads, std::vector<Var*> writes, int num_kept, const char* name) {
  reads.insert(reads.end(), writes.begin(), writes.begin() + num_kept);
  // The closure keeps what the node computes on until it is done.
  Engine::Get()->PushAsync(
      [self = shared_from_this(), before = std::move(before), call, node](RunContext run, OnComplete done) {
        if (before) before(run);
        self->StartNode(node, run, done);
      },
      plan_->ctx.execution(), std::move(reads), std::move(writes), FnProperty::kAsync, 0, name);
}

void PlanInstance::BeginForward(PlanCall* call) {
  if (call->repeats)
    replay_random_ = call->repeats->random_start;
  else if (call->random)
    call->random_start = plan_->forward.own_random ? call->own_random[0].state : call->random->state;
}

void PlanInstance::TakeRandom(const std::shared_ptr<PlanCall>& call, bool backward) {
  const Plan::Phase& phase = backward ? plan_->backward : plan_->forward;
  if (!phase.whole.random || call->repeats) return;
  if (!call->random) call->random = Imperative::Random(plan_->ctx);
  if (!phase.own_random) return;
  // Waits for nothing but the device's numbers: operators that run may be waiting for those, too.
  call->own_random[backward].taken = NDArray(Shape{1}, Context::CPU(), kUint8, true);
  Engine::Get()->PushSync([call, backward](RunContext) { call->own_random[backward].state = SplitRandom(&call->random->state); },
                          plan_->ctx.execution(), {call->random->var}, {call->random->var, call->own_random[backward].taken.var()},
                          FnProperty::kNormal, 0, "split_random");
}

void PlanInstance::Run(const std::shared_ptr<PlanCall>& call, bool backward) {
  const Plan::Phase& phase = backward ? plan_->backward : plan_->forward;
  if (phase.begin == phase.end) return;
  TakeRandom(call, backward);
  Engine* engine = Engine::Get();
  const Context where = plan_->ctx.execution();
  const bool free_after = backward ? call->free_after_backward : call->free_after_forward;
  const char* name = backward ? "backward" : "forward";
  // While nodes are recorded they run one by one: a graph shows none.
  const bool graphs = call->graphs && where.is_gpu() && Env::Get().enable_cuda_graphs && GpuInterface().graphs.get() &&
                      plan_->loops.empty() && !phase.elsewhere && !(profiler::Active() & profiler::kSymbolic);
  auto run_bulk = [call, backward, free_after, name, graphs](PlanInstance* self, const Plan::Bulk& bulk, bool first, bool last,
                                                             RunContext run) {
    profiler::NameScope profiled(profiler::NameScope::kPlanBulk, name, bulk.end - bulk.begin, &run);
    if (first && !backward) self->BeginForward(call.get());
    // another call may have used the instance since the previous bulk only if the phase is new
    if (first) self->Bind(call.get(), run, graphs);
    if (graphs) {
      self->ExecuteGraphs(call.get(), bulk, run);
    } else {
      PlanWorkspace& workspace = PlanWorkspace::OfThread();
      self->Execute(call.get(), bulk.begin, bulk.end, run, &workspace);
      workspace.End();
    }
    if (last && free_after) {
      storage::FreeOnStream(self->arena_->handle, run);
      self->arena_->handle = StorageHandle();
      self->bound_arena_ = nullptr;
    }
  };
  std::vector<Var*> reads, writes;
  const bool waits = phase.elsewhere || phase.meets;
  if ((phase.cost < kInlineNanoseconds || call->on_caller) && !where.is_gpu() && !waits) {
    const int num_kept = CollectVars(*call, phase.whole, backward, &reads, &writes);
    if (engine->TryAcquire(reads.data(), static_cast<int>(reads.size()), writes.data(), static_cast<int>(writes.size()))) {
      std::exception_ptr error;
      RunContext run;
      run.ctx = where;
      FloatModeScope float_mode;
      try {
        if (call->on_caller) {
          CallerScope share;
          run_bulk(this, phase.whole, true, true, run);
        } else {
          const BorrowedTeam team;
          run_bulk(this, phase.whole, true, true, run);
        }
      } catch (...) {
        error = std::current_exception();
      }
      engine::ReleaseChanged(engine, reads.data(), static_cast<int>(reads.size()), writes.data(), static_cast<int>(writes.size()), num_kept,
                             error, name);
      return;
    }
  }
  auto self = shared_from_this();
  const size_t bulks = graphs ? 1 : phase.bulks.size();
  for (size_t b = 0; b < bulks; ++b) {
    const Plan::Bulk* bulk = graphs ? &phase.whole : &phase.bulks[b];  // belongs to the plan, which `self` keeps
    const bool first = b == 0, last = b + 1 == bulks;
    const int num_kept = CollectVars(*call, *bulk, backward || !first, &reads, &writes);
    if (bulk->elsewhere) {
      std::function<void(RunContext)> before;
      if (first)
        before = [self, call, backward](RunContext run) {
          if (!backward) self->BeginForward(call.get());
          self->Bind(call.get(), run);
        };
      PushElsewhere(std::move(before), call, bulk->begin, reads, writes, num_kept, self->plan_->nodes[bulk->begin].attrs->op->name.c_str());
      if (last && free_after) FreeArenaLater();
      continue;
    }
    Push([self, run_bulk, bulk, first, last](RunContext run) { run_bulk(self.get(), *bulk, first, last, run); }, reads, writes, num_kept,
         name, bulk->alone);
  }
}

void PlanInstance::RunStep(const std::shared_ptr<PlanCall>& call, int step) {
  const Plan::Phase& phase = plan_->forward;
  if (step == 0) TakeRandom(call, false);
  std::vector<Var*> reads, writes;
  const int num_kept = CollectVars(*call, phase.whole, step > 0, &reads, &writes);
  auto self = shared_from_this();
  if (phase.elsewhere && plan_->nodes[step].elsewhere) {
    const auto before = [self, call, step](RunContext run) {
      if (step == 0) self->BeginForward(call.get());
      self->Bind(call.get(), run);
    };
    return PushElsewhere(before, call, step, reads, writes, num_kept, "forward step");
  }
  Push(
      [self, call, step](RunContext run) {
        if (step == 0) self->BeginForward(call.get());
        self->Bind(call.get(), run);
        self->Execute(call.get(), step, step + 1, run, &PlanWorkspace::OfThread());
      },
      reads, writes, num_kept, "forward step", plan_->nodes[step].alone);
}

void PlanInstance::RunMonitored(const std::shared_ptr<PlanCall>& call, bool backward, const Monitor& monitor) {
  const Plan& p = *plan_;
  const Plan::Phase& phase = backward ? p.backward : p.forward;
  if (phase.begin == phase.end) return;
  TakeRandom(call, backward);
  auto self = shared_from_this();
  const std::vector<std::string> variables = p.optimized.ListInputNames(Symbol::kAll);  // such plans keep all of them
  for (int t = phase.begin; t < phase.end; ++t) {
    const Plan::Node& n = p.nodes[t];
    Plan::Bulk all_slots = phase.whole;  // one node at a time; what it may touch is a part of this
    all_slots.begin = t;
    all_slots.end = t + 1;
    std::vector<Var*> reads, writes;
    const bool first = t == phase.begin;
    const int num_kept = CollectVars(*call, all_slots, backward || !first, &reads, &writes);
    std::vector<std::pair<std::string, NDArray>> shown;
    std::vector<int> blobs;
    size_t inputs_shown = 0;
    for (const ShownValue& v : ShownBy(p, variables, t, backward, monitor.numbers_outputs)) {
      if (v.is_input && !monitor.all) continue;
      shown.emplace_back(v.name, NDArray(p.blobs[v.blob].shape.shape, Context::CPU(), p.blobs[v.blob].shape.dtype));
      blobs.push_back(v.is_zero ? -1 : v.blob);
      inputs_shown += v.is_input;
    }
    for (auto& s : shown) writes.push_back(s.second.var());
    const auto copy = [self, shown, blobs](size_t i, RunContext run) {
      if (blobs[i] < 0) {
        const TBlob zero = shown[i].second.data();
        std::memset(zero.dptr, 0, static_cast<size_t>(zero.shape.Size()) * DTypeSize(zero.dtype));
        return;
      }
      const TBlob from = self->blobs_[blobs[i]];
      if (self->constant_pieces_) self->constant_pieces_->Need(from.dptr);
      CopyBlob(from, shown[i].second.data(), run);
    };
    const auto before = [self, call, first, backward, copy, blobs, inputs_shown](RunContext run) {
      if (first && !backward) self->BeginForward(call.get());
      if (first) self->Bind(call.get(), run);
      for (size_t i = 0; i < inputs_shown; ++i)
        if (self->blobs_[blobs[i]].dptr) copy(i, run);
    };
    const auto after = [copy, inputs_shown, count = blobs.size()](RunContext run) {
      for (size_t i = inputs_shown; i < count; ++i) copy(i, run);
    };
    if (n.elsewhere) {
      PushElsewhere(before, call, t, reads, writes, num_kept, "monitor");
      Push(after, reads, writes, static_cast<int>(writes.size()), "monitor");
    } else {
      Push(
          [self, call, t, before, after](RunContext run) {
            before(run);
            self->Execute(call.get(), t, t + 1, run, &PlanWorkspace::OfThread());
            after(run);
          },
          reads, writes, num_kept, "monitor", n.alone);
    }
    for (auto& s : shown) {
      s.second.WaitToRead();
      monitor.fn(s.first.c_str(), n.attrs->op->name.c_str(), s.second);
    }
  }
}

void PlanInstance::FreeArenaLater() {
  auto self = shared_from_this();
  Engine::Get()->PushSync(
      [self](RunContext run) {
        storage::FreeOnStream(self->arena_->handle, run);
        self->arena_->handle = StorageHandle();
        self->bound_arena_ = nullptr;
      },
      plan_->ctx.execution(), {}, {arena_->var}, FnProperty::kNormal, 0, "free_arena");
}

}  // namespace mxnet
