/* In which pieces kernels move what they do not look at. */
#ifndef MXNET_OPERATOR_INDEXING_MOVE_UNITS_H_
#define MXNET_OPERATOR_INDEXING_MOVE_UNITS_H_

#include <cstddef>
#include <cstdint>

#include "mxnet/base.h"

namespace mxnet {

/* An unsigned dtype of that size. */
inline int UnitDType(size_t bytes) { return bytes == 1 ? kUint8 : bytes == 2 ? kUint16 : bytes == 4 ? kUint32 : kUint64; }

/* The widest unit, up to 8 bytes, in which pieces of `bytes` at these addresses can be moved. */
inline size_t UnitOf(int64_t bytes, const void* p, const void* q, const void* r = nullptr) {
  const uint64_t all =
      static_cast<uint64_t>(bytes) | reinterpret_cast<uintptr_t>(p) | reinterpret_cast<uintptr_t>(q) | reinterpret_cast<uintptr_t>(r);
  return all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_INDEXING_MOVE_UNITS_H_
