/* For `*_variants.cc`: a variant is compiled once per instruction set, and this is its own. */
#ifndef MXNET_OPERATOR_QUANTIZED_FOUR_BYTES_H_
#define MXNET_OPERATOR_QUANTIZED_FOUR_BYTES_H_

#include <cstdint>
#include <cstring>

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

/* Neighbours that an instruction multiplies and adds, for every place of a vector: four numbers of
 * 8 bits or two of 16, of any alignment. */
inline int32_t FourBytes(const void* p) {
  int32_t bits;
  std::memcpy(&bits, p, sizeof bits);
  return bits;
}

}  // namespace
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_FOUR_BYTES_H_
