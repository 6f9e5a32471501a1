// Generators of random numbers by context, and their seeds.
#include "imperative/random_pool.h"

#include <utility>

#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "ndarray/run.h"

namespace mxnet {

namespace {

thread_local RandomPool* chosen = nullptr;

// Copy 0 has the user's seed itself; the others get streams that do not collide with it.
uint64_t SeedOf(uint64_t seed, Context ctx, size_t copy) {
  return seed ^ (static_cast<uint64_t>(ctx.dev_id) << 40) ^ (ctx.is_gpu() ? uint64_t{1} << 56 : 0) ^ (static_cast<uint64_t>(copy) << 48);
}

size_t SequencesOf(Context ctx, bool several) {
  return !several ? 1 : static_cast<size_t>(ctx.is_gpu() ? Env::Get().gpu_parallel_rand_copy : Env::Get().cpu_parallel_rand_copy);
}

template <typename Fn>
void PushOn(Imperative::RandomResource* r, Fn&& fn, const char* name) {
  Var* var = r->var;
  RunOrPush(std::forward<Fn>(fn), Context::CPU(), Span<Var* const>(), Span<Var* const>(&var, 1), true, FnProperty::kNormal, 0, name);
}

}  // namespace

RandomPool::~RandomPool() {
  if (chosen == this) chosen = nullptr;
  for (auto& kv : by_context_)
    for (auto& item : kv.second.items) {
      Imperative::RandomResource* r = item.release();
      Engine::Get()->DeleteVariable([r](RunContext) { delete r; }, Context::CPU(), r->var);
    }
}

RandomPool* RandomPool::Global() {
  static RandomPool* pool = new RandomPool();  // outlives every array
  return pool;
}

RandomPool* RandomPool::Current() { return chosen ? chosen : Global(); }

RandomPool* RandomPool::Choose(RandomPool* pool) {
  RandomPool* before = chosen;
  chosen = pool;
  return before;
}

RandomPool::PerContext& RandomPool::At(Context ctx) {
  PerContext& p = by_context_[ctx];
  if (p.items.empty()) {
    for (size_t i = 0; i < SequencesOf(ctx, several_); ++i) {
      p.items.emplace_back(new Imperative::RandomResource());
      p.items.back()->state.Seed(SeedOf(seed_, ctx, i));
      p.items.back()->var = Engine::Get()->NewVariable();
    }
  }
  return p;
}

void RandomPool::SeedOne(uint64_t seed, Context ctx) {
  PerContext& p = At(ctx);
  p.next = 0;
  for (size_t i = 0; i < p.items.size(); ++i) {
    Imperative::RandomResource* r = p.items[i].get();
    const uint64_t value = SeedOf(seed, ctx, i);
    PushOn(
        r, [r, value](RunContext) { r->state.Seed(value); }, "seed");
  }
}

Imperative::RandomResource* RandomPool::Next(Context ctx) {
  std::lock_guard<ForkMutex> lock(mutex_);
  PerContext& p = At(ctx.execution());
  return p.items[p.next++ % p.items.size()].get();
}

void RandomPool::Seed(uint64_t seed) {
  std::lock_guard<ForkMutex> lock(mutex_);
  seed_ = seed;
  for (auto& kv : by_context_) SeedOne(seed, kv.first);
}

void RandomPool::SeedContext(uint64_t seed, Context ctx) {
  std::lock_guard<ForkMutex> lock(mutex_);
  SeedOne(seed, ctx.execution());
}

uint64_t RandomPool::Position(Context ctx) {
  Imperative::RandomResource* r = nullptr;
  {
    std::lock_guard<ForkMutex> lock(mutex_);
    r = At(ctx.execution()).items[0].get();
  }
  Engine::Get()->WaitForVar(r->var);
  return RandomState(r->state).Take(0);
}

void RandomPool::SetPosition(Context ctx, uint64_t counters) {
  std::lock_guard<ForkMutex> lock(mutex_);
  Imperative::RandomResource* r = At(ctx.execution()).items[0].get();
  PushOn(
      r,
      [r, counters](RunContext) {
        r->state.Seed(r->state.seed());
        r->state.Take(counters);
      },
      "set_position");
}

// The seed, the number of contexts, and for each of them its type, number, next sequence, number of
// sequences, and the seed and the position of each sequence.
std::vector<uint64_t> RandomPool::State() {
  std::vector<uint64_t> state;
  std::vector<std::pair<size_t, Imperative::RandomResource*>> sequences;  // with their places in the state
  {
    std::lock_guard<ForkMutex> lock(mutex_);
    state = {seed_, by_context_.size()};
    for (auto& kv : by_context_) {
      const PerContext& p = kv.second;
      const size_t count = p.items.size();
      state.insert(state.end(), {static_cast<uint64_t>(kv.first.dev_type), static_cast<uint64_t>(kv.first.dev_id), p.next % count, count});
      for (const auto& item : p.items) {
        sequences.emplace_back(state.size(), item.get());
        state.resize(state.size() + 2);
      }
    }
  }
  for (const auto& sequence : sequences) {
    Imperative::RandomResource* r = sequence.second;
    Engine::Get()->WaitForVar(r->var);
    RandomState copy = r->state;
    state[sequence.first] = copy.seed();
    state[sequence.first + 1] = copy.Take(0);
  }
  return state;
}

namespace {

constexpr size_t kHead = 2, kOfContext = 4;  // words before the contexts, and before a context's sequences

// Whether the words are those of a state: contexts follow each other up to the end, each with as
// many sequences as it has here.
bool IsState(Span<const uint64_t> state, bool several) {
  if (static_cast<size_t>(state.size()) < kHead) return false;
  size_t at = kHead;
  for (uint64_t context = 0; context < state[1]; ++context) {
    if (state.size() - at < kOfContext) return false;
    const size_t sequences = SequencesOf(Context::Make(static_cast<int>(state[at]), static_cast<int>(state[at + 1])), several);
    if (state[at + 3] != sequences || state[at + 2] >= sequences) return false;
    at += kOfContext;
    if (state.size() - at < 2 * sequences) return false;
    at += 2 * sequences;
  }
  return at == static_cast<size_t>(state.size());
}

}  // namespace

void RandomPool::SetState(Span<const uint64_t> state) {
  MXNET_CHECK_KIND(IsState(state, several_), Value)
      << "[random] " << state.size() << " numbers that are no state here; accepted: those of MXRandomGetState, with the same "
      << "MXNET_CPU_PARALLEL_RAND_COPY and MXNET_GPU_PARALLEL_RAND_COPY";
  std::lock_guard<ForkMutex> lock(mutex_);
  seed_ = state[0];
  for (auto& kv : by_context_) SeedOne(seed_, kv.first);
  size_t at = kHead;
  for (uint64_t context = 0; context < state[1]; ++context) {
    const Context ctx = Context::Make(static_cast<int>(state[at]), static_cast<int>(state[at + 1]));
    PerContext& p = At(ctx);
    p.next = state[at + 2];
    at += kOfContext;
    for (auto& item : p.items) {
      Imperative::RandomResource* r = item.get();
      const uint64_t seed = state[at], position = state[at + 1];
      PushOn(
          r,
          [r, seed, position](RunContext) {
            r->state.Seed(seed);
            r->state.Take(position);
          },
          "set_state");
      at += 2;
    }
  }
}

Imperative::RandomResource* Imperative::Random(Context ctx) { return RandomPool::Current()->Next(ctx); }

void Imperative::Seed(uint64_t seed) { RandomPool::Global()->Seed(seed); }

void Imperative::SeedContext(uint64_t seed, Context ctx) { RandomPool::Global()->SeedContext(seed, ctx); }

}  // namespace mxnet
