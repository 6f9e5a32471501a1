// Convolutions through oneDNN: forward, data gradient, weight gradient.
#include <algorithm>
#include <atomic>
#include <vector>

#include "base/ran.h"
#include "base/threads/library_threads.h"
#include "mxnet/env.h"
#include "mxnet/storage.h"
#include "operator/matrix/move_cpu.h"
#include "operator/nn/onednn/hooks.h"
#include "operator/nn/onednn/onednn_common.h"

namespace mxnet {
namespace nn {
namespace {

using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

struct ConvEntry : CacheEntry {
  dnnl::primitive primitive;
  Operand src, weight, dst, bias;
  dnnl::memory workspace;
  bool has_bias = false;
  RanPart ran;
};

// First of the three spatial dimensions that matters: those before it have size 1 everywhere.
int FirstSpatial(const ConvDims& d) {
  int i = 0;
  while (i < 2 && d.in[i] == 1 && d.out[i] == 1 && d.kernel[i] == 1 && d.pad[i] == 0) ++i;
  return i;
}

Tag DataTag(int nd, bool last) {
  if (nd == 1) return last ? Tag::nwc : Tag::ncw;
  if (nd == 2) return last ? Tag::nhwc : Tag::nchw;
  return last ? Tag::ndhwc : Tag::ncdhw;
}

Tag WeightTag(int nd, bool groups, bool last) {
  // O, I, spatial or O, spatial, I; with groups O is (g, O / g), which is adjacent in memory
  if (groups) {
    if (nd == 1) return last ? Tag::abdc : Tag::goiw;
    if (nd == 2) return last ? Tag::abdec : Tag::goihw;
    return last ? Tag::abdefc : Tag::goidhw;
  }
  if (nd == 1) return last ? Tag::owi : Tag::oiw;
  if (nd == 2) return last ? Tag::ohwi : Tag::oihw;
  return last ? Tag::odhwi : Tag::oidhw;
}

/* Dtypes of the operands: one, or those of 8-bit integers and their sums. */
struct OperandTypes {
  dnnl::memory::data_type src, weight, dst;
};

// Elsewhere than with VNNI the library's sums of bytes may saturate.
bool TypesOf(int dtype, OperandTypes* types) {
  if (dtype != kInt8 && dtype != kUint8) {
    if (!OnednnType(dtype, &types->src)) return false;
    types->weight = types->dst = types->src;
    return true;
  }
  using Type = dnnl::memory::data_type;
  *types = {dtype == kInt8 ? Type::s8 : Type::u8, Type::s8, Type::s32};
  return AddsBytesExactly();
}

std::unique_ptr<CacheEntry> MakeEntry(const ConvCall& call, const OperandTypes& types) {
  const ConvDims& d = call.dims;
  const int first = FirstSpatial(d), nd = 3 - first;
  Dims src_dims{d.batch, d.channels}, dst_dims{d.batch, d.filters}, weight_dims, stride, dilate, pad, pad_end;
  if (d.groups > 1)
    weight_dims = {d.groups, d.filters / d.groups, d.channels / d.groups};
  else
    weight_dims = {d.filters, d.channels};
  for (int i = first; i < 3; ++i) {
    src_dims.push_back(d.in[i]);
    dst_dims.push_back(d.out[i]);
    weight_dims.push_back(d.kernel[i]);
    stride.push_back(d.stride[i]);
    dilate.push_back(d.dilate[i] - 1);
    pad.push_back(d.pad[i]);
    pad_end.push_back((d.out[i] - 1) * d.stride[i] + (d.kernel[i] - 1) * d.dilate[i] + 1 - d.in[i] - d.pad[i]);
  }
  const Desc src_user(src_dims, types.src, DataTag(nd, call.src.channels_last)),
      dst_user(dst_dims, types.dst, DataTag(nd, call.dst.channels_last));
  const Desc weight_user(weight_dims, types.weight, WeightTag(nd, d.groups > 1, call.weight.channels_last));
  const Desc bias_desc(Dims{d.filters}, call.wide_bias ? dnnl::memory::data_type::f32 : types.src, Tag::a);
  // Channels-last tensors stay as they are; plain ones may be converted into what the primitive is
  // fastest with.
  const bool last = call.src.channels_last || call.dst.channels_last;
  const Desc src(src_dims, types.src, last ? DataTag(nd, true) : Tag::any), dst(dst_dims, types.dst,
                                                                                last              ? DataTag(nd, true)
                                                                                : call.accumulate ? DataTag(nd, false)
                                                                                                  : Tag::any);
  const Desc weight(weight_dims, types.weight, Tag::any);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  SetPost(&attr, call.accumulate, call.post);
  const auto direct = dnnl::algorithm::convolution_direct;
  dnnl::engine& engine = OnednnEngine();
  auto entry = std::make_unique<ConvEntry>();
  entry->has_bias = call.bias != nullptr;
  using Forward = dnnl::convolution_forward::primitive_desc;
  const auto kind = call.pass == ConvPass::kForward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  if (call.accumulate && dst != dst_user) return nullptr;  // what is added to lies in the caller's order
  const Forward forward = entry->has_bias && call.pass != ConvPass::kBackwardData
                              ? Forward(engine, kind, direct, src, weight, bias_desc, dst, stride, dilate, pad, pad_end, attr)
                              : Forward(engine, kind, direct, src, weight, dst, stride, dilate, pad, pad_end, attr);
  auto finish = [&](const auto& pd, const Desc& s, const Desc& w, const Desc& t) {
    entry->ran = OnednnName(pd);
    entry->src.Init(src_user, s);
    entry->weight.Init(weight_user, w);
    entry->dst.Init(dst_user, t);
    entry->bias.Init(bias_desc, bias_desc);
    entry->workspace = dnnl::memory(pd.scratchpad_desc(), engine, nullptr);
  };
  if (call.pass == ConvPass::kForward) {
    entry->primitive = dnnl::convolution_forward(forward);
    finish(forward, forward.src_desc(), forward.weights_desc(), forward.dst_desc());
  } else if (call.pass == ConvPass::kBackwardData) {
    const dnnl::convolution_backward_data::primitive_desc pd(engine, direct, src, weight, dst, stride, dilate, pad, pad_end, forward, attr);
    entry->primitive = dnnl::convolution_backward_data(pd);
    finish(pd, pd.diff_src_desc(), pd.weights_desc(), pd.diff_dst_desc());
  } else {
    using Backward = dnnl::convolution_backward_weights::primitive_desc;
    const Backward pd = entry->has_bias ? Backward(engine, direct, src, weight, bias_desc, dst, stride, dilate, pad, pad_end, forward, attr)
                                        : Backward(engine, direct, src, weight, dst, stride, dilate, pad, pad_end, forward, attr);
    entry->primitive = dnnl::convolution_backward_weights(pd);
    finish(pd, pd.src_desc(), pd.diff_weights_desc(), pd.diff_dst_desc());
  }
  return entry;
}

bool Run(KernelArgs& args, const ConvCall& call) {
  OperandTypes types;
  if (!TypesOf(call.dtype, &types)) return false;
  const ConvDims& d = call.dims;
  const double multiplications =
      static_cast<double>(d.batch * d.filters * d.OutSize()) * static_cast<double>(d.channels / d.groups * d.KernelSize());
  const int team = LibraryTeam(2.0 * multiplications, OmpMaxThreads());
  OmpScope threads(team);
  Key key;
  key.Add('c')
      .Add(call.pass)
      .Add(call.dims)
      .Add(call.dtype)
      .Add(call.src.channels_last)
      .Add(call.weight.channels_last)
      .Add(call.dst.channels_last)
      .Add(call.bias != nullptr)
      .Add(call.wide_bias)
      .Add(call.accumulate)
      .Add(call.post)
      .Add(team);
  auto* entry = static_cast<ConvEntry*>(CachedEntry(key, [&] { return MakeEntry(call, types); }));
  if (!entry) return false;
  Ran(entry->ran);
  dnnl::stream& stream = OnednnStream();
  const size_t workspace_bytes = entry->workspace.get_desc().get_size();
  if (workspace_bytes) entry->workspace.set_data_handle(args.workspace(workspace_bytes));
  entry->bias.user.set_data_handle(call.bias);
  std::unordered_map<int, dnnl::memory> arguments;
  if (workspace_bytes) arguments.emplace(DNNL_ARG_SCRATCHPAD, entry->workspace);
  switch (call.pass) {
    case ConvPass::kForward:
      arguments.emplace(DNNL_ARG_SRC, entry->src.Input(args, call.src.ptr));
      arguments.emplace(DNNL_ARG_WEIGHTS, Weight(args, &entry->weight, call.weight.ptr, call.weight_input));
      if (call.bias) arguments.emplace(DNNL_ARG_BIAS, entry->bias.user);
      arguments.emplace(DNNL_ARG_DST, entry->dst.Output(args, call.dst.ptr));
      entry->primitive.execute(stream, arguments);
      entry->dst.StoreOutput();
      break;
    case ConvPass::kBackwardData:
      arguments.emplace(DNNL_ARG_DIFF_DST, entry->dst.Input(args, call.dst.ptr));
      arguments.emplace(DNNL_ARG_WEIGHTS, Weight(args, &entry->weight, call.weight.ptr, call.weight_input));
      arguments.emplace(DNNL_ARG_DIFF_SRC, entry->src.Output(args, call.src.ptr));
      entry->primitive.execute(stream, arguments);
      entry->src.StoreOutput();
      break;
    case ConvPass::kBackwardWeights:
      arguments.emplace(DNNL_ARG_SRC, entry->src.Input(args, call.src.ptr));
      arguments.emplace(DNNL_ARG_DIFF_DST, entry->dst.Input(args, call.dst.ptr));
      arguments.emplace(DNNL_ARG_DIFF_WEIGHTS, entry->weight.Output(args, call.weight.ptr));
      if (call.bias) arguments.emplace(DNNL_ARG_DIFF_BIAS, entry->bias.user);
      entry->primitive.execute(stream, arguments);
      entry->weight.StoreOutput();
      break;
  }
  stream.wait();
  return true;
}

// The weight gradient of a kernel of one element that skips pixels. oneDNN 3 gives wrong numbers
// for it on several threads, where channels come last and do not fill its blocks of 8 or 16.
bool IsSkippingTail(const ConvCall& call) {
  const ConvDims& d = call.dims;
  bool skips = false;
  for (int i = 0; i < 3; ++i) {
    if (d.pad[i] != 0) return false;
    skips = skips || d.stride[i] > 1;
  }
  return skips && call.pass == ConvPass::kBackwardWeights && d.KernelSize() == 1 && (call.src.channels_last || call.dst.channels_last) &&
         d.channels / d.groups % 16 != 0;
}

// The same without what is skipped.
bool RunWithoutSkipped(KernelArgs& args, ConvCall call) {
  ConvDims& d = call.dims;
  const size_t size = DTypeSize(call.dtype);
  const int64_t shape[5] = {d.batch, d.out[0], d.out[1], d.out[2], d.channels};
  const bool last = call.src.channels_last;
  const int64_t pixel = last ? d.channels : 1, row = pixel * d.in[2], plane = row * d.in[1], image = d.channels * d.InSize();
  const int64_t from[5] = {image, plane * d.stride[0], row * d.stride[1], pixel * d.stride[2], last ? 1 : d.InSize()};
  const int64_t to_row = pixel * d.out[2], to_plane = to_row * d.out[1];
  const int64_t to[5] = {d.channels * d.OutSize(), to_plane, to_row, pixel, last ? 1 : d.OutSize()};
  void* kept = args.workspace(static_cast<size_t>(d.batch * d.channels * d.OutSize()) * size);
  CopyStrided(call.src.ptr, from, kept, to, shape, 5, size);
  call.src.ptr = kept;
  std::copy_n(d.out, 3, d.in);
  std::fill_n(d.stride, 3, int64_t{1});
  return Run(args, call);
}

/* Workspace memory that several threads may ask for, each its own. */
struct OwnWorkspace {
  Context ctx;
  std::vector<StorageHandle> blocks;
  ~OwnWorkspace() {
    for (const auto& b : blocks) Storage::Get()->Free(b);
  }
  void* Get(size_t bytes) {
    blocks.push_back(Storage::Get()->Alloc(bytes, ctx));
    return blocks.back().dptr;
  }
};

// MXNET_ENFORCE_DETERMINISM: the library would divide its work by the number of threads. Here the
// images are divided, by their number alone, and every part is computed by one thread; weight
// gradients of the parts are added in order.
bool RunInParts(KernelArgs& args, const ConvCall& call) {
  const ConvDims& d = call.dims;
  const bool sums = call.pass == ConvPass::kBackwardWeights;
  const int64_t most = sums ? 4 : 16, step = (d.batch + most - 1) / most, parts = (d.batch + step - 1) / step;
  const bool exact = call.dtype == kInt8 || call.dtype == kUint8;
  if (parts <= 1 || exact || (sums && call.dtype != kFloat32)) return Run(args, call);
  const int64_t weights = sums ? d.filters * (d.channels / d.groups) * d.KernelSize() : 0,
                each = weights + (sums && call.bias ? d.filters : 0);
  float* partial = sums ? static_cast<float*>(args.workspace(static_cast<size_t>(parts * each) * sizeof(float))) : nullptr;
  std::atomic<bool> done{true};
  ParallelFor(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      OwnWorkspace workspace{args.run.ctx, {}};
      KernelArgs own = args;
      own.state = nullptr;  // packed weights are not shared
      own.workspace = [&workspace](size_t bytes) { return workspace.Get(bytes); };
      const int64_t first = part * step, size = static_cast<int64_t>(DTypeSize(call.dtype));
      ConvCall some = call;
      some.dims.batch = std::min(step, d.batch - first);
      some.src.ptr = static_cast<char*>(call.src.ptr) + first * d.channels * d.InSize() * size;
      some.dst.ptr = static_cast<char*>(call.dst.ptr) + first * d.filters * d.OutSize() * size;
      if (sums) {
        some.weight.ptr = partial + part * each;
        if (call.bias) some.bias = partial + part * each + weights;
      }
      if (!Run(own, some)) done = false;
    }
  });
  if (!done) return false;
  if (!sums) return true;
  float *dw = static_cast<float*>(call.weight.ptr), *db = static_cast<float*>(call.bias);
  ParallelFor(each, 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float sum = partial[i];
      for (int64_t part = 1; part < parts; ++part) sum += partial[part * each + i];
      (i < weights ? dw[i] : db[i - weights]) = sum;
    }
  });
  return true;
}

bool Convolution(KernelArgs& args, const ConvCall& call) {
  if (call.pass == ConvPass::kBackwardWeights && !call.weight.ptr) return false;  // the bias alone
  if (Env::Get().enforce_determinism) return RunInParts(args, call);
  return IsSkippingTail(call) ? RunWithoutSkipped(args, call) : Run(args, call);
}

[[maybe_unused]] const bool linked = [] { return g_hooks.convolution = Convolution, true; }();

}  // namespace
}  // namespace nn
}  // namespace mxnet
