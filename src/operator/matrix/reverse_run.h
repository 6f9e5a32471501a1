/* Copies from the last element to the first, for flips. */
#ifndef MXNET_OPERATOR_MATRIX_REVERSE_RUN_H_
#define MXNET_OPERATOR_MATRIX_REVERSE_RUN_H_

#include <cstddef>
#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

/* to[i] = last[-i] for i < n, elements of 1, 2, 4 or 8 bytes. REQUIRES: no overlap. */
MXNET_CPU_DECLARE(void ReverseRun(const void* last, void* to, int64_t n, size_t elem_bytes);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_REVERSE_RUN_H_
