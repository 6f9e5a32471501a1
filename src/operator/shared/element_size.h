/* Loops that move elements without looking at them: one for each size. */
#ifndef MXNET_OPERATOR_SHARED_ELEMENT_SIZE_H_
#define MXNET_OPERATOR_SHARED_ELEMENT_SIZE_H_

#include <cstddef>
#include <cstdint>

#include "mxnet/error.h"

namespace mxnet {

/* f(an unsigned integer that stands for elements of that size). No other size exists among
 * dtypes. */
template <typename F>
void VisitElement(size_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: MXNET_THROW(Value) << "[move] elements of " << bytes << " bytes";
  }
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_ELEMENT_SIZE_H_
