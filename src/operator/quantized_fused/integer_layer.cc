// _integer_convolution and _integer_dense: layers of graphs whose integers have zero points.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "mxnet/env.h"
#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized/layers.h"
#include "operator/quantized/packed_layer.h"
#include "operator/quantized_fused/fused_layer.h"
#include "operator/quantized_fused/integer_result.h"
#include "operator/record/traits.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

struct IntegerLayerParam : public Parameter<IntegerLayerParam>, public ResultFields {
  Shape kernel, stride, dilate, pad, pad_end;
  int num_filter, num_group;
  bool with_weight_zero, with_addend, bias_last;
  int addend_type, between_type;
  float addend_scale, between_scale;
  int addend_zero, between_zero;
  MXNET_DECLARE_PARAM(IntegerLayerParam) {
    MXNET_FIELD(kernel).set_default(Shape()).describe("Window: (w,), (h, w) or (d, h, w); of a dense layer none.");
    MXNET_FIELD(stride).set_default(Shape()).describe("Step of the window; 1 when not given.");
    MXNET_FIELD(dilate).set_default(Shape()).describe("Distance between the window's elements; 1 when not given.");
    MXNET_FIELD(pad).set_default(Shape()).describe("Places before each axis that add nothing; 0 when not given.");
    MXNET_FIELD(pad_end).set_default(Shape()).describe("Places behind each axis; as many as before it when not given.");
    MXNET_FIELD(num_filter).set_lower_bound(1).describe("Number of output channels.");
    MXNET_FIELD(num_group).set_default(1).set_lower_bound(1).describe("Number of groups that channels and filters are divided into.");
    MXNET_RESULT_FIELDS;
    MXNET_FIELD(with_weight_zero).set_default(false).describe("There are zero points of the weight.");
    MXNET_FIELD(with_addend).set_default(false).describe("There is an addend.");
    MXNET_DTYPE_FIELD_OF(addend_type, dtypes::Set{kInt8, kUint8, kInt32, kFloat32})
        .set_default(kInt8)
        .describe("Dtype of the addend: 8 bits for a result of 8 bits, else that of the result.");
    MXNET_FIELD(addend_scale).set_default(1).describe("What 1 in the addend stands for.");
    MXNET_FIELD(addend_zero).set_default(0).describe("The number in the addend that stands for 0.");
    MXNET_DTYPE_FIELD_OF(between_type, dtypes::kBytes).set_default(kInt8).describe("Dtype that the layer is rounded to before the sum.");
    MXNET_FIELD(between_scale).set_default(0).describe("Its scale; 0: it is not rounded.");
    MXNET_FIELD(between_zero).set_default(0).describe("Its zero point.");
    MXNET_FIELD(bias_last).set_default(false).describe("The bias is added behind that rounding.");
  }
};
MXNET_REGISTER_PARAM(IntegerLayerParam);

namespace {

using nn::Named;
using P = IntegerLayerParam;

enum In : int { kData, kWeight, kScale, kZero, kBias, kWeightZero };
int AddendAt(const P& p) { return p.with_weight_zero ? 6 : 5; }
bool IsLast(const TBlob& b) { return b.layout == Layout::kChannelsLast; }

std::vector<std::string> Inputs(const Attrs& a) {
  std::vector<std::string> names{"data", "weight", "scale", "zero", "bias", "weight_zero", "addend"};
  if (!a.param) return names;
  if (!a.get<P>().with_addend) names.pop_back();
  if (!a.get<P>().with_weight_zero) names.erase(names.begin() + kWeightZero);
  return names;
}

// ---- inference

/* Of what is the same for both: numbers for each filter. */
void FilterShapes(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const P& p = attrs.get<P>();
  AssignShape(attrs, "bias", &(*in)[kBias], Shape{p.num_filter});
  for (int i : {int{kScale}, int{kWeightZero}}) {
    if (i == kWeightZero && !p.with_weight_zero) continue;
    const Shape& s = (*in)[i];
    MXNET_CHECK_KIND(!s.known() || s.Size() == 1 || s.Size() == p.num_filter, Value)
        << Named(attrs) << Inputs(attrs)[i] << " has shape " << s << "; accepted are one number and " << p.num_filter;
  }
  MXNET_CHECK_KIND(!(*in)[kZero].known() || (*in)[kZero].Size() == 1, Value)
      << Named(attrs) << "zero has shape " << (*in)[kZero] << "; accepted is one number";
  if (p.with_addend) AssignShape(attrs, "addend", &(*in)[AddendAt(p)], (*out)[0]);
}

int64_t At(const Shape& s, int i, int64_t otherwise) { return s.ndim() > i ? s[i] : otherwise; }

bool ConvolutionShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const P& p = attrs.get<P>();
  const Shape& data = (*in)[kData];
  const int n = p.kernel.ndim();
  if (!data.known()) return false;
  MXNET_CHECK_KIND(n >= 1 && n <= 3 && data.ndim() == n + 2, Value)
      << Named(attrs) << "data has shape " << data << " for a kernel of shape " << p.kernel;
  MXNET_CHECK_KIND(data[1] % p.num_group == 0 && p.num_filter % p.num_group == 0, Value)
      << Named(attrs) << data[1] << " channels and " << p.num_filter << " filters in " << p.num_group << " groups; they do not divide";
  Shape weight = data, result = data;
  weight[0] = result[1] = p.num_filter, weight[1] = data[1] / p.num_group;
  for (int i = 0; i < n; ++i) {
    const int64_t before = At(p.pad, i, 0), after = At(p.pad_end, i, before), step = At(p.stride, i, 1), apart = At(p.dilate, i, 1);
    constexpr int64_t kMost = INT32_MAX;
    MXNET_CHECK_KIND(p.kernel[i] > 0 && apart > 0 && p.kernel[i] < kMost && apart < kMost && before < kMost && after < kMost, Value)
        << Named(attrs) << "kernel " << p.kernel << ", dilate " << p.dilate << ", pad " << p.pad << "; accepted are sizes above 0";
    const int64_t extent = (p.kernel[i] - 1) * apart + 1, room = data[i + 2] + before + after - extent;
    MXNET_CHECK_KIND(step > 0 && room >= 0 && before >= 0 && after >= 0, Value)
        << Named(attrs) << "a window of " << extent << " places does not fit into data of shape " << data;
    weight[i + 2] = p.kernel[i];
    result[i + 2] = room / step + 1;
  }
  AssignShape(attrs, "weight", &(*in)[kWeight], weight);
  AssignShape(attrs, "output", &(*out)[0], result);
  FilterShapes(attrs, in, out);
  return true;
}

bool DenseShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const P& p = attrs.get<P>();
  const Shape& data = (*in)[kData];
  if (!data.known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 1, Value) << Named(attrs) << "data has shape (); at least one dimension is needed";
  Shape result = data;
  result[data.ndim() - 1] = p.num_filter;
  AssignShape(attrs, "weight", &(*in)[kWeight], Shape{p.num_filter, data[data.ndim() - 1]});
  AssignShape(attrs, "output", &(*out)[0], result);
  FilterShapes(attrs, in, out);
  return true;
}

bool InferType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const P& p = attrs.get<P>();
  CheckBytes(attrs, "data", (*in)[kData]);
  AssignType(attrs, "weight", &(*in)[kWeight], kInt8);
  AssignType(attrs, "scale", &(*in)[kScale], kFloat32);
  CheckZeroType(attrs, (*in)[kZero]);
  AssignType(attrs, "bias", &(*in)[kBias], kFloat32);
  if (p.with_weight_zero) AssignType(attrs, "weight_zero", &(*in)[kWeightZero], kInt32);
  MXNET_CHECK_KIND(!p.with_addend || IsBytes(p.addend_type) == IsBytes(p.out_type), Value)
      << Named(attrs) << "an addend of " << DTypeName(p.addend_type) << " for a result of " << DTypeName(p.out_type)
      << "; accepted are 8 bits with 8 bits, and else the same dtype";
  if (p.with_addend) AssignType(attrs, "addend", &(*in)[AddendAt(p)], IsBytes(p.addend_type) ? p.addend_type : p.out_type);
  AssignType(attrs, "output", &(*out)[0], p.out_type);
  return (*in)[kData] != kDTypeUnknown;
}

// ---- computing

void DescribeDense(const P& p, KernelArgs& args, LayerCall* call) {  // a convolution of one row of places
  nn::ConvDims& d = call->dims;
  d.batch = 1, d.filters = p.num_filter, d.channels = args.in[kWeight].shape[1];
  d.in[2] = d.out[2] = args.out[0].Size() / p.num_filter;
  call->src = {args.in[kData].dptr, true}, call->weight = {args.in[kWeight].dptr, false}, call->dst = {args.out[0].dptr, true};
}

void DescribeConvolution(const P& p, KernelArgs& args, LayerCall* call) {
  nn::ConvDims& d = call->dims;
  const TBlob &data = args.in[kData], &out = args.out[0];
  d.batch = data.shape[0], d.channels = data.shape[1], d.filters = p.num_filter, d.groups = p.num_group;
  const int n = p.kernel.ndim(), shift = 3 - n;
  for (int i = 0; i < n; ++i) {
    d.in[i + shift] = data.shape[i + 2], d.out[i + shift] = out.shape[i + 2], d.kernel[i + shift] = p.kernel[i];
    d.stride[i + shift] = At(p.stride, i, 1), d.dilate[i + shift] = At(p.dilate, i, 1), d.pad[i + shift] = At(p.pad, i, 0);
  }
  call->src = {data.dptr, IsLast(data)}, call->weight = {args.in[kWeight].dptr, false}, call->dst = {out.dptr, IsLast(out)};
}

void ReadForm(const P& p, KernelArgs& args, LayerCall* call) {
  call->src_type = args.in[kData].dtype, call->dst_type = p.out_type;
  call->src_zero = ZeroIn(args.in[kZero]);
  call->addend_type = IsBytes(p.addend_type) ? p.addend_type : p.out_type;
  if (p.out_type == kInt32) return;
  const TBlob& scale = args.in[kScale];
  if (scale.Size() == 1)
    call->scale = scale.data<float>()[0];
  else
    call->scales = scale.data<float>();
  call->bias = args.in[kBias].data<float>();
  call->dst_step = p.out_scale, call->dst_zero = p.out_zero;
  if (std::isfinite(p.low) || std::isfinite(p.high)) {
    constexpr float kMost = std::numeric_limits<float>::max();
    call->cuts = !(p.low == 0 && !std::isfinite(p.high)), call->relu = !call->cuts;
    call->low = std::max(-kMost, p.low), call->high = std::min(kMost, p.high);
  }
  if (p.between_scale > 0) call->between = Affine{p.between_type, p.between_scale, p.between_zero};
  call->bias_last = call->between && p.bias_last;
  if (IsBytes(p.addend_type)) call->addend_step = p.addend_scale, call->addend_zero = p.addend_zero;
}

/* By loops of our own, for any processor and any zero points. */
void RunReference(const P& p, KernelArgs& args, const LayerCall& call, const TBlob* kept) {
  const TBlob& out = args.out[0];
  const nn::ConvDims& d = call.dims;
  args.NeedWeights(args.in[kWeight].dptr);
  nn::ConvCall sums;
  sums.dims = d, sums.dtype = call.src_type, sums.src = call.src, sums.weight = call.weight;
  sums.weight_input = kWeight;
  sums.dst = {p.out_type == kInt32 ? out.dptr : nn::Workspace<int32_t>(args, out.Size()), call.dst.channels_last};
  ByteZeros zeros;
  zeros.src = call.src_zero;
  if (p.with_weight_zero) zeros.filters = args.in[kWeightZero].data<int32_t>(), zeros.one = args.in[kWeightZero].Size() == 1;
  ConvolveBytes(args, sums, zeros);
  if (p.out_type == kInt32) {
    if (kept) MXNET_CPU_CALL(AddToSums)(kept->data<int32_t>(), out.Size(), out.data<int32_t>());
    return;
  }
  // A row is all filters of a place, or all places of a filter.
  const bool last = call.dst.channels_last;
  const int64_t row = last ? d.filters : d.OutSize(), rows = out.Size() / std::max<int64_t>(1, row);
  const char* addend = kept ? kept->data<char>() : nullptr;
  const size_t size = DTypeSize(out.dtype);
  const float step = StepOf(p), unit = call.between ? call.between->step : step;  // as SumsFinish has them
  ParallelFor(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, row)), [&](int64_t b, int64_t e) {
    std::vector<float> values(static_cast<size_t>(row));
    for (int64_t i = b; i < e; ++i) {
      const int64_t filter = last ? 0 : i % d.filters, next = last ? 1 : 0;
      const int32_t* from = static_cast<const int32_t*>(sums.dst.ptr) + i * row;
      const auto add_bias = [&](float by) {
        for (int64_t j = 0; j < row; ++j) values[j] += call.bias[filter + j * next] / by;
      };
      for (int64_t j = 0; j < row; ++j)
        values[j] = static_cast<float>(from[j]) * ((call.scales ? call.scales[filter + j * next] : call.scale) / unit);
      if (!call.bias_last) add_bias(unit);
      if (call.between) RoundTo(*call.between, unit / step, row, values.data());
      if (call.bias_last) add_bias(step);
      if (addend && IsBytes(p.addend_type))
        AddIntegers({p.addend_type, p.addend_scale / step, p.addend_zero}, addend + i * row, row, values.data());
      else if (addend)
        for (int64_t j = 0; j < row; ++j) values[j] += reinterpret_cast<const float*>(addend)[i * row + j];
      StoreSteps(p, values.data(), row, static_cast<char*>(out.dptr) + i * row * static_cast<int64_t>(size));
    }
  });
}

template <bool kDense>
void Forward(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  const P& p = args.param<P>();
  LayerCall call;
  ReadForm(p, args, &call);
  (kDense ? DescribeDense : DescribeConvolution)(p, args, &call);
  const TBlob* addend = p.with_addend ? &args.in[AddendAt(p)] : nullptr;
  const int64_t deep = call.dims.channels / call.dims.groups * call.dims.KernelSize();
  const bool taken = g_fused_layer && Env::Get().onednn_enabled && !p.with_weight_zero && deep > 0 && deep <= kMostExact &&
                     (!addend || call.dst.channels_last);
  if (taken) {
    call.accumulate = addend != nullptr, call.addend = addend;
    if (g_fused_layer(args, call)) return;
    call.accumulate = false;
  }
  ByteZeros zeros;
  if (p.with_weight_zero) zeros.filters = args.in[kWeightZero].data<int32_t>(), zeros.one = args.in[kWeightZero].Size() == 1;
  if (PackedLayer(args, {call, kWeight, zeros, addend ? addend->dptr : nullptr})) return;
  TBlob kept;
  if (addend && addend->dptr == args.out[0].dptr && p.out_type == kInt32) {  // sums are written first
    kept = *addend;
    kept.dptr = args.workspace(addend->Bytes());
    std::memcpy(kept.dptr, addend->dptr, addend->Bytes());
    addend = &kept;
  }
  RunReference(p, args, call, addend);
}

double Flops(const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
  const int64_t filters = in[kWeight].shape[0];
  return filters > 0 ? 2.0 * static_cast<double>(out[0].Size()) * static_cast<double>(in[kWeight].Size() / filters) : 0.0;
}

Op& Register(const char* name, const char* text, void (*kernel)(KernelArgs&)) {
  return Op::Register(name)
      .describe(std::string(text) +
                "\n\nEach sum of (data - zero) (weight - weight_zero) is exact; times scale (data's times the weight's, one number or one "
                "for each filter), plus bias, plus the addend it is cut to [low, high]. The result is that in float32, or rounded to 8 "
                "bits by out_scale and out_zero; with int32 it is the sums alone. data is int8 or uint8, weight int8, scale and bias "
                "float32, zero int8, uint8 or int32, weight_zero int32.")
      .set_param<P>()
      .set_inputs({"data", "weight", "scale", "zero", "bias", "weight_zero", "addend"},
                  [](const Attrs& a) { return 5 + (a.get<P>().with_weight_zero ? 1 : 0) + (a.get<P>().with_addend ? 1 : 0); })
      .set_list_inputs(Inputs)
      .set_infer_type(InferType)
      .set_dtypes(dtypes::kBytes)
      .set_inplace([](const Attrs& a) {
        const P& p = a.get<P>();
        return p.with_addend ? std::vector<std::pair<int, int>>{{AddendAt(p), 0}} : std::vector<std::pair<int, int>>();
      })
      .set_stateful()
      .set_trait(AsksForWeights{1 << kWeight})
      .set_flops(Flops)
      .set_zero_gradient()
      .set_kernel(kernel);
}

[[maybe_unused]] Op& convolution =
    Register("_integer_convolution",
             "Convolution of 8-bit integers with zero points, in one, two or three dimensions, with what follows it.",
             [](KernelArgs& a) { OnHost(a, Forward<false>); })
        .set_infer_shape(ConvolutionShape)
        .set_images({1 | 1 << 5 | 1 << 6, 1, 1 << 5 | 1 << 6})
        .set_trait(PreparesForShape{})
        .set_trait(graph_ops::ByteImages{});
[[maybe_unused]] Op& dense =
    Register("_integer_dense", "Dense layer of 8-bit integers with zero points, over the last axis of data.", [](KernelArgs& a) {
      OnHost(a, Forward<true>);
    }).set_infer_shape(DenseShape);

}  // namespace
}  // namespace quantized
}  // namespace mxnet
