// _fused_quantized_convolution and _fused_quantized_dense.
#include "operator/quantized_fused/fused_layer.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

#include "mxnet/env.h"
#include "operator/matrix/move_cpu.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nn/dense/fully_connected.h"
#include "operator/nodes/make_nodes.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized/layers.h"
#include "operator/quantized/packed_layer.h"
#include "operator/quantized/quantized.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace quantized {

bool (*g_fused_layer)(KernelArgs& args, const LayerCall& call) = nullptr;

namespace {

constexpr int kWeight = 1;  // input

struct LayerKind {
  const char *layer, *fused;
};
constexpr LayerKind kConvolution{"_contrib_quantized_conv", "_fused_quantized_convolution"},
    kDense{"_contrib_quantized_fully_connected", "_fused_quantized_dense"};
const LayerKind* const kKinds[] = {&kConvolution, &kDense};

struct FusedBytesParam {
  AttrsPtr layer;  // the quantized layer alone
  FusedForm form;
  int LayerInputs() const { return layer->op->NumInputs(*layer); }
};
const FusedBytesParam& P(const Attrs& a) { return a.get<FusedBytesParam>(); }

// ---- parameters as text

constexpr char kOut[] = "out_range", kAddend[] = "addend_range", kOwn[] = "own_range", kRelu[] = "with_relu", kPost[] = "post";

std::string RangeText(const ByteRange& r) {
  return DTypeName(r.dtype) + std::string(" ") + ExactText(r.low) + " " + ExactText(r.high) + (r.halves ? " halves" : "");
}

/* Of a parameter that RangeText wrote; false: there is none. A range of floats has no ends. */
bool TakeRange(const char* op, AttrDict* dict, const char* key, ByteRange* range) {
  const auto it = dict->find(key);
  if (it == dict->end()) return false;
  char dtype[8] = "", levels[8] = "";
  double low = 0, high = 0;
  const int read = std::sscanf(it->second.c_str(), "%7s %lf %lf %7s", dtype, &low, &high, levels);
  const std::string name = dtype;
  const bool halves = std::string(levels) == "halves";
  MXNET_CHECK_KIND(read == 3 + halves && (name == "int8" || name == "uint8" || name == "float32"), Value)
      << "[" << op << "] " << key << " is '" << it->second << "'; accepted: int8, uint8 or float32, two numbers, and perhaps halves";
  *range = {name == "uint8"  ? int{kUint8}
            : name == "int8" ? int{kInt8}
                             : int{kFloat32},
            static_cast<float>(low), static_cast<float>(high), halves};
  dict->erase(it);
  return true;
}

std::shared_ptr<const void> Parse(const LayerKind& kind, const AttrDict& dict) {
  AttrDict rest = dict;
  auto p = std::make_shared<FusedBytesParam>();
  MXNET_CHECK_KIND(TakeRange(kind.fused, &rest, kOut, &p->form.out), Value)
      << "[" << kind.fused << "] " << kOut << " is not given; it is needed";
  p->form.add = TakeRange(kind.fused, &rest, kAddend, &p->form.addend);
  ByteRange own;
  if (TakeRange(kind.fused, &rest, kOwn, &own)) p->form.own = own;
  p->form.relu = rest.erase(kRelu) > 0;
  std::string post;
  nn::TakeText(&rest, kPost, &post);
  p->form.post = nn::ParsePost(kind.fused, post);
  MXNET_CHECK_KIND(!p->form.add || IsBytes(p->form.addend.dtype) == IsBytes(p->form.out.dtype), Value)
      << "[" << kind.fused << "] " << kAddend << " is of " << DTypeName(p->form.addend.dtype) << ", " << kOut << " of "
      << DTypeName(p->form.out.dtype) << "; accepted: both of 8 bits, or both of float32";
  MXNET_CHECK_KIND(!p->form.own || (p->form.add && IsBytes(p->form.addend.dtype) && IsBytes(own.dtype)), Value)
      << "[" << kind.fused << "] " << kOwn << " is given; accepted: 8 bits beside an addend of 8 bits";
  p->layer = MakeAttrs(Op::Get(kind.layer), std::move(rest));
  return p;
}

// ---- inference

bool InferShape(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  const auto& p = P(attrs);
  ShapeVector own(in->begin(), in->begin() + p.LayerInputs());
  const bool known = InferCall(*p.layer, switches, &own, out);
  std::copy(own.begin(), own.end(), in->begin());
  if (!p.form.add) return known;
  AssignShape(attrs, "addend", &in->back(), (*out)[0]);
  return known && in->back().known();
}

bool InferType(const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = P(attrs);
  std::vector<int> own(in->begin(), in->begin() + p.LayerInputs()), sums(3, kDTypeUnknown);
  const bool known = InferCall(*p.layer, switches, &own, &sums);
  std::copy(own.begin(), own.end(), in->begin());
  if (p.form.add) AssignType(attrs, "addend", &in->back(), p.form.addend.dtype);
  AssignType(attrs, "output", &(*out)[0], p.form.out.dtype);
  AssignType(attrs, "min_output", &(*out)[1], kFloat32);
  AssignType(attrs, "max_output", &(*out)[2], kFloat32);
  return known;
}

// ---- computing

float StepOf(const ByteRange& r) {
  if (!IsBytes(r.dtype)) return 1;
  return LargestOf(r.low, r.high) / (r.halves ? Levels(r.dtype) : WholeLevels(r.dtype));
}

/* Sums of integers end where both ranges together do: integers that were cut may lie beyond. */
void CutSum(const FusedForm& form, LayerCall* call) {
  const float largest = LargestOf(form.own->low, form.own->high) + LargestOf(form.addend.low, form.addend.high);
  if (largest > (LimitsOf(form.out.dtype).high + 0.5f) * call->dst_step) return;
  call->cuts = true, call->low = call->relu ? 0 : -largest, call->high = largest;
  call->relu = false;
}

/* What LayerCall wants to know of the ranges. */
void ReadRanges(KernelArgs& args, LayerCall* call) {
  const auto& form = P(*args.attrs).form;
  const int arrays = P(*args.attrs).LayerInputs() / 3;
  const LayerRanges ranges(args, arrays);
  call->scale = ranges.data / WholeLevels(args.in[0].dtype) * (ranges.weight / WholeLevels(kInt8));
  call->dst_step = StepOf(form.out);
  call->addend_step = StepOf(form.addend);
  if (form.own) {
    ByteRange read = *form.own;
    read.halves = true;
    call->between = Affine{read.dtype, StepOf(read), 0};
    // What the integers stand for behind the rounding is a little less than what they were made of.
    call->scale *= form.own->halves ? 1 : WholeLevels(read.dtype) / Levels(read.dtype);
    CutSum(form, call);
  }
  const int32_t* bias = WideBias(args, ranges, arrays);
  if (!bias) return;
  float* numbers = nn::Workspace<float>(args, args.in[2].Size());
  for (int64_t i = 0; i < args.in[2].Size(); ++i) numbers[i] = call->scale * static_cast<float>(bias[i]);
  call->bias = numbers;
}

bool IsLast(const TBlob& b) { return b.layout == Layout::kChannelsLast; }

/* Between the two layouts of an image, of elements of `size` bytes. */
void Reorder(const void* from, bool from_last, void* to, const Shape& shape, size_t size) {
  const int n = shape.ndim();
  std::vector<int64_t> dims{shape[0], shape[1], shape.Prod(2, n)}, plain{dims[1] * dims[2], dims[2], 1},
      last{dims[1] * dims[2], 1, dims[1]};
  CopyStrided(from, (from_last ? last : plain).data(), to, (from_last ? plain : last).data(), dims.data(), 3, size);
}

/* The array with its image in row-major order. */
TBlob Plain(KernelArgs& args, const TBlob& b) {
  if (!IsLast(b)) return b;
  TBlob plain = b;
  plain.layout = Layout::kPlain;
  plain.dptr = args.workspace(b.Bytes());
  Reorder(b.dptr, true, plain.dptr, b.shape, DTypeSize(b.dtype));
  return plain;
}

/* The nearest of these integers. */
float Between(const Affine& form, float y) {
  const ByteLimits limits = LimitsOf(form.dtype);
  return std::nearbyint(std::min(limits.high, std::max(limits.low, y)));
}

/* x / step; 0 where a range without extent has no step. */
float InSteps(float x, float step) { return step > 0 ? x / step : 0; }

/* What becomes of the layer's sums, as SumsFinish has it. `other`: the addend, or null. */
void FinishAll(const LayerCall& call, const int32_t* sums, const TBlob* other, int64_t n, char* to) {
  const bool is_unsigned = call.dst_type == kUint8, steps = IsBytes(call.dst_type);
  const auto addend = [&](int64_t i) {
    if (other->dtype == kFloat32) return other->data<float>()[i];
    return static_cast<float>(other->dtype == kUint8 ? int{other->data<uint8_t>()[i]} : int{other->data<int8_t>()[i]});
  };
  const float step = steps ? call.dst_step : 1, unit = call.between ? call.between->step : step;
  const float scale = InSteps(call.scale, unit), between_scale = InSteps(unit, step), addend_scale = InSteps(call.addend_step, step),
              low = InSteps(call.low, step), high = InSteps(call.high, step);
  ParallelFor(n, 4096, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      float y = static_cast<float>(sums[i]) * scale;
      if (call.between) y = Between(*call.between, y) * between_scale;
      if (other) y = std::fma(addend(i), addend_scale, y);
      if (call.relu) y = std::max(y, 0.0f);
      if (call.cuts) y = std::min(high, std::max(low, y));
      if (!steps) {
        reinterpret_cast<float*>(to)[i] = y;
        continue;
      }
      y = std::nearbyint(y);
      to[i] = static_cast<char>(is_unsigned ? static_cast<int>(std::min(255.0f, std::max(0.0f, y)))
                                            : static_cast<int>(std::min(127.0f, std::max(-128.0f, y))));
    }
  });
}

/* By the layer's own kernel, and a pass over its sums. */
void RunReference(KernelArgs& args, const LayerCall& call, const TBlob* addend) {
  args.NeedWeights(args.in[kWeight].dptr);
  const auto& p = P(*args.attrs);
  const TBlob& out = args.out[0];
  const int64_t n = out.Size();
  float range[2];
  std::vector<TBlob> in(args.in.begin(), args.in.begin() + p.LayerInputs()), results(3, args.out[1]);
  in[0] = Plain(args, in[0]);
  results[0] = out;
  results[0].dtype = kInt32;
  results[0].layout = Layout::kPlain;
  results[0].dptr = nn::Workspace<int32_t>(args, n);
  results[1].dptr = &range[0], results[2].dptr = &range[1];
  const std::vector<OpReq> req(3, OpReq::kWrite);
  KernelArgs own = args;
  own.attrs = p.layer.get();
  own.in = in, own.out = results, own.req = req;
  own.state = nullptr;
  (*p.layer->op->KernelFor(DeviceType::kCPU))(own);
  const TBlob other = addend ? Plain(args, *addend) : out;
  const size_t size = DTypeSize(call.dst_type);
  char* to = static_cast<char*>(IsLast(out) ? args.workspace(static_cast<size_t>(n) * size) : call.dst.ptr);
  FinishAll(call, results[0].data<int32_t>(), addend ? &other : nullptr, n, to);
  if (IsLast(out)) Reorder(to, false, call.dst.ptr, out.shape, size);
}

/* The geometry, and where everything lies. */
void Describe(KernelArgs& args, LayerCall* call) {
  const Attrs& layer = *P(*args.attrs).layer;
  const TBlob &data = args.in[0], &weight = args.in[1], &out = args.out[0];
  if (layer.op == Op::Get(kDense.layer)) {
    call->dense = true;
    call->dims.filters = weight.shape[0], call->dims.channels = weight.shape[1];
    call->dims.batch = out.Size() / weight.shape[0];
    call->src = {data.dptr, false}, call->weight = {weight.dptr, false}, call->dst = {out.dptr, false};
    return;
  }
  const auto& conv = layer.get<nn::ConvolutionParam>();
  const bool last = nn::ChannelsLastAttr(conv.layout);
  call->dims = nn::DimsOf(conv, data.shape, out.shape);
  call->src = {data.dptr, last || IsLast(data)}, call->weight = {weight.dptr, last}, call->dst = {out.dptr, last || IsLast(out)};
}

/* The function of floats, which may lie in the result, and the step to 8 bits. */
void ApplyBehind(KernelArgs& args, const LayerCall& call, void* floats) {
  const TBlob& out = args.out[0];
  const bool steps = IsBytes(call.dst_type);
  ParallelFor(out.Size(), 4096, [&](int64_t b, int64_t e) {
    float* x = static_cast<float*>(floats) + b;
    nn::ApplyPost(call.post, x, x, e - b);
    if (steps) MXNET_CPU_CALL(ToBytes)(x, StepsOf(1, call.dst_step), 0, LimitsOf(out.dtype), e - b, out.data<char>() + b);
  });
}

void Forward(KernelArgs& args) {
  const auto& p = P(*args.attrs);
  const ByteRange& range = p.form.out;
  const float largest = LargestOf(range.low, range.high);
  StoreRange(args, range.dtype == kUint8 ? range.low : -largest, range.dtype == kUint8 ? range.high : largest);
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  LayerCall call;
  call.src_type = args.in[0].dtype, call.dst_type = args.out[0].dtype, call.addend_type = p.form.addend.dtype;
  call.relu = p.form.relu, call.post = p.form.post;
  ReadRanges(args, &call);
  const TBlob* addend = p.form.add ? &args.in[args.in.size() - 1] : nullptr;
  Describe(args, &call);
  // Ranges without extent have no steps to divide by.
  const auto has_steps = [](float step) { return step > 0 && step < INFINITY; };
  const bool usable = has_steps(call.scale) && has_steps(call.dst_step) && (!call.between || has_steps(call.between->step));
  if (usable && g_fused_layer && Env::Get().onednn_enabled && (!addend || call.dst.channels_last || call.dense)) {
    call.accumulate = addend != nullptr, call.addend = addend;
    if (g_fused_layer(args, call)) return;
    call.accumulate = false;
  }
  // Kernels of our own know no other functions: they give floats, and a pass over them the rest.
  const LayerCall wanted = call;
  if (call.post && IsBytes(call.dst_type)) call.dst_type = kFloat32, call.dst.ptr = nn::Workspace<float>(args, args.out[0].Size());
  call.post = {};
  const bool alike = !addend || IsLast(*addend) == IsLast(args.out[0]);
  if (!usable || !alike || !PackedLayer(args, {call, kWeight, {}, addend ? addend->dptr : nullptr})) RunReference(args, call, addend);
  if (wanted.post) ApplyBehind(args, wanted, call.dst.ptr);
}

Op& Register(const LayerKind& kind) {
  const LayerKind* own = &kind;
  Op& op = Op::Register(kind.fused);
  op.parse = [own](const AttrDict& dict) { return Parse(*own, dict); };
  return op
      .describe(std::string(kind.layer) +
                " with the sum, the relu and the step to 8 bits or to float32 behind it; made by the plan compiler.")
      .set_inputs({"data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight", "min_bias", "max_bias", "addend"},
                  [](const Attrs& a) { return P(a).LayerInputs() + (P(a).form.add ? 1 : 0); })
      .set_list_inputs([](const Attrs& a) {
        std::vector<std::string> names = P(a).layer->op->ListInputs(*P(a).layer);
        if (P(a).form.add) names.push_back("addend");
        return names;
      })
      .set_dtypes(dtypes::kAll)
      .set_outputs({"output", "min_output", "max_output"})
      .set_infer_shape(InferShape)
      .set_infer_type(InferType)
      .set_inplace([](const Attrs& a) {
        return P(a).form.add ? std::vector<std::pair<int, int>>{{P(a).LayerInputs(), 0}} : std::vector<std::pair<int, int>>();
      })
      .set_stateful()
      .set_trait(AsksForWeights{1 << kWeight})
      .set_trait(graph_ops::RangesStay{})
      .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob> out) {
        const int64_t filters = in[1].shape[0];
        return filters > 0 ? 2.0 * static_cast<double>(out[0].Size()) * static_cast<double>(in[1].Size() / filters) : 0.0;
      })
      .set_kernel(DeviceType::kCPU, Forward);
}

// The addend stands behind six inputs, or nine where there is a bias.
[[maybe_unused]] Op& convolution =
    Register(kConvolution)
        .set_images({1 | 1 << 6 | 1 << 9, 1, 1 << 6 | 1 << 9})
        .set_trait(graph_ops::ByteImages{})
        .set_trait(NamesLayout{[](const Attrs& a) { return nn::ChannelsLastAttr(P(a).layer->get<nn::ConvolutionParam>().layout); }});
[[maybe_unused]] Op& dense = Register(kDense);

const LayerKind* KindOf(const Node& node, bool fused) {
  static const Op* const ops[][2] = {{Op::Get(kConvolution.layer), Op::Get(kConvolution.fused)},
                                     {Op::Get(kDense.layer), Op::Get(kDense.fused)}};
  for (size_t k = 0; k < std::size(ops); ++k)
    if (node.op() == ops[k][fused]) return kKinds[k];
  return nullptr;
}

}  // namespace

bool GivesSums(const Node& node) { return KindOf(node, false) != nullptr; }

std::optional<FusedForm> FusedFormOf(const Node& node) {
  return KindOf(node, true) ? std::optional<FusedForm>(P(*node.attrs).form) : std::nullopt;
}

NodePtr FuseLayer(const Node& layer, const FusedForm& form, const NodeEntry* addend, const std::string& name) {
  const LayerKind* kind = KindOf(layer, false);
  AttrDict dict = layer.attrs->dict;
  if (!kind) {
    kind = KindOf(layer, true);
    for (const char* key : {kOut, kAddend, kOwn, kRelu, kPost}) dict.erase(key);
  }
  dict[kOut] = RangeText(form.out);
  if (form.add) dict[kAddend] = RangeText(form.addend);
  if (form.own) dict[kOwn] = RangeText(*form.own);
  if (form.relu) dict[kRelu] = "True";
  if (form.post) dict[kPost] = nn::EpilogueText(form.post);
  std::vector<NodeEntry> inputs = layer.inputs;
  if (addend) inputs.push_back(*addend);
  return MakeNode(kind->fused, std::move(inputs), std::move(dict), name);
}

}  // namespace quantized
}  // namespace mxnet
