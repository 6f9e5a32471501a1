// Sums and products of arrays of 8-bit integers, element by element, and BatchNorm.
#include <limits>
#include <mutex>

#include "base/ran.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/norm/batch_norm.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized/bytes.h"
#include "operator/quantized/quantized.h"
#include "operator/record/dtypes.h"
#include "operator/record/initial_value.h"
#include "operator/record/traits.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

#define MXNET_RANGE_OF_OUTPUT                                                                                          \
  MXNET_FIELD(min_calib_range)                                                                                         \
      .set_default(std::optional<float>())                                                                             \
      .describe("Least output seen in calibration. With it and max_calib_range the output is of 8 bits, else of 32."); \
  MXNET_FIELD(max_calib_range).set_default(std::optional<float>()).describe("Greatest output seen in calibration.")

struct QuantizedAddParam : public Parameter<QuantizedAddParam>, public CalibratedRange {
  MXNET_DECLARE_PARAM(QuantizedAddParam) { MXNET_RANGE_OF_OUTPUT; }
};
struct QuantizedMulParam : public Parameter<QuantizedMulParam>, public CalibratedRange {
  bool enable_float_output;
  MXNET_DECLARE_PARAM(QuantizedMulParam) {
    MXNET_RANGE_OF_OUTPUT;
    MXNET_FIELD(enable_float_output).set_default(false).describe("Give the products as float32 instead, without a range.");
  }
};
MXNET_REGISTER_PARAM(QuantizedAddParam);
MXNET_REGISTER_PARAM(QuantizedMulParam);

namespace {

using nn::Named;
using nn::Wanted;

constexpr int64_t kGrain = 65536;

// ---- inference: lhs, rhs, and the ends of their ranges

bool PairShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  for (int i = 0; i < 2; ++i) {
    AssignShape(attrs, i ? "rhs" : "lhs", &(*in)[i], (*out)[0]);
    AssignShape(attrs, i ? "rhs" : "lhs", &(*in)[i], (*in)[1 - i]);
  }
  AssignShape(attrs, "lhs", &(*in)[0], (*in)[1]);
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  RangeShapes(attrs, in, 2, out);
  return (*in)[0].known();
}

bool PairType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out, bool bytes, int wide) {
  CheckBytes(attrs, "lhs", (*in)[0]);
  CheckBytes(attrs, "rhs", (*in)[1]);
  RangeTypes(attrs, in, 2, out);
  AssignType(attrs, "output", &(*out)[0], bytes ? CommonBytes(*in, 2) : wide);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

bool AddType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  return PairType(attrs, in, out, attrs.get<QuantizedAddParam>().given(), kInt32);
}

bool MulType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<QuantizedMulParam>();
  return PairType(attrs, in, out, p.given() && !p.enable_float_output, p.enable_float_output ? kFloat32 : kInt32);
}

// ---- kernels

struct Pair {
  const char *a, *b;
  bool a_unsigned, b_unsigned;
  float a_largest, b_largest;  // magnitudes
  double a_unit, b_unit;       // what 1 stands for
  explicit Pair(const KernelArgs& args)
      : a(args.in[0].data<char>()),
        b(args.in[1].data<char>()),
        a_unsigned(args.in[0].dtype == kUint8),
        b_unsigned(args.in[1].dtype == kUint8),
        a_largest(LargestIn(args.in[2], args.in[3])),
        b_largest(LargestIn(args.in[4], args.in[5])),
        a_unit(static_cast<double>(a_largest) / static_cast<double>(Levels(args.in[0].dtype))),
        b_unit(static_cast<double>(b_largest) / static_cast<double>(Levels(args.in[1].dtype))) {}
};

void AddKernel(KernelArgs& args) {
  const auto& p = args.param<QuantizedAddParam>();
  const Pair x(args);
  const TBlob& out = args.out[0];
  const float largest = p.given() ? p.largest() : x.a_largest + x.b_largest;
  if (p.given())
    StoreRange(args, p.min_calib_range.value(), p.max_calib_range.value());
  else
    StoreRange(args, -largest, largest);
  if (!Wanted(args, 0)) return;
  if (!p.given()) {
    const double steps = largest > 0 ? static_cast<double>(std::numeric_limits<int32_t>::max()) / static_cast<double>(largest) : 0.0;
    Ran("vector loop");
    return ParallelFor(out.Size(), kGrain, [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(AddWide)
      (x.a + b, x.a_unsigned, x.a_unit * steps, x.b + b, x.b_unsigned, x.b_unit * steps, e - b, out.data<int32_t>() + b);
    });
  }
  const double steps = largest > 0 ? static_cast<double>(Levels(out.dtype)) / static_cast<double>(largest) : 0.0;
  const auto a_scale = static_cast<float>(x.a_unit * steps), b_scale = static_cast<float>(x.b_unit * steps);
  Ran("vector loop");
  ParallelFor(out.Size(), kGrain, [&](int64_t b, int64_t e) {
    MXNET_CPU_CALL(AddBytes)
    (x.a + b, x.a_unsigned, a_scale, x.b + b, x.b_unsigned, b_scale, LimitsOf(out.dtype), e - b, out.data<char>() + b);
  });
}

void MulKernel(KernelArgs& args) {
  const auto& p = args.param<QuantizedMulParam>();
  const Pair x(args);
  const TBlob& out = args.out[0];
  const float unit = x.a_largest * x.b_largest / (Levels(args.in[0].dtype) * Levels(args.in[1].dtype));
  if (!p.enable_float_output) {
    const float largest = LargestSum(args.in[0].dtype, x.a_largest, args.in[1].dtype, x.b_largest);
    p.given() ? StoreRange(args, p.low(), p.high()) : StoreRange(args, -largest, largest);
  }
  if (!Wanted(args, 0)) return;
  const float scale = p.given() ? unit * StepsOf(Levels(out.dtype), p.largest()) : 0;
  Ran("vector loop");
  ParallelFor(out.Size(), kGrain, [&](int64_t b, int64_t e) {
    const int64_t n = e - b;
    if (p.enable_float_output)
      MXNET_CPU_CALL(ProductsToFloats)(x.a + b, x.a_unsigned, x.b + b, x.b_unsigned, unit, n, out.data<float>() + b);
    else if (!p.given())
      MXNET_CPU_CALL(MultiplyBytes)(x.a + b, x.a_unsigned, x.b + b, x.b_unsigned, n, out.data<int32_t>() + b);
    else
      MXNET_CPU_CALL(ProductsToBytes)
    (x.a + b, x.a_unsigned, x.b + b, x.b_unsigned, scale, LimitsOf(out.dtype), n, out.data<char>() + b);
  });
}

// ---- BatchNorm: data, gamma, beta, moving_mean, moving_var, min_data, max_data

constexpr int kGamma = 1, kRanges = 5;

bool NormShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  RangeShapes(attrs, in, kRanges, out);
  const Shape data = (*in)[0];
  if (!data.ndim_known()) return false;
  const int axis = nn::CheckAxis(attrs, attrs.get<nn::BatchNormParam>().axis, data.ndim());
  Shape channels{data[axis]};
  for (int pass = 0; pass < 2; ++pass)
    for (int i = kGamma; i < kRanges; ++i) {
      AssignShape(attrs, attrs.op->input_names[i].c_str(), &(*in)[i], channels);
      channels = (*in)[i];
    }
  (*in)[0][axis] = (*out)[0][axis] = channels[0];
  return (*in)[0].known();
}

bool NormType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  CheckBytes(attrs, "data", (*in)[0]);
  RangeTypes(attrs, in, kGamma, out);
  AssignType(attrs, "output", &(*out)[0], kInt8);
  return (*in)[0] != kDTypeUnknown;
}

/* y = x * scale + shift in each channel, in numbers; of elements, scale has their unit in it. */
struct Channels {
  std::vector<float> scale, shift;
  explicit Channels(const KernelArgs& args) {
    const auto& p = args.param<nn::BatchNormParam>();
    const auto of = [&](int i, int64_t c) { return args.in[i].data<float>()[c]; };
    const float unit = LargestIn(args.in[kRanges], args.in[kRanges + 1]) / Levels(args.in[0].dtype);
    for (int64_t c = 0; c < args.in[kGamma].Size(); ++c) {
      const float slope = of(1, c) / std::sqrt(of(4, c) + static_cast<float>(p.eps));
      scale.push_back(slope * unit), shift.push_back(of(2, c) - of(3, c) * slope);
    }
  }
  void MultiplyBy(float steps) {
    for (float& v : scale) v *= steps;
    for (float& v : shift) v *= steps;
  }
};

/* f(first row, rows) where each row has a number of each channel. */
template <typename F>
void EachRow(const nn::NormView& view, F&& f) {
  ParallelFor(view.outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, view.channels)), [&](int64_t b, int64_t e) { f(b, e - b); });
}

/* f(channel, first element, elements) for the pieces of data that lie together. */
template <typename F>
void EachRun(const nn::NormView& view, F&& f) {
  ParallelFor(view.outer * view.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, view.inner)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) f(i % view.channels, i * view.inner, view.inner);
  });
}

/* The largest magnitude of the output, where each row has a number of each channel. */
float LargestOfRows(const TBlob& x, const nn::NormView& view, const Channels& channels) {
  const auto n = static_cast<size_t>(view.channels);
  std::vector<int32_t> low(n, 255), high(n, -255);
  std::mutex mutex;
  EachRow(view, [&](int64_t first, int64_t rows) {
    std::vector<int32_t> least(n, 255), greatest(n, -255);
    for (int64_t i = first; i < first + rows; ++i)
      MXNET_CPU_CALL(ColumnExtremes)(x.data<char>() + i * view.channels, x.dtype == kUint8, view.channels, least.data(), greatest.data());
    const std::lock_guard<std::mutex> lock(mutex);
    for (size_t c = 0; c < n; ++c) low[c] = std::min(low[c], least[c]), high[c] = std::max(high[c], greatest[c]);
  });
  float all = 0;
  for (size_t c = 0; c < n && view.outer > 0; ++c) {
    const float scale = channels.scale[c], shift = channels.shift[c];
    all = std::max(all, LargestOf(static_cast<float>(low[c]) * scale + shift, static_cast<float>(high[c]) * scale + shift));
  }
  return all;
}

/* The largest magnitude of the output. */
float LargestOutput(const KernelArgs& args, const nn::NormView& view, const Channels& channels) {
  const TBlob& x = args.in[0];
  if (view.inner == 1) return LargestOfRows(x, view, channels);
  std::vector<float> largest(static_cast<size_t>(view.outer * view.channels));
  EachRun(view, [&](int64_t c, int64_t at, int64_t n) {
    if (n == 0) return;
    int low, high;
    MXNET_CPU_CALL(ByteExtremes)(x.data<char>() + at, x.dtype == kUint8, n, &low, &high);
    const float scale = channels.scale[c], shift = channels.shift[c];
    largest[at / view.inner] = LargestOf(static_cast<float>(low) * scale + shift, static_cast<float>(high) * scale + shift);
  });
  float all = 0;
  for (float v : largest) all = v > all ? v : all;
  return all;
}

void NormKernel(KernelArgs& args) {
  const auto& p = args.param<nn::BatchNormParam>();
  const TBlob &x = args.in[0], &out = args.out[0];
  const nn::NormView view(p, x);
  Channels channels(args);
  const bool given = p.min_calib_range.has_value() && p.max_calib_range.has_value();
  const float largest = given ? LargestOf(p.min_calib_range.value(), p.max_calib_range.value()) : LargestOutput(args, view, channels);
  given ? StoreRange(args, p.min_calib_range.value(), p.max_calib_range.value()) : StoreRange(args, -largest, largest);
  if (!Wanted(args, 0)) return;
  channels.MultiplyBy(StepsOf(Levels(kInt8), largest));
  Ran("vector loop");
  if (view.inner == 1)
    return EachRow(view, [&](int64_t first, int64_t rows) {
      for (int64_t at = first * view.channels; at < (first + rows) * view.channels; at += view.channels) MXNET_CPU_CALL(ScaleColumns)
      (x.data<char>() + at, x.dtype == kUint8, channels.scale.data(), channels.shift.data(), LimitsOf(kInt8), view.channels,
       out.data<char>() + at);
    });
  EachRun(view, [&](int64_t c, int64_t at, int64_t n) {
    MXNET_CPU_CALL(BytesToBytes)
    (x.data<char>() + at, x.dtype == kUint8, channels.scale[c], channels.shift[c], LimitsOf(kInt8), n, out.data<char>() + at);
  });
}

// ---- records

const char kPairText[] =
    "lhs and rhs have one shape and are int8 or uint8, each of its own; the ends of their ranges follow, of shape (1,). ";

[[maybe_unused]] const bool registered = [] {
  const std::vector<std::string> inputs = {"lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max"};
  Op::Register("elemwise_add").set_trait(Quantized{"_contrib_quantized_elemwise_add"});
  Op::Register("elemwise_mul").set_trait(Quantized{"_contrib_quantized_elemwise_mul"});
  Op::Register("_contrib_quantized_elemwise_add")
      .describe(
          std::string("Sum of two arrays of 8-bit integers.\n\n") + kPairText +
          "With min_calib_range and max_calib_range the sum is of 8 bits in that range (uint8 where both arrays are, else int8), else "
          "of 32 bits in the range that both ranges together have. It is rounded to the nearest, ties to even, and cut to what the "
          "dtype holds. The other two results are its range, of shape (1,). int8, uint8.")
      .alias("_npx_quantized_elemwise_add")
      .set_param<QuantizedAddParam>()
      .set_inputs(inputs)
      .set_outputs({"output", "min_output", "max_output"})
      .set_infer_shape(PairShape)
      .set_infer_type(AddType)
      .set_dtypes(dtypes::kBytes)
      .set_trait(TakesCalibratedRange{})
      .set_trait(NeedsRequantize{[](const Attrs& a) { return !a.get<QuantizedAddParam>().given(); }})
      .set_layout(LayoutRule::kChannelsLast)
      .set_trait(graph_ops::ByteImages{})
      .set_trait(graph_ops::RangesStay{})
      .set_kernel([](KernelArgs& a) { OnHost(a, AddKernel); });
  Op::Register("_contrib_quantized_elemwise_mul")
      .describe(
          std::string("Product of two arrays of 8-bit integers, element by element.\n\n") + kPairText +
          "With min_calib_range and max_calib_range the product is of 8 bits in that range (uint8 where both arrays are, else int8), "
          "fractions being cut off; else it is that of the integers, as int32, with the range that 2^31 stands for. The other two "
          "results are the range, of shape (1,). With enable_float_output the product of the numbers, as float32, is the only result. "
          "int8, uint8.")
      .alias("_npx_quantized_elemwise_mul")
      .set_param<QuantizedMulParam>()
      .set_inputs(inputs)
      .set_outputs({"output", "min_output", "max_output"},
                   [](const Attrs& a) { return a.get<QuantizedMulParam>().enable_float_output ? 1 : 3; })
      .set_list_outputs([](const Attrs& a) {
        return a.get<QuantizedMulParam>().enable_float_output ? std::vector<std::string>{"output"}
                                                              : std::vector<std::string>{"output", "min_output", "max_output"};
      })
      .set_infer_shape(PairShape)
      .set_infer_type(MulType)
      .set_dtypes(dtypes::kBytes)
      .set_trait(TakesCalibratedRange{})
      .set_trait(NeedsRequantize{[](const Attrs& a) {
        const auto& p = a.get<QuantizedMulParam>();
        return !p.given() && !p.enable_float_output;
      }})
      .set_layout(LayoutRule::kChannelsLast)
      .set_trait(graph_ops::ByteImages{})
      .set_trait(graph_ops::RangesStay{})
      .set_kernel([](KernelArgs& a) { OnHost(a, MulKernel); });
  Op::Register("_contrib_quantized_batch_norm")
      .describe(
          "BatchNorm of 8-bit integers by moving averages: (x - moving_mean) / sqrt(moving_var + eps) * gamma + beta as int8.\n\n"
          "data has any shape; gamma, beta and the states have shape (channels,) and are float32, min_data and max_data have shape (1,). "
          "gamma is read whatever fix_gamma says. The other two results, of shape (1,), are the range of the output: min_calib_range and "
          "max_calib_range, or, without them, what is found. Values are rounded to the nearest, ties to even, and cut to int8. int8, "
          "uint8.")
      .set_param<nn::BatchNormParam>()
      .set_inputs({"data", "gamma", "beta", "moving_mean", "moving_var", "min_data", "max_data"})
      .set_mutate_inputs({3, 4})
      .set_outputs({"output", "min_output", "max_output"})
      .set_infer_shape(NormShape)
      .set_infer_type(NormType)
      .set_dtypes(dtypes::kBytes)
      .set_trait(AlongAxis{[](const Attrs& a) { return a.get<nn::BatchNormParam>().axis; }})
      .set_trait(InitialValues{[](const Attrs&, const std::string&) { return std::string(); }})  // as in 1.9.1
      .set_trait(TakesCalibratedRange{})
      .set_layout(LayoutRule::kChannelsLast)
      .set_trait(graph_ops::ByteImages{})
      .set_trait(graph_ops::RangesStay{[](const Attrs& a) {
        const auto& p = a.get<nn::BatchNormParam>();
        return p.min_calib_range.has_value() && p.max_calib_range.has_value();
      }})
      .set_kernel([](KernelArgs& a) { OnHost(a, NormKernel); });
  return true;
}();

}  // namespace
}  // namespace quantized
}  // namespace mxnet
