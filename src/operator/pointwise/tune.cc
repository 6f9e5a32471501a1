#include "operator/pointwise/tune.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sstream>
#include <string>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/pointwise/loops/convert.h"

namespace mxnet {
namespace pointwise {
namespace {

constexpr int64_t kSample = 512;                        // elements of a measurement
constexpr double kLeastWork = 20e3, kPerThread = 10e3;  // nanoseconds: a sleeping team needs that long to wake; no thread gets less

double Now() { return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The shortest of some runs: whatever else the machine does only makes a run longer.
template <typename F>
double Measure(F&& run) {
  run();  // caches and pages
  double best = 1e30;
  for (int i = 0; i < 4; ++i) {
    const double start = Now();
    run();
    best = std::min(best, Now() - start);
    if (best > 20e3 && i >= 1) break;
  }
  return best;
}

// Costs by key. Slots are taken and never given back; the number of loops is known to be smaller.
// Two threads may measure the same: either is right.
class Costs {
 public:
  template <typename F>
  double Get(uintptr_t key, F&& measure) {
    uintptr_t h = key * 0x9e3779b97f4a7c15u >> 40;
    for (size_t tries = 0; tries < kSlots; ++tries, ++h) {
      Slot& slot = slots_[h % kSlots];
      uintptr_t owner = slot.key.load(std::memory_order_acquire);
      if (owner == 0 && slot.key.compare_exchange_strong(owner, key)) owner = key;
      if (owner != key) continue;
      float cost = slot.cost.load(std::memory_order_relaxed);
      if (cost < 0) slot.cost.store(cost = static_cast<float>(measure()), std::memory_order_relaxed);
      return static_cast<double>(cost);
    }
    return measure();
  }

 private:
  static constexpr size_t kSlots = 4096;
  struct Slot {
    std::atomic<uintptr_t> key{0};
    std::atomic<float> cost{-1};
  };
  Slot slots_[kSlots];
};

Costs& Table() {
  static Costs* costs = new Costs;
  return *costs;
}

// Numbers between 1/2 and 3/2 (integers: 1 to 8): ordinary arguments of every function in the
// table.
template <typename T>
void FillAs(void* data, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<T*>(data)[i] =
        std::is_integral<T>::value ? static_cast<T>(1 + i % 8) : static_cast<T>(0.5 + static_cast<double>(i % 97) / 97);
}
void Fill(int compute, void* data, int64_t n) {
  switch (compute) {
    case kF32: return FillAs<float>(data, n);
    case kF64: return FillAs<double>(data, n);
    case kI32: return FillAs<int32_t>(data, n);
    default: return FillAs<int64_t>(data, n);
  }
}

double TeamCost(int threads) {
  constexpr int kMost = 256;
  static std::atomic<float> costs[kMost + 1];  // 0: not measured
  std::atomic<float>& cost = costs[std::min(threads, kMost)];
  if (cost.load(std::memory_order_relaxed) == 0) {
    // On a busy machine a thread may be away for milliseconds, and a new one may share its
    // creator's core until the system moves it: that is not what a team costs.
    const double until = Now() + 100e6;
    double best;
    do best = Measure([threads] { ParallelForThreads(threads, threads, [](int64_t, int64_t) {}); });
    while (best > 20e3 && Now() < until);
    cost = static_cast<float>(std::min(50e3, std::max(1e3, best)));
  }
  return static_cast<double>(cost.load(std::memory_order_relaxed));
}

uint32_t TunedTypes(const Env& env) {
  if (env.cpu_parallel_size != 200000) return 0;
  const std::string& text = env.use_operator_tuning == "1" ? env.enable_operator_tuning : env.use_operator_tuning;
  if (text == "0" || text == "1") return text == "1" ? ~0u : 0u;
  uint32_t types = 0;
  std::istringstream list(text);
  for (std::string name; std::getline(list, name, ',');) {
    name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
    for (int dtype = 0; dtype < kNumDTypes; ++dtype)
      if (name == DTypeName(dtype)) types |= 1u << dtype;
  }
  return types;
}

}  // namespace

bool Tuned(int dtype) {
  static thread_local const Env* seen = nullptr;  // settings are never changed in place
  static thread_local uint32_t types = 0;
  const Env& env = Env::Get();
  if (seen != &env) {
    types = TunedTypes(env);
    seen = &env;
  }
  return types >> dtype & 1u;
}

double LoopCost(Loop loop, int compute, unsigned mask) {
  return Table().Get(reinterpret_cast<uintptr_t>(loop) ^ static_cast<uintptr_t>(mask) << 60, [=] {
    alignas(64) char in[kMaxOperands][kSample * 8];
    alignas(64) char out[kSample * 8];
    const void* ptrs[kMaxOperands];
    for (int k = 0; k < kMaxOperands; ++k) {
      Fill(compute, in[k], kSample);
      ptrs[k] = in[k];
    }
    return Measure([&] { loop(ptrs, out, kSample, mask); }) / kSample;
  });
}

double ConvertCost(int dtype, int compute, bool load) {
  if (dtype == ComputeDType(compute)) return 0;
  const ConvertFn convert = load ? LoadFn(dtype, compute) : StoreFn(dtype, compute);
  return Table().Get(reinterpret_cast<uintptr_t>(convert), [=] {
    alignas(64) char from[kSample * 8] = {};
    alignas(64) char to[kSample * 8];
    if (!load) Fill(compute, from, kSample);
    return Measure([&] { convert(from, to, kSample); }) / kSample;
  });
}

int ThreadsForCost(double nanoseconds) {
  if (nanoseconds < kLeastWork) return 1;
  int threads = std::min(OmpMaxThreads(), Env::Get().use_num_cores_operator_tuning);
  threads = static_cast<int>(std::min<double>(threads, nanoseconds / kPerThread));
  if (threads <= 1) return 1;
  const double team = TeamCost(threads);
  return nanoseconds - nanoseconds / threads > 2 * team ? threads : 1;
}

}  // namespace pointwise
}  // namespace mxnet
