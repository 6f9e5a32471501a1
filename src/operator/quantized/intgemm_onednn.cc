// Products of bytes through oneDNN, where the processor adds four of them in one instruction
// (VNNI): elsewhere that library's sums may saturate.
#include <dnnl.hpp>

#include "base/library_threads.h"
#include "operator/quantized/intgemm.h"

namespace mxnet {
namespace {

bool ByteProduct(int64_t m, int64_t n, int64_t k, const int8_t* a, const int8_t* b, int32_t* c) {
  OmpScope threads(LibraryTeam(0.5 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)));
  const int32_t offset = 0;
  return dnnl_gemm_s8s8s32('N', 'T', 'F', m, n, k, 1.0f, a, k, 0, b, k, 0, 0.0f, c, n, &offset) == dnnl_success;
}

[[maybe_unused]] const bool linked = [] {
  const auto level = dnnl::get_effective_cpu_isa();
  const auto has = [&](dnnl::cpu_isa isa) {
    return (static_cast<unsigned>(level) & static_cast<unsigned>(isa)) == static_cast<unsigned>(isa);
  };
  if (has(dnnl::cpu_isa::avx2_vnni) || has(dnnl::cpu_isa::avx512_core_vnni)) detail::g_onednn_byte_product = ByteProduct;
  return true;
}();

}  // namespace
}  // namespace mxnet
