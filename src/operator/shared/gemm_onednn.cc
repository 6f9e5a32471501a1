// float32 matrix products through oneDNN.
#include <algorithm>
#include <dnnl.hpp>

#include "base/ran.h"
#include "base/room.h"
#include "base/threads/library_threads.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace {

/*
 * Rows for each call of the library, of m in all. With AVX-512 it reads a transposed factor as it
 * lies for up to 15 rows, and otherwise copies it first, which takes as long as 20 to 150 rows do:
 * longest where its rows are a multiple of 1 KB apart. On a Zen processor, 1024 x 1024: 16 rows 7.7
 * times as fast in two calls as in one, 32 rows 4.7, 64 rows 2.8, 128 rows 1.9; 784 x 128: 32 rows
 * 1.4.
 */
int64_t RowsOfACall(bool ta, bool tb, int64_t m, int64_t n, int64_t k, int64_t ldb) {
  constexpr int64_t kMostUncopied = 15, kMost = 64, kMostSlowCopy = 256, kWorth = 100000, kCached = int64_t(1) << 22;
  static const bool reads = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  if (!reads || ta || !tb || m <= kMostUncopied || m > kMostSlowCopy || n * k < kWorth) return m;
  if (m > kMost && (ldb % 256 != 0 || n * k > kCached)) return m;
  const int64_t calls = (m + kMostUncopied - 1) / kMostUncopied;
  return (m + calls - 1) / calls;
}

bool Sgemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
           float beta, float* c, int64_t ldc) {
  static const RanAt level = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? RanAt::kAvx512
                             : dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx2      ? RanAt::kAvx2
                                                                                         : RanAt::kBaseline;
  // It makes its code at the first call of a kind, on all threads, and ends the process where
  // memory for that has gone.
  constexpr size_t kCode = size_t{64} << 20;
  if (!HasRoomIfLimited(kCode)) return false;
  OmpScope threads(LibraryTeam(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)));
  Ran("oneDNN sgemm", level);
  const int64_t rows = RowsOfACall(ta, tb, m, n, k, ldb);
  for (int64_t i = 0; i < m; i += rows)
    if (dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', std::min(rows, m - i), n, k, alpha, a + i * lda, lda, b, ldb, beta, c + i * ldc, ldc) !=
        dnnl_success)
      return false;
  return true;
}
[[maybe_unused]] const bool linked = [] { return detail::g_onednn_sgemm = Sgemm, true; }();
}  // namespace
}  // namespace mxnet
