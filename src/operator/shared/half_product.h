/*
 * Products of matrices of 16-bit numbers on the CPU, where the processor multiplies such numbers:
 * c = op(a) op(b), row-major without gaps, op(x) = x or its transpose. Sums are float32 and rounded
 * once.
 */
#ifndef MXNET_OPERATOR_SHARED_HALF_PRODUCT_H_
#define MXNET_OPERATOR_SHARED_HALF_PRODUCT_H_

#include <cstdint>
#include <functional>

#include "mxnet/env.h"

namespace mxnet {

struct HalfProduct {
  int dtype = 0;  // of all three
  bool trans_a = false, trans_b = false;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  const void *a = nullptr, *b = nullptr;
  const void* bias = nullptr;  // n numbers, added to each row
  bool accumulate = false;     // adds to what c holds
  void* c = nullptr;
};

namespace detail {
/* Set by half_product_onednn.cc when that file is linked. */
using HalfProductFn = bool (*)(const HalfProduct& product, const std::function<void*(size_t)>& workspace);
extern HalfProductFn g_onednn_half_product;
}  // namespace detail

/* False, and nothing is done, without such instructions, and for products so small that copies in
 * float32 take less time than the library's code for a new size. */
inline bool MultiplyHalf(const HalfProduct& product, const std::function<void*(size_t)>& workspace) {
  return Env::Get().onednn_enabled && detail::g_onednn_half_product && detail::g_onednn_half_product(product, workspace);
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_HALF_PRODUCT_H_
