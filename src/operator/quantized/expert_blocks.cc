// _expert_block_dense: rows of data by dense layers that are chosen for each, whose weights stay
// packed in 2, 4 or 8 bits.
#include <vector>

#include "operator/nn/common/expert_rows.h"
#include "operator/nn/common/nn_common.h"
#include "operator/quantized/block_job.h"
#include "operator/quantized/quantized.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

struct ExpertBlockDenseParam : public Parameter<ExpertBlockDenseParam> {
  int bits;
  bool no_bias, with_shift, in_integers;
  MXNET_DECLARE_PARAM(ExpertBlockDenseParam) {
    MXNET_FIELD(bits).set_default(4).describe("Bits of a number of the weight: 2, 4 or 8.");
    MXNET_FIELD(no_bias).set_default(true).describe("There is no bias.");
    MXNET_FIELD(with_shift).set_default(true).describe("There is a shift; else numbers stand around half of what they can be.");
    MXNET_FIELD(in_integers)
        .set_default(false)
        .describe("Data may be rounded to 8 bits, in blocks like those of the weight; sums of a block are integers then.");
  }
};
MXNET_REGISTER_PARAM(ExpertBlockDenseParam);

namespace {

using nn::Named;
using P = ExpertBlockDenseParam;

enum In : int { kData, kExperts, kWeight, kScale, kShift };

int BiasAt(const P& p) { return p.with_shift ? kShift + 1 : kShift; }

std::vector<std::string> Inputs(const Attrs& a) {
  std::vector<std::string> names{"data", "experts", "weight", "scale", "shift", "bias"};
  if (!a.param) return names;
  if (a.get<P>().no_bias) names.pop_back();
  if (!a.get<P>().with_shift) names.erase(names.begin() + kShift);
  return names;
}

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const P& p = attrs.get<P>();
  const Shape &data = (*in)[kData], &chosen = (*in)[kExperts], &weight = (*in)[kWeight];
  MXNET_CHECK_KIND(p.bits == 2 || p.bits == 4 || p.bits == 8, Value) << Named(attrs) << "bits=" << p.bits << "; accepted are 2, 4 and 8";
  if (!data.known() || !chosen.known() || !weight.known()) return false;
  MXNET_CHECK_KIND(weight.ndim() == 4 && data.ndim() == 2 && weight[3] > 0 && data[1] == weight[2] * weight[3] * (8 / p.bits), Value)
      << Named(attrs) << "data has shape " << data << ", the weight " << weight
      << "; accepted: (rows, features), (experts, columns, blocks, bytes) with as many numbers in a row as there are features";
  AssignShape(attrs, "scale", &(*in)[kScale], Shape{weight[0], weight[1], weight[2]});
  if (p.with_shift) AssignShape(attrs, "shift", &(*in)[kShift], Shape{weight[0], weight[1], weight[2]});
  if (!p.no_bias) AssignShape(attrs, "bias", &(*in)[BiasAt(p)], Shape{weight[0], weight[1]});
  AssignShape(attrs, "output", &(*out)[0], ExpertShape(attrs, data, chosen, weight[1]));
  return true;
}

bool InferType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (int i = 0; i < static_cast<int>(in->size()); ++i)
    if (i != kExperts) AssignType(attrs, "an input", &(*in)[static_cast<size_t>(i)], i == kWeight ? kUint8 : kFloat32);
  AssignType(attrs, "output", &(*out)[0], kFloat32);
  return (*in)[kExperts] != kDTypeUnknown;
}

void Forward(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  const P& p = args.param<P>();
  const TBlob& weight = args.in[kWeight];
  const int64_t n = weight.shape[1], blocks = weight.shape[2], bytes = weight.shape[3], k = args.in[kData].shape[1];
  const float *const data = args.in[kData].data<float>(), *const bias = p.no_bias ? nullptr : args.in[BiasAt(p)].data<float>();
  const BlockRows all{
      weight.data<uint8_t>(), args.in[kScale].data<float>(), p.with_shift ? args.in[kShift].data<float>() : nullptr, blocks, bytes, p.bits};
  const ExpertRows rows(args, args.in[kExperts], args.in[kData].shape[0], weight.shape[0]);
  rows.Multiply(args, data, k, n, args.out[0].data<float>(), [&](int64_t e, int64_t count, const float* x, float* y) {
    BlockJob job;
    job.weight = all.From(e * n);
    job.rows = count, job.hidden = n;
    job.x = x, job.bias = bias ? bias + e * n : nullptr, job.addend = nullptr;
    job.out = y, job.in_integers = p.in_integers;
    MultiplyBlocks(args, job);
  });
}

MXNET_REGISTER_OP(_expert_block_dense)
    .describe(
        "Rows of data by dense layers that are chosen for each, as in _expert_dense, whose weights stay packed as in _block_dense.\n\n"
        "data has shape (rows, features), experts (rows * per,), weight (experts, columns, blocks, bytes), scale and shift (experts, "
        "columns, blocks), bias (experts, columns). float32.")
    .set_param<P>()
    .set_inputs({"data", "experts", "weight", "scale", "shift", "bias"},
                [](const Attrs& a) { return BiasAt(a.get<P>()) + (a.get<P>().no_bias ? 0 : 1); })
    .set_list_inputs(Inputs)
    .set_infer_shape(InferShape)
    .set_infer_type(InferType)
    .set_dtypes({kFloat32})
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * static_cast<double>(out[0].Size()) * static_cast<double>(in[kData].shape[1]);
    })
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, Forward); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
