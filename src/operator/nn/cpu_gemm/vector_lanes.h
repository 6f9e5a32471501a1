/*
 * Registers of float32 lanes and the register tile of a product, for `*_variants.cc`: a variant is
 * compiled once per instruction set, and these are its own. A tile has kRows rows of kPanel
 * columns: its sums fill the registers, less those for one row of the panel and an element of the
 * other operand.
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_VECTOR_LANES_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_VECTOR_LANES_H_

#include <cstdint>
#include <cstring>

#include "base/vector_bytes.h"
#include "mxnet/base.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

constexpr int kLanes = kVectorBytes / 4, kRows = kLanes == 16 ? 14 : 6;  // AVX-512 has twice as many registers
constexpr int kPanel = 2 * kLanes;

typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef int32_t Ints __attribute__((vector_size(kLanes * 4)));
typedef uint32_t Words __attribute__((vector_size(kLanes * 4)));

inline __attribute__((always_inline)) Vec Load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
inline __attribute__((always_inline)) Words LoadWords(const float* p) { return reinterpret_cast<Words>(Load(p)); }
inline __attribute__((always_inline)) void Store(float* p, Vec v) { std::memcpy(p, &v, sizeof(v)); }

}  // namespace
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_VECTOR_LANES_H_
