/* What the kernels of sparse forms share: values by dtype, zeros. */
#ifndef MXNET_OPERATOR_SPARSE_SPARSE_VALUES_H_
#define MXNET_OPERATOR_SPARSE_SPARSE_VALUES_H_

#include <cstdint>

#include "mxnet/base.h"
#include "mxnet/error.h"

namespace mxnet {
namespace sparse {

/* Elements that are worth a thread of their own. */
constexpr int64_t kRowGrain = 1 << 14;

/* visit(f), where f(data, i) tells whether element i is neither 0 nor -0: by its bits. */
template <typename F>
void VisitNonZero(int dtype, F&& visit) {
  const bool sign = IsFloating(dtype);
  switch (DTypeSize(dtype)) {
    case 1: return visit([](const void* d, int64_t i) { return static_cast<const uint8_t*>(d)[i] != 0; });
    case 2:
      return visit([m = static_cast<uint16_t>(sign ? 0x7fff : 0xffff)](const void* d, int64_t i) {
        return (static_cast<const uint16_t*>(d)[i] & m) != 0;
      });
    case 4:
      return visit(
          [m = sign ? 0x7fffffffu : 0xffffffffu](const void* d, int64_t i) { return (static_cast<const uint32_t*>(d)[i] & m) != 0; });
    default:
      return visit([m = sign ? ~(uint64_t{1} << 63) : ~uint64_t{0}](const void* d, int64_t i) {
        return (static_cast<const uint64_t*>(d)[i] & m) != 0;
      });
  }
}

inline bool AnyNonZero(const void* data, int64_t count, int dtype) {
  bool any = false;
  VisitNonZero(dtype, [&](auto is_nonzero) {
    for (int64_t i = 0; i < count && !any; ++i) any = is_nonzero(data, i);
  });
  return any;
}

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_SPARSE_VALUES_H_
