#include "base/omp.h"
#include "operator/pointwise/bools.h"

namespace mxnet {
namespace pointwise {
namespace {

using ByteLoop = void (*)(const uint8_t* a, const uint8_t* b, uint8_t* out, int64_t n);

template <typename F>
void Each(const uint8_t* a, const uint8_t* b, uint8_t* out, int64_t n, F f) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<uint8_t>(f(a[i], b[i]));
}

#define MXNET_BYTES(expression)                                     \
  [](const uint8_t* x, const uint8_t* y, uint8_t* out, int64_t n) { \
    Each(x, y, out, n, [](unsigned a, unsigned b) {                 \
      (void)b;                                                      \
      return expression;                                            \
    });                                                             \
  }
ByteLoop LoopOf(int row) {
  switch (row) {
    case k_logical_not: return MXNET_BYTES(a ^ 1u);
    case k_logical_and:
    case k_bitwise_and: return MXNET_BYTES(a & b);
    case k_logical_or:
    case k_bitwise_or: return MXNET_BYTES(a | b);
    case k_logical_xor:
    case k_bitwise_xor:
    case k_not_equal: return MXNET_BYTES(a ^ b);
    case k_equal: return MXNET_BYTES(a ^ b ^ 1u);
    case k_greater: return MXNET_BYTES(a & (b ^ 1u));
    case k_lesser: return MXNET_BYTES((a ^ 1u) & b);
    case k_greater_equal: return MXNET_BYTES(a | (b ^ 1u));
    case k_lesser_equal: return MXNET_BYTES((a ^ 1u) | b);
    default: return nullptr;
  }
}
#undef MXNET_BYTES

}  // namespace

bool ExecuteBools(int row, const Operand* in, int count, const TBlob& out, OpReq req) {
  if (out.dtype != kBool || req == OpReq::kAdd || count > 2) return false;
  for (int k = 0; k < count; ++k)
    if (!in[k].ptr || in[k].dtype != kBool || !(*in[k].shape == out.shape)) return false;
  const ByteLoop loop = LoopOf(row);
  if (!loop) return false;
  if (req == OpReq::kNull) return true;
  const uint8_t *a = static_cast<const uint8_t*>(in[0].ptr), *b = static_cast<const uint8_t*>(in[count - 1].ptr);
  ParallelForThreads(OmpThreads(out.Size() / 4), out.Size(),
                     [&](int64_t begin, int64_t end) { loop(a + begin, b + begin, out.data<uint8_t>() + begin, end - begin); });
  return true;
}

}  // namespace pointwise
}  // namespace mxnet
