// Numbers to 8-bit integers and back: quantize, quantize_v2, quantize_asym, dequantize, requantize.
// Affine and symmetric quantization as in Jacob et al., Quantization and training of neural
// networks for efficient integer-arithmetic-only inference, CVPR 2018.
#include <limits>

#include "base/ran.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized/bytes.h"
#include "operator/quantized/quantized.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

enum ByteType : int { kAuto = -2 };

struct QuantizeParam : public Parameter<QuantizeParam> {
  int out_type;
  MXNET_DECLARE_PARAM(QuantizeParam) {
    MXNET_DTYPE_FIELD_OF(out_type, dtypes::kBytes).set_default(kUint8).describe("Dtype of the integers.");
  }
};

#define MXNET_CALIBRATED_FIELDS(of)                                                           \
  MXNET_FIELD(min_calib_range).set_default(std::optional<float>()).describe("Least " of "."); \
  MXNET_FIELD(max_calib_range).set_default(std::optional<float>()).describe("Greatest " of ".")

struct QuantizeV2Param : public Parameter<QuantizeV2Param>, public CalibratedRange {
  int out_type;
  MXNET_DECLARE_PARAM(QuantizeV2Param) {
    MXNET_DTYPE_FIELD_OF(out_type, dtypes::kBytes)
        .add_enum("auto", kAuto)
        .set_default(kInt8)
        .describe("Dtype of the integers; auto: uint8 where min_calib_range is 0 or more, else int8.");
    MXNET_CALIBRATED_FIELDS("number seen in calibration; without both, those of data are found");
  }
};

struct RequantizeParam : public Parameter<RequantizeParam>, public CalibratedRange {
  int out_type;
  MXNET_DECLARE_PARAM(RequantizeParam) {
    MXNET_DTYPE_FIELD_OF(out_type, dtypes::kBytes)
        .add_enum("auto", kAuto)
        .set_default(kInt8)
        .describe("Dtype of the 8-bit integers; auto: uint8 where min_calib_range is 0 or more, else int8.");
    MXNET_CALIBRATED_FIELDS("number seen in calibration; without both, the largest magnitude of data counts");
  }
};

struct QuantizeAsymParam : public Parameter<QuantizeAsymParam>, public CalibratedRange {
  MXNET_DECLARE_PARAM(QuantizeAsymParam) { MXNET_CALIBRATED_FIELDS("number seen in calibration; without both, those of data are found"); }
};

struct DequantizeParam : public Parameter<DequantizeParam> {
  int out_type;
  MXNET_DECLARE_PARAM(DequantizeParam) {
    MXNET_DTYPE_FIELD_OF(out_type, dtypes::Set{kFloat32}).set_default(kFloat32).describe("Dtype of the numbers.");
  }
};
MXNET_REGISTER_PARAM(QuantizeParam);
MXNET_REGISTER_PARAM(QuantizeV2Param);
MXNET_REGISTER_PARAM(QuantizeAsymParam);
MXNET_REGISTER_PARAM(RequantizeParam);
MXNET_REGISTER_PARAM(DequantizeParam);

namespace {

using nn::Wanted;

constexpr int64_t kChunk = 65536;  // elements that a thread takes at a time

template <typename P>
int ByteTypeOf(const Attrs& attrs) {
  const auto& p = attrs.get<P>();
  if (p.out_type != kAuto) return p.out_type;
  return p.given() && p.low() >= 0 ? kUint8 : kInt8;
}

/* f(first, count) for pieces of n elements, on several threads. */
template <typename F>
void InPieces(int64_t n, F&& f) {
  Ran("vector loop");
  ParallelFor(n, kChunk, [&](int64_t b, int64_t e) { f(b, e - b); });
}

/* The least and the greatest number of x; 0 and 0 where there is none. */
void RangeOf(const TBlob& x, float* low, float* high) {
  const int64_t n = x.Size(), chunks = (n + kChunk - 1) / kChunk;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> least(static_cast<size_t>(chunks), kInfinity), greatest(static_cast<size_t>(chunks), -kInfinity);
  Ran("vector loop");
  ParallelFor(chunks, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      MXNET_CPU_CALL(Extremes)(x.data<float>() + i * kChunk, std::min(kChunk, n - i * kChunk), &least[i], &greatest[i]);
  });
  *low = kInfinity, *high = -kInfinity;
  for (int64_t i = 0; i < chunks; ++i) *low = std::min(*low, least[i]), *high = std::max(*high, greatest[i]);
  if (*low > *high) *low = *high = 0;
}

/* That of calibration, or else what is found. */
void RangeFor(const CalibratedRange& given, const TBlob& x, float* low, float* high) {
  if (!given.given()) return RangeOf(x, low, high);
  *low = given.low(), *high = given.high();
}

void QuantizeFloats(KernelArgs& args, float scale, float shift) {
  const TBlob &x = args.in[0], &out = args.out[0];
  if (!Wanted(args, 0)) return;
  InPieces(x.Size(), [&](int64_t at, int64_t n) {
    MXNET_CPU_CALL(ToBytes)(x.data<float>() + at, scale, shift, LimitsOf(out.dtype), n, out.data<char>() + at);
  });
}

/* Ranges of int8 are given back symmetric. */
void StoreByteRange(KernelArgs& args, float low, float high) {
  const float largest = LargestOf(low, high);
  args.out[0].dtype == kInt8 ? StoreRange(args, -largest, largest) : StoreRange(args, low, high);
}

void QuantizeKernel(KernelArgs& args) {
  const float low = *args.in[1].data<float>(), high = *args.in[2].data<float>();
  QuantizeFloats(args, StepsOf(WholeLevels(args.out[0].dtype), LargestOf(low, high)), 0);
  StoreByteRange(args, low, high);
}

/* Integers stay, or become those of the other dtype that stand for the same. Without calibration
 * one of them stands for itself. */
void QuantizeBytesKernel(KernelArgs& args) {
  const auto& p = args.param<QuantizeV2Param>();
  const TBlob &x = args.in[0], &out = args.out[0];
  if (Wanted(args, 0)) {
    const float scale = x.dtype == out.dtype ? 1 : Levels(out.dtype) / Levels(x.dtype);
    InPieces(x.Size(), [&](int64_t at, int64_t n) {
      MXNET_CPU_CALL(BytesToBytes)
      (x.data<char>() + at, x.dtype == kUint8, scale, 0, LimitsOf(out.dtype), n, out.data<char>() + at);
    });
  }
  if (p.given()) return StoreRange(args, p.low(), p.high());
  StoreRange(args, x.dtype == kUint8 ? 0 : -Levels(kInt8), Levels(x.dtype));
}

void QuantizeV2Kernel(KernelArgs& args) {
  if (args.in[0].dtype != kFloat32) return QuantizeBytesKernel(args);
  const auto& p = args.param<QuantizeV2Param>();
  float low, high;
  RangeFor(p, args.in[0], &low, &high);
  QuantizeFloats(args, StepsOf(Levels(args.out[0].dtype), LargestOf(low, high)), 0);
  StoreByteRange(args, low, high);
}

void QuantizeAsymKernel(KernelArgs& args) {
  const auto& p = args.param<QuantizeAsymParam>();
  float low, high;
  RangeFor(p, args.in[0], &low, &high);
  const float scale = high > low ? WholeLevels(kUint8) / (high - low) : 1, shift = -low * scale;
  QuantizeFloats(args, scale, shift);
  StoreRange(args, scale, shift);
}

void DequantizeKernel(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  const TBlob& x = args.in[0];
  const float scale = LargestIn(args.in[1], args.in[2]) / Levels(x.dtype);
  InPieces(x.Size(), [&](int64_t at, int64_t n) {
    MXNET_CPU_CALL(BytesToFloats)(x.data<char>() + at, x.dtype == kUint8, 0, scale, n, args.out[0].data<float>() + at);
  });
}

int64_t LargestSumOf(const TBlob& x) {
  const int64_t n = x.Size(), chunks = (n + kChunk - 1) / kChunk;
  std::vector<int64_t> largest(static_cast<size_t>(chunks));
  Ran("vector loop");
  ParallelFor(chunks, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      largest[i] = MXNET_CPU_CALL(LargestOfSums)(x.data<int32_t>() + i * kChunk, std::min(kChunk, n - i * kChunk));
  });
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

void RequantizeKernel(KernelArgs& args) {
  const auto& p = args.param<RequantizeParam>();
  const TBlob &x = args.in[0], &out = args.out[0];
  const float unit = LargestIn(args.in[1], args.in[2]) / kSumLevels;
  const float largest = p.given() ? p.largest() : static_cast<float>(LargestSumOf(x)) * unit;
  const float scale = unit * StepsOf(WholeLevels(out.dtype), largest);
  if (Wanted(args, 0))
    InPieces(x.Size(), [&](int64_t at, int64_t n) {
      MXNET_CPU_CALL(SumsToBytes)(x.data<int32_t>() + at, scale, LimitsOf(out.dtype), n, out.data<char>() + at);
    });
  StoreRange(args, out.dtype == kUint8 ? 0 : -largest, largest);
}

// ---- inference

bool DataShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  RangeShapes(attrs, in, 1, out);
  return (*in)[0].known();
}

template <typename P>
bool TypesOf(const Attrs& attrs, int data, std::vector<int>* in, std::vector<int>* out) {
  if (data != kDTypeUnknown) AssignType(attrs, "data", &(*in)[0], data);
  AssignType(attrs, "output", &(*out)[0], ByteTypeOf<P>(attrs));
  RangeTypes(attrs, in, 1, out);
  return (*in)[0] != kDTypeUnknown;
}

bool QuantizeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "data", &(*in)[0], kFloat32);
  AssignType(attrs, "output", &(*out)[0], attrs.get<QuantizeParam>().out_type);
  RangeTypes(attrs, in, 1, out);
  return true;
}

bool QuantizeV2Type(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int data = (*in)[0];
  MXNET_CHECK_KIND(data == kDTypeUnknown || data == kFloat32 || IsBytes(data), Type)
      << nn::Named(attrs) << "data is " << DTypeName(data) << "; accepted are float32, int8, uint8";
  return TypesOf<QuantizeV2Param>(attrs, kDTypeUnknown, in, out);
}

bool QuantizeAsymType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "data", &(*in)[0], kFloat32);
  AssignType(attrs, "output", &(*out)[0], kUint8);
  RangeTypes(attrs, in, 1, out);
  return true;
}

bool RequantizeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  return TypesOf<RequantizeParam>(attrs, kInt32, in, out);
}

bool DequantizeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  CheckBytes(attrs, "data", (*in)[0]);
  AssignType(attrs, "output", &(*out)[0], kFloat32);
  RangeTypes(attrs, in, 1, out);
  return (*in)[0] != kDTypeUnknown;
}

// ---- records

MXNET_REGISTER_OP(_contrib_quantize)
    .describe(
        "8-bit integers for numbers of a given range.\n\n"
        "data has any shape, min_range and max_range have shape (1,): the range, of which only the larger magnitude m counts. The result "
        "is "
        "data * 127 / m as int8, or data * 255 / m as uint8, rounded to the nearest (ties to even) and cut to what the dtype holds. The "
        "other two results are the range: -m and m for int8, the given ends for uint8. NaN, and a range without extent, give 0. float32.")
    .alias("_npx_contrib_quantize")
    .set_param<QuantizeParam>()
    .set_inputs({"data", "min_range", "max_range"})
    .set_outputs({"output0", "output1", "output2"})
    .set_infer_shape(DataShape)
    .set_infer_type(QuantizeType)
    .set_dtypes({kFloat32})
    .set_kernel([](KernelArgs& a) { OnHost(a, QuantizeKernel); });

MXNET_REGISTER_OP(_contrib_quantize_v2)
    .describe(
        "8-bit integers for numbers, whose range is given or found.\n\n"
        "data has any shape. The result is data * 127.5 / m as int8, or data * 255.5 / m as uint8, rounded to the nearest (ties to even) "
        "and cut to what the dtype holds; m is the larger magnitude of min_calib_range and max_calib_range, or of data where they are not "
        "given. The other two results, of shape (1,), are the range: -m and m for int8, both ends for uint8. NaN, and a range without "
        "extent, give 0. data that is int8 or uint8 already keeps its meaning. float32, int8, uint8.")
    .alias("_npx_contrib_quantize_v2")
    .set_param<QuantizeV2Param>()
    .set_inputs({"data"})
    .set_outputs({"output0", "output1", "output2"})
    .set_infer_shape(DataShape)
    .set_infer_type(QuantizeV2Type)
    .set_dtypes(dtypes::kBytes | dtypes::Set{kFloat32})
    .set_trait(TakesCalibratedRange{})
    .set_layout(LayoutRule::kChannelsLast)
    .set_trait(graph_ops::ByteImages{})
    .set_trait(graph_ops::RangesStay{[](const Attrs& a) { return a.get<QuantizeV2Param>().given(); }})
    .set_kernel([](KernelArgs& a) { OnHost(a, QuantizeV2Kernel); });

MXNET_REGISTER_OP(_contrib_quantize_asym)
    .describe(
        "uint8 integers for numbers from a least to a greatest one: data * scale + shift.\n\n"
        "data has any shape. scale is 255 / (greatest - least), shift is -least * scale, both float32 of shape (1,); the ends are "
        "min_calib_range and max_calib_range, or those of data where they are not given. Rounded to the nearest, ties to even, and cut to "
        "[0, 255]. Numbers that are all the same have scale 1. float32.")
    .set_param<QuantizeAsymParam>()
    .set_inputs({"data"})
    .set_outputs({"output", "scale", "shift"})
    .set_infer_shape(DataShape)
    .set_infer_type(QuantizeAsymType)
    .set_dtypes({kFloat32})
    .set_trait(TakesCalibratedRange{})
    .set_kernel([](KernelArgs& a) { OnHost(a, QuantizeAsymKernel); });

MXNET_REGISTER_OP(_contrib_dequantize)
    .describe(
        "The numbers that 8-bit integers stand for: data * m / 127.5 of int8, data * m / 255.5 of uint8.\n\n"
        "data has any shape, and so has the result, of float32. min_range and max_range have shape (1,); m is the larger magnitude of "
        "them. int8, uint8.")
    .set_param<DequantizeParam>()
    .set_inputs({"data", "min_range", "max_range"})
    .set_infer_shape(DataShape)
    .set_infer_type(DequantizeType)
    .set_dtypes(dtypes::kBytes)
    .set_layout(LayoutRule::kChannelsLast)
    .set_trait(graph_ops::ByteImages{})
    .set_kernel([](KernelArgs& a) { OnHost(a, DequantizeKernel); });

MXNET_REGISTER_OP(_contrib_requantize)
    .describe(
        "8-bit integers for 32-bit sums, such as quantized_conv and quantized_fully_connected give.\n\n"
        "data has any shape; an element q of it stands for q * m / (2^31 - 1), where m is the larger magnitude of min_range and max_range, "
        "of shape (1,). The result is that times 127 / c as int8, or 255 / c as uint8, rounded to the nearest (ties to even) and cut to "
        "what the dtype holds; c is the larger magnitude of min_calib_range and max_calib_range, or of what data stands for where they are "
        "not given. The other two results are the range: -c and c for int8, 0 and c for uint8. int32.")
    .alias("_npx_requantize")
    .set_param<RequantizeParam>()
    .set_inputs({"data", "min_range", "max_range"})
    .set_outputs({"output0", "output1", "output2"})
    .set_infer_shape(DataShape)
    .set_infer_type(RequantizeType)
    .set_dtypes({kInt32})
    .set_trait(TakesCalibratedRange{})
    .set_kernel([](KernelArgs& a) { OnHost(a, RequantizeKernel); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
