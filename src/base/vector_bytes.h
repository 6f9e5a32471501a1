/* For `*_variants.cc`: a variant is compiled once per instruction set, and this is its own. */
#ifndef MXNET_BASE_VECTOR_BYTES_H_
#define MXNET_BASE_VECTOR_BYTES_H_

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;  // of a register
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

}  // namespace
}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
#endif  // MXNET_BASE_VECTOR_BYTES_H_
