/* What becomes of the numbers that an operator on integers computes: float32, or 8 bits again. */
#ifndef MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_RESULT_H_
#define MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_RESULT_H_

#include <limits>

#include "operator/quantized/quantized.h"
#include "operator/quantized_fused/fused_layer.h"

namespace mxnet {
namespace quantized {

constexpr int64_t kMostExact = 65536;  // products of bytes whose sum surely fits into 32 bits

struct ResultFields {
  int out_type, out_zero;
  float out_scale, low, high;
};
#define MXNET_RESULT_FIELDS                                                                                                            \
  MXNET_DTYPE_FIELD_OF(out_type, dtypes::Set{kInt8, kUint8, kInt32, kFloat32}).set_default(kFloat32).describe("Dtype of the result."); \
  MXNET_FIELD(out_scale).set_default(1).describe("What 1 in a result of 8 bits stands for.");                                          \
  MXNET_FIELD(out_zero).set_default(0).describe("The number in a result of 8 bits that stands for 0.");                                \
  MXNET_FIELD(low).set_default(-std::numeric_limits<float>::infinity()).describe("Least value of the result.");                        \
  MXNET_FIELD(high).set_default(std::numeric_limits<float>::infinity()).describe("Greatest value of the result.")

/* A zero point: int8, uint8 or int32. */
void CheckZeroType(const Attrs& attrs, int dtype);
int ZeroIn(const TBlob& zero);

/* What 1 in a result stands for; 1 for floats. */
float StepOf(const ResultFields& p);

/* Values as SumsFinish has them (packed_kernels.h), in its order. RoundTo: to the nearest of these
 * integers, less their zero point, times `scale`. AddIntegers: values += what n integers stand
 * for, fused. StoreSteps: n results of values in steps, cut and converted to float32 or bytes. */
void RoundTo(const Affine& form, float scale, int64_t n, float* values);
void AddIntegers(const Affine& form, const void* integers, int64_t n, float* values);
void StoreSteps(const ResultFields& p, const float* values, int64_t n, void* out);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_FUSED_INTEGER_RESULT_H_
