#include <algorithm>

#include "base/cpu_limit.h"
#include "operator/nn/cpu_gemm/half_sums.h"
#include "operator/nn/cpu_gemm/packed_bfloat_kernels.h"

namespace mxnet {
namespace nn {

#if defined(__x86_64__)

void HalfSums(const HalfMatrix& a, int64_t filters, const bfloat16* packed, int64_t begin, int64_t end, const float* bias, float* sums,
              int64_t ld) {
  const bfloat16* rows[kHalfRows];
  const bool tiles = HasAmx();
  BfloatBlock block;
  block.depth = a.depth, block.filters = filters, block.ld = ld, block.pitch = a.pitch;
  BfloatEpilogue e;
  e.bias = bias;
  for (int64_t first = 0; first < a.count; first += kHalfRows) {
    const bfloat16* const from = a.rows + first * a.pitch;
    block.count = block.stride = std::min(kHalfRows, a.count - first);
    for (int64_t i = 0; i < block.count && !tiles; ++i) rows[i] = from + i * a.pitch;
    block.rows = rows, block.flat = tiles ? from : nullptr;
    BfloatGemmsWide(block, packed, begin, end, e, sums + first * ld, ld);
  }
}

#else  // the kernels are written for x86

void HalfSums(const HalfMatrix&, int64_t, const bfloat16*, int64_t, int64_t, const float*, float*, int64_t) {}

#endif

}  // namespace nn
}  // namespace mxnet
