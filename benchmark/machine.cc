// What the machine can do at most, as one line of JSON: float32 multiply-adds of all threads
// together, copies and reads of memory, and how long a line of cache takes from one thread to
// another and back. OMP_NUM_THREADS counts. With --handover only the last, in a moment.
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

namespace {

// Processor time of the calling thread: other programs on the cores do not count.
double Now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

// 12 independent chains of vector multiply-adds: more than any core's latency times issue width.
// Returned so that nothing is optimised away.
#define CHAINS(T, kRounds)                                                                                                            \
  T acc[kChains];                                                                                                                     \
  _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) acc[i] = T{} + static_cast<float>(i);                                    \
  const T a = T{} + 0.999999f, b = T{} + 1e-6f;                                                                                       \
  for (long r = 0; r < (kRounds); ++r) _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) acc[i] = acc[i] * a + b;            \
  float sum = 0;                                                                                                                      \
  _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) for (size_t j = 0; j < sizeof(T) / sizeof(float); ++j) sum += acc[i][j]; \
  return sum;

constexpr int kChains = 12;

typedef float F4 __attribute__((vector_size(16)));
typedef float F8 __attribute__((vector_size(32)));
typedef float F16 __attribute__((vector_size(64)));

float Multiply4(long rounds) { CHAINS(F4, rounds) }
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) float Multiply8(long rounds) { CHAINS(F8, rounds) }
__attribute__((target("avx512f"))) float Multiply16(long rounds) { CHAINS(F16, rounds) }
#endif

// Least seconds of several tries in which every thread runs work(its number); a try takes as long
// as its slowest thread.
double Best(const std::function<void(int)>& work) {
  double best = 1e30;
  for (int i = 0; i < 7; ++i) {
    double slowest = 0;
#pragma omp parallel reduction(max : slowest)
    {
      const double begin = Now();
      work(omp_get_thread_num());
      slowest = Now() - begin;
    }
    best = std::min(best, slowest);
  }
  return best;
}

/*
 * Nanoseconds, the least of some tries; 0 with one thread. Virtual processors move: two that shared
 * a last-level cache may not a minute later, and what threads exchange then takes four times as
 * long, which no contestant of a race can help.
 */
double Handover() {
  if (omp_get_max_threads() < 2) return 0;
  constexpr int kUnroll = 10000;
  alignas(128) static std::atomic<int> turn;
  double best = 1e30;
  for (int i = 0; i < 5; ++i) {
    turn = 0;
    double seconds = 0;
#pragma omp parallel num_threads(2)
    {
      const int self = omp_get_thread_num();
      const auto begin = std::chrono::steady_clock::now();
      if (omp_get_num_threads() == 2)
        for (int t = self; t < 2 * kUnroll; t += 2) {
          while (turn.load(std::memory_order_acquire) != t) {
          }
          turn.store(t + 1, std::memory_order_release);
        }
      if (self == 0) seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    best = std::min(best, seconds);
  }
  return best / kUnroll * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--handover") == 0) {
    std::printf("{\"handover_ns\": %.0f}\n", Handover());
    return 0;
  }
  float (*multiply)(long) = Multiply4;
  int lanes = 4;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    multiply = Multiply16;
    lanes = 16;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    multiply = Multiply8;
    lanes = 8;
  }
#endif
  const int threads = omp_get_max_threads();
  const long rounds = 4000000;
  const auto use = [](float sum) {
    volatile float sink = sum;
    (void)sink;
  };
  const double fma = Best([&](int) { use(multiply(rounds)); });
  const size_t bytes = size_t(128) << 20;  // a thread, each way; beyond every cache
  std::vector<char> from(bytes * threads, 1), to(bytes * threads, 2);
  const double copy = Best([&](int t) { std::memcpy(&to[t * bytes], &from[t * bytes], bytes); });
  const double read = Best([&](int t) {
    F8 sum[8] = {};
    const char* p = &from[t * bytes];
    for (size_t i = 0; i < bytes; i += sizeof sum)
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) {
        F8 v;
        std::memcpy(&v, p + i + j * sizeof v, sizeof v);
        sum[j] += v;
      }
    for (int j = 1; j < 8; ++j) sum[0] += sum[j];
    use(sum[0][0]);
  });
  // A copy reads and writes: both are counted, what the caches fetch before they write is not.
  std::printf("{\"threads\": %d, \"fma_gflops\": %.1f, \"copy_gbs\": %.2f, \"read_gbs\": %.2f, \"handover_ns\": %.0f}\n", threads,
              2.0 * kChains * lanes * rounds * threads / fma / 1e9, 2.0 * bytes * threads / copy / 1e9, 1.0 * bytes * threads / read / 1e9,
              Handover());
  return 0;
}
