// _block_dense: a dense layer whose weight stays packed in 2, 4 or 8 bits.
#include "operator/quantized/block_dense.h"

#include <algorithm>
#include <vector>

#include "base/ran.h"
#include "operator/nn/common/nn_common.h"
#include "operator/quantized/quantized.h"
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
        .describe("4 bits: data is rounded to 8 bits, in blocks like those of the weight, and sums of a block are integers.");
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

struct Job {
  const P& p;
  int64_t rows, k, blocks, bytes;
  const float *x, *scale, *shift, *bias;
  const uint8_t* packed;
  float* out;
  BlockRows From(int64_t i) const {
    return {packed + i * blocks * bytes, scale + i * blocks, shift ? shift + i * blocks : nullptr, blocks, bytes, p.bits};
  }
};

/* Some rows of the weight go by all rows of data, which lie in the cache some at a time. */
void Multiply(KernelArgs& args, const Job& job) {
  float* split = nn::Workspace<float>(args, job.rows * job.k);
  Ran("products of blocks");
  ParallelFor(job.rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, job.k)), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) MXNET_CPU_CALL(SplitBlocks)(job.x + r * job.k, job.blocks, job.bytes, job.p.bits, split + r * job.k);
  });
  constexpr int64_t kColumns = 4, kCached = 8192;  // columns that the loops take together; numbers of data that stay near
  const int64_t hidden = job.p.num_hidden, groups = (hidden + kColumns - 1) / kColumns;
  const int64_t together = std::max<int64_t>(4, kCached / std::max<int64_t>(1, job.k) / 4 * 4);
  ParallelFor(groups, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, job.k * job.rows)), [&](int64_t b, int64_t e) {
    const int64_t first = b * kColumns, end = std::min(hidden, e * kColumns);
    for (int64_t r = 0; r < job.rows; r += together) {
      const int64_t some = std::min(together, job.rows - r);
      float* out = job.out + r * hidden;
      MXNET_CPU_CALL(DotBlocks)(job.From(first), end - first, split + r * job.k, job.k, some, out + first, hidden);
      if (!job.bias) continue;
      for (int64_t s = 0; s < some; ++s)
        for (int64_t i = first; i < end; ++i) out[s * hidden + i] += job.bias[i];
    }
  });
}

/* Are there loops for it in integers? */
bool InIntegers(const Job& job) { return job.p.in_integers && job.p.bits == 4 && IntegerRow::Takes(job.bytes) && job.k > 0; }

void MultiplyIntegers(KernelArgs& args, const Job& job) {
  const int64_t pieces = IntegerRow::Pieces(job.blocks * job.bytes), hidden = job.p.num_hidden;
  std::vector<IntegerRow> rows(static_cast<size_t>(job.rows));
  int8_t* numbers = nn::Workspace<int8_t>(args, job.rows * pieces * 2 * IntegerRow::kPiece);
  const int64_t each = pieces * IntegerRow::kPiece / 4;
  float *scales = nn::Workspace<float>(args, job.rows * each), *sums = nn::Workspace<float>(args, job.rows * each);
  for (int64_t r = 0; r < job.rows; ++r)
    rows[static_cast<size_t>(r)] = {numbers + r * pieces * 2 * IntegerRow::kPiece, scales + r * each, sums + r * each};
  ParallelFor(job.rows, std::max<int64_t>(1, 16384 / job.k), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) MXNET_CPU_CALL(IntegerBlocks)(job.x + r * job.k, job.blocks, job.bytes, rows[static_cast<size_t>(r)]);
  });
  constexpr int64_t kColumns = 4, kCached = 16384;  // columns that the loops take together; bytes of data that stay near
  const int64_t groups = (hidden + kColumns - 1) / kColumns, together = std::max<int64_t>(4, kCached / job.k / 4 * 4);
  ParallelFor(groups, std::max<int64_t>(1, 65536 / (job.k * job.rows)), [&](int64_t b, int64_t e) {
    const int64_t first = b * kColumns, end = std::min(hidden, e * kColumns);
    for (int64_t r = 0; r < job.rows; r += together) {
      const int64_t some = std::min(together, job.rows - r);
      float* out = job.out + r * hidden;
      MXNET_CPU_CALL(DotIntegers)(job.From(first), end - first, rows.data() + r, some, out + first, hidden);
      if (!job.bias) continue;
      for (int64_t s = 0; s < some; ++s)
        for (int64_t i = first; i < end; ++i) out[s * hidden + i] += job.bias[i];
    }
  });
}

void Forward(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  const P& p = args.param<P>();
  const TBlob& weight = args.in[kWeight];
  const int64_t blocks = weight.shape[1], bytes = weight.shape[2];
  const Job job{p,
                args.out[0].Size() / p.num_hidden,
                blocks * bytes * (8 / p.bits),
                blocks,
                bytes,
                args.in[kData].data<float>(),
                args.in[kScale].data<float>(),
                p.with_shift ? args.in[kShift].data<float>() : nullptr,
                p.no_bias ? nullptr : args.in[BiasAt(p)].data<float>(),
                weight.data<uint8_t>(),
                args.out[0].data<float>()};
  Ran(InIntegers(job) ? "blocks, data in 8 bits" : "blocks");
  InIntegers(job) ? MultiplyIntegers(args, job) : Multiply(args, job);
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
    .set_infer_shape(InferShape)
    .set_infer_type(InferType)
    .set_dtypes({kFloat32})
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
      return 2.0 * static_cast<double>(out[0].Size()) * static_cast<double>(in[kData].shape[in[kData].shape.ndim() - 1]);
    })
    .set_zero_gradient()
    .set_kernel([](KernelArgs& a) { OnHost(a, Forward); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
