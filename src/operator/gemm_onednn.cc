// float32 matrix products through oneDNN.
#include <dnnl.hpp>

#include "base/library_threads.h"
#include "operator/gemm.h"

namespace mxnet {
namespace {
bool Sgemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
           float beta, float* c, int64_t ldc) {
  OmpScope threads(LibraryTeam(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)));
  return dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) == dnnl_success;
}
[[maybe_unused]] const bool linked = [] { return detail::g_onednn_sgemm = Sgemm, true; }();
}  // namespace
}  // namespace mxnet
