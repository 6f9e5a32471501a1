// Random resources of eager operators: generators by context, and seeding.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/fork_guard.h"
#include "mxnet/env.h"
#include "mxnet/imperative.h"
#include "ndarray/run.h"

namespace mxnet {

namespace {

/* Random resources by execution context: several per device (MXNET_*_PARALLEL_RAND_COPY), used in
 * turn, so that random operators need not wait for each other. */
struct RandomPool {
  ForkMutex mutex{ForkLevel::kCaller};
  uint64_t seed = 0;
  struct PerContext {
    std::vector<std::unique_ptr<Imperative::RandomResource>> items;
    size_t next = 0;
  };
  std::map<Context, PerContext> by_context;
  static RandomPool* Get() {
    static RandomPool* pool = new RandomPool();  // outlives every array
    return pool;
  }
  // Copy 0 has the user's seed itself; the others get streams that do not collide with it.
  static uint64_t SeedOf(uint64_t seed, Context ctx, size_t copy) {
    return seed ^ (static_cast<uint64_t>(ctx.dev_id) << 40) ^ (ctx.is_gpu() ? uint64_t{1} << 56 : 0) ^ (static_cast<uint64_t>(copy) << 48);
  }
  PerContext& At(Context ctx) {
    PerContext& p = by_context[ctx];
    if (p.items.empty()) {
      const int copies = ctx.is_gpu() ? Env::Get().gpu_parallel_rand_copy : Env::Get().cpu_parallel_rand_copy;
      for (int i = 0; i < copies; ++i) {
        p.items.emplace_back(new Imperative::RandomResource());
        p.items.back()->state.Seed(SeedOf(seed, ctx, i));
        p.items.back()->var = Engine::Get()->NewVariable();
      }
    }
    return p;
  }
  void SeedOne(uint64_t seed, Context ctx) {
    PerContext& p = At(ctx);
    p.next = 0;
    for (size_t i = 0; i < p.items.size(); ++i) {
      Imperative::RandomResource* r = p.items[i].get();
      const uint64_t value = SeedOf(seed, ctx, i);
      Var* var = r->var;
      RunOrPush([r, value](RunContext) { r->state.Seed(value); }, Context::CPU(), Span<Var* const>(), Span<Var* const>(&var, 1), true,
                FnProperty::kNormal, 0, "seed");
    }
  }
};

}  // namespace

Imperative::RandomResource* Imperative::Random(Context ctx) {
  RandomPool* pool = RandomPool::Get();
  std::lock_guard<ForkMutex> lock(pool->mutex);
  auto& p = pool->At(ctx.execution());
  return p.items[p.next++ % p.items.size()].get();
}

void Imperative::Seed(uint64_t seed) {
  RandomPool* pool = RandomPool::Get();
  std::lock_guard<ForkMutex> lock(pool->mutex);
  pool->seed = seed;
  for (auto& kv : pool->by_context) pool->SeedOne(seed, kv.first);
}

void Imperative::SeedContext(uint64_t seed, Context ctx) {
  RandomPool* pool = RandomPool::Get();
  std::lock_guard<ForkMutex> lock(pool->mutex);
  pool->SeedOne(seed, ctx.execution());
}

}  // namespace mxnet
