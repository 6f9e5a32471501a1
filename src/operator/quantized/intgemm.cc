// Dense layers of 8-bit integers: quantization by the largest magnitude, and their product. Values
// stand for value * maximum / 127 (Wu et al., Integer quantization for deep learning inference,
// 2020, "symmetric").
#include "operator/quantized/intgemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "mxnet/op.h"
#include "operator/indexing/index_common.h"
#include "operator/nn/common/nn_common.h"
#include "operator/quantized/byte_product.h"
#include "operator/record/param.h"
#include "operator/shared/on_host.h"

namespace mxnet {

namespace quantized {

struct PrepareWeightParam : public Parameter<PrepareWeightParam> {
  bool already_quantized;
  MXNET_DECLARE_PARAM(PrepareWeightParam) {
    MXNET_FIELD(already_quantized).set_default(false).describe("weight is int8, and there is no maxabs.");
  }
};
MXNET_REGISTER_PARAM(PrepareWeightParam);

struct IntFullyConnectedParam : public Parameter<IntFullyConnectedParam> {
  int num_hidden;
  bool no_bias, flatten;
  int out_type;
  MXNET_DECLARE_PARAM(IntFullyConnectedParam) {
    MXNET_FIELD(num_hidden).set_lower_bound(1).describe("Number of columns of the output.");
    MXNET_FIELD(no_bias).set_default(false).describe("There is no bias.");
    MXNET_FIELD(flatten).set_default(true).describe("All dimensions of data but the first are one.");
    MXNET_DTYPE_FIELD_OF(out_type, dtypes::Set{kFloat32, kInt32})
        .set_default(kFloat32)
        .describe("float32: the sums times scaling. int32: the sums; there is no scaling.");
  }
};
MXNET_REGISTER_PARAM(IntFullyConnectedParam);

namespace {

using nn::Named;
using nn::Wanted;
using nn::Workspace;

constexpr int64_t kChunk = 65536;  // numbers that a thread takes at a time

float LargestOf(const TBlob& x) {
  const int64_t n = x.Size(), chunks = (n + kChunk - 1) / kChunk;
  std::vector<float> largest(static_cast<size_t>(chunks));
  ParallelFor(chunks, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      largest[static_cast<size_t>(i)] = MXNET_CPU_CALL(LargestMagnitude)(x.data<float>() + i * kChunk, std::min(kChunk, n - i * kChunk));
  });
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

void Quantize(const TBlob& x, float largest, int8_t* out) {
  const float* from = x.data<float>();
  ParallelFor(x.Size(), kChunk, [&](int64_t b, int64_t e) { MXNET_CPU_CALL(QuantizeBytes)(from + b, 127 / largest, e - b, out + b); });
}

void LargestKernel(KernelArgs& args) {
  if (Wanted(args, 0)) *args.out[0].data<float>() = LargestOf(args.in[0]);
}

void QuantizeKernel(KernelArgs& args) {
  if (Wanted(args, 0)) Quantize(args.in[0], *args.in[1].data<float>(), args.out[0].data<int8_t>());
}

void WeightKernel(KernelArgs& args) {
  if (!args.attrs->get<PrepareWeightParam>().already_quantized) return QuantizeKernel(args);
  if (Wanted(args, 0)) std::copy_n(args.in[0].data<int8_t>(), args.in[0].Size(), args.out[0].data<int8_t>());
}

void TakeKernel(KernelArgs& args) {
  if (!Wanted(args, 0)) return;
  const TBlob& weight = args.in[0];
  const int64_t* rows = ReadIndicesInRange(args, args.in[1], weight.shape[0], IndexMode::kRaise);
  TakeRows(weight, 1, weight.shape[0], weight.shape[1], rows, args.in[1].Size(), args.out[0].dptr);
}

void FullyConnectedKernel(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& p = args.attrs->get<IntFullyConnectedParam>();
  const TBlob &data = args.in[0], &weight = args.in[1];
  const int64_t columns = weight.shape[0], k = weight.shape[1], rows = args.out[0].Size() / columns;
  const int8_t* bytes = static_cast<const int8_t*>(data.dptr);
  float largest = 127;
  if (data.dtype == kFloat32) {
    int8_t* made = Workspace<int8_t>(args, data.Size());
    largest = LargestOf(data);
    Quantize(data, largest, made);
    bytes = made;
  }
  const TBlob* bias = p.no_bias ? nullptr : &args.in[args.in.size() - 1];
  const int8_t* weights = weight.data<int8_t>();
  int32_t* room = static_cast<int32_t*>(args.out[0].dptr);
  if (p.out_type == kInt32) {
    const int32_t* more = bias ? bias->data<int32_t>() : nullptr;
    return ByteProduct(args, {bytes, false}, rows, weights, columns, k, room, [=](int64_t row, int64_t at, int64_t n, const auto* sums) {
      int32_t* out = room + row * columns + at;
      for (int64_t j = 0; j < n; ++j) out[j] = static_cast<int32_t>(sums[j] + static_cast<int64_t>(more ? more[at + j] : 0));
    });
  }
  const float scale = *args.in[2].data<float>() * (largest / 127);
  const float* more = bias ? bias->data<float>() : nullptr;
  ByteProduct(args, {bytes, false}, rows, weights, columns, k, room, [=](int64_t row, int64_t at, int64_t n, const auto* sums) {
    char* out = reinterpret_cast<char*>(room + row * columns + at);  // of floats, where sums may lie
    for (int64_t j = 0; j < n; ++j) {
      const float value = static_cast<float>(sums[j]) * scale + (more ? more[at + j] : 0);
      std::memcpy(out + j * sizeof(float), &value, sizeof(float));
    }
  });
}

// ---- inference

bool LargestShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], Shape{1});
  return (*in)[0].known();
}

bool LikeFirstShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "input 0", &(*in)[0], (*out)[0]);
  if (in->size() > 1) AssignShape(attrs, "maxabs", &(*in)[1], Shape{1});
  return (*in)[0].known();
}

bool TakeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "weight", &(*in)[0], Shape{Shape::kUnknownDim, Shape::kUnknownDim});
  AssignShape(attrs, "indices", &(*in)[1], Shape{Shape::kUnknownDim});
  AssignShape(attrs, "output", &(*out)[0], Shape{(*in)[1][0], (*in)[0][1]});
  return (*in)[0].known() && (*in)[1].known();
}

bool HasScaling(const Attrs& attrs) { return attrs.get<IntFullyConnectedParam>().out_type == kFloat32; }

std::vector<std::string> FullyConnectedInputs(const Attrs& attrs) {
  std::vector<std::string> names = {"data", "weight"};
  if (!attrs.param || HasScaling(attrs)) names.push_back("scaling");
  if (!attrs.param || !attrs.get<IntFullyConnectedParam>().no_bias) names.push_back("bias");
  return names;
}

bool FullyConnectedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<IntFullyConnectedParam>();
  Shape &data = (*in)[0], &weight = (*in)[1];
  AssignShape(attrs, "weight", &weight, Shape{p.num_hidden, Shape::kUnknownDim});
  if (HasScaling(attrs)) AssignShape(attrs, "scaling", &(*in)[2], Shape{1});
  if (!p.no_bias) AssignShape(attrs, "bias", &in->back(), Shape{p.num_hidden});
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 1, Value) << Named(attrs) << "data has shape (); at least one dimension is needed";
  const int last = data.ndim() - 1;
  if (!data.known()) return false;
  AssignShape(attrs, "weight", &weight, Shape{p.num_hidden, p.flatten ? data.Prod(1, data.ndim()) : data[last]});
  Shape expected = p.flatten ? Shape{data[0], p.num_hidden} : data;
  if (!p.flatten) expected[last] = p.num_hidden;
  AssignShape(attrs, "output", &(*out)[0], expected);
  return weight.known();
}

InferTypeFn Types(std::vector<int> in_types, int out_type) {
  return [in_types, out_type](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    for (size_t i = 0; i < in->size(); ++i) AssignType(attrs, "an input", &(*in)[i], in_types[i]);
    AssignType(attrs, "output", &(*out)[0], out_type);
    return true;
  };
}

bool WeightType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const bool bytes = attrs.get<PrepareWeightParam>().already_quantized;
  return Types({bytes ? kInt8 : kFloat32, kFloat32}, kInt8)(attrs, in, out);
}

bool FullyConnectedType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<IntFullyConnectedParam>();
  AssignType(attrs, "weight", &(*in)[1], kInt8);
  if (HasScaling(attrs)) AssignType(attrs, "scaling", &(*in)[2], kFloat32);
  if (!p.no_bias) AssignType(attrs, "bias", &in->back(), p.out_type);
  AssignType(attrs, "output", &(*out)[0], p.out_type);
  return (*in)[0] != kDTypeUnknown;
}

// ---- records

MXNET_REGISTER_OP(_contrib_intgemm_maxabsolute)
    .describe(
        "The largest magnitude of all elements, of shape (1,): the maximum that intgemm_prepare_data and intgemm_prepare_weight take.\n\n"
        "0 of an array without elements; NaN is not looked at. float32.")
    .alias("_npx_intgemm_maxabsolute")
    .set_inputs({"data"})
    .set_infer_shape(LargestShape)
    .set_infer_type(Types({kFloat32}, kFloat32))
    .set_dtypes({kFloat32})
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, LargestKernel); });

MXNET_REGISTER_OP(_contrib_intgemm_prepare_data)
    .describe(
        "8-bit integers for intgemm_fully_connected: data * 127 / maxabs, rounded to the nearest (ties to even) and cut to [-127, 127].\n\n"
        "data has any shape, and so has the result, of int8; maxabs has shape (1,). NaN gives 0. float32.")
    .alias("_npx_intgemm_prepare_data")
    .set_inputs({"data", "maxabs"})
    .set_infer_shape(LikeFirstShape)
    .set_infer_type(Types({kFloat32, kFloat32}, kInt8))
    .set_dtypes({kFloat32})
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, QuantizeKernel); });

MXNET_REGISTER_OP(_contrib_intgemm_prepare_weight)
    .describe(
        "The weight of intgemm_fully_connected in 8-bit integers, as intgemm_prepare_data makes them.\n\n"
        "weight has shape (num_hidden, features) and so has the result, of int8, whose order of elements programs should not rely on. "
        "With already_quantized weight is int8, and there is no maxabs. float32.")
    .alias("_npx_intgemm_prepare_weight")
    .set_param<PrepareWeightParam>()
    .set_inputs({"weight", "maxabs"}, [](const Attrs& a) { return a.get<PrepareWeightParam>().already_quantized ? 1 : 2; })
    .set_infer_shape(LikeFirstShape)
    .set_infer_type(WeightType)
    .set_dtypes({kFloat32, kInt8})
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, WeightKernel); });

MXNET_REGISTER_OP(_contrib_intgemm_take_weight)
    .describe(
        "Rows of a prepared weight, such as those of the words that a decoder may choose from.\n\n"
        "weight is int8 of shape (num_hidden, features), indices int32 of shape (n,); the result has shape (n, features). An index out "
        "of range is an error.")
    .alias("_npx_intgemm_take_weight")
    .set_inputs({"weight", "indices"})
    .set_infer_shape(TakeShape)
    .set_infer_type(Types({kInt8, kInt32}, kInt8))
    .set_dtypes({kInt8})
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, TakeKernel); });

MXNET_REGISTER_OP(_contrib_intgemm_fully_connected)
    .describe(
        "Dense layer of 8-bit integers: output = data * weight^T * scaling + bias.\n\n"
        "data has shape (batch, ...), int8 as intgemm_prepare_data makes it, weight (num_hidden, features) as intgemm_prepare_weight "
        "does; the output has shape (batch, num_hidden), or, with flatten=False, that of data with the last dimension replaced by "
        "num_hidden. scaling, of shape (1,), is the product of both maxima divided by 127^2. Of float32 data the maximum is found here, "
        "and scaling is that of the weight, times 1/127. With out_type int32 the sums are the output, there is no scaling, and bias is "
        "int32.")
    .alias("_npx_intgemm_fully_connected")
    .set_param<IntFullyConnectedParam>()
    .set_inputs({"data", "weight", "scaling", "bias"}, [](const Attrs& a) { return static_cast<int>(FullyConnectedInputs(a).size()); })
    .set_list_inputs(FullyConnectedInputs)
    .set_infer_shape(FullyConnectedShape)
    .set_infer_type(FullyConnectedType)
    .set_dtypes({kInt8, kFloat32})
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) { return 2.0 * out[0].Size() * in[1].shape[1]; })
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, FullyConnectedKernel); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
