// What stands between layers of 8-bit integers with zero points: quantization, sums and products of
// two arrays, functions of one (tables of 256 bytes), means of images.
#include <cmath>
#include <limits>
#include <vector>

#include "base/ran.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized_fused/integer_loops.h"
#include "operator/quantized_fused/integer_result.h"
#include "operator/record/traits.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

struct IntegerQuantizeParam : public Parameter<IntegerQuantizeParam> {
  int out_type;
  MXNET_DECLARE_PARAM(IntegerQuantizeParam) {
    MXNET_DTYPE_FIELD_OF(out_type, dtypes::kBytes).set_default(kUint8).describe("Dtype of the result.");
  }
};
MXNET_REGISTER_PARAM(IntegerQuantizeParam);

struct IntegerPairParam : public Parameter<IntegerPairParam>, public ResultFields {
  bool multiply, zero_first;
  float a_scale, b_scale;
  int a_zero, b_zero;
  MXNET_DECLARE_PARAM(IntegerPairParam) {
    MXNET_FIELD(multiply).set_default(false).describe("The product; else the sum.");
    MXNET_FIELD(zero_first).set_default(false).describe("out_zero is added before the result is rounded, not behind that.");
    MXNET_FIELD(a_scale).set_default(1).describe("What 1 in a stands for.");
    MXNET_FIELD(a_zero).set_default(0).describe("The number in a that stands for 0.");
    MXNET_FIELD(b_scale).set_default(1).describe("What 1 in b stands for.");
    MXNET_FIELD(b_zero).set_default(0).describe("The number in b that stands for 0.");
    MXNET_RESULT_FIELDS;
  }
};
MXNET_REGISTER_PARAM(IntegerPairParam);

struct IntegerMeanParam : public Parameter<IntegerMeanParam>, public ResultFields {
  float scale;
  int zero;
  MXNET_DECLARE_PARAM(IntegerMeanParam) {
    MXNET_FIELD(scale).set_default(1).describe("What 1 in data stands for.");
    MXNET_FIELD(zero).set_default(0).describe("The number in data that stands for 0.");
    MXNET_RESULT_FIELDS;
  }
};
MXNET_REGISTER_PARAM(IntegerMeanParam);

namespace {

using nn::Named;
using nn::Wanted;

constexpr int64_t kChunk = 16384;  // elements that a thread takes at least

/* What is left of the limits of 8 bits between two values. */
ByteLimits LimitsFor(const ResultFields& p) {
  ByteLimits limits = LimitsOf(p.out_type);
  const auto zero = static_cast<float>(p.out_zero);
  const auto at = [&](float v) { return std::min(limits.high, std::max(limits.low, std::nearbyint(v / p.out_scale) + zero)); };
  const float low = at(p.low), high = at(p.high);
  return {low, std::max(low, high)};
}

// ---- floats to bytes and back

bool OneNumberShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  for (int i = 1; i < 3; ++i)
    MXNET_CHECK_KIND(!(*in)[i].known() || (*in)[i].Size() == 1, Value)
        << Named(attrs) << (i == 1 ? "scale" : "zero") << " has shape " << (*in)[i] << "; accepted is one number";
  return (*in)[0].known();
}

bool QuantizeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "data", &(*in)[0], kFloat32);
  AssignType(attrs, "scale", &(*in)[1], kFloat32);
  CheckZeroType(attrs, (*in)[2]);
  AssignType(attrs, "output", &(*out)[0], attrs.get<IntegerQuantizeParam>().out_type);
  return true;
}

void QuantizeArray(const TBlob& x, float scale, int zero, const TBlob& out) {
  Ran("vector loop");
  ParallelFor(x.Size(), kChunk, [&](int64_t b, int64_t e) {
    MXNET_CPU_CALL(DivideToBytes)(x.data<float>() + b, scale, static_cast<float>(zero), LimitsOf(out.dtype), e - b, out.data<char>() + b);
  });
}

void Quantize(KernelArgs& args) {
  if (Wanted(args, 0)) QuantizeArray(args.in[0], *args.in[1].data<float>(), ZeroIn(args.in[2]), args.out[0]);
}

bool DequantizeType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  CheckBytes(attrs, "data", (*in)[0]);
  AssignType(attrs, "scale", &(*in)[1], kFloat32);
  CheckZeroType(attrs, (*in)[2]);
  AssignType(attrs, "output", &(*out)[0], kFloat32);
  return (*in)[0] != kDTypeUnknown;
}

void Dequantize(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  const TBlob& x = args.in[0];
  const float scale = *args.in[1].data<float>();
  const auto zero = static_cast<float>(ZeroIn(args.in[2]));
  Ran("vector loop");
  ParallelFor(x.Size(), kChunk, [&](int64_t b, int64_t e) {
    MXNET_CPU_CALL(BytesToFloats)(x.data<char>() + b, x.dtype == kUint8, zero, scale, e - b, args.out[0].data<float>() + b);
  });
}

// ---- by the range of the data itself

bool DynamicShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "scale", &(*out)[1], Shape{1});
  AssignShape(attrs, "zero", &(*out)[2], Shape{1});
  return (*in)[0].known();
}

bool DynamicType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "data", &(*in)[0], kFloat32);
  AssignType(attrs, "output", &(*out)[0], kUint8);
  AssignType(attrs, "scale", &(*out)[1], kFloat32);
  AssignType(attrs, "zero", &(*out)[2], kUint8);
  return true;
}

void QuantizeDynamically(KernelArgs& args) {
  const TBlob& x = args.in[0];
  const int64_t n = x.Size(), chunks = (n + kChunk - 1) / kChunk;
  std::vector<float> least(static_cast<size_t>(chunks)), greatest(static_cast<size_t>(chunks));  // 0 is in the range
  ParallelFor(chunks, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      MXNET_CPU_CALL(Extremes)(x.data<float>() + i * kChunk, std::min(kChunk, n - i * kChunk), &least[i], &greatest[i]);
  });
  float low = 0, high = 0;
  for (int64_t i = 0; i < chunks; ++i) low = std::min(low, least[i]), high = std::max(high, greatest[i]);
  const float scale = high > low ? (high - low) / 255 : 1.0f / 255;
  const float zero = std::nearbyint(std::min(255.0f, std::max(0.0f, -low / scale)));
  if (Wanted(args, 1)) *args.out[1].data<float>() = scale;
  if (Wanted(args, 2)) *args.out[2].data<uint8_t>() = static_cast<uint8_t>(zero);
  if (Wanted(args, 0)) QuantizeArray(x, scale, static_cast<int>(zero), args.out[0]);
}

// ---- two arrays

/* Is `b` one number for each channel of images of shape `a`? */
bool IsOfChannels(const Shape& a, const Shape& b) {
  if (a.ndim() < 3 || b.ndim() != a.ndim() || b[0] != a[0] || b[1] != a[1]) return false;
  return b.Prod(2, b.ndim()) == 1;
}

bool PairShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &a = (*in)[0], &b = (*in)[1];
  if (!(a.known() && b.known() && IsOfChannels(a, b))) {
    AssignShape(attrs, "b", &(*in)[1], (*in)[0]);
    AssignShape(attrs, "a", &(*in)[0], (*in)[1]);
  }
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  return (*in)[0].known() && (*in)[1].known();
}

void CheckByteResult(const Attrs& attrs, const ResultFields& p) {
  MXNET_CHECK_KIND(IsBytes(p.out_type), Value) << Named(attrs) << "out_type " << DTypeName(p.out_type) << "; accepted are int8, uint8";
}

bool PairType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  CheckByteResult(attrs, attrs.get<IntegerPairParam>());
  CheckBytes(attrs, "a", (*in)[0]);
  CheckBytes(attrs, "b", (*in)[1]);
  AssignType(attrs, "output", &(*out)[0], attrs.get<IntegerPairParam>().out_type);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

void ComputePairs(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  const auto& p = args.param<IntegerPairParam>();
  const TBlob &a = args.in[0], &b = args.in[1];
  const ByteLimits limits = LimitsFor(p);
  BytePair pair{};
  pair.a_unsigned = a.dtype == kUint8, pair.b_unsigned = b.dtype == kUint8;
  pair.a_zero = static_cast<float>(p.a_zero), pair.b_zero = static_cast<float>(p.b_zero);
  pair.a_scale = p.a_scale / p.out_scale, pair.b_scale = p.b_scale / p.out_scale;
  if (p.zero_first)
    pair.shift = static_cast<float>(p.out_zero);
  else
    pair.zero = p.out_zero;
  const float scale = p.a_scale * p.b_scale / p.out_scale;
  char* out = args.out[0].data<char>();
  const auto compute = [&](int64_t at, int64_t b_at, int64_t n, const char* other) {
    BytePair some = pair;
    some.a = a.data<char>() + at, some.b = other + b_at;
    p.multiply ? MXNET_CPU_CALL(MultiplyPairs)(some, scale, limits, n, out + at) : MXNET_CPU_CALL(AddPairs)(some, limits, n, out + at);
  };
  Ran("vector loop");
  if (a.shape == b.shape)
    return ParallelFor(a.Size(), kChunk, [&](int64_t from, int64_t to) { compute(from, from, to - from, b.data<char>()); });
  const int64_t channels = a.shape[1], places = a.shape.Prod(2, a.shape.ndim());
  const bool last = a.layout == Layout::kChannelsLast;
  const int64_t row = last ? channels : places, rows = row > 0 ? a.Size() / row : 0;
  ParallelFor(rows, std::max<int64_t>(1, kChunk / std::max<int64_t>(1, row)), [&](int64_t from, int64_t to) {
    std::vector<char> same(last ? 0 : static_cast<size_t>(row));
    for (int64_t i = from; i < to; ++i) {
      if (last) {
        compute(i * row, i / places * channels, row, b.data<char>());
        continue;
      }
      std::fill(same.begin(), same.end(), b.data<char>()[i]);
      compute(i * row, 0, row, same.data());
    }
  });
}

// ---- tables

bool TableShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "table", &(*in)[1], Shape{256});
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  return (*in)[0].known();
}

bool TableType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  CheckBytes(attrs, "data", (*in)[0]);
  CheckBytes(attrs, "table", (*in)[1]);
  AssignType(attrs, "output", &(*out)[0], (*in)[1]);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

void LookUpAll(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  const auto* table = static_cast<const uint8_t*>(args.in[1].dptr);
  const auto* x = static_cast<const uint8_t*>(args.in[0].dptr);
  auto* out = static_cast<uint8_t*>(args.out[0].dptr);
  Ran("vector loop");
  ParallelFor(args.in[0].Size(), kChunk, [&](int64_t b, int64_t e) { MXNET_CPU_CALL(LookUp)(x + b, table, e - b, out + b); });
}

// ---- means of images

bool MeanShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 3 && data.Prod(2, data.ndim()) > 0, Value)
      << Named(attrs) << "data has shape " << data << "; accepted are images (batch, channels, spatial...)";
  Shape result = data;
  for (int i = 2; i < data.ndim(); ++i) result[i] = 1;
  AssignShape(attrs, "output", &(*out)[0], result);
  return true;
}

bool MeanType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<IntegerMeanParam>();
  if (p.out_type != kFloat32) CheckByteResult(attrs, p);
  CheckBytes(attrs, "data", (*in)[0]);
  AssignType(attrs, "output", &(*out)[0], p.out_type);
  return (*in)[0] != kDTypeUnknown;
}

void ComputeMeans(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& p = args.param<IntegerMeanParam>();
  const TBlob& x = args.in[0];
  const int64_t channels = x.shape[1], places = x.shape.Prod(2, x.shape.ndim());
  const bool is_unsigned = x.dtype == kUint8;
  Ran("vector loop");
  ParallelFor(x.shape[0], 1, [&](int64_t b, int64_t e) {
    std::vector<int32_t> sums(static_cast<size_t>(channels));
    std::vector<float> means(static_cast<size_t>(channels));
    for (int64_t i = b; i < e; ++i) {
      const char* image = x.data<char>() + i * channels * places;
      std::fill(sums.begin(), sums.end(), 0);
      if (x.layout == Layout::kChannelsLast) MXNET_CPU_CALL(AddColumns)(image, is_unsigned, places, channels, sums.data());
      for (int64_t c = 0; c < channels; ++c) {
        if (x.layout != Layout::kChannelsLast) sums[c] = MXNET_CPU_CALL(SumBytes)(image + c * places, is_unsigned, places);
        means[c] = (static_cast<float>(sums[c]) / static_cast<float>(places) - static_cast<float>(p.zero)) * p.scale / StepOf(p);
      }
      StoreSteps(p, means.data(), channels, args.out[0].data<char>() + i * channels * static_cast<int64_t>(DTypeSize(p.out_type)));
    }
  });
}

// ---- records

Op& Elements(const char* name, const char* text, std::vector<std::string> inputs, void (*kernel)(KernelArgs&)) {
  return Op::Register(name)
      .describe(text)
      .set_inputs(std::move(inputs))
      .set_layout(LayoutRule::kChannelsLast)
      .set_trait(graph_ops::ByteImages{})
      .set_zero_gradient()
      .set_kernel(kernel);
}

[[maybe_unused]] const bool registered = [] {
  Elements("_integer_quantize",
           "8-bit integers of floats: data / scale, rounded to the nearest (ties to even), plus zero, and cut to what out_type holds.\n\n"
           "scale and zero are one number each, float32, and int8, uint8 or int32. NaN gives the lowest integer, as in ONNX "
           "Runtime. float32.",
           {"data", "scale", "zero"}, [](KernelArgs& a) { OnHost(a, Quantize); })
      .set_param<IntegerQuantizeParam>()
      .set_infer_shape(OneNumberShape)
      .set_infer_type(QuantizeType)
      .set_dtypes({kFloat32});
  Elements("_integer_dequantize",
           "What 8-bit integers stand for: (data - zero) * scale, float32.\n\n"
           "scale and zero are one number each, float32, and int8, uint8 or int32. int8, uint8.",
           {"data", "scale", "zero"}, [](KernelArgs& a) { OnHost(a, Dequantize); })
      .set_infer_shape(OneNumberShape)
      .set_infer_type(DequantizeType)
      .set_dtypes(dtypes::kBytes);
  Elements("_integer_quantize_dynamic",
           "8-bit integers of floats by their own range, 0 included: uint8, with their scale and zero point.\n\n"
           "scale = (greatest - least) / 255, and zero = -least / scale, rounded; both have shape (1,). float32.",
           {"data"}, [](KernelArgs& a) { OnHost(a, QuantizeDynamically); })
      .set_outputs({"output", "scale", "zero"})
      .set_infer_shape(DynamicShape)
      .set_infer_type(DynamicType)
      .set_dtypes({kFloat32});
  Elements("_integer_pair",
           "The sum or the product of two arrays of 8-bit integers with zero points, in 8 bits.\n\n"
           "a and b have one shape, or b is (batch, channels, 1...) beside images a. What they stand for is added or multiplied, cut to "
           "[low, high], and rounded to the nearest integer of "
           "out_scale and out_zero. int8, uint8.",
           {"a", "b"}, [](KernelArgs& a) { OnHost(a, ComputePairs); })
      .set_param<IntegerPairParam>()
      .set_infer_shape(PairShape)
      .set_infer_type(PairType)
      .set_dtypes(dtypes::kBytes);
  Elements("_integer_table",
           "table[data] for 8-bit integers: any function of one number.\n\n"
           "table has shape (256,), and its entry i is for the byte i; of int8, 128 to 255 are the bytes of -128 to -1. The result has "
           "the dtype of table. int8, uint8.",
           {"data", "table"}, [](KernelArgs& a) { OnHost(a, LookUpAll); })
      .set_infer_shape(TableShape)
      .set_infer_type(TableType)
      .set_dtypes(dtypes::kBytes);
  Op::Register("_integer_mean")
      .describe(
          "The mean of each channel of images of 8-bit integers with a zero point, in float32 or 8 bits.\n\n"
          "data has shape (batch, channels, spatial...), the result (batch, channels, 1...). int8, uint8.")
      .set_inputs({"data"})
      .set_param<IntegerMeanParam>()
      .set_infer_shape(MeanShape)
      .set_infer_type(MeanType)
      .set_dtypes(dtypes::kBytes)
      .set_images({1, 1, 0})
      .set_trait(graph_ops::ByteImages{})
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) { OnHost(a, ComputeMeans); });
  return true;
}();

}  // namespace
}  // namespace quantized
}  // namespace mxnet
