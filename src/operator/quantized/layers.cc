// Convolution, dense layer and pooling of 8-bit integers.
#include "operator/quantized/layers.h"

#include <cstring>
#include <optional>
#include <vector>

#include "base/ran.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nn/dense/fully_connected.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/nn/pooling/pooling.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized/byte_product.h"
#include "operator/quantized/bytes.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

const int32_t* WideBias(KernelArgs& args, const LayerRanges& ranges, int arrays) {
  if (arrays < 3) return nullptr;
  const TBlob& bias = args.in[2];
  const bool is_wide = bias.dtype == kInt32;
  const double unit = static_cast<double>(ranges.data) * static_cast<double>(ranges.weight);
  const auto levels = static_cast<double>(is_wide ? WholeLevels(args.in[0].dtype) : Levels(args.in[0].dtype));
  double scale = unit > 0 ? static_cast<double>(ranges.bias) * levels / unit : 0;
  if (is_wide) scale *= static_cast<double>(WholeLevels(kInt8)) / static_cast<double>(kSumLevels);
  int32_t* wide = nn::Workspace<int32_t>(args, bias.Size());
  for (int64_t i = 0; i < bias.Size(); ++i) {
    const double value = scale * (is_wide ? bias.data<int32_t>()[i] : bias.data<int8_t>()[i]);
    wide[i] = static_cast<int32_t>(std::min(2147483647.0, std::max(-2147483648.0, value == value ? value : 0.0)));
  }
  return wide;
}

namespace {

using nn::Named;
using nn::Wanted;

// ---- what convolutions and dense layers share: data, weight, [bias], then a range for each

template <typename P>
int Arrays(const Attrs& attrs) {
  return attrs.get<P>().no_bias ? 2 : 3;
}

template <typename P>
std::vector<std::string> LayerInputs(const Attrs& attrs) {
  std::vector<std::string> names = {"data", "weight", "bias"};
  if (attrs.param && attrs.get<P>().no_bias) names.pop_back();
  const size_t arrays = names.size();
  for (size_t i = 0; i < arrays; ++i)
    for (const char* end : {"min_", "max_"}) names.push_back(end + names[i]);
  return names;
}

template <typename P>
bool LayerType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  CheckBytes(attrs, "data", (*in)[0]);
  AssignType(attrs, "weight", &(*in)[1], kInt8);
  if (!attrs.get<P>().no_bias && (*in)[2] != kInt32) AssignType(attrs, "bias", &(*in)[2], kInt8);
  RangeTypes(attrs, in, Arrays<P>(attrs), out);
  AssignType(attrs, "output", &(*out)[0], kInt32);
  return (*in)[0] != kDTypeUnknown;
}

void StoreSumRange(KernelArgs& args, const LayerRanges& ranges) {
  const float largest = LargestSum(args.in[0].dtype, ranges.data, kInt8, ranges.weight);
  StoreRange(args, -largest, largest);
}

/* The bias added to rows of its width; several short ones at a time. */
void AddToRows(const int32_t* bias, int64_t rows, int64_t width, int32_t* sums) {
  constexpr int64_t kTile = 512;
  const int64_t together = std::max<int64_t>(1, std::min(rows, kTile / width));
  int32_t tile[kTile];
  for (int64_t i = 0; together > 1 && i < together; ++i) std::copy_n(bias, width, tile + i * width);
  const int32_t* add = together > 1 ? tile : bias;
  ParallelFor(rows, std::max<int64_t>(1, 65536 / width), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i += together) MXNET_CPU_CALL(AddToSums)(add, std::min(together, e - i) * width, sums + i * width);
  });
}

template <typename P>
Op& LayerRecord(const char* name) {
  return Op::Register(name)
      .set_inputs({"data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight", "min_bias", "max_bias"},
                  [](const Attrs& a) { return 3 * Arrays<P>(a); })
      .set_list_inputs(LayerInputs<P>)
      .set_outputs({"output", "min_output", "max_output"})
      .set_infer_type(LayerType<P>)
      .set_dtypes(dtypes::kBytes)
      .set_trait(NeedsRequantize{});
}

// ---- dense

void FullyConnectedKernel(KernelArgs& args) {
  const int arrays = Arrays<nn::FullyConnectedParam>(*args.attrs);
  const LayerRanges ranges(args, arrays);
  StoreSumRange(args, ranges);
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const TBlob &data = args.in[0], &weight = args.in[1];
  const int64_t columns = weight.shape[0], k = weight.shape[1], rows = args.out[0].Size() / columns;
  const int32_t* bias = WideBias(args, ranges, arrays);
  int32_t* out = args.out[0].data<int32_t>();
  ByteProduct(args, {data.dptr, data.dtype == kUint8}, rows, weight.data<int8_t>(), columns, k, out,
              [=](int64_t row, int64_t at, int64_t n, const auto* sums) {
                if constexpr (sizeof(*sums) > sizeof(*out)) {  // others lie in the output
                  int32_t* to = out + row * columns + at;
                  for (int64_t j = 0; j < n; ++j)
                    to[j] = static_cast<int32_t>(std::min<int64_t>(INT32_MAX, std::max<int64_t>(INT32_MIN, sums[j])));
                }
              });
  if (bias) AddToRows(bias, rows, columns, out);
}

// ---- convolution

void AddBias(const nn::ConvCall& call, const int32_t* bias) {
  const nn::ConvDims& d = call.dims;
  const bool last = call.dst.channels_last;
  int32_t* sums = static_cast<int32_t*>(call.dst.ptr);
  const int64_t width = d.OutSize();
  if (last) return AddToRows(bias, d.batch * width, d.filters, sums);
  ParallelFor(d.batch * d.filters, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, width)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) MXNET_CPU_CALL(AddToRow)(bias[i % d.filters], width, sums + i * width);
  });
}

void ConvolutionKernel(KernelArgs& args) {
  const auto& p = args.param<nn::ConvolutionParam>();
  const int arrays = Arrays<nn::ConvolutionParam>(*args.attrs);
  const LayerRanges ranges(args, arrays);
  StoreSumRange(args, ranges);
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const bool last = nn::ChannelsLastAttr(p.layout);
  nn::ConvCall call;
  call.dims = nn::DimsOf(p, args.in[0].shape, args.out[0].shape);
  call.dtype = args.in[0].dtype;
  call.src = {args.in[0].dptr, last}, call.weight = {args.in[1].dptr, last}, call.dst = {args.out[0].dptr, last};
  call.weight_input = 1;
  ConvolveBytes(args, call);
  if (const int32_t* bias = WideBias(args, ranges, arrays)) AddBias(call, bias);
}

// ---- pooling

bool PoolingShape(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  const int type = attrs.get<nn::PoolingParam>().pool_type;
  MXNET_CHECK_KIND(type == nn::kPoolMax || type == nn::kPoolAvg, Value)
      << Named(attrs) << "pool_type " << (type == nn::kPoolSum ? "sum" : "lp") << "; accepted for 8-bit integers: max, avg";
  return ShapesOf("Pooling", Fixed<1>)(attrs, switches, in, out);
}

/* 2.0 has one more parameter, which says nothing where it is not given. */
void AddOutputSize(Op* op) {
  op->params.push_back({"output_size", "Shape or None, optional, default=None", "Accepted for compatibility: None."});
  op->parse = [name = op->name, rest = op->parse](const AttrDict& dict) {
    AttrDict others = dict;
    const auto given = others.find("output_size");
    if (given != others.end()) {
      MXNET_CHECK_KIND(given->second == "None" || given->second == "()" || given->second == "[]", Value)
          << "[" << name << "] output_size=" << given->second << "; accepted: None";
      others.erase(given);
    }
    return rest(others);
  };
}

/* Means of windows, as float32 of a sum that is exact, rounded. `x` and `out`: some examples. */
void AveragesOf(KernelArgs& args, const TBlob& x, const TBlob& out, float* room) {
  TBlob wide_in = x, wide_out = out;
  wide_in.dtype = wide_out.dtype = kFloat32;
  wide_in.dptr = room, wide_out.dptr = room + x.Size();
  ParallelFor(x.Size(), 65536, [&](int64_t b, int64_t e) {
    MXNET_CPU_CALL(BytesToFloats)(x.data<char>() + b, x.dtype == kUint8, 0, 1, e - b, wide_in.data<float>() + b);
  });
  KernelArgs call = args;
  call.in = Span<const TBlob>(&wide_in, 1), call.out = Span<const TBlob>(&wide_out, 1);
  RunAs(call, "Pooling", 1);
  ParallelFor(out.Size(), 65536, [&](int64_t b, int64_t e) {
    MXNET_CPU_CALL(ToBytes)(wide_out.data<float>() + b, 1, 0, LimitsOf(out.dtype), e - b, out.data<char>() + b);
  });
}

/* As many examples at a time as have floats that a cache holds. */
void AveragesOnHost(KernelArgs& args) {
  constexpr int64_t kTogether = 1 << 19;  // floats
  const TBlob &x = args.in[0], &out = args.out[0];
  const int64_t batch = x.shape[0], example = (x.Size() + out.Size()) / batch;
  const int64_t most = std::min(batch, std::max<int64_t>(1, kTogether / std::max<int64_t>(1, example)));
  float* room = nn::Workspace<float>(args, most * example);
  for (int64_t at = 0; at < batch; at += most) {
    TBlob from = x, to = out;
    from.shape[0] = to.shape[0] = std::min(most, batch - at);
    from.dptr = x.data<char>() + x.Size() / batch * at, to.dptr = out.data<char>() + out.Size() / batch * at;
    AveragesOf(args, from, to, room);
  }
}

/* Windows of images channels last, of two dimensions. */
struct RowWindows {
  int64_t images, channels, height, width, rows, columns;
  int64_t tall, wide, down, across, above, left;
  int64_t places;  // of a line that windows see, what lies beside the image among them
  int64_t inside;  // those of the image
};

std::optional<RowWindows> RowWindowsOf(const KernelArgs& args) {
  const auto& p = args.param<nn::PoolingParam>();
  const TBlob &x = args.in[0], &out = args.out[0];
  if (p.kernel.ndim() != 2 || x.shape.ndim() != 4 || p.global_pool || p.channels_last() || x.layout != Layout::kChannelsLast) return {};
  const auto at = [](const Shape& s, int i, int64_t otherwise) { return s.ndim() > i ? s[i] : otherwise; };
  RowWindows w = {};
  w.images = x.shape[0], w.channels = x.shape[1], w.height = x.shape[2], w.width = x.shape[3];
  w.rows = out.shape[2], w.columns = out.shape[3];
  w.tall = p.kernel[0], w.wide = p.kernel[1];
  w.down = at(p.stride, 0, 1), w.across = at(p.stride, 1, 1), w.above = at(p.pad, 0, 0), w.left = at(p.pad, 1, 0);
  w.places = (w.columns - 1) * w.across + w.wide;
  w.inside = std::max<int64_t>(0, std::min(w.width, w.places - w.left));
  return w;
}

/* For each line of the result: join(lines of the image, how many, elements, where they belong in a
 * line of `none`), then finish(that line, which it may change, the result). */
template <typename T, typename Join, typename Finish>
void ByRows(const KernelArgs& args, const RowWindows& w, T none, const Join& join, const Finish& finish) {
  const int64_t size = w.places * w.channels, inside = w.inside * w.channels, left = std::min(size, w.left * w.channels);
  ParallelFor(w.images * w.rows, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, size)), [&](int64_t b, int64_t e) {
    std::vector<T> line(static_cast<size_t>(size));
    std::vector<const char*> lines(static_cast<size_t>(w.tall));
    for (int64_t i = b; i < e; ++i) {
      const char* image = args.in[0].data<char>() + i / w.rows * w.channels * w.height * w.width;
      const int64_t top = i % w.rows * w.down - w.above;
      int64_t count = 0;
      for (int64_t h = std::max<int64_t>(0, top); h < std::min(w.height, top + w.tall); ++h)
        lines[static_cast<size_t>(count++)] = image + h * w.width * w.channels;
      const int64_t written = count ? inside : 0;
      std::fill_n(line.begin(), left, none);
      std::fill(line.begin() + left + written, line.end(), none);
      if (written) join(lines.data(), count, written, line.data() + left);
      finish(line.data(), args.out[0].data<char>() + i * w.columns * w.channels);
    }
  });
}

/* Maxima: first of the rows of a window, then of their places. False: not of this kind. */
bool MaximaOfRows(KernelArgs& args) {
  const std::optional<RowWindows> windows = RowWindowsOf(args);
  if (!windows) return false;
  const RowWindows& w = *windows;
  const bool is_unsigned = args.out[0].dtype == kUint8;
  Ran("maxima of rows");
  const auto larger = [&](const char* from, int64_t n, char* to) { MXNET_CPU_CALL(MaxBytes)(from, is_unsigned, n, to); };
  const auto join = [&](const char* const* lines, int64_t count, int64_t n, char* to) {
    std::copy_n(lines[0], n, to);
    for (int64_t i = 1; i < count; ++i) larger(lines[i], n, to);
  };
  ByRows(args, w, static_cast<char>(is_unsigned ? 0 : -128), join, [&](char* line, char* to) {
    for (int64_t i = 1; i < w.wide; ++i)  // of two neighbours, of three, ...
      larger(line + w.channels, (w.places - i) * w.channels, line);
    for (int64_t j = 0; j < w.columns; ++j)
      std::memcpy(to + j * w.channels, line + j * w.across * w.channels, static_cast<size_t>(w.channels));
  });
  return true;
}

/* Averages: sums of the rows of a window, then of their places. False: not of this kind, or not all
 * windows have as many numbers, or that number is neither odd nor a power of two. */
bool AveragesOfRows(KernelArgs& args) {
  constexpr int64_t kMostNumbers = 128;  // whose sums have 16 bits
  const std::optional<RowWindows> windows = RowWindowsOf(args);
  if (!windows) return false;
  const RowWindows& w = *windows;
  const int64_t numbers = w.tall * w.wide;
  const bool whole = (w.rows - 1) * w.down + w.tall <= w.height + 2 * w.above && w.places <= w.width + 2 * w.left;
  const bool exact = numbers % 2 == 1 || (numbers & (numbers - 1)) == 0;
  const bool padded = w.above > 0 || w.left > 0;
  if (!whole || !exact || numbers > kMostNumbers || (padded && !args.param<nn::PoolingParam>().count_include_pad.value_or(true)))
    return false;
  const bool is_unsigned = args.out[0].dtype == kUint8;
  Ran("means of rows");
  const auto join = [&](const char* const* lines, int64_t count, int64_t n, int16_t* to) {
    MXNET_CPU_CALL(SumLines)(lines, count, is_unsigned, n, to);
  };
  ByRows(args, w, int16_t{0}, join, [&](const int16_t* line, char* to) {
    const int64_t together = w.across == 1 ? w.columns : 1;  // places of the result
    for (int64_t j = 0; j < w.columns; j += together) MXNET_CPU_CALL(WordMeans)
    (line + j * w.across * w.channels, w.wide, w.channels, numbers, is_unsigned, together * w.channels, to + j * w.channels);
  });
  return true;
}

void PoolingKernel(KernelArgs& args) {
  if (args.param<nn::PoolingParam>().pool_type == nn::kPoolMax) {
    if (args.run.ctx.is_gpu() || !Wanted(args, 0) || !MaximaOfRows(args)) return RunInRange(args, "Pooling", 1, 1);
    return StoreRange(args, *args.in[1].data<float>(), *args.in[2].data<float>());
  }
  OnHost(args, [](KernelArgs& a) {
    if (Wanted(a, 0) && a.out[0].Size() != 0 && !AveragesOfRows(a)) AveragesOnHost(a);
    StoreRange(a, *a.in[1].data<float>(), *a.in[2].data<float>());
  });
}

// ---- records

double Flops(Span<const TBlob> in, Span<const TBlob> out) {
  return in[1].shape[0] > 0 ? 2.0 * static_cast<double>(out[0].Size()) * static_cast<double>(in[1].Size() / in[1].shape[0]) : 0.0;
}

[[maybe_unused]] const bool registered = [] {
  LayerRecord<nn::ConvolutionParam>("_contrib_quantized_conv")
      .describe(
          "Convolution of 8-bit integers in one, two or three dimensions: sums of 32 bits, and their range.\n\n"
          "data has shape (batch, channels, spatial...) and is int8 or uint8; weight has shape (num_filter, channels / num_group, "
          "kernel...), bias (num_filter,), and both are int8; the bias may be int32, its range being that of 2^31 - 1. The ends of the "
          "range of each follow, of shape (1,). The first result, "
          "int32, "
          "has the shape that Convolution gives, and has exact sums of products; the bias is scaled to their units and cut towards zero. "
          "The other two, of shape (1,), say what 2^31 stands for: with larger magnitudes d of data and w of the weight it is "
          "d / 127 (uint8: d / 255) * w / 127 * 2^31. int8, uint8.")
      .alias("_npx_quantized_conv")
      .set_param<nn::ConvolutionParam>()
      .set_trait(NamesLayout{[](const Attrs& a) { return nn::ChannelsLastAttr(a.get<nn::ConvolutionParam>().layout); }})
      .set_infer_shape(ShapesOf("Convolution", Arrays<nn::ConvolutionParam>))
      .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) { return Flops(in, out); })
      .set_kernel([](KernelArgs& a) { OnHost(a, ConvolutionKernel); });
  LayerRecord<nn::FullyConnectedParam>("_contrib_quantized_fully_connected")
      .describe(
          "Dense layer of 8-bit integers: data * weight^T + bias in sums of 32 bits, and their range.\n\n"
          "data has shape (batch, ...) and is int8 or uint8; weight has shape (num_hidden, features), bias (num_hidden,), and both are "
          "int8; the bias may be int32, its range being that of 2^31 - 1. The ends of the range of each follow, of shape (1,). The first "
          "result, int32, has shape (batch, num_hidden), or, with "
          "flatten=False, that of data with the last dimension replaced by num_hidden. Sums of products are exact; the bias is scaled to "
          "their units and cut towards zero. The other two, of shape (1,), say what 2^31 stands for: with larger magnitudes d of data and "
          "w "
          "of the weight it is d / 127 (uint8: d / 255) * w / 127 * 2^31. int8, uint8.")
      .alias("_npx_quantized_fully_connected")
      .set_param<nn::FullyConnectedParam>()
      .set_infer_shape(ShapesOf("FullyConnected", Arrays<nn::FullyConnectedParam>))
      .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) { return Flops(in, out); })
      .set_kernel([](KernelArgs& a) { OnHost(a, FullyConnectedKernel); });
  Op& pooling = Op::Register("_contrib_quantized_pooling")
                    .describe(
                        "Pooling of 8-bit integers: the maximum or the average of windows in one, two or three dimensions.\n\n"
                        "data has shape (batch, channels, spatial...); the first result has the shape that Pooling gives and the dtype of "
                        "data. Averages "
                        "are rounded to the nearest, ties to even. The other two results are the range of data, min_data and max_data, of "
                        "shape (1,). "
                        "int8, uint8.")
                    .alias("_npx_quantized_pooling")
                    .set_param<nn::PoolingParam>()
                    .set_trait(NamesLayout{[](const Attrs& a) { return a.get<nn::PoolingParam>().channels_last(); }})
                    .set_inputs({"data", "min_data", "max_data"})
                    .set_outputs({"output", "min_output", "max_output"})
                    .set_infer_shape(PoolingShape)
                    .set_infer_type(TypeOfData(dtypes::kBytes))
                    .set_dtypes(dtypes::kBytes)
                    .set_layout(LayoutRule::kChannelsLast)
                    .set_trait(graph_ops::ByteImages{})
                    .set_trait(graph_ops::RangesStay{})
                    .set_kernel(PoolingKernel);
  AddOutputSize(&pooling);
  return true;
}();

}  // namespace
}  // namespace quantized
}  // namespace mxnet
