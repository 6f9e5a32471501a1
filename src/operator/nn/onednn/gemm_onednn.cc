// float32 matrix products through oneDNN.
#include <algorithm>
#include <dnnl.hpp>
#include <memory>

#include "base/ran.h"
#include "base/room.h"
#include "base/threads/library_threads.h"
#include "operator/nn/onednn/onednn_common.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace {

/*
 * Rows for each call of the library, of m in all. With AVX-512 it reads a transposed factor as it
 * lies for up to 15 rows, and otherwise copies it first, which takes as long as 20 to 150 rows do.
 * On a Zen processor, 784 x 128: 32 rows 1.4 times as fast in three calls as in one.
 */
int64_t RowsOfACall(bool ta, bool tb, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kMostUncopied = 15, kMost = 64, kWorth = 100000;
  static const bool reads = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  if (!reads || ta || !tb || m <= kMostUncopied || m > kMost || n * k < kWorth) return m;
  const int64_t calls = (m + kMostUncopied - 1) / kMostUncopied;
  return (m + calls - 1) / calls;
}

struct ProductEntry : nn::CacheEntry {
  dnnl::matmul primitive;
  dnnl::memory a, b, c;
  RanPart ran;
};

std::unique_ptr<nn::CacheEntry> MakeProduct(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, float beta, int64_t ldc) {
  using Desc = dnnl::memory::desc;
  using Dims = dnnl::memory::dims;
  constexpr auto kType = dnnl::memory::data_type::f32;
  const Desc a({m, k}, kType, Dims{lda, 1}), b({k, n}, kType, Dims{1, ldb}), c({m, n}, kType, Dims{ldc, 1});
  dnnl::primitive_attr attr;
  if (beta != 0) {
    dnnl::post_ops after;
    after.append_sum(beta);
    attr.set_post_ops(after);
  }
  dnnl::engine& engine = nn::OnednnEngine();
  const dnnl::matmul::primitive_desc pd(engine, a, b, c, attr);
  auto entry = std::make_unique<ProductEntry>();
  entry->primitive = dnnl::matmul(pd);
  entry->ran = nn::OnednnName(pd);
  entry->a = dnnl::memory(a, engine, nullptr), entry->b = dnnl::memory(b, engine, nullptr), entry->c = dnnl::memory(c, engine, nullptr);
  return entry;
}

/*
 * Some rows times a large transposed factor, as a dense layer in training: the library's primitive
 * copies the factor by parts that stay in the cache, its sgemm as a whole. Calls of few rows, as
 * RowsOfACall has them, are far slower on some processors: on two cores of a Xeon, 768 x 3072, 16
 * rows took 1.05 ms and 128 rows 7.7, one call of sgemm 0.89 and 2.5, the primitive 0.46 and 1.9.
 * It makes code for each size, in 0.15 ms.
 */
bool TransposedFactor(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b,
                      int64_t ldb, float beta, float* c, int64_t ldc, int team) {
  constexpr int64_t kLeast = 16, kMost = 256, kWorth = int64_t(1) << 22;  // rows; multiplications
  static const bool here = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  if (!here || ta || !tb || alpha != 1 || m < kLeast || m > kMost || m * n * k < kWorth) return false;
  nn::Key key;
  key.Add('t').Add(m).Add(n).Add(k).Add(lda).Add(ldb).Add(ldc).Add(beta).Add(team);
  auto* entry = static_cast<ProductEntry*>(nn::CachedEntry(key, [&] { return MakeProduct(m, n, k, lda, ldb, beta, ldc); }));
  if (!entry) return false;
  Ran(entry->ran);
  entry->a.set_data_handle(const_cast<float*>(a)), entry->b.set_data_handle(const_cast<float*>(b)), entry->c.set_data_handle(c);
  entry->primitive.execute(nn::OnednnStream(), {{DNNL_ARG_SRC, entry->a}, {DNNL_ARG_WEIGHTS, entry->b}, {DNNL_ARG_DST, entry->c}});
  nn::OnednnStream().wait();
  return true;
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
  const int team = LibraryTeam(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  OmpScope threads(team);
  if (TransposedFactor(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, team)) return true;
  Ran("oneDNN sgemm", level);
  const int64_t rows = RowsOfACall(ta, tb, m, n, k);
  for (int64_t i = 0; i < m; i += rows)
    if (dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', std::min(rows, m - i), n, k, alpha, a + i * lda, lda, b, ldb, beta, c + i * ldc, ldc) !=
        dnnl_success)
      return false;
  return true;
}
[[maybe_unused]] const bool linked = [] { return detail::g_onednn_sgemm = Sgemm, true; }();
}  // namespace
}  // namespace mxnet
