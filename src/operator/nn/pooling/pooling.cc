// Records of Pooling and its gradient, and their CPU kernels around the loops of
// pooling_variants.cc.
#include "operator/nn/pooling/pooling.h"

#include <algorithm>

#include "base/dtype.h"
#include "base/ran.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/window.h"
#include "operator/nn/norm/gpu_norm.h"
#include "operator/nn/pooling/gpu_pooling.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"
#include "operator/runtime/parameters_in_files.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace nn {

MXNET_REGISTER_PARAM(PoolingParam);

namespace {

// Output size and padding before the data in one spatial dimension.
void OneDim(const PoolingParam& p, int i, int64_t in, int64_t* out, int64_t* pad) {
  if (p.global_pool) {
    *out = 1;
    *pad = 0;
    return;
  }
  const int64_t k = p.kernel[i], s = Or(p.stride, i, 1);
  *pad = Or(p.pad, i, 0);
  if (p.pooling_convention == kSameConvention) {
    *out = (in + s - 1) / s;
    *pad = std::max<int64_t>(0, (*out - 1) * s + k - in) / 2;
    return;
  }
  const int64_t room = in + 2 * *pad - k;
  *out = 1 + (p.pooling_convention == kFullConvention ? (room + s - 1) / s : room / s);
}

void Check(const Attrs& attrs, const PoolingParam& p, const Shape& data) {
  const int nd = data.ndim() - 2;
  MXNET_CHECK_KIND(nd >= 1 && nd <= 3, Value) << Named(attrs) << "data has shape " << data << "; 3, 4 or 5 dimensions are accepted";
  if (p.layout.has_value()) {
    static const int kDims[] = {1, 2, 3, 1, 2, 3};
    MXNET_CHECK_KIND(kDims[p.layout.value()] == nd, Value)
        << Named(attrs) << "layout has " << kDims[p.layout.value()] << " spatial dimensions, data of shape " << data << " has " << nd;
  }
  MXNET_CHECK_KIND(p.pool_type != kPoolLp || (p.p_value.has_value() && p.p_value.value() >= 1), Value)
      << Named(attrs) << "pool_type lp needs p_value of at least 1";
  if (p.global_pool) return;
  MXNET_CHECK_KIND(p.kernel.ndim() == nd, Value)
      << Named(attrs) << "kernel " << p.kernel << " for data of shape " << data << "; " << nd << " numbers are needed";
  for (const Shape* s : {&p.stride, &p.pad})  // as in 1.x, more numbers than the kernel has are not looked at
    MXNET_CHECK_KIND(s->ndim() <= 0 || s->ndim() >= nd, Value) << Named(attrs) << "stride and pad need " << nd << " numbers; given " << *s;
  for (int i = 0; i < nd; ++i) {
    MXNET_CHECK_KIND(
        p.kernel[i] >= 1 && Or(p.stride, i, 1) >= 1 && p.kernel[i] < (int64_t{1} << 31) && Or(p.stride, i, 1) < (int64_t{1} << 31), Value)
        << Named(attrs) << "kernel " << p.kernel << ", stride " << p.stride << "; every number must be at least 1";
    const int64_t pad = Or(p.pad, i, 0);
    MXNET_CHECK_KIND(pad >= 0 && pad < p.kernel[i], Value)
        << Named(attrs) << "pad " << p.pad << " with kernel " << p.kernel << "; padding must be smaller than the window";
    MXNET_CHECK_KIND(pad == 0 || p.pooling_convention != kSameConvention, Value)
        << Named(attrs) << "pad " << p.pad << "; pooling_convention same takes no padding";
  }
}

PoolDims DimsOf(const PoolingParam& p, const Shape& data, const Shape& out) {
  const int nd = data.ndim() - 2, shift = 3 - nd, saxis = p.channels_last() ? 1 : 2;
  PoolDims d;
  d.batch = data[0], d.channels = data[p.channels_last() ? nd + 1 : 1];
  d.type = p.pool_type;
  d.include_pad = !p.count_include_pad.has_value() || p.count_include_pad.value();
  if (p.pooling_convention == kSameConvention) d.include_pad = p.count_include_pad.has_value() && p.count_include_pad.value();
  if (p.p_value.has_value()) d.p = p.p_value.value();
  for (int i = 0; i < nd; ++i) {
    const int j = i + shift;
    d.in[j] = data[saxis + i];
    d.out[j] = out[saxis + i];
    d.kernel[j] = p.global_pool ? d.in[j] : p.kernel[i];
    d.stride[j] = p.global_pool ? 1 : Or(p.stride, i, 1);
    int64_t size;
    OneDim(p, i, d.in[j], &size, &d.pad[j]);
  }
  return d;
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<PoolingParam>();
  Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  Check(attrs, p, data);
  const int nd = data.ndim() - 2, caxis = p.channels_last() ? nd + 1 : 1, saxis = p.channels_last() ? 1 : 2;
  Shape expected(data.ndim());
  expected[0] = data[0];
  expected[caxis] = data[caxis];
  for (int i = 0; i < nd; ++i) {
    const int64_t size = data[saxis + i];
    if (p.global_pool) {
      expected[saxis + i] = 1;
      continue;
    }
    if (size < 0) continue;
    MXNET_CHECK_KIND(p.pooling_convention == kSameConvention || p.kernel[i] <= size + 2 * Or(p.pad, i, 0), Value)
        << Named(attrs) << "kernel " << p.kernel << " exceeds data of shape " << data << " with padding " << Or(p.pad, i, 0)
        << " in spatial dimension " << i;
    int64_t pad;
    OneDim(p, i, size, &expected[saxis + i], &pad);
  }
  AssignShape(attrs, "output", &(*out)[0], expected);
  if (data[0] < 0) data[0] = (*out)[0][0];
  if (data[caxis] < 0) data[caxis] = (*out)[0][caxis];
  return data.known() && (*out)[0].known();
}

bool Last(const PoolingParam& p, const TBlob& b) { return p.channels_last() || b.layout == Layout::kChannelsLast; }

// `b` in the wanted order: its memory, or a workspace copy. Orders of the operands rarely differ.
const void* InOrder(KernelArgs& args, const TBlob& b, bool last, bool wanted, int64_t batch, int64_t channels, int64_t inner) {
  if (last == wanted || channels == 1 || inner == 1) return b.dptr;
  const size_t size = DTypeSize(b.dtype);
  char* copy = Workspace<char>(args, b.Size() * static_cast<int64_t>(size));
  const char* from = static_cast<const char*>(b.dptr);
  const int64_t rows = last ? inner : channels, columns = last ? channels : inner;
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        std::memcpy(copy + ((n * columns + j) * rows + i) * size, from + ((n * rows + i) * columns + j) * size, size);
  return copy;
}

int64_t ForwardItems(const PoolDims& d, bool last) { return last ? d.batch * d.out[0] * d.out[1] : d.batch * d.channels; }
int64_t BackwardItems(const PoolDims& d, bool last) {  // of PoolGather too
  return last ? d.batch * ((d.channels + kPoolChannelBlock - 1) / kPoolChannelBlock) : d.batch * d.channels;
}

// An operand of a kernel in the order of all: `places` numbers of each channel.
struct Side {
  int dtype;
  char* at;
  int64_t places;
  bool result;
};

void CopyBlock(const Side& s, const PoolDims& d, bool last, int64_t image, int64_t first, int64_t width, float* block) {
  const int64_t size = static_cast<int64_t>(DTypeSize(s.dtype)), rows = last ? s.places : 1, row = last ? width : width * s.places;
  for (int64_t i = 0; i < rows; ++i) {
    char* at = s.at + (last ? (image * s.places + i) * d.channels + first : (image * d.channels + first) * s.places) * size;
    if (s.result)
      WriteFloats(block + i * row, s.dtype, at, row);
    else
      ReadFloats(s.dtype, at, block + i * row, row);
  }
}

// f(dims, operands): once for the whole, or, of half types, in float32 for blocks of channels of
// one image at a time, in copies that the cache holds. From several threads.
template <typename F>
void InBlocks(const PoolDims& d, bool last, std::initializer_list<Side> sides, F&& f) {
  constexpr int64_t kCached = 1 << 17, kLeast = 16;  // floats of a block; channels of it where they are last
  int64_t each = 0;
  for (const Side& s : sides) each += s.places;
  const int64_t width = std::min(d.channels, std::max<int64_t>(last ? kLeast : 1, kCached / std::max<int64_t>(1, each) / kLeast * kLeast)),
                blocks = (d.channels + width - 1) / width;
  ParallelFor(d.batch * blocks, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width * each)), [&](int64_t begin, int64_t end) {
    const HostScratch<float> room(width * each);
    PoolDims part = d;
    part.batch = 1;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / blocks, first = i % blocks * width;
      part.channels = std::min(width, d.channels - first);
      void* at[4];
      float* next = room.get();
      int k = 0;
      for (const Side& s : sides) {
        at[k++] = next;
        if (!s.result) CopyBlock(s, d, last, image, first, part.channels, next);
        next += part.channels * s.places;
      }
      f(part, at);
      k = 0;
      for (const Side& s : sides) {
        if (s.result) CopyBlock(s, d, last, image, first, part.channels, static_cast<float*>(at[k]));
        ++k;
      }
    }
  });
}

// By the kernel of `dtype`, all at once.
void ForwardWhole(KernelArgs& args, const PoolDims& d, bool last, const void* x) {
  const int64_t work = (last ? d.out[2] * d.channels : d.OutSize()) * d.kernel[0] * d.kernel[1] * d.kernel[2];
  ParallelFor(ForwardItems(d, last), std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
    MXNET_CPU_CALL(PoolForward)(d, args.in[0].dtype, last, x, args.out[0].dptr, begin, end);
  });
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const auto& p = args.param<PoolingParam>();
  const int dtype = args.in[0].dtype;
  MXNET_CHECK_KIND(IsFloating(dtype) || p.pool_type == kPoolMax, Type)
      << "[Pooling] pool_type other than max on " << DTypeName(dtype) << "; float types are accepted";
  const bool last = Last(p, args.out[0]);
  if (args.run.ctx.is_gpu()) {
    const TBlob x = p.channels_last() ? args.in[0] : InOrderOnDevice(args, args.in[0], args.out[0].layout);
    return PoolOnDevice(args, DimsOf(p, x.shape, args.out[0].shape), last, x, args.out[0]);
  }
  const PoolDims d = DimsOf(p, args.in[0].shape, args.out[0].shape);
  Ran(last ? "pooling of channels" : "pooling of planes");
  void* x = const_cast<void*>(InOrder(args, args.in[0], Last(p, args.in[0]), last, d.batch, d.channels, d.InSize()));
  const int to = args.out[0].dtype;
  const bool of_bfloat = dtype == kBfloat16 && to == dtype && p.pool_type != kPoolLp && last && d.channels % 8 == 0;
  if ((!IsHalf(dtype) && !IsHalf(to)) || of_bfloat) return ForwardWhole(args, d, last, x);
  InBlocks(d, last, {{dtype, static_cast<char*>(x), d.InSize(), false}, {to, args.out[0].data<char>(), d.OutSize(), true}},
           [last](const PoolDims& part, void* const* at) {
             MXNET_CPU_CALL(PoolForward)(part, kFloat32, last, at[0], at[1], 0, ForwardItems(part, last));
           });
}

using BackwardFn = void (*)(const PoolDims& d, int dtype, bool last, const void* from, const void* x, const void* y, void* to,
                            int64_t begin, int64_t end);

// PoolBackward, from numbers of the result to numbers of the data, or PoolGather, the other way.
void BackwardOnCpu(KernelArgs& args, bool gathers, BackwardFn f) {
  const auto& p = args.param<PoolingParam>();
  const PoolDims d = DimsOf(p, args.in[1].shape, args.in[2].shape);
  const bool last = Last(p, args.out[0]);
  Ran(last ? "pooling of channels" : "pooling of planes");
  const auto in_order = [&](int i, int64_t places) {
    return Side{args.in[i].dtype,
                static_cast<char*>(const_cast<void*>(InOrder(args, args.in[i], Last(p, args.in[i]), last, d.batch, d.channels, places))),
                places, false};
  };
  const Side from = in_order(0, gathers ? d.InSize() : d.OutSize()), x = in_order(1, d.InSize()), y = in_order(2, d.OutSize()),
             to{args.out[0].dtype, args.out[0].data<char>(), gathers ? d.OutSize() : d.InSize(), true};
  if (IsHalf(from.dtype) || IsHalf(x.dtype) || IsHalf(y.dtype) || IsHalf(to.dtype))
    return InBlocks(d, last, {from, x, y, to}, [&](const PoolDims& part, void* const* at) {
      f(part, kFloat32, last, at[0], at[1], at[2], at[3], 0, BackwardItems(part, last));
    });
  const int64_t work = d.OutSize() * d.kernel[0] * d.kernel[1] * d.kernel[2] * (last ? std::min(d.channels, kPoolChannelBlock) : 1);
  ParallelFor(BackwardItems(d, last), std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work)),
              [&](int64_t begin, int64_t end) { f(d, to.dtype, last, from.at, x.at, y.at, to.at, begin, end); });
}

void Backward(KernelArgs& args) {  // ograd, data, output -> data_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) {
    const auto& p = args.param<PoolingParam>();
    auto in_order = [&](const TBlob& b) { return p.channels_last() ? b : InOrderOnDevice(args, b, args.out[0].layout); };
    const TBlob og = in_order(args.in[0]), x = in_order(args.in[1]), y = in_order(args.in[2]);
    return PoolBackwardOnDevice(args, DimsOf(p, x.shape, og.shape), Last(p, args.out[0]), og, x, y, args.out[0]);
  }
  BackwardOnCpu(args, false, MXNET_CPU_CALL(PoolBackward));
}

void Gather(KernelArgs& args) {  // ggrad, data, output -> ograd_grad
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) {
    const auto& p = args.param<PoolingParam>();
    auto in_order = [&](const TBlob& b) { return p.channels_last() ? b : InOrderOnDevice(args, b, args.out[0].layout); };
    const TBlob u = in_order(args.in[0]), x = in_order(args.in[1]), y = in_order(args.in[2]);
    return PoolGatherOnDevice(args, DimsOf(p, x.shape, y.shape), Last(p, args.out[0]), u, x, y, args.out[0]);
  }
  BackwardOnCpu(args, true, MXNET_CPU_CALL(PoolGather));
}

/*
 * sum u * _backward_Pooling(og, x, y) is linear in og and u. Its gradients with respect to x and y,
 * of pool_type lp, from those with respect to u (`by_u`) and og (`by_og`): slopes are sign(x) |x /
 * y|^(p-1). Of maxima there are none.
 */
void SlopesChange(const PoolingParam& p, const NodeEntry& og, const NodeEntry& u, const NodeEntry& by_u, const NodeEntry& by_og,
                  const Node& node, std::vector<NodeEntry>* grads) {
  if (p.pool_type != kPoolLp || p.p_value.value() == 1) return;
  const NodeEntry x = node.inputs[1], y = node.inputs[2];
  const AttrDict zero = {{"scalar", "0"}, {"is_int", "0"}};
  auto times = [](const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_mul", {a, b}); };
  auto over = [&](const NodeEntry& a, const NodeEntry& b) {  // 0 where b is
    return MakeOp("elemwise_div",
                  {times(a, MakeOp("_not_equal_scalar", {b}, zero)), MakeOp("elemwise_add", {b, MakeOp("_equal_scalar", {b}, zero)})});
  };
  auto scaled = [](const NodeEntry& a, int by) { return MakeOp("_mul_scalar", {a}, {{"scalar", std::to_string(by)}, {"is_int", "0"}}); };
  const int power = p.p_value.value() - 1;
  if (power == 1) {  // with ones as data and output all slopes are 1
    const NodeEntry sums{MakeNodeLike("_backward_Pooling", node, {over(og, y), MakeOp("ones_like", {x}), MakeOp("ones_like", {y})}), 0, 0};
    (*grads)[1] = times(u, sums);
  } else {
    (*grads)[1] = scaled(times(u, over(by_u, x)), power);
  }
  (*grads)[2] = scaled(times(over(og, y), by_og), -power);
}

// ograd, data, output -> data_grad. Averages and sums are linear: what comes from above is pooled
// as data was.
std::vector<NodeEntry> SecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const auto& p = node->attrs->get<PoolingParam>();
  std::vector<NodeEntry> grads(node->inputs.size());
  if (p.pool_type == kPoolAvg || p.pool_type == kPoolSum) {
    grads[0] = NodeEntry{MakeNodeLike("Pooling", *node, {ograds[0]}), 0, 0};
    return grads;
  }
  grads[0] = NodeEntry{MakeNodeLike("_backward_backward_Pooling", *node, {ograds[0], node->inputs[1], node->inputs[2]}), 0, 0};
  SlopesChange(p, node->inputs[0], ograds[0], NodeEntry{node, 0, 0}, grads[0], *node, &grads);
  return grads;
}

std::vector<NodeEntry> ThirdGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> grads(node->inputs.size());
  grads[0] = NodeEntry{MakeNodeLike("_backward_Pooling", *node, {ograds[0], node->inputs[1], node->inputs[2]}), 0, 0};
  SlopesChange(node->attrs->get<PoolingParam>(), ograds[0], node->inputs[0], grads[0], NodeEntry{node, 0, 0}, *node, &grads);
  return grads;
}

bool NamesChannelsLast(const Attrs& attrs) { return attrs.get<PoolingParam>().channels_last(); }

// Maxima and means of 8-bit integers are of the same range.
bool HasQuantizedForm(const Attrs& attrs) {
  const int type = attrs.get<PoolingParam>().pool_type;
  return type == kPoolMax || type == kPoolAvg;
}

MXNET_REGISTER_OP(Pooling)
    .set_expensive_to_recompute()
    .describe(
        "Maximum, average, sum or p-norm of windows in one, two or three dimensions.\n\n"
        "data has shape (batch, channels, spatial...). Spatial dimensions of the output are floor((size + 2 pad - kernel) / stride) + 1 "
        "with\n"
        "pooling_convention valid, rounded up with full, ceil(size / stride) with same, and 1 with global_pool. Averages divide by the "
        "window's size\n"
        "with the padding in it, or, with count_include_pad=False, without. float16, bfloat16, float32, float64; maxima also of int8 and "
        "uint8.")
    .alias("_npx_pooling")
    .set_param<PoolingParam>()
    .set_trait(NamesLayout{NamesChannelsLast})
    .set_trait(ParametersInFiles{{{"output_size", ""}}})
    .set_trait(Quantized{"_contrib_quantized_pooling", {}, HasQuantizedForm})
    .set_inputs({"data"})
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats | dtypes::kBytes)
    .set_layout(LayoutRule::kChannelsLast)
    .set_gradient(BackwardNode("_backward_Pooling", kGradInputs | kGradOutputs))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_Pooling)
    .describe("Gradient of Pooling with respect to data.")
    .set_param<PoolingParam>()
    .set_trait(NamesLayout{NamesChannelsLast})
    .set_inputs({"ograd", "data", "output"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(SameType)
    .set_layout(LayoutRule::kChannelsLast)
    .set_gradient(SecondGradient)
    .set_kernel(Backward);

MXNET_REGISTER_OP(_backward_backward_Pooling)
    .describe(
        "Gradient of _backward_Pooling, for pool_type max and lp, with respect to ograd: of ggrad what stands where data has its first "
        "maximum of each window, "
        "or the sum of what each element contributes to the p-norm.")
    .set_param<PoolingParam>()
    .set_trait(NamesLayout{NamesChannelsLast})
    .set_inputs({"ggrad", "data", "output"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"ograd_grad"})
    .set_infer_shape(LikeInputsShape(2))
    .set_infer_type(SameType)
    .set_layout(LayoutRule::kChannelsLast)
    .set_gradient(ThirdGradient)
    .set_kernel(Gather);

}  // namespace
}  // namespace nn
}  // namespace mxnet
