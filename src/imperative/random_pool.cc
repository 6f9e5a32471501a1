// Generators of random numbers by context, and their seeds.
#include "imperative/random_pool.h"

#include "mxnet/env.h"
#include "ndarray/run.h"

namespace mxnet {

namespace {

thread_local RandomPool* chosen = nullptr;

// Copy 0 has the user's seed itself; the others get streams that do not collide with it.
uint64_t SeedOf(uint64_t seed, Context ctx, size_t copy) {
  return seed ^ (static_cast<uint64_t>(ctx.dev_id) << 40) ^ (ctx.is_gpu() ? uint64_t{1} << 56 : 0) ^ (static_cast<uint64_t>(copy) << 48);
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
    const int copies = !several_ ? 1 : ctx.is_gpu() ? Env::Get().gpu_parallel_rand_copy : Env::Get().cpu_parallel_rand_copy;
    for (int i = 0; i < copies; ++i) {
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

Imperative::RandomResource* Imperative::Random(Context ctx) { return RandomPool::Current()->Next(ctx); }

void Imperative::Seed(uint64_t seed) { RandomPool::Global()->Seed(seed); }

void Imperative::SeedContext(uint64_t seed, Context ctx) { RandomPool::Global()->SeedContext(seed, ctx); }

}  // namespace mxnet
