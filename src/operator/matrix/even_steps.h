/* Copies between single elements an even step apart and neighbours. */
#ifndef MXNET_OPERATOR_MATRIX_EVEN_STEPS_H_
#define MXNET_OPERATOR_MATRIX_EVEN_STEPS_H_

#include <cstddef>
#include <cstdint>

#include "base/cpu_dispatch.h"

namespace mxnet {

constexpr int kLeastStep = 2, kMostStep = 4;

/* Whether the functions below know elements of so many bytes, so far apart. */
inline bool IsEvenStep(int64_t step, int64_t elem_bytes) {
  return step >= kLeastStep && step <= kMostStep && (elem_bytes == 1 || elem_bytes == 2 || elem_bytes == 4 || elem_bytes == 8);
}

/* REQUIRES: IsEvenStep(step, elem_bytes), no overlap. */
MXNET_CPU_DECLARE(
    /* to[i * step + k] = parts[k][i] for i < n, k < step. */
    void Interleave(const void* const* parts, int step, void* to, int64_t n, size_t elem_bytes);
    /* to[i] = from[i * step] for i < n. Nothing behind the last of these is read. */
    void EveryStep(const void* from, int step, void* to, int64_t n, size_t elem_bytes);)

}  // namespace mxnet
#endif  // MXNET_OPERATOR_MATRIX_EVEN_STEPS_H_
