// _block_dense: a dense layer whose weight stays packed in 2, 4 or 8 bits.
#include <string>
#include <vector>

#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/quantized/block_job.h"
#include "operator/quantized/quantized.h"
#include "operator/record/traits.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {

struct BlockDenseParam : public Parameter<BlockDenseParam> {
  int num_hidden, bits;
  bool no_bias, with_shift, in_integers;
  MXNET_DECLARE_PARAM(BlockDenseParam) {
    MXNET_FIELD(num_hidden).set_lower_bound(1).describe("Number of columns of the output.");
    MXNET_FIELD(bits).set_default(4).describe("Bits of a number of the weight: 2, 4 or 8.");
    MXNET_FIELD(no_bias).set_default(true).describe("There is no bias.");
    MXNET_FIELD(with_shift).set_default(true).describe("There is a shift; else numbers stand around half of what they can be.");
    MXNET_FIELD(in_integers)
        .set_default(false)
        .describe("Data may be rounded to 8 bits, in blocks like those of the weight; sums of a block are integers then.");
  }
};
MXNET_REGISTER_PARAM(BlockDenseParam);

namespace {

using nn::Named;
using P = BlockDenseParam;

enum In : int { kData, kWeight, kScale, kShift };

std::vector<std::string> Inputs(const Attrs& a) {
  std::vector<std::string> names{"data", "weight", "scale", "shift", "bias"};
  if (!a.param) return names;
  if (a.get<P>().no_bias) names.pop_back();
  if (!a.get<P>().with_shift) names.erase(names.begin() + kShift);
  return names;
}
int BiasAt(const P& p) { return p.with_shift ? 4 : 3; }

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const P& p = attrs.get<P>();
  const Shape &data = (*in)[kData], &weight = (*in)[kWeight];
  MXNET_CHECK_KIND(p.bits == 2 || p.bits == 4 || p.bits == 8, Value) << Named(attrs) << "bits=" << p.bits << "; accepted are 2, 4 and 8";
  if (!data.known() || !weight.known()) return false;
  const int64_t each = 8 / p.bits;
  MXNET_CHECK_KIND(weight.ndim() == 3 && weight[0] == p.num_hidden && data.ndim() >= 1 && weight[2] > 0 &&
                       data[data.ndim() - 1] == weight[1] * weight[2] * each,
                   Value)
      << Named(attrs) << "data has shape " << data << ", the weight " << weight
      << "; accepted is a weight (num_hidden, blocks, bytes) with as many numbers in a row as data's last dimension has";
  AssignShape(attrs, "scale", &(*in)[kScale], Shape{weight[0], weight[1]});
  if (p.with_shift) AssignShape(attrs, "shift", &(*in)[kShift], Shape{weight[0], weight[1]});
  if (!p.no_bias) AssignShape(attrs, "bias", &(*in)[BiasAt(p)], Shape{p.num_hidden});
  Shape result = data;
  result[data.ndim() - 1] = p.num_hidden;
  AssignShape(attrs, "output", &(*out)[0], result);
  return true;
}

bool InferType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (size_t i = 0; i < in->size(); ++i) AssignType(attrs, "an input", &(*in)[i], i == kWeight ? kUint8 : kFloat32);
  AssignType(attrs, "output", &(*out)[0], kFloat32);
  return true;
}

BlockJob JobOf(const P& p, Span<const TBlob> in, const TBlob& out) {
  const TBlob& weight = in[kWeight];
  const int64_t blocks = weight.shape[1], bytes = weight.shape[2];
  BlockJob job;
  job.weight = {weight.data<uint8_t>(), in[kScale].data<float>(), p.with_shift ? in[kShift].data<float>() : nullptr, blocks, bytes, p.bits};
  job.rows = out.Size() / p.num_hidden, job.hidden = p.num_hidden;
  job.x = in[kData].data<float>(), job.bias = p.no_bias ? nullptr : in[BiasAt(p)].data<float>(), job.addend = nullptr;
  job.out = out.data<float>(), job.in_integers = p.in_integers;
  job.weight_input = kWeight, job.scale_input = kScale, job.shift_input = p.with_shift ? kShift : -1;
  return job;
}

/* Plans keep weights and scales in words, and read nothing else of them. */
bool KeepsWords(const P& p) { return p.in_integers && MXNET_CPU_CALL(BytePanelColumns)() > 0; }
AsksForWeights Asks(bool (*when)(const Attrs&)) { return {1 << kWeight | 1 << kScale, false, when, true}; }

void Forward(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  MultiplyBlocks(args, JobOf(args.param<P>(), args.in, args.out[0]));
}

void FusedForward(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& p = args.param<nn::FusedParam>();
  BlockJob job = JobOf(p.layer->get<P>(), args.in, args.out[0]);
  job.post = p.post;
  if (p.add) job.addend = args.in[p.LayerInputs()].data<float>();
  MultiplyBlocks(args, job);
}

MXNET_REGISTER_OP(_block_dense)
    .describe(
        "Dense layer whose weight stays packed: numbers of 2, 4 or 8 bits in blocks that have a scale each.\n\n"
        "data has shape (..., features), weight (num_hidden, blocks, bytes) is uint8 with 8 / bits numbers in a byte, the low bits first, "
        "and features is blocks * bytes * 8 / bits. A number q stands for q * scale - shift, which have shape (num_hidden, blocks). "
        "float32.")
    .set_param<P>()
    .set_inputs({"data", "weight", "scale", "shift", "bias"},
                [](const Attrs& a) { return BiasAt(a.get<P>()) + (a.get<P>().no_bias ? 0 : 1); })
    .set_list_inputs(Inputs)
    .set_trait(nn::LayerTrait{"_fused_block_dense", [](const Attrs&, int ndim) { return ndim - 1; },
                              [](const Attrs& a) { return BiasAt(a.get<P>()); }})
    .set_trait(Asks([](const Attrs& a) { return KeepsWords(a.get<P>()); }))
    .set_infer_shape(InferShape)
    .set_infer_type(InferType)
    .set_dtypes({kFloat32})
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * static_cast<double>(out[0].Size()) * static_cast<double>(in[kData].shape[in[kData].shape.ndim() - 1]);
    })
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, Forward); });

[[maybe_unused]] Op& fused = nn::RegisterFused("_fused_block_dense", "_block_dense")
                                 .set_trait(Asks([](const Attrs& a) { return KeepsWords(a.get<nn::FusedParam>().layer->get<P>()); }))
                                 .set_dtypes({kFloat32})
                                 .set_kernel([](KernelArgs& a) { OnHost(a, FusedForward); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
