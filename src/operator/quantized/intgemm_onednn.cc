// Products of bytes through oneDNN, where the processor adds four of them in one instruction
// (VNNI): elsewhere that library's sums may saturate.
#include <dnnl.hpp>

#include "base/threads/library_threads.h"
#include "operator/nn/onednn/onednn_common.h"
#include "operator/quantized/intgemm.h"

namespace mxnet {
namespace {

bool OnednnByteProduct(int64_t m, int64_t n, int64_t k, const void* a, bool a_unsigned, const int8_t* b, int32_t* c) {
  OmpScope threads(LibraryTeam(0.5 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)));
  static const RanAt level = nn::OnednnLevel() == RanAt::kAvx512 ? RanAt::kAvx512Vnni : RanAt::kAvx2Vnni;  // which it has
  Ran("oneDNN gemm of bytes", level);
  const int32_t offset = 0;
  const auto* natural = static_cast<const uint8_t*>(a);
  const auto* whole = static_cast<const int8_t*>(a);
  return (a_unsigned ? dnnl_gemm_u8s8s32('N', 'T', 'F', m, n, k, 1.0f, natural, k, 0, b, k, 0, 0.0f, c, n, &offset)
                     : dnnl_gemm_s8s8s32('N', 'T', 'F', m, n, k, 1.0f, whole, k, 0, b, k, 0, 0.0f, c, n, &offset)) == dnnl_success;
}

[[maybe_unused]] const bool linked = [] {
  if (nn::AddsBytesExactly()) detail::g_onednn_byte_product = OnednnByteProduct;
  return true;
}();

}  // namespace
}  // namespace mxnet
