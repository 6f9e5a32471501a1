/*
 * What the operators on 8-bit integers share. An array of them comes with two arrays of shape (1,),
 * the least and the greatest number that it stands for (Wu et al., Integer quantization for deep
 * learning inference, 2020; Jacob et al., CVPR 2018). Only the larger magnitude m of the two
 * counts: an element q stands for q * m / levels.
 */
#ifndef MXNET_OPERATOR_QUANTIZED_QUANTIZED_H_
#define MXNET_OPERATOR_QUANTIZED_QUANTIZED_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "mxnet/op.h"
#include "operator/quantized/bytes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace quantized {

/*
 * How many steps the larger magnitude of a range is. 1.9.1 has two answers, and programs see both:
 * half a step more than the greatest integer where values become integers and back, and that
 * integer in _contrib_quantize, _contrib_requantize and the ranges of sums of products.
 */
inline float Levels(int dtype) { return dtype == kUint8 ? 255.5f : 127.5f; }
inline float WholeLevels(int dtype) { return dtype == kUint8 ? 255.0f : 127.0f; }
constexpr float kSumLevels = 2147483647.0f;  // of 32-bit sums

inline float LargestOf(float low, float high) { return std::max(std::fabs(low), std::fabs(high)); }
/* steps / range; 0 for a range that has no extent, and for NaN. */
inline float StepsOf(float steps, float range) { return range > 0 ? steps / range : 0; }

/* What two arrays, the least and the greatest number, hold. */
inline float LargestIn(const TBlob& low, const TBlob& high) { return LargestOf(*low.data<float>(), *high.data<float>()); }

/* The range of 32-bit sums of products of elements with these dtypes and largest magnitudes. */
inline float LargestSum(int a_type, float a_largest, int b_type, float b_largest) {
  return a_largest / WholeLevels(a_type) * (b_largest / WholeLevels(b_type)) * kSumLevels;
}

/* Writes outputs 1 and 2, which are float32 of shape (1,). REQUIRES: memory of the host. */
void StoreRange(KernelArgs& args, float low, float high);

/* What arrays of that dtype hold. */
inline ByteLimits LimitsOf(int dtype) { return dtype == kUint8 ? ByteLimits{0, 255} : ByteLimits{-128, 127}; }

/* The parameters of an operator whose range calibration may have found. */
struct CalibratedRange {
  std::optional<float> min_calib_range, max_calib_range;
  bool given() const { return min_calib_range.has_value() && max_calib_range.has_value(); }
  float low() const { return min_calib_range.value(); }
  float high() const { return max_calib_range.value(); }
  float largest() const { return LargestOf(low(), high()); }
};

inline bool IsBytes(int dtype) { return dtype == kInt8 || dtype == kUint8; }
/* "[operator] `what` is float32; accepted are int8, uint8" unless it is or is not known. */
void CheckBytes(const Attrs& attrs, const char* what, int dtype);
/* int8 when one of them is, uint8 when all are; else unknown. */
int CommonBytes(const std::vector<int>& dtypes, int count);

/* `count` inputs from `first` on, and outputs 1 and 2, are the ends of ranges. */
void RangeShapes(const Attrs& attrs, ShapeVector* in, int first, ShapeVector* out);
void RangeTypes(const Attrs& attrs, std::vector<int>* in, int first, std::vector<int>* out);

/* Shapes as those of the operator `name` for its `arrays` first inputs and output 0. */
InferShapeBySwitchesFn ShapesOf(const char* name, int (*arrays)(const Attrs&));
template <int kArrays>
int Fixed(const Attrs&) {
  return kArrays;
}
/* Output 0 has the dtype of input 0, any of `accepted`. */
InferTypeFn TypeOfData(dtypes::Set accepted);

/* The kernel of operator `name` for this device computes output 0 from the first `arrays`
 * inputs. */
void RunAs(KernelArgs& args, const char* name, int arrays);
/* Output 0 as RunAs gives it, in the range of input 0, whose ends stand in inputs `low` and
 * `low` + 1. */
void RunInRange(KernelArgs& args, const char* name, int arrays, int low);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_QUANTIZED_H_
