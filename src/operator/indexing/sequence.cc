// SequenceMask, SequenceLast, SequenceReverse: padded sequences with their lengths.
#include <algorithm>

#include "operator/indexing/checked_indices.h"
#include "operator/indexing/gpu_sequence.h"
#include "operator/indexing/index_common.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move_cpu.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

struct SequenceParam : public Parameter<SequenceParam> {
  bool use_sequence_length;
  int axis;
  MXNET_DECLARE_PARAM(SequenceParam) {
    MXNET_FIELD(use_sequence_length)
        .set_default(false)
        .describe("Read the length of each sequence; without it all are as long as the array.");
    MXNET_FIELD(axis).set_default(0).describe(
        "The dimension along which sequences run, 0 or 1; the other of the two counts the sequences.");
  }
};

struct SequenceMaskParam : public Parameter<SequenceMaskParam> {
  bool use_sequence_length;
  float value;
  int axis;
  MXNET_DECLARE_PARAM(SequenceMaskParam) {
    MXNET_FIELD(use_sequence_length).set_default(false).describe("Read the length of each sequence; without it nothing is masked.");
    MXNET_FIELD(value).set_default(0).describe("What stands behind the end of a sequence.");
    MXNET_FIELD(axis).set_default(0).describe(
        "The dimension along which sequences run, 0 or 1; the other of the two counts the sequences.");
  }
};

MXNET_REGISTER_PARAM(SequenceParam);
MXNET_REGISTER_PARAM(SequenceMaskParam);

template <typename P>
int CountInputs(const Attrs& a) {
  return a.get<P>().use_sequence_length ? 2 : 1;
}

template <typename P>
Sequences Find(const Attrs& attrs, const Shape& data) {
  const int axis = attrs.get<P>().axis;
  Sequences s;
  s.steps = data[axis];
  s.batch = data[1 - axis];
  s.inner = data.Prod(2, data.ndim());
  s.step_stride = axis == 0 ? s.batch : 1;
  s.batch_stride = axis == 0 ? 1 : s.steps;
  return s;
}

// As they are given, where the context says; null when none are.
const int64_t* GivenLengths(KernelArgs& a, int input) { return a.in.size() <= input ? nullptr : ReadIndices(a, a.in[input]); }

// Lengths clipped to [low, steps]; null when none are given.
const int64_t* Lengths(KernelArgs& a, const Sequences& s, int input, int64_t low) {
  const int64_t* given = GivenLengths(a, input);
  if (!given) return nullptr;
  int64_t* clipped = static_cast<int64_t*>(a.workspace(static_cast<size_t>(std::max<int64_t>(s.batch, 1)) * sizeof(int64_t)));
  for (int64_t b = 0; b < s.batch; ++b) clipped[b] = std::min(std::max(given[b], low), s.steps);
  return clipped;
}

template <typename P>
bool CheckSequences(const Attrs& attrs, ShapeVector* in, size_t length_input) {
  const Shape& data = (*in)[0];
  const int axis = attrs.get<P>().axis;
  MXNET_CHECK_KIND(axis == 0 || axis == 1, Value) << "[" << attrs.op->name << "] axis=" << axis << "; accepted: 0, 1";
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 2, Value) << "[" << attrs.op->name << "] data has shape " << data << "; it needs at least 2 dimensions";
  if (in->size() > length_input) AssignShape(attrs, "sequence_length", &(*in)[length_input], Shape({data[1 - axis]}));
  return data.known();
}

bool DataType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  for (int& t : *in)
    if (t == kDTypeUnknown) t = (*in)[0];  // lengths that nobody gives a dtype
  for (int t : *in)
    if (t == kDTypeUnknown) return false;
  return true;
}

// ---- SequenceMask

bool MaskShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  return CheckSequences<SequenceMaskParam>(attrs, in, 1);
}

void Mask(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Sequences s = Find<SequenceMaskParam>(*a.attrs, a.in[0].shape);
  if (a.run.ctx.is_gpu() && a.in.size() > 1)
    return MaskOnDevice(a.run, s, GivenLengths(a, 1), a.param<SequenceMaskParam>().value, a.in[0], a.out[0]);
  const int64_t* lengths = Lengths(a, s, 1, 0);
  if (!lengths) return CopyThrough(a);
  if (a.in[0].Size() > 0) MaskOnCpu(s, lengths, a.param<SequenceMaskParam>().value, a.in[0], a.out[0]);
}

// ---- SequenceLast

bool LastShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const bool known = CheckSequences<SequenceParam>(attrs, in, 1);
  const int axis = attrs.get<SequenceParam>().axis;
  if ((*in)[0].ndim_known() && axis < (*in)[0].ndim()) {
    std::vector<int64_t> dims((*in)[0].begin(), (*in)[0].end());
    dims.erase(dims.begin() + axis);
    AssignShape(attrs, "the result", &(*out)[0], Shape(dims));
  }
  if (!known) return false;
  MXNET_CHECK_KIND((*in)[0][attrs.get<SequenceParam>().axis] > 0, Value) << "[" << attrs.op->name << "] sequences have no steps";
  return true;
}

template <typename F>
void EachLast(const Sequences& s, const int64_t* lengths, F&& f) {
  for (int64_t b = 0; b < s.batch; ++b) f(b, b * s.batch_stride + ((lengths ? lengths[b] : s.steps) - 1) * s.step_stride);
}

void Last(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const Sequences s = Find<SequenceParam>(*a.attrs, a.in[0].shape);
  if (a.run.ctx.is_gpu()) return MoveOnDevice(a.run, SequenceMove::kLast, s, GivenLengths(a, 1), a.in[0], a.out[0]);
  const int64_t bytes = s.inner * static_cast<int64_t>(DTypeSize(a.in[0].dtype));
  EachLast(s, Lengths(a, s, 1, 1),
           [&](int64_t b, int64_t at) { std::memcpy(a.out[0].data<char>() + b * bytes, a.in[0].data<char>() + at * bytes, bytes); });
}

// [ograd, data(, sequence_length)] -> gradient of data
bool LastBackShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  ShapeVector forward(in->begin() + 1, in->end()), last = {(*in)[0]};
  if (!LastShape(attrs, &forward, &last)) return false;
  AssignShape(attrs, "ograd", &(*in)[0], last[0]);
  AssignShape(attrs, "the gradient", &(*out)[0], (*in)[1]);
  return (*in)[0].known();
}

void LastBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob& out = a.out[0];
  const Sequences s = Find<SequenceParam>(*a.attrs, out.shape);
  if (a.run.ctx.is_gpu()) return MoveOnDevice(a.run, SequenceMove::kLastBack, s, GivenLengths(a, 2), a.in[0], out);
  ZeroBytes(out.dptr, static_cast<int64_t>(out.Bytes()));
  const int64_t bytes = s.inner * static_cast<int64_t>(DTypeSize(out.dtype));
  EachLast(s, Lengths(a, s, 2, 1),
           [&](int64_t b, int64_t at) { std::memcpy(out.data<char>() + at * bytes, a.in[0].data<char>() + b * bytes, bytes); });
}

// ---- SequenceReverse: its own gradient

bool ReverseShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  MXNET_CHECK_KIND(attrs.get<SequenceParam>().axis == 0, Value)
      << "[" << attrs.op->name << "] axis=" << attrs.get<SequenceParam>().axis << "; accepted: 0";
  AssignShape(attrs, "the result", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  return CheckSequences<SequenceParam>(attrs, in, 1);
}

void Reverse(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.in[0].Size() == 0) return;
  const Sequences s = Find<SequenceParam>(*a.attrs, a.in[0].shape);
  if (a.run.ctx.is_gpu()) return MoveOnDevice(a.run, SequenceMove::kReverse, s, GivenLengths(a, 1), a.in[0], a.out[0]);
  const int64_t* lengths = Lengths(a, s, 1, 0);
  const int64_t bytes = s.inner * static_cast<int64_t>(DTypeSize(a.in[0].dtype));
  for (int64_t t = 0; t < s.steps; ++t)
    for (int64_t b = 0; b < s.batch; ++b) {
      const int64_t length = lengths ? lengths[b] : s.steps, from = t < length ? length - 1 - t : t;
      std::memcpy(a.out[0].data<char>() + (t * s.batch + b) * bytes, a.in[0].data<char>() + (from * s.batch + b) * bytes, bytes);
    }
}

// The first gradient from a node like this one on `in`; none for the lengths.
std::vector<NodeEntry> One(const std::string& op, const NodePtr& node, std::vector<NodeEntry> in, int count) {
  std::vector<NodeEntry> grads(count);
  grads[0] = NodeEntry{MakeNodeLike(op, *node, std::move(in)), 0, 0};
  return grads;
}

// What MXNET_CHECK_INDICES accepts.
template <typename P, int kLow>
IndexRange LengthRange(const KernelArgs& a) {
  IndexRange range{a.in[0].shape[a.param<P>().axis] + 1};
  range.low = kLow;
  return range;
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("SequenceMask")
      .describe("Sequences with everything behind their ends set to one value.")
      .alias("_npx_sequence_mask")
      .set_param<SequenceMaskParam>()
      .set_inputs({"data", "sequence_length"}, CountInputs<SequenceMaskParam>)
      .set_dtypes(dtypes::kAll)
      .set_inplace({{0, 0}})
      .set_infer_shape(MaskShape)
      .set_infer_type(DataType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        const auto& p = node->attrs->get<SequenceMaskParam>();
        std::vector<NodeEntry> in = node->inputs, grads(node->num_inputs());
        in[0] = ograds[0];
        grads[0] = MakeOp("SequenceMask", std::move(in),
                          {{"use_sequence_length", p.use_sequence_length ? "True" : "False"}, {"axis", std::to_string(p.axis)}});
        return grads;
      })
      .set_kernel(WithCheckedIndices(1, LengthRange<SequenceMaskParam, 0>, Mask));
  Op::Register("SequenceLast")
      .describe("The last step of each sequence.")
      .alias("_npx_sequence_last")
      .set_trait(ReadsChosen{})
      .set_param<SequenceParam>()
      .set_inputs({"data", "sequence_length"}, CountInputs<SequenceParam>)
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(LastShape)
      .set_infer_type(DataType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> in = {ograds[0]};
        in.insert(in.end(), node->inputs.begin(), node->inputs.end());
        return One("_backward_SequenceLast", node, std::move(in), node->num_inputs());
      })
      .set_kernel(WithCheckedIndices(1, LengthRange<SequenceParam, 1>, Last));
  Op::Register("_backward_SequenceLast")
      .describe("Gradient of SequenceLast.")
      .set_param<SequenceParam>()
      .set_inputs({"ograd", "data", "sequence_length"}, [](const Attrs& a) { return 1 + CountInputs<SequenceParam>(a); })
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(LastBackShape)
      .set_infer_type(DataType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> in = {ograds[0]};
        for (int i = 2; i < node->num_inputs(); ++i) in.push_back(node->inputs[i]);
        return One("SequenceLast", node, std::move(in), node->num_inputs());
      })
      .set_kernel(LastBack);
  Op::Register("SequenceReverse")
      .describe("Each sequence in the opposite order; what is behind its end stays.")
      .alias("_npx_sequence_reverse")
      .set_param<SequenceParam>()
      .set_inputs({"data", "sequence_length"}, CountInputs<SequenceParam>)
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(ReverseShape)
      .set_infer_type(DataType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> in = node->inputs;
        in[0] = ograds[0];
        return One("SequenceReverse", node, std::move(in), node->num_inputs());
      })
      .set_kernel(WithCheckedIndices(1, LengthRange<SequenceParam, 0>, Reverse));
  return true;
}();

}  // namespace
}  // namespace mxnet
