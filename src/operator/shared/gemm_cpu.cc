// Matrix products through OpenBLAS, and the choice between it and oneDNN.
#include <cblas.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cpu_dispatch.h"
#include "base/foreign_env.h"
#include "base/ran.h"
#include "base/room.h"
#include "base/threads/fork_guard.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "mxnet/error.h"
#include "operator/shared/blas_threads.h"
#include "operator/shared/gemm.h"
#include "operator/shared/half_product.h"
#include "operator/shared/panel_gemm.h"

// Absent from other BLAS libraries.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
extern "C" int openblas_get_num_threads() __attribute__((weak));
extern "C" char* openblas_get_corename() __attribute__((weak));

namespace mxnet {
namespace detail {
SgemmFn g_onednn_sgemm = nullptr;
HalfProductFn g_onednn_half_product = nullptr;
}  // namespace detail

namespace {
/* "OpenBLAS Zen": the processor whose kernels it took. */
void SayBlas() {
  if (!RanAsked()) return;
  const std::string core = openblas_get_corename ? openblas_get_corename() : "";
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return core.find(name) != std::string::npos; });
  };
  const RanAt at = is({"SkylakeX", "SKYLAKEX", "Cooperlake", "COOPERLAKE", "SapphireRapids", "SAPPHIRERAPIDS"}) ? RanAt::kAvx512
                   : is({"Haswell", "HASWELL", "Zen", "ZEN"})                                                   ? RanAt::kAvx2
                                                                                                                : RanAt::kBaseline;
  Ran(InternRan(core.empty() ? "BLAS" : "OpenBLAS " + core), at);
}

template <typename T>
void Scale(int64_t m, int64_t n, T beta, T* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[i * ldc + j] = beta == T(0) ? T(0) : beta * c[i * ldc + j];
}

blasint Int(int64_t v) {
  MXNET_CHECK_KIND(v <= std::numeric_limits<blasint>::max(), Value)
      << "[gemm] size " << v << "; the BLAS library takes at most " << std::numeric_limits<blasint>::max();
  return static_cast<blasint>(std::max<int64_t>(v, 1));
}

ForkMutex* const g_blas_threads = new ForkMutex(ForkLevel::kOperator);
int g_alone = 0;    // who wants the library to use one thread
int g_threads = 0;  // its threads before

/* What Python changed OPENBLAS_NUM_THREADS from while it loaded this library, and OpenBLAS with it:
 * that has one thread then. Null if it did not. */
const std::string* const g_python_gave = [] {
  constexpr const char* kName = "_MXNET_OPENBLAS_NUM_THREADS";
  return ForeignIsSet(kName) ? new std::string(ForeignText(kName)) : nullptr;
}();

// What OpenBLAS takes for each call at once, 128 MiB in Debian and 32 MiB in the wheel, and a
// thread with its stack. Where there is less it asks for ever.
constexpr size_t kBlasBuffer = size_t{129} << 20, kBlasThread = size_t{16} << 20;
std::atomic<int> g_calls{0}, g_buffers{0};  // now; for how many at once there are buffers, for they are kept

/* How many threads OpenBLAS would have started. */
int OwnBlasThreads() {
  for (const std::string& text : {*g_python_gave, ForeignText("GOTO_NUM_THREADS"), ForeignText("OMP_NUM_THREADS")})
    if (std::atoi(text.c_str()) > 0) return std::atoi(text.c_str());
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
}

/* Before the first product: the threads that OpenBLAS did not start when it was loaded. */
void StartBlasThreads() {
  static std::atomic<bool> done{g_python_gave == nullptr || !openblas_set_num_threads || !openblas_get_num_threads};
  if (done) return;
  std::lock_guard<ForkMutex> lock(*g_blas_threads);
  if (done || g_alone > 0) return;
  done = true;
  const int threads = OwnBlasThreads();
  if (threads <= 1 || openblas_get_num_threads() != 1) return;
  if (!HasRoom(static_cast<size_t>(threads) * (kBlasBuffer + kBlasThread))) return;
  try {
    std::thread([] {}).join();  // where none can start, OpenBLAS would raise SIGINT
  } catch (const std::system_error&) {
    return;
  }
  openblas_set_num_threads(threads);
}

}  // namespace

bool BlasCall::HasRoomForSmall() {
  const int calls = g_calls.load(std::memory_order_relaxed) + 1;
  return calls <= g_buffers.load(std::memory_order_relaxed) || HasRoomIfLimited(static_cast<size_t>(calls) * kBlasBuffer + kBlasThread);
}

BlasCall::BlasCall(bool small) {
  const int calls = g_calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (small) return;
  int buffers = g_buffers.load(std::memory_order_relaxed);
  if (calls <= buffers) return;
  if (!HasRoom(static_cast<size_t>(calls - buffers) * kBlasBuffer + kBlasThread)) {
    g_calls.fetch_sub(1, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
  while (buffers < calls && !g_buffers.compare_exchange_weak(buffers, calls, std::memory_order_relaxed)) {
  }
}

BlasCall::~BlasCall() { g_calls.fetch_sub(1, std::memory_order_relaxed); }

OneBlasThread::OneBlasThread() : counts_(openblas_set_num_threads && openblas_get_num_threads) {
  if (!counts_) return;
  std::lock_guard<ForkMutex> lock(*g_blas_threads);
  if (g_alone++ > 0) return;
  g_threads = openblas_get_num_threads();
  if (g_threads > 1) openblas_set_num_threads(1);
}

OneBlasThread::~OneBlasThread() {
  if (!counts_) return;
  std::lock_guard<ForkMutex> lock(*g_blas_threads);
  if (--g_alone == 0 && g_threads > 1) openblas_set_num_threads(g_threads);
}

// OpenBLAS keeps threads of its own.
void SettleBlasThreads() {
  StartBlasThreads();
  static std::atomic<int> others{0};  // its threads before they were limited to one
  const bool single = Env::Get().enforce_determinism;
  if (single == (others != 0) || !openblas_set_num_threads || !openblas_get_num_threads) return;
  std::lock_guard<ForkMutex> lock(*g_blas_threads);
  if (single == (others != 0) || g_alone > 0) return;
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(single ? 1 : others.load());
  others = single ? before : 0;
}

namespace {

/* For a product on a thread of a team: threads of the library would wait for processors that the
 * rest of the team has (a batch of eight of 32 x 512 x 32 on two of them: 8 ms instead of 0.1). The
 * library gives small products one thread itself. */
class TeamBlas {
 public:
  explicit TeamBlas(bool small) {
    if (!small && OmpMaxThreads() <= 1) alone_.emplace();
  }

 private:
  std::optional<OneBlasThread> alone_;
};

/* A product with what lies transposed, as the gradient of a dense layer's weights: both factors are
 * read as they lie. */
void TransposedProduct(int threads, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
                       float* c, int64_t ldc) {
  constexpr int64_t kTileRows = 12;
  Ran("transposed GEMM");
  const bool by_rows = m >= n;
  const int64_t length = by_rows ? m : n, step = by_rows ? kTileRows : kPackColumns;
  ParallelForThreads(threads, (length + step - 1) / step, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * step, size = std::min(length, end * step) - first;
    const int64_t rows = by_rows ? size : m, columns = by_rows ? n : size;
    const float *left = by_rows ? a + first : a, *right = by_rows ? b : b + first;
    float* const to = by_rows ? c + first * ldc : c + first;
    if (beta != 1 && beta != 0) Scale(rows, columns, beta, to, ldc);
    MXNET_CPU_CALL(TransposedGemm)(rows, columns, k, left, lda, right, ldb, to, ldc, beta != 0);
  });
}

/*
 * Products as those of attention, of which there are many in a model: by kernels of our own, for
 * the vector library makes code for its kernels in its first call, which takes as long as thousands
 * of these products (Zen 4: 30 ms). B is packed by columns that stay in the cache. A factor, as the
 * scale of attention's scores, multiplies the columns of B or C, whichever are shorter, there;
 * with more columns than kMostScaled the library is a fifth faster (Zen 4, 512 x 512 of depth 16).
 */
bool OwnProduct(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
                float beta, float* c, int64_t ldc) {
  constexpr int64_t kLeast = 8, kMostDepth = 1024, kMost = int64_t(1) << 23, kLeastRows = 24;  // rows that pay for packing
  constexpr int64_t kMostScaled = 256;
  const bool sized = m >= kLeastRows && n >= kLeast && k >= kLeast && k <= kMostDepth && m * n * k <= kMost;
  if (!sized || (ta && tb) || (alpha != 1 && (ta || n > kMostScaled))) return false;
  if (CurrentCpuLevel() < CpuLevel::kV3) return false;
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (ta) {
    TransposedProduct(OmpThreadsForFlops(flops), m, n, k, a, lda, b, ldb, beta, c, ldc);
    return true;
  }
  Ran("packed GEMM");
  const bool factor = alpha != 1, of_b = factor && (beta != 0 || k < m);
  ParallelForThreads(OmpThreadsForFlops(flops), PackedColumns(n) / kPackColumns, [&](int64_t begin, int64_t end) {
    thread_local std::vector<float> packed;
    packed.resize(static_cast<size_t>(kPackColumns * k));
    for (int64_t first = begin * kPackColumns; first < std::min(n, end * kPackColumns); first += kPackColumns) {
      const int64_t width = std::min(kPackColumns, n - first);
      MXNET_CPU_CALL(PackColumns)(tb, width, k, b + (tb ? first * ldb : first), ldb, packed.data());
      if (of_b) Scale<float>(1, kPackColumns * k, alpha, packed.data(), 0);
      if (beta != 1 && beta != 0) Scale(m, width, beta, c + first, ldc);
      MXNET_CPU_CALL(PackedGemm)(m, width, k, a, lda, packed.data(), c + first, ldc, beta != 0);
      if (factor && !of_b) Scale(m, width, alpha, c + first, ldc);
    }
  });
  return true;
}

void Call(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
          float beta, float* c, int64_t ldc) {
  // OpenBLAS is 1.1 to 1.7 times as fast for small products (Zen 4), on one thread, and makes no
  // code for them.
  constexpr double kSmall = 1 << 18;  // multiplications
  const bool small = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) <= kSmall && BlasCall::HasRoomForSmall();
  if (!small && Env::Get().onednn_enabled &&
      (OwnProduct(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) ||
       (detail::g_onednn_sgemm && detail::g_onednn_sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))))
    return;
  if (!small) SettleBlasThreads();  // starting threads would take longer than some hundred small products
  SayBlas();
  const TeamBlas team(small);
  const BlasCall call(small);
  cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, Int(m), Int(n), Int(k), alpha, a, Int(lda), b,
              Int(ldb), beta, c, Int(ldc));
}

void Dgemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda, const double* b, int64_t ldb,
           double beta, double* c, int64_t ldc) {
  SayBlas();
  const BlasCall call;
  cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, Int(m), Int(n), Int(k), alpha, a, Int(lda), b,
              Int(ldb), beta, c, Int(ldc));
}

// Products of middle size are shared among the threads that other operators use, too. Those keep
// looking for work for milliseconds, and threads of OpenBLAS would wait that long for a processor.
void Call(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda, const double* b, int64_t ldb,
          double beta, double* c, int64_t ldc) {
  constexpr int64_t least = 1 << 18, most = 1 << 27, rows_each = 8;  // multiplications; rows or columns of a thread
  SettleBlasThreads();
  const int64_t work = m * n * k, longer = std::max(m, n);
  const bool shared = work >= least && work <= most && !Env::Get().enforce_determinism;
  const int threads = shared ? static_cast<int>(std::min<int64_t>(OmpMaxThreads(), longer / rows_each)) : 1;
  if (threads <= 1 || !openblas_set_num_threads || !openblas_get_num_threads) {
    const TeamBlas team(work < least);
    return Dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
  const OneBlasThread alone;
  ParallelForThreads(threads, longer, [&](int64_t begin, int64_t end) {
    if (m >= n)
      Dgemm(ta, tb, end - begin, n, k, alpha, a + begin * (ta ? 1 : lda), lda, b, ldb, beta, c + begin * ldc, ldc);
    else
      Dgemm(ta, tb, m, end - begin, k, alpha, a, lda, b + begin * (tb ? ldb : 1), ldb, beta, c + begin, ldc);
  });
}

template <typename T>
void Product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c,
             int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) return Scale(m, n, beta, c, ldc);
  if (!Env::Get().enforce_determinism) return Call(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  // A library divides its work by the number of threads. Here it is divided by its size alone, into
  // calls of one thread each.
  constexpr int64_t kWorth = 1 << 20, kParts = 16, kUnit = 16;  // multiplications of a part, most parts, rows or columns
  const int64_t length = std::max(m, n), worth = kWorth / std::min(m, n) / k + 1;
  const int64_t step = (std::max((length + kParts - 1) / kParts, worth) + kUnit - 1) / kUnit * kUnit;
  ParallelFor((length + step - 1) / step, 1, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin * step; first < std::min(length, end * step); first += step) {
      const int64_t size = std::min(step, length - first);
      if (m >= n)
        Call(ta, tb, size, n, k, alpha, a + (ta ? first : first * lda), lda, b, ldb, beta, c + first * ldc, ldc);
      else
        Call(ta, tb, m, size, k, alpha, a, lda, b + (tb ? first * ldb : first), ldb, beta, c + first, ldc);
    }
  });
}

}  // namespace

void Gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
          float beta, float* c, int64_t ldc) {
  Product(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void Gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda, const double* b, int64_t ldb,
          double beta, double* c, int64_t ldc) {
  Product(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace mxnet
