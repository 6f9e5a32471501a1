/*
 * Generators of random numbers of operators: the library's own, which mx.random.seed restarts, and
 * others that a program makes. A thread chooses one of the others for the operators that it pushes.
 */
#ifndef MXNET_IMPERATIVE_RANDOM_POOL_H_
#define MXNET_IMPERATIVE_RANDOM_POOL_H_

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/threads/fork_guard.h"
#include "mxnet/imperative.h"

namespace mxnet {

/* Random resources by execution context. */
class RandomPool {
 public:
  RandomPool() = default;  // the library's own
  /* One that a program makes, with one sequence per context. */
  explicit RandomPool(uint64_t seed) : several_(false), seed_(seed) {}
  /* The numbers that are still being drawn are waited for by the engine. */
  ~RandomPool();
  RandomPool(const RandomPool&) = delete;
  RandomPool& operator=(const RandomPool&) = delete;

  static RandomPool* Global();
  /* The one that operators of this thread draw from. */
  static RandomPool* Current();
  /* Null: the library's own. Returns what was chosen before. */
  static RandomPool* Choose(RandomPool* pool);

  Imperative::RandomResource* Next(Context ctx);
  void Seed(uint64_t seed);
  void SeedContext(uint64_t seed, Context ctx);
  /* How many counters have been taken of the first sequence of a context, and that many taken
   * instead. */
  uint64_t Position(Context ctx);
  void SetPosition(Context ctx, uint64_t counters);
  /* Where all sequences stand, as numbers for SetState, which goes back there. Sequences that began
   * later begin anew. SetState throws Error(kValue) for numbers that State did not give. */
  std::vector<uint64_t> State();
  void SetState(Span<const uint64_t> state);

 private:
  struct PerContext {
    std::vector<std::unique_ptr<Imperative::RandomResource>> items;
    size_t next = 0;
  };
  PerContext& At(Context ctx);
  void SeedOne(uint64_t seed, Context ctx);

  ForkMutex mutex_{ForkLevel::kCaller};
  // Several sequences per context (MXNET_*_PARALLEL_RAND_COPY), used in turn, so that random
  // operators need not wait for each other.
  const bool several_ = true;
  uint64_t seed_ = 0;
  std::map<Context, PerContext> by_context_;
};

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_RANDOM_POOL_H_
