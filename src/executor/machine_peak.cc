#include "executor/machine_peak.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <mutex>
#include <vector>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/cpu_limit.h"
#include "base/threads/fork_guard.h"
#include "base/threads/omp.h"
#include "mxnet/profiler.h"
#include "operator/nn/cpu_gemm/amx_products.h"

namespace mxnet {
namespace {

constexpr int kChains = 12;         // independent sums: more than any core's latency times what it begins in a cycle
constexpr int64_t kRounds = 60000;  // of a try, about 0.3 ms
constexpr int kTries = 9;           // of which the fastest counts
thread_local volatile float t_sum;  // so that nothing is optimised away

// Of this thread: what other programs do on the cores does not count.
double Now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/* Seconds of work(0), work(1)... on a thread each: those of the slowest. */
template <typename Work>
double Slowest(int threads, const Work& work) {
  std::vector<double> seconds(static_cast<size_t>(threads), 0.0);
  ParallelForThreads(threads, threads, [&](int64_t from, int64_t to) {
    for (int64_t t = from; t < to; ++t) {
      const double begin = Now();
      work(t);
      seconds[static_cast<size_t>(t)] = Now() - begin;
    }
  });
  return *std::max_element(seconds.begin(), seconds.end());
}

/* Each makes kChains * rounds multiply-adds of vectors. The empty statements keep the compiler from
 * changing the chains. */
#define MXNET_PEAK_CHAINS(T, start, step, whole)                                          \
  T sums[kChains];                                                                        \
  _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) sums[i] = start;             \
  for (int64_t r = 0; r < rounds; ++r) {                                                  \
    _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) {                          \
      T& s = sums[i];                                                                     \
      step;                                                                               \
      asm volatile("" : whole(s));                                                        \
    }                                                                                     \
  }                                                                                       \
  float all = 0;                                                                          \
  _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) {                            \
    const T last = sums[i]; /* a copy: an array whose address is taken lives in memory */ \
    float one;                                                                            \
    std::memcpy(&one, &last, sizeof(one));                                                \
    all += one;                                                                           \
  }                                                                                       \
  t_sum = all;

typedef float F4 __attribute__((vector_size(16)));

void Baseline(int64_t rounds) {
  const F4 a = F4{} + 0.999999f, b = F4{} + 1e-6f;
#ifdef __x86_64__
  MXNET_PEAK_CHAINS(F4, b, s = s * a + b, "+x")
#else
  MXNET_PEAK_CHAINS(F4, b, s = s * a + b, "+w")
#endif
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) void Avx2(int64_t rounds) {
  const __m256 a = _mm256_set1_ps(0.999999f), b = _mm256_set1_ps(1e-6f);
  MXNET_PEAK_CHAINS(__m256, b, s = _mm256_fmadd_ps(s, a, b), "+x")
}

__attribute__((target("avx512f"))) void Avx512(int64_t rounds) {
  const __m512 a = _mm512_set1_ps(0.999999f), b = _mm512_set1_ps(1e-6f);
  MXNET_PEAK_CHAINS(__m512, b, s = _mm512_fmadd_ps(s, a, b), "+v")
}

// The quickest products of bytes without an instruction of their own, whose sums of two may
// saturate.
__attribute__((target("avx2"))) void Bytes2(int64_t rounds) {
  const __m256i a = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
  MXNET_PEAK_CHAINS(__m256i, a, s = _mm256_add_epi32(s, _mm256_madd_epi16(_mm256_maddubs_epi16(s, a), ones)), "+x")
}

__attribute__((target("avx512f,avx512bw"))) void Bytes4(int64_t rounds) {
  const __m512i a = _mm512_set1_epi8(1), ones = _mm512_set1_epi16(1);
  MXNET_PEAK_CHAINS(__m512i, a, s = _mm512_add_epi32(s, _mm512_madd_epi16(_mm512_maddubs_epi16(s, a), ones)), "+v")
}

__attribute__((target("avx512f,avx512vnni"))) void Vnni(int64_t rounds) {
  const __m512i a = _mm512_set1_epi8(1);
  MXNET_PEAK_CHAINS(__m512i, a, s = _mm512_dpbusd_epi32(s, a, a), "+v")
}

__attribute__((target("avx512f,avx512bf16"))) void Bfloat16(int64_t rounds) {
  const __m512 start = _mm512_set1_ps(1e-6f);
  const __m512bh a = (__m512bh)_mm512_set1_epi16(0x3c00);
  MXNET_PEAK_CHAINS(__m512, start, s = _mm512_dpbf16_ps(s, a, a), "+v")
}
#endif

#ifdef __x86_64__
/* By matrix tiles, of operands in the first-level cache. */
constexpr int64_t kRoundsOfTiles = 32, kTileUnits = 64, kTileOperations = 2 * nn::kAmxGroup * 2 * nn::kAmxColumns * 4 * kTileUnits;

template <nn::AmxKind kKind>
void Tiles(int64_t rounds) {
  alignas(64) static const char a[nn::kAmxGroup * 4 * kTileUnits] = {}, b[2 * nn::kAmxColumns * 4 * kTileUnits] = {};
  alignas(64) float sums[nn::kAmxGroup * 2 * nn::kAmxColumns];
  nn::AmxOperands o;
  o.a = a, o.pitch = 4 * kTileUnits, o.depth = kTileUnits, o.b = b, o.b_pitch = 8 * nn::kAmxColumns;
  o.sums = sums, o.sums_pitch = 2 * nn::kAmxColumns;
  const nn::AmxScope scope(nn::kAmxGroup, kTileUnits);
  for (int64_t i = 0; i < rounds / kRoundsOfTiles; ++i) nn::AmxProducts(kKind, o, nn::kAmxGroup, 2 * nn::kAmxColumns);
  t_sum = sums[0];
}
#endif

/* Billions of operations a second of all threads, when a multiply-add of a vector counts for
 * `each`. */
double Rate(int threads, void (*run)(int64_t), double each) {
  double least = 1e30;
  for (int i = 0; i < kTries; ++i) least = std::min(least, Slowest(threads, [&](int64_t) { run(kRounds); }));
  return 1e-9 * each * kChains * static_cast<double>(kRounds) * threads / least;
}

int64_t BytesBeyondCaches() {
  constexpr int64_t kLeast = int64_t{64} << 20, kMost = int64_t{256} << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
  return std::clamp<int64_t>(2 * static_cast<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE)), kLeast, kMost);
#else
  return kLeast;
#endif
}

/* Billions of bytes a second; 0 where there is no memory for it. */
double Bandwidth(int threads) {
  const int64_t size = BytesBeyondCaches(), half = size / 2;
  void* memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  auto* bytes = static_cast<char*>(memory);
  const auto best = [&](int64_t count, const auto& part) {
    double least = 1e30;
    for (int i = 0; i < 4; ++i) {  // the first touches the pages
      const double seconds = Slowest(threads, [&](int64_t t) {
        const int64_t pages = count / 4096, from = pages * t / threads, to = pages * (t + 1) / threads;
        part(from * 4096, (to - from) * 4096);
      });
      if (i) least = std::min(least, seconds);
    }
    return 1e-9 * static_cast<double>(size) / least;
  };
  const double copied =
      best(half, [&](int64_t at, int64_t count) { std::memcpy(bytes + half + at, bytes + at, static_cast<size_t>(count)); });
  std::memset(bytes, 1, static_cast<size_t>(size));
  const double read = best(size, [&](int64_t at, int64_t count) {
    F4 sums[8] = {};
    for (const auto *p = reinterpret_cast<const F4*>(bytes + at), *end = p + count / 16; p < end; p += 8)
      for (int i = 0; i < 8; ++i) sums[i] += p[i];
    for (int i = 1; i < 8; ++i) sums[0] += sums[i];
    t_sum = sums[0][0];
  });
  munmap(memory, static_cast<size_t>(size));
  return std::max(copied, read);
}

MachinePeak Measure(int threads) {
  MachinePeak peak;
  peak.threads = threads;
#ifdef __x86_64__
  const CpuLevel level = CurrentCpuLevel();
  const bool v3 = level >= CpuLevel::kV3, v4 = level == CpuLevel::kV4;
  peak.float32 = v4 ? Rate(threads, Avx512, 32) : v3 ? Rate(threads, Avx2, 16) : Rate(threads, Baseline, 8);
  peak.bfloat16 = v4 && HasBfloat16() ? Rate(threads, Bfloat16, 64) : peak.float32;
  peak.int8 = v4 && HasVnni() ? Rate(threads, Vnni, 128) : v4 ? Rate(threads, Bytes4, 128) : v3 ? Rate(threads, Bytes2, 64) : peak.float32;
  if (v4 && HasAmx()) {
    constexpr double kOfBytes = static_cast<double>(kTileOperations) / kRoundsOfTiles / kChains;
    peak.bfloat16 = Rate(threads, Tiles<nn::AmxKind::kBfloat>, kOfBytes / 2);
    peak.int8 = Rate(threads, Tiles<nn::AmxKind::kUnsigned>, kOfBytes);
  }
#else
  peak.float32 = peak.bfloat16 = peak.int8 = Rate(threads, Baseline, 8);
#endif
  peak.bytes = Bandwidth(threads);
  return peak;
}

}  // namespace

MachinePeak MeasuredPeak() {
  static auto* mutex = new ForkMutex(ForkLevel::kOperator);
  static MachinePeak kept;
  static CpuLevel level;
  std::lock_guard<ForkMutex> lock(*mutex);
  const int threads = OmpMaxThreads();
  if (kept.threads != threads || level != CurrentCpuLevel()) {
    level = CurrentCpuLevel();
    kept = Measure(threads);
  }
  return kept;
}

namespace {

profiler::MachineRates Rates() {
  const MachinePeak peak = MeasuredPeak();
  return {peak.float32, peak.bfloat16, peak.int8, peak.bytes};
}
[[maybe_unused]] const bool g_told = profiler::SetMachineRates(Rates);

}  // namespace
}  // namespace mxnet
